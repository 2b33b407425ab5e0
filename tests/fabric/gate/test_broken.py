"""The gate fails on each kind of broken fabric, as files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from obliv.cli import main

FALLBACK = """\
Nov 23 10:00:00 [7] 0x01 -> do_ucast_file_load: ERR 6304: Invalid port 9 found for switch 0002c90200001014
Nov 23 10:00:00 [7] 0x01 -> ucast_mgr_route: file: cannot build fwd tables.
Nov 23 10:00:00 [7] 0x02 -> osm_ucast_mgr_process: minhop tables configured on all switches
"""
NONE_LEFT = """\
Nov 23 10:00:00 [7] 0x01 -> setup_routing_engines: Failed to setup routing engine 'no_fallback'
Nov 23 10:00:00 [7] 0x01 -> construct_fabric: ERR AB2B: Found more than one root on fabric with maximum rank 0
Nov 23 10:00:00 [7] 0x01 -> ucast_mgr_route: ftree: cannot build fwd tables.
Nov 23 10:00:00 [7] 0x01 -> ucast_mgr_route: No routing engine able to successfully configure switches
"""
LIMITS = 'pairs = "all"\nworst_load = 2\n'


def without_entry(lines: list[str]) -> list[str]:
    """The last switch's table without the entry of the first host."""
    return lines[: _last(lines, "'host(0,0)'")] + lines[_last(lines, "'host(0,0)'") + 1 :]


def to_port(port: int) -> Callable[[list[str]], list[str]]:
    """Return a change of the port by which the last leaf forwards packets for its own last host."""

    def change(lines: list[str]) -> list[str]:
        at = _last(lines, "'host(3,1)'")
        lid, _, rest = lines[at].split(" ", 2)
        return [*lines[:at], f"{lid} {port:03d} {rest}", *lines[at + 1 :]]

    return change


def _last(lines: list[str], name: str) -> int:
    leaf = max(k for k, line in enumerate(lines) if "'switch((3),1)'):" in line)
    return next(k for k in range(leaf, len(lines)) if lines[k].endswith(name))


def without_table(lines: list[str]) -> list[str]:
    first = [k for k, line in enumerate(lines) if line.startswith("Unicast")]
    return lines[: first[2]] + lines[first[3] :]


BROKEN: dict[str, tuple[Callable[[list[str]], list[str]], str]] = {
    "hole": (without_entry, "has no route"),
    "loop": (to_port(3), "loop"),
    "missing switch": (without_table, "has no table"),
    "port out of range": (to_port(9), "port 9"),
    "wrong host": (to_port(1), "cut off"),
    "truncated": (lambda lines: lines[: len(lines) // 3], "has no table"),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gate")
    assert (
        main(
            [
                "fabric",
                "generate",
                "fattree:4,2",
                "-o",
                str(folder / "a.net"),
                "--routing",
                "dmodk",
                "--tables",
                str(folder / "a.lfts"),
            ]
        )
        == 0
    )
    (folder / "limits.toml").write_text(LIMITS)
    (folder / "fallback.log").write_text(FALLBACK)
    (folder / "none.log").write_text(NONE_LEFT)
    return folder


def gate(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    capsys.readouterr()
    status = main(["fabric", "check", *(str(folder / word) if "." in word else word for word in words)])
    return status, " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("name", BROKEN)
def test_broken_tables(name: str, files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change, words = BROKEN[name]
    lines = (files / "a.lfts").read_text().splitlines()
    (tmp_path / "b.lfts").write_text("\n".join(change(lines)) + "\n")
    status, text = gate(files, capsys, "a.net", "--lft", str(tmp_path / "b.lfts"), "--limits", "limits.toml")
    assert status == 1
    assert words in text
    assert "pairs = all, found" in text


def test_refused_engines_are_found_by_the_log(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables = ("a.net", "--lft", "a.lfts")
    assert gate(files, capsys, *tables, "--limits", "limits.toml")[0] == 0
    status, text = gate(files, capsys, *tables, "--limits", "limits.toml", "--log", "fallback.log")
    assert status == 1
    assert "Invalid port 9" in text
    assert "fell back to minhop" in text
    status, text = gate(files, capsys, "a.net", "--log", "none.log")
    assert status == 1
    assert "ftree failed" in text
