"""The result of checking a fabric (size, shape, findings with their places), and its reports: JUnit XML and SARIF."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path, PurePath
from typing import Any, ClassVar, TypeVar
from urllib.parse import quote

from obliv import __version__
from obliv._util.rationals import boolean
from obliv._util.text import plural, printable
from obliv.results.base import Result
from obliv.results.codec import TEXT_OR_NULL, Codec, Record, codec_of, derived, entry
from obliv.results.numbers import shown

__all__ = ["ChoiceCheck", "CreditLoop", "EngineRun", "FabricCheck", "Finding", "LaneLoop", "LevelLoop", "LimitCheck"]

_Key = TypeVar("_Key")

_SHOWN = 4  # findings of a kind on a page
_NO_TABLES = "no forwarding tables were given"
_WHOLE = codec_of(int)

#: A number that is null in JSON where it is 0.
_LINE_OR_NULL = Codec(lambda line: line or None, lambda data: 0 if data is None else _WHOLE.decode(data))


@dataclass(frozen=True)
class Finding(Record):
    """A finding with its place.

    Parameters
    ----------
    severity : str
        "error" (packets are lost or the files contradict each other), "warning" or "note".
    kind, message : str
    file : str
        "" where it is in no file.
    line : int
        0 where it is in no line.
    count : int
        How many findings this one stands for.
    guid, switch : str or None
        The GUID and the name of the node that the finding is about: a switch, or else a host.
    port : int or None
        The port of that node.
    peer : str or None
        The other end of its cable; of a missing cable, the end that the cable should have.
    """

    severity: str
    kind: str
    message: str = entry(rank=1)
    file: str = entry("", codec=TEXT_OR_NULL)
    line: int = entry(0, codec=_LINE_OR_NULL)
    count: int = entry(1, omit=lambda finding: finding.count == 1, rank=1)
    guid: str | None = entry(None, omit=lambda finding: finding.guid is None, rank=2)
    switch: str | None = entry(None, omit=lambda finding: finding.switch is None, rank=2)
    port: int | None = entry(None, omit=lambda finding: finding.port is None, rank=2)
    peer: str | None = entry(None, omit=lambda finding: finding.peer is None, rank=2)

    def cells(self) -> dict[str, Any]:
        """Return the row: the keys of the JSON."""
        return self.to_dict()

    @property
    def text(self) -> str:
        """The message with file and line."""
        place = f"{self.file}:{self.line}: " if self.file and self.line else f"{self.file}: " if self.file else ""
        return place + self.message


@dataclass(frozen=True)
class EngineRun(Record):
    """The routing engine that OpenSM used, the one requested, and those that failed before it."""

    used: str | None = None
    requested: str | None = None
    failed: tuple[str, ...] = ()


@dataclass(frozen=True)
class CreditLoop(Record):
    """Whether routes can deadlock; `cycle` contains the ports at which its channels start, `lanes` the lane of each."""

    acyclic: bool
    dependencies: int
    cycle: tuple[str, ...] | None = None
    lanes: tuple[int, ...] | None = entry(None, omit=lambda loop: loop.lanes is None)


@dataclass(frozen=True)
class LaneLoop(Record):
    """Whether the dependencies that stay on one virtual lane have a cycle."""

    lane: int
    acyclic: bool
    dependencies: int
    cycle: tuple[str, ...] | None = None


@dataclass(frozen=True)
class LevelLoop(Record):
    """Whether routes can deadlock if all packets have one service level, and whether packets of it are discarded."""

    sl: int
    acyclic: bool
    dropped: bool
    dependencies: int
    cycle_length: int | None = None


@dataclass(frozen=True)
class ChoiceCheck(Record):
    """What packets can meet by the choices of switches with adaptive routing, by the tables of one private LFT.

    Parameters
    ----------
    plft : int
        Number of the private LFT.
    entries : int
        LIDs of switches that are adaptive.
    unrouted, loops : int
        Pairs whose packets can be lost, and those whose packets can go round.
    credit : CreditLoop
        On one virtual lane, over all choices.
    """

    plft: int
    entries: int
    unrouted: int
    loops: int
    credit: CreditLoop = entry(key="deadlock")


@dataclass(frozen=True)
class LimitCheck(Record):
    """A limit, what was found, and whether it is kept; a finding says more where it is not.

    Parameters
    ----------
    name : str
        As in the file of limits; of a job with its number.
    limit, found : str
        As text: loads are exact.
    kept : bool
    value : Fraction or None
        What was found as a number, of limits that are numbers; None for others.
    """

    name: str
    limit: str
    found: str
    kept: bool
    value: Fraction | None = entry(None, omit=lambda check: check.value is None)


@dataclass(frozen=True, repr=False)
class FabricCheck(Result):
    """Result of checking a fabric and its forwarding tables: size, shape and findings.

    Parameters
    ----------
    endpoints, switches, channels : int
        Channels are cables in one direction.
    shape : str
        The fat tree that the fabric is, or nearly is; "" where it is not one.
    findings : tuple of Finding
        Errors first. Where a severity and kind has very many, the last finding stands for those that are not stored.
    pairs : int
        Ordered pairs of endpoints.
    unrouted, loops, dead_ends, wrong_ends : int or None
        Pairs that the tables do not serve, and those that go round, stop at a switch, or come to another host; None
        where no tables were given.
    engine : EngineRun or None
        Where a log was given.
    credit : CreditLoop or None
        With the lanes that were given; on one lane without.
    one_lane : CreditLoop or None
        On one lane.
    same_sl : tuple of LevelLoop
        For every service level: if all packets had it. Empty where no lanes were given, as the fields that follow.
    lanes_used : tuple of int
        Virtual lanes that packets use.
    levels_used : tuple of int
        Service levels of packets.
    per_lane : tuple of LaneLoop
    dropped_pairs : int or None
        Pairs of a host and a LID whose packets are discarded by VL 15.
    uniform_load : Fraction or None
        The exact largest load under uniform traffic by the static tables, self-pairs included, where routes were
        traced; of hosts with several LIDs, if sources use all of them equally.
    uniform_bound : Fraction or None
        What no routing is below; None where cables differ in speed, or pairs are not connected.
    idle_channels, idle_cables : int or None
        Channels between switches that no route uses, and the cables that they belong to.
    adaptive : tuple of ChoiceCheck
        For every private LFT, where the groups of adaptive routing were given.
    limits : tuple of LimitCheck
        Where limits were given; each one that is not kept is an error among the findings, too.

    Examples
    --------
    >>> import obliv
    >>> obliv.fabric.check(obliv.fabric.from_topology(obliv.fattree(4, 2)))
    fabric-check: no tables on fabric:fattree:4,2
      endpoints  8
      switches   6
      cables     16
      shape      FT(4,2)
      verdict    no problems found
    """

    kind: ClassVar[str] = "fabric-check"
    columns: ClassVar[tuple[str, ...]] = (
        *("severity", "kind", "file", "line", "message"),
        *("guid", "switch", "port", "peer"),
    )

    @property
    @derived()
    def ok(self) -> bool:
        """Whether there are no errors; there may be warnings and notes."""
        return not any(finding.severity == "error" for finding in self.findings)

    @property
    def clean(self) -> bool:
        """Whether there are neither errors nor warnings; there may be notes."""
        return all(finding.severity == "note" for finding in self.findings)

    endpoints: int = 0
    switches: int = 0
    channels: int = 0
    shape: str = entry("", codec=TEXT_OR_NULL)
    findings: tuple[Finding, ...] = ()

    @property
    @derived(key="finding_counts")
    def counts(self) -> dict[str, int]:
        """The number of findings of each kind, including those that are not stored."""
        total = _total((finding.kind, finding) for finding in self.findings)
        return {kind: total[kind] for kind in sorted(total)}

    pairs: int = 0
    unrouted: int | None = entry(None, reason=_NO_TABLES)
    loops: int | None = entry(None, reason=_NO_TABLES)
    dead_ends: int | None = entry(None, reason=_NO_TABLES)
    wrong_ends: int | None = entry(None, reason=_NO_TABLES)
    engine: EngineRun | None = None
    credit: CreditLoop | None = entry(None, key="deadlock")
    one_lane: CreditLoop | None = entry(None, key="deadlock_one_lane", omit=lambda check: check.one_lane is None)
    same_sl: tuple[LevelLoop, ...] = entry((), key="deadlock_same_sl", omit=lambda check: not check.same_sl)
    lanes_used: tuple[int, ...] = entry((), omit=lambda check: not check.same_sl)
    levels_used: tuple[int, ...] = entry((), key="service_levels_used", omit=lambda check: not check.same_sl)
    per_lane: tuple[LaneLoop, ...] = entry((), key="deadlock_per_lane", omit=lambda check: not check.same_sl)
    dropped_pairs: int | None = entry(None, omit=lambda check: check.dropped_pairs is None)
    uniform_load: Fraction | None = entry(None, omit=lambda check: check.uniform_load is None)
    uniform_bound: Fraction | None = entry(None, omit=lambda check: check.uniform_bound is None)
    idle_channels: int | None = entry(None, omit=lambda check: check.idle_channels is None)
    idle_cables: int | None = entry(None, omit=lambda check: check.idle_cables is None)
    adaptive: tuple[ChoiceCheck, ...] = entry((), omit=lambda check: not check.adaptive)
    limits: tuple[LimitCheck, ...] = entry((), omit=lambda check: not check.limits)

    def of(self, kind: str) -> tuple[Finding, ...]:
        """Return the findings of a kind."""
        return tuple(finding for finding in self.findings if finding.kind == kind)

    def summary(self) -> list[tuple[str, str]]:
        lines = [
            ("endpoints", f"{self.endpoints:,}"),
            ("switches", f"{self.switches:,}"),
            ("cables", f"{self.channels // 2:,}"),
            ("shape", self.shape or "not a fat tree"),
        ]
        if self.engine is not None:
            used, asked = self.engine.used or "none", self.engine.requested
            lines.append(("engine", used if asked in (None, used) else f"{used} (requested: {asked})"))
        if self.unrouted is not None:
            lost = f"{self.unrouted:,} of {self.pairs:,} pairs are not connected"
            lines.append(("routes", lost if self.unrouted else f"all {self.pairs:,} pairs are connected"))
            for name in ("loops", "dead_ends", "wrong_ends"):
                if count := getattr(self, name):
                    lines.append((name.replace("_", " "), f"{count:,} pairs"))
        if self.uniform_load is not None:
            least = " among connected pairs" * bool(self.unrouted)
            least += "" if self.uniform_bound is None else f"; at least {shown(self.uniform_bound)} by any routing"
            best = self.uniform_load == self.uniform_bound
            lines.append(("uniform", f"load {shown(self.uniform_load)}{'; no routing has less' if best else least}"))
        lines += self._deadlock()
        lines += self._choices()
        for limit in self.limits:
            mark = "kept" if limit.kept else "not kept"
            lines.append(("limit", f"{limit.name} = {limit.limit}: {mark}, found {limit.found}"))
        lines.append(("verdict", self._verdict()))
        return lines + self._page()

    def _deadlock(self) -> list[tuple[str, str]]:
        """Return the verdicts on deadlock: with the lanes given, on each cyclic lane, on one lane, on one SL."""
        if self.credit is None:
            return []
        if not self.same_sl:
            return [("deadlock", _waiting(self.credit, "one virtual lane"))]
        lines = [
            ("lanes", f"VL {_ranges(self.lanes_used)}, by SL {_ranges(self.levels_used)}"),
            ("deadlock", _waiting(self.credit, plural(len(self.lanes_used), "virtual lane"))),
        ]
        if self.dropped_pairs:
            lines.append(("dropped", plural(self.dropped_pairs, "pair")))
        lines += [(f"VL {loop.lane}", _waiting(loop)) for loop in self.per_lane if not loop.acyclic]
        if self.one_lane is not None:
            lines.append(("one lane", _waiting(self.one_lane)))
        texts: dict[str, list[int]] = {}
        for loop in self.same_sl:
            text = "cyclic" if not loop.acyclic else "acyclic"
            texts.setdefault("packets discarded" if loop.dropped else text, []).append(loop.sl)
        lines.append(("one SL", "; ".join(f"{text} on SL {_ranges(sls)}" for text, sls in texts.items())))
        return lines

    def _choices(self) -> list[tuple[str, str]]:
        """Return what packets can meet by the choices of switches."""
        lines = []
        for part in self.adaptive:
            lost = f"{part.unrouted:,} of {self.pairs:,} pairs can lose packets" if part.unrouted else "none are lost"
            which = f"private LFT {part.plft}: " if len(self.adaptive) > 1 else ""
            lines.append(("any choice", f"{which}{lost}; {_waiting(part.credit, 'one virtual lane')}"))
        return lines

    def _verdict(self) -> str:
        number = _total((finding.severity, finding) for finding in self.findings)
        words = [word for word in ("error", "warning", "note") if number[word]]
        return ", ".join(plural(number[word], word) for word in words) or "no problems found"

    def _page(self) -> list[tuple[str, str]]:
        """Return the findings, the first few of each severity and kind."""
        lines: list[tuple[str, str]] = []
        total = _total(((finding.severity, finding.kind), finding) for finding in self.findings)
        shown: Counter[tuple[str, str]] = Counter()
        last: dict[tuple[str, str], int] = {}
        for finding in self.findings:
            key = finding.severity, finding.kind
            shown[key] += 1
            if shown[key] <= _SHOWN:
                lines.append((finding.severity, finding.text))
                last[key] = len(lines)
        for key, at in sorted(last.items(), key=lambda item: -item[1]):
            if total[key] > _SHOWN:
                lines.insert(at, ("", f"and {total[key] - _SHOWN:,} more of this kind ({key[1]})"))
        return lines

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each finding."""
        return (finding.cells() for finding in self.findings)


