"""The worst case of every channel, and which channels are alike."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from obliv._util.text import plural
from obliv.results.analysis.worst_case import FLOWS
from obliv.results.base import CERTIFICATE, NO_CAPACITY, NO_LOAD, Channel, Result
from obliv.results.codec import PACKED, Record, derived, entry
from obliv.results.format import shown

__all__ = ["ChannelWorst", "WorstChannels"]

#: Classes of channels that are listed in text.
_LISTED = 40


@dataclass(frozen=True)
class ChannelWorst(Record):
    """The worst case of one channel.

    Parameters
    ----------
    channel : Channel
        Its number, and the nodes at its ends.
    channel_load : Fraction
        The largest load that admissible traffic puts on it, per bandwidth.
    focus : int
        The first channel of its class: a symmetry of the routing carries one onto the other.
    """

    channel: Channel = entry(column="channel")
    channel_load: Fraction = entry(column="channel_load")
    focus: int = entry(column="focus")


@dataclass(frozen=True, repr=False)
class WorstChannels(Result):
    """The exact worst case of every channel, and the symmetries that were verified.

    Examples
    --------
    >>> import obliv
    >>> obliv.worst_channels(obliv.DOR(obliv.mesh(2, 2)))
    worst-channels: dor on mesh:2x2
      channel load    1
      network         edge-symmetric: one class of channels
      routing         2 classes of channels
      (0,0) -> (1,0)  1, 4 channels alike
      (0,0) -> (0,1)  1, 4 channels alike
    """

    kind: ClassVar[str] = "worst-channels"
    on_network: ClassVar[bool] = True
    table: ClassVar[str] = "channels"

    capacity: Fraction | None = entry(None, reason=NO_CAPACITY)
    network_classes: int = entry(0)
    routing_classes: int = entry(0)
    channels: tuple[ChannelWorst, ...] = ()
    places: tuple[str, ...] = entry((), compare=False, omit=lambda worst: not worst.places)

    @property
    @derived()
    def channel_load(self) -> Fraction:
        """The largest load of all channels."""
        return max((row.channel_load for row in self.channels), default=Fraction(0))

    @property
    @derived(reason=NO_LOAD)
    def throughput(self) -> Fraction | None:
        """Guaranteed packets per node and cycle; None if no channel is loaded."""
        return 1 / self.channel_load if self.channel_load else None

    @property
    @derived(reason=lambda worst: NO_CAPACITY if worst.capacity is None else NO_LOAD)
    def fraction_of_capacity(self) -> Fraction | None:
        """Guaranteed throughput divided by that of uniform traffic under the best routing."""
        return None if self.capacity is None or self.throughput is None else self.throughput / self.capacity

    channel: Channel | None = entry(None, reason="the network has no channels", compare=False)
    permutation: tuple[int, ...] | None = entry(
        None, codec=PACKED, omit=lambda worst: worst.permutation is None, compare=False
    )
    traffic: tuple[tuple[int, int, Fraction], ...] | None = entry(
        None, codec=FLOWS, omit=lambda worst: worst.traffic is None, compare=False
    )
    certificate: dict[str, Any] | None = entry(
        None, codec=CERTIFICATE, omit=lambda worst: worst.certificate is None, rank=2
    )

    def summary(self) -> list[tuple[str, str]]:
        if not self.channels:
            return [("channel load", "the network has no channels")]
        low, high = min(row.channel_load for row in self.channels), self.channel_load
        lines = [
            ("channel load", shown(high) if low == high else f"{shown(low)} to {shown(high)}"),
            ("network", _classes(self.network_classes, "edge-symmetric", " under the known symmetries")),
            ("routing", _classes(self.routing_classes, "looks the same from every channel", "")),
        ]
        sizes = Counter(row.focus for row in self.channels)
        focus = sorted((row for row in self.channels if row.channel.id == row.focus), key=lambda row: -row.channel_load)
        for row in focus[:_LISTED]:
            at = row.channel
            place = self.places[at.id] if self.places else f"{at.tail} -> {at.head}"
            lines.append((place, f"{shown(row.channel_load)}, {plural(sizes[row.focus], 'channel', 'channels alike')}"))
        if len(focus) > _LISTED:
            lines.append(("", f"and {len(focus) - _LISTED} more classes; every channel in CSV"))
        return lines


def _classes(number: int, alone: str, among: str) -> str:
    return f"{alone}: one class of channels" if number == 1 else f"{number} classes of channels{among}"
