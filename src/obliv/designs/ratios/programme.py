"""The linear program of the worst traffic for one channel, among all that some routing carries with congestion 1.

``g_s(h)`` is the flow from source s over channel h. What enters a terminal n beyond what leaves it is the traffic from
s to n, so no column stands for the traffic itself (Applegate and Cohen)::

    maximize    Σ_s Σ_h g_s(h) · (f_s,head(h)(e) − f_s,tail(h)(e))
    subject to  in(n) − out(n) of g_s  ≥ 0  at terminals n ≠ s,  = 0 at other nodes
                Σ_s g_s(h)  ≤ b_h  on every channel h,    g ≥ 0,  no flow into s

Only sources that use channel e take part, or only destinations, with all channels reversed, if those are fewer. That
is much faster than one matrix for all channels e, solved again from the last basis.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csc_array

from obliv._util.typing import Array
from obliv.designs.solver import Optimum, solve
from obliv.topologies.base import Topology

__all__ = ["WorstTraffic", "worst_traffic"]


@dataclass(frozen=True, eq=False)
class WorstTraffic:
    """What the solver says of one channel: believed only as far as bounds prove it.

    Parameters
    ----------
    ends : integer array, shape (k,)
        Numbers of the terminals by which flows are added up.
    by_source : bool
        Whether these are the sources of the flows, or their destinations.
    flows : float array, shape (k, channels)
    lengths : float array, shape (channels,)
        The multipliers of the channels' bandwidths.
    value : float
        The optimum.
    """

    ends: Array
    by_source: bool
    flows: Array
    lengths: Array
    value: float


def worst_traffic(topology: Topology, bandwidth: Array, value: Array) -> WorstTraffic:
    """Return the traffic of congestion at most 1 that is worth most.

    Parameters
    ----------
    topology : Topology
    bandwidth : float array, shape (channels,)
    value : float array, shape (terminals, terminals)
        Worth of a unit of traffic from each terminal to each other one; 0 on the diagonal.
    """
    tail, head = topology.tail.astype(np.int64), topology.head.astype(np.int64)
    sources, destinations = np.flatnonzero(value.any(axis=1)), np.flatnonzero(value.any(axis=0))
    by_source = len(sources) <= len(destinations)
    if not by_source:
        tail, head, value = head, tail, value.T
    ends = sources if by_source else destinations
    first = topology.terminals.astype(np.int64)[ends]
    at_node = np.zeros((len(ends), topology.nodes))
    at_node[:, topology.terminals] = value[ends]
    end, channel = (part.ravel() for part in np.indices((len(ends), topology.channels)))
    away = head[channel] != first[end]
    end, channel = end[away], channel[away]
    matrix, lower, upper = _rows(first, at_node > 0, (end, tail[channel], head[channel], channel), bandwidth)
    cost = at_node[end, tail[channel]] - at_node[end, head[channel]]
    optimum: Optimum = solve(matrix, lower, upper, cost, tolerance=None, from_zero=True)
    flows = np.zeros((len(ends), topology.channels))
    flows[end, channel] = np.maximum(optimum.columns, 0)
    lengths = np.maximum(-optimum.duals[-topology.channels :], 0)
    return WorstTraffic(ends, by_source, flows, lengths, -float(cost @ optimum.columns))


def _rows(
    first: Array, takes: Array, columns: tuple[Array, Array, Array, Array], bandwidth: Array
) -> tuple[csc_array, Array, Array]:
    """Return the matrix and the limits of its rows: balances of flows at nodes, then bandwidths of channels.

    Traffic that is worth nothing is left out: flow ends only where `takes` says so, a table of flows and nodes.
    """
    end, tail, head, channel = columns
    balanced = np.ones(takes.shape, bool)
    balanced[np.arange(len(first)), first] = False  # nothing is required of the source itself
    row = np.where(balanced, np.cumsum(balanced).reshape(balanced.shape) - 1, -1)
    balances, channels, count = int(balanced.sum()), len(bandwidth), len(end)
    entering, leaving, number = row[end, head], row[end, tail], np.arange(count)
    inner = leaving >= 0
    matrix = coo_array(
        (
            np.repeat([1.0, -1.0, 1.0], [count, int(inner.sum()), count]),
            (
                np.concatenate([entering, leaving[inner], balances + channel]),
                np.concatenate([number, number[inner], number]),
            ),
        ),
        shape=(balances + channels, count),
    )
    lower = np.concatenate([np.zeros(balances), np.full(channels, -np.inf)])
    upper = np.concatenate([np.where(takes[balanced], np.inf, 0.0), bandwidth])
    return csc_array(matrix), lower, upper
