"""A routing with detours, outside the paper's model, whose ratio is below the bound for paths that climb once."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from obliv import Routing, Tree

__all__ = ["Detour"]


class Detour(Routing):
    """Routing on EFT2(34, 9): up by the digit of the source, down to a third leaf, up by that of the destination, down.

    The leaves of both ends determine the third leaf, so that four hosts are an end of every pair on a link. Theorem 2
    gives five for paths that go up, then down, as section II-B has them.
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
