"""Properties that follow from the linearity of channel loading (Towles, section 3) and from relabelling."""

from __future__ import annotations

import itertools
import random
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests import strategies
from tests.oracles import paths as oracle
from tests.strategies import Case

import obliv

CARTESIAN = ["torus:3x3", "torus:4x2", "mesh:3x3", "mesh:4x2", "ring:8", "hyperx:3x3", "hypercube:3"]
NAMES = ["dor", "o1turn", "romm", "valiant", "shortest", "ecmp"]
ANY = st.tuples(st.sampled_from(NAMES), st.sampled_from(CARTESIAN))


def loads_of(name: str, spec: str) -> Any:
    return obliv.routing(name, obliv.topology(spec)).pair_loads()


WORST: dict[tuple[str, str], Fraction] = {}


def worst_of(name: str, spec: str) -> Fraction:
    if (name, spec) not in WORST:
        WORST[name, spec] = obliv.worst_case(loads_of(name, spec)).channel_load
    return WORST[name, spec]


def expected_under(case: Case, matrix: list[list[Fraction]]) -> list[Fraction]:
    n = range(len(case.terminals))
    result = []
    for channel in range(len(case.links)):
        weights = case.weights(channel)
        result.append(sum((matrix[i][j] * weights[i][j] for i in n for j in n), Fraction()))
    return result


@given(ANY, st.data())
@strategies.examples(80)
def test_theorem_1_on_cartesian_networks(which: tuple[str, str], data: st.DataObject) -> None:
    """No doubly sub-stochastic matrix loads a channel more than the worst case."""
    loads = loads_of(*which)
    n = loads.terminals
    matrix = data.draw(strategies.birkhoff(n) | strategies.sinkhorn(n))
    traffic = obliv.matrix(matrix)
    assert traffic.admissible
    assert max(loads.under(traffic)) <= worst_of(*which)


@given(strategies.cases(), st.data())
@strategies.examples(80)
def test_theorem_1_on_generated_networks(case: Case, data: st.DataObject) -> None:
    n = len(case.terminals)
    matrix = data.draw(strategies.birkhoff(n) | strategies.sinkhorn(n))
    under = case.routing.pair_loads().under(obliv.matrix(matrix))
    assert under == expected_under(case, matrix)
    result = obliv.worst_case(case.routing)
    assert max(under) <= result.channel_load
    # and on the mix of the witness with anything else the load is the mix of the loads
    half = [[x / 2 for x in row] for row in matrix]
    for i, j in enumerate(result.permutation):
        half[i][j] += Fraction(1, 2)
    mixed = case.routing.pair_loads().under(obliv.matrix(half))
    if result.channel_load:
        channel = result.channel.id
        assert mixed[channel] == (under[channel] + result.channel_load) / 2


@given(ANY, st.integers(0, 2**32))
@strategies.examples(60)
def test_no_permutation_beats_the_worst_case(which: tuple[str, str], seed: int) -> None:
    loads = loads_of(*which)
    order = list(range(loads.terminals))
    random.Random(seed).shuffle(order)
    assert max(loads.under(obliv.permutation(order))) <= worst_of(*which)


@given(ANY, st.data(), st.integers(0, 12))
@strategies.examples(60)
def test_loads_are_linear_in_the_traffic(which: tuple[str, str], data: st.DataObject, twelfths: int) -> None:
    """under(a·t1 + b·t2) = a·under(t1) + b·under(t2), built-in patterns included."""
    loads = loads_of(*which)
    n = loads.terminals
    a, b = Fraction(twelfths, 12), Fraction(12 - twelfths, 12)
    one = data.draw(strategies.birkhoff(n) | strategies.sinkhorn(n))
    name = data.draw(st.sampled_from(["uniform", "complement", "random-permutation:seed=3", "nearest-neighbor"]))
    try:
        other = obliv.traffic(name, loads.topology)
    except obliv.OblivError:
        assume(False)
    two = other.to_matrix()
    mixed = [[a * x + b * y for x, y in zip(*rows, strict=True)] for rows in zip(one, two, strict=True)]
    left = loads.under(obliv.matrix(mixed))
    first, second = loads.under(obliv.matrix(one)), loads.under(other)
    assert second == loads.under(obliv.matrix(two))
    assert left == [a * x + b * y for x, y in zip(first, second, strict=True)]


