"""Efficient bufferless routing on leveled networks.

C. Busch, S. Kelkar, M. Magdon-Ismail, 2004.
"""

from __future__ import annotations

from functools import partial

from obliv.papers.bufferless import errata, measured, printed, probabilities, statements

__all__ = ["PAPER"]

PAPER = printed.PRINT.paper(
    "bufferless",
    {
        "parameters": printed.parameters,
        "theorem3.1": partial(printed.theorem, "centralized", 3),
        "theorem4.1": partial(printed.theorem, "distributed", 12),
        "growth": printed.compute,
        "probabilities": probabilities.compute,
        "statements": statements.compute,
        "measured": measured.compute,
        "errata": errata.compute,
    },
    statements.FIGURES,
    more={
        "parameters": printed.PARAMETERS,
        "theorem3.1": printed.CENTRALIZED,
        "theorem4.1": printed.DISTRIBUTED,
        "growth": printed.GROWTH,
        "probabilities": probabilities.PROBABILITIES,
    },
)
