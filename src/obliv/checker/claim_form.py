"""The form of a worst-case claim: its parts fit the network and each other."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from obliv.checker.capacity import capacity_load_of
from obliv.checker.claims import Claim, MalformedError
from obliv.checker.report import Report
from obliv.results.verification import NO_BOUND
from obliv.topologies.base import Topology
from obliv.topologies.tree_bounds import bound_of
from obliv.topologies.trees import Tree

__all__ = ["check_form"]

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
