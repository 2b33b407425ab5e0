"""The centralized algorithm: its plan, the moves (packets ride boats and oscillate in between), tuned constants.

The plan determines everything; the moves are written down from it, and phases in which nothing happens cost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from obliv._util.arrays import Array, starts
from obliv._util.progress import require_memory
from obliv.bufferless.frames.constants import (
    Places,
    assign,
    centralized_constants,
    compact,
    draw_sets,
    group_frames,
    largest_degree,
    phases,
    require_known,
)
from obliv.bufferless.kernels import walks
from obliv.bufferless.kernels.walks import (
    BITS,
    DONE,
    TALLY,
    TOO_MANY,
    WALKER,
    Cells,
    Coloring,
    Itinerary,
    Room,
    Runs,
    Walk,
    WalkLog,
    color_frames,
    count_moves,
    find_hits,
    write_moves,
)
from obliv.bufferless.leveled.instances import Instance
from obliv.bufferless.results import CentralizedPlan, Moves, Run, nonstop
from obliv.errors import InputError, OptionError
from obliv.kernels import Kernel, run

# The plan of the centralized algorithm: which boat every packet takes in every phase, and where it waits for it


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
    phase_start = starts(count)
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
    """Return the plan of the first random partition that has one."""
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
    row = starts(places.destination - places.source + 1)
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


# Constants of the centralized algorithm that suit an instance better than the paper's, found by a short search


#: Edges of paths above which half the congestion is the only number of sets that is tried.
LARGE = 5_000_000


def tune(
    instance: Instance,
    rng: np.random.Generator,
    options: PlanOptions,
    lam: int | None = None,
    s: int | None = None,
) -> CentralizedPlan:
    """Return the plan of least makespan over C/2, C/4, ... and 3, 2, 1 sets, if large C/2, each of least lambda."""
    ladder = {1, 2, 3} | {max(1, instance.congestion >> h) for h in range(1, 32)} if s is None else {s}
    if s is None and len(instance.edge) > LARGE:
        ladder = {max(1, instance.congestion // 2)}
    best: CentralizedPlan | None = None
    rating: tuple[bool, int] | None = None
    failed: PlanningError | None = None
    for count in sorted(ladder, reverse=True):
        try:
            if lam is None:
                boats = smallest_frame(instance, count, rng, options)
            else:
                boats = try_partitions(instance, count, lam, options, rng)
        except PlanningError as failure:
            failed = failure
            continue
        rated = (not boats.stops, int(delivery_times(instance, boats).max(initial=0)))
        if rating is None or rated < rating:
            best, rating = boats, rated
    if best is not None:
        return best
    if failed is None:
        raise ValueError("the search needs at least one number of sets")
    raise PlanningError(failed.packet, failed.color, failed.lam, max(ladder))


def smallest_frame(instance: Instance, s: int, rng: np.random.Generator, options: PlanOptions) -> CentralizedPlan:
    """Return a plan with s sets and the smallest even lambda that works, found by doubling, then by bisection."""
    top = even(instance.network.depth + 1)  # one frame: cannot fail
    low, lam = 0, 2
    while True:
        try:
            best = try_partitions(instance, s, min(lam, top), options, rng)
            break
        except PlanningError:
            low, lam = lam, 2 * lam
    high = min(lam, top)
    while high - low > 2:
        middle = even((low + high) // 2)
        if middle >= high:
            break
        try:
            best, high = try_partitions(instance, s, middle, options, rng), middle
        except PlanningError:
            low = middle
    return best


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
    """Route by frames, waves and boats, with every packet's boats chosen beforehand (section 3 of [BKM04]).

    Any s and any even lambda are correct if planning succeeds. Unlike in the paper, packets have no target in the last
    frame of a group, since level 2D - 1 can be below their destination. Where lambda is less than twice the number of
    colors, which the paper excludes, packets that end in the frame of their wave may ride boats that have no target.
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
    """Return all moves of a plan, which are the paths where packets never stop, and the deflections among them."""
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


# The centralized algorithm run move by move, with every rule that it must keep checked at every move.
#
# From a plan it takes sets, colors and constants; it finds the positions of packets by moving them.


BROKEN = (
    "",
    "its wave has left the group of frames",
    "its home is not in the frame of its wave",
    "its home is an even distance from the frame's first odd level",
    "it is not at home when it should be",
    "the plan has no color for it in this phase",
    "it is on a boat and not where the boat is",
    "it needs a link that is in use",
    "it is deflected and has no edge to go back over",
    "it oscillates and is off its edge",
    "it left the frame of its wave and the next one",
    "it still rides when the phase ends",
    "it was not injected in its phase",
)


