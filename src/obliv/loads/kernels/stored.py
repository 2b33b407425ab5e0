"""Kernels: stored loads, many channels in one call."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.typing import Array
from obliv.kernels import kernel
from obliv.matching._kernels import Entries, Floors, Matching, Search, assign

__all__ = ["Channels", "assign_channels", "coarsen", "compare"]


class Channels(NamedTuple):
    """Pair loads by channel: those of channel c are ``start[c] .. start[c + 1]``, sorted by row."""

    start: Array
    row: Array
    col: Array
    weight: Array


@kernel
def compare(loads: Channels, moved: Array, place: Array) -> bool:
    """Whether the entries of every channel, relabelled by `place`, are those of its image; sorted by row, column."""
    start, row, col, weight = loads
    for c in range(len(moved)):
        d = moved[c]
        first, size = start[d], start[d + 1] - start[d]
        if size != start[c + 1] - start[c]:
            return False
        for e in range(start[c], start[c + 1]):
            r, k = place[row[e]], place[col[e]]
            low, high = first, first + size
            while low < high:
                middle = (low + high) >> 1
                if row[middle] < r or (row[middle] == r and col[middle] < k):
                    low = middle + 1
                else:
                    high = middle
            if low == first + size or row[low] != r or col[low] != k or weight[low] != weight[e]:
                return False
    return True


@kernel
def _rows_of(row: Array, weight: Array, first: int, end: int, ids: Array, ptr: Array) -> tuple[int, int]:
    """Find the rows that occur and where the entries of each begin; return how many they are and Σ row maxima."""
    n = 0
    before = -1
    best = 0
    total = 0
    for e in range(first, end):
        if row[e] != before:
            before = row[e]
            ids[n] = before
            ptr[n] = e - first
            n += 1
            total += best
            best = 0
        best = max(best, weight[e])
    ptr[n] = end - first
    return n, total + best


@kernel
def _column_maxima(col: Array, weight: Array, first: int, end: int, top: Array) -> int:
    """Sum the column maxima; `top` holds zeros before and after."""
    total = 0
    for e in range(first, end):
        if weight[e] > top[col[e]]:
            total += weight[e] - top[col[e]]
            top[col[e]] = weight[e]
    for e in range(first, end):
        top[col[e]] = 0
    return total


@kernel
def assign_channels(
    channels: Array, limit: Array, loads: Channels, terminals: int, value: Array, price: Array, mates: Array
) -> None:
    """Solve channels one after another.

    ``value[k]`` becomes the optimum of channel ``channels[k]``, or -1 where its simple bound, min(Σ row maxima,
    Σ column maxima), is at most ``limit[k]``; where the rows' is far above it, the columns' is not asked.  Where
    `price` has rows, ``price[k, r]`` becomes the price of row r (0 where it has no entry).  `mates` gets the
    column of every row that has entries, -1 for none, channel after channel, in room for min(entries, terminals) each.
    """
    start, row, col, weight = loads
    ids = np.empty(terminals, np.int32)
    top = np.zeros(terminals, np.int64)
    ptr = np.empty(terminals + 1, np.int64)
    floors = Floors(np.zeros(terminals, np.int64), np.zeros(terminals, np.int64))
    matching = Matching(
        np.empty(terminals, np.int32),
        np.empty(terminals, np.int32),
        np.empty(terminals, np.int64),
        np.empty(terminals, np.int64),
    )
    search = Search(
        np.empty(terminals, np.int64),
        np.empty(terminals, np.int32),
        np.full(terminals, -1, np.int32),
        np.empty(terminals, np.int32),
        np.empty(terminals, np.int32),
    )
    begin = 0
    for k in range(len(channels)):
        first, end = start[channels[k]], start[channels[k] + 1]
        offset = begin
        begin += min(end - first, terminals)
        n, bound = _rows_of(row, weight, first, end, ids, ptr)
        if bound >> 2 <= limit[k] < bound:
            bound = _column_maxima(col, weight, first, end, top)
        if bound <= limit[k]:
            value[k] = -1
            continue
        part = Entries(ptr, col[first:end], weight[first:end])
        assign(n, part, floors, matching, search)
        total = 0
        for i in range(n):
            total += matching.u[i]
            mates[offset + i] = matching.mate[i]
        for j in range(terminals):
            total += matching.v[j]
        value[k] = total
        if len(price) > 0:
            for r in range(terminals):
                price[k, r] = 0
            for i in range(n):
                price[k, ids[i]] = matching.u[i]


@kernel
def coarsen(channels: Array, loads: Channels, limit: Array, price: Array, terminals: int, coarsest: int) -> None:
    """Round row prices up to the coarsest power of two that still proves `limit[k]` for channel ``channels[k]``."""
    start, row, col, weight = loads
    top = np.zeros(terminals, np.int64)
    for k in range(len(channels)):
        first, end = start[channels[k]], start[channels[k] + 1]
        shift = coarsest
        while shift > 0:
            step = 1 << shift
            total = 0
            for r in range(terminals):
                total += (price[k, r] + step - 1) // step * step
            for e in range(first, end):
                if total > limit[k]:
                    break
                p = (price[k, row[e]] + step - 1) // step * step
                over = weight[e] - p
                if over > top[col[e]]:
                    total += over - top[col[e]]
                    top[col[e]] = over
            for e in range(first, end):
                top[col[e]] = 0
            if total <= limit[k]:
                for r in range(terminals):
                    price[k, r] = (price[k, r] + step - 1) // step * step
                break
            shift -= 2
