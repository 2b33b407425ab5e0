"""Layered tables and their policy, loaded by OpenSM: its tables and its answers are those of the files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.fabric.lanes.test_lanes_opensm import judged
from tests.fabric.opensm import meaning, needs_opensm, simulated, where
from tests.fabric.reroute.layers.test_layers import level_of

import obliv
from obliv.fabric.generate import from_topology
from obliv.fabric.reroute.route import route
from obliv.fabric.results.route import FabricRoute


def moved_levels(result: FabricRoute, lid: dict[int, int], source: Path, target: Path) -> None:
    """Write service levels pair by pair with the LIDs that ports, by their GUIDs, have now."""
    ends = result.fabric.endpoints.tolist()
    moved = {int(result.fabric.ports.lid[slot]): lid[int(result.fabric.ports.guid[slot])] for slot in ends}
    lines = [line.split() for line in source.read_text().splitlines()]
    target.write_text("".join(f"{node} {moved[int(goal)]} {sl}\n" for node, goal, sl in lines))


@needs_opensm
@pytest.mark.parametrize(("spec", "lanes"), [("ring:6", 2), pytest.param("torus:5x5", 3, marks=pytest.mark.nightly)])
def test_the_subnet_manager_hands_out_the_lanes(spec: str, lanes: int, tmp_path: Path) -> None:
    result = route(from_topology(obliv.topology(spec)), "layered", lanes=lanes, effort=0.02)
    files = {name: tmp_path / name for name in ("fabric.net", "new.lfts", "policy")}
    obliv.fabric.write_net(result.fabric, files["fabric.net"])
    obliv.fabric.write_tables(result.tables, result.fabric, files["new.lfts"])
    obliv.fabric.write_policy(result.levels, result.fabric, files["policy"])
    options = ["-R", "file", "-U", str(files["new.lfts"]), "-Q", "-Y", str(files["policy"])]
    with simulated(files["fabric.net"], tmp_path / "run") as simulator:
        dumps = ["-D", "0x43", "--dump_files_dir", str(simulator.folder)]
        with simulator.managed(*options, *dumps):
            found = obliv.fabric.read_fabric(simulator.kept("scan.txt", "ibnetdiscover"))
            loaded = obliv.fabric.read_tables(simulator.folder / "opensm-lfts.dump", found)
            wanted = meaning(result.fabric, result.tables)
            assert wanted.items() <= meaning(found, loaded).items()
            lid = {int(found.ports.guid[slot]): int(found.ports.lid[slot]) for slot in found.endpoints.tolist()}
            guid = result.fabric.ports.guid[result.fabric.endpoints].tolist()
            for s, source in enumerate(guid):
                for d, goal in enumerate(guid):
                    if s != d:
                        words = ("saquery", "PR", "--slid", str(lid[source]), "--dlid", str(lid[goal]))
                        answer = re.search(r"\bsl\.+0x([0-9a-fA-F]+)", simulator.run(*words))
                        assert answer is not None
                        assert int(answer[1], 16) == level_of(result.levels, result.fabric, s, d)
        if where("ibdmchk"):
            obliv.fabric.write_psl(result.levels, result.fabric, tmp_path / "new.psl")
            moved_levels(result, lid, tmp_path / "new.psl", simulator.folder / "now.psl")
            assert judged(simulator.folder, "-c", "now.psl", "-d", "opensm-sl2vl.dump")
            assert not judged(simulator.folder)  # on one lane
