"""Failures solved, with proofs: tables that stay, whose ports are replaced, or that are new; covers of pairs.

The checker reads these lists with code of its own (``obliv.fabric.checker``), of which nothing is used here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from obliv._util.arrays import Array, starts
from obliv._util.files import pack
from obliv._util.progress import Progress, require_memory
from obliv._util.text import plural
from obliv.errors import InputError, RoutingError
from obliv.fabric.kernels.changes import ADDED, STAMP, TOUCHED, ChangeWork, come, crossing, cut, end, mark, unmark
from obliv.fabric.model import Fabric, Tables
from obliv.fabric.outages.base import Base, Changes, base_of, channels_of, kept_tables, refilled_tables, steps_of
from obliv.fabric.outages.sets import Change, without
from obliv.fabric.reroute.engines import LanesError
from obliv.fabric.reroute.route import route
from obliv.fabric.routes.dependencies import credit_loops
from obliv.fabric.routes.routing import FabricHops, FabricRouting
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.routes.trace import Offset
from obliv.fabric.topology import FabricTopology, network
from obliv.kernels import run
from obliv.questions.failures import FailureRow, FailureState
from obliv.questions.worst_case import solved_worst_case
from obliv.routings.descriptions import NextHops
from obliv.topologies.base import find


def why_none(routing: FabricRouting, sets: Iterable[Change], repair: str, loop: bool) -> str:
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


# Covers of the pairs that cross a channel: terminals that receive and classes that send, of all pairs one or the other


def cover(base: Base, pairs: Array, paid: Array | None = None) -> int:
    """Return an upper bound of the packets that can be sent between pairs of classes and terminals."""
    # A receiver in `paid` counts once, and the class of every other pair with all its sources; without `paid` the
    # smaller of both sums over all pairs.
    r, d = np.divmod(pairs, len(base.topology.terminals))
    if paid is None:
        return int(min(base.intact.size[np.unique(r)].sum(), len(np.unique(d))))
    inside = np.isin(d, paid)
    return int(base.intact.size[np.unique(r[~inside])].sum()) + len(np.unique(d[inside]))


def crossing_before(base: Base, channel: int) -> Array:
    """Return the pairs that cross a channel between switches."""
    return np.asarray(base.intact.pair[base.intact.start[channel] : base.intact.start[channel + 1]], np.int64)


def matching_of(base: Base, pairs: Array) -> tuple[list[tuple[int, int]], Any]:
    """Return a largest matching of senders and receivers among pairs, and their graph."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    ends = len(base.topology.terminals)
    r, d = np.divmod(pairs, ends)
    first, senders = base.routing.routes.members
    size = base.intact.size[r]
    require_memory(60.0 * float(size.sum()), f"the proof for {base.topology.spec}")
    inside = np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)
    source, destination = senders[np.repeat(first[r], size) + inside], np.repeat(d, size)
    others = source != destination
    shape = (ends, ends)
    graph = csr_array((np.ones(int(others.sum()), np.int8), (source[others], destination[others])), shape=shape)
    image = maximum_bipartite_matching(graph, perm_type="column")
    return [(s, int(image[s])) for s in np.flatnonzero(image >= 0).tolist()], graph


def paid_of(base: Base, pairs: Array) -> Array:
    """Return the terminals with a price of 1 in a smallest cover of pairs (König)."""
    matched, graph = matching_of(base, pairs)
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


def whole(pairs: Iterable[tuple[int, int]], ends: int) -> Array:
    """Return a permutation that contains some pairs; the other terminals are matched in order."""
    image = np.full(ends, -1, np.int64)
    for source, destination in pairs:
        image[source] = destination
    image[image < 0] = np.setdiff1d(np.arange(ends), image[image >= 0])
    return image


# Failures after which tables stay, or ports are replaced


