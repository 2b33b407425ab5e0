"""Results that a shortcut gets wrong, and the permutation printed in the paper."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from tests.oracles import paths as oracle

import obliv

# Figure 9 of the paper, as printed (row i, column j).
FIGURE_9 = """
(4,0) (4,6) (4,7) (4,8) (8,8) (6,7) (4,1) (4,2) (4,3)
(0,0) (6,0) (6,6) (7,1) (6,5) (8,2) (1,5) (0,4) (5,4)
(6,8) (7,0) (5,6) (8,1) (5,5) (0,3) (5,3) (1,4) (6,4)
(5,8) (8,0) (0,6) (0,2) (5,2) (4,5) (6,3) (2,4) (7,4)
(7,8) (0,1) (5,1) (8,5) (6,2) (3,5) (7,3) (3,4) (8,4)
(5,0) (7,6) (6,1) (7,5) (7,2) (2,5) (8,3) (4,4) (0,5)
(1,0) (1,6) (1,7) (1,8) (0,8) (5,7) (1,1) (1,2) (1,3)
(2,0) (2,6) (2,7) (2,8) (8,7) (0,7) (2,1) (2,2) (2,3)
(3,0) (3,6) (3,7) (3,8) (7,7) (8,6) (3,1) (3,2) (3,3)
"""


def figure_9() -> dict[tuple[int, int], tuple[int, int]]:
    rows = [
        [tuple(map(int, entry[1:-1].split(","))) for entry in line.split()] for line in FIGURE_9.split("\n") if line
    ]
    return {(i, j): entry for i, row in enumerate(rows) for j, entry in enumerate(row)}  # type: ignore[misc]


def load_of(pairs: dict[tuple[int, int], tuple[int, int]], name: str) -> Fraction:
    """The largest load of a map of coordinates (first, second) = (x, y)."""
    torus = obliv.torus(9, 9)
    destinations = [0] * 81
    for (x, y), (a, b) in pairs.items():
        destinations[x + 9 * y] = a + 9 * b
    return max(obliv.routing(name, torus).pair_loads().under(obliv.permutation(destinations)))


def test_figure_9_is_a_permutation() -> None:
    printed = figure_9()
    assert len(printed) == 81
    assert set(printed.values()) == set(itertools.product(range(9), repeat=2))


def test_figure_9_attains_the_worst_case_of_romm() -> None:
    """Entry in row i, column j is the destination of node (i, j): load 32/5.

    ROMM does not tell the dimensions apart, so either may be x as long as sources and destinations agree.
    """
    printed = figure_9()
    assert load_of(printed, "romm") == Fraction(32, 5)
    turned = {(j, i): (b, a) for (i, j), (a, b) in printed.items()}
    assert load_of(turned, "romm") == Fraction(32, 5)


def test_figure_9_read_otherwise_is_no_worst_case() -> None:
    """With rows and columns of the sources exchanged against the destinations' the printed figure means nothing."""
    mixed = {(j, i): destination for (i, j), destination in figure_9().items()}
    assert load_of(mixed, "romm") < Fraction(32, 5)


def test_figure_9_by_enumeration_of_paths() -> None:
    """The same without obliv: fixes the definition of ROMM that the oracle has."""
    net = oracle.Network("torus", 9, 9)
    law = oracle.romm()
    load: dict[Any, Fraction] = {}
    for s, d in figure_9().items():
        for channel, p in oracle.loads_of(law(net, s, d)).items():
            load[channel] = load.get(channel, Fraction()) + p
    assert max(load.values()) == Fraction(32, 5)


@pytest.mark.parametrize("symmetry", ["auto", *(pytest.param(s, marks=pytest.mark.nightly) for s in ("off", "search"))])
def test_the_trap(symmetry: str) -> None:
    """DOR on the 5-ary 3-cube: the topology is edge-symmetric, the routing is not; load 10, not 2."""
    result = obliv.worst_case(obliv.routing("dor", obliv.topology("torus:5x5x5")), symmetry=symmetry)
    assert result.channel_load == 10
    tail, head = result.channel.tail, result.channel.head
    assert tail % 5 == head % 5, "the first dimension carries 2"
    assert tail // 25 == head // 25, "the worst channel is on the middle dimension"
    assert tail != head


def dimension_loads(k: int, n: int, order: str) -> list[Fraction]:
    """The worst load on a channel of each dimension, by a matching of one channel of each."""

    torus = obliv.torus(*[k] * n)
    loads = obliv.routing(f"dor{order}", torus).pair_loads()
    result = []
    for dim in range(n):
        channel = next(
            c
            for c in range(torus.channels)
            if torus.tail[c] == 0 and torus.head[c] == k**dim  # node 0 to its neighbour
        )
        table = loads.on_channel(channel).toarray()
        rows, columns = scipy.optimize.linear_sum_assignment(table, maximize=True)
        result.append(Fraction(int(table[rows, columns].sum()), loads.denominator))
    return result


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("k", "n"), [(3, 1), (3, 2), (3, 3), (3, 4), (5, 1), (5, 2), (5, 3), (7, 2), (7, 3), (9, 2)])
def test_dor_on_cubes(k: int, n: int) -> None:
    """Dimension i carries h·min(k^(i-1), k^(n-i))."""
    h = (k - 1) // 2
    expected = [h * min(k ** (i - 1), k ** (n - i)) for i in range(1, n + 1)]
    assert obliv.worst_case(obliv.routing("dor", obliv.torus(*[k] * n))).channel_load == max(expected)
    assert oracle.dor_cube(k, n) == max(expected)
    if n > 1:
        assert dimension_loads(k, n, "") == expected


