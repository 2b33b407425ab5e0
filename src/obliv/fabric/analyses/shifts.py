"""The largest loads of all shifts of the hosts."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from obliv._util.progress import Progress, rising
from obliv._util.typing import Array
from obliv.errors import InputError
from obliv.fabric.analyses.many import BLOCK, largest, provenance_of
from obliv.fabric.arguments import typed
from obliv.fabric.routes.routing import FabricRouting
from obliv.results.fabric.worst import Shifts

__all__ = ["shift_images", "shifts"]


@typed
def shifts(
    routing: FabricRouting,
    *,
    order: Sequence[int] | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Shifts:
    """Return the largest channel loads of all shifts except that by 0: the worst and the mean, exact.

    Parameters
    ----------
    routing : FabricRouting
        Where links of hosts differ, a pair sends what the slower of its two ends can.
    order : sequence of int, optional
        The terminals in the order in which they are shifted; default their own, that of the file.
    jobs : int, optional
        Threads; default the number of cores.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Shifts

    Raises
    ------
    InputError
        If there is one host, or the order does not name every terminal once.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate.from_topology import from_routing
    >>> shifts(from_routing(obliv.routing("dmodk", obliv.topology("fattree:4,3")))).worst_load
    Fraction(1, 1)
    """
    began = time.perf_counter()
    n = len(routing.topology.terminals)
    if n < 2:
        raise InputError(f"{routing.topology.spec} has one host: shifts need two")
    place = np.arange(n) if order is None else np.asarray(order)
    if sorted(place.tolist()) != list(range(n)):
        raise InputError(f"the order must name every terminal from 0 to {n - 1} exactly once")
    images = shift_images(n, place)
    load, unit = largest(routing, images, n - 1, what="shifts", jobs=jobs, progress=rising(progress))
    worst = int(load.argmax())
    return Shifts(
        routing.topology.spec,
        routing.spec,
        provenance_of(routing, began),
        n - 1,
        int(load[worst]) * unit,
        worst + 1,
        Fraction(sum(load.tolist()), n - 1) * unit,
        None if order is None else tuple(place.tolist()),
        subject=routing,
    )


def shift_images(hosts: int, place: Array | None = None) -> Iterator[Array]:
    """Yield the destinations of every source under all shifts but that by 0, some shifts at a time."""
    place = np.arange(hosts) if place is None else place
    step = max(1, BLOCK // hosts)
    for first in range(1, hosts, step):
        by = np.arange(first, min(hosts, first + step))[:, None]
        image = np.empty((len(by), hosts), np.int64)
        image[:, place] = place[(np.arange(hosts) + by) % hosts]
        yield image
