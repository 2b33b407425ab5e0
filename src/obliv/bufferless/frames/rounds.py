"""The distributed algorithm: boat by boat (colors, rounds, delivery times), and step by step with every move checked.

The simulation has its own state.  From the boats it takes only the sets, the constants and the random seed of colors
and ranks, so both have to find the same delivery times.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from obliv._util.arrays import Array, grouped, starts
from obliv._util.progress import require_memory
from obliv.bufferless.frames.constants import Constants, Waves
from obliv.bufferless.kernels.boats import (
    CLASH,
    CROWDED,
    DELIVERY,
    RIDER,
    RIDES_TALLY,
    SUBPHASE,
    Riders,
    boats,
    salt_of,
)
from obliv.bufferless.kernels.rounds import (
    GONE,
    GROW,
    MOVES_TALLY,
    PACKET,
    RUN,
    Crowd,
    Packets,
    RoundLinks,
    backward,
    forward,
    idle,
    prepare,
)
from obliv.bufferless.results import Moves, exits
from obliv.errors import OblivError, OptionError
from obliv.kernels import Kernel, run

# The distributed algorithm boat by boat: colors, rounds and delivery times, but no moves


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
        tally=np.zeros(1, RIDES_TALLY),
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


# The network in the distributed algorithm, step by step: its state, and the kernels that change it


class BrokenRule(Exception):  # noqa: N818 - not an error of the program
    """A broken rule: its number and the move."""

    def __init__(self, code: int, move: int) -> None:
        super().__init__(code, move)
        self.code, self.move = code, move


class Kernels(NamedTuple):
    """The kernels of a round."""

    prepare: Kernel = prepare
    forward: Kernel = forward
    backward: Kernel = backward


class Stepped:
    """The state of the network in a run step by step."""

    kernels: ClassVar[Kernels] = Kernels()

    def __init__(self, game: Waves, work: float) -> None:
        instance = game.instance
        packets, edges, nodes = instance.packets, instance.network.edges, instance.network.nodes
        rows = 1024 + packets + 4 * len(instance.edge)
        require_memory(52.0 * edges + 8.0 * nodes + 250.0 * packets + 50.0 * rows, "the network step by step")
        self.game, self.work, self.now = game, work, 0
        self.packets = Packets(game.rule, game.route, instance.edge)
        self.state = np.zeros(packets, PACKET)
        self.state["row"] = self.state["link"] = -1
        self.state["node"] = instance.source
        self.live, self.delivery = np.zeros(packets, np.int64), np.zeros(packets, np.int64)
        self.tally = np.zeros(1, MOVES_TALLY)
        self.crowd = Crowd(self.live, self.state, self.delivery, self.tally)
        self.links = RoundLinks(*instance.network.edge_ends, *exits(instance.network), np.zeros(2 * edges, np.int64))
        self.log = np.zeros(rows, RUN)

    @property
    def inside(self) -> Array:
        """The packets in the network."""
        return self.live[: self.tally[0]["live"]]

    def enter(self, packets: Array) -> None:
        """Add packets that are about to be injected."""
        count = int(self.tally[0]["live"])
        self.live[count : count + len(packets)] = packets
        self.tally[0]["live"] += len(packets)

    def idle(self, moves: int) -> None:
        """Let all packets oscillate for `moves` steps."""
        run(idle, self.work, moves, self.crowd, self.log)
        self.now += moves

    def prepare(self, member: Array, phase: int, part: int, turn: int, salt: int) -> None:
        """Begin a round."""
        code = run(
            self.kernels.prepare, self.work, member, phase, part, turn, salt, self.packets, self.crowd, self.links
        )
        if code:
            raise BrokenRule(code, 0)

    def forward(self, salt: int) -> None:
        """Run the forward half of a round."""
        self._half(self.kernels.forward, salt)

    def backward(self) -> None:
        """Run the reverse half of a round."""
        self._half(self.kernels.backward)

    def finish(self, member: Array, last: bool) -> None:
        """Run the second half of a round: the reverse half, or oscillation after the last round."""
        if not last:
            self.backward()
        elif not self.game.oracle:
            self.idle(self.game.constants.tau)

    def _half(self, kernel: Kernel, *args: int) -> None:
        self.tally[0]["at"] = 0
        while code := run(kernel, self.work, self.now, *args, self.packets, self.crowd, self.links, self.log):
            if code != GROW:
                raise BrokenRule(code, int(self.tally[0]["at"]) + 1)
            require_memory(3.0 * self.log.nbytes, "the moves of all packets")
            self.log = np.concatenate([self.log, np.zeros_like(self.log)])
        self.now += self.game.constants.tau

    def moves(self) -> Moves:
        """Return the log sorted by packet."""
        log = self.log[: self.tally[0]["rows"]]
        start, order = grouped(log["packet"], self.game.instance.packets)
        time, link, more = (log[name][order] for name in ("time", "link", "more"))
        return Moves(start, time, (link >> 1).astype(np.int32), link & 1 == 0, more if more.any() else more[:0])


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
