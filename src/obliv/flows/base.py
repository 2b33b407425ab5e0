"""The flow of a source on channels, and flows of single paths, next hops, listed and numbered paths, each checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import lcm
from typing import Any, cast

import numpy as np

from obliv._util.arrays import Array, starts, whole
from obliv._util.progress import require_memory
from obliv._util.rationals import share
from obliv.errors import RoutingError
from obliv.flows._kernels import Form, HopTables, Output, climb, hop_flow, order_of
from obliv.kernels import run
from obliv.routings.base import Routing
from obliv.routings.descriptions import NextHops
from obliv.routings.paths import channels_of
from obliv.topologies.base import find
from obliv.topologies.trees import NumberedPaths

#: Elementary steps of a kernel between checks of the time limit.
STEPS = 2e7

#: Sources that follow next hops together at most, and entries that they may have.
_TOGETHER = 16
_ENTRIES = 2**22

#: Called before each unit of work; it may raise to end the check.
CheckTime = Callable[[], None]


@dataclass(frozen=True, eq=False)
class Flow:
    """What one source sends over which channels, destination after destination (terminal numbers).

    Destination j has entries ``ends[j - 1] .. ends[j]`` of `channel` and `amount`; amounts are over ``whole[j]``.
    """

    ends: Array
    channel: Array
    amount: Array
    whole: Array

    @property
    def destination(self) -> Array:
        """The destination of every entry."""
        return np.repeat(np.arange(len(self.ends)), np.diff(self.ends, prepend=0))

    def loads(self) -> Iterator[tuple[int, int, Fraction]]:
        """Yield destination, channel and load of every entry."""
        for d, c, amount in zip(self.destination.tolist(), self.channel.tolist(), self.amount.tolist(), strict=True):
            yield d, c, Fraction(amount, int(self.whole[d]))

    def without(self, destination: int) -> Flow:
        """Return this flow without the part to one destination."""
        first, end = int(self.ends[destination - 1]) if destination else 0, int(self.ends[destination])
        ends = self.ends.copy()
        ends[destination:] -= end - first
        part = slice(first, end)
        return Flow(ends, np.delete(self.channel, part), np.delete(self.amount, part), self.whole)


#: From a terminal's number to its flow.
Flows = Callable[[int], Flow]


class Pieces:
    """The output of a kernel that fills buffers, destination after destination, until one does not fit.

    Parameters
    ----------
    sources, destinations : int
    size : int
        Entries of a source in the first buffers; they grow where a destination does not fit.
    number : dtype
        Of the amounts.
    """

    def __init__(self, sources: int, destinations: int, size: int, number: Any) -> None:
        self.ends = np.zeros((sources, destinations), np.int64)
        self.done = 0
        self.size = size
        self._number = number
        self._before = np.zeros(sources, np.int64)
        self._parts: list[list[tuple[Array, Array]]] = [[] for _ in range(sources)]

    def fill(self, kernel: Callable[[Array, Array], int]) -> int:
        """Run a kernel on new buffers and keep what it wrote; return the first destination that is not done."""
        sources = len(self.ends)
        channel, amount = np.empty((sources, self.size), np.int64), np.empty((sources, self.size), self._number)
        upto = kernel(channel, amount)
        if upto == self.done:
            self.size *= 4
        elif upto > self.done:
            sizes = self.ends[:, upto - 1].copy()
            for parts, own, amounts, size in zip(self._parts, channel, amount, sizes.tolist(), strict=True):
                parts.append((own[:size], amounts[:size]))
            self.ends[:, self.done : upto] += self._before[:, None]
            self._before += sizes
            self.done = upto
        return upto

    def flows(self, whole: Array) -> list[Flow]:
        """Return all that was filled, source by source; `size` is then one that would have held it at once."""
        self.size = max(self.size, int(self._before.max()))
        flows = []
        for ends, parts in zip(self.ends, self._parts, strict=True):
            channel, amount = parts[0]
            if len(parts) > 1:
                channel, amount = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
            flows.append(Flow(ends, channel, amount, whole))
        return flows


def exact_chance(routing: Routing | NextHops, value: Any) -> Fraction:
    """Return a probability of a routing as an exact number; see :func:`obliv._util.rationals.share` for floats."""
    chance = share(value)
    if chance is None:
        raise RoutingError(f"{routing.spec}: {value!r} is not a probability")
    return chance


# Single paths, walked by their numbers on fat trees, and elsewhere hop by hop, many pairs at once


def single(routing: Routing) -> bool:
    """Whether there is one path per pair that :func:`walk` can follow."""
    return find(routing, NumberedPaths) is not None or _next_channels(routing) is not None


def _next_channels(routing: Routing) -> Callable[[Array, Array], Array] | None:
    hops = find(routing, NextHops)
    return None if hops is None else hops.next_channels


def walk(routing: Routing, source: Array | int, destination: Array | int) -> Array:
    """Return the channels of :func:`single` paths of pairs of terminals, one row per pair, filled up with -1."""
    by_number = find(routing, NumberedPaths)
    if by_number is None:
        return _follow(routing, source, destination)
    tree = by_number.topology
    hosts = tree.terminals.astype(np.int64)
    source, destination = (np.array(side) for side in np.broadcast_arrays(hosts[source], hosts[destination]))
    number = by_number.ways(source, destination)[..., 0]
    taken = np.empty((len(number), 2 * tree.levels), np.int64)
    form = Form(
        below=np.array(tree.below, np.int64),
        width=np.array(tree.width, np.int64),
        children=np.array(tree.children, np.int64),
        parents=np.array(tree.parents, np.int64),
        first=np.asarray(tree.first_channel, np.int64),
        head=tree.head,
    )
    work = 8.0 * taken.size * len(hosts)  # as one host's paths are seldom the only ones
    lost = run(climb, work, source, destination, number.astype(np.int64), form, taken)
    if lost >= 0:
        pair = f"node {source[lost]} to node {destination[lost]}"
        raise RoutingError(f"{routing.spec}: the path from {pair} does not end there")
    return taken


def _follow(routing: Routing, source: Array | int, destination: Array | int) -> Array:
    """Return the channels of paths, next hop by next hop."""
    topology, next_channels = routing.topology, cast(Callable[[Array, Array], Array], _next_channels(routing))
    at, end = (np.array(side) for side in np.broadcast_arrays(source, destination))
    node, goal = topology.terminals[at].astype(np.int64), topology.terminals[end].astype(np.int64)
    steps = []
    for _ in range(topology.nodes):
        going = np.flatnonzero(node != goal)
        if not len(going):
            break
        channel = np.asarray(next_channels(node[going], goal[going]), np.int64)
        wrong = (channel < 0) | (channel >= topology.channels)
        wrong[~wrong] = topology.tail[channel[~wrong]] != node[going[~wrong]]
        if wrong.any():
            lost = going[int(np.argmax(wrong))]
            raise RoutingError(f"{routing.spec}: node {node[lost]} has no next hop towards node {goal[lost]}")
        taken = np.full(len(node), -1, np.int64)
        taken[going] = channel
        node[going] = topology.head[channel]
        steps.append(taken)
    else:
        raise RoutingError(f"{routing.spec}: the next hops towards node {goal[np.argmax(node != goal)]} form a loop")
    return np.stack(steps, axis=1) if steps else np.full((len(node), 1), -1, np.int64)


# Flows from the paths of each pair, and from numbered paths on fat trees


def path_flows(routing: Routing, check_time: CheckTime) -> Flows:
    """Return the flows of a routing from its ``paths``, one pair at a time."""
    terminals = routing.topology.terminals.tolist()

    def flow(i: int) -> Flow:
        ends: list[int] = []
        channels: list[int] = []
        amounts: list[int] = []
        wholes: list[int] = []
        for destination in terminals:
            check_time()
            crossings = _crossings(routing, terminals[i], destination)
            common = lcm(*(amount.denominator for amount in crossings.values()))
            channels += list(crossings)
            amounts += [amount.numerator * (common // amount.denominator) for amount in crossings.values()]
            wholes.append(common)
            ends.append(len(channels))
        return Flow(np.array(ends), np.array(channels, np.int64), whole(amounts), whole(wholes))

    return flow


def numbered_flows(routing: Routing, check_time: CheckTime) -> Flows:
    """Return the flows of a routing whose paths on a fat tree are given by number, walked link by link."""
    terminals = np.arange(len(routing.topology.terminals))

    def flow(i: int) -> Flow:
        check_time()
        taken = walk(routing, np.array(i), terminals)
        used = taken >= 0
        channel = taken[used]
        ends = np.cumsum(used.sum(axis=1))
        return Flow(ends, channel, np.ones(len(channel), np.int64), np.ones(len(terminals), np.int64))

    return flow


def paths_between(routing: Routing, source: int, destination: int) -> list[tuple[int, ...]]:
    """Return the channels of the paths from one node to another, each checked, in the order of the routing."""
    paths = []
    for named, _ in routing.paths(source, destination):
        path = tuple(channels_of(routing, source, named))
        _require_path(routing, path, source, destination)
        paths.append(path)
    return paths


def _crossings(routing: Routing, source: int, destination: int) -> dict[int, Fraction]:
    """Return the expected crossings of each channel by a packet from one node to another."""
    crossings: dict[int, Fraction] = {}
    total = Fraction(0)
    for named, value in routing.paths(source, destination):
        path = channels_of(routing, source, named)
        chance = exact_chance(routing, value)
        total += chance
        _require_path(routing, path, source, destination)
        for c in path:
            crossings[c] = crossings.get(c, Fraction(0)) + chance
    if total != 1 and (total != 0 or source != destination) and not (routing.partial and 0 <= total < 1):
        raise RoutingError(
            f"{routing.spec}: the paths from node {source} to node {destination} have probability {total}"
        )
    return crossings


def _require_path(routing: Routing, path: tuple[int, ...], source: int, destination: int) -> None:
    """Refuse a path whose channels do not lead from source to destination."""
    topology = routing.topology
    node = source
    for c in path:
        if not 0 <= c < topology.channels or int(topology.tail[c]) != node:
            raise RoutingError(f"{routing.spec}: a path takes channel {c} at node {node}, where it does not begin")
        node = int(topology.head[c])
    if node != destination:
        raise RoutingError(f"{routing.spec}: a path to node {destination} ends at node {node}")


# Flows from next hops, which are asked of a routing one by one, with a topological order of the nodes


def hop_flows(routing: NextHops, denominator: int, sources: Array, check_time: CheckTime) -> Flows:
    """Return the flows of a routing by next hops from some nodes, as numerators over `denominator`."""
    topology = routing.topology
    nodes, targets = topology.nodes, topology.terminals.astype(np.int64)
    require_memory(60.0 * nodes * len(targets), "the next hops of all pairs")
    tables, number = _tables(routing, denominator, check_time)
    work = float(nodes) * len(targets) ** 2
    size = [max(1024, 4 * nodes)]  # of the buffers, kept from sources to sources
    most = [1]  # of the first one the size is not known
    ready: dict[int, Flow] = {}  # of sources that follow each other, as these are asked for in turn
    place = {i: k for k, i in enumerate(topology.number_of[sources].tolist())}

    def together(group: Array) -> list[Flow]:
        mass = np.zeros(nodes, number)
        whole = np.full(len(targets), denominator, number)
        pieces = Pieces(len(group), len(targets), size[0], number)
        while pieces.done < len(targets):
            check_time()
            first = pieces.done
            last = min(len(targets), first + max(1, int(STEPS / nodes / len(group))))

            def send(channel: Array, amount: Array, first: int = first, last: int = last) -> int:
                out = Output(pieces.ends, whole, channel, amount)
                return int(run(hop_flow, work, group, first, last, tables, denominator, mass, out))

            if pieces.fill(send) < 0:
                raise RoutingError(f"the loads of {routing.spec} are not integers over {denominator}")
        flows = pieces.flows(whole)
        size[0] = pieces.size
        most[0] = max(1, min(_TOGETHER, _ENTRIES // pieces.size))
        return flows

    def flow(i: int) -> Flow:
        if i not in ready:
            ready.clear()
            group = sources[place[i] : place[i] + most[0]]
            ready.update(zip(topology.number_of[group].tolist(), together(group), strict=True))
        return ready[i]

    return flow


def denominator_of_hops(routing: NextHops, check_time: CheckTime) -> int:
    """Return a common denominator of all flows: that of a node's is its choices times those of the nodes behind it."""
    common = 1
    head, towards = routing.topology.head.tolist(), _hops_towards(routing)
    for d in routing.topology.terminals.tolist():
        check_time()
        hops = towards(d)
        below = [1] * routing.topology.nodes
        for v in _order(routing, hops, d)[::-1].tolist():
            if v >= 0:
                behind = hops.hop[hops.ptr[v] : hops.ptr[v + 1]].tolist()
                below[v] = hops.total[v] * lcm(*(below[head[c]] for c in behind))
        common = lcm(common, *below)
    return common


