"""The design of a routing: linear program, lower bound, explicit paths, exact worst case."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

import numpy as np

from obliv._util.progress import Progress, silent, within
from obliv._util.rationals import exact as exact_number
from obliv._util.rng import Rng
from obliv._util.typing import Array
from obliv.analysis.average.random_traffic import seed_of_permutations
from obliv.analysis.worst_case.exact import worst_case
from obliv.designs.average import announce_average, average_design, average_routings
from obliv.designs.bounds.worst_case import Line, exact_line, rounded_line
from obliv.designs.certificate import certificate_of
from obliv.designs.exact.basis import InexactError, Vertex, vertex_of
from obliv.designs.few_paths.supports import at_least_one, few_paths, limits
from obliv.designs.minimal import require_connected
from obliv.designs.paths import exact_flows, rounded_flows, routing_of
from obliv.designs.programme import Programme, worst_case_programme
from obliv.designs.ratios.best import design_ratio
from obliv.designs.saved import packed
from obliv.designs.solver import Optimum, SolverError, solve
from obliv.designs.states import States, feasible_states
from obliv.designs.symmetry import symmetry_of
from obliv.errors import InputError, Interrupted
from obliv.results import Design, WorstCase, provenance
from obliv.results.numbers import bounded, known, rounded_down, rounded_up
from obliv.routings.listed import Listed
from obliv.topologies.base import Number, Topology
from obliv.topologies.base import topology as topology_of

__all__ = ["design"]

_VERTEX_ROWS = 5000  # up to which the simplex method is fast, and its vertices are simple rationals
_CROSSOVER_ROWS = 5000  # above which the simplex method for the load starts at a first-order solution
_NO_PATHS = "the flows of the linear program hold no paths; report this network"
_SAMPLES = 50  # permutations of the objective average
_SLACK = 1e-7  # relative, of limits where numbers are rounded


def design(
    topology: Topology | str,
    *,
    objective: str = "worst",
    then: str | None = "default",
    max_hops: Number | None = None,
    minimal: bool = False,
    max_turns: int | None = None,
    vc: int | None = None,
    paths: int | None = None,
    quantize: int | None = None,
    gap: float | None = None,
    exact: bool | None = None,
    samples: int | None = None,
    rng: Rng = None,
    progress: Progress | None = None,
) -> Design:
    """Design the oblivious routing with the least worst-case channel load of all, or with the least ratio.

    Parameters
    ----------
    topology : Topology or str
    objective : {"worst", "ratio", "average"}
        What to minimize: the worst-case channel load over admissible traffic; the oblivious performance ratio, the
        largest load divided by that of the best routing of the same traffic, over all traffic; or, among the routings
        with the least worst case, the mean of the largest load over random permutations.
    then : {"hops", None}
        What to minimize among the best routings; by default the hops where the objective is the worst case.
    max_hops : number, optional
        Limit of the mean hops over all ordered pairs of terminals, self-pairs included.
    minimal : bool
        Whether paths must be shortest paths; with `max_turns` or `vc`, the shortest that these allow.
    max_turns : int, optional
        Limit of the changes of dimension of a path on a mesh, torus or hypercube; paths do not turn by 180 degrees.
    vc : int, optional
        Number of virtual channels with which the routing is free of deadlock under a known scheme: ``turn`` on meshes
        and hypercubes, ``turn+dateline`` on tori, ``updown`` on other networks.
    paths : int, optional
        Limit of the paths of a pair. The lower bound holds for any number of paths; ``loss`` says how far above it the
        routing is. One more path never makes it worse.
    quantize : int, optional
        Weights are multiples of one over this number, as in the tables of switches.
    gap : float
        Relative distance between the objective and its proved lower bound at which the search may end; by default 1e-4,
        and 1e-3 for a ratio.
    exact : bool, optional
        Whether to look for rational numbers at which both bounds meet: always, never, or by default where the linear
        program is small.
    samples : int, optional
        Number of random permutations whose mean is minimized, with the objective ``average``; default 50. The average
        in the result is estimated on others.
    rng : numpy.random.Generator or int, optional
        Source of the seed of the permutations, or the seed itself; default 0.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Design
        The routing is its ``subject``. Its worst case is exact; how far it is from the optimum is proved. No number is
        believed from the solver: lengths of channels prove the lower bound, the upper one is the exact worst case of
        explicit paths. :func:`obliv.verify` checks both.

    Raises
    ------
    InputError
        If an option is invalid, or no routing has so few hops, turns or virtual channels.
    MissingExtraError
        If the solver (highspy) is not installed.
    TooLargeError
        If the linear program would not fit in memory.

    References
    ----------
    B. Towles, W. J. Dally, "Worst-case traffic for oblivious routing functions", SPAA 2002.

    D. Applegate, E. Cohen, "Making intra-domain routing robust to changing and uncertain traffic demands".

    Examples
    --------
    >>> import obliv
    >>> best = obliv.design("mesh:3x3")
    >>> best.channel_load, best.hops
    (Fraction(7, 6), Fraction(64, 27))
    >>> obliv.design("complete:4", objective="ratio").ratio  # doctest: +SKIP
    Fraction(3, 2)
    """
    began = time.perf_counter()
    if objective not in ("worst", "ratio", "average"):
        raise InputError(f"objective={objective!r}: choose worst, ratio or average")
    if then not in ("hops", "default", None):
        raise InputError(f"then={then!r}: choose hops, or None")
    then = None if then == "default" and objective != "worst" else then
    gap = (1e-3 if objective == "ratio" else 1e-4) if gap is None else gap
    if not 0 < gap < 1:
        raise InputError(f"a gap of {gap:g}: choose a number between 0 and 1, such as 1e-4")
    paths, quantize = at_least_one(paths, "paths"), at_least_one(quantize, "quantize")
    few = paths is not None or quantize is not None
    if few and max_hops is not None:
        raise InputError("max_hops cannot be combined with paths or quantize; choose minimal, or neither")
    if objective != "average" and (samples is not None or rng is not None):
        raise InputError("samples and rng are for the objective average: leave them out")
    if objective == "average" and (then or few or max_hops is not None or max_turns is not None or vc is not None):
        raise InputError(
            "the objective average cannot be combined with then, max_hops, max_turns, vc, paths or quantize"
        )
    samples, seed = at_least_one(_SAMPLES if samples is None else samples, "samples") or 0, seed_of_permutations(rng)
    network = topology_of(topology)
    require_connected(network)
    if objective == "average" and not network.unit_rates:
        raise InputError(f"{network.spec}: random permutations need terminals of rate 1; choose another objective")
    states, rule = feasible_states(network, max_turns, vc)
    limit, shortest = _hop_limit(states, max_hops)
    minimal = minimal or shortest
    step = progress or silent
    step("linear program", 0.0)
    if objective == "ratio":
        if rule or paths or quantize:
            raise InputError("the least ratio is designed without limits of turns, virtual channels, paths and weights")
        return design_ratio(
            network,
            then=then == "hops",
            limit=None if shortest else limit,
            minimal=minimal,
            gap=gap,
            exact=exact,
            progress=step,
        )
    programme = worst_case_programme(network, symmetry_of(network, search=True), states, minimal=minimal, progress=step)
    if objective == "average":
        announce_average(programme, samples, step)
    vertices = programme.matrix.shape[0] <= _VERTEX_ROWS if exact is None else exact
    search = _Search(programme, None if shortest else limit, gap, vertices)
    hops = f"hops ≤ {limit}" if limit and not shortest else ""
    constraints = (*filter(None, ("minimal" if minimal else "", rule, hops)), *limits(paths, quantize))

    def result() -> Design:
        design = search.result(constraints, time.perf_counter() - began)
        return design if objective != "average" else average_design(design, samples, seed)

    def routings(progress: Progress) -> Iterator[Listed]:
        free = states.plain and not minimal
        return few_paths(programme, search.listed, paths, quantize, free=free, progress=progress)

    whole = within(step, 0.0, 0.3) if few else step
    try:
        search.minimize_load(within(whole, 0.0, 0.5) if then or objective == "average" else whole)
        if objective == "average":
            search.minimize_average(samples, seed, within(whole, 0.5, 1.0))
        if then:
            search.minimize_hops(within(whole, 0.5, 1.0))
        if few:
            search.replace(routings(within(step, 0.3, 1.0)))
    except KeyboardInterrupt:
        if search.best is None:
            raise
        if few and not search.replaced:
            search.replace(islice(routings(silent), 1))
        raise Interrupted("the best routing so far", result()) from None
    return result()


def _hop_limit(states: States, max_hops: Number | None) -> tuple[Fraction | None, bool]:
    """Return the limit of the mean hops as an exact number, and whether only shortest paths meet it."""
    if max_hops is None:
        return None, False
    limit = exact_number(max_hops)
    if limit is None:
        raise InputError(f"max_hops: {max_hops!r:.40} is not a number; write for example 2.5 or 64/27")
    least = states.least_hops
    if limit < least:
        raise InputError(f"at most {max_hops} hops: shortest paths take {least} = {float(least):.6g} on average")
    return limit, limit == least


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A routing with its worst case and mean hops, all exact."""

    routing: Listed
    worst: WorstCase
    load: Fraction
    hops: Fraction


