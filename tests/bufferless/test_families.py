"""Families of leveled networks edge by edge, and instances on them, against an oracle that follows the paper."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from tests.bufferless.plain import plain
from tests.oracles import schedules as oracle

import obliv
import obliv.kernels
from obliv.bufferless import instance, schedule
from obliv.bufferless.leveled.base import Leveled


@pytest.mark.parametrize(
    ("spec", "name", "numbers", "seed"),
    [
        *((f"butterfly:{k}", "butterfly", (k,), 0) for k in (1, 2, 5)),
        *((f"leveled-mesh:{n}x{m}", "leveled-mesh", (n, m), 0) for n, m in ((1, 2), (2, 1), (3, 5), (6, 6))),
        *((f"array:{n}", "array", (n,), 0) for n in (2, 64)),
        *((f"leveled-hypercube:{k}", "leveled-hypercube", (k,), 0) for k in (1, 6)),
        *((f"unrolled-debruijn:{k}", "unrolled-debruijn", (k,), 0) for k in (1, 2, 5)),
        *((f"unrolled-shuffle:{k}", "unrolled-shuffle", (k,), 0) for k in (1, 2, 5)),
        ("random-leveled:L=60,W=16,d=2,seed=1", "random-leveled", (60, 16, 2), 1),
        ("random-leveled:L=1,W=1,d=3,seed=9", "random-leveled", (1, 1, 3), 9),
        ("deep:L=20,W=8,S=4,seed=5", "deep", (20, 8, 2), 5),
    ],
)
def test_families_edge_by_edge(spec: str, name: str, numbers: tuple[int, ...], seed: int) -> None:
    result = obliv.topology(spec)
    level, edges = oracle.family(name, *numbers, seed=seed)
    assert isinstance(result, Leveled)
    assert result.node_level.tolist() == level
    mine = list(zip(*(side.tolist() for side in result.edge_ends)))
    if name == "leveled-hypercube":  # the notes give no numbers
        assert sorted(mine) == sorted(edges)
    else:
        assert mine == edges
    some = np.arange(0, result.edges, 3)
    assert [side.tolist() for side in result.ends_of(some)] == [[edge[i] for edge in mine[::3]] for i in range(2)]
    assert result.edge_level(some).tolist() == [level[low] for low, _ in mine[::3]]
    both = Counter([*mine, *((high, low) for low, high in mine)])
    assert Counter(zip(result.tail.tolist(), result.head.tolist())) == both
    assert str(result) == spec or result.spec == spec


@pytest.mark.parametrize(("k", "d", "seed"), [(1, 1, 0), (3, 1, 0), (4, 2, 1), (3, 3, 2)])
def test_multibutterflies_are_splitters(k: int, d: int, seed: int) -> None:
    result = obliv.topology(f"multibutterfly:{k},d={d},seed={seed}")
    rows = 2**k
    low, high = (side.tolist() for side in result.edge_ends)
    assert len(low) == k * rows * 2 * d
    for edge, (tail, head) in enumerate(zip(low, high)):
        level, row = divmod(tail, rows)
        half = edge // d % 2
        assert edge // (2 * d) == tail
        block = rows >> level
        assert head // rows == level + 1
        assert head % rows // block == row // block
        assert head % rows // (block // 2) % 2 == half
    assert set(Counter(high).values()) == {2 * d} if d > 1 else len(set(high)) == k * rows


@pytest.mark.parametrize(("k", "h"), [(2, 1), (2, 3), (3, 2), (4, 2)])
def test_fat_trees_have_all_ways_up_and_one_down(k: int, h: int) -> None:
    result = obliv.topology(f"unrolled-fattree:{k},{h}")
    leaves = k**h
    ways = np.zeros((leaves, result.nodes), np.int64)
    order = np.argsort(result.node_level, kind="stable")
    assert np.bincount(result.node_level).tolist() == [leaves, *[leaves // k] * (2 * h - 1), leaves]
    ways[np.arange(leaves), np.flatnonzero(result.node_level == 0)] = 1
    low, high = result.edge_ends
    for node in order:
        for edge in np.flatnonzero(low == node):
            ways[:, high[edge]] += ways[:, node]
    assert (ways[:, result.node_level == 2 * h] == leaves // k).all()  # a way up for every switch at the top, one down


SANE = [
    ("butterfly:6", {}, 64, 3, 6),
    ("leveled-mesh:12x12", {}, None, 10, 17),
    ("leveled-mesh:16x16", {}, 242, 16, 27),
    ("unrolled-fattree:2,5", {}, None, 5, 10),
    ("unrolled-shuffle:5", {}, None, 3, 10),
    ("butterfly:4", {}, 16, 2, 4),
    ("butterfly:8", {}, 256, 4, 8),
    ("leveled-mesh:8x8", {}, 54, 7, 11),
    ("array:64", {}, 63, 28, 58),
    ("random-leveled:L=500,W=16,d=2,seed=0", {"packets": 500, "minlen": 200, "maxlen": 500}, 500, 23, 486),
]


@pytest.mark.parametrize(("spec", "options", "packets", "congestion", "dilation"), SANE)
def test_the_notes_instances(
    spec: str, options: dict[str, Any], packets: int | None, congestion: int, dilation: int
) -> None:
    result = instance(spec, rng=0, **options)
    assert packets in (None, result.packets)
    assert (result.congestion, result.dilation) == (congestion, dilation)


def test_paths_lead_where_the_pattern_says() -> None:
    def pairs(spec: str, kind: str) -> list[tuple[int, int]]:
        result = instance(spec, kind)
        depth = result.network.depth
        assert (result.network.node_level[result.source] == 0).all()
        assert (result.network.node_level[result.destination] == depth).all()
        rows = int((result.network.node_level == 0).sum())
        return sorted(zip((result.source % rows).tolist(), (result.destination - result.network.nodes + rows).tolist()))

    for k in (2, 4):
        for spec in (f"butterfly:{k}", f"multibutterfly:{k},d=2,seed=1", f"unrolled-debruijn:{k}"):
            turned = [(r, int(format(r, f"0{k}b")[::-1], 2)) for r in range(2**k)]
            swapped = [(r, (r << k // 2 | r >> k // 2) & (2**k - 1)) for r in range(2**k)]
            assert pairs(spec, "bit-reverse") == turned
            assert pairs(spec, "transpose") == swapped
        result = pairs(f"unrolled-fattree:2,{k}", "bit-reverse")
        assert result == turned
        result = pairs(f"unrolled-shuffle:{k}", "permutation")
        assert sorted(d for _, d in result) == list(range(2**k))


PAPER = [("butterfly:4", 36_580), ("butterfly:6", 85_026), ("leveled-mesh:8x8", 220_234), ("array:64", 1_056_238)]


@pytest.mark.parametrize(("spec", "makespan"), PAPER)
def test_the_papers_constants(spec: str, makespan: int) -> None:
    result = schedule(instance(spec, rng=0), "centralized", constants="paper", rng=0)
    assert result.makespan == makespan
    assert result.verified
    oracle.audit_all(plain(result))
