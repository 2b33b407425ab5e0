"""The dependency graph over channels and lanes of a fabric."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from obliv._util.arrays import positions
from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.analysis.deadlocks.graph import short_cycle
from obliv.fabric.kernels.lanes import Origins, follow_lanes, gather
from obliv.fabric.lanes.levels import Levels, sls_of
from obliv.fabric.lanes.tables import DROP, LaneTables
from obliv.fabric.routes.trace import Traces
from obliv.kernels import run

__all__ = ["LaneCycle", "LaneGraph", "Sources", "lane_graph", "sources_of"]


@dataclass(frozen=True)
class LaneCycle:
    """The slots where the channels of a cycle begin, and the lane of each; each may be used right before the next."""

    slots: tuple[int, ...]
    lanes: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Sources:
    """The sources of a fabric in origins, and the SLs of their packets.

    Parameters
    ----------
    origins : Origins
    origin_of : int64 array, shape (endpoints,)
        -1 for endpoints that are cabled to no switch.
    """

    origins: Origins
    origin_of: Array


@dataclass(frozen=True, eq=False)
class LaneGraph:
    """Which channel and lane follows which.

    Parameters
    ----------
    slots : int64 array
        Where each channel between switches begins.
    lanes : int
        Vertex c · lanes + l is lane l of channel c.
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
        return tuple(np.unique(np.flatnonzero(self.vertices) % self.lanes).tolist())

    @cached_property
    def cycle(self) -> LaneCycle | None:
        """A short cycle."""
        return self._cycle(self.tail, self.head)

    def on_lane(self, lane: int) -> tuple[int, LaneCycle | None]:
        """Return the number of edges that stay on a lane, and a short cycle of them."""
        inside = (self.tail % self.lanes == lane) & (self.head % self.lanes == lane)
        cycle = None if self.cycle is None else self._cycle(self.tail[inside], self.head[inside])
        return int(inside.sum()), cycle

    def _cycle(self, tail: Array, head: Array) -> LaneCycle | None:
        starts = np.concatenate([[0], np.cumsum(np.bincount(tail, minlength=len(self.slots) * self.lanes))])
        cycle = short_cycle(starts, head)
        if cycle is None:
            return None
        return LaneCycle(tuple(int(self.slots[v // self.lanes]) for v in cycle), tuple(v % self.lanes for v in cycle))


def sources_of(traces: Traces, tables: LaneTables) -> Sources:
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
    origins = Origins(traces.leaf[place].astype(np.int64), place, beside[member].astype(np.int64), alone)
    return Sources(origins, origin_of)


def lane_graph(traces: Traces, tables: LaneTables, sources: Sources, levels: Levels) -> tuple[LaneGraph, int]:
    """Follow all routes with the SLs of their packets.

    Parameters
    ----------
    traces : Traces
        Between all endpoints.
    tables : LaneTables
    sources : Sources
        As :func:`sources_of` returns them for these tables.
    levels : Levels

    Returns
    -------
    LaneGraph
    int
        Number of pairs of a source and a LID without an SL.
    """
    fabric, to = traces.fabric, traces.hops.to
    masks, lacking = _masks(traces, sources, levels)
    sls = np.array(sls_of(int(np.bitwise_or.reduce(masks, axis=None))), np.int64)
    slots = np.flatnonzero(to >= 0)
    slots = slots[np.isin(fabric.node_of[slots], fabric.switches)]
    channel = positions(slots, len(to))
    ports = min(int(np.diff(fabric.first_slot)[fabric.switches].max(initial=1)), 256)  # a table entry is a byte
    given = tables.vl[1:, sls] if len(sls) else np.zeros((0, 0), np.uint8)
    lanes = 1 + int(given.max(initial=0, where=given != DROP))
    require_memory(12.0 * len(slots) * ports * lanes, f"the channel dependency graph of {fabric.name}")
    follows = np.zeros((len(slots) * lanes, ports), np.uint16)
    used = np.zeros(len(tables.row), np.uint16)
    bare = np.zeros(len(fabric.nodes), np.bool_)
    vertices = np.zeros(len(slots) * lanes, np.bool_)
    arrays = (sources.origins, traces.lid, traces.endpoint, traces.code, traces.hops, tables.arrays(fabric))
    work = 10.0 * len(sources.origins.node) * len(traces.lid) * max(1, len(sls))
    run(follow_lanes, work, *arrays, masks, sls, channel, lanes, vertices, follows, used, bare)
    before, port = np.nonzero(follows)
    after = channel[fabric.first_slot[to[slots[before // lanes]]] + port] * lanes
    bits = follows[before, port]
    tails, heads = [], []
    for lane in range(lanes):
        has = bits >> lane & 1 > 0
        tails.append(before[has])
        heads.append(after[has] + lane)
    tail, head = np.concatenate(tails), np.concatenate(heads)
    order = np.argsort(tail, kind="stable") if lanes > 1 else slice(None)
    return LaneGraph(slots, lanes, tail[order], head[order], vertices, used, bare), lacking


def _masks(traces: Traces, sources: Sources, levels: Levels) -> tuple[Array, int]:
    """Return the SLs of packets from every origin to every column, and the number of pairs without one."""
    masks = levels.masks
    if len(masks) == 1:
        reached = int((sources.origin_of >= 0).sum())
        own = int((sources.origin_of[traces.endpoint[masks[0] == 0]] >= 0).sum()) if masks.shape[1] > 1 else 0
        return masks, int((masks[0] == 0).sum()) * reached - own
    joined = np.zeros((len(sources.origins.node), masks.shape[1]), np.uint16)
    lacking = run(gather, 4.0 * masks.size, sources.origin_of, traces.endpoint, masks, joined)
    return joined, int(lacking)