@contextmanager
def _marked(work: ChangeWork, number: int) -> Iterator[None]:
    """Let the effect of a failure stand in the space of the kernels meanwhile; number -1 for none."""
    if number >= 0 and (work.follow or work.refill):
        run(mark, steps_of(work), number, work)
        yield
        run(unmark, steps_of(work), number, work)
    elif number >= 0:
        sets = work.sets
        run(cut, steps_of(work), number, sets, work.before, work.intact, work.space)
        yield
        end(sets.channel[sets.first[number] : sets.first[number + 1]], work.space)
    else:
        work.space.tally[:STAMP] = 0
        work.space.tally[STAMP] += 1
        yield


def _crossing(work: ChangeWork, channel: int) -> Array:
    """Return the pairs that cross a channel between switches now."""
    entries = int(work.intact.start[channel + 1] - work.intact.start[channel])
    found = np.empty(entries + int(work.space.tally[ADDED]), np.int64)
    return np.asarray(found[: run(crossing, 10.0 * len(found), channel, work.intact, work.space, found)])


def _arriving(work: ChangeWork, pairs: Array) -> Array:
    """Return those of some pairs whose packets arrive now; all did before."""
    moved = work.space.stamp[pairs] == work.space.tally[STAMP]
    return np.asarray(pairs[~moved | np.isin(pairs, work.space.added[: work.space.tally[ADDED]])])


def _above(work: ChangeWork, most: Array, cap: Array, known: Array) -> list[int]:
    """Return the channels that bounds before do not keep within a cap: `known` ones, and those to which pairs came."""
    # Shapes: `most`, `cap` (channels,).
    space, ends = work.space, len(work.before.class_of)
    more = space.touched[: space.tally[TOUCHED]]
    more = more[(space.more[more] > 0) & (most[more] + space.more[more] > cap[more])]
    extra = np.array([run(come, 10.0 * space.more[c], c, ends, work.intact, space) for c in more.tolist()], np.int64)
    found = np.union1d(known, more[most[more] + extra > cap[more]])
    return [int(c) for c in found[space.gone[found] == 0]]


def proof_of(
    changes: Changes,
    before: FailureState,
    rows: list[FailureRow],
    order: list[int],
    hottest: list[int],
    progress: Progress,
) -> dict[str, Any]:
    """Return the certificate of failures by rank; `order` has their numbers among the changes."""
    base, work = changes.base, changes.work
    loads = [before.channel_load, *(row.channel_load for row in rows)]
    most = simple_bounds(base)
    # prices before a failure, for the channels that the simple bound does not keep within all loads
    high = np.flatnonzero(most > caps(base, min((load for load in loads if load), default=before.channel_load)))
    prices = {(0, c): paid_of(base, crossing_before(base, c)) for c in high.tolist()}
    for (_, c), paid in prices.items():
        most[c] = min(int(most[c]), cover(base, crossing_before(base, c), paid))
    witnesses = _Witnesses(base, work)
    cap = {load: caps(base, load) for load in set(loads)}
    known = {load: np.flatnonzero(most > cap[load]) for load in cap}
    corrections: dict[tuple[int, int], Array] = {}
    which = []
    for number, load in enumerate(loads, -1):
        progress("certificate", (number + 1) / len(loads))
        with _marked(work, order[number] if number >= 0 else -1):
            which.append(witnesses.number(hottest[number + 1], load) if load else -1)
            for c in _above(work, most, cap[load], known[load]) if load else ():
                pairs, given = _crossing(work, c), prices.get((0, c))
                least = cover(base, pairs) if given is None else min(cover(base, pairs), cover(base, pairs, given))
                if least > cap[load][c]:
                    corrections[number, c] = paid_of(base, pairs)
    return certificate_of(
        base.routing,
        [changes.given[f] for f in order],
        which,
        [channel for channel, _ in witnesses.found],
        [image for _, image in witnesses.found],
        prices,
        corrections,
    )


