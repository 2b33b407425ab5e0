"""The least congestion of one traffic, by all paths or given ones; whether a routing exists; the capacity of a network.

Packets of one source share columns, so there is one flow for each source instead of one for each pair. Lengths of
channels bound the optimum from below: Σ traffic × distance ≤ load × Σ bandwidth × length. Explicit paths bound it from
above. Both bounds are computed with integers and do not depend on the accuracy of the solver.
"""

from __future__ import annotations

import copy
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd, isqrt, lcm

import numpy as np
from scipy.sparse import csc_array, csr_array, hstack, vstack
from scipy.sparse.csgraph import dijkstra

from obliv._util.arrays import INT64_SAFE, Array, starts
from obliv._util.files import pack
from obliv._util.progress import Progress, require_memory, rising, silent
from obliv.designs._kernels import ChannelsByTail, distances
from obliv.designs.average import widest
from obliv.designs.exact import InexactError, Rationals, as_rationals, vertex_of
from obliv.designs.programme import WHOLE, Maps, Symmetry, orbits, relative_speeds, states_of, symmetry_of
from obliv.designs.solver import Optimum, require_time, solve
from obliv.errors import RoutingError, TopologyError, TrafficError
from obliv.kernels import run
from obliv.patterns.base import Traffic
from obliv.questions.subject import capacity_is_quick
from obliv.routings.base import Routing
from obliv.routings.listed import PathList, list_paths
from obliv.routings.make import routing as routing_of
from obliv.routings.paths import checked_paths
from obliv.topologies.base import Topology, require_pairs
from obliv.topologies.cartesian import axes_of

_SCALE = 10**7  # of rounded lengths
_VERTEX_ROWS = 3000
_BYTES = 150.0  # of memory for an entry of the matrix, with what the solver needs
_FLOW, _IMAGE = 90.0, 7.0  # measured bytes of arrays for a flow before symmetries, and for each symmetry


@dataclass(frozen=True, eq=False)
class Congestion:
    """The solution of the linear program, with lengths that prove a lower bound of the least load.

    Parameters
    ----------
    lower : Fraction
        Proved by the lengths.
    length : int64 array, shape (channels,)
    flow : float array, shape (terminals, channels)
        How much of every source's packets crosses each channel.
    exact : (int64 array, int), optional
        The same in units of one over the traffic's scale times the second number, where the basis was solved exactly.
    """

    lower: Fraction
    length: Array
    flow: Array
    exact: tuple[Array, int] | None = None


