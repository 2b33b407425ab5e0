"""Results on fabrics: the worst case by names of hosts and cables, shifts, bisections, throughput, changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from obliv._util.text import plural
from obliv.errors import InputError
from obliv.patterns.base import from_flows
from obliv.questions.failures import FailureState, state_text
from obliv.questions.throughput import PatternThroughput, Throughput
from obliv.questions.worst_case import PAIRS, WorstCase
from obliv.results.base import Bar, Bars, Mark, Plane, Result
from obliv.results.codec import PACKED, Record, derived, entry
from obliv.results.numbers import Bounds, Estimate, short, shown
from obliv.routings.make import routing as routing_of
from obliv.topologies.make import topology as topology_of

_LISTED = 5  # pairs in the short form

_CHANGES = 3  # that a title names


@dataclass(frozen=True)
class Cable(Record):
    """A cable in one direction: its channel, and the descriptions and ports of its ends."""

    channel: int = entry(column="channel")
    tail: str = entry(column="from")
    tail_port: int = entry(column="port")
    head: str = entry(column="to")
    head_port: int = entry(column="to_port")

    @property
    def ends(self) -> str:
        """Both ends as text."""
        return f"{self.tail} port {self.tail_port} -> {self.head} port {self.head_port}"


@dataclass(frozen=True)
class HotCable(Cable):
    """A cable in one direction with its worst load under admissible traffic, exact or between bounds.

    Parameters
    ----------
    load : Fraction or Bounds
        Its worst load.
    uniform : Fraction
        Its load when every host sends to all alike.
    """

    load: Fraction | Bounds = entry(key="channel_load")

    @property
    def solved(self) -> bool:
        """Whether the worst load is known exactly."""
        return isinstance(self.load, Fraction)

    @property
    @derived(hidden=True, column="worst_load")
    def upper(self) -> Fraction:
        """An upper bound of the worst load, or the load if it is known."""
        return self.load if isinstance(self.load, Fraction) else self.load.upper

    uniform: Fraction = entry(key="uniform_load", column="uniform_load")

    @property
    @derived(hidden=True, column="at_least")
    def lower(self) -> Fraction:
        """A lower bound of the worst load, or the load if it is known."""
        return self.load if isinstance(self.load, Fraction) else self.load.lower

    @property
    def worst(self) -> str:
        """The worst load as text."""
        return shown(self.upper) if self.solved else f"{shown(self.lower)} to {shown(self.upper)} (bounds)"


@dataclass(frozen=True, repr=False)
class FabricWorst(WorstCase):
    """The exact worst case of forwarding tables on their fabric.

    Parameters
    ----------
    terminal_names : tuple of str
        Of every terminal.
    crossing : tuple of (int, int)
        The pairs of the worst traffic that cross the worst channel.
    hottest : tuple of HotCable
        By worst load, the largest first; the first is the worst channel.
    skipped : int
        Ordered pairs of hosts that were left out since their packets do not arrive.
    notes : tuple of str
        What else to know.

    Examples
    --------
    >>> import obliv
    >>> routing = obliv.fabric.from_routing(obliv.DModK(obliv.fattree(4, 2)))
    >>> obliv.fabric.worst(routing, hottest=1)
    worst: lft:dmodk on fabric:fattree:4,2
      channel load    2
      throughput      1/2 = 0.5
      of capacity     7/16 = 0.4375
      worst channel   10: switch((0),1) port 3 -> switch((0),0) port 1
      focus channels  32
      hottest 1       2   switch((0),1) port 3 -> switch((0),0) port 1
      worst traffic   host(0,0) -> host(1,0)
      worst traffic   host(0,1) -> host(2,0)
    """

    marks: ClassVar[tuple[str, ...]] = ("hottest",)
    cable_columns: ClassVar[tuple[str, ...]] = (
        *("channel", "from", "port", "to", "to_port"),
        *("worst_load", "worst_load_exact", "uniform_load", "uniform_load_exact", "at_least", "at_least_exact"),
    )  #: The columns of the table of cables where a result lists no cables.

    terminal_names: tuple[str, ...] = entry((), key="names", rank=3)
    crossing: tuple[tuple[int, int], ...] = entry((), codec=PAIRS, rank=3)
    hottest: tuple[HotCable, ...] = entry((), rank=3)
    skipped: int = entry(0, rank=3)
    notes: tuple[str, ...] = entry((), rank=3)

    def summary(self) -> list[tuple[str, str]]:
        lines = Result.summary(self)
        if self.skipped:
            lines.append(("left out", f"{plural(self.skipped, 'pair')} whose packets do not arrive"))
        for rank, cable in enumerate(self.hottest, 1):
            lines.append((f"hottest {rank}", f"{cable.worst}   {cable.ends}"))
        for here, there in list(self.pairs())[:_LISTED]:
            lines.append(("worst traffic", f"{here} -> {there}"))
        if len(self.crossing) > _LISTED:
            more = plural(len(self.crossing) - _LISTED, "more pair")
            lines.append(("", f"and {more} over the worst channel"))
        return [*lines, *(("note", text) for text in self.notes)]

    def cable_rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each of the hottest cables; where `at_least` is less than `worst_load` the two are bounds."""
        return (cable.cells() for cable in self.hottest)


