"""Certificates of worst cases: prices of the solved channels, and how symmetries carry them to the others."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import Any

import numpy as np

from obliv._util.arrays import INT64_SAFE, whole
from obliv._util.typing import Array
from obliv.analysis.worst_case.symmetry import Orbits
from obliv.loads.base import PairLoads
from obliv.results.codec import pack
from obliv.topologies.carried import carried

__all__ = ["certificate_of"]

_UNROUNDED = 64  # largest number of price vectors that are not rounded


def certificate_of(
    loads: PairLoads,
    orbits: Orbits,
    prices: dict[int, Array],
    claim: Fraction,
    worst: int,
    permutation: tuple[int, ...],
    sources: tuple[tuple[str, str], ...],
    inside: bool = False,
) -> dict[str, Any]:
    """Return the certificate of a worst case, in the form of saved claims, without its digest.

    Parameters
    ----------
    loads : PairLoads
    orbits : Orbits
        Which channel stands for which.
    prices : dict
        For every solved channel the destinations' prices (integers over the loads' denominator).  The simple bound
        proves the others, or what the loads give in place of prices.
    claim : Fraction
        The worst channel load.
    worst : int
        The channel that has it.
    permutation : tuple of int
        The permutation that attains it.
    sources : tuple of (path, SHA-256)
        Files behind the specs.
    inside : bool
        Whether it is part of another certificate, which has the network.
    """
    rates = loads.rates
    proofs = [loads.proof(c, rates) for c in range(loads.topology.channels)]
    solved = [c for c in sorted(prices) if proofs[c] is None]
    duals = [prices[c] for c in solved]
    rounds = rates.unit and all(v.dtype != object for v in duals)  # bounds of rounded prices count every terminal once
    if rounds and len(solved) > _UNROUNDED:
        limits = np.array([0 if c == worst else _limit(loads, c, claim) for c in solved], np.int64)
        duals = list(loads.rounded_prices(np.array(solved), np.array(duals), limits))
    number = {c: k for k, c in enumerate(solved)}
    channels: list[Any] = []
    for c, proof in enumerate(proofs):
        focus = int(orbits.focus[c])
        if proof is not None:
            channels.append(proof)
        elif focus in number:
            channels.append([number[focus], orbits.word(c)])
        elif (bounding := loads.bound_prices(c)) is not None:
            channels.append([len(duals), []])
            duals.append(bounding)
        else:
            channels.append("simple")
    same = all(v.dtype != object for v in duals)
    network = None if inside else carried(loads.topology)
    return {
        **({} if network is None else {"network": network}),
        "denominator": loads.denominator if loads.denominator < 2**63 else str(loads.denominator),
        "permutation": list(permutation),
        "duals": pack(np.array(duals)) if same and duals else [pack(whole([int(x) for x in v])) for v in duals],
        "generators": [pack(g) for g in orbits.generators],
        "channels": channels,
        "sources": dict(sources),
    }


def _limit(loads: PairLoads, channel: int, claim: Fraction) -> int:
    """Return the most that a channel may carry by the claim, in units of the numerators."""
    return min(INT64_SAFE, floor(claim * loads.denominator * loads.topology.bandwidth_of(channel)))