@pytest.mark.parametrize("spec", CARTESIAN)
def test_weighted_sums_of_traffic_specs(spec: str) -> None:
    """Weighted sums as for routings: the matrix of a sum is the sum of the matrices."""
    topology = obliv.topology(spec)
    mixed = obliv.traffic("1/3*uniform+1/6*complement+1/2*shift:3", topology).to_matrix()
    parts = [obliv.traffic(name, topology).to_matrix() for name in ("uniform", "complement", "shift:3")]
    shares = [Fraction(1, 3), Fraction(1, 6), Fraction(1, 2)]
    n = topology.nodes
    assert mixed == [[sum(a * m[i][j] for a, m in zip(shares, parts, strict=True)) for j in range(n)] for i in range(n)]


@given(
    st.sampled_from(["torus:3x3", "torus:4x2", "mesh:4x2", "ring:8"]),
    st.sampled_from(NAMES),
    st.sampled_from(NAMES),
    st.sampled_from(NAMES),
    st.integers(1, 9),
    st.integers(0, 9),
    st.booleans(),
)
@strategies.examples(10)
def test_loads_of_a_mix(spec: str, one: str, two: str, three: str, a: int, b: int, text: bool) -> None:
    """Loads of a mix of routings are the mix of the loads; by the spec as by Python."""
    topology = obliv.topology(spec)
    shares = [Fraction(a, 20), Fraction(b, 20), Fraction(20 - a - b, 20)]
    names = (one, two, three)
    parts = [obliv.routing(name, topology) for name in names]
    if text:
        mix = obliv.routing("+".join(f"{x}*{name}" for x, name in zip(shares, names, strict=True)), topology)
    else:
        mix = shares[0] * parts[0] + shares[1] * parts[1] + parts[2] * shares[2]
    loads, each = mix.pair_loads(), [part.pair_loads() for part in parts]
    n = range(topology.nodes)
    for channel in range(topology.channels):
        tables = [strategies.table(x, channel) for x in each]
        expected = [[sum(x * t[i][j] for x, t in zip(shares, tables, strict=True)) for j in n] for i in n]
        assert strategies.table(loads, channel) == expected
    assert loads.hops() == sum(x * e.hops() for x, e in zip(shares, each, strict=True))
    pattern = obliv.traffic("complement", topology)
    under = [e.under(pattern) for e in each]
    assert loads.under(pattern) == [
        sum(x * u for x, u in zip(shares, us, strict=True)) for us in zip(*under, strict=True)
    ]
    for s, d in ((0, 1), (2, 5), (3, 3)):
        assert sum(p for _, p in mix.paths(s, d)) == 1
    # A mix is never worse than the mix of the worst cases (a maximum is convex).
    assert obliv.worst_case(mix).channel_load <= sum(
        x * worst_of(name, spec) for x, name in zip(shares, names, strict=True)
    )


def test_mixes_nest() -> None:
    topology = obliv.topology("torus:4x3")
    a, b, c = (obliv.routing(name, topology) for name in ("dor", "dor:yx", "valiant"))
    nested = Fraction(1, 2) * (Fraction(1, 2) * a + Fraction(1, 2) * b) + Fraction(1, 2) * c
    flat = Fraction(1, 4) * a + Fraction(1, 4) * b + Fraction(1, 2) * c
    left, right = nested.pair_loads(), flat.pair_loads()
    for channel in range(topology.channels):
        assert strategies.table(left, channel) == strategies.table(right, channel)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("spec", ["mesh:4x3", "torus:4x3", "torus:5x5", "mesh:2x2"])
