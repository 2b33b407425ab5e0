"""Greedy hot potato: all packets move at every step; packets that lose a link are deflected and come back."""

from __future__ import annotations

import numpy as np

from obliv._util.arrays import starts
from obliv._util.cost import require_memory
from obliv._util.text import did_you_mean
from obliv._util.typing import Array
from obliv.bufferless.kernels.hot_potato import TALLY, Game, Keys, Log, Pool, Queue, collect, steps
from obliv.bufferless.moves import Run, exits, nonstop
from obliv.bufferless.schedulers.queues import Priority, ask
from obliv.errors import InputError, OptionError, TooLargeError
from obliv.kernels import run
from obliv.results.bufferless.schedule import Moves
from obliv.topologies.leveled.instances import Instance

__all__ = ["PRIORITIES", "hot_potato"]


#: The weights of the time of injection and of the remaining links in the keys; "random" draws keys in every step.
PRIORITIES = {"age": (1, 0), "closest": (0, 1), "farthest": (0, -1), "random": (0, 0)}

CHUNK = 1 << 22  # least number of moves in a chunk of the log
DRAWS = 1 << 16  # least number of random numbers drawn at once
POOL = 1 << 10  # least number of links by which the pool grows


def hot_potato(
    instance: Instance,
    rng: np.random.Generator,
    priority: str | Priority = "age",
    limit: int | None = None,
) -> Run:
    """Route without buffers, greedily: packets keep to their paths and are deflected where they lose a link.

    A packet wants the next edge of its path or, after deflections, to retrace the last link.  The best of the packets
    that want a link takes it.  Every other one takes a random link out of its node that no packet wants, in either
    direction.  A packet outside enters at the end of the step if its first link is still free.

    Parameters
    ----------
    instance : Instance
    rng : numpy.random.Generator
        Breaks ties (once for all), chooses links for deflected packets, draws the keys of "random".
    priority : str or function
        The best packet: "age", the one that entered first; "closest" or "farthest", the one with the fewest or most
        links to go, to retrace and then ahead; "random", drawn in every step.  A function ``priority(packets,
        remaining, entered, rng)`` is called in every step for the keys of all packets in the network, and once for
        those of packets that enter; the smallest is best.
    limit : int, optional
        The largest number of steps; by default 1000 + 100 (C + D).

    Raises
    ------
    InputError
        If the priority is unknown, a function does not return one number for each packet, the limit is reached, or the
        network is too large.

    Examples
    --------
    >>> from obliv.bufferless.problems import instance
    >>> both = instance("array:3", [[0], [0, 1]])
    >>> hot_potato(both, np.random.default_rng(1), "farthest").delivery
    array([2, 2])
    """
    if not callable(priority) and priority not in PRIORITIES:
        known = did_you_mean(str(priority), PRIORITIES)
        raise OptionError("priority", "invalid {priority} {0} of hot-potato: {1}", repr(priority), known)
    name = priority if isinstance(priority, str) else getattr(priority, "__name__", "function")
    if limit is None:
        limit = 1000 + 100 * (instance.congestion + instance.dilation)
    network = instance.network
    if network.edges >= 2**30:
        raise TooLargeError(f"{network.edges} edges are too many for hot-potato, which numbers links in 32 bits")
    require_memory(8.0 * (6 * network.edges + network.nodes) + 100.0 * instance.packets, "the links of the network")
    table = _Table(instance, rng)
    if callable(priority):
        table.play_by_function(priority, limit)
    else:
        table.play(*PRIORITIES[priority], priority == "random", limit)
    tally = table.tally
    if table.unfinished:
        late = int((table.game.delivery == 0).sum())
        raise InputError(
            f"{late} of {instance.packets} packets have not arrived after {limit} steps; raise limit or use another "
            f"priority than {name!r}"
        )
    deepest = int(tally["deepest"])
    notes = (f"at most {deepest} link{'s' * (deepest != 1)} to go back at once",) if deepest else ()
    delivery = table.game.delivery
    return Run(table.moves(), delivery, "bufferless", int(tally["deflections"]), {"priority": name}, notes=notes)


