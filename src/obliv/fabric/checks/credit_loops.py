"""Credit loops: channels that wait for each other in a cycle under the tables of a fabric."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from obliv._util.arrays import positions, starts
from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.analysis.deadlocks.graph import short_cycle
from obliv.fabric.kernels.credit_loops import followers
from obliv.fabric.routes.trace import Traces
from obliv.kernels import run

__all__ = ["CreditLoops", "credit_loops", "dependencies_of"]


@dataclass(frozen=True)
class CreditLoops:
    """Whether the channel dependency graph of forwarding tables has a cycle.

    Parameters
    ----------
    dependencies : int
        Pairs of channels that some route uses one right after the other.
    cycle : tuple of int
        The slots where the channels of a short cycle begin: each may be used right before the next, the last right
        before the first. Empty where there is none.
    """

    dependencies: int
    cycle: tuple[int, ...] = ()

    @property
    def acyclic(self) -> bool:
        """Whether no deadlock is possible, whatever the traffic."""
        return not self.cycle


def credit_loops(traces: Traces) -> CreditLoops:
    """Look for a cycle among the channels that the routes of a fabric use one after the other.

    Parameters
    ----------
    traces : Traces
        See :func:`obliv.fabric.routes.trace.trace_all`.

    Notes
    -----
    Routes from every switch with an endpoint to every LID of an endpoint are followed; routes that loop never release
    their channels and are reported by :func:`obliv.fabric.check`. All packets are assumed to use one virtual lane:
    engines that spread service levels over several lanes (dfsssp, lash, nue, torus-2QoS) may be free of deadlock in
    spite of a cycle.

    References
    ----------
    [DS87] W. J. Dally and C. L. Seitz, "Deadlock-free message routing in multiprocessor interconnection networks", IEEE
    Transactions on Computers C-36(5), 1987.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate.from_topology import from_topology, tables_of
    >>> from obliv.fabric.routes.trace import trace_all
    >>> torus = obliv.topology("torus:5x5")
    >>> fabric = from_topology(torus)
    >>> loops = credit_loops(trace_all(fabric, tables_of(obliv.routing("dor", torus), fabric)))
    >>> loops.acyclic, len(loops.cycle)
    (False, 5)
    """
    slots, first, after = dependencies_of(traces)
    cycle = short_cycle(first, after) or []
    return CreditLoops(len(after), tuple(int(slots[c]) for c in cycle))


def dependencies_of(traces: Traces) -> tuple[Array, Array, Array]:
    """Return the channel dependency graph of the routes between switches.

    Parameters
    ----------
    traces : Traces

    Returns
    -------
    slots : int64 array
        Where each channel between switches begins.
    first, after : int64 arrays
        What some route uses right after channel c is ``after[first[c]:first[c + 1]]``.
    """
    fabric, to = traces.fabric, traces.hops.to
    slots = np.flatnonzero(to >= 0)
    slots = slots[np.isin(fabric.node_of[slots], fabric.switches)]
    channel = positions(slots, len(to))
    ports = int(np.diff(fabric.first_slot)[fabric.switches].max(initial=1))
    ports = min(ports, 256)  # a table entry is a byte
    require_memory(10.0 * len(slots) * ports, f"the channel dependency graph of {fabric.name}")
    follows = np.zeros((len(slots), ports), np.bool_)
    arrays = (traces.leaf, traces.lid, _alone(traces), traces.code, traces.hops, channel, follows)
    run(followers, 8.0 * traces.code.size, *arrays)
    before, port = np.nonzero(follows)
    at = fabric.first_slot[to[slots[before]]] + port
    return slots, starts(np.bincount(before, minlength=len(slots))), channel[at]


def _alone(traces: Traces) -> Array:
    """Return for every column the leaf where its endpoint is the only one, -1 where others would send from there."""
    leaf = traces.leaf_of.copy()
    several = np.append(np.bincount(leaf[leaf >= 0], minlength=len(traces.leaf)) > 1, False)  # the last for leaf -1
    leaf[several[leaf]] = -1
    return np.asarray(leaf[traces.endpoint])
