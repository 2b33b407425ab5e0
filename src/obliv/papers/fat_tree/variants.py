"""Clustered traffic that the text mentions without a definition or a number, as it is defined here.

"Clustered traffic with random group sizes, clustered traffic with a random regular pattern in each group, and clustered
traffic with random traffic in each group": one unit a pair, members of the groups placed at random as in Figure 12.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from obliv.papers.fat_tree.placements import INSTANCES, mean, quotient, ratios
from obliv.papers.fat_tree.said import SIZES, mean_of, ratio_of
from obliv.papers.fat_tree.study import PATTERNS
from obliv.papers.paper import Printed, Step, Value
from obliv.papers.verdicts import AtMost, Bounds
from obliv.patterns import jobs

__all__ = ["PRINTED", "VARIANTS", "Variant", "compute"]

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
        return jobs.placed(self.name, tree, np.concatenate(pairs), seed)


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
    return jobs.flows_of(str(rng.choice(list(PATTERNS.values()))), size)


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


def compute(step: Step) -> dict[str, Value]:
    """Compute the mean ratios of every variant, and the ratio of the paper's routing to the known ones."""
    entries: dict[str, Value] = {}
    for kind, variants in VARIANTS.items():
        for (m, n), new in _TREES.items():
            ours, theirs = [], []
            for variant in variants:
                values = ratios(m, n, (*variant.known, new), variant.traffic, variant.instances)
                entries |= {_entry(variant.name, m, n, name): Value(mean(some)) for name, some in values.items()}
                ours.append(values[new])
                theirs.append(_averaged([values[name] for name in variant.known]))
            known = " and ".join(variants[0].known)
            entries[_entry(kind, m, n, f"{new} over {known}")] = Value(quotient(ours, theirs))
            step(len(entries) / len(PRINTED))
    return entries


def _averaged(routings: Sequence[Sequence[float]]) -> list[float]:
    """Return the mean over routings of every instance."""
    return [sum(values) / len(routings) for values in zip(*routings, strict=True)]
