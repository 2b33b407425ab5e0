"""Kernels that fill forwarding tables up and down over ranked switches."""

from __future__ import annotations

from typing import Any

import numpy as np

from obliv.kernels import kernel


@kernel
def fill_tables(
    order: Any,
    first_up: Any,
    up_to: Any,
    up_port: Any,
    first_down: Any,
    down_to: Any,
    down_port: Any,
    ideal: Any,
    size: Any,
    shift: Any,
    level: Any,
    home: Any,
    home_port: Any,
    want: Any,
    step: Any,
    out: Any,
) -> None:
    """Ports of all switches for destinations that are sorted by the switch where they are.

    A packet climbs until a way down leads to its destination's switch and then comes down, by the fewest hops each
    time.  Of several ports the one wanted is taken, where it is one of them.  Else one whose number in the tree is some
    steps further, or where there is none the one that was least often taken for such want.

    Parameters
    ----------
    order : int32 array, shape (switches,)
        Switches, highest first.
    first_up, up_to, up_port, first_down, down_to, down_port : int arrays
        Neighbours above and below, and the ports that lead there: those of v from ``first_up[v]`` on.
    ideal : uint8 array, shape (switches, most)
        Ports upwards by their number in the tree, 0 where one is missing.
    size, shift, level : int32 arrays, shape (switches,)
        The number of `ideal` ports (0: none), what is added to what is wanted, the row of `want`.
    home, home_port : int32 arrays, shape (columns,)
        The switch of every destination and its port there.
    want : int32 array, shape (levels, columns)
        The number of the port that is wanted, before the shift; downwards that of one of parallel cables.
    step : int
        How far to go on from a port that is missing, 0 for not at all.
    out : uint8 array, shape (switches, columns)
        Filled in; 255 where no way leads.
    """
    switches = len(order)
    down = np.full(switches, -1, np.int32)
    hops = np.full(switches, -1, np.int32)
    extra_up = np.zeros(len(up_to), np.int32)
    extra_down = np.zeros(len(down_to), np.int32)
    queue = np.empty(switches, np.int32)
    before = -1
    for column in range(len(home)):
        goal = home[column]
        if goal != before:
            before = goal
            for v in range(switches):
                down[v] = -1
                hops[v] = -1
            down[goal] = 0
            queue[0] = goal
            head, tail = 0, 1
            while head < tail:
                v = queue[head]
                head += 1
                for e in range(first_up[v], first_up[v + 1]):
                    w = up_to[e]
                    if down[w] < 0:
                        down[w] = down[v] + 1
                        queue[tail] = w
                        tail += 1
            for v in order:
                hops[v] = down[v]
                if down[v] < 0:
                    for e in range(first_up[v], first_up[v + 1]):
                        far = hops[up_to[e]]
                        if far >= 0 and (hops[v] < 0 or far + 1 < hops[v]):
                            hops[v] = far + 1
        for v in range(switches):
            wanted = want[level[v], column]
            if v == goal:
                out[v, column] = home_port[column]
            elif hops[v] < 0:
                out[v, column] = 255
            elif down[v] >= 0:
                best = -1
                fits = 0
                for e in range(first_down[v], first_down[v + 1]):
                    if down[down_to[e]] == down[v] - 1:
                        fits += 1
                        if best < 0 or extra_down[e] < extra_down[best]:
                            best = e
                if fits > 1 and size[v] >= 0:
                    chosen = wanted % fits
                    for e in range(first_down[v], first_down[v + 1]):
                        if down[down_to[e]] == down[v] - 1:
                            if chosen == 0:
                                best = e
                            chosen -= 1
                extra_down[best] += 1
                out[v, column] = down_port[best]
            else:
                best = -1
                hit = False
                if size[v] > 0:
                    number = (wanted + shift[v]) % size[v]
                    for _ in range(size[v]):
                        port = ideal[v, number]
                        for e in range(first_up[v], first_up[v + 1]):
                            if up_port[e] == port and hops[up_to[e]] >= 0 and hops[up_to[e]] == hops[v] - 1:
                                best = e
                                hit = True
                        if hit or step == 0:
                            break
                        number = (number + step) % size[v]
                if not hit:
                    for e in range(first_up[v], first_up[v + 1]):
                        far = hops[up_to[e]]
                        if far >= 0 and far == hops[v] - 1 and (best < 0 or extra_up[e] < extra_up[best]):
                            best = e
                    extra_up[best] += 1
                out[v, column] = up_port[best]
