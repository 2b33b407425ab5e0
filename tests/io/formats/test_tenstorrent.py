"""Mesh graph descriptors of Tenstorrent: chips as obliv numbers them, and one line for whatever is wrong."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import obliv
from obliv.errors import FileError, InputError
from obliv.io.formats.topology_file import file

GALAXY = """\
# eight rows of four chips
mesh_descriptors {
  name: "M0"
  arch: BLACKHOLE
  device_topology { dims: [ 8, 4 ], dim_types: [ LINE, RING ] }
  host_topology   { dims: [ 1, 1 ] }
  channels { count: 2 policy: STRICT }
}
pinnings { logical_fabric_node_id { mesh_id: 0 chip_id: 0 } }
top_level_instance { mesh { mesh_descriptor: "M0" mesh_id: 0 } }
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "mesh.textproto"
    path.write_text(text)
    return path


def pairs(topology: obliv.Topology) -> list[tuple[int, int]]:
    return sorted(zip(topology.tail.tolist(), topology.head.tolist(), strict=True))


def test_chips_are_counted_row_by_row(tmp_path: Path) -> None:
    mesh = file(written(tmp_path, GALAXY))
    expected = []
    for row in range(8):
        for column in range(4):
            chip = 4 * row + column
            expected += [(chip, 4 * row + (column + step) % 4) for step in (1, -1)]
            expected += [(chip, 4 * (row + step) + column) for step in (1, -1) if 0 <= row + step < 8]
    assert pairs(mesh) == sorted(expected)
    assert mesh.name_of(7) == "(3,1)"
    obliv.testing.check_topology(mesh)


@pytest.mark.parametrize("spec", ["dor", "romm", "o1turn", "valiant", "u2turn"])
def test_rings_and_lines_together_have_the_loads_of_their_paths(spec: str, tmp_path: Path) -> None:
    mesh = file(written(tmp_path, GALAXY.replace("[ 8, 4 ]", "[ 3, 4 ]")))
    routing, traffic = obliv.routing(spec, mesh), obliv.traffic("random-permutation:seed=3", mesh)
    expected = [Fraction(0)] * mesh.channels
    for source, row in enumerate(traffic.to_matrix()):
        for end, rate in enumerate(row):
            for channels, chance in routing.paths(source, end) if rate else ():
                for channel in channels:
                    expected[channel] += chance * rate
    assert list(routing.pair_loads().under(traffic)) == expected


@pytest.mark.parametrize(
    ("shape", "spec"),
    [
        ("dims: [ 1, 8 ] dim_types: [ LINE, RING ]", "ring:8"),
        ("dims: [ 4, 8 ]", "mesh:8x4"),
        ("dims: 4, dims: 8; dim_types: RING dim_types: RING", "torus:8x4"),
        ("dims: [2, 3, 4] types: [RING, RING, RING]", "torus:4x3x2"),
    ],
)
def test_other_shapes(shape: str, spec: str, tmp_path: Path) -> None:
    text = GALAXY.replace("dims: [ 8, 4 ], dim_types: [ LINE, RING ]", shape)
    mesh = file(written(tmp_path, text))
    assert pairs(mesh) == pairs(obliv.topology(spec))
    assert len(mesh.notes) == 1


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("LINE, RING", "LINE, LOOP", 5, "use LINE or RING"),
        ("LINE, RING ]", "LINE, RING, RING ]", 5, "a type a dimension"),
        ("[ 8, 4 ]", "[ 8, x ]", 5, "number of chips"),
        ("[ 8, 4 ], dim_types: [ LINE, RING ]", "[ 1, 1 ]", 5, "at least two chips"),
        ("[ 8, 4 ]", "[ 999999, 999999 ]", None, "999999"),
        ('mesh_descriptor: "M0"', 'mesh_descriptor: "M1"', 10, "known: M0"),
        ('mesh_descriptor: "M0"', "", None, "mesh_descriptor stands 0 times"),
        ("mesh_id: 0 }", "mesh_id: 0", 10, "the file ends in the middle"),
        ("mesh { mesh_descriptor", "graph { mesh_descriptor", 10, "graph of several meshes"),
        ("  arch: BLACKHOLE", "  express_connections { src: 0 dst: 5 }", 4, "express connections are not read"),
        ('name: "M0"', "name { }", 3, "name is no name"),
        ("channels { count: 2", "channels { = 2", 7, "'='"),
        ("channels { count: 2", "channels { count: }", 7, "a value is expected"),
        ("pinnings {", "pinnings }", 9, "a value is expected"),
        ("arch: BLACKHOLE", "arch: " + "{ x: " * 30, 4, "more than 20"),
    ],
)
def test_faults(old: str, new: str, line: int | None, said: str, tmp_path: Path) -> None:
    assert old in GALAXY
    with pytest.raises(InputError) as caught:
        file(written(tmp_path, GALAXY.replace(old, new, 1)))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    if line is not None:
        assert isinstance(caught.value, FileError)
        assert caught.value.line == line


@given(cut=st.integers(0, len(GALAXY)), length=st.integers(0, 40), more=st.text("{}[]:,;\"' #aM0\n", max_size=5))
def test_damaged_files_give_a_network_or_one_line(
    tmp_path_factory: pytest.TempPathFactory, cut: int, length: int, more: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.textproto"
    path.write_text(GALAXY[:cut] + more + GALAXY[cut + length :])
    try:
        file(path, format="tenstorrent")
    except InputError as error:
        assert "\n" not in str(error)
