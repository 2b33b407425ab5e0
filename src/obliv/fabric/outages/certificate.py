"""What proves the figures of failures: witnesses of the loads, and prices of the channels that could carry more."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from obliv._util.arrays import Array, starts
from obliv._util.files import pack
from obliv._util.progress import Progress
from obliv._util.text import plural
from obliv.checker.rerouted import Failed
from obliv.errors import InputError, RoutingError
from obliv.fabric.checker.failures import ChannelLimits, ChannelWitness, witness_of
from obliv.fabric.checker.hops import NextHops, hops_of, next_hops_of
from obliv.fabric.checker.routes import After, CheckedRoutes, routes_left, routes_of
from obliv.fabric.kernels.failures import FailureSpace, Intact, replace_port
from obliv.fabric.model import Fabric, Tables
from obliv.fabric.outages.sets import Failure, without
from obliv.fabric.reroute.fill import LanesError
from obliv.fabric.reroute.route import route
from obliv.fabric.routes.dependencies import credit_loops
from obliv.fabric.routes.routing import FabricHops, FabricRouting
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.routes.trace import Offset
from obliv.fabric.topology import network
from obliv.kernels import run
from obliv.questions.failures import FailureRow, FailureState
from obliv.questions.worst_case import solved_worst_case


def why_none(routing: FabricRouting, sets: Iterable[Failure], repair: str, loop: bool) -> str:
    """Return why the figures of failures get no proof; "" where they get one."""
    topology, routes = routing.topology, routing.routes
    slots = np.array([slot for failure in sets for slot in failure.slots], np.int64)
    if topology.at_host[topology.channel_of[slots]].any():
        return "a cable of a host fails"
    if not topology.unit_rates:
        return "the cables of hosts differ in speed"
    if routes.missing:
        return "packets of some pairs do not arrive"
    if (routes.leaf < 0).any():
        return "a host is not at a switch"
    if routes.denominator > 1:
        return "packets of a pair take several paths"
    if len(routes.traces.lid) == len(topology.terminals):
        return ""
    if repair != "keep":
        return "hosts have several LIDs, and other tables depend on all of them: only kept tables are proved"
    return "hosts have several LIDs, and routes to all of them together have a credit loop" if loop else ""


def failed_of(routing: FabricRouting, failure: Failure) -> Failed:
    """Return a failure by the numbers of its channels and switches in the topology."""
    topology, fabric = routing.topology, routing.topology.fabric
    slots = np.array(failure.slots, np.int64)
    both = np.stack([slots, fabric.ports.peer[slots]], axis=1).ravel()
    nodes = topology.hosts + fabric.switch_row[np.array(failure.switches, np.int64)]
    return Failed(topology.channel_of[both].astype(np.int64), nodes.astype(np.int64))


def proof_of(
    routing: FabricRouting,
    before: FailureState,
    rows: list[FailureRow],
    sets: list[Failure],
    hottest: list[int],
    repair: str,
    progress: Progress,
) -> dict[str, Any]:
    """Return the certificate of failures."""
    routes = routes_of(hops_of(routing))
    topology = routing.topology
    failed = [failed_of(routing, failure) for failure in sets]
    nothing = np.zeros(topology.channels, np.bool_)
    none = After(np.zeros(0, np.int64), np.zeros((0, 0), np.int64), np.zeros(0, np.bool_), nothing)
    simple = ChannelLimits(routes, {})
    loads = [before.channel_load, *(row.channel_load for row in rows)]
    least = min((load for load in loads if load), default=before.channel_load)
    prices = {(0, c): paid_of(routes, routes.crossing(c)) for c in simple.unsettled(none, least)}
    bounds = ChannelLimits(routes, {c: paid for (_, c), paid in prices.items()})
    witnesses = _Witnesses(bounds)
    corrections: dict[tuple[int, int], Array] = {}
    which = []
    for number, load in enumerate(loads, -1):
        progress("certificate", (number + 1) / len(loads))
        after = none if number < 0 else routes.after(failed[number], repair == "refill", False)
        which.append(witnesses.number(after, hottest[number + 1], load) if load else -1)
        for c in bounds.unsettled(after, load):
            crossing = routes.crossing_after(c, after)
            if bounds.least(c, crossing) > load * topology.bandwidth_of(c):
                corrections[number, c] = paid_of(routes, crossing)
    return {
        **failed_lists(failed),
        "witness": pack(which),
        "witnesses": {
            "channel": pack([witness.channel for witness in witnesses.found]),
            "permutation": pack(joined(witness.image for witness in witnesses.found)),
        },
        "prices": price_lists(prices),
        "corrections": {"row": pack([row for row, _ in corrections]), **price_lists(corrections)},
        "sources": dict((*topology.sources, *routing.sources)),
    }


class _Witnesses:
    """Permutations that put loads on channels, each of which serves as many failures as it fits."""

    def __init__(self, bounds: ChannelLimits) -> None:
        self.bounds = bounds
        self.found: list[ChannelWitness] = []
        self._by_channel: dict[int, list[int]] = {}

    def number(self, after: After, channel: int, load: Any) -> int:
        """Return the number of a permutation that puts a load on a channel after a failure."""
        routes = self.bounds.routes
        for known in self._by_channel.get(channel, []):
            if self._load(after, self.found[known]) == load:
                return known
        pairs = matching_of(routes, routes.crossing_after(channel, after))[0] if channel >= 0 else []
        if len(pairs) < load * routes.hops.topology.bandwidth_of(channel):
            return self._own(after, load)
        return self._add(channel, pairs)

    def _own(self, after: After, load: Any) -> int:
        """Return the number of a permutation that fills a host's own cable after a failure."""
        routes = self.bounds.routes
        for known in self._by_channel.get(-1, []):
            if self._load(after, self.found[known]) == load:
                return known
        served = np.setdiff1d(np.flatnonzero(routes.weight), after.moved[~after.arrives])
        r, destination = divmod(int(served[0]), routes.terminals)
        senders = np.flatnonzero(routes.hops.row == r)
        sender = int(senders[senders != destination][0])
        self._by_channel.setdefault(-1, []).append(len(self.found))
        return self._add(int(routes.hops.own[sender]), [(sender, destination)])

    def _add(self, channel: int, pairs: list[tuple[int, int]]) -> int:
        routes = self.bounds.routes
        self.found.append(witness_of(routes, channel, whole(pairs, routes.terminals)))
        self._by_channel.setdefault(channel, []).append(len(self.found) - 1)
        return len(self.found) - 1

    def _load(self, after: After, witness: ChannelWitness) -> Any:
        return witness.packets(after) / self.bounds.routes.hops.topology.bandwidth_of(witness.channel)


