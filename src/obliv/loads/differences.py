"""Loads of pairs whose flows are differences of one flow per terminal, such as electrical flows.

On a channel over which the flow of terminal i carries x_i, negative against it, a pair loads it by max(0, x_i - x_j).
The worst permutation sends from the terminals with large x to those with small x, so sorting solves a channel, and one
threshold m proves it: max(0, x_i - x_j) ≤ max(0, x_i - m) + max(0, m - x_j).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from obliv._util.arrays import INT64_SAFE, starts, whole
from obliv._util.cost import Work
from obliv._util.progress import Progress
from obliv._util.typing import Array
from obliv.loads.base import PairLoads
from obliv.loads.calls import Calls
from obliv.loads.search import Solved
from obliv.matching.shipments import Flows, Rates, Solution
from obliv.matching.weights import Weights, members_of
from obliv.patterns.base import Traffic
from obliv.topologies.base import Topology
from obliv.topologies.links import LinkFlows

__all__ = ["DifferenceLoads"]

_GROUP = 512  # channels between two reports of progress


class DifferenceLoads(PairLoads):
    """The positive parts of differences of one unit flow per terminal."""

    def __init__(self, topology: Topology, flows: LinkFlows) -> None:
        self.topology = topology
        self.flows = flows
        self.denominator = flows.denominator
        self._largest = max(int(flows.amount.max(initial=0)), -int(flows.amount.min(initial=0)))

    def weights(self, channel: int) -> Weights:
        value, class_of = np.unique(self.flows.over(channel), return_inverse=True)
        classes = len(value)
        count = np.arange(classes)  # entries of each row: one column for every smaller value
        row = np.repeat(count, count)
        column = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
        last = max(0, classes - 1)
        return Weights(
            ptr=starts(count[1:]),
            col=column.astype(np.int32),
            weight=value[row] - value[column],
            row_members=members_of(class_of, np.arange(1, max(1, classes))),
            column_members=members_of(class_of, np.arange(last)),
        )

    def solve(self, channel: int, rates: Rates) -> Solution:
        x = self.flows.over(channel)
        m = self._threshold(x, rates)
        if self._small(rates):
            value = int(rates.supply @ np.maximum(0, x - m) + rates.demand @ np.maximum(0, m - x))
        else:
            value = sum(int(a) * max(0, v - m) for a, v in zip(rates.supply, x.tolist(), strict=True))
            value += sum(int(b) * max(0, m - v) for b, v in zip(rates.demand, x.tolist(), strict=True))
        return Solution(value, np.maximum(0, m - x), partial(_shipments, x, rates))

    def solve_worst(self, channels: Array, progress: Progress, calls: Calls) -> Iterator[list[Solved]]:
        _, rates, prices = calls.subject
        best: Any = -1
        speeds = self.topology.bandwidth
        for first in range(0, len(channels), _GROUP):
            group: list[Solved] = []
            for channel in channels[first : first + _GROUP].tolist():
                solution = self.solve(channel, rates)
                load: Any = solution.value / speeds[channel] if speeds else solution.value
                if load > best:
                    best = load
                    group.append((channel, solution if prices else solution._replace(prices=None)))
            yield group
            progress("channels", min(1.0, (first + _GROUP) / len(channels)))

    def proof(self, channel: int, rates: Rates) -> dict[str, int]:
        return {"threshold": self._threshold(self.flows.over(channel), rates)}

    def bounds(self, supply: Array, demand: Array) -> Array | None:
        amount = self.flows.amount if self._fits(supply, demand) else self.flows.amount.astype(object)
        high, low = amount.max(axis=1, initial=0), amount.min(axis=1, initial=0)
        out, into = int(supply.astype(object).sum()), int(demand.astype(object).sum())
        sent, received = amount @ supply, amount @ demand
        along = np.minimum(sent - low * out, high * into - received)  # of the forward channels
        against = np.minimum(high * out - sent, received - low * into)
        links = self.flows.links
        bound: Array = np.where(links.sign > 0, along[links.link], against[links.link])
        return bound

    def totals(self) -> Array:
        n = self.terminals
        factor = 2 * np.arange(n, dtype=np.int64) - (n - 1)
        ordered = np.sort(self.flows.amount, axis=1)
        low = (ordered & (2**20 - 1)) @ factor  # in two digits, as sums could exceed 64 bits
        high = (ordered >> 20) @ factor
        sums = [int(a) * 2**20 + int(b) for a, b in zip(high, low, strict=True)]
        return whole(sums)[self.flows.links.link]

    def without_self(self) -> PairLoads:
        return self

    def work(self, channels: Array, symmetries: int = 0) -> Work:
        return Work(1.5e-7 * self.terminals * (len(channels) + symmetries * self.topology.channels))

    def _carried(self, traffic: Traffic) -> Array:
        source, destination = traffic.source, traffic.destination
        exact = traffic.amount.dtype == object
        most = 0 if exact or not len(traffic.amount) else int(traffic.amount.max()) * 4 * self.denominator
        if exact or most * len(source) >= INT64_SAFE:
            exact = True
        amount = traffic.amount.astype(object) if exact else traffic.amount
        forward: list[int] = []
        backward: list[int] = []
        for row in self.flows.amount:
            across = row[source] - row[destination]
            for sums, part in ((forward, across), (backward, -across)):
                part = np.maximum(0, part)
                sums.append(int((part.astype(object) if exact else part) @ amount) if len(part) else 0)
        links = self.flows.links
        return whole([(forward if up else backward)[k] for k, up in zip(links.link, links.sign > 0, strict=True)])

    def _keeps(self, node_map: Array, moved: Array, place: Array) -> bool:
        for channel, image in enumerate(moved.tolist()):
            change = self.flows.over(image)[place] - self.flows.over(channel)
            if len(change) and (change != change[0]).any():
                return False
        return True

    def _small(self, rates: Rates) -> bool:
        """Return whether the value of a channel stays within 64 bits."""
        if rates.supply.dtype == object or rates.demand.dtype == object:
            return False
        return self._fits(rates.supply, rates.demand)

    def _fits(self, supply: Array, demand: Array) -> bool:
        most = max(int(supply.astype(object).sum()), int(demand.astype(object).sum()))
        return 4 * most * self._largest < INT64_SAFE

    def _threshold(self, x: Array, rates: Rates) -> int:
        """Return the value m at which as much is sent from above it as is taken below it."""
        if not len(x):
            return 0
        if rates.unit:
            return int(np.partition(x, len(x) // 2)[len(x) // 2])
        value, class_of = np.unique(x, return_inverse=True)
        sent, taken = [0] * len(value), [0] * len(value)
        for k, a, b in zip(class_of.tolist(), rates.supply, rates.demand, strict=True):
            sent[k] += int(a)
            taken[k] += int(b)
        above, below = sum(sent), 0
        for k, m in enumerate(value.tolist()):
            above -= sent[k]
            below += taken[k]
            if below >= above:  # beyond m more could be taken than is sent
                return int(m)
        return int(value[-1])


def _shipments(x: Array, rates: Rates) -> Flows:
    """Return what terminals above the threshold send to those below it, and to the others what is left over."""
    left_out, left_in = [int(a) for a in rates.supply], [int(b) for b in rates.demand]
    order = np.argsort(x, kind="stable").tolist()
    flows = []
    sources, destinations = iter(order[::-1]), iter(order)
    i, j = next(sources, -1), next(destinations, -1)
    while i >= 0 and j >= 0 and x[i] > x[j]:
        amount = min(left_out[i], left_in[j])
        if amount:
            flows.append((i, j, amount))
            left_out[i] -= amount
            left_in[j] -= amount
        if not left_out[i]:
            i = next(sources, -1)
        if not left_in[j]:
            j = next(destinations, -1)
    return flows
