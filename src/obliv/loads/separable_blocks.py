"""A channel of separable loads as blocks: one for every two places in the dimensions across the channel.

On a mesh, the chance to cross a channel depends on where the ends lie along the channel's own dimension only if one of
them lies in the channel's own line.  All other blocks have one load throughout.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.loads.axis_tables import Classes, merged_tables
from obliv.matching.blocks import Blocks
from obliv.matching.weights import members_of
from obliv.topologies.cartesian import Cartesian

__all__ = ["ChannelBlocks", "channel_blocks", "distinct"]

_FEWER = 4  # how many times fewer entries are worth hubs


class ChannelBlocks(NamedTuple):
    """The loads of a channel in blocks, and the nodes that each row and column stands for."""

    blocks: Blocks
    row_members: tuple[Array, Array]
    column_members: tuple[Array, Array]


def channel_blocks(
    topology: Cartesian, dim: int, tables: list[list[Array]], classes: list[Classes]
) -> ChannelBlocks | None:
    """Return a channel of a dimension in blocks, from its tables; None where this does not save much."""
    if topology.axes[dim].kind != "line" or len(topology.axes) < 2:
        return None
    sides = merged_tables(tables, classes, topology.nodes)
    own = sides[dim]
    rows, columns = np.unique(own.row), np.unique(own.column)
    along = own.tables[:, rows[:, None], columns]
    across: Array = np.ones((len(along), 1, 1), along.dtype)
    row_place, column_place = np.zeros((2, topology.nodes), np.int64)
    numbers = np.arange(topology.nodes)
    for j, (side, stride, radix) in enumerate(zip(sides, topology.strides, topology.radices, strict=True)):
        if j != dim:
            place = numbers // stride % radix
            row_place += side.row_of[place] * across.shape[1]
            column_place += side.column_of[place] * across.shape[2]
            product = side.tables[:, :, None, :, None] * across[:, None, :, None, :]
            across = product.reshape(len(along), -1, product.shape[3] * product.shape[4])
    entries = float(len(own.row)) * int((across != 0).any(axis=0).sum())
    factors, kind = distinct(across.reshape(len(along), -1))
    require_memory(50.0 * factors.shape[1] * along[0].size, f"the loads of one channel of {topology.spec}")
    values = np.stack([_total(factor, along) for factor in factors.T])
    at = numbers // topology.strides[dim] % topology.radices[dim]
    members = [
        members_of(np.where(own_of[at] >= 0, where * many + own_of[at], -1), np.arange(count * many))
        for own_of, where, many, count in (
            (_numbered(own.row_of, rows), row_place, len(rows), across.shape[1]),
            (_numbered(own.column_of, columns), column_place, len(columns), across.shape[2]),
        )
    ]
    supply, demand = (np.diff(ptr) for ptr, _ in members)
    blocks = Blocks(
        kind.reshape(across.shape[1:]), values, supply.reshape(-1, len(rows)), demand.reshape(-1, len(columns))
    )
    return ChannelBlocks(blocks, *members) if _FEWER * blocks.entries() < entries else None


def _total(factor: Array, along: Array) -> Array:
    """Return the sum of the groups' tables, each times a factor."""
    total: Array = np.zeros_like(along[0])
    for share, table in zip(factor, along, strict=True):
        if share:
            total = total + table * share
    return total


def _numbered(class_of: Array, used: Array) -> Array:
    """Return the number of each coordinate's class among those used, -1 for the others."""
    number: Array = np.full(int(class_of.max()) + 1, -1, np.int64)
    number[used] = np.arange(len(used))
    return number[class_of]


def distinct(table: Array) -> tuple[Array, Array]:
    """Return the different columns of a table, and the number of each column among them."""
    numbers: dict[tuple[int, ...], int] = {}
    number = [numbers.setdefault(column, len(numbers)) for column in zip(*table.tolist(), strict=True)]
    columns: Array = np.array(list(numbers), table.dtype).T
    return columns, np.array(number)
