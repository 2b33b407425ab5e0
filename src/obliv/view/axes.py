"""The axes of a picture with their title, key and color bar."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from obliv._util.text import did_you_mean
from obliv.errors import InputError
from obliv.view.background import recolor
from obliv.view.figures import figure_of, require_matplotlib
from obliv.view.literal import LITERAL, set_literal, without_warnings, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "Title",
    "bar",
    "called",
    "finish",
    "key",
    "most_inches",
    "naming",
    "narrow",
    "points_across",
    "points_per_unit",
    "room",
    "subject_of",
    "title_of",
]

#: Whether a picture has a title, or another title than its own.
Title = bool | str

_FLAT = 90.0  # points; lower drawings have the color bar below
_KEY_LETTERS = 90  # in a line of a key
_LETTER, _LINE = 5.7, 340.0  # points: width of a letter of a title; least width of its lines


def room(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the given axes, or axes of a size in inches that fill a new figure; see :func:`finish`."""
    require_matplotlib()
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.figure(figsize=(min(width, most_inches()), height), layout="none").add_axes((0.0, 0.0, 1.0, 1.0))


_MOST: ContextVar[float] = ContextVar("most inches of a new drawing", default=11.0)


def most_inches() -> float:
    """Return the width in inches that a new drawing may have, without its color bar and names."""
    return _MOST.get()


@contextmanager
def narrow(inches: float) -> Iterator[None]:
    """Limit the width of new drawings inside a ``with`` statement; texts keep their size."""
    token = _MOST.set(min(inches, 11.0))
    try:
        yield
    finally:
        _MOST.reset(token)


def finish(ax: Axes, own: bool, lines: Sequence[str] = (), remarks: Sequence[str] = (), *, title: Title = True) -> Axes:
    """Finish a picture: write its title, if any, or another one, and fit a figure created here to its content."""
    if isinstance(title, str):
        lines, remarks = title.splitlines(), ()
    if title and lines:
        _title(ax, lines, remarks)
    if own:
        _fit(ax)
    recolor(ax)
    return ax


_NAMES: ContextVar[Mapping[str, str] | None] = ContextVar("names of specs in pictures", default=None)
_ASKED: ContextVar[set[str] | None] = ContextVar("specs in a picture", default=None)


@contextmanager
def naming(names: Mapping[str, str] | None) -> Iterator[None]:
    """Write names in place of specs inside a ``with`` statement; InputError where a picture has no such spec."""
    if not names:
        yield
        return
    asked: set[str] = set()
    before, outer = _NAMES.set(names), _ASKED.set(asked)
    try:
        yield
    finally:
        _NAMES.reset(before)
        _ASKED.reset(outer)
    for spec in names:
        if spec not in asked:
            raise InputError(f"{spec!r:.60} is not in this picture: {did_you_mean(spec, asked)}")


def called(spec: str) -> str:
    """Return the name that a routing or topology has in pictures: its spec, unless :func:`naming` gives another."""
    if (asked := _ASKED.get()) is not None:
        asked.add(spec)
    return (_NAMES.get() or {}).get(spec, spec)


def title_of(result: Any) -> str:
    """Return the title of a result, with the names of :func:`naming`."""
    return str(replace(result, routing=called(result.routing), topology=called(result.topology)).title)


def subject_of(result: Any) -> str:
    """Return what a result is about, for the title of its picture."""
    return f"{called(result.routing)} on {called(result.topology)}"


def points_per_unit(ax: Axes) -> float:
    """Return the length of a data unit in points."""
    box = ax.get_window_extent()
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    pixels = min(box.width / max(abs(right - left), 1e-9), box.height / max(abs(top - bottom), 1e-9))
    return float(pixels * 72.0 / figure_of(ax).dpi)


def points_across(ax: Axes) -> float:
    """Return the width of axes in points."""
    return float(ax.get_window_extent().width * 72.0 / figure_of(ax).dpi)


def bar(ax: Axes, colored: Any, label: str) -> None:
    """Draw a color bar beside the axes and their texts, or below flat axes."""
    width, height = _size(ax)
    if height >= _FLAT:
        tall = min(height, 260.0) / height
        place, direction = (1 + (10.0 + _beyond(ax)[0]) / width, (1 - tall) / 2, 9.0 / width, tall), "vertical"
    else:
        place, direction = (0.1, -max(46.0, 18.0 + _labeled(ax)) / height, 0.8, 8.0 / height), "horizontal"
    colorbar = figure_of(ax).colorbar(colored, cax=ax.inset_axes(place), orientation=direction)
    colorbar.set_label(label, fontsize=9, **LITERAL)
    colorbar.ax.tick_params(labelsize=8, length=2)
    colorbar.outline.set_visible(False)


