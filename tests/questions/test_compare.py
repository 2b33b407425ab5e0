"""Comparisons: every number is that of the single analysis, and what does not fit says so."""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.view.drawn import without_capacity

import obliv
from obliv.cli import main


def test_every_number_is_that_of_the_single_analysis() -> None:
    result = obliv.compare("mesh:4x4", "dor", "u2turn", traffic=["transpose", "uniform"], samples=300, rng=5)
    assert [each.routing for each in result.entries] == ["dor", "u2turn"]
    for each in result.entries:
        routing = obliv.routing(each.routing, obliv.mesh(4, 4))
        assert each.worst == obliv.worst_case(routing).channel_load
        assert each.of_capacity("worst") == obliv.worst_case(routing).fraction_of_capacity
        assert each.of_capacity("average") == obliv.average_case(routing, 300, 5).fraction_of_capacity
        single = obliv.throughput(routing, "transpose", "uniform").patterns
        assert [each.of_capacity(p.traffic) for p in single] == [p.fraction_of_capacity for p in single]
        assert each.hops == obliv.locality(routing).hops
        assert each.hops_over_minimal == obliv.locality(routing).hops_over_minimal


# Tables III and IV of the U2TURN paper, exact; printed values in its tables agree but for the errata.
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("mesh", "worst", "transpose"),
    [
        ("mesh:3x3", "1/2 1/3 4/9 4/7", "1/2 1/3 2/3 4/5"),
        ("mesh:4x4", "1/2 1/3 1/2 1/2", "1/2 1/3 2/3 4/5"),
        ("mesh:5x5", "1/2 3/10 12/25 6/11", "1/2 3/10 3/5 3/4"),
        ("mesh:8x8", "1/2 2/7 1/2 1/2", "1/2 2/7 4/7 8/11"),
    ],
)
def test_the_u2turn_papers_tables(mesh: str, worst: str, transpose: str) -> None:
    result = obliv.compare(mesh, "valiant", "dor", "o1turn", "u2turn", traffic="transpose")
    assert [each.of_capacity("worst") for each in result.entries] == [Fraction(text) for text in worst.split()]
    assert [each.of_capacity("transpose") for each in result.entries] == [Fraction(text) for text in transpose.split()]


def test_what_does_not_fit_one_of_several_topologies_is_left_out_there() -> None:
    result = obliv.compare(["mesh:3x3", "ring:5"], "dor", "xyx", traffic=["transpose", "shift:1"])
    dor, xyx, ring, none = result.entries
    assert dor.patterns["transpose"] is not None
    assert ring.patterns["transpose"] is None
    assert "square network" in ring.why_not("transpose")
    assert ring.patterns["shift:1"] == 1
    assert xyx.worst is not None
    assert none.worst is None
    assert "two dimensions" in none.why_not("worst")
    row = result.to_dict()["rows"][3]
    assert row["worst"]["channel_load"] is None
    assert "two dimensions" in row["worst"]["channel_load_reason"]
    assert "two dimensions" in row["hops_reason"]
    assert "xyx" in repr(result)
    assert "square network" in repr(result)


def test_the_unit_of_the_table() -> None:
    def numbers(**more: Any) -> tuple[str, list[str]]:
        result = obliv.compare("mesh:4x4", "dor", traffic="transpose", **more)
        return result.title, result.table_cells()[1][1:3]

    assert numbers() == ("compare: fractions of capacity on mesh:4x4", ["1/3 = 0.3333"] * 2)
    assert numbers(unit="capacity") == numbers()
    assert numbers(unit="load") == ("compare: largest channel loads on mesh:4x4", ["3", "3"])
    title, cells = numbers(unit="throughput")
    assert title.startswith("compare: throughput (times the traffic")
    assert cells == ["1/3 = 0.3333"] * 2  # the capacity is 1
    sampled = obliv.compare("mesh:4x4", "dor", samples=50, unit="load")
    (entry,) = sampled.entries
    assert entry.average is not None
    assert float(entry.load("average") or 0) == pytest.approx(1 / entry.average.value)
    assert type(sampled).from_dict(sampled.to_dict()).quantity == "load"
    assert "fractions of capacity" in repr(type(sampled).from_dict(sampled.to_dict() | {"unit": "other"}))
    with pytest.raises(obliv.InputError, match="choose capacity, throughput, load"):
        obliv.compare("mesh:4x4", "dor", unit="packets")


