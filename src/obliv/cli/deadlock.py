"""``obliv deadlock``: the channel dependency graph under a virtual-channel scheme."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from obliv.cli.output import Answer, Looks, progress
from obliv.cli.specs import Specs
from obliv.errors import InputError

if TYPE_CHECKING:
    from obliv.results import Result

__all__ = ["deadlock"]


def deadlock(
    specs: Specs,
    *,
    vc: Annotated[
        str | None,
        typer.Option(
            "--vc",
            metavar="SCHEME",
            help="Virtual channels: none, phase, turn, turn+uturn, family, phase-order, double-y, updown; "
            "on rings also dateline, or any of the others with +dateline; lanes: SL-to-VL tables of a fabric.",
        ),
    ] = None,
    fewest: Annotated[
        bool, typer.Option("--fewest", help="Find the deadlock-free scheme with the fewest virtual channels.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw the cycle or schemes (.png, .svg, .pdf).")
    ] = None,
    looks: Looks,
    answer: Answer,
) -> None:
    """Find deadlocks: cycles of channel dependencies.

    The exit status is 1 if there is one.

    Example: obliv deadlock mesh:8x8 u2turn --vc turn

    Example: obliv deadlock torus:5x5 romm --fewest
    """
    from obliv.analysis.deadlocks import search as analysis

    if fewest and vc is not None:
        raise InputError("--fewest tries every scheme and cannot be combined with --vc")
    looks.require(plot)
    routing = specs.read(answer.output, plot)
    result: Result
    with progress() as step:
        if fewest:
            result = least = analysis.fewest_virtual_channels(routing, progress=step)
            acyclic = least.fewest is not None
        else:
            result = graph = analysis.deadlock(routing, vc, certificate=answer.output is not None, progress=step)
            acyclic = graph.acyclic
    answer.show(result, hide=("certificate",))
    looks.save(result.plot, plot)
    if not acyclic:
        raise typer.Exit(1)
