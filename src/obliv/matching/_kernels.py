"""Kernels: maximum-weight assignment and transportation by shortest augmenting paths."""

from __future__ import annotations

from typing import NamedTuple

from obliv._util.arrays import Array
from obliv.kernels import kernel

__all__ = [
    "Assignment",
    "Columns",
    "Entries",
    "Floors",
    "PathEnd",
    "PathSearch",
    "SearchSpace",
    "Shipment",
    "assign",
    "transport",
]


class Entries(NamedTuple):
    """A sparse matrix by rows: row i has the entries ``ptr[i] .. ptr[i + 1]`` of `col` and `weight`."""

    ptr: Array
    col: Array
    weight: Array


class Columns(NamedTuple):
    """The same entries by columns: their rows, and their numbers in the order of rows."""

    ptr: Array
    row: Array
    entry: Array


class Floors(NamedTuple):
    """What a row or column (or one unit of it) counts if it stays unmatched."""

    row: Array
    col: Array


class Assignment(NamedTuple):
    """The column of every row and the row of every column, -1 for none, and the prices of rows and columns."""

    mate: Array
    owner: Array
    u: Array
    v: Array


class SearchSpace(NamedTuple):
    """Scratch of searches for an augmenting path; `place` holds -1 for every column before and after."""

    dist: Array
    prev: Array
    place: Array
    heap: Array
    free: Array


class Shipment(NamedTuple):
    """The flow along every entry, what rows and columns have left, and the prices of rows and columns."""

    flow: Array
    left_row: Array
    left_col: Array
    u: Array
    v: Array


class PathSearch(NamedTuple):
    """Scratch of searches for a path to ship along; `place` and `via_col` hold -1 before and after."""

    dist: Array
    row_dist: Array
    prev_row: Array
    prev_entry: Array
    via_col: Array
    via_entry: Array
    place: Array
    heap: Array
    opened: Array


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
def _push(heap: Array, place: Array, dist: Array, size: int, j: int, key: int) -> int:
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
def _pop(heap: Array, place: Array, dist: Array, size: int) -> int:
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
def _auction(n: int, entries: Entries, row_floor: Array, matching: Assignment, free: Array) -> int:
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
def _best_gain(i: int, entries: Entries, v: Array, floor: int) -> int:
    """Return what a row gains at most by a unit shipped or left, at the prices of the columns."""
    ptr, col, weight = entries
    best = floor
    for e in range(ptr[i], ptr[i + 1]):
        gain = weight[e] - v[col[e]]
        if gain > best:
            best = gain
    return best


@kernel
def _raise_columns(end: PathEnd, v: Array, dist: Array, place: Array, heap: Array) -> None:
    """Raise the price of every scanned column by what it is nearer than the end; clear `place`."""
    for k in range(end.waiting):
        place[heap[k]] = -1
    for k in range(end.scanned, len(heap)):
        j = heap[k]
        place[j] = -1
        v[j] += end.distance - dist[j]


@kernel
def _shortest_path(root: int, entries: Entries, row_floor: Array, matching: Assignment, search: SearchSpace) -> PathEnd:
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
                    size = _push(heap, place, dist, size, j, far)
        if size == 0:
            break
        j = heap[0]
        if dist[j] >= best:
            break
        here = dist[j]
        size = _pop(heap, place, dist, size)
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
def _augment(root: int, end: PathEnd, matching: Assignment, prev: Array) -> None:
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
def assign(n: int, entries: Entries, floors: Floors, matching: Assignment, search: SearchSpace) -> None:
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
        u[root] = _best_gain(root, entries, v, row_floor[root])
        if u[root] == row_floor[root]:
            continue
        end = _shortest_path(root, entries, row_floor, matching, search)
        u[root] -= end.distance
        for k in range(end.scanned, len(heap)):
            j = heap[k]
            u[owner[j]] -= end.distance - dist[j]
        _raise_columns(end, v, dist, place, heap)
        _augment(root, end, matching, prev)