def test_traffic_that_a_terminal_limits_is_given_as_throughput() -> None:
    """One node takes half of all packets: its link carries 8 packets, the channels to it less each."""
    result = obliv.compare("mesh:4x4", "dor", "romm", traffic="1/2*hot-nodes:5+1/2*uniform")
    assert result.quantity == "throughput"
    for entry, row in zip(result.entries, result.table_cells()[1:], strict=True):
        figures = entry.under["1/2*hot-nodes:5+1/2*uniform"]
        assert figures is not None
        assert figures.by_terminal
        assert figures.channel_load is not None
        assert figures.throughput < 1 / figures.channel_load
        assert row[2].startswith(str(figures.throughput))
    assert obliv.compare("hypercube:3", "dor", traffic="uniform").quantity == "capacity"  # admissible


def test_what_fits_nowhere_is_an_error() -> None:
    with pytest.raises(obliv.RoutingError, match="two dimensions"):
        obliv.compare("ring:5", "dor", "xyx")
    with pytest.raises(obliv.TrafficError, match="square network"):
        obliv.compare(["ring:5", "mesh:3x4"], "dor", traffic="transpose")
    with pytest.raises(obliv.SpecError, match="did you mean"):
        obliv.compare(["ring:5", "mesh:3x4"], "dorr")
    with pytest.raises(obliv.InputError, match="a routing"):
        obliv.compare("ring:5")
    with pytest.raises(obliv.InputError, match="samples"):
        obliv.compare("ring:5", "dor", samples=1)
    with pytest.raises(obliv.InputError, match="not pair loads; use worst_case or throughput"):
        obliv.compare("ring:5", obliv.DOR(obliv.ring(5)).pair_loads())  # type: ignore[arg-type]


def test_routings_and_traffic_may_be_objects_or_functions() -> None:
    mesh, torus = obliv.mesh(3, 3), obliv.torus(3, 3)
    own = 0.5 * obliv.routing("dor", mesh) + 0.5 * obliv.routing("valiant", mesh)
    result = obliv.compare([mesh, torus], own, obliv.ROMM, traffic=obliv.traffic("transpose", mesh))
    assert [each.routing for each in result.entries] == [own.spec, "romm"] * 2
    assert result.entries[0].worst == obliv.worst_case(own).channel_load
    assert "on mesh:3x3, not on torus:3x3" in result.entries[2].why_not("worst")
    assert result.entries[3].worst == obliv.worst_case(obliv.routing("romm", torus)).channel_load


def test_without_a_capacity_there_is_throughput() -> None:
    result = obliv.compare(without_capacity(), "shortest", traffic="shift:1", samples=50)
    (entry,) = result.entries
    assert entry.of_capacity("worst") is None
    assert entry.throughput("worst") == Fraction(1, 35)  # as many packets cross a channel of a ring of 71
    row = result.to_dict()["rows"][0]
    assert row["patterns"][0]["fraction_of_capacity"] is None
    assert "is not known" in row["patterns"][0]["fraction_of_capacity_reason"]
    assert "packets per node and cycle" in repr(result)


def test_traffic_that_loads_nothing_says_so() -> None:
    (row,) = obliv.compare("ring:5", "dor", traffic="shift:0").to_dict()["rows"]
    assert row["patterns"][0]["channel_load"] == {"exact": "0", "value": 0.0}
    assert row["patterns"][0]["throughput"] == {"exact": "1", "value": 1.0}
    assert row["patterns"][0]["limited_by"] == {"kind": "injection", "name": "0", "terminal": 0}
    assert "loads" in row["patterns"][0]["fraction_of_capacity_reason"]


