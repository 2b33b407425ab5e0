"""What a page shows of a topology, a routing or a result: the network, its loads and its worst case."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from obliv.checker.designs import worst_case_of
from obliv.errors import InputError
from obliv.loads.base import PairLoads
from obliv.results import Design, Estimate, Ratio, Result, Throughput, WorstCase
from obliv.routings.base import Routing
from obliv.routings.make import routing as routing_of
from obliv.topologies.base import Topology
from obliv.topologies.make import topology as topology_of
from obliv.view.interactive.drawing import require_drawable
from obliv.view.network.witness import Witness, witness

__all__ = ["Limits", "Shown", "Subject", "shown_of"]

Subject = Topology | Routing | PairLoads | Result


@dataclass(frozen=True)
class Limits:
    """What a network may take in a page.

    Parameters
    ----------
    room : int
        Characters of the loads of pairs.
    seconds : float
        For computing these loads.
    solved : int
        Terminals times channels up to which loads and a worst case are computed for a routing that comes without them.
    channels : int
        Channels, and nodes, that are drawn.
    """

    room: int = 1_000_000
    seconds: float = 20.0
    solved: int = 300_000
    channels: int = 20_000


@dataclass(frozen=True)
class Shown:
    """What is shown: a network, and what is known about loads on it."""

    topology: Topology
    routing: Routing | None = None
    loads: PairLoads | None = None
    result: WorstCase | Ratio | None = None
    witness: Witness | None = None
    traffics: tuple[str, ...] = ()
    missing: str = "there is no routing"  #: Why there are no loads.

    @property
    def exact(self) -> bool:
        """Whether there are loads, and none of them is an estimate."""
        return self.loads is not None and self.loads.samples is None


def shown_of(subject: Any, limits: Limits) -> Shown:
    """Return what is to be shown; a small routing gets its worst case."""
    if isinstance(subject, Topology):
        return Shown(subject)
    if isinstance(subject, WorstCase) and subject.channel is not None:
        return _of_result(subject, limits)
    if isinstance(subject, Ratio) and subject.channel is not None and subject.permutation:
        return _of_ratio(subject, limits)
    if isinstance(subject, Result):
        traffics = tuple(row.traffic for row in subject.patterns) if isinstance(subject, Throughput) else ()
        return replace(shown_of(_subject_of(subject), limits), traffics=traffics)
    if isinstance(subject, PairLoads):
        return Shown(subject.topology, None, subject)
    if not isinstance(subject, Routing):
        raise InputError(f"a page shows a topology, a routing, loads or a result, not {type(subject).__name__}")
    require_drawable(subject.topology, limits.channels)
    if not _solvable(subject.topology, limits):
        return Shown(subject.topology, subject, missing="loads are not computed for a network of this size")
    loaded = Shown(subject.topology, subject, subject.pair_loads())
    result = _worst_case(subject)
    return loaded if result.channel is None else replace(loaded, result=result, witness=witness(result))


def _subject_of(result: Result) -> Any:
    """Return what a result is about; built from its specs where the result was loaded."""
    if result.subject is not None:
        return result.subject
    if isinstance(result, Design) and result.certificate is not None:
        return worst_case_of(result.to_dict(), topology_of(result.topology))[2]
    if not result.routing:
        return topology_of(result.topology)
    return routing_of(result.routing, result.topology)


def _of_result(result: WorstCase, limits: Limits) -> Shown:
    """Return a worst case with its certificate, which is computed where it is missing and that is quick."""
    if isinstance(result.subject, Routing | PairLoads):
        require_drawable(result.subject.topology, limits.channels)
    seen = witness(result)
    missing = result.certificate is None and not isinstance(result.channel_load, Estimate)
    if missing and seen.routing is not None and _solvable(seen.topology, limits):
        found = _worst_case(seen.routing)
        if found.channel_load == result.channel_load:
            return Shown(seen.topology, seen.routing, seen.loads, found, witness(found))
    return Shown(seen.topology, seen.routing, seen.loads, result, seen)


def _of_ratio(result: Ratio, limits: Limits) -> Shown:
    """Return a ratio on a fat tree, which is the largest load, since the best routing loads no link above 1."""
    routing = _subject_of(result)
    if result.certificate is None and isinstance(routing, Routing) and _solvable(routing.topology, limits):
        from obliv.designs.ratios.oblivious import ratio

        result = ratio(routing, certificate=True)
    case = WorstCase(result.topology, result.routing, subject=routing, channel_load=result.lower)
    seen = witness(replace(case, channel=result.channel, permutation=result.permutation))
    return Shown(seen.topology, seen.routing, seen.loads, result, seen)


def _worst_case(routing: Routing) -> WorstCase:
    from obliv.analysis.worst_case.exact import worst_case

    return worst_case(routing, certificate=True)


def _solvable(topology: Topology, limits: Limits) -> bool:
    return len(topology.terminals) * topology.channels <= limits.solved
