"""The state of tables before a change, and the one engine that answers changes from it: only what changes is solved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array, grouped, starts
from obliv._util.progress import Progress
from obliv.errors import InputError
from obliv.fabric.kernels.automaton import RouteArrays
from obliv.fabric.kernels.changes import (
    ChangeSets,
    ChangeSpace,
    ChangeWork,
    Intact,
    Outcomes,
    change_loads,
    cut_loads,
    intact_loads,
    replace_port,
)
from obliv.fabric.model import Tables, typed
from obliv.fabric.outages.sets import Change, speed_between_switches, with_change
from obliv.fabric.routes.dependencies import credit_loops, dependencies_of
from obliv.fabric.routes.routing import FabricRouting
from obliv.fabric.routes.trace import Ending, trace_all
from obliv.fabric.topology import FabricTopology
from obliv.kernels import run
from obliv.questions.failures import FailureState

OWN = "a host's own cable"  # it carries 1 where a host reaches anybody
_BLOCK = 64  # changes between two looks at an interrupt
_SPACE = 1024  # new routes for which there is space at first
_NONE = np.zeros((0, 2), np.int64)

# Tables before a change


@dataclass(frozen=True, eq=False)
class Base:
    """Tables on their fabric with all that a change needs.

    Parameters
    ----------
    routing : FabricRouting
        With one route a pair, on a fabric whose hosts send alike.
    unit : int
        The denominator of loads.
    loop : bool
        Whether there is a credit loop.
    certain : bool
        Whether there is none, and no route goes round: then lost routes cannot add one.
    intact : Intact
        What crosses each channel, the worst loads, and what follows what; pair class · terminals + terminal stands for
        the packets of a class of sources.
    """

    routing: FabricRouting
    unit: int
    loop: bool
    certain: bool
    intact: Intact

    @property
    def topology(self) -> FabricTopology:
        """The network of the fabric."""
        return self.routing.topology

    @property
    def served(self) -> int:
        """Number of ordered pairs whose packets arrive."""
        ends = len(self.topology.terminals)
        return ends * (ends - 1) - self.routing.skipped

    @property
    def hottest(self) -> int:
        """The first channel between switches with the worst load, -1 for none."""
        return int(self.intact.order[0]) if self.intact.load.any() else -1

    @property
    def state(self) -> FailureState:
        """The figures before a change."""
        load = int(self.intact.load.max(initial=0))
        return FailureState(*named_load(self, load, self.hottest, self.served > 0), self.routing.skipped, self.loop)


def engine_misfit(routing: FabricRouting) -> str:
    """Return why the engine does not answer changes of tables; "" where it does."""
    if routing.routes.denominator > 1:  # loads are then no sizes of matchings, but sums of shares of packets
        return "pairs have several routes"
    # where hosts send unlike amounts, matchings do not tell loads either
    return "" if routing.topology.unit_rates else "cables of hosts differ in speed"


@typed
def base_of(routing: FabricRouting) -> Base:
    """Return the state of tables from which :func:`obliv.fabric.what_if` answers changes.

    Parameters
    ----------
    routing : FabricRouting
        Pairs whose packets do not arrive are left out.

    Raises
    ------
    InputError
        If pairs have several routes, or cables of hosts differ in speed.

    Examples
    --------
    >>> import obliv
    >>> base = obliv.fabric.base_of(obliv.fabric.from_routing(obliv.DModK(obliv.fattree(4, 2))))
    >>> obliv.fabric.what_if(base, fail=["switch((0),1)/3"]).after.missing
    12
    """
    if reason := engine_misfit(routing):
        raise InputError(f"changes are answered for one route per pair and equally fast cables of hosts: here {reason}")
    topology, routes = routing.topology, routing.routes
    start, pair, _ = routing.fabric_loads.entries
    channels, slot_of = topology.channels, topology.slot_of.astype(np.int64)
    speeds = topology.bandwidth or (Fraction(1),) * channels
    unit = lcm(*(Fraction(1 / speed).denominator for speed in set(speeds)))
    units = {speed: int(unit / speed) for speed in set(speeds)}
    loop, layer, first_after, after = _dependencies(routing)
    node = routes.arrays.node[routes.class_of]
    leaf, count = np.unique(node[node >= 0], return_counts=True)
    intact = Intact(
        start=start,
        pair=pair,
        matched=np.zeros(len(pair), np.uint8),
        size=np.diff(routes.members[0]),
        unit=np.array([units[speed] for speed in speeds], np.int64),
        load=np.zeros(channels, np.int64),
        order=np.arange(channels),
        rank=np.arange(channels),
        layer=layer,
        first_after=first_after,
        after=after,
        slot_of=slot_of,
        tail_of=topology.fabric.node_of[slot_of].astype(np.int64),
        leaf=leaf,
        alone=np.where(np.isin(node, leaf[count == 1]), node, -1),
    )
    ends = len(topology.terminals)
    run(intact_loads, 50.0 * len(pair), intact, _space(routes.arrays, channels, _SPACE), ends)
    order = np.argsort(-intact.load, kind="stable")
    rank = np.empty(channels, np.int64)
    rank[order] = np.arange(channels)
    certain = not loop and not (routes.traces.code == Ending.LOOP).any()
    return Base(routing, unit, loop, certain, intact._replace(order=order, rank=rank))


def _dependencies(routing: FabricRouting) -> tuple[bool, Array, Array, Array]:
    """Return whether there is a credit loop, a number of every channel, and what comes right after each channel."""
    # The numbers rise along each dependency; they are 0 where there is a loop.
    topology = routing.topology
    slots, first, after = dependencies_of(routing.routes.traces)
    channel = topology.channel_of[slots]
    before = np.repeat(np.arange(len(slots)), np.diff(first))
    layer = np.zeros(len(slots), np.int32)
    waiting = np.bincount(after, minlength=len(slots))
    ready, number, left = np.flatnonzero(waiting == 0), 0, len(slots)
    while len(ready):  # layer by layer
        layer[ready] = number
        left -= len(ready)
        size = np.diff(first)[ready]
        inside = np.arange(int(size.sum())) - np.repeat(starts(size)[:-1], size)
        heads = after[np.repeat(first[:-1][ready], size) + inside]
        waiting -= np.bincount(heads, minlength=len(slots))
        ready, number = np.unique(heads[waiting[heads] == 0]), number + 1
    found = np.zeros(topology.channels, np.int32)
    found[channel] = layer if not left else 0
    first_after, order = grouped(channel[before], topology.channels)
    return left > 0, found, first_after, channel[after[order]]


def _space(routes: RouteArrays, channels: int, size: int) -> ChangeSpace:
    """Return space for changes with some number of new routes."""
    ends, classes = len(routes.class_of), len(routes.node)
    return ChangeSpace(
        tally=np.zeros(8, np.int64),
        gone=np.zeros(channels, np.uint8),
        nothing=np.zeros(channels, np.uint8),
        stamp=np.zeros(classes * ends, np.int32),
        less=np.zeros(channels, np.int32),
        more=np.zeros(channels, np.int32),
        first_added=np.full(channels, -1, np.int32),
        next_added=np.empty(size, np.int32),
        added=np.empty(size, np.int64),
        fresh=np.empty(size, np.uint8),
        touched=np.empty(channels, np.int64),
        first_new=np.full(channels, -1, np.int32),
        next_new=np.empty(size, np.int32),
        new=np.empty(size, np.int32),
        sender=np.zeros(classes, np.int64),
        receiver=np.zeros(ends, np.int64),
        refilled=np.zeros(len(routes.lid), np.uint8),
        path=np.empty((3, len(routes.hops.row) + 2), np.int64),
    )


def named_load(base: Base, load: int, channel: int, reached: bool, new: Array = _NONE) -> tuple[Fraction, str]:
    """Return the worst load and a cable that has it: the own one of a host that reaches others carries 1 at least."""
    # Shapes: `new` (new channels, 2), the ports at their ends.
    value, topology = Fraction(load, base.unit), base.topology
    if value < 1 and reached:
        return Fraction(1), OWN
    if channel < 0 or not load:
        return value, ""
    if channel < topology.channels:
        return value, topology.cable(channel).ends
    ends = new[channel - topology.channels].tolist()
    names = (f"{topology.name_of(int(topology.node_at[slot]))} port {topology.fabric.port_of(slot)}" for slot in ends)
    return value, " -> ".join(names)


# Changes of them


class Changes(NamedTuple):
    """Changes of tables ready to be solved, and the ports at both ends of new channels, which come after the others.

    There are new cables and entries only if there is one change.
    """

    base: Base
    given: Sequence[Change]
    work: ChangeWork
    new: Array


def changes_of(base: Base, given: Sequence[Change], *, refill: bool = False, follow: bool = False) -> Changes:
    """Return what the kernels take."""
    topology, routes, intact = base.topology, base.routing.routes.arrays, base.intact
    gone = [channels_of(topology, change.slots) for change in given]
    nodes = [np.array(change.switches, np.int64) for change in given]
    cables = np.array([cable for change in given for cable in change.cables], np.int64).reshape(-1, 2)
    ends = np.concatenate([cables, cables[:, ::-1]])
    after = _copied(routes)
    if len(cables):
        intact, after = _with_channels(base, ends, after)
    for row, lid, port in [entry for change in given for entry in change.entries]:
        after.hops.out[lid, row] = port
    sets = ChangeSets(
        first=starts([len(channels) for channels in gone]),
        channel=np.concatenate([*gone, np.zeros(0, np.int64)]),
        first_node=starts([len(each) for each in nodes]),
        node=np.concatenate([*nodes, np.zeros(0, np.int64)]),
        columns=_other_columns(base, given, ends[:, 0]),
    )
    space = _space(routes, len(intact.load), _SPACE)
    return Changes(base, given, ChangeWork(follow, refill, sets, routes, after, intact, space), ends)


def _copied(routes: RouteArrays) -> RouteArrays:
    """Return routes whose tables can be changed."""
    hops = routes.hops
    return routes._replace(hops=hops._replace(out=hops.out.copy(order="K"), row=hops.row.copy()))


def channels_of(topology: FabricTopology, slots: Sequence[int]) -> Array:
    """Return the channels of cables, both directions of each in turn."""
    one = np.array(slots, np.int64)
    both = np.stack([one, topology.fabric.ports.peer[one]], axis=1).ravel()
    return np.asarray(topology.channel_of[both], np.int64)


def _with_channels(base: Base, ends: Array, after: RouteArrays) -> tuple[Intact, RouteArrays]:
    """Return the state with new channels, which nothing crosses yet, behind the others."""
    # Where a new cable takes the port of one that fails, the old channel stays, but no port leads to it.
    intact, count = base.intact, len(ends)
    fabric, number = base.topology.fabric, len(base.intact.load) + np.arange(count)
    to, channel_of = after.hops.to.copy(), after.channel_of.copy()
    to[ends[:, 0]] = fabric.node_of[ends[:, 1]]
    channel_of[ends[:, 0]] = number
    unit = int(base.unit / speed_between_switches(base.topology))
    extended = intact._replace(
        start=np.append(intact.start, np.full(count, intact.start[-1])),
        unit=np.append(intact.unit, np.full(count, unit)),
        load=np.append(intact.load, np.zeros(count, np.int64)),
        order=np.append(intact.order, number),
        rank=np.append(intact.rank, number),
        layer=np.append(intact.layer, np.full(count, -1, np.int32)),
        first_after=np.append(intact.first_after, np.full(count, intact.first_after[-1])),
        slot_of=np.append(intact.slot_of, ends[:, 0]),
        tail_of=np.append(intact.tail_of, fabric.node_of[ends[:, 0]]),
    )
    return extended, after._replace(hops=after.hops._replace(to=to), channel_of=channel_of)


def _other_columns(base: Base, given: Sequence[Change], ports: Array) -> Array:
    """Return the LIDs, by number, whose entries are set or lead to a port with a new cable."""
    routes = base.routing.routes.arrays
    changed = np.zeros(len(routes.hops.out), np.bool_)
    changed[[lid for change in given for _, lid, _ in change.entries]] = True
    fabric = base.topology.fabric
    for slot in ports.tolist():
        row = int(routes.hops.row[fabric.node_of[slot]])
        if row >= 0:
            changed |= routes.hops.out[:, row] == fabric.port_of(slot)
    lid = routes.lid
    return np.flatnonzero((lid > 0) & (lid < len(changed)) & changed[np.minimum(lid, len(changed) - 1)])


def solved(changes: Changes, progress: Progress) -> tuple[Outcomes, ChangeWork]:
    """Return what changes do, one after the other; and the work, with more space if that was needed."""
    count = len(changes.given)
    lost, load, touched, many = (np.zeros(count, np.int64) for _ in range(4))
    outcomes = Outcomes(lost, load, np.full(count, -1, np.int64), np.zeros(count, np.bool_), touched, many)
    work, done = changes.work, 0
    while done < count:
        progress("failures", done / count)
        block = np.arange(done, min(done + _BLOCK, count))
        if work.follow or work.refill:
            many_done = run(change_loads, steps_of(work), block, work, outcomes)
        else:  # compiled apart: most failures need no more
            arrays = work.sets, work.before, work.intact, work.space
            many_done = run(cut_loads, steps_of(work), block, *arrays, outcomes)
        done += many_done
        if many_done < len(block):
            space = _space(work.before, len(work.intact.load), 2 * len(work.space.added))
            work = work._replace(space=space)
    return outcomes, work


def steps_of(work: ChangeWork) -> float:
    """Return about how many steps all changes take."""
    return (500.0 if work.refill else 100.0) * float(np.diff(work.intact.start)[work.sets.channel].sum())


def has_credit_loop(changes: Changes, number: int, outcomes: Outcomes) -> bool:
    """Return whether there is a credit loop after a change: where none is sure, from the whole dependency graph."""
    base, change = changes.base, changes.given[number]
    if base.certain and not outcomes.looping[number]:
        return False
    tables = base.routing.routes.tables
    if changes.work.refill:
        tables = refilled_tables(base.routing, change)
    else:
        tables = kept_tables(replace(tables, out=changes.work.after.hops.out.T), change)
    traces = trace_all(with_change(base.topology.fabric, change), tables, base.topology.ends)
    return not credit_loops(traces).acyclic


def kept_tables(tables: Tables, change: Change) -> Tables:
    """Return the tables of the switches that are left."""
    left = ~np.isin(tables.switch, np.array(change.switches, np.int64))
    return replace(tables, switch=tables.switch[left], out=tables.out[left], line=tables.line[left])


def refilled_tables(routing: FabricRouting, change: Change) -> Tables:
    """Return the tables in which switches that lost a port have chosen another, where one leads on."""
    topology, before = routing.topology, routing.routes.arrays
    gone, nothing = (np.zeros(topology.channels, np.uint8) for _ in range(2))
    channels = channels_of(topology, change.slots)
    gone[channels] = 1
    after = _copied(before)
    refilled, path = np.zeros(len(before.lid), np.uint8), np.empty(len(before.hops.row) + 2, np.int64)
    for slot in topology.slot_of[channels].astype(np.int64).tolist():
        node = int(topology.fabric.node_of[slot])
        run(replace_port, 50.0 * len(before.lid), slot, node, before, after, gone, nothing, refilled, path)
    return kept_tables(replace(routing.routes.tables, out=after.hops.out.T), change)
