"""Group tables for any fabric: all ports with the fewest hops, with or without the rules of up*/down*."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.cost import require_memory
from obliv._util.text import did_you_mean
from obliv._util.typing import Array
from obliv.errors import RoutingError, SpecError
from obliv.fabric.groups import FREE, NO_STATE, STATIC, Groups, GroupTables, SubGroup
from obliv.fabric.kernels.group_rules import Trunks, channels_towards
from obliv.fabric.lids import owned_lids
from obliv.fabric.model import Fabric
from obliv.fabric.reroute.engines import plan_engine
from obliv.fabric.reroute.fill import by_digits, evenly
from obliv.fabric.reroute.network import SwitchNetwork, switch_network
from obliv.fabric.reroute.tiers import central_ranks, level_ranks, tiers_of
from obliv.fabric.shape.tree import recognise
from obliv.fabric.tables import NONE
from obliv.kernels import run

__all__ = ["GROUP_RULES", "groups_of"]

#: The rules by which groups are made.
GROUP_RULES = ("updn", "minimal")


def groups_of(fabric: Fabric, rule: str = "updn") -> GroupTables:
    """Return group tables for adaptive routing on a fabric.

    Parameters
    ----------
    fabric : Fabric
        With LIDs.
    rule : {"updn", "minimal"}
        ``updn``: packets go down as soon as a path of cables down exists, otherwise up, with the fewest hops; ranks
        are the levels of a tree where the switches form one, else distances from a central switch. ``minimal``: all
        ports that lead closer.

    Returns
    -------
    GroupTables
        Groups of at least two ports; a single port is static. Static ports of groups are those of D-mod-k on trees,
        elsewhere those of ``updown`` where the group has them, else spread over the LIDs. LIDs that cannot be reached
        by the rule have no entry.

    Raises
    ------
    SpecError
        If the rule is unknown.
    RoutingError
        If the fabric has no LIDs or no switch.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate.from_topology import from_topology
    >>> groups_of(from_topology(obliv.topology("fattree:4,2")))
    <GroupTables updn: 6 tables, LIDs to 14>
    """
    if rule not in GROUP_RULES:
        raise SpecError.naming("{adaptive}={0!r}: {1}", rule[:40], did_you_mean(rule, GROUP_RULES))
    switches = fabric.switches
    own = fabric.first_slot[switches]
    slots = np.concatenate([fabric.endpoints, own])
    slots = slots[fabric.ports.lid[slots] > 0]
    if not len(slots) or not len(switches):
        raise RoutingError(f"{fabric.name} has no switch, or no LIDs: assign them first")
    lids, owner = owned_lids(fabric.ports.lid, fabric.ports.lmc, slots)
    width = int(lids.max()) + 1
    require_memory(8.0 * width * len(switches), f"group tables of {len(switches)} switches for {width - 1} LIDs")
    shape = len(switches), width
    port, state = np.full(shape, NONE, np.uint8), np.full(shape, NO_STATE, np.uint8)
    tables = _Entries(port, state, np.zeros(shape, np.uint16))
    goal = _goals(fabric, owner)
    numbers: list[dict[bytes, int]] = [{} for _ in switches]
    net = switch_network(fabric)
    trunks, spread = _trunks(net, rule == "updn")
    tail, ports = net.switches.tail, net.slot - fabric.first_slot[fabric.node_of[net.slot]]
    used = np.zeros(len(tail), bool)
    order = np.argsort(goal, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(goal[order]) != 0]).tolist() if len(order) else []
    for start, end in zip(starts, [*starts[1:], len(order)], strict=True):
        columns = order[start:end]
        row = int(goal[columns[0]])
        if row < 0:
            continue
        run(channels_towards, 5.0 * len(tail) * len(starts), row, trunks, used)
        sets = np.zeros((len(switches), 256), bool)
        sets[tail[used], ports[used]] = True
        _store(sets, lids[columns], columns, spread, numbers, tables)
        beside = fabric.ports.peer[owner[columns]]
        at = np.where(fabric.switch_row[fabric.node_of[owner[columns]]] == row, owner[columns], beside)
        port[row, lids[columns]] = at - fabric.first_slot[switches[row]]
        state[row, lids[columns]], tables.group[row, lids[columns]] = STATIC, 0
    return GroupTables(
        name=rule,
        switch=switches.astype(np.int32),
        plft=np.zeros(len(switches), np.int32),
        port=port,
        state=state,
        group=tables.group,
        groups=tuple(_groups(known) for known in numbers),
        line=np.zeros(len(switches), np.int32),
    )


class _Entries(NamedTuple):
    """Static port, state and group by switch and LID."""

    port: Array
    state: Array
    group: Array


def _store(
    sets: Array, lids: Array, columns: Array, spread: Array, numbers: list[dict[bytes, int]], tables: _Entries
) -> None:
    """Store the entries of all switches for the LIDs at one, by the set of ports that each may use.

    Static ports are those of `spread` where the set has them.
    """
    port, state, group = tables
    size = sets.sum(axis=1)
    single = np.flatnonzero(size == 1)
    place = np.ix_(single, lids)
    port[place], state[place] = sets[single].argmax(axis=1)[:, None], STATIC
    for v in np.flatnonzero(size > 1).tolist():
        members = np.flatnonzero(sets[v])
        number = numbers[v].setdefault(members.astype(np.uint8).tobytes(), len(numbers[v]) + 1)
        state[v, lids], group[v, lids] = FREE, number
        wanted = spread[v, lids]
        port[v, lids] = np.where(np.isin(wanted, members), wanted, members[columns % len(members)])


def _groups(numbers: dict[bytes, int]) -> Groups:
    """Return the groups of a switch; in files every switch has at least one."""
    return {number: (SubGroup(0, 0, tuple(ports)),) for ports, number in numbers.items()} or {0: (SubGroup(0, 0, ()),)}


def _goals(fabric: Fabric, owner: Array) -> Array:
    """Return the row of the switch that each LID is of, or that its owner is cabled to; -1 where there is none."""
    row = fabric.switch_row[fabric.node_of]
    return np.where(row[owner] >= 0, row[owner], row[fabric.ports.peer[owner]])


def _trunks(net: SwitchNetwork, ranked: bool) -> tuple[Trunks, Array]:
    """Return the channels between switches by rank, and ports by which loads are even, shape (switches, LIDs)."""
    shape = recognise(net.fabric)
    tiers = tiers_of(net, shape if shape is not None and shape.levels > 1 else None)
    ranks = central_ranks(net) if tiers is None else level_ranks(net, tiers)
    first, head = net.switches.first.astype(np.int64), net.switches.head.astype(np.int64)
    spread = evenly(net, ranks) if tiers is None else by_digits(net, ranks, plan_engine("dmodk", tiers))
    if ranked:
        return Trunks(first, head, ranks.rises, ranks.order.astype(np.int64)), spread.out
    return Trunks(first, head, np.zeros(len(head), bool), np.zeros(0, np.int64)), spread.out
