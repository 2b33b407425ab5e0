"""Random networks."""

from __future__ import annotations

import numpy as np

from obliv.errors import TopologyError
from obliv.specs.registry import register_topology
from obliv.topologies.base import Topology, require_network
from obliv.topologies.checks import integers
from obliv.topologies.make import build

__all__ = ["random_regular"]


@register_topology("random-regular", aliases=("jellyfish",), example="random-regular:n=200,d=6,seed=1")
def random_regular(n: int, d: int, seed: int = 0) -> Topology:
    """Random regular graph: connected, every node has d neighbors (Jellyfish).

    Parameters
    ----------
    n : int
        Nodes.
    d : int
        Neighbors of each node, 2 to n - 1; n·d must be even.
    seed : int
        Random seed; the same seed gives the same graph.

    Returns
    -------
    Topology
        Each undirected link is two channels. Drawn by random pairing of stubs; conflicts are resolved by random
        switches, and the graph is drawn again until it is connected.

    Raises
    ------
    TopologyError
        If there is no such graph, or no connected one was found.

    References
    ----------
    [SHPG12] A. Singla, C.-Y. Hong, L. Popa, P. B. Godfrey, "Jellyfish: networking data centers randomly", NSDI 2012.

    Examples
    --------
    >>> random_regular(200, 6, seed=1)
    <Topology random-regular:n=200,d=6,seed=1: 200 nodes, 1200 channels, 200 terminals>
    """
    n, d, seed = integers("random-regular", n=n, d=d, seed=seed)
    spec = f"random-regular:n={n},d={d},seed={seed}"
    if n < 3 or d < 2 or d >= n:
        raise TopologyError(f"{spec}: needs n >= 3 and 2 <= d < n")
    if n * d % 2:
        raise TopologyError(f"{spec}: n·d = {n * d} is odd, no such graph exists; change n or d by one")
    if seed < 0:
        raise TopologyError(f"{spec}: a random seed must be 0 or more")
    require_network(n, n * d, spec)
    rng = np.random.default_rng(seed)
    for _ in range(100):
        edges = _pairing(n, d, rng)
        if edges is not None and _connected(n, edges):
            links = np.array(sorted((a, b) for edge in edges for a, b in (edge, edge[::-1])))
            return build(spec, n, links)
    raise TopologyError(f"{spec}: no connected graph was found; try another seed or a larger d")


def _pairing(n: int, d: int, rng: np.random.Generator) -> list[tuple[int, int]] | None:
    stubs = rng.permutation(np.repeat(np.arange(n), d)).tolist()
    edges: list[tuple[int, int]] = []
    taken: set[tuple[int, int]] = set()
    clashes = []
    for a, b in zip(stubs[::2], stubs[1::2], strict=True):
        pair = (min(a, b), max(a, b))
        if a == b or pair in taken:
            clashes.append(pair)
        else:
            taken.add(pair)
            edges.append(pair)
    for a, b in clashes:  # switch a clash with a random edge until both halves are new
        for _ in range(50 * n * d):
            k = int(rng.integers(len(edges)))
            c, e = edges[k] if rng.random() < 0.5 else edges[k][::-1]
            one, two = (min(a, c), max(a, c)), (min(b, e), max(b, e))
            if a != c and b != e and one != two and one not in taken and two not in taken:
                taken.discard(edges[k])
                taken |= {one, two}
                edges[k] = one
                edges.append(two)
                break
        else:
            return None
    return edges


def _connected(n: int, edges: list[tuple[int, int]]) -> bool:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(edges)), tuple(np.transpose(edges))), shape=(n, n))
    return bool(connected_components(graph, directed=False)[0] == 1)
