"""The result of an average-case analysis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from obliv.results.base import Result
from obliv.results.numbers import Estimate, exact, from_number, number, shown

__all__ = ["Average"]


@dataclass(frozen=True, repr=False)
class Average(Result):
    """Average throughput over random traffic: the reciprocal of the mean largest load, and the mean of throughputs."""

    kind: ClassVar[str] = "average"

    ensemble: str = "permutations"
    samples: int = 0
    channel_load: Fraction | Estimate = Fraction(0)
    throughput: Fraction | Estimate | None = None
    fraction_of_capacity: Fraction | Estimate | None = None
    mean_throughput: Fraction | Estimate | None = None
    mean_throughput_reason: str = ""
    capacity: Fraction | None = None

    def summary(self) -> list[tuple[str, str]]:
        return [
            ("mean largest load", shown(self.channel_load)),
            ("throughput", shown(self.throughput)),
            ("of capacity", shown(self.fraction_of_capacity) if self.capacity else "no closed form here"),
            (
                "mean of throughputs",
                shown(self.mean_throughput) if self.mean_throughput else self.mean_throughput_reason,
            ),
            ("traffic", f"{self.samples} {self.ensemble}"),
        ]

    def rows(self) -> Iterator[dict[str, Any]]:
        yield {
            "topology": self.topology,
            "routing": self.routing,
            "channel_load": self.channel_load,
            "throughput": self.throughput,
            "fraction_of_capacity": self.fraction_of_capacity,
            "mean_throughput": self.mean_throughput,
            "samples": self.samples,
        }

    def to_dict(self) -> dict[str, Any]:
        made = super().to_dict()
        for name in ("channel_load", "throughput", "fraction_of_capacity", "mean_throughput", "capacity"):
            made[name] = number(getattr(self, name))
        if self.throughput is None:
            made["throughput_reason"] = "no traffic loads any channel"
        if self.capacity is None:
            made["capacity_reason"] = "no closed form is known for this topology"
        if self.fraction_of_capacity is None:
            made["fraction_of_capacity_reason"] = made.get("capacity_reason") or made["throughput_reason"]
        if self.mean_throughput is None:
            made["mean_throughput_reason"] = self.mean_throughput_reason
        made |= {"ensemble": self.ensemble, "samples": self.samples, "provenance": self.provenance}
        return made

    @classmethod
    def from_dict(cls, made: dict[str, Any]) -> Average:
        """The inverse of :meth:`to_dict`."""
        load = from_number(made["channel_load"])
        return cls(
            topology=made["topology"],
            routing=made["routing"],
            provenance=made["provenance"],
            ensemble=made["ensemble"],
            samples=made["samples"],
            channel_load=Fraction(0) if load is None else load,
            throughput=from_number(made["throughput"]),
            fraction_of_capacity=from_number(made["fraction_of_capacity"]),
            mean_throughput=from_number(made["mean_throughput"]),
            mean_throughput_reason=made.get("mean_throughput_reason", ""),
            capacity=exact(made.get("capacity")),
        )
