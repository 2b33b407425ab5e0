"""What the tables share: worst cases, loads by dimension, and averages."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from math import factorial, hypot
from typing import Any

import numpy as np

import obliv
from obliv._util.typing import Array
from obliv.papers.batches import largest_of
from obliv.papers.verdicts import exactly

__all__ = [
    "ASYMMETRIC",
    "DRAWN",
    "ROUTINGS",
    "SAMPLES",
    "SPREADING",
    "average",
    "capacity_load",
    "covariances",
    "drawn_loads",
    "gain",
    "largest_loads",
    "mean_gain",
    "mean_of_throughputs",
    "worst",
    "worst_load",
]

SAMPLES = 2_000_000  # the paper takes one million
DRAWN = 5_000  # permutations that show how far averages of a few of them spread
SPREADING = ("dor", "o1turn", "u2turn")  # routings whose loads differ between permutations

Average = Fraction | obliv.Estimate

#: The paper's names of the routings, with ours.
ROUTINGS = {"VAL": "valiant", "DOR": "dor", "O1TURN": "o1turn", "U2TURN": "u2turn", "U2TURN-A": "u2turn-a"}

#: All meshes up to 8 nodes wide with kx > ky > 1.
ASYMMETRIC = tuple((kx, ky) for kx in range(3, 9) for ky in range(2, kx))


def capacity_load(k: int) -> Fraction:
    """Evaluate equations 1 and 4: the load of uniform traffic on a mesh with longest side k."""
    return Fraction(k * k - k % 2, 4 * k)


@cache
def worst_load(mesh: str, routing: str) -> Fraction:
    """Return the exact worst-case channel load."""
    return exactly(obliv.worst_case(obliv.routing(routing, obliv.topology(mesh))).channel_load)


def worst(mesh: str, routing: str) -> Fraction:
    """Return the exact worst case as a fraction of capacity (equation 2)."""
    return Fraction(obliv.topology(mesh).capacity_load or 0) / worst_load(mesh, routing)


@cache
def largest_loads(mesh: str, routing: str) -> tuple[Fraction, ...]:
    """Return the exact worst-case load among the channels of each dimension, x first."""
    topology: Any = obliv.topology(mesh)
    best = [Fraction(0)] * len(topology.radices)
    for row in obliv.worst_channels(obliv.routing(routing, topology)).channels:
        dim = int(topology.dim_of[row.channel.id])
        best[dim] = max(best[dim], row.channel_load)
    return tuple(best)


def average(mesh: str, routing: str, samples: int | None = None) -> Average:
    """Return the reciprocal of the mean largest load of random permutations, as a fraction of capacity.

    Exact where all permutations can be taken (up to 9 nodes), and where every permutation has the same largest load;
    otherwise an estimate from `samples` permutations (default :data:`SAMPLES`).
    """
    return _average(mesh, routing, SAMPLES if samples is None else samples)


@cache
def drawn_loads(mesh: str) -> Array:
    """Return the largest loads, in units of the capacity load, of :data:`SPREADING` under permutations: a row each."""
    topology = obliv.topology(mesh)
    rng = np.random.default_rng(topology.nodes)
    drawn = rng.permuted(np.broadcast_to(np.arange(topology.nodes), (DRAWN, topology.nodes)), axis=1)
    loads = [obliv.routing(routing, topology).pair_loads() for routing in SPREADING]
    sizes = np.array([largest_of(table, drawn) / table.denominator for table in loads])
    relative: Array = sizes / float(topology.capacity_load or 0)
    return relative


def covariances(mesh: str) -> Array:
    """Return the covariances of averages over one permutation; over n they are smaller by n, to the first order."""
    loads = drawn_loads(mesh)
    slope = 1 / loads.mean(axis=1) ** 2  # of the reciprocal
    result: Array = np.cov(loads) * np.outer(slope, slope)
    return result


def mean_of_throughputs(mesh: str, routing: str) -> obliv.Estimate:
    """Return the mean throughput of permutations, without those that load no channel, as a fraction of capacity."""
    loads = drawn_loads(mesh)[SPREADING.index(routing)]
    loads = loads[loads > 0]
    # only what a throughput exceeds its tangent by is estimated from these few: the rest is a mean of many loads
    center = loads.mean()
    above = 1 / loads - (2 / center - loads / center**2)
    many = average(mesh, routing)
    error = hypot(_error(many), above.std(ddof=1) / len(loads) ** 0.5)
    return obliv.Estimate(float(many) + above.mean(), error, len(loads))


@cache
def _average(mesh: str, routing: str, samples: int) -> Average:
    topology: Any = obliv.topology(mesh)
    loads: Any = obliv.routing(routing, topology).pair_loads()
    base = Fraction(topology.capacity_load or 0)
    if factorial(topology.nodes) <= factorial(9):
        result = obliv.average_case(loads, exact=True)
    elif routing == "valiant" and _is_constant(loads):
        return base / Fraction(max(loads.under(obliv.permutation(range(topology.nodes)))))
    else:  # a seed of its own for every mesh, the same for all routings on it
        result = obliv.average_case(loads, samples, topology.nodes)
    if result.fraction_of_capacity is None:
        raise TypeError(f"the average of {routing} on {topology.spec} has no capacity to compare with")
    return result.fraction_of_capacity


def _is_constant(loads: Any) -> bool:
    """Return whether every weight is a term of its source plus a term of its destination, on every channel."""
    for c in range(loads.topology.channels):
        w = loads.on_channel(c).toarray()
        if (w - w[:1] - w[:, :1] + w[0, 0]).any():
            return False
    return True


def gain(mesh: str, routing: str, over: str, samples: int | None = None) -> Average:
    """Return the ratio of two averages, minus one."""
    ours, theirs = (average(mesh, ROUTINGS[name], samples) for name in (routing, over))
    if isinstance(ours, Fraction) and isinstance(theirs, Fraction):
        return ours / theirs - 1
    ratio = float(ours) / float(theirs)
    # both meet the same permutations: taking their errors for independent can only overstate the ratio's
    error = ratio * hypot(*(_error(value) / float(value) for value in (ours, theirs)))
    return obliv.Estimate(ratio - 1, error, SAMPLES if samples is None else samples)


def mean_gain(meshes: Iterable[str], routing: str, over: str) -> obliv.Estimate:
    """Return the mean over meshes of the ratio of two averages, minus one."""
    gains = [gain(mesh, routing, over) for mesh in meshes]
    error = hypot(*map(_error, gains))
    return obliv.Estimate(sum(map(float, gains)) / len(gains), error / len(gains), SAMPLES)


def _error(value: Average) -> float:
    return value.stderr if isinstance(value, obliv.Estimate) else 0.0
