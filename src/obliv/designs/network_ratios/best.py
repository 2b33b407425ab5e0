"""The design of the routing with the least oblivious performance ratio: linear program, both bounds, explicit paths."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import gcd, lcm
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from obliv._util.arrays import Array
from obliv._util.files import pack
from obliv._util.progress import Progress, within
from obliv.designs._kernels import pair_distances
from obliv.designs.average import decomposed, exact_flows, rounded_flows
from obliv.designs.bounds.lower import BoundLine
from obliv.designs.design import Design
from obliv.designs.exact import InexactError, Rationals, Vertex, as_rationals, vertex_of
from obliv.designs.network_ratios.bounds import (
    ChannelLengths,
    NetworkLinks,
    covered_lengths,
    exact_lengths,
    solved_lengths,
)
from obliv.designs.network_ratios.compact import RatioProgramme, ratio_programme
from obliv.designs.programme import States, states_of, symmetry_of
from obliv.designs.search import described
from obliv.designs.solver import NO_PATHS, Optimum, SlowError, SolverError
from obliv.errors import Interrupted
from obliv.kernels import run
from obliv.questions.worst_case import worst_case
from obliv.results.base import Provenance
from obliv.results.codec import entry
from obliv.results.numbers import Bounds, bounded, bounds_of, known, rounded_down, rounded_up, short
from obliv.routings.listed import Listed
from obliv.topologies.base import Topology
from obliv.topologies.saved import carried

# The lower bound of all ratios: for every channel traffic with flows that carry it, in exact arithmetic.
#
# Let ``D_e`` be traffic that some flows carry with congestion ``z_e``. A routing of ratio r loads channel e by at most
# ``r · z_e``, so ``Σ_ij D_e(i, j) f_ij(e) / b_e ≤ r · z_e``. Added up over all channels, every pair pays at least its
# distance under the lengths ``D_e(i, j) / b_e``: r ≥ Σ distances / Σ z_e. With a price for every hop added to all
# lengths, the same inequality bounds the mean hops of routings of ratio at most r. The multipliers of the linear
# program are such flows, nearly; what is missing at a node is added along shortest paths.


_LARGEST = 2**34  # of a length


@dataclass(frozen=True, eq=False)
class Demands:
    """Flows for one channel of every class, and the line that they prove.

    Parameters
    ----------
    line : Line
    flows : int64 array, shape (classes, terminals, channels)
        By source; what ends at a terminal is the traffic from the source to it.
    """

    line: BoundLine
    flows: Array


class Trees:
    """Shortest paths from every terminal: the channel into each node, and the nodes by their distance."""

    def __init__(self, programme: RatioProgramme) -> None:
        topology = programme.topology
        self.tail, self.head = topology.tail.astype(np.int64), topology.head.astype(np.int64)
        self.terminals = topology.terminals.astype(np.int64)
        nodes, number = topology.nodes, np.arange(1, topology.channels + 1)
        channel = np.zeros((nodes, nodes), np.int64)
        channel[self.tail, self.head] = number - 1
        graph = csr_array((np.ones(topology.channels), (self.tail, self.head)), shape=(nodes, nodes))
        self.into = np.full((len(self.terminals), nodes), -1)
        depth = np.zeros((len(self.terminals), nodes), np.int64)
        for k, source in enumerate(self.terminals.tolist()):
            order, before = breadth_first_order(graph, source)
            for node in order[1:].tolist():
                self.into[k, node] = channel[before[node], node]
                depth[k, node] = depth[k, before[node]] + 1
        self.layers = [np.nonzero(depth == d) for d in range(int(depth.max(initial=0)), 0, -1)]

    def repair(self, flow: Array) -> Array:
        """Add what is missing where more leaves a node than enters it; return what ends at each terminal."""
        terminals, nodes = self.into.shape
        balance = np.zeros((nodes, terminals), np.int64)
        np.add.at(balance, self.head, flow.T)
        np.subtract.at(balance, self.tail, flow.T)
        for source, node in self.layers:
            missing = np.maximum(-balance[node, source], 0)
            balance[node, source] += missing
            channel = self.into[source, node]
            flow[source, channel] += missing
            np.subtract.at(balance, (self.tail[channel], source), missing)
        ends = balance[self.terminals].T
        np.fill_diagonal(ends, 0)
        return ends


def demands(
    programme: RatioProgramme, trees: Trees, duals: Array | Rationals, price: float | Fraction, allowed: Array | None
) -> list[Demands]:
    """Return what exact multipliers prove, or rounded ones and, where there are any, simple rational ones.

    Shapes: `duals` (rows,), `allowed` (terminals, terminals, channels).
    """
    speeds = [programme.topology.bandwidth_of(c) for c in range(programme.topology.channels)]
    limit = _LARGEST * float(min(speeds) / max(speeds))
    shared = [block.alike * len(block.channels.members) for block in programme.blocks]
    if isinstance(duals, Rationals):
        candidates = _exact(programme, duals, Fraction(price), shared, limit)
    else:
        candidates = _rounded(programme, duals, float(price), shared, limit)
    return [_proved(programme, trees, flow, cost, allowed) for flow, cost in candidates]


def _rounded(
    programme: RatioProgramme, duals: Array, price: float, shared: list[Array], limit: float
) -> list[tuple[Array, int]]:
    """Return flows and a price as integers up to a factor: rounded, and as simple rationals where they are that."""
    multiplier = np.append(np.maximum(duals, 0), 0.0)
    table = np.array([multiplier[block.step] / share for block, share in zip(programme.blocks, shared, strict=True)])
    largest = max(float(table.max(initial=0.0)), price)
    if largest <= 0:
        return []
    candidates = [(np.rint(table * (limit / largest)).astype(np.int64), round(price * (limit / largest)))]
    simple = as_rationals(np.append(table.ravel() / largest, price / largest))
    if simple is not None and simple[0].max() <= limit:
        whole = _undivided(programme, simple[0] // max(1, int(np.gcd.reduce(simple[0]))), limit)
        candidates.append((whole[:-1].reshape(table.shape), int(whole[-1])))
    return candidates


def _exact(
    programme: RatioProgramme, duals: Rationals, price: Fraction, shared: list[Array], limit: float
) -> list[tuple[Array, int]]:
    """Return exact flows and price as integers up to a factor; none where they are too large."""
    multiplier = np.append(np.maximum(duals.numerators, 0), 0)
    common = lcm(price.denominator, *(int(count) for share in shared for count in np.unique(share)))
    table = np.array(
        [multiplier[block.step] * (common // share) for block, share in zip(programme.blocks, shared, strict=True)]
    )
    cost = int(price * common) * duals.denominator
    whole = np.append(table.ravel(), cost)
    whole //= gcd(*whole.tolist()) or 1
    if whole.max() > limit:
        return []
    whole = _undivided(programme, whole.astype(np.int64), limit)
    return [(whole[:-1].reshape(table.shape), int(whole[-1]))]


def _undivided(programme: RatioProgramme, whole: Array, limit: float) -> Array:
    """Return integers times a factor, if they stay small, so that lengths over bandwidths need no rounding."""
    speeds = [programme.topology.bandwidth_of(c) for c in range(programme.topology.channels)]
    factor = lcm(*((max(speeds) / speed).denominator for speed in speeds))
    return whole * factor if int(whole.max()) * factor <= limit else whole


def _proved(programme: RatioProgramme, trees: Trees, flows: Array, price: int, allowed: Array | None) -> Demands:
    """Return what flows prove, exactly, after what they lack is added."""
    topology = programme.topology
    speeds = [topology.bandwidth_of(c) for c in range(topology.channels)]
    fastest, terminals = max(speeds), len(topology.terminals)
    ends, spent = [], Fraction(0)
    for block, flow in zip(programme.blocks, flows, strict=True):
        ends.append(trees.repair(flow))
        totals = flow.sum(axis=0).tolist()
        congestion = max(total / speed for total, speed in zip(totals, speeds, strict=True))
        spent += fastest * congestion * len(block.channels.members)
    members = [(member, k) for k, block in enumerate(programme.blocks) for member in block.channels.members]
    members.sort(key=lambda entry: entry[0].channel)
    _, first = np.unique([member.channel for member, _ in members], return_index=True)
    table = np.array(ends)
    which = np.array([k for _, k in members])
    back = np.array([np.argsort(member.maps.terminals) for member, _ in members])
    turned = np.array([member.reversed for member, _ in members])
    network = states_of(topology, None).kernel
    nodes, distance, total = topology.terminals.astype(np.int64), np.empty((1, terminals), np.int64), 0
    place = np.arange(terminals * topology.channels).reshape(1, terminals, topology.channels)
    for i in range(terminals):
        source, others = back[:, i, None], back
        lengths = np.where(
            turned[:, None], table[which[:, None], others, source], table[which[:, None], source, others]
        )
        lengths = np.add.reduceat(lengths, first)
        if not topology.unit_bandwidth:
            lengths = _slower(lengths, speeds, fastest)
        flow = place if allowed is None else np.where(allowed[i], place, -1)
        work = 20.0 * terminals**2 * topology.channels
        run(pair_distances, work, network, nodes[i : i + 1], nodes, flow, flow, lengths.T.ravel() + price, distance)
        total += int(distance.sum())
    return Demands(BoundLine(np.zeros(0, np.int64), price, total, spent, programme.pairs), flows)


def _slower(lengths: Array, speeds: list[Fraction], fastest: Fraction) -> Array:
    """Return lengths times the fastest bandwidth over that of each channel, rounded down."""
    rows = []
    for row, speed in zip(lengths, speeds, strict=True):
        factor = fastest / speed
        rows.append([int(length) * factor.numerator // factor.denominator for length in row.tolist()])
    return np.array(rows, np.int64)


_VERTEX_ROWS = 9000  # up to which the simplex method takes seconds
_FIRST, _NEXT, _LAST = 1 / 16, 1 / 4, 1e-9  # accuracies of the first-order method: of the gap, of the one before, least
_ITERATIONS = 200_000  # of the first-order method, which does not converge on some small programs
_INTERIOR_ROWS = 30_000  # up to which the interior-point method takes tens of seconds
_FLOORS = (0.0, 1e-3)  # least lengths, of the mean one


def design_ratio(
    topology: Topology,
    constraints: tuple[str, ...],
    *,
    then: bool,
    limit: Fraction | None,
    minimal: bool,
    gap: float,
    exact: bool | None,
    progress: Progress,
) -> RatioDesign:
    """Design the routing with the least oblivious performance ratio; see :func:`obliv.design`."""
    began = time.perf_counter()
    bare = topology if topology.unit_rates else replace(topology, injection=(), ejection=())
    programme = ratio_programme(bare, symmetry_of(bare, search=True), minimal, progress)
    allowed = states_of(bare, None).usable(len(bare.terminals), True) if minimal else None
    vertices = programme.matrix.shape[0] <= _VERTEX_ROWS if exact is None else exact
    search = _BestSearch(topology, programme, allowed, limit, gap, vertices, NetworkLinks(bare), Trees(programme))

    def result() -> RatioDesign:
        return search.result(constraints, time.perf_counter() - began)

    try:
        search.minimize_ratio(within(progress, 0.0, 0.5) if then else progress)
        if then:
            search.minimize_hops(within(progress, 0.5, 1.0))
    except KeyboardInterrupt:
        if search.best is None or search.ratio_line is None:
            raise
        raise Interrupted("the best routing so far", result()) from None
    return result()


@dataclass(frozen=True, eq=False)
class _RatioCandidate:
    """A routing, what lengths prove of its ratio, and its mean hops."""

    routing: Listed
    lengths: list[ChannelLengths]
    ratio: Fraction
    hops: Fraction


@dataclass(eq=False)
class _BestSearch:
    """The best routing and the best lower bounds so far."""

    topology: Topology
    programme: RatioProgramme
    allowed: Array | None
    limit: Fraction | None
    gap: float
    vertices: bool
    links: NetworkLinks
    trees: Trees
    best: _RatioCandidate | None = None
    ratio_line: Demands | None = None
    hops_line: Demands | None = None
    carriers: list[tuple[int, Array]] = field(default_factory=list)

    @property
    def lower(self) -> Fraction:
        """The proved lower bound of the ratio."""
        least = Fraction(1)  # no routing of any traffic is better than the best one
        return max(least, self.ratio_line.line.least_load(self.limit or Fraction(0))) if self.ratio_line else least

    def minimize_ratio(self, progress: Progress) -> None:
        """Close the gap between the ratio of a routing and the lower bound."""
        programme = self.programme
        costs = None if self.limit is None else (programme.hop_cost, self.limit, -1)
        for optimum, accuracy, vertex in self._solutions(programme.cost, costs, progress):
            duals, price = optimum.duals if vertex is None else vertex.duals, Fraction(0)
            if self.limit is not None:
                last = Fraction(float(optimum.duals[-1])) if vertex is None else vertex.duals.fraction(-1)
                price = max(Fraction(0), -last / programme.pairs)
            for proof in demands(programme, self.trees, duals, price, self.allowed):
                if self.ratio_line is None or proof.line.least_load(self.limit or Fraction(0)) > self.lower:
                    self.ratio_line = proof
            for candidate in self._candidates(optimum, accuracy, vertex, within(progress, 0.0, 0.0)):
                if (self.limit is None or candidate.hops <= self.limit) and (
                    self.best is None or candidate.ratio < self.best.ratio
                ):
                    self.best = candidate
            if self.best is not None:
                progress(f"ratio between {float(self.lower):.6g} and {float(self.best.ratio):.6g}", 0.9)
                if self.best.ratio <= self.lower * (1 + (Fraction(self.gap) if accuracy else 0)):
                    return

    def minimize_hops(self, progress: Progress) -> None:
        """Replace the routing by one of the same ratio, or up to the gap the same, with the fewest hops."""
        if self.best is None:
            return
        programme, most = self.programme, self.best.ratio
        limit, price = (programme.cost, most, 0), Fraction(1, programme.pairs)
        for optimum, accuracy, vertex in self._solutions(programme.hop_cost, limit, progress):
            duals = optimum.duals if vertex is None else vertex.duals
            for proof in demands(programme, self.trees, duals, price, self.allowed):
                if self.hops_line is None or proof.line.least_hops(most) > self.hops_line.line.least_hops(most):
                    self.hops_line = proof
            slack = 1 + (Fraction(self.gap) if accuracy else 0)
            for candidate in self._candidates(optimum, accuracy, vertex, within(progress, 0.0, 0.0)):
                if candidate.ratio <= most * slack and candidate.hops < self.best.hops:
                    self.best = candidate
            fewest = self.hops_line.line.least_hops(most) if self.hops_line else Fraction(0)
            if self.best.hops <= fewest * slack:
                return

    def _solutions(
        self, cost: Array, limit: tuple[Array, Fraction, int] | None, progress: Progress
    ) -> Iterator[tuple[Optimum, float, Vertex | None]]:
        """Yield solutions with their accuracy: a vertex (0) where it is wanted, then ever more accurate ones.

        A vertex comes first with the numbers of the solver, which are often simple rationals, then with exact ones.

        A limit is costs, the most they may be, and the sign of a change of it, as large as the accuracy.
        """
        size, programme = self.programme.matrix.shape[0], self.programme
        accuracies = [0.0] if self.vertices else []
        accuracy = self.gap * _FIRST
        while accuracy > _LAST:
            accuracies.append(accuracy)
            accuracy *= _NEXT
        for k, accuracy in enumerate(accuracies):
            progress(f"linear program of {size:,} rows, accuracy {accuracy:.2g}", 0.1 + 0.8 * k / len(accuracies))
            if limit is not None:
                costs, most, sign = limit
                programme = self.programme.limited(costs, float(most) * (1 + sign * accuracy))
            optimum = _solved(programme, cost, accuracy)
            yield optimum, accuracy, None
            vertex = _vertex(programme, cost, optimum)
            if vertex is not None:
                yield optimum, accuracy, vertex

    def _candidates(
        self, optimum: Optimum, accuracy: float, vertex: Vertex | None, progress: Progress
    ) -> Iterator[_RatioCandidate]:
        """Yield the routing by the exact flows of a vertex; without, by simple rationals and by rounded flows."""
        states = states_of(self.topology, None)
        options: list[tuple[Array, int] | None] = []
        if vertex is None:
            columns = np.clip(optimum.columns[: self.programme.flows], 0, 1)
            columns[columns < accuracy] = 0
            options += [None if accuracy else as_rationals(columns), rounded_flows(columns)]
        else:
            with suppress(InexactError):
                options.append(exact_flows(self.programme, vertex.columns))
        for flows in options:
            if flows is None:
                continue
            routing = _routing(self.programme.column, states, flows, progress)
            if routing is not None:
                loads = routing.pair_loads()
                lengths = self._lengths(loads, optimum.columns, accuracy, vertex)
                yield _RatioCandidate(routing, lengths, max(one.bound for one in lengths), loads.hops())

    def _lengths(self, loads: Any, columns: Array, accuracy: float, vertex: Vertex | None) -> list[ChannelLengths]:
        """Return lengths that bound the ratio on every channel, those of the linear program carried by symmetries."""
        opposite = self.programme.symmetry.opposite
        proved: dict[int, ChannelLengths] = {}
        for block in self.programme.blocks:
            solved = np.maximum(columns[block.price], 0)
            for member in block.channels.members:
                if member.channel in proved:
                    continue
                images = member.maps.channels
                places = images if not member.reversed or opposite is None else opposite[images]
                moved = np.empty_like(solved)
                moved[places] = solved
                options = [
                    covered_lengths(self.links, loads, member.channel, moved + floor * moved.mean())
                    for floor in _FLOORS
                ]
                if vertex is not None:
                    options += exact_lengths(
                        self.links, loads, member.channel, vertex.columns, block.price[np.argsort(places)]
                    )
                elif not accuracy:
                    options.append(solved_lengths(self.links, loads, member.channel, moved))
                sure = [option for option in options if option is not None]
                idle = ChannelLengths(np.zeros(len(moved), np.int64), Fraction(0))  # no pair loads the channel
                proved[member.channel] = min(sure, key=lambda one: one.bound, default=idle)
        return [proved[channel] for channel in range(self.topology.channels)]

    def result(self, constraints: tuple[str, ...], seconds: float) -> RatioDesign:
        """Return what was found, with its certificate."""
        if self.best is None or self.ratio_line is None:
            raise SolverError(NO_PATHS)
        best = self.best
        lower, upper = self.lower, best.ratio
        if lower != upper:
            lower, upper = rounded_down(lower), rounded_up(upper)
        fewest = None if self.hops_line is None else self.hops_line.line.least_hops(upper)
        if fewest is not None and fewest != best.hops:
            fewest = rounded_down(fewest)
        worst = worst_case(best.routing, certificate=True)
        claim = dict(worst.certificate or {})
        claim.pop("network", None)
        return RatioDesign(
            **described(self.topology, best.routing, constraints, seconds, exact=lower == upper),
            ratio=bounded(lower, upper),
            channel_load=known(worst.channel_load),
            hops=best.hops,
            hops_bound=fewest,
            certificate={
                **self._certificate(best.lengths, self.ratio_line),
                "worst": replace(worst, provenance=Provenance(), certificate=claim).to_dict(),
            },
        )

    def _certificate(self, lengths: list[ChannelLengths], line: Demands) -> dict[str, Any]:
        programme, network = self.programme, carried(self.topology)
        generators = np.array([maps.nodes for maps in programme.symmetry.generators], np.int64)
        return {
            **({} if network is None else {"network": network}),
            "generators": pack(generators.reshape(-1, self.topology.nodes)),
            "demands": [
                [member.channel, k, list(member.word), int(member.reversed)]
                for k, block in enumerate(programme.blocks)
                for member in block.channels.members
            ],
            "ratio_line": _saved(line),
            "hops_line": None if self.hops_line is None else _saved(self.hops_line),
            "lengths": [pack(one.length) for one in lengths],
        }


def _solved(programme: RatioProgramme, cost: Array, accuracy: float) -> Optimum:
    """Return a vertex, or a solution of an accuracy above 0."""
    try:
        return programme.solved(cost, accuracy or None, iterations=_ITERATIONS if accuracy else None)
    except SlowError:
        if programme.matrix.shape[0] > _INTERIOR_ROWS:
            raise
        return programme.solved(cost, accuracy, interior=True)


def _routing(flow: Array, states: States, units: tuple[Array, int], progress: Progress) -> Listed | None:
    """Return the routing whose paths carry the flows, given in units of one over a whole number."""
    values, whole = np.append(units[0], 0), units[1]
    return decomposed(states, "design", len(flow), whole, lambda s, d: values[flow[s, d]], progress)


def _vertex(programme: RatioProgramme, cost: Array, optimum: Optimum) -> Vertex | None:
    """Return the exact numbers of a vertex; None where there is none, or they are out of reach."""
    if optimum.basis is None:
        return None
    with suppress(InexactError):
        return vertex_of(programme.matrix, programme.lower, programme.upper, cost, optimum.basis)
    return None


def _saved(proof: Demands) -> dict[str, Any]:
    """Return the flows for each class as rows (source, channel, amount), and the price of a hop."""
    rows = []
    for flow in proof.flows:
        source, channel = np.nonzero(flow)
        rows.append(pack(np.stack([source, channel, flow[source, channel]], axis=1)))
    return {"price": proof.line.price, "flows": rows}


# The result of a design for all traffic: a routing, and how far its ratio can be from the least one


@dataclass(frozen=True, repr=False)
class RatioDesign(Design):
    """A routing designed for the least oblivious performance ratio, with a proof of how much better any could be.

    The channel load, and what follows from it, is the exact worst case of the routing, which was not minimized.

    Examples
    --------
    >>> import obliv
    >>> obliv.design("ring:5", objective="ratio")
    design: least oblivious ratio on ring:5
      ratio           8/5 = 1.6
      optimality      proved
      channel load    6/5 = 1.2
      throughput      5/6 = 0.833333
      of capacity     1/2 = 0.5
      mean hops       8/5 = 1.6
      paths per pair  2 (at most 2)
    """

    marks: ClassVar[tuple[str, ...]] = ("ratio",)

    objective: str = "ratio"
    ratio: Fraction | Bounds = entry(Fraction(1), label="ratio", column="ratio")

    @property
    def _minimized(self) -> Fraction | Bounds:
        return self.ratio

    def summary(self) -> list[tuple[str, str]]:
        first = ("constraints", "ratio", "optimality")
        return sorted(super().summary(), key=lambda line: first.index(line[0]) if line[0] in first else len(first))

    def _aims(self, load: str) -> list[str]:
        return [f"ratio {short(bounds_of(self.ratio)[1])}", load]

    @property
    def title(self) -> str:
        return f"design: least oblivious ratio on {self.topology}"
