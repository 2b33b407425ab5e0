"""Nodes as far apart in the plane as in the network: a layout by stress majorization, the same at every call."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from obliv._util.typing import Array

__all__ = ["stressed"]

Points = npt.NDArray[np.float64]

_ROUNDS, _LEAST_ROUNDS = 150, 15
_STEPS = 15_000_000  # pairs of nodes over all rounds: about a second
_STILL = 1e-4  # of the stress; a round that gains less is the last


def stressed(nodes: int, pairs: Array) -> Points:
    """Positions of nodes that are joined in pairs, shape (nodes, 2); neighbours are about one apart.

    References
    ----------
    E. R. Gansner, Y. Koren, S. North, "Graph drawing by stress majorization", Graph Drawing 2004.

    Examples
    --------
    >>> stressed(3, np.array([[0, 1], [1, 2]])).shape
    (3, 2)
    """
    if nodes < 3:
        return np.column_stack([np.arange(nodes), np.zeros(nodes)]).astype(float)
    from scipy.spatial.distance import cdist

    far = _distances(nodes, pairs)
    if far.max() <= 1.0:  # all joined to all
        turn = np.pi / 2 - 2 * np.pi * np.arange(nodes) / nodes
        circle: Points = np.column_stack([np.cos(turn), np.sin(turn)]) / (2 * np.sin(np.pi / nodes))
        return circle
    with np.errstate(divide="ignore"):
        weight = np.where(far > 0, far**-2.0, 0.0)
    solve = np.linalg.inv(np.diag(weight.sum(axis=1)) - weight + 1.0 / nodes)
    points, last = _start(far), np.inf
    for _ in range(min(_ROUNDS, max(_LEAST_ROUNDS, _STEPS // nodes**2))):
        apart = cdist(points, points)
        stress = float((weight * (apart - far) ** 2).sum())
        if stress > (1.0 - _STILL) * last:
            break
        last = stress
        pull = weight * far / np.where(apart > 1e-9, apart, np.inf)
        points = solve @ (pull.sum(axis=1)[:, None] * points - pull @ points)
    return points


def _distances(nodes: int, pairs: Array) -> Points:
    """Hops between all nodes; parts that no link joins stand a little more apart than their ends."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import shortest_path

    links = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(nodes, nodes))
    far: Points = shortest_path(links.tocsr(), directed=False, unweighted=True)
    joined = np.isfinite(far)
    far[~joined] = far[joined].max() + 1.0
    return far


def _start(far: Points) -> Points:
    """The plane in which distances look largest, nodes that coincide there moved apart a little."""
    from scipy.linalg import eigh

    nodes = len(far)
    inner = far**2
    inner = -0.5 * (inner - inner.mean(axis=0) - inner.mean(axis=1)[:, None] + inner.mean())
    values, vectors = eigh(inner, subset_by_index=[nodes - 2, nodes - 1])
    vectors *= np.sign(vectors[np.abs(vectors).argmax(axis=0), [0, 1]])
    turn = 2.399963 * np.arange(nodes)
    aside = 0.3 * np.sqrt((np.arange(nodes) + 0.5) / nodes)[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
    points: Points = vectors * np.sqrt(np.maximum(values, 0.0)) + aside
    return points
