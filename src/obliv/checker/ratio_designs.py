"""The check of a design for all traffic: what bounds the ratio of its routing, and what no ratio can be below.

Upper side: for every channel lengths of all channels are given such that no pair puts more on it than its distance
allows. Lower side: for every channel flows are given that carry some traffic; a routing of ratio r loads the channel by
at most r times the largest load of these flows. Added up over all channels, every pair pays at least its distance under
the traffic, over the bandwidth of each channel, taken for lengths.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.arrays import Array
from obliv._util.files import unpack_array
from obliv._util.progress import Progress, within
from obliv._util.rationals import rational
from obliv.checker.claims import MalformedError
from obliv.checker.flows.links import source_flows
from obliv.checker.ratios import Upper, merged
from obliv.checker.report import OutOfTimeError, Report, TimeLimit, short
from obliv.errors import InputError
from obliv.results.numbers import bounds_of
from obliv.routings.listed import Listed
from obliv.routings.shortest import UpDown
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import axes_of, directions_of

if TYPE_CHECKING:
    from obliv.designs.ratios.best import RatioDesign


# Legal paths of a design: what its constraints say, the states of the paths that they allow, and whether a path obeys.
#
# A state is a node, the channel by which a path came, and the turns that it has taken so far.


_FORBIDDEN = -1
_MOST_STATES = 2_000_000
_TURNS = re.compile(r"at most (\d{1,9}) turns?")
_PATHS = re.compile(r"at most ([1-9]\d{0,8}) paths? per pair")
_WEIGHTS = re.compile(r"weights in multiples of 1/([1-9]\d{0,8})")
_CHANNELS = re.compile(r"at most ([1-9]\d{0,8}) (× 2 )?virtual channels? by (turn|turn\+dateline|updown)")

Follow = Callable[[int, int], int]  # of a channel and the next one: 0, 1 for a turn that counts, or forbidden


@dataclass(frozen=True)
class Constraints:
    """What the paths of a routing must obey; a limit of hops of 0 and a limit of turns of None stand for no limit."""

    minimal: bool
    hops: Fraction
    turns: int | None
    paths: int | None  # of a pair
    parts: int | None  # in multiples of one over which the weights are
    scheme: str  # "" where all turns count; otherwise how virtual channels are taken
    within: str = ""  # the routing whose next hops bound the paths


def constraints_of(texts: tuple[str, ...]) -> Constraints:
    """Return the constraints of a claim; MalformedError for one that is not known."""
    minimal, hops, turns, scheme = False, Fraction(0), None, ""
    paths, parts, within = None, None, ""
    for text in texts:
        count, channels = _TURNS.fullmatch(text), _CHANNELS.fullmatch(text)
        if text == "minimal" and not minimal:
            minimal = True
        elif text.startswith("hops ≤ ") and not hops:
            hops = rational(text.removeprefix("hops ≤ ")) or Fraction(0)
            if hops <= 0:
                raise MalformedError(f"{text!r:.40} is not a limit of hops")
        elif (few := _PATHS.fullmatch(text)) and paths is None:
            paths = int(few[1])
        elif (weights := _WEIGHTS.fullmatch(text)) and parts is None:
            parts = int(weights[1])
        elif text.startswith("within ") and not within:
            within = text.removeprefix("within ")
        elif count and turns is None:
            turns = int(count[1])
        elif channels and turns is None and bool(channels[2]) == channels[3].endswith("dateline"):
            turns, scheme = int(channels[1]) - 1, channels[3]
        else:
            raise MalformedError(f"{text!r:.60} is not a constraint that is known, or not the only one of its kind")
    if within and len(texts) > 1:
        raise MalformedError("next hops that bound the paths cannot be combined with other constraints")
    return Constraints(minimal, hops, turns, paths, parts, scheme, within)


@dataclass(frozen=True, eq=False)
class Ways:
    """The states that legal paths reach, the starts of all nodes first, and the arcs between them, sorted by tail."""

    node: Array
    first: Array
    tail: Array
    head: Array
    channel: Array

    def hops(self, terminals: Array) -> tuple[Array, Array]:
        """Return the hops from terminals' starts to all states, and from all states to terminals; -1 for no path."""
        there, back = (np.full((len(terminals), len(self.node)), -1, np.int64) for _ in range(2))
        onward: list[list[int]] = [[] for _ in self.node]
        before: list[list[int]] = [[] for _ in self.node]
        for tail, head in zip(self.tail.tolist(), self.head.tolist(), strict=True):
            onward[tail].append(head)
            before[head].append(tail)
        for k, terminal in enumerate(terminals.tolist()):
            _spread(onward, [terminal], there[k])
            _spread(before, np.flatnonzero(self.node == terminal).tolist(), back[k])
        return there, back


