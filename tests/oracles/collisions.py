"""The colliding flows by enumeration: every choice of every flow, in plain Python."""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from itertools import product
from math import lcm

from obliv.patterns.base import Traffic
from obliv.topologies.base import Topology

Way = tuple[Fraction, tuple[int, ...]]


def distances(topology: Topology, goal: int) -> dict[int, int]:
    """Fewest channels to a node."""
    far = {goal: 0}
    queue = deque([goal])
    while queue:
        node = queue.popleft()
        for tail, head in zip(topology.tail.tolist(), topology.head.tolist(), strict=True):
            if head == node and tail not in far:
                far[tail] = far[node] + 1
                queue.append(tail)
    return far


def choices(topology: Topology, node: int, far: dict[int, int]) -> list[int]:
    """Channels that lead closer."""
    ends = zip(topology.tail.tolist(), topology.head.tolist(), strict=True)
    return [c for c, (tail, head) in enumerate(ends) if tail == node and far.get(head, -2) == far[node] - 1]


def ways(topology: Topology, source: int, goal: int, polarised: bool) -> list[Way]:
    """All paths of a flow with their probabilities; a path may occur several times."""
    far = distances(topology, goal)
    if polarised:
        fans = [len(choices(topology, node, far)) for node in far if node != goal]
        values = lcm(*fans) if fans else 1
        found = []
        for value in range(values):
            node, path = source, []
            while node != goal:
                near = choices(topology, node, far)
                path.append(near[value % len(near)])
                node = int(topology.head[path[-1]])
            found.append((Fraction(1, values), tuple(path)))
        return found

    def walk(node: int) -> list[Way]:
        if node == goal:
            return [(Fraction(1), ())]
        near = choices(topology, node, far)
        return [(chance / len(near), (c, *rest)) for c in near for chance, rest in walk(int(topology.head[c]))]

    return walk(source)


def largest_loads(
    topology: Topology, traffic: Traffic, flows: int, polarised: bool = False, most: int = 1 << 62
) -> dict[Fraction, Fraction] | None:
    """The probability of every largest load; None where there are more than `most` outcomes."""
    draws: list[tuple[Fraction, list[Way]]] = []
    terminals = topology.terminals.tolist()
    count = 1
    for s, row in enumerate(traffic.to_matrix()):
        for d, rate in enumerate(row):
            if rate and s != d:
                found = ways(topology, terminals[s], terminals[d], polarised)
                count *= len(found) ** flows
                if count > most:
                    return None
                draws += [(rate / flows, found)] * flows
    law: dict[Fraction, Fraction] = {}
    for outcome in product(*(found for _, found in draws)):
        load = [Fraction(0)] * topology.channels
        chance = Fraction(1)
        for (rate, _), (share, path) in zip(draws, outcome, strict=True):
            chance *= share
            for c in path:
                load[c] += rate / topology.bandwidth_of(c)
        worst = max(load)
        law[worst] = law.get(worst, Fraction(0)) + chance
    return law
