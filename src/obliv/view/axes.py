"""What all pictures share: ``plot`` for any result, axes with title and key, colors, dark background, safe texts."""

from __future__ import annotations

import re
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from obliv._util.text import did_you_mean, plural, printable
from obliv.capabilities import CAPABILITIES, Parts, load
from obliv.errors import InputError, extra
from obliv.results.base import PICTURES, Bars, Lines, Plane, Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

    from obliv.questions.worst_case import WorstTraffic


# Matplotlib, if it is installed, and the figure of axes


def require_matplotlib() -> None:
    """Raise MissingExtraError, which says how to install matplotlib, if it is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise extra("matplotlib", "plot") from None


def figure_of(ax: Axes) -> Figure:
    """Return the figure of axes."""
    figure = ax.get_figure(root=True)
    if figure is None:
        raise InputError("these axes belong to no figure")
    return figure


# Colors and sizes of all pictures: blue for channel loads, orange for single pairs, several for series.
#
# Pictures are drawn in the colors for white paper; a dark background replaces them (see below).


# Equal steps of lightness in OKLab; blue and orange differ under every common color blindness.
LOADS = ("#caefdd", "#9cd9cc", "#6ac2c2", "#3fa8bf", "#258abb", "#226dac", "#284e99", "#21367b", "#18205e")
SHARES = ("#f8b56e", "#f89845", "#ee7e2f", "#e2641b", "#cd5117", "#b83f12", "#9d361c", "#822d1f")

# Unordered series: the colors of Okabe and Ito, which differ under every common color blindness, with gray in place
# of their yellow, which is invisible on white. The markers differ as well.
SERIES = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#22262b", "#9aa2ab")
MARKERS = "osD^vPX*"

INK = "#22262b"
QUIET = "#c3c8ce"
FAINT = "#9aa2ab"
NODE = "#fefefe"  # paper: discs, rims and grounds of texts; matplotlib's own white is another color
BOX = "#e6e6e6"
ACCENT = "#d1430c"

MANY = 300  # nodes; larger networks are drawn with less detail


def colormap(name: str, steps: Sequence[str]) -> Colormap:
    """Return a colormap through equidistant colors."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list(name, list(steps))


# Pictures on a dark background: the colors for white paper are replaced once a picture is drawn


_PAPER, _TEXT = "#10151b", "#e6e9ec"

#: What stands on a dark background for each color; no color for it is one for white paper.
_DARK = {
    INK: _TEXT,
    QUIET: "#4b535c",
    NODE: _PAPER,
    BOX: "#2b333c",
    ACCENT: "#ff6b2c",
    SHARES[4]: "#ffc181",
    SHARES[-1]: "#ffd5ab",
    SERIES[0]: "#3f9bdc",
    LOADS[5]: LOADS[3],
    LOADS[8]: LOADS[1],
}

#: Colormaps from dim to bright: the largest values stand out from the background as they do on paper.
_MAPS = {"loads": LOADS[7::-1], "shares": ("#9c4410", "#c2581a", "#e2742b", "#f79a4d", "#ffc181")}


@contextmanager
def dark() -> Iterator[None]:
    """Draw on a dark background inside a ``with`` statement.

    Pictures also follow any style of matplotlib whose figures are dark, such as ``dark_background``.

    Examples
    --------
    >>> import obliv
    >>> with obliv.view.dark():
    ...     ax = obliv.view.plot_topology(obliv.mesh(3, 3))
    >>> ax.figure.get_facecolor()[0] < 0.1
    True
    """
    require_matplotlib()
    from matplotlib import rc_context

    text = ("text.color", "axes.labelcolor", "axes.edgecolor", "axes.titlecolor", "xtick.color", "ytick.color")
    ground = ("figure.facecolor", "axes.facecolor", "savefig.facecolor")
    colors: Any = dict.fromkeys(text, _TEXT) | dict.fromkeys(ground, _PAPER)
    with rc_context(colors):
        yield


def for_background(color: str) -> str:
    """Return what stands for a color of white paper in new pictures."""
    matplotlib = sys.modules.get("matplotlib")  # without it nothing asks for a dark background
    dark_now = matplotlib is not None and _is_dark(matplotlib.rcParams["figure.facecolor"])
    return _DARK.get(color, color) if dark_now else color


