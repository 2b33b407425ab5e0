"""Which switches are above which, and by which ports: what engines route over."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from obliv.errors import RoutingError
from obliv.fabric.fabric import Fabric
from obliv.fabric.shape import Shape

__all__ = ["Frame", "frame_of_tree", "frame_up_down"]

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Frame:
    """The switches of a fabric, one above the other; no two alike, so that what climbs and then comes down ends.

    Rows are the switches in the order of :attr:`Fabric.switches`.

    Parameters
    ----------
    order : int32 array
        Rows, highest first.
    up, down : (first, to, port), three int arrays each
        Neighbours and the ports that lead there; those of row v stand from ``first[v]`` on.
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
    up: tuple[Array, Array, Array]
    down: tuple[Array, Array, Array]
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
    for row, (node, at, own) in enumerate(zip(switches.tolist(), level.tolist(), number.tolist(), strict=True)):
        if at < 1 or at >= shape.levels:
            continue
        sub, place = divmod(own, width[at])
        for port in range(shape.parents[at]):
            above = sub // shape.children[at] * width[at + 1] + place * shape.parents[at] + port
            for cable, slot in enumerate(cabled.get((node, shape.node_of(at + 1, above)), ())[: shape.cables[at]]):
                ideal[row, cable * shape.parents[at] + port] = fabric.port_of(slot)
    index = np.where(level == 1, number % (shape.children[1] if shape.levels > 1 else 1), 0).astype(np.int32)
    return Frame(*_above_and_below(fabric, rank), ideal, size, frame_level, index)


def frame_up_down(fabric: Fabric) -> Frame:
    """Up*/down* for any fabric: a switch in the middle is the highest, the farther from it the lower."""
    switches = fabric.switches
    row = {node: r for r, node in enumerate(switches.tolist())}
    near: list[list[int]] = [[] for _ in switches]
    for one, other in _ports_between(fabric):
        near[row[one]].append(row[other])
    far = [_distances(near, v) for v in range(len(near))]
    if not far:
        raise RoutingError(f"{fabric.name} has no switch: there is nothing to route")
    reach = max(sum(d >= 0 for d in each) for each in far)
    root = min(
        (v for v in range(len(far)) if sum(d >= 0 for d in far[v]) == reach),
        key=lambda v: (max(far[v]), sum(far[v]), v),
    )
    depth = np.array(far[root])
    rank = np.lexsort((np.arange(len(depth)), np.where(depth < 0, len(depth), depth)))
    zeros = np.zeros(len(switches), np.int32)
    return Frame(*_above_and_below(fabric, rank), np.zeros((len(switches), 1), np.uint8), zeros, zeros, zeros)


def _ports_between(fabric: Fabric) -> dict[tuple[int, int], list[int]]:
    """The slots that lead from one switch to another, by the two nodes."""
    is_switch = np.zeros(fabric.nodes, bool)
    is_switch[fabric.switches] = True
    slots = np.flatnonzero(fabric.peer >= 0)
    tail, head = fabric.node_of[slots], fabric.node_of[fabric.peer[slots]]
    kept = is_switch[tail] & is_switch[head] & (tail != head)
    found: dict[tuple[int, int], list[int]] = {}
    for slot, a, b in zip(slots[kept].tolist(), tail[kept].tolist(), head[kept].tolist(), strict=True):
        found.setdefault((a, b), []).append(slot)
    return found


def _above_and_below(fabric: Fabric, order: Array) -> tuple[Array, tuple[Any, ...], tuple[Any, ...]]:
    switches = fabric.switches
    row = np.full(fabric.nodes, -1, np.int64)
    row[switches] = np.arange(len(switches))
    height = np.empty(len(switches), np.int64)
    height[order] = np.arange(len(switches))[::-1]
    slots = np.flatnonzero(fabric.peer >= 0)
    tail, head = row[fabric.node_of[slots]], row[fabric.node_of[fabric.peer[slots]]]
    kept = (tail >= 0) & (head >= 0) & (tail != head)
    slots, tail, head = slots[kept], tail[kept], head[kept]
    port = slots - fabric.first_slot[fabric.node_of[slots]]
    sides = []
    for upwards in (True, False):
        mine = (height[head] > height[tail]) == upwards
        sides.append(_listed(len(switches), tail[mine], head[mine], port[mine]))
    return order.astype(np.int32), sides[0], sides[1]


def _listed(rows: int, tail: Array, head: Array, port: Array) -> tuple[Array, Array, Array]:
    by = np.lexsort((port, tail))
    first = np.concatenate([[0], np.cumsum(np.bincount(tail, minlength=rows))]).astype(np.int32)
    return first, head[by].astype(np.int32), port[by].astype(np.int32)


def _distances(near: list[list[int]], start: int) -> list[int]:
    far = [-1] * len(near)
    far[start] = 0
    queue = deque([start])
    while queue:
        v = queue.popleft()
        for w in near[v]:
            if far[w] < 0:
                far[w] = far[v] + 1
                queue.append(w)
    return far
