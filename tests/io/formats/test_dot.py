"""Drawings for Graphviz, read back line by line, and by Graphviz itself where it is installed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import obliv
from obliv.cli import main
from obliv.errors import InputError
from obliv.io import write_dot

_EDGE = re.compile(r"  (\d+) -> (\d+)(?: \[(.*)\])?;")


def edges(path: Path) -> list[tuple[int, int, str]]:
    lines = path.read_text().splitlines()
    assert lines[0].startswith("digraph ")
    assert lines[-1] == "}"
    found = [_EDGE.fullmatch(line) for line in lines if " -> " in line]
    return [(int(edge[1]), int(edge[2]), edge[3] or "") for edge in found if edge]


@pytest.mark.parametrize("spec", ["mesh:3x2", "fattree:4,2", "kautz:2,2", "torus:2x2", "line:3,bandwidth=2"])
def test_links_are_drawn_once_and_channels_with_loads_by_themselves(spec: str, tmp_path: Path) -> None:
    rule = obliv.routing("shortest", spec)
    topology, path = rule.topology, tmp_path / "net.dot"
    ends = list(zip(topology.tail.tolist(), topology.head.tolist(), strict=True))
    write_dot(topology, path)
    drawn = edges(path)
    both = [(b, a) for a, b, attributes in drawn if "dir=none" in attributes]
    assert sorted([*[(a, b) for a, b, _ in drawn], *both]) == sorted(ends)
    loads = rule.pair_loads().under(obliv.traffic("uniform", topology))
    write_dot(topology, path, loads)
    labels = [(a, b, re.search(r'label="([^"]*)"', rest)) for a, b, rest in edges(path)]
    assert [(a, b, label and label[1]) for a, b, label in labels] == [
        (a, b, str(load)) for (a, b), load in zip(ends, loads, strict=True)
    ]
    with pytest.raises(InputError, match="loads for"):
        write_dot(topology, path, loads[1:])


@pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz")
def test_graphviz_reads_any_name(tmp_path: Path) -> None:
    names = ['say "no"', "back\\slash\\", "ünï → node", "a\nb", "<b>html</b>"]
    network = obliv.build("odd", 5, [(v, (v + 1) % 5) for v in range(5)], labels=names)
    write_dot(network, tmp_path / "odd.dot")
    done = subprocess.run(["dot", "-Tjson", "odd.dot"], cwd=tmp_path, check=True, capture_output=True, text=True)
    graph = json.loads(done.stdout)
    assert [node["label"].replace("\\\\", "\\") for node in graph["objects"]] == [n.replace("\n", "?") for n in names]
    assert [(edge["tail"], edge["head"]) for edge in graph["edges"]] == [(v, (v + 1) % 5) for v in range(5)]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "net.dot"
    assert main(["export", "fattree:4,2", "--to", "dot", "-o", str(path)]) == 0
    assert "dot -Tsvg" in capsys.readouterr().err
    assert main(["export", "mesh:3x3", "dor", "--to", "dot", "--traffic", "transpose", "-o", str(path)]) == 0
    assert 'color="red"' in path.read_text()
    for words, message in (
        (["mesh:3x3", "--to", "booksim"], "needs a ROUTING"),
        (["mesh:3x3", "dor", "--to", "gml"], "leave out the routing"),
        (["mesh:3x3", "--to", "dot", "--traffic", "uniform"], "--traffic belongs to"),
    ):
        assert main(["export", *words, "-o", str(path)]) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize("to", ["graphml", "gml", "edgelist", "anynet"])
def test_networks_are_read_back(to: str, tmp_path: Path) -> None:
    path = tmp_path / "net"
    assert main(["export", "mesh:3x2", "--to", to, "-o", str(path)]) == 0
    mesh, again = obliv.topology("mesh:3x2"), obliv.topology(f"file:{path}")
    if to == "anynet":
        assert len(again.terminals) == 6
    else:
        assert again.same_network(mesh)
