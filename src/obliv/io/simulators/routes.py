"""The paths of any routing, written as a table that ``table:PATH`` reads, or as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import chain, product
from pathlib import Path

from obliv._util.files import write_pieces
from obliv._util.progress import Progress, rising
from obliv._util.text import shown
from obliv.errors import FileError, RoutingError, TrafficError
from obliv.routings.base import Routing
from obliv.routings.descriptions import NextHops
from obliv.routings.paths import Path as Route
from obliv.routings.paths import checked_paths, merged, require_all
from obliv.topologies.base import Topology, find

_COLUMNS = ("source", "destination", "probability", "probability_exact", "hops", "nodes", "channels")


def write_path_table(routing: Routing, path: str | Path, *, progress: Progress | None = None) -> None:
    r"""Write the paths or next hops of a routing with their probabilities, as ``table:PATH`` reads them.

    Next hops are written where they depend on the node and the destination only: those of a routing by next hops, and
    those of one path a pair where these paths agree.

    Examples
    --------
    >>> import obliv, tempfile
    >>> path = Path(tempfile.mkdtemp(), "routes.txt")
    >>> write_path_table(obliv.DOR(obliv.ring(3)), path)
    >>> print(path.read_text())
    # dor on ring:3
    hop 1 0 0
    hop 2 0 0
    hop 0 1 1
    hop 2 1 1
    hop 0 2 2
    hop 1 2 2
    <BLANKLINE>
    """
    topology = routing.topology
    names, rise = _names(topology, path), rising(progress)
    given = find(routing, NextHops)
    hops = None if given is not None else _single_hops(routing, rise)
    if given is not None and routing.partial:
        raise RoutingError(f"{routing.spec} leaves pairs out, so its next hops are not a table for all pairs")

    def lines() -> Iterator[str]:
        yield f"# {routing.spec} on {topology.spec}".replace("\n", " ") + "\n"
        if given is not None:
            yield from _hops(given, names, rise)
            return
        for destination, channel_of in (hops or {}).items():
            for node, step in zip(channel_of, _steps(topology, tuple(channel_of.values()), names), strict=True):
                yield f"hop {names[node]} {names[destination]} {step}\n"
        for source, _, (channels, chance) in _paths(routing, rise) if hops is None else ():
            yield " ".join(("path", str(chance), names[source], *_steps(topology, channels, names))) + "\n"

    write_pieces(path, (line.encode("utf-8") for line in lines()))


def write_csv_paths(routing: Routing, path: str | Path, *, progress: Progress | None = None) -> None:
    """Write the paths of a routing as CSV: a row for every path.

    Columns are source and destination by name, the probability as a float and as an exact fraction, the hops, and the
    numbers of nodes and channels, separated by blanks.

    Examples
    --------
    >>> import obliv, tempfile
    >>> path = Path(tempfile.mkdtemp(), "routes.csv")
    >>> write_csv_paths(obliv.DOR(obliv.ring(3)), path)
    >>> print(path.read_text().splitlines()[1])
    0,1,1.0,1,1,0 1,0
    """
    topology = routing.topology

    def rows() -> Iterator[tuple[object, ...]]:
        yield _COLUMNS
        for source, destination, (channels, chance) in _paths(routing, rising(progress)):
            nodes = [source, *(int(topology.head[c]) for c in channels)]
            ends = topology.name_of(source), topology.name_of(destination)
            yield (
                *ends,
                float(chance),
                chance,
                len(channels),
                *(" ".join(map(str, part)) for part in (nodes, channels)),
            )

    write_pieces(path, (_row(row).encode("utf-8") for row in rows()))


def ways_of(routing: Routing, source: int, destination: int) -> list[Route]:
    """Return the paths of a pair with their probabilities, which must add up to 1; impossible ones are left out."""
    ways = [way for way in merged(checked_paths(routing, source, destination)) if way[1]]
    require_all(routing, source, destination, sum((chance for _, chance in ways), Fraction(0)))
    return ways


def require_rate(rate: float) -> None:
    """Refuse a rate of injection that is not above 0, up to 1."""
    if not 0 < rate <= 1:
        raise TrafficError(f"an injection rate of {rate:g}: choose a number above 0, up to 1")


def _row(cells: tuple[object, ...]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()


def _hops(routing: NextHops, names: list[str], progress: Progress) -> Iterator[str]:
    """Yield a line for every node that packets to each destination visit, with its next hops."""
    topology = routing.topology
    terminals = topology.terminals.tolist()
    for k, destination in enumerate(terminals):
        waiting = [node for node in terminals if node != destination]
        visited = {destination, *waiting}
        while waiting:
            node = waiting.pop(0)
            chances = routing.chances(node, destination)
            steps = [*_steps(topology, tuple(channel for channel, _ in chances), names)]
            shares = (f"{step}={chance}" for step, (_, chance) in zip(steps, chances, strict=True))
            yield " ".join(("hop", names[node], names[destination], *shares)) + "\n"
            for channel, _ in chances:
                head = int(topology.head[channel])
                if head not in visited:
                    visited.add(head)
                    waiting.append(head)
        progress("next hops", k / len(terminals))


def _single_hops(routing: Routing, progress: Progress) -> dict[int, dict[int, int]] | None:
    """Return the channel by destination and node; None where they are not the whole routing."""
    _require_whole(routing)
    terminals = routing.topology.terminals.tolist()
    hops = {}
    for k, destination in enumerate(terminals):
        routes = []
        for source in terminals:
            ways = ways_of(routing, source, destination)
            if len(ways) > 1 or (source == destination and any(channels for channels, _ in ways)):
                return None
            routes += [channels for channels, _ in ways]
        channel_of = hops_along(routing.topology, destination, routes)
        if channel_of is None:
            return None
        hops[destination] = dict(sorted(channel_of.items()))
        progress("paths", k / len(terminals))
    return hops


def hops_along(topology: Topology, destination: int, routes: Iterable[tuple[int, ...]]) -> dict[int, int] | None:
    """Return the next channel by node on paths to a destination; None where two differ, or one goes on behind it."""
    hops: dict[int, int] = {}
    for channel in chain.from_iterable(routes):
        node = int(topology.tail[channel])
        if node == destination or hops.setdefault(node, channel) != channel:
            return None
    return hops


def _require_whole(routing: Routing) -> None:
    if routing.partial:
        raise RoutingError(f"{routing.spec} leaves pairs out, so its paths are not a table for all pairs")


def _paths(routing: Routing, progress: Progress) -> Iterator[tuple[int, int, Route]]:
    """Yield source, destination and every path of all pairs of terminals; self-pairs only where packets go out."""
    terminals = routing.topology.terminals.tolist()
    _require_whole(routing)
    for k, (source, destination) in enumerate(product(terminals, repeat=2)):
        routes = ways_of(routing, source, destination)
        sends = source != destination or any(channels for channels, _ in routes)
        yield from ((source, destination, route) for route in routes if sends)
        if not k % len(terminals):
            progress("paths", k / len(terminals) ** 2)


def _names(topology: Topology, path: str | Path) -> list[str]:
    """Return the names of all nodes in a table: their labels where these are words that differ, else their numbers."""
    labels = topology.labels
    if labels and len(set(labels)) == len(labels) and all(map(_is_word, labels)):
        return list(labels)
    numbers = [str(node) for node in range(topology.nodes)]
    if clash := next((name for name in numbers if name in labels), None):
        raise FileError(f"nodes have the label {shown(clash)} and names that are not single words: write CSV", path)
    return numbers


def _is_word(name: str) -> bool:
    return bool(name) and not any(c.isspace() or c in '"#=@' for c in name)


def _steps(topology: Topology, channels: tuple[int, ...], names: list[str]) -> Iterator[str]:
    """Yield the word for every channel: the node behind it, or its number where several lead there."""
    for channel in channels:
        tail, head = int(topology.tail[channel]), int(topology.head[channel])
        alone = len(topology.channels_between(tail, head)) == 1
        yield names[head] if alone else f"@{channel}"
