"""The exact worst case of forwarding tables after every single failure, and after given ones."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from obliv._util.arrays import Array, starts
from obliv._util.progress import Progress, rising, within
from obliv._util.text import plural, printable, several
from obliv.errors import InputError, Interrupted, TooLargeError
from obliv.fabric.analyses.permutations import provenance_of
from obliv.fabric.arguments import typed
from obliv.fabric.kernels.failures import FailureSpace, Intact, Outcomes, Sets, failure_loads
from obliv.fabric.outages.alike import copied, first_alike
from obliv.fabric.outages.base import intact_tables, room, unit_of
from obliv.fabric.outages.certificate import (
    Left,
    after_failure,
    failed_of,
    kept_tables,
    proof_anew,
    proof_of,
    refilled_tables,
    served_pairs,
    why_none,
    why_not_anew,
    worst_channel,
)
from obliv.fabric.outages.sets import Failure, every_failure, named_failure, without
from obliv.fabric.reroute.fill import ENGINES
from obliv.fabric.routes.dependencies import credit_loops
from obliv.fabric.routes.routing import FabricRouting
from obliv.fabric.routes.trace import Ending, Offset, trace_all
from obliv.kernels import run
from obliv.questions.failures import FailureRow, Failures, FailureState, unfinished

__all__ = ["failures"]

_BLOCK = 64  # failures between two looks at an interrupt
_OWN = "a host's own cable"  # it carries 1 where a host reaches anybody


@typed
def failures(
    routing: FabricRouting,
    *,
    of: str = "cables",
    fail: Sequence[str] = (),
    repair: str = "keep",
    offset: Offset = "0",
    certificate: bool = False,
    symmetry: str = "auto",
    progress: Progress | None = None,
) -> Failures:
    """Return the exact worst case of forwarding tables after every single failure.

    Parameters
    ----------
    routing : FabricRouting
        Pairs whose packets do not arrive before a failure are left out.
    of : {"cables", "lanes", "switches"}
        What fails: every cable between switches, all parallel cables between two switches together, every switch.
    fail : sequence of str, optional
        What fails together instead: cables as ``NAME/PORT``, switches as ``NAME``.
    repair : str
        What happens to the tables. ``keep``: packets over what failed are lost. ``refill``: only switches that lost a
        port choose another one, see Notes. Or an engine of :func:`obliv.fabric.route`, which routes what is left anew.
    offset : str, int or sequence of int
        Which LID of a destination sources use; as the routing was made with.
    certificate : bool
        Whether to keep what proves the figures; with an engine, the tables after each failure too. Where there is no
        such proof, a note says why: if a host's cable fails, packets of some pairs do not arrive before, hosts have
        several speeds, or, but for ``keep``, several LIDs; with an engine, if that is so after a failure.
    symmetry : {"auto", "search", "off"}
        Whether failures that a verified symmetry of cabling and tables carries onto each other are solved once: where
        that saves time, always, or never. No answer depends on it; see Notes.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Failures
        Exact. Hosts at a switch that fails reach nobody.

    Raises
    ------
    InputError
        If there is no such kind, cable, switch or engine.

    Notes
    -----
    With ``refill`` a switch replaces the port for each LID, in the order of the LIDs, that the port delivered before.
    Ports from where the tables of the other switches lead there without anything that failed come into question: the
    one with the shortest way, of equals the one that the switch uses for the fewest LIDs of hosts, then the lowest.

    Symmetries are sought with ``keep`` alone, since other repairs depend on the numbers of ports and LIDs; if hosts
    have one LID each, and all pairs are connected before. They save time where there is a credit loop before, since the
    dependencies of all routes are then searched after each failure; elsewhere solving takes less time than the search.

    Examples
    --------
    >>> import obliv
    >>> routing = obliv.fabric.from_routing(obliv.DModK(obliv.fattree(4, 2)))
    >>> after = obliv.fabric.failures(routing, repair="refill")
    >>> after.before.channel_load, after.worst_load, after.most_lost
    (Fraction(2, 1), Fraction(2, 1), 6)
    """
    began = time.perf_counter()
    step = rising(progress)
    if repair not in ("keep", "refill", "auto", *ENGINES):
        names = ", ".join(ENGINES)
        raise InputError.naming(
            "{repair}={0!r}: choose keep, refill, or an engine: auto, {1}", printable(repair[:40]), names
        )
    if symmetry not in ("auto", "search", "off"):
        raise InputError.naming("{symmetry}={0!r}: choose auto, search or off", printable(symmetry[:40]))
    topology = routing.topology
    named = several(fail)
    sets = [named_failure(topology, named)] if named else every_failure(topology, of)
    step("tables before a failure", 0.0)
    question = _Question(routing, offset, sets, repair, not credit_loops(routing.routes.traces).acyclic)
    alike = None
    if repair == "keep" and question.at_once and (symmetry == "search" or (symmetry == "auto" and question.loop)):
        step("symmetries", 0.0)
        alike = first_alike(routing, [failed_of(routing, failure) for failure in sets])
    part = within(step, 0.0, 0.5 if certificate else 1.0)
    solved = _many(question, alike, part) if question.at_once else _each(question, certificate, part)
    order = sorted(range(len(solved.rows)), key=lambda f: solved.rows[f].rank, reverse=True)
    missing = unfinished(len(solved.rows), len(sets))
    part = within(step, 0.5, 1.0)
    proof, reason = _proof(question, solved, order, part) if certificate and not missing else (None, "")
    result = Failures(
        topology=topology.spec,
        routing=routing.spec,
        provenance=provenance_of(routing, began),
        of="given" if named else of,
        repair=repair,
        before=solved.before,
        failures=tuple(solved.rows[f] for f in order),
        orbits=None if alike is None else len(np.unique(alike)),
        notes=topology.notes + routing.notes + missing + ((f"no certificate: {reason}",) if reason else ()),
        certificate=proof,
        subject=routing,
    )
    if missing:
        done = f"after {len(solved.rows):,} of {plural(len(sets), 'failure')}"
        raise Interrupted(f"{done}; name the others to go on", result)
    return result


@dataclass(frozen=True, eq=False)
class _Question:
    """Tables, what fails, what happens to the tables then, and whether they have a credit loop before."""

    routing: FabricRouting
    offset: Offset
    sets: list[Failure]
    repair: str
    loop: bool

    @property
    def anew(self) -> bool:
        """Whether an engine computes new tables."""
        return self.repair not in ("keep", "refill")

    @cached_property
    def at_once(self) -> bool:
        """Whether the changed channels alone tell what failures do.

        That is so if tables are not new, pairs have one route, hosts send alike, and no cable of a host fails.
        """
        topology = self.routing.topology
        slots = np.array([slot for failure in self.sets for slot in failure.slots], np.int64)
        at_host = topology.at_host[topology.channel_of[slots]]
        return not self.anew and self.routing.routes.denominator == 1 and topology.unit_rates and not at_host.any()


class _Solved(NamedTuple):
    """What each failure does, the state before, and the hottest channels before and after; -1 for not known.

    `lefts` are the routes that are left after each failure, where a certificate needs them.
    """

    rows: list[FailureRow]
    before: FailureState
    hottest: list[int]
    lefts: list[Left | None]


def _proof(question: _Question, solved: _Solved, order: list[int], step: Progress) -> tuple[dict[str, Any] | None, str]:
    """Return the certificate of failures by rank, or None and why there is none."""
    routing, sets, repair = question.routing, question.sets, question.repair
    reason = why_none(routing, sets, repair, question.loop)
    if not reason and question.anew:
        reason = why_not_anew(routing, solved.lefts)
    if reason:
        return None, reason
    rows, ranked = [solved.rows[f] for f in order], [sets[f] for f in order]
    try:
        if question.anew:
            failed = [failed_of(routing, failure) for failure in ranked]
            lefts = [left for f in order if (left := solved.lefts[f]) is not None]  # all of them, or there is a reason
            return proof_anew(routing, solved.before, rows, failed, lefts, solved.hottest[0], step), ""
        hottest = [solved.hottest[0], *(solved.hottest[f + 1] for f in order)]
        return proof_of(routing, solved.before, rows, ranked, hottest, repair, step), ""
    except TooLargeError as error:  # the answer is there already
        return None, str(error)


def _each(question: _Question, certificate: bool, step: Progress) -> _Solved:
    """Return what each failure does, one after the other from scratch; on an interrupt, those that are solved."""
    routing, sets = question.routing, question.sets
    load, name, channel = worst_channel(routing)
    rows: list[FailureRow] = []
    lefts: list[Left | None] = []
    try:
        for done, failure in enumerate(sets):
            step("failures", done / len(sets))
            tables = None
            if question.repair == "refill":
                channels = _channels(routing, failure)
                intact, space = intact_tables(routing, len(channels))
                tables = refilled_tables(routing, failure, channels, intact, space)
            row, left = after_failure(routing, question.offset, failure, question.repair, tables)
            rows.append(row)
            if certificate and question.anew:
                lefts.append(left)
    except KeyboardInterrupt:
        if not rows:
            raise
    before = FailureState(load, name, routing.skipped, question.loop)
    return _Solved(rows, before, [channel] + [-1] * len(rows), lefts)


def _channels(routing: FabricRouting, failure: Failure) -> list[int]:
    """Return the channels between switches of a failure, both directions of every cable."""
    topology = routing.topology
    slots = np.array(failure.slots, np.int64)
    both = np.stack([slots, topology.fabric.ports.peer[slots]], axis=1).ravel()
    channels: list[int] = topology.channel_of[both].tolist()
    return channels


def _many(question: _Question, alike: Array | None, step: Progress) -> _Solved:
    """Return what each failure does by the changed channels alone; those that are alike are solved once."""
    routing, sets = question.routing, question.sets
    groups = [_channels(routing, failure) for failure in sets]
    like = np.arange(len(sets)) if alike is None else alike
    intact, space, outcomes = _outcomes(question, groups, like, step)
    unit, served = unit_of(routing), served_pairs(routing)
    # what a failure leaves of the routes has no loop
    certain = not question.loop and not (routing.routes.traces.code == Ending.LOOP).any()
    rows: list[FailureRow] = []
    for f, failure in enumerate(sets):
        lost = int(outcomes.lost[f]) + _local_pairs(routing, failure)
        carried = Fraction(int(outcomes.load[f]), unit)
        load, name = _worst_cable(routing, carried, int(outcomes.channel[f]), lost < served)
        checked: bool | None = False
        if like[f] < f:
            checked = rows[like[f]].deadlock
        elif not certain or outcomes.looping[f]:
            checked = _loop(question, failure, groups[f], intact, space)
        rows.append(FailureRow(failure.name, lost, load, name, checked))
    worst = int(intact.order[0]) if len(intact.order) else -1
    carried = Fraction(int(intact.load[worst]), unit) if worst >= 0 else Fraction(0)
    load, name = _worst_cable(routing, carried, worst if carried else -1, served > 0)
    before = FailureState(load, name, routing.skipped, question.loop)
    return _Solved(rows, before, [worst, *outcomes.channel.tolist()], [])


def _outcomes(
    question: _Question, groups: list[list[int]], like: Array, step: Progress
) -> tuple[Intact, FailureSpace, Outcomes]:
    """Solve the first of failures that are alike, and others that do not do the same; `groups` are their channels."""
    routing, refill = question.routing, question.repair == "refill"
    failed = Sets(starts([len(group) for group in groups]), np.array([c for group in groups for c in group], np.int64))
    step("worst load of every channel", 0.0)
    intact, space = intact_tables(routing, max(1, *map(len, groups)))
    count = len(groups)
    outcomes = Outcomes(
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
        np.full(count, -1, np.int64),
        np.zeros(count, np.bool_),
        np.zeros(count, np.int64),
    )
    work = (500.0 if refill else 100.0) * float(np.diff(intact.start)[failed.channel].sum())

    def solve(chosen: Array) -> None:
        nonlocal space
        done = 0
        while done < len(chosen):
            step("failures", done / len(chosen))
            block = chosen[done : done + _BLOCK]
            many = run(failure_loads, work, failed, block, refill, routing.routes.arrays, intact, space, outcomes)
            done += many
            if many < len(block):
                space = room(space, 2 * len(space.added))

    every = np.arange(count)
    solve(every[like == every])
    others = every[like != every].tolist()
    solve(np.array([f for f in others if not copied(f, like[f], groups[f], intact, outcomes)], np.int64))
    return intact, space, outcomes


def _worst_cable(routing: FabricRouting, load: Fraction, channel: int, reached: bool) -> tuple[Fraction, str]:
    """Return the worst load and a cable that has it: the own one of a host that reaches others carries 1 at least."""
    if load < 1 and reached:
        return Fraction(1), _OWN
    return load, routing.topology.cable(channel).ends if channel >= 0 else ""


def _local_pairs(routing: FabricRouting, failure: Failure) -> int:
    """Return the number of pairs at a failed switch whose packets took no cable between switches."""
    routes = routing.routes
    to, ends = routes.traces.hops.to, routes.traces.ends
    total = 0
    for node in failure.switches:
        beside = np.flatnonzero(routing.topology.fabric.node_of[routing.topology.fabric.ports.peer[ends]] == node)
        for d in beside.tolist():
            for r in np.unique(routes.class_of[beside]).tolist():
                if _stays(routing, r, d, to):
                    sources = beside[routes.class_of[beside] == r]
                    total += len(sources) - int((sources == d).sum())
    return total


def _stays(routing: FabricRouting, r: int, d: int, to: Array) -> bool:
    """Return whether the packets of a class go from its switch straight to a destination."""
    routes = routing.routes
    hops = routes.traces.hops
    node, lid = int(routes.traces.leaf[routes.leaf[r]]), int(routes.traces.lid[routes.columns(r, d)[0]])
    if hops.row[node] < 0 or not 0 < lid < len(hops.out):
        return False
    slot = int(hops.first[node]) + int(hops.out[lid, hops.row[node]])
    return slot < int(hops.first[node + 1]) and int(to[slot]) == -3 - d


def _loop(question: _Question, failure: Failure, channels: list[int], intact: Intact, space: FailureSpace) -> bool:
    """Return whether the tables have a credit loop after a failure, from the whole dependency graph."""
    routing = question.routing
    tables = routing.routes.tables
    if question.repair == "refill":
        tables = refilled_tables(routing, failure, channels, intact, space)
    fabric = without(routing.topology.fabric, failure)
    traces = trace_all(fabric, kept_tables(tables, failure), routing.topology.ends)
    return not credit_loops(traces).acyclic
