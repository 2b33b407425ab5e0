"""The result of a throughput analysis."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from obliv.results.base import NO_CAPACITY, Result
from obliv.results.codec import Record, entry
from obliv.results.format import shown
from obliv.results.numbers import Estimate

__all__ = ["PatternThroughput", "Throughput"]

_NO_LOAD = "this traffic loads no channel"


@dataclass(frozen=True)
class PatternThroughput(Record):
    """Ideal throughput under one traffic pattern.

    Parameters
    ----------
    traffic : str
        Spec of the pattern.
    channel_load : Fraction, Estimate or None
        The largest; None where the network has no channels.
    throughput, fraction_of_capacity : Fraction, Estimate or None
        None where no channel is loaded; the second also where the capacity has no closed form.
    admissible : bool
        Whether no terminal takes more than one packet per cycle.
    """

    traffic: str = entry(column="traffic")
    channel_load: Fraction | Estimate | None = entry(column="channel_load")
    throughput: Fraction | Estimate | None = entry(column="throughput", reason=_NO_LOAD)
    fraction_of_capacity: Fraction | Estimate | None = entry(
        column="fraction_of_capacity", reason=lambda row: _NO_LOAD if row.throughput is None else NO_CAPACITY
    )
    admissible: bool = entry(column="admissible")

    def __str__(self) -> str:
        text = "loads no channel: its throughput is infinite"
        if self.throughput is not None:
            text = f"load {shown(self.channel_load)}, throughput {shown(self.throughput)}"
            if self.fraction_of_capacity is not None:
                text += f", of capacity {shown(self.fraction_of_capacity)}"
        return text if self.admissible else f"{text} (not admissible)"


@dataclass(frozen=True, repr=False)
class Throughput(Result):
    """Ideal throughput under single traffic patterns.

    Examples
    --------
    >>> import obliv
    >>> obliv.throughput(obliv.DOR(obliv.mesh(4, 4)), "uniform", "transpose")
    throughput: dor on mesh:4x4
      uniform    load 1, throughput 1, of capacity 1
      transpose  load 3, throughput 1/3 = 0.333333, of capacity 1/3 = 0.333333
    """

    kind: ClassVar[str] = "throughput"
    table: ClassVar[str] = "patterns"

    capacity: Fraction | None = entry(None, reason=NO_CAPACITY)
    patterns: tuple[PatternThroughput, ...] = ()

    def summary(self) -> list[tuple[str, str]]:
        return [(row.traffic, str(row)) for row in self.patterns]
