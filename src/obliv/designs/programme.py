"""The linear programme of the best worst case: flows of all pairs, and potentials that bound every channel's load.

Flows ``f_ij(c)`` lead one unit from i to j. For every channel c, potentials ``u_c(i)`` and ``v_c(j)`` cover the flows,
``f_ij(c) ≤ u_c(i) + v_c(j)``, so that no admissible traffic puts more than Σ rates × potentials on it: the dual of the
matching that finds the worst traffic (Towles and Dally, section 3.1). The largest of these sums is minimized.

Potentials and channels that a symmetry of the network carries onto each other share one column, as flows do. Where only
some paths are legal, a channel carries the sum of the flows over its arcs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, csr_array, hstack, vstack

from obliv._util.cost import Work, announce
from obliv._util.progress import Progress, silent
from obliv._util.typing import Array
from obliv.designs.flows import FlowProgramme, Layout, Numbers, conservation, flow_orbits, layout_of
from obliv.designs.states import States, states_of
from obliv.designs.symmetry import Symmetry, orbits
from obliv.designs.units import relative_rates, relative_speeds
from obliv.topologies.base import Topology

__all__ = ["Programme", "worst_case_programme"]

_SECONDS = 2e-7  # for a row to the power 1.5, with the first-order method
_BYTES = 500.0  # of memory for a non-zero, with what the solver and the paths need


@dataclass(frozen=True, eq=False)
class Programme(FlowProgramme):
    """The programme of the worst case.

    Columns are the flow orbits, the potentials and the load, in this order; rows are the conservation of flow, the
    covers and the budgets of the channels.

    Parameters
    ----------
    states : States
        Of the legal paths.
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

    states: States
    flow: Array
    size: Array
    cover_rows: slice
    cover_flow: Array
    focus: Array
    alike: Array

    def on_channel(self, channel: int) -> Array:
        """Return the orbit of the flow of every pair on one channel; shape (terminals, terminals)."""
        source, destination = np.indices((len(self.topology.terminals),) * 2)
        return self.orbits(source, destination, np.full_like(source, channel))

    def orbits(self, source: Array, destination: Array, channel: Array) -> Array:
        """Return the orbits of flows, each of a pair of terminals on a channel; -1 where it must not be used."""
        terminals, symmetry = len(self.topology.terminals), self.symmetry
        flows = Numbers(terminals, self.topology.channels, symmetry.to_first_node, symmetry.to_first_channel)
        orbit: Array = self.flow.reshape(-1)[flows.of(source, destination, channel)]
        return orbit


def worst_case_programme(
    topology: Topology,
    symmetry: Symmetry,
    states: States | None = None,
    *,
    minimal: bool = False,
    used: Array | None = None,
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
    used : bool array, shape (terminals, terminals, channels), optional
        The channels that each pair may use, where nothing else limits its paths; symmetries must keep them.
    progress : callable
        Called with the size of the programme and what it will cost, if it is large, before its matrix is built.

    Raises
    ------
    TooLargeError
        If it does not fit in memory.
    """
    layout = layout_of(topology, symmetry, states or states_of(topology, None))
    states, symmetry = layout.states, layout.symmetry
    usable = states.usable(layout.arcs.sources, minimal) if minimal or not states.plain else used
    places = [(lift.terminals, lift.arcs) for lift in layout.lifts]
    ends = states.node[states.tail], states.node[states.head]
    column, column_size = flow_orbits(layout, layout.arcs, places, ends, usable)
    focus, alike = _focus(topology, symmetry)
    conserve, arrivals = conservation(layout, column, len(column_size))
    flow, size = column, column_size
    if not states.plain:
        used = np.zeros(layout.channels.shape, bool)
        source, destination, arc = np.nonzero(column >= 0)
        used[source, destination, states.channel[arc]] = True
        places = [(lift.terminals, lift.channels) for lift in layout.lifts]
        flow, size = flow_orbits(layout, layout.channels, places, (topology.tail, topology.head), used)
    _announce(layout, column, flow, conserve, focus, progress)
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
        symmetry,
        csc_array(matrix),
        np.concatenate([arrivals, np.zeros(rest)]),
        np.concatenate([arrivals, np.full(rest, np.inf)]),
        column,
        column_size,
        states,
        flow,
        size,
        slice(len(arrivals), len(arrivals) + cover.shape[0]),
        cover_flow,
        focus,
        alike,
    )


def _announce(
    layout: Layout, column: Array, flow: Array, conserve: csr_array, focus: Array, progress: Progress
) -> None:
    """Say what the programme will cost; its size is counted, so that what fits is never refused."""
    potential, count = _potentials(layout, focus)
    budgets = len(np.unique(potential * len(focus) + np.arange(len(focus)))) + len(focus)
    covers = carried = 0
    for _, _, distinct, row, _ in _covered(layout, column, flow, focus):
        covers, carried = covers + len(distinct), carried + len(row)
    rows = conserve.shape[0] + covers + len(focus)
    columns = conserve.shape[1] + count + 1
    entries = conserve.nnz + carried + 2 * covers + budgets
    announce(
        progress,
        f"the linear program of {layout.states.topology.spec} ({_round(rows)} rows, {_round(columns)} columns, "
        f"{_round(entries)} non-zeros)",
        Work(_SECONDS * rows**1.5, _BYTES * entries),
    )


def _round(number: float) -> str:
    """Return a number to two digits."""
    return f"{int(float(f'{number:.1e}')):,}"


def _covered(
    layout: Layout, column: Array, flow: Array, focus: Array
) -> Iterator[tuple[Array, Array, Array, Array, Array]]:
    """Yield the cover rows of each focus channel.

    A source and a destination of each row, the orbit that it covers; then the row, from 0, and the column of every flow
    that counts in it.
    """
    states, terminals = layout.states, layout.channels.terminals
    source, destination = (part.ravel() for part in np.indices((terminals, terminals)))
    for channel in focus.tolist():
        orbit = flow.reshape(-1)[layout.channels.of(source, destination, np.full(len(source), channel))]
        distinct, first = np.unique(orbit, return_index=True)
        distinct, first = distinct[distinct >= 0], first[distinct >= 0]
        arc = np.flatnonzero(states.channel == channel)
        at = layout.arcs.of(source[first][:, None], destination[first][:, None], arc[None, :])
        carried = column.reshape(-1)[at]
        some = carried >= 0
        yield source[first], destination[first], distinct, np.nonzero(some)[0], carried[some]


def _covers(
    layout: Layout, column: Array, flow: Array, columns: int, focus: Array
) -> tuple[csr_array, csr_array, Array]:
    """Return the rows that cover flows by potentials, those of the budgets, and the orbits of flows covered."""
    topology, terminals = layout.states.topology, layout.channels.terminals
    potential, count = _potentials(layout, focus)
    covered, left, right, row, entry, rows = [], [], [], [], [], 0
    for k, (source, destination, distinct, at, carried) in enumerate(_covered(layout, column, flow, focus)):
        covered.append(distinct)
        left.append(potential[0, source, k])
        right.append(potential[1, destination, k])
        row.append(rows + at)
        entry.append(carried)
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
    rates, speed = relative_rates(topology), relative_speeds(topology, focus)
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
