"""Whether a checked fabric keeps its limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from obliv._util.progress import Progress, rising
from obliv._util.text import plural
from obliv.errors import FileError, InputError
from obliv.fabric.arguments import typed
from obliv.fabric.gate.guarantees import Guarantees, read_guarantees
from obliv.fabric.gate.limits import Limits
from obliv.fabric.gate.plan import Plan, compare_cables, read_plan, slots_named
from obliv.fabric.jobs.job import job
from obliv.fabric.model import Fabric
from obliv.fabric.notes import Notes
from obliv.fabric.routes.routing import FabricRouting
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.tables import Tables
from obliv.fabric.topology import network
from obliv.results.fabric.check import FabricCheck, LimitCheck

__all__ = ["within_limits"]


@typed
def within_limits(
    check: FabricCheck, limits: Limits, tables: Tables | None = None, progress: Progress | None = None
) -> FabricCheck:
    """Return a check with its limits, and a finding for each limit that is not kept.

    Parameters
    ----------
    check : FabricCheck
        As :func:`obliv.fabric.check` returned it.
    limits : Limits
        See :func:`obliv.fabric.read_limits`.
    tables : Tables, optional
        Needed for limits on loads, pairs and credit loops.
    progress : callable, optional

    Returns
    -------
    FabricCheck
        Not ``ok`` where a limit is not kept. Loads are exact; where packets are lost, loads are those of the others,
        and the limit of a job some of whose pairs are cut off is not kept, nor if lanes discard packets of any pair.

    Raises
    ------
    InputError
        If a limit needs tables or OpenSM's log and there are none.
    FileError
        If the plan or the hosts of a job cannot be read.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate.from_topology import from_topology, tables_of
    >>> from obliv.fabric.gate.limits import Limits
    >>> tree = obliv.topology("fattree:4,2")
    >>> fabric = from_topology(tree)
    >>> tables = tables_of(obliv.routing("dmodk", tree), fabric)
    >>> kept = within_limits(obliv.fabric.check(fabric, tables), Limits(worst_load=1, pairs="all"), tables)
    >>> kept.ok, [limit.found for limit in kept.limits]
    (False, ['56 of 56', '2'])
    """
    if tables is None and limits.about_tables:
        name = limits.about_tables[0]
        raise _refusal(limits, _line(limits, name), "the limit {0} needs forwarding tables: give {tables}", name)
    if limits.engine is not None and check.engine is None:
        message = "the limit engine is compared with OpenSM's log: give {log}"
        raise _refusal(limits, _line(limits, "engine"), message)
    gate = _Gate(check, limits, tables, rising(progress))
    found = tuple(gate.found())
    findings = [finding for notes in gate.notes for finding in notes.findings()]
    provenance = replace(check.provenance, sources={**check.provenance.sources, **gate.sources})
    return replace(check, limits=found, findings=(*findings, *check.findings), provenance=provenance)


def _line(limits: Limits, name: str) -> int:
    """Return the line of a limit in its file, 0 if there is none; of jobs that of the first."""
    return dict(limits.lines).get(name, limits.job[0].line if name == "job" else 0)


def _refusal(limits: Limits, line: int, template: str, *values: object) -> InputError:
    """Return the error for a limit that cannot be compared, with its place in the file of limits."""
    if not limits.sources:
        return InputError.naming(template, *values)
    return FileError.naming(template, *values, path=limits.name, line=line or None)


class _Gate:
    """A fabric that was checked, beside its limits."""

    def __init__(self, check: FabricCheck, limits: Limits, tables: Tables | None, progress: Progress) -> None:
        self.check, self.limits, self.tables, self.progress = check, limits, tables, progress
        self._own = Notes(limits.name)
        self.notes = [self._own]
        self.sources = dict(limits.sources)
        self._line = dict(limits.lines)
        if not isinstance(check.subject, Fabric):
            raise InputError("limits are for a check that was just made: one that was saved has no fabric")
        self.fabric: Fabric = check.subject

    @property
    def _discarded(self) -> int:
        """The number of pairs whose packets virtual lanes discard."""
        return self.check.dropped_pairs or 0

    def found(self) -> Iterator[LimitCheck]:
        """Yield every limit with what was found."""
        limits, check = self.limits, self.check
        for name, count in (("hosts", check.endpoints), ("switches", check.switches)):
            if (wanted := getattr(limits, name)) is not None:
                yield self._limit(name, str(wanted), str(count), count == wanted, count)
        if limits.shape is not None:
            shape = check.shape or "not a fat tree"
            yield self._limit("shape", limits.shape, shape, shape.replace(" ", "") == limits.shape.replace(" ", ""))
        if limits.engine is not None and check.engine is not None:
            used = check.engine.used or "none"
            yield self._limit("engine", limits.engine, used, used == limits.engine)
        yield from self._cables()
        if limits.pairs is not None:
            connected = check.pairs - (check.unrouted or 0) - self._discarded
            enough = connected >= (check.pairs if limits.pairs == "all" else int(limits.pairs))
            words = f", as lanes discard packets of {self._discarded}" if self._discarded else ""
            yield self._limit("pairs", str(limits.pairs), f"{connected} of {check.pairs}{words}", enough, connected)
        if limits.credit_loops is not None:
            acyclic = check.credit is not None and check.credit.acyclic
            words = "none" if acyclic else "unknown" if check.credit is None else "some"
            yield self._limit("credit_loops", str(limits.credit_loops).lower(), words, acyclic or limits.credit_loops)
        if limits.warnings is not None:
            count = sum(finding.count for finding in check.findings if finding.severity == "warning")
            yield self._limit("warnings", str(limits.warnings), str(count), count <= limits.warnings, count)
        if limits.idle_cables is not None:
            idle = check.idle_cables
            kept = idle is not None and idle <= limits.idle_cables
            yield self._limit(
                "idle_cables", str(limits.idle_cables), "unknown" if idle is None else str(idle), kept, idle
            )
        loads = any(name not in ("pairs", "credit_loops", "idle_cables") for name in limits.about_tables)
        if loads and self.tables is not None:
            try:
                routing = fabric_routing(network(self.fabric), self.tables, limits.offset, missing="skip")
            except InputError as error:
                raise _refusal(limits, self._line.get("offset", 0), "{0}", str(error)) from None
            found = Guarantees(routing, self.progress)
            yield from self._loads(found)
            yield from self._since(found)
            yield from self._jobs(routing)

    def _limit(
        self, name: str, limit: str, found: str, kept: bool, value: Fraction | int | None = None, line: int = 0
    ) -> LimitCheck:
        if not kept:
            self._own.add("error", "limit", f"{name} = {limit}, found {found}", line or self._line.get(name, 0))
        return LimitCheck(name, limit, found, bool(kept), None if value is None else Fraction(value))

    def _cables(self) -> Iterator[LimitCheck]:
        """Compare the cables with the plan, and with those that must be there."""
        if self.limits.plan is not None:
            self.progress("the plan of the cabling", 0.0)
            try:
                plan = read_plan(self.limits.plan, self.fabric)
            except InputError as error:
                raise _refusal(self.limits, self._line.get("plan", 0), "plan: {0}", str(error)) from None
            self.sources.update(plan.sources)
            yield self._planned("plan", self.limits.plan, plan, whole=True)
        if self.limits.cables:
            ends = [end for pair in self.limits.cables for end in pair]
            line = self._line.get("cables", 0)
            try:
                slots, reasons = slots_named(self.fabric, ends)
            except InputError as error:
                raise _refusal(self.limits, line, "cables: {0}", str(error)) from None
            pairs = tuple(zip(slots[::2], slots[1::2], strict=True))
            plan = Plan(pairs, self.limits.cables, (line,) * len(pairs), reasons=reasons)
            yield self._planned("cables", str(len(pairs)), plan, whole=False)

    def _planned(self, name: str, limit: str, plan: Plan, whole: bool) -> LimitCheck:
        about = Notes(plan.sources[0][0] if plan.sources else self.limits.name)
        there, beyond = compare_cables(self.fabric, plan, whole, about)
        self.notes.append(about)
        surplus = f", {beyond} others" if beyond else ""
        return LimitCheck(
            name, limit, f"{there} of {len(plan.cables)}{surplus}", there == len(plan.cables) and not beyond
        )

    def _loads(self, found: Guarantees) -> Iterator[LimitCheck]:
        """Compare the exact worst case, and what uniform traffic puts on cables."""
        for name in ("worst_load", "uniform_load"):
            wanted = getattr(self.limits, name)
            if wanted is not None:
                load = getattr(found, name)
                yield self._limit(name, str(wanted), self._load(load), load <= wanted, load)

    def _since(self, found: Guarantees) -> Iterator[LimitCheck]:
        """Compare the guarantees with those of an earlier night."""
        if self.limits.since is None:
            return
        line = self._line.get("since", 0)
        try:
            before = read_guarantees(*self.limits.since, self.limits.offset, self.progress)
        except InputError as error:
            raise _refusal(self.limits, line, "since: {0}", str(error)) from None
        self.sources.update(before.routing.topology.sources)
        self.sources.update(before.routing.sources)
        kept = found.pairs >= before.pairs  # by the tables alone: the lanes of that night are not at hand
        yield self._limit("pairs since", f"{before.pairs} before", str(found.pairs), kept, found.pairs, line)
        for name in ("worst_load", "uniform_load"):
            load, old = getattr(found, name), getattr(before, name)
            yield self._limit(f"{name} since", f"{old} before", self._load(load), load <= old, load, line)

    def _jobs(self, routing: FabricRouting) -> Iterator[LimitCheck]:
        """Compare what jobs put on cables."""
        for number, one in enumerate(self.limits.job, 1):
            try:
                found = job(routing, one.hosts, one.pattern, per_host=one.per_host, hottest=1, progress=self.progress)
            except InputError as error:
                raise _refusal(self.limits, one.line, "job {0}: {1}", number, str(error)) from None
            self.sources.update(found.provenance.sources)
            lost = found.jobs[0].lost
            words = f"{found.load}, but {plural(lost, 'pair')} of it cut off" if lost else str(found.load)
            if self._discarded:
                words += f", and lanes discard packets of {plural(self._discarded, 'pair')}, perhaps of it"
            kept = found.load <= one.load and not lost and not self._discarded
            yield self._limit(f"job {number} ({one.pattern})", str(one.load), words, kept, found.load, one.line)

    def _load(self, load: Fraction) -> str:
        """Return a load in words: lost pairs, which are errors of their own, put none on any cable."""
        return f"{load} among the pairs that are connected" if self.check.unrouted else str(load)
