"""Throughput, exact averages, channel dependencies and curves of designs: honest ones are proved, forged refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.checker.leaves import _fabric, _routing, fit

import obliv
from obliv._util.files import unpack, write_json
from obliv.cli import main
from obliv.errors import FileError, RoutingError

Claim = dict[str, Any]


def failing(content: Claim, path: Path) -> set[str]:
    """The checks that a forged claim fails; its digests fit."""
    fit(content)
    write_json(content, path / "forged.json")
    checked = obliv.verify(path / "forged.json")
    assert not checked.proved
    return {check.check for check in checked.checks if check.ok is not True}


def slow_triangle() -> obliv.Topology:
    links = [(0, 1), (1, 0), (1, 2), (2, 1), (0, 2), (2, 0)]
    return obliv.build("slow", 3, links, bandwidth=[1, 1, 1, 1, Fraction(1, 3), Fraction(1, 3)])


@pytest.mark.parametrize(
    ("topology", "routing", "traffic"),
    [
        ("mesh:4x4", "romm", ["uniform", "transpose", "1/2*uniform+1/2*shift:3"]),
        ("torus:5x5", "valiant", ["tornado", "random-permutation:seed=3"]),
        ("mesh:3x2,injection=2", "dor", ["uniform", "hot-nodes:1"]),
        ("fattree:4,2", "ecmp", ["shift:2", "uniform"]),
        ("random-regular:n=8,d=3,seed=1", "ecmp", ["shift:3"]),
        ("random-regular:n=8,d=3,seed=1", "valiant", ["shift:3"]),
        ("hypercube:3", "1/3*dor+2/3*valiant", ["bit-reverse"]),
    ],
)
def test_honest_throughput_is_proved(topology: str, routing: str, traffic: list[str]) -> None:
    result = obliv.throughput(topology, routing, *traffic)
    checked = obliv.verify(result)
    assert checked.proved, checked
    assert not obliv.verify(result, budget=0).proved


def test_a_pattern_that_is_given_twice_has_one_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Claims that list one twice are refused."""
    monkeypatch.chdir(tmp_path)
    ring, twice = _routing("ring:5", "valiant"), ("shift:2", "uniform", "Shift:2")
    for result in (
        obliv.throughput(ring, *twice),
        obliv.fabric.throughput(_fabric(), *twice),
        obliv.traffic_ratio(ring, *twice, certificate=True),
        obliv.traffic_ratio(ring, "shift:2", obliv.traffic("shift:2", ring.topology), certificate=True),
    ):
        assert [row.traffic for row in result.patterns] == ["shift:2", "uniform"][: len(result.patterns)]
        result.save("claim.json")
        assert obliv.verify("claim.json").proved
    other = obliv.permutation([1, 2, 3, 4, 0])  # of the same name
    assert len(obliv.throughput(ring, other, obliv.permutation([2, 3, 4, 0, 1])).patterns) == 2
    (row,) = obliv.traffic_ratio(ring, *["random-permutation"] * 2, instances=2).patterns
    assert row.ratio.samples == 2


def test_throughput_counts_bandwidths() -> None:
    result = obliv.throughput(obliv.ECMP(slow_triangle()), "uniform")
    assert obliv.verify(result).proved
    fast = obliv.build("slow", 3, [(0, 1), (1, 0), (1, 2), (2, 1), (0, 2), (2, 0)])
    assert not obliv.verify(result, topology=fast, routing=obliv.ECMP(fast)).proved


