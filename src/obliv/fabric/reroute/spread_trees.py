"""Trees of routes to every place of a grid: sets of them, their lanes, and a search for the smallest worst load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from obliv._util.arrays import Array
from obliv.fabric.lanes.sl2vl import SLS
from obliv.fabric.reroute.quality import Request
from obliv.topologies.cartesian import Cartesian


@dataclass(frozen=True)
class RouteTree:
    """A tree of routes to every place.

    Routes correct the dimensions in an order, but where a dimension has a center, they go there first and are
    corrected in it only once all later dimensions are: in two dimensions, along the row to the column of the center,
    in the column to the destination's row, in the row to the destination.
    """

    order: tuple[int, ...]  # all dimensions
    # center: the coordinate of the center in each dimension, -1 without one. In a clique all routes lead through the
    # center.
    center: tuple[int, ...]
    # start: the coordinate behind the link of a ring that no route takes, -1 where routes take the shorter way; 0 in
    # lines and cliques
    start: tuple[int, ...]
    odd: int = 0  # which places halfway round a ring go up, where routes take the shorter way: even or odd ones


def coordinates_of(shape: Cartesian) -> Array:
    """Return the coordinates of all places, shape (places, dimensions)."""
    radices = np.array([axis.radix for axis in shape.axes])
    return np.asarray(np.arange(shape.nodes)[:, None] // np.array(shape.strides) % radices)


def next_places(shape: Cartesian, plan: RouteTree) -> Array:
    """Return the place after each one on the way to every destination, -1 at it, shape (destinations, places)."""
    coordinates = coordinates_of(shape)
    size = len(coordinates)
    after = np.full((size, size), -1, np.int64)
    undecided = ~np.eye(size, dtype=bool)
    for j, i in enumerate(plan.order):
        x, goal = coordinates[None, :, i], coordinates[:, None, i]
        rest = list(plan.order[j + 1 :])
        corrected = (coordinates[:, None, rest] == coordinates[None, :, rest]).all(axis=2)
        center = plan.center[i]
        target = np.where(corrected | (center < 0) | (not rest), goal, center)
        moving = undecided & (x != target)
        place = np.arange(size)[None, :] + (_along(shape, plan, i, x, target) - x) * shape.strides[i]
        after[moving] = place[moving]
        undecided &= ~moving
    return after


def _along(shape: Cartesian, plan: RouteTree, i: int, x: Array, target: Array) -> Array:
    """Return the coordinate after x on the way to another one."""
    axis, start, center = shape.axes[i], plan.start[i], plan.center[i]
    radix = axis.radix
    if axis.kind == "clique":
        through = (center >= 0) & (x != center)
        return np.where(through, center, target)
    if start < 0:
        ahead = (target - x) % radix
        up = (2 * ahead < radix) | ((2 * ahead == radix) & (x % 2 == plan.odd))
    else:
        up = (target - start) % radix > (x - start) % radix
    return np.asarray((x + np.where(up, 1, -1)) % radix)


# The lanes of channels on trees of routes, and their service levels


_FEWEST = 4  # coordinates of a ring where the shorter ways close a cycle
_FIRST_STEP = 4  # up to so many, lines without opposite links close none, but for the first step of each packet


@dataclass(frozen=True, eq=False)
class PlanLanes:
    """The lanes of some plans on a grid."""

    # first: the first service level of every plan. The others stand for the datelines that a packet crosses.
    first: tuple[int, ...]
    # datelines: the dimensions where a service level says whether a packet crosses the dateline, for all plans alike
    datelines: tuple[int, ...]
    # lane: uint8, shape (2, service levels, channels); the lane of each channel of the grid: for packets that come in
    # by another dimension, and by the same one
    lane: Array

    @property
    def levels(self) -> int:
        """The number of service levels."""
        return int(self.lane.shape[1])

    @property
    def lanes(self) -> int:
        """The number of lanes."""
        return int(self.lane.max(initial=0)) + 1


def lanes_for(shape: Cartesian, plans: Sequence[RouteTree]) -> PlanLanes:
    """Return lanes on which no packets of some plans wait for each other in a cycle."""
    ladder = min(_ladders(shape, plans), key=lambda ladder: max(map(max, ladder)))
    minimal = any(-1 in plan.start for plan in plans)
    rings = [i for i, axis in enumerate(shape.axes) if axis.kind == "ring" and axis.radix > 2]
    datelines = tuple(i for i in rings if minimal and shape.axes[i].radix >= _FEWEST)
    last = plans[0].order[-1]
    by_step = not minimal and last in rings and shape.axes[last].radix <= _FIRST_STEP
    by_step = by_step and all(plan.order[-1] == last for plan in plans)
    free = last if by_step else -1
    numbers: dict[tuple[object, ...], int] = {}
    first, groups = [], []
    for plan, visits in zip(plans, ladder, strict=True):
        start = tuple(-1 if i == free else x for i, x in enumerate(plan.start))
        key = (visits, plan.center, start)
        if key not in numbers:
            numbers[key] = len(numbers) << len(datelines)
            groups.append(_lanes_of(shape, plan, visits, rings, datelines, free))
        first.append(numbers[key])
    return PlanLanes(tuple(first), datelines, np.concatenate(groups, axis=1))


def _ladders(shape: Cartesian, plans: Sequence[RouteTree]) -> list[list[tuple[int, ...]]]:
    """Return for some ladders the visits of every plan: of each dimension the first one, then of each the last one."""
    count = len(shape.axes)
    around = plans[0].order + plans[0].order[::-1]
    ladders = []
    for ladder in (tuple(range(count)) * (2 * count), around):
        visits = [_visits(ladder, shape, plan) for plan in plans]
        if all(found is not None for found in visits):
            ladders.append([found for found in visits if found is not None])
    return ladders


def _visits(ladder: tuple[int, ...], shape: Cartesian, plan: RouteTree) -> tuple[int, ...] | None:
    """Return the visits of a plan in a ladder, None where it does not contain the plan's sequence."""
    back = [i for i in plan.order[::-1] if plan.center[i] >= 0]
    if back and back[0] == plan.order[-1] and shape.axes[back[0]].kind != "clique":
        back = back[1:]
    count = len(plan.order)
    found = [-1] * (2 * count)
    place = -1
    for n, i in enumerate((*plan.order, *back)):
        try:
            place = ladder.index(i, place + 1)
        except ValueError:
            return None
        visit = ladder[:place].count(i)
        if n < count:
            found[i] = visit
        found[count + i] = visit
    return tuple(found)


