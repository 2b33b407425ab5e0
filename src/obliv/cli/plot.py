"""``obliv plot``: pictures of a topology, of channel loads, of a worst permutation."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from obliv.cli.options import RoutingSpec, TopologySpec
from obliv.cli.output import progress, read_specs, require_outputs, say

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="Draw a topology, channel loads or worst traffic.\n\nExample: obliv plot worst torus:9x9 romm -o w.png",
)

Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Picture to write (.png, .svg or .pdf).")]


class Kind(StrEnum):
    """The kind of picture of worst traffic."""

    network = "network"
    matrix = "matrix"


@app.command("topology")
def topology_(topology: TopologySpec, output: Output) -> None:
    """Draw a network.

    Example: obliv plot topology torus:4x4 -o torus.svg
    """
    import obliv
    from obliv import view

    view.require_format(output)
    require_outputs(output)
    view.save(view.plot_topology(obliv.topology(topology)), output)
    say(f"picture saved in {output}")


@app.command()
def loads(
    topology: TopologySpec,
    routing: RoutingSpec,
    traffic: Annotated[str, typer.Argument(metavar="TRAFFIC", help="For example tornado.")],
    output: Output,
) -> None:
    """Draw the load of every channel under a traffic pattern.

    Example: obliv plot loads mesh:8x8 dor transpose -o loads.png
    """
    import obliv
    from obliv import view

    view.require_format(output)
    require_outputs(output)
    network, algorithm = read_specs(topology, routing)
    view.save(view.plot_loads(algorithm, obliv.traffic(traffic, network)), output)
    say(f"picture saved in {output}")


@app.command()
def worst(
    topology: TopologySpec,
    routing: RoutingSpec,
    output: Output,
    kind: Annotated[Kind, typer.Option("--kind", help="network, or matrix.")] = Kind.network,
) -> None:
    """Draw the worst traffic and its channel loads.

    Example: obliv plot worst torus:9x9 romm -o worst.png
    """
    from obliv import view
    from obliv.analysis.worst_case.exact import worst_case

    view.require_format(output)
    require_outputs(output)
    _, algorithm = read_specs(topology, routing)
    with progress() as step:
        result = worst_case(algorithm, progress=step)
    view.save(view.plot_worst(result, kind.value), output)
    say(f"picture saved in {output}")
