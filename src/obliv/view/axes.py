"""The axes that a picture is drawn on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from obliv.errors import extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["points_per_unit", "require_matplotlib", "room"]


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
