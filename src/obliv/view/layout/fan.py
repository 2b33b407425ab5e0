"""Hosts round a switch, between its cables to other switches."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi, sin

import numpy as np
import numpy.typing as npt

__all__ = ["fan"]

Points = npt.NDArray[np.float64]

_NEAREST = 0.62  # from a switch to its hosts
_GAP = 0.42  # from host to host, at least
_FIRST = -pi / 4  # where a single host stands, if it may choose


def fan(taken: Sequence[float], count: int, gap: float = _GAP) -> Points:
    """Where so many hosts stand, `gap` apart, seen from their switch, shape (count, 2).

    Cables to other switches leave it at the angles `taken`.

    Examples
    --------
    >>> import math
    >>> fan([0.0, math.pi / 2, math.pi, -math.pi / 2], 1).round(2).tolist()
    [[0.44, -0.44]]
    """
    angles = _between(sorted(taken), count) if taken else np.pi / 2 - 2 * np.pi * np.arange(count) / count
    close = float(np.diff(np.sort(angles), append=np.min(angles) + 2 * pi).min())
    even, radius = _radius(2 * pi / count, gap), _radius(close, gap)
    if radius > 1.5 * even:  # the cables leave too little room: hosts stand among them
        angles, radius = np.pi / 2 - 2 * np.pi * np.arange(count) / count, even
    made: Points = radius * np.column_stack([np.cos(angles), np.sin(angles)])
    return made


def _between(taken: Sequence[float], count: int) -> npt.NDArray[np.float64]:
    """Angles in the widest gaps between others, clockwise."""
    gaps = [(start, end - start) for start, end in zip(taken, [*taken[1:], taken[0] + 2 * pi], strict=True)]
    held = [0] * len(gaps)
    for _ in range(count):
        chosen = max(range(len(gaps)), key=lambda k: (round(gaps[k][1] / (held[k] + 1), 3), -_off(gaps[k])))
        held[chosen] += 1
    angles = [
        start + (k + 1) * wide / (many + 1) for (start, wide), many in zip(gaps, held, strict=True) for k in range(many)
    ]
    return np.array(angles[::-1])


def _off(gap: tuple[float, float]) -> float:
    """How far the middle of a gap is from where a single host stands best."""
    turn = (gap[0] + gap[1] / 2 - _FIRST) % (2 * pi)
    return min(turn, 2 * pi - turn)


def _radius(step: float, gap: float) -> float:
    return max(_NEAREST, gap / (2 * sin(min(step, pi) / 2)))
