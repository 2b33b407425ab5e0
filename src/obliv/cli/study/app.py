"""The sub-verbs of ``obliv study``."""

from __future__ import annotations

from obliv.cli.app import group
from obliv.cli.study import diff, export, run, schema, show, verify

__all__ = ["app"]

app = group(
    "Compute and keep many cells: topologies, routings, measures.",
    run.run,
    show.show,
    export.export,
    diff.diff,
    verify.verify,
    schema.schema,
)
