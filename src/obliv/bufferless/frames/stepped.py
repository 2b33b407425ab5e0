"""The network in the distributed algorithm, step by step: its state, and the kernels that change it."""

from __future__ import annotations

import numpy as np

from obliv._util.memory import require_memory
from obliv._util.typing import Array
from obliv.bufferless.frames.waves import Waves
from obliv.bufferless.kernels import moves as field
from obliv.bufferless.kernels.halves import GROW, backward, forward
from obliv.bufferless.kernels.hot_potato import leaving
from obliv.bufferless.kernels.moves import AT, LIVE, ROWS, Crowd, Links, Log, Rules, idle, sort_rows
from obliv.bufferless.kernels.rounds import prepare
from obliv.kernels import Kernel, run
from obliv.results.schedule import Moves

__all__ = ["Broken", "Stepped"]


class Broken(Exception):  # noqa: N818 - the word is the rules'
    """A rule is broken: the number of the fault and the move."""

    def __init__(self, code: int, move: int) -> None:
        self.code, self.move = code, move


class Stepped:
    """The state of the network, and the kernels that change it."""

    def __init__(self, game: Waves, bent: tuple[bool, ...], work: float) -> None:
        instance = game.instance
        packets, edges, nodes = instance.packets, instance.network.edges, instance.network.nodes
        rows = 1024 + packets + 4 * len(instance.edge)
        require_memory(36.0 * edges + 8.0 * nodes + 250.0 * packets + 50.0 * rows, "the network step by step")
        constants = game.constants
        self.game, self.work, self.now = game, work, 0
        rule = np.array([game.seed, constants.lam, constants.chi, constants.tau, game.cap, int(game.both_fail)])
        self.rules = Rules(rule, np.array(bent, np.int64), game.given, instance.edge)
        self.state = np.zeros((packets, field.FIELDS), np.int64)
        self.state[:, [field.ROW, field.LINK]] = -1
        self.state[:, field.NODE] = instance.source
        self.live, self.delivery = np.zeros(packets, np.int64), np.zeros(packets, np.int64)
        self.counts = np.zeros(7, np.int64)
        self.crowd = Crowd(self.live, self.state, self.delivery, self.counts)
        number = np.int32 if 2 * edges < 2**31 else np.int64
        exits = np.zeros(nodes + 1, np.int64), np.zeros(2 * edges, number)
        self.links = Links(*instance.network.edge_ends, *exits, np.zeros(2 * edges, np.int64))
        run(leaving, work + edges, *self.links[:4])
        self.log = Log(np.zeros((rows, 3), number), np.zeros((rows, 2), np.int64))

    @property
    def inside(self) -> Array:
        """The packets in the network."""
        return self.live[: self.counts[LIVE]]

    def enter(self, packets: Array) -> None:
        """Packets that are about to be injected."""
        n = int(self.counts[LIVE])
        self.live[n : n + len(packets)] = packets
        self.counts[LIVE] += len(packets)

    def idle(self, moves: int) -> None:
        """All packets go to and fro."""
        run(idle, self.work, moves, self.crowd, self.log)
        self.now += moves

    def prepare(self, member: Array, phase: int, part: int, turn: int, salt: int) -> None:
        """A round begins."""
        bad = run(prepare, self.work, member, phase, part, turn, salt, self.rules, self.crowd, self.links)
        if bad:
            raise Broken(bad, 0)

    def forward(self, salt: int) -> None:
        """The forward half of a round."""
        self._half(forward, salt)

    def backward(self) -> None:
        """The reverse half."""
        self._half(backward)

    def _half(self, kernel: Kernel, *args: int) -> None:
        self.counts[AT] = 0
        while bad := run(kernel, self.work, self.now, *args, self.rules, self.crowd, self.links, self.log):
            if bad != GROW:
                raise Broken(bad, int(self.counts[AT]) + 1)
            require_memory(3.0 * (self.log.where.nbytes + self.log.when.nbytes), "the moves of all packets")
            self.log = Log(*(np.concatenate([each, np.zeros_like(each)]) for each in self.log))
        self.now += self.game.constants.tau

    def moves(self) -> Moves:
        """The log, packet after packet."""
        rows = int(self.counts[ROWS])
        start = np.zeros(self.game.instance.packets + 1, np.int64)
        time, edge, up = np.zeros(rows, np.int64), np.zeros(rows, np.int32), np.zeros(rows, np.bool_)
        more = np.zeros(rows, np.int64)
        run(sort_rows, self.work, self.log, start, time, edge, up, more)
        return Moves(start, time, edge, up, more if more.any() else more[:0])
