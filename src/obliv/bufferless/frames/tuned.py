"""Constants of the centralized algorithm that suit an instance better than the paper's, found by a short search."""

from __future__ import annotations

from typing import Any

import numpy as np

from obliv._util.typing import Array
from obliv.bufferless.frames.constants import draw_sets
from obliv.bufferless.frames.plan import delivery_times, even, plan, too_high
from obliv.errors import InputError
from obliv.topologies.leveled.instances import Instance

__all__ = ["smallest_frame", "tune"]


#: Edges of paths above which half the congestion is the only number of sets that is tried.
LARGE = 5_000_000


def tune(
    instance: Instance,
    rng: np.random.Generator,
    segments: str = "tight",
    shuffled: bool = False,
    sets: Array | None = None,
    lam: int | None = None,
    s: int | None = None,
    tries: int = 4,
) -> dict[str, Any]:
    """The plan that is over first, of those with the smallest lambda for some numbers of sets.

    Parameters
    ----------
    instance, rng, segments, sets
        As for :func:`obliv.bufferless.frames.centralized.centralized`.
    shuffled : bool
        Whether packets are coloured in random order.
    lam, s : int, optional
        What not to search for.
    tries : int
        Partitions for each pair of constants.

    Returns
    -------
    dict
        A plan; one in which somebody stops wherever one was found.

    Raises
    ------
    InputError
        If the lambda that was given allows no plan.

    Notes
    -----
    Numbers of sets: C/2, C/4, ... and 3, 2, 1; on large instances only C/2.
    """
    ladder = {1, 2, 3} | {max(1, instance.congestion >> h) for h in range(1, 32)} if s is None else {s}
    if s is None and len(instance.edge) > LARGE:
        ladder = {max(1, instance.congestion // 2)}
    best: dict[str, Any] | None = None
    rating: tuple[bool, int] | None = None
    failed: dict[str, Any] = {}
    for many in sorted(ladder, reverse=True):
        if lam is None:
            made = smallest_frame(instance, many, rng, segments, shuffled, sets, tries)
        else:
            made = _attempt(instance, many, lam, rng, segments, shuffled, sets, tries)
        if "failed" in made:
            failed = made
            continue
        rated = (len(made["colour"]) == instance.packets, int(delivery_times(instance, made).max(initial=0)))
        if rating is None or rated < rating:
            best, rating = made, rated
    if best is None:
        raise InputError(too_high(failed["failed"], lam or 0, max(ladder)))
    return best


def smallest_frame(
    instance: Instance,
    s: int,
    rng: np.random.Generator,
    segments: str = "tight",
    shuffled: bool = False,
    sets: Array | None = None,
    tries: int = 4,
) -> dict[str, Any]:
    """A plan with s sets and the smallest even lambda that works: doubled until it does, then halved between."""
    top = even(instance.network.depth + 1)  # one frame: cannot fail
    low, lam = 0, 2
    while True:
        made = _attempt(instance, s, min(lam, top), rng, segments, shuffled, sets, tries)
        if "failed" not in made:
            break
        low, lam = lam, 2 * lam
    high = min(lam, top)
    while high - low > 2:
        middle = even((low + high) // 2)
        if middle >= high:
            break
        attempt = _attempt(instance, s, middle, rng, segments, shuffled, sets, tries)
        if "failed" in attempt:
            low = middle
        else:
            made, high = attempt, middle
    return made


def _attempt(
    instance: Instance,
    s: int,
    lam: int,
    rng: np.random.Generator,
    segments: str,
    shuffled: bool,
    sets: Array | None,
    tries: int,
) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for _ in range(tries if sets is None or shuffled else 1):
        drawn = draw_sets(instance.packets, s, rng) if sets is None else sets
        rank = rng.permutation(instance.packets) if shuffled else None
        made = plan(instance, drawn, s, lam, segments, rank, dense=True)
        if "failed" not in made:
            break
    return made
