"""Group tables packed for kernels: a set of ports for every LID and switch, and equal sets stored once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from obliv._util.arrays import positions
from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.errors import RoutingError
from obliv.fabric.groups import NO_STATE, STATIC, GroupTables, ports_of
from obliv.fabric.kernels.choices import Choices, trace_choices
from obliv.fabric.model import Fabric
from obliv.fabric.routes.trace import Traces, untraced
from obliv.fabric.tables import NONE
from obliv.kernels import run

__all__ = ["PackedGroups", "first_alike", "packed", "traced", "where_lost"]

_ROWS = 16  # whose choices are written together


@dataclass(frozen=True, eq=False)
class PackedGroups:
    """The choices that group tables leave to switches, between some ports of a fabric.

    Parameters
    ----------
    fabric : Fabric
    groups : GroupTables
        Of a single private LFT.
    ends : int64 array, shape (ends,)
        The slots between which packets travel.
    sets : tuple of tuples
        The different sets of ports; the first is empty.
    choices : Choices
        Rows are the switches, in the order of the fabric.
    """

    fabric: Fabric
    groups: GroupTables
    ends: Array
    sets: tuple[tuple[int, ...], ...]
    choices: Choices

    @cached_property
    def has_table(self) -> Array:
        """Whether each switch has a table."""
        has: Array = np.zeros(len(self.fabric.switches), bool)
        has[self.fabric.switch_row[self.groups.switch]] = True
        return has

    def set_of(self, lid: int, row: int) -> tuple[int, ...]:
        """Return the ports among which a switch may choose for a LID."""
        return self.sets[int(self.choices.choice[lid, row])] if lid < len(self.choices.choice) else ()


def packed(fabric: Fabric, groups: GroupTables, ends: Array | None = None) -> PackedGroups:
    """Pack group tables for kernels.

    Parameters
    ----------
    fabric : Fabric
    groups : GroupTables
        Of a single private LFT.
    ends : int array, optional
        The slots between which packets travel; default all endpoints.

    Raises
    ------
    RoutingError
        If there are several private LFTs.
    """
    if len(groups.plfts) > 1:
        raise RoutingError(f"{groups.name} has several private LFTs: choose one")
    ends = fabric.endpoints if ends is None else ends
    rows = len(fabric.switches)
    require_memory(8.0 * rows * groups.port.shape[1], f"the port sets of {groups.name}")
    number: dict[tuple[int, ...], int] = {(): 0}
    choice = np.zeros((groups.port.shape[1], rows), np.int32)
    single = np.array([0 if port == NONE else number.setdefault((port,), len(number)) for port in range(256)], np.int32)
    numbers_of: dict[int, Array] = {}  # by the identity of groups, which rows may share
    block = np.empty((_ROWS, len(choice)), np.int32)
    of_block: list[int] = []
    last = len(groups.switch) - 1
    for k, row in enumerate(fabric.switch_row[groups.switch].tolist()):
        table = groups.groups[k]
        if id(table) not in numbers_of:
            numbers = np.zeros(max(table, default=0) + 2, np.int32)
            for group, parts in table.items():
                numbers[group] = number.setdefault(ports_of(parts), len(number))
            numbers_of[id(table)] = numbers
        numbers = numbers_of[id(table)]
        chosen = block[len(of_block)]
        numbers.take(groups.group[k], mode="clip", out=chosen)  # the last stands for groups that are missing
        np.copyto(chosen, single[groups.port[k]], where=groups.state[k] == STATIC)
        chosen[groups.state[k] == NO_STATE] = 0
        of_block.append(row)
        if len(of_block) == _ROWS or k == last:  # columns next to each other are written faster together
            choice[:, of_block] = block[: len(of_block)].T
            of_block.clear()
    sets = tuple(number)
    ptr = np.concatenate([[0], np.cumsum([len(ports) for ports in sets])]).astype(np.int64)
    port = np.array([port for ports in sets for port in ports], np.uint8)
    first, end = fabric.first_slot[fabric.switches], fabric.first_slot[fabric.switches + 1]
    to = np.full(len(fabric.ports.peer), -1, np.int32)
    cabled = np.flatnonzero(fabric.ports.peer >= 0)
    other = fabric.switch_row[fabric.node_of[fabric.ports.peer[cabled]]]
    to[cabled] = np.where(other >= 0, other, -2)
    place = positions(ends, len(fabric.ports.peer))[fabric.ports.peer[cabled]]
    to[cabled[place >= 0]] = -3 - place[place >= 0]
    return PackedGroups(
        fabric, groups, ends, sets, Choices(ptr, port, choice, first.astype(np.int64), end.astype(np.int64), to)
    )


def traced(groups: PackedGroups) -> Traces:
    """Return how packets from every leaf switch to every LID of an end can fare, whatever switches choose.

    A packet counts as delivered only if it arrives by all choices.
    """
    traces = untraced(groups.fabric, groups.groups.static, groups.ends)
    first = first_alike(groups, traces)
    columns = np.unique(first)
    code = _codes(groups, traces, columns)[0]
    if code.any():
        np.take(code, np.searchsorted(columns, first), axis=1, out=traces.code)
    else:
        traces.code[:] = 0
    return traces


def where_lost(groups: PackedGroups, traces: Traces) -> Array:
    """Return the row where packets from every leaf to every LID can end, of a loop one of its rows."""
    lost = np.flatnonzero(traces.code.any(axis=0))
    require_memory(8.0 * traces.code.size, f"where packets of {groups.fabric.name} can be lost")
    at = np.full(traces.code.shape, -1, np.int32)
    at[:, lost] = _codes(groups, traces, lost, where=True)[1]
    return at


def _codes(groups: PackedGroups, traces: Traces, columns: Array, *, where: bool = False) -> tuple[Array, Array]:
    """Return how packets to some LIDs can fare, and where asked for the row where they end."""
    code = np.empty((len(traces.leaf), len(columns)), np.uint8)
    at = np.empty(code.shape if where else (0, 0), np.int32)
    rows = groups.fabric.switch_row[traces.leaf].astype(np.int64)
    arrays = rows, traces.lid[columns], traces.endpoint[columns], groups.choices, groups.has_table, code, at
    run(trace_choices, 60.0 * len(columns) * len(groups.choices.first), *arrays)
    return code, at


def first_alike(groups: PackedGroups, traces: Traces) -> Array:
    """Return for every LID the first one that all switches treat like it, but for the leaf switch that has both owners.

    There they leave by the ports of their owners, and by no other.

    Parameters
    ----------
    groups : PackedGroups
    traces : Traces
        Only its columns count.

    Returns
    -------
    int64 array, shape (columns,)
    """
    choice, single = groups.choices.choice, {ports[0]: n for n, ports in enumerate(groups.sets) if len(ports) == 1}
    peer = groups.fabric.ports.peer[groups.ends]
    rows = groups.fabric.switch_row[groups.fabric.node_of[peer]].tolist()
    ports = (peer - groups.fabric.first_slot[groups.fabric.node_of[peer]]).tolist()
    offset = (np.arange(len(traces.lid)) - traces.first_column[traces.endpoint]).tolist()
    sizes = np.diff(traces.first_column).tolist()
    first = np.arange(len(traces.lid))
    known: dict[tuple[int, int, int, bytes], int] = {}
    for k, (lid, end) in enumerate(zip(traces.lid.tolist(), traces.endpoint.tolist(), strict=True)):
        row = rows[end]
        if not 0 < lid < len(choice) or row < 0 or choice[lid, row] != single.get(ports[end], -1):
            continue
        column = choice[lid].copy()
        column[row] = 0
        first[k] = known.setdefault((row, offset[k], sizes[end], column.tobytes()), k)
    return first
