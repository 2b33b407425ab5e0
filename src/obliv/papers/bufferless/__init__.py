"""Efficient bufferless routing on leveled networks.

C. Busch, S. Kelkar, M. Magdon-Ismail, 2004.
"""

from __future__ import annotations

from obliv.papers.bufferless import (
    drawing,
    errata,
    growth,
    measured,
    printed,
    probabilities,
    said,
    statements,
    theorems,
)
from obliv.papers.paper import Paper, Table

__all__ = ["PAPER"]

PAPER = Paper(
    name="bufferless",
    about="C. Busch et al., Efficient bufferless routing on leveled networks (2004): both algorithms and their bounds",
    tables={
        "parameters": Table("the paper's constants, rounded up", printed.PARAMETERS, theorems.parameters),
        "theorem3.1": Table(
            "routing times of the centralized algorithm, every move checked", printed.CENTRALIZED, theorems.centralized
        ),
        "theorem4.1": Table(
            "routing times of the distributed algorithm, fixed timetable, every move checked",
            printed.DISTRIBUTED,
            theorems.distributed,
        ),
        "growth": Table("routing times fitted to the terms of both theorems", printed.GROWTH, growth.compute),
        "probabilities": Table(
            "how often what holds with high probability does", said.PROBABILITIES, probabilities.compute
        ),
        "statements": Table("statements that hold, checked one by one", said.STATEMENTS, statements.compute),
        "measured": Table("dependency graphs and runs of small instances", said.MEASURED, measured.compute),
        "errata": Table(
            "what the paper contradicts elsewhere or leaves undefined, on small instances", said.ERRATA, errata.compute
        ),
    },
    figures=drawing.FIGURES,
)
