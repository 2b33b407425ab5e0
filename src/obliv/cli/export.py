"""``obliv export``: a network, a routing and traffic for a simulator."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from obliv.cli.output import say
from obliv.cli.specs import Specs

__all__ = ["export"]


def export(
    specs: Specs,
    *,
    to: Annotated[Literal["booksim"], typer.Option("--to", help="Simulator: booksim (BookSim2).")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Configuration to write.")],
    traffic: Annotated[str, typer.Option("--traffic", help="Traffic pattern.")] = "uniform",
    rate: Annotated[float, typer.Option("--rate", help="Packets per node and cycle.")] = 0.1,
) -> None:
    """Write a network, a routing and traffic for a simulator.

    A network that the simulator lacks is written beside the configuration. What it cannot simulate exactly is refused.

    Example: obliv export torus:8x8 dor --to booksim --traffic transpose -o torus.cfg
    """
    from obliv.io.booksim import write_booksim

    routing = specs.read(output, output.with_suffix(".anynet"))
    files = write_booksim(routing, output, traffic, rate=rate)
    say(f"written to {' and '.join(map(str, files))}; run it in that folder with  booksim {output.name}")
