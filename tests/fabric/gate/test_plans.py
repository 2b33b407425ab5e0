"""Cabling plans of UFM and NetBox, and the names and ports that they use."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fabric.files.test_ibdiagnet import DUMP

from obliv.errors import FileError
from obliv.fabric.files.folder import read_fabric
from obliv.fabric.gate.plan import compare_cables, read_plan
from obliv.fabric.model import Fabric, Notes
from obliv.fabric.results.check import Finding

NDT = "#StartDevice,StartPort,EndDevice,EndPort,LinkType\n"
LONG = "rack #,U height,#Fields:StartDevice,StartPort,StartDeviceLocation,EndDevice,EndPort,_2,LinkType,State,Domain\n"
NETBOX = "ID,Label,Device A,Termination A,Device B,Termination B,Status,Type\n"


@pytest.fixture
def fabric(tmp_path: Path) -> Fabric:
    (tmp_path / "dump").write_text(DUMP)
    return read_fabric(tmp_path / "dump")


def compared(text: str | bytes, fabric: Fabric, folder: Path) -> tuple[int, int, tuple[Finding, ...]]:
    (folder / "plan.csv").write_bytes(text.encode() if isinstance(text, str) else text)
    notes = Notes("plan.csv")
    there, beyond = compare_cables(fabric, read_plan(folder / "plan.csv", fabric), True, notes)
    return there, beyond, notes.findings()


@pytest.mark.parametrize(
    "text",
    [
        NDT + "leaf-01,Port 1/1,node01,mlx5_0,Data\nLEAF-01,1/2,node02 mlx5_0,Port 1,Data\nleaf-01,2,spine-01,2/1,\n",
        LONG
        + ",,leaf-01,1/1,,node01,HCA-1,,,Active,In\n,,leaf-01,1/2,,node02,1,,,Active,\n,,leaf-01,2,,0xa2,2/1,,,,\n",
        NETBOX
        + "#1,,leaf-01,1/1,node01.lan,mlx5_0/1,,\n#2,,leaf-01,1/2,node02,mlx5_0 port 1,,\n#3,,0xa2,2/1,leaf-01,2,,\n",
        "side_a_device;side_a_name;side_b_device;side_b_name\nleaf-01;1/1;node01;mlx5_0\nleaf-01;1/2;node02;HCA-1\nleaf-01;2;spine-01;2/1\n",
        "name,port,name,port\nleaf-01,1/1,node01 mlx5_0,1\nleaf-01,1/2,00000000000000b2,1\nleaf-01,2,spine-01,2/1\n",
    ],
)
def test_plans_that_are_kept(text: str, fabric: Fabric, tmp_path: Path) -> None:
    for data in (text, text.replace("\n", "\r\n").encode("utf-8-sig")):
        assert compared(data, fabric, tmp_path) == (3, 0, ())


def test_rows_that_are_no_cables_of_the_network(fabric: Fabric, tmp_path: Path) -> None:
    rows = "leaf-01,2,spine-01,2/1,Data\nspine-01,2/1,leaf-01,2,Data\nleaf-01,3,,,Data\nleaf-01,9,pdu,1,Power\n"
    there, beyond, findings = compared(NDT + rows, fabric, tmp_path)
    assert (there, beyond) == (1, 0)  # both directions are one cable
    assert [one.severity for one in findings] == ["note"] * 3
    assert "cables between switches only" in findings[-1].message


def test_names_and_ports_that_are_not_there(fabric: Fabric, tmp_path: Path) -> None:
    rows = "laef-01,2,spine-01,2/1,Data\nleaf-01,7/1,node01,mlx5_3,Data\nleaf-01,1000000000,node02,1,\n"
    there, _, findings = compared(NDT + rows, fabric, tmp_path)
    errors = [one for one in findings if one.line]
    assert there == 0
    assert [one.line for one in errors] == [2, 3, 4]
    assert "no device 'laef-01': did you mean MF0;leaf-01:MQM8700/U1?" in errors[0].message
    assert "'7/1'" in errors[1].message
    assert "'node01' has no adapter 'mlx5_3': it has mlx5_0" in errors[1].message


def test_rows_of_the_plan_come_before_cables_that_are_not_planned(fabric: Fabric, tmp_path: Path) -> None:
    rows = "leaf-01,swp9,node01,mlx5_0,Data\nleaf-01,2,spine-01,44,Data\nleaf-01,3,,,Data\n"
    _, beyond, findings = compared(NDT + rows, fabric, tmp_path)
    assert beyond == 1  # that of node02: the others have an end in a row
    assert [(one.kind, one.line) for one in findings] == [
        ("plan", 2),
        ("plan", 3),
        ("unplanned", 0),
        ("plan-rows", 0),
    ]
    assert (
        "the port label 'swp9' is unknown at MF0;leaf-01:MQM8700/U1: its labels are 1/1, 1/2, 2" in findings[0].message
    )
    assert "the port spine-01/44 does not exist: ports are 1 to " in findings[1].message


def test_labels_of_known_switches(tmp_path: Path) -> None:
    """Quantum split: port/split; Quantum-2: cage/port, split cage/port/split, also behind the number of the ASIC."""
    for ports, label, number in (
        (81, "21/1", 41),
        (80, "40/2", 80),
        (65, "32/2", 64),
        (64, "1/3/1", 5),
        (65, "sw3p2", 6),
        (129, "2/1/2", 6),
        (128, "1/32/2/2", 128),
        (41, "21/1", -1),
        (65, "33/1", -1),
        (65, "2/3", -1),
    ):
        (tmp_path / "net").write_text(
            f'Switch {ports} "sw"\n[{max(number, 1)}] "host"[1]\n\nHca 1 "host"\n[1] "sw"[{max(number, 1)}]\n'
        )
        there, _, _ = compared(f"sw,{label},host,1\n", read_fabric(tmp_path / "net"), tmp_path)
        assert there == (number > 0), label


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("StartDevice,EndDevice,EndPort\na,b,1\n", "plan.csv:1: has no column for the port of the first end"),
        (NDT + "rack1,1,rack2,1,Data\n", "has no device of"),
        (NDT + "leaf-01,1,pdu,1,Power\n", "plan.csv:2: contains no cable to look for; the link type is not Data"),
        (NDT, "contains no cable"),
        ("leaf-01,one,spine-01,two\n", "plan.csv:1: a row is not name,port,name,port"),
        ("", "empty"),
        (NDT + '"leaf-01,2,spine-01\n', "contains no cable"),
    ],
)
def test_plans_that_are_refused(text: str, message: str, fabric: Fabric, tmp_path: Path) -> None:
    with pytest.raises(FileError) as raised:
        compared(text, fabric, tmp_path)
    assert message in str(raised.value)
    assert str(raised.value).isprintable()


def test_names_of_several_nodes(tmp_path: Path) -> None:
    (tmp_path / "dump").write_text(DUMP.replace("spine-01", "leaf-01").replace("node02 mlx5_0", "node01 mlx5_1"))
    fabric = read_fabric(tmp_path / "dump")
    with pytest.raises(FileError, match=r"plan.csv:2: .*2 nodes have this name"):
        compared(NDT + "leaf-01,2,node01,1,\n", fabric, tmp_path)
    with pytest.raises(FileError, match=r"plan.csv:2: 'node01' has 2 adapters: write mlx5_0, mlx5_1"):
        compared(NDT + "0xa1,2,node01,1,\n", fabric, tmp_path)
    assert compared(NDT + "0xa1,1/2,node01,HCA-2,\n", fabric, tmp_path)[0] == 1


def test_plans_by_their_content(fabric: Fabric, tmp_path: Path) -> None:
    (tmp_path / "plan.ndt").write_text(NDT + "leaf-01,2,spine-01,2/1,Data\n")
    assert len(read_plan(tmp_path / "plan.ndt", fabric).cables) == 1
    assert len(read_plan(tmp_path / "dump", fabric).cables) == 3  # the topology itself, hosts by the GUIDs of ports
    assert all(min(pair) >= 0 for pair in read_plan(tmp_path / "dump", fabric).cables)
