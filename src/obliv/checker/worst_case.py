"""The check of a worst-case certificate, over all channels, in exact arithmetic.

The claim holds iff the digest fits, the witness puts the claimed load on the named channel, and every channel is
proved: by its simple bound, min(Σ row maxima, Σ column maxima), or by prices v carried along a word of generators,
Σ_i max(0, max_j (w_ij - v_j)) + Σ_j v_j.  Any prices prove a bound, so no symmetry needs to be believed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from obliv._util.arrays import INT64_SAFE, Array, starts
from obliv._util.progress import Progress, require_memory
from obliv.checker._kernels import PairsByChannel, PriceTable, SourceFlow, add_block, raise_tops, sort_block
from obliv.checker.capacity import capacity_load_of
from obliv.checker.claims import Claim, MalformedError, read_claim
from obliv.checker.flows.links import difference_bound, require_unit_flows, source_flows
from obliv.checker.flows.trees import Flow, row_sums, single, witness_load
from obliv.checker.report import OutOfTimeError, Report, TimeLimit, check_optimum
from obliv.errors import InputError, OblivError
from obliv.kernels import run
from obliv.results.study import NO_BOUND, OTHER_CHANNELS, Verification
from obliv.routings.base import Routing
from obliv.topologies.base import Topology, find
from obliv.topologies.cartesian import LinkFlows
from obliv.topologies.trees import Tree, bound_of

# The dual bound and the simple bound of every channel, summed over sources


#: Entries sorted by channel at a time, of 64 bits and of Python integers.
_BLOCK = 8_000_000
_WIDE_BLOCK = 100_000


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
        self.table: Array = np.zeros((len(rows) + 1, terminals), number)
        for (dual, word), row in rows.items():
            place = _moved(claim, topology, word)
            if (place < 0).any():
                self.misfit = int(np.argmax(self.row == row))
                return
            self.table[row, place] = claim.duals[dual]

    def of(self, channel: int) -> Array:
        """Return the prices of a channel."""
        prices: Array = self.table[self.row[channel]]
        return prices


class Sums:
    """Every channel's sum over sources, filled block by block so that memory stays bounded."""

    def __init__(self, claim: Claim, topology: Topology, prices: Prices, send: Array) -> None:
        channels, terminals = topology.channels, len(topology.terminals)
        self.claim, self.prices, self.send = claim, prices, send
        self.total: Array = np.zeros(channels, send.dtype)
        self._most = 0  #: The largest numerator so far.
        self._sends = int(send.astype(object).sum())
        self.load = Fraction(0)
        simple = np.array([entry == "simple" for entry in claim.channels])
        self._top_row = np.where(simple, np.cumsum(simple) - 1, -1)
        require_memory(8.0 * int(simple.sum()) * terminals, f"the column maxima of {int(simple.sum())} channels")
        self._top: Array = np.zeros((int(simple.sum()), terminals), send.dtype)
        self._witness = _witness(claim)
        self._block: list[tuple[int, Flow]] = []
        self._size = 0

    def add(self, i: int, flow: Flow) -> bool:
        """Add one source's flow; return False where a load is not an integer over the claim's denominator."""
        self._block.append((i, flow))
        self._size += len(flow.channel)
        for j, share in self._witness.get(i, []):
            part = slice(int(flow.ends[j - 1]) if j else 0, int(flow.ends[j]))
            at = np.flatnonzero(flow.channel[part] == self.claim.channel["id"])
            crossed = sum(int(flow.amount[part][k]) for k in at)
            self.load += share * Fraction(crossed * self.claim.denominator, int(flow.whole[j]))
        wide = self.claim.denominator >= INT64_SAFE  # loads are then Python integers, which take far more room
        most = max(_WIDE_BLOCK, 4 * len(self.total)) if wide else _BLOCK
        return self._size < most or self.flush()

    def flush(self) -> bool:
        """Sort the block by channel and add it to the sums."""
        channels, size = len(self.total), self._size
        counts = np.zeros(channels, np.int64)
        for _, flow in self._block:
            counts += np.bincount(flow.channel, minlength=channels)
        start = starts(counts)
        cursor = start[:-1].copy()
        source, destination = np.empty(size, np.int32), np.empty(size, np.int32)
        loads = [(i, self._in_range(flow)) for i, flow in self._block]
        wide = any(flow.amount.dtype == object for _, flow in loads)
        weight: Array = np.empty(size, object if wide else self.send.dtype)
        entries = PairsByChannel(start, source, destination, weight)
        for i, numbers in loads:
            if not run(sort_block, 30.0 * size, numbers, i, self.claim.denominator, cursor, entries):
                return False
        self._most = max(self._most, int(max(weight, default=0) if weight.dtype == object else weight.max(initial=0)))
        if self._most * self._sends >= INT64_SAFE and self.total.dtype != object:
            self._widen()
        if self.total.dtype == object:
            entries = entries._replace(weight=weight.astype(object))
        work = 10.0 * size
        run(add_block, work, entries, self.send, PriceTable(self.prices.row, self.prices.table), self.total)
        if len(self._top):
            run(raise_tops, work, entries, self._top_row, self._top)
        self._block, self._size = [], 0
        return True

    def _widen(self) -> None:
        """Continue with Python integers: a routing may cross a channel many times, and sums must not wrap."""
        self.total, self.send = self.total.astype(object), self.send.astype(object)
        self.prices.table, self._top = self.prices.table.astype(object), self._top.astype(object)

    def tops_of(self, channel: int) -> Array:
        """Return the column maxima of a channel that the simple bound has to prove."""
        tops: Array = self._top[self._top_row[channel]]
        return tops

    def _in_range(self, flow: Flow) -> SourceFlow:
        """Return a flow whose numbers are Python integers where a product could exceed 64 bits."""
        channel = np.ascontiguousarray(flow.channel)
        plain = SourceFlow(flow.ends, channel, flow.amount, flow.whole)
        exact = SourceFlow(flow.ends, channel, flow.amount.astype(object), flow.whole.astype(object))
        if not len(flow.amount):
            return plain
        if flow.amount.dtype == object or flow.whole.dtype == object or self.send.dtype == object:
            return exact
        largest, amount = int(flow.whole.max()), int(flow.amount.max())
        whole = np.repeat(flow.whole, np.diff(flow.ends, prepend=0))
        crossings = int((flow.amount // whole).max()) + 1
        small = (largest * amount).bit_length() < 62 and (self.claim.denominator * crossings).bit_length() < 62
        return plain if small else exact


def _witness(claim: Claim) -> dict[int, list[tuple[int, Fraction]]]:
    """Return the destinations and amounts of every source."""
    traffic: dict[int, list[tuple[int, Fraction]]] = {}
    for s, d, share in claim.witness:
        traffic.setdefault(s, []).append((d, share))
    return traffic


def _moved(claim: Claim, topology: Topology, word: tuple[int, ...]) -> Array:
    """Return where a word of generators, first to last, moves every terminal; -1 where that is not a terminal."""
    place = topology.terminals.astype(np.int64)
    for step in word:
        place = np.asarray(claim.generators[step])[place]
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
    if over:
        others = f", and {len(over) - 1} others" if over[1:] else ""
        detail = f"channel {over[0]} may carry more than claimed{others}"
    report.note("channels", not over, detail)
    unchecked = [c for c in range(topology.channels) if quick and c != named]
    if unchecked:
        report.note(
            OTHER_CHANNELS, None, f"{len(unchecked)}, without which nothing is proved; a quick check leaves them out"
        )
    return unchecked


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
        highest = max((price for prices in claim.duals for price in prices), default=0)
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
    spent = [int((row.astype(object) * demand.receives).sum()) for row in prices.table]
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


def _flow_totals(
    claim: Claim, topology: Topology, routing: Routing, prices: Prices, demand: _Demand, work: _Work
) -> _Totals | None:
    """Return the totals of any routing; None where a load is not an integer over the claim's denominator."""
    sums = Sums(claim, topology, prices, demand.sends)
    flows = source_flows(routing, claim.denominator, work.check_time)
    terminals = len(demand.sends)
    steps = 0
    for i in range(terminals):
        work.check_time()
        flow = flows(i) if claim.kind == "worst" else flows(i).without(i)
        steps += len(flow.channel)
        if not sums.add(i, flow):
            return None
        work.report((i + 1) / terminals)
    if not sums.flush():
        return None

    def columns(c: int) -> int:
        return int((sums.tops_of(c).astype(object) * demand.receives).sum())

    return _Totals(sums.total, columns, sums.load / claim.denominator, steps)


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
    if any(price < 0 for prices in claim.duals for price in prices):
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
    """Check a worst case, or a ratio, by prices of terminals or by flows and lengths."""
    load, certificate = content.get("channel_load"), content.get("certificate")
    if content["kind"] == "ratio" and isinstance(certificate, dict) and "lengths" in certificate:
        from obliv.checker.ratios import check_ratio

        return check_ratio(content, topology, routing, quick, budget, progress)
    if isinstance(load, dict) and "stderr" in load:
        raise MalformedError("it is an estimate, which has no certificate; without samples the claim is exact")
    return check_worst_case(read_claim(content), topology, routing, quick, budget, progress)


def check_worst_case(
    claim: Claim, topology: Topology, routing: Routing, quick: bool, budget: float, progress: Progress
) -> Verification:
    """Check a claim against a topology and a routing."""
    if claim.kind not in _STATEMENTS:  # of a claim within another one
        raise InputError(f"a claim of kind {claim.kind[:40]!r} is not about a worst case: its kind is worst or ratio")
    report = Report()
    unchecked: list[int] = []
    report.note_digest(claim.digest_holds)
    report.note_sources(claim.sources, (*topology.sources, *routing.sources))
    if not report.holds:
        unchecked = list(range(topology.channels))
    elif check_form(report, claim, topology):
        try:
            if claim.kind == "ratio":
                check_optimum(report, topology)
            if routing.partial or claim.skipped:
                _check_skipped(report, claim, routing)
            limit = TimeLimit(report.began + budget)
            unchecked = check_bounds(report, claim, topology, routing, quick, limit, progress)
            if claim.row_loads is not None and report.holds:
                _check_rows(report, claim.row_loads, claim.denominator, topology, routing, limit)
        except (OblivError, NotImplementedError) as error:
            report.note("pair loads", False, str(error))
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
    weights = np.zeros((topology.channels, n, n), np.int64)
    flows = source_flows(routing, denominator, limit.check)
    try:
        for i in range(n):
            flow = flows(i)
            j = np.repeat(np.arange(n), np.diff(flow.ends, prepend=0))
            for c, d, amount in zip(flow.channel.tolist(), j.tolist(), flow.amount.tolist(), strict=True):
                weights[c, i, d] += amount * denominator // int(flow.whole[d])
        for c, load in enumerate(loads):
            limit.check()
            rows, columns = linear_sum_assignment(weights[c], maximize=True)
            most = Fraction(int(weights[c][rows, columns].sum()), denominator) / topology.bandwidth_of(c)
            if most != load:
                report.note("rows", False, f"channel {c} carries up to {most}, claimed {load}")
                return
    except OutOfTimeError:
        report.note("rows", None, "time limit reached; raise the budget")
        return
    report.note("rows", True, f"the worst case of each of {len(loads)} channels, computed again by assignments")


def _check_skipped(report: Report, claim: Claim, routing: Routing) -> None:
    """Note how many pairs have no path, or too few; the bounds are about the others."""
    count = routing.skipped if routing.partial else 0
    fits = claim.skipped in (None, count)
    claimed = "" if fits else f", claimed {claim.skipped!r:.40}"
    report.note("left out", fits, f"{count} pairs that {routing.spec} does not serve send nothing{claimed}")
