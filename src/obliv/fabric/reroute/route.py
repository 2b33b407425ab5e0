"""New forwarding tables for a fabric: the best of the engines that fit it, and never worse than what was there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from obliv._util.text import did_you_mean
from obliv.analysis.worst_case.exact import worst_case
from obliv.errors import InputError, RoutingError, SpecError
from obliv.fabric.checks.credit_loops import credit_loops
from obliv.fabric.lids import with_lids
from obliv.fabric.model import Fabric
from obliv.fabric.reroute.engines import ENGINES, Plan, plan_engine
from obliv.fabric.reroute.fill import filled
from obliv.fabric.reroute.frame import frame_of_tree, frame_up_down
from obliv.fabric.routes.routing import FabricRouting
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.shape.tree import Shape, recognise
from obliv.fabric.tables import Tables
from obliv.fabric.topology import network
from obliv.results.numbers import number

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
    lmc : int
        Endpoints have 2**lmc LIDs.
    """

    load: Fraction
    missing: int
    deadlock: bool
    lmc: int

    @property
    def rank(self) -> tuple[int, Fraction, int]:
        """The smaller, the better."""
        return self.missing, self.load, self.lmc

    def to_dict(self) -> dict[str, Any]:
        """The standing as JSON types."""
        about = {"missing_pairs": self.missing, "deadlock": self.deadlock, "lmc": self.lmc}
        return {"channel_load": number(self.load)} | about

    def __str__(self) -> str:
        pairs = f"{self.missing} pairs missing" if self.missing else "all pairs"
        return f"worst load {self.load}, {pairs}, {'credit loops' if self.deadlock else 'no credit loop'}"


