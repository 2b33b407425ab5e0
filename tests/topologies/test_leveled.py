"""Leveled networks against their definitions, and leveled graphs from files."""

from __future__ import annotations

import itertools
import pickle
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import obliv
from obliv.bufferless.leveled.base import Leveled
from obliv.errors import InputError

FAITHFUL = [
    "butterfly:1",
    "butterfly:5",
    "leveled-mesh:16x16",
    "leveled-mesh:3x5,orientation=-+",
    "leveled-mesh:4x2,orientation=+-",
    "leveled-mesh:5x1,orientation=--",
    "leveled-mesh:1x4",
    "leveled-mesh:3x2x4",
    "leveled-mesh:2x3x1x2,orientation=-++-",
    "array:64",
    "array:9,orientation=-",
    "leveled-hypercube:1",
    "leveled-hypercube:6",
    "multibutterfly:1,d=1,seed=0",
    "multibutterfly:5,d=2,seed=1",
    "unrolled-fattree:2,5",
    "unrolled-fattree:3,1",
    "unrolled-fattree:3,3",
    "random-leveled:L=60,W=16,d=2,seed=1",
    "random-leveled:L=3,W=5,d=3,seed=0",
    "deep:L=20,W=8,S=3,seed=1",
]
UNFAITHFUL = ["unrolled-debruijn:1", "unrolled-debruijn:5", "unrolled-shuffle:1", "unrolled-shuffle:5"]


def made(spec: str) -> Leveled:
    network = obliv.topology(spec)
    assert isinstance(network, Leveled)
    return network


def joined(network: Leveled) -> Counter[tuple[int, int]]:
    return Counter(zip(network.low.tolist(), network.high.tolist(), strict=True))


