"""U2TURN: a uniform two-turn routing on meshes, with its tables, claims, equations and figures."""

from __future__ import annotations

from functools import partial

from obliv.papers.paper import Paper, Table, in_columns
from obliv.papers.u2turn import drawing, equations, printed, statements

__all__ = ["PAPER"]

_layout = partial(in_columns, columns=printed.COLUMNS)

PAPER = Paper(
    name="u2turn",
    about="U2TURN, uniform two-turn routing on meshes: VAL, DOR, O1TURN, U2TURN, U2TURN-A; worst and average case",
    tables={
        "table1": Table(
            "largest loads in X and Y of XYX and YXY, all meshes up to 8x8: how many agree",
            printed.TABLE1,
            equations.table1_rows,
        ),
        "table3": Table(
            "throughput on odd square meshes, fraction of capacity", printed.TABLE3, statements.compute_odd, _layout
        ),
        "table4": Table(
            "throughput on even square meshes, fraction of capacity", printed.TABLE4, statements.compute_even, _layout
        ),
        "claims": Table("claims 1 to 3: how many radices agree", printed.CLAIMS, equations.claim_rows),
        "equations": Table("equations 1 to 13", printed.EQUATIONS, equations.equation_rows),
        "figure2": Table(
            "worst case on odd square meshes, fraction of capacity", printed.FIGURE2, drawing.figure2_rows
        ),
        "figure3": Table("patterns that load DOR with the bound of equation 6", printed.FIGURE3, drawing.figure3_rows),
        "figure4": Table("patterns that load DOR with kmax-1", printed.FIGURE4, drawing.figure4_rows),
        "figure5": Table("patterns that load O1TURN with kmax/2", printed.FIGURE5, drawing.figure5_rows),
        "figure6": Table(
            "worst case on asymmetric meshes, fraction of capacity", printed.FIGURE6, drawing.figure6_rows
        ),
        "figure7": Table("average case on asymmetric meshes: improvements", printed.FIGURE7, equations.figure7_rows),
        "averages": Table(
            "average case on asymmetric meshes: statements of the text, for random permutations",
            printed.AVERAGES,
            drawing.compute,
        ),
        "statements": Table("statements of the text", printed.STATEMENTS, statements.compute),
    },
    figures=drawing.FIGURES,
)
