"""Greedy hot potato: all packets move at every step; who loses a link is pushed over another one and comes back."""

from __future__ import annotations

import numpy as np

from obliv._util.memory import require_memory
from obliv._util.text import did_you_mean
from obliv._util.typing import Array
from obliv.bufferless.kernels.direct import run_through
from obliv.bufferless.kernels.hot_potato import collect, leaving, steps
from obliv.bufferless.moves import Run
from obliv.bufferless.schedulers.queues import Priority, ask
from obliv.errors import InputError, TooLargeError
from obliv.kernels import run
from obliv.results.schedule import Moves
from obliv.topologies.leveled.instances import Instance

__all__ = ["PRIORITIES", "hot_potato"]


#: How much the keys count the time of injection and the way left; "random" draws keys afresh at every step.
PRIORITIES = {"age": (1, 0), "closest": (0, 1), "farthest": (0, -1), "random": (0, 0)}

CHUNK = 1 << 22  # moves in a chunk of the log, at least
DRAWS = 1 << 16  # random numbers drawn at once, at least
POOL = 1 << 10  # links to go back, at least
STATE = ("now", "active", "groups", "logged", "drawn", "free", "spare", "deflections", "deepest")


def hot_potato(
    instance: Instance,
    rng: np.random.Generator,
    priority: str | Priority = "age",
    limit: int | None = None,
) -> Run:
    """Route without buffers, greedily: packets keep to their paths and are deflected where they lose a link.

    A packet wants the next edge of its path or, after deflections, to go back over the last one that is not undone.
    Of all that want a link the best takes it.  Each of the others takes a random link out of its node that nobody
    wants, in either direction.  A packet outside enters at the end, if its first link is free still.

    Parameters
    ----------
    instance : Instance
    rng : numpy.random.Generator
        Breaks ties (once for all), chooses links for the deflected, draws the keys of "random".
    priority : str or function
        Who is best: "age", who entered first; "closest" or "farthest", who has the shortest or longest way left, back
        and then on; "random", drawn at every step.  A function ``priority(packets, remaining, entered, rng)`` is asked
        at every step for the keys of all packets in the network, and once for those of packets that enter; the
        smallest is best.
    limit : int, optional
        Steps after which to give up, 1000 + 100 (C + D) unless given.

    Returns
    -------
    Run

    Raises
    ------
    InputError
        If there is no such priority, a function's keys are not one number for each packet, steps run out, or the
        network is too large.

    Examples
    --------
    >>> from obliv.topologies.leveled.base import Leveled
    >>> line = Leveled("line", "line", (3,), 3, 2, 2, lambda: (np.arange(2), np.arange(1, 3)), lambda: np.arange(3))
    >>> both = Instance(line, np.array([0, 1, 3]), np.array([0, 0, 1], np.int32))
    >>> hot_potato(both, np.random.default_rng(1), "farthest").delivery
    array([2, 2])
    """
    if not callable(priority) and priority not in PRIORITIES:
        raise InputError(f"no priority {priority!r} of hot potatoes: {did_you_mean(str(priority), PRIORITIES)}")
    name = priority if isinstance(priority, str) else getattr(priority, "__name__", "function")
    if limit is None:
        limit = 1000 + 100 * (instance.congestion + instance.dilation)
    network = instance.network
    if network.edges >= 2**30:
        raise TooLargeError(f"{network.edges} edges are too many for hot potatoes, which number links in 32 bits")
    require_memory(8.0 * (3 * network.edges + network.nodes) + 100.0 * instance.packets, "the links of the network")
    game = _Game(instance, rng)
    if callable(priority):
        game.play_by_function(priority, limit)
    else:
        game.play(*PRIORITIES[priority], int(priority == "random"), limit)
    if game.unfinished:
        late = int((game.delivery == 0).sum())
        raise InputError(
            f"{late} of {instance.packets} packets are not there after {limit} steps; raise the limit or take another "
            f"priority than {name!r}"
        )
    deepest = int(game["deepest"])
    notes = (f"at most {deepest} link{'s' * (deepest != 1)} to go back at once",) if deepest else ()
    return Run(game.moves(), game.delivery, "bufferless", game["deflections"], {"priority": name}, notes=notes)


