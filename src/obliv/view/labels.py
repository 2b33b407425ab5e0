"""Names beside points that cover neither points, nor other names, nor the lines that lead to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import cos, hypot, pi, sin
from typing import TYPE_CHECKING, Any

from obliv.view.axes import FAINT, INK, LITERAL, figure_of, without_warnings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Box = tuple[float, float, float, float]  # left, low, right and high, in pixels
Point = tuple[float, float]

_NEAR = 11.0  # points; names further away have a line to their point
# Sideways first, where names read best, then above and below, then diagonally.
_SIDES = (0, 8, 4, 12, 2, 14, 6, 10, 1, 15, 7, 9, 3, 13, 5, 11)
_REACHES = (8, 11, 15, 20, 26, 33, 41, 50, 60, 75, 95, 120, 150, 190, 240)


@dataclass
class _Taken:
    """The occupied parts of the axes, in pixels: centers of marks, boxes of names, points along lines to names."""

    marks: list[Point]
    scale: float
    names: list[Box] = field(default_factory=list)
    leads: list[Point] = field(default_factory=list)

    def covered(self, box: Box) -> bool:
        half = 5.5 * self.scale
        marks = ((x - half, y - half, x + half, y + half) for x, y in self.marks)
        return any(overlap(box, other, self.scale) for other in (*marks, *self.names))

    def crossed(self, box: Box, lead: Sequence[Point]) -> bool:
        return any(_on(box, at) for at in self.leads) or any(_on(name, at) for name in self.names for at in lead)

    def doubtful(self, own: Point, box: Box, lead: Sequence[Point]) -> bool:
        """Return whether a name could be read as the name of another mark."""
        others = [_apart(box, at) for at in self.marks if hypot(at[0] - own[0], at[1] - own[1]) > 0.5]
        least = _NEAR * self.scale if lead else _apart(box, own) + 1.5 * self.scale
        return min(others, default=least) < least


def label_points(ax: Axes, texts: Sequence[tuple[Point, str]], spots: Any) -> None:
    """Write each name at the nearest free place around its point, off the `spots`, or right of full axes."""
    scale = figure_of(ax).dpi / 72.0
    inside = ax.get_window_extent()
    taken = _Taken([(float(x), float(y)) for x, y in ax.transData.transform(spots)], scale)

    def fits(box: Box) -> bool:
        within = inside.x0 < box[0] and box[2] < inside.x1 and inside.y0 < box[1] and box[3] < inside.y1
        return bool(within or box[0] > inside.x1)

    for spot, text in sorted(texts, key=lambda name: (-name[0][1], name[0][0])):
        annotation = ax.annotate(
            text, spot, xytext=(0, 0), textcoords="offset points", ha="center", va="center", fontsize=9
        )
        annotation.set(color=INK, zorder=5, **LITERAL)
        size = size_of(annotation)
        x, y = (float(value) for value in ax.transData.transform(spot))
        column = inside.x1 + 8 * scale, inside.y1 - size[1]
        box, lead = _choose((x, y), size, list(_places((x, y), column, scale)), taken, fits)
        annotation.set_position((((box[0] + box[2]) / 2 - x) / scale, ((box[1] + box[3]) / 2 - y) / scale))
        if lead:
            ends: dict[str, Any] = {"xy": spot, "xytext": ((lead[-1][0] - x) / scale, (lead[-1][1] - y) / scale)}
            line: dict[str, Any] = {"arrowstyle": "-", "color": FAINT, "linewidth": 0.7, "shrinkA": 0, "shrinkB": 4}
            ax.annotate("", **ends, textcoords="offset points", arrowprops=line, annotation_clip=False)
        taken.names.append(box)
        taken.leads += lead


def box_of(text: Any) -> Box:
    """Return the box of a text in pixels, without the line of an annotation."""
    from matplotlib.text import Text

    with without_warnings():
        box = Text.get_window_extent(text)
    return float(box.x0), float(box.y0), float(box.x1), float(box.y1)


def size_of(text: Any) -> tuple[float, float]:
    """Return width and height of a text in pixels."""
    left, low, right, high = box_of(text)
    return right - left, high - low


def box_beside(at: Point, size: tuple[float, float], offset: Point) -> Box:
    """Return the box of a size that begins at an offset from a point and lies in that direction."""
    far = hypot(*offset) or 1.0
    left, low = (
        start + step + (_sign(step / far) - 1) * wide / 2 for start, step, wide in zip(at, offset, size, strict=True)
    )
    return left, low, left + size[0], low + size[1]


def overlap(one: Box, two: Box, gap: float = 0.0) -> bool:
    """Return whether two boxes are closer than `gap`."""
    return one[0] < two[2] + gap and two[0] < one[2] + gap and one[1] < two[3] + gap and two[1] < one[3] + gap


def _choose(
    at: Point, size: tuple[float, float], offsets: Sequence[Point], taken: _Taken, fits: Callable[[Box], bool]
) -> tuple[Box, list[Point]]:
    """Return the first place that is free, clear and not crossed, or else the first that is free."""
    free = []
    for offset in offsets:
        box = box_beside(at, size, offset)
        if fits(box) and not taken.covered(box):
            lead = _lead(at, box, taken.scale) if hypot(*offset) > _NEAR * taken.scale else []
            if not taken.crossed(box, lead) and not taken.doubtful(at, box, lead):
                return box, lead
            free.append((box, lead))
    return free[0]  # a column beside the axes has more places than there are names


def _places(at: Point, column: Point, scale: float) -> Iterator[Point]:
    """Yield offsets to try, in pixels: around the point ever further away, then a column right of the axes."""
    for reach in _REACHES:
        for side in _SIDES:
            yield reach * scale * cos(side * pi / 8), reach * scale * sin(side * pi / 8)
    for row in range(500):
        yield column[0] - at[0], column[1] - 14 * scale * row - at[1]


def _lead(at: Point, box: Box, scale: float) -> list[Point]:
    """Return points along the line from a point to the box of its name."""
    end = min(max(at[0], box[0]), box[2]), min(max(at[1], box[1]), box[3])
    steps = max(int(hypot(end[0] - at[0], end[1] - at[1]) / (3 * scale)), 2)
    return [(at[0] + (end[0] - at[0]) * k / steps, at[1] + (end[1] - at[1]) * k / steps) for k in range(steps + 1)]


def _apart(box: Box, point: Point) -> float:
    """Return the distance between a point and a box."""
    across, up = (max(box[k] - point[k], 0.0, point[k] - box[k + 2]) for k in (0, 1))
    return hypot(across, up)


def _on(box: Box, point: Point) -> bool:
    return box[0] - 1 < point[0] < box[2] + 1 and box[1] - 1 < point[1] < box[3] + 1


def _sign(part: float) -> int:
    return 0 if abs(part) < 0.3 else 1 if part > 0 else -1
