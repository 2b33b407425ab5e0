"""Parts that all charts share: a light frame, a legend, whiskers, the line of capacity."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from obliv.errors import InputError
from obliv.questions.compare import Entry
from obliv.results.base import Bar, Bars, unit_of
from obliv.results.numbers import Bounds, Estimate, short
from obliv.view.axes import (
    ACCENT,
    INK,
    LITERAL,
    MARKERS,
    NODE,
    QUIET,
    SERIES,
    Title,
    called,
    figure_of,
    finish,
    points_across,
    room,
    set_literal,
    subject_of,
    title_of,
    wrapped,
)
from obliv.view.labels import label_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation


_WIDEST = 30  # letters of a legend beside the axes
_AXIS = 0.55  # inches: numbers and name of the axis below
_LINE = 0.16  # inches: a line of the note there
_LETTER = 4.3  # points: width of a letter of a note


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


def mark_line(ax: Axes, at: float, name: str, gid: str, side: str = "center") -> None:
    """Draw a dashed line at a value, behind bars and numbers, with its name above it."""
    ax.axvline(at, color=INK, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)
    ax.annotate(
        name,
        (at, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(0, 3),
        textcoords="offset points",
        ha=side,
        va="bottom",
        fontsize=8,
        color=INK,
        gid=gid,
    )


def mark_capacity(ax: Axes) -> None:
    """Draw a dashed line at the capacity."""
    mark_line(ax, 1.0, "capacity", "capacity")


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


def plot_bars(result: Any, ax: Axes | None = None, *, title: Title = True) -> Axes:
    """Draw the bars that a result declares: solid where exact, pale and hatched between bounds, whiskers for estimates.

    Parameters
    ----------
    result : Result
        With a method ``bars``, such as that of :func:`obliv.throughput` or :func:`obliv.average_case`.
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
        If there is nothing to draw.

    Examples
    --------
    >>> import obliv
    >>> ax = plot_bars(obliv.throughput(obliv.routing("dor", obliv.torus(9, 9)), "tornado", "uniform"))
    """
    chart: Bars = result.bars()
    if not chart.bars:
        raise InputError(f"this result of the kind {result.kind} has no numbers: there is nothing to draw")
    own = ax is None
    ax = room(ax, 5.6, height_of(chart.bars))
    for mark in chart.marks:
        mark_line(ax, mark.at, mark.name, mark.name, mark.side)
    draw_numbers(ax, chart.bars, chart.least)
    if chart.whole:
        whole_ticks(ax)
    ax.set_xlabel(chart.axis)
    names = {"subject": subject_of(result), "topology": called(result.topology), "title": title_of(result)}
    heading = [_filled(line, names) for line in chart.heading]
    return finish(ax, own, heading, chart.remarks, title=title)


def _filled(line: str, names: dict[str, str]) -> str:
    """Return a line of a heading with the names of what it is about."""
    return re.sub(r"\{(\w+)\}", lambda match: names.get(match[1], match[0]), line)


def height_of(bars: Sequence[Bar]) -> float:
    """Return the height of new axes for bars, in inches."""
    return 0.6 + sum(0.24 + 0.14 * (1 + bar.name.count("\n")) for bar in bars)


def draw_numbers(ax: Axes, bars: Sequence[Bar], least: float = 0.0) -> None:
    """Draw bars from top to bottom with their numbers; the axes reach to `least` at least."""
    places, ends = list(range(len(bars))), [bar.ends for bar in bars]
    lows, highs = ([end[side] for end in ends] for side in (0, 1))
    solid = ax.barh(places, lows, height=0.62, color=[COLORS[bar.role] for bar in bars], zorder=2)
    hatched: dict[str, Any] = {"facecolor": NODE, "hatch": "////", "linewidth": 1.0, "zorder": 2, "gid": "bounds"}
    for place, bar, (low, high), patch in zip(places, bars, ends, solid, strict=True):
        if isinstance(bar.value, Bounds):
            patch.set_alpha(0.5)
            ax.barh(place, high - low, left=low, height=0.62, edgecolor=COLORS[bar.role], **hatched)
    whiskers(ax, highs, places, [bar.error for bar in bars], "x")
    ax.set_yticks(places, labels=["\n".join(map(called, bar.name.split("\n"))) for bar in bars], **LITERAL)
    ax.set_ylim(len(bars) - 0.4, -0.6)
    texts = [bar.text or short(bar.value) for bar in bars]
    tips = [high + bar.error for high, bar in zip(highs, bars, strict=True)]
    labels = [(tip, end_label(ax, tip, at, text, 9)) for tip, at, text in zip(tips, places, texts, strict=True)]
    make_room(ax, labels, 1.04 * max(*tips, least, 0.0) or 1.0)
    light_frame(ax, "x")
    note(ax, [bar.value for bar in bars], texts)


# The numbers of a comparison that a picture shows, with their names


Amount = Fraction | Estimate | None


@dataclass(frozen=True)
class ChartData:
    """The rows of a chart, in a quantity: fractions of ``capacity``, ``throughput`` or ``load``."""

    entries: Sequence[Entry]
    quantity: str

    def of(self, what: str) -> list[Amount]:
        """Return the worst case, the average or a pattern of every row."""
        return [entry.figure(self.quantity, what) for entry in self.entries]

    def label(self, what: str) -> str:
        """Return the name of a bar, with a remark on traffic that is not admissible, or limited by a terminal."""
        if not (verdict := self.verdict(what)):
            return name_of(what)
        rows = [row for entry in self.entries if (row := entry.under.get(what)) is not None]
        limits = {row.limited_by.text for row in rows if row.by_terminal and row.limited_by is not None}
        limited = f",\nlimited by {min(limits)}" if len(limits) == 1 else ", limited by terminals" if limits else ""
        alone = "; by the channels alone" if limits and self.quantity == "capacity" else ""
        return f"{name_of(what)} ({verdict}{limited}{alone})"

    def verdict(self, what: str) -> str:
        """Return that traffic is not admissible, and which terminal exceeds its rate, if it is one in all rows."""
        rows = [row for entry in self.entries if (row := entry.under.get(what)) is not None and not row.admissible]
        verdicts = {row.verdict for row in rows}
        return min(verdicts) if len(verdicts) == 1 else "not admissible" if verdicts else ""

    @property
    def unit(self) -> str:
        """Unit of the numbers."""
        if self.quantity != "throughput":
            return {"capacity": "fraction of capacity", "load": "largest channel load"}[self.quantity]
        times = any(entry.beyond for entry in self.entries)
        return "times the traffic" if times else unit_of(any(entry.rated for entry in self.entries))

    def title(self, what: str) -> str:
        """Return the title of a picture of the worst case, the average, a pattern, or of all for an empty text."""
        if self.quantity == "load":
            own = {"worst": "worst-case channel load", "average": "mean of the largest channel load"}
            return own.get(what, f"largest channel load{f' under {what}' if what else ''}")
        if self.quantity == "capacity":
            own = {"worst": "worst case as a fraction of capacity", "average": "average as a fraction of capacity"}
            return own.get(what, f"fraction of capacity{f' under {what}' if what else ''}")
        own = {"worst": "worst-case throughput", "average": "average throughput"}
        return own.get(what, f"throughput{f' under {what}' if what else ''}")

    @property
    def topologies(self) -> list[str]:
        """Topologies in the order of the rows."""
        return list(dict.fromkeys(entry.topology for entry in self.entries))

    @property
    def routings(self) -> list[str]:
        """Routings in the order of the rows."""
        return list(dict.fromkeys(entry.routing for entry in self.entries))


def floats(values: Sequence[Amount]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return numbers and their standard errors; NaN for missing numbers and for errors of exact numbers."""
    errors = [value.stderr if isinstance(value, Estimate) else np.nan for value in values]
    return np.array([np.nan if value is None else float(value) for value in values]), np.array(errors, float)


