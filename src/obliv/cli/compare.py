"""``obliv compare``: routings side by side."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from obliv.cli.options import Format, FormatOption, Output, Seed, TopologySpec
from obliv.cli.output import answer, kept, progress, require_outputs, say
from obliv.errors import InputError

__all__ = ["compare"]


class Picture(StrEnum):
    """The kind of picture."""

    auto = "auto"
    bars = "bars"
    plane = "plane"
    lines = "lines"


def compare(
    topology: TopologySpec,
    routings: Annotated[list[str], typer.Argument(metavar="ROUTING...", help="For example dor o1turn valiant.")],
    also: Annotated[
        list[str] | None, typer.Option("--also", metavar="TOPOLOGY", help="Another topology; may be repeated.")
    ] = None,
    traffic: Annotated[
        list[str] | None,
        typer.Option("--traffic", metavar="PATTERN", help="Traffic pattern; may be repeated (or A,B for two)."),
    ] = None,
    samples: Annotated[
        int, typer.Option("--samples", min=0, help="Random permutations for the average (0 = no average).")
    ] = 0,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw the comparison (.png, .svg, .pdf).")
    ] = None,
    picture: Annotated[
        Picture,
        typer.Option("--picture", help="bars, plane (throughput over hops), lines (over topologies) or auto."),
    ] = Picture.auto,
    seed: Seed = 0,
    output: Output = None,
    format: FormatOption = Format.table,
) -> None:
    """Compare routings: worst case, average, patterns, hops.

    Example: obliv compare mesh:8x8 dor o1turn valiant u2turn --traffic transpose --samples 10000

    Example: obliv compare mesh:3x3 dor u2turn --also mesh:5x5 --also mesh:7x7 --plot radix.png
    """
    from obliv.analysis.compare import compare as compared
    from obliv.topologies.base import topology as topology_of

    if plot is not None:
        from obliv import view

        view.require_format(plot)
    elif picture is not Picture.auto:
        raise InputError(f"--picture {picture.value} needs an output file: add --plot FILE.png")
    require_outputs(output, plot)
    networks = [topology_of(spec) for spec in (topology, *(also or ()))]
    for note in dict.fromkeys(note for network in networks for note in network.notes):
        say(note)
    patterns = [spec for text in traffic or () for spec in split_patterns(text)]
    with kept(format, output), progress() as step:
        result = compared(networks, *routings, traffic=patterns, samples=samples, rng=seed, progress=step)
    if plot is not None:
        view.save(result, plot, kind=picture.value)
        say(f"picture saved in {plot}")
    answer(result, format, output)


def split_patterns(text: str) -> list[str]:
    """Return the specs of ``A,B``: a comma before a registered name, or before a weight, begins the next pattern.

    Examples
    --------
    >>> split_patterns("transpose,hotspot:4,16,tornado")
    ['transpose', 'hotspot:4,16', 'tornado']
    """
    from obliv.specs.registry import PATTERNS

    patterns: list[str] = []
    for piece in text.split(","):
        name = re.match(r"[^:*]*", piece.strip())
        parameter = name is not None and name[0] not in PATTERNS and re.match(r"[\d.]|[\w-]+=", piece.strip())
        if patterns and parameter and "*" not in piece:
            patterns[-1] += f",{piece}"
        else:
            patterns.append(piece.strip())
    return patterns
