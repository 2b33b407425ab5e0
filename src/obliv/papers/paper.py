"""A paper: tables of printed entries, each with the function that computes it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import hypot
from pathlib import Path

from obliv import Estimate
from obliv.papers.verdicts import Computed, Said, verdict
from obliv.results.reproduction import ReproducedEntry

__all__ = ["Paper", "Printed", "Step", "Table", "Value", "agreeing", "computed", "require", "rows_of"]

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
    right : Fraction, optional
        The right value by that explanation; another computed number differs. Every erratum has one.
    undecided : str
        Why the computed number cannot decide the entry, such as a definition that the paper does not give, or bounds
        that cannot contradict the print ("Bound only: ..."); the verdict is always ``open``.
    beyond : str
        What the computed number is about, if the paper does not print it; the verdict is always ``beyond``.

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
    right: Fraction | None = None
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
        """The verdict that does not depend on the computed number, or empty."""
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
        Why this number cannot decide the entry; the verdict is then ``open``.
    print_error : float
        Standard error of the printed number, if that is a mean over random instances.
    """

    value: Computed
    note: str = ""
    against: Fraction | None = None
    undecided: str = ""
    print_error: float = 0.0


@dataclass(frozen=True)
class Table:
    """A table or figure: its title, its printed entries, and the function that computes all of them."""

    title: str
    printed: Mapping[str, Printed]
    compute: Callable[[Step], dict[str, Value]]


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
    return Value(Fraction(count), f"{summary} {note}".strip(), against=Fraction(len(listed)))


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
    notes = [computed.note]
    judged = printed.judgement or ("open" if computed.undecided else _compared(printed, computed))
    if printed.judgement or computed.undecided:
        notes.insert(0, printed.beyond or printed.undecided or computed.undecided)
    elif judged == "differs" and (printed.erratum or printed.open) and printed.right in (None, computed.value):
        judged = "erratum" if printed.erratum else "open"
        notes.insert(0, printed.erratum or printed.open)
    return ReproducedEntry(paper, table, entry, printed.text, computed.value, judged, " ".join(filter(None, notes)))


def _compared(printed: Printed, computed: Value) -> str:
    claim = printed.says if computed.against is None else computed.against
    value = computed.value
    if isinstance(value, Estimate) and computed.print_error:
        value = Estimate(value.value, hypot(value.stderr, computed.print_error), value.samples)
    return verdict(printed.text if claim is None else claim, value)


def computed(entries: Collection[str], values: Iterable[Value], step: Step) -> dict[str, Value]:
    """Compute the value of every entry, one after another."""
    answers = {}
    for at, (entry, value) in enumerate(zip(entries, values, strict=True)):
        answers[entry] = value
        step((at + 1) / len(entries))
    return answers
