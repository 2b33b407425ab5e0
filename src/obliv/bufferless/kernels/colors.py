"""Kernels of the centralized plan: the lowest free color of packets whose paths share edges.

A color is a bit of the masks of edges, 62 colors a word; colors count from 1.
"""

from __future__ import annotations

from typing import NamedTuple

from obliv._util.typing import Array
from obliv.kernels import kernel

__all__ = ["Cells", "Coloring", "Room", "color_frames", "first_free", "mark", "wipe"]

BITS = 62
FULL = (1 << BITS) - 1

DONE, TOO_MANY, TOO_HIGH = 0, 1, 2

FRAMES_AHEAD = 2  # frames over which colors must differ
TARGET_SPACING = 2  # levels between the targets of two colors


class Cells(NamedTuple):
    """Packets by set and group: cell c has the packets ``order[first[c] : first[c + 1]]``."""

    first: Array
    base: Array  # the first level of each cell's group
    order: Array  # packets of a cell by the frame of their source, then by rank
    rank: Array  # of every packet: its place in the order of coloring
    frame: Array  # of every packet: the frame of its source within the group


class Coloring(NamedTuple):
    """Paths, masks, and the colors and homes to be found."""

    start: Array  # of every packet: where its path begins in `edge`; then the end of the last
    edge: Array
    level: Array  # of every packet: where it begins
    lam: int
    paper: bool  # color by all edges in the two frames, not only those ahead
    words: int  # of the mask of an edge
    mask: Array  # zeros
    row: Array  # phase n of packet p, counted from 0, is entry ``row[p] + n`` of `color` and `home`
    phases: Array  # zeros; becomes the phases of every packet
    color: Array  # zeros
    home: Array


class Room(NamedTuple):
    """Space for the packets of the widest cell."""

    live: Array  # the packets that are colored
    new: Array
    picked: Array  # the color of each, and the entries of `edge` that have it
    low: Array
    high: Array


@kernel
def first_free(mask: Array, words: int, edge: Array, low: int, high: int) -> int:
    """Return the lowest color that no edge ``edge[low:high]`` has, 0 if the masks have no color left."""
    for w in range(words):
        taken = 0
        for i in range(low, high):
            taken |= mask[int(edge[i]) * words + w]
            if taken == FULL:
                break
        if taken != FULL:
            k = w * BITS + 1
            while taken & 1:
                taken >>= 1
                k += 1
            return k
    return 0


@kernel
def mark(mask: Array, words: int, edge: Array, low: int, high: int, k: int) -> None:
    """Give the edges ``edge[low:high]`` color k."""
    w = (k - 1) // BITS
    bit = 1 << int((k - 1) % BITS)
    for i in range(low, high):
        mask[int(edge[i]) * words + w] |= bit


@kernel
def wipe(mask: Array, words: int, edge: Array, low: int, high: int, k: int) -> None:
    """Empty the word of color k on the edges ``edge[low:high]``."""
    w = (k - 1) // BITS
    for i in range(low, high):
        mask[int(edge[i]) * words + w] = 0


@kernel
def join(
    frame: int, n: int, upcoming: int, end: int, order: Array, rank: Array, source: Array, live: Array, new: Array
) -> tuple[int, int]:
    """Merge packets with sources up to a frame into the first `n` of `live`, by rank; return both counts."""
    m = 0
    i = 0
    while upcoming < end and source[order[upcoming]] <= frame:
        p = order[upcoming]
        while i < n and rank[live[i]] < rank[p]:
            new[m] = live[i]
            i += 1
            m += 1
        new[m] = p
        m += 1
        upcoming += 1
    while i < n:
        new[m] = live[i]
        i += 1
        m += 1
    for i in range(m):
        live[i] = new[i]
    return m, upcoming


@kernel
def color_frames(cells: Cells, coloring: Coloring, room: Room) -> int:
    """Find colors and homes of all packets in all phases.

    By the paper the vertices of a frame are the set's packets with an edge in it or in the next one, wherever they are,
    and all those edges count; otherwise only packets that are there, and the edges that are still ahead of them.

    Returns DONE, TOO_MANY (colors for the words of the masks) or TOO_HIGH (the color written down last has no target in
    the frame); unless DONE, the masks are no longer clear.
    """
    order, rank, frame, live, new, picked = cells.order, cells.rank, cells.frame, room.live, room.new, room.picked
    lam, paper, words, mask, edge = coloring.lam, coloring.paper, coloring.words, coloring.mask, coloring.edge
    start, level, row, phases, home = coloring.start, coloring.level, coloring.row, coloring.phases, coloring.home
    for c in range(len(cells.base)):
        upcoming = cells.first[c]
        end = cells.first[c + 1]
        n = 0
        j = 0
        while n > 0 or upcoming < end:
            j = j + 1 if n > 0 else frame[order[upcoming]]
            for ahead in range(2 if paper else 1):
                if upcoming < end and frame[order[upcoming]] <= j + ahead:
                    n, upcoming = join(j + ahead, n, upcoming, end, order, rank, frame, live, new)
            a = cells.base[c] + j * lam
            for i in range(n):
                p = live[i]
                to_edge = start[p] - level[p]
                low = level[p]
                if paper:
                    low = max(low, a)
                elif phases[p] > 0:
                    low = home[row[p] + phases[p]]
                low += to_edge
                high = min(start[p + 1], to_edge + a + FRAMES_AHEAD * lam - 1)
                k = first_free(mask, words, edge, low, high)
                if k == 0:
                    return TOO_MANY
                mark(mask, words, edge, low, high, k)
                room.low[i] = low
                room.high[i] = high
                picked[i] = k
            stay = 0
            for i in range(n):
                p = live[i]
                k = picked[i]
                wipe(mask, words, edge, room.low[i], room.high[i], k)
                at = row[p] + phases[p]
                goal = level[p] + start[p + 1] - start[p]
                stops = False
                # some vertices of the paper's graph have not entered yet, some have arrived
                if frame[p] + phases[p] == j and (phases[p] == 0 or home[at] >= 0):
                    coloring.color[at] = k
                    if phases[p] == 0:
                        home[at] = level[p]
                    phases[p] += 1
                    if goal >= a + lam:
                        if TARGET_SPACING * k > lam:
                            return TOO_HIGH
                        target = a + 2 * lam - TARGET_SPACING * k
                        stops = goal > target + 1
                        home[at + 1] = target if stops else -1
                if stops or (paper and (frame[p] > j or goal >= a + lam)):
                    live[stay] = p
                    stay += 1
            n = stay
    return DONE
