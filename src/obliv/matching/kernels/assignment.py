"""Maximum-weight assignment by shortest augmenting paths."""

from __future__ import annotations

from typing import NamedTuple

from obliv._util.typing import Array
from obliv.kernels import kernel
from obliv.matching.kernels.search import Entries, Floors, PathEnd, best_gain, pop, push, raise_columns

__all__ = ["Matching", "Search", "assign"]


class Matching(NamedTuple):
    """The column of every row and the row of every column, -1 for none, and the prices of rows and columns."""

    mate: Array
    owner: Array
    u: Array
    v: Array


class Search(NamedTuple):
    """Scratch of searches for an augmenting path; `place` holds -1 for every column before and after."""

    dist: Array
    prev: Array
    place: Array
    heap: Array
    free: Array


@kernel
def _auction(n: int, entries: Entries, row_floor: Array, matching: Matching, free: Array) -> int:
    """Let rows bid for columns while this helps; returns how many rows still wait, in `free`."""
    ptr, col, weight = entries
    mate, owner, u, v = matching
    waiting = n
    fewest = n + 1
    idle = 0
    patience = min(32, 4 + (n >> 4))
    while waiting > 0 and idle < patience:
        idle += 1
        if waiting < fewest:
            fewest = waiting
            idle = 0
        left = 0
        for at in range(waiting):
            i = free[at]
            best = row_floor[i]
            second = best
            j = -1
            spare = -1
            for e in range(ptr[i], ptr[i + 1]):
                gain = weight[e] - v[col[e]]
                if gain > second:
                    first = gain > best  # choices, not branches: which way they go is as good as random
                    second = best if first else gain
                    spare = j if first else col[e]
                    best = gain if first else best
                    j = col[e] if first else j
            u[i] = second
            if j < 0:
                continue
            if best == second and owner[j] >= 0 and spare >= 0 and owner[spare] < 0:
                j = spare
            v[j] += best - second
            ousted = owner[j]
            owner[j] = i
            mate[i] = j
            if ousted >= 0:
                mate[ousted] = -1
                free[left] = ousted
                left += 1
        waiting = left
    return waiting


@kernel
def _shortest_path(root: int, entries: Entries, row_floor: Array, matching: Matching, search: Search) -> PathEnd:
    """Find the shortest augmenting path from an unmatched row (Dijkstra's algorithm on the reduced costs)."""
    ptr, col, weight = entries
    _, owner, u, v = matching
    dist, prev, place, heap, _ = search
    best = u[root] - row_floor[root]
    column = -1
    last = root
    size = 0
    scanned = len(heap)
    i = root
    here = best - best
    while True:
        base = here + u[i]
        for e in range(ptr[i], ptr[i + 1]):
            j = col[e]
            far = base - weight[e] + v[j]
            if far < best:
                if owner[j] < 0:
                    best = far
                    column = j
                    last = i
                elif place[j] == -1 or (place[j] >= 0 and far < dist[j]):
                    prev[j] = i
                    size = push(heap, place, dist, size, j, far)
        if size == 0:
            break
        j = heap[0]
        if dist[j] >= best:
            break
        here = dist[j]
        size = pop(heap, place, dist, size)
        scanned -= 1
        heap[scanned] = j
        place[j] = -2
        i = owner[j]
        alone = here + u[i] - row_floor[i]
        if alone < best:
            best = alone
            column = -1
            last = i
    return PathEnd(best, last, column, -1, size, scanned, 0)


@kernel
def _augment(root: int, end: PathEnd, matching: Matching, prev: Array) -> None:
    """Match the rows of a path to the next column each, from its end back to the root."""
    mate, owner, _, _ = matching
    i, j = end.row, end.column
    while True:
        back = mate[i]
        mate[i] = j
        if j >= 0:
            owner[j] = i
        if i == root:
            break
        j = back
        i = prev[j]


@kernel
def assign(n: int, entries: Entries, floors: Floors, matching: Matching, search: Search) -> None:
    """Match the first n rows to columns so that the total weight is largest.

    A row or column that stays unmatched counts its floor.  On return u[i] + v[j] >= weight everywhere, with equality
    on matched entries, and u, v stand at their floors where rows and columns are unmatched.
    """
    row_floor, col_floor = floors
    mate, owner, u, v = matching
    dist, prev, place, heap, free = search
    for j in range(len(heap)):
        v[j] = col_floor[j]
        owner[j] = -1
    for i in range(n):
        mate[i] = -1
        free[i] = i
    waiting = _auction(n, entries, row_floor, matching, free)
    for at in range(waiting):
        root = free[at]
        u[root] = best_gain(root, entries, v, row_floor[root])
        if u[root] == row_floor[root]:
            continue
        end = _shortest_path(root, entries, row_floor, matching, search)
        u[root] -= end.distance
        for k in range(end.scanned, len(heap)):
            j = heap[k]
            u[owner[j]] -= end.distance - dist[j]
        raise_columns(end, v, dist, place, heap)
        _augment(root, end, matching, prev)
