"""Paths on meshes of any dimension and across any leveled network, against their definitions."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from obliv.bufferless.api import schedule
from obliv.bufferless.leveled.instances import Instance
from obliv.bufferless.paths.grids import between
from obliv.bufferless.problems import instance, instances, leveled
from obliv.errors import InputError


def ends(one: Instance) -> list[tuple[int, int]]:
    """Source and destination of every packet, by its path."""
    one.require_paths()
    return list(zip(one.source.tolist(), one.destination.tolist(), strict=True))


@pytest.mark.parametrize("spec", ["leveled-mesh:3x4x2", "leveled-mesh:2x3x2x2,orientation=-++-"])
@pytest.mark.parametrize("route", ["random", "xy", "yx"])
def test_paths_between_all_pairs(spec: str, route: str) -> None:
    network = leveled(spec)
    half = len(network.shape) // 2
    sides, signs = network.shape[:half], network.shape[half:]
    at = list(itertools.product(*map(range, sides)))
    joined = [
        (a, b)
        for a, b in itertools.product(range(network.nodes), repeat=2)
        if a != b and all((y - x) * sign >= 0 for x, y, sign in zip(at[a], at[b], signs, strict=True))
    ]
    source, to = np.divmod(np.arange(network.nodes**2), network.nodes)
    drawn = between(network, source, to, np.random.default_rng(1), route)
    one = Instance(network, drawn.start, drawn.edge)
    assert ends(one) == joined
    assert f"{network.nodes**2 - len(joined) - network.nodes} of" in drawn.notes[1]
    low, high = network.edge_ends
    for p in range(one.packets):
        edges = one.edge[one.start[p] : one.start[p + 1]]
        along = [next(d for d in range(half) if at[low[e]][d] != at[high[e]][d]) for e in edges.tolist()]
        if route != "random":
            assert along == sorted(along, reverse=route == "yx")


def test_all_orders_are_equally_likely() -> None:
    network = leveled("leveled-mesh:2x2x2")
    drawn = between(network, np.zeros(6000, int), np.full(6000, 7), np.random.default_rng(0), "random")
    count = Counter(map(tuple, drawn.edge.reshape(-1, 3).tolist()))
    assert len(count) == 6
    assert all(abs(times - 1000) < 5 * 30 for times in count.values())


@pytest.mark.parametrize("paths", ["random", "permutation", "transpose", "bit-reverse", "hotspot"])
def test_general_traffic_on_a_mesh_of_three_dimensions(paths: str) -> None:
    classes = instances("mesh:4x4x4", paths, rng=3)
    pairs = [pair for one in classes for pair in ends(one)]
    assert len({a for a, _ in pairs}) == len(pairs)
    if paths == "transpose":
        flipped = {(x + 4 * y + 16 * z, z + 4 * y + 16 * x) for x in range(4) for y in range(4) for z in range(4)}
        assert set(pairs) == {(a, b) for a, b in flipped if a != b}
    if paths == "bit-reverse":
        assert set(pairs) == {(a, b) for a in range(64) if a != (b := int(f"{a:06b}"[::-1], 2))}
    if paths in ("random", "hotspot"):
        assert len(pairs) == 64
    assert len({one.network.spec for one in classes}) == len(classes)
    assert all(schedule(one, "direct").verified for one in classes)


@pytest.mark.parametrize("paths", ["random", "hotspot"])
def test_random_paths_on_a_leveled_mesh_of_three_dimensions(paths: str) -> None:
    one = instance("leveled-mesh:5x4x3,orientation=-+-", paths, rng=1)
    assert len(set(one.source.tolist())) == one.packets
    corner = one.destination == 0 * 12 + 3 * 3 + 0
    assert corner.sum() >= (3 if paths == "hotspot" else 0)
    assert instance("leveled-mesh:5x4x3", paths, rng=1, rate=0.3).packets < 40
    assert schedule(one, "centralized").verified
    assert schedule(one, "distributed", constants="tuned", timetable="oracle").verified


def test_a_mesh_with_a_side_of_one_is_the_flat_one() -> None:
    flat, thick = leveled("leveled-mesh:4x5"), leveled("leveled-mesh:4x5x1")
    assert np.array_equal(flat.edge_ends, thick.edge_ends)
    assert np.array_equal(flat.node_level, thick.node_level)
    assert np.array_equal(flat.edge_level(np.arange(flat.edges)), thick.edge_level(np.arange(thick.edges)))


@pytest.mark.parametrize("spec", ["random-leveled:L=9,W=16,d=2,seed=4", "deep:L=12,W=16,S=3,seed=1"])
def test_permutations_across_random_networks(spec: str) -> None:
    one = instance(spec, "permutation", rng=5)
    network = one.network
    pairs = ends(one)
    assert len({b for _, b in pairs}) == len(pairs)
    assert all(network.node_level[a] == 0 and network.node_level[b] == network.depth for a, b in pairs)
    assert (
        dict(ends(instance(spec, "transpose"))).items()
        <= {a: network.depth * 16 + a % 4 * 4 + a // 4 for a in range(16)}.items()
    )
    assert len(ends(instance(spec, "hotspot", rng=2, share=1.0))) <= 16
    assert schedule(one, "direct").verified


def test_pairs_that_no_path_joins_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "two.txt"
    file.write_text("a b\nb c\nx y\ny z\n")
    assert instance(f"leveled-file:{file}", "bit-reverse").packets == 2
    seen = set()
    for seed in range(20):
        try:
            seen.add(instance(f"leveled-file:{file}", "permutation", rng=seed).packets)
        except InputError as error:
            assert "no path of leveled-file" in str(error)
            seen.add(0)
    assert seen == {0, 2}


def test_own_paths_and_permutations_on_a_leveled_file(tmp_path: Path) -> None:
    net, paths = tmp_path / "diamond.txt", tmp_path / "paths.txt"
    net.write_text("a b\na c\nb d\nc d\nd e\n")
    assert instance(f"leveled-file:{net}", "permutation").length.tolist() == [3]
    paths.write_text("a b d e\nc d\n")
    assert instance(f"leveled-file:{net}", str(paths)).length.tolist() == [3, 1]
    net.write_text("a b\na c\nb d\nc e\n")
    with pytest.raises(InputError, match="the first level has 1 nodes and the last one 2"):
        instance(f"leveled-file:{net}", "permutation")


@pytest.mark.parametrize(
    ("spec", "paths", "words"),
    [
        ("mesh:2x3x4", "transpose", "read the same backwards"),
        ("mesh:3x3x3", "bit-reverse", "power of two"),
        ("mesh:2000x2000x2000", "random", "fewer than"),
        ("random-leveled:L=9,W=5", "transpose", "not a square"),
        ("array:9", "transpose", "not available"),
    ],
)
def test_what_does_not_fit(spec: str, paths: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        instances(spec, paths)
    assert "\n" not in str(error.value)
