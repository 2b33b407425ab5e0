"""Clustered traffic, which the text mentions but does not define, and exact mean performance ratios under it.

"Clustered traffic with random group sizes, clustered traffic with a random regular pattern in each group, and clustered
traffic with random traffic in each group": one unit a pair, members of the groups placed at random as in Figure 12.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import hypot, isqrt, sqrt
from statistics import fmean, stdev
from typing import Any

import numpy as np
import numpy.typing as npt

import obliv
from obliv.papers.fat_tree.statements import PRINT, SIZES, mean_of, ratio_of
from obliv.papers.paper import AtMost, ComputedEntry, Printed, Step, Value
from obliv.patterns import standard
from obliv.results.numbers import Bounds, known

# Exact performance ratios over random placements, the same ones for every routing, and what their means say


SEED = 1
INSTANCES = 32  # of the paper

_ROUTINGS = {"MLID/WSR": "wsr", "WSR": "wsr", "MLID": "mlid", "OSRM2": "osrm2", "OSRM3": "osrm3"}


def ratios(
    m: int, n: int, routings: Sequence[str], place: Callable[[Any, int], Any], instances: int = INSTANCES
) -> dict[str, list[float]]:
    """Return the ratio of every routing on FT(m, n) under every instance of a traffic pattern."""
    tree = obliv.fattree(m, n)
    loads_by_name = {name: _loads(m, n, _ROUTINGS[name]) for name in routings}
    ratios_of: dict[str, list[float]] = {name: [] for name in routings}
    for k in range(instances):
        traffic = place(tree, SEED * instances + k)  # made once, as it takes as long as its ratio
        for name, loads in loads_by_name.items():
            ratios_of[name].append(float(known(obliv.traffic_ratio(loads, traffic).patterns[0].ratio)))
    return ratios_of


@cache
def _loads(m: int, n: int, spec: str) -> obliv.PairLoads:
    return obliv.routing(spec, obliv.fattree(m, n)).pair_loads()


def placed(spec: str) -> Callable[[Any, int], Any]:
    """Return a function that makes instances of a traffic pattern whose spec has a seed."""
    return lambda tree, seed: obliv.traffic(f"{spec}{',' if ':' in spec else ':'}seed={seed}", tree)


def mean(values: Sequence[float]) -> obliv.Estimate:
    """Return the mean over instances with its standard error."""
    return obliv.Estimate(fmean(values), stdev(values) / sqrt(len(values)), len(values))


def quotient(ours: Sequence[Sequence[float]], theirs: Sequence[Sequence[float]]) -> obliv.Estimate:
    """Return the quotient of the mean ratios of two routings, averaged over several traffic patterns.

    Both were placed alike, so that what a placement does to both leaves the quotient alone: its error is that of the
    differences that remain.
    """
    left: list[list[float]] = []
    quotients = []
    for a, b in zip(ours, theirs, strict=True):
        quotients.append(fmean(a) / fmean(b))
        left.append([(x - quotients[-1] * y) / fmean(b) for x, y in zip(a, b, strict=True)])
    remaining = mean([fmean(differences) for differences in zip(*left, strict=True)])
    return obliv.Estimate(fmean(quotients), remaining.stderr, remaining.samples)


# Tables II and III of the performance study, regular traffic placed at random, and what the text says of them.
#
# The paper averages 32 placements, so its printed means have a standard error too; means are over 64 here.


#: The definitions that reproduce the tables: "3D mesh" with wrap-around, rings and trees in both directions.
PATTERNS = {"Ring": "ring", "2D Mesh": "mesh2d", "3D Mesh": "torus3d", "Hypercube": "hypercube", "Binary Tree": "tree"}
_MESH = (
    "The paper does not define the mesh; here the largest one of 2^j x 2^j ranks, on hosts drawn at random. "
    '("on all the nodes in the system", section VI: with all of them, every mesh gives more on FT(32,2) and FT(8,3).)'
)
_SYMMETRIC = (*PATTERNS.values(), "clustered:8")


def mean_ratio(m: int, n: int, routing: str, pattern: str, instances: int = INSTANCES) -> obliv.Estimate:
    """Return the mean performance ratio of one routing on FT(m, n) over random placements of a regular pattern."""
    return mean(ratios(m, n, [routing], _placement(pattern), instances)[routing])


def largest_mesh(tree: Any, seed: int) -> Any:
    """Return the traffic of the largest 2D mesh of 2^j x 2^j ranks that fits, on hosts that are drawn at random."""
    side = 1 << (isqrt(len(tree.terminals)).bit_length() - 1)
    return standard.placed(f"mesh2d:{side}x{side}", tree, standard.flows_of("mesh2d", side * side, side, side), seed)


def _placement(pattern: str) -> Callable[[Any, int], Any]:
    return largest_mesh if pattern == "2D Mesh" else placed(PATTERNS[pattern])


@cache
def _instances(m: int, n: int, pattern: str) -> dict[str, list[float]]:
    """Return the ratios of the known routing and of the paper's, for every instance."""
    return ratios(m, n, ("MLID/WSR", f"OSRM{n}"), _placement(pattern), 2 * INSTANCES)


