"""Kernels: the moves of a centralized plan, written down without stepping."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv.kernels import kernel

# Kernels of the centralized plan: the lowest free color of packets whose paths share edges.
#
# A color is a bit of the masks of edges, 62 colors a word; colors count from 1.


BITS = 62
FULL = (1 << BITS) - 1

DONE, TOO_MANY, TOO_HIGH = 0, 1, 2

FRAMES_AHEAD = 2  # frames over which colors must differ
TARGET_SPACING = 2  # levels between the targets of two colors


class Cells(NamedTuple):
    """Packets by set and group: cell c has the packets ``order[first[c] : first[c + 1]]``."""

    first: Array
    base: Array  # the first level of each cell's group
    order: Array  # packets of a cell by the frame of their source, then by rank
    rank: Array  # of every packet: its place in the order of coloring
    frame: Array  # of every packet: the frame of its source within the group


class Coloring(NamedTuple):
    """Paths, masks, and the colors and homes to be found."""

    start: Array  # of every packet: where its path begins in `edge`; then the end of the last
    edge: Array
    level: Array  # of every packet: where it begins
    lam: int
    paper: bool  # color by all edges in the two frames, not only those ahead
    words: int  # of the mask of an edge
    mask: Array  # zeros
    row: Array  # phase n of packet p, counted from 0, is entry ``row[p] + n`` of `color` and `home`
    phases: Array  # zeros; becomes the phases of every packet
    color: Array  # zeros
    home: Array


class Room(NamedTuple):
    """Space for the packets of the widest cell."""

    live: Array  # the packets that are colored
    new: Array
    picked: Array  # the color of each, and the entries of `edge` that have it
    low: Array
    high: Array


@kernel
def first_free(mask: Array, words: int, edge: Array, low: int, high: int) -> int:
    """Return the lowest color that no edge ``edge[low:high]`` has, 0 if the masks have no color left."""
    for w in range(words):
        taken = 0
        for i in range(low, high):
            taken |= mask[int(edge[i]) * words + w]
            if taken == FULL:
                break
        if taken != FULL:
            k = w * BITS + 1
            while taken & 1:
                taken >>= 1
                k += 1
            return k
    return 0


@kernel
def mark(mask: Array, words: int, edge: Array, low: int, high: int, k: int) -> None:
    """Give the edges ``edge[low:high]`` color k."""
    w = (k - 1) // BITS
    bit = 1 << int((k - 1) % BITS)
    for i in range(low, high):
        mask[int(edge[i]) * words + w] |= bit


@kernel
def wipe(mask: Array, words: int, edge: Array, low: int, high: int, k: int) -> None:
    """Empty the word of color k on the edges ``edge[low:high]``."""
    w = (k - 1) // BITS
    for i in range(low, high):
        mask[int(edge[i]) * words + w] = 0


@kernel
def join(
    frame: int, n: int, upcoming: int, end: int, order: Array, rank: Array, source: Array, live: Array, new: Array
) -> tuple[int, int]:
    """Merge packets with sources up to a frame into the first `n` of `live`, by rank; return both counts."""
    m = 0
    i = 0
    while upcoming < end and source[order[upcoming]] <= frame:
        p = order[upcoming]
        while i < n and rank[live[i]] < rank[p]:
            new[m] = live[i]
            i += 1
            m += 1
        new[m] = p
        m += 1
        upcoming += 1
    while i < n:
        new[m] = live[i]
        i += 1
        m += 1
    for i in range(m):
        live[i] = new[i]
    return m, upcoming


@kernel
def color_frames(cells: Cells, coloring: Coloring, room: Room) -> int:
    """Find colors and homes of all packets in all phases.

    By the paper the vertices of a frame are the set's packets with an edge in it or in the next one, wherever they are,
    and all those edges count; otherwise only packets that are there, and the edges that are still ahead of them.

    Returns DONE, TOO_MANY (colors for the words of the masks) or TOO_HIGH (the color written down last has no target in
    the frame); unless DONE, the masks are no longer clear.
    """
    order, rank, frame, live, new, picked = cells.order, cells.rank, cells.frame, room.live, room.new, room.picked
    lam, paper, words, mask, edge = coloring.lam, coloring.paper, coloring.words, coloring.mask, coloring.edge
    start, level, row, phases, home = coloring.start, coloring.level, coloring.row, coloring.phases, coloring.home
    for c in range(len(cells.base)):
        upcoming = cells.first[c]
        end = cells.first[c + 1]
        n = 0
        j = 0
        while n > 0 or upcoming < end:
            j = j + 1 if n > 0 else frame[order[upcoming]]
            for ahead in range(2 if paper else 1):
                if upcoming < end and frame[order[upcoming]] <= j + ahead:
                    n, upcoming = join(j + ahead, n, upcoming, end, order, rank, frame, live, new)
            a = cells.base[c] + j * lam
            for i in range(n):
                p = live[i]
                to_edge = start[p] - level[p]
                low = level[p]
                if paper:
                    low = max(low, a)
                elif phases[p] > 0:
                    low = home[row[p] + phases[p]]
                low += to_edge
                high = min(start[p + 1], to_edge + a + FRAMES_AHEAD * lam - 1)
                k = first_free(mask, words, edge, low, high)
                if k == 0:
                    return TOO_MANY
                mark(mask, words, edge, low, high, k)
                room.low[i] = low
                room.high[i] = high
                picked[i] = k
            stay = 0
            for i in range(n):
                p = live[i]
                k = picked[i]
                wipe(mask, words, edge, room.low[i], room.high[i], k)
                at = row[p] + phases[p]
                goal = level[p] + start[p + 1] - start[p]
                stops = False
                # some vertices of the paper's graph have not entered yet, some have arrived
                if frame[p] + phases[p] == j and (phases[p] == 0 or home[at] >= 0):
                    coloring.color[at] = k
                    if phases[p] == 0:
                        home[at] = level[p]
                    phases[p] += 1
                    if goal >= a + lam:
                        if TARGET_SPACING * k > lam:
                            return TOO_HIGH
                        target = a + 2 * lam - TARGET_SPACING * k
                        stops = goal > target + 1
                        home[at + 1] = target if stops else -1
                if stops or (paper and (frame[p] > j or goal >= a + lam)):
                    live[stay] = p
                    stay += 1
            n = stay
    return DONE


class Itinerary(NamedTuple):
    """Paths, frames, and the boats of packets: where they wait for them and which deflect them."""

    start: Array  # of every packet: where its path begins in `edge`; then the end of the last
    edge: Array
    level: Array  # of every packet: where it begins
    row: Array  # of every packet: where its phases begin in the next two; then the end of the last
    color: Array
    home: Array
    lam: int
    tau: int
    words: int  # of a row of `hit`, and of an edge of the masks
    hit: Array  # bit k of the words of a row: boat k + 1 deflects the packet in this phase


class Runs(NamedTuple):
    """Runs of steps over one edge, to and fro."""

    time: Array  # of the first move
    over: Array  # the edge
    up: Array  # whether the first move is upwards
    more: Array  # moves after the first


@kernel
def find_hits(
    cell: Array, rows: Array, owner: Array, first: Array, a: Array, mask: Array, itinerary: Itinerary
) -> None:
    """Find the boats that deflect every packet; `hit` holds zeros.

    Cell c, one set in one frame whose first level is ``a[c]``, has the rows ``rows[cell[c]:cell[c + 1]]``.  Row r is
    of packet ``owner[r]``; it begins the phase at home where ``first[r]`` is 0.  Boat k deflects it if it comes before
    its own boat and carries a packet over its oscillation edge.
    """
    start, edge, level, color, home = itinerary.start, itinerary.edge, itinerary.level, itinerary.color, itinerary.home
    lam, words, hit = itinerary.lam, itinerary.words, itinerary.hit
    for c in range(len(a)):
        for step in range(3):
            for i in range(cell[c], cell[c + 1]):
                r = rows[i]
                p = owner[r]
                to_edge = start[p] - level[p]
                high = min(start[p + 1], to_edge + a[c] + lam)
                if step == 0:
                    mark(mask, words, edge, to_edge + home[r], high, color[r])
                elif step == 2:
                    wipe(mask, words, edge, to_edge + home[r], high, color[r])
                elif first[r] == 0:
                    k = int(color[r]) - 1  # colors below its own are the bits below this one
                    at = int(edge[to_edge + home[r]]) * words
                    for w in range(k // BITS + 1):
                        below = mask[at + w]
                        if w == k // BITS:
                            below &= (1 << (k % BITS)) - 1
                        hit[r * words + w] = below


@kernel
def count_moves(itinerary: Itinerary, many: Array) -> int:
    """Count the rows that every packet's moves take; return the number of deflections."""
    start, row, color, home = itinerary.start, itinerary.row, itinerary.color, itinerary.home
    lam, words, hit = itinerary.lam, itinerary.words, itinerary.hit
    deflections = 0
    for p in range(len(many)):
        rows = start[p + 1] - start[p]
        for r in range(row[p] + 1, row[p + 1]):
            x = 0  # a run of oscillation is open since the stop before
            for k in range(1, color[r]):
                if (hit[r * words + (k - 1) // BITS] >> ((k - 1) % BITS)) & 1:
                    deflections += 1
                    boat = home[r] % lam + 4 * k - 3
                    rows += 2 if boat > x else 1
                    x = boat + 2
            if home[r] % lam + 4 * color[r] - 3 > x:
                rows += 1
        many[p] = rows
    return deflections


@kernel
def write(out: int, since: int, edge: int, up: bool, more: int, runs: Runs) -> None:
    """Write a row."""
    runs.time[out] = since
    runs.over[out] = edge
    runs.up[out] = up
    runs.more[out] = more


@kernel
def write_moves(clock: Array, at: Array, itinerary: Itinerary, runs: Runs) -> None:
    """Write the moves of packet p from row ``at[p]`` on; its first phase begins at time ``clock[p]``.

    Oscillation at a stop and before the ride of the next phase is one run, unless a boat deflects the packet.
    """
    start, edge, level, row, color, home, lam, tau, words, hit = itinerary
    for p in range(len(clock)):
        to_edge = start[p] - level[p]
        out = at[p]
        t0 = clock[p]  # all of a phase's times count from here
        since = t0
        for r in range(row[p], row[p + 1]):
            here = home[r]
            board = t0 + here % lam + 4 * color[r] - 3
            if r > row[p]:
                for k in range(1, color[r]):
                    if (hit[r * words + (k - 1) // BITS] >> ((k - 1) % BITS)) & 1:
                        t = t0 + here % lam + 4 * k - 3
                        if t > since:
                            write(out, since, edge[to_edge + here], True, t - since - 1, runs)
                            out += 1
                        write(out, t, edge[to_edge + here - 1], False, 1, runs)
                        out += 1
                        since = t + 2
                if board > since:
                    write(out, since, edge[to_edge + here], True, board - since - 1, runs)
                    out += 1
            stop = start[p + 1] - to_edge
            if r + 1 < row[p + 1]:
                stop = home[r + 1]
            for here in range(home[r], stop):
                write(out, board + here - home[r], edge[to_edge + here], True, 0, runs)
                out += 1
            since = board + stop - home[r]
            t0 += tau


# Kernels: the centralized algorithm move by move, with every rule checked.
#
# Times x are the moves of a phase, from 1 on. A directed link, edge e up (2e) or down (2e + 1), carries the stamp of
# the step in which it was last used: twice the step's number, one more for a boat.


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


class WalkLog(NamedTuple):
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
    log: WalkLog


@kernel
def use(link: int, mark: int, stamp: Array) -> bool:
    """Take a link in the step with this mark (odd for boats); return whether it was free."""
    free: bool = stamp[link] < mark - (mark & 1)
    stamp[link] = mark
    return free


@kernel
def note(p: int, t: int, e: int, up: bool, log: WalkLog) -> None:
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
