"""Constants of the centralized algorithm that suit an instance better than the paper's, found by a short search."""

from __future__ import annotations

import numpy as np

from obliv.bufferless.frames.planning import PlanningError, PlanOptions, delivery_times, even, try_partitions
from obliv.results.bufferless.plans import CentralizedPlan
from obliv.topologies.leveled.instances import Instance

__all__ = ["smallest_frame", "tune"]


#: Edges of paths above which half the congestion is the only number of sets that is tried.
LARGE = 5_000_000


def tune(
    instance: Instance,
    rng: np.random.Generator,
    options: PlanOptions,
    lam: int | None = None,
    s: int | None = None,
) -> CentralizedPlan:
    """Return the plan with the smallest makespan among those with the smallest lambda for some numbers of sets.

    Parameters
    ----------
    instance : Instance
    rng : numpy.random.Generator
    options : PlanOptions
    lam, s : int, optional
        Fixed values instead of a search.

    Returns
    -------
    CentralizedPlan
        One in which packets stop, wherever one was found.

    Raises
    ------
    PlanningError
        If the given lambda allows no plan.

    Notes
    -----
    Numbers of sets: C/2, C/4, ... and 3, 2, 1; on large instances only C/2.
    """
    ladder = {1, 2, 3} | {max(1, instance.congestion >> h) for h in range(1, 32)} if s is None else {s}
    if s is None and len(instance.edge) > LARGE:
        ladder = {max(1, instance.congestion // 2)}
    best: CentralizedPlan | None = None
    rating: tuple[bool, int] | None = None
    failed: PlanningError | None = None
    for count in sorted(ladder, reverse=True):
        try:
            if lam is None:
                boats = smallest_frame(instance, count, rng, options)
            else:
                boats = try_partitions(instance, count, lam, options, rng)
        except PlanningError as failure:
            failed = failure
            continue
        rated = (not boats.stops, int(delivery_times(instance, boats).max(initial=0)))
        if rating is None or rated < rating:
            best, rating = boats, rated
    if best is not None:
        return best
    if failed is None:
        raise ValueError("the search needs at least one number of sets")
    raise PlanningError(failed.packet, failed.color, failed.lam, max(ladder))


def smallest_frame(instance: Instance, s: int, rng: np.random.Generator, options: PlanOptions) -> CentralizedPlan:
    """Return a plan with s sets and the smallest even lambda that works, found by doubling, then by bisection."""
    top = even(instance.network.depth + 1)  # one frame: cannot fail
    low, lam = 0, 2
    while True:
        try:
            best = try_partitions(instance, s, min(lam, top), options, rng)
            break
        except PlanningError:
            low, lam = lam, 2 * lam
    high = min(lam, top)
    while high - low > 2:
        middle = even((low + high) // 2)
        if middle >= high:
            break
        try:
            best, high = try_partitions(instance, s, middle, options, rng), middle
        except PlanningError:
            low = middle
    return best