def means(table: str, step: Step) -> Iterator[Value]:
    """Compute the mean ratios of Table II, on FT(32,2), or III, on FT(8,3) and FT(16,3)."""
    for entry in PRINT.rows[table]:
        *tree, pattern, routing = entry.split(", ")
        m, n = (int(number) for number in tree[0][3:-1].split(",")) if tree else (32, 2)
        value = mean(_instances(m, n, pattern)[routing])
        yield ComputedEntry(value, _MESH if pattern == "2D Mesh" else "", print_error=_print_error(value))


def _print_error(value: obliv.Estimate) -> float:
    """Return the standard error of a mean over as many instances as the paper averages."""
    return float(value.stderr * (value.samples / INSTANCES) ** 0.5)


def regular(step: Step) -> Iterator[Value]:
    """Compute what the text says of both tables."""
    texts = {row: Fraction(entry.text) for row, entry in PRINT.rows["table2"].items()}
    gains = {pattern: texts[f"{pattern}, MLID/WSR"] / texts[f"{pattern}, OSRM2"] - 1 for pattern in PATTERNS}
    listed = ", ".join(f"{pattern} {float(100 * gain):.1f} %" for pattern, gain in gains.items())
    within = [gain for gain in gains.values() if gains["Hypercube"] <= gain <= gains["Ring"]]
    yield from (gains["Hypercube"], gains["Ring"], ComputedEntry(Fraction(len(within)), f"{listed}."))
    yield from map(_gain, ("Hypercube", "Ring"))
    yield _insignificant()
    yield _reversed()
    yield _symmetric()
    yield _asymmetric()


def _gain(pattern: str) -> ComputedEntry:
    """Return how much better OSRM2 is on FT(32,2) for the same placements."""
    values = _instances(32, 2, pattern)
    value = quotient([values["MLID/WSR"]], [values["OSRM2"]])
    gain = obliv.Estimate(value.value - 1, value.stderr, value.samples)
    return ComputedEntry(gain, "The same placements for both routings.", print_error=_print_error(gain))


def _insignificant() -> ComputedEntry:
    """Count the patterns on which the two means differ by no more than three standard errors of 32 placements."""
    fits, differing = 0, []
    for m in (8, 16):
        for pattern in PATTERNS:
            known, new = (mean(values) for values in _instances(m, 3, pattern).values())
            apart = abs(known.value - new.value) / hypot(_print_error(known), _print_error(new))
            fits += apart <= 3
            differing.append(f"FT({m},3) {pattern} {apart:.1f}")
    note = "Difference of the means in standard errors of two means over 32 placements: "
    return ComputedEntry(Fraction(fits), f"{note}{', '.join(differing)}.")


def _reversed() -> ComputedEntry:
    """Count the pairs whose path under MLID is the reverse of that of the reverse pair under WSR."""
    tree = obliv.fattree(8, 3)
    hosts = np.arange(tree.below[-1])
    mlid, wsr = (kind(tree).ways(hosts[:, None], hosts)[..., 0] for kind in (obliv.SModK, obliv.WSR))
    same = int(((mlid == wsr.T) & (hosts[:, None] != hosts)).sum())
    return ComputedEntry(
        Fraction(same),
        "The path from s to d under MLID has the number of the path from d to s under WSR, so that its links are the "
        "same in the other direction; under symmetric traffic the loads of both directions change places.",
    )


def _symmetric() -> ComputedEntry:
    tree = obliv.fattree(8, 3)
    routings = [obliv.routing(name, tree).pair_loads() for name in ("mlid", "wsr")]
    count = 0
    for pattern in _SYMMETRIC:
        for seed in range(16):
            flows = placed(pattern)(tree, seed)
            count += len({obliv.traffic_ratio(loads, flows).patterns[0].ratio for loads in routings}) == 1
    return ComputedEntry(Fraction(count), f"{', '.join(_SYMMETRIC)} on FT(8,3), 16 placements each.")


def _asymmetric() -> ComputedEntry:
    values = ratios(8, 3, ("MLID", "WSR"), placed("bernoulli:1/4"), INSTANCES)
    return ComputedEntry(
        Fraction(sum(a != b for a, b in zip(*values.values(), strict=True))),
        f"Random traffic of probability 1/4 on FT(8,3), seeds from {SEED * INSTANCES}; all exact.",
    )


Pairs = npt.NDArray[np.int64]

_COMPARABLE = (
    "All of these experiments have similar results: our optimal oblivious routing algorithms are either comparable to "
    "or better than MLID and WSR on average."
)
_UNDEFINED = "A sentence about the paper's own experiments, whose traffic it does not define; here:"

_TREES = {(32, 2): "OSRM2", (8, 3): "OSRM3"}


