"""OpenSM with the plug-in of ``contrib/opensm``: it routes, sets up lanes and answers as the files of obliv say."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.fabric.lanes.test_lanes_opensm import judged
from tests.fabric.opensm import Simulator, meaning, needs_opensm, simulated, where
from tests.fabric.reroute.layers.test_layers import level_of
from tests.fabric.reroute.layers.test_layers_opensm import moved_levels

import obliv
from obliv.fabric.generate import from_topology
from obliv.fabric.lanes.sl2vl import identity
from obliv.fabric.reroute.route import route
from obliv.fabric.results.route import FabricRoute

SOURCE = Path(__file__).parents[3] / "contrib" / "opensm"
HEADERS = ("opensm/osm_event_plugin.h", "umad.h")

pytestmark = [
    needs_opensm,
    pytest.mark.skipif(
        not all((Path("/usr/include/infiniband") / header).exists() for header in HEADERS)
        or not (where("cc") and where("make")),
        reason="OpenSM's headers are not installed: apt-get install libopensm-dev libibumad-dev gcc make",
    ),
]


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the plug-in, built without warnings."""
    folder = tmp_path_factory.mktemp("plugin")
    for file in ("Makefile", "obliv.c", "files.c", "files.h"):
        shutil.copy(SOURCE / file, folder)
    built = subprocess.run(
        ["make", "-C", str(folder), "CFLAGS=-O1 -Werror"], capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    return folder


def written(result: FabricRoute, folder: Path) -> None:
    obliv.fabric.write_net(result.fabric, folder / "fabric.net")
    obliv.fabric.write_tables(result.tables, result.fabric, folder / "new.lfts")
    obliv.fabric.write_psl(result.levels, result.fabric, folder / "new.psl")
    obliv.fabric.write_sl2vl(result.lane_tables or identity(result.fabric), result.fabric, folder / "new.sl2vl")


def configured(simulator: Simulator, plugin: Path, engines: str = "obliv") -> list[str]:
    """Options of OpenSM with the plug-in and its files, which are beside the simulator's folder."""
    folder = simulator.folder.parent
    files = ",".join(f"{kind}={folder / f'new.{kind}'}" for kind in ("lfts", "sl2vl", "psl"))
    lines = ["event_plugin_name obliv", f"event_plugin_options {files}", f"routing_engine {engines}", "qos TRUE"]
    (simulator.folder / "opensm.conf").write_text("".join(f"{line}\n" for line in lines))
    simulator.env["LD_LIBRARY_PATH"] = str(plugin)
    dumps = ["-D", "0x43", "--dump_files_dir", str(simulator.folder)]
    return ["-F", str(simulator.folder / "opensm.conf"), *dumps]


@pytest.mark.parametrize(
    ("spec", "engine"),
    [
        ("torus:4x4", "dor-dateline"),
        *(pytest.param(spec, "dor-dateline", marks=pytest.mark.nightly) for spec in ("torus:5x5", "torus:4x4x4")),
        pytest.param("damaged:torus:5x5,12", "dor-dateline", marks=pytest.mark.nightly),
        pytest.param("damaged:torus:4x4x4,21,0-1", "dor-dateline", marks=pytest.mark.nightly),
        pytest.param("ring:6", "layered", marks=pytest.mark.nightly),
    ],
)
def test_the_plug_in_delivers_what_obliv_wrote(spec: str, engine: str, plugin: Path, tmp_path: Path) -> None:
    result = route(from_topology(obliv.topology(spec)), engine, lanes=2, effort=0.02)
    written(result, tmp_path)
    with simulated(tmp_path / "fabric.net", tmp_path / "run") as simulator:
        run = simulator.folder
        with simulator.managed(*configured(simulator, plugin)):
            found = obliv.fabric.read_fabric(simulator.kept("scan.txt", "ibnetdiscover"))
            loaded = obliv.fabric.read_tables(run / "opensm-lfts.dump", found)
            assert meaning(found, loaded) == meaning(result.fabric, result.tables)
            lid = {int(found.ports.guid[slot]): int(found.ports.lid[slot]) for slot in found.endpoints.tolist()}
            guid = result.fabric.ports.guid[result.fabric.endpoints].tolist()
            pairs = [(s, d) for s in range(len(guid)) for d in range(len(guid)) if s != d]
            some = np.random.default_rng(0).permutation(len(pairs))[:40].tolist()
            for s, d in (pairs[k] for k in some):
                words = ("saquery", "PR", "--slid", str(lid[guid[s]]), "--dlid", str(lid[guid[d]]))
                answer = re.search(r"\bsl\.+0x([0-9a-fA-F]+)", simulator.run(*words))
                assert answer is not None
                assert int(answer[1], 16) == level_of(result.levels, result.fabric, s, d)
        assert "obliv tables configured on all switches" in (run / "osm.log").read_text()
    asked = rows(tmp_path / "new.sl2vl")
    set_up = rows(run / "opensm-sl2vl.dump")
    assert asked.keys() <= set_up.keys()
    there = result.fabric
    cabled = {
        (f"0x{int(there.nodes.guid[there.node_of[slot]]):016x}", there.port_of(slot))
        for slot in np.flatnonzero(there.ports.peer >= 0).tolist()
    }  # no packets come in by other ports, and the file leaves out their rows
    assert not {(node, entry) for node, entry, _ in set_up.keys() - asked.keys()} & cabled
    used = range(1 << 2) if result.lane_tables is not None else range(result.after.lanes)
    assert all(asked[row][sl] == set_up[row][sl] for row in asked for sl in used)
    if where("ibdmchk"):
        moved_levels(result, lid, tmp_path / "new.psl", run / "now.psl")
        assert judged(run, "-c", "now.psl", "-d", "opensm-sl2vl.dump")


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("spec", "engine", "lanes"),
    [("torus:4x4", "two-turn", 4), ("torus:5x4", "two-turn", 4), ("ring:6", "two-turn", 2), ("mesh:4x3", "minimal", 2)],
)
def test_the_plug_in_delivers_a_tree_and_a_service_level_for_each_lid(
    spec: str, engine: str, lanes: int, plugin: Path, tmp_path: Path
) -> None:
    result = route(from_topology(obliv.topology(spec)), engine, lanes=lanes, most_lmc=3, effort=0.1)
    many = 1 << result.after.lmc
    assert many > 1
    written(result, tmp_path)
    with simulated(tmp_path / "fabric.net", tmp_path / "run") as simulator:
        run = simulator.folder
        with simulator.managed(*configured(simulator, plugin), "-l", str(result.after.lmc)):
            found = obliv.fabric.read_fabric(simulator.kept("scan.txt", "ibnetdiscover"))
            loaded = obliv.fabric.read_tables(run / "opensm-lfts.dump", found)
            assert meaning(found, loaded) == meaning(result.fabric, result.tables)
            lid = {int(found.ports.guid[slot]): int(found.ports.lid[slot]) for slot in found.endpoints.tolist()}
            guid = result.fabric.ports.guid[result.fabric.endpoints].tolist()
            masks = np.broadcast_to(result.levels.masks, (len(guid), len(guid) * many))
            pairs = [(s, d, o) for s in range(len(guid)) for d in range(len(guid)) if s != d for o in range(many)]
            some = np.random.default_rng(0).permutation(len(pairs))[:80].tolist()
            for s, d, offset in (pairs[k] for k in some):
                words = ("saquery", "PR", "--slid", str(lid[guid[s]]), "--dlid", str(lid[guid[d]] + offset))
                answer = re.search(r"\bsl\.+0x([0-9a-fA-F]+)", simulator.run(*words))
                assert answer is not None
                assert 1 << int(answer[1], 16) == masks[s, d * many + offset]
        assert "obliv tables configured on all switches" in (run / "osm.log").read_text()
    asked, set_up = rows(tmp_path / "new.sl2vl"), rows(run / "opensm-sl2vl.dump")
    assert asked.keys() == set_up.keys()
    used = int(np.bitwise_or.reduce(masks, axis=None))
    assert all(asked[row][sl] == set_up[row][sl] for row in asked for sl in range(16) if used >> sl & 1)


