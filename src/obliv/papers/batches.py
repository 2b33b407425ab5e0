"""The worst of many random permutations, batch after batch."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import obliv
from obliv._util.typing import Array
from obliv.papers.paper import Step

__all__ = ["largest_of", "worst_of_batches"]

_CHUNK = 1000  # permutations whose loads stay in the cache


def worst_of_batches(
    loads: obliv.PairLoads,
    size: int,
    batches: int,
    rng: np.random.Generator,
    ceiling: Fraction,
    step: Step,
) -> list[Fraction]:
    """Return the largest channel load among `size` random permutations, for each of many batches.

    Parameters
    ----------
    loads : PairLoads
        Pair loads on a network whose channels all have bandwidth 1.
    size, batches : int
        Permutations in a batch (fixed points allowed), and number of batches.
    rng : numpy.random.Generator
        Random generator. Every batch has its own stream, so that two routings get the same permutations.
    ceiling : Fraction
        The exact worst-case load; a batch that reaches it ends.
    step : callable
        Called with the finished share.

    Returns
    -------
    list of Fraction, length batches
        Exact loads of the sampled permutations.
    """
    table = _by_pair(loads)
    limit = ceiling * loads.denominator
    loads_of_batches = []
    for batch, stream in enumerate(rng.spawn(batches)):
        worst = 0
        for first in range(0, size, _CHUNK):
            nodes = np.broadcast_to(np.arange(len(table)), (min(_CHUNK, size - first), len(table)))
            drawn = stream.permuted(nodes, axis=1)
            worst = max(worst, int(_largest(table, drawn).max()))
            if worst >= limit:
                break
        loads_of_batches.append(Fraction(worst, loads.denominator))
        step((batch + 1) / batches)
    return loads_of_batches


def _by_pair(loads: obliv.PairLoads) -> Array:
    """Return numerators as a table [source, destination, channel], in the smallest type that cannot overflow."""
    n, channels = loads.terminals, loads.topology.channels
    largest = [loads.on_channel(c).max(axis=1).toarray().sum() for c in range(channels)]
    table = np.zeros((n, n, channels), np.min_scalar_type(-int(max(largest))))
    for c in range(channels):
        entries = loads.on_channel(c).tocoo()
        table[entries.row, entries.col, c] = entries.data
    return table


def largest_of(loads: obliv.PairLoads, destinations: Array) -> Array:
    """Return the numerator of the largest channel load of each permutation, a row of `destinations`."""
    table = _by_pair(loads)
    chunks = (destinations[first : first + _CHUNK] for first in range(0, len(destinations), _CHUNK))
    return np.concatenate([_largest(table, chunk) for chunk in chunks])


def _largest(table: Array, destinations: Array) -> Array:
    total = np.zeros((len(destinations), table.shape[2]), table.dtype)
    added = np.empty_like(total)
    for source, to in enumerate(destinations.T):
        # other modes than clip copy first
        np.take(table[source], to, axis=0, out=added, mode="clip")
        total += added
    largest: Array = total.max(axis=1)
    return largest
