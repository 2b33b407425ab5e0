"""Traffic from the numbers of a permutation or a matrix."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
import numpy.typing as npt

from obliv._util.rationals import exact
from obliv._util.text import plural
from obliv.errors import TrafficError
from obliv.patterns.base import Traffic, from_flows, require_rows
from obliv.topologies.base import Number

__all__ = ["ROUNDING", "matrix", "permutation", "rounded"]

#: How far a row may be from what its terminal sends to count as rounded, relative to that.
ROUNDING = Fraction(1, 10**6)


def permutation(destinations: Sequence[int] | npt.NDArray[np.integer[Any]], spec: str = "permutation") -> Traffic:
    """Return the permutation that sends terminal i to ``destinations[i]``.

    Parameters
    ----------
    destinations : sequence of int
        The destination of terminal 0, 1, 2 …; each terminal exactly once.
    spec : str, optional
        What to call it.

    Returns
    -------
    Traffic

    Raises
    ------
    TrafficError
        If a destination is out of range or named twice.

    Examples
    --------
    >>> permutation([1, 2, 0]).is_permutation
    True
    """
    image = np.asarray(destinations)
    n = image.size
    if image.ndim != 1 or n == 0 or not np.issubdtype(image.dtype, np.integer):
        raise TrafficError(f"{spec}: a permutation is a list of terminal numbers")
    if image.min() < 0 or image.max() >= n:
        bad = int(np.flatnonzero((image < 0) | (image >= n))[0])
        raise TrafficError(f"{spec}: terminal {bad} sends to {image[bad]}; terminals are 0 to {n - 1}")
    counts = np.bincount(image, minlength=n)
    if (counts > 1).any():
        raise TrafficError(f"{spec}: terminal {int(np.argmax(counts > 1))} is the destination of several terminals")
    return Traffic(
        spec=spec,
        terminals=n,
        uniform=Fraction(0),
        source=np.arange(n, dtype=np.int32),
        destination=image.astype(np.int32),
        amount=np.ones(n, np.int64),
    )


def matrix(
    rows: Iterable[Iterable[Number]],
    spec: str = "matrix",
    sources: tuple[tuple[str, str], ...] = (),
    injection: Sequence[Fraction] = (),
) -> Traffic:
    """Return the traffic of a square matrix of rates.

    Parameters
    ----------
    rows : sequence of sequences, shape (N, N)
        Packets per cycle; a float stands for the simplest rational that rounds to it.
    spec : str, optional
        What to call it.
    sources : tuple of (path, SHA-256), optional
        The files that it was read from.
    injection : sequence of Fraction, optional
        Packets per cycle that each terminal may send; default 1.

    Returns
    -------
    Traffic

    Raises
    ------
    TrafficError
        If it is not square, holds a negative or infinite number, or a row adds up to more than its terminal may send.

    Notes
    -----
    A row with floats or text that adds up to what its terminal may send within 10⁻⁶, as rounded numbers do, is scaled
    to exactly that; the traffic's `notes` say so. Rows of whole numbers and fractions stay as they are.

    Examples
    --------
    >>> matrix([[0, 0.5], ["1/3", 0]]).row_sums
    [Fraction(1, 2), Fraction(1, 3)]
    """
    flows: dict[tuple[int, int], Fraction] = {}
    as_given: set[int] = set()
    try:
        table = [list(row) for row in rows]
    except TypeError:
        raise TrafficError(f"{spec}: a matrix is a list of rows") from None
    n = len(table)
    if n == 0:
        raise TrafficError(f"{spec}: the matrix is empty")
    for s, row in enumerate(table):
        if len(row) != n:
            raise TrafficError(
                f"{spec}: row {s} has {len(row)} entries and there are {n} rows; the matrix must be square"
            )
        for d, value in enumerate(row):
            amount = exact(value)
            if amount is None:
                raise TrafficError(f"{spec}: entry ({s}, {d}) is {value!r}, not a finite number")
            if amount < 0:
                raise TrafficError(f"{spec}: entry ({s}, {d}) is {value}, rates must not be negative")
            if amount:
                flows[s, d] = amount
        if all(isinstance(value, Rational) for value in row):
            as_given.add(s)
    return rounded(spec, n, flows, injection, sources, as_given)


def rounded(
    spec: str,
    terminals: int,
    flows: dict[tuple[int, int], Fraction],
    limits: Sequence[Fraction] = (),
    sources: tuple[tuple[str, str], ...] = (),
    as_given: Container[int] = (),
) -> Traffic:
    """Return traffic in which what a terminal sends is its limit if it is that up to rounding.

    The terminals in `as_given` send what they are said to.
    """
    totals: dict[int, Fraction] = {}
    for (s, _), rate in flows.items():
        totals[s] = totals.get(s, Fraction(0)) + rate
    limit_of = {s: limits[s] if limits else Fraction(1) for s in totals}
    scale = {
        s: limit_of[s] / total
        for s, total in totals.items()
        if s not in as_given and 0 < abs(total / limit_of[s] - 1) <= ROUNDING
    }
    exact_flows = {(s, d): rate * scale.get(s, 1) for (s, d), rate in flows.items()}
    traffic = from_flows(spec, terminals, exact_flows, Fraction(0), sources)
    require_rows(traffic, limits)
    if not scale:
        return traffic
    first = min(scale)
    note = (
        f"{spec}: {plural(len(scale), 'row')} scaled to exactly what the terminal sends, for example row {first}, "
        f"which added up to {float(totals[first]):.9g} instead of {limit_of[first]}"
    )
    return replace(traffic, notes=(note,))
