"""The numbers of a comparison that a picture shows, with their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from obliv.results import Estimate
from obliv.results.analysis.compare import Entry
from obliv.results.base import unit_of

__all__ = ["ChartData", "floats", "name_of"]

Amount = Fraction | Estimate | None


@dataclass(frozen=True)
class ChartData:
    """The rows of a chart, in a quantity: fractions of ``capacity``, ``throughput`` or ``load``."""

    entries: Sequence[Entry]
    quantity: str

    def of(self, what: str) -> list[Amount]:
        """Return the worst case, the average or a pattern of every row."""
        return [entry.figure(self.quantity, what) for entry in self.entries]

    def label(self, what: str) -> str:
        """Return the name of a bar, with a remark on traffic that is not admissible, or limited by a terminal."""
        if not (verdict := self.verdict(what)):
            return name_of(what)
        rows = [row for entry in self.entries if (row := entry.under.get(what)) is not None]
        limits = {row.limited_by.text for row in rows if row.by_terminal and row.limited_by is not None}
        limited = f",\nlimited by {min(limits)}" if len(limits) == 1 else ", limited by terminals" if limits else ""
        alone = "; by the channels alone" if limits and self.quantity == "capacity" else ""
        return f"{name_of(what)} ({verdict}{limited}{alone})"

    def verdict(self, what: str) -> str:
        """Return that traffic is not admissible, and which terminal exceeds its rate, if it is one in all rows."""
        rows = [row for entry in self.entries if (row := entry.under.get(what)) is not None and not row.admissible]
        verdicts = {row.verdict for row in rows}
        return min(verdicts) if len(verdicts) == 1 else "not admissible" if verdicts else ""

    @property
    def unit(self) -> str:
        """Unit of the numbers."""
        if self.quantity != "throughput":
            return {"capacity": "fraction of capacity", "load": "largest channel load"}[self.quantity]
        times = any(entry.beyond for entry in self.entries)
        return "times the traffic" if times else unit_of(any(entry.rated for entry in self.entries))

    def title(self, what: str) -> str:
        """Return the title of a picture of the worst case, the average, a pattern, or of all for an empty text."""
        if self.quantity == "load":
            own = {"worst": "worst-case channel load", "average": "mean of the largest channel load"}
            return own.get(what, f"largest channel load{f' under {what}' if what else ''}")
        if self.quantity == "capacity":
            own = {"worst": "worst case as a fraction of capacity", "average": "average as a fraction of capacity"}
            return own.get(what, f"fraction of capacity{f' under {what}' if what else ''}")
        own = {"worst": "worst-case throughput", "average": "average throughput"}
        return own.get(what, f"throughput{f' under {what}' if what else ''}")

    @property
    def topologies(self) -> list[str]:
        """Topologies in the order of the rows."""
        return list(dict.fromkeys(entry.topology for entry in self.entries))

    @property
    def routings(self) -> list[str]:
        """Routings in the order of the rows."""
        return list(dict.fromkeys(entry.routing for entry in self.entries))


def floats(values: Sequence[Amount]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return numbers and their standard errors; NaN for missing numbers and for errors of exact numbers."""
    errors = [value.stderr if isinstance(value, Estimate) else np.nan for value in values]
    return np.array([np.nan if value is None else float(value) for value in values]), np.array(errors, float)


def name_of(what: str) -> str:
    """Return the name of a bar."""
    return {"worst": "worst case"}.get(what, what)