def _lanes_of(
    shape: Cartesian, plan: RouteTree, visits: tuple[int, ...], rings: list[int], datelines: tuple[int, ...], free: int
) -> Array:
    """Return the lanes of a plan's service levels, as :attr:`PlanLanes.lane` has them."""
    at = coordinates_of(shape)
    tail, head = at[shape.tail], at[shape.head]
    count = len(shape.axes)
    lane = np.zeros((2, 1 << len(datelines), len(tail)), np.uint8)
    level = np.arange(1 << len(datelines))[:, None]
    for i, axis in enumerate(shape.axes):
        along = tail[:, i] != head[:, i]
        x, y, center, radix = tail[along, i], head[along, i], plan.center[i], axis.radix
        start = max(plan.start[i], 0)
        if axis.kind == "clique":
            away = (center >= 0) & (y != center)
        else:
            far = [np.abs((z - start) % radix - (center - start) % radix) for z in (x, y)]
            away = (center >= 0) & (far[1] > far[0])
        group = np.where(away, visits[count + i], visits[i])
        behind: Array = np.zeros((2, 1, len(x)), np.int64)
        if i in datelines:
            behind = (level >> datelines.index(i) & 1)[None]
        elif i == free:
            behind = np.array([0, 1])[:, None, None]
        elif i in rings and plan.start[i] >= 0:
            behind = np.where((y - x) % radix == 1, x < start, x >= start)[None, None]
        wide = 2 if i in rings and (i in datelines or i == free or plan.start[i] >= 0) else 1
        lane[:, :, along] = group * wide + behind
    return lane


# The exact worst case of sets of trees, and a search for a set with a smaller one


_ROWS = 300  # of these, the latest ones by which the search goes
_KEPT = 24  # channels with the largest load whose worst permutation is kept


