"""The drawing of a network for a page: places of nodes and lines of channels, rounded and with few points."""

from __future__ import annotations

from typing import Any

import numpy as np

from obliv.errors import TooLargeError
from obliv.topologies.base import Topology
from obliv.view.layout.base import Points
from obliv.view.layout.curves import RADIUS, channel_lines
from obliv.view.layout.places import layout_of
from obliv.view.network.names import short_names

__all__ = ["drawn_channels", "require_drawable"]

_CURVED = 8_000  # channels; those of larger networks are straight lines
_CLOSE = 0.008  # largest distance between a line and what is drawn of it; neighbors are one apart
_DIGITS = 3


def require_drawable(topology: Topology, most: int) -> None:
    """Raise TooLargeError for a network with more nodes or channels than a page draws."""
    if max(topology.channels, topology.nodes) > most:
        raise TooLargeError(
            f"{topology.spec} has {topology.nodes:,} nodes and {topology.channels:,} channels; "
            f"up to {most:,} of each are drawn"
        )


def _drawn_nodes(topology: Topology, points: Points) -> list[dict[str, Any]]:
    """Return the place, the name and the terminal's number of every node; y grows downwards."""
    places = np.round(points * [1.0, -1.0], _DIGITS).tolist()
    short = short_names(topology)
    nodes = []
    for v, ((x, y), terminal) in enumerate(zip(places, topology.number_of.tolist(), strict=True)):
        name = topology.name_of(v)
        node = {"x": x, "y": y, "name": name, "terminal": None if terminal < 0 else terminal}
        nodes.append(node if short[v] == name else node | {"short": short[v]})
    return nodes


def drawn_channels(topology: Topology) -> tuple[list[dict[str, Any]], list[dict[str, Any]], float]:
    """Return nodes and channels of a network, and the radius of a node.

    The lines of a channel are lists x, y, x, y ...; there are none where it is a straight line between its nodes.
    """
    layout = layout_of(topology)
    lines = channel_lines(topology, layout) if topology.channels <= _CURVED else []
    channels = []
    for c, (tail, head) in enumerate(zip(topology.tail.tolist(), topology.head.tolist(), strict=True)):
        channel: dict[str, Any] = {"tail": tail, "head": head, "bandwidth": str(topology.bandwidth_of(c))}
        if lines:
            channel["lines"] = [
                np.round(_simplified(line) * [1.0, -1.0], _DIGITS).ravel().tolist() for line in lines[c]
            ]
        ports = topology.port_names(c)
        channels.append(channel | {"ports": list(ports)} if any(ports) else channel)
    return _drawn_nodes(topology, layout.points), channels, RADIUS


def _simplified(line: Points) -> Points:
    """Return a line through a few of its points, which stays close to all of them (Douglas and Peucker)."""
    kept = [0, len(line) - 1]
    waiting = [(0, len(line) - 1)]
    while waiting:
        first, last = waiting.pop()
        if last - first < 2:
            continue
        start, along = line[first], line[last] - line[first]
        inner = line[first + 1 : last] - start
        length = float(np.hypot(*along))
        off = np.abs(inner[:, 0] * along[1] - inner[:, 1] * along[0]) / length if length else np.hypot(*inner.T)
        farthest = int(off.argmax())
        if off[farthest] > _CLOSE:
            middle = first + 1 + farthest
            kept.append(middle)
            waiting += [(first, middle), (middle, last)]
    return line[sorted(kept)]
