"""Listed paths and traffic for BookSim2, and the headers that read them there, with the lines that they need."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import pairwise
from numbers import Integral
from pathlib import Path
from typing import Any

from obliv._util.files import together, write_whole
from obliv._util.progress import Progress
from obliv.errors import FileError, RoutingError, TooLargeError
from obliv.io.formats.anynet import hosts_and_routers
from obliv.io.simulators.routes import ways_of
from obliv.patterns.base import Traffic
from obliv.routings.base import Routing
from obliv.routings.paths import checked_paths
from obliv.topologies.base import Topology

Lanes = Callable[[tuple[int, ...]], list[int]]  # the class of virtual channels of every channel of a path

PATHS_HEADER, TRAFFIC_HEADER = "paths_anynet.hpp", "listed_traffic.hpp"
_STEPS = 10_000_000  # routers on listed paths
_SOME = 200  # pairs that are looked at first

#: What BookSim2 needs to read listed paths and traffic: for each header its folder in ``src``, and the lines to add:
#: the file, the function that the line comes first in (empty: below the other ``#include`` lines), and the line.
ADDITIONS: dict[str, tuple[str, tuple[tuple[str, str, str], ...]]] = {
    PATHS_HEADER: (
        "networks",
        (
            ("networks/anynet.cpp", "", '#include "paths_anynet.hpp"'),
            ("networks/anynet.cpp", "AnyNet::_BuildNet", 'read_paths(file_name + ".paths");'),
            (
                "networks/anynet.cpp",
                "AnyNet::RegisterRoutingFunctions",
                'gRoutingFunctionMap["paths_anynet"] = &paths_anynet;',
            ),
        ),
    ),
    TRAFFIC_HEADER: (
        "",
        (
            ("traffic.cpp", "", '#include "listed_traffic.hpp"'),
            (
                "traffic.cpp",
                "TrafficPattern::New",
                "if (is_listed(pattern)) return new ListedTraffic(pattern, nodes);",
            ),
            ("injection.cpp", "", '#include "listed_traffic.hpp"'),
            (
                "injection.cpp",
                "InjectionProcess::New",
                "if (is_listed(inject)) return new ListedInjection(inject, nodes, load);",
            ),
        ),
    ),
}


def header(name: str) -> bytes:
    """Return a header for BookSim2."""
    return Path(__file__).with_name(name).read_bytes()


def extend_booksim(source: str | Path) -> tuple[Path, ...]:
    """Add the headers for listed paths and traffic to the source of BookSim2, which is built afterwards.

    The lines that the heads of the two headers name are added to ``anynet.cpp``, ``traffic.cpp`` and ``injection.cpp``;
    lines that are there already stay as they are, so that it can be done again after an update of obliv.

    Parameters
    ----------
    source : str or Path
        The folder ``src`` of BookSim2, which has ``traffic.cpp``.

    Returns
    -------
    tuple of Path
        The files that were written.

    Raises
    ------
    FileError
        If it is not that folder, or a function is missing there; nothing is written then.

    Examples
    --------
    >>> extend_booksim("booksim2/src")
    Traceback (most recent call last):
    ...
    obliv.errors.FileError: booksim2/src: not the folder src of BookSim2: there is no networks/anynet.cpp
    """
    source = Path(source)
    texts: dict[str, str] = {}
    for _, lines in ADDITIONS.values():
        for name, function, line in lines:
            if name not in texts:
                try:
                    texts[name] = (source / name).read_text(encoding="utf-8")
                except (OSError, UnicodeDecodeError):
                    raise FileError(f"not the folder src of BookSim2: there is no {name}", source) from None
            text = texts[name]
            if line in text:
                continue
            place = rf"{re.escape(function)}\s*\([^{{;]*\{{" if function else r'(?s:.*)^#include [<"][^\n]*'
            match = re.search(place, text, re.MULTILINE)
            if match is None:
                raise FileError(f"there is no {function or '#include'} to add a line to: {line}", source / name)
            indent = "  " if function else ""
            texts[name] = f"{text[: match.end()]}\n{indent}{line}{text[match.end() :]}"
    files = {source / folder / name: header(name) for name, (folder, _) in ADDITIONS.items()}
    files |= {source / name: text.encode("utf-8") for name, text in texts.items()}
    with together():
        for file, content in files.items():
            write_whole(file, content)
    return tuple(files)


def listed_traffic(traffic: Traffic) -> str:
    """Return traffic as lines of source, destination and rate, numbered as in BookSim2: by terminals."""
    lines = [f"nodes {traffic.terminals} uniform {float(traffic.uniform)!r}"]
    flows = zip(traffic.source.tolist(), traffic.destination.tolist(), traffic.amount.tolist(), strict=True)
    lines += [f"{s} {d} {amount / traffic.denominator!r}" for s, d, amount in flows]
    return "\n".join(lines) + "\n"


def routers_of(topology: Topology) -> tuple[dict[int, int], dict[int, int]]:
    """Return the number of every router in an anynet file, and the router of every terminal, by node."""
    names, _ = hosts_and_routers(topology)
    numbers = [int(name.split()[1]) for name in names if name.startswith("router")]
    terminals = topology.terminals.tolist()
    host = set(terminals) if len(numbers) < topology.nodes else set()  # otherwise every node is a router
    routers = [node for node in range(topology.nodes) if node not in host]
    home = {t: int(topology.head[topology.first_channel[t]]) if t in host else t for t in terminals}
    return dict(zip(routers, numbers, strict=True)), home


def listed_paths(routing: Routing, lanes: Lanes, progress: Progress) -> tuple[str, int]:
    """Return paths as lines of routers, output ports and lanes, numbered as in BookSim2; and how many lanes."""
    topology = routing.topology
    number, home = routers_of(topology)
    terminals = topology.terminals.tolist()
    _require_few(routing, terminals)
    port = ports_of(topology, number, home)
    lines, steps, classes = [], 0, 1
    for i, s in enumerate(terminals):
        for j, d in enumerate(terminals):
            ways = ways_of(routing, s, d) or ([((), Fraction(1))] if s == d else [])  # packets to oneself may go out
            if not ways:
                raise RoutingError(f"{routing.spec} has no path from {topology.name_of(s)} to {topology.name_of(d)}")
            for channels, probability in ways:
                lane = _checked(lanes(channels), channels)
                visited = [s, *(int(topology.head[c]) for c in channels)] if channels else [home[s]]
                at = [place for place, node in enumerate(visited) if node in number]
                if at[-1] - at[0] >= len(at):
                    host = next(node for node in visited[at[0] :] if node not in number)
                    raise RoutingError(
                        f"{routing.spec} passes through {topology.name_of(host)} from {topology.name_of(s)} to "
                        f"{topology.name_of(d)}: hosts of BookSim2 do not forward packets"
                    )
                hops = []
                for a, b in pairwise(at):
                    hops.append(f"{number[visited[a]]} {port[visited[a], (number[visited[b]], 'router')]} {lane[a]}")
                    classes = max(classes, lane[a] + 1)
                hops.append(f"{number[visited[at[-1]]]} {port[visited[at[-1]], (j, 'node')]} -1")
                lines.append(f"{i} {j} {float(probability)!r} {' '.join(hops)}")
                steps += len(hops)
            if steps > _STEPS:
                raise _too_many(routing)
        progress("paths", (i + 1) / len(terminals))
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


def ports_of(
    topology: Topology, number: dict[int, int], home: dict[int, int]
) -> dict[tuple[int, tuple[int, str]], int]:
    """Return the output ports of every router: its nodes come first, then other routers, by their numbers."""
    ends: dict[int, list[tuple[str, int]]] = {node: [] for node in number}
    for k, terminal in enumerate(topology.terminals.tolist()):
        ends[home[terminal]].append(("node", k))
    for tail, head in zip(topology.tail.tolist(), topology.head.tolist(), strict=True):
        if tail in number and head in number:
            ends[tail].append(("router", number[head]))
    return {(node, (k, kind)): port for node, own in ends.items() for port, (kind, k) in enumerate(sorted(own))}
