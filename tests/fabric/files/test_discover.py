"""Topologies in every dialect, what each says of a broken file, and that the quick way reads what the slow way does."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.fabric import spelled

from obliv.errors import FileError
from obliv.fabric.files import ibnetdiscover as discover
from obliv.fabric.files.folder import dialect_of, read_fabric
from obliv.fabric.model import Fabric

Write = Callable[..., Path]

DIALECTS = {
    "ibnetdiscover": spelled.ibnetdiscover,
    "ibnetdiscover -p": spelled.port_list,
    "iblinkinfo": spelled.link_info,
    "opensm-subnet.lst": spelled.subnet,
}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def make(content: str | bytes, name: str = "fabric.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return make


def kinds(fabric: Fabric) -> list[tuple[str, str, int]]:
    return [(result.severity, result.kind, result.line) for result in fabric.findings]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("seed", range(12))
def test_every_dialect_says_the_same(dialect: str, seed: int, write: Write) -> None:
    fabric = spelled.random_fabric(np.random.default_rng(seed), lmc=seed % 3)
    path = write(DIALECTS[dialect](fabric))
    assert dialect_of(path) == dialect
    found = read_fabric(path)
    assert spelled.meaning(found) == spelled.meaning(fabric)
    assert [each for each in found.findings if each.kind not in ("no-cables", "loopback")] == []
    if dialect == "ibnetdiscover":
        np.testing.assert_array_equal(found.ports.lid, fabric.ports.lid)
        np.testing.assert_array_equal(found.ports.lmc, fabric.ports.lmc)
        np.testing.assert_array_equal(found.ports.guid, fabric.ports.guid)
        assert (found.nodes.ident, found.nodes.description, found.nodes.kind) == (
            fabric.nodes.ident,
            fabric.nodes.description,
            fabric.nodes.kind,
        )
        lines = path.read_text().split("\n")
        for slot in np.flatnonzero(found.ports.peer >= 0).tolist():
            assert lines[found.ports.line[slot] - 1].startswith(f"[{found.port_of(slot)}]")
        for node in range(len(found.nodes)):
            assert found.nodes.ident[node] in lines[found.nodes.line[node] - 1]


@pytest.mark.parametrize("seed", range(6))
def test_long_link_lists(seed: int, write: Write) -> None:
    fabric = spelled.random_fabric(np.random.default_rng(seed))
    result = read_fabric(write(spelled.link_info(fabric, long=True)))
    assert spelled.meaning(result) == spelled.meaning(fabric)


def test_a_port_below_the_heading_of_the_next_node_is_noticed(write: Write) -> None:
    lines = spelled.link_info(spelled.random_fabric(np.random.default_rng(0))).splitlines(keepends=True)
    k = next(k for k in range(2, len(lines)) if lines[k - 2].startswith("CA:") and lines[k].startswith("CA:"))
    lines[k - 1 : k + 1] = lines[k - 1 : k + 1][::-1]
    findings = read_fabric(write("".join(lines))).findings
    assert [(finding.severity, finding.line) for finding in findings if finding.kind == "missing-record"] == [
        ("error", k - 1)
    ]


def test_options_spaces_line_ends_marks_and_compression_change_nothing(write: Write) -> None:
    fabric = spelled.random_fabric(np.random.default_rng(3), lmc=1)
    text = spelled.ibnetdiscover(fabric)
    ways = {
        "full": spelled.ibnetdiscover(fabric, full=True),
        "spaces": spelled.ibnetdiscover(fabric, tab="  "),
        "crlf": text.replace("\n", "\r\n"),
        "mark": "\ufeff" + text,
        "chassis": text.replace("\nvendid", "\nChassis 1 (guid 0x2c9)\n\nNon-Chassis Nodes\n\nvendid", 1),
        "no end": text.removesuffix("\n"),
    }
    for name, way in ways.items():
        result = read_fabric(write(way))
        assert spelled.meaning(result) == spelled.meaning(fabric), name
        assert result.findings == read_fabric(write(text)).findings, name
    packed = gzip.compress(text.encode())
    for data in (packed, gzip.compress(text[:100].encode()) + gzip.compress(text[100:].encode())):
        assert spelled.meaning(read_fabric(write(data))) == spelled.meaning(fabric)
    with pytest.raises(FileError, match="cut short"):
        read_fabric(write(packed[:-20]))
    with pytest.raises(FileError, match="damaged"):
        read_fabric(write(packed[:40] + b"\xff\xff\xff" + packed[43:]))


UNEVEN = """ibwarn: [4711] a diagnostic line
#
vendid=0x1
devid=0x2
switchguid=0xa0(a0)
Switch 8 "S-00000000000000a0" # "spine" enhanced port 0 lid 3 lmc 0
[1] "S-00000000000000a0"[2] # "spine" lid 3 4xEDR
[2] "S-00000000000000a0"[1] # "spine" lid 3 4xEDR
[4] "H-00000000000000b0"[1](b1) # "twin" lid 10 4xSDR
[5] "H-00000000000000b0"[2](b2) # "twin" lid 14 4xQDR

