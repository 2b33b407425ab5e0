"""Simulations for BookSim2: configuration, network, listed paths, and the rate at which a simulation saturates."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from obliv._util.arrays import IntArray
from obliv._util.files import together, write_whole
from obliv._util.rationals import boolean, real
from obliv._util.text import plural
from obliv.errors import InputError, RoutingError, TooLargeError, TrafficError
from obliv.io.formats.anynet import hosts_and_routers, write_anynet
from obliv.io.formats.gml import require_plain
from obliv.io.simulators.routes import require_rate
from obliv.patterns.base import Traffic
from obliv.patterns.base import traffic as traffic_of
from obliv.questions.throughput import Bottleneck, bottleneck
from obliv.results.numbers import inverse, known, shown
from obliv.routings.base import Routing
from obliv.routings.make import routing as routing_of
from obliv.routings.paths import checked_paths
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import axes_of

# Listed paths for BookSim2, and the routing function that follows them


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
    """Return paths as lines of routers, output ports and lanes, numbered as in BookSim2; and how many lanes."""
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


# The rate at which a simulation saturates at the latest


@dataclass(frozen=True)
class Saturation:
    """The largest rate, in packets per node and cycle, and the channel or terminal that carries no more."""

    rate: Fraction
    limited_by: Bottleneck

    def __str__(self) -> str:
        packets = "packet" if self.rate == 1 else "packets"
        return f"at most {shown(self.rate)} {packets} per node and cycle, limited by {self.limited_by}"


def saturation(routing: Routing, traffic: Traffic) -> Saturation | None:
    """Return the ideal throughput of a routing under a traffic, exactly; None where there is no traffic."""
    topology = routing.topology
    busiest = traffic.busiest_terminal(topology.injection, topology.ejection)
    if busiest is None:
        return None
    under = routing.pair_loads().under(traffic)
    worst = max(range(len(under)), key=under.__getitem__, default=-1)
    through = None if worst < 0 else inverse(under[worst])
    rates = [1 / busiest[0], *([] if through is None else [known(through)])]
    return Saturation(min(rates), bottleneck(topology, worst, through, busiest))


#: Routings of BookSim2 on k-ary n-cubes: kind of axis, obliv's spec (with the order of all dimensions, lowest first),
#: function and fewest virtual channels.
_FUNCTIONS = (
    ("line", "dor", "dim_order", 1),
    ("line", "o1turn", "xy_yx", 2),
    ("line", "romm:{order}", "romm", 2),
    ("line", "valiant", "valiant", 2),
    ("ring", "dor", "dim_order", 2),
    ("ring", "valiant", "valiant", 4),
)


_FILE = re.compile(r"[A-Za-z_-][A-Za-z0-9_.-]*")  # words of its configurations


def write_booksim(
    routing: Routing,
    path: str | Path,
    traffic: Traffic | str = "uniform",
    *,
    rate: float = 0.1,
    paths: bool = False,
    lanes: Lanes | None = None,
) -> tuple[Path, ...]:
    """Write a BookSim2 simulation of a routing under a traffic pattern.

    The second line of the configuration is the saturation to be expected: the ideal throughput of the traffic, exactly,
    which no simulator exceeds. All pairs are compared: BookSim2's ``min`` follows, from each router, the shortest path
    whose routers, from the destination backwards, have the lowest numbers.

    Examples
    --------
    >>> import obliv, tempfile
    >>> path = Path(tempfile.mkdtemp(), "torus.cfg")
    >>> _ = write_booksim(obliv.DOR(obliv.torus(4, 4)), path, "transpose")
    >>> print(path.read_text())
    // dor on torus:4x4 under transpose
    // predicted saturation: at most 2/3 = 0.666667 packets per node and cycle, limited by channel (0,0) -> (0,1)
    topology = torus;
    k = 4;
    n = 2;
    routing_function = dim_order;
    num_vcs = 2;
    traffic = transpose;
    packet_size = 1;
    injection_rate = 0.1;
    <BLANKLINE>
    """
    paths = boolean(paths, "paths")
    path, topology = Path(path), routing.topology
    pattern = traffic_of(traffic, topology)
    if lanes is not None and not (paths and callable(lanes)):
        raise InputError("lanes is a function of the channels of a path, for listed paths: add paths=True")
    require_rate(rate := real(rate, "rate"))
    cube = _cube(topology)
    call = None if cube is None or paths else _function(routing, cube[0])
    written, file, listed = [path], path.with_suffix(".anynet"), ""
    digits = None if cube is None or call is None else cube[1:]
    name_of_pattern = _pattern(pattern, digits)
    if cube is not None and call is not None:
        name = {"line": "mesh", "ring": "torus"}[cube[0]]
        network = [f"topology = {name};", f"k = {cube[1]};", f"n = {cube[2]};"]
        function, channels = call
    else:
        require_plain(topology, "BookSim2's anynet", linked=False)
        if not _FILE.fullmatch(file.name):
            raise InputError(
                f"BookSim2 cannot read the name of the network file {file.name!r} in its configuration: choose a name "
                "that begins with a letter, and has letters, digits, _, - and . only"
            )
        if not paths:
            _require_min(routing, "" if cube is None else cube[0])
        written.append(file)
        network = ["topology = anynet;", f"network_file = {file.name};"]
        function, channels = "min", 1
        if paths:
            function = "paths"
            listed, channels = listed_paths(routing, lanes or (lambda path: [0] * len(path)))
    limit = saturation(routing, pattern)
    remarks = [f"{routing.spec} on {topology.spec} under {pattern.spec}"]
    remarks += [] if limit is None else [f"predicted saturation: {limit}"]
    lines = [
        *("// " + remark.replace("\n", " ") for remark in remarks),
        *network,
        f"routing_function = {function};",
        f"num_vcs = {channels};",
        f"traffic = {name_of_pattern};",
        "packet_size = 1;",
        f"injection_rate = {rate:g};",
    ]
    with together():
        if call is None:
            write_anynet(topology, file)
        if paths:
            written += [file.with_name(f"{file.name}.paths"), write_header(path.parent)]
            write_whole(written[-2], listed.encode("ascii"))
        write_whole(path, ("\n".join(lines) + "\n").encode("utf-8"))
    return tuple(written)


def _cube(topology: Topology) -> tuple[str, int, int] | None:
    """Return kind of axis, radix and dimensions of a mesh or torus of BookSim2; None for other networks."""
    if not axes_of(topology) or not topology.all_terminals:
        return None
    if not (topology.unit_bandwidth and topology.unit_rates):
        return None
    kinds = {(along.kind, along.radix) for along in axes_of(topology)}
    kind, radix = next(iter(kinds))
    if len(kinds) > 1 or kind not in ("line", "ring") or (kind == "ring" and radix < 3):
        return None
    return kind, radix, len(axes_of(topology))


def _function(routing: Routing, kind: str) -> tuple[str, int] | None:
    """Return the function of BookSim2 that is this routing, and its virtual channels; None where there is none."""
    for spec, function, channels in _specs(kind, len(routing.topology.radices)):
        if routing == routing_of(spec, routing.topology):
            return function, channels
    return None


def _specs(kind: str, dimensions: int) -> list[tuple[str, str, int]]:
    """Return the routings that BookSim2 has on a cube: obliv's spec, function and fewest virtual channels."""
    order = "xyz"[:dimensions] if 1 < dimensions <= 3 else "-".join(map(str, range(dimensions)))
    return [
        (spec.format(order=order), function, channels)
        for axis, spec, function, channels in _FUNCTIONS
        if axis == kind and (spec != "o1turn" or dimensions == 2)
    ]


