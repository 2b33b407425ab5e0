"""SL-to-VL tables and service levels in every spelling, and files that contradict their fabric."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.fabric.by_hand import fabric_of
from tests.fabric.lanes import spelled_lanes as spelled

import obliv
from obliv.errors import FileError, InputError
from obliv.fabric.checks.check import check
from obliv.fabric.generate import from_topology, tables_of
from obliv.fabric.lanes.pairs import columns_of, read_levels
from obliv.fabric.lanes.read import read_arbitration, read_lanes, read_oper_vls
from obliv.fabric.lanes.sl2vl import MISSING, read_sl2vl
from obliv.fabric.model import Fabric
from obliv.fabric.results.check import Finding

FABRIC = from_topology(obliv.topology("torus:3x3"), lmc=1)
Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to_file(text: str) -> Path:
        path = tmp_path / "file"
        path.write_text(text)
        return path

    return to_file


def rows_of(seed: int = 1) -> spelled.Rows:
    return spelled.all_rows(FABRIC, np.random.default_rng(seed), lanes=16, holes=0.2)


def kinds(findings: tuple[Finding, ...]) -> list[tuple[str, str, int]]:
    return [(finding.severity, finding.kind, finding.line) for finding in findings]


def levels_in(path: Path, fabric: Fabric = FABRIC) -> spelled.Pairs:
    levels = read_levels(path, fabric)
    _, endpoint = columns_of(fabric)
    lids = [int(fabric.ports.lid[end]) + k for end in fabric.endpoints for k in range(1 << int(fabric.ports.lmc[end]))]
    masks = np.broadcast_to(levels.masks, (len(fabric.endpoints), len(endpoint)))
    return {
        (int(fabric.endpoints[s]), lids[k]): {sl for sl in range(16) if masks[s, k] >> sl & 1}
        for s, k in np.argwhere(masks).tolist()
    }


@pytest.mark.sampled(3)
@pytest.mark.parametrize("spelling", spelled.TABLES)
@pytest.mark.parametrize("packed", [False, True])
def test_tables_in_every_spelling(spelling: str, packed: bool, tmp_path: Path) -> None:
    rows = rows_of()
    path = tmp_path / "any.name"
    text = spelled.TABLES[spelling](FABRIC, rows).encode()
    path.write_bytes(gzip.compress(text) if packed else text)
    tables = read_sl2vl(path, FABRIC)
    assert tables.findings == ()
    first = FABRIC.first_slot
    for node in FABRIC.switches.tolist():
        ports = int(first[node + 1] - first[node])
        for entry in range(ports):
            for exit in range(ports):
                wanted = rows.get((node, entry, exit))
                found = [tables.lane(FABRIC, node, entry, exit, sl) for sl in range(16)]
                assert found == (wanted or [-1] * 16)
                if wanted and spelling == "slvl":
                    line = text.splitlines()[tables.line_of(node, entry, exit, FABRIC) - 1]
                    assert line.startswith(b"0x%016x %d %d " % (int(FABRIC.nodes.guid[node]), entry, exit))
    assert (tables.own != MISSING).any() == (spelling != "slvl")


@pytest.mark.parametrize("spelling", ["path records", "psl", "saquery"])
def test_levels_in_every_spelling(spelling: str, write: Write) -> None:
    pairs = spelled.pair_levels(FABRIC, np.random.default_rng(2), several=False, sls=16)
    assert levels_in(write(spelled.LEVELS[spelling](FABRIC, pairs))) == pairs


def test_path_records_old_new_and_short(write: Write) -> None:
    pairs = spelled.pair_levels(FABRIC, np.random.default_rng(3), several=False)
    assert levels_in(write(spelled.path_records(FABRIC, pairs, new=True))) == pairs
    assert read_levels(write(spelled.path_records(FABRIC, pairs, new=True)), FABRIC).engine == "lash"
    assert levels_in(write(spelled.path_records(FABRIC, pairs, short=True))) == pairs


def test_several_answers_are_joined(write: Write) -> None:
    pairs = spelled.pair_levels(FABRIC, np.random.default_rng(4))
    assert levels_in(write(spelled.plain(FABRIC, pairs))) == pairs
    one, other = (spelled.psl(FABRIC, {pair: {level} for pair in pairs}) for level in (1, 3))
    path = write(one + other)
    assert set(map(frozenset, levels_in(path).values())) == {frozenset({1, 3})}
    assert kinds(read_levels(path, FABRIC).findings) == [("note", "several-sls", len(pairs) + 1)]


def test_levels_by_destination_take_no_memory_by_pair(write: Write) -> None:
    lids = [int(FABRIC.ports.lid[end]) + k for end in FABRIC.endpoints for k in range(2)]
    levels = read_levels(write("".join(f"{lid} {lid % 3}\n" for lid in lids)), FABRIC)
    assert levels.masks.tolist() == [[1 << lid % 3 for lid in lids]]


@pytest.mark.parametrize(
    ("text", "line", "kind"),
    [
        ("1   2   : 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14\n", 4, "bad-lanes"),
        ("1   2   : 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 16\n", 4, "bad-lanes"),
        ("1   2   : 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0\n", 4, "bad-lanes"),
        ("1   99  : 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n", 4, "bad-port"),
        ("1   2   : 3 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n", 3, "duplicate-entry"),
        ("ibwarn: [7] timed out\n", 4, "diagnostic"),
        ('Switch 0x00000000000000ff, base LID 77, "gone"\n1 2 : ' + "0 " * 16 + "\n", 4, "unknown-switch"),
        ("1   2   : 0 1 2 3", 4, "cut-off"),
    ],
)
def test_defects_of_tables(text: str, line: int, kind: str, write: Write) -> None:
    guid, lid = int(FABRIC.nodes.guid[FABRIC.switches[0]]), int(FABRIC.ports.lid[FABRIC.first_slot[FABRIC.switches[0]]])
    head = f'Switch 0x{guid:x}, base LID {lid}, "x"\n#in out : 0\n'
    path = write(head + "1   2   : 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n" + text)
    assert [(found[1], found[2]) for found in kinds(read_sl2vl(path, FABRIC).findings)] == [(kind, line)]


def test_tables_of_another_moment(write: Write) -> None:
    guid = int(FABRIC.nodes.guid[FABRIC.switches[0]])
    path = write(f'Switch 0x{guid:x}, base LID 99, "x"\n1 2 : {"0 " * 16}\n')
    assert kinds(read_sl2vl(path, FABRIC).findings) == [("warning", "moved-lids", 1)]


GOOD = f"{FABRIC.ports.lid[FABRIC.endpoints[0]]} {FABRIC.ports.lid[FABRIC.endpoints[1]]} 1\n"


@pytest.mark.parametrize(
    ("text", "line", "kind"),
    [
        ("12 14 16\n", 2, "bad-sl"),
        ("12 14 1,99\n", 2, "bad-sl"),
        (f"9999 {FABRIC.ports.lid[FABRIC.endpoints[1]]} 1\n", 2, "unknown-port"),
        (f"{FABRIC.ports.lid[FABRIC.endpoints[1]]} 9999 1\n", 2, "stale-lids"),
        (f"0x00000000000000ff {FABRIC.ports.lid[FABRIC.endpoints[1]]} 1\n", 2, "unknown-port"),
        ('Channel Adapter 0xff, base LID 3, "x", port 1\n', 2, "unknown-port"),
        ("0x0009 : 2\n", 2, "bad-line"),
        ("12 14", 2, "cut-off"),
        ("ERROR: Query SA failed: Invalid argument\n", 2, "diagnostic"),
    ],
)
def test_defects_of_levels(text: str, line: int, kind: str, write: Write) -> None:
    assert [(found[1], found[2]) for found in kinds(read_levels(write(GOOD + text), FABRIC).findings)] == [(kind, line)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hello\n", "contains no SL between hosts"),
        ("\n \n", "contains no SLs of pairs"),
        ("9999 9998 1\n", "contains no SL between hosts"),
        ("# LID  : MTU : RATE\n", "lists MTU and rate only"),
        ("# SL2VL table: Lid 3\n", "contains SL-to-VL tables, not SLs"),
        ("vendid=0x2c9\nSwitch 4 \"S-00000000000000a1\" # \"x\"\n", "contains a topology, not SLs"),
        (GOOD + f"{FABRIC.ports.lid[FABRIC.endpoints[1]]} 1\n", "mixes lines by destination"),
    ],
)  # fmt: skip
def test_refused_levels(text: str, words: str, write: Write) -> None:
    with pytest.raises(FileError, match=words):
        read_levels(write(text), FABRIC)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("\n\n", "contains no SL-to-VL table"),
        ("hello\n", "contains no SL-to-VL table of a switch"),
        ("PathRecord dump:\n", "contains SLs of pairs, not SL-to-VL tables"),
        ("Unicast lids [0x0-0x1] of switch Lid 1 guid 0x1 ('x'):\n", "contains forwarding tables"),
    ],
)
def test_refused_tables(text: str, words: str, write: Write) -> None:
    with pytest.raises(FileError, match=words):
        read_sl2vl(write(text), FABRIC)


def test_a_misspelled_identity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileError, match=r"identiy: file not found; did you mean identity\?"):
        read_lanes(FABRIC, "identiy")
    with pytest.raises(FileError, match=r"density: file not found$"):
        read_lanes(FABRIC, tmp_path / "density")
    monkeypatch.chdir(tmp_path)
    Path("identiy").write_text("no tables\n")
    with pytest.raises(FileError) as caught:
        read_lanes(FABRIC, Path("identiy"))
    assert "did you mean" not in str(caught.value)


def test_adapters_with_two_ports_are_ambiguous_in_psl(write: Write) -> None:
    """Both ports get the SLs; the file cannot tell them apart."""
    fabric = fabric_of("hhs", [2, 1, 3], [((0, 1), (2, 1)), ((0, 2), (2, 2)), ((1, 1), (2, 3))])
    lids = [int(fabric.ports.lid[end]) for end in fabric.endpoints]
    path = write(f"0x0000000000000001 {lids[2]} 5\n")
    assert levels_in(path, fabric) == {(int(end), lids[2]): {5} for end in fabric.endpoints[:2]}
    assert kinds(read_levels(path, fabric).findings) == [("warning", "several-ports", 0)]


def test_lanes_of_ports(write: Write) -> None:
    lid = int(FABRIC.ports.lid[FABRIC.first_slot[FABRIC.switches[0]]])
    text = f"# Port info: Lid {lid} port 2\nVLCap:...................VL0-7\nOperVLs:.................VL0-1\n"
    other = f"# Port info: Lid {lid} port 3\nOperVLs:.........................VL0\n# Port info: Lid 999 port 1\n"
    oper = read_oper_vls(write(text + other), FABRIC)
    slot = FABRIC.slot(int(FABRIC.switches[0]), 2)
    assert oper.lanes[[slot, slot + 1, slot + 2]].tolist() == [2, 1, 0]
    assert oper.on_cables(FABRIC)[FABRIC.ports.peer[slot]] == 2
    assert kinds(oper.findings) == [("error", "unknown-port", 6)]


def test_arbitration(write: Write) -> None:
    lid = int(FABRIC.ports.lid[FABRIC.first_slot[FABRIC.switches[0]]])
    text = (
        f"# VLArbitration tables: Lid {lid} port 2 LowCap 8 HighCap 8\n# Low priority VL Arbitration Table:\n"
        "VL    : |0x0 |0x1 |0x2 |\nWEIGHT: |0x0 |0x4 |0x0 |\n# High priority VL Arbitration Table:\n"
        "VL    : |0x0 |0x1 |0x2 |\nWEIGHT: |0x4 |0x0 |0x0 |\n"
    )
    read = read_arbitration(write(text), FABRIC)
    assert read.served == {FABRIC.slot(int(FABRIC.switches[0]), 2): 0b11}


def test_rules(write: Write) -> None:
    assert read_lanes(FABRIC, sl="3").levels.masks.tolist() == [[8]]
    for sl in ("16", "-1"):
        with pytest.raises(InputError, match="out of range"):
            read_lanes(FABRIC, sl=sl)
    with pytest.raises(InputError, match="1, 2, 4, 8 or 15"):
        read_lanes(FABRIC, oper_vls=3)
    for no_number in ("--3", "²"):
        with pytest.raises(InputError, match="file not found"):
            read_lanes(FABRIC, sl=no_number)
        with pytest.raises(InputError, match="file not found"):
            read_lanes(FABRIC, oper_vls=no_number)
    with pytest.raises(InputError, match="SLs differ, but no SL-to-VL tables"):
        read_lanes(FABRIC, sl=write(GOOD + GOOD.replace("1\n", "2\n")))


def test_fewer_lanes_than_the_tables_name() -> None:
    """With two lanes on, VL 2 becomes VL 0: SLs 0 and 2 share it, and a ring that lanes kept free has a cycle."""
    topology = obliv.topology("ring:5")
    fabric = from_topology(topology)
    tables = tables_of(obliv.routing("shortest", topology), fabric)
    ends = fabric.endpoints.tolist()
    lids = [int(fabric.ports.lid[end]) for end in ends]
    levels = {
        (s, lid): {2 * (abs(ends.index(s) - k) > 2)}
        for s in ends
        for k, lid in enumerate(lids)
        if lid != fabric.ports.lid[s]
    }
    wanted = [(8, True), (4, True), (2, False), (1, False)]
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "pairs")
        path.write_text(spelled.plain(fabric, levels))
        for lanes, free in wanted:
            result = check(fabric, tables, lanes=read_lanes(fabric, "identity", path, oper_vls=lanes))
            assert result.credit is not None
            assert result.credit.acyclic == free
            assert bool(result.of("lane-beyond")) == bool(result.of("shared-lanes")) == (lanes < 4)
