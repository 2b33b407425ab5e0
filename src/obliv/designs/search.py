"""The search for the routing with the least worst case, the certificate of a design, and designed routings in files."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from obliv._util.arrays import Array
from obliv._util.files import pack, read_json_source, unpack_array
from obliv._util.progress import Progress, within
from obliv.designs.average import average_routings, exact_flows, rounded_flows, routing_of
from obliv.designs.bounds.lower import BoundLine, exact_line, rounded_line
from obliv.designs.design import Design
from obliv.designs.exact import InexactError, Vertex, vertex_of
from obliv.designs.fewest_hops import ITERATIONS, fewest_hops
from obliv.designs.programme import Programme, load_unit
from obliv.designs.solver import FEWER_MAGNITUDES, NO_PATHS, Optimum, SlowError, SolverError
from obliv.errors import FileError, InputError, OblivError, RoutingError
from obliv.questions.worst_case import WorstCase, orbits, worst_case
from obliv.results.base import Provenance, provenance
from obliv.results.numbers import bounds_of, float_bounds, known, rounded_down
from obliv.routings.listed import Listed, PathList
from obliv.specs.registry import register_routing
from obliv.topologies.base import Topology

# The certificate of a design: lengths that prove the lower bounds, and the worst-case claim of the routing


def certificate_of(programme: Programme, worst: WorstCase, load: BoundLine, hops: BoundLine | None) -> dict[str, Any]:
    """Return the certificate: of every line the lengths on some channels, carried to the others by node maps."""
    topology = programme.topology
    classes = orbits(topology, [maps.nodes for maps in programme.symmetry.generators])
    focus = np.unique(classes.focus)
    claim = dict(worst.certificate or {})
    network = claim.pop("network", None)
    number = {channel: k for k, channel in enumerate(focus.tolist())}
    return {
        **({} if network is None else {"network": network}),
        "generators": pack(np.array([list(g) for g in classes.generators]).reshape(-1, topology.nodes)),
        "focus": focus.tolist(),
        "channels": [[number[int(classes.focus[c])], classes.word(c)] for c in range(topology.channels)],
        "load_line": _line(programme, load, focus.tolist()),
        "hops_line": None if hops is None else _line(programme, hops, focus.tolist()),
        "worst": replace(worst, provenance=Provenance(), certificate=claim).to_dict(),
    }


def _line(programme: Programme, line: BoundLine, focus: list[int]) -> dict[str, Any]:
    """Return the lengths of each focus channel as rows (source, destination, length)."""
    lengths = np.append(line.length, 0)
    rows = []
    for channel in focus:
        matrix = lengths[programme.on_channel(channel)]
        source, destination = np.nonzero(matrix)
        rows.append(pack(np.stack([source, destination, matrix[source, destination]], axis=1)))
    return {"price": line.price, "lengths": rows}


# Designed routings in files: ``design:PATH`` reads the paths of a saved design


@register_routing("design", example="design:best.json.gz")
def saved_design(topology: Topology, path: Path) -> Listed:
    """Paths that ``obliv design --output`` saved.

    Parameters
    ----------
    topology : Topology
        The network that it was designed for; its paths are checked against it.
    path : Path

    Raises
    ------
    FileError
        If the file holds no design, or one for another network.
    """
    content, digest = read_json_source(path)
    if content.get("kind") != "design":
        raise FileError("contains no design: save a result of design in it", path)
    try:
        listed = unpacked(content.get("paths"))
        routing = Listed(topology, f"design:{path}", listed)
    except RoutingError as error:
        raise FileError(
            f"is a design for {content.get('topology')!r:.80}, which does not fit {topology.spec}: {error}; nodes and "
            "channels must be numbered alike, as in a file from  obliv export",
            path,
        ) from None
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise FileError(f"its paths cannot be read: {error}", path) from None
    routing.sources = ((str(path), digest),)
    return routing


def described(
    topology: Topology, routing: Listed, constraints: tuple[str, ...], seconds: float, *, exact: bool
) -> dict[str, Any]:
    """Return what the results of all designs say of a routing: its network, its paths and its provenance."""
    names = {"topology": topology.spec, "routing": "design"}
    per_pair = np.diff(routing.listed.pair)
    others = len(per_pair) - len(per_pair) // len(topology.terminals)
    return {
        **names,
        "provenance": provenance(names, seconds, "exact" if exact else "bounded", sources=topology.sources),
        "subject": routing,
        "constraints": constraints,
        "capacity": topology.capacity,
        "paths_per_pair": Fraction(int(per_pair.sum()), others),
        "most_paths": int(per_pair.max()),
        "paths": packed(routing.listed),
    }


def packed(listed: PathList) -> dict[str, Any]:
    """Return paths as JSON: of every pair the number of paths, of every path the hops, channels and amount."""
    return {
        "per_pair": pack(np.diff(listed.pair)),
        "hops": pack(np.diff(listed.start)),
        "channels": pack(listed.channel),
        "amounts": pack(listed.amount),
        "whole": listed.whole,
    }


def routing_of_paths(topology: Topology, content: Any) -> Listed:
    """Return the routing of the paths of a result; InputError where they cannot be read."""
    try:
        return Listed(topology, "design", unpacked(content))
    except OblivError:
        raise
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise InputError(f"the paths of the design cannot be read: {error}") from None


def unpacked(content: Any) -> PathList:
    """Return the paths that :func:`packed` wrote; ValueError, KeyError or TypeError for anything else."""
    if not isinstance(content, dict):
        raise ValueError("no paths")
    per_pair, hops, channel, amount = (
        unpack_array(content[key]) for key in ("per_pair", "hops", "channels", "amounts")
    )
    whole = content["whole"]
    if type(whole) is not int:
        raise ValueError("whole is not a whole number")
    if any(part.ndim != 1 for part in (per_pair, hops, channel, amount)):
        raise ValueError("a table where a list is expected")
    if (per_pair < 0).any() or (hops < 0).any() or max(per_pair.sum(), hops.sum()) > 2**40:
        raise ValueError("a count is out of range")
    return PathList.of(per_pair, hops, channel, amount, whole)


_CROSSOVER_ROWS = 5000  # above which the simplex method for the load starts at a first-order solution
_PRICE = 16  # of the load in hops, for a vertex of both
_SLACK = 1e-7  # relative, of limits where numbers are rounded


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A routing with its worst case and mean hops, all exact."""

    routing: Listed
    worst: WorstCase
    load: Fraction
    hops: Fraction


