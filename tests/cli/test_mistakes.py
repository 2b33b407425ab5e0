"""Users' mistakes: each raises one line from the tree of errors, a ValueError that says what was meant."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.mistakes import mistake

import obliv
from obliv.cli import main

NAN, INF = math.nan, math.inf
TRIANGLE = [(0, 1), (1, 2), (2, 0)]


# Specs.


@pytest.mark.parametrize(
    ("spec", "meant"),
    [
        ("tours:9x9", "torus"),
        ("mehs:3x3", "mesh"),
        ("hyprecube:4", "hypercube"),
        ("compelte:4", "complete"),
        ("random-regulr:n=8,d=3", "random-regular"),
        ("hyprx:3x3", "hyperx"),
    ],
)
def test_misspelt_topologies(spec: str, meant: str) -> None:
    text = mistake(lambda: obliv.topology(spec))
    assert "did you mean" in text
    assert meant in text.split("did you mean")[1]


@pytest.mark.parametrize("spec", ["petersen", "Heawood", "karate_club"])
def test_names_of_graphs_alone(spec: str) -> None:
    assert f"write graph:{spec}" in mistake(lambda: obliv.topology(spec))


@pytest.mark.parametrize("nodes", ["5", "(0,2)", "(0,2),(1,1)"])
def test_hotspots_that_are_nodes(nodes: str) -> None:
    assert f"write hot-nodes:{nodes}" in mistake(lambda: obliv.traffic(f"hotspot:{nodes}", "mesh:4x4"))


@pytest.mark.parametrize(
    ("spec", "meant"),
    [
        ("rom", "romm"),
        ("dorr", "dor"),
        ("o1-turn", "o1turn"),
        ("valient", "valiant"),
        ("shortst", "shortest"),
        ("ecpm", "ecmp"),
        ("1/2*dor+1/2*rmom", "romm"),
    ],
)
def test_misspelt_routings(spec: str, meant: str) -> None:
    text = mistake(lambda: obliv.routing(spec, obliv.mesh(3, 3)))
    assert meant in text.split("did you mean")[1]


@pytest.mark.parametrize(
    ("spec", "meant"),
    [
        ("unifrom", "uniform"),
        ("tornadoe", "tornado"),
        ("transpos", "transpose"),
        ("nearest-neigbor", "nearest-neighbor"),
        ("bit-revers", "bit-reverse"),
        ("random-permutaton:seed=1", "random-permutation"),
    ],
)
def test_misspelt_patterns(spec: str, meant: str) -> None:
    text = mistake(lambda: obliv.traffic(spec, obliv.mesh(3, 3)))
    assert meant in text.split("did you mean")[1]


def test_an_unknown_name_lists_what_is_known() -> None:
    for call, known in (
        (lambda: obliv.topology("qqqqqqqq"), "known: array, butterfly, "),
        (lambda: obliv.routing("qqqqqqqq", obliv.mesh(2, 2)), "known: 2turn, design, "),
        (lambda: obliv.traffic("qqqqqqqq", obliv.mesh(2, 2)), "known: anti-transpose, "),
    ):
        assert known in mistake(call)


BAD_TOPOLOGIES = [
    "",
    ":",
    "torus",
    "torus:",
    "torus:x",
    "torus:1x9",
    "torus:9x1",
    "torus:0x3",
    "torus:-3x3",
    "torus:3x",
    "torus:x3",
    "torus:3xx3",
    "torus:3.5x3",
    "torus:3y3",
    "torus:3x3,wrap=1",
    "torus:nanx3",
    "torus:1e3",
    "torus:٣x-1",
    "mesh:1",
    "mesh:0",
    "mesh:1x1",
    "line:1",
    "line:0",
    "line:-4",
    "line:a",
    "ring:1",
    "ring:3x3",
    "hypercube:0",
    "hypercube:-1",
    "hypercube:3x3",
    "hypercube:2.5",
    "hyperx:1x4",
    "complete:1",
    "complete:0",
    "random-regular:n=7,d=3",
    "random-regular:n=4,d=4",
    "random-regular:n=4,d=1",
    "random-regular:n=4,d=0",
    "random-regular:n=-4,d=2",
    "random-regular:n=8",
    "random-regular:d=3",
    "random-regular:n=8,d=3,seed=x",
    "random-regular:n=8,d=3,seeds=1",
    "random-regular:n=8,n=8,d=3",
    "mesh:3x3+mesh:3x3",
    "1/2*mesh:3x3+1/2*torus:3x3",
    "file:",
    "file:/no/such/file",
]


@pytest.mark.parametrize("spec", BAD_TOPOLOGIES)
def test_bad_topologies(spec: str) -> None:
    mistake(lambda: obliv.topology(spec))


def test_sizes_beyond_memory_are_refused() -> None:
    """Refused before anything is allocated."""
    for spec in ("torus:100000x100000", "mesh:99999x99999x99999", "hypercube:60", "complete:10000000"):
        mistake(lambda spec=spec: obliv.topology(spec))  # type: ignore[misc]


BAD_ROUTINGS = [
    "",
    "dor:",
    "dor:xx",
    "dor:yxz",
    "dor:x",
    "dor:order=0",
    "dor:order=0-0",
    "dor:order=0-2",
    "dor:order=1-0-2",
    "dor:order=a-b",
    "dor:order=",
    "dor:up=1",
    "dor:yx,xy",
    "o1turn:3",
    "romm:xx",
    "romm:q",
    "valiant:2",
    "shortest:1",
    "ecmp:1",
    "table:",
    "table:/no/such/file",
    "0.5*dor",
    "0.5*dor+0.6*romm",
    "0.5*dor+0.4*romm",
    "1/2*dor+1/2",
    "1/2*dor+",
    "+1/2*dor+1/2*romm",
    "1/2*dor++1/2*romm",
    "dor+romm",
    "-1/2*dor+3/2*romm",
    "2*dor+-1*romm",
    "1/0*dor+1/2*romm",
    "nan*dor+1/2*romm",
    "inf*dor+1/2*romm",
    "x*dor+1/2*romm",
    "*dor",
    "1/2**dor+1/2*romm",
    "1/2*dor:zz+1/2*romm",
    "1e400*dor+0*romm",
]


@pytest.mark.parametrize("spec", BAD_ROUTINGS)
def test_bad_routings(spec: str) -> None:
    mistake(lambda: obliv.routing(spec, obliv.mesh(3, 3)))


BAD_TRAFFIC = [
    "",
    "shift",
    "shift:",
    "shift:x",
    "shift:1.5",
    "shift:1,2",
    "uniform:3",
    "random-permutation:seed=x",
    "random-permutation:sed=1",
    "permutation:/no/such/file",
    "matrix:/no/such/file",
    "0.5*uniform+0.6*tornado",
    "-1*uniform+2*tornado",
    "1/0*uniform",
    "nan*uniform+1*tornado",
    "bit-reverse",
]


@pytest.mark.parametrize("spec", BAD_TRAFFIC)
def test_bad_traffic(spec: str) -> None:
    mistake(lambda: obliv.traffic(spec, obliv.mesh(3, 3)))


@pytest.mark.parametrize("call", [obliv.torus, obliv.mesh, obliv.hyperx])
@pytest.mark.parametrize("radices", [(1,), (0,), (-2, 3), (3, 1), (1, 1), (), (2.5,), ("3",), (NAN,), (None,)])
def test_bad_radices(call: Any, radices: tuple[Any, ...]) -> None:
    mistake(lambda: call(*radices))


@pytest.mark.parametrize("call", [obliv.line, obliv.ring, obliv.complete])
@pytest.mark.parametrize("size", [1, 0, -3, 2.5, "3", None, NAN])
def test_bad_sizes(call: Any, size: Any) -> None:
    mistake(lambda: call(size))


@pytest.mark.parametrize("name", ["dor", "romm", "o1turn", "dor:yx"])
def test_cartesian_routings_elsewhere(name: str) -> None:
    mistake(lambda: obliv.routing(name, obliv.build("x", 3, TRIANGLE)))


# Networks.


@pytest.mark.parametrize("bad", [0, -1, NAN, INF, -INF, "fast", None, "", 1j])
def test_bad_bandwidths(bad: Any) -> None:
    mistake(lambda: obliv.build("x", 3, TRIANGLE, bandwidth=[1, bad, 1]))


@pytest.mark.parametrize("bad", [-1, NAN, INF, "fast", None])
def test_bad_rates(bad: Any) -> None:
    mistake(lambda: obliv.ring(3).with_rates([1, bad, 1], [1, 1, 1]))
    mistake(lambda: obliv.ring(3).with_rates([1, 1, 1], [1, bad, 1]))


@pytest.mark.parametrize("count", [1, 2, 4])
def test_rates_of_another_number(count: int) -> None:
    mistake(lambda: obliv.ring(3).with_rates([1] * count, [1] * 3))
    mistake(lambda: obliv.ring(3).with_rates([1] * 3, [1] * count))


@pytest.mark.parametrize("bandwidth", [[1], [1, 1], [1, 1, 1, 1]])
def test_bandwidths_of_another_number(bandwidth: list[int]) -> None:
    mistake(lambda: obliv.build("x", 3, TRIANGLE, bandwidth=bandwidth))


@pytest.mark.parametrize(
    "network",
    [
        (3, [(0, 1), (1, 2), (2, 3)]),
        (3, [(0, 1), (1, 2), (2, -1)]),
        (0, []),
        (-1, []),
        pytest.param((3, [(0, 1), (1, 2, 3)]), id="three ends"),
        pytest.param((3, [(0, 1.5), (1, 2), (2, 0)]), id="half a node"),
        pytest.param((3, [("a", "b")]), id="names"),
        pytest.param((2.5, [(0, 1), (1, 0)]), id="half a count"),
    ],
)
def test_bad_links(network: tuple[Any, Any]) -> None:
    mistake(lambda: obliv.build("x", *network))


@pytest.mark.parametrize("terminals", [[0, 0], [3], [-1], [], [0.5], ["a"]])
def test_bad_terminals(terminals: Any) -> None:
    mistake(lambda: obliv.build("x", 3, TRIANGLE, terminals=terminals))
    mistake(lambda: obliv.ring(3).with_terminals(terminals))


@pytest.mark.parametrize("name", ["shortest", "ecmp", "valiant"])
def test_no_way_from_one_to_another(name: str) -> None:
    topology = obliv.build("x", 3, [(0, 1), (1, 2), (2, 1)])
    mistake(lambda: obliv.worst_case(obliv.routing(name, topology)))


# Users' routings.


def listed(paths: Any, topology: Any = None) -> obliv.Routing:
    class Mine(obliv.Routing):
        def paths(self, source: int, destination: int) -> Any:
            if source == destination:
                return [((), 1)]
            straight = {(0, 1): (0,), (1, 2): (1,), (2, 0): (2,), (0, 2): (0, 1), (1, 0): (1, 2), (2, 1): (2, 0)}
            return paths if (source, destination) == (0, 1) else [(straight[source, destination], 1)]

    return Mine(topology or obliv.build("triangle", 3, TRIANGLE))


HALF = Fraction(1, 2)


def test_what_is_right_is_taken() -> None:
    assert obliv.worst_case(listed([((0,), 1)])).channel_load == 2
    assert obliv.worst_case(listed([((0,), HALF), ([0], HALF)])).channel_load == 2
    assert obliv.worst_case(listed([(np.array([0]), 1)])).channel_load == 2


def test_floats_are_probabilities() -> None:
    """Numbers are taken exactly as given, as in matrices, mixes and next hops."""
    assert obliv.worst_case(hops(but([(0, 0.25), (1, 0.75)]))).channel_load == 1
    assert obliv.worst_case(listed([((0,), 0.5), ((0,), 0.5)])).channel_load == 2


@pytest.mark.parametrize(
    "paths",
    [
        pytest.param([], id="no path"),
        pytest.param([((0,), HALF)], id="a half is missing"),
        pytest.param([((0,), 1), ((0,), HALF)], id="more than one"),
        pytest.param([((0,), 2), ((0,), -1)], id="negative"),
        pytest.param([((0,), NAN)], id="nan"),
        pytest.param([((0,), INF)], id="infinite"),
        pytest.param([((0,), None)], id="none"),
        pytest.param([((0,), "half")], id="a word"),
        pytest.param([((0,), 0.1), ((0,), 0.9000001)], id="nearly"),
        pytest.param([((1,), 1)], id="starts elsewhere"),
        pytest.param([((0, 1), 1)], id="ends elsewhere"),
        pytest.param([((0, 2), 1)], id="jumps"),
        pytest.param([((), 1)], id="goes nowhere"),
        pytest.param([((7,), 1)], id="no such channel"),
        pytest.param([((-3,), 1)], id="a negative channel"),
        pytest.param([(("a",), 1)], id="a channel by name"),
        pytest.param([((0.5,), 1)], id="half a channel"),
        pytest.param([(0, 1)], id="a channel instead of a path"),
        pytest.param([(0,)], id="no probability"),
        pytest.param(None, id="nothing"),
        pytest.param(3, id="a number"),
    ],
)
def test_bad_paths(paths: Any) -> None:
    text = mistake(lambda: obliv.worst_case(listed(paths)))
    assert text


def hops(table: Any, topology: Any = None) -> obliv.HopRouting:
    class Mine(obliv.HopRouting):
        def next_hops(self, node: int, destination: int) -> Any:
            return table(node, destination)

    links = [(0, 1), (0, 2), (1, 2), (1, 0), (2, 0), (2, 1)]
    return Mine(topology or obliv.build("both ways", 3, links))


DIRECT = {(0, 1): 0, (0, 2): 1, (1, 2): 2, (1, 0): 3, (2, 0): 4, (2, 1): 5}


def but(bad: Any) -> Any:
    return lambda node, d: bad if (node, d) == (0, 2) else [DIRECT[node, d]]


def test_right_hops_are_taken() -> None:
    assert obliv.worst_case(hops(but([1]))).channel_load == 1
    assert obliv.worst_case(hops(but([0]))).channel_load == 1 + 0  # by way of 1: (0, 2) and (0, 1) share a row
    assert obliv.worst_case(hops(but([(0, HALF), (1, HALF)]))).throughput == 1


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param([], id="a gap"),
        pytest.param(None, id="none"),
        pytest.param([(1, HALF)], id="a half is missing"),
        pytest.param([(1, HALF), (0, 1)], id="more than one"),
        pytest.param([(1, 2), (0, -1)], id="negative"),
        pytest.param([(1, NAN)], id="nan"),
        pytest.param([(1, INF)], id="infinite"),
        pytest.param([(1, "half")], id="a word"),
        pytest.param([2], id="a channel of another node"),
        pytest.param([6], id="no such channel"),
        pytest.param([-1], id="a negative channel"),
        pytest.param(["a"], id="a channel by name"),
        pytest.param([0.5], id="half a channel"),
        pytest.param(5, id="no list"),
    ],
)
def test_bad_hops(bad: Any) -> None:
    mistake(lambda: obliv.worst_case(hops(but(bad))))


@pytest.mark.parametrize("share", [None, Fraction(1, 10**9), HALF])
def test_hops_with_a_loop(share: Any) -> None:
    """0 and 1 send packets for 2 to each other: always, or sometimes."""

    def table(node: int, d: int) -> Any:
        if d == 2 and node in (0, 1):
            back, out = DIRECT[node, 1 - node], DIRECT[node, 2]
            return [back] if share is None else [(back, share), (out, 1 - share)]
        return [DIRECT[node, d]]

    assert "loop" in mistake(lambda: obliv.worst_case(hops(table)))


def test_a_routing_that_says_nothing() -> None:
    """Neither paths nor next_hops."""

    class Empty(obliv.Routing):
        pass

    class EmptyHops(obliv.HopRouting):
        pass

    for kind in (Empty, EmptyHops):
        with pytest.raises((obliv.OblivError, NotImplementedError, TypeError)):
            obliv.worst_case(kind(obliv.ring(3)))


# Mixes in Python.


def test_bad_mixes() -> None:
    ring, other = obliv.ring(5), obliv.ring(6)
    a, b, far = obliv.routing("dor", ring), obliv.routing("valiant", ring), obliv.routing("dor", other)
    for call in (
        lambda: obliv.worst_case(0.5 * a),
        lambda: obliv.worst_case(0.5 * a + 0.6 * b),
        lambda: obliv.worst_case(HALF * a + Fraction(1, 3) * b),
        lambda: obliv.worst_case(2 * a + -1 * b),
        lambda: obliv.worst_case(a + b),
        lambda: obliv.worst_case(0.5 * a + 0.5 * far),
        lambda: NAN * a,
        lambda: INF * a,
    ):
        mistake(call)


@pytest.mark.parametrize("weights", [(0.1, 0.9), (1 / 3, 2 / 3), (0.7, 0.2, 0.1)])
def test_float_weights_that_a_user_means_to_add_up(weights: tuple[float, ...]) -> None:
    """`1/3 * a + 2/3 * b` is the spec's grammar written in Python; the contract shows floats as weights."""
    ring = obliv.ring(5)
    routing = obliv.routing("dor", ring)
    mix = weights[0] * routing
    for weight in weights[1:]:
        mix = mix + weight * routing
    assert obliv.worst_case(mix).channel_load == pytest.approx(2)


