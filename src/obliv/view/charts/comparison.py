"""Routings side by side: numbers as bars, lines over topologies, and the plane of throughput and locality."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from obliv._util.text import did_you_mean
from obliv.errors import InputError
from obliv.questions.compare import Comparison, Entry
from obliv.results.base import Mark, unit_of
from obliv.results.numbers import Estimate, short
from obliv.view.axes import LITERAL, MARKERS, NODE, SERIES, Title, called, finish, require_matplotlib, room
from obliv.view.charts.base import end_label, legend, light_frame, make_room, mark_line, note, whiskers
from obliv.view.labels import label_points

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
    of : str
        The quantity: ``worst``, ``average`` or a pattern; default the worst case, and for bars all quantities.
    ax, title
        As for :func:`obliv.view.plot`.

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


# The numbers of a comparison that a picture shows, with their names


Amount = Fraction | Estimate | None


#: What pictures of the worst case, the average and a pattern are about, by quantity.
_TITLES = {
    "load": ("worst-case channel load", "mean of the largest channel load", "largest channel load"),
    "capacity": ("worst case as a fraction of capacity", "average as a fraction of capacity", "fraction of capacity"),
    "throughput": ("worst-case throughput", "average throughput", "throughput"),
}


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
        worst, average, other = _TITLES[self.quantity]
        return {"worst": worst, "average": average}.get(what, other + (f" under {what}" if what else ""))

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
        mark_line(ax, Mark(1.0, "capacity"))
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