@kernel
def _cheapest_path(
    root: int, entries: Entries, columns: Columns, row_floor: Array, shipment: Shipment, search: PathSearch
) -> PathEnd:
    """Find the shortest path from a row to ship along, forth by any entry and back by entries with flow."""
    ptr, col, weight = entries
    back_ptr, back_row, back_entry = columns
    flow, _, left_col, u, v = shipment
    dist, row_dist, prev_row, prev_entry, via_col, via_entry, place, heap, opened = search
    best = u[root] - row_floor[root]
    column = -1
    entry = -1
    last = root
    size = 0
    scanned = len(heap)
    here = best - best
    rows = 1
    opened[0] = root
    row_dist[root] = here
    via_col[root] = len(heap)
    scan = 0
    while True:
        while scan < rows:
            i = opened[scan]
            scan += 1
            base = here + u[i]
            for e in range(ptr[i], ptr[i + 1]):
                j = col[e]
                far = base - weight[e] + v[j]
                if far < best:
                    if left_col[j] > 0:
                        best = far
                        column = j
                        entry = e
                        last = i
                    elif place[j] == -1 or (place[j] >= 0 and far < dist[j]):
                        prev_row[j] = i
                        prev_entry[j] = e
                        size = _push(heap, place, dist, size, j, far)
        if size == 0:
            break
        j = heap[0]
        if dist[j] >= best:
            break
        here = dist[j]
        size = _pop(heap, place, dist, size)
        scanned -= 1
        heap[scanned] = j
        place[j] = -2
        for k in range(back_ptr[j], back_ptr[j + 1]):
            i = back_row[k]
            if flow[back_entry[k]] > 0 and via_col[i] == -1:
                via_col[i] = j
                via_entry[i] = back_entry[k]
                row_dist[i] = here
                opened[rows] = i
                rows += 1
                alone = here + u[i] - row_floor[i]
                if alone < best:
                    best = alone
                    column = -1
                    last = i
    return PathEnd(best, last, column, entry, size, scanned, rows)


@kernel
def _ship(root: int, end: PathEnd, shipment: Shipment, search: PathSearch) -> None:
    """Ship along a path as much as the root has left, the end takes, and the entries gone back hold."""
    flow, left_row, left_col, _, _ = shipment
    _, _, prev_row, prev_entry, via_col, via_entry, _, _, _ = search
    amount = left_row[root]
    if end.column >= 0:
        amount = min(amount, left_col[end.column])
    i = end.row
    while i != root:
        amount = min(amount, flow[via_entry[i]])
        i = prev_row[via_col[i]]
    if end.column >= 0:
        flow[end.entry] += amount
        left_col[end.column] -= amount
    else:
        left_row[end.row] += amount
    i = end.row
    while i != root:
        flow[via_entry[i]] -= amount
        j = via_col[i]
        flow[prev_entry[j]] += amount
        i = prev_row[j]
    left_row[root] -= amount


@kernel
def transport(entries: Entries, columns: Columns, floors: Floors, shipment: Shipment, search: PathSearch) -> None:
    """Ship from rows to columns so that the total weight is largest.

    The shipment's `left_row` and `left_col` hold what each may ship and take and, on return, what is left of it; a
    unit left counts the row's or column's floor.  On return u[i] + v[j] >= weight everywhere, with equality where
    flow > 0, and u, v stand at their floors where something is left.  The flow must be zero on entry.
    """
    row_floor, col_floor = floors
    _, left_row, _, u, v = shipment
    dist, row_dist, _, _, via_col, _, place, heap, opened = search
    for j in range(len(heap)):
        v[j] = col_floor[j]
    for root in range(len(row_floor)):
        u[root] = _best_gain(root, entries, v, row_floor[root])
        while left_row[root] > 0 and u[root] > row_floor[root]:
            end = _cheapest_path(root, entries, columns, row_floor, shipment, search)
            _ship(root, end, shipment, search)
            _raise_columns(end, v, dist, place, heap)
            for k in range(end.rows):
                i = opened[k]
                via_col[i] = -1
                u[i] -= end.distance - row_dist[i]
