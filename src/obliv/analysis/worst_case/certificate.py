"""What proves a worst case: prices for the channels that need them, and how symmetries carry them to the rest."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import Any

import numpy as np

from obliv._util.arrays import whole
from obliv._util.typing import Array
from obliv.analysis.worst_case.symmetry import Orbits
from obliv.kernels import run
from obliv.loads.base import PairLoads
from obliv.loads.stored import StoredLoads
from obliv.matching._kernels import coarsen
from obliv.results import pack

__all__ = ["certificate_of"]


def certificate_of(
    loads: PairLoads,
    orbits: Orbits,
    prices: dict[int, Array],
    claim: Fraction,
    worst: int,
    permutation: tuple[int, ...],
    sources: tuple[tuple[str, str], ...],
) -> dict[str, Any]:
    """The certificate of a worst case, in the form of saved claims, without its digest.

    Parameters
    ----------
    loads : PairLoads
    orbits : Orbits
        Which channel stands for which.
    prices : dict
        For every solved channel the destinations' prices (integers over the loads' denominator).  The simple bound
        proves the others.
    claim : Fraction
        The worst channel load.
    worst : int
        The channel that has it.
    permutation : tuple of int
        The permutation that attains it.
    sources : tuple of (path, SHA-256)
        Files behind the specs.
    """
    solved = sorted(prices)
    duals = [prices[c] for c in solved]
    if isinstance(loads, StoredLoads) and len(solved) > 64 and all(v.dtype != object for v in duals):
        duals = list(_coarse(loads, np.array(solved), np.array(duals), claim, worst))
    number = {c: k for k, c in enumerate(solved)}
    channels: list[Any] = []
    for c in range(loads.topology.channels):
        focus = int(orbits.focus[c])
        channels.append([number[focus], orbits.word(c)] if focus in number else "simple")
    same = all(v.dtype != object for v in duals)
    return {
        "denominator": loads.denominator if loads.denominator < 2**63 else str(loads.denominator),
        "permutation": list(permutation),
        "duals": pack(np.array(duals)) if same and duals else [pack(whole([int(x) for x in v])) for v in duals],
        "generators": [pack(g) for g in orbits.generators],
        "channels": channels,
        "sources": dict(sources),
    }


def _coarse(loads: StoredLoads, channels: Array, prices: Array, claim: Fraction, worst: int) -> Array:
    """Prices rounded up as far as the claim allows, which makes them compress well."""
    speeds = loads.topology.bandwidth
    limit = np.array(
        [
            0 if c == worst else min(2**62, floor(claim * loads.denominator * (speeds[c] if speeds else 1)))
            for c in channels.tolist()
        ],
        np.int64,
    )
    rounded = np.ascontiguousarray(prices)
    coarsest = max(0, loads.denominator.bit_length() - 3)
    arrays = (loads.start, loads.destination, loads.source, loads.numerator)
    work = 20.0 * len(loads.numerator)
    run(coarsen, work, channels, *arrays, limit, rounded, loads.terminals, coarsest)
    return rounded
