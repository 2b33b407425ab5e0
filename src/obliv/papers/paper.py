"""A paper: tables of printed entries, each with the function that computes it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import hypot
from pathlib import Path

from obliv import Bounds, Estimate
from obliv.papers.verdicts import Computed, Said, fitting, verdict
from obliv.results.format import brief
from obliv.results.reproduction import OtherReading, ReproducedEntry

__all__ = ["Paper", "Printed", "Step", "Table", "Value", "agreeing", "computed", "in_columns", "require", "rows_of"]

#: Called with the finished share of a table, from 0 to 1.
Step = Callable[[float], None]


@dataclass(frozen=True)
class Printed:
    """One printed entry of a paper.

    Parameters
    ----------
    text : str
        The entry as printed; empty if the paper prints nothing about it (`beyond`).
    says : str, Fraction, AtMost or AtLeast, optional
        The claim of the entry, for :func:`obliv.papers.verdict`; default `text`. If the paper claims that the entry
        equals another computed number, that number is given with :class:`Value`.
    erratum : str
        Why the printed entry is wrong; used only if the computed number disagrees.
    open : str
        Why the entry cannot be reproduced; used only if the computed number disagrees.
    right : str, Fraction, AtMost, AtLeast or Bounds, optional
        What the computed number has to be where it is not the printed one, from a proof, a closed form or another
        program; any other number differs. Every entry with one of the remarks needs it, so that the row can fail; it
        can also come with the computed number, as :attr:`Value.right`.
    undecided : str
        Why the computed number cannot decide the entry, such as a definition that the paper does not give, or bounds
        that cannot contradict the print ("Bound only: ..."); the verdict is ``open``, if the number is the right one.
    beyond : str
        What the computed number is about, if the paper does not print it; the verdict is ``beyond``, if the number is
        the right one.

    Raises
    ------
    ValueError
        If `undecided` or `beyond` is combined with another remark, the text is empty without `beyond`, or an erratum
        lacks the right value.
    """

    text: str
    says: Said | None = None
    erratum: str = ""
    open: str = ""
    right: Said | None = None
    undecided: str = ""
    beyond: str = ""

    def __post_init__(self) -> None:
        if not self.text and not self.beyond:
            raise ValueError("an entry without text has to say what its number is about: beyond=...")
        if self.judgement and sum(map(bool, (self.erratum, self.open, self.undecided, self.beyond))) > 1:
            raise ValueError(f"{self.text!r}: an entry that is undecided or beyond the paper takes no other remark")

        if self.erratum and self.right is None:
            raise ValueError(f"{self.text!r}: an erratum needs the right value, so that the row can fail")

    @property
    def judgement(self) -> str:
        """The verdict on the right number, whatever is printed, or empty."""
        return "beyond" if self.beyond else "open" if self.undecided else ""


@dataclass(frozen=True)
class Value:
    """One computed entry.

    Parameters
    ----------
    value : Fraction, Estimate or Bounds
        The computed number.
    note : str
        A remark on it.
    against : Fraction, optional
        The number that it equals according to the paper.
    undecided : str
        Why this number, though it fits, cannot decide the entry; the verdict is then ``open``. Of another reading: what
        speaks against it. It is shown, and the note says that it fits, but it does not make the verdict ``reading``.
    print_error : float
        Standard error of the printed number, if that is a mean over random instances.
    readings : dict of str to Value
        What other readings of the paper give, by a few words about each. One that fits where `value` is the right
        number and does not fit makes the verdict ``reading``, and ``open`` says that none fits.
    right : str, Fraction, AtMost, AtLeast or Bounds, optional
        As :attr:`Printed.right`, where it depends on what is computed.
    counted : str
        If the number is a count, all that were counted: ``"21 meshes"``.
    """

    value: Computed
    note: str = ""
    against: Fraction | None = None
    undecided: str = ""
    print_error: float = 0.0
    readings: Mapping[str, Value] = field(default_factory=dict)
    right: Said | None = None
    counted: str = ""


@dataclass(frozen=True)
class Table:
    """A table or figure: its title, its printed entries, and the function that computes all of them.

    `layout` makes the paper's own arrangement of the computed rows, as text; `always` shows it below the rows.
    """

    title: str
    printed: Mapping[str, Printed]
    compute: Callable[[Step], dict[str, Value]]
    layout: Callable[[Sequence[ReproducedEntry]], str] | None = None
    always: bool = False


@dataclass(frozen=True)
class Paper:
    """A paper: its name, a line about it, its tables, and the functions that draw its figures into files."""

    name: str
    about: str
    tables: Mapping[str, Table]
    figures: Mapping[str, Callable[[str | Path], None]] = field(default_factory=dict)


def require(condition: bool, statement: str) -> None:
    """Check a statement that a computed entry relies on.

    Raises
    ------
    ArithmeticError
        If it does not hold.
    """
    if not condition:
        raise ArithmeticError(f"internal error: it does not hold that {statement}")


def agreeing(cases: Iterable[tuple[str, bool]], what: str, note: str = "") -> Value:
    """Count the cases that agree with the paper; the note names the exceptions."""
    listed = list(cases)
    failed = [name for name, fits in listed if not fits]
    count = len(listed) - len(failed)
    summary = (
        f"{count} of {len(listed)} {what} agree; not {', '.join(failed)}." if failed else f"All {count} {what} agree."
    )
    counted = f"{len(listed)} {what}"
    return Value(Fraction(count), f"{summary} {note}".strip(), against=Fraction(len(listed)), counted=counted)


def rows_of(paper: Paper, name: str, step: Step) -> list[ReproducedEntry]:
    """Compute one table and return its rows with their verdicts.

    Raises
    ------
    KeyError
        If the computed entries are not the printed ones.
    """
    table = paper.tables[name]
    computed = table.compute(step)
    if list(computed) != list(table.printed):
        raise KeyError(f"{paper.name} {name}: computed {list(computed)}, printed {list(table.printed)}")
    return [_row(paper.name, name, entry, printed, computed[entry]) for entry, printed in table.printed.items()]


def _row(paper: str, table: str, entry: str, printed: Printed, computed: Value) -> ReproducedEntry:
    right = printed.right if computed.right is None else computed.right
    proper = right is None or verdict(right, computed.value) != "differs"
    fits = _compared(printed, computed)
    readings = tuple(
        OtherReading(name, other.value, _compared(printed, other) != "differs")
        for name, other in computed.readings.items()
    )
    judged, remark = fits, ""
    if printed.judgement:
        judged = printed.judgement if proper else "differs"
        remark = printed.beyond or printed.undecided
    elif computed.undecided and fits != "differs":
        judged, remark = "open", computed.undecided
    elif fits == "differs" and proper:
        remark = printed.erratum or printed.open
        fitting = [other for reading, other in zip(readings, computed.readings.values(), strict=True) if reading.fits]
        if right is not None and any(not other.undecided for other in fitting):
            judged = "reading"
        elif remark:
            judged = "erratum" if printed.erratum else "open"
            remark = " ".join(dict.fromkeys([remark, *(other.undecided for other in fitting)]))
    if judged == "differs":
        remark = ""
    return ReproducedEntry(
        paper=paper,
        table=table,
        entry=entry,
        published=printed.text,
        computed=computed.value,
        verdict=judged,
        note=" ".join(filter(None, (remark, computed.note))),
        counted=computed.counted,
        other_readings=readings,
        differs_if=_differs(printed, computed, right),
    )


def _claim(printed: Printed, computed: Value) -> Said:
    claim = printed.says if computed.against is None else computed.against
    return printed.text if claim is None else claim


def _compared(printed: Printed, computed: Value) -> str:
    """Compare a number with the print; without a comparable print it fits."""
    value = computed.value
    if isinstance(value, Estimate) and computed.print_error:
        value = Estimate(value.value, hypot(value.stderr, computed.print_error), value.samples)
    if printed.judgement and printed.says is None and computed.against is None:
        return "match"
    return verdict(_claim(printed, computed), value)


def _differs(printed: Printed, computed: Value, right: Said | None) -> str:
    """Return the outcome that would make the row differ; empty where none would."""
    if right is None and (printed.judgement or printed.erratum or printed.open):
        return ""
    claims = [] if printed.judgement else [_claim(printed, computed)]
    if right is not None:
        claims.append(right)
    texts = list(dict.fromkeys(fitting(claim, computed.value) for claim in claims))
    return f"not {texts[0]}" if len(texts) == 1 else f"neither {texts[0]} nor {texts[1]}"


def in_columns(rows: Sequence[ReproducedEntry], columns: Sequence[str]) -> str:
    """Return rows whose entries end with the name of a column, as ``"3x3, Random, DOR"``, in these columns.

    What stands before the name of a row, here ``3x3``, heads a block. Where the verdict is not ``match`` or
    ``rounding``, it follows in parentheses with the printed value.
    """
    blocks: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        *block, name, _ = row.entry.split(", ")
        agrees = row.verdict in ("match", "rounding")
        cell = row.text() if isinstance(row.computed, Bounds) else brief(row.computed)
        text = cell if agrees else f"{cell} ({row.verdict}, {row.published})"
        blocks.setdefault(", ".join(block), {}).setdefault(name, []).append(text)
    parts = []
    for heading, lines in blocks.items():
        table: list[list[str]] = [[heading, *columns], *([name, *cells] for name, cells in lines.items())]
        widths = [max(len(line[at]) for line in table) for at in range(len(columns) + 1)]
        padded = ([f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)] for line in table)
        parts.append("\n".join("  ".join(line).rstrip() for line in padded))
    return "\n\n".join(parts)


def computed(entries: Collection[str], values: Iterable[Value], step: Step) -> dict[str, Value]:
    """Compute the value of every entry, one after another."""
    answers = {}
    for at, (entry, value) in enumerate(zip(entries, values, strict=True)):
        answers[entry] = value
        step((at + 1) / len(entries))
    return answers
