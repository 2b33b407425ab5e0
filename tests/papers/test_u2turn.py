"""The U2TURN paper. Golden values come from an independent program that enumerates paths with rationals."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from tests.papers.reproduction import Reproduction, page_of, said

import obliv
from obliv import Bounds, SpecError, papers
from obliv.cli import main
from obliv.papers.paper import agreeing, in_columns
from obliv.papers.results import ReproducedEntry
from obliv.papers.u2turn import drawing as figures26
from obliv.papers.u2turn import drawing as patterns
from obliv.papers.u2turn import equations
from obliv.papers.u2turn import equations as claims
from obliv.papers.u2turn import equations as table1
from obliv.papers.u2turn import statements as meshes
from obliv.papers.u2turn import statements as tables34
from obliv.papers.u2turn.drawing import average_of, blocks
from obliv.papers.u2turn.printed import AVERAGE_MESHES, FIGURE6_MESHES, PRINT, SIZES, of_u2turn
from obliv.papers.u2turn.statements import (
    ASYMMETRIC,
    ROUTINGS,
    average,
    capacity_load,
    largest_loads,
    mean_gain,
    worst,
    worst_load,
)
from obliv.results.numbers import from_number, shown
from obliv.routings.listed import PathTable

# k: worst case, transpose and DOR-WC, uniform, complement, nearest neighbor; VAL, DOR, O1TURN, U2TURN
SQUARES = {
    3: ("1/2 1/3 4/9 4/7", "1/2 1/3 2/3 4/5", "1/2 1 1 3/4", "1/2 2/3 2/3 4/7", "24/55 4/3 4/3 3/4"),
    4: ("1/2 1/3 1/2 1/2", "1/2 1/3 2/3 4/5", "1/2 1 1 8/11", "1/2 1/2 1/2 1/2", "8/17 2 2 12/11"),
    5: ("1/2 3/10 12/25 6/11", "1/2 3/10 3/5 3/4", "1/2 1 1 5/7", "1/2 3/5 3/5 6/11", "8/17 12/5 12/5 48/41"),
    6: ("1/2 3/10 1/2 1/2", "1/2 3/10 3/5 3/4", "1/2 1 1 12/17", "1/2 1/2 1/2 1/2", "9/19 3 3 108/85"),
    7: ("1/2 2/7 24/49 8/15", "1/2 2/7 4/7 8/11", "1/2 1 1 7/10", "1/2 4/7 4/7 8/15", "9/19 24/7 24/7 144/109"),
    8: ("1/2 2/7 1/2 1/2", "1/2 2/7 4/7 8/11", "1/2 1 1 16/23", "1/2 1/2 1/2 1/2", "48/101 4 4 192/139"),
}
# 1 / mean of the largest load over random permutations, computed with another program
AVERAGES = {
    4: (0.4778, 0.5429, 0.6388),
    5: (0.4419, 0.5262, 0.6287),
    6: (0.4713, 0.5557, 0.6465),
    7: (0.4615, 0.5507, 0.6396),
    8: (0.4775, 0.5687, 0.6510),
}
# U2TURN with destinations drawn, 300 packets of each node: means of few runs of another program
DRAWN = {3: 0.714, 4: 0.704, 5: 0.691, 6: 0.689, 7: 0.682, 8: 0.680}
# VAL, DOR, O1TURN, U2TURN, U2TURN-A
ASYMMETRIC_WORST = {
    "3x2": "1/2 1/3 4/9 2/3 4/7",
    "4x2": "1/2 1/2 1/2 1/2 1/2",
    "4x3": "1/2 1/3 1/2 1/2 1/2",
    "5x2": "1/2 2/5 12/25 3/5 6/11",
    "5x3": "1/2 2/5 12/25 3/5 6/11",
    "5x4": "1/2 3/10 12/25 3/5 6/11",
    "6x2": "1/2 3/8 1/2 1/2 1/2",
    "6x3": "1/2 3/8 1/2 1/2 1/2",
    "6x4": "1/2 3/8 1/2 1/2 1/2",
    "6x5": "1/2 3/10 1/2 1/2 1/2",
    "7x2": "1/2 3/7 24/49 4/7 8/15",
    "7x3": "1/2 12/35 24/49 4/7 8/15",
    "7x4": "1/2 12/35 24/49 4/7 8/15",
    "7x5": "1/2 12/35 24/49 4/7 8/15",
    "7x6": "1/2 2/7 24/49 4/7 8/15",
}
NAMES = ("VAL", "DOR", "O1TURN", "U2TURN")


#: Tables that take long: their tests are nightly, beside those of the same statements on small meshes.
LONG = ("averages", "claims", "equations", "statements", "table1")

#: The permutations that the command takes, as the fixtures below take fewer while their tests run.
SAMPLES = meshes.SAMPLES


@pytest.fixture(scope="module")
def u2turn() -> Iterator[Reproduction]:
    """All but long tables, with averages over fewer permutations than the command takes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(meshes, "SAMPLES", 2_000)
        yield Reproduction("u2turn", [table for table in papers.tables("u2turn") if table not in LONG])


