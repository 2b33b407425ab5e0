"""The check of a worst-case certificate, over all channels, in exact arithmetic.

The claim holds iff the digest fits, the witness puts the claimed load on the named channel, and every channel is
proved: by its simple bound, min(Σ row maxima, Σ column maxima), or by prices v carried along a word of generators,
Σ_i max(0, max_j (w_ij - v_j)) + Σ_j v_j.  Any prices prove a bound, so no symmetry needs to be believed.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from obliv._util.typing import Array
from obliv.checker.claims import Claim
from obliv.checker.flows import source_flows, without
from obliv.checker.known_optimum import check_optimum
from obliv.checker.report import Report
from obliv.checker.sums import OutOfTimeError, Prices, Sums
from obliv.checker.trees import row_sums, single, witness_load
from obliv.errors import OblivError
from obliv.results import Verification, provenance
from obliv.topologies.base import Topology
from obliv.topologies.tree_bounds import bound_of
from obliv.topologies.trees import Tree

__all__ = ["check_worst_case"]

Progress = Callable[[str, float], None]

_SAID = {
    "worst": "no admissible traffic loads a channel by more than",
    "ratio": "no traffic loads a link more than the best routing of it does, but for a factor of",
}


def check_worst_case(
    claim: Claim,
    topology: Topology,
    routing: Any,
    quick: bool,
    budget: float,
    progress: Progress,
) -> Verification:
    """Check a claim against a topology and a routing.

    Parameters
    ----------
    claim : Claim
    topology : Topology
    routing : Routing
        Only its paths, next hops or phases are used.
    quick : bool
        Check the bound of the named channel only.
    budget : float
        Seconds after which channels are left unchecked; the claim is then not proved.
    progress : callable
        Called with what is being done and the share that is done.
    """
    began = time.perf_counter()
    report = Report()
    unchecked: list[int] = []
    report.note(
        "digest",
        claim.digest_holds,
        "SHA-256 of the file's content" if claim.digest_holds else "does not fit the content",
    )
    _check_sources(report, claim, topology, routing)
    if report.holds and _check_form(report, claim, topology):
        try:
            if claim.kind == "ratio":
                check_optimum(report, topology)
            if routing.partial or claim.skipped:
                _check_left_out(report, claim, routing)
            unchecked = _check_loads(report, claim, topology, routing, quick, began + budget, progress)
        except (OblivError, NotImplementedError) as error:
            report.note("pair loads", False, str(error))
    elif not report.holds:
        unchecked = list(range(topology.channels))
    scope = "on the named channel only" if quick else f"on all {topology.channels} channels"
    return Verification(
        topology=claim.topology,
        routing=claim.routing,
        provenance=provenance(
            {"topology": claim.topology, "routing": claim.routing},
            time.perf_counter() - began,
            sources=topology.sources,
        ),
        proved=report.holds,
        claim=f"{_SAID[claim.kind]} {claim.channel_load} ({scope})",
        checks=tuple(report.checks),
        unchecked=tuple(unchecked),
    )


def _check_sources(report: Report, claim: Claim, topology: Topology, routing: Any) -> None:
    read = dict((*topology.sources, *routing.sources))
    for path in sorted(set(claim.sources) - set(read)):
        report.note("source file", False, f"{path} is listed, but the specs do not read it")
    for path, digest in read.items():
        same = claim.sources.get(path) == digest
        report.note("source file", same, f"{path} {'is the one that was read' if same else 'has changed since'}")


def _check_left_out(report: Report, claim: Claim, routing: Any) -> None:
    """How many pairs have no path, or too few; what is proved is about the others."""
    count = routing.skipped if routing.partial else 0
    fits = claim.skipped in (None, count)
    said = "" if fits else f", claimed {claim.skipped!r:.40}"
    report.note("left out", fits, f"{count} pairs that {routing.spec} does not serve send nothing{said}")


def _check_form(report: Report, claim: Claim, topology: Topology) -> bool:
    """Whether the parts fit the network and each other, so that what follows can index freely."""
    n, terminals = topology.nodes, len(topology.terminals)
    named = claim.channel["id"]
    ends = (claim.channel["tail"], claim.channel["head"])
    problems = []
    if not 0 <= named < topology.channels or ends != (topology.tail[named], topology.head[named]):
        problems.append(f"channel {named} does not run from {ends[0]} to {ends[1]}")
    if len(claim.channels) != topology.channels:
        problems.append(f"{len(claim.channels)} channels are listed, the topology has {topology.channels}")
    if any(len(v) != terminals for v in claim.duals):
        problems.append("a price vector does not have one price a terminal")
    if any(price < 0 for v in claim.duals for price in v):
        problems.append("a price is negative")
    if any(sorted(g) != list(range(n)) for g in claim.generators):
        problems.append("a generator is no permutation of the nodes")
    for c, entry in enumerate(claim.channels):
        if entry != "simple" and not (
            0 <= entry[0] < len(claim.duals) and all(0 <= step < len(claim.generators) for step in entry[1])
        ):
            problems.append(f"the entry of channel {c} names a dual or a generator that is not there")
            break
    if claim.traffic is None:
        if sorted(claim.permutation or []) != list(range(terminals)):
            problems.append("the permutation is none")
        if not topology.unit_rates:
            problems.append("the terminals have rates, so the witness must be a traffic matrix")
    else:
        problems += _traffic_problems(claim.traffic, topology)
    problems += _figure_problems(claim, topology)
    return report.note("form", not problems, problems[0] if problems else "every part fits the network")


def _traffic_problems(rows: list[tuple[int, int, Fraction]], topology: Topology) -> list[str]:
    injection, ejection = topology.rates()
    terminals = len(injection)
    if any(not (0 <= s < terminals and 0 <= d < terminals) or amount < 0 for s, d, amount in rows):
        return ["a row of the traffic is out of range"]
    sent, taken = [Fraction(0)] * terminals, [Fraction(0)] * terminals
    for s, d, amount in rows:
        sent[s] += amount
        taken[d] += amount
    if any(a > b for a, b in zip(sent, injection, strict=True)) or any(
        a > b for a, b in zip(taken, ejection, strict=True)
    ):
        return ["the traffic exceeds what a terminal may send or take"]
    return []


def _figure_problems(claim: Claim, topology: Topology) -> list[str]:
    """Throughput and fraction of capacity must follow from the load."""
    if claim.kind == "ratio":
        known = bound_of(topology) if isinstance(topology, Tree) and claim.denominator == 1 else None
        if claim.lower_bound is not None and (known is None or claim.lower_bound != known[0]):
            return ["the lower bound is not that of the topology for single paths"]
        return []
    problems = []
    through = 1 / claim.channel_load if claim.channel_load > 0 else None
    if claim.channel_load < 0 or claim.throughput != through:
        problems.append("the throughput is not 1 / channel load")
    base = topology.capacity_load
    if claim.capacity != (None if base is None else 1 / base):
        problems.append("the capacity is not that of the topology")
    elif claim.fraction_of_capacity != (None if base is None or through is None else through * base):
        problems.append("the fraction of capacity does not follow from load and capacity")
    return problems


def _check_loads(
    report: Report, claim: Claim, topology: Topology, routing: Any, quick: bool, end: float, progress: Progress
) -> list[int]:
    """Bound every channel (or the named one) by prices or simply; the channels that were left unchecked."""
    rates = topology.rates()
    scale = lcm(*(rate.denominator for side in rates for rate in side))
    sends, takes = ([int(rate * scale) for rate in side] for side in rates)
    named = claim.channel["id"]
    checked = [named] if quick else list(range(topology.channels))
    highest = max((price for v in claim.duals for price in v), default=0)
    bits = max(claim.denominator, highest).bit_length() + (4 * sum(sends + takes)).bit_length()
    number: Any = np.int64 if bits < 62 else object
    prices = Prices(claim, topology, checked, number)
    if prices.misfit is not None:
        report.note("prices", False, f"the word of channel {prices.misfit} moves a terminal onto a node that is none")
        return checked
    done = 0.0

    def look() -> None:
        if time.perf_counter() > end:
            raise OutOfTimeError

    def went(share: float) -> None:
        nonlocal done
        done = share
        progress("channels", share)

    claimed = claim.channel_load
    demand = np.array(takes, object)
    spent = {row: int((prices.table[row].astype(object) * demand).sum()) for row in range(len(prices.table))}
    try:
        if single(routing) and claim.denominator == 1 and topology.unit_rates and number is np.int64:
            totals: _Totals | None = _climbed(claim, routing, prices, look, went)
        else:
            totals = _summed(claim, topology, routing, prices, np.array(sends, number), demand, look, went)
        if totals is None:
            report.note("pair loads", False, f"a load is no whole number over the denominator {claim.denominator}")
            return checked
        bad = []
        for c in checked:
            limit = claimed * topology.bandwidth_of(c) * claim.denominator * scale
            bound = int(totals.rows[c]) + spent[int(prices.row[c])]
            if bound > limit and claim.channels[c] == "simple":
                bound = totals.columns(c)
            if bound > limit:
                bad.append(c)
    except OutOfTimeError:
        report.note("channels", None, f"the time ran out after {done:.0%}: no channel is checked; raise --budget")
        return list(range(topology.channels))
    if claim.lower_bound is not None and isinstance(topology, Tree):
        climbs = totals.steps == _least_steps(topology)
        report.note(
            "lower bound",
            climbs,
            f"{claim.lower_bound} for single paths that climb and then come down{'' if climbs else '; not all do'}",
        )
    load = totals.load / topology.bandwidth_of(named)
    report.note("witness", load == claimed, f"it loads channel {named} by {load}, claimed {claimed}")
    simple = sum(claim.channels[c] == "simple" for c in checked)
    detail = f"{len(checked) - simple} by prices, {simple} by the simple bound"
    if bad:
        detail = f"channel {bad[0]} may carry more than claimed" + (f", and {len(bad) - 1} others" if bad[1:] else "")
    report.note("channels", not bad, detail)
    return [c for c in range(topology.channels) if quick and c != named]


@dataclass(frozen=True)
class _Totals:
    """What the bounds are made of: each channel's sum over sources and, asked one by one, over destinations."""

    rows: Array
    columns: Callable[[int], int]
    load: Fraction  # of the witness on the named channel
    steps: int  # entries of all pairs: of single paths, the edges


