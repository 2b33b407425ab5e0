"""The check of a capacity that has no closed form: flows that carry uniform traffic, lengths that bound every routing.

The flow of each source brings every other terminal 1/n of a packet, where n is the number of terminals; its largest
load is attained. Under any lengths of the channels a packet covers at least its distance, so the loads of all channels
together cannot be less than the distances: Σ distance / n ≤ load × Σ bandwidth × length. Where both give one number,
that is the least load of uniform traffic.
"""

from __future__ import annotations

import heapq
from fractions import Fraction
from typing import Any

from obliv._util.files import unpack_array
from obliv.checker.claims import MalformedError
from obliv.topologies.base import Topology

__all__ = ["capacity_load_of", "distances_from", "least_uniform_load", "spent_on"]


def capacity_load_of(topology: Topology, proof: Any) -> Fraction | None:
    """Return the least load of uniform traffic: by the topology's closed form, or by the proof in a claim."""
    known = topology.capacity_load if topology.capacity_proof is None else None
    if proof is None:
        return known
    proved = _proved_load(topology, proof)
    if known not in (None, proved):
        raise MalformedError(f"the proof of the capacity gives a load of {proved}, the closed form {known}")
    return proved


def _proved_load(topology: Topology, proof: Any) -> Fraction:
    """Return the least load of uniform traffic that lengths and flows prove."""
    if not isinstance(proof, dict) or type(proof.get("whole")) is not int or proof["whole"] < 1:
        raise MalformedError("the proof of the capacity is not an object with lengths, flows and whole")
    channels, terminals = topology.channels, topology.terminals.tolist()
    try:
        lengths = unpack_array(proof["lengths"], channels).tolist()
        rows = unpack_array(proof["flows"], 3 * channels * len(terminals)).reshape(-1, 3).tolist()
    except (KeyError, ValueError, TypeError, OverflowError, MemoryError, RecursionError) as error:
        raise MalformedError(f"the proof of the capacity cannot be unpacked: {error}") from None
    if len(lengths) != channels or any(type(length) is not int or length < 0 for length in lengths):
        raise MalformedError("the lengths of the capacity must be one whole number for each channel, 0 or more")
    upper = _attained(topology, rows, proof["whole"])
    lower = least_uniform_load(topology, lengths)
    if lower < upper:
        raise MalformedError("the lengths of the capacity prove less than its flows attain")
    return upper


def _attained(topology: Topology, rows: list[list[int]], whole: int) -> Fraction:
    """Return the largest load of flows that carry uniform traffic."""
    terminals, channels = topology.terminals.tolist(), topology.channels
    tail, head = topology.tail.tolist(), topology.head.tolist()
    loads = [0] * channels
    balance = [dict.fromkeys(terminals, -whole) for _ in terminals]  # what arrives beyond what is due
    for source, channel, amount in rows:
        if not (0 <= source < len(terminals) and 0 <= channel < channels and amount >= 0):
            raise MalformedError("a row of the flows of the capacity is out of range")
        loads[channel] += amount
        for node, change in ((tail[channel], -amount), (head[channel], amount)):
            balance[source][node] = balance[source].get(node, 0) + change
    for nodes, start in zip(balance, terminals, strict=True):
        nodes[start] = 0  # what leaves the source follows from the others
        if any(nodes.values()):
            raise MalformedError("the flows of the capacity do not carry uniform traffic")
    largest = max((load / topology.bandwidth_of(c) for c, load in enumerate(loads)), default=Fraction(0))
    return Fraction(largest) / (whole * len(terminals))


def least_uniform_load(topology: Topology, lengths: list[int]) -> Fraction:
    """Return the lower bound that lengths prove for the largest load of uniform traffic."""
    terminals, paid = topology.terminals.tolist(), 0
    for source in terminals:
        distance = distances_from(topology, lengths, source)
        paid += sum(distance[destination] for destination in terminals)
    spent = spent_on(topology, lengths)
    return Fraction(paid, len(terminals)) / spent if spent else Fraction(0)


def distances_from(topology: Topology, lengths: list[int], source: int) -> list[int]:
    """Return the distances from a node to all nodes (Dijkstra); −1 where there is no path."""
    distance = [-1] * topology.nodes
    first, head = topology.first_channel.tolist(), topology.head.tolist()
    waiting = [(0, source)]
    while waiting:
        reached, node = heapq.heappop(waiting)
        if distance[node] >= 0:
            continue
        distance[node] = reached
        for channel in range(first[node], first[node + 1]):
            if distance[head[channel]] < 0:
                heapq.heappush(waiting, (reached + lengths[channel], head[channel]))
    return distance


def spent_on(topology: Topology, lengths: list[int]) -> Fraction:
    """Return Σ bandwidth × length."""
    return sum((topology.bandwidth_of(c) * length for c, length in enumerate(lengths) if length), Fraction(0))