def name_of(what: str) -> str:
    """Return the name of a bar."""
    return {"worst": "worst case"}.get(what, what)


# Bars of a comparison: a group for every routing, with the numbers at their ends


_LONGEST = 11  # characters of a fraction that is written in full, as in the table


def draw_bars(figures: ChartData, shown: Sequence[str], ax: Axes | None) -> Axes:
    """Draw a group of bars for every row: the worst case, the average and patterns."""
    rows = len(figures.entries)
    thick = 0.84 / len(shown)
    ax = room(ax, 5.6, 0.5 + rows * max(0.34, 0.21 * len(shown)))
    ends, texts = [], []
    for k, what in enumerate(shown):
        values = figures.of(what)
        places = np.arange(rows) - 0.42 + thick * (k + 0.5)
        amounts, errors = floats(values)
        widths = np.nan_to_num(amounts)
        look: dict[str, Any] = {"color": SERIES[k % len(SERIES)], "hatch": "////" if k >= len(SERIES) else None}
        look |= {"edgecolor": NODE, "linewidth": 0, "zorder": 2}
        ax.barh(places, widths, height=0.86 * thick, label=figures.label(what), **look)
        whiskers(ax, widths, places, errors, "x")
        tips = widths + np.nan_to_num(errors)
        for at, tip, value, entry in zip(places.tolist(), tips.tolist(), values, figures.entries, strict=True):
            texts.append(_why_not(entry, what) if value is None else short(value, _LONGEST))
            ends.append((tip, end_label(ax, tip, at, texts[-1], 8)))
    several = len(figures.topologies) > 1
    names = [called(entry.routing) + (f"\non {called(entry.topology)}" if several else "") for entry in figures.entries]
    ax.set_yticks(range(rows), labels=names, **LITERAL)
    ax.set_ylim(rows - 0.4, -0.6)
    most = max(tip for tip, _ in ends)
    make_room(ax, ends, 1.04 * most or 1.0)
    if figures.quantity == "capacity" and most >= 1.0:
        mark_capacity(ax)
    light_frame(ax, "x")
    ax.set_xlabel(figures.unit)
    note(ax, [value for what in shown for value in figures.of(what)], texts)
    if len(shown) > 1:
        legend(ax)
    return ax


