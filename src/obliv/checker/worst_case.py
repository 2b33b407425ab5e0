"""The check of a worst-case certificate in exact arithmetic: its form, prices of terminals, bounds of all channels.

The claim holds iff the digest fits, the witness puts the claimed load on the named channel, and every channel is
proved: by its simple bound, min(Σ row maxima, Σ column maxima), or by prices v carried along a word of generators,
Σ_i max(0, max_j (w_ij - v_j)) + Σ_j v_j.  Any prices prove a bound, so no symmetry needs to be believed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from obliv._util.arrays import Array
from obliv._util.progress import OutOfTimeError, Progress, TimeLimit, require_memory
from obliv.checker._kernels import PriceTable, SumArrays, raise_sums
from obliv.checker.linear import Excess, capacity_load_of, crossed
from obliv.checker.report import Report, check_optimum
from obliv.flows.base import single, walk
from obliv.flows.sources import require_unit_flows, source_flows, threshold_prices
from obliv.kernels import run
from obliv.results.claims import Claim, MalformedError, read_claim
from obliv.results.study import NO_BOUND, OTHER_CHANNELS, Verification
from obliv.routings.base import Routing
from obliv.topologies.base import Topology, find
from obliv.topologies.cartesian import LinkFlows
from obliv.topologies.trees import Tree, bound_of

# Prices of terminals, carried along words


class Prices:
    """The prices of every channel: its dual, carried along its word; zeros for the simple bound by rows."""

    def __init__(self, claim: Claim, topology: Topology, checked: list[int], number: Any) -> None:
        terminals = len(topology.terminals)
        self.misfit: int | None = None
        rows: dict[tuple[int, tuple[int, ...]], int] = {}
        self.row = np.zeros(topology.channels, np.int64)
        for c in checked:
            entry = claim.channels[c]
            if isinstance(entry, list):
                self.row[c] = rows.setdefault((entry[0], tuple(entry[1])), len(rows) + 1)
        require_memory(8.0 * (len(rows) + 1) * terminals, f"the prices of {len(rows)} channels")
        self.table: Array = np.zeros((terminals, len(rows) + 1), number)
        dual_of = functools.cache(lambda dual: np.array(claim.duals[dual], number))
        image_of = functools.cache(lambda step: np.asarray(claim.generators[step]))
        for (dual, word), row in rows.items():
            place = _moved(image_of, topology, word)
            if (place < 0).any():
                self.misfit = int(np.argmax(self.row == row))
                return
            self.table[place, row] = dual_of(dual)

    def of(self, channel: int) -> Array:
        """Return the prices of a channel."""
        prices: Array = self.table[:, self.row[channel]]
        return prices


def witness_of(rows: Iterable[tuple[int, int, Fraction]]) -> dict[int, list[tuple[int, Fraction]]]:
    """Return the destinations and amounts of every source of a traffic."""
    traffic: dict[int, list[tuple[int, Fraction]]] = {}
    for s, d, share in rows:
        traffic.setdefault(s, []).append((d, share))
    return traffic


def _moved(image_of: Callable[[int], Array], topology: Topology, word: tuple[int, ...]) -> Array:
    """Return where a word of generators, first to last, moves every terminal; -1 where that is not a terminal."""
    place = topology.terminals.astype(np.int64)
    for step in word:
        place = image_of(step)[place]
    moved: Array = topology.number_of[place]
    return moved


# The bound of every channel against the claimed load, and the load of the witness


def check_bounds(
    report: Report,
    claim: Claim,
    topology: Topology,
    routing: Routing,
    quick: bool,
    limit: TimeLimit,
    progress: Progress,
) -> list[int]:
    """Bound every channel, or the named one, by prices or simply."""
    named = claim.channel["id"]
    checked = [named] if quick else list(range(topology.channels))
    demand = _Demand.of(claim, topology)
    prices = Prices(claim, topology, checked, demand.number)
    if prices.misfit is not None:
        report.note(
            "prices", False, f"the word of channel {prices.misfit} moves a terminal onto a node that is not a terminal"
        )
        return checked
    work = _Work(limit, progress)
    flows = find(routing, LinkFlows)
    if flows is None and any(isinstance(entry, dict) for entry in claim.channels):
        report.note("prices", False, f"a threshold proves loads of flow differences only, not those of {routing.spec}")
        return checked
    try:
        if flows is not None and flows.denominator == claim.denominator:
            totals: _Totals | None = _difference_totals(claim, flows, prices, demand, topology, work)
        elif single(routing) and claim.denominator == 1 and topology.unit_rates and demand.number is np.int64:
            totals = _single_path_totals(claim, routing, prices, work)
        else:
            totals = _flow_totals(claim, topology, routing, prices, demand, work)
        if totals is None:
            report.note("pair loads", False, f"a load is not an integer over the denominator {claim.denominator}")
            return checked
        over = _above(claim, topology, checked, prices, demand, totals)
    except OutOfTimeError:
        report.note(
            "channels", None, f"time limit reached after {work.done:.0%}; no channel is proved; raise the budget"
        )
        return list(range(topology.channels))
    _note_lower_bound(report, claim, topology, totals)
    load = totals.load / topology.bandwidth_of(named)
    report.note(
        "witness", load == claim.channel_load, f"it loads channel {named} by {load}, claimed {claim.channel_load}"
    )
    simple = sum(claim.channels[c] == "simple" for c in checked)
    priced = sum(isinstance(claim.channels[c], list) for c in checked)
    thresholds = len(checked) - simple - priced
    by_threshold = f", {thresholds} by a threshold" * (thresholds > 0)
    detail = f"{priced} by prices, {simple} by the simple bound{by_threshold}"
    note_over(report, "channels", over, detail)
    unchecked = [c for c in range(topology.channels) if quick and c != named]
    if unchecked:
        report.note(
            OTHER_CHANNELS, None, f"{len(unchecked)}, without which nothing is proved; a quick check leaves them out"
        )
    return unchecked


def note_over(report: Report, check: str, over: list[int], otherwise: str) -> None:
    """Note whether multipliers prove the bound of all channels, or which one may be over it."""
    others = f", and {len(over) - 1} others" if over[1:] else ""
    report.note(check, not over, f"channel {over[0]} may carry more than claimed{others}" if over else otherwise)


@dataclass(frozen=True, eq=False)
class _Demand:
    """What terminals send and receive, as integers over `scale`, and the type that sums of loads need."""

    scale: int
    sends: Array
    receives: Array
    number: Any

    @classmethod
    def of(cls, claim: Claim, topology: Topology) -> _Demand:
        """Return the demand of a topology's terminals at full rate."""
        rates = topology.rates()
        scale = lcm(*(rate.denominator for side in rates for rate in side))
        sends, receives = ([int(rate * scale) for rate in side] for side in rates)
        highest = max((max(prices, default=0) for prices in claim.duals), default=0)
        bits = max(claim.denominator, highest).bit_length() + (4 * sum(sends + receives)).bit_length()
        number: Any = np.int64 if bits < 62 else object
        return cls(scale, np.array(sends, number), np.array(receives, object), number)


