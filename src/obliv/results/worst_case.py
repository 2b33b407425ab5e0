"""The result of a worst-case analysis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from obliv.errors import InputError
from obliv.results.base import CERTIFICATE, NO_CAPACITY, NO_LOAD, Channel, Result
from obliv.results.codec import PACKED, Codec, derived, entry
from obliv.results.format import shown
from obliv.results.numbers import Estimate, inverse, rational, scaled

__all__ = ["FLOWS", "WorstCase", "WorstPair"]

#: Flows of a traffic matrix as rows source, destination, amount.
FLOWS = Codec(
    lambda flows: [[s, d, str(amount)] for s, d, amount in flows],
    lambda rows: tuple((int(s), int(d), rational(amount)) for s, d, amount in rows),
)


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
    """

    kind: ClassVar[str] = "worst"

    channel_load: Fraction | Estimate = entry(Fraction(0), label="channel load", column="channel_load")

    def __post_init__(self) -> None:
        if isinstance(self.channel_load, Fraction) and self.channel_load < 0:
            raise ValueError(f"the channel load is {self.channel_load}; it must be 0 or more")

    @property
    @derived(label="throughput", column="throughput", reason=NO_LOAD)
    def throughput(self) -> Fraction | Estimate | None:
        """Guaranteed packets per node and cycle; None if no channel is loaded."""
        return inverse(self.channel_load)

    @property
    @derived(
        label="of capacity",
        text=lambda worst: shown(worst.fraction_of_capacity) if worst.capacity else "no closed form here",
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

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield the pairs of the worst traffic that cross the worst channel, by name; see :meth:`crossing_pairs`."""
        for pair in self.crossing_pairs():
            yield pair.source, pair.destination

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
        if self.channel is None:
            return ()
        topology, channel = loads.topology, self.channel.id
        rows, columns, numerators = loads.weights(channel).spread()
        weights = dict(zip(zip(rows.tolist(), columns.tolist(), strict=True), numerators.tolist(), strict=True))
        units = loads.denominator * topology.bandwidth_of(channel)
        name = [topology.name_of(node) for node in topology.terminals.tolist()]
        flows = self.traffic or [(s, d, Fraction(1)) for s, d in enumerate(self.permutation or ())]
        found = [WorstPair(name[s], name[d], amount * weights.get((s, d), 0) / units) for s, d, amount in flows]
        return tuple(sorted((pair for pair in found if pair.channel_load), key=lambda pair: -pair.channel_load))

    @property
    def numbers(self) -> tuple[str, str]:
        """The numbers of the worst channel's ends."""
        return (str(self.channel.tail), str(self.channel.head)) if self.channel else ("", "")

    @property
    def ends(self) -> tuple[str, str]:
        """The names of the worst channel's ends, or their numbers if they have no names."""
        return self.names if any(self.names) else self.numbers
