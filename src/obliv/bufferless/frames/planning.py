"""The plan of the centralized algorithm: which boat every packet takes in every phase, and where it waits for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.bufferless.frames.constants import Places, assign, compact, draw_sets, group_frames, phases
from obliv.bufferless.frames.graphs import largest_degree
from obliv.bufferless.kernels.colors import BITS, DONE, TOO_MANY, Cells, Coloring, Room, color_frames
from obliv.errors import InputError, OptionError
from obliv.kernels import run
from obliv.results.bufferless.plans import CentralizedPlan
from obliv.topologies.leveled.instances import Instance

__all__ = [
    "SEGMENTS",
    "PlanOptions",
    "PlanningError",
    "delivery_times",
    "even",
    "phase_length",
    "plan",
    "try_partitions",
]


SEGMENTS = ("tight", "paper")


@dataclass(frozen=True, eq=False)
class PlanOptions:
    """How plans are made.

    Parameters
    ----------
    segments : "tight" or "paper"
        The edges on which packets of one color must not meet: those still ahead, or all path edges in the two frames.
    shuffled : bool
        Whether packets are colored in random order; otherwise by source level, then by number.
    sets : int array, optional
        The set of every packet, from 1, instead of a random partition.
    dense : bool
        Whether sets without packets, and phases of session 1 after its last packet, are left out.
    tries : int
        Random partitions to try.
    printed : bool
        Whether phases have the printed length, tau = 2 (lambda + d) with the largest degree d of the dependency graphs;
        otherwise they are as short as the colors in use allow.
    """

    segments: str = "tight"
    shuffled: bool = False
    sets: Array | None = None
    dense: bool = False
    tries: int = 5
    printed: bool = False


class PlanningError(OptionError):
    """A plan in which the color of a packet has no target: lambda or s is too small."""

    def __init__(self, packet: int, color: int, lam: int, s: int) -> None:
        self.packet, self.color, self.lam, self.s = packet, color, lam, s
        super().__init__(
            "lam",
            f"packet {packet} got color {color}, but frames of lambda = {lam} levels have targets for {lam // 2} only; "
            f"raise {{lam}} (to {2 * color} or more) or {{s}} (now {s})",
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.packet, self.color, self.lam, self.s)


def even(number: int) -> int:
    """Return the number, or the next one if it is odd."""
    return number + number % 2


def phase_length(lam: int, chi_stop: int, chi_all: int) -> int:
    """Return the steps of a phase, tau: until the last stop is made and the last boat is through; even.

    Notes
    -----
    A packet of color k stops after move 2 lambda + 2k - 4 of its phase and needs two more to be there again at the end;
    one that does not stop may need 4k - 4 + lambda moves.
    """
    return even(max(2 * (lam + chi_stop - 1), 4 * chi_all - 4 + lam))


def plan(
    instance: Instance, sets: Array, s: int, lam: int, options: PlanOptions | None = None, rank: Array | None = None
) -> CentralizedPlan:
    """Color every frame of every set and find where packets stop.

    Parameters
    ----------
    instance : Instance
    sets : int array
        The set of every packet, 1..s.
    s, lam : int
        Sets; levels of a frame, even.
    options : PlanOptions, optional
    rank : int array, optional
        The place of every packet in the order of coloring; by default by source level, then by number.

    Returns
    -------
    CentralizedPlan

    Raises
    ------
    PlanningError
        If the color of a packet that stops has no target.
    InputError
        If sets, segments or lambda are invalid.

    Notes
    -----
    Source: sections 2 and 3 of the paper; tau is longer where lambda is less than twice the number of colors, which the
    paper excludes, and shorter unless it is wanted as printed.

    Examples
    --------
    >>> from obliv.bufferless.problems import instance
    >>> boats = plan(instance("array:12", [range(10), [1, 2, 3]]), np.array([1, 1]), 1, 4)
    >>> boats.phase_start.tolist(), boats.color.tolist(), boats.home.tolist(), boats.tau
    ([0, 2, 3], [1, 1, 2], [0, 6, 1], 10)
    """
    options = options or PlanOptions()
    if options.segments not in SEGMENTS:
        raise OptionError("segments", f"invalid {{segments}} {{0!r}}: use {' or '.join(SEGMENTS)}", options.segments)
    if len(sets) != instance.packets or (len(sets) and (sets.min() < 1 or sets.max() > s)):
        raise InputError(f"sets must be a number from 1 to {s} for each of the {instance.packets} packets")
    gamma = group_frames(instance.dilation, lam)
    places = assign(instance.level, instance.length, lam, gamma)
    if options.dense:
        sets = compact(sets, places.session)
        s = int(sets.max(initial=1))
    cells = _cells(instance, places, sets, s, gamma, lam, rank)
    coloring = _coloring(instance, places, cells, s, lam, options.segments == "paper")
    count, room, color, home = coloring.phases, coloring.row, coloring.color, coloring.home
    chi_stop, chi_all = int(_before_last_frame(coloring).max(initial=0)), int(color.max(initial=0))
    phase_start = np.zeros(len(count) + 1, np.int64)
    np.cumsum(count, out=phase_start[1:])
    if phase_start[-1] != room[-1]:
        used = np.arange(room[-1]) - np.repeat(room[:-1], np.diff(room)) < np.repeat(count, np.diff(room))
        color, home = color[used], home[used]
    tau = phase_length(lam, chi_stop, chi_all)
    if options.printed:
        tau = max(tau, 2 * (lam + largest_degree(instance, places, sets, lam)))
    last = phases(s, gamma)
    if options.dense:
        last = int((2 * sets + places.source + count - 2)[places.session == 1].max(initial=0))
    return CentralizedPlan(
        lam=lam,
        s=s,
        gamma=gamma,
        tau=tau,
        chi_stop=chi_stop,
        chi_all=chi_all,
        segments=options.segments,
        session_start=np.array([0, last * tau]),
        sets=sets.astype(np.int32),
        session=places.session.astype(np.int8),
        group=places.first.astype(np.int32),
        phase_start=phase_start,
        color=color,
        home=home,
    )


def try_partitions(
    instance: Instance, s: int, lam: int, options: PlanOptions, rng: np.random.Generator
) -> CentralizedPlan:
    """Return the plan of the first random partition that has one.

    Raises
    ------
    PlanningError
        If all tries fail.
    """
    failed: PlanningError | None = None
    for _ in range(options.tries if options.sets is None or options.shuffled else 1):
        sets = draw_sets(instance.packets, s, rng) if options.sets is None else options.sets
        rank = rng.permutation(instance.packets) if options.shuffled else None
        try:
            return plan(instance, sets, s, lam, options, rank)
        except PlanningError as failure:
            failed = failure
    if failed is None:
        raise OptionError("tries", f"{{tries}} is {options.tries}; at least one partition must be tried")
    raise failed


def delivery_times(instance: Instance, boats: CentralizedPlan) -> Array:
    """Return when packets arrive: T0 + (2i - 1 + sf + n - 2) tau + 4k - 4 + (destination level - a)."""
    lam, tau = boats.lam, boats.tau
    count = np.diff(boats.phase_start)
    color = boats.color[boats.phase_start[1:] - 1].astype(np.int64)
    source = instance.level // lam - boats.group
    begin = np.asarray(boats.session_start, np.int64)[boats.session - 1]
    a = (boats.group + source + count - 1) * lam
    goal = instance.level + instance.length
    phase = 2 * boats.sets.astype(np.int64) - 1 + source + count - 1
    return np.asarray(begin + (phase - 1) * tau + 4 * color - 4 + goal - a, np.int64)


def _cells(instance: Instance, places: Places, sets: Array, s: int, gamma: int, lam: int, rank: Array | None) -> Cells:
    """Return the packets sorted by session, set, group, frame and rank."""
    groups = int(places.first.max(initial=0)) + 1
    key = ((places.session - 1) * np.int64(s + 1) + sets) * groups + places.first
    if rank is None:
        deep = instance.network.depth + 1
        order = np.argsort(key * deep + instance.level, kind="stable").astype(np.int32)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order), dtype=np.int32)
    else:
        rank = np.asarray(rank, np.int32)
        by_rank = np.argsort(rank, kind="stable").astype(np.int32)
        order = by_rank[np.argsort((key * gamma + places.source)[by_rank], kind="stable")]
    cuts = np.flatnonzero(np.diff(key[order])) + 1
    first = np.concatenate([[0] if len(order) else [], cuts, [len(order)]]).astype(np.int64)
    return Cells(first, places.first[order[first[:-1]]] * lam, order, rank, places.source)


def _coloring(instance: Instance, places: Places, cells: Cells, s: int, lam: int, paper: bool) -> Coloring:
    """Return the colors and homes, with masks as wide as needed."""
    packets, edges = instance.packets, instance.network.edges
    row = np.zeros(packets + 1, np.int64)
    np.cumsum(places.destination - places.source + 1, out=row[1:])
    widest = int(np.diff(cells.first).max(initial=0))
    room = Room(*np.zeros((3, widest), np.int32), *np.zeros((2, widest), np.int64))
    words = 1 + (instance.congestion // s) // BITS  # packets that use an edge at once have different colors
    state = TOO_MANY
    while state == TOO_MANY:
        require_memory(8.0 * words * edges, f"{words * BITS} colors of {edges} edges")
        coloring = Coloring(
            start=instance.start,
            edge=instance.edge,
            level=instance.level,
            lam=lam,
            paper=paper,
            words=words,
            mask=np.zeros(words * edges, np.int64),
            row=row,
            phases=np.zeros(packets, np.int32),
            color=np.zeros(row[-1], np.int32),
            home=np.zeros(row[-1], np.int32),
        )
        state = run(color_frames, 5.0 * len(instance.edge) + 20 * packets, cells, coloring, room)
        words *= 2
    if state != DONE:
        color = _before_last_frame(coloring)
        entry = int(color.argmax())  # only the last one has no target
        raise PlanningError(int(np.searchsorted(row, entry, side="right")) - 1, int(color[entry]), lam, s)
    return coloring


def _before_last_frame(coloring: Coloring) -> Array:
    """Return the colors of packets in frames before that of their destination, 0 for the others."""
    color = coloring.color.copy()
    color[coloring.row[1:] - 1] = 0
    return color
