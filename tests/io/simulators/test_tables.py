"""Tables for noxim and files for HTSIM: read by the rules of their parsers, and followed."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest

import obliv
from obliv.cli import main
from obliv.errors import FileError, RoutingError, TopologyError, TrafficError
from obliv.io import write_htsim, write_noxim

Table = dict[tuple[int, int, int], int]


def read_table(path: Path) -> Table:
    """The next node by node, the node before it, and destination, as noxim reads them.

    It skips a line's first character and takes outputs from column 22 on, each with a comma behind it; an empty line,
    and one of more than 126 characters, end the file.
    """
    table: Table = {}
    for line in path.read_text().splitlines():
        assert 0 < len(line) <= 126
        if line[0] == "%":
            continue
        match = re.match(r"(\d+) (\d+)->(\d+) (\d+)", line[1:22])
        assert match
        node, before, own, end = map(int, match.groups())
        assert node == own
        output = re.fullmatch(r"(\d+)->(\d+),", line[22:])
        assert output
        assert int(output[1]) == node
        assert (node, before, end) not in table
        table[node, before, end] = int(output[2])
    return table


def followed(table: Table, rates: dict[tuple[int, int], float]) -> Counter[tuple[int, int]]:
    """Loads of links when packets follow a table."""
    loads: Counter[tuple[int, int]] = Counter()
    for (source, end), rate in rates.items():
        before = node = source
        while node != end:
            before, node = node, table[node, before, end]
            loads[before, node] += rate  # type: ignore[assignment]
    return loads


@pytest.mark.parametrize(
    ("spec", "routing", "traffic"),
    [
        ("mesh:4x3", "dor", "uniform"),
        ("mesh:4x4", "dor:yx", "transpose"),
        ("mesh:3x4", "shortest", "1/2*uniform+1/2*complement"),
        ("mesh:2x2", "dor", "hot-nodes:1,share=1/3"),
    ],
)
def test_noxim_follows_the_paths_of_the_routing(spec: str, routing: str, traffic: str, tmp_path: Path) -> None:
    rule = obliv.routing(routing, spec)
    topology = rule.topology
    files = write_noxim(rule, tmp_path / "net.yaml", traffic, rate=0.4)
    assert [file.name for file in files] == ["net.yaml", "net.routes", "net.traffic"]
    rows = [line.split() for line in files[2].read_text().splitlines() if line[0] != "%"]
    rates = {(int(s), int(d)): float(rate) for s, d, rate in rows}
    assert all(s != d for s, d in rates)
    loads = followed(read_table(files[1]), rates)
    expected = rule.pair_loads().under(obliv.traffic(traffic, topology))
    for channel, load in enumerate(expected):  # packets of two flits: a rate of 0.4 flits is one of 0.2 packets
        ends = int(topology.tail[channel]), int(topology.head[channel])
        assert loads[ends] == pytest.approx(0.2 * float(load))
    text = files[0].read_text()
    assert f"mesh_dim_x: {topology.radices[0]}\n" in text
    assert f"mesh_dim_y: {topology.radices[1]}\n" in text
    assert 'routing_table_filename: "net.routes"\n' in text


@pytest.mark.parametrize(
    ("spec", "routing", "error", "message"),
    [
        ("torus:4x4", "dor", TopologyError, "two dimensions"),
        ("mesh:4", "dor", TopologyError, "two dimensions"),
        ("mesh:3x3,bandwidth=1x2", "dor", TopologyError, "bandwidths"),
        ("mesh:3x3", "valiant", RoutingError, "noxim"),
        ("mesh:4x4", "o1turn", RoutingError, "draw again whenever an output is busy"),
    ],
)
def test_what_noxim_cannot_do_is_refused(
    spec: str, routing: str, error: type[Exception], message: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message):
        write_noxim(obliv.routing(routing, spec), tmp_path / "net.yaml")
    assert not list(tmp_path.iterdir())


def read_tree(path: Path) -> tuple[dict[str, int], list[dict[str, int]]]:
    """Head and tiers of a topology of HTSIM; every key once in its tier."""
    head: dict[str, int] = {}
    tiers: list[dict[str, int]] = []
    for line in path.read_text().splitlines():
        if line[0] == "#":
            continue
        key, value = line.lower().split(" ")
        if key == "tier":
            assert int(value) == len(tiers)
            tiers.append({})
            continue
        into = tiers[-1] if tiers else head
        assert key not in into
        into[key] = int(value)
    assert head["tiers"] == len(tiers)
    return head, tiers


@pytest.mark.parametrize("spec", ["fattree:4,2", "fattree:4,3", "xgft:2;6,4;1,3", "xgft:3;4,4,3;1,2,4", "eft2:4,4"])
def test_htsim_builds_the_tree(spec: str, tmp_path: Path) -> None:
    """Switches are counted as HTSIM counts them, from links up and oversubscription, and its own checks hold."""
    tree = obliv.topology(spec)
    topo, _ = write_htsim(obliv.routing("ecmp", tree), tmp_path / "net.topo", "shift:1")
    head, tiers = read_tree(topo)
    nodes, pods = head["nodes"], head["nodes"] // head["podsize"]
    assert nodes == len(tree.terminals)
    switches = [nodes // tiers[0]["radix_down"]]
    links = nodes
    for below, tier in pairwise(tiers):
        assert below["radix_down"] // below["radix_up"] == below["oversubscribed"]
        assert links % below["oversubscribed"] == 0
        links //= below["oversubscribed"]
        assert links == switches[-1] * below["radix_up"]
        assert links % tier["radix_down"] == 0
        switches.append(links // tier["radix_down"])
    aggregation = switches[1] // (pods if len(tiers) == 3 else 1)
    assert aggregation == tiers[0]["radix_up"]
    if len(tiers) == 3:
        assert switches[2] // aggregation == tiers[1]["radix_up"]
    heights = Counter(obliv.topology(spec).heights.tolist())  # type: ignore[attr-defined]
    assert switches == [heights[level] for level in range(1, len(tiers) + 1)]


def test_htsim_has_a_message_for_every_pair(tmp_path: Path) -> None:
    _, messages = write_htsim(obliv.routing("ecmp", "fattree:4,2"), tmp_path / "net.topo", "1/2*shift:1+1/2*uniform")
    lines = messages.read_text().splitlines()[1:]
    assert lines[:2] == ["Nodes 8", "Connections 56"]
    found = [re.fullmatch(r"(\d+)->(\d+) id (\d+) start 0 size (\d+)", line) for line in lines[2:]]
    rows = [tuple(map(int, match.groups())) for match in found if match]
    assert [number for _, _, number, _ in rows] == list(range(1, 57))
    for source, end, _, size in rows:
        share = Fraction(1, 16) + Fraction(end == (source + 1) % 8, 2)
        assert size == share * 2_000_000


@pytest.mark.parametrize(
    ("spec", "routing", "error", "message"),
    [
        ("mesh:3x3", "dor", TopologyError, "fat trees"),
        ("fattree:4,4", "ecmp", TopologyError, "two or three levels"),
        ("xgft:2;4,4;1,3", "ecmp", TopologyError, "4 links down and 3 up"),
        ("xgft:2;4,4;2,2", "ecmp", TopologyError, "one link each"),
        ("fattree:4,2", "dmodk", RoutingError, "as ecmp"),
    ],
)
def test_what_htsim_cannot_do_is_refused(
    spec: str, routing: str, error: type[Exception], message: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message):
        write_htsim(obliv.routing(routing, spec), tmp_path / "net.topo")
    assert not list(tmp_path.iterdir())


def test_names_and_rates(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"choose \.yaml"):
        write_noxim(obliv.routing("dor", "mesh:2x2"), tmp_path / "net.routes")
    with pytest.raises(FileError, match=r"choose \.topo"):
        write_htsim(obliv.routing("ecmp", "fattree:4,2"), tmp_path / "net.cm")
    with pytest.raises(TrafficError, match="injection rate of 2"):
        write_noxim(obliv.routing("dor", "mesh:2x2"), tmp_path / "net.yaml", rate=2)
    with pytest.raises(TrafficError, match="more than one packet"):
        write_noxim(
            obliv.routing("dor", "mesh:2x2"), tmp_path / "a.yaml", obliv.traffic("shift:1", "mesh:2x2") * 4, rate=0.5
        )


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "net.yaml")
    assert main(["export", "mesh:3x3", "dor", "--to", "noxim", "-o", path]) == 0
    assert "deadlock" not in capsys.readouterr().err
    after = {"0": "1", "1": "3", "3": "2", "2": "0"}  # clockwise: a cycle of dependencies
    clockwise = tmp_path / "clockwise.txt"
    clockwise.write_text("".join(f"hop {u} {d} {after[u]}\n" for u in after for d in after if u != d))
    assert main(["export", "mesh:2x2", f"table:{clockwise}", "--to", "noxim", "-o", path]) == 0
    assert "packets can deadlock" in capsys.readouterr().err
    words = ["export", "fattree:4,2", "ecmp", "--to", "htsim", "-o", str(tmp_path / "net.topo")]
    assert main(words) == 0
    assert "-topo net.topo -tm net.cm -nodes 8" in capsys.readouterr().err
    assert main([*words, "--rate", "0.1"]) == 2
