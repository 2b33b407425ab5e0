"""B. Towles, "Finding worst-case permutations for oblivious routing algorithms", Stanford CVA memo 121, 2001."""

from __future__ import annotations

from functools import partial

from obliv.papers.paper import Paper, Table, in_columns
from obliv.papers.towles import drawing, statements

__all__ = ["PAPER"]

PAPER = Paper(
    name="towles",
    about="B. Towles, Finding worst-case permutations for oblivious routing algorithms (2001): DOR and ROMM on tori",
    tables={
        "table1": Table(
            "ideal throughput of DOR and ROMM on a 9-ary 2-cube, fraction of capacity",
            statements.TABLE1,
            statements.table1_rows,
            partial(in_columns, columns=("DOR", "ROMM")),
        ),
        "figure4": Table("focus channels, and which symmetries may be used", statements.FIGURE4, drawing.figure4_rows),
        "figure8": Table(
            "the adversarial pattern for ROMM: what each row of Figure 9 adds to channel c",
            statements.FIGURE8,
            drawing.figure8_rows,
        ),
        "figure9": Table(
            "the worst-case permutation for ROMM on a 9-ary 2-cube, as printed",
            statements.FIGURE9,
            drawing.figure9_rows,
            drawing.layout,
            always=True,
        ),
        "statements": Table("statements about DOR and ROMM", statements.STATEMENTS, statements.statement_rows),
        "growth": Table(
            "run time of one channel, of all channels, and of the edge weights, measured here",
            statements.GROWTH,
            statements.growth_rows,
        ),
    },
    figures=drawing.FIGURES,
)
