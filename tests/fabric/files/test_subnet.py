"""Lists of links and ports, and OpenSM's file of LIDs: what each says of a broken file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.fabric import spelled
from tests.fabric.files.test_discover import write  # noqa: F401

from obliv.errors import FileError
from obliv.fabric.files.folder import read_fabric
from obliv.fabric.files.opensm_subnet import read_guid2lid
from obliv.fabric.model import Fabric

Write = Callable[..., Path]


def made() -> Fabric:
    return spelled.random_fabric(np.random.default_rng(11))


def random_with(seed: int) -> Fabric:
    return spelled.random_fabric(np.random.default_rng(seed))


def kinds(fabric: Fabric) -> list[tuple[str, str, int]]:
    return [(result.severity, result.kind, result.line) for result in fabric.findings]


@pytest.mark.parametrize("print_it", [spelled.port_list, spelled.link_info, spelled.subnet, spelled.ibnetdiscover])
def test_a_file_that_is_cut_off_says_so(print_it: Callable[[Fabric], str], write: Write) -> None:  # noqa: F811
    text = print_it(made())
    last = text.rstrip("\n").rindex("\n") + 1
    result = read_fabric(write(text[: last + 10]))
    assert [each.line for each in result.findings if each.kind == "cut-off"] == [text[:last].count("\n") + 1]
    assert any(each.severity == "error" for each in result.findings)


@pytest.mark.parametrize("print_it", [spelled.port_list, spelled.link_info, spelled.subnet])
def test_a_line_that_is_lost_is_missed_at_the_other_end(print_it: Callable[[Fabric], str], write: Write) -> None:  # noqa: F811
    fabric = next(each for each in map(random_with, range(99)) if len(each.endpoints) > 3)
    slot = int(fabric.endpoints[2])
    sign = {
        spelled.port_list: f"0x{int(fabric.ports.guid[slot]):016x} ",
        spelled.link_info: f"0x{int(fabric.ports.guid[slot]):016x} ",
        spelled.subnet: f"LID:{int(fabric.ports.lid[slot]):04X} PN:{fabric.port_of(slot):02X} }} {{",
    }[print_it]
    lines = print_it(fabric).splitlines(keepends=True)
    lost = next(k for k, line in enumerate(lines) if sign in line and " - CA" not in line)
    result = read_fabric(write("".join(lines[:lost] + lines[lost + 1 :])))
    missed = [each for each in result.findings if each.severity == "error"]
    assert {each.kind for each in missed} <= {"one-sided-cable", "missing-record"}
    assert missed
    assert int((result.ports.peer >= 0).sum()) == int((fabric.ports.peer >= 0).sum())


@pytest.mark.parametrize(
    ("rate", "word"),
    [("1xSDR", "2.5"), ("4xFDR10", "10.3125"), ("4xEDR", "25.78125"), ("12xNDR", "106.25"), (None, "7.5")],
)
def test_rates_of_link_lists(rate: str | None, word: str, write: Write) -> None:  # noqa: F811
    width = rate.partition("x")[0] if rate else "4"
    end = f"( {width}X {word:>14} Gbps Active/  LinkUp)==>"
    text = (
        f'Switch: 0x00000000000000a1 one:\n      1    1[  ] =={end}   2    1[  ] "host" ( )\n'
        f'      1    2[  ] ==(                Down/ Polling)==>             [  ] "" ( )\n'
        f'CA: host:\n 0x00000000000000b1   2    1[  ] =={end}   1    1[  ] "one" ( )\n'
    )
    fabric = read_fabric(write(text))
    assert fabric.findings == ()
    result = fabric.rate_at(int(fabric.endpoints[0]))
    assert result == (None if rate is None else {"1xSDR": 2, "4xFDR10": 40, "4xEDR": 100, "12xNDR": 1200}[rate])


def test_switches_alone(write: Write) -> None:  # noqa: F811
    fabric = made()
    text = spelled.link_info(fabric)
    remaining, keep = [], False
    for line in text.splitlines(keepends=True):
        keep = line.startswith("Switch:") or (keep and not line.startswith("CA:"))
        remaining += [line] if keep else []
    result = read_fabric(write("".join(remaining)))
    assert len(result.endpoints) == len(fabric.endpoints)
    assert sorted(result.ports.lid[result.endpoints].tolist()) == sorted(fabric.ports.lid[fabric.endpoints].tolist())
    assert [each.kind for each in result.findings] == ["unlisted-ports"]


def test_link_lists_without_lids_do_not_tell_the_other_end(write: Write) -> None:  # noqa: F811
    fabric = made()
    blank = fabric.with_ports(lid=np.zeros_like(fabric.ports.lid))
    result = read_fabric(write(spelled.link_info(blank)))
    assert {each.kind for each in result.findings} == {"unknown-peer"}
    assert not len(result.endpoints)


def test_old_subnet_lists_have_no_speed(write: Write) -> None:  # noqa: F811
    fabric = made()
    text = "\n".join(line.partition(" SPD=")[0] for line in spelled.subnet(fabric).split("\n"))
    result = read_fabric(write(text))
    assert (result.ports.rate == -1).all()
    assert result.findings == ()
    assert int((result.ports.peer >= 0).sum()) == int((fabric.ports.peer >= 0).sum())


def test_lids_of_guid2lid(write: Write) -> None:  # noqa: F811
    fabric = spelled.random_fabric(np.random.default_rng(4), lmc=2)
    path = write(spelled.guid2lid(fabric), "guid2lid")
    table = read_guid2lid(path)
    assert len(table) == int((fabric.ports.lid > 0).sum())
    for slot in np.flatnonzero(fabric.ports.lid).tolist():
        first = int(fabric.ports.lid[slot])
        assert table[int(fabric.ports.guid[slot])][:2] == (first, first + (1 << int(fabric.ports.lmc[slot])) - 1)
    blank = fabric.with_ports(lid=np.zeros_like(fabric.ports.lid), lmc=np.zeros_like(fabric.ports.lmc))
    result = read_fabric(write(spelled.ibnetdiscover(blank)), guid2lid=path)
    np.testing.assert_array_equal(result.ports.lid, fabric.ports.lid)
    np.testing.assert_array_equal(result.ports.lmc, fabric.ports.lmc)
    scanned = read_fabric(write(spelled.subnet(fabric)), guid2lid=path)
    assert set(scanned.ports.lmc[scanned.endpoints].tolist()) == {2}


def test_lids_that_guid2lid_contradicts_stay(write: Write) -> None:  # noqa: F811
    fabric = made()
    slot = int(fabric.endpoints[0])
    path = write(f"0x{int(fabric.ports.guid[slot]):016x} 0x0100 0x0100\n", "guid2lid")
    result = read_fabric(write(spelled.ibnetdiscover(fabric)), guid2lid=path)
    assert [each.kind for each in result.findings if each.file == str(path)] == ["moved-lids"]
    np.testing.assert_array_equal(result.ports.lid, fabric.ports.lid)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# only this\n", "contains no port GUID"),
        ("0x1 0x2\n", "guid2lid:1: a line should be"),
        ("\n0x1 0x5 0x4\n", "guid2lid:2: LIDs 5 to 4 are not a valid range"),
        ("0x1 0x0000 0x0004\n", "not a valid range"),
        ("0x1 0xbfff 0xc001\n", "not a valid range"),
        ("0x1 0x0100 0x0200\n", "not a valid range"),
        ("0x77 0x0001 0x0001\n", "contains no port of"),
        ("\x1b[31m\n", "a line should be"),
    ],
)
def test_broken_guid2lid(text: str, message: str, write: Write) -> None:  # noqa: F811
    topology = write(spelled.ibnetdiscover(made()), "topology")
    with pytest.raises(FileError, match=message) as raised:
        read_fabric(topology, guid2lid=write(text, "guid2lid"))
    assert str(raised.value).isprintable()
