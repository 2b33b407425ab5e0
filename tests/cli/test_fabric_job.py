"""``obliv fabric job`` as a user meets it: answers, mistakes with exit status 2, files written whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import pytest

from obliv.cli import main

FILES = ("fabric", "job", "a.net", "--lft", "a.lfts")


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """FT(4, 2) under D-mod-k."""
    folder = tmp_path_factory.mktemp("generated")
    files = ("-o", str(folder / "a.net"), "--routing", "dmodk", "--tables", str(folder / "a.lfts"))
    assert main(["fabric", "generate", "fattree:4,2", *files]) == 0
    return folder


@pytest.fixture
def here(generated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the generated files and a file of hosts."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(generated, tmp_path, dirs_exist_ok=True)
    Path("hosts").write_text("host(0,0)\nhost(1,0)\nhost(0,1)\nhost(2,0)\n")
    return tmp_path


def test_answers(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    how = ("--hosts", "hosts", "--pattern", "ring", "--order", "ranks", "--effort", "0.005")
    assert main([*FILES, *how, "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert {"channel_load", "mean_load", "phases", "order", "cables", "jobs"} <= data.keys()
    assert {"name", "channel_load", "cable", "pairs"} <= data["phases"][0].keys()
    assert [data["order"][key]["exact"] for key in ("before", "after", "bound")] == ["2", "1", "1"]
    assert data["order"]["file"] == "ranks"
    assert set(data["provenance"]["sources"]) == {"a.net", "a.lfts", "hosts"}
    assert len((here / "ranks").read_text().splitlines()) == 4
    assert main([*FILES, "--hosts", "ranks", "--pattern", "ring", "--format", "csv"]) == 0
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (row["phase"], row["times"], row["channel_load"], row["slowdown"]) == ("to the next", "6", "1.0", "1.0")
    assert main([*FILES, "--hosts", "hosts", "--hosts", "ranks", "--pattern", "alltoall", "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["job"] for row in rows] == ["0"] * 3 + ["1"] * 3
    assert all(float(row["together"]) >= float(row["channel_load"]) for row in rows)


def test_the_worst_hosts(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FILES, "--worst-hosts", "3", "--pattern", "ring", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["placement"]["channel_load"] == found["channel_load"]
    (here / "worst").write_text("\n".join(found["placement"]["hosts"]))
    assert main([*FILES, "--hosts", "worst", "--pattern", "ring", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["channel_load"] == found["channel_load"]


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (("--pattern", "ring"), "give --hosts FILE, or --worst-hosts N"),
        (("--pattern", "ring", "--hosts", "hosts", "--worst-hosts", "3"), "give one of the two"),
        (("--pattern", "ring", "--worst-hosts", "3", "--order", "x"), "in place of --worst-hosts"),
        (("--pattern", "ring", "--pattern", "ring", "--worst-hosts", "3"), "takes one --pattern"),
        (("--pattern", "ring", "--worst-hosts", "1"), "1 rank on 8 hosts, one each: choose 2 to 8"),
        (("--hosts", "nowhere", "--pattern", "ring"), "nowhere: file not found"),
        (("--hosts", "hosts", "--pattern", "rings"), "did you mean ring?"),
        (("--hosts", "hosts", "--pattern", "ring", "--order", "hosts"), "is an input file and would be overwritten"),
        (("--hosts", "hosts", "--pattern", "ring", "--order", "no/where"), "its directory does not exist"),
        (("--hosts", "hosts", "--pattern", "ring", "--seed", "3"), "add --order FILE"),
        (("--hosts", "hosts", "--hosts", "hosts", "--pattern", "ring", "--order", "x"), "is for one job"),
        (("--hosts", "hosts", "--pattern", "ring", "--per-host", "0"), "--per-host"),
        (("--hosts", "hosts", "--pattern", "ring", "--per-host", "10000000"), "at most 999,999 ranks"),
        (("--hosts", "hosts", "--pattern", "ring", "--effort", "2"), "--effort is for exchanges of ranks: add --order"),
        (("--hosts", "hosts", "--pattern", "file:"), "name the file of the phases"),
        (("--hosts", "hosts", "--hosts", "hosts", *("--pattern", "ring") * 3), "3 patterns for 2 jobs"),
        (("--hosts", "a.net", "--pattern", "ring"), "is a file of the fabric"),
        (("--hosts", "hosts", "--pattern", "ring", "--rails", "some"), "choose rank, all or first"),
        (("--hosts", "hosts", "--pattern", "ring", "--dark"), "obliv plot result"),
    ],
)
def test_mistakes(here: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], part: str) -> None:
    before = sorted(path.name for path in here.iterdir())
    capsys.readouterr()
    assert main([*FILES, *options]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.count("\n") == 1
    assert part in err
    assert sorted(path.name for path in here.iterdir()) == before
    assert (here / "hosts").read_text().startswith("host(0,0)\n")
