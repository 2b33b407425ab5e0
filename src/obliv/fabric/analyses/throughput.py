"""Patterns and jobs on a fabric: their ideal throughput, and the cables that they load most."""

from __future__ import annotations

import numpy as np

from obliv._util.progress import Progress
from obliv._util.text import plural
from obliv.analysis.throughput import throughput as analysed
from obliv.fabric.analyses.many import require_count
from obliv.fabric.arguments import typed
from obliv.fabric.routes.routing import FabricRouting
from obliv.fabric.routes.uniform import slowed
from obliv.patterns.base import Traffic
from obliv.patterns.make import traffic as traffic_of
from obliv.results.fabric.throughput import BusyCable, FabricPattern, FabricThroughput

__all__ = ["throughput"]


@typed
def throughput(
    routing: FabricRouting, *traffic: str | Traffic, hottest: int = 3, progress: Progress | None = None
) -> FabricThroughput:
    """Return the ideal throughput of forwarding tables under patterns and jobs, and the cables that these load most.

    Parameters
    ----------
    routing : FabricRouting
    *traffic : Traffic or str
        Patterns, or their specs; one that is given twice has one row. Where links of hosts differ, a pair sends its
        share of what the slower of its two ends can.
    hottest : int
        Number of cables to name for each; of equal ones first those between switches.
    progress : callable, optional
        Called with what is being done and the share that is done, from 0 to 1.

    Returns
    -------
    FabricThroughput
        Exact; see :func:`obliv.throughput`.

    Raises
    ------
    TrafficError
        If a pattern does not fit the fabric.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate.from_topology import from_routing
    >>> throughput(from_routing(obliv.routing("dmodk", obliv.topology("fattree:4,2"))), "shift:2", hottest=1)
    throughput: lft:dmodk on fabric:fattree:4,2
      shift:2  load 1, throughput 1, of capacity 7/8 = 0.875
               mean hops 4
               1   switch((0),1) port 3 -> switch((0),0) port 1   1 pair
    """
    require_count(hottest)
    topology = routing.topology
    patterns = list(dict.fromkeys(traffic_of(pattern, topology) for pattern in traffic))  # each once
    flows = [slowed(pattern, topology) for pattern in patterns]
    plain = analysed(routing, *flows, progress=progress)
    notes = tuple(dict.fromkeys((*topology.notes, *(note for pattern in patterns for note in pattern.notes))))
    if not topology.unit_rates:
        notes = (*notes, "links of hosts differ: a pair sends its share of what the slower of its two ends can")
    if routing.partial:
        notes = (*notes, f"{plural(routing.skipped, 'pair')} whose packets do not arrive are left out")
    return FabricThroughput(
        topology=plain.topology,
        routing=plain.routing,
        provenance=plain.provenance,
        subject=plain.subject,
        capacity=plain.capacity,
        patterns=tuple(
            FabricPattern(**vars(row), hottest=_busiest(routing, flow, hottest))
            for row, flow in zip(plain.patterns, flows, strict=True)
        ),
        notes=notes,
    )


def _busiest(routing: FabricRouting, traffic: Traffic, count: int) -> tuple[BusyCable, ...]:
    """Return the cables that a traffic loads most, the most loaded first."""
    topology, loads = routing.topology, routing.fabric_loads
    under = loads.under(traffic)
    cables = []
    for c in sorted(range(len(under)), key=lambda c: (-under[c], bool(topology.at_host[c]), c))[:count]:
        if not under[c]:
            break
        crossing = loads.on_channel(c).tocoo()
        pairs = crossing.nnz
        if not traffic.uniform:
            sent = traffic.source.astype(np.int64) * traffic.terminals + traffic.destination
            pairs = int(np.isin(sent, crossing.row.astype(np.int64) * traffic.terminals + crossing.col).sum())
        cables.append(
            BusyCable(
                **vars(topology.cable(c)),
                load=under[c],
                pairs=pairs,
            )
        )
    return tuple(cables)
