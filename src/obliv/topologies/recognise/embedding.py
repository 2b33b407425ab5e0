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
    rank = {v: k for k, v in enumerate(order)}
    back = [[u for u in beside[v] if rank[u] < k] for k, v in enumerate(order)]
    place, holder = [-1] * len(beside), dict[int, int]()
    taken: list[int] = []  # places in the order of the nodes
    open_links = [len(near_v) for near_v in beside]  # of every node, to nodes without a place
    lacks = [0]

    def choices() -> list[tuple[int, int]]:
        """Return the places of the next node and the links that each lacks, those that lack most first."""
        v, others = order[len(taken)], back[len(taken)]
        if not others:
            return [(0, start)]
        found = []
        for p in near[place[others[0]]].intersection(*(near[place[u]] for u in others[1:])):
            if p in holder:
                continue
            lack = sum(q in holder for q in near[p]) - len(others)
            if lacks[-1] + lack <= missing and len(beside[v]) - len(others) <= len(near[p]) - len(others) - lack:
                found.append((lack, p))
        return sorted(found, reverse=True)

    def room(p: int, v: int) -> bool:
        """Return whether the neighbors of a place just taken have enough free places left for their other links."""
        for q in near[p]:
            u = holder.get(q)
            if u is not None and u != v and open_links[u] > sum(r not in holder for r in near[q]):
                return False
        return True

    stack = [choices()]
    while stack:
        if len(taken) == len(stack):  # the choice made here led nowhere
            p = taken.pop()
            lacks.pop()
            v = holder.pop(p)
            place[v] = -1
            for u in beside[v]:
                open_links[u] += 1
        if not stack[-1]:
            stack.pop()
            continue
        if not steps.take():
            return None
        lack, p = stack[-1].pop()
        v = order[len(taken)]
        place[v], holder[p] = p, v
        taken.append(p)
        lacks.append(lacks[-1] + lack)
        for u in beside[v]:
            open_links[u] -= 1
        if room(p, v) and fits(taken):
            if len(taken) == len(order):
                return place
            stack.append(choices())
    return None
