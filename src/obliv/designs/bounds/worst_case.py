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
from math import gcd, lcm

import numpy as np

from obliv._util.typing import Array
from obliv.designs._kernels import pair_distances
from obliv.designs.bounds.congestion import distance_under
from obliv.designs.bounds.permutations import farthest, first_lengths
from obliv.designs.exact.basis import InexactError, Rationals
from obliv.designs.programme import Programme
from obliv.kernels import run

__all__ = ["Line", "exact_line", "permutation_line", "rounded_line"]

_SCALE = 10**8  # of rounded lengths
_LARGEST = 2**48  # length in a certificate


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


def rounded_line(programme: Programme, duals: Array, price: float) -> Line:
    """Return the line by rounded multipliers.

    Parameters
    ----------
    programme : Programme
    duals : float array, shape (rows,)
    price : float
        Multiplier of the total number of hops, at least 0.
    """
    lengths = np.zeros(len(programme.size))
    lengths[programme.cover_flow] = np.maximum(duals[programme.cover_rows], 0)
    lengths = np.append(lengths / programme.size, price)
    largest = lengths.max()
    units = np.rint(lengths * (_SCALE / largest if largest > 0 else 0.0)).astype(np.int64)
    units //= max(int(np.gcd.reduce(units)), 1)
    return _line(programme, units[:-1], int(units[-1]))


def exact_line(programme: Programme, duals: Rationals, price: Fraction) -> Line:
    """Return the line by rational multipliers, exactly.

    Parameters
    ----------
    programme : Programme
    duals : Rationals
        The multiplier of every row.
    price : Fraction
        Multiplier of the total number of hops.

    Raises
    ------
    InexactError
        If the lengths have too many digits for a certificate.
    """
    lengths = np.zeros(len(programme.size), object)
    lengths[programme.cover_flow] = np.maximum(duals.numerators[programme.cover_rows], 0)
    common = lcm(*np.unique(programme.size).tolist()) * price.denominator
    lengths *= common // programme.size.astype(object)
    units = [*lengths.tolist(), int(max(price, Fraction(0)) * common) * duals.denominator]
    divisor = gcd(*units) or 1
    if max(units) // divisor > _LARGEST:
        bits = (max(units) // divisor).bit_length()
        raise InexactError(f"its lengths have {bits} bits; a certificate holds {_LARGEST.bit_length() - 1}")
    return _line(programme, np.array([unit // divisor for unit in units[:-1]], np.int64), units[-1] // divisor)


def permutation_line(programme: Programme) -> Line | None:
    """Return the line by a permutation that is far apart in hops, or across a narrow bisection; the better one.

    Packets of the permutation have lengths, no others do; their means over symmetries prove as much. None where
    terminals have rates, and where numbers are too large for a certificate.
    """
    topology = programme.topology
    if not topology.unit_rates:
        return None
    lines = (_of_permutation(programme, lengths) for lengths in first_lengths(topology))
    return max(
        (line for line in lines if line is not None), key=lambda line: line.least_load(Fraction(0)), default=None
    )


def _of_permutation(programme: Programme, lengths: Array) -> Line | None:
    topology = programme.topology
    image = np.array(farthest(distance_under(topology, lengths)))
    source = np.arange(len(image))
    total = np.zeros(len(programme.size) + 1, np.int64)  # the last one of closed channels
    for channel in np.flatnonzero(lengths).tolist():
        orbit = programme.orbits(source, image, np.full_like(source, channel))
        np.add.at(total, orbit, lengths[channel])
    size = programme.size.astype(object)
    units = total[:-1].astype(object) * (lcm(*np.unique(programme.size).tolist()) // size)
    units //= gcd(*units.tolist()) or 1
    if max(units.tolist(), default=0) > _LARGEST:
        return None
    return _line(programme, units.astype(np.int64), 0)


def _line(programme: Programme, length: Array, price: int) -> Line:
    """Return the line that lengths of flow columns and a price of hops prove, exactly."""
    topology, flow = programme.topology, programme.flow
    sources, terminals, _ = flow.shape
    distance = np.empty((sources, terminals), np.int64)
    column, ends = programme.column, topology.terminals.astype(np.int64)
    network = programme.states.kernel
    run(pair_distances, 20.0 * column.size, network, ends[:sources], ends, column, flow, length + price, distance)
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
