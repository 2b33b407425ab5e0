"""Pair loads: the load on every channel from one unit between terminals; the search for the worst channel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from obliv._util.arrays import Array, product_sum, whole
from obliv._util.progress import Progress, require_memory, rising
from obliv.errors import TooLargeError, TopologyError, TrafficError
from obliv.loads.workers import Calls, WorkerCalls
from obliv.matching.solve import Rates, Solution, Weights, from_entries, ship, simple_bound
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import channel_map, terminal_map

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from scipy.sparse import csr_array

    from obliv.patterns.base import Traffic


# The search for the worst channel: which channels are solved, and in which order


#: A channel with its solution.
Solved = tuple[int, Solution]

_MUCH = 2.0**29  # bytes of all channels together, for which workers begin with the first one


class Problem(NamedTuple):
    """What the functions of a search are about.

    Attributes
    ----------
    loads : PairLoads
    rates : Rates
        What terminals send and take.
    prices : bool
        Whether solutions must hold prices.
    """

    loads: PairLoads
    rates: Rates
    prices: bool = True


def calls_of(problem: Problem, executor: Executor | None, progress: Progress) -> Calls:
    """Return calls of the functions of a problem, in the workers of an executor if there is one."""
    if executor is None:
        return Calls(problem)
    return WorkerCalls(problem, executor, progress)


def solved_channel(problem: Problem, channel: int) -> Solution:
    """Solve one channel."""
    solution = problem.loads.solve(channel, problem.rates)
    return solution if problem.prices else solution._replace(prices=None)


def _simple_bound(problem: Problem, channel: int) -> int:
    return simple_bound(problem.loads.weights(channel), problem.rates)


def best_first(channels: Array, progress: Progress, calls: Calls) -> Iterator[list[Solved]]:
    """Solve channels by falling simple bound, until no bound exceeds what another channel carries."""
    loads, rates, _ = calls.subject
    if len(channels) < 2:
        return one_after_another(channels, progress, calls)
    at_once = loads.bounds(rates.supply, rates.demand)
    if at_once is not None:
        return by_bound([(int(at_once[channel]), channel) for channel in channels.tolist()], progress, calls)
    calls.plan((_simple_bound, channel) for channel in channels.tolist())
    return by_bound([(calls.result(_simple_bound, channel), channel) for channel in channels.tolist()], progress, calls)


def by_bound(bounds: Iterable[tuple[int, int]], progress: Progress, calls: Calls) -> Iterator[list[Solved]]:
    """Solve channels by falling upper bound, given as (bound, channel), while a bound exceeds what another one carries.

    Bounds and loads are compared per bandwidth.
    """
    speeds = calls.subject.loads.topology.bandwidth
    queue: list[tuple[Any, int]] = [(bound / speeds[c] if speeds else bound, c) for bound, c in bounds]
    queue.sort(key=lambda pair: (-pair[0], pair[1]))
    best: Any = -1
    calls.plan((solved_channel, channel) for _, channel in takewhile(lambda pair: pair[0] > best, queue))
    for done, (bound, channel) in enumerate(queue, 1):
        if bound <= best:
            break
        solution = calls.result(solved_channel, channel)
        best = max(best, solution.value / speeds[channel] if speeds else solution.value)
        yield [(channel, solution)]
        progress("channels", done / len(queue))


def one_after_another(channels: Array, progress: Progress, calls: Calls) -> Iterator[list[Solved]]:
    """Solve every channel, in the order given: for loads whose channels are solved as fast as bounded."""
    calls.plan((solved_channel, channel) for channel in channels.tolist())
    for done, channel in enumerate(channels.tolist(), 1):
        yield [(channel, calls.result(solved_channel, channel))]
        progress("channels", done / len(channels))


@dataclass(frozen=True, eq=False)
class ChannelSearch:
    """The outcome of a search for the worst channel.

    Attributes
    ----------
    worst : int
        The channel that carries most per bandwidth, of equals the lowest number; -1 where there is no channel.
    solution : Solution or None
        Its worst traffic, None where there is no channel.
    optima : dict
        The optimum of every channel that was solved, in units of the numerators times the rates' scale.
    prices : dict
        Prices of the destinations for the same channels, where they were asked for.
    rates : Rates
        What terminals send and take.
    """

    worst: int
    solution: Solution | None
    optima: dict[int, int]
    prices: dict[int, Array]
    rates: Rates


def require_channels(channels: Array, calls: Calls) -> None:
    """Refuse channels that cannot be solved in the free memory; workers begin at once where there is much to solve."""
    count, loads = len(channels), calls.subject.loads
    memory = loads.memory(channels) if count else 0.0
    if calls.width > 1 and count > 1:
        if count * memory > _MUCH:
            calls.begin()
        memory = calls.memory(memory)  # may find that fewer calls at a time fit
    require_memory(memory, f"solving {count:,} channel{'s' * (count != 1)} of {loads.topology.spec}")


def search_channels(
    loads: PairLoads,
    channels: Array,
    *,
    prices: bool = False,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> ChannelSearch:
    """Find the worst of some channels, with the prices of every solved channel if they are asked for."""
    step = rising(progress)
    rates, speeds = loads.rates, loads.topology.bandwidth
    optima: dict[int, int] = {}
    dual_prices: dict[int, Array] = {}
    worst, best, solution = -1, None, None
    with calls_of(Problem(loads, rates, prices), executor, step) as calls:
        require_channels(channels, calls)
        for group in loads.solve_worst(channels, step, calls):
            for channel, solved in group:
                optima[channel] = solved.value
                if prices and solved.prices is not None:
                    dual_prices[channel] = solved.prices
                key = (solved.value / speeds[channel] if speeds else solved.value, -channel)
                if best is None or key > best:
                    worst, best, solution = channel, key, solved
    return ChannelSearch(worst, solution, optima, dual_prices, rates)


class Thresholds(NamedTuple):
    """What proves the optimum of each channel in a certificate in place of prices: a threshold, by the rates."""

    of: Callable[[int, Rates], int]


class BoundPrices(NamedTuple):
    """Prices that prove why a search left a channel out, where its simple bound does not."""

    of: Callable[[int], Array]


class RoundedPrices(NamedTuple):
    """Prices that still prove that channels carry at most their limits, but take less room in a file.

    From channels, shape (k,), their prices, shape (k, terminals), and limits in units of the numerators.
    """

    of: Callable[[Array, Array, Array], Array]


class PairLoads(ABC):
    """The loads γ_c(i, j) of a routing: whole numerators over one common denominator, a channel at a time.

    A channel's numerators are computed when they are asked for; no array of terminals² × channels ever exists.

    A subclass gives :meth:`weights`; the other methods have defaults, which it replaces where it knows a faster way.
    Pair loads are equal if their networks and all their numbers are, whatever their kind; that compares all channels.

    Attributes
    ----------
    topology : Topology
        The network.
    denominator : int
        Common denominator of all numerators.
    samples : int or None
        Number of sampled paths per pair where the loads are estimates, None where they are exact.
    partial : bool
        Whether packets are left out: those of pairs without a path, by a partial routing.
    declared : bool
        Whether the routing is declared relative and only some of its pairs were compared with the declaration.

    Examples
    --------
    >>> import obliv
    >>> loads = obliv.DOR(obliv.line(3)).pair_loads()
    >>> loads
    <SeparableLoads of line:3: denominator 1, exact>
    >>> loads.on_channel(0).toarray().tolist()  # from terminal 0 to 1 and 2
    [[0, 1, 1], [0, 0, 0], [0, 0, 0]]
    >>> loads.hops()
    Fraction(8, 9)
    """

    topology: Topology
    denominator: int
    samples: int | None = None
    partial: bool = False
    declared: bool = False

    @abstractmethod
    def weights(self, channel: int) -> Weights:
        """Return the numerators on one channel, rows = sources, columns = destinations (terminal numbers)."""

    def between(self, channel: int, source: Array, destination: Array) -> Array:
        """Return the numerators of some pairs of terminals on one channel."""
        return self.weights(channel).of(source, destination)

    @property
    def terminals(self) -> int:
        """Number of terminals N."""
        return len(self.topology.terminals)

    @property
    def rates(self) -> Rates:
        """What terminals send and take, as whole numbers over a common denominator."""
        return Rates(*self.topology.rates())

    def on_channel(self, channel: int) -> csr_array:
        """Return the numerators on one channel as a sparse array.

        Parameters
        ----------
        channel : int
            Channel number.

        Returns
        -------
        scipy.sparse.csr_array, shape (terminals, terminals)
            Integer numerators over :attr:`denominator`; row = source, column = destination.
        """
        from scipy.sparse import csr_array

        if not isinstance(channel, int | np.integer) or not 0 <= channel < self.topology.channels:
            last = self.topology.channels - 1
            raise TopologyError(f"{self.topology.spec} has no channel {channel!r}; channels are 0 to {last}")
        row, col, weight = self.weights(channel).spread()
        if weight.dtype == object:
            raise TooLargeError(
                f"the numerators over {self.denominator} exceed 64 bits; weights(channel) holds them whole"
            )
        return csr_array((weight, (row, col)), shape=(self.terminals, self.terminals))

    def under(self, traffic: Traffic) -> list[Fraction]:
        """Return the load of every channel under a traffic, divided by its bandwidth.

        Parameters
        ----------
        traffic : Traffic
            Rates in packets per cycle.

        Returns
        -------
        list of Fraction, length channels
            Exact (linear in the traffic); an estimate where the pair loads are.
        """
        from obliv.patterns.base import Traffic

        if not isinstance(traffic, Traffic):
            raise TrafficError(f"{traffic!r} is not a Traffic: make one with obliv.traffic(SPEC, topology)")
        self._require_terminals(traffic)
        totals = [Fraction(0)] * self.topology.channels
        if traffic.uniform:
            share = traffic.uniform / (self.terminals * self.denominator)
            totals = [int(total) * share for total in self.totals()]
        if len(traffic.amount):
            scale = self.denominator * traffic.denominator
            for c, amount in enumerate(self._carried(traffic)):
                totals[c] += Fraction(int(amount), scale)
        speeds = self.topology.bandwidth
        return [load / speed for load, speed in zip(totals, speeds, strict=True)] if speeds else totals

    def load_under(self, traffic: Traffic, channel: int) -> Fraction:
        """Return the load of one channel under a traffic, divided by its bandwidth, as :meth:`under` gives it."""
        self._require_terminals(traffic)
        n = self.terminals
        row, col, weight = self.weights(channel).spread()
        total = Fraction(traffic.uniform, n) * product_sum(np.ones(len(weight), np.int64), weight)
        if len(traffic.amount):
            flow = traffic.source.astype(np.int64) * n + traffic.destination
            order = np.argsort(flow)
            pair = row.astype(np.int64) * n + col
            place = order[np.minimum(np.searchsorted(flow, pair, sorter=order), len(flow) - 1)]
            inside = flow[place] == pair
            total += Fraction(product_sum(traffic.amount[place[inside]], weight[inside]), traffic.denominator)
        return total / self.denominator / self.topology.bandwidth_of(channel)

    def largest_under(self, traffic: Traffic) -> Fraction:
        """Return the largest channel load under a traffic, as :meth:`under` gives it; 0 without channels."""
        if self.topology.bandwidth or traffic.uniform or not len(traffic.amount) or not self.topology.channels:
            return max(self.under(traffic), default=Fraction(0))
        self._require_terminals(traffic)
        return Fraction(int(self._carried(traffic).max()), self.denominator * traffic.denominator)

    def hops(self) -> Fraction:
        """Return the mean path length over all ordered pairs of terminals, self-pairs included.

        Packets that a partial routing leaves out count as 0 hops; :func:`obliv.locality` of the routing leaves them
        out of the mean.
        """
        return Fraction(sum(int(total) for total in self.totals()), self.denominator * self.terminals**2)

    def solve(self, channel: int, rates: Rates) -> Solution:
        """Return the worst traffic of one channel with its proof, in units of the numerators times the rates' scale."""
        return ship(self.weights(channel), rates, self.terminals)

    def bounds(self, supply: Array, demand: Array) -> Array | None:
        """Return the simple bound of every channel, min(Σ row maxima, Σ column maxima).

        None stands for "no faster way than channel by channel", the default.
        """
        return None

    def solve_worst(self, channels: Array, progress: Progress, calls: Calls) -> Iterator[list[Solved]]:
        """Solve the channels that can be the worst, most promising first, in groups of (channel, solution).

        A channel is left out once its simple bound is at most what another one carries, per bandwidth. Long work is
        done by calls, of a problem about these loads, which may come from other processes; who makes them does not
        change which channels are solved, and in which order.
        """
        return best_first(channels, progress, calls)

    def memory(self, channels: Array) -> float:
        """Return about how many bytes the largest of some channels takes; zero, the default, for "not worth a word"."""
        return 0.0

    def describe(self) -> tuple[Any, ...]:
        """Return what else says what the loads are: numbered paths, or what proves worst cases in place of prices."""
        return ()

    def without_self(self) -> PairLoads:
        """Return the same loads less what terminals send to themselves."""
        for channel in range(self.topology.channels):
            row, col, _ = self.weights(channel).spread()
            if (row == col).any():
                return LoadsWithoutSelf(self)
        return self

    def words(self, lanes: PackedLoads, factors: list[int]) -> Words:
        """Return the loads laid out for many permutations; factors of channels, for bandwidths, are empty for ones."""
        return from_channels(self, lanes, factors)

    def totals(self) -> Array:
        """Return the sum of the numerators of every channel over all pairs."""
        sums = []
        for channel in range(self.topology.channels):
            _, _, weight = self.weights(channel).spread()
            sums.append(product_sum(np.ones(len(weight), np.int64), weight))
        return whole(sums)

    def _require_terminals(self, traffic: Traffic) -> None:
        if traffic.terminals != self.terminals:
            raise TrafficError(
                f"{traffic.spec} has {traffic.terminals} terminals, {self.topology.spec} has {self.terminals}"
            )

    def _carried(self, traffic: Traffic) -> Array:
        """Return Σ amount × numerator over the single flows of `traffic`, for every channel."""
        n = self.terminals
        require_memory(8.0 * n * n, "the traffic matrix")
        amount = np.zeros(n * n, traffic.amount.dtype)
        amount[traffic.source.astype(np.int64) * n + traffic.destination] = traffic.amount
        sums = []
        for channel in range(self.topology.channels):
            row, col, weight = self.weights(channel).spread()
            sums.append(product_sum(amount[row * n + col], weight))
        return whole(sums)

    def keeps(self, node_map: Any) -> bool:
        """Return whether the routing has a symmetry: γ_{g(c)}(g i, g j) = γ_c(i, j) for every channel and pair.

        Parameters
        ----------
        node_map : integer array, shape (nodes,)
            The image of every node.

        Returns
        -------
        bool
            Exact, found by comparing all numerators.
        """
        g = np.asarray(node_map)
        moved = channel_map(self.topology, g)
        if moved is None:
            return False
        place = terminal_map(self.topology, g)
        return place is not None and self._keeps(g, moved, place)

    def symmetries(self) -> list[Array]:
        """Return maps of the nodes that the routing keeps, each checked by :meth:`keeps`.

        By default those of the topology's generators; a kind of loads that knows more candidates tries them too.
        """
        return [g for g in self.topology.generators if self.keeps(g)]

    def _keeps(self, node_map: Array, moved: Array, place: Array) -> bool:
        for channel in range(self.topology.channels):
            row, col, weight = self.weights(channel).spread()
            if not same_entries((place[row], place[col], weight), self.weights(int(moved[channel])).spread()):
                return False
        return True

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, PairLoads):
            return NotImplemented
        if self.samples != other.samples or not self.topology.same_network(other.topology):
            return False
        return all(_same(self, other, channel) for channel in range(self.topology.channels))

    def __hash__(self) -> int:
        return hash((self.topology.nodes, self.topology.channels, self.terminals, self.samples))

    def __getstate__(self) -> dict[str, Any]:
        from obliv._util.files import state_of

        return state_of(self)

    def __repr__(self) -> str:
        kind = "exact" if self.samples is None else f"estimated from {self.samples} paths per pair"
        return f"<{type(self).__name__} of {self.topology.spec}: denominator {self.denominator}, {kind}>"


