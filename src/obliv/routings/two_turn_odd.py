"""A closed form of the best routing within two turns on tori of odd radix."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

from obliv.errors import RoutingError
from obliv.routings.base import Path, Routing
from obliv.routings.cartesian import require_grid
from obliv.specs.registry import register_routing
from obliv.topologies.base import Topology

__all__ = ["OddTwoTurn"]

_Runs = tuple[int, ...]  # signed hops along the first dimension, the second, and so on in turn


@register_routing("2turn-odd", example="2turn-odd")
class OddTwoTurn(Routing):
    """I2TURN with fewer hops, on square tori of odd radix: half of capacity, and as few hops as 2TURN where compared.

    Notes
    -----
    A packet takes an XYX path or a YXY path, 1/2 each. XYX: out to a uniformly random column, along it, and back, as
    under I2TURN, with two exceptions where source and destination are e < (k - 1)/2 apart. With e the distance in Y: in
    the column of the source or of the destination, if these differ, the packet takes the short way in Y. With e > 0
    that in X: a column that is (k - 1)/2 beyond the destination, seen from the source, or beyond the source, seen from
    the destination, is reached the other way round with probability e/k, so that the packet does not turn back.

    Its worst case is half of capacity for every odd k, and its mean hops are
    ``(k² - 1)(5k³ - 2k² + 4k - 3) / (6k⁴)``; both are proved in the documentation. That no routing within two turns has
    fewer hops at this worst case is proved by ``obliv design --max-turns 2`` for small k only. Ramanujam and Lin's
    W2TURN, whose weights obliv does not know, has as many hops.

    Raises
    ------
    RoutingError
        If the topology is not a square torus of two dimensions and odd radix.

    Examples
    --------
    >>> import obliv
    >>> routing = obliv.routing("2turn-odd", obliv.torus(5, 5))
    >>> obliv.worst_case(routing).fraction_of_capacity, obliv.locality(routing).hops
    (Fraction(1, 2), Fraction(2368, 625))
    """

    relative = True

    def __init__(self, topology: Topology, spec: str = "2turn-odd") -> None:
        axes = require_grid(topology, spec).axes
        if [along.kind for along in axes] != ["ring", "ring"] or len({along.radix for along in axes}) != 1:
            raise RoutingError(f"{spec} needs a square torus of two dimensions, not {topology.spec}; i2turn fits more")
        if axes[0].radix % 2 == 0:
            raise RoutingError(f"{spec} needs an odd radix, {topology.spec} has {axes[0].radix}; i2turn fits any")
        super().__init__(topology, spec)
        self.radix = axes[0].radix
        where = require_grid(topology, spec).directions
        places = zip(topology.tail.tolist(), where.dim.tolist(), where.step.tolist(), strict=True)
        self._channel = {place: channel for channel, place in enumerate(places)}

    def paths(self, source: int, destination: int) -> list[Path]:
        if source == destination:
            return [((), Fraction(1))]
        k, chances = self.radix, defaultdict[tuple[int, ...], Fraction](Fraction)
        ahead = [
            (b - a) % k for a, b in zip((source % k, source // k), (destination % k, destination // k), strict=True)
        ]
        for first in (0, 1):
            for runs, chance in _runs(k, ahead[first], ahead[1 - first]):
                chances[self._along(source, runs, first)] += chance / 2
        return list(chances.items())

    def _along(self, node: int, runs: _Runs, first: int) -> tuple[int, ...]:
        """Return the channels of runs from a node, the first one along a dimension."""
        path = []
        for number, run in enumerate(runs):
            for _ in range(abs(run)):
                path.append(self._channel[node, (first + number) % 2, 1 if run > 0 else -1])
                node = int(self.topology.head[path[-1]])
        return tuple(path)


def _runs(k: int, dx: int, dy: int) -> Iterator[tuple[_Runs, Fraction]]:
    """Yield the XYX paths to an offset as signed hops, with their probabilities."""
    if dy == 0:
        yield from (((run,), chance) for run, chance in _both_ways(k, dx))
        return
    for column in range(k):
        out, back = _short(k, column), _short(k, dx - column)
        beside = dx != 0 and column in (0, dx) and abs(_short(k, dy)) < k // 2
        along = [(_short(k, dy), Fraction(1))] if beside else _both_ways(k, dy)
        for there, again, share in _around(k, abs(_short(k, dx)), out, back):
            for run, chance in along:
                yield (there, run, again), share * chance / k


def _around(k: int, apart: int, out: int, back: int) -> list[tuple[int, int, Fraction]]:
    """Return the ways out to a column and back, with their probabilities: one, or two for the farthest columns."""
    half = k // 2
    if not 0 < apart < half or out * back >= 0 or half not in (abs(out), abs(back)):
        return [(out, back, Fraction(1))]
    other = (_reverse(k, out), back) if abs(out) == half else (out, _reverse(k, back))
    return [(out, back, Fraction(k - apart, k)), (*other, Fraction(apart, k))]


def _both_ways(k: int, ahead: int) -> list[tuple[int, Fraction]]:
    """Return both ways along a ring to an offset, the way over D links with probability (k - D)/k."""
    return [(ahead, Fraction(k - ahead, k)), *([(ahead - k, Fraction(ahead, k))] if ahead else [])]


def _short(k: int, ahead: int) -> int:
    return (ahead + k // 2) % k - k // 2


def _reverse(k: int, run: int) -> int:
    return run - k if run > 0 else run + k
