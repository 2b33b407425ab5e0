"""Routings of fat trees by the names of the paper: paths, ratios by matching, random tables, traps."""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from tests.checker import test_certificates
from tests.routings.trees.by_paper import (
    SMALL,
    Crossings,
    Digits,
    F,
    Paper,
    all_shortest,
    brute,
    by_night,
    crossings,
    drawn,
    exactly,
    free_choices,
    largest,
    laws,
    laws_of,
    line_of,
    plain_json,
    port_number,
    random_table,
    route,
    taken,
    tree,
    written,
)

import obliv


def by_networkx(pairs: dict[tuple[int, int], int]) -> int:
    graph = nx.Graph()
    graph.add_edges_from((("s", s), ("d", d)) for s, d in pairs)
    return len(nx.bipartite.hopcroft_karp_matching(graph, [("s", s) for s, _ in pairs])) // 2


def shown(result: Any, found: Crossings, topology: Any) -> None:
    """The witness loads the named channel as claimed, on the routing's own paths, and the optimum of it is 1."""
    permutation = result.permutation
    assert sorted(permutation) == list(range(len(topology.terminals)))
    assert any(i != j for i, j in enumerate(permutation))
    channel = result.channel.id
    assert found.along(channel, permutation) == result.ratio
    assert (result.channel.tail, result.channel.head) == (topology.tail[channel], topology.head[channel])


def test_the_oracles_agree() -> None:
    """Scipy's matching, networkx's and the paper's own example of Definition 3."""
    example = dict.fromkeys([(1, 2), (1, 3), (2, 1), (2, 4), (3, 1)], 1)
    assert largest(example, 1) == by_networkx(example) == 3
    for spec, name in (("fattree:4,2", "hash:seed=1"), ("fattree:4,3", "smodk"), ("eft2:6,4", "hash:seed=1")):
        for pairs in crossings(spec, name).on.values():
            assert largest(pairs, 1) == largest(pairs, 2) == by_networkx(pairs)


