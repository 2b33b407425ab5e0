"""New forwarding tables for a fabric: the best of the engines that fit it, or the tables in use if none are better."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil

from obliv._util.progress import Progress, rising
from obliv._util.rationals import integer, real
from obliv._util.rng import Rng, drawn_seed
from obliv._util.text import did_you_mean, plural
from obliv.errors import InputError, RoutingError, SpecError
from obliv.fabric.model import Fabric, Tables, typed
from obliv.fabric.reroute.engines import AUTO, ENGINES, Candidate, LimitError, engine_of
from obliv.fabric.reroute.quality import BY, Request, limits_for, refused, single_path_bound, standing_of
from obliv.fabric.results.route import FIGURES, IN_USE, Attempt, FabricRoute, Standing
from obliv.fabric.routes.trace import Offset
from obliv.fabric.shape import recognise
from obliv.questions.worst_case import worst_load
from obliv.results.base import provenance
from obliv.results.numbers import brief

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
    by: str | None = None,
    allow: Mapping[str, object] | None = None,
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
        the best of those that fit but the last two. It tries ``layered`` unless tables are known to have the smallest
        worst load on one lane, or another figure counts first on a tree.
    tables : Tables, optional
        The ones in use. They are returned, with the engine ``kept``, unless the new ones are better.
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
    by : {"worst", "uniform", "shifts", "balanced"}, optional
        What makes tables better. First come served pairs, then freedom from credit loops, then the worst case, the
        uniform load, the mean of shifts, idle channels, LIDs, lanes; ``uniform`` (the uniform load, then the mean of
        shifts) and ``shifts`` (their mean, then the worst one) come before the worst case. ``balanced``, the default
        with `tables`: in the order of ``worst``, but only tables of which no figure of :attr:`Standing.figures` is
        larger than in use; if the tables in use lose pairs that cables connect, or have credit loops, their other
        figures are no limits.
    allow : mapping, optional
        Figures that may grow with ``balanced``, and up to what: ``{"uniform": 2}``. Names are ``worst``, ``uniform``,
        ``worst-shift`` and ``mean-shift`` (``shifts`` for both), ``random``, ``idle``, ``lids``.
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
    >>> from obliv.fabric.generate import from_topology, tables_of
    >>> tree = obliv.topology("fattree:8,3")
    >>> fabric = from_topology(tree)
    >>> route(fabric, tables=tables_of(obliv.routing("dmodk", tree), fabric), by="worst")
    fabric route: osrm3-d on FT(8,3)
      tables   worst  uniform  shifts  mean shift  random       idle  LIDs
      in use   7      127/128  1       1           3.69 ± 0.03  0     208
      osrm3-d  4      127/128  2*      217/127*    3.68 ± 0.03  0     208   <- written
      dmodk    7      127/128  1       1           3.69 ± 0.03  0     208
      updown   7      127/128  1       1           3.69 ± 0.03  0     208
      *        larger than in use
      bound    worst load at least 4 for single paths (Yuan et al., Theorem 4): none have a smaller one
    """
    began = time.perf_counter()
    most_lmc, lanes, effort = integer(most_lmc, "most_lmc"), integer(lanes, "lanes"), real(effort, "effort")
    _require(fabric, engine, lanes, effort)
    limits = _limits(by, allow or {}, tables)
    shape = recognise(fabric)
    shape = shape if shape is not None and shape.levels > 1 else None
    optimum, _ = single_path_bound(fabric, shape) or (0, "")
    by = by or ("worst" if tables is None else "balanced")
    starts = [] if tables is None else [tables]
    seed, progress = drawn_seed(rng), rising(progress)
    request = Request(fabric, engine, shape, most_lmc, lanes, lane_tables, effort, seed, optimum, by, progress, starts)
    in_use = None if tables is None else _kept(request, tables, offset)
    candidates, tried, unusable = _candidates(request)
    best = min(candidates, key=lambda new: request.key(new.standing))
    apart, parts = request.apart
    notes = [f"the fabric is in {parts} parts: {apart} pairs are not connected"] if apart else []
    if in_use is not None:
        best, remarks = _better(request, candidates, in_use, limits, force, ignore_credit_loops)
        notes += remarks
    if best is not in_use:
        notes += _require_pairs(request, best, apart, force)
    notes += _left_out(best, unusable)
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
        by=by,
        shape="" if request.tiers is None else request.tiers.title,
        candidates=tuple(_rows(in_use, tried, best)),
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
    routing = request.routing(request.fabric, tables, offset)
    return Candidate("kept", str(offset), tables, request.fabric, standing_of(routing))


def _candidates(request: Request) -> tuple[list[Candidate], list[Attempt], list[Candidate]]:
    """Return the tables of the engines that fit, all attempts, and tables that ``auto`` must not choose."""
    # Where an engine that was asked for finds no routes, `layered` takes its place.
    auto = request.engine == "auto"
    names = AUTO if auto else (request.engine, "layered")
    candidates: list[Candidate] = []
    tried: list[Attempt] = []
    unusable: list[Candidate] = []
    failure: InputError | None = None
    for at, name in enumerate(names):
        engine = engine_of(name)
        if not auto and candidates:
            break
        if auto and (needless := engine.needless(request, candidates)) is not None:
            tried += [Attempt(name, None, needless)] if needless else []
            continue
        if misfit := engine.misfit(request):
            if not auto:
                raise RoutingError(misfit)
            continue
        request.progress(f"tables by {name}", at / (2 * len(names)))
        try:
            found = list(engine.candidates(request))
        except InputError as error:
            if not auto:
                raise
            failure = error
            tried.append(Attempt(name, None, error.needs if isinstance(error, LimitError) else str(error)))
            continue
        tried += [Attempt(name, new.standing) for new in found] or [Attempt(name, None, "no detours fit")]
        for new in found:
            (unusable if auto and new.lane_tables is not None and not request.lane_tables else candidates).append(new)
        request.starts.extend(new.tables for new in found if new in candidates and new.fabric is request.fabric)
    if failure is not None and not candidates:
        raise failure
    return candidates, tried, unusable


