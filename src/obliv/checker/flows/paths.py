"""Flows from the paths of each pair, and from numbered paths on fat trees."""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import numpy as np

from obliv._util.arrays import whole
from obliv.checker.flows.base import CheckTime, Flow, Flows, exact_chance
from obliv.checker.trees import walk
from obliv.errors import RoutingError
from obliv.routings.base import Routing
from obliv.routings.checks import channels_of

__all__ = ["numbered_flows", "path_flows", "paths_between"]


def path_flows(routing: Routing, check_time: CheckTime) -> Flows:
    """Return the flows of a routing from its ``paths``, one pair at a time."""
    terminals = routing.topology.terminals.tolist()

    def flow(i: int) -> Flow:
        ends: list[int] = []
        channels: list[int] = []
        amounts: list[int] = []
        wholes: list[int] = []
        for destination in terminals:
            check_time()
            crossings = _crossings(routing, terminals[i], destination)
            common = lcm(*(amount.denominator for amount in crossings.values()))
            channels += list(crossings)
            amounts += [amount.numerator * (common // amount.denominator) for amount in crossings.values()]
            wholes.append(common)
            ends.append(len(channels))
        return Flow(np.array(ends), np.array(channels, np.int64), whole(amounts), whole(wholes))

    return flow


def numbered_flows(routing: Routing, check_time: CheckTime) -> Flows:
    """Return the flows of a routing whose paths on a fat tree are given by number, walked link by link."""
    terminals = np.arange(len(routing.topology.terminals))

    def flow(i: int) -> Flow:
        check_time()
        taken = walk(routing, np.array(i), terminals)
        used = taken >= 0
        channel = taken[used]
        ends = np.cumsum(used.sum(axis=1))
        return Flow(ends, channel, np.ones(len(channel), np.int64), np.ones(len(terminals), np.int64))

    return flow


def paths_between(routing: Routing, source: int, destination: int) -> list[tuple[int, ...]]:
    """Return the channels of the paths from one node to another, each checked, in the order of the routing."""
    paths = []
    for named, _ in routing.paths(source, destination):
        path = tuple(channels_of(routing, source, named))
        _require_path(routing, path, source, destination)
        paths.append(path)
    return paths


def _crossings(routing: Routing, source: int, destination: int) -> dict[int, Fraction]:
    """Return the expected crossings of each channel by a packet from one node to another."""
    crossings: dict[int, Fraction] = {}
    total = Fraction(0)
    for named, value in routing.paths(source, destination):
        path = channels_of(routing, source, named)
        chance = exact_chance(routing, value)
        total += chance
        _require_path(routing, path, source, destination)
        for c in path:
            crossings[c] = crossings.get(c, Fraction(0)) + chance
    if total != 1 and (total != 0 or source != destination) and not (routing.partial and 0 <= total < 1):
        raise RoutingError(
            f"{routing.spec}: the paths from node {source} to node {destination} have probability {total}"
        )
    return crossings


def _require_path(routing: Routing, path: tuple[int, ...], source: int, destination: int) -> None:
    """Refuse a path whose channels do not lead from source to destination."""
    topology = routing.topology
    node = source
    for c in path:
        if not 0 <= c < topology.channels or int(topology.tail[c]) != node:
            raise RoutingError(f"{routing.spec}: a path takes channel {c} at node {node}, where it does not begin")
        node = int(topology.head[c])
    if node != destination:
        raise RoutingError(f"{routing.spec}: a path to node {destination} ends at node {node}")
