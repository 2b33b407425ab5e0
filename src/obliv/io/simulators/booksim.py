"""Simulations for BookSim2: a configuration, and an ``anynet`` file where BookSim2 lacks the network."""

from __future__ import annotations

import re
from collections import deque
from fractions import Fraction
from math import lcm
from pathlib import Path

import numpy as np

from obliv._util.files import together, write_whole
from obliv._util.rationals import boolean, real
from obliv._util.text import plural
from obliv._util.typing import IntArray
from obliv.errors import InputError, RoutingError, TrafficError
from obliv.io.formats.anynet import require_anynet, write_anynet
from obliv.io.simulators.booksim_paths import Lanes, listed_paths, routers_of, write_header
from obliv.io.simulators.saturation import saturation
from obliv.patterns.base import Traffic
from obliv.patterns.make import traffic as traffic_of
from obliv.routings.base import Routing
from obliv.routings.checks import checked_paths
from obliv.routings.make import routing as routing_of
from obliv.topologies.base import Topology

__all__ = ["write_booksim"]

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

    Parameters
    ----------
    routing : Routing
        On meshes and tori of equal radices ``dor``, ``o1turn`` (two dimensions), ``romm:xy`` and ``valiant``: BookSim2
        has these networks and routings. On all other networks a routing whose paths are those of BookSim2's ``min``.
    path : str or Path
        The configuration. A network that BookSim2 lacks is written beside it, with the ending ``.anynet``.
    traffic : Traffic or str
        A pattern that BookSim2 has: ``uniform``, ``bit-complement``, ``bit-reverse``, ``shuffle``, and others where
        they are the same permutation as BookSim2's; and what all terminals send alike, such as ``hot-nodes``.
    rate : float
        Packets of one flit per cycle that every node injects.
    paths : bool
        Whether to list the paths, of any routing, for a routing function that BookSim2 lacks. It is written, too, as
        ``paths_anynet.hpp``, whose first lines say how to add it to BookSim2.
    lanes : callable, optional
        With `paths`: the class of virtual channels that each channel of a path takes, whole numbers from 0, as
        :func:`obliv.lanes_of` gives them for a scheme. Default: all packets share all virtual channels.

    Returns
    -------
    tuple of Path
        The files that were written.

    Raises
    ------
    RoutingError, TrafficError, TopologyError
        If BookSim2 cannot simulate the routing, the traffic or the network.
    InputError
        If it cannot read the name of the network file, the rate is no number, or `lanes` is not for listed paths.

    Notes
    -----
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
    if not 0 < (rate := real(rate, "rate")) <= 1:
        raise TrafficError(f"an injection rate of {rate:g}: choose a number above 0, up to 1")
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
        require_anynet(topology)
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
            function, (listed, channels) = "paths", listed_paths(routing, lanes or _shared)
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


def _shared(channels: tuple[int, ...]) -> list[int]:
    """Return one class of virtual channels for all hops."""
    return [0] * len(channels)


def _cube(topology: Topology) -> tuple[str, int, int] | None:
    """Return kind of axis, radix and dimensions of a mesh or torus of BookSim2; None for other networks."""
    if not topology.axes or not topology.all_terminals:
        return None
    if not (topology.unit_bandwidth and topology.unit_rates):
        return None
    kinds = {(along.kind, along.radix) for along in topology.axes}
    kind, radix = next(iter(kinds))
    if len(kinds) > 1 or kind not in ("line", "ring") or (kind == "ring" and radix < 3):
        return None
    return kind, radix, len(topology.axes)


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
