"""The names of the nodes of a network: in their discs where they fit, else beside them."""

from __future__ import annotations

from itertools import chain, product
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv.errors import InputError
from obliv.topology.cartesian import Cartesian
from obliv.topology.topology import Topology
from obliv.view.axes import figure_of, points_per_unit
from obliv.view.curves import RADIUS
from obliv.view.labels import Box, box_beside, overlap, size_of
from obliv.view.layout import Points
from obliv.view.style import INK, NODE

if TYPE_CHECKING:
    from obliv.view.canvas import Canvas

__all__ = ["Labels", "draw_names", "require_labels"]

Labels = str | bool

_SMALLEST = 5.0  # points; smaller text is left out
_GAP = 1.15  # from the middle of a node to its name, in radii
_NAMED = 60  # so many nodes may carry long names beside them

# Where a name may stand, and how much is to be gained before it leaves its place below the node.
_WAYS = {
    (0, -1): 0.0, (0, 1): 2.0, (1, 0): 4.0, (-1, 0): 4.0, (1, -1): 6.0, (-1, -1): 6.0, (1, 1): 6.0, (-1, 1): 6.0,
}  # fmt: skip
_OVER_NAME, _OVER_NODE = 400.0, 150.0  # what it costs to cover a name or a node; a step of a line costs 1


def require_labels(labels: Labels) -> None:
    """Refuse what is no choice of labels."""
    if labels not in ("auto", True, False):
        raise InputError(f"labels={labels!r}: choose 'auto', True or False")


def draw_names(on: Canvas, terminal: Any) -> None:
    """Names above everything else that is drawn; long ones only where nodes are few, or when asked for."""
    names = _short_names(on.topology)
    longest = max(len(name) - 0.5 * name.count(",") for name in names)
    across = 2 * RADIUS * points_per_unit(on.ax)
    size = min(9.0, 0.92 * across / (0.6 * max(longest, 1.6)))
    if size >= _SMALLEST:
        for node, name in enumerate(names):
            at = float(on.points[node][0]), float(on.points[node][1])
            colour = INK if terminal[node] else NODE
            on.ax.text(*at, name, ha="center", va="center_baseline", fontsize=size, color=colour, zorder=8)
    elif on.labels is True or on.topology.nodes <= _NAMED:
        _beside(on)


def _beside(on: Canvas) -> None:
    """Each name below its node, or on a side where it covers less: names and nodes above all, then lines."""
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=3.0, foreground="white", alpha=0.85)]
    texts = []
    for node in range(on.topology.nodes):
        at = float(on.points[node][0]), float(on.points[node][1])
        name = on.topology.name_of(node)
        texts.append(on.ax.text(*at, name, fontsize=7, color=INK, zorder=8, path_effects=halo))
    on.ax.apply_aspect()
    gap = _GAP * RADIUS * points_per_unit(on.ax) * figure_of(on.ax).dpi / 72.0
    middles = on.ax.transData.transform(on.points)
    rim = gap / _GAP
    discs = [(x - rim, y - rim, x + rim, y + rim) for x, y in middles]
    steps = on.ax.transData.transform(_steps(on))
    chosen: list[tuple[float, tuple[int, int], Box]] = []
    options = []
    for node, text in enumerate(texts):
        made = []
        for way, dislike in _WAYS.items():
            reach = gap * (1.0 if 0 in way else 0.8)
            box = box_beside(middles[node], size_of(text), (way[0] * reach, way[1] * reach))
            nodes = sum(overlap(box, disc) for disc in discs)
            made.append((dislike + _OVER_NODE * nodes + _covered(box, steps), way, box))
        options.append(made)
        chosen.append(made[0])
    for _ in range(3):  # a name that moves may make room for another one
        for node, made in enumerate(options):
            others = [box for other, (_, _, box) in enumerate(chosen) if other != node]
            costs = [cost + _OVER_NAME * sum(overlap(box, each) for each in others) for cost, _, box in made]
            chosen[node] = made[int(np.argmin(costs))]
    back = on.ax.transData.inverted()
    for text, (_, way, box) in zip(texts, chosen, strict=True):
        across, up = ("right", "center", "left")[way[0] + 1], ("top", "center", "bottom")[way[1] + 1]
        x = {"left": box[0], "center": (box[0] + box[2]) / 2, "right": box[2]}[across]
        y = {"bottom": box[1], "center": (box[1] + box[3]) / 2, "top": box[3]}[up]
        text.set(ha=across, va=up, position=tuple(back.transform((x, y))))


def _covered(box: Box, steps: Points) -> int:
    x, y = steps.T
    return int(((x > box[0]) & (x < box[2]) & (y > box[1]) & (y < box[3])).sum())


def _steps(on: Canvas) -> Points:
    """Points along all lines, a twentieth apart."""
    found = []
    for line in (*chain.from_iterable(on.lines), *on.more):
        at = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
        every = np.arange(0.0, at[-1], 0.05)
        found.append(np.column_stack([np.interp(every, at, line[:, axis]) for axis in (0, 1)]))
    return np.vstack(found) if found else np.zeros((0, 2))


def _short_names(topology: Topology) -> list[str]:
    """Coordinates without brackets where they are few, as ``0,1,2``; else number or name."""
    if not isinstance(topology, Cartesian):
        return [topology.name_of(node) for node in range(topology.nodes)]
    if len(topology.axes) > 4:
        return [str(node) for node in range(topology.nodes)]
    places = product(*(range(radix) for radix in reversed(topology.radices)))
    return [",".join(map(str, reversed(each))) for each in places]
