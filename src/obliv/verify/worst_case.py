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
from obliv.verify._kernels import add_block, raise_tops, sort_block
from obliv.verify.claim import Claim
from obliv.verify.flows import Flow, source_flows

__all__ = ["check_worst_case"]

Array = npt.NDArray[Any]
Progress = Callable[[str, float], None]

_BLOCK = 8_000_000  # entries that are sorted by channel at a time


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
    """Bound every channel (or the named one) by prices or simply; the channels that were left unchecked."""
    rates = topology.rates()
    scale = lcm(*(rate.denominator for side in rates for rate in side))
    sends, takes = ([int(rate * scale) for rate in side] for side in rates)
    named = claim.channel["id"]
    checked = [named] if quick else list(range(topology.channels))
    highest = max((price for v in claim.duals for price in v), default=0)
    bits = max(claim.denominator, highest).bit_length() + (4 * sum(sends + takes)).bit_length()
    number: Any = np.int64 if bits < 62 else object
    prices = _Prices(claim, topology, checked, number)
    if prices.misfit is not None:
        report.note("prices", False, f"the word of channel {prices.misfit} moves a terminal onto a node that is none")
        return checked
    sums = _Sums(claim, topology, prices, np.array(sends, number))
    done = 0

    def look() -> None:
        if time.perf_counter() > end:
            raise _OutOfTime

    try:
        flows = source_flows(routing, claim.denominator, look)
        for i in range(len(sends)):
            look()
            if not sums.add(i, flows(i)):
                detail = f"a load is no whole number over the denominator {claim.denominator}"
                report.note("pair loads", False, detail)
                return checked
            done += 1
            progress("channels", done / len(sends))
    except _OutOfTime:
        share = f"{done} of {len(sends)} sources"
        report.note("channels", None, f"the time ran out after {share}: no channel is checked; raise --budget")
        return list(range(topology.channels))
    sums.flush()
    load = sums.load / (claim.denominator * topology.bandwidth_of(named))
    claimed = claim.channel_load
    report.note("witness", load == claimed, f"it loads channel {named} by {load}, claimed {claimed}")
    demand = np.array(takes, object)
    bad = []
    for c in checked:
        limit = claimed * topology.bandwidth_of(c) * claim.denominator * scale
        bound = int(sums.total[c]) + int((prices.of(c).astype(object) * demand).sum())
        if bound > limit and claim.channels[c] == "simple":
            bound = int((sums.tops_of(c).astype(object) * demand).sum())
        if bound > limit:
            bad.append(c)
    simple = sum(claim.channels[c] == "simple" for c in checked)
    detail = f"{len(checked) - simple} by prices, {simple} by the simple bound"
    if bad:
        detail = f"channel {bad[0]} may carry more than claimed" + (f", and {len(bad) - 1} others" if bad[1:] else "")
    report.note("channels", not bad, detail)
    return [c for c in range(topology.channels) if quick and c != named]


class _OutOfTime(Exception):  # noqa: N818 - no error
    """The budget is used up."""


class _Prices:
    """The prices of every channel: its dual, carried along its word; zeros for the simple bound by rows."""

    def __init__(self, claim: Claim, topology: Topology, checked: list[int], number: Any) -> None:
        terminals = len(topology.terminals)
        self.misfit: int | None = None
        rows: dict[tuple[int, tuple[int, ...]], int] = {}
        self.row = np.zeros(topology.channels, np.int64)
        for c in checked:
            entry = claim.channels[c]
            if entry != "simple":
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
        """The prices that hold for a channel."""
        prices: Array = self.table[self.row[channel]]
        return prices


