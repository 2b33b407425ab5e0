"""Kernels: maximum-weight assignment by auction sweeps and shortest augmenting paths."""

from __future__ import annotations

from typing import Any

from obliv.kernels import kernel

__all__ = ["assign", "assign_channels"]

Array = Any


@kernel
def _sift_up(heap: Array, place: Array, dist: Array, at: int) -> None:
    j = heap[at]
    key = dist[j]
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


@kernel
def _sift_down(heap: Array, place: Array, dist: Array, size: int) -> None:
    j = heap[0]
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


@kernel
def assign(
    n: int,
    m: int,
    ptr: Array,
    col: Array,
    weight: Array,
    row_floor: Array,
    col_floor: Array,
    mate: Array,
    owner: Array,
    u: Array,
    v: Array,
    dist: Array,
    prev: Array,
    place: Array,
    heap: Array,
    free: Array,
    sweeps: int,
) -> None:
    """Match rows to columns so that the total weight is largest.

    A row left alone counts row_floor[i], a column left alone col_floor[j].  On return
    u[i] + v[j] >= weight everywhere, with equality on matched entries, and u, v stand at
    their floors on what is alone.  `place` must hold -1 for every column on entry and
    does so on return.
    """
    for j in range(m):
        v[j] = col_floor[j]
        owner[j] = -1
    for i in range(n):
        mate[i] = -1
        free[i] = i
    waiting = n
    fewest = n + 1
    idle = 0
    while 0 < waiting and idle < sweeps:
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
                    if gain > best:
                        second = best
                        spare = j
                        best = gain
                        j = col[e]
                    else:
                        second = gain
                        spare = col[e]
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
                    elif place[j] == -1:
                        dist[j] = far
                        prev[j] = i
                        heap[size] = j
                        size += 1
                        _sift_up(heap, place, dist, size - 1)
                    elif place[j] >= 0 and far < dist[j]:
                        dist[j] = far
                        prev[j] = i
                        _sift_up(heap, place, dist, place[j])
            if size == 0:
                break
            j = heap[0]
            if dist[j] >= best:
                break
            here = dist[j]
            size -= 1
            if size > 0:
                heap[0] = heap[size]
                _sift_down(heap, place, dist, size)
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
def assign_channels() -> None:
    pass
