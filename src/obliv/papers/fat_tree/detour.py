"""A routing by single paths with detours, which has a smaller ratio than Theorem 2 says any has."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from obliv.routings.base import Routing
from obliv.topologies.trees import Tree

__all__ = ["Detour"]


class Detour(Routing):
    """On EFT2(34, 9): up by the source's digit, down to a third leaf, up by the destination's digit, down to it.

    The third leaf is told by the leaves of both ends, so that every link has four hosts that are an end of each of its
    pairs, one less than what Theorem 2 says of "any single path routing".
    """

    topology: Tree

    def __init__(self, topology: Tree) -> None:
        super().__init__(topology, "detour")
        ends = zip(topology.tail.tolist(), topology.head.tolist(), strict=True)
        self.channel = {pair: c for c, pair in enumerate(ends)}

    def paths(self, source: int, destination: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        k, leaves = self.topology.children
        (a, i), (b, j) = divmod(source, k), divmod(destination, k)
        leaf, root = k * leaves, k * leaves + leaves
        c = b % 3 + 3 * (a % 3)
        if a == b:
            nodes = [source, leaf + a, destination]
        elif c == b or i == j:
            nodes = [source, leaf + a, root + i, leaf + b, destination]
        elif c == a:
            nodes = [source, leaf + a, root + j, leaf + b, destination]
        else:
            nodes = [source, leaf + a, root + i, leaf + c, root + j, leaf + b, destination]
        steps = pairwise(nodes)
        yield () if source == destination else tuple(self.channel[step] for step in steps), Fraction(1)
