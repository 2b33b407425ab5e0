"""Claims about networks made in Python: the network is inside, and is read as untrusted content."""

from __future__ import annotations

import copy
import dataclasses
import json
import random
import re
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest
from tests.claims import save_claim

import obliv
from obliv.cli import main
from obliv.errors import FileError, TopologyError
from obliv.topologies.saved import carried, network_of


def _wheel() -> obliv.Topology:
    links = [(0, v) for v in range(1, 6)] + [(v, 0) for v in range(1, 6)]
    links += [(v, 1 + v % 5) for v in range(1, 6)]
    speeds = [Fraction(k % 3 + 1, 2) for k in range(len(links))]
    return obliv.build("wheel <1>", 6, links, bandwidth=speeds, labels=("hub", *"abcde"), terminals=[5, 1, 3, 0])


NETWORKS = {
    "networkx": obliv.from_networkx(networkx.petersen_graph()),
    "build": _wheel(),
    "terminals": obliv.mesh(4, 3).with_terminals([0, 3, 8, 11, 5]),
    "rates": obliv.ring(6).with_rates(injection=["1/2"] * 3 + [1] * 3),
    "both": _wheel().with_rates(ejection=[1, 2, "1/3", 1]).with_terminals([1, 3, 2]),
    "large": obliv.from_networkx(networkx.random_regular_graph(4, 40, seed=1)),
    "larger": obliv.from_networkx(networkx.random_regular_graph(4, 150, seed=1)),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.nightly if name == "larger" else ()) for name in NETWORKS]
)
def test_it_verifies_from_the_command_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    network = NETWORKS[name]
    monkeypatch.chdir(tmp_path)
    result = obliv.worst_case(obliv.Shortest(network), certificate=True)
    result.save("claim.json")
    assert main(["verify", "claim.json"]) == 0
    out = capsys.readouterr().out
    assert "verdict   proved" in out
    first = out.splitlines()[0]
    counts = f"({network.nodes} nodes, {network.channels} channels, {len(network.terminals)} terminals)"
    called = f"{counts} called {network.spec!a}"
    assert re.fullmatch(rf"verification: shortest on network [0-9a-f]{{16}} {re.escape(called)}", first)
    assert f"ok: the one inside the claim: network {first.split()[4]} {called}" in out
    assert obliv.load("claim.json") == result


def test_a_loaded_claim_is_drawn_on_the_network_inside(tmp_path: Path) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    result = obliv.worst_case(obliv.Shortest(NETWORKS["build"]), certificate=True)
    result.save(tmp_path / "claim.json")
    ax = obliv.load(tmp_path / "claim.json").plot()
    assert "wheel <1>" in ax.get_title()
    pyplot.close(ax.figure)


@pytest.mark.parametrize("name", NETWORKS)
def test_the_network_comes_back_whole(name: str) -> None:
    network = NETWORKS[name]
    content = json.loads(json.dumps(carried(network)))
    again = network_of(content, network.spec, network.channels)
    assert again.same_network(network)
    assert again.labels == network.labels
    assert len(json.dumps(content)) < 30 * network.channels + 200


@pytest.mark.parametrize("spec", ["mesh:4x4", "fattree:4,2", "random-regular:n=10,d=3,seed=1"])
def test_a_network_that_its_spec_builds_is_not_carried(spec: str) -> None:
    assert carried(obliv.topology(spec)) is None


def test_a_network_with_the_name_of_another_one_proves_nothing() -> None:
    """Its claim would be read as one about the network that its spec builds."""
    pytest.importorskip("highspy")
    other = obliv.from_networkx(networkx.random_regular_graph(3, 12, seed=5), spec="torus:4x3")
    with pytest.raises(TopologyError, match="is called 'torus:4x3', but is not what this spec builds"):
        obliv.worst_case(obliv.ECMP(other), certificate=True)
    claim = obliv.worst_case(obliv.ECMP(obliv.topology("torus:4x3")), certificate=True)
    with pytest.raises(TopologyError, match="name it otherwise"):
        obliv.verify(claim, topology=other)
    assert obliv.verify(claim, topology=obliv.torus(4, 3)).proved


@pytest.mark.parametrize("spec", ["ring:4 with 4 terminals", "ring:4 with rates", "ring:4", "ring:4,x=1", "ring"])
def test_names_of_changed_networks_are_those_of_their_channels(spec: str) -> None:
    """A path of four nodes has a worst load of 2; the ring that it claims to be has 1."""
    path = obliv.build(spec, 4, [(a, b) for a in range(4) for b in range(4) if abs(a - b) == 1])
    for network in (path, dataclasses.replace(path, sources=(("x", "00"),))):
        with pytest.raises(TopologyError, match="is not what this spec builds"):
            obliv.worst_case(obliv.ECMP(network), certificate=True)
        plain = obliv.worst_case(obliv.ECMP(obliv.ring(4)), certificate=True)
        with pytest.raises(TopologyError, match="is not what this spec builds"):
            obliv.verify(plain, topology=network)
    for network in (obliv.ring(4).with_terminals([0, 2]), obliv.ring(4).with_rates(injection=["1/2"] * 4)):
        assert obliv.verify(obliv.worst_case(obliv.ECMP(network), certificate=True)).proved


