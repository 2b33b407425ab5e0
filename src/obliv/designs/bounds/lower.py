"""Lower bounds of all routings: lines in the plane of hops and worst case, narrow bisections, far permutations."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import laplacian

from obliv._util.arrays import Array
from obliv.designs._kernels import pair_distances
from obliv.designs.bounds.congestion import distance_under
from obliv.designs.exact import InexactError, Rationals
from obliv.designs.programme import Programme
from obliv.kernels import run
from obliv.matching.solve import from_entries, maximum_weight
from obliv.topologies.base import Topology

# Narrow bisections: halves of the terminals with little bandwidth between them, found by spectra and exchanges


_ANGLES = 24
_MOST = 4000  # nodes


def narrow_bisection(topology: Topology) -> Array:
    """Return the nodes on one side of a bisection, a bool array; a good one, without proof that it is the narrowest."""
    n = topology.nodes
    speed = np.array([float(topology.bandwidth_of(c)) for c in range(topology.channels)])
    weight = csr_array((speed, (topology.tail, topology.head)), shape=(n, n))
    weight = csr_array(weight + weight.T)
    orders = [np.arange(float(n)), *_spectral(weight)]
    candidates = [_side(topology, order) for order in orders]
    best = min(candidates, key=lambda side: _across(topology, speed, side))
    return _exchanged(topology, weight, best)


def _spectral(weight: csr_array) -> list[Array]:
    """Return orders of the nodes: the smoothest functions on the network, and their mixes."""
    n = weight.shape[0]
    if not 3 <= n <= _MOST:
        return []
    matrix = laplacian(weight.astype(float)).toarray()
    _, vectors = np.linalg.eigh(matrix)
    smooth = vectors[:, 1 : min(5, n)]
    orders = []
    for i in range(smooth.shape[1]):
        for j in range(i + 1, smooth.shape[1]):
            orders += [
                np.cos(angle) * smooth[:, i] + np.sin(angle) * smooth[:, j]
                for angle in np.linspace(0, np.pi, _ANGLES, endpoint=False)
            ]
    return orders or [smooth[:, 0]]


def _side(topology: Topology, order: Array) -> Array:
    """Return the nodes that come first, with half of the terminals among them."""
    rank = np.argsort(np.round(order, 9), kind="stable")
    is_terminal = np.zeros(topology.nodes, bool)
    is_terminal[topology.terminals] = True
    last = int(np.searchsorted(np.cumsum(is_terminal[rank]), len(topology.terminals) // 2))
    side = np.zeros(topology.nodes, bool)
    side[rank[: last + 1]] = True
    return side


def _across(topology: Topology, speed: Array, side: Array) -> float:
    tail, head = side[topology.tail], side[topology.head]
    return min(float(speed[tail & ~head].sum()), float(speed[~tail & head].sum()))


def _exchanged(topology: Topology, weight: csr_array, side: Array) -> Array:
    """Exchange pairs of nodes of one kind (terminals or not) while this narrows the cut (Kernighan and Lin)."""
    if topology.nodes > _MOST:
        return side
    is_terminal = np.zeros(topology.nodes, bool)
    is_terminal[topology.terminals] = True
    side, dense = side.copy(), weight.toarray()
    for _ in range(topology.nodes):
        sign = np.where(side, 1.0, -1.0)
        gain = -sign * (dense @ sign)  # of moving a node across
        inside, outside = np.flatnonzero(side), np.flatnonzero(~side)
        if not len(inside) or not len(outside):
            return side
        both = gain[inside][:, None] + gain[outside][None, :] - 2 * dense[np.ix_(inside, outside)]
        both[is_terminal[inside][:, None] != is_terminal[outside][None, :]] = -np.inf
        pair = int(np.argmax(both))
        if both.flat[pair] <= 1e-9:
            return side
        one, two = inside[pair // len(outside)], outside[pair % len(outside)]
        side[one], side[two] = False, True
    return side


def cut_load(topology: Topology, side: Array) -> Fraction:
    """Return the load of the channels across a cut when as many packets cross it as terminals can send and take.

    Each way, at most the injection of one side and the ejection of the other; the way with the larger load counts.
    """
    injection, ejection = topology.rates()
    tail, head = side[topology.tail], side[topology.head]
    loads = []
    for here in (True, False):
        sent = sum(
            (rate for rate, node in zip(injection, topology.terminals, strict=True) if side[node] == here), Fraction(0)
        )
        taken = sum(
            (rate for rate, node in zip(ejection, topology.terminals, strict=True) if side[node] != here), Fraction(0)
        )
        across = np.flatnonzero((tail == here) & (head != here)).tolist()
        speed = sum((topology.bandwidth_of(c) for c in across), Fraction(0))
        loads.append(min(sent, taken) / speed if speed else Fraction(0))
    return max(loads)


# Permutations whose packets are far apart under lengths of channels, which bounds every routing


def first_lengths(topology: Topology, half: Array | None = None) -> tuple[Array, Array]:
    """Return two lengths of channels to begin with: hops, and crossings of a narrow bisection."""
    half = narrow_bisection(topology) if half is None else half
    return np.ones(topology.channels, np.int64), (half[topology.tail] != half[topology.head]).astype(np.int64)


def farthest(distance: Array) -> tuple[int, ...]:
    """Return the permutation with the largest sum of distances."""
    source, destination = np.nonzero(distance)
    n = len(distance)
    matching = maximum_weight(from_entries(source, destination, distance[source, destination]))
    image, taken = [-1] * n, [False] * n
    for s, d in zip(*_pairs(matching, source, destination), strict=True):
        image[s], taken[d] = d, True
    free = iter([d for d in range(n) if not taken[d]])
    return tuple(d if d >= 0 else next(free) for d in image)


def _pairs(matching: Any, source: Array, destination: Array) -> tuple[list[int], list[int]]:
    used = matching.flow > 0
    return source[used].tolist(), destination[used].tolist()


def load_of(topology: Topology, image: tuple[int, ...], lengths: Array) -> Fraction:
    """Return the load of a permutation that lengths prove."""
    between = distance_under(topology, lengths)
    spent = sum((topology.bandwidth_of(c) * int(x) for c, x in enumerate(lengths.tolist()) if x), Fraction(0))
    return Fraction(int(between[np.arange(len(image)), list(image)].sum())) / spent if spent else Fraction(0)


# Lower bounds: no routing has a smaller worst case or fewer hops, proved by lengths of channels.
#
# For every channel c let ``L_c(i, j) ≥ 0`` be any matrix, and ``y_c`` the largest of its row sums over injection rates
# and column sums over ejection rates. ``L_c / y_c`` is admissible traffic, so the routing's load of channel c under it
# is at most its worst case w times the bandwidth b_c. Added up over the channels, with a price p for every hop::
#
#     Σ_ij Σ_c (p + L_c(i, j)) f_ij(c)  ≤  p·N²·hops + w·Σ_c b_c y_c
#
# The flow of a pair costs at least the distance of the pair when channel c has length ``p + L_c(i, j)``, so the sum of
# these distances is a lower bound of the right side: a line that no routing can cross in the plane of hops and worst
# case. Lengths and price come from the multipliers of the linear program; the line holds whatever they are.


_SCALE = 10**8  # of rounded lengths
_LARGEST = 2**48  # length in a certificate


@dataclass(frozen=True, eq=False)
class BoundLine:
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


def rounded_line(programme: Programme, duals: Array, price: float) -> BoundLine:
    """Return the line by rounded multipliers.

    Shapes: `duals` (rows,).
    """
    lengths = np.zeros(len(programme.size))
    lengths[programme.cover_flow] = np.maximum(duals[programme.cover_rows], 0)
    lengths = np.append(lengths / programme.size, price)
    largest = lengths.max()
    units = np.rint(lengths * (_SCALE / largest if largest > 0 else 0.0)).astype(np.int64)
    units //= max(int(np.gcd.reduce(units)), 1)
    return _line(programme, units[:-1], int(units[-1]))


def exact_line(programme: Programme, duals: Rationals, price: Fraction) -> BoundLine:
    """Return the line by rational multipliers, exactly."""
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


def permutation_line(programme: Programme) -> BoundLine | None:
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


def _of_permutation(programme: Programme, lengths: Array) -> BoundLine | None:
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


def _line(programme: Programme, length: Array, price: int) -> BoundLine:
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
    return BoundLine(length, price, total, spent, terminals**2)


def _most(sums: list[tuple[int, Fraction]]) -> Fraction:
    return max(Fraction(int(amount)) / rate for amount, rate in sums)
