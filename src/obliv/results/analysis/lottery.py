"""The result of a hash lottery."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from obliv.results.base import Result
from obliv.results.codec import Record, entry
from obliv.results.format import shown
from obliv.results.numbers import Bounds, Estimate, bounds_of

__all__ = ["FlowsNeeded", "LoadChance", "Lottery", "LotteryQuantile"]

_ROWS = 8  # loads in the short form, which leaves out those that are nearly certain
_SURE = Fraction(999, 1000)


@dataclass(frozen=True)
class LoadChance(Record):
    """How probable a load is.

    Parameters
    ----------
    load : Fraction
    probability : Fraction or Bounds
        That the largest load is at least `load`.
    sampled : Estimate or None
        The same, from samples.
    """

    load: Fraction = entry(Fraction(0), column="load")
    probability: Fraction | Bounds = entry(Fraction(0), column="probability")
    sampled: Estimate | None = entry(None, column="sampled", omit=lambda row: row.sampled is None)


@dataclass(frozen=True)
class LotteryQuantile(Record):
    """The smallest load that the largest load exceeds with at most probability 1 - `probability`."""

    probability: Fraction = Fraction(0)
    load: Fraction | Bounds = Fraction(0)


@dataclass(frozen=True)
class FlowsNeeded(Record):
    """How many flows per pair a guarantee needs.

    Parameters
    ----------
    load : Fraction
    probability : Fraction
        The guarantee: the largest load is at most `load` with at least this probability.
    enough : int or None
        A number of flows per pair with which it is proved to hold; None if none was found.
    too_few : int or None
        The largest number below it with which it is proved not to hold; None if there is none.
    """

    load: Fraction = Fraction(0)
    probability: Fraction = Fraction(0)
    enough: int | None = entry(None, reason=lambda row: row.why)
    too_few: int | None = entry(None, reason="it is not proved that fewer flows are too few")
    tried: int = 0

    @property
    def why(self) -> str:
        """Why no number of flows is enough."""
        return f"not proved with any number of flows that was tried, up to {self.tried:,}"

    def __str__(self) -> str:
        what = f"at most {shown(self.load)} with probability {shown(self.probability)}"
        enough = self.why if self.enough is None else f"{self.enough:,} flows a pair are enough"
        few = "" if self.too_few is None else f", {self.too_few:,} are not"
        return f"{what}: {enough}{few}"


@dataclass(frozen=True, repr=False)
class Lottery(Result):
    """The distribution of the largest channel load where flows draw their paths by a hash.

    Parameters
    ----------
    traffic : str
        Spec of the traffic.
    flows : int
        Flows of each pair of terminals, each with an equal share of the pair's rate.
    hash : {"independent", "polarised"}
    among : str
        The channels that count.
    method : {"exact", "bounds"}
        Whether the distribution is exact, or between certified bounds. Exact numbers with many digits are rounded
        outwards.
    even_load : Fraction
        The largest load if every pair were split evenly over its paths.
    mean : Fraction or Bounds
        The mean of the largest load.
    quantiles : tuple of LotteryQuantile
    distribution : tuple of LoadChance
        The probability of at least each load, where it is neither one nor nothing.
    needed : tuple of FlowsNeeded
    sampled_mean : Estimate or None
        The mean over samples.
    notes : tuple of str

    Examples
    --------
    >>> import obliv
    >>> obliv.lottery("fattree:4,2", "shift:2", flows=2)
    lottery: 2 flows a pair of shift:2 on fattree:4,2
      hash               independent
      mean largest load  6951/4096 = 1.69702 (exact)
      with even splits   1
      quantile 0.5       3/2 = 1.5
      quantile 0.9       2
      quantile 0.99      2
      quantile 0.999     2
      probability        4015/4096 = 0.980225 of 3/2 or more
                         1695/4096 = 0.413818 of 2 or more
    """

    kind: ClassVar[str] = "lottery"
    table: ClassVar[str] = "distribution"

    traffic: str = entry("", column="traffic")
    flows: int = entry(1, column="flows")
    hash: str = entry("independent", column="hash")
    among: str = "all"
    method: str = "exact"
    even_load: Fraction = Fraction(0)
    mean: Fraction | Bounds = Fraction(0)
    quantiles: tuple[LotteryQuantile, ...] = ()
    distribution: tuple[LoadChance, ...] = entry((), rank=2)
    needed: tuple[FlowsNeeded, ...] = entry((), omit=lambda lottery: not lottery.needed)
    sampled_mean: Estimate | None = entry(None, omit=lambda lottery: lottery.sampled_mean is None)
    notes: tuple[str, ...] = entry((), rank=3, omit=lambda lottery: not lottery.notes)

    @property
    def provable(self) -> bool:
        """Whether :func:`obliv.verify` can check it once it is saved: it counts every distribution again."""
        return True

    @property
    def title(self) -> str:
        flows = "1 flow" if self.flows == 1 else f"{self.flows:,} flows"
        return f"{self.kind}: {flows} a pair of {self.traffic} on {self.topology}"

    def rows(self) -> Iterator[dict[str, Any]]:
        own, plain = self.cells(), all(row.sampled is None for row in self.distribution)
        for row in self.distribution:
            cells = own | row.cells()
            if plain:
                del cells["sampled"]
            yield cells

    def summary(self) -> list[tuple[str, str]]:
        exact = "exact" if self.method == "exact" else "certified bounds"
        among = "" if self.among == "all" else f", among channels {self.among}"
        lines = [
            ("hash", self.hash),
            ("mean largest load", f"{_text(self.mean)} ({exact}{among})"),
            ("with even splits", shown(self.even_load)),
        ]
        if self.sampled_mean is not None:
            lines.insert(2, ("", f"{self.sampled_mean}, {self.sampled_mean.samples:,} samples"))
        for quantile in self.quantiles:
            lines.append((f"quantile {float(quantile.probability):.6g}", _text(quantile.load)))
        rows = [row for row in self.distribution if bounds_of(row.probability)[0] < _SURE]
        for number, row in enumerate(rows[:_ROWS]):
            sampled = "" if row.sampled is None else f", sampled {row.sampled.value:.4g} ± {row.sampled.stderr:.2g}"
            text = f"{_text(row.probability)}{sampled} of {row.load} or more"
            lines.append(("" if number else "probability", text))
        if len(rows) > _ROWS:
            lines.append(("", f"and {len(rows) - _ROWS:,} larger loads, all in CSV"))
        lines += [("guarantee", str(row)) for row in self.needed]
        return [*lines, *(("note", text) for text in self.notes)]


def _text(value: Fraction | Bounds) -> str:
    """Return a number as text; one that was only rounded outwards in few digits."""
    low, high = bounds_of(value)
    return shown(value) if value == high or high - low > high / 10**12 else f"≈ {float(high):.6g}"
