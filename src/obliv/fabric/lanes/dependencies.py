"""The dependencies of a fabric's lanes, as a routing gives them to ``obliv deadlock``."""

from __future__ import annotations

import numpy as np

from obliv._util.content import Value
from obliv._util.typing import Array
from obliv.fabric.lanes.read import Lanes
from obliv.fabric.lanes.verdict import judge
from obliv.fabric.routes.routing import FabricRouting
from obliv.fabric.routes.trace import trace_all
from obliv.routings.base import LaneDependencies

__all__ = ["LanesOf"]


class LanesOf(Value):
    """The virtual lanes of a fabric; called with a routing, what follows what on them.

    Parameters
    ----------
    lanes : Lanes
    """

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes

    def __call__(self, routing: FabricRouting) -> LaneDependencies:
        """Return what packets between all hosts use, whatever the terminals are, as ``obliv fabric check`` does."""
        graph = judge(trace_all(self.lanes.fabric, routing.routes.tables), self.lanes).graph
        many = max(1, len(graph.slots))
        channel = routing.topology.channel_of[graph.slots]

        def pairs(vertices: Array) -> Array:
            return np.stack([channel[vertices % many], vertices // many], axis=1)

        follows = np.concatenate([pairs(graph.tail), pairs(graph.head)], axis=1)
        return LaneDependencies(pairs(np.flatnonzero(graph.vertices)), follows)
