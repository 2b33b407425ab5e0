"""The linear programme of the best worst case: flows of all pairs, and potentials that bound every channel's load.

Flows ``f_ij(c)`` lead one unit from i to j. For every channel c, potentials ``u_c(i)`` and ``v_c(j)`` cover the flows,
``f_ij(c) ≤ u_c(i) + v_c(j)``, so that no admissible traffic puts more than Σ rates × potentials on it: the dual of the
matching that finds the worst traffic (Towles and Dally, section 3.1). The largest of these sums is minimized.

Flows, potentials and channels that a symmetry of the network carries onto each other share one column: an average over
the group is as good as any routing.

Where only some paths are legal, the flows lead over the arcs of a network of states, and a channel carries the sum over
its arcs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csc_array, csr_array, hstack, vstack

from obliv._util.cost import Work, announce, require_memory
from obliv._util.progress import Progress, silent
from obliv._util.typing import Array
from obliv.designs.states import Lift, States, lifted, states_of
from obliv.designs.symmetry import Symmetry, orbits
from obliv.topologies.base import Topology

__all__ = ["Layout", "Programme", "conservation", "flow_orbits", "layout_of", "worst_case_programme"]

_SECONDS = 2e-7  # for a row to the power 1.5, with the first-order method
_BYTES = 500.0  # of memory for a non-zero, with what the solver and the paths need


@dataclass(frozen=True, eq=False)
class Programme:
    """A linear programme over orbits of flows, with what its columns and rows stand for.

    Columns are the flow orbits, the potentials and the load, in this order; rows are the conservation of flow, the
    covers and the budgets of the channels.

    Parameters
    ----------
    topology : Topology
    states : States
        Of the legal paths.
    symmetry : Symmetry
        Of the legal paths.
    matrix : scipy.sparse.csc_array, shape (rows, columns)
    lower, upper : float arrays, shape (rows,)
    column : integer array, shape (sources, terminals, arcs)
        The column of every flow, −1 where it is 0; `sources` is 1 where translations move the first one to all.
    column_size : integer array, shape (flow columns,)
        Number of flows of every column, over all sources.
    flow : integer array, shape (sources, terminals, channels)
        The orbit of every flow on a channel, −1 where it is 0: the same as `column` where arcs are channels.
    size : integer array, shape (orbits,)
        Number of flows on channels of every orbit, over all sources.
    cover_rows : slice
    cover_flow : integer array
        The orbit of flows of every cover row; every orbit has at most one.
    focus, alike : integer arrays
        One channel of every orbit, whose potentials are columns, and the number of channels in the orbit.
    """

    topology: Topology
    states: States
    symmetry: Symmetry
    matrix: csc_array
    lower: Array
    upper: Array
    column: Array
    column_size: Array
    flow: Array
    size: Array
    cover_rows: slice
    cover_flow: Array
    focus: Array
    alike: Array

    @property
    def flows(self) -> int:
        """Number of flow columns."""
        return len(self.column_size)

    def limited(self, cost: Array, limit: float) -> Programme:
        """Return the same programme with one more row, the last: costs at most a limit."""
        return replace(
            self,
            matrix=csc_array(vstack([self.matrix, csr_array(cost[None, :])])),
            lower=np.append(self.lower, -np.inf),
            upper=np.append(self.upper, limit),
        )

    def on_channel(self, channel: int) -> Array:
        """Return the orbit of the flow of every pair on one channel; shape (terminals, terminals)."""
        terminals = len(self.topology.terminals)
        flows = _Numbers(terminals, self.topology.channels, self.symmetry.to_first_node, self.symmetry.to_first_channel)
        source, destination = np.indices((terminals, terminals))
        orbit: Array = self.flow.reshape(-1)[flows.of(source, destination, np.full_like(source, channel))]
        return orbit

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
        cost[: self.flows] = self.column_size / self.pairs
        return cost


class _Numbers:
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
    arcs: _Numbers
    nodes: _Numbers
    channels: _Numbers


def worst_case_programme(
    topology: Topology,
    symmetry: Symmetry,
    states: States | None = None,
    *,
    minimal: bool = False,
    progress: Progress = silent,
) -> Programme:
    """Return the programme whose optimum is the least worst-case channel load of all oblivious routings.

    Parameters
    ----------
    topology : Topology
    symmetry : Symmetry
    states : States, optional
        Of the legal paths; default: all paths are legal.
    minimal : bool
        Whether paths must be the shortest legal ones.
    progress : callable
        Called with the size of the programme and what it will cost, if it is large, before it is built.

    Raises
    ------
    TooLargeError
        If it does not fit in memory.
    """
    layout = layout_of(topology, symmetry, states or states_of(topology, None))
    states, symmetry = layout.states, layout.symmetry
    usable = states.usable(layout.arcs.sources, minimal) if minimal or not states.plain else None
    places = [(lift.terminals, lift.arcs) for lift in layout.lifts]
    ends = states.node[states.tail], states.node[states.head]
    column, column_size = flow_orbits(layout, layout.arcs, places, ends, usable)
    focus, alike = _focus(topology, symmetry)
    _announce(layout, int((column >= 0).sum()), len(column_size), len(focus), progress)
    conserve, arrivals = conservation(layout, column, len(column_size))
    flow, size = column, column_size
    if not states.plain:
        used = np.zeros(layout.channels.shape, bool)
        source, destination, arc = np.nonzero(column >= 0)
        used[source, destination, states.channel[arc]] = True
        places = [(lift.terminals, lift.channels) for lift in layout.lifts]
        flow, size = flow_orbits(layout, layout.channels, places, (topology.tail, topology.head), used)
    cover, budget, cover_flow = _covers(layout, column, flow, len(column_size), focus)
    potentials = budget.shape[1]
    matrix = vstack(
        [
            hstack([conserve, csr_array((conserve.shape[0], potentials))]),
            cover,
            hstack([csr_array((len(focus), len(column_size))), budget]),
        ]
    )
    rest = cover.shape[0] + len(focus)
    return Programme(
        topology,
        states,
        symmetry,
        csc_array(matrix),
        np.concatenate([arrivals, np.zeros(rest)]),
        np.concatenate([arrivals, np.full(rest, np.inf)]),
        column,
        column_size,
        flow,
        size,
        slice(len(arrivals), len(arrivals) + cover.shape[0]),
        cover_flow,
        focus,
        alike,
    )


def _announce(layout: Layout, flows: int, orbits_of_flows: int, focus: int, progress: Progress) -> None:
    """Say what the programme will cost, from the flows that symmetries leave."""
    terminals = layout.arcs.terminals
    share = orbits_of_flows / max(1, flows)
    covers = focus * terminals * (terminals - 1) * (1 if layout.arcs.sources > 1 else 0.5)
    rows = covers + share * layout.arcs.sources * terminals * layout.states.count
    columns = orbits_of_flows + 2 * terminals * focus
    entries = 2 * orbits_of_flows + 3 * covers + 2 * terminals * focus
    announce(
        progress,
        f"the linear program of {layout.states.topology.spec} (up to {_round(rows)} rows, {_round(columns)} columns, "
        f"{_round(entries)} non-zeros)",
        Work(_SECONDS * rows**1.5, _BYTES * entries),
        rough=True,
    )


def _round(number: float) -> str:
    """Return a number to two digits."""
    return f"{int(float(f'{number:.1e}')):,}"


def layout_of(topology: Topology, symmetry: Symmetry, states: States) -> Layout:
    """Return the numbers of flows; raise TooLargeError where they do not fit in memory."""
    terminals = len(topology.terminals)
    symmetry, lifts, first_state, first_arc = lifted(symmetry, states)
    moved = symmetry.to_first_node
    arcs = _Numbers(terminals, states.arcs, moved, first_arc)
    entries = arcs.sources * terminals * states.arcs
    generators = len(lifts) + (symmetry.opposite is not None)
    require_memory(
        60.0 * entries + 24.0 * entries * generators,
        f"the linear program of {topology.spec} ({entries:,} flows before symmetries)",
    )
    nodes = _Numbers(terminals, states.count, moved, first_state)
    return Layout(
        states, symmetry, lifts, arcs, nodes, _Numbers(terminals, topology.channels, moved, symmetry.to_first_channel)
    )


def flow_orbits(
    layout: Layout,
    numbers: _Numbers,
    maps: list[tuple[Array, Array]],
    ends: tuple[Array, Array],
    usable: Array | None,
) -> tuple[Array, Array]:
    """Return the orbit of every flow, −1 for those that are 0, and the size of the orbits.

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
    layout: Layout, numbers: _Numbers, maps: list[tuple[Array, Array]], entry: Array, number: Array
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
    first_in = np.concatenate([[0], np.cumsum(np.bincount(states.head, minlength=states.count))])
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


