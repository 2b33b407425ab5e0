"""The sub-verbs of ``obliv fabric``."""

from __future__ import annotations

import typer

from obliv.cli.fabric import average, bisection, check, export, generate, ratio, route, shifts, throughput, worst

__all__ = ["app"]

app = typer.Typer(
    name="fabric",
    no_args_is_help=True,
    add_completion=False,
    help="Check InfiniBand fabrics, analyze and improve their tables.",
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("check")(check.check)
app.command("worst")(worst.worst)
app.command("ratio")(ratio.ratio)
app.command("throughput")(throughput.throughput)
app.command("average")(average.average)
app.command("bisection")(bisection.bisection)
app.command("shifts")(shifts.shifts)
app.command("route")(route.route)
app.command("export")(export.export)
app.command("generate")(generate.generate)
