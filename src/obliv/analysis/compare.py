"""Routings side by side, on one or several topologies."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from itertools import product
from typing import Any, Generic, TypeVar

from obliv._util.cost import Cost
from obliv._util.progress import Progress, rising, within
from obliv._util.rationals import boolean, integer
from obliv._util.rng import Rng, drawn_seed
from obliv.analysis.average.random_traffic import average_case
from obliv.analysis.deadlocks.search import deadlock as find_deadlock
from obliv.analysis.deadlocks.search import fewest_virtual_channels
from obliv.analysis.locality import minimal_hops, served_pairs
from obliv.analysis.subject import with_known_capacity
from obliv.analysis.throughput import pattern_throughput
from obliv.analysis.worst_case.exact import worst_load
from obliv.errors import InputError, Interrupted, RoutingError, TooLargeError, TrafficError
from obliv.loads.base import PairLoads
from obliv.patterns.base import Traffic
from obliv.patterns.make import traffic as traffic_of
from obliv.results import Estimate, provenance
from obliv.results.analysis.compare import UNITS, Comparison, Entry
from obliv.results.base import NOT_VERIFIED
from obliv.routings.base import Routing, RoutingLike
from obliv.routings.make import routing as routing_of
from obliv.topologies.base import Topology
from obliv.topologies.checks import require_pairs
from obliv.topologies.make import topology as topology_of

__all__ = ["compare"]

T = TypeVar("T", Routing, Traffic)


@dataclass(frozen=True)
class Misfit:
    """The error of what fits some topologies but not this one."""

    error: InputError


@dataclass(frozen=True)
class _Named(Generic[T]):
    """A routing or a pattern on every topology, or why it does not fit there."""

    name: str
    on: tuple[T | Misfit, ...]


#: A row of the table, or why there is none.
Cell = Entry | Misfit


def compare(
    topology: Topology | str | Iterable[Topology | str],
    *routings: str | RoutingLike | Callable[[Topology], Any],
    traffic: str | Traffic | Iterable[str | Traffic] = (),
    samples: int = 0,
    deadlock: bool = False,
    unit: str = "",
    rng: Rng = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare routings: worst case, average, traffic patterns and hops side by side.

    Parameters
    ----------
    topology : Topology, str, or several of them in a list
        The networks, or their specs.
    *routings : str, Routing, class or function that makes one, or several in a list
        Specs, classes and functions are used on every topology; a Routing has its own.
    traffic : str or Traffic, or several of them in a list
        Patterns, or their specs.
    samples : int
        How many random permutations to take for the average; 0 leaves it out. The same ones for all rows.
    deadlock : bool
        Whether to check for deadlocks, and to find the scheme with the fewest virtual channels; it can take longer
        than all the rest.
    unit : {"", "capacity", "throughput", "load"}
        What the table gives: fractions of capacity, throughputs or the largest channel loads. By default fractions of
        capacity, or throughputs where a capacity is not known or a terminal limits traffic that is not admissible.
    rng : numpy.random.Generator or int, optional
        Source of the seed of the average, or the seed itself; default 0.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Comparison
        One row a topology and routing; exact except for the average. What does not fit one of several topologies is
        left out there, with the reason.

    Raises
    ------
    RoutingError, TrafficError, TooLargeError
        If a routing or a pattern fits none of the topologies.
    InputError
        If no topology or no routing is given, the unit is unknown, or the average is asked of terminals with rates.

    Examples
    --------
    >>> import obliv
    >>> result = obliv.compare("mesh:5x5", "dor", "o1turn", "u2turn", traffic="transpose")
    >>> [str(row.of_capacity("worst")) for row in result.entries]
    ['3/10', '12/25', '6/11']
    """
    deadlock = boolean(deadlock, "deadlock")
    began = time.perf_counter()
    networks: list[Topology] = [topology_of(given) for given in _several(topology)]
    for network in networks:
        require_pairs(network)
    columns = [_on_all(_routing, given, networks) for part in routings for given in _several(part)]
    if not networks or not columns:
        raise InputError("compare needs a topology and a routing: compare('mesh:8x8', 'dor', 'o1turn')")
    if unit not in ("", *UNITS):
        raise InputError(f"unit {unit!r:.40} is unknown: choose {', '.join(UNITS)}")
    samples = integer(samples, "samples")
    if samples < 0 or samples == 1:
        raise InputError(f"{samples} samples: at least 2 are needed for a standard error, 0 leaves the average out")
    seed = drawn_seed(rng)
    patterns = [_on_all(traffic_of, given, networks) for given in _several(traffic)]
    cells: list[Cell] = []
    total = len(networks) * len(columns)
    try:
        for cell in _cells(networks, columns, patterns, samples, seed, deadlock, rising(progress)):
            cells.append(cell)
    except KeyboardInterrupt:
        if not cells:
            raise
    else:
        for k in range(len(columns)):
            _require_one(cells[k :: len(columns)])
    for network in networks if unit == "capacity" else ():
        if with_known_capacity(network).capacity is None:
            raise InputError(f"the capacity of {network.spec} is not known (see obliv.bounds): choose another unit")
    names, labels = [pattern.name for pattern in patterns], [column.name for column in columns]
    rows = zip(cells, product(networks, labels), strict=False)
    entries = [
        cell if isinstance(cell, Entry) else _empty(network, label, names, cell) for cell, (network, label) in rows
    ]
    cases = [*(x for column in columns for x in column.on), *(x for pattern in patterns for x in pattern.on)]
    used = [x for x in cases if not isinstance(x, Misfit)]
    specs = {"topology": [network.spec for network in networks], "routing": labels, "traffic": names}
    result = Comparison(
        topology=",".join(network.spec for network in networks),
        routing=",".join(labels),
        provenance=provenance(
            specs,
            time.perf_counter() - began,
            NOT_VERIFIED
            if any(x.declared for x in used if isinstance(x, Routing))
            else "exact but for the average"
            if samples
            else "exact",
            seed if samples else None,
            tuple(dict.fromkeys(source for x in (*networks, *used) for source in x.sources)),
        ),
        entries=tuple(entries),
        samples=samples,
        deadlocks=deadlock,
        unit=unit,
    )
    if len(cells) < total:
        raise Interrupted(f"after {len(cells)} of {total} rows; name the others to go on", result)
    return result


