"""``obliv plot``: pictures of a topology, of channel loads, of a worst permutation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from obliv.cli.groups import flat
from obliv.cli.options import TopologySpec
from obliv.cli.output import progress, require_outputs, require_picture, save_picture
from obliv.cli.specs import Specs

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="Draw a topology, channel loads or worst traffic.\n\nExample: obliv plot worst torus:9x9 romm -o w.png",
)

Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Picture to write (.png, .svg or .pdf).")]


@app.command("topology")
def topology_(topology: TopologySpec, output: Output) -> None:
    """Draw a network.

    Example: obliv plot topology torus:4x4 -o torus.svg
    """
    import obliv
    from obliv import view

    require_picture(output)
    require_outputs(output)
    save_picture(view.plot_topology(obliv.topology(topology)), output)


@app.command()
@flat
def loads(
    specs: Specs,
    traffic: Annotated[str, typer.Argument(metavar="TRAFFIC", help="For example tornado.")],
    output: Output,
) -> None:
    """Draw the load of every channel under a traffic pattern.

    Example: obliv plot loads mesh:8x8 dor transpose -o loads.png
    """
    import obliv
    from obliv import view

    require_picture(output)
    routing = specs.read(output)
    save_picture(view.plot_loads(routing, obliv.traffic(traffic, routing.topology)), output)


@app.command()
@flat
def worst(
    specs: Specs,
    output: Output,
    kind: Annotated[Literal["network", "matrix"], typer.Option("--kind", help="network, or matrix.")] = "network",
) -> None:
    """Draw the worst traffic and its channel loads.

    Example: obliv plot worst torus:9x9 romm -o worst.png
    """
    from obliv import view
    from obliv.analysis.worst_case.exact import worst_case

    require_picture(output)
    routing = specs.read(output)
    with progress() as step:
        result = worst_case(routing, progress=step)
    save_picture(view.plot_worst(result, kind), output)
