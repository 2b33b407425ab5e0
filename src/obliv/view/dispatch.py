"""One name that draws every result: ``plot(result)``."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, Any

from obliv.errors import InputError
from obliv.results import Comparison, Throughput, WorstCase
from obliv.results.schedule import Schedule, Schedules
from obliv.view.charts.comparison import plot_comparison
from obliv.view.charts.throughput import plot_throughput
from obliv.view.network.worst_case import plot_worst
from obliv.view.schedules.pictures import plot_schedule, plot_schedules

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot"]


@singledispatch
def plot(result: Any, ax: Axes | None = None, **options: Any) -> Axes:
    """Draw a result.

    Parameters
    ----------
    result : WorstCase, Throughput, Comparison, Schedule or Schedules
        What to draw; the same as ``result.plot(...)``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    **options
        As for :func:`obliv.view.plot_worst`, :func:`obliv.view.plot_throughput`,
        :func:`obliv.view.plot_comparison` and :func:`obliv.view.plot_schedule`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there is no picture of what is given.

    Notes
    -----
    A picture of your own kind of result is registered with ``@plot.register``.

    Examples
    --------
    >>> import obliv
    >>> ax = plot(obliv.worst_case(obliv.routing("dor", obliv.mesh(4, 4))), kind="matrix")
    """
    known = ", ".join(sorted(kind.__name__ for kind in plot.registry if kind is not object))
    raise InputError(
        f"there is no picture of a {type(result).__name__}: plot draws {known}; "
        "for others see view.plot_topology and view.plot_loads"
    )


@plot.register
def _(result: WorstCase, ax: Any = None, kind: str = "network", **options: Any) -> Any:
    return plot_worst(result, kind, ax, **options)


@plot.register
def _(result: Throughput, ax: Any = None, **options: Any) -> Any:
    return plot_throughput(result, ax, **options)


@plot.register
def _(result: Comparison, ax: Any = None, kind: str = "auto", **options: Any) -> Any:
    return plot_comparison(result, kind, ax, **options)


@plot.register
def _(result: Schedule, ax: Any = None, kind: str = "space-time", **options: Any) -> Any:
    return plot_schedule(result, kind, ax, **options)


@plot.register
def _(result: Schedules, ax: Any = None, kind: str = "space-time", **options: Any) -> Any:
    return plot_schedules(result, kind, ax, **options)
