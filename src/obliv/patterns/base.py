"""Traffic: a matrix of rates, a permutation, or a weighted sum of those."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property, reduce
from math import lcm
from operator import add
from typing import Any

import numpy as np
import numpy.typing as npt

from obliv._util.arrays import whole
from obliv._util.content import same_content
from obliv._util.rationals import exact
from obliv._util.typing import Array, NodeArray
from obliv.errors import InputError, TrafficError
from obliv.specs.grammar import split_mix
from obliv.specs.registry import PATTERNS
from obliv.topologies.base import Number, Topology
from obliv.topologies.base import topology as topology_of

__all__ = ["Traffic", "matrix", "permutation", "traffic"]


@dataclass(frozen=True, eq=False)
class Traffic:
    """Packets per cycle from each terminal to each, as a share of uniform traffic plus single flows.

    ``1/2 * a + 1/2 * b`` of two traffics is a traffic (factors are Fractions, integers, floats or text such as "1/3");
    two traffics are equal (``==``) if their spec and all else in them are equal.

    Parameters
    ----------
    spec : str
        The spec that makes it again.
    terminals : int
        Number of terminals N.
    uniform : Fraction
        Every ordered pair, self-pairs included, carries ``uniform / N``.
    source, destination : int32 arrays, shape (flows,)
        Terminals of the single flows, each pair at most once.
    amount : int64 array, shape (flows,)
        Numerators of the flows' rates over `denominator`.
    denominator : int
        Common denominator of the amounts.
    sources : tuple of (path, SHA-256)
        The files that it was read from.

    Examples
    --------
    >>> import obliv
    >>> tornado = obliv.traffic("tornado", obliv.ring(8))
    >>> mix = "1/2" * tornado + "1/2" * obliv.traffic("uniform", obliv.ring(8))
    >>> mix.row_sums[0], mix.admissible
    (Fraction(1, 1), True)
    """

    spec: str
    terminals: int
    uniform: Fraction
    source: NodeArray
    destination: NodeArray
    amount: Array
    denominator: int = 1
    sources: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return self.spec

    def __repr__(self) -> str:
        return f"<Traffic {self.spec}: {self.terminals} terminals, {len(self.amount)} flows>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Traffic):
            return NotImplemented
        return self is other or all(same_content(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    def __hash__(self) -> int:
        return hash((self.spec, self.terminals))

    @cached_property
    def row_sums(self) -> list[Fraction]:
        """Packets per cycle that each terminal sends."""
        return self._sums(self.source)

    @cached_property
    def column_sums(self) -> list[Fraction]:
        """Packets per cycle that each terminal takes."""
        return self._sums(self.destination)

    def _sums(self, index: NodeArray) -> list[Fraction]:
        sums = [0] * self.terminals
        for terminal, amount in zip(index.tolist(), self.amount.tolist(), strict=True):
            sums[terminal] += amount
        return [self.uniform + Fraction(total, self.denominator) for total in sums]

    @property
    def admissible(self) -> bool:
        """Whether no terminal takes more than one packet per cycle."""
        return self.fits([Fraction(1)] * self.terminals)

    def fits(self, ejection: Sequence[Fraction]) -> bool:
        """Return whether no terminal takes more than its rate."""
        return all(total <= rate for total, rate in zip(self.column_sums, ejection, strict=True))

    @property
    def is_permutation(self) -> bool:
        """Whether every terminal sends one packet per cycle, each to another terminal."""
        return (
            self.uniform == 0
            and len(self.amount) == self.terminals
            and bool((self.amount == self.denominator).all())
            and len(np.unique(self.destination)) == self.terminals
            and len(np.unique(self.source)) == self.terminals
        )

    def to_matrix(self) -> list[list[Fraction]]:
        """Return the traffic matrix, exact, as rows of Fractions."""
        base = self.uniform / self.terminals
        rows = [[base] * self.terminals for _ in range(self.terminals)]
        for s, d, amount in zip(self.source.tolist(), self.destination.tolist(), self.amount.tolist(), strict=True):
            rows[s][d] += Fraction(amount, self.denominator)
        return rows

    def __mul__(self, factor: Number) -> Traffic:
        if not isinstance(factor, int | Fraction | float | str):
            return NotImplemented
        share = exact(factor)
        if share is None or share < 0:
            raise TrafficError(f"traffic cannot be scaled by {factor}: the factor must be a number from 0")
        flows = {
            (s, d): share * Fraction(amount, self.denominator)
            for s, d, amount in zip(self.source.tolist(), self.destination.tolist(), self.amount.tolist(), strict=True)
        }
        return from_flows(f"{share}*{self.spec}", self.terminals, flows, share * self.uniform, self.sources)

    __rmul__ = __mul__

    def __add__(self, other: Traffic) -> Traffic:
        if not isinstance(other, Traffic):
            return NotImplemented
        if other.terminals != self.terminals:
            raise TrafficError(f"{self.spec} has {self.terminals} terminals, {other.spec} has {other.terminals}")
        flows: dict[tuple[int, int], Fraction] = {}
        for part in (self, other):
            for s, d, amount in zip(part.source.tolist(), part.destination.tolist(), part.amount.tolist(), strict=True):
                flows[s, d] = flows.get((s, d), Fraction(0)) + Fraction(amount, part.denominator)
        return from_flows(
            f"{self.spec}+{other.spec}",
            self.terminals,
            flows,
            self.uniform + other.uniform,
            self.sources + other.sources,
        )


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
        Packets per cycle; a float stands for the simplest rational that it is the nearest float of.
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

    Examples
    --------
    >>> matrix([[0, 0.5], ["1/3", 0]]).row_sums
    [Fraction(1, 2), Fraction(1, 3)]
    """
    flows: dict[tuple[int, int], Fraction] = {}
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
    traffic = from_flows(spec, n, flows, Fraction(0), sources)
    require_rows(traffic, injection)
    return traffic


