"""Fat trees by the paper's text: trees built recursively, paths by search, loads with dictionaries, ratios by matching.

Nothing below uses the link numbers of the notes or any closed form of obliv: an FT(m, n) is put together from SUBFTs,
shortest paths are enumerated on the channels of the topology, and a ratio is the largest matching (or assignment) of
the pairs on a channel.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import itertools
import json
import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching
from tests.checker import test_certificates

import obliv
from obliv.cli import main
from obliv.results import digest_of
from obliv.topologies import tree_bounds

F = Fraction
FILE = Path(__file__).resolve().parents[1] / "reference" / "fat_tree.json"
REFERENCE: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))

Digits = tuple[int, ...]


@functools.cache
def tree(spec: str) -> Any:
    return obliv.topology(spec)


@functools.cache
def route(topology: str, routing: str) -> Any:
    return obliv.routing(routing, tree(topology))


# The paper's trees, put together from SUBFTs (section II.B).


def written(digits: Digits) -> str:
    return "(" + ",".join(map(str, digits)) + ")"


def digits_of(value: int, base: int, count: int) -> Digits:
    found = []
    for _ in range(count):
        value, last = divmod(value, base)
        found.append(last)
    return tuple(reversed(found))


class Paper:
    """FT(m, n), or EFT2(m, K) as FT(m, 2) with K SUBFT(m, 1)s; nodes are called as in section V."""

    def __init__(self, m: int, n: int, subtrees: int | None = None, roots: int | None = None) -> None:
        self.m, self.n, self.k = m, n, m // 2
        self.hosts: list[Digits] = []
        self.links: list[tuple[str, str]] = []  # (lower, upper)
        self.found: Counter[int] = Counter()  # SUBFT(m, l)s
        ports = [self.subft((i,), n - 1) for i in range(subtrees or m)]
        assert all(len(each) == self.k ** (n - 1) for each in ports)
        for j in range(roots or self.k ** (n - 1)):
            root = self.switch(digits_of(j, self.k, n - 1), 0)
            self.links += [(each[j], root) for each in ports]

    @staticmethod
    def switch(digits: Digits, level: int) -> str:
        return f"({written(digits)},{level})"

    def subft(self, prefix: Digits, levels: int) -> list[str]:
        """Builds SUBFT(m, levels) and returns whose each of its up-link ports is."""
        self.found[levels] += 1
        k = self.k
        if levels == 1:
            leaf = self.switch(prefix, self.n - 1)
            for i in range(k):
                self.hosts.append((*prefix, i))
                self.links.append((written((*prefix, i)), leaf))
            return [leaf] * k
        below = [self.subft((*prefix, i), levels - 1) for i in range(k)]
        ports = []
        for i in range(k ** (levels - 1)):  # top level switch i
            top = self.switch(prefix + digits_of(i, k, levels - 1), self.n - levels)
            self.links += [(each[i], top) for each in below]
            ports += [top] * k  # ports k i to k (i + 1) - 1
        return ports


SIZES = [(4, 2), (6, 2), (8, 2), (10, 2), (4, 3), (6, 3), (8, 3), (4, 4), (6, 4), (4, 5)]
SMALL = [(4, 2), (6, 2), (8, 2), (4, 3), (6, 3), (4, 4)]


def built(m: int, n: int) -> tuple[Any, str]:
    return tree(f"fattree:{m},{n}"), f"fattree:{m},{n}"


def named_links(topology: Any) -> Counter[tuple[str, str]]:
    names = [topology.name_of(node) for node in range(topology.nodes)]
    return Counter((names[a], names[b]) for a, b in zip(topology.tail.tolist(), topology.head.tolist()))


@pytest.mark.parametrize(("m", "n"), SIZES)
def test_the_tree_is_the_papers_link_by_link(m: int, n: int) -> None:
    paper, topology = Paper(m, n), built(m, n)[0]
    k = m // 2
    assert Counter(paper.links) + Counter((b, a) for a, b in paper.links) == named_links(topology)
    assert [topology.name_of(v) for v in range(m * k ** (n - 1))] == [written(p) for p in paper.hosts]
    assert topology.terminals.tolist() == list(range(m * k ** (n - 1)))
    assert topology.nodes == (m + 2 * n - 1) * k ** (n - 1)
    assert topology.channels == 2 * n * m * k ** (n - 1)
    assert topology.capacity_load == 1
    # All inner nodes have m ports, hosts have one; channels are numbered by tail.
    out = np.bincount(topology.tail, minlength=topology.nodes)
    assert np.array_equal(out, np.bincount(topology.head, minlength=topology.nodes))
    assert set(out[: len(paper.hosts)]) == {1}
    assert set(out[len(paper.hosts) :]) == {m}
    assert topology.unit_bandwidth
    assert topology.unit_rates


def test_the_examples_of_the_notes() -> None:
    for (m, n), (nodes, switches, cables) in {
        (4, 2): (8, 6, 16),
        (8, 2): (32, 12, 64),
        (4, 3): (16, 20, 48),
        (8, 3): (128, 80, 384),
        (16, 3): (1024, 320, 3072),
    }.items():
        topology = built(m, n)[0]
        assert (len(topology.terminals), topology.nodes - nodes, topology.channels // 2) == (nodes, switches, cables)


@pytest.mark.parametrize(("m", "leaves"), [(4, 2), (4, 3), (6, 4), (8, 6), (8, 8), (10, 5)])
def test_eft2_and_seft2(m: int, leaves: int) -> None:
    for spec, roots in ((f"eft2:{m},{leaves}", m // 2), (f"sub-eft2:{m},{leaves}", 1)):
        paper, topology = Paper(m, 2, leaves, roots), tree(spec)
        assert Counter(paper.links) + Counter((b, a) for a, b in paper.links) == named_links(topology)
        assert topology.nodes == leaves * (m // 2) + leaves + roots
        assert len(topology.terminals) == leaves * (m // 2)
    if leaves == m:
        assert tree(f"eft2:{m},{m}").same_network(tree(f"fattree:{m},2"))


def test_a_fat_tree_is_an_xgft() -> None:
    for m, n in ((4, 2), (8, 2), (4, 3), (4, 4)):
        k = m // 2
        children, parents = [k] * (n - 1) + [m], [1] + [k] * (n - 1)
        spec = f"xgft:{n};{','.join(map(str, children))};{','.join(map(str, parents))}"
        assert tree(spec).same_network(tree(f"fattree:{m},{n}"))
        assert obliv.ratio(route(spec, "dmodk")).ratio == obliv.ratio(route(f"fattree:{m},{n}", "dmodk")).ratio
    assert tree("xgft:3;4,4,8;1,2,4").nodes == 128 + 32 * 1 + 8 * 2 + 8


# Properties 1 to 5, on the topology itself.


def level_of(topology: Any, node: int, n: int) -> int:
    """The paper's level: 0 at the roots, n for hosts."""
    name = topology.name_of(node)
    return int(name.rsplit(",", 1)[1][:-1]) if name.startswith("((") else n


def components(topology: Any, keep: list[bool]) -> list[list[int]]:
    inside = np.array(keep)
    kept = inside[topology.tail] & inside[topology.head]
    ends = topology.tail[kept], topology.head[kept]
    graph = csr_array((np.ones(len(ends[0])), ends), shape=(topology.nodes, topology.nodes))
    label = connected_components(graph, directed=False)[1]
    groups = defaultdict(list)
    for node in np.flatnonzero(inside).tolist():
        groups[label[node]].append(node)
    return list(groups.values())


@pytest.mark.parametrize(("m", "n"), SIZES)
def test_properties_1_and_2(m: int, n: int) -> None:
    topology, k = built(m, n)[0], m // 2
    paper = Paper(m, n)
    level = [level_of(topology, node, n) for node in range(topology.nodes)]
    for i in range(1, n):
        assert paper.found[i] == m * k ** (n - 1 - i)
        parts = components(topology, [each >= n - i for each in level])
        assert len(parts) == m * k ** (n - 1 - i)
        assert all(sum(level[v] == n for v in part) == k**i for part in parts)
        home = {v: number for number, part in enumerate(parts) for v in part}
        upper = components(topology, [each < n - i for each in level])
        assert len(upper) == k**i  # one for each port number
        down = defaultdict(list)
        for a, b in zip(topology.tail.tolist(), topology.head.tolist()):
            if b in home and a not in home:
                down[a].append(home[b])
        for part in upper:
            assert sorted(number for v in part for number in down[v]) == list(range(len(parts)))


def shortest_paths(topology: Any, source: int, destination: int, towards: list[int]) -> list[tuple[int, ...]]:
    """All shortest paths as channels, from the distances to the destination."""
    first, head = topology.first_channel, topology.head
    found: list[tuple[int, ...]] = []
    open_paths: list[tuple[tuple[int, ...], int]] = [((), source)]
    while open_paths:
        path, node = open_paths.pop()
        if node == destination:
            found.append(path)
            continue
        for channel in range(int(first[node]), int(first[node + 1])):
            if towards[head[channel]] == towards[node] - 1:
                open_paths.append(((*path, channel), int(head[channel])))
    return found


def distances(topology: Any, destination: int) -> list[int]:
    """Hops to a destination, backwards through the tails of channels."""
    into = defaultdict(list)
    for a, b in zip(topology.tail.tolist(), topology.head.tolist()):
        into[b].append(a)
    away = {destination: 0}
    front = [destination]
    for node in front:
        for before in into[node]:
            if before not in away:
                away[before] = away[node] + 1
                front.append(before)
    return [away[v] for v in range(topology.nodes)]


@functools.cache
def all_shortest(spec: str) -> dict[tuple[int, int], list[tuple[int, ...]]]:
    topology = tree(spec)
    hosts = topology.terminals.tolist()
    found: dict[tuple[int, int], list[tuple[int, ...]]] = {}
    for d in hosts:
        towards = distances(topology, d)
        found |= {(s, d): shortest_paths(topology, s, d, towards) for s in hosts if s != d}
    return found


def free_choices(paper: Paper, s: int, d: int) -> int:
    """x of Property 3: the smallest SUBFT(m, x + 1) with both, or all of the tree."""
    a, b = paper.hosts[s], paper.hosts[d]
    shared = next(i for i in range(paper.n) if a[i] != b[i])
    return paper.n - 1 - shared


