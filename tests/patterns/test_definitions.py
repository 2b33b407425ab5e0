"""Every traffic pattern against its definition in the notes and the contract."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import strategies
from tests.oracles.paths import Network

import obliv

NETWORKS = [
    ("mesh", (4, 4)),
    ("mesh", (3, 3)),
    ("mesh", (5, 2)),
    ("mesh", (2, 3, 4)),
    ("torus", (5, 5)),
    ("torus", (4, 4)),
    ("torus", (6, 3)),
    ("torus", (2, 2)),
    ("torus", (3, 4, 2)),
    ("mesh", (8,)),
    ("torus", (7,)),
    ("hyperx", (4, 2)),
]


def named(kind: str, radices: tuple[int, ...]) -> Any:
    return obliv.topology(f"{kind}:{'x'.join(map(str, radices))}")


def destinations(traffic: Any) -> list[int]:
    """Of a permutation, checked on the matrix."""
    matrix = traffic.to_matrix()
    result = []
    for row in matrix:
        assert all(type(x) is Fraction for x in row)
        assert sorted(row) == [0] * (len(row) - 1) + [1]
        result.append(row.index(1))
    assert sorted(result) == list(range(len(matrix)))
    assert traffic.is_permutation
    assert traffic.admissible
    assert list(traffic.row_sums) == list(traffic.column_sums) == [1] * len(matrix)
    return result


def moved(net: Network, move: Any) -> list[int]:
    return [net.number(move(node)) for node in net.nodes]


@pytest.mark.parametrize(("kind", "radices"), NETWORKS)
def test_complement_and_tornado(kind: str, radices: tuple[int, ...]) -> None:
    net, topology = Network(kind, *radices), named(kind, radices)
    mirrored = moved(net, lambda p: tuple(k - 1 - x for x, k in zip(p, radices, strict=True)))
    assert destinations(obliv.traffic("complement", topology)) == mirrored
    k = radices[0]
    turned = moved(net, lambda p: ((p[0] + (k - 1) // 2) % k, *p[1:]))
    assert (k - 1) // 2 == -(-k // 2) - 1, "the notes' floor is the contract's ceiling"
    assert destinations(obliv.traffic("tornado", topology)) == turned


@pytest.mark.parametrize(
    ("kind", "k"), [("mesh", 2), ("mesh", 3), ("mesh", 4), ("torus", 5), ("torus", 6), ("hyperx", 3)]
)
def test_transposes(kind: str, k: int) -> None:
    net, topology = Network(kind, k, k), named(kind, (k, k))
    assert destinations(obliv.traffic("transpose", topology)) == moved(net, lambda p: (p[1], p[0]))
    anti = moved(net, lambda p: (k - 1 - p[1], k - 1 - p[0]))
    for name in ("anti-transpose", "dor-wc"):
        assert destinations(obliv.traffic(name, topology)) == anti


@pytest.mark.parametrize("spec", ["mesh:4x3", "mesh:3x3x2", "ring:9", "random-regular:n=8,d=3,seed=1"])
@pytest.mark.parametrize("name", ["transpose", "anti-transpose"])
def test_transposes_need_a_square(spec: str, name: str) -> None:
    with pytest.raises(obliv.OblivError) as caught:
        obliv.traffic(name, obliv.topology(spec))
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("spec", ["mesh:4x4", "ring:8", "torus:2x2", "hypercube:5", "random-regular:n=16,d=3,seed=1"])
def test_patterns_of_bits(spec: str) -> None:
    topology = obliv.topology(spec)
    n = topology.nodes
    bits = n.bit_length() - 1
    assert n == 2**bits
    words = [format(i, f"0{bits}b") for i in range(n)]
    assert destinations(obliv.traffic("bit-complement", topology)) == [n - 1 - i for i in range(n)]
    assert destinations(obliv.traffic("bit-reverse", topology)) == [int(w[::-1], 2) for w in words]
    assert destinations(obliv.traffic("shuffle", topology)) == [int(w[1:] + w[0], 2) for w in words]


@pytest.mark.parametrize("name", ["bit-complement", "bit-reverse", "shuffle"])
@pytest.mark.parametrize("spec", ["mesh:3x3", "ring:6", "ring:7", "mesh:5x4"])
def test_patterns_of_bits_need_a_power_of_two(spec: str, name: str) -> None:
    with pytest.raises(obliv.TrafficError, match="power of two"):
        obliv.traffic(name, obliv.topology(spec))


@pytest.mark.parametrize("spec", ["mesh:3x3", "ring:5", "hypercube:3"])
def test_shift_and_uniform(spec: str) -> None:
    topology = obliv.topology(spec)
    n = topology.nodes
    for by in (0, 1, 3, n - 1, n, n + 2, -1):
        assert destinations(obliv.traffic(f"shift:{by}", topology)) == [(i + by) % n for i in range(n)]
    uniform = obliv.traffic("uniform", topology)
    assert uniform.to_matrix() == [[Fraction(1, n)] * n] * n
    assert uniform.admissible
    assert not uniform.is_permutation
    assert list(uniform.row_sums) == list(uniform.column_sums) == [1] * n


@pytest.mark.parametrize(("kind", "radices"), NETWORKS)
def test_nearest_neighbor(kind: str, radices: tuple[int, ...]) -> None:
    """Every node splits one unit of injection evenly over its neighbours; nodes count, not channels."""
    net, topology = Network(kind, *radices), named(kind, radices)
    near: dict[int, set[int]] = {net.number(node): set() for node in net.nodes}
    for channel in net.channels():
        near[net.number(channel[0])].add(net.number(net.head(channel)))
    n = len(net.nodes)
    expected = [[Fraction(1, len(near[i])) if j in near[i] else Fraction() for j in range(n)] for i in range(n)]
    traffic = obliv.traffic("nearest-neighbor", topology)
    assert traffic.to_matrix() == expected
    assert list(traffic.row_sums) == [1] * n
    columns = [sum(row[j] for row in expected) for j in range(n)]
    assert list(traffic.column_sums) == columns
    assert traffic.admissible is (max(columns) <= 1)


def test_nearest_neighbor_on_a_mesh_is_not_admissible() -> None:
    """The notes: column sums next to corners and edges exceed one; results mark it, and still answer."""
    mesh = obliv.mesh(3, 3)
    traffic = obliv.traffic("nearest-neighbor", mesh)
    assert not traffic.admissible
    row = obliv.throughput(obliv.routing("dor", mesh), traffic, "uniform").to_dict()["patterns"]
    assert [pattern["admissible"] for pattern in row] == [False, True]
    assert obliv.traffic("nearest-neighbor", obliv.torus(4, 4)).admissible


def test_nearest_neighbor_on_a_multigraph() -> None:
    topology = obliv.build("x", 3, [(0, 1), (0, 1), (0, 2), (1, 2), (2, 0)])
    half = Fraction(1, 2)
    assert obliv.traffic("nearest-neighbor", topology).to_matrix() == [[0, half, half], [0, 0, 1], [1, 0, 0]]


def test_random_permutations() -> None:
    """The same seed the same permutation; seeds differ; uniform over permutations, fixed points allowed."""
    ring = obliv.ring(9)
    for seed in range(5):
        spec = f"random-permutation:seed={seed}"
        assert destinations(obliv.traffic(spec, ring)) == destinations(obliv.traffic(spec, ring))
    line = obliv.line(3)
    seen = Counter(tuple(destinations(obliv.traffic(f"random-permutation:seed={seed}", line))) for seed in range(600))
    assert set(seen) == set(itertools.permutations(range(3)))
    # 100 of each expected; binomial with standard deviation 9.1
    assert all(50 < count < 150 for count in seen.values())


def test_the_spec_makes_it_again() -> None:
    mesh = obliv.mesh(4, 4)
    for spec in (
        "uniform",
        "transpose",
        "dor-wc",
        "bitcomp",
        "shift:3",
        "randperm",
        "random-permutation:seed=7",
        "nearest-neighbor",
        "1/2*uniform+1/2*transpose",
        "0.25*shift:1+0.75*tornado",
    ):
        traffic = obliv.traffic(spec, mesh)
        assert obliv.traffic(str(traffic), mesh).to_matrix() == traffic.to_matrix()


@given(st.integers(1, 6), st.data())
@strategies.examples(80)
def test_matrices(n: int, data: st.DataObject) -> None:
    rows = data.draw(strategies.birkhoff(n) | strategies.sinkhorn(n))
    traffic = obliv.matrix(rows)
    assert traffic.to_matrix() == rows
    assert list(traffic.row_sums) == [sum(row) for row in rows]
    assert list(traffic.column_sums) == [sum(column) for column in zip(*rows, strict=True)]
    assert traffic.admissible
    assert traffic.terminals == n


def test_numbers_of_a_matrix_are_taken_exactly() -> None:
    """A float is the simplest rational that rounds to it, or else the one that it stores."""
    odd = 0.1234567890123
    assert obliv.matrix([[0.1, 0.2], [0.3, odd]]).to_matrix() == [
        [Fraction(1, 10), Fraction(1, 5)],
        [Fraction(3, 10), Fraction(odd)],
    ]
    assert obliv.matrix(np.eye(3)).is_permutation
    assert obliv.matrix([[Fraction(1, 3), Fraction(2, 3)], [0, 0]]).to_matrix()[0] == [Fraction(1, 3), Fraction(2, 3)]


def test_admissible_means_columns() -> None:
    assert not obliv.matrix([[1, 0], [Fraction(1, 10**30), 0]]).admissible
    assert obliv.matrix([[1, 0], [0, 0]]).admissible
    assert obliv.matrix([[0, 0], [0, 0]]).admissible
    assert not obliv.matrix([[0, 0], [0, 0]]).is_permutation
    assert not obliv.matrix([[Fraction(1, 2)] * 2] * 2).is_permutation
    assert not obliv.matrix([[1, 0], [1, 0]]).is_permutation


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda x: np.array(x, dtype=np.int32)])
def test_permutations_in_any_form(kind: Any) -> None:
    assert destinations(obliv.permutation(kind([2, 0, 1]))) == [2, 0, 1]


def test_a_pattern_for_another_size() -> None:
    ring = obliv.ring(5)
    loads = obliv.routing("dor", ring).pair_loads()
    for traffic in (obliv.permutation([1, 0]), obliv.matrix([[0] * 6] * 6), obliv.traffic("uniform", obliv.ring(4))):
        with pytest.raises(obliv.TrafficError):
            loads.under(traffic)
        with pytest.raises(obliv.TrafficError):
            obliv.throughput(loads, traffic)


@pytest.mark.parametrize("terminals", [[0, 2, 5, 7], [7, 6, 1, 3], [0, 1, 2]])
def test_patterns_among_some_terminals(terminals: list[int]) -> None:
    """Numbers are those of terminals; neighbours are terminals one channel away."""
    ring = obliv.ring(8).with_terminals(terminals)
    n = len(terminals)
    assert obliv.traffic("uniform", ring).terminals == n
    assert destinations(obliv.traffic("shift:1", ring)) == [(i + 1) % n for i in range(n)]
    assert len(destinations(obliv.traffic("random-permutation:seed=1", ring))) == n
    under = obliv.routing("dor", ring).pair_loads().under(obliv.traffic("shift:1", ring))
    expected = [Fraction()] * ring.channels
    dor = obliv.routing("dor", ring)
    for i, s in enumerate(terminals):
        for path, p in dor.paths(s, terminals[(i + 1) % n]):
            for channel in path:
                expected[channel] += p
    assert under == expected


def test_throughput_of_no_load() -> None:
    """The identity under DOR loads no channel: the terminals limit it."""
    ring = obliv.ring(5)
    content = obliv.throughput(obliv.routing("dor", ring), obliv.permutation(list(range(5)))).to_dict()
    pattern = content["patterns"][0]
    assert pattern["channel_load"]["exact"] == "0"
    assert pattern["throughput"]["exact"] == "1"
    assert pattern["limited_by"]["kind"] == "injection"
    assert pattern["fraction_of_capacity"] is None
    assert isinstance(pattern["fraction_of_capacity_reason"], str)
    silent = obliv.throughput(obliv.routing("dor", ring), obliv.matrix([[0] * 5] * 5)).to_dict()["patterns"][0]
    assert silent["throughput"] is None
    assert isinstance(silent["throughput_reason"], str)


def test_the_largest_load_is_over_bandwidth() -> None:
    topology = obliv.build("x", 2, [(0, 1), (1, 0)], bandwidth=[4, Fraction(1, 2)])
    result = obliv.throughput(obliv.routing("shortest", topology), obliv.permutation([1, 0])).patterns[0]
    assert result.channel_load == 2
    assert result.throughput == Fraction(1, 2)


@pytest.mark.parametrize("name", ["dor", "romm", "valiant"])
def test_patterns_above_the_rates_are_slowed_down(name: str) -> None:
    """Traffic that sends more than a terminal can runs slower; channels may slow it further."""
    ring = obliv.ring(3).with_rates([Fraction(1, 2), 1, 1], [1, 1, 1])
    loads = obliv.routing(name, ring).pair_loads()
    (slow,) = obliv.throughput(loads, obliv.permutation([1, 2, 0])).patterns
    assert not slow.admissible
    assert slow.throughput == min(Fraction(1, 2), 1 / slow.channel_load)
    fits = obliv.matrix([[0, Fraction(1, 2), 0], [0, 0, 1], [1, 0, 0]])
    assert obliv.throughput(loads, fits).patterns[0].channel_load == max(loads.under(fits))


@pytest.mark.parametrize(
    ("share", "text"),
    [("1", ""), ("1/2", ",share=1/2"), ("0.25", ",share=1/4"), (f"{3**60 - 1}/{3**60}", f",share={3**60 - 1}/{3**60}")],
)
def test_hot_nodes(share: str, text: str) -> None:
    """A share goes evenly to the hot nodes, the rest to all alike, self-pairs included."""
    mesh = obliv.mesh(4, 4)
    traffic = obliv.traffic(f"hot-nodes:5,10,share={share}", mesh)
    part = Fraction(share)
    row = [(1 - part) / 16 + (part / 2 if d in (5, 10) else 0) for d in range(16)]
    assert traffic.to_matrix() == [row] * 16
    assert traffic.spec == "hot-nodes:5,10" + text
    assert obliv.traffic(traffic.spec, mesh) == traffic
    assert not traffic.admissible
    (figures,) = obliv.throughput(obliv.routing("o1turn", mesh), traffic).patterns
    assert figures.throughput <= 1 / (8 * part + 1 - part)
    assert str(figures.limited_by) == "ejection at (1,1)"


def test_hot_nodes_by_name(tmp_path: Path) -> None:
    mesh = obliv.mesh(4, 4)
    traffic = obliv.traffic("hot-nodes:(1,1),(2,2),share=1/2", mesh)
    assert traffic.to_matrix() == obliv.traffic("hot-nodes:5,10,share=1/2", mesh).to_matrix()
    assert obliv.traffic(traffic.spec, mesh) == traffic
    (tmp_path / "net.txt").write_text("north east\neast south\nsouth north\n")
    network = obliv.topology(f"file:{tmp_path / 'net.txt'}")
    assert obliv.traffic("hot-nodes:south", network).to_matrix() == obliv.traffic("hot-nodes:2", network).to_matrix()
    assert (
        obliv.traffic("hot-nodes:south,0", network).to_matrix() == obliv.traffic("hot-nodes:0,2", network).to_matrix()
    )


def test_hot_nodes_must_be_terminals() -> None:
    with pytest.raises(obliv.TrafficError, match="not a terminal"):
        obliv.traffic("hot-nodes:((0),0)", obliv.fattree(4, 2))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("hot-nodes", "no terminals"),
        ("hot-nodes:16", "0 to 15"),
        ("hot-nodes:-1", "0 to 15"),
        ("hot-nodes:3,3", "twice"),
        ("hot-nodes:3,share=0", "above 0"),
        ("hot-nodes:3,share=5/4", "at most 1"),
        ("hot-nodes:(1,1),5", "twice"),
        ("hot-nodes:(4,1)", "has no node"),
        ("hot-nodes:middle", "has no node"),
    ],
)
def test_wrong_hot_nodes(spec: str, message: str) -> None:
    with pytest.raises(obliv.TrafficError, match=message):
        obliv.traffic(spec, obliv.mesh(4, 4))


@pytest.mark.parametrize("analysis", [obliv.birkhoff, obliv.completed])
def test_rows_that_are_not_traffic_yet_are_refused(analysis: Any) -> None:
    with pytest.raises(obliv.TrafficError, match=r"make one with obliv\.matrix"):
        analysis([[0, 2], [1, 0]])


@pytest.mark.parametrize(
    ("source", "destination", "amount", "problem"),
    [
        ([0, 0], [1, 1], [1, 1], r"the pair \(0, 1\) has several flows"),
        ([0, 1], [1], [1, 1], "lists of one length"),
        ([0, 3], [1, 1], [1, 1], "terminals are 0 to 2"),
        ([0, 1], [1, -1], [1, 1], "terminals are 0 to 2"),
        ([0, 1], [1, 2], [1, -1], "a flow is negative"),
    ],
)
def test_flows_that_would_be_counted_wrongly_are_refused(
    source: list[int], destination: list[int], amount: list[int], problem: str
) -> None:
    flows = (np.array(numbers) for numbers in (source, destination, amount))
    with pytest.raises(obliv.TrafficError, match=problem):
        obliv.Traffic("own", 3, Fraction(0), *flows)
