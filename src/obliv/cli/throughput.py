"""``obliv throughput``: ideal throughput under single patterns."""

from __future__ import annotations

from typing import Annotated

import typer

from obliv.cli.common import Format, FormatOption, RoutingSpec, TopologySpec, answer, made

__all__ = ["throughput"]


def throughput(
    topology: TopologySpec,
    routing: RoutingSpec,
    traffic: Annotated[list[str], typer.Argument(metavar="TRAFFIC...", help="For example uniform tornado shift:3.")],
    format: FormatOption = Format.table,
) -> None:
    """The ideal throughput of each traffic pattern, exact.

    Example: obliv throughput torus:9x9 dor uniform transpose tornado
    """
    from obliv.analysis import throughput as analysis

    _, way = made(topology, routing)
    answer(analysis.throughput(way, *traffic), format)
