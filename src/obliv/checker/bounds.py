"""The bound of every channel against the claimed load, and the load of the witness."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from obliv._util.progress import Progress
from obliv._util.typing import Array
from obliv.checker.claims import Claim
from obliv.checker.flows.links import difference_bound, require_unit_flows
from obliv.checker.flows.sources import source_flows
from obliv.checker.report import Report
from obliv.checker.sums import Prices, Sums
from obliv.checker.time_limit import OutOfTimeError, TimeLimit
from obliv.checker.trees import row_sums, single, witness_load
from obliv.results.verification import OTHER_CHANNELS
from obliv.routings.base import Routing
from obliv.topologies.base import Topology
from obliv.topologies.links import LinkFlows
from obliv.topologies.trees import Tree

__all__ = ["check_bounds"]


def check_bounds(
    report: Report,
    claim: Claim,
    topology: Topology,
    routing: Routing,
    quick: bool,
    limit: TimeLimit,
    progress: Progress,
) -> list[int]:
    """Bound every channel, or the named one, by prices or simply.

    Returns
    -------
    list of int
        The channels that were not checked.
    """
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
    if routing.link_flows is None and any(isinstance(entry, dict) for entry in claim.channels):
        report.note("prices", False, f"a threshold proves loads of flow differences only, not those of {routing.spec}")
        return checked
    try:
        if routing.link_flows is not None and routing.link_flows.denominator == claim.denominator:
            totals: _Totals | None = _difference_totals(claim, routing.link_flows, prices, demand, topology, work)
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
