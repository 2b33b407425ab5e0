"""The outcome of an algorithm of packet routing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from obliv._util.typing import Array
from obliv.results.plans import CentralizedPlan, DistributedPlan
from obliv.results.schedule import Moves

__all__ = ["Run"]


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
