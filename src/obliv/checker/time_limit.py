"""A time limit that long checks consult between units of work."""

from __future__ import annotations

import time
from dataclasses import dataclass

__all__ = ["OutOfTimeError", "TimeLimit"]


class OutOfTimeError(Exception):
    """The time limit of a check has passed."""


@dataclass(frozen=True)
class TimeLimit:
    """The moment at which a check ends, on the clock of ``time.perf_counter``."""

    end: float

    def check(self) -> None:
        """Raise OutOfTimeError if the moment has passed."""
        if time.perf_counter() > self.end:
            raise OutOfTimeError

    def remaining(self) -> float:
        """Return the seconds that are left, at least 0."""
        return max(0.0, self.end - time.perf_counter())
