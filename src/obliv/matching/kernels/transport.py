"""The transportation problem by shortest paths to ship along."""

from __future__ import annotations

from typing import NamedTuple

from obliv._util.typing import Array
from obliv.kernels import kernel
from obliv.matching.kernels.search import Entries, Floors, PathEnd, best_gain, pop, push, raise_columns

__all__ = ["Columns", "PathSearch", "Shipment", "transport"]


class Columns(NamedTuple):
    """The same entries by columns: their rows, and their numbers in the order of rows."""

    ptr: Array
    row: Array
    entry: Array


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
        u[root] = best_gain(root, entries, v, row_floor[root])
        while left_row[root] > 0 and u[root] > row_floor[root]:
            end = _cheapest_path(root, entries, columns, row_floor, shipment, search)
            _ship(root, end, shipment, search)
            raise_columns(end, v, dist, place, heap)
            for k in range(end.rows):
                i = opened[k]
                via_col[i] = -1
                u[i] -= end.distance - row_dist[i]
