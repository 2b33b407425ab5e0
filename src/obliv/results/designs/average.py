"""The result of a design for the average case: a routing, its proved worst case, and an estimate of its average."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from obliv.results.base import NO_CAPACITY, share_text
from obliv.results.codec import derived, entry
from obliv.results.designs.design import Design
from obliv.results.numbers import Estimate

__all__ = ["AverageDesign"]

_LABELS = ("constraints", "mean largest load", "average throughput", "average / capacity", "estimated")


@dataclass(frozen=True, repr=False)
class AverageDesign(Design):
    """A routing of the least worst case, designed for the least mean of the largest load over random permutations.

    The worst case is exact and proved as in other designs. The average is an estimate on permutations that the design
    did not use, and nothing is proved about it.

    Examples
    --------
    >>> import obliv
    >>> result = obliv.design("ring:4", objective="average", samples=10)
    >>> result.channel_load, result.average_load.samples
    (Fraction(1, 1), 10000)
    """

    marks: ClassVar[tuple[str, ...]] = ("average_load",)

    objective: str = "average"
    average_load: Estimate = entry(Estimate(1.0, 0.0, 0), label="mean largest load", column="average_load")

    @property
    @derived(label="average throughput", column="average_throughput")
    def average_throughput(self) -> Estimate:
        """The reciprocal of the mean largest load, an estimate."""
        load = self.average_load
        return Estimate(1 / load.value, load.stderr / load.value / load.value, load.samples)

    @property
    @derived(
        label="average / capacity",
        text=lambda design: share_text(design.average_fraction_of_capacity, design.capacity, design.topology),
        column="average_fraction_of_capacity",
        reason=NO_CAPACITY,
    )
    def average_fraction_of_capacity(self) -> Estimate | None:
        """The average throughput divided by that of uniform traffic under the best routing, an estimate."""
        if self.capacity is None:
            return None
        share, through = float(self.capacity), self.average_throughput
        return Estimate(through.value / share, through.stderr / share, through.samples)

    samples: int = entry(
        0,
        label="estimated",
        text=lambda design: (
            f"on {design.average_load.samples:,} permutations, not the {design.samples} of the design; not proved"
        ),
    )

    def summary(self) -> list[tuple[str, str]]:
        lines = super().summary()
        return sorted(lines, key=lambda line: _LABELS.index(line[0]) if line[0] in _LABELS else len(_LABELS))

    @property
    def title(self) -> str:
        return f"design: best average at the least worst case on {self.topology}"