@dataclass(frozen=True)
class Variant:
    """A kind of clustered traffic: its groups, the traffic in each, the known routings that it distinguishes."""

    name: str
    about: str
    sizes: Callable[[int, np.random.Generator], list[int]]
    within: Callable[[int, np.random.Generator], Pairs]
    known: tuple[str, ...] = ("MLID/WSR",)
    instances: int = 2 * INSTANCES  # as in the tables

    def traffic(self, tree: Any, seed: int) -> Any:
        """Return one instance on a tree."""
        # what is sent and where it is placed are drawn apart
        rng = np.random.default_rng((seed, 1))
        sizes = self.sizes(len(tree.terminals), rng)
        first = np.cumsum([0, *sizes])
        pairs = [self.within(size, rng) + start for size, start in zip(sizes, first, strict=False)]
        return standard.placed(self.name, tree, np.concatenate(pairs), seed)


def random_sizes(among: Sequence[int]) -> Callable[[int, np.random.Generator], list[int]]:
    """Return a function that draws sizes uniformly from `among` until all hosts have a group."""

    def draw(n: int, rng: np.random.Generator) -> list[int]:
        sizes: list[int] = []
        while sum(sizes) < n:
            sizes.append(min(int(rng.choice(among)), n - sum(sizes)))
        return sizes

    return draw


def equal_sizes(size: int) -> Callable[[int, np.random.Generator], list[int]]:
    """Return a function that gives groups of one size."""
    return lambda n, rng: [size] * (n // size)


def all_to_all(size: int, rng: np.random.Generator) -> Pairs:
    """Return the pairs of all members."""
    return random_traffic(size, rng, 1.0)


def random_regular(size: int, rng: np.random.Generator) -> Pairs:
    """Return one of the five patterns of Tables II and III, chosen uniformly."""
    return standard.flows_of(str(rng.choice(list(PATTERNS.values()))), size)


def random_traffic(size: int, rng: np.random.Generator, density: float = 0.5) -> Pairs:
    """Return the pairs of all members, each with probability `density`."""
    source, destination = np.nonzero((rng.random((size, size)) < density) & ~np.eye(size, dtype=bool))
    return np.column_stack([source, destination])


def _variants() -> dict[str, tuple[Variant, ...]]:
    """Return the three kinds of traffic, the first with two ranges of sizes, the others with groups of 8 and 32."""
    variants: dict[str, tuple[Variant, ...]] = {}
    ranges: tuple[tuple[str, Sequence[int], str], ...] = (
        ("groups of random sizes up to 16", range(2, 17), "2, 3, ..., 16"),
        ("groups of random sizes up to 128", SIZES, "2, 4, 8, ..., 128"),
    )
    for name, among, which in ranges:
        about = f"Sizes are drawn from {which}, each as likely; the last group is what remains."
        # twice as many as in the tables, as what the routings differ by is a few per cent only
        variants[name] = (Variant(name, about, random_sizes(among), all_to_all, instances=4 * INSTANCES),)
    about = "Every group draws one of the five patterns of Table II, each as likely."
    variants["groups of 8 and 32, random regular"] = tuple(
        Variant(f"groups of {size}, a random regular pattern in each", about, equal_sizes(size), random_regular)
        for size in (8, 32)
    )
    about = "Every member sends to each other one of its group with probability 1/2."
    variants["groups of 8 and 32, random traffic"] = tuple(
        Variant(f"groups of {size}, random traffic in each", about, equal_sizes(size), random_traffic, ("MLID", "WSR"))
        for size in (8, 32)
    )
    return variants


VARIANTS = _variants()


def _printed() -> dict[str, Printed]:
    """Return the entries; no mean is printed, and the comparison is of traffic that the paper does not define."""
    entries = {}
    for kind, variants in VARIANTS.items():
        for (m, n), new in _TREES.items():
            for variant in variants:
                why = f"The paper mentions this traffic without a definition or a number. {variant.about}"
                for name in (*variant.known, new):
                    entries[_entry(variant.name, m, n, name)] = mean_of(m, n, name, why)
            known = " and ".join(variants[0].known)
            right = Bounds(Fraction(1, ratio_of(m, n, "MLID/WSR")), Fraction(ratio_of(m, n, new)))
            claim = Printed(
                _COMPARABLE, AtMost(Fraction(1)), undecided=f"{_UNDEFINED} {variants[0].about}", right=right
            )
            entries[_entry(kind, m, n, f"{new} over {known}")] = claim
    return entries


def _entry(name: str, m: int, n: int, what: str) -> str:
    return f"{name[0].upper()}{name[1:]}, FT({m},{n}), {what}"


PRINTED = _printed()


def compute(step: Step) -> Iterator[Value]:
    """Compute the mean ratios of every variant, and the ratio of the paper's routing to the known ones."""
    for some in VARIANTS.values():
        for (m, n), new in _TREES.items():
            ours, theirs = [], []
            for variant in some:
                values = ratios(m, n, (*variant.known, new), variant.traffic, variant.instances)
                yield from map(mean, values.values())
                ours.append(values[new])
                known = zip(*(values[name] for name in variant.known), strict=True)
                theirs.append([sum(instance) / len(instance) for instance in known])
            yield quotient(ours, theirs)
