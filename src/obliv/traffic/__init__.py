"""Traffic matrices, permutations and patterns.  ``obliv.traffic("tornado", topology)`` makes one from its spec."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from obliv import specs
from obliv import topology as topologies
from obliv.errors import InputError, TrafficError
from obliv.specs import door, split_mix
from obliv.traffic.traffic import Traffic

__all__ = ["from_spec"]


def from_spec(spec: Any, topology: Any = None) -> Any:
    """The traffic that a spec names, on a topology.

    Parameters
    ----------
    spec : str or Traffic
        For example ``tornado``, ``permutation:FILE`` or ``1/2*uniform+1/2*tornado``.
    topology : Topology
        The network whose terminals send.

    Returns
    -------
    Traffic

    Examples
    --------
    >>> import obliv
    >>> obliv.traffic("shift:3", obliv.ring(8))
    <Traffic shift:3: 8 terminals, 8 flows>
    """
    if topology is None:
        raise InputError('a traffic needs a topology: obliv.traffic("tornado", topology)')
    topology = topologies.from_spec(topology)
    if isinstance(spec, Traffic):
        made = spec
    elif not isinstance(spec, str):
        raise InputError(f"a traffic is a spec or a Traffic, not {type(spec).__name__}")
    elif (mix := split_mix(spec)) is not None:
        parts = [weight * from_spec(part, topology) for weight, part in mix]
        made = parts[0]
        for part in parts[1:]:
            made = made + part
    else:
        made = specs.patterns.make(spec, topology)
        if not isinstance(made, Traffic):
            raise TrafficError(f"{spec}: the registered function gave {type(made).__name__}, not a Traffic")
        if made.spec in ("permutation", "matrix"):  # whoever made it did not say
            made = replace(made, spec=spec.strip())
    if made.terminals != len(topology.terminals):
        raise TrafficError(f"{made.spec} has {made.terminals} terminals, {topology.spec} has {len(topology.terminals)}")
    return made


door(__name__, from_spec)
