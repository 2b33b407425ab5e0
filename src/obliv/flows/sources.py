"""What sources send under a routing: phase programs, unit flows, decomposition trees, mixes, or those of `base`."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import factorial, lcm, prod
from typing import Any

import numpy as np

from obliv._util.arrays import INT64_SAFE, Array, starts, whole
from obliv._util.progress import require_memory
from obliv.errors import RoutingError
from obliv.flows._kernels import CartesianNetwork, Output, Phases, Shapes, loads_in_box, quadrant_flow, walk_flow
from obliv.flows.base import (
    STEPS,
    CheckTime,
    Flow,
    Flows,
    Pieces,
    denominator_of_hops,
    hop_flows,
    numbered_flows,
    path_flows,
    reach_flows,
)
from obliv.kernels import run
from obliv.routings.base import Routing
from obliv.routings.descriptions import ClusterTrees, DecompositionTree, Programs, TwoPhases, hop_groups
from obliv.topologies.base import Topology, find
from obliv.topologies.cartesian import LinkFlows, axes_of, links_of
from obliv.topologies.trees import NumberedPaths

# Flows of dimension-ordered routings, from their programs of phases


#: An order of some dimensions, and the weights of its steps.
_Row = tuple[tuple[int, ...], list[Fraction]]


def program_flows(topology: Topology, program: Any, check_time: CheckTime) -> Flows:
    """Return the flows of one program on a network of lines and rings."""
    nodes = topology.nodes
    grid = _grid(topology)
    phases = _phases(program, len(topology.radices))
    quadrant = program.draw == "quadrant" and not program.spread
    _require_bits(topology, program, phases, quadrant)
    given: Shapes | Phases = _shapes(grid, phases, check_time) if quadrant else phases
    body = quadrant_flow if quadrant else walk_flow
    dims = len(topology.radices)
    box = dims * prod(1 + k / 4 for k in topology.radices)  # steps of a box, about
    steps = box if quadrant else 4.0 * nodes * int((phases.order >= 0).sum())  # per destination
    size = [max(4096, 8 * topology.channels)]  # of the buffers, kept from source to source

    def flow(i: int) -> Flow:
        whole = np.ones(nodes, np.int64)
        pieces = Pieces(1, nodes, size[0], np.int64)
        while pieces.done < nodes:
            check_time()
            first = pieces.done
            last = min(nodes, first + max(1, int(STEPS / max(steps, 1))))

            def send(channel: Array, amount: Array, first: int = first, last: int = last) -> int:
                out = Output(pieces.ends, whole, channel, amount)
                return int(run(body, nodes**2 * steps, i, first, last, grid, given, out))

            pieces.fill(send)
        (flow,) = pieces.flows(whole)
        size[0] = pieces.size
        return flow

    return flow


def _shapes(grid: CartesianNetwork, phases: Phases, check_time: CheckTime) -> Shapes:
    """Return the loads in boxes of every shape: half a ring, or a whole line, in each dimension at most."""
    most = np.where(grid.ring == 1, grid.radix // 2 + 1, grid.radix).tolist()
    entries = len(most) * prod(n * (n + 1) // 2 for n in most)
    require_memory(40.0 * entries, "the loads in boxes of all shapes")
    parts, whole = [], []
    for lengths in product(*(range(1, n + 1) for n in reversed(most))):  # the first dimension changes fastest
        check_time()
        length = np.array(lengths[::-1])
        stride = np.cumprod([1, *length])
        cells = int(stride[-1])
        load = np.zeros((len(most), cells), np.int64)
        begin, mass = np.zeros((2, cells), np.int64)
        run(loads_in_box, 4.0 * entries * len(phases.order), length, stride[:-1], phases, begin, mass, load)
        cell, dim = np.nonzero(load.T)
        loads = load[dim, cell]
        most_common = int(np.gcd.reduce(loads, initial=cells * phases.scale))  # so that `whole` divides what it can
        whole.append(cells * phases.scale // most_common)
        parts.append((dim.astype(np.int32), cell.astype(np.int32), loads // most_common))
    dim, cell, loads = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    place = np.cumprod([1, *most])[:-1]
    start = starts([len(part[0]) for part in parts])
    return Shapes(phases.when, place, start, dim, cell, loads, np.array(whole))


def _grid(topology: Topology) -> CartesianNetwork:
    """Return a network as its kernel takes it."""
    radix = np.array(topology.radices, np.int64)
    stride = np.cumprod([1, *topology.radices])[:-1].astype(np.int64)
    ring = np.array([axis.kind == "ring" for axis in axes_of(topology)], np.int64)
    return CartesianNetwork(radix, stride, ring, _ports(topology, radix, stride, ring), topology.channels)


def _phases(program: Any, dims: int) -> Phases:
    """Return the phases of a program as arrays."""
    targets, first = [], [0]
    rows: list[_Row] = []
    for phase in program.phases:
        rows += _every_order(dims) if phase.orders is None else _even_orders(phase.orders)
        targets.append(0 if phase.target == "I" else 1)
        first.append(len(rows))
    scale = lcm(*(weight.denominator for _, weights in rows for weight in weights))
    order = np.full((len(rows), dims), -1, np.int64)
    weight = np.zeros((len(rows), dims), np.int64)
    for number, (dimensions, weights) in enumerate(rows):
        order[number, : len(dimensions)] = dimensions
        weight[number, : len(dimensions)] = [int(share * scale) for share in weights]
    when = np.full(dims, -1, np.int64)
    for x, differ in program.when:
        when[x] = int(differ)
    spread = np.array([int(x in program.spread) for x in range(dims)], np.int64)
    return Phases(when, spread, np.array(targets, np.int64), np.array(first, np.int64), order, weight, scale)


def _require_bits(topology: Topology, program: Any, phases: Phases, quadrant: bool) -> None:
    """Refuse flows whose amounts could exceed 64 bits."""
    choices = list(topology.radices)  # coordinates to draw from, in every draw
    if not quadrant:
        choices = [
            k if target == 0 or x in program.spread else 1
            for target in phases.target.tolist()
            for x, k in enumerate(topology.radices)
        ]
    finest = phases.scale * prod(2 * k for k in choices)
    if (finest * 2 * sum(topology.radices) * len(program.phases)).bit_length() > 62:
        raise RoutingError(f"the flows of {topology.spec} need more than 64 bits")


def _even_orders(orders: Any) -> list[_Row]:
    """Return orders of the dimensions, equally likely, with the weights of their steps."""
    return [(order, [Fraction(1, len(orders))] * len(order)) for order in orders]


def _every_order(dims: int) -> list[_Row]:
    """Return rows that stand for all orders of the dimensions at once.

    Where a packet is before it moves along x depends on the set of dimensions that it has moved along, not on their
    order; a set of s comes just before x in s! (dims - s - 1)! of dims! orders. So there is one row for each set
    and x, and only its last step counts.
    """
    rows: list[_Row] = []
    for s in range(dims):
        share = Fraction(factorial(s) * factorial(dims - s - 1), factorial(dims))
        for before in combinations(range(dims), s):
            for x in (x for x in range(dims) if x not in before):
                rows.append(((*before, x), [Fraction(0)] * s + [share]))
    return rows


def _ports(topology: Topology, radix: Array, stride: Array, ring: Array) -> Array:
    """Return the channel up and down each dimension from every node, -1 where there is none."""
    port = np.full((len(radix), 2, topology.nodes), -1, np.int64)
    for c in range(topology.channels):
        tail, head = int(topology.tail[c]), int(topology.head[c])
        for x in range(len(radix)):
            a, b = tail // stride[x] % radix[x], head // stride[x] % radix[x]
            if a == b:
                continue
            up = (b - a) % radix[x] == 1 if ring[x] else b > a
            down = (a - b) % radix[x] == 1 if ring[x] else b < a
            if up and port[x, 0, tail] < 0:  # on a ring of two the first channel leads up, the second down
                port[x, 0, tail] = c
            elif down:
                port[x, 1, tail] = c
    return port


# Flows of pairs as differences of one unit flow per terminal, which are checked to be unit flows first


def difference_flows(topology: Topology, flows: LinkFlows) -> Flows:
    """Return what every terminal sends: the positive part of its flow less that of each destination."""
    require_unit_flows(topology, flows)
    links, terminals = flows.links, len(topology.terminals)

    def flow(i: int) -> Flow:
        across = flows.amount[:, i, None] - flows.amount
        along = np.maximum(0, across[links.link] * links.sign[:, None]).T
        destination, channel = np.nonzero(along)
        ends = np.searchsorted(destination, np.arange(terminals), side="right")
        return Flow(ends, channel, along[destination, channel], np.full(terminals, flows.denominator))

    return flow


def require_unit_flows(topology: Topology, flows: LinkFlows) -> None:
    """Raise unless every terminal's flow brings one unit to the root and is conserved everywhere else.

    Then the difference of two of them is a unit flow from the one terminal to the other.
    """
    links, terminals = flows.links, topology.terminals.astype(np.int64)
    channels = np.arange(topology.channels)
    ends = np.stack([links.forward, links.backward])
    if (
        not np.array_equal(np.sort(ends.ravel()), channels)
        or not np.array_equal(links.link[ends], np.stack([np.arange(ends.shape[1])] * 2))
        or (links.sign[links.forward] != 1).any()
        or (links.sign[links.backward] != -1).any()
        or (topology.tail[links.forward] != topology.head[links.backward]).any()
        or (topology.head[links.forward] != topology.tail[links.backward]).any()
    ):
        raise RoutingError("the links of the flows are not pairs of opposite channels")
    if flows.amount.shape != (ends.shape[1], len(terminals)) or flows.denominator < 1:
        raise RoutingError("the flows do not fit the links and terminals")
    limit = INT64_SAFE // max(1, topology.channels)
    if flows.amount.size and max(int(flows.amount.max()), -int(flows.amount.min()), flows.denominator) >= limit:
        raise RoutingError("the flows exceed 64 bits")
    left = np.zeros((topology.nodes, len(terminals)), np.int64)
    for k, row in enumerate(flows.amount):
        left[topology.tail[links.forward[k]]] -= row
        left[topology.head[links.forward[k]]] += row
    left[terminals, np.arange(len(terminals))] += flows.denominator
    left[flows.root] -= flows.denominator
    if left.any():
        node, terminal = (int(place[0]) for place in np.nonzero(left))
        raise RoutingError(f"the flow of terminal {terminal} is not conserved at node {node}")


def threshold_prices(x: Array, threshold: int) -> Array:
    """Return the prices that a threshold stands for."""
    prices: Array = np.maximum(0, threshold - x.astype(object))
    return prices


# Flows over decomposition trees, cluster by cluster, after a check that their paths join.
#
# On the way from a source, a packet climbs the path of every cluster of the source that does not contain the
# destination, and comes down the path of every cluster of the destination that does not contain the source.


def cluster_flows(topology: Topology, trees: list[DecompositionTree], spec: str, check_time: CheckTime) -> Flows:
    """Return what every terminal sends where each packet takes one of some trees, all equally likely."""
    links = links_of(topology, spec)
    opposite = np.where(links.sign > 0, links.backward[links.link], links.forward[links.link])
    n, channels = len(topology.terminals), topology.channels
    climbs = [_require_tree(topology, tree, spec) for tree in trees]

    def flow(i: int) -> Flow:
        check_time()
        keys = []
        for tree, (cluster, channel) in zip(trees, climbs, strict=True):
            at = int(np.flatnonzero(tree.order == i)[0])
            own = ((tree.first <= at) & (at < tree.end))[cluster]
            first, end = tree.first[cluster], tree.end[cluster]
            down = np.where(own, first, end - first)  # own clusters: the destinations before them, and those after
            keys.append(_spread(tree.order, np.where(own, 0, first), down, np.where(own, channel, opposite[channel])))
            keys.append(_spread(tree.order, end[own], n - end[own], channel[own]))
        place, amount = np.unique(np.concatenate([key[0] * channels + key[1] for key in keys]), return_counts=True)
        destination, over = np.divmod(place, channels)
        ends = np.searchsorted(destination, np.arange(n), side="right")
        return Flow(ends, over, amount.astype(np.int64), np.full(n, len(trees)))

    return flow


def _spread(order: Array, first: Array, count: Array, channel: Array) -> tuple[Array, Array]:
    """Return the terminals of each interval of an order, with the channel of the interval."""
    inside = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
    return order[np.repeat(first, count) + inside], np.repeat(channel, count)


def _require_tree(topology: Topology, tree: DecompositionTree, spec: str) -> tuple[Array, Array]:
    """Check a tree, and return its climbs as rows of cluster and channel.

    Clusters are nested intervals, the leaves are the terminals, and the paths of all children lead to one node.
    """
    n, count = len(topology.terminals), len(tree.parent)
    parent, first, end = tree.parent, tree.first, tree.end
    inner = np.arange(1, count)
    leaves = ~np.isin(np.arange(count), parent[1:])
    if (
        not np.array_equal(np.sort(tree.order), np.arange(n))
        or not len(first) == len(end) == len(tree.up) == count > 0
        or (first[0], end[0]) != (0, n)
        or ((parent[1:] < 0) | (parent[1:] >= inner)).any()
        or (first[1:] < first[parent[1:]]).any()
        or (end[1:] > end[parent[1:]]).any()
        or not np.array_equal(np.sort(first[leaves]), np.arange(n))
        or (end[leaves] - first[leaves] != 1).any()
    ):
        raise RoutingError(f"{spec}: the clusters of a tree are not nested, down to single terminals")
    center = np.full(count, -1)
    center[leaves] = topology.terminals[tree.order[first[leaves]]]
    for cluster in inner[::-1].tolist():  # children have larger numbers
        node = int(center[cluster])
        for channel in tree.up[cluster]:
            if not 0 <= channel < topology.channels or topology.tail[channel] != node:
                raise RoutingError(f"{spec}: a path between two clusters takes channel {channel} at node {node}")
            node = int(topology.head[channel])
        above = int(parent[cluster])
        if center[above] not in (-1, node):
            raise RoutingError(f"{spec}: the paths to a cluster end at nodes {center[above]} and {node}")
        center[above] = node
    lengths = np.array([len(path) for path in tree.up])
    channels: Array = np.array([channel for path in tree.up for channel in path], np.int64)
    return np.repeat(np.arange(count), lengths), channels


# Flows of mixes of routings, and of Valiant's two phases


def two_phase_flows(routing: Routing, base: Flows, denominator: int) -> Flows:
    """Return what each source sends to a random intermediate terminal by `base`, and on from there."""
    n, channels = len(routing.topology.terminals), routing.topology.channels
    require_memory(16.0 * n * channels, "the two phases of all terminals")
    exact: Any = object if (denominator * n).bit_length() > 60 else np.int64
    sent = np.zeros((n, channels), exact)
    received = np.zeros((n, channels), exact)
    for i in range(n):
        flow = base(i)
        destination = flow.destination
        common = flow.whole[destination].astype(object)
        scaled = flow.amount.astype(object) * denominator
        if any(int(amount) % int(own) for amount, own in zip(scaled, common, strict=True)):
            raise RoutingError(f"the loads of {routing.spec} are not integers over {denominator * n}")
        values = (scaled // common).astype(exact)
        np.add.at(sent[i], flow.channel, values)
        np.add.at(received, (destination, flow.channel), values)

    def flow_of(i: int) -> Flow:
        total = sent[i][None, :] + received
        destination, channel = np.nonzero(total)
        ends = np.searchsorted(destination, np.arange(n), side="right")
        return Flow(ends, channel, total[destination, channel], np.full(n, denominator * n, exact))

    return flow_of


def mixed_flows(parts: list[tuple[Fraction, Flows]]) -> Flows:
    """Return the sum of flows with their weights."""
    if len(parts) == 1 and parts[0][0] == 1:
        return parts[0][1]

    def flow(i: int) -> Flow:
        flows = [(weight, part(i)) for weight, part in parts]
        n = len(flows[0][1].ends)
        wholes = [lcm(*(int(part.whole[j]) * weight.denominator for weight, part in flows)) for j in range(n)]
        keys, values = [], []
        for weight, part in flows:
            destination = part.destination
            factor = np.array(
                [
                    common * weight.numerator // (int(own) * weight.denominator)
                    for common, own in zip(wholes, part.whole, strict=True)
                ],
                object,
            )
            keys.append(np.stack([destination, part.channel]))
            values.append(part.amount.astype(object) * factor[destination])
        pairs, index = np.unique(np.concatenate(keys, axis=1), axis=1, return_inverse=True)
        total: Array = np.zeros(pairs.shape[1], object)
        np.add.at(total, index.ravel(), np.concatenate(values))
        ends = np.searchsorted(pairs[0], np.arange(n), side="right")
        return Flow(ends, pairs[1], whole(total.tolist()), whole(wholes))

    return flow


# Flows of a routing, from the smallest of its descriptions: programs, numbered paths, phases, flows, hops or paths


def source_flows(routing: Routing, denominator: int, check_time: CheckTime = lambda: None) -> Flows:
    """Return a function from a terminal's number to what it sends."""
    topology = routing.topology
    components = routing.components()
    if components[0][1] is not routing:
        if sum(weight for weight, _ in components) != 1 or any(weight < 0 for weight, _ in components):
            raise RoutingError(f"the weights of {routing.spec} do not add up to 1")
        return mixed_flows([(weight, source_flows(part, denominator, check_time)) for weight, part in components])
    described = find(routing, Programs)
    if (
        described
        and axes_of(topology)
        and topology.all_terminals
        and all(axis.kind != "clique" for axis in axes_of(topology))
    ):
        return mixed_flows(
            [(program.probability, program_flows(topology, program, check_time)) for program in described.programs]
        )
    if find(routing, NumberedPaths) is not None:
        return numbered_flows(routing, check_time)
    if (phases := find(routing, TwoPhases)) is not None:
        return two_phase_flows(routing, source_flows(phases.base, denominator, check_time), denominator)
    if (links := find(routing, LinkFlows)) is not None:
        return difference_flows(topology, links)
    if (clusters := find(routing, ClusterTrees)) is not None:
        return cluster_flows(topology, clusters.trees, routing.spec, check_time)
    if groups := hop_groups(routing, topology.terminals):
        if routing.any_choice:
            parts = [(sources, reach_flows(part, routing.partial, check_time)) for sources, part in groups]
        else:
            parts = [(sources, hop_flows(part, denominator, sources, check_time)) for sources, part in groups]
        flows_of = {node: flows for sources, flows in parts for node in sources.tolist()}
        return lambda i: flows_of[int(topology.terminals[i])](i)
    return path_flows(routing, check_time)


def denominator_of(routing: Routing, check_time: CheckTime = lambda: None) -> int:
    """Return a denominator that :func:`source_flows` can use, for results that do not contain one."""
    components = routing.components()
    if components[0][1] is not routing:
        return lcm(*(denominator_of(part, check_time) for _, part in components))
    if (find(routing, Programs) and axes_of(routing.topology)) or find(routing, NumberedPaths):
        return 1
    if (phases := find(routing, TwoPhases)) is not None:
        base = phases.base
        own = denominator_of(base, check_time)
        flows = source_flows(base, own, check_time)
        return lcm(
            own, *(int(part) for i in range(len(base.topology.terminals)) for part in set(flows(i).whole.tolist()))
        )
    groups = [] if routing.any_choice else hop_groups(routing, routing.topology.terminals)
    return lcm(*(denominator_of_hops(part, check_time) for _, part in groups))
