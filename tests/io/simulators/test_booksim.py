"""Simulations for BookSim2: what it can simulate exactly is written, everything else is refused."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import networkx
import pytest

import obliv
from obliv.cli import main
from obliv.errors import InputError, OblivError, RoutingError, TooLargeError, TrafficError
from obliv.io import extend_booksim, read_anynet, write_anynet, write_booksim
from obliv.io.simulators import booksim_listed
from obliv.io.simulators.booksim import _permutations
from obliv.io.simulators.booksim_listed import ADDITIONS
from obliv.io.simulators.booksim_runs import SimulatedRun, program_of, run_booksim


def values(path: Path) -> dict[str, str]:
    lines = [line.partition("  //")[0] for line in path.read_text().splitlines() if not line.startswith("//")]
    assert all(line.endswith(";") for line in lines)
    return dict(line.rstrip(";").split(" = ") for line in lines)  # type: ignore[misc]


@pytest.mark.parametrize(
    ("topology", "routing", "network", "function", "channels"),
    [
        ("mesh:4x4", "dor", ("mesh", "4", "2"), "dim_order", "1"),
        ("mesh:4x4", "xy_yx", ("mesh", "4", "2"), "xy_yx", "2"),
        ("mesh:5x5", "romm:xy", ("mesh", "5", "2"), "romm", "2"),
        ("line:9", "dor", ("mesh", "9", "1"), "dim_order", "1"),
        ("hypercube:3", "dor", ("mesh", "2", "3"), "dim_order", "1"),
        ("torus:4x4x4", "dor", ("torus", "4", "3"), "dim_order", "2"),
        ("ring:8", "dor", ("torus", "8", "1"), "dim_order", "2"),
    ],
)
def test_networks_of_booksim(
    topology: str, routing: str, network: tuple[str, ...], function: str, channels: str, tmp_path: Path
) -> None:
    path = tmp_path / "sim.cfg"
    assert write_booksim(obliv.routing(routing, obliv.topology(topology)), path, router="lean") == (path,)
    config = values(path)
    assert "mostly saturates at 25 to 45 %" in path.read_text()
    assert not {"vc_buf_size", "internal_speedup"} & set(config)
    assert (config["topology"], config["k"], config["n"]) == network
    assert (config["routing_function"], config["num_vcs"]) == (function, channels)
    assert config["traffic"] == "uniform"
    assert "injection_process" not in config


@pytest.mark.parametrize(
    ("topology", "routing", "channels"),
    [("mesh:4x4", "dor", "8"), ("torus:4x4", "dor", "8"), ("graph:petersen", "valiant", "9")],
)
def test_an_ideal_router_is_the_default(topology: str, routing: str, channels: str, tmp_path: Path) -> None:
    """At least eight virtual channels, a multiple of the classes: 1, 2 and 3."""
    words = ["export", topology, routing, "--to", "booksim-paths", "-o", str(tmp_path / "sim.cfg")]
    assert main(words) == 0
    ideal = values(tmp_path / "sim.cfg")
    assert (ideal["num_vcs"], ideal["vc_buf_size"], ideal["internal_speedup"]) == (channels, "16", "2.0")
    assert ideal["sim_type"] == "throughput"
    comments = [line for line in (tmp_path / "sim.cfg").read_text().splitlines() if "  // " in line]
    assert len(comments) == 6
    assert main([*words, "--router", "lean"]) == 0
    assert main([*words[:4], "caminos", *words[5:], "--router", "lean"]) == 2
    with pytest.raises(InputError, match="router='huge': choose ideal or lean"):
        write_booksim(obliv.DOR(obliv.mesh(3, 3)), tmp_path / "sim.cfg", router="huge")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "network",
    [
        obliv.from_networkx(networkx.petersen_graph()),
        obliv.complete(6),
        obliv.build("star", 5, [(4, v) for v in range(4)] + [(v, 4) for v in range(4)], terminals=[2, 0, 1, 3]),
        obliv.from_networkx(networkx.balanced_tree(2, 3)),
    ],
    ids=str,
)
def test_other_networks_have_a_file_beside(network: obliv.Topology, tmp_path: Path) -> None:
    path = tmp_path / "sim.cfg"
    files = write_booksim(obliv.ECMP(network), path)
    again = read_anynet(files[1])
    assert len(again.terminals) == len(network.terminals)
    assert values(path)["network_file"] == "sim.anynet"
    assert values(path)["routing_function"] == "min"


def by_booksim(path: Path) -> tuple[set[int], dict[int, int], set[tuple[int, int]]]:
    """Routers, the router of every node, and links, as BookSim2 reads them: what heads a line has a router's number."""
    routers: set[int] = set()
    home: dict[int, int] = {}
    links: set[tuple[int, int]] = set()
    for line in path.read_text().splitlines():
        words = line.split(" ")
        named = [(kind, int(number)) for kind, number in zip(words[::2], words[1::2], strict=True)]
        (kind, first), *rest = named
        assert {kind for kind, _ in named} <= {"router", "node"}
        routers.add(first)
        for other, number in rest:
            if other == "router":
                routers.add(number)
            if kind == other == "router":
                links |= {(first, number), (number, first)}
            else:
                node, router = (first, number) if kind == "node" else (number, first)
                assert home.setdefault(node, router) == router
    return routers, home, links


