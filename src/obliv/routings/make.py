"""A routing from its spec, from a class, or from a user's own object that gives paths or next hops."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from obliv.errors import InputError, RoutingError
from obliv.routings.base import Mix, Routing, is_adaptable
from obliv.routings.hops import HopRouting
from obliv.routings.paths import Path
from obliv.specs.registry import ROUTINGS, split_mix
from obliv.topologies.base import Topology
from obliv.topologies.make import topology as topology_of


def routing(spec: Any, topology: Topology | str | None = None) -> Routing:
    """Return the routing that a spec names, on a topology.

    Parameters
    ----------
    spec : str, Routing, class, function or object
        For example ``romm``, ``dor:yx`` or ``1/2*dor+1/2*dor:yx``. A Routing is returned as it is; a class or function
        is called with the topology; any other object must have ``paths``, ``next_hops`` or ``sample``.
    topology : Topology or str, optional
        The network; not needed for a Routing, which must be on that network, or an object with its own ``topology``.

    Returns
    -------
    Routing

    Raises
    ------
    RoutingError
        If the topology cannot carry the routing, or a Routing is on another one.

    Examples
    --------
    >>> import obliv
    >>> obliv.routing("1/2*dor+1/2*dor:yx", obliv.mesh(4, 4))
    <Routing 1/2*dor+1/2*dor:yx on mesh:4x4>
    """
    if isinstance(spec, Routing):
        if topology is not None and not (network := topology_of(topology)).same_network(spec.topology):
            raise RoutingError(
                f"{spec.spec} is a routing on {spec.topology.spec}, not on {network.spec}: pass its spec instead"
            )
        return spec
    factory = callable(spec) and (inspect.isclass(spec) or not is_adaptable(spec))
    if isinstance(spec, Topology):
        raise InputError('a routing comes before its topology: obliv.routing("romm", topology)')
    if not (isinstance(spec, str) or factory or is_adaptable(spec)):
        raise InputError(f"a routing is a spec, a Routing or an object with paths, not {type(spec).__name__}")
    if topology is None:
        topology = None if factory or isinstance(spec, str) else getattr(spec, "topology", None)
    if topology is None:
        raise InputError('a routing needs a topology: obliv.routing("romm", topology)')
    network = topology_of(topology)
    if factory:
        own = spec(network)
        return _as_routing(own, network, getattr(own, "spec", "") or ROUTINGS.name_of(spec) or spec.__name__)
    if not isinstance(spec, str):
        name = getattr(spec, "spec", "") or ROUTINGS.name_of(type(spec)) or type(spec).__name__
        return _as_routing(spec, network, name)
    mix = split_mix(spec)
    if mix is not None:
        return Mix([(weight, routing(part, network)) for weight, part in mix])
    return _as_routing(ROUTINGS.make(spec, network), network, spec.strip())


def _as_routing(own: Any, network: Topology, name: str) -> Routing:
    """Return a Routing as it is, anything else adapted, under the spec `name` unless it has one."""
    if not isinstance(own, Routing):
        return adapted(own, network, name)
    if own.spec in ("", type(own).__name__):
        own.spec = name
    return own


# A user's own classes as routings: those that give only paths, next hops or random paths


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
