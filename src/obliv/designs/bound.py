"""Lower bounds: no routing has a smaller worst case or fewer hops, proved by lengths of channels.

For every channel c let ``L_c(i, j) ≥ 0`` be any matrix, and ``y_c`` the largest of its row sums over injection rates
and column sums over ejection rates. ``L_c / y_c`` is admissible traffic, so the routing's load of channel c under it is
at most its worst case w times the bandwidth b_c. Added up over the channels, with a price p for every hop::

    Σ_ij Σ_c (p + L_c(i, j)) f_ij(c)  ≤  p·N²·hops + w·Σ_c b_c y_c

The flow of a pair costs at least the distance of the pair when channel c has length ``p + L_c(i, j)``, so the sum of
these distances is a lower bound of the right side: a line that no routing can cross in the plane of hops and worst
case. Lengths and price come from the multipliers of the linear program; the line holds whatever they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from obliv._util.typing import Array
from obliv.designs._kernels import pair_distances
from obliv.designs.programme import Programme
from obliv.designs.vertices import as_rationals
from obliv.kernels import run

__all__ = ["Line", "lines"]

_SCALE = 10**8  # of rounded lengths


@dataclass(frozen=True, eq=False)
class Line:
    """A bound of all routings: ``distance ≤ price · pairs · hops + spent · worst``.

    Parameters
    ----------
    length : int64 array, shape (orbits of flows on channels,)
    price : int
        Of a hop.
    distance : int
        Sum of the distances of all pairs.
    spent : Fraction
        Σ b_c y_c.
    pairs : int
        Number of ordered pairs, self-pairs included.
    """

    length: Array
    price: int
    distance: int
    spent: Fraction
    pairs: int

    def least_load(self, hops: Fraction) -> Fraction:
        """Return the bound of the worst-case load of routings with at most so many mean hops."""
        if not self.spent:
            return Fraction(0)
        return max(Fraction(0), (self.distance - self.price * self.pairs * hops) / self.spent)

    def least_hops(self, load: Fraction) -> Fraction:
        """Return the bound of the mean hops of routings with at most such a worst-case load."""
        if not self.price:
            return Fraction(0)
        return max(Fraction(0), (self.distance - self.spent * load) / (self.price * self.pairs))


def lines(programme: Programme, duals: Array, price: float) -> list[Line]:
    """Return the lines by rounded and, where there are any, by simple rational multipliers.

    Parameters
    ----------
    programme : Programme
    duals : float array, shape (rows,)
    price : float
        Multiplier of the total number of hops, at least 0.
    """
    multiplier = np.zeros(len(programme.size) + 1)
    multiplier[programme.cover_flow] = np.maximum(duals[programme.cover_rows], 0)
    multiplier[-1] = price
    size = np.append(programme.size, 1)
    candidates = [_rounded(multiplier / size), _simple(multiplier, size)]
    return [_line(programme, lengths[:-1], int(lengths[-1])) for lengths in candidates if lengths is not None]


def _rounded(values: Array) -> Array:
    largest = values.max()
    return np.rint(values * (_SCALE / largest if largest > 0 else 0.0)).astype(np.int64)


def _simple(multiplier: Array, size: Array) -> Array | None:
    """Return integers in proportion to multipliers / sizes, taken for simple rationals; None if they are large."""
    shares = as_rationals(multiplier * (1 / multiplier[-1] if multiplier[-1] > 0 else 1))
    sizes = lcm(*np.unique(size).tolist())
    if shares is None or int(shares[0].max()) * sizes > 2**40:
        return None
    scaled = shares[0] * (sizes // size)
    divisor = int(np.gcd.reduce(scaled))
    return scaled // divisor if divisor else None


def _line(programme: Programme, length: Array, price: int) -> Line:
    """Return the line that lengths of flow columns and a price of hops prove, exactly."""
    topology, flow = programme.topology, programme.flow
    sources, terminals, _ = flow.shape
    distance = np.empty((sources, terminals), np.int64)
    column, ends = programme.column, topology.terminals.astype(np.int64)
    ways = programme.states.kernel
    run(pair_distances, 20.0 * column.size, ways, ends[:sources], ends, column, flow, length + price, distance)
    total = sum(map(int, distance.sum(axis=1))) * (terminals // sources)
    spent = Fraction(0)
    lengths = np.append(length, 0)  # of closed channels
    injection, ejection = topology.rates()
    for channel, count in zip(programme.focus.tolist(), programme.alike.tolist(), strict=True):
        matrix = lengths[programme.on_channel(channel)]
        sums = [*zip(matrix.sum(axis=1), injection, strict=True), *zip(matrix.sum(axis=0), ejection, strict=True)]
        spent += count * topology.bandwidth_of(channel) * _most(sums)
    return Line(length, price, total, spent, terminals**2)


def _most(sums: list[tuple[int, Fraction]]) -> Fraction:
    return max(Fraction(int(amount)) / rate for amount, rate in sums)