def test_a_limit_is_the_largest_load_or_a_terminal_that_needs_more(tmp_path: Path) -> None:
    content = json.loads(json.dumps(obliv.throughput("mesh:4x4", "dor", "transpose").to_dict()))
    other = copy.deepcopy(content)
    topology = obliv.mesh(4, 4)
    loads = obliv.DOR(topology).pair_loads().under(obliv.traffic("transpose", topology))
    alike = [
        c for c, load in enumerate(loads) if load == 3 and c != content["patterns"][0]["limited_by"]["channel"]["id"]
    ]
    lighter = next(c for c, load in enumerate(loads) if load < 3)
    for channel, holds in ((alike[0], True), (lighter, False)):
        ends = {"id": channel, "tail": int(topology.tail[channel]), "head": int(topology.head[channel])}
        other["patterns"][0]["limited_by"] |= {"channel": ends, "name": topology.channel_name(channel)}
        write_json(other, tmp_path / "other.json")
        assert obliv.verify(tmp_path / "other.json").proved is holds
    for channel in (-1, topology.channels):
        other["patterns"][0]["limited_by"]["channel"]["id"] = channel
        assert failing(other, tmp_path) == {"limits"}
    for terminal in (0, -16, 16):
        other["patterns"][0]["limited_by"] = {"kind": "injection", "name": "(0,0)", "terminal": terminal}
        assert failing(other, tmp_path) == {"limits"}


def test_an_overload_is_the_terminal_that_exceeds_its_rate_most(tmp_path: Path) -> None:
    """The four inner nodes of a mesh of 4x4 receive 7/6 from their neighbors, and no others as much."""
    content = json.loads(json.dumps(obliv.throughput("mesh:4x4", "dor", "nearest-neighbor", "uniform").to_dict()))
    honest = content["patterns"][0]["overload"]
    inner = {"terminal": 6, "name": "(2,1)"}
    for change, holds in (
        (inner, True),  # one of equal ones
        ({"terminal": 0, "name": "(0,0)"}, False),
        ({"terminal": 16}, False),
        ({"terminal": -11}, False),
        ({"name": "(2,2)"}, False),
        ({"kind": "injection"}, False),
        ({"kind": "other"}, False),
        ({"share": {"exact": "3/2", "value": 1.5}}, False),
    ):
        other = copy.deepcopy(content)
        other["patterns"][0]["overload"] = honest | change
        if holds:
            write_json(other, tmp_path / "other.json")
            assert obliv.verify(tmp_path / "other.json").proved
        else:
            assert failing(other, tmp_path) == {"overload"}
    other = copy.deepcopy(content)
    other["patterns"][1]["overload"] = {"kind": "injection", "name": "(0,0)", "terminal": 0} | {
        "share": {"exact": "1", "value": 1.0}
    }
    assert failing(other, tmp_path) == {"overload"}  # admissible traffic has none
    del content["patterns"][0]["overload"]  # as in files of 0.2.0
    write_json(content, tmp_path / "older.json")
    assert obliv.verify(tmp_path / "older.json").proved


@pytest.mark.parametrize(("topology", "routing"), [("torus:4x2", "valiant"), ("mesh:3x2", "romm"), ("ring:5", "ecmp")])
def test_honest_averages_are_proved(topology: str, routing: str) -> None:
    result = obliv.average_case(topology, routing, exact=True)
    checked = obliv.verify(result)
    assert checked.proved, checked
    assert not obliv.verify(result, budget=0).proved


def test_estimates_are_refused(tmp_path: Path) -> None:
    obliv.average_case("mesh:3x3", "dor", samples=10).save(tmp_path / "average.json")
    obliv.throughput(obliv.DOR(obliv.mesh(3, 3)), "uniform", samples=4).save(tmp_path / "throughput.json")
    for name in ("average", "throughput"):
        with pytest.raises(FileError, match="contains an estimate"):
            obliv.verify(tmp_path / f"{name}.json")


SCHEMES = ["none", "turn", "turn+uturn", "double-y", "dateline", "turn+dateline", "turn+uturn+dateline", "updown"]
PLACES = [
    ("mesh:3x3", "u2turn"),
    ("mesh:3x2", "ival"),
    ("torus:4x3", "romm"),
    ("torus:2x3", "dor"),
    ("ring:5", "valiant"),
    ("hyperx:3x3", "o1turn"),
    ("hypercube:3", "valiant"),
    ("random-regular:n=8,d=3,seed=1", "ecmp"),
    ("fattree:4,2", "dmodk"),
]


