"""Comparisons of routings: bars, throughput over hops, or throughput over topologies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from obliv._util.text import did_you_mean
from obliv.errors import InputError
from obliv.results import Comparison
from obliv.view.axes import Title, called, finish
from obliv.view.charts.bars import draw_bars
from obliv.view.charts.lines import draw_lines
from obliv.view.charts.plane import draw_plane
from obliv.view.charts.quantities import ChartData
from obliv.view.figures import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_comparison"]

_KINDS = ("auto", "bars", "lines", "plane")


def plot_comparison(
    result: Comparison, kind: str = "auto", ax: Axes | None = None, *, of: str = "", title: Title = True
) -> Axes:
    """Draw routings side by side.

    Parameters
    ----------
    result : Comparison
        The result of :func:`obliv.compare`.
    kind : {"auto", "bars", "plane", "lines"}
        ``bars``: worst case, average and patterns of every routing. ``plane``: throughput over mean hops, a point for
        each routing. ``lines``: throughput over the topologies, a line for each routing. ``auto``: bars for one
        topology, lines for several.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    of : str
        The quantity: ``worst``, ``average`` or a pattern; default the worst case, and for bars all quantities.
    title : bool or str
        Whether to write a title, or the title to write in its place.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the kind is unknown, or there is nothing to draw.

    Examples
    --------
    >>> import obliv
    >>> result = obliv.compare("mesh:5x5", "dor", "o1turn", "u2turn", "valiant")
    >>> ax = plot_comparison(result, "plane")
    """
    if kind not in _KINDS:
        raise InputError(f"unknown kind {kind!r} of picture: {did_you_mean(str(kind), _KINDS)}")
    known = ["worst", *(["average"] if result.samples else []), *result.patterns]
    if of and of not in known:
        raise InputError(f"this comparison does not contain {of!r}: {did_you_mean(of, known)}")
    entries = [entry for entry in result.entries if entry.throughput(of or "worst") is not None]
    if not entries:
        raise InputError("this comparison contains no numbers: there is nothing to draw")
    if kind == "auto":
        kind = "lines" if len({entry.topology for entry in result.entries}) > 1 else "bars"
    require_matplotlib()
    figures, own = ChartData(entries, result.quantity), ax is None
    if kind == "bars":
        ax = draw_bars(figures, [of] if of else known, ax)
    elif kind == "plane":
        ax = draw_plane(figures, of or "worst", ax)
    else:
        ax = draw_lines(figures, of or "worst", ax)
    one = of or ("worst" if kind == "lines" or len(known) == 1 else "")
    verdict = figures.verdict(one)
    return finish(ax, own, [_heading(kind, figures, one)], [verdict] if verdict else [], title=title)


def _heading(kind: str, figures: ChartData, of: str) -> str:
    what, topologies = figures.title("" if kind == "plane" else of), [called(name) for name in figures.topologies]
    what = what[0].upper() + what[1:] + " and locality" * (kind == "plane")
    if len(topologies) == 1:
        return f"{what} on {topologies[0]}"
    return f"{what}, from {topologies[0]} to {topologies[-1]} with growing marks" if kind == "plane" else what
