"""The numbers of a comparison that a picture shows, and what they are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from obliv.results import Estimate
from obliv.results.compare import Entry

__all__ = ["Figures", "floats", "name_of", "throughput_of"]

Amount = Fraction | Estimate | None


@dataclass(frozen=True)
class Figures:
    """The rows that are drawn; all in fractions of capacity, or, as in the table, all in packets per cycle."""

    entries: Sequence[Entry]
    relative: bool

    def of(self, what: str) -> list[Amount]:
        """The number of every row: the worst case, the average, or that of a pattern."""
        return [each.of_capacity(what) if self.relative else each.throughput(what) for each in self.entries]

    @property
    def unit(self) -> str:
        """What the numbers are."""
        return "fraction of capacity" if self.relative else "packets per node and cycle"

    @property
    def topologies(self) -> list[str]:
        """The networks, in the order in which they were asked for."""
        return list(dict.fromkeys(each.topology for each in self.entries))

    @property
    def routings(self) -> list[str]:
        """The routings, in the order in which they were asked for."""
        return list(dict.fromkeys(each.routing for each in self.entries))


def floats(values: Sequence[Amount]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Numbers and their standard errors; what is missing, and the error of what is exact, is not a number."""
    errors = [value.stderr if isinstance(value, Estimate) else np.nan for value in values]
    return np.array([np.nan if value is None else float(value) for value in values]), np.array(errors, float)


def name_of(what: str) -> str:
    """What a bar is called."""
    return {"worst": "worst case"}.get(what, what)


def throughput_of(what: str) -> str:
    """What a picture of one kind of number is called."""
    return {"worst": "worst-case throughput", "average": "average throughput"}.get(what, f"throughput under {what}")
