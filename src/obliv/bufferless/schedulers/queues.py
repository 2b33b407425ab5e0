"""Store and forward: packets wait in queues without bound, every edge forwards the best one at each step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from obliv._util.cost import require_memory
from obliv._util.text import did_you_mean
from obliv._util.typing import Array
from obliv.bufferless.kernels.queues import TALLY, Queues, forward
from obliv.bufferless.moves import Run
from obliv.errors import InputError, OptionError
from obliv.kernels import run
from obliv.results.bufferless.schedule import Moves
from obliv.topologies.leveled.instances import Instance

__all__ = ["PRIORITIES", "Priority", "ask", "queues"]


#: A user's rule: packets, how far each has still to go, when it came, and a generator, to keys (smallest first).
Priority = Callable[[Array, Array, Array, np.random.Generator], Any]

#: How much the keys count the time of arrival and the edges left; ties are drawn once for all.
PRIORITIES = {"fifo": (1, 0), "random-delay": (1, 0), "random-rank": (0, 0), "farthest-to-go": (0, -1)}

MOVES_AT_ONCE = 20_000_000  # then the kernel comes back, so that it can be interrupted


def queues(instance: Instance, rng: np.random.Generator, priority: str | Priority = "fifo") -> Run:
    """Route with buffers at the nodes: a packet waits, at its source too, until its edge takes it.

    Parameters
    ----------
    instance : Instance
    rng : numpy.random.Generator
        Breaks ties (once for all), ranks, delays.
    priority : str or function
        The packet that an edge takes first: "fifo", the one that came first to the node; "random-rank", the one with
        the lowest of ranks drawn once; "farthest-to-go", the one with most edges left; "random-delay", as "fifo" after
        a delay at the source drawn from 0 to C - 1 (Leighton, Maggs and Rao, 1994).  A function ``priority(packets,
        remaining, arrived, rng)`` is called in every step for the keys of all waiting packets; the smallest is first.

    Returns
    -------
    Run
        With rules "buffered".

    Raises
    ------
    InputError
        If there is no such priority, or a function's keys are not one number for each packet.

    Examples
    --------
    >>> from obliv.bufferless.problems import instance
    >>> both = instance("array:3", [[0], [0, 1]])
    >>> queues(both, np.random.default_rng(1), "farthest-to-go").delivery
    array([2, 2])
    """
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
    """Return the keys that a user's function gives, checked.

    Raises
    ------
    InputError
        If they are not one number for each packet.
    """
    keys = np.asarray(priority(packets, remaining, arrived, rng))
    if keys.shape != packets.shape or keys.dtype.kind not in "biuf" or np.isnan(keys).any():
        raise InputError(
            f"the priority function must return one number for each of the {len(packets)} packets it is given, "
            f"not {keys.dtype} of shape {keys.shape} or NaN"
        )
    return keys
