"""The ports at both ends of the cables that a fat tree lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from obliv.fabric.messages import called, port_count_known
from obliv.fabric.model import Fabric
from obliv.fabric.shape.tree import Shape

__all__ = ["MissingEnd", "missing_ends"]

_LISTED = 4  # free ports that are named


@dataclass(frozen=True)
class MissingEnd:
    """An end of a missing cable: its switch and port (None where it is not known), and both as text."""

    node: int
    port: int | None
    text: str


def missing_ends(fabric: Fabric, shape: Shape) -> Iterator[tuple[MissingEnd, MissingEnd]]:
    """Yield the two ends of every missing cable, the lower one first.

    The port is that by which most other switches of the level are connected to the same switch, if it is free here, or
    the only free port.
    """
    taken: set[tuple[int, int]] = set()  # ports of earlier missing cables
    for lower, upper in shape.missing:
        yield _end(fabric, shape, lower, upper, taken), _end(fabric, shape, upper, lower, taken)


def _end(fabric: Fabric, shape: Shape, node: int, towards: int, taken: set[tuple[int, int]]) -> MissingEnd:
    """Return the end at `node` of a missing cable to `towards`."""
    first, end = int(fabric.first_slot[node]), int(fabric.first_slot[node + 1])
    free = (np.flatnonzero(fabric.ports.peer[first + 1 : end] < 0) + 1).tolist()
    free = [port for port in free if (node, port) not in taken]
    beyond = 1 << 16 if port_count_known(fabric, node) else end - first  # from here on, ports may not be in the file
    usual = _usual_ports(fabric, shape, node, towards)
    port = next((port for port in usual if (port in free or port >= beyond) and (node, port) not in taken), None)
    if port is None and len(free) == 1:
        port = free[0]
    name = called(fabric, node)
    if port is not None:
        taken.add((node, port))
        return MissingEnd(node, port, f"{name} port {port}")
    some = ", ".join(map(str, free[:_LISTED])) + (", ..." if len(free) > _LISTED else "")
    return MissingEnd(node, None, f"{name} (free ports: {some})" if free else f"{name} (no free port)")


def _usual_ports(fabric: Fabric, shape: Shape, node: int, towards: int) -> list[int]:
    """Return the ports by which most other switches of the level of `node` are connected to `towards`."""
    peers = fabric.ports.peer[fabric.first_slot[towards] : fabric.first_slot[towards + 1]]
    peers = peers[peers >= 0]
    owner = fabric.node_of[peers]
    near = peers[(shape.number[owner] >= 0) & (shape.level[owner] == shape.level[node]) & (owner != node)].tolist()
    most = len({int(fabric.node_of[slot]) for slot in near}) / 2
    return [port for port, count in Counter(map(fabric.port_of, near)).most_common() if count > most]
