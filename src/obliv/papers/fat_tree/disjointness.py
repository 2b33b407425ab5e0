"""Definitions and lemmas of section IV and Lemma 9, over all sets of pairs of a few nodes and over small trees."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np

import obliv
from obliv.analysis.ratios import lemmas
from obliv.analysis.ratios.disjoint_sets import (
    destination_set,
    destinations,
    is_disjoint,
    largest_disjoint_subset,
    largest_star,
    pairs_on_links,
    source_set,
    sources,
)
from obliv.papers.fat_tree.stars import most_pairs
from obliv.papers.paper import Printed, Value, agreeing

__all__ = ["DISJOINTNESS", "Pair", "every_set", "size_of"]

Pair = tuple[int, int]

_EXAMPLE = {(1, 2), (1, 3), (2, 1), (2, 4), (3, 1)}
_SETS = "sets of pairs of 3 and 3 nodes"


def _definitions() -> Value:
    fits = {
        "{(1,2), (1,3)}": not is_disjoint({(1, 2), (1, 3)}),
        "{(1,2), (3,1)}": is_disjoint({(1, 2), (3, 1)}),
        "a subset": is_disjoint({(1, 2), (2, 1)}),
        "the largest subsets": all(is_disjoint(_EXAMPLE - part) for part in ({(1, 3), (2, 1)}, {(1, 2), (2, 1)})),
        "L(A)": len(largest_disjoint_subset(_EXAMPLE)) == 3,
        "SRC(A)": sources(_EXAMPLE) == {1, 2, 3},
        "DST(A)": destinations(_EXAMPLE) == {1, 2, 3, 4},
        "S_1": source_set(_EXAMPLE, 1) == {(1, 2), (1, 3)},
        "S_2": source_set(_EXAMPLE, 2) == {(2, 1), (2, 4)},
        "S_3": source_set(_EXAMPLE, 3) == {(3, 1)},
        "D_1": destination_set(_EXAMPLE, 1) == {(2, 1), (3, 1)},
        "D_2": destination_set(_EXAMPLE, 2) == {(1, 2)},
        "D_3": destination_set(_EXAMPLE, 3) == {(1, 3)},
        "D_4": destination_set(_EXAMPLE, 4) == {(2, 4)},
        "LS(A)": largest_star(_EXAMPLE) == 2,
    }
    return agreeing(fits.items(), "statements about the examples")


@cache
def every_set(sources: int, destinations: int) -> tuple[frozenset[Pair], ...]:
    """Return all sets of pairs of so many nodes."""
    pairs = list(product(range(sources), range(destinations)))
    return tuple(frozenset(part) for size in range(1, len(pairs) + 1) for part in combinations(pairs, size))


@cache
def size_of(pairs: frozenset[Pair]) -> int:
    """Return L, the size of a largest node disjoint subset."""
    return len(largest_disjoint_subset(pairs))


def _of_every_set(fits: Callable[[frozenset[Pair]], bool]) -> Callable[[], Value]:
    return lambda: agreeing(((str(sorted(part)), fits(part)) for part in every_set(3, 3)), _SETS)


def _lemma1(part: frozenset[Pair]) -> bool:
    return min(len(sources(part)), len(destinations(part))) == lemmas.lemma1(part) >= size_of(part)


def _lemma2() -> Value:
    fits = Fraction(sum(size_of(a) + size_of(b) >= size_of(a | b) for a in every_set(3, 3) for b in every_set(3, 3)))
    count = len(every_set(3, 3)) ** 2
    return Value(fits, f"{fits} of {count} pairs of {_SETS} agree.", against=Fraction(count))


def _lemma3(part: frozenset[Pair]) -> bool:
    stars = [source_set(part, s) for s in sources(part)] + [destination_set(part, d) for d in destinations(part)]
    return all(size_of(part - star) == size_of(part) - 1 for star in stars if len(star) > size_of(part))


def _lemma4(part: frozenset[Pair]) -> bool:
    rest, size = lemmas.lemma4(part)
    return size_of(frozenset(rest)) == size


def _lemma5(part: frozenset[Pair]) -> bool:
    return len(part) <= lemmas.lemma5(part)


def _lemma6() -> Value:
    tree = obliv.eft2(8, 6)
    rng = np.random.default_rng(1)
    cases = []
    for number in range(100):
        ends = [rng.permutation(24)[:4].tolist() for _ in range(2)]
        paths = lemmas.lemma6(tree, zip(*ends, strict=True))
        channels = [channel for path in paths.values() for channel in path]
        walks = [[s, *tree.head[list(path)].tolist()] for (s, _), path in paths.items()]
        leads = all(
            walk[:-1] == tree.tail[list(path)].tolist() and walk[-1] == d
            for walk, ((_, d), path) in zip(walks, paths.items(), strict=True)
        )
        cases.append((str(number), leads and len(paths) == 4 and len(channels) == len(set(channels))))
    return agreeing(cases, "random sets of 4 pairs on EFT2(8,6)")


def _lemma7() -> Value:
    cases = []
    for k, spec in product(range(3, 9), ("dmodk", "mlid", "wsr", "osrm2", "hash:seed=1", "hash:seed=2")):
        routing = obliv.routing(spec, obliv.eft2(8, k))
        cases.append((f"EFT2(8,{k}) {spec}", obliv.ratio(routing).lower >= lemmas.lemma7(routing)))
    return agreeing(cases, "routings")


def _lemma8() -> Value:
    return Value(Fraction(most_pairs(2, 4)), "By exhaustion over the sources or destinations that cover each link.")


def _lemma9() -> Value:
    cases = []
    for (m, n), spec in product(((4, 2), (8, 2), (6, 3)), ("dmodk", "mlid", "osrm")):
        routing = obliv.routing(f"osrm{n}" if spec == "osrm" else spec, obliv.fattree(m, n))
        cases.append((f"FT({m},{n}) {spec}", obliv.ratio(routing).upper <= lemmas.lemma9(routing)))
    return agreeing(cases, "routings")


def _sides_of_links() -> Value:
    cases = []
    for m, n, most in ((8, 2, 2), (18, 2, 3), (4, 3, 2), (8, 3, 4)):
        pairs = pairs_on_links(obliv.routing(f"osrm{n}", obliv.fattree(m, n)))
        cases.append((f"FT({m},{n})", max(lemmas.lemma1(part) for part in pairs.values()) == most))
    return agreeing(cases, "trees")


DISJOINTNESS: dict[str, tuple[Printed, Callable[[], Value]]] = {
    "Definitions 1 to 3, L, SRC, DST, S, D and LS of the examples": (
        Printed("Consider for example A = {(1, 2), (1, 3), (2, 1), (2, 4), (3, 1)}."),
        _definitions,
    ),
    "Lemma 1": (Printed("|SRC(A)| ≥ L(A) and |DST(A)| ≥ L(A)"), _of_every_set(_lemma1)),
    "Lemma 2": (Printed("L(A) + L(B) ≥ L(A ∪ B)"), _lemma2),
    "Lemmas 3 and 3a": (
        Printed("If there is a source node s such that |S_s| > L(A), then L(A - S_s) = L(A) - 1."),
        _of_every_set(_lemma3),
    ),
    "Lemma 4": (Printed("L(A - ∪ S_si - ∪ D_dj) = L(A) - k - l"), _of_every_set(_lemma4)),
    "Lemma 5": (Printed("|A| ≤ L(A) x LS(A)"), _of_every_set(_lemma5)),
    "Lemma 6": (
        Printed("When |A| ≤ m/2, the SD pairs in A can be routed in EFT2(m, k) with |A| link disjoint paths."),
        _lemma6,
    ),
    "Lemma 7": (Printed("PERF(sr) ≥ |A|"), _lemma7),
    "Lemma 8 on SEFT2(4,4), X = 1: most pairs through the root": (
        Printed("the number of SD pairs routed through the root is at most k(k-1)X² when X ≥ m/k", Fraction(12)),
        _lemma8,
    ),
    "Lemma 9": (Printed("PERF(r) ≤ X"), _lemma9),
    "Section V: sources or destinations of a link under OSRM2 and OSRM3": (
        Printed("either from at most √(m/2) sources or to at most √(m/2) destinations on each link in FT(m, 2)"),
        _sides_of_links,
    ),
}
