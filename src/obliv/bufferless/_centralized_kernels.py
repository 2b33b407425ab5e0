"""Kernels that write down the moves of a centralized plan: rides, oscillations and deflections, without stepping."""

from __future__ import annotations

from typing import Any

from obliv.bufferless._colour_kernels import BITS, mark, wipe
from obliv.kernels import kernel

__all__ = ["count_moves", "find_hits", "ride_times", "write_moves"]

Array = Any


@kernel
def ride_times(start: Array, delivery: Array, time: Array) -> None:
    """The times of moves of packets that never stop: one after another, the last at its delivery."""
    for p in range(len(delivery)):
        t = delivery[p] - start[p + 1] + 1
        for i in range(start[p], start[p + 1]):
            time[i] = t + i


@kernel
def find_hits(
    cell: Array,
    rows: Array,
    owner: Array,
    first: Array,
    a: Array,
    level: Array,
    start: Array,
    edge: Array,
    colour: Array,
    home: Array,
    lam: int,
    words: int,
    mask: Array,
    hit: Array,
) -> None:
    """The boats that deflect every packet: bit k of its words of ``hit`` in the row of a phase.

    Cell c, one set in one frame whose first level is ``a[c]``, has the rows ``rows[cell[c]:cell[c + 1]]``.  Row r is
    of packet ``owner[r]``; it begins the phase at home where ``first[r]`` is 0.  Boat k pushes it if it comes earlier
    than its own and carries somebody over its edge of oscillation.
    """
    for c in range(len(a)):
        for way in range(3):
            for i in range(cell[c], cell[c + 1]):
                r = rows[i]
                p = owner[r]
                to_edge = start[p] - level[p]
                high = min(start[p + 1], to_edge + a[c] + lam)
                if way == 0:
                    mark(mask, words, edge, to_edge + home[r], high, colour[r])
                elif way == 2:
                    wipe(mask, words, edge, to_edge + home[r], high, colour[r])
                elif first[r] == 0:
                    k = int(colour[r]) - 1  # colours below its own are the bits below this one
                    at = int(edge[to_edge + home[r]]) * words
                    for w in range(k // BITS + 1):
                        below = mask[at + w]
                        if w == k // BITS:
                            below &= (1 << (k % BITS)) - 1
                        hit[r * words + w] = below


@kernel
def count_moves(
    start: Array, row: Array, words: int, colour: Array, home: Array, lam: int, hit: Array, many: Array
) -> int:
    """How many rows every packet's moves take; the number of deflections."""
    deflections = 0
    for p in range(len(many)):
        rows = start[p + 1] - start[p]
        for r in range(row[p] + 1, row[p + 1]):
            x = 0  # a run of oscillation is open since the stop before
            for k in range(1, colour[r]):
                if (hit[r * words + (k - 1) // BITS] >> ((k - 1) % BITS)) & 1:
                    deflections += 1
                    boat = home[r] % lam + 4 * k - 3
                    rows += 2 if boat > x else 1
                    x = boat + 2
            if home[r] % lam + 4 * colour[r] - 3 > x:
                rows += 1
        many[p] = rows
    return deflections


@kernel
def write_moves(
    start: Array,
    edge: Array,
    level: Array,
    row: Array,
    words: int,
    colour: Array,
    home: Array,
    clock: Array,
    lam: int,
    tau: int,
    hit: Array,
    at: Array,
    time: Array,
    over: Array,
    up: Array,
    more: Array,
) -> None:
    """The moves of packet p from row ``at[p]`` on; its first phase begins at time ``clock[p]``.

    Oscillation at a stop and before the ride of the next phase is one run, as far as nothing pushes.
    """
    for p in range(len(clock)):
        to_edge = start[p] - level[p]
        out = at[p]
        t0 = clock[p]  # all of a phase's times count from here
        since = t0
        for r in range(row[p], row[p + 1]):
            here = home[r]
            board = t0 + here % lam + 4 * colour[r] - 3
            if r > row[p]:
                for k in range(1, colour[r]):
                    if (hit[r * words + (k - 1) // BITS] >> ((k - 1) % BITS)) & 1:
                        t = t0 + here % lam + 4 * k - 3
                        if t > since:
                            time[out] = since
                            over[out] = edge[to_edge + here]
                            up[out] = True
                            more[out] = t - since - 1
                            out += 1
                        time[out] = t
                        over[out] = edge[to_edge + here - 1]
                        up[out] = False
                        more[out] = 1
                        out += 1
                        since = t + 2
                if board > since:
                    time[out] = since
                    over[out] = edge[to_edge + here]
                    up[out] = True
                    more[out] = board - since - 1
                    out += 1
            stop = start[p + 1] - to_edge
            if r + 1 < row[p + 1]:
                stop = home[r + 1]
            for here in range(home[r], stop):
                time[out] = board + here - home[r]
                over[out] = edge[to_edge + here]
                up[out] = True
                more[out] = 0
                out += 1
            since = board + stop - home[r]
            t0 += tau