@pytest.mark.parametrize(("m", "n"), SMALL)
def test_properties_3_to_5(m: int, n: int) -> None:
    topology, spec = built(m, n)
    paper, k = Paper(m, n), m // 2
    level = [level_of(topology, node, n) for node in range(topology.nodes)]
    link = [(min(level[a], level[b]), level[a] > level[b]) for a, b in zip(topology.tail, topology.head)]
    sources, destinations = defaultdict(set), defaultdict(set)
    for (s, d), paths in all_shortest(spec).items():
        x = free_choices(paper, s, d)
        assert len(set(paths)) == len(paths) == k**x
        assert {len(path) for path in paths} == {2 * (x + 1)}
        for channel, times in Counter(itertools.chain(*paths)).items():
            i = n - 1 - link[channel][0]
            assert times == k ** (x - i)
            sources[channel].add(s)
            destinations[channel].add(d)
    for channel, (at, up) in enumerate(link):
        assert len(sources[channel] if up else destinations[channel]) == k ** (n - 1 - at)
        assert topology.level_of(topology.tail[channel]) == n - level[topology.tail[channel]]


# Ratios by brute force.


Laws = dict[tuple[int, int], list[tuple[tuple[int, ...], Fraction]]]


def laws_of(routing: Any) -> Laws:
    """Every path of every pair of terminals, by their numbers."""
    terminals = list(enumerate(routing.topology.terminals.tolist()))
    return {
        (i, j): [(tuple(path), chance) for path, chance in routing.paths(s, d)]
        for (i, s), (j, d) in itertools.product(terminals, repeat=2)
    }


@functools.cache
def laws(spec: str, name: str) -> Laws:
    return laws_of(route(spec, name))


class Crossings:
    """What every channel carries of every pair, over a common denominator."""

    def __init__(self, made: Laws) -> None:
        self.denominator = math.lcm(*{chance.denominator for parts in made.values() for _, chance in parts})
        self.on: dict[int, dict[tuple[int, int], int]] = defaultdict(dict)
        for pair, parts in made.items():
            for path, chance in parts:
                share = chance.numerator * (self.denominator // chance.denominator)
                for channel in path:
                    table = self.on[channel]
                    table[pair] = table.get(pair, 0) + share

    def under(self, rows: list[list[Fraction]]) -> dict[int, Fraction]:
        scale = math.lcm(*(value.denominator for row in rows for value in row))
        whole = [[int(value * scale) for value in row] for row in rows]
        return {
            channel: F(sum(whole[i][j] * share for (i, j), share in pairs.items()), scale * self.denominator)
            for channel, pairs in self.on.items()
        }

    def along(self, channel: int, permutation: Any) -> Fraction:
        pairs = self.on[channel].items()
        return F(sum(share for (i, j), share in pairs if permutation[i] == j), self.denominator)

    def largest(self, channel: int) -> Fraction:
        return F(largest(self.on[channel], self.denominator), self.denominator)

    @property
    def ratio(self) -> Fraction:
        return max((self.largest(channel) for channel in self.on), default=F(0))

    def same_as(self, loads: Any) -> bool:
        """Whether pair loads of obliv are these, on every channel."""
        for channel in range(loads.topology.channels):
            entries = loads.on_channel(channel).tocoo()
            made = {
                (i, j): value * self.denominator
                for i, j, value in zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist())
                if value
            }
            if made != {pair: share * loads.denominator for pair, share in self.on[channel].items()}:
                return False
        return True


@functools.cache
def crossings(spec: str, name: str) -> Crossings:
    return Crossings(laws(spec, name))


def largest(pairs: dict[tuple[int, int], int], whole: int) -> int:
    """The most that node-disjoint pairs put on a channel; a matching where all of them are whole."""
    if not pairs:
        return 0
    rows = {s: i for i, s in enumerate(sorted({s for s, _ in pairs}))}
    columns = {d: j for j, d in enumerate(sorted({d for _, d in pairs}))}
    ends = [rows[s] for s, _ in pairs], [columns[d] for _, d in pairs]
    if set(pairs.values()) == {whole}:
        graph = csr_array((np.ones(len(pairs), np.int8), ends), shape=(len(rows), len(columns)))
        return whole * int((maximum_bipartite_matching(graph) >= 0).sum())
    table = np.zeros((len(rows), len(columns)))
    table[ends] = list(pairs.values())
    assert table.max() < 2**20
    return int(table[linear_sum_assignment(table, maximize=True)].sum())


def by_networkx(pairs: dict[tuple[int, int], int]) -> int:
    graph = nx.Graph()
    graph.add_edges_from((("s", s), ("d", d)) for s, d in pairs)
    return len(nx.bipartite.hopcroft_karp_matching(graph, [("s", s) for s, _ in pairs])) // 2


def brute(routing: Any) -> Fraction:
    return Crossings(laws_of(routing)).ratio


def off_diagonal(rows: list[list[Fraction]]) -> Fraction:
    """Base load: the most that a host sends to or takes from others."""
    n = len(rows)
    sent = [sum((rows[i][j] for j in range(n) if j != i), F(0)) for i in range(n)]
    taken = [sum((rows[i][j] for i in range(n) if j != i), F(0)) for j in range(n)]
    return max(sent + taken)


def shown(result: Any, found: Crossings, topology: Any) -> None:
    """The witness loads the named channel as claimed, on the routing's own paths, and the optimum of it is 1."""
    permutation = result.permutation
    assert sorted(permutation) == list(range(len(topology.terminals)))
    assert any(i != j for i, j in enumerate(permutation))
    channel = result.channel["id"]
    assert found.along(channel, permutation) == result.ratio
    assert (result.channel["tail"], result.channel["head"]) == (topology.tail[channel], topology.head[channel])


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


def by_night(*values: Any) -> Any:
    return pytest.param(*values, marks=pytest.mark.nightly)


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
        for (s, d), found in laws(spec, name).items():
            paths = {path for path, _ in found}
            assert len(found) == 1 or sum(chance for _, chance in found) == 1
            assert all(type(chance) is F and 0 < chance <= 1 for _, chance in found)
            assert found[0][1] == 1 or len(found) > 1
            if s == d:
                assert paths == {()}
                continue
            assert len(paths) == len(found) or "*" in name
            assert paths <= set(all_of[s, d])
            assert len(paths) == 1 or name in MANY2 + MANY3 + MANY_ANY + OTHERS
            if name in ("omrmn", "updown", "ecmp"):
                assert paths == set(all_of[s, d])
                assert {chance for _, chance in found} == {F(1, len(paths))}
        routing = route(spec, name)
        for s, d in random.Random(2).sample(sorted(all_of), 2):
            assert tuple(routing.sample(s, d, rng)) in {path for path, _ in laws(spec, name)[s, d]}
        assert routing.pair_loads().hops() == hops


@pytest.mark.parametrize(("spec", "name"), [*CASES, *(by_night(*case) for case in LARGER)])
def test_ratios_by_matching(spec: str, name: str) -> None:
    routing, found = route(spec, name), crossings(spec, name)
    result = obliv.ratio(routing)
    assert result.ratio == found.ratio
    assert type(result.ratio) is F
    shown(result, found, tree(spec))
    assert found.same_as(routing.pair_loads())
    assert obliv.traffic_ratio(routing, obliv.permutation(result.permutation)).ratio == result.ratio
    if spec in ("fattree:4,2", "fattree:4,3", "xgft:2;3,3;1,5"):
        assert result.ratio == obliv.ratio(routing.pair_loads()).ratio == obliv.worst_case(routing).channel_load
    if found.denominator == 1:
        assert result.lower_bound is None or result.lower_bound <= result.ratio
    if name in ("omrmn", "updown", "ecmp"):
        assert result.ratio == 1


# Which path each routing takes, by the names of the paper.


def names_along(topology: Any, path: tuple[int, ...]) -> list[str]:
    return [topology.name_of(int(topology.tail[path[0]])), *(topology.name_of(int(topology.head[c])) for c in path)]


