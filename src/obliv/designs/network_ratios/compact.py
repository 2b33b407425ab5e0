"""The linear program of the least oblivious performance ratio (Applegate and Cohen), with classes of channels alike.

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

from obliv._util.arrays import Array
from obliv._util.progress import Progress, require_memory
from obliv._util.rationals import boolean
from obliv.designs.network_ratios.bounds import network_ratio
from obliv.designs.programme import (
    FlowProgramme,
    Maps,
    StateLayout,
    Symmetry,
    conservation,
    flow_orbits,
    layout_of,
    orbits,
    states_of,
)
from obliv.questions.ratio import Ratio, has_base_load, tree_ratio
from obliv.questions.subject import Subject, by_specs, subject_of
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import channel_map, terminal_map

# Classes of channels that symmetries carry onto each other, with the maps that do, and those that keep a channel


@dataclass(frozen=True, eq=False)
class Member:
    """A channel that another one stands for.

    Parameters
    ----------
    channel : int
    word : tuple of int
        Numbers of the generators that carry the other channel onto this one, or onto its opposite, first to last.
    reversed : bool
        Whether that is the opposite channel.
    nodes, terminals, channels : Array
        The map by the word, of nodes, terminals and channels.
    """

    channel: int
    word: tuple[int, ...]
    reversed: bool
    maps: Maps


@dataclass(frozen=True, eq=False)
class Class:
    """A channel, those that it stands for, itself first, and generators of the automorphisms that keep it.

    A channel that is carried onto its opposite by an automorphism too stands for each of its images twice.
    """

    channel: int
    members: tuple[Member, ...]
    stabilizer: tuple[Maps, ...]

    @property
    def order(self) -> int:
        """The number of automorphisms that keep the channel is at least this."""
        return 1 if not self.stabilizer else 2


def classes_of(topology: Topology, symmetry: Symmetry) -> list[Class]:
    """Return the classes of all channels, by automorphisms and the reversal of all traffic."""
    known = np.zeros(topology.channels, bool)
    classes = []
    for channel in range(topology.channels):
        if known[channel]:
            continue
        members = _orbit(topology, symmetry, channel)
        stabilizer = _stabilizer(topology, symmetry, members)
        known[[member.channel for member in members]] = True
        if symmetry.opposite is not None:
            back = [int(symmetry.opposite[member.channel]) for member in members]
            known[back] = True
            members += [Member(c, member.word, True, member.maps) for c, member in zip(back, members, strict=True)]
        classes.append(Class(channel, tuple(members), stabilizer))
    return classes


def _orbit(topology: Topology, symmetry: Symmetry, channel: int) -> list[Member]:
    """Return the channels that automorphisms carry a channel onto."""
    here = Maps(np.arange(topology.nodes), np.arange(len(topology.terminals)), np.arange(topology.channels))
    members = [Member(channel, (), False, here)]
    known = {channel}
    for member in members:  # grows
        for k, g in enumerate(symmetry.generators):
            image = int(g.channels[member.channel])
            if image not in known:
                known.add(image)
                maps = Maps(
                    g.nodes[member.maps.nodes], g.terminals[member.maps.terminals], g.channels[member.maps.channels]
                )
                members.append(Member(image, (*member.word, k), False, maps))
    return members


def _stabilizer(topology: Topology, symmetry: Symmetry, members: list[Member]) -> tuple[Maps, ...]:
    """Return generators of the automorphisms that keep the first member (Schreier)."""
    place = {member.channel: member for member in members}
    automorphisms: dict[bytes, Array] = {}
    for member in members:
        for g in symmetry.generators:
            back = np.argsort(place[int(g.channels[member.channel])].maps.nodes)
            nodes = back[g.nodes[member.maps.nodes]]
            if not np.array_equal(nodes, np.arange(topology.nodes)):
                automorphisms[nodes.tobytes()] = nodes
    stabilizer = []
    for nodes in automorphisms.values():
        channels, terminals = channel_map(topology, nodes), terminal_map(topology, nodes)
        if channels is not None and terminals is not None and channels[members[0].channel] == members[0].channel:
            stabilizer.append(Maps(nodes, terminals, channels))
    return tuple(stabilizer)


@dataclass(frozen=True, eq=False)
class ChannelBlock:
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
    blocks : tuple of ChannelBlock
    """

    blocks: tuple[ChannelBlock, ...]


