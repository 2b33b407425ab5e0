"""The layout of a network: where nodes are drawn (hosts, switches, fat trees, circles), and lines of channels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, pi, sin

import numpy as np
import numpy.typing as npt

from obliv._util.arrays import Array
from obliv.errors import MissingExtraError
from obliv.topologies.axes import Directions
from obliv.topologies.base import LayoutHint, Topology, layout_hint
from obliv.topologies.cartesian import axes_of, directions_of
from obliv.topologies.isomorphism import graph_search, undirected
from obliv.topologies.recognise.grids import Grid, grid_of

Points = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Layout:
    """Positions of the nodes of a network; neighbors are about one apart.

    Parameters
    ----------
    points : float array, shape (nodes, 2)
        The position of every node.
    hosts : int
        Number of hosts; the nodes from this number on are switches.
    grid : Grid, optional
        The grid on which the switches are drawn.
    """

    points: Points
    hosts: int = 0
    grid: Grid | None = None


# Hosts around a switch, between its links to other switches


_NEAREST = 0.62  # from a switch to its hosts
_GAP = 0.42  # least distance between hosts
_FIRST = -pi / 4  # best direction of a single host


def fan(taken: Sequence[float], count: int, gap: float = _GAP) -> Points:
    """Return the offsets of `count` hosts from their switch, `gap` apart, between links at the angles `taken`."""
    evenly = np.pi / 2 - 2 * np.pi * np.arange(count) / count
    angles = _between(sorted(taken), count) if taken else evenly
    closest = float(np.diff(np.sort(angles), append=np.min(angles) + 2 * pi).min())
    even, radius = _radius(2 * pi / count, gap), _radius(closest, gap)
    if radius > 1.5 * even:  # the links leave too little room: place hosts among them
        angles, radius = evenly, even
    points: Points = radius * np.column_stack([np.cos(angles), np.sin(angles)])
    return points


def _between(taken: Sequence[float], count: int) -> Array:
    """Return angles in the widest gaps between others, clockwise."""
    gaps = [(start, end - start) for start, end in zip(taken, [*taken[1:], taken[0] + 2 * pi], strict=True)]
    hosts = [0] * len(gaps)
    for _ in range(count):
        widest = max(range(len(gaps)), key=lambda k: (round(gaps[k][1] / (hosts[k] + 1), 3), -_deviation(gaps[k])))
        hosts[widest] += 1
    angles = [
        start + (k + 1) * width / (number + 1)
        for (start, width), number in zip(gaps, hosts, strict=True)
        for k in range(number)
    ]
    return np.array(angles[::-1])


def _deviation(gap: tuple[float, float]) -> float:
    """Return the angle between the middle of a gap and the best direction of a single host."""
    turn = (gap[0] + gap[1] / 2 - _FIRST) % (2 * pi)
    return min(turn, 2 * pi - turn)


def _radius(step: float, gap: float) -> float:
    return max(_NEAREST, gap / (2 * sin(min(step, pi) / 2)))


# A deterministic layout by stress majorization: distances in the plane close to distances in the network


_ROUNDS, _LEAST_ROUNDS = 150, 15
_STEPS = 15_000_000  # pairs of nodes over all rounds: about a second
_TOLERANCE = 1e-4  # relative gain in stress below which the iteration stops


def stressed(nodes: int, pairs: Array) -> Points:
    """Return positions of nodes that are linked in pairs, shape (nodes, 2); neighbors are about one apart.

    References
    ----------
    [GKN04] E. R. Gansner, Y. Koren, S. North, "Graph drawing by stress majorization", Graph Drawing 2004.

    Examples
    --------
    >>> stressed(3, np.array([[0, 1], [1, 2]])).shape
    (3, 2)
    """
    if nodes < 3:
        return np.column_stack([np.arange(nodes), np.zeros(nodes)]).astype(float)
    from scipy.spatial.distance import cdist

    distance = _distances(nodes, pairs)
    if distance.max() <= 1.0:  # a complete graph
        angle = np.pi / 2 - 2 * np.pi * np.arange(nodes) / nodes
        ring: Points = np.column_stack([np.cos(angle), np.sin(angle)]) / (2 * np.sin(np.pi / nodes))
        return ring
    with np.errstate(divide="ignore"):
        weight = np.where(distance > 0, distance**-2.0, 0.0)
    solve = np.linalg.inv(np.diag(weight.sum(axis=1)) - weight + 1.0 / nodes)
    points, last = _start(distance), np.inf
    for _ in range(min(_ROUNDS, max(_LEAST_ROUNDS, _STEPS // nodes**2))):
        drawn = cdist(points, points)
        stress = float((weight * (drawn - distance) ** 2).sum())
        if stress > (1.0 - _TOLERANCE) * last:
            break
        last = stress
        pull = weight * distance / np.where(drawn > 1e-9, drawn, np.inf)
        points = solve @ (pull.sum(axis=1)[:, None] * points - pull @ points)
    return points


def _distances(nodes: int, pairs: Array) -> Points:
    """Return hops between all nodes; separate components lie a little further apart than their own ends."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import shortest_path

    links = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(nodes, nodes))
    distance: Points = shortest_path(links.tocsr(), directed=False, unweighted=True)
    joined = np.isfinite(distance)
    distance[~joined] = distance[joined].max() + 1.0
    return distance