@dataclass(frozen=True, repr=False)
class Shifts(Result):
    """Channel loads of all shifts: host i sends to host i + k, for every k but 0, in an order of the hosts.

    Parameters
    ----------
    shifts : int
        Their number.
    worst_load, mean_load : Fraction
    worst_shift : int
        The first shift with the worst load.
    order : tuple of int, optional
        The terminals in the order in which they are shifted; None for their own.

    Examples
    --------
    >>> import obliv
    >>> routing = obliv.fabric.from_routing(obliv.DModK(obliv.fattree(4, 2)))
    >>> obliv.fabric.shifts(routing)
    fabric-shifts: lft:dmodk on fabric:fattree:4,2
      shifts      7
      worst load  1 (first at shift 1)
      mean load   1
    """

    kind: ClassVar[str] = "fabric-shifts"

    shifts: int = entry(0, label="shifts", column="shifts")
    worst_load: Fraction = entry(
        Fraction(0),
        label="worst load",
        text=lambda shifts: f"{shown(shifts.worst_load)} (first at shift {shifts.worst_shift})",
        column="worst_load",
    )
    worst_shift: int = entry(0, column="worst_shift")
    mean_load: Fraction = entry(Fraction(0), label="mean load", column="mean_load")
    order: tuple[int, ...] | None = entry(None, codec=PACKED, rank=1, omit=lambda shifts: shifts.order is None)

    def plane(self) -> Plane:
        """Return the load of every channel under the worst shift."""
        routing = self.subject or routing_of(self.routing, topology_of(self.topology))
        natural = tuple(range(len(routing.topology.terminals)))
        order, by = self.order or natural, self.worst_shift
        if sorted(order) != [*natural]:
            raise InputError("the order of this result does not name every terminal once")
        sends, takes = routing.topology.rates()  # a pair sends what the slower of its ends can
        pairs = zip(order, (*order[by:], *order[:by]), strict=True)
        traffic = from_flows("shift", len(order), {(s, d): min(sends[s], takes[d]) for s, d in pairs}, Fraction(0))
        loads = routing.pair_loads().under(traffic)
        if max(loads) != self.worst_load:
            raise InputError("the loads of the routing are no longer those of this result: compute the shifts again")
        given = " in the given order" if self.order else ""
        heading = f"{{subject}}: shift {by}{given}, the worst of {self.shifts:,}"
        mean = f"mean over the shifts {short(self.mean_load)}"
        return Plane(loads, [heading, f"largest channel load {short(self.worst_load)}"], [mean])


@dataclass(frozen=True, repr=False)
class Bisection(Result):
    """Effective bisection bandwidth: mean bandwidth of pairs across a random bisection, as a share of a host's link.

    Examples
    --------
    >>> import obliv
    >>> routing = obliv.fabric.from_routing(obliv.DModK(obliv.fattree(4, 2)))
    >>> obliv.fabric.bisection(routing, samples=20).smallest
    Fraction(3, 4)
    """

    kind: ClassVar[str] = "fabric-bisection"

    bandwidth: Estimate = entry(Estimate(0.0, 0.0, 0), label="bandwidth", column="bandwidth")
    smallest: Fraction = entry(
        Fraction(0),
        label="samples",
        text=lambda result: f"{result.bandwidth.samples}, from {shown(result.smallest)} to {shown(result.largest)}",
        column="smallest",
    )
    largest: Fraction = entry(Fraction(0), column="largest")

    def bars(self) -> Bars:
        """Return the mean bandwidth of random bisections, an estimate, beside the smallest and the largest of them."""
        bars = [
            Bar(f"mean of {self.bandwidth.samples:,} bisections", self.bandwidth),
            Bar("smallest of them", self.smallest, "beside"),
            Bar("largest of them", self.largest, "beside"),
        ]
        full = Mark(1.0, "full bandwidth", "right")
        return Bars(bars, "bandwidth of a pair, as a share of a host's link", marks=[full], least=1.0)


# The result of a throughput analysis on a fabric: which cables a job loads most


@dataclass(frozen=True)
class BusyCable(Cable):
    """A cable in one direction under one traffic.

    Parameters
    ----------
    load : Fraction
        In units of a host's link, exact.
    pairs : int
        How many pairs of the traffic cross it.
    """

    load: Fraction = entry(key="channel_load", rank=1)
    pairs: int = entry(column="pairs")


@dataclass(frozen=True)
class FabricPattern(PatternThroughput):
    """Ideal throughput under one traffic pattern, with the most loaded cables, the largest load first."""

    hottest: tuple[BusyCable, ...] = ()

    def cells(self) -> dict[str, Any]:
        """Return the row, with the first of the cables."""
        return super().cells() | (self.hottest[0].cells() if self.hottest else dict.fromkeys(BusyCable.header()))