class Evaluation:
    """Exact worst loads of sets of trees on a grid with one host at each place."""

    def __init__(self, shape: Cartesian) -> None:
        self.shape = shape
        self.pool: list[RouteTree] = []
        self.uses: list[tuple[Array, Array, Array]] = []
        self.number: dict[RouteTree, int] = {}
        self.loads: dict[tuple[tuple[int, int], ...], Fraction] = {}
        self.worst: list[tuple[int, Array]] = []

    def add(self, plan: RouteTree) -> int:
        """Return the number of a tree."""
        if plan not in self.number:
            self.number[plan] = len(self.pool)
            self.pool.append(plan)
            self.uses.append(_uses(self.shape, plan))
        return self.number[plan]

    def load(self, plans: Sequence[RouteTree]) -> Fraction:
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

    def improved(
        self, plans: Sequence[RouteTree], most: int, rounds: int, enough: Fraction, seed: int
    ) -> list[RouteTree]:
        """Return as many trees of the pool with a worst load that is not larger, found by a local search."""
        # Trees are exchanged as long as the load under the permutations that were worst before falls; then the exact
        # worst case gives new ones.
        rng = np.random.default_rng(seed)
        first = [np.searchsorted(channel, np.arange(len(self.shape.tail) + 1)) for channel, _, _ in self.uses]
        best, load = list(plans), self.load(plans)
        matrix, seen = np.zeros((0, len(self.pool)), np.int32), max(0, len(self.worst) - _ROWS)
        count = np.bincount([self.number[plan] for plan in plans], minlength=len(self.pool))
        for _ in range(rounds):
            if load <= enough:
                break
            rows = [self._under(c, permutation, first) for c, permutation in self.worst[seen:]]
            matrix = np.concatenate([matrix, np.array(rows, np.int32).reshape(len(rows), len(self.pool))])[-_ROWS:]
            seen = len(self.worst)
            count = _exchanged(count, matrix, most)
            chosen = [self.pool[k] for k in np.repeat(np.arange(len(count)), count).tolist()]
            if len(set(chosen)) <= most and (new := self.load(chosen)) < load:
                best, load = chosen, new
            elif len(self.worst) == seen:  # nothing new: start from elsewhere
                count = np.bincount([self.number[plan] for plan in best], minlength=len(self.pool))
                for _ in range(1 + int(rng.integers(3))):
                    count[rng.choice(np.flatnonzero(count))] -= 1
                    count[rng.integers(len(count))] += 1
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


def _uses(shape: Cartesian, plan: RouteTree) -> tuple[Array, Array, Array]:
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
    """Return a load that some permutation puts on some channel, whatever the routes: by cuts across each dimension."""
    bounds = []
    for axis in shape.axes:
        half = axis.radix // 2
        wide = {"line": 1, "ring": 2, "clique": half * (axis.radix - half)}[axis.kind]
        bounds.append(Fraction(half, wide))
    return max(bounds)


# Sets of trees of routes to choose from


_SHORT = 4  # coordinates of a ring in which only two opposite links are left out


def minimal_sets(shape: Cartesian) -> Iterator[list[RouteTree]]:
    """Yield sets of shortest routes: in one order of the dimensions or in several ones, one way or both ways halfway.

    One order takes half of the lanes that several take.
    """
    count = len(shape.axes)
    start = tuple(-1 if _ring(shape, i) else 0 for i in range(count))
    halves = (0, 1) if any(_ring(shape, i) and shape.axes[i].radix % 2 == 0 for i in range(count)) else (0,)
    for orders in range(1, count + 1):
        turned = [tuple((first + i) % count for i in range(count)) for first in range(orders)]
        for ways in dict.fromkeys(((0,), halves)):
            yield [RouteTree(order, (-1,) * count, start, odd) for odd in ways for order in turned]


def two_turn_pool(shape: Cartesian) -> list[RouteTree]:
    """Return trees by all columns, and in meshes those in dimension order."""
    pool = [
        _plan(shape, order, column, end, side)
        for order in _orders(shape)
        for column in _columns(shape, order)
        for side in ((0, 1) if any(_ring(shape, i) and shape.axes[i].radix % 2 == 0 for i in order[:-1]) else (0,))
        for end in _ends(shape, order[-1], every=True)
    ]
    if len(shape.axes) == 2 and all(axis.kind == "line" for axis in shape.axes):
        pool += [RouteTree(order, (-1, -1), (0, 0)) for order in ((0, 1), (1, 0))]
    return pool


