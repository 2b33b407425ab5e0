"""Draw any result: ``plot(result)`` looks up the function that draws results of its kind."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from obliv.errors import InputError
from obliv.results.base import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot"]

#: The module and the function that draw each kind of result.
_DRAWN_BY = {
    "worst": ("obliv.view.network.worst_case", "plot_worst"),
    "worst-channels": ("obliv.view.network.pictures", "plot_worst_channels"),
    "average": ("obliv.view.charts.average", "plot_average"),
    "deadlock": ("obliv.view.network.cycle", "plot_deadlock"),
    "throughput": ("obliv.view.charts.throughput", "plot_throughput"),
    "fabric-job": ("obliv.view.charts.job", "plot_job"),
    "lottery": ("obliv.view.charts.lottery", "plot_lottery"),
    "failures": ("obliv.view.charts.failures", "plot_failures"),
    "compare": ("obliv.view.charts.comparison", "plot_comparison"),
    "ratio": ("obliv.view.network.worst_case", "plot_ratio"),
    "pareto": ("obliv.view.charts.pareto", "plot_pareto"),
    "bufferless": ("obliv.view.schedules.pictures", "plot_schedule"),
}


def plot(result: Result, ax: Axes | None = None, **options: Any) -> Axes:
    """Draw a result; the same as ``result.plot(...)``.

    Parameters
    ----------
    result : WorstCase, WorstChannels, Ratio, Throughput, FabricJob, Lottery, Failures, Average, Deadlock, Comparison,
        Schedule or Schedules
        The result.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    **options
        As for :func:`obliv.view.plot_worst`, :func:`obliv.view.plot_worst_channels`, :func:`obliv.view.plot_ratio`,
        :func:`obliv.view.plot_throughput`, :func:`obliv.view.plot_job`, :func:`obliv.view.plot_average`,
        :func:`obliv.view.plot_deadlock`, :func:`obliv.view.plot_lottery`, :func:`obliv.view.plot_failures`,
        :func:`obliv.view.plot_comparison` and :func:`obliv.view.plot_schedule`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If results of this kind have no picture.

    Notes
    -----
    A result class of your own overrides :meth:`obliv.Result.plot`.

    Examples
    --------
    >>> import obliv
    >>> ax = plot(obliv.worst_case(obliv.routing("dor", obliv.mesh(4, 4))), kind="matrix")
    """
    kind = result.kind if isinstance(result, Result) else ""
    if kind not in _DRAWN_BY:
        raise InputError(
            f"there is no picture of a {type(result).__name__}: plot draws results of the kinds "
            f"{', '.join(_DRAWN_BY)}; for others see view.plot_topology and view.plot_loads"
        )
    module, function = _DRAWN_BY[kind]
    axes: Axes = getattr(importlib.import_module(module), function)(result, ax=ax, **options)
    return axes
