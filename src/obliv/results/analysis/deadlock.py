"""The results of a deadlock analysis: one scheme's channel dependency graph, and all schemes side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from obliv.results.base import CERTIFICATE, Result
from obliv.results.codec import Record, derived, entry

__all__ = ["Deadlock", "LeftOut", "SchemeCount", "VirtualChannel", "VirtualChannels"]


@dataclass(frozen=True)
class VirtualChannel(Record):
    """A virtual channel of a link: the numbers of both, and the ends of the link."""

    channel: int
    virtual_channel: int
    tail: int
    head: int


@dataclass(frozen=True, repr=False)
class Deadlock(Result):
    """Result of a deadlock check: whether the channel dependency graph is acyclic, and a cycle if not.

    Examples
    --------
    >>> import obliv
    >>> obliv.deadlock(obliv.DOR(obliv.mesh(4, 4)))
    deadlock: dor on mesh:4x4
      scheme            none
      verdict           acyclic: no deadlock
      virtual channels  1 (x 1, y 1)
      dependencies      68
    >>> obliv.deadlock(obliv.DOR(obliv.ring(5)), "dateline").acyclic
    True
    """

    kind: ClassVar[str] = "deadlock"

    scheme: str = entry("none", label="scheme", text=lambda check: check.scheme, column="scheme")
    acyclic: bool = entry(
        True,
        label="verdict",
        text=lambda check: "acyclic: no deadlock" if check.acyclic else f"cyclic: {_waiting(len(check.cycle))}",
        column="acyclic",
    )
    cycle: tuple[VirtualChannel, ...] | None = None
    virtual_channels: int = entry(
        0, label="virtual channels", text=lambda check: check._counts(), column="virtual_channels"
    )
    by_dimension: dict[str, int] = entry(default_factory=dict, key="virtual_channels_by_dimension")
    dependencies: int = entry(0, label="dependencies", column="dependencies")
    certificate: dict[str, Any] | None = entry(
        None, codec=CERTIFICATE, omit=lambda check: check.certificate is None, compare=False, rank=2
    )
    places: tuple[str, ...] = entry((), compare=False, hidden=True)  # each channel of the cycle, in words

    def summary(self) -> list[tuple[str, str]]:
        lines = super().summary()
        cycle = self.cycle or ()
        places = self.places or tuple(f"{step.tail} -> {step.head}" for step in cycle)
        width = max(map(len, places), default=0)
        for at, (step, place) in enumerate(zip(cycle, places, strict=True)):
            text = f"{place:<{width}}  vc {step.virtual_channel}  channel {step.channel}"
            lines.append(("" if at else "cycle", text))
        if places:
            lines.append(("", "back to the first channel"))
        return lines

    def cells(self) -> dict[str, object]:
        """Return the row, with the cycle as channels and their virtual channels."""
        cycle = " ".join(f"{step.channel}.{step.virtual_channel}" for step in self.cycle or ())
        return super().cells() | {"cycle": cycle}

    def _counts(self) -> str:
        counts = ", ".join(f"{dimension} {count}" for dimension, count in self.by_dimension.items())
        return f"{self.virtual_channels} ({counts})" if counts else str(self.virtual_channels)


@dataclass(frozen=True)
class SchemeCount(Record):
    """A virtual-channel scheme that applies to a routing: its virtual channels, and whether it is acyclic."""

    scheme: str = entry(column="scheme")
    virtual_channels: int = entry(column="virtual_channels")
    acyclic: bool = entry(column="acyclic")
    cycle_length: int | None = entry(column="cycle_length")
    dependencies: int = entry(column="dependencies")

    @property
    def text(self) -> str:
        """The virtual channels, and whether packets can wait for each other, in words."""
        verdict = "acyclic" if self.acyclic else f"cyclic: {_waiting(self.cycle_length or 0)}"
        return f"{self.virtual_channels}  {verdict}"


@dataclass(frozen=True)
class LeftOut(Record):
    """A virtual-channel scheme that does not apply to a routing, and why."""

    scheme: str
    reason: str


@dataclass(frozen=True, repr=False)
class VirtualChannels(Result):
    """The virtual-channel schemes that apply to a routing, with their virtual channels and whether they are acyclic.

    Examples
    --------
    >>> import obliv
    >>> obliv.fewest_virtual_channels(obliv.ROMM(obliv.mesh(3, 3)))
    virtual-channels: romm on mesh:3x3
      fewest       2, by double-y
      none         1  cyclic: 4 channels can wait for each other
      phase        2  cyclic: 4 channels can wait for each other
      turn         3  acyclic
      turn+uturn   3  acyclic
      family       2  cyclic: 4 channels can wait for each other
      phase-order  4  acyclic
      double-y     2  acyclic
    """

    kind: ClassVar[str] = "virtual-channels"
    table: ClassVar[str] = "schemes"

    @property
    @derived(reason="every scheme that was tried is cyclic")
    def fewest(self) -> int | None:
        """The number of virtual channels of the best scheme; None if all schemes are cyclic."""
        return min((row.virtual_channels for row in self.schemes if row.acyclic), default=None)

    @property
    @derived(key="scheme")
    def best(self) -> str | None:
        """The first acyclic scheme with the fewest virtual channels; None if all schemes are cyclic."""
        fewest = self.fewest
        return next((row.scheme for row in self.schemes if row.acyclic and row.virtual_channels == fewest), None)

    schemes: tuple[SchemeCount, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    def summary(self) -> list[tuple[str, str]]:
        lines = [("fewest", "-: every scheme is cyclic" if self.best is None else f"{self.fewest}, by {self.best}")]
        return [*lines, *((row.scheme, row.text) for row in self.schemes)]


def _waiting(length: int) -> str:
    return f"{length} channels can wait for each other" if length > 1 else "a channel can wait for itself"
