"""Networks with their channels as arrows, colored by load."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from obliv.errors import InputError
from obliv.results.format import brief
from obliv.results.numbers import as_float
from obliv.topologies.base import Topology
from obliv.view.axes import bar, finish, key, points_per_unit
from obliv.view.network.canvas import Canvas, canvas
from obliv.view.network.names import Labels, require_labels
from obliv.view.network.nodes import draw_missing, draw_nodes, node_signs
from obliv.view.network.ports import channel_title
from obliv.view.network.ribbons import add_ribbons, thickened
from obliv.view.network.tiers import draw_tiers, tiers_of
from obliv.view.style import ACCENT, FAINT, LOADS, MANY, NODE, QUIET, colormap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["as_amounts", "draw_loads", "draw_topology", "loads_on", "outlined", "worst_sign"]

Amounts = npt.NDArray[np.float64]

_IDLE, _THIN, _WIDE = 0.012, 0.03, 0.11  # width of an arrow
_FINE = 28.0  # points between neighbors; below, the highlighted channel is circled


def draw_topology(topology: Topology, ax: Axes | None = None, labels: Labels = "auto") -> Axes:
    """Draw a network with an arrow for every channel.

    Parameters
    ----------
    topology : Topology
        The network. Wrap-around channels of a torus leave the grid on one side and come back on the other.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    labels : {"auto", True, False}
        Names of the nodes: where they fit, always, or never. Grids have coordinates along the edges.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import obliv
    >>> ax = draw_topology(obliv.torus(4, 3))
    """
    require_labels(labels)
    if (tiers := tiers_of(topology)) is not None:
        on, signs = draw_tiers(topology, tiers, ax)
        key(on.ax, signs)
        return finish(on.ax, on.own)
    on = canvas(topology, ax, labels)
    widths = thickened(on.ax, [0.025] * len(on.lines), 0.5)
    add_ribbons(on.ax, on.lines, widths, "channels", facecolors=FAINT)
    draw_nodes(on)
    key(on.ax, [*draw_missing(on), *node_signs(topology)])
    return finish(on.ax, on.own)


def draw_loads(
    topology: Topology,
    loads: Sequence[Fraction | float],
    ax: Axes | None = None,
    label: str = "channel load",
    *,
    labels: Labels = "auto",
    worst: int | None = None,
) -> Axes:
    """Draw a network with a load on every channel, light and thin to dark and wide.

    Parameters
    ----------
    topology : Topology
        The network.
    loads : sequence of Fraction or float
        The load of every channel, in the order of the channels' numbers; channels without load are gray.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    label : str
        Label of the color bar.
    labels : {"auto", True, False}
        As for :func:`draw_topology`.
    worst : int, optional
        The channel to highlight; default the first with the largest load.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the loads are not one finite number ≥ 0 per channel, or `worst` is out of range.

    Examples
    --------
    >>> import obliv
    >>> ring = obliv.ring(8)
    >>> loads = obliv.routing("dor", ring).pair_loads().under(obliv.traffic("tornado", ring))
    >>> ax = draw_loads(ring, loads)
    """
    amounts = as_amounts(topology, loads)
    if worst is not None and not 0 <= worst < topology.channels:
        raise InputError(f"{topology.spec} has no channel {worst}; channels are 0 to {topology.channels - 1}")
    chosen = (int(amounts.argmax()) if worst is None else worst) if amounts.any() else None
    require_labels(labels)
    name = "" if chosen is None else f"{channel_title(topology, chosen)}: {brief(loads[chosen])}"
    if (tiers := tiers_of(topology)) is not None:
        on, signs = draw_tiers(topology, tiers, ax, amounts, label, chosen)
        signs = signs if chosen is None else [worst_sign("o", name), *signs]
        key(on.ax, signs)
        return finish(on.ax, on.own)
    on = canvas(topology, ax, labels, hot=chosen)
    loads_on(on, amounts, label)
    signs = [*draw_missing(on), *node_signs(topology)]
    if chosen is not None:
        signs.insert(0, outlined(on, chosen, amounts, name))
    key(on.ax, signs)
    return finish(on.ax, on.own)


def loads_on(on: Canvas, amounts: Amounts, label: str) -> None:
    """Draw nodes, channels in color and width by their load, and the color bar."""
    widths = _widths(on, amounts)
    idle = np.flatnonzero(amounts == 0)
    add_ribbons(on.ax, [on.lines[c] for c in idle], [widths[c] for c in idle], "idle channels", facecolors=QUIET)
    draw_nodes(on)
    busy = np.flatnonzero(amounts)
    if len(busy):
        order = busy[np.argsort(amounts[busy], kind="stable")]  # the largest loads are drawn last, on top
        lines, colors = [on.lines[c] for c in order], {"array": amounts[order], "clim": (0.0, float(amounts.max()))}
        look = {"cmap": colormap("loads", LOADS), "zorder": 2}
        arrows = add_ribbons(on.ax, lines, [widths[c] for c in order], "channels", **colors, **look)
        if on.topology.nodes <= MANY:  # a rim keeps arrows apart that cross
            arrows.set(edgecolor=NODE, linewidth=min(0.6, 0.01 * points_per_unit(on.ax)))
        bar(on.ax, arrows, label)


def outlined(on: Canvas, channel: int, amounts: Amounts, text: str) -> Any:
    """Outline a channel and return its entry of the key."""
    unit = points_per_unit(on.ax)
    width = _widths(on, amounts)[channel]
    color = {"array": amounts[[channel]], "clim": (0.0, float(amounts.max()) or 1.0), "cmap": colormap("loads", LOADS)}
    rim: dict[str, Any] = {"edgecolors": ACCENT, "zorder": 5.5}  # above the flows, which would hide it
    outline = add_ribbons(on.ax, [on.lines[channel]], [width], "worst channel", **color, **rim)
    outline.set_linewidth(min(1.8, max(0.06 * unit, 0.5)))
    marker = "s"
    if unit < _FINE:  # the outline alone would be overlooked
        line, marker = on.lines[channel][0], "o"
        middle = line[len(line) // 2] if len(line) > 2 else line.mean(axis=0)
        look: dict[str, Any] = {"markersize": max(1.6 * unit, 14.0), "markeredgewidth": 1.5, "markerfacecolor": "none"}
        circle = on.ax.plot(*middle[:, None], "o", color=ACCENT, zorder=9, clip_on=False, **look)[0]
        circle.set_gid("circle round the worst channel")
    return worst_sign(marker, text)


def worst_sign(marker: str, text: str) -> Any:
    """Return the entry of the key for the worst channel."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=ACCENT, linewidth=1.2, marker=marker, markersize=5, markerfacecolor=NODE, label=text)


def as_amounts(topology: Topology, loads: Sequence[Fraction | float]) -> Amounts:
    """Return the loads as floats; InputError if they are not one finite number ≥ 0 per channel."""
    if len(loads) != topology.channels:
        raise InputError(f"{len(loads)} loads are given, {topology.spec} has {topology.channels} channels")
    amounts = [as_float(load) if isinstance(load, Fraction) else float(load) for load in loads]
    for channel, amount in enumerate(amounts):
        if not math.isfinite(amount) or amount < 0:
            raise InputError(f"the load of channel {channel} is {amount}: it must be finite and not negative")
    return np.array(amounts, float)


def _widths(on: Canvas, amounts: Amounts) -> list[float]:
    """Return widths that grow with the loads and stay visible on large networks."""
    top = float(amounts.max(initial=0.0))
    (thin,), (idle,) = thickened(on.ax, [_THIN], 0.5), thickened(on.ax, [_IDLE], 0.2)
    wide = max(_WIDE, 1.6 * thin)
    return np.where(amounts > 0, thin + (wide - thin) * amounts / (top or 1.0), idle).tolist()  # type: ignore[no-any-return]