@pytest.fixture(scope="module")
def complete() -> Iterator[Reproduction]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(meshes, "SAMPLES", 10_000)
        yield Reproduction("u2turn")


@pytest.fixture(scope="module", params=["u2turn", pytest.param("complete", marks=pytest.mark.nightly)])
def either(request: pytest.FixtureRequest) -> Reproduction:
    reproduction: Reproduction = request.getfixturevalue(request.param)
    return reproduction


@pytest.mark.parametrize("k", SQUARES)
def test_exact_entries_of_tables_3_and_4(u2turn: Reproduction, k: int) -> None:
    worst_case, transpose, uniform, complement, nearest = (row.split() for row in SQUARES[k])
    golden = {
        "Worst-case": worst_case,
        "Transpose": transpose,
        "Random": uniform,
        "DOR-WC": transpose,
        "Complement": complement,
        "Nearest-Neighbor": nearest,
    }
    for row, values in golden.items():
        computed = [u2turn[f"{k}x{k}, {row}, {name}"]["computed"]["exact"] for name in NAMES]
        assert computed == values, row


def test_averages(either: Reproduction) -> None:
    for k, values in AVERAGES.items():
        assert either[f"{k}x{k}, Average-case, VAL"]["computed"]["exact"] == "1/2"
        for name, value in zip(NAMES[1:], values, strict=True):
            computed = either[f"{k}x{k}, Average-case, {name}"]["computed"]
            assert abs(computed["value"] - value) < 5 * computed["stderr"] + 0.0003
    exact = {"DOR": "241920/590783", "O1TURN": "6720/14003", "U2TURN": "725760/1190837"}
    for name, text in exact.items():
        row = either[f"3x3, Average-case, {name}"]
        assert (row["computed"]["exact"], said(row)) == (text, "open")  # the random matrix is not defined
        assert "a million random traffic matrix" in row["note"]  # against means of some hundred
        assert "does not define the random matrix" in row["note"]


@pytest.mark.nightly
def test_which_entries_are_errata(complete: Reproduction) -> None:
    computed = {row["entry"] for row in complete.rows if row["verdict"] == "erratum"}
    assert computed == {
        "8x8, Nearest-Neighbor, U2TURN",
        "(3) U2TURN, k = 2: mean hops",
        "(3) U2TURN, k = 8: mean hops",
        "(3) U2TURN, k = 2: penalty over DOR",
    }


def test_withdrawn_errata(u2turn: Reproduction) -> None:
    for k in SQUARES:
        row = u2turn[f"{k}x{k}, Nearest-Neighbor, VAL"]
        assert said(row) == ("reading" if k == 3 else "match")
    assert u2turn["3x3, Nearest-Neighbor, VAL"]["other_readings"][0]["computed"]["exact"] == "72/157"


def test_random_without_the_short_cut_fits_four_sizes_and_drawn_destinations_all(u2turn: Reproduction) -> None:
    for k in SQUARES:
        row = u2turn[f"{k}x{k}, Random, U2TURN"]
        without, drawn = row["other_readings"]
        assert Fraction(without["computed"]["exact"]) == 1 / (Fraction(3, 2) - Fraction(1, k * k))
        assert without["fits"] == (k in (3, 4, 5, 8))
        assert drawn["fits"]  # within three standard deviations of one draw
        assert abs(drawn["computed"]["value"] - DRAWN[k]) < 0.005
        assert 0.88 < float(tables34.drawn(f"{k}x{k}", "DOR").value) < 0.95  # for which the same row prints 1
        assert said(row) == ("match" if k == 4 else "open")
        assert k == 4 or "There is a degenerate case" in row["note"] or not without["fits"]
        (other,) = u2turn[f"{k}x{k}, Nearest-Neighbor, U2TURN"]["other_readings"]
        assert not other["fits"]


