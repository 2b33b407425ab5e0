"""The results of analyses of the oblivious performance ratio."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

from obliv._util.text import plural
from obliv.results.analysis.worst_case import FLOWS
from obliv.results.base import CERTIFICATE, Channel, Result
from obliv.results.codec import PACKED, Codec, Record, codec_of, derived, entry
from obliv.results.format import percent, shown
from obliv.results.numbers import Bounds, Estimate, bounded, bounds_of

__all__ = ["PatternRatio", "Ratio", "TrafficRatio"]

_EXACT = codec_of(Fraction)


def _whole(data: Any) -> int:
    bound = _EXACT.decode(data)
    if bound.denominator != 1:
        raise ValueError(f"{bound} where a whole number is expected")
    return int(bound)


@dataclass(frozen=True, repr=False)
class Ratio(Result):
    """The oblivious performance ratio: the largest link load divided by that of the best routing, over all traffic.

    A permutation shows it on fat trees with a closed form, elsewhere a traffic matrix that some routing carries without
    loading a channel by more than its bandwidth.

    Examples
    --------
    >>> import obliv
    >>> obliv.ratio(obliv.DModK(obliv.fattree(8, 2)))
    ratio: dmodk on fattree:8,2
      ratio         4
      attained at   36: ((0),1) -> ((0),0)
      single paths  at least 2 (Yuan et al., Theorem 3)
    """

    kind: ClassVar[str] = "ratio"
    on_network: ClassVar[bool] = True

    ratio: Fraction | Bounds = entry(Fraction(1), label="ratio", column="ratio")

    @property
    @derived(
        label="gap",
        text=lambda ratio: None if ratio.gap is None else percent(ratio.gap),
        omit=lambda ratio: ratio.gap is None,
    )
    def gap(self) -> Fraction | None:
        """How far apart the bounds are, relative to the lower one; None if the ratio is exact."""
        return self.upper / self.lower - 1 if isinstance(self.ratio, Bounds) else None

    @property
    def lower(self) -> Fraction:
        """The ratio, or its proved lower bound."""
        return self.ratio.lower if isinstance(self.ratio, Bounds) else self.ratio

    @property
    def upper(self) -> Fraction:
        """The ratio, or its proved upper bound."""
        return self.ratio.upper if isinstance(self.ratio, Bounds) else self.ratio

    channel: Channel | None = entry(
        None,
        label="attained at",
        text=lambda ratio: "{}: {} -> {}".format(ratio.channel.id, *ratio.names) if ratio.channel else "-",
        column="channel",
        reason="the network has no channels",
    )
    names: tuple[str, str] = entry(
        ("", ""), key="channel_names", compare=False, omit=lambda ratio: ratio.channel is None
    )
    permutation: tuple[int, ...] = entry((), codec=PACKED, omit=lambda ratio: ratio.traffic is not None)
    traffic: tuple[tuple[int, int, Fraction], ...] | None = entry(
        None,
        codec=FLOWS,
        omit=lambda ratio: ratio.traffic is None,
        label="traffic",
        text=lambda ratio: None if ratio.traffic is None else plural(len(ratio.traffic), "flow"),
    )
    lower_bound: int | None = entry(
        None,
        codec=Codec(lambda bound: _EXACT.encode(Fraction(bound)), _whole),
        label="single paths",
        text=lambda ratio: ratio.bound_text,
        column="lower_bound",
        reason=lambda ratio: ratio.lower_bound_source,
    )
    lower_bound_source: str = entry("", omit=lambda ratio: ratio.lower_bound is None)
    certificate: dict[str, Any] | None = entry(
        None, codec=CERTIFICATE, omit=lambda ratio: ratio.certificate is None, rank=2
    )

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        source = data.get("lower_bound_source", data.get("lower_bound_reason", ""))
        return super().from_dict({**data, "lower_bound_source": source})

    @property
    def optimal(self) -> bool:
        """Whether the ratio attains the lower bound for single-path routings."""
        return self.lower_bound is not None and self.ratio == self.lower_bound

    @property
    def bound_text(self) -> str | None:
        """The lower bound as text; None if there is none."""
        if self.lower_bound is None:
            return None
        best = ", so this one is optimal" if self.optimal else ""
        return f"at least {self.lower_bound} ({self.lower_bound_source}){best}"


@dataclass(frozen=True)
class PatternRatio(Record):
    """The performance ratio under one traffic pattern, by its spec, and the two loads that it divides."""

    traffic: str = entry(column="traffic")
    ratio: Fraction | Bounds | Estimate = entry(column="ratio")
    channel_load: Fraction | Bounds | Estimate | None = entry(
        None, column="channel_load", omit=lambda row: row.channel_load is None
    )
    optimal_load: Fraction | Bounds | Estimate | None = entry(
        None, column="optimal_load", omit=lambda row: row.optimal_load is None
    )

    @property
    def text(self) -> str:
        """The ratio in words; of a single pattern with the largest link load and the least possible one."""
        ratio = f"ratio {shown(self.ratio)}"
        if isinstance(self.ratio, Estimate) or self.channel_load is None:
            return ratio
        return f"{ratio} (load {shown(self.channel_load)}, least possible {shown(self.optimal_load)})"


@dataclass(frozen=True, repr=False)
class TrafficRatio(Result):
    """The performance ratio of a routing under single traffic patterns.

    Examples
    --------
    >>> import obliv
    >>> obliv.traffic_ratio(obliv.DModK(obliv.fattree(8, 2)), "shift:1", "shift:5")
    traffic-ratio: dmodk on fattree:8,2
      shift:1  ratio 1 (load 1, least possible 1)
      shift:5  ratio 1 (load 1, least possible 1)
      largest  1
    """

    kind: ClassVar[str] = "traffic-ratio"
    table: ClassVar[str] = "patterns"

    @property
    @derived()
    def ratio(self) -> Fraction | Bounds | Estimate | None:
        """The largest of the ratios."""
        ratios = [row.ratio for row in self.patterns]
        if any(isinstance(ratio, Bounds) for ratio in ratios):
            bounds = [bounds_of(ratio) for ratio in ratios if not isinstance(ratio, Estimate)]
            return bounded(max(lower for lower, _ in bounds), max(upper for _, upper in bounds))
        return max((ratio for ratio in ratios if not isinstance(ratio, Bounds)), key=float, default=None)

    patterns: tuple[PatternRatio, ...] = ()
    adaptive: bool = entry(False, omit=lambda result: not result.adaptive)

    @property
    @derived(omit=lambda result: result.loss is None)
    def loss(self) -> Fraction | Bounds | Estimate | None:
        """How much larger the largest load is than over all paths, relative to it; None without adaptive rates."""
        ratio = self.ratio
        if not self.adaptive or ratio is None:
            return None
        if isinstance(ratio, Bounds):
            return Bounds(ratio.lower - 1, ratio.upper - 1)
        return replace(ratio, value=ratio.value - 1) if isinstance(ratio, Estimate) else ratio - 1

    certificate: dict[str, Any] | None = entry(
        None, codec=CERTIFICATE, omit=lambda ratio: ratio.certificate is None, rank=2
    )

    def summary(self) -> list[tuple[str, str]]:
        lines = [(row.traffic, row.text) for row in self.patterns]
        if len(lines) > 1:
            lines.append(("largest", shown(self.ratio)))
        if self.adaptive:
            lines.append(("rates", "the best for each traffic over the paths of the routing"))
            lines.append(("loss", _loss(self.loss)))
        return lines


def _loss(loss: Fraction | Bounds | Estimate | None) -> str:
    """Return in words what fewer paths than all cost."""
    if loss is None or loss == 0:
        return "0 %: no more load than over all paths"
    most = loss.upper if isinstance(loss, Bounds) else loss
    about = "about " if isinstance(loss, Estimate) else "at most " if isinstance(loss, Bounds) else ""
    return f"{about}{percent(most, 3)} more load than over all paths"
