"""The grid that a network is, or was before some of its nodes and links failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np

from obliv._util.typing import Array
from obliv.topologies.cartesian import Cartesian
from obliv.topologies.families.grids import hyperx, mesh, torus
from obliv.topologies.recognise.embedding import Steps, embedding, placing_order
from obliv.topologies.recognise.grid import DEGREE, NODES, SHARE, Grid, grid_of
from obliv.topologies.recognise.ring import ring_of

__all__ = ["nearest_grid"]

_STEPS, _STEPS_A_NODE = 200_000, 20  # places tried for all shapes, and for one shape per node
_DIMENSIONS = 4
_PRESENT = 0.65  # least share of the grid's links that are present
_SQUARES = 0.1  # least number of squares for each node; a grid has at least half a square for each


def nearest_grid(nodes: int, pairs: Array) -> Grid | None:
    """Return the grid, ring or line that a network forms, or nearly forms; None for other networks.

    Squares of links show most grids at once. Where they leave nodes without a place, a search tries to place the whole
    network in the smallest grids that have enough links.

    Examples
    --------
    >>> import obliv
    >>> damaged = obliv.topology("damaged:mesh:4x4,(1,2),(0,0)-(1,0)")
    >>> nearest_grid(damaged.nodes, np.stack([damaged.tail, damaged.head], axis=1)).shape.spec
    'mesh:4x4'
    """
    grid = grid_of(nodes, pairs)
    if grid is not None and (grid.number >= 0).all():
        return grid
    return ring_of(nodes, pairs) or _embedded(nodes, pairs) or grid


@dataclass(frozen=True)
class _Kind:
    """A kind of grid, and the links of a line of some radix in it."""

    build: Callable[..., Cartesian]
    links: Callable[[int], int]
    degree: Callable[[int], int]
    least: int  # of the largest radix, so that no grid is of two kinds

    def size(self, radices: tuple[int, ...]) -> int:
        """Return the number of links."""
        return sum(prod(radices) // radix * self.links(radix) for radix in radices)


_KINDS = (
    _Kind(torus, lambda radix: radix if radix > 2 else 1, lambda radix: min(radix - 1, 2), 3),
    _Kind(mesh, lambda radix: radix - 1, lambda radix: min(radix - 1, 2), 2),
    _Kind(hyperx, lambda radix: radix * (radix - 1) // 2, lambda radix: radix - 1, 4),
)


def _embedded(nodes: int, pairs: Array) -> Grid | None:
    """Return the smallest grid in which the whole network was placed."""
    beside: list[set[int]] = [set() for _ in range(nodes)]
    for a, b in pairs.tolist():
        if a != b:
            beside[a].add(b)
            beside[b].add(a)
    links, degree = sum(map(len, beside)) // 2, max(map(len, beside), default=0)
    if not 4 <= nodes <= NODES or degree > DEGREE or _squares(beside) < _SQUARES * nodes:
        return None
    order = placing_order(beside)
    if len(order) < nodes:
        return None
    left = _STEPS
    for missing, kind, radices in sorted(_shapes(nodes, links, degree), key=lambda shape: (shape[0], prod(shape[2]))):
        steps = Steps(min(left, _STEPS_A_NODE * nodes))
        left -= steps.left
        grid = _placed(kind, radices, beside, order, missing, steps)
        left += max(steps.left, 0)
        if grid is not None or left <= 0:
            return grid
    return None


def _squares(beside: list[set[int]]) -> float:
    """Return the number of circles of four nodes."""
    facing = Counter(pair for near in beside for pair in combinations(sorted(near), 2))
    return sum(count * (count - 1) for count in facing.values()) / 4


def _shapes(nodes: int, links: int, degree: int) -> Iterator[tuple[int, _Kind, tuple[int, ...]]]:
    """Yield grids with enough places and links, not too many, and how many of their links would be missing."""
    for radices in _radices(nodes, int(nodes / SHARE), 2, _DIMENSIONS):
        for kind in _KINDS:
            size = kind.size(radices)
            enough = sum(kind.degree(radix) for radix in radices) >= degree
            twice = kind.build is torus and radices.count(2) > 1  # two dimensions of radix 2 are a ring of 4
            if (
                len(radices) > 1
                and max(radices) >= kind.least
                and enough
                and not twice
                and links <= size <= links / _PRESENT
            ):
                yield size - links, kind, radices


def _radices(least: int, most: int, smallest: int, dimensions: int) -> Iterator[tuple[int, ...]]:
    """Yield rising radices whose product is in a range."""
    for radix in range(max(smallest, least), most + 1):
        yield (radix,)
    if dimensions > 1:
        for radix in range(smallest, int(most**0.5) + 1):
            for others in _radices(-(-least // radix), most // radix, radix, dimensions - 1):
                yield (radix, *others)


def _placed(
    kind: _Kind, radices: tuple[int, ...], beside: list[set[int]], order: list[int], missing: int, steps: Steps
) -> Grid | None:
    """Return a grid with all nodes placed, None without one."""
    radices = radices[::-1]
    line = kind.build is mesh  # the first node may be anywhere, so there is room for the grid on all of its sides
    field = mesh(*(2 * radix - 1 for radix in radices)) if line else kind.build(*radices)
    at = np.stack(np.unravel_index(np.arange(field.nodes), [axis.radix for axis in field.axes], order="F"), axis=1)
    near = [
        frozenset(field.head[first:end].tolist())
        for first, end in zip(field.first_channel[:-1].tolist(), field.first_channel[1:].tolist(), strict=True)
    ]
    place_at = at.tolist()
    spans: list[list[tuple[int, int]]] = [[(radix, -1) for radix in radices]]

    def within(taken: list[int]) -> bool:
        """Return whether places fit into the mesh."""
        del spans[len(taken) :]
        spans.append(
            [(min(low, x), max(high, x)) for (low, high), x in zip(spans[-1], place_at[taken[-1]], strict=True)]
        )
        return all(high - low < radix for (low, high), radix in zip(spans[-1], radices, strict=True))

    start = (field.nodes - 1) // 2 if line else 0
    place = embedding(beside, order, near, start, missing, within if line else lambda _: True, steps)
    if place is None:
        return None
    corner = [low for low, _ in spans[-1]] if line else [0] * len(radices)
    number = (at[place] - corner) @ np.cumprod([1, *radices[:-1]])
    return Grid(kind.build(*radices), number)