SINGLE2 = ["dmodk", "smodk", "wsr", "osrm2", "hash:seed=1", "hash:seed=7", "shortest", "kpath:1,base=osrm2"]
SINGLE3 = ["dmodk", "smodk", "wsr", "osrm3", "osrm3-d", "hash:seed=1", "hash:seed=7", "shortest", "osrm-k:1"]
SINGLE_ANY = ["dmodk", "smodk", "wsr", "hash:seed=1", "shortest"]
MANY2 = [
    "omrmn",
    "updown",
    "ecmp",
    "kpath:2",
    "kpath:2,base=smodk,select=disjoint",
    "kpath:2,base=osrm2,select=random",
    "1/2*dmodk+1/2*smodk",
    "1/3*osrm2+2/3*omrmn",
]
MANY3 = [
    "omrmn",
    "updown",
    "ecmp",
    "osrm-k:2",
    "osrm-k:4",
    "kpath:3,base=osrm3,select=disjoint",
    "kpath:2,base=smodk,select=random,seed=5",
    "kpath:2",
    "kpath:3,base=osrm3",
    "1/2*dmodk+1/2*osrm3",
    "1/5*hash:seed=3+4/5*osrm3-d",
]
MANY_ANY = ["omrmn", "updown", "ecmp", "1/3*hash:seed=3+2/3*smodk"]
OTHERS = ["osrm-k:4", "osrm-k:2", "kpath:3", "osrm-k:9"]
WIDE = ["eft2:4,3", "eft2:6,4", "xgft:1;5;1", "xgft:2;2,5;1,3", "xgft:2;3,3;1,5", "xgft:2;1,4;1,2"]
DEEP = ["xgft:3;2,3,2;1,2,3", "xgft:4;2,2,1,3;1,2,2,1", "xgft:3;1,2,3;1,1,3", "xgft:3;2,1,2;1,3,5"]
CASES = [
    *(("fattree:4,2", name) for name in SINGLE2 + MANY2),
    *(("fattree:6,2", name) for name in ("dmodk", "osrm2", "shortest", "kpath:2", "1/3*osrm2+2/3*omrmn")),
    *(("fattree:4,3", name) for name in SINGLE3[:6] + MANY3[:7]),
    *((spec, name) for spec in WIDE for name in ("dmodk", "wsr", "hash:seed=1", "omrmn", MANY_ANY[-1])),
    *((spec, name) for spec in WIDE[2:4] for name in ("shortest", "updown", "ecmp")),
    *((spec, name) for spec in DEEP[:2] for name in ("dmodk", "smodk", "hash:seed=1", "omrmn")),
    *(("eft2:8,3", name) for name in ("osrm2", *OTHERS[:3])),
]
LARGER = [
    *(("fattree:4,3", name) for name in SINGLE3[6:] + MANY3[7:]),
    *(("fattree:6,2", name) for name in SINGLE2 + MANY2),
    *(("fattree:8,2", name) for name in ("osrm2", "hash:seed=5", *OTHERS[:3])),
    *(("fattree:4,4", name) for name in ("dmodk", "wsr", "kpath:3", "ecmp")),
    *(("fattree:6,3", name) for name in ("osrm3-d", "wsr", "osrm-k:9")),
    *((spec, name) for spec in WIDE + DEEP for name in SINGLE_ANY + MANY_ANY),
]


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    ("spec", "cases"),
    [
        *((spec, CASES) for spec in sorted({spec for spec, _ in CASES})),
        *(by_night(spec, LARGER) for spec in sorted({spec for spec, _ in LARGER})),
    ],
)
def test_paths_are_shortest_and_probabilities_add_up(spec: str, cases: list[tuple[str, str]]) -> None:
    topology, all_of = tree(spec), all_shortest(spec)
    hosts = topology.terminals.tolist()
    hops = F(sum(len(paths[0]) for paths in all_of.values()), len(hosts) ** 2)
    rng = np.random.default_rng(1)
    for name in (name for where, name in cases if where == spec):
        for (s, d), result in laws(spec, name).items():
            paths = {path for path, _ in result}
            assert len(result) == 1 or sum(chance for _, chance in result) == 1
            assert all(type(chance) is F and 0 < chance <= 1 for _, chance in result)
            assert result[0][1] == 1 or len(result) > 1
            if s == d:
                assert paths == {()}
                continue
            assert len(paths) == len(result) or "*" in name
            assert paths <= set(all_of[s, d])
            assert len(paths) == 1 or name in MANY2 + MANY3 + MANY_ANY + OTHERS
            if name in ("omrmn", "updown", "ecmp"):
                assert paths == set(all_of[s, d])
                assert {chance for _, chance in result} == {F(1, len(paths))}
        routing = route(spec, name)
        for s, d in random.Random(2).sample(sorted(all_of), 2):
            assert tuple(routing.sample(s, d, rng)) in {path for path, _ in laws(spec, name)[s, d]}
        assert routing.pair_loads().hops() == hops


@pytest.mark.nightly
@pytest.mark.sampled(32)
@pytest.mark.parametrize(("spec", "name"), [*CASES, *(by_night(*case) for case in LARGER)])
def test_ratios_by_matching(spec: str, name: str) -> None:
    routing, match = route(spec, name), crossings(spec, name)
    result = obliv.ratio(routing)
    assert result.ratio == match.ratio
    assert type(result.ratio) is F
    shown(result, match, tree(spec))
    assert match.same_as(routing.pair_loads())
    assert obliv.traffic_ratio(routing, obliv.permutation(result.permutation)).ratio == result.ratio
    if spec in ("fattree:4,2", "fattree:4,3", "xgft:2;3,3;1,5"):
        assert result.ratio == obliv.ratio(routing.pair_loads()).ratio == obliv.worst_case(routing).channel_load
    if match.denominator == 1:
        assert result.lower_bound is None or result.lower_bound <= result.ratio
    if name in ("omrmn", "updown", "ecmp"):
        assert result.ratio == 1


def names_along(topology: Any, path: tuple[int, ...]) -> list[str]:
    return [topology.name_of(int(topology.tail[path[0]])), *(topology.name_of(int(topology.head[c])) for c in path)]


def value_of(digits: list[int], k: int) -> int:
    return functools.reduce(lambda total, digit: total * k + digit, digits, 0)


