"""The linear program of the best worst case: flows, potentials, networks of states for legal paths, symmetries, units.

Flows ``f_ij(c)`` lead one unit from i to j. For every channel c, potentials ``u_c(i)`` and ``v_c(j)`` cover the flows,
``f_ij(c) ≤ u_c(i) + v_c(j)``, so that no admissible traffic puts more than Σ rates × potentials on it: the dual of the
matching that finds the worst traffic (Towles and Dally, section 3.1). The largest of these sums is minimized.

Potentials and channels that a symmetry of the network carries onto each other share one column, as flows do. Where only
some paths are legal, a channel carries the sum of the flows over its arcs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Self

import numpy as np
from scipy.sparse import csc_array, csr_array, hstack, vstack
from scipy.sparse.csgraph import breadth_first_order, dijkstra

from obliv._util.arrays import Array, least_alike, starts
from obliv._util.progress import Progress, require_memory, silent
from obliv.designs._kernels import Arcs
from obliv.designs.exact import Basis
from obliv.designs.rules import Rule, rule_of
from obliv.designs.solver import FEWER_MAGNITUDES, Optimum, SolverError, solve
from obliv.errors import InputError, MissingExtraError
from obliv.loads.mixed import translation_group
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import channel_map, matched_channels, terminal_map
from obliv.topologies.isomorphism import network_automorphisms

# Symmetries of a design problem: automorphisms of the network, and the reversal of all paths


_WORTH = 8_000  # flows of a network whose automorphisms are searched
_SYMMETRY_SECONDS = 10.0  # of processor time of the search


@dataclass(frozen=True, eq=False)
class Maps:
    """One automorphism: where it takes every node, terminal (by index) and channel."""

    nodes: Array
    terminals: Array
    channels: Array


@dataclass(frozen=True, eq=False)
class Symmetry:
    """Automorphisms of a network, each checked, and its reversal.

    Parameters
    ----------
    generators : tuple of Maps
        Generators of the group, translations included.
    opposite : integer array, shape (channels,), or None
        The opposite channel of every channel, where reversing all paths of a routing gives one that is as good.
    to_first_node, to_first_channel : integer arrays, shapes (nodes, nodes) and (nodes, channels), or None
        Entry (i, x): what x becomes when node i is translated to node 0; None without translations.
    """

    generators: tuple[Maps, ...]
    opposite: Array | None
    to_first_node: Array | None = None
    to_first_channel: Array | None = None


def symmetry_of(topology: Topology, *, search: bool = False) -> Symmetry:
    """Return the symmetries of a topology, each checked on channels, bandwidths, terminals and rates."""
    maps = []
    known = (*topology.generators, *topology.translations)
    if search and not known and len(topology.terminals) ** 2 * topology.channels > _WORTH:
        with suppress(MissingExtraError):
            known = tuple(network_automorphisms(topology, _SYMMETRY_SECONDS))
    for node_map in known:
        nodes = np.asarray(node_map, np.int64)
        channels, terminals = channel_map(topology, nodes), terminal_map(topology, nodes)
        if channels is not None and terminals is not None:
            maps.append(Maps(nodes, terminals, channels))
    opposite = opposite_channels(topology) if topology.injection == topology.ejection else None
    group = translation_group(topology)
    if group is None:
        return Symmetry(tuple(maps), opposite)
    everywhere = np.arange(topology.nodes)
    moved = [group.subtract(everywhere, node) for node in range(topology.nodes)]
    channels_moved = [channel_map(topology, nodes) for nodes in moved]
    return Symmetry(tuple(maps), opposite, np.array(moved), np.array(channels_moved))


def opposite_channels(topology: Topology) -> Array | None:
    """Return the opposite of every channel, or None where one is missing or has another bandwidth.

    The k-th of parallel channels from u to v is opposite to the k-th from v to u.
    """
    return matched_channels(topology, topology.head, topology.tail)


def orbits(count: int, images: list[Array]) -> tuple[Array, int]:
    """Return the orbit of every element under maps of 0 … count − 1, and how many orbits there are."""
    label = least_alike(count, images)
    least = label == np.arange(count)
    return (np.cumsum(least) - 1)[label], int(least.sum())


# Networks of states: the legal paths of a network are all paths of another one, whose arcs lie on its channels.
#
# A state is a node together with what a rule remembers of the path so far; every arc leads over one physical channel. A
# path starts in the start state of its source and ends in any state of its destination. Without a rule the states are
# the nodes, and the arcs are the channels.


@dataclass(frozen=True, eq=False)
class States:
    """A network of states, arcs sorted by tail and channel; state v is the start state of node v.

    Parameters
    ----------
    topology : Topology
    node : int64 array, shape (states,)
    tail, head, channel : int64 arrays, shape (arcs,)
    """

    topology: Topology
    node: Array
    tail: Array
    head: Array
    channel: Array

    @property
    def count(self) -> int:
        """Number of states."""
        return len(self.node)

    @property
    def arcs(self) -> int:
        """Number of arcs."""
        return len(self.tail)

    @property
    def plain(self) -> bool:
        """Whether states are nodes: all paths are legal."""
        return self.count == self.topology.nodes

    @cached_property
    def first(self) -> Array:
        """The arcs of state x are ``first[x] .. first[x + 1] - 1``."""
        return np.searchsorted(self.tail, np.arange(self.count + 1)).astype(np.int64)

    @property
    def kernel(self) -> Arcs:
        """The arcs for kernels."""
        return Arcs(self.first, self.head, self.channel, self.node)

    @cached_property
    def hops_there(self) -> Array:
        """Hops from the start of every terminal to every state, infinite where there is no path."""
        require_memory(16.0 * len(self.topology.terminals) * self.count, "the distances between states")
        ones = np.ones(self.arcs)
        graph = csr_array((ones, (self.tail, self.head)), shape=(self.count, self.count))
        hops: Array = dijkstra(graph, unweighted=True, indices=self.topology.terminals)
        return hops

    @cached_property
    def hops_back(self) -> Array:
        """Hops from every state to the nearest state of every terminal, shape (terminals, states)."""
        require_memory(16.0 * len(self.topology.terminals) * self.count, "the distances between states")
        size = self.count + self.topology.nodes  # one more vertex before the states of each node
        tail = np.concatenate([self.head, self.count + self.node])
        head = np.concatenate([self.tail, np.arange(self.count)])
        graph = csr_array((np.ones(len(tail)), (tail, head)), shape=(size, size))
        hops: Array = dijkstra(graph, unweighted=True, indices=self.count + self.topology.terminals)
        return hops[:, : self.count] - 1

    @property
    def distances(self) -> Array:
        """Hops of the shortest legal paths between terminals, infinite where there is none."""
        between: Array = self.hops_back[:, self.topology.terminals].T.copy()
        np.fill_diagonal(between, 0)
        return between

    @property
    def least_hops(self) -> Fraction:
        """Mean hops of the shortest legal paths over all ordered pairs of terminals, self-pairs included."""
        return Fraction(int(self.distances.sum()), len(self.topology.terminals) ** 2)

    def usable(self, sources: int, minimal: bool) -> Array:
        """Return which arcs the legal paths of every pair take, or the shortest of them, from the first sources."""
        require_memory(12.0 * sources * len(self.topology.terminals) * self.arcs, "the arcs of all pairs")
        there, back = self.hops_there[:sources, self.tail], self.hops_back[:, self.head]
        through = there[:, None, :] + 1 + back[None, :, :]
        usable: Array = through == self.distances[:sources, :, None] if minimal else np.isfinite(through)
        return usable


def states_of(topology: Topology, rule: Rule | None) -> States:
    """Return the network of the states that paths within a rule can reach."""
    tail, head = topology.tail.astype(np.int64), topology.head.astype(np.int64)
    nodes, channels = topology.nodes, topology.channels
    if rule is None:
        return States(topology, np.arange(nodes), tail, head, np.arange(channels))
    table = rule.table
    require_memory(40.0 * len(table) * channels, f"the states of {topology.spec}")
    following = table[:, rule.kind]
    memory, channel = np.nonzero(following >= 0)
    start, end = memory * nodes + tail[channel], following[memory, channel] * nodes + head[channel]
    size = len(table) * nodes
    # one vertex before the start states, so that one search reaches everything
    graph = csr_array(
        (
            np.ones(len(start) + nodes, np.int8),
            (np.concatenate([start, np.full(nodes, size)]), np.concatenate([end, np.arange(nodes)])),
        ),
        shape=(size + 1, size + 1),
    )
    reached = np.sort(breadth_first_order(graph, size, return_predecessors=False))[:-1]
    number = np.full(size, -1)
    number[reached] = np.arange(len(reached))
    some = number[start] >= 0
    start, end, channel = number[start[some]], number[end[some]], channel[some]
    order = np.lexsort((channel, start))
    return States(topology, (reached % nodes).astype(np.int64), start[order], end[order], channel[order])


def feasible_states(topology: Topology, max_turns: int | None = None, vc: int | None = None) -> tuple[States, str]:
    """Return the states of the paths within a limit of turns or of virtual channels, and the limit in words."""
    rule = rule_of(topology, max_turns, vc)
    states = states_of(topology, rule)
    if rule is None:
        return states, ""
    if np.isfinite(states.distances).all():
        return states, rule.constraint
    for least in range(1, topology.nodes + 1):
        other = rule_of(topology, *((least, None) if vc is None else (None, least)))
        if other is not None and np.isfinite(states_of(topology, other).distances).all():
            raise InputError(f"{rule.constraint}: some terminals have no such path; {other.constraint} would do")
    raise InputError(f"{rule.constraint}: some terminals have no such path, whatever the limit")


@dataclass(frozen=True, eq=False)
class Lift:
    """An automorphism: where it takes terminals (by index), channels, states and arcs."""

    terminals: Array
    channels: Array
    states: Array
    arcs: Array


def lifted(symmetry: Symmetry, states: States) -> tuple[Symmetry, list[Lift], Array | None, Array | None]:
    """Return the symmetries that keep the legal paths, their lifts, and the states and arcs moved to the first node.

    Paths are reversed without a rule only: a path's turns are counted from its start.
    """
    if states.plain:
        lifts = [Lift(maps.terminals, maps.channels, maps.nodes, maps.channels) for maps in symmetry.generators]
        return symmetry, lifts, symmetry.to_first_node, symmetry.to_first_channel
    liftable: list[Maps] = []
    lifts = []
    for maps in symmetry.generators:
        lift = _lift(states, maps.nodes, maps.channels)
        if lift is not None:
            liftable.append(maps)
            lifts.append(Lift(maps.terminals, maps.channels, *lift))
    if symmetry.to_first_node is not None and symmetry.to_first_channel is not None:
        moved = []
        for nodes, channels in zip(symmetry.to_first_node, symmetry.to_first_channel, strict=True):
            lift = _lift(states, nodes, channels)
            if lift is None:
                break
            moved.append(lift)
        else:
            whole = Symmetry(tuple(liftable), None, symmetry.to_first_node, symmetry.to_first_channel)
            return whole, lifts, np.array([m[0] for m in moved]), np.array([m[1] for m in moved])
    return Symmetry(tuple(liftable), None), lifts, None, None


def _lift(states: States, nodes: Array, channels: Array) -> tuple[Array, Array] | None:
    """Return where an automorphism takes states and arcs; None where it takes a legal path to an illegal one."""
    total = states.topology.channels
    key = states.tail * total + states.channel
    image = np.full(states.count, -1)
    image[: len(nodes)] = nodes
    arcs = np.full(states.arcs, -1)
    while (waiting := (arcs < 0) & (image[states.tail] >= 0)).any():
        sought = image[states.tail[waiting]] * total + channels[states.channel[waiting]]
        arc = np.minimum(np.searchsorted(key, sought), len(key) - 1)
        if not np.array_equal(key[arc], sought):
            return None
        arcs[waiting] = arc
        image[states.head[waiting]] = states.head[arc]
    if not np.array_equal(image[states.head], states.head[arcs]):
        return None
    if not np.array_equal(np.sort(image), np.arange(states.count)):
        return None
    return image, arcs


# Flows of all pairs as columns of a linear programme, reduced by symmetries, and the rows that conserve them.
#
# Flows ``f_ij(a)`` lead one unit from i to j over the arcs of a network of states, whose paths are the legal ones.
# Those that a symmetry of the network carries onto each other share one column: an average over the group is as good as
# any routing.


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
class StateLayout:
    """The states of a topology, the symmetries of its legal paths, and the numbers of flows on arcs, and so on."""

    states: States
    symmetry: Symmetry
    lifts: list[Lift]
    arcs: Numbers
    nodes: Numbers
    channels: Numbers


def layout_of(topology: Topology, symmetry: Symmetry, states: States) -> StateLayout:
    """Return the numbers of flows; raise TooLargeError where they do not fit in memory."""
    terminals = len(topology.terminals)
    symmetry, lifts, first_state, first_arc = lifted(symmetry, states)
    moved = symmetry.to_first_node
    arcs = Numbers(terminals, states.arcs, moved, first_arc)
    entries = arcs.sources * terminals * states.arcs
    require_memory(_FLOW * entries, f"the linear program of {topology.spec} ({entries:,} flows before symmetries)")
    nodes = Numbers(terminals, states.count, moved, first_state)
    return StateLayout(
        states, symmetry, lifts, arcs, nodes, Numbers(terminals, topology.channels, moved, symmetry.to_first_channel)
    )


def flow_orbits(
    layout: StateLayout,
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
    layout: StateLayout, numbers: Numbers, maps: list[tuple[Array, Array]], entry: Array, number: Array
) -> list[Array]:
    """Return what every symmetry takes each entry to, by its number; -1 where that is 0."""
    source, destination, place = (part.astype(number.dtype) for part in np.unravel_index(entry, numbers.shape))
    images = [number[numbers.of(terminal[source], terminal[destination], places[place])] for terminal, places in maps]
    if layout.symmetry.opposite is not None:
        images.append(number[numbers.of(destination, source, layout.symmetry.opposite[place])])
    return images


def conservation(layout: StateLayout, column: Array, columns: int) -> tuple[csr_array, Array]:
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


# Units of the linear programs: bandwidths over the smallest and rates over the largest, so that any unit will do


WHOLE = 2**30  #: Units of 1 where flows and probabilities are rounded.


def relative_speeds(topology: Topology, channels: Array | None = None) -> Array:
    """Return the bandwidths of some channels, or of all, over the smallest of all."""
    least = _smallest_bandwidth(topology)
    chosen = range(topology.channels) if channels is None else channels.tolist()
    return np.array([float(topology.bandwidth_of(channel) / least) for channel in chosen])


def relative_rates(topology: Topology) -> Array:
    """Return the rates of all terminals over the largest: injection and ejection, shape (2, terminals)."""
    most = _largest_rate(topology)
    return np.array([[float(rate / most) for rate in side] for side in topology.rates()])


def load_unit(topology: Topology) -> Fraction:
    """Return the channel load that is 1 in these units."""
    return _largest_rate(topology) / _smallest_bandwidth(topology)


def _smallest_bandwidth(topology: Topology) -> Fraction:
    """Return the bandwidth of the slowest channels, which limit the load: far faster ones must not make it vanish."""
    return min(topology.bandwidth, default=Fraction(1))


def _largest_rate(topology: Topology) -> Fraction:
    return max((rate for side in topology.rates() for rate in side), default=Fraction(1))


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

    Shapes: `used` (terminals, terminals, channels).
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
    _require_room(layout, column, flow, conserve, focus, progress)
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


def _require_room(
    layout: StateLayout, column: Array, flow: Array, conserve: csr_array, focus: Array, progress: Progress
) -> None:
    """Refuse a programme that does not fit in memory; its size is counted, so that what fits is never refused."""
    potential, count = _potentials(layout, focus)
    budgets = len(np.unique(potential * len(focus) + np.arange(len(focus)))) + len(focus)
    covers = carried = 0
    for _, _, distinct, row, _ in _covered(layout, column, flow, focus):
        covers, carried = covers + len(distinct), carried + len(row)
    rows = conserve.shape[0] + covers + len(focus)
    columns = conserve.shape[1] + count + 1
    entries = conserve.nnz + carried + 2 * covers + budgets
    require_memory(
        _BYTES * entries,
        f"the linear program of {layout.states.topology.spec} ({_round(rows)} rows, {_round(columns)} columns, "
        f"{_round(entries)} non-zeros)",
    )
    progress(f"linear program, {_round(rows)} rows", 0.0)


def _round(number: float) -> str:
    """Return a number to two digits."""
    return f"{int(float(f'{number:.1e}')):,}"


def _covered(
    layout: StateLayout, column: Array, flow: Array, focus: Array
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
    layout: StateLayout, column: Array, flow: Array, columns: int, focus: Array
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


def _potentials(layout: StateLayout, focus: Array) -> tuple[Array, int]:
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
