"""Ideal throughput under single traffic patterns, and its result."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from obliv._util.progress import Progress, rising, within
from obliv._util.rng import Rng, generator, seed_of
from obliv.errors import InputError
from obliv.loads.base import PairLoads
from obliv.patterns.base import Traffic
from obliv.patterns.base import traffic as traffic_of
from obliv.questions.locality import traffic_hops
from obliv.questions.subject import (
    Subject,
    by_specs,
    exactness_of,
    identity,
    loads_of,
    sampled_of,
    subject_of,
    with_known_capacity,
)
from obliv.results.base import NO_CAPACITY, Bar, Bars, Channel, Mark, Result
from obliv.results.codec import Record, derived, entry
from obliv.results.numbers import Estimate, capped, inverse, scaled, shown
from obliv.routings.base import Routing
from obliv.topologies.base import Topology

# The result of a throughput analysis


_NO_LOAD = "this traffic loads no channel"
_NO_TRAFFIC = "there is no traffic"
_ESTIMATED = "mean hops need exact pair loads"
_LEFT_OUT = "packets without a path are left out: give the routing instead of its pair loads"


@dataclass(frozen=True)
class Bottleneck(Record):
    """What limits the throughput of a traffic: a channel, or the link of a terminal.

    Parameters
    ----------
    kind : {"channel", "injection", "ejection"}
    name : str
        The channel as ``tail -> head``, or the terminal.
    channel : Channel, optional
        The channel, where one limits.
    terminal : int, optional
        The number of the terminal, where one limits.

    Examples
    --------
    >>> print(Bottleneck("ejection", "(1,1)", terminal=5))
    ejection at (1,1)
    """

    kind: str = entry()
    name: str = entry()
    channel: Channel | None = entry(None, omit=lambda limit: limit.channel is None)
    terminal: int | None = entry(None, omit=lambda limit: limit.terminal is None)

    @property
    @derived(column="limited_by", hidden=True)
    def text(self) -> str:
        """The bottleneck in words."""
        return f"{self.kind} {self.name}" if self.kind == "channel" else f"{self.kind} at {self.name}"

    def __str__(self) -> str:
        return self.text


def bottleneck(
    topology: Topology, channel: int, through: Fraction | Estimate | None, busiest: tuple[Fraction, str, int]
) -> Bottleneck:
    """Return what limits a traffic; a channel, where a terminal limits it as much."""
    share, side, terminal = busiest
    if through is None or (through.value if isinstance(through, Estimate) else through) > 1 / share:
        return Bottleneck(side, topology.name_of(int(topology.terminals[terminal])), terminal=terminal)
    ends = Channel(channel, int(topology.tail[channel]), int(topology.head[channel]))
    return Bottleneck("channel", topology.channel_name(channel), channel=ends)


@dataclass(frozen=True)
class Overload(Record):
    """Why traffic is not admissible: the terminal that exceeds its rate most.

    Parameters
    ----------
    kind : {"injection", "ejection"}
        Whether it sends or receives too much.
    name : str
    terminal : int
        Its number.
    share : Fraction
        What it sends or receives divided by its rate; above 1.

    Examples
    --------
    >>> print(Overload("ejection", "(1,1)", 5, Fraction(4, 3)))
    (1,1) receives 4/3 = 1.33333 times its rate
    """

    kind: str = entry()
    name: str = entry()
    terminal: int = entry()
    share: Fraction = entry(column="overload")

    @property
    @derived(column="overload_at", hidden=True)
    def at(self) -> str:
        """The link of the terminal in words."""
        return f"{self.kind} at {self.name}"

    def __str__(self) -> str:
        return f"{self.name} {'sends' if self.kind == 'injection' else 'receives'} {shown(self.share)} times its rate"


def overload(topology: Topology, busiest: tuple[Fraction, str, int] | None) -> Overload | None:
    """Return why traffic is not admissible, by its busiest terminal; None where it is admissible."""
    if busiest is None or busiest[0] <= 1:
        return None
    share, side, terminal = busiest
    return Overload(side, topology.name_of(int(topology.terminals[terminal])), terminal, share)


@dataclass(frozen=True)
class PatternThroughput(Record):
    """Ideal throughput under one traffic pattern.

    Parameters
    ----------
    traffic : str
        Spec of the pattern.
    channel_load : Fraction, Estimate or None
        The largest; None where the network has no channels.
    throughput : Fraction, Estimate or None
        The largest factor by which the network can carry the traffic: no channel exceeds its bandwidth and no terminal
        its rates. None where there is no traffic.
    fraction_of_capacity : Fraction, Estimate or None
        The capacity's channel load over this one, which compares channels only. None where no channel is loaded, or
        the capacity is not known.
    admissible : bool
        Whether no terminal sends or takes more than its rate (by default one packet per cycle).
    overload : Overload or None
        The terminal that exceeds its rate most; None where the traffic is admissible, and in files that do not say.
    limited_by : Bottleneck or None
        The channel or the terminal that limits the throughput; a channel, where both do.
    hops : Fraction or None
        Mean hops of the packets of the traffic that arrive, those from a terminal to itself included; exact. None for
        estimates, for pair loads that leave out packets without a path, and where there is no traffic.
    """

    traffic: str = entry(column="traffic")
    channel_load: Fraction | Estimate | None = entry(column="channel_load", reason="the network has no channels")
    throughput: Fraction | Estimate | None = entry(column="throughput", reason=_NO_TRAFFIC)
    fraction_of_capacity: Fraction | Estimate | None = entry(
        column="fraction_of_capacity", reason=lambda row: NO_CAPACITY if row.channel_load else _NO_LOAD
    )
    admissible: bool = entry(column="admissible")
    overload: Overload | None = entry(None, omit=lambda row: row.overload is None, column="overload")
    limited_by: Bottleneck | None = entry(None, column="limited_by", reason=_NO_TRAFFIC, omit=lambda row: False)
    hops: Fraction | None = entry(None, column="hops", reason=lambda row: row.no_hops, omit=lambda row: False)

    @property
    def by_terminal(self) -> bool:
        """Whether the traffic is not admissible, and a terminal limits it before any channel does.

        Its fraction of capacity, by the channels alone, is then more than what the network carries.
        """
        return not self.admissible and self.limited_by is not None and self.limited_by.kind != "channel"

    @property
    def verdict(self) -> str:
        """Whether the traffic is admissible, and if not, which terminal exceeds its rate most, in words."""
        if self.admissible:
            return "admissible"
        return "not admissible" if self.overload is None else f"not admissible since {self.overload}"

    def remarks(self, *, channels: bool = True) -> str:
        """Return which terminal exceeds its rate most, what limits the traffic, and its mean hops, in a line.

        Without `channels`, a channel that limits it is left out.
        """
        over = "" if self.overload is None else str(self.overload)
        limit = self.limited_by
        limited = f"limited by {limit}" if limit is not None and (channels or limit.kind != "channel") else ""
        hops = "" if self.hops is None else f"mean hops {shown(self.hops)}"
        return "; ".join(filter(None, (over, limited, hops)))

    @property
    def no_hops(self) -> str:
        """The reason why mean hops are missing."""
        if self.limited_by is None:
            return _NO_TRAFFIC
        return _ESTIMATED if isinstance(self.channel_load, Estimate) else _LEFT_OUT

    def __str__(self) -> str:
        if self.throughput is None:
            return _NO_TRAFFIC
        parts = [f"load {shown(self.channel_load)}", f"throughput {shown(self.throughput)}"]
        if self.fraction_of_capacity is not None:
            alone = ", by channels alone" if self.by_terminal else ""
            parts.append(f"of capacity {shown(self.fraction_of_capacity)}{alone}")
        text = ", ".join(parts)
        return text if self.admissible else f"{text} (not admissible)"


@dataclass(frozen=True, repr=False)
class Throughput(Result):
    """Ideal throughput under single traffic patterns.

    Examples
    --------
    >>> import obliv
    >>> obliv.throughput(obliv.DOR(obliv.mesh(4, 4)), "uniform", "transpose")
    throughput: dor on mesh:4x4
      uniform    load 1, throughput 1, of capacity 1
                 limited by channel (1,0) -> (2,0); mean hops 5/2 = 2.5
      transpose  load 3, throughput 1/3 = 0.333333, of capacity 1/3 = 0.333333
                 limited by channel (0,0) -> (0,1); mean hops 5/2 = 2.5
    """

    kind: ClassVar[str] = "throughput"
    on_network: ClassVar[bool] = True
    table: ClassVar[str] = "patterns"

    capacity: Fraction | None = entry(None, reason=NO_CAPACITY)
    patterns: tuple[PatternThroughput, ...] = ()

    @property
    def provable(self) -> bool:
        """Whether its loads are exact, which :func:`obliv.verify` counts again."""
        return not any(isinstance(row.channel_load, Estimate) for row in self.patterns)

    def summary(self) -> list[tuple[str, str]]:
        lines = []
        for row in self.patterns:
            lines.append((row.traffic, str(row)))
            if remarks := row.remarks():
                lines.append(("", remarks))
        return lines

    def bars(self) -> Bars:
        """Return every pattern: the fraction of capacity where all are known, else the throughput."""
        relative = self.capacity is not None and not any(row.by_terminal for row in self.patterns)
        bars = []
        for row in self.patterns:
            value = row.fraction_of_capacity if relative else row.throughput
            beyond = "" if row.admissible else f"\n({row.verdict},\nlimited by {row.limited_by})"
            bars.append(Bar(row.traffic + beyond, value, text="loads nothing" if value is None else ""))
        if not relative:
            return Bars(bars, "throughput (times the traffic)")
        return Bars(bars, "fraction of capacity", marks=[Mark(1.0, "capacity")], least=1.0)


@by_specs
def throughput(
    x: Subject,
    *traffic: str | Traffic,
    samples: int | None = None,
    rng: Rng = None,
    progress: Progress | None = None,
) -> Throughput:
    """Return the ideal throughput of a routing under traffic patterns.

    Parameters
    ----------
    x : Routing or PairLoads
    *traffic : Traffic or str
        Patterns, or their specs; one that is given twice has one row.
    samples : int, optional
        Estimate the loads from so many random paths per pair, for routings with too many paths to enumerate.
    rng : numpy.random.Generator or int, optional
        Source of the samples, or its seed; default 0.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Throughput
        For each pattern the largest channel load γ; the throughput, 1/γ or what the terminals can send and take if
        that is less; γ*/γ, the fraction of capacity, where the capacity is known; and what limits the
        throughput; mean hops of the traffic's packets. Exact, unless `samples` is given.

    Raises
    ------
    TrafficError
        If a pattern does not fit the topology.

    Notes
    -----
    Throughput is the largest factor θ such that the network can carry θ times the traffic: no channel carries more
    than its bandwidth, no terminal sends or takes more than its rates. Where rows of the traffic add up to 1 it is in
    packets per node and cycle. The fraction of capacity compares channels only, as the literature does.

    References
    ----------
    [DT04] W. J. Dally and B. Towles, "Principles and Practices of Interconnection Networks", 2004, section 3.3.1.

    Examples
    --------
    >>> import obliv
    >>> result = obliv.throughput(obliv.routing("dor", obliv.torus(9, 9)), "tornado", "uniform")
    >>> [str(row.fraction_of_capacity) for row in result.patterns]
    ['5/18', '1']
    >>> print(obliv.throughput(obliv.DOR(obliv.mesh(3, 3)), "uniform").patterns[0].limited_by)
    injection at (0,0)
    """
    began = time.perf_counter()
    subject = subject_of(x, "throughput")
    if not traffic:
        raise InputError("the throughput under which traffic? obliv.throughput(routing, 'uniform', 'transpose')")
    random, step = generator(rng), rising(progress)
    half = within(step, 0.0, 0.5)
    loads = loads_of(subject, "throughput", half) if samples is None else sampled_of(subject, samples, random, half)
    topology = loads.topology
    patterns: list[PatternThroughput] = []
    sources: tuple[tuple[str, str], ...] = ()
    flows: dict[Traffic, None] = dict.fromkeys(traffic_of(given, topology) for given in traffic)  # each once
    for flow in flows:
        sources += flow.sources
        step(flow.spec, 0.5 + 0.5 * len(patterns) / len(flows))
        patterns.append(pattern_throughput(subject, loads, flow, random))
    exactness, seed = exactness_of(subject, samples), None if samples is None else seed_of(rng)
    return Throughput(
        **identity(subject, began, exactness, seed, sources, traffic=[row.traffic for row in patterns]),
        subject=x,
        capacity=with_known_capacity(topology).capacity,
        patterns=tuple(patterns),
    )


def pattern_throughput(
    subject: Routing | PairLoads, loads: PairLoads, traffic: Traffic, rng: Rng = None
) -> PatternThroughput:
    """Return the throughput of one traffic: the least of what channels and terminals can carry."""
    topology = loads.topology
    under = loads.under(traffic)
    worst = max(range(len(under)), key=under.__getitem__, default=-1)
    load: Fraction | Estimate | None = None if worst < 0 else under[worst]
    if load is not None and loads.samples is not None and isinstance(subject, Routing):
        from obliv.questions.locality import largest_load, pair_rates

        load = largest_load(subject, loads.samples, worst, pair_rates(traffic), under[worst], generator(rng))
    through = None if load is None else inverse(load)
    busiest = traffic.busiest_terminal(topology.injection, topology.ejection)
    base = with_known_capacity(topology).capacity_load
    return PatternThroughput(
        traffic=traffic.spec,
        channel_load=load,
        throughput=None if busiest is None else capped(through, 1 / busiest[0]),
        fraction_of_capacity=None if through is None or base is None else scaled(through, base),
        admissible=busiest is None or busiest[0] <= 1,
        overload=overload(topology, busiest),
        limited_by=None if busiest is None else bottleneck(topology, worst, through, busiest),
        hops=traffic_hops(subject, loads, traffic, under),
    )
