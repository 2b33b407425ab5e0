"""The result of an analysis of the oblivious performance ratio."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from obliv._util.codec import digest_of, unpack
from obliv.results.base import Result
from obliv.results.numbers import exact, from_number, number, shown

__all__ = ["Ratio", "TrafficRatio"]


@dataclass(frozen=True, repr=False)
class Ratio(Result):
    """The oblivious performance ratio: how much more a routing may load a link than the best routing of the traffic."""

    kind: ClassVar[str] = "ratio"

    ratio: Fraction = Fraction(1)
    channel: dict[str, int] = field(default_factory=dict)
    permutation: tuple[int, ...] = ()
    lower_bound: int | None = None
    lower_bound_source: str = ""
    certificate: dict[str, Any] | None = None
    names: tuple[str, str] = field(default=("", ""), compare=False)

    @property
    def optimal(self) -> bool:
        """Whether no single-path routing can do better."""
        return self.lower_bound is not None and self.ratio == self.lower_bound

    def summary(self) -> list[tuple[str, str]]:
        at = f"{self.channel['id']}: {self.names[0]} -> {self.names[1]}" if self.channel else "-"
        lines = [("ratio", shown(self.ratio)), ("shown at", at)]
        if self.lower_bound is not None:
            best = ", so this one is optimal" if self.optimal else ""
            lines.append(("one path a pair", f"at least {self.lower_bound} ({self.lower_bound_source}){best}"))
        return lines

    def rows(self) -> Iterator[dict[str, Any]]:
        yield {
            "topology": self.topology,
            "routing": self.routing,
            "ratio": self.ratio,
            "channel": self.channel.get("id"),
            "tail": self.channel.get("tail"),
            "head": self.channel.get("head"),
            "lower_bound": self.lower_bound,
        }

    def to_dict(self) -> dict[str, Any]:
        made = super().to_dict()
        made["ratio"] = number(self.ratio)
        made["channel"] = self.channel or None
        if self.channel:
            made["channel_names"] = list(self.names)
        made["permutation"] = list(self.permutation)
        made["lower_bound"] = None if self.lower_bound is None else number(Fraction(self.lower_bound))
        if self.lower_bound is None:
            made["lower_bound_reason"] = self.lower_bound_source
        else:
            made["lower_bound_source"] = self.lower_bound_source
        made["provenance"] = self.provenance
        if self.certificate is not None:
            made["certificate"] = dict(self.certificate)
            made["certificate"]["digest"] = digest_of(made)
        return made

    @classmethod
    def from_dict(cls, made: dict[str, Any]) -> Ratio:
        """The inverse of :meth:`to_dict`."""
        channel = made["channel"] or {}
        names = made.get("channel_names") or ("", "")
        bound = exact(made["lower_bound"])
        kept = made.get("certificate")
        return cls(
            topology=made["topology"],
            routing=made["routing"],
            provenance=made["provenance"],
            ratio=exact(made["ratio"]) or Fraction(0),
            channel=channel,
            permutation=tuple(unpack(made["permutation"])),
            lower_bound=None if bound is None else int(bound),
            lower_bound_source=made.get("lower_bound_source", made.get("lower_bound_reason", "")),
            certificate=None if kept is None else {key: value for key, value in kept.items() if key != "digest"},
            names=(names[0], names[1]),
        )


@dataclass(frozen=True, repr=False)
class TrafficRatio(Result):
    """The performance ratio of a routing under single traffic patterns."""

    kind: ClassVar[str] = "traffic-ratio"

    patterns: tuple[dict[str, Any], ...] = ()

    @property
    def ratio(self) -> Any:
        """The largest of them: the ratio over this set of traffic."""
        return max((each["ratio"] for each in self.patterns), key=float, default=None)

    def summary(self) -> list[tuple[str, str]]:
        lines = [(each["traffic"], f"ratio {shown(each['ratio'])}") for each in self.patterns]
        return [*lines, ("largest", shown(self.ratio))] if len(lines) > 1 else lines

    def rows(self) -> Iterator[dict[str, Any]]:
        for each in self.patterns:
            yield {"topology": self.topology, "routing": self.routing, **each}

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {
            "ratio": number(self.ratio),
            "patterns": [{"traffic": each["traffic"], "ratio": number(each["ratio"])} for each in self.patterns],
            "provenance": self.provenance,
        }

    @classmethod
    def from_dict(cls, made: dict[str, Any]) -> TrafficRatio:
        """The inverse of :meth:`to_dict`."""
        return cls(
            topology=made["topology"],
            routing=made["routing"],
            provenance=made["provenance"],
            patterns=tuple({"traffic": row["traffic"], "ratio": from_number(row["ratio"])} for row in made["patterns"]),
        )