def _waiting(loop: CreditLoop | LaneLoop, where: str = "") -> str:
    """Return a verdict in words."""
    text = f"cyclic: {len(loop.cycle)} channels can wait for each other" if loop.cycle else "acyclic"
    return f"{text} ({loop.dependencies:,} dependencies{', ' + where if where else ''})"


def _ranges(numbers: Sequence[int]) -> str:
    """Return numbers in order with ranges: ``0-3, 7``."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1][1:] = [number]
        else:
            parts.append([number])
    return ", ".join("-".join(map(str, part)) for part in parts) or "none"


def _total(keyed: Iterable[tuple[_Key, Finding]]) -> Counter[_Key]:
    """Return the number of findings under each key; one finding may represent several."""
    total: Counter[_Key] = Counter()
    for key, finding in keyed:
        total[key] += finding.count
    return total


# Reports of a check for other programs: JUnit XML and SARIF


def junit_of(check: FabricCheck, strict: bool = False) -> str:
    """Return a check as JUnit XML: a test case for each limit and each kind of finding.

    Parameters
    ----------
    check : FabricCheck
    strict : bool
        Whether warnings are failures, too.
    """
    strict = boolean(strict, "strict")
    failing = ["error", *(["warning"] if strict else [])]
    by_kind: dict[str, list[Finding]] = {}
    for finding in check.findings:
        if finding.kind not in ("limit", "plan"):
            by_kind.setdefault(finding.kind, []).append(finding)
    suite = ET.Element("testsuite", name="obliv fabric check")
    cases = failures = 0
    for limit in check.limits:
        case = ET.SubElement(suite, "testcase", classname="obliv.fabric.limits", name=_clean(limit.name))
        cases += 1
        if not limit.kept:
            failures += 1
            told = [
                one for one in check.findings if one.kind == ("plan" if limit.name in ("plan", "cables") else "limit")
            ]
            text = f"{limit.name} = {limit.limit}, found {limit.found}"
            _fail(case, text, [one for one in told if one.kind == "plan" or one.message.startswith(f"{limit.name} = ")])
    for kind, findings in by_kind.items():
        case = ET.SubElement(suite, "testcase", classname="obliv.fabric.check", name=_clean(kind))
        cases += 1
        wrong = [finding for finding in findings if finding.severity in failing]
        if wrong:
            failures += 1
            _fail(case, wrong[0].text, wrong)
        else:
            ET.SubElement(case, "system-out").text = _clean("\n".join(finding.text for finding in findings))
    if not cases:
        ET.SubElement(suite, "testcase", classname="obliv.fabric.check", name="no problems found")
        cases = 1
    suite.set("tests", str(cases))
    suite.set("failures", str(failures))
    suite.set("errors", "0")
    ET.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suite, encoding="unicode") + "\n"


def _fail(case: ET.Element, message: str, findings: Iterable[Finding]) -> None:
    failure = ET.SubElement(case, "failure", message=_clean(message))
    failure.text = _clean("\n".join(finding.text for finding in findings))


def _clean(text: str) -> str:
    """Return text without the characters that XML cannot contain."""
    return "\n".join(printable(line) for line in text.split("\n"))


# A check of a fabric as SARIF 2.1.0, which code hosts show beside files


def sarif_of(check: FabricCheck) -> str:
    """Return the findings of a check as SARIF, each with its file, line, switch and port."""
    kinds = sorted({finding.kind for finding in check.findings})
    driver = {
        "name": "obliv",
        "version": __version__,
        "rules": [{"id": kind, "shortDescription": {"text": kind.replace("-", " ")}} for kind in kinds],
    }
    run = {
        "tool": {"driver": driver},
        "results": [_result(finding, kinds.index(finding.kind)) for finding in check.findings],
    }
    log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=1) + "\n"


def _result(finding: Finding, rule: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.kind,
        "ruleIndex": rule,
        "level": finding.severity,
        "message": {"text": finding.message or finding.kind},
    }
    if finding.file:
        path = PurePath(finding.file)
        uri = Path(path).as_uri() if path.is_absolute() else quote(path.as_posix())
        place: dict[str, Any] = {"artifactLocation": {"uri": uri}}
        if finding.line:
            place["region"] = {"startLine": finding.line}
        result["locations"] = [{"physicalLocation": place}]
    named = {key: value for key in ("guid", "switch", "port", "peer") if (value := getattr(finding, key)) is not None}
    if finding.count > 1:
        named["count"] = finding.count
    if named:
        result["properties"] = named
    return result
