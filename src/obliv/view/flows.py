"""Traffic on a network: arrows from source to destination."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv.topology.topology import Topology
from obliv.view.axes import points_per_unit
from obliv.view.curves import RADIUS, arc, loop
from obliv.view.layout import Points, place
from obliv.view.ribbons import ribbons
from obliv.view.style import INK, MANY, SHARES, colours
from obliv.view.witness import Flow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_flows"]


def draw_flows(ax: Axes, topology: Topology, strong: Sequence[Flow], weak: Sequence[Flow]) -> None:
    """Arrows of flows over a network that is drawn already; strong ones stand out, weak ones stay faint."""
    points = place(topology)
    few = topology.nodes <= MANY
    if weak:
        faint = _arrows(topology, points, weak, [0.012] * len(weak))
        faint.set(facecolor=INK, alpha=0.28, zorder=4, gid="other flows")
        ax.add_collection(faint, autolim=False)
    if strong:
        shares = np.array([share for _, _, share in strong])
        thinnest = 0.02 if few else 0.8 / points_per_unit(ax)
        drawn = _arrows(topology, points, strong, (thinnest * (1.0 + 1.5 * shares / shares.max())).tolist())
        drawn.set_cmap(colours("shares", SHARES))
        drawn.set_array(shares)
        drawn.set_clim(0.0, float(shares.max()))
        drawn.set(alpha=0.95 if few else 0.6, zorder=5, gid="flows on the worst channel")
        if few:
            drawn.set(edgecolor="white", linewidth=0.35)
        ax.add_collection(drawn, autolim=False)


def _arrows(topology: Topology, points: Points, flows: Sequence[Flow], widths: Sequence[float]) -> Any:
    from matplotlib.collections import PathCollection

    lines = []
    for source, destination, _ in flows:
        start, end = (points[int(topology.terminals[terminal])] for terminal in (source, destination))
        far = float(np.hypot(*(end - start)))
        lines.append([loop(start) if far == 0 else arc(start, end, 0.16 + 0.07 * far, 1.1 * RADIUS)])
    return PathCollection(ribbons(lines, widths), linewidths=0)
