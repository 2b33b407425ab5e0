"""Kernels that run the centralized algorithm move by move and refuse whatever it must never do.

Every packet is a row of ``state``; times x are the moves of a phase, from 1 on.  A directed link, edge e up (2e) or
down (2e + 1), carries the stamp of the step in which it was last used: twice the step's number, one more for a boat.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from obliv.kernels import kernel

__all__ = ["Log", "Steps", "simulate_phases"]

Array = Any

# columns of `state`: edge of level 0 of its path, last level; what it does; level; home; target (-1: none);
# first level of its wave's frame; what x must be added to for the level of its boat
PATH, END, DOES, AT, HOME, TARGET, FRAME, BOAT = range(8)
OUTSIDE, RIDES, STAYS, WAITS, ARRIVED = range(5)  # STAYS: oscillates at its target; WAITS: at home, for its boat

# columns of `rule`
(LAM, GAMMA, TAU, BOATS, GAP, WAVES, OVER_OWN_EDGE, LAST_TARGET, EARLY_TARGET, RECORD) = range(10)

# what can go wrong
(
    FINE,
    OUT_OF_GROUP,
    NOT_IN_FRAME,
    EVEN_HOME,
    NOT_AT_HOME,
    NO_COLOUR,
    OFF_ITS_BOAT,
    LINK_TWICE,
    NO_EDGE_BACK,
    ASTRAY,
    OUTSIDE_FRAMES,
    STILL_RIDING,
    STILL_OUTSIDE,
) = range(13)

RENEW = 1 << 29  # steps after which stamps begin anew, to fit in 32 bits


class Log(NamedTuple):
    """Where moves are written down."""

    at: Array  # of every packet: the row of its next move
    end: Array  # of every packet: the row after its last one
    time: Array
    over: Array  # an edge
    rise: Array  # whether upwards


class Steps(NamedTuple):
    """The plan, where everybody is, and what has happened."""

    phase: Array  # of every packet: the phase in which it enters
    enter: Array  # and the move of it
    number: Array  # of every packet: its set, from 1
    first: Array  # of every packet: the first frame of its group
    row: Array  # of every packet: where its phases begin in `colour`; then the end of the last
    colour: Array
    first_edge: Array  # of every packet: where its path begins in `edge`
    edge: Array
    rule: Array
    dilation: int
    live: Array  # the packets in the network
    nth: Array  # of every packet: its phases so far
    state: Array
    stamp: Array  # of every link
    hits: Array  # becomes the deflections of every packet
    delivery: Array  # becomes the time when every packet arrives
    # the packet with which something went wrong, how many arrive in this step, how many wait at home after the moves
    # of boats, the time at which something went wrong, steps made, those of single packets
    tell: Array
    log: Log


@kernel
def use(link: int, mark: int, stamp: Array) -> bool:
    """Take a link in the step with this mark (odd for boats); whether it was still free."""
    free: bool = stamp[link] < mark - (mark & 1)
    stamp[link] = mark
    return free


@kernel
def note(p: int, t: int, e: int, up: bool, log: Log) -> None:
    """Write a move down, as long as there is room."""
    i = log.at[p]
    if i < log.end[p]:
        log.time[i] = t
        log.over[i] = e
        log.rise[i] = up
    log.at[p] = i + 1


@kernel
def open_phase(p: int, phase: int, steps: Steps) -> int:
    """Give a packet its frame, boat and target of this phase; it must be where its wave is."""
    first, row, nth, rule, state = steps.first, steps.row, steps.nth, steps.rule, steps.state
    lam = rule[LAM]
    j = phase - 1 - rule[WAVES] * (steps.number[p] - 1)
    if j < 0 or j >= rule[GAMMA]:
        return OUT_OF_GROUP
    a = (first[p] + j) * lam
    home = state[p, HOME]
    if home < a or home >= a + lam:
        return NOT_IN_FRAME
    if state[p, DOES] != OUTSIDE:
        if (home - a) % 2 != 0:
            return EVEN_HOME
        if state[p, AT] != home:
            return NOT_AT_HOME
        state[p, DOES] = WAITS
    last = j == rule[GAMMA] - 1
    end = state[p, END]
    if last and end >= a + lam:
        return OUT_OF_GROUP
    at = row[p] + nth[p]
    if at >= row[p + 1]:
        return NO_COLOUR
    k = steps.colour[at]
    nth[p] += 1
    state[p, FRAME] = a
    state[p, BOAT] = a - rule[BOATS] * (k - 1) - 1
    state[p, TARGET] = -1
    if not last and (end >= a + lam or rule[EARLY_TARGET]):
        state[p, TARGET] = a + 2 * lam - rule[GAP] * k
    if last and rule[LAST_TARGET]:
        state[p, TARGET] = first[p] * lam + 2 * steps.dilation - 1
    return FINE


@kernel
def ride_moves(n: int, x: int, t: int, step: int, steps: Steps) -> int:
    """The moves of packets on boats and at their targets, of the first `n` that are live."""
    live, edge, rule, state, stamp, tell = steps.live, steps.edge, steps.rule, steps.state, steps.stamp, steps.tell
    tell[1] = 0
    tell[2] = 0
    for i in range(n):
        p = live[i]
        tell[0] = p
        does = state[p, DOES]
        here = state[p, AT]
        boat = state[p, BOAT] + x
        if does == WAITS:
            if boat != state[p, HOME]:
                tell[2] += 1
                continue
            if here != boat:
                return NOT_AT_HOME
            does = RIDES
        up = True
        if does == RIDES:
            if here != boat:
                return OFF_ITS_BOAT
            if state[p, TARGET] >= 0 and here >= state[p, TARGET]:
                does = STAYS
                state[p, TARGET] = here
        if does == STAYS:
            up = x % 2 == 1
            if here != state[p, TARGET] + (0 if up else 1):
                return ASTRAY
        state[p, DOES] = does
        e = int(edge[state[p, PATH] + (here if up else here - 1)])
        if not use(2 * e + (0 if up else 1), 2 * step + (1 if does == RIDES else 0), stamp):
            return LINK_TWICE
        if rule[RECORD]:
            note(p, t, e, up, steps.log)
        here += 1 if up else -1
        state[p, AT] = here
        if here < state[p, FRAME] or here >= state[p, FRAME] + 2 * rule[LAM]:
            return OUTSIDE_FRAMES
        if here == state[p, END]:
            state[p, DOES] = ARRIVED
            tell[1] += 1
    return FINE


@kernel
def home_moves(n: int, x: int, t: int, step: int, steps: Steps) -> int:
    """The moves of packets that oscillate at home, after those of boats: to and fro, or pushed back one edge."""
    live, edge, rule, state, stamp, tell = steps.live, steps.edge, steps.rule, steps.state, steps.stamp, steps.tell
    for i in range(n):
        p = live[i]
        if state[p, DOES] != WAITS:
            continue
        tell[0] = p
        home = state[p, HOME]
        here = state[p, AT]
        own = state[p, PATH] + home
        up = True
        at = own  # the path's edge that it takes
        if x % 2 == 1:
            if here != home:
                return NOT_AT_HOME
            taken = stamp[2 * int(edge[own])]
            if taken >= 2 * step:
                if taken == 2 * step or rule[OVER_OWN_EDGE]:
                    return LINK_TWICE
                at = own - 1
                up = False
                if at < steps.first_edge[p]:
                    return NO_EDGE_BACK
                steps.hits[p] += 1
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
        if rule[RECORD]:
            note(p, t, e, up, steps.log)
        here += 1 if up else -1
        state[p, AT] = here
        low = state[p, FRAME]
        if (here < low and home > low) or here >= low + 2 * rule[LAM]:
            return OUTSIDE_FRAMES
        if here == state[p, END]:
            state[p, DOES] = ARRIVED
            tell[1] += 1
    return FINE


@kernel
def simulate_phases(queue: Array, begin: int, steps: Steps) -> int:
    """Run a session that begins at time `begin`; `queue` has its packets by phase and move of entry.

    Phases in which nobody is there are left out.
    """
    phase_of, enter, live, rule = steps.phase, steps.enter, steps.live, steps.rule
    state, stamp, tell = steps.state, steps.stamp, steps.tell
    n = 0
    i = 0
    phase = 0
    while n > 0 or i < len(queue):
        phase = phase + 1 if n > 0 else phase_of[queue[i]]
        t0 = begin + (phase - 1) * rule[TAU]
        tell[3] = t0
        for q in range(n):
            p = live[q]
            tell[0] = p
            if state[p, DOES] != STAYS:
                return STILL_RIDING
            if state[p, AT] != state[p, TARGET]:
                return NOT_AT_HOME
            state[p, HOME] = state[p, TARGET]
            code: int = open_phase(p, phase, steps)
            if code != FINE:
                return code
        x = 1
        while x <= rule[TAU]:
            if n == 0:  # to the next that enters, if there is one in this phase
                if i == len(queue) or phase_of[queue[i]] != phase:
                    break
                x = max(x, enter[queue[i]])
                if x > rule[TAU]:
                    break
            while i < len(queue) and phase_of[queue[i]] == phase and enter[queue[i]] == x:
                p = queue[i]
                tell[0] = p
                code = open_phase(p, phase, steps)
                if code != FINE:
                    return code
                state[p, DOES] = RIDES
                live[n] = p
                n += 1
                i += 1
            tell[3] = t0 + x
            tell[4] += 1
            tell[5] += n
            step = 1 + tell[4] % RENEW
            if step == 1:
                for link in range(len(stamp)):
                    stamp[link] = 0
            code = ride_moves(n, x, t0 + x, step, steps)
            if code == FINE and tell[2] > 0:
                code = home_moves(n, x, t0 + x, step, steps)
            if code != FINE:
                return code
            if tell[1] > 0:
                m = 0
                for q in range(n):
                    p = live[q]
                    if state[p, DOES] == ARRIVED:
                        steps.delivery[p] = t0 + x
                    else:
                        live[m] = p
                        m += 1
                n = m
            x += 1
        if i < len(queue) and phase_of[queue[i]] == phase:
            tell[0] = queue[i]
            return STILL_OUTSIDE
    return FINE
