"""Meshes, tori and HyperX recognized in the links of a network, whole or with some parts missing.

Two links that face each other in a square of four are parallel.  In a product of lines, rings and complete graphs the
parallel links join two adjacent slices; those that cross in some square run along different dimensions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from obliv._util.typing import Array
from obliv.topologies.cartesian import Cartesian
from obliv.topologies.families.grids import hyperx, mesh, torus
from obliv.topologies.recognise.slices import Slices, slices_of

__all__ = ["DEGREE", "NODES", "SHARE", "Grid", "grid_of"]

Pair = tuple[int, int]

NODES, DEGREE = 2000, 40  #: limits of nodes and of links per node, since finding squares takes time
SHARE = 0.75  #: least share of the grid's places that are taken, and of the links that run along it


@dataclass(frozen=True)
class Grid:
    """A grid, and the number in it of every node, -1 for nodes without a place."""

    shape: Cartesian
    number: Array


def grid_of(nodes: int, pairs: Array) -> Grid | None:
    """Return the grid of two dimensions or more that a network forms, or nearly forms; None for other networks."""
    links = sorted({(min(a, b), max(a, b)) for a, b in pairs.tolist() if a != b})
    beside: list[set[int]] = [set() for _ in range(nodes)]
    for a, b in links:
        beside[a].add(b)
        beside[b].add(a)
    if not 4 <= nodes <= NODES or max(map(len, beside)) > DEGREE:
        return None
    families, crossings = _parallel(links, beside)
    dimensions = _dimensions(families, crossings)
    if len(dimensions) < 2:
        return None
    parts = []
    for own in dimensions:
        across = [link for other in dimensions if other is not own for family in other for link in families[family]]
        along = [link for family in own for link in families[family]]
        slices = slices_of(nodes, across, along)
        if slices is None:
            return None
        parts.append(slices)
    return _checked(_paired(sorted(parts, key=lambda part: part.first_step)), beside)


def _parallel(links: Sequence[Pair], beside: Sequence[set[int]]) -> tuple[dict[int, list[Pair]], set[Pair]]:
    """Return families of parallel links, and which of them cross."""
    number = {link: k for k, link in enumerate(links)}
    root = list(range(len(links)))

    def link(a: int, b: int) -> int:
        return number[min(a, b), max(a, b)]

    def top(k: int) -> int:
        while root[k] != k:
            root[k] = k = root[root[k]]
        return k

    crossed = []
    for v, near in enumerate(beside):
        for u, w in combinations(sorted(near), 2):
            if w in beside[u]:
                continue
            corners = beside[u] & beside[w] - {v}
            if len(corners) != 1 or corners & near:  # in a product, two nodes at opposite corners share one square
                continue
            (z,) = corners
            root[top(link(v, u))] = top(link(w, z))
            root[top(link(v, w))] = top(link(u, z))
            crossed.append((link(v, u), link(v, w)))
    families: dict[int, list[Pair]] = {}
    for k, pair in enumerate(links):
        families.setdefault(top(k), []).append(pair)
    families = {k: parallel for k, parallel in families.items() if len(parallel) > 1}
    return families, {(top(a), top(b)) for a, b in crossed} | {(top(b), top(a)) for a, b in crossed}


def _dimensions(families: dict[int, list[Pair]], crossings: set[Pair]) -> list[list[int]]:
    """Return families by dimension; a family joins those that it crosses least, since missing links hide crossings."""
    dimensions: list[list[int]] = []
    for family in sorted(families, key=lambda k: (-len(families[k]), families[k][0])):
        if (family, family) in crossings:
            return []
        shares = [sum((family, other) in crossings for other in group) / len(group) for group in dimensions]
        if shares and min(shares) < 0.5:
            dimensions[int(np.argmin(shares))].append(family)
        else:
            dimensions.append([family])
    return dimensions


def _paired(parts: list[Slices]) -> list[Slices]:
    """Join two dimensions of radix 2 to a ring of 4, which is easier to read, if there are more than two."""
    twos = [part for part in parts if part.radix == 2]
    if len(parts) < 3:
        return parts
    for one, two in zip(twos[::2], twos[1::2], strict=False):
        both = np.where((one.at < 0) | (two.at < 0), -1, 2 * two.at + (one.at ^ two.at))
        parts[parts.index(one)] = Slices("ring", 4, both, one.first_step)
        parts.remove(two)
    return parts


def _checked(parts: Sequence[Slices], beside: Sequence[set[int]]) -> Grid | None:
    """Return the grid with these dimensions if most places are taken, once each, and most links run along it."""
    at = np.column_stack([part.at for part in parts])
    radices = [part.radix for part in parts]
    placed = (at >= 0).all(axis=1)
    number = np.where(placed, at @ np.cumprod([1, *radices[:-1]]), -1)
    places = int(np.prod(radices))
    occupied = number[placed]
    if len(np.unique(occupied)) < len(occupied) or len(occupied) < SHARE * max(places, len(beside)):
        return None
    kinds = {part.kind for part in parts if part.radix > 2}
    if "clique" in kinds and any(part.kind != "clique" and part.radix > 3 for part in parts):
        return None  # a ring of three is a clique, too
    shape = (hyperx if "clique" in kinds else torus if "ring" in kinds else mesh)(*radices)
    _fill(shape, number, beside)
    known = set(zip(shape.tail.tolist(), shape.head.tolist(), strict=True))
    links = [(int(number[v]), int(number[u])) for v, near in enumerate(beside) for u in near]
    return Grid(shape, number) if sum(link in known for link in links) >= SHARE * len(links) else None


def _fill(shape: Cartesian, number: Array, beside: Sequence[set[int]]) -> None:
    """Place nodes that lost too many links for squares on the free place next to most of their neighbors."""
    occupied = set(number.tolist())
    for node in np.flatnonzero(number < 0).tolist():
        votes: Counter[int] = Counter()
        for at in (int(number[near]) for near in beside[node] if number[near] >= 0):
            votes.update(shape.head[slice(*shape.first_channel[at : at + 2].tolist())].tolist())
        free = [place for place, _ in votes.most_common() if place not in occupied]
        if free:
            number[node] = free[0]
            occupied.add(free[0])
