"""Topologies: networks as values.  ``obliv.topology("torus:9x9")`` makes one from its spec."""

from __future__ import annotations

from typing import Any

from obliv.errors import InputError, SpecError, TopologyError
from obliv.specs import door, split_mix, topologies
from obliv.topology.topology import Topology

__all__ = ["from_spec"]


def from_spec(spec: Any) -> Any:
    """The topology that a spec names.

    Parameters
    ----------
    spec : str or Topology
        For example ``torus:9x9`` or ``file:network.graphml``; a Topology is returned as it is.

    Returns
    -------
    Topology

    Raises
    ------
    SpecError
        If the name is unknown or the parameters are wrong.

    Examples
    --------
    >>> import obliv
    >>> obliv.topology("torus:9x9")
    <Topology torus:9x9: 81 nodes, 324 channels, 81 terminals>
    """
    if isinstance(spec, Topology):
        return spec
    if not isinstance(spec, str):
        raise InputError(f"a topology is a spec or a Topology, not {type(spec).__name__}")
    if split_mix(spec) is not None:
        raise SpecError(f"{spec!r} is a mix; routings and traffic can be mixed, topologies can not")
    made = topologies.make(spec)
    if not isinstance(made, Topology):
        raise TopologyError(f"{spec}: the registered function gave {type(made).__name__}, not a Topology")
    if not made.spec:
        object.__setattr__(made, "spec", spec.strip())
    return made


door(__name__, from_spec)
