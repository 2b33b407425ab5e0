"""What flows draw: the paths of every pair with their probabilities; the exact law of the largest load."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import comb, gcd, lcm, prod

import numpy as np

from obliv._util.arrays import Array
from obliv._util.progress import Progress, require_memory
from obliv._util.text import plural
from obliv.errors import InputError, TooLargeError
from obliv.loads.stored import Hops
from obliv.patterns.base import Traffic
from obliv.routings.shortest import ECMP
from obliv.topologies.base import Topology

#: Paths that are listed, those of pairs that draw alike once.
MOST_PATHS = 1 << 21
_BATCH = 1 << 17  # paths that are listed at a time
_SAFE = 1 << 62


@dataclass(frozen=True, eq=False)
class Draws:
    """The draws of flows.

    A pair of terminals is of the type of all pairs with the same rate and the same paths, channels aside that a pair
    always or never crosses. Path k of type t is the row ``path[first[t] + k]``: channels, -1 for none.

    Parameters
    ----------
    topology : Topology
    pairs : int array, shape (types,)
        Pairs of each type.
    weight : int array, shape (types,)
        Rate of a pair of each type, in units.
    first : int array, shape (types + 1,)
    path : int32 array, shape (paths, longest)
    ways : int array, shape (paths,)
        The probability of each path, times `total`.
    total : int
    base : int array, shape (channels,)
        Rates of pairs that always cross a channel, in units.
    even : tuple of Fraction
        Load of each channel where every pair is split evenly.
    unit : Fraction
        Packets per cycle of one unit.
    """

    topology: Topology
    pairs: Array
    weight: Array
    first: Array
    path: Array
    ways: Array
    total: int
    base: Array
    even: tuple[Fraction, ...]
    unit: Fraction

    @property
    def type_of_path(self) -> Array:
        """The type of each path."""
        return np.repeat(np.arange(len(self.pairs)), np.diff(self.first))


def draws(topology: Topology, traffic: Traffic, polarised: bool, kept: Array | None, progress: Progress) -> Draws:
    """Return what the flows of a traffic draw.

    Shapes: `kept` (channels,).
    """
    source, destination, amount, unit = _pairs(topology, traffic)
    listed = _Listed(topology, kept)
    source, destination = _without_ends(topology, source, destination, amount, listed)
    some, many = np.unique(np.stack([destination, source, amount]), axis=1, return_counts=True)
    destination, source, amount = some[:, some[0] != some[1]]
    many = many[some[0] != some[1]]
    routing = ECMP(topology)
    targets, first = np.unique(destination, return_index=True)
    bounds = np.append(first, len(destination))
    common = _common_draw(routing, targets) if polarised else 0
    for done, target in enumerate(targets.tolist()):
        mine = slice(bounds[done], bounds[done + 1])
        for pair, path, odds in _walks(topology, routing.hops_to(target), source[mine], common):
            listed.add(amount[mine], many[mine], pair, path, odds)
        progress("paths", (done + 1) / len(targets))
    return listed.draws(unit)


def _without_ends(
    topology: Topology, source: Array, destination: Array, amount: Array, listed: _Listed
) -> tuple[Array, Array]:
    """Return the nodes between which pairs of terminals may draw: behind the only link of the one to that of the other.

    What the links carry is added to `listed`.
    """
    s, d = topology.terminals[source].astype(np.int64), topology.terminals[destination].astype(np.int64)
    out, into = np.diff(topology.first_channel), np.bincount(topology.head, minlength=topology.nodes)
    last = np.zeros(topology.nodes, np.int64)
    last[topology.head] = np.arange(topology.channels)
    leave, reach = np.minimum(topology.first_channel[s], max(0, topology.channels - 1)), last[d]
    one = (out[s] == 1) & (topology.head[leave] != d)
    two = (into[d] == 1) & (topology.tail[reach] != s)
    listed.always(leave[one], amount[one])
    listed.always(reach[two], amount[two])
    return np.where(one, topology.head[leave], s), np.where(two, topology.tail[reach], d)


def _pairs(topology: Topology, traffic: Traffic) -> tuple[Array, Array, Array, Fraction]:
    """Return source, destination and rate of the pairs that send, in units; and the unit."""
    n = traffic.terminals
    base = traffic.uniform / n if n else Fraction(0)
    common = lcm(base.denominator, traffic.denominator)
    source, destination = traffic.source.astype(np.int64), traffic.destination.astype(np.int64)
    amount = [int(value) * (common // traffic.denominator) for value in traffic.amount.tolist()]
    if base:
        require_memory(100.0 * n * n, f"the pairs of {traffic.spec} on {plural(n, 'terminal')}")
        every = np.full(n * n, int(base * common), object)
        every[source * n + destination] += np.array(amount, object)
        source, destination = np.divmod(np.arange(n * n), n)
        amount = every.tolist()
    step = gcd(*amount) or 1
    if max(amount, default=0) // step >= 2**31:
        raise InputError(f"{traffic.spec}: its rates have no common unit above 1/2^31: round them")
    units = np.array([value // step for value in amount], np.int64)
    sends = (units > 0) & (source != destination)
    return source[sends], destination[sends], units[sends], Fraction(step, common)


def _common_draw(routing: ECMP, targets: Array) -> int:
    """Return how many hash values tell apart all choices of a polarised hash."""
    fan: set[int] = set()
    for target in targets.tolist():
        fan |= set(np.diff(routing.hops_to(target).ptr).tolist())
    common = lcm(*(fan - {0})) if fan - {0} else 1
    if common > 5040:
        raise TooLargeError(f"a polarised hash needs {common:,} values to tell apart all choices, at most 5,040 fit")
    return common


def _walks(topology: Topology, hops: Hops, start: Array, common: int) -> Iterator[tuple[Array, Array, Array]]:
    """Yield pairs by their place in `start`, and for each of their paths its channels and the inverse of its odds.

    With `common` hash values these are the paths of each value, else those of independent choices at every node.
    """
    size = 4096 if not common else max(1, _BATCH // common)
    at = 0
    while at < len(start):
        some = np.arange(at, min(len(start), at + size))
        found = _polarised(topology, hops, start[some], common) if common else _independent(topology, hops, start[some])
        if found is None:
            if len(some) == 1:
                raise TooLargeError(f"a pair of terminals has more than {_BATCH:,} shortest paths, too many to list")
            size = max(1, size // 8)
            continue
        pair, path, odds = found
        yield some[pair], path, odds
        at += len(some)


def _independent(topology: Topology, hops: Hops, start: Array) -> tuple[Array, Array, Array] | None:
    """Return pair, channels and inverse odds of all paths; None for too many."""
    pair, node, odds = np.arange(len(start)), start.astype(np.int64), np.ones(len(start), np.int64)
    steps: list[Array] = []
    while True:
        fan = hops.ptr[node + 1] - hops.ptr[node]
        if not fan.any():
            break
        width = np.maximum(fan, 1)
        if width.sum() > _BATCH or (odds > _SAFE // width).any():
            return None
        row = np.repeat(np.arange(len(node)), width)
        place = np.arange(len(row)) - np.repeat(np.cumsum(width) - width, width)
        moving = fan[row] > 0
        channel = np.full(len(row), -1, np.int32)
        channel[moving] = hops.channel[(hops.ptr[node[row]] + place)[moving]]
        steps = [step[row] for step in steps] + [channel]
        pair, odds, node = pair[row], odds[row] * width[row], node[row]
        node[moving] = topology.head[channel[moving]]
    path = np.stack(steps, axis=1) if steps else np.empty((len(pair), 0), np.int32)
    return pair, path, odds


def _polarised(topology: Topology, hops: Hops, start: Array, common: int) -> tuple[Array, Array, Array]:
    """Return pair, channels and inverse odds of the path of each hash value."""
    pair = np.repeat(np.arange(len(start)), common)
    value = np.tile(np.arange(common), len(start))
    node = start.astype(np.int64)[pair]
    steps: list[Array] = []
    while True:
        fan = hops.ptr[node + 1] - hops.ptr[node]
        moving = fan > 0
        if not moving.any():
            break
        channel = np.full(len(node), -1, np.int32)
        channel[moving] = hops.channel[(hops.ptr[node] + value % np.maximum(fan, 1))[moving]]
        node[moving] = topology.head[channel[moving]]
        steps.append(channel)
    path = np.stack(steps, axis=1) if steps else np.empty((len(pair), 0), np.int32)
    return pair, path, np.full(len(pair), common, np.int64)


class _Listed:
    """Types of pairs, gathered batch by batch."""

    def __init__(self, topology: Topology, kept: Array | None) -> None:
        self._topology, self._kept = topology, kept
        self._number: dict[bytes, int] = {}
        self._pairs: list[int] = []
        self._weight: list[int] = []
        self._paths: list[Array] = []
        self._odds: list[Array] = []
        self._size = 0
        self._base = np.zeros(topology.channels, np.int64)
        self._even: dict[int, Array] = {}  # by the common inverse odds of a batch

    def always(self, channel: Array, amount: Array) -> None:
        """Add rates to channels."""
        if self._kept is not None:
            channel, amount = channel[self._kept[channel]], amount[self._kept[channel]]
        np.add.at(self._base, channel, amount)
        even = self._even.setdefault(1, np.zeros(len(self._base), object))
        np.add.at(even, channel, amount.astype(object))

    def add(self, amount: Array, many: Array, pair: Array, path: Array, odds: Array) -> None:
        """Add the paths of some pairs, those of a pair next to each other.

        `amount` has the rate of every pair, `many` how many pairs are like it.
        """
        if not path.size:
            return
        if self._kept is not None:
            path = np.where((path >= 0) & self._kept[path], path, -1)
        total = lcm(*(int(value) for value in np.unique(odds)))
        if total >= _SAFE >> 20:
            raise TooLargeError("the probabilities of paths have no common denominator below 2^42")
        ways = total // odds
        rows, columns = np.nonzero(path >= 0)
        channels = self._topology.channels
        key = pair[rows] * channels + path[rows, columns]
        found, inverse = np.unique(key, return_inverse=True)
        crossed = np.zeros(len(found), np.int64)
        np.add.at(crossed, inverse, ways[rows])
        first = np.flatnonzero(np.append(True, pair[1:] != pair[:-1]))
        even = self._even.setdefault(total, np.zeros(channels, object))
        rate = amount * many
        np.add.at(even, found % channels, crossed.astype(object) * rate[found // channels].astype(object))
        always = crossed == total
        np.add.at(self._base, found[always] % channels, rate[found[always] // channels])
        path = path.copy()
        sure = always[inverse]
        path[rows[sure], columns[sure]] = -1
        bounds = np.append(first, len(pair))
        for at in np.flatnonzero(np.maximum.reduceat((path >= 0).any(axis=1), first)).tolist():
            mine, own = slice(bounds[at], bounds[at + 1]), pair[first[at]]
            self._add_pair(int(amount[own]), int(many[own]), path[mine], odds[mine])

    def _add_pair(self, rate: int, many: int, path: Array, odds: Array) -> None:
        path, odds = _merged(path, odds)
        key = rate.to_bytes(8, "little") + path.shape[1].to_bytes(2, "little") + path.tobytes() + odds.tobytes()
        number = self._number.setdefault(key, len(self._pairs))
        if number < len(self._pairs):
            self._pairs[number] += many
            return
        self._size += len(path)
        if self._size > MOST_PATHS:
            raise TooLargeError(f"more than {MOST_PATHS:,} paths, too many to list")
        self._pairs.append(many)
        self._weight.append(rate)
        self._paths.append(path)
        self._odds.append(odds)

    def draws(self, unit: Fraction) -> Draws:
        """Return all that was added."""
        width = max((path.shape[1] for path in self._paths), default=0)
        path = np.full((self._size, width), -1, np.int32)
        first = np.append(0, np.cumsum([len(part) for part in self._paths])).astype(np.int64)
        for start, part in zip(first.tolist(), self._paths, strict=False):
            path[start : start + len(part), : part.shape[1]] = part
        odds = np.concatenate(self._odds) if self._odds else np.ones((0, 2), np.int64)
        total = lcm(*np.unique(odds[:, 1]).tolist())
        if total >= _SAFE:
            raise TooLargeError("the probabilities of paths have no common denominator below 2^62")
        even = [Fraction(0)] * self._topology.channels
        for common, sums in self._even.items():
            for channel in np.flatnonzero(sums).tolist():
                even[channel] += Fraction(int(sums[channel]), common) * unit / self._topology.bandwidth_of(channel)
        return Draws(
            self._topology,
            np.array(self._pairs, np.int64),
            np.array(self._weight, np.int64),
            first,
            path,
            odds[:, 0] * (total // odds[:, 1]),
            total,
            self._base,
            tuple(even),
            unit,
        )


def _merged(path: Array, odds: Array) -> tuple[Array, Array]:
    """Return the paths of a pair in order, without repetitions; and the odds of each as numerator and denominator."""
    channels = np.sort(path, axis=1)[:, ::-1]
    channels = np.ascontiguousarray(channels[:, : int((channels >= 0).any(axis=0).sum())])
    common = lcm(*(int(value) for value in np.unique(odds)))
    rows, inverse = np.unique(channels, axis=0, return_inverse=True)
    ways = np.zeros(len(rows), np.int64)
    np.add.at(ways, inverse.ravel(), common // odds)
    step = gcd(common, *ways.tolist())
    return rows, np.stack([ways // step, np.full(len(rows), common // step)], axis=1)


# The exact law of the largest load, where parts of the network are independent and each one is small or of one type.
#
# Flows of two types are in one part if both may cross one channel; the parts are independent. A part is counted
#
# - by *convolution*, if all its flows draw from the same paths, and no channel is on two of them, as at the uplinks of
#   a leaf: the ways to put n flows on paths 1 .. j such that no path has more than it may are, over the flows on path
#   j, sums of those for paths 1 .. j - 1;
# - by *enumeration* of the flows on every path otherwise, type by type, equal loads merged.


_STATES = 1 << 15  # different loads of a part
_STEPS = 1 << 18  # sums to enumerate a part
_PRODUCTS = 1 << 20  # products to convolve a part


@dataclass(frozen=True)
class Part:
    """Types of one part: pairs, rate, and the paths of each with their ways."""

    pairs: tuple[int, ...]
    weight: tuple[int, ...]
    paths: tuple[tuple[tuple[tuple[int, ...], int], ...], ...]


class ExactLaw:
    """The exact probability that no channel is loaded more than allowed.

    Parameters
    ----------
    parts : list of callables
        The ways of each part in which no channel has more than its units, by channel, and all its ways.
    """

    def __init__(self, parts: list[Callable[[dict[int, int]], tuple[int, int]]]) -> None:
        self._parts = parts

    def within(self, most: dict[int, int]) -> Fraction:
        """Return the probability that no channel has more than `most` units."""
        ways = [part(most) for part in self._parts]
        return Fraction(prod(good for good, _ in ways), prod(every for _, every in ways))


def exact_law(independent: list[Part], total: int, flows: int) -> ExactLaw | None:
    """Return the exact law with some flows per pair; None where a part is too large."""
    parts: list[Callable[[dict[int, int]], tuple[int, int]]] = []
    for part in independent:
        one = _convolved(part, total, flows) or _enumerated(part, total, flows)
        if one is None:
            return None
        parts.append(one)
    return ExactLaw(parts)


def parts_of(draws: Draws) -> Iterator[Part]:
    """Yield the types of each independent part."""
    part_of_channel: dict[int, int] = {}
    part_of_type: list[int] = []
    join: list[int] = []

    def root(part: int) -> int:
        while join[part] != part:
            part = join[part]
        return part

    for kind in range(len(draws.pairs)):
        join.append(kind)
        crossed = np.unique(draws.path[draws.first[kind] : draws.first[kind + 1]])
        for channel in crossed[crossed >= 0].tolist():
            other = root(part_of_channel.setdefault(channel, kind))
            join[max(other, root(kind))] = min(other, root(kind))
        part_of_type.append(kind)
    members: dict[int, list[int]] = {}
    for kind in part_of_type:
        members.setdefault(root(kind), []).append(kind)
    for kinds in members.values():
        paths = []
        for kind in kinds:
            mine = slice(int(draws.first[kind]), int(draws.first[kind + 1]))
            rows = zip(draws.path[mine].tolist(), draws.ways[mine].tolist(), strict=True)
            paths.append(tuple((tuple(c for c in row if c >= 0), ways) for row, ways in rows))
        yield Part(
            tuple(int(draws.pairs[kind]) for kind in kinds),
            tuple(int(draws.weight[kind]) for kind in kinds),
            tuple(paths),
        )


def _convolved(part: Part, total: int, flows: int) -> Callable[[dict[int, int]], tuple[int, int]] | None:
    """Return the ways of a part of one type whose paths have no channel in common; None for other parts."""
    if len(part.pairs) > 1:
        return None
    paths, n, weight = part.paths[0], part.pairs[0] * flows, part.weight[0]
    channels = [c for path, _ in paths for c in path]
    if len(set(channels)) < len(channels) or n * n * len(paths) > _PRODUCTS:
        return None

    def ways(most: dict[int, int]) -> tuple[int, int]:
        caps = tuple(min([n, *(most[c] // weight for c in path)]) for path, _ in paths)
        return _put(n, caps, tuple(odds for _, odds in paths)), total**n

    return ways


def _put(n: int, caps: tuple[int, ...], odds: tuple[int, ...]) -> int:
    """Return the weighted ways to put n flows on paths with at most `caps` each; `odds` weigh a flow on each."""
    if min(caps) < 0:
        return 0
    if sum(caps) < n:
        return 0
    ways = [1] + [0] * n
    for cap, weight in zip(caps, odds, strict=True):
        powers = [weight**m for m in range(cap + 1)]
        ways = [
            sum(comb(t, m) * powers[m] * ways[t - m] for m in range(min(cap, t) + 1) if ways[t - m])
            for t in range(n + 1)
        ]
    return ways[n]


def _enumerated(part: Part, total: int, flows: int) -> Callable[[dict[int, int]], tuple[int, int]] | None:
    """Return the ways of a part by enumeration; None where it is too large."""
    sizes = zip(part.pairs, part.paths, strict=True)
    if sum(comb(pairs * flows + len(paths) - 1, len(paths) - 1) for pairs, paths in sizes) > _STATES:
        return None
    channels = sorted({c for paths in part.paths for path, _ in paths for c in path})
    most = sum(pairs * flows * weight for pairs, weight in zip(part.pairs, part.weight, strict=True))
    bits = most.bit_length()  # a number has the loads of all channels, side by side
    one = {c: 1 << bits * at for at, c in enumerate(channels)}
    states = {0: 1}
    steps = 0
    for pairs, weight, paths in zip(part.pairs, part.weight, part.paths, strict=True):
        rows = [(weight * sum(one[c] for c in path), ways) for path, ways in paths]
        choices = list(_spread(pairs * flows, rows).items())
        steps += len(states) * len(choices)
        if steps > _STEPS:
            return None
        after: dict[int, int] = {}
        for loads, count in states.items():
            for added, many in choices:
                key = loads + added
                after[key] = after.get(key, 0) + count * many
        states = after
        if len(states) > _STATES:
            return None
    every = prod(total ** (pairs * flows) for pairs in part.pairs)
    return _Enumerated(channels, bits, states, every)


class _Enumerated:
    """The ways of every vector of loads of a part; each vector is a number with some bits for each channel."""

    def __init__(self, channels: list[int], bits: int, states: dict[int, int], every: int) -> None:
        self._channels, self._every = channels, every
        mask = (1 << bits) - 1
        loads = [[state >> bits * at & mask for at in range(len(channels))] for state in states]
        self._loads, self._ways = np.array(loads, np.int64), list(states.values())

    def __call__(self, most: dict[int, int]) -> tuple[int, int]:
        fits = (self._loads <= np.array([most[c] for c in self._channels])).all(axis=1)
        return sum(self._ways[at] for at in np.flatnonzero(fits).tolist()), self._every


def _spread(n: int, rows: list[tuple[int, int]]) -> dict[int, int]:
    """Return the loads of n flows for all numbers of flows on the paths, with the ways to draw them.

    `rows` has the loads of a flow on each path, and its ways.
    """
    found = {(0, 0): 1}  # by the flows so far
    for loads, odds in rows:
        after: dict[tuple[int, int], int] = {}
        for (used, before), ways in found.items():
            for m in range(n - used + 1):
                key = used + m, before + m * loads
                after[key] = after.get(key, 0) + ways * comb(n - used, m) * odds**m
        found = after
    return {loads: ways for (used, loads), ways in found.items() if used == n}
