"""Figure 8: a tornado in one row loads a channel like DOR, and other rows add to it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import obliv
from obliv.papers.paper import Step, Value
from obliv.papers.towles.figure9 import printed_permutation
from obliv.papers.verdicts import exactly

__all__ = ["compute"]

_K = 9


def compute(step: Step) -> dict[str, Value]:
    """Compute the load on channel c = (0,0) -> (1,0), row by row of the permutation of Figure 9."""
    topology = obliv.topology(f"torus:{_K}x{_K}")
    romm = obliv.routing("romm", topology)
    (c,) = topology.channels_between(0, 1)
    loads = romm.pair_loads()
    weights = loads.on_channel(c).toarray()
    share = [Fraction(int(weights[s, d]), loads.denominator) for s, d in enumerate(printed_permutation())]
    row = [sum(share[y * _K : (y + 1) * _K], Fraction(0)) for y in range(_K)]
    dor = exactly(obliv.worst_case(obliv.routing("dor", topology)).channel_load)
    worst = exactly(obliv.worst_case(romm).channel_load)
    adding = ", ".join(f"y = {y}: {load}" for y, load in enumerate(row) if y and load)
    idle = ", ".join(str(y) for y, load in enumerate(row) if not load)
    pairs = sorted({load for load in share[_K:] if load})
    return {
        "channel c under tornado in one row": Value(_tornado_alone(weights, loads.denominator), against=dor),
        "channel c under the whole pattern": Value(sum(share, Fraction(0)), against=worst),
        "channel c, the tornado row's part": Value(
            row[0], f"From {sum(load > 0 for load in share[:_K])} nodes of row y = 0, each (k-1)/2 hops.", against=dor
        ),
        "channel c, the other rows' part": Value(
            sum(row[1:], Fraction(0)),
            f"Rows {adding}; y = {idle} add nothing. Every pair that adds load adds {', '.join(map(str, pairs))}.",
            against=worst - dor,
        ),
    }


def _tornado_alone(weights: Any, denominator: int) -> Fraction:
    """Return the load on c if only row y = 0 sends, every node (k-1)/2 hops to the right."""
    taken = [(x, (x + (_K - 1) // 2) % _K) for x in range(_K)]
    return Fraction(sum(int(weights[s, d]) for s, d in taken), denominator)
