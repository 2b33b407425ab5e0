"""Routings written as tables and CSV, and read back."""

from __future__ import annotations

import csv
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.designs.networks import networks
from tests.strategies import examples

import obliv
from obliv.cli import main
from obliv.io import write_csv_paths, write_path_table
from obliv.routings.paths import checked_paths


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("topology", "routing", "word"),
    [
        ("mesh:3x3", "o1turn", "path"),
        ("torus:2x3", "valiant", "path"),
        ("torus:3x2", "dor", "hop"),
        ("torus:4x3", "ecmp", "hop"),
        ("kautz:2,2", "shortest", "hop"),
        ("fattree:4,2", "dmodk", "hop"),
        ("fattree:4,2", "smodk", "path"),
        ("xgft:2;2,2;1,2", "omrmn", ""),
    ],
)
def test_what_is_written_is_read(topology: str, routing: str, word: str, tmp_path: Path) -> None:
    network, path = obliv.topology(topology), tmp_path / "routes.txt"
    original = obliv.routing(routing, network)
    write_path_table(original, path)
    assert path.read_text().splitlines()[1].startswith(word)
    read = obliv.routing(f"table:{path}", network)
    assert obliv.worst_case(read).channel_load == obliv.worst_case(original).channel_load
    for s in network.terminals.tolist():
        for d in network.terminals.tolist():
            if s != d:
                assert dict(checked_paths(read, s, d)) == dict(checked_paths(original, s, d))


@examples(6)
@given(st.integers(0, 10**9))
def test_any_network(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    network = networks(seed)
    path = tmp_path_factory.mktemp("routes") / "routes.txt"
    design = obliv.design(network, then=None).subject
    for routing in (design, obliv.routing("ecmp", network)):
        write_path_table(routing, path)
        read = obliv.routing(f"table:{path}", network)
        assert obliv.worst_case(read).channel_load == obliv.worst_case(routing).channel_load


def test_csv(tmp_path: Path) -> None:
    network = obliv.topology("torus:2x3")
    routing = obliv.routing("valiant", network)
    write_csv_paths(routing, tmp_path / "routes.csv")
    sums: dict[tuple[str, str], Fraction] = {}
    with open(tmp_path / "routes.csv", newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            pair = row["source"], row["destination"]
            sums[pair] = sums.get(pair, Fraction(0)) + Fraction(row["probability_exact"])
            nodes, channels = ([int(word) for word in row[key].split()] for key in ("nodes", "channels"))
            assert [int(network.tail[c]) for c in channels] == nodes[:-1]
            assert [int(network.head[c]) for c in channels] == nodes[1:]
            assert int(row["hops"]) == len(channels)
            assert float(row["probability"]) == float(Fraction(row["probability_exact"]))
            assert pair == (network.name_of(nodes[0]), network.name_of(nodes[-1]))
    assert set(sums.values()) == {1}
    assert len(sums) == 36


@pytest.mark.parametrize(
    "labels", [["a", "b", "c"], ["a b", "b", "c"], ["a", "a", "c"], ["2", "1", "0"], ["a=1", "b", "c"]]
)
def test_names(labels: list[str], tmp_path: Path) -> None:
    ends = [(0, 1), (1, 2), (2, 0)]
    network = obliv.build("named", 3, ends, labels=labels)
    routing = obliv.routing("shortest", network)
    write_path_table(routing, tmp_path / "routes.txt")
    read = obliv.routing(f"table:{tmp_path / 'routes.txt'}", network)
    assert [dict(checked_paths(read, 0, d)) for d in (1, 2)] == [dict(checked_paths(routing, 0, d)) for d in (1, 2)]


def test_names_that_a_table_cannot_hold(tmp_path: Path) -> None:
    network = obliv.build("named", 3, [(0, 1), (1, 2), (2, 0)], labels=["1", "a b", "c"])
    with pytest.raises(obliv.FileError, match="write CSV"):
        write_path_table(obliv.routing("shortest", network), tmp_path / "routes.txt")


@pytest.mark.nightly
def test_a_saved_design(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["design", "torus:4x4", "--then", "nothing", "--output", "best.json"]) == 0
    assert main(["export", "torus:4x4", "design:best.json", "--to", "table", "-o", "routes.txt"]) == 0
    assert "table:routes.txt" in capsys.readouterr().err
    torus = obliv.topology("torus:4x4")
    assert obliv.worst_case(obliv.routing("table:routes.txt", torus)).channel_load == 1
    assert main(["export", "torus:4x4", "design:best.json", "--to", "csv", "-o", "best.json"]) == 2
    assert main(["export", "torus:4x4", "dor", "--to", "table", "-o", "x.txt", "--rate", "0.2"]) == 2
    assert "--rate belongs to --to booksim" in capsys.readouterr().err


def test_translated_paths_are_those_of_the_channel_map() -> None:
    """The paths of a translated design from every source, by the maps of all channels; with parallel channels too."""
    from obliv.topologies.cartesian import channel_map

    for spec in ("torus:4x2", "torus:5x3"):
        routing = obliv.design(spec, then=None).subject
        group = routing._group
        assert group is not None
        for source in range(routing.topology.nodes):
            moved = channel_map(routing.topology, group.add(np.arange(routing.topology.nodes), source))
            assert moved is not None
            for k in range(1, routing.topology.nodes):
                expected = [(tuple(moved[list(path)].tolist()), share) for path, share in routing.paths(0, k)]
                assert routing.paths(source, int(group.add(k, source))) == expected


class Listed(obliv.Routing):
    """One path a pair on a ring: the short way, but for some pairs."""

    others: dict[tuple[int, int], list[int]]

    def paths(self, source: int, destination: int) -> list[tuple[list[int], int]]:
        nodes = self.others.get((source, destination), [source, destination] if source != destination else [source])
        return [([self.topology.channel(u, v) for u, v in pairwise(nodes)], 1)]


@pytest.mark.parametrize(
    ("others", "word"),
    [
        ({}, "hop"),
        ({(0, 1): [0, 2, 1]}, "hop"),  # 2 sends on to 1 as it does its own packets
        ({(0, 1): [0, 2, 1], (2, 1): [2, 0, 1]}, "path"),  # the next hop of 0 depends on the source
        ({(0, 1): [0, 1, 2, 1]}, "path"),  # passes its destination
        ({(0, 0): [0, 1, 0]}, "path"),  # what a terminal sends itself uses channels
    ],
)
def test_single_paths_are_next_hops_where_these_say_it_all(
    others: dict[tuple[int, int], list[int]], word: str, tmp_path: Path
) -> None:
    ring = obliv.ring(3)
    routing = Listed(ring, "listed")
    routing.others = others
    write_path_table(routing, tmp_path / "routes.txt")
    assert {line.split()[0] for line in (tmp_path / "routes.txt").read_text().splitlines()[1:]} == {word}
    read = obliv.routing(f"table:{tmp_path / 'routes.txt'}", ring)
    for s, d in {(s, d) for s, d in product(range(3), repeat=2) if s != d} | set(others):
        assert dict(checked_paths(read, s, d)) == dict(checked_paths(routing, s, d))
