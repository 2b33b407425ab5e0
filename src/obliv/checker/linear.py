"""Linear certificates: rows, multipliers, the bound that these prove; prices, lengths, flows; a network's capacity.

What is claimed is about numbers x ≥ 0, traffic or the flows of a routing, that obey rows Σ_k a_rk x_k ≤ b_r.
Multipliers y_r ≥ 0 that *cover* weights, w_k ≤ Σ_r y_r a_rk for every k, prove Σ_k w_k x_k ≤ Σ_r y_r b_r.  Any
multipliers prove a bound, so it does not matter how they were found.  Claims differ in what their rows say:

- The worst case of a channel: a terminal sends and takes at most its rates.  Prices v_j of what terminals take come
  with the claim; those of what they send are the least that cover, u_i = max(0, max_j (w_ij − v_j)) (:class:`Excess`).
- The ratio of a channel: no channel carries more than its bandwidth.  Lengths ℓ of the channels cover what a pair pays,
  its distance under them, and nothing may be left for terminals to cover: every u_i is 0.
- The least load of given traffic, turned round: a routing of load t puts at most t · bandwidth on each channel, so
  Σ_ij d_ij distance_ij ≤ t · Σ_c bandwidth_c ℓ_c (:class:`Lengths`); :func:`sums` adds up flows that attain it.
- The least worst case and the least ratio of all routings: lengths for each pair, which the traffic of every channel
  pays (:class:`Line`).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from obliv._util.arrays import INT64_SAFE, Array
from obliv._util.progress import require_memory
from obliv.checker._kernels import Gains, PriceTable, SourceFlow, gains_of
from obliv.flows.base import Flow
from obliv.kernels import run
from obliv.results.claims import MalformedError, array_of
from obliv.topologies.base import Topology

# What prices leave to be covered, of every channel


class Excess:
    """Every channel's Σ_i rate_i · max(0, max_j (w_ij − v_j)), source after source.

    Loads w are whole numbers over `denominator`; channel c has the prices ``prices.table[:, prices.row[c]]``.  For
    channels where `tops` is set, the largest load of every column is kept as well, for the bound by columns.
    """

    def __init__(self, denominator: int, prices: PriceTable, send: Array, tops: Array) -> None:
        self.prices, self.send, self.total = prices, send, np.zeros(len(prices.row), send.dtype)
        self._denominator = denominator
        self._most = 0  #: The largest gain so far.
        self._sends = int(send.astype(object).sum())
        require_memory(8.0 * int(tops.sum()) * len(send), f"the column maxima of {int(tops.sum())} channels")
        seen, touched = np.zeros((2, len(tops)), np.int64)
        best, load = np.zeros((2, len(tops)), send.dtype)
        top = np.zeros((int(tops.sum()), len(send)), send.dtype)
        self._gains = Gains(best, seen, load, touched, np.where(tops, np.cumsum(tops) - 1, -1), top)

    def add(self, i: int, flow: Flow) -> bool:
        """Add one source's flow; return False where a load is not an integer over the denominator."""
        numbers = self._in_range(flow)
        if numbers.amount.dtype == object and self.total.dtype != object:
            self._widen()
        gains = self._gains
        size = run(gains_of, 2.5 * len(flow.channel) * len(self.send), numbers, self._denominator, self.prices, gains)
        if size < 0:
            return False
        channels = gains.seen[:size]
        best = gains.best[channels]
        self._most = max(self._most, int(best.max(initial=0)))
        if self._most * self._sends >= INT64_SAFE and self.total.dtype != object:
            self._widen()
        self.total[channels] += self.send[i] * best
        self._gains.best[channels] = 0
        return True

    def _widen(self) -> None:
        """Continue with Python integers: a routing may cross a channel many times, and sums must not wrap."""
        self.total, self.send = self.total.astype(object), self.send.astype(object)
        self.prices = self.prices._replace(table=self.prices.table.astype(object))
        best, load, top = (numbers.astype(object) for numbers in (self._gains.best, self._gains.load, self._gains.top))
        self._gains = self._gains._replace(best=best, load=load, top=top)

    def tops_of(self, channel: int) -> Array:
        """Return the column maxima of a channel that is bounded by them."""
        tops: Array = self._gains.top[self._gains.row[channel]]
        return tops

    def _in_range(self, flow: Flow) -> SourceFlow:
        """Return a flow whose numbers are Python integers where a product could exceed 64 bits."""
        plain = SourceFlow(flow.ends, np.ascontiguousarray(flow.channel), flow.amount, flow.whole)
        if not len(flow.amount):
            return plain
        if not any(numbers.dtype == object for numbers in (flow.amount, flow.whole, self.send)):
            largest, amount = int(flow.whole.max()), int(flow.amount.max())
            crossings = amount // max(int(flow.whole.min()), 1) + 1  # of one channel by one pair, at most
            if (self._denominator * crossings).bit_length() >= 62:
                crossings = int((flow.amount // flow.whole[flow.destination]).max()) + 1
            if (largest * amount).bit_length() < 62 and (self._denominator * crossings).bit_length() < 62:
                return plain
        return plain._replace(amount=flow.amount.astype(object), whole=flow.whole.astype(object))


def crossed(flow: Flow, wanted: Iterable[tuple[int, Fraction]], channel: int) -> Fraction:
    """Return what one source puts on a channel that sends amounts to destinations."""
    load = Fraction(0)
    for j, share in wanted:
        part = slice(int(flow.ends[j - 1]) if j else 0, int(flow.ends[j]))
        units = sum(int(flow.amount[part][k]) for k in np.flatnonzero(flow.channel[part] == channel))
        load += share * Fraction(units, int(flow.whole[j]))
    return load


# Lengths of channels: what pairs pay at least, and what all channels can take


class Lengths:
    """Rows of lengths of all channels, with the distances under each, and the sums Σ bandwidth × length."""

    def __init__(self, topology: Topology, rows: Array) -> None:
        most = int(rows.max(initial=0))
        self.far = most * topology.nodes + 1  #: Farther than any node that can be reached.
        order = np.argsort(topology.head, kind="stable")
        self._tail = topology.tail[order].astype(np.int64)
        narrow = 2 * self.far < INT64_SAFE
        self._columns: Array = np.ascontiguousarray(rows.T[order], np.int64 if narrow else object)
        self._heads, self._first = np.unique(topology.head[order], return_index=True)
        self._topology, self._given = topology, rows

    def spent(self) -> list[Fraction]:
        """Return Σ bandwidth × length of every row."""
        return [spent_on(self._topology, row) for row in self._given.tolist()]

    def distances(self, node: int) -> Array:
        """Return the distances from a node to all under each row (Bellman and Ford), shape (rows, nodes)."""
        shape = self._topology.nodes, self._columns.shape[1]
        distance = np.full(shape, self.far, self._columns.dtype)  # those of a node side by side
        distance[node] = 0
        for _ in range(self._topology.nodes if len(self._heads) else 0):
            through = np.minimum.reduceat(distance[self._tail] + self._columns, self._first, axis=0)
            before = distance[self._heads]
            shorter = np.minimum(before, through)
            if np.array_equal(shorter, before):
                break
            distance[self._heads] = shorter
        every: Array = distance.T
        return every


def least_load(topology: Topology, lengths: list[int], demand: Iterable[tuple[int, Any, Any]]) -> Fraction:
    """Return the load that lengths prove for every routing of a demand: rows of source, destinations and amounts."""
    terminals, paid = topology.terminals.tolist(), Fraction(0)
    for source, destinations, amounts in demand:
        distance = distances_from(topology, lengths, terminals[source])
        far = np.array([distance[terminals[d]] for d in destinations.tolist()], object)
        if (far < 0).any():
            raise MalformedError("a terminal cannot be reached from another one")
        paid += (far * amounts).sum()
    spent = spent_on(topology, lengths)
    return paid / spent if spent else Fraction(0)


def distances_from(topology: Topology, lengths: list[int], source: int) -> list[int]:
    """Return the distances from a node to all nodes under one row of lengths (Dijkstra); −1 where there is no path."""
    distance = [-1] * topology.nodes
    first, head = topology.first_channel.tolist(), topology.head.tolist()
    waiting = [(0, source)]
    while waiting:
        reached, node = heapq.heappop(waiting)
        if distance[node] >= 0:
            continue
        distance[node] = reached
        for channel in range(first[node], first[node + 1]):
            if distance[head[channel]] < 0:
                heapq.heappush(waiting, (reached + lengths[channel], head[channel]))
    return distance


def spent_on(topology: Topology, lengths: list[int]) -> Fraction:
    """Return Σ bandwidth × length."""
    return sum((topology.bandwidth_of(c) * length for c, length in enumerate(lengths) if length), Fraction(0))


def lengths_of(value: Any, topology: Topology, what: str) -> list[int]:
    """Return lengths of all channels as a claim has them."""
    lengths: list[int] = array_of(value, what, topology.channels).tolist()
    if len(lengths) != topology.channels or any(type(length) is not int or length < 0 for length in lengths):
        raise MalformedError(f"{what} must be one whole number for each channel, 0 or more")
    return lengths


# Flows that attain a load: rows of source, channel and amount


def flows_of(value: Any, topology: Topology, what: str) -> Array:
    """Return flows as a claim has them, whose rows fit the network."""
    rows = array_of(value, what, 3 * len(topology.terminals) * topology.channels, -1, 3)
    if not fit(rows, topology):
        raise MalformedError(f"a row of {what} is out of range")
    return rows


def fit(rows: Array, topology: Topology) -> bool:
    """Return whether all rows of flows are of a terminal and a channel, and no amount is below 0."""
    if not len(rows):
        return True
    most = rows.max(axis=0)
    return bool(rows.min() >= 0 and most[0] < len(topology.terminals) and most[1] < topology.channels)


def sums(rows: Array, topology: Topology) -> tuple[Array, Array]:
    """Return what arrives at every node beyond what leaves, by source, 0 at its own node; and the load of channels."""
    require_memory(24.0 * len(topology.terminals) * topology.nodes, "what arrives at every node")
    source, channel, amount = rows.T
    wide = sum(amount.tolist()) >= INT64_SAFE
    amount = amount.astype(object if wide else np.int64)
    balance = np.zeros((len(topology.terminals), topology.nodes), amount.dtype)
    np.add.at(balance, (source, topology.head[channel]), amount)
    np.subtract.at(balance, (source, topology.tail[channel]), amount)
    balance[np.arange(len(balance)), topology.terminals] = 0
    crossing = np.zeros(topology.channels, amount.dtype)
    np.add.at(crossing, channel, amount)
    return balance, crossing


def attained(rows: Array, topology: Topology, demand: Array) -> list[Fraction] | None:
    """Return the loads of flows, over bandwidth; None unless they carry a demand, shape (sources, destinations).

    Both are in the same unit; what a terminal sends to itself does not count.
    """
    balance, crossing = sums(rows, topology)
    terminals, wanted = topology.terminals.astype(np.int64), demand.copy()
    np.fill_diagonal(wanted, 0)
    arrived = balance[:, terminals]
    balance[:, terminals] = 0
    if balance.any() or (arrived != wanted).any():
        return None
    return [Fraction(int(units)) / topology.bandwidth_of(c) for c, units in enumerate(crossing.tolist())]


# Bounds of all routings at once, and symmetries as maps of terminals


@dataclass(frozen=True)
class Line:
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


def price_of(content: Any, largest: int) -> int:
    """Return the price of a hop in a line of a certificate."""
    if not isinstance(content, dict) or not is_index(content.get("price"), largest):
        raise MalformedError("a line of the certificate is missing, or its price is not a whole number")
    price: int = content["price"]
    return price


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


def image_of(word: Any, maps: list[Array], terminals: int) -> Array:
    """Return where a word of generators, first to last, takes every terminal."""
    if not (isinstance(word, list) and all(is_index(step, len(maps)) for step in word)):
        raise MalformedError("a word contains something other than generator numbers")
    image = np.arange(terminals)
    for step in word:
        image = maps[step][image]
    return image


def is_index(value: Any, count: int) -> bool:
    """Return whether a part of a claim is a whole number from 0 to less than a count."""
    return type(value) is int and 0 <= value < count


# The capacity of a network: the least load of uniform traffic, where each sends 1/n of a packet to everyone


def capacity_load_of(topology: Topology, proof: Any) -> Fraction | None:
    """Return the least load of uniform traffic: by the topology's closed form, or by the proof in a claim."""
    known = topology.capacity_load if topology.capacity_proof is None else None
    if proof is None:
        return known
    if not isinstance(proof, dict) or type(proof.get("whole")) is not int or proof["whole"] < 1:
        raise MalformedError("the proof of the capacity is not an object with lengths, flows and whole")
    terminals, whole = len(topology.terminals), proof["whole"]
    lengths = lengths_of(proof.get("lengths"), topology, "the lengths of the capacity")
    rows = flows_of(proof.get("flows"), topology, "the flows of the capacity")
    everything = np.full((terminals, terminals), whole, np.int64 if whole < INT64_SAFE else object)
    loads = attained(rows, topology, everything)
    if loads is None:
        raise MalformedError("the flows of the capacity do not carry uniform traffic")
    proved: Fraction = max(loads, default=Fraction(0)) / (whole * terminals)
    if least_uniform_load(topology, lengths) < proved:
        raise MalformedError("the lengths of the capacity prove less than its flows attain")
    if known not in (None, proved):
        raise MalformedError(f"the proof of the capacity gives a load of {proved}, the closed form {known}")
    return proved


def least_uniform_load(topology: Topology, lengths: list[int]) -> Fraction:
    """Return the lower bound that lengths prove for the largest load of uniform traffic."""
    terminals = len(topology.terminals)
    everyone = np.arange(terminals)
    return least_load(topology, lengths, ((s, everyone, 1) for s in range(terminals))) / terminals
