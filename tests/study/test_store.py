"""Stores that cannot be used: one line, and nothing is lost."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.stopping import messages
from tests.study.files import SMALL, written

import obliv
from obliv.cli import main
from obliv.study.store import opened


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    obliv.study.run(written(folder), folder / "store.db", jobs=1)
    return folder / "store.db"


def changed(store: Path, folder: Path, *statements: str) -> Path:
    """A copy of a store in which something was changed."""
    copy = folder / "store.db"
    copy.write_bytes(store.read_bytes())
    db = sqlite3.connect(copy, isolation_level=None)
    for statement in statements:
        db.execute(statement)
    db.close()
    return copy


def refusal(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The line with which a command is refused."""
    assert main(["study", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    return line


def test_a_store_of_a_newer_version(finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = changed(finished, tmp_path, "PRAGMA user_version = 2")
    before = store.read_bytes()
    for words in (["show"], ["export"], ["verify"], ["run", str(written(tmp_path)), "--store"]):
        assert "newer obliv (store version 2, this one reads 1): upgrade obliv" in refusal([*words, str(store)], capsys)
    assert store.read_bytes() == before


def test_other_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path)
    other = tmp_path / "other.db"
    db = sqlite3.connect(other)
    db.execute("CREATE TABLE notes (text)")
    db.close()
    assert "is not a store of studies" in refusal(["show", str(file)], capsys)
    assert "is not a store of studies" in refusal(["run", str(file), "--store", str(other)], capsys)
    assert "file not found" in refusal(["show", str(tmp_path / "none.db")], capsys)
    assert "would be overwritten" in refusal(["run", str(file), "--store", str(file)], capsys)
    assert "its directory does not exist" in refusal(["run", str(file), "--store", str(tmp_path / "a/b.db")], capsys)
    assert file.read_text(encoding="utf-8") == SMALL


@pytest.mark.parametrize("moment", ["no file", "an empty file", "a file without tables", "tables without a study"])
@pytest.mark.parametrize("verb", ["show", "export", "verify"])
def test_a_store_in_the_first_seconds_of_a_run(
    moment: str, verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Someone who looks too early is told so, not that the file is wrong."""
    store = tmp_path / "s.db"
    if moment == "an empty file":
        store.touch()
    elif moment == "a file without tables":
        db = sqlite3.connect(store)
        db.execute("PRAGMA journal_mode = WAL")
        db.close()
        assert store.stat().st_size
    elif moment == "tables without a study":
        with opened(store, write=True):
            pass
    line = refusal([verb, str(store)], capsys)
    early = "a run makes it once it has checked" if moment == "no file" else "if a run has just begun, try again"
    assert early in line


def test_a_damaged_store(finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = finished.read_bytes()
    store = tmp_path / "store.db"
    page = 4096  # damage begins at pages: nobody misses the unused space within them
    for start in (page, 2 * page, len(content) // 2 // page * page):
        store.write_bytes(content[:start] + b"\xff" * 2048 + content[start + 2048 :])
        assert "is damaged" in refusal(["verify", str(store)], capsys)
    store.write_bytes(content[: len(content) // 2])
    assert "is damaged" in refusal(["export", str(store), "--format", "json"], capsys)


def test_the_ending_of_an_export_is_its_format(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["export", str(finished), "--output"]
    assert main(["study", *words, str(tmp_path / "all.JSON")]) == 0
    assert (tmp_path / "all.JSON").read_text(encoding="utf-8") == obliv.study.export(finished, "json")
    assert main(["study", *words, str(tmp_path / "all.csv")]) == 0
    assert main(["study", *words, str(tmp_path / "all.txt"), "--format", "csv"]) == 0
    assert (tmp_path / "all.csv").read_bytes() == (tmp_path / "all.txt").read_bytes()
    capsys.readouterr()
    for name in ("all.xls", "all"):
        assert "ending in .csv, .json, .parquet, or add --format" in refusal([*words, str(tmp_path / name)], capsys)
        assert not (tmp_path / name).exists()


def test_reading_leaves_no_files_and_changes_nothing(finished: Path, tmp_path: Path) -> None:
    store = changed(finished, tmp_path)
    (other := tmp_path / "other.db").write_bytes(before := store.read_bytes())
    obliv.study.show(store)
    obliv.study.export(store)
    obliv.study.verify(store)
    obliv.study.diff(store, other)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.db", "store.db"]
    assert store.read_bytes() == before
    with pytest.raises(obliv.FileError, match="read-only"), opened(store) as db:
        db.reset([], "done")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everything")
def test_a_read_only_store(finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = changed(finished, tmp_path)
    file = written(tmp_path, SMALL.replace("3..5", "3..6"))
    for path in (store, tmp_path):
        path.chmod(0o555)
    try:
        assert obliv.study.show(store).done == 30
        assert "check its permissions" in refusal(["run", str(file), "--store", str(store)], capsys)
    finally:
        tmp_path.chmod(0o755)


@pytest.mark.parametrize(
    ("message", "advice"),
    [
        ("attempt to write a readonly database", "it is read-only: change its permissions or name another file"),
        ("database or disk is full", "the disk is full: make space and run the same command again; finished cells are"),
        ("database is locked", "another program locked it"),
        ("disk I/O error", "check the disk and the space on it, and run the same command again; finished cells are"),
        ("unable to open database file", "check its permissions"),
        ("something new", "is damaged (something new): restore a copy"),
    ],
)
def test_errors_of_sqlite_say_what_to_do(finished: Path, message: str, advice: str) -> None:
    with pytest.raises(obliv.FileError, match=re.escape(advice)), opened(finished):
        raise sqlite3.OperationalError(message)


@pytest.mark.nightly
def test_a_disk_that_fills(finished: Path, tmp_path: Path) -> None:
    """Files may grow to 64 KiB: what is finished is kept, and the same command goes on when there is space."""
    written(tmp_path, SMALL.replace("3..5", "3..12"))
    words = [sys.executable, "-B", "-m", "obliv", "study", "run", "small.study.toml", "--store", "s.db", "-j", "1"]

    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 10, 64 << 10))

    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, preexec_fn=limited)
    assert done.returncode == 2
    (line,) = messages(done.stderr).splitlines()
    assert "run the same command again; finished cells are kept" in line
    obliv.study.run(tmp_path / "small.study.toml", tmp_path / "s.db", jobs=1)
    obliv.study.run(tmp_path / "small.study.toml", tmp_path / "t.db", jobs=1)
    assert obliv.study.export(tmp_path / "s.db") == obliv.study.export(tmp_path / "t.db")
    assert json.loads(obliv.study.export(tmp_path / "s.db", "json"))["cells"][0]["status"] == "done"


def test_a_store_that_another_run_makes_while_it_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its application and its tables were once read at two moments: between them, the other run had made both."""
    path, connect = tmp_path / "store.db", sqlite3.connect
    pragmas: list[str] = []

    class Slow(sqlite3.Connection):
        def execute(self, statement: str, *values: object) -> sqlite3.Cursor:
            pragmas.extend([statement] * statement.startswith("PRAGMA"))
            if len(pragmas) == 2:  # between the first and the second
                monkeypatch.setattr(sqlite3, "connect", connect)
                with opened(path, write=True):
                    pass
            return super().execute(statement, *values)

    monkeypatch.setattr(sqlite3, "connect", lambda *args, **named: connect(*args, **named, factory=Slow))
    with opened(path, write=True):
        pass
    assert len(pragmas) > 2