def require_rows(traffic: Traffic, rates: Sequence[Fraction] = ()) -> None:
    """Refuse traffic in which a terminal sends more than its rate (default one packet per cycle)."""
    for s, total in enumerate(traffic.row_sums):
        rate = rates[s] if rates else Fraction(1)
        if total > rate:
            raise TrafficError(
                f"{traffic.spec}: row {s} adds up to {total}"
                + (f" = {float(total):.6g}" if total.denominator > 1 else "")
                + f", its terminal sends at most {rate}; scale the traffic down"
            )


def from_flows(
    spec: str,
    terminals: int,
    flows: dict[tuple[int, int], Fraction],
    uniform: Fraction,
    sources: tuple[tuple[str, str], ...] = (),
) -> Traffic:
    """Return the traffic of a share of uniform traffic and exact rates of single pairs."""
    denominator = lcm(*(amount.denominator for amount in flows.values())) if flows else 1
    numerators = [int(amount * denominator) for amount in flows.values()]
    return Traffic(
        spec=spec,
        terminals=terminals,
        uniform=uniform,
        source=np.array([s for s, _ in flows], np.int32),
        destination=np.array([d for _, d in flows], np.int32),
        amount=whole(numerators),
        denominator=denominator,
        sources=sources,
    )


def traffic(spec: str | Traffic, topology: str | Topology | None = None) -> Traffic:
    """Return the traffic that a spec names, on a topology.

    Parameters
    ----------
    spec : str or Traffic
        For example ``tornado``, ``permutation:FILE`` or ``1/2*uniform+1/2*tornado``; a Traffic is returned as it is.
    topology : Topology or str
        The network whose terminals send.

    Returns
    -------
    Traffic

    Raises
    ------
    SpecError
        If the name is unknown or the parameters are wrong.
    TrafficError
        If it does not fit the topology.

    Examples
    --------
    >>> import obliv
    >>> obliv.traffic("shift:3", obliv.ring(8))
    <Traffic shift:3: 8 terminals, 8 flows>
    """
    if topology is None:
        raise InputError('a traffic needs a topology: obliv.traffic("tornado", topology)')
    network = topology_of(topology)
    if isinstance(spec, Traffic):
        pattern = spec
    elif not isinstance(spec, str):
        raise InputError(f"a traffic is a spec or a Traffic, not {type(spec).__name__}")
    elif (mix := split_mix(spec)) is not None:
        parts = [weight * traffic(part, network) for weight, part in mix]
        pattern = reduce(add, parts)
    else:
        pattern = PATTERNS.make(spec, network)
        if not isinstance(pattern, Traffic):
            raise TrafficError(f"{spec}: the registered function returned {type(pattern).__name__}, not a Traffic")
        if pattern.spec in ("permutation", "matrix"):  # the function gave no name
            pattern = replace(pattern, spec=spec.strip())
    if pattern.terminals != len(network.terminals):
        raise TrafficError(
            f"{pattern.spec} has {pattern.terminals} terminals, {network.spec} has {len(network.terminals)}"
        )
    return pattern
