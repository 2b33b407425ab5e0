"""Nodes of a network picture, and coordinates along its edges."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.text import plural
from obliv._util.typing import Array
from obliv.topologies.base import Topology
from obliv.view.axes import points_per_unit
from obliv.view.layout.curves import RADIUS
from obliv.view.layout.places import on_grid
from obliv.view.network.names import draw_names
from obliv.view.style import INK, MANY, NODE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from obliv.view.network.canvas import Canvas

__all__ = ["draw_missing", "draw_nodes", "node_signs"]

_AXES = "xyzw"


def draw_nodes(on: Canvas) -> None:
    """Draw nodes as discs, routers smaller and filled, with coordinates along the edges or names where they fit."""
    ax, topology = on.ax, on.topology
    terminal = np.zeros(topology.nodes, bool)
    terminal[topology.terminals] = True
    size = np.where(terminal, 2.0, 1.5) * RADIUS * (1.0 if topology.nodes <= MANY else 0.8)
    _discs(on, np.arange(topology.nodes), size, [NODE if sends else INK for sends in terminal], "nodes")
    other = topology.terminals[_other_rates(topology)]
    if len(other):
        _discs(on, other, 1.4 * size[other], "none", "rates")
    if on.labels is False:
        return
    if on_grid(topology):
        if len(topology.axes) <= 2:
            _coordinates(ax, topology)
            if on.labels == "auto":
                return
        elif len(topology.axes) == 3:
            _captions(ax, topology)
    draw_names(on, terminal)


def _discs(on: Canvas, nodes: Array, size: Array, colors: list[str] | str, gid: str) -> None:
    """Draw a disc at each of some nodes, with a rim."""
    from matplotlib.collections import EllipseCollection

    discs = EllipseCollection(
        size,
        size,
        np.zeros(len(size)),
        units="xy",
        offsets=on.points[nodes],
        offset_transform=on.ax.transData,
        zorder=6 if on.topology.nodes <= MANY else 2.5,
        facecolors=colors,
        edgecolors=INK,
        linewidths=min(0.9, 0.025 * points_per_unit(on.ax)),
        gid=gid,
    )
    on.ax.add_collection(discs, autolim=False)


def draw_missing(on: Canvas) -> list[Any]:
    """Draw a dotted line for every cable that a fat tree lacks, and return their entry of the key, if there are any."""
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    hint = on.topology.layout_hint()
    if hint is None or not hint.missing:
        return []
    look: dict[str, Any] = {"color": INK, "linewidth": 1.3, "linestyle": (0, (1.0, 2.0))}
    lines = LineCollection([on.points[list(pair)] for pair in hint.missing], zorder=5.2, gid="missing cables", **look)
    on.ax.add_collection(lines, autolim=False)
    return [Line2D([], [], label=plural(len(hint.missing), "missing cable"), **look)]


def node_signs(topology: Topology) -> list[Any]:
    """Return the key of the discs, if there are several kinds, and of the rings."""
    from matplotlib.lines import Line2D

    look: dict[str, Any] = {"linestyle": "none", "marker": "o", "color": INK, "markeredgewidth": 0.9}
    rings = []
    if (other := _other_rates(topology)).any():
        rates = {pair for pair, marked in zip(zip(*topology.rates(), strict=True), other, strict=True) if marked}
        one = len(rates) == 1
        label = "sends {} and takes {}".format(*next(iter(rates))) if one else "sends or takes other rates"
        ring = look | {
            "marker": "$\u25ce$",
            "markersize": 13,
            "markeredgewidth": 0.2,
        }  # a circle in a circle, as on the network
        rings = [Line2D([], [], label=label, **ring)]
    if topology.all_terminals:
        return rings
    cabled = topology.channels > 0 and any(topology.port_names(0))
    terminal, router = ("host", "switch") if cabled else ("terminal", "router")
    return [
        *rings,
        Line2D([], [], markerfacecolor=NODE, markersize=8, label=f"{terminal} (sends and takes packets)", **look),
        Line2D([], [], markersize=6, label=f"{router} (passes packets on)", **look),
    ]


def _other_rates(topology: Topology) -> Array:
    """Return which terminals send or take other rates than most of them."""
    rates = list(zip(*topology.rates(), strict=True))
    most = Counter(rates).most_common(1)[0][0] if rates else None
    return np.array([pair != most for pair in rates], bool)


def _coordinates(ax: Axes, topology: Topology) -> None:
    unit = points_per_unit(ax)
    for radix, set_ticks, name in zip(topology.radices, (ax.set_xticks, ax.set_yticks), _AXES, strict=False):
        step = next(step for step in (1, 2, 4, 5, 8, 10, 16, 20, 50, 100, 10**9) if step * unit > 14)
        set_ticks(range(0, radix, step), labels=[str(at) for at in range(0, radix, step)])
        (ax.set_xlabel if name == "x" else ax.set_ylabel)(name)
    ax.tick_params(length=0, labelsize=8)


def _captions(ax: Axes, topology: Topology) -> None:
    kx, _, kz = topology.radices
    if points_per_unit(ax) * kx > 30:
        ax.set_xticks([(kx - 1) / 2 + z * (kx + 0.6) for z in range(kz)], labels=[f"z = {z}" for z in range(kz)])
        ax.tick_params(length=0, labelsize=9)
