"""Simulations for ns-3: links, static routes and flows, and the program that runs them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from obliv._util.files import together, write_pieces, write_whole
from obliv._util.text import printable
from obliv.errors import FileError, RoutingError
from obliv.io._cables import cables
from obliv.patterns.base import Traffic
from obliv.patterns.make import traffic as traffic_of
from obliv.routings.base import Routing
from obliv.routings.checks import checked_paths, merged, require_all

__all__ = ["write_ns3"]

_PROGRAM = "obliv-ns3.cc"


def write_ns3(routing: Routing, path: str | Path, traffic: Traffic | str = "uniform") -> tuple[Path, ...]:
    """Write a simulation of a routing under a traffic pattern for ns-3.

    Parameters
    ----------
    routing : Routing
        With one path for every pair, whose next hop depends on node and destination only: ns-3's static routes.
    path : str or Path
        The network: its links with their rates, routes and flows, line by line. The program that runs it,
        ``obliv-ns3.cc``, is written beside it.
    traffic : Traffic or str
        Any traffic. A terminal sends nothing to itself.

    Returns
    -------
    tuple of Path
        The files that were written.

    Raises
    ------
    RoutingError
        If a pair has several paths, or packets for a destination leave a node in several ways.

    Notes
    -----
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
    nodes 3
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
    flows = [
        (terminals[i], terminals[j], share)
        for i, row in enumerate(pattern.to_matrix())
        for j, share in enumerate(row)
        if share and i != j
    ]
    links = cables(topology)
    link_of = {channel: k for k, link in enumerate(links) for channel in link if channel >= 0}

    def lines() -> Iterator[str]:
        yield "# " + printable(f"{routing.spec} on {topology.spec} under {pattern.spec}")
        yield f"nodes {topology.nodes}"
        for forth, back in links:
            ends = f"{int(topology.tail[forth])} {int(topology.head[forth])}"
            speeds = [f"{c} {float(topology.bandwidth_of(c)):.17g}" if c >= 0 else "-1 1" for c in (forth, back)]
            yield f"link {ends} {' '.join(speeds)}"
        for (node, destination), channel in _next_hops(routing, [flow[:2] for flow in flows]).items():
            yield f"route {node} {destination} {link_of[channel]}"
        for source, destination, share in flows:
            yield f"flow {source} {destination} {float(share)!r}"

    with together():
        write_pieces(path, (f"{line}\n".encode() for line in lines()))
        write_whole(program, Path(__file__).with_name("ns3.cc").read_bytes())
    return path, program


def _next_hops(routing: Routing, pairs: list[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Return the channel by node and destination, for pairs that send."""
    topology = routing.topology
    hops: dict[tuple[int, int], int] = {}
    for s, d in pairs:
        paths = [(channels, chance) for channels, chance in merged(checked_paths(routing, s, d)) if chance]
        require_all(routing, s, d, sum(chance for _, chance in paths))  # type: ignore[arg-type]
        if len(paths) != 1:
            what = f"{len(paths)} paths" if paths else "no path"
            raise RoutingError(
                f"{routing.spec} has {what} from {topology.name_of(s)} to {topology.name_of(d)}: static routes of ns-3 "
                "are one for each node and destination; use shortest, dor on a mesh, or a table"
            )
        for channel in paths[0][0]:
            node = int(topology.tail[channel])
            if hops.setdefault((node, d), channel) != channel:
                raise RoutingError(
                    f"{routing.spec} takes packets for {topology.name_of(d)} out of {topology.name_of(node)} in "
                    "several ways, depending on the source: static routes of ns-3 are one for each node and destination"
                )
    return hops