@pytest.mark.nightly
@pytest.mark.parametrize(("k", "n"), [(3, 5), (5, 4), (9, 3), (11, 3)])
def test_dor_on_larger_cubes(k: int, n: int) -> None:
    assert obliv.worst_case(obliv.routing("dor", obliv.torus(*[k] * n))).channel_load == oracle.dor_cube(k, n)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_dor_in_another_order(order: tuple[int, ...]) -> None:
    """The place in the order counts, not the dimension."""
    spec = f":order={'-'.join(map(str, order))}"
    by_place = [1 * min(1, 9), 1 * min(3, 3), 1 * min(9, 1)]
    loads = dimension_loads(3, 3, spec)
    assert [loads[dim] for dim in order] == by_place


@pytest.mark.sampled(40)
@pytest.mark.parametrize("name", ["dor", "dor:order=1-2-0", "o1turn", "romm", "valiant", "shortest", "ecmp"])
@pytest.mark.parametrize(
    "spec", ["torus:3x3x3", "torus:2x4x3", "mesh:3x2x3", "hypercube:4", "torus:2x2x2", "torus:4x4"]
)
def test_symmetry_never_changes_the_answer(spec: str, name: str) -> None:
    if name == "dor:order=1-2-0" and spec in ("torus:4x4", "hypercube:4"):
        name = "dor:yx" if spec == "torus:4x4" else "dor:order=3-1-0-2"
    loads = obliv.routing(name, obliv.topology(spec)).pair_loads()
    assert obliv.worst_case(loads).channel_load == obliv.worst_case(loads, symmetry="off").channel_load


@pytest.mark.parametrize("k", [4, 5])
def test_a_false_generator_is_not_believed(k: int) -> None:
    """Generators of a topology are a claim; here a map that is no automorphism, and one the routing does not keep."""
    torus = obliv.torus(k, k)
    links = [(int(a), int(b)) for a, b in zip(torus.tail, torus.head, strict=True)]

    swap = np.array([1, 0, *range(2, k * k)], dtype=np.int32)
    transpose = np.array([k * (v % k) + v // k for v in range(k * k)], dtype=np.int32)
    rng = random.Random(k)
    topology = obliv.build("claims", k * k, links, generators=(swap, transpose))

    class Skewed(obliv.Routing):
        def paths(self, source: int, destination: int) -> Any:
            return listed[source, destination]

    dor = obliv.routing("dor", torus)
    listed = {
        (s, d): [(tuple(map(int, path)), p) for path, p in dor.paths(s, d)]
        for s, d in itertools.product(range(k * k), repeat=2)
    }
    # one pair goes a long way round
    s, d = rng.sample(range(k * k), 2)
    middle = (s + k * k // 2) % (k * k)
    listed[s, d] = [(one + two, p * q) for one, p in listed[s, middle] for two, q in listed[middle, d]]
    skewed = Skewed(topology)
    loads = skewed.pair_loads()
    assert not loads.keeps(swap)
    assert not loads.keeps(transpose)
    assert obliv.worst_case(skewed).channel_load == obliv.worst_case(skewed, symmetry="off").channel_load


@pytest.mark.nightly
def test_the_claims_about_rounds_of_random_permutations() -> None:
    """Notes, section 3: ROMM's worst of 10⁴ random permutations is no worst case; for DOR a permutation finds it."""

    torus = obliv.torus(9, 9)
    romm, dor = (obliv.routing(name, torus).pair_loads() for name in ("romm", "dor"))
    rng = np.random.default_rng(1)
    result = max(max(romm.under(obliv.permutation(rng.permutation(81)))) for _ in range(150))
    assert result < Fraction(32, 5)
    # transpose is a worst case of DOR (Table 1 of the paper: 0.278 both)
    assert max(dor.under(obliv.traffic("transpose", torus))) == obliv.worst_case(dor).channel_load == 4


@pytest.mark.sampled(3)
@pytest.mark.parametrize("k", range(2, 8))
def test_o1turn_and_dor_meet_their_worst_cases_on_meshes(k: int) -> None:
    """Notes, section 1: transpose and anti-transpose are worst cases of XY and YX on square meshes."""
    mesh = obliv.mesh(k, k)
    for name in ("dor", "dor:yx"):
        loads = obliv.routing(name, mesh).pair_loads()
        for pattern in ("transpose", "anti-transpose", "dor-wc"):
            assert max(loads.under(obliv.traffic(pattern, mesh))) == obliv.worst_case(loads).channel_load == k - 1


@pytest.mark.parametrize("spec", ["torus:5x5", "torus:4x6", "mesh:4x4", "mesh:3x5", "torus:3x3x2"])
def test_valiant_is_constant_over_permutations(spec: str) -> None:
    """Its load is a source-only plus a destination-only term; every permutation is a worst case, the identity too."""
    topology = obliv.topology(spec)
    loads = obliv.routing("valiant", topology).pair_loads()
    rng = random.Random(spec)
    first = loads.under(obliv.permutation(list(range(topology.nodes))))
    for _ in range(5):
        order = list(range(topology.nodes))
        rng.shuffle(order)
        assert loads.under(obliv.permutation(order)) == first
    assert obliv.worst_case(loads).channel_load == max(first)
    uniform = obliv.routing("dor", topology).pair_loads().under(obliv.traffic("uniform", topology))
    assert first == [2 * x for x in uniform]
