"""The paper's dependency graphs, by their definition: packets that share an edge of two frames, if in one set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from obliv._util.typing import Array
from obliv.bufferless.frames import assign
from obliv.topologies.leveled.instances import Instance

__all__ = ["Conflicts", "conflicts"]


@dataclass(frozen=True, eq=False)
class Conflicts:
    """Pairs of packets whose paths share an edge in frames F_j and F_{j+1}, every pair once for each such j.

    ``node`` numbers a packet and its j; column i of ``node`` and ``packet`` is a pair.
    """

    packet: Array
    node: Array

    @property
    def met(self) -> Array:
        """Number of other packets that each packet with its j can meet, in any sets."""
        return np.bincount(self.node.reshape(-1))

    def degrees(self, sets: Array) -> Array:
        """Return for every partition, a row of sets from 1, the largest degree d of all graphs."""
        first, second = self.packet
        most = np.zeros(len(sets), np.int64)
        for at, row in enumerate(sets):
            same = row[first] == row[second]
            if same.any():
                most[at] = np.bincount(self.node[:, same].reshape(-1)).max()
        return most


def conflicts(instance: Instance, lam: int, gamma: int) -> Conflicts:
    """Return all pairs that can conflict; packets of different groups or sessions cannot."""
    edge = instance.edge
    packet = np.repeat(np.arange(instance.packets), instance.length)
    level = np.asarray(instance.network.edge_level(edge), np.int64)
    order = np.argsort(edge, kind="stable")
    first, second = _pairs(edge[order])
    first, second = order[first], order[second]
    places = assign(instance.level, instance.length, lam, gamma)
    group = places.first * 2 + places.session
    met = group[packet[first]] == group[packet[second]]
    first, second = first[met], second[met]
    frame = level[first] // lam
    # an edge out of frame f lies in F_f and F_{f+1} only, the others also in F_{f-1} and F_f
    lower = (level[first] % lam != lam - 1) & (frame > 0)
    j = np.concatenate([frame, frame[lower] - 1])
    pair = np.stack([np.concatenate([packet[row], packet[row[lower]]]) for row in (first, second)])
    rows = np.unique(np.stack([j, *pair], axis=1), axis=0) if len(j) else np.zeros((0, 3), np.int64)
    pair = rows[:, 1:].T
    return Conflicts(pair, rows[:, 0] * instance.packets + pair)


def _pairs(ordered: Array) -> tuple[Array, Array]:
    """Return the positions of all pairs of equal numbers in a sorted list."""
    parts = []
    step = 1
    while True:
        same = np.flatnonzero(ordered[step:] == ordered[:-step])
        if not len(same):
            break
        parts.append(np.stack([same, same + step]))
        step += 1
    pairs = np.concatenate(parts, axis=1) if parts else np.zeros((2, 0), np.int64)
    return pairs[0], pairs[1]
