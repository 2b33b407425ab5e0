"""Pictures with titles: a topology, and the loads of a routing under a traffic pattern."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from obliv.patterns.base import Traffic
from obliv.results.format import count, short
from obliv.routings.base import Routing
from obliv.topologies.base import Topology
from obliv.view.axes import finish, require_matplotlib
from obliv.view.network.channels import draw_loads, draw_topology
from obliv.view.network.names import Labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_loads", "plot_topology"]


def plot_topology(topology: Topology, ax: Axes | None = None, *, labels: Labels = "auto") -> Axes:
    """Draw a network with its name as the title.

    Parameters
    ----------
    topology : Topology
        The network.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    labels : {"auto", True, False}
        Names of the nodes, as for :func:`obliv.view.draw_topology`.

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
    size = f"{count(topology.nodes, 'node', 'nodes')}, {count(topology.channels, 'channel', 'channels')}"
    return finish(ax, own, [topology.spec, size])


def plot_loads(routing: Routing, traffic: Traffic | str, ax: Axes | None = None, *, labels: Labels = "auto") -> Axes:
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

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import obliv
    >>> ax = plot_loads(obliv.routing("dor", obliv.mesh(4, 4)), "transpose")
    """
    import obliv

    require_matplotlib()
    own, topology = ax is None, routing.topology
    pattern: Traffic = obliv.traffic(traffic, topology)
    loads = routing.pair_loads().under(pattern)
    ax = draw_loads(topology, loads, ax, labels=labels)
    most = max(loads, default=Fraction(0))
    remarks = (
        []
        if topology.capacity_load is None or not most
        else [f"throughput {short(topology.capacity_load / most)} of capacity"]
    )
    heading = f"{routing.spec} on {topology.spec} under {pattern.spec}"
    return finish(ax, own, [heading, f"largest channel load {short(most)}"], remarks)
