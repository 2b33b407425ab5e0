"""Adaptive routing as a routing: even splits over the groups, or switches that choose as they like."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np

from obliv._util.progress import Progress
from obliv._util.text import did_you_mean
from obliv._util.typing import Array
from obliv.errors import RoutingError, SpecError
from obliv.fabric.adaptive.choices import PackedGroups, packed, traced
from obliv.fabric.adaptive.loads import AdaptiveLoads
from obliv.fabric.arguments import typed
from obliv.fabric.groups import GroupTables
from obliv.fabric.routes.classes import Offset, Routes, routes_of
from obliv.fabric.routes.routing import FabricRouting, spec_options
from obliv.fabric.routes.routing import routing as static_routing
from obliv.fabric.topology import FabricTopology
from obliv.loads.hops import Hops
from obliv.routings.base import Crossed, Path, Routing
from obliv.routings.hops import HopRouting
from obliv.routings.lengths import Lengths

__all__ = ["MODES", "AdaptiveRouting", "AnyChoice", "GroupHops", "adaptive_routing"]

#: What is assumed of the switches.
MODES = ("static", "even", "worst")
_ALIASES = {"any": "worst"}

_NOTES = {
    "even": "a model: switches split the packets for a LID evenly over its group",
    "worst": "each cable by itself: the most that switches can put on it within their groups",
}


class GroupHops(HopRouting):
    """The next hops that groups allow, to one LID of each destination.

    Parameters
    ----------
    topology : FabricTopology
    groups : PackedGroups
    lid : int array, shape (terminals,)
        Of every destination.
    spec : str
    any_choice : bool
        Whether switches choose as they like; else next hops are equally likely.
    """

    topology: FabricTopology

    def __init__(self, topology: FabricTopology, groups: PackedGroups, lid: Array, spec: str, any_choice: bool) -> None:
        super().__init__(topology, spec)
        self.groups = groups
        self.lid = lid
        self.any_choice = any_choice

    def next_hops(self, node: int, destination: int) -> list[int]:
        if node == destination:
            return []
        topology, choices = self.topology, self.groups.choices
        if node < topology.hosts:
            return [int(topology.channel_of[topology.fabric.endpoints[node]])]
        number = int(topology.number_of[destination])
        if number < 0:
            raise RoutingError(f"{topology.name_of(destination)} is not a terminal of {topology.spec}")
        row = node - topology.hosts
        first, end = int(choices.first[row]), int(choices.end[row])
        slots = [first + port for port in self.groups.set_of(int(self.lid[number]), row)]
        if any(slot == first or slot >= end or topology.channel_of[slot] < 0 for slot in slots):
            return []  # some choice leads nowhere
        return sorted(int(topology.channel_of[slot]) for slot in slots)

    def hops_to(self, destination: int) -> Hops:
        channel = [c for node in range(self.topology.nodes) for c in self.next_hops(node, destination)]
        return Hops.even(np.array(channel, np.int64), self.topology)


class AdaptiveRouting(FabricRouting, same_paths=True):
    """The routes that group tables allow, each port of a group equally likely.

    Parameters
    ----------
    topology : FabricTopology
    routes : Routes
        Their classes of sources, and which pairs arrive by all choices.
    groups : PackedGroups
    spec : str
    skip : bool
        Whether pairs whose packets do not arrive by all choices send nothing; else they are an error.
    """

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

    @cached_property
    def hop_groups(self) -> Sequence[tuple[Array, HopRouting]]:
        routes = self.routes
        if routes.denominator > 1 or (self.partial and not self.any_choice):
            return []
        low = routes.low[routes.class_of]
        terminals = self.topology.terminals
        return [(terminals[low == offset], self._hops(offset)) for offset in np.unique(low).tolist()]

    @property
    def by_hops(self) -> HopRouting | None:
        groups = self.hop_groups
        return groups[0][1] if len(groups) == 1 else None

    @property
    def by_next_channel(self) -> None:
        return None

    def components(self) -> tuple[tuple[Fraction, Routing], ...]:
        several = self.routes.denominator
        if several == 1 or self.partial:
            return super().components()
        return tuple((Fraction(1, several), self._hops(offset)) for offset in range(several))

    def paths(self, source: int, destination: int) -> Iterator[Path]:
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

    def paths(self, source: int, destination: int) -> Iterator[Path]:
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
    >>> from obliv.fabric.generate.from_topology import from_topology
    >>> from obliv.fabric.reroute.groups import groups_of
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
