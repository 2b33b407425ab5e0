"""Where a verb means traffic, it takes TRAFFIC as an argument and with ``--traffic``."""

from __future__ import annotations

from pathlib import Path

import pytest

from obliv.cli import main

#: Command lines that lack traffic; those that give one picture or file take one traffic.
COMMANDS = {
    "throughput mesh:3x3 dor": True,
    "compare mesh:3x3 dor romm": True,
    "ratio fattree:4,2 dmodk": True,
    "collisions fattree:4,2": False,
    "plot loads mesh:3x3 dor -o loads.svg": False,
    "export mesh:3x3 dor --to ns3 -o mesh.ns3": False,
}


def answer(capsys: pytest.CaptureFixture[str], command: str) -> str:
    assert main(command.split()) == 0, capsys.readouterr().err
    written = "".join(path.read_text() for path in Path().glob("*.ns3"))
    return capsys.readouterr().out + written


@pytest.mark.parametrize("command", COMMANDS)
def test_both_ways_are_the_same(
    command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert answer(capsys, f"{command} shift:1") == answer(capsys, f"{command} --traffic shift:1")
    if COMMANDS[command]:
        several = answer(capsys, f"{command} shift:1 uniform")
        assert several == answer(capsys, f"{command} --traffic shift:1 --traffic uniform")
    else:
        assert main(f"{command} --traffic shift:1 uniform".split()) == 2
        capsys.readouterr()
    if command.startswith(("compare", "ratio", "export")):  # whose --traffic is an option of its own
        assert main(f"{command} shift:1 --traffic uniform".split()) == 2
        assert "TRAFFIC is given twice, as 'shift:1' and with --traffic 'uniform'" in capsys.readouterr().err


def test_traffic_on_a_fabric(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["fabric", "generate", "fattree:4,2", "-o", "net.txt"]) == 0
    assert main(["fabric", "route", "net.txt", "--engine", "dmodk", "-o", "tables.txt"]) == 0
    capsys.readouterr()
    command = "fabric throughput net.txt --lft tables.txt"
    assert answer(capsys, f"{command} shift:1") == answer(capsys, f"{command} --traffic shift:1")
    assert answer(capsys, f"{command} shift:1 uniform") == answer(capsys, f"{command} shift:1 --traffic uniform")
    assert main(command.split()) == 2
    assert "Missing argument 'TRAFFIC...'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", ["throughput mesh:3x3 dor", "collisions fattree:4,2", "plot loads mesh:3x3 dor -o x.svg"]
)
def test_traffic_is_required_where_it_is_the_question(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command.split()) == 2
    assert "Missing argument 'TRAFFIC" in capsys.readouterr().err


def test_a_comparison_of_traffic_alone_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "mesh:3x3", "transpose"]) == 2
    assert "'transpose' is a traffic pattern: name a routing before it" in capsys.readouterr().err