def _spread(following: list[list[int]], starts: list[int], hops: Array) -> None:
    """Fill in the hops from some states, breadth first."""
    distance = dict.fromkeys(starts, 0)
    queue = deque(starts)
    while queue:
        state = queue.popleft()
        for other in following[state]:
            if other not in distance:
                distance[other] = distance[state] + 1
                queue.append(other)
    hops[list(distance)] = list(distance.values())


def ways_of(topology: Topology, constraints: Constraints) -> Ways:
    """Return the states of the paths that constraints allow; without a limit of turns they are the nodes."""
    tail, head = topology.tail.astype(np.int64), topology.head.astype(np.int64)
    if constraints.turns is None:
        return Ways(np.arange(topology.nodes), topology.first_channel, tail, head, np.arange(topology.channels))
    limit = min(
        constraints.turns, 2 * topology.nodes
    )  # paths without loops take fewer turns, those with loops load more
    follow = _follow(topology, constraints)
    first, heads = topology.first_channel.tolist(), head.tolist()
    number = {(node, -1, 0): node for node in range(topology.nodes)}
    states = deque(number)
    arcs = []
    while states:
        state = states.popleft()
        node, last, turns = state
        if len(number) > _MOST_STATES:
            raise InputError(f"paths with up to {limit} turns on {topology.spec} have too many states to be checked")
        for channel in range(first[node], first[node + 1]):
            price = 0 if last < 0 else follow(last, channel)
            if price == _FORBIDDEN or turns + price > limit:
                continue
            onward = (heads[channel], channel, turns + price)
            if onward not in number:
                number[onward] = len(number)
                states.append(onward)
            arcs.append((number[state], number[onward], channel))
    table = np.array(arcs, np.int64).reshape(-1, 3)  # sorted by tail, as states are numbered in the order of the queue
    nodes = np.array([node for node, _, _ in number], np.int64)
    starts = np.searchsorted(table[:, 0], np.arange(len(nodes) + 1))
    return Ways(nodes, starts, *(np.ascontiguousarray(column) for column in table.T))


def broken_rule(paths: Iterable[tuple[int, ...]], topology: Topology, constraints: Constraints) -> str:
    """Return what a path does against the limit of turns; empty if all paths keep to it."""
    if constraints.turns is None:
        return ""
    follow = _follow(topology, constraints)
    longest: tuple[int, ...] = ()
    dim_of: list[int] = []
    where = directions_of(topology)
    if constraints.scheme == "turn+dateline" and where is not None:
        longest, dim_of = topology.radices, where.dim.tolist()
    for path in paths:
        turns, straight = 0, 1
        for last, channel in pairwise(path):
            price = follow(last, channel)
            if price == _FORBIDDEN:
                return f"takes channel {channel} right after channel {last}"
            turns += price
            straight = straight + 1 if longest and dim_of[last] == dim_of[channel] else 1
            if longest and straight > longest[dim_of[channel]]:
                return "passes a dateline twice in one direction"
        if turns > constraints.turns:
            return f"takes {turns} turns that count, the limit is {constraints.turns}"
    return ""