def test_a_capacity_of_ones_own_needs_a_name_of_ones_own() -> None:
    network = dataclasses.replace(obliv.mesh(4, 4), capacity_load=Fraction(1, 7))
    with pytest.raises(TopologyError, match="name it otherwise"):
        obliv.worst_case(obliv.ECMP(network), certificate=True)


def test_a_design_carries_its_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("highspy")
    best = obliv.design(obliv.from_networkx(networkx.cycle_graph(4), spec="square"))
    path = tmp_path / "design.json"
    best.save(path)
    assert "network" not in json.loads(path.read_text())["certificate"]["worst"]["certificate"]
    assert main(["verify", str(path)]) == 0
    assert "(4 nodes, 8 channels, 4 terminals) called 'square'" in capsys.readouterr().out


def _claim(network: obliv.Topology) -> dict[str, Any]:
    claim: dict[str, Any] = json.loads(
        json.dumps(obliv.worst_case(obliv.Shortest(network), certificate=True).to_dict())
    )
    return claim


def _verdict(claim: dict[str, Any], path: Path) -> bool:
    save_claim(claim, path)
    return obliv.verify(path).proved


def test_a_network_inside_never_takes_the_place_of_a_known_one(tmp_path: Path) -> None:
    claim = _claim(NETWORKS["build"])
    for name in ("mesh:3x2", " mesh:3x2", "hypercube:3", "file:wheel.graphml", "mesh:3x2 with rates", "mesh"):
        with pytest.raises(FileError, match="name of another one"):
            _verdict(copy.deepcopy(claim) | {"topology": name}, tmp_path / "claim.json")
    changed = _claim(NETWORKS["terminals"])
    for name in ("mesh:4x3", "torus:4x3 with 5 terminals", "my mesh"):
        with pytest.raises(FileError, match="a changed 'mesh:4x3'"):
            _verdict(copy.deepcopy(changed) | {"topology": name}, tmp_path / "claim.json")


BOMB = {"b64zlib": "eJwDAAAAAAE=", "dtype": "int64", "shape": [2**30]}
FORGED: list[tuple[str, Any]] = [
    ("nodes", 10**9),
    ("nodes", -1),
    ("nodes", True),
    ("nodes", "6"),
    ("nodes", 5),
    ("tail", BOMB),
    ("tail", [0]),
    ("tail", [[0] * 15]),
    ("tail", list(range(15, 0, -1))),
    ("head", [2**70] + [0] * 14),
    ("head", [6] * 15),
    ("head", None),
    ("terminals", BOMB),
    ("terminals", []),
    ("terminals", [0, 0, 1, 2]),
    ("terminals", [-1, 1, 2, 3]),
    ("labels", "abcdef"),
    ("labels", ["a"]),
    ("labels", [1] * 6),
    ("bandwidth", {"values": ["0"], "index": [0] * 15}),
    ("bandwidth", {"values": ["1e999999999"], "index": [0] * 15}),
    ("bandwidth", {"values": ["1"], "index": [1] * 15}),
    ("bandwidth", {"values": "1", "index": [0] * 15}),
    ("bandwidth", {"values": ["1"], "index": BOMB}),
    ("injection", ["1"] * 4),
    ("injection", {"values": ["-1"], "index": [0] * 4}),
    ("base", "mesh:3x2"),
    ("base", ["mesh:3x2"]),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("key", "value"), FORGED, ids=lambda value: str(value)[:24])
def test_a_malformed_network_is_one_line(key: str, value: Any, tmp_path: Path, capsys: Any) -> None:
    claim = _claim(NETWORKS["build"])
    claim["certificate"]["network"][key] = value
    path = tmp_path / "claim.json"
    save_claim(claim, path)
    assert main(["verify", str(path)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert "is not a complete claim" in lines[0]
    assert len(lines[0]) < 400


def test_a_long_name_is_refused_at_once(tmp_path: Path) -> None:
    claim = _claim(NETWORKS["terminals"])
    claim["topology"] = "mesh:4x3" + " with 5 terminals" * 50_000 + "!"
    began = time.perf_counter()
    with pytest.raises(FileError, match="letters"):
        _verdict(claim, tmp_path / "claim.json")
    assert time.perf_counter() - began < 5


def test_a_changed_network_proves_nothing_but_what_is_true_of_it(tmp_path: Path) -> None:
    network = NETWORKS["build"]
    honest = _claim(network)
    assert _verdict(copy.deepcopy(honest), tmp_path / "claim.json")
    rng = random.Random(1)
    for _ in range(40):
        claim = copy.deepcopy(honest)
        inside = claim["certificate"]["network"]
        inside["head"][rng.randrange(15)] = rng.randrange(6)
        changed = obliv.build(
            "changed",
            6,
            np.column_stack([inside["tail"], inside["head"]]),
            bandwidth=network.bandwidth,
            terminals=network.terminals.tolist(),
        )
        try:
            proved = _verdict(claim, tmp_path / "claim.json")
        except obliv.OblivError:
            continue
        if proved:
            truth = obliv.worst_case(obliv.Shortest(changed)).channel_load
            assert truth == Fraction(claim["channel_load"]["exact"])
