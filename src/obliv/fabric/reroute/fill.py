"""Forwarding tables whose routes climb and then descend: by the numbers of a tree, or evened out by their loads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from obliv._util.arrays import positions
from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.errors import RoutingError
from obliv.fabric.kernels.channel_loads import Switches
from obliv.fabric.kernels.fill import Digits, Ranks, even_out, fill_by_digits, fill_evenly
from obliv.fabric.lids import LAST_EXTENDED_LID, slots_of_lids
from obliv.fabric.reroute.engines import EnginePlan
from obliv.fabric.reroute.network import SwitchNetwork
from obliv.fabric.tables import NONE, Tables
from obliv.kernels import run

__all__ = ["by_digits", "evenly", "flows"]

_BLOCK = 1 << 26  # routes that are held at once
_ROUNDS = 8  # in which routes are evened out


@dataclass(frozen=True, eq=False)
class _Columns:
    """The LIDs of a fabric that are at switches, by switch, port and number.

    Parameters
    ----------
    lid : int64 array, shape (columns,)
    end : int64 array, shape (columns,)
        The place of its port among the endpoints, -1 for a switch's own.
    offset : int64 array, shape (columns,)
        Which of the port's LIDs it is.
    home, port : int64 arrays, shape (columns,)
        The row of the switch, and its port there, 0 for a switch itself.
    """

    lid: Array
    end: Array
    offset: Array
    home: Array
    port: Array


def by_digits(net: SwitchNetwork, ranks: Ranks, plan: EnginePlan, step: int = 0, even: bool = False) -> Tables:
    """Return the tables of an engine for trees.

    Parameters
    ----------
    net : SwitchNetwork
        Of a fabric with LIDs.
    ranks : Ranks
    plan : EnginePlan
    step : int
        Where the channel of a number is missing: how far to go on to another number; 0 for the channel used least.
    even : bool
        Whether routes are evened out where this lowers loads under uniform traffic.
    """
    tiers = plan.tiers
    columns = _columns(net)
    out = _empty(net, columns)
    for mine in _blocks(columns):
        end = columns.end[mine]
        known = (end >= 0) & (tiers.number[end] >= 0)
        number = np.where(known, tiers.number[end], mine)  # other LIDs are spread over the numbers
        place = np.where(known, tiers.place[end], mine)
        (offset,) = np.unique(columns.offset[mine]).tolist()
        plans = (plan.want, plan.down or plan.want)
        up, down = (np.stack([want(level, offset, number, place) for level in range(tiers.levels)]) for want in plans)
        shift = tiers.place_in_subtree if plan.shifted else np.zeros_like(tiers.size)
        wanted = (up.astype(np.int32), down.astype(np.int32))
        digits = Digits(tiers.channel, tiers.size, tiers.width, tiers.level, shift, *wanted)
        routes = np.empty((len(mine), len(net.switches.hosts)), np.int32)
        switches = net.switches._replace(home=columns.home[mine].astype(np.int32))
        run(fill_by_digits, _work(switches), switches, ranks, digits, step, routes)
        if even:
            hosts = np.flatnonzero(end >= 0)
            _evened(switches, ranks, hosts, flows(switches, hosts, routes), routes)
        _store(net, columns, mine, routes, out)
    return _tables(net, plan.engine, columns, out)


def evenly(net: SwitchNetwork, ranks: Ranks, by_place: bool = False, even: bool = False) -> Tables:
    """Return tables of shortest routes that climb and then descend, with even loads under uniform traffic.

    Parameters
    ----------
    net : SwitchNetwork
        Of a fabric with LIDs. Where hosts have several, the routes for each of them have even loads.
    ranks : Ranks
    by_place : bool
        Whether one host of each switch is routed after another, instead of switch by switch.
    even : bool
        Whether routes are evened out at the end.
    """
    columns = _columns(net)
    place, _ = net.fabric.endpoint_places
    out = _empty(net, columns)
    for mine in _blocks(columns):
        switches = net.switches._replace(home=columns.home[mine].astype(np.int32))
        hosts, others = np.flatnonzero(columns.end[mine] >= 0), np.flatnonzero(columns.end[mine] < 0)
        if by_place:
            hosts = hosts[np.lexsort((columns.home[mine[hosts]], place[columns.end[mine[hosts]]]))]
        routes = np.empty((len(mine), len(net.switches.hosts)), np.int32)
        load = np.zeros(len(net.switches.tail), np.int64)
        run(fill_evenly, _work(switches), hosts, switches, ranks, load, routes)
        nobody = switches._replace(hosts=np.zeros_like(switches.hosts))
        run(fill_evenly, _work(switches), others, nobody, ranks, load.copy(), routes)
        if even:
            _evened(switches, ranks, hosts, load, routes)
        _store(net, columns, mine, routes, out)
    return _tables(net, "updown", columns, out)


def _work(switches: Switches) -> float:
    """Return about how many steps it takes to look at all channels for each destination, a few times."""
    return 10.0 * len(switches.home) * (len(switches.tail) + len(switches.hosts))


def _columns(net: SwitchNetwork) -> _Columns:
    """Return the LIDs to which packets can be sent."""
    fabric = net.fabric
    lids, slots = slots_of_lids(fabric)
    if len(np.unique(lids)) < len(lids):
        raise RoutingError(f"{fabric.name}: some ports have the same LID: tables cannot tell them apart")
    own = fabric.switch_row[fabric.node_of[slots]] >= 0  # LIDs of switches themselves
    at = np.where(own, slots, fabric.ports.peer[slots])
    home = fabric.switch_row[fabric.node_of[at]]
    reached = home >= 0  # ports at switches only
    slots, lids, own, at, home = slots[reached], lids[reached], own[reached], at[reached], home[reached]
    order = np.lexsort((lids, at, home))
    slots, lids, own, at, home = slots[order], lids[order], own[order], at[order], home[order]
    if len(lids) and int(lids.max()) > LAST_EXTENDED_LID:
        raise RoutingError(f"{fabric.name}: LID {lids.max()} is out of range (maximum {LAST_EXTENDED_LID})")
    end = positions(fabric.endpoints, len(fabric.ports.peer))[slots]
    port = np.where(own, 0, at - fabric.first_slot[fabric.node_of[at]])
    return _Columns(lids.astype(np.int64), end, (lids - fabric.ports.lid[slots]).astype(np.int64), home, port)


def _empty(net: SwitchNetwork, columns: _Columns) -> Array:
    rows, top = len(net.switches.hosts), int(columns.lid.max())
    require_memory(2.0 * rows * (top + 1) + 8.0 * min(_BLOCK, rows * len(columns.lid)), f"tables of {net.fabric.name}")
    return np.full((rows, top + 1), NONE, np.uint8)


def _blocks(columns: _Columns) -> Iterator[Array]:
    """Yield the columns of one offset after another."""
    for offset in np.unique(columns.offset).tolist():
        yield np.flatnonzero(columns.offset == offset)


def flows(switches: Switches, columns: Array, routes: Array) -> Array:
    """Return what channels carry if every host sends to every destination."""
    load = np.zeros(len(switches.tail), np.int64)
    for column in columns.tolist():
        route, goal = routes[column], int(switches.home[column])
        at = np.flatnonzero((switches.hosts > 0) & (route >= 0))
        flow = switches.hosts[at].astype(np.int64)
        while len(at):
            c = route[at]
            np.add.at(load, c, flow * switches.unit[c])
            at = switches.head[c]
            on = at != goal
            at, flow = at[on], flow[on]
    return load


def _evened(switches: Switches, ranks: Ranks, order: Array, load: Array, routes: Array) -> None:
    """Even out routes until no change helps."""
    for _ in range(_ROUNDS):
        if not run(even_out, _work(switches), order, switches, ranks, load, routes):
            break


def _store(net: SwitchNetwork, columns: _Columns, mine: Array, routes: Array, out: Array) -> None:
    """Store the ports of routes, and those of destinations at their switch."""
    port = net.slot - net.fabric.first_slot[net.fabric.node_of[net.slot]]
    ports = np.append(port, NONE).astype(np.uint8)[routes]  # the last one for no route, -1
    ports[np.arange(len(mine)), columns.home[mine]] = columns.port[mine]
    out[:, columns.lid[mine]] = ports.T


def _tables(net: SwitchNetwork, engine: str, columns: _Columns, out: Array) -> Tables:
    switches = net.fabric.switches
    rows = switches.astype(np.int32)
    return Tables(engine, rows, out, np.zeros(len(rows), np.int32), "opensm", int(columns.lid.max()))
