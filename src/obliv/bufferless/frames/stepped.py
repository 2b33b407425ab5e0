"""The network in the distributed algorithm, step by step: its state, and the kernels that change it."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np

from obliv._util.arrays import grouped
from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.bufferless.frames.wave_clock import Waves
from obliv.bufferless.kernels.halves import GROW, backward, forward
from obliv.bufferless.kernels.moves import PACKET, RUN, TALLY, Crowd, Links, Packets, idle
from obliv.bufferless.kernels.rounds import prepare
from obliv.bufferless.moves import exits
from obliv.kernels import Kernel, run
from obliv.results.bufferless.schedule import Moves

__all__ = ["BrokenRule", "Kernels", "Stepped"]


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
        self.tally = np.zeros(1, TALLY)
        self.crowd = Crowd(self.live, self.state, self.delivery, self.tally)
        self.links = Links(*instance.network.edge_ends, *exits(instance.network), np.zeros(2 * edges, np.int64))
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
