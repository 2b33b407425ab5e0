"""Routings side by side, on one or several topologies."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np

from obliv.analysis.average.random_traffic import average_case
from obliv.analysis.locality import minimal_hops
from obliv.analysis.throughput import throughput
from obliv.analysis.worst_case.exact import worst_case
from obliv.errors import InputError, Interrupted, RoutingError, TooLargeError, TrafficError
from obliv.patterns.base import Traffic, require_rows
from obliv.patterns.base import traffic as traffic_of
from obliv.results import Estimate, provenance
from obliv.results.compare import Comparison, Entry
from obliv.routings.base import Routing
from obliv.routings.make import routing as routing_of
from obliv.topologies.base import Topology
from obliv.topologies.base import topology as topology_of

__all__ = ["compare"]

Step = Callable[[str, float], None]

_MISFIT = (RoutingError, TrafficError, TooLargeError)  # what one topology cannot carry, another may


def compare(
    topology: Any,
    *routings: Any,
    traffic: Any = (),
    samples: int = 0,
    rng: np.random.Generator | int | None = None,
    progress: Step | None = None,
) -> Comparison:
    """Routings side by side: worst case, average, traffic patterns and hops.

    Parameters
    ----------
    topology : Topology, str, or several of them in a list
        The networks, or their specs.
    *routings : str or Routing, or a function from a topology to a Routing, or several in a list
        Specs are made on every topology; a Routing has its own.
    traffic : str or Traffic, or several of them in a list
        Patterns, or their specs.
    samples : int
        How many random permutations to take for the average; 0 leaves it out. All rows meet the same ones.
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
        If no topology or no routing is given, or the average is asked of terminals with rates.

    Examples
    --------
    >>> import obliv
    >>> result = obliv.compare("mesh:5x5", "dor", "o1turn", "u2turn", traffic="transpose")
    >>> [str(each.of_capacity("worst")) for each in result.entries]
    ['3/10', '12/25', '6/11']
    """
    began = time.perf_counter()
    step = progress or (lambda what, share: None)
    networks: list[Topology] = [topology_of(each) for each in _several(topology)]
    patterns = _several(traffic)
    routings = tuple(one for each in routings for one in _several(each))
    if not networks or not routings:
        raise InputError("compare needs a topology and a routing: compare('mesh:8x8', 'dor', 'o1turn')")
    if samples < 0 or samples == 1:
        raise InputError(f"{samples} samples: at least 2 are needed for a standard error, 0 leaves the average out")
    seed = rng if isinstance(rng, int) else 0 if rng is None else int(rng.integers(2**62))
    ways = [_everywhere(_routing, each, networks) for each in routings]
    flows = [_everywhere(_flow, each, networks) for each in patterns]
    names = [_name(made, given) for made, given in zip(flows, patterns, strict=True)]
    labels = [_name(made, given) for made, given in zip(ways, routings, strict=True)]
    rows: list[list[Entry | InputError]] = [[] for _ in ways]
    stopped = False
    try:
        for at, network in enumerate(networks):
            under = {name: made[at] for name, made in zip(names, flows, strict=True)}
            least = minimal_hops(network)
            for k, (label, made) in enumerate(zip(labels, ways, strict=True)):
                done = at * len(ways) + k

                def part(what: str, share: float, done: int = done, where: str = f"{label} on {network.spec}") -> None:
                    step(f"{where}: {what}", (done + min(share, 1.0)) / (len(networks) * len(ways)))

                rows[k].append(_attempt(_entry, network, label, made[at], under, least, samples, seed, part))
    except KeyboardInterrupt:
        if not rows[0]:
            raise
        stopped = True
    else:
        for each in rows:
            _require_one(each)
    entries = []
    for at, network in enumerate(networks):
        for label, each in zip(labels, rows, strict=True):
            if at == len(each):  # interrupted before
                continue
            row = each[at]
            if isinstance(row, InputError):
                lost = {"routing": str(row)}
                row = Entry(network.spec, label, _capacity(network), patterns=dict.fromkeys(names), reasons=lost)
            entries.append(row)
    used = [x for x in (*networks, *chain(*ways), *chain(*flows)) if not isinstance(x, InputError)]
    where = ",".join(network.spec for network in networks)
    specs = {"topology": [network.spec for network in networks], "routing": labels, "traffic": names}
    result = Comparison(
        topology=where,
        routing=",".join(labels),
        provenance=provenance(
            specs,
            time.perf_counter() - began,
            "exact but for the average" if samples else "exact",
            seed if samples else None,
            tuple(dict.fromkeys(source for each in used for source in each.sources)),
        ),
        entries=tuple(entries),
        samples=samples,
    )
    if stopped:
        raise Interrupted(f"after {len(entries)} of {len(networks) * len(ways)} rows; name the others to go on", result)
    return result


def _entry(
    network: Topology,
    label: str,
    way: Any,
    under: dict[str, Any],
    least: Fraction,
    samples: int,
    seed: int,
    step: Step,
) -> Entry:
    """One row; raises where the routing does not fit, notes which patterns do not."""
    if isinstance(way, InputError):
        raise way
    loads = way.pair_loads(progress=lambda what, share: step(what, 0.2 * share))
    worst = worst_case(loads, progress=lambda what, share: step(what, 0.2 + 0.5 * share)).channel_load
    average = None
    reasons = {name: str(flow) for name, flow in under.items() if isinstance(flow, InputError)}
    if samples:
        found = average_case(loads, samples, seed, progress=lambda what, share: step(what, 0.7 + 0.3 * share))
        average = found.throughput
    fitting = {name: flow for name, flow in under.items() if name not in reasons}
    under_each = throughput(loads, *fitting.values()).patterns if fitting else ()
    carried = {name: row.channel_load for name, row in zip(fitting, under_each, strict=True)}
    return Entry(
        topology=network.spec,
        routing=label,
        capacity=_capacity(network),
        worst=worst if isinstance(worst, Fraction) else None,
        average=average if isinstance(average, Estimate) else None,
        patterns={name: carried.get(name) for name in under},
        hops=loads.hops(),
        minimal_hops=least,
        beyond=tuple(name for name, flow in fitting.items() if not flow.admissible),
        reasons=reasons,
    )


def _capacity(network: Topology) -> Fraction | None:
    return None if network.capacity_load is None else 1 / network.capacity_load


def _several(given: Any) -> list[Any]:
    """One thing or several of them, as a list."""
    return list(given) if isinstance(given, Sequence | Iterator) and not isinstance(given, str) else [given]


def _everywhere(make: Callable[[Any, Topology], Any], given: Any, networks: list[Topology]) -> list[Any]:
    """What is made of a spec on every topology, or why it does not fit; raises where it fits none."""
    made = [_attempt(make, given, network) for network in networks]
    _require_one(made)
    return made


def _attempt(make: Callable[..., Any], *given: Any) -> Any:
    """What a call gives, or the error that says that it does not fit here."""
    try:
        return make(*given)
    except _MISFIT as error:
        return error


def _require_one(made: list[Any]) -> None:
    """Raise the first error where there is nothing else."""
    if all(isinstance(each, InputError) for each in made):
        raise made[0]


def _routing(given: Any, network: Topology) -> Routing:
    made = given(network) if callable(given) and not isinstance(given, str | Routing) else routing_of(given, network)
    if not isinstance(made, Routing):
        raise InputError(f"a routing is a spec or a Routing, not {type(made).__name__}")
    if made.topology is not network and made.topology.spec != network.spec:
        raise RoutingError(f"{made.spec} was made for {made.topology.spec}; give its spec to have it made here")
    return made


def _flow(given: Any, network: Topology) -> Traffic:
    made: Traffic = traffic_of(given, network)
    require_rows(made)
    return made


def _name(made: list[Any], given: Any) -> str:
    """What to call a routing or a pattern: its spec, as it stands where it fits."""
    return next(str(each.spec) for each in made if not isinstance(each, InputError)) or str(given)
