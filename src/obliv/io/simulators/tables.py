"""Simulations for noxim (routing and traffic tables of a mesh) and HTSIM (a fat tree and its messages)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from obliv._util.files import together, write_pieces, write_whole
from obliv._util.text import plural, printable
from obliv.errors import FileError, RoutingError, TopologyError, TrafficError
from obliv.io.formats.gml import require_plain
from obliv.io.simulators.routes import require_rate, ways_of
from obliv.patterns.base import Traffic
from obliv.patterns.base import traffic as traffic_of
from obliv.routings.base import Routing
from obliv.routings.make import routing as routing_of
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import axes_of
from obliv.topologies.trees import Tree

_FLITS = 2  # of a packet of noxim, which has no smaller ones
_COLUMN = 22  # where noxim looks for the outputs in a line of its routing table
_NODES = 9999  # what has room before that column
_BYTES = 2_000_000  # of HTSIM's message from a terminal that sends one packet to one destination
_GBPS = 100


def write_noxim(
    routing: Routing, path: str | Path, traffic: Traffic | str = "uniform", *, rate: float = 0.1
) -> tuple[Path, ...]:
    r"""Write a simulation of a routing on a mesh of two dimensions under a traffic pattern for noxim.

    noxim's tables give outputs by node, incoming link and destination. Of several outputs its routers draw one, again
    in each cycle in which it is busy, so only routings with one path for each pair are written. Packets have two flits,
    and a link carries a flit in every other cycle.

    Examples
    --------
    >>> import obliv, tempfile
    >>> path = Path(tempfile.mkdtemp(), "mesh.yaml")
    >>> [file.name for file in write_noxim(obliv.DOR(obliv.mesh(2, 2)), path, "bit-complement")]
    ['mesh.yaml', 'mesh.routes', 'mesh.traffic']
    >>> print(*path.with_suffix(".routes").read_text().splitlines()[-3:], sep="\n")
     3 3->3 0             3->2,
     3 3->3 1             3->1,
     3 3->3 2             3->2,
    """
    path, topology = Path(path), routing.topology
    files = (path, path.with_suffix(".routes"), path.with_suffix(".traffic"))
    _require_other(path, files, "noxim", ".yaml")
    pattern = traffic_of(traffic, topology)
    require_rate(rate)
    if [along.kind for along in axes_of(topology)] != ["line"] * 2 or min(topology.radices) < 2:
        raise TopologyError(
            f"noxim's tables are those of meshes of two dimensions, such as mesh:4x4, not of {topology}"
        )
    if topology.nodes > _NODES:
        raise TopologyError(f"noxim's routing tables have room for {_NODES} nodes, not for {topology.nodes}")
    require_plain(topology, "noxim")
    if routing.partial:
        raise RoutingError(f"{routing.spec} leaves pairs out: noxim needs an output for every pair")
    most = max(map(sum, pattern.to_matrix()))
    if float(most) * rate > 1:
        raise TrafficError(f"{pattern.spec} at a rate of {rate:g} sends more than one packet per node and cycle")
    hops = sorted(_next_nodes(routing).items())
    title = "% " + printable(f"{routing.spec} on {topology.spec} under {pattern.spec}") + "\n"

    def table() -> Iterator[str]:
        for (node, before, end), after in hops:
            yield f" {node} {before}->{node} {end}".ljust(_COLUMN) + f"{node}->{after},\n"

    def pairs() -> Iterator[str]:
        for source, end, share in _flows(pattern, topology):
            yield f"{source} {end} {float(share) * rate / _FLITS!r}\n"

    text = _NOXIM.format(
        title="#" + title[1:].rstrip(),
        x=topology.radices[0],
        y=topology.radices[1],
        routes=json.dumps(files[1].name),
        traffic=json.dumps(files[2].name),
        flits=_FLITS,
    )
    with together():
        write_whole(path, text.encode("utf-8"))
        for file, rows in zip(files[1:], (table(), pairs()), strict=True):
            write_pieces(file, (row.encode("utf-8") for row in (title, *rows)))
    return files


_NOXIM = """\
{title}
topology: MESH
mesh_dim_x: {x}
mesh_dim_y: {y}
buffer_depth: 16
flit_size: 32
r2h_link_length: 2.0
r2r_link_length: 1.0
n_virtual_channels: 8  # drawn by the source of a packet, kept on its path
routing_algorithm: TABLE_BASED
routing_table_filename: {routes}
dyad_threshold: 0.6
selection_strategy: RANDOM
traffic_distribution: TRAFFIC_TABLE_BASED
traffic_table_filename: {traffic}
traffic_hardcoded_filename: ""
packet_injection_rate: 0.01  # not used: the table has the rates
probability_of_retransmission: 0.01
min_packet_size: {flits}
max_packet_size: {flits}
clock_period_ps: 1000
reset_time: 1000
simulation_time: 50000
stats_warm_up_time: 10000
detailed: false
max_volume_to_be_drained: 0
show_buffer_stats: false
use_winoc: false
use_wirxsleep: false
verbose_mode: VERBOSE_OFF
trace_mode: false
trace_filename: ""
Hubs:
  defaults:
    {{rx_radio_channels: [0], tx_radio_channels: [0], attached_nodes: [], to_tile_buffer_size: 4,
     from_tile_buffer_size: 4, rx_buffer_size: 4, tx_buffer_size: 4}}
