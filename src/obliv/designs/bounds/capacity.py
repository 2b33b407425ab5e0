"""The capacity of any network: the least load of uniform traffic, with a proof of both sides."""

from __future__ import annotations

import copy
from fractions import Fraction

import numpy as np

from obliv._util.codec import pack
from obliv._util.progress import Progress, rising, silent
from obliv._util.typing import Array
from obliv.analysis.subject import capacity_is_quick
from obliv.designs.bounds.congestion import Carried, Congestion, bound_by, carried, carried_by, least_congestion
from obliv.designs.exact.vertices import as_rationals
from obliv.designs.minimal import require_connected
from obliv.designs.solver import require_time
from obliv.designs.symmetry import symmetry_of
from obliv.errors import TopologyError
from obliv.routings.listed import list_paths
from obliv.routings.make import routing as routing_of
from obliv.topologies.base import Topology

__all__ = ["by_dimension_order", "capacity_of", "with_capacity"]

_HOPS = 3_000_000  # of paths by dimension order that are listed, about


def capacity_of(topology: Topology, progress: Progress = silent) -> tuple[Congestion, Carried]:
    """Return the least load of uniform traffic, self-pairs included: a lower bound, and paths that attain an upper one.

    Raises
    ------
    TopologyError
        If some terminals cannot reach each other.
    MissingExtraError
        If the solver (highspy) is not installed.
    TooLargeError
        If the linear program would not fit in memory.
    """
    require_connected(topology)
    demand, scale = _uniform(topology)
    least = least_congestion(topology, demand, scale, symmetry_of(topology), progress)
    return least, carried(topology, demand, scale, least)


def by_dimension_order(topology: Topology) -> tuple[Congestion, Carried] | None:
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
    hops = terminals**2 * sum(max(1.0, axis.radix * means.get(axis.kind, 0.0)) for axis in topology.axes)
    if not topology.axes or hops > _HOPS or terminals * topology.channels > _HOPS:
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
