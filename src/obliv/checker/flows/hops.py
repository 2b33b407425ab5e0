"""Flows from next hops, which are asked of a routing one by one, with a topological order of the nodes."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.checker.flows.base import STEPS, CheckTime, Flow, Flows, Pieces, exact_chance
from obliv.checker.kernels.flows import HopTables, Output, hop_flow
from obliv.errors import RoutingError
from obliv.kernels import run
from obliv.routings.hops import HopRouting

__all__ = ["denominator_of_hops", "hop_flows"]


def hop_flows(routing: HopRouting, denominator: int, check_time: CheckTime) -> Flows:
    """Return the flows of a routing by next hops, as numerators over `denominator`."""
    topology = routing.topology
    nodes, targets = topology.nodes, topology.terminals.astype(np.int64)
    require_memory(60.0 * nodes * len(targets), "the next hops of all pairs")
    tables, number = _tables(routing, denominator, check_time)
    work = float(nodes) * len(targets) ** 2
    size = [max(1024, 4 * nodes)]  # of the buffers, kept from source to source

    def flow(i: int) -> Flow:
        source = int(targets[i])
        mass = np.zeros(nodes, number)
        whole = np.full(len(targets), denominator, number)
        pieces = Pieces(len(targets), size[0], number)
        while pieces.done < len(targets):
            check_time()
            first = pieces.done
            last = min(len(targets), first + max(1, int(STEPS / nodes)))

            def send(channel: Array, amount: Array, first: int = first, last: int = last) -> int:
                out = Output(pieces.ends, whole, channel, amount)
                return int(run(hop_flow, work, source, first, last, tables, denominator, mass, out))

            if pieces.fill(send) < 0:
                raise RoutingError(f"the loads of {routing.spec} are not integers over {denominator}")
        size[0] = pieces.size
        return pieces.flow(whole)

    return flow


def denominator_of_hops(routing: HopRouting, check_time: CheckTime) -> int:
    """Return a common denominator of all flows: that of a node's is its choices times those of the nodes behind it."""
    common = 1
    head = routing.topology.head.tolist()
    for d in routing.topology.terminals.tolist():
        check_time()
        nexts = list(_towards(routing, d))
        below = [1] * len(nexts)
        for v in reversed([v for v in _order(routing, [[head[c] for c, _ in hops] for hops in nexts], d) if v >= 0]):
            choices = lcm(*(chance.denominator for _, chance in nexts[v]))
            below[v] = choices * lcm(*(below[head[c]] for c, _ in nexts[v]))
        common = lcm(common, *below)
    return common


def _tables(routing: HopRouting, denominator: int, check_time: CheckTime) -> tuple[HopTables, Any]:
    """Return the next hops of every node towards every terminal, and the type that their products need."""
    topology = routing.topology
    targets = topology.terminals.astype(np.int64)
    head = topology.head.tolist()
    ptr, hop, total, order = [0], [], [], []
    share: list[int] = []
    for d in targets.tolist():
        check_time()
        nexts: list[list[int]] = []
        for chances in _towards(routing, d):
            common = lcm(*(chance.denominator for _, chance in chances))
            nexts.append([head[c] for c, _ in chances])
            hop += [c for c, _ in chances]
            share += [chance.numerator * (common // chance.denominator) for _, chance in chances]
            total.append(common)
            ptr.append(len(hop))
        order += _order(routing, nexts, d)
    small = (denominator * max([1, *share])).bit_length() < 62
    number: Any = np.int64 if small else object
    tables = HopTables(
        targets=targets,
        order=np.array(order, np.int32),
        ptr=np.array(ptr, np.int64),
        hop=np.array(hop, np.int32),
        share=np.array(share, number),
        total=np.array(total, number),
        head=topology.head,
    )
    return tables, number


def _towards(routing: HopRouting, destination: int) -> Iterator[list[tuple[int, Fraction]]]:
    """Yield the next hops of every node; tables with one for each are asked for all nodes at once."""
    topology = routing.topology
    if routing.by_next_channel is None:
        for v in range(topology.nodes):
            yield _chances(routing, v, destination) if v != destination else []
        return
    node = np.arange(topology.nodes)
    channel = np.where(node == destination, -1, routing.by_next_channel(node, np.full(len(node), destination)))
    for v in np.flatnonzero(channel >= 0).tolist():
        _require_leaves(routing, int(channel[v]), v)
    for c in channel.tolist():
        yield [(c, Fraction(1))] if c >= 0 else []


def _require_leaves(routing: HopRouting, channel: int, node: int) -> None:
    tail = routing.topology.tail
    if not 0 <= channel < len(tail) or tail[channel] != node:
        raise RoutingError(f"{routing.spec}: next hop {channel} of node {node} is not a channel that leaves it")


def _chances(routing: HopRouting, node: int, destination: int) -> list[tuple[int, Fraction]]:
    """Return the next hops of a node as (channel, probability), checked."""
    hops: list[Any] = list(routing.next_hops(node, destination))
    if not hops:
        return []
    even = Fraction(1, len(hops))
    chances: dict[int, Fraction] = {}
    for hop in hops:
        channel, chance = (hop[0], exact_chance(routing, hop[1])) if isinstance(hop, tuple) else (hop, even)
        _require_leaves(routing, channel, node)
        chances[channel] = chances[channel] + chance if channel in chances else chance
    if any(isinstance(hop, tuple) for hop in hops) and sum(chances.values()) != 1:
        raise RoutingError(f"{routing.spec}: the next hops of node {node} towards {destination} do not add up to 1")
    return [(int(channel), chance) for channel, chance in chances.items() if chance]


def _order(routing: HopRouting, nexts: list[list[int]], destination: int) -> list[int]:
    """Return the nodes so that each stands before its next hops; only those from which terminals are served."""
    state = [0] * len(nexts)
    done: list[int] = []
    for root in routing.topology.terminals.tolist():
        stack = [root] if state[root] == 0 else []
        while stack:
            v = stack[-1]
            if state[v] == 0:
                state[v] = 1
                if not nexts[v] and v != destination:
                    raise RoutingError(f"{routing.spec}: node {v} has no next hop towards node {destination}")
                for w in nexts[v]:
                    if state[w] == 1:
                        raise RoutingError(f"{routing.spec}: the next hops towards node {destination} form a loop")
                    if state[w] == 0:
                        stack.append(w)
            else:
                stack.pop()
                if state[v] == 1:
                    state[v] = 2
                    done.append(v)
    return done[::-1] + [-1] * (len(nexts) - len(done))
