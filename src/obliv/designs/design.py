"""The result of a design: a routing, and how far from the best one it can be."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from obliv.errors import InputError
from obliv.questions.worst_case import WorstCase, WorstTraffic
from obliv.results.base import CERTIFICATE, NO_CAPACITY, Result, share_text, throughput_text
from obliv.results.codec import derived, entry
from obliv.results.numbers import Bounds, bounded, percent, short, shown

__all__ = ["Design"]


def _loss(design: Design) -> str | None:
    gap = design.loss
    if gap is None:
        return None
    if not isinstance(gap, Bounds):
        return "none: the load is the least of all routings"
    return f"at most {percent(gap.upper, 3)} more load than without limits of paths and weights"


@dataclass(frozen=True, repr=False)
class Design(Result):
    """A designed routing: its exact worst case, and a proof of how much better any routing could be.

    The routing itself is the attribute ``subject`` of a fresh result, and ``design:FILE`` once the result is saved.

    Examples
    --------
    >>> import obliv
    >>> obliv.design("mesh:3x3")
    design: least worst case on mesh:3x3
      channel load    7/6 = 1.16667
      throughput      6/7 = 0.857143
      of capacity     4/7 = 0.571429
      optimality      proved
      mean hops       64/27 = 2.37037
      fewest hops     at least 64/27 = 2.37037
      paths per pair  61/18 = 3.38889 (at most 4)
    """

    kind: ClassVar[str] = "design"
    on_network: ClassVar[bool] = True

    objective: str = "worst"
    constraints: tuple[str, ...] = entry(
        (), label="constraints", text=lambda design: ", ".join(design.constraints) or None
    )
    channel_load: Fraction | Bounds = entry(Fraction(0), label="channel load", column="channel_load")

    @property
    @derived(
        label="throughput",
        text=lambda design: throughput_text(design.throughput, design.rated),
        column="throughput",
    )
    def throughput(self) -> Fraction | Bounds:
        """Guaranteed packets per node and cycle: of this routing, and of the best one at most."""
        if isinstance(self.channel_load, Bounds):
            return bounded(1 / self.channel_load.upper, 1 / self.channel_load.lower)
        return 1 / self.channel_load

    @property
    @derived(
        label="of capacity",
        text=lambda design: share_text(design.fraction_of_capacity, design.capacity, design.topology),
        column="fraction_of_capacity",
        reason=NO_CAPACITY,
    )
    def fraction_of_capacity(self) -> Fraction | Bounds | None:
        """Guaranteed throughput divided by that of uniform traffic under the best routing."""
        if self.capacity is None:
            return None
        through = self.throughput
        if isinstance(through, Bounds):
            return Bounds(through.lower / self.capacity, through.upper / self.capacity)
        return through / self.capacity

    capacity: Fraction | None = entry(None, reason=NO_CAPACITY)
    rated: bool = entry(False, omit=lambda result: not result.rated)

    @property
    @derived(
        label="optimality",
        text=lambda design: (
            f"within {percent(design.gap.upper)} of the optimum" if isinstance(design.gap, Bounds) else "proved"
        ),
        column="gap",
    )
    def gap(self) -> Fraction | Bounds:
        """How much larger the objective is than the least possible one, relative to that: 0 if it is proved."""
        attained = self._minimized
        return Bounds(Fraction(0), attained.upper / attained.lower - 1) if isinstance(attained, Bounds) else Fraction(0)

    @property
    def _minimized(self) -> Fraction | Bounds:
        return self.channel_load

    inexact: str = entry(
        "", label="not exact", text=lambda design: design.inexact or None, omit=lambda d: not d.inexact
    )

    @property
    @derived(label="loss", text=lambda d: _loss(d), omit=lambda d: d.loss is None)
    def loss(self) -> Fraction | Bounds | None:
        """How much larger the load is than the proved bound for any paths and weights; None if they are not limited."""
        limited = any(text.endswith("per pair") or text.startswith("weights") for text in self.constraints)
        return self.gap if limited else None

    hops: Fraction = entry(Fraction(0), label="mean hops", column="hops")
    hops_bound: Fraction | None = entry(
        None,
        label="fewest hops",
        text=lambda design: None if design.hops_bound is None else f"at least {shown(design.hops_bound)}",
        reason="the hops were not minimized",
    )
    paths_per_pair: Fraction = entry(
        Fraction(0),
        label="paths per pair",
        text=lambda design: f"{shown(design.paths_per_pair)} (at most {design.most_paths})",
        column="paths_per_pair",
    )
    most_paths: int = entry(0, column="most_paths")
    paths: dict[str, Any] = entry(default_factory=dict, rank=1)
    certificate: dict[str, Any] | None = entry(None, codec=CERTIFICATE, rank=2)

    def worst_traffic(self) -> WorstTraffic:
        """Return what a picture shows: the worst traffic, and the proved distance to the optimum."""
        if self.certificate is None:
            raise InputError("this design has no certificate, which holds its worst traffic: save the design whole")
        case = WorstCase.from_dict(self.certificate["worst"])
        inside = {name: self.certificate[name] for name in ("network",) if name in self.certificate}
        case = replace(case, subject=self.subject, certificate=(case.certificate or {}) | inside)
        aim, *remarks = self._aims(f"worst-case channel load {short(case.channel_load)}")
        optimum = dict(self.summary())["optimality"].replace("proved", "proved optimal")
        heading = [", ".join(("{Title}", *self.constraints)), f"{aim}, {optimum}"]
        return WorstTraffic(case, heading, remarks)

    def _aims(self, load: str) -> list[str]:
        """Return figures for the title of a picture, what was minimized first."""
        return [load]

    @property
    def title(self) -> str:
        return f"design: least worst case on {self.topology}"
