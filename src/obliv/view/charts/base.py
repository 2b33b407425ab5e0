"""Parts that all charts share: a light frame, a legend, whiskers, the line of capacity."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv.results import Bounds, Estimate
from obliv.view.axes import points_across
from obliv.view.figures import figure_of
from obliv.view.literal import LITERAL, set_literal, wrapped
from obliv.view.style import INK, NODE, QUIET

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

__all__ = [
    "end_label",
    "legend",
    "light_frame",
    "make_room",
    "mark_capacity",
    "mark_line",
    "note",
    "whiskers",
    "whole_ticks",
]

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
