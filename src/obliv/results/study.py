"""The results of studies (runs, tables of a store, differences), and the result of checking a saved claim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from obliv._util.text import html_table, plural
from obliv.results.base import Result, WithoutNetwork
from obliv.results.codec import Codec, Record, derived, entry
from obliv.results.numbers import Bounds, Estimate, brief, from_number, number

# The result of checking a saved claim


#: The step that stands for the channels that a quick check leaves out.
OTHER_CHANNELS = "other channels"

#: Why there is no mean of throughputs.
IDLE = "some of this traffic loads no channel: its throughput is infinite"

#: Why no lower bound of single paths is given.
NO_BOUND = {
    "network": "no theorem bounds single paths on this network",
    "tree": "no theorem bounds single paths on this tree",
    "longer": "the bounds are given for shortest paths, and not all paths of this routing are shortest",
    "several": "the bounds hold for one path per pair, and this routing has several",
}

REPAIRS = ("ecmp", "shortest", "updown", "valiant")  #: routings that fit any network, for what a failure leaves

#: The verdict of a verification that was loaded.
RECORDED = "not checked here: this is the record of an earlier check; verify the claim itself"

_VERDICTS = {True: "ok", False: "FAILS", None: "not checked"}


@dataclass(frozen=True)
class Check(Record):
    """One step of a verification, and whether it holds; None where it was not checked."""

    check: str = entry(column="check")
    ok: bool | None = entry(column="ok")
    detail: str = entry(column="detail")


@dataclass(frozen=True, repr=False)
class Verification(Result):
    """The result of checking a saved claim: whether it is proved, each step, and the unchecked channels.

    ``beside`` names the keys of the claim that nothing was checked about, such as ``hottest`` or
    ``channels[*].focus``, where ``[*]`` stands for every row of a list.

    Examples
    --------
    >>> import obliv
    >>> obliv.verify(obliv.worst_case(obliv.DOR(obliv.mesh(3, 3)), certificate=True))
    verification: dor on mesh:3x3
      claim     no admissible traffic loads a channel by more than 2 (on all 24 channels)
      verdict   proved
      digest    ok: SHA-256 of the file's content
      form      ok: every part fits the network
      witness   ok: it loads channel 1 by 2, claimed 2
      channels  ok: 4 by prices, 20 by the simple bound
      believed  the routing's paths as obliv's definition of dor gives them
      note      not part of the proof: channel_names, focus_channels, names, crossing
    """

    kind: ClassVar[str] = "verification"

    proved: bool = False
    claim: str = ""
    checks: tuple[Check, ...] = ()
    unchecked: tuple[int, ...] = ()
    beside: tuple[str, ...] = entry((), key="not_part_of_the_proof", omit=lambda checked: not checked.beside)
    definitions: str = entry("", omit=lambda checked: not checked.definitions)  #: Whose they are, if not today's.
    believed: str = entry("", omit=lambda checked: not checked.believed)  #: What the proof rests on.
    recorded: bool = entry(False, compare=False, hidden=True)  #: Whether a file says all this, and nothing was checked.

    @property
    @derived(label="verdict")
    def verdict(self) -> str:
        """``proved``, ``not proved``, or ``one channel holds; not proved`` if no other channel was checked.

        If the claim holds by the definitions of an earlier version only, ``proved by the definitions of obliv ...``.
        """
        if self.proved:
            return f"proved by the definitions of {self.definitions}" if self.definitions else "proved"
        missing = {step.check for step in self.checks if step.ok is not True}
        return "one channel holds; not proved" if missing == {OTHER_CHANNELS} else "not proved"

    @property
    def title(self) -> str:
        """The heading; what was not read has no names."""
        return super().title if self.topology else self.kind

    def summary(self) -> list[tuple[str, str]]:
        if self.recorded:
            return [("claim", self.claim), ("verdict", RECORDED)]
        steps = [(step.check, f"{_VERDICTS[step.ok]}: {step.detail}") for step in self.checks]
        notes = [("believed", self.believed)] if self.believed else []
        notes += [("note", f"not part of the proof: {', '.join(self.beside)}")] if self.beside else []
        return [("claim", self.claim), *super().summary(), *steps, *notes]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Verification:
        """Return the verification that :meth:`to_dict` wrote, as a record: it proves nothing."""
        return replace(super().from_dict(data), recorded=True)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each step."""
        return (step.cells() for step in self.checks)


