"""The check of throughput under given traffic, and of averages over all permutations: loads counted again.

Nothing has to be proved here but arithmetic: what every source sends is followed over its paths, and added up.
"""

from __future__ import annotations

from fractions import Fraction
from math import factorial, lcm
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.arrays import Array
from obliv._util.progress import Progress, TimeLimit, require_memory
from obliv.checker.linear import capacity_load_of
from obliv.checker.report import Report, read_result, short
from obliv.errors import OblivError
from obliv.flows.base import Flows
from obliv.flows.sources import denominator_of, source_flows
from obliv.patterns.base import Traffic
from obliv.patterns.base import traffic as traffic_of
from obliv.results.claims import MalformedError
from obliv.results.numbers import Bounds, Estimate
from obliv.results.study import IDLE, Verification
from obliv.routings.base import Routing
from obliv.topologies.base import Topology

if TYPE_CHECKING:
    from obliv.questions.average import Average
    from obliv.questions.throughput import PatternThroughput, Throughput


_MOST_TERMINALS = 9  # whose permutations are counted
_Rates = dict[int, dict[int, Fraction]]  # by source and destination


def check_throughput(
    content: dict[str, Any], topology: Topology, routing: Routing, budget: float, progress: Progress
) -> Verification:
    """Check the throughput of a routing under traffic patterns."""
    report = Report()
    claim: Throughput = read_result(content)
    _require_exact(*(row.channel_load for row in claim.patterns))
    require_patterns([row.traffic for row in claim.patterns])
    report.note_figures(*zip((claim, *claim.patterns), (content, *content["patterns"]), strict=True))
    try:
        patterns = [traffic_of(row.traffic, topology) for row in claim.patterns]
    except OblivError as error:
        raise MalformedError(f"its traffic cannot be built: {error}") from None
    sources = (*topology.sources, *routing.sources, *(source for traffic in patterns for source in traffic.sources))
    report.note_sources(claim.provenance.sources, sources)
    base = _check_capacity(report, claim.capacity, topology, "patterns[*].fraction_of_capacity")
    if any(isinstance(row, dict) and row.get("hottest") for row in content["patterns"]):
        report.beside.append("patterns[*].hottest")
    if routing.partial:
        report.beside.append("patterns[*].hops")  # of those that arrive, which loads do not tell
    limit = TimeLimit(report.began + budget)
    with report.noting("loads"):
        for done, (row, traffic) in enumerate(zip(claim.patterns, patterns, strict=True) if not report.fails else ()):
            progress("traffic", done / len(patterns))
            _check_pattern(report, row, traffic, routing, base, limit)
    statement = f"the largest channel load under {', '.join(row.traffic for row in claim.patterns)[:200]}"
    return report.verification(statement, claim.topology, claim.routing, sources)


def _check_pattern(
    report: Report, row: PatternThroughput, traffic: Traffic, routing: Routing, base: Fraction | None, limit: TimeLimit
) -> None:
    """Check the figures of one traffic: loads, throughput, what limits it, and the mean hops."""
    topology = routing.topology
    rates = rates_of(traffic)
    crossed = _crossed(topology, rates, source_flows(routing, denominator_of(routing, limit.check), limit.check), limit)
    loads = [amount / topology.bandwidth_of(c) for c, amount in enumerate(crossed)]
    load = max(loads, default=None)
    shares = _shares(topology, rates)
    busiest = max((share for side in shares.values() for share in side), default=Fraction(0))
    need = max(load or Fraction(0), busiest)
    packets = sum((rate for sent in rates.values() for rate in sent.values()), Fraction(0))
    hops = sum(crossed, Fraction(0)) / packets if packets else None
    right = {
        "channel_load": load,
        "throughput": 1 / need if busiest else None,
        "fraction_of_capacity": None if base is None or not load else base / load,
        "admissible": busiest <= 1,
    }
    if not routing.partial:
        right["hops"] = hops
    wrong = next((key for key, value in right.items() if getattr(row, key) != value), "")
    detail = "no channel" if load is None else f"load {short(load)}, hops {short(hops or Fraction(0))}"
    report.note(row.traffic, not wrong, f"{wrong} is {right[wrong]}" if wrong else detail)
    if not wrong and not _overloads(row, topology, shares, busiest):
        report.note("overload", False, f"{row.traffic}: no terminal exceeds its rate so: {str(row.overload)[:80]!r}")
    if not wrong and not _limits(row, topology, loads, shares, need):
        report.note("limits", False, f"{row.traffic}: what limits it is not {str(row.limited_by)[:80]!r}")


