"""The sub-verbs of ``obliv study``."""

from __future__ import annotations

import typer

from obliv.cli.options import flat
from obliv.cli.study import diff, export, run, schema, show, verify

__all__ = ["app"]

app = typer.Typer(
    name="study",
    no_args_is_help=True,
    add_completion=False,
    help="Compute many cells and keep them: topologies, routings, measures.",
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for verb in (run.run, show.show, export.export, diff.diff, verify.verify, schema.schema):
    app.command()(flat(verb))
