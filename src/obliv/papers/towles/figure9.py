"""Figure 9: the printed worst-case permutation, evaluated."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import obliv
from obliv.papers.paper import Step, Value
from obliv.papers.towles.printed import PERMUTATION
from obliv.papers.verdicts import exactly

__all__ = ["compute", "printed_permutation"]


def printed_permutation() -> list[int]:
    """Return Figure 9 as the destination of every node; node = x + 9 y."""
    return [x + 9 * y for j in range(9) for x, y in (PERMUTATION[i][j] for i in range(9))]


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
