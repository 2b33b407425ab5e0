"""Numbers for the switches of a fat tree whose levels and bundles are known."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any

import numpy as np

from obliv._util.typing import Array
from obliv.topologies.recognise.tree_levels import Layers, linked

__all__ = ["numbered"]


def numbered(layers: Layers) -> tuple[tuple[int, ...], tuple[int, ...], Array] | None:
    """Return the children of levels 2 and up, the parents of levels 1 and up, and every switch's number on its level.

    Numbers are those of :class:`obliv.topologies.trees.Tree`, -1 for nodes without a place: (A, B), with A for the
    sub-tree below and B for the ports that lead up to it. Switches that bundles link within the levels up to l form a
    sub-tree of height l; those linked within the levels from l on share the first l digits of B. Switches with too few
    cables left take the remaining places. None if the switches do not form a tree.
    """
    top, level = layers.levels, layers.level
    below = [np.arange(len(level)), *(linked(layers, height, below=True) for height in range(1, top + 1))]
    above = [below[0], *(linked(layers, height, below=False) for height in range(1, top + 1))]
    placed = np.flatnonzero(level > 0)
    whole = np.bincount(below[top][placed]).argmax()
    if 2 * (below[top][placed] == whole).sum() < len(placed):
        return None
    leaves, roots = (np.flatnonzero((level == height) & (below[top] == whole)) for height in (1, top))
    if not len(leaves) or not len(roots):
        return None
    subs, children = _digits(below, range(top, 0, -1), leaves)
    ports, parents = _digits(above, range(1, top + 1), roots)
    children = children[::-1]
    number = np.full(len(level), -1)
    for height in range(1, top + 1):
        width = prod(parents[: height - 1])
        mine = np.flatnonzero(level == height)
        a, b = subs[height][mine], ports[height][mine]
        known = (a >= 0) & (b >= 0)
        spot, first = np.unique((a * width + b)[known], return_index=True)
        number[mine[known][first]] = spot  # of two switches in one place, the first stays
        _fill(number, mine, height, (subs, ports), (children, parents))
    return children, parents, number


def _digits(label: list[Array], heights: range, ends: Array) -> tuple[list[Array], tuple[int, ...]]:
    """Return numbers of linked parts, digit by digit from the whole network, and the number of parts at each height.

    Only parts with some of the leaves or roots `ends` count. Parts beyond the usual number get -1.
    """
    number = [np.full(len(label[0]), -1) for _ in label]
    sizes = []
    outer = None
    for height in heights:
        here = label[height]
        parts, first, inside = np.unique(here[ends], return_index=True, return_inverse=True)
        size = np.bincount(inside)
        if outer is None:
            value = np.zeros(len(parts), np.int64)
        else:
            of_part = number[outer][ends[first]]
            small = 2 * size < np.median(size)
            order = np.lexsort((ends[first], small, of_part))
            starts = np.flatnonzero(np.r_[True, np.diff(of_part[order]) != 0])
            lengths = np.diff(np.r_[starts, len(order)])
            real = lengths[of_part[order][starts] >= 0]
            base = int(np.sort(real)[len(real) // 2])
            sizes.append(base)
            digit = np.empty(len(parts), np.int64)
            digit[order] = np.arange(len(order)) - np.repeat(starts, lengths)
            value = np.where((of_part >= 0) & (digit < base), of_part * base + digit, -1)
        lookup = np.full(int(here.max()) + 1, -1)
        lookup[parts] = value
        number[height] = lookup[here]
        outer = height
    return number, tuple(sizes)


def _fill(number: Array, mine: Array, height: int, known: Any, sizes: Any) -> None:
    """Assign the remaining places to switches without one, consistent with the known digits of their numbers."""
    (subs, ports), (children, parents) = known, sizes
    top, width = len(parents) + 1, prod(parents[: height - 1])
    lacking = mine[number[mine] < 0]
    occupied = set(number[mine[number[mine] >= 0]].tolist())
    left: dict[tuple[int, ...], Iterator[int]] = {}  # places not yet examined
    for v in lacking.tolist():
        outer = next((h for h in range(height, top + 1) if subs[h][v] >= 0), top)
        inner = next((h for h in range(height, 0, -1) if ports[h][v] >= 0), 1)
        a, b = max(0, int(subs[outer][v])), max(0, int(ports[inner][v]))
        if (outer, a, inner, b) not in left:
            many, more = prod(children[height - 1 : outer - 1]), prod(parents[inner - 1 : height - 1])
            block = product(range(a * many, (a + 1) * many), range(b * more, (b + 1) * more))
            left[outer, a, inner, b] = (sub * width + port for sub, port in block)
        spot = next((place for place in left[outer, a, inner, b] if place not in occupied), -1)
        number[v] = spot
        occupied.add(spot)
