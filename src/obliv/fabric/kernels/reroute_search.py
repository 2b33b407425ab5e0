"""Kernels: local search for tables with a smaller worst load, and routes put on layers that stay free of cycles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv.fabric.kernels.channel_loads import BEHIND, Scratch, Switches, behind, load_on
from obliv.kernels import kernel

# Kernels: routes put on layers, so that the channels of each layer wait for each other in no cycle


NO_LAYER = 255  #: The layer of pairs that have none.


class RouteLayers(NamedTuple):
    """Layers of routes, and how many routes of a layer take one channel right after another."""

    of: Array  # uint8, shape (destinations, switches); the layer of packets from a switch to a destination
    # turns: int32, shape (layers, channels, ports); routes that take channel c, then the p-th channel of the switch
    # where it ends
    turns: Array
    # stack, seen: int32 and int64, shape (channels,); space of the search for cycles
    stack: Array
    seen: Array
    stamp: Array  # int64, shape (1,); the number of searches so far


def layers_for(switches: Switches, layers: int) -> RouteLayers:
    """Return a number of layers without routes."""
    channels, ports = len(switches.tail), int(np.diff(switches.first).max(initial=1))
    return RouteLayers(
        of=np.full((len(switches.home), len(switches.hosts)), NO_LAYER, np.uint8),
        turns=np.zeros((layers, channels, ports), np.int32),
        stack=np.zeros(channels, np.int32),
        seen=np.zeros(channels, np.int64),
        stamp=np.zeros(1, np.int64),
    )


@kernel
def _leads_to(layer: int, start: int, goal: int, switches: Switches, layers: RouteLayers) -> bool:
    """Return whether a channel waits, directly or not, for another one on a layer."""
    if start == goal:
        return True
    head, first, turns, stack, seen = switches.head, switches.first, layers.turns, layers.stack, layers.seen
    layers.stamp[0] += 1
    stamp = layers.stamp[0]
    seen[start] = stamp
    stack[0] = start
    n = 1
    while n > 0:
        n -= 1
        c = stack[n]
        begin = first[head[c]]
        for p in range(first[head[c] + 1] - begin):
            if turns[layer, c, p] > 0:
                if begin + p == goal:
                    return True
                if seen[begin + p] != stamp:
                    seen[begin + p] = stamp
                    stack[n] = begin + p
                    n += 1
    return False


@kernel
def remove_route(layer: int, source: int, goal: int, route: Array, switches: Switches, layers: RouteLayers) -> None:
    """Take the route from a switch to a destination off a layer."""
    head, first, turns = switches.head, switches.first, layers.turns
    c = route[source]
    while head[c] != goal:
        after = route[head[c]]
        turns[layer, c, after - first[head[c]]] -= 1
        c = after


@kernel
def add_route(layer: int, source: int, goal: int, route: Array, switches: Switches, layers: RouteLayers) -> bool:
    """Put a route on a layer unless this closes a cycle; return whether it is there."""
    head, first, turns = switches.head, switches.first, layers.turns
    c = route[source]
    added = 0
    while head[c] != goal:
        after = route[head[c]]
        p = after - first[head[c]]
        if turns[layer, c, p] == 0 and _leads_to(layer, after, c, switches, layers):
            c = route[source]
            for _ in range(added):
                after = route[head[c]]
                turns[layer, c, after - first[head[c]]] -= 1
                c = after
            return False
        turns[layer, c, p] += 1
        added += 1
        c = after
    return True


@kernel
def _add_all(layer: int, d: int, switches: Switches, routes: Array, layers: RouteLayers) -> bool:
    """Put all routes to a destination on one layer unless this closes a cycle; return whether they are there."""
    goal, hosts, of = switches.home[d], switches.hosts, layers.of
    for u in range(len(hosts)):
        of[d, u] = NO_LAYER
        if hosts[u] > 0 and u != goal and routes[d, u] >= 0:
            if not add_route(layer, u, goal, routes[d], switches, layers):
                _remove_all(u, d, switches, routes, layers)
                return False
            of[d, u] = layer
    return True


@kernel
def _add_each(d: int, switches: Switches, routes: Array, layers: RouteLayers) -> bool:
    """Put each route to a destination on the first layer without a cycle; return whether all have one."""
    goal, hosts, of = switches.home[d], switches.hosts, layers.of
    for u in range(len(hosts)):
        of[d, u] = NO_LAYER
        if hosts[u] > 0 and u != goal and routes[d, u] >= 0:
            for layer in range(len(layers.turns)):
                if add_route(layer, u, goal, routes[d], switches, layers):
                    of[d, u] = layer
                    break
            if of[d, u] == NO_LAYER:
                _remove_all(u, d, switches, routes, layers)
                return False
    return True


@kernel
def _remove_all(end: int, d: int, switches: Switches, routes: Array, layers: RouteLayers) -> None:
    """Take the routes of the switches before `end` to a destination off their layers."""
    of = layers.of
    for u in range(end):
        if of[d, u] != NO_LAYER:
            remove_route(np.int64(of[d, u]), u, switches.home[d], routes[d], switches, layers)
            of[d, u] = NO_LAYER


@kernel
def assign_layers(
    order: Array, whole: bool, switches: Switches, routes: Array, spare: Array, layers: RouteLayers
) -> int:
    """Put all routes on layers, each on the first that stays free of cycles; return how many destinations do not fit.

    With `whole`, all routes to a destination take one layer.  Those that fit on none are replaced by those of `spare`,
    on layer 0, where they never close a cycle, since its turns contain all that they can do there; without spare ones
    they have no layer.
    """
    failures = 0
    for i in range(len(order)):
        d = order[i]
        fits = False
        if whole:
            layer = 0
            while not fits and layer < len(layers.turns):
                fits = _add_all(layer, d, switches, routes, layers)
                layer += 1
        else:
            fits = _add_each(d, switches, routes, layers)
        if not fits:
            failures += 1
            if len(spare) > 0:
                routes[d] = spare[d]
                _add_all(0, d, switches, routes, layers)
    return failures


_MODULUS = 2147483647  # of the Lehmer generator, which is the same interpreted and compiled
_FACTOR = 48271
_LONGER = 2  # channels by which a route may grow in one move
_OF, _NEAR = 5, 3  # of so many moves, this many are at the switch before the most loaded channel


class SearchRules(NamedTuple):
    """Which moves are tried and kept."""

    moves: int  # the number of moves to try
    tolerance: float  # by how much the sum of the worth of all loads may grow in a move
    enough: int  # loads up to this may be bounds, as :func:`~obliv.fabric.kernels.channel_loads.load_on` returns them
    # worth: float; the cost of a load that is so much below the largest one allowed; moves to larger loads are refused.
    # Its entries are powers of two, so that sums are the same interpreted and compiled.
    worth: Array


class RouteState(NamedTuple):
    """Routes, with shape (destinations, switches), the loads of channels and the layers; all change."""

    routes: Array
    load: Array
    layers: RouteLayers


class SearchMove(NamedTuple):
    """Space of a move, and the state of the random generator."""

    some: Array
    senders: Array
    layer: Array
    touched: Array
    load: Array
    side: Array
    chance: Array


def move_for(switches: Switches, seed: int) -> SearchMove:
    """Return the space of a move."""
    count, channels = len(switches.hosts), len(switches.tail)
    return SearchMove(
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
def _unlayer(d: int, switches: Switches, state: RouteState, move: SearchMove) -> int:
    """Take the routes of the senders on one side off their layers; list the senders and layers, and count them."""
    route, layers = state.routes[d], state.layers
    n = 0
    for u in range(len(switches.hosts)):
        if move.side[u] == BEHIND and switches.hosts[u] > 0:
            move.senders[n] = u
            move.layer[n] = layers.of[d, u]
            n += 1
            remove_route(layers.of[d, u], u, switches.home[d], route, switches, layers)
    return n


@kernel
def _relayer(n: int, d: int, switches: Switches, state: RouteState, move: SearchMove) -> bool:
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
def _reload(
    n: int, limit: int, rules: SearchRules, switches: Switches, state: RouteState, space: Scratch, move: SearchMove
) -> float:
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
def search(rules: SearchRules, switches: Switches, state: RouteState, space: Scratch, move: SearchMove) -> int:
    """Change routes at random near the most loaded channels, keep changes that make loads smaller, and count them."""
    # A move takes a destination whose routes use a most loaded channel, and a switch on one of these routes up to that
    # channel; the switch then forwards packets for this destination over another channel.  Loads of the channels on the
    # old and the new route are computed anew.  The sum of the worth of all loads may grow by the tolerance at most
    # (threshold accepting).
    tail, head, first = switches.tail, switches.head, switches.first
    routes, load, layers = state.routes, state.load, state.layers
    tolerance = rules.tolerance
    kept = 0
    limit = load.max() + switches.unit.max()
    for _ in range(rules.moves):
        # a most loaded channel, a destination of it, and a switch whose packets for it cross the channel
        top = load.max()
        hot = _pick(top, load, move.some, move.chance)
        at = tail[hot]
        d = _pick(hot, routes[:, at], move.some, move.chance)
        if d < 0:
            continue
        goal = switches.home[d]
        route = routes[d]
        y = at
        if _draw(_OF, move.chance) >= _NEAR:
            behind(at, goal, route, head, move.side, space.path)
            y = _pick(BEHIND, move.side, move.some, move.chance)
        # another channel of the switch, from which packets do not come back
        behind(y, goal, route, head, move.side, space.path)
        new = first[y] + _draw(first[y + 1] - first[y], move.chance)
        old = route[y]
        far = head[new]
        if new == old or move.side[far] == BEHIND or (far != goal and route[far] < 0):
            continue
        # the channels of the old and the new route, whose loads change
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
        # the move stays if its routes fit on layers, and it costs little
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
        # else all is as before
        route[y] = old
        for i in range(senders):
            u = move.senders[i]
            layers.of[d, u] = move.layer[i]
            add_route(np.int64(move.layer[i]), u, goal, route, switches, layers)
    return kept
