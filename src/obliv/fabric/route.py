"""New forwarding tables for a fabric: the best of the engines that fit it, and never worse than what was there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from typing import Any

from obliv.analysis.worst_case import worst_case
from obliv.errors import InputError, RoutingError, SpecError, did_you_mean
from obliv.fabric.deadlock import credit_loops
from obliv.fabric.engines import ENGINES, Plan, plan_engine
from obliv.fabric.fabric import Fabric
from obliv.fabric.fill import filled
from obliv.fabric.frame import Frame, frame_of_tree, frame_up_down
from obliv.fabric.generate import with_lids
from obliv.fabric.network import network
from obliv.fabric.routing import FabricRouting, fabric_routing
from obliv.fabric.shape import Shape, recognise
from obliv.fabric.tables import Tables
from obliv.results.numbers import number
from obliv.specs import door

__all__ = ["Routed", "Standing", "route", "standing_of"]

_WAYS_ROUND = (0, 1, 2, -1)  # steps to another port where the wanted one is missing; 0: the one least used so far

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Standing:
    """How good tables are.

    Parameters
    ----------
    load : Fraction
        The exact worst load of a channel, over all permutations of the pairs that arrive.
    missing : int
        How many ordered pairs of endpoints do not reach each other.
    deadlock : bool
        Whether the routes form a credit loop.
    """

    load: Fraction
    missing: int
    deadlock: bool

    def to_dict(self) -> dict[str, Any]:
        """The standing as JSON types."""
        return {"channel_load": number(self.load), "missing_pairs": self.missing, "deadlock": self.deadlock}


@dataclass(frozen=True, eq=False, repr=False)
class Routed:
    """New tables, side by side with the old ones.

    Parameters
    ----------
    engine : str
        What made them; "kept" where the old ones are the better ones and were kept.
    lmc : int
        Every host has 2**lmc LIDs; OpenSM takes it as ``-l``.
    offset : str
        Which of a destination's LIDs a source uses, as :func:`obliv.fabric.routes.offsets_of` takes it.
    tables : Tables
    fabric : Fabric
        With the LIDs that the tables are for.
    before : Standing or None
        Of the old tables, where there were some.
    after : Standing
    tried : tuple of (engine, Standing or str)
        What else was tried, or why it was not.
    shape : str
        The fat tree that was recognised, or "".
    notes : tuple of str
    """

    engine: str
    lmc: int
    offset: str
    tables: Tables
    fabric: Fabric
    before: Standing | None
    after: Standing
    tried: tuple[tuple[str, Standing | str], ...]
    shape: str = ""
    notes: tuple[str, ...] = ()

    @property
    def kept(self) -> bool:
        """Whether nothing better than the old tables was found."""
        return self.engine == "kept"

    def to_dict(self) -> dict[str, Any]:
        """What was found, as JSON types."""
        return {
            "engine": self.engine,
            "lmc": self.lmc,
            "offset": self.offset,
            "shape": self.shape or None,
            "before": None if self.before is None else self.before.to_dict(),
            "after": self.after.to_dict(),
            "tried": [
                {"engine": engine, **({"reason": what} if isinstance(what, str) else what.to_dict())}
                for engine, what in self.tried
            ],
            "notes": list(self.notes),
        }

    def rows(self) -> list[dict[str, Any]]:
        """A row for the tables in use, and one for each engine that was tried."""
        standings: list[tuple[str, Standing | str]] = [] if self.before is None else [("in use", self.before)]
        rows = []
        for name, what in (*standings, *self.tried):
            found = what if isinstance(what, Standing) else None
            rows.append(
                {
                    "tables": name,
                    "channel_load": found and found.load,
                    "missing_pairs": None if found is None else found.missing,
                    "deadlock": None if found is None else found.deadlock,
                    "remark": what if isinstance(what, str) else "",
                }
            )
        return rows

    def page(self) -> str:
        """Old and new tables side by side, as text."""
        lines = [f"fabric route: {self.engine} on {self.shape or self.fabric.name}"]
        for row in self.rows():
            if row["channel_load"] is None:
                said = row["remark"]
            else:
                pairs = "all pairs" if not row["missing_pairs"] else f"{row['missing_pairs']} pairs missing"
                loops = "credit loops" if row["deadlock"] else "no credit loop"
                said = f"worst load {row['channel_load']}, {pairs}, {loops}"
            mark = "<- written" if row["tables"] == self.engine else ""
            lines.append(f"  {row['tables']:<8}  {said}  {mark}".rstrip())
        lines.append(f"  LMC       {self.lmc}" + (f", sources use the offset {self.offset}" if self.lmc else ""))
        return "\n".join([*lines, *(f"  note      {note}" for note in self.notes)])

    def __repr__(self) -> str:
        before = "" if self.before is None else f", was {self.before.load}"
        return f"<Routed {self.engine}: worst load {self.after.load}{before}, LMC {self.lmc}>"


def standing_of(routing: FabricRouting) -> Standing:
    """How good the tables of a routing are; pairs that do not reach each other count as missing.

    Parameters
    ----------
    routing : FabricRouting
        Made with ``missing="skip"``.
    """
    routes = routing.routes
    loops = credit_loops(routes.topology.fabric, routes.tables, wires=routes.wires, traces=routes.traces)
    load = worst_case(routing, symmetry="off").channel_load
    assert isinstance(load, Fraction)
    return Standing(load, routing.skipped, not loops.acyclic)


def route(
    fabric: Fabric,
    engine: str = "auto",
    tables: Tables | None = None,
    *,
    offset: Any = "0",
    most_lmc: int = 7,
    force: bool = False,
    progress: Progress | None = None,
) -> Routed:
    """New forwarding tables for a fabric.

    Parameters
    ----------
    fabric : Fabric
        LIDs are kept where every port has them and as many as the engine needs; else they are assigned anew.
    engine : str
        ``osrm3-d``, ``osrm3``, ``osrm2``, ``osrm2-c``, ``dmodk``: on fat trees, also where cables or switches are
        missing; ``updown``: on any fabric; ``auto``: the best of those that fit, the one with fewer LIDs of equals.
    tables : Tables, optional
        The ones in use. If the new ones would be worse (fewer pairs reach each other, or the exact worst load is
        larger), the old ones are returned, with the engine ``kept``.
    offset : str, int or sequence
        Which of a destination's LIDs sources use with the old tables.
    most_lmc : int
        Engines that need a larger LMC are not tried.
    force : bool
        Take the new tables even if they are worse.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Routed
        The tables climb and come down only, so that they have neither loops nor credit loops; and that is checked.

    Raises
    ------
    RoutingError
        If the engine does not fit the fabric, or the fabric is in parts.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate import from_topology, tables_of
    >>> tree = obliv.topology("fattree:8,3")
    >>> fabric = from_topology(tree)
    >>> route(fabric, tables=tables_of(obliv.routing("dmodk", tree), fabric))
    <Routed osrm3-d: worst load 4, was 7, LMC 0>
    """
    if engine != "auto" and engine not in ENGINES:
        raise SpecError(f"engine {engine[:40]!r} is unknown: {did_you_mean(engine, ['auto', *ENGINES])}")
    step = progress or (lambda what, share: None)
    if not len(fabric.endpoints):
        raise RoutingError(f"{fabric.name}: no channel adapter has a cable: there is nobody to route for")
    shape = recognise(fabric)
    shape = shape if shape is not None and shape.levels > 1 else None
    before = None
    if tables is not None:
        step("the worst case of the tables in use", 0.0)
        before = standing_of(fabric_routing(network(fabric), tables, offset, missing="skip"))
    tried: list[tuple[str, Standing | str]] = []
    best: Routed | None = None
    plans = list(_plans(engine, shape, most_lmc, tried))
    frame = frame_of_tree(fabric, shape) if shape is not None else frame_up_down(fabric)
    enough = _enough(fabric, shape)
    for at, (name, plan) in enumerate(plans):
        step(f"tables by {name}", (at + 1) / (len(plans) + 1))
        try:
            made = _tried(fabric, frame, name, plan, shape)
        except InputError as error:  # LIDs that do not suffice, above all
            if engine != "auto":
                raise
            tried.append((name, str(error)))
            continue
        tried.append((name, made.after))
        if best is None or (_rank(made.after), made.lmc) < (_rank(best.after), best.lmc):
            best = made
        if best.after.load <= enough and not best.after.missing:
            break
    if best is None:
        raise RoutingError(f"{fabric.name}: no engine fits: " + "; ".join(f"{name}: {why}" for name, why in tried))
    name = shape.name if shape is not None and shape.exact else f"nearly {shape.name}" if shape is not None else ""
    if before is not None and tables is not None and not force and _rank(best.after) > _rank(before):
        lmc = int(fabric.lmc[fabric.endpoints].max())
        notes = (f"{best.engine} would give {_words(best.after)}, the tables in use have {_words(before)}: kept",)
        return Routed("kept", lmc, str(offset), tables, fabric, before, before, tuple(tried), name, notes)
    return replace(best, before=before, tried=tuple(tried), shape=name)


def _plans(
    engine: str, shape: Shape | None, most_lmc: int, tried: list[tuple[str, Standing | str]]
) -> Iterator[tuple[str, Plan | None]]:
    """What to try, in that order."""
    names: Sequence[str] = (engine,)
    if engine == "auto":
        names = _usual(shape)
    for name in names:
        if name == "updown":
            yield name, None
            continue
        if shape is None:
            raise RoutingError(f"{name} is for fat trees, and this fabric is not recognised as one: take updown")
        plan = plan_engine(name, shape)
        if plan.lmc <= most_lmc:
            yield name, plan
        elif engine != "auto":
            raise RoutingError(f"{name} needs an LMC of {plan.lmc} on {shape.name}, at most {most_lmc} is allowed")
        else:
            tried.append((name, f"needs an LMC of {plan.lmc}"))


def _usual(shape: Shape | None) -> tuple[str, ...]:
    if shape is None:
        return ("updown",)
    if shape.levels == 3:
        return ("osrm3-d", "dmodk", "updown")
    if shape.levels == 2:
        square = shape.children[0] == shape.parents[1] * shape.cables[1]
        return ("osrm2", *(("osrm2-c",) if square else ()), "dmodk", "updown")
    return ("dmodk", "updown")


def _tried(fabric: Fabric, frame: Frame, name: str, plan: Plan | None, shape: Shape | None) -> Routed:
    """The tables of an engine; on a damaged tree the best of several ways round what is missing."""
    ready, notes = _with_enough_lids(fabric, plan.lmc if plan is not None else 0)
    offset = plan.offset if plan is not None else "0"
    topology = network(ready)
    best: tuple[Standing, Tables] | None = None
    for way_round in (0,) if plan is None or shape is None or shape.exact else _WAYS_ROUND:
        tables = filled(ready, frame, name, plan, shape, way_round)
        standing = standing_of(fabric_routing(topology, tables, offset, missing="skip"))
        if standing.deadlock:  # it climbs and comes down only: this cannot be
            raise RoutingError(f"{name} on {fabric.name}: the tables have a credit loop, they are not used")
        if best is None or _rank(standing) < _rank(best[0]):
            best = standing, tables
    assert best is not None
    own = int(ready.lmc[ready.endpoints].max())
    return Routed(name, own, offset, best[1], ready, None, best[0], (), "", notes)


def _with_enough_lids(fabric: Fabric, lmc: int) -> tuple[Fabric, tuple[str, ...]]:
    """The fabric, with new LIDs if some port has none or too few."""
    slots = fabric.endpoints
    heads = fabric.first_slot[fabric.switches]
    if (fabric.lid[slots] > 0).all() and (fabric.lid[heads] > 0).all() and (fabric.lmc[slots] >= lmc).all():
        return fabric, ()
    why = f"LMC {lmc} is needed" if (fabric.lid[slots] > 0).all() else "the fabric has none"
    return with_lids(fabric, lmc), (f"LIDs are new, since {why}; OpenSM moves the entries to those that it assigns",)


def _enough(fabric: Fabric, shape: Shape | None) -> int:
    """A load below which no single paths can come: looking on is of no use once it is attained."""
    if shape is None or not shape.exact or shape.empty or len(set(fabric.rate[fabric.peer >= 0].tolist())) > 1:
        return 0
    half = shape.tree.half
    if half is None or max(shape.cables) > 1:
        return 0
    return isqrt(half - 1) + 1 if shape.levels == 2 else half if shape.levels == 3 else 0


def _rank(standing: Standing) -> tuple[int, Fraction]:
    return standing.missing, standing.load


def _words(standing: Standing) -> str:
    pairs = f" and {standing.missing} pairs that do not reach each other" if standing.missing else ""
    return f"a worst load of {standing.load}{pairs}"


door(__name__, route)