def test_averages_are_means_of_some_hundred_permutations_if_at_all(u2turn: Reproduction) -> None:
    for size in SIZES:
        for name in NAMES[1:]:
            few, literal = u2turn[f"{size}, Average-case, {name}"]["other_readings"]
            assert few["fits"]
            assert literal["computed"]["value"] > few["computed"]["value"]  # Jensen: the mean of reciprocals is larger
    assert not u2turn["3x3, Average-case, DOR"]["other_readings"][1]["fits"]


@pytest.mark.nightly
def test_a_million_permutations_are_too_many(complete: Reproduction) -> None:
    row = next(row for row in complete.rows if "means over a million" in row["entry"])
    assert said(row) == "open"  # "over a million", Table II says
    assert [reading["fits"] for reading in row["other_readings"]] == [True, True, False]
    assert 0.4 < row["other_readings"][0]["computed"]["lower"] < row["other_readings"][0]["computed"]["upper"] < 0.85


def test_the_optimal_routing(u2turn: Reproduction) -> None:
    for name in ("Optimal Routing", "2TURN"):
        for k in (3, 5, 7, 9, 11, 13):
            row = u2turn[f"k = {k}, {name}"]
            assert row["verdict"] == "match"
            assert row["computed"]["exact"] == str(Fraction(k + 1, 2 * k + 1)) == str(worst(f"mesh:{k}x{k}", "u2turn"))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("k", [3, 5, 7, 13, *(pytest.param(k, marks=pytest.mark.nightly) for k in range(15, 102, 2))])
def test_no_routing_is_better_than_u2turn_on_odd_squares(k: int) -> None:
    result = obliv.design(blocks(k), then=None)
    assert result.channel_load == Fraction((k - 1) * (2 * k + 1), 4 * k)
    assert obliv.verify(result).proved
    assert figures26.optimum(k, Fraction(k + 1, 2 * k + 1)).value == Fraction(k + 1, 2 * k + 1)


