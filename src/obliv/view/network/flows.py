"""Traffic on a network: arrows from source to destination."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from obliv.view.axes import points_per_unit
from obliv.view.network.canvas import Canvas
from obliv.view.network.ribbons import add_ribbons
from obliv.view.network.witness import Flow
from obliv.view.style import INK, MANY, NODE, SHARES, colormap

__all__ = ["draw_flows", "flow_sign"]

_THINNEST = 0.6  # points
_OPAQUE = 60  # flows; more flows over a large network are translucent
_SHARES = SHARES[:5]  # the last one is for the strongest flow, often for all; the key shows it


def flow_sign(on: Canvas, strong: Sequence[Flow], label: str) -> Any:
    """Return the key of the flows on the worst channel: a line in the color of the strongest."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=_SHARES[-1], alpha=_alpha(on, strong), linewidth=2.2, label=label)


def draw_flows(on: Canvas, strong: Sequence[Flow], weak: Sequence[Flow]) -> None:
    """Draw flows as arrows over the network, strong flows in color, weak flows faint."""
    few = on.topology.nodes <= MANY
    if weak:
        lines = [[on.flows[flow]] for flow in weak]
        add_ribbons(on.ax, lines, [0.012] * len(weak), "other flows", facecolors=INK, alpha=0.28, zorder=4)
    if strong:
        shares = np.array([share for _, _, share in strong])
        thinnest = max(0.02 if few else 0.0, _THINNEST / points_per_unit(on.ax))
        lines, widths = [[on.flows[flow]] for flow in strong], thinnest * (1.0 + 1.5 * shares / shares.max())
        colors = {"cmap": colormap("shares", _SHARES), "array": shares, "clim": (0.0, float(shares.max()))}
        look = {"alpha": _alpha(on, strong), "zorder": 5, **colors}
        arrows = add_ribbons(on.ax, lines, widths.tolist(), "flows on the worst channel", **look)
        if few and thinnest == 0.02:
            arrows.set(edgecolor=NODE, linewidth=0.35)


def _alpha(on: Canvas, strong: Sequence[Flow]) -> float:
    """Return the opacity: many arrows over a large network are translucent."""
    return 0.95 if on.topology.nodes <= MANY or len(strong) <= _OPAQUE else 0.5
