"""LIDs beyond the 16 bits of InfiniBand: read where they are dense, named by `check`, written only if asked."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import obliv
import obliv.fabric
from obliv.cli import main
from obliv.errors import FileError, TopologyError
from obliv.fabric.model import Fabric
from obliv.fabric.names import LAST_LID, largest_lid

TREE = "xgft:2;50,3;1,2"  # 150 hosts with 128 LIDs each
FIRST = 50_048


@pytest.fixture(scope="module")
def fabric() -> Fabric:
    """A small fabric whose hosts have LIDs from 50,176 to 69,375."""
    plain = obliv.fabric.from_topology(obliv.topology(TREE), lmc=7)
    lid = np.where(plain.ports.lid > 0, plain.ports.lid + FIRST, 0)
    return replace(plain.with_ports(lid=lid.astype(np.int32)), extended_lids=True)


@pytest.fixture(scope="module")
def files(fabric: Fabric, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("extended")
    tables = obliv.fabric.tables_of(obliv.routing("dmodk", obliv.topology(TREE)), fabric)
    obliv.fabric.write_net(fabric, folder / "x.net")
    obliv.fabric.write_tables(tables, fabric, folder / "x.lfts")
    return folder / "x.net", folder / "x.lfts"


@pytest.mark.nightly
def test_files_say_the_same_as_with_lids_of_infiniband(fabric: Fabric, files: tuple[Path, Path]) -> None:
    seen: list[float] = []
    again, tables = obliv.fabric.read(*files, progress=lambda _, share: seen.append(share))
    assert tables is not None
    assert again.findings == tables.findings == ()
    assert seen[-1] == 1.0
    assert seen == sorted(seen)
    assert np.array_equal(again.ports.lid, fabric.ports.lid)
    assert tables.out.shape[1] > 2**16
    assert tables.top == int(fabric.ports.lid.max()) + 127 > 2**16
    plain = obliv.fabric.from_routing(obliv.routing("dmodk", obliv.topology(TREE)))
    worst = obliv.fabric.worst(obliv.fabric.routing(obliv.fabric.network(again), tables))
    assert worst.channel_load == obliv.fabric.worst(plain).channel_load
    result = obliv.fabric.check(replace(again, extended_lids=True), tables)
    assert result.ok
    assert [f.severity for f in result.findings if f.kind == "extended-lids"] == ["note"]
    finding = next(f for f in obliv.fabric.check(again, tables).findings if f.kind == "extended-lids")
    assert finding.severity == "error"
    assert finding.message == (
        "155 ports have LIDs beyond 49151, up to 69375, which InfiniBand cannot address: use extended_lids for a "
        "fabric whose LIDs have 24 bits"
    )


def test_new_tables_keep_extended_lids_and_are_written_if_asked(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    topology, lft = map(str, files)
    new = str(files[0].with_name("new.lfts"))
    assert main(["fabric", "route", topology, "--engine", "updown", "-o", new]) == 2
    refused = "cannot be written: LIDs go up to 69375, beyond the 49151 of InfiniBand and OpenSM: on a fabric"
    assert refused in capsys.readouterr().err
    assert main(["fabric", "route", topology, "--engine", "updown", "-o", new, "--extended-lids"]) == 0
    assert "its LIDs have more than 16 bits: OpenSM cannot load it" in capsys.readouterr().err
    assert main(["fabric", "check", topology, "--lft", new]) == 1
    assert main(["fabric", "check", topology, "--lft", new, "--extended-lids"]) == 0
    assert main(["fabric", "export", topology, "-o", new.replace("lfts", "net")]) == 2
    assert main(["fabric", "worst", topology, "--lft", lft]) == 0
    capsys.readouterr()


def test_new_lids_exceed_those_of_infiniband_only_if_asked(fabric: Fabric, tmp_path: Path) -> None:
    tree = obliv.topology("xgft:2;200,2;1,1")
    with pytest.raises(TopologyError, match=r"49151 available LIDs.*or extended_lids=True"):
        obliv.fabric.from_topology(tree, lmc=7)
    assert obliv.fabric.from_topology(tree, lmc=7, extended_lids=True).ports.lid.max() == 51_200
    infiniband = replace(fabric, extended_lids=False)
    tables = obliv.fabric.tables_of(obliv.routing("dmodk", obliv.topology(TREE)), fabric)
    for write in (
        lambda: obliv.fabric.write_tables(tables, infiniband, tmp_path / "a"),
        lambda: obliv.fabric.write_net(infiniband, tmp_path / "a"),
    ):
        with pytest.raises(FileError, match="go up to 69375"):
            write()
    assert not list(tmp_path.iterdir())


def test_a_large_lid_in_a_small_file_takes_no_memory(files: tuple[Path, Path], tmp_path: Path) -> None:
    small = obliv.fabric.from_topology(obliv.topology("fattree:4,2"))
    obliv.fabric.write_net(small, tmp_path / "a.net")
    obliv.fabric.write_tables(
        obliv.fabric.tables_of(obliv.routing("dmodk", obliv.topology("fattree:4,2")), small), small, tmp_path / "a.lfts"
    )
    net, lfts = (tmp_path / "a.net").read_text(), (tmp_path / "a.lfts").read_text()
    (tmp_path / "b.net").write_text(
        net.replace("lid 7 lmc", "lid 15000000 lmc").replace(" lid 7 4x", " lid 15000000 4x")
    )
    (tmp_path / "b.lfts").write_text(lfts.replace("0x0007 ", "0xe4e1c0 "))
    tracemalloc.start()
    fabric, tables = obliv.fabric.read(tmp_path / "b.net", tmp_path / "b.lfts")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 2**24
    assert tables is not None
    assert tables.out.shape[1] < 100
    assert [f.kind for f in fabric.findings] == ["bad-lid"]
    assert {f.kind for f in tables.findings} == {"bad-entry"}
    assert largest_lid(fabric) == LAST_LID
    large = files[0].read_text().replace("lid 50176 lmc", "lid 15000000 lmc").replace("lid 50176 4x", "lid 15000000 4x")
    (tmp_path / "c.net").write_text(large)
    fabric, _ = obliv.fabric.read(tmp_path / "c.net")
    message = fabric.findings[0].message
    assert message.endswith("has LID 15000000: LIDs beyond 49151 are read up to 76820, 4 for each that a port owns")
