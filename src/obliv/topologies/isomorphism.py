"""Isomorphic networks: a relabeling of the nodes that turns one into the other (needs igraph or canonaut)."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Hashable, Iterable, Sequence
from importlib.util import find_spec
from math import ceil
from typing import Any

import numpy as np

from obliv._util.arrays import Array
from obliv.errors import TooLargeError, extra
from obliv.topologies.base import Topology

__all__ = ["graph_search", "isomorphism", "network_automorphisms", "undirected"]

# processor time is limited, where the system can do that, so that a busy machine gives the same answer
_LIMITED = """
import sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[1]), int(sys.argv[1])))
except (ImportError, ValueError, OSError):
    pass
"""
_PATIENCE = 10  # times the limit of processor time

# igraph imports all plotting libraries it can find, which takes longer than most searches: hide them
_IGRAPH = """
import pickle, sys
sys.modules.update(dict.fromkeys(("cairo", "cairocffi", "matplotlib", "plotly")))
import igraph
method, graphs = pickle.load(sys.stdin.buffer)
answers = [getattr(igraph.Graph(n=len(colors), edges=edges), method)(color=colors) for edges, colors in graphs]
sys.stdout.buffer.write(pickle.dumps(answers))
"""

# canonaut only says which vertices share a color: they are sorted by color, so that labels of two graphs correspond
_CANONAUT = """
import pickle, sys
from canonaut import raw
method, graphs = pickle.load(sys.stdin.buffer)
answers = []
for edges, colors in graphs:
    order = sorted(range(len(colors)), key=colors.__getitem__)
    place = [0] * len(order)
    for k, vertex in enumerate(order):
        place[vertex] = k
    edges = [(place[u], place[v]) for u, v in edges]
    labels = method == "canonical_permutation"
    found = raw.canonize(len(order), edges, colors=[colors[v] for v in order], generators=not labels)
    if labels:
        answers.append([order[k] for k in found.labeling])
    else:
        answers.append([[order[image[k]] for k in place] for image in found.generators])
sys.stdout.buffer.write(pickle.dumps(answers))
"""
_SEARCHES = {"igraph": _IGRAPH, "canonaut": _CANONAUT}

#: Edges of an undirected graph, and the color of every vertex.
ColoredGraph = tuple[list[list[int]], list[int]]


def isomorphism(a: Topology, b: Topology, *, seconds: float = 20.0) -> tuple[int, ...] | None:
    """Return a relabeling of the nodes of one network that yields the other, or None if there is none.

    Parameters
    ----------
    a, b : Topology
        Channels with their bandwidths, and terminals with their rates, have to correspond; labels do not matter.
    seconds : float
        Time limit of the search.

    Returns
    -------
    tuple of int or None
        The node of `b` for each node of `a`, checked channel by channel.

    Raises
    ------
    TooLargeError
        If the search does not end within the time limit.
    MissingExtraError
        If neither igraph nor canonaut is installed.

    Notes
    -----
    A relabeling is checked apart from the search. That there is none rests on canonical labels: those of igraph (BLISS)
    or, where igraph is not installed, of canonaut (nauty).

    Examples
    --------
    >>> import obliv
    >>> obliv.isomorphism(obliv.torus(4, 4), obliv.hypercube(4)) is not None
    True
    >>> print(obliv.isomorphism(obliv.ring(6), obliv.mesh(3, 2)))
    None
    """
    if (a.nodes, a.channels, len(a.terminals)) != (b.nodes, b.channels, len(b.terminals)):
        return None
    numbers: dict[Hashable, int] = {}
    graphs = [
        undirected(network, _numbered(numbers, _node_kinds(network)), _numbered(numbers, _speeds(network)))
        for network in (a, b)
    ]
    labels = graph_search("canonical_permutation", graphs, seconds)
    if labels is None:
        raise TooLargeError(f"{a.spec} and {b.spec} could not be compared within {seconds:g} seconds")
    of_a, of_b = map(np.array, labels)
    # igraph 1.0 gives the vertex of each canonical label, earlier versions the label of each vertex
    for image in (of_b[np.argsort(of_a)], np.argsort(of_b)[of_a]):
        nodes = image[: a.nodes].tolist()
        if _yields(a, b, nodes):
            return tuple(nodes)
    return None


def undirected(topology: Topology, nodes: Sequence[int], channels: Sequence[int]) -> ColoredGraph:
    """Return the network as an undirected graph, on which searches are fast where they can hang on a directed one.

    A channel becomes a path tail - t - h - head; t and h have its color, apart from each other and from nodes.
    """
    count, tail, head = topology.channels, topology.tail.astype(np.int64), topology.head.astype(np.int64)
    out, into = topology.nodes + np.arange(count), topology.nodes + count + np.arange(count)
    edges = np.concatenate([np.stack(pair, 1) for pair in ((tail, out), (out, into), (into, head))])
    kinds = [*(3 * color for color in nodes), *(3 * color + 1 for color in channels), *(3 * c + 2 for c in channels)]
    return edges.tolist(), kinds


def graph_search(method: str, graphs: Sequence[ColoredGraph], seconds: float) -> list[Any] | None:
    """Return what a search answers for each graph; None after the time limit."""
    package = next((name for name in _SEARCHES if find_spec(name) is not None), "")
    if not package:
        raise extra("igraph or canonaut", "symmetry")
    try:  # in a process of its own, since the search cannot be interrupted
        done = subprocess.run(
            [sys.executable, "-c", _LIMITED + _SEARCHES[package], str(ceil(seconds))],
            input=pickle.dumps((method, list(graphs))),
            capture_output=True,
            timeout=_PATIENCE * seconds,
            check=True,
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        return None
    answers: list[Any] = pickle.loads(done.stdout)
    return answers


def network_automorphisms(topology: Topology, seconds: float) -> list[Array]:
    """Return generators of the automorphisms of a network, as node maps; each still has to be verified.

    Channels with their bandwidths and terminals with their rates correspond. Empty after the time limit.
    """
    numbers: dict[Hashable, int] = {}
    graph = undirected(topology, _numbered(numbers, _node_kinds(topology)), _numbered(numbers, _speeds(topology)))
    generators = graph_search("automorphism_group", [graph], seconds)
    maps = [np.array(g[: topology.nodes], np.int64) for g in (generators or [[]])[0]]
    return [g for g in maps if not np.array_equal(g, np.arange(topology.nodes))]


def _node_kinds(topology: Topology) -> list[Hashable]:
    """Return what each node is: a terminal with its rates, or not a terminal."""
    rates = dict(zip(topology.terminals.tolist(), zip(*topology.rates(), strict=True), strict=True))
    return [rates.get(node) for node in range(topology.nodes)]


def _speeds(topology: Topology) -> list[Hashable]:
    return [topology.bandwidth_of(channel) for channel in range(topology.channels)]


def _numbered(numbers: dict[Hashable, int], kinds: Iterable[Hashable]) -> list[int]:
    return [numbers.setdefault(kind, len(numbers)) for kind in kinds]


def _yields(a: Topology, b: Topology, image: list[int]) -> bool:
    """Return whether relabeling the nodes of one network yields the other, kind by kind and channel by channel."""

    def channels(topology: Topology, names: Sequence[int]) -> list[Any]:
        ends = zip(topology.tail.tolist(), topology.head.tolist(), _speeds(topology), strict=True)
        return sorted((names[tail], names[head], speed) for tail, head, speed in ends)

    kinds = _node_kinds(b)
    return (
        sorted(image) == list(range(b.nodes))
        and _node_kinds(a) == [kinds[node] for node in image]
        and channels(a, image) == channels(b, range(b.nodes))
    )
