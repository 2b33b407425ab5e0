"""What layouts of fabrics are made of: grids that are recognised, stress, fans of hosts."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import obliv
from obliv.topologies.recognise.grids import grid_of
from obliv.view.layout import RADIUS, fan, stressed


@pytest.mark.parametrize(
    "spec",
    ["torus:5x4", "mesh:4x3", "torus:3x3", "torus:5x2", "mesh:3x3x3", "torus:4x4x4", "hyperx:5x3", "mesh:2x2"],
)
def test_grids_are_recognised(spec: str) -> None:
    topology = obliv.topology(spec)
    result = grid_of(topology.nodes, np.column_stack([topology.tail, topology.head]))
    assert result is not None
    assert result.shape.spec == spec
    assert result.number.tolist() == list(range(topology.nodes))


@pytest.mark.parametrize("seed", range(5))
def test_grids_are_recognised_in_any_order_and_with_cables_missing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    torus = obliv.torus(9, 9)
    pairs = np.column_stack([torus.tail, torus.head])
    pairs = rng.permutation(pairs[pairs[:, 0] < pairs[:, 1]])[:-4]
    result = grid_of(81, rng.permutation(81)[pairs])
    assert result is not None
    assert result.shape.spec == "torus:9x9"
    assert sorted(result.number.tolist()) == list(range(81))


@pytest.mark.parametrize(
    "spec", ["ring:9", "complete:8", "fattree:8,2", "random-regular:n=64,d=4,seed=1", "dragonfly:p=2,a=4,h=2"]
)
def test_what_is_no_grid_is_not_taken_for_one(spec: str) -> None:
    topology = obliv.topology(spec)
    assert grid_of(topology.nodes, np.column_stack([topology.tail, topology.head])) is None


def test_a_grid_without_some_switches_is_drawn_as_what_is_left() -> None:
    torus = obliv.torus(9, 9)
    pairs = np.column_stack([torus.tail, torus.head])
    result = grid_of(81, pairs[~np.isin(pairs, [12, 40]).any(axis=1)])
    assert result is not None
    assert result.number[[12, 40]].tolist() == [-1, -1]


@pytest.mark.parametrize("count", [1, 2, 4, 9, 30])
@pytest.mark.parametrize("taken", [[], [0.0], [0.0, 1.0, 3.0], np.linspace(0, 6, 20).tolist()])
def test_hosts_in_a_fan_do_not_touch(count: int, taken: list[float]) -> None:
    result = fan(taken, count)
    assert result.shape == (count, 2)
    assert min((np.hypot(*(one - two)) for one, two in combinations(result, 2)), default=1.0) > 2 * RADIUS


@pytest.mark.parametrize("nodes", [1, 2, 3, 40])
def test_stress_sets_no_two_nodes_in_one_place(nodes: int) -> None:
    pairs = np.array([[k, (k * 7 + 1) % nodes] for k in range(nodes)])
    points = stressed(nodes, pairs)
    assert points.shape == (nodes, 2)
    assert min((np.hypot(*(one - two)) for one, two in combinations(points, 2)), default=1.0) > 0.05
    assert np.array_equal(points, stressed(nodes, pairs))


def test_a_line_is_drawn_as_a_line() -> None:
    points = stressed(9, np.array([[k, k + 1] for k in range(8)]))
    steps = np.hypot(*np.diff(points, axis=0).T)
    assert steps == pytest.approx(np.ones(8), abs=0.05)


def test_hundreds_of_switches_are_laid_out() -> None:
    network = obliv.topology("random-regular:n=200,d=8,seed=1")
    points = stressed(200, np.column_stack([network.tail, network.head]))
    assert np.isfinite(points).all()
