"""Arguments and options that verbs share, one by one or as a dataclass of several."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from obliv.errors import InputError

if TYPE_CHECKING:
    from concurrent.futures import Executor

#: The format of an answer.
Format = Literal["table", "json", "csv", "markdown", "latex"]

TopologySpec = Annotated[str, typer.Argument(metavar="TOPOLOGY", help="For example torus:9x9 or file:network.graphml.")]
RoutingSpec = Annotated[str, typer.Argument(metavar="ROUTING", help="For example dor, romm, ecmp or table:FILE.")]
TrafficWords = Annotated[list[str], typer.Argument(metavar="TRAFFIC...", help="For example uniform tornado shift:3.")]
OtherTraffic = Annotated[
    list[str] | None,
    typer.Option("--traffic", metavar="TRAFFIC", help="Another way to give TRAFFIC; may be repeated."),
]
PathSamples = Annotated[int, typer.Option("--samples", min=0, help="Random paths sampled per pair (0 = exact).")]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Processes.", show_default="1")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Random seed.")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="File to save the result in (.json or .json.gz).")
]
FilesOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--files",
        metavar="PATH",
        help="File, or folder of files, that FILE may name besides those in its folder; repeatable.",
    ),
]
FormatOption = Annotated[Format, typer.Option("--format", case_sensitive=False, help="Output format.")]


@dataclass(frozen=True)
class Clusters:
    """Workers of other packages, which take the place of processes of obliv."""

    dask: Annotated[
        str | None,
        typer.Option("--dask", metavar="ADDRESS", help="Scheduler of Dask, such as tcp://host:8786, or local."),
    ] = None
    mpi: Annotated[bool, typer.Option("--mpi", help="Use MPI: mpiexec -n 4 python -m mpi4py.futures -m obliv ...")] = (
        False
    )

    def used(self, jobs: int | None) -> AbstractContextManager[Executor | None]:
        """Return the executor that is asked for; None for this process alone, or `jobs` processes of obliv."""
        if self.dask is not None and self.mpi:
            raise InputError("--dask and --mpi cannot be combined: choose one")
        if self.mpi and jobs is not None:
            raise InputError("--jobs counts processes of obliv; with --mpi leave it out and use  mpiexec -n")
        if self.dask is None and not self.mpi:
            return nullcontext()
        from obliv._util import executors as clusters

        return clusters.mpi() if self.dask is None else clusters.dask(self.dask, jobs)

    def workers(self, jobs: int | None) -> AbstractContextManager[Executor | None]:
        """Return the executor that is asked for, of processes if there are `jobs`; None for the calling process."""
        if self.dask is not None or self.mpi or (jobs or 1) == 1:
            return self.used(jobs)
        from obliv._util.executors import processes

        return processes(jobs or 1)


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
        raise InputError(
            f"--seed selects random samples, and without {needed} there are none: leave it out; "
            "specs that are drawn at random have their own, as in random-regular:n=200,d=6,seed=1"
        )
