"""Places for the nodes of a network in a larger one, such that its links join adjacent places."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

__all__ = ["Steps", "embedding", "placing_order"]


class Steps:
    """A limit of the places that are tried."""

    def __init__(self, left: int) -> None:
        self.left = left

    def take(self) -> bool:
        """Take a step; whether there was one left."""
        self.left -= 1
        return self.left >= 0


def placing_order(beside: Sequence[set[int]]) -> list[int]:
    """Return all nodes of a connected network, each next to as many earlier ones as possible; others are left out."""
    first = max(range(len(beside)), key=lambda v: (len(beside[v]), sum(len(beside[u]) for u in beside[v])))
    earlier, found = [0] * len(beside), {first: 0}
    order: list[int] = []
    queue, placed = [(0, 0, first)], [False] * len(beside)
    while queue:
        _, _, v = heapq.heappop(queue)
        if placed[v]:
            continue
        placed[v] = True
        order.append(v)
        for u in sorted(beside[v]):
            if not placed[u]:
                earlier[u] += 1
                heapq.heappush(queue, (-earlier[u], found.setdefault(u, len(found)), u))
    return order


class _Placement:
    """Places of the first nodes in an order, and what they leave to the others."""

    def __init__(
        self,
        beside: Sequence[set[int]],
        order: Sequence[int],
        near: Sequence[frozenset[int]],
        start: int,
        missing: int,
    ) -> None:
        rank = {v: k for k, v in enumerate(order)}
        self.beside, self.order, self.near, self.start, self.missing = beside, order, near, start, missing
        self.back = [[u for u in beside[v] if rank[u] < k] for k, v in enumerate(order)]
        self.place, self.holder = [-1] * len(beside), dict[int, int]()
        self.taken: list[int] = []  # places in the order of the nodes
        self.open_links = [len(others) for others in beside]  # of every node, to nodes without a place
        self.lacks = [0]

    def choices(self) -> list[tuple[int, int]]:
        """Return the places of the next node and the links that each lacks, those that lack most first."""
        near, holder = self.near, self.holder
        v, others = self.order[len(self.taken)], self.back[len(self.taken)]
        if not others:
            return [(0, self.start)]
        found = []
        for p in near[self.place[others[0]]].intersection(*(near[self.place[u]] for u in others[1:])):
            if p in holder:
                continue
            lack = sum(q in holder for q in near[p]) - len(others)
            free = len(near[p]) - len(others) - lack
            if self.lacks[-1] + lack <= self.missing and len(self.beside[v]) - len(others) <= free:
                found.append((lack, p))
        return sorted(found, reverse=True)

    def take(self, lack: int, p: int) -> bool:
        """Give a place to the next node; whether its neighbors keep enough free places for their other links."""
        v = self.order[len(self.taken)]
        self.place[v], self.holder[p] = p, v
        self.taken.append(p)
        self.lacks.append(self.lacks[-1] + lack)
        for u in self.beside[v]:
            self.open_links[u] -= 1
        for q in self.near[p]:
            other = self.holder.get(q)
            if other in (None, v):
                continue
            if self.open_links[other] > sum(r not in self.holder for r in self.near[q]):
                return False
        return True

    def take_back(self) -> None:
        """Take the place of the latest node from it."""
        self.lacks.pop()
        v = self.holder.pop(self.taken.pop())
        self.place[v] = -1
        for u in self.beside[v]:
            self.open_links[u] += 1


def embedding(
    beside: Sequence[set[int]],
    order: Sequence[int],
    near: Sequence[frozenset[int]],
    start: int,
    missing: int,
    fits: Callable[[list[int]], bool],
    steps: Steps,
) -> list[int] | None:
    """Return a different place for every node, adjacent for adjacent nodes; None if no such places were found.

    Nodes are placed in the given order; where no place is left, the latest choice is taken back.

    Parameters
    ----------
    beside : sequence of set of int
        The neighbors of every node.
    order : sequence of int
        All nodes; all but the first follow one of their neighbors.
    near : sequence of frozenset of int
        The neighbors of every place.
    start : int
        Place of the first node.
    missing : int
        Most pairs of adjacent places that are taken by nodes without a link.
    fits : callable
        Whether places in the order of the nodes can be part of the answer; called after every placement.
    steps : Steps
    """
    placement = _Placement(beside, order, near, start, missing)
    stack = [placement.choices()]
    while stack:
        if len(placement.taken) == len(stack):  # the choice made here led nowhere
            placement.take_back()
        if not stack[-1]:
            stack.pop()
            continue
        if not steps.take():
            return None
        if placement.take(*stack[-1].pop()) and fits(placement.taken):
            if len(placement.taken) == len(order):
                return placement.place
            stack.append(placement.choices())
    return None
