"""Pictures beyond bars of single numbers: comparisons, lengths of paths, curves, distributions, failures."""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.text import did_you_mean
from obliv.designs.pareto import Pareto
from obliv.errors import InputError
from obliv.questions.collisions.collisions import Collisions
from obliv.questions.compare import Comparison
from obliv.questions.failures import Failures, row_text
from obliv.questions.locality import Locality
from obliv.results.base import unit_of
from obliv.results.numbers import as_float, bounds_of, brief, short
from obliv.view.axes import (
    ACCENT,
    INK,
    LITERAL,
    NODE,
    SERIES,
    Title,
    called,
    finish,
    key,
    points_across,
    require_matplotlib,
    room,
    subject_of,
    title_of,
)
from obliv.view.charts.base import (
    ChartData,
    draw_bars,
    draw_lines,
    draw_plane,
    end_label,
    light_frame,
    make_room,
    mark_line,
    whole_ticks,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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


# The lengths of paths as a histogram


_LETTER = 5.5  # points: width of a letter of a share, and its part of the gap to the next


def plot_hops(result: Locality, ax: Axes | None = None, *, title: Title = True) -> Axes:
    """Draw the share of pairs and paths of each length, and the mean beside that of the shortest paths.

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


# The curve of locality and throughput: what a routing can guarantee with so many hops


def plot_pareto(result: Pareto, ax: Axes | None = None, *, title: Title = True) -> Axes:
    """Draw the guaranteed throughput over the mean hops; no routing lies above the curve.

    Examples
    --------
    >>> import obliv
    >>> ax = plot_pareto(obliv.pareto("mesh:3x3", 3))
    """
    if not result.points:
        raise InputError("this curve has no points: there is nothing to draw")
    own = ax is None
    ax = room(ax, 5.2, 3.8)
    hops = [float(point.times_minimal) for point in result.points]
    heights = [float(point.guarantee) for point in result.points]
    # between two designs their mixes: loads and hops are linear in the mix, throughput is the reciprocal of the load
    share = np.linspace(0, 1, 21)
    xs = np.concatenate([a + share * (b - a) for a, b in pairwise(hops)] or [np.array(hops)])
    ys = np.concatenate([1 / ((1 - share) / a + share / b) for a, b in pairwise(heights)] or [np.array(heights)])
    ax.plot(xs, ys, color=SERIES[0], linewidth=1.4, zorder=3)
    ax.scatter(hops, heights, 36.0, color=SERIES[0], edgecolor=NODE, linewidth=0.7, zorder=4)
    ax.set_ylim(0.0, 1.15 * max(heights))
    ax.set_xlim(min(0.98, hops[0] - 0.02), max(hops) + 0.05)
    ax.set_xlabel("mean hops, as a multiple of the least")
    ax.set_ylabel(f"guaranteed throughput ({unit_of(result.rated)})")
    light_frame(ax, "both")
    heading = ", ".join((f"Worst case and locality on {called(result.topology)}", *result.constraints))
    return finish(ax, own, [heading], title=title)


# The distribution of colliding flows: a band between certified bounds, and samples beside it


def plot_collisions(result: Collisions, ax: Axes | None = None, *, title: Title = True) -> Axes:
    """Draw the probability that the largest load is at most a load: bounds as a band, samples as dots.

    Parameters
    ----------
    result : Collisions
        The result of :func:`obliv.collisions`.
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
    >>> ax = plot_collisions(obliv.collisions("fattree:4,2", "shift:2", flows=2))
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


# Failures as bars: the worst load after each, with the pairs that it cuts off, the most harmful first


def plot_failures(result: Failures, ax: Axes | None = None, *, count: int = 12, title: Title = True) -> Axes:
    """Draw a bar for each outcome of failures, as long as the worst load, the most harmful first.

    Failures with the same credit loops, lost pairs and worst load share a bar, which names the first and how many more.

    Parameters
    ----------
    result : Failures
        The result of :func:`obliv.failures` or :func:`obliv.fabric.failures`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    count : int
        Largest number of bars.
    title : bool or str
        Whether to write a title, or the title to write in its place.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If `count` is less than 1.

    Examples
    --------
    >>> import obliv
    >>> ax = plot_failures(obliv.failures("mesh:3x3", "ecmp"))
    """
    if count < 1:
        raise InputError(f"count is {count}; it must be at least 1")
    outcomes = [list(group) for _, group in groupby(result.failures, key=lambda row: row.rank)]
    shown = outcomes[:count]
    own = ax is None
    ax = room(ax, 5.6, 0.7 + 0.34 * max(1, len(shown)))
    places = list(range(len(shown)))
    loads = [as_float(group[0].channel_load) for group in shown]
    colors = [ACCENT if group[0].deadlock else SERIES[0] for group in shown]
    ax.barh(places, loads, height=0.66, color=colors, zorder=2)
    names = []
    for group in shown:
        more = sum(row.alike for row in group) - 1
        names.append(group[0].failed + (f"  + {more:,} more" if more else ""))
    ax.set_yticks(places, labels=names, **LITERAL)
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ends = [
        (load, end_label(ax, load, at, row_text(group[0]), 8))
        for at, load, group in zip(places, loads, shown, strict=True)
    ]
    before = as_float(result.before.channel_load)
    mark_line(ax, before, f"before: {short(result.before.channel_load)}", "before")
    make_room(ax, ends, 1.04 * max([before, *loads]) or 1.0)
    light_frame(ax, "x")
    left = len(outcomes) - len(shown)
    ax.set_xlabel("worst load after the failure" + (f"; {left:,} more outcomes are not shown" if left else ""))
    return finish(ax, own, [f"{subject_of(result)}", f"routes: {result.repair}"], title=title)