def _covers(
    layout: Layout, column: Array, flow: Array, columns: int, focus: Array
) -> tuple[csr_array, csr_array, Array]:
    """Return the rows that cover flows by potentials, those of the budgets, and the orbits of flows covered."""
    topology, states, terminals = layout.states.topology, layout.states, layout.channels.terminals
    potential, count = _potentials(layout, focus)
    source, destination = (part.ravel() for part in np.indices((terminals, terminals)))
    covered, left, right, row, entry, rows = [], [], [], [], [], 0
    for k, channel in enumerate(focus.tolist()):
        orbit = flow.reshape(-1)[layout.channels.of(source, destination, np.full(len(source), channel))]
        distinct, first = np.unique(orbit, return_index=True)
        distinct, first = distinct[distinct >= 0], first[distinct >= 0]
        covered.append(distinct)
        left.append(potential[0, source[first], k])
        right.append(potential[1, destination[first], k])
        arc = np.flatnonzero(states.channel == channel)
        at = layout.arcs.of(source[first][:, None], destination[first][:, None], arc[None, :])
        carried = column.reshape(-1)[at]
        some = carried >= 0
        row.append(rows + np.nonzero(some)[0])
        entry.append(carried[some])
        rows += len(distinct)
    cover_flow, on = np.concatenate(covered), np.concatenate(row)
    order = np.arange(rows)
    cover = csr_array(
        (
            np.concatenate([np.full(len(on), -1.0), np.ones(2 * rows)]),
            (
                np.concatenate([on, order, order]),
                np.concatenate([*entry, columns + np.concatenate(left), columns + np.concatenate(right)]),
            ),
        ),
        shape=(rows, columns + count + 1),
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


def _potentials(layout: Layout, focus: Array) -> tuple[Array, int]:
    """Return the column of each potential (side, terminal, focus channel), and how many columns there are."""
    terminals, channels = layout.channels.terminals, layout.states.topology.channels
    side, terminal, channel = (part.ravel() for part in np.indices((2, terminals, channels)))

    def number(side: Array, terminal: Array, channel: Array) -> Array:
        return (side * terminals + terminal) * channels + channel

    images = [number(side, lift.terminals[terminal], lift.channels[channel]) for lift in layout.lifts]
    if layout.symmetry.opposite is not None:
        images.append(number(1 - side, terminal, layout.symmetry.opposite[channel]))
    label, _ = orbits(len(side), images)
    used, column = np.unique(label.reshape(2, terminals, -1)[:, :, focus], return_inverse=True)
    return column.reshape(2, terminals, len(focus)), len(used)
