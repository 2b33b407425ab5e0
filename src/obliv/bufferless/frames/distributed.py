"""The distributed algorithm of Busch, Kelkar and Magdon-Ismail: frames and waves, colors found by trial."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from obliv._util.arrays import Array
from obliv.bufferless.frames.constants import (
    Constants,
    Waves,
    distributed_constants,
    draw_sets,
    group_frames,
    lg,
    require_known,
    waves,
)
from obliv.bufferless.frames.rounds import PARTS, Rides, Rounds, ride, simulate_rounds
from obliv.bufferless.leveled.instances import Instance
from obliv.bufferless.results import DistributedPlan, Moves, Run
from obliv.errors import InputError, OblivError, OptionError

__all__ = ["AFFORDABLE", "distributed"]


#: Single moves up to which the algorithm is run step by step by default.
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
    tie: str | None = None,
    steps: str | None = None,
    lam: int | None = None,
    chi: int | None = None,
    s: int | None = None,
    rounds: int | None = None,
) -> Run:
    """Route without buffers where nodes know only C, D, N and the paths of their own packets (section 4 of [BKM04]).

    Packets are in random sets, which travel as waves from frame to frame, two frames apart. To advance by a frame, each
    packet of a wave draws one of chi boats and rides; where two packets of a boat want one edge, both fail, or a random
    one. Then all packets undo the round, and those that failed draw again.

    Where the paper leaves room: packets from even inner levels enter at the second move, a packet deflected at its
    source goes back over the edge on which the winner came, a packet counts as oscillating once it has crossed the edge
    at its target, and a wanderer that comes to its destination with nothing left of its current path is sent on until
    the round is undone, of which a note tells. Unlike in the paper, packets have no target in the last frame of a
    group.

    The algorithm runs twice. Boat by boat, which is fast, it finds constants, colors, delivery times and the number of
    moves. Step by step it finds the moves, if these are affordable, and again the times, which must agree.
    """
    if tie is None:
        tie = "both-fail" if constants == "paper" else "survives"
    require_known("constants", constants, CONSTANTS)
    require_known("timetable", timetable, TIMETABLES)
    require_known("tie", tie, TIES)
    require_known("steps", steps or "all", STEPS)
    if rounds is not None and rounds < 1:
        raise OptionError("rounds", f"{{rounds}} is {rounds}; it must be at least 1")
    _require_one_source(instance)
    usual, larger = _candidates(instance, constants, lam, chi, s)
    if rounds is None and constants == "paper" and timetable == "fixed" and lam is chi is s is None:
        rounds = usual[0].xi
    rules = _Rules(timetable == "oracle", tie == "both-fail", rounds)
    try:
        game, rides = _best(instance, rng, usual, rules)
    except OptionError:
        if not larger:
            raise
        game, rides = _best(instance, rng, larger, rules)
    stepwise = steps == "all" or (steps is None and rides.moves <= AFFORDABLE)
    walked = _step(game, rides) if stepwise else None
    notes = () if walked is not None else (_no_moves(rides.moves, steps is None),)
    if constants == "paper" and tie != "both-fail":
        notes = ("unlike in the paper, one of two packets that meet keeps its boat (tie survives)", *notes)
    best = game.constants
    return Run(
        _NOTHING if walked is None else walked.moves,
        rides.delivery,
        deflections=0 if walked is None else walked.deflections,
        constants={
            "constants": constants,
            "lambda": best.lam,
            "s": best.s,
            "chi": best.chi,
            "xi": best.xi,
            "tau": best.tau,
            "timetable": timetable,
            "rounds": int(rides.rounds.max(initial=0)),
        },
        plan=_plan(game, rides, timetable, tie),
        notes=(*_late(game, rides), *(_passing(instance, walked.moves) if walked is not None else ()), *notes),
    )


@dataclass(frozen=True)
class _Rules:
    """The rules of the rounds: whether sub-phases end early, whether both packets fail, and the limit on rounds."""

    oracle: bool
    both_fail: bool
    cap: int | None


def _require_one_source(instance: Instance) -> None:
    if instance.one_source:
        return
    order = np.argsort(instance.source, kind="stable")
    at = int(np.flatnonzero(np.diff(instance.source[order]) == 0)[0])
    one, two = order[at], order[at + 1]
    raise InputError(
        f"packets {one} and {two} both begin at node {instance.source[one]}, and the distributed algorithm allows one "
        "packet per source: leave one out, or use the algorithm centralized, direct or hot-potato"
    )


def _candidates(
    instance: Instance, constants: str, lam: int | None, chi: int | None, s: int | None
) -> tuple[list[Constants], list[Constants]]:
    """Return the constants to try, and larger ones to try if rounds run out with all of those."""
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
    instance: Instance, rng: np.random.Generator, candidates: Sequence[Constants], rules: _Rules
) -> tuple[Waves, Rides]:
    """Return the run with the smallest makespan."""
    best: tuple[Waves, Rides] | None = None
    refused = OptionError("chi", "no {chi} to try")
    for constants in candidates:
        sets = draw_sets(instance.packets, constants.s, rng)
        seed = int(rng.integers(2**31))
        game = waves(instance, constants, sets, seed, rules.oracle, rules.both_fail, rules.cap)
        try:
            rides = ride(game)
        except OptionError as error:
            refused = error
            continue
        if best is None or rides.delivery.max(initial=0) < best[1].delivery.max(initial=0):
            best = game, rides
    if best is None:
        raise refused
    return best


def _step(game: Waves, rides: Rides) -> Rounds:
    """Run the same step by step, which must give the same times."""
    rounds = simulate_rounds(game, work=rides.moves)
    if rounds.violation is not None:
        raise OblivError(f"internal error: {rounds.violation}")
    if not (np.array_equal(rounds.rounds, rides.rounds) and np.array_equal(rounds.delivery, rides.delivery)):
        raise OblivError("internal error: delivery times step by step differ from those boat by boat")
    return rounds


def _plan(game: Waves, rides: Rides, timetable: str, tie: str) -> DistributedPlan:
    constants = game.constants
    return DistributedPlan(
        lam=constants.lam,
        chi=constants.chi,
        s=constants.s,
        xi=constants.xi,
        tau=constants.tau,
        gamma=constants.gamma,
        timetable=timetable,
        tie=tie,
        sets=game.sets,
        session=game.places.session,
        group=game.places.first,
        phase=game.enter,
        phase_start=rides.phase_start,
        color=rides.color,
        home=rides.home,
        sub_phase=rides.phase,
        sub_part=rides.part,
        sub_rounds=rides.rounds,
        sub_begin=rides.begin,
    )


def _late(game: Waves, rides: Rides) -> tuple[str, ...]:
    """Return a note if a sub-phase took more rounds than the timetable has."""
    late = np.flatnonzero(rides.rounds > game.constants.xi)
    if not len(late) or game.oracle:
        return ()
    first = late[0]
    return (
        f"{len(late)} of {len(rides.rounds)} sub-phases, the first {PARTS[rides.part[first]]} of phase "
        f"{rides.phase[first]}, took more than the {game.constants.xi} rounds of the timetable; rounds were added",
    )


def _passing(instance: Instance, moves: Moves) -> tuple[str, ...]:
    """Return a note if wanderers are sent on from their destinations, nothing being left of their current paths."""
    low, high = instance.network.edge_ends
    more = moves.more if len(moves.more) else np.zeros(len(moves.time), np.int64)
    goal = np.asarray(instance.destination)[moves.packet]
    head, tail = (np.where(moves.up == up, high[moves.edge], low[moves.edge]) for up in (True, False))
    near = (head == goal) | ((tail == goal) & (more > 0))
    near[moves.start[1:] - 1] = False  # a packet's last move
    steps = {p: _sent_on(instance, moves, more, p) for p in np.unique(moves.packet[near]).tolist()}
    found = [(p, step) for p, step in steps.items() if step]
    if not found:
        return ()
    packet, step = found[0]
    which = "a packet wanders" if len(found) == 1 else f"{len(found)} packets wander"
    return (
        f"{which} to the destination with nothing left of the current path, and on (packet {packet} in step {step}): "
        "section 4.1 does not say whether such a packet is absorbed",
    )


def _sent_on(instance: Instance, moves: Moves, more: Array, packet: int) -> int:
    """Return the first step in which a packet moves although nothing is left of its current path; 0 if none."""
    ahead = [2 * e + 1 for e in reversed(instance.edge[instance.start[packet] : instance.start[packet + 1]].tolist())]
    for row in range(moves.start[packet], moves.start[packet + 1]):
        link, extra = 2 * int(moves.edge[row]) + int(moves.up[row]), int(more[row])
        for n in range(1 + min(extra, 2 - extra % 2)):  # the states of an oscillation repeat
            if not ahead:
                return int(moves.time[row]) + n
            taken = link ^ (n & 1)
            if ahead[-1] == taken:
                ahead.pop()
            else:
                ahead.append(taken ^ 1)
    return 0


def _no_moves(moves: int, chosen: bool) -> str:
    why = f", about {moves:.3g} would be too many" if chosen else ""
    return f"run boat by boat: times are exact, but moves are not recorded{why}, and deflections are not counted"