def ratio_programme(topology: Topology, symmetry: Symmetry, minimal: bool, progress: Progress) -> RatioProgramme:
    """Return the program whose optimum is the least oblivious performance ratio of all routings."""
    terminals, channels = len(topology.terminals), topology.channels
    if not symmetry.generators:
        require_memory(100.0 * terminals * channels**2, f"the linear program of {topology.spec}")
    classes = classes_of(topology, symmetry)
    sources = terminals if symmetry.to_first_node is None else 1
    rows = sum(terminals * channels / entry.order for entry in classes) + 1.0 * sources * terminals * topology.nodes
    require_memory(150.0 * rows, f"the linear program of {topology.spec}, up to {rows:,.0f} rows")  # a rough estimate
    progress(f"linear program, up to {rows:,.0f} rows", 0.0)
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
        self, topology: Topology, layout: StateLayout, flow: Array, speed: Array, conserve: csr_array, columns: int
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

    def block(self, channels: Class) -> ChannelBlock:
        """Add the rows of one channel."""
        topology, terminals = self.topology, len(self.nodes)
        maps = channels.stabilizer
        e, every = channels.channel, np.arange(topology.channels)
        label, count = orbits(topology.channels, [m.channels for m in maps])
        price = self.columns + label
        self.columns += count
        # distances
        i, n = (index.ravel() for index in np.indices((terminals, topology.nodes)))
        label, count = orbits(len(i), [m.terminals[i] * topology.nodes + m.nodes[n] for m in maps])
        distance, used = _numbered(label, count, n != self.nodes[i])
        distance = np.where(distance >= 0, distance + self.columns, -1).reshape(terminals, topology.nodes)
        self.columns += used
        # p(i, head) ≤ p(i, tail) + π
        i, h = (index.ravel() for index in np.indices((terminals, topology.channels)))
        label, count = orbits(len(i), [m.terminals[i] * topology.channels + m.channels[h] for m in maps])
        step, used = _numbered(label, count, self.head[h] != self.nodes[i])
        alike = np.bincount(label, minlength=count)[label]
        step = np.where(step >= 0, step + self.rows, -1)
        self.rows += used
        _, first = np.unique(step, return_index=True)
        first = first[step[first] >= 0]
        row, terminal, over = step[first], i[first], h[first]
        ones = np.ones(len(row))
        self.add(row, price[over], ones)
        self.add(row, distance[terminal, self.tail[over]], ones)
        self.add(row, distance[terminal, self.head[over]], -ones)
        # f(e) / b ≤ p(i, j)
        i, j = (index.ravel() for index in np.indices((terminals, terminals)))
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
        return ChannelBlock(channels, price, step.reshape(terminals, -1), alike.reshape(terminals, -1))

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


# The oblivious performance ratio: by the closed form of fat trees where it holds, else by linear programming


@by_specs
def ratio(x: Subject, *, certificate: bool = False, progress: Progress | None = None) -> Ratio:
    """Return the most that a routing loads a link beyond the best routing of the same traffic, over all traffic.

    Parameters
    ----------
    x : Routing or PairLoads
        On any network.
    certificate : bool
        Whether to keep what proves it for all channels.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Ratio
        Exact or, where the bounds do not meet, between two proved bounds, with traffic that shows the lower one. On
        fat trees also the best that any single-path routing can do, where known.

    Raises
    ------
    InputError
        If the routing leaves pairs out.
    TopologyError
        If some terminals cannot reach each other.
    MissingExtraError
        If the solver (highspy) is needed and not installed.
    TooLargeError
        If the linear programs would not fit in memory.

    Notes
    -----
    Where a base load of 1, the most that a host sends or takes, can always be carried, the ratio is the worst case over
    all traffic in which no host sends or takes more than 1, so the exact worst case (Towles) is the exact ratio; for
    single paths on trees it is the largest node-disjoint set of pairs on a link. That is checked. Fabrics that are fat
    trees are recognized by :func:`obliv.fabric.ratio`.

    On all other networks one linear program a channel finds the worst traffic among all that some routing carries
    without loading a channel by more than 1 (Applegate and Cohen). No number is believed from the solver: lengths of
    channels prove the upper bound, explicit flows the lower one, in exact arithmetic. Rates of terminals play no part,
    since traffic of any size is compared with the best routing of the same traffic. What a terminal sends to itself
    counts for neither routing.

    References
    ----------
    [YNDM09] X. Yuan, W. Nienaber, Z. Duan, R. Melhem, "Oblivious routing in fat-tree based system area networks with
    uncertain traffic demands", IEEE/ACM Transactions on Networking, 2009.

    [AC03] D. Applegate, E. Cohen, "Making intra-domain routing robust to changing and uncertain traffic demands",
    SIGCOMM 2003.

    Examples
    --------
    >>> import obliv
    >>> tree = obliv.topology("fattree:8,3")
    >>> [int(obliv.ratio(obliv.routing(name, tree)).ratio) for name in ("dmodk", "osrm3", "osrm3-d", "omrmn")]
    [7, 4, 4, 1]
    >>> obliv.ratio(obliv.routing("ecmp", obliv.topology("ring:6"))).ratio
    Fraction(2, 1)
    """
    certificate = boolean(certificate, "certificate")
    topology = subject_of(x, "ratio").topology
    solve = tree_ratio if has_base_load(topology) else network_ratio
    return solve(x, certificate=certificate, progress=progress)
