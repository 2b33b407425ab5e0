"""Put routes on layers that are free of cycles, within a number of them."""

from __future__ import annotations

import numpy as np

from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.fabric.kernels.channel_loads import Switches
from obliv.fabric.kernels.layers import NO_LAYER, Layers, assign_layers, layers_for
from obliv.kernels import run

__all__ = ["by_destination", "fewest_layers", "on_layers"]

_ORDERS = 4  # random orders of destinations that are tried


def on_layers(switches: Switches, routes: Array, spare: Array, height: Array, most: int, seed: int = 0) -> Layers:
    """Put all routes on at most some layers; routes that fit nowhere are replaced.

    Parameters
    ----------
    switches : Switches
    routes : int32 array, shape (destinations, switches)
        Changed.
    spare : int32 array, shape (destinations, switches)
        Routes that go up, then down.
    height : int array, shape (switches,)
        The order of the switches in which `spare` goes up and down.
    most : int
        The number of layers.
    seed : int
        For the order of the destinations.

    Notes
    -----
    Routes that go up and then down close no cycle together. So when routes do not fit, all turns of this kind are
    reserved on layer 0 first, and destinations whose routes fit nowhere take those of `spare` there.
    """
    ports = int(np.diff(switches.first).max(initial=1))
    require_memory(4.0 * most * len(switches.tail) * ports, "the dependencies of channels on all layers")
    order = np.random.default_rng(seed).permutation(len(routes))
    work = 200.0 * routes.size
    layers = layers_for(switches, most)
    if not run(assign_layers, work, order, False, switches, routes, spare[:0], layers):
        return layers
    layers = layers_for(switches, most)
    legal = _legal_turns(switches, height)
    layers.turns[0] += legal
    run(assign_layers, work, order, False, switches, routes, spare, layers)
    layers.turns[0] -= legal
    return layers


def by_destination(switches: Switches, routes: Array, most: int) -> Layers | None:
    """Put all routes to a destination on one layer; None if this does not succeed within some layers."""
    for seed in range(_ORDERS):
        order = np.random.default_rng(seed).permutation(len(routes))
        layers = layers_for(switches, most)
        if not run(assign_layers, 200.0 * routes.size, order, True, switches, routes, routes[:0], layers):
            return layers
    return None


def fewest_layers(switches: Switches, routes: Array, layers: Layers) -> Layers:
    """Return layers of the same routes that a policy of few rules describes, or fewer of them."""
    used = np.unique(layers.of[layers.of != NO_LAYER])
    return by_destination(switches, routes, max(1, len(used))) or layers


def _legal_turns(switches: Switches, height: Array) -> Array:
    """Return 1 for the turns of routes that go up and then down, as :attr:`Layers.turns` has them."""
    ports = int(np.diff(switches.first).max(initial=1))
    legal = np.zeros((len(switches.tail), ports), np.int32)
    up = height[switches.head] > height[switches.tail]
    for c, head in enumerate(switches.head.tolist()):
        begin, end = switches.first[head : head + 2].tolist()
        legal[c, : end - begin] = up[c] | ~up[begin:end]
    return legal