def _require_min(routing: Routing, kind: str) -> None:
    """Raise RoutingError unless every path is the one that BookSim2's ``min`` takes; `kind` is that of the axes."""
    topology = routing.topology
    dimensions = len(topology.radices)
    terminals = topology.terminals.tolist()
    number, home = routers_of(topology)
    host = set(terminals) - set(number)
    table = _tables(topology, number)
    wrong, first = 0, ""
    for s in terminals:
        for d in terminals:
            if s == d:
                continue
            paths = list(checked_paths(routing, s, d))
            at, expected = home[s], [home[s]]
            while at != home[d]:
                at = table[at, home[d]]
                expected.append(at)
            taken = [[s, *(int(topology.head[c]) for c in channels)] for channels, _ in paths]
            visited = [[node for node in nodes if node not in host or node not in (s, d)] for nodes in taken]
            if any(nodes != expected for nodes in visited):
                wrong += 1
                first = first or f"{topology.name_of(s)} -> {topology.name_of(d)}"
    if wrong:
        known = ", ".join(spec for spec, *_ in _specs(kind, dimensions)) or (
            "one shortest path for each pair here, of several the one whose nodes have the lowest numbers from the "
            "destination backwards"
        )
        raise RoutingError.naming(
            "BookSim2 cannot route {0}, would take other paths; it has {1}; with {paths}=True a routing function is "
            "written, too",
            f"{routing.spec} on {topology.spec}: {plural(wrong, 'pair')}, such as {first}",
            known,
        )


