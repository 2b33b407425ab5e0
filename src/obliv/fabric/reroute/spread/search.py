"""The exact worst case of sets of trees, and a search for a set with a smaller one."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from obliv._util.typing import Array
from obliv.fabric.reroute.spread.plans import Plan, next_places
from obliv.topologies.cartesian import Cartesian

__all__ = ["Evaluation", "bisection_bound"]

_ROWS = 300  # of these, the latest ones by which the search goes
_KEPT = 24  # channels with the largest load whose worst permutation is kept


class Evaluation:
    """Exact worst loads of sets of trees on a grid with one host at each place.

    Parameters
    ----------
    shape : Cartesian
    """

    def __init__(self, shape: Cartesian) -> None:
        self.shape = shape
        self.pool: list[Plan] = []
        self.uses: list[tuple[Array, Array, Array]] = []
        self.number: dict[Plan, int] = {}
        self.loads: dict[tuple[tuple[int, int], ...], Fraction] = {}
        self.worst: list[tuple[int, Array]] = []

    def add(self, plan: Plan) -> int:
        """Return the number of a tree."""
        if plan not in self.number:
            self.number[plan] = len(self.pool)
            self.pool.append(plan)
            self.uses.append(_uses(self.shape, plan))
        return self.number[plan]

    def load(self, plans: Sequence[Plan]) -> Fraction:
        """Return the exact worst load where packets use some trees equally often; a tree may be there repeatedly."""
        count = np.bincount([self.add(plan) for plan in plans], minlength=len(self.pool))
        key = tuple((k, int(count[k])) for k in np.flatnonzero(count).tolist())
        if key not in self.loads:
            self.loads[key] = Fraction(self._load(count), len(plans))
        return self.loads[key]

    def _load(self, count: Array) -> int:
        """Return the worst load of trees by their number of uses, and keep permutations that attain it."""
        from scipy.optimize import linear_sum_assignment

        used = np.flatnonzero(count).tolist()
        size, channels = self.shape.nodes, len(self.shape.tail)
        channel = np.concatenate([self.uses[k][0] for k in used])
        pair = np.concatenate([self.uses[k][1] * size + self.uses[k][2] for k in used])
        weight = np.repeat([int(count[k]) for k in used], [len(self.uses[k][0]) for k in used])
        order = np.argsort(channel, kind="stable")
        first = np.searchsorted(channel[order], np.arange(channels + 1))
        pair, weight = pair[order], weight[order]

        def weights(c: int) -> Array:
            part = slice(first[c], first[c + 1])
            return np.bincount(pair[part], weight[part], size * size).reshape(size, size)

        bound = np.zeros(channels)
        for c in range(channels):
            w = weights(c)
            bound[c] = min(w.max(axis=0).sum(), w.max(axis=1).sum())
        most = 0
        found: list[tuple[int, Array]] = []
        for c in np.argsort(-bound, kind="stable").tolist():
            if bound[c] < most:
                break
            w = weights(c)
            _, permutation = linear_sum_assignment(w, maximize=True)
            load = int(w[np.arange(size), permutation].sum())
            found = [*(found if load <= most else []), *([(c, permutation)] if load >= most else [])]
            most = max(most, load)
        self.worst += found[:_KEPT]
        return most

    def improved(self, plans: Sequence[Plan], most: int, rounds: int, enough: Fraction, seed: int) -> list[Plan]:
        """Return as many trees of the pool with a worst load that is not larger, found by a local search.

        Parameters
        ----------
        plans : sequence of Plan
        most : int
            The number of different trees.
        rounds : int
            How often the exact worst load is computed.
        enough : Fraction
            A load at which the search ends.
        seed : int

        Notes
        -----
        Trees are exchanged as long as the load under the permutations that were worst before falls; then the exact
        worst case gives new ones.
        """
        rng = np.random.default_rng(seed)
        first = [np.searchsorted(channel, np.arange(len(self.shape.tail) + 1)) for channel, _, _ in self.uses]
        best, load = list(plans), self.load(plans)
        matrix, seen = np.zeros((0, len(self.pool)), np.int32), max(0, len(self.worst) - _ROWS)
        at = np.bincount([self.number[plan] for plan in plans], minlength=len(self.pool))
        for _ in range(rounds):
            if load <= enough:
                break
            rows = [self._under(c, permutation, first) for c, permutation in self.worst[seen:]]
            matrix = np.concatenate([matrix, np.array(rows, np.int32).reshape(len(rows), len(self.pool))])[-_ROWS:]
            seen = len(self.worst)
            at = _exchanged(at, matrix, most)
            chosen = [self.pool[k] for k in np.repeat(np.arange(len(at)), at).tolist()]
            if len(set(chosen)) <= most and (new := self.load(chosen)) < load:
                best, load = chosen, new
            elif len(self.worst) == seen:  # nothing new: start from elsewhere
                at = np.bincount([self.number[plan] for plan in best], minlength=len(self.pool))
                for _ in range(1 + int(rng.integers(3))):
                    at[rng.choice(np.flatnonzero(at))] -= 1
                    at[rng.integers(len(at))] += 1
        return best

    def _under(self, c: int, permutation: Array, first: list[Array]) -> list[int]:
        """Return the load of a channel under a permutation by each tree."""
        loads = []
        for (_, source, destination), begin in zip(self.uses, first, strict=True):
            part = slice(begin[c], begin[c + 1])
            loads.append(int((permutation[source[part]] == destination[part]).sum()))
        return loads


def _exchanged(count: Array, matrix: Array, most: int) -> Array:
    """Return uses of trees with a smaller largest load over all rows, by exchanges of one use for another."""
    load = matrix @ count
    value = _value(load[None, :])[0]
    while True:
        best = (value, -1, -1)
        for k in np.flatnonzero(count).tolist():
            values = _value((load - matrix[:, k])[None, :] + matrix.T)
            if (count > 0).sum() - (count[k] == 1) >= most:
                values = np.where(count > 0, values, np.inf)
            other = int(values.argmin())
            if values[other] < best[0] - 1e-9:
                best = (float(values[other]), k, other)
        value, k, other = best
        if k < 0:
            return count
        count = count.copy()
        count[k] -= 1
        count[other] += 1
        load = matrix @ count


def _value(load: Array) -> Array:
    """Return the largest load of each row of `load`, and as a share of one, how often it occurs."""
    top = load.max(axis=1, initial=0)
    return np.asarray(top + (load == top[:, None]).sum(axis=1) / (1.0 + load.shape[1]))


def _uses(shape: Cartesian, plan: Plan) -> tuple[Array, Array, Array]:
    """Return the channels of all routes of a tree, sorted, each with the source and the destination."""
    after = next_places(shape, plan)
    size = shape.nodes
    order = np.argsort(shape.tail.astype(np.int64) * size + shape.head, kind="stable")
    key = (shape.tail.astype(np.int64) * size + shape.head)[order]
    destination, source = np.divmod(np.arange(size * size), size)
    at = source
    parts: list[tuple[Array, Array, Array]] = []
    while (on := at != destination).any():
        destination, source, at = destination[on], source[on], at[on]
        to = after[destination, at]
        parts.append((order[np.searchsorted(key, at * size + to)], source, destination))
        at = to
    channel, source, destination = (np.concatenate(column) for column in zip(*parts, strict=True))
    by = np.argsort(channel, kind="stable")
    return channel[by], source[by], destination[by]


def bisection_bound(shape: Cartesian) -> Fraction:
    """Return a load that some permutation puts on some channel, whatever the routes: by cuts across each dimension.

    Examples
    --------
    >>> import obliv
    >>> bisection_bound(obliv.topology("torus:8x8")), bisection_bound(obliv.topology("mesh:7x6"))
    (Fraction(2, 1), Fraction(3, 1))
    """
    bounds = []
    for axis in shape.axes:
        half = axis.radix // 2
        wide = {"line": 1, "ring": 2, "clique": half * (axis.radix - half)}[axis.kind]
        bounds.append(Fraction(half, wide))
    return max(bounds)