def test_o1turn_is_the_mix_of_both_orders(spec: str) -> None:
    topology = obliv.topology(spec)
    mix = obliv.routing("1/2*dor+1/2*dor:yx", topology)
    result = obliv.routing("o1turn", topology)
    left, right = mix.pair_loads(), result.pair_loads()
    for channel in range(topology.channels):
        assert strategies.table(left, channel) == strategies.table(right, channel)
    assert obliv.worst_case(mix).channel_load == obliv.worst_case(result).channel_load


@given(strategies.cases(), st.integers(0, 2**32))
@strategies.examples(60)
def test_relabelling_changes_no_worst_case(case: Case, seed: int) -> None:
    """An isomorphic copy: nodes renamed, links listed in another order, terminals in another order."""
    rng = random.Random(seed)
    image = list(range(case.nodes))
    rng.shuffle(image)
    listed = list(range(len(case.links)))
    rng.shuffle(listed)
    links = [(image[case.links[c][0]], image[case.links[c][1]]) for c in listed]
    # Numbers of channels: by tail, then in the order of construction (the contract).
    order = sorted(range(len(links)), key=lambda position: links[position][0])
    number = {listed[position]: new for new, position in enumerate(order)}
    terminals = [image[t] for t in case.terminals]
    rng.shuffle(terminals)
    topology = obliv.build(
        "copy", case.nodes, links, bandwidth=[case.bandwidth[c] for c in listed], terminals=terminals
    )
    paths = {
        (image[s], image[d]): [(tuple(number[c] for c in path), p) for path, p in laws]
        for (s, d), laws in case.paths.items()
    }
    copy = strategies.Paths(topology, paths)
    assert [topology.bandwidth_of(number[c]) for c in range(len(links))] == case.bandwidth
    left, right = obliv.worst_case(case.routing), obliv.worst_case(copy)
    assert left.channel_load == right.channel_load
    assert left.throughput == right.throughput
    assert case.routing.pair_loads().hops() == copy.pair_loads().hops()
    matrix = [[Fraction(1, len(terminals))] * len(terminals)] * len(terminals)
    under, moved = case.routing.pair_loads().under(obliv.matrix(matrix)), copy.pair_loads().under(obliv.matrix(matrix))
    assert [moved[number[c]] for c in range(len(links))] == under


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("spec", ["torus:3x3", "torus:4x2", "mesh:3x2", "hyperx:3x2"])
def test_relabelled_copies_of_cartesian_networks(spec: str, name: str, tmp_path: Path) -> None:
    """The same network without its structure, routed by a path table in a file: the same worst case."""
    rng = random.Random(f"{spec}{name}")
    original = obliv.topology(spec)
    routing = obliv.routing(name, original)
    image = list(range(original.nodes))
    rng.shuffle(image)
    links = [(image[int(a)], image[int(b)]) for a, b in zip(original.tail, original.head, strict=True)]
    order = sorted(range(len(links)), key=lambda c: links[c][0])
    number = {c: new for new, c in enumerate(order)}
    topology = obliv.build("copy", original.nodes, links)
    paths = {
        (image[s], image[d]): [(tuple(number[int(c)] for c in path), p) for path, p in routing.paths(s, d)]
        for s, d in itertools.product(range(original.nodes), repeat=2)
    }
    expected = worst_of(name, spec)
    assert obliv.worst_case(strategies.Paths(topology, paths)).channel_load == expected
    if len(set(links)) == len(links) and name != "valiant":
        lines = []
        for (s, d), laws in paths.items():
            if s == d:
                continue
            for path, p in laws:
                nodes = [s, *(int(topology.head[c]) for c in path)]
                lines.append(f"path {p} {' '.join(map(str, nodes))}")
        file = tmp_path / "paths.txt"
        file.write_text("\n".join(lines) + "\n")
        assert obliv.worst_case(obliv.routing(f"table:{file}", topology)).channel_load == expected