def _why_not(entry: Entry, what: str) -> str:
    """Return why there is no bar: the pattern or the routing does not fit the network, or loads no channel."""
    return "does not fit" if what in entry.reasons or "routing" in entry.reasons else "loads nothing"


# Lines of a comparison: throughput over the topologies, a line for each routing


def draw_lines(figures: ChartData, what: str, ax: Axes | None) -> Axes:
    """Draw a line for every routing over the topologies, in their order."""
    topologies = figures.topologies
    ax = room(ax, max(4.2, min(9.0, 1.2 + 0.62 * len(topologies))), 3.4)
    keys = [(entry.routing, entry.topology) for entry in figures.entries]
    values = dict(zip(keys, figures.of(what), strict=True))
    most = 0.0
    for number, routing in enumerate(figures.routings):
        heights, errors = floats([values.get((routing, topology)) for topology in topologies])
        most = max(most, float(np.nanmax(heights + np.nan_to_num(errors))))
        # Routings often agree: later lines and markers are smaller, so that those below stay visible.
        ax.plot(
            range(len(topologies)),
            heights,
            color=SERIES[number % len(SERIES)],
            marker=MARKERS[number % len(MARKERS)],
            markersize=max(4.5, 8.5 - 1.1 * number),
            linewidth=max(1.2, 2.8 - 0.4 * number),
            markeredgecolor=NODE,
            markeredgewidth=0.6,
            label=called(routing),
            zorder=3 + number,
        )
        whiskers(ax, np.arange(len(topologies)), heights, errors, "y")
    marks = [called(topology) for topology in topologies]
    families = {topology.partition(":")[0] for topology in topologies}
    short = len(families) == 1 and marks == topologies
    names = [topology.partition(":")[2] for topology in topologies] if short else marks
    ax.set_xticks(range(len(topologies)), labels=names, **LITERAL)
    if sum(len(t) for t in (topologies if short else marks)) > 11 * len(topologies) or len(topologies) > 12:
        ax.tick_params(axis="x", rotation=30)
    ax.set_xlim(-0.4, len(topologies) - 0.6)
    ax.set_ylim(0.0, 1.12 * most)
    ax.set_xlabel(families.pop() if short else "topology", **LITERAL)
    ax.set_ylabel(figures.unit)
    light_frame(ax, "both")
    legend(ax)
    return ax


