"""Direct routing against its definition: first fit over sets of offsets, edge by edge."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from tests.bufferless.instances import layered, line, walks

from obliv.bufferless import schedulers as module
from obliv.bufferless.leveled.instances import Instance
from obliv.bufferless.problems import instance
from obliv.bufferless.schedulers import ORDERS, direct
from obliv.errors import InputError

EMPTY = Instance(line(5, 1.0, 3, np.random.default_rng(0)).network, np.zeros(1, np.int64), np.zeros(0, np.int32))


def small(seed: int) -> Instance:
    """Few or many packets a source, shallow or deep enough for several words of offsets."""
    rng = np.random.default_rng(seed)
    depth = (5, 20, 150)[seed % 3]
    network = layered(depth, int(rng.integers(1, 6)), int(rng.integers(1, 4)), rng)
    return walks(network, int(rng.integers(1, 150)), 1, depth, rng, distinct=seed % 2 == 0)


def by_sets(one: Instance, order: list[int]) -> list[int]:
    """The departures of greedy first fit."""
    taken: dict[int, set[int]] = defaultdict(set)
    departure = [0] * one.packets
    for p in order:
        path = one.edge[one.start[p] : one.start[p + 1]].tolist()
        offset = -int(one.level[p])
        while any(offset in taken[e] for e in path):
            offset += 1
        for e in path:
            taken[e].add(offset)
        departure[p] = offset + int(one.level[p])
    return departure


def chosen(one: Instance, order: str, rng: np.random.Generator) -> list[int]:
    packets = range(one.packets)
    if order == "random":
        return [int(p) for p in rng.permutation(one.packets)]
    keys = {
        "farthest": lambda p: (-(one.level[p] + one.length[p]), -one.length[p]),
        "longest": lambda p: -one.length[p],
        "source": lambda p: one.level[p],
    }
    return sorted(packets, key=keys[order])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", range(12))
def test_first_fit(seed: int, order: str) -> None:
    one = small(seed)
    run = direct(one, np.random.default_rng(seed), order)
    expected = by_sets(one, chosen(one, order, np.random.default_rng(seed)))
    moves = run.moves
    assert (moves.time[moves.start[:-1]] - 1).tolist() == expected
    assert (run.delivery - one.length).tolist() == expected
    for p in range(one.packets):
        times = moves.time[moves.start[p] : moves.start[p + 1]]
        assert times.tolist() == list(range(expected[p] + 1, expected[p] + 1 + len(times)))
    assert moves.up.all()
    assert moves.edge is one.edge
    assert moves.start is one.start
    keys = np.stack([moves.edge, moves.time])
    assert len(np.unique(keys, axis=1).T) == len(moves)
    assert min(expected) >= 0
    assert run.delivery.max() >= one.lower_bound
    assert (run.rules, run.deflections) == ("bufferless", 0)


@pytest.mark.parametrize("count", [1, 62, 63, 64, 126, 127, 200])
def test_words_fill_up(count: int) -> None:
    network = line(3, 1.0, 2, np.random.default_rng(0)).network
    same = Instance(network, np.arange(0, 2 * count + 1, 2), np.tile(np.array([0, 1], np.int32), count))
    assert direct(same).delivery.tolist() == list(range(2, 2 + count))


def test_a_higher_source_fills_the_offsets_below_zero() -> None:
    network = line(200, 1.0, 2, np.random.default_rng(0)).network
    paths = [[0], [150], [150], [150], [0]]
    one = instance(network, paths)
    assert direct(one).delivery.tolist() == [1, 1, 2, 3, 2]


@pytest.mark.parametrize("mode", ["interpreted", pytest.param("compiled", marks=pytest.mark.nightly)])
def test_interpreted_as_compiled(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one = small(5)
    monkeypatch.setattr(module, "run", lambda f, work, *args: (f.compiled() if mode == "compiled" else f.python)(*args))
    expected = by_sets(one, chosen(one, "farthest", np.random.default_rng()))
    assert (direct(one).delivery - one.length).tolist() == expected


def test_nothing_to_send() -> None:
    run = direct(EMPTY)
    assert len(run.moves) == len(run.delivery) == 0


def test_refused() -> None:
    with pytest.raises(InputError, match="did you mean farthest"):
        direct(small(0), order="fartest")
    with pytest.raises(InputError, match="needs a random generator"):
        direct(small(0), order="random")


# C + D, lower bound and routing time of the specification's table
VALUES = {
    "butterfly:8": ({}, 12, 11, 12),
    "butterfly:10": ({}, 17, 16, 16),
    "butterfly:10 bit-reverse": ({}, 26, 25, 25),
    "butterfly:10 hotspot": ({}, 59, 58, 58),
    "leveled-mesh:16x16": ({}, 43, 27, 27),
    "array:64": ({}, 86, 58, 58),
    "array:512": ({"rate": 0.5, "maxlen": 32}, 49, 32, 32),
    "random-leveled:L=200,W=32,d=2,seed=0": ({"packets": 1000, "minlen": 50, "maxlen": 200}, 220, 200, 200),
    "random-leveled:L=500,W=16,d=2,seed=0": ({"packets": 500, "minlen": 200, "maxlen": 500}, 509, 486, 486),
    "unrolled-fattree:2,7": ({}, 20, 19, 21),
    "unrolled-debruijn:8": ({}, 12, 11, 11),
    "unrolled-shuffle:7": ({}, 19, 18, 18),
    "leveled-hypercube:10": ({}, 26, 18, 18),
    "deep:L=100,W=32,S=8,seed=0": ({}, 114, 106, 141),
    "deep:L=200,W=64,S=32,seed=0": ({}, 232, 206, 410),
    "deep:L=2000,W=16,S=8,seed=0": ({}, 2014, 2006, 2120),
    "leveled-mesh:128x128": ({"route": "xy"}, 513, 284, 287),
}


@pytest.mark.sampled(17)
@pytest.mark.parametrize("name", VALUES)
def test_values(name: str) -> None:
    options, both, bound, makespan = VALUES[name]
    spec, _, paths = name.partition(" ")
    one = instance(spec, paths or "random", rng=0, **options)
    assert (one.congestion + one.dilation, one.lower_bound) == (both, bound)
    assert direct(one).delivery.max() == makespan


def test_values_of_other_orders() -> None:
    one = instance("random-leveled:L=400,W=64,d=2,seed=0", packets=8000, minlen=50, maxlen=400)
    run = {order: int(direct(one, np.random.default_rng(0), order).delivery.max()) for order in ORDERS}
    assert run["farthest"] == 394
    assert run["longest"] == 428
    assert run["source"] == 532
    assert run["random"] == pytest.approx(540, rel=0.05)


@pytest.mark.nightly
def test_large_values() -> None:
    for side, makespan in ((256, 601), (512, 1347)):
        assert direct(instance(f"leveled-mesh:{side}x{side}", route="xy")).delivery.max() == makespan