def _start(distance: Points) -> Points:
    """Return the projection with the largest distances, with coinciding nodes moved apart a little."""
    from scipy.linalg import eigh

    nodes = len(distance)
    inner = distance**2
    inner = -0.5 * (inner - inner.mean(axis=0) - inner.mean(axis=1)[:, None] + inner.mean())
    values, vectors = eigh(inner, subset_by_index=[nodes - 2, nodes - 1])
    vectors *= np.sign(vectors[np.abs(vectors).argmax(axis=0), [0, 1]])
    angle = 2.399963 * np.arange(nodes)
    offset = 0.3 * np.sqrt((np.arange(nodes) + 0.5) / nodes)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    points: Points = vectors * np.sqrt(np.maximum(values, 0.0)) + offset
    return points


# Switches on a grid or spread by their distances, with their hosts around them


_MOST_SWITCHES = 1200  # beyond that the layout is slow and unreadable
_NEAR = 1.35  # between switches of a grid with few hosts, which lie in the four corners
_NAMED = 60  # nodes; networks up to this size have names beside the nodes
_NAMED_GAP, _BARE_GAP = 0.62, 0.42  # between hosts
_FREE = 0.45  # between the hosts of different switches
_CROSS = (0.0, np.pi / 2, np.pi, -np.pi / 2)  # directions of the links of a switch on a grid


def clusters(topology: Topology, hint: LayoutHint) -> Layout | None:
    """Return a layout with the hosts of each switch around it; None where a spring layout is better."""
    hosts = hint.hosts
    switches = topology.nodes - hosts
    home = topology.head[topology.first_channel[:hosts]] - hosts
    if (home < 0).any() or not 0 < switches <= _MOST_SWITCHES:
        return None
    inner = (topology.tail >= hosts) & (topology.head >= hosts)
    pairs = np.column_stack([topology.tail[inner], topology.head[inner]]).astype(np.int64) - hosts
    grid = grid_of(switches, pairs)
    core = stressed(switches, pairs) if grid is None else _grid_points(grid, pairs)
    gap = _NAMED_GAP if topology.nodes <= _NAMED else _BARE_GAP
    offset = _host_offsets(core, pairs, home, hint.order, gap, grid is not None)
    if grid is None:
        core = core * _scale(core, 2.0 * float(np.hypot(*offset.T).max()) + _FREE)
    else:
        core = core * max(_NEAR, 2.0 * float(np.abs(offset).max()) + _FREE)
    return Layout(np.vstack([core[home] + offset, core]), hosts, grid)


def _grid_points(grid: Grid, pairs: Array) -> Points:
    """Return positions of the switches, one apart; a switch without a place lies amid its neighbors."""
    points = np.asarray(grid.shape.positions, float)[grid.number]
    for node in np.flatnonzero(grid.number < 0).tolist():
        near = pairs[pairs[:, 0] == node, 1]
        near = near[grid.number[near] >= 0]
        points[node] = points[near].mean(axis=0) + 0.3 if len(near) else points.max(axis=0) + 1.0
    return points


def _host_offsets(core: Points, pairs: Array, home: Array, order: Array, gap: float, on_grid: bool) -> Points:
    """Return the offset of every host from its switch."""
    order = np.lexsort((order, home))
    offset = np.zeros((len(home), 2))
    for hosts in np.split(order, np.flatnonzero(np.diff(home[order])) + 1):
        switch = int(home[hosts[0]])
        links = core[pairs[pairs[:, 0] == switch, 1]] - core[switch]
        taken = _CROSS if on_grid else np.unique(np.round(np.arctan2(links[:, 1], links[:, 0]), 6)).tolist()
        offset[hosts] = fan(taken, len(hosts), gap)
    return offset


