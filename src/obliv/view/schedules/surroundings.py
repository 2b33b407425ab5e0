"""What stands round a picture of a schedule: legend above, caption below, and the marks that all of them share."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.typing import Array
from obliv.results.schedule import Schedule
from obliv.view.axes import figure_of
from obliv.view.literal import LITERAL, literally
from obliv.view.style import FAINT, INK, QUIET, SERIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "CYCLE",
    "MARKS",
    "about",
    "above",
    "aside",
    "below",
    "called",
    "colour_of",
    "crosses",
    "dots",
    "framed",
    "lines",
    "note",
    "sample",
    "squares",
    "tint",
]


CYCLE = SERIES[:6]  # the last two are for what is quiet and for marks
_POINTS = 4.7  # width of a letter of the legend and the caption


def colour_of(number: int) -> str:
    """The colour of wave, boat or packet `number`, counted from 0; they come round again."""
    return CYCLE[number % len(CYCLE)]


def tint(colour: str, share: float) -> tuple[float, float, float]:
    """So much of a colour, the rest white."""
    from matplotlib.colors import to_rgb

    red, green, blue = (1.0 - share * (1.0 - part) for part in to_rgb(colour))
    return red, green, blue


def aside(packets: Array, most: float) -> Array:
    """How far to draw packets up or down, each always by as much, since lines on one level would hide each other."""
    return np.column_stack([np.zeros(len(packets)), ((packets * 0.61803398875 + 0.5) % 1.0 - 0.5) * most])


def lines(ax: Axes, name: str, pieces: Sequence[Array], colours: Sequence[Any], **look: Any) -> None:
    """Many lines as one collection of that name."""
    from matplotlib.collections import LineCollection

    look = {"linewidths": 1.1, "capstyle": "round", "joinstyle": "round", "zorder": 3, **look}
    made = LineCollection(list(pieces), colors=list(colours) or None, **look)
    made.set_gid(name)
    ax.add_collection(made, autolim=False)


def dots(ax: Axes, at: Array, colours: Any, size: float = 13.0) -> None:
    """Where packets enter."""
    ax.scatter(at[:, 0], at[:, 1], s=size, c=colours, linewidths=0, zorder=4.5).set_gid("injections")


def squares(ax: Axes, at: Array, colours: Any, size: float = 15.0) -> None:
    """Where packets arrive."""
    made = ax.scatter(at[:, 0], at[:, 1], s=size, marker="s", facecolors="white", edgecolors=colours, zorder=4.6)
    made.set_linewidth(1.0)
    made.set_gid("deliveries")


def crosses(ax: Axes, at: Array, size: float = 26.0) -> None:
    """Where packets are deflected; with a white rim that sets them off from the lines."""
    for colour, width, name, order in (("white", 3.2, "rims", 5.0), (INK, 1.7, "deflections", 5.1)):
        made = ax.scatter(at[:, 0], at[:, 1], s=size, marker="x", c=colour, linewidths=width, zorder=order)
        made.set_gid(name)


MARKS: dict[str, dict[str, Any]] = {
    "injection": {"marker": "o", "color": INK, "markersize": 4.2, "linestyle": "none", "markeredgewidth": 0},
    "delivery": {"marker": "s", "color": INK, "markersize": 4.4, "linestyle": "none", "markerfacecolor": "white"},
    "deflection": {"marker": "x", "color": INK, "markersize": 5.6, "linestyle": "none", "markeredgewidth": 1.7},
    "boat": {"color": FAINT, "linestyle": (0, (1, 2)), "linewidth": 1.3},
}


def sample(label: str, **look: Any) -> Any:
    """A line or mark of the legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **look)


def above(ax: Axes, handles: Sequence[Any], lift: float) -> None:
    """The legend in rows above the axes, `lift` points over them."""
    from matplotlib.transforms import ScaledTranslation

    wide = sum(_POINTS * len(handle.get_label()) + 38.0 for handle in handles)
    rows = int(wide // (_width(ax) + 30.0)) + 1
    made = ax.legend(
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
    literally(made.get_texts())


def below(ax: Axes, sentences: Iterable[str], drop: float = 34.0) -> None:
    """The caption: sentences below the axes, broken where they are too long."""
    letters = max(int((_width(ax) + 24.0) / _POINTS), 30)
    text = "\n".join(line for each in sentences if each for line in textwrap.wrap(each, letters))
    look = {"fontsize": 9, "va": "top", "ha": "left", "linespacing": 1.35}
    note(ax, text, (0.0, 0.0), "axes fraction", (-24.0, -drop), **look).set_gid("caption")


def note(ax: Axes, text: str, at: tuple[float, float], of: Any, shift: tuple[float, float], **look: Any) -> Any:
    """A small text that stands `shift` points beside a place; `of` says what the place's coordinates are of."""
    made = ax.annotate(text, at, xycoords=of, xytext=shift, textcoords="offset points", fontsize=8.5)
    made.set(**{"color": INK, **LITERAL, **look})
    return made


def called(algorithm: str) -> str:
    """An algorithm's name at the beginning of a sentence."""
    text = algorithm.replace("-", " ")
    return "FIFO" if text == "fifo" else text[:1].upper() + text[1:]


def about(schedule: Schedule, *more: str) -> str:
    """The caption's first sentence: the instance and its numbers."""
    numbers = [
        f"N = {schedule.packets:,} {'packet' if schedule.packets == 1 else 'packets'}",
        f"C = {schedule.congestion:,}",
        f"D = {schedule.dilation:,}",
        *more,
    ]
    paths = schedule.routing if schedule.routing.endswith(("paths", "walks")) else f"{schedule.routing} paths"
    return f"{schedule.topology}, {paths}: {', '.join(numbers)}."


def framed(ax: Axes, x: str, y: str) -> None:
    """What the axes are, whole numbers along them, and a quiet frame."""
    from matplotlib.ticker import MaxNLocator

    ax.set_xlabel(x, fontsize=9.5)
    ax.set_ylabel(y, fontsize=9.5)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
    ax.tick_params(labelsize=8.5, length=3, color=FAINT)
    for side in ax.spines.values():
        side.set_color(QUIET)


def _width(ax: Axes) -> float:
    """Of the axes, in points."""
    return float(np.asarray(ax.get_window_extent().width) * 72.0 / figure_of(ax).dpi)
