"""The linear programme of the best worst case: flows of all pairs, and potentials that bound every channel's load.

Flows ``f_ij(c)`` lead one unit from i to j. For every channel c, potentials ``u_c(i)`` and ``v_c(j)`` cover the flows,
``f_ij(c) ≤ u_c(i) + v_c(j)``, so that no admissible traffic puts more than Σ rates × potentials on it: the dual of the
matching that finds the worst traffic (Towles and Dally, section 3.1). The largest of these sums is minimized.

Flows, potentials and channels that a symmetry of the network carries onto each other share one column: an average over
the group is as good as any routing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csc_array, csr_array, hstack, vstack

from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.designs.symmetry import Symmetry, orbits
from obliv.topologies.base import Topology

__all__ = ["Programme", "worst_case_programme"]


@dataclass(frozen=True, eq=False)
class Programme:
    """A linear programme over orbits of flows, with what its columns and rows stand for.

    Columns are the flow orbits, the potentials and the load, in this order; rows are the conservation of flow, the
    covers and the budgets of the channels.

    Parameters
    ----------
    topology : Topology
    symmetry : Symmetry
    matrix : scipy.sparse.csc_array, shape (rows, columns)
    lower, upper : float arrays, shape (rows,)
    flow : integer array, shape (sources, terminals, channels)
        The column of every flow, −1 where it is 0; `sources` is 1 where translations move the first one to all.
    size : integer array, shape (flow columns,)
        Number of flows of every orbit, over all sources.
    cover_rows : slice
    cover_flow : integer array
        The flow column of every cover row; every flow column has at most one.
    focus, alike : integer arrays
        One channel of every orbit, whose potentials are columns, and the number of channels in the orbit.
    """

    topology: Topology
    symmetry: Symmetry
    matrix: csc_array
    lower: Array
    upper: Array
    flow: Array
    size: Array
    cover_rows: slice
    cover_flow: Array
    focus: Array
    alike: Array

    @property
    def flows(self) -> int:
        """Number of flow columns."""
        return len(self.size)

    def limited(self, cost: Array, limit: float) -> Programme:
        """Return the same programme with one more row, the last: costs at most a limit."""
        return replace(
            self,
            matrix=csc_array(vstack([self.matrix, csr_array(cost[None, :])])),
            lower=np.append(self.lower, -np.inf),
            upper=np.append(self.upper, limit),
        )

    def on_channel(self, channel: int) -> Array:
        """Return the flow column of every pair on one channel; shape (terminals, terminals)."""
        flows = _Flows(self.topology, self.symmetry)
        source, destination = np.indices((flows.terminals, flows.terminals))
        column: Array = self.flow.reshape(-1)[flows.number(source, destination, np.full_like(source, channel))]
        return column

    @property
    def pairs(self) -> int:
        """Number of ordered pairs of terminals, self-pairs included."""
        return len(self.topology.terminals) ** 2

    @property
    def load_cost(self) -> Array:
        """The costs that minimize the worst-case channel load."""
        cost = np.zeros(self.matrix.shape[1])
        cost[-1] = 1
        return cost

    @property
    def hop_cost(self) -> Array:
        """The costs that minimize the mean number of hops over all ordered pairs, self-pairs included."""
        cost = np.zeros(self.matrix.shape[1])
        cost[: self.flows] = self.size / self.pairs
        return cost


class _Flows:
    """Numbers of flows (source, destination, channel), translated to source 0 where the network allows it."""

    def __init__(self, topology: Topology, symmetry: Symmetry) -> None:
        self.terminals = len(topology.terminals)
        self.channels, self.nodes = topology.channels, topology.nodes
        self.symmetry = symmetry
        self.sources = self.terminals if symmetry.to_first_node is None else 1

    def number(self, source: Array, destination: Array, channel: Array) -> Array:
        """Return the number of each flow."""
        if self.symmetry.to_first_node is None or self.symmetry.to_first_channel is None:
            return (source * self.terminals + destination) * self.channels + channel
        moved = self.symmetry.to_first_node[source, destination]
        return moved * self.channels + self.symmetry.to_first_channel[source, channel]

    def number_at(self, source: Array, destination: Array, node: Array) -> Array:
        """Return the number of each row of conservation (source, destination, node)."""
        if self.symmetry.to_first_node is None:
            return (source * self.terminals + destination) * self.nodes + node
        moved = self.symmetry.to_first_node
        return moved[source, destination] * self.nodes + moved[source, node]


def worst_case_programme(topology: Topology, symmetry: Symmetry, allowed: Array | None = None) -> Programme:
    """Return the programme whose optimum is the least worst-case channel load of all oblivious routings.

    Parameters
    ----------
    topology : Topology
    symmetry : Symmetry
    allowed : bool array, shape (terminals, terminals, channels), optional
        The channels that the paths of each pair may use, closed under the symmetries; default: all.

    Raises
    ------
    TooLargeError
        If it does not fit in memory.
    """
    flows = _Flows(topology, symmetry)
    entries = flows.sources * flows.terminals * topology.channels
    generators = len(symmetry.generators) + (symmetry.opposite is not None)
    require_memory(60.0 * entries + 24.0 * entries * generators, f"the linear program of {topology.spec}")
    flow, size = _flow_columns(topology, flows, allowed)
    conserve, arrivals = _conservation(topology, flows, flow, len(size))
    focus, alike = _focus(topology, symmetry)
    cover, budget, cover_flow = _covers(topology, flows, flow, len(size), focus)
    potentials = budget.shape[1]
    matrix = vstack(
        [
            hstack([conserve, csr_array((conserve.shape[0], potentials))]),
            cover,
            hstack([csr_array((len(focus), len(size))), budget]),
        ]
    )
    rest = cover.shape[0] + len(focus)
    return Programme(
        topology,
        symmetry,
        csc_array(matrix),
        np.concatenate([arrivals, np.zeros(rest)]),
        np.concatenate([arrivals, np.full(rest, np.inf)]),
        flow,
        size,
        slice(len(arrivals), len(arrivals) + cover.shape[0]),
        cover_flow,
        focus,
        alike,
    )


def _flow_columns(topology: Topology, flows: _Flows, allowed: Array | None) -> tuple[Array, Array]:
    """Return the column of every flow, −1 for those that are 0, and how many flows share each column."""
    shape = (flows.sources, flows.terminals, topology.channels)
    source, destination, channel = (part.ravel() for part in np.indices(shape))
    maps = flows.symmetry.generators
    images = [flows.number(g.terminals[source], g.terminals[destination], g.channels[channel]) for g in maps]
    opposite = flows.symmetry.opposite
    if opposite is not None:
        images.append(flows.number(destination, source, opposite[channel]))
    label, count = orbits(len(source), images)
    terminals = topology.terminals.astype(np.int64)
    # into the source and out of the destination there are only cycles
    idle = (topology.head[channel] == terminals[source]) | (topology.tail[channel] == terminals[destination])
    idle |= source == destination
    if allowed is not None:
        idle |= ~allowed[source, destination, channel]
    used = np.ones(count, bool)
    used[label[idle]] = False
    column = np.where(used, np.cumsum(used) - 1, -1)
    size = np.bincount(label, minlength=count)[used] * (flows.terminals // flows.sources)
    return column[label].reshape(shape), size


def _conservation(topology: Topology, flows: _Flows, flow: Array, columns: int) -> tuple[csr_array, Array]:
    """Return the rows "what leaves a node less what enters it", one of every orbit, and their right sides."""
    shape = (flows.sources, flows.terminals, topology.nodes)
    source, destination, node = (part.ravel() for part in np.indices(shape))
    images = [
        flows.number_at(g.terminals[source], g.terminals[destination], g.nodes[node]) for g in flows.symmetry.generators
    ]
    if flows.symmetry.opposite is not None:
        images.append(flows.number_at(destination, source, node))
    label, _ = orbits(len(source), images)
    terminals = topology.terminals.astype(np.int64)
    needed = np.flatnonzero((node != terminals[destination]) & (source != destination))
    _, first = np.unique(label[needed], return_index=True)
    rows = needed[first]
    source, destination, node = source[rows], destination[rows], node[rows]
    by_head = np.argsort(topology.head, kind="stable")
    first_in = np.concatenate([[0], np.cumsum(np.bincount(topology.head, minlength=topology.nodes))])
    row_out, out = _channels_at(topology.first_channel, node)
    row_in, place = _channels_at(first_in, node)
    row = np.concatenate([row_out, row_in])
    channel = np.concatenate([out, by_head[place]])
    sign = np.concatenate([np.ones(len(row_out)), -np.ones(len(row_in))])
    column = flow[source[row], destination[row], channel]
    some = column >= 0
    matrix = csr_array((sign[some], (row[some], column[some])), shape=(len(rows), columns))
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    sent = (node == terminals[source]).astype(float)
    empty = (np.diff(matrix.indptr) == 0) & (sent == 0)
    return csr_array(matrix[~empty]), sent[~empty]


def _channels_at(first: Array, node: Array) -> tuple[Array, Array]:
    """Return, for nodes in rows, the row and the place of each of a node's channels; `first` holds where they begin."""
    degree = np.diff(first)[node]
    row = np.repeat(np.arange(len(node)), degree)
    within = np.arange(len(row)) - np.repeat(np.cumsum(degree) - degree, degree)
    return row, first[node][row] + within


