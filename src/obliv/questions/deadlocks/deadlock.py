"""Deadlock: whether the channel dependency graph under a virtual-channel scheme is acyclic, and the results."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from obliv._util.files import pack
from obliv._util.progress import Progress, rising, within
from obliv._util.rationals import boolean
from obliv.errors import RoutingError, TooLargeError
from obliv.questions.deadlocks.graph import (
    COORDINATES,
    PLANE,
    PROGRAMS,
    SCHEMES,
    Dependencies,
    Graph,
    Scheme,
    directions,
    find,
    order_of,
    short_cycle,
)
from obliv.questions.deadlocks.paths import OwnScheme, follow_hops, follow_paths, follow_two_phases
from obliv.questions.deadlocks.programs import follow_programs
from obliv.questions.subject import by_specs, routing_of
from obliv.results.base import CERTIFICATE, Bar, Bars, Provenance, Result, provenance
from obliv.results.codec import Record, derived, entry
from obliv.routings.base import Routing, RoutingLike
from obliv.routings.descriptions import LaneDependencies, NextHops, OneLane, OwnLanes, Programs, TwoPhases, hop_groups
from obliv.routings.dimension_ordered import require_grid
from obliv.topologies.base import find as description
from obliv.topologies.cartesian import directions_of

# The results of a deadlock analysis: one scheme's channel dependency graph, and all schemes side by side


@dataclass(frozen=True)
class VirtualChannel(Record):
    """A virtual channel of a link: the numbers of both, and the ends of the link."""

    channel: int
    virtual_channel: int
    tail: int
    head: int


@dataclass(frozen=True, repr=False)
class Deadlock(Result):
    """Result of a deadlock check: whether the channel dependency graph is acyclic, and a cycle if not.

    Examples
    --------
    >>> import obliv
    >>> obliv.deadlock(obliv.DOR(obliv.mesh(4, 4)))
    deadlock: dor on mesh:4x4
      scheme            none
      verdict           acyclic: no deadlock
      virtual channels  1 (x 1, y 1)
      dependencies      68
    >>> obliv.deadlock(obliv.DOR(obliv.ring(5)), "dateline").acyclic
    True
    """

    kind: ClassVar[str] = "deadlock"

    scheme: str = entry("none", label="scheme", text=lambda check: check.scheme, column="scheme")
    acyclic: bool = entry(
        True,
        label="verdict",
        text=lambda check: "acyclic: no deadlock" if check.acyclic else f"cyclic: {_waiting(len(check.cycle))}",
        column="acyclic",
    )
    cycle: tuple[VirtualChannel, ...] | None = None
    virtual_channels: int = entry(
        0, label="virtual channels", text=lambda check: check._counts(), column="virtual_channels"
    )
    by_dimension: dict[str, int] = entry(default_factory=dict, key="virtual_channels_by_dimension")
    dependencies: int = entry(0, label="dependencies", column="dependencies")
    certificate: dict[str, Any] | None = entry(
        None, codec=CERTIFICATE, omit=lambda check: check.certificate is None, compare=False, rank=2
    )
    places: tuple[str, ...] = entry((), compare=False, hidden=True)  # each channel of the cycle, in words

    def summary(self) -> list[tuple[str, str]]:
        lines = super().summary()
        cycle = self.cycle or ()
        places = self.places or tuple(f"{step.tail} -> {step.head}" for step in cycle)
        width = max(map(len, places), default=0)
        for at, (step, place) in enumerate(zip(cycle, places, strict=True)):
            text = f"{place:<{width}}  vc {step.virtual_channel}  channel {step.channel}"
            lines.append(("" if at else "cycle", text))
        if places:
            lines.append(("", "back to the first channel"))
        return lines

    def cells(self) -> dict[str, object]:
        """Return the row, with the cycle as channels and their virtual channels."""
        cycle = " ".join(f"{step.channel}.{step.virtual_channel}" for step in self.cycle or ())
        return super().cells() | {"cycle": cycle}

    def _counts(self) -> str:
        counts = ", ".join(f"{dimension} {count}" for dimension, count in self.by_dimension.items())
        return f"{self.virtual_channels} ({counts})" if counts else str(self.virtual_channels)


@dataclass(frozen=True)
class SchemeCount(Record):
    """A virtual-channel scheme that applies to a routing: its virtual channels, and whether it is acyclic."""

    scheme: str = entry(column="scheme")
    virtual_channels: int = entry(column="virtual_channels")
    acyclic: bool = entry(column="acyclic")
    cycle_length: int | None = entry(column="cycle_length")
    dependencies: int = entry(column="dependencies")

    @property
    def text(self) -> str:
        """The virtual channels, and whether packets can wait for each other, in words."""
        verdict = "acyclic" if self.acyclic else f"cyclic: {_waiting(self.cycle_length or 0)}"
        return f"{self.virtual_channels}  {verdict}"


@dataclass(frozen=True)
class LeftOut(Record):
    """A virtual-channel scheme that does not apply to a routing, and why."""

    scheme: str
    reason: str


@dataclass(frozen=True, repr=False)
class VirtualChannels(Result):
    """The virtual-channel schemes that apply to a routing, with their virtual channels and whether they are acyclic.

    Examples
    --------
    >>> import obliv
    >>> obliv.fewest_virtual_channels(obliv.ROMM(obliv.mesh(3, 3)))
    virtual-channels: romm on mesh:3x3
      fewest       2, by double-y
      none         1  cyclic: 4 channels can wait for each other
      phase        2  cyclic: 4 channels can wait for each other
      turn         3  acyclic
      turn+uturn   3  acyclic
      family       2  cyclic: 4 channels can wait for each other
      phase-order  4  acyclic
      double-y     2  acyclic
    """

    kind: ClassVar[str] = "virtual-channels"
    table: ClassVar[str] = "schemes"

    @property
    @derived(reason="every scheme that was tried is cyclic")
    def fewest(self) -> int | None:
        """The number of virtual channels of the best scheme; None if all schemes are cyclic."""
        return min((row.virtual_channels for row in self.schemes if row.acyclic), default=None)

    @property
    @derived(key="scheme")
    def best(self) -> str | None:
        """The first acyclic scheme with the fewest virtual channels; None if all schemes are cyclic."""
        fewest = self.fewest
        return next((row.scheme for row in self.schemes if row.acyclic and row.virtual_channels == fewest), None)

    schemes: tuple[SchemeCount, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    def summary(self) -> list[tuple[str, str]]:
        lines = [("fewest", "-: every scheme is cyclic" if self.best is None else f"{self.fewest}, by {self.best}")]
        return [*lines, *((row.scheme, row.text) for row in self.schemes)]

    def bars(self) -> Bars:
        """Return the virtual channels that each scheme needs."""
        bars = [
            Bar(row.scheme, Fraction(row.virtual_channels), "plain" if row.acyclic else "warning", row.text)
            for row in self.schemes
        ]
        verdict = "every scheme is cyclic" if self.best is None else f"fewest without deadlock: {self.summary()[0][1]}"
        return Bars(bars, "virtual channels", ["{subject}", verdict], whole=True)


def _waiting(length: int) -> str:
    return f"{length} channels can wait for each other" if length > 1 else "a channel can wait for itself"


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
    lanes = description(routing, OwnLanes) if scheme in (None, "lanes") else None
    if lanes is not None:
        return _with_lanes(routing, lanes.dependencies(), began, certificate)
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
    one = description(routing, OneLane) if isinstance(scheme, Scheme) and scheme.name == "none" else None
    programs, phases = description(routing, Programs), description(routing, TwoPhases)
    base = None if phases is None else description(phases.base, NextHops)
    groups = hop_groups(routing, routing.topology.terminals)
    if one is not None:
        plain = one.dependencies()
        collected.label((0, 0))
        collected.use(plain.used[:, 0])
        collected.follow(plain.follows[:, 0], plain.follows[:, 2])
    elif not isinstance(scheme, Scheme):
        follow_paths(routing, scheme, collected, progress)
    elif programs is not None and routing.topology.all_terminals and not scheme.ranked:
        follow_programs(require_grid(routing.topology, routing.spec), programs.programs, scheme, collected, progress)
    elif groups and scheme.turned is not None:
        for k, (sources, part) in enumerate(groups):
            follow_hops(part, scheme, collected, within(progress, k / len(groups), (k + 1) / len(groups)), sources)
    elif base is not None and scheme.name in ("none", "phase"):
        follow_two_phases(base, scheme, collected, progress)
    else:
        follow_paths(routing, scheme, collected, progress)


def _worth_trying(routing: Routing) -> list[Scheme]:
    """Return all schemes; those with datelines only where there are rings, and ``updown`` without coordinates only."""
    topology = routing.topology
    rings = bool(directions(topology).wraps.any())
    schemes = [scheme for scheme in SCHEMES.values() if rings or not scheme.dateline]
    return [scheme for scheme in schemes if not scheme.ranked or directions_of(topology) is None]


def _lacking(scheme: Scheme, routing: Routing) -> str:
    """Return what a scheme needs and a routing does not have, empty where it fits."""
    return next((need for need in scheme.needs if not _has(routing, need)), "")


def _has(routing: Routing, need: str) -> bool:
    if need == COORDINATES:
        return directions_of(routing.topology) is not None
    if need == PLANE:
        return directions_of(routing.topology) is not None and len(routing.topology.radices) == 2
    if need == PROGRAMS:
        return all(description(part, Programs) for part in _parts(routing))
    return all(description(part, Programs) or description(part, TwoPhases) for part in _parts(routing))


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
    if (where := directions_of(topology)) is not None:
        dims = where.dim[graph.channel]
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
    where = directions_of(routing.topology)
    if where is None:
        return tuple(names)
    width = max(map(len, names))
    return tuple(
        f"{name:<{width}}  {'+' if step > 0 else '-'}{_letter(dim)}"
        for name, step, dim in zip(names, where.step[channels].tolist(), where.dim[channels].tolist(), strict=True)
    )


def _letter(dim: int) -> str:
    return "xyzwvu"[dim] if dim < 6 else f"d{dim}"