def _cells(
    networks: list[Topology],
    columns: list[_Named[Routing]],
    patterns: list[_Named[Traffic]],
    samples: int,
    seed: int,
    deadlock: bool,
    progress: Progress,
) -> Iterator[Cell]:
    """Yield the cells in order, topology by topology."""
    total = len(networks) * len(columns)
    for at, network in enumerate(networks):
        under = {pattern.name: pattern.on[at] for pattern in patterns}
        least = cache(partial(minimal_hops, network))
        for k, column in enumerate(columns):
            done = at * len(columns) + k
            part = within(_where(progress, f"{column.name} on {network.spec}"), done / total, (done + 1) / total)
            routing = column.on[at]
            if isinstance(routing, Misfit):
                yield routing
                continue
            try:
                row = _entry(routing, column.name, under, least, samples, seed, part)
                yield _with_deadlocks(row, routing, part) if deadlock else row
            except _MISFIT as error:
                yield Misfit(error)


def _entry(
    routing: Routing,
    label: str,
    under: dict[str, Traffic | Misfit],
    least: Callable[[], Fraction],
    samples: int,
    seed: int,
    progress: Progress,
) -> Entry:
    """Return one row; patterns that do not fit are noted with the reason."""
    network = routing.topology
    loads = routing.pair_loads(progress=within(progress, 0.0, 0.2))
    worst = worst_load(loads, progress=within(progress, 0.2, 0.7))
    average = None
    if samples and network.channels:
        average = average_case(loads, samples, seed, progress=within(progress, 0.7, 1.0)).throughput
    fitting = {name: flow for name, flow in under.items() if not isinstance(flow, Misfit)}
    carried = {name: pattern_throughput(routing, loads, flow) for name, flow in fitting.items()}
    hops = loads.hops()
    if routing.partial:  # the same packets in both means
        served = served_pairs(routing)
        hops, minimal = hops * len(network.terminals) ** 2 / served.pairs, served.minimal_hops
    else:
        minimal = least()
    return Entry(
        topology=network.spec,
        routing=label,
        capacity=with_known_capacity(network).capacity,
        worst=worst,
        average=average if isinstance(average, Estimate) else None,
        under={name: carried.get(name) for name in under},
        hops=hops,
        minimal_hops=minimal,
        skipped=routing.skipped if routing.partial else 0,
        rated=not network.unit_rates,
        reasons={name: str(flow.error) for name, flow in under.items() if isinstance(flow, Misfit)},
    )


