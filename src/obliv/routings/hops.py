"""Routings by next hops, which depend on the node and the destination only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from math import lcm
from typing import Any

import numpy as np

from obliv._util.arrays import Array, whole
from obliv._util.progress import Progress, silent, within
from obliv._util.rationals import share
from obliv.errors import RoutingError
from obliv.loads.base import PairLoads
from obliv.loads.mixed import TranslatedLoads, translation_group
from obliv.loads.stored import Hops, from_hops
from obliv.routings.base import Routing
from obliv.routings.descriptions import Description, NextHops
from obliv.routings.paths import Crossed, Lengths, Path, add, is_channel, listed
from obliv.topologies.base import Topology, require_nodes
from obliv.topologies.cartesian import channel_map


class HopRouting(Routing):
    """A routing by next hops, which depend on the node and the destination only.

    A subclass gives ``next_hops(node, destination)``: channels, or (channel, probability) pairs.

    Examples
    --------
    >>> import obliv
    >>> class Clockwise(obliv.HopRouting):
    ...     '''Always the first channel: one way round a ring.'''
    ...     def next_hops(self, node, destination):
    ...         return [(int(self.topology.first_channel[node]), 1)]
    >>> obliv.worst_case(Clockwise(obliv.ring(6), "clockwise")).channel_load
    Fraction(5, 1)
    """

    _general = True

    @property
    def compared(self) -> None:
        """Next hops are compared when their loads are computed."""

    def describe(self) -> tuple[Description, ...]:
        return (hops_of(self),)

    def next_hops(self, node: int, destination: int) -> Sequence[tuple[int, Any]] | Sequence[int]:
        """Return the channels from `node` towards `destination`, equally likely or with probabilities."""
        raise NotImplementedError(f"{type(self).__name__} must give next_hops(node, destination)")

    def chances(self, node: int, destination: int) -> list[tuple[int, Fraction]]:
        """Return the next hops of a node as (channel, exact probability), checked."""
        here = partial(self.topology.name_of, node)
        hops = listed(self, self.next_hops(node, destination), lambda: f"the next hops of {here()}")
        chance_of: dict[int, Fraction] = {}
        for hop in hops:
            channel, chance = hop if isinstance(hop, tuple) and len(hop) == 2 else (hop, Fraction(1, len(hops)))
            if not is_channel(self.topology, channel) or self.topology.tail[channel] != node:
                raise RoutingError(
                    f"{self.spec}: next hop {channel!r} of {here()} is not a channel that leaves it; "
                    "list channels (topology.channel(u, v)), or (channel, probability)"
                )
            exact = share(chance)
            if exact is None:
                raise RoutingError(
                    f"{self.spec}: a next hop of {here()} has probability {chance}, not a number from 0 to 1"
                )
            if exact:  # a channel may be named twice
                chance_of[int(channel)] = chance_of.get(int(channel), Fraction(0)) + exact
        total = sum(chance_of.values(), Fraction(0))
        if chance_of and total != 1:
            there = self.topology.name_of(destination)
            raise RoutingError(f"{self.spec}: the next hops of {here()} towards {there} add up to {total}, not 1")
        return list(chance_of.items())

    def hops_to(self, destination: int) -> Hops:
        """Return all next hops towards a destination, as arrays."""
        ptr, channel, total = [0], [], []
        numerators: list[int] = []
        for node in range(self.topology.nodes):
            hops = self.chances(node, destination) if node != destination else []
            common = lcm(*(chance.denominator for _, chance in hops))
            total.append(common)
            channel += [c for c, _ in hops]
            numerators += [int(chance * common) for _, chance in hops]
            ptr.append(len(channel))
        return Hops(np.array(ptr), np.array(channel, np.int64), whole(numerators), whole(total))

    def paths(self, source: int, destination: int) -> Iterator[Path]:
        """Yield every path along the next hops; there can be exponentially many."""
        require_nodes(self.topology, source, destination)
        trail: list[tuple[int, tuple[int, ...], Fraction, frozenset[int]]] = [
            (source, (), Fraction(1), frozenset([source]))
        ]
        while trail:
            node, channels, chance, seen = trail.pop()
            if node == destination:
                yield channels, chance
                continue
            hops = self.chances(node, destination)
            if not hops:
                raise _no_next_hop(self, node, destination)
            for channel, likely in hops:
                head = int(self.topology.head[channel])
                if head in seen:
                    raise _loop(self, node, destination)
                trail.append((head, (*channels, channel), chance * likely, seen | {head}))

    def sample(self, source: int, destination: int, rng: np.random.Generator) -> tuple[int, ...]:
        node = source
        channels: list[int] = []
        while node != destination:
            hops = self.chances(node, destination)
            if not hops or len(channels) > self.topology.nodes:
                here, there = self.topology.name_of(node), self.topology.name_of(destination)
                raise RoutingError(f"{self.spec}: no path leads from {here} to {there}")
            at = rng.choice(len(hops), p=np.array([float(chance) for _, chance in hops])) if len(hops) > 1 else 0
            channels.append(hops[int(at)][0])
            node = int(self.topology.head[channels[-1]])
        return tuple(channels)

    def crossings(self, source: int, destination: int, packets: int, rng: np.random.Generator) -> Crossed:
        crossed: Crossed = Counter()
        waiting = {source: packets}
        for _ in range(self.topology.nodes):
            waiting.pop(destination, None)
            if not waiting:
                return crossed
            onward: dict[int, int] = {}
            for node, count in waiting.items():
                hops = self.chances(node, destination)
                if not hops:
                    raise _no_next_hop(self, node, destination)
                shares = np.array([float(chance) for _, chance in hops])
                for (channel, _), some in zip(
                    hops, rng.multinomial(count, shares / shares.sum()).tolist(), strict=True
                ):
                    if some:
                        head = int(self.topology.head[channel])
                        onward[head] = onward.get(head, 0) + some
                        crossed[channel, 1] += some
            waiting = onward
        here, there = self.topology.name_of(source), self.topology.name_of(destination)
        raise RoutingError(f"{self.spec}: the next hops from {here} towards {there} form a loop")

    def symmetries(self) -> list[Array]:
        return [g for g in self.topology.generators if self._moves_along(g)]

    def pair_lengths(self, progress: Progress) -> Iterator[tuple[int, int, Lengths]]:
        terminals = self.topology.terminals.tolist()
        for j, destination in enumerate(terminals):
            left = _hops_left(self, destination)
            yield from ((i, j, left[source]) for i, source in enumerate(terminals))
            progress("path lengths", (j + 1) / len(terminals))

    def _loads(self, progress: Progress) -> PairLoads:
        group = translation_group(self.topology)
        steps = self.topology.translations
        parts = (within(progress, 0.9 * k / len(steps), 0.9 * (k + 1) / len(steps)) for k in range(len(steps)))
        if group is not None and all(self._moves_along(g, part) for g, part in zip(steps, parts, strict=True)):
            zero = np.zeros(1, np.int64)
            last = within(progress, 0.9, 1.0)
            return TranslatedLoads(from_hops(self.topology, self.hops_to, self.spec, zero, last), group)
        return from_hops(self.topology, self.hops_to, self.spec, progress=progress)

    def _moves_along(self, node_map: Any, progress: Progress = silent) -> bool:
        """Return whether a node map g is a symmetry: next hops of g(v) towards g(d) are the images of those of v."""
        moved = channel_map(self.topology, np.asarray(node_map))
        if moved is None:
            return False
        for d in range(self.topology.nodes):
            here, there = self.hops_to(d), self.hops_to(int(node_map[d]))
            share, total = _per_channel(self.topology, here), _per_channel(self.topology, there)
            if not all(np.array_equal(a, b[moved]) for a, b in zip(share, total, strict=True)):
                return False
            progress("translations", (d + 1) / self.topology.nodes)
        return True


def hops_of(routing: HopRouting) -> NextHops:
    """Return the next hops of a routing as a description."""
    return NextHops(routing.topology, routing.spec, routing.next_hops, routing.chances, routing.hops_to)


def _no_next_hop(routing: HopRouting, node: int, destination: int) -> RoutingError:
    name = routing.topology.name_of
    return RoutingError(f"{routing.spec}: {name(node)} has no next hop towards {name(destination)}")


def _loop(routing: HopRouting, node: int, destination: int) -> RoutingError:
    name = routing.topology.name_of
    return RoutingError(f"{routing.spec}: the next hops towards {name(destination)} form a loop through {name(node)}")


def _per_channel(topology: Topology, hops: Hops) -> tuple[Array, Array]:
    """Return share and total of every channel, 0 where it is not a next hop."""
    part: Array = np.zeros(topology.channels, hops.share.dtype)
    total: Array = np.zeros(topology.channels, hops.total.dtype)
    part[hops.channel] = hops.share
    total[hops.channel] = np.repeat(hops.total, np.diff(hops.ptr))
    return part, total


def _hops_left(routing: HopRouting, destination: int) -> dict[int, Lengths]:
    """Return the path lengths from every node on a path to a destination, computed from those of its next nodes."""
    topology = routing.topology
    left: dict[int, Lengths] = {destination: {0: Fraction(1)}}
    ahead: dict[int, list[tuple[int, Fraction]]] = {}
    for source in topology.terminals.tolist():
        trail = [source]
        while trail:
            node = trail[-1]
            if node in left:
                trail.pop()
                continue
            known = node in ahead
            if not known:
                ahead[node] = [(int(topology.head[c]), chance) for c, chance in routing.chances(node, destination)]
                if not ahead[node]:
                    raise _no_next_hop(routing, node, destination)
            missing = [head for head, _ in ahead[node] if head not in left]
            if missing and known:
                raise _loop(routing, node, destination)
            if missing:
                trail += missing
                continue
            lengths: Lengths = {}
            for head, chance in ahead[node]:
                add(lengths, {h + 1: share for h, share in left[head].items()}, chance)
            left[node] = lengths
            trail.pop()
    return left