@dataclass(frozen=True, eq=False)
class _Towards:
    """The next hops of every node towards one terminal, as in :class:`HopTables`, checked."""

    ptr: Array
    hop: Array
    share: list[int]
    total: list[int]


def _tables(routing: NextHops, denominator: int, check_time: CheckTime) -> tuple[HopTables, Any]:
    """Return the next hops of every node towards every terminal, and the type that their products need."""
    topology = routing.topology
    targets = topology.terminals.astype(np.int64)
    ptr, hop, order = [np.zeros(1, np.int64)], [], []
    share: list[int] = []
    total: list[int] = []
    towards = _hops_towards(routing)
    for d in targets.tolist():
        check_time()
        hops = towards(d)
        ptr.append(hops.ptr[1:] + ptr[-1][-1])
        hop.append(hops.hop)
        order.append(_order(routing, hops, d))
        share += hops.share
        total += hops.total
    small = (denominator * max([1, *share])).bit_length() < 62
    number: Any = np.int64 if small else object
    tables = HopTables(
        targets=targets,
        order=np.concatenate(order),
        place=np.concatenate([_places(nodes) for nodes in order]),
        ptr=np.concatenate(ptr),
        hop=np.concatenate(hop),
        share=np.array(share, number),
        total=np.array(total, number),
        head=topology.head,
    )
    return tables, number


