"""Efficient bufferless routing on leveled networks.

C. Busch, S. Kelkar, M. Magdon-Ismail, 2004.
"""

from __future__ import annotations

from functools import partial

from obliv.papers.bufferless import errata, measured, probabilities, statements, theorems

__all__ = ["PAPER"]

PAPER = theorems.PRINT.paper(
    "bufferless",
    {
        "parameters": theorems.parameters,
        "theorem3.1": partial(theorems.theorem, "centralized", 3),
        "theorem4.1": partial(theorems.theorem, "distributed", 12),
        "growth": theorems.compute,
        "probabilities": probabilities.compute,
        "statements": statements.compute,
        "measured": measured.compute,
        "errata": errata.compute,
    },
    statements.FIGURES,
    more={
        "parameters": theorems.PARAMETERS,
        "theorem3.1": theorems.CENTRALIZED,
        "theorem4.1": theorems.DISTRIBUTED,
        "growth": theorems.GROWTH,
        "probabilities": probabilities.PROBABILITIES,
    },
)
