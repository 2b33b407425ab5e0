"""Kernels of the checker: the dual bound of every channel, summed over blocks of sources."""

from __future__ import annotations

from typing import NamedTuple

from obliv._util.typing import Array
from obliv.kernels import kernel

__all__ = ["Entries", "Prices", "SourceFlow", "add_block", "raise_tops", "sort_block"]


class SourceFlow(NamedTuple):
    """What a source sends: entries of destination j end at ``ends[j]``, their amounts are over ``whole[j]``."""

    ends: Array
    channel: Array
    amount: Array
    whole: Array


class Entries(NamedTuple):
    """Loads of pairs by channel: those of channel c are ``start[c] .. start[c + 1]``, sorted by source."""

    start: Array
    source: Array
    destination: Array
    weight: Array


class Prices(NamedTuple):
    """The prices of channel c are ``table[row[c]]``."""

    row: Array
    table: Array


@kernel
def sort_block(flow: SourceFlow, source: int, denominator: int, cursor: Array, out: Entries) -> bool:
    """Put one source's entries behind their channels' cursors, as numerators over the claim's denominator.

    Returns False where a load is not an integer over it.
    """
    ends, channel, amount, whole = flow
    begin = 0
    for j in range(len(ends)):
        if begin == ends[j]:
            continue
        q = denominator // whole[j]
        r = denominator % whole[j]
        for e in range(begin, ends[j]):
            weight = amount[e] * q
            if r != 0:
                rest = amount[e] * r
                if rest % whole[j] != 0:
                    return False
                weight += rest // whole[j]
            at = cursor[channel[e]]
            cursor[channel[e]] = at + 1
            out.source[at] = source
            out.destination[at] = j
            out.weight[at] = weight
        begin = ends[j]
    return True


@kernel
def add_block(entries: Entries, send: Array, prices: Prices, total: Array) -> None:
    """Add the terms send_i · max(0, max_j (w_ij - v_j)) of a block of sources to each channel's dual."""
    start, source, destination, weight = entries
    row, table = prices
    for c in range(len(total)):
        v = table[row[c]]
        sum_ = 0
        over = 0
        before = -1
        for e in range(start[c], start[c + 1]):
            if source[e] != before:
                if over > 0:
                    sum_ += send[before] * over
                over = 0
                before = source[e]
            gain = weight[e] - v[destination[e]]
            if gain > over:
                over = gain
        if over > 0:
            sum_ += send[before] * over
        total[c] += sum_


@kernel
def raise_tops(entries: Entries, row: Array, top: Array) -> None:
    """Raise the column maxima of the channels that need them: channel c's stand in ``top[row[c]]``, none where < 0."""
    start, _, destination, weight = entries
    for c in range(len(row)):
        if row[c] < 0:
            continue
        for e in range(start[c], start[c + 1]):
            if weight[e] > top[row[c], destination[e]]:
                top[row[c], destination[e]] = weight[e]
