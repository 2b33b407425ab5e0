"""Deadlock: whether the channel dependency graph of a routing is acyclic under a virtual-channel scheme."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from obliv._util.codec import pack
from obliv._util.cost import forecast
from obliv._util.progress import Progress, rising, within
from obliv._util.rationals import boolean
from obliv.analysis.deadlocks.graph import Dependencies, Graph, order_of, short_cycle
from obliv.analysis.deadlocks.hops import follow_hops, follow_two_phases
from obliv.analysis.deadlocks.paths import OwnScheme, follow_paths
from obliv.analysis.deadlocks.programs import follow_programs
from obliv.analysis.deadlocks.schemes import COORDINATES, PLANE, PROGRAMS, SCHEMES, Scheme, directions, find
from obliv.analysis.subject import by_specs, routing_of
from obliv.errors import RoutingError, TooLargeError
from obliv.results import Deadlock, Provenance, VirtualChannels, provenance
from obliv.results.analysis.deadlock import LeftOut, SchemeCount, VirtualChannel
from obliv.routings.base import LaneDependencies, Routing, RoutingLike
from obliv.routings.cartesian.dimension_ordered import require_grid

__all__ = ["deadlock", "fewest_virtual_channels", "require_scheme"]


@by_specs
def deadlock(
    routing: RoutingLike,
    scheme: str | OwnScheme | None = None,
    *,
    certificate: bool = False,
    progress: Progress | None = None,
) -> Deadlock:
    """Check whether the channel dependency graph of a routing is acyclic.

    Parameters
    ----------
    routing : Routing
    scheme : str or callable, optional
        How hops take virtual channels. Default: ``lanes``, those of its SL-to-VL tables, where a fabric's routing has
        them, else ``none``. Or ``none``, ``phase``, ``turn``, ``turn+uturn``, ``family``, ``phase-order``,
        ``double-y``, ``updown``, ``dateline``, or one of the others with ``+dateline``; or a function of the routing
        and the channels of a path that returns a whole number from 0 for each hop.
    certificate : bool
        Whether to keep an order of the virtual channels in which every path leads onward, if there is no cycle.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Deadlock
        ``acyclic``; otherwise ``cycle``, a short one: each channel with its virtual channel may be used right before
        the next, the last right before the first.

    Raises
    ------
    SpecError
        If there is no such scheme, or a user's own one returns nonsense.
    RoutingError
        If the scheme needs what the routing does not have, such as phases.

    Notes
    -----
    Vertices are channels with a virtual channel; an edge leads from one to another where some path of positive
    probability between some pair of terminals uses them right after each other. An acyclic graph is deadlock-free.
    A cycle means that packets can wait for each other in a circle, if they come to hold these channels at one time.

    References
    ----------
    [DS87] W. J. Dally and C. L. Seitz, "Deadlock-free message routing in multiprocessor interconnection networks", IEEE
    Transactions on Computers C-36(5), 1987.

    Examples
    --------
    >>> import obliv
    >>> routing = obliv.routing("u2turn", obliv.mesh(4, 4))
    >>> obliv.deadlock(routing).acyclic
    False
    >>> obliv.deadlock(routing, "turn")
    deadlock: u2turn on mesh:4x4
      scheme            turn
      verdict           acyclic: no deadlock
      virtual channels  2 (x 2, y 2)
      dependencies      172
    """
    certificate = boolean(certificate, "certificate")
    began = time.perf_counter()
    routing = routing_of(routing, "deadlock")
    lanes = routing.lane_dependencies if scheme in (None, "lanes") else None
    if lanes is not None:
        return _with_lanes(routing, lanes, began, certificate)
    if scheme == "lanes":
        raise RoutingError(
            f"scheme lanes needs the lanes of an InfiniBand fabric, which {routing.spec} does not have: "
            "write lft:FILE,sl2vl=FILE,sl=FILE"
        )
    chosen = scheme if callable(scheme) else require_scheme(routing, "none" if scheme is None else scheme)
    collected = Dependencies(routing.topology.channels)
    for part in _parts(routing) if isinstance(chosen, Scheme) else [routing]:
        _follow(part, chosen, collected, rising(progress))
    graph = collected.graph()
    name = chosen.name if isinstance(chosen, Scheme) else getattr(chosen, "__name__", "own scheme")
    return _result(routing, name, graph, _numbered(collected, graph), began, certificate)


def require_scheme(routing: Routing, name: str) -> Scheme:
    """Return a virtual-channel scheme; RoutingError where the routing does not have what it needs."""
    scheme = find(name)
    if lacking := _lacking(scheme, routing):
        fitting = ", ".join(other.name for other in _worth_trying(routing) if not _lacking(other, routing))
        raise RoutingError(
            f"scheme {name} needs {lacking}, which {routing.spec} on {routing.topology.spec} does not have; "
            f"what fits: {fitting}"
        )
    return scheme


def _with_lanes(routing: Routing, lanes: LaneDependencies, began: float, certificate: bool) -> Deadlock:
    """Return the verdict with the virtual lanes of an InfiniBand fabric."""
    collected = Dependencies(routing.topology.channels)
    used, follows = lanes
    offset = np.array([collected.label(lane) for lane in range(int(used[:, 1].max(initial=0)) + 1)], np.int64)
    offset *= routing.topology.channels
    collected.use(used[:, 0] + offset[used[:, 1]])
    collected.follow(follows[:, 0] + offset[follows[:, 1]], follows[:, 2] + offset[follows[:, 3]])
    graph = collected.graph()
    return _result(routing, "lanes", graph, _numbered(collected, graph), began, certificate)


@by_specs
def fewest_virtual_channels(routing: RoutingLike, *, progress: Progress | None = None) -> VirtualChannels:
    """Try the known virtual-channel schemes that fit a routing, for the one that suffices with the fewest.

    Parameters
    ----------
    routing : Routing
    progress : callable, optional
        Called with the scheme that is being tried and the share that is done.

    Returns
    -------
    VirtualChannels
        ``fewest`` is the least that a known scheme needs; another assignment of virtual channels may need less, but
        never less than two where ``none`` is cyclic.

    Raises
    ------
    InputError
        If it is not a routing.

    Examples
    --------
    >>> import obliv
    >>> obliv.fewest_virtual_channels(obliv.routing("romm", obliv.mesh(4, 4))).fewest
    2
    """
    began = time.perf_counter()
    routing = routing_of(routing, "deadlock")
    step = rising(progress)
    rows: list[SchemeCount] = []
    left_out: list[LeftOut] = []
    schemes = _worth_trying(routing)
    for done, scheme in enumerate(schemes):
        step(scheme.name, done / len(schemes))
        if lacking := _lacking(scheme, routing):
            left_out.append(LeftOut(scheme.name, f"needs {lacking}"))
            continue
        try:
            part = within(step, done / len(schemes), (done + 1) / len(schemes))
            result = deadlock(routing, scheme.name, progress=part)
        except (RoutingError, TooLargeError) as error:
            if scheme.name == "none":
                raise
            left_out.append(LeftOut(scheme.name, str(error)))
            continue
        rows.append(
            SchemeCount(
                scheme.name,
                result.virtual_channels,
                result.acyclic,
                None if result.cycle is None else len(result.cycle),
                result.dependencies,
            )
        )
    return VirtualChannels(
        topology=routing.topology.spec,
        routing=routing.spec,
        provenance=_provenance(routing, {}, time.perf_counter() - began),
        subject=routing,
        schemes=tuple(rows),
        left_out=tuple(left_out),
    )


def _parts(routing: Routing) -> list[Routing]:
    """Return what packets follow with positive probability."""
    return [part for weight, part in routing.components() if weight]


def _follow(routing: Routing, scheme: Scheme | OwnScheme, collected: Dependencies, progress: Progress) -> None:
    """Add the dependencies of a routing in the cheapest way that is exact."""
    base = routing.phase_routing
    progress = forecast(progress, f"the dependencies of {routing.spec} on {routing.topology.spec}")
    if not isinstance(scheme, Scheme):
        follow_paths(routing, scheme, collected, progress)
    elif routing.programs and routing.topology.all_terminals and not scheme.ranked:
        follow_programs(require_grid(routing.topology, routing.spec), routing.programs, scheme, collected, progress)
    elif routing.hop_groups and scheme.turned is not None:
        groups = routing.hop_groups
        for k, (sources, part) in enumerate(groups):
            follow_hops(part, scheme, collected, within(progress, k / len(groups), (k + 1) / len(groups)), sources)
    elif base is not None and base.by_hops is not None and scheme.name in ("none", "phase"):
        follow_two_phases(base.by_hops, scheme, collected, progress)
    else:
        follow_paths(routing, scheme, collected, progress)


def _worth_trying(routing: Routing) -> list[Scheme]:
    """Return all schemes; those with datelines only where there are rings, and ``updown`` without coordinates only."""
    topology = routing.topology
    rings = bool(directions(topology).wraps.any())
    schemes = [scheme for scheme in SCHEMES.values() if rings or not scheme.dateline]
    return [scheme for scheme in schemes if not scheme.ranked or topology.directions is None]


def _lacking(scheme: Scheme, routing: Routing) -> str:
    """Return what a scheme needs and a routing does not have, empty where it fits."""
    return next((need for need in scheme.needs if not _has(routing, need)), "")


def _has(routing: Routing, need: str) -> bool:
    if need == COORDINATES:
        return routing.topology.directions is not None
    if need == PLANE:
        return routing.topology.directions is not None and len(routing.topology.radices) == 2
    if need == PROGRAMS:
        return all(part.programs for part in _parts(routing))
    return all(part.programs or part.phase_routing is not None for part in _parts(routing))


def _numbered(collected: Dependencies, graph: Graph) -> np.ndarray[Any, Any]:
    """Return the virtual channel of every vertex: labels in order, numbered from 0; a user's own numbers stay."""
    used = np.unique(graph.label).tolist()
    names = {label: collected.labels[label] for label in used}
    order = sorted(used, key=lambda label: names[label])
    number = np.zeros(len(collected.labels) + 1, np.int64)
    for at, label in enumerate(order):
        number[label] = names[label] if isinstance(names[label], int) else at
    return number[graph.label]