# The plane of a comparison: throughput over mean hops, a point for each routing


Point = tuple[float, float]

_WIDE = 26  # characters of a line of names


def draw_plane(figures: ChartData, what: str, ax: Axes | None) -> Axes:
    """Draw a point for every routing, or a trail over several topologies; equal routings share a point."""
    ax = room(ax, 5.2, 3.8)
    trails, errors = _trails(figures, what)
    together: dict[tuple[Point, ...], list[str]] = {}
    for routing, trail in trails.items():
        together.setdefault(tuple((round(x, 9), round(y, 9)) for x, y in trail), []).append(routing)
    longest = max(map(len, together))
    for number, (places, names) in enumerate(together.items()):
        style = number if longest > 1 else 0
        color = SERIES[style % len(SERIES)]
        xs, ys = np.array(places).T
        sizes = np.linspace(5.0, 10.0, len(xs)) ** 2 if len(xs) > 1 else [56.0]
        ax.plot(xs, ys, color=color, linewidth=1.0, zorder=3)
        marks = ax.scatter(xs, ys, sizes, color=color, marker=MARKERS[style % len(MARKERS)], zorder=4)
        marks.set(edgecolor=NODE, linewidth=0.7)
        whiskers(ax, xs, ys, np.array(errors[names[0]]), "y")
    spots = [spot for places in together for spot in places]
    for places in together:  # names keep clear of the trails too
        for start, end in pairwise(places):
            steps = [(t * (end[0] - start[0]), t * (end[1] - start[1])) for t in (0.2, 0.4, 0.6, 0.8)]
            spots += [(start[0] + right, start[1] + up) for right, up in steps]
    right, top = max(x for x, _ in spots), max(y for _, y in spots)
    ax.set_xlim(0.9, 1.0 + 1.25 * max(right - 1.0, 0.5))
    ax.set_ylim(0.0, 1.18 * top)
    ax.set_xlabel("mean hops, as a multiple of the least")
    unit = f" ({figures.unit})" if figures.quantity == "throughput" else ""  # the others name it themselves
    ax.set_ylabel(figures.title(what) + unit, **LITERAL)
    light_frame(ax, "both")
    label_points(ax, [(places[-1], _wrapped(names)) for places, names in together.items()], spots)
    return ax


def _trails(figures: ChartData, what: str) -> tuple[dict[str, list[Point]], dict[str, list[float]]]:
    """Return the points of every routing on the topologies that it fits, and the standard errors of the heights."""
    trails: dict[str, list[Point]] = {}
    errors: dict[str, list[float]] = {}
    heights, widths = floats(figures.of(what))
    for entry, height, width in zip(figures.entries, heights.tolist(), widths.tolist(), strict=True):
        if not np.isnan(height) and entry.hops_over_minimal is not None:
            trails.setdefault(entry.routing, []).append((float(entry.hops_over_minimal), height))
            errors.setdefault(entry.routing, []).append(width)
    if not trails:
        raise InputError("no routing of this comparison has both throughput and hops: there is nothing to draw")
    return trails, errors


def _wrapped(names: list[str]) -> str:
    return textwrap.fill(", ".join(map(called, names)), _WIDE, break_long_words=False, break_on_hyphens=False)
