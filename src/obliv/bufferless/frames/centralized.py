"""The centralized algorithm: packets ride boats from frame to frame and oscillate over one edge until the next comes.

The plan determines everything; the moves are written down from it, and phases in which nothing happens cost nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from obliv._util.arrays import starts
from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.bufferless.frames.constants import centralized_constants, require_known
from obliv.bufferless.frames.planning import PlanningError, PlanOptions, delivery_times, even, try_partitions
from obliv.bufferless.frames.tuned import tune
from obliv.bufferless.kernels.centralized import Itinerary, Runs, count_moves, find_hits, write_moves
from obliv.bufferless.kernels.colors import BITS
from obliv.bufferless.moves import Run, nonstop
from obliv.errors import OptionError
from obliv.kernels import run
from obliv.results.bufferless.plans import CentralizedPlan
from obliv.results.bufferless.schedule import Moves
from obliv.topologies.leveled.instances import Instance

__all__ = ["CONSTANTS", "ORDERS", "centralized", "planned_moves"]


CONSTANTS = ("paper", "tuned", "one-frame")
ORDERS = ("source", "shuffled")


def centralized(
    instance: Instance,
    rng: np.random.Generator,
    constants: str = "paper",
    segments: str | None = None,
    order: str = "source",
    sets: Array | None = None,
    lam: int | None = None,
    s: int | None = None,
    tries: int | None = None,
) -> Run:
    """Route by frames, waves and boats, with every packet's boats chosen beforehand.

    Parameters
    ----------
    instance : Instance
    rng : numpy.random.Generator
        Draws the set of every packet, one vector of integers.
    constants : "paper", "tuned" or "one-frame"
        The printed algorithm, with its lambda, s and tau; the best lambda and s found by a short search; or a frame so
        large that packets never stop. The last two leave out empty sets and shorten phases.
    segments : "tight" or "paper", optional
        The edges on which packets of one color must not meet: those still ahead, or all path edges in the two frames.
        By default "paper" with the paper's constants, else "tight".
    order : "source" or "shuffled"
        The order of coloring: by source level, then by number; or random.
    sets : int array, optional
        The sets of packets, from 1, instead of random ones.
    lam, s : int, optional
        Levels of a frame, even; number of sets.
    tries : int, optional
        Random partitions before lambda is raised by half, and the number of raises. By default 1 for the printed
        algorithm, which fails with a probability of at most 1/DN, and 5 with another lambda, s or `constants`.

    Returns
    -------
    Run
        With a :class:`~obliv.results.bufferless.plans.CentralizedPlan`.

    Raises
    ------
    OptionError
        If the constants are too small to plan with.

    Notes
    -----
    Any s and any even lambda are correct if planning succeeds.  Unlike in the paper, packets have no target in the last
    frame of a group, since level 2D - 1 can be below their destination.  Where lambda is less than twice the number of
    colors, which the paper excludes, packets that end in the frame of their wave may ride boats that have no target.

    References
    ----------
    [BKM04] C. Busch, S. Kelkar and M. Magdon-Ismail, "Efficient Bufferless Routing on Leveled Networks", 2004, section
    3.

    Examples
    --------
    >>> from obliv.bufferless.problems import instance
    >>> butterfly = instance("butterfly:4")
    >>> run = centralized(butterfly, np.random.default_rng(0))
    >>> run.constants
    {'constants': 'paper', 'lambda': 72, 's': 131, 'chi': 1, 'tau': 144, 'phases': 255}
    >>> int(run.delivery.max()), int(centralized(butterfly, np.random.default_rng(0), "one-frame").delivery.max())
    (36580, 8)
    """
    require_known("constants", constants, CONSTANTS)
    require_known("order", order, ORDERS)
    if lam is not None and (lam < 2 or lam % 2):
        raise OptionError("lam", f"{{lam}} is {lam}; it must be even and at least 2")
    if s is not None and s < 1:
        raise OptionError("s", f"{{s}} is {s}; it must be at least 1")
    if sets is not None:
        sets = np.asarray(sets, np.int64)
        s = int(sets.max(initial=1)) if s is None else s
    printed = constants == "paper"
    if segments is None:
        segments = "paper" if printed else "tight"
    if tries is None:
        tries = 1 if printed and lam is None and s is None else 5
    options = PlanOptions(segments, order == "shuffled", sets, not printed, tries, printed)
    notes: tuple[str, ...] = ()
    if constants == "tuned":
        boats = tune(instance, rng, replace(options, tries=4), lam, s)
        if not boats.stops:
            notes = ("no feasible constants for several frames; packets never stop",)
    else:
        boats, notes = _plan(instance, rng, constants, options, lam, s)
    delivery = delivery_times(instance, boats)
    moves, deflections = planned_moves(instance, boats, delivery)
    chi = boats.tau // 2 - boats.lam + 1 if printed else boats.chi  # d + 1
    if printed and segments != "paper":
        notes += ("unlike in the paper, packets of one color may share edges behind them (segments tight)",)
    if not instance.one_source:
        notes += ("unlike in the paper, some nodes are the source of several packets",)
    shown = {"constants": constants, "lambda": boats.lam, "s": boats.s, "chi": chi, "tau": boats.tau}
    shown["phases"] = int(-(-delivery.max(initial=0) // boats.tau))
    return Run(moves, delivery, "bufferless", deflections, shown, boats, notes)


def _plan(
    instance: Instance, rng: np.random.Generator, constants: str, options: PlanOptions, lam: int | None, s: int | None
) -> tuple[CentralizedPlan, tuple[str, ...]]:
    """Return a plan with the paper's constants or one frame, unless given; lambda is raised where planning fails."""
    paper = centralized_constants(instance)
    fixed = lam is not None
    if constants == "one-frame":
        lam = even(instance.network.depth + 1) if lam is None else lam
        s = 1 if s is None else s
    lam = paper.lam if lam is None else lam
    s = paper.s if s is None else s
    notes: tuple[str, ...] = ()
    for left in reversed(range(options.tries)):
        try:
            return try_partitions(instance, s, lam, options, rng), notes
        except PlanningError:
            if fixed or not left:
                raise
        lam = even(lam + lam // 2)
        notes = (f"lambda was raised to {lam}: with less, colors were found that have no target",)
    raise OptionError("tries", f"{{tries}} is {options.tries}; it must be at least 1")


def planned_moves(instance: Instance, boats: CentralizedPlan, delivery: Array) -> tuple[Moves, int]:
    """Return all moves of a plan, and the number of deflections among them.

    Notes
    -----
    Where packets never stop the moves share the paths of the instance.
    """
    dtype: Any = np.int32 if delivery.max(initial=0) < 2**31 - 1 else np.int64
    start, edge, level = instance.start, instance.edge, instance.level
    row, color, home = boats.phase_start, boats.color, boats.home
    if not boats.stops:
        require_memory(6.0 * len(edge), f"{len(edge)} moves")
        time = nonstop(start, delivery - instance.length, dtype)
        return Moves(start, time, edge, np.ones(len(edge), bool)), 0
    words = 1 + int(color.max()) // BITS
    lam, tau = boats.lam, boats.tau
    itinerary = Itinerary(start, edge, level, row, color, home, lam, tau, words, np.zeros(len(color) * words, np.int64))
    _find_hits(instance, boats, itinerary)
    count = np.zeros(instance.packets, np.int64)
    work = 5.0 * len(edge)
    deflections = run(count_moves, work, itinerary, count)
    at = starts(count)
    require_memory(20.0 * at[-1], f"{at[-1]} moves")
    runs = Runs(np.empty(at[-1], dtype), np.empty(at[-1], np.int32), np.empty(at[-1], bool), np.empty(at[-1], np.int64))
    source = level // lam - boats.group
    begin = np.asarray(boats.session_start, np.int64)[boats.session - 1]
    clock = begin + (2 * boats.sets.astype(np.int64) - 2 + source) * tau
    run(write_moves, work, clock, at, itinerary, runs)
    return Moves(at, *runs), int(deflections)


def _find_hits(instance: Instance, boats: CentralizedPlan, itinerary: Itinerary) -> None:
    """Set the bits of the boats that deflect each packet in each phase."""
    row, lam, words = itinerary.row, itinerary.lam, itinerary.words
    owner = np.repeat(np.arange(instance.packets, dtype=np.int32), np.diff(row))
    nth = np.arange(row[-1]) - row[owner]
    frame = (instance.level // lam)[owner] + nth
    groups = int(frame.max()) + 1
    key = (boats.session[owner] * np.int64(boats.s + 1) + boats.sets[owner]) * groups + frame
    rows = np.argsort(key, kind="stable")
    cuts = np.flatnonzero(np.diff(key[rows])) + 1
    cell = np.concatenate([[0], cuts, [len(rows)]])
    a = frame[rows[cell[:-1]]] * lam
    require_memory(8.0 * words * instance.network.edges, f"{words * BITS} colors of {instance.network.edges} edges")
    mask = np.zeros(words * instance.network.edges, np.int64)
    run(find_hits, 5.0 * len(instance.edge), cell, rows, owner, nth == 0, a, mask, itinerary)