Rule = Callable[[int, Digits, Digits, int], int]
RULES: dict[str, Rule] = {
    "dmodk": lambda k, s, d, x: value_of([d[-1 - j] for j in range(x)], k),
    "smodk": lambda k, s, d, x: value_of([s[-1 - j] for j in range(x)], k),
    "osrm3": lambda k, s, d, x: value_of([s[2], d[2]][:x], k),
    "osrm3-d": lambda k, s, d, x: value_of([(s[1] + d[2]) % k, d[2]][:x], k),
}


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("m", "n"), SMALL)
@pytest.mark.parametrize("name", ["dmodk", "smodk", "osrm3", "osrm3-d"])
def test_rules_of_the_notes(m: int, n: int, name: str) -> None:
    if name.startswith("osrm3") and n != 3:
        return
    paper, spec = Paper(m, n), f"fattree:{m},{n}"
    pairs = list(itertools.permutations(range(len(paper.hosts)), 2))
    for (s, d), tops in taken(spec, name, random.Random(1).sample(pairs, min(len(pairs), 500))).items():
        assert tops == {RULES[name](m // 2, paper.hosts[s], paper.hosts[d], free_choices(paper, s, d))}


@pytest.mark.nightly
def test_aliases_of_mlid() -> None:
    for spec in ("fattree:4,3", "fattree:6,2"):
        assert taken(spec, "mlid") == taken(spec, "smodk")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("m", [4, 6, 8])
def test_figure_10_switch_by_switch(m: int) -> None:
    """OSRM3 with the last switch of the errata."""
    paper, topology = Paper(m, 3), tree(f"fattree:{m},3")
    routing = obliv.routing("osrm3", topology)
    pairs = list(itertools.permutations(range(len(paper.hosts)), 2))
    if len(pairs) > 1000:
        pairs = random.Random(3).sample(pairs, 1000)
    for s, d in pairs:
        (s0, s1, s2), (d0, d1, d2) = a, b = paper.hosts[s], paper.hosts[d]
        switches = [f"(({s0},{s1}),2)"]
        if s0 == d0 and s1 != d1:
            switches += [f"(({s0},{s2}),1)", f"(({s0},{d1}),2)"]
        elif s0 != d0:
            switches += [f"(({s0},{s2}),1)", f"(({s2},{d2}),0)", f"(({d0},{s2}),1)", f"(({d0},{d1}),2)"]
        ((path, _),) = routing.paths(s, d)
        assert names_along(topology, path) == [written(a), *switches, written(b)]


@pytest.mark.nightly
@pytest.mark.sampled(2)
@pytest.mark.parametrize("m", [8, 18, by_night(32)])
def test_figure_9_for_square_k(m: int) -> None:
    """OSRM2 as printed, for m/2 = 4, 9 and 16."""
    paper, topology = Paper(m, 2), tree(f"fattree:{m},2")
    routing = obliv.routing("osrm2", topology)
    z = math.isqrt(m // 2)
    pairs = list(itertools.permutations(range(len(paper.hosts)), 2))
    for s, d in random.Random(4).sample(pairs, min(len(pairs), 1500)):
        (s0, s1), (d0, d1) = a, b = paper.hosts[s], paper.hosts[d]
        middle = [f"(({s1 // z * z + d1 // z}),0)", f"(({d0}),1)"] if s0 != d0 else []
        ((path, _),) = routing.paths(s, d)
        assert names_along(topology, path) == [written(a), f"(({s0}),1)", *middle, written(b)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "spec", ["fattree:4,2", "fattree:6,2", "fattree:4,3", by_night("fattree:6,3"), "eft2:6,4", "eft2:8,3"]
)
def test_wsr_by_its_own_rule(spec: str) -> None:
    """Pairs in order; the path with the least sum of weights, the lowest top level switch of equals."""
    m, n = map(int, spec.split(":")[1].split(","))
    paper = Paper(m, n) if spec.startswith("fattree") else Paper(m, 2, n)
    topology, weight = tree(spec), [0] * tree(spec).channels
    for (s, d), paths in sorted(all_shortest(spec).items()):
        x = free_choices(paper, s, d)
        best = min(paths, key=lambda path: (sum(weight[c] for c in path), port_number(topology, path, x, m // 2)))
        for channel in best:
            weight[channel] += 1
        assert [tuple(path) for path, _ in route(spec, "wsr").paths(s, d)] == [best]
    assert taken(spec, "wsr") == taken(spec, "dmodk")


@pytest.mark.sampled(12)
@pytest.mark.parametrize("base", ["dmodk", by_night("smodk"), "osrm3", "hash:seed=4"])
@pytest.mark.parametrize("count", [1, 4, 9])
def test_k_paths(base: str, count: int) -> None:
    spec, k = "fattree:6,3", 3
    paper = Paper(6, 3)
    everyone = list(itertools.permutations(range(54), 2))
    for select in ("shift", "disjoint", "random"):
        pairs = random.Random(f"{count}{select}").sample(everyone, 60)
        start = taken(spec, base, pairs)
        routing = obliv.KPath(tree(spec), count, base, select)
        for s, d in pairs:
            x = free_choices(paper, s, d)
            parts = list(routing.paths(s, d))
            assert {chance for _, chance in parts} == {F(1, len(parts))}
            tops = {port_number(tree(spec), tuple(path), x, k) for path, _ in parts}
            (first,) = start[s, d]
            assert len(parts) == len(tops) == min(count, k**x)
            if select != "random":
                assert first in tops
            if select == "shift":
                assert tops == {(first + i) % k**x for i in range(len(parts))}
            if select == "disjoint" and x:
                leaf = Counter(top // k ** (x - 1) for top in tops)
                spread = [leaf[port] for port in range(k)]
                assert max(spread) - min(spread) <= 1


@pytest.mark.parametrize(
    ("m", "r"),
    [(4, 1), (4, 2), *(pytest.param(*case, marks=pytest.mark.nightly) for case in ((6, 1), (6, 3), (8, 2)))],
)
def test_osrm_k_by_its_rule(m: int, r: int) -> None:
    """Section 8 of the notes, for pairs in different SUBFT(m, 2)s."""
    k, paper, topology = m // 2, Paper(m, 3), tree(f"fattree:{m},3")
    routing = obliv.routing(f"osrm-k:{r * r}", topology)
    pairs = list(itertools.permutations(range(len(paper.hosts)), 2))
    for s, d in random.Random(r).sample(pairs, min(len(pairs), 400)):
        parts = list(routing.paths(s, d))
        x = free_choices(paper, s, d)
        tops = {port_number(topology, tuple(path), x, k) for path, _ in parts}
        a, b = (each[2] // r * r for each in (paper.hosts[s], paper.hosts[d]))
        if x == 2:
            assert tops == {(a + i) * k + b + j for i in range(r) for j in range(r)}
            assert {chance for _, chance in parts} == {F(1, r * r)}
    assert obliv.ratio(routing).ratio == F(k, r)


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    "spec",
    [
        *("fattree:4,2", "fattree:4,3", "eft2:4,3", "eft2:8,3", *WIDE[3:5], DEEP[0]),
        *(by_night(spec) for spec in ("fattree:6,2", "eft2:6,5", *WIDE, *DEEP)),
    ],
)
def test_random_tables(spec: str) -> None:
    for seed in range(2 if tree(spec).nodes > 40 else 4):
        for routing in (random_table(spec, seed), obliv.routing(f"hash:seed={seed}", tree(spec)), drawn(spec, seed)):
            result, match = obliv.ratio(routing), Crossings(laws_of(routing))
            assert result.ratio == match.ratio
            assert (result.lower_bound or 1) <= result.ratio
            shown(result, match, tree(spec))


@pytest.mark.nightly
@pytest.mark.sampled(4)
@pytest.mark.parametrize("spec", ["fattree:4,2", "eft2:6,3", "xgft:2;3,3;1,5", "xgft:3;2,2,2;1,3,4"])
def test_random_shares(spec: str) -> None:
    for seed in range(2):
        routing = drawn(spec, seed, 2 + seed)
        result, match = obliv.ratio(routing, certificate=True), Crossings(laws_of(routing))
        assert result.ratio == match.ratio
        shown(result, match, tree(spec))
        assert match.same_as(routing.pair_loads())
        test_certificates.check(plain_json(result) | {"channel_load": exactly(result.ratio)}, routing.pair_loads())


def test_a_table_goes_where_its_ports_lead() -> None:
    """Switch by switch: parent p is the p-th switch above, in the order of the nodes."""
    for spec in ("fattree:4,3", "xgft:3;3,2,2;1,4,2"):
        topology, table = tree(spec), random_table(spec, 5)
        chance = np.random.default_rng(5)
        ports = []
        for level in range(1, topology.levels):
            switches = [v for v in range(topology.nodes) if topology.level_of(v) == level]
            drawn_ports = chance.integers(0, topology.parents[level], (len(switches), len(topology.terminals)))
            ports.append({v: drawn_ports[i] for i, v in enumerate(switches)})
        for s, d in all_shortest(spec):
            ((path, share),) = table.paths(s, d)
            assert share == 1
            for channel in path[1 : len(path) // 2]:
                node = int(topology.tail[channel])
                level = topology.level_of(node)
                above = sorted(
                    int(topology.head[c])
                    for c in range(topology.first_channel[node], topology.first_channel[node + 1])
                    if topology.level_of(topology.head[c]) > level
                )
                assert topology.head[channel] == above[ports[level - 1][node][d]]


def test_tables_of_routings_by_destination() -> None:
    for spec in ("fattree:6,2", "fattree:4,3", "eft2:8,3"):
        for name in ("dmodk", "wsr", "osrm3-d"):
            if name == "osrm3-d" and spec != "fattree:4,3":
                continue
            table = obliv.TreeTable(tree(spec), obliv.up_ports(route(spec, name)))
            assert all(list(table.paths(*pair)) == list(route(spec, name).paths(*pair)) for pair in all_shortest(spec))
            assert obliv.ratio(table).ratio == obliv.ratio(route(spec, name)).ratio
    for spec, name in (("fattree:4,3", "osrm3"), ("fattree:4,3", "smodk"), ("fattree:8,2", "osrm2")):
        with pytest.raises(obliv.RoutingError):
            obliv.up_ports(route(spec, name))


@pytest.mark.nightly
def test_a_table_from_a_file(tmp_path: Path) -> None:
    topology = tree("fattree:8,2")
    lines = []
    for s, d in all_shortest("fattree:8,2"):
        ((path, _),) = route("fattree:8,2", "osrm2").paths(s, d)
        nodes = [s, *(int(topology.head[c]) for c in path)]
        lines.append("path 1 " + " ".join(map(str, nodes)))
    file = tmp_path / "osrm2.txt"
    file.write_text("\n".join(lines))
    result = obliv.ratio(obliv.routing(f"table:{file}", topology), certificate=True)
    assert (result.ratio, result.lower_bound) == (2, 2)
    assert obliv.verify(result).proved


@pytest.mark.parametrize("instances", [1, -1, -5])
def test_too_few_instances(instances: int) -> None:
    # A negative number once made an estimate of -0.0 from -1 samples.
    with pytest.raises(obliv.InputError):
        obliv.traffic_ratio(route("fattree:4,2", "dmodk"), "ring", instances=instances)


# Terminal numbers were once taken for host numbers.
@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["dmodk", "osrm2", "hash:seed=3", "omrmn", "kpath:1", "ecmp", "shortest"])
def test_terminals_in_another_order(name: str) -> None:
    hosts = [5, 0, 3, 7, 1, 2, 6, 4]
    routing = obliv.routing(name, tree("fattree:4,2").with_terminals(hosts))
    result = obliv.ratio(routing, certificate=True)
    assert result.ratio == obliv.ratio(route("fattree:4,2", name)).ratio
    match = Crossings(laws_of(routing))
    assert match.same_as(routing.pair_loads())
    shown(result, match, routing.topology)
    assert obliv.verify(result).proved
    assert obliv.verify(obliv.worst_case(routing, certificate=True)).proved


# They were once not looked at.
@pytest.mark.sampled(8)
@pytest.mark.parametrize("parent", ["DModK", "SModK", "WSR", "OMRMN", "OSRM2", "Hash"])
def test_a_subclass_with_paths_of_its_own(parent: str) -> None:
    topology = tree("eft2:8,4")
    base = getattr(obliv, parent)

    class Own(base):  # type: ignore[misc, valid-type]
        def paths(self, source: int, destination: int) -> Any:
            name = "dmodk" if parent in ("OMRMN", "OSRM2") else "osrm2"
            return route("eft2:8,4", name).paths(source, destination)

    routing = Own(topology)
    result = obliv.ratio(routing, certificate=True)
    assert result.ratio == brute(routing) == (3 if parent in ("OMRMN", "OSRM2") else 2)
    assert obliv.verify(result).proved


def test_what_hosts_send_to_themselves_does_not_count() -> None:
    """No link has to carry it, so that there is no bound on what a routing may do with it."""
    topology = tree("fattree:4,2")
    leaf = {s: int(topology.head[topology.first_channel[s]]) for s in range(8)}

    def channel(a: int, b: int) -> int:
        return int(np.flatnonzero((topology.tail == a) & (topology.head == b))[0])

    table = dict(laws("fattree:4,2", "omrmn"))
    table |= {
        (s, s): [((channel(s, leaf[s]), channel(leaf[s], 12), channel(12, leaf[s]), channel(leaf[s], s)), F(1))]
        for s in range(8)
    }

    class Touring(obliv.Routing):  # type: ignore[misc]
        def paths(self, source: int, destination: int) -> Any:
            return table[source, destination]

    routing = Touring(topology, "touring")
    assert obliv.worst_case(routing).channel_load == 2
    result = obliv.ratio(routing, certificate=True)
    assert result.ratio == 1
    assert obliv.verify(result).proved
    shown(result, Crossings(table), topology)
    assert obliv.traffic_ratio(routing, "uniform", "shift:1").ratio == 1


@pytest.mark.nightly
@pytest.mark.sampled(4)
@pytest.mark.parametrize("spec", ["fattree:4,2", by_night("fattree:4,3"), "xgft:1;4;1", "eft2:4,3", "xgft:2;3,2;1,3"])
def test_valiant_on_trees(spec: str) -> None:
    """Goes by way of hosts, and sends out what is for the sender; that part is left out."""
    for name in ("valiant", "1/2*dmodk+1/2*valiant"):
        others = {pair: parts if pair[0] != pair[1] else [] for pair, parts in laws(spec, name).items()}
        match, result = Crossings(others), obliv.ratio(route(spec, name), certificate=True)
        assert result.ratio == match.ratio
        assert result.lower_bound is None or name == "valiant"
        shown(result, match, tree(spec))
        assert obliv.verify(result).proved


def test_a_subclass_with_ways_of_its_own() -> None:
    class Lowest(obliv.Hash):  # type: ignore[misc]
        def ways(self, source: Any, destination: Any) -> Any:
            return np.zeros((*np.broadcast(source, destination).shape, 1), int)

    routing = Lowest(tree("fattree:4,3"))
    assert obliv.ratio(routing).ratio == brute(routing) == 4


def test_tables_that_do_not_fit() -> None:
    topology = tree("fattree:4,2")
    for ports in (
        [],
        [np.zeros((4, 8), int)] * 2,
        [np.zeros((3, 8), int)],
        [np.zeros((4, 7), int)],
        [np.full((4, 8), 2)],
        [np.full((4, 8), -1)],
        [np.full((4, 8), 0.5)],
        [["x"] * 8] * 4,
    ):
        line_of(lambda: obliv.TreeTable(topology, ports))  # noqa: B023
    line_of(lambda: obliv.TreeTable(tree("mesh:4x4"), []))
    line_of(lambda: obliv.TreeTable(tree("xgft:2;2,2;2,2"), [np.zeros((4, 4), int)]))


def test_estimates_have_no_ratio() -> None:
    loads = route("fattree:4,2", "omrmn").pair_loads(samples=5, rng=np.random.default_rng(1))
    line_of(lambda: obliv.ratio(loads))