class _Sums:
    """Every channel's sum over sources, filled block by block so that memory stays bounded."""

    def __init__(self, claim: Claim, topology: Topology, prices: _Prices, send: Array) -> None:
        channels, terminals = topology.channels, len(topology.terminals)
        self.claim, self.prices, self.send = claim, prices, send
        self.total: Array = np.zeros(channels, send.dtype)
        self._most = 0  # the largest numerator so far
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
        """Take one source's flow; False where a load is no whole number over the claim's denominator."""
        self._block.append((i, flow))
        self._size += len(flow.channel)
        for j, share in self._witness.get(i, []):
            part = slice(int(flow.ends[j - 1]) if j else 0, int(flow.ends[j]))
            at = np.flatnonzero(flow.channel[part] == self.claim.channel["id"])
            crossed = sum(int(flow.amount[part][k]) for k in at)
            self.load += share * Fraction(crossed * self.claim.denominator, int(flow.whole[j]))
        return self._size < _BLOCK or self.flush()

    def flush(self) -> bool:
        """Sort the block by channel and add it to the sums."""
        channels, size = len(self.total), self._size
        counts = np.zeros(channels, np.int64)
        for _, flow in self._block:
            counts += np.bincount(flow.channel, minlength=channels)
        start = np.concatenate([[0], np.cumsum(counts)])
        cursor = start[:-1].copy()
        source, destination = np.empty(size, np.int32), np.empty(size, np.int32)
        loads = [(i, flow, self._machine(flow)) for i, flow in self._block]
        wide = any(amount.dtype == object for _, _, (amount, _) in loads)
        weight: Array = np.empty(size, object if wide else self.send.dtype)
        for i, flow, (amount, whole) in loads:
            arguments = (flow.ends, flow.channel, amount, whole, self.claim.denominator, i)
            if not run(sort_block, 30.0 * size, *arguments, cursor, source, destination, weight):
                return False
        self._most = max(self._most, int(max(weight, default=0) if weight.dtype == object else weight.max(initial=0)))
        if self._most * self._sends >= 2**62 and self.total.dtype != object:
            self._widen()
        if self.total.dtype == object:
            weight = weight.astype(object)
        work = 10.0 * size
        price = self.prices
        run(add_block, work, start, source, destination, weight, self.send, price.row, price.table, self.total)
        if len(self._top):
            run(raise_tops, work, start, destination, weight, self._top_row, self._top)
        self._block, self._size = [], 0
        return True

    def _widen(self) -> None:
        """Go on with Python integers: a routing may cross a channel many times, and sums must not wrap."""
        self.total, self.send = self.total.astype(object), self.send.astype(object)
        self.prices.table, self._top = self.prices.table.astype(object), self._top.astype(object)

    def tops_of(self, channel: int) -> Array:
        """The column maxima of a channel that the simple bound is to prove."""
        tops: Array = self._top[self._top_row[channel]]
        return tops

    def _machine(self, flow: Flow) -> tuple[Array, Array]:
        """Amounts and their denominators, as Python integers where a product could pass 64 bits."""
        if not len(flow.amount):
            return flow.amount, flow.whole
        if flow.amount.dtype == object or flow.whole.dtype == object or self.send.dtype == object:
            return flow.amount.astype(object), flow.whole.astype(object)
        largest, amount = int(flow.whole.max()), int(flow.amount.max())
        whole = np.repeat(flow.whole, np.diff(flow.ends, prepend=0))
        crossings = int((flow.amount // whole).max()) + 1
        small = (largest * amount).bit_length() < 62 and (self.claim.denominator * crossings).bit_length() < 62
        if small:
            return flow.amount, flow.whole
        return flow.amount.astype(object), flow.whole.astype(object)


def _witness(claim: Claim) -> dict[int, list[tuple[int, Fraction]]]:
    """For every source what it sends to whom."""
    rows = claim.traffic
    if rows is None:
        rows = [(i, j, Fraction(1)) for i, j in enumerate(claim.permutation or [])]
    found: dict[int, list[tuple[int, Fraction]]] = {}
    for s, d, share in rows:
        found.setdefault(s, []).append((d, share))
    return found


def _moved(claim: Claim, topology: Topology, word: tuple[int, ...]) -> Array:
    """Where a word of generators, first to last, moves every terminal; -1 where that is no terminal."""
    index = np.full(topology.nodes, -1, np.int64)
    index[topology.terminals] = np.arange(len(topology.terminals))
    place = topology.terminals.astype(np.int64)
    for step in word:
        place = np.asarray(claim.generators[step])[place]
    moved: Array = index[place]
    return moved
