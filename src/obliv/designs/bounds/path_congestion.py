"""The least congestion of one traffic over given paths: the best rates of a fixed choice of paths, certified.

The linear program has a column for every path of a pair with traffic. Lengths of channels bound it from below, by the
shortest of the given paths of each pair: Σ traffic × distance ≤ load × Σ bandwidth × length.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.sparse import csc_array

from obliv._util.arrays import INT64_SAFE, starts
from obliv._util.cost import Work, announce, require_memory
from obliv._util.progress import Progress, silent
from obliv._util.typing import Array
from obliv.designs.bounds.congestion import spent_on, whole_lengths
from obliv.designs.exact.vertices import as_rationals
from obliv.designs.solver import Optimum, solve
from obliv.designs.units import WHOLE, relative_speeds
from obliv.errors import RoutingError
from obliv.routings.base import Routing
from obliv.routings.checks import checked_paths
from obliv.routings.listed import PathList
from obliv.topologies.base import Topology

__all__ = ["PathCongestion", "least_congestion_over", "listed_paths"]

_VERTEX_ROWS = 20_000
_BYTES = 300.0  # of memory for an entry of the matrix, with what the solver needs


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

    Parameters
    ----------
    topology : Topology
    demand : int64 array, shape (terminals, terminals)
        Packets in units of 1 / `scale`; what terminals send to themselves is ignored.
    scale : int
    listed : PathList
        Paths of all pairs with traffic.
    progress : callable
        Called with what the program will cost, if it is large.

    Raises
    ------
    RoutingError
        If a pair with traffic has no path.
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

    Parameters
    ----------
    topology : Topology
    share, paths : arrays, shape (pairs,)
        Packets of each pair, and how many paths it has.
    row_of_path, channel : integer arrays
        The path and the channel of every hop.
    progress : callable
    """
    pairs, columns, channels = len(paths), int(paths.sum()), topology.channels
    rows, entries = pairs + channels, columns + len(channel) + channels
    announce(
        progress,
        f"the linear program of given paths ({rows:,} rows, {columns + 1:,} columns, {entries:,} non-zeros)",
        Work(1e-9 * float(rows) * entries, _BYTES * entries),
        rough=True,
    )
    values = np.concatenate([np.ones(columns), np.full(len(channel), -1.0), relative_speeds(topology)])
    row = np.concatenate([np.repeat(np.arange(pairs), paths), pairs + channel, pairs + np.arange(channels)])
    column = np.concatenate([np.arange(columns), row_of_path, np.full(channels, columns)])
    matrix = csc_array((values, (row, column)), shape=(rows, columns + 1))
    lower = np.concatenate([share, np.zeros(channels)])
    upper = np.concatenate([share, np.full(channels, np.inf)])
    cost = np.zeros(columns + 1)
    cost[-1] = 1
    return solve(matrix, lower, upper, cost, tolerance=None if rows <= _VERTEX_ROWS else 1e-6)


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
