"""All paths of one pair, drawn on the network."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.text import plural
from obliv.errors import InputError
from obliv.results.format import brief
from obliv.routings.base import Routing
from obliv.routings.checks import checked_paths, merged
from obliv.view.axes import Title, bar, finish, key, points_per_unit
from obliv.view.figures import figure_of, require_matplotlib
from obliv.view.labels import Box, box_of, overlap
from obliv.view.layout.base import Points
from obliv.view.layout.curves import RADIUS
from obliv.view.network.canvas import Canvas, canvas
from obliv.view.network.names import Labels
from obliv.view.network.nodes import draw_nodes, node_signs
from obliv.view.network.ribbons import add_ribbons, thickened
from obliv.view.style import LOADS, NODE, QUIET, SHARES, colormap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_paths"]


def draw_paths(
    routing: Routing,
    source: int | str,
    destination: int | str,
    ax: Axes | None = None,
    *,
    labels: Labels = "auto",
    title: Title = True,
) -> Axes:
    """Draw all paths of one pair; channels are wider and darker the more likely the packet takes them.

    Parameters
    ----------
    routing : Routing
        The routing.
    source, destination : int or str
        Numbers or labels of the nodes.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    labels : {"auto", True, False}
        Names of the nodes, as for :func:`obliv.view.draw_topology`.
    title : bool or str
        Whether to write a title, or the title to write in its place.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import obliv
    >>> ax = draw_paths(obliv.routing("xyx", obliv.mesh(5, 5)), 6, 23)
    """
    require_matplotlib()
    topology = routing.topology
    start, end = topology.node(source), topology.node(destination)
    paths = dict(merged(checked_paths(routing, start, end)))
    if not paths:
        raise InputError(f"{routing.spec} sends nothing from {topology.name_of(start)} to {topology.name_of(end)}")
    used: dict[int, Fraction] = {}
    for channels, chance in paths.items():
        for channel in channels:
            used[channel] = used.get(channel, Fraction(0)) + chance
    own = ax is None
    on = canvas(topology, ax, labels)
    twice = any(len(set(channels)) < len(channels) for channels in paths)
    draw_nodes(on)
    _channels(on, used, "mean crossings of the channel" if twice else "probability to take the channel")
    key(on.ax, [*_ends(on, start, end), *node_signs(topology)])
    lines = []
    if title:
        lengths = sorted({len(channels) for channels in paths})
        mean = sum((chance * len(channels) for channels, chance in paths.items()), Fraction(0))
        far = plural(lengths[0], "hop")
        if len(lengths) > 1:
            far = f"{lengths[0]} to {lengths[-1]} hops, mean {brief(mean)}"
        what = f"{routing.spec} on {topology.spec}: {topology.name_of(start)} to {topology.name_of(end)}"
        lines = [what, f"{plural(len(paths), 'path')}, {far}"]
    return finish(on.ax, own, lines, title=title)


def _channels(on: Canvas, used: dict[int, Fraction], label: str) -> None:
    """Draw the used channels, each with its probability where there is room."""
    idle = [on.lines[c] for c in range(on.topology.channels) if c not in used]
    add_ribbons(on.ax, idle, thickened(on.ax, [0.012] * len(idle), 0.2), "idle channels", facecolors=QUIET)
    if not used:
        return
    order = sorted(used, key=lambda c: used[c])
    chances = np.array([float(used[c]) for c in order])
    top = max(1.0, float(chances.max()))
    lines, widths = [on.lines[c] for c in order], thickened(on.ax, 0.03 + 0.09 * chances / top, 0.5)
    look = {"cmap": colormap("shares", SHARES), "array": chances, "clim": (0.0, top), "zorder": 3}
    bar(on.ax, add_ribbons(on.ax, lines, widths, "paths", **look), label)
    size = min(8.0, 0.15 * points_per_unit(on.ax))
    if size < 5.0:
        return
    _chances(on, used, size)


def _chances(on: Canvas, used: dict[int, Fraction], size: float) -> None:
    """Write the probability of each channel to the right of its middle, the largest first, where there is room."""
    from matplotlib.patheffects import withStroke

    look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": size, "color": SHARES[-1], "zorder": 7}
    look["path_effects"] = [withStroke(linewidth=1.5, foreground=NODE, alpha=0.85)]
    on.ax.apply_aspect()
    centers = on.ax.transData.transform(on.points)
    disc = RADIUS * points_per_unit(on.ax) * figure_of(on.ax).dpi / 72.0
    taken: list[Box] = []
    for channel in sorted(used, key=lambda c: (-used[c], c)):
        line, chance = on.lines[channel][0], brief(used[channel])
        step = line[-1] - line[0]
        right = np.array([step[1], -step[0]]) / max(float(np.hypot(*step)), 1e-9)
        x, y = _middle(line) + (0.13 + 0.012 * len(chance) * abs(right[0])) * right
        text = on.ax.text(float(x), float(y), chance, **look)
        box = box_of(text)
        left, low, right_end, top = box
        nearest = np.clip(centers, (left, low), (right_end, top))
        over_node = bool((np.hypot(*(centers - nearest).T) < disc).any())
        if over_node or any(overlap(box, other) for other in taken):
            text.remove()
        else:
            taken.append(box)


def _middle(line: Points) -> Points:
    """Return the point half way along a line."""
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    return np.array([np.interp(along[-1] / 2, along, line[:, axis]) for axis in (0, 1)])


def _ends(on: Canvas, start: int, end: int) -> list[Any]:
    """Draw discs for source and destination, and return their key."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Circle

    signs = []
    for node, color, name in ((start, LOADS[5], "source"), (end, LOADS[8], "destination")):
        x, y = (float(value) for value in on.points[node])
        on.ax.add_patch(Circle((x, y), 1.25 * RADIUS, facecolor=color, edgecolor=NODE, linewidth=1.0, zorder=8))
        size = min(10.0, 1.5 * RADIUS * points_per_unit(on.ax))
        letter = name[0].upper()
        on.ax.text(x, y, letter, ha="center", va="center_baseline", color=NODE, fontsize=size, zorder=9)
        signs.append(Line2D([], [], color=color, marker="o", markersize=8, linestyle="none", label=name))
    return signs
