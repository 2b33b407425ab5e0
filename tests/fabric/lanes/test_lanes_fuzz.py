"""Files about lanes that are damaged, any bytes, and of any length."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fabric import spelled
from tests.fabric.mutations import LANE_PARSERS, LANES, WORDS, fuzz

from obliv.errors import OblivError
from obliv.fabric.kernels.rows import read_rows
from obliv.fabric.lanes.pairs import read_levels
from obliv.fabric.lanes.sl2vl import read_sl2vl

FABRIC = spelled.random_fabric(np.random.default_rng(1))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("parser", LANE_PARSERS)
def test_damaged_files(parser: str, tmp_path: Path) -> None:
    outcome = fuzz(parser, 12, 1, tmp_path)
    assert outcome.total() == 12


@pytest.mark.nightly
@pytest.mark.parametrize("parser", LANE_PARSERS)
def test_very_many_damaged_files(parser: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_rows, "hot", True)  # small files are read by the interpreted kernel otherwise
    outcome = fuzz(parser, 20_000, 2, tmp_path)
    assert outcome["noticed"] + outcome["refused"] > 2_000


@given(
    st.lists(st.one_of(st.sampled_from(WORDS), st.binary(max_size=8)), max_size=60).map(b"".join),
    st.sampled_from(sorted(LANES)),
)
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes, parser: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any lanes"
    path.write_bytes(data)
    try:
        LANES[parser](path, FABRIC)
    except OblivError as error:
        assert str(error).isprintable()


GUID = b"0x%016x" % int(FABRIC.nodes.guid[FABRIC.switches[0]])
LID = b"%d" % int(FABRIC.ports.lid[FABRIC.endpoints[0]])
ROW = b"1 1 :" + b" 0" * 16 + b"\n"
GROWING = {
    "blanks": (b"1 1 :", b" ", b"\n"),
    "bars": (b"ports: in 1, out 1:", b"|", b"\n"),
    "digits": (b"", b"1", b"\n"),
    "rows without a heading": (b"", ROW, b""),
    "headings": (b"", b"Switch " + GUID + b', base LID 1, "x"\n', b""),
    "headings and rows": (b"", b"Switch " + GUID + b', base LID 1, "x"\n' + ROW, b""),
    "strangers": (b"", b'Switch 0xff, base LID 1, "x"\n' + ROW, b""),
    "half rows": (b"", b"1 1 : 0\n", b""),
    "rows and half rows": (b"Switch " + GUID + b', base LID 1, "x"\n', ROW + b"1 1 : 0\n", b""),
    "hex rows": (b"", GUID + b" 1 1" + b" 0x00" * 8 + b"\n", b""),
    "half hex rows": (b"", GUID + b" 1 1\n", b""),
    "records": (b"", b"SL2VLTableRecord dump:\n", b""),
    "fields": (b"", b"LID....1\n", b""),
    "dots": (b"LID", b".", b"\n"),
    "levels": (b"12 13 ", b"1,", b"\n"),
    "columns": (b"0x0001 : 1", b" : 1", b"\n"),
    "pairs": (b"", LID + b" " + LID + b" 1\n", b""),
    "half pairs": (b"", LID + b" 99\n" + LID + b"\n", b""),
    "kinds in turn": (b"", LID + b" " + LID + b" 1\n0x00000000000000ff " + LID + b" 1\n", b""),
    "path fields": (b"", b"slid....1\n", b""),
    "path records": (b"", b"PathRecord dump:\n", b""),
    "noise": (b"", b"x\n", b""),
    "line ends": (b"", b"\n", b""),
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", GROWING)
@pytest.mark.parametrize("read", [read_sl2vl, read_levels])
def test_time_grows_with_the_length_only(
    name: str, read: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two hundred thousand bytes take less than a second or two, and a few times that a few times as long."""
    monkeypatch.setattr(read_rows, "hot", True)

    def seconds(length: int) -> float:
        before, middle, after = GROWING[name]
        path = tmp_path / "grown"
        path.write_bytes(before + middle * (length // len(middle)) + after)
        best = np.inf
        for _ in range(2):
            start = time.process_time()
            try:
                read(path, FABRIC)  # type: ignore[operator]
            except OblivError as error:
                assert str(error).isprintable()
            best = min(best, time.process_time() - start)
        return float(best)

    small = seconds(200_000)
    assert small < 2
    assert seconds(800_000) < 10 * small + 0.2