def _follow(topology: Topology, constraints: Constraints) -> Follow:
    """Return the price of every turn; MalformedError where the constraints do not fit the network."""
    if constraints.scheme == "updown":
        rank = UpDown(topology).rank
        up = (rank[topology.head] > rank[topology.tail]).tolist()
        return lambda last, channel: int(up[channel] and not up[last])
    where = directions_of(topology)
    if where is None or any(along.kind == "clique" and along.radix > 2 for along in axes_of(topology)):
        raise MalformedError("turns are limited, but the network is not a mesh, torus or hypercube")
    if constraints.scheme and where.wraps.any() != constraints.scheme.endswith("dateline"):
        raise MalformedError(f"virtual channels by {constraints.scheme} do not fit the network")
    dim, step = where.dim.tolist(), where.step.tolist()
    any_turn = not constraints.scheme

    def follow(last: int, channel: int) -> int:
        if dim[last] == dim[channel]:
            return 0 if step[last] == step[channel] else _FORBIDDEN
        return int(any_turn or dim[last] > dim[channel])

    return follow


# What the lower bounds of designs share: the inequality that they prove, and symmetries as maps of terminals


@dataclass(frozen=True)
class RatioLine:
    """What lengths or flows prove: ``distance ≤ price · pairs · hops + spent · objective`` for every routing."""

    price: int
    distance: int
    spent: Fraction
    pairs: int

    def least_objective(self, hops: Fraction) -> Fraction:
        """Return the bound of the worst case or the ratio with at most so many mean hops."""
        return (self.distance - self.price * self.pairs * hops) / self.spent if self.spent else Fraction(0)

    def least_hops(self, objective: Fraction) -> Fraction:
        """Return the bound of the mean hops with at most such a worst case or ratio."""
        return (self.distance - self.spent * objective) / (self.price * self.pairs) if self.price else Fraction(0)


def terminal_maps(generators: Array, topology: Topology) -> list[Array]:
    """Return where permutations of the nodes, one in each row, take the terminals; by their indexes."""
    maps = []
    for generator in generators:
        if not np.array_equal(np.sort(generator), np.arange(topology.nodes)):
            raise MalformedError("a generator is not a permutation of the nodes")
        maps.append(topology.number_of[generator[topology.terminals]])
        if (maps[-1] < 0).any():
            raise MalformedError("a generator does not keep the terminals")
    return maps


def is_index(value: Any, count: int) -> bool:
    """Return whether a part of a claim is a whole number from 0 to less than a count."""
    return type(value) is int and 0 <= value < count


_FAR = 2**62  # of a node that cannot be reached
_LARGEST = 2**61  # of sums in 64 bits


@dataclass(frozen=True, eq=False)
class _TrafficPart:
    """Traffic for one channel: that of a class, carried by a map of terminals, perhaps with its direction reversed."""

    channel: int
    number: int
    back: Array  # the inverse of the map
    reversed: bool


def check_ratio_bounds(
    report: Report,
    claimed: RatioDesign,
    certificate: dict[str, Any],
    routing: Listed,
    time_limit: TimeLimit,
    progress: Progress,
) -> None:
    """Check the upper and the lower bound of the ratio, and the bound of the hops."""
    topology = routing.topology
    lower, upper = bounds_of(claimed.ratio)
    rules = constraints_of(claimed.constraints)
    if rules.turns is not None or rules.within:
        raise MalformedError("a design of the least ratio has no limit of turns, virtual channels or next hops")
    limit = rules.hops
    hops = ways_of(topology, rules).hops(topology.terminals) if rules.minimal else None
    try:
        _check_upper(report, upper, certificate, routing, time_limit, within(progress, 0.0, 0.5))
        parts = _parts(certificate, topology)
        line = _line(certificate.get("ratio_line"), parts, topology, hops, time_limit)
        bound = max(Fraction(1), line.least_objective(limit))  # no routing is better than the best of each traffic
        reaches = lower <= bound and lower <= upper and (limit > 0 or line.price == 0)
        report.note("lower bound", reaches, f"traffic and its flows prove {short(bound)}, claimed {short(lower)}")
        progress("distances", 0.75)
        if claimed.hops_bound is not None:
            line = _line(certificate.get("hops_line"), parts, topology, hops, time_limit)
            bound = line.least_hops(upper)
            fits = bound >= claimed.hops_bound
            report.note("fewest hops", fits, f"flows prove {short(bound)}, claimed {short(claimed.hops_bound)}")
    except OutOfTimeError:
        report.note("ratio", None, "time limit reached; the ratio is not proved; raise the budget")
    if limit and claimed.hops > limit:
        report.note("limit of hops", False, f"{short(claimed.hops)} mean hops exceed {short(limit)}")