@pytest.mark.parametrize("spec", FAITHFUL + UNFAITHFUL)
def test_edges_join_neighbouring_levels(spec: str) -> None:
    network = made(spec)
    low, high = network.edge_ends
    level = network.node_level
    assert network.spec == spec
    assert len(low) == len(high) == network.edges
    assert len(level) == network.nodes
    assert sorted(set(level.tolist())) == list(range(network.depth + 1))
    assert (level[high] == level[low] + 1).all()
    every = np.arange(network.edges, dtype=np.int32)
    assert (network.edge_level(every) == level[low]).all()
    some = every[::-1][: network.edges // 2 + 1]
    fresh = made(spec)
    assert all(map(np.array_equal, fresh.ends_of(some), (low[some], high[some])))
    assert low.dtype == high.dtype == level.dtype == np.int32
    assert network.faithful == (spec in FAITHFUL)
    assert len(network.remark) > 20
    again = pickle.loads(pickle.dumps(network))
    assert np.array_equal(again.high, high)


def test_butterfly_flips_one_bit_a_level() -> None:
    network = made("butterfly:4")
    expected = Counter(
        (i * 16 + r, (i + 1) * 16 + (r ^ flip)) for i in range(4) for r in range(16) for flip in (0, 1 << i)
    )
    assert joined(network) == expected
    assert [network.high[(2 * 16 + 5) * 2 + b] for b in (0, 1)] == [3 * 16 + 5, 3 * 16 + 1]


@pytest.mark.parametrize("orientation", ["++", "+-", "-+", "--"])
def test_mesh_of_every_orientation_has_the_same_links(orientation: str) -> None:
    n, m = 3, 5
    network = obliv.topology(f"leveled-mesh:{n}x{m},orientation={orientation}")
    links = {frozenset((x * m + y, x * m + m + y)) for x in range(n - 1) for y in range(m)}
    links |= {frozenset((x * m + y, x * m + y + 1)) for x in range(n) for y in range(m - 1)}
    ends = [frozenset(pair) for pair in zip(network.low.tolist(), network.high.tolist(), strict=True)]
    assert set(ends) == links
    assert len(ends) == len(links)
    assert ends[1 * m + 2] == {1 * m + 2, 2 * m + 2}  # down from (1, 2)
    assert ends[(n - 1) * m + 2 * (m - 1) + 3] == {2 * m + 3, 2 * m + 4}  # right from (2, 3)
    for (x, y), node in zip(itertools.product(range(n), range(m)), range(n * m), strict=True):
        down, right = (x if orientation[0] == "+" else n - 1 - x), (y if orientation[1] == "+" else m - 1 - y)
        assert network.node_level[node] == down + right


@pytest.mark.parametrize("orientation", ["+++", "-+-"])
def test_mesh_of_three_dimensions(orientation: str) -> None:
    sides = (3, 2, 4)
    network = obliv.topology(f"leveled-mesh:3x2x4,orientation={orientation}")
    assert (network.depth, network.nodes, network.edges) == (6, 24, 2 * 8 + 12 + 18)
    at = list(itertools.product(*map(range, sides)))
    signs = [1 if sign == "+" else -1 for sign in orientation]
    for low, high in zip(network.low.tolist(), network.high.tolist(), strict=True):
        steps = [b - a for a, b in zip(at[low], at[high], strict=True)]
        assert [step for step in steps if step] == [sign for sign, step in zip(signs, steps, strict=True) if step]
        assert sum(map(abs, steps)) == 1
    assert len(set(zip(network.low.tolist(), network.high.tolist(), strict=True))) == network.edges
    for node, coordinates in enumerate(at):
        along = (c if sign > 0 else n - 1 - c for c, n, sign in zip(coordinates, sides, signs, strict=True))
        assert network.node_level[node] == sum(along)


def test_hypercube_sets_one_bit() -> None:
    network = made("leveled-hypercube:5")
    expected = Counter((v, v | 1 << b) for v in range(32) for b in range(5) if not v >> b & 1)
    assert joined(network) == expected
    assert network.node_level.tolist() == [v.bit_count() for v in range(32)]


def test_debruijn_and_shuffle_step_as_their_words_do() -> None:
    k, rows = 4, 16
    assert joined(made(f"unrolled-debruijn:{k}")) == Counter(
        (i * rows + r, (i + 1) * rows + (2 * r % rows) + b) for i in range(k) for r in range(rows) for b in (0, 1)
    )
    shuffle = Counter[tuple[int, int]]()
    for i in range(2 * k):
        for r in range(rows):
            word = f"{r:0{k}b}"
            to = [r, r ^ 1] if i % 2 == 0 else [int(word[1:] + word[0], 2)]
            shuffle.update((i * rows + r, (i + 1) * rows + row) for row in to)
    assert joined(made(f"unrolled-shuffle:{k}")) == shuffle


@pytest.mark.parametrize(("k", "h"), [(2, 1), (2, 4), (3, 3), (4, 2)])
def test_fattree_goes_from_every_leaf_to_every_leaf_over_every_top(k: int, h: int) -> None:
    network = obliv.topology(f"unrolled-fattree:{k},{h}")
    ways = np.zeros((network.nodes, network.nodes), np.int64)
    np.add.at(ways, (network.low, network.high), 1)
    up = np.linalg.matrix_power(ways, h)[: k**h]
    down = np.linalg.matrix_power(ways, h)[:, -(k**h) :]
    tops = np.flatnonzero(network.node_level == h)
    assert len(tops) == k ** (h - 1)
    assert (up[:, tops] == 1).all()  # one way up to each top, one way down to each leaf
    assert (down[tops] == 1).all()


@pytest.mark.parametrize(("k", "d"), [(1, 1), (4, 2), (5, 3)])
def test_multibutterfly_splits_blocks(k: int, d: int) -> None:
    network = obliv.topology(f"multibutterfly:{k},d={d},seed=3")
    rows = 1 << k
    for e, (low, high) in enumerate(zip(network.low.tolist(), network.high.tolist(), strict=True)):
        level, row, to = low // rows, low % rows, high % rows
        assert low == e // (2 * d)
        assert to >> (k - 1 - level) == (row >> (k - level) << 1 | e // d % 2)  # the half of the block that e names
    into = np.bincount(network.high, minlength=network.nodes)
    assert (into[rows:] == 2 * d).all()
    assert (network.high != obliv.topology(f"multibutterfly:{k},d={d},seed=4").high).any() or k == 1


def test_random_levels_are_matched_perfectly() -> None:
    network = made("random-leveled:L=7,W=9,d=3,seed=2")
    high = network.high.reshape(7, 9, 3)
    for level, b in itertools.product(range(7), range(3)):
        assert sorted(high[level, :, b].tolist()) == list(range((level + 1) * 9, (level + 2) * 9))
    rng = np.random.default_rng(2)
    assert high[0, :, 0].tolist() == (9 + rng.permutation(9)).tolist()
    assert high[0, :, 1].tolist() == (9 + rng.permutation(9)).tolist()


def test_large_networks_are_made_at_once() -> None:
    for spec in ("butterfly:20", "leveled-mesh:20000x20000", "unrolled-fattree:4,10", "multibutterfly:20"):
        network = obliv.topology(spec)
        assert network.edges > 10**7
        assert network.channels == 2 * network.edges


@pytest.mark.parametrize(
    ("spec", "word"),
    [
        ("butterfly:0", "at least one"),
        ("butterfly:26", "fewer than"),
        ("butterfly:99999", "too many"),
        ("leveled-mesh:4", "rows x columns"),
        ("leveled-mesh:1x1", "two nodes"),
        ("leveled-mesh:4x4x4,orientation=+-", "a sign for each dimension"),
        ("leveled-mesh:2000x2000x2000", "can be numbered"),
        ("leveled-mesh:4x4,orientation=x", "must be"),
        ("array:1", "two nodes"),
        ("array:5,orientation=++", "must be"),
        ("unrolled-fattree:1,3", "arity"),
        ("multibutterfly:3,d=0", "at least 1"),
        ("random-leveled:L=3,W=0", "at least 1"),
        ("random-leveled:L=3,W=2,seed=-1", "negative"),
        ("deep:L=3,W=2,S=4", "at most"),
    ],
)
def test_impossible_numbers_are_refused(spec: str, word: str) -> None:
    with pytest.raises(InputError, match=word) as error:
        obliv.topology(spec)
    assert "\n" not in str(error.value)


def test_they_are_topologies_like_others() -> None:
    network = made("butterfly:3")
    assert network.channels == 96
    assert (np.diff(network.tail) >= 0).all()
    both = Counter(zip(network.tail.tolist(), network.head.tolist(), strict=True))
    assert both == joined(network) + Counter({(b, a): n for (a, b), n in joined(network).items()})
    ends = network.with_terminals([*range(8), *range(24, 32)])
    assert obliv.worst_case(obliv.routing("shortest", ends)).channel_load > 0
    assert network.with_rates([2] * 32).injection[0] == 2
    assert len({tuple(place) for place in network.positions.tolist()}) == network.nodes
    assert (network.positions[:, 1] == network.node_level).all()


# from files


def write(folder: Path, text: str, name: str = "net.txt") -> str:
    path = folder / name
    path.write_text(text)
    return f"leveled-file:{path}"


def test_levels_are_found_from_directions(tmp_path: Path) -> None:
    network = made(write(tmp_path, "# directed\nc d\na b\nb c\nx c\nb c\n"))
    assert dict(zip(network.labels, network.node_level.tolist(), strict=True)) == {
        "a": 0,
        "b": 1,
        "c": 2,
        "d": 3,
        "x": 1,
    }
    assert network.edges == 5  # parallel ones are kept
    assert [network.labels[v] for v in network.low.tolist()] == ["c", "a", "b", "x", "b"]
    assert network.depth == 3
    assert len(network.sources[0][1]) == 64


def test_levels_are_read_where_nodes_have_them(tmp_path: Path) -> None:
    nodes = "".join(
        f'<node id="{n}"><data key="l">{level}</data></node>' for n, level in (("a", 2), ("b", 1), ("c", 0))
    )
    head = '<graphml><key id="l" for="node" attr.name="level" attr.type="int"/>'
    edges = '<edge source="a" target="b"/><edge source="c" target="b"/>'
    text = f'{head}<graph edgedefault="%s">{nodes}{edges}</graph></graphml>'
    network = made(write(tmp_path, text % "undirected", "u.graphml"))
    assert network.node_level.tolist() == [2, 1, 0]
    assert list(zip(network.low.tolist(), network.high.tolist(), strict=True)) == [(1, 0), (2, 1)]
    with pytest.raises(InputError, match=r"'a' - 'b' leads from level 2 to level 1.*exchange its ends"):
        obliv.topology(write(tmp_path, text % "directed", "d.graphml"))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (
            "# directed\na b\nb c\nc a\n",
            r"cycle.*('a' -> 'b' -> 'c' -> 'a'|'b' -> 'c' -> 'a' -> 'b'|'c' -> 'a' -> 'b' -> 'c')",
        ),
        ("a b\nb a\n", "cycle"),
        ("a b\nb c\na c\n", r"no levels fit edge '.' - '.'"),
        ("a b\nb b\n", r":2: edge 'b' - 'b' leads nowhere"),
        ("# node: a level=0\n# node: b level=2\n# node: c level=1\na b\n", r"'a' - 'b' leads from level 0 to level 2"),
        ("# node: a level=0\na b\n", "level of node 'b' is missing"),
        ("# node: a level=x\na b\n", "level of node 'a' is 'x'"),
        ("# node: a level=1\n# node: b level=2\na b\n", "no node on level 0"),
        ("# node: a level=999999999\n# node: b level=0\na b\n", "without a gap"),
        ('{"levels": [0, 1], "edges": [[1, 0]]}', "leads from node 1 on level 1"),
        ('{"levels": [0, 1]}', "'edges' is missing"),
        ('{"levels": [0, 7], "edges": [[0, 1]]}', "without a gap"),
        ("<html></html>", "looks like a web page"),
        ("a\n", "not the single word"),
    ],
)
def test_graphs_without_levels_are_refused(text: str, word: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=word) as error:
        obliv.topology(write(tmp_path, text))
    assert "\n" not in str(error.value)
    assert "net.txt" in str(error.value)


def test_a_long_path_needs_no_recursion(tmp_path: Path) -> None:
    chain = "".join(f"{v} {v + 1}\n" for v in range(5000))
    assert made(write(tmp_path, chain)).depth == 5000
    with pytest.raises(InputError, match="cycle"):
        obliv.topology(write(tmp_path, chain + "5000 0\n"))
