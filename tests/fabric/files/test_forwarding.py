"""Forwarding tables in the three spellings, by the LIDs of a fabric; broken files; the kernel in both modes."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fabric import spelled
from tests.fabric.files.test_discover import write  # noqa: F401

from obliv.errors import FileError
from obliv.fabric.files import raw_tables as _raw_tables
from obliv.fabric.files.folder import read, read_fabric, read_tables
from obliv.fabric.files.rows import store
from obliv.fabric.kernels.rows import RowsRead, read_rows
from obliv.fabric.model import NONE, Fabric, Tables
from obliv.fabric.names import with_lids
from obliv.fabric.results.check import Finding

Write = Callable[..., Path]
SPELLINGS = ("a", "a -a", "a -n", "b", "c")
NAMED = {"a": "ibroute", "b": "opensm", "c": "fdbs"}


def made(seed: int, *, lmc: int = 0) -> tuple[Fabric, Tables]:
    rng = np.random.default_rng(seed)
    fabric = spelled.random_fabric(rng, lmc=lmc)
    return fabric, spelled.random_tables(rng, fabric)


def rows(tables: Tables, fabric: Fabric) -> dict[int, list[int]]:
    return {int(fabric.nodes.guid[v]): row for v, row in zip(tables.switch.tolist(), tables.out.tolist(), strict=True)}


def kinds(findings: tuple[Finding, ...]) -> list[tuple[str, str, int]]:
    return [(result.severity, result.kind, result.line) for result in findings]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("seed", range(10))
def test_every_spelling_says_the_same(spelling: str, seed: int, write: Write) -> None:  # noqa: F811
    fabric, tables = made(seed, lmc=seed % 3)
    text = spelled.tables_text(tables, fabric, spelling)
    for way in (
        text,
        text.replace("\n", "\r\n"),
        "\ufeff" + text,
        "\n*** WARNING ***: this command has been replaced\n" + text,
    ):
        path = write(way)
        result = read_tables(path, fabric)
        assert rows(result, fabric) == rows(tables, fabric)
        assert (result.findings, result.spelling) == ((), NAMED[spelling[0]])
        assert result.top == (0 if spelling == "c" else tables.out.shape[1] - 1)
        lines = path.read_bytes().split(b"\n")
        for node, line in zip(result.switch.tolist(), result.line.tolist(), strict=True):
            assert b"%016x" % int(fabric.nodes.guid[node]) in lines[line - 1]
    assert rows(read_tables(write(gzip.compress(text.encode())), fabric), fabric) == rows(tables, fabric)


def test_blocks_may_end_anywhere(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    fabric, tables = made(2, lmc=1)
    path = write(spelled.tables_text(tables, fabric, "a"))
    for size in (1, 7, 100, 4096):
        monkeypatch.setattr("obliv.fabric.files.assemble.FileBlocks.__init__.__defaults__", (size,))
        result = read_tables(path, fabric)
        assert (rows(result, fabric), result.findings) == (rows(tables, fabric), ())


@pytest.mark.parametrize("spelling", ["a", "b"])
@pytest.mark.parametrize("seed", range(6))
def test_entries_follow_their_ports_to_new_lids(spelling: str, seed: int, write: Write) -> None:  # noqa: F811
    """As OpenSM's own loader has it: base LID of the port in the fabric + the low LMC bits of the LID in the file."""
    fabric, tables = made(seed, lmc=seed % 3)
    path = write(spelled.tables_text(tables, fabric, spelling))
    ports = np.flatnonzero(fabric.ports.lid)
    rng = np.random.default_rng(seed)
    bases = 64 + 8 * rng.permutation(len(ports))
    lid = fabric.ports.lid.copy()
    lid[ports] = bases
    moved = fabric.with_ports(lid=lid)
    result = read_tables(path, moved)
    assert kinds(result.findings) == [("warning", "moved-lids", 1)]
    for node, row in zip(result.switch.tolist(), result.out, strict=True):
        k = tables.row_of[node]
        for slot in ports.tolist():
            for offset in range(1 << int(fabric.ports.lmc[slot])):
                old = int(fabric.ports.lid[slot]) + offset
                new = int(lid[slot]) + (old & ((1 << int(fabric.ports.lmc[slot])) - 1))
                assert row[new] == tables.out[k, old]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("lmc", [0, 2])
