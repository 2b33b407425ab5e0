"""Arrows as filled outlines in data units, which keep their shape at every size of the picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv.view.axes import points_per_unit
from obliv.view.layout.base import Points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.path import Path

__all__ = ["add_ribbons", "ribbon", "ribbons", "thickened"]


def ribbons(lines: Sequence[Sequence[Points]], widths: Sequence[float]) -> list[Path]:
    """Return one outline for each group of lines."""
    from matplotlib.path import Path

    paths = []
    for group, width in zip(lines, widths, strict=True):
        parts = [Path(ribbon(line, width), closed=True) for line in group]
        paths.append(parts[0] if len(parts) == 1 else Path.make_compound_path(*parts))
    return paths


def add_ribbons(ax: Axes, lines: Sequence[Sequence[Points]], widths: Sequence[float], name: str, **look: Any) -> Any:
    """Draw one arrow for each group of lines and return their collection."""
    from matplotlib.collections import PathCollection

    arrows = PathCollection(ribbons(lines, widths), linewidths=0, gid=name, **look)
    ax.add_collection(arrows, autolim=False)
    return arrows


def thickened(ax: Axes, widths: Any, points: float) -> list[float]:
    """Return widths in data units of at least `points` points on the page; the limits must be set before."""
    return np.maximum(np.asarray(widths, float), points / points_per_unit(ax)).tolist()  # type: ignore[no-any-return]


def ribbon(line: Points, width: float) -> Points:
    """Return the closed outline of an arrow along a line: a shaft of this width and a head at the end.

    Examples
    --------
    >>> outline = ribbon(np.array([[0.0, 0.0], [1.0, 0.0]]), 0.1)
    >>> bool((outline[0] == outline[-1]).all()), float(outline[:, 0].max())
    (True, 1.0)
    """
    steps = np.hypot(*np.diff(line, axis=0).T)
    at = np.concatenate([[0.0], np.cumsum(steps)])
    head = min(0.07 + 1.5 * width, 0.6 * at[-1])
    wing = 0.03 + 0.95 * width
    neck = at[-1] - head
    shaft = line[at < neck]
    base = np.array([np.interp(neck, at, line[:, axis]) for axis in (0, 1)])
    shaft = np.vstack([shaft, base])
    slope = np.gradient(shaft, axis=0) if len(shaft) > 1 else line[-1:] - base
    slope[-1] = line[-1] - base
    across = np.column_stack([-slope[:, 1], slope[:, 0]]) / np.maximum(np.hypot(*slope.T), 1e-12)[:, None]
    left, right = shaft + across * width / 2, shaft - across * width / 2
    barbs = base + across[-1] * wing, base - across[-1] * wing
    return np.vstack([left, barbs[0], line[-1], barbs[1], right[::-1], left[:1]])
