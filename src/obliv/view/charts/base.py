"""Charts that results declare, bars and lines, with what all charts share: frame, legend, whiskers, marks."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv.errors import InputError
from obliv.results.base import Bars, Curve, Lines, Mark
from obliv.results.numbers import Bounds, Estimate, short
from obliv.view.axes import (
    ACCENT,
    INK,
    LITERAL,
    NODE,
    QUIET,
    SERIES,
    Title,
    called,
    figure_of,
    finish_declared,
    key,
    points_across,
    room,
    set_literal,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation


_WIDEST = 30  # letters of a legend beside the axes
_AXIS = 0.55  # inches: numbers and name of the axis below
_LINE = 0.16  # inches: a line of the note there
_LETTER = 4.3  # points: width of a letter of a note
_WIDER = 5.5  # points: width of a letter above a column, and its part of the gap to the next
_DASHED = (0, (4, 3))


def light_frame(ax: Axes, grid: str) -> None:
    """Draw faint grid lines along ``x`` or ``both`` axes and a reduced frame."""
    for side in ("top", "right", *(("left",) if grid == "x" else ())):
        ax.spines[side].set_visible(False)
    ax.tick_params(axis="both", labelsize=8)
    if grid == "x":
        ax.tick_params(axis="y", length=0, labelsize=9)
    ax.grid(axis="x" if grid == "x" else "both", color=QUIET, linewidth=0.5, alpha=0.6)
    ax.set_axisbelow(True)


def whole_ticks(ax: Axes) -> None:
    """Put the ticks below the axes at whole numbers."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))


def legend(ax: Axes) -> None:
    """Draw the legend right of the axes, or below them where its texts would leave the right side empty."""
    handles, labels = ax.get_legend_handles_labels()
    below = max(map(len, labels), default=0) > _WIDEST
    height = ax.get_window_extent().height / figure_of(ax).dpi
    lines = sum(text.get_text().count("\n") + 1 for text in ax.texts if text.get_gid() == "note")
    box = ax.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(0.0, -(_AXIS + _LINE * lines) / height) if below else (1.01, 1.0),
        fontsize=9,
        frameon=False,
        borderaxespad=0.0,
        handlelength=1.8,
    )
    set_literal(box.get_texts())


def whiskers(ax: Axes, xs: Any, ys: Any, errors: Any, along: str) -> None:
    """Draw standard errors of estimates along ``x`` or ``y``; exact numbers have none."""
    values = np.abs(xs if along == "x" else ys)
    errors = np.where(errors > 1e-6 * values, errors, np.nan)  # smaller errors are invisible
    if np.isnan(errors).all():
        return
    bars = ax.errorbar(
        xs, ys, fmt="none", ecolor=INK, elinewidth=1.0, capsize=2.2, zorder=20, **{f"{along}err": errors}
    )
    bars.set_label("_whiskers")  # the underscore hides them from the legend


def mark_line(ax: Axes, mark: Mark) -> None:
    """Draw a dashed line at a value, behind bars and numbers, with its name above it."""
    ax.axvline(mark.at, color=INK, linewidth=1.0, linestyle=_DASHED, zorder=1)
    place: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "xytext": (0, 3), "textcoords": "offset points"}
    name = ax.annotate(mark.name, (mark.at, 1.0), **place, ha=mark.side, va="bottom", fontsize=8, color=INK)
    name.set_gid(mark.name.partition(":")[0].strip())


def end_label(ax: Axes, width: float, at: float, text: str, size: float) -> Annotation:
    """Write a number at the end of a bar on an opaque background."""
    annotation = ax.annotate(text, (width, at), xytext=(5, 0), textcoords="offset points", va="center", zorder=7)
    annotation.set(fontsize=size, color=INK, **LITERAL)
    annotation.set_bbox({"facecolor": NODE, "edgecolor": "none", "pad": 0.8})
    return annotation


