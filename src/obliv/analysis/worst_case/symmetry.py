"""Symmetries of a routing: verified on its loads, then used to leave most channels out."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from obliv._util.cost import announce, require_memory
from obliv._util.progress import Progress
from obliv._util.typing import Array
from obliv.errors import InputError
from obliv.loads.base import PairLoads
from obliv.topologies.base import Topology
from obliv.topologies.maps import channel_map

__all__ = ["Orbits", "orbits", "verified"]


@dataclass(frozen=True, eq=False)
class Orbits:
    """Channels sorted into classes that symmetries carry onto each other.

    ``focus[c]`` is the channel that stands for c; following ``word(c)``, generator by generator, leads from it to c.
    """

    generators: tuple[Array, ...]
    focus: Array
    parent: Array
    step: Array

    def word(self, channel: int) -> list[int]:
        """Numbers of the generators that carry the focus channel onto this one, first to last."""
        word = []
        while self.parent[channel] >= 0:
            word.append(int(self.step[channel]))
            channel = int(self.parent[channel])
        return word[::-1]


def verified(loads: PairLoads, symmetry: str, progress: Progress) -> list[Array]:
    """Return the symmetries of a routing, each checked on its pair loads: `auto`, `search` or `off`.

    An automorphism of the topology need not be one of the routing: dimension order on the 5-ary 3-cube is the
    standing example (load 10, not 2).
    """
    if symmetry not in ("auto", "search", "off"):
        raise InputError(f"symmetry {symmetry!r}: choose auto, search or off")
    count, maps = loads.topology.channels, loads.topology.generators
    for channel in sorted({0, count // 2})[
        :count
    ]:  # what cannot be solved is refused before its symmetries are checked
        require_memory(loads.work(np.array([channel])).memory, f"a channel of {loads.topology.spec}")
    if symmetry == "off":
        return []
    announce(progress, f"checking symmetries of {loads.topology.spec}", loads.work(np.arange(0), len(maps)))
    progress("symmetry", 0.0)
    if symmetry == "auto":
        return loads.symmetries()
    from obliv.analysis.worst_case.automorphisms import automorphisms

    return [g for g in automorphisms(loads) if loads.keeps(g)]


def orbits(topology: Topology, maps: list[Array]) -> Orbits:
    """Sort the channels into classes that the maps, and their powers 2, 4, 8 …, carry onto each other."""
    generators: list[Array] = []
    for g in maps:
        power = np.asarray(g)
        identity = np.arange(topology.nodes)
        for _ in range(topology.nodes.bit_length()):
            if np.array_equal(power, identity) or any(np.array_equal(power, known) for known in generators):
                break
            generators.append(power)
            power = power[power]
    moves = [channel_map(topology, g) for g in generators]
    images = [move.tolist() for move in moves if move is not None]
    count = topology.channels
    focus = np.full(count, -1, np.int64)
    parent, step = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
    for first in range(count):
        if focus[first] >= 0:
            continue
        focus[first] = first
        waiting = deque([first])
        while waiting:
            c = waiting.popleft()
            for k, image in enumerate(images):
                d = image[c]
                if focus[d] < 0:
                    focus[d] = first
                    parent[d], step[d] = c, k
                    waiting.append(d)
    return Orbits(tuple(generators), focus, parent, step)
