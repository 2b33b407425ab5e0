"""Definitions and lemmas of section IV, Lemma 9 and steps of proofs, over pairs of few nodes and small trees."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np

import obliv
from obliv._util.arrays import Array
from obliv.papers.fat_tree.routes import on_trees
from obliv.papers.paper import ComputedEntry, agreeing, require
from obliv.questions import disjoint
from obliv.questions.disjoint import (
    destination_set,
    destinations,
    is_disjoint,
    largest_disjoint_subset,
    largest_star,
    pairs_on_links,
    source_set,
    sources,
)
from obliv.routings.trees import single_path
from obliv.topologies.trees import theorem4, theorem5

# Lemma 8 on small trees: links whose maximum disjoint size is 1 carry the pairs of one source or one destination


Pair = tuple[int, int]


def most_pairs(half: int, leaves: int) -> int:
    """Return the largest set of pairs through the root of SEFT2(2 half, leaves) with disjoint sizes up to 1.

    The pairs of such a link have one source or one destination in common; all choices of these hosts are tried.
    """
    hosts = range(half * leaves)
    leaf = [host // half for host in hosts]
    between = [(s, d) for s in hosts for d in hosts if leaf[s] != leaf[d]]
    stars = [{pair for pair in between if pair[end] == host} for end in (0, 1) for host in hosts]
    up = [{(s, d) for s, d in between if leaf[s] == switch} for switch in range(leaves)]
    down = [{(s, d) for s, d in between if leaf[d] == switch} for switch in range(leaves)]
    stars_up, stars_down = (
        [list({frozenset(star & link) for star in stars if star & link}) for link in side] for side in (up, down)
    )
    best = 0
    for chosen in product(*stars_up):
        carried = set().union(*chosen)
        best = max(best, sum(max(len(carried & star) for star in link) for link in stars_down))
    return best


def gap_instance() -> tuple[int, int]:
    """Return the pairs of the instance on SEFT2(4,4), and L of what is left of the pairs from switch 0."""
    tree = obliv.sub_eft2(4, 4)
    elsewhere = range(2, 8)
    pairs = {(0, host) for host in elsewhere} | {(host, 0) for host in elsewhere}
    routing = obliv.routing("dmodk", tree)
    on_links: dict[int, set[Pair]] = {}
    for s, d in pairs:
        for channels, _ in routing.paths(s, d):
            for channel in channels:
                on_links.setdefault(channel, set()).add((s, d))
    sizes = {len(largest_disjoint_subset(part)) for part in on_links.values()}
    require(sizes == {1}, "every link has a maximum disjoint size of 1")
    from_switch = {(s, d) for s, d in pairs if s < 2}
    heavy: set[Pair] = set()
    for switch in range(1, 4):
        part = {(s, d) for s, d in from_switch if d // 2 == switch}
        for source in sources(part):
            if len(source_set(part, source)) > 1:
                heavy |= source_set(part, source)
    return len(pairs), len(largest_disjoint_subset(from_switch - heavy))


_EXAMPLE = {(1, 2), (1, 3), (2, 1), (2, 4), (3, 1)}
_SETS = "sets of pairs of 3 and 3 nodes"


def _definitions() -> ComputedEntry:
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


def _of_every_set(fits: Callable[[frozenset[Pair]], bool]) -> Callable[[], ComputedEntry]:
    return lambda: agreeing(((str(sorted(part)), fits(part)) for part in every_set(3, 3)), _SETS)


def _lemma1(part: frozenset[Pair]) -> bool:
    return min(len(sources(part)), len(destinations(part))) == disjoint.lemma1(part) >= size_of(part)


def _lemma2() -> ComputedEntry:
    fits = Fraction(sum(size_of(a) + size_of(b) >= size_of(a | b) for a in every_set(3, 3) for b in every_set(3, 3)))
    count = len(every_set(3, 3)) ** 2
    return ComputedEntry(fits, f"{fits} of {count} pairs of {_SETS} agree.", against=Fraction(count))


def _lemma3(part: frozenset[Pair]) -> bool:
    stars = [source_set(part, s) for s in sources(part)] + [destination_set(part, d) for d in destinations(part)]
    return all(size_of(part - star) == size_of(part) - 1 for star in stars if len(star) > size_of(part))


def _lemma4(part: frozenset[Pair]) -> bool:
    rest, size = disjoint.lemma4(part)
    return size_of(frozenset(rest)) == size


def _lemma5(part: frozenset[Pair]) -> bool:
    return len(part) <= disjoint.lemma5(part)


def _lemma6() -> ComputedEntry:
    tree = obliv.eft2(8, 6)
    rng = np.random.default_rng(1)
    cases = []
    for number in range(100):
        ends = [rng.permutation(24)[:4].tolist() for _ in range(2)]
        paths = disjoint.lemma6(tree, zip(*ends, strict=True))
        channels = [channel for path in paths.values() for channel in path]
        walks = [[s, *tree.head[list(path)].tolist()] for (s, _), path in paths.items()]
        leads = all(
            walk[:-1] == tree.tail[list(path)].tolist() and walk[-1] == d
            for walk, ((_, d), path) in zip(walks, paths.items(), strict=True)
        )
        cases.append((str(number), leads and len(paths) == 4 and len(channels) == len(set(channels))))
    return agreeing(cases, "random sets of 4 pairs on EFT2(8,6)")


def _lemma7() -> ComputedEntry:
    cases = []
    for k, spec in product(range(3, 9), ("dmodk", "mlid", "wsr", "osrm2", "hash:seed=1", "hash:seed=2")):
        routing = obliv.routing(spec, obliv.eft2(8, k))
        cases.append((f"EFT2(8,{k}) {spec}", obliv.ratio(routing).lower >= disjoint.lemma7(routing)))
    return agreeing(cases, "routings")


def _lemma8() -> ComputedEntry:
    return ComputedEntry(
        Fraction(most_pairs(2, 4)), "By exhaustion over the sources or destinations that cover each link."
    )


def _lemma9() -> ComputedEntry:
    cases = []
    for (m, n), spec in product(((4, 2), (8, 2), (6, 3)), ("dmodk", "mlid", "osrm")):
        routing = obliv.routing(f"osrm{n}" if spec == "osrm" else spec, obliv.fattree(m, n))
        cases.append((f"FT({m},{n}) {spec}", obliv.ratio(routing).upper <= disjoint.lemma9(routing)))
    return agreeing(cases, "routings")


def _sides_of_links() -> ComputedEntry:
    cases = []
    for m, n, most in ((8, 2, 2), (18, 2, 3), (4, 3, 2), (8, 3, 4)):
        pairs = pairs_on_links(obliv.routing(f"osrm{n}", obliv.fattree(m, n)))
        cases.append((f"FT({m},{n})", max(disjoint.lemma1(part) for part in pairs.values()) == most))
    return agreeing(cases, "trees")


DISJOINTNESS: tuple[Callable[[], ComputedEntry], ...] = (
    _definitions,
    _of_every_set(_lemma1),
    _lemma2,
    *map(_of_every_set, (_lemma3, _lemma4, _lemma5)),
    _lemma6,
    _lemma7,
    _lemma8,
    _lemma9,
    _sides_of_links,
)


# The steps in the proofs of Theorems 1, 4 and 5 on small trees, of Lemma 5 for all sets of pairs of a few nodes


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


def _as_two_levels(
    sizes: tuple[tuple[int, int, int], ...], least: Callable[[int, int], int]
) -> Callable[[], ComputedEntry]:
    """Return a function that compares the links above SUBFT(m, i)'s with those of the EFT2, for (m, n, i)."""

    def compare() -> ComputedEntry:
        cases = []
        for (m, n, height), spec in product(sizes, ("dmodk", "mlid", "osrmn", "hash:seed=1")):
            routing = single_path(obliv.routing(spec, obliv.fattree(m, n)))
            if routing is None:
                raise TypeError(f"{spec} is not a routing of single paths on fat trees")
            above, top = (_pairs(routing, height), _pairs(_Switched(routing, height), 1))
            fits = above == top and max(map(size_of, above)) >= least(m, n)
            cases.append((f"FT({m},{n}) {spec}", fits))
        return agreeing(cases, "routings")

    return compare


def _base_case() -> ComputedEntry:
    cases = []
    for part in every_set(4, 3):
        if size_of(part) == 1:
            star = len(sources(part)) == 1 or len(destinations(part)) == 1
            cases.append((str(sorted(part)), star and len(part) <= largest_star(part)))
    return agreeing(cases, "sets A of pairs of 4 and 3 nodes with L(A) = 1")


def _induction_case() -> ComputedEntry:
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


PROOFS: tuple[Callable[[], ComputedEntry], ...] = (
    on_trees(_TREES, lambda tree, half, n: steps_of_theorem1(2 * half, n)[0]),
    on_trees(_TREES, lambda tree, half, n: steps_of_theorem1(2 * half, n)[1]),
    _as_two_levels(((4, 3, 2), (6, 3, 2)), lambda m, n: theorem4(m)),
    _as_two_levels(((4, 4, 2), (4, 5, 2)), theorem5),
    _base_case,
    _induction_case,
)
