"""The result of a design for all traffic: a routing, and how far its ratio can be from the least one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from obliv.results.codec import entry
from obliv.results.designs.design import Design
from obliv.results.numbers import Bounds

__all__ = ["RatioDesign"]


@dataclass(frozen=True, repr=False)
class RatioDesign(Design):
    """A routing designed for the least oblivious performance ratio, with a proof of how much better any could be.

    The channel load, and what follows from it, is the exact worst case of the routing, which was not minimized.

    Examples
    --------
    >>> import obliv
    >>> obliv.design("ring:5", objective="ratio")
    design: least oblivious ratio on ring:5
      ratio           8/5 = 1.6
      optimality      proved
      channel load    6/5 = 1.2
      throughput      5/6 = 0.833333
      of capacity     1/2 = 0.5
      mean hops       8/5 = 1.6
      paths per pair  2 (at most 2)
    """

    marks: ClassVar[tuple[str, ...]] = ("ratio",)

    objective: str = "ratio"
    ratio: Fraction | Bounds = entry(Fraction(1), label="ratio", column="ratio")

    @property
    def _minimized(self) -> Fraction | Bounds:
        return self.ratio

    def summary(self) -> list[tuple[str, str]]:
        first = ("constraints", "ratio", "optimality")
        return sorted(super().summary(), key=lambda line: first.index(line[0]) if line[0] in first else len(first))

    @property
    def title(self) -> str:
        return f"design: least oblivious ratio on {self.topology}"
