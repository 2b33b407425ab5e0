"""The dual bound and the simple bound of every channel, summed over sources."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from obliv._util.arrays import INT64_SAFE, starts
from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.checker.claims import Claim
from obliv.checker.flows.base import Flow
from obliv.checker.kernels.sums import Entries, SourceFlow, add_block, raise_tops, sort_block
from obliv.checker.kernels.sums import Prices as PriceTable
from obliv.kernels import run
from obliv.topologies.base import Topology

__all__ = ["Prices", "Sums"]


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
        entries = Entries(start, source, destination, weight)
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
