"""``obliv compare``: routings side by side."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from obliv.cli.options import Seed, TopologySpec
from obliv.cli.output import Answer, Looks, progress, require_outputs, say
from obliv.cli.specs import named_traffic, say_without_capacity, seeded
from obliv.errors import InputError

if TYPE_CHECKING:
    from obliv.topologies.base import Topology

__all__ = ["compare"]


def compare(
    topology: TopologySpec,
    routings: Annotated[
        list[str],
        typer.Argument(metavar="ROUTING... [TRAFFIC]...", help="For example dor o1turn valiant, or dor transpose."),
    ],
    *,
    context: typer.Context,
    also: Annotated[
        list[str] | None, typer.Option("--also", metavar="TOPOLOGY", help="Another topology; may be repeated.")
    ] = None,
    traffic: Annotated[
        list[str] | None,
        typer.Option(
            "--traffic", metavar="TRAFFIC", help="Another way to give TRAFFIC; may be repeated (or A,B for two)."
        ),
    ] = None,
    samples: Annotated[
        int, typer.Option("--samples", min=0, help="Random permutations for the average (0 = no average).")
    ] = 0,
    deadlock: Annotated[
        bool, typer.Option("--deadlock", help="Find deadlocks, and the fewest virtual channels without.")
    ] = False,
    unit: Annotated[
        Literal["capacity", "throughput", "load"] | None,
        typer.Option("--unit", help="Fractions of capacity (default where known), throughputs or channel loads."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw the comparison (.png, .svg, .pdf).")
    ] = None,
    looks: Looks,
    picture: Annotated[
        Literal["auto", "bars", "plane", "lines"],
        typer.Option("--picture", help="bars, plane (throughput over hops), lines (over topologies) or auto."),
    ] = "auto",
    seed: Seed = 0,
    answer: Answer,
) -> None:
    """Compare routings: worst case, average, patterns, hops.

    Example: obliv compare mesh:8x8 dor o1turn valiant u2turn --traffic transpose --samples 10000

    Example: obliv compare mesh:3x3 dor u2turn --also mesh:5x5 --also mesh:7x7 --plot radix.png
    """
    import obliv

    looks.require(plot)
    if plot is None and picture != "auto":
        raise InputError(f"--picture {picture} needs an output file: add --plot FILE.png")
    routings, words = split_traffic(routings)
    if not routings:
        raise InputError(f"{words[0]!r:.60} is a traffic pattern: name a routing before it, as in  dor {words[0]:.60}")
    patterns = [spec for text in named_traffic(words, traffic) for spec in split_patterns(text)]
    patterns = seeded(patterns, context, seed, needed="" if samples else "--samples")
    networks = _read((topology, *(also or ())), patterns, answer.output, plot)
    with answer.best_so_far(), progress() as step:
        result = obliv.compare(
            networks,
            *routings,
            traffic=patterns,
            samples=samples,
            deadlock=deadlock,
            unit=unit or "",
            rng=seed,
            progress=step,
        )
    answer.show(result)
    looks.save(lambda: result.plot(kind=picture), plot)


def _read(topologies: Sequence[str], patterns: Sequence[str], *outputs: Path | None) -> list[Topology]:
    """Return topologies, print notes on them and their traffic, and refuse outputs that would replace their files."""
    import obliv

    require_outputs(*outputs)
    networks = [obliv.topology(spec) for spec in topologies]
    for network in networks:
        say_without_capacity(network)
    notes = [note for network in networks for note in network.notes]
    inputs = [source for network in networks for source in network.sources]
    for spec, network in product(patterns, networks):
        with suppress(InputError):  # a pattern may fit other topologies
            pattern = obliv.traffic(spec, network)
            notes += pattern.notes
            inputs += pattern.sources
    require_outputs(*outputs, inputs=inputs)
    for note in dict.fromkeys(notes):
        say(note)
    return networks


def split_traffic(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return routings, and traffic among them: the specs and mixes of traffic whose names no routing has.

    Examples
    --------
    >>> split_traffic(["dor", "1/2*dor+1/2*valiant", "transpose", "1/2*uniform+1/2*shift:3"])
    (['dor', '1/2*dor+1/2*valiant'], ['transpose', '1/2*uniform+1/2*shift:3'])
    """
    from obliv.specs.registry import PATTERNS, ROUTINGS

    traffic = []
    for word in words:
        name = word.partition("+")[0].partition(":")[0].rpartition("*")[2].strip()
        if name in PATTERNS and name not in ROUTINGS:
            traffic.append(word)
    return [word for word in words if word not in traffic], traffic


def split_patterns(text: str) -> list[str]:
    """Return the specs of ``A,B``: a comma before a registered name, or before a weight, begins the next pattern.

    Examples
    --------
    >>> split_patterns("transpose,hotspot:4,16,tornado")
    ['transpose', 'hotspot:4,16', 'tornado']
    """
    from obliv.specs.grammar import split_arguments
    from obliv.specs.registry import PATTERNS

    patterns: list[str] = []
    for piece in split_arguments(text):
        name = re.match(r"[^:*]*", piece.strip())
        parameter = name is not None and name[0] not in PATTERNS and re.match(r"[\d.(]|[\w-]+=", piece.strip())
        if patterns and parameter and "*" not in piece:
            patterns[-1] += f",{piece}"
        else:
            patterns.append(piece.strip())
    return patterns