def recolor(ax: Axes) -> None:
    """Replace the colors of a picture where its figure has a dark background; a second call changes nothing."""
    if _is_dark(figure_of(ax).get_facecolor()):
        for artist in ax.findobj():
            _recolor(artist)


def _is_dark(ground: Any) -> bool:
    from matplotlib.colors import to_rgba

    red, green, blue, opaque = to_rgba(ground)
    return bool(opaque) and 0.299 * red + 0.587 * green + 0.114 * blue <= 0.5


def _recolor(artist: Any) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import Collection
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.text import Annotation, Text

    mapped = isinstance(artist, ScalarMappable) and artist.get_array() is not None
    if mapped and artist.get_cmap().name in _MAPS:
        artist.set_cmap(colormap(f"dark {artist.get_cmap().name}", _MAPS[artist.get_cmap().name]))
    if isinstance(artist, Collection):
        sides = ["edgecolor"] if mapped else ["facecolor", "edgecolor"]
    elif isinstance(artist, Patch):
        sides = ["facecolor", "edgecolor"]
    elif isinstance(artist, Line2D):
        sides = ["color", "markerfacecolor", "markeredgecolor"]
    elif isinstance(artist, Text):
        sides = ["color"]
        _recolor_rims(artist)
        if artist.get_bbox_patch() is not None:
            _recolor(artist.get_bbox_patch())
        if isinstance(artist, Annotation) and artist.arrow_patch is not None:
            _recolor(artist.arrow_patch)
    else:
        return
    for side in sides:
        old = getattr(artist, f"get_{side}")()
        new = [_dark(color) for color in old] if isinstance(artist, Collection) else _dark(old)
        if isinstance(artist, Collection) and len(old) == 0:
            continue
        getattr(artist, f"set_{side}")(new)


def _recolor_rims(text: Any) -> None:
    """Replace the color of the rim around a name."""
    from matplotlib.patheffects import withStroke

    if text.get_path_effects():
        rims = [vars(effect)["_gc"] for effect in text.get_path_effects() if isinstance(effect, withStroke)]
        text.set_path_effects([withStroke(**rim | {"foreground": _dark(rim["foreground"])}) for rim in rims])


def _dark(color: Any) -> Any:
    """Return the color that stands for another one, with its opacity; other colors are returned as they are."""
    from matplotlib.colors import to_hex, to_rgba

    if isinstance(color, str) and color in ("none", "auto"):
        return color
    *_, opaque = to_rgba(color)
    new = _DARK.get(to_hex(color))
    return color if new is None else to_rgba(new, opaque)


# Untrusted texts in pictures: drawn literally, with one warning about all missing glyphs


#: Options of a text that may contain untrusted names, which must not be read as formulas or TeX.
LITERAL: dict[str, Any] = {"parse_math": False, "usetex": False}

_MISSING = r"Glyph (\d+) .*missing from|Matplotlib currently does not support"
_NAMED = 5  # letters that a warning lists


def set_literal(texts: Iterable[Any]) -> None:
    """Turn off formulas in existing texts, such as those of a legend."""
    for text in texts:
        text.set(**LITERAL)


def wrapped(text: str, letters: int) -> str:
    """Return a text without control characters, wrapped to lines of at most `letters` characters."""
    return "\n".join(textwrap.wrap(printable(text), max(letters, 1), break_on_hyphens=False)) or printable(text)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Suppress warnings about missing glyphs while texts are measured; :func:`one_warning` reports them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _MISSING, UserWarning)
        yield


