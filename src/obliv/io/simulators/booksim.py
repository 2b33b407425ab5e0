"""Simulations for BookSim2: configuration, network, router, and the rate at which a simulation saturates."""

from __future__ import annotations

import re
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from pathlib import Path
from shlex import quote
from typing import Literal, NamedTuple

import numpy as np

from obliv._util.arrays import IntArray
from obliv._util.files import together, write_whole
from obliv._util.progress import Progress, rising, within
from obliv._util.rationals import boolean, real
from obliv._util.text import plural
from obliv.errors import FileError, InputError, RoutingError, TooLargeError, TrafficError
from obliv.io.formats.anynet import write_anynet
from obliv.io.formats.gml import require_plain
from obliv.io.simulators.booksim_listed import (
    PATHS_HEADER,
    TRAFFIC_HEADER,
    Lanes,
    header,
    listed_paths,
    listed_traffic,
    routers_of,
)
from obliv.io.simulators.routes import require_rate
from obliv.patterns.base import Traffic
from obliv.patterns.base import traffic as traffic_of
from obliv.questions.deadlocks.deadlock import deadlock
from obliv.questions.deadlocks.graph import SCHEMES
from obliv.questions.deadlocks.paths import lanes_of
from obliv.questions.throughput import Bottleneck, bottleneck
from obliv.results.numbers import inverse, known, shown
from obliv.routings.base import Routing
from obliv.routings.make import routing as routing_of
from obliv.routings.paths import checked_paths
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import axes_of, directions_of

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
    ("ring", "dor", "dim_order", 2),
)
#: Its ``valiant`` is left out. On meshes a packet of the first phase takes any virtual channel at the router of its
#: destination, which it may merely pass: packets deadlock, with any number of virtual channels. On tori and rings an
#: assertion of BookSim2 fails at once.

Router = Literal["ideal", "lean"]

_VIRTUAL_CHANNELS = 8  # that an ideal router has at least

#: Settings of an ideal router, which hides nothing of the network, and what they are for.
_IDEAL = (
    ("vc_buf_size = 16;", "flits for each virtual channel: more than a round trip of credits takes"),
    ("internal_speedup = 2.0;", "the crossbar is twice as fast as the links, so that allocation does not limit them"),
)
_RUN = (
    ("sim_type = throughput;", "measures whether all that is offered is accepted, and does not stop above saturation"),
    ("sample_period = 5000;", "cycles; a node counts 5000 * injection_rate packets in each"),
    ("warmup_periods = 1;", "left out of the measurement; at least three are measured"),
)
_LEAN = "the fewest virtual channels, else BookSim2's defaults: mostly saturates at 25 to 45 % of the predicted rate"


_FILE = re.compile(r"[A-Za-z_-][A-Za-z0-9_.-]*")  # words of its configurations


