"""The application: its verbs and the help of the whole."""

from __future__ import annotations

from typing import Annotated

import typer

from obliv.cli import average, bufferless, compare, deadlock, plot, ratio, reproduce, throughput, verify, worst
from obliv.cli import listing as list_verb
from obliv.cli.fabric import app as fabric

__all__ = ["app"]

app = typer.Typer(
    name="obliv",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        from obliv._version import __version__

        typer.echo(f"obliv {__version__}")
        raise typer.Exit


@app.callback()
def whole(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
    import_: Annotated[
        str,
        typer.Option(
            "--import", metavar="FILE.py", help="Run a file that registers your own topologies, routings, traffic."
        ),
    ] = "",
) -> None:
    """Exact worst-case traffic of oblivious routings, with proofs.

    obliv worst torus:9x9 romm            the worst traffic that ROMM can meet

    obliv worst mesh:8x8 o1turn -o c.json   keep the certificate, then

    obliv verify c.json                     check it with independent code

    obliv list routings                     what there is
    """


app.command("worst")(worst.worst)
app.command("verify")(verify.verify)
app.command("throughput")(throughput.throughput)
app.command("average")(average.average)
app.command("compare")(compare.compare)
app.command("ratio")(ratio.ratio)
app.command("deadlock")(deadlock.deadlock)
app.command("bufferless")(bufferless.bufferless)
app.command("list")(list_verb.list_)
app.add_typer(plot.app, name="plot")
app.add_typer(fabric.app, name="fabric")
app.command("reproduce")(reproduce.reproduce)
