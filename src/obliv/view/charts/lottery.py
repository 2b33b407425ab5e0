"""The distribution of a hash lottery: a band between certified bounds, and samples beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from obliv.errors import InputError
from obliv.results import Lottery
from obliv.results.numbers import as_float, bounds_of
from obliv.view.axes import Title, finish, key, room, title_of
from obliv.view.charts.base import light_frame
from obliv.view.style import ACCENT, INK, SERIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_lottery"]


def plot_lottery(result: Lottery, ax: Axes | None = None, *, title: Title = True) -> Axes:
    """Draw the probability that the largest load is at most a load: bounds as a band, samples as dots.

    Parameters
    ----------
    result : Lottery
        The result of :func:`obliv.lottery`.
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
        If the largest load does not depend on the draws.

    Examples
    --------
    >>> import obliv
    >>> ax = plot_lottery(obliv.lottery("fattree:4,2", "shift:2", flows=2))
    """
    rows = result.distribution
    if not rows:
        raise InputError("the largest load does not depend on the draws: there is nothing to draw")
    own = ax is None
    ax = room(ax, 5.6, 3.2)
    loads = [as_float(row.load) for row in rows]
    ends = [bounds_of(row.probability) for row in rows]
    low = [1 - as_float(upper) for _, upper in ends]
    high = [1 - as_float(lower) for lower, _ in ends]
    # at a load the distribution jumps: a row is about the loads below it, down to the load before
    gap = (loads[-1] - loads[0]) / max(1, len(loads) - 1) or 0.1 * loads[0]
    edges = [loads[0] - gap, *loads, loads[-1] + gap]
    exact = result.method == "exact"
    ax.stairs([*high, 1.0], edges, baseline=[*low, 1.0], fill=True, color=SERIES[0], alpha=0.35, zorder=1)
    for side, name in ((low, "exact" if exact else "certified bounds"), (high, None)):
        ax.stairs([*side, 1.0], edges, baseline=None, color=SERIES[0], linewidth=1.2, zorder=2, label=name)
    if result.even_load > 0 and as_float(result.even_load) >= edges[0]:
        ax.axvline(as_float(result.even_load), color=INK, linewidth=1.0, linestyle=(0, (4, 3)), label="even splits")
    if all(row.sampled is not None for row in rows):
        dots = [1 - row.sampled.value for row in rows if row.sampled is not None]
        middles = [(a + b) / 2 for a, b in zip(edges, loads, strict=False)]
        count = next(row.sampled.samples for row in rows if row.sampled is not None)
        marks: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": 4, "color": ACCENT, "zorder": 3}
        ax.plot(middles, dots, label=f"{count:,} samples", **marks)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("load")
    ax.set_ylabel("P(largest load ≤ load)")
    light_frame(ax, "y")
    key(ax, ax.get_legend_handles_labels()[0])
    return finish(ax, own, [title_of(result), f"{result.hash} hash"], title=title)
