"""Places of the names of nodes: upright below the lowest row, or beside their nodes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv.view.axes import points_per_unit
from obliv.view.figures import figure_of
from obliv.view.labels import Box, box_beside, box_of, overlap, size_of
from obliv.view.layout.base import Points
from obliv.view.layout.curves import RADIUS
from obliv.view.literal import LITERAL
from obliv.view.style import ACCENT, INK, NODE

if TYPE_CHECKING:
    from obliv.view.network.canvas import Canvas

__all__ = ["stand_beside", "stand_upright"]

_Place = tuple[float, tuple[int, int], Box]  # of a name: cost, side and box

_GAP = 1.15  # from the center of a node to its name, in radii

# Places of a name, and their cost; the place below the node is preferred.
_SIDES = {
    (0, -1): 0.0, (0, 1): 2.0, (1, 0): 4.0, (-1, 0): 4.0, (1, -1): 6.0, (-1, -1): 6.0, (1, 1): 6.0, (-1, 1): 6.0,
}  # fmt: skip
_STEP, _MOST_STEPS = 0.05, 300_000
_OVER_NAME, _OVER_NODE, _OVER_HOT = 400.0, 150.0, 20.0  # cost of covering them; a step of a line costs 1
_OVER_END = 1000.0  # the same as for a node, for the names that are never left out


def stand_upright(on: Canvas, names: Mapping[int, str], size: float) -> None:
    """Write names upright under their nodes."""
    for node, name in names.items():
        at = float(on.points[node][0]), float(on.points[node][1]) - _GAP * RADIUS - 1.5 / points_per_unit(on.ax)
        _write(on, node, at, name, 1.5, fontsize=size, rotation=90, ha="center", va="top")


def stand_beside(on: Canvas, names: Mapping[int, str], size: float) -> None:
    """Write each name below its node, or on the side where it covers the least: names and nodes, then lines.

    A name that still covers a node or another name is left out, unless it is in ``on.ends`` or all names were
    requested.
    """
    if not names:
        return
    taken = [box_of(text) for text in on.ax.texts]
    at = {node: (float(on.points[node][0]), float(on.points[node][1])) for node in names}
    texts = {node: _write(on, node, at[node], name, 3.0, fontsize=size) for node, name in names.items()}
    on.ax.apply_aspect()
    options = _options(on, {node: size_of(text) for node, text in texts.items()}, taken)
    chosen = {node: places[0] for node, places in options.items()}
    for _ in range(3):  # a name that moves may free a place for another
        for node, places in options.items():
            others = [box for other, (_, _, box) in chosen.items() if other != node]
            costs = [cost + _OVER_NAME * sum(overlap(box, text) for text in others) for cost, _, box in places]
            chosen[node] = places[int(np.argmin(costs))]
    chosen |= _parted({node: chosen[node] for node in on.ends if node in chosen}, size * figure_of(on.ax).dpi / 72.0)
    back = on.ax.transData.inverted()
    middles = on.ax.transData.transform(on.points)
    for node in sorted(chosen, key=lambda node: node not in on.ends):
        _, side, box = chosen[node]
        bad = _inside(middles, box) or any(overlap(box, other) for other in taken)
        if bad and on.labels is not True and node not in on.ends:
            texts[node].remove()
            continue
        taken.append(box)
        across, up = ("right", "center", "left")[side[0] + 1], ("top", "center", "bottom")[side[1] + 1]
        x = {"left": box[0], "center": (box[0] + box[2]) / 2, "right": box[2]}[across]
        y = {"bottom": box[1], "center": (box[1] + box[3]) / 2, "top": box[3]}[up]
        texts[node].set(ha=across, va=up, position=tuple(back.transform((x, y))))


def _parted(chosen: Mapping[int, _Place], letter: float) -> dict[int, _Place]:
    """Move the names at the two ends of a channel apart by up to a letter each, where they would read as one."""
    if len(chosen) != 2:
        return {}
    left, right = sorted(chosen, key=lambda node: chosen[node][2])
    one, two = chosen[left][2], chosen[right][2]
    step = min(letter, (one[2] + letter - two[0]) / 2)
    if step <= 0 or one[3] <= two[1] or two[3] <= one[1]:
        return {}
    moved = {}
    for node, way in ((left, -step), (right, step)):
        cost, side, box = chosen[node]
        moved[node] = cost, side, (box[0] + way, box[1], box[2] + way, box[3])
    return moved


def _write(on: Canvas, node: int, at: tuple[float, float], name: str, rim: float, **look: Any) -> Any:
    """Write a name with a white rim; names at the highlighted channel have its color."""
    from matplotlib.patheffects import withStroke

    white = withStroke(linewidth=rim, foreground=NODE, alpha=0.95 if node in on.ends else 0.85)
    look |= {"color": ACCENT, "weight": "bold", "zorder": 10} if node in on.ends else {"color": INK, "zorder": 8}
    return on.ax.text(at[0], at[1], name, path_effects=[white], **look, **LITERAL)


def _options(on: Canvas, sizes: Mapping[int, tuple[float, float]], taken: list[Box]) -> dict[int, list[_Place]]:
    """Return for every name its possible places: cost, side and box."""
    gap = _GAP * RADIUS * points_per_unit(on.ax) * figure_of(on.ax).dpi / 72.0
    middles, rim = on.ax.transData.transform(on.points), gap / _GAP
    steps = on.ax.transData.transform(_steps([*chain.from_iterable(on.lines), *on.flows.values()]))
    hot = on.ax.transData.transform(_steps([] if on.hot is None else on.lines[on.hot]))
    options = {}
    for node, size in sizes.items():
        places = []
        for side, dislike in _SIDES.items():
            reach = gap * (1.0 if 0 in side else 0.8)
            box = box_beside(middles[node], size, (side[0] * reach, side[1] * reach))
            nodes = _inside(middles, (box[0] - rim, box[1] - rim, box[2] + rim, box[3] + rim))
            covered = (_OVER_END if node in on.ends else _OVER_NODE) * nodes
            cost = dislike + covered + _inside(steps, box) + _OVER_HOT * _inside(hot, box)
            places.append((cost + _OVER_NAME * sum(overlap(box, other) for other in taken), side, box))
        options[node] = places
    return options


def _inside(points: Points, box: Box) -> int:
    x, y = points.T
    return int(((x > box[0]) & (x < box[2]) & (y > box[1]) & (y < box[3])).sum())


def _steps(lines: list[Points]) -> Points:
    """Return points along lines, a twentieth apart, or further where there would be too many."""
    points = [np.zeros((0, 2))]
    lengths = [np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))]) for line in lines]
    step = max(_STEP, sum(float(length[-1]) for length in lengths) / _MOST_STEPS)
    for line, at in zip(lines, lengths, strict=True):
        steps = np.arange(0.0, at[-1], step)
        points.append(np.column_stack([np.interp(steps, at, line[:, axis]) for axis in (0, 1)]))
    return np.vstack(points)
