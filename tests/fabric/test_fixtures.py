"""What the real programs said of obliv's own fabrics, kept as files: read, traced and solved without them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from tests.fabric.make_fixtures import CASES, HERE, LONG, OWN, fabric_of
from tests.fabric.opensm import cabling, meaning
from tests.fabric.walks import worst_by_hand

from obliv.fabric.files.folder import read, read_fabric
from obliv.fabric.files.lft import write_net
from obliv.fabric.names import with_lids
from obliv.fabric.reroute.quality import standing_of
from obliv.fabric.reroute.route import route
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.topology import network


def test_the_files_are_small() -> None:
    assert sum(path.stat().st_size for path in HERE.rglob("*.gz")) < 300_000
    assert {path.name for path in HERE.iterdir()} == {*CASES}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", CASES)
def test_worst_cases_of_the_tables_that_were_dumped(name: str) -> None:
    what, _, _, load, offset = CASES[name]
    fabric, tables = read(HERE / name / "ibnetdiscover.txt.gz", lft=HERE / name / "opensm-lfts.dump.gz")
    assert tables is not None
    assert cabling(fabric) == cabling(fabric_of(what))
    assert [each for each in (*fabric.findings, *tables.findings) if each.severity != "note"] == []
    result = standing_of(fabric_routing(network(fabric), tables, offset, missing="skip"))
    assert (result.worst, result.missing) == (load, 0)
    assert worst_by_hand(fabric, tables, [int(each) for each in offset.split("-")]) == load


@pytest.mark.parametrize("name", CASES)
def test_the_log_names_the_engine(name: str) -> None:
    log = gzip.decompress((HERE / name / "osm.log.gz").read_bytes()).decode()
    asked = "file" if CASES[name][1] in OWN else CASES[name][1]
    used = "minhop" if "fallback" in name else asked
    assert f" {used} tables configured" in log


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [name for name in CASES if name not in LONG])
def test_all_spellings_and_dialects_agree(name: str, tmp_path: Path) -> None:
    folder = HERE / name
    fabric, tables = read(folder / "ibnetdiscover.txt.gz", lft=folder / "opensm-lfts.dump.gz")
    assert tables is not None
    wanted = meaning(fabric, tables)
    for other in ("dump_lfts.txt.gz", "opensm.fdbs.gz"):
        _, result = read(folder / "ibnetdiscover.txt.gz", lft=folder / other)
        assert result is not None
        held = meaning(fabric, result)
        assert held == {key: port for key, port in wanted.items() if key in held}
        assert len(held) >= len(wanted) - len(fabric.switches)
    for other in ("ibnetdiscover-p.txt.gz", "opensm-subnet.lst.gz"):
        assert cabling(read_fabric(folder / other)) == cabling(fabric)
    net, lids = tmp_path / "bare.net", folder / "guid2lid.gz"
    write_net(fabric_of(CASES[name][0]), net)
    for more in ({}, {"guid2lid": lids}):
        learned, again = read(net, lft=folder / "opensm-lfts.dump.gz", **more)
        assert again is not None
        assert meaning(learned, again) == wanted
    assert (read_fabric(net, guid2lid=lids).ports.lid > 0).sum() == (fabric.ports.lid > 0).sum()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [name for name in CASES if CASES[name][1] in OWN])
def test_the_tables_are_those_that_are_made_today(name: str) -> None:
    what, engine, _, _, _ = CASES[name]
    fabric, tables = read(HERE / name / "ibnetdiscover.txt.gz", lft=HERE / name / "opensm-lfts.dump.gz")
    assert tables is not None
    routed = route(fabric_of(what), engine)
    assert meaning(routed.fabric, routed.tables) == meaning(fabric, tables)
    again = route(with_lids(fabric, routed.lmc), engine, tables)
    assert again.before is not None


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    "name", [name for name in CASES if CASES[name][1] in ("minhop", "ftree") and "lmc" not in name]
)
def test_new_tables_are_no_worse_than_those_of_opensm(name: str) -> None:
    fabric, tables = read(HERE / name / "ibnetdiscover.txt.gz", lft=HERE / name / "opensm-lfts.dump.gz")
    routed, balanced = route(fabric, tables=tables, by="worst"), route(fabric, tables=tables)
    assert routed.before is not None
    assert not routed.after.credit_loops
    assert (
        routed.after.worst <= routed.before.worst or routed.before.credit_loops
    )  # a load may be the price of no credit loop
    assert routed.before.credit_loops or not balanced.after.grown(balanced.before)
    if name.startswith("ft"):
        assert routed.after.worst == 2 < routed.before.worst
