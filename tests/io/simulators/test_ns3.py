"""Files for ns-3: routes followed node by node, and, where ns-3 is installed, simulated."""

from __future__ import annotations

import csv
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest

import obliv
from obliv.cli import main
from obliv.errors import FileError, RoutingError
from obliv.io import write_ns3

_HEADERS = next((p for p in (Path("/usr/include/ns3"), Path("/usr/local/include/ns3")) if p.is_dir()), None)


def followed(path: Path) -> dict[int, Fraction]:
    """The load of every channel, from the file alone."""
    links: list[list[str]] = []
    out: dict[tuple[int, int], int] = {}
    listed: dict[tuple[int, int], list[tuple[Fraction, list[int]]]] = {}
    loads: dict[int, Fraction] = {}
    speed: dict[int, Fraction] = {}

    def cross(at: int, link: int, share: Fraction) -> int:
        a, b, forth, _, back, _ = links[link]
        assert str(at) in (a, b)
        channel, there = (int(forth), int(b)) if str(at) == a else (int(back), int(a))
        loads[channel] = loads.get(channel, Fraction(0)) + share / speed[channel]
        return there

    for line in path.read_text().splitlines():
        kind, *words = line.split()
        if kind == "link":
            links.append(words)
            for channel, bandwidth in (words[2:4], words[4:6]):
                speed[int(channel)] = Fraction(bandwidth)
        elif kind == "route":
            out[int(words[0]), int(words[1])] = int(words[2])
        elif kind == "path":
            way = Fraction(words[2]), [int(link) for link in words[3:]]
            listed.setdefault((int(words[0]), int(words[1])), []).append(way)
        elif kind == "flow":
            source, end, amount = int(words[0]), int(words[1]), Fraction(words[2])
            assert bool(out) != bool(listed)
            for chance, way in listed.get((source, end), []):
                at = source
                for link in way:
                    at = cross(at, link, amount * chance)
                assert at == end
            at = source
            while out and at != end:
                at = cross(at, out[at, end], amount)
    return loads


@pytest.mark.parametrize(
    ("spec", "routing", "traffic"),
    [
        ("mesh:4x3", "dor", "uniform"),
        ("mesh:3x3,bandwidth=1x2", "dor", "tornado"),
        ("graph:petersen", "shortest", "shift:1"),
        ("fattree:4,2", "dmodk", "uniform"),
        ("torus:2x3", "shortest", "1/2*shift:1+1/2*uniform"),
        ("kautz:2,2", "shortest", "uniform"),
        ("torus:4x3", "dor", "uniform"),
        ("mesh:3x3", "valiant", "1/2*transpose+1/2*uniform"),
        ("fattree:4,2", "smodk", "uniform"),
        ("mesh:3x2", "1/3*xy+2/3*dor:yx", "shift:1"),
    ],
)
def test_routes_and_paths_load_channels_as_the_routing_does(
    spec: str, routing: str, traffic: str, tmp_path: Path
) -> None:
    rule = obliv.routing(routing, spec)
    files = write_ns3(rule, tmp_path / "net.ns3", traffic)
    assert [file.name for file in files] == ["net.ns3", "obliv-ns3.cc"]
    loads = followed(files[0])
    assert -1 not in loads
    expected = rule.pair_loads().under(obliv.traffic(traffic, rule.topology))
    for channel, load in enumerate(expected):
        assert float(loads.get(channel, 0)) == pytest.approx(float(load))


def test_what_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="choose another"):
        write_ns3(obliv.routing("dor", "mesh:3x3"), tmp_path / "obliv-ns3.cc")
    with pytest.raises(RoutingError, match="a path of 65 hops"):
        write_ns3(obliv.routing("dor", "line:66"), tmp_path / "net.ns3")
    assert not list(tmp_path.iterdir())


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["export", "mesh:3x3", "dor", "--to", "ns3", "-o", str(tmp_path / "net.ns3")]
    assert main([*words, "--rate", "0.1"]) == 2
    assert "its own --rate" in capsys.readouterr().err
    assert main([*words, "--traffic", "transpose"]) == 0
    assert "obliv-ns3 --network=net.ns3" in capsys.readouterr().err


@pytest.mark.nightly
@pytest.mark.skipif(_HEADERS is None or shutil.which("g++") is None, reason="needs ns-3 and g++")
def test_ns3_measures_the_loads_and_saturates_where_they_say(tmp_path: Path) -> None:
    """Under the worst permutation ns-3 delivers everything up to the throughput, and loses packets beyond it.

    Packets that draw their paths come in bursts, which queues of 100 packets take; their loads vary more.
    """
    assert _HEADERS is not None
    cases = (
        ("dor", "mesh:4x4", 0.01),
        ("shortest", "graph:petersen", 0.01),
        ("romm", "torus:4x4", 0.1),
        ("valiant", "mesh:3x3", 0.1),
        ("1/3*xy+2/3*dor:yx", "mesh:4x4", 0.1),
    )
    for name, network, within in cases:
        rule = obliv.routing(name, network)
        worst = obliv.worst_case(rule)
        write_ns3(rule, tmp_path / "net.ns3", obliv.permutation(worst.permutation))
        if not (tmp_path / "sim").exists():
            libraries = [f"-lns3-{part}" for part in ("core", "network", "internet", "point-to-point")]
            compiler = ["g++", "-std=c++17", "-I", str(_HEADERS.parent), "-o", "sim", "obliv-ns3.cc", *libraries]
            subprocess.run(compiler, cwd=tmp_path, check=True)
        limit = float(1 / worst.channel_load)
        loads = rule.pair_loads().under(obliv.permutation(worst.permutation))
        for rate in (0.95 * limit, 1.1 * limit):
            call = ["./sim", "--network=net.ns3", f"--rate={rate}", "--time=4000"]
            done = subprocess.run(call, cwd=tmp_path, check=True, capture_output=True, text=True)
            *rows, last = done.stdout.splitlines()
            delivered, offered = (int(word) for word in last.split() if word.isdigit())
            measured = {int(row["channel"]): float(row["load"]) for row in csv.DictReader(rows)}
            if rate < limit:
                assert delivered >= 0.999 * offered
                assert all(measured[c] == pytest.approx(float(load), abs=within) for c, load in enumerate(loads))
            else:
                assert delivered < 0.999 * offered
                assert max(measured.values()) * rate == pytest.approx(1, abs=0.01)
