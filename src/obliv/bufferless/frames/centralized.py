"""The centralized algorithm: packets ride boats from frame to frame and oscillate over one edge until the next comes.

The plan says everything; the moves are written down from it, phases in which nothing happens cost nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from obliv._util.memory import require_memory
from obliv._util.typing import Array
from obliv.bufferless.frames.constants import centralized_constants, draw_sets
from obliv.bufferless.frames.plan import delivery_times, even, plan, too_high
from obliv.bufferless.kernels.centralized import Plan, Rows, count_moves, find_hits, ride_times, write_moves
from obliv.bufferless.kernels.colours import BITS
from obliv.bufferless.moves import Run
from obliv.errors import InputError
from obliv.kernels import run
from obliv.results.schedule import Moves
from obliv.topologies.leveled.instances import Instance

__all__ = ["CONSTANTS", "ORDERS", "centralized", "planned_moves"]


CONSTANTS = ("paper", "tuned", "one-frame")
ORDERS = ("source", "shuffled")


def centralized(
    instance: Instance,
    rng: np.random.Generator,
    constants: str = "paper",
    segments: str = "tight",
    order: str = "source",
    sets: Array | None = None,
    lam: int | None = None,
    s: int | None = None,
    tries: int = 5,
) -> Run:
    """Route by frames, waves and boats, every packet's boats chosen beforehand.

    Parameters
    ----------
    instance : Instance
    rng : numpy.random.Generator
        Draws the set of every packet, one vector of integers.
    constants : "paper", "tuned" or "one-frame"
        The paper's lambda and s; the best found by a short search; or so large a frame that nobody ever stops.
        Only the paper's keep sets that are empty.
    segments : "tight" or "paper"
        What must be free of others of one colour: the edges that are still ahead, or all in the two frames.
    order : "source" or "shuffled"
        In which order packets are coloured: by source level, then number; or at random.
    sets : int array, optional
        The sets of packets, from 1 on, instead of random ones.
    lam, s : int, optional
        Levels of a frame, even; number of sets.
    tries : int
        Random partitions before lambda is raised by half, and how often that.

    Returns
    -------
    Run
        With the plan: see :func:`obliv.bufferless.frames.plan.plan`.

    Raises
    ------
    InputError
        If the constants are too small to plan with.

    Notes
    -----
    Any s and any even lambda are right if planning succeeds.  What was corrected: the last frame has no target, nor
    has a packet that ends in the frame of its wave; tau covers those; the push is over the edge before home.

    Source: Busch, Kelkar and Magdon-Ismail (2004), section 3.

    Examples
    --------
    >>> from obliv.bufferless.problems import instance
    >>> made = instance("butterfly:4")
    >>> run = centralized(made, np.random.default_rng(0))
    >>> run.constants
    {'constants': 'paper', 'lambda': 72, 's': 131, 'chi': 1, 'tau': 142, 'phases': 255}
    >>> int(run.delivery.max()), int(centralized(made, np.random.default_rng(0), "one-frame").delivery.max())
    (36072, 8)
    """
    if constants not in CONSTANTS:
        raise InputError(f"constants are {', '.join(CONSTANTS)}, not {constants}")
    if order not in ORDERS:
        raise InputError(f"the order is {' or '.join(ORDERS)}, not {order}")
    if lam is not None and (lam < 2 or lam % 2):
        raise InputError(f"lam is {lam}; it must be even and at least 2")
    if s is not None and s < 1:
        raise InputError(f"s is {s}; at least one set is needed")
    if sets is not None:
        sets = np.asarray(sets, np.int64)
        s = int(sets.max(initial=1)) if s is None else s
    notes: tuple[str, ...] = ()
    if constants == "tuned":
        from obliv.bufferless.frames.tuned import tune

        made = tune(instance, rng, segments, order == "shuffled", sets, lam, s)
        if len(made["colour"]) == instance.packets:
            notes = ("nobody stops: no constants were found with which frames work and somebody would",)
    else:
        made, notes = _plan(instance, rng, constants, segments, order, sets, lam, s, tries)
    delivery = delivery_times(instance, made)
    moves, deflections = planned_moves(instance, made, delivery)
    chi = int(made["colour"].max(initial=0))
    shown = {"constants": constants, "lambda": made["lam"], "s": made["s"], "chi": chi, "tau": made["tau"]}
    shown["phases"] = int(-(-delivery.max(initial=0) // made["tau"]))
    return Run(moves, delivery, "bufferless", deflections, shown, made, notes)


def _plan(
    instance: Instance,
    rng: np.random.Generator,
    constants: str,
    segments: str,
    order: str,
    sets: Array | None,
    lam: int | None,
    s: int | None,
    tries: int,
) -> tuple[dict[str, Any], tuple[str, ...]]:
    paper = centralized_constants(instance)
    fixed = lam is not None
    notes: tuple[str, ...] = ()
    if constants == "one-frame":
        lam = even(instance.network.depth + 1) if lam is None else lam
        s = 1 if s is None else s
    lam = paper.lam if lam is None else lam
    s = paper.s if s is None else s
    for _ in range(tries):
        for _ in range(tries if sets is None else 1):
            drawn = draw_sets(instance.packets, s, rng) if sets is None else sets
            rank = rng.permutation(instance.packets) if order == "shuffled" else None
            made = plan(instance, drawn, s, lam, segments, rank, dense=constants != "paper")
            if "failed" not in made:
                return made, notes
        if fixed:
            break
        lam = even(lam + lam // 2)
        notes = (f"lambda was raised to {lam}: with less, colours were found that have no target",)
    raise InputError(too_high(made["failed"], lam, s))


def planned_moves(instance: Instance, made: dict[str, Any], delivery: Array) -> tuple[Moves, int]:
    """All moves of a plan, and how many deflections there are among them.

    Notes
    -----
    Where nobody stops the moves share the paths of the instance.
    """
    dtype: Any = np.int32 if delivery.max(initial=0) < 2**31 - 1 else np.int64
    start, edge, level = instance.start, instance.edge, instance.level
    row, colour, home = made["phase_start"], made["colour"], made["home"]
    if len(colour) == instance.packets:
        require_memory(6.0 * len(edge), f"{len(edge)} moves")
        time = np.empty(len(edge), dtype)
        run(ride_times, 2.0 * len(edge), start, delivery, time)
        return Moves(start, time, edge, np.ones(len(edge), bool)), 0
    words = 1 + int(colour.max()) // BITS
    lam, tau = made["lam"], made["tau"]
    planned = Plan(start, edge, level, row, colour, home, lam, tau, words, np.zeros(len(colour) * words, np.int64))
    _find_hits(instance, made, planned)
    many = np.zeros(instance.packets, np.int64)
    work = 5.0 * len(edge)
    deflections = run(count_moves, work, planned, many)
    at = np.concatenate([[0], np.cumsum(many)])
    require_memory(20.0 * at[-1], f"{at[-1]} moves")
    rows = Rows(np.empty(at[-1], dtype), np.empty(at[-1], np.int32), np.empty(at[-1], bool), np.empty(at[-1], np.int64))
    source = level // lam - made["group_start"]
    begin = np.asarray(made["session_start"], np.int64)[made["session"] - 1]
    clock = begin + (2 * made["set"].astype(np.int64) - 2 + source) * tau
    run(write_moves, work, clock, at, planned, rows)
    return Moves(at, *rows), int(deflections)


def _find_hits(instance: Instance, made: dict[str, Any], planned: Plan) -> None:
    """Which boats push a packet in which phase, as bits."""
    row, lam, words = planned.row, planned.lam, planned.words
    owner = np.repeat(np.arange(instance.packets, dtype=np.int32), np.diff(row))
    nth = np.arange(row[-1]) - row[owner]
    frame = (instance.level // lam)[owner] + nth
    groups = int(frame.max()) + 1
    key = (made["session"][owner] * np.int64(made["s"] + 1) + made["set"][owner]) * groups + frame
    rows = np.argsort(key, kind="stable")
    cuts = np.flatnonzero(np.diff(key[rows])) + 1
    cell = np.concatenate([[0], cuts, [len(rows)]])
    a = frame[rows[cell[:-1]]] * lam
    require_memory(8.0 * words * instance.network.edges, f"{words * BITS} colours of {instance.network.edges} edges")
    mask = np.zeros(words * instance.network.edges, np.int64)
    run(find_hits, 5.0 * len(instance.edge), cell, rows, owner, nth == 0, a, mask, planned)
