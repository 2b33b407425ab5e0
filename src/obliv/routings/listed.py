"""A routing whose paths are all listed, in arrays."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import lcm
from pathlib import Path as FilePath
from typing import NamedTuple

import numpy as np

from obliv._util.arrays import INT64_SAFE, Array
from obliv._util.files import read_source
from obliv._util.progress import Progress
from obliv._util.rationals import share
from obliv._util.text import lines
from obliv.errors import FileError, RoutingError, TopologyError
from obliv.loads.base import PairLoads
from obliv.loads.mixed import TranslatedLoads, translation_group
from obliv.loads.stored import Numerators, from_entries
from obliv.routings.base import Routing
from obliv.routings.hops import HopRouting
from obliv.routings.paths import Path, checked_paths, terminal_numbers
from obliv.specs.registry import register_routing
from obliv.topologies.base import Topology

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


def _entries(topology: Topology, listed: PathList) -> Numerators:
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
    return Numerators(source, destination, channel, np.concatenate(numerators), listed.whole)


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


# Routings from a file: next hops or explicit paths, with probabilities.
#
# One entry a line, words between blanks, ``#`` starts a comment, names that hold blanks stand in double quotes::
#
#     hop NODE DESTINATION NEXT[=PROBABILITY] ...    next hops of a node towards a destination
#     path PROBABILITY NODE NODE ... NODE            one path, from its first node to its last
#
# A file holds lines of one kind.  NEXT is a node, or ``@12`` for channel 12 (needed where channels are parallel);
# next hops without probabilities are equally likely.


_WORD = re.compile(r'"([^"]*)"(\S*)|(\S+)')
_CHANNEL = re.compile(r"@([0-9]{1,18})")

Hop = tuple[int, Fraction]


class HopTable(HopRouting):
    """Next hops listed for (node, destination)."""

    def __init__(self, topology: Topology, hops: dict[tuple[int, int], list[Hop]], spec: str) -> None:
        super().__init__(topology, spec)
        self._hops = hops

    def next_hops(self, node: int, destination: int) -> list[Hop]:
        return self._hops.get((node, destination), [])


class PathTable(Routing):
    """Paths listed for (source, destination)."""

    def __init__(self, topology: Topology, paths: dict[tuple[int, int], list[Path]], spec: str) -> None:
        super().__init__(topology, spec)
        self._paths = paths

    def paths(self, source: int, destination: int) -> list[Path]:
        return self._paths.get((source, destination), [])


@register_routing("table", example="table:routes.txt")
def table(topology: Topology, path: FilePath) -> Routing:
    r"""Next hops or paths with probabilities, listed in a file.

    Parameters
    ----------
    topology : Topology
    path : Path
        The file; its format is described in the module and in the documentation of formats.

    Returns
    -------
    Routing
        Every pair of terminals is checked to be routed.

    Raises
    ------
    FileError
        With the offending line, or naming a pair without a route.

    Examples
    --------
    >>> import obliv
    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> with TemporaryDirectory() as folder:
    ...     routes = Path(folder, "routes.txt")
    ...     _ = routes.write_text("".join(f"hop {v} {d} {(v + 1) % 4}\n" for v in range(4) for d in range(4) if v != d))
    ...     obliv.worst_case(obliv.table(obliv.ring(4), routes)).channel_load
    Fraction(3, 1)
    """
    spec = f"table:{path}"
    hops: dict[tuple[int, int], list[Hop]] = {}
    paths: dict[tuple[int, int], list[Path]] = {}
    line_of: dict[tuple[int, int], int] = {}
    kind = ""
    text, digest = read_source(path)
    for number, words in _table_entries(text):
        word = words[0][0]
        if word not in ("hop", "path"):
            raise FileError(
                f"{word[:40]!r} is not the start of an entry: a line is  hop NODE DESTINATION NEXT ...  or  path ...",
                path,
                number,
            )
        if kind and word != kind:
            raise FileError(f"a {word!r} line in a file of {kind!r} lines: use one kind in a file", path, number)
        kind = word
        try:
            if kind == "hop":
                pair, entries = _hop(topology, words[1:])
                if pair in line_of:
                    raise RoutingError(
                        f"this node and destination stand in line {line_of[pair]} too; write one line for them"
                    )
                hops[pair] = entries
            else:
                pair, route = _path(topology, words[1:])
                paths.setdefault(pair, []).append(route)
            line_of.setdefault(pair, number)
        except (RoutingError, TopologyError) as error:
            raise FileError(str(error), path, number) from None
    if not kind:
        raise FileError("holds no routes: write lines like  hop NODE DESTINATION NEXT=1/2 NEXT=1/2", path)
    routing: Routing = HopTable(topology, hops, spec) if kind == "hop" else PathTable(topology, paths, spec)
    routing.sources = ((str(path), digest),)
    _require_all(routing, hops, paths, line_of, path)
    return routing


def _require_all(
    routing: Routing,
    hops: dict[tuple[int, int], list[Hop]],
    paths: dict[tuple[int, int], list[Path]],
    line_of: dict[tuple[int, int], int],
    path: FilePath,
) -> None:
    topology, name = routing.topology, routing.topology.name_of
    for pair, routes in paths.items():
        total = sum((chance for _, chance in routes), Fraction(0))
        if total != 1:
            here, there = name(pair[0]), name(pair[1])
            raise FileError(
                f"the paths from {here} to {there} add up to {total}, they must add up to 1", path, line_of[pair]
            )
    if isinstance(routing, HopTable):
        for node, destination in hops:
            try:
                routing.chances(node, destination)
            except RoutingError as error:
                message = str(error).removeprefix(routing.spec + ": ")
                raise FileError(message, path, line_of[node, destination]) from None
    known = hops or paths
    for s in topology.terminals.tolist():
        for d in topology.terminals.tolist():
            if s != d and (s, d) not in known:
                raise FileError(f"has no route from {name(s)} to {name(d)}", path)


def _table_entries(text: str) -> Iterator[tuple[int, list[tuple[str, str]]]]:
    """Yield the lines with words and their numbers; a word is a name and what follows its closing quote."""
    for number, line in enumerate(lines(text), 1):
        words = []
        for match in _WORD.finditer(line):
            if match[3] is not None and match[3].startswith("#"):
                break
            words.append((match[1], match[2]) if match[3] is None else (match[3], ""))
        if words:
            yield number, words


def _hop(topology: Topology, words: list[tuple[str, str]]) -> tuple[tuple[int, int], list[Hop]]:
    if len(words) < 3:
        raise RoutingError("the line is cut short: write  hop NODE DESTINATION NEXT[=PROBABILITY] ...")
    node, destination = topology.node(words[0][0]), topology.node(words[1][0])
    shares_of: dict[int, Fraction] = {}
    shares = []
    for name, suffix in words[2:]:
        weighted = bool(suffix) or ("=" in name and name not in topology.labels)
        share = suffix.removeprefix("=")
        if weighted and not suffix:
            name, _, share = name.rpartition("=")
        shares.append(weighted)
        chance = _probability(share) if weighted else Fraction(1, len(words) - 2)
        channels = _channels(topology, node, name)
        for c in channels:
            shares_of[c] = shares_of.get(c, Fraction(0)) + chance / len(channels)
    if any(shares) and not all(shares):
        raise RoutingError("some next hops have a probability and some do not")
    total = sum(shares_of.values())
    if total != 1:
        raise RoutingError(f"the probabilities add up to {total}, they must add up to 1")
    return (node, destination), list(shares_of.items())


def _path(topology: Topology, words: list[tuple[str, str]]) -> tuple[tuple[int, int], Path]:
    if len(words) < 2:
        raise RoutingError("the line is cut short: write  path PROBABILITY NODE NODE ... NODE")
    chance = _probability(words[0][0])
    source = at = topology.node(words[1][0])
    channels = []
    for name, _ in words[2:]:
        candidates = _channels(topology, at, name)
        if len(candidates) > 1:
            raise RoutingError(
                f"{len(candidates)} channels lead to {name}: use one of {' '.join(f'@{c}' for c in candidates)}"
            )
        channels.append(candidates[0])
        at = int(topology.head[candidates[0]])
    route = tuple(channels)
    return (source, at), (route, chance)


def _channels(topology: Topology, node: int, name: str) -> list[int]:
    """Return the channels from a node that a word names."""
    if number := _CHANNEL.fullmatch(name):
        channel = int(number[1])
        first, end = topology.first_channel[node : node + 2].tolist()
        if not first <= channel < end:
            raise RoutingError(
                f"channel {channel} does not leave {topology.name_of(node)}; its channels are {first} to {end - 1}"
            )
        return [channel]
    head = topology.node(name)
    channels = topology.channels_between(node, head)
    if not channels:
        raise RoutingError(f"no channel leads from {topology.name_of(node)} to {topology.name_of(head)}")
    return channels


def _probability(word: str) -> Fraction:
    chance = share(word)
    if chance is None:
        raise RoutingError(f"{word[:40]!r} is not a probability: write a number from 0 to 1, like 0.5 or 1/2")
    return chance
