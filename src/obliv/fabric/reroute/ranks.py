"""Ranks of switches: which switches are above which, and by which ports."""

from __future__ import annotations

import numpy as np

from obliv._util.arrays import starts
from obliv._util.typing import Array
from obliv.fabric.kernels.fill import Ranks, Side
from obliv.fabric.model import Fabric
from obliv.fabric.shape.heights import highest_first, highest_first_in_tree
from obliv.fabric.shape.tree import Shape

__all__ = ["ranks_of_tree", "ranks_up_down"]


def ranks_of_tree(fabric: Fabric, shape: Shape) -> Ranks:
    """Return the ranks of a fat tree's levels, and its ports upwards by number."""
    switches = fabric.switches
    # switches without a place in the tree are the lowest
    level, number = shape.level[switches].astype(np.int64), shape.number[switches]
    rank = highest_first_in_tree(fabric, shape)
    tree_level = np.maximum(level - 1, 0).astype(np.int32)
    uplinks = [shape.parents[h] * shape.cables[h] if h < shape.levels else 0 for h in range(shape.levels + 1)]
    size = np.array([uplinks[h] if h > 0 else 0 for h in level.tolist()], np.int32)
    ideal = np.zeros((len(switches), max(1, int(size.max(initial=1)))), np.uint8)
    width = shape.tree.width
    cabled = _ports_between(fabric)
    for row, (height, own) in enumerate(zip(level.tolist(), number.tolist(), strict=True)):
        if height < 1 or height >= shape.levels:
            continue
        sub, place = divmod(own, width[height])
        for port in range(shape.parents[height]):
            above = sub // shape.children[height] * width[height + 1] + place * shape.parents[height] + port
            node = shape.node_of(height + 1, above)
            cables = cabled.get((row, int(fabric.switch_row[node])), []) if node >= 0 else []
            for cable, own_port in enumerate(cables[: shape.cables[height]]):
                ideal[row, cable * shape.parents[height] + port] = own_port
    index = np.where(level == 1, number % (shape.children[1] if shape.levels > 1 else 1), 0).astype(np.int32)
    return Ranks(*_above_and_below(fabric, rank), ideal, size, index, tree_level)


def ranks_up_down(fabric: Fabric) -> Ranks:
    """Return ranks for up*/down* on any fabric: a central switch is the highest, those farther from it are lower."""
    rank = highest_first(fabric)
    zeros = np.zeros(len(rank), np.int32)
    return Ranks(*_above_and_below(fabric, rank), np.zeros((len(rank), 1), np.uint8), zeros - 1, zeros, zeros)


def _ports_between(fabric: Fabric) -> dict[tuple[int, int], list[int]]:
    """Return the ports that lead from one switch to another, by their rows."""
    ports: dict[tuple[int, int], list[int]] = {}
    for tail, head, slot in zip(*(column.tolist() for column in fabric.trunks), strict=True):
        ports.setdefault((tail, head), []).append(fabric.port_of(slot))
    return ports


def _above_and_below(fabric: Fabric, order: Array) -> tuple[Array, Side, Side]:
    """Return the rows from the highest on, and the neighbors above and below each."""
    height = np.empty(len(order), np.int64)
    height[order] = np.arange(len(order))[::-1]
    tail, head, slot = fabric.trunks
    port = slot - fabric.first_slot[fabric.node_of[slot]]
    up = height[head] > height[tail]
    sides = [_side(len(order), tail[side], head[side], port[side]) for side in (up, ~up)]
    return order.astype(np.int32), sides[0], sides[1]


def _side(rows: int, tail: Array, head: Array, port: Array) -> Side:
    """Return the neighbors of every row by ports."""
    by = np.lexsort((port, tail))
    first = starts(np.bincount(tail, minlength=rows)).astype(np.int32)
    return Side(first, head[by].astype(np.int32), port[by].astype(np.int32))
