"""The exact worst case of forwarding tables after changes: one that is named, or every single failure in turn."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from obliv._util.progress import Progress, rising, silent, within
from obliv._util.text import plural, printable, several
from obliv.errors import InputError, Interrupted, TooLargeError
from obliv.fabric.analyses.permutations import provenance_of
from obliv.fabric.model import typed
from obliv.fabric.outages.base import (
    Base,
    Changes,
    base_of,
    changes_of,
    engine_misfit,
    has_credit_loop,
    named_load,
    solved,
)
from obliv.fabric.outages.certificate import (
    Left,
    after_failure,
    proof_anew,
    proof_of,
    why_none,
    why_not_anew,
    worst_channel,
)
from obliv.fabric.outages.sets import Change, change_of, every_failure, named_failure
from obliv.fabric.reroute.engines import ENGINES
from obliv.fabric.results.worst import WhatIf
from obliv.fabric.routes.dependencies import credit_loops
from obliv.fabric.routes.routing import FabricRouting
from obliv.fabric.routes.trace import Offset
from obliv.questions.failures import FailureRow, Failures, FailureState, unfinished
from obliv.results.base import provenance

__all__ = ["failures", "what_if"]

_UNUSED = "no route of these tables uses the new cables: write the changed fabric for fabric route"


@typed
def what_if(base: Base, *, fail: Sequence[str] = (), entries: Sequence[str] = (), add: Sequence[str] = ()) -> WhatIf:
    """Return what a change of a few cables or table entries does to tables.

    Parameters
    ----------
    base : Base
        The state before, see :func:`obliv.fabric.base_of`.
    fail : sequence of str, optional
        Cables ``NAME/PORT`` and switches ``NAME`` that fail.
    entries : sequence of str, optional
        New ports of table entries: ``SWITCH/LID=PORT``, or ``SWITCH/LID=none``.
    add : sequence of str, optional
        New cables between switches, ``NAME/PORT,NAME/PORT``, at free ports or at ports whose cables fail.

    Returns
    -------
    WhatIf
        Exact: as if the changed fabric and tables were analyzed from scratch.

    Raises
    ------
    InputError
        If there is no such node, port, cable, table or LID.

    Examples
    --------
    >>> import obliv
    >>> base = obliv.fabric.base_of(obliv.fabric.from_routing(obliv.DModK(obliv.fattree(4, 2))))
    >>> obliv.fabric.what_if(base, entries=["switch((0),1)/14=3"])
    what-if: lft:dmodk on fabric:fattree:4,2
      change      switch((0),1)/14=3
      before      worst load 2   switch((0),1) port 3 -> switch((0),0) port 1
      after       worst load 2   switch((1),1) port 3 -> switch((0),0) port 2
      pairs lost  0
      work        4 channels changed, 1 solved
    """
    began = time.perf_counter()
    change = change_of(base.routing, several(fail), several(entries), several(add))
    changes = changes_of(base, [change], follow=True)
    outcomes, work = solved(changes, silent)
    missing = base.routing.skipped + int(outcomes.lost[0])
    load, channel = int(outcomes.load[0]), int(outcomes.channel[0])
    worst = named_load(base, load, channel, base.served > outcomes.lost[0], changes.new)
    touched = work.space.touched[: outcomes.touched[0]]
    unused = len(changes.new) > 0 and not (touched >= base.topology.channels).any()
    topology, routing = base.topology, base.routing
    notes = topology.notes + routing.notes
    sources = tuple(dict((*topology.sources, *routing.sources)).items())
    specs = {"topology": topology.spec, "routing": routing.spec}
    return WhatIf(
        topology=topology.spec,
        routing=routing.spec,
        provenance=provenance(specs, time.perf_counter() - began, sources=sources),
        changes=change.names,
        before=base.state,
        after=FailureState(*worst, missing, has_credit_loop(changes, 0, outcomes)),
        channels=len(touched),
        solved=int(outcomes.solved[0]),
        notes=(*notes, _UNUSED) if unused else notes,
    )


@typed
def failures(
    routing: FabricRouting,
    *,
    of: str = "cables",
    fail: Sequence[str] = (),
    repair: str = "keep",
    offset: Offset = "0",
    certificate: bool = False,
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
    topology = routing.topology
    named = several(fail)
    sets = [named_failure(topology, named)] if named else every_failure(topology, of)
    step("tables before a failure", 0.0)
    question = _Question(routing, offset, sets, repair)
    part = within(step, 0.0, 0.5 if certificate else 1.0)
    found = _by_engine(question, part) if _answers(question) else _each(question, certificate, part)
    order = sorted(range(len(found.rows)), key=lambda f: found.rows[f].rank, reverse=True)
    missing = unfinished(len(found.rows), len(sets))
    part = within(step, 0.5, 1.0)
    proof, reason = _proof(question, found, order, part) if certificate and not missing else (None, "")
    result = Failures(
        topology=topology.spec,
        routing=routing.spec,
        provenance=provenance_of(routing, began),
        of="given" if named else of,
        repair=repair,
        before=found.before,
        failures=tuple(found.rows[f] for f in order),
        notes=topology.notes + routing.notes + missing + ((f"no certificate: {reason}",) if reason else ()),
        certificate=proof,
        subject=routing,
    )
    if missing:
        done = f"after {len(found.rows):,} of {plural(len(sets), 'failure')}"
        raise Interrupted(f"{done}; name the others to go on", result)
    return result


@dataclass(frozen=True, eq=False)
class _Question:
    """Tables, what fails, and what happens to the tables then."""

    routing: FabricRouting
    offset: Offset
    sets: list[Change]
    repair: str

    @property
    def anew(self) -> bool:
        """Whether an engine computes new tables."""
        return self.repair not in ("keep", "refill")


class _Found(NamedTuple):
    """What each failure does, the state before, and what a certificate is made from.

    That are the failures as they were solved, with the hottest channels before and after; or the routes that are left
    after each failure, with the hottest channel before alone.
    """

    rows: list[FailureRow]
    before: FailureState
    hottest: list[int]
    changes: Changes | None
    lefts: list[Left | None]


def _answers(question: _Question) -> bool:
    """Return whether the engine for changes tells what failures do; else each is solved from scratch."""
    # It does not where all routes are new, where loads are no sizes of matchings (see :func:`engine_misfit`), and where
    # the cable of a host fails: its class of sources, which share their routes, has fewer members on all channels then.
    topology = question.routing.topology
    slots = np.array([slot for failure in question.sets for slot in failure.slots], np.int64)
    at_host = topology.at_host[topology.channel_of[slots]]
    return not question.anew and not engine_misfit(question.routing) and not at_host.any()


def _by_engine(question: _Question, step: Progress) -> _Found:
    """Return what each failure does, as a change of the tables."""
    step("worst load of every channel", 0.0)
    base = base_of(question.routing)
    changes = changes_of(base, question.sets, refill=question.repair == "refill")
    outcomes, work = solved(changes, step)
    changes = changes._replace(work=work)
    rows = []
    for f, failure in enumerate(question.sets):
        lost = int(outcomes.lost[f])
        load, name = named_load(base, int(outcomes.load[f]), int(outcomes.channel[f]), lost < base.served)
        rows.append(FailureRow(failure.name, lost, load, name, has_credit_loop(changes, f, outcomes)))
    return _Found(rows, base.state, [base.hottest, *outcomes.channel.tolist()], changes, [])


def _each(question: _Question, certificate: bool, step: Progress) -> _Found:
    """Return what each failure does, one after the other from scratch; on an interrupt, those that are solved."""
    routing, sets = question.routing, question.sets
    load, name, channel = worst_channel(routing)
    rows: list[FailureRow] = []
    lefts: list[Left | None] = []
    try:
        for done, failure in enumerate(sets):
            step("failures", done / len(sets))
            row, left = after_failure(routing, question.offset, failure, question.repair)
            rows.append(row)
            if certificate and question.anew:
                lefts.append(left)
    except KeyboardInterrupt:
        if not rows:
            raise
    before = FailureState(load, name, routing.skipped, not credit_loops(routing.routes.traces).acyclic)
    return _Found(rows, before, [channel], None, lefts)


def _proof(question: _Question, found: _Found, order: list[int], step: Progress) -> tuple[dict[str, Any] | None, str]:
    """Return the certificate of failures by rank, or None and why there is none."""
    routing, sets = question.routing, question.sets
    reason = why_none(routing, sets, question.repair, found.before.deadlock is True)
    if not reason and question.anew:
        reason = why_not_anew(routing, found.lefts)
    if reason:
        return None, reason
    rows = [found.rows[f] for f in order]
    try:
        if found.changes is not None:
            hottest = [found.hottest[0], *(found.hottest[f + 1] for f in order)]
            return proof_of(found.changes, found.before, rows, order, hottest, step), ""
        lefts = [left for f in order if (left := found.lefts[f]) is not None]  # all of them, or there is a reason
        return proof_anew(routing, found.before, rows, [sets[f] for f in order], lefts, found.hottest[0], step), ""
    except TooLargeError as error:  # the answer is there already
        return None, str(error)
