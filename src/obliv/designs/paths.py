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
from obliv.kernels import run
from obliv.routings.listed import Listed, PathList

__all__ = ["decomposed", "exact_flows", "rounded_flows", "routing_of"]

_WHOLE = 2**30  # units of a probability that is rounded


class _Paths(NamedTuple):
    """Room for the paths of one pair."""

    start: Array
    channel: Array
    amount: Array


def rounded_flows(columns: Array) -> tuple[Array, int]:
    """Return flows as integers in units of 2^-30, and the number of units in one."""
    return np.rint(np.clip(columns, 0, 1) * _WHOLE).astype(np.int64), _WHOLE


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
    network, topology = states.kernel, states.topology
    terminals = len(topology.terminals)
    room = _Paths(
        np.zeros(states.arcs + 2, np.int64),
        np.zeros((states.arcs + 1) * states.count, np.int64),
        np.zeros(states.arcs + 1, np.int64),
    )
    nodes = topology.terminals.tolist()
    counts, hops, taken, amounts = [0], [np.zeros(1, np.int64)], [], []
    for source in range(sources):
        for destination in range(terminals):
            if source == destination:
                counts.append(0)
                continue
            capacity = capacity_of(source, destination)
            work = 20.0 * sources * terminals * states.arcs
            number = int(run(widest_paths, work, network, nodes[source], nodes[destination], capacity, whole, room))
            if number == 0:
                return None
            amount = room.amount[:number].copy()
            amount[0] += whole - int(amount.sum())
            counts.append(number)
            hops.append(np.diff(room.start[: number + 1]))
            taken.append(room.channel[: room.start[number]].copy())
            amounts.append(amount)
        progress("paths", (source + 1) / sources)
    nothing = np.zeros(0, np.int64)
    return Listed(
        topology,
        spec,
        PathList(
            np.cumsum(counts),
            np.cumsum(np.concatenate(hops)),
            np.concatenate([nothing, *taken]),
            np.concatenate([nothing, *amounts]),
            whole,
        ),
    )
