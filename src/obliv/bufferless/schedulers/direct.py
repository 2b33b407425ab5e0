"""Direct routing: packets wait outside the network, and once inside go forward at every step."""

from __future__ import annotations

import numpy as np

from obliv._util.arrays import starts
from obliv._util.cost import require_memory
from obliv._util.text import did_you_mean
from obliv._util.typing import Array
from obliv.bufferless.kernels.direct import BITS, Fit, first_fit
from obliv.bufferless.moves import Run, nonstop
from obliv.errors import OptionError
from obliv.kernels import run
from obliv.results.bufferless.schedule import Moves
from obliv.topologies.leveled.instances import Instance

__all__ = ["ORDERS", "direct"]


#: The orders in which packets choose, the first is the default.
ORDERS = ("farthest", "longest", "random", "source")


def direct(instance: Instance, rng: np.random.Generator | None = None, order: str = "farthest") -> Run:
    """Route directly and greedily: one packet after another takes the earliest free departure.

    Parameters
    ----------
    instance : Instance
    rng : numpy.random.Generator, optional
        Only the order "random" needs it.
    order : str
        Which packet chooses first: "farthest", the highest destination level and of those the longest path; "longest"
        path; "random"; "source", the lowest source level.  Ties in the order of packets.

    Returns
    -------
    Run
        Without deflections.  A packet that departs at time d is on its k-th edge at time d + k.

    Raises
    ------
    OptionError
        If the order is unknown, or needs a generator.

    Notes
    -----
    Two packets that share an edge meet on it if and only if they have the same offset, departure minus source level.
    So a direct schedule is a coloring of the graph of packets that share an edge, here by first fit.  It is the limit
    of the algorithm of Busch, Kelkar and Magdon-Ismail (Efficient Bufferless Routing on Leveled Networks, 2004) of one
    frame, and boats a step apart.

    Examples
    --------
    >>> from obliv.bufferless.problems import instance
    >>> both = instance("array:3", [[0, 1], [0]])
    >>> direct(both).delivery
    array([2, 2])
    """
    packets = instance.packets
    chosen = _order(instance, rng, order)
    if not packets:
        return Run(Moves(instance.start, np.zeros(0, np.int32), instance.edge, np.ones(0, bool)), np.zeros(0, np.int64))
    require_memory(8.0 * instance.network.edges + 5.0 * len(instance.edge) + 50.0 * packets, "a direct schedule")
    level = instance.level
    first = level.max() - level  # so that offset 0 is that of leaving the highest source at once
    word = first[chosen] // BITS
    joins = np.argsort(word, kind="stable").astype(np.int32)
    joins_start = starts(np.bincount(word))
    waiting, fitted = np.empty((2, packets), np.int32)
    fit = Fit(
        start=instance.start,
        edge=instance.edge,
        order=chosen,
        first=first,
        joins=joins,
        joins_start=joins_start,
        mask=np.zeros(instance.network.edges, np.int64),
        waiting=waiting,
        fitted=fitted,
        offset=np.empty(packets, np.int64),
    )
    run(first_fit, 4.0 * len(instance.edge), fit)
    departure = fit.offset - first
    moves = Moves(instance.start, nonstop(instance.start, departure), instance.edge, np.ones(len(instance.edge), bool))
    return Run(moves, departure + instance.length, constants={"order": order})


def _order(instance: Instance, rng: np.random.Generator | None, order: str) -> Array:
    """Return the packets in the order in which they choose."""
    length, level = instance.length, instance.level
    if order == "farthest":
        packets = np.lexsort((-length, -(level + length)))
    elif order == "longest":
        packets = np.argsort(-length, kind="stable")
    elif order == "source":
        packets = np.argsort(level, kind="stable")
    elif order == "random":
        if rng is None:
            raise OptionError("order", "the order 'random' needs a random generator")
        packets = rng.permutation(instance.packets)
    else:
        raise OptionError("order", "invalid {order} {0!r}: {1}", order, did_you_mean(order, ORDERS))
    return packets.astype(np.int32)
