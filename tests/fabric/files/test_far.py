"""Group tables in the layout of ibdiagnet2.far: read, refused, written and read again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.fabric.adaptive.by_choices import random_groups
from tests.fabric.by_hand import random_fabric, with_nodes

import obliv
from obliv.errors import FileError
from obliv.fabric.adaptive.loads import packed
from obliv.fabric.files.far import read_groups, write_groups
from obliv.fabric.generate import from_topology
from obliv.fabric.model import Fabric
from obliv.fabric.names import BOUNDED, FREE, HBF, NO_STATE, STATIC, GroupTables, SubGroup
from obliv.fabric.reroute.fill import groups_of

FABRIC = from_topology(obliv.topology("fattree:4,2"))
LEAF = int(FABRIC.switches[0])

TEXT = """\
# by the grammar of a public parser
File version: 1
Switch 0x0002c90200001000 some words in between
and more of them
Groups Definition:
Group  Sub Group  WHBF  Ports
------------------------------
1      0          0     3,4,
1      1          0
7      2          5     1,
LFT Definition:
PLFT_NUM: 0, top: 0x000c
LID     Static Port  Lid State  Group
--------------------------------------
0x0009  1            Static     0
0x000a  3            Free       1
0x000B\t4 HBF 7
0x000c  4            Bounded    1
# the end
"""


def reading(tmp_path: Path, text: str, fabric: Fabric = FABRIC) -> GroupTables:
    path = tmp_path / "ibdiagnet2.far"
    path.write_bytes(text.encode())
    return read_groups(path, fabric)


def same(one: GroupTables, other: GroupTables) -> bool:
    """Whether two group tables have the same content, whatever their columns beyond the last entry."""
    wide = max(one.port.shape[1], other.port.shape[1])
    for name, fill in (("port", 255), ("state", NO_STATE), ("group", 0)):
        columns = [
            np.pad(getattr(each, name), ((0, 0), (0, wide - each.port.shape[1])), constant_values=fill)
            for each in (one, other)
        ]
        if not np.array_equal(*columns):
            return False
    rows = np.array_equal(one.switch, other.switch) and np.array_equal(one.plft, other.plft)
    return rows and [dict(each) for each in one.groups] == [dict(each) for each in other.groups]


def test_the_grammar(tmp_path: Path) -> None:
    tables = reading(tmp_path, TEXT)
    assert not tables.findings
    assert tables.switch.tolist() == [LEAF]
    assert tables.line.tolist() == [12]
    assert tables.groups[0] == {1: (SubGroup(0, 0, (3, 4)), SubGroup(1, 0, ())), 7: (SubGroup(2, 5, (1,)),)}
    rows = [(9, 1, STATIC, 0), (10, 3, FREE, 1), (11, 4, HBF, 7), (12, 4, BOUNDED, 1)]
    for lid, *entry in rows:
        assert [int(column[0, lid]) for column in (tables.port, tables.state, tables.group)] == entry
    assert (tables.state != NO_STATE).sum() == 4
    assert reading(tmp_path, TEXT.replace("\n", "\r\n")).groups == tables.groups


def test_the_largest_group(tmp_path: Path) -> None:
    tables = reading(tmp_path, TEXT.replace("7      2", "65535  2").replace("HBF 7", "HBF 65535"))
    assert tables.group[0, 11] == 65535
    assert packed(FABRIC, tables).set_of(11, LEAF) == (1,)
    assert packed(FABRIC, tables).set_of(10, LEAF) == (3, 4)


def test_several_private_tables(tmp_path: Path) -> None:
    more = "LFT Definition:\nPLFT_NUM: 1, top: 0x0009\nLID     Static Port  Lid State  Group\n---\n0x0009  2 Free 1\n"
    tables = reading(tmp_path, TEXT + more)
    assert tables.plfts == (0, 1)
    assert tables.of_plft(1).port[0, 9] == 2
    assert tables.groups[0] is tables.groups[1]
    with pytest.raises(obliv.OblivError, match="several private LFTs"):
        obliv.fabric.adaptive_routing(obliv.fabric.network(FABRIC), tables)


@pytest.mark.parametrize("rule", ["updn", "minimal"])
@pytest.mark.parametrize("spec", ["fattree:4,3", "torus:3x3", "hyperx:3x3"])
def test_what_is_written_is_read_again(spec: str, rule: str, tmp_path: Path) -> None:
    fabric = from_topology(obliv.topology(spec), lmc=1)
    groups = groups_of(fabric, rule)
    write_groups(groups, fabric, tmp_path / "made.far")
    again = read_groups(tmp_path / "made.far", fabric)
    assert not again.findings
    assert same(groups, again)


@pytest.mark.parametrize("seed", range(10))
def test_any_tables_are_read_again(seed: int, tmp_path: Path) -> None:
    fabric = random_fabric(seed, lmc=seed % 3)
    fabric = with_nodes(fabric, guid=np.arange(1, len(fabric.nodes) + 1, dtype=np.uint64))
    groups = random_groups(fabric, seed, damage=seed % 4)
    groups.group[groups.state == NO_STATE] = 0
    groups.port[groups.state == NO_STATE] = 255
    write_groups(groups, fabric, tmp_path / "made.far")
    assert same(groups, read_groups(tmp_path / "made.far", fabric))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("File version: 1", "File version: 2", "version '2'"),
        ("LID     Static Port  Lid State", "LID     Lid State  Static Port", "other columns"),
        ("Group  Sub Group  WHBF  Ports", "Group  Sub Group  Ports", "other columns"),
        (TEXT, "\n", "contains no table"),
        ("0x0002c90200001000", "0x0002c90200009999", "contains no table of a switch"),
        (TEXT, "Unicast lids [0-14] of switch Lid 2 guid 0x0002c90200001000 ('switch(0,0)'):\n", "without groups"),
        (TEXT, 'Switch 36 "S-f4521403001165a0" # "x" enhanced port 0 lid 128 lmc 0\n', "topology"),
    ],
)
def test_unknown_files_are_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=message):
        reading(tmp_path, TEXT.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("0x000a  3            Free       1\n", "0x000a  3            Loose      1\n", "bad-entry"),
        ("0x000a  3            Free       1\n", "0xc000  3            Free       1\n", "bad-entry"),
        ("0x000a  3            Free       1\n", "0x000a  256          Free       1\n", "bad-entry"),
        ("0x000a  3            Free       1\n", "0x000a  3            Free       65536\n", "bad-entry"),
        ("0x000a  3            Free       1\n", "0x000a  3            Free       1 2\n", "bad-entry"),
        ("0x000a  3            Free       1\n", "0x0009  3            Free       1\n", "duplicate-entry"),
        ("1      0          0     3,4,\n", "1      0          0     3,4\n", "bad-entry"),
        ("1      0          0     3,4,\n", "1      0          0     3,255,\n", "bad-entry"),
        ("1      1          0\n", "1      0          0     5,\n", "duplicate-entry"),
        ("PLFT_NUM: 0", "PLFT_NUM: 64", "bad-entry"),
        ("top: 0x000c", "top: 0x000b", "bad-entry"),
        ("# the end\n", "0x000d  1   Sta", "cut-off"),
        ("# the end\n", "LFT Definition:\nPLFT_NUM: 0, top: 0x000c\n0x0009 2 Static 0\n", "duplicate-table"),
        ("# the end\n", "Switch 0x1\nLFT Definition:\nPLFT_NUM: 0, top: 0x000c\n0x0009 2 Static 0\n", "unknown-switch"),
        ("# the end\n", "nonsense\n", "bad-line"),
    ],
)
def test_defects_are_noted(old: str, new: str, kind: str, tmp_path: Path) -> None:
    tables_or_error: object = None
    try:
        tables = reading(tmp_path, TEXT.replace(old, new))
    except FileError as error:
        tables_or_error = str(error)
    else:
        found = [finding for finding in tables.findings if finding.kind == kind]
        assert found, tables.findings
        assert found[0].line
        return
    assert kind == "bad-entry", tables_or_error
    assert "PLFT" in new