def _hops_towards(routing: NextHops) -> Callable[[int], _Towards]:
    """Return a function from a destination to the next hops of every node."""
    if not routing.nearest:
        return partial(_towards, routing)
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    topology = routing.topology
    tail, head = topology.tail, topology.head
    graph = csr_array((np.ones(len(tail)), (head, tail)), shape=(topology.nodes, topology.nodes))

    def towards(destination: int) -> _Towards:
        far = dijkstra(graph, indices=destination, unweighted=True)
        near = np.flatnonzero(np.isfinite(far[head]) & (far[tail] == far[head] + 1))
        if routing.nearest == "first":
            near = near[np.unique(tail[near], return_index=True)[1]]
        count = np.bincount(tail[near], minlength=topology.nodes)
        total = np.maximum(count, 1).tolist()
        return _Towards(starts(count).astype(np.int64), near.astype(np.int32), [1] * len(near), total)

    return towards


def _towards(routing: NextHops, destination: int) -> _Towards:
    """Return the next hops of every node; tables with one for each are asked for all nodes at once."""
    topology = routing.topology
    node = np.arange(topology.nodes)
    if routing.next_channels is not None:
        channel = np.where(node == destination, -1, routing.next_channels(node, np.full(len(node), destination)))
        hop, count = channel[channel >= 0], channel >= 0
        share, total = [1] * len(hop), [1] * len(node)
    else:
        named: list[int] = []
        counts, share, total = [], [], []
        for v in range(topology.nodes):
            hops: Any = routing.next_hops(v, destination) if v != destination else ()
            if type(hops) is list and {int}.issuperset(map(type, hops)) and len(set(hops)) == len(hops):
                named += hops  # an even choice
                share += [1] * len(hops)
                total.append(max(len(hops), 1))
                counts.append(len(hops))
                continue
            chances = _chances(routing, v, destination) if v != destination else []
            common = lcm(*(chance.denominator for _, chance in chances))
            named += [c for c, _ in chances]
            share += [chance.numerator * (common // chance.denominator) for _, chance in chances]
            total.append(common)
            counts.append(len(chances))
        hop, count = whole(named), np.array(counts)
    tail = np.repeat(node, count)
    wrong = (hop < 0) | (hop >= topology.channels)
    wrong[~wrong] = topology.tail[hop[~wrong].astype(np.int64)] != tail[~wrong]
    if wrong.any():
        first = int(np.argmax(wrong))
        _require_leaves(routing, int(hop[first]), int(tail[first]))
    return _Towards(starts(count).astype(np.int64), hop.astype(np.int32), share, total)


def _require_leaves(routing: NextHops, channel: int, node: int) -> None:
    tail = routing.topology.tail
    if not 0 <= channel < len(tail) or tail[channel] != node:
        raise RoutingError(f"{routing.spec}: next hop {channel} of node {node} is not a channel that leaves it")


def _chances(routing: NextHops, node: int, destination: int) -> list[tuple[int, Fraction]]:
    """Return the next hops of a node as (channel, probability), checked."""
    hops: list[Any] = list(routing.next_hops(node, destination))
    if not hops:
        return []
    even = Fraction(1, len(hops))
    chances: dict[int, Fraction] = {}
    for hop in hops:
        channel, chance = (hop[0], exact_chance(routing, hop[1])) if isinstance(hop, tuple) else (hop, even)
        _require_leaves(routing, channel, node)
        chances[channel] = chances[channel] + chance if channel in chances else chance
    if any(isinstance(hop, tuple) for hop in hops) and sum(chances.values()) != 1:
        raise RoutingError(f"{routing.spec}: the next hops of node {node} towards {destination} do not add up to 1")
    return [(int(channel), chance) for channel, chance in chances.items() if chance]


def _order(routing: NextHops, hops: _Towards, destination: int) -> Array:
    """Return the nodes so that each stands before its next hops; only those from which terminals are served."""
    topology = routing.topology
    order = np.empty(topology.nodes, np.int32)
    state, stack = np.zeros(topology.nodes, np.int8), np.empty(topology.channels + topology.nodes + 1, np.int32)
    work = 10.0 * len(hops.hop) * len(topology.terminals)  # for all destinations
    ends = (topology.terminals, topology.head)
    lost = int(run(order_of, work, destination, *ends, hops.ptr, hops.hop, state, stack, order))
    if lost >= 0:
        raise RoutingError(f"{routing.spec}: node {lost} has no next hop towards node {destination}")
    if lost < -1:
        raise RoutingError(f"{routing.spec}: the next hops towards node {destination} form a loop")
    return order


def _places(order: Array) -> Array:
    """Return where every node stands in an order; those that are not in it behind its end."""
    place = np.full(len(order), len(order), np.int32)
    used = order[order >= 0]
    place[used] = np.arange(len(used))
    return place


# What packets can cross whose next hops are chosen in a way that is not known: each such channel counts in full


def reach_flows(routing: NextHops, partial: bool, check_time: CheckTime) -> Flows:
    """Return for every source and destination all channels that next hops can lead it over, each with amount 1.

    With `partial`, pairs send nothing whose next hops can lead them to a dead end or round in circles.
    """
    topology = routing.topology
    terminals, head = topology.terminals.tolist(), topology.head.tolist()
    kept: dict[int, tuple[list[list[int]], list[bool]]] = {}

    def towards(destination: int) -> tuple[list[list[int]], list[bool]]:
        if destination not in kept:
            check_time()
            hops = [_channels(routing, v, destination) for v in range(topology.nodes)]
            kept[destination] = hops, _arriving(hops, head, destination)
        return kept[destination]

    def flow(i: int) -> Flow:
        source = terminals[i]
        ends: list[int] = []
        channels: list[int] = []
        for destination in terminals:
            check_time()
            hops, arrives = towards(destination)
            if arrives[source]:
                seen = {source}
                waiting = [source]
                while waiting:
                    for channel in hops[waiting.pop()]:
                        channels.append(channel)
                        if head[channel] not in seen:
                            seen.add(head[channel])
                            waiting.append(head[channel])
            elif not partial:
                raise RoutingError(
                    f"{routing.spec}: next hops from node {source} can lead packets for node {destination} astray"
                )
            ends.append(len(channels))
        ones = np.ones(len(channels), np.int64)
        return Flow(np.array(ends), np.array(channels, np.int64), ones, np.ones(len(terminals), np.int64))

    return flow


def _channels(routing: NextHops, node: int, destination: int) -> list[int]:
    """Return the next hops of a node, each checked and once."""
    channels: list[int] = []
    for hop in routing.next_hops(node, destination):
        channel = int(hop[0] if isinstance(hop, tuple) else hop)
        if not 0 <= channel < routing.topology.channels or routing.topology.tail[channel] != node:
            raise RoutingError(f"{routing.spec}: next hop {channel} of node {node} is not a channel that leaves it")
        channels.append(channel)
    return list(dict.fromkeys(channels))


def _arriving(hops: list[list[int]], head: list[int], destination: int) -> list[bool]:
    """Return for every node whether packets arrive from there by all choices: the nodes from which there is an end.

    A node is known to be good once all nodes behind its next hops are; in circles no node ever is.
    """
    left = [len(channels) for channels in hops]
    before: list[list[int]] = [[] for _ in hops]
    for node, channels in enumerate(hops):
        for channel in channels:
            before[head[channel]].append(node)
    good = [False] * len(hops)
    good[destination] = True
    waiting = [destination]
    while waiting:
        for node in before[waiting.pop()]:
            left[node] -= 1
            if left[node] == 0 and not good[node]:
                good[node] = True
                waiting.append(node)
    return good
