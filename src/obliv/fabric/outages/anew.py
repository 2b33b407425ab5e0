"""A failure solved from scratch: the fabric without what failed, and tables on it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from obliv.analysis.worst_case.exact import solved_worst_case
from obliv.errors import InputError, RoutingError
from obliv.fabric.checks.credit_loops import credit_loops
from obliv.fabric.kernels.failures import Intact, Space, replace_port
from obliv.fabric.model import Fabric
from obliv.fabric.outages.sets import Failure, without
from obliv.fabric.reroute.candidates import LanesError
from obliv.fabric.reroute.route import route
from obliv.fabric.routes.classes import Offset
from obliv.fabric.routes.routing import FabricRouting
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.tables import Tables
from obliv.fabric.topology import network
from obliv.kernels import run
from obliv.results.fabric.failures import FailureRow

__all__ = ["Left", "after_failure", "kept_tables", "refilled_tables", "served_pairs", "worst_channel"]


def served_pairs(routing: FabricRouting) -> int:
    """Return the number of ordered pairs whose packets arrive."""
    ends = len(routing.topology.terminals)
    return ends * (ends - 1) - routing.routes.missing


def kept_tables(tables: Tables, failure: Failure) -> Tables:
    """Return the tables of the switches that are left."""
    left = ~np.isin(tables.switch, np.array(failure.switches, np.int64))
    return replace(tables, switch=tables.switch[left], out=tables.out[left], line=tables.line[left])


def refilled_tables(
    routing: FabricRouting, failure: Failure, channels: list[int], intact: Intact, space: Space
) -> Tables:
    """Return the tables in which switches that lost a port have chosen another, where one leads on."""
    routes, tables = routing.routes, routing.routes.tables
    out = tables.out.copy()
    uses = np.zeros(256, np.int64)
    space.failed[channels] = np.arange(len(channels))
    for i, c in enumerate(channels):
        run(replace_port, 50.0 * len(routes.traces.lid), i, c, intact, routes.arrays, space, uses)
    for i, c in enumerate(channels):
        row = int(routes.traces.hops.row[intact.tail_of[c]])
        found = np.flatnonzero(space.other[i] >= 0)
        if row >= 0:
            out[row, routes.traces.lid[found]] = space.other[i, found]
    space.failed[channels] = -1
    space.other[:] = -1
    return kept_tables(replace(tables, out=out), failure)


def rerouted(fabric: Fabric, engine: str) -> tuple[Fabric, Tables, Offset]:
    """Return a fabric with new tables by an engine, as ``obliv fabric route`` computes them."""
    try:
        result = route(fabric, engine, force=True)
    except LanesError as error:
        raise RoutingError(
            f"{error.values[0]}, and tables after a failure have one: choose layered or updown"
        ) from None
    if result.tables is None or result.fabric is None:
        raise TypeError("new tables and their fabric are kept")
    return result.fabric, result.tables, result.offset


def after_failure(
    routing: FabricRouting, offset: Offset, failure: Failure, repair: str, tables: Tables | None = None
) -> tuple[FailureRow, Left | None]:
    """Return what a failure does, solved from scratch, and the routes that are left.

    Parameters
    ----------
    routing : FabricRouting
        Before the failure.
    offset : str, int or sequence of int
        Which LID of a destination a source uses.
    failure : Failure
    repair : str
        ``keep``, ``refill``, or an engine of ``obliv fabric route``.
    tables : Tables, optional
        The tables after the failure; needed for ``refill``.
    """
    fabric = without(routing.topology.fabric, failure)
    if not len(fabric.endpoints):
        return FailureRow(failure.name, served_pairs(routing), Fraction(0), "", False), None
    if tables is None:
        tables = kept_tables(routing.routes.tables, failure)
        if repair not in ("keep", "refill"):
            fabric, tables, offset = rerouted(_without_hosts(fabric, failure), repair)
    if not isinstance(offset, str | int) and len(fabric.endpoints) != len(routing.topology.terminals):
        raise InputError("offsets by terminal cannot be used where hosts fail: give a rule")
    left = fabric_routing(network(fabric), tables, offset, missing="skip")
    load, name, channel = worst_channel(left)
    lost = max(0, served_pairs(routing) - served_pairs(left))
    row = FailureRow(failure.name, lost, load, name, not credit_loops(left.routes.traces).acyclic)
    return row, Left(left, channel)


@dataclass(frozen=True, eq=False)
class Left:
    """The routes that are left after a failure, and a channel with the worst load; -1 for none."""

    routing: FabricRouting
    channel: int


def worst_channel(routing: FabricRouting) -> tuple[Fraction, str, int]:
    """Return the worst channel load, and the name and the number of a channel that has it."""
    result, _ = solved_worst_case(routing)
    if result.channel is None or not isinstance(result.channel_load, Fraction) or not result.channel_load:
        return Fraction(0), "", -1
    return result.channel_load, routing.topology.cable(result.channel.id).ends, result.channel.id


def _without_hosts(fabric: Fabric, failure: Failure) -> Fabric:
    """Return a fabric in which the switches that failed have no cables at all: engines route all that is there."""
    peer = fabric.ports.peer.copy()
    for node in failure.switches:
        own = np.arange(fabric.first_slot[node], fabric.first_slot[node + 1])
        own = own[peer[own] >= 0]
        peer[peer[own]] = -1
        peer[own] = -1
    return fabric.with_ports(peer=peer)