def test_patterns_are_judged_by_the_rates() -> None:
    """Terminals of rate 1/2 cannot send uniform traffic in full; half of it is admissible."""
    result = obliv.compare("mesh:4x4,injection=1/2", "dor", traffic=["uniform", "1/2*uniform"])
    (row,) = result.to_dict()["rows"]
    assert [each["admissible"] for each in row["patterns"]] == [False, True]
    assert [each["throughput"]["exact"] for each in row["patterns"]] == ["1/2", "1"]
    assert [each["limited_by"]["kind"] for each in row["patterns"]] == ["injection", "injection"]
    (cells,) = result.rows()
    assert cells["uniform_admissible"] is False
    assert cells["uniform_limited_by"] == "injection at (0,0)"
    assert "limited to 1/2" in repr(result)


def test_fast_ejection_makes_traffic_admissible() -> None:
    network = obliv.mesh(3, 3).with_rates([1] * 9, [2] * 9)
    (entry,) = obliv.compare(network, "dor", traffic="nearest-neighbor").entries
    assert entry.beyond == ()


def test_traffic_that_is_not_admissible_is_marked() -> None:
    result = obliv.compare("mesh:3x3", "valiant", traffic=["nearest-neighbor", "uniform"])
    row = result.to_dict()["rows"][0]
    assert [each["admissible"] for each in row["patterns"]] == [False, True]
    assert row["patterns"][0]["fraction_of_capacity"]["exact"] == "24/55"
    assert "nearest-neighbor on mesh:3x3: not admissible since (1,1) receives 4/3 = 1.33333 times its rate" in repr(
        result
    )
    assert row["patterns"][0]["overload"]["share"]["exact"] == "4/3"
    (cells,) = result.rows()
    assert cells["nearest-neighbor_overload"] == Fraction(4, 3)
    assert cells["nearest-neighbor_overload_at"] == "ejection at (1,1)"
    assert cells["uniform_overload"] is None
    assert type(result).from_dict(result.to_dict()) == result


def test_a_saved_comparison_is_the_same(tmp_path: Path) -> None:
    result = obliv.compare(["mesh:3x3", "ring:5"], "dor", "xyx", traffic=["transpose", "nearest-neighbor"], samples=20)
    result.save(tmp_path / "compare.json")
    again = obliv.load(tmp_path / "compare.json")
    assert again.to_dict() == result.to_dict()
    assert repr(again) == repr(result)
    assert list(again.rows()) == list(result.rows())


def test_the_same_generator_gives_the_same_averages() -> None:
    one, two = (obliv.compare("ring:5", "dor", samples=50, rng=np.random.default_rng(3)) for _ in range(2))
    assert one.entries == two.entries


def test_progress_rises_to_the_end() -> None:
    seen: list[float] = []
    obliv.compare("mesh:3x3", "dor", "romm", samples=100, progress=lambda what, share: seen.append(share))
    assert seen == sorted(seen)
    assert 0 <= seen[0] <= seen[-1] <= 1


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(["compare", *words])
    out, err = capsys.readouterr()
    return status, out, err


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, out, err = run(capsys, "mesh:3x3", "dor", "u2turn", "--traffic", "transpose,uniform", "--samples", "50")
    assert (status, err) == (0, "")
    assert "4/7 = 0.5714" in out
    content = json.loads(run(capsys, "mesh:3x3", "dor", "--also", "mesh:4x4", "--format", "json")[1])
    assert content["kind"] == "compare"
    assert [(row["topology"], row["worst"]["channel_load"]["exact"]) for row in content["rows"]] == [
        ("mesh:3x3", "2"),
        ("mesh:4x4", "3"),
    ]
    rows = list(csv.DictReader(io.StringIO(run(capsys, "mesh:3x3", "dor", "u2turn", "--format", "csv")[1])))
    assert [row["worst_fraction_of_capacity_exact"] for row in rows] == ["1/3", "4/7"]
    assert rows[1]["hops_exact"] == "64/27"
    status, _, err = run(capsys, "mesh:3x3", "dor", "romm", "--plot", str(tmp_path / "a.svg"))
    assert status == 0
    assert "picture saved in" in err
    assert (tmp_path / "a.svg").read_text().count("<svg") == 1


