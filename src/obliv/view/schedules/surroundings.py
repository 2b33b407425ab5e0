"""Legends, captions, marks and frames that all pictures of schedules share."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.typing import Array
from obliv.results.bufferless.schedule import Schedule
from obliv.view.axes import called, points_across
from obliv.view.figures import figure_of
from obliv.view.literal import LITERAL, set_literal
from obliv.view.style import FAINT, INK, NODE, QUIET, SERIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "CYCLE",
    "MARKS",
    "about",
    "above",
    "aside",
    "below",
    "color_of",
    "crosses",
    "dots",
    "framed",
    "lines",
    "note",
    "sample",
    "squares",
    "tint",
    "title_case",
]


CYCLE = SERIES[:6]  # the last two colors are for idle parts and for marks
_POINTS = 4.7  # width of a letter of legend and caption


def color_of(number: int) -> str:
    """Return the color of wave, boat or packet `number`, counted from 0; colors repeat."""
    return CYCLE[number % len(CYCLE)]


def tint(color: str, share: float) -> tuple[float, float, float]:
    """Return a mix of a color, in this share, with the background of new pictures."""
    from matplotlib import rcParams
    from matplotlib.colors import to_rgb

    ground = to_rgb(rcParams["figure.facecolor"])
    red, green, blue = (under + share * (part - under) for part, under in zip(to_rgb(color), ground, strict=True))
    return red, green, blue


def aside(packets: Array, most: float) -> Array:
    """Return a fixed vertical offset for every packet, so that lines on one level do not hide each other."""
    return np.column_stack([np.zeros(len(packets)), ((packets * 0.61803398875 + 0.5) % 1.0 - 0.5) * most])


def lines(ax: Axes, name: str, pieces: Sequence[Array], colors: Sequence[Any], **look: Any) -> None:
    """Draw many lines as one collection with this name."""
    from matplotlib.collections import LineCollection

    look = {"linewidths": 1.1, "capstyle": "round", "joinstyle": "round", "zorder": 3, **look}
    collection = LineCollection(list(pieces), colors=list(colors) or None, **look)
    collection.set_gid(name)
    ax.add_collection(collection, autolim=False)


def dots(ax: Axes, at: Array, colors: Any, size: float = 13.0) -> None:
    """Mark where packets enter."""
    ax.scatter(at[:, 0], at[:, 1], s=size, c=colors, linewidths=0, zorder=4.5).set_gid("injections")


def squares(ax: Axes, at: Array, colors: Any, size: float = 15.0) -> None:
    """Mark where packets arrive."""
    marks = ax.scatter(at[:, 0], at[:, 1], s=size, marker="s", facecolors=NODE, edgecolors=colors, zorder=4.6)
    marks.set_linewidth(1.0)
    marks.set_gid("deliveries")


def crosses(ax: Axes, at: Array, size: float = 26.0) -> None:
    """Mark where packets are deflected, with a white rim around each mark."""
    for color, width, name, order in ((NODE, 3.2, "rims", 5.0), (INK, 1.7, "deflections", 5.1)):
        marks = ax.scatter(at[:, 0], at[:, 1], s=size, marker="x", c=color, linewidths=width, zorder=order)
        marks.set_gid(name)


MARKS: dict[str, dict[str, Any]] = {
    "injection": {"marker": "o", "color": INK, "markersize": 4.2, "linestyle": "none", "markeredgewidth": 0},
    "delivery": {"marker": "s", "color": INK, "markersize": 4.4, "linestyle": "none", "markerfacecolor": NODE},
    "deflection": {"marker": "x", "color": INK, "markersize": 5.6, "linestyle": "none", "markeredgewidth": 1.7},
    "boat": {"color": FAINT, "linestyle": (0, (1, 2)), "linewidth": 1.3},
}


def sample(label: str, **look: Any) -> Any:
    """Return a line or mark for the legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **look)


def above(ax: Axes, handles: Sequence[Any], lift: float) -> None:
    """Draw the legend in rows, `lift` points above the axes."""
    from matplotlib.transforms import ScaledTranslation

    wide = sum(_POINTS * len(handle.get_label()) + 38.0 for handle in handles)
    rows = int(wide // (points_across(ax) + 30.0)) + 1
    legend = ax.legend(
        handles=list(handles),
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        bbox_transform=ax.transAxes + ScaledTranslation(0.0, lift / 72.0, figure_of(ax).dpi_scale_trans),
        ncols=-(-len(handles) // rows),
        fontsize=9,
        frameon=False,
        borderaxespad=0.0,
        columnspacing=1.5,
        handlelength=1.6,
        handletextpad=0.6,
    )
    legend.set_gid("above")
    set_literal(legend.get_texts())


def below(ax: Axes, sentences: Iterable[str], drop: float = 34.0) -> None:
    """Write the caption below the axes, wrapped to their width."""
    letters = max(int((points_across(ax) + 24.0) / _POINTS), 30)
    text = "\n".join(line for sentence in sentences if sentence for line in textwrap.wrap(sentence, letters))
    look = {"fontsize": 9, "va": "top", "ha": "left", "linespacing": 1.35}
    note(ax, text, (0.0, 0.0), "axes fraction", (-24.0, -drop), **look).set_gid("caption")


def note(ax: Axes, text: str, at: tuple[float, float], of: Any, shift: tuple[float, float], **look: Any) -> Any:
    """Write a small text `shift` points beside a place, which has the coordinates `of`; return the annotation."""
    annotation = ax.annotate(text, at, xycoords=of, xytext=shift, textcoords="offset points", fontsize=8.5)
    annotation.set(**{"color": INK, **LITERAL, **look})
    return annotation


def title_case(algorithm: str) -> str:
    """Return the name of an algorithm for the beginning of a sentence."""
    text = algorithm.replace("-", " ")
    return "FIFO" if text == "fifo" else text[:1].upper() + text[1:]


def about(schedule: Schedule, *more: str) -> str:
    """Return the first sentence of the caption: the instance and its numbers."""
    numbers = [
        f"N = {schedule.packets:,} {'packet' if schedule.packets == 1 else 'packets'}",
        f"C = {schedule.congestion:,}",
        f"D = {schedule.dilation:,}",
        *more,
    ]
    paths = schedule.routing if schedule.routing.endswith(("paths", "walks")) else f"{schedule.routing} paths"
    return f"{called(schedule.topology)}, {paths}: {', '.join(numbers)}."


def framed(ax: Axes, time: str) -> None:
    """Label the axes, time and level, with whole numbers along them and a light frame."""
    from matplotlib.ticker import MaxNLocator

    ax.set_xlabel(time, fontsize=9.5)
    ax.set_ylabel("level", fontsize=9.5)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
    ax.tick_params(labelsize=8.5, length=3, color=FAINT)
    for side in ax.spines.values():
        side.set_color(QUIET)