_NUMBERS = Fraction | Estimate | Bounds


def _encode(value: Any) -> Any:
    return number(value) if isinstance(value, _NUMBERS) else value


def decoded(value: Any) -> Any:
    """Return a number or text that was saved."""
    return from_number(value) if isinstance(value, dict) else value


_VALUE = Codec(_encode, decoded)
_VALUES = Codec(
    lambda values: {name: _encode(value) for name, value in values.items()},
    lambda values: {name: decoded(value) for name, value in values.items()},
)
_OPTIONS = Codec(dict, dict)


@dataclass(frozen=True)
class StudyCell(Record):
    """A cell of a study: a measure of a routing on a topology, with its options; and why it failed, if it did."""

    topology: str = entry(column="topology")
    routing: str | None = entry(column="routing")
    measure: str = entry(column="measure")
    options: dict[str, Any] = entry(default_factory=dict, codec=_OPTIONS)
    seed: int | None = entry(None, column="seed")
    reason: str = entry("", column="reason", omit=lambda cell: not cell.reason)

    @property
    def label(self) -> str:
        """The cell in one line."""
        return f"{self.measure}{options_of(self)}: " + (
            self.topology if self.routing is None else f"{self.routing} on {self.topology}"
        )


def by_reason(cells: Sequence[StudyCell]) -> list[tuple[str, str]]:
    """Return the first cell of each reason, with the number of others, and the reason."""
    groups: dict[str, list[StudyCell]] = {}
    for cell in cells:
        groups.setdefault(cell.reason, []).append(cell)
    more = {
        reason: f" and {plural(len(group) - 1, 'more cell')}" * (len(group) > 1) for reason, group in groups.items()
    }
    return [(group[0].label + more[reason], reason) for reason, group in groups.items()]


def options_of(cell: StudyCell) -> str:
    """Return the options of a cell, and its seed unless it is 0, as text."""
    seed = {"seed": cell.seed} if cell.seed else {}
    return "".join(f" {name}={value}" for name, value in (cell.options | seed).items())


@dataclass(frozen=True)
class StudyRow(StudyCell):
    """A cell with its state, ``done``, ``failed``, ``pending`` or ``damaged``, and what the table shows of it."""

    status: str = entry("pending", column="status")
    figures: dict[str, Any] = entry(default_factory=dict, codec=_VALUES)


