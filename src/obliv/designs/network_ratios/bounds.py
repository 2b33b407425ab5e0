"""Both sides of an oblivious performance ratio, in exact arithmetic, whatever the solver's accuracy.

Upper side, of one channel e: let ``π(h) ≥ 0`` be any lengths of the channels, and t so large that ``t · d(i, j)`` is at
least ``f_ij(e) / b_e`` for every pair, with d the distance under these lengths. Traffic that some routing carries with
congestion 1 takes up at most ``Σ_h b_h π(h)`` of length, so it loads e by at most ``t · Σ_h b_h π(h)``.

Lower side: a traffic matrix with explicit flows that carry it. Its load of e under the routing, divided by the largest
load of these flows, is a ratio that the routing really has.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from obliv._util.arrays import Array
from obliv._util.files import pack
from obliv._util.progress import Progress, require_memory, rising, within
from obliv._util.text import plural
from obliv.designs._kernels import widest_paths
from obliv.designs.bounds.congestion import require_connected
from obliv.designs.exact import Rationals, as_rationals
from obliv.designs.network_ratios.patterns import RatioTraffic, worst_traffic
from obliv.designs.programme import WHOLE, opposite_channels, states_of
from obliv.designs.solver import SolverError, require_solver
from obliv.errors import InputError, Interrupted
from obliv.kernels import run
from obliv.loads.base import PairLoads
from obliv.matching.solve import Rates, from_entries, ship
from obliv.questions.ratio import Ratio
from obliv.questions.subject import Subject, exactness_of, loads_of, name_of, sources_of, subject_of
from obliv.questions.worst_case import named_channel
from obliv.results.base import provenance
from obliv.results.numbers import float_bounds
from obliv.results.study import NO_BOUND
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import channel_map
from obliv.topologies.saved import carried

_SCALE = 10**8  # of rounded lengths
_LARGEST = 2**46  # of an exact length, so that floats hold distances exactly


@dataclass(frozen=True, eq=False)
class ChannelLengths:
    """Lengths of all channels, integers, and the largest load of one channel that they allow, over its bandwidth."""

    length: Array
    bound: Fraction


@dataclass(frozen=True, eq=False)
class FlowWitness:
    """Traffic with flows that carry it.

    Parameters
    ----------
    load : Fraction
        The load of the channel over its bandwidth, where the flows have congestion 1: a lower bound of the ratio.
    traffic : tuple of (source, destination, Fraction)
    flows : int64 array, shape (rows, 3)
        Source, channel and amount.
    unit : Fraction
        What an amount of 1 stands for.
    """

    load: Fraction
    traffic: tuple[tuple[int, int, Fraction], ...]
    flows: Array
    unit: Fraction


class _PairPaths(NamedTuple):
    """Room for the paths of one pair."""

    start: Array
    channel: Array
    amount: Array


class NetworkLinks:
    """The channels of a network: bandwidths, what terminals can send and take, and distances.

    Attributes
    ----------
    topology : Topology
    speeds : list of Fraction
        The bandwidths.
    relative : float array, shape (channels,)
        The bandwidths, divided by the largest.
    terminals : int64 array
        Their nodes.
    rates : Rates
        The bandwidths of all channels out of each terminal, and into it.
    """

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        speeds = [topology.bandwidth_of(c) for c in range(topology.channels)]
        self.speeds = speeds
        self.relative = np.array([float(speed / max(speeds)) for speed in speeds])
        self.terminals = topology.terminals.astype(np.int64)
        tail, head = topology.tail.astype(np.int64), topology.head.astype(np.int64)
        sends, takes = ([Fraction(0)] * topology.nodes for _ in range(2))
        for source, end, speed in zip(tail.tolist(), head.tolist(), speeds, strict=True):
            sends[source] += speed
            takes[end] += speed
        self.rates = Rates(*(tuple(side[t] for t in self.terminals.tolist()) for side in (sends, takes)))
        self._scale = lcm(*(speed.denominator for speed in speeds))
        self._whole = np.array([int(speed * self._scale) for speed in speeds], object)
        self._order = np.lexsort((head, tail))
        ends = tail[self._order] * topology.nodes + head[self._order]
        joined, self._first = np.unique(ends, return_index=True)
        self._tail, self._head = np.divmod(joined, topology.nodes)

    def spent(self, length: Array) -> Fraction:
        """Return Σ bandwidth × length."""
        return Fraction(int((self._whole * length.astype(object)).sum()), self._scale)

    def distances(self, length: Array) -> Array:
        """Return the distances between terminals; exact, infinite where there is no path."""
        shortest = np.minimum.reduceat(length[self._order], self._first).astype(float)
        nodes = self.topology.nodes
        graph = csr_array((shortest, (self._tail, self._head)), shape=(nodes, nodes))
        distance: Array = dijkstra(graph, indices=self.terminals)[:, self.terminals]
        return distance


def proved_lengths(links: NetworkLinks, loads: PairLoads, channel: int, length: Array) -> ChannelLengths | None:
    """Return what lengths prove of a channel; None where a pair that loads it is at distance 0."""
    row, col, weight = loads.weights(channel).spread()
    distance = links.distances(length)[row, col]
    if (distance == 0).any():
        return None
    share = weight.astype(float) / distance
    close = np.flatnonzero(share >= share.max(initial=0.0) * (1 - 1e-9))  # rounding errors are far smaller
    pairs = {(int(weight[k]), int(distance[k])) for k in close.tolist() if np.isfinite(distance[k])}
    most = max((Fraction(amount, length) for amount, length in pairs), default=Fraction(0))
    return ChannelLengths(length, most * links.spent(length) / loads.denominator / links.topology.bandwidth_of(channel))


def simple_lengths(links: NetworkLinks, loads: PairLoads, channel: int) -> ChannelLengths:
    """Return lengths of the channels next to terminals: what each can send and take, by the prices of a shipment."""
    length = _at_terminals(links, loads.weights(channel).spread(), loads.solve(channel, links.rates).prices)
    largest = max(length.tolist(), default=0)
    shift = max(0, largest.bit_length() - 40)
    rounded = np.array([-(-int(value) >> shift) for value in length.tolist()], np.int64)
    lengths = proved_lengths(links, loads, channel, rounded)
    return lengths or ChannelLengths(rounded * 0, Fraction(0))  # no pair loads the channel


def covered_lengths(links: NetworkLinks, loads: PairLoads, channel: int, length: Array) -> ChannelLengths | None:
    """Return lengths that prove a bound close to that of approximate ones.

    Shapes: `length` (channels,).
    """
    factor = -(-WHOLE // loads.denominator)
    whole = np.rint(length * (links.relative[channel] * loads.denominator * factor)).astype(np.int64)
    source, destination, weight = loads.weights(channel).spread()
    lack = weight * factor - links.distances(whole)[source, destination].astype(np.int64)
    some = lack > 0
    if some.any():
        entries = source[some], destination[some], lack[some]
        prices = ship(from_entries(*entries), links.rates, loads.terminals).prices
        whole += _at_terminals(links, entries, prices).astype(np.int64)
    return proved_lengths(links, loads, channel, whole)


def _at_terminals(links: NetworkLinks, entries: tuple[Array, Array, Array], prices: Array | None) -> Array:
    """Return lengths of the channels out of sources and into destinations, at these prices, that cover all weights."""
    topology, (source, destination, weight) = links.topology, entries
    column = np.zeros(len(links.terminals), object) if prices is None else prices.astype(object)
    row = np.zeros(len(links.terminals), object)
    np.maximum.at(row, source, weight.astype(object) - column[destination])
    at_tail, at_head = np.zeros(topology.nodes, object), np.zeros(topology.nodes, object)
    at_tail[links.terminals], at_head[links.terminals] = row, column
    length: Array = at_tail[topology.tail] + at_head[topology.head]
    return length


def solved_lengths(links: NetworkLinks, loads: PairLoads, channel: int, multipliers: Array) -> ChannelLengths | None:
    """Return the better of the lengths by rounded and by simple rational multipliers of the solver."""
    candidates = []
    largest = multipliers.max(initial=0.0)
    if largest > 0:
        candidates.append(np.rint(multipliers * (_SCALE / largest)).astype(np.int64))
    simple = as_rationals(multipliers)
    if simple is not None and simple[0].max(initial=0) * links.topology.nodes < _LARGEST:
        candidates.insert(0, simple[0])
    proved = [proved_lengths(links, loads, channel, length) for length in candidates]
    return min((lengths for lengths in proved if lengths is not None), key=lambda lengths: lengths.bound, default=None)


def exact_lengths(
    links: NetworkLinks, loads: PairLoads, channel: int, values: Rationals, columns: Array
) -> list[ChannelLengths | None]:
    """Return what the exact values of a vertex prove, by the column of every length; none where they are too large."""
    numerators = np.maximum(values.numerators[columns], 0)
    whole = numerators // (gcd(*numerators.tolist()) or 1)
    if whole.max(initial=0) * links.topology.nodes >= _LARGEST:
        return []
    return [proved_lengths(links, loads, channel, whole.astype(np.int64))]


def witness_of(links: NetworkLinks, loads: PairLoads, channel: int, worst: RatioTraffic) -> FlowWitness | None:
    """Return the better of the witnesses by simple rational and by rounded flows of the solver; None if both fail."""
    rounded = np.rint(worst.flows * WHOLE).astype(np.int64)
    simple = as_rationals(worst.flows.ravel())
    tables = [rounded] if simple is None else [simple[0].reshape(worst.flows.shape), rounded]
    witnesses = [_repaired(links, loads, channel, worst, flows) for flows in tables]
    return max((witness for witness in witnesses if witness), key=lambda witness: witness.load, default=None)


def _repaired(
    links: NetworkLinks, loads: PairLoads, channel: int, worst: RatioTraffic, flows: Array
) -> FlowWitness | None:
    """Return traffic over the paths that integer flows hold; what leads nowhere, and what loads nothing, is dropped."""
    topology = links.topology
    network = states_of(topology, None).kernel
    room = _PairPaths(
        np.zeros(topology.channels + 2, np.int64),
        np.zeros((topology.channels + 1) * topology.nodes, np.int64),
        np.zeros(topology.channels + 1, np.int64),
    )
    numerator = loads.on_channel(channel).toarray()
    carried = np.zeros((loads.terminals, topology.channels), np.int64)
    traffic: list[tuple[int, int, int]] = []
    for end, capacity in zip(worst.ends.tolist(), flows, strict=True):
        surplus = np.zeros(topology.nodes, np.int64)  # what ends at each node, or starts there
        np.add.at(surplus, topology.head, capacity)
        np.add.at(surplus, topology.tail, -capacity)
        amounts = (surplus if worst.by_source else -surplus)[topology.terminals]
        loaded = numerator[end] if worst.by_source else numerator[:, end]
        left = capacity.copy()
        for other in np.flatnonzero((amounts > 0) & (loaded > 0)).tolist():
            source, destination = (end, other) if worst.by_source else (other, end)
            ends = int(links.terminals[source]), int(links.terminals[destination])
            count = int(run(widest_paths, 20.0 * topology.channels, network, *ends, left, int(amounts[other]), room))
            hops = np.diff(room.start[: count + 1])
            np.add.at(carried[source], room.channel[: room.start[count]], np.repeat(room.amount[:count], hops))
            if count:
                traffic.append((source, destination, int(room.amount[:count].sum())))
    totals = [sum(map(int, column)) for column in carried.T]
    congestion = max((total / speed for total, speed in zip(totals, links.speeds, strict=True)), default=0)
    if not congestion:
        return None
    unit = 1 / Fraction(congestion)
    load = unit * sum(amount * int(numerator[s, d]) for s, d, amount in traffic)
    source, taken = np.nonzero(carried)
    return FlowWitness(
        load / loads.denominator / topology.bandwidth_of(channel),
        tuple((s, d, amount * unit) for s, d, amount in sorted(traffic)),
        np.stack([source, taken, carried[source, taken]], axis=1),
        unit,
    )


# The oblivious performance ratio of a routing on any network: one linear program a channel, both sides certified


def network_ratio(x: Subject, *, certificate: bool = False, progress: Progress | None = None) -> Ratio:
    """Return the oblivious performance ratio of a routing by linear programming; see :func:`obliv.ratio`."""
    began = time.perf_counter()
    step = rising(progress)
    require_solver()
    subject = subject_of(x, "ratio")
    topology = subject.topology
    terminals, channels = len(topology.terminals), topology.channels
    require_memory(
        300.0 * terminals * channels + 8.0 * channels**2,
        f"{topology.spec}: linear programs of up to {terminals:,} × {channels:,} flows",
    )
    require_connected(topology)
    loads = loads_of(subject, "ratio", within(step, 0.0, 0.1)).without_self()
    if loads.partial:
        raise InputError(f"{name_of(subject)} leaves pairs out; the ratio needs a routing that serves all pairs")
    search = _BoundSearch(loads, NetworkLinks(topology))

    def result() -> Ratio:
        return search.result(x, name_of(subject), sources_of(subject), certificate, time.perf_counter() - began)

    try:
        search.run(within(step, 0.1, 1.0))
    except KeyboardInterrupt:
        if search.witness is None:
            raise
        raise Interrupted("the bounds so far", result()) from None
    return result()


@dataclass(eq=False)
class _BoundSearch:
    """The best witness and the lengths of every channel so far."""

    loads: PairLoads
    links: NetworkLinks
    witness: FlowWitness | None = None
    channel: int = -1
    lengths: dict[int, ChannelLengths] = field(default_factory=dict)  # of one channel of every class
    parent: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    maps: list[Array] = field(default_factory=list)
    step: Array = field(default_factory=lambda: np.zeros(0, np.int64))

    def run(self, progress: Progress) -> None:
        """Solve the channels that can attain the ratio, those with the largest simple bound first."""
        progress("symmetry", 0.0)
        self.maps = _symmetries(self.loads)
        self.parent, self.step = _carried(self.links.topology.channels, self.maps)
        focus = np.flatnonzero(self.parent < 0).tolist()
        for k, channel in enumerate(focus):
            progress("simple bounds", 0.1 * k / len(focus))
            self.lengths[channel] = simple_lengths(self.links, self.loads, channel)
        order = sorted(focus, key=lambda channel: -self.lengths[channel].bound)
        for k, channel in enumerate(order):
            progress(f"linear programs, {plural(len(order), 'channel')}", 0.1 + 0.9 * k / len(order))
            if self.witness is None or self.lengths[channel].bound > self.witness.load:
                self._solve(channel)

    def _solve(self, channel: int) -> None:
        loads, links = self.loads, self.links
        numerators = loads.on_channel(channel).toarray()
        unit = loads.denominator * float(links.relative[channel])
        worst = worst_traffic(links.topology, links.relative, numerators / unit)
        lengths = solved_lengths(links, loads, channel, worst.lengths)
        if lengths is not None and lengths.bound < self.lengths[channel].bound:
            self.lengths[channel] = lengths
        if self.witness is None or worst.value > float(self.witness.load) * (1 - 1e-9):
            witness = witness_of(links, loads, channel, worst)
            if witness is not None and (self.witness is None or witness.load > self.witness.load):
                self.witness, self.channel = witness, channel

    def result(
        self, subject: Any, routing: str, sources: tuple[tuple[str, str], ...], certificate: bool, seconds: float
    ) -> Ratio:
        """Return what is proved so far."""
        if self.witness is None:
            raise SolverError("the flows of the linear program carry no traffic; report this network")
        topology = self.links.topology
        lower, upper = self.witness.load, max(lengths.bound for lengths in self.lengths.values())
        place, names = named_channel(topology, self.channel)
        return Ratio(
            topology=topology.spec,
            routing=routing,
            provenance=provenance(
                {"topology": topology.spec, "routing": routing},
                seconds,
                "bounded" if lower < upper else exactness_of(self.loads, None),
                sources=sources,
            ),
            subject=subject,
            ratio=float_bounds(lower, upper),
            channel=place,
            names=names,
            traffic=self.witness.traffic,
            lower_bound_source=NO_BOUND["network"],
            certificate=self._certificate(self.witness, dict(sources)) if certificate else None,
        )

    def _certificate(self, witness: FlowWitness, sources: dict[str, str]) -> dict[str, Any]:
        channels = self.links.topology.channels
        table = np.zeros((channels, channels), np.int64)
        for channel in range(channels):
            focus, word = channel, []
            while self.parent[focus] >= 0:
                word.append(self.maps[self.step[focus]])
                focus = int(self.parent[focus])
            length = self.lengths[focus].length
            for images in reversed(word):
                moved = np.empty_like(length)
                moved[images] = length
                length = moved
            table[channel] = length
        network = carried(self.links.topology)
        return {
            **({} if network is None else {"network": network}),
            "denominator": self.loads.denominator,
            "lengths": [pack(row) for row in table],
            "flows": pack(witness.flows),
            "unit": str(witness.unit),
            "sources": sources,
        }


def _symmetries(loads: PairLoads) -> list[Array]:
    """Return maps of the channels under which the routing is the same, each checked on its loads."""
    topology = loads.topology
    nodes = [np.asarray(g) for g in (*topology.generators, *topology.translations)]
    maps = [channel_map(topology, g) for g in nodes if loads.keeps(g)]
    opposite = opposite_channels(topology)
    if opposite is not None and _reversible(loads, opposite):
        maps.append(opposite)
    return [images for images in maps if images is not None]


def _reversible(loads: PairLoads, opposite: Array) -> bool:
    """Return whether every pair loads each channel as the opposite pair loads the opposite channel."""
    for channel, other in enumerate(opposite.tolist()):
        one, two = loads.on_channel(channel), loads.on_channel(other)
        if channel <= other and (one != two.T).nnz:
            return False
    return True


def _carried(count: int, maps: list[Array]) -> tuple[Array, Array]:
    """Return, for every channel, the channel and the map that lead to it; −1 for the first channel of each class."""
    parent, step = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
    reached = np.zeros(count, bool)
    for first in range(count):
        waiting = [] if reached[first] else [first]
        reached[first] = True
        while waiting:
            channel = waiting.pop()
            for k, images in enumerate(maps):
                image = int(images[channel])
                if not reached[image]:
                    reached[image] = True
                    parent[image], step[image] = channel, k
                    waiting.append(image)
    return parent, step