def test_lids_that_the_topology_lacks(spelling: str, lmc: int, write: Write) -> None:  # noqa: F811
    fabric, tables = made(5, lmc=lmc)
    tables.out[tables.out == NONE] = 1  # every LID stands somewhere
    nowhere = sorted(set(range(tables.out.shape[1])) - set(spelled.owners(fabric)))
    tables.out[:, nowhere] = NONE
    blank = fabric.with_ports(lid=np.zeros_like(fabric.ports.lid), lmc=np.zeros_like(fabric.ports.lmc))
    topology = write(spelled.ibnetdiscover(blank), "blank.net")
    lft = write(spelled.tables_text(tables, fabric, spelling), "lft")
    given = write(spelled.guid2lid(fabric), "guid2lid")
    if spelling in ("a", "a -a", "b"):
        learned, result = read(topology, lft=lft)
        np.testing.assert_array_equal(learned.ports.lid, fabric.ports.lid)
        np.testing.assert_array_equal(learned.ports.lmc, fabric.ports.lmc)
        assert result is not None
        assert rows(result, fabric) == rows(tables, fabric)
    else:
        learned, result = read(topology, lft=lft)
        assert result is not None
        assert not learned.ports.lid.any()
        assert kinds(result.findings) == [("error", "no-lids", 1)]
        assert "guid2lid" in result.findings[0].message
    messages, result = read(topology, lft=lft, guid2lid=given)
    assert result is not None
    np.testing.assert_array_equal(messages.ports.lid, fabric.ports.lid)
    assert (rows(result, fabric), result.findings) == (rows(tables, fabric), ())
    assert read(topology)[1] is None


@pytest.mark.parametrize("lmc", [0, 1, 3])
def test_the_lmc_that_a_list_of_ports_lacks(lmc: int, write: Write) -> None:  # noqa: F811
    fabric, tables = made(7, lmc=lmc)
    topology = write(spelled.port_list(fabric), "ports")
    for spelling in SPELLINGS:
        lft = write(spelled.tables_text(tables, fabric, spelling), "lft")
        scanned, result = read(topology, lft=lft)
        assert result is not None
        ends = scanned.endpoints
        if spelling in ("a", "a -a", "b"):
            assert set(scanned.ports.lmc[ends].tolist()) == {lmc}
            assert rows(result, scanned) == rows(tables, fabric)
        else:
            assert [each.kind for each in scanned.findings] == ["lmc-unknown"]
            messages, _ = read(topology, lft=lft, guid2lid=write(spelled.guid2lid(fabric), "guid2lid"))
            assert set(messages.ports.lmc[ends].tolist()) == {lmc}


def lost_last_lid(fabric: Fabric, tables: Tables, slot: int) -> int:
    """Take the last LID of a port out of all tables."""
    lid = int(fabric.ports.lid[slot]) + (1 << int(fabric.ports.lmc[slot])) - 1
    tables.out[:, lid] = NONE
    return lid


def test_a_lid_that_all_tables_lost_is_not_taken_for_one_that_never_was(write: Write) -> None:  # noqa: F811
    """LMC and LIDs come from guid2lid, or for want of one from what the tables show of other ports."""
    fabric, tables = made(7, lmc=1)
    lid = lost_last_lid(fabric, tables, int(fabric.endpoints[0]))
    lft = write(spelled.tables_text(tables, fabric, "b"), "lft")
    topology, lids = write(spelled.port_list(fabric), "ports"), write(spelled.guid2lid(fabric), "guid2lid")
    for guid2lid in (lids, None):
        scanned, result = read(topology, lft=lft, guid2lid=guid2lid)
        assert result is not None
        assert set(scanned.ports.lmc[scanned.endpoints].tolist()) == {1}
        assert (result.out[:, lid] == NONE).all()
        assert ("lmc-learned" in [each.kind for each in scanned.findings]) == (guid2lid is None)


