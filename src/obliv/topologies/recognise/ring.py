"""Rings and lines recognized in the links of a network."""

from __future__ import annotations

import numpy as np

from obliv._util.typing import Array
from obliv.topologies.families.grids import mesh, ring
from obliv.topologies.recognise.grid import Grid

__all__ = ["ring_of"]


def ring_of(nodes: int, pairs: Array) -> Grid | None:
    """Return the ring or line that a network forms; None for other networks.

    Examples
    --------
    >>> import numpy as np
    >>> ring_of(3, np.array([(2, 0), (0, 1)])).number
    array([1, 0, 2])
    """
    beside: list[set[int]] = [set() for _ in range(nodes)]
    for a, b in pairs.tolist():
        if a != b:
            beside[a].add(b)
            beside[b].add(a)
    ends = [v for v, near in enumerate(beside) if len(near) == 1]
    if nodes < 2 or any(not 1 <= len(near) <= 2 for near in beside) or len(ends) not in (0, 2):
        return None
    order = [ends[0] if ends else 0]
    while following := beside[order[-1]].difference(order[-2:]):
        if (after := min(following)) == order[0]:
            break
        order.append(after)
    if len(order) < nodes:
        return None
    number = np.empty(nodes, np.int64)
    number[order] = np.arange(nodes)
    return Grid(mesh(nodes) if ends else ring(nodes), number)
