"""Circular layouts: a rotation of the network turns the picture onto itself."""

from __future__ import annotations

import networkx
import numpy as np
import pytest

import obliv
from obliv.view.layout import _cycle_length, _keeps, layout_of, ring_points

pytest.importorskip("igraph")
pytestmark = pytest.mark.usefixtures("search_in_process")

GRAPHS = {
    "petersen": (networkx.petersen_graph(), 5),
    "desargues": (networkx.desargues_graph(), 10),
    "cycle": (networkx.cycle_graph(9), 9),
    "bipartite": (networkx.complete_bipartite_graph(4, 4), 8),
    "prism": (networkx.circular_ladder_graph(7), 7),
    "circulant": (networkx.circulant_graph(11, [1, 3]), 11),
}


@pytest.mark.nightly
@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", GRAPHS)
def test_a_turn_by_one_place_is_a_symmetry(name: str) -> None:
    graph, length = GRAPHS[name]
    rng = np.random.default_rng(1)
    order = [int(v) for v in rng.permutation(len(graph))]  # the numbering does not help
    shuffled = networkx.Graph()
    shuffled.add_nodes_from(order)
    shuffled.add_edges_from(graph.edges)
    network = obliv.from_networkx(shuffled)
    points = layout_of(network).points
    angle = 2 * np.pi / length
    turned = points @ np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    distance = np.hypot(*np.moveaxis(turned[:, None] - points[None], 2, 0))
    image = distance.argmin(axis=1)
    assert distance.min(axis=1).max() < 1e-6
    assert _keeps(network, image)
    assert _cycle_length(image) == length


@pytest.mark.nightly
@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "graph",
    [networkx.balanced_tree(2, 3), networkx.grid_2d_graph(4, 4), networkx.path_graph(5), networkx.star_graph(6)],
)
def test_other_networks_keep_their_layout(graph: networkx.Graph) -> None:
    assert ring_points(obliv.from_networkx(graph)) is None


@pytest.mark.nightly
def test_a_wrong_generator_is_not_used() -> None:
    links = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)]
    claimed = (np.array([1, 2, 3, 0], np.int32),)
    assert ring_points(obliv.build("path", 4, links, generators=claimed)) is None


@pytest.mark.nightly
def test_one_way_rings_and_terminals_count() -> None:
    one_way = obliv.build("one way", 5, [(v, (v + 1) % 5) for v in range(5)])
    points = ring_points(one_way)
    assert points is not None
    assert np.allclose(np.hypot(*points.T), np.hypot(*points[0]))
    assert ring_points(one_way.with_terminals([0, 2])) is None