def test_lids_of_different_moments_tell_no_lmc(write: Write) -> None:  # noqa: F811
    fabric, tables = made(7)
    lines = spelled.tables_text(tables, fabric, "b").splitlines(keepends=True)
    at = next(k for k, line in enumerate(lines) if "portguid" in line or "0x0" in line[:4])
    moved = f"0x{int(fabric.ports.lid.max()) + 30:04x}" + lines[at][6:]
    topology = write(spelled.port_list(fabric), "ports")
    scanned, _ = read(topology, lft=write("".join([*lines[: at + 1], moved, *lines[at + 1 :]]), "lft"))
    assert not scanned.ports.lmc.any()


def test_ports_without_guids_contradict_no_entry(write: Write) -> None:  # noqa: F811
    fabric, tables = made(5)
    nameless = fabric.with_ports(guid=np.zeros_like(fabric.ports.guid))
    path = write(spelled.tables_text(tables, fabric, "b"))
    assert rows(read_tables(path, nameless), fabric) == rows(tables, fabric)
    assert rows(read_tables(path, fabric), fabric) == rows(tables, fabric)
    others = fabric.with_ports(guid=np.where(fabric.ports.guid > 0, fabric.ports.guid + np.uint64(1 << 40), 0))
    result = read_tables(path, others)
    assert (result.out[:, fabric.ports.lid[fabric.endpoints]] == NONE).all()


def test_fewer_lids_in_the_topology_than_in_the_tables(write: Write) -> None:  # noqa: F811
    fabric, tables = made(5, lmc=2)
    smaller = fabric.with_ports(lmc=np.zeros_like(fabric.ports.lmc))
    result = read_tables(write(spelled.tables_text(tables, fabric, "b")), smaller)
    assert [each.kind for each in result.findings] == ["moved-lids", "lmc-mismatch"]


def test_tables_for_a_smaller_lmc_count_for_first_lids(write: Write) -> None:  # noqa: F811
    """A host with LID 7 in a file without LMC has LIDs 8 and 9 later: its entries are those of LID 8."""
    plain, tables = made(5)
    later = with_lids(plain, 1)
    result = read_tables(write(spelled.tables_text(tables, plain, "b")), later)
    assert "lmc-mismatch" in [one.kind for one in result.findings]
    for end in plain.endpoints.tolist():
        old, new = int(plain.ports.lid[end]), int(later.ports.lid[end])
        assert (result.out[:, new] == tables.out[:, old]).all()
        assert (result.out[:, new + 1] == NONE).all()


A1, A2 = 0xA1, 0xA2
TOPOLOGY = """Switch 4 "S-00000000000000a1" # "one" base port 0 lid 1 lmc 0
[1] "H-00000000000000b0"[1](b1) # "host b" lid 3 4xQDR
[2] "S-00000000000000a2"[2] # "two" lid 2 4xQDR

Switch 4 "S-00000000000000a2" # "two" base port 0 lid 2 lmc 0
[1] "H-00000000000000c0"[1](c1) # "host c" lid 4 4xQDR
[2] "S-00000000000000a1"[2] # "one" lid 1 4xQDR

Ca 1 "H-00000000000000b0" # "host b"
[1](b1) "S-00000000000000a1"[1] # lid 3 lmc 0 "one" lid 1 4xQDR

Ca 1 "H-00000000000000c0" # "host c"
[1](c1) "S-00000000000000a2"[1] # lid 4 lmc 0 "two" lid 2 4xQDR
"""
ONE = """Unicast lids [0-4] of switch Lid 1 guid 0x00000000000000a1 ('one'):
0x0001 000 # Switch portguid 0x00000000000000a1: 'one'
0x0002 002 # Switch portguid 0x00000000000000a2: 'two'
0x0003 001 # Channel Adapter portguid 0x00000000000000b1: 'host b'
0x0004 002 # Channel Adapter portguid 0x00000000000000c1: 'host c'
4 lids dumped
"""
TWO = """Unicast lids [0-4] of switch Lid 2 guid 0x00000000000000a2 ('two'):
0x0001 002 # Switch portguid 0x00000000000000a1: 'one'
0x0002 000 # Switch portguid 0x00000000000000a2: 'two'
0x0003 002 # Channel Adapter portguid 0x00000000000000b1: 'host b'
0x0004 001 # Channel Adapter portguid 0x00000000000000c1: 'host c'
4 lids dumped
"""
HEX = (ONE + TWO).replace("[0-4]", "[0x0-0x4]").replace("\n4 lids", "\n4 valid lids")
FDBS = """dump_ucast_routes: Switch 0x00000000000000a1
LID    : Port : Hops : Optimal
0x0001 : 000  : HOPS UNKNOWN
0x0002 : 002  : 01   : yes
0x0003 : 001  : 01   : yes
0x0004 : 002  : 04   : No 2 hop path possible via port 4!
osm_ucast_mgr_dump_ucast_routes: Switch 0x00000000000000a2
LID    : Port : Hops : Optimal
0x0001 : 002  : 01   : yes
0x0002 : 000  : 00   : yes
0x0003 : UNREACHABLE
0x0004 : 001  : 01   : yes
"""
PC, PD = "portguid 0x00000000000000c1", "portguid 0x00000000000000d1"
LAST = "0x0004 002 # Channel Adapter portguid 0x00000000000000c1: 'host c'\n"
MULTICAST = "Multicast mlids [0xc000-0xc3ff] of switch Lid 1 guid 0xa1\n     Ports: 0 1\n MLid\n0xc000        x\n"
FULL = {A1: [NONE, 0, 2, 1, 2], A2: [NONE, 2, 0, 2, 1]}