@dataclass(frozen=True)
class Violation:
    """The first broken rule: its number, the packet, the time, and the rule in words."""

    check: int
    packet: int
    time: int
    text: str

    def __str__(self) -> str:
        return f"step {self.time}, packet {self.packet}: {self.text}"


@dataclass(frozen=True, eq=False)
class Outcome:
    """The outcome of a run.

    ``delivery``: when packets arrived, 0 for those that had not when a rule was broken; ``deflections`` of every
    packet; ``packet_steps``: single moves; ``moves`` if they were recorded.
    """

    delivery: Array
    deflections: Array
    packet_steps: int
    violation: Violation | None
    moves: Moves | None


def simulate(
    instance: Instance, boats: CentralizedPlan, record: bool = False, kernel: Kernel = walks.simulate_phases
) -> Outcome:
    """Run a plan of the centralized algorithm step by step until all packets have arrived or a rule is broken.

    Parameters
    ----------
    instance : Instance
    boats : CentralizedPlan
    record : bool
        Whether to record all moves.
    kernel : Kernel
        The kernel that runs a session; another one for another reading of the algorithm.

    Returns
    -------
    Outcome

    Notes
    -----
    Phases without packets are skipped, and so is the time before the first boat with a packet.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from obliv.bufferless.problems import instance
    >>> from obliv.bufferless.frames.centralized import plan
    >>> array = instance("array:12", [range(10), [1, 2, 3]])
    >>> boats = plan(array, np.array([1, 1]), 1, 4)
    >>> simulate(array, boats).delivery.tolist()
    [16, 8]
    >>> print(simulate(array, replace(boats, tau=boats.tau - 1)).violation)
    step 9, packet 0: it is not at home when it should be
    """
    places = assign(instance.level, instance.length, boats.lam, boats.gamma)
    walk, room = _walk(instance, boats, places.first, places.source, record)
    longest = boats.tau + int(walk.enter.max(initial=0)) + 1  # of a phase, in a sort key
    work = 5.0 * len(instance.edge) + boats.tau * len(boats.color)
    code = 0
    for session in (1, 2):
        queue = np.flatnonzero(places.session == session).astype(np.int32)
        queue = queue[np.argsort(walk.phase[queue] * longest + walk.enter[queue])]
        code = run(kernel, work, queue, boats.session_start[session - 1], walk)
        if code:
            break
    tally, log = walk.tally[0], walk.log
    violation = Violation(code, int(tally["packet"]), int(tally["time"]), BROKEN[code]) if code else None
    whole = record and violation is None and (log.at == log.end).all()
    moves = Moves(room, log.time, log.over, log.rise) if whole else None
    return Outcome(walk.delivery, walk.hits, int(tally["moves"]), violation, moves)


def _walk(instance: Instance, boats: CentralizedPlan, group: Array, source: Array, record: bool) -> tuple[Walk, Array]:
    """Return the state of the network before the first move, and where the moves of each packet go."""
    level, packets = instance.level, instance.packets
    sets = boats.sets.astype(np.int64)
    phase = walks.WAVE_SPACING * (sets - 1) + 1 + source
    enter = level % boats.lam + walks.BOAT_SPACING * (boats.color[boats.phase_start[:-1]].astype(np.int64) - 1) + 1
    state = np.zeros(packets, WALKER)
    state["path"] = instance.start[:-1] - level
    state["end"] = level + instance.length
    state["at"] = state["home"] = level
    room = np.zeros(packets + 1, np.int64)
    if record:
        entered = np.asarray(boats.session_start, np.int64)[boats.session - 1] + (phase - 1) * boats.tau + enter
        room = starts(delivery_times(instance, boats) - entered + 1)
    require_memory(13.0 * room[-1] + 8.0 * instance.network.edges, f"stepping through {len(instance.edge)} path edges")
    size = int(room[-1])
    walk = Walk(
        phase=phase,
        enter=enter,
        sets=sets,
        first=group,
        row=boats.phase_start,
        color=boats.color,
        start=instance.start,
        edge=instance.edge,
        lam=boats.lam,
        gamma=boats.gamma,
        tau=boats.tau,
        record=record,
        live=np.zeros(packets, np.int32),
        nth=np.zeros(packets, np.int32),
        state=state,
        stamp=np.zeros(2 * instance.network.edges, np.int32),
        hits=np.zeros(packets, np.int32),
        delivery=np.zeros(packets, np.int64),
        tally=np.zeros(1, TALLY),
        log=WalkLog(
            room[:-1].copy(), room[1:], np.zeros(size, np.int64), np.zeros(size, np.int32), np.zeros(size, bool)
        ),
    )
    return walk, room
