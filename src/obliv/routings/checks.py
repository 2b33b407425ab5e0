"""Checks of the paths and next hops of a routing, and of their probabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.rationals import share
from obliv.errors import RoutingError, TopologyError
from obliv.topologies.base import Topology

if TYPE_CHECKING:
    from obliv.routings.base import Path, Routing

__all__ = [
    "channels_of",
    "checked_channels",
    "checked_paths",
    "is_channel",
    "listed",
    "merged",
    "require_all",
    "terminal_numbers",
]

_LISTS = "a path lists channels (topology.channel(u, v)), or nodes by name"


def terminal_numbers(routing: Routing, *nodes: int) -> list[int]:
    """Return the numbers of terminals by their nodes; RoutingError for other nodes."""
    number_of = routing.topology.number_of
    for node in nodes:
        if not 0 <= node < len(number_of) or number_of[node] < 0:
            raise RoutingError(f"{routing.spec}: node {node} is not a terminal")
    return [int(number_of[node]) for node in nodes]


def checked_paths(routing: Routing, source: int, destination: int) -> Iterator[Path]:
    """Yield the paths of a pair; RoutingError unless channels lead to the destination and probabilities are valid."""
    pair = partial(_pair, routing.topology, source, destination)
    for path in listed(routing, routing.paths(source, destination), lambda: f"the paths {pair()}"):
        if not isinstance(path, tuple | list) or len(path) != 2:
            raise RoutingError(f"{routing.spec}: a path {pair()} is {path!r}, not (channels, probability)")
        chance = share(path[1])
        if chance is None:
            raise RoutingError(f"{routing.spec}: a path {pair()} has probability {path[1]}, not a number from 0 to 1")
        yield checked_channels(routing, source, destination, path[0]), chance


def checked_channels(routing: Routing, source: int, destination: int, path: Any) -> tuple[int, ...]:
    """Return the channels of a path; raise RoutingError unless they lead from the source to the destination."""
    topology = routing.topology
    pair = partial(_pair, topology, source, destination)
    at = source
    channels = listed(routing, channels_of(routing, source, path), lambda: f"the channels of a path {pair()}")
    for c in channels:
        if not is_channel(topology, c) or topology.tail[c] != at:
            raise RoutingError(
                f"{routing.spec}: a path {pair()} takes channel {c!r} at {topology.name_of(at)}; {_LISTS}"
            )
        at = int(topology.head[c])
    if at != destination:
        raise RoutingError(f"{routing.spec}: a path {pair()} ends at {topology.name_of(at)}; {_LISTS}")
    return tuple(int(c) for c in channels)


def channels_of(routing: Routing, source: int, path: Any) -> Any:
    """Return the channels of a path that names its nodes, from the source on; any other path as it is."""
    if not (isinstance(path, tuple | list) and path and isinstance(path[0], str | tuple | list)):
        return path
    topology = routing.topology
    try:
        if topology.node(path[0]) != source:
            raise TopologyError(f"begins at {path[0]}")
        return tuple(topology.channel(tail, head) for tail, head in pairwise(path))
    except TopologyError as error:
        raise RoutingError(f"{routing.spec}: a path from {topology.name_of(source)}: {error}") from None


def merged(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield every path once, in the order in which it comes first, with its total probability."""
    total: dict[tuple[int, ...], Fraction] = {}
    for channels, chance in paths:
        total[channels] = total.get(channels, Fraction(0)) + chance
    yield from total.items()


def require_all(routing: Routing, source: int, destination: int, total: Fraction) -> None:
    """Raise RoutingError unless the probabilities of a pair's paths add up to one.

    A node may send itself nothing, and those of a partial routing may add up to less.
    """
    if total != 1 and not (source == destination and total == 0) and not (routing.partial and total < 1):
        pair = _pair(routing.topology, source, destination)
        raise RoutingError(f"{routing.spec}: the paths {pair} have total probability {total}, not 1")


def listed(routing: Routing, values: Any, what: Callable[[], str]) -> list[Any]:
    """Return what a routing gave as a list; raise RoutingError where it is something else."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise RoutingError(f"{routing.spec}: {what()} must be a list, not {values!r}")
    return list(values)


def is_channel(topology: Topology, value: Any) -> bool:
    """Return whether a value is the number of a channel."""
    is_integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return is_integer and bool(0 <= value < topology.channels)


def _pair(topology: Topology, source: int, destination: int) -> str:
    return f"from {topology.name_of(source)} to {topology.name_of(destination)}"
