"""Bounds of a network as bars of channel loads: what no routing can beat, exact or between proved bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from obliv.errors import InputError
from obliv.results import NetworkBounds
from obliv.results.format import short
from obliv.view.axes import Title, called, finish, room
from obliv.view.charts.numbers import Bar, draw_numbers, height_of
from obliv.view.style import SERIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_bounds"]


def plot_bounds(result: NetworkBounds, ax: Axes | None = None, *, title: Title = True) -> Axes:
    """Draw the least channel loads of a network: solid where they are exact, pale and hatched between bounds.

    Parameters
    ----------
    result : NetworkBounds
        The result of :func:`obliv.bounds`; what it does not know is named without a bar.
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
        If no load is known.

    Examples
    --------
    >>> import obliv
    >>> ax = plot_bounds(obliv.bounds("torus:4x4"))
    """
    loads = [
        ("uniform traffic\n(capacity)", result.capacity, SERIES[0]),
        ("worst case,\noblivious routing", result.oblivious, SERIES[0]),
        ("worst case,\nadaptive routing", result.adaptive, SERIES[0]),
        ("across the\nbisection", result.bisection, SERIES[4]),
        ("longest matching\n(a lower bound)", result.matching_bound, SERIES[4]),
    ]
    bars = [Bar(name, load, color, "not known" if load is None else "") for name, load, color in loads]
    if all(bar.value is None for bar in bars):
        raise InputError(f"no bound of {result.topology} is known: there is nothing to draw")
    own = ax is None
    ax = room(ax, 5.6, height_of(bars))
    draw_numbers(ax, bars)
    ax.set_xlabel("least channel load of any routing")
    price = [] if result.price is None else [f"price of being oblivious {short(result.price)}"]
    return finish(ax, own, [f"Bounds on {called(result.topology)}", *price], title=title)