def rows(path: Path) -> dict[tuple[str, int, int], list[int]]:
    """The lanes for every GUID and two ports."""
    found, guid = {}, ""
    for line in path.read_text().splitlines():
        if heading := re.match(r"(?:Switch|Channel Adapter) (0x[0-9a-f]+),", line):
            guid = heading[1]
        elif row := re.match(r"(\d+) +(\d+) +: (.*)", line):
            found[guid, int(row[1]), int(row[2])] = [int(vl) for vl in row[3].split()]
    return found


@pytest.mark.nightly
def test_files_that_do_not_fit_are_refused_with_a_reason(plugin: Path, tmp_path: Path) -> None:
    result = route(from_topology(obliv.topology("torus:4x4")), "dor-dateline", lanes=2)
    written(result, tmp_path)
    files = {kind: (tmp_path / f"new.{kind}").read_text() for kind in ("lfts", "sl2vl", "psl")}
    heading = files["lfts"].index("Unicast lids", 1)
    row = files["lfts"].splitlines()[2]
    cases = [
        ("lfts", files["lfts"].replace(row, row.split()[0] + " 200 " + row.split(" ", 2)[2], 1), "which has no link"),
        ("lfts", files["lfts"][heading:], "has no table of switch 0x0002c90200001000"),
        ("lfts", files["lfts"].replace(row, "0xfffff 1", 1), r"new\.lfts:3: invalid row"),
        ("sl2vl", files["sl2vl"].replace(" : 0  0", " : 9  0", 1), r"VL 9 at port \d+ .* operates 8"),
        ("sl2vl", files["sl2vl"].replace(" : 0  0", " : 16 0", 1), r"new\.sl2vl:\d+: invalid row"),
        ("psl", files["psl"][:-40], r"new\.psl:\d+: invalid line"),
        ("psl", "", r"new\.psl:0: contains nothing"),
    ]
    with simulated(tmp_path / "fabric.net", tmp_path / "run") as simulator:
        for kind, text, reason in cases:
            (tmp_path / f"new.{kind}").write_text(text)
            assert simulator.opensm(*configured(simulator, plugin)) == "minhop"
            log = (simulator.folder / "osm.log").read_text()
            assert re.search(reason, log), (reason, log)
            (tmp_path / f"new.{kind}").write_text(files[kind])
        (tmp_path / "new.lfts").unlink()
        assert simulator.opensm(*configured(simulator, plugin, "obliv,nue")) == "nue"
        (tmp_path / "new.lfts").write_text(files["lfts"])
        assert simulator.opensm(*configured(simulator, plugin)) == "obliv"