def _scale(core: Points, gap: float) -> float:
    """Return the factor that separates the hosts of most switches."""
    if len(core) < 2:
        return 1.0
    distance = np.hypot(*np.moveaxis(core[:, None] - core[None], 2, 0))
    np.fill_diagonal(distance, np.inf)
    return float(gap / max(np.quantile(distance.min(axis=1), 0.2), 0.05))


# Fat trees drawn level above level, with the hosts in their order at the bottom


_LEVEL_GAP = 0.41  # between neighbors on a level, so that their discs do not touch
_TALL = 0.34  # height over width, where there are few levels
_ROOMY = 1.5  # scale of pictures with few nodes


def tree_points(topology: Topology, hint: LayoutHint) -> Points:
    """Return the positions of the nodes of a tree, or of a network that is nearly one.

    A place without a host or a switch stays empty; a node without a place lies near its neighbors.
    """
    if hint.level is None or hint.across is None:
        raise ValueError(f"{topology.spec}: the layout hint has no levels")
    points = _separated(hint.across, hint.level)
    if hint.level.min() < 0:
        _place_strays(points, hint.level >= 0, topology, hint.hosts)
    return points


def _separated(across: Array, level: Array) -> Points:
    """Return points on levels, scaled so that neighbors do not touch; level -1 does not count."""
    x, levels = across[level >= 0], int(level.max())
    width = float(np.ptp(x))
    height = max(width * max(levels / 8, _TALL), 1.0)
    unit = max((width * height / len(across)) ** 0.5, max(width, height) / len(across))
    steps = np.concatenate([np.diff(np.sort(across[level == number])) for number in range(levels + 1)])
    least = float(steps[steps > 1e-9].min(initial=unit))
    points: Points = np.column_stack([across - x.min(), level * height / max(levels, 1)])
    points *= max(_ROOMY / unit, _LEVEL_GAP / least)
    return points


def _place_strays(points: Points, placed: Array, topology: Topology, hosts: int) -> None:
    """Place the nodes that are not in the tree: switches to the right of it, hosts around their switch."""
    home = topology.head[topology.first_channel[:hosts]]
    stray = np.flatnonzero(~placed[:hosts])
    right = float(points[placed, 0].max())
    for node in np.flatnonzero(~placed).tolist():
        if node < hosts and home[node] >= hosts:
            continue
        near = topology.head[topology.tail == node]
        heights = points[near[placed[near]], 1]
        own = stray[home[stray] == node] if node >= hosts else stray[:0]
        offset = fan([np.pi], len(own)) if len(own) else np.zeros((0, 2))
        reach = float(np.abs(offset).max(initial=0.0)) + 1.2 * _LEVEL_GAP
        points[node] = right + reach, float(heights.mean()) if len(heights) else 0.0
        points[own] = points[node] + offset
        right += 2.0 * reach
    for switch in np.unique(home[stray]).tolist():
        own = stray[home[stray] == switch]
        if switch >= hosts and placed[switch]:
            points[own] = points[switch] + fan([-np.pi / 2], len(own))


# Circular layouts of networks with a rotation: a node map that moves all nodes along cycles of one length


_MOST, _RINGS = 60, 2  # nodes; circles
_WORDS = 400  # random products of generators
_SECONDS = 5.0


def ring_points(topology: Topology) -> Points | None:
    """Return positions on few concentric circles that a rotation of the network turns; None where there is none."""
    if not 3 <= topology.nodes <= _MOST:
        return None
    known = [np.asarray(g) for g in (*topology.generators, *topology.translations, *_by_number(topology.nodes))]
    turn = _rotation([g for g in known if _keeps(topology, g)])
    if turn is None or _cycle_length(turn) < topology.nodes:  # perhaps a longer one
        turn = _longer(turn, _rotation(_automorphisms(topology)))
    return None if turn is None else _placed(topology, turn)


def _by_number(nodes: int) -> list[Array]:
    """Return the maps that move the nodes, or each half of them, by one number."""
    rings = [np.arange(nodes).reshape(parts, -1) for parts in range(1, _RINGS + 1) if nodes % parts == 0]
    return [np.roll(ring, -1, axis=1).ravel() for ring in rings]


