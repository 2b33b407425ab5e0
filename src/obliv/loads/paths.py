"""Stored loads of a routing whose paths are listed or sampled, from what each pair adds to each channel."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import lcm
from typing import NamedTuple

import numpy as np

from obliv._util.arrays import starts, whole
from obliv._util.typing import Array
from obliv.loads.stored import StoredLoads
from obliv.topologies.base import Topology

__all__ = ["Crossings", "Entries", "collected", "from_entries"]

#: A pair of terminals, and how often its packets cross each channel.
Crossings = tuple[int, int, dict[int, Fraction]]


class Entries(NamedTuple):
    """What pairs of terminals add to channels: numerators over a common denominator, in any order."""

    source: Array
    destination: Array
    channel: Array
    numerator: Array
    denominator: int


def collected(crossings: Iterable[Crossings]) -> Entries:
    """Return the expected crossings of pairs as entries."""
    rows = [(s, d, c, amount) for s, d, used in crossings for c, amount in used.items() if amount]
    denominator = lcm(*{amount.denominator for *_, amount in rows}) if rows else 1
    numerators = [amount.numerator * (denominator // amount.denominator) for *_, amount in rows]
    places: Array = np.array([row[:3] for row in rows], np.int64).reshape(-1, 3)
    return Entries(places[:, 0], places[:, 1], places[:, 2], whole(numerators), denominator)


def from_entries(topology: Topology, entries: Entries, samples: int | None = None) -> StoredLoads:
    """Return entries as pair loads, sorted by channel, destination and source."""
    order = np.lexsort((entries.source, entries.destination, entries.channel))
    counts = np.bincount(entries.channel, minlength=topology.channels)
    return StoredLoads(
        topology,
        entries.denominator,
        starts(counts),
        entries.destination[order].astype(np.int32),
        entries.source[order].astype(np.int32),
        entries.numerator[order],
        samples,
    )
