"""Jobs against NetworkX, and what placing them at random keeps."""

from __future__ import annotations

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

import obliv
from obliv.patterns.standard import flows_of


@pytest.mark.parametrize(
    ("name", "shape", "graph"),
    [
        ("ring", (), nx.cycle_graph(12)),
        ("tree", (), nx.from_edgelist((i, (i - 1) // 2) for i in range(1, 12))),
        ("mesh2d", (4, 3), nx.grid_graph((3, 4))),
        ("mesh2d", (), nx.grid_graph((4, 3))),
        ("torus2d", (3, 4), nx.grid_graph((4, 3), periodic=True)),
        ("mesh3d", (2, 2, 3), nx.grid_graph((3, 2, 2))),
    ],
)
def test_regular_patterns(name: str, shape: tuple[int, ...], graph: nx.Graph) -> None:
    pairs = flows_of(name, 12, *shape)
    result = nx.Graph(pairs.tolist())
    assert len(pairs) == 2 * result.number_of_edges()
    assert nx.is_isomorphic(result, graph)


def test_hypercube_and_sides() -> None:
    assert nx.is_isomorphic(nx.Graph(flows_of("hypercube", 16).tolist()), nx.hypercube_graph(4))
    for n, name, shape in ((512, "torus3d", "8x8x8"), (128, "torus3d", "4x4x8"), (1024, "mesh2d", "32x32")):
        sides = tuple(int(k) for k in shape.split("x"))
        assert np.array_equal(flows_of(name, n), flows_of(name, n, *sides))


def test_placements() -> None:
    tree = obliv.fattree(8, 2)
    for spec in ("ring", "mesh2d:4x8", "torus3d", "hypercube", "tree", "clustered:8", "hotspot:2,5", "bernoulli:1/4"):
        joined = "," if ":" in spec else ":"
        one, same, other = (obliv.traffic(f"{spec}{joined}seed={seed}", tree) for seed in (1, 1, 2))
        assert np.array_equal(one.source, same.source)
        assert not np.array_equal(one.source, other.source) or not np.array_equal(one.destination, other.destination)
        assert max(*one.row_sums, *one.column_sums) == 1
        assert str(obliv.traffic(one.spec, tree)) == one.spec
    groups = nx.Graph(zip(*(side.tolist() for side in _ends(obliv.traffic("clustered:8", tree))), strict=True))
    assert sorted(map(len, nx.connected_components(groups))) == [8] * 4
    assert len(obliv.traffic("hotspot:2,5", tree).amount) == 2 * 5 * 4
    full = obliv.traffic("bernoulli:1", tree)
    assert len(full.amount) == 32 * 31
    assert full.row_sums[0] == Fraction(1)


def _ends(traffic: obliv.Traffic) -> tuple[np.ndarray, np.ndarray]:
    return traffic.source, traffic.destination


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("hypercube", "not a power of two"),
        ("mesh2d:5x5", "25 ranks"),
        ("mesh2d:2x2x3", "2x2x3 is not a shape of 2 sides: write mesh2d:3x4 or mesh2d alone"),
        ("torus2d:12", "12 is not a shape of 2 sides: write torus2d:3x4"),
        ("mesh3d:3x4", "not a shape of 3 sides: write mesh3d:2x2x3"),
        ("torus3d:12,seed=1", "not a shape of 3 sides"),
        ("mesh2d:-3,-4", "not a shape of 2 sides"),
        ("clustered:1", "2 to 12"),
        ("hotspot:4,4", "16 terminals"),
        ("bernoulli:2", "probability"),
        ("bernoulli:1/2,seed=-1", "seed must be 0 or more"),
        ("ring:seed=-1", "seed must be 0 or more"),
    ],
)
def test_mistakes(spec: str, says: str) -> None:
    with pytest.raises(obliv.InputError, match=says):
        obliv.traffic(spec, obliv.ring(12))
