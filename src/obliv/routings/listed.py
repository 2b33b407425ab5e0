"""A routing whose paths are all listed, in arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import lcm
from typing import NamedTuple

import numpy as np

from obliv._util.arrays import INT64_SAFE
from obliv._util.progress import Progress
from obliv._util.typing import Array
from obliv.errors import RoutingError
from obliv.loads.base import PairLoads
from obliv.loads.paths import Entries, from_entries
from obliv.loads.translated import TranslatedLoads, translation_group
from obliv.routings.base import Path, Routing
from obliv.routings.checks import checked_paths, terminal_numbers
from obliv.topologies.base import Topology

__all__ = ["Listed", "PathList", "list_paths"]

_SCRATCH = 2**21  # sums of amounts that are held at a time


class PathList(NamedTuple):
    """Paths of pairs of terminals, sorted by source and destination.

    Attributes
    ----------
    pair : int64 array, shape (sources × terminals + 1,)
        The paths of pair k = source × terminals + destination are ``pair[k] .. pair[k + 1] − 1``.
    start : int64 array, shape (paths + 1,)
        Path p takes the channels ``start[p] .. start[p + 1] − 1`` of `channel`.
    channel : int64 array
    amount : int64 array, shape (paths,)
        Probabilities, in units of one over `whole`.
    whole : int
    """

    pair: Array
    start: Array
    channel: Array
    amount: Array
    whole: int

    @classmethod
    def of(cls, paths: Array, hops: Array, channel: Array, amount: Array, whole: int) -> PathList:
        """Return the list by the number of paths of every pair and the number of hops of every path."""
        pair, start = (np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]) for counts in (paths, hops))
        return cls(pair, start, channel, amount, whole)


def list_paths(routing: Routing, each: Callable[[], None] = lambda: None) -> PathList:
    """Return the paths of all pairs of terminals of a routing; none from a terminal to itself.

    Parameters
    ----------
    routing : Routing
    each : callable
        Called before the paths of each source, to end the work by an error.

    Examples
    --------
    >>> import obliv
    >>> list_paths(obliv.routing("dor", obliv.ring(4))).whole
    2
    """
    terminals = routing.topology.terminals.tolist()
    pairs = []
    for s in terminals:
        each()
        pairs += [list(checked_paths(routing, s, d)) if s != d else [] for d in terminals]
    whole = lcm(*{share.denominator for paths in pairs for _, share in paths})
    return PathList.of(
        np.array([len(paths) for paths in pairs], np.int64),
        np.array([len(channels) for paths in pairs for channels, _ in paths], np.int64),
        np.array([channel for paths in pairs for channels, _ in paths for channel in channels], np.int64),
        np.array([int(share * whole) for paths in pairs for _, share in paths], np.int64),
        whole,
    )


class Listed(Routing):
    """A routing by a list of paths: of all pairs, or of those from terminal 0, translated to the others.

    Parameters
    ----------
    topology : Topology
    spec : str
    listed : PathList
        With the pairs of one source only, the network must have translations.

    Raises
    ------
    RoutingError
        If the list does not fit the network: a path that does not lead from its source to its destination, or
        probabilities that do not add up to one.

    Examples
    --------
    >>> import numpy as np, obliv
    >>> from obliv.routings.listed import Listed, PathList
    >>> ring = obliv.build("one-way-ring", 2, [(0, 1), (1, 0)])
    >>> paths = PathList(np.array([0, 0, 1, 2, 2]), np.array([0, 1, 2]), np.array([0, 1]), np.array([1, 1]), 1)
    >>> Listed(ring, "listed", paths).paths(0, 1)
    [((0,), Fraction(1, 1))]
    """

    _by_offset = True

    def __init__(self, topology: Topology, spec: str, listed: PathList) -> None:
        super().__init__(topology, spec)
        self.listed = listed
        self.relative = len(listed.pair) == len(topology.terminals) + 1 != len(topology.terminals) ** 2 + 1
        self._group = translation_group(topology) if self.relative else None
        _require_form(topology, spec, listed, self._group is not None)
        if self._group is not None:
            ends = self._ends(topology.tail.astype(np.int64), topology.head.astype(np.int64))
            self._order = np.lexsort((np.arange(len(ends)), ends))
            self._sorted = ends[self._order]
            self._rank = np.empty(len(ends), np.int64)  # among parallel channels
            self._rank[self._order] = np.arange(len(ends)) - np.searchsorted(self._sorted, self._sorted)

    def _ends(self, tail: Array, head: Array) -> Array:
        return tail * self.topology.nodes + head

    def _moved(self, channels: Array, source: int) -> Array:
        """Return what channels become when node 0 is translated to a source; of parallel ones the k-th is the k-th."""
        topology, group = self.topology, self._group
        if group is None or not source:
            return channels
        tail, head = (group.add(side[channels], source) for side in (topology.tail, topology.head))
        moved: Array = self._order[np.searchsorted(self._sorted, self._ends(tail, head)) + self._rank[channels]]
        return moved

    def paths(self, source: int, destination: int) -> list[Path]:
        first, second = terminal_numbers(self, source, destination)
        pair = first * len(self.topology.terminals) + second
        if self._group is not None:
            pair = int(self._group.subtract(destination, source))
        return [
            (tuple(self._moved(channels, source).tolist()), Fraction(amount, self.listed.whole))
            for channels, amount in self._of_pair(pair)
        ]

    def _of_pair(self, pair: int) -> Iterator[tuple[Array, int]]:
        listed = self.listed
        for path in range(int(listed.pair[pair]), int(listed.pair[pair + 1])):
            yield listed.channel[listed.start[path] : listed.start[path + 1]], int(listed.amount[path])

    def _loads(self, progress: Progress) -> PairLoads:
        progress("pair loads", 0.0)
        base = from_entries(self.topology, _entries(self.topology, self.listed))
        return base if self._group is None else TranslatedLoads(base, self._group)


def _entries(topology: Topology, listed: PathList) -> Entries:
    """Return how much of each pair crosses each channel; some pairs at a time, as paths have many hops in all."""
    pairs, channels = len(listed.pair) - 1, topology.channels
    group = min(max(1, _SCRATCH // max(1, channels)), max(1, pairs))
    places, numerators = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for first in range(0, pairs, group):
        of_pair = listed.pair[first : first + group + 1]
        some = slice(int(of_pair[0]), int(of_pair[-1]))
        hops = np.diff(listed.start[some.start : some.stop + 1])
        pair = np.repeat(np.arange(len(of_pair) - 1), np.diff(of_pair))
        channel = listed.channel[listed.start[some.start] : listed.start[some.stop]]
        sums = np.zeros(group * channels, np.int64)
        np.add.at(sums, np.repeat(pair, hops) * channels + channel, np.repeat(listed.amount[some], hops))
        used = np.flatnonzero(sums)
        places.append(used + first * channels)
        numerators.append(sums[used])
    pair, channel = np.divmod(np.concatenate(places), max(1, channels))
    source, destination = np.divmod(pair, len(topology.terminals))
    return Entries(source, destination, channel, np.concatenate(numerators), listed.whole)


def _require_form(topology: Topology, spec: str, listed: PathList, translated: bool) -> None:
    """Check that paths lead from their sources to their destinations and that probabilities add up to one."""
    problem = next(_problems(topology, listed, translated), "")
    if problem:
        raise RoutingError(f"{spec}: {problem}")


def _problems(topology: Topology, listed: PathList, translated: bool) -> Iterator[str]:
    terminals = topology.terminals.astype(np.int64)
    sources = 1 if translated else len(terminals)
    if not 0 < listed.whole < INT64_SAFE // max(1, len(terminals)):
        yield f"probabilities in units of 1/{listed.whole}"
        return
    bounds = (
        (listed.pair, sources * len(terminals), len(listed.amount)),
        (listed.start, len(listed.amount), len(listed.channel)),
    )
    for first, count, last in bounds:
        if len(first) != count + 1 or first[0] != 0 or first[-1] != last or (np.diff(first) < 0).any():
            yield f"the list of paths does not fit {count} entries"
            return
    if len(listed.channel) and not (listed.channel.min() >= 0 and listed.channel.max() < topology.channels):
        yield f"a path takes a channel that does not exist; channels are 0 to {topology.channels - 1}"
        return
    if len(listed.amount) and not (listed.amount.min() > 0 and listed.amount.max() <= listed.whole):
        yield "a probability is not between 0 and 1"
        return
    pair = np.repeat(np.arange(sources * len(terminals)), np.diff(listed.pair))
    source, destination = terminals[pair // len(terminals)], terminals[pair % len(terminals)]
    hops = np.diff(listed.start)
    if (hops == 0).any():
        yield "a path takes no channel"
        return
    tail, head = topology.tail[listed.channel], topology.head[listed.channel]
    inner = np.ones(len(listed.channel), bool)
    inner[listed.start[:-1]] = False
    ends = np.concatenate([tail[listed.start[:-1]] != source, head[listed.start[1:] - 1] != destination])
    if ends.any() or (tail[1:] != head[:-1])[inner[1:]].any():
        yield "a path does not lead from its source to its destination"
    sums = np.zeros(sources * len(terminals), np.int64)
    np.add.at(sums, pair, listed.amount)
    apart = np.arange(len(sums)) // len(terminals) != np.arange(len(sums)) % len(terminals)
    if (sums[apart] != listed.whole).any() or sums[~apart].any():
        yield "the probabilities of the paths of a pair do not add up to 1"
