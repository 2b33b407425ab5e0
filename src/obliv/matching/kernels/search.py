"""What the searches for shortest augmenting paths share: records, a heap of columns, prices."""

from __future__ import annotations

from typing import NamedTuple

from obliv._util.typing import Array
from obliv.kernels import kernel

__all__ = ["Entries", "Floors", "PathEnd", "best_gain", "pop", "push", "raise_columns"]


class Entries(NamedTuple):
    """A sparse matrix by rows: row i has the entries ``ptr[i] .. ptr[i + 1]`` of `col` and `weight`."""

    ptr: Array
    col: Array
    weight: Array


class Floors(NamedTuple):
    """What a row or column (or one unit of it) counts if it stays unmatched."""

    row: Array
    col: Array


class PathEnd(NamedTuple):
    """The end of a shortest path from a row, and how far the search for it went.

    The path ends at the free `column`, reached by `entry` of the last `row`, or leaves that row short where `column`
    is -1. Columns ``heap[:waiting]`` are queued, ``heap[scanned:]`` scanned; `rows` counts the opened rows.
    """

    distance: int
    row: int
    column: int
    entry: int
    waiting: int
    scanned: int
    rows: int


@kernel
def push(heap: Array, place: Array, dist: Array, size: int, j: int, key: int) -> int:
    """Put a column on the heap, or move one up that has come nearer; return the size of the heap."""
    at = place[j]
    if at < 0:
        at = size
        size += 1
    dist[j] = key
    while at > 0:
        above = (at - 1) >> 1
        other = heap[above]
        if dist[other] <= key:
            break
        heap[at] = other
        place[other] = at
        at = above
    heap[at] = j
    place[j] = at
    return size


@kernel
def pop(heap: Array, place: Array, dist: Array, size: int) -> int:
    """Take the nearest column off the heap; return the size of the heap."""
    size -= 1
    if size == 0:
        return 0
    j = heap[size]
    key = dist[j]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and dist[heap[below + 1]] < dist[heap[below]]:
            below += 1
        other = heap[below]
        if dist[other] >= key:
            break
        heap[at] = other
        place[other] = at
        at = below
    heap[at] = j
    place[j] = at
    return size


@kernel
def best_gain(i: int, entries: Entries, v: Array, floor: int) -> int:
    """Return what a row gains at most by a unit shipped or left, at the prices of the columns."""
    ptr, col, weight = entries
    best = floor
    for e in range(ptr[i], ptr[i + 1]):
        gain = weight[e] - v[col[e]]
        if gain > best:
            best = gain
    return best


@kernel
def raise_columns(end: PathEnd, v: Array, dist: Array, place: Array, heap: Array) -> None:
    """Raise the price of every scanned column by what it is nearer than the end; clear `place`."""
    for k in range(end.waiting):
        place[heap[k]] = -1
    for k in range(end.scanned, len(heap)):
        j = heap[k]
        place[j] = -1
        v[j] += end.distance - dist[j]
