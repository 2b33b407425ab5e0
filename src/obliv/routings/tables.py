"""Routings from a file: next hops or explicit paths, with probabilities.

One entry a line, words between blanks, ``#`` starts a comment, names that hold blanks stand in double quotes::

    hop NODE DESTINATION NEXT[=PROBABILITY] ...    next hops of a node towards a destination
    path PROBABILITY NODE NODE ... NODE            one path, from its first node to its last

A file holds lines of one kind.  NEXT is a node, or ``@12`` for channel 12 (needed where channels are parallel);
next hops without probabilities are equally likely.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path as FilePath

from obliv._util.files import read_source
from obliv._util.rationals import share
from obliv._util.text import lines
from obliv.errors import FileError, RoutingError, TopologyError
from obliv.routings.base import Path, Routing
from obliv.routings.hops import HopRouting
from obliv.specs.registry import register_routing
from obliv.topologies.base import Topology

__all__ = ["HopTable", "PathTable", "table"]

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
    for number, words in _entries(text):
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
    if routing.by_hops is not None:
        for node, destination in hops:
            try:
                routing.by_hops.chances(node, destination)
            except RoutingError as error:
                message = str(error).removeprefix(routing.spec + ": ")
                raise FileError(message, path, line_of[node, destination]) from None
    known = hops or paths
    for s in topology.terminals.tolist():
        for d in topology.terminals.tolist():
            if s != d and (s, d) not in known:
                raise FileError(f"has no route from {name(s)} to {name(d)}", path)


def _entries(text: str) -> Iterator[tuple[int, list[tuple[str, str]]]]:
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
