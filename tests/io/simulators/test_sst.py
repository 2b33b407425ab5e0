"""Files for SST's anytopo: read as SST's own Python does, packets followed, and compared with the pair loads."""

from __future__ import annotations

import json
import runpy
import sys
import types
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import networkx
import pytest

import obliv
from obliv.cli import main
from obliv.errors import FileError, RoutingError, TopologyError, TrafficError
from obliv.io import write_sst

Loads = dict[tuple[int, int], Fraction]


def followed(path: Path) -> tuple[Loads, dict[int, int], networkx.Graph]:
    """Loads of links under uniform traffic from the files alone, the router of each endpoint, and the graph.

    Routers are numbered in the order of the file, endpoints router by router; a path lists the routers after the first.
    """
    graph = networkx.read_graphml(path.with_suffix(".graphml"))
    assert not graph.is_directed()
    assert not graph.is_multigraph()
    graph = networkx.convert_node_labels_to_integers(graph, ordering="default")
    home: dict[int, int] = {}
    for router in graph:
        for _ in range(graph.nodes[router]["endpoints"]):
            home[len(home)] = router
    routes = json.loads(path.with_suffix(".routes.json").read_text())
    loads: Loads = defaultdict(Fraction)
    for source in home.values():
        for end in home.values():
            if source == end:
                continue
            ways = routes[str(source)][str(end)]
            assert sum(weight for weight, _ in ways) == pytest.approx(1)
            for weight, way in ways:
                assert way[-1] == end
                assert end not in way[:-1]
                for link in zip([source, *way], way, strict=False):
                    assert graph.has_edge(*link)
                    loads[link] += Fraction(weight).limit_denominator(1 << 20) / len(home)
    return loads, home, graph


@pytest.mark.parametrize(
    ("spec", "routing"),
    [("mesh:3x2", "o1turn"), ("torus:4x3", "romm"), ("graph:petersen", "ecmp"), ("mesh:3x3", "1/3*xy+2/3*romm")],
)
def test_routers_with_one_endpoint_each(spec: str, routing: str, tmp_path: Path) -> None:
    rule = obliv.routing(routing, spec)
    files = write_sst(rule, tmp_path / "net.py")
    assert [file.name for file in files] == ["net.py", "net.graphml", "net.routes.json"]
    loads, home, _ = followed(files[0])
    assert home == {t: t for t in range(len(rule.topology.terminals))}
    expected = rule.pair_loads().under(obliv.traffic("uniform", rule.topology))
    for channel, load in enumerate(expected):
        assert loads[int(rule.topology.tail[channel]), int(rule.topology.head[channel])] == load


@pytest.mark.parametrize("spec", ["fattree:4,2", "dragonfly:1,2,1", "cmesh:2x2,c=2"])
def test_hosts_become_endpoints_of_their_routers(spec: str, tmp_path: Path) -> None:
    rule = obliv.routing("ecmp", spec)
    topology = rule.topology
    write_sst(rule, tmp_path / "net.py")
    loads, home, graph = followed(tmp_path / "net.py")
    assert len(home) == len(topology.terminals)
    hosts = set(topology.terminals.tolist())
    links = [
        (int(t), int(h)) for t, h in zip(topology.tail, topology.head, strict=True) if not {int(t), int(h)} & hosts
    ]
    assert 2 * graph.number_of_edges() == len(links)
    expected = rule.pair_loads().under(obliv.traffic("uniform", topology))
    inner = [load for c, load in enumerate(expected) if not {int(topology.tail[c]), int(topology.head[c])} & hosts]
    assert sorted(load for load in loads.values() if load) == sorted(load for load in inner if load)


class _Recorder:
    """Stands for any class of SST: takes all attributes, and keeps its calls with the attributes at the time."""

    log: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []  # noqa: RUF012

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.log.append((type(self).__name__, args, kwargs))

    def build(self, *args: Any) -> None:
        self.log.append(("build", args, dict(vars(self))))

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, **kwargs: Any) -> int:
            self.log.append((name, args, kwargs))
            return 9

        return call


