"""Flows of all pairs as columns of a linear programme, reduced by symmetries, and the rows that conserve them.

Flows ``f_ij(a)`` lead one unit from i to j over the arcs of a network of states, whose paths are the legal ones. Those
that a symmetry of the network carries onto each other share one column: an average over the group is as good as any
routing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.sparse import csc_array, csr_array, vstack

from obliv._util.arrays import starts
from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.designs.exact.basis import Basis
from obliv.designs.solver import FEWER_MAGNITUDES, Optimum, SolverError, solve
from obliv.designs.states import Lift, States, lifted
from obliv.designs.symmetry import Symmetry, orbits
from obliv.topologies.base import Topology

__all__ = ["FlowProgramme", "Layout", "Numbers", "conservation", "flow_orbits", "layout_of"]


#: Measured bytes of arrays for a flow before symmetries, for one that may be positive, and for each symmetry of that.
_FLOW, _USED, _IMAGE = 13.0, 35.0, 5.0


@dataclass(frozen=True, eq=False)
class FlowProgramme:
    """A linear programme whose first columns are orbits of flows, and whose last one is what it minimizes.

    Parameters
    ----------
    topology : Topology
    symmetry : Symmetry
        Of the legal paths.
    matrix : scipy.sparse.csc_array, shape (rows, columns)
    lower, upper : float arrays, shape (rows,)
    column : integer array, shape (sources, terminals, arcs)
        The column of every flow, −1 where it is 0; `sources` is 1 where translations move the first one to all.
    column_size : integer array, shape (flow columns,)
        Number of flows of every column, over all sources.
    """

    topology: Topology
    symmetry: Symmetry
    matrix: csc_array
    lower: Array
    upper: Array
    column: Array
    column_size: Array

    @property
    def flows(self) -> int:
        """Number of flow columns."""
        return len(self.column_size)

    @property
    def pairs(self) -> int:
        """Number of ordered pairs of terminals, self-pairs included."""
        return len(self.topology.terminals) ** 2

    @property
    def cost(self) -> Array:
        """The costs that minimize the last column: the worst-case channel load, or the ratio."""
        cost = np.zeros(self.matrix.shape[1])
        cost[-1] = 1
        return cost

    @property
    def hop_cost(self) -> Array:
        """The costs that minimize the mean number of hops over all ordered pairs, self-pairs included."""
        cost = np.zeros(self.matrix.shape[1])
        cost[: self.flows] = self.column_size / self.pairs
        return cost

    def limited(self, cost: Array, limit: float) -> Self:
        """Return the same programme with one more row, the last: costs at most a limit."""
        return replace(
            self,
            matrix=csc_array(vstack([self.matrix, csr_array(cost[None, :])])),
            lower=np.append(self.lower, -np.inf),
            upper=np.append(self.upper, limit),
        )

    def solved(
        self,
        cost: Array,
        tolerance: float | None,
        *,
        crossover: bool = False,
        interior: bool = False,
        start: Basis | None = None,
        iterations: int | None = None,
    ) -> Optimum:
        """Return columns with the least costs, see :func:`solve`; raise SolverError if there are none."""
        optimum = solve(
            self.matrix,
            self.lower,
            self.upper,
            cost,
            tolerance=tolerance,
            crossover=crossover,
            interior=interior,
            start=start,
            iterations=iterations,
        )
        if not optimum.feasible:
            raise SolverError(f"the solver found no routing at all; {FEWER_MAGNITUDES}")
        return optimum


class Numbers:
    """Numbers of (source, destination, place), translated to source 0 where the network allows it.

    Places are arcs, states or channels; row i of `to_first` says what they become when source i is moved to the first.
    """

    def __init__(self, terminals: int, places: int, to_first_node: Array | None, to_first: Array | None) -> None:
        self.terminals, self.places = terminals, places
        self.to_first_node, self.to_first = to_first_node, to_first
        self.sources = terminals if to_first is None else 1
        self.shape = (self.sources, terminals, places)

    def of(self, source: Array, destination: Array, place: Array) -> Array:
        """Return the number of each."""
        if self.to_first_node is None or self.to_first is None:
            return (source * self.terminals + destination) * self.places + place
        return self.to_first_node[source, destination] * self.places + self.to_first[source, place]


@dataclass(frozen=True, eq=False)
class Layout:
    """The states of a topology, the symmetries of its legal paths, and the numbers of flows on arcs, and so on."""

    states: States
    symmetry: Symmetry
    lifts: list[Lift]
    arcs: Numbers
    nodes: Numbers
    channels: Numbers


def layout_of(topology: Topology, symmetry: Symmetry, states: States) -> Layout:
    """Return the numbers of flows; raise TooLargeError where they do not fit in memory."""
    terminals = len(topology.terminals)
    symmetry, lifts, first_state, first_arc = lifted(symmetry, states)
    moved = symmetry.to_first_node
    arcs = Numbers(terminals, states.arcs, moved, first_arc)
    entries = arcs.sources * terminals * states.arcs
    require_memory(_FLOW * entries, f"the linear program of {topology.spec} ({entries:,} flows before symmetries)")
    nodes = Numbers(terminals, states.count, moved, first_state)
    return Layout(
        states, symmetry, lifts, arcs, nodes, Numbers(terminals, topology.channels, moved, symmetry.to_first_channel)
    )


def flow_orbits(
    layout: Layout,
    numbers: Numbers,
    maps: list[tuple[Array, Array]],
    ends: tuple[Array, Array],
    usable: Array | None,
) -> tuple[Array, Array]:
    """Return the orbit of every flow, −1 for those that are 0, and the size of the orbits; see :func:`layout_of`.

    `maps` say what terminals and places become, `ends` are the nodes before and behind each place.
    """
    topology = layout.states.topology
    terminals = topology.terminals.astype(np.int64)
    tail, head = ends
    # into the source and out of the destination there are only cycles
    into, out = head == terminals[:, None], tail == terminals[:, None]
    used = ~(into[: numbers.sources, None, :] | out[None, :, :])
    used[np.arange(numbers.sources), np.arange(numbers.sources)] = False
    if usable is not None:
        used &= usable
    entry = np.flatnonzero(used)
    generators = len(maps) + (layout.symmetry.opposite is not None)
    require_memory(
        (_USED + _IMAGE * generators) * len(entry) * (1 if used.size < 2**31 else 2),
        f"the linear program of {topology.spec} ({len(entry):,} flows before symmetries)",
    )
    number = np.full(used.size, -1, np.int32 if used.size < 2**31 else np.int64)  # most of the memory is needed here
    number[entry] = np.arange(len(entry))
    images = _images(layout, numbers, maps, entry, number)
    lost = np.zeros(len(entry), bool)  # what a symmetry takes to a flow that is 0
    for image in images:
        gone = np.flatnonzero(image < 0)
        lost[gone] = True
        image[gone] = gone
    label, count = orbits(len(entry), images)
    positive = np.ones(count, bool)
    positive[label[lost]] = False
    orbit = np.where(positive, np.cumsum(positive) - 1, -1)
    number[entry] = orbit[label]
    size = np.bincount(label, minlength=count)[positive] * (numbers.terminals // numbers.sources)
    return number.reshape(numbers.shape).astype(np.int64, copy=False), size


def _images(
    layout: Layout, numbers: Numbers, maps: list[tuple[Array, Array]], entry: Array, number: Array
) -> list[Array]:
    """Return what every symmetry takes each entry to, by its number; -1 where that is 0."""
    source, destination, place = (part.astype(number.dtype) for part in np.unravel_index(entry, numbers.shape))
    images = [number[numbers.of(terminal[source], terminal[destination], places[place])] for terminal, places in maps]
    if layout.symmetry.opposite is not None:
        images.append(number[numbers.of(destination, source, layout.symmetry.opposite[place])])
    return images


def conservation(layout: Layout, column: Array, columns: int) -> tuple[csr_array, Array]:
    """Return the rows "what leaves a state less what enters it", one of every orbit, and their right sides."""
    states, numbers = layout.states, layout.nodes
    source, destination, state = (part.ravel() for part in np.indices(numbers.shape))
    images = [
        numbers.of(lift.terminals[source], lift.terminals[destination], lift.states[state]) for lift in layout.lifts
    ]
    if layout.symmetry.opposite is not None:
        images.append(numbers.of(destination, source, state))
    label, _ = orbits(len(source), images)
    terminals = states.topology.terminals.astype(np.int64)
    needed = np.flatnonzero((states.node[state] != terminals[destination]) & (source != destination))
    _, first = np.unique(label[needed], return_index=True)
    rows = needed[first]
    source, destination, state = source[rows], destination[rows], state[rows]
    by_head = np.argsort(states.head, kind="stable")
    first_in = starts(np.bincount(states.head, minlength=states.count))
    row_out, out = _arcs_at(states.first, state)
    row_in, place = _arcs_at(first_in, state)
    row = np.concatenate([row_out, row_in])
    arc = np.concatenate([out, by_head[place]])
    sign = np.concatenate([np.ones(len(row_out)), -np.ones(len(row_in))])
    entry = column[source[row], destination[row], arc]
    some = entry >= 0
    matrix = csr_array((sign[some], (row[some], entry[some])), shape=(len(rows), columns))
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    sent = (state == terminals[source]).astype(float)
    empty = (np.diff(matrix.indptr) == 0) & (sent == 0)
    return csr_array(matrix[~empty]), sent[~empty]


def _arcs_at(first: Array, state: Array) -> tuple[Array, Array]:
    """Return, for states in rows, the row and the place of each of a state's arcs; `first` holds where they begin."""
    degree = np.diff(first)[state]
    row = np.repeat(np.arange(len(state)), degree)
    within = np.arange(len(row)) - np.repeat(np.cumsum(degree) - degree, degree)
    return row, first[state][row] + within
