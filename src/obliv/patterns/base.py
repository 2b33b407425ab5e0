"""Traffic: a matrix of rates, a permutation, or a weighted sum of those; from its spec, or as a mixture (Birkhoff)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, reduce
from math import lcm
from operator import add

import numpy as np

from obliv._util.arrays import Array, NodeArray, whole
from obliv._util.files import Value
from obliv._util.rationals import exact
from obliv._util.text import html_table
from obliv.errors import InputError, TrafficError
from obliv.specs.registry import PATTERNS, split_mix
from obliv.topologies.base import Number, Topology
from obliv.topologies.make import topology as topology_of


@dataclass(frozen=True, eq=False, repr=False)
class Traffic(Value):
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
    notes : tuple of str
        What was changed when it was read, such as rounded rows.

    Raises
    ------
    TrafficError
        If these do not fit together.

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
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        problem = _problem(self)
        if problem:
            raise TrafficError(f"{self.spec}: {problem}")

    def __str__(self) -> str:
        return self.spec

    def __repr__(self) -> str:
        return f"<Traffic {self.spec}: {self.terminals} terminals, {len(self.amount)} flows>"

    def _repr_html_(self) -> str:
        busiest = self.busiest_terminal()
        figures = [
            ("terminals", f"{self.terminals:,}"),
            ("flows", f"{len(self.amount):,}"),
            *(("uniform", str(self.uniform)) for _ in range(self.uniform != 0)),
            ("busiest terminal", "-" if busiest is None else f"{busiest[2]}: {busiest[1]} {busiest[0]}"),
            *(("note", note) for note in self.notes),
        ]
        return html_table(f"traffic: {self.spec}", [("figure", "value"), *figures])

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
        """Whether no terminal sends or takes more than one packet per cycle."""
        return self.fits()

    def fits(self, injection: Sequence[Fraction] = (), ejection: Sequence[Fraction] = ()) -> bool:
        """Return whether no terminal sends or takes more than its rate, by default one packet per cycle."""
        busiest = self.busiest_terminal(injection, ejection)
        return busiest is None or busiest[0] <= 1

    def busiest_terminal(
        self, injection: Sequence[Fraction] = (), ejection: Sequence[Fraction] = ()
    ) -> tuple[Fraction, str, int] | None:
        """Return the terminal whose own link the traffic uses most.

        Parameters
        ----------
        injection, ejection : sequence of Fraction, optional
            Packets per cycle that each terminal may send and take; default 1.

        Returns
        -------
        tuple of (Fraction, {"injection", "ejection"}, int) or None
            What the terminal sends or takes over its rate, which of the two, and its number; of equal ones injection
            and the lowest number. None where there is no traffic.

        Examples
        --------
        >>> import obliv
        >>> obliv.matrix([[0, 1, 0], [0, 0, 1], [0, 1, 0]]).busiest_terminal()
        (Fraction(2, 1), 'ejection', 1)
        """
        best = Fraction(0), "", -1
        for side, sums, rates in (("injection", self.row_sums, injection), ("ejection", self.column_sums, ejection)):
            for terminal, total in enumerate(sums):
                share = total / rates[terminal] if rates else total
                if share > best[0]:
                    best = share, side, terminal
        return best if best[1] else None

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
        for s, d, rate in self._flows():
            rows[s][d] += rate
        return rows

    def _flows(self) -> Iterator[tuple[int, int, Fraction]]:
        """Yield the single flows: source, destination and rate."""
        for s, d, amount in zip(self.source.tolist(), self.destination.tolist(), self.amount.tolist(), strict=True):
            yield s, d, Fraction(amount, self.denominator)

    def __mul__(self, factor: Number) -> Traffic:
        if not isinstance(factor, int | Fraction | float | str):
            return NotImplemented
        share = exact(factor)
        if share is None or share < 0:
            raise TrafficError(f"traffic cannot be scaled by {factor}: the factor must be a number from 0")
        flows = {(s, d): share * rate for s, d, rate in self._flows()}
        part = from_flows(f"{share}*{self.spec}", self.terminals, flows, share * self.uniform, self.sources)
        return replace(part, notes=self.notes)

    __rmul__ = __mul__

    def __add__(self, other: Traffic) -> Traffic:
        if not isinstance(other, Traffic):
            return NotImplemented
        if other.terminals != self.terminals:
            raise TrafficError(f"{self.spec} has {self.terminals} terminals, {other.spec} has {other.terminals}")
        flows: dict[tuple[int, int], Fraction] = {}
        for part in (self, other):
            for s, d, rate in part._flows():
                flows[s, d] = flows.get((s, d), Fraction(0)) + rate
        total = from_flows(
            f"{self.spec}+{other.spec}",
            self.terminals,
            flows,
            self.uniform + other.uniform,
            self.sources + other.sources,
        )
        return replace(total, notes=self.notes + other.notes)


def _problem(traffic: Traffic) -> str:
    """Return what does not fit together in a traffic; empty if everything does."""
    source, destination, amount = (np.asarray(part) for part in (traffic.source, traffic.destination, traffic.amount))
    if not source.shape == destination.shape == amount.shape == (len(source),):
        return "source, destination and amount must be lists of one length"
    if traffic.terminals < 0 or traffic.denominator < 1 or traffic.uniform < 0:
        return "a denominator must be 1 or more, terminals and uniform 0 or more"
    if not len(source):
        return ""
    if min(source.min(), destination.min()) < 0 or max(source.max(), destination.max()) >= traffic.terminals:
        return f"a flow names a terminal that does not exist; terminals are 0 to {traffic.terminals - 1}"
    if amount.min() < 0:
        return "a flow is negative"
    pairs = np.sort(source.astype(np.int64) * traffic.terminals + destination)
    repeated = np.flatnonzero(pairs[1:] == pairs[:-1])
    if len(repeated):
        pair = divmod(int(pairs[repeated[0]]), traffic.terminals)
        return f"the pair {pair} has several flows; add them up, or use obliv.matrix"
    return ""


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


# Doubly stochastic traffic as a mixture of permutations (Birkhoff's theorem, on which Towles' Theorem 1 rests)


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


# Traffic from its spec


def traffic(spec: str | Traffic, topology: str | Topology | None = None) -> Traffic:
    """Return the traffic that a spec names, on a topology.

    Parameters
    ----------
    spec : str or Traffic
        For example ``tornado``, ``permutation:FILE``, ``1/2*uniform+1/2*tornado``, or ``1/2*uniform``
        for half the rate; a Traffic is returned as it is.
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
        raise InputError(
            f"a traffic is a spec or a Traffic, not {type(spec).__name__}: "
            "make one with obliv.matrix(rows) or obliv.permutation(destinations)"
        )
    elif (mix := split_mix(spec, partial=True)) is not None:
        parts = [weight * traffic(part, network) for weight, part in mix]
        pattern = reduce(add, parts)
    else:
        pattern = PATTERNS.make(spec, network.pattern_base)
        if not isinstance(pattern, Traffic):
            raise TrafficError(f"{spec}: the registered function returned {type(pattern).__name__}, not a Traffic")
        if pattern.spec in ("permutation", "matrix"):  # the function gave no name
            pattern = replace(pattern, spec=spec.strip())
    if pattern.terminals != len(network.terminals):
        raise TrafficError(
            f"{pattern.spec} has {pattern.terminals} terminals, {network.spec} has {len(network.terminals)}"
        )
    return pattern
