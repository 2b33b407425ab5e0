"""Every exact value of the reference file, for the routings that exist."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

import pytest
from tests.oracles import paths as oracle

import obliv

FILE = Path(__file__).resolve().parents[1] / "reference" / "mesh_torus.csv"
ROUTINGS = {
    "dorxy": "dor",
    "doryx": "dor:yx",
    "o1turn": "o1turn",
    "val": "valiant",
    "romm": "romm",
    "romm_xy": "romm:xy",
    "xyx": "xyx",
    "yxy": "yxy",
    "u2turn": "u2turn",
    "u2turna": "u2turn-a",
    "ival(=i2turn)": "ival",
}
TRAFFIC = {
    "throughput:nearest_neighbor 1/deg": "nearest-neighbor",
    "throughput:complement": "complement",
    "throughput:complement (k-1-x,k-1-y)": "complement",
    "throughput:transpose": "transpose",
    "throughput:tornado_x floor((k-1)/2)": "tornado",
    "throughput:dor_wc (k-1-y,k-1-x)": "anti-transpose",
    "throughput:uniform": "uniform",
    "throughput:uniform(random, incl self)": "uniform",
}
# Metrics that other tests have, or that no routing above has.
ELSEWHERE = {
    "avg_case 1/mean(max load), EXACT over all 9! permutations",
    "worst of 1e4 random permutations",
    "load of the permutation printed in Towles Fig 9",
}


def rows() -> dict[tuple[str, str], dict[str, Fraction]]:
    result: dict[tuple[str, str], dict[str, Fraction]] = defaultdict(dict)
    with FILE.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            kind, radices = row["topology"].split()
            if kind in ("mesh", "torus") and row["metric"] not in ELSEWHERE and row["routing"] in (*ROUTINGS, "-"):
                key = f"{kind}:{radices}", row["routing"]
                assert row["metric"] not in result[key]
                result[key][row["metric"]] = Fraction(row["exact"])
    return result


ROWS = rows()


def test_the_file_has_what_the_notes_promise() -> None:
    """Guards the tests below against an empty or thinned-out file."""
    assert sum(len(metrics) for metrics in ROWS.values()) >= 1000
    assert ROWS["torus:9x9", "romm"]["worst_case_load"] == Fraction(32, 5)


def by_topology(chosen: Callable[[str], bool]) -> dict[str, list[str]]:
    """The routings of every topology in the file."""
    result: dict[str, list[str]] = defaultdict(list)
    for topology, routing in ROWS:
        if chosen(routing):
            result[topology].append(routing)
    return result


def nodes_of(topology: str) -> int:
    return prod(map(int, topology.partition(":")[2].split("x")))


EXACT = by_topology(lambda routing: routing != "-")


@pytest.mark.parametrize("kind", ["mesh", "torus"])
def test_capacity(kind: str) -> None:
    for topology in by_topology(lambda routing: routing == "-"):
        if topology.startswith(kind):
            result = obliv.topology(topology)
            assert {"capacity_load": result.capacity_load} == ROWS[topology, "-"], topology
            # The capacity really is the throughput of uniform traffic under dimension order.
            uniform = obliv.throughput(obliv.routing("dor", result), "uniform").patterns[0]
            assert uniform.channel_load == result.capacity_load, topology


@pytest.mark.sampled(20)
@pytest.mark.parametrize(
    "topology",
    [
        pytest.param(topology, marks=[pytest.mark.nightly] if nodes_of(topology) > 36 and "9x9" not in topology else [])
        for topology in EXACT
    ],
)
def test_exact_values(topology: str) -> None:
    for routing in EXACT[topology]:
        loads = obliv.routing(ROUTINGS[routing], obliv.topology(topology)).pair_loads()
        result = obliv.worst_case(loads)
        got: dict[str, Any] = {}
        for metric in ROWS[topology, routing]:
            if metric == "worst_case_load":
                got[metric] = result.channel_load
            elif metric == "worst_case_throughput":
                got[metric] = result.fraction_of_capacity
            elif metric == "avg_hops_incl_self_pairs":
                got[metric] = loads.hops()
            elif metric == "avg_hops/minimal":
                got[metric] = loads.hops() / obliv.routing("dor", obliv.topology(topology)).pair_loads().hops()
            else:
                got[metric] = obliv.throughput(loads, TRAFFIC[metric]).patterns[0].fraction_of_capacity
        assert got == ROWS[topology, routing], routing
        assert all(type(value) is Fraction for value in got.values())
        # The permutation is whole, and put as traffic it loads the named channel with the reference value.
        assert sorted(result.permutation) == list(range(loads.terminals))
        under = loads.under(obliv.permutation(result.permutation))
        assert max(under) == under[result.channel.id] == ROWS[topology, routing]["worst_case_load"], routing


@pytest.mark.parametrize("kind", ["mesh", "torus"])
def test_i2turn_has_the_values_of_ival(kind: str) -> None:
    for topology in by_topology(lambda routing: routing == "ival(=i2turn)"):
        if topology.startswith(kind):
            result = obliv.topology(topology)
            one, two = (obliv.routing(name, result).pair_loads() for name in ("ival", "i2turn"))
            assert one.hops() == two.hops(), topology
            worst = [obliv.worst_case(loads).fraction_of_capacity for loads in (one, two)]
            assert worst == [Fraction(1, 2)] * 2, topology


# Printed in the notes, not in the file.


@pytest.mark.parametrize(
    ("topology", "routing", "load"),
    [
        ("mesh:3x3", "romm", "5/3"),
        ("mesh:4x4", "romm", "11/4"),
        ("mesh:5x5", "romm", "427/120"),
        ("torus:8x8", "dor", "7/2"),
        ("torus:8x8", "romm", "24/5"),
        ("torus:6x6", "romm", "73/24"),
    ],
)
def test_values_of_the_notes(topology: str, routing: str, load: str) -> None:
    assert obliv.worst_case(obliv.routing(routing, obliv.topology(topology))).channel_load == Fraction(load)


@pytest.mark.parametrize(
    ("traffic", "dor", "romm", "digits"),
    [
        ("uniform", "1", "1", 3),
        ("complement", "0.556", "0.362", 3),
        ("transpose", "0.278", "0.556", 3),
        ("tornado", "0.278", "0.278", 3),
    ],
)
def test_table_1_of_the_paper(traffic: str, dor: str, romm: str, digits: int) -> None:
    for routing, printed in (("dor", dor), ("romm", romm)):
        result = obliv.throughput(obliv.routing(routing, obliv.topology("torus:9x9")), traffic)
        assert round(float(result.patterns[0].fraction_of_capacity), digits) == float(printed)


def test_the_worst_cases_of_the_paper() -> None:
    """0.278 and 0.173 (the latter truncated, as the notes say: 25/144)."""
    torus = obliv.topology("torus:9x9")
    dor, romm = (obliv.worst_case(obliv.routing(name, torus)).fraction_of_capacity for name in ("dor", "romm"))
    assert (dor, romm) == (Fraction(5, 18), Fraction(25, 144))
    assert int(1000 * romm) == 173
    assert round(float(dor), 3) == 0.278


@pytest.mark.sampled(4)
@pytest.mark.parametrize("k", [*range(3, 11), *(pytest.param(k, marks=pytest.mark.nightly) for k in range(11, 18))])
def test_closed_forms_of_square_meshes(k: int) -> None:
    """Section 4 of the notes: valiant, dor and o1turn."""
    mesh = obliv.mesh(k, k)

    def worst(name: str) -> Fraction | None:
        return obliv.worst_case(obliv.routing(name, mesh)).fraction_of_capacity

    odd = k % 2 == 1
    assert worst("valiant") == Fraction(1, 2)
    assert worst("dor") == worst("dor:yx") == (Fraction(k + 1, 4 * k) if odd else Fraction(k, 4 * (k - 1)))
    assert worst("o1turn") == (Fraction(k * k - 1, 2 * k * k) if odd else Fraction(1, 2))
    hops = Fraction(2 * (k * k - 1), 3 * k)
    assert obliv.routing("dor", mesh).pair_loads().hops() == hops
    assert obliv.routing("valiant", mesh).pair_loads().hops() == 2 * hops


@pytest.mark.sampled(6)
@pytest.mark.parametrize("k", [*range(3, 8), *(pytest.param(k, marks=pytest.mark.nightly) for k in range(8, 14))])
def test_closed_forms_of_two_turn_routings(k: int) -> None:
    """Sections 3 and 4: worst cases, uniform traffic and hops on square meshes; section 8: IVAL on square tori."""
    mesh, torus = obliv.mesh(k, k), obliv.torus(k, k)
    odd = k % 2 == 1
    for name in ("xyx", "yxy"):
        loads = obliv.routing(name, mesh).pair_loads()
        assert obliv.worst_case(loads).fraction_of_capacity == Fraction(1, 2)
        assert loads.hops() == Fraction(3 * k - 1, k) * Fraction(k * k - 1, 3 * k)
    for name in ("u2turn", "u2turn-a"):
        loads = obliv.routing(name, mesh).pair_loads()
        assert obliv.worst_case(loads).fraction_of_capacity == (Fraction(k + 1, 2 * k + 1) if odd else Fraction(1, 2))
        assert obliv.throughput(loads, "uniform").patterns[0].fraction_of_capacity == Fraction(2 * k, 3 * k - 1)
        assert loads.hops() == Fraction(3 * k - 1, k) * Fraction(k * k - 1, 3 * k)
    if k > 8:
        return
    hops = Fraction((k * k - 1) * (5 * k - 1), 6 * k * k)
    if not odd:
        hops = Fraction((k * k - 1) * (k + 1), 3 * k * k) + Fraction(k - 1, 2)
    for name in ("ival", "i2turn"):
        loads = obliv.routing(name, torus).pair_loads()
        assert obliv.worst_case(loads).fraction_of_capacity == Fraction(1, 2)
        assert loads.hops() == hops


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("kx", "ky"), [(3, 2), (4, 2), (4, 3), (5, 2), (5, 3), (5, 4), (6, 5), (7, 2), (7, 6), (8, 3)])
def test_closed_forms_on_other_meshes(kx: int, ky: int) -> None:
    """Section 4: worst cases of U2TURN, U2TURN-A and O1TURN for kx > ky, hops of XYX and YXY; either way round."""
    odd, half = kx % 2 == 1, Fraction(1, 2)
    expected = {
        "valiant": half,
        "u2turn": Fraction(kx + 1, 2 * kx) if odd else half,
        "u2turn-a": Fraction(kx + 1, 2 * kx + 1) if odd else half,
        "o1turn": Fraction(kx * kx - 1, 2 * kx * kx) if odd else half,
    }
    for mesh in (obliv.mesh(kx, ky), obliv.mesh(ky, kx)):
        got = {name: obliv.worst_case(obliv.routing(name, mesh)).fraction_of_capacity for name in expected}
        assert got == expected
    hx, hy = Fraction(kx * kx - 1, 3 * kx), Fraction(ky * ky - 1, 3 * ky)
    mesh = obliv.mesh(kx, ky)
    assert obliv.routing("xyx", mesh).pair_loads().hops() == hy + hx * Fraction(2 * ky - 1, ky)
    assert obliv.routing("yxy", mesh).pair_loads().hops() == hx + hy * Fraction(2 * kx - 1, kx)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("kx", range(2, 8))
def test_dor_on_any_mesh(kx: int) -> None:
    """The exact formula of section 4 of the notes holds, X first or Y first, for sides in any order."""
    for ky in range(2, 8):
        mesh = obliv.mesh(kx, ky)
        expected = oracle.dor_mesh(kx, ky)
        assert obliv.worst_case(obliv.routing("dor", mesh)).channel_load == expected, ky
        assert obliv.worst_case(obliv.routing("dor", mesh), symmetry="off").channel_load == expected, ky
        assert obliv.worst_case(obliv.routing("dor:yx", mesh)).channel_load == expected, ky


@pytest.mark.sampled(4)
@pytest.mark.parametrize("k", [*range(3, 14), 24, 31, pytest.param(65, marks=pytest.mark.nightly)])
def test_dor_and_valiant_on_tori(k: int) -> None:
    """DOR loads a channel with (k - 1)/2, ties shared: also at even k, as section 7 prints it; Valiant is at 1/2."""
    torus = obliv.torus(k, k)
    assert obliv.worst_case(obliv.routing("dor", torus)).channel_load == Fraction(k - 1, 2)
    assert obliv.worst_case(obliv.routing("valiant", torus)).fraction_of_capacity == Fraction(1, 2)
