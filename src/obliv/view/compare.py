"""Routings side by side: bars, throughput over hops, throughput over topologies, and the paths of one pair."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv.errors import InputError, did_you_mean
from obliv.results import Comparison, Estimate
from obliv.results.compare import Entry
from obliv.routing.routing import Routing
from obliv.view.axes import bar, fit, key, points_per_unit, require_matplotlib, room
from obliv.view.axes import title as write_title
from obliv.view.canvas import Canvas, canvas
from obliv.view.curves import RADIUS
from obliv.view.dispatch import plot
from obliv.view.frame import Labels, draw_nodes
from obliv.view.layout import place
from obliv.view.ribbons import ribbons
from obliv.view.style import ACCENT, INK, LOADS, QUIET, SHARES, colours
from obliv.view.text import brief, count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_paths", "plot_comparison"]

_KINDS = ("auto", "bars", "lines", "plane")

# Told apart under every common colour blindness, by lightness too; the markers differ as well.
_SERIES = ("#226dac", "#d1430c", "#22262b", "#3fa8bf", "#f0a030", "#8a4f9e", "#7a8a2e", "#9aa2ab")
_MARKERS = "osD^vPX*"


def plot_comparison(
    result: Comparison, kind: str = "auto", ax: Axes | None = None, *, of: str = "", title: bool = True
) -> Axes:
    """Draw routings side by side.

    Parameters
    ----------
    result : Comparison
        The answer of :func:`obliv.compare`.
    kind : {"auto", "bars", "plane", "lines"}
        ``bars``: worst case, average and patterns of every routing. ``plane``: every routing as a point, to the right
        the longer its paths, upwards the more throughput. ``lines``: throughput over the topologies, a line a routing.
        ``auto``: bars for one topology, lines for several.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    of : str
        What is drawn: ``worst``, ``average`` or a pattern; default the worst case, for bars all that there is.
    title : bool
        Whether to write above the picture what it shows.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there is no such kind, or nothing to draw.

    Examples
    --------
    >>> import obliv
    >>> result = obliv.compare("mesh:5x5", "dor", "o1turn", "u2turn", "valiant")
    >>> ax = plot_comparison(result, "plane")
    """
    if kind not in _KINDS:
        raise InputError(f"unknown kind {kind!r} of picture: {did_you_mean(str(kind), _KINDS)}")
    known = ["worst", *(["average"] if result.samples else []), *result.patterns]
    if of and of not in known:
        raise InputError(f"this comparison does not hold {of!r}: {did_you_mean(of, known)}")
    several = len({each.topology for each in result.entries}) > 1
    kind = kind if kind != "auto" else "lines" if several else "bars"
    entries = [each for each in result.entries if each.best_known(of or "worst") is not None]
    if not entries:
        raise InputError("this comparison holds no number: there is nothing to draw")
    require_matplotlib()
    own = ax is None
    one = _throughput(of or "worst").capitalize() if of or len(known) == 1 else "Throughput"
    if kind == "bars":
        ax = _bars(entries, [of] if of else known, ax, several)
    elif kind == "plane":
        ax = _plane(entries, of or "worst", ax)
    else:
        ax = _lines(entries, of or "worst", ax)
    if title:
        ax.set_title(_heading(kind, entries, of or "worst", one), fontsize=11, pad=10)
    if own:
        fit(ax)
    return ax


@plot.register
def _(result: Comparison, ax: Any = None, kind: str = "auto", **options: Any) -> Any:
    return plot_comparison(result, kind, ax, **options)


def _heading(kind: str, entries: Sequence[Entry], of: str, bars: str) -> str:
    what = {"bars": bars, "plane": "Throughput and locality", "lines": _throughput(of).capitalize()}[kind]
    topologies = list(dict.fromkeys(each.topology for each in entries))
    if len(topologies) == 1:
        return f"{what} on {topologies[0]}"
    return f"{what}, from {topologies[0]} to {topologies[-1]} with growing marks" if kind == "plane" else what


def _name(what: str) -> str:
    return {"worst": "worst case"}.get(what, what)


def _throughput(what: str) -> str:
    return {"worst": "worst-case throughput", "average": "average throughput"}.get(what, f"throughput under {what}")


def _unit(entries: Sequence[Entry]) -> str:
    """What the numbers are; where some capacities are unknown, all that can stand beside each other is throughput."""
    known = all(each.capacity is not None for each in entries)
    return "fraction of capacity" if known else "packets per node and cycle"


def _amounts(entries: Sequence[Entry], what: str) -> list[Fraction | Estimate | None]:
    known = all(each.capacity is not None for each in entries)
    return [each.of_capacity(what) if known else each.throughput(what) for each in entries]


def _bars(entries: Sequence[Entry], shown: Sequence[str], ax: Axes | None, several: bool) -> Axes:
    """A group of bars for every routing; the worst case darkest, the numbers at their ends."""
    thick = 0.84 / len(shown)
    ax = room(ax, 5.6, 0.5 + len(entries) * max(0.34, 0.21 * len(shown)))
    steps = [LOADS[round(k)] for k in np.linspace(7, 2, len(shown))] if len(shown) > 1 else [LOADS[5]]
    most = 0.0
    for k, (what, colour) in enumerate(zip(shown, steps, strict=True)):
        values = _amounts(entries, what)
        places = np.arange(len(entries)) - 0.42 + thick * (k + 0.5)
        widths = [float(value or 0) for value in values]
        most = max([most, *widths])
        ax.barh(places, widths, height=0.86 * thick, color=colour, zorder=2, label=_name(what))
        for at, width, value in zip(places.tolist(), widths, values, strict=True):
            ax.annotate(
                "does not fit" if value is None else _brief(value),
                (width, at),
                xytext=(5, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
                color=INK,
                zorder=4,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
            )
    names = [f"{each.routing}\non {each.topology}" if several else each.routing for each in entries]
    ax.set_yticks(range(len(entries)), labels=names)
    ax.set_ylim(len(entries) - 0.4, -0.6)
    ax.set_xlim(0.0, 1.15 * most)
    if most >= 1.0 and _unit(entries) == "fraction of capacity":
        ax.axvline(1.0, color=ACCENT, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)
    _quiet(ax, "x")
    ax.set_xlabel(_unit(entries))
    if len(shown) > 1:
        _legend(ax)
    return ax


def _plane(entries: Sequence[Entry], what: str, ax: Axes | None) -> Axes:
    """A point for every routing, a trail over several topologies; routings at the same place share it."""
    ax = room(ax, 5.2, 3.8)
    trails: dict[str, list[tuple[float, float]]] = {}
    for each, value in zip(entries, _amounts(entries, what), strict=True):
        if value is not None and each.hops_over_minimal is not None:
            trails.setdefault(each.routing, []).append((float(each.hops_over_minimal), float(value)))
    if not trails:
        raise InputError("no routing of this comparison has both throughput and hops: there is nothing to draw")
    together: dict[tuple[tuple[float, float], ...], list[str]] = {}
    for routing, trail in trails.items():
        together.setdefault(tuple((round(x, 9), round(y, 9)) for x, y in trail), []).append(routing)
    longest = max(map(len, together))
    for number, places in enumerate(together):
        style = number % len(_SERIES) if longest > 1 else 0
        xs, ys = np.array(places).T
        sizes = np.linspace(5.0, 10.0, len(xs)) ** 2 if len(xs) > 1 else [56.0]
        ax.plot(xs, ys, color=_SERIES[style], linewidth=1.0, zorder=3)
        marks = ax.scatter(xs, ys, sizes, color=_SERIES[style], marker=_MARKERS[style], zorder=4)
        marks.set(edgecolor="white", linewidth=0.7)
    spots = [spot for places in together for spot in places]
    for places in together:  # names keep clear of the trails too
        for here, there in pairwise(places):
            steps = [(t * (there[0] - here[0]), t * (there[1] - here[1])) for t in (0.2, 0.4, 0.6, 0.8)]
            spots += [(here[0] + right, here[1] + up) for right, up in steps]
    right, top = max(x for x, _ in spots), max(y for _, y in spots)
    ax.set_xlim(0.9, 1.0 + 1.25 * max(right - 1.0, 0.5))
    ax.set_ylim(0.0, 1.18 * top)
    ax.set_xlabel("mean hops, as a multiple of the least")
    ax.set_ylabel(f"{_throughput(what)} ({_unit(entries)})")
    _quiet(ax, "both")
    _label(ax, [(places[-1], ", ".join(routings)) for places, routings in together.items()], spots)
    return ax


def _label(ax: Axes, texts: list[tuple[tuple[float, float], str]], spots: list[tuple[float, float]]) -> None:
    """Names beside points, each at the first place round its point where it covers no point and no other name."""
    from matplotlib.transforms import Bbox

    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.canvas.draw()
    points = ax.transData.transform(spots)
    inside = ax.get_window_extent()
    scale = figure.dpi / 72.0
    taken = [Bbox.from_extents(x - 5 * scale, y - 5 * scale, x + 5 * scale, y + 5 * scale) for x, y in points]
    sides = [("left", "center"), ("right", "center"), ("center", "bottom"), ("center", "top")]
    for spot, text in texts:
        tries = []
        for reach in (8.0, 17.0, 28.0, 40.0):
            for (across, up), shift in zip(sides, ((1, 0), (-1, 0), (0, 1), (0, -1)), strict=True):
                tries.append((across, up, shift[0] * reach, shift[1] * reach))
            for dx, dy in ((0.7, 0.7), (0.7, -0.7), (-0.7, 0.7), (-0.7, -0.7)):
                tries.append(("left" if dx > 0 else "right", "bottom" if dy > 0 else "top", dx * reach, dy * reach))
        for across, up, dx, dy in tries:
            made = ax.annotate(
                text,
                spot,
                xytext=(dx, dy),
                textcoords="offset points",
                ha=across,
                va=up,
                fontsize=9,
                color=INK,
                zorder=5,
                arrowprops={"arrowstyle": "-", "color": QUIET, "linewidth": 0.7} if abs(dx) + abs(dy) > 12 else None,
            )
            box = made.get_window_extent()
            free = inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1
            if free and not any(box.overlaps(other) for other in taken):
                break
            made.remove()
        else:  # everywhere something is covered: the first place is as good as any
            made = ax.annotate(text, spot, xytext=(8, 0), textcoords="offset points", va="center", fontsize=9)
        taken.append(made.get_window_extent())


def _lines(entries: Sequence[Entry], what: str, ax: Axes | None) -> Axes:
    """A line for every routing over the topologies, in the order in which they were asked for."""
    topologies = list(dict.fromkeys(each.topology for each in entries))
    routings = list(dict.fromkeys(each.routing for each in entries))
    ax = room(ax, max(4.2, min(9.0, 1.2 + 0.62 * len(topologies))), 3.4)
    values = dict(zip(((e.routing, e.topology) for e in entries), _amounts(entries, what), strict=True))
    for number, routing in enumerate(routings):
        heights = [values.get((routing, topology)) for topology in topologies]
        # Routings often agree: lines and markers get smaller, so that what lies below still shows.
        ax.plot(
            range(len(topologies)),
            [np.nan if value is None else float(value) for value in heights],
            color=_SERIES[number % len(_SERIES)],
            marker=_MARKERS[number % len(_MARKERS)],
            markersize=max(4.5, 8.5 - 1.1 * number),
            linewidth=max(1.2, 2.8 - 0.4 * number),
            markeredgecolor="white",
            markeredgewidth=0.6,
            label=routing,
            zorder=3 + number,
        )
    families = {topology.partition(":")[0] for topology in topologies}
    short = len(families) == 1
    ax.set_xticks(range(len(topologies)), labels=[t.partition(":")[2] if short else t for t in topologies])
    if sum(len(t) for t in topologies) > 11 * len(topologies) or len(topologies) > 12:
        ax.tick_params(axis="x", rotation=30)
    ax.set_xlim(-0.4, len(topologies) - 0.6)
    ax.set_ylim(0.0, 1.12 * max(float(value) for value in values.values() if value is not None))
    ax.set_xlabel(families.pop() if short else "topology")
    ax.set_ylabel(_unit(entries))
    _quiet(ax, "both")
    _legend(ax)
    return ax


def _brief(value: Fraction | Estimate) -> str:
    if isinstance(value, Estimate):
        return f"{value.value:.3f} ± {value.stderr:.1g}" if value.stderr > 1e-6 else f"{value.value:.3f} ± <1e-6"
    return f"{value} = {float(value):.3f}" if value.denominator != 1 and len(str(value)) <= 9 else f"{float(value):.4g}"


def _legend(ax: Axes) -> None:
    handles, _ = ax.get_legend_handles_labels()
    ax.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        fontsize=9,
        frameon=False,
        borderaxespad=0.0,
        handlelength=1.8,
    )


def _quiet(ax: Axes, grid: str) -> None:
    for side in ("top", "right", *(("left",) if grid == "x" else ())):
        ax.spines[side].set_visible(False)
    ax.tick_params(axis="both", labelsize=8)
    if grid == "x":
        ax.tick_params(axis="y", length=0, labelsize=9)
    ax.grid(axis="x" if grid == "x" else "both", color=QUIET, linewidth=0.5, alpha=0.6)
    ax.set_axisbelow(True)


def draw_paths(
    routing: Routing,
    source: int | str,
    destination: int | str,
    ax: Axes | None = None,
    *,
    labels: Labels = "auto",
    title: bool = True,
) -> Axes:
    """Draw all paths of one pair: every channel as wide and dark as the packet is likely to take it.

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
    title : bool
        Whether to write above the picture what it shows.

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
    ways: dict[tuple[int, ...], Fraction] = {}
    for channels, chance in routing.paths(start, end):
        ways[channels] = ways.get(channels, Fraction(0)) + chance
    if not ways:
        raise InputError(f"{routing.spec} sends nothing from {topology.name_of(start)} to {topology.name_of(end)}")
    used: dict[int, Fraction] = {}
    for channels, chance in ways.items():
        for channel in channels:
            used[channel] = used.get(channel, Fraction(0)) + chance
    own = ax is None
    on = canvas(topology, place(topology), ax, labels)
    twice = any(len(set(channels)) < len(channels) for channels in ways)
    _channels(on, used, "mean crossings of the channel" if twice else "probability to take the channel")
    draw_nodes(on.ax, topology, on.points, labels)
    _ends(on, start, end)
    if title:
        lengths = sorted({len(channels) for channels in ways})
        mean = sum((chance * len(channels) for channels, chance in ways.items()), Fraction(0))
        far = count(lengths[0], "hop", "hops")
        if len(lengths) > 1:
            far = f"{lengths[0]} to {lengths[-1]} hops, mean {brief(mean)}"
        what = f"{routing.spec} on {topology.spec}: {topology.name_of(start)} to {topology.name_of(end)}"
        write_title(on.ax, [what, f"{count(len(ways), 'path', 'paths')}, {far}"])
    if own:
        fit(on.ax)
    return on.ax


