"""The cables of a fabric beside those of the fat tree that it is taken for."""

from __future__ import annotations

from math import prod

import numpy as np

from obliv._util.typing import Array
from obliv.fabric.model import Fabric

__all__ = ["compared"]


def compared(
    fabric: Fabric,
    ends: tuple[Array, Array],
    level: Array,
    nodes: dict[tuple[int, int], int],
    sizes: tuple[tuple[int, ...], tuple[int, ...]],
) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...], tuple[int, ...]]:
    """Return pairs of switches with too few cables, surplus cables, and the number of parallel cables of each level."""
    cables_of: dict[tuple[int, int], list[int]] = {}
    extra: list[int] = []
    for near, far in zip(*(end.tolist() for end in ends), strict=True):
        one, other = int(fabric.node_of[near]), int(fabric.node_of[far])
        if level[one] > level[other]:
            one, other, near = other, one, far
        if level[one] < 1 or level[other] != level[one] + 1:
            extra.append(near)
        else:
            cables_of.setdefault((one, other), []).append(near)
    missing: list[tuple[int, int]] = []
    cables = []
    children, parents = sizes
    for low in range(1, len(parents) + 1):
        wanted = _pairs(low, children, parents, nodes)
        count = np.array([len(cables_of.get(pair, ())) for pair in wanted])
        usual = count[count > 0]
        several = int(np.sort(usual)[len(usual) // 2]) if len(usual) else 1
        cables.append(several)
        for pair in wanted:
            parallel = sorted(cables_of.pop(pair, ()))
            missing += [pair] * (several - len(parallel))
            extra += parallel[several:]
    for parallel in cables_of.values():
        extra += parallel
    return tuple(missing), tuple(sorted(extra)), tuple(cables)


def _pairs(
    low: int, children: tuple[int, ...], parents: tuple[int, ...], nodes: dict[tuple[int, int], int]
) -> list[tuple[int, int]]:
    """Return the pairs of switches of two levels that the tree joins, where both exist."""
    width = prod(parents[: low - 1])
    joined = []
    for sub in range(prod(children[low - 1 :])):
        for branch in range(width):
            lower = nodes.get((low, sub * width + branch), -1)
            if lower < 0:
                continue
            for port in range(parents[low - 1]):
                at = sub // children[low - 1] * width * parents[low - 1] + branch * parents[low - 1] + port
                upper = nodes.get((low + 1, at), -1)
                if upper >= 0:
                    joined.append((lower, upper))
    return joined
