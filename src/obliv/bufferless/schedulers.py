"""Algorithms without frames: greedy hot potato with deflections, store and forward with queues, and direct routing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from obliv._util.arrays import Array, starts
from obliv._util.progress import require_memory
from obliv._util.text import did_you_mean
from obliv.bufferless.kernels.direct import (
    BITS,
    HOT_POTATO_TALLY,
    TALLY,
    EdgeQueue,
    Fit,
    Game,
    Keys,
    MoveLog,
    Pool,
    Queues,
    collect,
    first_fit,
    forward,
    steps,
)
from obliv.bufferless.leveled.instances import Instance
from obliv.bufferless.results import Moves, Run, exits, nonstop
from obliv.errors import InputError, OptionError, TooLargeError
from obliv.kernels import run

# Store and forward: packets wait in queues without bound, every edge forwards the best one at each step


#: A user's rule: packets, how far each has still to go, when it came, and a generator, to keys (smallest first).
Priority = Callable[[Array, Array, Array, np.random.Generator], Any]

#: How much the keys count the time of arrival and the edges left; ties are drawn once for all.
PRIORITIES = {"fifo": (1, 0), "random-delay": (1, 0), "random-rank": (0, 0), "farthest-to-go": (0, -1)}

MOVES_AT_ONCE = 20_000_000  # then the kernel comes back, so that it can be interrupted


def queues(instance: Instance, rng: np.random.Generator, priority: str | Priority = "fifo") -> Run:
    """Route with buffers at the nodes: a packet waits, at its source too, until its edge takes it."""
    if not callable(priority) and priority not in PRIORITIES:
        known = did_you_mean(str(priority), PRIORITIES)
        raise OptionError("priority", "invalid {priority} {0} of queues: {1}", repr(priority), known)
    edges = instance.network.edges
    require_memory(5.0 * len(instance.edge) + 4.0 * edges + 80.0 * instance.packets, "the queues")
    if callable(priority):
        time = _by_function(instance, rng, priority)
        name = getattr(priority, "__name__", "function")
    else:
        time = _by_key(instance, rng, *PRIORITIES[priority], delay=priority == "random-delay")
        name = priority
    moves = Moves(instance.start, time, instance.edge, np.ones(len(time), bool))
    return Run(moves, time[instance.start[1:] - 1].astype(np.int64), "buffered", constants={"priority": name})


def _by_key(instance: Instance, rng: np.random.Generator, by_time: int, by_left: int, delay: bool) -> Array:
    """Return the time of every move, with keys that a packet keeps while it waits."""
    packets, edges = instance.packets, instance.network.edges
    tie = rng.permutation(packets)
    release = rng.integers(0, max(instance.congestion, 1), packets) if delay else np.zeros(packets, np.int64)
    ready = np.argsort(release, kind="stable").astype(np.int32)
    key = np.empty(packets, np.int64)
    left, right, busy, movers = np.empty((4, packets), np.int32)
    waiting = Queues(
        start=instance.start,
        edge=instance.edge,
        release=release,
        ready=ready,
        tie=tie,
        key=key,
        left=left,
        right=right,
        top=np.full(edges, -1, np.int32),
        busy=busy,
        movers=movers,
        at=instance.start[:-1] - 1,
        time=np.zeros(len(instance.edge), np.int32),
        tally=np.zeros(1, TALLY),
    )
    tally = waiting.tally
    while tally["busy"][0] or tally["released"][0] < packets:
        run(forward, 10.0 * len(waiting.time), waiting, by_time, by_left, MOVES_AT_ONCE)
    return waiting.time


def _by_function(instance: Instance, rng: np.random.Generator, priority: Priority) -> Array:
    """Return the time of every move, with keys from a function in every step."""
    tie = rng.permutation(instance.packets)
    waiting = np.arange(instance.packets)
    at, end = instance.start[:-1].copy(), instance.start[1:]
    arrived = np.zeros(instance.packets, np.int64)
    time = np.zeros(len(instance.edge), np.int32)
    now = 0
    while len(waiting):
        now += 1
        keys = ask(priority, waiting, end[waiting] - at[waiting], arrived[waiting], rng)
        wanted = instance.edge[at[waiting]]
        order = np.lexsort((tie[waiting], keys, wanted))
        best = np.ones(len(order), bool)
        best[1:] = wanted[order[1:]] != wanted[order[:-1]]
        movers = waiting[order[best]]
        time[at[movers]] = now
        arrived[movers] = now
        at[movers] += 1
        waiting = waiting[at[waiting] < end[waiting]]
    return time


def ask(priority: Priority, packets: Array, remaining: Array, arrived: Array, rng: np.random.Generator) -> Array:
    """Return the keys that a user's function gives, checked."""
    keys = np.asarray(priority(packets, remaining, arrived, rng))
    if keys.shape != packets.shape or keys.dtype.kind not in "biuf" or np.isnan(keys).any():
        raise InputError(
            f"the priority function must return one number for each of the {len(packets)} packets it is given, "
            f"not {keys.dtype} of shape {keys.shape} or NaN"
        )
    return keys