def _channels(on: Canvas, used: dict[int, Fraction], label: str) -> None:
    """The channels that are used, and on each its probability where there is room."""
    from matplotlib.collections import PathCollection

    idle = [on.lines[c] for c in range(on.topology.channels) if c not in used]
    faint = PathCollection(ribbons(idle, [0.012] * len(idle)), linewidths=0, facecolors=QUIET)
    faint.set_gid("idle channels")
    on.ax.add_collection(faint, autolim=False)
    if not used:
        return
    order = sorted(used, key=lambda c: used[c])
    chances = np.array([float(used[c]) for c in order])
    top = max(1.0, float(chances.max()))
    shapes = ribbons([on.lines[c] for c in order], (0.03 + 0.09 * chances / top).tolist())
    drawn = PathCollection(shapes, linewidths=0, cmap=colours("shares", SHARES), zorder=3)
    drawn.set_array(chances)
    drawn.set_clim(0.0, top)
    drawn.set_gid("paths")
    on.ax.add_collection(drawn, autolim=False)
    bar(on.ax, drawn, label)
    size = min(8.0, 0.15 * points_per_unit(on.ax))
    if size < 5.0:
        return
    for channel in order:
        line = on.lines[channel][0]
        middle = (line[0] + line[-1]) / 2
        step = line[-1] - line[0]
        right = np.array([step[1], -step[0]]) / max(float(np.hypot(*step)), 1e-9)
        at = middle + (0.13 + 0.012 * len(brief(used[channel])) * abs(right[0])) * right
        on.ax.text(
            float(at[0]),
            float(at[1]),
            brief(used[channel]),
            ha="center",
            va="center",
            fontsize=size,
            color=SHARES[-1],
            zorder=7,
        )


def _ends(on: Canvas, start: int, end: int) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Circle

    signs = []
    for node, colour, name in ((start, LOADS[5], "source"), (end, LOADS[8], "destination")):
        x, y = (float(value) for value in on.points[node])
        on.ax.add_patch(Circle((x, y), 1.25 * RADIUS, facecolor=colour, edgecolor="white", linewidth=1.0, zorder=8))
        size = min(10.0, 1.5 * RADIUS * points_per_unit(on.ax))
        letter = name[0].upper()
        on.ax.text(x, y, letter, ha="center", va="center_baseline", color="white", fontsize=size, zorder=9)
        signs.append(Line2D([], [], color=colour, marker="o", markersize=8, linestyle="none", label=name))
    key(on.ax, signs)
