"""From flows to an explicit routing: the distribution over paths of every pair."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import NamedTuple

import numpy as np

from obliv._util.arrays import INT64_SAFE
from obliv._util.progress import Progress
from obliv._util.typing import Array
from obliv.designs._kernels import widest_paths
from obliv.designs.exact.basis import InexactError, Rationals
from obliv.designs.flows import FlowProgramme
from obliv.designs.programme import Programme
from obliv.designs.states import States
from obliv.designs.units import WHOLE
from obliv.kernels import run
from obliv.routings.listed import Listed, PathList

__all__ = ["decomposed", "exact_flows", "rounded_flows", "routing_of", "widest"]


class _Paths(NamedTuple):
    """Room for the paths of one pair."""

    start: Array
    channel: Array
    amount: Array


def rounded_flows(columns: Array) -> tuple[Array, int]:
    """Return flows as integers in units of 2^-30, and the number of units in one."""
    return np.rint(np.clip(columns, 0, 1) * WHOLE).astype(np.int64), WHOLE


def exact_flows(programme: FlowProgramme, columns: Rationals) -> tuple[Array, int]:
    """Return the rational flows of a vertex as integers, and the number of units in one; InexactError if too large."""
    numerators, whole = columns.numerators[: programme.flows], columns.denominator
    divisor = gcd(whole, *numerators.tolist())
    numerators, whole = numerators // divisor, whole // divisor
    if numerators.min(initial=0) < 0:
        raise InexactError("a flow of the solver's vertex is negative")
    if max(whole, numerators.max(initial=0)) * len(programme.topology.terminals) >= INT64_SAFE:
        raise InexactError(f"the flows have a common denominator of {whole.bit_length()} bits, too large for a list")
    return numerators.astype(np.int64), whole


def routing_of(programme: Programme, spec: str, flows: tuple[Array, int], progress: Progress) -> Listed | None:
    """Return the routing whose paths carry the flows, what is missing on the widest path of each pair.

    Parameters
    ----------
    programme : Programme
    spec : str
    flows : (int64 array, int)
        The value of every flow column, and the number of units in one.
    progress : callable
        Called with what is being done and the share that is done.

    Returns
    -------
    Listed or None
        None where the flows of a pair hold no path.
    """
    units, whole = flows
    column, values = programme.column, np.append(units, 0)
    return decomposed(programme.states, spec, len(column), whole, lambda s, d: values[column[s, d]], progress)


def decomposed(
    states: States,
    spec: str,
    sources: int,
    whole: int,
    capacity_of: Callable[[int, int], Array],
    progress: Progress,
) -> Listed | None:
    """Return the routing by the widest paths that capacities leave, what is missing on the widest of each pair.

    Parameters
    ----------
    states : States
        Of the legal paths.
    spec : str
    sources : int
        Number of terminals whose paths are listed.
    whole : int
        Units of a probability.
    capacity_of : function of source and destination
        Returns the units that each arc can carry, an int64 array that is used up.
    progress : callable
        Called with what is being done and the share that is done.
    """
    needed = np.full((sources, len(states.topology.terminals)), whole)
    np.fill_diagonal(needed, 0)
    paths = widest(states, needed, whole, capacity_of, progress)
    return None if paths is None else Listed(states.topology, spec, paths)


def widest(
    states: States,
    needed: Array,
    whole: int,
    capacity_of: Callable[[int, int], Array],
    progress: Progress,
    *,
    overload: bool = False,
) -> PathList | None:
    """Return paths of pairs with the units that they need, by the widest paths that capacities leave.

    Parameters
    ----------
    states : States
        Of the legal paths.
    needed : integer array, shape (sources, terminals)
        The units that every pair needs; those missing at the end take its first path.
    whole : int
        Units of a packet.
    capacity_of : function of source and destination
        Returns the units that each arc can carry, an int64 array that is used up.
    progress : callable
    overload : bool
        Take the widest path of empty arcs where capacities hold no path; else None is returned.
    """
    network, nodes = states.kernel, states.topology.terminals.tolist()
    room = _Paths(
        np.zeros(states.arcs + 2, np.int64),
        np.zeros((states.arcs + 1) * states.count, np.int64),
        np.zeros(states.arcs + 1, np.int64),
    )
    work = 20.0 * np.count_nonzero(needed) * states.arcs
    counts = np.zeros(needed.shape, np.int64)
    hops, channels, amounts = ([np.zeros(0, np.int64)] for _ in range(3))
    for source, row in enumerate(needed.tolist()):
        for destination in np.flatnonzero(needed[source]).tolist():
            units, ends = row[destination], (nodes[source], nodes[destination])
            number = int(run(widest_paths, work, network, *ends, capacity_of(source, destination), units, room))
            if number == 0 and overload:
                number = int(run(widest_paths, work, network, *ends, np.full(states.arcs, units), units, room))
            if number == 0:
                return None
            amount = room.amount[:number].copy()
            amount[0] += units - int(amount.sum())
            counts[source, destination] = number
            hops.append(np.diff(room.start[: number + 1]))
            channels.append(room.channel[: room.start[number]].copy())
            amounts.append(amount)
        progress("paths", (source + 1) / len(needed))
    lengths, channel, amount = (np.concatenate(parts) for parts in (hops, channels, amounts))
    return PathList.of(counts.ravel(), lengths, channel, amount, whole)
