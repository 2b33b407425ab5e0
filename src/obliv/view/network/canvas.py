"""An empty picture of a network: axes that hold its nodes, its channels' lines and what else will be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from obliv.topologies.base import Topology
from obliv.view.axes import points_per_unit, require_matplotlib, room
from obliv.view.layout.curves import RADIUS, channel_lines, flow_line
from obliv.view.layout.places import Points
from obliv.view.network.cables import ends_of
from obliv.view.network.names import Labels, Names, names_of, require_labels
from obliv.view.network.witness import Flow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Canvas", "canvas"]


@dataclass(frozen=True)
class Canvas:
    """Where things stand: ``points`` of the nodes, ``lines`` of each channel and of each of the ``flows``.

    ``own`` says whether we made the figure; ``hot`` is the channel that will be pointed out, and ``ends`` what is said
    of its ends beside their names.
    """

    topology: Topology
    points: Points
    lines: list[list[Points]]
    ax: Axes
    own: bool
    labels: Labels
    names: Names
    hot: int | None = None
    ends: dict[int, str] = field(default_factory=dict)
    flows: dict[Flow, Points] = field(default_factory=dict)


def canvas(
    topology: Topology,
    points: Points,
    ax: Axes | None,
    labels: Labels,
    flows: Sequence[Flow] = (),
    hot: int | None = None,
) -> Canvas:
    """Axes of one scale in both directions with room for a network and for the lines of `flows`."""
    require_matplotlib()
    require_labels(labels)
    lines = channel_lines(topology, points)
    ends = {} if hot is None else ends_of(topology, hot)
    box = _box(points, list(chain.from_iterable(lines)))
    made, unit = ax, 72.0 * _inches(box)
    if made is not None:
        _set_up(made, box)
        unit = points_per_unit(made)
    names = names_of(topology, points, unit, labels, ends)
    drawn = {each: _flow(each, topology, points, names) for each in flows}
    if drawn:
        box = _box(points, [*chain.from_iterable(lines), *drawn.values()])
    made = room(ax, *((box[1] - box[0]) * _inches(box)))
    _set_up(made, box)
    return Canvas(topology, points, lines, made, ax is None, labels, names, hot, ends, drawn)


def _flow(flow: Flow, topology: Topology, points: Points, names: Names) -> Points:
    source, destination = (int(topology.terminals[each]) for each in flow[:2])
    under = names.under if {source, destination} <= names.row else 0.0
    return flow_line(points[source], points[destination], under)


def _box(points: Points, lines: Sequence[Points]) -> Points:
    """The lower left and the upper right corner of what holds discs at the points, and the lines."""
    everything = np.vstack([points - RADIUS, points + RADIUS, *lines])
    return np.array([everything.min(axis=0) - 0.1, everything.max(axis=0) + 0.1])


def _inches(box: Points) -> float:
    """The length of a data unit in a figure of our own."""
    width, height = box[1] - box[0]
    return float(min(max(0.75, min(1.1, 3.2 / max(width, height))), 11.0 / width, 7.0 / height))


def _set_up(ax: Axes, box: Points) -> None:
    (left, low), (right, high) = box.tolist()
    ax.set_aspect("equal")
    ax.set_xlim(left, right)
    ax.set_ylim(low, high)
    ax.set_xticks([])
    ax.set_yticks([])
    for side in ax.spines.values():
        side.set_visible(False)