def followed(folder: Path, name: str) -> dict[tuple[int, int], dict[tuple[int, int], float]]:
    """The load of every link from one unit between each pair of nodes, as BookSim2 numbers the ports of routers."""
    routers, home, links = by_booksim(folder / f"{name}.anynet")
    ports = {
        router: [("node", k) for k in sorted(home) if home[k] == router]
        + [("router", other) for other in sorted(routers) if (router, other) in links]
        for router in routers
    }
    loads: dict[tuple[int, int], dict[tuple[int, int], float]] = {}
    shares: dict[tuple[int, int], float] = {}
    for line in (folder / f"{name}.anynet.paths").read_text().splitlines()[1:]:
        source, destination, share, *rest = line.split()
        pair = int(source), int(destination)
        hops = list(zip(map(int, rest[::3]), map(int, rest[1::3]), strict=True))
        at, own = home[pair[0]], loads.setdefault(pair, {})
        shares[pair] = shares.get(pair, 0.0) + float(share)
        for router, port in hops[:-1]:
            assert router == at
            kind, other = ports[at][port]
            assert kind == "router"
            own[at, other] = own.get((at, other), 0.0) + float(share)
            at = other
        assert hops[-1][0] == at
        assert ports[at][hops[-1][1]] == ("node", pair[1])
    assert all(share == pytest.approx(1) for share in shares.values())
    assert len(shares) == len(home) ** 2
    return loads


@pytest.mark.parametrize(
    ("spec", "routing"),
    [
        ("mesh:3x2", "dor"),
        ("torus:4x3", "romm"),
        ("graph:petersen", "ecmp"),
        ("fattree:4,2", "ecmp"),
        ("mesh:3x3", "valiant"),  # passes nodes twice, its own destination among them, and sends packets to itself out
        ("ring:5", "valiant"),
        ("graph:petersen", "valiant"),
    ],
)
def test_listed_paths_load_links_as_the_routing_does(spec: str, routing: str, tmp_path: Path) -> None:
    topology = obliv.topology(spec)
    rule = obliv.routing(routing, topology)
    files = write_booksim(rule, tmp_path / "sim.cfg", paths=True)
    assert [file.name for file in files] == ["sim.cfg", "sim.anynet", "sim.anynet.paths", "paths_anynet.hpp"]
    assert values(files[0])["routing_function"] == "paths"
    loads = followed(tmp_path, "sim")
    for (i, j), flows in loads.items():
        s, d = int(topology.terminals[i]), int(topology.terminals[j])
        hops = sum(len(channels) * float(share) for channels, share in rule.paths(s, d))
        hosts = 2 if spec.startswith("fattree") and s != d else 0
        assert sum(flows.values()) == pytest.approx(hops - hosts)
    links = {link for flows in loads.values() for link in flows}
    total = max(sum(flows.get(link, 0.0) for flows in loads.values()) for link in links)
    if not spec.startswith("fattree"):
        largest = rule.pair_loads().largest_under(obliv.traffic("uniform", topology))
        assert total / len(topology.terminals) == pytest.approx(float(largest))


