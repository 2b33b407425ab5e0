"""Bars of single numbers: solid where exact, with whiskers where estimated, pale and hatched between bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from obliv.results import Bounds, Estimate
from obliv.results.format import short
from obliv.results.numbers import as_float, bounds_of
from obliv.view.charts.base import end_label, light_frame, make_room, note, whiskers
from obliv.view.literal import LITERAL
from obliv.view.style import NODE, SERIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Bar", "draw_numbers", "height_of"]


@dataclass(frozen=True)
class Bar:
    """A number with its name.

    Parameters
    ----------
    name : str
    value : Fraction, Estimate, Bounds or None
        None leaves the bar out.
    color : str
    text : str
        What stands at the end of the bar; default the number.
    """

    name: str
    value: Fraction | Estimate | Bounds | None
    color: str = SERIES[0]
    text: str = ""

    @property
    def ends(self) -> tuple[float, float]:
        """Where the solid and the hatched part end."""
        if self.value is None or isinstance(self.value, Estimate):
            return (float(self.value or 0),) * 2
        lower, upper = bounds_of(self.value)
        return as_float(lower), as_float(upper)

    @property
    def error(self) -> float:
        """Standard error of an estimate, 0 for other numbers."""
        return self.value.stderr if isinstance(self.value, Estimate) else 0.0


def height_of(bars: Sequence[Bar]) -> float:
    """Return the height of new axes for bars, in inches."""
    return 0.6 + sum(0.24 + 0.14 * (1 + bar.name.count("\n")) for bar in bars)


def draw_numbers(ax: Axes, bars: Sequence[Bar], least: float = 0.0) -> None:
    """Draw bars from top to bottom with their numbers; the axes reach to `least` at least."""
    places, ends = list(range(len(bars))), [bar.ends for bar in bars]
    lows, highs = ([end[side] for end in ends] for side in (0, 1))
    solid = ax.barh(places, lows, height=0.62, color=[bar.color for bar in bars], zorder=2)
    hatched: dict[str, Any] = {"facecolor": NODE, "hatch": "////", "linewidth": 1.0, "zorder": 2, "gid": "bounds"}
    for place, bar, (low, high), patch in zip(places, bars, ends, solid, strict=True):
        if isinstance(bar.value, Bounds):
            patch.set_alpha(0.5)
            ax.barh(place, high - low, left=low, height=0.62, edgecolor=bar.color, **hatched)
    whiskers(ax, highs, places, [bar.error for bar in bars], "x")
    ax.set_yticks(places, labels=[bar.name for bar in bars], **LITERAL)
    ax.set_ylim(len(bars) - 0.4, -0.6)
    texts = [bar.text or short(bar.value) for bar in bars]
    tips = [high + bar.error for high, bar in zip(highs, bars, strict=True)]
    labels = [(tip, end_label(ax, tip, at, text, 9)) for tip, at, text in zip(tips, places, texts, strict=True)]
    make_room(ax, labels, 1.04 * max(*tips, least, 0.0) or 1.0)
    light_frame(ax, "x")
    note(ax, [bar.value for bar in bars], texts)
