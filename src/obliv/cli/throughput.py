"""``obliv throughput``: ideal throughput under single patterns."""

from __future__ import annotations

from typing import Annotated

import typer

from obliv.cli.options import Format, FormatOption, Output, RoutingSpec, TopologySpec
from obliv.cli.output import answer, read_specs, require_outputs

__all__ = ["throughput"]


def throughput(
    topology: TopologySpec,
    routing: RoutingSpec,
    traffic: Annotated[list[str], typer.Argument(metavar="TRAFFIC...", help="For example uniform tornado shift:3.")],
    output: Output = None,
    format: FormatOption = Format.table,
) -> None:
    """Compute the exact ideal throughput of traffic patterns.

    Example: obliv throughput torus:9x9 dor uniform transpose tornado
    """
    from obliv.analysis import throughput as analysis

    require_outputs(output)
    network, algorithm = read_specs(topology, routing)
    require_outputs(output, inputs=(*network.sources, *algorithm.sources))
    answer(analysis.throughput(algorithm, *traffic), format, output)
