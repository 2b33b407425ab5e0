"""Traffic on a network: arrows from source to destination."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from obliv.topology.topology import Topology
from obliv.view.axes import points_per_unit
from obliv.view.canvas import Canvas
from obliv.view.curves import RADIUS, arc, loop
from obliv.view.layout import Points
from obliv.view.ribbons import ribbons
from obliv.view.style import INK, MANY, SHARES, colours
from obliv.view.witness import Flow

__all__ = ["draw_flows", "flow_lines"]


def draw_flows(on: Canvas, strong: Sequence[Flow], weak: Sequence[Flow]) -> None:
    """Arrows of flows over a network that is drawn already; strong ones stand out, weak ones stay faint."""
    few = on.topology.nodes <= MANY
    if weak:
        faint = _arrows(on, weak, [0.012] * len(weak))
        faint.set(facecolor=INK, alpha=0.28, zorder=4, gid="other flows")
        on.ax.add_collection(faint, autolim=False)
    if strong:
        shares = np.array([share for _, _, share in strong])
        thinnest = 0.02 if few else 0.5 / points_per_unit(on.ax)
        drawn = _arrows(on, strong, (thinnest * (1.0 + 1.5 * shares / shares.max())).tolist())
        drawn.set_cmap(colours("shares", SHARES))
        drawn.set_array(shares)
        drawn.set_clim(0.0, float(shares.max()))
        drawn.set(alpha=0.95 if few else 0.5, zorder=5, gid="flows on the worst channel")
        if few:
            drawn.set(edgecolor="white", linewidth=0.35)
        on.ax.add_collection(drawn, autolim=False)


def flow_lines(topology: Topology, points: Points, flows: Sequence[Flow]) -> list[Points]:
    """The lines of flows, bowed so that they do not run along the channels."""
    lines = []
    for source, destination, _ in flows:
        start, end = (points[int(topology.terminals[terminal])] for terminal in (source, destination))
        far = float(np.hypot(*(end - start)))
        lines.append(loop(start) if far == 0 else arc(start, end, 0.16 + 0.07 * far, 1.1 * RADIUS))
    return lines


def _arrows(on: Canvas, flows: Sequence[Flow], widths: Sequence[float]) -> Any:
    from matplotlib.collections import PathCollection

    lines = flow_lines(on.topology, on.points, flows)
    return PathCollection(ribbons([[line] for line in lines], widths), linewidths=0)