@dataclass(frozen=True, eq=False, repr=False)
class Routed:
    """New tables, side by side with the old ones.

    Parameters
    ----------
    engine : str
        What made them; "kept" where the old ones are the better ones and were kept.
    offset : str
        Which of a destination's LIDs a source uses, as :func:`obliv.fabric.routes.classes.offsets_of` takes it.
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
    offset: str
    tables: Tables
    fabric: Fabric
    before: Standing | None
    after: Standing
    tried: tuple[tuple[str, Standing | str], ...]
    shape: str = ""
    notes: tuple[str, ...] = ()

    @property
    def lmc(self) -> int:
        """Every host has 2**lmc LIDs; OpenSM takes it as ``-l``."""
        return self.after.lmc

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
                    "written": name == self.engine,
                    "channel_load": found and found.load,
                    "missing_pairs": None if found is None else found.missing,
                    "deadlock": None if found is None else found.deadlock,
                    "lmc": None if found is None else found.lmc,
                    "offset": self.offset if name == self.engine else None,
                    "remark": what if isinstance(what, str) else "",
                }
            )
        return rows

    def page(self) -> str:
        """Old and new tables side by side, as text."""
        lines = [f"fabric route: {self.engine} on {self.shape or self.fabric.name}"]
        for name, what in (*([] if self.before is None else [("in use", self.before)]), *self.tried):
            said = f"{what}, LMC {what.lmc}" if isinstance(what, Standing) and what.lmc else str(what)
            lines.append(f"  {name:<8}  {said}  {'<- written' if name == self.engine else ''}".rstrip())
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
    loops = credit_loops(routes.traces)
    load = worst_case(routing, symmetry="off").channel_load
    assert isinstance(load, Fraction)
    fabric = routes.topology.fabric
    return Standing(load, routing.skipped, not loops.acyclic, int(fabric.lmc[fabric.endpoints].max()))


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
        LIDs are kept where every port has as many, and no fewer than the engine needs nor more than are allowed; else
        they are assigned anew.
    engine : str
        ``osrm3-d``, ``osrm3``, ``osrm2``, ``osrm2-c``, ``dmodk``: on fat trees, also where cables or switches are
        missing; ``updown``: on any fabric; ``auto``: the best of those that fit, the one with fewer LIDs of equals.
    tables : Tables, optional
        The ones in use. If the new ones would be worse (fewer pairs reach each other, else the exact worst load is
        larger, else they take more LIDs), the old ones are returned, with the engine ``kept``.
    offset : str, int or sequence
        Which of a destination's LIDs sources use with the old tables.
    most_lmc : int
        Engines that need a larger LMC are not tried.
    force : bool
        Take the new tables even if they are worse, or leave out pairs that cables connect.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Routed
        The tables climb and come down only, so that they have neither loops nor credit loops; and that is checked.
        Where the fabric is in parts, a note says so, and pairs in unlike parts count as missing.

    Raises
    ------
    RoutingError
        If the engine does not fit the fabric, or leaves out pairs that cables connect.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate.from_topology import from_topology, tables_of
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
    enough = _enough(fabric, shape)
    for at, (name, plan) in enumerate(plans):
        attained = best is not None and best.after.load <= enough and not best.after.missing
        if best is not None and attained and _lmc_of(fabric, plan, most_lmc) >= best.lmc:
            continue
        step(f"tables by {name}", (at + 1) / (len(plans) + 1))
        try:
            made = _tried(fabric, name, plan, shape, most_lmc)
        except InputError as error:  # LIDs that do not suffice, above all
            if engine != "auto":
                raise
            tried.append((name, str(error)))
            continue
        tried.append((name, made.after))
        if best is None or made.after.rank < best.after.rank:
            best = made
    if best is None:
        raise RoutingError(f"{fabric.name}: no engine fits: " + "; ".join(f"{name}: {why}" for name, why in tried))
    name = shape.name if shape is not None and shape.exact else f"nearly {shape.name}" if shape is not None else ""
    apart, parts = _pairs_apart(fabric)
    notes: list[str] = [f"the fabric is in {parts} parts: {apart} pairs have no way"] if apart else []
    if before is not None and tables is not None and not force and best.after.rank > before.rank:
        notes.append(f"{best.engine} would give {_words(best.after)}, the tables in use have {_words(before)}: kept")
        if before.deadlock:
            notes.append("the tables in use have credit loops, by which packets can stop for good on one virtual lane")
        return Routed("kept", str(offset), tables, fabric, before, before, tuple(tried), name, tuple(notes))
    if best.after.missing > apart and not force:
        lost = best.after.missing - apart
        raise RoutingError(f"{best.engine} leaves out {lost} pairs that cables connect: take another engine, or auto")
    if best.offset != "0":
        alike = fabric_routing(network(best.fabric), best.tables, "0", missing="skip")
        plain = worst_case(alike, symmetry="off").channel_load
        notes.append(f"sources must be set to these offsets: with offset 0 for all the worst load is {plain}")
    return replace(best, before=before, tried=tuple(tried), shape=name, notes=(*best.notes, *notes))


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


def _tried(fabric: Fabric, name: str, plan: Plan | None, shape: Shape | None, most_lmc: int) -> Routed:
    """The tables of an engine; on a damaged tree the best of several ways round what is missing."""
    frame = frame_up_down(fabric) if plan is None or shape is None else frame_of_tree(fabric, shape)
    ready, notes = _with_enough_lids(fabric, _lmc(plan), most_lmc)
    offset = plan.offset if plan is not None else "0"
    topology = network(ready)
    best: tuple[Standing, Tables] | None = None
    for way_round in (0,) if plan is None or shape is None or shape.exact else _WAYS_ROUND:
        tables = filled(ready, frame, name, plan, shape, way_round)
        standing = standing_of(fabric_routing(topology, tables, offset, missing="skip"))
        if standing.deadlock:  # it climbs and comes down only: this cannot be
            raise RoutingError(f"{name} on {fabric.name}: the tables have a credit loop, they are not used")
        if best is None or standing.rank < best[0].rank:
            best = standing, tables
    assert best is not None
    return Routed(name, offset, best[1], ready, None, best[0], (), "", notes)


def _lmc(plan: Plan | None) -> int:
    return 0 if plan is None else plan.lmc


def _lmc_of(fabric: Fabric, plan: Plan | None, most: int) -> int:
    """The LMC with an engine: the fabric's own where its LIDs are kept."""
    kept = not _why_new_lids(fabric, _lmc(plan), most)
    return int(fabric.lmc[fabric.endpoints].max()) if kept else _lmc(plan)