@pytest.mark.parametrize(
    ("spec", "routing", "classes", "says"),
    [
        ("mesh:4x3", "o1turn", 2, "packets cannot deadlock: virtual channels are by the scheme turn"),
        ("mesh:4x3", "dor", 1, ""),
        ("torus:5x3", "dor", 2, "by the scheme dateline"),
        ("mesh:4x3", "romm", 2, "by the scheme double-y"),
        ("graph:petersen", "ecmp", 2, "by the scheme updown"),
        ("fattree:4,2", "ecmp", 1, ""),
        ("mesh:3x3", "valiant", 2, "by the scheme turn+uturn"),
        ("ring:5", "valiant", 3, "by the scheme updown"),
    ],
)
def test_packets_on_listed_paths_cannot_deadlock(
    spec: str, routing: str, classes: int, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What follows what, as the written file says, is acyclic; without classes it is where none are needed."""
    networkx = pytest.importorskip("networkx")
    file = str(tmp_path / "sim.cfg")
    assert main(["export", spec, routing, "--to", "booksim-paths", "--router", "lean", "-o", file]) == 0
    err = capsys.readouterr().err
    assert says in err
    assert ("deadlock" in err) == bool(says)
    assert values(tmp_path / "sim.cfg")["num_vcs"] == str(classes)
    first, *lines = (tmp_path / "sim.anynet.paths").read_text().splitlines()
    assert first == f"classes {classes}"
    after, alike = networkx.DiGraph(), networkx.DiGraph()
    for line in lines:
        rest = list(map(int, line.split()[3:]))
        hops = list(zip(rest[::3], rest[1::3], rest[2::3], strict=True))
        assert hops[-1][2] == -1
        assert all(0 <= lane < classes for _, _, lane in hops[:-1])
        networkx.add_path(after, hops[:-1])
        networkx.add_path(alike, [(router, port) for router, port, _ in hops[:-1]])
    assert networkx.is_directed_acyclic_graph(after)
    assert networkx.is_directed_acyclic_graph(alike) == (classes == 1)


def test_virtual_channels_that_are_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["export", "mesh:4x3", "romm", "--to", "booksim-paths", "-o", str(tmp_path / "sim.cfg"), "--vc"]
    assert main([*words, "turn+uturn"]) == 0
    assert "by the scheme turn+uturn" in capsys.readouterr().err
    assert main([*words, "none"]) == 0
    assert "packets can deadlock, whatever num_vcs is: every hop uses all of them" in capsys.readouterr().err
    assert (tmp_path / "sim.anynet.paths").read_text().startswith("classes 1\n")
    assert main([*words, "phase"]) == 2
    assert "paths alone do not show them" in capsys.readouterr().err
    assert main(["export", "ring:4", "dor", "--to", "ns3", "-o", str(tmp_path / "n"), "--vc", "turn"]) == 2
    assert "--vc belongs to --to booksim-paths" in capsys.readouterr().err


@pytest.mark.parametrize(("spec", "why"), [("mesh:3x3", "deadlocks on meshes"), ("ring:5", "aborts on tori and rings")])
def test_valiant_of_booksim_is_not_used(
    spec: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", spec, "valiant", "--to", "booksim", "-o", str(tmp_path / "sim.cfg")]) == 2
    err = capsys.readouterr().err
    assert f"BookSim2's own valiant {why}: --to booksim-paths writes" in err
    assert not list(tmp_path.iterdir())


def test_hosts_do_not_forward(tmp_path: Path) -> None:
    with pytest.raises(RoutingError, match="hosts of BookSim2 do not forward"):
        write_booksim(obliv.routing("valiant", "fattree:4,2"), tmp_path / "sim.cfg", paths=True)
    assert not list(tmp_path.iterdir())


def test_no_scheme_is_no_simulation_unless_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("obliv.io.simulators.booksim.SCHEMES", {"none": None, "turn": None})
    words = ["export", "mesh:3x3", "valiant", "--to", "booksim-paths", "-o", str(tmp_path / "sim.cfg")]
    assert main(words) == 2
    assert "add --vc none to write a simulation that may deadlock" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
    assert main([*words, "--vc", "none"]) == 0
    assert "packets can deadlock" in capsys.readouterr().err


_STUBS = """
#include <cstdio>
struct Router { int id; int GetID() const { return id; } };
struct Flit { int src, dest, pid; mutable int intm, ph; };
struct OutputSet {
  int port, first, last;
  void Clear() {}
  void AddRange(int p, int f, int l) { port = p; first = f; last = l; }
};
static int gNumVCs = 4;
#include "paths_anynet.hpp"
int main(int, char **words) {
  read_paths(words[1]);
  OutputSet set;
  for (int pid = 0; pid < 20000; ++pid) {
    Flit f = {0, 5, pid, -1, -1};
    Router r = {0};
    paths_anynet(0, &f, -1, &set, true);
    if (set.port != -1 || set.first != 0 || set.last != 3) return 1;
    for (int again = 0; again < 2; ++again) {
      paths_anynet(&r, &f, 0, &set, false);
      printf("%d %d %d\\n", set.port, set.first, set.last);
    }
  }
}
"""


@pytest.mark.nightly
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_the_routing_function_draws_paths_by_their_probabilities(tmp_path: Path) -> None:
    topology = obliv.mesh(3, 2)
    mix, lanes = obliv.routing("1/4*xy+3/4*dor:yx", topology), obliv.lanes_of(topology, "turn")
    write_booksim(mix, tmp_path / "sim.cfg", paths=True, lanes=lanes)
    (tmp_path / "main.cpp").write_text(_STUBS)
    subprocess.run(["g++", "-Wall", "-std=c++98", "-o", "draw", "main.cpp"], cwd=tmp_path, check=True)
    done = subprocess.run(["./draw", "sim.anynet.paths"], cwd=tmp_path, check=True, capture_output=True, text=True)
    chosen = done.stdout.splitlines()
    assert chosen[::2] == chosen[1::2]  # a router that is asked twice
    ports = [line.split()[0] for line in chosen]
    assert set(chosen) == {"1 0 1", "2 0 1"}  # before the turn, the lower half of four virtual channels
    assert set(ports) == {"1", "2"}
    assert ports.count("1") / len(ports) == pytest.approx(1 / 4, abs=0.02)


@pytest.mark.parametrize("spec", ["fattree:4,2", "fattree:6,3", "mesh:3x2", "dragonfly:2,4,2", "graph:petersen"])
def test_files_as_booksim_reads_them(spec: str, tmp_path: Path) -> None:
    """Hosts with lower numbers than switches add no routers."""
    topology = obliv.topology(spec)
    write_anynet(topology, tmp_path / "network")
    routers, home, links = by_booksim(tmp_path / "network")
    hosts = len(topology.terminals)
    apart = set(topology.terminals.tolist()) if len(home) + len(routers) == topology.nodes else set()
    assert routers == set(range(topology.nodes - len(apart)))
    assert sorted(home) == list(range(hosts))
    assert len(links) == topology.channels - 2 * len(apart)


def test_cubes_of_any_dimensions_and_routings_of_ones_own(tmp_path: Path) -> None:
    for spec, order in (("mesh:3x3x3", "xyz"), ("line:5", "0"), ("hypercube:4", "0-1-2-3")):
        topology = obliv.topology(spec)
        assert write_booksim(obliv.routing(f"romm:{order}", topology), tmp_path / "sim.cfg") == (tmp_path / "sim.cfg",)
        assert values(tmp_path / "sim.cfg")["routing_function"] == "romm"


@pytest.mark.parametrize(
    ("topology", "routing"),
    [("mesh:4x3", "dor"), ("torus:4x4", "romm"), ("torus:4x4", "o1turn"), ("mesh:4x4", "dor:yx"), ("mesh:4x4", "ecmp")],
)
def test_other_routings_are_refused_and_nothing_is_written(topology: str, routing: str, tmp_path: Path) -> None:
    with pytest.raises(RoutingError, match="would take other paths"):
        write_booksim(obliv.routing(routing, obliv.topology(topology)), tmp_path / "sim.cfg")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("topology", "traffic", "name"),
    [
        ("mesh:4x4", "transpose", "transpose"),
        ("mesh:4x4", "bit-complement", "bitcomp"),
        ("mesh:4x4", "complement", "bitcomp"),
        ("mesh:4x4", "bit-reverse", "bitrev"),
        ("mesh:4x4", "shuffle", "shuffle"),
        ("ring:8", "tornado", "tornado"),
        ("ring:5", "shift:1", "neighbor"),
        ("mesh:4x4", "hot-nodes:(3,0),(2,3)", "hotspot({{3,14},{1,1}})"),
        ("mesh:2x2", "hot-nodes:3,share=3/5", "hotspot({{0,1,2,3},{1,1,1,7}})"),
    ],
)
def test_patterns(topology: str, traffic: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "sim.cfg"
    write_booksim(obliv.routing("dor", obliv.topology(topology)), path, traffic)
    assert values(path)["traffic"] == name


@pytest.mark.parametrize(
    ("topology", "traffic"),
    [
        ("mesh:4x4", "tornado"),
        ("mesh:5x5", "transpose"),
        ("fattree:4,2", "1/2*uniform+1/3*shift:1"),
        ("mesh:4x4", "hot-nodes:3,share=0.3333333333"),  # weights beyond the integers of hotspot
    ],
)
def test_other_traffic_is_listed(topology: str, traffic: str, tmp_path: Path) -> None:
    """The file adds up to the matrix again, terminals by their numbers."""
    network = obliv.topology(topology)
    fat = topology.startswith("fattree")
    routing = obliv.routing("ecmp" if fat else "dor", network)
    files = write_booksim(routing, tmp_path / "s.cfg", traffic, paths=fat)
    assert [file.name for file in files[-2:]] == ["s.traffic", "listed_traffic.hpp"]
    config = values(files[0])
    assert config["traffic"] == config["injection_process"] == "listed(s.traffic)"
    first, *lines = files[-2].read_text().splitlines()
    word, nodes, also, uniform = first.split()
    assert (word, nodes, also) == ("nodes", str(len(network.terminals)), "uniform")
    rates = [[float(uniform) / int(nodes)] * int(nodes) for _ in range(int(nodes))]
    for line in lines:
        s, d, rate = line.split()
        rates[int(s)][int(d)] += float(rate)
    for row, expected in zip(rates, obliv.traffic(traffic, network).to_matrix(), strict=True):
        assert row == pytest.approx([float(rate) for rate in expected])


def test_terminals_that_send_less_or_more(tmp_path: Path) -> None:
    mesh = obliv.mesh(3, 3)
    half = "1/2" * obliv.traffic("hot-nodes:3", mesh)
    assert (tmp_path / "sim.traffic") in write_booksim(obliv.DOR(mesh), tmp_path / "sim.cfg", half)
    with pytest.raises(TrafficError, match=r"sends 2 packets per cycle, 1\.2 at a rate of 0\.6; .* at most 1/2"):
        write_booksim(obliv.DOR(mesh), tmp_path / "more.cfg", "2" * obliv.traffic("tornado", mesh), rate=0.6)
    with pytest.raises(OblivError, match="rates"):
        write_booksim(obliv.routing("dor", "mesh:3x3,injection=2"), tmp_path / "more.cfg")
    assert not list(tmp_path.glob("more*"))


@pytest.mark.parametrize("spec", ["torus:4x4", "fattree:4,2"])
def test_the_worst_case_is_a_traffic(spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    routing = "dor" if "torus" in spec else "dmodk"
    worst = obliv.worst_case(obliv.routing(routing, spec))
    words = ["export", spec, routing, "--to", "booksim-paths", "--traffic", "worst", "-o", str(tmp_path / "sim.cfg")]
    assert main(words) == 0
    assert f"predicted saturation: at most {worst.throughput} =" in capsys.readouterr().err
    assert worst.permutation is not None
    lines = (tmp_path / "sim.traffic").read_text().splitlines()[1:]
    assert lines == [f"{s} {d} 1.0" for s, d in enumerate(worst.permutation)]


def test_names_of_other_files_are_not_taken(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"choose one that ends with \.cfg"):
        write_booksim(obliv.DOR(obliv.mesh(3, 2)), tmp_path / "sim.anynet", paths=True)
    with pytest.raises(InputError, match=r"choose one that ends with \.cfg"):
        write_booksim(obliv.DOR(obliv.mesh(3, 3)), tmp_path / "sim.traffic", "tornado")
    assert not list(tmp_path.iterdir())


def test_headers_name_the_lines_that_are_added(tmp_path: Path) -> None:
    """The source of BookSim2 gets each line once, in its place; the head of each header says the same."""
    anynet = (
        "#include <a>\n\n//x\nvoid AnyNet::_BuildNet( const C &c ){\n}\nvoid AnyNet::RegisterRoutingFunctions() {\n}\n"
    )
    (tmp_path / "networks").mkdir()
    (tmp_path / "networks" / "anynet.cpp").write_text(anynet)
    (tmp_path / "traffic.cpp").write_text(
        '#include "t.hpp"\nTrafficPattern * TrafficPattern::New(int n,\n int m)\n{\n}\n'
    )
    with pytest.raises(OblivError, match=r"there is no injection.cpp"):
        extend_booksim(tmp_path)
    (tmp_path / "injection.cpp").write_text("#include <b>\nvoid InjectionProcess::other() {\n}\n")
    with pytest.raises(OblivError, match="there is no InjectionProcess::New"):
        extend_booksim(tmp_path)
    assert (tmp_path / "networks" / "anynet.cpp").read_text() == anynet  # nothing is written in part
    (tmp_path / "injection.cpp").write_text("#include <b>\nX * InjectionProcess::New(int i) {\n}\n")
    files = extend_booksim(tmp_path)
    once = {file: file.read_bytes() for file in files}
    assert extend_booksim(tmp_path) == files
    assert once == {file: file.read_bytes() for file in files}
    assert (tmp_path / "networks" / "anynet.cpp").read_text().splitlines()[:7] == [
        "#include <a>",
        '#include "paths_anynet.hpp"',
        "",
        "//x",
        "void AnyNet::_BuildNet( const C &c ){",
        '  read_paths(file_name + ".paths");',
        "}",
    ]
    for name, (folder, lines) in ADDITIONS.items():
        head = (tmp_path / folder / name).read_text().partition("#ifndef")[0]
        assert all(line in head and function in head for _, function, line in lines)


def test_patterns_are_permutations() -> None:
    for n, digits in ((16, (4, 2)), (9, (3, 2)), (8, None), (25, (5, 2))):
        for image in _permutations(n, digits).values():
            assert sorted(image.tolist()) == list(range(n))


@pytest.mark.parametrize(
    ("topology", "routing", "traffic", "rate"),
    [
        ("mesh:8x8", "dor", "uniform", "1/2"),  # 4/k, as Dally and Towles
        ("mesh:4x4", "dor", "transpose", "1/3"),
        ("mesh:2x2", "dor", "hot-nodes:3", "1/4"),  # four nodes send one packet to a node that takes one
        ("graph:petersen", "ecmp", "uniform", "1"),  # injection
    ],
)
def test_the_configuration_predicts_saturation(
    topology: str, routing: str, traffic: str, rate: str, tmp_path: Path
) -> None:
    path = tmp_path / "sim.cfg"
    rule = obliv.routing(routing, obliv.topology(topology))
    write_booksim(rule, path, traffic)
    second = path.read_text().splitlines()[1]
    assert re.match(rf"// predicted saturation: at most {rate}( |$)", second)
    (row,) = obliv.throughput(rule, traffic).patterns
    assert str(row.throughput) == rate
    assert str(row.limited_by) in second


def test_the_command_says_what_to_expect(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["export", "mesh:4x3", "romm", "--to", "booksim-paths", "-o", str(tmp_path / "sim.cfg")]
    assert main([*words, "--rate", "0.95"]) == 0
    said = capsys.readouterr().err
    assert "a rate of 0.95 is above it" in said
    assert "packets cannot deadlock" in said
    assert main([words[0], words[1], "dor", *words[3:], "--rate", "0.5"]) == 0
    said = capsys.readouterr().err
    assert "predicted saturation" in said
    assert "above it" not in said
    assert "deadlock" not in said
    assert main(["export", "line:40", "dor", "--to", "booksim", "-o", str(tmp_path / "sim.cfg"), "--rate", "0.1"]) == 0
    said = capsys.readouterr().err
    assert "at most 1/10 = 0.1" in said
    assert "above it" not in said


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "torus.cfg"
    words = ["export", "torus:4x4", "dor", "--to", "booksim", "--traffic", "transpose", "-o", str(path)]
    assert main([*words, "--rate", "0.25"]) == 0
    assert values(path)["injection_rate"] == "0.25"
    assert "booksim torus.cfg" in capsys.readouterr().err
    assert main(["export", "torus:4x4", "romm", "--to", "booksim", "-o", str(path)]) == 2
    assert "BookSim2 cannot route romm" in capsys.readouterr().err
    assert main([*words, "--rate", "2"]) == 2


@pytest.mark.parametrize("listed", [False, True])
def test_paths_of_users_are_checked_and_may_name_nodes(listed: bool, tmp_path: Path) -> None:
    class Own(obliv.Routing):
        def paths(self, s: int, d: int) -> Any:
            [(channels, share)] = obliv.routing("dor", self.topology).paths(s, d)
            nodes = [s, *self.topology.head[list(channels)].tolist()]
            names = [self.topology.name_of(node) for node in nodes]
            return [(names, share)] if listed else [(share, names)]

    routing = Own(obliv.mesh(3, 2))
    if listed:
        assert write_booksim(routing, tmp_path / "own", paths=True)
        return
    with pytest.raises(RoutingError, match=r"has probability .*, not a number from 0 to 1"):
        write_booksim(routing, tmp_path / "own")


@pytest.mark.parametrize("name", ["7x6.cfg", "my mesh.cfg", "a;b.cfg", "ä.cfg", "a=b.cfg"])
def test_names_that_a_configuration_cannot_hold(name: str, tmp_path: Path) -> None:
    """A word of BookSim2's config.l begins with a letter, _ or -, and has letters, digits, _, - and dots."""
    with pytest.raises(InputError, match="cannot read the name of the file"):
        write_booksim(obliv.routing("dor", obliv.mesh(3, 2)), tmp_path / name, paths=True)
    assert not list(tmp_path.glob("*.cfg"))
    alone = write_booksim(obliv.routing("dor", obliv.mesh(3, 3)), tmp_path / name)  # no file beside it, no name inside
    assert alone == (tmp_path / name,)


def test_a_rate_may_be_a_fraction(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["export", "mesh:3x3", "dor", "--to", "booksim", "-o", str(tmp_path / "my sim.cfg"), "--rate"]
    assert main([*words, "1/4"]) == 0
    assert values(tmp_path / "my sim.cfg")["injection_rate"] == "0.25"
    assert "booksim 'my sim.cfg'" in capsys.readouterr().err
    for wrong in ("half", "1/0", "nan"):
        assert main([*words, wrong]) == 2
        assert "as 0.1 or 1/3" in capsys.readouterr().err


def test_far_too_many_paths_are_refused_after_some_pairs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = []

    class Counted(obliv.Routing):
        def paths(self, source: int, destination: int) -> Any:
            asked.append(source)
            return obliv.routing("romm", self.topology).paths(source, destination)

    monkeypatch.setattr(booksim_listed, "_STEPS", 10_000)
    with pytest.raises(TooLargeError, match="too many paths on mesh:6x6"):
        write_booksim(Counted(obliv.mesh(6, 6)), tmp_path / "sim.cfg", paths=True)
    assert len(asked) <= 200
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("lanes", "meant"),
    [
        (lambda channels: [-1] * len(channels), "whole numbers from 0"),
        (lambda channels: [1.5] * len(channels), "whole numbers from 0"),
        (lambda channels: [0], "needs as many numbers"),
        (lambda channels: "turn", "needs as many numbers"),
        ("turn", "is a function of the channels of a path"),
    ],
)
def test_lanes_that_are_none_are_refused(lanes: Any, meant: str, tmp_path: Path) -> None:
    with pytest.raises(OblivError, match=meant):
        write_booksim(obliv.DOR(obliv.mesh(3, 2)), tmp_path / "sim.cfg", paths=True, lanes=lanes)
    assert not list(tmp_path.iterdir())


def test_mistakes_in_python(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="rate"):
        write_booksim(obliv.DOR(obliv.mesh(3, 2)), tmp_path / "sim.cfg", rate="x")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="add paths=True"):
        write_booksim(obliv.DOR(obliv.mesh(3, 3)), tmp_path / "sim.cfg", lanes=obliv.lanes_of(obliv.mesh(3, 3), "turn"))
    with pytest.raises(RoutingError, match="scheme double-y needs two dimensions"):
        obliv.lanes_of(obliv.mesh(2, 2, 2), "double-y")


