"""Channel dependency graphs: the published table, the documented ones, and brute force over all paths."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import strategies

import obliv
from obliv.errors import InputError, RoutingError, SpecError, TooLargeError
from obliv.loads.separable import ANYWHERE, QUADRANT, TO_DESTINATION, TO_INTERMEDIATE, Phase, Program
from obliv.questions.deadlocks.deadlock import LeftOut
from obliv.questions.deadlocks.graph import short_cycle
from obliv.routings.dimension_ordered import ProgramRouting
from obliv.routings.mixes import TwoPhase

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/verbs" / "deadlock.md"

XY, YX = ((0, 1),), ((1, 0),)


def by_phases(first: Any, second: Any, draw: str, name: str) -> Callable[[Any], Any]:
    """A routing of two phases with the given orders (None: drawn)."""
    phases = (Phase(TO_INTERMEDIATE, first), Phase(TO_DESTINATION, second))
    return lambda topology: ProgramRouting(topology, (Program(Fraction(1), phases, draw),), name)


OWN = {
    "val xy/xy": by_phases(XY, XY, ANYWHERE, "val xy/xy"),
    "val xy/yx": by_phases(XY, YX, ANYWHERE, "val xy/yx"),
    "val random": by_phases(None, None, ANYWHERE, "val random"),
    "romm xy/yx": by_phases(XY, YX, QUADRANT, "romm xy/yx"),
}


def routed(name: str, topology: Any) -> Any:
    return OWN[name](topology) if name in OWN else obliv.routing(name, topology)


# The published claims and what was found about them: routing, scheme, virtual channels, acyclic.
KNOWN = [
    ("dor", "none", 1, True),
    ("o1turn", "none", 1, False),
    ("o1turn", "phase-order", 2, True),
    ("o1turn", "family", 2, True),
    ("o1turn", "turn", 2, True),
    ("xyx", "none", 1, False),
    ("yxy", "none", 1, False),
    ("u2turn", "none", 1, False),
    ("u2turn", "turn", 2, True),
    ("u2turn-a", "turn", 2, True),
    ("u2turn-a", "family", 2, False),
    ("xyx", "turn", 2, True),
    ("yxy", "turn", 2, True),
    ("romm:xy", "phase", 2, True),
    ("romm:xy", "turn", 2, True),
    ("romm", "phase", 2, False),
    ("romm", "turn", 3, True),
    ("romm", "phase-order", 4, True),
    ("romm", "double-y", 2, True),
    ("val xy/xy", "phase", 2, True),
    ("val xy/yx", "phase", 2, True),
    ("val xy/xy", "turn", 2, False),
    ("val xy/xy", "turn+uturn", 2, True),
    ("val random", "phase", 2, False),
    ("val random", "turn+uturn", 3, True),
    ("val random", "phase-order", 4, True),
    ("valiant", "phase", 2, True),
]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("size", ["3x3", "4x4", "5x5", "5x3", "3x5"])
def test_meshes(size: str) -> None:
    for name, scheme, count, acyclic in KNOWN:
        result = obliv.deadlock(routed(name, obliv.topology(f"mesh:{size}")), scheme)
        assert (result.virtual_channels, result.acyclic) == (count, acyclic), (name, scheme)


@pytest.mark.parametrize("size", ["3x3", "4x4", "5x5", "5x3", "3x5"])
def test_families_do_not_suffice_for_u2turn(size: str) -> None:
    assert not obliv.deadlock(obliv.routing("u2turn", obliv.topology(f"mesh:{size}")), "family").acyclic


def test_double_y_takes_one_virtual_channel_in_x() -> None:
    result = obliv.deadlock(obliv.routing("romm", obliv.mesh(4, 4)), "double-y")
    assert result.by_dimension == {"x": 1, "y": 2}


def tables() -> Iterator[tuple[str, str, str, str]]:
    """The cells of the tables of the documentation: topology, routing, scheme, text."""
    for table in re.findall(r"(^\| (?:mesh|torus):.*?)(?:\n\n|\Z)", PAGE.read_text(encoding="utf-8"), re.M | re.S):
        head, _, *rows = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in table.splitlines()]
        for row in rows:
            for topology in head[0].split(", "):
                yield from ((topology, name, row[0], cell) for name, cell in zip(head[1:], row[1:], strict=True))


def cell(topology: str, name: str, scheme: str) -> str:
    try:
        result = obliv.deadlock(obliv.routing(name, obliv.topology(topology)), scheme)
    except RoutingError:
        return "–"
    return str(result.virtual_channels) if result.acyclic else f"({result.virtual_channels})"


@pytest.mark.nightly
@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.nightly)])
def test_the_documented_tables(step: int) -> None:
    rows = list(tables())
    assert len(rows) == 11 * (7 + 2 * 6)
    wrong = [(*each, cell(*each[:3])) for each in rows[::step] if cell(*each[:3]) != each[3]]
    assert not wrong


@pytest.mark.sampled(4)
@pytest.mark.parametrize("size", ["3x3", "5x5", "5x3", "3x5"])
def test_other_meshes_are_like_the_documented_one(size: str) -> None:
    for topology, name, scheme, text in tables():
        if topology == "mesh:4x4" and name not in ("ecmp", "u2turn"):
            assert cell(f"mesh:{size}", name, scheme) == text, (size, name, scheme)


def test_datelines_per_segment() -> None:
    for k in (3, 4, 5, 6):
        torus = obliv.torus(k, k)
        assert obliv.deadlock(obliv.routing("u2turn", torus), "turn+dateline").acyclic
        assert obliv.deadlock(obliv.routing("valiant", torus), "phase+dateline").acyclic
        assert not obliv.deadlock(obliv.routing("romm", torus), "double-y+dateline").acyclic
    assert obliv.deadlock(obliv.routing("romm", torus), "turn+dateline").virtual_channels == 6
    assert obliv.deadlock(obliv.routing("dor", obliv.torus(4, 4, 4)), "dateline").virtual_channels == 2

    def kept(routing: Any, path: tuple[int, ...]) -> list[int]:
        """Y to X turns, and a bit per dimension that is never cleared."""
        topology, bits, turns, result = routing.topology, [0, 0], 0, []
        for at, c in enumerate(path):
            dim, link = int(topology.dim_of[c]), int(topology.link_of[c])
            turns += at > 0 and topology.dim_of[path[at - 1]] > dim
            result.append(2 * turns + bits[dim])
            bits[dim] |= link in (1, 2 * 3)
        return result

    assert not obliv.deadlock(obliv.routing("u2turn", obliv.torus(4, 4)), kept).acyclic


# Brute force from the definitions, with coordinates only.

Hop = tuple[tuple[int, int], int, int, int, str]  # node, dimension, step, phase, order of the phase


def ways(ring: bool, k: int, a: int, b: int) -> list[tuple[int, int]]:
    """Minimal (step, hops) from a to b."""
    if not ring:
        return [(1 if b > a else -1, abs(b - a))]
    up = (b - a) % k
    return [(step, hops) for step, hops in ((1, up), (-1, k - up)) if 2 * hops <= k][: 2 if up else 1]


def straight(
    size: tuple[int, int], node: tuple[int, int], dim: int, step: int, hops: int, phase: int, order: str
) -> Any:
    result = []
    for _ in range(hops):
        result.append((node, dim, step, phase, order))
        moved = list(node)
        moved[dim] = (moved[dim] + step) % size[dim]
        node = (moved[0], moved[1])
    return result, node


def in_order(ring: bool, size: Any, s: Any, d: Any, order: str, phase: int) -> Iterator[list[Hop]]:
    one, two = ("xy".index(letter) for letter in order)
    for first in ways(ring, size[one], s[one], d[one]):
        for second in ways(ring, size[two], s[two], d[two]):
            out, corner = straight(size, s, one, *first, phase, order)
            on, end = straight(size, corner, two, *second, phase, order)
            assert end == d
            yield out + on


def definition(name: str, ring: bool, size: Any, s: Any, d: Any) -> Iterator[list[Hop]]:
    """Every path of a routing, straight from its definition."""
    nodes = list(itertools.product(range(size[0]), range(size[1])))
    if name == "o1turn":
        for order in ("xy", "yx"):
            yield from in_order(ring, size, s, d, order, 0)
    elif name.startswith("val"):
        choices = {"val xy/xy": [("xy", "xy")], "val xy/yx": [("xy", "yx")]}
        for one, two in choices.get(name, itertools.product(("xy", "yx"), repeat=2)):
            for middle in nodes:
                for out in in_order(ring, size, s, middle, one, 0):
                    for on in in_order(ring, size, middle, d, two, 1):
                        yield out + on
    elif name == "romm":
        for x in ways(ring, size[0], s[0], d[0]):
            for y in ways(ring, size[1], s[1], d[1]):
                for i, j in itertools.product(range(x[1] + 1), range(y[1] + 1)):
                    for one, two in itertools.product(("xy", "yx"), repeat=2):
                        path, node = [], s
                        for phase, order, parts in ((0, one, (i, j)), (1, two, (x[1] - i, y[1] - j))):
                            for letter in order:
                                dim = "xy".index(letter)
                                hops, node = straight(size, node, dim, (x, y)[dim][0], parts[dim], phase, order)
                                path += hops
                        assert node == d
                        yield path
    elif name == "u2turn-a":
        for first, other in ((0, 1), (1, 0)):
            letters = "xy"[first], "xy"[other] + "xy"[first]
            if s[other] == d[other]:
                for way in ways(ring, size[first], s[first], d[first]):
                    yield straight(size, s, first, *way, 0, letters[0])[0]
                continue
            for column in range(size[first]):
                for out in ways(ring, size[first], s[first], column):
                    for across in ways(ring, size[other], s[other], d[other]):
                        for back in ways(ring, size[first], column, d[first]):
                            one, node = straight(size, s, first, *out, 0, letters[0])
                            two, node = straight(size, node, other, *across, 1, letters[1])
                            three, node = straight(size, node, first, *back, 1, letters[1])
                            assert node == d
                            yield one + two + three


def labelled(path: Sequence[Hop], scheme: str, ring: bool, size: Any) -> list[Any]:
    """The virtual channel of every hop, straight from the definition of the scheme."""
    base, _, dateline = scheme.partition("+dateline")
    dateline = "dateline" in scheme
    base = "none" if base == "dateline" else base
    turned = [
        i > 0 and (path[i - 1][1] > hop[1] or (base == "turn+uturn" and path[i - 1][1:3] == (hop[1], -hop[2])))
        for i, hop in enumerate(path)
    ]
    right = {hop[2] for hop in path if hop[1] == 0}
    classes: list[Any] = {
        "none": [0 for _ in path],
        "phase": [hop[3] for hop in path],
        "turn": [sum(turned[: i + 1]) for i in range(len(path))],
        "turn+uturn": [sum(turned[: i + 1]) for i in range(len(path))],
        "phase-order": [hop[3:] for hop in path],
        "double-y": [int(hop[1] == 1 and right == {-1}) for hop in path],
    }[base]
    result, behind = [], False
    for i, (node, dim, step, _, _) in enumerate(path):
        if i == 0 or path[i - 1][1:3] != (dim, step) or classes[i - 1] != classes[i]:
            behind = False
        result.append((classes[i], behind and dateline))
        behind = behind or (ring and node[dim] == (size[dim] - 1 if step > 0 else 0))
    return result


SMALL = [
    ("mesh", (3, 3)),
    ("mesh", (3, 2)),
    ("torus", (3, 3)),
    pytest.param("mesh", (4, 3), marks=pytest.mark.nightly),
    pytest.param("torus", (4, 3), marks=pytest.mark.nightly),
    pytest.param("torus", (4, 4), marks=pytest.mark.nightly),
]


COMMON = ("none", "phase", "turn", "turn+uturn", "phase-order", "dateline", "turn+dateline", "phase+dateline")
MORE = {"romm": (*COMMON, "double-y", "double-y+dateline"), "val random": (*COMMON, "turn+uturn+dateline")}


@pytest.mark.sampled(16)
@pytest.mark.parametrize("name", ["o1turn", "romm", "u2turn-a", "val xy/xy", "val xy/yx", "val random"])
@pytest.mark.parametrize(("kind", "size"), SMALL, ids=str)
def test_against_the_definitions(kind: str, size: tuple[int, int], name: str) -> None:
    topology = obliv.topology(f"{kind}:{size[0]}x{size[1]}")
    nodes = list(itertools.product(range(size[0]), range(size[1])))
    number = {}
    for c, (tail, head) in enumerate(zip(topology.tail.tolist(), topology.head.tolist(), strict=True)):
        number[topology.coordinates(tail), topology.coordinates(head)] = c
    ring = kind == "torus"
    paths = {tuple(p) for s, d in itertools.product(nodes, repeat=2) for p in definition(name, ring, size, s, d)}
    for scheme in MORE.get(name, COMMON):
        graph: Any = nx.DiGraph()
        for path in paths:
            vertices = []
            for (node, dim, step, _, _), label in zip(path, labelled(path, scheme, ring, size), strict=True):
                moved = list(node)
                moved[dim] = (moved[dim] + step) % size[dim]
                vertices.append((number[node, tuple(moved)], label))
            graph.add_nodes_from(vertices)
            nx.add_path(graph, vertices)
        agree(obliv.deadlock(routed(name, topology), scheme), graph)


def agree(result: Any, graph: Any) -> None:
    """Whether a result says what a graph of (channel, label) is like."""
    labels = sorted({label for _, label in graph})
    assert result.virtual_channels == len(labels)
    assert result.dependencies == graph.number_of_edges()
    assert result.acyclic == nx.is_directed_acyclic_graph(graph)
    assert result.acyclic == (result.cycle is None)
    if result.cycle is not None:
        cycle = [(hop.channel, labels[hop.virtual_channel]) for hop in result.cycle]
        assert len(set(cycle)) == len(cycle)
        for one, two in itertools.pairwise([*cycle, cycle[0]]):
            assert graph.has_edge(one, two)


# All routings on all kinds of networks, from the channels of their paths.


def by_channels(topology: Any, path: tuple[int, ...], scheme: str) -> list[tuple[int, bool]]:
    """Turns counted and datelines crossed, from the channels alone."""
    turns, behind, result = 0, False, []
    moves = []
    for c in path:
        dim, link = int(topology.dim_of[c]), int(topology.link_of[c])
        along = topology.axes[dim]
        tail, head = along.links[link]
        up = link % 2 == 0 if along.kind == "ring" else head > tail
        moves.append((dim, up, along.kind == "ring" and tail == (along.radix - 1 if up else 0)))
    for i, (dim, up, wraps) in enumerate(moves):
        if i:
            turned = moves[i - 1][0] > dim or ("uturn" in scheme and moves[i - 1][:2] == (dim, not up))
            turns += turned and "turn" in scheme
            behind = behind and moves[i - 1][:2] == (dim, up) and not (turned and "turn" in scheme)
        result.append((turns, behind and "dateline" in scheme))
        behind = behind or wraps
    return result


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    ("network", "name"),
    [
        pytest.param("torus:3x2x2", "ival", marks=pytest.mark.nightly),
        pytest.param("torus:3x3x2", "u2turn", marks=pytest.mark.nightly),
        pytest.param("mesh:2x3x2", "romm", marks=pytest.mark.nightly),
        ("torus:3x2", "ival"),
        ("mesh:2x2x3", "u2turn"),
        ("mesh:3x2x2", "valiant"),
        ("torus:2x2", "valiant"),
        ("torus:2x4", "i2turn"),
        ("torus:5x4", "xyx"),
        ("ring:6", "ival"),
        ("ring:5", "valiant"),
        ("ring:2", "romm"),
        ("line:5", "valiant"),
        ("hypercube:3", "romm"),
        ("hypercube:3", "o1turn"),
        ("hyperx:3x4", "valiant"),
        ("hyperx:3x3", "u2turn-a:p=1/3"),
        ("hyperx:2x3x2", "ival"),
        ("complete:5", "valiant"),
        ("torus:4x3", "1/3*romm+2/3*ecmp"),
        ("torus:3x4", "shortest"),
    ],
)
def test_every_kind_of_network(network: str, name: str) -> None:
    topology = obliv.topology(network)
    routing = obliv.routing(name, topology)
    paths = {p for s, d in itertools.product(range(topology.nodes), repeat=2) for p, _ in routing.paths(s, d)}
    for scheme in ("none", "turn", "turn+uturn", "dateline", "turn+uturn+dateline"):
        graph: Any = nx.DiGraph()
        for path in paths:
            vertices = list(zip(path, by_channels(topology, path, scheme), strict=True))
            graph.add_nodes_from(vertices)
            nx.add_path(graph, vertices)
        agree(obliv.deadlock(routing, scheme), graph)


# Generated networks and routings.


@given(strategies.cases(kinds=("paths", "walks", "hops")))
@strategies.examples(150)
def test_any_network(case: strategies.Case) -> None:
    graph: Any = nx.DiGraph()
    for s, d in itertools.product(case.terminals, repeat=2):
        for path, chance in case.paths[s, d]:
            if chance:
                graph.add_nodes_from((c, 0) for c in path)
                nx.add_path(graph, [(c, 0) for c in path])
    agree(obliv.deadlock(case.routing), graph)


@given(strategies.cases(kinds=("paths", "hops")))
@strategies.examples(40)
def test_two_phases(case: strategies.Case) -> None:
    routing = TwoPhase(case.routing, "two phases")
    for scheme in ("none", "phase"):
        graph: Any = nx.DiGraph()
        for s, m, d in itertools.product(case.terminals, repeat=3):
            for (first, p), (second, q) in itertools.product(case.paths[s, m], case.paths[m, d]):
                if p and q:
                    path = [(c, 0) for c in first] + [(c, int(scheme == "phase")) for c in second]
                    graph.add_nodes_from(path)
                    nx.add_path(graph, path)
        agree(obliv.deadlock(routing, scheme), graph)


@given(
    st.integers(0, 2**32), st.sampled_from([("mesh", (3, 3)), ("torus", (3, 3)), ("torus", (4, 3)), ("mesh", (2, 5))])
)
@strategies.examples(30)
def test_next_hops_under_schemes_that_count(seed: int, shape: tuple[str, tuple[int, int]]) -> None:
    kind, size = shape
    topology = obliv.topology(f"{kind}:{size[0]}x{size[1]}")
    rng = random.Random(seed)
    links = list(zip(topology.tail.tolist(), topology.head.tolist(), strict=True))
    hops = strategies.hop_table(rng, topology.nodes, links)
    terminals = rng.sample(range(topology.nodes), rng.randint(2, topology.nodes))
    topology = topology.with_terminals(terminals)
    routing = strategies.Hops(topology, hops)
    paths = strategies.paths_of_hops(topology.nodes, links, hops)
    steps = [-1] * len(links)
    for c, (a, b) in enumerate(links):
        one, two = topology.coordinates(a), topology.coordinates(b)
        dim = int(topology.dim_of[c])
        if (one[dim] + 1) % size[dim] == two[dim] and (kind == "torus" or two[dim] > one[dim]):
            steps[c] = 1
    for scheme in ("turn", "turn+uturn", "dateline", "turn+uturn+dateline"):
        graph: Any = nx.DiGraph()
        for s, d in itertools.product(terminals, repeat=2):
            for path, _ in paths[s, d]:
                walk = [(topology.coordinates(links[c][0]), int(topology.dim_of[c]), steps[c], 0, "") for c in path]
                vertices = list(zip(path, labelled(walk, scheme, kind == "torus", size), strict=True))
                graph.add_nodes_from(vertices)
                nx.add_path(graph, vertices)
        agree(obliv.deadlock(routing, scheme), graph)


def test_mixes_and_some_terminals() -> None:
    mesh = obliv.mesh(3, 3)
    dor, other, wild = obliv.DOR(mesh), obliv.DOR(mesh, "yx"), obliv.U2TURN(mesh)
    half = obliv.deadlock("1/2" * dor + "1/2" * other)
    assert half.dependencies == obliv.deadlock(obliv.O1TURN(mesh)).dependencies
    assert not half.acyclic
    assert obliv.deadlock("1/2" * dor + "1/2" * other, "family").acyclic
    assert obliv.deadlock("1/2" * dor + "1/2" * obliv.ECMP(mesh), "turn").virtual_channels == 3
    alone = obliv.deadlock(0 * wild + 1 * dor)
    assert alone.acyclic
    assert alone.dependencies == obliv.deadlock(dor).dependencies
    with pytest.raises(RoutingError, match="add up to 1/2"):
        obliv.deadlock("1/2" * dor)
    corners = mesh.with_terminals([0, 2, 6, 8])
    few = obliv.deadlock(obliv.routing("romm", corners), "phase-order")
    assert few.acyclic
    assert few.dependencies < obliv.deadlock(obliv.routing("romm", mesh), "phase-order").dependencies
    assert obliv.deadlock(obliv.routing("valiant", corners), "phase").acyclic


def test_probability_zero_is_no_path() -> None:
    mesh = obliv.mesh(3, 3)
    never = Program(Fraction(0), (Phase(TO_DESTINATION, YX),))
    always = Program(Fraction(1), (Phase(TO_DESTINATION, XY),))
    assert obliv.deadlock(ProgramRouting(mesh, (always, never), "mostly dor")).acyclic


@given(st.integers(0, 2**32), st.integers(1, 12))
@strategies.examples(200)
def test_cycles_of_random_graphs(seed: int, size: int) -> None:
    rng = random.Random(seed)
    graph: Any = nx.gnp_random_graph(size, rng.choice([0.05, 0.1, 0.2, 0.4]), seed=seed, directed=True)
    if rng.random() < 0.1:
        graph.add_edge(0, 0)
    after = [sorted(graph.successors(v)) for v in range(size)]
    ptr = np.concatenate([[0], np.cumsum([len(each) for each in after])])
    cycle = short_cycle(ptr, np.array([w for each in after for w in each], np.int64))
    if nx.is_directed_acyclic_graph(graph):
        assert cycle is None
        return
    assert cycle is not None
    assert all(graph.has_edge(v, w) for v, w in itertools.pairwise([*cycle, cycle[0]]))
    assert len(cycle) == min(len(each) for each in nx.simple_cycles(graph))
    assert cycle[0] == min(cycle)


@pytest.mark.nightly
@pytest.mark.parametrize("size", [1_050, pytest.param(20_000, marks=pytest.mark.nightly)])
def test_deep_graphs_need_no_recursion(size: int) -> None:
    ptr = np.arange(size + 1)
    assert short_cycle(np.minimum(ptr, size - 1), np.arange(1, size)) is None
    cycle = short_cycle(ptr, (np.arange(size) + 1) % size)
    assert cycle == list(range(size))


@pytest.mark.nightly
def test_large_networks_take_seconds() -> None:
    assert obliv.deadlock(obliv.routing("u2turn", obliv.mesh(8, 8)), "turn").acyclic
    assert obliv.deadlock(obliv.routing("romm", obliv.torus(5, 5)), "turn+dateline").virtual_channels == 5
    assert not obliv.deadlock(obliv.ECMP(obliv.random_regular(300, 6, seed=1))).acyclic
    assert obliv.deadlock(obliv.routing("ecmp", obliv.mesh(16, 16)), "turn").virtual_channels == 16
    assert obliv.deadlock(obliv.ROMM(obliv.hypercube(5)), "turn").acyclic


def test_valiant_on_any_network() -> None:
    network = obliv.random_regular(10, 3, seed=2)
    routing = obliv.routing("valiant", network)
    two = obliv.deadlock(routing, "phase")
    one = obliv.deadlock(obliv.Shortest(network))
    assert two.virtual_channels == 2
    assert two.acyclic == one.acyclic
    assert two.dependencies > 2 * one.dependencies


# A user's own scheme, and nonsense.


def test_an_own_scheme() -> None:
    mesh = obliv.mesh(3, 3)
    seen = []

    def by_hop(routing: Any, path: tuple[int, ...]) -> list[int]:
        seen.append(path)
        return list(range(len(path)))

    result = obliv.deadlock(obliv.O1TURN(mesh), by_hop)
    assert result.acyclic
    assert result.virtual_channels == 4
    assert result.scheme == "by_hop"
    assert len({path for path in seen if path}) == 72 + 36
    numbers = obliv.deadlock(obliv.O1TURN(mesh), lambda routing, path: np.full(len(path), 7))
    assert numbers.cycle is not None
    assert {hop.virtual_channel for hop in numbers.cycle} == {7}
    assert numbers.virtual_channels == 8
    assert numbers.by_dimension == {"x": 1, "y": 1}
    assert not obliv.deadlock(
        "1/2" * obliv.DOR(mesh) + "1/2" * obliv.DOR(mesh, "yx"), lambda r, p: [0] * len(p)
    ).acyclic


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        (lambda path: [0] * (len(path) + 1), "returned 2 virtual channels for a path of 1 hops"),
        (lambda path: [-1] * len(path), "returned -1"),
        (lambda path: [0.5] * len(path), "returned 0.5"),
        (lambda path: [True] * len(path), "returned True"),
        (lambda path: ["a"] * len(path), "returned 'a'"),
        (lambda path: [2**40] * len(path), "whole numbers"),
        (lambda path: 3, "not 3"),
        (lambda path: None, "not None"),
    ],
)
def test_nonsense_is_refused(said: Any, complaint: str) -> None:
    def mine(routing: Any, path: tuple[int, ...]) -> Any:
        return said(path) if path else []

    with pytest.raises(SpecError, match=re.escape(complaint)) as caught:
        obliv.deadlock(obliv.DOR(obliv.mesh(3, 3)), mine)
    assert "mine" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_does_not_fit() -> None:
    mesh, cube, graph = obliv.mesh(3, 3), obliv.mesh(3, 3, 3), obliv.random_regular(6, 3)
    with pytest.raises(SpecError, match="did you mean turn"):
        obliv.deadlock(obliv.DOR(mesh), "turns")
    with pytest.raises(SpecError, match="not 3"):
        obliv.deadlock(obliv.DOR(mesh), 3)  # type: ignore[arg-type]
    with pytest.raises(RoutingError, match=r"needs phases.*fits: none, turn"):
        obliv.deadlock(obliv.ECMP(mesh), "phase")
    with pytest.raises(RoutingError, match="needs phase programs"):
        obliv.deadlock(obliv.routing("valiant", graph), "phase-order")
    with pytest.raises(RoutingError, match=r"needs coordinates.*fits: none, updown$"):
        obliv.deadlock(obliv.ECMP(graph), "dateline")
    with pytest.raises(RoutingError, match="needs two dimensions"):
        obliv.deadlock(obliv.DOR(cube), "double-y")
    with pytest.raises(RoutingError, match="some of this routing go both"):
        obliv.deadlock(obliv.U2TURN(mesh), "double-y")
    with pytest.raises(TooLargeError, match="too many"):
        obliv.deadlock(obliv.ECMP(obliv.mesh(16, 16)), "double-y")
    with pytest.raises(TooLargeError, match="fewer orders"):
        obliv.deadlock(obliv.ROMM(obliv.hypercube(6)), "phase-order")
    with pytest.raises(InputError, match="needs a routing"):
        obliv.deadlock(obliv.DOR(mesh).pair_loads())
    with pytest.raises(InputError, match="needs a routing"):
        obliv.fewest_virtual_channels(mesh)


def test_bad_next_hops_are_refused() -> None:
    triangle = obliv.build("triangle", 3, [(0, 1), (1, 2), (2, 0), (1, 0), (2, 1), (0, 2)])
    into = {(int(a), int(b)): c for c, (a, b) in enumerate(zip(triangle.tail, triangle.head, strict=True))}
    straight_on = {(v, d): [into[v, d]] for v in range(3) for d in range(3) if v != d}
    assert obliv.deadlock(strategies.Hops(triangle, straight_on)).acyclic
    around = straight_on | {(0, 2): [into[0, 1]], (1, 2): [into[1, 0]]}
    with pytest.raises(RoutingError, match="towards 2 form a loop through"):
        obliv.deadlock(strategies.Hops(triangle, around))
    with pytest.raises(RoutingError, match="1 has no next hop towards 2"):
        obliv.deadlock(strategies.Hops(triangle, straight_on | {(1, 2): []}))
    with pytest.raises(RoutingError, match="total probability 1/2"):
        obliv.deadlock(strategies.Paths(triangle, {(s, d): [((), Fraction(1, 2))] for s in range(3) for d in range(3)}))


# Results.


def test_the_result() -> None:
    result = obliv.deadlock(obliv.O1TURN(obliv.mesh(3, 3)))
    assert not result.acyclic
    assert result.cycle is not None
    text = repr(result)
    assert "(0,0) -> (1,0)  +x  vc 0" in text
    assert "cyclic: 4 channels" in text
    content = result.to_dict()
    assert set(content) >= {
        "kind",
        "topology",
        "routing",
        "scheme",
        "acyclic",
        "cycle",
        "virtual_channels",
        "dependencies",
    }
    assert content["kind"] == "deadlock"
    assert set(content["cycle"][0]) == {"channel", "virtual_channel", "tail", "head"}
    assert content["provenance"]["specs"]["scheme"] == "none"
    assert content["provenance"]["exactness"] == "exact"
    json.dumps(content)
    (row,) = result.rows()
    assert row["cycle"].startswith("0.0 ")
    sound = obliv.deadlock(obliv.O1TURN(obliv.mesh(3, 3)), "turn")
    assert sound.to_dict()["cycle"] is None
    assert "acyclic" in repr(sound)


def test_results_are_saved_and_loaded(tmp_path: Path) -> None:
    routing = obliv.ROMM(obliv.torus(4, 4))
    for result in (obliv.deadlock(routing), obliv.deadlock(routing, "turn+dateline")):
        result.save(tmp_path / "kept.json.gz")
        again = obliv.load(tmp_path / "kept.json.gz")
        assert again == result
        assert repr(again).splitlines()[:4] == repr(result).splitlines()[:4]
    best = obliv.fewest_virtual_channels(routing)
    best.save(tmp_path / "best.json")
    assert obliv.load(tmp_path / "best.json") == best


class PastItsDestination(obliv.Routing):
    """Paths round a ring, in either direction, that pass their destination once: no scheme orders them."""

    def paths(self, source: int, destination: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        nodes = self.topology.nodes
        for step in (1, -1):
            hops = (destination - source) * step % nodes + nodes
            visited = [(source + step * k) % nodes for k in range(hops + 1)]
            yield tuple(itertools.starmap(self.topology.channel, itertools.pairwise(visited))), Fraction(1, 2)


def test_the_fewest() -> None:
    best = obliv.fewest_virtual_channels(obliv.ROMM(obliv.mesh(4, 4)))
    assert (best.fewest, best.best) == (2, "double-y")
    assert [each.scheme for each in best.schemes][:3] == ["none", "phase", "turn"]
    assert not any("dateline" in each.scheme for each in best.schemes)
    assert "2, by double-y" in repr(best)
    torus = obliv.fewest_virtual_channels(obliv.ROMM(obliv.torus(5, 5)))
    assert (torus.fewest, torus.best) == (5, "turn+dateline")
    irregular = obliv.fewest_virtual_channels(obliv.ECMP(obliv.random_regular(12, 3, seed=1)))
    assert (irregular.fewest, irregular.best) == (3, "updown")
    assert LeftOut("phase", "needs phases") in irregular.left_out
    cyclic = obliv.fewest_virtual_channels(PastItsDestination(obliv.ring(4)))
    assert (cyclic.fewest, cyclic.best) == (None, None)
    assert cyclic.to_dict()["fewest_reason"]
    assert "every scheme is cyclic" in repr(cyclic)
    wild = obliv.fewest_virtual_channels(obliv.U2TURN(obliv.mesh(3, 3)))
    assert [each.scheme for each in wild.left_out] == ["double-y"]
