"""``obliv fabric`` as a user meets it: answers, mistakes, exit statuses, files that lie."""

from __future__ import annotations

import csv
import gzip
import io
import json
import shutil
import tracemalloc
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest
from tests.fabric import spelled

import obliv
from obliv.cli import main
from obliv.cli.output import json_text
from obliv.fabric.cli.tables import route
from obliv.fabric.files.lft import write_net
from obliv.fabric.generate import from_topology, tables_of
from obliv.fabric.reroute import datelines as detours
from obliv.fabric.reroute.fill import ENGINES

LEFT, RIGHT = '[5]\t"S-0002c90200001020"[1]', '[1]\t"S-0002c90200001000"[5]'  # the two ends of a cable of the tree
FORMULAS = ("=HYPERLINK(1)", "+cmd|calc", "-2+3", "@SUM(A1)")  # to a spreadsheet
EVIL = "ev\x1b[31mi\x9b\u202el\n"  # a file may be called so
HOSTILE = "\x1b[31ma\x07\u202e<b>x</b>[bold] =1+1,\"q\" 'r' `t`"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(["fabric", *words])
    out, err = capsys.readouterr()
    return status, out, err


def as_json(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    status, out, err = run(capsys, *words, "--format", "json")
    assert status in (0, 1), err
    content: dict[str, Any] = json.loads(out)
    assert {"kind", "topology", "routing", "provenance"} <= set(content)
    return content


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """FT(8, 2) under D-mod-k, and the same with a cable pulled."""
    folder = tmp_path_factory.mktemp("generated")
    files = ("-o", str(folder / "a.net"), "--routing", "dmodk", "--tables", str(folder / "a.lfts"))
    assert main(["fabric", "generate", "fattree:8,2", *files]) == 0
    lines = (folder / "a.net").read_text().splitlines(True)
    (folder / "b.net").write_text("".join(line for line in lines if not line.startswith((LEFT, RIGHT))))
    return folder


@pytest.fixture
def here(generated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the generated files."""
    shutil.copytree(generated, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def hostile(here: Path) -> Path:
    """The fabric with a host and a switch whose names are meant to do harm."""
    text = Path("a.net").read_text()
    for name in ("host(0,0)", "switch((0),1)"):
        assert f'"{name}"' in text
        text = text.replace(f'"{name}"', f'"{HOSTILE}"')
    Path("h.net").write_text(text)
    return here


def test_check(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "check", "a.net", "--lft", "a.lfts")
    assert status == 0
    assert "FT(8,2)" in out
    assert "all 992 pairs" in out
    answer = as_json(capsys, "check", "a.net", "--lft", "a.lfts")
    assert (answer["endpoints"], answer["switches"], answer["channels"]) == (32, 12, 128)
    assert (answer["unrouted"], answer["loops"], answer["dead_ends"], answer["engine"]) == (0, 0, 0, None)
    assert as_json(capsys, "check", "a.net")["unrouted"] is None


def test_check_of_a_damaged_fabric(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "check", "b.net", "--lft", "a.lfts")
    assert status == 1
    assert "nearly FT(8,2)" in out
    answer = as_json(capsys, "check", "b.net", "--lft", "a.lfts")
    assert answer["unrouted"] == answer["dead_ends"] == 56
    kinds = {finding["kind"] for finding in answer["findings"]}
    assert {"dead-end", "missing-cable"} <= kinds
    for finding in answer["findings"]:
        assert set(finding) - {"guid", "switch", "port", "peer"} == {"severity", "kind", "file", "line", "message"}
        assert finding["file"] in ("b.net", "a.lfts")
        assert finding["line"] >= 1
    _, out, _ = run(capsys, "check", "b.net", "--lft", "a.lfts", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["kind"] for row in rows] == [finding["kind"] for finding in answer["findings"]]
    for row, finding in zip(rows, answer["findings"], strict=True):
        for key in ("guid", "switch", "port", "peer"):
            assert row[key] == str(finding.get(key, ""))
    (missing,) = (row for row in rows if row["kind"] == "missing-cable")
    assert (missing["guid"], missing["switch"], missing["port"]) == ("0x0002c90200001000", "switch((0),1)", "5")
    assert missing["peer"] == "S-0002c90200001020 ('switch((0),0)') port 1"
    sent = [(row["switch"], row["port"]) for row in rows if row["kind"] == "dead-end"]
    assert sent == [("switch((0),1)", "5"), ("switch((0),0)", "1")]


def test_strict_check_fails_on_warnings(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A missing cable alone is a warning; notes never count."""
    for fabric, status in (("a.net", 0), ("b.net", 1)):
        assert run(capsys, "check", fabric)[0] == 0
        assert run(capsys, "check", fabric, "--strict")[0] == status
    assert run(capsys, "check", "a.net", "--lft", "a.lfts", "--strict")[0] == 0
    assert as_json(capsys, "check", "a.net", "--lft", "a.lfts")["finding_counts"] == {"switch-lids": 1}


@pytest.mark.parametrize(
    "words", [["check", "a.net"], ["worst", "a.net"], ["route", "-o", "x.lfts", "a.net"], ["throughput", "a.net"]]
)
def test_a_second_file_gets_a_hint_at_lft(words: list[str], here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, *words, "a.lfts")
    assert (status, out) == (2, "")
    assert f"--lft a.lfts (see obliv fabric {words[0]} --help)" in err
    assert "--lft a.lfts" not in run(capsys, *words, "--lft", "a.lfts", "--nothing")[2]


def test_check_of_an_engine_that_failed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("osm.log").write_text("osm_ucast_mgr_process: minhop tables configured on all switches\n")
    words = ["check", "a.net", "--lft", "a.lfts", "--log", "osm.log"]
    assert as_json(capsys, *words)["engine"] == {"used": "minhop", "requested": "minhop", "failed": []}
    answer = as_json(capsys, *words, "--engine", "ftree")
    assert answer["engine"]["requested"] == "ftree"
    assert [(each["kind"], each["line"]) for each in answer["findings"] if each["severity"] == "error"] == [
        ("engine", 1)
    ]
    assert run(capsys, *words, "--engine", "ftree")[0] == 1


def test_check_of_routes_that_deadlock(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "generate", "torus:5x5", "-o", "t.net", "--routing", "dor", "--tables", "t.lfts")
    status, out, _ = run(capsys, "check", "t.net", "--lft", "t.lfts")
    assert status == 1
    assert "cyclic" in out


def test_worst(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = as_json(capsys, "worst", "a.net", "--lft", "a.lfts", "--hottest", "3")
    assert answer["channel_load"] == {"exact": "4", "value": 4.0}
    assert answer["throughput"]["exact"] == "1/4"
    assert sorted(answer["permutation"]) == list(range(32))
    assert answer["names"][:2] == ["host(0,0)", "host(0,1)"]
    assert len(answer["crossing"]) == 4
    assert len(answer["hottest"]) == 3
    assert {each["channel_load"]["exact"] for each in answer["hottest"]} == {"4"}
    assert "certificate" not in answer
    _, out, _ = run(capsys, "worst", "a.net", "--lft", "a.lfts", "--hottest", "3", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [int(row["channel"]) for row in rows] == [each["channel"] for each in answer["hottest"]]
    assert {(row["worst_load_exact"], row["at_least_exact"]) for row in rows} == {("4", "4")}


@pytest.mark.nightly
def test_the_worst_case_is_drawn(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    words = ["worst", "a.net", "--lft", "a.lfts", "--plot"]
    status, out, err = run(capsys, *words, "worst.svg")
    assert status == 0
    assert "channel load    4" in out
    assert "picture saved in worst.svg" in err
    assert 'id="flows on the worst channel"' in Path("worst.svg").read_text()
    assert run(capsys, *words, "worst.xyz")[0] == 2
    assert run(capsys, *words, "worst.svg", "-o", "worst.svg")[0] == 2


def test_worst_is_proved(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, "worst", "a.net", "--lft", "a.lfts", "-o", "claim.json.gz")
    assert status == 0
    assert "obliv verify claim.json.gz" in err
    assert main(["verify", "claim.json.gz"]) == 0
    Path("a.lfts").write_text(Path("a.lfts").read_text() + "\n")
    assert main(["verify", "claim.json.gz"]) == 1


def test_worst_is_proved_where_lids_stand_apart(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree = obliv.topology("fattree:4,2")
    fabric = from_topology(tree)
    write_net(fabric.with_ports(lid=np.zeros_like(fabric.ports.lid)), "f.net")
    Path("g").write_text(spelled.guid2lid(fabric))
    Path("f.lfts").write_text(spelled.tables_text(tables_of(obliv.routing("dmodk", tree), fabric), fabric, "a -n"))
    words = ["f.net", "--lft", "f.lfts", "--guid2lid", "g"]
    answer = as_json(capsys, "worst", *words, "-o", "claim.json")
    assert answer["topology"] == answer["provenance"]["specs"]["topology"] == "fabric:f.net,guid2lid=g"
    assert json.loads(Path("claim.json").read_text())["topology"] == "fabric:f.net,guid2lid=g"
    assert main(["verify", "claim.json"]) == 0
    capsys.readouterr()
    answer = as_json(capsys, "route", *words, "-o", "new.lfts")
    assert answer["provenance"]["specs"]["topology"] == "fabric:f.net,guid2lid=g"
    Path("g").write_text(spelled.guid2lid(fabric) + "\n")
    assert main(["verify", "claim.json"]) == 1


def test_tables_without_rows_have_a_header(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ranked, none = (
        run(capsys, "worst", "a.net", "--lft", "a.lfts", "--hottest", count, "--format", "csv")[1]
        for count in ("3", "0")
    )
    assert none == ranked.splitlines(True)[0]
    status, out, _ = run(capsys, "check", "a.net", "--format", "csv")
    assert (status, out) == (0, "severity,kind,file,line,message,guid,switch,port,peer\n")


@pytest.mark.parametrize(
    ("spec", "load"), [("torus:5x5", "2"), pytest.param("torus:9x9", "4", marks=pytest.mark.nightly)]
)
def test_dimension_order_on_the_torus(spec: str, load: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "generate", spec, "-o", "t.net", "--routing", "dor", "--tables", "t.lfts")
    answer = as_json(capsys, "worst", "t.net", "--lft", "t.lfts", "--hottest", "0")
    assert answer["channel_load"]["exact"] == load
    assert main(["worst", "fabric:t.net", "lft:t.lfts", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["channel_load"]["exact"] == load


def test_compressed_files(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a.net", "a.lfts"):
        Path(f"{name}.gz").write_bytes(gzip.compress(Path(name).read_bytes()))
    assert as_json(capsys, "worst", "a.net.gz", "--lft", "a.lfts.gz")["channel_load"]["exact"] == "4"


def test_figures(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = as_json(capsys, "shifts", "a.net", "--lft", "a.lfts")
    assert (answer["shifts"], answer["worst_load"]["exact"], answer["mean_load"]["exact"]) == (31, "1", "1")
    answer = as_json(capsys, "average", "a.net", "--lft", "a.lfts", "--samples", "50", "--seed", "3")
    assert answer["channel_load"]["samples"] == 50
    assert 2 <= answer["channel_load"]["value"] <= 4
    assert answer == as_json(capsys, "average", "a.net", "--lft", "a.lfts", "--samples", "50", "--seed", "3") | {
        "provenance": answer["provenance"]
    }
    answer = as_json(capsys, "bisection", "a.net", "--lft", "a.lfts", "--samples", "50")
    assert 0.25 <= answer["smallest"]["value"] <= answer["bandwidth"]["value"] <= answer["largest"]["value"] <= 1
    answer = as_json(capsys, "throughput", "a.net", "uniform", "shift:4", "--lft", "a.lfts")
    assert [each["channel_load"]["exact"] for each in answer["patterns"]] == ["31/32", "1"]
    answer = as_json(capsys, "throughput", "a.net", "ring", "tree:seed=1", "--lft", "a.lfts", "--seed", "3")
    assert [each["traffic"] for each in answer["patterns"]] == ["ring:seed=3", "tree:seed=1"]
    assert as_json(capsys, "ratio", "a.net", "--lft", "a.lfts")["ratio"]["exact"] == "4"


def test_the_worst_permutation_can_be_played(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("w.json").write_text(json.dumps(as_json(capsys, "worst", "a.net", "--lft", "a.lfts")))
    answer = as_json(capsys, "throughput", "a.net", "permutation:w.json", "--lft", "a.lfts")
    assert answer["patterns"][0]["channel_load"]["exact"] == "4"


def row_of(answer: dict[str, Any], *, chosen: bool = True) -> dict[str, Any]:
    """The row of the answer of the tables that were chosen, or of those in use."""
    return next(row for row in answer["candidates"] if (row["chosen"] if chosen else row["engine"] == "in use"))


@pytest.mark.usefixtures("moves")
def test_route(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(
        capsys,
        "route",
        "a.net",
        "--lft",
        "a.lfts",
        "-o",
        "new.lfts",
        "--net",
        "new.net",
        "--allow",
        "lids=76",
        "--allow",
        "shifts=4",
        "--allow",
        "uniform=2",
    )
    assert status == 0
    assert "in use" in out
    assert "opensm -R file -U new.lfts -l 1" in err
    for offset, load in (("0", "4"), ("0-0-1-1", "2"), ("group", "2"), ("spread", "2")):
        answer = as_json(capsys, "worst", "new.net", "--lft", "new.lfts", "--offset", offset, "--hottest", "0")
        assert answer["channel_load"]["exact"] == load, offset
    answer = as_json(capsys, "route", "a.net", "--lft", "a.lfts", "-o", "flat.lfts", "--lmc", "0", "--force")
    assert (answer["lmc"], row_of(answer, chosen=False)["worst"]["exact"], row_of(answer)["missing_pairs"]) == (
        0,
        "4",
        0,
    )
    assert answer["output"] == "flat.lfts"
    assert as_json(capsys, "check", "a.net", "--lft", "flat.lfts")["unrouted"] == 0


@pytest.mark.nightly
def test_route_of_three_levels(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "generate", "fattree:8,3", "-o", "c.net", "--routing", "dmodk", "--tables", "c.lfts")
    answer = as_json(capsys, "route", "c.net", "--lft", "c.lfts", "-o", "new.lfts", "--by", "worst")
    assert (answer["engine"], answer["lmc"], row_of(answer, chosen=False)["worst"]["exact"]) == ("osrm3-d", 0, "7")
    assert as_json(capsys, "worst", "c.net", "--lft", "new.lfts")["channel_load"]["exact"] == "4"


@pytest.mark.nightly
@pytest.mark.usefixtures("moves")
def test_route_of_a_damaged_fabric(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = as_json(capsys, "route", "b.net", "--lft", "a.lfts", "-o", "new.lfts", "--lmc", "0", "--plot", "all.svg")
    assert "(written)" in Path("all.svg").read_text()
    assert (row_of(answer, chosen=False)["missing_pairs"], row_of(answer)["missing_pairs"]) == (56, 0)
    assert answer["shape"] == "nearly FT(8,2)"
    assert run(capsys, "check", "b.net", "--lft", "new.lfts")[0] == 0


@pytest.mark.nightly
def test_route_keeps_better_tables(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "generate", "torus:5x5", "-o", "t.net", "--routing", "dor", "--tables", "t.lfts")
    words = [
        "route",
        "t.net",
        "--lft",
        "t.lfts",
        "-o",
        "new.lfts",
        "--net",
        "new.net",
        "--effort",
        "0.1",
        "--ignore-credit-loops",
    ]
    status, out, err = run(capsys, *words)
    assert status == 1
    assert "kept" in out
    assert "nothing was written" in err
    assert not Path("new.lfts").exists()
    assert not Path("new.net").exists()
    assert as_json(capsys, *words)["output"] is None
    assert run(capsys, *words, "--force")[0] == 0
    assert Path("new.lfts").exists()
    answer = as_json(capsys, *words[:-1], "-o", "safe.lfts")  # credit loops are never better
    assert (answer["engine"], row_of(answer, chosen=False)["credit_loops"], row_of(answer)["credit_loops"]) == (
        "layered",
        True,
        False,
    )
    again = ["route", "t.net", "--lft", "safe.lfts", "-o", "same.lfts", "--engine", "updown"]
    assert run(capsys, *again)[0] == 1  # nothing is gained
    assert not Path("same.lfts").exists()


@pytest.mark.nightly
def test_export_and_back(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("x.graphml", "x.anynet", "x.net"):
        assert run(capsys, "export", "a.net", "-o", name)[0] == 0
    assert run(capsys, "export", "a.net", "-o", "x.txt", "--to", "net")[0] == 0
    assert Path("x.txt").read_bytes() == Path("x.net").read_bytes()
    for spec in ("file:x.graphml,terminals=numbered", "file:x.anynet", "fabric:x.net"):
        assert main(["worst", spec, "ecmp", "--format", "json"]) == 0
        content = json.loads(capsys.readouterr().out)
        assert (content["channel_load"]["exact"], len(content["permutation"])) == ("1", 32), spec


def test_pairs_that_do_not_arrive(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for verb in ("worst", "average", "bisection", "shifts", "ratio"):
        status, out, err = run(capsys, verb, "b.net", "--lft", "a.lfts", *FEW.get(verb, []))
        assert (status, out) == (2, ""), verb
        assert err.count("\n") == 1
        assert "missing=skip" not in err
        assert ("--skip-missing" in err) == (verb != "ratio")
        assert err.endswith("fabric check\n" if verb == "ratio" else "with --skip-missing\n")
    assert as_json(capsys, "worst", "b.net", "--lft", "a.lfts", "--skip-missing")["skipped"] == 56
    for verb in ("average", "bisection", "shifts"):
        status, _, err = run(capsys, verb, "b.net", "--lft", "a.lfts", "--skip-missing", *FEW.get(verb, []))
        assert status == 0
        assert "obliv: 56 pairs whose packets do not arrive are left out\n" in err
    assert main(["worst", "fabric:b.net", "lft:a.lfts,missing=skip"]) == 0
    assert "obliv: 56 pairs whose packets do not arrive are left out\n" in capsys.readouterr().err
    assert main(["worst", "fabric:b.net", "lft:a.lfts"]) == 2
    assert "left out\n" not in capsys.readouterr().err


def test_what_is_odd_is_said(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "route", "a.net", "-o", "new.lfts")  # for an LMC of 1
    status, _, err = run(capsys, "worst", "a.net", "--lft", "new.lfts")
    assert status == 0
    assert "obliv fabric check a.net --lft new.lfts" in err
    assert err.startswith("obliv: new.lfts:1: ")


@pytest.mark.nightly
def test_what_is_odd_about_an_input_is_said(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("odd.net").write_text(Path("a.net").read_text() + "junk\n" * 500)
    number = Path("a.net").read_text().count("\n") + 1
    text = f"obliv: odd.net:{number}: unexpected line: 'junk' (and 499 more): see  obliv fabric check odd.net"
    for words, more in (
        (["export", "odd.net", "-o", "x.graphml"], ""),
        (["route", "odd.net", "-o", "new.lfts"], ""),
        (["route", "odd.net", "--lft", "a.lfts", "-o", "new.lfts", "--force"], " --lft a.lfts"),
        (["shifts", "odd.net", "--lft", "a.lfts"], " --lft a.lfts"),
    ):
        status, _, err = run(capsys, *words)
        assert status == 0
        assert err.startswith(f"{text}{more}\n")
    for words in (["export", "a.net", "-o", "x.graphml"], ["route", "a.net", "-o", "new.lfts"]):
        assert "fabric check" not in run(capsys, *words)[2]
    Path("one.net").write_text(Path("a.net").read_text() + "junk\n")
    assert "'junk': see  obliv fabric check one.net\n" in run(capsys, "export", "one.net", "-o", "x.net")[2]
    assert run(capsys, "check", "odd.net", "--format", "json")[0] == 0
    assert as_json(capsys, "check", "odd.net")["finding_counts"] == {"bad-line": 500}


MISTAKES = [
    (["check", "a.lfts"], "a.lfts:1"),
    (["check", "a.net", "--lft", "a.net"], "a.net:1"),
    (["check", "none.net"], "file not found"),
    (["check", "empty"], "empty"),
    (["check", "noise"], "noise"),
    (["check", "a.net", "--lft", "noise"], "noise"),
    (["check", "."], "directory"),
    (["check", "a.net", "--lft", "a.lfts", "--engine", "ftree"], "--log"),
    (["worst", "a.net"], "--lft"),
    (["worst", "a.net", "--lft", "a.lfts", "--offset", "half"], "offset"),
    (["worst", "a.net", "--lft", "a.lfts", "-o", "a.net"], "would be overwritten"),
    (["worst", "a.net", "--lft", "a.lfts", "-o", "none/x.json"], "directory"),
    (["throughput", "a.net", "--lft", "a.lfts"], "TRAFFIC"),
    (["throughput", "a.net", "sideways", "--lft", "a.lfts"], "sideways"),
    (["average", "a.net", "--lft", "a.lfts", "--samples", "1"], "samples"),
    (["route", "a.net", "-o", "x.lfts", "--engine", "osrm3"], "osrm3"),
    (["route", "a.net", "-o", "x.lfts", "--engine", "ftree"], "known"),
    (["route", "a.net", "-o", "x.lfts", "--engine", "osrm2", "--lmc", "0"], "LMC"),
    (["route", "a.net", "-o", "x.lfts", "--net", "x.lfts"], "two outputs"),
    (["route", "a.net", "--lft", "a.lfts", "-o", "a.lfts"], "would be overwritten"),
    (["export", "a.net", "-o", "x.foo"], ".graphml"),
    (["export", "a.net", "-o", "x.foo", "--to", "netz"], "netz"),
    (["export", "a.net", "-o", "a.net"], "would be overwritten"),
    (["generate", "fattree:8,2", "-o", "x.net", "--routing", "dmodk"], "--tables"),
    (["generate", "fattree:8,2", "-o", "x.net", "--tables", "x.lfts"], "--routing"),
    (["generate", "fattree:8,2", "-o", "x.net", "--routing", "osrm2", "--tables", "x.lfts"], "source"),
    (["generate", "fattree:8,2", "-o", "x.net", "--rate", "4xHDD"], "4xHDR"),
    (["generate", "fattre:8,2", "-o", "x.net"], "fattree"),
]


@pytest.mark.parametrize(("words", "said"), MISTAKES, ids=[" ".join(words) for words, _ in MISTAKES])
def test_mistakes(words: list[str], said: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty").write_bytes(b"")
    Path("noise").write_bytes(bytes(range(256)) * 20)
    before = {path.name: path.read_bytes() for path in here.iterdir()}
    status, out, err = run(capsys, *words)
    assert status == 2
    assert out == ""
    assert err.count("\n") == 1
    assert said in err
    assert {path.name: path.read_bytes() for path in here.iterdir()} == before


FEW = {verb: ["--samples", "20"] for verb in ("average", "bisection")}  # for which nothing is compiled
VERBS = ["check", "worst", "ratio", "average", "bisection", "shifts"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("format", ["table", "json", "csv"])
@pytest.mark.parametrize("verb", VERBS)
def test_names_are_text(verb: str, format: str, hostile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, verb, "h.net", "--lft", "a.lfts", "--format", format, *FEW.get(verb, []))
    assert status == 0
    for text in (out, err):
        assert all(letter.isprintable() for letter in text.replace("\n", "").replace("\r", ""))
    if format == "json":
        json.loads(out)
    if format == "csv":
        rows = list(csv.reader(io.StringIO(out)))
        assert {len(row) for row in rows} == {len(rows[0])}


def test_names_are_no_formulas(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = Path("a.net").read_text()
    for k, name in enumerate(FORMULAS):
        for old in (f"host(0,{k})", f"switch((0),{k})", f"switch(({k}),0)"):
            text = text.replace(f'"{old}"', f'"{name}"')
    Path("=f.net").write_text(text.replace("4xQDR", "4xDDR", 1))
    _, out, _ = run(capsys, "worst", "=f.net", "--lft", "a.lfts", "--hottest", "999", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(rows) == 128
    ends = {row["from"] for row in rows} | {row["to"] for row in rows}
    assert {end.partition(" [")[0] for end in ends} >= {f"'{name}" for name in FORMULAS}
    assert not any(end.startswith(FORMULAS) for end in ends)
    _, out, _ = run(capsys, "check", "=f.net", "--lft", "a.lfts", "--format", "csv")
    assert "'=f.net" in {row["file"] for row in csv.DictReader(io.StringIO(out))}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("verb", VERBS)
def test_names_of_files_are_text(verb: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for old in ("a.net", "a.lfts"):
        Path(EVIL + old).write_text(Path(old).read_text() + "junk\n" * ("net" in old))
    words = [verb, f"{EVIL}a.net", "--lft", f"{EVIL}a.lfts", *FEW.get(verb, [])]
    for format in ("table", "json", "csv"):
        status, out, err = run(capsys, *words, "--format", format)
        assert status == 0
        assert all(letter.isprintable() for letter in (out + err).replace("\n", ""))
        if format == "table":
            assert f"on fabric:{EVIL}a.net".replace(EVIL, "ev?[31mi??l?") in out.splitlines()[0]
        if format == "json":
            assert json.loads(out)["topology"] == f"fabric:{EVIL}a.net"


def test_names_of_outputs_and_missing_files_are_text(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / f"{EVIL}\udcff").mkdir()
    place = f"{EVIL}\udcff/"
    for words, status in (
        (["worst", "a.net", "--lft", "a.lfts", "-o", f"{place}o.json"], 0),
        (["route", "a.net", "-o", f"{place}new.lfts", "--net", f"{place}new.net"], 0),
        (["export", "a.net", "-o", f"{place}o.net"], 0),
        (["check", f"{place}o.net"], 0),
        (["check", f"{place}o.net", "--format", "json"], 0),
        (["check", f"{place}none.net"], 2),
        (["worst", f"{place}o.json", "--lft", "a.lfts"], 2),
        (["worst", "a.net", "--lft", "a.lfts", "--offset", EVIL], 2),
    ):
        result, out, err = run(capsys, *words)
        assert result == status, words
        assert all(letter.isprintable() for letter in (out + err).replace("\n", ""))
        assert "31mi" in err or status == 0
        assert err.count("\n") == 1 or status == 0
    assert main(["verify", f"{place}o.json", "--files", "."]) == 0


@pytest.mark.usefixtures("moves")
def test_names_of_files_are_text_on_every_page(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "generate", "torus:3x3", "-o", f"{EVIL}t.net")[0] == 0
    for words in (["fabric", "route", f"{EVIL}t.net", "-o", "new.lfts"], ["compare", f"fabric:{EVIL}t.net", "ecmp"]):
        assert main(words) == 0
        out, err = capsys.readouterr()
        assert "ev?[31mi??l" in out
        assert all(letter.isprintable() for letter in (out + err).replace("\n", ""))


def test_json_is_given_as_it_is() -> None:
    result = {"a\x9b": ["\x1b", "\u202e", "é中", "\udcff", "\U000e0001", "\n", "\\", "\x7f"], "b": 1.5}
    text = json_text(result)
    assert json.loads(text) == result
    assert "é中" in text
    assert all(letter.isprintable() for letter in text.replace("\n", ""))


def test_hostile_names_are_shown_by_worst(hostile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = as_json(capsys, "worst", "h.net", "--lft", "a.lfts")
    assert answer["names"][0].startswith("?[31ma??<b>x</b>[bold] =1+1,")
    assert answer["channel_load"]["exact"] == "4"


def test_hostile_names_in_files(hostile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(
        capsys,
        "route",
        "h.net",
        "--lft",
        "a.lfts",
        "-o",
        "new.lfts",
        "--net",
        "new.net",
        "--engine",
        "osrm2",
        "--force",
    )
    for name in ("x.graphml", "x.anynet", "x.net"):
        assert run(capsys, "export", "h.net", "-o", name)[0] == 0
    run(capsys, "worst", "h.net", "--lft", "a.lfts", "-o", "claim.json")
    for name in ("new.lfts", "new.net", "x.graphml", "x.anynet", "x.net", "claim.json"):
        text = Path(name).read_text()
        assert all(letter.isprintable() or letter in "\n\t" for letter in text), name
    answer = as_json(capsys, "worst", "new.net", "--lft", "new.lfts", "--offset", "0-0-1-1")
    assert answer["channel_load"]["exact"] == "2"
    assert as_json(capsys, "check", "x.net")["channels"] == 128
    assert main(["verify", "claim.json"]) == 0
    capsys.readouterr()
    assert main(["worst", "file:x.graphml,terminals=numbered", "ecmp"]) == 0


def test_hostile_names_among_findings(hostile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = Path("h.net").read_text().splitlines(True)
    Path("d.net").write_text("".join(line for line in lines if not line.startswith((LEFT, RIGHT))))
    for format in ("table", "json", "csv"):
        status, out, err = run(capsys, "check", "d.net", "--lft", "a.lfts", "--format", format)
        assert status == 1
        assert "[31ma" in out
        assert all(letter.isprintable() or letter in "\n\r" for letter in out + err)
    status, out, err = run(capsys, "worst", "d.net", "--lft", "a.lfts")
    assert status == 2
    assert err.count("\n") == 1
    assert all(letter.isprintable() for letter in err.strip("\n"))


def test_links_of_unequal_speed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = Path("a.net").read_text().splitlines(True)
    Path("s.net").write_text("".join(t.replace("4xQDR", "4xDDR") if "2c90300100001)" in t else t for t in text))
    answer = as_json(capsys, "worst", "s.net", "--lft", "a.lfts")
    assert answer["channel_load"]["exact"] == "4"
    assert "traffic" in answer
    assert any("speed" in note for note in answer["notes"])
    status, _, err = run(capsys, "average", "s.net", "--lft", "a.lfts")
    assert status == 2
    assert "equal links" in err


SAMPLES = Path(__file__).parents[1] / "fabric" / "samples"
BAD = {"hole": (1, 2), "loop": (1, 6), "missing_switch": (1, 26), "wrong_ca": (1, 7), "truncated": (1, 56)}
BAD |= {"no_sm": (1, 56), "port_oob": (0, 0)}  # OpenSM refused the last one, and routed by itself


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", BAD)
def test_bad_samples(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(SAMPLES / name / "ibnetdiscover.txt.gz"), "--lft", str(SAMPLES / name / "dump_lfts.txt.gz")]
    status, lost = BAD[name]
    assert run(capsys, "check", *files)[0] == status
    assert as_json(capsys, "check", *files)["unrouted"] == lost
    assert run(capsys, "worst", *files)[0] == (2 if lost else 0)
    assert as_json(capsys, "worst", *files, "--skip-missing")["skipped"] == lost


@pytest.mark.usefixtures("moves")
def test_layers_in_place_of_detours_name_the_files_to_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(detours, "_CHOICES", 0)
    assert run(capsys, "generate", "damaged:torus:5x5,12", "-o", "gap.net")[0] == 0
    options = ("--engine", "dor-dateline", "--lanes", "2", "--sl2vl", "new.sl2vl", "--psl", "new.psl")
    status, _, err = run(capsys, "route", "gap.net", "-o", "new.lfts", *options, "--effort", "0.01")
    assert status == 0
    assert "packets do not change the lane on the way: new.sl2vl is not needed and was not written" in err
    assert "plug-in obliv:  event_plugin_options lfts=new.lfts,psl=new.psl" in err
    assert "check it with  obliv fabric check gap.net --lft new.lfts --sl new.psl --sl2vl identity\n" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gap.net", "new.lfts", "new.psl"]


def test_routes_for_several_lids_name_the_files_and_the_lmc_to_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "generate", "ring:6", "-o", "ring.net")[0] == 0
    engine = ("route", "ring.net", "-o", "new.lfts", "--engine", "two-turn", "--lanes", "2")
    status, _, err = run(capsys, *engine)
    assert (status, err) == (2, "obliv: two-turn: name files for the lanes with --sl2vl FILE --psl FILE\n")
    answer = as_json(capsys, *engine, "--sl2vl", "new.sl2vl", "--psl", "new.psl", "--net", "new.net")
    assert (answer["engine"], answer["offset"], answer["lmc"]) == ("two-turn", "spread", 1)
    assert (row_of(answer)["worst"]["exact"], row_of(answer)["lanes"]) == ("3/2", 2)
    assert "assumed: sources spread their packets evenly over the LIDs of each destination" in answer["notes"]
    assert "lower_bound" not in answer  # those for single paths do not hold
    lanes = ("--sl2vl", "new.sl2vl", "--sl", "new.psl")
    check = as_json(capsys, "check", "new.net", "--lft", "new.lfts", *lanes)
    assert (check["deadlock"]["acyclic"], check["lanes_used"]) == (True, [0, 1])
    assert run(capsys, "worst", "new.net", "--lft", "new.lfts", "--offset", "spread", "-o", "claim.json")[0] == 0
    assert main(["verify", "claim.json"]) == 0
    status, _, err = run(capsys, *engine, "--sl2vl", "n.sl2vl", "--psl", "n.psl", "--format", "table")
    assert "sl2vl=n.sl2vl,psl=n.psl  and  opensm -l 1\n" in err


def test_auto_routes_tori_for_the_plug_in_if_its_files_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "generate", "torus:5x5", "-o", "torus.net")[0] == 0
    words = ("route", "torus.net", "-o", "new.lfts", "--effort", "0.01", "--lanes", "2")
    status, _, err = run(capsys, *words, "--psl", "new.psl")
    assert (status, err.count("\n"), err.count("--policy FILE, or files for OpenSM's plug-in")) == (2, 1, 1)
    answer = as_json(capsys, *words, "--sl2vl", "new.sl2vl", "--psl", "new.psl")
    assert (answer["engine"], row_of(answer)["worst"]["exact"]) == ("dor-dateline", "2")
    check = as_json(capsys, "check", "torus.net", "--lft", "new.lfts", "--sl2vl", "new.sl2vl", "--sl", "new.psl")
    assert (check["deadlock"]["acyclic"], check["lanes_used"]) == (True, [0, 1])
    answer = as_json(capsys, *words, "--policy", "policy")
    assert answer["engine"] == "layered"
    assert "dor-dateline would have a worst load of 2, but needs SL-to-VL tables" in answer["notes"][-1]


def test_a_policy_that_takes_opensm_long_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "generate", "ring:6", "-o", "ring.net")[0] == 0
    words = ("route", "ring.net", "-o", "new.lfts", "--lanes", "2", "--policy", "policy", "--effort", "0.01")
    assert "goes through" not in run(capsys, *words)[2]
    monkeypatch.setattr("obliv.fabric.cli.tables._RULE", 100.0)
    err = run(capsys, *words)[2]
    assert "OpenSM goes through the 1 rule of policy for each path record, some 3,600 s for those of all pairs" in err


@pytest.mark.parametrize(
    ("spec", "nodes"), [("fattree:64,3", "70,656"), ("fattree:360,3", "11,826,000"), ("ring:50000", "50,000")]
)
def test_networks_with_more_nodes_than_lids_are_refused_before_they_are_built(
    spec: str, nodes: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tracemalloc.start()
    status, out, err = run(capsys, "generate", spec, "-o", str(tmp_path / "f.net"))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (status, out, list(tmp_path.iterdir())) == (2, "", [])
    assert err == (
        f"obliv: {spec}: {nodes} nodes, but each needs a LID, and InfiniBand has 49,151 unicast LIDs: "
        "choose a smaller network, or add --extended-lids for LIDs of 24 bits as on Omni-Path\n"
    )
    assert most < 2**24


def test_help_names_every_engine() -> None:
    option = get_type_hints(route, include_extras=True)["engine"].__metadata__[0]
    assert option.help == f"auto, {', '.join(ENGINES[:-1])} or {ENGINES[-1]}."


def test_route_uses_no_more_lanes_than_ports_operate(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_net(from_topology(obliv.ring(6)), here / "ring.net")
    (here / "info").write_text("# Port info: Lid 1 port 2\nOperVLs:.........................VL0-1\n")
    words = ("route", "ring.net", "-o", "new.lfts", "--effort", "0.01", "--policy", "policy", "--oper-vls")
    status, _, err = run(capsys, *words, "info", "--lanes", "3")
    assert (status, err.count("\n")) == (2, 1)
    assert "3 lanes: " in err
    assert " port 2 operates 2 (info, line 2): use no more" in err
    assert not (here / "new.lfts").exists()
    assert row_of(as_json(capsys, *words, "info")).get("lanes", 1) <= 2
    assert row_of(as_json(capsys, *words, "1")).get("lanes", 1) == 1
