"""The paper's constants from N, C and D, by its formulas.

They share nothing with the constants of the algorithms, which they are compared with.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, e

__all__ = ["Formulas", "Size"]


@dataclass(frozen=True)
class Size:
    """Packets N, congestion C and dilation D of an instance with seed 0."""

    packets: int
    congestion: int
    dilation: int

    @property
    def log(self) -> int:
        """log(DN), rounded up as the paper has it."""
        return max(1, (self.dilation * self.packets - 1).bit_length())


@dataclass(frozen=True)
class Formulas:
    """Constants as printed, with alpha = 3 (centralized) or 12 (distributed); sets are a whole number.

    Chi and tau of the centralized algorithm depend on the largest degree d of the dependency graphs: `degree`, by
    default 4 log(DN), the most that Lemma 2.2 allows.
    """

    size: Size
    alpha: int
    degree: int | None = None

    @property
    def frame(self) -> int:
        """Lambda."""
        return 4 * self.alpha * self.size.log

    @property
    def sets(self) -> int:
        """The number of sets, s."""
        return ceil(8 * self.alpha * e * self.size.congestion)

    @property
    def group(self) -> int:
        """Frames of a group, gamma'."""
        return 2 * ceil(self.size.dilation / self.frame)

    @property
    def phases(self) -> int:
        """Phases of a session, m."""
        return 2 * self.sets + self.group - 1

    @property
    def boats(self) -> int:
        """Chi: d + 1; 2 lambda / alpha in the distributed algorithm."""
        if self.alpha == 3:
            return (4 * self.size.log if self.degree is None else self.degree) + 1
        return 2 * self.frame // self.alpha

    @property
    def phase(self) -> int:
        """Steps of a phase, or of half a round: tau."""
        return 2 * (self.boats + self.frame - 1)

    @property
    def rounds(self) -> int:
        """Rounds of a sub-phase, xi."""
        return 2 * self.size.log

    @property
    def time(self) -> int:
        """The routing time at most: both sessions of m phases."""
        phase = self.phase if self.alpha == 3 else 3 * self.rounds * 2 * self.phase
        return 2 * self.phases * phase
