"""Kernels: routes put on layers, so that the channels of each layer wait for each other in no cycle."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.typing import Array
from obliv.fabric.kernels.channel_loads import Switches
from obliv.kernels import kernel

__all__ = ["NO_LAYER", "Layers", "add_route", "assign_layers", "layers_for", "remove_route"]

NO_LAYER = 255  #: The layer of pairs that have none.


class Layers(NamedTuple):
    """Layers of routes, and how many routes of a layer take one channel right after another.

    Parameters
    ----------
    of : uint8 array, shape (destinations, switches)
        The layer of packets from a switch to a destination.
    turns : int32 array, shape (layers, channels, ports)
        Routes that take channel c, then the p-th channel of the switch where it ends.
    stack, seen : int32 and int64 arrays, shape (channels,)
        Space of the search for cycles.
    stamp : int64 array, shape (1,)
        The number of searches so far.
    """

    of: Array
    turns: Array
    stack: Array
    seen: Array
    stamp: Array


def layers_for(switches: Switches, layers: int) -> Layers:
    """Return a number of layers without routes."""
    channels, ports = len(switches.tail), int(np.diff(switches.first).max(initial=1))
    return Layers(
        of=np.full((len(switches.home), len(switches.hosts)), NO_LAYER, np.uint8),
        turns=np.zeros((layers, channels, ports), np.int32),
        stack=np.zeros(channels, np.int32),
        seen=np.zeros(channels, np.int64),
        stamp=np.zeros(1, np.int64),
    )


@kernel
def _leads_to(layer: int, start: int, goal: int, switches: Switches, layers: Layers) -> bool:
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
def remove_route(layer: int, source: int, goal: int, route: Array, switches: Switches, layers: Layers) -> None:
    """Take the route from a switch to a destination off a layer."""
    head, first, turns = switches.head, switches.first, layers.turns
    c = route[source]
    while head[c] != goal:
        after = route[head[c]]
        turns[layer, c, after - first[head[c]]] -= 1
        c = after


@kernel
def add_route(layer: int, source: int, goal: int, route: Array, switches: Switches, layers: Layers) -> bool:
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
def _add_all(layer: int, d: int, switches: Switches, routes: Array, layers: Layers) -> bool:
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
def _add_each(d: int, switches: Switches, routes: Array, layers: Layers) -> bool:
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
def _remove_all(end: int, d: int, switches: Switches, routes: Array, layers: Layers) -> None:
    """Take the routes of the switches before `end` to a destination off their layers."""
    of = layers.of
    for u in range(end):
        if of[d, u] != NO_LAYER:
            remove_route(np.int64(of[d, u]), u, switches.home[d], routes[d], switches, layers)
            of[d, u] = NO_LAYER


@kernel
def assign_layers(order: Array, whole: bool, switches: Switches, routes: Array, spare: Array, layers: Layers) -> int:
    """Put all routes on layers, each on the first that stays free of cycles.

    Parameters
    ----------
    order : int array, shape (destinations,)
        Destinations, in the order in which they are put on layers.
    whole : bool
        Whether all routes to a destination take one layer.
    switches : Switches
    routes : int32 array, shape (destinations, switches)
        Replaced by those of `spare`, on layer 0, where they fit on no layer.
    spare : int32 array, shape (destinations or 0, switches)
        Routes that never close a cycle on layer 0, since its turns contain all that they can do there. If there are
        none, destinations whose routes do not fit have no layer.
    layers : Layers

    Returns
    -------
    int
        The number of destinations whose routes do not fit.
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
