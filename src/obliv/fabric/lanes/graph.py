"""The dependency graph over channels and lanes of a fabric."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from obliv._util.arrays import Array, positions
from obliv._util.files import Value
from obliv._util.progress import require_memory
from obliv.fabric.kernels.lanes import Followed, LaneWalk, Origins, follow_lanes, gather
from obliv.fabric.lanes.pairs import PairLevels, one_level, sls_of
from obliv.fabric.lanes.read import Lanes
from obliv.fabric.lanes.sl2vl import DROP, MISSING, SLS, LaneTables
from obliv.fabric.model import Fabric
from obliv.fabric.routes.routing import FabricRouting
from obliv.fabric.routes.trace import Traces, trace_all
from obliv.kernels import run
from obliv.questions.deadlocks.graph import short_cycle
from obliv.routings.base import LaneDependencies


@dataclass(frozen=True)
class LaneCycle:
    """The slots where the channels of a cycle begin, and the lane of each; each may be used right before the next."""

    slots: tuple[int, ...]
    lanes: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class LaneGraph:
    """Which channel and lane follows which.

    Parameters
    ----------
    slots : int64 array
        Where each channel between switches begins.
    lanes : int
        Vertex l · channels + c is lane l of channel c.
    tail, head : int64 arrays
        The edges, by tail.
    vertices : bool array
        The lanes of channels that packets take.
    used : uint16 array
        The SLs of the packets that meet each row of the SL-to-VL tables.
    bare : bool array, shape (nodes,)
        Switches without a table that packets meet.
    """

    slots: Array
    lanes: int
    tail: Array
    head: Array
    vertices: Array
    used: Array
    bare: Array

    @property
    def dependencies(self) -> int:
        """Number of edges."""
        return len(self.tail)

    @property
    def lanes_used(self) -> tuple[int, ...]:
        """The lanes of channels between switches that packets take."""
        return tuple(np.unique(np.flatnonzero(self.vertices) // len(self.slots)).tolist())

    @cached_property
    def cycle(self) -> LaneCycle | None:
        """A short cycle."""
        return self._cycle(self.tail, self.head)

    def on_lane(self, lane: int) -> tuple[int, LaneCycle | None]:
        """Return the number of edges that stay on a lane, and a short cycle of them."""
        inside = (self.tail // len(self.slots) == lane) & (self.head // len(self.slots) == lane)
        cycle = None if self.cycle is None else self._cycle(self.tail[inside], self.head[inside])
        return int(inside.sum()), cycle

    def _cycle(self, tail: Array, head: Array) -> LaneCycle | None:
        starts = np.concatenate([[0], np.cumsum(np.bincount(tail, minlength=len(self.slots) * self.lanes))])
        cycle = short_cycle(starts, head)
        if cycle is None:
            return None
        return LaneCycle(
            tuple(int(self.slots[v % len(self.slots)]) for v in cycle), tuple(v // len(self.slots) for v in cycle)
        )


def origins_of(traces: Traces, tables: LaneTables) -> Origins:
    """Return the sources in origins: those at one switch whose ports have the same rows in the SL-to-VL table."""
    fabric = traces.fabric
    beside, leaf = fabric.ports.peer[traces.ends], traces.leaf_of
    numbers: dict[tuple[int, bytes], int] = {}
    origin_of = np.full(len(beside), -1, np.int64)
    for end, (slot, i) in enumerate(zip(beside.tolist(), leaf.tolist(), strict=True)):
        if i < 0:
            continue
        node = int(traces.leaf[i])
        ports = int(fabric.first_slot[node + 1] - fabric.first_slot[node])
        at = int(tables.first[node]) + (slot - int(fabric.first_slot[node])) * ports
        rows = tables.row[at : at + ports].tobytes() if tables.first[node] >= 0 else b""
        origin_of[end] = numbers.setdefault((i, rows), len(numbers))
    known = np.flatnonzero(origin_of >= 0)
    _, which, count = np.unique(origin_of[known], return_index=True, return_counts=True)
    member = known[which]
    alone = np.where(count == 1, member, -1)
    place = leaf[member].astype(np.int64)
    return Origins(traces.leaf[place].astype(np.int64), place, beside[member].astype(np.int64), alone, origin_of)


def lane_graph(
    traces: Traces, tables: LaneTables, origins: Origins, levels: PairLevels, *, exact: bool = False
) -> tuple[LaneGraph, int]:
    """Follow all routes with the SLs of their packets."""
    fabric, to = traces.fabric, traces.hops.to
    masks, lacking = _masks(traces, origins, levels)
    sls = np.array(sls_of(int(np.bitwise_or.reduce(masks, axis=None))), np.int64)
    slots = np.flatnonzero(to >= 0)
    slots = slots[np.isin(fabric.node_of[slots], fabric.switches)]
    channel = positions(slots, len(to))
    ports = min(int(np.diff(fabric.first_slot)[fabric.switches].max(initial=1)), 256)  # a table entry is a byte
    given = tables.vl[1:, sls] if len(sls) else np.zeros((0, 0), np.uint8)
    lanes = 1 + int(given.max(initial=0, where=given != DROP))
    require_memory(12.0 * len(slots) * ports * lanes, f"the channel dependency graph of {fabric.name}")
    followed = Followed(
        len(slots),
        np.zeros(len(slots) * lanes, np.bool_),
        np.zeros((len(slots) * lanes, ports), np.uint16),
        np.zeros(len(fabric.nodes), np.bool_),
    )
    walk = _walk(traces, tables, channel, exact)
    work = 10.0 * len(origins.node) * len(traces.lid) * max(1, len(sls))
    order = np.argsort(masks[0], kind="stable") if masks.shape[1] > 1 == len(masks) else np.arange(len(traces.lid))
    run(follow_lanes, work, order, origins, traces.columns, walk, masks, sls, followed)
    used = _used(fabric, tables, walk)
    follows = followed.follows
    before, port = np.nonzero(follows)
    after = channel[fabric.first_slot[to[slots[before % len(slots)]]] + port]
    bits = follows[before, port]
    tails, heads = [], []
    for lane in range(lanes):
        has = bits >> lane & 1 > 0
        tails.append(before[has])
        heads.append(after[has] + lane * len(slots))
    tail, head = np.concatenate(tails), np.concatenate(heads)
    order = np.argsort(tail, kind="stable")
    return LaneGraph(slots, lanes, tail[order], head[order], followed.vertex, used, followed.bare), lacking


def _walk(traces: Traces, tables: LaneTables, channel: Array, exact: bool) -> LaneWalk:
    """Return cables and tables as the kernel takes them."""
    fabric, hops = traces.fabric, traces.hops
    first = fabric.first_slot.astype(np.int64)
    uniform = np.full(len(channel), -1, np.int32)
    if not exact:
        for slots, out, rows in _entries(fabric, tables, tables.row):
            same = (rows[:, out] == rows[:, out[:1]]).all(axis=1)
            uniform[slots] = np.where(same, rows[:, out[0]], -1)
    node = np.stack([first[:-1], first[1:], hops.row, tables.first, np.diff(first)], axis=1).astype(np.int64)
    far = np.where(fabric.ports.peer >= 0, uniform[fabric.ports.peer], -1)
    slot = np.stack([channel, fabric.ports.peer, hops.to, far], axis=1).astype(np.int32)
    small = len(tables.vl) < 1 << 16
    cell = tables.row.astype(np.uint32 if small else np.int64)
    met = np.zeros(len(channel), np.uint16)
    return LaneWalk(node, slot, uniform, met, cell, 16 if small else 32, tables.vl, hops.out)


def _entries(fabric: Fabric, tables: LaneTables, packed: Array) -> Iterator[tuple[slice, Array, Array]]:
    """Yield for every switch its slots, its ports with a cable, and its packed entries by port in and port out."""
    for node in np.flatnonzero(tables.first >= 0).tolist():
        a, b, at = int(fabric.first_slot[node]), int(fabric.first_slot[node + 1]), int(tables.first[node])
        out = np.flatnonzero(fabric.ports.peer[a:b] >= 0)
        if len(out):
            yield slice(a, b), out, packed[at : at + (b - a) ** 2].reshape(b - a, b - a)


def _used(fabric: Fabric, tables: LaneTables, walk: LaneWalk) -> Array:
    """Return the SLs of packets that meet each row, or where the rows of a port in are all the same, any of them."""
    used = (walk.cell >> walk.shift).astype(np.uint16)
    if walk.met.any():
        for slots, out, rows in _entries(fabric, tables, used):
            rows[:, out] |= walk.met[slots, None]
    return used


def _masks(traces: Traces, origins: Origins, levels: PairLevels) -> tuple[Array, int]:
    """Return the SLs of packets from every origin to every column, and the number of pairs without one."""
    masks = levels.masks
    if len(masks) == 1:
        reached = int((origins.of >= 0).sum())
        own = int((origins.of[traces.endpoint[masks[0] == 0]] >= 0).sum()) if masks.shape[1] > 1 else 0
        return masks, int((masks[0] == 0).sum()) * reached - own
    joined = np.zeros((len(origins.node), masks.shape[1]), np.uint16)
    lacking = run(gather, 4.0 * masks.size, origins.of, traces.endpoint, masks, joined)
    return joined, int(lacking)


# Deadlock over channels and lanes: as a whole, lane by lane, and if all traffic used one service level


@dataclass(frozen=True)
class OneLevel:
    """What happens if all packets have one SL.

    Parameters
    ----------
    sl : int
    dropped : bool
        Whether some switch discards packets of this SL.
    dependencies : int
    cycle : int
        Length of a cycle, 0 without one.
    """

    sl: int
    dropped: bool
    dependencies: int
    cycle: int


@dataclass(frozen=True, eq=False)
class LaneVerdict:
    """The dependency graph of a fabric with its lanes.

    Parameters
    ----------
    origins : Origins
    graph : LaneGraph
    lacking : int
        Number of pairs of a source and a LID without an SL; they are left out.
    lanes_used : tuple of int
        On channels between switches.
    sls_used : tuple of int
    """

    origins: Origins
    graph: LaneGraph
    lacking: int
    lanes_used: tuple[int, ...]
    sls_used: tuple[int, ...]

    def per_lane(self) -> Iterator[tuple[int, int, LaneCycle | None]]:
        """Yield each lane in use, the dependencies that stay on it, and a cycle of them."""
        for lane in self.lanes_used:
            yield (lane, *self.graph.on_lane(lane))


def judge(traces: Traces, lanes: Lanes) -> LaneVerdict:
    """Follow the routes of a fabric with its lanes."""
    tables = lanes.effective
    origins = origins_of(traces, tables)
    graph, lacking = lane_graph(traces, tables, origins, lanes.levels)
    faulty = bool(graph.bare.any() or (graph.used[tables.row == MISSING] > 0).any()) or _discards(tables, graph)
    if faulty or lanes.oper is not None or lanes.arbitration is not None:  # findings name the ports
        graph, lacking = lane_graph(traces, tables, origins, lanes.levels, exact=True)
    sls = sls_of(int(np.bitwise_or.reduce(lanes.levels.masks, axis=None)))
    return LaneVerdict(origins, graph, lacking, graph.lanes_used, tuple(sls))


def drops(tables: LaneTables) -> Array:
    """Return for every distinct row the SLs whose packets it discards, as masks."""
    masks = ((tables.vl == DROP) << np.arange(SLS)).sum(axis=1)
    masks[MISSING] = 0
    return np.asarray(masks, np.uint16)


def one_level_each(traces: Traces, lanes: Lanes, verdict: LaneVerdict, one_lane: OneLevel) -> tuple[OneLevel, ...]:
    """Return for every SL what happens if all packets have it, as under software that asks no subnet manager."""
    tables, graph = lanes.effective, verdict.graph
    met = _all_met(tables, verdict)
    rows = tables.vl[np.unique(tables.row) if met is None else met]
    results: dict[bytes, OneLevel] = {}
    answers = []
    for sl in range(SLS):
        column = rows[:, sl]
        key = column.tobytes()
        if key not in results:
            if met is not None and len(column) and (column == column[0]).all() and column[0] != DROP:
                results[key] = OneLevel(sl, False, one_lane.dependencies, one_lane.cycle)
            else:
                graph, _ = lane_graph(traces, tables, verdict.origins, one_level(sl))
                cycle = graph.cycle
                length = 0 if cycle is None else len(cycle.slots)
                results[key] = OneLevel(sl, _discards(tables, graph), graph.dependencies, length)
        answers.append(replace(results[key], sl=sl))
    return tuple(answers)


def _discards(tables: LaneTables, graph: LaneGraph) -> bool:
    """Return whether some packet is discarded."""
    return bool((graph.used & drops(tables)[tables.row]).any())


def _all_met(tables: LaneTables, verdict: LaneVerdict) -> Array | None:
    """Return the distinct rows that packets meet, if these are the rows of whole routes of all pairs; else None."""
    graph = verdict.graph
    met = np.unique(tables.row[graph.used > 0])
    whole = not (verdict.lacking or graph.bare.any() or MISSING in met or _discards(tables, graph))
    return met if whole else None


# The dependencies of a fabric's lanes, as a routing gives them to ``obliv deadlock``


class LanesOf(Value):
    """The virtual lanes of a fabric; called with a routing, what follows what on them.

    Parameters
    ----------
    lanes : Lanes
    """

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes

    def __call__(self, routing: FabricRouting) -> LaneDependencies:
        """Return what packets between all hosts use, whatever the terminals are, as ``obliv fabric check`` does."""
        graph = judge(trace_all(self.lanes.fabric, routing.routes.tables), self.lanes).graph
        many = max(1, len(graph.slots))
        channel = routing.topology.channel_of[graph.slots]

        def pairs(vertices: Array) -> Array:
            return np.stack([channel[vertices % many], vertices // many], axis=1)

        follows = np.concatenate([pairs(graph.tail), pairs(graph.head)], axis=1)
        return LaneDependencies(pairs(np.flatnonzero(graph.vertices)), follows)