def _with_enough_lids(fabric: Fabric, lmc: int, most: int) -> tuple[Fabric, tuple[str, ...]]:
    """The fabric, with new LIDs where those that it has are not what OpenSM's ``-l`` would give."""
    why = _why_new_lids(fabric, lmc, most)
    if not why:
        return fabric, ()
    return with_lids(fabric, lmc), (f"LIDs are new, since {why}; OpenSM moves the entries to those that it assigns",)


def _why_new_lids(fabric: Fabric, lmc: int, most: int) -> str:
    """Why LIDs cannot be kept, "" where they can: all ports have as many, enough and not too many, none is shared."""
    slots = fabric.endpoints
    low, high = int(fabric.lmc[slots].min()), int(fabric.lmc[slots].max())
    if not (fabric.lid[slots] > 0).all() or not (fabric.lid[fabric.first_slot[fabric.switches]] > 0).all():
        return "the fabric has none"
    if low < high:
        return f"ports have LMCs of {low} to {high}"
    if high < lmc:
        return f"LMC {lmc} is needed"
    if high > most:
        return f"at most LMC {most} is allowed"
    owned = np.flatnonzero(fabric.lid > 0)
    first = np.sort(fabric.lid[owned].astype(np.int64) << 8 | fabric.lmc[owned])
    ends = (first >> 8) + (1 << (first & 7))
    return "some ports share a LID" if (ends[:-1] > first[1:] >> 8).any() else ""


def _enough(fabric: Fabric, shape: Shape | None) -> int:
    """A load below which no single paths can come: looking on is of no use once it is attained."""
    if shape is None or not shape.exact or shape.empty or len(set(fabric.rate[fabric.peer >= 0].tolist())) > 1:
        return 0
    half = shape.tree.half
    if half is None or max(shape.cables) > 1:
        return 0
    return isqrt(half - 1) + 1 if shape.levels == 2 else half if shape.levels == 3 else 0


def _pairs_apart(fabric: Fabric) -> tuple[int, int]:
    """How many ordered pairs of endpoints no cables and switches connect, and in how many parts endpoints are."""
    ends, switches = fabric.endpoints, fabric.switches
    node = np.arange(fabric.nodes)
    forwards = np.isin(node, switches)
    slots = np.flatnonzero(fabric.peer >= 0)
    tail, head = fabric.node_of[slots], fabric.node_of[fabric.peer[slots]]
    kept = forwards[tail] & forwards[head]
    joined = coo_array((np.ones(int(kept.sum()), bool), (tail[kept], head[kept])), (fabric.nodes, fabric.nodes))
    part = connected_components(joined, directed=False)[1]
    beside = fabric.node_of[fabric.peer[ends]]
    part_of = np.where(forwards[beside], part[beside], -1)
    lone = np.minimum(ends, fabric.peer[ends])[part_of < 0]  # two endpoints on one cable, or one at something else
    _, own = np.unique(np.concatenate([part_of[part_of >= 0], fabric.nodes + lone]), return_counts=True)
    return len(ends) ** 2 - int((own**2).sum()), len(own)


def _words(standing: Standing) -> str:
    pairs = f" and {standing.missing} pairs that do not reach each other" if standing.missing else ""
    lids = f" with an LMC of {standing.lmc}" if standing.lmc else ""
    return f"a worst load of {standing.load}{pairs}{lids}"
