"""The dependency graph over channels and lanes of a fabric, and its deadlocks: as a whole, lane by lane, by level."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from obliv._util.arrays import Array, grouped
from obliv._util.files import Value
from obliv.fabric.kernels.automaton import DISCARDING, UNMAPPED, Automaton
from obliv.fabric.lanes.pairs import PairLevels, one_level, sls_of
from obliv.fabric.lanes.read import Lanes
from obliv.fabric.lanes.sl2vl import DROP, MISSING, SLS, LaneTables
from obliv.fabric.routes.dependencies import ByEntry, by_entry, graph_of
from obliv.fabric.routes.routing import FabricRouting
from obliv.fabric.routes.trace import Ending, Traces, trace_all
from obliv.questions.deadlocks.graph import short_cycle
from obliv.routings.descriptions import LaneDependencies


@dataclass(frozen=True)
class LaneCycle:
    """The slots where the channels of a cycle begin, and the lane of each; each may be used right before the next."""

    slots: tuple[int, ...]
    lanes: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class LaneGraph:
    """Which channel and lane follows which."""

    slots: Array  # int64; where each channel between switches begins
    lanes: int  # vertex l · channels + c is lane l of channel c
    # tail, head: int64; the edges, by tail
    tail: Array
    head: Array
    vertices: Array  # bool; the lanes of channels that packets take
    used: Array  # uint16; the SLs of the packets that meet each row of the SL-to-VL tables
    bare: Array  # bool, shape (nodes,); switches without a table that packets meet

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
        cycle = short_cycle(*graph_of(tail << 32 | head, len(self.slots) * self.lanes))
        if cycle is None:
            return None
        return LaneCycle(
            tuple(int(self.slots[v % len(self.slots)]) for v in cycle), tuple(v // len(self.slots) for v in cycle)
        )


@dataclass(frozen=True, eq=False)
class Origins:
    """Sources at one leaf switch whose packets are treated alike."""

    # leaf, entry: int64, shape (origins,); the number of the leaf switch, and the slot by which packets come in
    leaf: Array
    entry: Array
    alone: Array  # int64, shape (origins,); its endpoint where an origin has only one, else -1
    of: Array  # int64, shape (endpoints,); the origin of every endpoint, -1 for endpoints that are cabled to no switch


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
    return Origins(place, beside[member].astype(np.int64), alone, origin_of)


@dataclass(frozen=True, eq=False)
class LaneEntries:
    """The ports by which packets come into switches, and the rows of the SL-to-VL tables that they meet from there."""

    entries: ByEntry
    # place: int64, shape (slots of the automaton,); where the number of each slot's row stands in ``tables.row``, -1
    # for switches without a table
    place: Array
    tables: LaneTables

    @cached_property
    def number(self) -> Array:
        """The number of the row of every slot."""
        return np.where(self.place >= 0, self.tables.row[self.place], MISSING)

    def on(self, sl: int) -> tuple[Automaton, Array]:
        """Return where packets of a service level go, and on which lanes; they end where a row discards them."""
        automaton, lane = self.entries.automaton, self.tables.vl[self.number, sl]
        to = np.where(lane == DROP, np.where(self.number == MISSING, UNMAPPED, DISCARDING), automaton.to)
        return automaton._replace(to=to.astype(np.int32)), lane


def lane_entries(traces: Traces, tables: LaneTables) -> LaneEntries:
    """Return the automaton by entry of a fabric with its SL-to-VL tables."""
    fabric, entries = traces.fabric, by_entry(traces.fabric, traces.hops)
    node = fabric.node_of[entries.entry]
    begin = entries.automaton.first[fabric.first_slot[node]]
    place = np.where(tables.first[node] >= 0, tables.first[node] + np.arange(len(node)) - begin, -1)
    return LaneEntries(entries, place, tables)


def lane_graph(traces: Traces, lanes: LaneEntries, origins: Origins, levels: PairLevels) -> tuple[LaneGraph, int]:
    """Follow all routes with the SLs of their packets; return the graph, and the number of pairs without an SL."""
    fabric, entries, tables = traces.fabric, lanes.entries, lanes.tables
    masks, lacking = _masks(traces, origins, levels)
    ends = (traces.code != Ending.LOOP) & (traces.code != Ending.NO_LID)
    count = len(entries.slots)
    used, bare = np.zeros(len(tables.row), np.uint16), np.zeros(len(fabric.nodes), bool)
    keys, vertices, most = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 1
    for sl in sls_of(int(np.bitwise_or.reduce(masks, axis=None))):
        automaton, lane = lanes.on(sl)
        sends = ends[origins.leaf] & (masks >> sl & 1 > 0) & (origins.alone[:, None] != traces.endpoint)
        on = replace(entries, automaton=automaton)
        bits = on.crossed(origins.entry, traces.lid, sends, lane)
        met = np.flatnonzero(bits)
        used[lanes.place[met[lanes.place[met] >= 0]]] |= np.uint16(1 << sl)
        bare[fabric.node_of[entries.entry[met[lanes.place[met] < 0]]]] = True
        onward = met[automaton.to[met] >= 0]
        vertices.append(np.unique(lane[onward] * np.int64(count) + entries.number[entries.exit[onward]]))
        keys.append(on.dependencies(bits, lane))
        most = max(most, 1 + int(tables.vl[1:, sl].max(initial=0, where=tables.vl[1:, sl] != DROP)))
    key = np.unique(np.concatenate(keys))
    taken = np.zeros(count * most, bool)
    taken[np.concatenate(vertices)] = True
    return LaneGraph(entries.slots, most, key >> 32, key & (2**32 - 1), taken, used, bare), lacking


def _masks(traces: Traces, origins: Origins, levels: PairLevels) -> tuple[Array, int]:
    """Return the SLs of packets from every origin to every column, and the number of pairs without one."""
    masks = levels.masks
    if len(masks) == 1:
        reached = int((origins.of >= 0).sum())
        own = int((origins.of[traces.endpoint[masks[0] == 0]] >= 0).sum()) if masks.shape[1] > 1 else 0
        return masks, int((masks[0] == 0).sum()) * reached - own
    joined, lacking = np.zeros((len(origins.leaf), masks.shape[1]), np.uint16), 0
    first, member = grouped(origins.of + 1, len(origins.leaf) + 1)
    for r in range(len(origins.leaf)):
        sources = member[first[r + 1] : first[r + 2]]
        others = traces.endpoint != sources[:, None]
        lacking += int(((masks[sources] == 0) & others).sum())
        joined[r] = np.bitwise_or.reduce(masks[sources] * others, axis=0)
    return joined, lacking


# Deadlock over channels and lanes: as a whole, lane by lane, and if all traffic used one service level


@dataclass(frozen=True)
class OneLevel:
    """What happens if all packets have one SL."""

    sl: int
    dropped: bool  # whether some switch discards packets of this SL
    dependencies: int
    cycle: int  # length of a cycle, 0 without one


@dataclass(frozen=True, eq=False)
class LaneVerdict:
    """The dependency graph of a fabric with its lanes."""

    entries: LaneEntries
    origins: Origins
    graph: LaneGraph
    lacking: int  # number of pairs of a source and a LID without an SL; they are left out
    lanes_used: tuple[int, ...]  # on channels between switches
    sls_used: tuple[int, ...]

    def per_lane(self) -> Iterator[tuple[int, int, LaneCycle | None]]:
        """Yield each lane in use, the dependencies that stay on it, and a cycle of them."""
        for lane in self.lanes_used:
            yield (lane, *self.graph.on_lane(lane))


def judge(traces: Traces, lanes: Lanes) -> LaneVerdict:
    """Follow the routes of a fabric with its lanes."""
    entries, origins = lane_entries(traces, lanes.effective), origins_of(traces, lanes.effective)
    graph, lacking = lane_graph(traces, entries, origins, lanes.levels)
    sls = sls_of(int(np.bitwise_or.reduce(lanes.levels.masks, axis=None)))
    return LaneVerdict(entries, origins, graph, lacking, graph.lanes_used, tuple(sls))


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
                graph, _ = lane_graph(traces, verdict.entries, verdict.origins, one_level(sl))
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
    """The virtual lanes of a fabric; called with a routing, what follows what on them."""

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
