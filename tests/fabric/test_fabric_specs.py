"""Fabrics and tables by their specs: read again from files, claims checked from scratch, the samples' known values."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from tests.designs.network_ratios.test_ratios import plain
from tests.fabric.damage import cables, without

import obliv
from obliv.cli import main
from obliv.errors import FileError, RoutingError, SpecError
from obliv.fabric.analyses.worst import worst
from obliv.fabric.files.lft import write_net, write_tables
from obliv.fabric.generate import from_topology, tables_of
from obliv.fabric.routes.routing import FabricRouting
from obliv.fabric.topology import FabricTopology, network

HERE = Path(__file__).parent


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tree = obliv.topology("fattree:4,3")
    fabric = from_topology(tree)
    write_net(fabric, tmp_path / "tree.net")
    write_net(from_topology(tree, lids=False), tmp_path / "fresh.net")
    write_tables(tables_of(obliv.routing("osrm3-d", tree), fabric), fabric, tmp_path / "tree.lfts")
    return tmp_path


@pytest.mark.parametrize("name", ["tree.net", "fresh.net"])
def test_a_claim_is_made_and_checked_by_its_specs(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    topology = obliv.topology(f"fabric:{name}")
    assert isinstance(topology, FabricTopology)
    routing = obliv.routing("lft:tree.lfts", topology)
    assert isinstance(routing, FabricRouting)
    result = worst(routing, certificate=True)
    assert (result.topology, result.routing) == (f"fabric:{name}", "lft:tree.lfts")
    assert result.channel_load == 2
    assert set(result.provenance.sources) == {name, "tree.lfts"}
    result.save("claim.json")
    assert obliv.verify("claim.json").proved
    text = (folder / "tree.lfts").read_text()
    lines = text.splitlines(keepends=True)
    at = next(k for k, line in enumerate(lines) if " 003 " in line)
    (folder / "tree.lfts").write_text("".join([*lines[:at], lines[at].replace(" 003 ", " 004 "), *lines[at + 1 :]]))
    assert not obliv.verify("claim.json").proved


def test_file_finds_out_by_itself(folder: Path) -> None:
    for spec in (f"file:{folder}/tree.net", f"file:{folder}/tree.net,format=ibnetdiscover"):
        topology = obliv.topology(spec)
        assert isinstance(topology, FabricTopology)
        assert topology.spec == f"fabric:{folder}/tree.net"
    with pytest.raises(SpecError, match="leave out the options"):
        obliv.topology(f"file:{folder}/tree.net,terminals=all")


def test_what_does_not_fit(folder: Path) -> None:
    topology = obliv.topology(f"fabric:{folder}/tree.net")
    lft = f"lft:{folder}/tree.lfts"
    with pytest.raises(RoutingError, match="need an InfiniBand fabric, not mesh:4x4"):
        obliv.routing(lft, "mesh:4x4")
    with pytest.raises(SpecError, match="offset='no'"):
        obliv.routing(f"{lft},offset=no", topology)
    with pytest.raises(SpecError, match="missing='no'"):
        obliv.routing(f"{lft},missing=no", topology)
    with pytest.raises(FileError):
        obliv.routing(f"lft:{folder}/tree.net", topology)
    with pytest.raises(FileError):
        obliv.topology(f"fabric:{folder}/tree.lfts")
    full = obliv.routing(f"{lft},offset=spread,missing=skip", topology)
    assert full.spec == f"{lft},offset=spread,missing=skip"
    assert obliv.worst_case(full).channel_load == 2


@pytest.mark.nightly
def test_dimension_order_as_opensm_has_it() -> None:
    topology = obliv.topology(f"fabric:{HERE}/fixtures/torus9x9-dor/ibnetdiscover.txt.gz")
    routing = obliv.routing(f"lft:{HERE}/fixtures/torus9x9-dor/opensm-lfts.dump.gz", topology)
    result = obliv.worst_case(routing)
    assert result.channel_load == 4
    assert result.fraction_of_capacity == Fraction(5, 18)  # Towles' table 1


@pytest.mark.parametrize(("name", "pairs"), [("loop", 6), ("hole", 2)])
def test_pairs_that_ibdmchk_misses_too(name: str, pairs: int) -> None:
    topology = obliv.topology(f"fabric:{HERE}/samples/{name}/ibnetdiscover.txt.gz")
    routing = obliv.routing(f"lft:{HERE}/samples/{name}/opensm-lfts.dump.gz,missing=skip", topology)
    assert worst(routing).skipped == pairs


@pytest.mark.nightly
def test_the_ratio_of_a_damaged_tree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One cable less: the equal split over shortest paths no longer carries all traffic as the best routing does."""
    whole = from_topology(obliv.topology("fattree:4,2"))
    damaged = network(without(whole, cables(whole)[:1]), "fabric:damaged")
    routing = obliv.routing("ecmp", damaged)
    result = obliv.ratio(routing, certificate=True)
    assert result.ratio == pytest.approx(plain(routing)) == 3 / 2
    assert obliv.verify(result, topology=damaged, routing=routing).proved
    tables, fabric = tmp_path / "a.lft", tmp_path / "a.net"
    for spec, ratio in (("fattree:4,2", "2"), ("xgft:2;4,4;1,2", "2")):
        made = ["fabric", "generate", spec, "--routing", "dmodk", "-o", str(fabric), "--tables", str(tables)]
        assert main(made) == 0
        assert main(["fabric", "ratio", str(fabric), "--lft", str(tables), "--format", "json"]) == 0
        assert json.loads(capsys.readouterr().out)["ratio"]["exact"] == ratio


def test_routings_of_trees_say_what_a_fabric_takes_instead() -> None:
    fabric = network(from_topology(obliv.topology("fattree:4,2")), "fabric:x.net")
    with pytest.raises(
        RoutingError, match="obliv fabric route  makes tables for this one, which are taken as lft:FILE"
    ):
        obliv.routing("dmodk", fabric)
    assert obliv.ratio(obliv.routing("ecmp", fabric)).ratio == 1
