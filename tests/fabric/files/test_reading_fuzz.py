"""Whatever a file holds, it is read or refused in one line, in time that grows with its length only."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import islice, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fabric import spelled
from tests.fabric.files.test_discover import write  # noqa: F401
from tests.fabric.mutations import PARSERS, WORDS, fuzz

from obliv.errors import OblivError
from obliv.fabric.files.far import read_groups
from obliv.fabric.files.folder import read_fabric, read_tables
from obliv.fabric.kernels.rows import read_rows

Write = Callable[..., Path]
FABRIC = spelled.random_fabric(np.random.default_rng(1))


@pytest.mark.sampled(8)
@pytest.mark.parametrize("parser", [*PARSERS, "both"])
def test_damaged_files(parser: str, tmp_path: Path) -> None:
    outcome = fuzz(parser, 150, 1, tmp_path)
    assert outcome.total() == 150
    assert outcome["noticed"] + outcome["refused"] > 100  # damage is not missed as a rule
    assert outcome["refused"] < 50 or parser in ("guid2lid", "ibdiagnet2.far")  # nor is it fatal, but to short files


@pytest.mark.nightly
@pytest.mark.parametrize("parser", [*PARSERS, "both"])
def test_very_many_damaged_files(parser: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_rows, "hot", True)  # small files are read by the interpreted kernel otherwise
    fuzz(parser, 20_000, 2, tmp_path)


@given(st.lists(st.one_of(st.sampled_from(WORDS), st.binary(max_size=8)), max_size=60).map(b"".join), st.booleans())
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes, tables: bool) -> None:
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(data)
    try:
        _ = read_tables(path, FABRIC) if tables else read_fabric(path)
    except OblivError as error:
        assert str(error).isprintable()


HEAD = b'Switch 4 "S-00000000000000a1" # "one" base port 0 lid 1 lmc 0\n'
FAR = b"Switch 0x%x\n" % int(FABRIC.nodes.guid[FABRIC.switches[0]])
GROWING = {
    "quotes": (HEAD + b'[1] "a"[1] # ', b'"', b"\n"),
    "blanks": (HEAD + b'[1] "a"[1] # "', b' " ', b"lid\n"),
    "half ports": (HEAD, b'[1]"a"[1]#"', b"\n"),
    "half port lines": (HEAD, b'[1]"a"[1]#"\n', b""),
    "ports": (HEAD, b'[1] "S-00000000000000a1"[1]\n', b""),
    "peers": (HEAD, b'[1] "S-00000000000000a1"[2]\n[2] "x"[9]\n', b""),
    "heads": (b"", HEAD, b""),
    "comments before junk": (HEAD, b"#\n", b"junk\n"),
    "keys": (HEAD, b"vendid=0x1\n", b""),
    "lid digits": (HEAD + b'[1] "a"[1] # "b" lid ', b"1", b" 4xQDR\n"),
    "noise": (HEAD, b"x\n", b""),
    "line ends": (HEAD, b"\n", b""),
    "trouble": (HEAD, b"umad" * 20 + b"\n", b""),
    "rows": (b"", b"SW 1 1 0x1 4x QDR - ( '' - '' )\n", b""),
    "texts": (b"SW 1 1 0x1 4x QDR ( ", b"' - ", b"\n"),
    "links": (b"Switch: 0xa1 x:\n 1 1[ ] ==(", b')==> "', b"\n"),
    "ends": (b"", b"{ SW Ports:04 SystemGUID:1 NodeGUID:1 PortGUID:1 {} LID:1 PN:1 } ", b"\n"),
    "end lines": (b"", b"{ SW Ports:04 SystemGUID:1 NodeGUID:1 PortGUID:1 {" + b"} LID:1 PN:1 } " * 20 + b"\n", b""),
    "net dumps": (b'"a", M, 0x1, LID 1\n# : IB# : Sta : Neighbor Guid : N# :\n', b"1 : 1 : ACT : 0x2 : x : :\n", b""),
    "blocks": (b"", b'"a", M, 0x1, LID 1\n', b""),
    "quoted commas": (b'# : IB# : Sta : Neighbor Guid : N#\n"', b'",', b"\n"),
    "colons": (b'"a", M, 0x1, LID 1\n# : IB# : Sta : Neighbor Guid : N#\n', b":", b"\n"),
    "sections": (b"", b"START_NODES\nNodeDesc,NumPorts,NodeType,NodeGUID\n", b""),
    "links of a csv": (b"START_LINKS\nNodeGuid1,PortNum1,NodeGuid2,PortNum2\n", b"0x1,1,0x2,1\n", b""),
    "far ports": (b"START_PORTS\nNodeGuid,PortNum\n", b"0x1,1000000000\n", b""),
    "nodes of a csv": (b"START_NODES\nNodeDesc,NumPorts,NodeType,NodeGUID\n", b'"",999999999,2,0x1\n', b""),
    "entries": (b"Unicast lids [0-4] of switch Lid 1 guid 0xa1\n", b"0x0001 001 # portguid 0x", b"\n"),
    "moved": (b"Unicast lids [0-4] of switch Lid 1 guid 0xa1\n0x1 1 # portguid 0x7\n", b"0x1 1 # portguid 0x8\n", b""),
    "tables": (b"", b"Unicast lids [0-4] of switch Lid 1 guid 0xa1\n", b""),
    "long rows": (b"", b"Unicast lids [0-4] of switch Lid 1 guid 0xa1\n0xbfff 1\n", b""),
    "bad entries": (b"Unicast lids [0-4] of switch Lid 1 guid 0xa1\n", b"0x0001 999\n", b""),
    "blank lines": (b"Unicast lids [0-4] of switch Lid 1 guid 0xa1\n", b" \n", b""),
    "guids": (b"Unicast lids [", b"guid 0x", b"\n"),
    "groups": (FAR + b"Groups Definition:\n", b"1 0 0 5,6,\n", b""),
    "many groups": (FAR + b"Groups Definition:\n", b"".join(b"%d 0 0 5,\n" % k for k in range(9999)), b""),
    "ports of a group": (FAR + b"Groups Definition:\n1 0 0 ", b"5,", b"\n"),
    "half ports of a group": (FAR + b"Groups Definition:\n1 0 0 ", b"5,", b"6\n"),
    "group tables": (FAR + b"Groups Definition:\n1 0 0 5,\n", b"PLFT_NUM: 0, top: 0x1\n", b""),
    "group entries": (FAR + b"LFT Definition:\nPLFT_NUM: 0, top: 0xbfff\n", b"0x0001 1 Free 1\n", b""),
    "long group tables": (FAR, b"LFT Definition:\nPLFT_NUM: 0, top: 0x1\n0xbfff 1 Free 1\n", b""),
    "bad group entries": (FAR + b"LFT Definition:\nPLFT_NUM: 0, top: 0x1\n", b"0x0001 1 Fre 1\n", b""),
    "group switches": (b"", FAR + b"Groups Definition:\n", b""),
    "switch words": (FAR, b"word\n", b""),
    "group blanks": (FAR + b"Groups Definition:\n1 0 0", b" ", b"\n"),
}


def grown(name: str, length: int) -> bytes:
    """So many bytes of a kind."""
    if name == "names that are no text":
        bad = (bytes([a, b]) for a, b in product(range(0xC0, 0x100), repeat=2))  # two bytes that no text begins with
        heads = (b'Switch 4 "' + word * 2 + b'" # "x"\n' for word in bad)
        return b"".join(islice(heads, length // 23))
    before, middle, after = GROWING[name]
    return before + middle * (length // len(middle)) + after


@pytest.mark.nightly
@pytest.mark.parametrize("name", [*GROWING, "names that are no text"])
def test_time_grows_with_the_length_only(name: str, write: Write) -> None:  # noqa: F811
    """Two hundred thousand bytes take less than a second, and a few times that a few times as long."""

    def seconds(length: int) -> float:
        data = grown(name, length)
        path = write(data)
        best = np.inf
        for _ in range(2):
            start = time.process_time()
            try:
                if data.startswith(b"Switch 0x"):
                    _ = read_groups(path, FABRIC)
                else:
                    _ = read_tables(path, FABRIC) if data.startswith(b"Uni") else read_fabric(path)
            except OblivError as error:
                assert str(error).isprintable()
            best = min(best, time.process_time() - start)
        return float(best)

    small = seconds(200_000)
    assert small < 1
    assert seconds(800_000) < 10 * small + 0.2