def test_mixing_with_other_things() -> None:
    a = obliv.routing("dor", obliv.ring(5))
    for call in (lambda: a + 1, lambda: a + "dor", lambda: "x" * a, lambda: None * a, lambda: a * a):
        with pytest.raises((obliv.OblivError, TypeError)):
            call()  # type: ignore[no-untyped-call]


# Tables in files.

GOOD = ["hop 0 1 1", "hop 0 2 2", "hop 1 2 2", "hop 1 0 0", "hop 2 0 0", "hop 2 1 1"]
LINKS = [(0, 1), (0, 2), (1, 2), (1, 0), (2, 0), (2, 1)]


def table(tmp_path: Path, lines: list[str] | bytes) -> str:
    file = tmp_path / "table.txt"
    file.write_bytes(lines if isinstance(lines, bytes) else "\n".join(lines).encode())
    return f"table:{file}"


def read(tmp_path: Path, lines: list[str] | bytes) -> Any:
    spec = table(tmp_path, lines)
    return obliv.worst_case(obliv.routing(spec, obliv.build("both ways", 3, LINKS)))


def test_a_good_table(tmp_path: Path) -> None:
    assert read(tmp_path, GOOD).channel_load == 1
    assert read(tmp_path, ["# comment", "", *GOOD[:-1], "  hop 2 1 1=1/2 0=0.5   # either way"]).throughput is not None
    straight = [f"path 1 {a} {b}" for a, b in LINKS]
    assert read(tmp_path, straight).channel_load == 1
    # (2, 1) half by way of 0: a mean of (6 + 1/2) / 9 hops
    split = table(tmp_path, [*straight[:-1], "path 0.5 2 1", "path 1/2 2 0 1"])
    assert obliv.routing(split, obliv.build("both ways", 3, LINKS)).pair_loads().hops() == Fraction(13, 18)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({1: "hop 0 2 1", 2: "hop 1 2 0"}, id="a loop"),
        pytest.param({1: "hop 0 2 1=1/9 2=8/9", 2: "hop 1 2 0=1/9 2=8/9"}, id="a loop sometimes"),
        pytest.param({1: ""}, id="a gap"),
        pytest.param({1: "hop 0 2"}, id="no next hop"),
        pytest.param({1: "hop 0 2 2=1/2"}, id="a half is missing"),
        pytest.param({1: "hop 0 2 2=1/2 1=2/3"}, id="more than one"),
        pytest.param({1: "hop 0 2 2=2 1=-1"}, id="negative"),
        pytest.param({1: "hop 0 2 2=nan"}, id="nan"),
        pytest.param({1: "hop 0 2 2=inf"}, id="infinite"),
        pytest.param({1: "hop 0 2 2=half"}, id="a word"),
        pytest.param({1: "hop 0 2 2="}, id="no number"),
        pytest.param({1: "hop 0 2 2=1/0"}, id="over zero"),
        pytest.param({1: "hop 0 2 0"}, id="no such channel"),
        pytest.param({1: "hop 0 2 9"}, id="no such node"),
        pytest.param({1: "hop 0 9 2"}, id="no such destination"),
        pytest.param({1: "hop 9 2 2"}, id="no such place"),
        pytest.param({1: "hop 0 2 @99"}, id="no such channel number"),
        pytest.param({1: "hop 0 2 @3"}, id="a channel of another node"),
        pytest.param({1: "hop 0 2 @x"}, id="no channel number"),
        pytest.param({1: "hup 0 2 2"}, id="no keyword"),
        pytest.param({1: "path 1 0 2"}, id="lines of two kinds"),
        pytest.param({1: 'hop 0 2 "2'}, id="an open quote"),
        pytest.param({1: "hop 0 2 2", 2: "hop 0 2 1"}, id="twice, and a gap"),
        pytest.param({1: "hop 0 2 2 2=1/2"}, id="with and without probability"),
    ],
)
def test_bad_hop_tables(tmp_path: Path, change: dict[int, str]) -> None:
    lines = list(GOOD)
    for i, line in change.items():
        lines[i] = line
    text = mistake(lambda: read(tmp_path, lines))
    assert "table.txt" in text


