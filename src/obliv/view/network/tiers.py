"""Large fat trees by their tiers: every cable between two levels is a cell, colored by its load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.text import plural
from obliv._util.typing import Array, FloatArray
from obliv.topologies.base import Topology
from obliv.topologies.layout_hint import LayoutHint
from obliv.view.axes import bar, most_inches, room
from obliv.view.layout.base import Points
from obliv.view.layout.curves import flow_line
from obliv.view.literal import LITERAL
from obliv.view.network.canvas import Canvas, bare_axes
from obliv.view.network.flows import draw_flows
from obliv.view.network.names import Names
from obliv.view.network.witness import Flow
from obliv.view.style import ACCENT, FAINT, INK, LOADS, MANY, QUIET, colormap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Tiers", "draw_tiers", "tiers_of"]

_WIDTH = 11.0  # inches, like all lengths here
_HOSTS, _SWITCHES = 0.3, 0.85  # heights of the bands of host cables and of cables between switches
_BETWEEN, _APART = 0.06, 0.3  # gaps between the two directions, and between tiers
_UNDER = 0.08  # from the hosts to the arrows of pairs
_GAP = 0.12  # share of a cell that separates it from the next one
_NARROW = 0.04  # cells up to this width stand side by side


@dataclass(frozen=True, eq=False)
class Tiers:
    """The cells of a large tree: of every channel, and of the cables that are missing.

    Parameters
    ----------
    cells : float array, shape (channels, 4)
        Left, bottom, width and height; NaN for channels that are in no tier.
    missing : float array, shape (missing channels, 4)
    bands : list of (str, float)
        The name of every band and its middle.
    hosts : float array, shape (nodes, 2)
        Where the arrows of a host begin and end.
    height : float
    """

    cells: FloatArray
    missing: FloatArray
    bands: list[tuple[str, float]]
    hosts: Points
    height: float


def tiers_of(topology: Topology) -> Tiers | None:
    """Return the tiers of a network that is drawn by them: a large fat tree, whole or damaged; else None."""
    if topology.nodes <= MANY:
        return None
    hint = topology.layout_hint()
    return None if hint is None or hint.level is None or hint.across is None else _tiers(topology, hint)


def _tiers(topology: Topology, hint: LayoutHint) -> Tiers:
    level, across = np.asarray(hint.level), np.asarray(hint.across, float)
    pairs = np.array(hint.missing, np.int64).reshape(-1, 2)
    ends = np.vstack([np.column_stack([topology.tail, topology.head]), pairs, pairs[:, ::-1]]).astype(np.int64)
    climbs = level[ends[:, 0]] < level[ends[:, 1]]
    lower, upper = np.where(climbs, ends.T, ends.T[::-1])
    in_tier = (level[lower] >= 0) & (level[upper] == level[lower] + 1)
    cells = np.full((len(ends), 4), np.nan)
    placed = level >= 0
    left = across[placed].min()
    scale = _WIDTH / max(float(np.ptp(across[placed])), 1.0)
    bands: list[tuple[str, float]] = []
    y = 0.0
    for tier in range(int(level.max())):
        columns = np.unique(across[level == tier])
        width = scale * float(np.diff(columns).min(initial=_WIDTH / scale))
        height = _SWITCHES if tier else _HOSTS
        names = "hosts" if tier == 0 else f"level {tier}", f"level {tier + 1}"
        for rising, name in ((True, " → ".join(names)), (False, " → ".join(names[::-1]))):
            band = np.flatnonzero(in_tier & (level[lower] == tier) & (climbs == rising))
            place, most = _places(lower[band], across[upper[band]])
            step = height / most
            gap = _GAP if width > _NARROW else 0.0
            cells[band, 0] = scale * (across[lower[band]] - left) - width * (1 - gap) / 2
            cells[band, 1] = y + step * (place + _GAP / 2)
            cells[band, 2:] = width * (1 - gap), step * (1 - _GAP)
            bands.append((name, y + height / 2))
            y += height + _BETWEEN
        y += _APART - _BETWEEN
    hosts = np.column_stack([scale * (across - left), np.zeros(len(across))])
    return Tiers(cells[: topology.channels], cells[topology.channels :], bands, hosts, y - _APART)


def _places(lower: Array, order: Array) -> tuple[Array, int]:
    """Return the place of every cable among those of its lower end, and the largest number of cables of one."""
    by_node = np.lexsort((order, lower))
    count = np.bincount(lower)
    first = np.concatenate([[0], np.cumsum(count)])[lower[by_node]]
    place = np.empty(len(lower), np.int64)
    place[by_node] = np.arange(len(lower)) - first
    return place, int(count.max(initial=1))


def draw_tiers(
    topology: Topology,
    tiers: Tiers,
    ax: Axes | None,
    amounts: FloatArray | None = None,
    label: str = "",
    worst: int | None = None,
    flows: Sequence[Flow] = (),
) -> tuple[Canvas, list[Any]]:
    """Draw the tiers with their loads, the missing cables, and the flows under the hosts.

    Returns
    -------
    Canvas
        With the axes, for what else belongs to the picture.
    list
        The entries of the key: cells, missing cables, and what is not drawn.
    """
    curves = {flow: _curve(topology, tiers, flow) for flow in flows}
    low = min([-0.1, *(float(curve[:, 1].min()) - 0.05 for curve in curves.values())])
    box = np.array([[-0.1, low], [_WIDTH + 0.1, tiers.height + 0.05]])
    own = ax is None
    size = box[1] - box[0]
    ax = room(ax, *(size * min(1.0, most_inches() / size[0])))
    bare_axes(ax, box)
    on = Canvas(topology, tiers.hosts, [], ax, own, False, Names(), worst, {}, curves)
    for name, middle in tiers.bands:
        ax.text(-0.15, middle, name, ha="right", va="center", fontsize=8, color=INK, **LITERAL)
    drawn = np.isfinite(tiers.cells[:, 0])
    busy = drawn & (amounts > 0) if amounts is not None else np.zeros_like(drawn)
    idle = np.flatnonzero(drawn & ~busy)
    _add_cells(ax, tiers.cells[idle], "idle channels" if amounts is not None else "channels", facecolors=_pale(amounts))
    if amounts is not None and busy.any():
        look = {"array": amounts[busy], "clim": (0.0, float(amounts.max())), "cmap": colormap("loads", LOADS)}
        bar(ax, _add_cells(ax, tiers.cells[busy], "channels", **look), label)
    if flows:
        draw_flows(on, flows, ())
    if worst is not None and drawn[worst]:
        _circle_cell(ax, tiers.cells[worst])
    return on, _signs(ax, tiers, drawn)


def _pale(amounts: FloatArray | None) -> str:
    return FAINT if amounts is None else QUIET + "70"


def _curve(topology: Topology, tiers: Tiers, flow: Flow) -> Points:
    source, destination = (tiers.hosts[int(topology.terminals[end])] for end in flow[:2])
    return flow_line(source, destination, _UNDER)


def _add_cells(ax: Axes, cells: FloatArray, name: str, **look: Any) -> Any:
    from matplotlib.collections import PolyCollection

    x, y, width, height = cells.T
    corners = np.stack([(x, y), (x + width, y), (x + width, y + height), (x, y + height)]).transpose(2, 0, 1)
    boxes = PolyCollection(list(corners), linewidths=0, gid=name, **look)
    ax.add_collection(boxes, autolim=False)
    return boxes


def _circle_cell(ax: Axes, cell: FloatArray) -> None:
    """Outline the cell of the worst channel, with a circle around it."""
    outline = _add_cells(ax, cell[None], "worst channel", facecolors="none", edgecolors=ACCENT, zorder=8)
    outline.set_linewidth(1.5)
    middle = cell[:2] + cell[2:] / 2
    look: dict[str, Any] = {"markersize": 16.0, "markeredgewidth": 1.5, "markerfacecolor": "none", "clip_on": False}
    (circle,) = ax.plot(*middle[:, None], "o", color=ACCENT, zorder=9, **look)
    circle.set_gid("circle round the worst channel")


def _signs(ax: Axes, tiers: Tiers, drawn: Array) -> list[Any]:
    """Mark the missing cables, and return the entries of the key for cells, crosses and channels without a place."""
    from matplotlib.lines import Line2D

    look: dict[str, Any] = {"linestyle": "none", "markersize": 5.0, "markeredgewidth": 1.2}
    signs = [Line2D([], [], color=FAINT, marker="s", label="cable, in the column of its lower end", **look)]
    if len(tiers.missing):
        middle = tiers.missing[:, :2] + tiers.missing[:, 2:] / 2
        (crosses,) = ax.plot(*middle.T, "x", color=INK, markersize=5.0, markeredgewidth=1.2, zorder=7)
        crosses.set_gid("missing cables")
        text = plural(len(tiers.missing) // 2, "missing cable")
        signs.append(Line2D([], [], color=INK, marker="x", label=text, **look))
    if not drawn.all():
        text = f"{plural(int((~drawn).sum()), 'channel')} outside the tree (not drawn)"
        signs.append(Line2D([], [], linestyle="none", label=text))
    return signs
