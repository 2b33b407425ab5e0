"""The proof of one channel, computed from the certificate and from the routing's flows, term by term."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from obliv._util.progress import Progress
from obliv.checker.report import Report
from obliv.checker.worst_case import Prices, check_form
from obliv.errors import InputError
from obliv.flows.sources import source_flows, threshold_prices
from obliv.results.base import Channel, Explanation, Term, provenance
from obliv.results.claims import Claim, MalformedError
from obliv.routings.base import Routing
from obliv.topologies.base import NodeName, Topology, find
from obliv.topologies.cartesian import LinkFlows

__all__ = ["channel_of", "explain_channel"]

Weights = dict[tuple[int, int], Fraction]  # load of the channel by source and destination terminal


def channel_of(topology: Topology, channel: int | str | Channel | tuple[NodeName, NodeName]) -> int:
    """Return the number of a channel, which is given as a result has it, or by its number or its nodes."""
    if isinstance(channel, Channel):
        channel = channel.id
    if isinstance(channel, tuple) and len(channel) == 2:
        return topology.channel(*channel)
    tail, arrow, head = str(channel).partition("->")
    if arrow:
        return topology.channel(tail.strip(), head.strip())
    if not re.fullmatch(r" *\d{1,18} *", tail):
        raise InputError(f"{tail!r} is not a channel: write its number or its nodes, as in  0 -> 1")
    if int(tail) >= topology.channels:
        raise InputError(f"{topology.spec} has no channel {int(tail)}; channels are 0 to {topology.channels - 1}")
    return int(tail)


def explain_channel(
    claim: Claim, topology: Topology, routing: Routing, channel: int, progress: Progress
) -> Explanation:
    """Return the terms that bound the load of a channel, as the certificate proves it."""
    began = time.perf_counter()
    report = Report()
    if not check_form(report, claim, topology):
        raise MalformedError(report.checks[-1].detail)
    weights = _weights(claim, topology, routing, channel, progress)
    rates = topology.rates()
    rule, terms = "prices", list[Term]()
    if claim.channels[channel] == "simple":
        sides = {
            "rows": list(_largest(topology, weights, [Fraction(0)] * len(rates[0]), "source")),
            "columns": list(_largest(topology, _turned(weights), [Fraction(0)] * len(rates[0]), "destination")),
        }
        rule = min(sides, key=lambda name: _sum(sides[name]))
        terms = sides[rule]
    else:
        prices = _prices(claim, topology, routing, channel)
        terms = [*_priced(topology, prices), *_largest(topology, weights, prices, "source")]
    tail, head = int(topology.tail[channel]), int(topology.head[channel])
    return Explanation(
        topology=claim.topology,
        routing=claim.routing,
        provenance=provenance(
            {"topology": claim.topology, "routing": claim.routing},
            time.perf_counter() - began,
            sources=topology.sources,
        ),
        channel=Channel(channel, tail, head),
        channel_names=(topology.name_of(tail), topology.name_of(head)),
        limit=claim.channel_load,
        bound=_sum(terms),
        rule=rule,
        terms=tuple(terms),
    )


def _prices(claim: Claim, topology: Topology, routing: Routing, channel: int) -> list[Fraction]:
    """Return the prices of a channel, relative to its bandwidth."""
    entry, flows = claim.channels[channel], find(routing, LinkFlows)
    if isinstance(entry, dict):
        if flows is None:
            raise MalformedError(f"a threshold proves loads of flow differences only, not those of {routing.spec}")
        numbers, denominator = threshold_prices(flows.over(channel), entry["threshold"]), flows.denominator
    else:
        table = Prices(claim, topology, [channel], object)
        if table.misfit is not None:
            raise MalformedError(f"the word of channel {channel} moves a terminal onto a node that is not a terminal")
        numbers, denominator = table.of(channel), claim.denominator
    scale = denominator * topology.bandwidth_of(channel)
    return [Fraction(int(price)) / scale for price in numbers]


def _sum(terms: list[Term]) -> Fraction:
    return sum((term.amount for term in terms), Fraction(0))


def _turned(weights: Weights) -> Weights:
    return {(j, i): weight for (i, j), weight in weights.items()}


def _weights(claim: Claim, topology: Topology, routing: Routing, channel: int, progress: Progress) -> Weights:
    """Return the load of a channel from one packet per cycle of each pair, relative to its bandwidth."""
    flows = source_flows(routing, claim.denominator)
    bandwidth, terminals = topology.bandwidth_of(channel), len(topology.terminals)
    weights: Weights = {}
    for i in range(terminals):
        progress("pair loads", i / terminals)
        flow = flows(i) if claim.kind == "worst" else flows(i).without(i)
        at = np.flatnonzero(np.asarray(flow.channel) == channel)
        for entry, j in zip(at.tolist(), flow.destination[at].tolist(), strict=True):
            load = Fraction(int(flow.amount[entry]), int(flow.whole[j])) / bandwidth
            weights[i, j] = weights.get((i, j), Fraction(0)) + load
    return weights


def _priced(topology: Topology, prices: list[Fraction]) -> Iterator[Term]:
    """Yield the price of every destination that has one."""
    rates = topology.rates()[1]
    for j, price in enumerate(prices):
        if price:
            amount = rates[j] * price
            yield Term("destination", j, _name(topology, j), None, "", Fraction(0), price, rates[j], amount)


def _largest(topology: Topology, weights: Weights, prices: list[Fraction], side: str) -> Iterator[Term]:
    """Yield the largest weight less price of every terminal of a side, where it is positive."""
    rates = topology.rates()[0 if side == "source" else 1]
    best: dict[int, tuple[Fraction, int]] = {}
    for (i, j), weight in sorted(weights.items()):
        if weight - prices[j] > best.get(i, (Fraction(0), 0))[0]:
            best[i] = weight - prices[j], j
    for i, (rest, j) in sorted(best.items()):
        yield Term(
            side, i, _name(topology, i), j, _name(topology, j), rest + prices[j], prices[j], rates[i], rates[i] * rest
        )


def _name(topology: Topology, terminal: int) -> str:
    return topology.name_of(int(topology.terminals[terminal]))
