"""The rational numbers behind the floats of a vertex."""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import numpy as np

from obliv._util.typing import Array

__all__ = ["as_rationals"]

_DENOMINATORS = (100, 1000, 10_000, 100_000)
_ACCURACY = 1e-10  # of the simplex method, with a margin
_LARGEST = 2**40  # common denominator


def as_rationals(values: Array) -> tuple[Array, int] | None:
    """Return numerators over a common denominator, the simplest that agree with all values.

    Parameters
    ----------
    values : float array
        Coordinates of a vertex of a linear program with small whole numbers, each a rational with a small denominator.

    Returns
    -------
    (int64 array, int) or None
        None where no small denominators agree. A guess, which the caller must check.
    """
    number, place = np.unique(np.round(values, 12), return_inverse=True)
    for limit in _DENOMINATORS:
        shares = [Fraction(value).limit_denominator(limit) for value in number.tolist()]
        if max((abs(float(share) - value) for share, value in zip(shares, number, strict=True)), default=0) < _ACCURACY:
            common = lcm(*(share.denominator for share in shares))
            if common * max(Fraction(1), *shares) > _LARGEST:
                return None
            return np.array([int(share * common) for share in shares], np.int64)[place], common
    return None
