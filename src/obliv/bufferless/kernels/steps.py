"""Kernels: the centralized algorithm move by move, with every rule checked.

Times x are the moves of a phase, from 1 on.  A directed link, edge e up (2e) or down (2e + 1), carries the stamp of the
step in which it was last used: twice the step's number, one more for a boat.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.typing import Array
from obliv.bufferless.kernels.colors import TARGET_SPACING
from obliv.kernels import kernel

__all__ = ["TALLY", "WALKER", "Log", "Walk", "simulate_phases"]

OUTSIDE, RIDES, STAYS, WAITS, ARRIVED = range(5)  # STAYS: oscillates at its target; WAITS: at home, for its boat

BOAT_SPACING = 4  # levels between boats
WAVE_SPACING = 2  # frames between waves

# rules that can be broken
(
    FINE,
    OUT_OF_GROUP,
    NOT_IN_FRAME,
    EVEN_HOME,
    NOT_AT_HOME,
    NO_COLOR,
    OFF_ITS_BOAT,
    LINK_TWICE,
    NO_EDGE_BACK,
    ASTRAY,
    OUTSIDE_FRAMES,
    STILL_RIDING,
    STILL_OUTSIDE,
) = range(13)

RENEW = 1 << 29  # steps after which stamps begin anew, to fit in 32 bits


#: A packet: the entry of `edge` that level 0 would have on its path, and its last level; its state; level; home;
#: target, -1 if it has none; the first level of its wave's frame; what to add to the move for the level of its boat.
WALKER = np.dtype([(name, np.int64) for name in ("path", "end", "does", "at", "home", "target", "frame", "boat")])
#: The offending packet; packets that arrive in this step; packets that wait at home after the moves of boats; the time;
#: steps so far; single moves so far.
TALLY = np.dtype([(name, np.int64) for name in ("packet", "arrived", "waiting", "time", "steps", "moves")])


class Log(NamedTuple):
    """The record of moves."""

    at: Array  # of every packet: the row of its next move
    end: Array  # of every packet: the row after its last one
    time: Array
    over: Array  # an edge
    rise: Array  # whether upwards


class Walk(NamedTuple):
    """The plan, the state of the packets, and the record of the run."""

    phase: Array  # of every packet: the phase in which it enters
    enter: Array  # and the move at which it enters
    sets: Array  # of every packet: its set, from 1
    first: Array  # of every packet: the first frame of its group
    row: Array  # of every packet: where its phases begin in `color`; then the end of the last
    color: Array
    start: Array  # of every packet: where its path begins in `edge`
    edge: Array
    lam: int
    gamma: int
    tau: int
    record: bool  # whether to log moves
    live: Array  # the packets in the network
    nth: Array  # of every packet: its phases so far
    state: Array  # WALKER of every packet
    stamp: Array  # of every link
    hits: Array  # becomes the deflections of every packet
    delivery: Array  # becomes the time when every packet arrives
    tally: Array  # one TALLY
    log: Log


@kernel
def use(link: int, mark: int, stamp: Array) -> bool:
    """Take a link in the step with this mark (odd for boats); return whether it was free."""
    free: bool = stamp[link] < mark - (mark & 1)
    stamp[link] = mark
    return free


@kernel
def note(p: int, t: int, e: int, up: bool, log: Log) -> None:
    """Log a move, as long as there is room."""
    i = log.at[p]
    if i < log.end[p]:
        log.time[i] = t
        log.over[i] = e
        log.rise[i] = up
    log.at[p] = i + 1


@kernel
def target(p: int, a: int, k: int, last: bool, walk: Walk) -> int:
    """Return the level where a packet of color k stops in the phase of the frame from level `a`, -1 if it does not."""
    if last or walk.state["end"][p] < a + walk.lam:
        return -1
    return int(a + 2 * walk.lam - TARGET_SPACING * k)


@kernel
def way_back(own: int) -> int:
    """Return which entry of `edge` a packet is deflected over: the path edge before the one it oscillates on."""
    return own - 1


@kernel
def open_phase(p: int, phase: int, walk: Walk) -> int:
    """Give a packet its frame, boat and target of this phase; it must be where its wave is."""
    row, nth, state, lam = walk.row, walk.nth, walk.state, walk.lam
    j = phase - 1 - WAVE_SPACING * (walk.sets[p] - 1)
    if j < 0 or j >= walk.gamma:
        return OUT_OF_GROUP
    a = (walk.first[p] + j) * lam
    home = state["home"][p]
    if home < a or home >= a + lam:
        return NOT_IN_FRAME
    if state["does"][p] != OUTSIDE:
        if (home - a) % 2 != 0:
            return EVEN_HOME
        if state["at"][p] != home:
            return NOT_AT_HOME
        state["does"][p] = WAITS
    last = j == walk.gamma - 1
    end = state["end"][p]
    if last and end >= a + lam:
        return OUT_OF_GROUP
    at = row[p] + nth[p]
    if at >= row[p + 1]:
        return NO_COLOR
    k = walk.color[at]
    nth[p] += 1
    state["frame"][p] = a
    state["boat"][p] = a - BOAT_SPACING * (k - 1) - 1
    state["target"][p] = target(p, a, k, last, walk)
    return FINE


@kernel
def ride_moves(n: int, x: int, t: int, step: int, walk: Walk) -> int:
    """Move packets on boats and at their targets, among the first `n` that are live."""
    live, edge, state, stamp, tally = walk.live, walk.edge, walk.state, walk.stamp, walk.tally
    tally["arrived"][0] = 0
    tally["waiting"][0] = 0
    for i in range(n):
        p = live[i]
        tally["packet"][0] = p
        does = state["does"][p]
        here = state["at"][p]
        boat = state["boat"][p] + x
        if does == WAITS:
            if boat != state["home"][p]:
                tally["waiting"][0] += 1
                continue
            if here != boat:
                return NOT_AT_HOME
            does = RIDES
        up = True
        if does == RIDES:
            if here != boat:
                return OFF_ITS_BOAT
            if state["target"][p] >= 0 and here >= state["target"][p]:
                does = STAYS
                state["target"][p] = here
        if does == STAYS:
            up = x % 2 == 1
            if here != state["target"][p] + (0 if up else 1):
                return ASTRAY
        state["does"][p] = does
        e = int(edge[state["path"][p] + (here if up else here - 1)])
        if not use(2 * e + (0 if up else 1), 2 * step + (1 if does == RIDES else 0), stamp):
            return LINK_TWICE
        if walk.record:
            note(p, t, e, up, walk.log)
        here += 1 if up else -1
        state["at"][p] = here
        if here < state["frame"][p] or here >= state["frame"][p] + 2 * walk.lam:
            return OUTSIDE_FRAMES
        if here == state["end"][p]:
            state["does"][p] = ARRIVED
            tally["arrived"][0] += 1
    return FINE


@kernel
def home_moves(n: int, x: int, t: int, step: int, walk: Walk) -> int:
    """Move packets that oscillate at home, after those on boats: to and fro, or deflected back one edge."""
    live, edge, state, stamp, tally = walk.live, walk.edge, walk.state, walk.stamp, walk.tally
    for i in range(n):
        p = live[i]
        if state["does"][p] != WAITS:
            continue
        tally["packet"][0] = p
        home = state["home"][p]
        here = state["at"][p]
        own = state["path"][p] + home
        up = True
        at = own  # the path's edge that it takes
        if x % 2 == 1:
            if here != home:
                return NOT_AT_HOME
            taken = stamp[2 * int(edge[own])]
            if taken >= 2 * step:
                at = way_back(own)
                if taken == 2 * step or at == own:
                    return LINK_TWICE
                up = False
                if at < walk.start[p]:
                    return NO_EDGE_BACK
                walk.hits[p] += 1
        elif here == home + 1:
            up = False
        elif here == home - 1:
            at = own - 1
        else:
            return ASTRAY
        # as for packets on boats; a kernel that both call makes the whole run several times slower
        e = int(edge[at])
        if not use(2 * e + (0 if up else 1), 2 * step, stamp):
            return LINK_TWICE
        if walk.record:
            note(p, t, e, up, walk.log)
        here += 1 if up else -1
        state["at"][p] = here
        low = state["frame"][p]
        if (here < low and home > low) or here >= low + 2 * walk.lam:
            return OUTSIDE_FRAMES
        if here == state["end"][p]:
            state["does"][p] = ARRIVED
            tally["arrived"][0] += 1
    return FINE


@kernel
def simulate_phases(queue: Array, begin: int, walk: Walk) -> int:
    """Run a session that begins at time `begin`; `queue` has its packets by phase and move of entry.

    Phases without packets are skipped.
    """
    phase_of, enter, live = walk.phase, walk.enter, walk.live
    state, stamp, tally = walk.state, walk.stamp, walk.tally
    n = 0
    i = 0
    phase = 0
    while n > 0 or i < len(queue):
        phase = phase + 1 if n > 0 else phase_of[queue[i]]
        t0 = begin + (phase - 1) * walk.tau
        tally["time"][0] = t0
        for q in range(n):
            p = live[q]
            tally["packet"][0] = p
            if state["does"][p] != STAYS:
                return STILL_RIDING
            if state["at"][p] != state["target"][p]:
                return NOT_AT_HOME
            state["home"][p] = state["target"][p]
            code: int = open_phase(p, phase, walk)
            if code != FINE:
                return code
        x = 1
        while x <= walk.tau:
            if n == 0:  # skip to the next packet that enters in this phase
                if i == len(queue) or phase_of[queue[i]] != phase:
                    break
                x = max(x, enter[queue[i]])
                if x > walk.tau:
                    break
            while i < len(queue) and phase_of[queue[i]] == phase and enter[queue[i]] == x:
                p = queue[i]
                tally["packet"][0] = p
                code = open_phase(p, phase, walk)
                if code != FINE:
                    return code
                state["does"][p] = RIDES
                live[n] = p
                n += 1
                i += 1
            tally["time"][0] = t0 + x
            tally["steps"][0] += 1
            tally["moves"][0] += n
            step = 1 + tally["steps"][0] % RENEW
            if step == 1:
                for link in range(len(stamp)):
                    stamp[link] = 0
            code = ride_moves(n, x, t0 + x, step, walk)
            if code == FINE and tally["waiting"][0] > 0:
                code = home_moves(n, x, t0 + x, step, walk)
            if code != FINE:
                return code
            if tally["arrived"][0] > 0:
                m = 0
                for q in range(n):
                    p = live[q]
                    if state["does"][p] == ARRIVED:
                        walk.delivery[p] = t0 + x
                    else:
                        live[m] = p
                        m += 1
                n = m
            x += 1
        if i < len(queue) and phase_of[queue[i]] == phase:
            tally["packet"][0] = queue[i]
            return STILL_OUTSIDE
    return FINE
