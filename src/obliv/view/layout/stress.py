"""A deterministic layout by stress majorization: distances in the plane close to distances in the network."""

from __future__ import annotations

import numpy as np

from obliv._util.typing import Array
from obliv.view.layout.base import Points

__all__ = ["stressed"]

_ROUNDS, _LEAST_ROUNDS = 150, 15
_STEPS = 15_000_000  # pairs of nodes over all rounds: about a second
_TOLERANCE = 1e-4  # relative gain in stress below which the iteration stops


def stressed(nodes: int, pairs: Array) -> Points:
    """Return positions of nodes that are linked in pairs, shape (nodes, 2); neighbors are about one apart.

    References
    ----------
    [GKN04] E. R. Gansner, Y. Koren, S. North, "Graph drawing by stress majorization", Graph Drawing 2004.

    Examples
    --------
    >>> stressed(3, np.array([[0, 1], [1, 2]])).shape
    (3, 2)
    """
    if nodes < 3:
        return np.column_stack([np.arange(nodes), np.zeros(nodes)]).astype(float)
    from scipy.spatial.distance import cdist

    distance = _distances(nodes, pairs)
    if distance.max() <= 1.0:  # a complete graph
        angle = np.pi / 2 - 2 * np.pi * np.arange(nodes) / nodes
        ring: Points = np.column_stack([np.cos(angle), np.sin(angle)]) / (2 * np.sin(np.pi / nodes))
        return ring
    with np.errstate(divide="ignore"):
        weight = np.where(distance > 0, distance**-2.0, 0.0)
    solve = np.linalg.inv(np.diag(weight.sum(axis=1)) - weight + 1.0 / nodes)
    points, last = _start(distance), np.inf
    for _ in range(min(_ROUNDS, max(_LEAST_ROUNDS, _STEPS // nodes**2))):
        drawn = cdist(points, points)
        stress = float((weight * (drawn - distance) ** 2).sum())
        if stress > (1.0 - _TOLERANCE) * last:
            break
        last = stress
        pull = weight * distance / np.where(drawn > 1e-9, drawn, np.inf)
        points = solve @ (pull.sum(axis=1)[:, None] * points - pull @ points)
    return points


def _distances(nodes: int, pairs: Array) -> Points:
    """Return hops between all nodes; separate components lie a little further apart than their own ends."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import shortest_path

    links = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(nodes, nodes))
    distance: Points = shortest_path(links.tocsr(), directed=False, unweighted=True)
    joined = np.isfinite(distance)
    distance[~joined] = distance[joined].max() + 1.0
    return distance


def _start(distance: Points) -> Points:
    """Return the projection with the largest distances, with coinciding nodes moved apart a little."""
    from scipy.linalg import eigh

    nodes = len(distance)
    inner = distance**2
    inner = -0.5 * (inner - inner.mean(axis=0) - inner.mean(axis=1)[:, None] + inner.mean())
    values, vectors = eigh(inner, subset_by_index=[nodes - 2, nodes - 1])
    vectors *= np.sign(vectors[np.abs(vectors).argmax(axis=0), [0, 1]])
    angle = 2.399963 * np.arange(nodes)
    offset = 0.3 * np.sqrt((np.arange(nodes) + 0.5) / nodes)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    points: Points = vectors * np.sqrt(np.maximum(values, 0.0)) + offset
    return points