def _limits(by: str | None, allow: Mapping[str, object], tables: Tables | None) -> dict[str, Fraction]:
    """Return the figures that may grow, and up to what."""
    if by is not None and by not in BY:
        raise SpecError.naming("{by}={0!r}: {1}", by[:40], did_you_mean(by, BY))
    if by == "balanced" and tables is None:
        raise InputError.naming(
            "{by}='balanced' compares with the tables in use: give them, or choose worst, uniform or shifts"
        )
    if allow and (tables is None or by not in (None, "balanced")):
        raise InputError.naming(
            "{allow} is for {by}='balanced', with tables in use: otherwise nothing limits new tables"
        )
    return limits_for(allow)


def _rows(in_use: Candidate | None, tried: Iterable[Attempt], best: Candidate) -> Iterator[Attempt]:
    """Yield the tables in use and those that were tried, with what is chosen."""
    if in_use is not None:
        yield Attempt(IN_USE, in_use.standing, chosen=best is in_use)
    for attempt in tried:
        yield replace(attempt, chosen=attempt.engine == best.engine and attempt.standing == best.standing)


def _better(
    request: Request,
    candidates: list[Candidate],
    old: Candidate,
    limits: Mapping[str, Fraction],
    force: bool,
    ignore_credit_loops: bool,
) -> tuple[Candidate, list[str]]:
    """Return the best new tables, or those in use unless new ones are better, and notes about the choice."""
    key, used = request.key, old.standing
    counted = replace(used, credit_loops=used.credit_loops and not ignore_credit_loops)
    best = min(candidates, key=lambda new: key(new.standing))
    notes = []
    if counted.credit_loops and counted.worst < best.standing.worst:
        notes.append(
            f"the tables in use have a worst load of {used.worst}, but credit loops; {best.engine} has "
            f"{best.standing.worst} and none: ignore credit loops only where virtual lanes break them"
        )
    if force:
        return best, notes
    lost = request.lost(counted)
    if request.by == "balanced" and (lost or counted.credit_loops):
        faults = [f"{plural(lost, 'pair')} missing" if lost else "", "credit loops" if counted.credit_loops else ""]
        notes.append(f"the tables in use have {' and '.join(filter(None, faults))}: their other figures are no limits")
    elif request.by == "balanced":
        whole = [new for new in candidates if not request.lost(new.standing)]
        allowed = [new for new in whole if not refused(new.standing, counted, limits)]
        best = min(allowed, key=lambda new: key(new.standing), default=old)
        notes += _gains(whole, counted, limits) if best is old or key(best.standing) >= key(counted) else []
    if best is not old and key(best.standing) < key(counted):
        return best, notes
    notes.append("no new tables are better than those in use: they are kept")
    if used.credit_loops:
        notes.append("the tables in use have credit loops, by which packets can stop for good on one virtual lane")
    return old, notes


def _gains(candidates: Iterable[Candidate], old: Standing, limits: Mapping[str, Fraction]) -> Iterator[str]:
    """Yield what new tables would gain, and which figures would have to be allowed to grow."""
    for new in candidates:
        figures, before = new.standing.figures, old.figures
        less = [
            f"{name} {brief(figures[name])} instead of {brief(before[name])}"
            for name in FIGURES
            if name not in ("random", "lids") and figures[name] < before[name]
        ]
        more = [  # estimates with two decimals, rounded up: limits that allow them
            f"{name}={f'{ceil(100 * value) / 100:.2f}' if isinstance(value, float) else value}"
            for name, value in refused(new.standing, old, limits).items()
        ]
        if less and more:
            yield f"{new.engine}: {', '.join(less)}, if you allow {', '.join(more)}"


def _require_pairs(request: Request, new: Candidate, apart: int, force: bool) -> list[str]:
    """Raise RoutingError if new tables leave out pairs that cables connect; return notes about offsets."""
    lost = new.standing.missing - apart
    if lost > 0 and not force:
        raise RoutingError(f"{new.engine} leaves {lost} connected pairs unserved: use another engine, or auto")
    if new.offset == "0":
        return []
    plain = worst_load(request.routing(new.fabric, new.tables).fabric_loads)
    return [f"sources must use these offsets: with offset 0 everywhere the worst load is {plain}"]


def _left_out(best: Candidate, unusable: list[Candidate]) -> list[str]:
    """Return a note where switches would need SL-to-VL tables for better ones."""
    for new in unusable:
        if _serves(new.standing) < _serves(best.standing):
            return [
                f"{new.engine} would have {_words(new.standing)}, but needs SL-to-VL tables, which OpenSM loads by a "
                "plug-in: lane_tables asks for them, and their files are to be written"
            ]
    return []


def _serves(standing: Standing) -> tuple[int, Fraction]:
    return standing.missing, standing.worst


def _words(standing: Standing) -> str:
    pairs = f" and {standing.missing} pairs that do not reach each other" if standing.missing else ""
    lids = f" with an LMC of {standing.lmc}" if standing.lmc else ""
    return f"a worst load of {standing.worst}{pairs}{lids}"
