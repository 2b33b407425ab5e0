"""Forwarding tables as a routing: their pair loads by classes of sources, and uniform traffic on a fabric."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from math import lcm

import numpy as np

from obliv._util.arrays import INT64_SAFE, Array, starts
from obliv._util.progress import Progress, require_memory
from obliv.errors import RoutingError, SpecError
from obliv.fabric.kernels.automaton import bound_channels, carry, spread_routes, sum_channels
from obliv.fabric.model import Tables, typed
from obliv.fabric.routes.trace import Ending, Offset, Routes, route_slots, routes_of
from obliv.fabric.shape import recognise
from obliv.fabric.topology import FabricTopology, partitions
from obliv.kernels import run
from obliv.loads.base import PairLoads
from obliv.loads.stored import Hops
from obliv.matching.solve import Weights
from obliv.patterns.base import Traffic, traffic
from obliv.routings.base import Routing
from obliv.routings.descriptions import Description, LaneDependencies, OneLane, OwnLanes
from obliv.routings.hops import HopRouting, hops_of
from obliv.routings.paths import Path

__all__ = ["FabricLoads"]


class FabricLoads(PairLoads):
    """Loads of the routes that forwarding tables give; routes that do not arrive carry nothing anywhere.

    Between switches a channel's entries are stored, one for each class of sources and destination; those of an
    endpoint's own cable follow from who reaches whom.
    """

    topology: FabricTopology

    def __init__(self, routes: Routes) -> None:
        self.topology = routes.topology
        self.routes = routes
        self.denominator = routes.denominator

    @cached_property
    def entries(self) -> tuple[Array, Array, Array]:
        """Where the entries of each channel between switches begin, the entries, and how often each crosses it.

        An entry is class · endpoints + destination; where every pair has one route the last array is empty.
        """
        routes, channels = self.routes, self.topology.channels
        last, cursor = np.full(channels, -1, np.int64), np.zeros(channels, np.int64)
        many, nothing = self.denominator > 1, np.zeros(0, np.uint8)
        kind = np.dtype(np.int32) if routes.classes * self.terminals < 2**31 else np.dtype(np.int64)
        work = 30.0 * routes.classes * self.terminals * self.denominator
        run(spread_routes, work, routes.arrays, False, last, cursor, np.zeros(0, kind), nothing)
        start = starts(cursor)
        require_memory((kind.itemsize + many) * float(start[-1]), f"the pair loads of {self.topology.spec}")
        pair, times = np.empty(start[-1], kind), np.empty(start[-1] if many else 0, np.uint8)
        last[:] = -1
        run(spread_routes, work, routes.arrays, True, last, start[:-1].copy(), pair, times)
        return start, pair, times

    def weights(self, channel: int) -> Weights:
        topology = self.topology
        tail, head = int(topology.tail[channel]), int(topology.head[channel])
        if tail < topology.hosts:
            return self._star(tail, by_row=True)
        if head < topology.hosts:
            return self._star(head, by_row=False)
        return self._between_switches(channel)

    def _between_switches(self, channel: int) -> Weights:
        """Return the numerators on a channel between switches."""
        n = self.terminals
        start, pair, times = self.entries
        part = slice(int(start[channel]), int(start[channel + 1]))
        r, d = np.divmod(pair[part], n)
        rows, counts = np.unique(r, return_counts=True)
        columns, col = np.unique(d, return_inverse=True)
        ptr, ids = self.routes.members
        size = np.diff(ptr)[rows]
        begin = np.cumsum(size) - size
        inside = np.arange(int(size.sum())) - np.repeat(begin, size)
        return Weights(
            ptr=starts(counts),
            col=col.astype(np.int32),
            weight=times[part].astype(np.int64) if len(times) else np.ones(len(col), np.int64),
            row_members=(np.concatenate([begin, [int(size.sum())]]), ids[np.repeat(ptr[rows], size) + inside]),
            column_members=(np.arange(len(columns) + 1), columns.astype(np.int64)),
        )

    def _star(self, host: int, by_row: bool) -> Weights:
        """Return the weights of a host's own cable: empty where it is not a terminal."""
        end = int(self.topology.number_of[host])
        if end < 0:
            return _star_weights(np.zeros(0, np.int64), np.zeros(0, np.int64), by_row)
        return _star_weights(np.array([end]), self._sent(end) if by_row else self._taken(end), by_row)

    def _sent(self, source: int) -> Array:
        """Return how many of a source's routes to every destination arrive."""
        delivered = self.routes.delivered
        return self._arriving(source, None if delivered is None else delivered[self.routes.class_of[source]])

    def _taken(self, destination: int) -> Array:
        """Return how many routes of every source to a destination arrive."""
        delivered = self.routes.delivered
        return self._arriving(destination, None if delivered is None else delivered[self.routes.class_of, destination])

    def _arriving(self, end: int, delivered: Array | None) -> Array:
        """Return the number of routes that arrive (`delivered` None: all), without those from an end to itself."""
        count = np.full(self.terminals, self.denominator, np.int64)
        if delivered is not None:
            count[:] = delivered * np.int64(self.denominator // self.routes.denominator)
        count[end] = 0
        return count

    def bounds(self, supply: Array, demand: Array) -> Array | None:
        """Return the simple bound of every channel, min(Σ row maxima, Σ column maxima), for terminals with rates."""
        # Shapes: `supply` and `demand` (terminals,); returned (channels,).
        largest = max(int(supply.astype(object).sum()), int(demand.astype(object).sum())) * self.denominator
        if supply.dtype == object or demand.dtype == object or largest >= INT64_SAFE:
            return None
        bound = self._bounds_between_switches(supply, demand)
        out, back = self._own_channels
        if self.routes.delivered is None:
            bound[out] = np.minimum(supply, demand.sum() - demand) * self.denominator
            bound[back] = np.minimum(demand, supply.sum() - supply) * self.denominator
        else:
            for end, (c, e) in enumerate(zip(out.tolist(), back.tolist(), strict=True)):
                sent, taken = self._sent(end), self._taken(end)
                bound[e] = min(int(taken.max()) * int(demand[end]), int(taken @ supply))
                bound[c] = min(int(sent.max()) * int(supply[end]), int(sent @ demand))
        return bound

    def _bounds_between_switches(self, supply: Array, demand: Array) -> Array:
        """Return the simple bounds of channels between switches, 0 for other channels."""
        start, pair, times = self.entries
        bound = np.zeros(self.topology.channels, np.int64)
        run(bound_channels, 5.0 * len(pair), start, pair, times, self.terminals, self._of_class(supply), demand, bound)
        return bound

    def _of_class(self, supply: Array) -> Array:
        """Return the supply of all sources of each class."""
        ptr, ids = self.routes.members
        return np.add.reduceat(supply[ids], ptr[:-1])

    @cached_property
    def _own_channels(self) -> tuple[Array, Array]:
        """The channels from and to every terminal."""
        topology = self.topology
        ends = topology.ends
        return topology.channel_of[ends], topology.channel_of[topology.fabric.ports.peer[ends]]

    def totals(self) -> Array:
        return self.uniform(np.ones(self.terminals, np.int64))

    def uniform(self, supply: Array) -> Array:
        """Return Σ supply of the source × numerator over all pairs, for every channel."""
        # Shapes: `supply` (terminals,); returned (channels,).
        total = self._sums_between_switches(supply)
        out, back = self._own_channels
        if self.routes.delivered is None:
            total[out] = supply * (self.terminals - 1) * self.denominator
            total[back] = (supply.sum() - supply) * self.denominator
        else:
            for end, (c, e) in enumerate(zip(out.tolist(), back.tolist(), strict=True)):
                total[e] = (self._taken(end) * supply).sum()
                total[c] = self._sent(end).sum() * supply[end]
        return total

    def _sums_between_switches(self, supply: Array) -> Array:
        """Return Σ supply of the source × numerator on channels between switches, 0 for other channels."""
        total = np.zeros(self.topology.channels, np.int64)
        work = 20.0 * self.routes.classes * self.terminals * self.denominator
        run(sum_channels, work, self.routes.arrays, self._of_class(supply), total)
        return total

    def _carried(self, traffic: Traffic) -> Array:
        amount = traffic.amount
        if amount.dtype != object and int(amount.astype(object).sum()) * self.denominator >= INT64_SAFE:
            amount = amount.astype(object)
        total: Array = np.zeros(self.topology.channels, amount.dtype)
        flows = traffic.source.astype(np.int64), traffic.destination.astype(np.int64), amount
        run(carry, 30.0 * len(amount) * self.denominator, *flows, self.routes.arrays, total)
        return total


def _star_weights(end: Array, routes: Array, by_row: bool) -> Weights:
    """Return weights between one terminal and all others, grouped by their number of routes."""
    counts = np.unique(routes[routes > 0])
    groups = [np.flatnonzero(routes == count) for count in counts.tolist()]
    others = starts([len(group) for group in groups])
    ids = np.concatenate(groups) if groups else np.zeros(0, np.int64)
    size = len(groups)
    alone = np.arange(min(1, size) + 1), end[: min(1, size)].astype(np.int64)
    return Weights(
        ptr=np.arange(size + 1) if not by_row else np.unique(np.array([0, size])),
        col=np.arange(size, dtype=np.int32) if by_row else np.zeros(size, np.int32),
        weight=counts.astype(np.int64),
        row_members=alone if by_row else (others, ids),
        column_members=(others, ids) if by_row else alone,
    )


# Forwarding tables as a routing


#: What the offset ``spread`` assumes.
SPREAD = "assumed: sources spread their packets evenly over the LIDs of each destination"


class FabricRouting(Routing):
    """The routes that forwarding tables give, with a rule for which of a destination's LIDs a source uses.

    With `skip`, pairs whose routes do not arrive send nothing; else they are an error.  `lanes` tells what follows what
    on the fabric's virtual lanes, where these are known.
    """

    topology: FabricTopology
    lanes: Callable[[FabricRouting], LaneDependencies] | None = None

    def __init__(self, topology: FabricTopology, routes: Routes, spec: str, skip: bool = False) -> None:
        super().__init__(topology, spec)
        self.routes = routes
        self.skip = skip
        self.partial = skip and routes.missing > 0
        self.sources = routes.tables.sources
        if routes.denominator > 1:
            self.notes = (SPREAD,)

    def describe(self) -> tuple[Description, ...]:
        lanes = () if self.lanes is None else (OwnLanes(partial(self.lanes, self)),)
        return lanes if self.routes.missing else (*lanes, OneLane(partial(_on_one_lane, self.routes)))

    def require_all(self, remedy: str = "leave such pairs out with missing=skip") -> None:
        """Refuse tables by which a pair's packets do not arrive."""
        missing = self.routes.first_missing()
        if missing is None:
            return
        s, d, ending = missing
        here, there = self.topology.name_of(s), self.topology.name_of(d)
        count = self.routes.missing
        more = "1 other pair does" if count == 2 else f"{count - 1} other pairs do"
        rest = f", and {more} not arrive either" if count > 1 else ""
        raise RoutingError(
            f"{self.spec}: what {here} sends to {there} {ending.words}{rest}: see  obliv fabric check"
            + (f",  or {remedy}" if remedy else "")
        )

    def paths(self, source: int, destination: int) -> Iterator[Path]:
        if source == destination:
            return
        routes = self.routes
        r = int(routes.class_of[self._terminal(source)])
        columns = routes.columns(r, self._terminal(destination))
        times: dict[tuple[int, ...], int] = {}
        for k in columns.tolist():
            path = self._path(source, destination, r, k)
            if path is not None:
                times[path] = times.get(path, 0) + 1
            elif not self.skip:
                self.require_all()
        for path, count in times.items():
            yield path, Fraction(count, len(columns))

    def _path(self, source: int, destination: int, r: int, k: int) -> tuple[int, ...] | None:
        """Return the channels to the k-th LID, None where they do not lead to its owner."""
        routes, topology = self.routes, self.topology
        own = topology.fabric.endpoints[source]
        if routes.leaf[r] < 0:
            channel = int(topology.channel_of[own])
            return (channel,) if topology.head[channel] == destination else None
        if routes.traces.code[routes.leaf[r], k] != Ending.DELIVERED:
            return None
        node, lid = int(routes.traces.leaf[routes.leaf[r]]), int(routes.traces.lid[k])
        return tuple(topology.channel_of[[own, *route_slots(routes.traces.hops, node, lid)]].tolist())

    def _terminal(self, node: int) -> int:
        """Return the terminal's number of a node."""
        number = int(self.topology.number_of[node]) if 0 <= node < self.topology.nodes else -1
        if number < 0:
            raise RoutingError(f"{self.topology.name_of(node)} is not a terminal of {self.topology.spec}")
        return number

    def _loads(self, progress: Progress) -> FabricLoads:
        if not self.skip:
            self.require_all()
        return self.fabric_loads

    @cached_property
    def fabric_loads(self) -> FabricLoads:
        """The pair loads by class of sources, whether or not all packets arrive."""
        return FabricLoads(self.routes)

    def served(self, destination: int) -> tuple[Array, int]:
        routes, j = self.routes, self._terminal(destination)
        arrive = np.full(len(routes.class_of), routes.denominator, np.int64)
        if routes.delivered is not None:
            arrive = routes.delivered[routes.class_of, j].astype(np.int64)
            arrive[j] = routes.denominator
        return arrive, routes.denominator

    @property
    def skipped(self) -> int:
        """Number of ordered pairs of endpoints with a route that does not arrive."""
        return self.routes.missing


class FabricHops(FabricRouting, HopRouting, same_paths=True):
    """Tables by which a switch forwards a packet by its destination only, whatever the source."""

    def next_hops(self, node: int, destination: int) -> list[int]:
        if node == destination:
            return []
        self._terminal(destination)
        channel = int(self.next_channels(np.array([node]), np.array([destination]))[0])
        return [channel] if channel >= 0 else []

    def hops_to(self, destination: int) -> Hops:
        self._terminal(destination)
        node = np.arange(self.topology.nodes)
        channel = np.where(node == destination, -1, self.next_channels(node, np.full(len(node), destination)))
        known = channel >= 0
        one = np.ones(len(node), np.int64)
        return Hops(starts(known), channel[known], one[known], one)

    def describe(self) -> tuple[Description, ...]:
        return (hops_of(self)._replace(next_channels=self.next_channels), *super().describe())

    def next_channels(self, node: Array, destination: Array) -> Array:
        """Return the channels by which nodes forward packets for terminals, -1 for no channel."""
        topology, routes = self.topology, self.routes
        hosts = topology.hosts
        switch = topology.fabric.switches[np.maximum(node - hosts, 0)]
        row = routes.traces.hops.row[switch]
        lid = self._lid_of[topology.number_of[destination]]
        known = (row >= 0) & (lid > 0) & (lid < routes.tables.out.shape[1])
        port = routes.tables.out[np.where(known, row, 0), np.where(known, lid, 0)].astype(np.int64)
        first, end = topology.fabric.first_slot[switch], topology.fabric.first_slot[switch + 1]
        known &= port < end - first
        hop = np.where(known, topology.channel_of[np.where(known, first + port, 0)], -1)
        own = topology.channel_of[topology.fabric.endpoints[np.minimum(node, hosts - 1)]]
        return np.where(node < hosts, own, hop)

    @cached_property
    def _lid_of(self) -> Array:
        """The LID of every terminal that sources use."""
        routes = self.routes
        return np.array([routes.traces.lid[routes.columns(0, d)[0]] for d in range(len(self.topology.terminals))])


@typed
def routing(
    topology: FabricTopology, tables: Tables, offset: Offset = "0", *, missing: str = "refuse", spec: str = ""
) -> FabricRouting:
    """Return forwarding tables as a routing on their fabric.

    Parameters
    ----------
    topology : FabricTopology
        Of the fabric that the tables were read for.
    tables : Tables
    offset : str, int or sequence of int
        Which LID of a destination a source uses where there are several: a number, ``group``, ``index``, a list by
        place at the leaf (``0-0-1-1``), one number for each endpoint, or ``spread``: all of them equally.
        See :func:`obliv.fabric.routes.trace.offsets_of`.
    missing : {"refuse", "skip"}
        How to treat pairs whose packets do not arrive: refuse the tables, or leave those pairs out.
    spec : str, optional
        Its spec; default ``lft:`` and the name of the tables.

    Returns
    -------
    FabricRouting

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate import from_topology, tables_of
    >>> from obliv.fabric.topology import network
    >>> tree = obliv.topology("fattree:8,3")
    >>> fabric = from_topology(tree)
    >>> tables = tables_of(obliv.routing("osrm3-d", tree), fabric)
    >>> obliv.worst_case(routing(network(fabric), tables)).channel_load
    Fraction(4, 1)
    """
    options = spec_options(offset, missing)
    routes = routes_of(topology, tables, offset)
    same = routes.denominator == 1 and len(set(routes.low.tolist())) == 1 and not routes.missing
    kind = FabricHops if same else FabricRouting
    return kind(topology, routes, spec or f"lft:{tables.name}{options}", missing == "skip")


def spec_options(offset: Offset, missing: str) -> str:
    """Return the part of a spec that tells which LIDs are used, and how pairs are treated that do not arrive."""
    if missing not in ("refuse", "skip"):
        raise SpecError(f"missing={missing[:40]!r}: choose refuse or skip")
    text = offset if isinstance(offset, str | int) else "given"
    return (f",offset={text}" if text not in ("0", 0) else "") + (",missing=skip" if missing == "skip" else "")


def _on_one_lane(routes: Routes) -> LaneDependencies:
    from obliv.fabric.routes.dependencies import plain_dependencies

    return plain_dependencies(routes)


# Uniform traffic on a fabric: the largest load, and the channels that no route uses


def uniform_load(routing: FabricRouting) -> Fraction:
    """Return the largest load under uniform traffic, self-pairs included; what does not arrive loads no channel."""
    topology = routing.topology
    return routing.fabric_loads.largest_under(slowed(traffic("uniform", topology), topology))


def slowed(pattern: Traffic, topology: FabricTopology) -> Traffic:
    """Return the traffic with the rate of each pair scaled by the slower of its two ends."""
    if topology.unit_rates:
        return pattern
    n, (injection, ejection) = pattern.terminals, topology.rates()
    scale = lcm(*(rate.denominator for rate in (*injection, *ejection)))
    sends, takes = ([int(rate * scale) for rate in side] for side in (injection, ejection))
    most = np.minimum.outer(np.array(sends, object), np.array(takes, object))
    require_memory(100.0 * n * n, f"{pattern.spec} on hosts of unlike speeds")
    source, destination = pattern.source, pattern.destination
    amount, denominator = pattern.amount.astype(object), pattern.denominator
    if pattern.uniform:
        share = pattern.uniform / n
        common = lcm(denominator, share.denominator)
        matrix = np.full((n, n), int(share * common), object)
        matrix[source, destination] += amount * (common // denominator)
        source, destination = (side.ravel() for side in np.indices((n, n), np.int32))
        amount, denominator = matrix.ravel(), common
    amount = amount * most[source, destination]
    small = not len(amount) or int(amount.max()) < INT64_SAFE
    return replace(
        pattern,
        uniform=Fraction(0),
        source=source,
        destination=destination,
        amount=amount.astype(np.int64) if small else amount,
        denominator=denominator * scale,
    )


def idle_channels(routing: FabricRouting) -> Array:
    """Return the channels between switches that no route between endpoints uses."""
    topology = routing.topology
    between = (topology.tail >= topology.hosts) & (topology.head >= topology.hosts)
    return np.flatnonzero(between & (routing.fabric_loads.totals() == 0))


def uniform_bound(topology: FabricTopology) -> Fraction | None:
    """Return a lower bound of the largest load of any routing under uniform traffic; None where hosts differ in speed.

    Host links carry (n - 1) / n, and what leaves the hosts of a switch or sub-tree crosses its cables.
    """
    fabric, n = topology.fabric, len(topology.terminals)
    if n < 2 or not topology.unit_rates or (fabric.homes < 0).any():
        return None
    hosts = np.bincount(fabric.homes, minlength=len(fabric.switches))
    tail, head, slot = fabric.trunks
    speeds = [topology.bandwidth_of(c) for c in topology.channel_of[slot].tolist()]
    whole = lcm(*(speed.denominator for speed in speeds))
    width = np.array([int(speed * whole) for speed in speeds], np.int64)
    bounds = [Fraction(n - 1, n)]
    for part in partitions(fabric, recognise(fabric)):
        leaving = part[tail] != part[head]
        inside = np.bincount(part, hosts, int(part.max(initial=-1)) + 1).astype(np.int64)
        out = np.zeros(len(inside), np.int64)
        np.add.at(out, part[tail[leaving]], width[leaving])
        ends = zip(inside.tolist(), out.tolist(), strict=True)
        bounds += [Fraction(a * (n - a) * whole, b * n) for a, b in ends if b]
    return max(bounds)