def _check_upper(
    report: Report,
    upper: Fraction,
    certificate: dict[str, Any],
    routing: Listed,
    time_limit: TimeLimit,
    progress: Progress,
) -> None:
    """Check that lengths of channels bound what any traffic puts on each channel."""
    topology = routing.topology
    tables = certificate.get("lengths")
    if not isinstance(tables, list) or len(tables) != topology.channels:
        raise MalformedError("lengths must be given for every channel")
    rows = [_array(table, topology.channels) for table in tables]
    if any(row.shape != (topology.channels,) for row in rows):
        raise MalformedError("lengths must be one number for each channel and channel")
    lengths = np.array(rows)
    if lengths.min() < 0 or lengths.max() > 2**59 // topology.nodes:
        raise MalformedError("a length is out of range")
    bound = Upper(upper, lengths, topology, list(range(topology.channels)))
    flows = source_flows(routing, routing.listed.whole, time_limit.check)
    for source in range(len(topology.terminals)):
        flow = flows(source)
        bound.add(source, *merged(flow, source, topology.channels), flow.whole)
        progress("ratio of the routing", (source + 1) / len(topology.terminals))
    over = sorted(bound.over)
    detail = f"lengths prove {short(upper)} on {topology.channels} channels"
    report.note("ratio", not over, f"channel {over[0]} may carry more than claimed" if over else detail)


def _array(content: Any, most: int, *shape: int) -> Array:
    try:
        array: Array = unpack_array(content, most)
        return array.reshape(shape) if shape else array
    except (KeyError, ValueError, TypeError, OverflowError, MemoryError, RecursionError) as error:
        raise MalformedError(f"an array cannot be unpacked: {error}") from None


def _parts(certificate: dict[str, Any], topology: Topology) -> list[_TrafficPart]:
    """Return which traffic every channel takes; the maps must be automorphisms of the network."""
    generators = _array(certificate.get("generators"), topology.channels * topology.nodes, -1, topology.nodes)
    maps, capacity = terminal_maps(generators, topology), _capacity(topology)
    for generator in generators:
        moved = {(int(generator[tail]), int(generator[head])): speed for (tail, head), speed in capacity.items()}
        if moved != capacity:
            raise MalformedError("a generator is not a symmetry of the network")
    symmetric = {(head, tail): speed for (tail, head), speed in capacity.items()} == capacity
    content = certificate.get("demands")
    if not isinstance(content, list):
        raise MalformedError("demands must list which traffic every channel takes")
    parts = []
    for entry in content:
        if not (isinstance(entry, list) and len(entry) == 4 and isinstance(entry[2], list)):
            raise MalformedError("an entry of demands is not [channel, class, word, reversed]")
        channel, number, word, turned = entry
        if not (
            is_index(channel, topology.channels)
            and is_index(number, topology.channels)
            and all(is_index(step, len(maps)) for step in word)
            and is_index(turned, 2)
        ):
            raise MalformedError("an entry of demands is out of range")
        if turned and not symmetric:
            raise MalformedError("traffic is reversed where channels have no opposite of the same bandwidth")
        image = np.arange(len(topology.terminals))
        for step in word:
            image = maps[step][image]
        parts.append(_TrafficPart(channel, number, np.argsort(image), bool(turned)))
    return sorted(parts, key=lambda part: part.channel)


def _capacity(topology: Topology) -> dict[tuple[int, int], Fraction]:
    """Return the bandwidth of all channels from one node to another, added up."""
    capacity: dict[tuple[int, int], Fraction] = {}
    for channel, link in enumerate(zip(topology.tail.tolist(), topology.head.tolist(), strict=True)):
        capacity[link] = capacity.get(link, Fraction(0)) + topology.bandwidth_of(channel)
    return capacity


