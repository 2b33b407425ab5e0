"""The worst of many random permutations, batch after batch."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["worst_of_batches"]

_CHUNK = 1000  # permutations whose loads stay in the cache


def worst_of_batches(
    loads: Any,
    size: int,
    batches: int,
    rng: np.random.Generator,
    ceiling: Fraction,
    step: Callable[[float], None],
) -> list[Fraction]:
    """The largest channel load among `size` random permutations, for each of many batches.

    Parameters
    ----------
    loads : PairLoads
        Of a network whose channels all have bandwidth 1.
    size, batches : int
        Permutations a batch (fixed points allowed), and batches.
    rng : numpy.random.Generator
        Source of the permutations. Every batch has a stream of its own, so that two routings meet the same ones.
    ceiling : Fraction
        The exact worst-case load. A batch that has reached it cannot get worse and ends.
    step : callable
        Called with the share that is done.

    Returns
    -------
    list of Fraction, length batches
        Exact for the permutations that were drawn.
    """
    table = _by_pair(loads)
    limit = ceiling * loads.denominator
    found = []
    for batch, stream in enumerate(rng.spawn(batches)):
        worst = 0
        for first in range(0, size, _CHUNK):
            worst = max(worst, _worst(table, min(_CHUNK, size - first), stream))
            if worst >= limit:
                break
        found.append(Fraction(worst, loads.denominator))
        step((batch + 1) / batches)
    return found


def _by_pair(loads: Any) -> npt.NDArray[Any]:
    """Numerators as a table [source, destination, channel], in the smallest type that no permutation overflows."""
    n, channels = loads.terminals, loads.topology.channels
    largest = [loads.on_channel(c).max(axis=1).toarray().sum() for c in range(channels)]
    table = np.zeros((n, n, channels), np.min_scalar_type(-int(max(largest))))
    for c in range(channels):
        entries = loads.on_channel(c).tocoo()
        table[entries.row, entries.col, c] = entries.data
    return table


def _worst(table: npt.NDArray[Any], count: int, rng: np.random.Generator) -> int:
    n, _, channels = table.shape
    drawn = rng.permuted(np.broadcast_to(np.arange(n), (count, n)), axis=1)
    total = np.zeros((count, channels), table.dtype)
    some = np.empty_like(total)
    for source in range(n):
        np.take(table[source], drawn[:, source], axis=0, out=some, mode="clip")  # other modes copy first
        total += some
    return int(total.max())
