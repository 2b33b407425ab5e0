"""Efficient bufferless routing on leveled networks.

C. Busch, S. Kelkar, M. Magdon-Ismail, 2004.
"""

from __future__ import annotations

from obliv.papers.bufferless import errata, measured, printed, probabilities, statements
from obliv.papers.paper import Paper, Table

__all__ = ["PAPER"]

PAPER = Paper(
    name="bufferless",
    about="C. Busch et al., Efficient bufferless routing on leveled networks (2004): both algorithms and their bounds",
    tables={
        "parameters": Table("the paper's constants, rounded up", printed.PARAMETERS, printed.parameters),
        "theorem3.1": Table(
            "routing times of the centralized algorithm, every move checked", printed.CENTRALIZED, printed.centralized
        ),
        "theorem4.1": Table(
            "routing times of the distributed algorithm, fixed timetable, every move checked",
            printed.DISTRIBUTED,
            printed.distributed,
        ),
        "growth": Table("routing times fitted to the terms of both theorems", printed.GROWTH, printed.compute),
        "probabilities": Table(
            "how often what holds with high probability does", probabilities.PROBABILITIES, probabilities.compute
        ),
        "statements": Table("statements that hold, checked one by one", probabilities.STATEMENTS, statements.compute),
        "measured": Table("dependency graphs and runs of small instances", probabilities.MEASURED, measured.compute),
        "errata": Table(
            "what the paper contradicts elsewhere or leaves undefined, on small instances",
            probabilities.ERRATA,
            errata.compute,
        ),
    },
    figures=statements.FIGURES,
)
