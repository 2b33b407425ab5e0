"""The links out of nodes, the times of packets that never stop, and the outcome of an algorithm of packet routing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from obliv._util.arrays import grouped
from obliv._util.typing import Array
from obliv.bufferless.kernels.hot_potato import leaving
from obliv.kernels import run
from obliv.results.bufferless.plans import CentralizedPlan, DistributedPlan
from obliv.results.bufferless.schedule import Moves
from obliv.topologies.leveled.base import Leveled

__all__ = ["Run", "exits", "nonstop"]


@dataclass(frozen=True, eq=False)
class Run:
    """The moves of all packets and their delivery times.

    Parameters
    ----------
    moves : Moves
    delivery : int64 array, shape (packets,)
        The time of every packet's last move.
    rules : "bufferless" or "buffered"
        Whether a packet in the network moves at every step.
    deflections : int
        How often a packet was pushed over a link that it has to retrace.
    constants : dict
        Names and values of the constants, for display.
    plan : CentralizedPlan or DistributedPlan, optional
        The choices for every packet, from which the verifier checks frames, boats and targets.
    notes : tuple of str
        Remarks for the user.
    """

    moves: Moves
    delivery: Array
    rules: str = "bufferless"
    deflections: int = 0
    constants: dict[str, Any] = field(default_factory=dict)
    plan: CentralizedPlan | DistributedPlan | None = None
    notes: tuple[str, ...] = ()


#: Edges up to which sorting is faster than loading the machine code of a loop.
INTERPRETED = 30_000


def exits(network: Leveled) -> tuple[Array, Array]:
    """Return the links that leave every node v: ``link[first[v] : first[v + 1]]``, 2e up edge e before 2e + 1 down."""
    edges, dtype = network.edges, np.int32 if network.edges < 2**30 else np.int64
    if edges > INTERPRETED:
        first, link = np.zeros(network.nodes + 1, np.int64), np.empty(2 * edges, dtype)
        run(leaving, 20.0 * edges, *network.edge_ends, first, link)
        return first, link
    first, order = grouped(np.concatenate(network.edge_ends), network.nodes)
    down = order >= edges
    return first, (2 * (order - edges * down) + down).astype(dtype)


def nonstop(start: Array, departure: Array, dtype: type[np.signedinteger[Any]] = np.int32) -> Array:
    """Return the times of the moves ``start[p] .. start[p + 1] - 1`` of packets that leave at `departure`."""
    time = np.ones(start[-1], dtype)
    if len(departure):
        time[start[:-1]] += np.diff(departure - start[:-1], prepend=0).astype(dtype)
    return np.cumsum(time, out=time)
