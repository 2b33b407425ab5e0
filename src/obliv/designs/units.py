"""Units of the linear programs: bandwidths over the smallest and rates over the largest, so that any unit will do."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from obliv._util.typing import Array
from obliv.topologies.base import Topology

__all__ = ["WHOLE", "load_unit", "relative_rates", "relative_speeds"]

WHOLE = 2**30  #: Units of 1 where flows and probabilities are rounded.


def relative_speeds(topology: Topology, channels: Array | None = None) -> Array:
    """Return the bandwidths of some channels, or of all, over the smallest of all."""
    least = _smallest_bandwidth(topology)
    chosen = range(topology.channels) if channels is None else channels.tolist()
    return np.array([float(topology.bandwidth_of(channel) / least) for channel in chosen])


def relative_rates(topology: Topology) -> Array:
    """Return the rates of all terminals over the largest: injection and ejection, shape (2, terminals)."""
    most = _largest_rate(topology)
    return np.array([[float(rate / most) for rate in side] for side in topology.rates()])


def load_unit(topology: Topology) -> Fraction:
    """Return the channel load that is 1 in these units."""
    return _largest_rate(topology) / _smallest_bandwidth(topology)


def _smallest_bandwidth(topology: Topology) -> Fraction:
    """Return the bandwidth of the slowest channels, which limit the load: far faster ones must not make it vanish."""
    return min(topology.bandwidth, default=Fraction(1))


def _largest_rate(topology: Topology) -> Fraction:
    return max((rate for side in topology.rates() for rate in side), default=Fraction(1))
