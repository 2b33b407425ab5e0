"""Known routings that may attain a lower bound of any routing: then no linear program is needed."""

from __future__ import annotations

from fractions import Fraction

from obliv._util.progress import Progress
from obliv.analysis.worst_case.exact import worst_load
from obliv.routings.base import Routing
from obliv.routings.make import routing
from obliv.topologies.base import Topology
from obliv.topologies.trees import Tree

__all__ = ["best_known"]


def best_known(topology: Topology, progress: Progress) -> tuple[Routing, Fraction] | None:
    """Return the known routing with the least worst case on a network of a family, and that worst case, exactly.

    On meshes, tori and hypercubes Valiant's, on meshes of two dimensions also U2TURN, on trees ECMP. None for other
    networks.

    Examples
    --------
    >>> import obliv
    >>> from obliv._util.progress import silent
    >>> best_known(obliv.mesh(7, 6), silent), best_known(obliv.complete(4), silent)
    ((<Routing u2turn on mesh:7x6>, Fraction(3, 1)), None)
    """
    best: tuple[Routing, Fraction] | None = None
    for spec in _specs(topology):
        progress(f"the worst case of {spec}", 0.0)
        known = routing(spec, topology)
        load = worst_load(known.pair_loads(), progress=progress)
        if best is None or load < best[1]:
            best = known, load
    return best


def _specs(topology: Topology) -> tuple[str, ...]:
    """Return the routings to try, those that are checked fastest first."""
    if not topology.unit_rates:
        return ()
    if isinstance(topology, Tree):
        return ("ecmp",)
    kinds = [axis.kind for axis in topology.axes]
    if not kinds or not topology.all_terminals or not set(kinds) <= {"line", "ring"}:
        return ()
    return ("valiant", "u2turn") if kinds == ["line", "line"] else ("valiant",)
