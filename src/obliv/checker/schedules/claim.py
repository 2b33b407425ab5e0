"""A schedule of packets as the checks take it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from obliv._util.typing import Array
from obliv.checker.kernels.schedules import Links, Paths, Rows

__all__ = ["Figures", "ScheduleClaim"]


@dataclass(frozen=True)
class Figures:
    """The figures that a schedule claims; `deflections` is None where they were not counted."""

    packets: int
    congestion: int
    dilation: int
    makespan: int
    lower_bound: int
    deflections: int | None


@dataclass(frozen=True, eq=False)
class ScheduleClaim:
    """A schedule: the leveled network, the paths, the moves packet after packet, and the claimed figures."""

    topology: str
    algorithm: str
    rules: str
    level: Array
    links: Links
    paths: Paths
    rows: Rows
    figures: Figures
    plan: dict[str, Any] | None = None
    digest_holds: bool | None = None  #: None without one: results in memory and files of earlier versions.
    trusted_network: bool = False  #: Whether the network comes from the topology itself, not from a file.

    @property
    def packets(self) -> int:
        """How many packets there are."""
        return len(self.paths.start) - 1

    @property
    def choices(self) -> dict[str, Any]:
        """The plan, empty if the schedule has none."""
        return self.plan or {}

    @property
    def ends(self) -> Array:
        """When every move ends: later than it begins where the packet oscillates."""
        return np.asarray(self.rows.time + self.rows.more if len(self.rows.more) else self.rows.time)