#: The weights of the time of injection and of the remaining links in the keys; "random" draws keys in every step.
HOT_POTATO_PRIORITIES = {"age": (1, 0), "closest": (0, 1), "farthest": (0, -1), "random": (0, 0)}

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

    A packet wants the next edge of its path or, after deflections, to retrace the last link. The best of the packets
    that want a link takes it. Every other one takes a random link out of its node that no packet wants, in either
    direction. A packet outside enters at the end of the step if its first link is still free.
    """
    if not callable(priority) and priority not in HOT_POTATO_PRIORITIES:
        known = did_you_mean(str(priority), HOT_POTATO_PRIORITIES)
        raise OptionError("priority", "invalid {priority} {0} of hot-potato: {1}", repr(priority), known)
    name = priority if isinstance(priority, str) else getattr(priority, "__name__", "function")
    if limit is None:
        limit = 1000 + 100 * (instance.congestion + instance.dilation)
    network = instance.network
    if network.edges >= 2**30:
        raise TooLargeError(f"{network.edges} edges are too many for hot-potato, which numbers links in 32 bits")
    require_memory(8.0 * (6 * network.edges + network.nodes) + 100.0 * instance.packets, "the links of the network")
    table = _KernelState(instance, rng)
    if callable(priority):
        table.play_by_function(priority, limit)
    else:
        table.play(*HOT_POTATO_PRIORITIES[priority], priority == "random", limit)
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


class _KernelState:
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
            tally=np.zeros(1, HOT_POTATO_TALLY),
        )
        self.pool = Pool(np.full(packets, -1, np.int32), *np.empty((2, 0), np.int32))
        self.log = MoveLog(*np.empty((2, 0), np.int32))
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
        self.queue = EdgeQueue(np.arange(len(begin), dtype=np.int32), begin.astype(np.int32), tail, line)
        self.tally["groups"] = len(begin)

    def _grow(self) -> None:
        """Make room for at least the next step."""
        tally = self.tally
        active, most = int(tally["active"]), int(tally["active"] + tally["groups"])
        if tally["logged"] + most > len(self.log.packet):
            self._store()
            size = max(CHUNK if self.work > CHUNK else int(self.work), most)
            require_memory(17.0 * (size + sum(len(part) for part, _ in self.chunks)), "the moves of the packets so far")
            self.log = MoveLog(*np.empty((2, size), np.int32))
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


# Direct routing: packets wait outside the network, and once inside go forward at every step


#: The orders in which packets choose, the first is the default.
ORDERS = ("farthest", "longest", "random", "source")


def direct(instance: Instance, rng: np.random.Generator | None = None, order: str = "farthest") -> Run:
    """Route directly and greedily: one packet after another takes the earliest free departure.

    Two packets that share an edge meet on it if and only if they have the same offset, departure minus source level. So
    a direct schedule is a coloring of the graph of packets that share an edge, here by first fit. It is the limit of
    the algorithm of Busch, Kelkar and Magdon-Ismail (Efficient Bufferless Routing on Leveled Networks, 2004) of one
    frame, and boats a step apart.
    """
    packets = instance.packets
    chosen = _order(instance, rng, order)
    if not packets:
        return Run(Moves(instance.start, np.zeros(0, np.int32), instance.edge, np.ones(0, bool)), np.zeros(0, np.int64))
    require_memory(8.0 * instance.network.edges + 5.0 * len(instance.edge) + 50.0 * packets, "a direct schedule")
    level = instance.level
    first = level.max() - level  # so that offset 0 is that of leaving the highest source at once
    word = first[chosen] // BITS
    joins = np.argsort(word, kind="stable").astype(np.int32)
    joins_start = starts(np.bincount(word))
    waiting, fitted = np.empty((2, packets), np.int32)
    fit = Fit(
        start=instance.start,
        edge=instance.edge,
        order=chosen,
        first=first,
        joins=joins,
        joins_start=joins_start,
        mask=np.zeros(instance.network.edges, np.int64),
        waiting=waiting,
        fitted=fitted,
        offset=np.empty(packets, np.int64),
    )
    run(first_fit, 4.0 * len(instance.edge), fit)
    departure = fit.offset - first
    moves = Moves(instance.start, nonstop(instance.start, departure), instance.edge, np.ones(len(instance.edge), bool))
    return Run(moves, departure + instance.length, constants={"order": order})


def _order(instance: Instance, rng: np.random.Generator | None, order: str) -> Array:
    """Return the packets in the order in which they choose."""
    length, level = instance.length, instance.level
    if order == "farthest":
        packets = np.lexsort((-length, -(level + length)))
    elif order == "longest":
        packets = np.argsort(-length, kind="stable")
    elif order == "source":
        packets = np.argsort(level, kind="stable")
    elif order == "random":
        if rng is None:
            raise OptionError("order", "the order 'random' needs a random generator")
        packets = rng.permutation(instance.packets)
    else:
        raise OptionError("order", "invalid {order} {0!r}: {1}", order, did_you_mean(order, ORDERS))
    return packets.astype(np.int32)
