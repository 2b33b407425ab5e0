"""Pair loads of adaptive routing (even splits, or switches that choose as they like), and packed group tables."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from obliv._util.arrays import INT64_SAFE, Array, starts
from obliv._util.progress import require_memory
from obliv.errors import RoutingError, TooLargeError
from obliv.fabric.kernels.automaton import Automaton, endings
from obliv.fabric.kernels.splits import (
    DestinationClasses,
    ShareSums,
    Split,
    carry_shares,
    denominators,
    shares_on,
    sum_shares,
)
from obliv.fabric.model import NONE, Fabric
from obliv.fabric.names import NO_STATE, STATIC, GroupTables, ports_of
from obliv.fabric.routes.routing import FabricLoads
from obliv.fabric.routes.trace import NOWHERE, Routes, Traces, automaton_of, ending_of, untraced
from obliv.kernels import run
from obliv.loads.base import PairLoads
from obliv.matching.solve import Weights, members_of
from obliv.patterns.base import Traffic

# Group tables packed for kernels: a set of ports for every LID and switch, and equal sets stored once


_ROWS = 16  # whose choices are written together


@dataclass(frozen=True, eq=False)
class PackedGroups:
    """The choices that group tables leave to switches, between some ports of a fabric."""

    fabric: Fabric
    groups: GroupTables  # of a single private LFT
    ends: Array  # int64, shape (ends,); the slots between which packets travel
    sets: tuple[tuple[int, ...], ...]  # the different sets of ports; the first is empty
    hops: Automaton  # the columns of its tables are the switches, in the order of the fabric

    def set_of(self, lid: int, node: int) -> tuple[int, ...]:
        """Return the ports among which a switch may choose for a LID."""
        row = int(self.hops.row[node])
        return self.sets[int(self.hops.out[lid, row])] if row >= 0 and lid < len(self.hops.out) else ()


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
    port = np.array([port for ports in sets for port in ports], np.uint8)
    row = np.full(len(fabric.nodes), -1)
    row[groups.switch] = fabric.switch_row[groups.switch]
    hops = automaton_of(fabric, ends, row, choice, starts([len(ports) for ports in sets]), port)
    return PackedGroups(fabric, groups, ends, sets, hops)


def traced(groups: PackedGroups) -> Traces:
    """Return how packets from every leaf switch to every LID of an end can fare, whatever switches choose."""
    # A packet counts as delivered only if it arrives by all choices.
    traces = untraced(groups.fabric, groups.groups.static, groups.ends, groups.hops)
    columns, like = np.unique(first_alike(groups, traces), return_inverse=True)
    np.take(ending_of(traces, columns)[0], like, axis=1, out=traces.code)
    return traces


def first_alike(groups: PackedGroups, traces: Traces) -> Array:
    """Return for every LID the first one that all switches treat like it, but for the leaf switch that has both owners.

    There they leave by the ports of their owners, and by no other.

    Shape: (columns,).
    """
    choice, single = groups.hops.out, {ports[0]: n for n, ports in enumerate(groups.sets) if len(ports) == 1}
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
    Pairs that do not arrive by all choices carry nothing.  Shares too fine for 64 bits are a TooLargeError.
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
        return Split(self._alike.classes, self.groups.hops, self.any_choice, channel)

    def _between_switches(self, channel: int) -> Weights:
        alike, topology = self._alike, self.topology
        slot = int(topology.slot_of[channel])
        node = int(topology.fabric.node_of[slot])
        share: Array = np.zeros((self.routes.classes, len(alike.size)), np.int64)
        work = 30.0 * len(alike.classes.order)
        run(shares_on, work, node, topology.fabric.port_of(slot), alike.whole, self._split, share)
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
        work = 20.0 * len(amount) * len(self.groups.fabric.switches)
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
    start = np.where(routes.leaf >= 0, np.append(traces.leaf, -1)[routes.leaf], -1).astype(np.int64)
    times = _times(routes, ptr, column)
    switches = len(groups.fabric.switches)
    require_memory(12.0 * len(column) * switches + 8.0 * times.size, f"the choices of {groups.groups.name}")
    order = np.empty(len(groups.hops.row), np.int32)
    orders, ends = [], [0]
    for q, k in enumerate(column.tolist()):
        sources = np.unique(start[times[:, q] > 0])
        code, one = np.empty((len(sources), 1), np.uint8), slice(k, k + 1)
        arrays = sources, traces.lid[one], traces.endpoint[one], groups.hops, code, NOWHERE, order
        count = int(run(endings, 60.0 * switches * len(column), *arrays))
        orders.append(order[:count].copy())
        ends.append(ends[-1] + count)
    joined = np.concatenate(orders) if orders else order[:0]
    multiple = np.ones(len(joined), np.int64)
    classes = DestinationClasses(
        ptr, traces.lid[column].astype(np.int64), np.array(ends, np.int64), joined, multiple, start, times
    )
    terminals = len(routes.class_of)
    limit = INT64_SAFE // (8 * routes.denominator * terminals**2)
    whole = 1
    if not any_choice:
        whole = int(run(denominators, 60.0 * len(joined), classes, groups.hops, max(limit, 1)))
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
