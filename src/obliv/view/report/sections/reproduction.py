"""The papers' tables: published beside computed, with the verdict on each entry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from obliv._util.text import plural, printable
from obliv.results.reproduction import Reproduction
from obliv.view.report.numbers import how, text_of

__all__ = ["VERDICTS", "reproduction_tables"]

#: What each verdict means.
VERDICTS = {
    "match": "as printed",
    "rounding": "agrees as rounded, truncated or within the error of an estimate",
    "reading": "another reading of the paper gives the print, see other readings",
    "erratum": "the print contradicts itself or a proof",
    "open": "no reading that was tried gives the print, or the number cannot decide it",
    "beyond": "a number that the paper does not print",
    "differs": "disagrees without an explanation",
}


def reproduction_tables(reproductions: Sequence[Reproduction]) -> list[dict[str, Any]]:
    """Return the tables of the papers for the template: rows, counts of verdicts, and notes shared by rows."""
    tables = []
    for result in reproductions:
        for (paper, table), group in groupby(result.entries, lambda row: (row.paper, row.table)):
            rows = list(group)
            notes = {note: k + 1 for k, note in enumerate(dict.fromkeys(row.note for row in rows if row.note))}
            counts = Counter(row.verdict for row in rows)
            tables.append(
                {
                    "name": printable(f"{paper} {table}"),
                    "title": printable(result.titles.get(table, "")),
                    "counts": ", ".join(f"{counts[name]:,} {name}" for name in VERDICTS if counts[name]),
                    "entries": plural(len(rows), "entry", "entries"),
                    "open": any(row.verdict == "differs" for row in rows),
                    "readings": any(row.other_readings for row in rows),
                    "rows": [
                        {
                            "entry": printable(row.entry),
                            "published": printable(row.published) or "not printed",
                            "computed": text_of(row.computed)
                            + (f" of {printable(row.counted)}" if row.counted else ""),
                            "how": how(row.computed),
                            "verdict": printable(row.verdict),
                            "readings": [printable(str(reading)) for reading in row.other_readings],
                            "differs": printable(row.differs_if),
                            "note": notes.get(row.note),
                        }
                        for row in rows
                    ],
                    "notes": [printable(note) for note in notes],
                }
            )
    return tables