def without(base: dict[int, list[int]], *holes: tuple[int, int]) -> dict[int, list[int]]:
    return {
        guid: [NONE if (guid, lid) in holes else port for lid, port in enumerate(row)] for guid, row in base.items()
    }


@pytest.mark.parametrize(
    ("text", "expected", "found"),
    [
        (ONE + TWO, FULL, []),
        (HEX, FULL, []),
        (FDBS, without(FULL, (A2, 3)), []),
        (FDBS.removesuffix("\n"), without(FULL, (A2, 3)), []),
        (FDBS[:-6], without(FULL, (A2, 3), (A2, 4)), [("error", "cut-off", 7), ("error", "cut-off", 12)]),
        (FDBS[: FDBS.rindex("0x0004")], without(FULL, (A2, 3), (A2, 4)), [("error", "cut-off", 7)]),
        (ONE, {A1: FULL[A1]}, []),
        (ONE + TWO.replace("4 lids dumped\n", ""), FULL, [("error", "cut-off", 7)]),
        (ONE.replace("4 lids dumped\n", "") + TWO, FULL, [("error", "cut-off", 1)]),
        ((ONE + TWO)[:-30], without(FULL, (A2, 4)), [("error", "cut-off", 11)]),
        ((ONE + TWO)[:-14], FULL, [("error", "cut-off", 7)]),
        ((ONE + TWO)[:-15], without(FULL, (A2, 4)), [("error", "cut-off", 11)]),
        ((ONE + TWO)[:-3], FULL, [("error", "cut-off", 12)]),
        (ONE + TWO[:40], {A1: FULL[A1]}, [("error", "cut-off", 7)]),
        (HEX.replace(LAST, ""), without(FULL, (A1, 4)), [("error", "lost-entries", 5)]),
        (ONE + TWO.replace("a2 ('two'", "ff ('two'"), {A1: FULL[A1]}, [("error", "unknown-switch", 7)]),
        (
            ONE + TWO + ONE.replace("0x0004 002", "0x0004 001"),
            {**FULL, A1: [NONE, 0, 2, 1, 1]},
            [("warning", "duplicate-table", 13), ("warning", "duplicate-entry", 17)],
        ),
        (ONE.replace("0x0004", "0x0003") + TWO, {**FULL, A1: [NONE, 0, 2, 1, 2]}, [("warning", "mixed-tables", 1)]),
        (
            ONE.replace("0x0003 001 #", "0x0002 001 :") + TWO,
            {**FULL, A1: [NONE, 0, 2, 1, 2]},
            [("warning", "mixed-tables", 1)],
        ),
        (ONE.replace("0x0004 002", "0x0004 300") + TWO, without(FULL, (A1, 4)), [("error", "bad-entry", 5)]),
        (ONE.replace("0x0004 002", "0xc004 002") + TWO, without(FULL, (A1, 4)), [("error", "bad-entry", 5)]),
        (ONE.replace("0x0004 002", "0x0004 0x2") + TWO, without(FULL, (A1, 4)), [("error", "bad-entry", 5)]),
        (ONE.replace("c1: 'host", "c10000000000: 'host") + TWO, without(FULL, (A1, 4)), [("error", "bad-entry", 5)]),
        (ONE.replace("c1: 'host", "zz: 'host") + TWO, without(FULL, (A1, 4)), [("error", "bad-entry", 5)]),
        (
            ONE.replace("a1 ('one'", "azz ('one'") + TWO,
            {A2: FULL[A2]},
            [("error", "bad-entry", 1), ("warning", "bad-line", 7)],
        ),
        ("0x0004 001\n" + ONE + TWO, FULL, [("warning", "bad-line", 2)]),
        (
            "ibwarn: [7] _do_madrpc: recv failed: Connection timed out\n" + ONE + TWO,
            FULL,
            [("warning", "diagnostic", 1)],
        ),
        (ONE + "noise \x1b[31m\n" + TWO, FULL, [("warning", "bad-line", 7)]),
        (ONE + TWO + MULTICAST, FULL, []),
        (
            ONE.replace(PC, PD) + TWO,
            without(FULL, (A1, 4)),
            [("warning", "unknown-port", 1), ("warning", "mixed-tables", 7)],
        ),
        ((ONE + TWO).replace(PC, PD), without(FULL, (A1, 4), (A2, 4)), [("warning", "unknown-port", 1)]),
        ((ONE + TWO).replace(f"{PC}: 'host c'", f"{PC}: ' portguid 0x00000000000000b1"), FULL, []),
        (ONE.replace("0x0001 000 #", "0x0000 255 : (path #0 - illegal port)\n0x0001 000 #") + TWO, FULL, []),
    ],
)
def test_broken_tables(
    text: str,
    expected: dict[int, list[int]],
    found: list[tuple[str, str, int]],
    write: Write,  # noqa: F811
) -> None:
    fabric = read_fabric(write(TOPOLOGY, "topology"))
    path = write(text, "lft")
    tables = read_tables(path, fabric)
    assert rows(tables, fabric) == expected
    assert kinds(tables.findings) == found
    for finding in tables.findings:
        if "not a GUID" in finding.message:
            assert "zz" in finding.message or "c10000000000" in finding.message
            assert " LIDs are" not in finding.message
        if "switch of a table" in finding.message:
            continue
        if finding.kind in ("lost-entries", "bad-entry", "duplicate-table", "duplicate-entry"):
            assert (finding.guid, finding.switch) == (f"0x{A1:016x}", "one")
        if finding.kind == "unknown-switch":
            assert (finding.guid, finding.switch) == (f"0x{0xFF:016x}", None)
    for each in tables.findings:
        assert each.message.isprintable()
        assert each.file == str(path)


