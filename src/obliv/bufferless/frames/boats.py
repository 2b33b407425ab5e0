"""The distributed algorithm boat by boat: colours, rounds and delivery times, but no moves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from obliv._util.memory import require_memory
from obliv._util.typing import Array
from obliv.bufferless.frames.waves import Waves
from obliv.bufferless.kernels.rides import CLASH, CROWDED, Riders, boats
from obliv.errors import InputError
from obliv.kernels import run

__all__ = ["PARTS", "Rides", "crowded", "ride"]


#: The sub-phases of a phase, by who rides in them.
PARTS = ("A", "B1", "B2")


@dataclass(frozen=True, eq=False)
class Rides:
    """What became of all packets.

    Parameters
    ----------
    phase, part, rounds, begin : int array
        Of every sub-phase with members: phase and part (0, 1, 2 for A, B1, B2), rounds until nobody fails, when it
        begins.
    delivery : int array
    phases : int array, shape (packets + 1,)
        Packet p takes part in the phases ``phases[p] .. phases[p + 1] - 1`` of the next two.
    colour, home : int array
        Its colour, and the level where it begins the phase.
    moves : int
        Single moves of all packets, about, were the algorithm to run step by step.
    """

    phase: Array
    part: Array
    rounds: Array
    begin: Array
    delivery: Array
    phases: Array
    colour: Array
    home: Array
    moves: int


def ride(game: Waves) -> Rides:
    """Run the distributed algorithm boat by boat.

    Exact for delivery times: who oscillates or wanders yields to boats, so nothing else decides.

    Raises
    ------
    InputError
        If rounds run out, chi being too small.
    """
    instance, constants = game.instance, game.constants
    packets = instance.packets
    depth = int((instance.level + instance.length).max(initial=0))
    require_memory(8.0 * (instance.network.edges + constants.chi) + 300.0 * packets, "boats over all edges")
    ridden = np.zeros(int(game.slot[-1]), np.int64)
    table = np.zeros((len(ridden) + 1, 7), np.int64)
    gone = np.zeros((packets, 4), np.int64)
    active, live, member = np.zeros((3, packets), np.int64)
    boat = np.zeros(constants.chi + 1, np.int64)
    count = np.zeros(3, np.int64)
    rule = np.array([game.seed, constants.lam, constants.chi, constants.tau, game.cap, int(game.both_fail)], np.int64)
    made = run(
        boats,
        20.0 * len(instance.edge) + 10.0 * packets * constants.chi,
        Riders(
            *(game.order, rule, game.given, instance.edge, np.zeros((packets, 8), np.int64)),
            *(np.zeros(instance.network.edges, np.int64), np.full(depth + 1, -1), active, boat, live, member),
            *(count, ridden, gone, table),
        ),
    )
    if made == CROWDED:
        raise crowded(game, *(int(table[count[2], at]) for at in (0, 1, 6)))
    if made == CLASH:
        raise AssertionError("two packets that had their boat for sure met on it")
    table = table[:made]
    phase, part, rounds = table[:, 0], table[:, 1], table[:, 2]
    begin = game.begin(phase, part, rounds)
    sub, _, turn, move = gone.T
    delivery = begin[sub] + (turn - 1) * 2 * constants.tau + move if made else np.zeros(packets, np.int64)
    used = phase[sub] - game.enter + 1 if made else np.zeros(packets, np.int64)
    first = np.concatenate([[0], np.cumsum(used)])
    which = np.repeat(np.arange(packets), used)
    nth = np.arange(len(which)) - first[which]
    colour = ridden[game.slot[which] + nth]
    return Rides(
        phase, part, rounds, begin, delivery, first, colour, _homes(game, which, nth, colour), _moves(game, table)
    )


def _homes(game: Waves, which: Array, nth: Array, colour: Array) -> Array:
    """The levels where packets begin their phases: the target of the phase before, or the source."""
    constants = game.constants
    level = game.instance.level[which]
    part = np.where(nth > 1, 0, 1 + (level - game.base[which]) % 2)  # of the phase before
    target = game.base[which] + (nth + 1) * constants.lam - 2 * np.roll(colour, 1) - 2 * constants.chi * part
    made: Array = np.where(nth == 0, level, target)
    return made


def _moves(game: Waves, table: Array) -> int:
    """Single moves in both halves of all rounds that have to be run one by one."""
    rounds, forward, left, others = table[:, 2], table[:, 3], table[:, 4], table[:, 5]
    tau, xi = game.constants.tau, game.constants.xi
    again = np.zeros(len(rounds), np.int64) if game.oracle else np.where(left > 0, np.maximum(xi - rounds, 0), 0)
    return int((2 * forward + 2 * tau * (again * left + (again + rounds) * others)).sum())


def crowded(game: Waves, phase: int, part: int, failed: int) -> InputError:
    """The report that rounds ran out."""
    chi, s = game.constants.chi, game.constants.s
    who = "1 packet has" if failed == 1 else f"{failed} packets have"
    return InputError(
        f"after {game.cap} rounds of sub-phase {PARTS[part]} of phase {phase} {who} no boat yet: raise chi (now {chi}; "
        f"lambda >= 6 chi), or s (now {s})"
    )
