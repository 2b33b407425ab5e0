"""The linear program of the least oblivious performance ratio (Applegate and Cohen), compact.

The flows ``f_ij`` lead one unit from i to j. For a channel e, lengths ``π(h) ≥ 0`` of all channels h and distances
``p(i, n) ≥ 0`` under them bound the load of e by all traffic that some routing carries with congestion 1::

    minimize    r
    subject to  f_ij(e) / b_e  ≤  p(i, j)                    all pairs
                p(i, head(h))  ≤  p(i, tail(h)) + π(h)       all terminals i and channels h;  p(i, i) = 0
                Σ_h b_h π(h)   ≤  r

Channels that symmetries carry onto each other share one block of such rows, so do both directions of a link: reversing
all traffic changes no congestion. Within a block, symmetries that keep its channel share rows and columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array

from obliv._util.cost import Work, announce, require_memory
from obliv._util.progress import Progress
from obliv._util.typing import Array
from obliv.designs.flows import FlowProgramme, Layout, conservation, flow_orbits, layout_of
from obliv.designs.ratios.classes import Class, classes_of
from obliv.designs.states import states_of
from obliv.designs.symmetry import Symmetry, orbits
from obliv.topologies.base import Topology

__all__ = ["Block", "RatioProgramme", "ratio_programme"]

_SECONDS_A_ROW = 1.5e-4  # of the first-order method, to 1e-3


@dataclass(frozen=True, eq=False)
class Block:
    """The rows and columns of one channel.

    Parameters
    ----------
    channels : Class
        The channel, and those that it stands for.
    price : integer array, shape (channels,)
        The column of every length.
    step : integer array, shape (terminals, channels)
        The row of ``p(i, head) ≤ p(i, tail) + π``; −1 where the channel leads back to i.
    alike : integer array, shape (terminals, channels)
        How many of them share the row.
    """

    channels: Class
    price: Array
    step: Array
    alike: Array


@dataclass(frozen=True, eq=False)
class RatioProgramme(FlowProgramme):
    """The program of the ratio: its columns are orbits of flows, lengths and distances, and the ratio.

    Parameters
    ----------
    blocks : tuple of Block
    """

    blocks: tuple[Block, ...]


def ratio_programme(topology: Topology, symmetry: Symmetry, minimal: bool, progress: Progress) -> RatioProgramme:
    """Return the program whose optimum is the least oblivious performance ratio of all routings.

    Parameters
    ----------
    topology : Topology
    symmetry : Symmetry
        Without regard to rates of terminals, which play no part.
    minimal : bool
        Whether paths must be shortest paths.
    progress : callable
        Called with what the work will take, before it begins.

    Raises
    ------
    TooLargeError
        If it does not fit in memory.
    """
    terminals, channels = len(topology.terminals), topology.channels
    if not symmetry.generators:
        require_memory(100.0 * terminals * channels**2, f"the linear program of {topology.spec}")
    classes = classes_of(topology, symmetry)
    sources = terminals if symmetry.to_first_node is None else 1
    rows = sum(terminals * channels / entry.order for entry in classes) + 1.0 * sources * terminals * topology.nodes
    name = f"the linear program of {topology.spec}, up to {rows:,.0f} rows"
    announce(progress, name, Work(_SECONDS_A_ROW * rows, 300.0 * rows), rough=True)
    layout = layout_of(topology, symmetry, states_of(topology, None))
    usable = layout.states.usable(sources, True) if minimal else None
    places = [(lift.terminals, lift.arcs) for lift in layout.lifts]
    flow, size = flow_orbits(layout, layout.arcs, places, (topology.tail, topology.head), usable)
    conserve, arrivals = conservation(layout, flow, len(size))
    speed = np.array([float(topology.bandwidth_of(c)) for c in range(channels)])
    speed /= speed.max(initial=1.0)
    builder = _Builder(topology, layout, flow, speed, conserve, len(size))
    blocks = tuple(builder.block(entry) for entry in classes)
    matrix = builder.matrix()
    require_memory(600.0 * matrix.shape[0], f"the linear program of {topology.spec}, {matrix.shape[0]:,} rows,")
    rest = matrix.shape[0] - len(arrivals)
    return RatioProgramme(
        topology,
        symmetry,
        matrix,
        np.concatenate([arrivals, np.zeros(rest)]),
        np.concatenate([arrivals, np.full(rest, np.inf)]),
        flow,
        size,
        blocks,
    )


class _Builder:
    """The entries of the matrix, block by block; the ratio has the last column."""

    def __init__(
        self, topology: Topology, layout: Layout, flow: Array, speed: Array, conserve: csr_array, columns: int
    ) -> None:
        self.topology, self.layout, self.flow, self.speed = topology, layout, flow, speed
        self.tail, self.head = topology.tail.astype(np.int64), topology.head.astype(np.int64)
        self.nodes = topology.terminals.astype(np.int64)
        whole = coo_array(conserve)
        self.rows, self.columns = conserve.shape[0], columns
        self.parts = [(whole.row.astype(np.int64), whole.col.astype(np.int64), whole.data)]
        self.budgets: list[int] = []

    def add(self, row: Array, column: Array, value: Array) -> None:
        some = (row >= 0) & (column >= 0)
        self.parts.append((row[some], column[some], value[some]))

    def block(self, channels: Class) -> Block:
        """Add the rows of one channel."""
        topology, terminals = self.topology, len(self.nodes)
        maps = channels.stabilizer
        e, every = channels.channel, np.arange(topology.channels)
        label, count = orbits(topology.channels, [m.channels for m in maps])
        price = self.columns + label
        self.columns += count
        # distances
        i, n = (part.ravel() for part in np.indices((terminals, topology.nodes)))
        label, count = orbits(len(i), [m.terminals[i] * topology.nodes + m.nodes[n] for m in maps])
        distance, used = _numbered(label, count, n != self.nodes[i])
        distance = np.where(distance >= 0, distance + self.columns, -1).reshape(terminals, topology.nodes)
        self.columns += used
        # p(i, head) ≤ p(i, tail) + π
        i, h = (part.ravel() for part in np.indices((terminals, topology.channels)))
        label, count = orbits(len(i), [m.terminals[i] * topology.channels + m.channels[h] for m in maps])
        step, used = _numbered(label, count, self.head[h] != self.nodes[i])
        alike = np.bincount(label, minlength=count)[label]
        step = np.where(step >= 0, step + self.rows, -1)
        self.rows += used
        _, first = np.unique(step, return_index=True)
        first = first[step[first] >= 0]
        row, at, over = step[first], i[first], h[first]
        ones = np.ones(len(row))
        self.add(row, price[over], ones)
        self.add(row, distance[at, self.tail[over]], ones)
        self.add(row, distance[at, self.head[over]], -ones)
        # f(e) / b ≤ p(i, j)
        i, j = (part.ravel() for part in np.indices((terminals, terminals)))
        column = self.flow.reshape(-1)[self.layout.channels.of(i, j, np.full(len(i), e))]
        label, count = orbits(len(i), [m.terminals[i] * terminals + m.terminals[j] for m in maps])
        cover, used = _numbered(label, count, (column >= 0) & (i != j))
        _, first = np.unique(cover, return_index=True)
        first = first[cover[first] >= 0]
        row = cover[first] + self.rows
        self.rows += used
        self.add(row, distance[i[first], self.nodes[j[first]]], np.ones(len(first)))
        self.add(row, column[first], np.full(len(first), -1 / self.speed[e]))
        # the budget
        self.add(np.full(len(every), self.rows), price, -self.speed)
        self.budgets.append(self.rows)
        self.rows += 1
        return Block(channels, price, step.reshape(terminals, -1), alike.reshape(terminals, -1))

    def matrix(self) -> csc_array:
        """Return the matrix of all rows."""
        budgets = np.array(self.budgets)
        self.add(budgets, np.full(len(budgets), self.columns), np.ones(len(budgets)))
        row, column, value = (np.concatenate(part) for part in zip(*self.parts, strict=True))
        self.parts.clear()
        matrix = csc_array(coo_array((value, (row, column)), shape=(self.rows, self.columns + 1)))
        matrix.sum_duplicates()
        return matrix


def _numbered(label: Array, count: int, needed: Array) -> tuple[Array, int]:
    """Return a number for every element, one for each orbit, −1 for orbits with an element that is not needed."""
    used = np.ones(count, bool)
    used[label[~needed]] = False
    number = np.where(used, np.cumsum(used) - 1, -1)
    return number[label], int(used.sum())