def _keeps(topology: Topology, image: Array) -> bool:
    """Return whether a map of the nodes maps channels to channels and terminals to terminals."""
    code = np.sort(topology.tail.astype(np.int64) * topology.nodes + topology.head)
    moved = np.sort(image[topology.tail].astype(np.int64) * topology.nodes + image[topology.head])
    terminals = np.sort(topology.terminals)
    return np.array_equal(code, moved) and np.array_equal(terminals, np.sort(image[topology.terminals]))


def _automorphisms(topology: Topology) -> list[Array]:
    """Return generators of the automorphisms of the network, if igraph or canonaut is there to find them."""
    terminal = np.zeros(topology.nodes, int)
    terminal[topology.terminals] = 1
    graph = undirected(topology, terminal.tolist(), [0] * topology.channels)
    try:
        answers = graph_search("automorphism_group", [graph], _SECONDS)
    except MissingExtraError:
        return []
    maps = [np.array(g[: topology.nodes]) for g in (answers or [[]])[0]]
    return [g for g in maps if _keeps(topology, g)]


def _rotation(generators: list[Array]) -> Array | None:
    """Return the rotation with the longest cycles among random products of generators."""
    if not generators:
        return None
    nodes = len(generators[0])
    rng, element, best, longest = np.random.default_rng(0), np.arange(nodes), None, 2
    words = [*generators, *(generators[k] for k in rng.integers(len(generators), size=_WORDS))]
    for k, generator in enumerate(words):
        element = generator if k < len(generators) else generator[element]
        length = _cycle_length(element)
        if length > longest and nodes // length <= _RINGS:
            best, longest = element, length
    return best


def _longer(one: Array | None, other: Array | None) -> Array | None:
    """Return the rotation with the longer cycles, the first one if they are alike."""
    if one is None or other is None:
        return other if one is None else one
    return other if _cycle_length(other) > _cycle_length(one) else one


def _cycle_length(turn: Array) -> int:
    """Return the length of the cycles of a map; 0 where they are not all of one length."""
    start, at, length = np.arange(len(turn)), turn, 1
    while not (at == start).any():
        at, length = turn[at], length + 1
    return length if (at == start).all() else 0


def _placed(topology: Topology, turn: Array) -> Points:
    """Place every cycle of a rotation on a circle; neighbors on the outermost one are joined, where possible."""
    joined = np.zeros((topology.nodes, topology.nodes), bool)
    joined[topology.tail, topology.head] = joined[topology.head, topology.tail] = True
    length = _cycle_length(turn)
    powers = [np.arange(topology.nodes)]
    while len(powers) < length:
        powers.append(turn[powers[-1]])
    step = next((powers[k] for k in range(1, length) if gcd(k, length) == 1 and joined[0, powers[k][0]]), turn)
    circles: list[list[int]] = []
    left = set(range(topology.nodes))
    while left:
        near = [v for v in sorted(left) if circles and joined[v, circles[-1][0]]]
        circle = [(near or sorted(left))[0]]
        while len(circle) < length:
            circle.append(int(step[circle[-1]]))
        circles.append(circle)
        left -= set(circle)
    angle = np.pi / 2 - 2 * np.pi * np.arange(length) / length
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    inner = max(0.5 / np.sin(np.pi / length), 1.0)
    points = np.zeros((topology.nodes, 2))
    for depth, circle in enumerate(circles):
        points[circle] = (inner + 1.1 * (len(circles) - 1 - depth)) * ring
    return points


# Choose where the nodes of a network are drawn


_SPRINGS = 400  # nodes; beyond that a spring layout is slow and unreadable


def layout_of(topology: Topology) -> Layout:
    """Return the positions of all nodes.

    Meshes, tori and hypercubes lie on their grid, rings and complete graphs on a circle, fat trees on levels, hosts
    around their switches. Other networks use the positions that the topology gives; small ones with a rotation lie on
    one or two circles, the rest in a spring layout.
    """
    if on_grid(topology):
        return Layout(np.asarray(topology.positions, float))
    if len(axes_of(topology)) == 1:
        return Layout(_circle(topology.nodes))
    hint = layout_hint(topology)
    if hint is not None and hint.level is not None:
        return Layout(tree_points(topology, hint), hint.hosts)
    layout = None if hint is None else clusters(topology, hint)
    if layout is not None:
        return layout
    positions = topology.positions
    if positions is not None and np.isfinite(positions).all() and np.ptp(positions, axis=0).max() > 0:
        return Layout(1.5 * _scaled(np.asarray(positions, float)))  # places on a map crowd in spots
    rings = ring_points(topology)
    return Layout(_springs(topology) if rings is None else rings)