@dataclass(frozen=True, repr=False)
class StudyRun(WithoutNetwork):
    """What a run of a study did: all its cells, those done now or `found` done before, and those without a result."""

    kind: ClassVar[str] = "study-run"

    name: str = entry("", key="study")
    store: str = ""
    cells: int = entry(0, label="cells")  # type: ignore[assignment]  # it has no columns
    done: int = entry(0, label="done", text=lambda run: f"{run.done:,}" + (f", {run.found:,} before" * bool(run.found)))
    computed: int = 0
    found: int = 0
    failed: tuple[StudyCell, ...] = entry(())
    skipped: tuple[StudyCell, ...] = entry(())

    @property
    def left(self) -> int:
        """The number of cells that are neither done nor failed nor left out."""
        return self.cells - self.done - len(self.failed) - len(self.skipped)

    @property
    def title(self) -> str:
        return f"study: {self.name} in {self.store}"

    def summary(self) -> list[tuple[str, str]]:
        lines = super().summary()
        for name, cells in (("failed", self.failed), ("left out", self.skipped)):
            if cells:
                lines.append((name, f"{len(cells):,}"))
                groups = [("", f"{group} ({reason})") for group, reason in by_reason(cells)]
                lines += groups[:_MOST]
                lines += [("", f"and {len(groups) - _MOST} more reasons, all in JSON")] * (len(groups) > _MOST)
        return [*lines, *([("left", f"{self.left:,}")] if self.left else [])]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the numbers of cells."""
        yield {
            "study": self.name,
            "cells": self.cells,
            "done": self.done,
            "computed": self.computed,
            "found": self.found,
            "failed": len(self.failed),
            "skipped": len(self.skipped),
            "left": self.left,
        }


_MOST = 20


@dataclass(frozen=True, repr=False)
class Study(WithoutNetwork):
    """The cells of a store; its table has a row for each routing on each topology, and a column for each measure."""

    kind: ClassVar[str] = "study"

    name: str = entry("", key="study")
    entries: tuple[StudyRow, ...] = entry((), key="rows")

    @property
    def title(self) -> str:
        return f"study: {self.name}"

    @property
    @derived()
    def done(self) -> int:
        """The number of cells with a result."""
        return sum(row.status == "done" for row in self.entries)

    @property
    @derived()
    def failed(self) -> int:
        """The number of cells that failed."""
        return sum(row.status == "failed" for row in self.entries)

    @property
    @derived(omit=lambda study: not study.damaged)
    def damaged(self) -> int:
        """The number of cells whose row in the store cannot be read."""
        return sum(row.status == "damaged" for row in self.entries)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each routing on each topology; cells that failed or are not finished say so."""
        names = column_names(self.entries)
        table: dict[tuple[str, str | None], dict[str, Any]] = {}
        columns: dict[str, None] = {}
        for row in self.entries:
            cells = table.setdefault((row.topology, row.routing), {})
            name = names[row.measure, options_of(row)]
            figures = row.figures or {"": row.status}
            for figure, value in figures.items():
                columns[column := f"{name} {figure}".strip()] = None
                cells[column] = value
        places = {topology: place for place, (topology, _) in reversed([*enumerate(table)])}
        for topology, routing in sorted(table, key=lambda row: (places[row[0]], row[1] is not None)):
            cells = table[topology, routing]
            yield {"topology": topology, "routing": routing} | {name: cells.get(name) for name in columns}

    def table_cells(self) -> list[tuple[str, ...]]:
        """Return the table as text, its heading first."""
        rows = list(self.rows())
        if not rows:
            return [("topology", "routing")]
        return [tuple(rows[0]), *(tuple(map(_text, row.values())) for row in rows)]

    def _repr_html_(self) -> str:
        cells = self.table_cells()
        return html_table(self.title, cells, [False, False, *[True] * (len(cells[0]) - 2)])

    def __repr__(self) -> str:
        grid = self.table_cells()
        widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
        lines = ["  " + "  ".join(f"{text:<{n}}" for text, n in zip(row, widths, strict=True)).rstrip() for row in grid]
        counts = [f"{self.done:,} of {plural(len(self.entries), 'cell')} done"]
        counts += [f"{count:,} {what}" for what, count in (("failed", self.failed), ("damaged", self.damaged)) if count]
        failed = [row for row in self.entries if row.status in ("failed", "damaged")]
        failures = [f"  - {group}: {reason}" for group, reason in by_reason(failed)]
        more = [f"  - and {len(failures) - _MOST} more reasons, all in JSON"] * (len(failures) > _MOST)
        return "\n".join([f"{self.title}, {', '.join(counts)}", *lines, *failures[:_MOST], *more])


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "-" if value is None else brief(value)


def column_names(rows: tuple[StudyRow, ...]) -> dict[tuple[str, str], str]:
    """Return the column of each measure with its options: options are named where they tell columns apart."""
    variants: dict[str, dict[str, StudyRow]] = {}
    for row in rows:
        variants.setdefault(row.measure, {})[options_of(row)] = row
    names = {}
    for measure, by_options in variants.items():
        for options, row in by_options.items():
            own = row.options | ({"seed": row.seed} if row.seed is not None else {})
            others = [other.options | {"seed": other.seed} for other in by_options.values()]
            apart = [name for name in own if any(other.get(name) != own[name] for other in others)]
            traffic = [str(own["traffic"])] if "traffic" in own else []
            words = traffic + [f"{name}={own[name]}" for name in apart if name != "traffic"]
            names[measure, options] = " ".join(([] if measure == "throughput" else [measure]) + words)
    return names


