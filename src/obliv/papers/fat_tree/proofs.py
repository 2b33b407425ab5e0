"""The steps in the proofs of Theorems 1, 4 and 5 on small trees, of Lemma 5 for all sets of pairs of a few nodes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations, product

import numpy as np

import obliv
from obliv._util.typing import Array
from obliv.analysis.ratios.disjoint_sets import destination_set, destinations, is_disjoint, largest_star, sources
from obliv.papers.fat_tree.disjointness import Pair, every_set, size_of
from obliv.papers.fat_tree.network import on_trees
from obliv.papers.paper import Printed, Value, agreeing
from obliv.topologies.tree_bounds import theorem4, theorem5

__all__ = ["PROOFS", "steps_of_theorem1"]

_TREES = ((4, 2), (8, 2), (4, 3), (6, 3), (4, 4))
_MATRICES = 8  # random traffic matrices of a tree


@cache
def steps_of_theorem1(m: int, n: int) -> tuple[bool, bool]:
    """Return whether the shares, and the chain of inequalities, hold on every link of FT(m, n), up and down."""
    tree, rng = obliv.fattree(m, n), np.random.default_rng(1)
    hosts, loads = tree.below[-1], obliv.OMRMN(tree).pair_loads()
    traffic = rng.integers(0, 6, (_MATRICES, hosts, hosts)) * (1 - np.eye(hosts, dtype=np.int64))
    ends = traffic.sum(axis=2), traffic.sum(axis=1)  # LD: what each host sends; what it receives
    base = np.maximum(*(load.max(axis=1) for load in ends))
    shares = chain = True
    for height, (down, channel_of) in product(range(n), enumerate((tree.up_channel, tree.down_channel))):
        split = (m // 2) ** height
        for channel in channel_of(height, np.arange(tree.links(height))).tolist():
            weights = loads.on_channel(channel).toarray()
            shares &= bool(weights.max() * split <= loads.denominator)
            load = (traffic * weights).sum(axis=(1, 2))
            total = ends[down][:, weights.any(axis=1 - down)].sum(axis=1)
            chain &= bool(np.all(load * split <= total * loads.denominator) and np.all(total <= base * split))
    return shares, chain


class _Switched(obliv.TreeRouting):
    """A routing of FT(m, n) on the EFT2 whose leaf switches stand for the SUBFT(m, i)'s, by the same up-link ports."""

    def __init__(self, routing: obliv.TreeRouting, height: int) -> None:
        tree = routing.topology
        super().__init__(obliv.eft2(2 * tree.below[height], tree.below[-1] // tree.below[height]), routing.spec)
        self.routing, self.height = routing, height

    def ways(self, source: Array, destination: Array) -> Array:
        tree, height = self.routing.topology, self.height
        paths = np.array(tree.width)[tree.turn(source, destination)] // tree.width[height + 1]
        ports: Array = self.routing.ways(source, destination) // np.maximum(paths, 1)[..., None]
        return np.where(paths[..., None] > 0, ports, 0)


def _pairs(routing: obliv.TreeRouting, height: int) -> list[frozenset[Pair]]:
    """Return the pairs on each link of a height, up and then down."""
    tree, loads = routing.topology, routing.pair_loads()
    links = np.arange(tree.links(height))
    channels = np.concatenate([tree.up_channel(height, links), tree.down_channel(height, links)])
    used = (loads.weights(int(channel)).spread()[:2] for channel in channels)
    return [frozenset(zip(*(end.tolist() for end in ends), strict=True)) for ends in used]


def _as_two_levels(sizes: tuple[tuple[int, int, int], ...], least: Callable[[int, int], int]) -> Callable[[], Value]:
    """Return a function that compares the links above SUBFT(m, i)'s with those of the EFT2, for (m, n, i)."""

    def compare() -> Value:
        cases = []
        for (m, n, height), spec in product(sizes, ("dmodk", "mlid", "osrmn", "hash:seed=1")):
            routing = obliv.routing(spec, obliv.fattree(m, n)).by_number
            if not isinstance(routing, obliv.TreeRouting):
                raise TypeError(f"{spec} is not a routing of single paths on fat trees")
            above, top = (_pairs(routing, height), _pairs(_Switched(routing, height), 1))
            fits = above == top and max(map(size_of, above)) >= least(m, n)
            cases.append((f"FT({m},{n}) {spec}", fits))
        return agreeing(cases, "routings")

    return compare


def _base_case() -> Value:
    cases = []
    for part in every_set(4, 3):
        if size_of(part) == 1:
            star = len(sources(part)) == 1 or len(destinations(part)) == 1
            cases.append((str(sorted(part)), star and len(part) <= largest_star(part)))
    return agreeing(cases, "sets A of pairs of 4 and 3 nodes with L(A) = 1")


def _induction_case() -> Value:
    cases = [(str(sorted(part)), _induction(part)) for part in every_set(4, 3) if size_of(part) > 1]
    return agreeing(cases, "sets A of pairs of 4 and 3 nodes with L(A) > 1")


def _induction(part: frozenset[Pair]) -> bool:
    """Check the induction step, for every largest node disjoint subset and every source that it leaves out."""
    size, most = size_of(part), largest_star(part)
    for chosen in combinations(part, size):
        if not is_disjoint(chosen):
            continue
        rest = [(s, d) for s, d in part if s not in sources(chosen)]
        if not rest and len(part) > size * most:
            return False
        for _, d in rest:
            star = frozenset(destination_set(part, d))
            left = part - star
            fits = (
                d in destinations(chosen)
                and size_of(star) == 1
                and size_of(left) == size - 1
                and largest_star(left) <= most
                and len(left) <= (size - 1) * most
                and len(star) <= most
            )
            if not fits:
                return False
    return True


PROOFS: dict[str, tuple[Printed, Callable[[], Value]]] = {
    "Theorem 1, proof: share of a source's traffic on a link": (
        Printed("each level n - 1 - i link carries at most LD(s)/(m/2)^i traffic"),
        on_trees(_TREES, lambda tree, half, n: steps_of_theorem1(2 * half, n)[0]),
    ),
    "Theorem 1, proof: the chain of inequalities on every link": (
        Printed("load(l) ≤ Σ LD(sj)/(m/2)^i. Since LD(sj) ≤ baseload(TM) ..., we have load(l) ≤ baseload(TM)."),
        on_trees(_TREES, lambda tree, half, n: steps_of_theorem1(2 * half, n)[1]),
    ),
    "Theorem 4, proof: FT(m,3) as EFT2(2(m/2)²,m)": (
        Printed(
            "For any routing algorithm r on FT(m, 3), there is a routing algorithm r' on EFT2(2(m/2)², m) such that "
            "the corresponding top level links are used exactly the same. ... the largest of the maximum disjoint "
            "size of the level 0 links is at least ... m/2."
        ),
        _as_two_levels(((4, 3, 2), (6, 3, 2)), lambda m, n: theorem4(m)),
    ),
    "Theorem 5, proof: FT(m,n) as EFT2 at i = ⌊2(n-1)/3⌋": (
        Printed(
            "the topology can be approximated by EFT2(2(m/2)^⌊2(n-1)/3⌋, m(m/2)^⌈(n-1)/3⌉). ... there exists a link "
            "carrying at least ... (m/2)^⌊(n-1)/3⌋ node disjoint pairs"
        ),
        _as_two_levels(((4, 4, 2), (4, 5, 2)), theorem5),
    ),
    "Lemma 5, proof: base case": (
        Printed("when L(A) = 1, |A| ≤ LS(A). ... if s1 = s2, A = S_s1. ... if d1 = d2, A = D_d1."),
        _base_case,
    ),
    "Lemma 5, proof: induction case": (
        Printed("We have d ∈ DST(B) ... Hence, L(A - D_d1) = k. ... |A| = |A - D_d1| + |D_d1| ≤ (k+1) x LS(A)."),
        _induction_case,
    ),
}
