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

import numpy as np

from obliv._util.typing import Array, FloatArray
from obliv.analysis.lottery.crossings import Crossings
from obliv.analysis.lottery.joints import Joints
from obliv.analysis.lottery.laws import LEAST, TINY, Law, binomial

__all__ = ["Block", "Star", "blocks_of", "filled", "star"]

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
    heights = on.draws.topology.heights
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
