"""The canvas of a network picture: axes with room for its nodes, the lines of its channels and its flows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from obliv.topologies.base import Topology
from obliv.view.axes import most_inches, points_per_unit, room
from obliv.view.figures import require_matplotlib
from obliv.view.layout.base import Points
from obliv.view.layout.curves import RADIUS, channel_lines, flow_line
from obliv.view.layout.places import layout_of
from obliv.view.network.names import Labels, Names, names_of, require_labels
from obliv.view.network.ports import port_suffixes
from obliv.view.network.witness import Flow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Canvas", "bare_axes", "canvas"]


@dataclass(frozen=True)
class Canvas:
    """Axes and positions for a picture of a network.

    Parameters
    ----------
    topology : Topology
        The network.
    points : float array, shape (nodes, 2)
        Positions of the nodes.
    lines : list of lists of arrays
        The lines of every channel.
    ax : matplotlib.axes.Axes
        The axes.
    own : bool
        Whether the figure was created here and may be resized.
    labels : {"auto", True, False}
        Which names were requested.
    names : Names
        The names and their places.
    hot : int, optional
        The channel to highlight.
    ends : dict
        Suffixes of the names of its two end nodes: their ports.
    flows : dict
        The line of every flow.
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
    ax: Axes | None,
    labels: Labels,
    flows: Sequence[Flow] = (),
    hot: int | None = None,
) -> Canvas:
    """Return axes of one scale in both directions with room for a network and for the lines of `flows`."""
    require_matplotlib()
    require_labels(labels)
    layout = layout_of(topology)
    points, lines = layout.points, channel_lines(topology, layout)
    ends = {} if hot is None else port_suffixes(topology, hot)
    box = _box(points, list(chain.from_iterable(lines)))
    unit = 72.0 * _inches(box)
    if ax is not None:
        bare_axes(ax, box)
        unit = points_per_unit(ax)
    names = names_of(topology, points, unit, labels, ends)
    curves = {flow: _flow(flow, topology, points, names) for flow in flows}
    if curves:
        box = _box(points, [*chain.from_iterable(lines), *curves.values()])
    own = ax is None
    ax = room(ax, *((box[1] - box[0]) * _inches(box)))
    bare_axes(ax, box)
    return Canvas(topology, points, lines, ax, own, labels, names, hot, ends, curves)


def _flow(flow: Flow, topology: Topology, points: Points, names: Names) -> Points:
    source, destination = (int(topology.terminals[end]) for end in flow[:2])
    under = names.under if {source, destination} <= names.row else 0.0
    return flow_line(points[source], points[destination], under)


def _box(points: Points, lines: Sequence[Points]) -> Points:
    """Return the lower left and the upper right corner of the box around all nodes and lines."""
    everything = np.vstack([points - RADIUS, points + RADIUS, *lines])
    return np.array([everything.min(axis=0) - 0.1, everything.max(axis=0) + 0.1])


def _inches(box: Points) -> float:
    """Return the length of a data unit in a new figure, in inches."""
    width, height = box[1] - box[0]
    return float(min(max(0.75, min(1.1, 3.2 / max(width, height))), most_inches() / width, 7.0 / height))


def bare_axes(ax: Axes, box: Points) -> None:
    """Set the limits of axes to a box, at one scale in both directions, without ticks and frame."""
    (left, low), (right, high) = box.tolist()
    ax.set_aspect("equal")
    ax.set_xlim(left, right)
    ax.set_ylim(low, high)
    ax.set_xticks([])
    ax.set_yticks([])
    for side in ax.spines.values():
        side.set_visible(False)
