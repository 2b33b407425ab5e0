"""The check of ratios under given traffic, in exact arithmetic.

For each traffic the least largest load of all routings is checked from both sides: explicit flows carry the traffic,
and lengths of channels bound every routing, since a packet covers at least its distance. The loads of the routing
itself are added up from what each source sends.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.files import digest_of
from obliv._util.progress import Progress, TimeLimit
from obliv._util.rationals import integer
from obliv.checker.linear import attained, flows_of, least_load, lengths_of, spent_on
from obliv.checker.recounted import require_patterns
from obliv.checker.report import Report, proves, read_result, short
from obliv.errors import OblivError
from obliv.flows.base import Flows, paths_between
from obliv.flows.sources import source_flows
from obliv.patterns.base import Traffic
from obliv.patterns.base import traffic as traffic_of
from obliv.results.claims import MalformedError, array_of, certificate_of, reading
from obliv.results.numbers import Bounds
from obliv.results.study import Verification
from obliv.routings.base import Routing
from obliv.topologies.base import Topology

if TYPE_CHECKING:
    from obliv.questions.ratio import PatternRatio, TrafficRatio

__all__ = ["check_traffic_ratio"]

_MOST_RATES = 2**22  # of one traffic

Demand = dict[tuple[int, int], Fraction]


def check_traffic_ratio(
    content: dict[str, Any], topology: Topology, routing: Routing, budget: float, progress: Progress
) -> Verification:
    """Check ratios under given traffic."""
    report = Report()
    claimed: TrafficRatio = read_result(content)
    certificate = certificate_of(content)
    require_patterns([row.traffic for row in claimed.patterns])
    with reading("the certificate"):
        denominator = integer(int(certificate["denominator"]), "the denominator")
        proofs, sources = list(certificate["patterns"]), dict(certificate.get("sources", {}))
    if denominator < 1 or len(proofs) != len(claimed.patterns):
        raise MalformedError("the denominator must be positive, and there must be a proof for each pattern")
    report.note_digest(certificate.get("digest") == digest_of(content))
    report.note_figures(*zip((claimed, *claimed.patterns), (content, *content["patterns"]), strict=True))
    if report.holds:
        limit = TimeLimit(report.began + budget)
        read = [*topology.sources, *routing.sources]
        with report.noting("loads", "time"):
            flows = None if claimed.adaptive else source_flows(routing, denominator, limit.check)
            for k, (row, proof) in enumerate(zip(claimed.patterns, proofs, strict=True)):
                progress("traffic", k / len(proofs))
                read += _check_pattern(report, row, proof, routing, flows, limit)
            report.note_sources(sources, read)
    statement = "the largest link load under each traffic, divided by that of the best routing of this traffic"
    return report.verification(statement, claimed.topology, claimed.routing, topology.sources)


def _check_pattern(
    report: Report, row: PatternRatio, proof: Any, routing: Routing, flows: Flows | None, limit: TimeLimit
) -> tuple[tuple[str, str], ...]:
    """Check one traffic, and return the files that it was read from; without flows its rates are adaptive."""
    topology = routing.topology
    with reading("a proof"):
        n, scale, whole = len(topology.terminals), proof["scale"], proof["whole"]
        rows = array_of(proof["demand"], "the demand", 3 * n * n, -1, 3)
        flow_rows = flows_of(proof["flows"], topology, "the flows")
        lengths = lengths_of(proof["lengths"], topology, "lengths")
    if type(scale) is not int or type(whole) is not int or scale < 1 or whole < 1 or whole % scale:
        raise MalformedError("scale must be a positive integer, and whole a multiple of it")
    demand: Demand = {}
    for s, d, amount in rows.tolist():
        if not (0 <= s < n and 0 <= d < n and s != d and amount > 0) or (s, d) in demand:
            raise MalformedError("a row of the demand is out of range, or appears twice")
        demand[s, d] = Fraction(amount, scale)
    named = _named(row.traffic, topology)
    same = named is None or _demand_of(named) == demand
    known = "no spec builds this traffic: it is the one inside the claim" if named is None else "it is that of the spec"
    report.note("traffic", same, f"{row.traffic}: {known if same else 'the claim is about another one'}")
    if named is None and "patterns[*].traffic" not in report.beside:
        report.beside.append("patterns[*].traffic")
    wanted, sent = np.zeros((n, n), object), dict[int, list[tuple[int, Fraction]]]()
    for (s, d), rate in demand.items():
        wanted[s, d] = rate * whole
        sent.setdefault(s, []).append((d, rate))
    loads = attained(flow_rows, topology, wanted)
    if loads is None:
        report.note("flows", False, "they do not carry the traffic")
        return ()
    upper = max(loads, default=Fraction(0)) / whole
    paid = ((s, np.array([d for d, _ in row]), np.array([rate for _, rate in row], object)) for s, row in sent.items())
    lower = least_load(topology, lengths, paid)
    if flows is not None:
        low = high = _load(topology, demand, flows, limit)
    else:
        own = _best_rates(routing, demand, proof, limit)
        if own is None:
            report.note("rates", False, "they do not carry the traffic over the paths of the routing")
            return ()
        low, high = own
    ratios = row.ratio, row.channel_load, row.optimal_load
    holds = lower > 0 and proves(low, high, row.channel_load) and proves(lower, upper, row.optimal_load)
    least = max(Fraction(1), low / upper) if low < high else low / upper  # rates over few paths are rates over all
    holds = holds and proves(least, high / lower, row.ratio)
    detail = f"{_range(low, high)}, that of the best routing is {_range(lower, upper)}"
    report.note("load", holds, detail if holds else f"{detail}; claimed {', '.join(map(_shown, ratios))}")
    return () if named is None else named.sources


def _named(spec: str, topology: Topology) -> Traffic | None:
    """Return the traffic of a spec; None where no spec builds it."""
    try:
        return traffic_of(spec, topology)
    except OblivError:
        return None


def _demand_of(traffic: Traffic) -> Demand:
    """Return what terminals send to others."""
    rows = traffic.to_matrix()
    return {(s, d): rate for s, row in enumerate(rows) for d, rate in enumerate(row) if rate and s != d}


def _load(topology: Topology, demand: Demand, flows: Flows, limit: TimeLimit) -> Fraction:
    """Return the largest load of the routing under the traffic, from what every source sends."""
    loads = [Fraction(0)] * topology.channels
    for source in sorted({s for s, _ in demand}):
        limit.check()
        for destination, channel, load in flows(source).loads():
            loads[channel] += demand.get((source, destination), 0) * load
    return max((load / topology.bandwidth_of(c) for c, load in enumerate(loads)), default=Fraction(0))


def _best_rates(routing: Routing, demand: Demand, proof: Any, limit: TimeLimit) -> tuple[Fraction, Fraction] | None:
    """Return bounds of the least load of a traffic over the paths of a routing: by lengths, and by explicit rates.

    None if the rates do not carry the traffic.
    """
    topology = routing.topology
    with reading("the rates"):
        whole = proof["path_whole"]
        rows = array_of(proof["rates"], "the rates", 4 * _MOST_RATES, -1, 4).tolist()
        lengths = lengths_of(proof["path_lengths"], topology, "path_lengths")
    if type(whole) is not int or whole < 1:
        raise MalformedError("path_whole must be a positive integer")
    rates: dict[tuple[int, int], dict[int, int]] = {}
    for source, destination, number, units in rows:
        if units < 0:
            return None
        rates.setdefault((source, destination), {})[number] = units
    nodes = topology.terminals.tolist()
    loads = [0] * topology.channels
    paid = Fraction(0)
    for (source, destination), amount in demand.items():
        limit.check()
        paths = paths_between(routing, nodes[source], nodes[destination])
        own = rates.pop((source, destination), {})
        if not paths or any(not 0 <= number < len(paths) for number in own) or sum(own.values()) != amount * whole:
            return None
        paid += amount * min(sum(lengths[channel] for channel in path) for path in paths)
        for number, units in own.items():
            for channel in paths[number]:
                loads[channel] += units
    spent = spent_on(topology, lengths)
    largest = max((load / topology.bandwidth_of(c) for c, load in enumerate(loads)), default=Fraction(0))
    return None if rates or not spent else (paid / spent, largest / whole)


def _range(lower: Fraction, upper: Fraction) -> str:
    return short(upper) if lower == upper else f"from {short(lower)} to {short(upper)}"


def _shown(value: Any) -> str:
    if isinstance(value, Bounds):
        return f"{short(value.lower)} to {short(value.upper)}"
    return short(value) if isinstance(value, Fraction) else str(value)
