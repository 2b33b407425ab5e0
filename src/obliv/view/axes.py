"""The axes that a picture is drawn on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from obliv.errors import extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["bar", "key", "points_per_unit", "require_matplotlib", "room"]


def require_matplotlib() -> None:
    """Refuse to draw where matplotlib is not installed, and say how to install it."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise extra("matplotlib", "plot") from None


def room(ax: Axes | None, width: float, height: float) -> Axes:
    """The given axes, or those of a new figure of a size in inches."""
    require_matplotlib()
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def points_per_unit(ax: Axes) -> float:
    """How many points one data unit measures, for sizes that must be given in points."""
    box = ax.get_window_extent()
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    pixels = min(box.width / max(abs(right - left), 1e-9), box.height / max(abs(top - bottom), 1e-9))
    return float(pixels * 72.0 / ax.get_figure(root=True).dpi)  # type: ignore[union-attr]


def bar(ax: Axes, coloured: Any, label: str) -> None:
    """A colour bar beside the axes, or below flat ones, that follows them wherever they go."""
    width, height = _size(ax)
    if height >= 90:
        tall = min(height, 260.0) / height
        place, way = (1 + 10.0 / width, (1 - tall) / 2, 9.0 / width, tall), "vertical"
    else:
        place, way = (0.1, -46.0 / height, 0.8, 8.0 / height), "horizontal"
    made = ax.get_figure(root=True).colorbar(coloured, cax=ax.inset_axes(place), orientation=way)  # type: ignore[union-attr]
    made.set_label(label, fontsize=9)
    made.ax.tick_params(labelsize=8, length=2)
    made.outline.set_visible(False)  # type: ignore[operator]


def key(ax: Axes, handles: Sequence[Any]) -> None:
    """What the signs mean, in one row below the axes and their labels, or in a column where it is narrow."""
    width, height = _size(ax)
    below = (40.0 if height >= 90 else 92.0) / height
    ax.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, -below),
        ncols=len(handles) if width > 360 else 1,
        fontsize=9,
        frameon=False,
        borderaxespad=0.0,
        columnspacing=1.6,
        handlelength=1.8,
    )


def _size(ax: Axes) -> tuple[float, float]:
    """Width and height of the drawing in points, whose two directions have one scale."""
    unit = points_per_unit(ax)
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    return abs(right - left) * unit, abs(high - low) * unit
