"""Switches without groups, private LFTs, and service levels that adaptive routing excludes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.fabric.adaptive.spelled_info import info_text

import obliv
from obliv.cli import main
from obliv.errors import FileError, InputError
from obliv.fabric.adaptive.routing import read_adaptive
from obliv.fabric.checks.check import check
from obliv.fabric.files.far import write_groups
from obliv.fabric.files.forwarding import read_ar_info
from obliv.fabric.generate import from_topology, tables_of
from obliv.fabric.reroute.fill import groups_of

TREE = obliv.topology("fattree:4,2")
FABRIC = from_topology(TREE)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    obliv.fabric.write_net(FABRIC, "f.net")
    write_groups(groups_of(FABRIC), FABRIC, "f.far")
    Path("f.db_csv").write_text(info_text(FABRIC))
    return tmp_path


def load(**options: object) -> object:
    groups = read_adaptive(FABRIC, "f.far", **options)  # type: ignore[arg-type]
    routing = obliv.fabric.adaptive_routing(obliv.fabric.network(FABRIC), groups, "worst")
    return obliv.worst_case(routing).channel_load


def test_excluded_levels_use_static_ports(files: Path) -> None:
    info = read_ar_info("f.db_csv", FABRIC)
    assert info.known.all()
    assert not info.findings
    assert info.mask.tolist() == [0xFFFD] * len(FABRIC.switches)
    static = obliv.fabric.adaptive_routing(obliv.fabric.network(FABRIC), groups_of(FABRIC), "static")
    assert load(info="f.db_csv", sl=1) == obliv.worst_case(static).channel_load
    assert load(info="f.db_csv", sl=0) == load() == 2
    for off in (info_text(FABRIC, on=0), info_text(FABRIC, mask="0")):
        Path("f.db_csv").write_text(off)
        assert (read_ar_info("f.db_csv", FABRIC).mask == 0).all()
    Path("f.db_csv").write_text(info_text(FABRIC, by_sl=0, mask="0"))
    assert (read_ar_info("f.db_csv", FABRIC).mask == 0xFFFF).all()  # all levels are adaptive


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (info_text(FABRIC), "excluded-levels"),
        (info_text(FABRIC, on=0), "adaptive-off"),
        (info_text(FABRIC, top=0), "group-top"),
        (info_text(FABRIC).replace("0xfffd", "0xfff0", 1), "sl-mask"),
        (info_text(FABRIC).replace("0x0002c90200001000", "0x0002c90200009999"), "no-ar-info"),
        (info_text(FABRIC).replace("0x0002c90200001000", "0x0002c90200009999"), "unknown-switch"),
        (info_text(FABRIC).replace("0xfffd,0\n", "0xfffd\n", 1), "bad-entry"),
    ],
)
def test_findings(files: Path, text: str, kind: str) -> None:
    Path("f.db_csv").write_text(text)
    result = check(FABRIC, groups=groups_of(FABRIC), info=read_ar_info("f.db_csv", FABRIC))
    assert result.of(kind)


def test_files_without_the_section(files: Path) -> None:
    for text, message in (("A,B\n1,2\n", "no section"), ("START_AR_INFO\nA,B\n1,2\nEND_AR_INFO\n", "NodeGUID")):
        Path("f.db_csv").write_text(text)
        with pytest.raises(FileError, match=message):
            read_ar_info("f.db_csv", FABRIC)


def test_switches_without_groups_use_their_tables(files: Path) -> None:
    text = Path("f.far").read_text()
    start = text.index("\nSwitch", text.index("Switch") + 1)
    Path("f.far").write_text(text[:start])  # the groups of one leaf only
    tables = tables_of(obliv.routing("dmodk", TREE), FABRIC)
    groups = read_adaptive(FABRIC, "f.far", tables=tables)
    assert set(groups.switch.tolist()) == set(FABRIC.switches.tolist())
    worst = obliv.fabric.adaptive_routing(obliv.fabric.network(FABRIC), groups, "worst")
    assert obliv.worst_case(worst).channel_load == 2
    alone = read_adaptive(FABRIC, "f.far")
    with pytest.raises(obliv.OblivError, match="without a table"):
        obliv.worst_case(obliv.fabric.adaptive_routing(obliv.fabric.network(FABRIC), alone, "worst"))


def test_private_tables_are_chosen(files: Path) -> None:
    groups = groups_of(FABRIC)
    text = Path("f.far").read_text()
    Path("f.far").write_text(text + text.split("\n", 2)[2].replace("PLFT_NUM: 0", "PLFT_NUM: 3"))
    with pytest.raises(InputError, match="2 private LFTs"):
        read_adaptive(FABRIC, "f.far")
    with pytest.raises(InputError, match="no private LFT 1"):
        read_adaptive(FABRIC, "f.far", plft=1)
    assert np.array_equal(read_adaptive(FABRIC, "f.far", plft=3).group, groups.group)
    result = check(FABRIC, groups=obliv.fabric.read_groups("f.far", FABRIC))
    assert [part.plft for part in result.adaptive] == [0, 3]
    assert result.of("private-lfts")


def test_the_command_line(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = ["fabric", "worst", "f.net", "--far", "f.far"]
    assert main([*base, "--adaptive", "worst", "--ar-info", "f.db_csv", "--sl", "0", "-o", "c.json"]) == 0
    assert "far:f.far,adaptive=worst,info=f.db_csv,sl=0 on fabric:f.net" in capsys.readouterr().out
    assert main(["verify", "c.json"]) == 0
    assert main(["fabric", "check", "f.net", "--far", "f.far", "--ar-info", "f.db_csv"]) == 0
    assert "packets of SL 1 use the static ports" in capsys.readouterr().out
    for wrong, message in (
        ([*base, "--sl", "0"], "must be given together"),
        ([*base, "--ar-info", "f.db_csv", "--sl", "16"], "out of range"),
        ([*base, "--adaptive", "wurst"], "worst"),
        ([*base, "--plft", "7"], "no private LFT 7"),
        (["fabric", "worst", "f.net"], "--lft FILE"),
        (["fabric", "worst", "f.net", "--adaptive", "even"], "add --far FILE"),
        (["fabric", "check", "f.net", "--ar-info", "f.db_csv"], "add --far FILE"),
        (["fabric", "generate", "ring:4", "-o", "r.net", "--adaptive", "updn"], "together"),
        (["fabric", "generate", "ring:4", "-o", "r.net", "--adaptive", "up", "--far", "r.far"], "updn"),
        ([*base[:3], "--far", "f.net"], "topology"),
    ):
        assert main(wrong) == 2, wrong
        error = capsys.readouterr().err
        assert message in error, (wrong, error)
        assert error.count("\n") == 1
    assert not Path("r.net").exists()