class LoadsWithoutSelf(PairLoads):
    """Pair loads between different terminals only, from those of all pairs."""

    def __init__(self, loads: PairLoads) -> None:
        self.topology = loads.topology
        self.denominator = loads.denominator
        self.samples = loads.samples
        self.partial = loads.partial
        self.declared = loads.declared
        self._loads = loads

    def weights(self, channel: int) -> Weights:
        row, col, weight = self._loads.weights(channel).spread()
        apart = row != col
        return from_entries(row[apart], col[apart], weight[apart])

    def without_self(self) -> PairLoads:
        return self


def _same(one: PairLoads, two: PairLoads, channel: int) -> bool:
    """Return whether two pair loads of one network agree on a channel, number by number."""
    tables = []
    for loads, over in ((one, two.denominator), (two, one.denominator)):
        row, col, weight = loads.weights(channel).spread()
        tables.append((row, col, weight.astype(object) * over))
    return same_entries(*tables)


def same_entries(one: tuple[Array, Array, Array], two: tuple[Array, Array, Array]) -> bool:
    """Return whether two tables by rows, columns and numbers have the same entries, in any order."""
    if len(one[0]) != len(two[0]):
        return False
    orders = (np.lexsort((table[1], table[0])) for table in (one, two))
    here, there = ([part[order] for part in table] for table, order in zip((one, two), orders, strict=True))
    return all(np.array_equal(a, b) for a, b in zip(here, there, strict=True))


