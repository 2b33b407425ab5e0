"""The check of oblivious performance ratios between bounds, of a routing and of the best one, in exact arithmetic.

A traffic proves the lower bound of a routing: given flows carry it without loading a channel beyond its bandwidth, and
under it the routing loads the named channel as claimed. Lengths of all channels, given for every channel, prove the
upper bound: no pair loads the channel by more than its distance under these lengths allows, and any traffic that some
routing carries without overload takes up at most the sum of bandwidth times length.

No routing is below the lower bound of a design: for every channel flows are given that carry some traffic; a routing of
ratio r loads the channel by at most r times the largest load of these flows. Added up over all channels, every pair
pays at least its distance under the traffic, over the bandwidth of each channel, taken for lengths.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.arrays import INT64_SAFE, Array
from obliv._util.files import digest_of
from obliv._util.progress import OutOfTimeError, Progress, TimeLimit, require_memory, within
from obliv.checker._kernels import PriceTable
from obliv.checker.constraints import constraints_of, ways_of
from obliv.checker.linear import (
    Excess,
    Lengths,
    Line,
    attained,
    crossed,
    fit,
    image_of,
    is_index,
    price_of,
    sums,
    terminal_maps,
)
from obliv.checker.report import Report, read_result, short
from obliv.checker.worst_case import check_load, note_over, witness_of
from obliv.errors import InputError
from obliv.flows.base import Flow, Flows
from obliv.flows.sources import source_flows
from obliv.results.claims import MalformedError, array_of, certificate_of, reading
from obliv.results.numbers import bounds_of, rational
from obliv.results.study import NO_BOUND, Verification
from obliv.routings.base import Routing
from obliv.routings.listed import Listed
from obliv.topologies.base import Topology

if TYPE_CHECKING:
    from obliv.designs.network_ratios.best import RatioDesign
    from obliv.questions.ratio import Ratio

_LARGEST = 2**61  # of sums in 64 bits


@dataclass(frozen=True, eq=False)
class _Parts:
    """The parts of a saved claim that the check uses."""

    ratio: Ratio
    channel: int
    denominator: int
    lengths: Array
    flows: Array
    unit: Fraction
    sources: dict[str, str]
    digest_holds: bool


def check_ratio(
    content: dict[str, Any], topology: Topology, routing: Routing, quick: bool, budget: float, progress: Progress
) -> Verification:
    """Check a ratio by lengths and flows, or as a worst case where its certificate is that of one."""
    certificate = content.get("certificate")
    if not isinstance(certificate, dict) or "lengths" not in certificate:
        return check_load(content, topology, routing, quick, budget, progress)
    report = Report()
    claim = _read(content, topology)
    report.note_digest(claim.digest_holds)
    report.note_sources(claim.sources, (*topology.sources, *routing.sources))
    unchecked: list[int] = list(range(topology.channels))
    if report.holds and _check_form(report, claim, topology):
        checked = [claim.channel] if quick else unchecked
        with report.noting("pair loads"):
            _check_flows(report, claim, topology)
            limit = TimeLimit(report.began + budget)
            flows = source_flows(routing, claim.denominator, limit.check)
            if _check_loads(report, claim, topology, flows, checked, limit, progress):
                unchecked = [channel for channel in unchecked if quick and channel != claim.channel]
    scope = "on the named channel only" if quick else f"on all {topology.channels} channels"
    statement = (
        "no traffic loads a link more than the best routing of it does, but for a factor of "
        f"{short(claim.ratio.upper)} ({scope}), and some does by {short(claim.ratio.lower)}"
    )
    return report.verification(statement, claim.ratio.topology, claim.ratio.routing, topology.sources, unchecked)


def _read(content: dict[str, Any], topology: Topology) -> _Parts:
    certificate = certificate_of(content)
    terminals, channels = len(topology.terminals), topology.channels
    array_of(content.get("permutation") or [], "permutation", terminals)  # not too large to be read
    claimed: Ratio = read_result(content)
    with reading("lengths, flows or unit"):
        unit = rational(certificate["unit"])
        lengths = np.array([array_of(row, "lengths", channels) for row in certificate["lengths"]])
        flows = array_of(certificate["flows"], "flows", 3 * terminals * channels, -1, 3)
    if claimed.to_dict()["ratio"] != content["ratio"]:
        raise MalformedError("the decimal value of ratio differs from its exact value")
    denominator, sources = certificate.get("denominator"), certificate.get("sources")
    if type(denominator) is not int or denominator < 1 or not isinstance(sources, dict):
        raise MalformedError("the denominator must be a positive integer, and sources an object")
    if claimed.channel is None or claimed.traffic is None or lengths.dtype != np.int64 or flows.dtype != np.int64:
        raise MalformedError("channel, traffic, lengths or flows is missing or malformed")
    holds = certificate.get("digest") == digest_of(content)
    return _Parts(claimed, claimed.channel.id, denominator, lengths, flows, unit, sources, holds)


def _check_form(report: Report, claim: _Parts, topology: Topology) -> bool:
    """Check that the parts fit the network, so that later checks can index freely."""
    channels, terminals = topology.channels, len(topology.terminals)
    named, channel = claim.ratio.channel, claim.channel
    limit = 2**59 // max(1, topology.nodes)
    problem = ""
    if named is None or not 0 <= channel < channels or (named.tail, named.head) != _ends(topology, channel):
        problem = f"channel {channel} is not that of the network"
    elif claim.lengths.shape != (channels, channels) or claim.lengths.min() < 0 or claim.lengths.max() > limit:
        problem = "lengths must be one number, 0 or more, for each pair of channels"
    elif not fit(claim.flows, topology):
        problem = "a row of the flows is out of range"
    elif any(
        not (0 <= s < terminals and 0 <= d < terminals and s != d) or amount < 0
        for s, d, amount in claim.ratio.traffic or ()
    ):
        problem = "a row of the traffic is out of range"
    elif claim.ratio.lower > claim.ratio.upper or claim.ratio.lower_bound is not None:
        problem = "the bounds are out of order, or there is a bound of single paths without a proof"
    elif claim.ratio.lower_bound_source != NO_BOUND["network"]:
        problem = "the bound of single paths is missing for another reason than obliv writes"
    return report.note("form", not problem, problem or "every part fits the network")


def _ends(topology: Topology, channel: int) -> tuple[int, int]:
    return int(topology.tail[channel]), int(topology.head[channel])


def _check_flows(report: Report, claim: _Parts, topology: Topology) -> None:
    """Check that the flows carry the traffic and load no channel beyond its bandwidth."""
    terminals, unit = len(topology.terminals), claim.unit
    demand = np.zeros((terminals, terminals), object)
    for source, destination, amount in claim.ratio.traffic or ():
        demand[source, destination] += amount / unit if unit > 0 else amount
    loads = attained(claim.flows, topology, demand) if unit > 0 else None
    over = [c for c, load in enumerate(loads or ()) if load * unit > 1]
    detail = "explicit flows carry the traffic and load no channel beyond its bandwidth"
    if loads is None:
        detail = "the flows do not carry the traffic"
    elif over:
        detail = f"the flows load channel {over[0]} beyond its bandwidth"
    report.note("optimum", loads is not None and not over, detail)


def _check_loads(
    report: Report,
    claim: _Parts,
    topology: Topology,
    flows: Flows,
    checked: list[int],
    limit: TimeLimit,
    progress: Progress,
) -> bool:
    """Check the load of the witness, and the bound of each channel; return whether there was time for all."""
    upper = Upper(claim.ratio.upper, claim.lengths, topology, checked, claim.denominator)
    witness, load = witness_of(claim.ratio.traffic or ()), Fraction(0)
    for source in range(len(topology.terminals)):
        try:
            limit.check()
            flow = flows(source)
        except OutOfTimeError:
            done = source / len(topology.terminals)
            report.note(
                "channels", None, f"time limit reached after {done:.0%}; no channel is proved; raise the budget"
            )
            return False
        load += crossed(flow, witness.get(source, ()), claim.channel)
        upper.add(source, flow.without(source))
        progress("channels", (source + 1) / len(topology.terminals))
    load /= topology.bandwidth_of(claim.channel)
    reached = load >= claim.ratio.lower
    report.note(
        "witness", reached, f"it loads channel {claim.channel} by {short(load)}, claimed {short(claim.ratio.lower)}"
    )
    note_over(report, "channels", upper.over, f"lengths prove the bound of {len(checked)} channels")
    return True


class Upper:
    """The check that lengths prove an upper bound of the ratio, source after source.

    A pair may load channel c by bandwidth_c · bound · distance / Σ bandwidth × length, its price: nothing may be left.
    """

    def __init__(
        self, bound: Fraction, lengths: Array, topology: Topology, checked: list[int], denominator: int
    ) -> None:
        channels, terminals = topology.channels, topology.terminals.astype(np.int64)
        require_memory(40.0 * len(checked) * channels, "the distances under the lengths of all channels")
        self._terminals, self._lengths = terminals, Lengths(topology, lengths[checked])
        self._row = np.zeros(channels, np.int64)  # row 0 is that of channels that are not checked
        self._row[checked] = np.arange(1, len(checked) + 1)
        spent = zip(checked, self._lengths.spent(), strict=True)
        each = [bound * denominator * topology.bandwidth_of(c) / sum_ if sum_ else Fraction(0) for c, sum_ in spent]
        self._each = [Fraction(0), *each]
        number: Any = np.int64 if denominator * topology.nodes < INT64_SAFE else object
        nothing = PriceTable(self._row, np.zeros((len(terminals), len(each) + 1), number))
        self._rest = Excess(denominator, nothing, np.ones(len(terminals), number), np.zeros(channels, bool))

    def add(self, source: int, flow: Flow) -> None:
        """Compare the loads of a source, which are whole numbers, with their prices, rounded down."""
        row, destination = self._row[flow.channel], flow.destination
        distance = self._lengths.distances(int(self._terminals[source]))
        far = distance[np.maximum(row - 1, 0), self._terminals[destination]].tolist()
        each = [(share.numerator, share.denominator) for share in self._each]
        paid = [each[r][0] * d // each[r][1] for r, d in zip(row.tolist(), far, strict=True)]
        table: Array = np.zeros((len(self._terminals), len(each)), self._rest.total.dtype)
        table[destination, row] = [max(-1, min(p, INT64_SAFE)) for p in paid] if table.dtype != object else paid
        self._rest.prices = PriceTable(self._row, table)
        if not self._rest.add(source, flow):
            raise InputError("a load is not an integer over the denominator of the claim")

    @property
    def over(self) -> list[int]:
        """The checked channels that may carry more than the bound."""
        left = np.flatnonzero(self._rest.total > 0)
        return [c for c in left.tolist() if self._row[c]]


# The bounds of a design for all traffic


@dataclass(frozen=True, eq=False)
class _TrafficPart:
    """Traffic for one channel: that of a class, carried by a map of terminals, perhaps with its direction reversed."""

    channel: int
    number: int
    back: Array  # the inverse of the map
    reversed: bool


def check_ratio_bounds(
    report: Report,
    claimed: RatioDesign,
    certificate: dict[str, Any],
    routing: Listed,
    time_limit: TimeLimit,
    progress: Progress,
) -> None:
    """Check the upper and the lower bound of the ratio, and the bound of the hops."""
    topology = routing.topology
    lower, upper = bounds_of(claimed.ratio)
    rules = constraints_of(claimed.constraints)
    if rules.turns is not None or rules.within:
        raise MalformedError("a design of the least ratio has no limit of turns, virtual channels or next hops")
    limit = rules.hops
    hops = ways_of(topology, rules).hops(topology.terminals) if rules.minimal else None
    try:
        _check_upper(report, upper, certificate, routing, time_limit, within(progress, 0.0, 0.5))
        parts = _parts(certificate, topology)
        line = _line(certificate.get("ratio_line"), parts, topology, hops, time_limit)
        bound = max(Fraction(1), line.least_objective(limit))  # no routing is better than the best of each traffic
        reaches = lower <= bound and lower <= upper and (limit > 0 or line.price == 0)
        report.note("lower bound", reaches, f"traffic and its flows prove {short(bound)}, claimed {short(lower)}")
        progress("distances", 0.75)
        if claimed.hops_bound is not None:
            line = _line(certificate.get("hops_line"), parts, topology, hops, time_limit)
            bound = line.least_hops(upper)
            fits = bound >= claimed.hops_bound
            report.note("fewest hops", fits, f"flows prove {short(bound)}, claimed {short(claimed.hops_bound)}")
    except OutOfTimeError:
        report.note("ratio", None, "time limit reached; the ratio is not proved; raise the budget")
    if limit and claimed.hops > limit:
        report.note("limit of hops", False, f"{short(claimed.hops)} mean hops exceed {short(limit)}")


def _check_upper(
    report: Report,
    upper: Fraction,
    certificate: dict[str, Any],
    routing: Listed,
    time_limit: TimeLimit,
    progress: Progress,
) -> None:
    """Check that lengths of channels bound what any traffic puts on each channel."""
    topology = routing.topology
    tables = certificate.get("lengths")
    if not isinstance(tables, list) or len(tables) != topology.channels:
        raise MalformedError("lengths must be given for every channel")
    rows = [array_of(table, "lengths", topology.channels) for table in tables]
    if any(row.shape != (topology.channels,) for row in rows):
        raise MalformedError("lengths must be one number for each channel and channel")
    lengths = np.array(rows)
    if lengths.min() < 0 or lengths.max() > 2**59 // topology.nodes:
        raise MalformedError("a length is out of range")
    whole = routing.listed.whole
    bound = Upper(upper, lengths, topology, list(range(topology.channels)), whole)
    flows = source_flows(routing, whole, time_limit.check)
    for source in range(len(topology.terminals)):
        bound.add(source, flows(source).without(source))
        progress("ratio of the routing", (source + 1) / len(topology.terminals))
    note_over(report, "ratio", bound.over, f"lengths prove {short(upper)} on {topology.channels} channels")


def _parts(certificate: dict[str, Any], topology: Topology) -> list[_TrafficPart]:
    """Return which traffic every channel takes; the maps must be automorphisms of the network."""
    most = topology.channels * topology.nodes
    generators = array_of(certificate.get("generators"), "generators", most, -1, topology.nodes)
    maps, capacity = terminal_maps(generators, topology), _capacity(topology)
    for generator in generators:
        moved = {(int(generator[tail]), int(generator[head])): speed for (tail, head), speed in capacity.items()}
        if moved != capacity:
            raise MalformedError("a generator is not a symmetry of the network")
    symmetric = {(head, tail): speed for (tail, head), speed in capacity.items()} == capacity
    content = certificate.get("demands")
    if not isinstance(content, list):
        raise MalformedError("demands must list which traffic every channel takes")
    parts = []
    for entry in content:
        if not (isinstance(entry, list) and len(entry) == 4 and isinstance(entry[2], list)):
            raise MalformedError("an entry of demands is not [channel, class, word, reversed]")
        channel, number, word, turned = entry
        if not (is_index(channel, topology.channels) and is_index(number, topology.channels) and is_index(turned, 2)):
            raise MalformedError("an entry of demands is out of range")
        if turned and not symmetric:
            raise MalformedError("traffic is reversed where channels have no opposite of the same bandwidth")
        image = image_of(word, maps, len(topology.terminals))
        parts.append(_TrafficPart(channel, number, np.argsort(image), bool(turned)))
    return sorted(parts, key=lambda part: part.channel)


def _capacity(topology: Topology) -> dict[tuple[int, int], Fraction]:
    """Return the bandwidth of all channels from one node to another, added up."""
    capacity: dict[tuple[int, int], Fraction] = {}
    for channel, link in enumerate(zip(topology.tail.tolist(), topology.head.tolist(), strict=True)):
        capacity[link] = capacity.get(link, Fraction(0)) + topology.bandwidth_of(channel)
    return capacity


def _line(
    content: Any, parts: list[_TrafficPart], topology: Topology, hops: tuple[Array, Array] | None, time_limit: TimeLimit
) -> Line:
    """Return what the flows of a line prove."""
    price, tables = price_of(content, 2**40), content.get("flows")
    if not isinstance(tables, list) or any(part.number >= len(tables) for part in parts):
        raise MalformedError("flows are missing for a class of channels")
    terminals = len(topology.terminals)
    traffic, loads = zip(*(_carried(table, topology) for table in tables), strict=True) if tables else ((), ())
    spent = sum((loads[part.number] for part in parts), Fraction(0))
    speeds = [topology.bandwidth_of(channel) for channel in range(topology.channels)]
    fastest = max(speeds)
    most = sum(int(traffic[part.number].max(initial=0)) for part in parts) * (fastest / min(speeds)) + price
    if most * topology.nodes > _LARGEST:
        raise InputError("the flows of the certificate are too large to be added up")
    distance = 0
    for source in range(terminals):
        time_limit.check()
        lengths = np.zeros((topology.channels, terminals), np.int64)
        for part in parts:
            table = traffic[part.number]
            here = table[part.back, part.back[source]] if part.reversed else table[part.back[source], part.back]
            lengths[part.channel] += here
        if not topology.unit_bandwidth:
            for channel, speed in enumerate(speeds):
                factor = fastest / speed  # lengths are rounded down
                row = lengths[channel].astype(object) * factor.numerator // factor.denominator
                lengths[channel] = row.astype(np.int64)
        distance += _distances(topology, source, lengths.T + price, hops)
    return Line(price, distance, fastest * spent, terminals**2)


def _carried(content: Any, topology: Topology) -> tuple[Array, Fraction]:
    """Return the traffic that flows carry, and the largest load of a channel; flow that ends elsewhere is lost."""
    terminals = topology.terminals.astype(np.int64)
    rows = array_of(content, "flows", 3 * len(terminals) * topology.channels, -1, 3)
    if not fit(rows, topology) or sum(rows[:, 2].tolist()) > _LARGEST:
        raise MalformedError("a row of the flows is out of range")
    balance, totals = sums(rows, topology)
    if balance.min() < 0:
        raise MalformedError("more flow leaves a node than enters it")
    load = max(Fraction(int(total)) / topology.bandwidth_of(c) for c, total in enumerate(totals.tolist()))
    return balance[:, terminals], load


def _distances(topology: Topology, source: int, lengths: Array, hops: tuple[Array, Array] | None) -> int:
    """Return the sum of the distances from a terminal to all, each under its own lengths."""
    terminals, tail = topology.terminals.astype(np.int64), topology.tail.astype(np.int64)
    if hops is not None:
        there, back = hops
        through = there[source, tail][None, :] + 1 + back[:, topology.head]
        longer = through != there[source, terminals][:, None]
        lengths = np.where(longer, topology.nodes * (int(lengths.max(initial=0)) + 1), lengths)
    distance = Lengths(topology, lengths).distances(int(terminals[source]))
    return sum(distance[np.arange(len(terminals)), terminals].tolist())  # the paths of the design reach all
