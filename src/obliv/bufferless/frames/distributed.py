"""The distributed algorithm of Busch, Kelkar and Magdon-Ismail: frames and waves, colours found by trial."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from obliv._util.text import did_you_mean
from obliv.bufferless.frames.boats import PARTS, Rides, ride
from obliv.bufferless.frames.constants import Constants, distributed_constants, draw_sets, group_frames, lg
from obliv.bufferless.frames.rounds import Steps, simulate
from obliv.bufferless.frames.waves import Waves, waves
from obliv.bufferless.moves import Run
from obliv.errors import InputError
from obliv.results.schedule import Moves
from obliv.topologies.leveled.instances import Instance

__all__ = ["AFFORDABLE", "distributed"]


#: Single moves up to which the algorithm is run step by step unless told otherwise.
AFFORDABLE = 50_000_000

CONSTANTS = ("paper", "tuned", "one-frame")
TIMETABLES = ("fixed", "oracle")
TIES = ("survives", "both-fail")
STEPS = ("all", "boats")

_NOTHING = Moves(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.bool_))
BIG = 4_000_000  # path edges from which on only few constants are tried
MANY, FEW, MORE = (0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6), (1, 2), (12, 24)  # boats to try, times C


def distributed(
    instance: Instance,
    rng: np.random.Generator,
    constants: str = "paper",
    timetable: str = "fixed",
    tie: str = "survives",
    steps: str | None = None,
    lam: int | None = None,
    chi: int | None = None,
    s: int | None = None,
    rounds: int | None = None,
) -> Run:
    """Route without buffers where nodes know C, D and N and the paths of their own packets, and nothing else.

    Packets are in random sets, which travel as waves from frame to frame, two frames apart.  To get on by a frame each
    packet of a wave draws one of chi boats and rides; where two of a boat want one edge a random one is beaten.  Then
    everybody undoes the round, and the beaten draw again.

    Parameters
    ----------
    instance : Instance
        With at most one packet from every node.
    rng : numpy.random.Generator
    constants : str
        "paper"; "tuned", the best of some small ones; "one-frame", the best with all levels in one frame.
    timetable : str
        "fixed": xi rounds always, since no node can see that all packets have succeeded.  "oracle": a sub-phase ends as
        soon as nobody fails, and is left out if nobody takes part.
    tie : str
        Of packets that drew one boat and meet, one "survives", or "both-fail".
    steps : str, optional
        "all": step by step, with every move.  "boats": only the rides, without moves, exact for delivery times.
        Unless given, all steps if they are at most ``AFFORDABLE``.
    lam, chi, s : int, optional
        Levels of a frame, even and at least 6 chi; boats; sets; instead of what `constants` says.
    rounds : int, optional
        After how many rounds of a sub-phase to give up, xi + 5 unless given.

    Returns
    -------
    Run
        With a plan: ``set`` and ``session`` of every packet, the first frame ``group`` of its group, the ``phase`` in
        which it enters; ``colour`` and ``home``, the level where it begins, of its phases ``phase_start[p] ..
        phase_start[p + 1] - 1``; and of all sub-phases in which packets ride ``sub_phase``, ``sub_part`` (0, 1, 2 for
        A, B1, B2), ``sub_rounds`` until nobody failed, ``sub_begin``, the time before the first move.  Phases count
        from 1 through both sessions, sets from 1.

    Raises
    ------
    InputError
        If two packets begin at one node, constants do not fit each other, or rounds run out.

    Notes
    -----
    Algorithm of Busch, Kelkar and Magdon-Ismail, Efficient Bufferless Routing on Leveled Networks (2004), section 4,
    with what was wrong or open there settled: packets from even inner levels enter at the second move, a packet beaten
    at its source goes back over the edge on which the winner came, success takes a crossing of the target's edge.

    Examples
    --------
    >>> from obliv.topologies.leveled.base import Leveled
    >>> line = Leveled("line", "line", (3,), 3, 2, 2, lambda: (np.arange(2), np.arange(1, 3)), lambda: np.arange(3))
    >>> both = Instance(line, np.array([0, 2, 3]), np.array([0, 1, 1], np.int32))
    >>> made = distributed(both, np.random.default_rng(0), "tuned", timetable="oracle", chi=1)
    >>> made.delivery, made.moves.rows().tolist()
    (array([ 2, 14]), [[1, 0, 0, 1], [2, 0, 1, 1], [14, 1, 1, 1]])
    """
    for what, given, known in (
        ("constants", constants, CONSTANTS),
        ("timetable", timetable, TIMETABLES),
        ("tie", tie, TIES),
        ("steps", steps or "all", STEPS),
    ):
        if given not in known:
            raise InputError(f"no {what} {given!r}: {did_you_mean(str(given), known)}")
    if rounds is not None and rounds < 1:
        raise InputError(f"rounds is {rounds}; at least one is needed")
    _require_one_source(instance)
    game, rides = _best(
        instance,
        rng,
        _candidates(instance, constants, lam, chi, s),
        timetable == "oracle",
        tie == "both-fail",
        rounds,
    )
    whole = steps == "all" or (steps is None and rides.moves <= AFFORDABLE)
    done = _step(game, rides) if whole else None
    notes = () if whole else (_no_moves(rides.moves, steps is None),)
    found = game.constants
    return Run(
        _NOTHING if done is None else done.moves,
        rides.delivery,
        deflections=0 if done is None else done.deflections,
        constants={
            "constants": constants,
            "lambda": found.lam,
            "s": found.s,
            "chi": found.chi,
            "xi": found.xi,
            "tau": found.tau,
            "timetable": timetable,
            "rounds": int(rides.rounds.max(initial=0)),
        },
        plan=_plan(game, rides, timetable, tie),
        notes=(*_failed(game, rides), *notes),
    )


def _require_one_source(instance: Instance) -> None:
    if instance.one_source:
        return
    order = np.argsort(instance.source, kind="stable")
    at = int(np.flatnonzero(np.diff(instance.source[order]) == 0)[0])
    one, two = order[at], order[at + 1]
    raise InputError(
        f"packets {one} and {two} both begin at node {instance.source[one]}, and the distributed algorithm needs nodes "
        "with one packet each: leave one out, or use the algorithm centralized, direct or hot-potato"
    )


def _candidates(
    instance: Instance, constants: str, lam: int | None, chi: int | None, s: int | None
) -> tuple[list[Constants], list[Constants]]:
    """The constants to try, and those to try if with none of them all packets find boats."""
    paper = distributed_constants(instance)
    more: list[int] = []
    if chi is not None or lam is not None:
        boats = [chi if chi is not None else max(1, (lam or 0) // 6)]
    elif constants == "paper":
        boats = [paper.chi]
    else:
        crowd = max(1, instance.congestion)
        boats, more = (
            sorted({math.ceil(share * crowd) for share in shares})
            for shares in (FEW if len(instance.edge) > BIG else MANY, MORE)
        )
    least = 2
    if constants == "one-frame":
        top = int((instance.level + instance.length).max(initial=0))
        least = top + 2 - top % 2
    sets = s if s is not None else paper.s if constants == "paper" else 1

    def of(k: int) -> Constants:
        frame = max(6 * k, least) if lam is None else lam
        return Constants(
            frame, sets, group_frames(instance.dilation, max(1, frame)), k, 2 * lg(instance), 2 * (frame + k - 1)
        )

    return [of(k) for k in boats], [of(k) for k in more]


def _best(
    instance: Instance,
    rng: np.random.Generator,
    tried: tuple[list[Constants], list[Constants]],
    oracle: bool,
    both_fail: bool,
    cap: int | None,
) -> tuple[Waves, Rides]:
    """Whoever is ready first; constants with which rounds run out do not count unless there are no others."""
    best: tuple[Waves, Rides] | None = None
    refused: InputError | None = None
    for constants in (*tried[0], None, *tried[1]):
        if constants is None:
            if best is not None:
                break
            continue
        sets = draw_sets(instance.packets, constants.s, rng)
        seed = int(rng.integers(2**31))
        game = waves(instance, constants, sets, seed, oracle, both_fail, cap)
        try:
            made = game, ride(game)
        except InputError as why:
            refused = why
            continue
        if best is None or made[1].delivery.max(initial=0) < best[1].delivery.max(initial=0):
            best = made
    if best is None:
        assert refused is not None
        raise refused
    return best


def _step(game: Waves, rides: Rides) -> Steps:
    """The same step by step, which has to come to the same."""
    done = simulate(game, work=rides.moves)
    if done.violation is not None:
        raise AssertionError(str(done.violation))
    if not (np.array_equal(done.rounds, rides.rounds) and np.array_equal(done.delivery, rides.delivery)):
        raise AssertionError("step by step and boat by boat packets arrive at different times")
    return done


def _plan(game: Waves, rides: Rides, timetable: str, tie: str) -> dict[str, Any]:
    constants = game.constants
    return {
        "kind": "distributed",
        "lam": constants.lam,
        "chi": constants.chi,
        "s": constants.s,
        "xi": constants.xi,
        "tau": constants.tau,
        "gamma": constants.gamma,
        "timetable": timetable,
        "tie": tie,
        "set": game.sets,
        "session": game.places.session,
        "group": game.places.first,
        "phase": game.enter,
        "phase_start": rides.phases,
        "colour": rides.colour,
        "home": rides.home,
        "sub_phase": rides.phase,
        "sub_part": rides.part,
        "sub_rounds": rides.rounds,
        "sub_begin": rides.begin,
    }


def _failed(game: Waves, rides: Rides) -> list[str]:
    """A note if a sub-phase took more rounds than the timetable has."""
    late = np.flatnonzero(rides.rounds > game.constants.xi)
    if not len(late) or game.oracle:
        return []
    first = late[0]
    return [
        f"{len(late)} of {len(rides.rounds)} sub-phases, the first {PARTS[rides.part[first]]} of phase "
        f"{rides.phase[first]}, took more than the {game.constants.xi} rounds of the timetable; rounds were added"
    ]


def _no_moves(moves: int, chosen: bool) -> str:
    why = f", some {moves:.3g} would be too many" if chosen else ""
    return f"run boat by boat: times are exact, but moves are not recorded{why}, and deflections are not counted"
