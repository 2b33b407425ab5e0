"""Networks of words and chords: de Bruijn and Kautz graphs, circulants, and random networks."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd

import numpy as np

from obliv._util.arrays import Array, NodeArray
from obliv.errors import TopologyError
from obliv.specs.registry import register_topology
from obliv.topologies.base import Topology, integers, require_network
from obliv.topologies.make import build


@register_topology("debruijn", aliases=("de-bruijn",), example="debruijn:d=2,n=4")
def debruijn(d: int, n: int) -> Topology:
    """De Bruijn graph: words of `n` letters from an alphabet of `d`, with a channel to each word reached by a shift.

    Parameters
    ----------
    d : int
        Letters, which is also the out-degree; at least 2.
    n : int
        Letters of a word, which is also the diameter; at least 1.

    Returns
    -------
    Topology
        d^n nodes, all of them terminals, named by their words and numbered as the words are sorted. Channels lead one
        way only, from w₁w₂…wₙ to w₂…wₙa for every letter a, in that order: node v to d·v + a modulo d^n. The d words
        of one letter only would have a channel to themselves, which is left out.

    Raises
    ------
    TopologyError
        If a parameter is out of range, or the network is too large.

    References
    ----------
    [SP89] M. R. Samatham and D. K. Pradhan, "The de Bruijn multiprocessor network: a versatile parallel processing and
    sorting network for VLSI", IEEE Trans. Computers 38 (4), 1989.

    Examples
    --------
    >>> debruijn(2, 4)
    <Topology debruijn:d=2,n=4: 16 nodes, 30 channels, 16 terminals>
    >>> debruijn(2, 4).channel_name(0)
    '0000 -> 0001'
    """
    d, n = integers("debruijn", d=d, n=n)
    spec = f"debruijn:d={d},n={n}"
    _check(spec, d, n)
    nodes = d**n
    require_network(nodes, nodes * d - d, spec)
    number = np.arange(nodes)
    letters = number[:, None] // d ** np.arange(n)[::-1] % d
    links = np.column_stack([np.repeat(number, d), ((number[:, None] * d + np.arange(d)) % nodes).ravel()])
    return build(
        spec,
        nodes,
        links[links[:, 0] != links[:, 1]],
        labels=_words(letters, d),
        positions=_circle((number + 0.5) / nodes),
        generators=_renamed(letters, d, lambda words: words @ d ** np.arange(n)[::-1]),
        notes=(f"{d} self-loops dropped: a packet for its own node needs no channel",),
    )


@register_topology("kautz", example="kautz:d=2,n=3")
def kautz(d: int, n: int) -> Topology:
    """Kautz graph: words of `n` of `d` + 1 letters without equal adjacent letters, with a channel to each shifted word.

    Parameters
    ----------
    d : int
        Out-degree, one less than there are letters; at least 2.
    n : int
        Letters of a word, which is also the diameter; at least 1. Others write K(d, n) for words of n + 1 letters.

    Returns
    -------
    Topology
        d^n + d^(n-1) nodes, all of them terminals, named by their words and numbered as the words are sorted. Channels
        lead one way only, from w₁w₂…wₙ to w₂…wₙa for every letter a other than wₙ, in that order.

    Raises
    ------
    TopologyError
        If a parameter is out of range, or the network is too large.

    References
    ----------
    [Kau68] W. H. Kautz, "Bounds on directed (d, k) graphs", in Theory of cellular logic networks and machines,
    AFCRL-68-0668, 1968.

    [BP89] J.-C. Bermond and C. Peyrat, "De Bruijn and Kautz networks: a competitor for the hypercube?", Hypercube and
    distributed computers, 1989.

    Examples
    --------
    >>> kautz(2, 3)
    <Topology kautz:d=2,n=3: 12 nodes, 24 channels, 12 terminals>
    >>> kautz(2, 3).channel_name(0)
    '010 -> 101'
    """
    d, n = integers("kautz", d=d, n=n)
    spec = f"kautz:d={d},n={n}"
    _check(spec, d, n)
    nodes = (d + 1) * d ** (n - 1)
    require_network(nodes, nodes * d, spec)
    weights = d ** np.arange(n)[::-1]
    letters = np.arange(nodes)[:, None] // weights
    letters[:, 1:] %= d  # the index among the d letters that may follow
    for k in range(1, n):
        letters[:, k] += letters[:, k] >= letters[:, k - 1]

    def numbers(words: Array) -> Array:
        rest = words[:, 1:] - (words[:, 1:] > words[:, :-1])
        number: Array = words[:, 0] * weights[0] + rest @ weights[1:]
        return number

    more = np.arange(d) + (np.arange(d) >= letters[:, -1:])
    following = np.concatenate([np.repeat(letters[:, 1:], d, axis=0), more.reshape(-1, 1)], axis=1)
    sign = (-1) ** np.arange(n)
    turn = (np.diff(letters, axis=1) % (d + 1) * sign[1:] @ weights[1:] + letters[:, 0] * weights[0]) / nodes
    return build(
        spec,
        nodes,
        np.column_stack([np.repeat(np.arange(nodes), d), numbers(following)]),
        labels=_words(letters, d + 1),
        positions=_circle(turn),
        generators=_renamed(letters, d + 1, numbers),
    )


def _check(spec: str, d: int, n: int) -> None:
    if d < 2 or n < 1:
        raise TopologyError(f"{spec}: needs d >= 2 and n >= 1")
    if n * (d.bit_length() - 1) > 31:
        raise TopologyError(f"{spec}: {d}^{n} nodes are too many; fewer than 2^31 are supported")


def _words(letters: Array, alphabet: int) -> tuple[str, ...]:
    between = "" if alphabet <= 10 else ","
    return tuple(between.join(map(str, word)) for word in letters.tolist())


def _renamed(letters: Array, alphabet: int, numbers: Callable[[Array], Array]) -> tuple[NodeArray, ...]:
    """Return the node maps of two permutations of the letters that generate all others."""
    rotated = (np.arange(alphabet) + 1) % alphabet
    swapped = np.array([1, 0, *range(2, alphabet)])
    return tuple(numbers(to[letters]).astype(np.int32) for to in (rotated, swapped))


def _circle(turn: Array) -> Array:
    """Return places on a circle, clockwise from the top."""
    places: Array = np.column_stack([np.sin(2 * np.pi * turn), np.cos(2 * np.pi * turn)])
    return places


# Circulants: rings with chords that look the same from every node


@register_topology("circulant", example="circulant:16,1x4")
def circulant(n: int, *jumps: int) -> Topology:
    """Circulant: a channel from every node v to v + s and v - s, modulo `n`, for each jump s.

    Parameters
    ----------
    n : int
        Nodes, numbered round the ring.
    *jumps : int
        Different jumps from 1 to n/2. The jump n/2 gives one channel instead of two; 1 and n/2 make a Spidergon.

    Returns
    -------
    Topology
        At a node channels are in the order of the jumps, the one up before the one down.

    Raises
    ------
    TopologyError
        If a jump is out of range or appears twice, or the network is disconnected.

    References
    ----------
    [Cop04] M. Coppola et al., "Spidergon: a novel on-chip communication network", International Symposium on
    System-on-Chip, 2004.

    Examples
    --------
    >>> circulant(16, 1, 4)
    <Topology circulant:16,1x4: 16 nodes, 64 channels, 16 terminals>
    """
    (n,), jumps = integers("circulant", n=n), integers("circulant", *jumps)
    spec = f"circulant:{n}" + "," * bool(jumps) + "x".join(map(str, jumps))
    if not jumps:
        raise TopologyError(f"{spec}: at least one jump is needed, as in circulant:16,1x4")
    for s in jumps:
        if not 1 <= s <= n // 2:
            raise TopologyError(f"{spec}: jump {s} is out of range; jumps are 1 to n/2, since s includes n - s")
    if len(set(jumps)) < len(jumps):
        raise TopologyError(f"{spec}: a jump appears twice")
    common = gcd(n, *jumps)
    if common > 1:
        raise TopologyError(f"{spec}: {common} divides n and all jumps, so the network is disconnected; add the jump 1")
    steps = [step for s in jumps for step in ((s, -s) if 2 * s < n else (s,))]
    require_network(n, n * len(steps), spec)
    node = np.arange(n)
    heads = (node[:, None] + steps) % n
    turn = 2 * np.pi * node / n
    up: NodeArray = ((node + 1) % n).astype(np.int32)
    return build(
        spec,
        n,
        np.column_stack([np.repeat(node, len(steps)), heads.ravel()]),
        positions=np.column_stack([np.sin(turn), np.cos(turn)]),
        generators=(up, *((node * by % n).astype(np.int32) for by in _multipliers(n, jumps))),
        translations=(up,),
    )


def _multipliers(n: int, jumps: tuple[int, ...]) -> list[int]:
    """Return factors that map the jumps onto themselves: -1, and those that map the first jump to another one."""
    known = {s % n for s in jumps} | {-s % n for s in jumps}
    factors = [n - 1] if n > 2 else []
    if gcd(jumps[0], n) == 1:
        for s in jumps[1:]:
            by = s * pow(jumps[0], -1, n) % n
            if gcd(by, n) == 1 and {by * jump % n for jump in known} == known:
                factors.append(by)
    return factors


# Random networks


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
