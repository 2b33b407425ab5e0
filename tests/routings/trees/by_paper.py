"""Fat trees by the paper's text: trees built recursively, paths by search, loads with dictionaries, ratios by matching.

Nothing below uses the link numbers of the notes or any closed form of obliv: an FT(m, n) is put together from SUBFTs,
shortest paths are enumerated on the channels of the topology, and a ratio is the largest matching (or assignment) of
the pairs on a channel.
"""

from __future__ import annotations

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

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

import obliv

F = Fraction
FILE = Path(__file__).resolve().parents[2] / "reference" / "fat_tree.json"
REFERENCE: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
Digits = tuple[int, ...]


@functools.cache
def tree(spec: str) -> Any:
    return obliv.topology(spec)


@functools.cache
def route(topology: str, routing: str) -> Any:
    return obliv.routing(routing, tree(topology))


def written(digits: Digits) -> str:
    return "(" + ",".join(map(str, digits)) + ")"


def digits_of(value: int, base: int, count: int) -> Digits:
    result = []
    for _ in range(count):
        value, last = divmod(value, base)
        result.append(last)
    return tuple(reversed(result))


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


SMALL = [(4, 2), (6, 2), (8, 2), (4, 3), (6, 3), (4, 4)]


def level_of(topology: Any, node: int, n: int) -> int:
    """The paper's level: 0 at the roots, n for hosts."""
    name = topology.name_of(node)
    return int(name.rsplit(",", 1)[1][:-1]) if name.startswith("((") else n


def shortest_paths(topology: Any, source: int, destination: int, towards: list[int]) -> list[tuple[int, ...]]:
    """All shortest paths as channels, from the distances to the destination."""
    first, head = topology.first_channel, topology.head
    result: list[tuple[int, ...]] = []
    open_paths: list[tuple[tuple[int, ...], int]] = [((), source)]
    while open_paths:
        path, node = open_paths.pop()
        if node == destination:
            result.append(path)
            continue
        for channel in range(int(first[node]), int(first[node + 1])):
            if towards[head[channel]] == towards[node] - 1:
                open_paths.append(((*path, channel), int(head[channel])))
    return result


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
    result: dict[tuple[int, int], list[tuple[int, ...]]] = {}
    for d in hosts:
        towards = distances(topology, d)
        result |= {(s, d): shortest_paths(topology, s, d, towards) for s in hosts if s != d}
    return result


def free_choices(paper: Paper, s: int, d: int) -> int:
    """x of Property 3: the smallest SUBFT(m, x + 1) with both, or all of the tree."""
    a, b = paper.hosts[s], paper.hosts[d]
    shared = next(i for i in range(paper.n) if a[i] != b[i])
    return paper.n - 1 - shared


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
            result = {
                (i, j): value * self.denominator
                for i, j, value in zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist())
                if value
            }
            if result != {pair: share * loads.denominator for pair, share in self.on[channel].items()}:
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


def brute(routing: Any) -> Fraction:
    return Crossings(laws_of(routing)).ratio


def off_diagonal(rows: list[list[Fraction]]) -> Fraction:
    """Base load: the most that a host sends to or takes from others."""
    n = len(rows)
    sent = [sum((rows[i][j] for j in range(n) if j != i), F(0)) for i in range(n)]
    taken = [sum((rows[i][j] for i in range(n) if j != i), F(0)) for j in range(n)]
    return max(sent + taken)


def by_night(*values: Any) -> Any:
    return pytest.param(*values, marks=pytest.mark.nightly)


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
    result = {}
    for s, d in pairs or itertools.permutations(range(len(paper.hosts)), 2):
        parts = list(routing.paths(s, d))
        assert len({chance for _, chance in parts}) == 1
        x = free_choices(paper, s, d)
        result[s, d] = {port_number(topology, tuple(path), x, paper.k) for path, _ in parts}
    return result


def grid(k: int) -> int:
    """Section 5 of the notes."""
    return min(max(-(-k // a), -(-k // b)) for a in range(1, k + 1) for b in range(1, k // a + 1))


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
    result = {}
    for pair, paths in all_shortest(topology.spec).items():
        middle = {int(topology.head[path[1]]) if len(path) > 2 else 0: path for path in paths}
        result[pair] = [(middle[sorted(middle)[roots[pair] if len(middle) > 1 else 0]], F(1))]
    return Chosen(topology, result)


def drawn(spec: str, seed: int, split: int = 1) -> Any:
    """One path per pair by chance, or up to so many with uneven shares."""
    chance = random.Random(seed)
    result = {}
    for pair, paths in all_shortest(spec).items():
        some = chance.sample(paths, min(chance.randint(1, split), len(paths)))
        shares = [chance.randint(1, 3) for _ in some]
        result[pair] = [(path, F(share, sum(shares))) for path, share in zip(some, shares)]
    return Chosen(tree(spec), result)


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


def random_rows(hosts: int, seed: int) -> list[list[Fraction]]:
    """Uneven, sparse or dense, some hosts quiet, with traffic to oneself."""
    chance = random.Random(seed)
    dense = chance.choice([0.1, 0.3, 0.9])
    rows = [[F(chance.randrange(9)) if chance.random() < dense else F(0) for _ in range(hosts)] for _ in range(hosts)]
    rows[0][hosts - 1] += 1
    top = max(sum(row) for row in rows)
    return [[value / top for value in row] for row in rows]


def plain_json(result: Any) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(json.dumps(result.to_dict()))
    return content


def made_of(spec: str, name: str) -> dict[str, Any]:
    return plain_json(obliv.ratio(route(spec, name), certificate=True))


def exactly(value: Fraction | int) -> dict[str, Any]:
    return {"exact": str(value), "value": float(value)}


def line_of(call: Callable[[], Any]) -> str:
    with pytest.raises(obliv.InputError) as caught:
        call()
    text = str(caught.value)
    assert text
    assert "\n" not in text
    assert len(text) < 400
    return text
