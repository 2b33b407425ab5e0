"""Pictures with titles: a topology, and the loads of a routing under a traffic pattern."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from obliv._util.text import plural
from obliv.analysis.subject import with_known_capacity
from obliv.errors import InputError
from obliv.patterns.base import Traffic, from_flows
from obliv.patterns.make import traffic as traffic_of
from obliv.results import WorstChannels
from obliv.results.analysis.throughput import bottleneck, overload
from obliv.results.format import short
from obliv.routings.base import Routing
from obliv.routings.make import routing as routing_of
from obliv.topologies.base import Topology
from obliv.topologies.make import topology as topology_of
from obliv.view.axes import Title, called, finish, subject_of
from obliv.view.figures import require_matplotlib
from obliv.view.network.channels import draw_loads, draw_topology
from obliv.view.network.names import Labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from obliv.results import Shifts

__all__ = ["plot_loads", "plot_shifts", "plot_topology", "plot_worst_channels"]


def plot_topology(topology: Topology, ax: Axes | None = None, *, labels: Labels = "auto", title: Title = True) -> Axes:
    """Draw a network with its name as the title.

    Parameters
    ----------
    topology : Topology
        The network.
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


def plot_worst_channels(
    result: WorstChannels, ax: Axes | None = None, *, labels: Labels = "auto", title: Title = True
) -> Axes:
    """Draw the worst case of every channel; unlike the loads of one traffic they are not attained together.

    Parameters
    ----------
    result : WorstChannels
        The result of an analysis, with the routing or pair loads it is about.
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
    >>> ax = plot_worst_channels(obliv.worst_channels(obliv.DOR(obliv.mesh(4, 4))))
    """
    require_matplotlib()
    topology = getattr(result.subject, "topology", None) or topology_of(result.topology)
    if topology.channels != len(result.channels):
        raise InputError(f"the result is not about {topology.spec}: it has {len(result.channels)} channels")
    own = ax is None
    ax = draw_loads(topology, [row.channel_load for row in result.channels], ax, labels=labels)
    heading = f"{subject_of(result)}: each channel under its own worst traffic"
    return finish(ax, own, [heading, f"largest channel load {short(result.channel_load)}"], title=title)


def plot_shifts(result: Shifts, ax: Axes | None = None, *, labels: Labels = "auto", title: Title = True) -> Axes:
    """Draw the load of every channel under the worst shift.

    Parameters
    ----------
    result : Shifts
        The result of :func:`obliv.fabric.shifts`, or a loaded one, whose routing is created from its spec.
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
        If the routing has other loads than the result, because a file changed.

    Examples
    --------
    >>> import obliv
    >>> ax = plot_shifts(obliv.fabric.shifts(obliv.fabric.from_routing(obliv.DModK(obliv.fattree(4, 2)))))
    """
    require_matplotlib()
    routing = result.subject or routing_of(result.routing, topology_of(result.topology))
    topology = routing.topology
    natural = range(len(topology.terminals))
    order = result.order or natural
    if sorted(order) != list(natural):
        raise InputError("the order of this result does not name every terminal once")
    loads = routing.pair_loads().under(_shifted(topology, order, result.worst_shift))
    if max(loads) != result.worst_load:
        raise InputError("the loads of the routing are no longer those of this result: compute the shifts again")
    own = ax is None
    ax = draw_loads(topology, loads, ax, labels=labels)
    given = " in the given order" if result.order else ""
    which = f"shift {result.worst_shift}{given}, the worst of {result.shifts:,}"
    heading = f"{subject_of(result)}: {which}"
    worst, mean = f"largest channel load {short(result.worst_load)}", f"mean over the shifts {short(result.mean_load)}"
    return finish(ax, own, [heading, worst], [mean], title=title)


def _shifted(topology: Topology, order: Sequence[int], by: int) -> Traffic:
    """Return the traffic of a shift in an order of the terminals: a pair sends what the slower of its ends can."""
    sends, takes = topology.rates()
    pairs = zip(order, (*order[by:], *order[:by]), strict=True)
    return from_flows("shift", len(order), {(s, d): min(sends[s], takes[d]) for s, d in pairs}, Fraction(0))
