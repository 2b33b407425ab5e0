"""Kernels: the moves of a centralized plan, written down without stepping."""

from __future__ import annotations

from typing import NamedTuple

from obliv._util.typing import Array
from obliv.bufferless.kernels.colors import BITS, mark, wipe
from obliv.kernels import kernel

__all__ = ["Itinerary", "Runs", "count_moves", "find_hits", "write_moves"]


class Itinerary(NamedTuple):
    """Paths, frames, and the boats of packets: where they wait for them and which deflect them."""

    start: Array  # of every packet: where its path begins in `edge`; then the end of the last
    edge: Array
    level: Array  # of every packet: where it begins
    row: Array  # of every packet: where its phases begin in the next two; then the end of the last
    color: Array
    home: Array
    lam: int
    tau: int
    words: int  # of a row of `hit`, and of an edge of the masks
    hit: Array  # bit k of the words of a row: boat k + 1 deflects the packet in this phase


class Runs(NamedTuple):
    """Runs of steps over one edge, to and fro."""

    time: Array  # of the first move
    over: Array  # the edge
    up: Array  # whether the first move is upwards
    more: Array  # moves after the first


@kernel
def find_hits(
    cell: Array, rows: Array, owner: Array, first: Array, a: Array, mask: Array, itinerary: Itinerary
) -> None:
    """Find the boats that deflect every packet; `hit` holds zeros.

    Cell c, one set in one frame whose first level is ``a[c]``, has the rows ``rows[cell[c]:cell[c + 1]]``.  Row r is
    of packet ``owner[r]``; it begins the phase at home where ``first[r]`` is 0.  Boat k deflects it if it comes before
    its own boat and carries a packet over its oscillation edge.
    """
    start, edge, level, color, home = itinerary.start, itinerary.edge, itinerary.level, itinerary.color, itinerary.home
    lam, words, hit = itinerary.lam, itinerary.words, itinerary.hit
    for c in range(len(a)):
        for step in range(3):
            for i in range(cell[c], cell[c + 1]):
                r = rows[i]
                p = owner[r]
                to_edge = start[p] - level[p]
                high = min(start[p + 1], to_edge + a[c] + lam)
                if step == 0:
                    mark(mask, words, edge, to_edge + home[r], high, color[r])
                elif step == 2:
                    wipe(mask, words, edge, to_edge + home[r], high, color[r])
                elif first[r] == 0:
                    k = int(color[r]) - 1  # colors below its own are the bits below this one
                    at = int(edge[to_edge + home[r]]) * words
                    for w in range(k // BITS + 1):
                        below = mask[at + w]
                        if w == k // BITS:
                            below &= (1 << (k % BITS)) - 1
                        hit[r * words + w] = below


@kernel
def count_moves(itinerary: Itinerary, many: Array) -> int:
    """Count the rows that every packet's moves take; return the number of deflections."""
    start, row, color, home = itinerary.start, itinerary.row, itinerary.color, itinerary.home
    lam, words, hit = itinerary.lam, itinerary.words, itinerary.hit
    deflections = 0
    for p in range(len(many)):
        rows = start[p + 1] - start[p]
        for r in range(row[p] + 1, row[p + 1]):
            x = 0  # a run of oscillation is open since the stop before
            for k in range(1, color[r]):
                if (hit[r * words + (k - 1) // BITS] >> ((k - 1) % BITS)) & 1:
                    deflections += 1
                    boat = home[r] % lam + 4 * k - 3
                    rows += 2 if boat > x else 1
                    x = boat + 2
            if home[r] % lam + 4 * color[r] - 3 > x:
                rows += 1
        many[p] = rows
    return deflections


@kernel
def write(out: int, since: int, edge: int, up: bool, more: int, runs: Runs) -> None:
    """Write a row."""
    runs.time[out] = since
    runs.over[out] = edge
    runs.up[out] = up
    runs.more[out] = more


@kernel
def write_moves(clock: Array, at: Array, itinerary: Itinerary, runs: Runs) -> None:
    """Write the moves of packet p from row ``at[p]`` on; its first phase begins at time ``clock[p]``.

    Oscillation at a stop and before the ride of the next phase is one run, unless a boat deflects the packet.
    """
    start, edge, level, row, color, home, lam, tau, words, hit = itinerary
    for p in range(len(clock)):
        to_edge = start[p] - level[p]
        out = at[p]
        t0 = clock[p]  # all of a phase's times count from here
        since = t0
        for r in range(row[p], row[p + 1]):
            here = home[r]
            board = t0 + here % lam + 4 * color[r] - 3
            if r > row[p]:
                for k in range(1, color[r]):
                    if (hit[r * words + (k - 1) // BITS] >> ((k - 1) % BITS)) & 1:
                        t = t0 + here % lam + 4 * k - 3
                        if t > since:
                            write(out, since, edge[to_edge + here], True, t - since - 1, runs)
                            out += 1
                        write(out, t, edge[to_edge + here - 1], False, 1, runs)
                        out += 1
                        since = t + 2
                if board > since:
                    write(out, since, edge[to_edge + here], True, board - since - 1, runs)
                    out += 1
            stop = start[p + 1] - to_edge
            if r + 1 < row[p + 1]:
                stop = home[r + 1]
            for here in range(home[r], stop):
                write(out, board + here - home[r], edge[to_edge + here], True, 0, runs)
                out += 1
            since = board + stop - home[r]
            t0 += tau