@pytest.mark.parametrize("h", [1, 2, 3, 10])
def test_the_proof_for_odd_squares(h: int) -> None:
    """The traffic of the page: what its channels can carry, and the distances that every routing pays."""
    network, k = blocks(2 * h + 1), 2 * h + 1
    both = {(0, 8): 4 * h**3 - h + 1, (2, 6): 4 * h**3 - h + 1}
    first = {(0, 3): 4 * h**2 - 2, (2, 5): 2 * h**2 - 1, (1, 7): 4 * h**2 + 2 * h - 1, (5, 3): 2 * h + 1}
    first |= both | {(0, 8): 4 * h**3 - 2 * h**2 - h + 2, (7, 6): 2 * h**2 - 1}
    second = {(0, 3): 4 * h**2 - 2, (2, 5): 4 * h**2 - 2, (1, 7): 4 * h**2 + 4 * h} | both
    second |= {(corner, 4): h + 1 for corner in (0, 2, 6, 8)}
    lengths: dict[int, dict[tuple[int, int], int]] = {}
    spent = Fraction(0)
    for (tail, head), traffic, y in (((0, 3), first, Fraction(4 * h**2 + 2 * h - 1, h)), ((1, 4), second, 4 * h + 4)):
        for block, rate in enumerate(network.rates()[0]):
            assert sum(amount for pair, amount in traffic.items() if pair[0] == block) <= y * rate
            assert sum(amount for pair, amount in traffic.items() if pair[1] == block) <= y * rate
        for swap, right, up, back in product((0, 1), repeat=4):
            image = [3 * abs(2 * right - x) + abs(2 * up - z) for x, z in product(range(3), repeat=2)]
            image = [image[3 * (v % 3) + v // 3] if swap else image[v] for v in range(9)]
            ends = (image[head], image[tail]) if back else (image[tail], image[head])
            pairs = {(image[d], image[s]) if back else (image[s], image[d]): x for (s, d), x in traffic.items()}
            channel = network.channels_between(*ends)[0]
            assert lengths.setdefault(channel, pairs) == pairs
    for channel in range(network.channels):
        y = (
            Fraction(4 * h + 4)
            if 4 in (network.tail[channel], network.head[channel])
            else Fraction(4 * h**2 + 2 * h - 1, h)
        )
        spent += y * network.bandwidth_of(channel)
    paid = 0
    for s, d in product(range(9), repeat=2):
        graph = nx.DiGraph()
        for c in range(network.channels):
            graph.add_edge(int(network.tail[c]), int(network.head[c]), weight=lengths[c].get((s, d), 0))
        paid += nx.dijkstra_path_length(graph, s, d)
    assert (paid, spent) == (8 * h * k * (4 * h + 3), 16 * k**2)


@pytest.mark.parametrize("k", [3, pytest.param(5, marks=pytest.mark.nightly)])
def test_the_blocks_of_a_mesh_bound_its_linear_program(k: int) -> None:
    assert obliv.design(f"mesh:{k}x{k}", then=None).channel_load == obliv.design(blocks(k), then=None).channel_load


@pytest.mark.nightly
def test_routings_of_a_mesh_are_no_better_on_its_blocks() -> None:
    """A routing of the mesh, averaged over blocks: its worst case is no larger than on the mesh."""
    mesh, small = obliv.mesh(5, 5), blocks(5)
    kind = [0, 0, 1, 2, 2]
    block = [kind[v % 5] + 3 * kind[v // 5] for v in range(25)]
    members = [[v for v in range(25) if block[v] == b] for b in range(9)]
    ends = {c: (block[mesh.tail[c]], block[mesh.head[c]]) for c in range(mesh.channels)}
    on_block = {c: small.channels_between(a, b)[0] for c, (a, b) in ends.items() if a != b}
    for name in ("dor", "romm", "valiant", "u2turn"):
        routing = obliv.routing(name, mesh)
        paths: dict[tuple[int, int], list[Any]] = {(b, b): [((), Fraction(1))] for b in range(9)}
        for a, b in product(range(9), repeat=2):
            if a == b:
                continue
            share = Fraction(1, len(members[a]) * len(members[b]))
            paths[a, b] = [
                (tuple(on_block[c] for c in path if c in on_block), share * p)
                for s, d in product(members[a], members[b])
                for path, p in routing.paths(s, d)
            ]
        load = obliv.worst_case(PathTable(small, paths, name)).channel_load
        assert Fraction(11, 5) <= load <= obliv.worst_case(routing).channel_load


def test_nothing_differs_and_every_number_is_one_of_three_kinds(either: Reproduction) -> None:
    kinds = ({"exact", "value"}, {"value", "stderr", "samples"}, {"lower", "upper"})
    for row in either.rows:
        assert said(row) in ("match", "rounding", "reading", "erratum", "open", "beyond"), row
        assert row["differs_if"], row
        assert row["published"] or row["verdict"] == "beyond"
        assert set(row["computed"]) in kinds
        if said(row) in ("reading", "erratum", "open", "beyond"):
            assert row["note"]
    entries = [(row["table"], row["entry"]) for row in either.rows]
    assert len(set(entries)) == len(entries)
    assert sum(table in ("table3", "table4") for table, _ in entries) == 6 * 7 * 4
    json.dumps(either.rows, allow_nan=False)


@pytest.mark.nightly
def test_it_takes_seconds_and_says_how_far_it_is(complete: Reproduction) -> None:
    shares = [share for _, share in complete.steps]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0, 1)
    text = repr(complete.result)
    for table in {row["table"] for row in complete.rows}:
        assert f"u2turn {table}: " in text
    assert max(map(len, text.splitlines())) <= 120


def test_figure_6(u2turn: Reproduction) -> None:
    assert set(ASYMMETRIC_WORST) == {f"{kx}x{ky}" for kx, ky in FIGURE6_MESHES}
    for size, values in ASYMMETRIC_WORST.items():
        computed = [u2turn[f"{size}, {name}"]["computed"]["exact"] for name in (*NAMES, "U2TURN-A")]
        assert computed == values.split(), size


@pytest.mark.sampled(3)
@pytest.mark.parametrize("exchange", [False, True])
@pytest.mark.parametrize(("long", "short"), [(3, 2), (4, 2), (5, 3)])
def test_equations_4_to_13_on_small_meshes(long: int, short: int, exchange: bool) -> None:
    mesh = f"mesh:{short}x{long}" if exchange else f"mesh:{long}x{short}"
    holding = equations._holding(mesh, long, short, exchange)
    assert [entry for entry, holds in holding.items() if not holds] == []
    assert len(holding) == (12 if long - short == 1 else 11)


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_claims_for_small_radices(k: int) -> None:
    assert [claim for claim, holds in claims._claims_holding(k).items() if not holds] == []


@pytest.mark.nightly
def test_equation_7_is_a_bound_and_where_it_is_tight(complete: Reproduction) -> None:
    assert complete["(7) DOR"]["note"].endswith("tight on 3x2, 4x2, 5x2, 5x3, 7x2.")
    assert complete["(7) DOR, kx < ky"]["note"].endswith("tight on 2x3, 2x4, 2x5, 3x5, 2x7.")
    assert complete["(6) DOR, both orders: load"]["note"].endswith("All 21 meshes kx > ky up to 8x7 agree.")
    assert worst("mesh:8x7", "dor") < Fraction(1, 2)


@pytest.mark.nightly
def test_equations_4_to_13_have_a_row_for_kx_below_ky(complete: Reproduction) -> None:
    straight = [
        row for row in complete.rows if row["table"] == "equations" and row["entry"][1:3] not in ("1)", "2)", "3)")
    ]
    assert len(straight) == 24
    assert sum(row["entry"].endswith(", kx < ky") for row in straight) == 12
    for row in straight:
        one_apart = "kx - ky" in row["entry"] or "ky - kx" in row["entry"]
        assert (row["computed"]["exact"], row["verdict"]) == ("6" if one_apart else "21", "match")


@pytest.mark.parametrize(("k", "value"), [(3, "64/27"), (4, "55/16"), (5, "112/25")])
def test_mean_hops_of_equation_3(k: int, value: str) -> None:
    assert equations.hops(k) == Fraction(value)
    routing = obliv.routing("u2turn", obliv.mesh(k, k))
    nodes = range(k * k)
    mean = sum(len(path) * share for s in nodes for d in nodes for path, share in routing.paths(s, d))
    assert mean / k**4 == Fraction(value)


def test_lx_is_larger_than_ly_but_not_always() -> None:
    assert largest_loads("mesh:5x4", "yxy") == (2, 2)
    assert largest_loads("mesh:5x4", "xyx") == (Fraction(12, 5), 2)


@pytest.mark.nightly
def test_where_lx_is_not_larger_than_ly(complete: Reproduction) -> None:
    note = complete["YXY: meshes kx > ky with Lx > Ly"]["note"]
    assert "18 of 21 meshes up to 8x7 agree; not 3x2, 5x4, 7x6." in note


def test_loads_of_a_dimension_are_those_of_all_its_channels() -> None:
    for spec, name in (("mesh:4x4", "u2turn"), ("mesh:4x3", "xyx"), ("mesh:3x5", "yxy"), ("line:5", "dor")):
        topology = obliv.topology(spec)
        loads = obliv.routing(name, topology).pair_loads()
        best = [Fraction(0)] * len(topology.radices)
        for c in range(topology.channels):
            value = Fraction(obliv.maximum_weight(loads.weights(c)).value, loads.denominator)
            best[topology.dim_of[c]] = max(best[topology.dim_of[c]], value)
        assert largest_loads(spec, name) == tuple(best)
        assert max(best) == worst_load(spec, name)


@pytest.mark.nightly
def test_headline(complete: Reproduction) -> None:
    for over, printed in (("VAL", "27.2%"), ("DOR", "39.7%"), ("O1TURN", "18.8%")):
        assert complete[f"U2TURN over {over}, from computed averages"]["published"] == printed
        assert complete[f"U2TURN over {over}, from the printed averages"]["verdict"] == "rounding"


@pytest.mark.nightly
def test_headline_from_computed_averages(complete: Reproduction) -> None:
    for over, value in (("VAL", 0.271), ("DOR", 0.395), ("O1TURN", 0.185)):
        computed = complete[f"U2TURN over {over}, from computed averages"]["computed"]
        assert abs(computed["value"] - value) < 0.0015


def test_mean_gain_of_exact_averages() -> None:
    gain = mean_gain(["mesh:3x3", "mesh:3x2"], "U2TURN", "VAL")
    ratios = [2 * average(mesh, "u2turn") for mesh in ("mesh:3x3", "mesh:3x2")]
    assert gain.value == pytest.approx(float(sum(ratios) / 2 - 1))
    assert gain.stderr == 0


def test_figure_7_stays_open(either: Reproduction) -> None:
    rows = [row for row in either.rows if row["table"] == "figure7"]
    assert len(rows) == 6
    assert {row["verdict"] for row in rows} == {"open"}
    for entry, value in (("4x3", 0.7433), ("5x4", 0.6012)):
        computed = average(f"mesh:{entry}", "u2turn")
        assert abs(float(computed) - value) < 0.002


@pytest.mark.nightly
def test_averages_on_asymmetric_meshes_are_ours(complete: Reproduction) -> None:
    rows = {row["entry"]: row for row in complete.rows if row["table"] == "averages"}
    open_rows = {entry: row["computed"]["exact"] for entry, row in rows.items() if "exact" in row["computed"]}
    assert {row["verdict"] for row in rows.values()} == {"open"}
    assert open_rows == {
        "meshes on which U2TURN-A is above U2TURN": "4",
        "meshes on which U2TURN is above VAL, DOR and O1TURN": "19",
        "meshes on which U2TURN-A is above VAL, DOR and O1TURN": "21",
    }


@pytest.mark.nightly
def test_claims_are_counted(complete: Reproduction) -> None:
    for word in ("odd", "even"):
        row = complete[f"1, {word} k: line, throughput"]
        assert (row["computed"]["exact"], row["verdict"]) == ("6", "match")


@pytest.mark.nightly
def test_comparisons_of_sections_4_and_5(complete: Reproduction) -> None:
    counts = {
        "XYX and YXY together: all paths of at most 2 turns": 256,
        "O1TURN: its paths are among those of XYX and YXY": 256,
        "4x4, XYX: share of pairs with a single path": Fraction(1, 4),
        "tori, k = 3 to 6: IVAL as VAL in the worst case": 4,
        "DOR-XY, 8x7, left half to right half": 4,
        "kx < ky: XYX as YXY on the mesh with kx and ky exchanged": 21,
        "even kmax, worst case: U2TURN and U2TURN-A at 1/2, not below VAL, DOR and O1TURN": 12,
        "odd k, worst case: U2TURN above VAL, DOR and O1TURN": 3,
        "even k, worst case: U2TURN at 1/2, not below VAL, DOR and O1TURN": 3,
        "Transpose and DOR-WC: U2TURN above VAL, DOR and O1TURN": 12,
        "Nearest-Neighbor: U2TURN above VAL, below DOR and O1TURN": 6,
        "Complement, odd k: U2TURN above VAL, below DOR and O1TURN": 3,
        "Random: DOR above U2TURN, below it in the worst case": 6,
    }
    for entry, count in counts.items():
        assert (complete[entry]["computed"]["exact"], complete[entry]["verdict"]) == (str(count), "match"), entry
    for entry, count in {  # where the radix is even, they are equal
        "kx > ky, worst case: U2TURN and U2TURN-A above VAL, DOR and O1TURN": 9,
        "kx > ky, worst case: U2TURN above U2TURN-A": 9,
        "k = 3 to 8, worst case: U2TURN above VAL, DOR and O1TURN": 3,
    }.items():
        row = complete[entry]
        assert (row["computed"]["exact"], said(row), row["other_readings"][0]["fits"]) == (str(count), "reading", True)
    row = complete["Complement, even k: U2TURN above VAL, below DOR and O1TURN"]
    assert (row["computed"]["exact"], said(row)) == ("0", "reading")  # Table IV itself prints 0.5 four times
    assert [reading["fits"] for reading in row["other_readings"]] == [True]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("kx", "ky"), ASYMMETRIC)
def test_patterns_are_partial_permutations_that_fit(kx: int, ky: int) -> None:
    for i in range(kx - 1):
        pairs = patterns.funnel(kx, ky, i)
        assert len(pairs) == min(i + 1, (kx - 1 - i) * ky)
        assert patterns.load_of(kx, ky, "dor", pairs, i) == len(pairs)
        assert patterns.load_of(kx, ky, "dor:yx", patterns.mirrored(kx, pairs), kx - 2 - i) == len(pairs)
    for a, b in patterns.split(kx, ky):
        assert 0 <= a[0] <= (kx - 1) // 2 < b[0] < kx
        assert b[1] < ky


@pytest.mark.sampled(36)
@pytest.mark.parametrize(("kx", "ky"), [(3, 2), (5, 2), (5, 4), (7, 3), (4, 3), (6, 5), (5, 5)])
@pytest.mark.parametrize("name", ["dor", "dor:yx", "o1turn", "valiant", "xyx", "yxy", "u2turn-a", "romm"])
def test_no_routing_escapes_the_cut(kx: int, ky: int, name: str) -> None:
    """The left columns send across the middle: the ky channels there carry it all, whatever the routing."""
    left, right = kx // 2, kx - kx // 2
    image = [(x + right) % kx + kx * y for y in range(ky) for x in range(kx)]
    topology = obliv.mesh(kx, ky)
    loads = obliv.routing(name, topology).pair_loads().under(obliv.permutation(image))
    across = [
        load
        for c, load in enumerate(loads)
        if topology.tail[c] % kx == left - 1 and topology.head[c] == topology.tail[c] + 1
    ]
    assert len(across) == ky
    assert sum(across) >= left * ky
    assert worst_load(topology.spec, name) >= left
    if kx > ky:
        assert capacity_load(kx) / left == of_u2turn(kx)  # what YXY attains


def test_without_a_solver_the_optimum_is_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    value = figures26.optimum(11, Fraction(12, 23))
    assert value.value == Bounds(Fraction(12, 23), Fraction(6, 11))
    assert value.undecided


@pytest.mark.nightly
def test_deadlock(complete: Reproduction) -> None:
    for name in ("U2TURN", "U2TURN-A"):
        row = complete[f"{name}: free of deadlock"]
        assert row["verdict"] == "match"
        assert row["note"].endswith("With one virtual channel 0 of them.")


def test_what_agrees_is_counted_and_the_rest_named() -> None:
    computed = agreeing([("a", True), ("b", False), ("c", True)], "letters", "So.")
    assert (computed.value, computed.against) == (2, 3)
    assert computed.note == "2 of 3 letters agree; not b. So."
    assert agreeing([("a", True)], "letters").note == "All 1 letters agree."


def test_formulas_of_table_1() -> None:
    assert list(PRINT.rows["table1"]) == list(table1.table1_rows(lambda share: None, 3))
    assert table1.formula("XYX", 0, 5) == Fraction(12, 5)
    assert table1.formula("XYX", 1, 5) == 2
    assert PRINT.rows["table1"]["odd kx, even ky: Lx of XYX"].text == "(kx²-1)/(2kx)"
    assert PRINT.rows["table1"]["even kx, odd ky: Ly of YXY"].text == "(ky²-1)/(2ky)"
    assert PRINT.rows["table1"]["even kx, odd ky: Ly of XYX"].text == "(ky-1)/2"
    assert PRINT.rows["table1"]["odd kx, odd ky: Lx of YXY"].text == "(kx-1)/2"


@pytest.mark.nightly
def test_table_1_up_to_12() -> None:
    for entry, computed in table1.table1_rows(lambda share: None, 12).items():
        assert computed.value == computed.against, entry


@pytest.mark.nightly
def test_claims_up_to_21() -> None:
    for entry, computed in claims.claim_rows(lambda share: None, 21).items():
        assert computed.value == computed.against, entry


@pytest.mark.nightly
def test_figures_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    files = papers.draw("u2turn", tmp_path)
    assert [file.name for file in files] == [f"u2turn-figure{number}.png" for number in range(1, 8)]
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in files)


# The page.


def test_tables_3_and_4_on_the_page_of_u2turn(either: Reproduction) -> None:
    page = square_tables()
    for row in either.rows:
        if row["table"] not in ("table3", "table4"):
            continue
        shown = page[row["entry"]]
        if "exact" in row["computed"]:
            assert shown == exact_cell(row), row["entry"]
        else:
            value = float(shown.partition(" ")[0])
            assert abs(value - row["computed"]["value"]) < 0.0001 + 5 * row["computed"]["stderr"]


@pytest.mark.nightly
def test_everything_on_the_page_of_u2turn_as_the_command_gives_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meshes, "SAMPLES", SAMPLES)
    rows = papers.reproduce("u2turn").to_dict()["rows"]
    assert "differs" not in {row["verdict"] for row in rows}
    page = square_tables()
    text = "\n".join(page_of("u2turn"))
    for row in rows:
        if row["table"] in ("table3", "table4") and "stderr" in row["computed"]:
            mark = "" if row["verdict"] == "rounding" else f" ({said(row)}, printed {row['published']})"
            assert page[row["entry"]] == f"{row['computed']['value']:.4f}{mark}"
        if row["table"] == "figure7" or "computed averages" in row["entry"]:
            assert f"| {row['published']} | {100 * row['computed']['value']:.1f} % | {said(row)} |" in text


