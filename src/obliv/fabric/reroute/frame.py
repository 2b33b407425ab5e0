"""Which switches are above which, and by which ports: what engines route over."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from obliv._util.typing import Array
from obliv.errors import RoutingError
from obliv.fabric.kernels.fill import Side
from obliv.fabric.model import Fabric
from obliv.fabric.shape.tree import Shape
from obliv.routings.distances import Distances

__all__ = ["Frame", "frame_of_tree", "frame_up_down"]


@dataclass(frozen=True, eq=False)
class Frame:
    """The switches of a fabric, one above the other; no two alike, so that what climbs and then comes down ends.

    Rows are the switches in the order of :attr:`Fabric.switches`.

    Parameters
    ----------
    order : int32 array
        Rows, highest first.
    up, down : Side
        Neighbours above and below, and the ports that lead there.
    ideal : uint8 array, shape (rows, most)
        Ports upwards by their number in the tree, parent by parent and then again for parallel cables; 0 if missing.
    size : int32 array
        How many ports upwards a switch has in the tree.
    level : int32 array
        In the tree, 0 for a leaf.
    index : int32 array
        The place of a leaf among those of its parents.
    """

    order: Array
    up: Side
    down: Side
    ideal: Array
    size: Array
    level: Array
    index: Array


def frame_of_tree(fabric: Fabric, shape: Shape) -> Frame:
    """The levels of a fat tree, and its ports upwards by number."""
    switches = fabric.switches
    # what has no place in the tree hangs below all else
    level, number = shape.level[switches].astype(np.int64), shape.number[switches]
    rank = np.lexsort((np.arange(len(switches)), -level))
    frame_level = np.maximum(level - 1, 0).astype(np.int32)
    ways = [shape.parents[h] * shape.cables[h] if h < shape.levels else 0 for h in range(shape.levels + 1)]
    size = np.array([ways[h] if h > 0 else 0 for h in level.tolist()], np.int32)
    ideal = np.zeros((len(switches), max(1, int(size.max(initial=1)))), np.uint8)
    width = shape.tree.width
    cabled = _ports_between(fabric)
    row_of = {node: row for row, node in enumerate(switches.tolist())}
    for row, (at, own) in enumerate(zip(level.tolist(), number.tolist(), strict=True)):
        if at < 1 or at >= shape.levels:
            continue
        sub, place = divmod(own, width[at])
        for port in range(shape.parents[at]):
            above = sub // shape.children[at] * width[at + 1] + place * shape.parents[at] + port
            cables = cabled.get((row, row_of.get(shape.node_of(at + 1, above), -1)), [])
            for cable, own_port in enumerate(cables[: shape.cables[at]]):
                ideal[row, cable * shape.parents[at] + port] = own_port
    index = np.where(level == 1, number % (shape.children[1] if shape.levels > 1 else 1), 0).astype(np.int32)
    return Frame(*_above_and_below(fabric, rank), ideal, size, frame_level, index)


def frame_up_down(fabric: Fabric) -> Frame:
    """Up*/down* for any fabric: a switch in the middle is the highest, the farther from it the lower."""
    switches = fabric.switches
    if not len(switches):
        raise RoutingError(f"{fabric.name} has no switch: there is nothing to route")
    tail, head, _ = _between(fabric)
    far = Distances(len(switches), tail, head, len(switches))
    depth = np.full(len(switches), -1, np.int64)
    while (depth < 0).any():  # every part of the fabric has a root of its own
        part = np.flatnonzero(far([int(np.argmin(depth))]) >= 0)
        depth[part] = min((far([v])[part] for v in part.tolist()), key=lambda each: (each.max(), each.sum()))
    rank = np.lexsort((np.arange(len(depth)), depth))
    zeros = np.zeros(len(switches), np.int32)
    return Frame(*_above_and_below(fabric, rank), np.zeros((len(switches), 1), np.uint8), zeros, zeros, zeros)


def _ports_between(fabric: Fabric) -> dict[tuple[int, int], list[int]]:
    """The ports that lead from one switch to another, by their rows."""
    found: dict[tuple[int, int], list[int]] = {}
    for a, b, port in zip(*(column.tolist() for column in _between(fabric)), strict=True):
        found.setdefault((a, b), []).append(port)
    return found


def _above_and_below(fabric: Fabric, order: Array) -> tuple[Array, Side, Side]:
    height = np.empty(len(order), np.int64)
    height[order] = np.arange(len(order))[::-1]
    tail, head, port = _between(fabric)
    up = height[head] > height[tail]
    sides = [_listed(len(order), tail[mine], head[mine], port[mine]) for mine in (up, ~up)]
    return order.astype(np.int32), sides[0], sides[1]


def _between(fabric: Fabric) -> tuple[Array, Array, Array]:
    """The cables from one switch to another: their rows, and the port at the first."""
    row = np.full(fabric.nodes, -1, np.int64)
    row[fabric.switches] = np.arange(len(fabric.switches))
    slots = np.flatnonzero(fabric.peer >= 0)
    tail, head = row[fabric.node_of[slots]], row[fabric.node_of[fabric.peer[slots]]]
    kept = (tail >= 0) & (head >= 0) & (tail != head)
    slots = slots[kept]
    return tail[kept], head[kept], slots - fabric.first_slot[fabric.node_of[slots]]


def _listed(rows: int, tail: Array, head: Array, port: Array) -> Side:
    by = np.lexsort((port, tail))
    first = np.concatenate([[0], np.cumsum(np.bincount(tail, minlength=rows))]).astype(np.int32)
    return Side(first, head[by].astype(np.int32), port[by].astype(np.int32))
