"""Kernels: direct schedules, packets that never stop, by first fit over a bit mask of offsets for every edge."""

from __future__ import annotations

from typing import NamedTuple

from obliv._util.typing import Array
from obliv.kernels import kernel

__all__ = ["BITS", "Fit", "first_fit"]

BITS = 63  # of a word, so that it never has a sign
FULL = 2**63 - 1


class Fit(NamedTuple):
    """Packets that choose offsets one after another; a place is a position in `order`."""

    start: Array  # of every packet: where its path begins in `edge`; then the end of the last
    edge: Array
    order: Array  # the packets in the order in which they choose
    first: Array  # of every packet: its lowest offset
    joins: Array  # places, by the word of the first offset, ascending within a word
    joins_start: Array  # of every word: where it begins in `joins`; then the end of the last
    mask: Array  # of every edge: zero; the offsets in use in the current word
    waiting: Array  # room for a place of every packet
    fitted: Array  # room for every packet
    offset: Array  # becomes the offset of every packet


@kernel
def merge(joins: Array, low: int, high: int, waiting: Array, count: int) -> int:
    """Merge the places ``joins[low:high]`` into the first `count` of `waiting`, all ascending; return their number."""
    i = count - 1
    j = high - 1
    k = count + high - low - 1
    while j >= low:
        if i >= 0 and waiting[i] > joins[j]:
            waiting[k] = waiting[i]
            i -= 1
        else:
            waiting[k] = joins[j]
            j -= 1
        k -= 1
    return count + high - low


@kernel
def first_fit(fit: Fit) -> None:
    """Give every packet, in `order`, the lowest offset from ``first`` on that no earlier one on its path has.

    Offsets are searched word by word: whether a packet fits in a word depends only on earlier packets in that word, so
    all packets are tried in the first word, the others in the next one, and every edge needs a single word of `mask`.
    """
    start, edge, order, first, mask, waiting = fit.start, fit.edge, fit.order, fit.first, fit.mask, fit.waiting
    count = 0
    word = 0
    words = len(fit.joins_start) - 1
    while count > 0 or word < words:
        if word < words:
            count = merge(fit.joins, fit.joins_start[word], fit.joins_start[word + 1], waiting, count)
        rest = 0
        fitting = 0
        touched = 0
        for i in range(count):
            place = waiting[i]
            p = order[place]
            begin = start[p]
            end = start[p + 1]
            bit = int(first[p]) - word * BITS
            taken = 0
            if bit > 0:
                taken = (1 << bit) - 1
            for k in range(begin, end):
                taken |= mask[edge[k]]
                if taken == FULL:
                    break
            if taken == FULL:
                waiting[rest] = place
                rest += 1
                continue
            free = ~taken & (taken + 1)
            for k in range(begin, end):
                mask[edge[k]] |= free
            bit = 0
            while free > 1:
                free >>= 1
                bit += 1
            fit.offset[p] = word * BITS + bit
            fit.fitted[fitting] = p
            fitting += 1
            touched += end - begin
        count = rest
        word += 1
        if count > 0 or word < words:
            if touched > len(mask):
                mask[:] = 0
            else:
                for i in range(fitting):
                    p = fit.fitted[i]
                    for k in range(start[p], start[p + 1]):
                        mask[edge[k]] = 0
