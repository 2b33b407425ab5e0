"""Symmetries of a routing: verified on its loads, then used to leave most channels out."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from obliv._util.arrays import least_alike
from obliv._util.cost import Work, announce, require_memory
from obliv._util.progress import Progress
from obliv._util.typing import Array
from obliv.errors import InputError
from obliv.loads.base import PairLoads
from obliv.topologies.base import Topology
from obliv.topologies.maps import channel_map

__all__ = ["Orbits", "orbits", "verified"]

_CELLS = 2**22  # images that are held at a time
_SECONDS, _BYTES = 5e-7, 100.0  # of the maps of a channel, each


@dataclass(frozen=True, eq=False)
class Orbits:
    """Channels sorted into classes that symmetries carry onto each other.

    ``focus[c]`` is the channel that stands for c; following ``word(c)``, generator by generator, leads from it to c.

    Parameters
    ----------
    topology : Topology
    maps : list of int arrays
        The symmetries, as maps of nodes.
    focus : int array
    """

    topology: Topology
    maps: list[Array]
    focus: Array

    @cached_property
    def generators(self) -> tuple[Array, ...]:
        """The maps with their powers 2, 4, 8 …, so that words stay short."""
        generators: list[Array] = []
        identity = np.arange(self.topology.nodes)
        for g in self.maps:
            power = np.asarray(g)
            for _ in range(self.topology.nodes.bit_length()):
                if np.array_equal(power, identity) or any(np.array_equal(power, known) for known in generators):
                    break
                generators.append(power)
                power = power[power]
        return tuple(generators)

    def word(self, channel: int) -> list[int]:
        """Numbers of the generators that carry the focus channel onto this one, first to last."""
        parent, step = self._tree
        word = []
        while parent[channel] >= 0:
            word.append(int(step[channel]))
            channel = int(parent[channel])
        return word[::-1]

    @cached_property
    def _tree(self) -> tuple[Array, Array]:
        """The channel, and the generator, from which a breadth-first search from all focus channels reaches each."""
        images = _images(self.topology, self.generators)
        parent, step = np.full(len(self.focus), -1, np.int64), np.full(len(self.focus), -1, np.int64)
        seen = self.focus == np.arange(len(self.focus))
        waiting = deque([np.flatnonzero(seen)] if images else [])
        size = max(1, _CELLS // max(1, len(images)))
        while waiting:
            here = waiting.popleft()
            for part in (here[at : at + size] for at in range(0, len(here), size)):
                there = np.stack([image[part] for image in images], axis=1).ravel()
                new = np.flatnonzero(~seen[there])
                there, first = np.unique(there[new], return_index=True)
                order = np.argsort(first)
                reached, place = there[order], new[first[order]]
                seen[reached] = True
                parent[reached], step[reached] = part[place // len(images)], place % len(images)
                if len(reached):
                    waiting.append(reached)
        return parent, step


def verified(loads: PairLoads, symmetry: str, progress: Progress) -> list[Array]:
    """Return the symmetries of a routing, each checked on its pair loads: `auto`, `search` or `off`.

    An automorphism of the topology need not be one of the routing: dimension order on the 5-ary 3-cube is the
    standing example (load 10, not 2).
    """
    if symmetry not in ("auto", "search", "off"):
        raise InputError.naming("{symmetry}={0!r}: choose auto, search or off", symmetry)
    count, maps = loads.topology.channels, loads.topology.generators
    for channel in sorted({0, count // 2})[
        :count
    ]:  # what cannot be solved is refused before its symmetries are checked
        require_memory(loads.work(np.array([channel])).memory, f"a channel of {loads.topology.spec}")
    if symmetry == "off":
        return []
    checks = loads.work(np.arange(0), len(maps))
    maps_of_channels = _SECONDS * count * len(maps)
    work = Work(checks.seconds + maps_of_channels, checks.memory + _BYTES * count)
    announce(progress, f"checking symmetries of {loads.topology.spec}", work)
    progress("symmetry", 0.0)
    if symmetry == "auto":
        return loads.symmetries()
    from obliv.analysis.worst_case.automorphisms import automorphisms

    return [g for g in automorphisms(loads) if loads.keeps(g)]


def orbits(topology: Topology, maps: list[Array]) -> Orbits:
    """Sort the channels into classes that the maps carry onto each other; the first channel stands for each class."""
    return Orbits(topology, maps, least_alike(topology.channels, _images(topology, maps)))


def _images(topology: Topology, maps: Iterable[Array]) -> list[Array]:
    """Return the maps of nodes that are automorphisms as maps of channels."""
    moves = (channel_map(topology, np.asarray(g)) for g in maps)
    return [move for move in moves if move is not None]