def port_number(topology: Any, path: tuple[int, ...], x: int, k: int) -> int:
    """The number of the top level switch of a path, in the smallest SUBFT with both ends or in the tree."""
    name = topology.name_of(int(topology.head[path[len(path) // 2 - 1]]))
    digits = [int(each) for each in name[2:].split(")", 1)[0].split(",")]
    return sum(digit * k**place for place, digit in enumerate(reversed(digits[len(digits) - x :] if x else [])))


def taken(spec: str, name: str, pairs: Any = None) -> dict[tuple[int, int], set[int]]:
    """Top level switch numbers of all pairs or of some, of routings that split equally."""
    m, n = map(int, spec.split(":")[1].split(","))
    paper = Paper(m, n) if spec.startswith("fattree") else Paper(m, 2, n)
    topology, routing = tree(spec), route(spec, name)
    found = {}
    for s, d in pairs or itertools.permutations(range(len(paper.hosts)), 2):
        parts = list(routing.paths(s, d))
        assert len({chance for _, chance in parts}) == 1
        x = free_choices(paper, s, d)
        found[s, d] = {port_number(topology, tuple(path), x, paper.k) for path, _ in parts}
    return found


def value_of(digits: list[int], k: int) -> int:
    return functools.reduce(lambda total, digit: total * k + digit, digits, 0)


Rule = Callable[[int, Digits, Digits, int], int]
RULES: dict[str, Rule] = {
    "dmodk": lambda k, s, d, x: value_of([d[-1 - j] for j in range(x)], k),
    "smodk": lambda k, s, d, x: value_of([s[-1 - j] for j in range(x)], k),
    "osrm3": lambda k, s, d, x: value_of([s[2], d[2]][:x], k),
    "osrm3-d": lambda k, s, d, x: value_of([(s[1] + d[2]) % k, d[2]][:x], k),
}


@pytest.mark.parametrize(("m", "n"), SMALL)
@pytest.mark.parametrize("name", ["dmodk", "smodk", "osrm3", "osrm3-d"])
def test_rules_of_the_notes(m: int, n: int, name: str) -> None:
    if name.startswith("osrm3") and n != 3:
        return
    paper, spec = Paper(m, n), f"fattree:{m},{n}"
    pairs = list(itertools.permutations(range(len(paper.hosts)), 2))
    for (s, d), tops in taken(spec, name, random.Random(1).sample(pairs, min(len(pairs), 500))).items():
        assert tops == {RULES[name](m // 2, paper.hosts[s], paper.hosts[d], free_choices(paper, s, d))}


def test_aliases_of_mlid() -> None:
    for spec in ("fattree:4,3", "fattree:6,2"):
        assert taken(spec, "mlid") == taken(spec, "smodk")


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


def test_osrm_k_by_its_rule() -> None:
    """Section 8 of the notes, for pairs in different SUBFT(m, 2)s."""
    for m, r in ((4, 1), (4, 2), (6, 1), (6, 3), (8, 2)):
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


# Table I, closed forms, the file of reference values.


@pytest.mark.parametrize("m", [4, 6, 8, 10, 12])
@pytest.mark.parametrize("n", [2, 3])
def test_table_1(m: int, n: int) -> None:
    k, spec = m // 2, f"fattree:{m},{n}"
    for name in ("dmodk", "smodk", "mlid", "wsr"):
        assert obliv.ratio(route(spec, name)).ratio == (k if n == 2 else m - 1)
    if (m, n) not in ((8, 3), (10, 3), (12, 3)):  # these take seconds
        assert obliv.ratio(route(spec, "omrmn")).ratio == 1
    if n == 3:
        for name in ("osrm3", "osrm3-d"):
            result = obliv.ratio(route(spec, name))
            assert (result.ratio, result.lower_bound, result.optimal) == (k, k, True)
        assert not obliv.ratio(route(spec, "dmodk")).optimal
    else:
        result = obliv.ratio(route(spec, "osrm2"))
        assert result.ratio == grid(k)
        assert result.lower_bound == math.isqrt(k - 1) + 1
        assert math.isqrt(k) ** 2 != k or result.optimal


def grid(k: int) -> int:
    """Section 5 of the notes."""
    return min(max(-(-k // a), -(-k // b)) for a in range(1, k + 1) for b in range(1, k // a + 1))


@pytest.mark.parametrize("m", [14, 16, 20, 22, *map(by_night, [36, 50, 24, 26, 34, 38, 48, 52, 64, 72])])
def test_larger_trees_of_two_levels(m: int) -> None:
    spec, k = f"fattree:{m},2", m // 2
    topology = obliv.topology(spec)
    result = obliv.ratio(obliv.routing("osrm2", topology))
    assert result.ratio == grid(k)
    assert result.lower_bound == math.isqrt(k - 1) + 1 <= result.ratio
    assert obliv.ratio(obliv.routing("dmodk", topology)).ratio == k
    if REFERENCE:
        (row,) = (row for row in REFERENCE["osrm2_grid"] if row["m"] == m)
        assert (row["best_grid"][0], row["bound"]) == (result.ratio, result.lower_bound)


def test_every_row_of_the_grids() -> None:
    rows = REFERENCE["osrm2_grid"]
    assert len(rows) >= 33
    for row in rows:
        assert row["best_grid"][0] == grid(row["k"])
        assert tree_bounds.theorem3(row["m"]) == row["bound"]
        if row["m"] <= 30:
            result = obliv.ratio(obliv.routing("osrm2", obliv.topology(f"fattree:{row['m']},2")))
            assert result.ratio == row["exact_best_grid"]


@pytest.mark.parametrize(("m", "n"), [(4, 2), (6, 2), (16, 2), (4, 3), (10, 3), (4, 4), (6, 4), (8, 4), (4, 5), (6, 5)])
def test_the_closed_form_of_d_mod_k(m: int, n: int) -> None:
    k = m // 2
    form = max(min(k**h, m * k ** (n - 1 - h) - 1) for h in range(1, n))
    assert form == {2: k, 3: m - 1, 4: k * k, 5: 2 * k * k - 1}[n]
    for name in ("dmodk", "smodk"):
        assert obliv.ratio(obliv.routing(name, obliv.topology(f"fattree:{m},{n}"))).ratio == form
    assert obliv.ratio(obliv.routing("hash:seed=3", obliv.topology(f"fattree:{m},{n}"))).ratio == k ** (n - 1)


@pytest.mark.parametrize("m", [4, 6, 8, 10, 12, 18])
def test_eft2_under_d_mod_k(m: int) -> None:
    """min(k, K - 1), which undercuts √k for few leaves; the theorem says nothing there."""
    k, undercut = m // 2, 0
    for leaves in range(2, m + 1):
        result = obliv.ratio(route(f"eft2:{m},{leaves}", "dmodk"))
        assert result.ratio == min(k, leaves - 1)
        assert result.ratio == obliv.ratio(route(f"eft2:{m},{leaves}", "smodk")).ratio
        assert (result.lower_bound or 1) <= result.ratio
        assert tree_bounds.theorem2(m, leaves) == (math.isqrt(k - 1) + 1 if leaves**2 >= 2 * m else 1)
        if result.ratio**2 < k:
            assert leaves**2 < 2 * m
            undercut += 1
    assert undercut >= (m > 4)


def heights(topology: Any, n: int) -> list[tuple[int, bool]]:
    level = [level_of(topology, node, n) for node in range(topology.nodes)]
    return [(n - 1 - min(level[a], level[b]), level[a] > level[b]) for a, b in zip(topology.tail, topology.head)]


def per_height(routing: Any, n: int) -> dict[tuple[int, bool], Fraction]:
    """Largest matching of each height and direction, from the pair loads of obliv and the solvers of scipy."""
    loads = routing.pair_loads()
    found: dict[tuple[int, bool], Fraction] = defaultdict(F)
    for channel, where in enumerate(heights(routing.topology, n)):
        if where[0] == 0 and channel % 7:  # hosts' own links: a few
            continue
        table = loads.on_channel(channel)
        rows, columns = np.zeros((2, loads.terminals), int)
        np.maximum.at(rows, np.repeat(np.arange(loads.terminals), np.diff(table.indptr)), table.data)
        np.maximum.at(columns, table.indices, table.data)
        if min(rows.sum(), columns.sum()) <= found[where] * loads.denominator:  # no matching is larger
            continue
        if set(table.data.tolist()) == {loads.denominator}:
            best = F(int((maximum_bipartite_matching(table) >= 0).sum()))
        else:
            dense = table.toarray()
            dense = dense[dense.any(axis=1)][:, dense.any(axis=0)].astype(float)
            best = F(int(dense[linear_sum_assignment(dense, maximize=True)].sum()), loads.denominator)
        found[where] = max(found[where], best)
    return found


def tree_of(label: str) -> tuple[str, int]:
    spec = label.split("|")[0].replace("FT(", "fattree:").rstrip(")")
    return spec, int(spec[-1])


TABLE1 = [
    (label, name, entry)
    for label, rows in REFERENCE.get("table1", {}).items()
    for name, entry in rows.items()
    if name not in ("HASH0", "HASH1", "HASH2", "WSR1")  # other hash functions; the wrong sort of WSR
]
AS_SPEC = {"MLID(smodk)": "smodk", "DMODK": "dmodk", "OSRM2": "osrm2", "OSRM3": "osrm3", "WSR0": "wsr", "WSR3": "wsr"}


def most_significant_first(topology: Any, n: int, k: int) -> Any:
    """The destination's digits from the first free one on, as a table: the leaf's port depends on how far it goes."""
    hosts = len(topology.terminals)
    tables = []
    for level in range(1, n):
        table = np.zeros((hosts // k**level * k ** (level - 1), hosts), int)
        for switch, d in itertools.product(range(len(table)), range(hosts)):
            sub = switch // k ** (level - 1)  # the SUBFT(m, level)
            x = level  # free choices, at least: how many SUBFTs up until d is inside
            while x < n - 1 and sub // k ** (x - level + 1) != d // k ** (x + 1):
                x += 1
            table[switch, d] = d // k ** (x - level) % k
        tables.append(table)
    return obliv.TreeTable(topology, tables)


@pytest.mark.parametrize(
    ("label", "name", "entry"), [by_night(*row) if row[0] == "FT(8,3)" and row[1] == "WSR3" else row for row in TABLE1]
)
def test_reference_table_1(label: str, name: str, entry: Any) -> None:
    spec, n = tree_of(label)
    k = int(spec.split(":")[1].split(",")[0]) // 2
    routing = most_significant_first(tree(spec), n, k) if name == "D_MSD" else route(spec, AS_SPEC[name])
    assert obliv.ratio(routing).ratio == entry["ratio"]
    expected = {(int(h), up): F(pair[not up]) for h, pair in entry["per"].items() for up in (True, False)}
    assert per_height(routing, n) == expected


def test_the_file_has_what_is_promised() -> None:
    assert len(TABLE1) >= 24
    assert len(REFERENCE["kpath"]) >= 40
    assert len(REFERENCE["osrm_k"]) >= 8
    assert {row.split("|")[0] for row in [*REFERENCE["kpath"], *REFERENCE["osrm_k"]]} == {"FT(8,3)", "FT(8,2)"}
    for label, rows in REFERENCE["table1"].items():
        spec, _ = tree_of(label)
        for seed in range(6):
            assert (
                obliv.ratio(route(spec, f"hash:seed={seed}")).ratio == rows["HASH0"]["ratio"] == rows["HASH1"]["ratio"]
            )
    for tree_label, (ratio, per) in {
        label.split("ratio ")[1]: entry for label, entry in REFERENCE["lids"].items() if "OSRM3-D ratio" in label
    }.items():
        routing = route(tree_of(tree_label)[0], "osrm3-d")
        assert obliv.ratio(routing).ratio == ratio
        found = per_height(routing, 3)
        assert {h: [found[int(h), True], found[int(h), False]] for h in per} == per


def same(found: dict[tuple[int, bool], Fraction], printed: dict[str, float]) -> bool:
    """Whether heights 1 and up agree with numbers of four decimals."""
    wanted = {(int(key[0]), key[1] == "u"): value for key, value in printed.items()}
    return all(abs(float(found[key]) - value) < 1e-4 for key, value in wanted.items())


SLOW = ("|6", "|8", "|12", "random|2", "random|3", "random|4", "osrm|16", "disjoint|16")


@pytest.mark.parametrize(
    "label", [by_night(label) if label.endswith(SLOW) else label for label in sorted(REFERENCE.get("kpath", {}))]
)
def test_reference_k_paths(label: str) -> None:
    """The ratio of each; at every height for the selections that no chance is in."""
    _, kind, count = label.split("|")
    select, _, base = kind.partition("-")
    routing = route("fattree:8,3", f"kpath:{count},base={'osrm3' if base else 'dmodk'},select={select}")
    entry = REFERENCE["kpath"][label]
    assert obliv.ratio(routing).ratio == F(entry["ratio"]).limit_denominator(48)
    if select == "random" or count != "3" or kind not in ("shift", "disjoint-osrm"):
        return
    assert same(per_height(routing, 3), entry["per"])


@pytest.mark.parametrize("label", sorted(REFERENCE.get("osrm_k", {})))
def test_reference_osrm_k(label: str) -> None:
    spec, n = tree_of(label)
    count = label.split("K=")[1].split("|")[0]
    routing = route(spec, f"osrm-k:{count}")
    ratio, per = REFERENCE["osrm_k"][label]
    assert obliv.ratio(routing).ratio == F(ratio)
    others = [v[1] for key, v in REFERENCE["osrm_k"].items() if key.startswith(label.split("|r=")[0])]
    if count != "4" and "8,3" in spec:
        return
    found = per_height(routing, n)
    assert any(same(found, other) for other in others)  # K = 2 may be blocks of (1, 2) or (2, 1)
    assert per in others


def test_a_table_of_ratio_2_on_ft_6_2() -> None:
    """The routing that was found by search, put in with its own paths; the bound is met, and no table beats it."""
    found = REFERENCE["ft6_2_ratio2_routing"]
    routing = by_choice(tree("fattree:6,2"), pair_choices(6, found["U"]))
    result = obliv.ratio(routing, certificate=True)
    assert (result.ratio, result.lower_bound, result.optimal) == (2, 2, True)
    assert brute(routing) == 2
    assert obliv.verify(result).proved
    assert obliv.ratio(route("fattree:6,2", "osrm2")).ratio == 3


def pair_choices(m: int, roots: list[int]) -> dict[tuple[int, int], int]:
    k = m // 2
    hosts = m * k
    far = [(s, d) for s in range(hosts) for d in range(hosts) if s != d and s // k != d // k]
    everything = [(s, d) for s in range(hosts) for d in range(hosts) if s != d]
    pairs = {len(far): far, len(everything): everything}
    return dict(zip(pairs[len(roots)], roots, strict=True))


def test_reference_patterns() -> None:
    """Tables II and III as the notes can reproduce them: 32 placements within five standard errors."""
    named = {"ring:bi": "ring", "hyper": "hypercube", "tree:bi": "tree", "mesh3:4x4x8torus": "torus3d"}
    for key, pattern in named.items():
        entry = REFERENCE["table2_3"][f"FT(8,3)|{key}"]
        for column, name in (("MLID", "wsr"), ("OSRM", "osrm3"))[pattern != "ring" :]:
            (row,) = obliv.traffic_ratio(route("fattree:8,3", name), pattern, instances=32, rng=5).patterns
            mean, error, spread = entry[column]
            assert row["traffic"] == pattern
            assert abs(row["ratio"].value - mean) < 5 * math.hypot(error, spread)
            assert row["ratio"].samples == 32
            assert 0.4 * spread < row["ratio"].stderr < 2.2 * spread


def test_reference_figures() -> None:
    specs = {"rand": "bernoulli:{}", "cluster": "clustered:{}", "hot": "hotspot:4,{}"}
    chosen = ["rand|0.1", "cluster|8", "hot|2"]
    for key in chosen:
        kind, size = key.split("|")
        entry = REFERENCE["figs"][f"{kind}|FT(8,3)|{size}"]
        for column, name in (("MLID", "smodk"), ("OSRM", "osrm3"))[kind == "hot" :]:
            (row,) = obliv.traffic_ratio(
                route("fattree:8,3", name), specs[kind].format(size), instances=32, rng=1
            ).patterns
            mean, error = entry[column]
            assert abs(row["ratio"].value - mean) <= 5 * math.hypot(error, row["ratio"].stderr) + 1e-9


# Random routings: tables of up ports, choices pair by pair, shares of all paths.


class Chosen(obliv.Routing):  # type: ignore[misc]
    """Any law over shortest paths, pair by pair."""

    def __init__(self, topology: Any, made: Laws) -> None:
        super().__init__(topology, "chosen")
        self.made = made

    def paths(self, source: int, destination: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        if source == destination:
            yield (), F(1)
        else:
            yield from self.made[source, destination]


def by_choice(topology: Any, roots: dict[tuple[int, int], int]) -> Any:
    """Single paths on a tree of two levels by the number of the root."""
    made = {}
    for pair, paths in all_shortest(topology.spec).items():
        middle = {int(topology.head[path[1]]) if len(path) > 2 else 0: path for path in paths}
        made[pair] = [(middle[sorted(middle)[roots[pair] if len(middle) > 1 else 0]], F(1))]
    return Chosen(topology, made)


def drawn(spec: str, seed: int, split: int = 1) -> Any:
    """One path a pair by chance, or up to so many with uneven shares."""
    chance = random.Random(seed)
    made = {}
    for pair, paths in all_shortest(spec).items():
        some = chance.sample(paths, min(chance.randint(1, split), len(paths)))
        shares = [chance.randint(1, 3) for _ in some]
        made[pair] = [(path, F(share, sum(shares))) for path, share in zip(some, shares)]
    return Chosen(tree(spec), made)


def random_table(spec: str, seed: int) -> Any:
    """Up ports for every switch and host, drawn by chance; now and then by a rule, for small ratios."""
    topology, chance = tree(spec), np.random.default_rng(seed)
    hosts = len(topology.terminals)
    ports = []
    for level in range(1, topology.levels):
        switches = sum(topology.level_of(v) == level for v in range(topology.nodes))
        width = topology.parents[level]
        table = chance.integers(0, width, (switches, hosts))
        if seed % 3 == 0:
            table = (np.arange(hosts)[None, :] + chance.integers(0, width, (switches, 1))) % width
        ports.append(table)
    return obliv.TreeTable(topology, ports)


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
            result, found = obliv.ratio(routing), Crossings(laws_of(routing))
            assert result.ratio == found.ratio
            assert (result.lower_bound or 1) <= result.ratio
            shown(result, found, tree(spec))


@pytest.mark.parametrize("spec", ["fattree:4,2", "eft2:6,3", "xgft:2;3,3;1,5", "xgft:3;2,2,2;1,3,4"])
def test_random_shares(spec: str) -> None:
    for seed in range(2):
        routing = drawn(spec, seed, 2 + seed)
        result, found = obliv.ratio(routing, certificate=True), Crossings(laws_of(routing))
        assert result.ratio == found.ratio
        shown(result, found, tree(spec))
        assert found.same_as(routing.pair_loads())
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


# All permutations, and any traffic.


@functools.lru_cache(maxsize=1)
def permutations_of_8() -> Any:
    return np.array(list(itertools.permutations(range(8))), dtype=np.int8)


FT42 = ["dmodk", "smodk", "osrm2", "wsr", "hash:seed=2", "shortest", "omrmn", "kpath:2", "1/2*dmodk+1/2*smodk"]


@pytest.mark.parametrize("name", [*FT42, "1/3*hash:seed=5+2/3*osrm2", "table 3", "table 4", "shares 3"])
def test_all_permutations_of_ft_4_2(name: str) -> None:
    spec = "fattree:4,2"
    if name.startswith("table"):
        routing = random_table(spec, int(name[-1]))
    else:
        routing = drawn(spec, 6, 2) if name.startswith("shares") else route(spec, name)
    found = Crossings(laws_of(routing))
    denominator = found.denominator
    table = np.zeros((tree(spec).channels, 8, 8), np.int32)
    for channel, pairs in found.on.items():
        for (i, j), share in pairs.items():
            table[channel, i, j] = share
    everything = permutations_of_8()
    loads = sum(table[:, i, everything[:, i]] for i in range(8))
    worst = F(int(np.max(loads)), denominator)  # the optimum is 1 for all but the identity, which loads nothing
    result = obliv.ratio(routing)
    assert result.ratio == worst
    row = int(np.flatnonzero((everything == np.array(result.permutation)).all(axis=1))[0])
    assert F(int(np.asarray(loads)[result.channel["id"], row]), denominator) == worst


def random_rows(hosts: int, seed: int) -> list[list[Fraction]]:
    """Uneven, sparse or dense, some hosts quiet, with traffic to oneself."""
    chance = random.Random(seed)
    dense = chance.choice([0.1, 0.3, 0.9])
    rows = [[F(chance.randrange(9)) if chance.random() < dense else F(0) for _ in range(hosts)] for _ in range(hosts)]
    rows[0][hosts - 1] += 1
    top = max(sum(row) for row in rows)
    return [[value / top for value in row] for row in rows]


TRAFFIC_CASES = [
    ("fattree:4,2", [*FT42, "kpath:2,base=osrm2,select=random"]),
    ("fattree:4,3", ["omrmn", "dmodk", "osrm3-d", "osrm-k:2"]),
    ("eft2:6,4", ["omrmn", "ecmp", "dmodk", "osrm2", "hash:seed=3"]),
    ("xgft:3;2,3,2;1,2,3", ["omrmn", "dmodk"]),
    ("xgft:2;2,5;1,3", ["omrmn", "dmodk"]),
]


@pytest.mark.parametrize(("spec", "names"), TRAFFIC_CASES)
def test_any_traffic(spec: str, names: list[str]) -> None:
    """Base load and optimum (Theorem 1, Corollary 1); PERF is at least 1 and at most the oblivious ratio."""
    hosts = len(tree(spec).terminals)
    traffics = [random_rows(hosts, seed) for seed in range(3)]
    for name in names:
        routing = route(spec, name)
        found, ratio = crossings(spec, name), obliv.ratio(routing).ratio
        for rows in traffics:
            traffic = obliv.matrix(rows)
            load, base = max(found.under(rows).values()), off_diagonal(rows)
            assert max(routing.pair_loads().under(traffic)) == load
            result = obliv.traffic_ratio(routing, traffic)
            assert result.patterns[0]["ratio"] == result.ratio == load / base
            assert 1 <= load / base <= ratio
            if name in ("omrmn", "updown", "ecmp"):
                assert load == base
            # The scale of the traffic does not matter, and neither does what hosts send to themselves.
            alone = [[F(0) if i == j else value / 3 for j, value in enumerate(row)] for i, row in enumerate(rows)]
            assert obliv.traffic_ratio(routing, obliv.matrix(alone)).ratio == load / base


def test_linear_algebra() -> None:
    """Loads of a mix are the mix of the loads; its ratio is at most the mix of the ratios."""
    for spec, one, two in (
        ("fattree:4,2", "dmodk", "osrm2"),
        ("xgft:2;3,3;1,5", "hash:seed=1", "omrmn"),
        ("eft2:8,3", "kpath:3", "wsr"),
    ):
        a, b = route(spec, one), route(spec, two)
        left, right = crossings(spec, one), crossings(spec, two)
        for share in (F(2, 7),):
            mixed = share * a + (1 - share) * b
            both = Crossings(laws_of(mixed))
            assert both.same_as(mixed.pair_loads())
            for channel in range(tree(spec).channels):
                x, y, z = left.on[channel], right.on[channel], both.on[channel]
                made = {
                    pair: share * F(x.get(pair, 0), left.denominator)
                    + (1 - share) * F(y.get(pair, 0), right.denominator)
                    for pair in {*x, *y}
                }
                assert made == {pair: F(value, both.denominator) for pair, value in z.items()}
            result = obliv.ratio(mixed)
            assert result.ratio == both.ratio
            assert result.ratio <= share * obliv.ratio(a).ratio + (1 - share) * obliv.ratio(b).ratio
            traffic = obliv.matrix(random_rows(len(tree(spec).terminals), 1))
            under = zip(a.pair_loads().under(traffic), b.pair_loads().under(traffic), strict=True)
            assert mixed.pair_loads().under(traffic) == [share * x + (1 - share) * y for x, y in under]
        assert obliv.ratio(F(1, 2) * a + F(1, 2) * a).ratio == obliv.ratio(a).ratio
        named = obliv.routing(f"1/2*{one}+1/2*{two}", tree(spec))
        assert obliv.ratio(named).ratio == obliv.ratio(F(1, 2) * a + F(1, 2) * b).ratio


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        *(("fattree:8,3", name) for name in ("dmodk", "osrm3", "osrm3-d", "hash:seed=1", "osrm-k:4", "kpath:3")),
        # Once the identity, which loads nothing, and above which uniform traffic was.
        ("fattree:4,2", "valiant"),
        ("fattree:4,3", "valiant"),
        ("fattree:4,2", "1/3*omrmn+2/3*valiant"),
    ],
)
def test_the_ratio_of_the_witness_is_the_ratio(spec: str, name: str) -> None:
    routing = route(spec, name)
    result = obliv.ratio(routing)
    assert obliv.traffic_ratio(routing, obliv.permutation(result.permutation)).ratio == result.ratio


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("fattree:4,2", "omrmn"),
        ("fattree:4,3", "osrm3"),
        ("fattree:4,3", "dmodk"),
        ("eft2:6,4", "osrm2"),
        # Once 32/5 under uniform traffic, and 6 at most over all traffic.
        ("fattree:4,3", "valiant"),
        ("fattree:4,2", "valiant"),
    ],
)
def test_no_pattern_is_beyond_the_ratio(spec: str, name: str) -> None:
    routing = route(spec, name)
    patterns = ["uniform", "shift:1", "ring", "mesh2d", "torus3d", "tree", "clustered:3", "bernoulli:1/2"]
    patterns += ["hotspot:2,2", "1/2*uniform+1/2*ring:seed=4", "random-permutation:seed=3"]
    if spec in ("fattree:4,2", "fattree:4,3"):
        patterns += ["hypercube", "bit-reverse", "bit-complement", "shuffle"]
    result = obliv.traffic_ratio(routing, *patterns)
    assert [row["traffic"].split(":")[0] for row in result.patterns] == [each.split(":")[0] for each in patterns]
    assert result.ratio == max(row["ratio"] for row in result.patterns)
    assert min(row["ratio"] for row in result.patterns) >= 1
    assert result.ratio <= obliv.ratio(routing).ratio


# Patterns of jobs.


def flows(spec: str, topology: Any) -> tuple[nx.DiGraph, int]:
    """Who sends to whom; all flows of a job are equal."""
    rows = obliv.traffic(spec, topology).to_matrix()
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(rows)))
    graph.add_edges_from((i, j) for i, row in enumerate(rows) for j, value in enumerate(row) if value)
    assert len({value for row in rows for value in row if value}) <= 1
    assert all(row[i] == 0 for i, row in enumerate(rows))
    assert max(sum(row) for row in rows) <= 1
    return graph, len(rows)


@pytest.mark.parametrize("spec", ["fattree:4,3", "eft2:8,6", "fattree:6,2", "fattree:4,4"])
def test_job_patterns(spec: str) -> None:
    topology = tree(spec)
    n = len(topology.terminals)  # 16, 24, 18, 32
    sides2 = {16: (4, 4), 24: (4, 6), 18: (3, 6), 32: (4, 8)}[n]
    sides3 = {16: (2, 2, 4), 24: (2, 3, 4), 18: (2, 3, 3), 32: (2, 4, 4)}[n]
    wanted = {
        "ring": nx.cycle_graph(n),
        "mesh2d": nx.grid_graph(sides2),
        "torus2d": nx.grid_graph(sides2, periodic=True),
        "mesh3d": nx.grid_graph(sides3),
        "torus3d": nx.grid_graph(sides3, periodic=True),
        "tree": nx.Graph([((i - 1) // 2, i) for i in range(1, n)]),
    }
    if n in (16, 32):
        wanted["hypercube"] = nx.hypercube_graph(n.bit_length() - 1)
    for name, graph in wanted.items():
        made = flows(f"{name}:seed=3", topology)[0]
        assert set(made.edges) == {(b, a) for a, b in made.edges}
        assert nx.is_isomorphic(made.to_undirected(), nx.Graph(graph.edges)), name
        others = [set(flows(f"{name}:seed={seed}", topology)[0].edges) for seed in (3, 4, 5)]
        assert others[0] == set(made.edges)
        assert others[1] != others[0] != others[2]
    for size in (2, 3, 4, 8, n):
        parts = [len(part) for part in nx.strongly_connected_components(flows(f"clustered:{size},seed=2", topology)[0])]
        assert sorted(parts, reverse=True) == [size] * (n // size) + ([n % size] if n % size else [])
        assert flows(f"clustered:{size},seed=2", topology)[0].size() == sum(part * (part - 1) for part in parts)
    hot = flows("hotspot:3,5,seed=1", topology)[0]
    assert sorted(map(len, nx.strongly_connected_components(hot))) == [1] * (n - 15) + [5, 5, 5]
    assert hot.size() == 3 * 20
    assert flows("bernoulli:1", topology)[0].size() == n * (n - 1)
    sizes = [flows(f"bernoulli:0.25,seed={seed}", topology)[0].size() for seed in range(12)]
    assert abs(sum(sizes) / 12 - n * (n - 1) / 4) < 5 * math.sqrt(n * (n - 1) * 3 / 16 / 12)
    assert len(set(sizes)) > 1


def test_means_over_placements() -> None:
    routing = route("fattree:4,3", "dmodk")
    one = obliv.traffic_ratio(routing, "ring", "clustered:4", instances=16, rng=3)
    two = obliv.traffic_ratio(routing, "ring", "clustered:4", instances=16, rng=3)
    other = obliv.traffic_ratio(routing, "clustered:4", instances=16, rng=4)
    assert one.patterns == two.patterns
    assert one.patterns[1]["ratio"] != other.patterns[0]["ratio"]
    for row in one.patterns:
        assert 1 <= row["ratio"].value <= 3
        assert row["ratio"].samples == 16
        assert 0 < row["ratio"].stderr < 0.5
    made = one.to_dict()
    assert set(made["patterns"][0]["ratio"]) == {"value", "stderr", "samples"}
    assert made["provenance"]["exactness"] == "estimated"
    exact = obliv.traffic_ratio(routing, "ring", "ring:seed=0", "ring:seed=8")
    assert exact.patterns[0]["ratio"] == exact.patterns[1]["ratio"]
    for row in exact.patterns:
        rows = obliv.traffic(row["traffic"], tree("fattree:4,3")).to_matrix()
        assert row["ratio"] == max(crossings("fattree:4,3", "dmodk").under(rows).values()) / off_diagonal(rows)
    # All shortest paths: 1 under every placement, and so without an error.
    (row,) = obliv.traffic_ratio(route("fattree:4,3", "omrmn"), "tree", instances=5).patterns
    assert (row["ratio"].value, row["ratio"].stderr) == (1, 0)


# Lower bounds.


def test_bounds_as_printed() -> None:
    for m in range(4, 40, 2):
        k = m // 2
        root = math.isqrt(k - 1) + 1
        assert tree_bounds.theorem3(m) == tree_bounds.theorem2(m, m) == root
        assert tree_bounds.theorem4(m) == k
        assert tree_bounds.single_path_bound(m, 2) == root
        assert tree_bounds.single_path_bound(m, 3) == k
        for n in range(2, 8):
            assert tree_bounds.theorem5(m, n) == k ** ((n - 1) // 3)
            exact = k ** (2 * n // 3)  # the square of the sharpened bound
            assert tree_bounds.single_path_bound(m, n) == math.isqrt(exact - 1) + 1
            assert tree_bounds.single_path_bound(m, n) >= tree_bounds.theorem5(m, n)
        for lids in range(1, k + 2):
            assert tree_bounds.with_lids(m, lids) == max(-(-k // lids), root)


def test_bounds_are_below_the_best_known() -> None:
    """D-mod-k at any height; for n = 4 the rule of section 9 of the notes."""
    for m in range(4, 20, 2):
        k = m // 2
        for n in range(2, 7):
            known = max(min(k**h, m * k ** (n - 1 - h) - 1) for h in range(1, n))
            known = {2: grid(k), 3: k, 4: min(known, k * grid(k)), 5: min(known, k * k)}.get(n, known)
            assert tree_bounds.single_path_bound(m, n) <= known


def test_bounds_with_lids_are_below_the_grids() -> None:
    rows = {label: row for label, row in REFERENCE["lids"].items() if label.startswith("L LIDs")}
    assert len(rows) >= 20
    for label, row in rows.items():
        m, lids = int(label.split("FT(")[1].split(",")[0]), int(label.split("L=")[1])
        assert tree_bounds.with_lids(m, lids) <= row["ratio"]
        k = m // 2
        if k % lids == 0 and lids**2 <= k:
            assert tree_bounds.with_lids(m, lids) == row["ratio"]


def without_two_disjoint(hosts: int, leaves: int, roots: int) -> bool:
    """Whether every pair between leaves can have a root so that no link has two node-disjoint pairs.

    All pairs of a link then have a source in common, or a destination.
    """
    pairs = [(s, d) for s in range(hosts * leaves) for d in range(hosts * leaves) if s // hosts != d // hosts]
    on: dict[Any, list[tuple[int, int]]] = defaultdict(list)

    def fits(link: Any, pair: tuple[int, int]) -> bool:
        others = [*on[link], pair]
        return len({s for s, _ in others}) == 1 or len({d for _, d in others}) == 1

    def place(index: int) -> bool:
        if index == len(pairs):
            return True
        s, d = pairs[index]
        for root in range(roots):
            up, down = (s // hosts, root), (root, d // hosts, "down")
            if fits(up, (s, d)) and fits(down, (s, d)):
                on[up].append((s, d))
                on[down].append((s, d))
                if place(index + 1):
                    return True
                on[up].pop()
                on[down].pop()
        return False

    return place(0)


@pytest.mark.parametrize(("k", "leaves"), [(2, 2), (2, 3), (2, 4), (3, 2), (3, 3), (3, 4), (4, 2)])
def test_theorem_2_by_search(k: int, leaves: int) -> None:
    """Ratio 1 is out of reach exactly where the theorem says 2, on trees small enough to look."""
    reachable = without_two_disjoint(k, leaves, k)
    bound = tree_bounds.theorem2(2 * k, leaves)
    assert reachable == (leaves == 2)
    assert bound == (1 if leaves**2 < 4 * k else 2)
    assert bound == 1 or not reachable


def test_a_wider_tree_may_undercut_the_bound() -> None:
    """A root for every pair of places: ratio 1. A bound by hosts a leaf would be wrong here."""
    for k, leaves in ((2, 4), (3, 4)):
        spec = f"xgft:2;{k},{leaves};1,{k * k}"
        routing = by_choice(tree(spec), {(s, d): s % k * k + d % k for s, d in all_shortest(spec)})
        result = obliv.ratio(routing)
        assert result.ratio == 1
        assert (result.lower_bound or 1) == 1
    spec = "xgft:2;4,8;1,8"  # one more square: groups of 2 by single destinations
    routing = by_choice(tree(spec), {(s, d): s % 4 // 2 * 4 + d % 4 for s, d in all_shortest(spec)})
    assert obliv.ratio(routing).ratio == brute(routing) >= (obliv.ratio(routing).lower_bound or 1)


@pytest.mark.parametrize("spec", ["eft2:4,3", "eft2:6,4", "eft2:8,4", "eft2:6,3", "fattree:4,2"])
def test_no_search_goes_below_the_bound(spec: str) -> None:
    """Pairs are moved to other roots as long as the sum of the squared matchings does not grow."""
    topology, chance = tree(spec), random.Random(7)
    k = topology.children[0]
    roots = {pair: chance.randrange(k) for pair in all_shortest(spec) if pair[0] // k != pair[1] // k}
    on: dict[Any, dict[tuple[int, int], int]] = defaultdict(dict)

    def both(pair: tuple[int, int], root: int) -> tuple[Any, Any]:
        return (pair[0] // k, root, "up"), (pair[1] // k, root, "down")

    for pair, root in roots.items():
        for link in both(pair, root):
            on[link][pair] = 1
    size = {link: largest(pairs, 1) for link, pairs in on.items()}
    pairs = sorted(roots)
    for _ in range(400):
        pair = chance.choice(pairs)
        old, new = roots[pair], chance.randrange(k)
        if old == new:
            continue
        links = [*both(pair, old), *both(pair, new)]
        for link in links[:2]:
            del on[link][pair]
        for link in links[2:]:
            on[link][pair] = 1
        after = {link: largest(on[link], 1) for link in links}
        if sum(v**2 for v in after.values()) <= sum(size.get(link, 0) ** 2 for link in links):
            roots[pair] = new
            size |= after
        else:
            for link in links[2:]:
                del on[link][pair]
            for link in links[:2]:
                on[link][pair] = 1
    result = obliv.ratio(by_choice(topology, defaultdict(int, roots)))
    assert result.ratio == max(size.values())
    assert (result.lower_bound or 1) <= result.ratio


# Certificates.


CERTIFIED = [
    ("fattree:4,2", "dmodk"),
    ("fattree:4,2", "omrmn"),
    ("fattree:6,2", "osrm2"),
    ("fattree:4,2", "1/2*dmodk+1/2*smodk"),
    ("eft2:8,3", "kpath:3,base=dmodk,select=shift"),
    ("eft2:6,4", "kpath:2,base=osrm2,select=random"),
    ("xgft:3;2,3,2;1,2,3", "hash:seed=2"),
    # Once "the loads of ecmp are no whole numbers" with three parents a leaf.
    ("xgft:2;1,2;1,3", "dmodk"),
    ("xgft:2;3,3;1,5", "updown"),
]


def plain_json(result: Any) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps(result.to_dict()))
    return made


def made_of(spec: str, name: str) -> dict[str, Any]:
    return plain_json(obliv.ratio(route(spec, name), certificate=True))


@pytest.mark.parametrize(("spec", "name"), CERTIFIED)
def test_certificates_hold(spec: str, name: str, tmp_path: Path) -> None:
    result = obliv.ratio(route(spec, name), certificate=True)
    made = plain_json(result)
    test_certificates.check(made | {"channel_load": made["ratio"]}, route(spec, name).pair_loads())
    assert made["certificate"]["digest"] == digest_of(made)
    assert made["kind"] == "ratio"
    for file in (tmp_path / "claim.json", tmp_path / "claim.json.gz"):
        result.save(file)
        assert obliv.verify(file).proved
        assert obliv.verify(file, quick=True).proved
        again = obliv.load(file)
        assert again.to_dict() == result.to_dict()
        assert (again.ratio, again.permutation) == (result.ratio, result.permutation)
    assert main(["verify", str(tmp_path / "claim.json")]) == 0
    assert "certificate" not in obliv.ratio(route(spec, name)).to_dict()


def refused(made: dict[str, Any], tmp_path: Path, keep_digest: bool = False, verb: bool = False) -> bool:
    """Whether a claim is refused, in Python or, by exit status 1 or 2, on the command line."""
    if not keep_digest:
        made["certificate"]["digest"] = digest_of(made)
    file = tmp_path / "forged.json"
    file.write_text(json.dumps(made))
    if verb:
        return main(["verify", str(file)]) in (1, 2)
    try:
        return not obliv.verify(file).proved
    except obliv.InputError as error:
        assert "\n" not in str(error)
        return True


def exactly(value: Fraction | int) -> dict[str, Any]:
    return {"exact": str(value), "value": float(value)}


@pytest.mark.parametrize(("spec", "name"), CERTIFIED[:7])
def test_another_ratio_is_refused(spec: str, name: str, tmp_path: Path) -> None:
    made = made_of(spec, name)
    claim = F(made["ratio"]["exact"])
    for other in (claim - F(1, 2), claim - 1, claim + 1, F(0), -claim):
        assert refused(copy.deepcopy(made) | {"ratio": exactly(other)}, tmp_path, verb=other == claim - 1)
    assert refused(made | {"ratio": {"exact": str(claim), "value": float(claim) / 2}}, tmp_path)
    assert refused(made | {"ratio": exactly(claim - F(1, 2))}, tmp_path, keep_digest=True)
    # Lowered, with a witness that fits the lower claim: then the channels do not.
    found, hosts = crossings(spec, name), len(tree(spec).terminals)
    shift = [(i + hosts // 2) % hosts for i in range(hosts)]
    loads = {channel: found.along(channel, shift) for channel in found.on}
    for channel, load in loads.items():
        if 0 < load < claim:
            topology = tree(spec)
            ends = {"id": channel, "tail": int(topology.tail[channel]), "head": int(topology.head[channel])}
            names = [topology.name_of(ends["tail"]), topology.name_of(ends["head"])]
            forged = copy.deepcopy(made) | {"channel": ends, "channel_names": names, "permutation": shift}
            forged["certificate"]["permutation"] = shift
            assert refused(forged | {"ratio": exactly(load)}, tmp_path)
            break


def test_other_routings_and_trees_are_refused(tmp_path: Path) -> None:
    made = made_of("fattree:4,3", "osrm3")
    for name in ("dmodk", "smodk", "osrm3-d", "omrmn", "hash:seed=1", "kpath:2,base=osrm3", "nonsense", ""):
        assert refused(copy.deepcopy(made) | {"routing": name}, tmp_path)
    for spec in ("eft2:4,3", "fattree:4,2", "fattree:6,3", "xgft:3;2,2,4;1,2,1", "torus:4x4", "nonsense", ""):
        assert refused(copy.deepcopy(made) | {"topology": spec}, tmp_path)
    for kind in ("worst", "traffic-ratio", "schedule", ""):
        assert refused(copy.deepcopy(made) | {"kind": kind}, tmp_path)
    assert not refused(made, tmp_path)


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("sub-eft2:4,3", "ecmp"),
        ("xgft:2;4,4;1,2", "omrmn"),
        ("xgft:2;4,4;2,4", "omrmn"),
        ("mesh:3x3", "dor"),
        ("torus:3x3", "valiant"),
        ("complete:5", "shortest"),
    ],
)
def test_a_worst_case_is_no_ratio(spec: str, name: str, tmp_path: Path) -> None:
    """Sound worst cases, called ratios where the best routing is not known."""
    worst = plain_json(obliv.worst_case(route(spec, name), certificate=True))
    pattern = made_of("fattree:4,2", "dmodk")
    made = {key: worst[key] for key in pattern if key in worst} | {"kind": "ratio", "ratio": worst["channel_load"]}
    made |= {"lower_bound": None, "lower_bound_source": ""}
    assert set(made) >= set(pattern) - {"channel_names"}
    assert refused(made, tmp_path)
    plain = made_of("fattree:4,2", "omrmn")
    assert not refused(plain, tmp_path)


@pytest.mark.parametrize(
    ("spec", "name"), [("fattree:6,2", "1/2*dmodk+1/2*smodk"), ("fattree:4,2", "omrmn"), ("fattree:4,2", "hash:seed=1")]
)
def test_forged_channels_are_refused(spec: str, name: str, tmp_path: Path) -> None:
    made, found = made_of(spec, name), crossings(spec, name)
    claim, channels = F(made["ratio"]["exact"]), made["certificate"]["channels"]
    beyond = []
    for channel, pairs in found.on.items():
        rows: dict[int, int] = defaultdict(int)
        columns: dict[int, int] = defaultdict(int)
        for (i, j), share in pairs.items():
            rows[i], columns[j] = max(rows[i], share), max(columns[j], share)
        if min(sum(rows.values()), sum(columns.values())) > claim * found.denominator:
            beyond.append(channel)
    assert all(channels[channel] != "simple" for channel in beyond)
    for channel in beyond[:4]:
        forged = copy.deepcopy(made)
        forged["certificate"]["channels"][channel] = "simple"
        assert refused(forged, tmp_path)
    assert beyond or "kpath" not in name

    def changed(change: Callable[[dict[str, Any]], Any]) -> bool:
        forged = copy.deepcopy(made)
        change(forged["certificate"])
        return refused(forged, tmp_path)

    assert changed(lambda c: c["channels"].pop())
    assert changed(lambda c: c["channels"].append("simple"))
    assert changed(lambda c: c.update(channels=[]))
    assert changed(lambda c: c.update(channels="simple"))
    assert changed(lambda c: c["channels"].__setitem__(0, [99, []]))
    assert changed(lambda c: c["channels"].__setitem__(0, [-1, []]))
    assert changed(lambda c: c["channels"].__setitem__(0, "trust me"))
    assert changed(lambda c: c.update(denominator=0))
    assert changed(lambda c: c.update(denominator=-c["denominator"]))
    assert changed(lambda c: c.update(permutation=c["permutation"][::-1]))
    if beyond:
        assert changed(lambda c: c.update(duals=[[0] * len(made["permutation"]) for _ in c["duals"]]))
        assert changed(lambda c: c.update(duals=[[-1] * len(made["permutation"]) for _ in c["duals"]]))
        assert changed(lambda c: c.update(duals=[]))
    identity = list(range(len(made["permutation"])))
    forged = copy.deepcopy(made) | {"permutation": identity}
    forged["certificate"]["permutation"] = identity
    assert refused(forged, tmp_path)
    forged = copy.deepcopy(made) | {"permutation": [0] * len(identity)}
    forged["certificate"]["permutation"] = [0] * len(identity)
    assert refused(forged, tmp_path)
    forged = copy.deepcopy(made)
    forged["channel"]["id"] = (forged["channel"]["id"] + 1) % len(channels)
    assert refused(forged, tmp_path)
    assert not refused(made, tmp_path)


# Once not looked at, so that any routing passed for an optimal one.
@pytest.mark.parametrize("bound", [4, 9, 1])
def test_a_forged_lower_bound_is_refused(bound: int, tmp_path: Path) -> None:
    made = made_of("fattree:8,2", "dmodk")
    assert made["lower_bound"] == exactly(2)
    assert refused(made | {"lower_bound": exactly(bound)}, tmp_path)


def test_the_json_of_a_ratio() -> None:
    made = made_of("fattree:8,2", "dmodk")
    assert {"kind", "topology", "routing", "provenance", "ratio", "channel", "permutation", "lower_bound"} <= set(made)
    assert made["ratio"] == exactly(4)
    assert set(made["channel"]) == {"id", "tail", "head"}
    assert made["provenance"]["exactness"] == "exact"
    assert made["provenance"]["specs"] == {"topology": "fattree:8,2", "routing": "dmodk"}
    result = obliv.ratio(route(made["provenance"]["specs"]["topology"], made["provenance"]["specs"]["routing"]))
    assert len(repr(result)) < 400
    assert "4" in repr(result)


# Refusals.


def line_of(call: Callable[[], Any]) -> str:
    with pytest.raises(obliv.InputError) as caught:
        call()
    text = str(caught.value)
    assert text
    assert "\n" not in text
    assert len(text) < 400
    return text


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("sub-eft2:4,3", "dmodk"),
        ("sub-eft2:8,6", "omrmn"),
        ("sub-eft2:8,6", "ecmp"),
        ("xgft:2;4,4;1,2", "dmodk"),
        ("xgft:2;4,4;1,3", "omrmn"),
        ("xgft:3;2,2,2;1,2,1", "smodk"),
        ("xgft:2;4,4;2,4", "omrmn"),
        ("xgft:1;4;2", "hash:seed=1"),
        ("mesh:4x4", "dor"),
        ("hypercube:3", "ecmp"),
        ("complete:4", "shortest"),
        ("cmesh:2x2,c=2", "ecmp"),
    ],
)
def test_trees_whose_best_routing_is_not_known(spec: str, name: str) -> None:
    for call in (
        lambda: obliv.ratio(route(spec, name)),
        lambda: obliv.ratio(route(spec, name).pair_loads()),
        lambda: obliv.traffic_ratio(route(spec, name), "uniform"),
    ):
        assert spec in line_of(call)


def test_changed_trees_are_refused() -> None:
    topology = tree("fattree:4,2")
    for other in (
        topology.with_terminals([0, 1, 2]),
        topology.with_terminals([0, 1, 2, 3, 4, 5, 6]),
        topology.with_terminals([8, 9, 10, 11]),
        topology.with_rates([2] * 8, [1] * 8),
        topology.with_rates([1] * 8, [1] * 7 + [F(1, 2)]),
    ):
        for name in ("ecmp", "shortest"):
            line_of(lambda: obliv.ratio(obliv.routing(name, other)))  # noqa: B023
            line_of(lambda: obliv.traffic_ratio(obliv.routing(name, other), "uniform"))  # noqa: B023
    ends = list(zip(topology.tail.tolist(), topology.head.tolist()))
    fast = obliv.build("fast", topology.nodes, ends, terminals=list(range(8)), bandwidth=[2] * len(ends))
    line_of(lambda: obliv.ratio(obliv.routing("ecmp", fast)))
    for width in (F(2), F(1, 2)):
        for count in (1, topology.channels):
            wide = (width,) * count + (F(1),) * (topology.channels - count)
            other = dataclasses.replace(topology, bandwidth=wide)
            for name in ("dmodk", "ecmp"):
                line_of(lambda: obliv.ratio(obliv.routing(name, other)))  # noqa: B023
    line_of(lambda: obliv.ratio("dmodk"))
    line_of(lambda: obliv.ratio(topology))
    line_of(lambda: obliv.traffic_ratio(route("fattree:4,2", "dmodk")))


def test_a_claim_does_not_hold_on_a_changed_tree(tmp_path: Path) -> None:
    topology, file = tree("fattree:4,2"), tmp_path / "claim.json"
    obliv.ratio(route("fattree:4,2", "ecmp"), certificate=True).save(file)
    assert obliv.verify(file, topology=topology).proved
    for other in (
        topology.with_rates([2] * 8, [1] * 8),
        topology.with_terminals([0, 1, 2]),
        tree("sub-eft2:4,4"),
        tree("eft2:8,4"),
        tree("xgft:2;2,4;1,3"),
        *(
            dataclasses.replace(topology, bandwidth=(F(1),) * channel + (width,) + (F(1),) * (31 - channel))
            for channel in (0, 10, 31)
            for width in (F(1, 2), F(2))
        ),
    ):
        try:
            assert not obliv.verify(file, topology=other).proved
        except obliv.InputError as error:
            assert "\n" not in str(error)


def test_no_ratio_where_a_cable_is_missing(tmp_path: Path) -> None:
    """A tree with a cable less, more or elsewhere, for which a sound worst case is called a ratio."""
    topology = tree("fattree:4,2")
    cables = [(a, b) for a, b in zip(topology.tail.tolist(), topology.head.tolist()) if a < b]
    for changed in (
        [each for each in cables if each != (8, 12)],  # a leaf with one way up
        [*cables, (0, 9)],  # a host with two links
        [*(each for each in cables if each != (0, 8)), (0, 12)],  # a host at a root
        [*cables, (8, 9)],  # two leaves joined: equal splits over shortest paths crowd there
    ):
        ends = [*changed, *((b, a) for a, b in changed)]
        other = obliv.build("other", topology.nodes, ends, terminals=list(range(8)))
        routing = obliv.routing("ecmp", other)
        line_of(lambda: obliv.ratio(routing))  # noqa: B023
        worst = obliv.worst_case(routing, certificate=True)
        made = plain_json(worst)
        pattern = made_of("fattree:4,2", "ecmp")
        made = {key: made[key] for key in pattern if key in made} | {"kind": "ratio", "ratio": made["channel_load"]}
        made |= {"lower_bound": None, "lower_bound_source": ""}
        made["certificate"]["digest"] = digest_of(made)
        file = tmp_path / "forged.json"
        file.write_text(json.dumps(made))
        found = obliv.verify(file, topology=other, routing=routing)
        assert not found.proved
        assert [check["check"] for check in found.checks if check["ok"] is False] == ["optimum"], found


@pytest.mark.parametrize(
    "words",
    [
        ("fattree:5,2", "dmodk"),
        ("fattree:7,3", "dmodk"),
        ("fattree:2,2", "dmodk"),
        ("fattree:0,2", "dmodk"),
        ("fattree:-4,2", "dmodk"),
        ("fattree:4,1", "dmodk"),
        ("fattree:4,0", "dmodk"),
        ("fattree:4", "dmodk"),
        ("fattree:4,2,2", "dmodk"),
        ("fattree:four,2", "dmodk"),
        ("fattree:4.5,2", "dmodk"),
        ("fattree:4,60", "dmodk"),
        ("fatree:4,2", "dmodk"),
        ("eft2:7,3", "dmodk"),
        ("eft2:8,1", "dmodk"),
        ("eft2:8,0", "dmodk"),
        ("eft2:8", "dmodk"),
        ("sub-eft2:4,3", "dmodk"),
        ("xgft", "dmodk"),
        ("xgft:banana", "dmodk"),
        ("xgft:2;3,4", "dmodk"),
        ("xgft:2;3;1,3", "dmodk"),
        ("xgft:2;3,4;1", "dmodk"),
        ("xgft:3;3,4;1,3", "dmodk"),
        ("xgft:2;3,x;1,3", "dmodk"),
        ("xgft:2;3,0;1,3", "dmodk"),
        ("xgft:2;3,-4;1,3", "dmodk"),
        ("xgft:2;3,4;1,3;9", "dmodk"),
        ("xgft:0;;", "dmodk"),
        ("xgft:2;4,4;1,2", "dmodk"),
        ("fattree:4,2", "kpath:0"),
        ("fattree:4,2", "kpath:-1"),
        ("fattree:4,2", "kpath:3"),
        ("fattree:4,3", "kpath:5,base=osrm3"),
        ("fattree:4,3", "kpath:two"),
        ("fattree:4,3", "kpath:1.5"),
        ("fattree:4,3", "kpath"),
        ("fattree:4,3", "kpath:2,select=best"),
        ("fattree:4,3", "kpath:2,base=best"),
        ("fattree:4,3", "kpath:2,base=omrmn"),
        ("fattree:4,3", "kpath:2,base=osrm2"),
        ("fattree:4,3", "osrm-k:0"),
        ("fattree:4,3", "osrm-k:3"),
        ("fattree:4,3", "osrm-k:8"),
        ("fattree:8,2", "osrm-k:3"),
        ("fattree:4,2", "osrm3"),
        ("fattree:4,2", "osrm3-d"),
        ("fattree:4,3", "osrm2"),
        ("fattree:4,4", "osrm3"),
        ("xgft:1;4;1", "osrm2"),
        ("mesh:4x4", "dmodk"),
        ("mesh:4x4", "dor"),
        ("fattree:4,2", "dor"),
        ("fattree:4,2", "hash:seed=x"),
        ("fattree:4,2", "table:missing.txt"),
        ("fattree:4,2", "1/2*dmodk+1/3*smodk"),
        ("fattree:4,2",),
        ("fattree:4,2", "dmodk", "--traffic", "matrix:wide.txt"),
        ("fattree:4,2", "dmodk", "--traffic", "matrix:ragged.txt"),
        ("fattree:4,2", "dmodk", "--traffic", "matrix:negative.txt"),
        ("fattree:4,2", "dmodk", "--traffic", "matrix:zero.txt"),
        ("fattree:4,2", "dmodk", "--traffic", "matrix:missing.txt"),
        ("fattree:4,2", "dmodk", "--set", "wide.txt"),
        ("fattree:4,2", "dmodk", "--set", "missing.txt"),
        ("fattree:4,2", "dmodk", "--traffic", "nonsense"),
        ("fattree:4,2", "dmodk", "--traffic", "shift:0"),
        ("fattree:4,2", "dmodk", "--traffic", "hotspot:4,16"),
        ("fattree:4,2", "dmodk", "--traffic", "hotspot:0,3"),
        ("fattree:4,2", "dmodk", "--traffic", "clustered:0"),
        ("fattree:4,2", "dmodk", "--traffic", "clustered:9"),
        ("fattree:4,2", "dmodk", "--traffic", "bernoulli:1.5"),
        ("fattree:4,2", "dmodk", "--traffic", "bernoulli:-0.5"),
        ("fattree:6,2", "dmodk", "--traffic", "hypercube"),
        ("fattree:4,2", "dmodk", "--traffic", "ring", "--instances", "1"),
        ("fattree:4,2", "dmodk", "--traffic", "ring:seed=2", "--instances", "4"),
        ("fattree:4,2", "dmodk", "--traffic", "ring", "--instances", "-1"),
        ("fattree:4,2", "dmodk", "--traffic", "ring", "--instances", "many"),
        ("fattree:4,2", "dmodk", "--traffic", "shift:1", "--instances", "4"),
        ("fattree:4,2", "dmodk", "--instances", "4"),
        ("fattree:4,2", "dmodk", "--format", "xml"),
        ("fattree:4,2", "dmodk", "--output", "missing/claim.json"),
    ],
)
def test_mistakes_on_the_command_line(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, size, value in (("wide", 16, "0"), ("zero", 8, "0"), ("negative", 8, "-0.1")):
        rows = [" ".join(value if j == (i + 1) % size else "0" for j in range(size)) for i in range(size)]
        Path(f"{name}.txt").write_text("\n".join(rows))
    Path("ragged.txt").write_text("\n".join(["0 " * 7 + "1"] * 7 + ["0 1"]))
    assert main(["ratio", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("obliv: ")
    assert err.count("\n") == 1
    assert err.endswith("\n")
    assert "Traceback" not in err
    assert len(err) < 500
    assert not Path("claim.json").exists()


def test_the_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "claim.json"
    assert main(["ratio", "fattree:6,3", "osrm3-d", "--format", "json", "--output", str(file)]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["ratio"] == made["lower_bound"] == exactly(3)
    assert "certificate" not in made
    assert main(["verify", str(file)]) == 0
    assert "proved" in capsys.readouterr().out
    words = [
        "ratio",
        "fattree:4,3",
        "dmodk",
        "--traffic",
        "ring",
        "--traffic",
        "tree",
        "--instances",
        "8",
        "--seed",
        "3",
    ]
    answers = []
    for _ in range(2):
        assert main([*words, "--format", "json"]) == 0
        answers.append(json.loads(capsys.readouterr().out)["patterns"])
    assert answers[0] == answers[1]
    routing = route("fattree:4,3", "dmodk")
    rows = obliv.traffic_ratio(routing, "ring", "tree", instances=8, rng=3).to_dict()["patterns"]
    assert answers[0] == rows
    assert main([*words, "--format", "csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    matrices = []
    for seed in range(3):
        matrices.append(tmp_path / f"{seed}.txt")
        matrices[-1].write_text("\n".join(" ".join(map(str, row)) for row in random_rows(16, seed)))
    given = [word for each in matrices for word in ("--set", str(each))]
    assert main(["ratio", "fattree:4,3", "dmodk", *given, "--format", "json"]) == 0
    made = json.loads(capsys.readouterr().out)
    found, rates = crossings("fattree:4,3", "dmodk"), [random_rows(16, seed) for seed in range(3)]
    expected = [max(found.under(rows).values()) / off_diagonal(rows) for rows in rates]
    assert [F(row["ratio"]["exact"]) for row in made["patterns"]] == expected
    assert F(made["ratio"]["exact"]) == max(expected)


# Traps.


@pytest.mark.parametrize("instances", [1, -1, -5])
def test_too_few_instances(instances: int) -> None:
    # A negative number once made an estimate of -0.0 from -1 samples.
    with pytest.raises(obliv.InputError):
        obliv.traffic_ratio(route("fattree:4,2", "dmodk"), "ring", instances=instances)


# Terminal numbers were once taken for host numbers.
@pytest.mark.parametrize("name", ["dmodk", "osrm2", "hash:seed=3", "omrmn", "kpath:1", "ecmp", "shortest"])
def test_terminals_in_another_order(name: str) -> None:
    hosts = [5, 0, 3, 7, 1, 2, 6, 4]
    routing = obliv.routing(name, tree("fattree:4,2").with_terminals(hosts))
    result = obliv.ratio(routing, certificate=True)
    assert result.ratio == obliv.ratio(route("fattree:4,2", name)).ratio
    found = Crossings(laws_of(routing))
    assert found.same_as(routing.pair_loads())
    shown(result, found, routing.topology)
    assert obliv.verify(result).proved
    assert obliv.verify(obliv.worst_case(routing, certificate=True)).proved


# They were once not looked at.
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

    made = dict(laws("fattree:4,2", "omrmn"))
    made |= {
        (s, s): [((channel(s, leaf[s]), channel(leaf[s], 12), channel(12, leaf[s]), channel(leaf[s], s)), F(1))]
        for s in range(8)
    }

    class Touring(obliv.Routing):  # type: ignore[misc]
        def paths(self, source: int, destination: int) -> Any:
            return made[source, destination]

    routing = Touring(topology, "touring")
    assert obliv.worst_case(routing).channel_load == 2
    result = obliv.ratio(routing, certificate=True)
    assert result.ratio == 1
    assert obliv.verify(result).proved
    shown(result, Crossings(made), topology)
    assert obliv.traffic_ratio(routing, "uniform", "shift:1").ratio == 1


@pytest.mark.parametrize("spec", ["fattree:4,2", by_night("fattree:4,3"), "xgft:1;4;1", "eft2:4,3", "xgft:2;3,2;1,3"])
def test_valiant_on_trees(spec: str) -> None:
    """Goes by way of hosts, and sends out what is for the sender; that part is left out."""
    for name in ("valiant", "1/2*dmodk+1/2*valiant"):
        others = {pair: parts if pair[0] != pair[1] else [] for pair, parts in laws(spec, name).items()}
        found, result = Crossings(others), obliv.ratio(route(spec, name), certificate=True)
        assert result.ratio == found.ratio
        assert result.lower_bound is None or name == "valiant"
        shown(result, found, tree(spec))
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