class _Table:
    """The state of the kernels; its log, pool and random numbers grow."""

    def __init__(self, instance: Instance, rng: np.random.Generator) -> None:
        self.rng = rng
        packets, network = instance.packets, instance.network
        self.work = 30.0 * len(instance.edge)
        first, link = exits(network)
        claim = np.full(2 * network.edges, -1, np.int32)
        self.tie = rng.permutation(packets)
        at = instance.start[:-1].copy()
        entered, delivery = np.zeros((2, packets), np.int64)
        self.game = Game(
            start=instance.start,
            edge=instance.edge,
            low=network.low,
            high=network.high,
            first=first,
            link=link,
            at=at,
            want=2 * instance.edge[at],
            entered=entered,
            remaining=instance.length.astype(np.int64),
            delivery=delivery,
            claim=claim,
            active=np.empty(packets, np.int32),
            draw=np.empty(0, np.int64),
            tally=np.zeros(1, TALLY),
        )
        self.pool = Pool(np.full(packets, -1, np.int32), *np.empty((2, 0), np.int32))
        self.log = Log(*np.empty((2, 0), np.int32))
        self.chunks: list[tuple[Array, Array]] = []
        self.tally["free"] = -1

    @property
    def tally(self) -> np.void:
        """The counters of the kernels."""
        tally: np.void = self.game.tally[0]
        return tally

    @property
    def unfinished(self) -> bool:
        """Whether a packet has not arrived."""
        return bool(self.tally["active"] + self.tally["groups"] > 0)

    def play(self, by_time: int, by_left: int, fresh: bool, limit: int) -> None:
        """Run to the end with keys that the kernels compute."""
        self._queue(by_left * self.game.remaining)
        while self.unfinished and self.tally["now"] < limit:
            self._grow()
            self._advance(Keys(by_time, by_left, fresh, self.tie), limit)

    def play_by_function(self, priority: Priority, limit: int) -> None:
        """Run to the end with keys from a function, called before every step."""
        game = self.game
        everyone = np.arange(len(game.at))
        self._queue(ask(priority, everyone, game.remaining, game.entered, self.rng) if len(everyone) else everyone)
        place = np.zeros(len(everyone), np.int64)
        while self.unfinished and self.tally["now"] < limit:
            self._grow()
            inside = np.sort(game.active[: self.tally["active"]])
            if len(inside):
                keys = ask(priority, inside, game.remaining[inside], game.entered[inside], self.rng)
                place[inside[np.lexsort((self.tie[inside], keys))]] = np.arange(len(inside))
            self._advance(Keys(0, 0, False, place), int(self.tally["now"]) + 1)

    def moves(self) -> Moves:
        """Return the log sorted by packet; a packet moves at every step from its first to its last."""
        self._store()
        game = self.game
        empty = np.empty(0, np.int32)
        self.game = game._replace(claim=empty, link=empty, first=empty)  # the largest, no longer needed
        before = game.entered - 1
        start = starts(game.delivery - before)
        total = int(start[-1])
        require_memory(9.0 * total, f"{total} moves")
        edge = np.empty(total, np.int32)
        up = np.empty(total, bool)
        cursor = start[:-1].copy()
        while self.chunks:
            packet, over = self.chunks.pop(0)
            run(collect, 4.0 * total, packet, over, cursor, edge, up)
        return Moves(start, nonstop(start, before), edge, up)

    def _queue(self, key: Array) -> None:
        """Line up the packets outside by their first edge, and by `key` on one edge."""
        wanted = self.game.want
        line = np.lexsort((self.tie, key, wanted)).astype(np.int32)
        begin = np.flatnonzero(np.diff(wanted[line], prepend=-1))
        tail = np.append(begin[1:], len(line)).astype(np.int32)
        self.queue = Queue(np.arange(len(begin), dtype=np.int32), begin.astype(np.int32), tail, line)
        self.tally["groups"] = len(begin)

    def _grow(self) -> None:
        """Make room for at least the next step."""
        tally = self.tally
        active, most = int(tally["active"]), int(tally["active"] + tally["groups"])
        if tally["logged"] + most > len(self.log.packet):
            self._store()
            size = max(CHUNK if self.work > CHUNK else int(self.work), most)
            require_memory(17.0 * (size + sum(len(part) for part, _ in self.chunks)), "the moves of the packets so far")
            self.log = Log(*np.empty((2, size), np.int32))
        if tally["drawn"] + active + 2 > len(self.game.draw):
            self.game = self.game._replace(draw=self.rng.integers(0, 2**31, max(DRAWS, 2 * active + 2)))
            tally["drawn"] = 0
        if active > tally["spare"]:
            top, pushed, below = self.pool
            old = len(pushed)
            new = max(old // 2, active - int(tally["spare"]), POOL)
            pushed = np.concatenate([pushed, np.empty(new, np.int32)])
            below = np.concatenate([below, np.arange(old + 1, old + new + 1, dtype=np.int32)])
            below[-1] = tally["free"]
            self.pool = Pool(top, pushed, below)
            tally["free"], tally["spare"] = old, tally["spare"] + new

    def _advance(self, keys: Keys, limit: int) -> None:
        """Run until time `limit` or until room has to be made."""
        run(steps, self.work, self.game, keys, self.queue, self.pool, self.log, limit)

    def _store(self) -> None:
        """Put the chunk of the log aside."""
        logged = int(self.tally["logged"])
        if logged:
            self.chunks.append((self.log.packet[:logged], self.log.over[:logged]))
        self.tally["logged"] = 0
