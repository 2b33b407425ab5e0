"""Throughput, exact averages, channel dependencies and curves of designs: honest ones are proved, forged refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.checker.leaves import _fabric, _routing, fit
from tests.claims import change, exact, reasons

import obliv
from obliv._util.files import unpack, write_json
from obliv.cli import main
from obliv.errors import FileError, RoutingError
from obliv.questions.average import NOISY

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
    for part, holds in (
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
        other["patterns"][0]["overload"] = honest | part
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


@pytest.mark.parametrize(("forge", "check"), [(swap, "order"), (drop, "order"), (claim_a_cycle, "cycle")])
def test_forged_graphs_are_refused(forge: Callable[[Claim], None], check: str, tmp_path: Path) -> None:
    content = obliv.deadlock("mesh:3x3", "romm", "turn", certificate=True).to_dict()
    forge(content)
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
    for forge in (
        lambda content: content["certificate"]["designs"].reverse(),
        lambda content: content.update(constraints=["at most 1 turn"]),
    ):
        content = copy.deepcopy(valid)
        forge(content)
        assert any(name.startswith("point") for name in failing(content, tmp_path))
    content = copy.deepcopy(valid)
    content["certificate"]["designs"].pop()
    fit(content)
    write_json(content, tmp_path / "forged.json")
    with pytest.raises(FileError, match="a design for each point"):
        obliv.verify(tmp_path / "forged.json")


# Each part is refused by its own check, and by nothing else.

RECOUNTED: dict[str, Callable[[], Any]] = {
    "throughput": lambda: obliv.throughput("mesh:4x4", "dor", "nearest-neighbor", "uniform"),
    "slow": lambda: obliv.throughput("mesh:3x2,injection=2", "dor", "hot-nodes:1"),
    "average": lambda: obliv.average_case("torus:3x2", "valiant", exact=True),
    "idle": lambda: obliv.average_case("mesh:2x2", "dor", exact=True),
    "order": lambda: obliv.deadlock("mesh:3x3", "romm", "turn", certificate=True),
    "detours": lambda: obliv.deadlock("mesh:3x3", "valiant", "turn+uturn", certificate=True),
    "cycle": lambda: obliv.deadlock("mesh:2x2", "o1turn", "none", certificate=True),
    "up and down": lambda: obliv.deadlock("random-regular:n=6,d=3,seed=1", "updown", "none", certificate=True),
    "curve": lambda: obliv.pareto("mesh:3x2", 3, certificate=True),
}


@cache
def base(name: str) -> Claim:
    """A claim that is proved, to be copied before it is changed."""
    content: Claim = json.loads(json.dumps(RECOUNTED[name]().to_dict()))
    return content


def mean(text: str) -> Callable[[Claim], None]:
    """Another mean load, with what follows from it."""

    def apply(content: Claim) -> None:
        before, after = Fraction(content["channel_load"]["exact"]), Fraction(text)
        share = Fraction(content["fraction_of_capacity"]["exact"]) * before / after
        content |= {"channel_load": exact(after), "throughput": exact(1 / after), "fraction_of_capacity": exact(share)}

    return apply


def points(to: Callable[[Any], Any]) -> Callable[[Claim], None]:
    """Change the points of a curve and their designs alike."""

    def apply(content: Claim) -> None:
        content["points"], content["certificate"]["designs"] = map(
            to, (content["points"], content["certificate"]["designs"])
        )

    return apply


DESIGNS = ("certificate", "designs")
ESTIMATE = {"value": 1.0, "stderr": 0.1, "samples": 9}
ROW = ("patterns", 0)
OVER = (*ROW, "overload")
NO_OVER = "nearest-neighbor: no terminal exceeds its rate so"
NO_LIMIT = "what limits it is not"
ORDER = ("certificate", "order")
ALONE: list[tuple[str, Any, str]] = [
    ("throughput", change("patterns", to=[]), "it has no traffic pattern"),
    ("throughput", change("patterns", 1, to=lambda row: row | {"traffic": "nearest-neighbor"}), "is listed twice"),
    ("throughput", change(*ROW, "traffic", to="nowhere"), "its traffic cannot be built"),
    ("throughput", change(*ROW, "hops", to=exact("3")), "hops is 1"),
    ("throughput", change(*ROW, "channel_load", to=exact("1/3")), "channel_load is 1/2"),
    ("throughput", change(*ROW, "throughput", to=exact("1")), "throughput is 6/7"),
    ("throughput", change(*ROW, "fraction_of_capacity", to=exact("1")), "fraction_of_capacity is 2"),
    ("throughput", change(*ROW, "admissible", to=True), "admissible is False"),
    ("throughput", change(*OVER, "terminal", to=16), NO_OVER),
    ("throughput", change(*OVER, "terminal", to=-11), NO_OVER),
    ("throughput", change(*OVER, "share", to=exact("3/2")), NO_OVER),
    ("throughput", change(*OVER, "name", to="(2,2)"), NO_OVER),
    ("throughput", change(*OVER, "kind", to="other"), NO_OVER),
    ("throughput", change(*ROW, "limited_by", "name", to="(2,2)"), NO_LIMIT),
    ("throughput", change(*ROW, "limited_by", "terminal", to=16), NO_LIMIT),
    ("throughput", change(*ROW, "limited_by", "terminal", to=None), NO_LIMIT),
    ("throughput", change(*ROW, "limited_by", to=None), NO_LIMIT),
    ("throughput", change("patterns", 1, "limited_by", "channel", "id", to=48), NO_LIMIT),
    ("throughput", change("patterns", 1, "limited_by", "channel", "id", to=-48), NO_LIMIT),
    ("throughput", change("patterns", 1, "limited_by", "channel", "tail", to=15), NO_LIMIT),
    ("throughput", change("patterns", 1, "limited_by", "name", to="here"), NO_LIMIT),
    ("throughput", change("patterns", 1, "limited_by", "terminal", to=1), NO_LIMIT),
    ("throughput", change("provenance", to=lambda made: made | {"sources": {"x": "0" * 64}}), "x is listed, but"),
    ("throughput", change("capacity", to=exact("3")), "it is "),
    ("average", change("channel_load", to=ESTIMATE), "it contains an estimate, which nothing proves"),
    ("throughput", change(*ROW, "channel_load", to=ESTIMATE), "it contains an estimate, which nothing proves"),
    ("average", change("throughput", "value", to=0.5), "throughput does not follow from the other figures"),
    ("average", mean("1"), "channel_load is "),
    ("average", change("ensemble", to="derangements"), "an exact average is over all permutations"),
    ("average", change("samples", to=719), "an exact average is over all permutations"),
    ("average", change("largest_load", to=exact("5")), "largest_load is"),
    ("average", change("worst_load", to=exact("5")), "worst_load is"),
    ("average", change("mean_throughput", to=exact("5")), "mean_throughput is"),
    ("idle", change("largest_permutation", to=[0, 1, 2, 3]), "it does not load a channel by"),
    ("idle", change("largest_permutation", to=[3] * 4), "it does not load a channel by"),
    ("idle", change("largest_permutation", to=[0, 3, 2]), "it does not load a channel by"),
    ("average", change("provenance", to=lambda made: made | {"sources": {"x": "0" * 64}}), "x is listed, but"),
    ("average", change("capacity", to=exact("7")), "it is "),
    ("idle", change("mean_throughput_reason", to=NOISY), "is missing for another reason"),
    ("order", change("acyclic", to=False), "it is either acyclic or has a cycle"),
    ("order", change("dependencies", to=1), "dependencies is"),
    ("order", change("virtual_channels", to=9), "virtual_channels is"),
    ("order", change("virtual_channels_by_dimension", "x", to=9), "by_dimension is"),
    ("order", change(*ORDER, to=lambda rows: rows[::-1]), "a path goes back in it, or leaves it"),
    ("order", change(*ORDER, to=lambda rows: rows[1:]), "a path goes back in it, or leaves it"),
    ("order", change(*ORDER, to="x"), "order cannot be unpacked"),
    ("order", change("certificate", to=None), "it contains no certificate"),
    ("order", change("certificate", "digest", to="0" * 64), "does not fit the content"),
    ("order", change("scheme", to="phase-order"), "is not one that paths alone determine"),
    ("detours", change("scheme", to="double-y"), "double-y needs packets that go one way in X"),
    ("up and down", change("scheme", to="turn"), "scheme 'turn' needs coordinates"),
    ("up and down", change("scheme", to="dateline"), "scheme 'dateline' needs coordinates"),
    ("up and down", change("scheme", to="double-y"), "scheme 'double-y' needs coordinates"),
    ("cycle", change("cycle", to=lambda steps: steps[::-1]), "no paths lead round it"),
    ("cycle", change("cycle", to=lambda steps: steps[1:]), "no paths lead round it"),
    ("cycle", change("cycle", to=lambda steps: steps * 2), "it passes through a channel twice"),
    ("cycle", change("cycle", 0, "tail", to=3), "no paths lead round it"),
    ("cycle", change("cycle", 0, "channel", to=99), "no paths lead round it"),
    ("cycle", change("cycle", 0, "channel", to=-8), "no paths lead round it"),
    ("cycle", change("cycle", to=[]), "no paths lead round it"),
    ("curve", change(*DESIGNS, to=3), "designs must be a list of designs"),
    ("curve", change(*DESIGNS, 0, to=3), "designs must be a list of designs"),
    ("curve", change(*DESIGNS, to=lambda designs: designs[1:]), "there must be a design for each point of the curve"),
    ("curve", points(lambda rows: []), "there must be a design for each point of the curve"),
    ("curve", points(lambda rows: [*rows, rows[0]]), "a point of the curve is listed twice"),
    ("curve", change(*DESIGNS, 0, "kind", to="bounds"), "it is not a design"),
    ("curve", change(*DESIGNS, to=lambda designs: designs[::-1]), "its design has "),
    ("curve", change("constraints", to=["at most 1 turn"]), "its design has other constraints"),
]


@pytest.mark.parametrize(("of", "forge", "why"), ALONE, ids=[f"{of}-{why}" for of, _, why in ALONE])
def test_each_part_is_refused_by_its_own_check(of: str, forge: Any, why: str, tmp_path: Path) -> None:
    content = copy.deepcopy(base(of))
    forge(content)
    fits = content.get("certificate", {}) and content["certificate"].get("digest") != "0" * 64
    (said,) = reasons(content, tmp_path / "forged.json", digest=bool(fits))
    assert why in said


@pytest.mark.parametrize("of", RECOUNTED)
def test_what_is_forged_is_proved(of: str, tmp_path: Path) -> None:
    assert reasons(copy.deepcopy(base(of)), tmp_path / "claim.json", digest=False) == []


@pytest.mark.parametrize("of", ["throughput", "idle", "order"])
def test_a_routing_that_sends_packets_elsewhere_proves_nothing(of: str, tmp_path: Path) -> None:
    content = copy.deepcopy(base(of))
    honest = obliv.routing(content["routing"], obliv.topology(content["topology"]))

    class Elsewhere(obliv.Routing):
        def paths(self, source: int, destination: int) -> Any:
            return [(path, chance) for path, chance in honest.paths(source, 1 if destination == 0 else destination)]

    routing = Elsewhere(honest.topology, "elsewhere")
    (said,) = reasons(content, tmp_path / "claim.json", digest=of == "order", routing=routing)
    assert "a path to node 0 ends at node 1" in said
