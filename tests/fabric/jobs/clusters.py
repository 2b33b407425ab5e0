"""Fabrics whose hosts have names as on clusters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import obliv
from obliv.fabric.routes.routing import FabricRouting
from obliv.fabric.topology import FabricTopology


@cache
def routed(
    spec: str, rails: int = 1, routing: Any = "dmodk", name: Callable[[int], str] | None = None
) -> FabricRouting:
    """A fabric with hosts node001, node002, ...; with several rails each such number of adapters in turn is a host."""
    topology = obliv.topology(spec)
    fabric = obliv.fabric.from_topology(topology)
    hosts = len(topology.terminals)
    called = name or (lambda k: f"node{k // rails + 1:03d} HCA-{k % rails + 1}")
    texts = tuple(called(k) for k in range(hosts)) + fabric.nodes.description[hosts:]
    named = replace(fabric, nodes=replace(fabric.nodes, description=texts))
    return obliv.fabric.routing(
        obliv.fabric.network(named), obliv.fabric.tables_of(obliv.routing(routing, topology), named)
    )


def cluster(spec: str, rails: int = 1, name: Callable[[int], str] | None = None) -> FabricTopology:
    """The topology of :func:`routed`."""
    return routed(spec, rails, name=name).topology