def _with_deadlocks(row: Entry, routing: Routing, progress: Progress) -> Entry:
    """Return a row with the verdict on deadlocks and the scheme with the fewest virtual channels."""
    step = within(progress, 1.0, 1.0)  # after all else
    try:
        acyclic = find_deadlock(routing, progress=step).acyclic
        fewest = None if acyclic else fewest_virtual_channels(routing, progress=step)
    except _MISFIT as error:
        return replace(row, reasons=row.reasons | {"deadlock": str(error)})
    if fewest is None:
        return replace(row, acyclic=True, virtual_channels=1, scheme="none")
    return replace(row, acyclic=False, virtual_channels=fewest.fewest, scheme=fewest.best or "")


def _empty(network: Topology, label: str, names: list[str], misfit: Misfit) -> Entry:
    """Return the row of a routing that does not fit a topology."""
    reasons = {"routing": str(misfit.error)}
    capacity, rated = with_known_capacity(network).capacity, not network.unit_rates
    return Entry(network.spec, label, capacity, under=dict.fromkeys(names), rated=rated, reasons=reasons)


def _where(progress: Progress, where: str) -> Progress:
    """Return a progress function whose texts begin with a place."""

    def step(what: str, share: float) -> None:
        text = f"{where}: {what}"
        progress(Cost(text, what.seconds) if isinstance(what, Cost) else text, min(share, 1.0))

    return step


def _several(given: Any) -> list[Any]:
    """Return one thing, or several of them, as a list."""
    return list(given) if isinstance(given, Sequence | Iterator) and not isinstance(given, str) else [given]


#: What one topology cannot carry, another may.
_MISFIT = (RoutingError, TrafficError, TooLargeError)


def _on_all(make: Callable[[Any, Topology], T], given: Any, networks: list[Topology]) -> _Named[T]:
    """Return a routing or a pattern on every topology; raise its first error where it fits none of them."""
    on: list[T | Misfit] = []
    for network in networks:
        try:
            on.append(make(given, network))
        except _MISFIT as error:
            on.append(Misfit(error))
    _require_one(on)
    name = next((str(x.spec) for x in on if not isinstance(x, Misfit)), "")
    return _Named(name or str(given), tuple(on))


def _require_one(cells: Sequence[Any]) -> None:
    """Raise the first error where there is nothing else."""
    if cells and all(isinstance(cell, Misfit) for cell in cells):
        raise cells[0].error


def _routing(given: Any, network: Topology) -> Routing:
    if isinstance(given, PairLoads):
        raise InputError(
            "compare needs a routing (a spec, a Routing, or a class or function that makes one), not pair loads; "
            "use worst_case or throughput for pair loads"
        )
    routing = routing_of(given, network)
    if routing.topology is not network and routing.topology.spec != network.spec:
        raise RoutingError(f"{routing.spec} was made for {routing.topology.spec}; give its spec to have it made here")
    return routing
