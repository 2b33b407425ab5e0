"""The distributed algorithm boat by boat: colors, rounds and delivery times, but no moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from obliv._util.arrays import starts
from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.bufferless.frames.constants import Constants
from obliv.bufferless.frames.wave_clock import Waves
from obliv.bufferless.kernels.rides import CLASH, CROWDED, DELIVERY, RIDER, SUBPHASE, TALLY, Riders, boats
from obliv.errors import OblivError, OptionError
from obliv.kernels import run

__all__ = ["PARTS", "CrowdedError", "Rides", "ride"]


#: The sub-phases of a phase, by the packets that ride in them.
PARTS = ("A", "B1", "B2")


class CrowdedError(OptionError):
    """The limit on rounds was reached: chi is too small for the packets of a sub-phase, of which `failed` failed."""

    def __init__(self, constants: Constants, cap: int, phase: int, part: int, failed: int) -> None:
        self.failed, self._arguments = failed, (constants, cap, phase, part, failed)
        packets = "1 packet has" if failed == 1 else f"{failed} packets have"
        super().__init__(
            "chi",
            f"after {cap} rounds of sub-phase {PARTS[part]} of phase {phase} {packets} no boat yet: raise {{chi}} "
            f"(now {constants.chi}; {{lam}} >= 6 {{chi}}), or {{s}} (now {constants.s})",
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._arguments


@dataclass(frozen=True, eq=False)
class Rides:
    """The rides of all packets.

    Parameters
    ----------
    phase, part, rounds, begin : int array
        Of every sub-phase with members: phase; part (0, 1, 2 for A, B1, B2); rounds until no packet fails; the time
        before its first move.
    delivery : int array
        The delivery time of every packet.
    phase_start : int array, shape (packets + 1,)
        Packet p takes part in the phases ``phase_start[p] .. phase_start[p + 1] - 1`` of the next two arrays.
    color, home : int array
        Its color in the phase, and the level where it begins the phase.
    moves : int
        Estimated single moves of all packets if the algorithm ran step by step.
    """

    phase: Array
    part: Array
    rounds: Array
    begin: Array
    delivery: Array
    phase_start: Array
    color: Array
    home: Array
    moves: int


def ride(game: Waves) -> Rides:
    """Run the distributed algorithm boat by boat.

    Delivery times are exact: packets that oscillate or wander yield to boats, so they decide nothing.

    Raises
    ------
    CrowdedError
        If the limit on rounds is reached because chi is too small.
    """
    instance, constants = game.instance, game.constants
    packets, edges = instance.packets, instance.network.edges
    depth = int((instance.level + instance.length).max(initial=0))
    require_memory(8.0 * (edges + constants.chi) + 300.0 * packets, "boats over all edges")
    ridden = np.zeros(int(game.slot[-1]), np.int64)
    active, live, member = np.zeros((3, packets), np.int64)
    riders = Riders(
        rule=game.rule,
        order=game.order,
        route=game.route,
        edge=instance.edge,
        state=np.zeros(packets, RIDER),
        claim=np.zeros(edges, np.int64),
        bucket=np.full(depth + 1, -1),
        active=active,
        boat=np.zeros(constants.chi + 1, np.int64),
        live=live,
        member=member,
        tally=np.zeros(1, TALLY),
        ridden=ridden,
        gone=np.zeros(packets, DELIVERY),
        table=np.zeros(len(ridden) + 1, SUBPHASE),
    )
    subphases = run(boats, 20.0 * len(instance.edge) + 10.0 * packets * constants.chi, riders)
    if subphases == CROWDED:
        last = riders.table[riders.tally[0]["stopped"]]
        raise CrowdedError(constants, game.cap, int(last["phase"]), int(last["part"]), int(last["failed"]))
    if subphases == CLASH:
        raise OblivError("internal error: two packets with confirmed boats met on a link")
    table = riders.table[:subphases]
    begin = game.begin(table["phase"], table["part"], table["rounds"])
    gone = riders.gone[: packets if subphases else 0]
    delivery = begin[gone["sub"]] + (gone["turn"] - 1) * 2 * constants.tau + gone["move"]
    phases = table["phase"][gone["sub"]] - game.enter[: len(gone)] + 1
    first = starts(phases)
    packet = np.repeat(np.arange(packets), phases)
    nth = np.arange(len(packet)) - first[packet]
    color = ridden[game.slot[packet] + nth]
    return Rides(
        phase=table["phase"].copy(),
        part=table["part"].copy(),
        rounds=table["rounds"].copy(),
        begin=begin,
        delivery=delivery,
        phase_start=first,
        color=color,
        home=_homes(game, packet, nth, color),
        moves=_moves(game, table),
    )


def _homes(game: Waves, packet: Array, nth: Array, color: Array) -> Array:
    """Return the levels where packets begin their phases: the target of the phase before, or the source."""
    constants, base = game.constants, game.base[packet]
    level = game.instance.level[packet]
    part = np.where(nth > 1, 0, 1 + (level - base) % 2)  # of the phase before
    target = base + (nth + 1) * constants.lam - 2 * np.roll(color, 1) - 2 * constants.chi * part
    return np.where(nth == 0, level, target)


def _moves(game: Waves, table: Array) -> int:
    """Return the single moves in both halves of all rounds that have to be run one by one."""
    rounds, left, others = table["rounds"], table["left"], table["others"]
    tau, xi = game.constants.tau, game.constants.xi
    again = np.zeros(len(rounds), np.int64) if game.oracle else np.where(left > 0, np.maximum(xi - rounds, 0), 0)
    return int((2 * table["forward"] + 2 * tau * (again * left + (again + rounds) * others)).sum())
