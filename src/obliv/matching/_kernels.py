"""Kernels: maximum-weight assignment and transportation by shortest augmenting paths."""

from __future__ import annotations

from typing import NamedTuple

from obliv._util.typing import Array
from obliv.kernels import kernel

__all__ = [
    "Columns",
    "Entries",
    "Floors",
    "Matching",
    "PathSearch",
    "Search",
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
        kept = 0
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
                free[kept] = ousted
                kept += 1
        waiting = kept
    return waiting


@kernel
def assign(n: int, m: int, entries: Entries, floors: Floors, matching: Matching, search: Search) -> None:
    """Match n rows to m columns so that the total weight is largest.

    A row or column that stays unmatched counts its floor.  On return u[i] + v[j] >= weight everywhere, with equality
    on matched entries, and u, v stand at their floors where rows and columns are unmatched.
    """
    ptr, col, weight = entries
    row_floor, col_floor = floors
    mate, owner, u, v = matching
    dist, prev, place, heap, free = search
    for j in range(m):
        v[j] = col_floor[j]
        owner[j] = -1
    for i in range(n):
        mate[i] = -1
        free[i] = i
    waiting = _auction(n, entries, row_floor, matching, free)
    for at in range(waiting):
        root = free[at]
        top = row_floor[root]
        for e in range(ptr[root], ptr[root + 1]):
            gain = weight[e] - v[col[e]]
            if gain > top:
                top = gain
        u[root] = top
        best = top - row_floor[root]
        if best == 0:
            continue
        end = -1  # the free column where the best path ends, or
        last = root  # the row that it leaves alone
        size = 0  # heap: columns 0..size-1 of `heap`
        done = m  # scanned columns: heap[done:], from the back
        i = root
        here = top - top
        while True:
            base = here + u[i]
            for e in range(ptr[i], ptr[i + 1]):
                j = col[e]
                far = base - weight[e] + v[j]
                if far < best:
                    if owner[j] < 0:
                        best = far
                        end = j
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
            done -= 1
            heap[done] = j
            place[j] = -2
            i = owner[j]
            alone = here + u[i] - row_floor[i]
            if alone < best:
                best = alone
                end = -1
                last = i
        for k in range(size):
            place[heap[k]] = -1
        u[root] -= best
        for k in range(done, m):
            j = heap[k]
            place[j] = -1
            gap = best - dist[j]
            v[j] += gap
            u[owner[j]] -= gap
        i = last
        j = end
        while i != root:  # hand columns back along the path
            back = mate[i]
            mate[i] = j
            if j >= 0:
                owner[j] = i
            j = back
            i = prev[j]
        mate[root] = j
        if j >= 0:
            owner[j] = root


@kernel
def transport(entries: Entries, columns: Columns, floors: Floors, shipment: Shipment, search: PathSearch) -> None:
    """Ship from rows to columns so that the total weight is largest.

    The shipment's `left_row` and `left_col` hold what each may ship and take and, on return, what is left of it; a
    unit left counts the row's or column's floor.  On return u[i] + v[j] >= weight everywhere, with equality where
    flow > 0, and u, v stand at their floors where something is left.  The flow must be zero on entry.
    """
    ptr, col, weight = entries
    back_ptr, back_row, back_entry = columns
    row_floor, col_floor = floors
    flow, left_row, left_col, u, v = shipment
    dist, row_dist, prev_row, prev_entry, via_col, via_entry, place, heap, opened = search
    n, m = len(row_floor), len(col_floor)
    for j in range(m):
        v[j] = col_floor[j]
    for root in range(n):
        top = row_floor[root]
        for e in range(ptr[root], ptr[root + 1]):
            gain = weight[e] - v[col[e]]
            if gain > top:
                top = gain
        u[root] = top
        while left_row[root] > 0:
            best = u[root] - row_floor[root]
            if best == 0:
                break
            end = -1
            end_entry = -1
            last = root
            size = 0
            done = m
            here = best - best
            rows = 1
            opened[0] = root
            row_dist[root] = here
            via_col[root] = m
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
                                end = j
                                end_entry = e
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
                done -= 1
                heap[done] = j
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
                            end = -1
                            last = i
            amount = left_row[root]
            if end >= 0 and left_col[end] < amount:
                amount = left_col[end]
            i = last
            while i != root:
                if flow[via_entry[i]] < amount:
                    amount = flow[via_entry[i]]
                i = prev_row[via_col[i]]
            if end >= 0:
                flow[end_entry] += amount
                left_col[end] -= amount
            else:
                left_row[last] += amount
            i = last
            while i != root:
                flow[via_entry[i]] -= amount
                j = via_col[i]
                flow[prev_entry[j]] += amount
                i = prev_row[j]
            left_row[root] -= amount
            for k in range(size):
                place[heap[k]] = -1
            for k in range(done, m):
                j = heap[k]
                place[j] = -1
                v[j] += best - dist[j]
            for k in range(rows):
                i = opened[k]
                via_col[i] = -1
                u[i] -= best - row_dist[i]
