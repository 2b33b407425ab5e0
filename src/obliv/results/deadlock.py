"""The results of a deadlock analysis: one scheme's channel dependency graph, and all schemes side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from obliv.results.base import Result

__all__ = ["Deadlock", "VirtualChannels"]


@dataclass(frozen=True, repr=False)
class Deadlock(Result):
    """Whether the channel dependency graph of a routing is acyclic, with a cycle where it is not."""

    kind: ClassVar[str] = "deadlock"

    scheme: str = "none"
    acyclic: bool = True
    cycle: tuple[dict[str, int], ...] | None = None
    virtual_channels: int = 0
    by_dimension: dict[str, int] = field(default_factory=dict)
    dependencies: int = 0
    places: tuple[str, ...] = field(default=(), compare=False)  # each channel of the cycle, in words

    def summary(self) -> list[tuple[str, str]]:
        each = ", ".join(f"{dim} {count}" for dim, count in self.by_dimension.items())
        lines = [
            ("scheme", self.scheme),
            ("verdict", "acyclic: no deadlock" if self.cycle is None else f"cyclic: {_round(len(self.cycle))}"),
            ("virtual channels", f"{self.virtual_channels} ({each})" if each else str(self.virtual_channels)),
            ("dependencies", str(self.dependencies)),
        ]
        places = self.places or tuple(f"{hop['tail']} -> {hop['head']}" for hop in self.cycle or ())
        width = max(map(len, places), default=0)
        for at, (hop, place) in enumerate(zip(self.cycle or (), places, strict=True)):
            text = f"{place:<{width}}  vc {hop['virtual_channel']}  channel {hop['channel']}"
            lines.append(("" if at else "cycle", text))
        if places:
            lines.append(("", "and again the first"))
        return lines

    def rows(self) -> Iterator[dict[str, Any]]:
        yield {
            "topology": self.topology,
            "routing": self.routing,
            "scheme": self.scheme,
            "acyclic": self.acyclic,
            "virtual_channels": self.virtual_channels,
            "dependencies": self.dependencies,
            "cycle": " ".join(f"{hop['channel']}.{hop['virtual_channel']}" for hop in self.cycle or ()),
        }

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {
            "scheme": self.scheme,
            "acyclic": self.acyclic,
            "cycle": None if self.cycle is None else [dict(hop) for hop in self.cycle],
            "virtual_channels": self.virtual_channels,
            "virtual_channels_by_dimension": dict(self.by_dimension),
            "dependencies": self.dependencies,
            "provenance": self.provenance,
        }

    @classmethod
    def from_dict(cls, made: dict[str, Any]) -> Deadlock:
        """The inverse of :meth:`to_dict`."""
        return cls(
            topology=made["topology"],
            routing=made["routing"],
            provenance=made["provenance"],
            scheme=made["scheme"],
            acyclic=made["acyclic"],
            cycle=None if made["cycle"] is None else tuple(dict(hop) for hop in made["cycle"]),
            virtual_channels=made["virtual_channels"],
            by_dimension=dict(made["virtual_channels_by_dimension"]),
            dependencies=made["dependencies"],
        )


@dataclass(frozen=True, repr=False)
class VirtualChannels(Result):
    """The virtual-channel schemes that fit a routing: how many virtual channels each takes, and whether it suffices."""

    kind: ClassVar[str] = "virtual-channels"

    schemes: tuple[dict[str, Any], ...] = ()
    left_out: tuple[dict[str, str], ...] = ()

    @property
    def best(self) -> str | None:
        """The acyclic scheme with the fewest virtual channels, the first of several; None where all are cyclic."""
        sound = [each for each in self.schemes if each["acyclic"]]
        return min(sound, key=lambda each: int(each["virtual_channels"]))["scheme"] if sound else None

    @property
    def fewest(self) -> int | None:
        """How many virtual channels that scheme takes."""
        return next((each["virtual_channels"] for each in self.schemes if each["scheme"] == self.best), None)

    def summary(self) -> list[tuple[str, str]]:
        lines = [("fewest", "-: every scheme is cyclic" if self.best is None else f"{self.fewest}, by {self.best}")]
        for each in self.schemes:
            verdict = "acyclic" if each["acyclic"] else f"cyclic: {_round(each['cycle_length'])}"
            lines.append((each["scheme"], f"{each['virtual_channels']}  {verdict}"))
        return lines

    def rows(self) -> Iterator[dict[str, Any]]:
        for each in self.schemes:
            yield {"topology": self.topology, "routing": self.routing, **each}

    def to_dict(self) -> dict[str, Any]:
        made = super().to_dict() | {"fewest": self.fewest}
        if self.fewest is None:
            made["fewest_reason"] = "every scheme that was tried is cyclic"
        return made | {
            "scheme": self.best,
            "schemes": [dict(each) for each in self.schemes],
            "left_out": [dict(each) for each in self.left_out],
            "provenance": self.provenance,
        }

    @classmethod
    def from_dict(cls, made: dict[str, Any]) -> VirtualChannels:
        """The inverse of :meth:`to_dict`."""
        return cls(
            topology=made["topology"],
            routing=made["routing"],
            provenance=made["provenance"],
            schemes=tuple(dict(each) for each in made["schemes"]),
            left_out=tuple(dict(each) for each in made["left_out"]),
        )


def _round(length: int) -> str:
    return f"{length} channels can wait for each other in a circle" if length > 1 else "a channel can wait for itself"
