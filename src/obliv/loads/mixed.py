"""Loads of mixes, of Valiant's two phases, of translations, of differences of flows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from math import gcd, lcm
from typing import Any

import numpy as np

from obliv._util.arrays import INT64_SAFE, Array, starts, whole
from obliv._util.progress import Progress, require_memory
from obliv.loads.base import PairLoads, Solved, Thresholds, one_after_another, same_entries
from obliv.loads.stored import StoredLoads
from obliv.loads.workers import Calls
from obliv.matching.solve import Flows, Rates, Solution, Weights, from_entries, members_of
from obliv.patterns.base import Traffic
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import LinkFlows, channel_map


class MixedLoads(PairLoads):
    """Σ probability × loads of several routings on one topology."""

    def __init__(self, parts: Sequence[tuple[Fraction, PairLoads]]) -> None:
        self.topology = parts[0][1].topology
        self.denominator = lcm(*(part.denominator * chance.denominator for chance, part in parts))
        counted = [part.samples for _, part in parts if part.samples is not None]
        self.samples = min(counted) if counted else None
        self.partial = any(part.partial for _, part in parts)
        self.declared = any(part.declared for _, part in parts)
        self._parts = [
            (chance.numerator * (self.denominator // (part.denominator * chance.denominator)), part)
            for chance, part in parts
        ]

    def weights(self, channel: int) -> Weights:
        n = self.terminals
        keys, values = [], []
        for factor, part in self._parts:
            row, col, weight = part.weights(channel).spread()
            keys.append(row.astype(np.int64) * n + col)
            values.append(weight.astype(object) * factor)
        pair, index = np.unique(np.concatenate(keys), return_inverse=True)
        total: Array = np.zeros(len(pair), object)
        np.add.at(total, index, np.concatenate(values))
        return from_entries(pair // n, pair % n, whole(total.tolist()))

    def memory(self, channels: Array) -> float:
        return sum(part.memory(channels) for _, part in self._parts)

    def totals(self) -> Array:
        return self._added([part.totals() for _, part in self._parts])

    def _carried(self, traffic: Traffic) -> Array:
        return self._added([part._carried(traffic) for _, part in self._parts])

    def _added(self, parts: list[Array]) -> Array:
        total = sum(
            (values.astype(object) * factor for values, (factor, _) in zip(parts, self._parts, strict=True)),
            np.zeros(self.topology.channels, object),
        )
        return whole(total.tolist())

    def _keeps(self, node_map: Array, moved: Array, place: Array) -> bool:
        if all(part._keeps(node_map, moved, place) for _, part in self._parts):
            return True
        return super()._keeps(node_map, moved, place)


class TwoPhaseLoads(PairLoads):
    """Loads of going first to a uniformly random terminal and from there on: a source's term plus a destination's.

    Self-pairs are sent out too.  ``sent[c, i]`` and ``taken[c, j]`` are the two terms over the denominator.
    """

    def __init__(self, base: PairLoads) -> None:
        self.topology = base.topology
        n = base.terminals
        require_memory(16.0 * n * self.topology.channels, f"Valiant's loads on {self.topology.spec}")
        self.samples = base.samples
        self.partial = base.partial
        self.declared = base.declared
        sent, taken = [], []
        for channel in range(self.topology.channels):
            row, col, weight = base.weights(channel).spread()
            sent.append(_summed(row, weight, n))
            taken.append(_summed(col, weight, n))
        shared = gcd(base.denominator * n, *(int(x) for terms in (*sent, *taken) for x in np.unique(terms)))
        self.denominator = base.denominator * n // shared
        self.sent = np.array(sent) // shared
        self.taken = np.array(taken) // shared

    def weights(self, channel: int) -> Weights:
        own, rows = np.unique(self.sent[channel], return_inverse=True)
        other, cols = np.unique(self.taken[channel], return_inverse=True)
        table = own[:, None] + other[None, :]
        r, c = np.nonzero(table)
        table_weights = from_entries(r, c, table[r, c])
        return Weights(
            table_weights.ptr,
            table_weights.col,
            table_weights.weight,
            members_of(rows, table_weights.row_members[1]),
            members_of(cols, table_weights.column_members[1]),
        )

    def totals(self) -> Array:
        n = self.terminals
        return whole([n * (sum(map(int, a)) + sum(map(int, b))) for a, b in zip(self.sent, self.taken, strict=True)])

    def _carried(self, traffic: Traffic) -> Array:
        rows, columns = np.zeros(self.terminals, object), np.zeros(self.terminals, object)
        np.add.at(rows, traffic.source, traffic.amount.astype(object))
        np.add.at(columns, traffic.destination, traffic.amount.astype(object))
        return whole((self.sent.astype(object) @ rows + self.taken.astype(object) @ columns).tolist())

    def _keeps(self, node_map: Array, moved: Array, place: Array) -> bool:
        return np.array_equal(self.sent[moved][:, place], self.sent) and np.array_equal(
            self.taken[moved][:, place], self.taken
        )

    def solve(self, channel: int, rates: Rates) -> Solution:
        """Solve a channel all of whose weights are sent_i + taken_j.

        All of the scarcer side is shipped, on the other side the heaviest terms first. The first term that is not
        shipped in full is what a unit of the scarcer side is worth beyond its own term.
        """
        sent, taken = [int(x) for x in self.sent[channel]], [int(x) for x in self.taken[channel]]
        supply, demand = [int(x) for x in rates.supply], [int(x) for x in rates.demand]
        units = min(sum(supply), sum(demand))
        shipped, row_margin = _heaviest(sent, supply, units)
        received, column_margin = _heaviest(taken, demand, units)
        value = sum(a * x for a, x in zip(sent, shipped, strict=True))
        value += sum(b * x for b, x in zip(taken, received, strict=True))
        prices = whole([max(0, b - column_margin) + row_margin for b in taken])
        return Solution(value, prices, partial(_paired, shipped, received))

    def solve_worst(self, channels: Array, progress: Progress, calls: Calls) -> Iterator[list[Solved]]:
        return one_after_another(channels, progress, calls)


def _heaviest(worth: list[int], most: list[int], units: int) -> tuple[list[int], int]:
    """Return the units taken where they are worth most, and the worth of the next unit, 0 where all are taken."""
    took = [0] * len(worth)
    for at in sorted(range(len(worth)), key=lambda k: -worth[k]):
        took[at] = min(most[at], units)
        units -= took[at]
        if took[at] < most[at]:
            return took, worth[at]
    return took, 0


def _paired(sent: list[int], taken: list[int]) -> Flows:
    """Pair what is sent with what is taken, both in order."""
    flows = []
    left, right = list(sent), list(taken)
    i = j = 0
    while i < len(left) and j < len(right):
        some = min(left[i], right[j])
        if some:
            flows.append((i, j, some))
        left[i] -= some
        right[j] -= some
        if not left[i]:
            i += 1
        else:
            j += 1
    return flows


def _summed(index: Array, weight: Array, n: int) -> Array:
    wide = weight.dtype == object or int(weight.max(initial=0)) * len(weight) >= INT64_SAFE
    total: Array = np.zeros(n, object if wide else np.int64)
    np.add.at(total, index, weight.astype(total.dtype))
    return total


# Loads that look the same from every node: one source is enumerated, the rest follows by translation


class TranslationGroup:
    """A commuting group of translations that moves node 0 onto every node exactly once.

    Nodes are added as the translations that lead to them; `exponents` says how often each generator is taken.
    """

    def __init__(self, exponents: Array, orders: Array) -> None:
        self.exponents = exponents
        self.orders = orders
        self.weights = np.concatenate([[1], np.cumprod(orders)[:-1]])
        self.node = np.empty(len(exponents), np.int64)
        self.node[exponents @ self.weights] = np.arange(len(exponents))

    def add(self, one: Any, two: Any) -> Array:
        """Node `one` moved by the translation that takes 0 to `two`."""
        result: Array = self.node[(self.exponents[one] + self.exponents[two]) % self.orders @ self.weights]
        return result

    def subtract(self, one: Any, two: Any) -> Array:
        """Node `one` moved by the translation that takes `two` to 0."""
        result: Array = self.node[(self.exponents[one] - self.exponents[two]) % self.orders @ self.weights]
        return result


def translation_group(topology: Topology) -> TranslationGroup | None:
    """Return the group of a topology's translations; None where it has none or they do not act as a group should."""
    n = topology.nodes
    if not topology.translations or not topology.all_terminals or not topology.unit_rates:
        return None
    if any(channel_map(topology, g) is None for g in topology.translations):
        return None
    for g in topology.translations:
        for h in topology.translations:
            if not np.array_equal(g[h], h[g]):
                return None
    exponents = np.zeros((1, 0), np.int64)
    nodes = np.zeros(1, np.int64)
    orders = []
    for g in topology.translations:
        layers: list[Array] = [nodes]
        at: Array = g[nodes]
        while at[0] != 0:
            layers.append(at)
            at = g[at]
            if len(layers) > n:
                return None
        power = np.repeat(np.arange(len(layers)), len(nodes))[:, None]
        exponents = np.hstack([np.tile(exponents, (len(layers), 1)), power])
        nodes = np.concatenate(layers)
        orders.append(len(layers))
    if not np.array_equal(np.sort(nodes), np.arange(n)):
        return None
    return TranslationGroup(exponents[np.argsort(nodes)], np.array(orders))


