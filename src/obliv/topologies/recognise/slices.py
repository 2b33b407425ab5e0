"""A dimension of a grid: its slices in their order, and the slice of every node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from obliv._util.typing import Array

__all__ = ["Slices", "slices_of"]

Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Slices:
    """A line, ring or clique of `radix` slices.

    ``at`` is the slice of every node, -1 for nodes without one; ``first_step`` is the least node one slice from the
    first node.
    """

    kind: str
    radix: int
    at: Array
    first_step: int


def slices_of(nodes: int, across: Sequence[Pair], along: Sequence[Pair]) -> Slices | None:
    """Return the slices that links `across` connect and links `along` join; None unless they form a line or ring."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ends = np.array(across, np.int64).reshape(-1, 2)
    joined = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(nodes, nodes))
    _, part = connected_components(joined.tocsr(), directed=False)
    size = np.bincount(part)
    whole = size > 0.5 * size.max()  # the others have lost links
    near: dict[int, Counter[int]] = {int(k): Counter() for k in np.flatnonzero(whole)}
    for a, b in along:
        one, two = int(part[a]), int(part[b])
        if one == two:
            return None
        if whole[one] and whole[two]:
            near[one][two] += 1
            near[two][one] += 1
    first = {k: int(np.flatnonzero(part == k)[0]) for k in near}
    ordered = _ordered(near, first)
    if ordered is None:
        return None
    kind, order = ordered
    at = np.full(len(size), -1)
    at[order] = np.arange(len(order))
    start = min(first.values())
    steps = [b if a == start else a for a, b in along if start in (a, b)]
    return Slices(kind, len(order), at[part], min(steps, default=nodes))


def _ordered(near: dict[int, Counter[int]], first: dict[int, int]) -> tuple[str, list[int]] | None:
    """Return the kind of dimension and the order of its slices, from the least node towards its lesser neighbor."""
    degrees = sorted(map(len, near.values()))
    m = len(near)
    if m < 2 or degrees[0] < 1:
        return None
    if m > 3 and degrees[0] == m - 1:
        return "clique", sorted(near, key=first.__getitem__)
    ends = [k for k, others in near.items() if len(others) == 1]
    if degrees[-1] > 2 or len(ends) not in (0, 2):
        return None
    order = [min(ends or near, key=first.__getitem__)]
    while len(order) < m:
        on = [k for k in near[order[-1]] if k not in order]
        if not on:
            return None
        order.append(min(on, key=first.__getitem__))
    return ("line" if ends else "ring"), order
