"""Kernels: direct schedules, packets that never stop, by first fit over a bit mask of offsets for every edge."""

from __future__ import annotations

from typing import Any

from obliv.kernels import kernel

__all__ = ["BITS", "first_fit", "run_through"]

Array = Any

BITS = 63  # of a word, so that it never has a sign
FULL = 2**63 - 1


@kernel
def first_fit(
    start: Array,
    edge: Array,
    order: Array,
    first: Array,
    joins: Array,
    joins_start: Array,
    mask: Array,
    left: Array,
    fitted: Array,
    offset: Array,
) -> None:
    """Give every packet, in `order`, the lowest offset from ``first`` on that no earlier one on its path has.

    Offsets are searched word by word: whether a packet fits in a word depends only on earlier packets in that word, so
    all packets are tried in the first word, the others in the next one, and every edge needs a single word of `mask`
    (zeros at first).  ``joins[joins_start[w] : joins_start[w + 1]]`` are the places in
    `order`, ascending, of the packets whose first offset lies in word w.
    """
    waiting = 0
    word = 0
    words = len(joins_start) - 1
    while waiting > 0 or word < words:
        if word < words:
            i = waiting - 1
            j = joins_start[word + 1] - 1
            waiting += joins_start[word + 1] - joins_start[word]
            k = waiting - 1
            while j >= joins_start[word]:
                if i >= 0 and left[i] > joins[j]:
                    left[k] = left[i]
                    i -= 1
                else:
                    left[k] = joins[j]
                    j -= 1
                k -= 1
        kept = 0
        found = 0
        touched = 0
        for i in range(waiting):
            place = left[i]
            p = order[place]
            begin = start[p]
            end = start[p + 1]
            bit = int(first[p]) - word * BITS
            seen = 0
            if bit > 0:
                seen = (1 << bit) - 1
            for k in range(begin, end):
                seen |= mask[edge[k]]
                if seen == FULL:
                    break
            if seen == FULL:
                left[kept] = place
                kept += 1
                continue
            free = ~seen & (seen + 1)
            for k in range(begin, end):
                mask[edge[k]] |= free
            bit = 0
            while free > 1:
                free >>= 1
                bit += 1
            offset[p] = word * BITS + bit
            fitted[found] = p
            found += 1
            touched += end - begin
        waiting = kept
        word += 1
        if waiting > 0 or word < words:
            if touched > len(mask):
                mask[:] = 0
            else:
                for i in range(found):
                    p = fitted[i]
                    for k in range(start[p], start[p + 1]):
                        mask[edge[k]] = 0


@kernel
def run_through(start: Array, departure: Array, time: Array) -> None:
    """Write the times of packets that leave at `departure` and never stop."""
    for p in range(len(departure)):
        t = departure[p]
        for k in range(start[p], start[p + 1]):
            t += 1
            time[k] = t
