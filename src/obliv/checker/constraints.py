"""Legal paths of a design: what its constraints say, the states of the paths that they allow, whether a path obeys.

A state is a node, the channel by which a path came, and the turns that it has taken so far.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from obliv._util.arrays import Array
from obliv._util.rationals import rational
from obliv.errors import InputError
from obliv.results.claims import MalformedError
from obliv.routings.shortest import UpDown
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import axes_of, directions_of

_FORBIDDEN = -1
_MOST_STATES = 2_000_000
_TURNS = re.compile(r"at most (\d{1,9}) turns?")
_PATHS = re.compile(r"at most ([1-9]\d{0,8}) paths? per pair")
_WEIGHTS = re.compile(r"weights in multiples of 1/([1-9]\d{0,8})")
_CHANNELS = re.compile(r"at most ([1-9]\d{0,8}) (× 2 )?virtual channels? by (turn|turn\+dateline|updown)")

Follow = Callable[[int, int], int]  # of a channel and the next one: 0, 1 for a turn that counts, or forbidden


@dataclass(frozen=True)
class Constraints:
    """What the paths of a routing must obey; a limit of hops of 0 and a limit of turns of None stand for no limit."""

    minimal: bool
    hops: Fraction
    turns: int | None
    paths: int | None  # of a pair
    parts: int | None  # in multiples of one over which the weights are
    scheme: str  # "" where all turns count; otherwise how virtual channels are taken
    within: str = ""  # the routing whose next hops bound the paths


def constraints_of(texts: tuple[str, ...]) -> Constraints:
    """Return the constraints of a claim; MalformedError for one that is not known."""
    minimal, hops, turns, scheme = False, Fraction(0), None, ""
    paths, parts, within = None, None, ""
    for text in texts:
        count, channels = _TURNS.fullmatch(text), _CHANNELS.fullmatch(text)
        if text == "minimal" and not minimal:
            minimal = True
        elif text.startswith("hops ≤ ") and not hops:
            hops = rational(text.removeprefix("hops ≤ ")) or Fraction(0)
            if hops <= 0:
                raise MalformedError(f"{text!r:.40} is not a limit of hops")
        elif (few := _PATHS.fullmatch(text)) and paths is None:
            paths = int(few[1])
        elif (weights := _WEIGHTS.fullmatch(text)) and parts is None:
            parts = int(weights[1])
        elif text.startswith("within ") and not within:
            within = text.removeprefix("within ")
        elif count and turns is None:
            turns = int(count[1])
        elif channels and turns is None and bool(channels[2]) == channels[3].endswith("dateline"):
            turns, scheme = int(channels[1]) - 1, channels[3]
        else:
            raise MalformedError(f"{text!r:.60} is not a constraint that is known, or not the only one of its kind")
    if within and len(texts) > 1:
        raise MalformedError("next hops that bound the paths cannot be combined with other constraints")
    return Constraints(minimal, hops, turns, paths, parts, scheme, within)


@dataclass(frozen=True, eq=False)
class Ways:
    """The states that legal paths reach, the starts of all nodes first, and the arcs between them, sorted by tail."""

    node: Array
    first: Array
    tail: Array
    head: Array
    channel: Array

    def hops(self, terminals: Array) -> tuple[Array, Array]:
        """Return the hops from terminals' starts to all states, and from all states to terminals; -1 for no path."""
        there, back = (np.full((len(terminals), len(self.node)), -1, np.int64) for _ in range(2))
        onward: list[list[int]] = [[] for _ in self.node]
        before: list[list[int]] = [[] for _ in self.node]
        for tail, head in zip(self.tail.tolist(), self.head.tolist(), strict=True):
            onward[tail].append(head)
            before[head].append(tail)
        for k, terminal in enumerate(terminals.tolist()):
            _spread(onward, [terminal], there[k])
            _spread(before, np.flatnonzero(self.node == terminal).tolist(), back[k])
        return there, back


