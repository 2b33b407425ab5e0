"""Doubly stochastic traffic as a mixture of permutations (Birkhoff's theorem, on which Towles' Theorem 1 rests)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from obliv.errors import TrafficError
from obliv.patterns.base import Traffic, from_flows

__all__ = ["birkhoff", "completed"]


def completed(traffic: Traffic) -> Traffic:
    """Return substochastic traffic filled up: rates are added until every terminal sends and receives 1.

    Parameters
    ----------
    traffic : Traffic
        Row and column sums at most 1.

    Returns
    -------
    Traffic
        Doubly stochastic, and nowhere less than the given traffic, so that no channel load is smaller. Exact.

    Raises
    ------
    TrafficError
        If a row or column adds up to more than 1, or it is not traffic.

    References
    ----------
    [Tow01] B. Towles, "Finding worst-case permutations for oblivious routing algorithms", Stanford CVA memo 121, 2001,
    footnote 1.

    Examples
    --------
    >>> import obliv
    >>> half = obliv.permutation([1, 2, 0]) * 0.5
    >>> completed(half).row_sums
    [Fraction(1, 1), Fraction(1, 1), Fraction(1, 1)]
    """
    if not isinstance(traffic, Traffic):
        raise TrafficError(f"{traffic!r:.60} is not a Traffic: make one with obliv.matrix(rows)")
    rates = traffic.to_matrix()
    rows, columns = [1 - total for total in traffic.row_sums], [1 - total for total in traffic.column_sums]
    for what, left in (("sends", rows), ("receives", columns)):
        if min(left, default=Fraction(0)) < 0:
            at = left.index(min(left))
            raise TrafficError(f"{traffic.spec}: terminal {at} {what} {1 - left[at]}; it must be at most 1")
    s = d = 0
    while s < len(rows) and d < len(columns):  # the corner rule: the rest of a row goes to the first open column
        some = min(rows[s], columns[d])
        rates[s][d] += some
        rows[s] -= some
        columns[d] -= some
        s, d = (s + 1, d) if not rows[s] else (s, d + 1)
    flows = {(s, d): rate for s, row in enumerate(rates) for d, rate in enumerate(row) if rate}
    return from_flows(f"completed({traffic.spec})", traffic.terminals, flows, Fraction(0))


def birkhoff(traffic: Traffic) -> tuple[tuple[Fraction, tuple[int, ...]], ...]:
    """Return traffic as a mixture of permutations.

    Parameters
    ----------
    traffic : Traffic
        Doubly stochastic; substochastic traffic is filled up first, see :func:`completed`.

    Returns
    -------
    tuple of (weight, permutation)
        Weights are positive and add up to 1; a permutation gives the destination of every terminal. At most
        (n - 1)² + 1 of them. Exact.

    Raises
    ------
    TrafficError
        If a row or column adds up to more than 1.

    References
    ----------
    [Bir46] G. Birkhoff, "Tres observaciones sobre el algebra lineal", 1946.

    Examples
    --------
    >>> import obliv
    >>> birkhoff(obliv.traffic("uniform", obliv.ring(3)))
    ((Fraction(1, 3), (0, 1, 2)), (Fraction(1, 3), (2, 0, 1)), (Fraction(1, 3), (1, 2, 0)))
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    whole = completed(traffic)
    n = whole.terminals
    scale = whole.denominator
    left = np.zeros((n, n), object)
    left[whole.source, whole.destination] = whole.amount.astype(object)
    parts = []
    while True:
        image = maximum_bipartite_matching(csr_array((left > 0).astype(np.int8)), perm_type="column")
        if (image < 0).any():  # row and column sums of the rest are equal, hence it is zero
            break
        some = min(left[np.arange(n), image])
        left[np.arange(n), image] -= some
        parts.append((Fraction(int(some), scale), tuple(image.tolist())))
    if left.any():
        raise ArithmeticError("internal error: a doubly stochastic matrix without a perfect matching")
    return tuple(parts)
