"""``obliv plot``: pictures of a topology, of channel loads, of a worst permutation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from obliv.cli.app import group
from obliv.cli.options import TopologySpec
from obliv.cli.output import Looks, progress, require_outputs
from obliv.cli.specs import Specs, read_traffic

__all__ = ["app"]

Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Picture to write (.png, .svg or .pdf).")]


def topology_(topology: TopologySpec, output: Output, looks: Looks) -> None:
    """Draw a network.

    Example: obliv plot topology torus:4x4 -o torus.svg
    """
    import obliv
    from obliv import view

    looks.require(output)
    require_outputs(output)
    network = obliv.topology(topology)
    looks.save(lambda: view.plot_topology(network), output)


def loads(
    specs: Specs,
    traffic: Annotated[str, typer.Argument(metavar="TRAFFIC", help="For example tornado.")],
    output: Output,
    looks: Looks,
) -> None:
    """Draw the load of every channel under a traffic pattern.

    Example: obliv plot loads mesh:8x8 dor transpose -o loads.png
    """
    from obliv import view

    looks.require(output)
    routing = specs.read(output)
    looks.save(lambda: view.plot_loads(routing, read_traffic([traffic], routing.topology, output)[0]), output)


def worst(
    specs: Specs,
    output: Output,
    looks: Looks,
    kind: Annotated[Literal["network", "matrix"], typer.Option("--kind", help="network, or matrix.")] = "network",
) -> None:
    """Draw the worst traffic and its channel loads.

    Example: obliv plot worst torus:9x9 romm -o worst.png
    """
    from obliv import view
    from obliv.analysis.worst_case.exact import worst_case

    looks.require(output)
    routing = specs.read(output)
    with progress() as step:
        result = worst_case(routing, progress=step)
    looks.save(lambda: view.plot_worst(result, kind), output)


app = group(
    "Draw a topology, channel loads or worst traffic.\n\nExample: obliv plot worst torus:9x9 romm -o w.png",
    topology_,
    loads,
    worst,
)
