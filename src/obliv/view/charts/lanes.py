"""The virtual channels that each scheme needs, as bars."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from obliv.errors import InputError
from obliv.results import VirtualChannels
from obliv.view.axes import Title, finish, room, subject_of
from obliv.view.charts.base import whole_ticks
from obliv.view.charts.numbers import Bar, draw_numbers, height_of
from obliv.view.style import ACCENT, SERIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_virtual_channels"]


def plot_virtual_channels(result: VirtualChannels, ax: Axes | None = None, *, title: Title = True) -> Axes:
    """Draw a bar for each scheme: its virtual channels, in orange where packets can wait for each other forever.

    Parameters
    ----------
    result : VirtualChannels
        The result of :func:`obliv.fewest_virtual_channels`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    title : bool or str
        Whether to write a title, or the title to write in its place.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If no scheme applies to the routing.

    Examples
    --------
    >>> import obliv
    >>> ax = plot_virtual_channels(obliv.fewest_virtual_channels(obliv.ROMM(obliv.mesh(3, 3))))
    """
    if not result.schemes:
        raise InputError(f"no scheme applies to {result.routing}: there is nothing to draw")
    bars = [
        Bar(row.scheme, Fraction(row.virtual_channels), SERIES[0] if row.acyclic else ACCENT, row.text)
        for row in result.schemes
    ]
    own = ax is None
    ax = room(ax, 5.6, height_of(bars))
    draw_numbers(ax, bars)
    whole_ticks(ax)
    ax.set_xlabel("virtual channels")
    verdict = "every scheme is cyclic" if result.best is None else f"fewest without deadlock: {result.summary()[0][1]}"
    return finish(ax, own, [f"{subject_of(result)}", verdict], title=title)
