"""Matplotlib, if it is installed, and the figure of axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from obliv.errors import InputError, extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["figure_of", "require_matplotlib"]


def require_matplotlib() -> None:
    """Raise MissingExtraError, which says how to install matplotlib, if it is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise extra("matplotlib", "plot") from None


def figure_of(ax: Axes) -> Figure:
    """Return the figure of axes."""
    figure = ax.get_figure(root=True)
    if figure is None:
        raise InputError("these axes belong to no figure")
    return figure