def make_room(ax: Axes, ends: Sequence[tuple[float, Annotation]], least: float) -> None:
    """Set limits from 0 to at least `least` with room for every bar and the number at its end."""
    across = ax.get_window_extent().width
    most = least
    for width, text in ends:
        taken = text.get_window_extent().width + 10.0 * figure_of(ax).dpi / 72.0
        most = max(most, width * across / max(across - taken, 0.3 * across))
    ax.set_xlim(0.0, most)


def note(ax: Axes, values: Sequence[Fraction | Estimate | Bounds | None], texts: Sequence[str]) -> None:
    """Explain below the axes the signs that distinguish exact, estimated and bounded numbers."""
    remarks = []
    if between := any(isinstance(value, Bounds) for value in values):
        remarks.append("pale and hatched: between proved bounds")
    if any(isinstance(value, Estimate) for value in values):
        remarks.append("± and whiskers: standard error of an estimate")
    if remarks and any(isinstance(value, Fraction) for value in values):
        remarks.append(f"{'without ±' if len(remarks) == 1 and not between else 'others'}: exact")
    exact = (text for value, text in zip(values, texts, strict=True) if isinstance(value, Fraction))
    if any(text.startswith("≈") for text in exact):
        remarks.append("≈: exact, but its fraction is too long to write")
    if remarks:
        place: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "top"}
        look: dict[str, Any] = {"fontsize": 8, "color": INK, "gid": "note"}
        text = wrapped("; ".join(remarks), int(points_across(ax) / _LETTER))
        ax.annotate(text, (0.0, 0.0), xytext=(0, -34), **place, **look)


# Bars of single numbers: solid where exact, with whiskers where estimated, pale and hatched between bounds


#: Colors of bars by their roles.
COLORS = {"plain": SERIES[0], "warning": ACCENT, "beside": SERIES[4]}


def plot_bars(result: Any, ax: Axes | None = None, *, title: Title = True, **options: Any) -> Axes:
    """Draw the bars that a result declares: solid where exact, pale and hatched between bounds, whiskers for estimates.

    Parameters
    ----------
    result : Result
        With a method ``bars``, such as that of :func:`obliv.throughput`, :func:`obliv.average_case` or
        :func:`obliv.failures`.
    ax, title
        As for :func:`obliv.view.plot`.
    **options
        Of that method: `count` is the largest number of outcomes of failures.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there is nothing to draw.

    Examples
    --------
    >>> import obliv
    >>> ax = plot_bars(obliv.throughput(obliv.routing("dor", obliv.torus(9, 9)), "tornado", "uniform"))
    """
    chart: Bars = result.bars(**options)
    if not chart.bars:
        raise InputError(f"this result of the kind {result.kind} has no numbers: there is nothing to draw")
    own = ax is None
    lines = sum(0.24 + 0.14 * (1 + bar.name.count("\n")) for bar in chart.bars)
    ax = room(ax, 5.6, 0.7 + 0.34 * len(chart.bars) if chart.dense else 0.6 + lines)
    for mark in chart.marks:
        mark_line(ax, mark)
    draw_numbers(ax, chart)
    if chart.whole:
        whole_ticks(ax)
    ax.set_xlabel(chart.axis)
    return finish_declared(result, chart, ax, own, title)


def draw_numbers(ax: Axes, chart: Bars) -> None:
    """Draw bars from top to bottom with their numbers."""
    bars, (thick, size) = chart.bars, (0.66, 8) if chart.dense else (0.62, 9)
    places, ends = list(range(len(bars))), [bar.ends for bar in bars]
    lows, highs = ([end[side] for end in ends] for side in (0, 1))
    solid = ax.barh(places, lows, height=thick, color=[COLORS[bar.role] for bar in bars], zorder=2)
    hatched: dict[str, Any] = {"facecolor": NODE, "hatch": "////", "linewidth": 1.0, "zorder": 2, "gid": "bounds"}
    for place, bar, (low, high), patch in zip(places, bars, ends, solid, strict=True):
        if isinstance(bar.value, Bounds):
            patch.set_alpha(0.5)
            ax.barh(place, high - low, left=low, height=thick, edgecolor=COLORS[bar.role], **hatched)
    whiskers(ax, highs, places, [bar.error for bar in bars], "x")
    ax.set_yticks(places, labels=["\n".join(map(called, bar.name.split("\n"))) for bar in bars], **LITERAL)
    ax.set_ylim(len(bars) - 0.4, -0.6)
    texts = [bar.text or short(bar.value) for bar in bars]
    tips = [high + bar.error for high, bar in zip(highs, bars, strict=True)]
    labels = [(tip, end_label(ax, tip, at, text, size)) for tip, at, text in zip(tips, places, texts, strict=True)]
    make_room(ax, labels, 1.04 * max(*tips, chart.least, 0.0) or 1.0)
    light_frame(ax, "x")
    note(ax, [bar.value for bar in bars], texts)


