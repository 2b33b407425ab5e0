"""Arguments and options that verbs share, one by one or as a dataclass of several."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

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
    "flat",
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


def flat(verb: Callable[..., None]) -> Callable[..., None]:
    """Return a verb with the fields of its dataclass parameters as parameters, which typer turns into options."""
    hints = get_type_hints(verb, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(verb).parameters.values():
        group = groups.get(parameter.name)
        hints |= get_type_hints(group, include_extras=True) if group else {}
        parameters += inspect.signature(group).parameters.values() if group else [parameter]
    parameters = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[parameter.name])
        for parameter in parameters
    ]

    @wraps(verb)
    def call(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        verb(**values)

    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return call


def is_seeded(context: typer.Context) -> bool:
    """Return whether the command line has ``--seed``."""
    source = context.get_parameter_source("seed")
    return source is not None and source.name == "COMMANDLINE"


def refuse_idle_seed(context: typer.Context, needed: str) -> None:
    """Refuse a random seed for work without chance; `needed` is the option that would bring some."""
    if is_seeded(context):
        raise InputError(f"--seed selects random samples, and without {needed} there are none: leave it out")
