"""Limits of a fabric from a TOML file, whether a checked fabric keeps them, and what its tables guarantee."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

from obliv._util.progress import Progress, rising
from obliv._util.rationals import exact
from obliv._util.text import did_you_mean, plural, printable
from obliv._util.toml import line_of, read_toml
from obliv.errors import FileError, InputError
from obliv.fabric.files.folder import read
from obliv.fabric.gate.plan import CablePlan, compare_cables, read_plan, slots_named
from obliv.fabric.jobs.job import job
from obliv.fabric.model import Fabric, Notes, Tables, typed
from obliv.fabric.results.check import FabricCheck, LimitCheck
from obliv.fabric.routes.routing import FabricRouting, routing, uniform_load
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.topology import network
from obliv.questions.worst_case import worst_load


@dataclass(frozen=True)
class JobLimit:
    """The largest load that a job may put on any cable."""

    hosts: str  # file of its hosts; in a file of limits its path is relative to that file
    pattern: str
    load: Fraction
    per_host: int = 1
    line: int = 0


@dataclass(frozen=True)
class Limits:
    """What has to hold of a fabric and its tables; None where nothing is asked.

    Parameters
    ----------
    name : str
        The file.
    worst_load, uniform_load : Fraction
        The exact worst load is at most this; so is that under uniform traffic, self-pairs included.
    idle_cables : int
        At most so many cables are used by no route, in one direction at least.
    pairs : int or "all"
        At least so many ordered pairs of hosts are connected.
    credit_loops : bool
        False: there are none, with the lanes that are given.
    warnings : int
        At most so many warnings.
    hosts, switches : int
        There are exactly so many.
    shape : str
        The fat tree that the fabric is: ``FT(8,3)``.
    engine : str
        The engine that OpenSM used, by its log.
    plan : str
        File of the planned cabling, see :func:`obliv.fabric.gate.plan.read_plan`.
    cables : tuple of (str, str)
        Cables that must be there, as ports ``NAME/PORT``.
    since : tuple of (str, str)
        Topology and tables of an earlier night: no pairs are lost since then, and neither load has grown.
    offset : str
        The rule for the LIDs of destinations that sources use, for tables with several LIDs per host; no limit itself.
    job : tuple of JobLimit
    lines : tuple of (str, int)
        Where each limit is.
    sources : tuple of (path, SHA-256)
    """

    name: str = "limits"
    worst_load: Fraction | None = None
    uniform_load: Fraction | None = None
    idle_cables: int | None = None
    pairs: int | str | None = None
    credit_loops: bool | None = None
    warnings: int | None = None
    hosts: int | None = None
    switches: int | None = None
    shape: str | None = None
    engine: str | None = None
    plan: str | None = None
    cables: tuple[tuple[str, str], ...] = ()
    since: tuple[str, str] | None = None
    offset: str = "0"
    job: tuple[JobLimit, ...] = ()
    lines: tuple[tuple[str, int], ...] = ()
    sources: tuple[tuple[str, str], ...] = ()

    @property
    def about_tables(self) -> list[str]:
        """The limits that need forwarding tables."""
        single = ("worst_load", "uniform_load", "idle_cables", "pairs", "credit_loops", "since")
        return [name for name in single if getattr(self, name) is not None] + ["job"] * bool(self.job)


@typed
def read_limits(path: str | Path) -> Limits:
    """Read the limits of a fabric.

    Parameters
    ----------
    path : str or Path
        TOML with any of the keys of :class:`Limits`; ``[[job]]`` has `hosts`, `pattern`, `load` and `per_host`.

    Raises
    ------
    FileError
        With the line: unknown keys, values of another type, no limit at all.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "fabric.toml"
    ...     _ = file.write_text('worst_load = "7/2"' + chr(10) + 'pairs = "all"')
    ...     limits = read_limits(file)
    >>> limits.worst_load, limits.pairs
    (Fraction(7, 2), 'all')
    """
    content, text, digest = read_toml(path)
    read = _Keys(path, text, ())
    read.require(content, (*_KEYS, "job"))
    values = {key: read.value(key, value, _KEYS[key]) for key, value in content.items() if key != "job"}
    folder = Path(path).parent
    if "plan" in values:
        values["plan"] = str(folder / values["plan"])
    if "since" in values:
        values["since"] = tuple(str(folder / name) for name in values["since"])
    jobs = content.get("job", [])
    if not isinstance(jobs, list) or not all(isinstance(job, dict) for job in jobs):
        read.refuse("job is not a list of tables: write [[job]] before each", "job")
    found = tuple(_job(path, text, number, job, folder) for number, job in enumerate(jobs, 1))
    if not values.keys() - {"offset"} and not found:
        raise FileError("contains no limit: write for example worst_load = 4", path)
    lines = tuple((key, line_of(text, key) or 0) for key in values)
    return Limits(str(path), **values, job=found, lines=lines, sources=((str(path), digest),))


class _Keys:
    """The keys of a table, for messages with lines."""

    def __init__(self, path: str | Path, text: str, above: tuple[str, ...]) -> None:
        self.path, self.text, self.above = path, text, above

    def refuse(self, message: str, *words: str) -> NoReturn:
        raise FileError(message, self.path, line_of(self.text, *self.above, *words))

    def require(self, table: dict[str, Any], known: Iterable[str]) -> None:
        for key in table:
            if key not in known:
                self.refuse(f"{printable(key[:60])!r} is not a limit: {did_you_mean(key, sorted(known))}", key)

    def value(self, key: str, value: Any, kind: _Kind) -> Any:
        read, needed = kind
        found = read(value)
        if found is None:
            self.refuse(f"{key} = {_written(value)}: {needed}", key)
        return found


def _written(value: Any) -> str:
    """Return a value as it is written in TOML, cut short."""
    text = f'"{value}"' if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
    return printable(text if len(text) <= 40 else text[:37] + "...")


_Kind = tuple[Callable[[Any], Any], str]


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 62 else None


def _load(value: Any) -> Fraction | None:
    number = exact(value) if isinstance(value, (int, float, str)) else None
    return number if number is not None and number >= 0 else None


def _pairs(value: Any) -> int | str | None:
    return "all" if value == "all" else _count(value)


def _word(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() and "\0" not in value else None


def _offset(value: Any) -> str | None:
    return str(value) if _count(value) is not None else _word(value)


def _cables(value: Any) -> tuple[tuple[str, str], ...] | None:
    if not isinstance(value, list) or not value:
        return None
    good = [pair for pair in value if isinstance(pair, list) and len(pair) == 2 and all(map(_word, pair))]
    return tuple((one, other) for one, other in good) if len(good) == len(value) else None


def _two_files(value: Any) -> tuple[str, ...] | None:
    return tuple(value) if isinstance(value, list) and len(value) == 2 and all(map(_word, value)) else None


_LOAD: _Kind = (_load, 'a number at least 0 is needed, as 4, 3.5 or "7/2"')
_COUNT: _Kind = (_count, "a whole number at least 0 is needed")
_WORD: _Kind = (_word, "text in quotes is needed")
_KEYS: dict[str, _Kind] = {
    "worst_load": _LOAD,
    "uniform_load": _LOAD,
    "idle_cables": _COUNT,
    "pairs": (_pairs, '"all" or a whole number is needed'),
    "credit_loops": (lambda value: value if isinstance(value, bool) else None, "true or false is needed"),
    "warnings": _COUNT,
    "hosts": _COUNT,
    "switches": _COUNT,
    "shape": _WORD,
    "engine": _WORD,
    "offset": (_offset, 'a number or text in quotes is needed, as "0-0-1-1"'),
    "plan": (_word, "the name of a file is needed"),
    "since": (_two_files, 'two files are needed, as ["nights/good/topology.txt", "nights/good/tables.txt"]'),
    "cables": (_cables, 'pairs of ports are needed, as [["leaf1/3", "spine2/1"]]'),
}
_JOB_KEYS: dict[str, _Kind] = {
    "hosts": (_word, "the name of a file is needed"),
    "pattern": _WORD,
    "load": _LOAD,
    "per_host": _COUNT,
}


def _job(path: str | Path, text: str, number: int, table: dict[str, Any], folder: Path) -> JobLimit:
    """Return a limit of a job."""
    read = _Keys(path, text, ("job",) * number)
    read.require(table, _JOB_KEYS)
    for field in fields(JobLimit)[:3]:
        if field.name not in table:
            read.refuse(f"job {number} has no {field.name}")
    values = {key: read.value(key, value, _JOB_KEYS[key]) for key, value in table.items()}
    values["hosts"] = str(folder / values["hosts"])
    return JobLimit(**values, line=line_of(text, *read.above) or 0)


# What tables guarantee, for limits and for a comparison with an earlier night


class Guarantees:
    """Connected pairs and exact loads of tables, each computed once; pairs that are cut off are in no load.

    The routing is made with ``missing="skip"``.
    """

    def __init__(self, routing: FabricRouting, progress: Progress) -> None:
        self.routing, self._progress = routing, progress

    @property
    def pairs(self) -> int:
        """Ordered pairs of hosts whose packets arrive."""
        ends = len(self.routing.topology.terminals)
        return ends * (ends - 1) - self.routing.skipped

    @cached_property
    def worst_load(self) -> Fraction:
        """The largest load under any admissible traffic."""
        return worst_load(self.routing.fabric_loads, progress=self._progress)

    @cached_property
    def uniform_load(self) -> Fraction:
        """The largest load under uniform traffic."""
        return uniform_load(self.routing)


def read_guarantees(topology: str, tables: str, offset: str, progress: Progress) -> Guarantees:
    """Return the guarantees of the files of another night."""
    fabric, read_out = read(topology, tables, progress=progress)
    if read_out is None:
        raise TypeError("guarantees need forwarding tables")
    return Guarantees(routing(network(fabric), read_out, offset, missing="skip"), progress)


# Whether a checked fabric keeps its limits


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
    >>> from obliv.fabric.generate import from_topology, tables_of
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
            plan = CablePlan(pairs, self.limits.cables, (line,) * len(pairs), reasons=reasons)
            yield self._planned("cables", str(len(pairs)), plan, whole=False)

    def _planned(self, name: str, limit: str, plan: CablePlan, whole: bool) -> LimitCheck:
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