def simple_bounds(base: Base) -> Array:
    """Return an upper bound of the packets on each channel: all its senders, or all its receivers."""
    ones = np.ones(len(base.topology.terminals), np.int64)
    return np.asarray(base.routing.fabric_loads.bounds(ones, ones), np.int64)


def caps(base: Base, load: Fraction) -> Array:
    """Return the packets by which each channel has a load."""
    return np.asarray(load.numerator * base.unit // (load.denominator * base.intact.unit))


class _Witnesses:
    """Channels and permutations that put loads on them, each of which serves as many failures as it fits."""

    def __init__(self, base: Base, work: ChangeWork) -> None:
        self.base, self.work = base, work
        self.found: list[tuple[int, Array]] = []
        self._by_channel: dict[int, list[int]] = {}

    def number(self, channel: int, load: Fraction) -> int:
        """Return the number of a permutation that puts a load on a channel after the failure that is marked."""
        base = self.base
        if channel >= 0:
            wanted = load * base.unit / int(base.intact.unit[channel])
            pairs = _crossing(self.work, channel)
            for known in self._by_channel.get(channel, []):
                if np.isin(self._pairs(known), pairs).sum() == wanted:
                    return known
            matched = matching_of(base, pairs)[0]
            if len(matched) >= wanted:
                return self._add(channel, channel, matched)
        return self._own()

    def _own(self) -> int:
        """Return the number of a permutation that fills a host's own cable then."""
        base, ends = self.base, len(self.base.topology.terminals)
        class_of, size = base.routing.routes.class_of, base.intact.size
        for known in self._by_channel.get(-1, []):
            sender = int(base.topology.number_of[base.topology.tail[self.found[known][0]]])
            pair = int(class_of[sender]) * ends + int(self.found[known][1][sender])
            if len(_arriving(self.work, np.array([pair]))):
                return known
        weight = np.repeat(size, ends)
        weight[class_of * ends + np.arange(ends)] -= 1
        r, destination = divmod(int(_arriving(self.work, np.flatnonzero(weight))[0]), ends)
        senders = np.flatnonzero(class_of == r)
        sender = int(senders[senders != destination][0])
        own = int(base.topology.channel_of[base.topology.ends[sender]])
        return self._add(-1, own, [(sender, destination)])

    def _add(self, key: int, channel: int, matched: list[tuple[int, int]]) -> int:
        self.found.append((channel, whole(matched, len(self.base.topology.terminals))))
        self._by_channel.setdefault(key, []).append(len(self.found) - 1)
        return len(self.found) - 1

    def _pairs(self, known: int) -> Array:
        """Return the pairs of a permutation, without hosts that send to themselves."""
        image = self.found[known][1]
        senders = np.flatnonzero(image != np.arange(len(image)))
        return np.asarray(self.base.routing.routes.class_of[senders] * len(image) + image[senders])


def certificate_of(
    routing: FabricRouting,
    failed: Sequence[Change],
    which: list[int],
    channels: list[int],
    images: list[Array],
    prices: dict[tuple[int, int], Array],
    corrections: dict[tuple[int, int], Array],
) -> dict[str, Any]:
    """Return a certificate: what fails in each row, the witness of its load, and prices before and after a failure."""
    topology = routing.topology
    gone = [channels_of(topology, change.slots) for change in failed]
    nodes = [topology.hosts + topology.fabric.switch_row[np.array(c.switches, np.int64)] for c in failed]
    return {
        "failed": {
            "first_channel": pack(starts([len(each) for each in gone])),
            "channels": pack(joined(gone)),
            "first_node": pack(starts([len(each) for each in nodes])),
            "nodes": pack(joined(nodes)),
        },
        "witness": pack(which),
        "witnesses": {"channel": pack(channels), "permutation": pack(joined(images))},
        "prices": price_lists(prices),
        "corrections": {"row": pack([row for row, _ in corrections]), **price_lists(corrections)},
        "sources": dict((*topology.sources, *routing.sources)),
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
    routing: FabricRouting, offset: Offset, failure: Change, repair: str
) -> tuple[FailureRow, Left | None]:
    """Return what a failure does, solved from scratch, and the routes that are left."""
    fabric = without(routing.topology.fabric, failure)
    if not len(fabric.endpoints):
        return FailureRow(failure.name, served_pairs(routing), Fraction(0), "", False), None
    if repair == "refill":
        tables = refilled_tables(routing, failure)
    elif repair == "keep":
        tables = kept_tables(routing.routes.tables, failure)
    else:
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


def _without_hosts(fabric: Fabric, failure: Change) -> Fabric:
    """Return a fabric in which the switches that failed have no cables at all: engines route all that is there."""
    peer = fabric.ports.peer.copy()
    for node in failure.switches:
        own = np.arange(fabric.first_slot[node], fabric.first_slot[node + 1])
        own = own[peer[own] >= 0]
        peer[peer[own]] = -1
        peer[own] = -1
    return fabric.with_ports(peer=peer)


# Failures after which an engine computes new tables: the tables, and each one's proof


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
    failed: Sequence[Change],
    lefts: list[Left],
    hottest: int,
    progress: Progress,
) -> dict[str, Any]:
    """Return the certificate of failures by rank, with the tables after each."""
    topology, ends = routing.topology, len(routing.topology.terminals)
    states = [(before.channel_load, Left(routing, hottest))]
    states += [(row.channel_load, left) for row, left in zip(rows, lefts, strict=True)]
    which: list[int] = []
    channels: list[int] = []
    images: list[Array] = []
    tables: list[Array] = []
    prices: dict[tuple[int, int], Array] = {}
    corrections: dict[tuple[int, int], Array] = {}
    for number, (load, left) in enumerate(states, -1):
        progress("certificate", (number + 1) / len(states))
        base, own = base_of(left.routing), left.routing.topology
        # terminals and channels by the numbers of the fabric before the failure
        terminal, channel = topology.number_of[topology.node_at[own.ends]], topology.channel_of[own.slot_of]
        if number >= 0:
            tables.append(_next_hops(left.routing, topology, terminal, channel))
        which.append(len(channels) if left.channel >= 0 else -1)
        if left.channel >= 0:
            channels.append(int(channel[left.channel]))
            images.append(whole(terminal[np.array(_heaviest(base, left.channel))].tolist(), ends))
        for c in np.flatnonzero(simple_bounds(base) > caps(base, load)).tolist():
            where = prices if number < 0 else corrections
            where[max(number, 0), int(channel[c])] = np.sort(terminal[paid_of(base, crossing_before(base, c))])
    proof = certificate_of(routing, failed, which, channels, images, prices, corrections)
    return proof | {"tables": pack(np.array(tables, np.int32))}


def _next_hops(routing: FabricRouting, topology: FabricTopology, terminal: Array, channel: Array) -> Array:
    """Return the channels by which switches forward for terminals, by the numbers of another topology; -1 for none."""
    own, hops = routing.topology, find(routing, NextHops)
    switches, ends = len(own.fabric.switches), own.terminals.astype(np.int64)
    table = np.full((switches, len(topology.terminals)), -1, np.int32)
    if hops is not None and hops.next_channels is not None:
        taken = hops.next_channels(np.repeat(own.hosts + np.arange(switches), len(ends)), np.tile(ends, switches))
        table[:, terminal] = np.append(channel, -1)[taken].reshape(switches, len(ends))
    return table


def _heaviest(base: Base, channel: int) -> list[tuple[int, int]]:
    """Return the pairs of a permutation, all connected, that load a channel as much as any traffic can."""
    topology = base.topology
    source, goal = (int(topology.number_of[end[channel]]) for end in (topology.tail, topology.head))
    if source < 0 and goal < 0:
        return matching_of(base, crossing_before(base, channel))[0]
    other = int(max(source, goal) == 0)  # of a host, any other one
    return [(source if source >= 0 else other, goal if goal >= 0 else other)]
