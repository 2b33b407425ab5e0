"""Files are read whole or refused, and written whole or not at all."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest

from obliv._util.files import read_bytes, read_json, together, unpacked, write_pieces, write_whole
from obliv._util.text import plural, printable
from obliv.errors import FileError


def test_joined_compressed_files_are_read_to_the_end(tmp_path: Path) -> None:
    path = tmp_path / "joined.gz"
    path.write_bytes(gzip.compress(b"one\n") + gzip.compress(b"two\n") + bytes(300))
    assert read_bytes(path) == b"one\ntwo\n"


def test_very_many_joined_files(tmp_path: Path) -> None:
    path = tmp_path / "members.gz"
    path.write_bytes(gzip.compress(b"x") * 100_000)
    assert read_bytes(path) == b"x" * 100_000


@pytest.mark.parametrize("keep", [2, 11, 30, -1])
def test_compressed_files_that_are_cut_short(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(b"a line of text\n" * 9)[:keep])
    with pytest.raises(FileError, match="cut short"):
        read_bytes(path)


def test_compressed_files_that_are_damaged(tmp_path: Path) -> None:
    path = tmp_path / "damaged.gz"
    path.write_bytes(gzip.compress(b"one\n") + b"two\n")
    with pytest.raises(FileError, match="damaged"):
        read_bytes(path)


def test_what_a_compressed_file_may_hold() -> None:
    data = gzip.compress(bytes(100_000))
    assert sum(map(len, unpacked([data], "x", 100_000))) == 100_000
    with pytest.raises(FileError, match="holds more than 99999 bytes"):
        list(unpacked([data], "x", 99_999))


@pytest.mark.parametrize("there", [True, False])
def test_writing_that_breaks_off_leaves_what_was_there(tmp_path: Path, there: bool) -> None:
    path = tmp_path / "file"
    if there:
        path.write_bytes(b"before")

    def pieces() -> Iterator[bytes]:
        yield b"half"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_pieces(path, pieces())
    assert [each.name for each in tmp_path.iterdir()] == (["file"] if there else [])
    assert not there or path.read_bytes() == b"before"


@pytest.mark.parametrize("inner", [False, True])
def test_files_that_are_written_together_or_not_at_all(inner: bool, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_bytes(b"before")

    def both(last: bytes | None) -> None:
        with together():
            write_whole(first, b"after")
            with together() if inner else nullcontext():
                write_pieces(second, iter([b"half", last]))  # type: ignore[list-item]
            assert first.read_bytes() == b"before"

    with pytest.raises(TypeError):
        both(None)
    assert [each.name for each in tmp_path.iterdir()] == ["first"]
    assert first.read_bytes() == b"before"
    both(b"whole")
    assert (first.read_bytes(), second.read_bytes()) == (b"after", b"halfwhole")
    assert len(list(tmp_path.iterdir())) == 2
    write_whole(second, b"alone")
    assert second.read_bytes() == b"alone"


def test_a_link_keeps_its_place(tmp_path: Path) -> None:
    (tmp_path / "far").write_bytes(b"before")
    (tmp_path / "near").symlink_to("far")
    write_whole(tmp_path / "near", b"after")
    assert (tmp_path / "near").is_symlink()
    assert (tmp_path / "far").read_bytes() == b"after"


def test_what_is_printed_of_names() -> None:
    assert printable("host é 中 ½") == "host é 中 ½"
    assert printable("a\x1b[31m\nb\r\x07\u202e\x9b\udcff\u00a0\ufffe") == "a?[31m?b???????"
    assert printable("say 'no'", "'") == "say ?no?"
    assert [plural(n, "switch", "switches") for n in (0, 1, 2000)] == ["0 switches", "1 switch", "2,000 switches"]


def test_what_a_producer_cannot_make_is_its_own_fault(tmp_path: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"half"
        raise ValueError("no such number")

    with pytest.raises(ValueError, match="no such number"):
        write_pieces(tmp_path / "file", pieces())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("error", [KeyboardInterrupt, PermissionError(13, "Permission denied")])
@pytest.mark.parametrize("before", [(), ("first",), ("first", "second", "third")])
def test_a_failure_while_files_get_their_names_brings_back_all_old_ones(
    before: tuple[str, ...], error: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever of the renamings fails, or is the last one before an interrupt."""
    replace = os.replace
    old = dict.fromkeys(before, b"before")
    left: dict[str, bytes] = {}
    for failing in range(20):
        for path in tmp_path.iterdir():
            path.unlink()
        for name, data in old.items():
            (tmp_path / name).write_bytes(data)
        calls = iter(range(100))

        def once(source: Path, target: Path, failing: int = failing, calls: Iterator[int] = calls) -> None:
            number = next(calls)
            if number == failing and error is not KeyboardInterrupt:
                raise error
            replace(source, target)
            if number == failing:
                raise error

        monkeypatch.setattr(os, "replace", once)
        with suppress(FileError, KeyboardInterrupt), together():
            for name in ("first", "second", "third"):
                write_whole(tmp_path / name, b"after")
        left = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        if failing >= 3 + len(before):
            break
        assert left == old
    assert left == dict.fromkeys(("first", "second", "third"), b"after")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"SQLite format 3\0\x10\0", "is an SQLite file; obliv study and obliv report read stores of studies"),
        (b"a b\nb c\n", "a JSON object is needed"),
        (b"[1, 2]", "a JSON object is needed"),
        (b'{"a": "cut', r"invalid JSON: Unterminated string starting \(character 7 of the line\)"),
    ],
)
def test_what_is_no_claim_is_told_apart(tmp_path: Path, data: bytes, says: str) -> None:
    path = tmp_path / "claim.json"
    path.write_bytes(data)
    with pytest.raises(FileError, match=says):
        read_json(path)