@dataclass(frozen=True, eq=False)
class CarryingPaths:
    """Paths that carry a traffic.

    Parameters
    ----------
    load : Fraction
        The largest load of a channel, exactly: an upper bound of the least one.
    paths : PathList
        Amounts are packets, in units of one over `whole`; pairs without traffic have no path.
    """

    load: Fraction
    paths: PathList

    def flow(self, channels: int) -> Array:
        """Return how much of every source's packets crosses each channel, in the units of the paths."""
        n = isqrt(len(self.paths.pair) - 1)
        pair = np.repeat(np.arange(n * n), np.diff(self.paths.pair))
        hops = np.diff(self.paths.start)
        units = np.zeros((n, channels), np.int64)
        np.add.at(units, (np.repeat(pair // n, hops), self.paths.channel), np.repeat(self.paths.amount, hops))
        return units


def demand_of(traffic: Traffic) -> tuple[Array, int]:
    """Return traffic between different terminals as a table of integers, and the number of units in a packet."""
    n = traffic.terminals
    share = traffic.uniform / n if n else Fraction(0)
    scale = lcm(share.denominator, traffic.denominator)
    largest = max((int(amount) for amount in traffic.amount), default=0) * (scale // traffic.denominator)
    if (largest + share * scale) * n * n >= INT64_SAFE:
        raise TrafficError(
            f"{traffic.spec}: its rates have a common denominator of {len(str(scale))} digits; "
            "round them to fewer decimals"
        )
    demand = np.full((n, n), int(share * scale), np.int64)
    np.add.at(
        demand, (traffic.source, traffic.destination), traffic.amount.astype(np.int64) * (scale // traffic.denominator)
    )
    np.fill_diagonal(demand, 0)
    common = gcd(scale, int(np.gcd.reduce(demand.ravel()))) if demand.any() else scale
    return demand // common, scale // common


def invariant(symmetry: Symmetry, demand: Array) -> Symmetry:
    """Return the symmetries that keep a traffic."""
    maps = tuple(g for g in symmetry.generators if np.array_equal(demand[np.ix_(g.terminals, g.terminals)], demand))
    return replace(symmetry, generators=maps)


def least_congestion(
    topology: Topology,
    demand: Array,
    scale: int,
    symmetry: Symmetry | None = None,
    progress: Progress = silent,
) -> Congestion:
    """Return the least largest channel load of a traffic, over all routings of it.

    Shapes: `demand` (terminals, terminals).
    """
    channels = topology.channels
    maps = symmetry.generators if symmetry else ()
    senders = np.arange(len(topology.terminals)) if maps else np.flatnonzero(demand.any(axis=1))
    flows = len(senders) * channels
    require_memory((_FLOW + _IMAGE * len(maps)) * flows, f"the linear program of a traffic on {topology.spec}")
    column, conserve, needed = _conservation(topology, maps, senders, demand / scale)
    count, columns = len(senders), conserve.shape[1]
    alike, groups = orbits(channels, [g.channels for g in maps])
    _, focus = np.unique(alike, return_index=True)
    entries = conserve.nnz + (count + 1) * groups
    require_memory(_BYTES * entries, f"the linear program of a traffic on {topology.spec} ({entries:,} non-zeros)")
    progress(f"linear program, {len(needed) + groups:,} rows", 0.0)
    speed = relative_speeds(topology, focus)
    crossing = csr_array(
        (np.full(groups * count, -1.0), (np.repeat(np.arange(groups), count), column[:, focus].T.ravel())),
        shape=(groups, columns),
    )
    matrix = vstack([hstack([conserve, csr_array((len(needed), 1))]), hstack([crossing, csr_array(speed[:, None])])])
    lower = np.concatenate([needed, np.zeros(groups)])
    upper = np.concatenate([needed, np.full(groups, np.inf)])
    cost = np.zeros(columns + 1)
    cost[-1] = 1
    tolerance = None if matrix.shape[0] <= _VERTEX_ROWS else 1e-6
    optimum = solve(csc_array(matrix), lower, upper, cost, tolerance=tolerance)
    price, shares = np.maximum(optimum.duals[len(needed) :], 0) / np.bincount(alike), optimum.columns[:columns]
    candidates, exact = whole_lengths(price), None
    if optimum.basis is not None and (len(candidates) == 1 or as_rationals(np.clip(shares, 0, None)) is None):
        with suppress(InexactError):
            vertex = vertex_of(csc_array(matrix), lower, upper, cost, optimum.basis)
            candidates += _exact_lengths(vertex.duals.numerators[len(needed) :], np.bincount(alike), topology.nodes)
            exact = _exact_flow(vertex.columns, columns, column, int(demand.sum()), scale)
    bounds = [(bound_by(topology, demand, scale, length[alike]), length[alike]) for length in candidates]
    best, length = max(bounds, key=lambda bound: bound[0])
    flow = np.zeros((len(topology.terminals), channels))
    flow[senders] = shares[column]
    if exact is not None:
        units = np.zeros(flow.shape, np.int64)
        units[senders] = exact[0]
        exact = units, exact[1]
    return Congestion(best, length, flow, exact)


def _exact_lengths(duals: Array, alike: Array, nodes: int) -> list[Array]:
    """Return exact multipliers of orbits of channels as lengths of each channel; none where they do not fit."""
    common = lcm(*alike.tolist())
    values = [max(0, int(dual)) * (common // int(count)) for dual, count in zip(duals, alike, strict=True)]
    divisor = gcd(*values) or 1
    if max(values, default=0) // divisor * (nodes + 1) >= INT64_SAFE:
        return []
    return [np.array([value // divisor for value in values], np.int64)]


def _conservation(
    topology: Topology, maps: tuple[Maps, ...], senders: Array, packets: Array
) -> tuple[Array, csr_array, Array]:
    """Return the column of every sender's flow on each channel, the rows that conserve flows, and their right sides."""
    count, channels, nodes = len(senders), topology.channels, topology.nodes
    first_node = topology.terminals[senders].astype(np.int64)
    source, channel = (part.ravel() for part in np.indices((count, channels)))
    column, columns = orbits(len(source), [g.terminals[source] * channels + g.channels[channel] for g in maps])
    at, node = (part.ravel() for part in np.indices((count, nodes)))
    rows, _ = orbits(len(at), [g.terminals[at] * nodes + g.nodes[node] for g in maps])
    _, first = np.unique(rows, return_index=True)
    first = first[first_node[at[first]] != node[first]]  # the row of the source follows from the others
    place = np.full(count * nodes, -1)
    place[first] = np.arange(len(first))
    into = place[source * nodes + topology.head.astype(np.int64)[channel]]
    out = place[source * nodes + topology.tail.astype(np.int64)[channel]]
    signed = [(sign, row[row >= 0], column[row >= 0]) for sign, row in ((1.0, into), (-1.0, out))]
    conserve = csr_array(
        (
            np.concatenate([np.full(len(row), sign) for sign, row, _ in signed]),
            (np.concatenate([row for _, row, _ in signed]), np.concatenate([entry for *_, entry in signed])),
        ),
        shape=(len(first), columns),
    )
    arriving = np.zeros((count, nodes))
    arriving[:, topology.terminals] = packets[senders]
    return column.reshape(count, channels), conserve, arriving.ravel()[first]


def _exact_flow(values: Rationals, columns: int, column: Array, packets: int, scale: int) -> tuple[Array, int] | None:
    """Return exact flows in units of 1 / (scale × the second number); None where they do not fit."""
    numerators = [int(value) * scale for value in values.numerators[:columns]]
    divisor = gcd(values.denominator, *numerators)
    units = values.denominator // divisor
    if min(numerators, default=0) < 0 or units * packets >= INT64_SAFE // 4:
        return None
    return np.array([value // divisor for value in numerators], np.int64)[column], units


def whole_lengths(price: Array) -> list[Array]:
    """Return prices as integers up to a factor: rounded and, if they are close to simple rationals, as these."""
    largest = price.max(initial=0.0)
    if largest <= 0:
        return [np.zeros(len(price), np.int64)]
    candidates = [np.rint(price * (_SCALE / largest)).astype(np.int64)]
    simple = as_rationals(price / largest)
    if simple is not None and simple[0].max() <= _SCALE * 100:
        candidates.append(simple[0])
    return candidates


def distance_under(topology: Topology, length: Array) -> Array:
    """Return the distances between terminals under non-negative integer lengths of the channels."""
    terminals = topology.terminals.astype(np.int64)
    between = np.empty((len(terminals), len(terminals)), np.int64)
    network = ChannelsByTail(topology.first_channel, topology.head.astype(np.int64))
    run(distances, 20.0 * len(terminals) * topology.channels, network, terminals, length, between)
    return between


def spent_on(topology: Topology, length: Array) -> Fraction:
    """Return Σ bandwidth × length."""
    return sum((topology.bandwidth_of(c) * int(x) for c, x in enumerate(length.tolist()) if x), Fraction(0))


def bound_by(topology: Topology, demand: Array, scale: int, length: Array) -> Fraction:
    """Return the lower bound of the load that lengths prove, exactly."""
    spent = spent_on(topology, length)
    if not spent:
        return Fraction(0)
    paid = (distance_under(topology, length).astype(object) * demand).sum()
    return Fraction(int(paid), scale) / spent


def carried(topology: Topology, demand: Array, scale: int, congestion: Congestion) -> CarryingPaths:
    """Return paths that carry a traffic, close to the flows of its least congestion.

    Shapes: `demand` (terminals, terminals).
    """
    shares = np.clip(congestion.flow * scale, 0, None)
    units = max(1, min(WHOLE, INT64_SAFE // (4 * max(1, int(demand.sum())))))
    choices = [(np.rint(shares * units).astype(np.int64), units)]
    simple = as_rationals(shares.ravel())
    if simple is not None and simple[1] * int(demand.sum()) < INT64_SAFE // 4:
        choices.append((simple[0].reshape(shares.shape), simple[1]))
    if congestion.exact is not None:
        choices.append((congestion.exact[0].copy(), congestion.exact[1]))
    return min((_decomposed(topology, demand, scale, *choice) for choice in choices), key=lambda paths: paths.load)


def _decomposed(topology: Topology, demand: Array, scale: int, capacity: Array, units: int) -> CarryingPaths:
    """Return the paths that carry a traffic by integer capacities of every source's flow."""
    states, needed = states_of(topology, None), demand * units
    paths = widest(states, needed, scale * units, lambda source, _: capacity[source], silent, overload=True)
    if paths is None:
        raise TopologyError(f"{topology.spec}: no path leads between some terminals that send to each other")
    return carried_by(topology, paths)


def carried_by(topology: Topology, paths: PathList) -> CarryingPaths:
    """Return paths with the load that they make."""
    load = np.zeros(topology.channels, np.int64)
    np.add.at(load, paths.channel, np.repeat(paths.amount, np.diff(paths.start)))
    largest = max((Fraction(x) / topology.bandwidth_of(c) for c, x in enumerate(load.tolist())), default=Fraction(0))
    return CarryingPaths(largest / paths.whole, paths)


# The least congestion of one traffic over given paths: the best rates of a fixed choice of paths, certified
#
# The linear program has a column for every path of a pair with traffic. Lengths of channels bound it from below, by the
# shortest of the given paths of each pair: Σ traffic × distance ≤ load × Σ bandwidth × length.


_ROWS_OVER_PATHS = 20_000
_BYTES_OVER_PATHS = 300.0  # of memory for an entry of the matrix, with what the solver needs


@dataclass(frozen=True, eq=False)
class PathCongestion:
    """The least load of a traffic over given paths, between two proved bounds.

    Parameters
    ----------
    lower, upper : Fraction
        Proved by `length`; attained by `amount`.
    length : int64 array, shape (channels,)
    amount : int64 array, shape (paths,)
        Packets on every path, in units of one over `whole`; 0 for pairs without traffic.
    whole : int
    """

    lower: Fraction
    upper: Fraction
    length: Array
    amount: Array
    whole: int


def listed_paths(routing: Routing, progress: Progress) -> PathList:
    """Return the paths of all pairs of a routing; their probabilities, which take no part, are 1."""
    terminals = routing.topology.terminals.tolist()
    pair, start = [0], [0]
    channels: list[int] = []
    for i, source in enumerate(terminals):
        for destination in terminals:
            if source != destination:
                for path, _ in checked_paths(routing, source, destination):
                    channels += path
                    start.append(len(channels))
            pair.append(len(start) - 1)
        if i == 0:  # the others are taken to be like the first
            require_memory(60.0 * len(channels) * len(terminals), f"the paths of {routing.spec}")
        progress("paths", (i + 1) / len(terminals))
    ones = np.ones(len(start) - 1, np.int64)
    return PathList(np.array(pair, np.int64), np.array(start, np.int64), np.array(channels, np.int64), ones, 1)


def least_congestion_over(
    topology: Topology, demand: Array, scale: int, listed: PathList, progress: Progress = silent
) -> PathCongestion:
    """Return the least largest channel load of a traffic over given paths; their probabilities take no part.

    Shapes: `demand` (terminals, terminals).
    """
    n = len(topology.terminals)
    wanted = demand.astype(np.int64).ravel()
    wanted[:: n + 1] = 0
    pairs = np.flatnonzero(wanted)
    per_pair, hops = np.diff(listed.pair), np.diff(listed.start)
    if not len(pairs):
        return PathCongestion(Fraction(0), Fraction(0), np.zeros(topology.channels, np.int64), listed.amount * 0, 1)
    if (per_pair[pairs] == 0).any():
        source, destination = divmod(int(pairs[per_pair[pairs] == 0][0]), n)
        raise RoutingError(f"no path is given from terminal {source} to {destination}, which has traffic")
    owner = np.repeat(np.arange(n * n), per_pair)
    path = np.flatnonzero(wanted[owner] > 0)
    first = starts(per_pair[pairs])[:-1]
    channel = listed.channel[wanted[np.repeat(owner, hops)] > 0]
    row_of_path = np.repeat(np.arange(len(path)), hops[path])
    optimum = _solved(topology, wanted[pairs] / scale, per_pair[pairs], row_of_path, channel, progress)
    price = np.maximum(optimum.duals[len(pairs) :], 0)
    proved = []
    for length in whole_lengths(price):
        spent = spent_on(topology, length)
        along = np.bincount(row_of_path, length[channel], len(path)).astype(np.int64)
        paid = (np.minimum.reduceat(along, first).astype(object) * wanted[pairs]).sum()
        proved.append((Fraction(int(paid), scale) / spent if spent else Fraction(0), length))
    best, length = max(proved, key=lambda proof: proof[0])
    attained = []
    for amount, units in _amounts(np.clip(optimum.columns[:-1], 0, None) * scale, wanted[pairs], first):
        load = np.zeros(topology.channels, np.int64)
        np.add.at(load, channel, np.repeat(amount, hops[path]))
        largest = max(Fraction(x) / topology.bandwidth_of(c) for c, x in enumerate(load.tolist()))
        attained.append((largest / (scale * units), amount, units))
    load_of, amount, units = min(attained, key=lambda option: option[0])
    amounts = np.zeros(len(listed.amount), np.int64)
    amounts[path] = amount
    return PathCongestion(best, load_of, length, amounts, scale * units)


def _solved(
    topology: Topology, share: Array, paths: Array, row_of_path: Array, channel: Array, progress: Progress
) -> Optimum:
    """Return the solution of the linear program whose columns are paths, pair by pair, and the largest load.

    Shapes: `share` and `paths` (pairs,).
    """
    pairs, columns, channels = len(paths), int(paths.sum()), topology.channels
    rows, entries = pairs + channels, columns + len(channel) + channels
    # a rough estimate
    require_memory(_BYTES_OVER_PATHS * entries / 2, f"the linear program of given paths ({entries:,} non-zeros)")
    progress(f"linear program, {rows:,} rows", 0.0)
    values = np.concatenate([np.ones(columns), np.full(len(channel), -1.0), relative_speeds(topology)])
    row = np.concatenate([np.repeat(np.arange(pairs), paths), pairs + channel, pairs + np.arange(channels)])
    column = np.concatenate([np.arange(columns), row_of_path, np.full(channels, columns)])
    matrix = csc_array((values, (row, column)), shape=(rows, columns + 1))
    lower = np.concatenate([share, np.zeros(channels)])
    upper = np.concatenate([share, np.full(channels, np.inf)])
    cost = np.zeros(columns + 1)
    cost[-1] = 1
    return solve(matrix, lower, upper, cost, tolerance=None if rows <= _ROWS_OVER_PATHS else 1e-6)


def _amounts(shares: Array, wanted: Array, first: Array) -> list[tuple[Array, int]]:
    """Return amounts on paths as integers that add up for each pair, rounded and by simple rationals."""
    units = max(1, min(WHOLE, INT64_SAFE // (4 * int(wanted.sum()))))
    choices = [(np.rint(shares * units).astype(np.int64), units)]
    simple = as_rationals(shares)
    if simple is not None and simple[1] * int(wanted.sum()) < INT64_SAFE // 4:
        choices.append(simple)
    repaired = []
    for amount, whole in choices:
        amount = amount.copy()
        missing = wanted * whole - np.add.reduceat(amount, first)
        ends = np.append(first[1:], len(amount))
        for k in np.flatnonzero(missing).tolist():  # the largest takes what is missing, or gives what is too much
            largest = first[k] + int(np.argmax(amount[first[k] : ends[k]]))
            amount[largest] += missing[k]
        if amount.min(initial=0) >= 0:
            repaired.append((amount, whole))
    return repaired


# Distances between nodes, and whether a routing exists at all


def hop_distances(topology: Topology) -> Array:
    """Return the hops from every node to every node, infinite where there is no path."""
    require_memory(16.0 * topology.nodes**2, "the distances between nodes")
    ones = np.ones(topology.channels)
    graph = csr_array((ones, (topology.tail, topology.head)), shape=(topology.nodes, topology.nodes))
    distances: Array = dijkstra(graph, unweighted=True)
    return distances


def require_connected(topology: Topology) -> None:
    """Refuse a network in which some terminal cannot reach another one."""
    require_pairs(topology)
    between = hop_distances(topology)[np.ix_(topology.terminals, topology.terminals)]
    if np.isinf(between).any():
        source, destination = (int(topology.terminals[k]) for k in np.argwhere(np.isinf(between))[0])
        raise TopologyError(
            f"{topology.spec}: no path leads from {topology.name_of(source)} to {topology.name_of(destination)}; "
            "choose terminals that are connected, or read one component (component=largest)"
        )


# The capacity of any network: the least load of uniform traffic, with a proof of both sides


_HOPS = 3_000_000  # of paths by dimension order that are listed, about


def capacity_of(topology: Topology, progress: Progress = silent) -> tuple[Congestion, CarryingPaths]:
    """Return the least load of uniform traffic, self-pairs included: a lower bound, and paths with an upper one."""
    require_connected(topology)
    demand, scale = _uniform(topology)
    least = least_congestion(topology, demand, scale, symmetry_of(topology), progress)
    return least, carried(topology, demand, scale, least)


def by_dimension_order(topology: Topology) -> tuple[Congestion, CarryingPaths] | None:
    """Return the flow of dimension order, if lengths of the channels that it loads most prove it to be the best.

    None also where its paths would be too many to list. OutOfTimeError after a time limit.

    Examples
    --------
    >>> import obliv
    >>> least, uniform = by_dimension_order(obliv.mesh(5, 5))
    >>> least.lower, uniform.load
    (Fraction(6, 5), Fraction(6, 5))
    """
    terminals = len(topology.terminals)
    means = {"line": 1 / 3, "ring": 1 / 4}
    hops = terminals**2 * sum(max(1.0, axis.radix * means.get(axis.kind, 0.0)) for axis in axes_of(topology))
    if not axes_of(topology) or hops > _HOPS or terminals * topology.channels > _HOPS:
        return None
    demand, scale = _uniform(topology)
    listed = list_paths(routing_of("dor", topology), require_time)
    uniform = carried_by(topology, listed._replace(whole=listed.whole * scale))
    crossed = uniform.flow(topology.channels)
    loads = [Fraction(x) / topology.bandwidth_of(c) for c, x in enumerate(crossed.sum(axis=0).tolist())]
    most = max(loads)
    length = np.array([load == most for load in loads], np.int64)
    if bound_by(topology, demand, scale, length) < uniform.load:
        return None
    return Congestion(uniform.load, length, crossed / uniform.paths.whole), uniform


def with_capacity(topology: Topology, progress: Progress | None = None) -> Topology:
    """Return the topology with its capacity, which analyses state in their results in any case.

    Parameters
    ----------
    topology : Topology
    progress : callable, optional
        Called with what the program will cost, if it is large.

    Returns
    -------
    Topology
        A copy with `capacity_load` and `capacity_proof`, which saved claims contain. The same object if the capacity
        is known, if terminals have rates or cannot reach each other, if the linear program would take more than a
        few seconds, or if the proved bounds differ (:func:`obliv.bounds` returns them).

    Raises
    ------
    MissingExtraError
        If the solver (highspy) is not installed.

    Examples
    --------
    >>> import obliv
    >>> network = obliv.with_capacity(obliv.topology("kautz:2,3"))
    >>> network.capacity_load
    Fraction(43, 36)
    >>> obliv.worst_case(obliv.routing("shortest", network)).fraction_of_capacity
    Fraction(43, 144)
    """
    if not capacity_is_quick(topology):
        return topology
    try:
        require_connected(topology)
    except TopologyError:
        return topology
    demand, scale = _uniform(topology)
    least = least_congestion(topology, demand, scale, symmetry_of(topology), rising(progress))
    simple = _simple_flow(topology, least.flow * scale)
    if simple is None:
        best = carried(topology, demand, scale, least)
        simple = best.flow(topology.channels), best.paths.whole // scale
    flow, whole = simple
    loads = enumerate(flow.sum(axis=0).tolist())
    if max(load / topology.bandwidth_of(c) for c, load in loads) != least.lower * scale * whole:
        return topology
    source, channel = np.nonzero(flow)
    rows = np.stack([source, channel, flow[source, channel]], axis=1)
    proof = {"lengths": pack(least.length), "flows": pack(rows), "whole": whole}
    known = copy.copy(topology)
    for name, value in (("capacity_load", least.lower), ("capacity_proof", proof)):
        object.__setattr__(known, name, value)
    return known


def _uniform(topology: Topology) -> tuple[Array, int]:
    """Return uniform traffic without self-pairs, in packets per number of terminals."""
    n = len(topology.terminals)
    demand = np.ones((n, n), np.int64)
    np.fill_diagonal(demand, 0)
    return demand, n


def _simple_flow(topology: Topology, flow: Array) -> tuple[Array, int] | None:
    """Return flows as simple rationals if these carry one unit from every terminal to every other one, else None."""
    simple = as_rationals(np.clip(flow, 0, None).ravel())
    if simple is None:
        return None
    units, whole = simple[0].reshape(flow.shape), simple[1]
    n = len(units)
    balance = np.zeros((n, topology.nodes), np.int64)
    np.add.at(balance.T, topology.head, units.T)
    np.subtract.at(balance.T, topology.tail, units.T)
    due = np.zeros((n, topology.nodes), np.int64)
    due[:, topology.terminals] = whole
    due[np.arange(n), topology.terminals] = -(n - 1) * whole
    return (units, whole) if np.array_equal(balance, due) else None