def write_booksim(
    routing: Routing,
    path: str | Path,
    traffic: Traffic | str = "uniform",
    *,
    rate: float = 0.1,
    paths: bool = False,
    lanes: Lanes | None = None,
    router: Router = "ideal",
    progress: Progress | None = None,
) -> tuple[Path, ...]:
    """Write a BookSim2 simulation of a routing under a traffic pattern.

    The second line of the configuration is the saturation to be expected: the ideal throughput of the traffic, exactly,
    which no simulator exceeds.

    Parameters
    ----------
    routing : Routing
    path : str or Path
        The configuration; other files are written beside it.
    traffic : Traffic or str
        What BookSim2 has no pattern for is listed in a file, which a header reads: see :func:`extend_booksim`.
    rate : float
        Packets per node and cycle.
    paths : bool
        Whether to list the paths in a file, which a header reads. Otherwise BookSim2 must have the routing. All pairs
        are compared: its ``min`` follows, from each router, the shortest path whose routers, from the destination
        backwards, have the lowest numbers.
    lanes : callable, optional
        With listed paths: the class of virtual channels of each channel of a path, as of :func:`obliv.lanes_of`.
    router : {"ideal", "lean"}
        An ideal router (8 virtual channels or the next multiple of the classes, buffers of 16 flits, speedup 2) shows
        the limits of the network; a lean one has the fewest virtual channels and mostly reaches 25 to 45 % of them.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    tuple of Path
        The files that were written, the configuration first.

    Examples
    --------
    >>> import obliv, tempfile
    >>> path = Path(tempfile.mkdtemp(), "torus.cfg")
    >>> _ = write_booksim(obliv.DOR(obliv.torus(4, 4)), path, "transpose")
    >>> print(path.read_text())
    // dor on torus:4x4 under transpose
    // predicted saturation: at most 2/3 = 0.666667 packets per node and cycle, limited by channel (0,0) -> (0,1)
    // other rates: booksim torus.cfg injection_rate=0.3
    topology = torus;
    k = 4;
    n = 2;
    routing_function = dim_order;
    num_vcs = 8;  // at least 8, and a multiple of the 2 classes that avoid deadlock
    vc_buf_size = 16;  // flits for each virtual channel: more than a round trip of credits takes
    internal_speedup = 2.0;  // the crossbar is twice as fast as the links, so that allocation does not limit them
    traffic = transpose;
    packet_size = 1;
    injection_rate = 0.1;
    sim_type = throughput;  // measures whether all that is offered is accepted, and does not stop above saturation
    sample_period = 5000;  // cycles; a node counts 5000 * injection_rate packets in each
    warmup_periods = 1;  // left out of the measurement; at least three are measured
    <BLANKLINE>
    """
    paths = boolean(paths, "paths")
    path, topology = Path(path), routing.topology
    pattern = traffic_of(traffic, topology)
    if lanes is not None and not (paths and callable(lanes)):
        raise InputError("lanes is a function of the channels of a path, for listed paths: add paths=True")
    require_rate(rate := real(rate, "rate"))
    if router not in ("ideal", "lean"):
        raise InputError.naming("{router}={0!r}: choose ideal or lean", router)
    cube = cube_of(topology)
    call = None if cube is None or paths else _function(routing, cube[0])
    beside: dict[Path, bytes] = {}  # network files are written by a function of their own
    file, network_file = path.with_suffix(".anynet"), call is None
    if cube is not None and call is not None:
        name = {"line": "mesh", "ring": "torus"}[cube[0]]
        network = [f"topology = {name};", f"k = {cube[1]};", f"n = {cube[2]};"]
        function, classes = call
    else:
        require_plain(topology, "BookSim2's anynet", linked=False)
        _require_name(file)
        network = ["topology = anynet;", f"network_file = {file.name};"]
        if paths:
            listed, classes = listed_paths(routing, lanes or (lambda path: [0] * len(path)), rising(progress))
            function = "paths"
            beside[file.with_name(f"{file.name}.paths")] = listed.encode("ascii")
            beside[path.with_name(PATHS_HEADER)] = header(PATHS_HEADER)
        else:
            _require_min(routing, cube)
            function, classes = "min", 1
    sent = _pattern(pattern, None if cube is None or call is None else cube[1:])
    offered = [f"traffic = {sent};"]
    if sent is None:
        file_of_rates = path.with_suffix(".traffic")
        _require_name(file_of_rates)
        _require_rate_below_one(pattern, rate)
        offered = [f"traffic = listed({file_of_rates.name});", f"injection_process = listed({file_of_rates.name});"]
        beside[file_of_rates] = listed_traffic(pattern).encode("ascii")
        beside[path.with_name(TRAFFIC_HEADER)] = header(TRAFFIC_HEADER)
    limit = saturation(routing, pattern)
    remarks = [f"{routing.spec} on {topology.spec} under {pattern.spec}"]
    remarks += [] if limit is None else [f"predicted saturation: {limit}"]
    remarks += [f"other rates: booksim {quote(path.name)} injection_rate=0.3"] + [_LEAN] * (router == "lean")
    lines = [
        *("// " + remark.replace("\n", " ") for remark in remarks),
        *network,
        f"routing_function = {function};",
        *_router_of(router, classes),
        *offered,
        "packet_size = 1;",
        f"injection_rate = {rate:g};",
        *(f"{setting}  // {why}" for setting, why in _RUN),
    ]
    written = [path, *([file] if network_file else []), *beside]
    if written.count(path) > 1:
        raise FileError("another file of the simulation has this name: choose one that ends with .cfg", path)
    with together():
        if network_file:
            write_anynet(topology, file)
        for one, content in beside.items():
            write_whole(one, content)
        write_whole(path, ("\n".join(lines) + "\n").encode("utf-8"))
    return tuple(written)


class Written(NamedTuple):
    """A simulation that was written, the scheme of its virtual channels, and whether packets cannot deadlock."""

    files: tuple[Path, ...]
    scheme: str
    acyclic: bool


def write_without_deadlock(
    routing: Routing,
    path: Path,
    traffic: Traffic,
    *,
    rate: float = 0.1,
    paths: bool = False,
    vc: str | None = None,
    router: Router = "ideal",
    progress: Progress | None = None,
) -> Written:
    """Write a simulation as :func:`write_booksim`, listed paths with virtual channels by a scheme without deadlock."""
    step = rising(progress)
    scheme, acyclic = _scheme(routing, vc, within(step, 0, 1 / 2)) if paths else ("none", True)
    lanes = lanes_of(routing.topology, scheme) if paths else None
    onward = within(step, 1 / 2, 1)
    files = write_booksim(routing, path, traffic, rate=rate, paths=paths, lanes=lanes, router=router, progress=onward)
    if not paths and path.with_suffix(".anynet") in files:  # its functions for meshes and tori cannot deadlock
        acyclic = deadlock(routing, progress=onward).acyclic
    return Written(files, scheme, acyclic)