# In BookSim2 itself, where the environment variable BOOKSIM names a program that was built with both headers


BOOKSIM = os.environ.get("BOOKSIM", "")
in_booksim = pytest.mark.skipif(not BOOKSIM, reason="BOOKSIM does not name a program of BookSim2")


def ran(words: list[str], folder: Path, rate: float) -> SimulatedRun:
    assert main(["export", *words, "-o", str(folder / "sim.cfg")]) == 0
    topology = obliv.topology(words[0])
    traffic = next((word for word in words[2:3] if word not in ("worst", "--to")), "uniform")
    run = run_booksim(program_of(None), folder / "sim.cfg", obliv.traffic(traffic, topology), rate, 1)
    assert run is not None
    return run


@in_booksim
@pytest.mark.parametrize(
    ("words", "predicted"),
    [
        ("mesh:4x4 valiant transpose --to booksim-paths", 1 / 2),
        ("mesh:4x4 dor worst --to booksim", 1 / 3),
        ("torus:4x4 dor worst --to booksim-paths", 2 / 3),
        ("graph:petersen ecmp 1/2*hot-nodes:3 --to booksim-paths", 1 / 5),  # ten nodes send a half, one takes one
    ],
)
def test_booksim_saturates_where_obliv_says(words: str, predicted: float, tmp_path: Path) -> None:
    assert ran(words.split(), tmp_path, 0.95 * predicted).stable
    above = ran(words.split(), tmp_path, 1.1 * predicted)
    assert not above.deadlock
    assert not above.stable
    assert above.least_accepted is not None
    assert above.least_accepted < predicted