def key(ax: Axes, handles: list[Any]) -> None:
    """Draw the key in one row below the axes and their labels, or in a column where it is too narrow."""
    from matplotlib.transforms import ScaledTranslation

    if not handles:
        return
    for handle in handles:
        handle.set_label(wrapped(handle.get_label(), min(_KEY_LETTERS, int(15 * most_inches()))))
    width, height = _size(ax)
    below = 14.0 + (12.0 if len(ax.get_xticks()) else 0.0) + (15.0 if ax.get_xlabel() else 0.0)
    below = max(below, 92.0) if height < _FLAT else below
    below = max(below, 8.0 + _beyond(ax)[2])
    long = sum(4.8 * len(handle.get_label()) + 36.0 for handle in handles)
    legend = ax.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=ax.transAxes + ScaledTranslation(0.0, -below / 72.0, figure_of(ax).dpi_scale_trans),
        ncols=len(handles) if long < width + 120.0 else 1,
        fontsize=9,
        frameon=False,
        borderaxespad=0.0,
        columnspacing=1.4,
        handlelength=1.8,
    )
    set_literal(legend.get_texts())


def _title(ax: Axes, lines: Sequence[str], remarks: Sequence[str]) -> None:
    """Write lines above the axes; the remarks follow on the last line where they fit, else below it."""
    width = max(_size(ax)[0], points_across(ax))
    last = "; ".join([lines[-1], *remarks])
    ends = [last] if _LETTER * len(last) < width + 90.0 else [lines[-1], *remarks]
    letters = int(max(width + 90.0, min(_LINE, 80.0 * most_inches())) / _LETTER)
    text = "\n".join(wrapped(line, letters) for line in (*lines[:-1], *ends))
    ax.set_title(text, fontsize=11, pad=12 + _beyond(ax)[1], **LITERAL)


def _fit(ax: Axes) -> None:
    """Fit a figure to everything on and around its axes, which keep their size."""
    figure = figure_of(ax)
    ax.apply_aspect()
    with without_warnings():
        around, inner = ax.get_tightbbox(), ax.get_window_extent().frozen()
    if around is None:
        return
    margin = 0.12 * figure.dpi
    width, height = around.width + 2 * margin, around.height + 2 * margin
    left, low = inner.x0 - around.x0 + margin, inner.y0 - around.y0 + margin
    figure.set_size_inches(width / figure.dpi, height / figure.dpi)
    ax.set_position((left / width, low / height, inner.width / width, inner.height / height))


def _beyond(ax: Axes) -> tuple[float, float, float]:
    """Return how far the texts on the axes reach beyond them to the right, above and below, in points."""
    texts = [*ax.texts, *([legend] if (legend := ax.get_legend()) is not None and legend.get_gid() == "above" else [])]
    if not texts:
        return 0.0, 0.0, 0.0
    ax.apply_aspect()
    inner, scale = ax.get_window_extent(), 72.0 / figure_of(ax).dpi
    with without_warnings():
        boxes = [text.get_window_extent() for text in texts]
    right = max(text.x1 for text in boxes) - inner.x1
    above = max(text.y1 for text in boxes) - inner.y1
    below = inner.y0 - min(text.y0 for text in boxes)
    return max(right * scale, 0.0), max(above * scale, 0.0), max(below * scale, 0.0)


def _labeled(ax: Axes) -> float:
    """Return how far the ticks below the axes reach, with their names and that of the axis, in points."""
    with without_warnings():
        box = ax.xaxis.get_tightbbox()
    return 0.0 if box is None else float(ax.get_window_extent().y0 - box.y0) * 72.0 / figure_of(ax).dpi


def _size(ax: Axes) -> tuple[float, float]:
    """Return width and height of the drawing in points; unless it fills the axes, it has one scale both ways."""
    if ax.get_aspect() == "auto":
        box, points = ax.get_window_extent(), 72.0 / figure_of(ax).dpi
        return float(box.width * points), float(box.height * points)
    unit = points_per_unit(ax)
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    return abs(right - left) * unit, abs(high - low) * unit