@pytest.mark.parametrize(
    "change",
    [
        pytest.param("", id="a gap"),
        pytest.param("path 1/2 0 2", id="a half is missing"),
        pytest.param("path 1 0 2\npath 1 0 1 2", id="two"),
        pytest.param("path 2 0 2\npath -1 0 1 2", id="negative"),
        pytest.param("path nan 0 2", id="nan"),
        pytest.param("path inf 0 2", id="infinite"),
        pytest.param("path x 0 2", id="a word"),
        pytest.param("path 1", id="no nodes"),
        pytest.param("path", id="nothing"),
        pytest.param("path 1 0 9", id="no such node"),
        pytest.param("path 1 0 0 2", id="no such channel"),
        pytest.param("path 1 0 2 2", id="no channel to itself"),
        pytest.param("hop 0 2 2", id="lines of two kinds"),
    ],
)
def test_bad_path_tables(tmp_path: Path, change: str) -> None:
    lines = [f"path 1 {a} {b}" for a, b in LINKS]
    lines[1] = change
    text = mistake(lambda: read(tmp_path, lines))
    assert "table.txt" in text


def test_mistakes_in_a_file_name_the_line(tmp_path: Path) -> None:
    for i in range(6):
        lines = list(GOOD)
        lines[i] = lines[i].replace("hop", "hpo")
        assert f"{i + 1}" in mistake(lambda lines=lines: read(tmp_path, lines)).split("table.txt")[1][:6]  # type: ignore[misc]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"# nothing", b"\x00\x01\xff\xfe", b"\xff" * 100, b"hop " * 1000])
