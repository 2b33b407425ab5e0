"""The worst case of every channel (Towles, section 2), classes of channels, heaviest permutations in traffic."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from obliv._util.progress import Progress, rising, within
from obliv._util.rationals import boolean
from obliv._util.text import plural
from obliv.errors import InputError
from obliv.loads.base import Problem, calls_of, one_after_another, require_channels
from obliv.patterns.base import Traffic, birkhoff
from obliv.patterns.base import traffic as traffic_of
from obliv.questions.subject import Subject, by_specs, identity, loads_of, sources_of, subject_of, with_known_capacity
from obliv.questions.worst_case import FLOWS, WorstCase, WorstTraffic, orbits, verified, worst_case
from obliv.results.base import CERTIFICATE, NO_CAPACITY, NO_LOAD, Channel, Plane, Result
from obliv.results.codec import PACKED, Record, derived, entry
from obliv.results.numbers import short, shown
from obliv.topologies.cartesian import terminal_map

if TYPE_CHECKING:
    from concurrent.futures import Executor


# The worst case of every channel, and which channels are alike


#: Classes of channels that are listed in text.
_LISTED = 40


@dataclass(frozen=True)
class ChannelWorst(Record):
    """The worst case of one channel.

    Parameters
    ----------
    channel : Channel
        Its number, and the nodes at its ends.
    channel_load : Fraction
        The largest load that admissible traffic puts on it, per bandwidth.
    focus : int
        The first channel of its class: a symmetry of the routing carries one onto the other.
    """

    channel: Channel = entry(column="channel")
    channel_load: Fraction = entry(column="channel_load")
    focus: int = entry(column="focus")


@dataclass(frozen=True, repr=False)
class WorstChannels(Result):
    """The exact worst case of every channel, and the symmetries that were verified.

    Examples
    --------
    >>> import obliv
    >>> obliv.worst_channels(obliv.DOR(obliv.mesh(2, 2)))
    worst-channels: dor on mesh:2x2
      channel load    1
      network         edge-symmetric: one class of channels
      routing         2 classes of channels
      (0,0) -> (1,0)  1, 4 channels alike
      (0,0) -> (0,1)  1, 4 channels alike
    """

    kind: ClassVar[str] = "worst-channels"
    on_network: ClassVar[bool] = True
    table: ClassVar[str] = "channels"

    capacity: Fraction | None = entry(None, reason=NO_CAPACITY)
    rated: bool = entry(False, omit=lambda result: not result.rated)
    network_classes: int = entry(0)
    routing_classes: int = entry(0)
    channels: tuple[ChannelWorst, ...] = ()
    places: tuple[str, ...] = entry((), compare=False, omit=lambda worst: not worst.places)

    @property
    @derived()
    def channel_load(self) -> Fraction:
        """The largest load of all channels."""
        return max((row.channel_load for row in self.channels), default=Fraction(0))

    @property
    @derived(reason=NO_LOAD)
    def throughput(self) -> Fraction | None:
        """Guaranteed packets per node and cycle, if `rated` times the rates; None if no channel is loaded."""
        return 1 / self.channel_load if self.channel_load else None

    @property
    @derived(reason=lambda worst: NO_CAPACITY if worst.capacity is None else NO_LOAD)
    def fraction_of_capacity(self) -> Fraction | None:
        """Guaranteed throughput divided by that of uniform traffic under the best routing."""
        return None if self.capacity is None or self.throughput is None else self.throughput / self.capacity

    def plane(self) -> Plane:
        """Return the worst load of each channel; unlike those of one traffic they are not attained together."""
        load = f"largest channel load {short(self.channel_load)}"
        heading = ["{subject}: each channel under its own worst traffic", load]
        return Plane([row.channel_load for row in self.channels], heading)

    channel: Channel | None = entry(None, reason="the network has no channels", compare=False)
    permutation: tuple[int, ...] | None = entry(
        None, codec=PACKED, omit=lambda worst: worst.permutation is None, compare=False
    )
    traffic: tuple[tuple[int, int, Fraction], ...] | None = entry(
        None, codec=FLOWS, omit=lambda worst: worst.traffic is None, compare=False
    )
    certificate: dict[str, Any] | None = entry(
        None, codec=CERTIFICATE, omit=lambda worst: worst.certificate is None, rank=2
    )

    def summary(self) -> list[tuple[str, str]]:
        if not self.channels:
            return [("channel load", "the network has no channels")]
        low, high = min(row.channel_load for row in self.channels), self.channel_load
        lines = [
            ("channel load", shown(high) if low == high else f"{shown(low)} to {shown(high)}"),
            ("network", _classes(self.network_classes, "edge-symmetric", " under the known symmetries")),
            ("routing", _classes(self.routing_classes, "looks the same from every channel", "")),
        ]
        sizes = Counter(row.focus for row in self.channels)
        focus = sorted((row for row in self.channels if row.channel.id == row.focus), key=lambda row: -row.channel_load)
        for row in focus[:_LISTED]:
            at = row.channel
            place = self.places[at.id] if self.places else f"{at.tail} -> {at.head}"
            lines.append((place, f"{shown(row.channel_load)}, {plural(sizes[row.focus], 'channel', 'channels alike')}"))
        if len(focus) > _LISTED:
            lines.append(("", f"and {len(focus) - _LISTED} more classes; every channel in CSV"))
        return lines


def _classes(number: int, alone: str, among: str) -> str:
    return f"{alone}: one class of channels" if number == 1 else f"{number} classes of channels{among}"


@by_specs
def worst_channels(
    x: Subject,
    *,
    symmetry: str = "auto",
    certificate: bool = False,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> WorstChannels:
    """Return the worst case of every channel, and which channels are alike.

    Parameters
    ----------
    x : Routing or PairLoads
    symmetry : {"auto", "search", "off"}
        As for :func:`obliv.worst_case`.
    certificate : bool
        Whether to keep what proves the largest load, and with it that no channel exceeds it.
    executor : concurrent.futures.Executor, optional
        As for :func:`obliv.worst_case`.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    WorstChannels
        Exact. One channel of each class is solved; classes are those of the symmetries verified on the pair loads.

    Raises
    ------
    InputError
        If the pair loads are estimates.

    References
    ----------
    [Tow01] B. Towles, "Finding worst-case permutations for oblivious routing algorithms", Stanford CVA memo 121, 2001.

    Examples
    --------
    >>> import obliv
    >>> result = obliv.worst_channels(obliv.DOR(obliv.mesh(3, 2)))
    >>> sorted({row.channel_load for row in result.channels})
    [Fraction(1, 1), Fraction(2, 1)]
    """
    certificate = boolean(certificate, "certificate")
    began = time.perf_counter()
    step = rising(progress)
    subject = subject_of(x, "worst_channels")
    loads = loads_of(subject, "worst_channels", within(step, 0.0, 0.3))
    topology, rates = loads.topology, loads.rates
    focus = orbits(topology, verified(loads, symmetry, within(step, 0.3, 0.3))).focus
    load: dict[int, Fraction] = {}
    classes = sorted(set(focus.tolist()))
    step = within(step, 0.3, 1.0)
    with calls_of(Problem(loads, rates, prices=False), executor, step) as calls:
        require_channels(np.array(classes, np.int64), calls)
        for solved in one_after_another(np.array(classes, np.int64), step, calls):
            for channel, solution in solved:
                units = loads.denominator * rates.scale
                load[channel] = Fraction(solution.value, units) / topology.bandwidth_of(channel)
    rows = [
        ChannelWorst(channel=Channel(c, tail, head), channel_load=load[of], focus=of)
        for c, (tail, head, of) in enumerate(
            zip(topology.tail.tolist(), topology.head.tolist(), focus.tolist(), strict=True)
        )
    ]
    proof = worst_case(loads, symmetry=symmetry, certificate=True, executor=executor) if certificate and rows else None
    largest = max((row.channel_load for row in rows), default=Fraction(0))
    first = next((row.channel for row in rows if row.channel_load == largest), None)
    known = [g for g in topology.generators if terminal_map(topology, g) is not None]
    return WorstChannels(
        **identity(subject, began),
        subject=x,
        capacity=with_known_capacity(topology).capacity,
        rated=not topology.unit_rates,
        network_classes=len(np.unique(orbits(topology, known).focus)),
        routing_classes=len(load),
        channels=tuple(rows),
        channel=proof.channel if proof else first,
        permutation=proof.permutation if proof else None,
        traffic=proof.traffic if proof else None,
        certificate=proof.certificate and {**proof.certificate, "sources": dict(sources_of(subject))}
        if proof
        else None,
        places=tuple(topology.channel_name(c) for c in range(len(rows))),
    )


# The heaviest permutation in a traffic matrix: the step of Towles' Theorem 1


@by_specs
def heaviest_permutation(
    x: Subject, traffic: str | Traffic, *, progress: Progress | None = None
) -> HeaviestPermutation:
    """Return the permutation of a traffic matrix that loads the matrix's worst channel most.

    Parameters
    ----------
    x : Routing or PairLoads
    traffic : Traffic or str
        Row and column sums at most 1.
    progress : callable, optional
        Called with what is being done and the share that is done, from 0 to 1.

    Returns
    -------
    HeaviestPermutation
        Exact. Its load is at least that of the traffic: no traffic is worse than every permutation (Theorem 1).

    Raises
    ------
    TrafficError
        If a row or column of the traffic adds up to more than 1.
    InputError
        If the network has no channels, or its terminals have rates.

    References
    ----------
    [Tow01] B. Towles, "Finding worst-case permutations for oblivious routing algorithms", Stanford CVA memo 121, 2001,
    Theorem 1.

    Examples
    --------
    >>> import obliv
    >>> result = obliv.heaviest_permutation(obliv.DOR(obliv.mesh(3, 3)), "uniform")
    >>> result.channel_load, result.traffic_load
    (Fraction(1, 1), Fraction(2, 3))
    """
    began = time.perf_counter()
    subject = subject_of(x, "heaviest_permutation")
    loads = loads_of(subject, "heaviest_permutation", progress)
    topology = loads.topology
    if not topology.unit_rates:
        raise InputError(f"{topology.spec}: permutations need terminals of rate 1")
    flow = traffic_of(traffic, topology)
    under = loads.under(flow)
    if not under:
        raise InputError(f"{topology.spec} has no channels")
    worst = max(range(len(under)), key=under.__getitem__)
    source, destination, numerator = loads.weights(worst).spread()
    crossing = dict(zip(zip(source.tolist(), destination.tolist(), strict=True), numerator.tolist(), strict=True))
    heaviest, weight, image = max(
        (sum(crossing.get(pair, 0) for pair in enumerate(image)), weight, image) for weight, image in birkhoff(flow)
    )
    load = Fraction(heaviest, loads.denominator) / topology.bandwidth_of(worst)
    return HeaviestPermutation(
        **identity(subject, began, sources=flow.sources, traffic=flow.spec),
        subject=x,
        traffic=flow.spec,
        channel=Channel(worst, int(topology.tail[worst]), int(topology.head[worst])),
        name=topology.channel_name(worst),
        channel_load=load,
        traffic_load=under[worst],
        weight=weight,
        permutation=image,
    )


# The heaviest permutation in a traffic matrix


@dataclass(frozen=True, repr=False)
class HeaviestPermutation(Result):
    """The permutation in a traffic matrix that loads the matrix's worst channel most.

    Parameters
    ----------
    traffic : str
        Spec of the matrix.
    channel : Channel
        The channel that the matrix loads most.
    name : str
        Its name.
    channel_load, traffic_load : Fraction
        The load of that channel under the permutation, and under the matrix: the first is at least the second.
    weight : Fraction
        The share of the permutation in the matrix.
    permutation : tuple of int
        The destination of every terminal.

    Examples
    --------
    >>> import obliv
    >>> obliv.heaviest_permutation(obliv.DOR(obliv.mesh(3, 3)), "uniform")
    heaviest-permutation: dor on mesh:3x3
      traffic       uniform
      worst channel  0: (0,0) -> (1,0)
      channel load  1
      under traffic  2/3 = 0.666667
      share         1/9 = 0.111111
    """

    kind: ClassVar[str] = "heaviest-permutation"

    traffic: str = entry("", label="traffic", text=lambda result: result.traffic, column="traffic")
    channel: Channel = entry(
        Channel(0, 0, 0),
        label="worst channel",
        text=lambda result: f"{result.channel.id}: {result.name}",
        column="channel",
    )
    name: str = entry("", key="channel_name")
    channel_load: Fraction = entry(Fraction(0), label="channel load", column="channel_load")
    traffic_load: Fraction = entry(Fraction(0), label="under traffic", column="traffic_load")
    weight: Fraction = entry(Fraction(0), label="share", column="weight")
    permutation: tuple[int, ...] = entry((), codec=PACKED)

    def worst_traffic(self) -> WorstTraffic:
        """Return what a picture shows."""
        case = WorstCase(
            topology=self.topology,
            routing=self.routing,
            subject=self.subject,
            channel_load=self.channel_load,
            channel=self.channel,
            permutation=self.permutation,
        )
        heading = [f"{{subject}}: heaviest permutation in {self.traffic}", f"channel load {short(self.channel_load)}"]
        return WorstTraffic(case, heading, [f"under all of {self.traffic}: {short(self.traffic_load)}"])