@dataclass(eq=False)
class _Search:
    """The best routing and the best lower bounds so far."""

    programme: Programme
    limit: Fraction | None
    gap: float
    vertices: bool
    best: _Candidate | None = None
    load_line: Line | None = None
    hops_line: Line | None = None
    attained: Fraction | None = None  # least worst case, by a vertex whose numbers are too large for a list
    most: Fraction | None = None  # worst case that the hops were minimized for
    replaced: bool = False  # by a routing with few paths
    inexact: str = ""  # why a vertex gave no rational numbers

    @property
    def lower(self) -> Fraction:
        """The proved lower bound of the worst case."""
        return self.load_line.least_load(self.limit or Fraction(0)) if self.load_line else Fraction(0)

    def minimize_load(self, progress: Progress) -> None:
        """Close the gap between the worst case of a routing and the lower bound."""
        programme = self.programme
        limit = None if self.limit is None else (programme.hop_cost, self.limit, -_SLACK)
        for optimum, vertex in self._solutions(programme.cost, limit, progress):
            for line in self._lines(optimum, vertex, None):
                if self.load_line is None or line.least_load(self.limit or Fraction(0)) > self.lower:
                    self.load_line = line
            for candidate in self._candidates(optimum, vertex, progress):
                if self.limit is not None and candidate.hops > self.limit:
                    continue
                if self.best is None or candidate.load < self.best.load:
                    self.best = candidate
                if candidate.load == self.lower:
                    break
            if self.best is not None:
                progress(f"load between {float(self.lower):.6g} and {float(self.best.load):.6g}", 0.9)
            if self.best is not None and self.best.load <= self.lower * (1 + self._gap(optimum)):
                return
            self._note(optimum)
            if vertex is not None and vertex.columns.fraction(-1) == self.lower:
                self.attained = self.lower

    def minimize_hops(self, progress: Progress) -> None:
        """Replace the routing by one of the same worst case, or up to the gap the same, with the fewest hops."""
        if self.best is None:
            return
        self.most = most = self.attained or self.best.load
        programme = self.programme

        def fewest() -> Fraction:
            return self.hops_line.least_hops(most) if self.hops_line else Fraction(0)

        limit = (programme.cost, self.most, _SLACK)
        for optimum, vertex in self._solutions(programme.hop_cost, limit, progress):
            for line in self._lines(optimum, vertex, Fraction(1, programme.pairs)):
                if self.hops_line is None or line.least_hops(self.most) > self.hops_line.least_hops(self.most):
                    self.hops_line = line
            for candidate in self._candidates(optimum, vertex, progress):
                allowed = self.most * (1 + self._gap(optimum))
                if candidate.load <= allowed and candidate.hops < self.best.hops:
                    self.best = candidate
                if candidate.load <= self.most and candidate.hops == fewest():
                    break
            if self.best.hops <= fewest() * (1 + self._gap(optimum)):
                return
            self._note(optimum)

    def minimize_average(self, samples: int, seed: int, progress: Progress) -> None:
        """Replace the routing by one of the same worst case, or up to the gap the same, with the best average."""
        if self.best is None:
            return
        most = self.attained or self.best.load
        for routing in average_routings(self.programme, most, samples, seed, vertices=self.vertices, progress=progress):
            candidate = _candidate(routing)
            if candidate.load <= most * (1 + Fraction(self.gap)):
                self.best = candidate
                return

    @property
    def listed(self) -> Listed:
        """The routing of the best candidate."""
        if self.best is None:
            raise SolverError(_NO_PATHS)
        return self.best.routing

    def replace(self, routings: Iterator[Listed]) -> None:
        """Replace the routing by the best of others, which obey more limits."""
        for routing in routings:
            candidate = _candidate(routing)
            best = self.best if self.replaced else None
            if best is None or (candidate.load, candidate.hops) < (best.load, best.hops):
                self.best, self.replaced, self.inexact = candidate, True, ""

    def _solutions(
        self, cost: Array, limit: tuple[Array, Fraction, float] | None, progress: Progress
    ) -> Iterator[tuple[Optimum, Vertex | None]]:
        """Yield solutions: a vertex where it is wanted, with its rational numbers; then ever more accurate ones.

        A limit is costs, the most they may be, and by how much that is loosened where numbers are rounded (relative).
        """
        programme = loosened = self.programme
        if limit is not None:
            costs, most, slack = limit
            programme = self.programme.limited(costs, float(most))
            loosened = self.programme.limited(costs, float(most) * (1 + slack))
        rows = programme.matrix.shape[0]
        progress(f"linear program of {rows:,} rows", 0.1)
        if self.vertices:
            optimum = _solved(programme, cost, None, crossover=rows > _CROSSOVER_ROWS and cost[-1] > 0)
            yield optimum, self._vertex(programme, cost, optimum)
        digits = math.ceil(-math.log10(self.gap)) + 1  # so that the first solution is often accurate enough
        for k in range(digits, 9):
            progress(f"linear program, accuracy 1e-{k}", 0.1 + 0.8 * (k - digits) / (9 - digits))
            yield _solved(loosened, cost, 10.0**-k), None

    def _note(self, optimum: Optimum) -> None:
        """Keep why a vertex did not prove the optimum."""
        if optimum.basis and not self.inexact:
            self.inexact = "the vertex of the simplex method is not optimal over the rationals"

    def _gap(self, optimum: Optimum) -> Fraction:
        """Return the gap at which to stop after a solution: none after a vertex, which may be exact."""
        return Fraction(0) if optimum.basis else Fraction(self.gap)

    def _vertex(self, programme: Programme, cost: Array, optimum: Optimum) -> Vertex | None:
        """Return the rational numbers of a vertex, and keep the reason where they are out of reach."""
        try:
            if optimum.basis is None:
                raise InexactError("the simplex method ended without a basis")
            return vertex_of(programme.matrix, programme.lower, programme.upper, cost, optimum.basis)
        except InexactError as error:
            self.inexact = self.inexact or str(error)
            return None

    def _lines(self, optimum: Optimum, vertex: Vertex | None, price: Fraction | None) -> list[Line]:
        """Return lower bounds by the multipliers of a solution; without a price of hops, that of their limit."""
        limited = price is None and self.limit is not None
        pairs, last = self.programme.pairs, float(optimum.duals[-1]) if limited else 0.0
        lines = [rounded_line(self.programme, optimum.duals, float(price or 0) + max(0.0, -last) / pairs)]
        if vertex is not None:
            exact_price = vertex.duals.fraction(-1) / -pairs if limited else price or Fraction(0)
            try:
                lines.append(exact_line(self.programme, vertex.duals, exact_price))
            except InexactError as error:
                self.inexact = self.inexact or str(error)
        return lines

    def _candidates(self, optimum: Optimum, vertex: Vertex | None, progress: Progress) -> Iterator[_Candidate]:
        """Yield the routing by the rational flows, if the solution is a vertex that has them, and by rounded ones."""
        flows = []
        if vertex is not None:
            try:
                flows.append(exact_flows(self.programme, vertex.columns))
            except InexactError as error:
                self.inexact = self.inexact or str(error)
        flows.append(rounded_flows(optimum.columns[: self.programme.flows]))
        for units in flows:
            routing = routing_of(self.programme, "design", units, progress)
            if routing is not None:
                yield _candidate(routing)

    def result(self, constraints: tuple[str, ...], seconds: float) -> Design:
        """Return what was found, with its certificate."""
        if self.best is None or self.load_line is None:
            raise SolverError(_NO_PATHS)
        best, topology = self.best, self.programme.topology
        if self.hops_line and self.replaced:  # steep where the load is larger: shortest paths may prove more hops
            flat = rounded_line(self.programme, np.zeros(self.programme.matrix.shape[0]), 1.0)
            self.hops_line = max(flat, self.hops_line, key=lambda line: line.least_hops(best.load))
        per_pair = np.diff(best.routing.listed.pair)
        others = len(per_pair) - len(per_pair) // len(topology.terminals)
        lower = _rounded(self.lower, best.load)
        fewest = None if self.hops_line is None else _rounded(self.hops_line.least_hops(best.load), best.hops)
        proved = lower == best.load and fewest in (None, best.hops)
        return Design(
            topology=topology.spec,
            routing="design",
            provenance=provenance(
                {"topology": topology.spec, "routing": "design"},
                seconds,
                "exact" if lower == best.load else "bounded",
                sources=topology.sources,
            ),
            subject=best.routing,
            constraints=constraints,
            inexact="" if proved else self.inexact,
            channel_load=bounded(lower, best.load if lower == best.load else rounded_up(best.load)),
            capacity=1 / topology.capacity_load if topology.capacity_load else None,
            hops=best.hops,
            hops_bound=fewest,
            paths_per_pair=Fraction(int(per_pair.sum()), others),
            most_paths=int(per_pair.max()),
            paths=packed(best.routing.listed),
            certificate=certificate_of(self.programme, best.worst, self.load_line, self.hops_line),
        )


def _candidate(routing: Listed) -> _Candidate:
    worst = worst_case(routing, certificate=True)
    return _Candidate(routing, worst, known(worst.channel_load), routing.pair_loads().hops())


def _rounded(bound: Fraction, attained: Fraction) -> Fraction:
    """Return a lower bound as a float, rounded down, unless it is attained."""
    return bound if bound == attained else rounded_down(bound)


def _solved(programme: Programme, cost: Array, tolerance: float | None, crossover: bool = False) -> Optimum:
    optimum = solve(programme.matrix, programme.lower, programme.upper, cost, tolerance=tolerance, crossover=crossover)
    if not optimum.feasible:
        raise SolverError("the solver found no routing at all; report this network")
    return optimum
