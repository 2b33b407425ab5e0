"""Stored loads of a routing whose paths are listed or sampled."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import lcm

import numpy as np

from obliv._util.arrays import whole
from obliv.loads.stored import StoredLoads
from obliv.topologies.base import Topology

__all__ = ["from_crossings"]


def from_crossings(
    topology: Topology, crossings: Iterable[tuple[int, int, dict[int, Fraction]]], samples: int | None = None
) -> StoredLoads:
    """Return the loads of pairs given as (source, destination, {channel: expected crossings}), terminal numbers."""
    entries = [(c, d, s, amount) for s, d, used in crossings for c, amount in used.items() if amount]
    entries.sort(key=lambda entry: entry[:3])
    denominator = lcm(*{amount.denominator for *_, amount in entries}) if entries else 1
    channel = np.array([entry[0] for entry in entries], np.int64)
    counts = np.bincount(channel, minlength=topology.channels) if entries else np.zeros(topology.channels, np.int64)
    numerators = [amount.numerator * (denominator // amount.denominator) for *_, amount in entries]
    return StoredLoads(
        topology,
        denominator,
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.array([entry[1] for entry in entries], np.int32),
        np.array([entry[2] for entry in entries], np.int32),
        whole(numerators),
        samples,
    )
