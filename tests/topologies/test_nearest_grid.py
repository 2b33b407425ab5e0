"""Grids that lost switches and links are recognised, in any numbering."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import obliv
from obliv.topologies.recognise.grids import Steps, embedding, nearest_grid, placing_order


def damaged(spec: str, rng: np.random.Generator, links: int, switches: int) -> tuple[int, np.ndarray]:
    """A network without some links and switches, renumbered: its size and links."""
    whole = obliv.topology(spec)
    pairs = np.column_stack([whole.tail, whole.head])
    pairs = rng.permutation(pairs[pairs[:, 0] < pairs[:, 1]])[links:]
    number = rng.permutation(whole.nodes) - switches
    pairs = number[pairs]
    return whole.nodes - switches, pairs[(pairs >= 0).all(axis=1)]


def is_part(nodes: int, pairs: np.ndarray, grid: object) -> bool:
    """Whether every switch has a place of its own, and links join adjacent places."""
    number, shape = grid.number, grid.shape  # type: ignore[attr-defined]
    known = set(zip(shape.tail.tolist(), shape.head.tolist(), strict=True))
    return len(np.unique(number[number >= 0])) == nodes and all((a, b) in known for a, b in number[pairs].tolist())


@pytest.mark.parametrize("switch", range(16))
def test_a_mesh_without_any_one_switch(switch: int) -> None:
    whole = obliv.topology(f"damaged:mesh:4x4,{switch}")
    pairs = np.column_stack([whole.tail, whole.head])
    grid = nearest_grid(15, pairs)
    assert grid is not None
    assert grid.shape.spec == "mesh:4x4"
    assert is_part(15, pairs, grid)


@pytest.mark.parametrize("spec", ["torus:5x5", "torus:6x4", "torus:4x3", "torus:4x4x4", "mesh:5x5", "hyperx:4x4"])
@pytest.mark.parametrize(("links", "switches"), [(0, 0), (1, 0), (4, 0), (0, 1), (0, 2), (1, 1)])
def test_damaged_grids(spec: str, links: int, switches: int) -> None:
    for seed in range(3):
        nodes, pairs = damaged(spec, np.random.default_rng(seed), links, switches)
        grid = nearest_grid(nodes, pairs)
        assert grid is not None
        radices = sorted(axis.radix for axis in grid.shape.axes)
        if (spec, links, switches) == ("mesh:5x5", 0, 2):  # where both are at corners, mesh:6x4 lacks less
            assert radices in ([5, 5], [4, 6])
        else:
            assert radices == sorted(map(int, spec.split(":")[1].split("x")))
        assert is_part(nodes, pairs, grid)


@pytest.mark.parametrize(
    "spec", ["fattree:8,2", "dragonfly:p=2,a=4,h=2", "slimfly:5", "random-regular:n=64,d=4,seed=1"]
)
def test_what_is_no_grid_is_not_taken_for_one(spec: str) -> None:
    topology = obliv.topology(spec)
    assert nearest_grid(topology.nodes, np.column_stack([topology.tail, topology.head])) is None


@pytest.mark.parametrize("nodes", [0, 1, 2, 3])
def test_small_networks(nodes: int) -> None:
    grid = nearest_grid(nodes, np.array([(k, k + 1) for k in range(nodes - 1)]).reshape(-1, 2))
    assert (grid is None) == (nodes < 2)


@given(st.integers(0, 1 << 32))
def test_places_are_those_that_an_exhaustive_search_finds(seed: int) -> None:
    """On a grid of six places, whether a network fits is decided by trying all placements."""
    from itertools import permutations

    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(2, 6))
    pairs = [(a, b) for b in range(nodes) for a in range(b) if rng.random() < 0.5]
    beside = [{a + b - v for a, b in pairs if v in (a, b)} for v in range(nodes)]
    order = placing_order(beside)
    if len(order) < nodes:
        return
    torus = obliv.torus(3, 2)
    near = [frozenset(torus.head[torus.tail == v].tolist()) for v in range(6)]
    place = embedding(beside, order, near, 0, 9, lambda _: True, Steps(10_000))
    fits = any(all(p[b] in near[p[a]] for a, b in pairs) for p in permutations(range(6), nodes))
    assert (place is not None) == fits
    assert place is None or all(place[b] in near[place[a]] for a, b in pairs)