def test_the_command_refuses_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["mesh:3x3"], ["mesh:3x3", "dorr"], ["mesh:3x3", "dor", "--plot", "a.txt"]):
        status, out, err = run(capsys, *words)
        assert (status, out, err.count("\n")) == (2, "", 1)


def test_commas_within_a_pattern_stay(capsys: pytest.CaptureFixture[str]) -> None:
    from obliv.cli.questions import split_patterns

    assert split_patterns("transpose,shift:3") == ["transpose", "shift:3"]
    assert split_patterns("random-permutation:seed=1,0.5*uniform+0.5*tornado") == [
        "random-permutation:seed=1",
        "0.5*uniform+0.5*tornado",
    ]
    assert split_patterns("uniform,hot-nodes:5,10,share=1/2,tornado") == [
        "uniform",
        "hot-nodes:5,10,share=1/2",
        "tornado",
    ]
    assert split_patterns("uniform,hot-nodes:(0,1),(2,2),share=1/2") == ["uniform", "hot-nodes:(0,1),(2,2),share=1/2"]
    assert split_patterns("hotspot:4,16,seed=2,uniform") == ["hotspot:4,16,seed=2", "uniform"]
    assert split_patterns("transpose,tornados") == ["transpose", "tornados"]


def test_deadlocks_and_virtual_channels(tmp_path: Path) -> None:
    result = obliv.compare("mesh:4x4", "dor", "romm", "o1turn", deadlock=True)
    for row in result.entries:
        routing = obliv.routing(row.routing, obliv.mesh(4, 4))
        fewest = obliv.fewest_virtual_channels(routing)
        assert row.acyclic == obliv.deadlock(routing).acyclic
        assert (row.virtual_channels, row.scheme) == (fewest.fewest, fewest.best)
    text = [line.split() for line in repr(result).splitlines()]
    assert text[1][-3:] == ["deadlock", "virtual", "channels"]
    assert text[2][-2:] == ["free", "1"]
    assert text[3][-4:] == ["possible", "2", "by", "double-y"]
    assert list(result.rows())[1]["acyclic"] is False
    result.save(tmp_path / "x.json")
    assert obliv.load(tmp_path / "x.json") == result
    plain = obliv.compare("mesh:4x4", "dor")
    assert "acyclic" not in next(plain.rows())
    assert "acyclic" not in plain.to_dict()["rows"][0]
    assert "deadlocks" not in plain.to_dict()


def test_deadlocks_where_every_scheme_is_cyclic(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "ring:4", "ecmp", "--deadlock", "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    fewest = obliv.fewest_virtual_channels(obliv.routing("ecmp", obliv.ring(4))).fewest
    assert (row["acyclic"], row["virtual_channels"]) == (False, fewest)


def test_deadlocks_that_are_too_large(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from obliv.questions import compare as module

    def refuse(routing: Any, **options: Any) -> None:
        raise obliv.TooLargeError("too many dependencies")

    monkeypatch.setattr(module, "find_deadlock", refuse)
    result = obliv.compare("mesh:3x3", "dor", deadlock=True)
    (row,) = result.entries
    assert (row.acyclic, row.virtual_channels) == (None, None)
    assert result.to_dict()["rows"][0]["acyclic_reason"] == "too many dependencies"
    assert "too many dependencies" in repr(result)
    result.save(tmp_path / "x.json")
    assert obliv.load(tmp_path / "x.json") == result
