"""Routings: oblivious path distributions.  ``obliv.routing("romm", topology)`` makes one from its spec."""

from __future__ import annotations

from typing import Any

from obliv import topology as topologies
from obliv.errors import InputError
from obliv.specs import door, routings, split_mix

__all__ = ["from_spec"]


def from_spec(spec: Any, topology: Any = None) -> Any:
    """The routing that a spec names, on a topology.

    Parameters
    ----------
    spec : str or Routing
        For example ``romm``, ``dor:yx`` or ``1/2*dor+1/2*dor:yx``; a Routing is returned as it is.
    topology : Topology
        The network.

    Returns
    -------
    Routing

    Raises
    ------
    RoutingError
        If the topology cannot carry the routing.

    Examples
    --------
    >>> import obliv
    >>> obliv.routing("1/2*dor+1/2*dor:yx", obliv.mesh(4, 4))
    <Routing 1/2*dor+1/2*dor:yx on mesh:4x4>
    """
    from obliv.routing.routing import Mix, Routing, adapted

    if isinstance(spec, Routing):
        return spec
    if not isinstance(spec, str):
        raise InputError(f"a routing is a spec or a Routing, not {type(spec).__name__}")
    if topology is None:
        raise InputError('a routing needs a topology: obliv.routing("romm", topology)')
    topology = topologies.from_spec(topology)
    mix = split_mix(spec)
    if mix is not None:
        return Mix([(weight, from_spec(part, topology)) for weight, part in mix])
    return adapted(routings.make(spec, topology), topology, spec.strip())


door(__name__, from_spec)
