"""The links that packets can take, and the outcome of an algorithm of packet routing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from obliv._util.arrays import grouped
from obliv._util.typing import Array
from obliv.results.plans import CentralizedPlan, DistributedPlan
from obliv.results.schedule import Moves
from obliv.topologies.leveled.base import Leveled

__all__ = ["Run", "exits"]


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


def exits(network: Leveled) -> tuple[Array, Array]:
    """Return the links that leave every node v: ``link[first[v] : first[v + 1]]``, 2e up edge e before 2e + 1 down."""
    edges = network.edges
    first, order = grouped(np.concatenate(network.edge_ends), network.nodes)
    down = order >= edges
    link = 2 * (order - edges * down) + down
    return first, link.astype(np.int32 if 2 * edges < 2**31 else np.int64)
