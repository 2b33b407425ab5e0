"""A user's own classes as routings: those that give only paths, next hops or random paths."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from obliv.errors import RoutingError
from obliv.routings.base import Path, Routing
from obliv.routings.hops import HopRouting
from obliv.topologies.base import Topology

__all__ = ["adapted"]


class AdaptedHops(HopRouting):
    """An object that gives ``next_hops``, as a routing."""

    def __init__(self, own: Any, topology: Topology, spec: str) -> None:
        super().__init__(topology, spec)
        self.own = own

    def next_hops(self, node: int, destination: int) -> Any:
        return self.own.next_hops(node, destination)


class AdaptedSamples(Routing):
    """An object that gives ``sample`` alone, as a routing for estimates."""

    def __init__(self, own: Any, topology: Topology, spec: str) -> None:
        super().__init__(topology, spec)
        self.own = own
        self.relative = bool(getattr(own, "relative", False))

    def sample(self, source: int, destination: int, rng: np.random.Generator) -> tuple[int, ...]:
        path: tuple[int, ...] = self.own.sample(source, destination, rng)
        return path


class AdaptedPaths(AdaptedSamples):
    """An object that gives ``paths``, as a routing."""

    def paths(self, source: int, destination: int) -> Iterable[Path]:
        paths: Iterable[Path] = self.own.paths(source, destination)
        return paths

    def sample(self, source: int, destination: int, rng: np.random.Generator) -> tuple[int, ...]:
        draw = super().sample if hasattr(self.own, "sample") else partial(Routing.sample, self)
        return draw(source, destination, rng)


def adapted(own: Any, topology: Topology, spec: str) -> Routing:
    """Return an object with ``paths``, ``next_hops`` or ``sample`` as a routing; RoutingError if it has none."""
    if hasattr(own, "next_hops"):
        return AdaptedHops(own, topology, spec)
    if hasattr(own, "paths"):
        return AdaptedPaths(own, topology, spec)
    if hasattr(own, "sample"):
        return AdaptedSamples(own, topology, spec)
    raise RoutingError(
        f"{spec}: a routing needs paths(source, destination) or next_hops(node, destination), "
        "or sample(source, destination, rng) for estimates"
    )
