"""Kernel: local search for forwarding tables with a smaller worst load, on layers that stay free of cycles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.typing import Array
from obliv.fabric.kernels.channel_loads import Scratch, Switches, behind, load_on
from obliv.fabric.kernels.layers import Layers, add_route, remove_route
from obliv.kernels import kernel

__all__ = ["Move", "Rules", "State", "move_for", "search"]

_MODULUS = 2147483647  # of the Lehmer generator, which is the same interpreted and compiled
_FACTOR = 48271
_LONGER = 2  # channels by which a route may grow in one move


class Rules(NamedTuple):
    """Which moves are tried and kept.

    Parameters
    ----------
    moves : int
        The number of moves to try.
    tolerance : float
        By how much the sum of the worth of all loads may grow in a move.
    enough : int
        Loads up to this may be bounds, as :func:`~obliv.fabric.kernels.channel_loads.load_on` returns them.
    worth : float array
        The cost of a load that is so much below the largest one allowed; moves to larger loads are refused.  Its
        entries are powers of two, so that sums are the same interpreted and compiled.
    """

    moves: int
    tolerance: float
    enough: int
    worth: Array


class State(NamedTuple):
    """Routes, with shape (destinations, switches), the loads of channels and the layers; all change."""

    routes: Array
    load: Array
    layers: Layers


class Move(NamedTuple):
    """Space of a move, and the state of the random generator."""

    some: Array
    senders: Array
    layer: Array
    touched: Array
    load: Array
    side: Array
    chance: Array


def move_for(switches: Switches, seed: int) -> Move:
    """Return the space of a move."""
    count, channels = len(switches.hosts), len(switches.tail)
    return Move(
        some=np.zeros(max(channels, len(switches.home), count), np.int32),
        senders=np.zeros(count, np.int32),
        layer=np.zeros(count, np.uint8),
        touched=np.zeros(channels + count, np.int32),
        load=np.zeros(channels + count, np.int64),
        side=np.zeros(count, np.int8),
        chance=np.array([seed % (_MODULUS - 1) + 1], np.int64),
    )


@kernel
def _draw(count: int, chance: Array) -> int:
    """Return a random number below `count`."""
    chance[0] = chance[0] * _FACTOR % _MODULUS
    return int(chance[0] % count)


@kernel
def _pick(value: int, array: Array, some: Array, chance: Array) -> int:
    """Return a random index where an array has a value, -1 for none."""
    n = 0
    for i in range(len(array)):
        if array[i] == value:
            some[n] = i
            n += 1
    return int(some[_draw(n, chance)]) if n > 0 else -1


@kernel
def _collect(at: int, start: int, goal: int, route: Array, head: Array, touched: Array) -> int:
    """Append the channels of a route to `touched` from `start` on, except those that are there; return their number."""
    n = start
    while at != goal:
        c = route[at]
        known = False
        for i in range(n):
            if touched[i] == c:
                known = True
        if not known:
            touched[n] = c
            n += 1
        at = head[c]
    return n


@kernel
def _unlayer(d: int, switches: Switches, state: State, move: Move) -> int:
    """Take the routes of the senders on one side off their layers; list the senders and layers, and count them."""
    route, layers = state.routes[d], state.layers
    n = 0
    for u in range(len(switches.hosts)):
        if move.side[u] == 1 and switches.hosts[u] > 0:
            move.senders[n] = u
            move.layer[n] = layers.of[d, u]
            n += 1
            remove_route(layers.of[d, u], u, switches.home[d], route, switches, layers)
    return n


@kernel
def _relayer(n: int, d: int, switches: Switches, state: State, move: Move) -> bool:
    """Put the changed routes of n senders on layers, their own if possible; if one fits nowhere, on none."""
    route, layers, goal = state.routes[d], state.layers, switches.home[d]
    of = layers.of
    for i in range(n):
        u = move.senders[i]
        layer = int(move.layer[i])
        fits = add_route(layer, u, goal, route, switches, layers)
        if not fits:
            for other in range(len(layers.turns)):
                if other != move.layer[i] and add_route(other, u, goal, route, switches, layers):
                    layer = other
                    fits = True
                    break
        if not fits:
            for j in range(i):
                remove_route(of[d, move.senders[j]], move.senders[j], goal, route, switches, layers)
            return False
        of[d, u] = layer
    return True


@kernel
def _reload(n: int, limit: int, rules: Rules, switches: Switches, state: State, space: Scratch, move: Move) -> float:
    """Compute the loads of n touched channels anew; return what the change costs, infinity if one exceeds the limit."""
    load = state.load
    cost = 0.0
    for i in range(n):
        c = move.touched[i]
        move.load[i] = load[c]
        load[c] = load_on(c, rules.enough, switches, state.routes, space)
        if load[c] > limit:
            for j in range(i + 1):
                load[move.touched[j]] = move.load[j]
            return np.inf
        cost += rules.worth[limit - load[c]] - rules.worth[limit - move.load[i]]
    return cost


@kernel
def search(rules: Rules, switches: Switches, state: State, space: Scratch, move: Move) -> int:
    """Change routes at random near the most loaded channels, and keep changes that make loads smaller.

    A move takes a destination whose routes use a most loaded channel, and a switch on one of these routes up to that
    channel; the switch then forwards packets for this destination over another channel.  Loads of the channels on the
    old and the new route are computed anew.  The sum of the worth of all loads may grow by the tolerance at most
    (threshold accepting).

    Returns
    -------
    int
        The number of changes kept.
    """
    tail, head, first = switches.tail, switches.head, switches.first
    routes, load, layers = state.routes, state.load, state.layers
    tolerance = rules.tolerance
    kept = 0
    limit = load.max() + switches.unit.max()
    for _ in range(rules.moves):
        top = load.max()
        hot = _pick(top, load, move.some, move.chance)
        at = tail[hot]
        d = _pick(hot, routes[:, at], move.some, move.chance)
        if d < 0:
            continue
        goal = switches.home[d]
        route = routes[d]
        y = at
        if _draw(5, move.chance) > 2:
            behind(at, goal, route, head, move.side, space.path)
            y = _pick(1, move.side, move.some, move.chance)
        behind(y, goal, route, head, move.side, space.path)
        new = first[y] + _draw(first[y + 1] - first[y], move.chance)
        old = route[y]
        far = head[new]
        if new == old or move.side[far] == 1 or (far != goal and route[far] < 0):
            continue
        before = _collect(y, 0, goal, route, head, move.touched)
        move.touched[before] = new
        n = _collect(far, before + 1, goal, route, head, move.touched)
        after = 1
        x = far
        while x != goal:
            x = head[route[x]]
            after += 1
        if after > before + _LONGER:
            continue
        senders = _unlayer(d, switches, state, move)
        route[y] = new
        if _relayer(senders, d, switches, state, move):
            cost = _reload(n, limit, rules, switches, state, space, move)
            if cost <= tolerance and (cost < 0 or after <= before or tolerance > 0):
                kept += 1
                limit = load.max() + switches.unit.max()
                continue
            if cost < np.inf:
                for i in range(n):
                    load[move.touched[i]] = move.load[i]
            for i in range(senders):
                u = move.senders[i]
                remove_route(layers.of[d, u], u, goal, route, switches, layers)
        route[y] = old
        for i in range(senders):
            u = move.senders[i]
            layers.of[d, u] = move.layer[i]
            add_route(np.int64(move.layer[i]), u, goal, route, switches, layers)
    return kept
