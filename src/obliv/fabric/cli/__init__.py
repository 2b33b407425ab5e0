"""The sub-verbs of ``obliv fabric``."""

from __future__ import annotations

from obliv.cli.app import group
from obliv.fabric.cli import questions, tables

__all__ = ["app"]

app = group(
    "Check InfiniBand fabrics, analyze and improve their tables.",
    tables.check,
    questions.worst,
    questions.ratio,
    questions.throughput,
    questions.failures,
    questions.whatif,
    questions.job,
    questions.average,
    questions.bisection,
    questions.shifts,
    tables.route,
    tables.export,
    tables.generate,
)
