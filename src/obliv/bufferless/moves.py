"""What an algorithm of packet routing returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from obliv._util.typing import Array
from obliv.results.schedule import Moves

__all__ = ["Run"]


@dataclass(frozen=True, eq=False)
class Run:
    """The moves of all packets and when each arrives.

    Parameters
    ----------
    moves : Moves
    delivery : int64 array, shape (packets,)
        The time of every packet's last move.
    rules : "bufferless" or "buffered"
        Whether a packet in the network always moves.
    deflections : int
        How often a packet was pushed over a link that it has to go back.
    constants : dict
        What the algorithm was run with, for people: name and value.
    plan : dict, optional
        What it chose for every packet, from which the verifier checks frames, boats and targets.
    notes : tuple of str
    """

    moves: Moves
    delivery: Array
    rules: str = "bufferless"
    deflections: int = 0
    constants: dict[str, Any] = field(default_factory=dict)
    plan: dict[str, Any] | None = None
    notes: tuple[str, ...] = ()
