"""A closed form of the best routing within two turns on square tori."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

from obliv.errors import RoutingError
from obliv.routings.base import Path, Routing
from obliv.routings.cartesian.dimension_ordered import require_grid
from obliv.specs.registry import register_routing
from obliv.topologies.base import Topology

__all__ = ["WeightedTwoTurn"]

_Runs = tuple[int, ...]  # signed hops along a dimension, the other one, and so on in turn
_Ways = list[tuple[int, Fraction]]  # signed hops along a ring, with their probabilities


@register_routing("weighted-2turn", example="weighted-2turn")
class WeightedTwoTurn(Routing):
    """Weighted paths of at most two turns on square tori: half of capacity, with the hops of 2TURN where compared.

    Notes
    -----
    A packet takes an XYX path or a YXY path, 1/2 each: out to a random column, along it, and back. The weights of
    columns and ways depend on the offset; ``docs/explanation/papers/beyond.md`` lists them, with the proof that the
    worst case is half of capacity for every radix. The hops are those of 2TURN for odd radices up to 9 and for radix 8
    (proved by ``obliv design --max-turns 2``), and within 0.01 % up to 12; at radix 4 and 6 they are up to 2 % more.
    Ramanujam and Lin's W2TURN, whose weights obliv does not know, is said to have as many at odd radix.

    Raises
    ------
    RoutingError
        If the topology is not a square torus of two dimensions and radix 3 or more.

    Examples
    --------
    >>> import obliv
    >>> routing = obliv.routing("weighted-2turn", obliv.torus(5, 5))
    >>> obliv.worst_case(routing).fraction_of_capacity, obliv.locality(routing).hops
    (Fraction(1, 2), Fraction(2368, 625))
    """

    relative = _by_offset = True

    def __init__(self, topology: Topology, spec: str = "weighted-2turn") -> None:
        grid = require_grid(topology, spec)
        k = grid.radices[0]
        if [along.kind for along in grid.axes] != ["ring", "ring"] or grid.radices != (k, k) or k < 3:
            raise RoutingError(
                f"{spec} needs a square torus of two dimensions and radix 3 or more, not {topology.spec}; try 2turn"
            )
        super().__init__(topology, spec)
        self.radix = k
        places = zip(topology.tail.tolist(), grid.directions.dim.tolist(), grid.directions.step.tolist(), strict=True)
        self._channel = {place: channel for channel, place in enumerate(places)}

    def paths(self, source: int, destination: int) -> list[Path]:
        if source == destination:
            return [((), Fraction(1))]
        k, chances = self.radix, defaultdict[tuple[int, ...], Fraction](Fraction)
        dx, dy = (destination % k - source % k) % k, (destination // k - source // k) % k
        runs_of = _odd if k % 2 else _even
        for first, offset in enumerate(((dx, dy), (dy, dx))):
            for runs, chance in runs_of(k, *offset):
                if chance:
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


def _odd(k: int, dx: int, dy: int) -> Iterator[tuple[_Runs, Fraction]]:
    """Yield the XYX paths to an offset as signed hops, with their probabilities, for odd radix."""
    half = k // 2
    if dy == 0:
        yield from (((run,), chance) for run, chance in _ways(k, dx, Fraction(_apart(k, dx), k)))
        return
    for column in range(k):
        (out,), (back,) = _short(k, column), _short(k, dx - column)
        beside = dx != 0 and column in (0, dx) and _apart(k, dy) < half
        along = _ways(k, dy, Fraction(0 if beside else _apart(k, dy), k))
        for (there, again), share in _around(k, (out, back), half, Fraction(_apart(k, dx), k)):
            for run, chance in along:
                yield (there, run, again), share * chance / k


def _even(k: int, dx: int, dy: int) -> Iterator[tuple[_Runs, Fraction]]:
    """Yield the XYX paths to an offset as signed hops, with their probabilities, for even radix."""
    half, far = k // 2, _apart(k, dy)
    if dy == 0:
        yield from (((run,), chance) for run, chance in _ways(k, dx, Fraction(_apart(k, dx) + 1, k + 2)))
        return
    for column in range(k):
        weight, long = Fraction(k - 2, k * (k - 1)), Fraction(far - 1, k - 2)
        if column in (0, dx):
            weight = Fraction(3 * k - 4, 2 * k * (k - 1)) if dx else Fraction(2, k)
            long = (
                Fraction(far + 1, k + 2) if dx == 0 else Fraction(k - 2, 3 * k - 4) if far == half - 1 else Fraction(0)
            )
        runs = [(out, back) for out in _short(k, column) for back in _short(k, dx - column)]
        if dx and column not in (0, dx):  # of two ways to the farthest column, the one that does not turn back
            runs = [(out, back) for out, back in runs if len(runs) == 1 or out * back > 0]
        elif column == half and not dx:
            runs = [(out, back) for out, back in runs if out == -back]
        for pair in runs:
            for (there, again), share in _around(k, pair, half - 1, Fraction(_apart(k, dx), max(k - 2, 1))):
                for run, chance in _ways(k, dy, long):
                    yield (there, run, again), weight * share * chance / len(runs)


def _around(k: int, runs: tuple[int, int], farthest: int, share: Fraction) -> list[tuple[tuple[int, int], Fraction]]:
    """Return the ways out to a column and back: where a farthest column would need to turn back, a share goes round."""
    out, back = runs
    if out * back >= 0 or out == -back or farthest not in (abs(out), abs(back)):
        return [(runs, Fraction(1))]
    other = (_reverse(k, out), back) if abs(out) == farthest else (out, _reverse(k, back))
    return [(runs, 1 - share), (other, share)]


def _ways(k: int, ahead: int, long: Fraction) -> _Ways:
    """Return the ways along a ring to an offset: the long one with a probability; of two equal ones, 1/2 each."""
    short = _short(k, ahead)
    if len(short) == 2 or not ahead:
        return [(run, Fraction(1, len(short))) for run in short]
    return [(short[0], 1 - long), (_reverse(k, short[0]), long)]


def _apart(k: int, ahead: int) -> int:
    return min(ahead % k, -ahead % k)


def _short(k: int, ahead: int) -> list[int]:
    """Return the signed hops of the shortest ways along a ring to an offset."""
    apart = _apart(k, ahead)
    return [run for run in dict.fromkeys((apart, -apart)) if (run - ahead) % k == 0]


def _reverse(k: int, run: int) -> int:
    return run - k if run > 0 else run + k
