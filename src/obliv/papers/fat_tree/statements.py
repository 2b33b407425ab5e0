"""What the text and the algorithms state, and where the print is wrong."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, permutations
from math import isqrt

import numpy as np

import obliv
from obliv.papers.fat_tree.detour import Detour
from obliv.papers.fat_tree.said import FIGURE9, FIGURE10, STATEMENTS
from obliv.papers.fat_tree.stars import gap_instance
from obliv.papers.paper import Step, Value, computed, require
from obliv.results.numbers import known
from obliv.topologies.tree_bounds import single_path_bound, theorem5

__all__ = ["compute", "figure9", "figure10", "groups_in_use", "indices"]


def figure9(step: Step) -> dict[str, Value]:
    """Compute the sentences about Figure 9, OSRM2, exactly."""
    return computed(FIGURE9, (part() for part in (_figure9, _pairs_of_groups, _grid_of_the_text)), step)


def figure10(step: Step) -> dict[str, Value]:
    """Follow a branch of Figure 10, OSRM3."""
    return computed(FIGURE10, [_figure10()], step)


def compute(step: Step) -> dict[str, Value]:
    """Compute every statement exactly."""
    parts = (
        _lemma8_step,
        _theorem2,
        _detours,
        _theorem5_step,
        _theorem5,
        _wsr,
        lambda: _random_ties(6),
        lambda: _random_ties(8),
        _wsr_everywhere,
    )
    return computed(STATEMENTS, (part() for part in parts), step)


def _groups(half: int) -> tuple[int, int]:
    """Return the sizes of groups of sources and of destinations, Ns and Nd of Figure 9."""
    root = isqrt(half)
    return -(-half // (root + (root * root < half))), -(-half // root)


def indices(half: int, factor: str = "Nd") -> set[int]:
    """Return the top switches that the formula of Figure 9 names, for `half` = m/2, with Nd as printed or Zd."""
    sources, destinations = _groups(half)
    times = destinations if factor == "Nd" else isqrt(half)
    return {s // sources * times + d // destinations for s in range(half) for d in range(half)}


def groups_in_use(half: int) -> int:
    """Return the number of pairs of groups of section V-A that have members, for `half` = m/2."""
    sources, destinations = _groups(half)
    return len({(s // sources, d // destinations) for s in range(half) for d in range(half)})


def _figure9() -> Value:
    sizes = [half for half in range(2, 37) if isqrt(half) ** 2 != half]
    right, with_zd = (Fraction(sum(max(indices(half, factor)) < half for half in sizes)) for factor in ("Nd", "Zd"))
    smallest = sorted(indices(sizes[0]))
    return Value(
        right,
        f"On FT(4,2) it names {smallest} of switches 0 and 1.",
        readings={"Zd in the place of the letter Nd": Value(with_zd)},
    )


def _pairs_of_groups() -> Value:
    over = [2 * half for half in range(2, 37) if groups_in_use(half) > half]
    note = f"So for {len(over)} sizes up to 72: m = {', '.join(map(str, over))}."
    return Value(Fraction(min(groups_in_use(5), 5)), note)


def _grid_of_the_text() -> Value:
    ratios = {}
    for half in range(2, 19):
        root = isqrt(half)
        if root * root < half and root * (root + 1) <= half:
            tree = obliv.fattree(2 * half, 2)
            text = obliv.OSRM2(tree, sources=root + 1)
            require(text.grid == (root + 1, root), "the groups are those of section V-A")
            ratios[2 * half] = obliv.ratio(text).ratio, obliv.ratio(obliv.OSRM2(tree)).ratio
    same = sum(ours == theirs for ours, theirs in ratios.values())
    listed = ", ".join(f"m = {m}: {ratio}" for m, (ratio, _) in ratios.items())
    return Value(Fraction(same), f"{listed}. Where Zs · Zd > m/2 the paper defines no routing.")


def _figure10() -> Value:
    """Follow the printed branch on FT(4,3), link by link."""
    tree = obliv.fattree(4, 3)
    number = {tree.name_of(node): node for node in range(tree.nodes)}
    links = set(zip(tree.tail.tolist(), tree.head.tolist(), strict=True))
    (s0, s1, s2), (d0, d1, d2) = (0, 0, 0), (1, 1, 0)
    switches = [(s0, s1, 2), (s0, s2, 1), (s2, d2, 0), (d0, s2, 1), (d0, s1, 2)]
    names = [f"({s0},{s1},{s2})", *(f"(({i},{j}),{level})" for i, j, level in switches), f"({d0},{d1},{d2})"]
    hops = [(a, b) for a, b in pairwise(names) if (number[a], number[b]) in links]
    missing = [f"{a} → {b}" for a, b in pairwise(names) if (a, b) not in hops]
    return Value(Fraction(len(hops)), f"Not a link: {', '.join(missing)}.")


def _lemma8_step() -> Value:
    size, rest = gap_instance()
    return Value(Fraction(rest), f"The instance has {size} pairs, every link's maximum disjoint size is 1.")


def _theorem2() -> Value:
    return Value(obliv.ratio(obliv.routing("dmodk", obliv.eft2(32, 4))).ratio)


def _detours() -> Value:
    ratio = obliv.ratio(Detour(obliv.eft2(34, 9)))
    return Value(ratio.ratio, "Exact; ⌈√17⌉ = 5 holds for paths that climb once.")


def _theorem5_step() -> Value:
    half = 4
    sides = {n: (Fraction(half) ** (2 * (n - 1) // 3), Fraction(half) ** ((n - 1) // 3)) for n in range(2, 10)}
    over = [n for n, (left, right) in sides.items() if left != right**2]  # both sides squared
    require(all(left >= right**2 for left, right in sides.values()), "the left side is no less")
    left, right = sides[3]
    require(isqrt(int(left)) ** 2 == left, "√(m/2) is an integer")
    return Value(isqrt(int(left)) / right, f"They differ at n = {', '.join(map(str, over))} up to 9.")


def _theorem5() -> Value:
    values = {n: (theorem5(8, n), single_path_bound(8, n)) for n in range(2, 8)}
    text = "; ".join(f"n = {n}: {a} and {b}" for n, (a, b) in values.items())
    return Value(Fraction(values[5][1], values[5][0]), f"On FT(8,n), printed and that: {text}.")


def _wsr() -> Value:
    tree = obliv.fattree(4, 3)
    wsr, dmodk = (obliv.routing(name, tree) for name in ("wsr", "dmodk"))
    same = sum(list(wsr.paths(s, d)) == list(dmodk.paths(s, d)) for s, d in permutations(range(16), 2))
    return Value(Fraction(same), "WSR by its own rule, the links' counts added up.")


def _random_ties(m: int) -> Value:
    tree = obliv.fattree(m, 3)
    ratios = {known(obliv.ratio(obliv.WSR(tree, ties="random", seed=seed)).ratio) for seed in range(4)}
    return Value(max(ratios), "The same with four seeds (wsr:ties=random,seed=0 to 3)." if len(ratios) == 1 else "")


def _wsr_everywhere() -> Value:
    trees = [obliv.fattree(m, 2) for m in range(4, 38, 2)] + [obliv.fattree(16, 3)]
    count = 0
    for tree in trees:
        hosts = np.arange(tree.below[-1])
        pairs = np.nonzero(hosts[:, None] != hosts)
        count += np.array_equal(obliv.WSR(tree).ways(*pairs), obliv.DModK(tree).ways(*pairs))
    return Value(Fraction(count))
