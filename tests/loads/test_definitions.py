"""Pair loads against the definitions of the notes, pair by pair and channel by channel."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from fractions import Fraction
from math import lcm
from typing import Any

import pytest
from tests import strategies
from tests.oracles import paths as oracle
from tests.oracles.paths import Network

import obliv

ROUTINGS: dict[str, Callable[..., Any]] = {
    "dor": oracle.dor(),
    "o1turn": oracle.o1turn,
    "romm": oracle.romm(),
    "valiant": oracle.valiant,
}
FLAT = {
    **ROUTINGS,
    "dor:yx": oracle.dor((1, 0)),
    "dor:order=1-0": oracle.dor((1, 0)),
    "dor:xy": oracle.dor((0, 1)),
    "romm:xy": oracle.romm((0, 1)),
    "romm:yx": oracle.romm((1, 0)),
}
TURNING = {
    "xyx": oracle.xyx,
    "yxy": oracle.yxy,
    "u2turn": oracle.u2turn,
    "u2turn-a": oracle.u2turn_a,
    "u2turn-a:p=1/3": oracle.mixed((Fraction(1, 3), oracle.xyx), (Fraction(2, 3), oracle.yxy)),
}
SPACE = {
    **ROUTINGS,
    **{f"dor:order={'-'.join(map(str, order))}": oracle.dor(order) for order in itertools.permutations(range(3))},
    "dor:zxy": oracle.dor((2, 0, 1)),
    "dor:yzx": oracle.dor((1, 2, 0)),
}
SPATIAL = [name for name in SPACE if name not in ("valiant", "dor:zxy", "dor:yzx")]
#: The routings that are tried on every network, and the networks left to the night.
NETWORKS: dict[tuple[str, tuple[int, ...]], list[str]] = {
    **{
        (kind, radices): list(FLAT)
        for kind in ("mesh", "torus", "hyperx")
        for radices in ((2, 2), (3, 2), (2, 4), (3, 3), (4, 3), (4, 4), (5, 2))
        if kind != "hyperx" or radices in ((2, 2), (2, 4), (3, 3))
    },
    **{("mesh", radices): ["romm", "romm:xy", "o1turn"] for radices in ((5, 5), (6, 3))},
    **{("torus", radices): ["romm", "romm:xy", "o1turn", "dor"] for radices in ((5, 5), (6, 4))},
    **{
        (kind, radices): SPATIAL if radices == (2, 3, 4) else list(SPACE)
        for kind in ("mesh", "torus", "hyperx")
        for radices in ((2, 2, 2), (3, 2, 2), (2, 3, 4))
    },
    ("torus", (3, 3, 3)): ["romm", "o1turn", "dor:order=2-0-1"],
    **{(kind, (k,)): list(ROUTINGS) for kind in ("mesh", "torus") for k in (2, 3, 5, 6)},
    ("mesh", (2, 2, 2, 2)): ["dor:order=3-1-0-2"],
    ("torus", (3, 2, 2, 2)): ["dor:order=3-1-0-2"],
}
NIGHT = {
    *((kind, radices) for kind in ("mesh", "torus") for radices in ((5, 2), (5, 5))),
    *((kind, (2, 3, 4)) for kind in ("mesh", "torus", "hyperx")),
    ("torus", (6, 4)),
}


def compare(topology: Any, spec: str, net: Network, law: Callable[..., Any], some: int = 0) -> None:
    """All pairs, or those of `some` sources where enumerating the paths of all takes too long."""
    named = oracle.Numbered(net, topology)
    count = len(net.nodes)
    sources = range(count) if not some else [i * (count - 1) // (some - 1) for i in range(some)]
    loads = obliv.routing(spec, topology).pair_loads()
    expected = {
        (i, j): {named.number[c]: p for c, p in oracle.loads_of(law(net, net.nodes[i], d)).items()}
        for i in sources
        for j, d in enumerate(net.nodes)
    }
    assert all(loads.denominator % p.denominator == 0 for load in expected.values() for p in load.values())
    got: dict[tuple[int, int], dict[int, int]] = {pair: {} for pair in expected}
    totals = [Fraction(int(x), loads.denominator) for x in loads.totals()]
    for channel in range(topology.channels):
        entries = loads.on_channel(channel).tocoo()
        assert entries.shape == (count, count)
        for i, j, value in zip(entries.row, entries.col, entries.data, strict=True):
            if value and (int(i), int(j)) in got:
                assert channel not in got[int(i), int(j)], "an entry stands twice"
                got[int(i), int(j)][channel] = int(value)
    for pair, load in expected.items():
        numerators = {channel: p.numerator * (loads.denominator // p.denominator) for channel, p in load.items()}
        assert got[pair] == numerators, (pair, spec)
    if not some:
        sums = [0] * topology.channels
        for load in got.values():
            for channel, numerator in load.items():
                sums[channel] += numerator
        whole = [Fraction(numerator, loads.denominator) for numerator in sums]
        assert totals == whole
        assert loads.hops() == sum(whole) / count**2


def law_of(spec: str, dimensions: int) -> Callable[..., Any]:
    more = {"dor:order=3-1-0-2": oracle.dor((3, 1, 0, 2))} if dimensions == 4 else {}
    return {**(FLAT if dimensions == 2 else SPACE if dimensions == 3 else ROUTINGS), **more}[spec]


@pytest.mark.sampled(30)
@pytest.mark.parametrize(
    ("kind", "radices"),
    [pytest.param(*network, marks=[pytest.mark.nightly] if network in NIGHT else []) for network in NETWORKS],
    ids=lambda x: "x".join(map(str, x)) if isinstance(x, tuple) else x,
)
def test_pair_loads(kind: str, radices: tuple[int, ...]) -> None:
    topology, net = named_topology(kind, radices), Network(kind, *radices)
    for spec in NETWORKS[kind, radices]:
        some = 3 if spec in ("romm", "valiant") and len(radices) == 3 and max(radices) > 2 else 0
        compare(topology, spec, net, law_of(spec, len(radices)), some)


@pytest.mark.nightly
@pytest.mark.parametrize("spec", ["romm", "valiant", "o1turn"])
@pytest.mark.parametrize(
    ("kind", "radices"),
    [
        ("torus", (2, 3, 4)),
        ("mesh", (2, 3, 4)),
        ("hyperx", (2, 3, 4)),
        ("torus", (3, 3, 3)),
        ("torus", (7, 6)),
        ("torus", (8, 8)),
    ],
)
def test_pair_loads_of_larger_networks(kind: str, radices: tuple[int, ...], spec: str) -> None:
    topology = obliv.topology(f"{kind}:{'x'.join(map(str, radices))}")
    compare(topology, spec, Network(kind, *radices), law_of(spec, len(radices)))


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("spec", "kind", "radices"),
    [
        ("line:5", "mesh", (5,)),
        ("ring:5", "torus", (5,)),
        ("ring:6", "torus", (6,)),
        ("hypercube:3", "mesh", (2, 2, 2)),
        ("complete:5", "hyperx", (5,)),
    ],
)
@pytest.mark.parametrize("name", ROUTINGS)
def test_names_of_the_same_networks(spec: str, kind: str, radices: tuple[int, ...], name: str) -> None:
    """line and ring are one-dimensional, a hypercube has single channels, complete is one all-to-all dimension."""
    compare(obliv.topology(spec), name, Network(kind, *radices), ROUTINGS[name])


@pytest.mark.sampled(24)
@pytest.mark.parametrize("spec", TURNING)
@pytest.mark.parametrize("radices", [(2, 2), (3, 3), (4, 3), (2, 5), (4, 4)])
def test_turning_routings_on_meshes(radices: tuple[int, int], spec: str) -> None:
    topology, net = obliv.mesh(*radices), Network("mesh", *radices)
    compare(topology, spec, net, TURNING[spec])
    if max(radices) < 4:
        paths_agree(topology, spec, net, TURNING[spec])


@pytest.mark.sampled(16)
@pytest.mark.parametrize(
    ("radices", "spec"),
    # the notes define U2TURN on meshes and on square tori
    [(r, s) for r in ((2, 2), (3, 3), (4, 4), (4, 3)) for s in TURNING if s != "u2turn" or r[0] == r[1]],
)
def test_turning_routings_on_tori(radices: tuple[int, int], spec: str) -> None:
    topology, net = obliv.torus(*radices), Network("torus", *radices)
    compare(topology, spec, net, TURNING[spec])
    paths_agree(topology, spec, net, TURNING[spec], 2)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("spec", ["ival", "i2turn"])
@pytest.mark.parametrize(
    "k", [3, 4, 5, pytest.param(6, marks=pytest.mark.nightly), pytest.param(7, marks=pytest.mark.nightly)]
)
def test_ival_and_i2turn(k: int, spec: str) -> None:
    """Loop-removed Valiant is the oracle of the closed form: both names have both laws (a fact of the notes)."""
    topology, net = obliv.torus(k, k), Network("torus", k, k)
    for law in (oracle.ival, oracle.i2turn):
        compare(topology, spec, net, law, some=2)


@pytest.mark.nightly
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("kind", "radices"), [("torus", (4, 3)), ("torus", (2, 3)), ("mesh", (3, 3)), ("mesh", (4, 2))]
)
def test_ival_elsewhere(kind: str, radices: tuple[int, int]) -> None:
    compare(named_topology(kind, radices), "ival", Network(kind, *radices), oracle.ival)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("radices", [(4, 3), (3, 5), (2, 3), (2, 2)])
def test_i2turn_elsewhere(radices: tuple[int, int]) -> None:
    compare(named_topology("torus", radices), "i2turn", Network("torus", *radices), oracle.i2turn)


def named_topology(kind: str, radices: tuple[int, ...]) -> Any:
    return obliv.topology(f"{kind}:{'x'.join(map(str, radices))}")


def paths_agree(topology: Any, spec: str, net: Network, law: Callable[..., Any], some: int = 0) -> None:
    """What `paths` lists is contiguous, adds up to one and gives the same loads as the definition."""
    named = oracle.Numbered(net, topology)
    routing = obliv.routing(spec, topology)
    for i, s in list(enumerate(net.nodes))[-some:]:
        for j, d in enumerate(net.nodes):
            listed = [(tuple(map(int, path)), p) for path, p in routing.paths(i, j)]
            assert sum(p for _, p in listed) == 1
            assert all(isinstance(p, Fraction) and p > 0 for _, p in listed)
            for path, _ in listed:
                node = i
                for channel in path:
                    assert topology.tail[channel] == node
                    node = topology.head[channel]
                assert node == j
            expected = {named.number[c]: p for c, p in oracle.loads_of(law(net, s, d)).items()}
            assert oracle.loads_of(listed) == expected, (i, j)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("spec", FLAT)
@pytest.mark.parametrize(
    ("kind", "radices"), [("mesh", (3, 4)), ("torus", (4, 3)), ("torus", (2, 4)), ("hyperx", (3, 3))]
)
def test_paths_in_two_dimensions(kind: str, radices: tuple[int, ...], spec: str) -> None:
    paths_agree(obliv.topology(f"{kind}:{radices[0]}x{radices[1]}"), spec, Network(kind, *radices), FLAT[spec])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("spec", SPACE)
@pytest.mark.parametrize("kind", ["mesh", "torus"])
def test_paths_in_three_dimensions(kind: str, spec: str) -> None:
    paths_agree(
        obliv.topology(f"{kind}:2x3x2"),
        spec,
        Network(kind, 2, 3, 2),
        SPACE[spec],
        2 if spec in ("romm", "valiant") else 0,
    )


GRAPHS = [
    "mesh:4x3",
    "torus:4x3",
    "torus:2x3",
    "torus:4x2x2",
    "hypercube:4",
    "hyperx:3x3",
    "complete:5",
    "ring:7",
    "random-regular:n=12,d=3,seed=1",
    "random-regular:n=11,d=4,seed=5",
]


@pytest.mark.sampled(16)
@pytest.mark.parametrize("one", [True, False], ids=["shortest", "ecmp"])
@pytest.mark.parametrize("spec", GRAPHS)
def test_minimal_routings(spec: str, one: bool) -> None:
    """shortest takes the lowest channel that comes nearer, ecmp all of them equally, parallel ones separately."""
    topology = obliv.topology(spec)
    tail, head = [int(x) for x in topology.tail], [int(x) for x in topology.head]
    next_hops = oracle.minimal_hops(topology.nodes, tail, head, one)
    routing = obliv.routing("shortest" if one else "ecmp", topology)
    loads = routing.pair_loads()
    tables = [loads.on_channel(c).toarray() for c in range(topology.channels)]
    for s in range(topology.nodes):
        for d in range(topology.nodes):
            expected = oracle.loads_of(oracle.by_hops(next_hops, head, s, d))
            got = {c: Fraction(int(table[s, d]), loads.denominator) for c, table in enumerate(tables) if table[s, d]}
            assert got == expected, (s, d)
            assert oracle.loads_of((tuple(map(int, path)), p) for path, p in routing.paths(s, d)) == expected


@pytest.mark.sampled(18)
@pytest.mark.parametrize("one", [True, False], ids=["shortest", "ecmp"])
@pytest.mark.parametrize("seed", range(12))
def test_minimal_routings_on_multigraphs(seed: int, one: bool) -> None:
    rng = random.Random(seed)
    nodes = rng.randint(3, 8)
    links = strategies.multigraph(rng, nodes, rng.randint(0, 10))
    topology = obliv.build("generated", nodes, links)
    assert [(int(a), int(b)) for a, b in zip(topology.tail, topology.head, strict=True)] == links
    next_hops = oracle.minimal_hops(nodes, [a for a, _ in links], [b for _, b in links], one)
    loads = obliv.routing("shortest" if one else "ecmp", topology).pair_loads()
    for s in range(nodes):
        for d in range(nodes):
            expected = oracle.loads_of(oracle.by_hops(next_hops, [b for _, b in links], s, d))
            for c in range(len(links)):
                assert Fraction(int(loads.on_channel(c).toarray()[s, d]), loads.denominator) == expected.get(c, 0)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("terminals", [[0, 3, 7], [7, 2, 5, 0], list(range(8))[::-1]])
@pytest.mark.parametrize("spec", ["dor", "romm", "o1turn", "valiant"])
def test_terminals_are_numbered_in_their_own_order(spec: str, terminals: list[int]) -> None:
    """On a subset of the nodes rows and columns are terminals; Valiant stops at terminals only."""
    net = Network("torus", 4, 2)
    topology = obliv.torus(4, 2).with_terminals(terminals)
    named = oracle.Numbered(net, topology)
    loads = obliv.routing(spec, topology).pair_loads()
    table = {c: loads.on_channel(c).toarray() for c in range(topology.channels)}
    for i, s in enumerate(terminals):
        for j, d in enumerate(terminals):
            if spec == "valiant":
                law = [
                    (one + two, p * q / len(terminals))
                    for middle in terminals
                    for one, p in oracle.in_order(net, net.nodes[s], net.nodes[middle], range(2))
                    for two, q in oracle.in_order(net, net.nodes[middle], net.nodes[d], range(2))
                ]
            else:
                law = ROUTINGS[spec](net, net.nodes[s], net.nodes[d])
            expected = {named.number[c]: p for c, p in oracle.loads_of(law).items()}
            got = {c: Fraction(int(t[i, j]), loads.denominator) for c, t in table.items() if t[i, j]}
            assert got == expected, (s, d)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "spec", ["dor", "dor:yx", "o1turn", "romm", "u2turn", "ival", "i2turn", "valiant", "shortest", "ecmp"]
)
def test_totals_and_hops_count_terminals_only(spec: str) -> None:
    """`totals` sums `on_channel` over the pairs of terminals, and `hops` is a mean over those pairs."""
    loads = obliv.routing(spec, obliv.torus(4, 2).with_terminals([0, 3, 7])).pair_loads()
    true = [int(loads.on_channel(c).toarray().sum()) for c in range(loads.topology.channels)]
    assert [int(total) for total in loads.totals()] == true
    assert loads.hops() == Fraction(sum(true), 9 * loads.denominator)


@pytest.mark.parametrize(
    "spec", ["dor", "dor:yx", "o1turn", "romm", "u2turn", "ival", "i2turn", "valiant", "shortest", "ecmp"]
)
def test_uniform_traffic_among_some_terminals(spec: str) -> None:
    """Uniform traffic is the matrix whose entries are all 1/N."""
    loads = obliv.routing(spec, obliv.torus(4, 2).with_terminals([0, 3, 7])).pair_loads()
    assert loads.under(obliv.traffic("uniform", loads.topology)) == loads.under(
        obliv.matrix([[Fraction(1, 3)] * 3] * 3)
    )


@pytest.mark.parametrize("spec", ["shortest", "valiant"])
def test_valiant_elsewhere_uses_shortest(spec: str) -> None:
    """On a network that is not Cartesian Valiant is two shortest paths by way of a terminal."""
    topology = obliv.topology("random-regular:n=8,d=3,seed=2").with_terminals([1, 4, 6])
    tail, head = [int(x) for x in topology.tail], [int(x) for x in topology.head]
    one = oracle.minimal_hops(8, tail, head, True)
    loads = obliv.routing(spec, topology).pair_loads()
    for i, s in enumerate([1, 4, 6]):
        for j, d in enumerate([1, 4, 6]):
            law = list(oracle.by_hops(one, head, s, d))
            if spec == "valiant":
                law = [
                    (a + b, Fraction(1, 3))
                    for m in (1, 4, 6)
                    for a, _ in oracle.by_hops(one, head, s, m)
                    for b, _ in oracle.by_hops(one, head, m, d)
                ]
            expected = oracle.loads_of(law)
            for c in range(topology.channels):
                assert Fraction(int(loads.on_channel(c).toarray()[i, j]), loads.denominator) == expected.get(c, 0)


@pytest.mark.parametrize(("k", "h"), [(3, 1), (5, 2), (7, 3), (9, 4)])
def test_the_closed_form_of_romm(k: int, h: int) -> None:
    """Notes, section 7: the load on the +x channel at offset (u, v) for the offset vector (a, b), odd torus."""
    topology = obliv.torus(k, k)
    net = Network("torus", k, k)
    named = oracle.Numbered(net, topology)
    loads = obliv.routing("romm", topology).pair_loads()
    source = 0
    tables = {}
    for u in range(h):
        for v in range(h + 1):
            tables[u, v] = loads.on_channel(named.number[(u, v), 0, 1]).toarray()[source]
    for a in range(h + 1):
        for b in range(h + 1):
            for (u, v), row in tables.items():
                expected = Fraction()
                if u < a and v <= b:
                    expected = Fraction(1, 2 * (b + 1))
                    expected += Fraction(a - u, 2 * (a + 1)) if v == 0 else 0
                    expected += Fraction(u + 1, 2 * (a + 1)) if v == b else 0
                assert Fraction(int(row[a + k * b]), loads.denominator) == expected, (a, b, u, v)


def test_the_denominators_of_romm() -> None:
    """Notes, section 2: the common denominator is 2·lcm(1 … h + 1); it must at least divide what is used."""
    for k, true in ((9, 120), (17, 5040), (33, 24504480)):
        h = (k - 1) // 2
        assert true == 2 * lcm(*range(1, h + 2))
        loads = obliv.routing("romm", obliv.torus(k, k)).pair_loads()
        assert loads.denominator % true == 0


def test_shapes_of_the_networks() -> None:
    """Counts of channels that follow from the definitions."""
    for radices in ((2, 2), (3, 2), (4, 5), (2, 3, 4)):
        name = "x".join(map(str, radices))
        count = 1
        for k in radices:
            count *= k
        mesh, torus, hyperx = (obliv.topology(f"{kind}:{name}") for kind in ("mesh", "torus", "hyperx"))
        assert (mesh.nodes, torus.nodes, hyperx.nodes) == (count, count, count)
        assert mesh.channels == sum(2 * (count // k) * (k - 1) for k in radices)
        assert torus.channels == 2 * len(radices) * count
        assert hyperx.channels == count * sum(k - 1 for k in radices)
    assert obliv.topology("hypercube:5").channels == 5 * 32
    assert obliv.topology("complete:7").channels == 42
    assert obliv.topology("ring:2").channels == 4
    assert obliv.topology("line:2").channels == 2


@pytest.mark.parametrize("spec", GRAPHS)
def test_channels_are_numbered_by_tail(spec: str) -> None:
    tail = [int(x) for x in obliv.topology(spec).tail]
    assert tail == sorted(tail)


def test_capacities_without_a_closed_form_are_none() -> None:
    """Closed forms are for mesh, torus and hypercube (load 1/2); elsewhere null."""
    assert obliv.topology("hypercube:4").capacity_load == Fraction(1, 2)
    assert obliv.topology("ring:7").capacity_load == oracle.capacity_load("torus", (7,))
    assert obliv.topology("line:6").capacity_load == oracle.capacity_load("mesh", (6,))
    assert obliv.topology("torus:4x3x2").capacity_load == oracle.capacity_load("torus", (4, 3, 2))
    for spec in ("random-regular:n=8,d=3,seed=1", "hyperx:4x3", "complete:5"):
        assert obliv.topology(spec).capacity_load is None
