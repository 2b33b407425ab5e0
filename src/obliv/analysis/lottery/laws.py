"""Binomial laws in floating point, with a proven bound on their rounding errors.

All sums here have terms that are not negative, and all terms are products: nothing cancels. So every rounding changes a
result by a factor within 1 ± 2^-53, and a result of n roundings is within 1 ± 1.01 n 2^-53 of the exact number. `LEAST`
and `MOST` are 1 ± 10^-9, enough for eight million roundings; a law takes at most six for each of up to 2^20 numbers.
What is cut off or underflows is less than `TINY` of the probability.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from obliv._util.typing import Array, FloatArray
from obliv.errors import TooLargeError

__all__ = ["LEAST", "MOST", "TINY", "Law", "binomial", "weighted_sum"]

LEAST = 1 - 1e-9
MOST = 1 + 1e-9
TINY = 1e-50
_CUT = 1e-60
_ROUND = 2.0**-50  # more than the error of a difference and a product
_LONGEST = 1 << 20


@lru_cache(maxsize=8192)
def binomial(n: int, ways: int, rest: int) -> FloatArray:
    """Return the probabilities of 0, 1, ... successes in n trials with odds ways : rest, up to a negligible rest.

    Examples
    --------
    >>> [round(p, 4) for p in binomial(3, 1, 1).tolist()]
    [0.125, 0.375, 0.375, 0.125]
    """
    if n >= _LONGEST:
        raise TooLargeError(f"{n:,} flows may cross one channel; at most {_LONGEST - 1:,} can be analyzed")
    if n == 0 or ways == 0:
        return np.ones(1)
    if rest == 0:
        return np.concatenate([np.zeros(n), np.ones(1)])
    mode = min(n, (n + 1) * ways // (ways + rest))
    k = np.arange(n)
    ratio = (n - k) / (k + 1) * (ways / rest)
    chance = np.concatenate([np.cumprod(1 / ratio[:mode][::-1])[::-1], [1.0], np.cumprod(ratio[mode:])])
    chance /= chance.sum()
    chance = chance[np.cumsum(chance[::-1])[::-1] > _CUT]
    chance.setflags(write=False)
    return chance


def weighted_sum(parts: tuple[tuple[int, int, int, int], ...]) -> FloatArray:
    """Return the law of Σ weight · Binomial(n) over parts (weight, n, ways, rest), odds ways : rest."""
    law = np.ones(1)
    for weight, n, ways, rest in parts:
        one = binomial(n, ways, rest)
        if (len(one) - 1) * weight + len(law) > _LONGEST:
            raise TooLargeError(f"a channel has more than {_LONGEST:,} possible loads: round the rates of the traffic")
        if weight > 1:
            spread = np.zeros((len(one) - 1) * weight + 1)
            spread[::weight] = one
            one = spread
        law = np.convolve(law, one)
        law = law[np.cumsum(law[::-1])[::-1] > _CUT]
    return law


class Law:
    """The law of a number, with bounds on its probabilities.

    Parameters
    ----------
    chance : float array
        The probabilities of 0, 1, ...

    Examples
    --------
    >>> law = Law(binomial(3, 1, 1))
    >>> low, high = law.above(1)
    >>> low < 0.5 < high, law.above(3)[1] < 1e-40
    (True, True)
    """

    def __init__(self, chance: FloatArray) -> None:
        self.tail = np.append(np.cumsum(chance[::-1])[::-1], 0.0)  # of k: at least k
        self.head = np.cumsum(chance)  # of k: at most k

    def above(self, most: int) -> tuple[float, float]:
        """Return bounds on the probability of more than a number."""
        if most < 0:
            return 1.0, 1.0
        p = float(self.tail[min(most + 1, len(self.tail) - 1)])
        return max(0.0, p * LEAST - TINY), min(1.0, p * MOST + TINY)

    def within(self, most: int) -> tuple[float, float]:
        """Return bounds on the probability of at most a number."""
        if most < 0:
            return 0.0, 0.0
        low, high = self.above(most)
        p = float(self.head[min(most, len(self.head) - 1)])
        return max((1 - high) * (1 - _ROUND), p * LEAST - TINY), min((1 - low) * (1 + _ROUND), p * MOST + TINY)


def tail_at(tail: Array, k: Array) -> FloatArray:
    """Return the tails at numbers of any size, 1 below zero."""
    return np.where(k <= 0, 1.0, tail[np.clip(k, 0, len(tail) - 1)])
