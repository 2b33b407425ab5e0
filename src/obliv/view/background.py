"""Pictures on a dark background: the colors for white paper are replaced once a picture is drawn."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from obliv.view.figures import figure_of, require_matplotlib
from obliv.view.style import ACCENT, BOX, INK, LOADS, NODE, QUIET, SERIES, SHARES, colormap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["dark", "for_background", "recolor"]

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
