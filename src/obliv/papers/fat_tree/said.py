"""What the text says of the figures, the algorithms and the theorems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, permutations
from math import isqrt

import numpy as np

import obliv
from obliv.papers.fat_tree.disjointness import gap_instance
from obliv.papers.paper import AtLeast, AtMost, ComputedEntry, Printed, Step, computed, require
from obliv.results.numbers import Bounds, known
from obliv.routings.base import Routing
from obliv.topologies.trees import Tree, single_path_bound, theorem5

_CLOSE = (
    "all of the single path routing algorithms achieve a similar performance and their performance ratios are very "
    "close to 1"
)
_ABOVE = (
    "When the load is high (the probability of the communication between two nodes is larger than 0.75), all schemes "
    "have a performance ratio of 1"
)
_OTHERS = "our optimal oblivious routing algorithms are either comparable to or better than MLID and WSR on average"
_SIMILAR = "Results for FT(16,3) are similar to those in FT(8,3)"

#: Section VI about Tables II and III.
REGULAR = {
    "Hypercube on FT(32,2), printed means: MLID/WSR over OSRM2, less 1": Printed("6.8%"),
    "Ring on FT(32,2), printed means: MLID/WSR over OSRM2, less 1": Printed("16.8%"),
    "Printed improvements on FT(32,2) from 6.8% to 16.8%, of 5": Printed(
        "ranging from 6.8% for the hypercube pattern to 16.8% for the ring pattern", Fraction(5)
    ),
    "Hypercube on FT(32,2), computed means: MLID/WSR over OSRM2, less 1": Printed("6.8%"),
    "Ring on FT(32,2), computed means: MLID/WSR over OSRM2, less 1": Printed("16.8%"),
    "Patterns on FT(8,3) and FT(16,3) on which OSRM3 and MLID/WSR differ insignificantly, of 10": Printed(
        "the difference is statistically insignificant", Fraction(10)
    ),
    "Pairs of FT(8,3) whose paths under MLID and WSR are each other's reverse": Printed(
        "The MLID and WSR always have exactly the same performance ratio for symmetrical traffics", Fraction(128 * 127)
    ),
    "Symmetric instances with one ratio under MLID and WSR, of 96": Printed(
        "The MLID and WSR always have exactly the same performance ratio for symmetrical traffics", Fraction(96)
    ),
    "Instances of random traffic with two ratios under MLID and WSR, of 32": Printed(
        "They give different performance ratios only when the traffic matrix is asymmetrical", AtLeast(Fraction(1))
    ),
}

_WORDS = (
    "The paper does not say how much is slight, noticeable or similar, and these words bound nothing. Its own numbers: "
    '"about 3%" is slight (hot spots), and 6.8% to 16.8% (Table II) are noticeable.'
)
DLID = '"WSR/DLID": a scheme DLID is named nowhere else; one letter, which can be a slip of our copy, for MLID.'
_HOW_CLOSE = "The paper does not say how close, here or where it says that the ratios of Figure 11 are very close to 1."

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


def _quotient(m: int, n: int, text: str, known: str = "WSR") -> Printed:
    """Return the entry of a quotient of means, known routings below, compared in words that bound nothing."""
    least, most = Fraction(1, ratio_of(m, n, known)), Fraction(ratio_of(m, n, f"OSRM{n}"))
    return Printed(text, undecided=_WORDS, right=Bounds(least, most))


def _points(m: int, n: int, known: tuple[str, ...], at: Sequence[object], along: str) -> dict[str, Printed]:
    why = "A point of the figure: a mean with its standard error. Our copy of the paper has no images."
    return {f"{along} {x}, {name}": mean_of(m, n, name, why) for x in at for name in (*known, f"OSRM{n}")}


def _largest(m: int, n: int, text: str, known: tuple[str, ...]) -> Printed:
    most = max(ratio_of(m, n, name) for name in (*known, f"OSRM{n}"))
    return Printed(text, undecided=_HOW_CLOSE, right=Bounds(Fraction(1), Fraction(most)))


_GROUPS = ("MLID/WSR",)
_BOTH = ("MLID", "WSR")

FIGURES = {
    "figure11": {
        "largest mean of eight densities on FT(16,3)": _largest(16, 3, _CLOSE, _BOTH),
        **{
            f"largest mean of eight densities on FT({m},{n}), over that on FT(16,3)": Printed(
                "The results on FT(32, 2) and FT(8, 3) are very similar.",
                undecided=_WORDS,
                right=Bounds(Fraction(1, ratio_of(16, 3, "WSR")), Fraction(ratio_of(m, n, "WSR"))),
            )
            for m, n in ((32, 2), (8, 3))
        },
        "largest quotient of the means of two routings at a density, three trees": Printed(
            "all of the single path routing algorithms achieve a similar performance",
            undecided=_WORDS,
            right=Bounds(Fraction(1), Fraction(ratio_of(32, 2, "WSR"))),
        ),
        "probabilities 4/5 and 9/10 on three trees, largest mean of all schemes": Printed(_ABOVE, "1.00"),
        "all pairs on FT(16,3), MLID, WSR and OSRM3": Printed("1", Fraction(1)),
        **_points(16, 3, _BOTH, DENSITIES, "probability"),
    },
    "figure12": {
        "groups of 2 on FT(32,2), MLID/WSR": Printed("larger than 4", AtLeast(Fraction(4))),
        "groups of 2 on FT(32,2), OSRM2": Printed("no more than 4", AtMost(Fraction(4))),
        "groups of 2 to 128 on FT(32,2), OSRM2 over MLID/WSR": _quotient(
            32, 2, "OSRM2 performs noticeable better than MLID/WSR."
        ),
        **_points(32, 2, _GROUPS, SIZES, "size"),
    },
    "figure13": {
        "groups of 2 to 128 on FT(8,3), OSRM3 over MLID/WSR": _quotient(8, 3, "only slightly on FT(8,3) and FT(16,3)"),
        "groups of 2 to 128 on FT(16,3), OSRM3 over MLID/WSR": _quotient(
            16, 3, f"{_SIMILAR}. ... only slightly on FT(8,3) and FT(16,3)"
        ),
        **_points(8, 3, _GROUPS, SIZES, "size"),
    },
    "figure14": {
        "4 hot spots of 2 to 128 on FT(32,2), OSRM2 over WSR": Printed(
            "OSRM2 is slightly (about 3% on average among all cases in the experiment) worse than WSR/DLID in FT(32,2)",
            "1.03",
        ),
        "4 hot spots on FT(32,2), largest mean": _largest(
            32, 2, "The performance ratios of all schemes are close to 1", _GROUPS
        ),
        **_points(32, 2, _GROUPS, SIZES, "size"),
    },
    "figure15": {
        "4 hot spots of 2 to 128 on FT(16,3), OSRM3 over WSR": _quotient(
            16, 3, "The performance of OSRM3 is similar to other single path routing schemes in FT(16,3)"
        ),
        "4 hot spots on FT(16,3), largest mean": _largest(
            16, 3, "The performance ratios of all schemes are close to 1", _GROUPS
        ),
        **_points(16, 3, _GROUPS, SIZES, "size"),
    },
}

OTHER_TREES = {
    "Groups of 2 to 32 on FT(18,2), OSRM2 over MLID/WSR": _quotient(
        18, 2, f"{_OTHERS}. Moreover, the improvement on FT(m, 2) is quite noticeable in most cases"
    ),
    "Groups of 2 to 32 on FT(12,3), OSRM3 over MLID/WSR": _quotient(
        12, 3, f"{_OTHERS}. ... while the improvement on FT(m, 3) is small"
    ),
}

FIGURE9 = {
    "Figure 9: sizes m up to 72, √(m/2) not an integer, whose indices name existing switches only, of 30": (
        Printed(
            "Our algorithm OSRM2, described in Fig. 9, can also handle the case when √(m/2) is not an integer.",
            Fraction(30),
            erratum='Figure 9 prints "Let m2 = m/2; Let Zs = ⌈√m2⌉, Zd = ⌊√m2⌋; Let Ns = ⌈m2/Zs⌉, Nd = ⌈m2/Zd⌉" and '
            '"node(s0, s1) → switch(s0, 1) → switch(s1/Ns * Nd + d1/Nd, 0) → switch(d0, 1) → node(d0, d1)". Section '
            'V-A: "The m/2 top level switches are labeled switches (0,0), (1,0), ..., (m/2 - 1, 0)"; link (i,1) → '
            '(j,0) carries pairs "with source nodes in group j/Z in switch (i, 1) and destination nodes in group '
            'j mod Z", so that the factor is the number of groups of destinations, Zd, not their size. (With Zd for '
            "that letter, should our copy have it wrong, it holds for 20 of the 30 sizes; see the next row.)",
            right=Fraction(0),
        )
    ),
    "Section V-A, √(m/2) not an integer: top switches of FT(10,2) for the 6 pairs of groups": Printed(
        "When √(m/2) is not an integer, the algorithm partitions the m/2 sources attached with each of the level 1 "
        "switch into Zs = ⌈√(m/2)⌉ groups and the m/2 destinations into Zd = ⌊√(m/2)⌋ groups. It then uses the same "
        "logic as the cases when √(m/2) is an integer to schedule the SD pairs.",
        Fraction(6),
        erratum='The logic is that "each upper level switch carries SD pairs from nodes in one group to nodes in '
        'another group": one switch for each of the Zs · Zd pairs of groups. With f = ⌊√(m/2)⌋ these are f² + f, '
        "more than the m/2 switches where f² < m/2 < f² + f.",
        right=Fraction(5),
    ),
    "Section V-A, √(m/2) not an integer, enough top switches: sizes up to 36 with the ratio of osrm2, of 9": Printed(
        "",
        beyond="Where Zs · Zd ≤ m/2, the words of section V-A are a routing: Zs groups of sources by Zd groups of "
        "destinations. The paper states no ratio of it; osrm2 takes a grid of the same ratio with the fewest groups of "
        "sources, since a host needs an address for each.",
        right=Fraction(9),
    ),
}

FIGURE10 = {
    "Figure 10, last branch on FT(4,3), (0,0,0) to (1,1,0): hops that are links, of 6": Printed(
        "node(s0,s1,s2) → switch((s0,s1),2) → switch((s0,s2),1) → switch((s2,d2),0) → switch((d0,s2),1) → "
        "switch((d0,s1),2) → node(d0,d1,d2)",
        undecided='By section V-B, "A processing node (p0, p1, p2) is attached to switch ((p0, p1), 2)", the last '
        "switch is ((d0,d1),2), as in the branch above it. One letter, which can be a slip of our copy, a text "
        "conversion.",
        right=Fraction(5),
    ),
}

STATEMENTS = {
    "Lemma 8, step of the proof on SEFT2(4,4), X = 1: L of the rest": Printed(
        "From Lemma 4, L(All(i,1)→(R,0) - ∪x≠i LXsrc(i,x)) ≤ X - Σx≠i E(i,x).",
        AtMost(Fraction(-2)),
        erratum="A gap in the proof; the lemma is right (docs/explanation/fat-trees.md proves it by covers). Lemma 4 "
        "counts each source once; Σ E(i,x) counts a source once for each switch x to which it has more than X pairs. "
        "Instance: a host of switch 0 sends to all hosts elsewhere, and all of them send to it. These are 12 = "
        "k(k-1)X² pairs, so they are a largest set S; X = m/k. E(0,x) = 1 for three x: the right side is 1 - 3.",
        right=Fraction(0),
    ),
    "Theorem 2 below k = √(2m): D-mod-k on EFT2(32,4), where √(m/2) = 4": Printed(
        "",
        beyond='The theorem begins "If k ≥ √(2m)"; below that the ratio of D-mod-k is min(m/2, k-1).',
        right=Fraction(3),
    ),
    "Paths with detours: least ratio known on EFT2(34,9), where Theorem 2 gives 5": Printed(
        "",
        beyond='Section II-B: "A path between two processing nodes in FT(m, n) has two phases: the first phase '
        'contains only up channels and the second phase contains only down channels." A routing that comes down at a '
        "third leaf and climbs again is outside this model.",
        right=Fraction(4),
    ),
    "Theorem 5, proof at n = 3 on FT(8,3): disjoint pairs of the left side over those of the right": Printed(
        "√(2(m/2)^⌊2(n-1)/3⌋ / 2) = (m/2)^⌊(n-1)/3⌋",
        undecided="At n = 3 the left side is √(m/2) and the right 1; they differ where n is a multiple of 3. One sign, "
        "which can be a slip of our copy: ≥ holds for every n, and the theorem needs no more.",
        right=Fraction(2),
    ),
    "Theorem 5 at n = 5: a bound on FT(8,5) over the printed one": Printed(
        "",
        beyond="The same argument gives (m/2)^(⌊2n/3⌋/2), never less than (m/2)^⌊(n-1)/3⌋.",
        right=Fraction(2),
    ),
    "WSR's routes on FT(4,3) that are D-mod-k's, of 240": Printed(
        "A recently proposed scheme [9] yields exactly the same routes as WSR.",
        undecided="The paper does not define the scheme of [9]; D-mod-k is taken for it, ties in WSR go to the path of "
        "lowest number.",
        right=Fraction(240),
    ),
    **{
        f"WSR with ties drawn at random, FT({m},3): ratio": Printed(
            "",
            beyond="Table I prints m - 1 for WSR. The paper does not say which of several paths with the smallest "
            f"accumulated weight is selected: the lowest number gives {m - 1}, and chance gives more.",
            right=Bounds(Fraction(m), Fraction(m * m, 4)),
        )
        for m in (6, 8)
    },
    "WSR's routes that are D-mod-k's: trees with all of them, of 18": Printed(
        "",
        beyond="Proved for every FT(m, n) in docs/explanation/fat-trees.md; here by WSR's own rule on FT(4..36,2) and "
        "FT(16,3).",
        right=Fraction(18),
    ),
}


# A routing with detours, outside the paper's model, whose ratio is below the bound for paths that climb once


class Detour(Routing):
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


def figure9(step: Step) -> dict[str, ComputedEntry]:
    """Compute the sentences about Figure 9, OSRM2, exactly."""
    return computed(FIGURE9, (part() for part in (_figure9, _pairs_of_groups, _grid_of_the_text)), step)


def figure10(step: Step) -> dict[str, ComputedEntry]:
    """Follow a branch of Figure 10, OSRM3."""
    return computed(FIGURE10, [_figure10()], step)


def compute(step: Step) -> dict[str, ComputedEntry]:
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


def _figure10() -> ComputedEntry:
    """Follow the printed branch on FT(4,3), link by link."""
    tree = obliv.fattree(4, 3)
    number = {tree.name_of(node): node for node in range(tree.nodes)}
    links = set(zip(tree.tail.tolist(), tree.head.tolist(), strict=True))
    (s0, s1, s2), (d0, d1, d2) = (0, 0, 0), (1, 1, 0)
    switches = [(s0, s1, 2), (s0, s2, 1), (s2, d2, 0), (d0, s2, 1), (d0, s1, 2)]
    names = [f"({s0},{s1},{s2})", *(f"(({i},{j}),{level})" for i, j, level in switches), f"({d0},{d1},{d2})"]
    hops = [(a, b) for a, b in pairwise(names) if (number[a], number[b]) in links]
    missing = [f"{a} → {b}" for a, b in pairwise(names) if (a, b) not in hops]
    return ComputedEntry(Fraction(len(hops)), f"Not a link: {', '.join(missing)}.")


def _lemma8_step() -> ComputedEntry:
    size, rest = gap_instance()
    return ComputedEntry(Fraction(rest), f"The instance has {size} pairs, every link's maximum disjoint size is 1.")


def _theorem2() -> ComputedEntry:
    return ComputedEntry(obliv.ratio(obliv.routing("dmodk", obliv.eft2(32, 4))).ratio)


def _detours() -> ComputedEntry:
    ratio = obliv.ratio(Detour(obliv.eft2(34, 9)))
    return ComputedEntry(ratio.ratio, "Exact; ⌈√17⌉ = 5 holds for paths that climb once.")


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
