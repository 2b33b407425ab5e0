"""Path lengths of phase programs, dimension by dimension."""

from __future__ import annotations

from functools import cache
from itertools import product
from math import prod

import numpy as np

from obliv._util.typing import Array
from obliv.loads.programs import ANYWHERE, SPREAD, Program
from obliv.routings.lengths import Lengths
from obliv.topologies.axes import Axis
from obliv.topologies.cartesian import Cartesian

__all__ = ["of_program"]


def of_program(topology: Cartesian, program: Program) -> Lengths:
    """Return the lengths of the paths of a program, added up over the pairs that it serves, times its probability.

    Given a pair, the draws of the dimensions are independent of each other: the lengths are a product over dimensions.
    """
    condition = dict(program.when)
    whole: Array = np.ones(1, object)
    for dim, draw in enumerate(program.draws(len(topology.axes))):
        whole = np.convolve(whole, _along(topology.axes[dim], draw, condition.get(dim)))
    share = program.probability / prod(topology.radices)
    return {h: share * int(count) for h, count in enumerate(whole) if count}


@cache
def _along(axis: Axis, draw: str, differ: bool | None) -> Array:
    """Return the lengths along one dimension, times its radix, over its ordered pairs that agree or differ."""
    k, far = axis.radix, axis.distances
    same, every = np.zeros(2 * k, np.int64), np.zeros(2 * k, np.int64)
    if draw == ANYWHERE:
        same += np.bincount((far + far.T).ravel(), minlength=2 * k)
        for middle in range(k):
            there, on = np.bincount(far[:, middle], minlength=k), np.bincount(far[middle], minlength=k)
            every[:-1] += np.convolve(there, on)
    elif draw == SPREAD:
        same[0] = k * k
        for start, end in product(range(k), repeat=2):
            for way in axis.spread_ways(start, end):
                every[len(way.links)] += int(way.probability * k)
    else:  # an intermediate on the minimal way lengthens nothing
        same[0] = k * k
        every += k * np.bincount(far.ravel(), minlength=2 * k)
    chosen = every if differ is None else every - same if differ else same
    result: Array = np.trim_zeros(chosen, "b").astype(object) if chosen.any() else np.zeros(1, object)
    return result
