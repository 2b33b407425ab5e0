"""The design of the routing with the least oblivious performance ratio: linear program, both bounds, explicit paths."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from obliv._util.codec import pack
from obliv._util.progress import Progress, within
from obliv._util.typing import Array
from obliv.analysis.worst_case.exact import worst_case
from obliv.designs.exact.basis import InexactError, Vertex, vertex_of
from obliv.designs.exact.vertices import as_rationals
from obliv.designs.paths import decomposed, exact_flows, rounded_flows
from obliv.designs.ratios.bounds import Lengths, Links, covered_lengths, exact_lengths, solved_lengths
from obliv.designs.ratios.compact import RatioProgramme, ratio_programme
from obliv.designs.ratios.demands import Demands, Trees, demands
from obliv.designs.saved import described
from obliv.designs.solver import NO_PATHS, Optimum, SlowError, SolverError
from obliv.designs.states import States, states_of
from obliv.designs.symmetry import symmetry_of
from obliv.errors import Interrupted
from obliv.results import Provenance, RatioDesign
from obliv.results.numbers import bounded, known, rounded_down, rounded_up
from obliv.routings.listed import Listed
from obliv.topologies.base import Topology
from obliv.topologies.carried import carried

__all__ = ["design_ratio"]

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
    """Design the routing with the least oblivious performance ratio; see :func:`obliv.design`.

    Parameters
    ----------
    topology : Topology
        All terminals can reach each other.
    constraints : tuple of str
        The limits in words.
    then : bool
        Whether to minimize the hops among the routings with the least ratio.
    limit : Fraction or None
        Of the mean hops.
    minimal : bool
        Whether paths must be shortest paths.
    gap : float
    exact : bool or None
    progress : callable
    """
    began = time.perf_counter()
    bare = topology if topology.unit_rates else replace(topology, injection=(), ejection=())
    programme = ratio_programme(bare, symmetry_of(bare, search=True), minimal, progress)
    allowed = states_of(bare, None).usable(len(bare.terminals), True) if minimal else None
    vertices = programme.matrix.shape[0] <= _VERTEX_ROWS if exact is None else exact
    search = _Search(topology, programme, allowed, limit, gap, vertices, Links(bare), Trees(programme))

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
class _Candidate:
    """A routing, what lengths prove of its ratio, and its mean hops."""

    routing: Listed
    lengths: list[Lengths]
    ratio: Fraction
    hops: Fraction


@dataclass(eq=False)
class _Search:
    """The best routing and the best lower bounds so far."""

    topology: Topology
    programme: RatioProgramme
    allowed: Array | None
    limit: Fraction | None
    gap: float
    vertices: bool
    links: Links
    trees: Trees
    best: _Candidate | None = None
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
    ) -> Iterator[_Candidate]:
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
                yield _Candidate(routing, lengths, max(one.bound for one in lengths), loads.hops())

    def _lengths(self, loads: Any, columns: Array, accuracy: float, vertex: Vertex | None) -> list[Lengths]:
        """Return lengths that bound the ratio on every channel, those of the linear program carried by symmetries."""
        opposite = self.programme.symmetry.opposite
        proved: dict[int, Lengths] = {}
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
                idle = Lengths(np.zeros(len(moved), np.int64), Fraction(0))  # no pair loads the channel
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

    def _certificate(self, lengths: list[Lengths], line: Demands) -> dict[str, Any]:
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
