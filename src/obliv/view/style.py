"""Colors and sizes of all pictures: blue for channel loads, orange for single pairs, several for series.

Pictures are drawn in the colors for white paper; :mod:`obliv.view.background` replaces them on a dark background.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.colors import Colormap

__all__ = ["ACCENT", "BOX", "FAINT", "INK", "LOADS", "MANY", "MARKERS", "NODE", "QUIET", "SERIES", "SHARES", "colormap"]

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
