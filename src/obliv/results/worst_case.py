"""The result of a worst-case analysis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from obliv._util.codec import digest_of, unpack
from obliv.results.base import Result
from obliv.results.numbers import Estimate, exact, from_number, inverse, number, rational, scaled, shown

__all__ = ["WorstCase"]


@dataclass(frozen=True, repr=False)
class WorstCase(Result):
    """The exact worst case of a routing: the largest load that admissible traffic puts on a channel."""

    kind: ClassVar[str] = "worst"

    channel_load: Fraction | Estimate = Fraction(0)
    capacity: Fraction | None = None
    channel: dict[str, int] = field(default_factory=dict)
    permutation: tuple[int, ...] | None = None
    traffic: tuple[tuple[int, int, Fraction], ...] | None = None
    focus_channels: int = 0
    certificate: dict[str, Any] | None = None
    names: tuple[str, str] = field(default=("", ""), compare=False)

    @property
    def throughput(self) -> Fraction | Estimate | None:
        """Packets per node and cycle that are guaranteed; None where nothing is loaded."""
        return inverse(self.channel_load)

    @property
    def fraction_of_capacity(self) -> Fraction | Estimate | None:
        """Guaranteed throughput over that of uniform traffic under the best routing."""
        through = self.throughput
        if self.capacity is None or through is None:
            return None
        return scaled(through, 1 / self.capacity)

    def summary(self) -> list[tuple[str, str]]:
        at = f"{self.channel['id']}: {self.names[0]} -> {self.names[1]}" if self.channel else "-"
        lines = [
            ("channel load", shown(self.channel_load)),
            ("throughput", shown(self.throughput)),
            ("of capacity", shown(self.fraction_of_capacity) if self.capacity else "no closed form here"),
            ("worst channel", at),
            ("focus channels", str(self.focus_channels)),
        ]
        if self.traffic is not None:
            lines.append(("traffic", f"{len(self.traffic)} flows"))
        return lines

    def rows(self) -> Iterator[dict[str, Any]]:
        yield {
            "topology": self.topology,
            "routing": self.routing,
            "channel_load": self.channel_load,
            "throughput": self.throughput,
            "fraction_of_capacity": self.fraction_of_capacity,
            "channel": self.channel.get("id"),
            "tail": self.channel.get("tail"),
            "head": self.channel.get("head"),
            "focus_channels": self.focus_channels,
        }

    def to_dict(self) -> dict[str, Any]:
        made = super().to_dict()
        made["channel_load"] = number(self.channel_load)
        made["throughput"] = number(self.throughput)
        if self.throughput is None:
            made["throughput_reason"] = "no traffic loads any channel"
        made["fraction_of_capacity"] = number(self.fraction_of_capacity)
        made["capacity"] = number(self.capacity)
        if self.capacity is None:
            made["capacity_reason"] = "no closed form is known for this topology"
        if self.fraction_of_capacity is None:
            made["fraction_of_capacity_reason"] = made.get("capacity_reason") or made["throughput_reason"]
        made["channel"] = self.channel or None
        if self.channel and self.names != (str(self.channel["tail"]), str(self.channel["head"])):
            made["channel_names"] = list(self.names)
        if not self.channel:
            made["channel_reason"] = "the network has no channels"
        if self.permutation is not None:
            made["permutation"] = list(self.permutation)
        if self.traffic is not None:
            made["permutation"] = None
            made["permutation_reason"] = "terminals have rates: the witness is a traffic matrix"
            made["traffic"] = [[s, d, str(amount)] for s, d, amount in self.traffic]
        made["focus_channels"] = self.focus_channels
        made["provenance"] = self.provenance
        if self.certificate is not None:
            made["certificate"] = dict(self.certificate)
            made["certificate"]["digest"] = digest_of(made)
        return made

    @classmethod
    def from_dict(cls, made: dict[str, Any]) -> WorstCase:
        """The inverse of :meth:`to_dict`."""
        load_ = from_number(made["channel_load"])
        channel = made["channel"] or {}
        names = made.get("channel_names") or [str(channel.get(end, "")) for end in ("tail", "head")]
        rows = made.get("traffic")
        return cls(
            topology=made["topology"],
            routing=made["routing"],
            provenance=made["provenance"],
            channel_load=Fraction(0) if load_ is None else load_,
            capacity=exact(made.get("capacity")),
            channel=channel,
            permutation=None if made.get("permutation") is None else tuple(unpack(made["permutation"])),
            traffic=None if rows is None else tuple((s, d, rational(amount)) for s, d, amount in rows),
            focus_channels=made["focus_channels"],
            certificate=_without_digest(made.get("certificate")),
            names=(names[0], names[1]),
        )


def _without_digest(certificate: dict[str, Any] | None) -> dict[str, Any] | None:
    """The certificate as it was before it was saved."""
    return None if certificate is None else {key: value for key, value in certificate.items() if key != "digest"}
