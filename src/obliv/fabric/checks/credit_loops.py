"""Credit loops: packets that wait for each other in a circle under the tables of a fabric."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from obliv._util.memory import require_memory
from obliv._util.typing import Array
from obliv.analysis.deadlocks.graph import short_cycle
from obliv.fabric.kernels.credit_loops import followers
from obliv.fabric.model import Fabric
from obliv.fabric.routes.trace import Traces, Wiring, trace_all, wiring
from obliv.fabric.tables import Tables
from obliv.kernels import run

__all__ = ["CreditLoops", "credit_loops"]


@dataclass(frozen=True)
class CreditLoops:
    """Whether the channel dependency graph of forwarding tables has a cycle.

    Parameters
    ----------
    channels : int
        Cables between switches, both directions counted.
    dependencies : int
        How many pairs of channels some way takes right after each other.
    cycle : tuple of int
        The slots where the channels of a short cycle begin: each may be used right before the next, the last right
        before the first. Empty where there is none.
    """

    channels: int
    dependencies: int
    cycle: tuple[int, ...] = ()

    @property
    def acyclic(self) -> bool:
        """Whether no deadlock is possible, whatever the traffic."""
        return not self.cycle


def credit_loops(
    fabric: Fabric,
    tables: Tables,
    *,
    wires: Wiring | None = None,
    traces: Traces | None = None,
) -> CreditLoops:
    """Look for a cycle among the channels that the ways of a fabric take one after the other.

    Parameters
    ----------
    fabric : Fabric
    tables : Tables
    wires : Wiring, optional
    traces : Traces, optional
        Of the two, where they are at hand.

    Returns
    -------
    CreditLoops

    Notes
    -----
    Ways from every switch with an endpoint to every LID of an endpoint are followed; those that go round in a loop
    never hand their channels back and are left to :func:`obliv.fabric.check`. All packets are taken to use one virtual
    lane: engines that spread service levels over several (dfsssp, lash, nue, torus-2QoS) may be free of
    deadlock in spite of a cycle.

    References
    ----------
    W. J. Dally and C. L. Seitz, "Deadlock-free message routing in multiprocessor interconnection networks", IEEE
    Transactions on Computers C-36(5), 1987.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate.from_topology import from_topology, tables_of
    >>> torus = obliv.topology("torus:5x5")
    >>> fabric = from_topology(torus)
    >>> found = credit_loops(fabric, tables_of(obliv.routing("dor", torus), fabric))
    >>> found.acyclic, len(found.cycle)
    (False, 5)
    """
    wires = wires or wiring(fabric, tables)
    traces = traces or trace_all(fabric, tables, wires)
    slots = np.flatnonzero(wires.to >= 0)
    slots = slots[np.isin(fabric.node_of[slots], fabric.switches)]
    channel = np.full(len(wires.to), -1, np.int64)
    channel[slots] = np.arange(len(slots))
    ports = int(np.diff(fabric.first_slot)[fabric.switches].max(initial=1))
    ports = min(ports, 256)  # tables know no others
    require_memory(10.0 * len(slots) * ports, f"the channel dependency graph of {fabric.name}")
    follows = np.zeros((len(slots), ports), np.bool_)
    lid, code, alone = traces.lid, traces.code, _alone(fabric, traces)
    run(followers, 8.0 * code.size, traces.leaf, lid, alone, code, *wires.arrays, channel, follows)
    before, port = np.nonzero(follows)
    at = fabric.first_slot[wires.to[slots[before]]] + port
    starts = np.concatenate([[0], np.cumsum(np.bincount(before, minlength=len(slots)))])
    cycle = short_cycle(starts, channel[at]) or []
    return CreditLoops(len(slots), len(before), tuple(int(slots[c]) for c in cycle))


def _alone(fabric: Fabric, traces: Traces) -> Array:
    """For every column the leaf where its endpoint is the only one, -1 where it has company: none sends to itself."""
    place = np.full(fabric.nodes, -1)
    place[traces.leaf] = np.arange(len(traces.leaf))
    leaf = place[fabric.node_of[fabric.peer[traces.ends]]]
    several = np.append(np.bincount(leaf[leaf >= 0], minlength=len(traces.leaf)) > 1, False)  # the last for leaf -1
    leaf[several[leaf]] = -1
    return np.asarray(leaf[traces.endpoint])
