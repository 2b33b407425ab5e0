"""Traffic from its spec."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import add

from obliv.errors import InputError, TrafficError
from obliv.patterns.base import Traffic
from obliv.specs.grammar import split_mix
from obliv.specs.registry import PATTERNS
from obliv.topologies.base import Topology
from obliv.topologies.make import topology as topology_of

__all__ = ["traffic"]


def traffic(spec: str | Traffic, topology: str | Topology | None = None) -> Traffic:
    """Return the traffic that a spec names, on a topology.

    Parameters
    ----------
    spec : str or Traffic
        For example ``tornado``, ``permutation:FILE``, ``1/2*uniform+1/2*tornado``, or ``1/2*uniform``
        for half the rate; a Traffic is returned as it is.
    topology : Topology or str
        The network whose terminals send.

    Returns
    -------
    Traffic

    Raises
    ------
    SpecError
        If the name is unknown or the parameters are wrong.
    TrafficError
        If it does not fit the topology.

    Examples
    --------
    >>> import obliv
    >>> obliv.traffic("shift:3", obliv.ring(8))
    <Traffic shift:3: 8 terminals, 8 flows>
    """
    if topology is None:
        raise InputError('a traffic needs a topology: obliv.traffic("tornado", topology)')
    network = topology_of(topology)
    if isinstance(spec, Traffic):
        pattern = spec
    elif not isinstance(spec, str):
        raise InputError(
            f"a traffic is a spec or a Traffic, not {type(spec).__name__}: "
            "make one with obliv.matrix(rows) or obliv.permutation(destinations)"
        )
    elif (mix := split_mix(spec, partial=True)) is not None:
        parts = [weight * traffic(part, network) for weight, part in mix]
        pattern = reduce(add, parts)
    else:
        pattern = PATTERNS.make(spec, network.pattern_base)
        if not isinstance(pattern, Traffic):
            raise TrafficError(f"{spec}: the registered function returned {type(pattern).__name__}, not a Traffic")
        if pattern.spec in ("permutation", "matrix"):  # the function gave no name
            pattern = replace(pattern, spec=spec.strip())
    if pattern.terminals != len(network.terminals):
        raise TrafficError(
            f"{pattern.spec} has {pattern.terminals} terminals, {network.spec} has {len(network.terminals)}"
        )
    return pattern