def _result(
    routing: Routing, scheme: str, graph: Graph, virtual: np.ndarray[Any, Any], began: float, certificate: bool
) -> Deadlock:
    topology = routing.topology
    circle = short_cycle(graph.ptr, graph.head)
    cycle = None
    places: tuple[str, ...] = ()
    if circle is not None:
        channels = [int(graph.channel[v]) for v in circle]
        cycle = tuple(
            VirtualChannel(c, int(virtual[v]), int(topology.tail[c]), int(topology.head[c]))
            for c, v in zip(channels, circle, strict=True)
        )
        places = _places(routing, channels)
    by_dimension = {}
    if topology.directions is not None:
        dims = topology.directions.dim[graph.channel]
        by_dimension = {_letter(dim): len(np.unique(virtual[dims == dim])) for dim in range(len(topology.radices))}
    proof = None
    if certificate and circle is None:
        order = order_of(graph.ptr, graph.head)
        proof = {"order": pack(np.stack([graph.channel[order], virtual[order]], axis=1))}
    return Deadlock(
        topology=topology.spec,
        routing=routing.spec,
        provenance=_provenance(routing, {"scheme": scheme}, time.perf_counter() - began),
        subject=routing,
        scheme=scheme,
        acyclic=circle is None,
        cycle=cycle,
        virtual_channels=int(virtual.max(initial=-1)) + 1,
        by_dimension=by_dimension,
        dependencies=len(graph.head),
        certificate=proof,
        places=places,
    )


def _provenance(routing: Routing, more: dict[str, str], seconds: float) -> Provenance:
    specs = {"topology": routing.topology.spec, "routing": routing.spec, **more}
    return provenance(specs, seconds, sources=routing.topology.sources + routing.sources)


def _places(routing: Routing, channels: list[int]) -> tuple[str, ...]:
    """Channels in words: their ends, and the direction where there is one."""
    names = [routing.topology.channel_name(c) for c in channels]
    where = routing.topology.directions
    if where is None:
        return tuple(names)
    width = max(map(len, names))
    return tuple(
        f"{name:<{width}}  {'+' if step > 0 else '-'}{_letter(dim)}"
        for name, step, dim in zip(names, where.step[channels].tolist(), where.dim[channels].tolist(), strict=True)
    )


def _letter(dim: int) -> str:
    return "xyzwvu"[dim] if dim < 6 else f"d{dim}"
