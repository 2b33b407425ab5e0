"""Configurations for CAMINOS: parsed by its grammar, and the network and the paths followed by its rules."""

from __future__ import annotations

import re
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

import networkx
import pytest

import obliv
from obliv.cli import main
from obliv.errors import FileError, RoutingError, TopologyError, TrafficError
from obliv.io import write_caminos

_TOKEN = re.compile(r'\s+|//[^\n]*\n|(-?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)|("[^"\\]*")|([A-Za-z_]\w*)|([{}\[\],:!])')


def tokens(text: str) -> list[str]:
    found, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        assert match, text[at : at + 20]
        at = match.end()
        found += [word for word in match.groups() if word is not None]
    return found


def parsed(text: str) -> Any:
    """The value of a text: objects are (name, members), arrays are lists; a comma may stand behind the last one."""
    words = tokens(text)

    def value() -> Any:
        word = words.pop(0)
        if word == "[":
            return items("]", value)
        if word[0] == '"':
            return word[1:-1]
        if word in ("true", "false"):
            return word == "true"
        if word[0].isdigit():
            return float(word)
        assert word.isidentifier(), word
        if words and words[0] == "{":
            words.pop(0)
            return word, dict(items("}", pair))
        return word, {}

    def pair() -> tuple[str, Any]:
        name = words.pop(0)
        assert words.pop(0) == ":"
        return name, value()

    def items(end: str, read: Any) -> list[Any]:
        found: list[Any] = []
        while words[0] != end:
            found.append(read())
            if words[0] != end:
                assert words.pop(0) == ","
        words.pop(0)
        return found

    whole = value()
    assert not words
    return whole


def configuration(path: Path) -> dict[str, Any]:
    name, members = parsed(path.read_text())
    assert name == "Configuration"
    assert set(members["router"][1]) >= {
        "virtual_channels", "virtual_channel_policies", "buffer_size", "bubble", "flit_size", "intransit_priority",
        "allow_request_busy_port", "output_prioritize_lowest_label", "output_buffer_size",
    }  # fmt: skip
    assert isinstance(members, dict)
    return members


def neighbours(kind: str, sides: list[int]) -> dict[int, dict[int, list[int]]]:
    """Routers that each router of a cube reaches in each dimension, the first one varying fastest."""
    near: dict[int, dict[int, list[int]]] = {}
    for node in range(prod(sides)):
        near[node] = {}
        stride = 1
        for dim, side in enumerate(sides):
            at = node // stride % side
            if kind == "Mesh":
                ends = [x for x in (at - 1, at + 1) if 0 <= x < side]
            elif kind == "Torus":
                ends = [(at - 1) % side, (at + 1) % side]
            else:
                ends = [x for x in range(side) if x != at]
            near[node][dim] = [node + (x - at) * stride for x in ends]
            stride *= side
    return near


