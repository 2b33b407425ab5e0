"""The check of an oblivious performance ratio between bounds, in exact arithmetic.

A traffic proves the lower bound: given flows carry it without loading a channel beyond its bandwidth, and under it the
routing loads the named channel as claimed. Lengths of all channels, given for every channel, prove the upper bound: no
pair loads the channel by more than its distance under these lengths allows, and any traffic that some routing carries
without overload takes up at most the sum of bandwidth times length.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.arrays import Array
from obliv._util.files import digest_of, unpack_array
from obliv._util.progress import Progress, require_memory
from obliv.checker.claims import MalformedError, certificate_of, read_result
from obliv.checker.flows.links import source_flows
from obliv.checker.flows.trees import Flow, Flows
from obliv.checker.report import OutOfTimeError, Report, TimeLimit, short
from obliv.errors import OblivError
from obliv.results.numbers import rational
from obliv.results.study import NO_BOUND, Verification
from obliv.routings.base import Routing
from obliv.topologies.base import Topology

if TYPE_CHECKING:
    from obliv.questions.ratio import Ratio

__all__ = ["Upper", "check_ratio", "merged"]

_FAR = 2**61  # of a node that cannot be reached
_CLOSE = 1 - 1e-9  # two sides that are closer are compared in exact arithmetic


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
    """Check the certificate of a ratio by lengths and flows."""
    report = Report()
    claim = _read(content, topology)
    report.note_digest(claim.digest_holds)
    report.note_sources(claim.sources, (*topology.sources, *routing.sources))
    unchecked: list[int] = list(range(topology.channels))
    if report.holds and _check_form(report, claim, topology):
        checked = [claim.channel] if quick else unchecked
        try:
            _check_flows(report, claim, topology)
            limit = TimeLimit(report.began + budget)
            flows = source_flows(routing, claim.denominator, limit.check)
            if _check_loads(report, claim, topology, flows, checked, limit, progress):
                unchecked = [channel for channel in unchecked if quick and channel != claim.channel]
        except (OblivError, NotImplementedError) as error:
            report.note("pair loads", False, str(error))
    scope = "on the named channel only" if quick else f"on all {topology.channels} channels"
    statement = (
        "no traffic loads a link more than the best routing of it does, but for a factor of "
        f"{short(claim.ratio.upper)} ({scope}), and some does by {short(claim.ratio.lower)}"
    )
    return report.verification(statement, claim.ratio.topology, claim.ratio.routing, topology.sources, unchecked)


def _read(content: dict[str, Any], topology: Topology) -> _Parts:
    certificate = certificate_of(content)
    terminals, channels = len(topology.terminals), topology.channels
    try:
        unpack_array(content.get("permutation") or [], terminals)  # not too large to be read
        claimed: Ratio = read_result(content)
        unit = rational(certificate["unit"])
        lengths = np.array([unpack_array(row, channels) for row in certificate["lengths"]])
        flows = unpack_array(certificate["flows"], 3 * terminals * channels).reshape(-1, 3)
    except (
        *(KeyError, TypeError, ValueError, ArithmeticError, AttributeError),
        *(MemoryError, RecursionError),
    ) as error:
        raise MalformedError(str(error)) from None
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
    elif len(claim.flows) and (
        claim.flows.min() < 0 or claim.flows[:, 0].max() >= terminals or claim.flows[:, 1].max() >= channels
    ):
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
    terminals = topology.terminals.tolist()
    balance = [dict[int, Fraction]() for _ in terminals]  # what ends at each node, less what starts there
    loads = [Fraction(0)] * topology.channels
    for source, channel, count in claim.flows.tolist():
        amount = count * claim.unit
        loads[channel] += amount
        for node, change in zip(_ends(topology, channel), (-amount, amount), strict=True):
            balance[source][node] = balance[source].get(node, Fraction(0)) + change
    for source, destination, amount in claim.ratio.traffic or ():
        for terminal, change in ((source, amount), (destination, -amount)):
            node = terminals[terminal]
            balance[source][node] = balance[source].get(node, Fraction(0)) + change
    carries = not any(rest for nodes in balance for rest in nodes.values())
    over = [c for c, load in enumerate(loads) if load > topology.bandwidth_of(c)]
    detail = "explicit flows carry the traffic and load no channel beyond its bandwidth"
    if not carries:
        detail = "the flows do not carry the traffic"
    elif over:
        detail = f"the flows load channel {over[0]} beyond its bandwidth"
    report.note("optimum", carries and not over, detail)


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
    upper = Upper(claim.ratio.upper, claim.lengths, topology, checked)
    wanted: dict[int, dict[int, Fraction]] = {}
    for sender, receiver, rate in claim.ratio.traffic or ():
        row = wanted.setdefault(sender, {})
        row[receiver] = row.get(receiver, Fraction(0)) + rate
    load = Fraction(0)
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
        destination, channel, amount = merged(flow, source, topology.channels)
        for k in np.flatnonzero(channel == claim.channel).tolist():
            share = wanted.get(source, {}).get(int(destination[k]), Fraction(0))
            load += share * Fraction(int(amount[k]), int(flow.whole[destination[k]]))
        upper.add(source, destination, channel, amount, flow.whole)
        progress("channels", (source + 1) / len(topology.terminals))
    load /= topology.bandwidth_of(claim.channel)
    reached = load >= claim.ratio.lower
    report.note(
        "witness", reached, f"it loads channel {claim.channel} by {short(load)}, claimed {short(claim.ratio.lower)}"
    )
    over = sorted(upper.over)
    detail = f"lengths prove the bound of {len(checked)} channels"
    if over:
        detail = f"channel {over[0]} may carry more than claimed{f', and {len(over) - 1} others' if over[1:] else ''}"
    report.note("channels", not over, detail)
    return True


def merged(flow: Flow, source: int, channels: int) -> tuple[Array, Array, Array]:
    """Return destinations, channels and amounts of the flow from a source, each sum once."""
    destination = np.repeat(np.arange(len(flow.ends)), np.diff(flow.ends, prepend=0))
    key, place = np.unique(destination * channels + flow.channel, return_inverse=True)
    amount = np.zeros(len(key), object)
    np.add.at(amount, place, flow.amount.astype(object))
    destination, channel = np.divmod(key, channels)
    others = destination != source
    return destination[others], channel[others], amount[others]


class Upper:
    """The channels whose lengths do not prove the upper bound; sources are added one after another."""

    def __init__(self, bound: Fraction, lengths: Array, topology: Topology, checked: list[int]) -> None:
        self.over: set[int] = set()
        self._bound = bound
        self._length = lengths[checked]
        self._row = np.full(topology.channels, -1, np.int64)
        self._row[checked] = np.arange(len(checked))
        speeds = [topology.bandwidth_of(c) for c in range(topology.channels)]
        scale = lcm(*(speed.denominator for speed in speeds))
        whole = [int(speed * scale) for speed in speeds]
        # what traffic can take up of each channel's lengths, over the bandwidth of the channel
        self._spent = [
            Fraction(sum(speed * length for speed, length in zip(whole, row, strict=True)), whole[c])
            for c, row in zip(checked, self._length.tolist(), strict=True)
        ]
        require_memory(40.0 * len(checked) * topology.channels, "the distances under the lengths of all channels")
        self._terminals = topology.terminals.astype(np.int64)
        self._nodes = topology.nodes
        order = np.argsort(topology.head, kind="stable")
        self._tail, self._sorted = topology.tail[order].astype(np.int64), self._length[:, order]
        self._heads, self._first = np.unique(topology.head[order], return_index=True)

    def add(self, source: int, destination: Array, channel: Array, amount: Array, whole: Array) -> None:
        """Check the inequality ``amount / whole · spent ≤ bound · distance``, with distances above 0, for a source."""
        row = self._row[channel]
        checked = row >= 0
        destination, row, amount = destination[checked], row[checked], amount[checked]
        distance = self._distances(int(self._terminals[source]))[row, self._terminals[destination]]
        parts = whole[destination].astype(object)
        spent = np.array([float(value) for value in self._spent])[row]
        shares = (amount / parts).astype(float)
        with np.errstate(over="ignore"):
            unsure = np.flatnonzero(~(shares * spent < float(self._bound) * distance * _CLOSE))
        for k in unsure.tolist():
            used = Fraction(int(amount[k]), int(parts[k])) * self._spent[row[k]]
            if distance[k] == 0 or used > self._bound * int(distance[k]):
                self.over.add(int(channel[checked][k]))

    def _distances(self, node: int) -> Array:
        """Return the distances from a node under the lengths of each checked channel (Bellman and Ford)."""
        distance = np.full((len(self._length), self._nodes), _FAR, np.int64)
        distance[:, node] = 0
        for _ in range(self._nodes):
            through = np.minimum.reduceat(distance[:, self._tail] + self._sorted, self._first, axis=1)
            shorter = np.minimum(distance[:, self._heads], through)
            if np.array_equal(shorter, distance[:, self._heads]):
                break
            distance[:, self._heads] = shorter
        return distance
