"""Weights in multiples of 1/Q: rounded within the optimization, then improved on the exact loads."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from scipy.optimize import linear_sum_assignment

from obliv._util.typing import Array
from obliv.designs.few_paths.family import Family, Master, Support
from obliv.designs.units import relative_speeds

__all__ = ["improved", "largest_remainder", "quantized"]

_WORK = 400_000  # rows of all linear programs together
_STEPS = 10_000  # moves of one unit that are tried
_PATIENCE = 1000  # moves without a lower worst case after which the search ends


def quantized(master: Master, weights: list[Array], parts: int) -> list[list[int]]:
    """Return whole weights that add up to `parts`: pairs are rounded one after another, the others optimized again.

    Then some pairs at a time are freed and rounded once more, as long as this lowers the worst case.

    Parameters
    ----------
    master : Master
    weights : list of float arrays
        The best weights of every pair.
    parts : int
    """
    rng = np.random.default_rng(0)
    everything = np.ones(len(weights), bool)
    solutions = max(6, min(120, _WORK // master.matrix.shape[0]))
    batches = max(4, min(len(weights), solutions // 4))
    best, load = _rounded(master, [np.array([]) for _ in weights], everything, weights, parts, batches)
    solutions -= batches
    while solutions > 0:
        free = rng.random(len(weights)) < 0.3
        trial, trial_load = _rounded(master, best, free, None, parts, 3)
        solutions -= 4
        if trial_load < load + 1e-9:
            best, load = trial, trial_load
    return [[int(unit) for unit in units] for units in best]


def _rounded(
    master: Master, units: list[Array], free: Array, weights: list[Array] | None, parts: int, batches: int
) -> tuple[list[Array], float]:
    """Return whole weights, those of some pairs rounded again, and the load."""
    units, free = list(units), free.copy()
    for batch in range(batches, -1, -1):
        if weights is None:
            optimum = master.solve(
                master.cost(1, 0.0), [None if loose else own / parts for own, loose in zip(units, free, strict=True)]
            )
            weights = master.weights(optimum)
            load = float(optimum.columns[-1])
        if not free.any():
            break
        away = [np.abs(own * parts - np.rint(own * parts)).max() for own in weights]
        order = [k for k in np.argsort(away, kind="stable").tolist() if free[k]]
        for k in order[: -(-len(order) // max(batch, 1))]:
            units[k], free[k] = np.array(largest_remainder(weights[k], parts)), False
        weights = None
    return units, load


def largest_remainder(weights: Array, parts: int) -> list[int]:
    """Return whole parts in proportion to weights."""
    exact = weights / weights.sum() * parts
    units = np.floor(exact).astype(np.int64)
    order = np.argsort(units - exact, kind="stable")
    units[order[: parts - int(units.sum())]] += 1
    return [int(unit) for unit in units]


def improved(
    family: Family, pool: Support, support: Support, units: list[list[int]], parts: int, most: int
) -> tuple[Support, list[list[int]]]:
    """Return whole weights with a worst case at most as large: units move away from channels with the most load.

    Parameters
    ----------
    family : Family
        With equal rates of all terminals; otherwise nothing moves.
    pool, support : Support
        Paths that may be taken, and those that are.
    units : list of lists of int
        Of every path of the support.
    parts : int
        What they add up to for each pair.
    most : int
        Paths per pair.
    """
    if not family.topology.unit_rates:
        return support, units
    state = _State(family, pool, support, units, parts)
    rng = np.random.default_rng(0)
    best, least, since = [list(own) for own in state.units], state.load.max(), 0
    for _ in range(_STEPS):
        moves = list(state.moves(most))
        if not moves or since > _PATIENCE:
            break
        state.move(*moves[rng.integers(len(moves))])
        since += 1
        if state.load.max() < least - 1e-12:
            best, least, since = [list(own) for own in state.units], state.load.max(), 0
    return state.paths, best


class _State:
    """Whole weights with the worst-case load of every focus channel."""

    def __init__(self, family: Family, pool: Support, support: Support, units: list[list[int]], parts: int) -> None:
        self.family, self.parts = family, parts
        self.paths = [list(dict.fromkeys([*own, *more])) for own, more in zip(support, pool, strict=True)]
        self.units = [[*own, *([0] * (len(paths) - len(own)))] for own, paths in zip(units, self.paths, strict=True)]
        count = len(family.topology.terminals)
        number, focus, source, destination = family.crossings(self.paths)
        first = np.searchsorted(number, np.arange(sum(map(len, self.paths)) + 1))
        self.crossed = [(focus[a:b], source[a:b], destination[a:b]) for a, b in pairwise(first.tolist())]
        self.first = np.cumsum([0, *map(len, self.paths)])
        self.amount = np.zeros((len(family.focus), count, count), np.int64)
        flat = np.concatenate([np.array(own, np.int64) for own in self.units])
        np.add.at(self.amount, (focus, source, destination), flat[number])
        self.speed = relative_speeds(family.topology, family.focus)
        self.load = np.zeros(len(family.focus))
        self.worst: list[tuple[Array, Array]] = [self._match(c) for c in range(len(family.focus))]
        self.pair_of: dict[tuple[int, int, int], set[int]] = {}
        for pair in range(len(self.paths)):
            for path in range(self.first[pair], self.first[pair + 1]):
                for key in zip(*(part.tolist() for part in self.crossed[path]), strict=True):
                    self.pair_of.setdefault(key, set()).add(pair)

    def _match(self, channel: int) -> tuple[Array, Array]:
        rows, columns = linear_sum_assignment(self.amount[channel], maximize=True)
        self.load[channel] = self.amount[channel][rows, columns].sum() / self.speed[channel]
        return rows, columns

    def moves(self, most: int) -> Iterator[tuple[int, int, int]]:
        """Yield moves of one unit that relieve the channel with the most load: pair, path, path."""
        channel = int(self.load.argmax())
        rows, columns = self.worst[channel]
        for s, d in zip(rows.tolist(), columns.tolist(), strict=True):
            if not self.amount[channel, s, d]:
                continue
            for pair in sorted(self.pair_of.get((channel, s, d), ())):
                begin, units = self.first[pair], self.units[pair]
                crosses = [any(self._crosses(begin + k, channel, s, d)) for k in range(len(units))]
                for source in (k for k in range(len(units)) if units[k] and crosses[k]):
                    used = sum(unit > 0 for unit in units) - (units[source] == 1)
                    for target in range(len(units)):
                        if not crosses[target] and (units[target] or used < most):
                            yield pair, source, target

    def _crosses(self, path: int, channel: int, source: int, destination: int) -> Array:
        focus, sources, destinations = self.crossed[path]
        crosses: Array = (focus == channel) & (sources == source) & (destinations == destination)
        return crosses

    def move(self, pair: int, source: int, target: int) -> bool:
        """Move a unit from one path to another, unless that raises the worst case."""
        loads = self.load.copy()
        here, there = (self.crossed[self.first[pair] + k] for k in (source, target))
        np.add.at(self.amount, here, -1)
        np.add.at(self.amount, there, 1)
        touched = np.unique(np.concatenate([here[0], there[0]])).tolist()
        matches = {channel: self._match(channel) for channel in touched}
        if self.load.max() < loads.max() + 1e-12:
            self.units[pair][source] -= 1
            self.units[pair][target] += 1
            for channel, match in matches.items():
                self.worst[channel] = match
            return True
        np.add.at(self.amount, here, 1)
        np.add.at(self.amount, there, -1)
        self.load = loads
        return False