def test_files_that_are_no_tables(tmp_path: Path, content: bytes) -> None:
    mistake(lambda: read(tmp_path, content))


def test_a_folder_is_no_table(tmp_path: Path) -> None:
    mistake(lambda: obliv.routing(f"table:{tmp_path}", obliv.build("both ways", 3, LINKS)))


def test_hops_over_parallel_channels_need_a_number(tmp_path: Path) -> None:
    """Which of two parallel channels a node means must be said, or is said to be a split; never one silently."""
    topology = obliv.build("double", 2, [(0, 1), (0, 1), (1, 0)])
    spec = table(tmp_path, ["hop 0 1 1", "hop 1 0 0"])
    try:
        loads = obliv.routing(spec, topology).pair_loads()
    except obliv.OblivError:
        return
    assert [int(x) * 2 // loads.denominator for x in loads.totals()] == [1, 1, 2]


# Traffic.


@pytest.mark.parametrize(
    "rows",
    [
        [[1, Fraction(1, 10**5)], [0, 0]],
        [[0.5, 0.6], [0, 0]],
        [[-0.1, 0.5], [0, 0]],
        [[NAN, 0], [0, 0]],
        [[INF, 0], [0, 0]],
        [[-INF, 0], [0, 0]],
        [["x", 0], [0, 0]],
        [[None, 0], [0, 0]],
        [[1j, 0], [0, 0]],
        [[0, 0]],
        [[0], [0]],
        [[0, 0], [0]],
        [[0, 0, 0], [0, 0, 0]],
        [],
        [[]],
        "matrix",
        3,
        None,
        [1, 0],
    ],
)
def test_bad_matrices(rows: Any) -> None:
    mistake(lambda: obliv.matrix(rows))


def test_an_array_with_a_bad_number() -> None:
    for bad in (NAN, INF, -1.0):
        rows = np.zeros((3, 3))
        rows[1, 2] = bad
        mistake(lambda rows=rows: obliv.matrix(rows))  # type: ignore[misc]


@pytest.mark.parametrize(
    "destinations",
    [
        [0, 0],
        [1, 1, 2],
        [0, 2],
        [-1, 0],
        [0, 1, 3],
        [0.5, 1],
        ["a", "b"],
        [None, 0],
        [],
        3,
        None,
        [[0, 1], [1, 0]],
        [NAN, 0],
        [True, True],
    ],
)
def test_what_is_no_permutation(destinations: Any) -> None:
    mistake(lambda: obliv.permutation(destinations))


# Calls.


def test_bad_calls() -> None:
    ring = obliv.ring(5)
    routing = obliv.routing("dor", ring)
    for call in (
        lambda: obliv.worst_case(routing, symmetry="on"),
        lambda: obliv.worst_case(routing, symmetry=""),
        lambda: obliv.worst_case(routing, samples=0),
        lambda: obliv.worst_case(routing, samples=-3),
        lambda: obliv.throughput(routing, "tornadoo"),
        lambda: obliv.throughput(routing, obliv.permutation([0, 1])),
        lambda: obliv.load("/no/such/file.json"),
    ):
        mistake(call)


def test_throughput_of_no_pattern() -> None:
    """Nothing to answer: refused, or an empty list; never a crash."""
    routing = obliv.routing("dor", obliv.ring(5))
    try:
        assert obliv.throughput(routing).patterns == ()
    except obliv.OblivError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize("subject", [None, 3, "dor", obliv.ring(3), [1]])
def test_what_is_no_routing(subject: Any) -> None:
    with pytest.raises((obliv.OblivError, TypeError)):
        obliv.worst_case(subject)


@pytest.mark.parametrize("subject", [None, 3, "dor", obliv.ring(3), [1]])
def test_what_is_no_routing_for_throughput(subject: Any) -> None:
    with pytest.raises((obliv.OblivError, TypeError)):
        obliv.throughput(subject, "uniform")


@pytest.mark.parametrize("spec", [None, 3, ["torus:3x3"], b"torus:3x3"])
def test_what_is_no_spec(spec: Any) -> None:
    with pytest.raises((obliv.OblivError, TypeError)):
        obliv.topology(spec)


@pytest.mark.parametrize("channel", [-1, 10, 10**12, 0.5, "a", None])
def test_what_is_no_channel(channel: Any) -> None:
    loads = obliv.routing("dor", obliv.ring(5)).pair_loads()
    with pytest.raises((obliv.OblivError, IndexError, TypeError)):
        loads.on_channel(channel)


@pytest.mark.parametrize("node_map", [[0, 0, 1, 2, 3], [-1, 0, 1, 2, 3], [0, 1, 2], [5, 0, 1, 2, 3], None, "abcde"])
def test_what_is_no_node_map(node_map: Any) -> None:
    """False, or an error of the tree."""
    loads = obliv.routing("dor", obliv.ring(5)).pair_loads()
    try:
        assert loads.keeps(node_map) is False
    except obliv.OblivError as error:
        assert isinstance(error, ValueError)


# Registration.


def test_registering_again_and_using() -> None:
    @obliv.register_topology("own-wheel")
    def wheel(n: int) -> Any:
        """A directed ring."""
        return obliv.build(f"own-wheel:{n}", n, [(i, (i + 1) % n) for i in range(n)])

    @obliv.register_routing("own-forward")
    class Forward(obliv.HopRouting):
        """Always forward."""

        def next_hops(self, node: int, destination: int) -> list[int]:
            return [node]

    @obliv.register_pattern("own-back")
    def back(topology: Any) -> Any:
        """One back."""
        n = len(topology.terminals)
        return obliv.permutation([(i - 1) % n for i in range(n)])

    topology = obliv.topology("own-wheel:5")
    assert topology.channels == 5
    routing = obliv.routing("own-forward", topology)
    # Every packet goes up to 4 hops; to the node behind: all channels carry 4.
    assert obliv.worst_case(routing).channel_load == 4
    assert obliv.throughput(routing, "own-back").patterns[0].channel_load == 4
    assert obliv.worst_case(obliv.routing("1/2*own-forward+1/2*shortest", topology)).channel_load == 4
    mistake(lambda: obliv.topology("own-wheel:x"))
    assert "own-forward" in mistake(lambda: obliv.routing("own-forwrd", topology))


# The command line.


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ("worst Abilene.graphml ecmp", "no file of this name"),
        ("worst nets/abilene ecmp", "no file of this name"),
        ("compare mesh:3x3 dor,o1turn", "write the names apart, dor o1turn"),
        ("plot mesh:3x3 -o x.png", "write topology, loads, worst, result before it"),
        ("mesh:3x3 dor", "write worst, verify"),
        ("worst mesh:3x3 mine --import {folder}/mine", "did you mean {folder}/mine.py?"),
        ("worst mesh:3x3 mine --import {folder}/mine.py", "its first parameter must be the topology"),
        ("fabric {folder}/mine.py", "write check, worst"),
    ],
)
def test_hints_of_the_command_line(command: str, hint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.py").write_text("import obliv\n@obliv.register_routing('mine')\nclass Mine:\n    'Mine.'\n")
    assert main([word.format(folder=tmp_path) for word in command.split()]) == 2
    line = capsys.readouterr().err
    assert hint.format(folder=tmp_path) in line
    assert line.count("\n") == 1


# Files.


@pytest.mark.parametrize(
    "words",
    [
        ("throughput", "mesh:2x2", "dor", "flows:in.txt"),
        ("compare", "mesh:2x2", "dor", "--traffic", "flows:in.txt"),
        ("compare", "file:in.txt,format=edgelist", "ecmp"),
        ("ratio", "mesh:2x2", "dor", "--traffic", "flows:in.txt"),
        ("worst", "file:in.txt,format=edgelist", "ecmp"),
    ],
)
def test_inputs_are_not_overwritten(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.txt").write_text("0 1 1\n", encoding="utf-8")
    assert main([*words, "--output", "in.txt"]) == 2
    assert "in.txt: is an input file and would be overwritten" in capsys.readouterr().err
    assert (tmp_path / "in.txt").read_text(encoding="utf-8") == "0 1 1\n"


def test_a_result_does_not_replace_what_it_is_about(tmp_path: Path) -> None:
    network = tmp_path / "in.txt"
    network.write_text("0 1 1\n", encoding="utf-8")
    result = obliv.worst_case(f"file:{network},format=edgelist", "ecmp")
    assert "would be overwritten" in mistake(lambda: result.save(network))


# What students and operators write at first.


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        ("worst mesh 4x4 dor", "a network is one word, mesh:4x4"),
        ("worst 4x4 dor", "write for example mesh:4x4 or torus:4x4"),
        ("worst mesh:4x4 dor+romm", "for example 1/2*A+1/2*B"),
        ("worst mesh:4x4 0.5dor+0.5romm", "for example 1/2*A+1/2*B"),
        ("throughput mesh:4x4 dor file:t.csv", "or flows:FILE or matrix:FILE"),
        ("worst mesh:4x4 dor --samples ten", "'ten' is not a whole number"),
        ("worst mesh4x4 dor", "write mesh:4x4"),
        ("worst mesh:4*4 dor", "radices must be whole numbers joined by x, not '4*4'"),
        ("worst dor mesh:4x4", "dor is a routing, which follows the topology; the topology comes first"),
        ("average mesh:4x4 dor transpose", "is obliv throughput mesh:4x4 dor transpose (see obliv average --help)"),
        ("worst mesh:4x4 dor romm", "use obliv compare for several routings (see obliv worst --help)"),
        ("worst mesh:4x4 dor --plot", "requires an argument (see obliv worst --help)"),
        ("compare mesh:4x4 dor --traffic uniform tornado", "TRAFFIC is given twice, as 'tornado' and with --traffic"),
        ("throughput mesh:4x4 dor hot-nodes:(0,0,(1,1)", "'(0' is not a terminal: a parenthesis is missing"),
        ("throughput mesh:4x4 dor hot-nodes:(0,0)(1,1)", "put commas between terminals"),
        ("reproduce towles table1 --plot x", "table1 of towles is a table without a picture"),
        (
            "reproduce towles figure1",
            "figure1 of towles is a picture without a table: --plot DIR",
        ),
        ("export mesh:4x4,ejection=2 dor --to booksim-paths -o x", "leave out injection= and ejection="),
        ("export mesh:4x4,ejection=2 ecmp --to booksim -o x", "leave out injection= and ejection="),
        ("version", "write obliv --version"),
        ("compare mesh:3x3 dor --latex", "write --format latex"),
        ("bufferless butterfly:5 hot-potato", "write -a hot-potato"),
        ("bufferless butterfly:3 --plot x.gif --width 300", "obliv plot result RESULT.json FILE --width"),
        ("help wrost", "Did you mean 'worst'?"),
        ("fabric trace f.net", "choose check, worst"),
        ("fabric f.net", "write check, worst"),
    ],
)
def test_first_commands(words: str, fix: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert fix in line


def test_a_network_without_a_spec_is_called_as_it_was_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text(
        "import obliv\n@obliv.register_topology('nameless')\n"
        "def nameless(n: int):\n    '''One channel.'''\n    return obliv.build('', n, [(0, n)])\n",
        encoding="utf-8",
    )
    assert main(["worst", "nameless:4", "ecmp", "--import", str(tmp_path / "mine.py")]) == 2
    assert capsys.readouterr().err == "obliv: nameless:4: a channel names node 4, nodes are 0 to 3\n"


def test_help_is_a_verb(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ("help", "help worst", "help plot worst"):
        assert main(words.split()) == 0
        text = capsys.readouterr().out
        assert main([*words.split()[1:], "--help"]) == 0
        assert capsys.readouterr().out == text


class NodesForChannels(obliv.Routing):
    """A routing whose paths list numbers of nodes."""

    def paths(self, source: int, destination: int) -> Any:
        yield [source, destination], 1


def test_first_calls() -> None:
    mesh = obliv.mesh(3, 3)
    text = mistake(lambda: obliv.worst_case(NodesForChannels(mesh)))
    assert text.startswith("NodesForChannels: a path from ")
    assert "a path lists channels (topology.channel(u, v)), or nodes by name" in text
    assert mistake(lambda: obliv.verify(obliv.worst_case(obliv.DOR(mesh)))).startswith("the result 'worst': ")
    assert "obliv.from_networkx" in mistake(lambda: obliv.worst_case(object(), "ecmp"))  # type: ignore[call-overload]
    assert "obliv.matrix(rows)" in mistake(lambda: obliv.throughput(obliv.DOR(mesh), np.eye(9)))  # type: ignore[arg-type]