@dataclass(frozen=True)
class Difference(StudyCell):
    """A cell that two stores answer differently: the figure, and its value in both; None where there is none."""

    figure: str = entry("", column="figure")
    first: Any = entry(None, column="first", codec=_VALUE)
    second: Any = entry(None, column="second", codec=_VALUE)


@dataclass(frozen=True, repr=False)
class StudyDiff(WithoutNetwork):
    """How two stores differ: the cells that only one of them has, and those with different figures."""

    kind: ClassVar[str] = "study-diff"
    table: ClassVar[str] = "differences"
    columns: ClassVar[tuple[str, ...]] = Difference.header()

    first: str = ""
    second: str = ""
    same: int = entry(0, label="same cells")
    only_first: int = entry(0, label="only in the first")
    only_second: int = entry(0, label="only in the second")
    differences: tuple[Difference, ...] = entry((), key="rows")

    @property
    def equal(self) -> bool:
        """Whether both have the same cells with the same figures."""
        return not (self.differences or self.only_first or self.only_second)

    @property
    def title(self) -> str:
        return f"study: {self.first} and {self.second}"

    def summary(self) -> list[tuple[str, str]]:
        lines = [*super().summary(), ("different", f"{len({row.label for row in self.differences}):,}")]
        lines += [
            ("", f"{row.label} {row.figure}: {_text(row.first)} | {_text(row.second)}")
            for row in self.differences[:_MOST]
        ]
        more = len(self.differences) - _MOST
        return lines + [("", f"and {more} more, all in CSV")] * (more > 0)


@dataclass(frozen=True)
class CellVerdict(StudyCell):
    """Whether the saved result of a cell was checked: as in a verification, or ``no claim`` or ``damaged``."""

    verdict: str = entry("", column="verdict")


@dataclass(frozen=True, repr=False)
class StudyVerification(WithoutNetwork):
    """Whether all claims in a store hold; estimates and the like claim nothing that could be checked."""

    kind: ClassVar[str] = "study-verification"
    table: ClassVar[str] = "verdicts"
    columns: ClassVar[tuple[str, ...]] = CellVerdict.header()

    store: str = ""
    verdicts: tuple[CellVerdict, ...] = entry((), key="rows")
    recorded: bool = entry(False, compare=False, hidden=True)  #: Whether a file says all this, and nothing was checked.

    @property
    @derived(rank=-1)
    def proved(self) -> bool:
        """Whether no claim failed its check, and no cell is damaged."""
        return not (self.count("not proved") or self.count("damaged"))

    def count(self, verdict: str) -> int:
        """Return the number of cells with a verdict."""
        return sum(row.verdict == verdict for row in self.verdicts)

    @property
    def title(self) -> str:
        return f"verification: {self.store}"

    def summary(self) -> list[tuple[str, str]]:
        if self.recorded:
            return [("verdict", RECORDED)]
        found: dict[str, list[CellVerdict]] = {}
        for row in self.verdicts:
            found.setdefault(row.verdict, []).append(row)
        lines = [("proved", f"{self.count('proved'):,}")]
        lines += [(verdict, f"{len(rows):,}") for verdict, rows in found.items() if verdict.startswith("proved by")]
        for verdict in ("not proved", *["damaged"] * ("damaged" in found)):
            wrong = found.get(verdict, [])
            lines.append((verdict, f"{len(wrong):,}"))
            lines += [("", f"{row.label} ({row.reason})") for row in wrong[:_MOST]]
            lines += [("", f"and {len(wrong) - _MOST:,} more, all in CSV")] * (len(wrong) > _MOST)
        return [*lines, ("no claim", f"{self.count('no claim'):,}")]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> StudyVerification:
        """Return the verification that :meth:`to_dict` wrote, as a record: it proves nothing."""
        return replace(super().from_dict(data), recorded=True)
