"""Random walks upwards: paths through random networks and through graphs from files."""

from __future__ import annotations

import numpy as np

from obliv._util.arrays import grouped, starts
from obliv._util.typing import Array
from obliv.bufferless.kernels import paths as kernels
from obliv.bufferless.paths.rows import Drawn, offsets
from obliv.errors import InputError
from obliv.kernels import run
from obliv.topologies.leveled.base import Leveled
from obliv.topologies.leveled.random import matchings

__all__ = ["anywhere", "deep", "random_leveled"]


def random_leveled(
    network: Leveled,
    kind: str,
    rng: np.random.Generator,
    *,
    packets: int | None = None,
    minlen: int | None = None,
    maxlen: int | None = None,
) -> Drawn:
    """Draw random walks of random lengths from distinct nodes.

    As if the matchings had been drawn from `rng` before, so that one seed for the network and for the paths gives what
    one generator would have given for both.

    Parameters
    ----------
    network : Leveled
        A random leveled network.
    kind : {"random"}
    rng : numpy.random.Generator
    packets : int, optional
        How many; default one for every eighth node below the last level.
    minlen, maxlen : int, optional
        The range of the lengths, cut to the levels that are left; default a quarter of the levels, and all of them.
    """
    L, W, d, _ = network.shape
    matchings(L, W, d, rng)
    least, most = _lengths(minlen, maxlen, L)
    wanted = _packets(packets, L * W, network.spec)
    source = rng.choice(L * W, wanted, replace=False)
    left = L - source // W
    start = np.zeros(wanted + 1, np.int64)
    draws = []
    for p, room in enumerate(left.tolist()):
        length = int(rng.integers(min(least, room), min(most, room) + 1))
        draws.append(rng.integers(d, size=length))
        start[p + 1] = start[p] + length
    return _walk(network, source, offsets(np.diff(start)), np.concatenate(draws))


def deep(network: Leveled, kind: str, rng: np.random.Generator) -> Drawn:
    """Draw random walks to the last level from every node of the first levels; draws as in :func:`random_leveled`."""
    L, W, d, _, S = network.shape
    matchings(L, W, d, rng)
    source = np.arange(S * W)
    start = offsets(L - source // W)
    return _walk(network, source, start, rng.integers(d, size=int(start[-1])))


def anywhere(
    network: Leveled,
    kind: str,
    rng: np.random.Generator,
    *,
    packets: int | None = None,
    minlen: int | None = None,
    maxlen: int | None = None,
) -> Drawn:
    """Draw random walks in any leveled graph, from distinct nodes with an outgoing edge.

    Parameters
    ----------
    network : Leveled
    kind : {"random"}
    rng : numpy.random.Generator
    packets : int, optional
        How many; default one from every such node.
    minlen, maxlen : int, optional
        The range of the lengths, as in :func:`random_leveled`; default 1 and the last level. A walk ends early at a
        node without outgoing edges.
    """
    least, most = _lengths(1 if minlen is None else minlen, maxlen, network.depth)
    senders = np.unique(network.low)
    wanted = len(senders) if packets is None else _packets(packets, len(senders), network.spec)
    source = senders if wanted == len(senders) else rng.choice(senders, wanted, replace=False)
    left = network.depth - network.node_level[source]
    start = offsets(rng.integers(np.minimum(least, left), np.minimum(most, left) + 1))
    return _walk(network, source, start, rng.integers(2**31, size=int(start[-1])))


def _walk(network: Leveled, source: Array, start: Array, draw: Array) -> Drawn:
    low, high = network.edge_ends
    first, out = grouped(low, network.nodes)
    edge = np.empty(len(draw), np.int32)
    run(kernels.walks, len(edge), first, out, high, source, start, draw, edge)
    going = edge >= 0
    if going.all():
        return Drawn(start, edge)
    before = starts(going)
    return Drawn(before[start], edge[going])


def _lengths(minlen: int | None, maxlen: int | None, depth: int) -> tuple[int, int]:
    least = max(depth // 4, 1) if minlen is None else minlen
    most = depth if maxlen is None else maxlen
    if minlen is None:
        least = min(least, most)
    if not 1 <= least <= most:
        raise InputError(f"lengths from {least} to {most}: give minlen and maxlen with 1 <= minlen <= maxlen")
    return least, most


def _packets(packets: int | None, nodes: int, spec: str) -> int:
    wanted = max(nodes // 8, 1) if packets is None else packets
    if not 1 <= wanted <= nodes:
        raise InputError(
            f"packets={wanted}: {nodes} nodes of {spec} can send one each; give a number from 1 to {nodes}"
        )
    return wanted
