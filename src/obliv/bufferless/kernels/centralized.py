"""Kernels that write down the moves of a centralized plan: rides, oscillations and deflections, without stepping."""

from __future__ import annotations

from typing import Any, NamedTuple

from obliv.bufferless.kernels.colours import BITS, mark, wipe
from obliv.kernels import kernel

__all__ = ["Plan", "Rows", "count_moves", "find_hits", "ride_times", "write_moves"]

Array = Any


class Plan(NamedTuple):
    """Paths, frames, and the boats of packets: where they wait for them and who pushes them."""

    start: Array  # of every packet: where its path begins in `edge`; then the end of the last
    edge: Array
    level: Array  # of every packet: where it begins
    row: Array  # of every packet: where its phases begin in the next two; then the end of the last
    colour: Array
    home: Array
    lam: int
    tau: int
    words: int  # of a row of `hit`, and of an edge of the masks
    hit: Array  # bit k of the words of a row: boat k + 1 deflects the packet in this phase


class Rows(NamedTuple):
    """Runs to and fro over one edge."""

    time: Array  # of the first move
    over: Array  # the edge
    up: Array  # whether the first move is upwards
    more: Array  # moves after the first


@kernel
def ride_times(start: Array, delivery: Array, time: Array) -> None:
    """The times of moves of packets that never stop: one after another, the last at its delivery."""
    for p in range(len(delivery)):
        t = delivery[p] - start[p + 1] + 1
        for i in range(start[p], start[p + 1]):
            time[i] = t + i


@kernel
def find_hits(cell: Array, rows: Array, owner: Array, first: Array, a: Array, mask: Array, plan: Plan) -> None:
    """The boats that deflect every packet; `hit` holds zeros.

    Cell c, one set in one frame whose first level is ``a[c]``, has the rows ``rows[cell[c]:cell[c + 1]]``.  Row r is
    of packet ``owner[r]``; it begins the phase at home where ``first[r]`` is 0.  Boat k pushes it if it comes earlier
    than its own and carries somebody over its edge of oscillation.
    """
    start, edge, level, colour, home = plan.start, plan.edge, plan.level, plan.colour, plan.home
    lam, words, hit = plan.lam, plan.words, plan.hit
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
def count_moves(plan: Plan, many: Array) -> int:
    """How many rows every packet's moves take; the number of deflections."""
    start, row, colour, home = plan.start, plan.row, plan.colour, plan.home
    lam, words, hit = plan.lam, plan.words, plan.hit
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
def write(out: int, since: int, edge: int, up: bool, more: int, rows: Rows) -> None:
    """Fill a row."""
    rows.time[out] = since
    rows.over[out] = edge
    rows.up[out] = up
    rows.more[out] = more


@kernel
def write_moves(clock: Array, at: Array, plan: Plan, rows: Rows) -> None:
    """The moves of packet p from row ``at[p]`` on; its first phase begins at time ``clock[p]``.

    Oscillation at a stop and before the ride of the next phase is one run, as far as nothing pushes.
    """
    start, edge, level, row, colour, home, lam, tau, words, hit = plan
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
                            write(out, since, edge[to_edge + here], True, t - since - 1, rows)
                            out += 1
                        write(out, t, edge[to_edge + here - 1], False, 1, rows)
                        out += 1
                        since = t + 2
                if board > since:
                    write(out, since, edge[to_edge + here], True, board - since - 1, rows)
                    out += 1
            stop = start[p + 1] - to_edge
            if r + 1 < row[p + 1]:
                stop = home[r + 1]
            for here in range(home[r], stop):
                write(out, board + here - home[r], edge[to_edge + here], True, 0, rows)
                out += 1
            since = board + stop - home[r]
            t0 += tau