def on_grid(topology: Topology) -> bool:
    """Return whether the nodes lie on a grid whose lines are the dimensions of the network."""
    if not axes_of(topology) or topology.positions is None:
        return False
    return len(axes_of(topology)) > 1 or axes_of(topology)[0].kind == "line"


def _circle(nodes: int) -> Points:
    angle = np.pi / 2 - 2 * np.pi * np.arange(nodes) / nodes
    radius = max(0.5 / np.sin(np.pi / nodes), 1.0) if nodes > 1 else 0.0
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


def _scaled(points: Points) -> Points:
    width, height = np.ptp(points, axis=0)
    n = len(points)
    unit = max((width * height / n) ** 0.5, max(width, height) / n)
    scaled: Points = (points - points.min(axis=0)) / unit
    return scaled


def _springs(topology: Topology) -> Points:
    try:
        import networkx
    except ImportError:
        return _circle(topology.nodes)
    if topology.nodes > _SPRINGS or topology.nodes < 3:
        return _circle(topology.nodes)
    graph = networkx.Graph()
    graph.add_nodes_from(range(topology.nodes))
    graph.add_edges_from(zip(topology.tail.tolist(), topology.head.tolist(), strict=True))
    small = topology.nodes <= 60
    position = networkx.kamada_kawai_layout(graph) if small else networkx.spring_layout(graph, seed=0)
    return _scaled(np.array([position[node] for node in range(topology.nodes)]))


# Lines of channels and flows, from the rim of one node to the rim of another


RADIUS = 0.17  # of a node; neighbors are one apart
_BESIDE = 0.085  # from the middle of a link to the line of one direction
_STUB = 0.62  # distance by which a wrap-around channel leaves the grid
_OPEN = 3  # lines from tile to tile would hide larger tiles than this


def channel_lines(topology: Topology, layout: Layout) -> list[list[Points]]:
    """Return the lines of every channel: one from tail to head, or two stubs where it wraps around the network."""
    points = layout.points
    along_axes = directions_of(topology)
    if on_grid(topology) and along_axes is not None:
        ends = zip(points[topology.tail], points[topology.head], strict=True)
        return [_on_grid(topology, along_axes, channel, start, end) for channel, (start, end) in enumerate(ends)]
    lanes: dict[tuple[int, int], int] = {}
    lines = []
    for tail, head in zip(topology.tail.tolist(), topology.head.tolist(), strict=True):
        lane = lanes[tail, head] = lanes.get((tail, head), -1) + 1
        along = None if lane else _along_grid(layout, tail, head)
        if along is not None:
            lines.append(along)
        else:
            lines.append([loop(points[tail]) if tail == head else _link(points[tail], points[head], lane)])
    return lines


def _along_grid(layout: Layout, tail: int, head: int) -> list[Points] | None:
    """Return the lines of a link between neighboring switches on a grid; None for other links."""
    if layout.grid is None or min(tail, head) < layout.hosts:
        return None
    shape, numbers = layout.grid.shape, layout.grid.number
    start, end = int(numbers[tail - layout.hosts]), int(numbers[head - layout.hosts])
    if start < 0:
        return None
    # of two, prefer the one that does not leave the grid
    along = shape.directions
    channels = sorted(shape.channels_between(start, end), key=lambda c: bool(along.wraps[c]))
    return _on_grid(shape, along, channels[0], layout.points[tail], layout.points[head]) if channels else None


def flow_line(start: Points, end: Points, under: float = 0.0) -> Points:
    """Return the line of a flow, bowed away from the channels, or `under` its ends where that space is free."""
    far = float(np.hypot(*(end - start)))
    rise = 0.16 + 0.07 * far
    if far == 0:
        return loop(start)
    if not under:
        return arc(start, end, rise, 1.1 * RADIUS)
    down = np.array([0.0, under])
    return arc(start - down, end - down, rise if end[0] > start[0] else -1.2 * rise - 0.12, 0.0)