# Pair loads laid out for many permutations: the loads of several channels side by side in words of 64 bits


@dataclass(frozen=True)
class PackedLoads:
    """The layout of several loads in a word of 64 bits: `bits` for each load, and one to spare."""

    bits: int

    @property
    def count(self) -> int:
        """Number of loads in a word."""
        return 63 // (self.bits + 1)

    def words(self, sides: list[list[int]]) -> int:
        """Return how many words the links of an axis take; each side begins a new one, since a pair seldom uses two."""
        return sum(-(-len(side) // self.count) for side in sides)

    def packed(self, table: Array, sides: list[list[int]]) -> Array:
        """Return the links along the last axis side by side, shape (..., words)."""
        result = np.zeros((*table.shape[:-1], self.words(sides)), np.int64)
        first = 0
        for side in sides:
            for at, link in enumerate(side):
                result[..., first + at // self.count] += table[..., link] << (at % self.count * (self.bits + 1))
            first += -(-len(side) // self.count)
        return result


@dataclass(frozen=True, eq=False)
class Words:
    """Loads as sums of words, over the loads' denominator.

    Attributes
    ----------
    base : int64 array
        The part of every word that is the same for all permutations.
    pair, word, value : int64 arrays, shape (entries,)
        The amount that a pair of terminals, source * terminals + destination, adds to a word.
    groups : list of list of int
        Words whose sum holds the loads of the channels that share them.
    """

    base: Array
    pair: Array
    word: Array
    value: Array
    groups: list[list[int]]


def from_channels(loads: PairLoads, lanes: PackedLoads, factor: list[int]) -> Words:
    """Lay out channels side by side, in the order of their numbers."""
    n, channels = loads.terminals, loads.topology.channels
    words = -(-channels // lanes.count)
    pieces = []
    entries = 0
    for channel in range(channels):
        source, destination, weight = loads.weights(channel).spread()
        entries += len(weight)
        require_memory(60.0 * entries, f"the pair loads of {loads.topology.spec}")
        cell = (source.astype(np.int64) * n + destination) * words + channel // lanes.count
        shift = channel % lanes.count * (lanes.bits + 1)
        pieces.append((cell, (weight * (factor[channel] if factor else 1)).astype(np.int64) << shift))
    cells, value = (np.concatenate(part) for part in zip(*pieces, strict=True))
    base: Array = np.zeros(words, np.int64)
    return Words(base, cells // words, cells % words, value, [[word] for word in range(words)])
