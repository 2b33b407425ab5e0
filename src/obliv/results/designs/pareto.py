"""The result of designs with more and more hops: the curve that no routing can cross."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from obliv.results.base import CERTIFICATE, NO_CAPACITY, Result
from obliv.results.codec import Record, derived, entry
from obliv.results.format import short
from obliv.results.numbers import Bounds

__all__ = ["Pareto", "ParetoPoint"]


@dataclass(frozen=True)
class ParetoPoint(Record):
    """The least worst case of the routings with at most so many mean hops.

    Parameters
    ----------
    hops : Fraction
        The limit.
    times_minimal : Fraction
        The limit over the mean hops of shortest paths.
    channel_load : Fraction or Bounds
        The least worst-case load, or the proved bound and the load of a routing.
    fraction_of_capacity : Fraction, Bounds or None
    """

    hops: Fraction = entry(column="hops")
    times_minimal: Fraction = entry(column="times_minimal")
    channel_load: Fraction | Bounds = entry(column="channel_load")
    fraction_of_capacity: Fraction | Bounds | None = entry(None, column="fraction_of_capacity", reason=NO_CAPACITY)

    @property
    def guarantee(self) -> Fraction:
        """The throughput that a routing attains."""
        return 1 / (self.channel_load.upper if isinstance(self.channel_load, Bounds) else self.channel_load)


@dataclass(frozen=True, repr=False)
class Pareto(Result):
    """The least worst case for every limit of the mean hops, at some points of the curve.

    Every point was designed and its bound proved, see :class:`obliv.Design`. As channel load over hops the curve is
    convex, since a mix of two routings has at most the mix of their loads and hops.

    Examples
    --------
    >>> import obliv
    >>> obliv.pareto("mesh:3x3", 3)
    pareto: least worst case over hops on mesh:3x3
      hops 16/9 = 1.778   load 3/2 = 1.5, of capacity 4/9 = 0.4444
      hops 56/27 = 2.074  load 52/41 = 1.268, of capacity 41/78 = 0.5256
      hops 64/27 = 2.37   load 7/6 = 1.167, of capacity 4/7 = 0.5714
    """

    kind: ClassVar[str] = "pareto"
    table: ClassVar[str] = "points"

    constraints: tuple[str, ...] = ()
    points: tuple[ParetoPoint, ...] = ()
    certificate: dict[str, Any] | None = entry(
        None, codec=CERTIFICATE, omit=lambda curve: curve.certificate is None, compare=False, rank=2
    )

    @property
    @derived()
    def gap(self) -> Fraction:
        """The largest relative distance between a load and its proved bound."""
        loads = [point.channel_load for point in self.points]
        gaps = [load.upper / load.lower - 1 for load in loads if isinstance(load, Bounds)]
        return max(gaps, default=Fraction(0))

    def summary(self) -> list[tuple[str, str]]:
        rows = []
        for point in self.points:
            share = f", of capacity {short(point.fraction_of_capacity)}" if point.fraction_of_capacity else ""
            rows.append((f"hops {short(point.hops)}", f"load {short(point.channel_load)}{share}"))
        return rows

    @property
    def title(self) -> str:
        return ", ".join((f"pareto: least worst case over hops on {self.topology}", *self.constraints))
