"""The worst case of every channel, and which channels are alike."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from obliv._util.text import plural
from obliv.results.base import NO_CAPACITY, Result
from obliv.results.codec import Record, entry
from obliv.results.format import shown

__all__ = ["ChannelWorst", "WorstChannels"]

#: Classes of channels that are listed in text.
_LISTED = 40


@dataclass(frozen=True)
class ChannelWorst(Record):
    """The worst case of one channel.

    Parameters
    ----------
    channel, tail, head : int
        Its number, and the nodes at its ends.
    channel_load : Fraction
        The largest load that admissible traffic puts on it, per bandwidth.
    focus : int
        The first channel of its class: a symmetry of the routing carries one onto the other.
    """

    channel: int = entry(column="channel")
    tail: int = entry(column="tail")
    head: int = entry(column="head")
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
    table: ClassVar[str] = "channels"

    capacity: Fraction | None = entry(None, reason=NO_CAPACITY)
    network_classes: int = entry(0)
    routing_classes: int = entry(0)
    channels: tuple[ChannelWorst, ...] = ()
    places: tuple[str, ...] = entry((), compare=False, omit=lambda worst: not worst.places)

    @property
    def channel_load(self) -> Fraction:
        """The largest load of all channels."""
        return max((row.channel_load for row in self.channels), default=Fraction(0))

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
        focus = sorted((row for row in self.channels if row.channel == row.focus), key=lambda row: -row.channel_load)
        for row in focus[:_LISTED]:
            place = self.places[row.channel] if self.places else f"{row.tail} -> {row.head}"
            lines.append((place, f"{shown(row.channel_load)}, {plural(sizes[row.focus], 'channel', 'channels alike')}"))
        if len(focus) > _LISTED:
            lines.append(("", f"and {len(focus) - _LISTED} more classes; --format csv lists every channel"))
        return lines


def _classes(number: int, alone: str, among: str) -> str:
    return f"{alone}: one class of channels" if number == 1 else f"{number} classes of channels{among}"
