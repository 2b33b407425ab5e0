"""A cycle of channel dependencies on its network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from obliv._util.text import plural
from obliv.errors import InputError
from obliv.results import Deadlock
from obliv.topologies.base import Topology
from obliv.topologies.make import topology as topology_of
from obliv.view.axes import Title, finish, key, points_per_unit, subject_of
from obliv.view.figures import require_matplotlib
from obliv.view.network.canvas import Canvas, canvas
from obliv.view.network.names import Labels
from obliv.view.network.nodes import draw_nodes, node_signs
from obliv.view.network.ribbons import add_ribbons, thickened
from obliv.view.style import ACCENT, NODE, QUIET, SERIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_deadlock"]

_SPOT = 0.35  # of a channel's length: where its number stands, apart from that of its opposite
_COLORS = (ACCENT, SERIES[0], SERIES[2], SERIES[5])  # of virtual channels


def plot_deadlock(result: Deadlock, ax: Axes | None = None, *, labels: Labels = "auto", title: Title = True) -> Axes:
    """Draw the cycle of a deadlock: its channels in color by virtual channel, numbered in the order of waiting.

    Parameters
    ----------
    result : Deadlock
        The result of :func:`obliv.deadlock`; one without a cycle shows the network.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    labels : {"auto", True, False}
        Names of the nodes, as for :func:`obliv.view.draw_topology`.
    title : bool or str
        Whether to write a title, or the title to write in its place.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the result does not fit its network.

    Examples
    --------
    >>> import obliv
    >>> ax = plot_deadlock(obliv.deadlock(obliv.ROMM(obliv.mesh(4, 4))))
    """
    require_matplotlib()
    topology: Topology = getattr(result.subject, "topology", None) or topology_of(result.topology)
    steps = result.cycle or ()
    if any(step.channel >= topology.channels for step in steps):
        raise InputError(f"the cycle is not about {topology.spec}, which has {topology.channels} channels")
    own = ax is None
    on = canvas(topology, ax, labels)
    cycle = {step.channel for step in steps}
    idle = [line for channel, line in enumerate(on.lines) if channel not in cycle]
    add_ribbons(on.ax, idle, thickened(on.ax, [0.014] * len(idle), 0.3), "channels", facecolors=QUIET)
    draw_nodes(on)
    lanes = sorted({step.virtual_channel for step in steps})
    color = {lane: _COLORS[k % len(_COLORS)] for k, lane in enumerate(lanes)}
    lines = [on.lines[step.channel] for step in steps]
    look: dict[str, Any] = {"facecolors": [color[step.virtual_channel] for step in steps], "zorder": 5.5}
    if lines:
        add_ribbons(on.ax, lines, thickened(on.ax, [0.09] * len(lines), 1.5), "cycle", **look)
    _numbers(on, [step.channel for step in steps])
    key(on.ax, [*_signs(color), *node_signs(topology)])
    verdict = "acyclic: no deadlock" if result.acyclic else f"{plural(len(steps), 'channel')} can wait for each other"
    scheme = "" if result.scheme == "none" else f" with {result.scheme}"
    return finish(on.ax, own, [f"{subject_of(result)}{scheme}", verdict], title=title)


def _numbers(on: Canvas, channels: list[int]) -> None:
    """Write at each channel of the cycle its places in the order of waiting."""
    size = min(8.0, 0.17 * points_per_unit(on.ax))
    if size < 5.0:
        return
    places: dict[int, list[int]] = {}
    for place, channel in enumerate(channels, 1):
        places.setdefault(channel, []).append(place)
    for channel, numbers in places.items():
        line = on.lines[channel][0]
        x, y = _SPOT * line[-1] + (1 - _SPOT) * line[0] if len(line) == 2 else line[len(line) // 2]
        text = ",".join(map(str, numbers))
        style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": size, "color": ACCENT, "zorder": 9}
        ground = {"boxstyle": "circle,pad=0.2", "facecolor": NODE, "edgecolor": ACCENT, "linewidth": 0.8}
        on.ax.text(float(x), float(y), text, bbox=ground, **style)


def _signs(color: dict[int, str]) -> list[Any]:
    """Return the key of the virtual channels."""
    from matplotlib.lines import Line2D

    names = {lane: f"virtual channel {lane}" for lane in color} if len(color) > 1 else dict.fromkeys(color, "cycle")
    return [
        Line2D([], [], color=ink, linewidth=3.0, label=f"{names[lane]}, in the order of waiting")
        for lane, ink in color.items()
    ]