def _overloads(
    row: PatternThroughput, topology: Topology, shares: dict[str, list[Fraction]], busiest: Fraction
) -> bool:
    """Return whether a row names a terminal that exceeds its rate as much as any, or none; that may be left out."""
    over = row.overload
    if over is None:
        return True
    side = shares.get(over.kind, [])
    if not 0 <= over.terminal < len(side) or not side[over.terminal] == over.share == busiest > 1:
        return False
    return over.name == topology.name_of(int(topology.terminals[over.terminal]))


def _limits(
    row: PatternThroughput, topology: Topology, loads: list[Fraction], shares: dict[str, list[Fraction]], need: Fraction
) -> bool:
    """Return whether a row names a channel or a terminal that needs as much as any; a terminal, if no channel does."""
    limit = row.limited_by
    if limit is None:
        return row.throughput is None
    if limit.kind == "channel" and limit.channel is not None and limit.terminal is None:
        c = limit.channel.id
        if not 0 <= c < len(loads) or (limit.channel.tail, limit.channel.head) != (topology.tail[c], topology.head[c]):
            return False
        return loads[c] == need and limit.name == topology.channel_name(c)
    side, terminal = shares.get(limit.kind, []), limit.terminal
    if limit.channel is not None or terminal is None or not 0 <= terminal < len(side):
        return False
    name = topology.name_of(int(topology.terminals[terminal]))
    return side[terminal] == need > max(loads, default=0) and limit.name == name


def check_average(
    content: dict[str, Any], topology: Topology, routing: Routing, budget: float, progress: Progress
) -> Verification:
    """Check the mean of the largest load over all permutations; parameters as for :func:`check_throughput`."""
    report = Report()
    claim: Average = read_result(content)
    _require_exact(claim.channel_load)
    n, count = len(topology.terminals), factorial(min(_MOST_TERMINALS, len(topology.terminals)))
    if n > _MOST_TERMINALS or (claim.ensemble, claim.samples) != ("permutations", count) or not topology.unit_rates:
        raise MalformedError(
            f"an exact average is over all permutations of up to {_MOST_TERMINALS} terminals of rate 1"
        )
    report.note_figures((claim, content))
    if claim.mean_throughput is None and claim.mean_throughput_reason != IDLE:
        report.note("figures", False, "the mean of throughputs is missing for another reason than that one is infinite")
    report.note_sources(claim.provenance.sources, (*topology.sources, *routing.sources))
    base = _check_capacity(report, claim.capacity, topology, "fraction_of_capacity")
    limit = TimeLimit(report.began + budget)
    with report.noting("loads", "permutations"):
        if not report.fails:
            _check_permutations(report, claim, routing, base, limit, progress)
    statement = (
        f"the mean of the largest channel load over all {count:,} permutations is {short(_exact(claim.channel_load))}"
    )
    return report.verification(statement, claim.topology, claim.routing, topology.sources)


def _check_permutations(
    report: Report, claim: Average, routing: Routing, base: Fraction | None, limit: TimeLimit, progress: Progress
) -> None:
    """Check the figures of all permutations of the terminals, of each the largest load."""
    topology = routing.topology
    n = len(topology.terminals)
    flows, images = source_flows(routing, denominator_of(routing, limit.check), limit.check), _permutations(n)
    pairs = np.zeros((topology.channels, n, n), object)
    for i in range(n):
        for d, c, load in flows(i).loads():
            pairs[c, i, d] += load / topology.bandwidth_of(c)
    unit = lcm(*(Fraction(load).denominator for load in pairs.ravel()))
    whole = (pairs * unit).astype(object)
    narrow = n * max(map(int, whole.ravel()), default=0) < 2**62
    largest = np.zeros(len(images), np.int64 if narrow else object)
    for c in range(topology.channels):
        limit.check()
        progress("permutations", c / topology.channels)
        table = np.array([[int(load) for load in row] for row in whole[c]], largest.dtype)
        largest = np.maximum(largest, sum(table[i][images[:, i]] for i in range(n)))
    values, times = np.unique(largest, return_counts=True)
    loads = [(Fraction(int(value), unit), int(often)) for value, often in zip(values, times, strict=True)]
    mean = sum((load * often for load, often in loads), Fraction(0)) / len(images)
    through = None if loads[0][0] == 0 else sum((often / load for load, often in loads), Fraction(0)) / len(images)
    most, image = loads[-1][0], list(claim.largest_permutation or ())
    right = {
        "channel_load": mean,
        "throughput": 1 / mean if mean else None,
        "fraction_of_capacity": None if base is None or not mean else base / mean,
        "mean_throughput": through,
        "largest_load": most,
        "worst_load": most,  # over admissible traffic, which is a mix of permutations, or less
    }
    wrong = next((key for key, value in right.items() if getattr(claim, key) != value), "")
    report.note("permutations", not wrong, f"{wrong} is {right[wrong]}" if wrong else f"{len(images):,}, counted again")
    fits = sorted(image) == list(range(n)) and any(
        sum(pairs[c, i, d] for i, d in enumerate(image)) == most for c in range(topology.channels)
    )
    report.note("witness", fits, f"it {'loads' if fits else 'does not load'} a channel by {short(most)}")


