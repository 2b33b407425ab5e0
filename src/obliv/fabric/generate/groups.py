"""Group tables for any fabric: all ports with the fewest hops, with or without the rules of up*/down*."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.arrays import starts
from obliv._util.cost import require_memory
from obliv._util.text import did_you_mean
from obliv._util.typing import Array
from obliv.errors import RoutingError, SpecError
from obliv.fabric.groups import FREE, NO_STATE, STATIC, Groups, GroupTables, SubGroup
from obliv.fabric.kernels.group_rules import Trunks, channels_towards
from obliv.fabric.lids import owned_lids
from obliv.fabric.model import Fabric
from obliv.fabric.shape.heights import heights
from obliv.fabric.tables import NONE
from obliv.kernels import run
from obliv.routings.graphs.distances import Distances

__all__ = ["GROUP_RULES", "groups_of"]

#: The rules by which groups are made.
GROUP_RULES = ("updn", "minimal")
_DEEPEST = 8  # levels by whose digits static ports are spread


def groups_of(fabric: Fabric, rule: str = "updn") -> GroupTables:
    """Return group tables for adaptive routing on a fabric.

    Parameters
    ----------
    fabric : Fabric
        With LIDs.
    rule : {"updn", "minimal"}
        ``updn``: packets go down as soon as a path of cables down exists, otherwise up, with the fewest hops; ranks
        are the levels of a fat tree where the fabric is one, else distances from a central switch. ``minimal``: all
        ports that lead closer.

    Returns
    -------
    GroupTables
        Groups of at least two ports; a single port is static. Static ports of groups are spread over the LIDs, on fat
        trees level by level as in D-mod-k. LIDs that cannot be reached by the rule have no entry.

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
        raise SpecError(f"adaptive={rule[:40]!r}: {did_you_mean(rule, GROUP_RULES)}")
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
    trunks, tail, ports = _trunks(fabric, rule == "updn")
    depth = _depths(fabric, tail, trunks.head)
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
        _store(sets, lids[columns], columns, depth, numbers, tables)
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
    sets: Array, lids: Array, columns: Array, depth: list[int], numbers: list[dict[bytes, int]], tables: _Entries
) -> None:
    """Store the entries of all switches for the LIDs at one, by the set of ports that each may use."""
    port, state, group = tables
    size = sets.sum(axis=1)
    single = np.flatnonzero(size == 1)
    place = np.ix_(single, lids)
    port[place], state[place] = sets[single].argmax(axis=1)[:, None], STATIC
    for v in np.flatnonzero(size > 1).tolist():
        members = np.flatnonzero(sets[v])
        number = numbers[v].setdefault(members.astype(np.uint8).tobytes(), len(numbers[v]) + 1)
        state[v, lids], group[v, lids] = FREE, number
        place_of = columns // len(members) ** depth[v] if depth[v] < _DEEPEST else columns
        port[v, lids] = members[place_of % len(members)]


def _groups(numbers: dict[bytes, int]) -> Groups:
    """Return the groups of a switch; in files every switch has at least one."""
    return {number: (SubGroup(0, 0, tuple(ports)),) for ports, number in numbers.items()} or {0: (SubGroup(0, 0, ()),)}


def _goals(fabric: Fabric, owner: Array) -> Array:
    """Return the row of the switch that each LID is of, or that its owner is cabled to; -1 where there is none."""
    row = fabric.switch_row[fabric.node_of]
    return np.where(row[owner] >= 0, row[owner], row[fabric.ports.peer[owner]])


def _depths(fabric: Fabric, tail: Array, head: Array) -> list[int]:
    """Return the hops from each switch to the nearest one with an endpoint."""
    rows = np.unique(fabric.homes)
    far = Distances(len(fabric.switches), tail, head, len(fabric.switches))
    hops: list[int] = far(rows[rows >= 0]).tolist()
    return [_DEEPEST if hop < 0 else hop for hop in hops]


def _trunks(fabric: Fabric, ranked: bool) -> tuple[Trunks, Array, Array]:
    """Return the channels between switches, sorted by their tails, with their tails and ports."""
    tail, head, slot = fabric.trunks
    order = np.lexsort((slot, tail))
    tail, head, slot = tail[order], head[order], slot[order]
    first = starts(np.bincount(tail, minlength=len(fabric.switches)))
    height = heights(fabric) if ranked else np.zeros(len(fabric.switches), np.int64)
    up = height[head] > height[tail]
    rows = np.argsort(-height, kind="stable") if ranked else np.zeros(0, np.int64)
    ports = slot - fabric.first_slot[fabric.node_of[slot]]
    return Trunks(first, head.astype(np.int64), up, rows), tail, ports