class _Work:
    """The share of the work that is done, under a time limit."""

    def __init__(self, limit: TimeLimit, progress: Progress) -> None:
        self.check_time = limit.check
        self.done = 0.0
        self._progress = progress

    def report(self, share: float) -> None:
        """Keep and pass on the share that is done."""
        self.done = share
        self._progress("channels", share)


@dataclass(frozen=True, eq=False)
class _Totals:
    """What the bounds consist of: each channel's sum over sources and, one at a time, over destinations."""

    rows: Array
    columns: Callable[[int], int]
    load: Fraction  #: Of the witness on the named channel.
    steps: int  #: Entries of all pairs; with single paths, their edges.


def _above(
    claim: Claim, topology: Topology, checked: list[int], prices: Prices, demand: _Demand, totals: _Totals
) -> list[int]:
    """Return the channels whose bound exceeds the claim."""
    spent = [int(total) for total in demand.receives.astype(demand.number) @ prices.table]
    over = []
    for c in checked:
        most = claim.channel_load * topology.bandwidth_of(c) * claim.denominator * demand.scale
        bound = int(totals.rows[c]) + spent[int(prices.row[c])]
        if bound > most and claim.channels[c] == "simple":
            bound = totals.columns(c)
        if bound > most:
            over.append(c)
    return over


def _note_lower_bound(report: Report, claim: Claim, topology: Topology, totals: _Totals) -> None:
    if claim.lower_bound is None or not isinstance(topology, Tree):
        return
    shortest = totals.steps == _least_steps(topology)
    rest = "" if shortest else "; not all do"
    report.note("lower bound", shortest, f"{claim.lower_bound} for single paths that climb and then descend{rest}")


