"""Simulations for ns-3: links, routes or paths, and flows, and the program that runs them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from obliv._util.files import together, write_pieces, write_whole
from obliv._util.text import printable
from obliv.errors import FileError, RoutingError
from obliv.io.formats.gml import cables
from obliv.io.simulators.routes import hops_along, ways_of
from obliv.patterns.base import Traffic
from obliv.patterns.base import traffic as traffic_of
from obliv.routings.base import Routing
from obliv.routings.paths import Path as Route

_PROGRAM = "obliv-ns3.cc"
_HOPS = 64  # the time to live of packets in ns-3


def write_ns3(routing: Routing, path: str | Path, traffic: Traffic | str = "uniform") -> tuple[Path, ...]:
    """Write a simulation of a routing under a traffic pattern for ns-3.

    Two channels of opposite directions are one link of ns-3, parallel ones are links of their own, and bandwidths are
    data rates. The program prints the load of every channel in obliv's units: packets per packet that a terminal of
    rate 1 offers, divided by the bandwidth.

    Examples
    --------
    >>> import obliv, tempfile
    >>> path = Path(tempfile.mkdtemp(), "line.ns3")
    >>> _ = write_ns3(obliv.DOR(obliv.mesh(3)), path, "shift:1")
    >>> print(path.read_text())
    # dor on mesh:3 under shift:1
    nodes 3 routes
    link 0 1 0 1 2 1
    link 1 2 1 1 3 1
    route 0 1 0
    route 1 2 1
    route 2 0 1
    route 1 0 0
    flow 0 1 1.0
    flow 1 2 1.0
    flow 2 0 1.0
    <BLANKLINE>
    """
    path, topology = Path(path), routing.topology
    program = path.with_name(_PROGRAM)
    if path == program:
        raise FileError("the name is that of the program for ns-3: choose another, such as net.ns3", path)
    pattern = traffic_of(traffic, topology)
    terminals = topology.terminals.tolist()
    flows = {
        (terminals[i], terminals[j]): share
        for i, row in enumerate(pattern.to_matrix())
        for j, share in enumerate(row)
        if share
    }
    routes = {pair: ways for pair in flows if (ways := _ns3_ways(routing, *pair))}
    links = cables(topology)
    link_of = {channel: k for k, link in enumerate(links) for channel in link if channel >= 0}
    hops = _next_hops(routing, routes)

    def lines() -> Iterator[str]:
        yield "# " + printable(f"{routing.spec} on {topology.spec} under {pattern.spec}")
        yield f"nodes {topology.nodes} {'routes' if hops else 'paths'}"
        for forth, back in links:
            ends = f"{int(topology.tail[forth])} {int(topology.head[forth])}"
            speeds = [f"{c} {float(topology.bandwidth_of(c)):.17g}" if c >= 0 else "-1 1" for c in (forth, back)]
            yield f"link {ends} {' '.join(speeds)}"
        for (node, destination), channel in hops.items():
            yield f"route {node} {destination} {link_of[channel]}"
        for (source, destination), ways in () if hops else routes.items():
            for channels, chance in ways:
                steps = " ".join(str(link_of[channel]) for channel in channels)
                yield f"path {source} {destination} {float(chance)!r} {steps}".rstrip()
        for source, destination in routes:
            yield f"flow {source} {destination} {float(flows[source, destination])!r}"

    with together():
        write_pieces(path, (f"{line}\n".encode() for line in lines()))
        write_whole(program, Path(__file__).with_name("ns3.cc").read_bytes())
    return path, program


def _ns3_ways(routing: Routing, source: int, destination: int) -> list[Route]:
    """Return the paths of a pair with their probabilities; none where a terminal sends itself nothing."""
    topology = routing.topology
    ways = ways_of(routing, source, destination)
    if source == destination and all(not channels for channels, _ in ways):
        return []
    for channels, _ in ways:
        if len(channels) > _HOPS:
            pair = f"from {topology.name_of(source)} to {topology.name_of(destination)}"
            raise RoutingError(f"{routing.spec} has a path of {len(channels)} hops {pair}: ns-3 takes up to {_HOPS}")
    return ways


def _next_hops(routing: Routing, routes: dict[tuple[int, int], list[Route]]) -> dict[tuple[int, int], int]:
    """Return the channel by node and destination; nothing where packets for a destination leave a node in two ways."""
    routes_to: dict[int, list[tuple[int, ...]]] = {}
    for (source, destination), ways in routes.items():
        if len(ways) > 1 or source == destination:
            return {}
        routes_to.setdefault(destination, []).append(ways[0][0])
    hops: dict[tuple[int, int], int] = {}
    for destination, listed in routes_to.items():
        channel_of = hops_along(routing.topology, destination, listed)
        if channel_of is None:
            return {}
        hops |= {(node, destination): channel for node, channel in channel_of.items()}
    return hops