@given(strategies.cases(kinds=("hops",)))
@strategies.examples(60)
def test_hop_tables_in_files(case: Case) -> None:
    """`hop` lines give the loads of the same next hops in Python; channels by number, probabilities exact."""
    lines = ["# generated"]
    for (node, d), hops in case.routing.listed.items():
        if node == d:
            continue
        words = [f"@{h[0]}={h[1]}" if isinstance(h, tuple) else f"@{h}" for h in hops]
        lines.append(f"hop {node} {d} {' '.join(words)}")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "hops.txt"
        file.write_text("\n".join(lines) + "\n")
        read = obliv.routing(f"table:{file}", case.topology).pair_loads()
    mine = case.routing.pair_loads()
    for channel in range(len(case.links)):
        assert strategies.table(read, channel) == strategies.table(mine, channel)


# Symmetry of the routing, not of the topology.


def image_of(topology: Any, move: Any) -> list[int]:
    numbers = {topology.coordinates(node): node for node in range(topology.nodes)}
    return [numbers[move(topology.coordinates(node))] for node in range(topology.nodes)]


@pytest.mark.parametrize(
    ("name", "transpose", "shift"),
    [
        ("dor", False, True),
        ("dor:yx", False, True),
        ("o1turn", True, True),
        ("romm", True, True),
        ("romm:xy", False, True),
    ],
)
@pytest.mark.parametrize("k", [3, 4, 5])
def test_keeps(name: str, transpose: bool, shift: bool, k: int) -> None:
    """Notes, section 5: ROMM keeps translation, reflection and transpose; DOR rejects transpose."""
    torus = obliv.torus(k, k)
    loads = obliv.routing(name, torus).pair_loads()
    assert loads.keeps(list(range(k * k)))
    assert loads.keeps(image_of(torus, lambda p: (p[1], p[0]))) is transpose
    assert loads.keeps(image_of(torus, lambda p: ((p[0] + 1) % k, (p[1] + 2) % k))) is shift
    assert loads.keeps(image_of(torus, lambda p: (-p[0] % k, p[1])))
    assert loads.keeps(image_of(torus, lambda p: (p[0], (1 - p[1]) % k)))
    # swapping two nodes is no automorphism of a torus beyond 3 x 3
    if k > 3:
        assert not loads.keeps([1, 0, *range(2, k * k)])


