"""Listed paths for BookSim2, and the routing function that follows them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import pairwise
from numbers import Integral
from pathlib import Path
from typing import Any

from obliv._util.files import write_whole
from obliv.errors import RoutingError, TooLargeError
from obliv.io.formats.anynet import hosts_and_routers
from obliv.routings.base import Routing
from obliv.routings.checks import checked_paths
from obliv.topologies.base import Topology

__all__ = ["Lanes", "listed_paths", "routers_of", "write_header"]

Lanes = Callable[[tuple[int, ...]], list[int]]  # the class of virtual channels of every channel of a path

_HEADER = "paths_anynet.hpp"
_STEPS = 10_000_000  # routers on listed paths
_SOME = 200  # pairs that are looked at first


def routers_of(topology: Topology) -> tuple[dict[int, int], dict[int, int]]:
    """Return the number of every router in an anynet file, and the router of every terminal, by node."""
    names, _ = hosts_and_routers(topology)
    numbers = [int(name.split()[1]) for name in names if name.startswith("router")]
    terminals = topology.terminals.tolist()
    host = set(terminals) if len(numbers) < topology.nodes else set()  # otherwise every node is a router
    routers = [node for node in range(topology.nodes) if node not in host]
    home = {t: int(topology.head[topology.first_channel[t]]) if t in host else t for t in terminals}
    return dict(zip(routers, numbers, strict=True)), home


def write_header(folder: Path) -> Path:
    """Write the routing function into a folder, and return the file."""
    file = folder / _HEADER
    write_whole(file, Path(__file__).with_name(_HEADER).read_bytes())
    return file


def listed_paths(routing: Routing, lanes: Lanes) -> tuple[str, int]:
    """Return the paths of a routing as lines of routers, output ports and classes of virtual channels.

    Routers and ports are numbered as BookSim2 does. The number is that of classes.

    Raises
    ------
    RoutingError
        If a path visits a router twice, pairs have no path, or `lanes` gives what are no classes.
    TooLargeError
        If there are too many paths.
    """
    topology = routing.topology
    number, home = routers_of(topology)
    terminals = topology.terminals.tolist()
    _require_few(routing, terminals)
    port = _ports(topology, number, home)
    lines, steps, classes = [], 0, 1
    for i, s in enumerate(terminals):
        for j, d in enumerate(terminals):
            alone: Iterable[tuple[tuple[int, ...], Fraction]] = [((), Fraction(1))]
            paths = alone if s == d else checked_paths(routing, s, d)
            empty = True
            for channels, probability in paths:
                visited = [s, *(int(topology.head[c]) for c in channels)] if s != d else [home[s]]
                nodes = [node for node in visited if node in number]
                if len(set(nodes)) < len(nodes):
                    raise RoutingError(
                        f"{routing.spec} visits a node twice from {topology.name_of(s)} to {topology.name_of(d)}; "
                        "listed paths have one output port for each node"
                    )
                lane = dict(zip(visited, _checked(lanes(channels), channels), strict=False))
                classes = max(classes, *(lane[a] + 1 for a in nodes[:-1]), 1)
                ends = [(a, (number[b], "router"), lane[a]) for a, b in pairwise(nodes)]
                ends.append((nodes[-1], (j, "node"), -1))
                hops = (f"{number[a]} {port[a, end]} {least}" for a, end, least in ends)
                lines.append(f"{i} {j} {float(probability)!r} {' '.join(hops)}")
                steps += len(nodes)
                empty = False
            if empty:
                raise RoutingError(f"{routing.spec} has no path from {topology.name_of(s)} to {topology.name_of(d)}")
            if steps > _STEPS:
                raise _too_many(routing)
    return "\n".join([f"classes {classes}", *lines]) + "\n", classes


def _checked(classes: Any, channels: tuple[int, ...]) -> list[int]:
    """Return the classes of virtual channels of a path, which are whole numbers from 0, one for each channel."""
    found = list(classes) if isinstance(classes, Iterable) and not isinstance(classes, str) else []
    if len(found) != len(channels):
        raise RoutingError(f"lanes: a path of {len(channels)} channels needs as many numbers, not {classes!r:.60}")
    if not all(isinstance(one, Integral) and not isinstance(one, bool) and 0 <= int(one) < 2**15 for one in found):
        raise RoutingError(f"lanes: classes of virtual channels are whole numbers from 0, not {classes!r:.60}")
    return [int(one) for one in found]


def _require_few(routing: Routing, terminals: list[int]) -> None:
    """Raise TooLargeError at once where the paths of some pairs show that there are far too many in all."""
    n = len(terminals)
    pairs = [(terminals[k * n // _SOME], terminals[k * 61 % n]) for k in range(_SOME)]
    found = [checked_paths(routing, s, d) for s, d in pairs if s != d]
    steps = sum(len(channels) for paths in found for channels, _ in paths)
    if found and steps * n * n > 3 * _STEPS * len(found):
        raise _too_many(routing)


def _too_many(routing: Routing) -> TooLargeError:
    return TooLargeError(f"{routing.spec} has too many paths on {routing.topology.spec} to list them for BookSim2")


def _ports(topology: Topology, number: dict[int, int], home: dict[int, int]) -> dict[tuple[int, tuple[int, str]], int]:
    """Return the output ports of every router: its nodes come first, then other routers, by their numbers."""
    ends: dict[int, list[tuple[str, int]]] = {node: [] for node in number}
    for k, terminal in enumerate(topology.terminals.tolist()):
        ends[home[terminal]].append(("node", k))
    for tail, head in zip(topology.tail.tolist(), topology.head.tolist(), strict=True):
        if tail in number and head in number:
            ends[tail].append(("router", number[head]))
    return {(node, (k, kind)): port for node, own in ends.items() for port, (kind, k) in enumerate(sorted(own))}