def square_tables() -> dict[str, str]:
    """The cells of the tables of square meshes, by entry."""
    cells, size = {}, ""
    for line in page_of("u2turn"):
        parts = [part.strip() for part in line.strip("|").split("|")]
        if line.startswith("| ") and parts[0] in SIZES:
            size = parts[0]
            names = parts[1:]
        elif line.startswith("| ") and size and len(parts) == 5:
            cells |= {f"{size}, {parts[0]}, {name}": part for name, part in zip(names, parts[1:], strict=True)}
        elif not line.startswith("|"):
            size = ""
    return cells


def text_of(row: dict[str, Any]) -> str:
    counted = f" of {row['counted']}" if "counted" in row else ""
    return shown(from_number(row["computed"])) + counted


@pytest.mark.parametrize("form", ["json", "csv", "markdown", "latex"])
def test_a_layout_is_of_text_only(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "u2turn", "table3", "--layout", "paper", "--format", form]) == 2
    assert capsys.readouterr().err == f"obliv: --layout arranges text: leave it out with --format {form}\n"


def test_tables_in_the_papers_layout() -> None:
    rows = [
        ReproducedEntry("u2turn", "table3", f"3x3, {row}, {name}", printed, value, verdict)
        for row, cells in {
            "Worst-case": [("0.5", Fraction(1, 2), "match"), ("0.33", Fraction(1, 3), "match")],
            "Random": [("1", Fraction(1), "match"), ("0.72", Fraction(3, 4), "reading")],
        }.items()
        for name, (printed, value, verdict) in zip(("VAL", "DOR"), cells, strict=True)
    ]
    assert in_columns(rows, ("VAL", "DOR")).splitlines() == [
        "3x3         VAL  DOR",
        "Worst-case  1/2  1/3",
        "Random      1    3/4 (reading, 0.72)",
    ]
    with pytest.raises(SpecError, match="table1 is shown in rows; those of u2turn with the paper's layout are table3"):
        papers.reproduce("u2turn", "table1", layout="paper")
    with pytest.raises(SpecError, match="unknown layout 'columns'"):
        papers.reproduce("u2turn", "table3", layout="columns")


