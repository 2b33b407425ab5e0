"""The axes that a picture is drawn on, and what stands round them: title, key, colour bar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from obliv.errors import extra
from obliv.view.literal import LITERAL, broken, hushed, literally

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["bar", "figure_of", "finish", "key", "points_per_unit", "require_matplotlib", "room"]

_FLAT = 90.0  # points; lower drawings have their colour bar below
_KEY_LETTERS = 90  # of the lines of a key
_LETTER, _LINE = 5.7, 340.0  # points: a letter of a title, and what its lines may take above however narrow drawings


def require_matplotlib() -> None:
    """Refuse to draw where matplotlib is not installed, and say how to install it."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise extra("matplotlib", "plot") from None


def room(ax: Axes | None, width: float, height: float) -> Axes:
    """The given axes, or such of a size in inches that fill a new figure; see :func:`finish`."""
    require_matplotlib()
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.figure(figsize=(width, height), layout="none").add_axes((0.0, 0.0, 1.0, 1.0))


def finish(ax: Axes, own: bool, lines: Sequence[str] = (), remarks: Sequence[str] = ()) -> Axes:
    """The last step of every picture: the title, if there is one, and a figure of our own that fits what is drawn."""
    if lines:
        _title(ax, lines, remarks)
    if own:
        _fit(ax)
    return ax


def points_per_unit(ax: Axes) -> float:
    """How many points one data unit measures, for sizes that must be given in points."""
    box = ax.get_window_extent()
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    pixels = min(box.width / max(abs(right - left), 1e-9), box.height / max(abs(top - bottom), 1e-9))
    return float(pixels * 72.0 / figure_of(ax).dpi)


def bar(ax: Axes, coloured: Any, label: str) -> None:
    """A colour bar beside the axes and their texts, or below flat ones, that follows them wherever they go."""
    width, height = _size(ax)
    if height >= _FLAT:
        tall = min(height, 260.0) / height
        place, way = (1 + (10.0 + _beyond(ax)[0]) / width, (1 - tall) / 2, 9.0 / width, tall), "vertical"
    else:
        place, way = (0.1, -46.0 / height, 0.8, 8.0 / height), "horizontal"
    made = figure_of(ax).colorbar(coloured, cax=ax.inset_axes(place), orientation=way)
    made.set_label(label, fontsize=9, **LITERAL)
    made.ax.tick_params(labelsize=8, length=2)
    made.outline.set_visible(False)


def key(ax: Axes, handles: list[Any]) -> None:
    """What the signs mean, in one row below the axes and their labels, or in a column where it is narrow."""
    from matplotlib.transforms import ScaledTranslation

    if not handles:
        return
    for handle in handles:
        handle.set_label(broken(handle.get_label(), _KEY_LETTERS))
    width, height = _size(ax)
    below = 14.0 + (12.0 if len(ax.get_xticks()) else 0.0) + (15.0 if ax.get_xlabel() else 0.0)
    below = max(below, 92.0) if height < _FLAT else below
    below = max(below, 8.0 + _beyond(ax)[2])
    long = sum(4.8 * len(handle.get_label()) + 36.0 for handle in handles)
    made = ax.legend(
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
    literally(made.get_texts())


def figure_of(ax: Axes) -> Figure:
    """The figure that axes belong to."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure


def _title(ax: Axes, lines: Sequence[str], remarks: Sequence[str]) -> None:
    """Lines above the axes; the remarks follow the last line where they fit, else each on its own."""
    width = max(_size(ax)[0], ax.get_window_extent().width * 72.0 / figure_of(ax).dpi)
    last = "; ".join([lines[-1], *remarks])
    ends = [last] if _LETTER * len(last) < width + 90.0 else [lines[-1], *remarks]
    letters = int(max(width + 90.0, _LINE) / _LETTER)
    text = "\n".join(broken(each, letters) for each in (*lines[:-1], *ends))
    ax.set_title(text, fontsize=11, pad=12 + _beyond(ax)[1], **LITERAL)


def _fit(ax: Axes) -> None:
    """Make a figure of our own just as large as what stands on and around its axes; the axes keep their size."""
    figure = figure_of(ax)
    ax.apply_aspect()
    with hushed():
        around, inner = ax.get_tightbbox(), ax.get_window_extent().frozen()
    assert around is not None
    margin = 0.12 * figure.dpi
    width, height = around.width + 2 * margin, around.height + 2 * margin
    left, low = inner.x0 - around.x0 + margin, inner.y0 - around.y0 + margin
    figure.set_size_inches(width / figure.dpi, height / figure.dpi)
    ax.set_position((left / width, low / height, inner.width / width, inner.height / height))


def _beyond(ax: Axes) -> tuple[float, float, float]:
    """How far the texts on the axes stand out to the right, above and below, in points."""
    if not ax.texts:
        return 0.0, 0.0, 0.0
    ax.apply_aspect()
    inner, scale = ax.get_window_extent(), 72.0 / figure_of(ax).dpi
    with hushed():
        boxes = [each.get_window_extent() for each in ax.texts]
    right = max(each.x1 for each in boxes) - inner.x1
    above = max(each.y1 for each in boxes) - inner.y1
    below = inner.y0 - min(each.y0 for each in boxes)
    return max(right * scale, 0.0), max(above * scale, 0.0), max(below * scale, 0.0)


def _size(ax: Axes) -> tuple[float, float]:
    """Width and height of the drawing in points, whose two directions have one scale."""
    unit = points_per_unit(ax)
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    return abs(right - left) * unit, abs(high - low) * unit