def _least_steps(tree: Tree) -> int:
    """Return the edges of shortest paths between all pairs of hosts, counted height by height."""
    hosts = tree.below[-1]
    return 2 * hosts * sum(hosts - below for below in tree.below[:-1])


def _single_path_totals(claim: Claim, routing: Routing, prices: Prices, work: _Work) -> _Totals:
    """Return the totals of a routing with one path per pair, without storing its loads."""
    no_prices = np.zeros_like(prices.row)
    rows = row_sums(routing, prices.row, prices.table, "source", work.check_time, work.report)

    @functools.cache
    def columns() -> Array:
        return row_sums(routing, no_prices, prices.table, "destination", work.check_time, lambda share: None)

    load = witness_load(routing, claim.channel["id"], claim.witness)
    tree = routing.topology
    steps = _least_steps(tree) if isinstance(tree, Tree) else 0
    return _Totals(rows, lambda c: int(columns()[c]), load, steps)


def row_sums(
    routing: Routing,
    row: Array,
    price: Array,
    by: str,
    check_time: Callable[[], None],
    progress: Callable[[float], None],
) -> Array:
    """Return every channel's Σ max(0, max (1 - v)): the sum over one end of the pairs, the maximum over the other."""
    channels = routing.topology.channels
    hosts = np.arange(len(routing.topology.terminals))
    sums = SumArrays(np.zeros(channels, np.int64), np.empty(channels, np.int64), np.zeros(channels, np.int64))
    work = 20.0 * len(hosts) ** 2
    for host in hosts.tolist():
        check_time()
        taken = walk(routing, host, hosts) if by == "source" else walk(routing, hosts, host)
        run(raise_sums, work, taken, row, price, sums)
        progress((host + 1) / len(hosts))
    return sums.total


def witness_load(routing: Routing, channel: int, rows: list[tuple[int, int, Fraction]]) -> Fraction:
    """Return the load on a channel of a traffic, given as rows of source, destination and amount."""
    taken = walk(routing, np.array([s for s, _, _ in rows], int), np.array([d for _, d, _ in rows], int))
    crosses = (taken == channel).any(axis=1).tolist()
    return sum((share for (_, _, share), over in zip(rows, crosses, strict=True) if over), Fraction(0))


def _difference_totals(
    claim: Claim, flows: LinkFlows, prices: Prices, demand: _Demand, topology: Topology, work: _Work
) -> _Totals:
    """Return the totals of a routing whose pair flows are differences of one flow per terminal, without any pair."""
    require_unit_flows(topology, flows)
    rows = [0] * topology.channels
    for c, entry in enumerate(claim.channels):
        if c % 256 == 0:
            work.check_time()
            work.report(c / topology.channels)
        rows[c] = difference_bound(flows.over(c), entry, prices.of(c), demand.sends, demand.receives)

    def columns(c: int) -> int:
        x = flows.over(c).astype(object)
        return int(((x.max() - x) * demand.receives).sum())

    x = flows.over(claim.channel["id"]).tolist()
    load = sum((share * max(0, x[s] - x[d]) for s, d, share in claim.witness), Fraction(0)) / flows.denominator
    return _Totals(np.array(rows, object), columns, load, 0)


def difference_bound(x: Array, entry: Any, prices: Array, sends: Array, receives: Array) -> int:
    """Return the bound of a channel over which the flow of terminal i carries x_i.

    The best that source i gains is max(0, x_i - min_j (x_j + v_j)) for prices v. A threshold m stands for the prices
    max(0, m - x_j), which are added here; those of a claim's prices are not.
    """
    if not len(x):
        return 0
    own = 0
    values: Array = x.astype(object)  # prices of a claim can be of any size
    if isinstance(entry, dict):
        prices = threshold_prices(x, entry["threshold"])
        own = int((prices * receives).sum())
    gain = np.maximum(0, values - (values + prices).min())
    return own + int((gain * sends.astype(object)).sum())


