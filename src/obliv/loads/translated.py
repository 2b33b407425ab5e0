"""Loads that look the same from every node: one source is enumerated, the rest follows by translation."""

from __future__ import annotations

from typing import Any

import numpy as np

from obliv._util.arrays import whole
from obliv._util.cost import Work
from obliv._util.typing import Array
from obliv.loads.base import PairLoads
from obliv.loads.stored import StoredLoads
from obliv.matching.weights import Weights, from_entries
from obliv.topologies.base import Topology
from obliv.topologies.maps import channel_map

__all__ = ["Group", "TranslatedLoads", "translation_group"]


class Group:
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


def translation_group(topology: Topology) -> Group | None:
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
    return Group(exponents[np.argsort(nodes)], np.array(orders))


class TranslatedLoads(PairLoads):
    """Loads of a routing whose next hops keep a group of translations.

    Parameters
    ----------
    base : StoredLoads
        Loads of the pairs whose source is node 0.
    group : Group
        Translations, each of them checked on the routing.
    """

    def __init__(self, base: StoredLoads, group: Group) -> None:
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

    def work(self, channels: Array, symmetries: int = 0) -> Work:
        entries = np.diff(self._start)[self._at_zero[channels]]
        return Work(6e-7 * float(entries.sum()), 60.0 * float(entries.max(initial=0)))

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
            one = np.lexsort((turned[self._end[here]], turned[self._tail[here]]))
            two = np.lexsort((self._end[there], self._tail[there]))
            if not (
                np.array_equal(turned[self._tail[here]][one], self._tail[there][two])
                and np.array_equal(turned[self._end[here]][one], self._end[there][two])
                and np.array_equal(self._numerator[here][one], self._numerator[there][two])
            ):
                return False
        return True
