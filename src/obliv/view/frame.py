"""The nodes of a network picture, and their names."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv.errors import InputError
from obliv.topology.cartesian import Cartesian
from obliv.topology.topology import Topology
from obliv.view.axes import points_per_unit
from obliv.view.curves import RADIUS
from obliv.view.layout import Points, on_grid
from obliv.view.style import INK, MANY, NODE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Labels", "draw_nodes", "require_labels"]

Labels = str | bool

_SMALLEST = 5.0  # points; smaller text is left out
_NAMED = 60  # so many nodes may carry long names beside them
_AXES = "xyzw"


def require_labels(labels: Labels) -> None:
    """Refuse what is no choice of labels."""
    if labels not in ("auto", True, False):
        raise InputError(f"labels={labels!r}: choose 'auto', True or False")


def draw_nodes(ax: Axes, topology: Topology, points: Points, labels: Labels) -> None:
    """Nodes as discs, switches smaller and filled, with coordinates along the edges or names where they fit."""
    from matplotlib.collections import EllipseCollection

    terminal = np.zeros(topology.nodes, bool)
    terminal[topology.terminals] = True
    size = np.where(terminal, 2.0, 1.5) * RADIUS * (1.0 if topology.nodes <= MANY else 0.8)
    thin = min(0.9, 0.025 * points_per_unit(ax))
    discs = EllipseCollection(
        size,
        size,
        np.zeros(len(size)),
        units="xy",
        offsets=points,
        offset_transform=ax.transData,
        zorder=6 if topology.nodes <= MANY else 2.5,
    )
    discs.set_facecolor([NODE if each else INK for each in terminal])
    discs.set_edgecolor(INK)
    discs.set_linewidth(thin)
    discs.set_gid("nodes")
    ax.add_collection(discs, autolim=False)
    if labels is False:
        return
    if isinstance(topology, Cartesian) and on_grid(topology):
        if len(topology.axes) <= 2:
            _coordinates(ax, topology)
            if labels == "auto":
                return
        elif len(topology.axes) == 3:
            _captions(ax, topology)
    _names(ax, topology, points, terminal, labels)


def _coordinates(ax: Axes, topology: Cartesian) -> None:
    unit = points_per_unit(ax)
    for radix, place, name in zip(topology.radices, (ax.set_xticks, ax.set_yticks), _AXES, strict=False):
        every = next(step for step in (1, 2, 4, 5, 8, 10, 16, 20, 50, 100, 10**9) if step * unit > 14)
        place(range(0, radix, every), labels=[str(at) for at in range(0, radix, every)])
        (ax.set_xlabel if name == "x" else ax.set_ylabel)(name)
    ax.tick_params(length=0, labelsize=8)


def _captions(ax: Axes, topology: Cartesian) -> None:
    kx, _, kz = topology.radices
    if points_per_unit(ax) * kx > 30:
        ax.set_xticks([(kx - 1) / 2 + z * (kx + 0.6) for z in range(kz)], labels=[f"z = {z}" for z in range(kz)])
        ax.tick_params(length=0, labelsize=9)


def _names(ax: Axes, topology: Topology, points: Points, terminal: Any, labels: Labels) -> None:
    from matplotlib.patheffects import withStroke

    names = _short_names(topology)
    longest = max(map(len, names))
    across = 2 * RADIUS * points_per_unit(ax)
    size = min(9.0, 0.92 * across / (0.6 * max(longest, 1.6)))
    if size >= _SMALLEST:
        for node, name in enumerate(names):
            at = float(points[node][0]), float(points[node][1])
            colour = INK if terminal[node] else NODE
            ax.text(*at, name, ha="center", va="center_baseline", fontsize=size, color=colour, zorder=8)
    elif labels is True or topology.nodes <= _NAMED:
        halo = [withStroke(linewidth=2.0, foreground="white")]
        for node in range(topology.nodes):
            at = float(points[node][0]), float(points[node][1]) - 1.15 * RADIUS
            name = topology.name_of(node)
            ax.text(*at, name, ha="center", va="top", fontsize=7, color=INK, zorder=8, path_effects=halo)


def _short_names(topology: Topology) -> list[str]:
    """Coordinates without brackets where they are few and have one digit, as ``012``; else number or name."""
    if isinstance(topology, Cartesian) and len(topology.axes) > 4:
        return [str(node) for node in range(topology.nodes)]
    if isinstance(topology, Cartesian) and max(topology.radices) <= 10:
        digits = product(*(range(radix) for radix in reversed(topology.radices)))
        return ["".join(map(str, reversed(each))) for each in digits]
    return [topology.name_of(node) for node in range(topology.nodes)]
