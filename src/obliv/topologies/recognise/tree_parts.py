"""Sub-trees that missing cables broke into parts, put together again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, islice

import numpy as np

from obliv.topologies.recognise.tree_levels import Layers

__all__ = ["joined"]

_READINGS = 50  # of one level
_PAIRS = 20_000  # of bundles, on one level


def joined(layers: Layers, children: tuple[int, ...], parents: tuple[int, ...]) -> Iterator[Layers]:
    """Yield readings of a tree in which two bundles are one, where both together are no larger than others are.

    `children` are those of the switches of levels 2 and up, `parents` those of levels 1 and up. The smallest bundles
    come first.
    """
    lower, upper = (np.bincount(side[side >= 0], minlength=layers.bundles) for side in (layers.up, layers.down))
    level = np.zeros(layers.bundles, np.int64)
    level[layers.up[layers.up >= 0]] = layers.level[layers.up >= 0]
    for at, (usual_lower, usual_upper) in enumerate(zip(children, parents, strict=True), 1):
        here = level == at
        most_lower = max(usual_lower, lower[here].max(initial=0))
        most_upper = max(usual_upper, upper[here].max(initial=0))
        small = np.flatnonzero(here & (lower < most_lower))
        small = small[np.argsort((lower + upper)[small], kind="stable")]
        fitting = (
            pair
            for pair in islice(combinations(small.tolist(), 2), _PAIRS)
            if lower[list(pair)].sum() <= most_lower and upper[list(pair)].sum() <= most_upper
        )
        for one, other in islice(fitting, _READINGS):
            up, down = (np.where(side == other, one, side) for side in (layers.up, layers.down))
            yield replace(layers, up=up, down=down)
