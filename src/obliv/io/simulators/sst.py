"""Simulations for SST: a network and weighted source routes for Merlin's topology ``anytopo``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from obliv._util.files import together, write_whole
from obliv._util.text import printable
from obliv.errors import FileError, RoutingError, TrafficError
from obliv.io.formats.gml import XmlItem, XmlKey, cables, graphml_lines, require_plain
from obliv.io.simulators.booksim_listed import routers_of
from obliv.io.simulators.routes import require_rate, ways_of
from obliv.patterns.base import Traffic
from obliv.patterns.base import traffic as traffic_of
from obliv.routings.base import Routing

_SCRIPT = Path(__file__).with_name("sst_merlin.txt")

#: Weighted paths, each the routers after the first one.
_Routes = dict[tuple[int, ...], Fraction]


def write_sst(
    routing: Routing, path: str | Path, traffic: Traffic | str = "uniform", *, rate: float = 0.1
) -> tuple[Path, ...]:
    """Write a simulation of a routing under a traffic pattern for SST's network model Merlin.

    Traffic is uniform, or has one destination for every terminal, such as a permutation. SST's uniform traffic has no
    self-pairs: its loads are N / (N - 1) times those of obliv.

    If every terminal is joined to one other node by one link, terminals become endpoints of that router. Otherwise
    every node becomes a router, and every terminal has an endpoint. Endpoints are numbered by their routers. Packets
    change to the next virtual channel at every hop, so that no routing deadlocks.

    Examples
    --------
    >>> import obliv, tempfile
    >>> path = Path(tempfile.mkdtemp(), "ring.py")
    >>> [file.name for file in write_sst(obliv.ECMP(obliv.ring(4)), path)]
    ['ring.py', 'ring.graphml', 'ring.routes.json']
    >>> json.loads(path.with_suffix(".routes.json").read_text())["0"]["2"]
    [[0.5, [3, 2]], [0.5, [1, 2]]]
    """
    path, topology = Path(path), routing.topology
    files = (path, path.with_suffix(".graphml"), path.with_suffix(".routes.json"))
    if path.suffix != ".py":
        raise FileError("SST runs Python scripts: choose a name that ends in .py", path)
    pattern = traffic_of(traffic, topology)
    require_rate(rate)
    require_plain(topology, "SST's anytopo")
    number, home = routers_of(topology)
    routes = _routes(routing, number, home)
    at = [number[home[t]] for t in topology.terminals.tolist()]
    endpoints = sorted(range(len(at)), key=at.__getitem__)
    targets = _targets(pattern, endpoints)
    longest = max((len(way) for ways in routes.values() for way in ways), default=1)
    with together():
        write_whole(files[1], _graph(routing, number, at).encode("utf-8"))
        write_whole(files[2], (_listed(routes, len(number)) + "\n").encode("ascii"))
        values = {
            "TITLE": printable(f"{routing.spec} on {topology.spec} under {pattern.spec}"),
            "NAME": repr(path.stem),
            "VCS": str(longest + 1),
            "RATE": f"{rate:g}",
            "TERMINALS": str(endpoints),
            "TARGETS": str(targets),
        }
        script = re.sub("<([A-Z]+)>", lambda found: values[found[1]], _SCRIPT.read_text(encoding="utf-8"))
        write_whole(path, script.encode("utf-8"))
    return files


def _targets(pattern: Traffic, endpoints: list[int]) -> list[tuple[int, float]]:
    """Return the other endpoint that every endpoint sends to, and its share of the rate; nothing for uniform."""
    if pattern.uniform == 1 and not len(pattern.amount):
        return []
    number = {terminal: k for k, terminal in enumerate(endpoints)}
    targets = []
    rows = pattern.to_matrix()
    for k, terminal in enumerate(endpoints):
        others = [(number[j], float(share)) for j, share in enumerate(rows[terminal]) if share and j != terminal]
        if len(others) > 1:
            raise TrafficError(
                f"SST has no pattern that is {pattern.spec}: use uniform, or a permutation or other traffic in which "
                "no terminal sends to several; ns-3 takes any traffic"
            )
        targets += others or [((k + 1) % len(endpoints), 0.0)]
    return targets


def _graph(routing: Routing, number: dict[int, int], at: list[int]) -> str:
    """Return the network of routers as undirected GraphML, with the endpoints of each."""
    topology = routing.topology
    order = sorted(number, key=number.__getitem__)
    nodes = [
        XmlItem({"id": number[node]}, {"endpoints": at.count(number[node]), "label": topology.name_of(node)})
        for node in order
    ]
    ends = [(int(topology.tail[c]), int(topology.head[c])) for c, _ in cables(topology)]
    edges = [
        XmlItem({"source": number[tail], "target": number[head]}, {})
        for tail, head in ends
        if tail in number and head in number
    ]
    keys = [XmlKey("endpoints", "node", "int"), XmlKey("label", "node", "string")]
    return "\n".join([*graphml_lines(topology.spec, keys, nodes, edges, directed=False), ""])


def _routes(routing: Routing, number: dict[int, int], home: dict[int, int]) -> dict[tuple[int, int], _Routes]:
    """Return the weighted paths of every pair of routers that have endpoints."""
    topology = routing.topology
    terminals = topology.terminals.tolist()
    if routing.partial:
        raise RoutingError(f"{routing.spec} leaves pairs out: SST needs a path for every pair")
    routes: dict[tuple[int, int], _Routes] = {}
    for s in terminals:
        for d in terminals:
            ends = number[home[s]], number[home[d]]
            if s == d:
                if any(channels for channels, chance in routing.paths(s, d) if chance):
                    raise RoutingError(
                        f"{routing.spec} sends packets of {topology.name_of(s)} for itself out: SST delivers them "
                        "at the router"
                    )
                continue
            own: _Routes = {}
            for way, chance in _ways(routing, number, s, d):
                own[way] = own.get(way, Fraction(0)) + chance
            if routes.setdefault(ends, own) != own:
                raise RoutingError(
                    f"{routing.spec} has other paths from {topology.name_of(s)} to {topology.name_of(d)} than for "
                    "other terminals of these two routers: SST's source routes are those of routers"
                )
    return routes


def _ways(routing: Routing, number: dict[int, int], s: int, d: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Yield the paths of a pair as the routers after the first one."""
    topology = routing.topology
    for channels, chance in ways_of(routing, s, d):
        visited = [number[node] for node in (s, *(int(topology.head[c]) for c in channels)) if node in number]
        if visited[-1] in visited[:-1]:
            raise RoutingError(
                f"{routing.spec} passes through the destination on a path from {topology.name_of(s)} to "
                f"{topology.name_of(d)}: SST would deliver the packet there"
            )
        yield tuple(visited[1:]), chance


def _listed(routes: dict[tuple[int, int], _Routes], routers: int) -> str:
    """Return the paths as JSON: source, destination, and a list of weight and routers."""
    table: dict[str, dict[str, list[list[object]]]] = {str(r): {} for r in range(routers)}
    for (tail, head), ways in sorted(routes.items()):
        table[str(tail)][str(head)] = [[float(chance), list(way)] for way, chance in ways.items()]
    return json.dumps(table)
