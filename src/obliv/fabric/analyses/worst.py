"""The worst case of forwarding tables, with hosts and cables by name."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from fractions import Fraction

from obliv._util.progress import Progress
from obliv.analysis.worst_case.exact import solved_worst_case
from obliv.errors import InputError
from obliv.fabric.analyses.many import require_count
from obliv.fabric.arguments import typed
from obliv.fabric.routes.loads import FabricLoads
from obliv.fabric.routes.routing import FabricRouting
from obliv.results.fabric.worst import FabricWorst, HotCable
from obliv.results.numbers import bounded

__all__ = ["hottest_cables", "worst"]

_EFFORT = 4  # channels solved per listed cable, whatever time they take
_SECONDS = 3.0  # in which others are solved, too, by an estimate of their work


@typed
def worst(
    routing: FabricRouting,
    *,
    hottest: int = 10,
    certificate: bool = False,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> FabricWorst:
    """Return the exact worst case of forwarding tables on their fabric.

    Parameters
    ----------
    routing : FabricRouting
        See :func:`obliv.fabric.routing`.
    hottest : int
        Number of cables to rank.
    certificate : bool
        Whether to keep what proves the claim.
    executor : concurrent.futures.Executor, optional
        As for :func:`obliv.worst_case`.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    FabricWorst
        Exact; see :func:`obliv.worst_case`.

    Raises
    ------
    RoutingError
        If packets of a pair do not arrive, unless the routing leaves out such pairs.
    InputError
        If links differ in speed by ratios too fine for 64 bits.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate.from_topology import from_routing
    >>> result = worst(from_routing(obliv.routing("dmodk", obliv.topology("fattree:4,2"))))
    >>> result.channel_load, next(result.pairs())
    (Fraction(2, 1), ('host(0,0)', 'host(1,0)'))
    """
    require_count(hottest)
    result, search = solved_worst_case(routing, certificate=certificate, executor=executor, progress=progress)
    topology, loads = routing.topology, routing.fabric_loads
    channel, names = result.channel, result.names
    if channel is not None:
        slot, peer = topology.slots_of(channel.id)
        names = topology.port_name(slot), topology.port_name(peer)
    return FabricWorst(
        topology=result.topology,
        routing=result.routing,
        provenance=result.provenance,
        subject=result.subject,
        channel_load=result.channel_load,
        capacity=result.capacity,
        rated=result.rated,
        channel=channel,
        names=names,
        permutation=result.permutation,
        traffic=result.traffic,
        focus_channels=result.focus_channels,
        certificate=result.certificate,
        terminal_names=tuple(topology.labels[node] for node in topology.terminals.tolist()),
        crossing=result.crossing,
        hottest=() if channel is None else hottest_cables(loads, hottest, search.optima, channel.id),
        skipped=routing.skipped if routing.skip else 0,
        notes=topology.notes + routing.notes,
    )


def hottest_cables(
    loads: FabricLoads, count: int = 10, optima: Mapping[int, int] | None = None, worst: int | None = None
) -> tuple[HotCable, ...]:
    """Rank the cables by the load that admissible traffic can put on them.

    Parameters
    ----------
    loads : FabricLoads
    count : int
    optima : mapping of int to int, optional
        Channels that are solved already, with their optima in units of the numerators times the rates' scale.
    worst : int, optional
        The worst channel, if it is known: it is the first, and its load bounds the others'.

    Returns
    -------
    tuple of HotCable
        Those with equal loads first by their load under uniform traffic, then cables between switches first. Cables
        that would take too long to solve have bounds.

    Raises
    ------
    InputError
        If links differ in speed by ratios too fine for 64 bits.
    """
    topology = loads.topology
    rates, optima = loads.rates, optima or {}
    bounds = loads.bounds(rates.supply, rates.demand)
    if bounds is None:
        raise InputError("the rates of these links are too fine for 64 bits: cables cannot be ranked")
    unit = Fraction(1, loads.denominator * rates.scale)
    speeds = topology.bandwidth or (Fraction(1),) * topology.channels
    terminals = len(topology.terminals)
    upper = [int(bound) / speed for bound, speed in zip(bounds, speeds, strict=True)]
    even = [int(total) / speed for total, speed in zip(loads.uniform(rates.supply), speeds, strict=True)]
    solved: dict[int, Fraction] = {}

    def load_of(c: int) -> Fraction:
        return (optima[c] if c in optima else loads.solve(c, rates).value) / speeds[c]

    if worst is not None:
        solved[worst] = load_of(worst)
        upper = [min(bound, solved[worst]) for bound in upper]

    def place(c: int, load: Fraction) -> tuple[object, ...]:
        return -load, c != worst, -even[c], bool(topology.at_host[c]), c

    order = sorted(range(topology.channels), key=lambda c: place(c, upper[c]))
    each = 2e-4 + 1e-9 * terminals**2  # seconds at most, measured
    for c in order[: max(_EFFORT * count, int(_SECONDS / each))]:
        if len(solved) >= count and sorted(solved.values(), reverse=True)[count - 1] >= upper[c]:
            break
        if c not in solved:
            solved[c] = load_of(c)
    known = {c: solved.get(c, upper[c]) for c in order[: len(solved) + count]}
    ranked = sorted(known, key=lambda c: place(c, known[c]))[:count]
    cables = []
    for c in ranked:
        lower = solved.get(c, even[c] / terminals if rates.unit else Fraction(0))
        cables.append(
            HotCable(
                **vars(topology.cable(c)),
                load=bounded(lower * unit, known[c] * unit),
                uniform=even[c] * unit / terminals,
            )
        )
    return tuple(cables)
