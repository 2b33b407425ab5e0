"""Routings on fat trees: their ratios against closed forms, and by matching what lies on every link."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product
from math import ceil, isqrt
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

import obliv
from obliv._util.progress import silent
from obliv.cli import main
from obliv.questions.ratio import tree_ratio
from obliv.routings.trees import best_grid, cover_root, fewest_lids, way_channels
from obliv.topologies.trees import with_lids

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
EXAMPLE = EXAMPLES / "ft-6-2-ratio-2.txt"


def line_of(text: str) -> str:
    assert "\n" not in text
    return text


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("spec", "file", "ratio", "others"),
    [
        ("fattree:6,2", EXAMPLE.name, 2, {"osrm2": 3}),
        ("fattree:4,4", "ft-4-4-ratio-3.txt", 3, {"osrmn": 4, "dmodk": 4}),
    ],
)
def test_the_examples_of_least_ratio_by_matching(spec: str, file: str, ratio: int, others: dict[str, int]) -> None:
    """Read by hand, link by link, with two programmes for matchings that are not ours."""
    tree = obliv.topology(spec)
    hosts = len(tree.terminals)
    neighbours = set(zip(tree.tail.tolist(), tree.head.tolist(), strict=True))
    pairs: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    routed = []
    for line in (EXAMPLES / file).read_text().splitlines():
        if line and not line.startswith("#"):
            word, chance, *nodes = line.split()
            assert (word, chance) == ("path", "1")
            way = [int(node) for node in nodes]
            s, d = way[0], way[-1]
            routed.append((s, d))
            assert len(way) == 1 + 2 * int(tree.turn(np.array(s), np.array(d)))
            for link in pairwise(way):
                assert link in neighbours
                pairs[link].append((s, d))
    assert sorted(routed) == [(s, d) for s in range(hosts) for d in range(hosts) if s != d]
    sizes = []
    for match in pairs.values():
        graph = nx.Graph([(("from", s), ("to", d)) for s, d in match])
        sizes.append(len(nx.max_weight_matching(graph, maxcardinality=True)))
        rows = csr_array((np.ones(len(match)), tuple(zip(*match, strict=True))), shape=(hosts, hosts))
        assert int((maximum_bipartite_matching(rows) >= 0).sum()) == sizes[-1]
    assert max(sizes) == ratio
    result = obliv.ratio(obliv.routing(f"table:{EXAMPLES / file}", tree), certificate=True)
    assert (result.ratio, result.lower_bound, result.optimal) == (ratio, ratio, True)
    assert obliv.verify(result).proved
    for other, larger in others.items():
        assert obliv.ratio(obliv.routing(other, tree)).ratio == larger


def test_the_example_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claim = str(tmp_path / "claim.json")
    assert main(["ratio", "fattree:6,2", f"table:{EXAMPLE}", "--output", claim]) == 0
    assert "so this one is optimal" in capsys.readouterr().out
    assert main(["verify", claim, "--files", str(Path(EXAMPLE).parent)]) == 0
    assert "proved" in capsys.readouterr().out


def root_of(k: int) -> int:
    """The square root, rounded up."""
    return isqrt(k - 1) + 1


# Alternating digits: (m, n), the ratio, and whether D-mod-k has it as well.
LEVELS = [
    ((4, 2), 2, True),
    ((6, 2), 2, False),
    ((8, 2), 2, False),
    ((10, 2), 3, False),
    ((14, 2), 3, False),
    ((18, 2), 3, False),
    ((4, 3), 2, False),
    ((8, 3), 4, False),
    ((4, 4), 4, True),
    ((6, 4), 6, False),
    ((8, 4), 8, False),
    ((4, 5), 4, False),
    ((4, 6), 8, True),
]


@pytest.mark.parametrize(("tree", "ratio", "same"), LEVELS)
def test_osrmn(tree: tuple[int, int], ratio: int, same: bool) -> None:
    m, n = tree
    topology, k = obliv.fattree(m, n), m // 2
    routing = obliv.routing("osrmn", topology)
    assert ratio == k ** ((n - 1) // 2) * (1 if n % 2 else root_of(k))
    result, other = obliv.ratio(routing), obliv.ratio(obliv.routing("dmodk", topology))
    assert result.ratio == ratio <= other.ratio
    assert (result.ratio == other.ratio) == same == (not routing.alternates)
    assert result.lower_bound is not None
    assert result.lower_bound <= ratio
    host = np.arange(len(topology.terminals))
    for name in ("dmodk",) if same else ("osrm2-c",) if n == 2 else ("osrm3",) if n == 3 else ():
        known = obliv.routing(name, topology)
        assert np.array_equal(routing.ways(host[:, None], host), known.ways(host[:, None], host))
    if n == 4 and not same:  # the rule, digit by digit
        for s, d in np.random.default_rng(1).integers(0, len(host), (50, 2)).tolist():
            one, two = topology.digits(s), topology.digits(d)
            ports = [one[3], two[3], (two[2] - (two[2] - one[2]) % k % routing.lids) % k]
            turn = int(topology.turn(s, d))
            number = sum(port * k ** (turn - 2 - j) for j, port in enumerate(ports[: max(0, turn - 1)]))
            assert int(routing.ways(np.array(s), np.array(d))[0]) == number


def test_osrmn_is_certified() -> None:
    result = obliv.ratio(obliv.routing("osrmn", obliv.fattree(4, 5)), certificate=True)
    assert result.ratio == 4
    assert obliv.verify(result).proved


@pytest.mark.nightly
def test_osrmn_on_larger_trees() -> None:
    for m, n, ratio in ((6, 5, 9), (8, 5, 16), (14, 4, 21), (16, 4, 24), (6, 6, 18)):
        assert obliv.ratio(obliv.routing("osrmn", obliv.fattree(m, n))).ratio == ratio


@pytest.mark.parametrize("topology", ["eft2:8,4", "sub-eft2:8,4", "xgft:3;2,2,4;1,2,3", "xgft:1;4;1", "mesh:4x4"])
def test_osrmn_elsewhere(topology: str) -> None:
    with pytest.raises(obliv.RoutingError, match="osrmn") as caught:
        obliv.routing("osrmn", obliv.topology(topology))
    assert "use" in line_of(str(caught.value))


def test_a_fat_tree_by_another_name() -> None:
    tree = obliv.topology("xgft:2;4,8;1,4")
    assert tree.half == obliv.fattree(8, 2).half == obliv.eft2(8, 8).half == 4
    assert obliv.ratio(obliv.routing("osrmn", tree)).ratio == 2
    for other in ("eft2:8,7", "xgft:2;4,8;1,3", "xgft:2;4,8;2,4", "xgft:1;2;1", "xgft:2;1,2;1,1"):
        assert obliv.topology(other).half is None


# WSR.


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("spec", "same"),
    [
        *((f"fattree:{m},2", True) for m in range(4, 38, 2)),
        ("fattree:4,4", True),
        ("fattree:6,3", True),
        ("fattree:12,3", True),
        ("xgft:2;12,6;1,12", True),
        ("xgft:2;12,6;1,5", False),
        ("xgft:2;4,8;1,3", False),
    ],
)
def test_wsr_is_d_mod_k_on_fat_trees(spec: str, same: bool) -> None:
    """By its own rule, as is proved in docs/explanation/fat-trees.md."""
    tree = obliv.topology(spec)
    wsr, dmodk = obliv.WSR(tree), obliv.DModK(tree)
    assert wsr.own_rule
    assert wsr.notes == ()
    source, destination = np.nonzero(~np.eye(tree.below[-1], dtype=bool))
    assert np.array_equal(wsr.ways(source, destination), dmodk.ways(source, destination)) == same


@pytest.mark.sampled(3)
@pytest.mark.parametrize("spec", ["fattree:4,3", "xgft:2;4,8;1,3", "xgft:3;2,3,2;1,2,3", "xgft:2;2,3;2,2"])
def test_wsr_pair_by_pair(spec: str) -> None:
    """By the words of the paper: the path of least accumulated weight, whose links then weigh one more."""
    tree = obliv.topology(spec)
    all_paths, wsr = obliv.OMRMN(tree), obliv.WSR(tree)
    weight = np.zeros(tree.channels, int)
    for s, d in product(range(tree.below[-1]), repeat=2):
        if s != d:
            paths = [list(channels) for channels, _ in all_paths.paths(s, d)]
            best = min(paths, key=lambda path: int(weight[path].sum()))
            weight[best] += 1
            assert [list(channels) for channels, _ in wsr.paths(s, d)] == [best]


@pytest.mark.parametrize("spec", ["fattree:4,3", "xgft:2;4,8;1,3"])
def test_wsr_with_random_ties(spec: str) -> None:
    """Each path has the least accumulated weight; which of several is taken differs, and follows the seed."""
    tree = obliv.topology(spec)
    all_paths, one, other = obliv.OMRMN(tree), *(obliv.WSR(tree, "random", seed) for seed in (1, 2))
    weight = np.zeros(tree.channels, int)
    chosen = set()
    for s, d in product(range(tree.below[-1]), repeat=2):
        if s != d:
            paths = [list(channels) for channels, _ in all_paths.paths(s, d)]
            sums = [int(weight[path].sum()) for path in paths]
            ((path, _),) = one.paths(s, d)
            at = paths.index(list(path))
            assert sums[at] == min(sums)
            chosen.add(sums[:at].count(min(sums)))
            weight[list(path)] += 1
    assert {0, 1, 2} <= chosen
    pairs = np.nonzero(~np.eye(tree.below[-1], dtype=bool))
    assert np.array_equal(one.ways(*pairs), obliv.routing("wsr:ties=random,seed=1", tree).ways(*pairs))
    assert not np.array_equal(one.ways(*pairs), other.ways(*pairs))


@pytest.mark.parametrize(("m", "ratio"), [(6, 9), (8, 16)])
def test_the_ratio_of_wsr_depends_on_its_ties(m: int, ratio: int) -> None:
    tree = obliv.fattree(m, 3)
    assert obliv.ratio(obliv.routing("wsr", tree)).ratio == m - 1
    assert obliv.ratio(obliv.routing("wsr:ties=random,seed=5", tree)).ratio == ratio


@pytest.mark.parametrize("spec", ["wsr:ties=first", "wsr:seed=1", "wsr:ties=random,seed=a"])
def test_wrong_ties(spec: str) -> None:
    with pytest.raises(obliv.InputError, match=r"ties|seed"):
        obliv.routing(spec, obliv.fattree(4, 2))


def test_wsr_that_would_take_too_long(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ratio", "xgft:3;24,24,24;1,24,24", "wsr"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "takes too long" in err
    large = obliv.WSR(obliv.fattree(20, 4))
    assert not large.own_rule
    assert "D-mod-k stands in" in large.notes[0]


# OSRM2.


def test_of_equal_grids_the_one_with_the_fewest_addresses() -> None:
    for hosts, roots in product(range(1, 41), range(1, 41)):
        a, b = best_grid(hosts, roots)
        assert 1 <= a * b <= roots
        best = max(ceil(hosts / a), ceil(hosts / b))
        assert all(max(ceil(hosts / c), ceil(hosts / (roots // c))) > best for c in range(2, a))
        assert all(max(ceil(hosts / c), ceil(hosts / (roots // c))) >= best for c in range(1, roots + 1))
    assert [best_grid(m // 2, m // 2)[0] for m in (4, 6, 8, 16, 24, 36)] == [2, 2, 2, 2, 3, 4]


# OSRM2 by covers.


@pytest.mark.sampled(4)
@pytest.mark.parametrize("m", range(4, 50, 2))
def test_covers_are_optimal(m: int) -> None:
    k = m // 2
    result = obliv.ratio(obliv.routing("osrm2-c", obliv.fattree(m, 2)))
    assert result.ratio == result.lower_bound == root_of(k)
    assert result.optimal


@pytest.mark.sampled(4)
@pytest.mark.parametrize("k", [*range(2, 37), 64, 65])
def test_every_root_has_few_sources_and_destinations(k: int) -> None:
    """Counted pair by pair, for every number of LIDs."""
    place = np.arange(k)
    for lids in range(1, k + 1):
        root = cover_root(place[:, None], place, k, lids)
        assert root.shape == (k, k)
        assert ((root >= 0) & (root < k)).all()
        for i in range(k):
            sources, destinations = np.nonzero(root == i)
            assert len(set(sources.tolist())) == ceil(k / lids)
            assert len(set(destinations.tolist())) == lids
        assert {len(set(column)) for column in root.T.tolist()} == {lids}  # roots of a leaf to one destination
    assert ceil(k / fewest_lids(k)) <= root_of(k) < ceil(k / (fewest_lids(k) - 1)) if fewest_lids(k) > 1 else k == 2
    assert fewest_lids(k) in (root_of(k) - 1, root_of(k))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("m", range(50, 74, 2))
def test_links_of_larger_trees_have_few_sources_and_destinations(m: int) -> None:
    """By the channels of the paths from one leaf, and to one: the others look the same."""
    tree, k = obliv.fattree(m, 2), m // 2
    routing = obliv.routing("osrm2-c", tree)
    host, leaf = np.arange(m * k), np.arange(k)
    for source, destination, end in ((leaf[:, None], host[None, k:], 0), (host[k:, None], leaf[None, :], 1)):
        way = routing.ways(source, destination)[..., 0]
        for root in range(k):
            assert len(set(np.nonzero(way == root)[end].tolist())) <= root_of(k)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("m", [6, 10, 14, 16])
def test_covers_are_certified(m: int) -> None:
    result = obliv.ratio(obliv.routing("osrm2-c", obliv.fattree(m, 2)), certificate=True)
    assert result.ratio == root_of(m // 2)
    assert obliv.verify(result).proved


@pytest.mark.parametrize("m", [6, 8, 14, 20])
def test_covers_with_so_many_lids(m: int) -> None:
    """What the bound on LIDs says, as far as more of them help; with one it is D-mod-k."""
    tree, k = obliv.fattree(m, 2), m // 2
    for lids in range(1, k + 1):
        routing = obliv.routing(f"osrm2-c:lids={lids}", tree)
        assert obliv.ratio(routing).ratio == max(lids, ceil(k / lids))
        assert max(lids, ceil(k / lids)) == with_lids(m, lids) or lids > root_of(k)
    host = np.arange(m * k)
    one = obliv.OSRM2C(tree, 1)
    assert np.array_equal(one.ways(host[:, None], host), obliv.DModK(tree).ways(host[:, None], host))
    assert one.spec == "osrm2-c:lids=1"
    assert obliv.up_ports(one)[0].shape == (m, m * k)


@pytest.mark.parametrize(
    ("topology", "spec", "word"),
    [
        ("fattree:8,3", "osrm2-c", "take osrm3"),
        ("sub-eft2:8,4", "osrm2-c", "take osrm2"),
        ("xgft:2;4,8;1,5", "osrm2-c", "take osrm2"),
        ("mesh:4x4", "osrm2-c", "use fattree"),
        ("fattree:8,2", "osrm2-c:0", "1 to 4 LIDs"),
        ("fattree:8,2", "osrm2-c:lids=5", "1 to 4 LIDs"),
    ],
)
def test_covers_elsewhere(topology: str, spec: str, word: str) -> None:
    with pytest.raises(obliv.RoutingError, match="osrm2-c") as caught:
        obliv.routing(spec, obliv.topology(topology))
    assert word in line_of(str(caught.value))


# Rules of one's own.


def test_a_rule_of_ones_own_needs_no_constructor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class Lowest(obliv.TreeRouting):
        def ways(self, source: Any, destination: Any) -> Any:
            return np.zeros((*np.broadcast(source, destination).shape, 1), int)

    assert obliv.ratio(Lowest(obliv.fattree(4, 2))).ratio == 2
    with pytest.raises(obliv.RoutingError, match="Lowest routes on fat trees"):
        Lowest(obliv.mesh(3, 3))
    (tmp_path / "lowest.py").write_text(
        "import numpy as np, obliv\n"
        "@obliv.register_routing('lowest')\n"
        "class Lowest(obliv.TreeRouting):\n"
        "    def ways(self, source, destination):\n"
        "        return np.zeros((*np.broadcast(source, destination).shape, 1), int)\n"
    )
    assert main(["ratio", "fattree:4,2", "lowest", "--import", str(tmp_path / "lowest.py")]) == 0
    assert "ratio: lowest on fattree:4,2" in capsys.readouterr().out


# Where the bound on single paths holds.


class Detour(obliv.Routing):
    """Single paths, some of them down to a host's leaf and up again."""

    def paths(self, source: int, destination: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        tree = self.topology
        direct = obliv.routing("dmodk", tree)
        between = (source + destination) % len(tree.terminals)
        half = tree.children[0]
        if source // half != destination // half and between // half not in (source // half, destination // half):
            ((there, _),) = direct.paths(source, between)
            ((on, _),) = direct.paths(between, destination)
            yield (*there[:-1], *on[1:]), Fraction(1)
        elif source != destination:
            yield from direct.paths(source, destination)


def test_the_bound_is_for_paths_that_climb_and_come_down() -> None:
    tree = obliv.fattree(4, 2)
    result = obliv.ratio(Detour(tree, "detour"))
    assert result.lower_bound is None
    assert not result.optimal
    assert "not all paths of this routing are shortest" in result.lower_bound_source
    for name in ("shortest", "updown", "dmodk"):
        assert obliv.ratio(obliv.routing(name, obliv.topology("fattree:4,2"))).lower_bound in (2, None)
    assert obliv.ratio(obliv.routing("shortest", tree)).lower_bound == 2
    assert obliv.ratio(obliv.routing("table:" + str(EXAMPLE), obliv.fattree(6, 2))).lower_bound == 2


# What the ratio takes and what the check of a claim takes.


@pytest.mark.parametrize("step", [23, pytest.param(1, marks=pytest.mark.nightly)])
def test_every_ratio_can_be_checked(step: int) -> None:
    """Trees of two and three levels: refused with one line, or proved."""
    shapes = [
        (children, (1, *parents))
        for levels in (1, 2, 3)
        for children in product((1, 2, 3), repeat=levels)
        for parents in product((1, 2), repeat=levels - 1)
    ]
    shapes += [((4, 1), (1, 1)), ((4, 1), (1, 4))]
    taken = 0
    for children, parents in shapes[::step]:
        tree = obliv.xgft(children, parents)
        if len(tree.terminals) == 1:
            continue
        try:
            result = obliv.ratio(obliv.routing("dmodk", tree), certificate=True)
        except obliv.InputError as error:
            line_of(str(error))
            continue
        assert obliv.verify(result).proved, tree.spec
        taken += 1
    assert taken > 30 // step


def test_narrow_levels_above_all_hosts() -> None:
    with pytest.raises(obliv.InputError, match=r"leave them out: xgft:1;4;1$"):
        tree_ratio(obliv.routing("dmodk", obliv.topology("xgft:2;4,1;1,1")))
    assert obliv.ratio(obliv.routing("dmodk", obliv.topology("xgft:1;4;1"))).ratio == 1
    assert obliv.ratio(obliv.routing("dmodk", obliv.topology("xgft:2;4,1;1,4"))).ratio == 1


@pytest.mark.sampled(24)
@pytest.mark.parametrize("tree", ["fattree:4,2", "fattree:4,3", "eft2:8,3", "xgft:2;3,4;2,3", "xgft:3;2,1,3;1,2,2"])
@pytest.mark.parametrize("word", ["dmodk", "hash:seed=3", "omrmn", "kpath:2,select=random", "1/3*dmodk+2/3*omrmn"])
def test_path_lengths_are_those_of_the_paths(tree: str, word: str) -> None:
    routing = obliv.routing(word, obliv.topology(tree))
    lengths: dict[int, Fraction] = {}
    terminals = routing.topology.terminals.tolist()
    for source, destination in product(terminals, terminals):
        for channels, chance in routing.paths(source, destination):
            lengths[len(channels)] = lengths.get(len(channels), Fraction(0)) + chance
    assert routing.path_lengths(silent) == lengths
    assert obliv.locality(routing).hops_over_minimal == 1


def test_paths_of_its_own_are_listed_for_their_lengths() -> None:
    class ByTheRoots(obliv.TreeRouting):
        """Between hosts at one leaf by a root all the same."""

        def paths(self, source: int, destination: int) -> Iterator[Any]:
            if source != destination:
                yield way_channels(self.topology, source, destination, 2, 0), Fraction(1)

    routing = ByTheRoots(obliv.fattree(4, 2), "by-the-roots")
    assert routing.path_lengths(silent) == {0: 8, 4: 56}
