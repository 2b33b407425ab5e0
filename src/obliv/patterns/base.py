"""Traffic: a matrix of rates, a permutation, or a sum of those, behind one face."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from obliv._util.rationals import exact
from obliv.errors import InputError, TrafficError
from obliv.specs.grammar import split_mix
from obliv.specs.registry import PATTERNS
from obliv.topologies.base import topology as topology_of

__all__ = ["Traffic", "matrix", "permutation", "traffic"]


@dataclass(frozen=True, eq=False)
class Traffic:
    """Packets per cycle from each terminal to each, as a share of uniform traffic plus single flows.

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
    """

    spec: str
    terminals: int
    uniform: Fraction
    source: npt.NDArray[np.int32]
    destination: npt.NDArray[np.int32]
    amount: npt.NDArray[np.int64]
    denominator: int = 1
    sources: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return self.spec

    def __repr__(self) -> str:
        return f"<Traffic {self.spec}: {self.terminals} terminals, {len(self.amount)} flows>"

    @cached_property
    def row_sums(self) -> list[Fraction]:
        """What each terminal sends."""
        return self._sums(self.source)

    @cached_property
    def column_sums(self) -> list[Fraction]:
        """What each terminal takes."""
        return self._sums(self.destination)

    def _sums(self, index: npt.NDArray[np.int32]) -> list[Fraction]:
        sums = [0] * self.terminals
        for at, amount in zip(index.tolist(), self.amount.tolist(), strict=True):
            sums[at] += amount
        return [self.uniform + Fraction(total, self.denominator) for total in sums]

    @property
    def admissible(self) -> bool:
        """Whether no terminal takes more than one packet per cycle."""
        return self.fits([Fraction(1)] * self.terminals)

    def fits(self, ejection: Sequence[Fraction]) -> bool:
        """Whether no terminal takes more than its rate."""
        return all(total <= most for total, most in zip(self.column_sums, ejection, strict=True))

    @property
    def is_permutation(self) -> bool:
        """Whether every terminal sends one packet per cycle to a terminal of its own."""
        return (
            self.uniform == 0
            and len(self.amount) == self.terminals
            and bool((self.amount == self.denominator).all())
            and len(np.unique(self.destination)) == self.terminals
            and len(np.unique(self.source)) == self.terminals
        )

    def to_matrix(self) -> list[list[Fraction]]:
        """The traffic matrix, exact, as rows of Fractions."""
        base = self.uniform / self.terminals
        rows = [[base] * self.terminals for _ in range(self.terminals)]
        for s, d, amount in zip(self.source.tolist(), self.destination.tolist(), self.amount.tolist(), strict=True):
            rows[s][d] += Fraction(amount, self.denominator)
        return rows

    def __mul__(self, factor: Any) -> Traffic:
        if not isinstance(factor, int | Fraction | float | str):
            return NotImplemented
        share = exact(factor)
        if share is None or share < 0:
            raise TrafficError(f"traffic cannot be scaled by {factor}: write a number that is not negative")
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


def permutation(destinations: Sequence[int] | npt.NDArray[Any], spec: str = "permutation") -> Traffic:
    """The permutation that sends terminal i to ``destinations[i]``.

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
    rows: Any,
    spec: str = "matrix",
    sources: tuple[tuple[str, str], ...] = (),
    injection: Sequence[Fraction] = (),
) -> Traffic:
    """The traffic of a square matrix of rates.

    Parameters
    ----------
    rows : sequence of sequences, shape (N, N)
        Packets per cycle; a float stands for the simplest rational that it is the nearest float of.
    injection : sequence of Fraction, optional
        What each terminal may send, where that is not 1.

    Raises
    ------
    TrafficError
        If it is not square, holds a negative or infinite number, or a row adds up to more than its terminal may send.
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
        most = rates[s] if rates else Fraction(1)
        if total > most:
            raise TrafficError(
                f"{traffic.spec}: row {s} adds up to {total}"
                + (f" = {float(total):.6g}" if total.denominator > 1 else "")
                + f", that terminal sends at most {most}; scale the traffic down"
            )


def from_flows(
    spec: str,
    terminals: int,
    flows: dict[tuple[int, int], Fraction],
    uniform: Fraction,
    sources: tuple[tuple[str, str], ...] = (),
) -> Traffic:
    """Traffic of a share of uniform traffic and exact rates of single pairs."""
    denominator = lcm(*(amount.denominator for amount in flows.values())) if flows else 1
    numerators = [int(amount * denominator) for amount in flows.values()]
    small = not numerators or max(numerators) < 2**62
    return Traffic(
        spec=spec,
        terminals=terminals,
        uniform=uniform,
        source=np.array([s for s, _ in flows], np.int32),
        destination=np.array([d for _, d in flows], np.int32),
        amount=np.array(numerators, np.int64 if small else object),
        denominator=denominator,
        sources=sources,
    )


def traffic(spec: Any, topology: Any = None) -> Any:
    """The traffic that a spec names, on a topology.

    Parameters
    ----------
    spec : str or Traffic
        For example ``tornado``, ``permutation:FILE`` or ``1/2*uniform+1/2*tornado``.
    topology : Topology
        The network whose terminals send.

    Returns
    -------
    Traffic

    Examples
    --------
    >>> import obliv
    >>> obliv.traffic("shift:3", obliv.ring(8))
    <Traffic shift:3: 8 terminals, 8 flows>
    """
    if topology is None:
        raise InputError('a traffic needs a topology: obliv.traffic("tornado", topology)')
    topology = topology_of(topology)
    if isinstance(spec, Traffic):
        made = spec
    elif not isinstance(spec, str):
        raise InputError(f"a traffic is a spec or a Traffic, not {type(spec).__name__}")
    elif (mix := split_mix(spec)) is not None:
        parts = [weight * traffic(part, topology) for weight, part in mix]
        made = parts[0]
        for part in parts[1:]:
            made = made + part
    else:
        made = PATTERNS.make(spec, topology)
        if not isinstance(made, Traffic):
            raise TrafficError(f"{spec}: the registered function gave {type(made).__name__}, not a Traffic")
        if made.spec in ("permutation", "matrix"):  # whoever made it did not say
            made = replace(made, spec=spec.strip())
    if made.terminals != len(topology.terminals):
        raise TrafficError(f"{made.spec} has {made.terminals} terminals, {topology.spec} has {len(topology.terminals)}")
    return made
