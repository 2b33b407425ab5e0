"""Where the nodes of a network stand in a picture: neighbours about one apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from obliv.topologies.base import Topology
from obliv.topologies.cartesian import Cartesian
from obliv.topologies.trees import Tree
from obliv.view.layout.fabrics import fabric_plan
from obliv.view.layout.levels import apart

__all__ = ["Points", "on_grid", "place"]

Points = npt.NDArray[np.float64]

_SPRINGS = 400  # beyond so many nodes a spring layout takes long and shows nothing


def place(topology: Topology) -> Points:
    """Positions of all nodes, shape (nodes, 2).

    Meshes, tori and hypercubes stand on their grid; rings and complete graphs on a circle; fat trees on levels, also
    those of a fabric; others where the topology says, or as springs pull them.
    """
    if on_grid(topology):
        return np.asarray(topology.positions, float)
    if isinstance(topology, Cartesian) and len(topology.axes) == 1:
        return _circle(topology.nodes)
    plan = fabric_plan(topology)
    if plan is not None:
        return plan.points
    given = topology.positions
    if isinstance(topology, Tree) and given is not None:
        level = np.repeat(np.arange(topology.levels + 1), np.diff(topology.first_node))
        return apart(np.asarray(given, float)[:, 0], level)
    if given is not None and np.isfinite(given).all() and np.ptp(given, axis=0).max() > 0:
        return 1.5 * _scaled(np.asarray(given, float))  # places on a map crowd in spots
    return _springs(topology)


def on_grid(topology: Topology) -> bool:
    """Whether the nodes stand on a grid whose lines are the network's dimensions."""
    if not isinstance(topology, Cartesian) or topology.positions is None:
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
    graph: Any = networkx.Graph()
    graph.add_nodes_from(range(topology.nodes))
    graph.add_edges_from(zip(topology.tail.tolist(), topology.head.tolist(), strict=True))
    found = networkx.kamada_kawai_layout(graph) if topology.nodes <= 60 else networkx.spring_layout(graph, seed=0)
    return _scaled(np.array([found[node] for node in range(topology.nodes)]))
