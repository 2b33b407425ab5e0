"""What proves the figures of failures: witnesses of the loads, and prices of the channels that could carry more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from obliv._util.arrays import starts
from obliv._util.codec import pack
from obliv._util.progress import Progress
from obliv._util.typing import Array
from obliv.checker.failures.check import Bounds
from obliv.checker.failures.claim import Failed
from obliv.checker.failures.paths import hops_of
from obliv.checker.failures.routes import After, Routes, routes_of
from obliv.checker.failures.witness import Witness, witness_of
from obliv.fabric.outages.sets import Failure
from obliv.fabric.routes.routing import FabricRouting
from obliv.results.fabric.failures import FailureRow, FailureState

__all__ = [
    "failed_lists",
    "failed_of",
    "joined",
    "matching_of",
    "paid_of",
    "price_lists",
    "proof_of",
    "whole",
    "why_none",
]


def why_none(routing: FabricRouting, sets: Iterable[Failure], repair: str, loop: bool) -> str:
    """Return why the figures of failures get no proof; "" where they get one.

    Parameters
    ----------
    routing : FabricRouting
    sets : iterable of Failure
    repair : str
    loop : bool
        Whether there is a credit loop before a failure.
    """
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
    """Return the certificate of failures.

    Parameters
    ----------
    routing : FabricRouting
    before : FailureState
    rows : list of FailureRow
        By rank.
    sets : list of Failure
        What fails, row by row.
    hottest : list of int
        A channel with the largest load before a failure and after each of the rows'; -1 for a host's own cable.
    repair : {"keep", "refill"}
    progress : callable
    """
    routes = routes_of(hops_of(routing))
    topology = routing.topology
    failed = [failed_of(routing, failure) for failure in sets]
    nothing = np.zeros(topology.channels, np.bool_)
    none = After(np.zeros(0, np.int64), np.zeros((0, 0), np.int64), np.zeros(0, np.bool_), nothing)
    simple = Bounds(routes, {})
    loads = [before.channel_load, *(row.channel_load for row in rows)]
    least = min((load for load in loads if load), default=before.channel_load)
    prices = {(0, c): paid_of(routes, routes.crossing(c)) for c in simple.unsettled(none, least)}
    bounds = Bounds(routes, {c: paid for (_, c), paid in prices.items()})
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

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self.found: list[Witness] = []
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

    def _load(self, after: After, witness: Witness) -> Any:
        return witness.packets(after) / self.bounds.routes.hops.topology.bandwidth_of(witness.channel)


def whole(pairs: Iterable[tuple[int, int]], ends: int) -> Array:
    """Return a permutation that contains some pairs; the other terminals are matched in order."""
    image = np.full(ends, -1, np.int64)
    for source, destination in pairs:
        image[source] = destination
    image[image < 0] = np.setdiff1d(np.arange(ends), image[image >= 0])
    return image


def paid_of(routes: Routes, crossing: Array) -> Array:
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


def matching_of(routes: Routes, crossing: Array) -> tuple[list[tuple[int, int]], Any]:
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