def whole(pairs: Iterable[tuple[int, int]], ends: int) -> Array:
    """Return a permutation that contains some pairs; the other terminals are matched in order."""
    image = np.full(ends, -1, np.int64)
    for source, destination in pairs:
        image[source] = destination
    image[image < 0] = np.setdiff1d(np.arange(ends), image[image >= 0])
    return image


def paid_of(routes: CheckedRoutes, crossing: Array) -> Array:
    """Return the terminals with a price of 1 in a smallest cover of the pairs that cross a channel (König)."""
    matched, graph = matching_of(routes, crossing)
    partner = dict(matched)
    owner = {destination: source for source, destination in matched}
    waiting = [source for source in np.unique(graph.nonzero()[0]).tolist() if source not in partner]
    seen, paid = set(waiting), set()
    while waiting:
        source = waiting.pop()
        for destination in graph.indices[graph.indptr[source] : graph.indptr[source + 1]].tolist():
            if destination not in paid:
                paid.add(destination)
                other = owner[destination]
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
    return np.array(sorted(paid), np.int64)


def matching_of(routes: CheckedRoutes, crossing: Array) -> tuple[list[tuple[int, int]], Any]:
    """Return a largest matching of senders and receivers among pairs of leaves and terminals, and their graph."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    ends = routes.terminals
    r, d = np.divmod(crossing, ends)
    senders, first = np.argsort(routes.hops.row, kind="stable"), starts(routes.size)
    size = routes.size[r]
    inside = np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)
    source, destination = senders[np.repeat(first[r], size) + inside], np.repeat(d, size)
    others = source != destination
    shape = (ends, ends)
    graph = csr_array((np.ones(int(others.sum()), np.int8), (source[others], destination[others])), shape=shape)
    image = maximum_bipartite_matching(graph, perm_type="column")
    return [(s, int(image[s])) for s in np.flatnonzero(image >= 0).tolist()], graph


def failed_lists(failed: list[Failed]) -> dict[str, Any]:
    """Return failures as they stand in a certificate."""
    return {
        "failed": {
            "first_channel": pack(starts([len(each.channels) for each in failed])),
            "channels": pack(joined(each.channels for each in failed)),
            "first_node": pack(starts([len(each.nodes) for each in failed])),
            "nodes": pack(joined(each.nodes for each in failed)),
        }
    }


def price_lists(prices: dict[tuple[int, int], Array]) -> dict[str, Any]:
    """Return prices, by row and channel, as they stand in a certificate."""
    return {
        "channel": pack([c for _, c in prices]),
        "first": pack(starts([len(paid) for paid in prices.values()])),
        "terminal": pack(joined(prices.values())),
    }


def joined(parts: Iterable[Array]) -> Array:
    """Return arrays one after another, as 64-bit numbers."""
    return np.concatenate([*parts, np.zeros(0, np.int64)]).astype(np.int64)


# A failure solved from scratch: the fabric without what failed, and tables on it


def served_pairs(routing: FabricRouting) -> int:
    """Return the number of ordered pairs whose packets arrive."""
    ends = len(routing.topology.terminals)
    return ends * (ends - 1) - routing.routes.missing


def kept_tables(tables: Tables, failure: Failure) -> Tables:
    """Return the tables of the switches that are left."""
    left = ~np.isin(tables.switch, np.array(failure.switches, np.int64))
    return replace(tables, switch=tables.switch[left], out=tables.out[left], line=tables.line[left])


def refilled_tables(
    routing: FabricRouting, failure: Failure, channels: list[int], intact: Intact, space: FailureSpace
) -> Tables:
    """Return the tables in which switches that lost a port have chosen another, where one leads on."""
    routes, tables = routing.routes, routing.routes.tables
    out = tables.out.copy()
    uses = np.zeros(256, np.int64)
    space.failed[channels] = np.arange(len(channels))
    for i, c in enumerate(channels):
        run(replace_port, 50.0 * len(routes.traces.lid), i, c, intact, routes.arrays, space, uses)
    for i, c in enumerate(channels):
        row = int(routes.traces.hops.row[intact.tail_of[c]])
        found = np.flatnonzero(space.other[i] >= 0)
        if row >= 0:
            out[row, routes.traces.lid[found]] = space.other[i, found]
    space.failed[channels] = -1
    space.other[:] = -1
    return kept_tables(replace(tables, out=out), failure)


def rerouted(fabric: Fabric, engine: str) -> tuple[Fabric, Tables, Offset]:
    """Return a fabric with new tables by an engine, as ``obliv fabric route`` computes them."""
    try:
        result = route(fabric, engine, force=True)
    except LanesError as error:
        raise RoutingError(
            f"{error.values[0]}, and tables after a failure have one: choose layered or updown"
        ) from None
    if result.tables is None or result.fabric is None:
        raise TypeError("new tables and their fabric are kept")
    return result.fabric, result.tables, result.offset


def after_failure(
    routing: FabricRouting, offset: Offset, failure: Failure, repair: str, tables: Tables | None = None
) -> tuple[FailureRow, Left | None]:
    """Return what a failure does, solved from scratch, and the routes that are left."""
    fabric = without(routing.topology.fabric, failure)
    if not len(fabric.endpoints):
        return FailureRow(failure.name, served_pairs(routing), Fraction(0), "", False), None
    if tables is None:
        tables = kept_tables(routing.routes.tables, failure)
        if repair not in ("keep", "refill"):
            fabric, tables, offset = rerouted(_without_hosts(fabric, failure), repair)
    if not isinstance(offset, str | int) and len(fabric.endpoints) != len(routing.topology.terminals):
        raise InputError("offsets by terminal cannot be used where hosts fail: give a rule")
    left = fabric_routing(network(fabric), tables, offset, missing="skip")
    load, name, channel = worst_channel(left)
    lost = max(0, served_pairs(routing) - served_pairs(left))
    row = FailureRow(failure.name, lost, load, name, not credit_loops(left.routes.traces).acyclic)
    return row, Left(left, channel)


@dataclass(frozen=True, eq=False)
class Left:
    """The routes that are left after a failure, and a channel with the worst load; -1 for none."""

    routing: FabricRouting
    channel: int


def worst_channel(routing: FabricRouting) -> tuple[Fraction, str, int]:
    """Return the worst channel load, and the name and the number of a channel that has it."""
    result, _ = solved_worst_case(routing)
    if result.channel is None or not isinstance(result.channel_load, Fraction) or not result.channel_load:
        return Fraction(0), "", -1
    return result.channel_load, routing.topology.cable(result.channel.id).ends, result.channel.id


def _without_hosts(fabric: Fabric, failure: Failure) -> Fabric:
    """Return a fabric in which the switches that failed have no cables at all: engines route all that is there."""
    peer = fabric.ports.peer.copy()
    for node in failure.switches:
        own = np.arange(fabric.first_slot[node], fabric.first_slot[node + 1])
        own = own[peer[own] >= 0]
        peer[peer[own]] = -1
        peer[own] = -1
    return fabric.with_ports(peer=peer)


# What proves the figures of failures after which an engine computes new tables: the tables, and each one's proof


_LARGEST = 2**26  # entries of all tables together


def why_not_anew(routing: FabricRouting, lefts: list[Left | None]) -> str:
    """Return why new tables get no proof; "" where they get one."""
    nodes = len(routing.topology.fabric.switches)
    if len(lefts) * nodes * len(routing.topology.terminals) > _LARGEST:
        return f"the tables after {plural(len(lefts), 'failure')} would be too large: name one failure"
    for left in lefts:
        if left is None:
            return "no host is left"
        hops = left.routing
        if not isinstance(hops, FabricHops) or len(hops.routes.traces.lid) != len(hops.topology.terminals):
            return "after some failure packets of some pairs do not arrive, or hosts have several LIDs"
    return ""


def proof_anew(
    routing: FabricRouting,
    before: FailureState,
    rows: list[FailureRow],
    failed: list[Failed],
    lefts: list[Left],
    hottest: int,
    progress: Progress,
) -> dict[str, Any]:
    """Return the certificate of failures by rank, with the tables after each."""
    topology, hops = routing.topology, next_hops_of(routing)
    tables = np.full((len(rows), *hops.channel.shape), -1, np.int32)
    nothing = Failed(np.zeros(0, np.int64), np.zeros(0, np.int64))
    states = [(nothing, before.channel_load, hops, hottest)]
    for number, left in enumerate(lefts):
        tables[number] = _table(routing, left, hops)
        worst = int(topology.channel_of[left.routing.topology.slot_of[left.channel]]) if left.channel >= 0 else -1
        states.append((failed[number], rows[number].channel_load, replace(hops, channel=tables[number]), worst))
    which: list[int] = []
    channels: list[int] = []
    images: list[Array] = []
    corrections: dict[tuple[int, int], Array] = {}
    prices: dict[tuple[int, int], Array] = {}
    for number, (gone, load, left_hops, worst) in enumerate(states, -1):
        progress("certificate", (number + 1) / len(states))
        routes, after = routes_left(left_hops, gone)
        bounds = ChannelLimits(routes, {})
        which.append(len(channels) if worst >= 0 else -1)
        if worst >= 0:
            channels.append(worst)
            images.append(_witness(routes, after, worst))
        for c in bounds.unsettled(after, load):
            where = prices if number < 0 else corrections
            where[max(number, 0), c] = paid_of(routes, routes.crossing_after(c, after))
    return {
        **failed_lists(failed),
        "witness": pack(which),
        "witnesses": {"channel": pack(channels), "permutation": pack(joined(images))},
        "prices": price_lists(prices),
        "corrections": {"row": pack([row for row, _ in corrections]), **price_lists(corrections)},
        "tables": pack(tables),
        "sources": dict((*topology.sources, *routing.sources)),
    }


def _table(routing: FabricRouting, left: Left, before: NextHops) -> Array:
    """Return new tables by the numbers of the fabric before the failure."""
    base, topology, hops = routing.topology, left.routing.topology, next_hops_of(left.routing)
    column = base.number_of[base.node_at[topology.ends]]
    channel = base.channel_of[topology.slot_of]
    table = np.full(before.channel.shape, -1, np.int32)
    table[:, column] = np.append(channel, -1)[hops.channel]
    return table


def _witness(routes: CheckedRoutes, after: After, channel: int) -> Array:
    """Return a permutation that loads a channel as much as any traffic can."""
    topology, ends = routes.hops.topology, routes.terminals
    source = int(topology.number_of[topology.tail[channel]])
    if source < 0:
        return whole(matching_of(routes, routes.crossing_after(channel, after))[0], ends)
    own = int(routes.hops.row[source]) * ends + np.delete(np.arange(ends), source)
    served = own[~np.isin(own, after.moved)] % ends
    return whole([(source, int(served[0]))], ends)
