"""The sub-verbs of ``obliv fabric``."""

from __future__ import annotations

import typer

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
from obliv.cli.options import flat

__all__ = ["app"]

app = typer.Typer(
    name="fabric",
    no_args_is_help=True,
    add_completion=False,
    help="Check InfiniBand fabrics, analyze and improve their tables.",
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for verb in (
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
):
    app.command()(flat(verb))