@in_booksim
@pytest.mark.parametrize(
    "words",
    [
        "mesh:4x4 dor --to booksim",
        "mesh:4x4 o1turn --to booksim",
        "mesh:4x4 romm:xy --to booksim",
        "torus:5x5 dor --to booksim",
        "ring:8 dor tornado --to booksim",
        "mesh:4x4 valiant --to booksim-paths",
        "torus:4x4 valiant --to booksim-paths",
        "graph:petersen valiant --to booksim-paths",
    ],
)
def test_overloaded_networks_do_not_deadlock_in_booksim(words: str, tmp_path: Path) -> None:
    assert not ran([*words.split(), "--router", "lean"], tmp_path, 0.9).deadlock


@in_booksim
@pytest.mark.parametrize(
    "words",
    [
        "ring:8 dor tornado",
        "mesh:4x4 valiant uniform",
        "mesh:4x4 romm uniform",
        "mesh:4x4 o1turn uniform",
        "mesh:5x5 u2turn uniform",
        "random-regular:n=16,d=3,seed=1 ecmp uniform",
    ],
)
def test_packets_that_can_deadlock_do_so_in_booksim(words: str, tmp_path: Path) -> None:
    options = ["--to", "booksim-paths", "--vc", "none", "--router", "lean"]
    assert ran([*words.split(), *options], tmp_path, 0.9).deadlock
