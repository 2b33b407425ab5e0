"""Rail-optimized trees, megaflies and twisted tori: links by their definitions, and mistakes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path
from tests.mistakes import mistake

import obliv


def links(topology: Any) -> Counter[tuple[str, str]]:
    return Counter(
        (topology.name_of(s), topology.name_of(d)) for s, d in zip(topology.tail, topology.head, strict=True)
    )


def both(pairs: list[tuple[str, str]]) -> Counter[tuple[str, str]]:
    return Counter(pairs) + Counter((b, a) for a, b in pairs)


@pytest.mark.parametrize(
    ("rails", "nodes", "leaf", "spines", "cables"), [(2, 4, 2, 2, 1), (3, 5, 2, 1, 2), (1, 3, 4, 0, 1)]
)
def test_rails_by_definition(rails: int, nodes: int, leaf: int, spines: int, cables: int) -> None:
    topology = obliv.topology(f"rail:rails={rails},nodes={nodes},leaf={leaf},spines={spines},links={cables}")
    own = [(f"node{v} rail{i}", f"leaf({i},{v // leaf})") for v in range(nodes) for i in range(rails)]
    per_rail = len({v // leaf for v in range(nodes)})
    above = [(f"leaf({i},{j})", f"spine({k})") for i in range(rails) for j in range(per_rail) for k in range(spines)]
    assert links(topology) == both(own + above * cables)
    assert [topology.name_of(int(t)) for t in topology.terminals] == [name for name, _ in own]


@pytest.mark.parametrize("rails", [2, pytest.param(4, marks=pytest.mark.nightly)])
def test_same_rails_of_a_leaf_need_no_spine(rails: int) -> None:
    topology = obliv.topology(f"rail:rails={rails},nodes=8,leaf=8,spines=4,links=2")
    away = obliv.worst_case(obliv.routing("ecmp", topology))
    assert away.channel_load == 1  # 8 up-links for 8 adapters
    thin = obliv.worst_case(obliv.routing("ecmp", obliv.topology(f"rail:rails={rails},nodes=8,leaf=8,spines=4")))
    assert thin.channel_load == 2  # oversubscribed 2 : 1


def test_twisted_torus_by_lattice() -> None:
    """Nodes are points of the plane, equal if they differ by sums of (kx, 0) and (-twist, ky)."""
    for kx, ky, twist in ((4, 2, 2), (5, 3, 2), (2, 2, 1), (6, 3, 0)):
        topology = obliv.topology(f"twisted-torus:{kx}x{ky},twist={twist}")

        def node(x: int, y: int, kx: int = kx, ky: int = ky, twist: int = twist) -> int:
            while y >= ky:
                x, y = x + twist, y - ky
            while y < 0:
                x, y = x - twist, y + ky
            return x % kx + kx * y

        expected = Counter(
            (node(x, y), node(x + dx, y + dy))
            for x in range(kx)
            for y in range(ky)
            for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))
        )
        assert Counter(zip(topology.tail.tolist(), topology.head.tolist(), strict=True)) == expected
    plain = obliv.torus(6, 3)
    pairs = Counter(zip(plain.tail.tolist(), plain.head.tolist(), strict=True))
    assert Counter(zip(topology.tail.tolist(), topology.head.tolist(), strict=True)) == pairs


def test_a_twist_makes_two_to_one_tori_better() -> None:
    """Camara et al.: a 2a x a torus with twist a has a shorter diameter, and half the load of dimension x."""

    def diameter(spec: str) -> float:
        topology = obliv.topology(spec)
        matrix = csr_array((np.ones(topology.channels), (topology.tail, topology.head)), shape=(topology.nodes,) * 2)
        return float(shortest_path(matrix, unweighted=True).max())

    assert [diameter("torus:8x4"), diameter("twisted-torus:8x4,twist=4")] == [6, 4]


def test_megafly_by_definition() -> None:
    topology = obliv.topology("megafly:p=3,leaves=2,spines=2,h=2")
    assert topology.spec == "megafly:p=3,leaves=2,spines=2,h=2"
    found = links(topology)
    inside = [(f"({i},{x})", f"[{i},{s}]") for i in range(5) for x in range(2) for s in range(2)]
    hosts = [(f"({i},{x}).{j}", f"({i},{x})") for i in range(5) for x in range(2) for j in range(3)]
    between = found - both(inside + hosts)
    groups = Counter((a[1], b[1]) for a, b in between.elements())
    assert groups == {(a, b): 1 for a in "01234" for b in "01234" if a != b}
    assert Counter(a for a, _ in between.elements()) == {f"[{i},{s}]": 2 for i in range(5) for s in range(2)}
    assert found == Counter((b, a) for a, b in found.elements())
    assert obliv.worst_case(obliv.routing("ecmp", topology)).channel_load == 6  # all hosts of a group to one other


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ("rail:rails=2,nodes=4,leaf=2,spines=0", "4 leaf switches without spines"),
        ("rail:rails=0,nodes=4,leaf=2,spines=1", "at least 1"),
        ("rail:rails=1000000,nodes=1000000,leaf=2,spines=1", "rail:"),
        ("twisted-torus:8x4,twist=8", "it is 0 to 7"),
        ("twisted-torus:8,twist=1", "two radices"),
        ("twisted-torus:8x1,twist=1", "two radices"),
        ("megafly:p=0,leaves=2,spines=2,h=2", "at least 1"),
        ("megafly:p=1,leaves=2,spines=2,h=2,g=6", "g can be 2 to 5"),
        ("megafly:p=1,leaves=2,spines=2,h=2,arrangement=x", "unknown arrangement"),
    ],
)
def test_mistakes(spec: str, part: str) -> None:
    assert part in mistake(lambda: obliv.topology(spec))