def exact_cell(row: dict[str, Any]) -> str:
    value = row["computed"]["exact"]
    return value if row["verdict"] == "match" else f"{value} ({said(row)}, printed {row['published']})"


def test_other_rows_on_the_page_of_u2turn(either: Reproduction) -> None:
    text = "\n".join(page_of("u2turn"))
    counts: dict[str, list[int]] = {}
    for row in either.rows:
        entry, published = row["entry"], row["published"]
        tables = ("claims", "equations", "figure3", "figure4", "figure5", "statements")
        if row["table"] in tables and "averages" not in entry:
            counted = counts.setdefault(row["table"], [0, 0])
            counted[0] += said(row) == "match"
            counted[1] += 1
            if said(row) != "match":
                assert f"| {entry} | {published} | {text_of(row)} | {said(row)} |" in text
        if row["table"] == "averages" and "exact" in row["computed"]:
            assert f"| {entry} | {text_of(row)} | open |" in text
    for table, (matching, lines) in counts.items():
        assert f"| `{table}` | {matching} of {lines} |" in text
    figure6 = {row["entry"]: row["computed"]["exact"] for row in either.rows if row["table"] == "figure6"}
    for kx, ky in FIGURE6_MESHES:
        values = (figure6[f"{kx}x{ky}, {name}"] for name in ROUTINGS)
        assert f"| {kx}x{ky} | {' | '.join(values)} |" in text


@pytest.mark.sampled(14)
@pytest.mark.parametrize(("kx", "ky"), AVERAGE_MESHES)
def test_averages_on_the_page_of_u2turn(kx: int, ky: int) -> None:
    means = (f"{average_of(f'mesh:{kx}x{ky}', routing):.3f}" for routing in ROUTINGS.values())
    assert f"| {kx}x{ky} | {' | '.join(means)} |" in page_of("u2turn")
