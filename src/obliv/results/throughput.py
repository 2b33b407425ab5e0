"""The result of a throughput analysis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from obliv.results.base import Result
from obliv.results.numbers import exact, from_number, number, shown

__all__ = ["Throughput"]


@dataclass(frozen=True, repr=False)
class Throughput(Result):
    """Ideal throughput under single traffic patterns."""

    kind: ClassVar[str] = "throughput"

    capacity: Fraction | None = None
    patterns: tuple[dict[str, Any], ...] = ()

    def summary(self) -> list[tuple[str, str]]:
        return [
            (
                each["traffic"],
                (
                    f"load {shown(each['channel_load'])}, throughput {shown(each['throughput'])}"
                    + (f", of capacity {shown(each['fraction_of_capacity'])}" if self.capacity else "")
                    if each["throughput"] is not None
                    else "loads no channel: its throughput is infinite"
                )
                + ("" if each["admissible"] else " (not admissible)"),
            )
            for each in self.patterns
        ]

    def rows(self) -> Iterator[dict[str, Any]]:
        for each in self.patterns:
            yield {
                "topology": self.topology,
                "routing": self.routing,
                "traffic": each["traffic"],
                "channel_load": each["channel_load"],
                "throughput": each["throughput"],
                "fraction_of_capacity": each["fraction_of_capacity"],
                "admissible": each["admissible"],
            }

    def to_dict(self) -> dict[str, Any]:
        made = super().to_dict()
        made["capacity"] = number(self.capacity)
        if self.capacity is None:
            made["capacity_reason"] = "no closed form is known for this topology"
        made["patterns"] = []
        for each in self.patterns:
            row = dict(each)
            for name in ("channel_load", "throughput", "fraction_of_capacity"):
                row[name] = number(each[name])
            if each["throughput"] is None:
                row["throughput_reason"] = "this traffic loads no channel"
            if each["fraction_of_capacity"] is None:
                row["fraction_of_capacity_reason"] = made.get("capacity_reason") or row["throughput_reason"]
            made["patterns"].append(row)
        made["provenance"] = self.provenance
        return made

    @classmethod
    def from_dict(cls, made: dict[str, Any]) -> Throughput:
        """The inverse of :meth:`to_dict`."""
        numbers = ("channel_load", "throughput", "fraction_of_capacity")
        patterns = [
            {
                name: from_number(value) if name in numbers else value
                for name, value in row.items()
                if not name.endswith("_reason")
            }
            for row in made["patterns"]
        ]
        return cls(
            topology=made["topology"],
            routing=made["routing"],
            provenance=made["provenance"],
            capacity=exact(made.get("capacity")),
            patterns=tuple(patterns),
        )