class _Game:
    """What the kernels work on, and its growing."""

    def __init__(self, instance: Instance, rng: np.random.Generator) -> None:
        self.instance, self.rng = instance, rng
        packets, network = instance.packets, instance.network
        self.work = 30.0 * len(instance.edge)
        self.first = np.zeros(network.nodes + 1, np.int32)
        self.link = np.empty(2 * network.edges, np.int32)
        run(leaving, 4.0 * network.edges, network.low, network.high, self.first, self.link)
        self.claim = np.full(2 * network.edges, -1, np.int32)

        self.tie = rng.permutation(packets)
        self.at = instance.start[:-1].copy()
        self.want = 2 * instance.edge[self.at]
        self.entered, self.delivery = np.zeros((2, packets), np.int64)
        self.remaining = instance.length.astype(np.int64)
        self.top = np.full(packets, -1, np.int32)
        self.active = np.empty(packets, np.int32)
        self.pushed, self.below = np.empty((2, 0), np.int32)

        self.draw = np.empty(0, np.int64)
        self.who, self.over = np.empty((2, 0), np.int32)
        self.log: list[tuple[Array, Array]] = []
        self.state = np.zeros(len(STATE), np.int64)
        self.state[STATE.index("free")] = -1

    def __getitem__(self, name: str) -> int:
        return int(self.state[STATE.index(name)])

    def __setitem__(self, name: str, value: int) -> None:
        self.state[STATE.index(name)] = value

    @property
    def unfinished(self) -> bool:
        """Whether a packet is not there."""
        return self["active"] + self["groups"] > 0

    def queue(self, key: Array) -> None:
        """Line up the packets outside by their first edge, of one edge by `key`."""
        wanted = self.want
        self.line = np.lexsort((self.tie, key, wanted)).astype(np.int32)
        begin = np.flatnonzero(np.diff(wanted[self.line], prepend=-1))
        self.head = begin.astype(np.int32)
        self.tail = np.append(begin[1:], len(self.line)).astype(np.int32)
        self.group = np.arange(len(begin), dtype=np.int32)
        self["groups"] = len(begin)

    def play(self, by_time: int, by_left: int, fresh: int, limit: int) -> None:
        """To the end, with keys that the kernel makes itself."""
        self.queue(by_left * self.remaining)
        while self.unfinished and self["now"] < limit:
            self.grow()
            self.advance(by_time, by_left, fresh, self.tie, limit)

    def play_by_function(self, priority: Priority, limit: int) -> None:
        """To the end, asking a function for keys before every step."""
        everyone = np.arange(self.instance.packets)
        self.queue(ask(priority, everyone, self.remaining, self.entered, self.rng) if len(everyone) else everyone)
        place = np.zeros(len(everyone), np.int64)
        while self.unfinished and self["now"] < limit:
            self.grow()
            inside = np.sort(self.active[: self["active"]])
            if len(inside):
                keys = ask(priority, inside, self.remaining[inside], self.entered[inside], self.rng)
                place[inside[np.lexsort((self.tie[inside], keys))]] = np.arange(len(inside))
            self.advance(0, 0, 0, place, self["now"] + 1)

    def grow(self) -> None:
        """Make room for the next step at least."""
        active, most = self["active"], self["active"] + self["groups"]
        if self["logged"] + most > len(self.who):
            self.keep()
            size = max(CHUNK if self.work > CHUNK else int(self.work), most)
            require_memory(17.0 * (size + sum(len(who) for who, _ in self.log)), "the moves of the packets so far")
            self.who, self.over = np.empty((2, size), np.int32)
        if self["drawn"] + active + 2 > len(self.draw):
            self.draw = self.rng.integers(0, 2**31, max(DRAWS, 2 * active + 2))
            self["drawn"] = 0
        if active > self["spare"]:
            old = len(self.pushed)
            new = max(old // 2, active - self["spare"], POOL)
            self.pushed = np.concatenate([self.pushed, np.empty(new, np.int32)])
            self.below = np.concatenate([self.below, np.arange(old + 1, old + new + 1, dtype=np.int32)])
            self.below[-1] = self["free"]
            self["free"], self["spare"] = old, self["spare"] + new

    def advance(self, by_time: int, by_left: int, fresh: int, tie: Array, limit: int) -> None:
        """Steps, until time `limit` or until room has to be made."""
        one, net = self.instance, self.instance.network
        run(
            steps,
            self.work,
            *(one.start, one.edge, net.low, net.high, self.first, self.link, self.group, self.head, self.tail),
            *(self.line, by_time, by_left, fresh, tie, self.at, self.want, self.entered, self.remaining),
            *(self.delivery, self.top, self.pushed, self.below, self.claim, self.active, self.draw),
            *(self.who, self.over, self.state, limit),
        )

    def keep(self) -> None:
        """Put the chunk of the log away."""
        logged = self["logged"]
        if logged:
            self.log.append((self.who[:logged], self.over[:logged]))
        self["logged"] = 0

    def moves(self) -> Moves:
        """The log by packets: each moves at every step from the one it enters at to its last."""
        self.keep()
        del self.claim, self.link, self.first  # the largest, no longer needed
        before = self.entered - 1
        start = np.concatenate([[0], np.cumsum(self.delivery - before)])
        total = int(start[-1])
        require_memory(9.0 * total, f"{total} moves")
        edge, time = np.empty((2, total), np.int32)
        up = np.empty(total, bool)
        cursor = start[:-1].copy()
        while self.log:
            who, over = self.log.pop(0)
            run(collect, 4.0 * total, who, over, cursor, edge, up)
        run(run_through, 2.0 * total, start, before, time)
        return Moves(start, time, edge, up)
