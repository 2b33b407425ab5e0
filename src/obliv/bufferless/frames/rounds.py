"""The distributed algorithm step by step: every packet in the network, every move, every rule checked.

The simulation has its own state.  From the boats it takes only the sets, the constants and the random seed of colors
and ranks, so both have to find the same delivery times.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from obliv._util.typing import Array
from obliv.bufferless.frames.boats import PARTS, CrowdedError
from obliv.bufferless.frames.stepped import BrokenRule, Stepped
from obliv.bufferless.frames.wave_clock import Waves
from obliv.bufferless.kernels.draws import salt_of
from obliv.bufferless.kernels.moves import GONE
from obliv.results.bufferless.schedule import Moves

__all__ = ["FAULTS", "RoundViolation", "Rounds", "simulate_rounds"]


#: The rules that can be broken, by the numbers that kernels return.
FAULTS = (
    "",
    "a packet is not where its move begins",
    "a link is used twice in a move",
    "a packet rests in the network",
    "a packet is not at home when it should be",
    "two packets with confirmed boats want one link",
    "a packet that oscillates at its target is hit",
    "a packet is deflected by one that is not on a boat",
    "a deflected packet has no edge to go back over",
    "a wanderer finds no free link",
    "a packet still waits, rides or is away at the end of the half",
    "a home is outside the frame of its wave",
    "a packet is not back where the round began",
)


@dataclass(frozen=True)
class RoundViolation:
    """A broken rule: its number, the offending packet, and the move."""

    code: int
    packet: int
    phase: int
    part: int
    turn: int
    move: int

    def __str__(self) -> str:
        when = f"phase {self.phase}, sub-phase {PARTS[self.part]}, round {self.turn}, move {self.move}"
        return f"{FAULTS[self.code]}: packet {self.packet}, {when}"


@dataclass(frozen=True, eq=False)
class Rounds:
    """The outcome of a run: moves, delivery times, deflections, rounds of each sub-phase, and the first broken rule."""

    moves: Moves
    delivery: Array
    deflections: int
    rounds: Array
    violation: RoundViolation | None


def simulate_rounds(game: Waves, work: float = 0.0, network: type[Stepped] = Stepped) -> Rounds:
    """Run the distributed algorithm step by step.

    Parameters
    ----------
    game : Waves
    work : float
        Estimated single moves; small runs are not compiled.
    network : type
        The network to run it in, a subclass of Stepped for another reading of the algorithm.

    Returns
    -------
    Rounds
        With the first broken rule, if any; moves and times are then those until there.

    Raises
    ------
    OptionError
        If the limit on rounds is reached because chi is too small.
    """
    net = network(game, 20.0 * work)
    rounds: list[int] = []
    place = [0, 0, 0]
    violation = None
    try:
        for phase, part, member in _subphases(net, rounds):
            place[:2] = phase, part
            rounds.append(_subphase(net, member, place))
    except BrokenRule as broken:
        violation = RoundViolation(broken.code, int(net.tally[0]["fault"]), place[0], place[1], place[2], broken.move)
    return Rounds(net.moves(), net.delivery, int(net.tally[0]["deflected"]), np.array(rounds, np.int64), violation)


def _subphases(net: Stepped, rounds: list[int]) -> Iterator[tuple[int, int, Array]]:
    """Yield phase, part and members of every sub-phase with members, the clock at its beginning."""
    game, order = net.game, net.game.order
    enter = game.enter[order]
    half = 2 * game.constants.tau
    phase = entered = 0
    while entered < len(order) or len(net.inside):
        phase = phase + 1 if len(net.inside) else int(enter[entered])
        end = int(np.searchsorted(enter, phase, side="right"))
        fresh = order[entered:end]
        odd = (game.instance.level[fresh] - game.base[fresh]) % 2
        entered = end
        for part, member in enumerate((net.inside.copy(), fresh[odd == 0], fresh[odd == 1])):
            if not len(member):
                continue
            if not game.oracle:
                beyond = sum(max(0, count - game.constants.xi) for count in rounds)
                net.idle(((phase - 1) * 3 + part) * game.constants.xi * half + beyond * half - net.now)
            if part:
                net.enter(member)
            yield phase, part, member


def _subphase(net: Stepped, member: Array, place: list[int]) -> int:
    """Run all rounds of a sub-phase; return after how many no packet fails."""
    game, state = net.game, net.state
    phase, part, _ = place
    state["sure"][member] = 0
    state["home"][member] = state["index"][member]
    valid = turn = 0
    while True:
        turn += 1
        place[2] = turn
        if not valid and turn > game.cap:
            raise CrowdedError(game.constants, game.cap, phase, part, int(net.tally[0]["lost"]))
        salt = int(salt_of(game.seed, phase, part, turn))
        net.prepare(member, phase, part, turn, salt)
        net.forward(salt)
        if not net.tally[0]["lost"]:
            valid = valid or turn
        last = valid > 0 and (game.oracle or turn >= game.constants.xi)
        net.finish(member, last)
        if last or (valid and (state["mode"][member] == GONE).all()):
            return valid
