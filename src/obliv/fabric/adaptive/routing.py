"""Adaptive routing as a routing: even splits over the groups, or free choices; group tables by service level."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path

import numpy as np

from obliv._util.arrays import Array
from obliv._util.progress import Progress
from obliv._util.text import did_you_mean, plural
from obliv.errors import InputError, RoutingError, SpecError
from obliv.fabric.adaptive.loads import AdaptiveLoads, PackedGroups, packed, traced
from obliv.fabric.files.far import read_groups
from obliv.fabric.files.forwarding import AdaptiveInfo, read_ar_info
from obliv.fabric.model import NONE, Fabric, Tables, typed
from obliv.fabric.names import NO_STATE, STATIC, GroupTables
from obliv.fabric.routes.routing import FabricRouting, spec_options
from obliv.fabric.routes.routing import routing as static_routing
from obliv.fabric.routes.trace import Offset, Routes, routes_of
from obliv.fabric.topology import FabricTopology
from obliv.loads.stored import Hops
from obliv.routings.base import Routing
from obliv.routings.descriptions import Description, HopGroups
from obliv.routings.hops import HopRouting, hops_of
from obliv.routings.paths import Crossed, Lengths
from obliv.routings.paths import Path as HopPath

#: What is assumed of the switches.
MODES = ("static", "even", "worst")
_ALIASES = {"any": "worst"}

_NOTES = {
    "even": "a model: switches split the packets for a LID evenly over its group",
    "worst": "each cable by itself: the most that switches can put on it within their groups",
}


class GroupHops(HopRouting):
    """The next hops that groups allow, to one LID of each destination; equally likely unless switches choose."""

    topology: FabricTopology

    def __init__(self, topology: FabricTopology, groups: PackedGroups, lid: Array, spec: str, any_choice: bool) -> None:
        super().__init__(topology, spec)
        self.groups = groups
        self.lid = lid
        self.any_choice = any_choice

    def next_hops(self, node: int, destination: int) -> list[int]:
        if node == destination:
            return []
        topology, fabric = self.topology, self.topology.fabric
        if node < topology.hosts:
            return [int(topology.channel_of[fabric.endpoints[node]])]
        number = int(topology.number_of[destination])
        if number < 0:
            raise RoutingError(f"{topology.name_of(destination)} is not a terminal of {topology.spec}")
        switch = int(fabric.switches[node - topology.hosts])
        first, end = fabric.first_slot[switch : switch + 2].tolist()
        slots = [first + port for port in self.groups.set_of(int(self.lid[number]), switch)]
        if any(slot == first or slot >= end or topology.channel_of[slot] < 0 for slot in slots):
            return []  # some choice leads nowhere
        return sorted(int(topology.channel_of[slot]) for slot in slots)

    def hops_to(self, destination: int) -> Hops:
        channel = [c for node in range(self.topology.nodes) for c in self.next_hops(node, destination)]
        return Hops.even(np.array(channel, np.int64), self.topology)


class AdaptiveRouting(FabricRouting, same_paths=True):
    """The routes that group tables allow, each port of a group equally likely."""

    def __init__(
        self, topology: FabricTopology, routes: Routes, groups: PackedGroups, spec: str, skip: bool = False
    ) -> None:
        super().__init__(topology, routes, spec, skip)
        self.groups = groups
        self.notes = (_NOTES["worst" if self.any_choice else "even"],)

    def _hops(self, offset: int) -> GroupHops:
        """Return the next hops to the LIDs of one offset."""
        first, size = self.routes.traces.first_column[:-1], np.diff(self.routes.traces.first_column)
        lid = self.routes.traces.lid[first + offset % size]
        return GroupHops(self.topology, self.groups, lid, self.spec, self.any_choice)

    def describe(self) -> tuple[Description, ...]:
        routes, lanes = self.routes, super().describe()
        if routes.denominator > 1 or (self.partial and not self.any_choice):
            return lanes
        low, terminals = routes.low[routes.class_of], self.topology.terminals
        groups = [(terminals[low == offset], hops_of(self._hops(offset))) for offset in np.unique(low).tolist()]
        return (groups[0][1] if len(groups) == 1 else HopGroups(groups), *lanes)

    def components(self) -> tuple[tuple[Fraction, Routing], ...]:
        several = self.routes.denominator
        if several == 1 or self.partial:
            return super().components()
        return tuple((Fraction(1, several), self._hops(offset)) for offset in range(several))

    def paths(self, source: int, destination: int) -> Iterator[HopPath]:
        if source == destination:
            return
        routes = self.routes
        r, d = int(routes.class_of[self._terminal(source)]), self._terminal(destination)
        if routes.leaf[r] < 0:
            channel = int(self.topology.channel_of[self.topology.fabric.endpoints[source]])
            if self.topology.head[channel] == destination:
                yield (channel,), Fraction(1)
            return
        for offset in range(int(routes.low[r]), int(routes.low[r]) + routes.denominator):
            column = int(routes.columns(r, d)[offset - int(routes.low[r])])
            if routes.traces.code[routes.leaf[r], column]:
                if not self.skip:
                    self.require_all()
                continue
            for path, chance in self._hops(offset).paths(source, destination):
                yield path, chance / routes.denominator

    @cached_property
    def fabric_loads(self) -> AdaptiveLoads:
        return AdaptiveLoads(self.routes, self.groups, self.any_choice)


class AnyChoice(AdaptiveRouting, same_paths=True):
    """The routes that group tables allow, among which the switches choose as they like."""

    any_choice = True

    def paths(self, source: int, destination: int) -> Iterator[HopPath]:
        raise self._without_chances()

    def sample(self, source: int, destination: int, rng: np.random.Generator) -> tuple[int, ...]:
        raise self._without_chances()

    def crossings(self, source: int, destination: int, packets: int, rng: np.random.Generator) -> Crossed:
        raise self._without_chances()

    def pair_lengths(self, progress: Progress) -> Iterator[tuple[int, int, Lengths]]:
        raise self._without_chances()

    def _without_chances(self) -> RoutingError:
        return RoutingError(
            f"{self.spec}: switches choose as they like, so paths have no probabilities: use adaptive=even"
        )


@typed
def adaptive_routing(
    topology: FabricTopology,
    groups: GroupTables,
    mode: str = "even",
    offset: Offset = "0",
    *,
    missing: str = "refuse",
    spec: str = "",
) -> FabricRouting:
    """Return group tables as a routing on their fabric.

    Parameters
    ----------
    topology : FabricTopology
        Of the fabric that the tables were read for.
    groups : GroupTables
    mode : {"static", "even", "worst"}
        What is assumed of the switches: they use the static ports; they split packets evenly over the ports of a
        group; or they choose as they like, and every channel counts with the largest load that they can put on it.
        ``any`` is another name for ``worst``.
    offset, missing
        As for :func:`obliv.fabric.routing`; packets arrive if they do so by all choices.
    spec : str, optional
        Its spec; default ``far:`` and the name of the tables.

    Returns
    -------
    FabricRouting

    Raises
    ------
    RoutingError
        If there are several private LFTs.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate import from_topology
    >>> from obliv.fabric.reroute.fill import groups_of
    >>> from obliv.fabric.topology import network
    >>> fabric = from_topology(obliv.topology("fattree:4,3"))
    >>> even = adaptive_routing(network(fabric), groups_of(fabric), "even")
    >>> obliv.worst_case(even).channel_load
    Fraction(1, 1)
    """
    mode = _ALIASES.get(mode, mode)
    if mode not in MODES:
        raise SpecError.naming("{adaptive}={0!r}: {1}", mode[:40], did_you_mean(mode, MODES))
    options = spec_options(offset, missing)
    spec = spec or f"far:{groups.name},adaptive={mode}{options}"
    if mode == "static":
        return static_routing(topology, groups.static, offset, missing=missing, spec=spec)
    sets = packed(topology.fabric, groups, topology.ends)
    traces = traced(sets)
    routes = routes_of(topology, traces.tables, offset, traces)
    kind = AnyChoice if mode == "worst" else AdaptiveRouting
    return kind(topology, routes, sets, spec, missing == "skip")


# Group tables as packets of one service level meet them, and where no group tables are


def for_level(groups: GroupTables, fabric: Fabric, info: AdaptiveInfo, sl: int) -> GroupTables:
    """Return group tables for packets of a service level: where it is excluded, they use the static ports."""
    if not 0 <= sl <= 15:
        raise InputError(f"service level {sl} is out of range (0 to 15)")
    excluded = info.excludes(sl)[fabric.switch_row[groups.switch]]
    state = groups.state.copy()
    state[excluded] = np.where(state[excluded] == NO_STATE, NO_STATE, STATIC)
    return replace(groups, state=state, sources=(*groups.sources, *info.sources))


def completed(groups: GroupTables, tables: Tables) -> GroupTables:
    """Return group tables with the forwarding tables of the switches that have no groups, as static ports."""
    plain = np.flatnonzero(~np.isin(tables.switch, groups.switch) & tables.used)
    if not len(plain):
        return groups
    wide = max(groups.port.shape[1], tables.out.shape[1])

    def widened(column: np.ndarray, fill: int) -> np.ndarray:
        return np.pad(column, ((0, 0), (0, wide - column.shape[1])), constant_values=fill)

    port = widened(tables.out[plain], NONE)
    state = np.where(port == NONE, NO_STATE, STATIC).astype(np.uint8)
    number = groups.plfts[0] if groups.plfts else 0
    return replace(
        groups,
        switch=np.concatenate([groups.switch, tables.switch[plain]]),
        plft=np.concatenate([groups.plft, np.full(len(plain), number, np.int32)]),
        port=np.concatenate([widened(groups.port, NONE), port]),
        state=np.concatenate([widened(groups.state, NO_STATE), state]),
        group=np.concatenate([widened(groups.group, 0), np.zeros_like(port, np.uint16)]),
        groups=(*groups.groups, *({},) * len(plain)),
        line=np.concatenate([groups.line, tables.line[plain]]),
        sources=(*groups.sources, *tables.sources),
    )


# Groups of adaptive routing from files, as the packets of one service level meet them


@typed
def read_adaptive(
    fabric: Fabric,
    far: str | Path,
    *,
    tables: Tables | None = None,
    info: str | Path | None = None,
    sl: int | None = None,
    plft: int | None = None,
) -> GroupTables:
    """Read groups of adaptive routing.

    Parameters
    ----------
    fabric : Fabric
        With LIDs.
    far : str or Path
        ``ibdiagnet2.far``.
    tables : Tables, optional
        Forwarding tables, which count for switches without groups.
    info : str or Path, optional
        ``ibdiagnet2.db_csv``, which says for which service levels each switch is adaptive.
    sl : int, optional
        The service level of packets; needed with `info`.
    plft : int, optional
        The private LFT of packets, where there are several.

    Returns
    -------
    GroupTables
        Of one private LFT. Its `findings` list defects and remarks.

    Raises
    ------
    FileError
        If a file cannot be read or contains nothing of the kind.
    InputError
        If the private LFT or the service level is missing or invalid.
    """
    groups = read_groups(far, fabric)
    if (info is None) != (sl is None):
        raise InputError(
            "a service level and ibdiagnet2.db_csv, which says where it is adaptive, must be given together"
        )
    if plft is None and len(groups.plfts) > 1:
        listed = ", ".join(map(str, groups.plfts))
        raise InputError(f"{groups.name} has {plural(len(groups.plfts), 'private LFT')} ({listed}): choose one by plft")
    if plft is not None and plft not in groups.plfts:
        listed = ", ".join(map(str, groups.plfts))
        raise InputError(f"{groups.name} has no private LFT {plft}: choose one of {listed}")
    groups = groups.of_plft(groups.plfts[0] if plft is None else plft)
    if info is not None and sl is not None:
        groups = for_level(groups, fabric, read_ar_info(info, fabric), sl)
    return groups if tables is None else completed(groups, tables)


def groups_spec(
    far: str | Path,
    mode: str,
    *,
    lft: str | Path | None,
    info: str | Path | None,
    sl: int | None,
    plft: int | None,
    options: str,
) -> str:
    """Return the spec of a routing by groups; `options` are those for all tables."""
    given = {"lft": lft, "info": info, "sl": sl, "plft": plft}
    files = "".join(f",{name}={value}" for name, value in given.items() if value not in (None, ""))
    return f"far:{far},adaptive={mode}{files}{options}"
