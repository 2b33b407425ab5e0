"""An empty picture of a network: axes that hold its nodes, its channels' lines and what else will be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from obliv.topology.topology import Topology
from obliv.view.axes import require_matplotlib, room
from obliv.view.curves import RADIUS, channel_lines
from obliv.view.layout import Points
from obliv.view.names import Labels, require_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Canvas", "canvas"]


@dataclass(frozen=True)
class Canvas:
    """Where things stand: ``points`` of the nodes, ``lines`` of each channel, ``more`` lines that will be drawn.

    ``own`` says whether we made the figure.
    """

    topology: Topology
    points: Points
    lines: list[list[Points]]
    more: Sequence[Points]
    ax: Axes
    own: bool
    labels: Labels


def canvas(topology: Topology, points: Points, ax: Axes | None, labels: Labels, more: Sequence[Points] = ()) -> Canvas:
    """Axes of one scale in both directions with room for a network and for `more` lines."""
    require_matplotlib()
    require_labels(labels)
    lines = channel_lines(topology, points)
    everything = np.vstack([points - RADIUS, points + RADIUS, *chain.from_iterable(lines), *more])
    low, high = everything.min(axis=0) - 0.1, everything.max(axis=0) + 0.1
    width, height = high - low
    inches = min(max(0.75, min(1.1, 3.2 / max(width, height))), 11.0 / width, 7.0 / height)
    made = room(ax, width * inches, height * inches)
    made.set_aspect("equal")
    made.set_xlim(low[0], high[0])
    made.set_ylim(low[1], high[1])
    made.set_xticks([])
    made.set_yticks([])
    for side in made.spines.values():
        side.set_visible(False)
    return Canvas(topology, points, lines, more, made, ax is None, labels)
