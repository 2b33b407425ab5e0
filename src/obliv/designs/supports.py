"""Routings with few paths per pair: supports chosen within the optimization, weights in multiples of 1/Q.

From the best routing of all, supports shrink level by level: the linear program over the paths so far, with a price
that grows as weights fall, concentrates the weights; the paths that carry least are left out, some pairs at a time, and
the program is solved again. At every level, paths that are short under the multipliers come back as long as this helps.
Then the numbers of paths grow again from one, each starting from the best support so far, so that one more path per
pair never makes the result worse.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import lcm

import numpy as np
from scipy.optimize import linear_sum_assignment

from obliv._util.arrays import INT64_SAFE, Array
from obliv._util.progress import Progress, within
from obliv._util.rationals import integer
from obliv.designs.few_paths import Master, PairSymmetry, Support, family_of
from obliv.designs.programme import WHOLE, Programme, Symmetry, relative_speeds
from obliv.designs.solver import Optimum
from obliv.errors import InputError, OblivError
from obliv.routings.base import Routing
from obliv.routings.listed import Listed
from obliv.routings.make import routing as routing_of_spec
from obliv.topologies.base import Topology

# Weights in multiples of 1/Q: rounded within the optimization, then improved on the exact loads


_WORK = 400_000  # rows of all linear programs together
_STEPS = 10_000  # moves of one unit that are tried
_PATIENCE = 1000  # moves without a lower worst case after which the search ends


def quantized(master: Master, weights: list[Array], parts: int) -> list[list[int]]:
    """Return whole weights that add up to `parts`: pairs are rounded one after another, the others optimized again.

    Then some pairs at a time are freed and rounded once more, as long as this lowers the worst case.
    """
    rng = np.random.default_rng(0)
    everything = np.ones(len(weights), bool)
    solutions = max(6, min(120, _WORK // master.matrix.shape[0]))
    batches = max(4, min(len(weights), solutions // 4))
    best, load = _rounded_weights(master, [np.array([]) for _ in weights], everything, weights, parts, batches)
    solutions -= batches
    while solutions > 0:
        free = rng.random(len(weights)) < 0.3
        trial, trial_load = _rounded_weights(master, best, free, None, parts, 3)
        solutions -= 4
        if trial_load < load + 1e-9:
            best, load = trial, trial_load
    return [[int(unit) for unit in units] for units in best]


def _rounded_weights(
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
    family: PairSymmetry, pool: Support, support: Support, units: list[list[int]], parts: int, most: int
) -> tuple[Support, list[list[int]]]:
    """Return whole weights with a worst case at most as large: units move away from channels with the most load."""
    if not family.topology.unit_rates:
        return support, units
    state = _SupportState(family, pool, support, units, parts)
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


class _SupportState:
    """Whole weights with the worst-case load of every focus channel."""

    def __init__(
        self, family: PairSymmetry, pool: Support, support: Support, units: list[list[int]], parts: int
    ) -> None:
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


_LEVELS = (16, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1)
_KNOWN = ("dor", "o1turn", "dmodk", "shortest")  # one path per pair, or two
_SHORTEST = ("shortest",)  # that on any network, and the shortest paths
_SMALL = 81  # pairs up to which symmetries are also given up
_ROUNDS = 5  # of paths that come back, at every level
_PASSES = 4  # in which the pairs give up paths
_NONE = 1e-9  # weight below which a path is left out


def at_least_one(value: int | None, name: str) -> int | None:
    """Return a limit as an int, None for none."""
    if value is not None and (value := integer(value, name)) < 1:
        raise InputError(f"{name}={value}: choose a whole number of at least 1")
    return value


def limits(most: int | None, parts: int | None) -> tuple[str, ...]:
    """Return the limits as constraints of a design."""
    few = () if most is None else (f"at most {most} path{'s' * (most > 1)} per pair",)
    return few if parts is None else (*few, f"weights in multiples of 1/{parts}")


@dataclass(frozen=True, eq=False)
class _Choice:
    """A support with the best weights on it."""

    master: Master
    optimum: Optimum
    weights: list[Array]
    load: float

    @property
    def support(self) -> Support:
        return self.master.support


def few_paths(
    programme: Programme, best: Listed, most: int | None, parts: int | None, *, free: bool, progress: Progress
) -> Iterator[Listed]:
    """Yield ever better routings with at most `most` paths per pair, weights in multiples of 1 / `parts`."""
    count = int(np.diff(best.listed.pair).max())
    most = None if most is not None and most >= count else most
    if most is None and parts is None:
        yield best
        return
    families = [family_of(programme.topology, programme.symmetry)]
    if len(families[0].pairs) < programme.pairs <= _SMALL:
        families.append(family_of(programme.topology, Symmetry((), None)))
    progress("few paths per pair", 0.0)
    pool, weights = _listed(families[0], best)
    yield _rounded(families[0], *_top(pool, weights, most or count), parts)
    known = _known_routings(programme.topology, _KNOWN if free else _SHORTEST) if programme.states.plain else []
    yield from _known(programme.topology, known, most, parts)
    for k, family in enumerate(families):
        step = within(progress, k / len(families), (k + 1) / len(families))
        search = _Search(family, *_listed(family, best), free, known)
        choice = search.sparse() if most is None else search.descend(most, step)
        if parts is None:
            yield from _weighted(family, choice)
        else:
            units = quantized(choice.master, choice.weights, parts)
            yield family.routing(choice.support, units, parts)
            yield family.routing(*improved(family, choice.support, choice.support, units, parts, most or parts), parts)


def _known(topology: Topology, known: list[Routing], most: int | None, parts: int | None) -> Iterator[Listed]:
    """Yield the known routings that obey the limits, whatever their symmetries."""
    family = family_of(topology, Symmetry((), None))
    for routing in known:
        support, weights = _listed(family, routing)
        whole = parts or 2
        exact = all((weight * whole % 1 == 0).all() for weight in weights)  # 1, or 1/2 and 1/2
        if exact and max(map(len, support)) <= (most or whole):
            yield family.routing(support, [(weight * whole).astype(int).tolist() for weight in weights], whole)


def _known_routings(topology: Topology, names: Sequence[str]) -> list[Routing]:
    """Return those of some routings that the network has."""
    routings = []
    for name in names:
        try:
            routings.append(routing_of_spec(name, topology))
        except OblivError:  # of meshes, tori and trees
            continue
    return routings


def _listed(family: PairSymmetry, routing: Routing) -> tuple[Support, list[Array]]:
    """Return the paths and probabilities of the pairs that stand for orbits."""
    nodes = family.topology.terminals.tolist()
    paths = [list(routing.paths(nodes[s], nodes[d])) for s, d in family.pairs]
    return [[tuple(path) for path, _ in own] for own in paths], [np.array([float(p) for _, p in own]) for own in paths]


def _top(support: Support, weights: list[Array], most: int, where: Array | None = None) -> tuple[Support, list[Array]]:
    """Return the paths of most weight, at most so many for each pair, or for those marked; none of weight 0."""
    paths, shares = [], []
    for k, (own, weight) in enumerate(zip(support, weights, strict=True)):
        order = np.argsort(-weight, kind="stable")[: most if where is None or where[k] else None]
        order = order[weight[order] > _NONE]
        paths.append([own[i] for i in order])
        shares.append(weight[order])
    return paths, shares


def _merged(*supports: Support) -> Support:
    return [list(dict.fromkeys(path for paths in own for path in paths)) for own in zip(*supports, strict=True)]


def _rounded(family: PairSymmetry, support: Support, weights: list[Array], parts: int | None) -> Listed:
    whole = parts or WHOLE
    return family.routing(support, [largest_remainder(weight, whole) for weight in weights], whole)


def _weighted(family: PairSymmetry, choice: _Choice) -> Iterator[Listed]:
    """Yield the routings by the rational weights of the choice, with fewest hops and without, or by rounded ones."""
    master = choice.master
    hops = np.array([len(path) for own in choice.support for path in own], float)
    for cost in (master.cost(1, 0.0), master.cost(1e4 * hops.sum(), hops)):
        optimum = master.solve(cost)
        exact = master.exact_weights(optimum, cost)
        whole = lcm(*(weight.denominator for own in exact for weight in own)) if exact else 0
        if exact and whole * len(family.topology.terminals) < INT64_SAFE:
            units = [[int(weight * whole) for weight in own] for own in exact]
            yield family.routing(choice.support, units, whole)
        else:
            yield _rounded(family, choice.support, master.weights(optimum), None)


@dataclass(eq=False)
class _Search:
    """The search for supports."""

    family: PairSymmetry
    pool: Support
    weights: list[Array]  # of the pool
    free: bool
    known: list[Routing]  # with legal paths
    scale: float = 1.0  # load of the pool

    def __post_init__(self) -> None:
        self.scale = self.solved(self.pool).load

    def solved(self, support: Support, weights: list[Array] | None = None, pressure: float = 0.0) -> _Choice:
        """Return the support with the best weights; under pressure, weights that were small are dear."""
        master = Master(self.family, support)
        dear = np.concatenate([0.05 / (weight + 0.05) for weight in weights]) if weights else 0.0
        optimum = master.solve(master.cost(1, pressure * self.scale / len(support) * dear))
        return _Choice(master, optimum, master.weights(optimum), float(optimum.columns[-1]))

    def pruned(self, support: Support, weights: list[Array], most: int) -> _Choice:
        """Return a choice with at most so many paths per pair: those that carry least are left out, pair by pair."""
        for step in range(1, _PASSES + 1):
            over = np.array([np.sort(weight)[::-1][most:].sum() for weight in weights])
            if not (over > _NONE).any():
                break
            limit = np.quantile(over[over > _NONE], step / _PASSES)
            choice = self.solved(*_top(support, weights, most, over <= limit + 1e-12), 0.02)
            support, weights = choice.support, choice.weights
        return self.solved(_top(support, weights, most)[0])

    def improved(self, choice: _Choice, most: int, rounds: int, *more: Support) -> _Choice:
        """Return a choice at least as good, after paths came back that are short under the multipliers."""
        for _ in range(rounds):
            short = choice.master.shortest(choice.optimum, None if self.free else self.pool)
            back: Support = [[path] if saved < -_NONE else [] for saved, path in short]
            support = _merged(choice.support, back, *more)
            weights = [
                np.append(weight, np.full(len(own) - len(weight), 0.2))
                for weight, own in zip(choice.weights, support, strict=True)
            ]
            wide = self.solved(support, weights, 0.005)
            trial = self.pruned(wide.support, wide.weights, most)
            if trial.load > choice.load - 1e-7:
                break
            choice = trial
        return choice

    def sparse(self) -> _Choice:
        """Return the best weights on few of the paths of the pool, without a limit."""
        choice = self.solved(self.pool, self.weights, 0.005)
        return self.solved(_top(choice.support, choice.weights, len(choice.master.keys))[0])

    def descend(self, most: int, progress: Progress) -> _Choice:
        """Return the best choice with at most so many paths per pair."""
        progress("few paths", 0.0)
        start = self.solved(self.pool, self.weights, 0.01)
        support, weights = _top(start.support, start.weights, len(start.master.keys))
        levels: dict[int, _Choice] = {}
        for k, level in enumerate(_LEVELS):
            choice = self.improved(self.pruned(support, weights, level), level, _ROUNDS)
            levels[level] = choice
            support, weights = choice.support, choice.weights
            progress(f"at most {level} paths per pair: load {choice.load:.6g}", 0.7 * (k + 1) / len(_LEVELS))
        best = levels[1]
        known = [_listed(self.family, routing)[0] for routing in self.known]
        for level in range(1, most + 1):
            fits = [levels[level]] if level in levels else []
            fits += [self.solved(own) for own in known if max(map(len, own)) == level]
            fits.append(self.solved(_top(self.pool, self.weights, level)[0]))
            best = min([*fits, best], key=lambda choice: choice.load)
            if level == 1:
                units = [[1] for _ in best.support]
                paths, units = improved(self.family, self.pool, best.support, units, 1, 1)
                single = [[own[amounts.index(1)]] for own, amounts in zip(paths, units, strict=True)]
                best = min(best, self.solved(single), key=lambda choice: choice.load)
            rounds, pool = (_ROUNDS, [self.pool]) if level in levels else (1, [])
            if best.load > self.scale * (1 + 1e-6):
                best = self.improved(best, level, rounds, *(choice.support for choice in fits), *pool)
            progress(f"at most {level} paths per pair: load {best.load:.6g}", 0.7 + 0.3 * level / most)
        return best
