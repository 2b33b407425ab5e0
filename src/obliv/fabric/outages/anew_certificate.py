"""What proves the figures of failures after which an engine computes new tables: the tables, and each one's proof."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from obliv._util.codec import pack
from obliv._util.progress import Progress
from obliv._util.text import plural
from obliv._util.typing import Array
from obliv.checker.failures.check import Bounds
from obliv.checker.failures.claim import Failed
from obliv.checker.failures.hops import NextHops, next_hops_of
from obliv.checker.failures.routes import After, Routes, routes_left
from obliv.fabric.outages.anew import Left
from obliv.fabric.outages.certificate import failed_lists, joined, matching_of, paid_of, price_lists, whole
from obliv.fabric.routes.routing import FabricHops, FabricRouting
from obliv.results.fabric.failures import FailureRow, FailureState

__all__ = ["proof_anew", "why_not_anew"]

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
    """Return the certificate of failures by rank, with the tables after each.

    Parameters
    ----------
    routing : FabricRouting
    before : FailureState
    rows : list of FailureRow
    failed : list of Failed
    lefts : list of Left
        The routes after each failure.
    hottest : int
        A channel with the largest load before a failure.
    progress : callable
    """
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
        bounds = Bounds(routes, {})
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


def _witness(routes: Routes, after: After, channel: int) -> Array:
    """Return a permutation that loads a channel as much as any traffic can."""
    topology, ends = routes.hops.topology, routes.terminals
    source = int(topology.number_of[topology.tail[channel]])
    if source < 0:
        return whole(matching_of(routes, routes.crossing_after(channel, after))[0], ends)
    own = int(routes.hops.row[source]) * ends + np.delete(np.arange(ends), source)
    served = own[~np.isin(own, after.moved)] % ends
    return whole([(source, int(served[0]))], ends)