def arc(start: Points, end: Points, rise: float, margin: float = RADIUS, steps: int = 24, flat: bool = False) -> Points:
    """Return a curve that bows to the right of its direction by `rise`, cut off at `margin` from both ends.

    If `flat`, it runs parallel to the line between its ends most of the way.
    """
    along = end - start
    far = float(np.hypot(*along))
    across = np.array([along[1], -along[0]]) / far
    t = np.linspace(0.0, 1.0, steps)[:, None]
    bow = 1.0 - (2.0 * t - 1.0) ** 6 if flat else 4.0 * t * (1.0 - t)
    return _cut(start + t * along + bow * rise * across, margin)


def loop(at: Points) -> Points:
    """Return a small loop at a node, for packets that a node sends to itself."""
    angle = np.linspace(-0.35 * np.pi, 1.3 * np.pi, 24)
    radius = 0.8 * RADIUS
    center = at + (RADIUS + 0.55 * radius) * np.array([0.7, 0.7])
    curve: Points = center + radius * np.column_stack([np.cos(angle), np.sin(angle)])
    return curve


def _link(start: Points, end: Points, lane: int) -> Points:
    far = float(np.hypot(*(end - start)))
    if far < 2.5 * RADIUS:  # nodes that almost touch
        return np.array([start, end]) if far else loop(start)
    return arc(start, end, _BESIDE + 0.02 * far + 0.2 * lane, steps=16)


def _on_grid(topology: Topology, along: Directions, channel: int, start: Points, end: Points) -> list[Points]:
    dim = int(along.dim[channel])
    a, b = (topology.coordinates(int(node[channel]))[dim] for node in (topology.tail, topology.head))
    if along.wraps[channel]:
        return _stubs(start, end, dim, float(along.step[channel]))
    if dim < 2 and abs(b - a) == 1:
        return [_beside(start, end)]
    if dim < 2:
        return [arc(start, end, 0.16 + 0.11 * abs(b - a))]
    row, rows = topology.coordinates(int(topology.tail[channel]))[dim % 2], topology.radices[dim % 2]
    if rows > _OPEN or abs(b - a) > 1:
        return _stubs(start, end, dim, 1.0 if b > a else -1.0)
    return [arc(start, end, 0.2 + 0.32 * row / rows, steps=33, flat=True)]  # from tile to tile, between the rows


def _beside(start: Points, end: Points) -> Points:
    step = (end - start) / np.hypot(*(end - start))
    right = _BESIDE * np.array([step[1], -step[0]])
    inset = (RADIUS**2 - _BESIDE**2) ** 0.5
    return np.array([start + right + inset * step, end + right - inset * step])


def _stubs(start: Points, end: Points, dim: int, sign: float) -> list[Points]:
    """Return a wrap-around channel as a line that leaves the grid and one that comes back on the other side."""
    step = np.zeros(2)
    step[dim % 2] = sign
    right = np.array([step[1], -step[0]])
    t = np.linspace(0.0, 1.0, 10)[:, None]
    if dim < 2:
        inset = (RADIUS**2 - _BESIDE**2) ** 0.5
        out = _BESIDE * right + (inset + t * (_STUB - inset)) * step + 0.09 * t**2 * right
    else:  # a tile has no free edge: a short diagonal between the rows
        out = RADIUS * (step + right) / 2**0.5 + t * (0.16 * step + 0.26 * right) - 0.08 * t**2 * step
    back = (out * np.where(step == 0, 1.0, -1.0))[::-1]
    return [start + out, end + back]


def _cut(curve: Points, margin: float) -> Points:
    """Return the part of a curve outside circles around its two ends."""
    near_start = np.hypot(*(curve - curve[0]).T)
    near_end = np.hypot(*(curve - curve[-1]).T)
    inside = np.flatnonzero((near_start > margin) & (near_end > margin))
    if len(inside) == 0:
        return curve
    first, last = int(inside[0]), int(inside[-1])
    cut = (
        [_between_curves(curve[first - 1], curve[first], near_start[first - 1], near_start[first], margin)]
        if first
        else []
    )
    tail = []
    if last + 1 < len(curve):
        tail = [_between_curves(curve[last], curve[last + 1], near_end[last], near_end[last + 1], margin)]
    return np.array([*cut, *curve[first : last + 1], *tail])


def _between_curves(one: Points, two: Points, one_distance: float, two_distance: float, margin: float) -> Points:
    share = (margin - one_distance) / (two_distance - one_distance) if two_distance != one_distance else 0.0
    point: Points = one + share * (two - one)
    return point