@dataclass(frozen=True, repr=False)
class FabricThroughput(Throughput):
    """Ideal throughput of forwarding tables under patterns and jobs.

    Parameters
    ----------
    patterns : tuple of FabricPattern
    notes : tuple of str
        What else to know.

    Examples
    --------
    >>> import obliv
    >>> routing = obliv.fabric.from_routing(obliv.DModK(obliv.fattree(4, 2)))
    >>> obliv.fabric.throughput(routing, "shift:1", "shift:3")
    throughput: lft:dmodk on fabric:fattree:4,2
      shift:1  load 1, throughput 1, of capacity 7/8 = 0.875
               mean hops 3
               1   switch((0),1) port 3 -> switch((0),0) port 1   1 pair
               1   switch((1),1) port 3 -> switch((0),0) port 2   1 pair
               1   switch((2),1) port 3 -> switch((0),0) port 3   1 pair
      shift:3  load 1, throughput 1, of capacity 7/8 = 0.875
               mean hops 4
               1   switch((0),1) port 3 -> switch((0),0) port 1   1 pair
               1   switch((0),1) port 4 -> switch((1),0) port 1   1 pair
               1   switch((1),1) port 3 -> switch((0),0) port 2   1 pair
    """

    marks: ClassVar[tuple[str, ...]] = ("notes",)

    patterns: tuple[FabricPattern, ...] = ()
    notes: tuple[str, ...] = entry((), rank=3)

    @property
    def cables(self) -> tuple[tuple[BusyCable, ...], ...]:
        """The cables with the largest load under each pattern."""
        return tuple(row.hottest for row in self.patterns)

    def summary(self) -> list[tuple[str, str]]:
        lines = []
        for row in self.patterns:
            lines.append((row.traffic, str(row)))
            if remarks := row.remarks(channels=False):
                lines.append(("", remarks))
            for cable in row.hottest:
                lines.append(("", f"{shown(cable.load)}   {cable.ends}   {plural(cable.pairs, 'pair')}"))
        return [*lines, *(("note", text) for text in self.notes)]


# What a change of a few cables or table entries does to the guarantees of a fabric


@dataclass(frozen=True, repr=False)
class WhatIf(Result):
    """The exact worst case, lost pairs and credit loops of tables before and after a change.

    Parameters
    ----------
    changes : tuple of str
        What fails, new cables, and the table entries that are set.
    before, after : FailureState
    channels : int
        Number of channels whose packets change.
    solved : int
        Number of these that were solved again; bounds settled the others.
    notes : tuple of str
        What else to know.

    Examples
    --------
    >>> import obliv
    >>> base = obliv.fabric.base_of(obliv.fabric.from_routing(obliv.DModK(obliv.fattree(4, 2))))
    >>> result = obliv.fabric.what_if(base, entries=["switch((0),1)/14=3"])
    >>> result.changes, result.pairs_lost
    (('switch((0),1)/14=3',), 0)
    """

    kind: ClassVar[str] = "what-if"

    changes: tuple[str, ...] = ()
    before: FailureState = entry(default_factory=FailureState)
    after: FailureState = entry(default_factory=FailureState)
    channels: int = entry(0, column="channels")
    solved: int = entry(0, column="solved")
    notes: tuple[str, ...] = entry((), rank=3)

    @property
    @derived(column="pairs_lost")
    def pairs_lost(self) -> int:
        """Ordered pairs of hosts that the change cuts off; negative where it connects more than it cuts off."""
        return self.after.missing - self.before.missing

    @property
    @derived(hidden=True, column="channel_load")
    def channel_load(self) -> object:
        """The worst channel load after the change."""
        return self.after.channel_load

    @property
    @derived(hidden=True, column="channel")
    def channel(self) -> str:
        """A channel that has it."""
        return self.after.channel

    @property
    @derived(hidden=True, column="deadlock")
    def deadlock(self) -> bool | None:
        """Whether there is a credit loop after the change."""
        return self.after.deadlock

    def summary(self) -> list[tuple[str, str]]:
        lines = [("change", text) for text in self.changes or ("none",)]
        for name, state in (("before", self.before), ("after", self.after)):
            lines.append((name, f"{state_text(state)}   {state.channel}".rstrip()))
        change = "gained" if self.pairs_lost < 0 else "lost"
        lines.append((f"pairs {change}", f"{abs(self.pairs_lost):,}"))
        lines.append(("work", f"{self.channels:,} channels changed, {self.solved:,} solved"))
        return [*lines, *(("note", text) for text in self.notes)]

    def bars(self) -> Bars:
        """Return the worst load before and after the change, with the pairs that are missing and credit loops."""
        states = {"before": self.before, "after": self.after}
        bars = [
            Bar(name, state.channel_load, "warning" if state.deadlock else "plain", state_text(state))
            for name, state in states.items()
        ]
        more = len(self.changes) - _CHANGES
        changes = [*self.changes[:_CHANGES], *([f"and {plural(more, 'more change')}"] if more > 0 else [])]
        pairs = f"{plural(abs(self.pairs_lost), 'pair')} {'gained' if self.pairs_lost < 0 else 'lost'}"
        return Bars(bars, "worst load", ["{subject}", "; ".join(changes) or "no change"], [pairs])
