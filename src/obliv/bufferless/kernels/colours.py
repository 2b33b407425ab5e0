"""Kernels of the centralized plan: the lowest free colour of packets whose paths share edges.

A colour is a bit of the masks of edges, 62 colours a word; colours count from 1.
"""

from __future__ import annotations

from typing import Any

from obliv.kernels import kernel

__all__ = ["colour_frames", "first_free", "mark", "wipe"]

Array = Any

BITS = 62
FULL = (1 << BITS) - 1

DONE, TOO_MANY, TOO_HIGH = 0, 1, 2


@kernel
def first_free(mask: Array, words: int, edge: Array, low: int, high: int) -> int:
    """The lowest colour that no edge ``edge[low:high]`` has, 0 if the masks have none left."""
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
    """Give the edges ``edge[low:high]`` colour k."""
    w = (k - 1) // BITS
    bit = 1 << int((k - 1) % BITS)
    for i in range(low, high):
        mask[int(edge[i]) * words + w] |= bit


@kernel
def wipe(mask: Array, words: int, edge: Array, low: int, high: int, k: int) -> None:
    """Empty the word of colour k on the edges ``edge[low:high]``."""
    w = (k - 1) // BITS
    for i in range(low, high):
        mask[int(edge[i]) * words + w] = 0


@kernel
def colour_frames(
    cell: Array,
    base: Array,
    order: Array,
    rank: Array,
    level: Array,
    start: Array,
    edge: Array,
    frame: Array,
    lam: int,
    gap: int,
    reach: int,
    paper: int,
    words: int,
    mask: Array,
    row: Array,
    live: Array,
    new: Array,
    picked: Array,
    count: Array,
    colour: Array,
    home: Array,
    found: Array,
) -> int:
    """Colours and homes of all packets in all phases; row ``row[p] + n`` is packet p in its phase n.

    Cell c, one set in one group whose first level is ``base[c]``, has the packets ``order[cell[c]:cell[c + 1]]``,
    sorted by the frame of their source and then by ``rank``, the order of colouring.  ``count`` holds zeros and
    becomes the phases of packets; ``found`` becomes the largest colour of those that stop, and of all.

    With ``paper`` the vertices of a frame are the set's packets with an edge in it or in the next one, wherever they
    are, and all those edges count; else only packets that are there, and the edges that are still ahead of them.

    Returns DONE, TOO_MANY (colours for the words of the masks) or TOO_HIGH (the colour ``found[3]`` of packet
    ``found[2]``, which stops, for the frame); where not DONE, the masks are to be thrown away.
    """
    for c in range(len(base)):
        next_one = cell[c]
        end = cell[c + 1]
        n = 0
        j = 0
        while n > 0 or next_one < end:
            if n == 0:
                j = frame[order[next_one]]
            else:
                j += 1
            for ahead in range(paper + 1):  # those that come, in the order of colouring among those here already
                m = 0
                i = 0
                while next_one < end and frame[order[next_one]] <= j + ahead:
                    p = order[next_one]
                    while i < n and rank[live[i]] < rank[p]:
                        new[m] = live[i]
                        i += 1
                        m += 1
                    new[m] = p
                    m += 1
                    next_one += 1
                if m > 0:
                    while i < n:
                        new[m] = live[i]
                        i += 1
                        m += 1
                    for i in range(m):
                        live[i] = new[i]
                    n = m
            m = n
            a = base[c] + j * lam
            last = a + reach * lam - 1
            for i in range(m):
                p = live[i]
                to_edge = start[p] - level[p]
                low = level[p]
                if paper:
                    low = max(low, a)
                elif count[p] > 0:
                    low = home[row[p] + count[p]]
                high = min(start[p + 1] - to_edge, last)
                k = first_free(mask, words, edge, to_edge + low, to_edge + high)
                if k == 0:
                    return TOO_MANY
                mark(mask, words, edge, to_edge + low, to_edge + high, k)
                picked[i] = k
            n = 0
            for i in range(m):
                p = live[i]
                k = picked[i]
                to_edge = start[p] - level[p]
                goal = start[p + 1] - to_edge
                low = level[p]
                if paper:
                    low = max(low, a)
                elif count[p] > 0:
                    low = home[row[p] + count[p]]
                wipe(mask, words, edge, to_edge + low, to_edge + min(goal, last), k)
                # of the vertices of the paper some have not come yet, some have arrived
                there = frame[p] + count[p] == j and (count[p] == 0 or home[row[p] + count[p]] >= 0)
                stays = False
                if there:
                    at = row[p] + count[p]
                    colour[at] = k
                    if count[p] == 0:
                        home[at] = level[p]
                    count[p] += 1
                    found[1] = max(found[1], k)
                    if goal >= a + lam:
                        found[0] = max(found[0], k)
                        if gap * k > lam:
                            found[2] = p
                            found[3] = k
                            return TOO_HIGH
                        target = a + 2 * lam - gap * k
                        stays = goal > target + 1
                        home[at + 1] = target if stays else -1
                if stays or (paper and (frame[p] > j or goal >= a + lam)):
                    live[n] = p
                    n += 1
    return DONE
