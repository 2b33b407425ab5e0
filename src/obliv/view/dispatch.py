"""Draw any result: ``plot(result)`` looks up the function that draws results of its kind."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from obliv.errors import InputError
from obliv.results.base import Result
from obliv.view.axes import naming

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["drawing_of", "plot"]

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
    "heaviest-permutation": ("obliv.view.network.worst_case", "plot_heaviest"),
    "virtual-channels": ("obliv.view.charts.lanes", "plot_virtual_channels"),
    "locality": ("obliv.view.charts.hops", "plot_hops"),
    "fabric-route": ("obliv.view.charts.standings", "plot_route"),
    "what-if": ("obliv.view.charts.standings", "plot_what_if"),
    "fabric-shifts": ("obliv.view.network.pictures", "plot_shifts"),
    "fabric-bisection": ("obliv.view.charts.standings", "plot_bisection"),
    "traffic-ratio": ("obliv.view.charts.ratios", "plot_traffic_ratio"),
    "bounds": ("obliv.view.charts.bounds", "plot_bounds"),
    "design": ("obliv.view.network.designs", "plot_design"),
}

#: What to do about some kinds that have no picture.
_INSTEAD = {
    "results": "draw each of its entries",
    "study": "view.write_report writes a page with its charts",
    "reproduce": "papers.draw draws the figures of a paper",
}


def plot(result: Result, ax: Axes | None = None, *, names: Mapping[str, str] | None = None, **options: Any) -> Axes:
    """Draw a result; the same as ``result.plot(...)``.

    Parameters
    ----------
    result : Result
        A result of one of the kinds that the page of ``obliv plot`` lists.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    names : mapping of str to str, optional
        Names to write in place of specs of routings and topologies, such as ``{"romm": "ROMM, 2 VCs"}``.
    **options
        `title` is another title, and ``title=False`` leaves it out. Pictures of networks take `labels`, those of
        traffic `kind`, as for :func:`obliv.view.plot_worst`; others as for :func:`obliv.view.plot_failures`,
        :func:`obliv.view.plot_comparison` and :func:`obliv.view.plot_schedule`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If results of this kind have no picture, `ax` is a text, or a spec of `names` is not in the picture.

    Notes
    -----
    A result class of your own overrides :meth:`obliv.Result.plot`.

    Examples
    --------
    >>> import obliv
    >>> ax = plot(obliv.worst_case(obliv.routing("dor", obliv.mesh(4, 4))), kind="matrix", names={"dor": "XY"})
    >>> ax.get_title().splitlines()[0]
    'XY on mesh:4x4'
    """
    drawing = drawing_of(result)
    if isinstance(ax, str):
        raise InputError(f"plot({ax!r:.40}): the first argument are axes to draw on; write plot(kind={ax!r:.40})")
    with naming(names):
        axes: Axes = drawing(result, ax=ax, **options)
    return axes


def drawing_of(result: Result) -> Callable[..., Axes]:
    """Return the function that draws a result; InputError if there is none."""
    kind = result.kind if isinstance(result, Result) else ""
    if kind not in _DRAWN_BY:
        raise InputError(
            f"there is no picture of a {type(result).__name__}: plot draws results of the kinds "
            f"{', '.join(_DRAWN_BY)}; {_INSTEAD.get(kind, 'for others see view.plot_topology and view.plot_loads')}"
        )
    module, function = _DRAWN_BY[kind]
    drawing: Callable[..., Axes] = getattr(importlib.import_module(module), function)
    return drawing
