"""A search for symmetries of networks that offer none, such as those from files (needs igraph).

Automorphisms of the bare graph are seldom ones of the routing.  Channels are therefore colored first by a signature
of their pair loads that does not depend on the numbering, and each channel becomes an undirected path
tail - t - h - head with colored inner vertices: a directed encoding can make the search hang.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np

from obliv._util.typing import Array
from obliv.errors import extra
from obliv.loads.base import PairLoads

__all__ = ["automorphisms", "signatures"]


_SEARCH = """
import pickle, sys
import igraph
edges, count, colors = pickle.load(sys.stdin.buffer)
found = igraph.Graph(n=count, edges=edges).automorphism_group(color=colors)
sys.stdout.buffer.write(pickle.dumps([list(g) for g in found]))
"""


def automorphisms(loads: PairLoads, seconds: float = 20.0) -> list[Array]:
    """Return generators of a group of node maps that the routing may keep; each still has to be verified.

    Parameters
    ----------
    loads : PairLoads
    seconds : float
        Time limit; what is not found by then is given up, which costs speed and nothing else.

    Returns
    -------
    list of integer arrays, shape (nodes,)

    Raises
    ------
    MissingExtraError
        If igraph is not installed.
    """
    from importlib.util import find_spec

    if find_spec("igraph") is None:
        raise extra("igraph", "symmetry")
    topology = loads.topology
    nodes, channels = topology.nodes, topology.channels
    classes = signatures(loads)
    tail, head = topology.tail.astype(np.int64), topology.head.astype(np.int64)
    out, into = nodes + np.arange(channels), nodes + channels + np.arange(channels)
    edges = np.concatenate([np.stack(pair, 1) for pair in ((tail, out), (out, into), (into, head))])
    colors = np.concatenate([_node_colors(loads), 10**6 + classes, 10**6 + channels + classes])
    colors = np.unique(colors, return_inverse=True)[1]
    try:
        done = subprocess.run(
            [sys.executable, "-c", _SEARCH],
            input=pickle.dumps((edges.tolist(), nodes + 2 * channels, colors.tolist())),
            capture_output=True,
            timeout=seconds,
            check=True,
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        return []
    found = [np.array(g[:nodes]) for g in pickle.loads(done.stdout)]
    return [g for g in found if not np.array_equal(g, np.arange(nodes))]


def signatures(loads: PairLoads, rounds: int = 3) -> Array:
    """Return a class number for every channel; channels that a symmetry carries onto each other have the same.

    Rounds of one-dimensional Weisfeiler-Leman refinement on each channel's weights between sources and destinations.
    """
    found: dict[Any, int] = {}
    classes = []
    n = loads.terminals
    for channel in range(loads.topology.channels):
        row, col, weight = loads.weights(channel).spread()
        values = np.unique(weight, return_inverse=True)[1] if len(weight) else weight
        by_row, by_col = np.zeros(n, np.int64), np.zeros(n, np.int64)
        for _ in range(rounds):
            by_row, by_col = _refined(row, values, by_col, n), _refined(col, values, by_row, n)
        speed = loads.topology.bandwidth_of(channel)
        key = (speed, tuple(sorted(by_row.tolist())), tuple(sorted(by_col.tolist())), tuple(sorted(map(int, weight))))
        classes.append(found.setdefault(hash(key), len(found)))
    return np.array(classes, np.int64)


def _refined(index: Array, values: Array, colors: Array, n: int) -> Array:
    """For each row a color that depends on its weights and on the colors across, not on their order."""
    if not len(index):
        return np.zeros(n, np.int64)
    mixed = (values.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= colors[index].astype(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    total = np.zeros(n, np.uint64)
    np.add.at(total, index, mixed)
    return total.astype(np.int64)


def _node_colors(loads: PairLoads) -> Array:
    """Nodes by what they are: terminals with their rates, or none."""
    topology = loads.topology
    colors = np.zeros(topology.nodes, np.int64)
    rates = {pair: k for k, pair in enumerate(sorted(set(zip(*topology.rates(), strict=True))))}
    for node, pair in zip(topology.terminals.tolist(), zip(*topology.rates(), strict=True), strict=True):
        colors[node] = 1 + rates[pair]
    return colors
