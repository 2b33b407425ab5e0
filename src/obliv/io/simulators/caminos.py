"""Simulations for CAMINOS: a configuration, and files of the network and the traffic where CAMINOS lacks them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import numpy as np

from obliv._util.files import together, write_whole
from obliv._util.text import printable
from obliv.errors import FileError, RoutingError, TopologyError, TrafficError
from obliv.io.formats.gml import require_plain
from obliv.io.simulators.routes import require_rate
from obliv.patterns.base import Traffic
from obliv.patterns.base import traffic as traffic_of
from obliv.routings.base import Routing
from obliv.routings.make import routing as routing_of
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import axes_of

#: Topologies of CAMINOS by the kind of all axes.
_NETWORKS = {"line": "Mesh", "ring": "Torus", "clique": "Hamming"}
_PACKET = 16  # phits


def write_caminos(
    routing: Routing, path: str | Path, traffic: Traffic | str = "uniform", *, rate: float = 0.1
) -> tuple[Path, ...]:
    r"""Write a simulation of a routing under a traffic pattern for CAMINOS.

    CAMINOS's ``Uniform`` has no self-pairs: its loads are N / (N - 1) times those of obliv. Its ``Shortest`` draws one
    of the ports that have room, so that shares are those of ``ecmp`` only while there is room at all of them. Its
    ``Valiant`` delivers packets that pass their destination, and is another routing than ``valiant``.

    Examples
    --------
    >>> import obliv, tempfile
    >>> path = Path(tempfile.mkdtemp(), "mesh.cfg")
    >>> _ = write_caminos(obliv.DOR(obliv.mesh(4, 3)), path)
    >>> print(*path.read_text().splitlines()[:8], sep="\n")
    // dor on mesh:4x3 under uniform
    Configuration
    {
        random_seed: 1,
        warmup: 20000,
        measured: 20000,
        topology: Mesh { sides: [4, 3], servers_per_router: 1 },
        traffic: HomogeneousTraffic
    """
    path, topology = Path(path), routing.topology
    pattern = traffic_of(traffic, topology)
    require_rate(rate)
    if not topology.all_terminals:
        raise TopologyError(
            "CAMINOS has the same number of servers at every router of a network from a file: here not every node is "
            "a terminal"
        )
    require_plain(topology, "CAMINOS")
    kind = _kind(topology)
    call, lanes, bubble = _routing(routing, kind)
    adjacency, image = path.with_suffix(".adj"), path.with_suffix(".map")
    if path in (adjacency, image):
        raise FileError(f"the ending {path.suffix} is that of another file for CAMINOS: choose .cfg", path)
    if kind:
        network = f"{kind} {{ sides: {list(topology.radices)}, servers_per_router: 1 }}"
    else:
        network = f"File {{ filename: {_literal(adjacency.name)}, format: 0, servers_per_router: 1 }}"
    uniform = pattern.uniform == 1 and not len(pattern.amount)
    if not uniform and not pattern.is_permutation:
        raise TrafficError(f"CAMINOS has no pattern that is {pattern.spec}: use uniform or a permutation")
    destinations = "Uniform" if uniform else f"FileMap {{ filename: {_literal(image.name)} }}"
    classes = len(topology.radices) + 1 if kind else 2
    text = _TEXT.format(
        title=printable(f"{routing.spec} on {topology.spec} under {pattern.spec}"),
        network=network,
        pattern=destinations,
        servers=len(topology.terminals),
        rate=f"{rate:g}",
        packet=_PACKET,
        lanes=lanes,
        bubble=str(bubble).lower(),
        routing=call,
        classes=", ".join(["LinkClass { delay: 1 }"] * classes),
    )
    files = {path: text}
    if not kind:
        files[adjacency] = "".join(_adjacency(topology))
    if not uniform:
        pairs = sorted(zip(pattern.source.tolist(), pattern.destination.tolist(), strict=True))
        files[image] = "".join(f"{source} {destination}\n" for source, destination in pairs)
    with together():
        for file, content in files.items():
            write_whole(file, content.encode("utf-8"))
    return tuple(files)


_TEXT = """\
// {title}
Configuration
{{
    random_seed: 1,
    warmup: 20000,
    measured: 20000,
    topology: {network},
    traffic: HomogeneousTraffic
    {{
        pattern: {pattern},
        servers: {servers},
        load: {rate},
        message_size: {packet},
    }},
    maximum_packet_size: {packet},
    router: Basic
    {{
        virtual_channels: {lanes},
        virtual_channel_policies: [EnforceFlowControl, Random],
        delay: 0,
        buffer_size: 64,
        bubble: {bubble},
        flit_size: {packet},
        intransit_priority: false,
        allow_request_busy_port: true,
        output_prioritize_lowest_label: false,
        output_buffer_size: 32,
    }},
    routing: {routing},
    link_classes: [{classes}],
    launch_configurations: [],
}}
"""


def _kind(topology: Topology) -> str:
    """Return the network of CAMINOS that a topology is; empty where there is none."""
    kinds = {along.kind for along in axes_of(topology)}
    if len(kinds) != 1 or any(radix < 3 for radix in topology.radices if kinds == {"ring"}):
        return ""
    return _NETWORKS.get(next(iter(kinds)), "")


def _routing(routing: Routing, kind: str) -> tuple[str, int, bool]:
    """Return a routing of CAMINOS, its virtual channels, and whether it needs bubbles to be free of deadlock."""
    topology = routing.topology
    for order in permutations(range(len(topology.radices))) if kind else ():
        if routing == routing_of("dor:order=" + "-".join(map(str, order)), topology):
            return f"DOR {{ order: {list(order)} }}", 1, kind == "Torus"
    if kind == "Mesh" and len(topology.radices) == 2 and routing == routing_of("o1turn", topology):
        reserved = "reserved_virtual_channels_order01: [0], reserved_virtual_channels_order10: [1]"
        return f"O1TURN {{ {reserved} }}", 2, False
    if routing == routing_of("ecmp", topology):
        hops = _diameter(routing)
        channels = [*([lane] for lane in range(hops)), list(range(hops))]
        return f"ChannelsPerHop {{ routing: Shortest, channels: {channels} }}", hops, False
    known = "dor" + (" and o1turn" if kind == "Mesh" else "") if kind else ""
    raise RoutingError(
        f"CAMINOS cannot simulate {routing.spec} on {topology.spec}: it has "
        f"{f'{known} here, and ' if known else ''}ecmp (its Shortest)"
    )


def _diameter(routing: Routing) -> int:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    topology = routing.topology
    ones = np.ones(topology.channels)
    near = csr_array((ones, (topology.tail, topology.head)), shape=(topology.nodes, topology.nodes))
    diameter = float(shortest_path(near, unweighted=True).max())
    if not np.isfinite(diameter):
        raise RoutingError(f"{routing.spec} has no path for some pairs of {topology.spec}, which is disconnected")
    return int(diameter)


def _adjacency(topology: Topology) -> Iterator[str]:
    """Yield the lines of a network: the nodes, the largest degree, and the neighbors of every node."""
    near: list[list[int]] = [[] for _ in range(topology.nodes)]
    for tail, head in zip(topology.tail.tolist(), topology.head.tolist(), strict=True):
        near[tail].append(head)
    yield f"NODOS {topology.nodes}\nGRADO {max(map(len, near))}\n"
    for node, others in enumerate(near):
        yield f"N {node}\n{' '.join(map(str, others))}\n"


def _literal(name: str) -> str:
    """Return a file name as a string of CAMINOS, which has no escapes."""
    if any(c in '"\\' or not c.isprintable() for c in name):
        raise TopologyError(f"CAMINOS cannot open a file called {name!r}: choose another name")
    return f'"{name}"'