def test_tables_of_two_moments_go_by_the_names_of_their_ports(write: Write) -> None:  # noqa: F811
    """The second table was dumped when the hosts' LIDs were exchanged."""
    fabric = read_fabric(write(TOPOLOGY, "topology"))
    later = TWO.replace("0x0003", "0x0009").replace("0x0004", "0x0003").replace("0x0009", "0x0004")
    tables = read_tables(write(ONE + later, "lft"), fabric)
    assert rows(tables, fabric) == FULL
    assert [each.kind for each in tables.findings] == ["mixed-tables"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TOPOLOGY, "contains a topology, not forwarding tables"),
        ("Multicast mlids [0xc000-0xc3ff] of switch Lid 1 guid 0xa1\n", "multicast"),
        ("dump_mcast_routes: Switch 0x00000000000000a1\n", "multicast"),
        ("what\n", "contains no forwarding table"),
        (ONE.replace("a1 ('one'", "ff ('one'"), "contains no table of a switch of"),
        ("0x0001 001\n", "contains no forwarding table"),
    ],
)
def test_files_that_are_no_tables(text: str, message: str, write: Write) -> None:  # noqa: F811
    fabric = read_fabric(write(TOPOLOGY, "topology"))
    with pytest.raises(FileError, match=message) as raised:
        read_tables(write(text, "lft"), fabric)
    assert "\n" not in str(raised.value)


