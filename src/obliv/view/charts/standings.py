"""Forwarding tables as bars of worst loads: those of engines, before and after a change; and bisections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from obliv._util.text import plural
from obliv.results import Bisection, FabricRoute, WhatIf
from obliv.results.fabric.failures import FailureState, state_text
from obliv.results.numbers import as_float
from obliv.view.axes import Title, called, finish, room, subject_of, title_of
from obliv.view.charts.base import mark_line
from obliv.view.charts.numbers import Bar, draw_numbers, height_of
from obliv.view.literal import shortened
from obliv.view.style import ACCENT, SERIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_bisection", "plot_route", "plot_what_if"]

_REASON = 52  # characters of the reason why an engine gave no tables
_CHANGES = 3  # that a title names


def plot_route(result: FabricRoute, ax: Axes | None = None, *, title: Title = True) -> Axes:
    """Draw the worst loads of the tables in use and of each engine tried, beside the lower bound.

    Parameters
    ----------
    result : FabricRoute
        The result of :func:`obliv.fabric.route`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    title : bool or str
        Whether to write a title, or the title to write in its place.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import obliv
    >>> ax = plot_route(obliv.fabric.route(obliv.fabric.from_topology(obliv.fattree(4, 2))))
    """
    bars = []
    for attempt in result.candidates:
        name = called(attempt.engine) + ("\n(kept)" if result.kept else "\n(written)") * attempt.chosen
        if (standing := attempt.standing) is None:
            bars.append(Bar(name, None, text=shortened(attempt.reason, _REASON)))
        else:
            bars.append(Bar(name, standing.worst, ACCENT if standing.credit_loops else SERIES[0], str(standing)))
    own = ax is None
    ax = room(ax, 5.6, height_of(bars))
    least = 0.0 if result.lower_bound is None else as_float(result.lower_bound)
    if result.lower_bound is not None:
        mark_line(ax, least, f"single paths: at least {result.lower_bound}", "bound", "left")
    draw_numbers(ax, bars, least)
    ax.set_xlabel("worst load")
    return finish(ax, own, [title_of(result)], title=title)


def plot_what_if(result: WhatIf, ax: Axes | None = None, *, title: Title = True) -> Axes:
    """Draw the worst load before and after a change, with the pairs that are missing and credit loops.

    Parameters
    ----------
    result : WhatIf
        The result of :func:`obliv.fabric.what_if`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    title : bool or str
        Whether to write a title, or the title to write in its place.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import obliv
    >>> base = obliv.fabric.base_of(obliv.fabric.from_routing(obliv.DModK(obliv.fattree(4, 2))))
    >>> ax = plot_what_if(obliv.fabric.what_if(base, entries=["switch((0),1)/14=3"]))
    """
    bars = [_bar("before", result.before), _bar("after", result.after)]
    own = ax is None
    ax = room(ax, 5.6, height_of(bars))
    draw_numbers(ax, bars)
    ax.set_xlabel("worst load")
    more = len(result.changes) - _CHANGES
    changes = [*result.changes[:_CHANGES], *([f"and {plural(more, 'more change')}"] if more > 0 else [])]
    lines = [f"{subject_of(result)}", "; ".join(changes) or "no change"]
    pairs = f"{plural(abs(result.pairs_lost), 'pair')} {'gained' if result.pairs_lost < 0 else 'lost'}"
    return finish(ax, own, lines, [pairs], title=title)


def _bar(name: str, state: FailureState) -> Bar:
    return Bar(name, state.channel_load, ACCENT if state.deadlock else SERIES[0], state_text(state))


def plot_bisection(result: Bisection, ax: Axes | None = None, *, title: Title = True) -> Axes:
    """Draw the mean bandwidth of random bisections, an estimate, beside the smallest and the largest of them.

    Parameters
    ----------
    result : Bisection
        The result of :func:`obliv.fabric.bisection`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    title : bool or str
        Whether to write a title, or the title to write in its place.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import obliv
    >>> routing = obliv.fabric.from_routing(obliv.DModK(obliv.fattree(4, 2)))
    >>> ax = plot_bisection(obliv.fabric.bisection(routing, samples=20))
    """
    bars = [
        Bar(f"mean of {result.bandwidth.samples:,} bisections", result.bandwidth),
        Bar("smallest of them", result.smallest, SERIES[4]),
        Bar("largest of them", result.largest, SERIES[4]),
    ]
    own = ax is None
    ax = room(ax, 5.6, height_of(bars))
    mark_line(ax, 1.0, "full bandwidth", "full", "right")
    draw_numbers(ax, bars, 1.0)
    ax.set_xlabel("bandwidth of a pair, as a share of a host's link")
    return finish(ax, own, [f"{subject_of(result)}"], title=title)
