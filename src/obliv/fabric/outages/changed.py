"""The fabric after a change of cables, for new tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from obliv._util.text import several
from obliv.fabric.arguments import typed
from obliv.fabric.model import Fabric
from obliv.fabric.outages.base import Base
from obliv.fabric.outages.changes import changes_of
from obliv.fabric.outages.sets import without

__all__ = ["changed"]


@typed
def changed(base: Base, *, fail: Sequence[str] = (), add: Sequence[str] = ()) -> Fabric:
    """Return the fabric without what fails and with new cables; nodes, ports and LIDs keep their numbers.

    Parameters
    ----------
    base : Base
        The state before, as for :func:`obliv.fabric.what_if`.
    fail, add : sequence of str, optional
        Cables and switches that fail, and new cables, as there.

    Raises
    ------
    InputError
        If there is no such node, port or cable.

    Examples
    --------
    >>> import obliv
    >>> base = obliv.fabric.base_of(obliv.fabric.from_routing(obliv.DModK(obliv.fattree(4, 2))))
    >>> fabric = changed(base, fail=["switch((0),1)/3"])
    >>> obliv.fabric.network(base.topology.fabric).channels, obliv.fabric.network(fabric).channels
    (32, 30)
    """
    changes = changes_of(base, several(fail), (), several(add))
    fabric = without(base.topology.fabric, changes.failure)
    peer = fabric.ports.peer.copy()
    for switch in changes.failure.switches:  # its hosts are without a cable, too
        slots = np.arange(fabric.first_slot[switch], fabric.first_slot[switch + 1])
        slots = slots[peer[slots] >= 0]
        peer[peer[slots]] = -1
        peer[slots] = -1
    for one, two in changes.cables:
        peer[[one, two]] = two, one
    return fabric.with_ports(peer=peer)
