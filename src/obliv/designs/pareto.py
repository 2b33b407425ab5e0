"""The curve of locality and throughput: the least worst case for every limit of the hops."""

from __future__ import annotations

import time
from fractions import Fraction

from obliv._util.progress import Progress, rising, within
from obliv._util.rationals import boolean, integer
from obliv.designs.optimize import design
from obliv.designs.states import feasible_states
from obliv.errors import InputError
from obliv.results import Pareto, provenance
from obliv.results.designs.pareto import ParetoPoint
from obliv.results.numbers import Bounds
from obliv.topologies.base import Topology
from obliv.topologies.make import topology as topology_of

__all__ = ["pareto"]


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