# Curves: lines through points, columns, and bands between bounds


def plot_lines(result: Any, ax: Axes | None = None, *, title: Title = True) -> Axes:
    """Draw the curves that a result declares, such as that of :func:`obliv.pareto` or :func:`obliv.collisions`.

    Parameters
    ----------
    result : Result
        With a method ``lines``.
    ax, title
        As for :func:`obliv.view.plot`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there is nothing to draw.

    Examples
    --------
    >>> import obliv
    >>> ax = plot_lines(obliv.locality(obliv.routing("valiant", obliv.mesh(3, 3))))
    """
    chart: Lines = result.lines()
    own = ax is None
    ax = room(ax, *chart.inches)
    for curve in chart.curves:
        _SHAPES[curve.shape](ax, curve)
    for mark in chart.marks:
        mark_line(ax, mark)
    if chart.x_limits is not None:
        ax.set_xlim(chart.x_limits)
    if chart.y_limits is not None:
        ax.set_ylim(chart.y_limits)
    if chart.whole:
        whole_ticks(ax)
    ax.set_xlabel(chart.x)
    ax.set_ylabel(chart.y)
    light_frame(ax, "both")
    key(ax, ax.get_legend_handles_labels()[0])
    return finish_declared(result, chart, ax, own, title)


def _line(ax: Axes, curve: Curve) -> None:
    ax.plot(curve.xs, curve.ys, color=SERIES[0], linewidth=1.4, zorder=3)


def _points(ax: Axes, curve: Curve) -> None:
    ax.scatter(curve.xs, curve.ys, 36.0, color=SERIES[0], edgecolor=NODE, linewidth=0.7, zorder=4)


def _samples(ax: Axes, curve: Curve) -> None:
    ax.plot(curve.xs, curve.ys, linestyle="", marker="o", markersize=4, color=ACCENT, zorder=3, label=curve.name)


def _band(ax: Axes, curve: Curve) -> None:
    ax.stairs(curve.top, curve.xs, baseline=curve.ys, fill=True, color=SERIES[0], alpha=0.35, zorder=1)
    for side, name in ((curve.ys, curve.name), (curve.top, None)):
        ax.stairs(side, curve.xs, baseline=None, color=SERIES[0], linewidth=1.2, zorder=2, label=name)


def _level(ax: Axes, curve: Curve) -> None:
    ax.axvline(curve.xs[0], color=INK, linewidth=1.0, linestyle=_DASHED, label=curve.name)


def _columns(ax: Axes, curve: Curve) -> None:
    ax.bar(curve.xs, curve.ys, width=0.8, color=SERIES[0], zorder=2)
    if points_across(ax) <= _WIDER * max(map(len, curve.texts)) * len(curve.texts):
        return
    for x, y, text in zip(curve.xs, curve.ys, curve.texts, strict=True):
        mark = ax.annotate(text, (x, y), xytext=(0, 4), textcoords="offset points", zorder=7)
        mark.set(fontsize=8, color=INK, ha="center", va="bottom", **LITERAL)
        mark.set_bbox({"facecolor": NODE, "edgecolor": "none", "pad": 0.8})


_SHAPES = {
    "line": _line, "points": _points, "samples": _samples, "band": _band, "level": _level, "columns": _columns,
}  # fmt: skip