def kept(case: Case, g: tuple[int, ...]) -> bool:
    """The definition, on a network without parallel channels: γ_g(c)(g i, g j) = γ_c(i, j), terminals to terminals."""
    number = {link: c for c, link in enumerate(case.links)}
    if any((g[a], g[b]) not in number for a, b in case.links):
        return False
    if {g[t] for t in case.terminals} != set(case.terminals):
        return False
    place = {t: i for i, t in enumerate(case.terminals)}
    moved = [place[g[t]] for t in case.terminals]
    tables = [case.weights(c) for c in range(len(case.links))]
    n = range(len(case.terminals))
    return all(
        tables[number[g[a], g[b]]][moved[i]][moved[j]] == tables[c][i][j]
        for c, (a, b) in enumerate(case.links)
        for i in n
        for j in n
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("subset", [False, True])
def test_keeps_is_the_definition(subset: bool) -> None:
    """Every map of the nodes of small networks, routed with ecmp or along listed paths."""
    counted = {True: 0, False: 0}
    for seed in range(60):
        rng = random.Random(seed)
        nodes = rng.randint(3, 4)
        links = set(strategies.multigraph(rng, nodes, rng.randint(0, 4)))
        if rng.random() < 0.7:
            links |= {(b, a) for a, b in links}
        listed = sorted(links)
        terminals = rng.sample(range(nodes), rng.randint(2, nodes)) if subset else list(range(nodes))
        topology = obliv.build("generated", nodes, listed, terminals=terminals)
        if seed % 4:
            hops = oracle.minimal_hops(nodes, [a for a, _ in listed], [b for _, b in listed], False)
            table = {(s, d): hops(s, d) if s != d else [] for s in range(nodes) for d in range(nodes)}
            paths = strategies.paths_of_hops(nodes, listed, table)
            routing: Any = obliv.routing("ecmp", topology)
        else:
            paths = strategies.path_table(rng, nodes, listed, True)
            routing = strategies.Paths(topology, paths)
        case = Case(nodes, listed, [Fraction(1)] * len(listed), terminals, paths, topology, routing)
        loads = routing.pair_loads()
        for g in itertools.permutations(range(nodes)):
            expected = kept(case, g)
            counted[expected] += 1
            assert loads.keeps(list(g)) is expected, (case, g)
    assert min(counted.values()) > 100, counted


EVERY = [*NAMES, "dor:yx", "romm:xy", "xyx", "yxy", "u2turn", "ival", "1/3*dor+2/3*valiant", "1/4*ecmp+3/4*romm"]


@pytest.mark.sampled(32)
@pytest.mark.parametrize("name", [*EVERY, "i2turn"])
@pytest.mark.parametrize("terminals", [None, pytest.param([0, 3, 7, 8], marks=pytest.mark.nightly), [8, 2, 5]])
def test_loads_under_patterns_are_sums_over_pairs(name: str, terminals: list[int] | None) -> None:
    """`under`, `load_under`, `hops` and `totals` are sums over pairs."""
    topology = obliv.torus(3, 3)
    if terminals:
        topology = topology.with_terminals(terminals)
    loads = obliv.routing(name, topology).pair_loads()
    tables = [strategies.table(loads, c) for c in range(topology.channels)]
    n = range(loads.terminals)
    assert [Fraction(int(x), loads.denominator) for x in loads.totals()] == [sum(map(sum, t)) for t in tables]
    assert loads.hops() == sum(sum(map(sum, t)) for t in tables) / len(n) ** 2
    patterns = ["uniform", "shift:1", "random-permutation:seed=2", "1/3*uniform+2/3*shift:2"]
    if not terminals:
        patterns += ["complement", "tornado", "nearest-neighbor", "1/2*nearest-neighbor+1/4*uniform+1/4*complement"]
    for pattern in patterns:
        traffic = obliv.traffic(pattern, topology)
        matrix = traffic.to_matrix()
        sent = [(i, j, matrix[i][j]) for i in n for j in n if matrix[i][j]]
        sums = [sum(share * t[i][j] for i, j, share in sent if t[i][j]) for t in tables]
        assert loads.under(traffic) == sums, pattern
        assert [loads.load_under(traffic, c) for c in range(topology.channels)] == sums, pattern
    assert obliv.worst_case(loads).channel_load == obliv.worst_case(loads, symmetry="off").channel_load
    if len(n) < 6:
        assert obliv.worst_case(loads).channel_load == max(map(oracle.worst_of, tables))


@pytest.mark.nightly
@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", EVERY)
def test_cartesian_routings_with_rates_and_some_terminals(name: str) -> None:
    """A mix of everything at once, against copies of the terminals."""
    topology = obliv.mesh(4, 3).with_terminals([9, 0, 6, 2]).with_rates([2, 1, 1, 3], [1, 2, 2, 1])
    loads = obliv.routing(name, topology).pair_loads()
    rows, columns = [0, 0, 1, 2, 3, 3, 3], [0, 1, 1, 2, 2, 3]
    worst = Fraction()
    for c in range(topology.channels):
        table = strategies.table(loads, c)
        worst = max(worst, oracle.best_by_subsets([[table[i][j] for j in columns] for i in rows]))
    result = obliv.worst_case(loads)
    assert result.channel_load == worst
    table = strategies.table(loads, result.channel.id)
    assert sum(amount * table[i][j] for i, j, amount in result.traffic) == worst
