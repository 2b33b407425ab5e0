"""Pair loads: the load on every channel from one unit sent between each pair of terminals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.arrays import product_sum, whole
from obliv._util.cost import Work, require_memory
from obliv._util.progress import Progress
from obliv._util.typing import Array
from obliv.errors import TooLargeError, TopologyError, TrafficError
from obliv.loads.calls import Calls
from obliv.loads.search import Solved, best_first
from obliv.matching.shipments import Rates, Solution, ship
from obliv.matching.weights import Weights, from_entries
from obliv.topologies.base import Topology
from obliv.topologies.maps import channel_map, terminal_map

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from obliv.loads.words import Lanes, Words
    from obliv.patterns.base import Traffic
    from obliv.topologies.trees import NumberedPaths

__all__ = ["LoadsWithoutSelf", "PairLoads"]


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
        """Return the largest channel load under a traffic, as :meth:`under` gives it; 0 without channels.

        Parameters
        ----------
        traffic : Traffic

        Returns
        -------
        Fraction
            Exact; an estimate where the pair loads are.
        """
        if self.topology.bandwidth or traffic.uniform or not len(traffic.amount) or not self.topology.channels:
            return max(self.under(traffic), default=Fraction(0))
        self._require_terminals(traffic)
        return Fraction(int(self._carried(traffic).max()), self.denominator * traffic.denominator)

    def carrying(self, traffic: Traffic) -> Work:
        """Return an estimate of what :meth:`under` takes; zero, the default, as for :meth:`work`."""
        return Work()

    def hops(self) -> Fraction:
        """Return the mean path length over all ordered pairs of terminals, self-pairs included.

        Packets that a partial routing leaves out count as 0 hops; :func:`obliv.locality` of the routing leaves them
        out of the mean.
        """
        return Fraction(sum(int(total) for total in self.totals()), self.denominator * self.terminals**2)

    def solve(self, channel: int, rates: Rates) -> Solution:
        """Return the worst traffic of one channel, with its proof.

        Parameters
        ----------
        channel : int
        rates : Rates
            What terminals send and take.

        Returns
        -------
        Solution
            Exact, in units of the numerators times the rates' scale.
        """
        return ship(self.weights(channel), rates, self.terminals)

    def bounds(self, supply: Array, demand: Array) -> Array | None:
        """Return the simple bound of every channel, min(Σ row maxima, Σ column maxima).

        None stands for "no faster way than channel by channel", the default.
        """
        return None

    def solve_worst(self, channels: Array, progress: Progress, calls: Calls) -> Iterator[list[Solved]]:
        """Solve the channels that can be the worst, most promising first, in groups.

        Parameters
        ----------
        channels : integer array
        progress : callable
            Called with what is being done and the share that is done.
        calls : Calls
            Of a problem: these loads, with the rates of the terminals, and whether the solutions must hold prices.
            Long work is done by its calls, which may come from other processes.

        Yields
        ------
        list of (channel, Solution)
            A channel is left out once its simple bound is at most what another one carries, per bandwidth. Which ones
            are solved, and in which order, does not depend on who makes the calls.
        """
        return best_first(channels, progress, calls)

    def work(self, channels: Array, symmetries: int = 0) -> Work:
        """Return an estimate of what it takes to solve some channels and to check some symmetries.

        Parameters
        ----------
        channels : integer array
        symmetries : int
            Number of node maps that :meth:`keeps` is asked about.

        Returns
        -------
        Work
            Zero, the default, stands for "not known, or not worth a word".
        """
        return Work()

    def proof(self, channel: int, rates: Rates) -> Any:
        """Return what proves the optimum of a channel in a certificate in place of prices; None for prices."""
        return None

    def bound_prices(self, channel: int) -> Array | None:
        """Return prices that prove why a search left a channel out; None where its simple bound does."""
        return None

    def rounded_prices(self, channels: Array, prices: Array, limits: Array) -> Array:
        """Return prices that still prove that each channel carries at most its limit, but take less room in a file.

        Parameters
        ----------
        channels : integer array, shape (k,)
        prices : int64 array, shape (k, terminals)
        limits : int64 array, shape (k,)
            In units of the numerators.
        """
        return prices

    def without_self(self) -> PairLoads:
        """Return the same loads less what terminals send to themselves."""
        for channel in range(self.topology.channels):
            row, col, _ = self.weights(channel).spread()
            if (row == col).any():
                return LoadsWithoutSelf(self)
        return self

    def words(self, lanes: Lanes, factors: list[int]) -> Words:
        """Return the loads laid out for many permutations.

        Parameters
        ----------
        lanes : Lanes
            How loads share a word.
        factors : list of int
            What each channel's loads count, for bandwidths; empty where they all count once.
        """
        from obliv.loads.words import from_channels

        return from_channels(self, lanes, factors)

    @property
    def numbered_paths(self) -> NumberedPaths | None:
        """The one numbered shortest path per pair of a fat tree that gives these loads; None for other loads."""
        return None

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
            row2, col2, weight2 = self.weights(int(moved[channel])).spread()
            if len(row) != len(row2):
                return False
            one, two = np.lexsort((place[col], place[row])), np.lexsort((col2, row2))
            same = (
                (place[row][one] == row2[two]).all()
                and (place[col][one] == col2[two]).all()
                and (weight[one] == weight2[two]).all()
            )
            if not same:
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
        from obliv._util.content import state_of

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
        order = np.lexsort((col, row))
        tables.append((row[order], col[order], weight[order].astype(object) * over))
    return all(np.array_equal(a, b) for a, b in zip(*tables, strict=True))
