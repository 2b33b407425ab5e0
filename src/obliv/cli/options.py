"""Arguments and options that verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from obliv.errors import InputError

__all__ = [
    "Format",
    "FormatOption",
    "Output",
    "PathSamples",
    "RoutingSpec",
    "Seed",
    "TopologySpec",
    "is_seeded",
    "refuse_idle_seed",
]

#: The format of an answer.
Format = Literal["table", "json", "csv", "markdown", "latex"]

TopologySpec = Annotated[str, typer.Argument(metavar="TOPOLOGY", help="For example torus:9x9 or file:network.graphml.")]
RoutingSpec = Annotated[str, typer.Argument(metavar="ROUTING", help="For example dor, romm, ecmp or table:FILE.")]
PathSamples = Annotated[int, typer.Option("--samples", min=0, help="Random paths sampled per pair (0 = exact).")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Random seed.")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="File to save the result in (.json or .json.gz).")
]
FormatOption = Annotated[Format, typer.Option("--format", case_sensitive=False, help="Output format.")]


def is_seeded(context: typer.Context) -> bool:
    """Return whether the command line has ``--seed``."""
    source = context.get_parameter_source("seed")
    return source is not None and source.name == "COMMANDLINE"


def refuse_idle_seed(context: typer.Context, needed: str) -> None:
    """Refuse a random seed for work without chance; `needed` is the option that would bring some."""
    if is_seeded(context):
        raise InputError(f"--seed selects random samples, and without {needed} there are none: leave it out")
