"""The distributed algorithm step by step: every packet in the network, every move, every rule checked.

The simulation keeps its own state.  Of the plan it knows the sets, the constants and the numbers that colours and ranks
are made of, so that it has to come to the same times as the boats do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from obliv._util.typing import Array
from obliv.bufferless.frames.boats import PARTS, crowded
from obliv.bufferless.frames.stepped import Broken, Stepped
from obliv.bufferless.frames.waves import Waves
from obliv.bufferless.kernels import moves as field
from obliv.bufferless.kernels.draws import salt_of
from obliv.bufferless.kernels.moves import BEATEN, DEFLECTED, FAULT, GONE, LOST, SERVED
from obliv.results.schedule import Moves

__all__ = ["FAULTS", "Steps", "Variant", "Violation", "simulate"]


#: What can be broken, by the numbers that kernels return.
FAULTS = (
    "",
    "a packet is not where its move begins",
    "a link is used twice in a move",
    "a packet rests in the network",
    "a packet is not at home when it should be",
    "two packets that have their boat for sure want one link",
    "a packet that oscillates at its target is hit",
    "a packet is pushed away by one that is on no boat",
    "a packet that is pushed away has no edge to go back over",
    "a wanderer finds no free link",
    "a packet still waits, rides or is away at the end of the half",
    "a home is outside the frame of its wave",
    "a packet is not back where the round began",
)


@dataclass(frozen=True)
class Variant:
    """The algorithm, or one of its wrong readings, which the checks have to find.

    Parameters
    ----------
    early : bool
        Packets from even inner levels enter at move 1, their boats a move earlier, as the paper has it.
    back_on_path : bool
        A packet pushed from its source goes back over its path, of which there is nothing before the source.
    at_target : bool
        A packet succeeds when it reaches its target, without having crossed the edge to oscillate on.
    pushy : bool
        Wanderers have the same priority as oscillating packets.
    reverse : str
        Who undoes a round: "all"; "members", who ride in the sub-phase; "losers", who were beaten.
    clock : str
        "common", or "wave": a wave whose packets all succeed takes no part in further rounds.
    last_reversed : bool
        The last round is undone too.
    """

    early: bool = False
    back_on_path: bool = False
    at_target: bool = False
    pushy: bool = False
    reverse: str = "all"
    clock: str = "common"
    last_reversed: bool = False


@dataclass(frozen=True)
class Violation:
    """A rule that was broken: which, by which packet, and when."""

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
class Steps:
    """What became of all packets: moves, delivery times, deflections, rounds of the sub-phases, what was broken."""

    moves: Moves
    delivery: Array
    deflections: int
    rounds: Array
    violation: Violation | None


def simulate(game: Waves, variant: Variant | None = None, work: float = 0.0) -> Steps:
    """Run the distributed algorithm step by step.

    Parameters
    ----------
    game : Waves
    variant : Variant, optional
        A wrong reading of the algorithm, for tests.
    work : float
        How many single moves there will be, about; small ones are run without compiler.

    Returns
    -------
    Steps
        With the first rule that was broken, if any; moves and times are then those until there.

    Raises
    ------
    InputError
        If rounds run out, chi being too small.
    """
    variant = variant or Variant()
    bent = (variant.early, variant.back_on_path, variant.at_target, variant.pushy)
    net = Stepped(game, bent, 20.0 * work)
    rounds: list[int] = []
    place = [0, 0, 0]
    broken = None
    try:
        for phase, part, member in _subphases(net, rounds):
            place[:2] = phase, part
            rounds.append(_subphase(net, variant, member, place))
    except Broken as found:
        broken = Violation(found.code, int(net.counts[FAULT]), place[0], place[1], place[2], found.move)
    return Steps(net.moves(), net.delivery, int(net.counts[DEFLECTED]), np.array(rounds, np.int64), broken)


def _subphases(net: Stepped, rounds: list[int]) -> Iterator[tuple[int, int, Array]]:
    """Phase, part and members of every sub-phase that has members, in order; the clock stands at its beginning."""
    game, order = net.game, net.game.order
    enter = game.enter[order]
    half = 2 * game.constants.tau
    phase = entered = 0
    while entered < len(order) or len(net.inside):
        phase = phase + 1 if len(net.inside) else int(enter[entered])
        to = int(np.searchsorted(enter, phase, side="right"))
        fresh = order[entered:to]
        even = (game.instance.level[fresh] - game.base[fresh]) % 2
        entered = to
        for part, member in enumerate((net.inside.copy(), fresh[even == 0], fresh[even == 1])):
            if not len(member):
                continue
            if not game.oracle:
                beyond = sum(max(0, each - game.constants.xi) for each in rounds)
                net.idle(((phase - 1) * 3 + part) * game.constants.xi * half + beyond * half - net.now)
            if part:
                net.enter(member)
            yield phase, part, member


def _subphase(net: Stepped, variant: Variant, member: Array, place: list[int]) -> int:
    """All rounds of a sub-phase; how many it takes until nobody fails."""
    game, state = net.game, net.state
    tau = game.constants.tau
    state[member, field.SURE] = 0
    state[member, field.HOME] = state[member, field.INDEX]
    state[net.inside, field.KEEP] = 0
    valid = turn = 0
    while True:
        turn += 1
        place[2] = turn
        if not valid and turn > game.cap:
            raise crowded(game, place[0], place[1], int(net.counts[LOST]))
        salt = int(salt_of(game.seed, place[0], place[1], turn))
        net.prepare(member, place[0], place[1], turn, salt)
        net.forward(salt)
        if not net.counts[LOST]:
            valid = valid or turn
        over = valid > 0 and (game.oracle or turn >= game.constants.xi)
        if over and not variant.last_reversed:
            if not game.oracle:
                net.idle(tau)
            return valid
        _keep(net, variant, member)
        net.backward()
        if over or (valid and (state[member, field.MODE] == GONE).all()):
            return valid


def _keep(net: Stepped, variant: Variant, member: Array) -> None:
    """In wrong readings: who stays where it is, oscillating, while others undo the round."""
    state, game = net.state, net.game
    keep = state[:, field.KEEP]
    if variant.reverse == "members":
        keep[np.setdiff1d(net.inside, member)] = 1
    elif variant.reverse == "losers":
        keep[member[state[member, field.MODE] == SERVED]] = 1
    if variant.clock == "wave":
        name = np.stack([game.sets, game.places.session, game.places.first], axis=1)
        wave = np.unique(name, axis=0, return_inverse=True)[1].reshape(-1)
        lost = wave[net.inside[state[net.inside, field.MODE] >= BEATEN]]
        keep[net.inside[~np.isin(wave[net.inside], lost)]] = 1