# The kernel: interpreted, compiled, and against a pattern.

_LINE = re.compile(
    rb"[ \t]*0[xX]([0-9a-fA-F]{1,8})(?=[ \t:])[ \t]*:?[ \t]*(?:(UNR)|([0-9]{1,4})(?=[ \t:#(\r\n]))([^\n]*)\n"
)


def by_pattern(data: bytes) -> list[tuple[int, int, int]] | None:
    """LID, port and GUID of every line, None where a line is no entry."""
    result = []
    for line in data.split(b"\n")[:-1]:
        entry = _LINE.fullmatch(line + b"\n")
        if entry is None:
            return None
        lid, port = int(entry[1], 16), 255 if entry[2] else int(entry[3])
        if lid >= 64 or port > 255:
            return None
        guid = -1
        if b"portguid 0x" in entry[4]:
            digits = re.match(rb"[0-9a-fA-F]{1,16}(?![0-9A-Za-z_])", entry[4].partition(b"portguid 0x")[2])
            if digits is None:
                return None
            guid = int(digits[0], 16)
        result.append((lid, port, guid))
    return result


def random_line(rng: np.random.Generator) -> bytes:
    lid = f"{int(rng.integers(0, 40)):0{int(rng.integers(1, 6))}x}"
    guid = f"{int(rng.integers(1, 4)) << int(rng.choice([0, 30, 60])):0{int(rng.choice([1, 16]))}x}"
    gap, port = rng.choice([" ", "  : ", ":", "\t"]), str(rng.choice(["003", "0", "255", "12", "UNREACHABLE"]))
    end = rng.choice(
        ["", " ", " \r", f" : (Switch portguid 0x{guid}: 'p portguid 0x1')", f" # x portguid 0x{guid}", "  : 02 : yes"]
    )
    line = f"0x{lid}{gap}{port}{end}\n".encode()
    if rng.random() < 0.3:  # a byte that is another one
        at = int(rng.integers(len(line) - 1))
        line = line[:at] + bytes([int(rng.choice(list(b"0x9aGp:# U\t\xff\r")))]) + line[at + 1 :]
    return line


class Fenced(np.ndarray[Any, Any]):
    """Bytes of which none may be asked for before the first or after the last."""

    def __getitem__(self, at: Any) -> Any:
        assert not isinstance(at, int | np.integer) or 0 <= at < len(self), at
        return super().__getitem__(at)


@pytest.mark.parametrize("seed", range(4))
def test_the_kernel_reads_no_byte_beyond_its_lines(seed: int) -> None:
    rng, lines = np.random.default_rng(seed), _raw_tables.entry_lines(7).tables
    words = [
        b"0x",
        b"0",
        b"0x1",
        b" ",
        b":",
        b"UN",
        b"UNR",
        b"portguid 0x",
        b"portguid",
        b"p",
        b"1f",
        b"\n",
        b"9",
        b"#",
    ]
    for _ in range(300):
        text = b"".join(words[k] for k in rng.integers(len(words), size=int(rng.integers(1, 12)))) + b"\n"
        data = np.frombuffer(text, np.uint8).view(Fenced)
        for stop in (len(text), len(text) - 1, len(text) + 1, 0):  # only the first is a line end for sure
            rows_, partial = np.zeros((5, 8), np.int64), np.zeros(5, np.int64)
            read = read_rows.python(data, 0, stop, lines, partial, rows_)
            assert 0 <= read.at <= max(stop, 0)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(4))