@dataclass(eq=False)
class WorstCaseSearch:
    """The best routing and the best lower bounds so far."""

    programme: Programme
    limit: Fraction | None
    gap: float
    vertices: bool
    best: _Candidate | None = None
    load_line: BoundLine | None = None
    hops_line: BoundLine | None = None
    attained: Fraction | None = None  # least worst case, by a vertex whose numbers are too large for a list
    flows: Array | None = None  # columns of the solution with the least worst case
    replaced: bool = False  # by a routing with few paths
    inexact: str = ""  # why a vertex gave no rational numbers

    @property
    def lower(self) -> Fraction:
        """The proved lower bound of the worst case."""
        return self.load_line.least_load(self.limit or Fraction(0)) if self.load_line else Fraction(0)

    def minimize_both(self, progress: Progress) -> bool:
        """Find a vertex with the least worst case and, at that, the fewest hops; return whether both are proved.

        Hops plus a price of the load have hardly more than one optimum, so the crossover to its basis is fast. If the
        price is high enough, the load is least there too, and few steps lead to a basis that proves it.
        """
        programme = self.programme
        if not self.vertices or self.limit is not None or programme.matrix.shape[0] <= _CROSSOVER_ROWS:
            return False
        progress(f"linear program of {programme.matrix.shape[0]:,} rows", 0.1)
        cost = programme.hop_cost + _PRICE * programme.cost
        optimum = programme.solved(cost, None, crossover=True)
        hops = self._vertex(programme, cost, optimum)
        if hops is None:
            return False
        least = programme.solved(programme.cost, None, start=optimum.basis)
        load = self._vertex(programme, programme.cost, least)
        self.flows, self.best = optimum.columns, next(self._candidates(optimum, hops, within(progress, 0.0, 0.0)), None)
        if load is None or self.best is None:
            return False
        worst, price = self.best.load, Fraction(1, programme.pairs)
        lines = [*self._lines(least, load, None), *([] if self.load_line is None else [self.load_line])]
        self.load_line = max(lines, key=lambda line: line.least_load(Fraction(0)))
        self.hops_line = max(self._lines(optimum, hops, price), key=lambda line: line.least_hops(worst))
        if hops.columns.fraction(-1) * load_unit(programme.topology) == self.lower:
            self.vertices = False  # this one is optimal: if it is not proved, its numbers are too large
        return worst == self.lower and self.best.hops == self.hops_line.least_hops(worst)

    def minimize_load(self, progress: Progress) -> None:
        """Close the gap between the worst case of a routing and the lower bound."""
        programme = self.programme
        limit = None if self.limit is None else (programme.hop_cost, self.limit, -_SLACK)
        for optimum, vertex in self._solutions(programme.cost, limit, progress):
            for line in self._lines(optimum, vertex, None):
                if self.load_line is None or line.least_load(self.limit or Fraction(0)) > self.lower:
                    self.load_line = line
            for candidate in self._candidates(optimum, vertex, within(progress, 0.0, 0.0)):
                if self.limit is not None and candidate.hops > self.limit:
                    continue
                if self.best is None or candidate.load < self.best.load:
                    self.best, self.flows = candidate, optimum.columns
                if candidate.load == self.lower:
                    break
            if self.best is not None:
                progress(f"load between {float(self.lower):.6g} and {float(self.best.load):.6g}", 0.9)
            if self.best is not None and self.best.load <= self.lower * (1 + self._gap(optimum)):
                return
            self._note(optimum)
            if vertex is not None and vertex.columns.fraction(-1) * load_unit(programme.topology) == self.lower:
                self.attained = self.lower

    def minimize_hops(self, progress: Progress) -> None:
        """Replace the routing by one of the same worst case, or up to the gap the same, with the fewest hops."""
        if self.best is None:
            return
        most, programme = self.attained or self.best.load, self.programme
        unit = load_unit(programme.topology)
        limit = (programme.cost, most / unit, _SLACK)
        try:
            for optimum, vertex in self._solutions(programme.hop_cost, limit, progress, ITERATIONS):
                if self._fewer_hops(optimum, vertex, most, most * (1 + self._gap(optimum)), progress):
                    return
                self._note(optimum)
        except SlowError:
            if self.flows is None:
                return
            allowed = max(most, self.lower * (1 + Fraction(self.gap)))
            limited = (most + allowed) / 2
            best = float(self.best.load / unit)
            for optimum in fewest_hops(programme, self.flows, best, float(limited / unit), self.gap, progress):
                if self._fewer_hops(optimum, None, limited, allowed, progress):
                    return

    def _fewer_hops(
        self, optimum: Optimum, vertex: Vertex | None, most: Fraction, allowed: Fraction, progress: Progress
    ) -> bool:
        """Take what a solution proves about hops, and its routing if that is better; return whether the gap is closed.

        The bound holds for routings of worst case `most`, and the routing's is at most the one that is allowed.
        """
        if self.best is None:
            return False
        for line in self._lines(optimum, vertex, Fraction(1, self.programme.pairs)):
            if self.hops_line is None or line.least_hops(most) > self.hops_line.least_hops(most):
                self.hops_line = line
        fewest = self.hops_line.least_hops(most) if self.hops_line else Fraction(0)
        for candidate in self._candidates(optimum, vertex, within(progress, 0.0, 0.0)):
            if candidate.load <= allowed and candidate.hops < self.best.hops:
                self.best = candidate
            if candidate.load <= most and candidate.hops == fewest:
                break
        progress(f"hops between {float(fewest):.6g} and {float(self.best.hops):.6g}", 0.9)
        return self.best.hops <= fewest * (1 + self._gap(optimum))

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
            raise SolverError(NO_PATHS)
        return self.best.routing

    def replace(self, routings: Iterator[Listed]) -> None:
        """Replace the routing by the best of others, which obey more limits."""
        for routing in routings:
            candidate = _candidate(routing)
            best = self.best if self.replaced else None
            if best is None or (candidate.load, candidate.hops) < (best.load, best.hops):
                self.best, self.replaced, self.inexact = candidate, True, ""

    def _solutions(
        self,
        cost: Array,
        limit: tuple[Array, Fraction, float] | None,
        progress: Progress,
        iterations: int | None = None,
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
            optimum = programme.solved(cost, None, crossover=rows > _CROSSOVER_ROWS and cost[-1] > 0)
            yield optimum, self._vertex(programme, cost, optimum)
        digits = math.ceil(-math.log10(self.gap)) + 1  # so that the first solution is often accurate enough
        for k in range(digits, 9):
            progress(f"linear program, accuracy 1e-{k}", 0.1 + 0.8 * (k - digits) / (9 - digits))
            yield loosened.solved(cost, 10.0**-k, iterations=iterations), None

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

    def _lines(self, optimum: Optimum, vertex: Vertex | None, price: Fraction | None) -> list[BoundLine]:
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
            raise SolverError(NO_PATHS)
        if not self.lower:
            raise SolverError(f"the multipliers of the linear program prove nothing; {FEWER_MAGNITUDES}")
        best = self.best
        if self.hops_line and self.replaced:  # steep where the load is larger: shortest paths may prove more hops
            flat = rounded_line(self.programme, np.zeros(self.programme.matrix.shape[0]), 1.0)
            self.hops_line = max(flat, self.hops_line, key=lambda line: line.least_hops(best.load))
        exact, load = self.lower == best.load, float_bounds(self.lower, best.load)
        most = bounds_of(load)[1]
        fewest = None if self.hops_line is None else _rounded(self.hops_line.least_hops(most), best.hops)
        proved = exact and fewest in (None, best.hops)
        return Design(
            **described(self.programme.topology, best.routing, constraints, seconds, exact=exact),
            inexact="" if proved else self.inexact,
            channel_load=load,
            rated=not self.programme.topology.unit_rates,
            hops=best.hops,
            hops_bound=fewest,
            certificate=certificate_of(self.programme, best.worst, self.load_line, self.hops_line),
        )


def _candidate(routing: Listed) -> _Candidate:
    worst = worst_case(routing, certificate=True)
    return _Candidate(routing, worst, known(worst.channel_load), routing.pair_loads().hops())


def _rounded(bound: Fraction, attained: Fraction) -> Fraction:
    """Return a lower bound as a float, rounded down, unless it is attained."""
    return bound if bound == attained else rounded_down(bound)
