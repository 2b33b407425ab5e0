"""Where the names of nodes stand: upright below the lowest row, else beside their nodes, clear of what is there."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv.view.axes import figure_of, points_per_unit
from obliv.view.labels import Box, box_beside, box_of, overlap, size_of
from obliv.view.layout.base import Points
from obliv.view.layout.curves import RADIUS
from obliv.view.literal import LITERAL
from obliv.view.style import ACCENT, INK

if TYPE_CHECKING:
    from obliv.view.network.canvas import Canvas

__all__ = ["stand_beside", "stand_upright"]

_GAP = 1.15  # from the middle of a node to its name, in radii

# Where a name may stand, and how much is to be gained before it leaves its place below the node.
_WAYS = {
    (0, -1): 0.0, (0, 1): 2.0, (1, 0): 4.0, (-1, 0): 4.0, (1, -1): 6.0, (-1, -1): 6.0, (1, 1): 6.0, (-1, 1): 6.0,
}  # fmt: skip
_STEP, _MOST_STEPS = 0.05, 300_000
_OVER_NAME, _OVER_NODE, _OVER_HOT = 400.0, 150.0, 20.0  # what it costs to cover them; a step of a line costs 1


def stand_upright(on: Canvas, names: Mapping[int, str], size: float) -> None:
    """Names that are read from below to above, each under its node."""
    for node, name in names.items():
        at = float(on.points[node][0]), float(on.points[node][1]) - _GAP * RADIUS - 1.5 / points_per_unit(on.ax)
        _write(on, node, at, name, 1.5, fontsize=size, rotation=90, ha="center", va="top")


def stand_beside(on: Canvas, names: Mapping[int, str], size: float) -> None:
    """Each name below its node, or on a side where it covers less: names and nodes above all, then lines.

    Of names that cover each other one is left out, and those on a node, unless all were asked for; ``on.ends`` stay.
    """
    if not names:
        return
    taken = [box_of(each) for each in on.ax.texts]
    at = {node: (float(on.points[node][0]), float(on.points[node][1])) for node in names}
    texts = {node: _write(on, node, at[node], name, 3.0, fontsize=size) for node, name in names.items()}
    on.ax.apply_aspect()
    options = _options(on, {node: size_of(text) for node, text in texts.items()}, taken)
    chosen = {node: made[0] for node, made in options.items()}
    for _ in range(3):  # a name that moves may make room for another one
        for node, made in options.items():
            others = [box for other, (_, _, box) in chosen.items() if other != node]
            costs = [cost + _OVER_NAME * sum(overlap(box, each) for each in others) for cost, _, box in made]
            chosen[node] = made[int(np.argmin(costs))]
    back = on.ax.transData.inverted()
    middles = on.ax.transData.transform(on.points)
    for node in sorted(chosen, key=lambda node: node not in on.ends):
        _, way, box = chosen[node]
        bad = _inside(middles, box) or any(overlap(box, other) for other in taken)
        if bad and on.labels is not True and node not in on.ends:
            texts[node].remove()
            continue
        taken.append(box)
        across, up = ("right", "center", "left")[way[0] + 1], ("top", "center", "bottom")[way[1] + 1]
        x = {"left": box[0], "center": (box[0] + box[2]) / 2, "right": box[2]}[across]
        y = {"bottom": box[1], "center": (box[1] + box[3]) / 2, "top": box[3]}[up]
        texts[node].set(ha=across, va=up, position=tuple(back.transform((x, y))))


def _write(on: Canvas, node: int, at: tuple[float, float], name: str, rim: float, **look: Any) -> Any:
    """A name with a white rim; the ends of the channel that is pointed out have its colour."""
    from matplotlib.patheffects import withStroke

    white = withStroke(linewidth=rim, foreground="white", alpha=0.95 if node in on.ends else 0.85)
    look |= {"color": ACCENT, "weight": "bold", "zorder": 10} if node in on.ends else {"color": INK, "zorder": 8}
    return on.ax.text(at[0], at[1], name, path_effects=[white], **look, **LITERAL)


def _options(
    on: Canvas, sizes: Mapping[int, tuple[float, float]], taken: list[Box]
) -> dict[int, list[tuple[float, tuple[int, int], Box]]]:
    """Of every name what each of its places costs, the place and the box there."""
    gap = _GAP * RADIUS * points_per_unit(on.ax) * figure_of(on.ax).dpi / 72.0
    middles, rim = on.ax.transData.transform(on.points), gap / _GAP
    steps = on.ax.transData.transform(_steps([*chain.from_iterable(on.lines), *on.flows.values()]))
    hot = on.ax.transData.transform(_steps([] if on.hot is None else on.lines[on.hot]))
    found = {}
    for node, size in sizes.items():
        made = []
        for way, dislike in _WAYS.items():
            reach = gap * (1.0 if 0 in way else 0.8)
            box = box_beside(middles[node], size, (way[0] * reach, way[1] * reach))
            nodes = _inside(middles, (box[0] - rim, box[1] - rim, box[2] + rim, box[3] + rim))
            cost = dislike + _OVER_NODE * nodes + _inside(steps, box) + _OVER_HOT * _inside(hot, box)
            made.append((cost + _OVER_NAME * sum(overlap(box, each) for each in taken), way, box))
        found[node] = made
    return found


def _inside(points: Points, box: Box) -> int:
    x, y = points.T
    return int(((x > box[0]) & (x < box[2]) & (y > box[1]) & (y < box[3])).sum())


def _steps(lines: list[Points]) -> Points:
    """Points along lines, a twentieth apart, or further where there would be very many."""
    found = [np.zeros((0, 2))]
    lengths = [np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))]) for line in lines]
    step = max(_STEP, sum(float(each[-1]) for each in lengths) / _MOST_STEPS)
    for line, at in zip(lines, lengths, strict=True):
        every = np.arange(0.0, at[-1], step)
        found.append(np.column_stack([np.interp(every, at, line[:, axis]) for axis in (0, 1)]))
    return np.vstack(found)
