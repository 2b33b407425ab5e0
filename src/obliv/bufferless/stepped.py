"""The network in the distributed algorithm, step by step: its state, and the kernels that change it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from obliv.bufferless import _move_kernels as field
from obliv.bufferless._half_kernels import GROW, backward, forward
from obliv.bufferless._hot_potato_kernels import leaving
from obliv.bufferless._move_kernels import AT, LIVE, ROWS, idle, sort_rows
from obliv.bufferless._round_kernels import prepare
from obliv.bufferless.waves import Waves
from obliv.errors import require_memory
from obliv.kernels import Kernel, run
from obliv.results.schedule import Moves

__all__ = ["Broken", "Stepped"]

Array = npt.NDArray[Any]


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
        self.low, self.high = instance.network.edge_ends
        self.rule = np.array([game.seed, constants.lam, constants.chi, constants.tau, game.cap, int(game.both_fail)])
        self.bent = np.array(bent, np.int64)
        self.given, self.edge = game.given, instance.edge
        self.state = np.zeros((packets, field.FIELDS), np.int64)
        self.state[:, [field.ROW, field.LINK]] = -1
        self.state[:, field.NODE] = instance.source
        self.links = np.int32 if 2 * edges < 2**31 else np.int64
        self.exit_start, self.exit_link = np.zeros(nodes + 1, np.int64), np.zeros(2 * edges, self.links)
        run(leaving, work + edges, self.low, self.high, self.exit_start, self.exit_link)
        self.claim = np.zeros(2 * edges, np.int64)
        self.live = np.zeros(packets, np.int64)
        self.count = np.zeros(7, np.int64)
        self.delivery = np.zeros(packets, np.int64)
        self.where, self.when = np.zeros((rows, 3), self.links), np.zeros((rows, 2), np.int64)

    @property
    def inside(self) -> Array:
        """The packets in the network."""
        return self.live[: self.count[LIVE]]

    def enter(self, packets: Array) -> None:
        """Packets that are about to be injected."""
        n = int(self.count[LIVE])
        self.live[n : n + len(packets)] = packets
        self.count[LIVE] += len(packets)

    def idle(self, moves: int) -> None:
        """All packets go to and fro."""
        run(idle, self.work, self.live, int(self.count[LIVE]), moves, self.state, self.when)
        self.now += moves

    def prepare(self, member: Array, phase: int, part: int, turn: int, salt: int) -> None:
        """A round begins."""
        bad = run(
            *(prepare, self.work, member, self.live, phase, part, turn, salt, self.rule, self.bent, self.given),
            *(self.edge, self.low, self.high, self.state, self.count),
        )
        if bad:
            raise Broken(bad, 0)

    def forward(self, salt: int) -> None:
        """The forward half of a round."""
        self._half(
            *(forward, self.now, salt, self.live, self.rule, self.bent, self.given, self.edge, self.low, self.high),
            *(self.exit_start, self.exit_link, self.state, self.claim),
            last=(self.delivery, self.count),
        )

    def backward(self) -> None:
        """The reverse half."""
        self._half(
            *(backward, self.now, self.live, self.rule, self.given, self.edge, self.low, self.high),
            *(self.state, self.claim),
            last=(self.count,),
        )

    def _half(self, kernel: Kernel, *args: Any, last: tuple[Any, ...]) -> None:
        self.count[AT] = 0
        while bad := run(kernel, self.work, *args, self.where, self.when, *last):
            if bad != GROW:
                raise Broken(bad, int(self.count[AT]) + 1)
            require_memory(3.0 * (self.where.nbytes + self.when.nbytes), "the moves of all packets")
            self.where = np.concatenate([self.where, np.zeros_like(self.where)])
            self.when = np.concatenate([self.when, np.zeros_like(self.when)])
        self.now += self.game.constants.tau

    def moves(self) -> Moves:
        """The log, packet after packet."""
        rows = int(self.count[ROWS])
        start = np.zeros(self.game.instance.packets + 1, np.int64)
        time, edge, up = np.zeros(rows, np.int64), np.zeros(rows, np.int32), np.zeros(rows, np.bool_)
        more = np.zeros(rows, np.int64)
        run(sort_rows, self.work, rows, self.where, self.when, start, time, edge, up, more)
        return Moves(start, time, edge, up, more if more.any() else more[:0])
