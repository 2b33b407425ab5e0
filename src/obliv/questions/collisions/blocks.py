"""Blocks of channels that no flow may cross both of, and what a block does by itself.

The channels of a hierarchy fall into two families, those that lead up and those that lead down; in a family, channels
that the same flows may cross are in one block. So the blocks of a family are independent: in a fat tree they are its
pods. With D_c for "channel c is overloaded", of a block of channels

- P(none is) ≤ 1 - Σ P(D_c) + Σ P(D_b, D_c) (Bonferroni), and ≤ Π (1 - P(D_c)) + Σ gains;
- P(none is) ≥ Π P(none of a unit is) - Σ losses over pairs of channels without a common path that are not both in one
  of the units that are *stars*.

Gains and losses are covariances: see `pivots`. A unit has the channels of a plane; of no two units channels are on a
common path. A star has outer channels that no flow may cross two of, and inner ones with equal probabilities on paths
of all flows of theirs, each of which crosses one outer channel. Given how many flows reach the inner channels, these
fill like bins with balls; and that number is a sum of independent ones, one for each outer channel. So the probability
that no channel of a star is overloaded is computed, not bounded.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from obliv._util.arrays import Array, FloatArray
from obliv.questions.collisions.joints import LEAST, MOST, TINY, Crossings, Joints, Law, binomial
from obliv.topologies.base import heights_of

_LEAST_FLOAT = 1e-250


@dataclass(frozen=True, eq=False)
class Block:
    """Channels of some groups.

    Parameters
    ----------
    groups : int array
    within, before : int arrays
        Pairs of groups of `Joints` in the block, and of one in it and one in a block before it.
    stars : tuple of (int, Star)
        Units that are stars, with how many are alike.
    rest : int array
        Channels of each group of the block that are in no star.
    apart : int array
        For `within`, pairs of channels without a common path that are not both in a star.
    """

    groups: Array
    within: Array
    before: Array
    stars: tuple[tuple[int, Star], ...]
    rest: Array
    apart: Array


@dataclass(frozen=True)
class Star:
    """Outer channels, with the flows that may go on to inner ones and those that cannot; and the inner channels."""

    outer: tuple[int, ...]
    onward: tuple[int, ...]
    ending: tuple[int, ...]
    inner: int
    size: int


def blocks_of(on: Crossings, joints: Joints) -> list[Block]:
    """Return the blocks of all channels, family by family."""
    heights = heights_of(on.draws.topology)
    family = np.zeros(on.groups, np.int64)
    if heights is not None:
        ends = on.draws.topology
        up = heights[ends.tail[on.channel]] < heights[ends.head[on.channel]]
        some, every = np.zeros(on.groups, bool), np.ones(on.groups, bool)
        np.logical_or.at(some, on.group, up)
        np.logical_and.at(every, on.group, up)
        family = np.where(every, 0, np.where(some, 2, 1))  # a group that leads both ways is in a family of its own
    same = family[joints.one] == family[joints.two]
    label = np.arange(on.groups)
    while True:
        least = label.copy()
        np.minimum.at(least, joints.one[same], label[joints.two[same]])
        np.minimum.at(least, joints.two[same], label[joints.one[same]])
        least = least[least]
        if np.array_equal(least, label):
            break
        label = least
    names = sorted(set(label.tolist()), key=lambda name: (int(family[name]), name))
    number = {name: at for at, name in enumerate(names)}
    block = np.array([number[name] for name in label.tolist()], np.int64)
    one, two = block[joints.one], block[joints.two]
    units = _units(on, block)
    found = []
    for at in range(len(names)):
        groups, within = np.flatnonzero(block == at), np.flatnonzero((one == at) & (two == at))
        before = np.flatnonzero((np.maximum(one, two) == at) & (one != two))
        stars: dict[Star, int] = defaultdict(int)
        rest, apart = on.sizes.copy(), joints.far.copy()
        for (sizes, met), many in units.get(at, {}).items():
            one_star = _star(dict(sizes), dict(met), on, joints)
            if one_star is None:
                continue
            stars[one_star] += many
            for g, size in sizes:
                rest[g] -= many * size
                for h, other in sizes:
                    if g <= h and (g, h) in joints.place:
                        pairs = size * (size - 1) // 2 if g == h else size * other
                        apart[joints.place[g, h]] -= many * (pairs - dict(met).get((g, h), 0))
        alike = tuple((many, one_star) for one_star, many in stars.items())
        found.append(Block(groups, within, before, alike, rest[groups], apart[within]))
    return found


_Unit = tuple[tuple[tuple[int, int], ...], tuple[tuple[tuple[int, int], int], ...]]


def _units(on: Crossings, block: Array) -> dict[int, dict[_Unit, int]]:
    """Return for each block its units: channels of each group, and pairs on a path by groups; how many are alike."""
    planes = int(on.plane.max(initial=-1)) + 1
    sizes: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    met: dict[int, dict[tuple[int, int], int]] = defaultdict(lambda: defaultdict(int))
    name = block[on.group] * planes + on.plane
    for unit, g in zip(name.tolist(), on.group.tolist(), strict=True):
        sizes[unit][g] += 1
    inside = name[on.one] == name[on.two]
    first, second = on.group[on.one[inside]], on.group[on.two[inside]]
    rows = zip(name[on.one[inside]].tolist(), np.minimum(first, second).tolist(), np.maximum(first, second).tolist())
    for unit, g, h in rows:
        met[unit][g, h] += 1
    found: dict[int, dict[_Unit, int]] = defaultdict(lambda: defaultdict(int))
    for unit, of_group in sizes.items():
        found[unit // planes][tuple(sorted(of_group.items())), tuple(sorted(met[unit].items()))] += 1
    return found


def _star(sizes: dict[int, int], met: dict[tuple[int, int], int], on: Crossings, joints: Joints) -> Star | None:
    """Return a unit as a star; None if it is not one."""
    inner = min(sizes, key=lambda g: (int(joints.ways[g]), -sizes[g]))
    outer = [g for g in sizes if g != inner]
    size, ways = sizes[inner], joints.ways
    if not outer or any(sizes[g] > 1 for g in outer) or len({int(ways[g]) for g in outer}) > 1:
        return None
    if ways[outer[0]] < size * ways[inner]:
        return None
    pairs = on.draws.pairs
    onward, seen = [], np.zeros(len(pairs), np.int64)
    for g in outer:
        both = np.intersect1d(on.types[g], on.types[inner], assume_unique=True)
        seen[on.types[g]] += 1
        if met.get((min(g, inner), max(g, inner)), 0) != (size if len(both) else 0):
            return None
        onward.append(int(pairs[both].sum()) * joints.flows)
    disjoint = int(seen.max(initial=0)) <= 1 and bool((seen[on.types[inner]] == 1).all())
    if not disjoint or len(met) != sum(n > 0 for n in onward):
        return None
    ending = tuple(int(joints.crossing[g]) - n for g, n in zip(outer, onward, strict=True))
    return Star(tuple(outer), tuple(onward), ending, inner, size)


def star(one: Star, limit: Array, joints: Joints, total: int) -> float:
    """Return a lower bound, but for rounding exact, of the probability that no channel of a star has too many flows."""
    law = np.ones(1)
    for g, onward, ending in zip(one.outer, one.onward, one.ending, strict=True):
        ways, most = int(joints.ways[g]), int(limit[g])
        fits = Law(binomial(ending, ways, total - ways)).head
        crossing = binomial(onward, ways, total - ways)[: most + 1]
        room = np.minimum(most - np.arange(len(crossing)), len(fits) - 1)
        law = np.convolve(law, crossing * fits[room])
    share = one.size * int(joints.ways[one.inner]), int(joints.ways[one.outer[0]])
    return max(0.0, float(law @ filled(len(law) - 1, int(limit[one.inner]), one.size, *share)) * LEAST - TINY)


def filled(balls: int, most: int, bins: int, ways: int, total: int) -> FloatArray:
    """Return the probability that no bin has more than `most` balls, for 0, 1, ... balls; 0 where it underflows.

    A ball falls into each of the bins with equal probabilities, into one of them with probability ways / total. So do
    numbers that are independent and have Poisson laws, given their sum.

    Examples
    --------
    >>> filled(3, 1, 2, 1, 1).round(12).tolist()
    [1.0, 1.0, 0.5, 0.0]
    """
    mean = max(1.0, balls / 2)
    each = _poisson(mean * ways / total / bins, balls)[: most + 1]
    law = _poisson(mean * (total - ways) / total, balls) if ways < total else np.ones(1)
    for _ in range(bins):
        law = np.convolve(law, each)[: balls + 1]
    law = np.append(law, np.zeros(balls + 1 - len(law)))
    every = _poisson(mean, balls)
    return np.asarray(np.where(every > _LEAST_FLOAT, np.minimum(1.0, law / np.maximum(every, _LEAST_FLOAT)), 0.0))


def _poisson(mean: float, most: int) -> FloatArray:
    """Return the Poisson probabilities of 0 .. most."""
    return np.asarray(np.exp(np.cumsum(np.append(-mean, np.log(mean / np.arange(1, most + 1))))))


# Sharper bounds on the probability that no channel of a laminar network is overloaded, block by block.
#
# Write E_c for "at most K_c flows cross channel c", D_c for the opposite, A for "E_b for all channels b of the blocks
# before", B for "E_c for all channels c of the next block". Two channels are *near* if they are on a common path, or
# the same; else *far*. Then (proof below)
#
#     - Σ loss(b, c) r(b, c)  ≤  P(A and B) - P(A) P(B)  ≤  Σ gain(b, c) r(b, c),
#
# sums over channels b before and c of the block, with gain(b, c) the covariance of D_b and D_c for near ones, loss(b,
# c) minus the covariance for far ones, and r(b, c) a bound on the probability that all channels that are far from b and
# c have no more flows than they may, K_b + K_c + 1 flows left out. With Λ(e) the sum of P(D) over channels near e, Λ
# its maximum over e, κ = 1 + max K, and H the maximum over flows f of Σ P(f crosses e) P(K_e other flows cross e), sums
# over channels of A and B,
#
#     r(b, c) ≤ α + (Λ(b) + Λ(c) + (K_b + K_c + 1) H) R_3,   R_j ≤ α + j (Λ + κ H) R_{j+1},   R_j ≤ 1,
#
# where α is an upper bound of P(A), or of P(A) P(B) + Σ gain(b, c) r(b, c).
#
# *Covariance.* Let X be the paths of all flows, Y an independent copy, and X(k) have the paths of the first k flows
# from Y, the others from X. P(A and B) - P(A) P(B) is the sum over k of P(X in A, X(k - 1) in B) - P(X in A, X(k) in
# B). These also are what they are with the paths of flow k in X and Y exchanged, which are alike. So the sum is
#
#     Σ_k P(X_k breaks A and B, Y_k neither one) - P(X_k breaks B but not A, Y_k breaks A but not B),
#
# "breaks" given the paths of the other flows, in X for A and in X(k) for B. A path breaks A only if it crosses a
# channel b that K_b others cross. In the first term, X_k crosses such channels b and c of A and B, which are near, Y_k
# crosses neither one, and all other channels have no more flows than they may. In the second one, X_k crosses c and Y_k
# crosses b. If these are near, the flow crosses one of them only if it crosses the other one, so X_k breaks A too, or
# Y_k breaks B too: they are far. Without "all other channels", these are the terms of the covariance of E_b and E_c
# alone, for which the identity holds as well.
#
# *Leaving out.* Given which flows cross b and which cross c, flows are independent. Those that cross neither one have,
# on channels far from both, the paths of flows of which nothing is known; but these have none there if they cross b or
# c. So if the flows through b and c and flow k are left out, and nothing is known of the others, it is at least as
# probable that no far channel has more flows than it may. Let F be such an event: j channels with all that are near are
# left out, and a set T of at most j κ flows. That all channels of A, in X, and of B, in X(k - 1), have no more flows
# than they may has at most the probability α: that is the sum above, ended early. If it is not so, but F is, then for
# some channel e
#
# - D_e, and e is near one of the j: uncover flows until K_e + 1 cross e, and leave these out as well. In the sum over
#   e, the probability of this is at most j Λ R_{j+1};
# - or T makes the difference: put the flows of T back one after another. One of them, f, crosses e, which K_e others
#   cross. Leave these out as well. In the sum over f and e, the probability of this is at most |T| H R_{j+1}.  ∎


_DEEPEST = 40  # channels that are left out with all that are near


class Pivots:
    """Bounds on the probability that no channel is loaded more than allowed, for laminar networks.

    Parameters
    ----------
    crossings : Crossings
    joints : Joints
    """

    def __init__(self, crossings: Crossings, joints: Joints) -> None:
        self._on, self._joints = crossings, joints

    def within(
        self, limit: Array, over: FloatArray, fits: FloatArray, covariances: tuple[FloatArray, FloatArray, FloatArray]
    ) -> tuple[float, float]:
        """Return bounds on the probability that no channel has more than `limit` flows, by group of channels.

        Shapes: `limit` (groups,), `over` and `fits` (groups, 2).
        """
        if (limit < 0).any():
            return 0.0, 0.0
        gain, loss, _ = covariances
        near, far = self._joints.near, self._joints.far
        hazard, reach = self._hazard(limit), _Reach(self._on, self._near, over[:, 1])
        path = np.zeros(len(self._on.draws.pairs))  # hazards of a flow of each type
        most = int(limit.max()) + 1
        low = high = 1.0
        for at, block in enumerate(self._blocks):
            bottom, top = self._alone(block, limit, over, fits, covariances)
            for g in block.groups.tolist():
                path[self._on.types[g]] += self._on.sizes[g] * hazard[g]
            reach.add(at)
            high_before, high = high, min(1.0, high * top * MOST)
            lost = 0.0
            if len(block.before):
                pairs = block.before
                one, two = self._joints.one[pairs], self._joints.two[pairs]
                worst = float(path.max()) * MOST
                each = reach.of_group[one] + reach.of_group[two] + (limit[one] + limit[two] + 1) * worst
                more = gain[pairs] * near[pairs]
                chance = high_before
                for _ in range(2):  # the second time with a better bound of what holds after the block
                    rest = 1.0
                    for j in range(_DEEPEST, 2, -1):
                        rest = min(1.0, chance + j * (reach.most + most * worst) * rest)
                    kept = np.minimum(1.0, (chance + each * rest) * MOST)
                    added = float(more @ kept) * MOST
                    chance = min(chance, high + added)
                lost = float((loss[pairs] * far[pairs]) @ kept) * MOST
                high = min(1.0, high + added)
            low = max(0.0, low * bottom * LEAST - lost)
        return low, high

    @cached_property
    def _blocks(self) -> list[Block]:
        return blocks_of(self._on, self._joints)

    @cached_property
    def _near(self) -> list[tuple[Array, Array]]:
        """For each block, the channels near one of it, and the groups of the latter; a channel is near itself."""
        on = self._on
        block = np.empty(on.groups, np.int64)
        for at, one in enumerate(self._blocks):
            block[one.groups] = at
        every = np.arange(len(on.channel))
        channel, group = np.concatenate([every, on.two, on.one]), on.group[np.concatenate([every, on.one, on.two])]
        order = np.argsort(block[group], kind="stable")
        bounds = np.cumsum(np.bincount(block[group], minlength=len(self._blocks)))[:-1]
        return list(zip(np.split(channel[order], bounds), np.split(group[order], bounds), strict=True))

    def _hazard(self, limit: Array) -> FloatArray:
        """Return bounds on the probability that a flow crosses a channel, and so do as many others as may."""
        joints, total = self._joints, self._on.draws.total
        hazard = np.empty(self._on.groups)
        for g, (k, ways, flows) in enumerate(
            zip(limit.tolist(), joints.ways.tolist(), joints.crossing.tolist(), strict=True)
        ):
            law = binomial(min(flows - 1, k * total // ways), ways, total - ways)  # the number most likely to be k
            hazard[g] = (float(law[k]) if k < len(law) else 0.0) * ways / total * MOST + TINY
        return hazard

    def _alone(
        self,
        block: Block,
        limit: Array,
        over: FloatArray,
        fits: FloatArray,
        covariances: tuple[FloatArray, FloatArray, FloatArray],
    ) -> tuple[float, float]:
        """Return bounds on the probability that no channel of a block is overloaded."""
        joints, groups, pairs = self._joints, block.groups, block.within
        gain, loss, least = (values[pairs] for values in covariances)
        sizes = self._on.sizes[groups]
        more = float(gain @ joints.near[pairs]) * MOST
        product = float(np.prod(fits[groups, 1] ** sizes)) * MOST
        first = float(over[groups, 0] @ sizes)
        every = float(over[groups, 1] @ sizes)
        both = (every * every - float((over[groups, 0] ** 2) @ sizes) * LEAST) / 2 * MOST
        second = both + more - float(least @ joints.far[pairs]) * LEAST
        high = min(1.0, product + more, 1 - first * LEAST + max(0.0, second) + 1e-15)
        low = float(np.prod(fits[groups, 0] ** block.rest)) * LEAST
        for many, one in block.stars:
            low *= star(one, limit, joints, self._on.draws.total) ** many * LEAST
        return max(0.0, low - float(loss @ block.apart) * MOST), max(0.0, high)


class _Reach:
    """For channels of the blocks so far, how probably channels near them are overloaded, in sum.

    Parameters
    ----------
    on : Crossings
    near : list of (int array, int array)
        For each block, the channels near one of it, and the groups of the latter.
    over : float array, shape (groups,)
    """

    def __init__(self, on: Crossings, near: list[tuple[Array, Array]], over: FloatArray) -> None:
        self._on, self._near, self._over = on, near, over
        self._sum = np.zeros(len(on.channel))
        self.of_group = np.zeros(on.groups)

    def add(self, at: int) -> None:
        """Add the channels of a block."""
        channels, groups = self._near[at]
        self._sum += np.bincount(channels, self._over[groups], len(self._sum))
        np.maximum.at(self.of_group, self._on.group, self._sum * MOST)

    @property
    def most(self) -> float:
        """The largest sum."""
        return float(self.of_group.max())
