"""Change routes as long as their exact worst loads become smaller."""

from __future__ import annotations

import numpy as np

from obliv._util.progress import Progress
from obliv._util.typing import Array
from obliv.fabric.kernels.channel_loads import Switches, bounds_on_all, loads_from, scratch
from obliv.fabric.kernels.layers import Layers
from obliv.fabric.kernels.reroute_search import Rules, State, move_for, search
from obliv.kernels import run

__all__ = ["improve", "moves_within", "steps_of", "worst_loads"]

_ROUNDS = 40
_WARM = 4.0  # tolerance at first, where a channel with the largest load costs 8
_EXACT = 2e9  # steps, some seconds: where all loads take longer, those far below the largest one are bounded
_NEAR = 5  # flows below the largest load that are exact in any case


def worst_loads(switches: Switches, routes: Array) -> Array:
    """Return the worst load of every channel between switches, in units of :attr:`Switches.unit`.

    Exact where this does not take long; else those far below the largest one are upper bounds.
    """
    load = np.zeros(len(switches.tail), np.int64)
    seen = np.zeros((len(switches.tail), len(switches.hosts)), np.bool_)
    run(bounds_on_all, 10.0 * routes.size, switches, routes, seen, load)
    order = np.argsort(-load, kind="stable").astype(np.int64)
    work = _evaluation(switches) * len(load)
    run(loads_from, work, order, _margin(switches, load), switches, routes, scratch(switches), load)
    return load


def _margin(switches: Switches, load: Array) -> int:
    """Return how far below the largest load loads may be bounds; more than any load if all are exact."""
    if _evaluation(switches) * len(load) <= _EXACT:
        return int(load.max(initial=0)) + 1
    return _NEAR * int(switches.unit.max(initial=1))


def moves_within(switches: Switches, steps: float) -> int:
    """Return how many moves some elementary steps are enough for."""
    return max(200, int(steps / steps_of(switches, 1)))


def steps_of(switches: Switches, moves: int) -> float:
    """Return about how many elementary steps some moves take."""
    return 10.0 * moves * _evaluation(switches)


def _evaluation(switches: Switches) -> float:
    """Return about how many steps the load of one channel takes, most of them for the routes behind it."""
    through = len(switches.home) * len(switches.hosts) / max(1, len(switches.tail))
    return len(switches.home) + 3.0 * max(1.0, through) * len(switches.hosts)


def improve(
    switches: Switches, routes: Array, layers: Layers, moves: int, enough: int, seed: int, progress: Progress
) -> tuple[Array, Layers, Array]:
    """Search for routes with smaller worst loads.

    Parameters
    ----------
    switches : Switches
    routes : int32 array, shape (destinations, switches)
    layers : Layers
    moves : int
        The number of moves to try.
    enough : int
        A load that no routes can have less than: the search ends there.
    seed : int
    progress : callable

    Returns
    -------
    routes, layers, load
        The best ones: the smallest largest load, then the fewest channels with it, then the smallest sum of loads.
        Those that were given if the largest load stays: their loads under uniform traffic may be even.
    """
    routes = routes.copy()
    load = worst_loads(switches, routes)
    space, move = scratch(switches), move_for(switches, seed)
    best = start = (_value(load), routes.copy(), layers.of.copy(), load.copy())
    step = int(switches.unit.max(initial=1))
    work = steps_of(switches, moves)  # of all rounds: whether to compile is decided once
    for turn in range(_ROUNDS):
        if best[0][0] <= enough or not len(load):
            break
        progress("local search for smaller worst loads", turn / _ROUNDS)
        worth = np.exp2(3.0 * (1.0 - np.arange(int(load.max()) + 2 * step + 1) // step))
        tolerance = max(0.0, _WARM * (1 - 1.25 * turn / _ROUNDS))
        enough = int(load.max()) - _margin(switches, load)
        rules = Rules(-(-moves // _ROUNDS), tolerance, enough, worth)
        run(search, work, rules, switches, State(routes, load, layers), space, move)
        value = _value(load)
        if value < best[0]:
            best = (value, routes.copy(), layers.of.copy(), load.copy())
    if best[0][0] == start[0][0]:
        best = start
    layers.of[...] = best[2]
    return best[1], layers, best[3]


def _value(load: Array) -> tuple[int, int, int]:
    top = int(load.max(initial=0))
    return top, int((load == top).sum()), int(load.sum())
