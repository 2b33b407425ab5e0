"""Isomorphism against all relabelings, and on pairs of networks that are hard to tell apart."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

import obliv
from obliv.topologies import isomorphism as searches

pytest.importorskip("igraph")


def same_after(a: obliv.Topology, b: obliv.Topology, image: tuple[int, ...]) -> bool:
    """Whether relabeling the nodes of `a` gives the channels of `b`, with their bandwidths, and its terminals."""

    def channels(topology: obliv.Topology, names: tuple[int, ...]) -> Counter[tuple[int, int, Fraction]]:
        ends = zip(topology.tail.tolist(), topology.head.tolist(), strict=True)
        return Counter((names[u], names[v], topology.bandwidth_of(c)) for c, (u, v) in enumerate(ends))

    terminals = {image[node] for node in a.terminals.tolist()}
    return channels(a, image) == channels(b, tuple(range(b.nodes))) and terminals == set(b.terminals.tolist())


def shuffled(topology: obliv.Topology, rng: np.random.Generator, drop: int = 0) -> obliv.Topology:
    names = rng.permutation(topology.nodes).tolist()
    links = [(names[u], names[v]) for u, v in zip(topology.tail.tolist(), topology.head.tolist(), strict=True)]
    return obliv.build("shuffled", topology.nodes, [links[k] for k in rng.permutation(len(links))[drop:]])


@pytest.mark.usefixtures("search_in_process")
def test_against_all_relabelings_of_small_networks() -> None:
    rng = np.random.default_rng(5)
    isomorphic = 0
    for _ in range(40):
        n = int(rng.integers(2, 6))
        links = [(int(u), int(v)) for u, v in rng.integers(0, n, (int(rng.integers(1, 8)), 2))]  # loops and parallels
        a = obliv.build("a", n, links)
        changed = [*links[:-1], (links[-1][1], links[-1][0])]  # the last channel the other way round
        b = shuffled(obliv.build("b", n, changed), rng)
        expected = any(same_after(a, b, image) for image in permutations(range(n)))
        image = obliv.isomorphism(a, b)
        assert (image is not None) == expected
        assert image is None or same_after(a, b, image)
        isomorphic += expected
    assert 5 < isomorphic < 35


@pytest.mark.usefixtures("search_in_process")
@pytest.mark.parametrize("spec", ["torus:4x3", "mesh:3x3", "fattree:4,2", "dragonfly:p=1,a=2,h=1", "debruijn:d=2,n=3"])
def test_a_relabeled_network_is_the_network(spec: str) -> None:
    a = obliv.topology(spec)
    b = shuffled(a, np.random.default_rng(1))
    if len(a.terminals) != a.nodes:  # every node of a network that is built is a terminal
        assert obliv.isomorphism(a, b) is None
        return
    image = obliv.isomorphism(a, b)
    assert image is not None
    assert same_after(a, b, image)
    assert obliv.isomorphism(a, shuffled(a, np.random.default_rng(1), drop=1)) is None


@pytest.mark.usefixtures("search_in_process")
@pytest.mark.parametrize(
    ("a", "b", "alike"),
    [
        ("torus:3x4", "torus:4x3", True),
        ("torus:4x4", "hypercube:4", True),
        ("mesh:2x2", "ring:4", True),
        ("ring:6", "mesh:3x2", False),
        ("hyperx:4x4", "torus:4x4", False),
    ],
)
def test_named_networks(a: str, b: str, alike: bool) -> None:
    image = obliv.isomorphism(obliv.topology(a), obliv.topology(b))
    assert (image is not None) == alike
    assert image is None or same_after(obliv.topology(a), obliv.topology(b), image)


@pytest.mark.nightly
def test_two_strongly_regular_networks_of_the_same_parameters() -> None:
    """The rook's network and Shrikhande's: 16 nodes, 6 neighbors, 2 common neighbors of any two nodes."""
    cells = list(product(range(4), range(4)))
    steps = [(1, 0), (3, 0), (0, 1), (0, 3), (1, 1), (3, 3)]
    links = [(cells.index((x, y)), cells.index(((x + u) % 4, (y + v) % 4))) for x, y in cells for u, v in steps]
    shrikhande = obliv.build("shrikhande", 16, links)
    assert obliv.isomorphism(obliv.topology("hyperx:4x4"), shrikhande) is None
    assert obliv.isomorphism(shuffled(shrikhande, np.random.default_rng(2)), shrikhande) is not None


@pytest.mark.usefixtures("search_in_process")
def test_bandwidths_and_rates_have_to_correspond() -> None:
    mesh = obliv.mesh(3, 2)
    wide = obliv.topology("mesh:3x2,bandwidth=1x2")
    across = obliv.topology("mesh:2x3,bandwidth=2x1")
    assert obliv.isomorphism(mesh, wide) is None
    image = obliv.isomorphism(wide, across)
    assert image is not None
    assert same_after(wide, across, image)
    assert obliv.isomorphism(wide, obliv.topology("mesh:2x3,bandwidth=1x2")) is None
    assert obliv.isomorphism(mesh, obliv.topology("mesh:3x2,injection=1/2")) is None


def test_the_time_limit_is_an_error_and_not_an_answer() -> None:
    with pytest.raises(obliv.TooLargeError, match="could not be compared within 1e-09 seconds"):
        obliv.isomorphism(obliv.torus(4, 4), obliv.hypercube(4), seconds=1e-9)


def test_a_search_loads_no_plotting() -> None:
    """What igraph imports for pictures took 4 s of a search on 10 nodes."""
    code = searches._IGRAPH + "print(sorted(m for m in sys.modules if m.startswith('matplotlib.')), file=sys.stderr)"
    tasks = pickle.dumps(("automorphism_group", [searches.undirected(obliv.ring(3), [0] * 3, [0] * 6)]))
    done = subprocess.run([sys.executable, "-c", code], input=tasks, capture_output=True, check=True)
    assert done.stderr.split() == [b"[]"]
    assert pickle.loads(done.stdout)[0]


SEARCHES = dict(searches._SEARCHES)


def orders(monkeypatch: pytest.MonkeyPatch, package: str, topology: obliv.Topology) -> tuple[int, list[list[int]]]:
    """Return the order of the group of automorphisms that a package finds, and its orbits of nodes."""
    monkeypatch.setattr(searches, "_SEARCHES", {package: SEARCHES[package]})
    maps = [tuple(g.tolist()) for g in searches.network_automorphisms(topology, 20.0)]
    identity = tuple(range(topology.nodes))
    group, waiting = {identity}, [identity]
    while waiting:
        one = waiting.pop()
        for g in maps:
            product_ = tuple(g[node] for node in one)
            if product_ not in group:
                group.add(product_)
                waiting.append(product_)
    return len(group), sorted({tuple(sorted({g[node] for g in group})) for node in identity})


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    ("spec", "order"), [("mesh:4x3", 4), ("torus:4x3", 48), ("hypercube:3", 48), ("fattree:4,2", 768), ("kautz:2,2", 6)]
)
def test_canonaut_finds_what_igraph_finds(spec: str, order: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("canonaut")
    network = shuffled(obliv.topology(spec), np.random.default_rng(3))
    result = orders(monkeypatch, "canonaut", network)
    assert result == orders(monkeypatch, "igraph", network)
    assert result[0] == order


def test_isomorphism_by_canonaut(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("canonaut")
    monkeypatch.setattr(searches, "_SEARCHES", {"canonaut": SEARCHES["canonaut"]})
    rng = np.random.default_rng(7)
    for spec in ("torus:4x3", "mesh:3x3", "debruijn:d=2,n=3"):
        a = obliv.topology(spec)
        image = obliv.isomorphism(a, shuffled(a, rng))
        assert image is not None
    assert obliv.isomorphism(obliv.ring(6), obliv.topology("mesh:3x2")) is None


def test_without_either_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searches, "_SEARCHES", {})
    with pytest.raises(obliv.MissingExtraError, match="igraph or canonaut"):
        obliv.isomorphism(obliv.ring(4), obliv.ring(4))