def _spread(following: list[list[int]], starts: list[int], hops: Array) -> None:
    """Fill in the hops from some states, breadth first."""
    distance = dict.fromkeys(starts, 0)
    queue = deque(starts)
    while queue:
        state = queue.popleft()
        for other in following[state]:
            if other not in distance:
                distance[other] = distance[state] + 1
                queue.append(other)
    hops[list(distance)] = list(distance.values())


def ways_of(topology: Topology, constraints: Constraints) -> Ways:
    """Return the states of the paths that constraints allow; without a limit of turns they are the nodes."""
    tail, head = topology.tail.astype(np.int64), topology.head.astype(np.int64)
    if constraints.turns is None:
        return Ways(np.arange(topology.nodes), topology.first_channel, tail, head, np.arange(topology.channels))
    limit = min(
        constraints.turns, 2 * topology.nodes
    )  # paths without loops take fewer turns, those with loops load more
    follow = _follow(topology, constraints)
    first, heads = topology.first_channel.tolist(), head.tolist()
    number = {(node, -1, 0): node for node in range(topology.nodes)}
    states = deque(number)
    arcs = []
    while states:
        state = states.popleft()
        node, last, turns = state
        if len(number) > _MOST_STATES:
            raise InputError(f"paths with up to {limit} turns on {topology.spec} have too many states to be checked")
        for channel in range(first[node], first[node + 1]):
            price = 0 if last < 0 else follow(last, channel)
            if price == _FORBIDDEN or turns + price > limit:
                continue
            onward = (heads[channel], channel, turns + price)
            if onward not in number:
                number[onward] = len(number)
                states.append(onward)
            arcs.append((number[state], number[onward], channel))
    table = np.array(arcs, np.int64).reshape(-1, 3)  # sorted by tail, as states are numbered in the order of the queue
    nodes = np.array([node for node, _, _ in number], np.int64)
    starts = np.searchsorted(table[:, 0], np.arange(len(nodes) + 1))
    return Ways(nodes, starts, *(np.ascontiguousarray(column) for column in table.T))


def broken_rule(paths: Iterable[tuple[int, ...]], topology: Topology, constraints: Constraints) -> str:
    """Return what a path does against the limit of turns; empty if all paths keep to it."""
    if constraints.turns is None:
        return ""
    follow = _follow(topology, constraints)
    longest: tuple[int, ...] = ()
    dim_of: list[int] = []
    where = directions_of(topology)
    if constraints.scheme == "turn+dateline" and where is not None:
        longest, dim_of = topology.radices, where.dim.tolist()
    for path in paths:
        turns, straight = 0, 1
        for last, channel in pairwise(path):
            price = follow(last, channel)
            if price == _FORBIDDEN:
                return f"takes channel {channel} right after channel {last}"
            turns += price
            straight = straight + 1 if longest and dim_of[last] == dim_of[channel] else 1
            if longest and straight > longest[dim_of[channel]]:
                return "passes a dateline twice in one direction"
        if turns > constraints.turns:
            return f"takes {turns} turns that count, the limit is {constraints.turns}"
    return ""


def _follow(topology: Topology, constraints: Constraints) -> Follow:
    """Return the price of every turn; MalformedError where the constraints do not fit the network."""
    if constraints.scheme == "updown":
        rank = UpDown(topology).rank
        up = (rank[topology.head] > rank[topology.tail]).tolist()
        return lambda last, channel: int(up[channel] and not up[last])
    where = directions_of(topology)
    if where is None or any(along.kind == "clique" and along.radix > 2 for along in axes_of(topology)):
        raise MalformedError("turns are limited, but the network is not a mesh, torus or hypercube")
    if constraints.scheme and where.wraps.any() != constraints.scheme.endswith("dateline"):
        raise MalformedError(f"virtual channels by {constraints.scheme} do not fit the network")
    dim, step = where.dim.tolist(), where.step.tolist()
    any_turn = not constraints.scheme

    def follow(last: int, channel: int) -> int:
        if dim[last] == dim[channel]:
            return 0 if step[last] == step[channel] else _FORBIDDEN
        return int(any_turn or dim[last] > dim[channel])

    return follow
