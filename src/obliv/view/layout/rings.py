"""Circular layouts of networks with a rotation: a node map that moves all nodes along cycles of one length."""

from __future__ import annotations

from math import gcd

import numpy as np

from obliv._util.typing import Array
from obliv.errors import MissingExtraError
from obliv.topologies.base import Topology
from obliv.topologies.isomorphism import graph_search, undirected
from obliv.view.layout.base import Points

__all__ = ["ring_points"]

_MOST, _RINGS = 60, 2  # nodes; circles
_WORDS = 400  # random products of generators
_SECONDS = 5.0


def ring_points(topology: Topology) -> Points | None:
    """Return positions on few concentric circles that a rotation of the network turns; None where there is none.

    Examples
    --------
    >>> import networkx, obliv
    >>> points = ring_points(obliv.from_networkx(networkx.cycle_graph(8)))
    >>> points is not None and bool(np.allclose(np.hypot(*points.T), np.hypot(*points[0])))
    True
    """
    if not 3 <= topology.nodes <= _MOST:
        return None
    known = [np.asarray(g) for g in (*topology.generators, *topology.translations, *_by_number(topology.nodes))]
    turn = _rotation([g for g in known if _keeps(topology, g)])
    if turn is None or _cycle_length(turn) < topology.nodes:  # perhaps a longer one
        turn = _longer(turn, _rotation(_automorphisms(topology)))
    return None if turn is None else _placed(topology, turn)


def _by_number(nodes: int) -> list[Array]:
    """Return the maps that move the nodes, or each half of them, by one number."""
    rings = [np.arange(nodes).reshape(parts, -1) for parts in range(1, _RINGS + 1) if nodes % parts == 0]
    return [np.roll(ring, -1, axis=1).ravel() for ring in rings]


def _keeps(topology: Topology, image: Array) -> bool:
    """Return whether a map of the nodes maps channels to channels and terminals to terminals."""
    code = np.sort(topology.tail.astype(np.int64) * topology.nodes + topology.head)
    moved = np.sort(image[topology.tail].astype(np.int64) * topology.nodes + image[topology.head])
    terminals = np.sort(topology.terminals)
    return np.array_equal(code, moved) and np.array_equal(terminals, np.sort(image[topology.terminals]))


def _automorphisms(topology: Topology) -> list[Array]:
    """Return generators of the automorphisms of the network, if igraph or canonaut is there to find them."""
    terminal = np.zeros(topology.nodes, int)
    terminal[topology.terminals] = 1
    graph = undirected(topology, terminal.tolist(), [0] * topology.channels)
    try:
        answers = graph_search("automorphism_group", [graph], _SECONDS)
    except MissingExtraError:
        return []
    maps = [np.array(g[: topology.nodes]) for g in (answers or [[]])[0]]
    return [g for g in maps if _keeps(topology, g)]


def _rotation(generators: list[Array]) -> Array | None:
    """Return the rotation with the longest cycles among random products of generators."""
    if not generators:
        return None
    nodes = len(generators[0])
    rng, element, best, longest = np.random.default_rng(0), np.arange(nodes), None, 2
    words = [*generators, *(generators[k] for k in rng.integers(len(generators), size=_WORDS))]
    for k, generator in enumerate(words):
        element = generator if k < len(generators) else generator[element]
        length = _cycle_length(element)
        if length > longest and nodes // length <= _RINGS:
            best, longest = element, length
    return best


def _longer(one: Array | None, other: Array | None) -> Array | None:
    """Return the rotation with the longer cycles, the first one if they are alike."""
    if one is None or other is None:
        return other if one is None else one
    return other if _cycle_length(other) > _cycle_length(one) else one


def _cycle_length(turn: Array) -> int:
    """Return the length of the cycles of a map; 0 where they are not all of one length."""
    start, at, length = np.arange(len(turn)), turn, 1
    while not (at == start).any():
        at, length = turn[at], length + 1
    return length if (at == start).all() else 0


def _placed(topology: Topology, turn: Array) -> Points:
    """Place every cycle of a rotation on a circle; neighbors on the outermost one are joined, where possible."""
    joined = np.zeros((topology.nodes, topology.nodes), bool)
    joined[topology.tail, topology.head] = joined[topology.head, topology.tail] = True
    length = _cycle_length(turn)
    powers = [np.arange(topology.nodes)]
    while len(powers) < length:
        powers.append(turn[powers[-1]])
    step = next((powers[k] for k in range(1, length) if gcd(k, length) == 1 and joined[0, powers[k][0]]), turn)
    circles: list[list[int]] = []
    left = set(range(topology.nodes))
    while left:
        near = [v for v in sorted(left) if circles and joined[v, circles[-1][0]]]
        circle = [(near or sorted(left))[0]]
        while len(circle) < length:
            circle.append(int(step[circle[-1]]))
        circles.append(circle)
        left -= set(circle)
    angle = np.pi / 2 - 2 * np.pi * np.arange(length) / length
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    inner = max(0.5 / np.sin(np.pi / length), 1.0)
    points = np.zeros((topology.nodes, 2))
    for depth, circle in enumerate(circles):
        points[circle] = (inner + 1.1 * (len(circles) - 1 - depth)) * ring
    return points