def two_turn_sets(shape: Cartesian, size: int) -> Iterator[list[RouteTree]]:
    """Yield sets of at most some size whose columns are used as evenly as possible, of one order or of two."""
    orders = _orders(shape)
    for order in orders:
        yield from _even(shape, order, size)
    if len(orders) > 1 and size > 1:
        for one, two in zip(*(_even(shape, order, size // 2) for order in orders), strict=False):
            yield one + two


def _even(shape: Cartesian, order: tuple[int, ...], size: int) -> Iterator[list[RouteTree]]:
    """Yield sets of trees of one order: all ends of routes in as many columns as possible, then one in each column."""
    columns, ends = _columns(shape, order), _ends(shape, order[-1])
    for many in dict.fromkeys((min(len(ends), size), 1)):
        wide = min(len(columns), size // many)
        yield [
            _plan(shape, order, columns[k * len(columns) // wide], ends[(k + e) % len(ends)])
            for k in range(wide)
            for e in range(many)
        ]


def _orders(shape: Cartesian) -> list[tuple[int, ...]]:
    """Return orders of the dimensions: the longest one last, since columns there take two trees in any case."""
    order = tuple(sorted(range(len(shape.axes)), key=lambda i: shape.axes[i].radix))
    return [order, order[::-1]] if len(order) == 2 else [order]


def _columns(shape: Cartesian, order: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the coordinates of all columns in all dimensions but the last."""
    return [*product(*(range(shape.axes[i].radix) for i in order[:-1]))]


def _ends(shape: Cartesian, last: int, every: bool = False) -> list[tuple[int, int]]:
    """Return centers and starts of the last dimension: in rings two opposite starts, or every one."""
    axis = shape.axes[last]
    if axis.kind == "clique":
        return [(center, 0) for center in range(axis.radix)]
    if not _ring(shape, last):
        return [(-1, 0)]
    return [(-1, start) for start in (range(axis.radix) if every and axis.radix > _SHORT else (0, axis.radix // 2))]


def _plan(
    shape: Cartesian, order: tuple[int, ...], column: tuple[int, ...], end: tuple[int, int], side: int = 0
) -> RouteTree:
    """Return the tree through a column; rings are left open opposite the column, even ones on one of two sides."""
    center, start = [-1] * len(order), [0] * len(order)
    center[order[-1]], start[order[-1]] = end
    for i, c in zip(order, column, strict=False):
        center[i] = c
        radix = shape.axes[i].radix
        start[i] = (c - radix // 2 + side * (1 - radix % 2)) % radix if _ring(shape, i) else 0
    return RouteTree(order, tuple(center), tuple(start))


def _ring(shape: Cartesian, i: int) -> bool:
    """Return whether a dimension is a ring of three or more."""
    return shape.axes[i].kind == "ring" and shape.axes[i].radix > 2


# The trees of routes for a number of LIDs and lanes: the set with the smallest exact worst load


_ROUNDS = 40
_SEARCHED, _EVALUATED = 100, 150  # places up to which sets are searched and evaluated


@dataclass(frozen=True)
class Choice:
    """Trees for the LIDs of a host."""

    family: str  # ``minimal`` or ``two-turn``
    plans: tuple[RouteTree, ...]  # one for each LID
    # load: the exact worst load with one host at each place, None where the network is too large for it
    load: Fraction | None
    lanes: int

    @property
    def lmc(self) -> int:
        """The LMC: there are 2**lmc plans."""
        return len(self.plans).bit_length() - 1


def choices(shape: Cartesian, floor: Fraction, request: Request, *, two_turn: bool) -> list[Choice]:
    """Return sets of trees that fit into a number of lanes, the best ones first."""
    evaluation, bound = Evaluation(shape), max(floor, bisection_bound(shape))
    found: list[Choice] = []

    def key(choice: Choice) -> tuple[Fraction, int, int, int]:
        """Return the key for sorting: where loads are unknown, two turns and many trees are thought to be best."""
        distinct = len(set(choice.plans))
        unknown = Fraction(10**6) - (choice.family == "two-turn") * distinct
        return max(floor, unknown if choice.load is None else choice.load), choice.lmc, choice.lanes, distinct

    rounds = int(request.effort * _ROUNDS) if two_turn and shape.nodes <= _SEARCHED else 0
    pool = two_turn_pool(shape) if rounds else []
    for lmc in range(request.most_lmc + 1):
        request.progress(f"routes for {1 << lmc} LIDs of each host", lmc / (request.most_lmc + 1))
        sets = [*_named("minimal", minimal_sets(shape), lmc)]
        for size in dict.fromkeys((1 << lmc, min(1 << lmc, SLS)) if two_turn else ()):
            sets += _named("two-turn", two_turn_sets(shape, size), lmc)
        for family, plans in sets:
            found += _fitting(shape, family, plans, request.lanes, evaluation)
        if found and min(map(key, found))[0] <= bound:
            break
        known = [choice for choice in found if choice.family == "two-turn"]
        if known and lmc and rounds:
            for plan in pool:
                evaluation.add(plan)
            best = min(known, key=key).plans
            plans = evaluation.improved(best * ((1 << lmc) // len(best)), SLS, rounds, bound, request.seed)
            found += _fitting(shape, "two-turn", plans, request.lanes, evaluation)
    return sorted(found, key=key)


def _named(family: str, sets: Iterator[list[RouteTree]], lmc: int) -> Iterator[tuple[str, list[RouteTree]]]:
    """Yield sets, each tree for as many of the LIDs as the others, give or take one."""
    for plans in sets:
        if len(plans) <= 1 << lmc:
            yield family, [plans[k % len(plans)] for k in range(1 << lmc)]


def _fitting(
    shape: Cartesian, family: str, plans: Sequence[RouteTree], lanes: int, evaluation: Evaluation
) -> Iterator[Choice]:
    """Yield the choice of a set if lanes and service levels suffice."""
    needed = lanes_for(shape, plans)
    if needed.lanes <= lanes and needed.levels <= SLS:
        load = evaluation.load(plans) if shape.nodes <= _EVALUATED else None
        yield Choice(family, tuple(plans), load, needed.lanes)
