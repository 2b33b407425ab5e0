"""Lines of channels and flows, from the rim of one node to the rim of another."""

from __future__ import annotations

import numpy as np

from obliv.topologies.axes import Directions
from obliv.topologies.base import Topology
from obliv.view.layout.base import Layout, Points
from obliv.view.layout.places import on_grid

__all__ = ["RADIUS", "arc", "channel_lines", "flow_line", "loop"]

RADIUS = 0.17  # of a node; neighbors are one apart
_BESIDE = 0.085  # from the middle of a link to the line of one direction
_STUB = 0.62  # distance by which a wrap-around channel leaves the grid
_OPEN = 3  # lines from tile to tile would hide larger tiles than this


def channel_lines(topology: Topology, layout: Layout) -> list[list[Points]]:
    """Return the lines of every channel: one from tail to head, or two stubs where it wraps around the network."""
    points = layout.points
    along_axes = topology.directions
    if on_grid(topology) and along_axes is not None:
        ends = zip(points[topology.tail], points[topology.head], strict=True)
        return [_on_grid(topology, along_axes, channel, start, end) for channel, (start, end) in enumerate(ends)]
    lanes: dict[tuple[int, int], int] = {}
    lines = []
    for tail, head in zip(topology.tail.tolist(), topology.head.tolist(), strict=True):
        lane = lanes[tail, head] = lanes.get((tail, head), -1) + 1
        along = None if lane else _along_grid(layout, tail, head)
        if along is not None:
            lines.append(along)
        else:
            lines.append([loop(points[tail]) if tail == head else _link(points[tail], points[head], lane)])
    return lines


def _along_grid(layout: Layout, tail: int, head: int) -> list[Points] | None:
    """Return the lines of a link between neighboring switches on a grid; None for other links."""
    if layout.grid is None or min(tail, head) < layout.hosts:
        return None
    shape, numbers = layout.grid.shape, layout.grid.number
    start, end = int(numbers[tail - layout.hosts]), int(numbers[head - layout.hosts])
    if start < 0:
        return None
    # of two, prefer the one that does not leave the grid
    along = shape.directions
    channels = sorted(shape.channels_between(start, end), key=lambda c: bool(along.wraps[c]))
    return _on_grid(shape, along, channels[0], layout.points[tail], layout.points[head]) if channels else None


def flow_line(start: Points, end: Points, under: float = 0.0) -> Points:
    """Return the line of a flow, bowed away from the channels, or `under` its ends where that space is free."""
    far = float(np.hypot(*(end - start)))
    rise = 0.16 + 0.07 * far
    if far == 0:
        return loop(start)
    if not under:
        return arc(start, end, rise, 1.1 * RADIUS)
    down = np.array([0.0, under])
    return arc(start - down, end - down, rise if end[0] > start[0] else -1.2 * rise - 0.12, 0.0)


def arc(start: Points, end: Points, rise: float, margin: float = RADIUS, steps: int = 24, flat: bool = False) -> Points:
    """Return a curve that bows to the right of its direction by `rise`, cut off at `margin` from both ends.

    If `flat`, it runs parallel to the line between its ends most of the way.
    """
    along = end - start
    far = float(np.hypot(*along))
    across = np.array([along[1], -along[0]]) / far
    t = np.linspace(0.0, 1.0, steps)[:, None]
    bow = 1.0 - (2.0 * t - 1.0) ** 6 if flat else 4.0 * t * (1.0 - t)
    return _cut(start + t * along + bow * rise * across, margin)


def loop(at: Points) -> Points:
    """Return a small loop at a node, for packets that a node sends to itself."""
    angle = np.linspace(-0.35 * np.pi, 1.3 * np.pi, 24)
    radius = 0.8 * RADIUS
    center = at + (RADIUS + 0.55 * radius) * np.array([0.7, 0.7])
    curve: Points = center + radius * np.column_stack([np.cos(angle), np.sin(angle)])
    return curve


def _link(start: Points, end: Points, lane: int) -> Points:
    far = float(np.hypot(*(end - start)))
    if far < 2.5 * RADIUS:  # nodes that almost touch
        return np.array([start, end]) if far else loop(start)
    return arc(start, end, _BESIDE + 0.02 * far + 0.2 * lane, steps=16)


def _on_grid(topology: Topology, along: Directions, channel: int, start: Points, end: Points) -> list[Points]:
    dim = int(along.dim[channel])
    a, b = (topology.coordinates(int(node[channel]))[dim] for node in (topology.tail, topology.head))
    if along.wraps[channel]:
        return _stubs(start, end, dim, float(along.step[channel]))
    if dim < 2 and abs(b - a) == 1:
        return [_beside(start, end)]
    if dim < 2:
        return [arc(start, end, 0.16 + 0.11 * abs(b - a))]
    row, rows = topology.coordinates(int(topology.tail[channel]))[dim % 2], topology.radices[dim % 2]
    if rows > _OPEN or abs(b - a) > 1:
        return _stubs(start, end, dim, 1.0 if b > a else -1.0)
    return [arc(start, end, 0.2 + 0.32 * row / rows, steps=33, flat=True)]  # from tile to tile, between the rows


def _beside(start: Points, end: Points) -> Points:
    step = (end - start) / np.hypot(*(end - start))
    right = _BESIDE * np.array([step[1], -step[0]])
    inset = (RADIUS**2 - _BESIDE**2) ** 0.5
    return np.array([start + right + inset * step, end + right - inset * step])


def _stubs(start: Points, end: Points, dim: int, sign: float) -> list[Points]:
    """Return a wrap-around channel as a line that leaves the grid and one that comes back on the other side."""
    step = np.zeros(2)
    step[dim % 2] = sign
    right = np.array([step[1], -step[0]])
    t = np.linspace(0.0, 1.0, 10)[:, None]
    if dim < 2:
        inset = (RADIUS**2 - _BESIDE**2) ** 0.5
        out = _BESIDE * right + (inset + t * (_STUB - inset)) * step + 0.09 * t**2 * right
    else:  # a tile has no free edge: a short diagonal between the rows
        out = RADIUS * (step + right) / 2**0.5 + t * (0.16 * step + 0.26 * right) - 0.08 * t**2 * step
    back = (out * np.where(step == 0, 1.0, -1.0))[::-1]
    return [start + out, end + back]


def _cut(curve: Points, margin: float) -> Points:
    """Return the part of a curve outside circles around its two ends."""
    near_start = np.hypot(*(curve - curve[0]).T)
    near_end = np.hypot(*(curve - curve[-1]).T)
    inside = np.flatnonzero((near_start > margin) & (near_end > margin))
    if len(inside) == 0:
        return curve
    first, last = int(inside[0]), int(inside[-1])
    cut = [_between(curve[first - 1], curve[first], near_start[first - 1], near_start[first], margin)] if first else []
    tail = []
    if last + 1 < len(curve):
        tail = [_between(curve[last], curve[last + 1], near_end[last], near_end[last + 1], margin)]
    return np.array([*cut, *curve[first : last + 1], *tail])


def _between(one: Points, two: Points, one_distance: float, two_distance: float, margin: float) -> Points:
    share = (margin - one_distance) / (two_distance - one_distance) if two_distance != one_distance else 0.0
    point: Points = one + share * (two - one)
    return point
