"""New forwarding tables for a fabric: the best of the engines that fit it, and never worse than the tables in use."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from obliv._util.cost import forecast
from obliv._util.progress import Progress, rising
from obliv._util.rationals import integer, real
from obliv._util.rng import Rng, drawn_seed
from obliv._util.text import did_you_mean
from obliv.analysis.worst_case.exact import worst_load
from obliv.errors import InputError, RoutingError, SpecError, TooLargeError
from obliv.fabric.arguments import typed
from obliv.fabric.model import Fabric
from obliv.fabric.reroute.bound import single_path_bound
from obliv.fabric.reroute.candidates import Candidate, LanesError, candidate, plans_for
from obliv.fabric.reroute.datelines.candidate import dateline_candidate
from obliv.fabric.reroute.engines import DATELINE, ENGINES, GRID_ENGINES
from obliv.fabric.reroute.layers.candidate import layered_candidate
from obliv.fabric.reroute.lids import lmc_with
from obliv.fabric.reroute.parts import pairs_apart
from obliv.fabric.reroute.request import Request
from obliv.fabric.reroute.spread.candidate import spread_candidate
from obliv.fabric.reroute.standing import standing_of
from obliv.fabric.routes.classes import Offset
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.shape.tree import recognise
from obliv.fabric.tables import Tables
from obliv.fabric.topology import network
from obliv.results.base import provenance
from obliv.results.fabric.route import Attempt, FabricRoute, Standing

__all__ = ["MOST_LANES", "route"]

MOST_LANES = 15  #: Lanes for data.


@typed
def route(
    fabric: Fabric,
    engine: str = "auto",
    tables: Tables | None = None,
    *,
    offset: Offset = "0",
    most_lmc: int = 7,
    lanes: int = 1,
    lane_tables: bool = False,
    effort: float = 1.0,
    force: bool = False,
    ignore_credit_loops: bool = False,
    rng: Rng = None,
    progress: Progress | None = None,
) -> FabricRoute:
    """Compute new forwarding tables for a fabric.

    Parameters
    ----------
    fabric : Fabric
        LIDs are kept where every port has as many, and no fewer than the engine needs nor more than are allowed; else
        they are assigned anew.
    engine : str
        ``osrm3-d``, ``osrm3``, ``osrm2``, ``osrm2-c``, ``dmodk``: on fat trees, also where cables or switches are
        missing; ``updown``: on any fabric; ``layered``: on any fabric, by a local search on the exact worst load;
        ``dor-dateline``: dimension order on tori, whose packets change the lane on the way; ``minimal``, ``two-turn``:
        several routes for each pair on tori, meshes and HyperX, one for each LID, which sources use evenly; ``auto``:
        the best of those that fit but the last two, the one with fewer LIDs of equals, then with fewer lanes. It tries
        ``layered`` unless another engine is known to be optimal on one lane.
    tables : Tables, optional
        The ones in use. They are returned, with the engine ``kept``, unless the new ones are better: without credit
        loops where those in use have some, else more pairs reach each other, else the exact worst load is smaller, else
        they take fewer LIDs.
    offset : str, int or sequence
        Which of a destination's LIDs sources use with the old tables.
    most_lmc : int
        Engines that need a larger LMC are not tried.
    lanes : int
        The virtual lanes that ``layered`` and the engines for grids may use, at most 15. With more than one, sources
        have to use the service levels of the answer's `levels`: see :func:`write_policy`, and for the engines for grids
        switches the `lane_tables`: see :func:`write_sl2vl`.
    lane_tables : bool
        Whether switches can take SL-to-VL tables, which OpenSM loads by a plug-in: ``auto`` then selects
        ``dor-dateline`` where it is best. Otherwise a note says what it would attain.
    effort : float
        Multiplies the number of moves that ``layered`` tries, and the rounds in which ``two-turn`` looks for columns.
    force : bool
        Take the new tables even if they are not better, or leave out pairs that cables connect.
    ignore_credit_loops : bool
        Compare as if the tables in use had no credit loops, for fabrics whose virtual lanes break them.
    rng : numpy.random.Generator, int or None
        For the moves of ``layered`` and ``two-turn``; the same seed gives the same tables.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    FabricRoute
        Routes of new tables have neither loops nor credit loops, on the lanes that they use; that is checked.
        Where the fabric is in parts, a note says so, and pairs in different parts count as missing.

    Raises
    ------
    RoutingError
        If the engine does not fit the fabric, or leaves out pairs that cables connect.
    SpecError
        If the engine is unknown.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate.from_topology import from_topology, tables_of
    >>> tree = obliv.topology("fattree:8,3")
    >>> fabric = from_topology(tree)
    >>> route(fabric, tables=tables_of(obliv.routing("dmodk", tree), fabric))
    fabric route: osrm3-d on FT(8,3)
      in use   worst load 7, all pairs, no credit loop
      osrm3-d  worst load 4, all pairs, no credit loop  <- written
      LMC      0
      bound    at least 4 for single paths (Yuan et al., Theorem 4), so these are optimal
    """
    began = time.perf_counter()
    most_lmc, lanes, effort = integer(most_lmc, "most_lmc"), integer(lanes, "lanes"), real(effort, "effort")
    _require(fabric, engine, lanes, effort)
    shape = recognise(fabric)
    shape = shape if shape is not None and shape.levels > 1 else None
    optimum, _ = single_path_bound(fabric, shape) or (0, "")
    request = Request(
        fabric, engine, shape, most_lmc, lanes, lane_tables, effort, drawn_seed(rng), optimum, rising(progress)
    )
    in_use = None if tables is None else _kept(request, tables, offset)
    best, tried = _best(request, tables)
    apart, parts = pairs_apart(fabric)
    notes = [f"the fabric is in {parts} parts: {apart} pairs are not connected"] if apart else []
    if in_use is not None:
        best, remarks = _better(best, in_use, force, ignore_credit_loops)
        notes += remarks
    if best is not in_use:
        notes += _require_pairs(best, apart, force)
    notes += [] if lane_tables else _left_out(best, tried)
    several = best.offset == "spread"  # routes of a pair, so bounds for single paths do not hold
    bound = None if apart or several else single_path_bound(fabric, shape, best.standing.lmc)
    topology, old_spec = f"fabric:{fabric.name}", "" if tables is None else f"lft:{tables.name}"
    sources = fabric.sources + (() if tables is None else tables.sources)
    specs = {"topology": topology, "routing": old_spec or None}
    return FabricRoute(
        topology=topology,
        routing=old_spec,
        provenance=provenance(specs, time.perf_counter() - began, sources=sources),
        engine=best.engine,
        offset=best.offset,
        shape="" if shape is None else shape.title,
        before=None if in_use is None else in_use.standing,
        after=best.standing,
        tried=tuple(tried),
        lower_bound=None if bound is None else Fraction(bound[0]),
        bound_source="" if bound is None else bound[1],
        notes=(*best.notes, *notes),
        tables=best.tables,
        levels=best.levels,
        lane_tables=best.lane_tables,
        fabric=best.fabric,
    )


def _require(fabric: Fabric, engine: str, lanes: int, effort: float) -> None:
    """Raise unless there is such an engine, numbers are in range, and there are hosts to route for."""
    if engine != "auto" and engine not in ENGINES:
        raise SpecError(f"engine {engine[:40]!r} is unknown: {did_you_mean(engine, ['auto', *ENGINES])}")
    if not 1 <= lanes <= MOST_LANES:
        raise InputError(f"{lanes} lanes are out of range (1 to {MOST_LANES})")
    if not 0 < effort <= 1000:
        raise InputError(f"effort {effort} is out of range (above 0, at most 1000)")
    if not len(fabric.endpoints):
        raise RoutingError(f"{fabric.name}: the fabric has no connected hosts, so there is nothing to route")


def _kept(request: Request, tables: Tables, offset: Offset) -> Candidate:
    """Return the tables in use."""
    request.progress("the worst case of the tables in use", 0.0)
    routing = fabric_routing(network(request.fabric), tables, offset, missing="skip")
    return Candidate("kept", str(offset), tables, request.fabric, standing_of(routing))


def _best(request: Request, tables: Tables | None) -> tuple[Candidate, list[Attempt]]:
    """Return the best tables of the engines that fit, and all attempts; searches may start from the tables in use."""
    tried: list[Attempt] = []
    candidates = _on_grid(request, tried) if request.engine in GRID_ENGINES else _planned(request, tried)
    best = min(candidates, key=_rank, default=None)
    if request.engine == "auto" and not _optimal(request, best):
        candidates += _by_dimension(request, tried)
        best = min(candidates, key=_rank, default=None)
    if best is None or (request.engine == "auto" and not _optimal(request, best)):
        starts = [] if tables is None else [tables]
        starts += [candidate.tables for candidate in candidates if candidate.fabric is request.fabric]
        starts += _of_tree(request) if request.engine == "layered" else ()
        searched = layered_candidate(request, starts)
        tried.append(Attempt("layered", searched.standing))
        best = min([*candidates, searched], key=_rank)
    return best, tried


def _optimal(request: Request, best: Candidate | None) -> bool:
    """Return whether no tables are better, as far as is known."""
    return best is not None and best.standing.lanes == 1 and request.attained_by(best.standing)


def _by_dimension(request: Request, tried: list[Attempt]) -> list[Candidate]:
    """Return the tables of dimension order for ``auto``, if any; `tried` takes those too that need SL-to-VL tables."""
    if request.shape is not None or request.grid is None:
        return []
    try:
        found = dateline_candidate(request)
    except LanesError:
        tried.append(Attempt(DATELINE, None, "needs 2 virtual lanes, and OpenSM's plug-in for them"))
        return []
    except (RoutingError, TooLargeError) as error:
        tried.append(Attempt(DATELINE, None, str(error)))
        return []
    if found is None:
        tried.append(Attempt(DATELINE, None, "no detours fit"))
        return []
    tried.append(Attempt(DATELINE, found.standing))
    return [found] if request.lane_tables or found.lane_tables is None else []


def _rank(candidate: Candidate) -> tuple[bool, int, Fraction, int, int]:
    return candidate.standing.rank


def _on_grid(request: Request, tried: list[Attempt]) -> list[Candidate]:
    """Return the tables of an engine for grids, if any; `tried` takes the attempt."""
    found = dateline_candidate(request) if request.engine == DATELINE else spread_candidate(request)
    if found is None:
        tried.append(Attempt(request.engine, None, "no detours fit"))
        return []
    tried.append(Attempt(request.engine, found.standing))
    return [found]


def _planned(request: Request, tried: list[Attempt]) -> list[Candidate]:
    """Return the tables of the engines with a plan that fit and may be the best; `tried` takes all attempts."""
    fabric, most_lmc = request.fabric, request.most_lmc
    candidates: list[Candidate] = []
    plans = list(plans_for(request.engine, request.shape, most_lmc, tried))
    step = forecast(request.progress, "tables by each engine")
    for at, plan in enumerate(plans):
        best = min(candidates, key=_rank, default=None)
        attained = best is not None and request.attained_by(best.standing)
        if best is not None and attained and lmc_with(fabric, plan.lmc, most_lmc) >= best.standing.lmc:
            continue
        step(f"tables by {plan.engine}", at / (len(plans) + 1))
        try:
            candidates.append(candidate(fabric, plan, most_lmc))
        except InputError as error:
            if request.engine != "auto":
                raise
            tried.append(Attempt(plan.engine, None, str(error)))
        else:
            tried.append(Attempt(plan.engine, candidates[-1].standing))
    return candidates


def _of_tree(request: Request) -> Iterator[Tables]:
    """Yield the tables of the engines for fat trees that need no other LIDs, to start a search from."""
    if request.shape is None:
        return
    for plan in plans_for("auto", request.shape, 0, []):
        if plan.engine != "updown":
            tables = candidate(request.fabric, plan, 0)
            if tables.fabric is request.fabric:
                yield tables.tables


def _better(new: Candidate, old: Candidate, force: bool, ignore_credit_loops: bool) -> tuple[Candidate, list[str]]:
    """Return the new tables, or those in use unless the new ones are better, and notes about the choice."""
    notes = []
    counted = replace(old.standing, deadlock=old.standing.deadlock and not ignore_credit_loops)
    if counted.deadlock and counted.load < new.standing.load:
        notes.append(
            f"the tables in use have a worst load of {counted.load}, but credit loops; {new.engine} has "
            f"{new.standing.load} and none: ignore credit loops only where virtual lanes break them"
        )
    if force or counted.rank > new.standing.rank:
        return new, notes
    gained, kept = _words(new.standing), _words(old.standing)
    notes.append(f"{new.engine} would give {gained}, the tables in use have {kept}: they are kept")
    if old.standing.deadlock:
        notes.append("the tables in use have credit loops, by which packets can stop for good on one virtual lane")
    return old, notes


def _require_pairs(new: Candidate, apart: int, force: bool) -> list[str]:
    """Raise RoutingError if new tables leave out pairs that cables connect; return notes about offsets."""
    lost = new.standing.missing - apart
    if lost > 0 and not force:
        raise RoutingError(f"{new.engine} leaves {lost} connected pairs unserved: use another engine, or auto")
    if new.offset == "0":
        return []
    plain = worst_load(fabric_routing(network(new.fabric), new.tables, "0", missing="skip").fabric_loads)
    return [f"sources must use these offsets: with offset 0 everywhere the worst load is {plain}"]


def _left_out(best: Candidate, tried: list[Attempt]) -> list[str]:
    """Return a note where switches would need SL-to-VL tables for better ones."""
    for attempt in tried:
        found = attempt.standing
        if attempt.engine == DATELINE and found is not None and _serves(found) < _serves(best.standing):
            return [
                f"{DATELINE} would have {_words(found)}, but needs SL-to-VL tables, which OpenSM loads by a plug-in: "
                "name files for it with  --sl2vl FILE --psl FILE"
            ]
    return []


def _serves(standing: Standing) -> tuple[int, Fraction]:
    return standing.missing, standing.load


def _words(standing: Standing) -> str:
    pairs = f" and {standing.missing} pairs that do not reach each other" if standing.missing else ""
    lids = f" with an LMC of {standing.lmc}" if standing.lmc else ""
    return f"a worst load of {standing.load}{pairs}{lids}"
