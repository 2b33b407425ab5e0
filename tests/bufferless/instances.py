"""Small leveled networks and instances, made with nothing but numpy."""

from __future__ import annotations

import numpy as np

from obliv.bufferless.leveled.base import Leveled, Levels
from obliv.bufferless.leveled.instances import Instance


def layered(depth: int, width: int, degree: int, rng: np.random.Generator) -> Leveled:
    """Levels of `width` nodes, `degree` random perfect matchings between neighbours; edge (l·width + r)·degree + b."""
    low = np.repeat(np.arange(depth * width, dtype=np.int32), degree)
    to = np.stack([[rng.permutation(width) for _ in range(degree)] for _ in range(depth)], axis=0)
    high = ((np.arange(depth)[:, None, None] + 1) * width + to.transpose(0, 2, 1)).reshape(-1).astype(np.int32)
    spec = f"layered:{depth},{width},{degree}"
    levels = np.repeat(np.arange(depth + 1, dtype=np.int32), width)
    return Leveled(
        spec, Levels(len(levels), len(low), depth, lambda: (low, high), lambda: levels), "layered", (depth, width)
    )


def walks(
    network: Leveled, packets: int, shortest: int, longest: int, rng: np.random.Generator, distinct: bool = True
) -> Instance:
    """Random walks upward, of random lengths, from random nodes (each at most once where `distinct`)."""
    low, high = network.edge_ends
    out: dict[int, list[int]] = {}
    for e in range(network.edges):
        out.setdefault(int(low[e]), []).append(e)
    starts = [v for v in range(network.nodes) if network.node_level[v] + shortest <= network.depth]
    chosen = rng.choice(starts, min(packets, len(starts)) if distinct else packets, replace=not distinct)
    start, edges = [0], []
    for v in chosen.tolist():
        room = network.depth - int(network.node_level[v])
        for _ in range(int(rng.integers(shortest, min(longest, room) + 1))):
            e = int(rng.choice(out[v]))
            edges.append(e)
            v = int(high[e])
        start.append(len(edges))
    return Instance(network, np.array(start, np.int64), np.array(edges, np.int32), "random walks")


def line(nodes: int, rate: float, longest: int, rng: np.random.Generator) -> Instance:
    """A linear array; packets to the right, at most one a source."""
    levels = Levels(
        nodes,
        nodes - 1,
        nodes - 1,
        lambda: (np.arange(nodes - 1, dtype=np.int32), np.arange(1, nodes, dtype=np.int32)),
        lambda: np.arange(nodes, dtype=np.int32),
    )
    network = Leveled(f"array:{nodes}", levels, "array", (nodes,))
    start, edges = [0], []
    for i in range(nodes - 1):
        if rng.random() <= rate:
            edges += list(range(i, int(rng.integers(i + 1, min(nodes, i + longest + 1)))))
            start.append(len(edges))
    return Instance(network, np.array(start, np.int64), np.array(edges, np.int32), "to the right")
