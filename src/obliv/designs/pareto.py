"""The curve of locality and throughput (the least worst case for every limit of the hops), and the routing 2TURN."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from obliv._util.progress import Progress, rising, within
from obliv._util.rationals import boolean, integer
from obliv.designs.bounds.congestion import require_connected
from obliv.designs.optimize import design
from obliv.designs.programme import feasible_states
from obliv.designs.solver import require_solver
from obliv.errors import InputError, RoutingError
from obliv.results.base import CERTIFICATE, NO_CAPACITY, Curve, Lines, Result, provenance, unit_of
from obliv.results.codec import Record, derived, entry
from obliv.results.numbers import Bounds, short
from obliv.routings.listed import Listed
from obliv.specs.registry import register_routing
from obliv.topologies.base import Topology
from obliv.topologies.make import topology as topology_of

# The result of designs with more and more hops: the curve that no routing can cross


@dataclass(frozen=True)
class ParetoPoint(Record):
    """The least worst case of the routings with at most so many mean hops.

    Parameters
    ----------
    hops : Fraction
        The limit.
    times_minimal : Fraction
        The limit over the mean hops of shortest paths.
    channel_load : Fraction or Bounds
        The least worst-case load, or the proved bound and the load of a routing.
    fraction_of_capacity : Fraction, Bounds or None
    """

    hops: Fraction = entry(column="hops")
    times_minimal: Fraction = entry(column="times_minimal")
    channel_load: Fraction | Bounds = entry(column="channel_load")
    fraction_of_capacity: Fraction | Bounds | None = entry(None, column="fraction_of_capacity", reason=NO_CAPACITY)

    @property
    def guarantee(self) -> Fraction:
        """The throughput that a routing attains."""
        return 1 / (self.channel_load.upper if isinstance(self.channel_load, Bounds) else self.channel_load)


@dataclass(frozen=True, repr=False)
class Pareto(Result):
    """The least worst case for every limit of the mean hops, at some points of the curve.

    Every point was designed and its bound proved, see :class:`obliv.Design`. As channel load over hops the curve is
    convex, since a mix of two routings has at most the mix of their loads and hops.

    Examples
    --------
    >>> import obliv
    >>> obliv.pareto("mesh:3x3", 3)
    pareto: least worst case over hops on mesh:3x3
      hops 16/9 = 1.778   load 3/2 = 1.5, of capacity 4/9 = 0.4444
      hops 56/27 = 2.074  load 52/41 = 1.268, of capacity 41/78 = 0.5256
      hops 64/27 = 2.37   load 7/6 = 1.167, of capacity 4/7 = 0.5714
    """

    kind: ClassVar[str] = "pareto"
    table: ClassVar[str] = "points"

    constraints: tuple[str, ...] = ()
    rated: bool = entry(False, omit=lambda result: not result.rated)
    points: tuple[ParetoPoint, ...] = ()
    certificate: dict[str, Any] | None = entry(
        None, codec=CERTIFICATE, omit=lambda curve: curve.certificate is None, compare=False, rank=2
    )

    @property
    @derived()
    def gap(self) -> Fraction:
        """The largest relative distance between a load and its proved bound."""
        loads = [point.channel_load for point in self.points]
        gaps = [load.upper / load.lower - 1 for load in loads if isinstance(load, Bounds)]
        return max(gaps, default=Fraction(0))

    def summary(self) -> list[tuple[str, str]]:
        rows = []
        for point in self.points:
            share = f", of capacity {short(point.fraction_of_capacity)}" if point.fraction_of_capacity else ""
            rows.append((f"hops {short(point.hops)}", f"load {short(point.channel_load)}{share}"))
        return rows

    def lines(self) -> Lines:
        """Return the guaranteed throughput over the mean hops; no routing lies above the curve."""
        if not self.points:
            raise InputError("this curve has no points: there is nothing to draw")
        hops = [float(point.times_minimal) for point in self.points]
        heights = [float(point.guarantee) for point in self.points]
        # between two designs their mixes: loads and hops are linear in the mix, throughput is 1 / load
        share = np.linspace(0, 1, 21)
        xs = np.concatenate([a + share * (b - a) for a, b in pairwise(hops)] or [np.array(hops)])
        ys = np.concatenate([1 / ((1 - share) / a + share / b) for a, b in pairwise(heights)] or [np.array(heights)])
        return Lines(
            [Curve("line", xs.tolist(), ys.tolist()), Curve("points", hops, heights)],
            "mean hops, as a multiple of the least",
            f"guaranteed throughput ({unit_of(self.rated)})",
            (5.2, 3.8),
            (min(0.98, hops[0] - 0.02), max(hops) + 0.05),
            (0.0, 1.15 * max(heights)),
            [", ".join(("Worst case and locality on {topology}", *self.constraints))],
        )

    @property
    def title(self) -> str:
        return ", ".join((f"pareto: least worst case over hops on {self.topology}", *self.constraints))


def pareto(
    topology: Topology | str,
    points: int = 9,
    *,
    max_turns: int | None = None,
    vc: int | None = None,
    gap: float = 1e-4,
    certificate: bool = False,
    progress: Progress | None = None,
) -> Pareto:
    """Design routings from the fewest hops to the least worst case, at equal distances of hops.

    Parameters
    ----------
    topology : Topology or str
    points : int
        At least 2.
    max_turns, vc : int, optional
        As for :func:`obliv.design`.
    gap : float
        As for :func:`obliv.design`.
    certificate : bool
        Whether to keep the designs of all points, which prove the curve.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Pareto
        Every point is designed, and its bound proved; the last one is the fewest hops of the least worst case.

    Examples
    --------
    >>> import obliv
    >>> curve = obliv.pareto("mesh:3x3", 3)
    >>> [str(point.channel_load) for point in curve.points]
    ['3/2', '52/41', '7/6']
    """
    certificate = boolean(certificate, "certificate")
    began = time.perf_counter()
    points = integer(points, "points")
    if points < 2:
        raise InputError(f"{points} points: a curve has at least 2")
    network, step = topology_of(topology), rising(progress)
    last = design(network, max_turns=max_turns, vc=vc, gap=gap, progress=within(step, 0.0, 1 / (points + 1)))
    first, rows = feasible_states(network, max_turns, vc)[0].least_hops, []
    designs = []
    for k in range(points):
        limit = first + (last.hops - first) * Fraction(k, points - 1)
        part = within(step, (k + 1) / (points + 1), (k + 2) / (points + 1))
        result = (
            last
            if k == points - 1
            else design(network, then=None, max_hops=limit, max_turns=max_turns, vc=vc, gap=gap, progress=part)
        )
        designs.append(result.to_dict() if certificate else {})
        rows.append(ParetoPoint(limit, limit / first, result.channel_load, result.fraction_of_capacity))
        if last.hops == first:
            break
    proved = not any(isinstance(row.channel_load, Bounds) for row in rows)
    return Pareto(
        topology=network.spec,
        routing="design",
        provenance=provenance(
            {"topology": network.spec},
            time.perf_counter() - began,
            "exact" if proved else "bounded",
            sources=network.sources,
        ),
        constraints=last.constraints,
        rated=not network.unit_rates,
        points=tuple(rows),
        certificate={"designs": designs} if certificate else None,
        subject=last.subject,
    )


# 2TURN: the best routing within two turns, designed when it is made


@register_routing("2turn", example="2turn")
class TwoTurn(Listed):
    """2TURN: the least worst case within two turns, then the fewest hops (a design, which needs highspy).

    On meshes and tori of up to three dimensions. The linear program is solved when the routing is made; a torus of
    12 × 12 takes two seconds. Its worst case is within 10^-4 of the optimum within two turns, and exactly the optimum
    on small networks; ``obliv design TOPOLOGY --max-turns 2`` proves it. Another release of the solver may return other
    paths that are as good.

    Raises
    ------
    InputError
        If some nodes cannot be reached within two turns.
    MissingExtraError
        If the solver (highspy) is not installed.

    References
    ----------
    [TDB03] B. Towles, W. J. Dally, S. Boyd, "Throughput-centric routing algorithm design", SPAA 2003.

    Examples
    --------
    >>> import obliv
    >>> routing = obliv.routing("2turn", obliv.torus(5, 5))
    >>> obliv.worst_case(routing).fraction_of_capacity, obliv.locality(routing).hops
    (Fraction(1, 2), Fraction(2368, 625))
    """

    @staticmethod
    def fits(topology: Topology) -> None:
        """Raise an error where the routing cannot be made, as far as that shows before it is designed."""
        require_connected(topology)
        try:
            feasible_states(topology, 2)
        except InputError as error:
            raise RoutingError(f"2turn does not fit {topology.spec}: {error}") from None
        require_solver()

    def __init__(self, topology: Topology, spec: str = "2turn") -> None:
        super().__init__(topology, spec, design(topology, max_turns=2).subject.listed)