def _tables(topology: Topology, number: dict[int, int]) -> dict[tuple[int, int], int]:
    """Return the next router of BookSim2's ``min`` by router and destination."""
    near: dict[int, list[int]] = {node: [] for node in number}
    for tail, head in zip(topology.tail.tolist(), topology.head.tolist(), strict=True):
        if tail in number and head in number:
            near[tail].append(head)
    table: dict[tuple[int, int], int] = {}
    for start in number:
        level, before = {start: 0}, {start: start}
        queue = deque([start])
        layer: list[int]
        while queue:
            layer = sorted(queue, key=number.__getitem__)
            queue.clear()
            for node in layer:  # the first router to reach another one stays its predecessor
                for other in near[node]:
                    if other not in level:
                        level[other], before[other] = level[node] + 1, node
                        queue.append(other)
        for end in level:
            node = end
            while before[node] != start:
                node = before[node]
            table[start, end] = node
    return table


def _pattern(traffic: Traffic, digits: tuple[int, int] | None) -> str:
    """Return the name of BookSim2's pattern with the same rates."""
    n = traffic.terminals
    if traffic.uniform == 1 and not len(traffic.amount):
        return "uniform"
    if traffic.is_permutation:
        order = np.argsort(traffic.source)
        for name, image in _permutations(n, digits).items():
            if len(order) == n and np.array_equal(traffic.destination[order], image):
                return name
    rates = _alike(traffic)
    if rates and sum(rates.values()) >= 2**31:
        raise TrafficError(
            f"{traffic.spec}: BookSim2's hotspot takes whole weights, which add up to {sum(rates.values())} here, "
            "2147483647 at most: write shares as simple fractions, as share=1/3"
        )
    if rates:
        return f"hotspot({{{{{','.join(map(str, rates))}}},{{{','.join(map(str, rates.values()))}}}}})"
    raise TrafficError(
        f"BookSim2 has no pattern that is {traffic.spec} here; it has uniform, destinations that all terminals draw "
        "alike, on powers of two bitcomp, bitrev, shuffle and transpose, and on meshes and tori tornado and neighbor "
        "in every dimension at once; ns-3 takes any traffic"
    )


def _alike(traffic: Traffic) -> dict[int, int] | None:
    """Return shares of destinations as whole numbers, if every terminal sends one packet and all send alike."""
    n, order = traffic.terminals, np.lexsort([traffic.destination, traffic.source])
    if len(order) % n or not np.array_equal(traffic.source[order], np.repeat(np.arange(n), len(order) // n)):
        return None
    destination, amount = traffic.destination[order].reshape(n, -1), traffic.amount[order].reshape(n, -1)
    if (destination != destination[0]).any() or (amount != amount[0]).any():
        return None
    shares = dict.fromkeys(range(n), traffic.uniform / n)
    for node, numerator in zip(destination[0].tolist(), amount[0].tolist(), strict=True):
        shares[node] += Fraction(numerator, traffic.denominator)
    if sum(shares.values()) != 1:
        return None
    whole = lcm(*(share.denominator for share in shares.values()))
    return {node: int(share * whole) for node, share in shares.items() if share}


def _permutations(n: int, digits: tuple[int, int] | None) -> dict[str, IntArray]:
    """Return the permutations that BookSim2 has for a number of nodes, by name."""
    source = np.arange(n)
    images: dict[str, IntArray] = {}
    bits = n.bit_length() - 1
    if n == 1 << bits and bits:
        images["bitcomp"] = n - 1 - source
        images["bitrev"] = sum(((source >> b & 1) << (bits - 1 - b) for b in range(bits)), np.zeros(n, np.int64))
        images["shuffle"] = (source << 1) % n | source >> (bits - 1)
        if bits % 2 == 0:
            half = 1 << bits // 2
            images["transpose"] = source // half + source % half * half
    if digits is not None:
        radix, dimensions = digits
        for name, step in (("tornado", (radix + 1) // 2 - 1), ("neighbor", 1)):
            places = [radix**dim for dim in range(dimensions)]
            moved = (place * ((source // place + step) % radix) for place in places)
            images[name] = sum(moved, np.zeros(n, np.int64))
    return images
