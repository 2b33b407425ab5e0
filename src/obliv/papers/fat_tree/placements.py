"""Exact performance ratios over random placements, the same ones for every routing, and what their means say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import sqrt
from statistics import fmean, stdev
from typing import Any

import obliv
from obliv.results.numbers import known

__all__ = ["INSTANCES", "SEED", "mean", "placed", "quotient", "ratios"]

SEED = 1
INSTANCES = 32  # of the paper

_ROUTINGS = {"MLID/WSR": "wsr", "WSR": "wsr", "MLID": "mlid", "OSRM2": "osrm2", "OSRM3": "osrm3"}


def ratios(
    m: int, n: int, routings: Sequence[str], place: Callable[[Any, int], Any], instances: int = INSTANCES
) -> dict[str, list[float]]:
    """Return the ratio of every routing on FT(m, n) under every instance of a traffic pattern.

    Parameters
    ----------
    m, n : int
    routings : sequence of str
        As the paper calls them.
    place : function
        Of the tree and a seed, to a Traffic.
    instances : int

    Returns
    -------
    dict
        By routing, one ratio an instance: the nearest float of an exact one.
    """
    tree = obliv.fattree(m, n)
    loads_by_name = {name: _loads(m, n, _ROUTINGS[name]) for name in routings}
    ratios_of: dict[str, list[float]] = {name: [] for name in routings}
    for k in range(instances):
        traffic = place(tree, SEED * instances + k)  # made once, as it takes as long as its ratio
        for name, loads in loads_by_name.items():
            ratios_of[name].append(float(known(obliv.traffic_ratio(loads, traffic).patterns[0].ratio)))
    return ratios_of


@cache
def _loads(m: int, n: int, spec: str) -> obliv.PairLoads:
    return obliv.routing(spec, obliv.fattree(m, n)).pair_loads()


def placed(spec: str) -> Callable[[Any, int], Any]:
    """Return a function that makes instances of a traffic pattern whose spec has a seed."""
    return lambda tree, seed: obliv.traffic(f"{spec}{',' if ':' in spec else ':'}seed={seed}", tree)


def mean(values: Sequence[float]) -> obliv.Estimate:
    """Return the mean over instances with its standard error."""
    return obliv.Estimate(fmean(values), stdev(values) / sqrt(len(values)), len(values))


def quotient(ours: Sequence[Sequence[float]], theirs: Sequence[Sequence[float]]) -> obliv.Estimate:
    """Return the quotient of the mean ratios of two routings, averaged over several traffic patterns.

    Both were placed alike, so that what a placement does to both leaves the quotient alone: its error is that of the
    differences that remain.
    """
    left: list[list[float]] = []
    quotients = []
    for a, b in zip(ours, theirs, strict=True):
        quotients.append(fmean(a) / fmean(b))
        left.append([(x - quotients[-1] * y) / fmean(b) for x, y in zip(a, b, strict=True)])
    remaining = mean([fmean(differences) for differences in zip(*left, strict=True)])
    return obliv.Estimate(fmean(quotients), remaining.stderr, remaining.samples)