def _flow_totals(
    claim: Claim, topology: Topology, routing: Routing, prices: Prices, demand: _Demand, work: _Work
) -> _Totals | None:
    """Return the totals of any routing; None where a load is not an integer over the claim's denominator."""
    simple = np.array([entry == "simple" for entry in claim.channels])
    rest = Excess(claim.denominator, PriceTable(prices.row, prices.table), demand.sends, simple)
    flows, witness = source_flows(routing, claim.denominator, work.check_time), witness_of(claim.witness)
    terminals, steps, load = len(demand.sends), 0, Fraction(0)
    for i in range(terminals):
        work.check_time()
        flow = flows(i) if claim.kind == "worst" else flows(i).without(i)
        steps += len(flow.channel)
        load += crossed(flow, witness.get(i, ()), claim.channel["id"])
        if not rest.add(i, flow):
            return None
        work.report((i + 1) / terminals)

    def columns(c: int) -> int:
        return int((rest.tops_of(c).astype(object) * demand.receives).sum())

    return _Totals(rest.total, columns, load, steps)


# The form of a worst-case claim: its parts fit the network and each other


_COVERS = "covers of links, docs/explanation/fat-trees.md"  # until 0.2.0 where a theorem says as much


def check_form(report: Report, claim: Claim, topology: Topology) -> bool:
    """Check that the parts fit the network and each other, so that later checks can index freely."""
    parts = (_certificate_problems, _witness_problems, _figure_problems)
    problem = next((problem for part in parts for problem in part(claim, topology)), "")
    if not problem and claim.capacity_proof is not None:
        detail = f"{claim.capacity}: flows attain it, and lengths of channels prove that no routing has more"
        report.note("capacity", True, detail)
    return report.note("form", not problem, problem or "every part fits the network")


def _certificate_problems(claim: Claim, topology: Topology) -> Iterator[str]:
    nodes, terminals = topology.nodes, len(topology.terminals)
    named = claim.channel["id"]
    ends = (claim.channel["tail"], claim.channel["head"])
    if not 0 <= named < topology.channels or ends != (topology.tail[named], topology.head[named]):
        yield f"channel {named} does not run from {ends[0]} to {ends[1]}"
    ends_of = zip(topology.tail.tolist(), topology.head.tolist(), strict=True)
    listed = ({"id": channel, "tail": tail, "head": head} for channel, (tail, head) in enumerate(ends_of))
    if claim.rows is not None and claim.rows != tuple(listed):
        yield "the rows are not those of all channels, in their order"
    if len(claim.channels) != topology.channels:
        yield f"{len(claim.channels)} channels are listed, the topology has {topology.channels}"
    if any(len(prices) != terminals for prices in claim.duals):
        yield "a price vector does not have one price per terminal"
    if any(min(prices, default=0) < 0 for prices in claim.duals):
        yield "a price is negative"
    if any(sorted(image) != list(range(nodes)) for image in claim.generators):
        yield "a generator is not a permutation of the nodes"
    for channel, entry in enumerate(claim.channels):
        if entry == "simple" or isinstance(entry, dict):
            continue
        dual, word = entry
        if not (0 <= dual < len(claim.duals) and all(0 <= step < len(claim.generators) for step in word)):
            yield f"the entry of channel {channel} refers to a dual or a generator that does not exist"


def _witness_problems(claim: Claim, topology: Topology) -> Iterator[str]:
    if claim.traffic is not None:
        yield from _traffic_problems(claim.traffic, topology)
        return
    if sorted(claim.permutation or []) != list(range(len(topology.terminals))):
        yield "the permutation is invalid"
    if not topology.unit_rates:
        yield "the terminals have rates, so the witness must be a traffic matrix"


def _traffic_problems(rows: list[tuple[int, int, Fraction]], topology: Topology) -> Iterator[str]:
    injection, ejection = topology.rates()
    terminals = len(injection)
    if any(not (0 <= s < terminals and 0 <= d < terminals) or amount < 0 for s, d, amount in rows):
        yield "a row of the traffic is out of range"
        return
    sent, received = [Fraction(0)] * terminals, [Fraction(0)] * terminals
    for s, d, amount in rows:
        sent[s] += amount
        received[d] += amount
    limits = ((sent, injection), (received, ejection))
    if any(amount > rate for amounts, rates in limits for amount, rate in zip(amounts, rates, strict=True)):
        yield "the traffic exceeds what a terminal may send or receive"


