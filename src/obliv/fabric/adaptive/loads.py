"""Pair loads of adaptive routing: of even splits over the groups, or of switches that choose as they like."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from obliv._util.arrays import INT64_SAFE, Array, positions
from obliv._util.progress import require_memory
from obliv.errors import RoutingError, TooLargeError
from obliv.fabric.kernels.adaptive import (
    Choices,
    DestinationClasses,
    ShareSums,
    Split,
    carry_shares,
    denominators,
    followed_by,
    order_rows,
    shares_on,
    sum_shares,
    trace_choices,
)
from obliv.fabric.model import NONE, Fabric
from obliv.fabric.names import NO_STATE, STATIC, GroupTables, ports_of
from obliv.fabric.routes.loads import FabricLoads
from obliv.fabric.routes.trace import Routes, Traces, untraced
from obliv.kernels import run
from obliv.loads.base import PairLoads
from obliv.matching.solve import Weights, members_of
from obliv.patterns.base import Traffic
from obliv.questions.deadlocks.graph import short_cycle

# Group tables packed for kernels: a set of ports for every LID and switch, and equal sets stored once


_ROWS = 16  # whose choices are written together


@dataclass(frozen=True, eq=False)
class PackedGroups:
    """The choices that group tables leave to switches, between some ports of a fabric.

    Parameters
    ----------
    fabric : Fabric
    groups : GroupTables
        Of a single private LFT.
    ends : int64 array, shape (ends,)
        The slots between which packets travel.
    sets : tuple of tuples
        The different sets of ports; the first is empty.
    choices : Choices
        Rows are the switches, in the order of the fabric.
    """

    fabric: Fabric
    groups: GroupTables
    ends: Array
    sets: tuple[tuple[int, ...], ...]
    choices: Choices

    @cached_property
    def has_table(self) -> Array:
        """Whether each switch has a table."""
        has: Array = np.zeros(len(self.fabric.switches), bool)
        has[self.fabric.switch_row[self.groups.switch]] = True
        return has

    def set_of(self, lid: int, row: int) -> tuple[int, ...]:
        """Return the ports among which a switch may choose for a LID."""
        return self.sets[int(self.choices.choice[lid, row])] if lid < len(self.choices.choice) else ()


def packed(fabric: Fabric, groups: GroupTables, ends: Array | None = None) -> PackedGroups:
    """Pack group tables for kernels."""
    if len(groups.plfts) > 1:
        raise RoutingError(f"{groups.name} has several private LFTs: choose one")
    ends = fabric.endpoints if ends is None else ends
    rows = len(fabric.switches)
    require_memory(8.0 * rows * groups.port.shape[1], f"the port sets of {groups.name}")
    number: dict[tuple[int, ...], int] = {(): 0}
    choice = np.zeros((groups.port.shape[1], rows), np.int32)
    single = np.array([0 if port == NONE else number.setdefault((port,), len(number)) for port in range(256)], np.int32)
    numbers_of: dict[int, Array] = {}  # by the identity of groups, which rows may share
    block = np.empty((_ROWS, len(choice)), np.int32)
    of_block: list[int] = []
    last = len(groups.switch) - 1
    for k, row in enumerate(fabric.switch_row[groups.switch].tolist()):
        table = groups.groups[k]
        if id(table) not in numbers_of:
            numbers = np.zeros(max(table, default=0) + 2, np.int32)
            for group, parts in table.items():
                numbers[group] = number.setdefault(ports_of(parts), len(number))
            numbers_of[id(table)] = numbers
        numbers = numbers_of[id(table)]
        chosen = block[len(of_block)]
        numbers.take(groups.group[k], mode="clip", out=chosen)  # the last stands for groups that are missing
        np.copyto(chosen, single[groups.port[k]], where=groups.state[k] == STATIC)
        chosen[groups.state[k] == NO_STATE] = 0
        of_block.append(row)
        if len(of_block) == _ROWS or k == last:  # columns next to each other are written faster together
            choice[:, of_block] = block[: len(of_block)].T
            of_block.clear()
    sets = tuple(number)
    ptr = np.concatenate([[0], np.cumsum([len(ports) for ports in sets])]).astype(np.int64)
    port = np.array([port for ports in sets for port in ports], np.uint8)
    first, end = fabric.first_slot[fabric.switches], fabric.first_slot[fabric.switches + 1]
    to = np.full(len(fabric.ports.peer), -1, np.int32)
    cabled = np.flatnonzero(fabric.ports.peer >= 0)
    other = fabric.switch_row[fabric.node_of[fabric.ports.peer[cabled]]]
    to[cabled] = np.where(other >= 0, other, -2)
    place = positions(ends, len(fabric.ports.peer))[fabric.ports.peer[cabled]]
    to[cabled[place >= 0]] = -3 - place[place >= 0]
    return PackedGroups(
        fabric, groups, ends, sets, Choices(ptr, port, choice, first.astype(np.int64), end.astype(np.int64), to)
    )


def traced(groups: PackedGroups) -> Traces:
    """Return how packets from every leaf switch to every LID of an end can fare, whatever switches choose.

    A packet counts as delivered only if it arrives by all choices.
    """
    traces = untraced(groups.fabric, groups.groups.static, groups.ends)
    first = first_alike(groups, traces)
    columns = np.unique(first)
    code = _codes(groups, traces, columns)[0]
    if code.any():
        np.take(code, np.searchsorted(columns, first), axis=1, out=traces.code)
    else:
        traces.code[:] = 0
    return traces


def where_lost(groups: PackedGroups, traces: Traces) -> Array:
    """Return the row where packets from every leaf to every LID can end, of a loop one of its rows."""
    lost = np.flatnonzero(traces.code.any(axis=0))
    require_memory(8.0 * traces.code.size, f"where packets of {groups.fabric.name} can be lost")
    at = np.full(traces.code.shape, -1, np.int32)
    at[:, lost] = _codes(groups, traces, lost, where=True)[1]
    return at


def _codes(groups: PackedGroups, traces: Traces, columns: Array, *, where: bool = False) -> tuple[Array, Array]:
    """Return how packets to some LIDs can fare, and where asked for the row where they end."""
    code = np.empty((len(traces.leaf), len(columns)), np.uint8)
    at = np.empty(code.shape if where else (0, 0), np.int32)
    rows = groups.fabric.switch_row[traces.leaf].astype(np.int64)
    arrays = rows, traces.lid[columns], traces.endpoint[columns], groups.choices, groups.has_table, code, at
    run(trace_choices, 60.0 * len(columns) * len(groups.choices.first), *arrays)
    return code, at


def first_alike(groups: PackedGroups, traces: Traces) -> Array:
    """Return for every LID the first one that all switches treat like it, but for the leaf switch that has both owners.

    There they leave by the ports of their owners, and by no other.

    Shape: (columns,).
    """
    choice, single = groups.choices.choice, {ports[0]: n for n, ports in enumerate(groups.sets) if len(ports) == 1}
    peer = groups.fabric.ports.peer[groups.ends]
    rows = groups.fabric.switch_row[groups.fabric.node_of[peer]].tolist()
    ports = (peer - groups.fabric.first_slot[groups.fabric.node_of[peer]]).tolist()
    offset = (np.arange(len(traces.lid)) - traces.first_column[traces.endpoint]).tolist()
    sizes = np.diff(traces.first_column).tolist()
    first = np.arange(len(traces.lid))
    known: dict[tuple[int, int, int, bytes], int] = {}
    for k, (lid, end) in enumerate(zip(traces.lid.tolist(), traces.endpoint.tolist(), strict=True)):
        row = rows[end]
        if not 0 < lid < len(choice) or row < 0 or choice[lid, row] != single.get(ports[end], -1):
            continue
        column = choice[lid].copy()
        column[row] = 0
        first[k] = known.setdefault((row, offset[k], sizes[end], column.tobytes()), k)
    return first


class AdaptiveLoads(FabricLoads):
    """Loads of packets that take every port of a group equally, or of packets that may take any.

    In the second case a pair counts on a channel in full where some choices of the switches lead it there: the load of
    a channel is then the largest that the switches can put on it, and those of several channels may exclude each other.

    Parameters
    ----------
    routes : Routes
        Whose traces tell which pairs arrive by all choices; the others carry nothing.
    groups : PackedGroups
    any_choice : bool

    Raises
    ------
    TooLargeError
        If the shares are too fine for 64 bits.
    """

    def __init__(self, routes: Routes, groups: PackedGroups, any_choice: bool) -> None:
        super().__init__(routes)
        self.groups = groups
        self.any_choice = any_choice
        self._summed: tuple[Array, Array, Array, Array] | tuple[()] = ()
        self.denominator = routes.denominator * self._alike.whole

    def hops(self) -> Fraction:
        if self.any_choice:
            raise RoutingError("packets that may take any port have no mean path length: use adaptive=even")
        return super().hops()

    @cached_property
    def _alike(self) -> _Alike:
        return _alike(self.routes, self.groups, self.any_choice)

    @cached_property
    def _split(self) -> Split:
        """How packets split, for kernels."""
        topology = self.topology
        number = np.where(topology.at_host, -1, np.arange(topology.channels))
        channel = np.where(topology.channel_of >= 0, number[topology.channel_of], -1)
        return Split(self._alike.classes, self.groups.choices, self.any_choice, channel)

    def _between_switches(self, channel: int) -> Weights:
        alike, topology = self._alike, self.topology
        slot = int(topology.slot_of[channel])
        row = int(topology.fabric.switch_row[topology.fabric.node_of[slot]])
        share: Array = np.zeros((self.routes.classes, len(alike.size)), np.int64)
        work = 30.0 * len(alike.classes.order)
        run(shares_on, work, row, topology.fabric.port_of(slot), alike.whole, self._split, share)
        rows, columns = np.flatnonzero(share.any(axis=1)), np.flatnonzero(share.any(axis=0))
        inside = share[np.ix_(rows, columns)]
        row_of, col = np.nonzero(inside)
        return Weights(
            ptr=np.concatenate([[0], np.cumsum(np.bincount(row_of, minlength=len(rows)))]).astype(np.int64),
            col=col.astype(np.int32),
            weight=inside[row_of, col],
            row_members=members_of(self.routes.class_of, rows),
            column_members=members_of(alike.class_of, columns),
        )

    def _sums(self, supply: Array, demand: Array) -> tuple[Array, Array]:
        """Return the simple bounds and the totals of channels between switches, for what terminals send and take."""
        if self._summed and np.array_equal(self._summed[0], supply) and np.array_equal(self._summed[1], demand):
            return self._summed[2], self._summed[3]
        alike, channels = self._alike, self.topology.channels
        require_memory(8.0 * self.routes.classes * channels, f"the pair loads of {self.groups.groups.name}")
        sums = ShareSums(
            np.zeros(channels, np.int64),
            np.zeros((self.routes.classes, channels), np.int64),
            np.zeros(channels, np.int64),
        )
        sends = self._of_class(supply)
        takes = np.stack([_added(alike.class_of, demand, len(alike.size)), alike.size])
        work = 20.0 * self.routes.classes * len(alike.classes.order)
        run(sum_shares, work, alike.whole, takes, sends, self._split, sums)
        bounds = np.minimum(sends @ sums.rows, sums.columns)
        self._summed = supply.copy(), demand.copy(), bounds, sums.total
        return bounds, sums.total

    def _bounds_between_switches(self, supply: Array, demand: Array) -> Array:
        return self._sums(supply, demand)[0].copy()

    def _sums_between_switches(self, supply: Array) -> Array:
        return self._sums(supply, self.rates.demand.astype(np.int64))[1].copy()

    def _carried(self, traffic: Traffic) -> Array:
        amount = traffic.amount
        if amount.dtype == object or int(amount.astype(object).sum()) * self.denominator >= INT64_SAFE:
            return PairLoads._carried(self, traffic)
        alike, topology = self._alike, self.topology
        apart = traffic.source != traffic.destination
        source, destination = traffic.source[apart].astype(np.int64), traffic.destination[apart].astype(np.int64)
        amount = amount[apart].astype(np.int64)
        total = np.zeros(topology.channels, np.int64)
        classes = self.routes.class_of[source], alike.class_of[destination], amount * alike.whole
        work = 20.0 * len(amount) * len(self.groups.choices.first)
        run(carry_shares, work, *classes, self._split, total)
        own = amount * (self.denominator // self.routes.denominator)
        delivered = self.routes.delivered
        own *= self.routes.denominator if delivered is None else delivered[self.routes.class_of[source], destination]
        out, back = self._own_channels
        np.add.at(total, out[source], own)
        direct = out[source] == back[destination]  # a cable from host to host
        np.add.at(total, back[destination[~direct]], own[~direct])
        return total


class _Alike(NamedTuple):
    """Classes of destinations for kernels: of every terminal, their sizes, and what a whole route counts."""

    class_of: Array
    size: Array
    classes: DestinationClasses
    whole: int


def _alike(routes: Routes, groups: PackedGroups, any_choice: bool) -> _Alike:
    traces = routes.traces
    first = first_alike(groups, traces)
    numbers: dict[tuple[int, ...], int] = {}
    begin = traces.first_column.tolist()
    keys = [tuple(first[begin[d] : begin[d + 1]].tolist()) for d in range(len(begin) - 1)]
    class_of = np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)
    column = np.array([k for key in numbers for k in key], np.int64)
    ptr = np.concatenate([[0], np.cumsum([len(key) for key in numbers])]).astype(np.int64)
    row = np.where(routes.leaf >= 0, np.append(groups.fabric.switch_row[traces.leaf], -1)[routes.leaf], -1)
    times = _times(routes, ptr, column)
    choices, rows = groups.choices, len(groups.choices.first)
    require_memory(12.0 * len(column) * rows + 8.0 * times.size, f"the choices of {groups.groups.name}")
    seen, scratch, order = np.zeros(rows, bool), np.empty((2, rows), np.int64), np.empty(rows, np.int32)
    orders, ends = [], [0]
    for q, lid in enumerate(traces.lid[column].tolist()):
        starts = np.unique(row[times[:, q] > 0])
        seen[:] = False
        count = int(run(order_rows, 60.0 * rows * len(column), lid, starts, choices, seen, order, scratch))
        orders.append(order[:count].copy())
        ends.append(ends[-1] + count)
    joined = np.concatenate(orders) if orders else order[:0]
    multiple = np.ones(len(joined), np.int64)
    classes = DestinationClasses(
        ptr, traces.lid[column].astype(np.int64), np.array(ends, np.int64), joined, multiple, row, times
    )
    terminals = len(routes.class_of)
    limit = INT64_SAFE // (8 * routes.denominator * terminals**2)
    whole = 1
    if not any_choice:
        whole = int(run(denominators, 60.0 * len(joined), classes, choices, max(limit, 1)))
    if whole < 0:
        raise TooLargeError(f"{groups.groups.name}: the shares of even splits are too fine for 64 bits")
    return _Alike(class_of, np.bincount(class_of, minlength=len(numbers)).astype(np.int64), classes, whole)


def _times(routes: Routes, ptr: Array, column: Array) -> Array:
    """Return how many routes of each class of sources lead to every LID of the classes of destinations."""
    size = np.repeat(np.diff(ptr), np.diff(ptr))
    offset = np.arange(len(column)) - np.repeat(ptr[:-1], np.diff(ptr))
    times = np.zeros((routes.classes, len(column)), np.int64)
    for t in range(routes.denominator):
        times += (routes.low[:, None] + t) % size == offset
    arrives = routes.traces.code[:, column] == 0
    times[routes.leaf < 0] = 0
    switched = routes.leaf >= 0
    times[switched] *= arrives[routes.leaf[switched]]
    return times


def _added(class_of: Array, amounts: Array, count: int) -> Array:
    """Return the sums of amounts by class."""
    sums = np.zeros(count, np.int64)
    np.add.at(sums, class_of, amounts)
    return sums


# Credit loops that adaptive routing makes possible: over all choices that switches have


def choice_loops(groups: PackedGroups, traces: Traces) -> tuple[int, tuple[int, ...]]:
    """Look for a cycle among the channels that packets can use one after the other, by any choices."""
    choices, fabric = groups.choices, groups.fabric
    slots = np.flatnonzero(choices.to >= 0)
    slots = slots[fabric.switch_row[fabric.node_of[slots]] >= 0]
    channel = positions(slots, len(choices.to))
    columns = np.unique(first_alike(groups, traces))
    index, most = _numbers(groups, traces.lid[columns])
    require_memory(2.0 * len(slots) * (most + 256), f"the channel dependency graph of {fabric.name}")
    follows = np.zeros((len(slots), most), np.bool_)
    rows = fabric.switch_row[traces.leaf].astype(np.int64)
    code = np.ascontiguousarray(traces.code[:, columns])
    work = 60.0 * len(columns) * len(choices.first)
    run(followed_by, work, traces.lid[columns], rows, code, choices, channel, index, follows)
    before, after = _expanded(groups, slots, index, follows)
    starts = np.concatenate([[0], np.cumsum(np.bincount(before, minlength=len(slots)))])
    cycle = short_cycle(starts, channel[after]) or []
    return len(before), tuple(int(slots[c]) for c in cycle)


def _numbers(groups: PackedGroups, lids: Array) -> tuple[Array, int]:
    """Return numbers of the sets that rows have for some LIDs, shape (sets, rows), and how many a row has at most."""
    choice = groups.choices.choice
    require_memory(9.0 * len(groups.sets) * choice.shape[1], "the numbers of port sets")
    used = np.zeros((len(groups.sets), choice.shape[1]), bool)
    rows = np.arange(choice.shape[1])
    for lid in lids[(lids > 0) & (lids < len(choice))].tolist():
        used[choice[lid], rows] = True
    index = np.cumsum(used, axis=0).astype(np.int32) - 1
    return index, int(index.max(initial=0)) + 1


def _expanded(groups: PackedGroups, slots: Array, index: Array, follows: Array) -> tuple[Array, Array]:
    """Return the dependencies: numbers of channels in order, and the slots of channels that follow them."""
    choices, fabric = groups.choices, groups.fabric
    c, local = np.nonzero(follows)
    row = choices.to[slots[c]].astype(np.int64)
    number = np.zeros((follows.shape[1], index.shape[1]), np.int64)
    sets, rows = np.nonzero(np.diff(index, axis=0, prepend=-1))
    number[index[sets, rows], rows] = sets
    chosen = number[local, row]
    size = np.diff(choices.ptr)[chosen]
    entry = np.repeat(np.arange(len(c)), size)
    inside = np.arange(len(entry)) - np.repeat(np.cumsum(size) - size, size)
    port = choices.port[choices.ptr[chosen[entry]] + inside]
    sound = (port > 0) & (port < (choices.end - choices.first)[row[entry]])
    leaving = np.zeros((len(slots), int(port[sound].max(initial=0)) + 1), bool)
    leaving[c[entry[sound]], port[sound]] = True  # packets of a channel leave the switch behind it by this port
    before, port = np.nonzero(leaving)
    after = choices.first[choices.to[slots[before]]] + port
    between = (choices.to[after] >= 0) & (fabric.switch_row[fabric.node_of[after]] >= 0)
    return before[between], after[between]
