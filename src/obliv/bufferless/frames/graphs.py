"""The largest degree of the paper's dependency graphs."""

from __future__ import annotations

import numpy as np

from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.bufferless.frames.constants import Places
from obliv.topologies.leveled.instances import Instance

__all__ = ["largest_degree"]


def largest_degree(instance: Instance, places: Places, sets: Array, lam: int) -> int:
    """Return d: with how many packets of its set, group and session a packet shares an edge of two frames, at most.

    Examples
    --------
    >>> from obliv.bufferless.frames.constants import assign
    >>> from obliv.bufferless.problems import instance
    >>> array = instance("array:20", [range(9), range(3, 6), range(5, 8), range(17, 19)])
    >>> largest_degree(array, assign(array.level, array.length, 12, 2), np.ones(4, np.int64), 12)
    2
    """
    packet = np.repeat(np.arange(instance.packets), instance.length)
    level = np.asarray(instance.network.edge_level(instance.edge), np.int64)
    groups = int(places.first.max(initial=0)) + 1
    together = ((places.session - 1) * (np.int64(sets.max(initial=1)) + 1) + sets) * groups + places.first
    order = np.lexsort((instance.edge, together[packet]))
    new = np.ones(len(order), bool)
    new[1:] = (np.diff(instance.edge[order]) != 0) | (np.diff(together[packet[order]]) != 0)
    size = np.diff(np.flatnonzero(np.append(new, True))) if len(order) else np.zeros(0, np.int64)
    require_memory(100.0 * float((size.astype(float) * (size - 1) / 2).sum()), "all pairs of packets over one edge")
    first = np.flatnonzero(new)
    end = np.repeat(first + size, size)
    others = end - np.arange(len(order)) - 1  # further packets over the same edge, in the same set
    one = np.repeat(np.arange(len(order)), others)
    two = one + 1 + np.arange(len(one)) - np.repeat(np.cumsum(others) - others, others)
    if not len(one):
        return 0
    frame = level[order[one]] // lam
    # an edge from the last level of F_j is in F_j and F_{j+1} only, the others also in F_{j-1} and F_j
    lower = (level[order[one]] % lam != lam - 1) & (frame > 0)
    j = np.concatenate([frame, frame[lower] - 1])
    pair = np.stack([np.concatenate([packet[order[at]], packet[order[at[lower]]]]) for at in (one, two)])
    count = np.int64(instance.packets)
    place, two = np.divmod(np.unique((j * count + np.minimum(*pair)) * count + np.maximum(*pair)), count)
    return int(np.bincount(np.concatenate([place, place // count * count + two])).max())
