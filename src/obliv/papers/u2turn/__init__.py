"""U2TURN: a uniform two-turn routing on meshes, with its tables, claims, equations and figures."""

from __future__ import annotations

from functools import partial

from obliv.papers.paper import in_columns
from obliv.papers.u2turn import drawing, equations, printed, statements

__all__ = ["PAPER"]

_layout = partial(in_columns, columns=printed.COLUMNS)

PAPER = printed.PRINT.paper(
    "u2turn",
    {
        "table1": equations.table1_rows,
        "table3": partial(statements.compute_table, printed.ODD),
        "table4": partial(statements.compute_table, printed.EVEN),
        "claims": equations.claim_rows,
        "equations": equations.equation_rows,
        "figure2": drawing.figure2_rows,
        "figure3": drawing.figure3_rows,
        "figure4": drawing.figure4_rows,
        "figure5": drawing.figure5_rows,
        "figure6": drawing.figure6_rows,
        "figure7": equations.figure7_rows,
        "averages": drawing.compute,
        "statements": statements.compute,
    },
    drawing.FIGURES,
    more={
        "table3": printed.TABLE3,
        "table4": printed.TABLE4,
        "equations": printed.EQUATIONS,
        "figure2": printed.FIGURE2,
        "figure6": printed.FIGURE6,
    },
    layouts={"table3": _layout, "table4": _layout},
)
