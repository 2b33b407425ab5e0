"""Narrow bisections: halves of the terminals with little bandwidth between them, found by spectra and exchanges."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import laplacian

from obliv._util.typing import Array
from obliv.topologies.base import Topology

__all__ = ["cut_load", "narrow_bisection"]

_ANGLES = 24
_MOST = 4000  # nodes


def narrow_bisection(topology: Topology) -> Array:
    """Return the nodes on one side of a bisection, a bool array; a good one, without proof that it is the narrowest."""
    n = topology.nodes
    speed = np.array([float(topology.bandwidth_of(c)) for c in range(topology.channels)])
    weight = csr_array((speed, (topology.tail, topology.head)), shape=(n, n))
    weight = csr_array(weight + weight.T)
    orders = [np.arange(float(n)), *_spectral(weight)]
    candidates = [_side(topology, order) for order in orders]
    best = min(candidates, key=lambda side: _across(topology, speed, side))
    return _exchanged(topology, weight, best)


def _spectral(weight: csr_array) -> list[Array]:
    """Return orders of the nodes: the smoothest functions on the network, and their mixes."""
    n = weight.shape[0]
    if not 3 <= n <= _MOST:
        return []
    matrix = laplacian(weight.astype(float)).toarray()
    _, vectors = np.linalg.eigh(matrix)
    smooth = vectors[:, 1 : min(5, n)]
    orders = []
    for i in range(smooth.shape[1]):
        for j in range(i + 1, smooth.shape[1]):
            orders += [
                np.cos(angle) * smooth[:, i] + np.sin(angle) * smooth[:, j]
                for angle in np.linspace(0, np.pi, _ANGLES, endpoint=False)
            ]
    return orders or [smooth[:, 0]]


def _side(topology: Topology, order: Array) -> Array:
    """Return the nodes that come first, with half of the terminals among them."""
    rank = np.argsort(np.round(order, 9), kind="stable")
    is_terminal = np.zeros(topology.nodes, bool)
    is_terminal[topology.terminals] = True
    last = int(np.searchsorted(np.cumsum(is_terminal[rank]), len(topology.terminals) // 2))
    side = np.zeros(topology.nodes, bool)
    side[rank[: last + 1]] = True
    return side


def _across(topology: Topology, speed: Array, side: Array) -> float:
    tail, head = side[topology.tail], side[topology.head]
    return min(float(speed[tail & ~head].sum()), float(speed[~tail & head].sum()))


def _exchanged(topology: Topology, weight: csr_array, side: Array) -> Array:
    """Exchange pairs of nodes of one kind (terminals or not) while this narrows the cut (Kernighan and Lin)."""
    if topology.nodes > _MOST:
        return side
    is_terminal = np.zeros(topology.nodes, bool)
    is_terminal[topology.terminals] = True
    side, dense = side.copy(), weight.toarray()
    for _ in range(topology.nodes):
        sign = np.where(side, 1.0, -1.0)
        gain = -sign * (dense @ sign)  # of moving a node across
        here, there = np.flatnonzero(side), np.flatnonzero(~side)
        if not len(here) or not len(there):
            return side
        both = gain[here][:, None] + gain[there][None, :] - 2 * dense[np.ix_(here, there)]
        both[is_terminal[here][:, None] != is_terminal[there][None, :]] = -np.inf
        at = int(np.argmax(both))
        if both.flat[at] <= 1e-9:
            return side
        one, two = here[at // len(there)], there[at % len(there)]
        side[one], side[two] = False, True
    return side


def cut_load(topology: Topology, side: Array) -> Fraction:
    """Return the load of the channels across a cut when as many packets cross it as terminals can send and take.

    Each way, at most the injection of one side and the ejection of the other; the way with the larger load counts.
    """
    injection, ejection = topology.rates()
    tail, head = side[topology.tail], side[topology.head]
    loads = []
    for here in (True, False):
        sent = sum(
            (rate for rate, node in zip(injection, topology.terminals, strict=True) if side[node] == here), Fraction(0)
        )
        taken = sum(
            (rate for rate, node in zip(ejection, topology.terminals, strict=True) if side[node] != here), Fraction(0)
        )
        across = np.flatnonzero((tail == here) & (head != here)).tolist()
        speed = sum((topology.bandwidth_of(c) for c in across), Fraction(0))
        loads.append(min(sent, taken) / speed if speed else Fraction(0))
    return max(loads)
