"""The words of a command line: what the verb or group that gets them says of those that it does not know."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from obliv.cli import main
from obliv.cli.app import VERBS, Verbs


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("a.net", "a.lfts", "b.lfts", "tables"):
        (tmp_path / name).write_text("\n", encoding="utf-8")
    return tmp_path


REFUSALS = {
    "wrost mesh:3x3 dor": "No such command 'wrost'. Did you mean 'worst'? (see obliv --help)",
    "xyzzy": "No such command 'xyzzy' (see obliv --help)",
    "version": "No such command 'version': write obliv --version (see obliv --help)",
    "help version": "No such command 'version': write obliv --version (see obliv --help)",
    "mesh:3x3": "No such command 'mesh:3x3': write worst, verify, throughput,",
    "tables": "No such command 'tables': write worst, verify, throughput,",
    "fabric wrost": "No such command 'wrost'. Did you mean 'worst', 'route'? (see obliv fabric --help)",
    "fabric version": "No such command 'version': choose check, worst, ratio,",
    "fabric fabric.net": "No such command 'fabric.net': write check, worst, ratio,",
    "study run.toml": "No such command 'run.toml': write run, show, export, diff, verify, schema before it (see",
    "plot mesh:3x3": "No such command 'mesh:3x3': write topology, loads, worst, result before it",
    "plot help wrost": "No such command 'wrost'. Did you mean 'worst'? (see obliv plot --help)",
    "worst mesh:3x3 dor romm": "Got unexpected extra argument (romm): use obliv compare for several routings (see",
    "worst mesh:3x3 dor a b": "Got unexpected extra arguments (a b) (see obliv worst --help)",
    "worst mesh:3x3 dor a -o romm": "Got unexpected extra argument (a) (see obliv worst --help)",
    "worst mesh 3x3 dor": "Got unexpected extra argument (dor): a network is one word, mesh:3x3 (see",
    "plot worst mesh 3x3": "Missing option '--output' / '-o': a network is one word, mesh:3x3 (see",
    "bufferless line:5 fifo": "Got unexpected extra argument (fifo): write -a fifo (see obliv bufferless --help)",
    "fabric check a.net a.lfts": "Got unexpected extra argument (a.lfts): forwarding tables follow --lft, as in --lft "
    "a.lfts (see obliv fabric check --help)",
    "fabric check a.net b.lfts --lft a.lfts": "Got unexpected extra argument (b.lfts) (see obliv fabric check --help)",
    "fabric job a.net a.lfts --pattern ring": "Missing option '--lft': forwarding tables follow --lft, as in --lft",
    "fabric throughput a.net a.lfts uniform": "Missing option '--lft': forwarding tables follow --lft, as in --lft",
    "fabric average a.net": "Missing option '--lft' (see obliv fabric average --help)",
    "fabric worst a.net a.lfts --hottest x": "Invalid value for '--hottest': 'x' is not a whole number (see",
    "worst mesh:3x3 dor --json": "No such option: --json: write --format json (see obliv worst --help)",
    "compare mesh:3x3 dor --latex=x": "No such option: --latex: write --format latex (see obliv compare --help)",
    "plot worst mesh:3x3 dor -o": "Option '-o' requires an argument (see obliv plot worst --help)",
    "fabric --import": "Option '--import' requires an argument (see obliv --help)",
    "--import": "Option '--import' requires an argument (see obliv --help)",
}


@pytest.mark.parametrize(("words", "refusal"), REFUSALS.items(), ids=REFUSALS)
def test_refusals(words: str, refusal: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"obliv: {refusal}")
    assert captured.err.count("\n") == 1
    assert captured.out == ""


@pytest.mark.parametrize("words", ["help help", "help help worst", "fabric help", "fabric help worst", "study help"])
def test_help_is_a_word_of_every_group(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 0
    text = capsys.readouterr().out
    assert main([*(word for word in words.split() if word != "help"), "--help"]) == 0
    assert capsys.readouterr().out == text


def test_help_after_an_option_of_obliv(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "own.py").write_text("", encoding="utf-8")
    assert main(["--import", "own.py", "help", "worst"]) == 0
    assert "obliv worst" in capsys.readouterr().out


def test_an_extra_word_does_not_keep_the_help_away(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["worst", "mesh", "4x4", "dor", "--help"]) == 0
    assert "obliv worst" in capsys.readouterr().out


def verbs() -> Iterator[Any]:
    for name in VERBS:
        verb = Verbs(name="obliv").get_command(None, name)
        yield from getattr(verb, "commands", {"": verb}).values()


def test_every_number_is_called_one() -> None:
    numbers = [kind for verb in verbs() for one in verb.params if (kind := one.type).name.startswith(("int", "float"))]
    assert len(numbers) > 40
    for kind in numbers:
        noun = "number" if kind.name.startswith("float") else "whole number"
        with pytest.raises(typer.BadParameter, match=f"^'much' is not a {noun}$"):
            kind("much")