@pytest.mark.parametrize(("topology", "routing"), PLACES)
def test_honest_graphs_are_proved(topology: str, routing: str) -> None:
    subject = obliv.routing(routing, obliv.topology(topology))
    tried = 0
    for scheme in SCHEMES:
        try:
            result = obliv.deadlock(subject, scheme, certificate=True)
        except RoutingError:  # it does not fit
            continue
        tried += 1
        checked = obliv.verify(result)
        assert checked.proved, checked
        assert f"graph {'is acyclic' if result.acyclic else 'has a cycle'}" in checked.claim
        assert not obliv.verify(result, budget=0).proved
    assert tried > 1


def swap(content: Claim) -> None:
    order = unpack(content["certificate"]["order"])
    order[0], order[-1] = order[-1], order[0]
    content["certificate"]["order"] = order


def drop(content: Claim) -> None:
    content["certificate"]["order"] = unpack(content["certificate"]["order"])[1:]


def claim_a_cycle(content: Claim) -> None:
    """The first two channels round a node, which no path follows."""
    mesh = obliv.mesh(3, 3)
    ends = [{"channel": c, "virtual_channel": 0, "tail": int(mesh.tail[c]), "head": int(mesh.head[c])} for c in (0, 2)]
    content |= {"acyclic": False, "cycle": ends}


@pytest.mark.parametrize(("change", "check"), [(swap, "order"), (drop, "order"), (claim_a_cycle, "cycle")])
def test_forged_graphs_are_refused(change: Callable[[Claim], None], check: str, tmp_path: Path) -> None:
    content = obliv.deadlock("mesh:3x3", "romm", "turn", certificate=True).to_dict()
    change(content)
    assert failing(content, tmp_path) == {check}


def test_claims_that_say_two_things_are_refused(tmp_path: Path) -> None:
    content = obliv.deadlock("mesh:3x3", "romm", "turn", certificate=True).to_dict() | {"acyclic": False}
    fit(content)
    write_json(content, tmp_path / "forged.json")
    with pytest.raises(FileError, match="either acyclic or has a cycle"):
        obliv.verify(tmp_path / "forged.json")
    content = obliv.deadlock("random-regular:n=6,d=3,seed=1", "updown", certificate=True).to_dict() | {"scheme": "turn"}
    fit(content)
    write_json(content, tmp_path / "forged.json")
    with pytest.raises(FileError, match="needs coordinates"):
        obliv.verify(tmp_path / "forged.json")


def test_what_paths_do_not_tell_is_not_checked(tmp_path: Path) -> None:
    result = obliv.deadlock("mesh:3x3", "romm", "phase-order", certificate=True)
    assert result.acyclic
    with pytest.raises(FileError, match="not one that paths alone determine"):
        obliv.verify(result)
    bare = obliv.deadlock("mesh:3x3", "dor")
    with pytest.raises(FileError, match="contains no certificate"):
        obliv.verify(bare)
    assert main(["deadlock", "mesh:3x3", "dor", "--output", str(tmp_path / "claim.json")]) == 0
    assert main(["verify", str(tmp_path / "claim.json")]) == 0


def test_curves_are_proved_and_others_refused(tmp_path: Path) -> None:
    path = tmp_path / "curve.json"
    assert main(["design", "mesh:3x2", "--pareto", "3", "--output", str(path)]) == 0
    assert obliv.verify(path).proved
    assert not obliv.verify(path, quick=True).proved
    assert not obliv.verify(path, budget=0).proved
    valid = json.loads(path.read_text())
    for change in (
        lambda content: content["certificate"]["designs"].reverse(),
        lambda content: content.update(constraints=["at most 1 turn"]),
    ):
        content = copy.deepcopy(valid)
        change(content)
        assert any(name.startswith("point") for name in failing(content, tmp_path))
    content = copy.deepcopy(valid)
    content["certificate"]["designs"].pop()
    fit(content)
    write_json(content, tmp_path / "forged.json")
    with pytest.raises(FileError, match="a design for each point"):
        obliv.verify(tmp_path / "forged.json")