def _permutations(n: int) -> Array:
    """Return all permutations of 0 to n - 1, one in each row."""
    rows = np.zeros((1, 0), np.int64)
    for k in range(n):
        rows = np.concatenate([np.insert(rows, at, k, axis=1) for at in range(k + 1)])
    return rows


def require_patterns(traffics: list[str]) -> None:
    """Raise MalformedError unless there is a traffic, and each once."""
    twice = next((traffic for traffic in traffics if traffics.count(traffic) > 1), None)
    if not traffics or twice is not None:
        raise MalformedError("it has no traffic pattern" if twice is None else f"{twice:.40} is listed twice")


def _require_exact(*numbers: Any) -> None:
    if any(isinstance(number, Estimate) for number in numbers):
        raise MalformedError("it contains an estimate, which nothing proves; leave out the samples for an exact claim")


def _exact(number: Fraction | Bounds | Estimate) -> Fraction:
    return number if isinstance(number, Fraction) else Fraction(0)


def _check_capacity(report: Report, claimed: Fraction | None, topology: Topology, shares: str) -> Fraction | None:
    """Check a capacity, and return its load; one without a closed form is beside the proof."""
    base = capacity_load_of(topology, None)
    if base is None and claimed:
        report.beside += ["capacity", shares]
        return 1 / claimed
    right = None if base is None else 1 / base
    if claimed != right:
        report.note("capacity", False, f"it is {right}")
    return base


def rates_of(traffic: Traffic) -> _Rates:
    """Return what every terminal sends to each, itself included."""
    n = traffic.terminals
    if traffic.uniform:
        require_memory(500.0 * n * n, f"the pairs of {traffic.spec}")
    share = Fraction(traffic.uniform) / n if n else Fraction(0)
    rates: _Rates = {s: dict.fromkeys(range(n), share) if share else {} for s in range(n)}
    single = zip(traffic.source.tolist(), traffic.destination.tolist(), traffic.amount.tolist(), strict=True)
    for s, d, amount in single:
        rates[s][d] = rates[s].get(d, Fraction(0)) + Fraction(amount, traffic.denominator)
    return rates


def _crossed(topology: Topology, rates: _Rates, flows: Flows, limit: TimeLimit) -> list[Fraction]:
    """Return the packets of a traffic that cross each channel."""
    total = [Fraction(0)] * topology.channels
    for i, sent in rates.items():
        limit.check()
        if not sent:
            continue
        flow = flows(i)
        shares = [sent.get(d, Fraction(0)) / int(whole) for d, whole in enumerate(flow.whole.tolist())]
        unit = lcm(*(share.denominator for share in shares))
        weight = np.array([int(share * unit) for share in shares], object)
        here = np.zeros(topology.channels, object)
        np.add.at(here, flow.channel, weight[flow.destination] * flow.amount.astype(object))
        for c in np.flatnonzero(here).tolist():
            total[c] += Fraction(int(here[c]), unit)
    return total


def _shares(topology: Topology, rates: _Rates) -> dict[str, list[Fraction]]:
    """Return what every terminal sends and takes, over its rates."""
    injection, ejection = topology.rates()
    taken = [Fraction(0)] * len(ejection)
    for sent in rates.values():
        for d, rate in sent.items():
            taken[d] += rate
    return {
        "injection": [sum(rates[s].values(), Fraction(0)) / rate for s, rate in enumerate(injection)],
        "ejection": [amount / rate for amount, rate in zip(taken, ejection, strict=True)],
    }
