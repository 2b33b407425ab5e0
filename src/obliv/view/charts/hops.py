"""The lengths of paths as a histogram."""

from __future__ import annotations

from typing import TYPE_CHECKING

from obliv.errors import InputError
from obliv.results import Locality
from obliv.results.format import brief, short
from obliv.results.numbers import as_float
from obliv.view.axes import Title, finish, points_across, room, subject_of
from obliv.view.charts.base import light_frame, mark_line, whole_ticks
from obliv.view.literal import LITERAL
from obliv.view.style import INK, NODE, SERIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_hops"]

_LETTER = 5.5  # points: width of a letter of a share, and its part of the gap to the next


def plot_hops(result: Locality, ax: Axes | None = None, *, title: Title = True) -> Axes:
    """Draw the share of pairs and paths of each length, and the mean beside that of the shortest paths.

    Parameters
    ----------
    result : Locality
        The result of :func:`obliv.locality` of a routing.
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
        If only pair loads were given, which do not tell paths apart.

    Examples
    --------
    >>> import obliv
    >>> ax = plot_hops(obliv.locality(obliv.routing("valiant", obliv.mesh(3, 3))))
    """
    if not result.lengths:
        raise InputError("pair loads do not tell paths apart: the lengths of a routing can be drawn")
    own = ax is None
    ax = room(ax, 5.2, 2.8)
    shares = [as_float(share) for share in result.lengths]
    ax.bar(range(len(shares)), shares, width=0.8, color=SERIES[0], zorder=2)
    texts = [brief(share) for share in result.lengths]
    if points_across(ax) > _LETTER * max(map(len, texts)) * len(texts):
        for hops, text in enumerate(texts):
            mark = ax.annotate(text, (hops, shares[hops]), xytext=(0, 4), textcoords="offset points", zorder=7)
            mark.set(fontsize=8, color=INK, ha="center", va="bottom", **LITERAL)
            mark.set_bbox({"facecolor": NODE, "edgecolor": "none", "pad": 0.8})
    mean, least = as_float(result.hops), as_float(result.minimal_hops)
    if mean == least:
        mark_line(ax, mean, "mean, the least possible", "mean")
    else:
        mark_line(ax, least, "least mean ", "least", "right")
        mark_line(ax, mean, " mean", "mean", "left")
    ax.set_xlim(-0.6, len(shares) - 0.4)
    ax.set_ylim(0.0, 1.12 * max(shares))
    whole_ticks(ax)
    ax.set_xlabel("hops of a path")
    ax.set_ylabel("share of pairs and paths")
    light_frame(ax, "both")
    lines = [f"{subject_of(result)}", f"mean hops {short(result.hops)}"]
    times = [] if least in (0.0, mean) else [f"{short(result.hops_over_minimal)} times the least"]
    return finish(ax, own, lines, times, title=title)
