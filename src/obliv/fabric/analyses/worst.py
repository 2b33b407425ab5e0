"""The worst case of forwarding tables, with hosts and cables by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from typing import Any

from obliv.analysis.worst_case.exact import worst_case
from obliv.errors import InputError
from obliv.fabric.routes.loads import FabricLoads
from obliv.fabric.routes.routing import FabricRouting
from obliv.fabric.topology import FabricTopology
from obliv.results.fabric import FabricWorst, HotCable
from obliv.results.numbers import bounded
from obliv.results.worst_case import WorstCase

__all__ = ["hottest_cables", "worst"]

_EFFORT = 4  # channels that are solved for each one that is listed


def worst(
    routing: FabricRouting,
    *,
    hottest: int = 10,
    certificate: bool = False,
    progress: Callable[[str, float], None] | None = None,
) -> FabricWorst:
    """The exact worst case of forwarding tables on their fabric.

    Parameters
    ----------
    routing : FabricRouting
        See :func:`obliv.fabric.routing`.
    hottest : int
        How many cables to rank.
    certificate : bool
        Whether to keep what proves the claim.
    progress : callable, optional

    Returns
    -------
    FabricWorst

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate.from_topology import from_routing
    >>> result = worst(from_routing(obliv.routing("dmodk", obliv.topology("fattree:4,2"))))
    >>> result.channel_load, next(result.pairs())
    (Fraction(2, 1), ('host(0,0)', 'host(1,0)'))
    """
    skipped = routing.skipped if routing.skip else 0
    result = worst_case(routing, certificate=certificate, progress=progress)
    topology = routing.topology
    loads = routing.pair_loads()
    assert isinstance(loads, FabricLoads)
    names = result.names
    if result.channel:
        names = _ends(topology, result.channel.id)
    kept = {each.name: getattr(result, each.name) for each in fields(WorstCase) if each.init}
    kept["names"] = names
    return FabricWorst(
        **kept,
        terminal_names=tuple(topology.labels[v] for v in topology.terminals.tolist()),
        crossing=_crossing(routing, result),
        hottest=hottest_cables(loads, hottest) if result.channel else (),
        skipped=skipped,
        notes=topology.notes,
    )


def hottest_cables(loads: FabricLoads, count: int = 10) -> tuple[HotCable, ...]:
    """The cables that admissible traffic can load most, ranked; those that took too long to solve with bounds.

    Parameters
    ----------
    loads : FabricLoads
    count : int

    Returns
    -------
    tuple of HotCable
        Of equal ones those first that uniform traffic loads more, then cables between switches.
    """
    topology = loads.topology
    rates = loads.rates
    bounds = loads.bounds(rates.supply, rates.demand)
    if bounds is None:
        raise InputError("the rates of these links are too fine for 64 bits: cables cannot be ranked")
    unit = Fraction(1, loads.denominator * rates.scale)
    speeds = topology.bandwidth or (Fraction(1),) * topology.channels
    share = loads.uniform(rates.supply)
    ends = len(topology.terminals)
    own = (topology.tail < topology.hosts) | (topology.head < topology.hosts)
    upper = [int(bound) / speed for bound, speed in zip(bounds, speeds, strict=True)]
    even = [int(each) / speed for each, speed in zip(share, speeds, strict=True)]
    order = sorted(range(topology.channels), key=lambda c: (-upper[c], -even[c], bool(own[c]), c))
    solved: dict[int, Any] = {}
    for c in order[: _EFFORT * count]:
        if len(solved) >= count and sorted(solved.values(), reverse=True)[count - 1] >= upper[c]:
            break
        solved[c] = loads.solve(c, rates).value / speeds[c]
    known = {c: solved.get(c, upper[c]) for c in order[: len(solved) + count]}
    ranked = sorted(known, key=lambda c: (-known[c], -even[c], bool(own[c]), c))[:count]
    fabric = topology.fabric
    made = []
    for c in ranked:
        slot = int(topology.slot_of[c])
        low = solved.get(c, even[c] / ends if rates.unit else 0)
        made.append(
            HotCable(
                c,
                topology.name_of(int(topology.tail[c])),
                fabric.port_of(slot),
                topology.name_of(int(topology.head[c])),
                fabric.port_of(int(fabric.peer[slot])),
                bounded(low * unit, known[c] * unit),
                even[c] * unit / ends,
            )
        )
    return tuple(made)


def _ends(topology: FabricTopology, channel: int) -> tuple[str, str]:
    slot = int(topology.slot_of[channel])
    return topology.port_name(slot), topology.port_name(int(topology.fabric.peer[slot]))


def _crossing(routing: FabricRouting, result: WorstCase) -> tuple[tuple[int, int], ...]:
    """The pairs of the worst traffic whose ways lead over the worst channel."""
    if not result.channel:
        return ()
    if result.traffic is not None:
        sent = [(s, d) for s, d, _ in result.traffic]
    else:
        sent = list(enumerate(result.permutation or ()))
    at = result.channel.id
    node = routing.topology.terminals.tolist()
    return tuple((s, d) for s, d in sent if any(at in channels for channels, _ in routing.paths(node[s], node[d])))