RadioChannels:
  defaults: {{data_rate: 16, ber: [0, 0], mac_policy: [TOKEN_PACKET]}}
"""


def _next_nodes(routing: Routing) -> dict[tuple[int, int, int], int]:
    """Return the next node by node, the node before it, and destination; refuse what depends on more."""
    topology = routing.topology
    head = topology.head.tolist()
    following: dict[tuple[int, int, int], int] = {}
    for source in topology.terminals.tolist():
        for end in topology.terminals.tolist():
            ways = ways_of(routing, source, end)
            if len(ways) > 1:
                raise RoutingError(
                    f"{routing.spec} has several paths from {topology.name_of(source)} to {topology.name_of(end)}: "
                    "noxim's routers draw again whenever an output is busy, so only single paths are written"
                )
            nodes = [source, source, *(head[channel] for channel in ways[0][0])]
            if end in nodes[1:-1]:
                raise RoutingError(
                    f"{routing.spec} passes through the destination on a path from {topology.name_of(source)} to "
                    f"{topology.name_of(end)}: noxim would deliver the packet there"
                )
            for before, node, after in zip(nodes, nodes[1:], nodes[2:], strict=False):
                if following.setdefault((node, before, end), after) != after:
                    raise RoutingError(
                        f"noxim cannot simulate {routing.spec} on {topology.spec}: packets for {topology.name_of(end)} "
                        f"that reach {topology.name_of(node)} from {topology.name_of(before)} leave it in several ways"
                    )
    return following


def write_htsim(routing: Routing, path: str | Path, traffic: Traffic | str = "uniform") -> tuple[Path, ...]:
    r"""Write a fat tree of two or three levels, and a message for every pair of a traffic pattern, for HTSIM.

    A terminal's messages of 2 MB for each packet that it sends start at time 0, on links of 100 Gb/s. Only `ecmp` is
    written: HTSIM's hosts and switches spread packets over the shortest paths. Tiers of HTSIM are oversubscribed by
    whole numbers.

    Examples
    --------
    >>> import obliv, tempfile
    >>> path = Path(tempfile.mkdtemp(), "tree.topo")
    >>> _, messages = write_htsim(obliv.ECMP(obliv.fattree(4, 2)), path, "shift:1")
    >>> print(*messages.read_text().splitlines()[1:5], sep="\n")
    Nodes 8
    Connections 8
    0->1 id 1 start 0 size 2000000
    1->2 id 2 start 0 size 2000000
    """
    path, topology = Path(path), routing.topology
    files = (path, path.with_suffix(".cm"))
    _require_other(path, files, "HTSIM", ".topo")
    pattern = traffic_of(traffic, topology)
    if not isinstance(topology, Tree) or topology.levels not in (2, 3) or topology.parents[0] != 1:
        raise TopologyError(
            f"HTSIM's files are those of fat trees with two or three levels of switches, such as fattree:8,3, whose "
            f"hosts have one link each, not of {topology}"
        )
    require_plain(topology, "HTSIM")
    tiers = list(zip(topology.children, (*topology.parents[1:], 0), strict=True))
    for tier, (down, up) in enumerate(tiers[:-1]):
        if down % up:
            raise TopologyError(
                f"switches of level {tier + 1} have {plural(down, 'link')} down and {up} up: HTSIM takes a whole "
                "number of links down for each link up"
            )
    if routing != routing_of("ecmp", topology):
        raise RoutingError(f"HTSIM cannot simulate {routing.spec}: it spreads packets over all shortest paths, as ecmp")
    title = "# " + printable(f"{routing.spec} on {topology.spec} under {pattern.spec}")
    head = [title, f"Nodes {topology.below[-1]}", f"Tiers {topology.levels}", f"Podsize {topology.below[2]}"]
    for tier, (down, up) in enumerate(tiers):
        head += [f"Tier {tier}", f"Downlink_speed_Gbps {_GBPS}", f"Radix_Down {down}"]
        head += [f"Radix_Up {up}", f"Oversubscribed {down // up}"] if up else []
        head += ["Downlink_Latency_ns 1000", "Switch_Latency_ns 0"]
    flows = [(source, end, round(share * _BYTES) or 1) for source, end, share in _flows(pattern, topology)]
    rows = (f"{source}->{end} id {k} start 0 size {size}" for k, (source, end, size) in enumerate(flows, 1))
    with together():
        write_whole(path, "\n".join([*head, ""]).encode("utf-8"))
        lines = (title, f"Nodes {topology.below[-1]}", f"Connections {len(flows)}", *rows)
        write_pieces(files[1], (f"{line}\n".encode() for line in lines))
    return files


def _flows(pattern: Traffic, topology: Topology) -> Iterator[tuple[int, int, Fraction]]:
    """Yield two different nodes and the packets from one to the other, for all pairs that have traffic."""
    terminals = topology.terminals.tolist()
    for i, row in enumerate(pattern.to_matrix()):
        for j, share in enumerate(row):
            if share and i != j:
                yield terminals[i], terminals[j], share


def _require_other(path: Path, files: tuple[Path, ...], tool: str, ending: str) -> None:
    if path in files[1:]:
        raise FileError(f"the ending {path.suffix} is that of another file for {tool}: choose {ending}", path)
