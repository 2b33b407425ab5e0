"""The application: its verbs, which are imported when used, and the top-level help."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup
from typer.main import get_command

from obliv.cli.options import flat

__all__ = ["VERBS", "app"]

#: Module and function of every verb, and its summary: the first line of its docstring.
VERBS = {
    "worst": ("worst:worst", "Find the exact worst case, with a certificate."),
    "verify": ("verify:verify", "Check a saved claim with independent code."),
    "throughput": ("throughput:throughput", "Compute the exact ideal throughput of traffic patterns."),
    "average": ("average:average", "Estimate the average throughput over random permutations."),
    "compare": ("compare:compare", "Compare routings: worst case, average, patterns, hops."),
    "design": ("design:design", "Design the routing with the least worst case, with a proof."),
    "bounds": ("bounds:bounds", "Bound what any routing can achieve on a network, with proofs."),
    "ratio": ("ratio:ratio", "Compute the oblivious performance ratio, with a certificate."),
    "deadlock": ("deadlock:deadlock", "Find deadlocks: cycles of channel dependencies."),
    "failures": ("failures:failures", "Find the worst case after each single failure, worst ones first."),
    "lottery": ("lottery:lottery", "Find how the largest load is distributed under hashed paths."),
    "bufferless": ("bufferless:bufferless", "Schedule packets on a leveled network and check every move."),
    "list": ("listing:list_", "List the topologies, routings or traffic patterns."),
    "export": ("export:export", "Write files for simulators, paths as tables, or networks."),
    "plot": ("plot:app", "Draw a topology, channel loads or worst traffic."),
    "fabric": ("fabric.app:app", "Check InfiniBand fabrics, analyze and improve their tables."),
    "study": ("study.app:app", "Compute many cells and keep them: topologies, routings, measures."),
    "report": ("report:report", "Write studies and saved results as one web page."),
    "explore": ("explore:explore", "Show one network live in the browser while you change it."),
    "reproduce": ("reproduce:reproduce", "Compute a paper's tables beside the published numbers."),
}


@cache
def _verb(verb: str) -> Any:
    """Return the command of a verb; a process that runs several command lines makes it once."""
    module, _, name = VERBS[verb][0].partition(":")
    function = getattr(importlib.import_module(f"obliv.cli.{module}"), name)
    if not isinstance(function, typer.Typer):
        own = typer.Typer(rich_markup_mode=None, add_completion=False)
        own.command(verb)(flat(function))
        function = own
    command = get_command(function)
    command.name = verb
    _add_import(command)
    return command


class Verbs(TyperGroup):
    """The group of all verbs; the module of a verb is imported when the verb is used."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = dict.fromkeys(VERBS, cast(Any, None))  # names for suggestions

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [*args[1:], "--help"] if args[:1] == ["help"] else args)

    def list_commands(self, ctx: Any) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return _verb(cmd_name) if cmd_name in VERBS else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in VERBS.items()])


def _import(context: typer.Context, files: list[str]) -> None:
    if files:
        from obliv.specs.imports import run_files

        run_files(files)
        context.meta.setdefault("obliv.imports", []).extend(files)


ImportOption = Annotated[
    list[str] | None,
    typer.Option(
        "--import",
        metavar="FILE.py",
        callback=_import,
        is_eager=True,
        expose_value=False,
        help="Python file to run first; it may register topologies, routings, traffic.",
    ),
]


@cache
def _import_option() -> Any:
    def declare(import_: ImportOption = None) -> None: ...

    holder = typer.Typer(add_completion=False)
    holder.command()(declare)
    return next(param for param in get_command(holder).params if param.name == "import_")


def _add_import(command: Any) -> None:
    """Add ``--import`` to a verb and its sub-verbs, so that it may stand anywhere on the command line."""
    command.params.append(_import_option())
    for sub in getattr(command, "commands", {}).values():
        _add_import(sub)


app = typer.Typer(
    name="obliv",
    cls=Verbs,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(verbose: bool) -> None:
    from obliv import __version__

    typer.echo(f"obliv {__version__}")
    if verbose:
        from obliv.cli.installed import installed

        typer.echo(installed())


@app.callback(invoke_without_command=True)
def whole(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="With --version: what a report of a bug should say.")
    ] = False,
    import_: ImportOption = None,
) -> None:
    """Exact worst-case traffic of oblivious routings, with proofs.

    obliv worst torus:9x9 romm              the worst traffic of ROMM

    obliv worst mesh:8x8 o1turn -o c.json   save the certificate, then

    obliv verify c.json                     check it with independent code

    obliv list routings                     list the available routings
    """
    if version:
        _show_version(verbose)
        raise typer.Exit
    if verbose:
        raise typer.BadParameter("use it with --version", param_hint="--verbose")
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
