"""``obliv plot``: pictures of a topology, of channel loads, of a worst permutation."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from obliv.cli.groups import flat
from obliv.cli.options import TopologySpec
from obliv.cli.output import progress, require_outputs, require_picture, save_picture
from obliv.cli.specs import Specs, read_traffic

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="Draw a topology, channel loads or worst traffic.\n\nExample: obliv plot worst torus:9x9 romm -o w.png",
)

Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Picture to write (.png, .svg or .pdf).")]


@dataclass(frozen=True)
class Picture:
    """Where a picture goes, and how it looks."""

    output: Output
    dark: Annotated[bool, typer.Option("--dark", help="Draw on a dark background.")] = False
    width: Annotated[
        int | None, typer.Option("--width", metavar="PIXELS", help="Width of a PNG; texts stay readable.", min=100)
    ] = None

    def save(self, draw: Callable[[], Any]) -> None:
        """Draw a picture and write it."""
        from obliv import view
        from obliv.view.saving import drawn_for

        with view.dark() if self.dark else nullcontext(), drawn_for(self.width):
            save_picture(draw(), self.output, width=self.width)


@app.command("topology")
@flat
def topology_(topology: TopologySpec, picture: Picture) -> None:
    """Draw a network.

    Example: obliv plot topology torus:4x4 -o torus.svg
    """
    import obliv
    from obliv import view

    require_picture(picture.output)
    require_outputs(picture.output)
    network = obliv.topology(topology)
    picture.save(lambda: view.plot_topology(network))


@app.command()
@flat
def loads(
    specs: Specs,
    traffic: Annotated[str, typer.Argument(metavar="TRAFFIC", help="For example tornado.")],
    picture: Picture,
) -> None:
    """Draw the load of every channel under a traffic pattern.

    Example: obliv plot loads mesh:8x8 dor transpose -o loads.png
    """
    from obliv import view

    require_picture(picture.output)
    routing = specs.read(picture.output)
    picture.save(lambda: view.plot_loads(routing, read_traffic([traffic], routing.topology)[0]))


@app.command()
@flat
def worst(
    specs: Specs,
    picture: Picture,
    kind: Annotated[Literal["network", "matrix"], typer.Option("--kind", help="network, or matrix.")] = "network",
) -> None:
    """Draw the worst traffic and its channel loads.

    Example: obliv plot worst torus:9x9 romm -o worst.png
    """
    from obliv import view
    from obliv.analysis.worst_case.exact import worst_case

    require_picture(picture.output)
    routing = specs.read(picture.output)
    with progress() as step:
        result = worst_case(routing, progress=step)
    picture.save(lambda: view.plot_worst(result, kind))