def dor_loads(kind: str, sides: list[int], order: list[int]) -> dict[tuple[int, int], Fraction]:
    """Loads of links under uniform traffic when dimensions are corrected in order, ties of a torus half each."""
    loads: dict[tuple[int, int], Fraction] = {}
    count = prod(sides)
    for source in range(count):
        for end in range(count):
            ways = [(source, Fraction(1))]
            for dim in order:
                stride = prod(sides[:dim])
                side = sides[dim]
                following: dict[int, Fraction] = {}
                for node, share in ways:
                    offset = (end // stride % side) - (node // stride % side)
                    for step, hops, part in _moves(kind, offset, side):
                        at = node
                        for _ in range(hops):
                            x = (at // stride % side + step) % side
                            other = at + (x - at // stride % side) * stride
                            loads[at, other] = loads.get((at, other), Fraction(0)) + share * part / count
                            at = other
                        following[at] = following.get(at, Fraction(0)) + share * part
                ways = list(following.items())
            assert ways == [(end, 1)]
    return loads


def _moves(kind: str, offset: int, side: int) -> list[tuple[int, int, Fraction]]:
    """Step, hops and share of each way to cover an offset in one dimension."""
    if offset == 0:
        return [(1, 0, Fraction(1))]
    if kind == "Hamming":
        return [(offset, 1, Fraction(1))]
    if kind == "Mesh":
        return [(1 if offset > 0 else -1, abs(offset), Fraction(1))]
    up, down = offset % side, -offset % side
    if up == down:
        return [(1, up, Fraction(1, 2)), (-1, down, Fraction(1, 2))]
    return [(1, up, Fraction(1))] if up < down else [(-1, down, Fraction(1))]


@pytest.mark.parametrize(
    ("spec", "routing", "kind"),
    [
        ("mesh:4x3", "dor", "Mesh"),
        ("mesh:3x2x2", "dor:order=2-0-1", "Mesh"),
        ("torus:4x3", "dor:yx", "Torus"),
        ("hyperx:3x3", "dor", "Hamming"),
    ],
)
def test_dimension_order_on_networks_that_caminos_has(spec: str, routing: str, kind: str, tmp_path: Path) -> None:
    rule = obliv.routing(routing, spec)
    topology = rule.topology
    path = tmp_path / "sim.cfg"
    assert write_caminos(rule, path, rate=0.25) == (path,)
    config = configuration(path)
    name, members = config["topology"]
    sides = [int(side) for side in members["sides"]]
    assert (name, members["servers_per_router"]) == (kind, 1)
    near = neighbours(kind, sides)
    links = {(node, other) for node, dims in near.items() for ends in dims.values() for other in ends}
    assert links == set(zip(topology.tail.tolist(), topology.head.tolist(), strict=True))
    assert config["routing"][0] == "DOR"
    order = [int(dim) for dim in config["routing"][1]["order"]]
    loads = dor_loads(kind, sides, order)
    expected = rule.pair_loads().under(obliv.traffic("uniform", topology))
    for channel, load in enumerate(expected):
        assert loads.get((int(topology.tail[channel]), int(topology.head[channel])), 0) == load
    assert config["router"][1]["bubble"] == (kind == "Torus")
    assert len(config["link_classes"]) == len(sides) + 1
    traffic = config["traffic"][1]
    assert (traffic["load"], traffic["servers"], traffic["pattern"][0]) == (0.25, topology.nodes, "Uniform")


def test_o1turn_has_a_virtual_channel_for_each_order(tmp_path: Path) -> None:
    write_caminos(obliv.routing("o1turn", "mesh:4x4"), tmp_path / "sim.cfg")
    config = configuration(tmp_path / "sim.cfg")
    assert config["routing"] == (
        "O1TURN",
        {"reserved_virtual_channels_order01": [0], "reserved_virtual_channels_order10": [1]},
    )
    assert config["router"][1]["virtual_channels"] == 2


@pytest.mark.parametrize("spec", ["graph:petersen", "circulant:7,1x3", "random-regular:10,3"])
def test_other_networks_are_files_of_neighbours(spec: str, tmp_path: Path) -> None:
    topology = obliv.topology(spec)
    files = write_caminos(obliv.routing("ecmp", topology), tmp_path / "sim.cfg", "shift:1")
    config = configuration(files[0])
    words = (tmp_path / "sim.adj").read_text().split("\n")
    assert words[0] == f"NODOS {topology.nodes}"
    near = {int(words[k].split()[1]): list(map(int, words[k + 1].split())) for k in range(2, len(words) - 1, 2)}
    assert int(words[1].split()[1]) == max(map(len, near.values()))
    links = [(node, other) for node, others in near.items() for other in others]
    assert links == list(zip(topology.tail.tolist(), topology.head.tolist(), strict=True))
    assert config["topology"] == ("File", {"filename": "sim.adj", "format": 0, "servers_per_router": 1})
    lines = [tuple(map(int, line.split())) for line in (tmp_path / "sim.map").read_text().splitlines()]
    assert lines == [(s, (s + 1) % topology.nodes) for s in range(topology.nodes)]
    hops = networkx.diameter(networkx.Graph(links))
    channels = config["routing"][1]["channels"]
    assert channels == [*([k] for k in range(hops)), list(range(hops))]
    assert config["router"][1]["virtual_channels"] == hops


@pytest.mark.parametrize(
    ("spec", "routing", "traffic", "error"),
    [
        ("mesh:3x3", "valiant", "uniform", RoutingError),
        ("mesh:3x3", "romm", "uniform", RoutingError),
        ("torus:3x3", "o1turn", "uniform", RoutingError),
        ("fattree:4,2", "ecmp", "uniform", TopologyError),
        ("mesh:3x3", "dor", "1/2*uniform+1/2*transpose", TrafficError),
    ],
)
def test_what_caminos_cannot_do_is_refused(
    spec: str, routing: str, traffic: str, error: type[Exception], tmp_path: Path
) -> None:
    with pytest.raises(error, match="CAMINOS"):
        write_caminos(obliv.routing(routing, spec), tmp_path / "sim.cfg", traffic)
    assert not list(tmp_path.iterdir())


def test_networks_that_fall_apart_and_names_of_other_files(tmp_path: Path) -> None:
    pairs = obliv.build("pairs", 4, [(0, 1), (1, 0), (2, 3), (3, 2)])
    with pytest.raises(RoutingError, match="disconnected"):
        write_caminos(obliv.routing("ecmp", pairs), tmp_path / "sim.cfg")
    for links, message in (([], "needs a network with links"), ([(0, 0), (0, 1), (1, 0)], "to itself: 0 -> 0")):
        with pytest.raises(TopologyError, match=message):
            write_caminos(obliv.routing("ecmp", obliv.build("odd", 2, links)), tmp_path / "sim.cfg")
    with pytest.raises(FileError, match=r"choose \.cfg"):
        write_caminos(obliv.routing("dor", "mesh:2x2"), tmp_path / "sim.map")
    assert not list(tmp_path.iterdir())


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "sim.cfg"
    words = ["export", "torus:4x4", "dor", "--to", "caminos", "--traffic", "transpose", "-o", str(path)]
    assert main([*words, "--rate", "0.5"]) == 0
    assert "caminos sim.cfg" in capsys.readouterr().err
    assert configuration(path)["traffic"][1]["load"] == 0.5
    assert main([*words, "--rate", "0"]) == 2
