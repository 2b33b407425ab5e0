"""Samples of the largest load."""

from __future__ import annotations

import numpy as np

from obliv._util.cost import require_memory
from obliv._util.progress import Progress
from obliv._util.typing import Array
from obliv.analysis.lottery._kernels import Lots, largest_loads
from obliv.analysis.lottery.draws import Draws
from obliv.kernels import run

__all__ = ["samples_of"]

_BLOCK = 4096


def samples_of(draws: Draws, flows: int, scale: Array, samples: int, seed: int, progress: Progress) -> Array:
    """Return samples of the largest load, in steps.

    Parameters
    ----------
    draws : Draws
    flows : int
        Flows of each pair of terminals.
    scale : int array, shape (channels,)
        Steps of one unit on each channel.
    samples, seed : int
    progress : callable
    """
    require_memory(8.0 * samples, f"{samples:,} samples of the largest load")
    counts = np.diff(draws.first)
    kind = draws.type_of_path
    least = np.minimum.reduceat(draws.ways, draws.first[:-1]) if len(counts) else counts
    most = np.maximum.reduceat(draws.ways, draws.first[:-1]) if len(counts) else counts
    passed = np.cumsum(draws.ways.astype(object)) if len(kind) else np.empty(0, object)
    before = zip(passed.tolist(), kind.tolist(), strict=True)
    bound = np.array([((p - t * draws.total) << 32) // draws.total for p, t in before], np.int64)
    path = -np.sort(-draws.path, axis=1)  # channels before the gaps
    lots = Lots(
        draws.pairs * flows,
        draws.weight,
        draws.first,
        np.where(least == most, counts, 0),
        bound,
        np.ascontiguousarray(path, np.int32),
        draws.base * flows,
        scale,
    )
    out = np.empty(samples, np.int64)
    load = np.empty(len(scale), np.int64)
    work = float(lots.flows.sum()) * samples * max(1, path.shape[1])
    for block, at in enumerate(range(0, samples, _BLOCK)):
        with np.errstate(over="ignore"):  # random numbers
            run(largest_loads, work, seed, block, lots, load, out[at : at + _BLOCK])
        progress("samples", min(samples, at + _BLOCK) / samples)
    return out