def test_the_kernel_reads_what_a_pattern_reads_in_both_modes(seed: int) -> None:
    rng, tables = np.random.default_rng(seed), _raw_tables.entry_lines(63)
    assert tables.fields == ("lid", "port", "named", "guid")
    stopped = 0
    for _ in range(150):
        lines = [random_line(rng) for _ in range(int(rng.integers(1, 6)))]
        data = np.frombuffer(b"".join(lines), np.uint8)
        outcome = []
        for function in (read_rows.python, read_rows.compiled()):
            rows_ = np.zeros((5, 8), np.int64)
            read = RowsRead(*map(int, function(data, 0, len(data), tables.tables, np.zeros(5, np.int64), rows_)))
            lid, port, named, guid, number = rows_[:, : read.rows]
            outcome.append((read, list(zip(lid, port, np.where(named, guid, -1), strict=True)), number.tolist()))
        assert outcome[0] == outcome[1]
        read, entries, numbers = outcome[0]
        read_lines = [line for k, line in enumerate(lines) if sum(map(len, lines[: k + 1])) <= read.at]
        expected = by_pattern(b"".join(read_lines))
        assert expected is not None
        signed = [(lid, port, guid - (guid >= 1 << 63) * (1 << 64)) for lid, port, guid in expected]
        assert entries == signed
        assert numbers == [*range(1, read.lines + 1)] == [*range(1, len(read_lines) + 1)]
        if len(read_lines) < len(lines):  # why it stopped
            assert by_pattern(lines[len(read_lines)]) is None
            stopped += 1
    assert stopped


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 2)), min_size=1), st.integers(0, 9))
def test_entries_are_stored_one_after_another(entries: list[tuple[int, int, int]], split: int) -> None:
    """As one by one: an entry contradicts the one before for its LID if that has other values."""
    tables = np.full(5, 255, np.uint8), np.zeros(5, np.uint16)
    conflicts: list[bool] = []
    for part in (entries[:split], entries[split:]):
        if part:
            lid, *values = np.array(part).T
            conflicts += store(tables, lid, tuple(values), 255).tolist()
    known: dict[int, tuple[int, int]] = {}
    expected = []
    for lid_, *values_ in entries:
        expected.append(known.get(lid_, tuple(values_)) != tuple(values_))
        known[lid_] = (values_[0], values_[1])
    assert conflicts == expected
    assert {k: (int(a), int(b)) for k, (a, b) in enumerate(zip(*tables, strict=True)) if a != 255} == known


def test_more_entries_of_other_ports_than_fit_at_once(write: Write) -> None:  # noqa: F811
    """They are taken away and reading goes on."""
    fabric = read_fabric(write(TOPOLOGY, "topology"))
    many = "".join(f"0x0003 00{k % 3} # x portguid 0x{k + 0x1000:016x}:\n" for k in range(10_000))
    tables = read_tables(write(ONE + TWO.replace("4 lids", many + "4 lids"), "lft"), fabric)
    assert rows(tables, fabric) == FULL
    assert "10000 entries give a LID to another port" in tables.findings[0].message


# What OpenSM wrote.

SAMPLES = Path(__file__).parents[1] / "samples"


@pytest.mark.parametrize(
    ("case", "found"),
    [
        ("loop", []),
        ("hole", []),
        ("wrong_ca", []),
        ("port_oob", []),
        ("missing_switch", []),
        ("truncated", [("error", "cut-off", 31), ("error", "cut-off", 17)]),
    ],
)
def test_the_bad_samples(case: str, found: list[tuple[str, str, int]]) -> None:
    """What can be noticed while reading; the rest is for the check."""
    fabric = read_fabric(SAMPLES / case / "ibnetdiscover.txt.gz")
    tables = read_tables(SAMPLES / f"{case}.lfts.gz", fabric)
    assert kinds(tables.findings)[-1:] == found[:1]


def test_no_manager_has_run() -> None:
    folder = SAMPLES / "no_sm"
    fabric, tables = read(folder / "ibnetdiscover.txt.gz", lft=folder / "dump_lfts.txt.gz")
    assert tables is not None
    assert "the subnet manager has not run" in tables.findings[-1].message
    assert (tables.out == NONE).all()
    assert len(tables.switch) == len(fabric.switches)