def _climbed(
    claim: Claim, routing: Any, prices: Prices, look: Callable[[], None], went: Callable[[float], None]
) -> _Totals:
    """Of one path a pair."""
    none = np.zeros_like(prices.row)
    rows = row_sums(routing, prices.row, prices.table, "source", look, went)

    @functools.cache
    def columns() -> Array:
        return row_sums(routing, none, prices.table, "destination", look, lambda share: None)

    load = witness_load(routing, claim.channel["id"], claim.witness)
    tree = routing.topology
    steps = _least_steps(tree) if isinstance(tree, Tree) else 0
    return _Totals(rows, lambda c: int(columns()[c]), load, steps)


def _least_steps(tree: Tree) -> int:
    """The edges of shortest paths between all pairs of hosts: a pair climbs over a height if that ends its sub-tree."""
    hosts = tree.below[-1]
    return 2 * hosts * sum(hosts - below for below in tree.below[:-1])


def _summed(
    claim: Claim,
    topology: Topology,
    routing: Any,
    prices: Prices,
    sends: Array,
    demand: Array,
    look: Callable[[], None],
    went: Callable[[float], None],
) -> _Totals | None:
    """Of any routing; None where a load is no whole number over the claim's denominator."""
    sums = Sums(claim, topology, prices, sends)
    flows = source_flows(routing, claim.denominator, look)
    steps = 0
    for i in range(len(sends)):
        look()
        flow = flows(i) if claim.kind == "worst" else without(flows(i), i)
        steps += len(flow.channel)
        if not sums.add(i, flow):
            return None
        went((i + 1) / len(sends))
    if not sums.flush():
        return None

    def columns(c: int) -> int:
        return int((sums.tops_of(c).astype(object) * demand).sum())

    return _Totals(sums.total, columns, sums.load / claim.denominator, steps)