def run(script: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names of a script that was run with stand-ins for SST's classes, since SST cannot be installed here."""
    names = {
        "base": ["System", "hr_router"],
        "endpoint": ["OfferedLoadJob"],
        "interface": ["EndpointNIC"],
        "targetgen": ["UniformTarget", "ShiftTarget"],
        "topology": ["topoAny"],
    }
    monkeypatch.setitem(sys.modules, "sst", types.ModuleType("sst"))
    monkeypatch.setitem(sys.modules, "sst.merlin", types.ModuleType("sst.merlin"))
    for part, classes in names.items():
        module = types.ModuleType(f"sst.merlin.{part}")
        for name in classes:
            setattr(module, name, type(name, (_Recorder,), {}))
        monkeypatch.setitem(sys.modules, f"sst.merlin.{part}", module)
    _Recorder.log.clear()
    return runpy.run_path(str(script))


def test_the_script_runs_and_passes_the_routes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_sst(obliv.routing("ecmp", "ring:4"), tmp_path / "ring.py", rate=0.25)
    scope = run(tmp_path / "ring.py", monkeypatch)
    calls = {name: (args, kwargs) for name, args, kwargs in _Recorder.log}
    assert calls["import_graph"] == ((str(tmp_path / "ring.graphml"),), {})
    assert calls["addPlugin"][1]["routing_table"][0] == {
        1: [(1.0, [1])],
        2: [(0.5, [3, 2]), (0.5, [1, 2])],
        3: [(1.0, [3])],
    }
    assert scope["job"].offered_load == 0.25
    assert type(scope["job"]).__name__ == "OfferedLoadJob"
    assert scope["topology"].vcs_per_vn == 3


@pytest.mark.parametrize(
    ("spec", "routing", "traffic"),
    [
        ("mesh:3x3", "dor", "transpose"),
        ("cmesh:2x2,c=2", "ecmp", "shift:3"),
        ("ring:4", "ecmp", "3/4*shift:2"),
    ],
)
def test_every_endpoint_sends_to_its_target(
    spec: str, routing: str, traffic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The traffic that SST makes of shifts and loads; idle endpoints have a load that is next to nothing."""
    rule = obliv.routing(routing, spec)
    expected = obliv.traffic(traffic, rule.topology).to_matrix()
    write_sst(rule, tmp_path / "net.py", traffic, rate=0.5)
    scope = run(tmp_path / "net.py", monkeypatch)
    terminal, n = scope["TERMINALS"], len(rule.topology.terminals)
    for endpoint in range(n):
        scope["job"].build(endpoint, {})
        _, args, job = _Recorder.log[-1]
        assert args == (endpoint, {})
        row = [0.5 * float(share) for share in expected[terminal[endpoint]]]
        row[terminal[endpoint]] = 0
        target = (endpoint + job["pattern"].shift) % n
        assert target != endpoint
        assert job["offered_load"] > 0
        row[terminal[target]] -= job["offered_load"]
        assert row == pytest.approx([0] * n, abs=1e-8)


@pytest.mark.parametrize(
    ("spec", "routing", "error", "message"),
    [
        ("mesh:3x3", "valiant", RoutingError, "SST"),
        ("torus:2x2", "dor", TopologyError, "parallel"),
        ("mesh:3x3,bandwidth=1x2", "dor", TopologyError, "bandwidths"),
        ("kautz:2,2", "shortest", TopologyError, "two directions"),
        ("fattree:4,2", "dmodk", RoutingError, "other terminals"),
    ],
)
def test_what_sst_cannot_do_is_refused(
    spec: str, routing: str, error: type[Exception], message: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message):
        write_sst(obliv.routing(routing, spec), tmp_path / "net.py")
    assert not list(tmp_path.iterdir())


def test_names_and_rates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rule = obliv.routing("dor", "mesh:2x2")
    with pytest.raises(FileError, match=r"ends in \.py"):
        write_sst(rule, tmp_path / "net.cfg")
    with pytest.raises(TrafficError, match="injection rate of 2"):
        write_sst(rule, tmp_path / "net.py", rate=2)
    words = ["export", "mesh:2x2", "dor", "--to", "sst", "-o", str(tmp_path / "net.py")]
    assert main([*words, "--traffic", "1/2*uniform+1/2*transpose"]) == 2
    assert "ns-3 takes any traffic" in capsys.readouterr().err
    assert main([*words, "--traffic", "transpose"]) == 0
    assert main([*words, "--rate", "0.3"]) == 0
    assert "sst net.py" in capsys.readouterr().err
