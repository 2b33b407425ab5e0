"""The results of reproducing a paper: its entries as published and as computed; the list of papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, groupby, zip_longest
from textwrap import wrap
from typing import Any, ClassVar

from obliv.results.base import WITHOUT_INPUTS, Provenance, WithoutNetwork, never
from obliv.results.codec import Record
from obliv.results.codec import entry as field
from obliv.results.numbers import Bounds, Estimate, number, short, shown

_LINE = 118  # characters of a row
_WIDEST = 34  # of them, of a cell
_NOTE = 110
_NAMES = 3  # rows that a note names; for more rows it gives their number
_UNPRINTED = "not printed"


@dataclass(frozen=True)
class OtherReading(Record):
    """Another reading of a paper's words, its number, and whether the published value fits it.

    Parameters
    ----------
    reading : str
        The reading, in a few words.
    computed : Fraction, Estimate or Bounds
    fits : bool
    """

    reading: str
    computed: Fraction | Estimate | Bounds
    fits: bool

    def __str__(self) -> str:
        return f"{self.reading}: {shown(self.computed)}, {'fits' if self.fits else 'no'}"


@dataclass(frozen=True)
class ReproducedEntry(Record):
    """One entry of a paper's table beside the computed number.

    Parameters
    ----------
    paper, table, entry : str
    published : str
        The print; empty where the paper prints nothing about the computed number.
    computed : Fraction, Estimate or Bounds
    verdict : {"match", "rounding", "reading", "erratum", "open", "beyond", "differs"}
        ``reading`` says that another reading of the paper gives the print; ``open`` that none does, or that the print
        cannot be decided; ``beyond`` marks a computed number that the paper does not print.
    note : str
    counted : str
        If the computed number is a count, all that were counted, such as ``"21 meshes"``.
    other_readings : tuple of OtherReading
        Every other reading that was tried.
    differs_if : str
        The computed numbers that would make the verdict ``differs``.
    """

    paper: str = field(column="paper")
    table: str = field(column="table")
    entry: str = field(column="entry")
    published: str = field(column="published")
    computed: Fraction | Estimate | Bounds = field()
    verdict: str = field(column="verdict")
    note: str = field("", omit=lambda row: not row.note)
    counted: str = field("", omit=lambda row: not row.counted)
    other_readings: tuple[OtherReading, ...] = field((), omit=lambda row: not row.other_readings)
    differs_if: str = field("", omit=lambda row: not row.differs_if)

    def to_dict(self) -> dict[str, Any]:
        """Return the row; a print that another reading gives is ``rounding`` with ``by_reading`` in JSON."""
        data = super().to_dict()
        return data | {"verdict": "rounding", "by_reading": True} if self.verdict == "reading" else data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ReproducedEntry:
        """Return the row that :meth:`to_dict` wrote."""
        row = super().from_dict(data)
        return replace(row, verdict="reading") if data.get("by_reading") is True else row

    def text(self) -> str:
        """Return the computed number, a count with what was counted."""
        return f"{shown(self.computed)} of {self.counted}" if self.counted else shown(self.computed)

    def cells(self) -> dict[str, Any]:
        """Return the row, with the parts of the computed number in columns of their own."""
        readings = "; ".join(map(str, self.other_readings))
        more = {
            "note": self.note,
            "counted": self.counted,
            "other readings": readings,
            "differs if": self.differs_if,
        }
        parts = number(self.computed)
        names = ("exact", "value", "stderr", "samples", "lower", "upper")
        filled = {name: text for name, text in more.items() if text}
        return super().cells() | filled | {f"computed_{name}": parts.get(name) for name in names}


@dataclass(frozen=True, repr=False)
class Reproduction(WithoutNetwork):
    """The computed tables and figures of a paper, beside the published numbers.

    Examples
    --------
    >>> from obliv import papers
    >>> papers.reproduce("towles", "figure8")
    towles figure8: the adversarial pattern for ROMM: what each row of Figure 9 adds to channel c
    <BLANKLINE>
    entry                               published                        computed    verdict  differs if
    ----------------------------------  -------------------------------  ----------  -------  ----------
    channel c under tornado in one row  the same loading as DOR          4           match    not 4
    channel c under the whole pattern   worst-case permutation for ROMM  32/5 = 6.4  match    not 32/5
    channel c, the tornado row's part   the worst-case of DOR            4           match    not 4
    channel c, the other rows' part     load beyond the simple tornado   12/5 = 2.4  match    not 12/5
                                        case
    <BLANKLINE>
    * channel c, the tornado row's part: From 4 nodes of row y = 0, each (k-1)/2 hops.
    <BLANKLINE>
    * channel c, the other rows' part: Rows y = 1: 2/5, y = 2: 2/5, y = 3: 2/5, y = 6: 2/5, y = 7: 2/5, y = 8:
      2/5; y = 4, 5 add nothing. Every pair that adds load adds 1/10.
    """

    kind: ClassVar[str] = "reproduce"
    marks: ClassVar[tuple[str, ...]] = ("rows",)
    beside_published: ClassVar[bool] = True
    table: ClassVar[str] = "entries"

    entries: tuple[ReproducedEntry, ...] = field((), key="rows")
    titles: dict[str, str] = field(default_factory=dict, compare=False, hidden=True)  # of tables
    pages: dict[str, str] = field(default_factory=dict, compare=False, hidden=True)  # tables as the paper sets them
    below: tuple[str, ...] = field((), compare=False, hidden=True)  # those of them that stand below the rows

    @property
    def ok(self) -> bool:
        """Whether every entry agrees with the published value or is explained."""
        return all(row.verdict != "differs" for row in self.entries)

    def latex_cells(self) -> dict[str, list[list[str]]]:
        """Return the tables for LaTeX by name, the heading first: the short columns, each number in one cell.

        Notes and other long texts are in the other formats.
        """
        grids: dict[str, list[list[str]]] = {}
        for row in self.entries:
            grid = grids.setdefault(f"{row.paper} {row.table}", [["entry", "published", "computed", "verdict"]])
            grid.append([row.entry, row.published or _UNPRINTED, short(row.computed), row.verdict])
        return grids

    def __repr__(self) -> str:
        """Return one aligned table for each table of the paper, its notes below."""
        parts = []
        for (paper, table), group in groupby(self.entries, lambda row: (row.paper, row.table)):
            title = f"{paper} {table}: {self.titles[table]}" if table in self.titles else f"{paper} {table}"
            page = [self.pages[table]] if table in self.pages else []
            rows = [] if page and table not in self.below else ["\n".join(_lines(list(group)))]
            parts.append("\n\n".join([title, *rows, *page]))
        return "\n\n\n".join(parts)


@dataclass(frozen=True)
class PaperName(Record):
    """A paper that can be reproduced, with a short description."""

    paper: str = field(column="paper")
    about: str = field(column="about")


@dataclass(frozen=True, repr=False)
class Papers(WithoutNetwork):
    """The papers that can be reproduced."""

    kind: ClassVar[str] = "reproduce"
    marks: ClassVar[tuple[str, ...]] = ("papers",)
    table: ClassVar[str] = "papers"

    provenance: Provenance = field(default_factory=Provenance, codec=WITHOUT_INPUTS, omit=never, rank=1)
    papers: tuple[PaperName, ...] = ()

    def __repr__(self) -> str:
        return "\n".join(f"{row.paper:<10}  {row.about}" for row in self.papers)


def _lines(rows: Sequence[ReproducedEntry]) -> list[str]:
    columns: dict[str, list[list[str]]] = {
        "entry": [[row.entry] for row in rows],
        "published": [[row.published or _UNPRINTED] for row in rows],
        "computed": [[row.text()] for row in rows],
        "verdict": [[row.verdict] for row in rows],
        "differs if": [[row.differs_if] for row in rows],
        "other readings": [[str(reading) for reading in row.other_readings] for row in rows],
    }
    columns = {name: cells for name, cells in columns.items() if name == "entry" or any(map(any, cells))}
    longest = [max(map(len, (name, *chain(*cells)))) for name, cells in columns.items()]
    room = _LINE - 2 * (len(columns) - 1)
    cap = next((cap for cap in range(_WIDEST, 8, -1) if sum(min(cap, width) for width in longest) <= room), 8)
    wrapped = [
        [[name], *([line for part in cell for line in wrap(part, cap)] or [""] for cell in cells)]
        for name, cells in columns.items()
    ]
    table = list(zip(*wrapped, strict=True))
    widths = [max(len(line) for cell in column for line in cell) for column in wrapped]
    lines = []
    for line in table:
        for pieces in zip_longest(*line, fillvalue=""):
            lines.append("  ".join(f"{piece:<{width}}" for piece, width in zip(pieces, widths, strict=True)).rstrip())
        if line is table[0]:
            lines.append("  ".join("-" * width for width in widths))
    entries: dict[str, list[str]] = {}  # by note: rows with the same note share it
    for row in rows:
        if row.note:
            entries.setdefault(row.note, []).append(row.entry)
    for note, names in entries.items():
        shown_names = "; ".join(names) if len(names) <= _NAMES else f"{names[0]} and {len(names) - 1} more rows"
        lines += ["", *wrap(f"{shown_names}: {note}", _NOTE, initial_indent="* ", subsequent_indent="  ")]
    return lines
