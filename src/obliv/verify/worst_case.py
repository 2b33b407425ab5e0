"""The check of a worst-case certificate, over all channels, in exact arithmetic.

The claim holds iff the digest fits, the witness puts the claimed load on the named channel, and every channel is
proved: by its simple bound, min(Σ row maxima, Σ column maxima), or by prices v carried along a word of generators,
Σ_i max(0, max_j (w_ij - v_j)) + Σ_j v_j.  Any prices prove a bound, so no symmetry needs to be believed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from obliv.errors import ObliviousError, require_memory
from obliv.kernels import run
from obliv.results import Verification, provenance
from obliv.topology.topology import Topology
from obliv.verify._kernels import add_source
from obliv.verify.claim import Claim
from obliv.verify.flows import Flows, source_flows

__all__ = ["check_worst_case"]

Array = npt.NDArray[Any]
Progress = Callable[[str, float], None]


class _Report:
    """What was checked, in order."""

    def __init__(self) -> None:
        self.checks: list[dict[str, Any]] = []

    def note(self, check: str, ok: bool | None, detail: str) -> bool:
        self.checks.append({"check": check, "ok": ok, "detail": detail})
        return ok is True

    @property
    def holds(self) -> bool:
        return all(each["ok"] is True for each in self.checks)


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
    report = _Report()
    unchecked: list[int] = []
    report.note(
        "digest",
        claim.digest_holds,
        "SHA-256 of the file's content" if claim.digest_holds else "does not fit the content",
    )
    _check_sources(report, claim, topology, routing)
    if report.holds and _check_form(report, claim, topology):
        try:
            unchecked = _check_loads(report, claim, topology, routing, quick, began + budget, progress)
        except (ObliviousError, NotImplementedError) as error:
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
        claim=f"no admissible traffic loads a channel by more than {claim.channel_load} ({scope})",
        checks=tuple(report.checks),
        unchecked=tuple(unchecked),
    )


def _check_sources(report: _Report, claim: Claim, topology: Topology, routing: Any) -> None:
    read = dict((*topology.sources, *routing.sources))
    for path in sorted(set(claim.sources) - set(read)):
        report.note("source file", False, f"{path} is listed, but the specs do not read it")
    for path, digest in read.items():
        same = claim.sources.get(path) == digest
        report.note("source file", same, f"{path} {'is the one that was read' if same else 'has changed since'}")


def _check_form(report: _Report, claim: Claim, topology: Topology) -> bool:
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
    report: _Report, claim: Claim, topology: Topology, routing: Any, quick: bool, end: float, progress: Progress
) -> list[int]:
    injection, ejection = topology.rates()
    scale = lcm(*(rate.denominator for rate in (*injection, *ejection)))
    sends = [int(rate * scale) for rate in injection]
    takes = [int(rate * scale) for rate in ejection]
    terminals, channels = len(sends), topology.channels
    highest = max((price for v in claim.duals for price in v), default=0)
    bits = max(claim.denominator, highest).bit_length() + (terminals * max(sends + takes) * 4).bit_length()
    number: Any = np.int64 if bits < 62 else object
    require_memory(16.0 * channels * terminals, f"the prices of {channels} channels")
    price: Array = np.zeros((terminals, channels), number)
    named = claim.channel["id"]
    for c, entry in enumerate(claim.channels):
        if entry != "simple" and (not quick or c == named):
            carried = _carried(claim, topology, entry)
            if carried is None:
                report.note("prices", False, f"the word of channel {c} moves a terminal onto a node that is none")
                return [c]
            price[:, c] = carried
    total: Array = np.zeros(channels, number)
    row_total: Array = np.zeros(channels, number)
    col_top: Array = np.zeros((terminals, channels), number)
    witness = _witness(claim)
    load = Fraction(0)
    flows = source_flows(routing, claim.denominator)
    for i in range(terminals):
        row = _add(flows, i, claim, sends[i], price, total, row_total, col_top, named, witness.get(i, []), number)
        if row is None:
            report.note("pair loads", False, f"a load is no whole number over the denominator {claim.denominator}")
            return list(range(channels))
        load += row
        progress("channels", (i + 1) / terminals)
        if time.perf_counter() > end and i + 1 < terminals:
            share = f"{i + 1} of {terminals} sources"
            report.note("channels", None, f"the time ran out after {share}: no channel is checked; raise --budget")
            return list(range(channels))
    load /= claim.denominator * topology.bandwidth_of(named)
    report.note(
        "witness", load == claim.channel_load, f"it loads channel {named} by {load}, claimed {claim.channel_load}"
    )
    checked = [named] if quick else list(range(channels))
    worst, bad = 0, []
    demand = np.array(takes, object)
    for c in checked:
        limit = claim.channel_load * topology.bandwidth_of(c) * claim.denominator * scale
        if claim.channels[c] == "simple":
            proved = int(row_total[c]) <= limit or int((col_top[:, c].astype(object) * demand).sum()) <= limit
        else:
            proved = int(total[c]) + int((price[:, c].astype(object) * demand).sum()) <= limit
        if not proved:
            bad.append(c)
        worst += 1
    simple = sum(claim.channels[c] == "simple" for c in checked)
    detail = f"{worst - simple} by prices, {simple} by the simple bound"
    if bad:
        detail = f"channel {bad[0]} may carry more than claimed" + (f", and {len(bad) - 1} others" if bad[1:] else "")
    report.note("channels", not bad, detail)
    return [c for c in range(channels) if quick and c != named]


def _add(
    flows: Flows,
    i: int,
    claim: Claim,
    rate: int,
    price: Array,
    total: Array,
    row_total: Array,
    col_top: Array,
    named: int,
    partners: list[tuple[int, Fraction]],
    number: Any,
) -> Fraction | None:
    """Add one source to all sums; what it puts on the named channel, None where a load is no whole number."""
    flow = flows(i)
    channels = price.shape[1]
    largest = max((int(w) for w in np.unique(flow.whole)), default=1)
    amounts = max((int(a) for a in (flow.amount.max(initial=0),)), default=0) if len(flow.amount) else 0
    small = number is not object and flow.amount.dtype != object and flow.whole.dtype != object
    small = (
        small and (largest * (amounts + 1)).bit_length() < 62 and (claim.denominator * 4 * channels).bit_length() < 63
    )
    over, top = np.zeros(channels, number), np.zeros(channels, number)
    found: Array = np.zeros(1, number)
    load = Fraction(0)
    first = partners[0][0] if partners else -1
    ends, whole, amount = flow.ends, flow.whole, flow.amount
    if not small:
        whole, amount = whole.astype(object), amount.astype(object)
    arguments = (ends, flow.channel, amount, whole, claim.denominator, rate)
    sums = (price, over, top, total, row_total, col_top, named, first, found)
    if not run(add_source, 20.0 * len(amount) * len(ends), *arguments, *sums):
        return None
    for j, share in partners:
        part = slice(int(ends[j - 1]) if j else 0, int(ends[j]))
        at = np.flatnonzero(flow.channel[part] == named)
        crossed = sum(int(amount[part][k]) for k in at)
        load += share * Fraction(crossed * claim.denominator, int(whole[j]))
    return load


def _witness(claim: Claim) -> dict[int, list[tuple[int, Fraction]]]:
    """For every source what it sends to whom."""
    rows = claim.traffic
    if rows is None:
        rows = [(i, j, Fraction(1)) for i, j in enumerate(claim.permutation or [])]
    found: dict[int, list[tuple[int, Fraction]]] = {}
    for s, d, share in rows:
        found.setdefault(s, []).append((d, share))
    return found


def _carried(claim: Claim, topology: Topology, entry: Any) -> Array | None:
    """The prices of a dual after its terminals are moved by a word of generators, first to last."""
    index = np.full(topology.nodes, -1, np.int64)
    index[topology.terminals] = np.arange(len(topology.terminals))
    place = topology.terminals.astype(np.int64)
    for step in entry[1]:
        place = np.asarray(claim.generators[step])[place]
    moved = index[place]
    if (moved < 0).any():
        return None
    prices = claim.duals[entry[0]]
    carried: Array = np.zeros(len(moved), object if max(prices, default=0) >= 2**62 else np.int64)
    carried[moved] = prices
    return carried
