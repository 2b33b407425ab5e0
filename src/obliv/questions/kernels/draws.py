"""Kernel: samples of the largest load where flows draw their paths."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv.kernels import kernel


class Lots(NamedTuple):
    """What flows draw, and what a channel carries always.

    Flows of type t are ``flows[t]``, each of ``weight[t]`` units. They take path ``first[t] + k`` where a number below
    2^32 is at least ``bound[first[t] + k - 1]`` and less than ``bound[first[t] + k]``; a type has `even` paths, if they
    are equally likely, else 0. Load times `scale` compares channels.
    """

    flows: Array
    weight: Array
    first: Array
    even: Array
    bound: Array
    path: Array
    base: Array
    scale: Array


@kernel
def largest_drawn_loads(seed: int, block: int, lots: Lots, load: Array, out: Array) -> None:
    """Fill `out` with samples of the largest load, times its scale; seed and block alone decide which.

    Numbers come from splitmix64, two of 32 bits a step; `load` is scratch for all channels.
    """
    flows, weight, first, even, bound, path, base, scale = lots
    gamma = np.uint64(0x9E3779B97F4A7C15)
    low = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    state = np.uint64(seed)
    for salt in (np.uint64(block), np.uint64(0)):  # so that neighboring seeds and blocks have nothing in common
        state = (state ^ (state >> half)) * np.uint64(0xD6E8FEB86659FD93)
        state = (state ^ (state >> half)) * np.uint64(0xD6E8FEB86659FD93)
        state = (state ^ (state >> half)) + salt * gamma
    least = 0
    for c in range(len(base)):
        least = max(least, base[c] * scale[c])
    width = path.shape[1]
    spare = False
    pool = np.uint64(0)
    for at in range(len(out)):
        for c in range(len(base)):
            load[c] = base[c]
        best = least
        for t in range(len(flows)):
            for _ in range(flows[t]):
                if spare:
                    number = pool >> half
                else:
                    state += gamma
                    pool = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
                    pool = (pool ^ (pool >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
                    pool = pool ^ (pool >> np.uint64(31))
                    number = pool & low
                spare = not spare
                k = first[t]
                if even[t] > 0:
                    k += np.int64((number * np.uint64(even[t])) >> half)
                else:
                    while np.int64(number) >= bound[k]:
                        k += 1
                for step in range(width):
                    c = path[k, step]
                    if c < 0:
                        break
                    load[c] += weight[t]
                    best = max(best, load[c] * scale[c])
        out[at] = best
