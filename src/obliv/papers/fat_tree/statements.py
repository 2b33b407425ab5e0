"""What the text says of the figures, the algorithms and the theorems, and a routing with detours outside its model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, permutations
from math import isqrt

import numpy as np

import obliv
from obliv.papers.fat_tree.disjointness import gap_instance
from obliv.papers.paper import ComputedEntry, Printed, Step, Value, print_of, require
from obliv.results.numbers import Bounds, known
from obliv.topologies.trees import Tree, single_path_bound, theorem5

PRINT = print_of("fat_tree")

SIZES = (2, 4, 8, 16, 32, 64, 128)
DENSITIES = ("1/100", "1/50", "1/20", "1/10", "1/4", "1/2", "3/4", "1")


def ratio_of(m: int, n: int, routing: str) -> int:
    """Return the oblivious ratio of a routing of the study on FT(m, n) by Table I: no mean over traffic exceeds it."""
    if n == 3:
        return m // 2 if routing == "OSRM3" else m - 1
    return isqrt(m // 2) if routing == "OSRM2" else m // 2


def mean_of(m: int, n: int, routing: str, why: str) -> Printed:
    """Return the entry of a mean that the paper prints no number of; it lies between 1 and the oblivious ratio."""
    return Printed("", beyond=why, right=Bounds(Fraction(1), Fraction(ratio_of(m, n, routing))))


def _points(m: int, n: int, known: tuple[str, ...], at: Sequence[object], along: str) -> dict[str, Printed]:
    why = "A point of the figure: a mean with its standard error. Our copy of the paper has no images."
    return {f"{along} {x}, {name}": mean_of(m, n, name, why) for x in at for name in (*known, f"OSRM{n}")}


POINTS = {
    "figure11": _points(16, 3, ("MLID", "WSR"), DENSITIES, "probability"),
    "figure12": _points(32, 2, ("MLID/WSR",), SIZES, "size"),
    "figure13": _points(8, 3, ("MLID/WSR",), SIZES, "size"),
    "figure14": _points(32, 2, ("MLID/WSR",), SIZES, "size"),
    "figure15": _points(16, 3, ("MLID/WSR",), SIZES, "size"),
}


# A routing with detours, outside the paper's model, whose ratio is below the bound for paths that climb once


class Detour(obliv.Routing):
    """Routing on EFT2(34, 9): up by the digit of the source, down to a third leaf, up by that of the destination, down.

    The leaves of both ends determine the third leaf, so that four hosts are an end of every pair on a link. Theorem 2
    gives five for paths that go up, then down, as section II-B has them.
    """

    topology: Tree

    def __init__(self, topology: Tree) -> None:
        super().__init__(topology, "detour")
        ends = zip(topology.tail.tolist(), topology.head.tolist(), strict=True)
        self.channel = {pair: c for c, pair in enumerate(ends)}

    def paths(self, source: int, destination: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        k, leaves = self.topology.children
        (a, i), (b, j) = divmod(source, k), divmod(destination, k)
        leaf, root = k * leaves, k * leaves + leaves
        c = b % 3 + 3 * (a % 3)
        if a == b:
            nodes = [source, leaf + a, destination]
        elif c == b or i == j:
            nodes = [source, leaf + a, root + i, leaf + b, destination]
        elif c == a:
            nodes = [source, leaf + a, root + j, leaf + b, destination]
        else:
            nodes = [source, leaf + a, root + i, leaf + c, root + j, leaf + b, destination]
        steps = pairwise(nodes)
        yield () if source == destination else tuple(self.channel[step] for step in steps), Fraction(1)


# What the text and the algorithms state, and where the print is wrong


def figure9(step: Step) -> Iterator[Value]:
    """Compute the sentences about Figure 9, OSRM2, exactly."""
    return (part() for part in (_figure9, _pairs_of_groups, _grid_of_the_text))


def compute(step: Step) -> Iterator[Value]:
    """Compute every statement exactly."""
    size, rest = gap_instance()
    yield ComputedEntry(Fraction(rest), f"The instance has {size} pairs, every link's maximum disjoint size is 1.")
    yield _theorem2()
    yield _detours()
    yield _theorem5_step()
    yield _theorem5()
    yield _wsr()
    yield from map(_random_ties, (6, 8))
    yield _wsr_everywhere()


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


def _figure9() -> ComputedEntry:
    sizes = [half for half in range(2, 37) if isqrt(half) ** 2 != half]
    right, with_zd = (Fraction(sum(max(indices(half, factor)) < half for half in sizes)) for factor in ("Nd", "Zd"))
    smallest = sorted(indices(sizes[0]))
    return ComputedEntry(
        right,
        f"On FT(4,2) it names {smallest} of switches 0 and 1.",
        readings={"Zd in the place of the letter Nd": ComputedEntry(with_zd)},
    )


def _pairs_of_groups() -> ComputedEntry:
    over = [2 * half for half in range(2, 37) if groups_in_use(half) > half]
    note = f"So for {len(over)} sizes up to 72: m = {', '.join(map(str, over))}."
    return ComputedEntry(Fraction(min(groups_in_use(5), 5)), note)


def _grid_of_the_text() -> ComputedEntry:
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
    return ComputedEntry(Fraction(same), f"{listed}. Where Zs · Zd > m/2 the paper defines no routing.")


def figure10(step: Step) -> Iterator[Value]:
    """Follow the printed branch of Figure 10, OSRM3, on FT(4,3), link by link."""
    tree = obliv.fattree(4, 3)
    number = {tree.name_of(node): node for node in range(tree.nodes)}
    links = set(zip(tree.tail.tolist(), tree.head.tolist(), strict=True))
    (s0, s1, s2), (d0, d1, d2) = (0, 0, 0), (1, 1, 0)
    switches = [(s0, s1, 2), (s0, s2, 1), (s2, d2, 0), (d0, s2, 1), (d0, s1, 2)]
    names = [f"({s0},{s1},{s2})", *(f"(({i},{j}),{level})" for i, j, level in switches), f"({d0},{d1},{d2})"]
    hops = [(a, b) for a, b in pairwise(names) if (number[a], number[b]) in links]
    missing = [f"{a} → {b}" for a, b in pairwise(names) if (a, b) not in hops]
    yield ComputedEntry(Fraction(len(hops)), f"Not a link: {', '.join(missing)}.")


def _theorem2() -> Value:
    return obliv.ratio(obliv.routing("dmodk", obliv.eft2(32, 4))).ratio


def _detours() -> Value:
    ratio = obliv.ratio(Detour(obliv.eft2(34, 9))).ratio
    return ComputedEntry(ratio, "Exact; ⌈√17⌉ = 5 holds for paths that climb once.")


def _theorem5_step() -> ComputedEntry:
    half = 4
    sides = {n: (Fraction(half) ** (2 * (n - 1) // 3), Fraction(half) ** ((n - 1) // 3)) for n in range(2, 10)}
    over = [n for n, (left, right) in sides.items() if left != right**2]  # both sides squared
    require(all(left >= right**2 for left, right in sides.values()), "the left side is no less")
    left, right = sides[3]
    require(isqrt(int(left)) ** 2 == left, "√(m/2) is an integer")
    return ComputedEntry(isqrt(int(left)) / right, f"They differ at n = {', '.join(map(str, over))} up to 9.")


def _theorem5() -> ComputedEntry:
    values = {n: (theorem5(8, n), single_path_bound(8, n)) for n in range(2, 8)}
    text = "; ".join(f"n = {n}: {a} and {b}" for n, (a, b) in values.items())
    return ComputedEntry(Fraction(values[5][1], values[5][0]), f"On FT(8,n), printed and that: {text}.")


def _wsr() -> ComputedEntry:
    tree = obliv.fattree(4, 3)
    wsr, dmodk = (obliv.routing(name, tree) for name in ("wsr", "dmodk"))
    same = sum(list(wsr.paths(s, d)) == list(dmodk.paths(s, d)) for s, d in permutations(range(16), 2))
    return ComputedEntry(Fraction(same), "WSR by its own rule, the links' counts added up.")


def _random_ties(m: int) -> ComputedEntry:
    tree = obliv.fattree(m, 3)
    ratios = {known(obliv.ratio(obliv.WSR(tree, ties="random", seed=seed)).ratio) for seed in range(4)}
    return ComputedEntry(
        max(ratios), "The same with four seeds (wsr:ties=random,seed=0 to 3)." if len(ratios) == 1 else ""
    )


def _wsr_everywhere() -> ComputedEntry:
    trees = [obliv.fattree(m, 2) for m in range(4, 38, 2)] + [obliv.fattree(16, 3)]
    count = 0
    for tree in trees:
        hosts = np.arange(tree.below[-1])
        pairs = np.nonzero(hosts[:, None] != hosts)
        count += np.array_equal(obliv.WSR(tree).ways(*pairs), obliv.DModK(tree).ways(*pairs))
    return ComputedEntry(Fraction(count))
