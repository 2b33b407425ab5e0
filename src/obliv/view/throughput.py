"""Throughput under several patterns, as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from obliv.errors import InputError
from obliv.results import Throughput
from obliv.view.axes import fit, room
from obliv.view.style import ACCENT, INK, LOADS, QUIET
from obliv.view.text import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_throughput"]


def plot_throughput(result: Throughput, ax: Axes | None = None, *, title: bool = True) -> Axes:
    """Draw a bar for every pattern: the fraction of capacity where the capacity is known, else the throughput.

    Parameters
    ----------
    result : Throughput
        The answer of :func:`obliv.throughput`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    title : bool
        Whether to write above the picture what it shows.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the result holds no pattern.

    Examples
    --------
    >>> import obliv
    >>> result = obliv.throughput(obliv.routing("dor", obliv.torus(9, 9)), "tornado", "uniform")
    >>> ax = plot_throughput(result)
    """
    if not result.patterns:
        raise InputError("this throughput result holds no pattern: there is nothing to draw")
    field = "throughput" if result.capacity is None else "fraction_of_capacity"
    amounts = [float(each[field] or 0) for each in result.patterns]
    places = range(len(amounts))
    own = ax is None
    ax = room(ax, 5.6, 0.5 + 0.38 * len(amounts))
    ax.barh(places, amounts, height=0.62, color=LOADS[4], zorder=2)
    ax.set_yticks(places, labels=[_name(each) for each in result.patterns])
    ax.set_ylim(len(amounts) - 0.4, -0.6)
    most = max(*amounts, 1.0) if result.capacity is not None else max(amounts) or 1.0
    ax.set_xlim(0.0, 1.3 * most)  # what stands beside the longest bar needs room
    for place, amount, each in zip(places, amounts, result.patterns, strict=True):
        text = short(each[field]) if each[field] is not None else "loads no channel"
        label = ax.annotate(text, (amount, place), xytext=(5, 0), textcoords="offset points", va="center")
        label.set(fontsize=9, color=INK, zorder=3)
        label.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 1.0})
    if result.capacity is not None:
        ax.axvline(1.0, color=ACCENT, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)
    _quiet(ax)
    ax.set_xlabel("fraction of capacity" if result.capacity is not None else "throughput (packets per node and cycle)")
    if title:
        ax.set_title(f"{result.routing} on {result.topology}", fontsize=11, pad=10)
    if own:
        fit(ax)
    return ax


def _name(pattern: dict[str, Any]) -> str:
    return str(pattern["traffic"]) + ("" if pattern.get("admissible", True) else "\n(not admissible)")


def _quiet(ax: Axes) -> None:
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.tick_params(axis="y", length=0, labelsize=9)
    ax.tick_params(axis="x", labelsize=8)
    ax.grid(axis="x", color=QUIET, linewidth=0.5, alpha=0.6)
    ax.set_axisbelow(True)