def _figure_problems(claim: Claim, topology: Topology) -> Iterator[str]:
    """Yield what is wrong with throughput and fraction of capacity, which follow from the load."""
    if claim.kind == "ratio":
        known = bound_of(topology) if isinstance(topology, Tree) and claim.denominator == 1 else None
        if claim.lower_bound is not None and (known is None or claim.lower_bound != known[0]):
            yield "the lower bound is not that of the topology for single paths"
        sources = NO_BOUND.values() if claim.lower_bound is None or known is None else (known[1], _COVERS)
        if claim.lower_bound_source not in sources:
            yield "the lower bound has another source, or is missing for another reason, than obliv writes"
        return
    throughput = 1 / claim.channel_load if claim.channel_load > 0 else None
    if claim.channel_load < 0 or claim.throughput != throughput:
        yield "the throughput is not 1 / channel load"
    try:
        base = capacity_load_of(topology, claim.capacity_proof)
    except MalformedError as error:
        yield str(error)
        return
    if claim.capacity != (None if base is None else 1 / base):
        yield "the capacity is not that of the topology"
    elif claim.fraction_of_capacity != (None if base is None or throughput is None else throughput * base):
        yield "the fraction of capacity does not follow from load and capacity"


_MOST_LOADS = 2**24  # of pairs on channels that are held at once
_STATEMENTS = {
    "worst": "no admissible traffic loads a channel by more than",
    "ratio": "no traffic loads a link more than the best routing of it does, but for a factor of",
}


def check_load(
    content: dict[str, Any], topology: Topology, routing: Routing, quick: bool, budget: float, progress: Progress
) -> Verification:
    """Check a worst case, or a ratio, by prices of terminals."""
    load = content.get("channel_load")
    if isinstance(load, dict) and "stderr" in load:
        raise MalformedError("it is an estimate, which has no certificate; without samples the claim is exact")
    return check_worst_case(read_claim(content), topology, routing, quick, budget, progress)


def check_worst_case(
    claim: Claim, topology: Topology, routing: Routing, quick: bool, budget: float, progress: Progress
) -> Verification:
    """Check a claim against a topology and a routing."""
    report = Report()
    unchecked: list[int] = []
    report.note_digest(claim.digest_holds)
    report.note_sources(claim.sources, (*topology.sources, *routing.sources))
    if not report.holds:
        unchecked = list(range(topology.channels))
    elif check_form(report, claim, topology):
        with report.noting("pair loads", "rows"):
            if claim.kind == "ratio":
                check_optimum(report, topology)
            if routing.partial or claim.skipped:
                _check_skipped(report, claim, routing)
            limit = TimeLimit(report.began + budget)
            unchecked = check_bounds(report, claim, topology, routing, quick, limit, progress)
            if claim.row_loads is not None and report.holds:
                _check_rows(report, claim.row_loads, claim.denominator, topology, routing, limit)
    scope = "on the named channel only" if quick else f"on all {topology.channels} channels"
    statement = f"{_STATEMENTS[claim.kind]} {claim.channel_load} ({scope})"
    return report.verification(statement, claim.topology, claim.routing, topology.sources, unchecked)


def _check_rows(
    report: Report,
    loads: tuple[Fraction, ...],
    denominator: int,
    topology: Topology,
    routing: Routing,
    limit: TimeLimit,
) -> None:
    """Compute the worst case of every channel again, by assignments; where that is too much, the rows are beside."""
    n = len(topology.terminals)
    if not topology.unit_rates or topology.channels * n * n > _MOST_LOADS or denominator * n >= 2**53:
        report.beside.append("channels[*].channel_load")
        return
    from scipy.optimize import linear_sum_assignment

    weights = np.zeros((topology.channels, n, n), np.int64)
    flows = source_flows(routing, denominator, limit.check)
    for i in range(n):
        flow = flows(i)
        for c, d, amount in zip(flow.channel.tolist(), flow.destination.tolist(), flow.amount.tolist(), strict=True):
            weights[c, i, d] += amount * denominator // int(flow.whole[d])
    for c, load in enumerate(loads):
        limit.check()
        rows, columns = linear_sum_assignment(weights[c], maximize=True)
        most = Fraction(int(weights[c][rows, columns].sum()), denominator) / topology.bandwidth_of(c)
        if most != load:
            report.note("rows", False, f"channel {c} carries up to {most}, claimed {load}")
            return
    report.note("rows", True, f"the worst case of each of {len(loads)} channels, computed again by assignments")


def _check_skipped(report: Report, claim: Claim, routing: Routing) -> None:
    """Note how many pairs have no path, or too few; the bounds are about the others."""
    count = routing.skipped if routing.partial else 0
    fits = claim.skipped in (None, count)
    claimed = "" if fits else f", claimed {claim.skipped!r:.40}"
    report.note("left out", fits, f"{count} pairs that {routing.spec} does not serve send nothing{claimed}")
