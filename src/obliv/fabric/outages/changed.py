"""A fabric after a change of cables, for new tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from obliv._util.text import several
from obliv.fabric.arguments import typed
from obliv.fabric.model import Fabric
from obliv.fabric.outages.added import new_cables, speed_between_switches
from obliv.fabric.outages.sets import Failure, named_failure, without
from obliv.fabric.topology import FabricTopology, network

__all__ = ["changed"]


@typed
def changed(fabric: Fabric, *, fail: Sequence[str] = (), add: Sequence[str] = ()) -> Fabric:
    """Return the fabric without what fails and with new cables; nodes, ports and LIDs keep their numbers.

    Parameters
    ----------
    fabric : Fabric
    fail, add : sequence of str, optional
        Cables and switches that fail, and new cables, as for :func:`obliv.fabric.what_if`. New cables have the speed
        of those between switches.

    Raises
    ------
    InputError
        If there is no such node, port or cable, or cables are added where those between switches differ in speed.

    Examples
    --------
    >>> import obliv
    >>> fabric = obliv.fabric.from_topology(obliv.fattree(4, 2))
    >>> after = changed(fabric, fail=["switch((0),1)/3"])
    >>> obliv.fabric.network(fabric).channels, obliv.fabric.network(after).channels
    (32, 30)
    """
    topology, names = network(fabric), several(fail)
    failure = named_failure(topology, names) if names else Failure("", ())
    cables = new_cables(topology, failure, several(add))
    left = without(fabric, failure)
    peer, rate = left.ports.peer.copy(), left.ports.rate.copy()
    for switch in failure.switches:  # its hosts are without a cable, too
        slots = np.arange(left.first_slot[switch], left.first_slot[switch + 1])
        slots = slots[peer[slots] >= 0]
        peer[peer[slots]] = -1
        peer[slots] = -1
    if cables:
        speed_between_switches(topology)  # refuses where it is not one
        rate[np.ravel(cables)] = _rate_between_switches(topology)
    for ends in cables:
        peer[list(ends)] = ends[::-1]
    return left.with_ports(peer=peer, rate=rate)


def _rate_between_switches(topology: FabricTopology) -> int:
    """Return the place of the data rate of cables between switches, that of the slower end; -1 where none is known."""
    fabric = topology.fabric
    slots = topology.slot_of[~topology.at_host]
    if not len(slots):
        return -1
    ends = fabric.ports.rate[[slots[0], fabric.ports.peer[slots[0]]]].tolist()
    return min((at for at in ends if at >= 0), key=lambda at: fabric.rates[at], default=-1)
