"""B. Towles, "Finding worst-case permutations for oblivious routing algorithms", Stanford CVA memo 121, 2001."""

from __future__ import annotations

from functools import partial

from obliv.papers.paper import Paper, Table, in_columns
from obliv.papers.towles import drawing, figure4, figure8, figure9, growth, printed, statements, table1

__all__ = ["PAPER"]

PAPER = Paper(
    name="towles",
    about="B. Towles, Finding worst-case permutations for oblivious routing algorithms (2001): DOR and ROMM on tori",
    tables={
        "table1": Table(
            "ideal throughput of DOR and ROMM on a 9-ary 2-cube, fraction of capacity",
            printed.TABLE1,
            table1.compute,
            partial(in_columns, columns=("DOR", "ROMM")),
        ),
        "figure4": Table("focus channels, and which symmetries may be used", printed.FIGURE4, figure4.compute),
        "figure8": Table(
            "the adversarial pattern for ROMM: what each row of Figure 9 adds to channel c",
            printed.FIGURE8,
            figure8.compute,
        ),
        "figure9": Table(
            "the worst-case permutation for ROMM on a 9-ary 2-cube, as printed",
            printed.FIGURE9,
            figure9.compute,
            figure9.layout,
            always=True,
        ),
        "statements": Table("statements about DOR and ROMM", printed.STATEMENTS, statements.compute),
        "growth": Table(
            "run time of one channel, of all channels, and of the edge weights, measured here",
            printed.GROWTH,
            growth.compute,
        ),
    },
    figures=drawing.FIGURES,
)