def _scheme(routing: Routing, vc: str | None, step: Progress) -> tuple[str, bool]:
    """Return a scheme that gives paths alone their virtual channels, and whether it avoids deadlock."""
    if vc is not None:
        lanes_of(routing.topology, vc)  # refuses what needs phases before anything is solved
        return vc, deadlock(routing, vc, progress=step).acyclic
    where = directions_of(routing.topology)
    wraps = where is not None and bool(where.wraps.any())
    best, fewest = "", 0
    for done, name in enumerate(SCHEMES):  # none comes first
        if name.endswith("dateline") and not wraps:
            continue  # the same as without
        with suppress(RoutingError, TooLargeError):
            lanes_of(routing.topology, name)
            found = deadlock(routing, name, progress=within(step, done / len(SCHEMES), (done + 1) / len(SCHEMES)))
            if found.acyclic and (not fewest or found.virtual_channels < fewest):
                best, fewest = name, found.virtual_channels
        if 0 < fewest <= 2:  # with one the graph of none is acyclic; no scheme has fewer than two where it is not
            break
    if not best:
        raise RoutingError.naming(
            "{0}: no virtual-channel scheme that paths alone show is known to avoid deadlock here: add {vc}='none' "
            "to write a simulation that may deadlock",
            f"{routing.spec} on {routing.topology.spec}",
        )
    return best, True


def _router_of(router: Router, classes: int) -> list[str]:
    """Return the settings of a router whose virtual channels are divided into some classes."""
    if router == "lean":
        return [f"num_vcs = {classes};"]
    several = "" if classes == 1 else f", and a multiple of the {classes} classes that avoid deadlock"
    number = -(-_VIRTUAL_CHANNELS // classes) * classes
    channels = (f"num_vcs = {number};", f"at least {_VIRTUAL_CHANNELS}{several}")
    return [f"{setting}  // {why}" for setting, why in (channels, *_IDEAL)]


def _require_name(file: Path) -> None:
    """Refuse a file whose name cannot stand in a configuration."""
    if not _FILE.fullmatch(file.name):
        raise InputError(
            f"BookSim2 cannot read the name of the file {file.name!r} in its configuration: choose a name "
            "that begins with a letter, and has letters, digits, _, - and . only"
        )


def _require_rate_below_one(traffic: Traffic, rate: float) -> None:
    """Refuse listed traffic of which a terminal would send more than one packet per cycle."""
    most = max(traffic.row_sums)
    if most * Fraction(rate) > 1:
        raise TrafficError(
            f"{traffic.spec}: a terminal sends {shown(most)} packets per cycle, {float(most) * rate:g} at a rate of "
            f"{rate:g}; a node of BookSim2 sends one at most: choose a rate of at most {shown(1 / most)}"
        )


def cube_of(topology: Topology) -> tuple[str, int, int] | None:
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


def _require_min(routing: Routing, cube: tuple[str, int, int] | None) -> None:
    """Raise RoutingError unless every path is the one that BookSim2's ``min`` takes."""
    topology = routing.topology
    if cube is not None and routing == routing_of("valiant", topology):
        raise RoutingError.naming(
            "BookSim2's own valiant {0}: {paths}=True writes a routing function that does not",
            "deadlocks on meshes" if cube[0] == "line" else "aborts on tori and rings",
        )
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
        known = ", ".join(spec for spec, *_ in (_specs(cube[0], cube[2]) if cube else ())) or (
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


def _pattern(traffic: Traffic, digits: tuple[int, int] | None) -> str | None:
    """Return the name of BookSim2's pattern with the same rates; None where there is none."""
    n = traffic.terminals
    if traffic.uniform == 1 and not len(traffic.amount):
        return "uniform"
    if traffic.is_permutation:
        order = np.argsort(traffic.source)
        for name, image in _permutations(n, digits).items():
            if len(order) == n and np.array_equal(traffic.destination[order], image):
                return name
        return None
    rates = _alike(traffic)
    if rates and sum(rates.values()) < 2**31:  # its weights are integers of C++
        return f"hotspot({{{{{','.join(map(str, rates))}}},{{{','.join(map(str, rates.values()))}}}}})"
    return None


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
