"""The largest link load under one traffic, and that of its best routing where a closed form gives it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from obliv._util.arrays import addable
from obliv.analysis.ratios.optimum import require_base_load
from obliv.errors import TrafficError
from obliv.loads.base import PairLoads
from obliv.patterns.base import Traffic
from obliv.topologies.base import Topology

__all__ = ["base_load", "max_link_load", "optimal_load", "performance", "require_packets"]


def base_load(traffic: Traffic) -> Fraction:
    """Return the most that a terminal sends to others, or takes: what its own link carries under any routing."""
    n = traffic.terminals
    leaving = traffic.source != traffic.destination
    amount = addable(traffic.amount[leaving])
    largest = 0
    for side in (traffic.source, traffic.destination):
        sums = np.zeros(n, amount.dtype)
        np.add.at(sums, side[leaving], amount)
        largest = max(largest, int(sums.max(initial=0)))
    return Fraction(largest, traffic.denominator) + (traffic.uniform * Fraction(n - 1, n) if n else 0)


def max_link_load(loads: PairLoads, traffic: Traffic) -> Fraction:
    """Return the largest link load of a routing under a traffic (Yuan et al., MLOAD); self-traffic counts for nothing.

    Examples
    --------
    >>> import obliv
    >>> tree = obliv.fattree(8, 3)
    >>> max_link_load(obliv.DModK(tree).pair_loads(), obliv.traffic("ring", tree))
    Fraction(3, 1)
    """
    return loads.without_self().largest_under(traffic)


def optimal_load(topology: Topology, traffic: Traffic) -> Fraction:
    """Return the least largest link load of any routing under a traffic (Yuan et al., OPTU), which is its base load.

    Raises
    ------
    InputError
        If the best routing of every traffic is not known on the topology.

    Examples
    --------
    >>> import obliv
    >>> tree = obliv.fattree(8, 3)
    >>> optimal_load(tree, obliv.traffic("ring", tree))
    Fraction(1, 1)
    """
    require_base_load(topology)
    return base_load(traffic)


def performance(loads: PairLoads, traffic: Traffic) -> Fraction:
    """Return the largest link load of a routing under a traffic over that of the best routing (Yuan et al., PERF).

    Raises
    ------
    InputError
        If the best routing of every traffic is not known on the topology.
    TrafficError
        If no terminal sends to another one.

    Examples
    --------
    >>> import obliv
    >>> tree = obliv.fattree(8, 3)
    >>> performance(obliv.DModK(tree).pair_loads(), obliv.traffic("ring", tree))
    Fraction(3, 1)
    """
    optimal = optimal_load(loads.topology, traffic)
    require_packets(traffic, optimal)
    return max_link_load(loads, traffic) / optimal


def require_packets(traffic: Traffic, optimal: Fraction) -> None:
    """Refuse traffic that loads nothing under any routing."""
    if not optimal:
        raise TrafficError(f"{traffic.spec}: no terminal sends to another one, so that no routing loads anything")
