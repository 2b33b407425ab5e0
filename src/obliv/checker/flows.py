"""Pair loads once more, source by source, from what a routing says of its paths.

Nothing here comes from the closed forms or the enumeration that worst cases are found with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import factorial, lcm, prod
from typing import Any

import numpy as np

from obliv._util.memory import require_memory
from obliv._util.rationals import share as share_of
from obliv._util.typing import Array
from obliv.checker.kernels.flows import hop_flow, quadrant_flow, walk_flow
from obliv.checker.trees import walk
from obliv.errors import RoutingError
from obliv.kernels import run
from obliv.routings.base import Routing
from obliv.routings.hops import HopRouting
from obliv.routings.trees.base import TreeRouting
from obliv.topologies.cartesian import Cartesian

__all__ = ["Flow", "source_flows", "without"]


_STEPS = 2e7  # of a kernel between two looks at the clock and at the keyboard


@dataclass(frozen=True, eq=False)
class Flow:
    """What one source sends over which channels, destination after destination (terminal numbers).

    Destination j has entries ``ends[j - 1] .. ends[j]`` of `channel` and `amount`; amounts are over ``whole[j]``.
    """

    ends: Array
    channel: Array
    amount: Array
    whole: Array


Flows = Callable[[int], Flow]


def without(flow: Flow, destination: int) -> Flow:
    """A flow less what goes to one destination."""
    first, end = int(flow.ends[destination - 1]) if destination else 0, int(flow.ends[destination])
    ends = flow.ends.copy()
    ends[destination:] -= end - first
    gone = slice(first, end)
    return Flow(ends, np.delete(flow.channel, gone), np.delete(flow.amount, gone), flow.whole)


def source_flows(routing: Routing, denominator: int, look: Callable[[], None] = lambda: None) -> Flows:
    """A function from a terminal's number to what it sends.

    Parameters
    ----------
    routing : Routing
    denominator : int
        The claim's; amounts need not be over it.
    look : callable, optional
        Called every now and then during long work; it may raise.
    """
    programs = routing.programs
    topology = routing.topology
    parts = routing.components()
    if parts[0][1] is not routing:
        if sum(weight for weight, _ in parts) != 1 or any(weight < 0 for weight, _ in parts):
            raise RoutingError(f"the weights of {routing.spec} do not add up to 1")
        return _mixed([(weight, source_flows(part, denominator, look)) for weight, part in parts])
    if (
        programs
        and isinstance(topology, Cartesian)
        and topology.all_terminals
        and all(along.kind != "clique" for along in topology.axes)
    ):
        return _mixed([(program.probability, _program_flows(topology, program, look)) for program in programs])
    if routing.by_number is not None:
        return _way_flows(routing.by_number, look)
    if routing.phase_routing is not None:
        return _two_phase_flows(routing, source_flows(routing.phase_routing, denominator, look), denominator)
    if routing.by_hops is not None:
        return _hop_flows(routing.by_hops, denominator, look)
    return lambda i: _path_flow(routing, i, look)


def _path_flow(routing: Routing, i: int, look: Callable[[], None]) -> Flow:
    terminals = routing.topology.terminals.tolist()
    ends, channels, amounts, wholes = [], [], [], []
    for d in terminals:
        look()
        used: dict[int, Fraction] = {}
        total = Fraction(0)
        for path, given in routing.paths(terminals[i], d):
            chance = _chance(routing, given)
            total += chance
            _require_path(routing, path, terminals[i], d)
            for c in path:
                used[c] = used.get(c, Fraction(0)) + chance
        if total != 1 and (total != 0 or terminals[i] != d) and not (routing.partial and 0 <= total < 1):
            raise RoutingError(
                f"{routing.spec}: the paths from node {terminals[i]} to node {d} have probability {total}"
            )
        whole = lcm(*(amount.denominator for amount in used.values()))
        channels += list(used)
        amounts += [amount.numerator * (whole // amount.denominator) for amount in used.values()]
        wholes.append(whole)
        ends.append(len(channels))
    return Flow(np.array(ends), np.array(channels, np.int64), _whole(amounts), _whole(wholes))


def _way_flows(routing: TreeRouting, look: Callable[[], None]) -> Flows:
    """The path of each pair of a fat tree, walked link by link as its number says."""
    terminals = np.arange(len(routing.topology.terminals))

    def flow(i: int) -> Flow:
        look()
        taken = walk(routing, np.array(i), terminals)
        used = taken >= 0
        channel = taken[used]
        ends = np.cumsum(used.sum(axis=1))
        return Flow(ends, channel, np.ones(len(channel), np.int64), np.ones(len(terminals), np.int64))

    return flow


def _require_path(routing: Routing, path: tuple[int, ...], source: int, destination: int) -> None:
    at = source
    for c in path:
        if not 0 <= c < routing.topology.channels or int(routing.topology.tail[c]) != at:
            raise RoutingError(f"{routing.spec}: a path leaves node {at} by channel {c}, which is not its own")
        at = int(routing.topology.head[c])
    if at != destination:
        raise RoutingError(f"{routing.spec}: a path to node {destination} ends at node {at}")


def _hop_flows(routing: HopRouting, denominator: int, look: Callable[[], None]) -> Flows:
    """Next hops of every node towards every terminal, asked one by one, with a topological order of the nodes."""
    topology = routing.topology
    nodes, targets = topology.nodes, topology.terminals.astype(np.int64)
    require_memory(60.0 * nodes * len(targets), "the next hops of all pairs")
    ptr, hop, total, orders = [0], [], [], []
    share: list[int] = []
    head = topology.head.tolist()
    for d in targets.tolist():
        look()
        nexts: list[list[int]] = []
        for v in range(nodes):
            chances = _chances(routing, v, d) if v != d else []
            whole = lcm(*(c.denominator for _, c in chances)) if chances else 1
            nexts.append([head[c] for c, _ in chances])
            hop += [c for c, _ in chances]
            share += [c.numerator * (whole // c.denominator) for _, c in chances]
            total.append(whole)
            ptr.append(len(hop))
        orders += _order(routing, nexts, d)
    small = (denominator * max([1, *share])).bit_length() < 62
    number: Any = np.int64 if small else object
    arrays = (np.array(orders, np.int32), np.array(ptr, np.int64), np.array(hop, np.int32))
    shares, totals = np.array(share, number), np.array(total, number)
    heads = topology.head
    sized = [max(1024, 4 * nodes)]

    def flow(i: int) -> Flow:
        mass: Array = np.zeros(nodes, number)
        parts = []
        ends = np.zeros(len(targets), np.int64)
        first = before = 0
        while first < len(targets):
            look()
            out = np.empty(sized[0], np.int64), np.empty(sized[0], number)
            last = min(len(targets), first + max(1, int(_STEPS / nodes)))
            tables = (*arrays, shares, totals, heads, denominator, mass, ends)
            work = float(nodes) * len(targets) ** 2
            upto = int(run(hop_flow, work, int(targets[i]), targets, first, last, nodes, *tables, *out))
            if upto < 0:
                raise RoutingError(f"the loads of {routing.spec} are no whole numbers over {denominator}")
            if upto == first:
                sized[0] *= 4
                continue
            size = int(ends[upto - 1])
            parts.append((out[0][:size], out[1][:size]))
            ends[first:upto] += before
            before += size
            first = upto
        whole = np.full(len(targets), denominator, number)
        return Flow(ends, *(np.concatenate(each) for each in zip(*parts, strict=True)), whole)  # type: ignore[call-arg]

    return flow


def _chances(routing: HopRouting, node: int, destination: int) -> list[tuple[int, Fraction]]:
    hops: list[Any] = list(routing.next_hops(node, destination))
    if not hops:
        return []
    tail, even = routing.topology.tail, Fraction(1, len(hops))
    found: dict[int, Fraction] = {}
    for each in hops:
        channel, chance = (each[0], _chance(routing, each[1])) if isinstance(each, tuple) else (each, even)
        if not 0 <= channel < len(tail) or tail[channel] != node:
            raise RoutingError(f"{routing.spec}: node {node} has a next hop that is none towards {destination}")
        found[int(channel)] = found[int(channel)] + chance if int(channel) in found else chance
    if any(isinstance(each, tuple) for each in hops) and sum(found.values()) != 1:
        raise RoutingError(f"{routing.spec}: the next hops of node {node} towards {destination} do not add up to 1")
    return [(channel, chance) for channel, chance in found.items() if chance]


def _chance(routing: Routing, given: Any) -> Fraction:
    """A probability as the routing gives it; see :func:`obliv._util.rationals.share` for what floats stand for."""
    chance = share_of(given)
    if chance is None:
        raise RoutingError(f"{routing.spec}: {given!r} is no probability")
    return chance


def _order(routing: HopRouting, nexts: list[list[int]], destination: int) -> list[int]:
    """The nodes so that each stands before its next hops; only those from which the destination is reached."""
    state = [0] * len(nexts)
    done: list[int] = []
    for root in routing.topology.terminals.tolist():
        stack = [root] if state[root] == 0 else []
        while stack:
            v = stack[-1]
            if state[v] == 0:
                state[v] = 1
                if not nexts[v] and v != destination:
                    raise RoutingError(f"{routing.spec}: node {v} has no next hop towards node {destination}")
                for w in nexts[v]:
                    if state[w] == 1:
                        raise RoutingError(f"{routing.spec}: the next hops towards node {destination} form a loop")
                    if state[w] == 0:
                        stack.append(w)
            else:
                stack.pop()
                if state[v] == 1:
                    state[v] = 2
                    done.append(v)
    return done[::-1] + [-1] * (len(nexts) - len(done))


def _program_flows(topology: Cartesian, program: Any, look: Callable[[], None]) -> Flows:
    dims = len(topology.axes)
    radix = np.array(topology.radices, np.int64)
    stride = np.cumprod([1, *topology.radices])[:-1].astype(np.int64)
    ring = np.array([along.kind == "ring" for along in topology.axes], np.int64)
    port = _ports(topology, radix, stride, ring)
    targets, starts = [], [0]
    rows: list[tuple[tuple[int, ...], list[Fraction]]] = []
    for phase in program.phases:
        rows += _every_order(dims) if phase.orders is None else _even_orders(phase.orders)
        targets.append(0 if phase.target == "I" else 1)
        starts.append(len(rows))
    scale = lcm(*(weight.denominator for _, weights in rows for weight in weights))
    order_list = np.full((len(rows), dims), -1, np.int64)
    order_weight = np.zeros((len(rows), dims), np.int64)
    for at, (order, weights) in enumerate(rows):
        order_list[at, : len(order)] = order
        order_weight[at, : len(order)] = [int(weight * scale) for weight in weights]
    when = np.full(dims, -1, np.int64)
    for x, differ in program.when:
        when[x] = int(differ)
    spread = np.array([int(x in program.spread) for x in range(dims)], np.int64)
    shared = (when, spread, np.array(targets, np.int64), np.array(starts, np.int64), order_list, order_weight, scale)
    nodes = topology.nodes
    quadrant = program.draw == "quadrant" and not program.spread
    drawn = list(topology.radices)  # from how many coordinates, each time
    if not quadrant:
        drawn = [
            k if target == 0 or x in program.spread else 1 for target in targets for x, k in enumerate(topology.radices)
        ]
    finest = scale * prod(2 * k for k in drawn)
    if (finest * 2 * sum(topology.radices) * len(program.phases)).bit_length() > 62:
        raise RoutingError(f"the flows of {topology.spec} are too fine for 64 bits")
    cells = sum(len(order) for order, _ in rows) * (nodes / 4 if quadrant else nodes)
    sized = [max(4096, 8 * topology.channels)]

    def flow(i: int) -> Flow:
        ends, whole = np.zeros(nodes, np.int64), np.ones(nodes, np.int64)
        load, touched = np.zeros(topology.channels, np.int64), np.empty(topology.channels, np.int64)
        mass, begin_mass = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
        scratch = tuple(np.zeros(dims, np.int64) for _ in range(3)) if quadrant else (np.zeros(nodes, np.int64),)
        body = quadrant_flow if quadrant else walk_flow
        work = 4.0 * nodes**2 * cells
        parts = []
        first = before = 0
        while first < nodes:
            look()
            last = min(nodes, first + max(1, int(_STEPS / max(cells, 1) / 4)))
            out = np.empty(sized[0], np.int64), np.empty(sized[0], np.int64)
            upto = int(
                run(
                    body,
                    work,
                    *(i, first, last, dims, radix, stride, ring, port, *shared),
                    *(mass, begin_mass, load, touched, *scratch, ends, *out, whole),
                )
            )
            if upto == first:
                sized[0] *= 4
                continue
            size = int(ends[upto - 1])
            parts.append((out[0][:size], out[1][:size]))
            ends[first:upto] += before
            before += size
            first = upto
        return Flow(ends, *(np.concatenate(each) for each in zip(*parts, strict=True)), whole)  # type: ignore[call-arg]

    return flow


def _even_orders(orders: Any) -> list[tuple[tuple[int, ...], list[Fraction]]]:
    """Orders of the dimensions, each as likely, with what their steps count."""
    return [(order, [Fraction(1, len(orders))] * len(order)) for order in orders]


def _every_order(dims: int) -> list[tuple[tuple[int, ...], list[Fraction]]]:
    """All orders of the dimensions at once.

    Where a packet is before it moves along x depends on the set of dimensions that it has moved along, not on their
    order; a set of s comes just before x in s! (dims - s - 1)! of dims! orders. So one row a set and an x says it all,
    and counts its last step only.
    """
    rows: list[tuple[tuple[int, ...], list[Fraction]]] = []
    for s in range(dims):
        share = Fraction(factorial(s) * factorial(dims - s - 1), factorial(dims))
        for before in combinations(range(dims), s):
            for x in (x for x in range(dims) if x not in before):
                rows.append(((*before, x), [Fraction(0)] * s + [share]))
    return rows


def _ports(topology: Cartesian, radix: Array, stride: Array, ring: Array) -> Array:
    """The channel up and down each dimension from every node, -1 where there is none."""
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


def _two_phase_flows(routing: Routing, base: Flows, denominator: int) -> Flows:
    """What all terminals send to a source's random intermediate, and on to each destination."""
    n, channels = len(routing.topology.terminals), routing.topology.channels
    require_memory(16.0 * n * channels, "the two phases of all terminals")
    exact: Any = object if (denominator * n).bit_length() > 60 else np.int64
    sent = np.zeros((n, channels), exact)
    taken = np.zeros((n, channels), exact)
    for i in range(n):
        flow = base(i)
        j = np.repeat(np.arange(n), np.diff(flow.ends, prepend=0))
        whole = flow.whole[j].astype(object)
        scaled = flow.amount.astype(object) * denominator
        if any(int(a) % int(w) for a, w in zip(scaled, whole, strict=True)):
            raise RoutingError(f"the loads of {routing.spec} are no whole numbers over {denominator * n}")
        values = (scaled // whole).astype(exact)
        np.add.at(sent[i], flow.channel, values)
        np.add.at(taken, (j, flow.channel), values)

    def flow_of(i: int) -> Flow:
        total = sent[i][None, :] + taken
        j, c = np.nonzero(total)
        ends = np.searchsorted(j, np.arange(n), side="right")
        return Flow(ends, c, total[j, c], np.full(n, denominator * n, exact))

    return flow_of


def _mixed(parts: list[tuple[Fraction, Flows]]) -> Flows:
    if len(parts) == 1 and parts[0][0] == 1:
        return parts[0][1]

    def flow(i: int) -> Flow:
        flows = [(weight, each(i)) for weight, each in parts]
        n = len(flows[0][1].ends)
        wholes = [lcm(*(int(each.whole[j]) * weight.denominator for weight, each in flows)) for j in range(n)]
        whole = _whole(wholes)
        keys, values = [], []
        for weight, each in flows:
            j = np.repeat(np.arange(n), np.diff(each.ends, prepend=0))
            factor = np.array(
                [
                    w * weight.numerator // (int(own) * weight.denominator)
                    for w, own in zip(wholes, each.whole, strict=True)
                ],
                object,
            )
            keys.append(np.stack([j, each.channel]))
            values.append(each.amount.astype(object) * factor[j])
        pairs, index = np.unique(np.concatenate(keys, axis=1), axis=1, return_inverse=True)
        total: Array = np.zeros(pairs.shape[1], object)
        np.add.at(total, index.ravel(), np.concatenate(values))
        ends = np.searchsorted(pairs[0], np.arange(n), side="right")
        return Flow(ends, pairs[1], _whole(total.tolist()), whole)

    return flow


def _whole(values: list[int]) -> Array:
    small = all(-(2**62) < value < 2**62 for value in values)
    return np.array(values, np.int64 if small else object)
