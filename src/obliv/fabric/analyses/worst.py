"""The worst case of forwarding tables by names of hosts and cables, their ratio on fat trees, and patterns and jobs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import fields
from fractions import Fraction

import numpy as np

from obliv._util.progress import Progress
from obliv._util.text import plural
from obliv.errors import InputError
from obliv.fabric.analyses.permutations import provenance_of, require_count
from obliv.fabric.model import typed
from obliv.fabric.results.worst import BusyCable, FabricPattern, FabricThroughput, FabricWorst, HotCable
from obliv.fabric.routes.routing import FabricLoads, FabricRouting, slowed
from obliv.fabric.shape import recognise
from obliv.fabric.topology import FabricTopology
from obliv.patterns.base import Traffic
from obliv.patterns.base import traffic as traffic_of
from obliv.questions.ratio import Ratio, require_base_load
from obliv.questions.throughput import throughput as analysed
from obliv.questions.worst_case import WorstCase, solved_worst_case, worst_case
from obliv.results.numbers import bounded, known
from obliv.topologies.trees import Tree, bound_of

_EFFORT = 4  # channels solved per listed cable, whatever time they take
_ENTRIES = 3e9  # of matrices, to which others are solved, too; each channel counts _CHANNEL more
_CHANNEL = 2e5


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
    >>> from obliv.fabric.generate import from_routing
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
    kept = {field.name: getattr(result, field.name) for field in fields(WorstCase) if field.init}
    kept |= {"names": names, "terminal_names": tuple(topology.labels[v] for v in topology.terminals.tolist())}
    return FabricWorst(
        **kept,
        hottest=() if channel is None else hottest_cables(loads, hottest, search.optima, channel.id),
        skipped=routing.skipped if routing.skip else 0,
        notes=topology.notes + routing.notes,
    )


def hottest_cables(
    loads: FabricLoads, count: int = 10, optima: Mapping[int, int] | None = None, worst: int | None = None
) -> tuple[HotCable, ...]:
    """Rank the cables by the load that admissible traffic can put on them."""
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
    for c in order[: max(_EFFORT * count, int(_ENTRIES / (_CHANNEL + terminals**2)))]:
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


# The oblivious performance ratio of forwarding tables, on fabrics that are complete fat trees


_INSTEAD = "use obliv.ratio, which solves linear programs"


def has_closed_form(topology: FabricTopology) -> bool:
    """Return whether the best routing of every traffic on a fabric is known, so that :func:`ratio` is defined."""
    try:
        _known_tree(topology)
    except InputError:
        return False
    return True


@typed
def ratio(routing: FabricRouting, *, progress: Progress | None = None) -> Ratio:
    """Return how much more tables load a cable than the best routing of the same traffic, at most over all traffic.

    Parameters
    ----------
    routing : FabricRouting
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Ratio
        Exact.

    Raises
    ------
    InputError
        If the best routing of every traffic is not known: the fabric is not a fat tree, or it is tapered or has cables
        that are missing, parallel or of unequal speeds. :func:`obliv.ratio` then solves linear programs.

    Notes
    -----
    On a fat tree whose best routing carries every traffic at its base load, the ratio is the worst case; see
    :func:`obliv.ratio`.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate import from_routing
    >>> int(ratio(from_routing(obliv.routing("osrm3-d", obliv.topology("fattree:8,3")))).ratio)
    4
    """
    began = time.perf_counter()
    topology = routing.topology
    name, tree = _known_tree(topology)
    worst = worst_case(routing, progress=progress)
    single = routing.routes.denominator == 1
    bound = bound_of(tree) if single and _climbs(routing, tree) else None
    ends = (worst.channel.tail, worst.channel.head) if worst.channel else ()
    names = tuple(topology.name_of(node) for node in ends) or ("", "")
    return Ratio(
        topology=topology.spec,
        routing=routing.spec,
        provenance=provenance_of(routing, began),
        subject=routing,
        ratio=known(worst.channel_load),
        channel=worst.channel,
        permutation=worst.permutation or (),
        lower_bound=None if bound is None else bound[0],
        lower_bound_source=bound[1] if bound is not None else f"no bound is known for these paths on {name}",
        names=(names[0], names[1]),
    )


def _known_tree(topology: FabricTopology) -> tuple[str, Tree]:
    """Return the fat tree that a fabric is, by name; InputError where its best routing is not known."""
    shape = recognise(topology.fabric)
    if shape is None or not shape.complete:
        what = "is not a fat tree" if shape is None else f"is not a complete {shape.name}"
        raise InputError(
            f"{topology.fabric.name} {what}, so the best routing of every traffic is not known; {_INSTEAD}"
        )
    if topology.bandwidth or not topology.unit_rates:
        raise InputError(
            f"{topology.fabric.name} has cables of unequal speeds, so the best routing is not known; {_INSTEAD}"
        )
    return shape.name, require_base_load(shape.tree)


def _climbs(routing: FabricRouting, tree: Tree) -> bool:
    """Return whether all paths are shortest, so that they go up and then down."""
    hosts = tree.below[-1]
    least = 2 * hosts * sum(hosts - below for below in tree.below[:-1])
    return int(routing.fabric_loads.totals().sum()) == least


# Patterns and jobs on a fabric: their ideal throughput, and the cables that they load most


@typed
def throughput(
    routing: FabricRouting, *traffic: str | Traffic, hottest: int = 3, progress: Progress | None = None
) -> FabricThroughput:
    """Return the ideal throughput of forwarding tables under patterns and jobs, and the cables that these load most.

    Parameters
    ----------
    routing : FabricRouting
    *traffic : Traffic or str
        Patterns, or their specs; one that is given twice has one row. Where links of hosts differ, a pair sends its
        share of what the slower of its two ends can.
    hottest : int
        Number of cables to name for each; of equal ones first those between switches.
    progress : callable, optional
        Called with what is being done and the share that is done, from 0 to 1.

    Returns
    -------
    FabricThroughput
        Exact; see :func:`obliv.throughput`.

    Raises
    ------
    TrafficError
        If a pattern does not fit the fabric.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate import from_routing
    >>> throughput(from_routing(obliv.routing("dmodk", obliv.topology("fattree:4,2"))), "shift:2", hottest=1)
    throughput: lft:dmodk on fabric:fattree:4,2
      shift:2  load 1, throughput 1, of capacity 7/8 = 0.875
               mean hops 4
               1   switch((0),1) port 3 -> switch((0),0) port 1   1 pair
    """
    require_count(hottest)
    topology = routing.topology
    patterns = list(dict.fromkeys(traffic_of(pattern, topology) for pattern in traffic))  # each once
    flows = [slowed(pattern, topology) for pattern in patterns]
    plain = analysed(routing, *flows, progress=progress)
    notes = tuple(dict.fromkeys((*topology.notes, *(note for pattern in patterns for note in pattern.notes))))
    if not topology.unit_rates:
        notes = (*notes, "links of hosts differ: a pair sends its share of what the slower of its two ends can")
    if routing.partial:
        notes = (*notes, f"{plural(routing.skipped, 'pair')} whose packets do not arrive are left out")
    return FabricThroughput(
        topology=plain.topology,
        routing=plain.routing,
        provenance=plain.provenance,
        subject=plain.subject,
        capacity=plain.capacity,
        patterns=tuple(
            FabricPattern(**vars(row), hottest=_busiest(routing, flow, hottest))
            for row, flow in zip(plain.patterns, flows, strict=True)
        ),
        notes=notes,
    )


def _busiest(routing: FabricRouting, traffic: Traffic, count: int) -> tuple[BusyCable, ...]:
    """Return the cables that a traffic loads most, the most loaded first."""
    topology, loads = routing.topology, routing.fabric_loads
    under = loads.under(traffic)
    cables = []
    for c in sorted(range(len(under)), key=lambda c: (-under[c], bool(topology.at_host[c]), c))[:count]:
        if not under[c]:
            break
        crossing = loads.on_channel(c).tocoo()
        pairs = crossing.nnz
        if not traffic.uniform:
            sent = traffic.source.astype(np.int64) * traffic.terminals + traffic.destination
            pairs = int(np.isin(sent, crossing.row.astype(np.int64) * traffic.terminals + crossing.col).sum())
        cables.append(
            BusyCable(
                **vars(topology.cable(c)),
                load=under[c],
                pairs=pairs,
            )
        )
    return tuple(cables)
