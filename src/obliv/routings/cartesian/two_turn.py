"""Routings with at most two turns: XYX, YXY, U2TURN, and loop-removed Valiant."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

from obliv._util.rationals import boolean
from obliv.errors import RoutingError
from obliv.loads.programs import ANYWHERE, TO_DESTINATION, TO_INTERMEDIATE, Phase, Program
from obliv.routings.cartesian.dimension_ordered import ProgramRouting, require_grid
from obliv.specs.registry import register_routing
from obliv.topologies.base import Topology

__all__ = ["I2TURN", "IVAL", "U2TURN", "U2TURNA", "XYX", "YXY"]

Order = tuple[int, ...]


@register_routing("xyx")
class XYX(ProgramRouting):
    """X to a uniformly random column, Y, then X; directly in X where source and destination share a row.

    Notes
    -----
    Every segment is minimal (U2TURN paper, section III-A); two dimensions.

    Examples
    --------
    >>> import obliv
    >>> obliv.worst_case(obliv.XYX(obliv.mesh(4, 8))).channel_load
    Fraction(4, 1)
    """

    def __init__(self, topology: Topology) -> None:
        _require_plane(topology, "xyx")
        super().__init__(topology, _there_and_back((0, 1), Fraction(1)), "xyx")


@register_routing("yxy")
class YXY(ProgramRouting):
    """Y to a uniformly random row, X, then Y; directly in Y where source and destination share a column.

    Examples
    --------
    >>> import obliv
    >>> obliv.worst_case(obliv.YXY(obliv.mesh(8, 4))).channel_load
    Fraction(4, 1)
    """

    def __init__(self, topology: Topology) -> None:
        _require_plane(topology, "yxy")
        super().__init__(topology, _there_and_back((1, 0), Fraction(1)), "yxy")


@register_routing("u2turn")
class U2TURN(ProgramRouting):
    """U2TURN: XYX or YXY, 1/2 each; on kx > ky YXY only, on kx < ky XYX only.

    Parameters
    ----------
    topology : Cartesian
    shortcut : bool
        Whether a packet goes directly where only its first dimension differs (the paper's degenerate case); without, it
        goes by a random coordinate there too, and back over the same links.

    Notes
    -----
    In other than two dimensions: draw an order of the dimensions uniformly, go in its first to a uniformly random
    coordinate, in order through the others, and back in the first; directly where no other dimension differs.

    Examples
    --------
    >>> import obliv
    >>> obliv.worst_case(obliv.U2TURN(obliv.mesh(8, 8))).channel_load
    Fraction(4, 1)
    >>> [obliv.throughput(obliv.U2TURN(obliv.mesh(3, 3), shortcut), "uniform").patterns[0].fraction_of_capacity
    ...  for shortcut in (True, False)]
    [Fraction(3, 4), Fraction(18, 25)]
    """

    def __init__(self, topology: Topology, shortcut: bool = True) -> None:
        shortcut = boolean(shortcut, "shortcut")
        spec = "u2turn" if shortcut else "u2turn:shortcut=no"
        orders = _orders(topology, spec)
        if len(orders) == 2:
            kx, ky = topology.radices
            if kx != ky:
                orders = [(1, 0)] if kx > ky else [(0, 1)]
        share = Fraction(1, len(orders))
        programs = tuple(p for order in orders for p in _there_and_back(order, share, shortcut))
        super().__init__(topology, programs, spec)


@register_routing("u2turn-a", example="u2turn-a:p=1/3")
class U2TURNA(ProgramRouting):
    """U2TURN-A: XYX with probability p (default 1/2), otherwise YXY, on every shape.

    Parameters
    ----------
    topology : Cartesian
    p : Fraction
        Share of XYX, from 0 to 1; two dimensions.

    Examples
    --------
    >>> import obliv
    >>> obliv.worst_case(obliv.U2TURNA(obliv.mesh(8, 8))).channel_load
    Fraction(4, 1)
    """

    def __init__(self, topology: Topology, p: Fraction = Fraction(1, 2)) -> None:
        spec = "u2turn-a" if p == Fraction(1, 2) else f"u2turn-a:p={p}"
        if not 0 <= p <= 1:
            raise RoutingError(f"{spec}: p is a probability, from 0 to 1")
        orders = _orders(topology, spec)
        shares = [Fraction(1, len(orders))] * len(orders)
        if p != Fraction(1, 2):
            _require_plane(topology, spec)
            shares = [p, 1 - p]
        programs = [
            program
            for order, share in zip(orders, shares, strict=True)
            if share
            for program in _there_and_back(order, share)
        ]
        super().__init__(topology, tuple(programs), spec)


@register_routing("ival")
class IVAL(ProgramRouting):
    """IVAL: Valiant with the dimensions of the second phase in reverse order and loops removed.

    Notes
    -----
    Orders are drawn uniformly.  The path crosses the last dimension of an order in which source and destination differ
    once, round a ring upwards over D links with probability (k - D)/k. In the dimensions before it, it goes to their
    intermediate coordinates first and returns in reverse order; in those after it, it does not move.

    Examples
    --------
    >>> import obliv
    >>> obliv.worst_case(obliv.IVAL(obliv.torus(8, 8))).channel_load
    Fraction(2, 1)
    """

    def __init__(self, topology: Topology) -> None:
        orders = _orders(topology, "ival")
        share = Fraction(1, len(orders))
        super().__init__(topology, tuple(p for order in orders for p in _without_loops(order, share)), "ival")


@register_routing("i2turn")
class I2TURN(ProgramRouting):
    """I2TURN: XYX or YXY, 1/2 each; the middle segment takes D links of a ring of k with probability (k - D)/k.

    Notes
    -----
    Its path distributions are those of IVAL in two dimensions.

    Examples
    --------
    >>> import obliv
    >>> obliv.worst_case(obliv.I2TURN(obliv.torus(8, 8))).channel_load
    Fraction(2, 1)
    """

    def __init__(self, topology: Topology) -> None:
        _require_plane(topology, "i2turn")
        programs = tuple(p for order in _orders(topology, "i2turn") for p in _without_loops(order, Fraction(1, 2)))
        super().__init__(topology, programs, "i2turn")


def _orders(topology: Topology, spec: str) -> list[Order]:
    """Return all orders of the dimensions."""
    return list(permutations(range(len(require_grid(topology, spec).axes))))


def _there_and_back(order: Order, share: Fraction, shortcut: bool = True) -> tuple[Program, ...]:
    """Return programs by the first of the other dimensions that differs: out in `order[0]`, the others, and back."""
    first, others = order[0], order[1:]
    out, rest = Phase(TO_INTERMEDIATE, ((first,),)), Phase(TO_DESTINATION, ((*others, first),))
    deciding = others if shortcut else (*others, first)
    programs = [
        Program(share, (out, rest), ANYWHERE, (*((y, False) for y in deciding[:at]), (x, True)))
        for at, x in enumerate(deciding)
    ]
    direct = Program(share, (Phase(TO_DESTINATION, ((first,),)),), ANYWHERE, tuple((y, False) for y in deciding))
    return (*programs, direct)


def _without_loops(order: Order, share: Fraction) -> tuple[Program, ...]:
    """Return programs by the last dimension that differs: Valiant in an order, then in reverse, without loops."""
    programs = []
    for at, x in enumerate(order):
        before, after = order[:at], order[at + 1 :]
        phases = [Phase(TO_INTERMEDIATE, (before,))] if before else []
        phases.append(Phase(TO_DESTINATION, ((x, *reversed(before)),)))
        when = ((x, True), *((y, False) for y in after))
        programs.append(Program(share, tuple(phases), ANYWHERE, when, (x,)))
    nowhere = Program(share, (), ANYWHERE, tuple((x, False) for x in order))
    return (*programs, nowhere)


def _require_plane(topology: Topology, spec: str) -> None:
    dimensions = len(require_grid(topology, spec).axes)
    if dimensions != 2:
        raise RoutingError(f"{spec} needs two dimensions, {topology.spec} has {dimensions}; u2turn fits any")
