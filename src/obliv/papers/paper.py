"""A paper: tables of printed entries, each with the function that computes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import hypot
from pathlib import Path

from obliv import Estimate
from obliv.papers.verdicts import Computed, Said, verdict
from obliv.results.reproduction import ReproducedEntry

__all__ = ["Paper", "Printed", "Step", "Table", "Value", "require", "rows_of"]

#: Called with the finished share of a table, from 0 to 1.
Step = Callable[[float], None]


@dataclass(frozen=True)
class Printed:
    """One printed entry of a paper.

    Parameters
    ----------
    text : str
        The entry as printed.
    says : str, Fraction, AtMost or AtLeast, optional
        The claim of the entry, for :func:`obliv.papers.verdict`; default `text`. If the paper claims that the entry
        equals another computed number, that number is given with :class:`Value`.
    erratum : str
        Why the printed entry is wrong; used only if the computed number disagrees.
    open : str
        Why the entry cannot be reproduced; used only if the computed number disagrees.
    """

    text: str
    says: Said | None = None
    erratum: str = ""
    open: str = ""


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
    print_error : float
        Standard error of the printed number, if that is a mean over random instances.
    """

    value: Computed
    note: str = ""
    against: Fraction | None = None
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
    claim = printed.says if computed.against is None else computed.against
    value = computed.value
    if isinstance(value, Estimate) and computed.print_error:
        value = Estimate(value.value, hypot(value.stderr, computed.print_error), value.samples)
    judged = verdict(printed.text if claim is None else claim, value)
    notes = [computed.note]
    if judged == "differs" and (printed.erratum or printed.open):
        judged = "erratum" if printed.erratum else "open"
        notes.insert(0, printed.erratum or printed.open)
    return ReproducedEntry(paper, table, entry, printed.text, computed.value, judged, " ".join(filter(None, notes)))
