"""The sub-verbs of ``obliv fabric``."""

from __future__ import annotations

from obliv.cli.app import group
from obliv.cli.fabric import (
    average,
    bisection,
    check,
    export,
    failures,
    generate,
    job,
    ratio,
    route,
    shifts,
    throughput,
    whatif,
    worst,
)

__all__ = ["app"]

app = group(
    "Check InfiniBand fabrics, analyze and improve their tables.",
    check.check,
    worst.worst,
    ratio.ratio,
    throughput.throughput,
    failures.failures,
    whatif.whatif,
    job.job,
    average.average,
    bisection.bisection,
    shifts.shifts,
    route.route,
    export.export,
    generate.generate,
)
