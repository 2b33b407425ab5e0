"""What a paper is here: tables of printed entries, and for each table the function that computes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import hypot
from pathlib import Path

from obliv.papers.verdict import Computed, Said, verdict
from obliv.results import Estimate
from obliv.results.reproduction import ReproducedEntry

__all__ = ["Found", "Paper", "Printed", "Table", "rows_of"]

Step = Callable[[float], None]


@dataclass(frozen=True)
class Printed:
    """One entry as it stands in the paper.

    Parameters
    ----------
    text : str
        The printed words or number, as printed.
    says : str, Fraction or AtMost, optional
        What that claims, for :func:`verdict`; by default `text` is itself the printed number. Where the paper says
        that something equals another thing that has to be computed, :class:`Found` brings the other one along.
    erratum : str
        Why the print is wrong, where it is; it counts only where the computed number disagrees.
    open : str
        What is missing to make the entry again, where no known definition does.
    """

    text: str
    says: Said | None = None
    erratum: str = ""
    open: str = ""


@dataclass(frozen=True)
class Found:
    """One entry as computed, with what there is to say about it.

    Parameters
    ----------
    value : Fraction, Estimate or Bounds
    note : str
    against : Fraction, optional
        What the paper says it equals.
    print_error : float
        The standard error of the printed number, where that is a mean over random instances too.
    """

    value: Computed
    note: str = ""
    against: Fraction | None = None
    print_error: float = 0.0


@dataclass(frozen=True)
class Table:
    """A table or figure: its entries as printed, and the function that computes every one of them."""

    title: str
    printed: Mapping[str, Printed]
    compute: Callable[[Step], dict[str, Found]]


@dataclass(frozen=True)
class Paper:
    """A paper: its name on the command line, a line about it, its tables, and what draws its figures into files."""

    name: str
    about: str
    tables: Mapping[str, Table]
    figures: Mapping[str, Callable[[str | Path], None]] = field(default_factory=dict)


def rows_of(paper: Paper, name: str, step: Step) -> list[ReproducedEntry]:
    """Compute one table and judge every entry.

    Raises
    ------
    KeyError
        If the printed entries and the computed ones are not the same.
    """
    table = paper.tables[name]
    found = table.compute(step)
    if list(found) != list(table.printed):
        raise KeyError(f"{paper.name} {name}: computed {list(found)}, printed {list(table.printed)}")
    return [_row(paper.name, name, entry, printed, found[entry]) for entry, printed in table.printed.items()]


def _row(paper: str, table: str, entry: str, printed: Printed, found: Found) -> ReproducedEntry:
    said = printed.says if found.against is None else found.against
    value = found.value
    if isinstance(value, Estimate) and found.print_error:
        value = Estimate(value.value, hypot(value.stderr, found.print_error), value.samples)
    judged = verdict(printed.text if said is None else said, value)
    notes = [found.note]
    if judged == "differs" and (printed.erratum or printed.open):
        judged = "erratum" if printed.erratum else "open"
        notes.insert(0, printed.erratum or printed.open)
    return ReproducedEntry(paper, table, entry, printed.text, found.value, judged, " ".join(filter(None, notes)))