def _covers(
    topology: Topology, flows: _Flows, flow: Array, columns: int, focus: Array
) -> tuple[csr_array, csr_array, Array]:
    """Return the rows that cover flows by potentials, those of the budgets, and the flow columns covered."""
    terminals = flows.terminals
    potential, count = _potentials(topology, flows, focus)
    source, destination = (part.ravel() for part in np.indices((terminals, terminals)))
    covered, left, right = [], [], []
    for k, channel in enumerate(focus.tolist()):
        column = flow.reshape(-1)[flows.number(source, destination, np.full(len(source), channel))]
        distinct, first = np.unique(column, return_index=True)
        distinct, first = distinct[distinct >= 0], first[distinct >= 0]
        covered.append(distinct)
        left.append(potential[0, source[first], k])
        right.append(potential[1, destination[first], k])
    cover_flow = np.concatenate(covered)
    rows = np.arange(len(cover_flow))
    cover = csr_array(
        (
            np.repeat([-1.0, 1.0, 1.0], len(rows)),
            (
                np.tile(rows, 3),
                np.concatenate([cover_flow, columns + np.concatenate(left), columns + np.concatenate(right)]),
            ),
        ),
        shape=(len(rows), columns + count + 1),
    )
    rates = np.array([[float(rate) for rate in side] for side in topology.rates()])
    speed = np.array([float(topology.bandwidth_of(int(channel))) for channel in focus])
    at = np.tile(np.arange(len(focus)), 2 * terminals)
    spent = csr_array((-np.repeat(rates.ravel(), len(focus)), (at, potential.ravel())), shape=(len(focus), count))
    return cover, csr_array(hstack([spent, csr_array(speed[:, None])])), cover_flow


