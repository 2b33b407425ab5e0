"""Choose where the nodes of a network are drawn."""

from __future__ import annotations

import numpy as np

from obliv.topologies.base import Topology
from obliv.view.layout.base import Layout, Points
from obliv.view.layout.clusters import clusters
from obliv.view.layout.levels import tree_points
from obliv.view.layout.rings import ring_points

__all__ = ["layout_of", "on_grid"]

_SPRINGS = 400  # nodes; beyond that a spring layout is slow and unreadable


def layout_of(topology: Topology) -> Layout:
    """Return the positions of all nodes.

    Meshes, tori and hypercubes lie on their grid, rings and complete graphs on a circle, fat trees on levels, hosts
    around their switches. Other networks use the positions that the topology gives; small ones with a rotation lie on
    one or two circles, the rest in a spring layout.
    """
    if on_grid(topology):
        return Layout(np.asarray(topology.positions, float))
    if len(topology.axes) == 1:
        return Layout(_circle(topology.nodes))
    hint = topology.layout_hint()
    if hint is not None and hint.level is not None:
        return Layout(tree_points(topology, hint), hint.hosts)
    layout = None if hint is None else clusters(topology, hint)
    if layout is not None:
        return layout
    positions = topology.positions
    if positions is not None and np.isfinite(positions).all() and np.ptp(positions, axis=0).max() > 0:
        return Layout(1.5 * _scaled(np.asarray(positions, float)))  # places on a map crowd in spots
    rings = ring_points(topology)
    return Layout(_springs(topology) if rings is None else rings)


def on_grid(topology: Topology) -> bool:
    """Return whether the nodes lie on a grid whose lines are the dimensions of the network."""
    if not topology.axes or topology.positions is None:
        return False
    return len(topology.axes) > 1 or topology.axes[0].kind == "line"


def _circle(nodes: int) -> Points:
    angle = np.pi / 2 - 2 * np.pi * np.arange(nodes) / nodes
    radius = max(0.5 / np.sin(np.pi / nodes), 1.0) if nodes > 1 else 0.0
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


def _scaled(points: Points) -> Points:
    width, height = np.ptp(points, axis=0)
    n = len(points)
    unit = max((width * height / n) ** 0.5, max(width, height) / n)
    scaled: Points = (points - points.min(axis=0)) / unit
    return scaled


def _springs(topology: Topology) -> Points:
    try:
        import networkx
    except ImportError:
        return _circle(topology.nodes)
    if topology.nodes > _SPRINGS or topology.nodes < 3:
        return _circle(topology.nodes)
    graph = networkx.Graph()
    graph.add_nodes_from(range(topology.nodes))
    graph.add_edges_from(zip(topology.tail.tolist(), topology.head.tolist(), strict=True))
    small = topology.nodes <= 60
    position = networkx.kamada_kawai_layout(graph) if small else networkx.spring_layout(graph, seed=0)
    return _scaled(np.array([position[node] for node in range(topology.nodes)]))
