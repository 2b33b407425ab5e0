"""The fewest hops within a limit of the load, where the first-order method does not converge.

Near the least load, the fewest hops rise steeply as the load falls, and the first-order method takes very many
iterations. An interior-point method solves programs of moderate size. Otherwise the load gets a price instead of a
limit. The least of hops plus price times load is a corner of the curve of fewest hops over load, and the multipliers
prove a line below the curve. The next price is the slope between the corners on both sides of the limit; the mix of
both corners that meets the limit is the routing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from obliv._util.arrays import Array
from obliv._util.progress import Progress
from obliv.designs.programme import Programme
from obliv.designs.solver import Optimum, SlowError, SolverError

__all__ = ["ITERATIONS", "fewest_hops"]

ITERATIONS = 30_000  # of the first-order method, for one program
_INTERIOR_ROWS = 30_000  # up to which the interior-point method takes tens of seconds
_FIRST = 4.0  # relative price: one percent of the load is worth this many percent of the hops
_STEPS = 12
_FINEST = 1e-8  # accuracy
_SAME = 1e-3  # relative difference of prices with the same corners


def fewest_hops(
    programme: Programme, columns: Array, load: float, limit: float, gap: float, progress: Progress
) -> Iterator[Optimum]:
    """Yield flows within a limit of the load with ever fewer hops, each with multipliers that bound the hops."""
    if programme.matrix.shape[0] <= _INTERIOR_ROWS:
        progress("linear program, interior-point method", 0.0)
        with suppress(SolverError):
            yield programme.limited(programme.cost, limit).solved(programme.hop_cost, gap / 100, interior=True)
    yield from _priced(programme, columns, load, limit, gap / 10, progress)


def _priced(
    programme: Programme, columns: Array, load: float, limit: float, accuracy: float, progress: Progress
) -> Iterator[Optimum]:
    """Yield mixes of the corners on both sides of the limit, with multipliers of the last one."""
    hop_cost, cost = programme.hop_cost, programme.cost
    within, beyond = columns, None
    price = _FIRST * float(hop_cost @ within) / load
    for step in range(_STEPS):
        progress(f"linear program, price {price:.4g} of the load", step / _STEPS)
        try:
            optimum = programme.solved(hop_cost + price * cost, max(accuracy, _FINEST), iterations=ITERATIONS)
        except SlowError:
            return
        if optimum.columns[-1] > limit:
            beyond = optimum.columns
        else:
            within, load, accuracy = optimum.columns, float(optimum.columns[-1]), accuracy / 10
        if beyond is None:
            yield replace(optimum, columns=within)
            price /= 4
            continue
        share = min(1.0, max(0.0, (limit - load) / (beyond[-1] - load)))
        yield replace(optimum, columns=(1 - share) * within + share * beyond)
        slope = float(hop_cost @ (within - beyond) / (beyond[-1] - load))
        if slope <= 0:
            return
        if abs(slope - price) <= _SAME * price:  # no corner between the two: only the accuracy is missing
            accuracy /= 10
        price = slope
