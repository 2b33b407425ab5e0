"""The result of a worst-case analysis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from obliv._util.text import plural
from obliv.errors import InputError
from obliv.results.base import CERTIFICATE, NO_CAPACITY, NO_LOAD, Channel, Result, share_text, throughput_text
from obliv.results.codec import PACKED, Codec, derived, entry, pack, unpack
from obliv.results.numbers import Estimate, inverse, rational, scaled

__all__ = ["FLOWS", "WorstCase", "WorstPair"]

_LISTED, _WIDTH = 3, 60  # pairs in the short form, and its characters

#: Flows of a traffic matrix as rows source, destination, amount.
FLOWS: Codec = Codec(
    lambda flows: [[s, d, str(amount)] for s, d, amount in flows],
    lambda rows: tuple((int(s), int(d), rational(amount)) for s, d, amount in rows),
)

#: Pairs of terminals as rows source, destination.
PAIRS: Codec = Codec(pack, lambda data: tuple((int(s), int(d)) for s, d in unpack(data)))


@dataclass(frozen=True)
class WorstPair:
    """A pair of the worst traffic whose packets cross the worst channel.

    Parameters
    ----------
    source, destination : str
        Names of the nodes.
    channel_load : Fraction
        What the pair adds to the load of the channel.
    """

    source: str
    destination: str
    channel_load: Fraction


@dataclass(frozen=True, repr=False)
class WorstCase(Result):
    """The exact worst case of a routing: the largest load that admissible traffic puts on a channel.

    Examples
    --------
    >>> import obliv
    >>> obliv.worst_case(obliv.ROMM(obliv.torus(4, 4)))
    worst: romm on torus:4x4
      channel load    3/2 = 1.5
      throughput      2/3 = 0.666667
      of capacity     1/3 = 0.333333
      worst channel   0: (0,0) -> (1,0)
      focus channels  1
      worst traffic   (0,0) -> (1,0), (0,1) -> (2,0), (3,0) -> (1,2)
                      and 2 more pairs over the worst channel
    """

    kind: ClassVar[str] = "worst"
    on_network: ClassVar[bool] = True

    channel_load: Fraction | Estimate = entry(Fraction(0), label="channel load", column="channel_load")

    def __post_init__(self) -> None:
        if isinstance(self.channel_load, Fraction) and self.channel_load < 0:
            raise ValueError(f"the channel load is {self.channel_load}; it must be 0 or more")
        last = len(self.terminal_names or self.permutation or ()) - 1
        if last >= 0 and any(not 0 <= terminal <= last for pair in self.crossing for terminal in pair):
            raise ValueError(f"crossing: terminals must be 0 to {last}")

    @property
    @derived(
        label="throughput",
        text=lambda worst: throughput_text(worst.throughput, worst.rated),
        column="throughput",
        reason=NO_LOAD,
    )
    def throughput(self) -> Fraction | Estimate | None:
        """Guaranteed packets per node and cycle, if `rated` times the rates; None if no channel is loaded."""
        return inverse(self.channel_load)

    @property
    @derived(
        label="of capacity",
        text=lambda worst: share_text(worst.fraction_of_capacity, worst.capacity, worst.topology),
        column="fraction_of_capacity",
        reason=lambda worst: NO_CAPACITY if worst.capacity is None else NO_LOAD,
    )
    def fraction_of_capacity(self) -> Fraction | Estimate | None:
        """Guaranteed throughput divided by that of uniform traffic under the best routing."""
        through = self.throughput
        if self.capacity is None or through is None:
            return None
        return scaled(through, 1 / self.capacity)

    capacity: Fraction | None = entry(None, reason=NO_CAPACITY)
    rated: bool = entry(False, omit=lambda result: not result.rated)
    channel: Channel | None = entry(
        None,
        label="worst channel",
        text=lambda worst: "{}: {} -> {}".format(worst.channel.id, *worst.ends) if worst.channel else "-",
        column="channel",
        reason="the network has no channels",
    )
    names: tuple[str, str] = entry(
        ("", ""), key="channel_names", compare=False, omit=lambda worst: worst.names in (("", ""), worst.numbers)
    )
    permutation: tuple[int, ...] | None = entry(
        None,
        codec=PACKED,
        omit=lambda worst: worst.permutation is None and worst.traffic is None,
        reason="terminals have rates: the witness is a traffic matrix",
    )
    traffic: tuple[tuple[int, int, Fraction], ...] | None = entry(
        None,
        codec=FLOWS,
        omit=lambda worst: worst.traffic is None,
        label="traffic",
        text=lambda worst: None if worst.traffic is None else f"{len(worst.traffic)} flows",
    )
    focus_channels: int = entry(0, label="focus channels", column="focus_channels")
    certificate: dict[str, Any] | None = entry(
        None, codec=CERTIFICATE, omit=lambda worst: worst.certificate is None, rank=2
    )

    terminal_names: tuple[str, ...] = entry((), key="names", rank=3, omit=lambda worst: not worst.terminal_names)
    crossing: tuple[tuple[int, int], ...] = entry((), codec=PAIRS, rank=3, omit=lambda worst: not worst.crossing)

    @property
    @derived(hidden=True, column="channel_name")
    def channel_name(self) -> str | None:
        """The worst channel by the names of its nodes; None if the network has no channels."""
        return None if self.channel is None else "{} -> {}".format(*self.ends)

    @property
    @derived(hidden=True, column="pairs")
    def pair_names(self) -> str:
        """The pairs of the worst traffic that cross the worst channel, by name, in one line."""
        return "; ".join(f"{source} -> {destination}" for source, destination in self.pairs())

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield the pairs of the worst traffic that cross the worst channel, by name; see :meth:`crossing_pairs`."""
        for source, destination in self.crossing:
            yield self._name(source), self._name(destination)

    def crossing_pairs(self) -> tuple[WorstPair, ...]:
        """Return the pairs of the worst traffic that cross the worst channel, those that load it most first.

        Their loads add up to :attr:`channel_load`.

        Raises
        ------
        InputError
            If the result is an estimate, or was loaded from a file and does not know its routing.

        Examples
        --------
        >>> import obliv
        >>> for pair in obliv.worst_case(obliv.DOR(obliv.line(4))).crossing_pairs():
        ...     print(pair.source, pair.destination, pair.channel_load)
        0 2 1
        1 3 1
        """
        loads = self.subject.pair_loads() if hasattr(self.subject, "pair_loads") else self.subject
        if isinstance(self.channel_load, Estimate) or not hasattr(loads, "weights"):
            raise InputError("the pairs need the exact result of a routing or of pair loads: call worst_case again")
        if self.channel is None or not self.crossing:
            return ()
        weights = loads.weights(self.channel.id).of(*np.array(self.crossing).T).tolist()
        units = loads.denominator * loads.topology.bandwidth_of(self.channel.id)
        amounts = {(s, d): amount for s, d, amount in self.traffic or ()}
        return tuple(
            WorstPair(self._name(s), self._name(d), amounts.get((s, d), 1) * Fraction(weight) / units)
            for (s, d), weight in zip(self.crossing, weights, strict=True)
        )

    def _name(self, terminal: int) -> str:
        return self.terminal_names[terminal] if self.terminal_names else str(terminal)

    def summary(self) -> list[tuple[str, str]]:
        return super().summary() + self._traffic_lines()

    def _traffic_lines(self) -> list[tuple[str, str]]:
        """Return the first pairs over the worst channel, and how many more there are."""
        texts = [f"{source} -> {destination}" for source, destination in islice(self.pairs(), _LISTED)]
        while len(texts) > 1 and len(", ".join(texts)) > _WIDTH:
            texts.pop()
        more = len(self.crossing) - len(texts)
        lines = [("worst traffic", ", ".join(texts))] if texts else []
        return lines + ([("", f"and {plural(more, 'more pair')} over the worst channel")] if more else [])

    @property
    def numbers(self) -> tuple[str, str]:
        """The numbers of the worst channel's ends."""
        return (str(self.channel.tail), str(self.channel.head)) if self.channel else ("", "")

    @property
    def ends(self) -> tuple[str, str]:
        """The names of the worst channel's ends, or their numbers if they have no names."""
        return self.names if any(self.names) else self.numbers
