"""The vertex of a linear program over the rationals: from the floats of a solver, or its basis solved exactly.

The simplex method ends at a basis: columns that may differ from 0, and as many rows that hold with equality. Both the
vertex and its multipliers solve a square system of whole numbers. A factorization in floating point solves it digit by
digit: the residual of every step is computed in integers and solved for again, until continued fractions find rationals
that satisfy the system exactly (Wan 2006; Gleixner, Steffy and Wolter 2016). A few steps suffice, because denominators
are small.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array
from scipy.sparse.linalg import splu

from obliv._util.arrays import Array
from obliv.errors import OblivError

_DIGITS = 24  # bits of every step of the refinement
_MOST_BITS = 6144  # of accuracy: denominators of up to half as many bits
_LARGEST = 2**30  # of the numbers of a program, over their common denominators
_PLAIN = 10**7  # denominators of the rationals that the floats of a program stand for


class InexactError(OblivError):
    """Rational numbers are out of reach; the text says why."""


class Basis(NamedTuple):
    """Where the simplex method ended.

    Attributes
    ----------
    columns : bool array
        The basic columns; all others are 0.
    rows : bool array
        The rows that hold with equality.
    at_upper : bool array
        Whether a row that holds with equality is at its upper limit.
    """

    columns: Array
    rows: Array
    at_upper: Array


@dataclass(frozen=True, eq=False)
class Rationals:
    """Numbers over a common denominator; the numerators are Python integers."""

    numerators: Array
    denominator: int

    def fraction(self, place: int) -> Fraction:
        """Return one of the numbers."""
        return Fraction(int(self.numerators[place]), self.denominator)


class Vertex(NamedTuple):
    """The exact values of all columns, and the exact multipliers of all rows."""

    columns: Rationals
    duals: Rationals


def vertex_of(matrix: csc_array, lower: Array, upper: Array, cost: Array, basis: Basis) -> Vertex:
    """Return the vertex at a basis and its multipliers, both exact.

    Shapes: `matrix` (rows, columns), `lower` and `upper` (rows,), `cost` (columns,).
    """
    columns, rows = np.flatnonzero(basis.columns), np.flatnonzero(basis.rows)
    if len(columns) != len(rows):
        raise InexactError("the solver's basis is not square")
    system = csr_array(csr_array(matrix)[rows][:, columns])
    limits = _rationals(np.where(basis.at_upper, upper, lower)[rows])
    whole, scale = _in_whole_numbers(system, limits)
    values = solve_exactly(whole, [limit * factor for limit, factor in zip(limits, scale, strict=True)])
    prices = solve_exactly(csr_array(whole.T), _rationals(cost[columns]))
    all_columns, all_rows = np.zeros(matrix.shape[1], object), np.zeros(matrix.shape[0], object)
    all_columns[columns] = values.numerators
    all_rows[rows] = prices.numerators * np.array(scale, object)
    return Vertex(Rationals(all_columns, values.denominator), Rationals(all_rows, prices.denominator))


def _rationals(values: Array) -> list[Fraction]:
    """Return the simplest rationals that have the values as floats."""
    distinct, place = np.unique(values, return_inverse=True)
    exact = []
    for value in distinct.tolist():
        plain = Fraction(value).limit_denominator(_PLAIN)
        exact.append(plain if float(plain) == value else Fraction(value))
    return [exact[k] for k in place.tolist()]


def _in_whole_numbers(system: csr_array, limits: list[Fraction]) -> tuple[csr_array, list[int]]:
    """Return a matrix with whole entries, and the factor of each row that also makes its limit whole."""
    entries = _rationals(system.data)
    first = system.indptr.tolist()
    scale = [
        lcm(limit.denominator, *(entry.denominator for entry in entries[first[row] : first[row + 1]]))
        for row, limit in enumerate(limits)
    ]
    row = np.repeat(np.arange(len(scale)), np.diff(system.indptr)).tolist()
    whole = [int(entry * scale[r]) for entry, r in zip(entries, row, strict=True)]
    if max(map(abs, whole), default=0) > _LARGEST:
        raise InexactError("the numbers of the linear program have too many digits")
    return csr_array((np.array(whole, np.int64), system.indices, system.indptr), shape=system.shape), scale


def solve_exactly(matrix: csr_array, right: list[Fraction]) -> Rationals:
    """Solve a square system over the rationals.

    Shapes: `matrix` (n, n).

    Examples
    --------
    >>> import numpy as np
    >>> from fractions import Fraction
    >>> from scipy.sparse import csr_array
    >>> solution = solve_exactly(csr_array(np.array([[3, 1], [1, 2]])), [Fraction(1), Fraction(1, 2)])
    >>> solution.fraction(0), solution.fraction(1)
    (Fraction(3, 10), Fraction(1, 10))
    """
    common = lcm(*(value.denominator for value in right))
    target = np.array([int(value * common) for value in right], object)
    if abs(target).max(initial=0) > _LARGEST:
        raise InexactError("the numbers of the linear program have too many digits")
    try:
        factors = splu(csc_array(matrix, dtype=float))
    except RuntimeError:
        raise InexactError("the system of the solver's basis is singular") from None
    reach = int(np.abs(matrix).sum(axis=1).max()) if matrix.shape[0] else 0
    rest, digits = target.astype(np.int64), np.zeros(len(right), object)
    bits, check = 0, 4 * _DIGITS
    while bits < _MOST_BITS:
        step = np.rint(factors.solve(rest.astype(float)) * 2.0**_DIGITS)
        if not np.isfinite(step).all() or np.abs(step).max(initial=0) * max(reach, 1) > 2.0**61:
            break
        rest = (rest << _DIGITS) - matrix @ step.astype(np.int64)
        if np.abs(rest).max(initial=0) > 2**36:
            break
        digits = digits * 2**_DIGITS + step.astype(np.int64)
        bits += _DIGITS
        if bits >= check or not rest.any():
            check = 2 * bits
            solution = _reconstructed(digits, bits)
            if solution is not None and _satisfies(matrix, solution, target):
                divisor = gcd(solution.denominator * common, *solution.numerators.tolist())
                return Rationals(solution.numerators // divisor, solution.denominator * common // divisor)
    raise InexactError("the system of the solver's basis is too ill-conditioned for the refinement")


def _reconstructed(digits: Array, bits: int) -> Rationals | None:
    """Return the simplest rationals near ``digits / 2^bits``; None where their denominators are too large for it."""
    unit, common = 2**bits, 1
    most, tolerance = 2 ** (bits // 2 - 8), 2**_DIGITS
    for value in dict.fromkeys(digits.tolist()):
        whole = (value * common + unit // 2) >> bits
        if abs(value * common - (whole << bits)) > common * tolerance:
            common = lcm(common, Fraction(value, unit).limit_denominator(most).denominator)
            if common > most:
                return None
    return Rationals((digits * common + unit // 2) >> bits, common)


def _satisfies(matrix: csr_array, solution: Rationals, target: Array) -> bool:
    """Tell whether the solution satisfies the system, in whole numbers."""
    products = matrix.data.astype(object) * solution.numerators[matrix.indices]
    sums = np.concatenate([np.zeros(1, object), np.cumsum(products)])
    left = sums[matrix.indptr[1:]] - sums[matrix.indptr[:-1]]
    return bool((left == target * solution.denominator).all())


# The rational numbers behind the floats of a vertex


_DENOMINATORS = (100, 1000, 10_000, 100_000)
_ACCURACY = 1e-10  # of the simplex method, with a margin
_LARGEST_NUMBER = 2**40  # common denominator


def as_rationals(values: Array) -> tuple[Array, int] | None:
    """Return numerators over a common denominator, the simplest that agree with all values."""
    number, place = np.unique(np.round(values, 12), return_inverse=True)
    for limit in _DENOMINATORS:
        shares = [Fraction(value).limit_denominator(limit) for value in number.tolist()]
        if max((abs(float(share) - value) for share, value in zip(shares, number, strict=True)), default=0) < _ACCURACY:
            common = lcm(*(share.denominator for share in shares))
            if common * max(Fraction(1), *shares) > _LARGEST_NUMBER:
                return None
            return np.array([int(share * common) for share in shares], np.int64)[place], common
    return None
