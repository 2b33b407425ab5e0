"""Figure 9: the printed worst-case permutation, evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import obliv
from obliv.papers.paper import Step, Value, require
from obliv.papers.towles.printed import PERMUTATION
from obliv.papers.verdicts import exactly
from obliv.results.reproduction import ReproducedEntry

__all__ = ["compute", "found_permutation", "layout", "printed_permutation"]


def printed_permutation() -> list[int]:
    """Return Figure 9 as the destination of every node; node = x + 9 y."""
    return [x + 9 * y for j in range(9) for x, y in (PERMUTATION[i][j] for i in range(9))]


def found_permutation() -> list[int]:
    """Return a worst case that is computed here, for the channel (0,0) -> (1,0) as the printed one; there are many."""
    worst = obliv.worst_case(obliv.routing("romm", obliv.topology("torus:9x9")))
    require(worst.channel is not None and worst.channel.id == 0, "the channel of the worst case is (0,0) -> (1,0)")
    return list(worst.permutation or ())


def layout(rows: Sequence[ReproducedEntry]) -> str:
    """Return the printed permutation and the found one side by side, in the paper's order."""
    width = 9 * len("(0,0) ") - 1
    lines = [f"{'as printed':<{width}}    found here", ""]
    for i in range(9):
        both = ([images[i + 9 * j] for j in range(9)] for images in (printed_permutation(), found_permutation()))
        lines.append("    ".join(" ".join(f"({to % 9},{to // 9})" for to in row) for row in both))
    return "\n".join([*lines, "", "Entry (i, j): the destination of the source on row i, column j."])


def compute(step: Step) -> dict[str, Value]:
    """Check whether it is a permutation and a worst case."""
    topology = obliv.topology("torus:9x9")
    routing = obliv.routing("romm", topology)
    images = printed_permutation()
    loads: list[Any] = routing.pair_loads().under(obliv.permutation(images))
    hottest = max(loads)
    names = " and ".join(topology.channel_name(c) for c, load in enumerate(loads) if load == hottest)
    worst = obliv.worst_case(routing)
    return {
        "nodes that are a destination": Value(Fraction(len(set(images))), against=Fraction(topology.nodes)),
        "load on the hottest channel": Value(
            hottest,
            f"On {names}, rows of the figure being x; the exact worst case is {worst.channel_load}.",
            against=exactly(worst.channel_load),
        ),
        "fraction of capacity": Value(1 / (worst.capacity * hottest)),
    }
