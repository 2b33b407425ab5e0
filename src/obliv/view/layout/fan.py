"""Hosts around a switch, between its links to other switches."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi, sin

import numpy as np

from obliv._util.typing import Array
from obliv.view.layout.base import Points

__all__ = ["fan"]

_NEAREST = 0.62  # from a switch to its hosts
_GAP = 0.42  # least distance between hosts
_FIRST = -pi / 4  # best direction of a single host


def fan(taken: Sequence[float], count: int, gap: float = _GAP) -> Points:
    """Return the offsets of `count` hosts from their switch, `gap` apart, shape (count, 2).

    Links to other switches leave at the angles `taken`.

    Examples
    --------
    >>> import math
    >>> fan([0.0, math.pi / 2, math.pi, -math.pi / 2], 1).round(2).tolist()
    [[0.44, -0.44]]
    """
    evenly = np.pi / 2 - 2 * np.pi * np.arange(count) / count
    angles = _between(sorted(taken), count) if taken else evenly
    closest = float(np.diff(np.sort(angles), append=np.min(angles) + 2 * pi).min())
    even, radius = _radius(2 * pi / count, gap), _radius(closest, gap)
    if radius > 1.5 * even:  # the links leave too little room: place hosts among them
        angles, radius = evenly, even
    points: Points = radius * np.column_stack([np.cos(angles), np.sin(angles)])
    return points


def _between(taken: Sequence[float], count: int) -> Array:
    """Return angles in the widest gaps between others, clockwise."""
    gaps = [(start, end - start) for start, end in zip(taken, [*taken[1:], taken[0] + 2 * pi], strict=True)]
    hosts = [0] * len(gaps)
    for _ in range(count):
        widest = max(range(len(gaps)), key=lambda k: (round(gaps[k][1] / (hosts[k] + 1), 3), -_deviation(gaps[k])))
        hosts[widest] += 1
    angles = [
        start + (k + 1) * width / (number + 1)
        for (start, width), number in zip(gaps, hosts, strict=True)
        for k in range(number)
    ]
    return np.array(angles[::-1])


def _deviation(gap: tuple[float, float]) -> float:
    """Return the angle between the middle of a gap and the best direction of a single host."""
    turn = (gap[0] + gap[1] / 2 - _FIRST) % (2 * pi)
    return min(turn, 2 * pi - turn)


def _radius(step: float, gap: float) -> float:
    return max(_NEAREST, gap / (2 * sin(min(step, pi) / 2)))