def _line(
    content: Any, parts: list[_TrafficPart], topology: Topology, hops: tuple[Array, Array] | None, time_limit: TimeLimit
) -> RatioLine:
    """Return what the flows of a line prove."""
    if not isinstance(content, dict) or not is_index(content.get("price"), 2**40):
        raise MalformedError("a line of the certificate is missing, or its price is not a whole number")
    tables, price = content.get("flows"), content["price"]
    if not isinstance(tables, list) or any(part.number >= len(tables) for part in parts):
        raise MalformedError("flows are missing for a class of channels")
    terminals = len(topology.terminals)
    traffic, loads = zip(*(_carried(table, topology) for table in tables), strict=True) if tables else ((), ())
    spent = sum((loads[part.number] for part in parts), Fraction(0))
    speeds = [topology.bandwidth_of(channel) for channel in range(topology.channels)]
    fastest = max(speeds)
    most = sum(int(traffic[part.number].max(initial=0)) for part in parts) * (fastest / min(speeds)) + price
    if most * topology.nodes > _LARGEST:
        raise InputError("the flows of the certificate are too large to be added up")
    distance = 0
    for source in range(terminals):
        time_limit.check()
        lengths = np.zeros((topology.channels, terminals), np.int64)
        for part in parts:
            table = traffic[part.number]
            here = table[part.back, part.back[source]] if part.reversed else table[part.back[source], part.back]
            lengths[part.channel] += here
        if not topology.unit_bandwidth:
            for channel, speed in enumerate(speeds):
                factor = fastest / speed  # lengths are rounded down
                row = lengths[channel].astype(object) * factor.numerator // factor.denominator
                lengths[channel] = row.astype(np.int64)
        distance += _distances(topology, source, lengths.T + price, hops)
    return RatioLine(price, distance, fastest * spent, terminals**2)


def _carried(content: Any, topology: Topology) -> tuple[Array, Fraction]:
    """Return the traffic that flows carry, and the largest load of a channel; flow that ends elsewhere is lost."""
    terminals = topology.terminals.astype(np.int64)
    rows = _array(content, 3 * len(terminals) * topology.channels, -1, 3)
    if len(rows) and (
        rows.min() < 0
        or rows[:, 0].max() >= len(terminals)
        or rows[:, 1].max() >= topology.channels
        or sum(rows[:, 2].tolist()) > _LARGEST
    ):
        raise MalformedError("a row of the flows is out of range")
    source, channel, amount = rows.T
    balance = np.zeros((len(terminals), topology.nodes), np.int64)
    np.add.at(balance, (source, topology.head[channel]), amount)
    np.subtract.at(balance, (source, topology.tail[channel]), amount)
    balance[np.arange(len(terminals)), terminals] = 0
    if balance.min() < 0:
        raise MalformedError("more flow leaves a node than enters it")
    totals = np.zeros(topology.channels, np.int64)
    np.add.at(totals, channel, amount)
    load = max(Fraction(int(total)) / topology.bandwidth_of(c) for c, total in enumerate(totals.tolist()))
    return balance[:, terminals], load


def _distances(topology: Topology, source: int, lengths: Array, hops: tuple[Array, Array] | None) -> int:
    """Return the sum of the distances from a terminal to all, each under its own lengths (Bellman and Ford)."""
    terminals, tail = topology.terminals.astype(np.int64), topology.tail.astype(np.int64)
    order = np.argsort(topology.head, kind="stable")
    heads, first = np.unique(topology.head[order], return_index=True)
    if hops is not None:
        there, back = hops
        through = there[source, tail][None, :] + 1 + back[:, topology.head]
        lengths = np.where(through == there[source, terminals][:, None], lengths, _FAR // 4)
    tail, lengths = tail[order], lengths[:, order]
    distance = np.full((len(terminals), topology.nodes), _FAR // 2, np.int64)
    distance[:, terminals[source]] = 0
    for _ in range(topology.nodes):
        through = np.minimum.reduceat(distance[:, tail] + lengths, first, axis=1)
        shorter = np.minimum(distance[:, heads], through)
        if np.array_equal(shorter, distance[:, heads]):
            break
        distance[:, heads] = shorter
    return sum(distance[np.arange(len(terminals)), terminals].tolist())  # the paths of the design reach all
