"""The canvas of a network picture: nodes and their names, channels in words, arrows, traffic of a worst case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, product
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

import numpy as np

from obliv._util.arrays import Array
from obliv._util.text import plural, shortened
from obliv.errors import InputError
from obliv.loads.base import PairLoads
from obliv.patterns.base import Traffic, from_flows
from obliv.patterns.files import permutation
from obliv.questions.worst_case import WorstCase
from obliv.results.numbers import Estimate
from obliv.routings.base import Routing
from obliv.routings.make import routing as routing_of
from obliv.topologies.base import Topology, layout_hint, port_names
from obliv.topologies.cartesian import axes_of
from obliv.topologies.saved import network_of
from obliv.view.axes import (
    ACCENT,
    INK,
    LITERAL,
    MANY,
    NODE,
    figure_of,
    most_inches,
    points_per_unit,
    require_matplotlib,
    room,
)
from obliv.view.labels import Box, box_beside, box_of, overlap, size_of
from obliv.view.layout import RADIUS, Points, channel_lines, flow_line, layout_of, on_grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.path import Path


# Places of the names of nodes: upright below the lowest row, or beside their nodes


_Place = tuple[float, tuple[int, int], Box]  # of a name: cost, side and box

_GAP = 1.15  # from the center of a node to its name, in radii

# Places of a name, and their cost; the place below the node is preferred.
_SIDES = {
    (0, -1): 0.0, (0, 1): 2.0, (1, 0): 4.0, (-1, 0): 4.0, (1, -1): 6.0, (-1, -1): 6.0, (1, 1): 6.0, (-1, 1): 6.0,
}  # fmt: skip
_STEP, _MOST_STEPS = 0.05, 300_000
_OVER_NAME, _OVER_NODE, _OVER_HOT = 400.0, 150.0, 20.0  # cost of covering them; a step of a line costs 1
_OVER_END = 1000.0  # the same as for a node, for the names that are never left out


def stand_upright(on: Canvas, names: Mapping[int, str], size: float) -> None:
    """Write names upright under their nodes."""
    for node, name in names.items():
        at = float(on.points[node][0]), float(on.points[node][1]) - _GAP * RADIUS - 1.5 / points_per_unit(on.ax)
        _write(on, node, at, name, 1.5, fontsize=size, rotation=90, ha="center", va="top")


def stand_beside(on: Canvas, names: Mapping[int, str], size: float) -> None:
    """Write each name below its node, or on the side where it covers the least: names and nodes, then lines.

    A name that still covers a node or another name is left out, unless it is in ``on.ends`` or all names were
    requested.
    """
    if not names:
        return
    taken = [box_of(text) for text in on.ax.texts]
    at = {node: (float(on.points[node][0]), float(on.points[node][1])) for node in names}
    texts = {node: _write(on, node, at[node], name, 3.0, fontsize=size) for node, name in names.items()}
    on.ax.apply_aspect()
    options = _options(on, {node: size_of(text) for node, text in texts.items()}, taken)
    chosen = {node: places[0] for node, places in options.items()}
    for _ in range(3):  # a name that moves may free a place for another
        for node, places in options.items():
            others = [box for other, (_, _, box) in chosen.items() if other != node]
            costs = [cost + _OVER_NAME * sum(overlap(box, text) for text in others) for cost, _, box in places]
            chosen[node] = places[int(np.argmin(costs))]
    chosen |= _parted({node: chosen[node] for node in on.ends if node in chosen}, size * figure_of(on.ax).dpi / 72.0)
    back = on.ax.transData.inverted()
    middles = on.ax.transData.transform(on.points)
    for node in sorted(chosen, key=lambda node: node not in on.ends):
        _, side, box = chosen[node]
        bad = _inside(middles, box) or any(overlap(box, other) for other in taken)
        if bad and on.labels is not True and node not in on.ends:
            texts[node].remove()
            continue
        taken.append(box)
        across, up = ("right", "center", "left")[side[0] + 1], ("top", "center", "bottom")[side[1] + 1]
        x = {"left": box[0], "center": (box[0] + box[2]) / 2, "right": box[2]}[across]
        y = {"bottom": box[1], "center": (box[1] + box[3]) / 2, "top": box[3]}[up]
        texts[node].set(ha=across, va=up, position=tuple(back.transform((x, y))))


def _parted(chosen: Mapping[int, _Place], letter: float) -> dict[int, _Place]:
    """Move the names at the two ends of a channel apart by up to a letter each, where they would read as one."""
    if len(chosen) != 2:
        return {}
    left, right = sorted(chosen, key=lambda node: chosen[node][2])
    one, two = chosen[left][2], chosen[right][2]
    step = min(letter, (one[2] + letter - two[0]) / 2)
    if step <= 0 or one[3] <= two[1] or two[3] <= one[1]:
        return {}
    moved = {}
    for node, way in ((left, -step), (right, step)):
        cost, side, box = chosen[node]
        moved[node] = cost, side, (box[0] + way, box[1], box[2] + way, box[3])
    return moved


def _write(on: Canvas, node: int, at: tuple[float, float], name: str, rim: float, **look: Any) -> Any:
    """Write a name with a white rim; names at the highlighted channel have its color."""
    from matplotlib.patheffects import withStroke

    white = withStroke(linewidth=rim, foreground=NODE, alpha=0.95 if node in on.ends else 0.85)
    look |= {"color": ACCENT, "weight": "bold", "zorder": 10} if node in on.ends else {"color": INK, "zorder": 8}
    return on.ax.text(at[0], at[1], name, path_effects=[white], **look, **LITERAL)


def _options(on: Canvas, sizes: Mapping[int, tuple[float, float]], taken: list[Box]) -> dict[int, list[_Place]]:
    """Return for every name its possible places: cost, side and box."""
    gap = _GAP * RADIUS * points_per_unit(on.ax) * figure_of(on.ax).dpi / 72.0
    middles, rim = on.ax.transData.transform(on.points), gap / _GAP
    steps = on.ax.transData.transform(_steps([*chain.from_iterable(on.lines), *on.flows.values()]))
    hot = on.ax.transData.transform(_steps([] if on.hot is None else on.lines[on.hot]))
    options = {}
    for node, size in sizes.items():
        places = []
        for side, dislike in _SIDES.items():
            reach = gap * (1.0 if 0 in side else 0.8)
            box = box_beside(middles[node], size, (side[0] * reach, side[1] * reach))
            nodes = _inside(middles, (box[0] - rim, box[1] - rim, box[2] + rim, box[3] + rim))
            covered = (_OVER_END if node in on.ends else _OVER_NODE) * nodes
            cost = dislike + covered + _inside(steps, box) + _OVER_HOT * _inside(hot, box)
            places.append((cost + _OVER_NAME * sum(overlap(box, other) for other in taken), side, box))
        options[node] = places
    return options


def _inside(points: Points, box: Box) -> int:
    x, y = points.T
    return int(((x > box[0]) & (x < box[2]) & (y > box[1]) & (y < box[3])).sum())


def _steps(lines: list[Points]) -> Points:
    """Return points along lines, a twentieth apart, or further where there would be too many."""
    points = [np.zeros((0, 2))]
    lengths = [np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))]) for line in lines]
    step = max(_STEP, sum(float(length[-1]) for length in lengths) / _MOST_STEPS)
    for line, at in zip(lines, lengths, strict=True):
        steps = np.arange(0.0, at[-1], step)
        points.append(np.column_stack([np.interp(steps, at, line[:, axis]) for axis in (0, 1)]))
    return np.vstack(points)


# Names of nodes: in their discs where they fit, else below or beside them


Labels = str | bool

_SMALLEST, _LARGEST = 5.0, 7.0  # points; font size of names outside the discs
_NAMED = 60  # nodes; networks up to this size have long names beside the nodes
_LONG, _LONGEST = 26, 34  # letters of a name, and of a name at the highlighted channel
_ROW = 5  # least number of terminals in a row
_LETTER = 0.57  # width of a letter over its size


@dataclass(frozen=True)
class Names:
    """Names of nodes by their place."""

    inside: Sequence[str] = ()  #: In discs, in the order of the nodes.
    below: Mapping[int, str] = field(default_factory=dict)  #: Upright under terminals.
    beside: Mapping[int, str] = field(default_factory=dict)
    size: float = _LARGEST  #: Of the font inside or below, in points.
    row: frozenset[int] = frozenset()  #: Terminals side by side below all other nodes.
    under: float = 0.0  #: From these terminals to the flows drawn under them, in data units.


def require_labels(labels: Labels) -> None:
    """Raise InputError unless a choice of labels is ``"auto"``, True or False."""
    if labels not in ("auto", True, False):
        raise InputError(f"labels={labels!r}: use 'auto', True or False")


def names_of(topology: Topology, points: Points, unit: float, labels: Labels, ends: Mapping[int, str]) -> Names:
    """Return the names to draw where a data unit has `unit` points; long names only if they fit or are requested.

    Nodes in `ends` always have names, followed by the suffix given there.
    """
    row, pitch = ([], 0.0) if axes_of(topology) else _row(topology, points, unit)
    below: dict[str, Any] = {"row": frozenset(row), "under": 1.3 * RADIUS}
    if labels is False:
        return Names(**below)
    at_ends = {node: f"{shortened(topology.name_of(node), _LONGEST)}{more}" for node, more in ends.items()}
    inside = short_names(topology)
    size = _size_inside(inside, unit)
    if size >= _SMALLEST:
        return Names(inside, beside=at_ends, size=size, **below)
    all_names = {node: shortened(topology.name_of(node), _LONG) for node in range(topology.nodes)} | at_ends
    beside = all_names if labels is True or topology.nodes <= _NAMED else _routers(topology, all_names) | at_ends
    under = {node: all_names[node] for node in row}
    small, long = min(_LARGEST, 0.9 * pitch), max(map(_long, under.values()), default=0.0)
    if not row or small < _SMALLEST or _LARGEST * long + 4.0 <= pitch:
        below["under"] += 1.6 * _LARGEST / unit if beside is all_names else 0.0
        return Names(beside=beside, **below)
    rest = {node: name for node, name in beside.items() if node not in under}
    below["under"] += (small * long + 4.0) / unit
    return Names(below=under, beside=rest, size=small, **below)


def _routers(topology: Topology, names: Mapping[int, str]) -> dict[int, str]:
    """Return the names of the nodes that are not terminals, if these are few."""
    routers = sorted(set(names) - set(topology.terminals.tolist()))
    return {node: names[node] for node in routers} if len(routers) <= _NAMED and topology.nodes <= MANY else {}


def draw_names(on: Canvas, terminal: Any) -> None:
    """Draw the names above everything else."""
    names = on.names
    for (x, y), name, white in zip(on.points.tolist() if names.inside else (), names.inside, terminal, strict=False):
        look: dict[str, Any] = {"fontsize": names.size, "color": INK if white else NODE, "zorder": 8, **LITERAL}
        on.ax.text(x, y, name, ha="center", va="center_baseline", **look)
    stand_upright(on, names.below, names.size)
    stand_beside(on, names.beside, _LARGEST)


def _row(topology: Topology, points: Points, unit: float) -> tuple[list[int], float]:
    """Return the terminals that lie side by side below all other nodes, if they are most, and their distance."""
    row = np.flatnonzero(points[:, 1] < points[:, 1].min() + 1e-6)
    ends = np.isin(row, topology.terminals).all()
    if not ends or len(row) < max(_ROW, len(topology.terminals) / 2) or len(row) == topology.nodes:
        return [], 0.0
    return row.tolist(), float(np.diff(np.sort(points[row, 0])).min()) * unit


def _long(name: str) -> float:
    """Return the length of a name over its font size."""
    return _LETTER * sum(1.8 if east_asian_width(letter) in "WF" else 1.0 for letter in name)


def _size_inside(names: Sequence[str], unit: float) -> float:
    """Return the font size at which all names fit into their discs, in points."""
    longest = max(len(name) - 0.5 * name.count(",") for name in names)
    return min(9.0, 0.92 * 2 * RADIUS * unit / (0.6 * max(longest, 1.6)))


def short_names(topology: Topology) -> list[str]:
    """Return coordinates such as ``0,1,2`` for up to four dimensions, else numbers or names."""
    if not axes_of(topology):
        return [topology.name_of(node) for node in range(topology.nodes)]
    if len(axes_of(topology)) > 4:
        return [str(node) for node in range(topology.nodes)]
    places = product(*(range(radix) for radix in reversed(topology.radices)))
    return [",".join(map(str, reversed(place))) for place in places]


# Channels in words: their two ends, with the ports where they have names


def channel_title(topology: Topology, channel: int) -> str:
    """Return the tail and the head of a channel with an arrow between them, and the ports of a cable."""
    ports = port_names(topology, channel)
    ends = (int(topology.tail[channel]), int(topology.head[channel]))
    numbered = len(axes_of(topology)) > 4  # coordinates do not fit into the discs, which have the numbers of the nodes
    names = [f"{node} {topology.name_of(node)}" if numbered else topology.name_of(node) for node in ends]
    tail, head = (f"{name}{_suffix(port)}" for name, port in zip(names, ports, strict=True))
    return f"{'cable' if any(ports) else 'channel'} {tail} → {head}"


def port_suffixes(topology: Topology, channel: int) -> dict[int, str]:
    """Return what to append to the names of the two end nodes of a channel: the ports of a cable, or nothing."""
    tail, head = int(topology.tail[channel]), int(topology.head[channel])
    one, two = map(_suffix, port_names(topology, channel))
    if not one + two:
        return {}
    return {tail: one + two} if tail == head else {tail: one, head: two}


def _suffix(port: str) -> str:
    return f" {port}" if port else ""


# The traffic that attains a worst case, and the load of each of its pairs on the worst channel


Flow = tuple[int, int, float]  # source and destination terminal, load of the pair on the worst channel


@dataclass(frozen=True)
class Witness:
    """The traffic of a worst case, with its pairs by their load on the worst channel."""

    channel: int
    loads: PairLoads
    traffic: Traffic
    strong: tuple[Flow, ...]  #: Pairs that load the worst channel.
    weak: tuple[Flow, ...]
    fixed: tuple[Flow, ...]  #: Terminals that send to themselves without loading it.
    routing: Routing | None = None  #: None where the result is about given pair loads.

    @property
    def topology(self) -> Topology:
        """Network of the routing."""
        return self.loads.topology

    @property
    def estimated(self) -> bool:
        """Whether the loads are estimates."""
        return self.loads.samples is not None

    @property
    def label(self) -> str:
        """Label of the loads."""
        return "channel load (estimated)" if self.estimated else "channel load"


def witness(result: WorstCase) -> Witness:
    """Return the traffic of a worst case; InputError if the result has no channel, no traffic or no routing."""
    if not result.channel:
        raise InputError(f"{result.topology} has no channels: there is no worst case to draw")
    analyzed = _analyzed(result)
    loads = analyzed if isinstance(analyzed, PairLoads) else _pair_loads(analyzed, result)
    if result.traffic is not None:
        amounts = {(s, d): amount for s, d, amount in result.traffic}
        traffic = from_flows("worst case", loads.terminals, amounts, Fraction(0))
    elif result.permutation is not None:
        amounts = {(s, d): Fraction(1) for s, d in enumerate(result.permutation)}
        traffic = permutation(result.permutation, "worst case")
    else:
        raise InputError(f"this worst case of {result.routing} contains no traffic to draw")
    share = _shares(loads, result.channel.id, amounts)
    flows = [(s, d, share.get((s, d), 0.0)) for s, d in sorted(amounts)]
    return Witness(
        result.channel.id,
        loads,
        traffic,
        strong=tuple(sorted((flow for flow in flows if flow[2] > 0), key=lambda flow: flow[2])),
        weak=tuple(flow for flow in flows if flow[2] == 0 and flow[0] != flow[1]),
        fixed=tuple(flow for flow in flows if flow[2] == 0 and flow[0] == flow[1]),
        routing=None if isinstance(analyzed, PairLoads) else analyzed,
    )


def _shares(loads: PairLoads, channel: int, amounts: dict[tuple[int, int], Fraction]) -> dict[tuple[int, int], float]:
    whole = loads.denominator * loads.topology.bandwidth_of(channel)
    row, col, weight = loads.weights(channel).spread()
    pairs = zip(np.asarray(row).tolist(), np.asarray(col).tolist(), np.asarray(weight).tolist(), strict=True)
    return {(s, d): float(amounts[s, d] * w / whole) for s, d, w in pairs if (s, d) in amounts}


def network_named(result: WorstCase) -> Topology | str:
    """Return the network inside the certificate of a result that was loaded, or else the spec of its network."""
    proof = result.certificate or {}
    if "network" not in proof:
        return result.topology
    rows = proof["channels"] if "channels" in proof else proof["lengths"]  # one of every channel
    return network_of(proof["network"], result.topology, len(rows))


def _analyzed(result: WorstCase) -> Routing | PairLoads:
    """Return what a result is about; the routing of a loaded result is built from its spec."""
    if isinstance(result.subject, PairLoads | Routing):
        return result.subject
    if result.routing == "pair loads":
        raise InputError("this result was computed from pair loads and names no routing; draw it before saving it")
    return routing_of(result.routing, network_named(result))


def _pair_loads(routing: Routing, result: WorstCase) -> PairLoads:
    if not isinstance(result.channel_load, Estimate):
        return routing.pair_loads()
    # The traffic is the worst for one sample of paths, so its load on that sample is biased upwards. Draw new paths,
    # from a stream that no seed of a search gives.
    fresh = np.random.default_rng(np.random.SeedSequence(0).spawn(1)[0])
    return routing.pair_loads(result.channel_load.samples, fresh)


@dataclass(frozen=True)
class Canvas:
    """Axes and positions for a picture of a network."""

    topology: Topology
    points: Points  #: Positions of the nodes.
    lines: list[list[Points]]  #: The lines of every channel.
    ax: Axes
    own: bool  #: Whether the figure was created here and may be resized.
    labels: Labels  #: Which names were requested.
    names: Names
    hot: int | None = None  #: The channel to highlight.
    ends: dict[int, str] = field(default_factory=dict)  #: Suffixes of the names of its two end nodes: ports.
    flows: dict[Flow, Points] = field(default_factory=dict)


def canvas(
    topology: Topology,
    ax: Axes | None,
    labels: Labels,
    flows: Sequence[Flow] = (),
    hot: int | None = None,
) -> Canvas:
    """Return axes of one scale in both directions with room for a network and for the lines of `flows`."""
    require_matplotlib()
    require_labels(labels)
    layout = layout_of(topology)
    points, lines = layout.points, channel_lines(topology, layout)
    ends = {} if hot is None else port_suffixes(topology, hot)
    box = _box(points, list(chain.from_iterable(lines)))
    unit = 72.0 * _inches(box)
    if ax is not None:
        bare_axes(ax, box)
        unit = points_per_unit(ax)
    names = names_of(topology, points, unit, labels, ends)
    curves = {flow: _flow(flow, topology, points, names) for flow in flows}
    if curves:
        box = _box(points, [*chain.from_iterable(lines), *curves.values()])
    own = ax is None
    ax = room(ax, *((box[1] - box[0]) * _inches(box)))
    bare_axes(ax, box)
    return Canvas(topology, points, lines, ax, own, labels, names, hot, ends, curves)


def _flow(flow: Flow, topology: Topology, points: Points, names: Names) -> Points:
    source, destination = (int(topology.terminals[end]) for end in flow[:2])
    under = names.under if {source, destination} <= names.row else 0.0
    return flow_line(points[source], points[destination], under)


def _box(points: Points, lines: Sequence[Points]) -> Points:
    """Return the lower left and the upper right corner of the box around all nodes and lines."""
    everything = np.vstack([points - RADIUS, points + RADIUS, *lines])
    return np.array([everything.min(axis=0) - 0.1, everything.max(axis=0) + 0.1])


def _inches(box: Points) -> float:
    """Return the length of a data unit in a new figure, in inches."""
    width, height = box[1] - box[0]
    return float(min(max(0.75, min(1.1, 3.2 / max(width, height))), most_inches() / width, 7.0 / height))


def bare_axes(ax: Axes, box: Points) -> None:
    """Set the limits of axes to a box, at one scale in both directions, without ticks and frame."""
    (left, low), (right, high) = box.tolist()
    ax.set_aspect("equal")
    ax.set_xlim(left, right)
    ax.set_ylim(low, high)
    ax.set_xticks([])
    ax.set_yticks([])
    for side in ax.spines.values():
        side.set_visible(False)


# Nodes of a network picture, and coordinates along its edges


_AXES = "xyzw"


def draw_nodes(on: Canvas) -> None:
    """Draw nodes as discs, routers smaller and filled, with coordinates along the edges or names where they fit."""
    ax, topology = on.ax, on.topology
    terminal = np.zeros(topology.nodes, bool)
    terminal[topology.terminals] = True
    size = np.where(terminal, 2.0, 1.5) * RADIUS * (1.0 if topology.nodes <= MANY else 0.8)
    _discs(on, np.arange(topology.nodes), size, [NODE if sends else INK for sends in terminal], "nodes")
    other = topology.terminals[_other_rates(topology)]
    if len(other):
        _discs(on, other, 1.4 * size[other], "none", "rates")
    if on.labels is False:
        return
    if on_grid(topology):
        if len(axes_of(topology)) <= 2:
            _coordinates(ax, topology)
            if on.labels == "auto":
                return
        elif len(axes_of(topology)) == 3:
            _captions(ax, topology)
    draw_names(on, terminal)


def _discs(on: Canvas, nodes: Array, size: Array, colors: list[str] | str, gid: str) -> None:
    """Draw a disc at each of some nodes, with a rim."""
    from matplotlib.collections import EllipseCollection

    discs = EllipseCollection(
        size,
        size,
        np.zeros(len(size)),
        units="xy",
        offsets=on.points[nodes],
        offset_transform=on.ax.transData,
        zorder=6 if on.topology.nodes <= MANY else 2.5,
        facecolors=colors,
        edgecolors=INK,
        linewidths=min(0.9, 0.025 * points_per_unit(on.ax)),
        gid=gid,
    )
    on.ax.add_collection(discs, autolim=False)


def draw_missing(on: Canvas) -> list[Any]:
    """Draw a dotted line for every cable that a fat tree lacks, and return their entry of the key, if there are any."""
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    hint = layout_hint(on.topology)
    if hint is None or not hint.missing:
        return []
    look: dict[str, Any] = {"color": INK, "linewidth": 1.3, "linestyle": (0, (1.0, 2.0))}
    lines = LineCollection([on.points[list(pair)] for pair in hint.missing], zorder=5.2, gid="missing cables", **look)
    on.ax.add_collection(lines, autolim=False)
    return [Line2D([], [], label=plural(len(hint.missing), "missing cable"), **look)]


def node_signs(topology: Topology) -> list[Any]:
    """Return the key of the discs, if there are several kinds, and of the rings."""
    from matplotlib.lines import Line2D

    look: dict[str, Any] = {"linestyle": "none", "marker": "o", "color": INK, "markeredgewidth": 0.9}
    rings = []
    if (other := _other_rates(topology)).any():
        rates = {pair for pair, marked in zip(zip(*topology.rates(), strict=True), other, strict=True) if marked}
        one = len(rates) == 1
        label = "sends {} and takes {}".format(*next(iter(rates))) if one else "sends or takes other rates"
        ring = look | {
            "marker": "$\u25ce$",
            "markersize": 13,
            "markeredgewidth": 0.2,
        }  # a circle in a circle, as on the network
        rings = [Line2D([], [], label=label, **ring)]
    if topology.all_terminals:
        return rings
    cabled = topology.channels > 0 and any(port_names(topology, 0))
    terminal, router = ("host", "switch") if cabled else ("terminal", "router")
    return [
        *rings,
        Line2D([], [], markerfacecolor=NODE, markersize=8, label=f"{terminal} (sends and takes packets)", **look),
        Line2D([], [], markersize=6, label=f"{router} (passes packets on)", **look),
    ]


def _other_rates(topology: Topology) -> Array:
    """Return which terminals send or take other rates than most of them."""
    rates = list(zip(*topology.rates(), strict=True))
    most = Counter(rates).most_common(1)[0][0] if rates else None
    return np.array([pair != most for pair in rates], bool)


def _coordinates(ax: Axes, topology: Topology) -> None:
    unit = points_per_unit(ax)
    for radix, set_ticks, name in zip(topology.radices, (ax.set_xticks, ax.set_yticks), _AXES, strict=False):
        step = next(step for step in (1, 2, 4, 5, 8, 10, 16, 20, 50, 100, 10**9) if step * unit > 14)
        set_ticks(range(0, radix, step), labels=[str(at) for at in range(0, radix, step)])
        (ax.set_xlabel if name == "x" else ax.set_ylabel)(name)
    ax.tick_params(length=0, labelsize=8)


def _captions(ax: Axes, topology: Topology) -> None:
    kx, _, kz = topology.radices
    if points_per_unit(ax) * kx > 30:
        ax.set_xticks([(kx - 1) / 2 + z * (kx + 0.6) for z in range(kz)], labels=[f"z = {z}" for z in range(kz)])
        ax.tick_params(length=0, labelsize=9)


# Arrows as filled outlines in data units, which keep their shape at every size of the picture


def ribbons(lines: Sequence[Sequence[Points]], widths: Sequence[float]) -> list[Path]:
    """Return one outline for each group of lines."""
    from matplotlib.path import Path

    paths = []
    for group, width in zip(lines, widths, strict=True):
        parts = [Path(ribbon(line, width), closed=True) for line in group]
        paths.append(parts[0] if len(parts) == 1 else Path.make_compound_path(*parts))
    return paths


def add_ribbons(ax: Axes, lines: Sequence[Sequence[Points]], widths: Sequence[float], name: str, **look: Any) -> Any:
    """Draw one arrow for each group of lines and return their collection."""
    from matplotlib.collections import PathCollection

    arrows = PathCollection(ribbons(lines, widths), linewidths=0, gid=name, **look)
    ax.add_collection(arrows, autolim=False)
    return arrows


def thickened(ax: Axes, widths: Any, points: float) -> list[float]:
    """Return widths in data units of at least `points` points on the page; the limits must be set before."""
    return np.maximum(np.asarray(widths, float), points / points_per_unit(ax)).tolist()  # type: ignore[no-any-return]


def ribbon(line: Points, width: float) -> Points:
    """Return the closed outline of an arrow along a line: a shaft of this width and a head at the end."""
    steps = np.hypot(*np.diff(line, axis=0).T)
    at = np.concatenate([[0.0], np.cumsum(steps)])
    head = min(0.07 + 1.5 * width, 0.6 * at[-1])
    wing = 0.03 + 0.95 * width
    neck = at[-1] - head
    shaft = line[at < neck]
    base = np.array([np.interp(neck, at, line[:, axis]) for axis in (0, 1)])
    shaft = np.vstack([shaft, base])
    slope = np.gradient(shaft, axis=0) if len(shaft) > 1 else line[-1:] - base
    slope[-1] = line[-1] - base
    across = np.column_stack([-slope[:, 1], slope[:, 0]]) / np.maximum(np.hypot(*slope.T), 1e-12)[:, None]
    left, right = shaft + across * width / 2, shaft - across * width / 2
    barbs = base + across[-1] * wing, base - across[-1] * wing
    return np.vstack([left, barbs[0], line[-1], barbs[1], right[::-1], left[:1]])