@contextmanager
def one_warning() -> Iterator[None]:
    """Combine all warnings about missing glyphs into one while a picture is written."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", _MISSING, UserWarning)
        yield
    missing: dict[str, None] = {}
    for warning in caught:
        match = re.match(_MISSING, str(warning.message))
        if match is None:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno, source=warning.source
            )
        elif match[1]:
            missing[chr(int(match[1]))] = None
    if missing:
        _warn(sorted(missing))


def _warn(letters: list[str]) -> None:
    listed = " ".join(f"U+{ord(letter):04X}" for letter in letters[:_NAMED]) + (" ..." if len(letters) > _NAMED else "")
    problem = f"no font of the picture has {plural(len(letters), 'letter')} of its names, drawn as boxes: {listed}"
    # a location in our sources would not help the user
    warnings.warn_explicit(f"{problem}; set font.family in matplotlibrc to fonts that do", UserWarning, "obliv.view", 1)


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


def finish_declared(result: Any, chart: Bars | Lines | Plane | WorstTraffic, ax: Axes, own: bool, title: Title) -> Axes:
    """Finish a picture that a result declares: fill in the names of what it is about, see :func:`finish`."""
    names: dict[str, Callable[[], str]] = {
        "subject": lambda: subject_of(result),
        "topology": lambda: called(result.topology),
        "title": lambda: title_of(result),
        "Title": lambda: (what := title_of(result).partition(": ")[2])[:1].upper() + what[1:],
    }
    heading = [
        re.sub(r"\{(\w+)\}", lambda word: names[word[1]]() if word[1] in names else word[0], line)
        for line in chart.heading
    ]
    return finish(ax, own, heading, chart.remarks, title=title)


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


# Draw any result: ``plot(result)`` looks up the function that draws results of its kind


#: The functions that draw results, by their kind.
_DRAWN_BY = Parts("draw")

#: The functions that draw what results declare, by the method.
_DECLARED = {
    "bars": "obliv.view.charts.base:plot_bars",
    "lines": "obliv.view.charts.base:plot_lines",
    "plane": "obliv.view.network.worst_case:plot_plane",
    "worst_traffic": "obliv.view.network.worst_case:plot_worst",
}

#: What to do about some kinds that have no picture.
_INSTEAD = {
    "results": "draw each of its entries",
    "study": "view.write_report writes a page with its charts",
    "reproduce": "papers.draw draws the figures of a paper",
}


def plot(result: Result, ax: Axes | None = None, *, names: Mapping[str, str] | None = None, **options: Any) -> Axes:
    """Draw a result; the same as ``result.plot(...)``.

    Parameters
    ----------
    result : Result
        A result of one of the kinds that the page of ``obliv plot`` lists.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    names : mapping of str to str, optional
        Names to write in place of specs of routings and topologies, such as ``{"romm": "ROMM, 2 VCs"}``.
    **options
        `title` is another title, and ``title=False`` leaves it out. Pictures of networks take `labels`, the names of
        nodes: ``"auto"`` where they fit, True always, False never. Those of traffic take `kind`, as for
        :func:`obliv.view.plot_worst`; others as for :func:`obliv.view.plot_bars`,
        :func:`obliv.view.plot_comparison` and :func:`obliv.view.plot_schedule`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If results of this kind have no picture, `ax` is a text, or a spec of `names` is not in the picture.

    Notes
    -----
    A result class of your own overrides :meth:`obliv.Result.plot`.

    Examples
    --------
    >>> import obliv
    >>> ax = plot(obliv.worst_case(obliv.routing("dor", obliv.mesh(4, 4))), kind="matrix", names={"dor": "XY"})
    >>> ax.get_title().splitlines()[0]
    'XY on mesh:4x4'
    """
    drawing = drawing_of(result)
    if isinstance(ax, str):
        raise InputError(f"plot({ax!r:.40}): the first argument are axes to draw on; write plot(kind={ax!r:.40})")
    with naming(names):
        axes: Axes = drawing(result, ax=ax, **options)
    return axes


def drawing_of(result: Result) -> Callable[..., Axes]:
    """Return the function that draws a result; InputError if there is none."""
    kind = result.kind if isinstance(result, Result) else ""
    if kind in _DRAWN_BY:
        return _DRAWN_BY[kind]  # type: ignore[no-any-return]
    if (declared := next((name for name in PICTURES if hasattr(result, name)), "")) and kind:
        return load(_DECLARED[declared])  # type: ignore[no-any-return]
    raise InputError(
        f"there is no picture of a {type(result).__name__}: plot draws results of the kinds "
        f"{', '.join(drawn_kinds())}; {_INSTEAD.get(kind, 'for others see view.plot_topology and view.plot_loads')}"
    )


def drawn_kinds() -> list[str]:
    """Return the kinds of results that have a picture."""
    from obliv.results.markup import all_results

    declaring = {cls.kind for cls in all_results() if any(hasattr(cls, name) for name in PICTURES)}
    return [kind for kind in CAPABILITIES if kind in _DRAWN_BY or kind in declaring]
