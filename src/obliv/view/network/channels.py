"""Networks with channels colored by load; traffic as arrows, large fat trees by tiers, paths of a pair, cycles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from obliv._util.arrays import Array, FloatArray
from obliv._util.text import plural
from obliv.errors import InputError
from obliv.questions.deadlocks.deadlock import Deadlock
from obliv.results.numbers import as_float, brief
from obliv.routings.base import Routing
from obliv.routings.paths import checked_paths, merged
from obliv.topologies.base import LayoutHint, Topology, layout_hint
from obliv.topologies.make import topology as topology_of
from obliv.view.axes import (
    ACCENT,
    FAINT,
    INK,
    LITERAL,
    LOADS,
    MANY,
    NODE,
    QUIET,
    SERIES,
    SHARES,
    Title,
    bar,
    colormap,
    figure_of,
    finish,
    key,
    most_inches,
    points_per_unit,
    require_matplotlib,
    room,
    subject_of,
)
from obliv.view.labels import Box, box_of, overlap
from obliv.view.layout import RADIUS, Points, flow_line
from obliv.view.network.canvas import (
    Canvas,
    Flow,
    Labels,
    Names,
    add_ribbons,
    bare_axes,
    canvas,
    channel_title,
    draw_missing,
    draw_nodes,
    node_signs,
    require_labels,
    thickened,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Traffic on a network: arrows from source to destination


_THINNEST = 0.6  # points
_OPAQUE = 60  # flows; more flows over a large network are translucent
_SHARES = SHARES[:5]  # the last one is for the strongest flow, often for all; the key shows it


def flow_sign(on: Canvas, strong: Sequence[Flow], label: str) -> Any:
    """Return the key of the flows on the worst channel: a line in the color of the strongest."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=_SHARES[-1], alpha=_alpha(on, strong), linewidth=2.2, label=label)


def draw_flows(on: Canvas, strong: Sequence[Flow], weak: Sequence[Flow]) -> None:
    """Draw flows as arrows over the network, strong flows in color, weak flows faint."""
    few = on.topology.nodes <= MANY
    if weak:
        lines = [[on.flows[flow]] for flow in weak]
        add_ribbons(on.ax, lines, [0.012] * len(weak), "other flows", facecolors=INK, alpha=0.28, zorder=4)
    if strong:
        shares = np.array([share for _, _, share in strong])
        thinnest = max(0.02 if few else 0.0, _THINNEST / points_per_unit(on.ax))
        lines, widths = [[on.flows[flow]] for flow in strong], thinnest * (1.0 + 1.5 * shares / shares.max())
        colors = {"cmap": colormap("shares", _SHARES), "array": shares, "clim": (0.0, float(shares.max()))}
        look = {"alpha": _alpha(on, strong), "zorder": 5, **colors}
        arrows = add_ribbons(on.ax, lines, widths.tolist(), "flows on the worst channel", **look)
        if few and thinnest == 0.02:
            arrows.set(edgecolor=NODE, linewidth=0.35)


def _alpha(on: Canvas, strong: Sequence[Flow]) -> float:
    """Return the opacity: many arrows over a large network are translucent."""
    return 0.95 if on.topology.nodes <= MANY or len(strong) <= _OPAQUE else 0.5


# Large fat trees by their tiers: every cable between two levels is a cell, colored by its load


_WIDTH = 11.0  # inches, like all lengths here
_HOSTS, _SWITCHES = 0.3, 0.85  # heights of the bands of host cables and of cables between switches
_BETWEEN, _APART = 0.06, 0.3  # gaps between the two directions, and between tiers
_UNDER = 0.08  # from the hosts to the arrows of pairs
_GAP = 0.12  # share of a cell that separates it from the next one
_NARROW = 0.04  # cells up to this width stand side by side


@dataclass(frozen=True, eq=False)
class CellTiers:
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


def tiers_of(topology: Topology) -> CellTiers | None:
    """Return the tiers of a network that is drawn by them: a large fat tree, whole or damaged; else None."""
    if topology.nodes <= MANY:
        return None
    hint = layout_hint(topology)
    return None if hint is None or hint.level is None or hint.across is None else _tiers(topology, hint)


def _tiers(topology: Topology, hint: LayoutHint) -> CellTiers:
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
    return CellTiers(cells[: topology.channels], cells[topology.channels :], bands, hosts, y - _APART)


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
    tiers: CellTiers,
    ax: Axes | None,
    amounts: FloatArray | None = None,
    label: str = "",
    worst: int | None = None,
    flows: Sequence[Flow] = (),
) -> tuple[Canvas, list[Any]]:
    """Draw the tiers with their loads, the missing cables, and the flows under the hosts."""
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
    name, color = ("channels", FAINT) if amounts is None else ("idle channels", QUIET + "70")
    _add_cells(ax, tiers.cells[idle], name, facecolors=color)
    if amounts is not None and busy.any():
        look = {"array": amounts[busy], "clim": (0.0, float(amounts.max())), "cmap": colormap("loads", LOADS)}
        bar(ax, _add_cells(ax, tiers.cells[busy], "channels", **look), label)
    if flows:
        draw_flows(on, flows, ())
    if worst is not None and drawn[worst]:
        _circle_cell(ax, tiers.cells[worst])
    return on, _signs(ax, tiers, drawn)


def _curve(topology: Topology, tiers: CellTiers, flow: Flow) -> Points:
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


def _signs(ax: Axes, tiers: CellTiers, drawn: Array) -> list[Any]:
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


Amounts = npt.NDArray[np.float64]

_IDLE, _THIN, _WIDE = 0.012, 0.03, 0.11  # width of an arrow
_FINE = 28.0  # points between neighbors; below, the highlighted channel is circled


def draw_topology(topology: Topology, ax: Axes | None = None, labels: Labels = "auto") -> Axes:
    """Draw a network with an arrow for every channel.

    Parameters
    ----------
    topology : Topology
        The network. Wrap-around channels of a torus leave the grid on one side and come back on the other.
    ax, labels
        As for :func:`obliv.view.plot`. Grids have coordinates along the edges.

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
    ax, labels
        As for :func:`obliv.view.plot`.
    label : str
        Label of the color bar.
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


# All paths of one pair, drawn on the network


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
    ax, labels, title
        As for :func:`obliv.view.plot`.

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


# A cycle of channel dependencies on its network


_SPOT = 0.35  # of a channel's length: where its number stands, apart from that of its opposite
_COLORS = (ACCENT, SERIES[0], SERIES[2], SERIES[5])  # of virtual channels


def plot_deadlock(result: Deadlock, ax: Axes | None = None, *, labels: Labels = "auto", title: Title = True) -> Axes:
    """Draw the cycle of a deadlock: its channels in color by virtual channel, numbered in the order of waiting.

    Parameters
    ----------
    result : Deadlock
        The result of :func:`obliv.deadlock`; one without a cycle shows the network.
    ax, labels, title
        As for :func:`obliv.view.plot`.

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
    key(on.ax, [*_cycle_signs(color), *node_signs(topology)])
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


def _cycle_signs(color: dict[int, str]) -> list[Any]:
    """Return the key of the virtual channels."""
    from matplotlib.lines import Line2D

    names = {lane: f"virtual channel {lane}" for lane in color} if len(color) > 1 else dict.fromkeys(color, "cycle")
    return [
        Line2D([], [], color=ink, linewidth=3.0, label=f"{names[lane]}, in the order of waiting")
        for lane, ink in color.items()
    ]
