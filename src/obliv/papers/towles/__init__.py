"""B. Towles, "Finding worst-case permutations for oblivious routing algorithms", Stanford CVA memo 121, 2001."""

from __future__ import annotations

from functools import partial

from obliv.papers.paper import in_columns
from obliv.papers.towles import drawing, statements

__all__ = ["PAPER"]

PAPER = statements.PRINT.paper(
    "towles",
    {
        "table1": statements.table1_rows,
        "figure4": drawing.figure4_rows,
        "figure8": drawing.figure8_rows,
        "figure9": drawing.figure9_rows,
        "statements": statements.statement_rows,
        "growth": statements.growth_rows,
    },
    drawing.FIGURES,
    layouts={"table1": partial(in_columns, columns=("DOR", "ROMM")), "figure9": drawing.layout},
    always={"figure9"},
)
