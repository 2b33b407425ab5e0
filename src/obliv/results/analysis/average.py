"""The result of an average-case analysis."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from obliv.results.base import NO_CAPACITY, NO_LOAD, Result, share_text
from obliv.results.codec import Codec, entry
from obliv.results.format import shown
from obliv.results.numbers import Estimate
from obliv.results.verification import IDLE

__all__ = ["NOISY", "Average", "infinite_but"]

#: Why there is no mean of throughputs, beside IDLE.
NOISY = "paths are sampled: the mean of reciprocals of noisy loads has no known error"
_INFINITE = "infinite over all permutations, since the identity loads no channel; of those drawn: "
_ESTIMATE = r"[-+.0-9e]{1,24}( ± [-+.0-9einfa]{1,24}| in \[[-+.0-9einfa, ]{1,48}\])?( \(estimated(, unreliable)?\))?"
_REASON = re.compile(rf"({IDLE}|{NOISY}|{_INFINITE}({_ESTIMATE}|infinite too))?")


def infinite_but(drawn: Fraction | Estimate | None) -> str:
    """Return why there is no mean over all permutations, with that of those that were drawn; None if it is infinite."""
    return _INFINITE + ("infinite too" if drawn is None else str(drawn))


def _reason(data: Any) -> str:
    if not isinstance(data, str) or not _REASON.fullmatch(data):
        raise ValueError(f"{data!r:.40} is not a reason that obliv writes")
    return data


@dataclass(frozen=True, repr=False)
class Average(Result):
    """Average throughput over random traffic: the reciprocal of the mean largest load, and the mean of throughputs.

    Examples
    --------
    >>> import obliv
    >>> obliv.average_case(obliv.DOR(obliv.line(4)), exact=True)
    average: dor on line:4
      mean largest load    9/8 = 1.125
      throughput           8/9 = 0.888889
      of capacity          8/9 = 0.888889
      mean of throughputs  some of this traffic loads no channel: its throughput is infinite
      largest load         2, the worst case
      traffic              24 permutations
    """

    kind: ClassVar[str] = "average"

    channel_load: Fraction | Estimate = entry(Fraction(0), label="mean largest load", column="channel_load")
    throughput: Fraction | Estimate | None = entry(None, label="throughput", column="throughput", reason=NO_LOAD)
    fraction_of_capacity: Fraction | Estimate | None = entry(
        None,
        label="of capacity",
        text=lambda average: share_text(average.fraction_of_capacity, average.capacity, average.topology),
        column="fraction_of_capacity",
        reason=lambda average: NO_CAPACITY if average.capacity is None else NO_LOAD,
    )
    mean_throughput: Fraction | Estimate | None = entry(
        None,
        label="mean of throughputs",
        text=lambda average: (
            shown(average.mean_throughput) if average.mean_throughput else average.mean_throughput_reason
        ),
        column="mean_throughput",
    )
    mean_throughput_reason: str = entry(
        "", codec=Codec(str, _reason), omit=lambda average: average.mean_throughput is not None
    )
    largest_load: Fraction | None = entry(
        None,
        label="largest load",
        text=lambda average: average.largest_text(),
        column="largest_load",
        omit=lambda average: average.largest_load is None,
    )
    largest_permutation: tuple[int, ...] | None = entry(None, omit=lambda average: average.largest_load is None)
    worst_load: Fraction | None = entry(None, column="worst_load", omit=lambda average: average.largest_load is None)
    capacity: Fraction | None = entry(None, reason=NO_CAPACITY)
    ensemble: str = "permutations"

    @property
    def provable(self) -> bool:
        """Whether it is the exact mean, which :func:`obliv.verify` counts again."""
        return not isinstance(self.channel_load, Estimate)

    samples: int = entry(
        0, label="traffic", text=lambda average: f"{average.samples} {average.ensemble}", column="samples"
    )

    def largest_text(self) -> str | None:
        """Return the largest load of random permutations, which bounds the worst case from below, beside the worst."""
        if self.largest_load is None:
            return None
        if self.largest_load == self.worst_load:
            return f"{shown(self.largest_load)}, the worst case"
        return f"{shown(self.largest_load)} of those drawn; the worst case is {shown(self.worst_load)}"