vendid=0x1
devid=0x3
caguid=0xb0
Ca 2 "H-00000000000000b0" # "twin"
[1](b1) "S-00000000000000a0"[4] # lid 10 lmc 1 "spine" lid 3 1xSDR
[2](b2) "S-00000000000000a0"[5] # lid 14 lmc 1 "spine" lid 3 4xQDR
"""


def test_what_real_fabrics_have(write: Write) -> None:
    """A diagnostic line first, a switch cabled to itself, an adapter with two ports, ends that differ in speed."""
    fabric = read_fabric(write(UNEVEN))
    assert (len(fabric.switches), len(fabric.endpoints)) == (1, 2)
    assert sorted(kinds(fabric)) == [("warning", "diagnostic", 1), ("warning", "unequal-rate", 9)]
    unequal = next(result for result in fabric.findings if result.kind == "unequal-rate")
    assert "4xSDR" in unequal.message
    assert "1xSDR" in unequal.message
    assert set(fabric.ports.lmc[fabric.endpoints].tolist()) == {1}
    own = int(fabric.switches[0])
    assert [int(fabric.ports.peer[fabric.slot(own, port)]) for port in (1, 2)] == [
        fabric.slot(own, 2),
        fabric.slot(own, 1),
    ]
    assert fabric.rate_at(fabric.slot(own, 1)) == Fraction(100)
    assert sorted(fabric.ports.lid[fabric.endpoints].tolist()) == [10, 14]


def test_short_net_files_of_ibsim(write: Write) -> None:
    text = (
        'Switch\t8 "Switch1"\n[1]\t"Hca1"[1]\n[4] "Hca2" [1]\tw=12\n\n'
        'Hca 2 "Hca1"\n[1]\t"Switch1"[1]\n\nHca 1 "Hca2"\n[1] "Switch1"[4]\n'
    )
    fabric = read_fabric(write(text))
    assert (fabric.nodes.ident, fabric.nodes.kind) == (("Switch1", "Hca1", "Hca2"), ("switch", "ca", "ca"))
    assert (len(fabric.endpoints), fabric.findings) == (2, ())
    assert not fabric.ports.lid.any()
    assert (fabric.ports.rate == -1).all()
    orders = read_fabric(write("module=x\ninclude <more>\ndo save y\n" + text))
    assert kinds(orders) == [("warning", "not-followed", 2), ("warning", "not-followed", 3)]


SWITCH = 'vendid=0x2c9\nswitchguid=0xa1(a1)\nSwitch 4 "S-00000000000000a1" # "one" base port 0 lid 1 lmc 0\n'
HOST = 'vendid=0x2c9\ncaguid=0xb0\nCa 1 "H-00000000000000b0" # "host"\n'
PORT = '[2] "H-00000000000000b0"[1](b1) # "host" lid 5 4xQDR\n'
BACK = '[1](b1) "S-00000000000000a1"[2] # lid 5 lmc 0 "one" lid 1 4xQDR\n'
GOOD = SWITCH + PORT + "\n" + HOST + BACK


def test_the_base_of_the_broken_files_is_sound(write: Write) -> None:
    assert read_fabric(write(GOOD)).findings == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (GOOD.replace('"[2] #', '"[3] #'), [("error", "asymmetric-cable", 4), ("error", "one-sided-cable", 9)]),
        (GOOD.replace(BACK, ""), [("warning", "no-cables", 8), ("error", "one-sided-cable", 4)]),
        (SWITCH + PORT, [("error", "missing-record", 4), ("error", "one-sided-cable", 4)]),
        (GOOD.replace("lid 1 4xQDR", "lid 1 1xSDR"), [("warning", "unequal-rate", 4)]),
        (GOOD.replace('"host" lid 5 ', '"host" lid 6 '), [("warning", "lid-mismatch", 4)]),
        (GOOD.replace('[1](b1) # "host"', '[1](b2) # "host"'), [("warning", "guid-mismatch", 4)]),
        (GOOD.replace("lid 5", "lid 1"), [("error", "duplicate-lid", 9)]),
        (GOOD.replace("lid 5", "lid 60000"), [("error", "bad-lid", 9)]),
        (GOOD.replace("lid 5 lmc 0", "lid 5 lmc 9"), [("error", "bad-lid", 9)]),
        (GOOD.replace("lid 5 lmc 0", "lid 5 lmc 1"), [("warning", "bad-lid", 9)]),
        (GOOD.replace("(b1)", "(a1)"), [("error", "duplicate-guid", 9)]),
        (GOOD + "\n" + GOOD, [("error", "duplicate-guid", 13), ("error", "duplicate-guid", 18)]),
        ("# Topology file: generated on\n" + GOOD + "# Topology file: g\n", [("error", "two-scans", 11)]),
        (GOOD.replace(PORT, PORT + PORT), [("error", "duplicate-port", 5)]),
        (GOOD.replace(PORT, PORT + '[3] "S-00000000000000a1"[3]\n'), [("warning", "loopback", 5)]),
        (GOOD.replace(PORT, PORT + '[0] "S-00000000000000a1"[3]\n'), [("error", "bad-port", 5)]),
        (GOOD.replace(PORT, PORT + '[3] "S-00000000000000a1"[255]\n'), [("error", "bad-port", 5)]),
        (
            GOOD.replace("[2]", "[7]"),
            [("error", "bad-port", 4), ("error", "bad-port", 9), ("error", "one-sided-cable", 4)],
        ),
        (GOOD.replace("caguid=0xb0", "caguid=0xb9"), [("warning", "guid-mismatch", 8)]),
        (GOOD.replace("caguid=0xb0", "caguid=0xa1"), [("warning", "guid-mismatch", 8), ("error", "duplicate-guid", 8)]),
        ("ibwarn: [12] mad_rpc: timed out\n" + GOOD, [("warning", "diagnostic", 1)]),
        ("ibwarn: [12] sim_connect: attached as client 0 at node\n" + GOOD, []),
        (GOOD + "what is this\x1b[31m\n", [("warning", "bad-line", 10)]),
        (GOOD + "x" * 100_000 + "\n", [("warning", "bad-line", 10)]),
        (PORT + GOOD, [("warning", "bad-line", 1)]),
        (GOOD.replace('# "host" lid 5 4xQDR', "# half"), [("warning", "bad-line", 4)]),
        (GOOD[:-3], [("error", "cut-off", 9)]),
        (GOOD[:-30], [("warning", "bad-line", 9), ("error", "cut-off", 9)]),
        (
            GOOD[: -len(BACK) + 5],
            [
                ("warning", "bad-line", 9),
                ("error", "cut-off", 9),
                ("warning", "no-cables", 8),
                ("error", "one-sided-cable", 4),
            ],
        ),
    ],
)
def test_what_is_noticed(text: str, expected: list[tuple[str, str, int]], write: Write) -> None:
    fabric = read_fabric(write(text))
    assert kinds(fabric) == expected
    for result in fabric.findings:
        assert "\n" not in result.message
        assert result.message.isprintable()
        assert (result.switch is None) == (result.kind in ("bad-line", "diagnostic", "two-scans", "cut-off"))
        assert result.file == str(write(text))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (GOOD.replace('"[2] #', '"[3] #'), ("one", 2, "H-00000000000000b0 ('host') port 1")),
        (GOOD.replace('"host" lid 5 ', '"host" lid 6 '), ("host", 1, "S-00000000000000a1 ('one') port 2")),
        (GOOD.replace(BACK, "").replace(HOST, ""), ("host", None, None)),
        (GOOD.replace("lid 1 4xQDR", "lid 1 1xSDR"), ("one", 2, "H-00000000000000b0 ('host') port 1")),
        (GOOD.replace("lid 5 lmc 0", "lid 5 lmc 9"), ("host", 1, None)),
        (GOOD.replace(PORT, PORT + PORT), ("one", 2, None)),
        (GOOD.replace(PORT, PORT + '[3] "S-00000000000000a1"[3]\n'), ("one", 3, "S-00000000000000a1 ('one') port 3")),
        (GOOD.replace("[2]", "[7]"), ("one", 7, None)),
    ],
)
def test_findings_have_their_place_in_fields(
    text: str, place: tuple[str, int | None, str | None], write: Write
) -> None:
    finding = read_fabric(write(text)).findings[0]
    assert (finding.switch, finding.port, finding.peer) == place
    assert finding.guid == ("0x00000000000000a1" if place[0] == "one" else "0x00000000000000b0")


def test_a_cable_of_which_the_ends_disagree_takes_no_port_from_another(write: Write) -> None:
    text = GOOD.replace(PORT, PORT + '[3] "H-00000000000000b0"[1](b1) # "host" lid 5 4xQDR\n')
    fabric = read_fabric(write(text))
    assert kinds(fabric) == [("error", "asymmetric-cable", 5)]
    assert fabric.ports.peer[fabric.slot(0, 3)] == -1
    assert fabric.ports.peer[fabric.slot(0, 2)] == fabric.slot(1, 1)
    assert "that port names S-00000000000000a1 ('one') port 2 on line 10" in fabric.findings[0].message


def test_a_switch_that_lost_its_record_is_kept(write: Write) -> None:
    fabric = read_fabric(write(HOST + BACK))
    assert (fabric.nodes.kind, fabric.nodes.description) == (("ca", "switch"), ("host", "one"))
    assert fabric.ports.lid[fabric.first_slot[1]] == 1
    assert fabric.nodes.guid.tolist() == [0xB0, 0xA1]


def test_names_are_never_keys_and_may_hold_anything(write: Write) -> None:
    texts = ['" lid 9 4xSDR', '"base port 0 lid 3 lmc 0', "] (b1) #", "same", "same", "\x1b[2J\x07", "ü€", "' - '"]
    for seed in range(8):
        fabric = spelled.random_fabric(np.random.default_rng(seed), texts=texts)
        result = read_fabric(write(spelled.ibnetdiscover(fabric)))
        assert result.nodes.description == fabric.nodes.description
        assert spelled.meaning(result) == spelled.meaning(fabric)
        assert all(each.message.isprintable() for each in result.findings)


def test_redacted_guids_and_strange_bytes(write: Write) -> None:
    hidden = GOOD.replace("S-00000000000000a1", "S-xxxxxxxxxxxxxxxx").replace("=0xa1(a1)", "=0xxxxx")
    fabric = read_fabric(write(hidden))
    assert (fabric.nodes.guid[0], fabric.findings) == (0, ())
    result = read_fabric(write(GOOD.encode().replace(b'"one"', b'"\xff\xfe\x00"')))
    assert result.nodes.description[0] == "\ufffd\ufffd\x00"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b"\n\n", "contains no topology"),
        (b"a b\n", "contains no topology of an InfiniBand fabric: it looks like a list of 1 edge, which"),
        (b"a bit of text\n", "contains no topology of an InfiniBand fabric; readable are"),
        (b"graph [ node [ id 0 ] ]\n", "a network in the format gml, which other commands take as"),
        (b"SwitchName=leaf1 Nodes=node[001-002]\n", ": it looks like a topology.conf of Slurm"),
        (b"node001\nnode002 # second\n", ": it looks like a list of hosts, which fabric job takes as its hosts"),
        (b"node[001-016] slots=4\n", ": it looks like a list of hosts"),
        (b"#StartDevice,StartPort,EndDevice,EndPort\na,1,b,1\n", "a cabling plan of UFM: give a scan"),
        (b"\x89PNG\r\n\x1a\n\0\0", "contains no topology"),
        (GOOD.encode("utf-16"), "UTF-16"),
        (b"vendid=0x2c9\n", "no readable record"),
        (b"Unicast lids [0-14] of switch Lid 2 guid 0x0002c90200001000 ('switch(0,0)'):\n", "give it as the tables"),
        (b"dump_ucast_routes: Switch 0x0002c90200001000\n", "give it as the tables"),
        (b"Multicast mlids [0xc000-0xc3ff] of switch\n", "give it as the tables"),
    ],
)
def test_files_that_are_no_topology(data: bytes, message: str, write: Write) -> None:
    with pytest.raises(FileError, match=message) as raised:
        read_fabric(write(data))
    assert "\n" not in str(raised.value)


def test_places_that_are_no_files(tmp_path: Path) -> None:
    for path, message in ((tmp_path, "directory"), (tmp_path / "none", "file not found"), ("a\0b", "file name")):
        with pytest.raises(FileError, match=message):
            read_fabric(path)


def test_very_many_findings_are_counted(write: Write) -> None:
    fabric = read_fabric(write(GOOD + "nonsense\n" * 1000))
    assert len(fabric.findings) < 300
    assert fabric.findings[-1].message == "and 800 more like these"


@pytest.mark.sampled(48)
@pytest.mark.parametrize("seed", range(60))
def test_the_quick_way_reads_what_the_slow_way_reads(seed: int, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    fabric = spelled.random_fabric(rng, lmc=seed % 2)
    lines = spelled.ibnetdiscover(fabric).split("\n")
    for _ in range(seed % 4):  # lines that vanish, move or are said again
        a, b = rng.integers(len(lines), size=2)
        lines[a] = [lines[b], "", lines[a][: len(lines[a]) // 2], "# Topology file", "vendid=0x1"][int(rng.integers(5))]
    path = write("\n".join(lines))
    monkeypatch.setattr("obliv.fabric.files.folder._SIZE", [64, 500, 1 << 20][seed % 3])
    tried = []
    usual = discover._DiscoverReader.read_usual
    monkeypatch.setattr(
        discover._DiscoverReader, "read_usual", lambda self, block: tried.append(usual(self, block)) or tried[-1]
    )
    try:
        quick: Fabric | str = read_fabric(path)
    except FileError as error:
        quick = str(error)
    monkeypatch.setattr(discover._DiscoverReader, "read_usual", lambda self, block: False)
    try:
        slow: Fabric | str = read_fabric(path)
    except FileError as error:
        slow = str(error)
    assert tried
    if isinstance(quick, str) or isinstance(slow, str):
        assert quick == slow
        return
    assert quick.findings == slow.findings
    assert (quick.rates, quick.sources) == (slow.rates, slow.sources)
    np.testing.assert_array_equal(quick.first_slot, slow.first_slot)
    for one, other in ((quick.nodes, slow.nodes), (quick.ports, slow.ports)):
        for column in fields(one):
            np.testing.assert_array_equal(getattr(one, column.name), getattr(other, column.name))
