"""The least worst case over listed paths: a plain linear program with a column for every simple path."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

__all__ = ["least_load_over", "simple_paths", "turns"]

Link = tuple[int, int]


def simple_paths(links: Sequence[Link], source: int, end: int) -> Iterator[tuple[int, ...]]:
    """Yield every path of links that visits no node twice."""
    trail: list[tuple[int, tuple[int, ...], frozenset[int]]] = [(source, (), frozenset([source]))]
    while trail:
        node, path, seen = trail.pop()
        if node == end:
            yield path
            continue
        for link, (tail, head) in enumerate(links):
            if tail == node and head not in seen:
                trail.append((head, (*path, link), seen | {head}))


def turns(steps: Sequence[tuple[int, int]], counts: Callable[[int, int], bool]) -> int | None:
    """Return the turns from a dimension to another that count, by (dimension, sign) of each hop; None for a U-turn."""
    total = 0
    for (dim, sign), (other, its) in itertools.pairwise(steps):
        if dim == other and sign != its:
            return None
        total += dim != other and counts(dim, other)
    return total


def least_load_over(
    links: Sequence[Link],
    terminals: Sequence[int],
    legal: Callable[[tuple[int, ...]], bool],
    bandwidth: Sequence[float],
    injection: Sequence[float],
    ejection: Sequence[float],
) -> float:
    """Return the least worst-case load of the routings over legal simple paths, approximately."""
    n, channels = len(terminals), len(links)
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    paths = [[p for p in simple_paths(links, terminals[i], terminals[j]) if legal(p)] for i, j in pairs]
    total = sum(map(len, paths))
    side = total + np.arange(2 * n * channels).reshape(2, n, channels)
    worst = total + side.size
    ones, covers, column = [], [], 0
    for k, ((i, j), of_pair) in enumerate(zip(pairs, paths, strict=True)):
        for path in of_pair:
            ones.append((k, column, 1.0))
            covers += [(k * channels + c, column, 1.0) for c in path]
            column += 1
        covers += [(k * channels + c, side[0, i, c], -1.0) for c in range(channels)]
        covers += [(k * channels + c, side[1, j, c], -1.0) for c in range(channels)]
    rows = len(pairs) * channels
    for c in range(channels):
        covers += [(rows + c, side[0, i, c], injection[i]) for i in range(n)]
        covers += [(rows + c, side[1, i, c], ejection[i]) for i in range(n)]
        covers.append((rows + c, worst, -bandwidth[c]))
    cost = np.zeros(worst + 1)
    cost[worst] = 1
    above = _table(covers, (rows + channels, worst + 1))
    answer = linprog(
        cost,
        above,
        np.zeros(rows + channels),
        _table(ones, (len(pairs), worst + 1)),
        np.ones(len(pairs)),
        method="highs",
    )
    assert answer.status == 0, answer.message
    return float(answer.fun)


def _table(entries: Sequence[tuple[int, int, float]], shape: tuple[int, int]) -> object:
    row, column, value = zip(*entries, strict=True)
    return coo_array((value, (row, column)), shape=shape).tocsr()