def _focus(topology: Topology, symmetry: Symmetry) -> tuple[Array, Array]:
    """Return the first channel of every orbit, and the size of the orbit."""
    images = [maps.channels for maps in symmetry.generators]
    if symmetry.opposite is not None:
        images.append(symmetry.opposite)
    label, _ = orbits(topology.channels, images)
    _, first, alike = np.unique(label, return_index=True, return_counts=True)
    return first, alike


def _potentials(topology: Topology, flows: _Flows, focus: Array) -> tuple[Array, int]:
    """Return the column of each potential (side, terminal, focus channel), and how many columns there are."""
    symmetry = flows.symmetry
    side, terminal, channel = (part.ravel() for part in np.indices((2, flows.terminals, topology.channels)))

    def number(side: Array, terminal: Array, channel: Array) -> Array:
        return (side * flows.terminals + terminal) * topology.channels + channel

    images = [number(side, g.terminals[terminal], g.channels[channel]) for g in symmetry.generators]
    if symmetry.opposite is not None:
        images.append(number(1 - side, terminal, symmetry.opposite[channel]))
    label, _ = orbits(len(side), images)
    used, column = np.unique(label.reshape(2, flows.terminals, -1)[:, :, focus], return_inverse=True)
    return column.reshape(2, flows.terminals, len(focus)), len(used)
