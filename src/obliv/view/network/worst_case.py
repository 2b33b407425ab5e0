"""The worst case of a routing: its traffic, on the network or as a matrix, the loads under it; titled pictures."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import accumulate
from operator import mul
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.text import did_you_mean, plural
from obliv.designs.design import Design
from obliv.designs.search import routing_of_paths
from obliv.errors import InputError
from obliv.patterns.base import Traffic
from obliv.patterns.base import traffic as traffic_of
from obliv.questions.subject import with_known_capacity
from obliv.questions.throughput import bottleneck, overload
from obliv.questions.worst_case import WorstCase
from obliv.results.base import Plane
from obliv.results.numbers import Estimate, brief, short
from obliv.routings.base import Routing
from obliv.topologies.base import Topology
from obliv.topologies.make import topology as topology_of
from obliv.view.axes import (
    FAINT,
    INK,
    LITERAL,
    MANY,
    QUIET,
    SHARES,
    Title,
    bar,
    called,
    colormap,
    finish,
    finish_declared,
    key,
    most_inches,
    points_per_unit,
    require_matplotlib,
    room,
)
from obliv.view.network.canvas import (
    Labels,
    Witness,
    canvas,
    channel_title,
    draw_missing,
    network_named,
    node_signs,
    require_labels,
    witness,
)
from obliv.view.network.channels import (
    as_amounts,
    draw_flows,
    draw_loads,
    draw_tiers,
    draw_topology,
    flow_sign,
    loads_on,
    outlined,
    tiers_of,
    worst_sign,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Worst traffic as a matrix: a dot for every pair, with sources downwards and destinations to the right


def draw_matrix(shown: Witness, ax: Axes | None, labels: Labels) -> Axes:
    """Draw a dot for every pair; size and color show its load on the worst channel."""
    n = shown.loads.terminals
    inches = min(5.2, most_inches())
    ax = room(ax, inches, inches)
    ax.set_aspect("equal")
    edge = 0.5 + 0.012 * n
    ax.set_xlim(-edge, n - 1 + edge)
    ax.set_ylim(n - 1 + edge, -edge)
    for side in ax.spines.values():
        side.set_color(QUIET)
    _ticks(ax, shown.topology, labels)
    unit = points_per_unit(ax)
    small = min(max(0.42 * unit, 1.8), 4.0)
    weak = _dots(ax, shown.weak, small**2, "other pairs", color=FAINT, linewidths=0)
    fixed = _dots(
        ax, shown.fixed, small**2, "fixed points", facecolors="none", edgecolors=FAINT, linewidths=min(0.6, small / 4)
    )
    shares = np.array([share for _, _, share in shown.strong])
    most = float(shares.max(initial=0.0))
    across = min(max(0.95 * unit, 4.0), 20.0) * np.sqrt(0.3 + 0.7 * shares / (most or 1.0))
    strong = _dots(
        ax, shown.strong, across**2, "pairs on the worst channel", c=shares, cmap=colormap("shares", SHARES), vmin=0.0,
        vmax=most or 1.0, linewidths=0,
    )  # fmt: skip
    if shown.strong:
        bar(ax, strong, "load of the pair on the worst channel" + (" (estimated)" if shown.estimated else ""))
    signs = [(strong, shown.strong, "pair on the worst channel", "pairs on the worst channel")]
    signs += [(weak, shown.weak, "other pair", "other pairs"), (fixed, shown.fixed, "fixed point", "fixed points")]
    key(ax, [_sign(dots, plural(len(flows), *names)) for dots, flows, *names in signs if flows])
    return ax


def _dots(ax: Axes, flows: Any, size: Any, name: str, **look: Any) -> Any:
    return ax.scatter([d for _, d, _ in flows], [s for s, _, _ in flows], s=size, zorder=2, gid=name, **look)


def _sign(dots: Any, text: str) -> Any:
    from matplotlib.lines import Line2D

    hollow = len(dots.get_facecolor()) == 0
    strong = dots.get_array() is not None
    color = SHARES[-1] if strong else FAINT  # the color of the strongest pair, often of all
    return Line2D(
        [], [], linestyle="none", marker="o", markersize=7 if strong else 4, color=color, label=text,
        markerfacecolor="none" if hollow else color,
    )  # fmt: skip


def _ticks(ax: Axes, topology: Topology, labels: Labels) -> None:
    n = len(topology.terminals)
    unit = points_per_unit(ax)
    steps = [1, *accumulate(topology.radices if topology.all_terminals else (), mul)]
    lines = next((step for step in steps[1:-1] if step * unit > 8), None)
    if lines is not None:
        for at in range(lines, n, lines):
            ax.axhline(at - 0.5, color=QUIET, linewidth=0.4, zorder=1)
            ax.axvline(at - 0.5, color=QUIET, linewidth=0.4, zorder=1)
    ax.set_xlabel("destination", fontsize=10)
    ax.set_ylabel("source", fontsize=10)
    names = [topology.name_of(int(node)) for node in topology.terminals]
    if labels is False:
        ax.set_xticks([])
        ax.set_yticks([])
        return
    if max(map(len, names)) > 9:
        names = [str(number) for number in range(n)]
    wide = 5.0 * max(map(len, names)) + 5.0
    blocks = [1, *(step * more for step in steps[1:-1] for more in (1, 2, 4, 5, 8))] if len(steps) > 2 else []
    step = next((step for step in [*blocks, 1, 2, 5, 10, 20, 50, 100, 200, 500] if step * unit > wide), n)
    ax.set_xticks(range(0, n, step), labels=names[::step], fontsize=8, **LITERAL)
    ax.set_yticks(range(0, n, step), labels=names[::step], fontsize=8, **LITERAL)
    ax.tick_params(length=2, color=QUIET)


_KINDS = ("matrix", "network")


def plot_worst(
    result: Any, kind: str = "network", ax: Axes | None = None, *, labels: Labels = "auto", title: Title = True
) -> Axes:
    """Draw the worst traffic of a routing and the loads under it.

    Parameters
    ----------
    result : WorstCase, Ratio, HeaviestPermutation or Design
        Or another result with a method ``worst_traffic``. The routing of a loaded one is created from its spec.
    kind : {"network", "matrix"}
        ``network``: the load of every channel, and an arrow for every pair of the worst traffic. ``matrix``: a dot for
        every pair, in the row of its source and the column of its destination. In both, orange shows the load of a pair
        on the worst channel.
    ax, labels, title
        As for :func:`obliv.view.plot`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the kind is unknown, or the result does not name its routing.

    Examples
    --------
    >>> import obliv
    >>> result = obliv.worst_case(obliv.routing("dor", obliv.mesh(4, 4)))
    >>> ax = plot_worst(result, "matrix")
    """
    if kind not in _KINDS:
        raise InputError(f"unknown kind {kind!r} of picture: {did_you_mean(str(kind), _KINDS)}")
    require_labels(labels)
    require_matplotlib()
    declared, own = result.worst_traffic(), ax is None
    case: WorstCase = declared.case
    if isinstance(result, Design) and case.subject is None:
        case = replace(case, subject=routing_of_paths(topology_of(network_named(case)), result.paths))
    shown = witness(case)
    ax = draw_matrix(shown, ax, labels) if kind == "matrix" else _network(shown, ax, labels, case)
    return finish_declared(result, declared, ax, own, title)


def _network(shown: Witness, ax: Axes | None, labels: Labels, result: WorstCase) -> Axes:
    from matplotlib.lines import Line2D

    topology, many, worst = shown.topology, shown.topology.nodes > MANY, shown.channel
    amounts = as_amounts(topology, shown.loads.under(shown.traffic))
    if isinstance(result.channel_load, Estimate):  # one number for one channel: the estimate that is written
        amounts[worst] = result.channel_load.value
    name = f"worst {channel_title(topology, worst)}: load {brief(result.channel_load)}"
    if (tiers := tiers_of(topology)) is not None:
        on, more = draw_tiers(topology, tiers, ax, amounts, shown.label, worst, shown.strong)
        first = worst_sign("o", name)
    else:
        weak = () if many else shown.weak
        on = canvas(topology, ax, labels, [*shown.strong, *weak], worst)
        more = [*draw_missing(on), *node_signs(topology)]
        loads_on(on, amounts, shown.label)
        draw_flows(on, shown.strong, weak)
        first = outlined(on, worst, amounts, name)
    darker = " (darker: more)" if len({share for _, _, share in shown.strong}) > 1 else ""
    weak_text = plural(len(shown.weak), "other pair") + (" (not drawn)" if many else "")
    signs = [
        first,
        flow_sign(on, shown.strong, plural(len(shown.strong), "pair that loads it", "pairs that load it") + darker),
        Line2D([], [], color=INK, alpha=0.4, linewidth=0.9, label=weak_text),
    ]
    key(on.ax, [*(signs if shown.weak else signs[:2]), *more])
    return on.ax


# Pictures with titles: a topology, and the loads of a routing under a traffic pattern


def plot_topology(topology: Topology, ax: Axes | None = None, *, labels: Labels = "auto", title: Title = True) -> Axes:
    """Draw a network with its name as the title.

    Parameters
    ----------
    topology : Topology
        The network.
    ax, labels, title
        As for :func:`obliv.view.plot`.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import obliv
    >>> ax = plot_topology(obliv.hypercube(3))
    """
    own = ax is None
    ax = draw_topology(topology, ax, labels)
    size = f"{plural(topology.nodes, 'node')}, {plural(topology.channels, 'channel')}"
    return finish(ax, own, [topology.spec, size], title=title)


def plot_loads(
    routing: Routing, traffic: Traffic | str, ax: Axes | None = None, *, labels: Labels = "auto", title: Title = True
) -> Axes:
    """Draw the load of every channel under a traffic pattern.

    Parameters
    ----------
    routing : Routing
        The routing.
    traffic : Traffic or str
        The traffic pattern, or its spec.
    ax, labels, title
        As for :func:`obliv.view.plot`.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import obliv
    >>> ax = plot_loads(obliv.routing("dor", obliv.mesh(4, 4)), "transpose")
    """
    require_matplotlib()
    if not isinstance(routing, Routing):
        raise InputError(f"plot_loads takes a routing, then the traffic: {type(routing).__name__} is no routing")
    own, topology = ax is None, routing.topology
    pattern = traffic_of(traffic, topology)
    loads = routing.pair_loads().under(pattern)
    ax = draw_loads(topology, loads, ax, labels=labels)
    most = max(loads, default=Fraction(0))
    remarks = []
    busiest = pattern.busiest_terminal(topology.injection, topology.ejection)
    limit = bottleneck(topology, loads.index(most), 1 / most, busiest) if busiest is not None and most else None
    over = overload(topology, busiest)
    if over is not None:
        remarks.append(f"not admissible since {over}")
    if over is not None and busiest is not None and limit is not None and limit.kind != "channel":
        remarks.append(f"throughput {short(1 / busiest[0])} times the traffic, limited by {limit}")
    elif (base := with_known_capacity(topology).capacity_load) is not None and most:
        remarks.append(f"{short(base / most)} of capacity")
    heading = f"{called(routing.spec)} on {called(topology.spec)} under {pattern.spec}"
    return finish(ax, own, [heading, f"largest channel load {short(most)}"], remarks, title=title)


def plot_plane(result: Any, ax: Axes | None = None, *, labels: Labels = "auto", title: Title = True) -> Axes:
    """Draw the loads that a result declares for the channels of its network.

    Parameters
    ----------
    result : Result
        With a method ``plane``, such as that of :func:`obliv.worst_channels` or :func:`obliv.fabric.shifts`.
    ax, labels, title
        As for :func:`obliv.view.plot`.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import obliv
    >>> ax = plot_plane(obliv.worst_channels(obliv.DOR(obliv.mesh(4, 4))))
    """
    require_matplotlib()
    plane: Plane = result.plane()
    topology = getattr(result.subject, "topology", None) or topology_of(result.topology)
    if topology.channels != len(plane.loads):
        raise InputError(f"the result is not about {topology.spec}: it has {len(plane.loads)} channels")
    own = ax is None
    ax = draw_loads(topology, plane.loads, ax, labels=labels)
    return finish_declared(result, plane, ax, own, title)
