"""Trees and routings without a closed form of the ratio, and mistakes of the verb ratio."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from tests.claims import save_claim
from tests.routings.trees.by_paper import (
    F,
    crossings,
    exactly,
    line_of,
    made_of,
    off_diagonal,
    plain_json,
    random_rows,
    route,
    tree,
)

import obliv
from obliv.cli import main
from obliv.questions.ratio import tree_ratio


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("sub-eft2:4,3", "dmodk"),
        ("sub-eft2:8,6", "omrmn"),
        ("sub-eft2:8,6", "ecmp"),
        ("xgft:2;4,4;1,2", "dmodk"),
        ("xgft:2;4,4;1,3", "omrmn"),
        ("xgft:3;2,2,2;1,2,1", "smodk"),
        ("xgft:2;4,4;2,4", "omrmn"),
        ("xgft:1;4;2", "hash:seed=1"),
        ("mesh:4x4", "dor"),
        ("hypercube:3", "ecmp"),
        ("complete:4", "shortest"),
        ("cmesh:2x2,c=2", "ecmp"),
    ],
)
def test_trees_whose_best_routing_is_not_known(spec: str, name: str) -> None:
    for call in (
        lambda: tree_ratio(route(spec, name)),
        lambda: tree_ratio(route(spec, name).pair_loads()),
    ):
        assert spec in line_of(call)


def test_changed_trees_are_refused() -> None:
    topology = tree("fattree:4,2")
    for other in (
        topology.with_terminals([0, 1, 2]),
        topology.with_terminals([0, 1, 2, 3, 4, 5, 6]),
        topology.with_terminals([8, 9, 10, 11]),
        topology.with_rates([2] * 8, [1] * 8),
        topology.with_rates([1] * 8, [1] * 7 + [F(1, 2)]),
    ):
        for name in ("ecmp", "shortest"):
            line_of(lambda: tree_ratio(obliv.routing(name, other)))  # noqa: B023
    ends = list(zip(topology.tail.tolist(), topology.head.tolist()))
    fast = obliv.build("fast", topology.nodes, ends, terminals=list(range(8)), bandwidth=[2] * len(ends))
    line_of(lambda: tree_ratio(obliv.routing("ecmp", fast)))
    for width in (F(2), F(1, 2)):
        for count in (1, topology.channels):
            wide = (width,) * count + (F(1),) * (topology.channels - count)
            other = dataclasses.replace(topology, bandwidth=wide)
            for name in ("dmodk", "ecmp"):
                line_of(lambda: tree_ratio(obliv.routing(name, other)))  # noqa: B023
    line_of(lambda: tree_ratio("dmodk"))
    line_of(lambda: tree_ratio(topology))
    line_of(lambda: obliv.traffic_ratio(route("fattree:4,2", "dmodk")))


def test_a_claim_does_not_hold_on_a_changed_tree(tmp_path: Path) -> None:
    topology, file = tree("fattree:4,2"), tmp_path / "claim.json"
    obliv.ratio(route("fattree:4,2", "ecmp"), certificate=True).save(file)
    assert obliv.verify(file, topology=topology).proved
    for other in (
        topology.with_rates([2] * 8, [1] * 8),
        topology.with_terminals([0, 1, 2]),
        tree("sub-eft2:4,4"),
        tree("eft2:8,4"),
        tree("xgft:2;2,4;1,3"),
        *(
            dataclasses.replace(topology, bandwidth=(F(1),) * channel + (width,) + (F(1),) * (31 - channel))
            for channel in (0, 10, 31)
            for width in (F(1, 2), F(2))
        ),
    ):
        try:
            assert not obliv.verify(file, topology=other).proved
        except obliv.InputError as error:
            assert "\n" not in str(error)


def test_no_ratio_where_a_cable_is_missing(tmp_path: Path) -> None:
    """A tree with a cable less, more or elsewhere, for which a sound worst case is called a ratio."""
    topology = tree("fattree:4,2")
    cables = [(a, b) for a, b in zip(topology.tail.tolist(), topology.head.tolist()) if a < b]
    for changed in (
        [each for each in cables if each != (8, 12)],  # a leaf with one way up
        [*cables, (0, 9)],  # a host with two links
        [*(each for each in cables if each != (0, 8)), (0, 12)],  # a host at a root
        [*cables, (8, 9)],  # two leaves joined: equal splits over shortest paths crowd there
    ):
        ends = [*changed, *((b, a) for a, b in changed)]
        other = obliv.build("other", topology.nodes, ends, terminals=list(range(8)))
        routing = obliv.routing("ecmp", other)
        line_of(lambda: tree_ratio(routing))  # noqa: B023
        worst = obliv.worst_case(routing, certificate=True)
        result = plain_json(worst)
        pattern = made_of("fattree:4,2", "ecmp")
        result = {key: result[key] for key in pattern if key in result} | {
            "kind": "ratio",
            "ratio": result["channel_load"],
        }
        result |= {"lower_bound": None, "lower_bound_source": "no theorem bounds single paths on this network"}
        file = tmp_path / "forged.json"
        save_claim(result, file)
        report = obliv.verify(file, topology=other, routing=routing)
        assert not report.proved
        assert [check.check for check in report.checks if check.ok is False] == ["optimum"], report


@pytest.mark.parametrize(
    "words",
    [
        ("fattree:5,2", "dmodk"),
        ("fattree:7,3", "dmodk"),
        ("fattree:2,2", "dmodk"),
        ("fattree:0,2", "dmodk"),
        ("fattree:-4,2", "dmodk"),
        ("fattree:4,1", "dmodk"),
        ("fattree:4,0", "dmodk"),
        ("fattree:4", "dmodk"),
        ("fattree:4,2,2", "dmodk"),
        ("fattree:four,2", "dmodk"),
        ("fattree:4.5,2", "dmodk"),
        ("fattree:4,60", "dmodk"),
        ("fatree:4,2", "dmodk"),
        ("eft2:7,3", "dmodk"),
        ("eft2:8,1", "dmodk"),
        ("eft2:8,0", "dmodk"),
        ("eft2:8", "dmodk"),
        ("xgft", "dmodk"),
        ("xgft:banana", "dmodk"),
        ("xgft:2;3,4", "dmodk"),
        ("xgft:2;3;1,3", "dmodk"),
        ("xgft:2;3,4;1", "dmodk"),
        ("xgft:3;3,4;1,3", "dmodk"),
        ("xgft:2;3,x;1,3", "dmodk"),
        ("xgft:2;3,0;1,3", "dmodk"),
        ("xgft:2;3,-4;1,3", "dmodk"),
        ("xgft:2;3,4;1,3;9", "dmodk"),
        ("xgft:0;;", "dmodk"),
        ("fattree:4,2", "kpath:0"),
        ("fattree:4,2", "kpath:-1"),
        ("fattree:4,2", "kpath:3"),
        ("fattree:4,3", "kpath:5,base=osrm3"),
        ("fattree:4,3", "kpath:two"),
        ("fattree:4,3", "kpath:1.5"),
        ("fattree:4,3", "kpath"),
        ("fattree:4,3", "kpath:2,select=best"),
        ("fattree:4,3", "kpath:2,base=best"),
        ("fattree:4,3", "kpath:2,base=omrmn"),
        ("fattree:4,3", "kpath:2,base=osrm2"),
        ("fattree:4,3", "osrm-k:0"),
        ("fattree:4,3", "osrm-k:3"),
        ("fattree:4,3", "osrm-k:8"),
        ("fattree:8,2", "osrm-k:3"),
        ("fattree:4,2", "osrm3"),
        ("fattree:4,2", "osrm3-d"),
        ("fattree:4,3", "osrm2"),
        ("fattree:4,4", "osrm3"),
        ("xgft:1;4;1", "osrm2"),
        ("mesh:4x4", "dmodk"),
        ("fattree:4,2", "dor"),
        ("fattree:4,2", "hash:seed=x"),
        ("fattree:4,2", "table:missing.txt"),
        ("fattree:4,2", "1/2*dmodk+1/3*smodk"),
        ("fattree:4,2",),
        ("fattree:4,2", "dmodk", "--traffic", "matrix:wide.txt"),
        ("fattree:4,2", "dmodk", "--traffic", "matrix:ragged.txt"),
        ("fattree:4,2", "dmodk", "--traffic", "matrix:negative.txt"),
        ("fattree:4,2", "dmodk", "--traffic", "matrix:zero.txt"),
        ("fattree:4,2", "dmodk", "--traffic", "matrix:missing.txt"),
        ("fattree:4,2", "dmodk", "--traffic", "nonsense"),
        ("fattree:4,2", "dmodk", "--traffic", "shift:0"),
        ("fattree:4,2", "dmodk", "--traffic", "hotspot:4,16"),
        ("fattree:4,2", "dmodk", "--traffic", "hotspot:0,3"),
        ("fattree:4,2", "dmodk", "--traffic", "clustered:0"),
        ("fattree:4,2", "dmodk", "--traffic", "clustered:9"),
        ("fattree:4,2", "dmodk", "--traffic", "bernoulli:1.5"),
        ("fattree:4,2", "dmodk", "--traffic", "bernoulli:-0.5"),
        ("fattree:6,2", "dmodk", "--traffic", "hypercube"),
        ("fattree:4,2", "dmodk", "--traffic", "ring", "--instances", "1"),
        ("fattree:4,2", "dmodk", "--traffic", "ring:seed=2", "--instances", "4"),
        ("fattree:4,2", "dmodk", "--traffic", "ring", "--instances", "-1"),
        ("fattree:4,2", "dmodk", "--traffic", "ring", "--instances", "many"),
        ("fattree:4,2", "dmodk", "--traffic", "shift:1", "--instances", "4"),
        ("fattree:4,2", "dmodk", "--instances", "4"),
        ("fattree:4,2", "dmodk", "--format", "xml"),
        ("fattree:4,2", "dmodk", "--output", "missing/claim.json"),
    ],
)
def test_mistakes_on_the_command_line(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, size, value in (("wide", 16, "0"), ("zero", 8, "0"), ("negative", 8, "-0.1")):
        rows = [" ".join(value if j == (i + 1) % size else "0" for j in range(size)) for i in range(size)]
        Path(f"{name}.txt").write_text("\n".join(rows))
    Path("ragged.txt").write_text("\n".join(["0 " * 7 + "1"] * 7 + ["0 1"]))
    assert main(["ratio", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("obliv: ")
    assert err.count("\n") == 1
    assert err.endswith("\n")
    assert "Traceback" not in err
    assert len(err) < 500
    assert not Path("claim.json").exists()


def test_the_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "claim.json"
    assert main(["ratio", "fattree:6,3", "osrm3-d", "--format", "json", "--output", str(file)]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["ratio"] == content["lower_bound"] == exactly(3)
    assert "certificate" not in content
    assert main(["verify", str(file)]) == 0
    assert "proved" in capsys.readouterr().out
    words = [
        "ratio",
        "fattree:4,3",
        "dmodk",
        "--traffic",
        "ring",
        "--traffic",
        "tree",
        "--instances",
        "8",
        "--seed",
        "3",
    ]
    answers = []
    for _ in range(2):
        assert main([*words, "--format", "json"]) == 0
        answers.append(json.loads(capsys.readouterr().out)["patterns"])
    assert answers[0] == answers[1]
    routing = route("fattree:4,3", "dmodk")
    rows = obliv.traffic_ratio(routing, "ring", "tree", instances=8, rng=3).to_dict()["patterns"]
    assert answers[0] == rows
    assert main([*words, "--format", "csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    matrices = []
    for seed in range(3):
        matrices.append(tmp_path / f"{seed}.txt")
        matrices[-1].write_text("\n".join(" ".join(map(str, row)) for row in random_rows(16, seed)))
    given = [word for each in matrices for word in ("--traffic", f"matrix:{each}")]
    assert main(["ratio", "fattree:4,3", "dmodk", *given, "--format", "json"]) == 0
    content = json.loads(capsys.readouterr().out)
    result, rates = crossings("fattree:4,3", "dmodk"), [random_rows(16, seed) for seed in range(3)]
    expected = [max(result.under(rows).values()) / off_diagonal(rows) for rows in rates]
    assert [F(row["ratio"]["exact"]) for row in content["patterns"]] == expected
    assert F(content["ratio"]["exact"]) == max(expected)