class TranslatedLoads(PairLoads):
    """Loads of a routing whose next hops keep a group of translations.

    Parameters
    ----------
    base : StoredLoads
        Loads of the pairs whose source is node 0.
    group : TranslationGroup
        Translations, each of them checked on the routing.
    """

    def __init__(self, base: StoredLoads, group: TranslationGroup) -> None:
        self.topology = base.topology
        self.denominator = base.denominator
        self.samples = base.samples
        self.partial = base.partial
        self._group = group
        topology = self.topology
        channel = np.repeat(np.arange(topology.channels), np.diff(base.start))
        at_zero = np.array([self._moved(c) for c in range(topology.channels)])
        order = np.argsort(at_zero[channel], kind="stable")
        self._at_zero = at_zero
        self._tail = topology.tail[channel[order]].astype(np.int64)
        self._end = base.destination[order].astype(np.int64)
        self._numerator = base.numerator[order]
        self._start = np.searchsorted(at_zero[channel[order]], np.arange(topology.channels + 1))

    def _moved(self, channel: int) -> int:
        """Return the channel at node 0 that a translation makes of this one."""
        topology, group = self.topology, self._group
        tail, head = int(topology.tail[channel]), int(topology.head[channel])
        first = topology.first_channel
        rank = int((topology.head[first[tail] : channel] == head).sum())
        wanted = int(group.subtract(head, tail))
        alike = np.flatnonzero(topology.head[first[0] : first[1]] == wanted)
        return int(first[0] + alike[rank])

    def weights(self, channel: int) -> Weights:
        part = self._part(channel)
        source = self._group.subtract(int(self.topology.tail[channel]), self._tail[part])
        return from_entries(source, self._group.add(self._end[part], source), self._numerator[part])

    def memory(self, channels: Array) -> float:
        return 60.0 * float(np.diff(self._start)[self._at_zero[channels]].max(initial=0))

    def totals(self) -> Array:
        sums = {c: sum(map(int, self._numerator[self._part(c)])) for c in sorted(set(self._at_zero.tolist()))}
        return whole([sums[c] for c in self._at_zero.tolist()])

    def _part(self, channel: int) -> slice:
        at = self._at_zero[channel]
        return slice(int(self._start[at]), int(self._start[at + 1]))

    def _keeps(self, node_map: Array, moved: Array, place: Array) -> bool:
        """Check a map that keeps the group from node 0 only."""
        group = self._group
        turned = group.subtract(node_map, int(node_map[0]))
        steps = [g[0] for g in self.topology.translations]
        everywhere = np.arange(self.topology.nodes)
        for step in steps:
            if not np.array_equal(turned[group.add(everywhere, step)], group.add(turned, turned[step])):
                return super()._keeps(node_map, moved, place)
        channels = channel_map(self.topology, turned)
        if channels is None:
            return False
        first = self.topology.first_channel
        for c in range(int(first[0]), int(first[1])):
            here, there = self._part(c), self._part(int(channels[c]))
            image = (turned[self._tail[here]], turned[self._end[here]], self._numerator[here])
            if not same_entries(image, (self._tail[there], self._end[there], self._numerator[there])):
                return False
        return True


# Loads of pairs whose flows are differences of one flow per terminal, such as electrical flows.
#
# On a channel over which the flow of terminal i carries x_i, negative against it, a pair loads it by max(0, x_i - x_j).
# The worst permutation sends from the terminals with large x to those with small x, so sorting solves a channel, and
# one threshold m proves it: max(0, x_i - x_j) ≤ max(0, x_i - m) + max(0, m - x_j).


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

    def describe(self) -> tuple[Any, ...]:
        return (Thresholds(lambda channel, rates: self._threshold(self.flows.over(channel), rates)),)

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
