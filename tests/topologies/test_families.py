"""Families of networks against the formulas of their papers, other programs' generators and known worst cases."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

import obliv
from obliv.bufferless.leveled.base import Leveled
from obliv.loads.mixed import TranslatedLoads, translation_group
from obliv.testing import check_topology
from obliv.topologies.cartesian import terminal_map

ARRANGEMENTS = ["absolute", "relative", "palm-tree", "circulant"]
SMALL = [
    "cmesh:2x2,c=1",
    "cmesh:3x2,c=3",
    "cmesh:5,c=2",
    "cmesh:2x3x2,c=1",
    "dragonfly:p=1,a=2,h=1",
    "dragonfly:p=0,a=4,h=2",
    "dragonfly:p=1,a=3,h=2,g=4",
    "dragonfly:p=2,a=1,h=5,g=3",
    *[f"dragonfly:p=1,a=2,h=2,arrangement={each}" for each in ARRANGEMENTS[1:]],
    *[f"dragonfly:p=1,a=3,h=3,g=6,arrangement={each}" for each in ARRANGEMENTS[1:]],
    "megafly:p=2,leaves=2,spines=3,h=1",
    "megafly:p=1,leaves=3,spines=2,h=2,arrangement=relative",
    "megafly:p=1,leaves=2,spines=2,h=2,g=3,arrangement=circulant",
    "rail:rails=2,nodes=4,leaf=2,spines=2",
    "rail:rails=3,nodes=5,leaf=2,spines=1,links=2",
    "rail:rails=1,nodes=3,leaf=4,spines=0",
    "twisted-torus:4x2,twist=2",
    "twisted-torus:3x4,twist=1",
    "twisted-torus:2x2,twist=1",
    "slimfly:3",
    "slimfly:4",
    "slimfly:3,p=2",
    "debruijn:d=2,n=4",
    "debruijn:d=3,n=2",
    "debruijn:d=4,n=1",
    "kautz:d=2,n=3",
    "kautz:d=3,n=2",
    "kautz:d=2,n=1",
    "circulant:12,1x3x6",
    "circulant:13,1x5",
    "circulant:9,2x3",
    "circulant:2,1",
]
SMALLER = [
    "cmesh:3x2,c=2",
    "dragonfly:p=1,a=2,h=1",
    "slimfly:3",
    "debruijn:d=2,n=4",
    "kautz:d=2,n=3",
    "circulant:13,1x5",
]
LARGER = [
    "cmesh:4x4,c=4",
    "dragonfly:p=2,a=4,h=2",
    *[f"dragonfly:p=2,a=4,h=2,arrangement={each}" for each in ARRANGEMENTS[1:]],
    "dragonfly:p=1,a=4,h=4,g=9,arrangement=circulant",
    "slimfly:5",
    "slimfly:7",
    "slimfly:8",
    "slimfly:9",
    "slimfly:5,p=2",
    "debruijn:d=2,n=7",
    "kautz:d=3,n=4",
    "circulant:32,1x7x16",
]


def distances(topology: Any) -> Any:
    links = np.ones(topology.channels), (topology.tail, topology.head)
    return shortest_path(csr_array(links, shape=(topology.nodes, topology.nodes)), unweighted=True)


def between_routers(topology: Any) -> Any:
    hosts = len(topology.terminals) if len(topology.terminals) < topology.nodes else 0
    return distances(topology)[hosts:, hosts:]


def links(topology: Any) -> Counter[tuple[int, int]]:
    return Counter(zip(topology.tail.tolist(), topology.head.tolist(), strict=True))


def graph(topology: Any) -> Any:
    return nx.DiGraph(list(links(topology)))


def degrees(topology: Any) -> list[int]:
    """Out-degrees, which are the in-degrees as well."""
    out = np.bincount(topology.tail, minlength=topology.nodes)
    assert (out == np.bincount(topology.head, minlength=topology.nodes)).all()
    return out.tolist()


@pytest.mark.parametrize("spec", SMALL + LARGER)
def test_every_family_keeps_the_rules_of_topologies(spec: str) -> None:
    topology = obliv.topology(spec)
    check_topology(topology)
    assert topology.spec == spec
    assert (topology.tail != topology.head).all()
    assert topology.terminals.tolist() == list(range(len(topology.terminals)))
    names = [topology.name_of(node) for node in range(topology.nodes)]
    assert [topology.node(name) for name in names] == list(range(topology.nodes))
    assert len(np.unique(topology.positions.round(6), axis=0)) == topology.nodes
    assert np.isfinite(topology.positions).all()
    for g in topology.generators:
        assert g.dtype == np.int32
        assert terminal_map(topology, g) is not None
        assert not np.array_equal(g, np.arange(topology.nodes))
    if topology.translations:
        assert translation_group(topology) is not None


@pytest.mark.sampled(16)
@pytest.mark.parametrize("routing", ["shortest", "ecmp", "valiant"])
@pytest.mark.parametrize("spec", SMALL)
def test_worst_cases_are_proved_and_the_same_without_symmetry(spec: str, routing: str) -> None:
    way = obliv.routing(routing, obliv.topology(spec))
    result = obliv.worst_case(way, certificate=True)
    assert obliv.verify(result).proved
    assert obliv.worst_case(way, symmetry="off").channel_load == result.channel_load


@pytest.mark.parametrize("spec", [*SMALLER, *(pytest.param(spec, marks=pytest.mark.nightly) for spec in LARGER)])
def test_symmetry_changes_no_worst_case(spec: str) -> None:
    way = obliv.routing("ecmp", obliv.topology(spec))
    with_it, without = (obliv.worst_case(way, symmetry=each) for each in ("auto", "off"))
    assert with_it.channel_load == without.channel_load


@pytest.mark.parametrize(
    ("spec", "count"),
    [
        ("circulant:13,1x5", 1),
        *(
            pytest.param(*case, marks=pytest.mark.nightly)
            for case in (
                ("dragonfly:p=2,a=4,h=2,arrangement=relative", 14),  # of 324
                ("slimfly:5", 2),  # of 350: inside a group, and across
                ("slimfly:5,p=2", 4),
                ("cmesh:4x4,c=4", 12),  # of 176
            )
        ),
    ],
)
def test_symmetries_leave_few_channels(spec: str, count: int) -> None:
    way = obliv.routing("ecmp", obliv.topology(spec))
    assert obliv.worst_case(way).focus_channels <= count


def test_claims_of_new_families_stand_on_their_spec(tmp_path: Path) -> None:
    for spec in ("slimfly:3,p=1", "dragonfly:p=1,a=2,h=1,arrangement=relative", "kautz:d=2,n=2"):
        claim = tmp_path / "claim.json"
        obliv.worst_case(obliv.routing("ecmp", obliv.topology(spec)), certificate=True).save(claim)
        assert obliv.verify(claim).proved


# concentrated mesh


@pytest.mark.parametrize(("radices", "c"), [((4, 4), 4), ((3, 2), 1), ((5,), 3), ((2, 3, 2), 2)])
def test_cmesh_is_a_mesh_with_hosts(radices: tuple[int, ...], c: int) -> None:
    topology, mesh = obliv.cmesh(*radices, c=c), obliv.mesh(*radices)
    hosts = c * mesh.nodes
    assert len(topology.terminals) == hosts
    assert topology.nodes == hosts + mesh.nodes
    assert topology.channels == mesh.channels + 2 * hosts
    wanted = nx.grid_graph(radices)
    number = {mesh.coordinates(v)[::-1] if len(radices) > 1 else v: v for v in range(mesh.nodes)}
    ours = {(int(a) - hosts, int(b) - hosts) for a, b in links(topology) if a >= hosts and b >= hosts}
    assert ours == {(number[u], number[v]) for u, v in wanted.to_directed().edges}
    for host in range(hosts):
        assert topology.head[topology.tail == host].tolist() == [hosts + host // c]
        assert topology.tail[topology.head == host].tolist() == [hosts + host // c]


@pytest.mark.nightly
@pytest.mark.parametrize(("radices", "c"), [((4, 4), 2), ((3, 3), 4), ((4, 2), 3), ((2, 2), 1)])
def test_cmesh_has_c_times_the_loads_of_its_mesh(radices: tuple[int, ...], c: int) -> None:
    """A worst permutation of blocks of c alike terminals is c times one of the blocks (Birkhoff)."""
    topology, mesh = obliv.cmesh(*radices, c=c), obliv.mesh(*radices)
    for ours, theirs, host in (("shortest", "dor", 1), ("ecmp", "ecmp", 1), ("valiant", "valiant", 2)):
        load = obliv.worst_case(obliv.routing(ours, topology)).channel_load
        wanted = c * obliv.worst_case(obliv.routing(theirs, mesh)).channel_load
        assert load == wanted if wanted >= host else wanted <= load <= host


# dragonfly


@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
@pytest.mark.parametrize(("p", "a", "h", "g"), [(2, 4, 2, 9), (1, 2, 1, 3), (3, 6, 3, 19), (1, 4, 2, 5), (2, 3, 2, 4)])
def test_dragonfly_has_the_sizes_of_the_paper(p: int, a: int, h: int, g: int, arrangement: str) -> None:
    topology = obliv.dragonfly(p, a, h, g, arrangement)
    hosts = p * a * g
    assert len(topology.terminals) == hosts
    assert topology.nodes == hosts + a * g
    assert not topology.notes
    assert degrees(topology) == [1] * hosts + [p + a - 1 + h] * (a * g)
    group = (np.arange(topology.nodes) - hosts) // a
    joined = Counter(
        (int(group[s]), int(group[d]))
        for s, d in links(topology).elements()
        if s >= hosts and d >= hosts and group[s] != group[d]
    )
    assert joined == dict.fromkeys(itertools.permutations(range(g), 2), a * h // (g - 1))
    far = between_routers(topology).max()
    assert far == 3 if g == a * h + 1 and a > 1 else far <= 3
    there = links(topology)
    assert all(there[d, s] == count for (s, d), count in there.items())


def test_ports_of_the_dragonfly_lead_where_they_should() -> None:
    """Five groups of two routers with two global ports each."""
    targets = {  # of the ports of group 3, in order
        "absolute": [0, 1, 2, 4],
        "relative": [4, 0, 1, 2],
        "palm-tree": [2, 1, 0, 4],
        "circulant": [4, 2, 0, 1],
    }
    for arrangement, wanted in targets.items():
        topology = obliv.dragonfly(0, 2, 2, arrangement=arrangement)
        first = topology.first_channel
        ports = [int(topology.head[c]) // 2 for r in (6, 7) for c in range(first[r] + 1, first[r + 1])]
        assert ports == wanted


def test_the_palm_tree_is_the_relative_arrangement_mirrored() -> None:
    for g in (9, 5, 3):
        one, two = (obliv.dragonfly(0, 4, 2, g, each) for each in ("relative", "palm-tree"))
        mirror = -(np.arange(4 * g) // 4) % g * 4 + np.arange(4 * g) % 4
        assert links(two) == Counter({(int(mirror[s]), int(mirror[d])): n for (s, d), n in links(one).items()})


def test_ports_that_cannot_serve_all_groups_alike_stay_unused() -> None:
    topology = obliv.dragonfly(1, 4, 2, 4)
    assert topology.notes == ("2 of the 8 global ports of every group stay unused, 6 serve the other 3 groups equally",)
    assert sum(degrees(topology)) == 16 * 2 + 16 * 3 + 4 * 6
    assert between_routers(topology).max() <= 3


class LocalGlobalLocal(obliv.HopRouting):
    """The minimal routing of dragonflies: by a link that joins the two groups."""

    def __init__(self, topology: Any) -> None:
        super().__init__(topology, "local-global-local")
        self.group = [name.partition(",")[0] for name in topology.labels]
        self.near = [topology.head[topology.tail == node].tolist() for node in range(topology.nodes)]

    def next_hops(self, node: int, destination: int) -> list[int]:
        group, near, first = self.group, self.near, int(self.topology.first_channel[node])
        if node == destination or len(near[node]) == 1:  # a host
            return [first] * (node != destination)
        if group[node] == group[destination]:
            router = near[destination][0]
            ends = [destination if node == router else router]
        else:
            ends = [v for v in near[node] if group[v] == group[destination]]
            ends = ends or [v for v in near[node] if group[destination] in {group[w] for w in near[v]}]
            ends = [v for v in ends if group[v] in (group[node], group[destination])]
        return [first + k for k, v in enumerate(near[node]) if v in ends]


@pytest.mark.nightly
@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
def test_minimal_routing_puts_a_whole_group_on_one_global_link(arrangement: str, p: int) -> None:
    """Kim et al.: all a·p hosts of a group send to the next one, which one link joins."""
    a, h = 4, 2
    topology = obliv.dragonfly(p, a, h, arrangement=arrangement)
    minimal = LocalGlobalLocal(topology)
    traffic = obliv.traffic(f"shift:{a * p}", topology)
    assert max(minimal.pair_loads().under(traffic)) == a * p
    assert obliv.worst_case(minimal).channel_load == a * p
    for other in ("shortest", "ecmp"):  # two global links in a row can be shorter, and a link then serves more groups
        assert obliv.worst_case(obliv.routing(other, topology)).channel_load >= a * p
    assert obliv.worst_case(obliv.routing("valiant", topology)).channel_load < a * p / (1 + p)


# Slim Fly


@pytest.mark.parametrize(("q", "delta"), [(3, -1), (4, 0), (5, 1), (7, -1), (8, 0), (9, 1), (11, -1), (13, 1), (16, 0)])
def test_slimfly_has_the_sizes_of_the_paper(q: int, delta: int) -> None:
    topology = obliv.slimfly(q)
    degree = (3 * q - delta) // 2
    assert topology.nodes == len(topology.terminals) == 2 * q * q
    assert degrees(topology) == [degree] * (2 * q * q)
    assert set(links(topology).values()) == {1}
    there = links(topology)
    assert all((d, s) in there for s, d in there)
    if q <= 9:
        assert distances(topology).max() == 2
    else:
        near = np.zeros((topology.nodes, topology.nodes), np.float32)
        near[topology.tail, topology.head] = 1
        assert (near + near @ near > 0).all()
    moore = 1 + degree**2
    assert topology.nodes <= moore
    assert (topology.nodes == moore) == (q == 5)
    assert topology.nodes / moore > (Fraction(8, 9) if delta == 1 else Fraction(2, 3))  # in the limit 8/9


@pytest.mark.nightly
def test_slimfly_5_is_the_graph_of_hoffman_and_singleton() -> None:
    topology = obliv.slimfly(5)
    ours = graph(topology).to_undirected()
    assert nx.is_isomorphic(ours, nx.hoffman_singleton_graph())
    assert nx.is_strongly_regular(ours)
    assert nx.girth(ours) == 5


def test_slimfly_of_a_prime_power_needs_its_field() -> None:
    """Counting modulo 9 instead of in the field of 9 elements is a well-known mistake: the diameter becomes 3."""
    topology = obliv.slimfly(9)
    assert topology.nodes / (1 + 13**2) == 162 / 170
    assert distances(topology).max() == 2


@pytest.mark.nightly
@pytest.mark.parametrize("p", [1, pytest.param(4, marks=pytest.mark.nightly)])
def test_minimal_routing_on_slimfly_has_two_routers_share_a_link(p: int) -> None:
    """Besta and Hoefler: u sends beyond v while the neighbours of u send to v over the same link."""
    for q in (3, 4, 5):
        topology = obliv.slimfly(q, p)
        for routing in ("shortest", "ecmp"):
            load = obliv.worst_case(obliv.routing(routing, topology)).channel_load
            assert load == 2 * p if q == 5 else load <= 2 * p
    loads = obliv.routing("shortest", topology).pair_loads()
    # without hosts, the 13 pairs of a link: from u to v and its 6 other neighbours, from those of u to v
    assert len(obliv.routing("shortest", obliv.slimfly(5)).pair_loads().weights(0).spread()[0]) == 13
    assert loads.denominator == 1
    valiant = obliv.worst_case(obliv.routing("valiant", topology)).channel_load
    assert valiant == max(Fraction(2 * 13 * p, 50), 2 - Fraction(2, 50 * p))  # of a host: out, and on


def test_slimfly_with_hosts() -> None:
    topology = obliv.slimfly(5, 4)
    assert degrees(topology) == [1] * 200 + [7 + 4] * 50
    assert between_routers(topology).max() == 2
    assert topology.name_of(0) == "(0,0,0).0"
    assert topology.name_of(249) == "(1,4,4)"


# words


@pytest.mark.parametrize(("d", "n"), [(2, 1), (2, 2), (2, 4), (2, 6), (3, 3), (4, 2), (12, 2)])
def test_debruijn_is_what_shifting_makes(d: int, n: int) -> None:
    topology = obliv.debruijn(d, n)
    assert topology.nodes == len(topology.terminals) == d**n
    assert topology.channels == d ** (n + 1) - d
    assert distances(topology).max() == n
    assert topology.notes == (f"{d} self-loops dropped: a packet for its own node needs no channel",)
    words = list(itertools.product(range(d), repeat=n))
    between = "," if d > 10 else ""
    assert topology.labels == tuple(between.join(map(str, word)) for word in words)
    wanted = {(words.index(w), words.index((*w[1:], a))) for w in words for a in range(d)}
    assert set(links(topology)) == {(s, d) for s, d in wanted if s != d}


@pytest.mark.parametrize(("d", "n"), [(2, 1), (2, 2), (2, 3), (2, 5), (3, 3), (4, 2), (10, 2)])
def test_kautz_is_what_shifting_makes(d: int, n: int) -> None:
    topology = obliv.kautz(d, n)
    assert topology.nodes == len(topology.terminals) == d**n + d ** (n - 1)
    assert degrees(topology) == [d] * topology.nodes
    assert distances(topology).max() == n
    words = [w for w in itertools.product(range(d + 1), repeat=n) if all(a != b for a, b in itertools.pairwise(w))]
    between = "," if d > 9 else ""
    assert topology.labels == tuple(between.join(map(str, word)) for word in words)
    wanted = {(words.index(w), words.index((*w[1:], a))) for w in words for a in range(d + 1) if a != w[-1]}
    assert set(links(topology)) == wanted


def test_words_are_paths_of_shorter_ones() -> None:
    """Each is the line digraph of the one before it (Fiol, Yebra and Alegre)."""
    whole = nx.complete_graph(4, nx.DiGraph)
    assert nx.is_isomorphic(nx.line_graph(whole), graph(obliv.kautz(3, 2)))
    assert nx.is_isomorphic(nx.line_graph(nx.line_graph(whole)), graph(obliv.kautz(3, 3)))
    whole.add_edges_from((v, v) for v in range(4))
    result = nx.line_graph(whole)
    result.remove_edges_from(list(nx.selfloop_edges(result)))
    assert nx.is_isomorphic(result, graph(obliv.debruijn(4, 2)))


def test_words_against_igraph() -> None:
    igraph = pytest.importorskip("igraph")
    for ours, theirs in (
        (obliv.kautz(2, 4), igraph.Graph.Kautz(2, 3)),
        (obliv.kautz(3, 3), igraph.Graph.Kautz(3, 2)),
        (obliv.debruijn(2, 5), igraph.Graph.De_Bruijn(2, 5)),
        (obliv.debruijn(3, 3), igraph.Graph.De_Bruijn(3, 3)),
    ):
        mine = igraph.Graph(ours.nodes, list(links(ours)), directed=True)
        assert mine.isomorphic_vf2(theirs.simplify())


@pytest.mark.parametrize("spec", ["kautz:d=2,n=4", "debruijn:d=2,n=4", "debruijn:d=3,n=3"])
def test_shortest_ways_between_words_are_unique(spec: str) -> None:
    topology = obliv.topology(spec)
    one, all_of_them = (obliv.routing(each, topology) for each in ("shortest", "ecmp"))
    assert one.pair_loads().totals().tolist() == all_of_them.pair_loads().totals().tolist()
    assert all_of_them.pair_loads().denominator == 1
    assert obliv.worst_case(one).channel_load == obliv.worst_case(all_of_them).channel_load


def test_kautz_nodes_stand_where_a_channel_multiplies_the_angle() -> None:
    """With v/N turns from the top, channels lead from v to -d·v - e or -d·v + e with e = 1 ... d (Imase and Itoh)."""
    for d, n in ((2, 3), (2, 4), (3, 3)):
        topology = obliv.kautz(d, n)
        assert topology.positions is not None
        x, y = topology.positions.T
        v = np.rint(np.arctan2(x, y) / (2 * np.pi) * topology.nodes).astype(int) % topology.nodes
        assert sorted(v) == list(range(topology.nodes))
        steps = (v[topology.head] + d * v[topology.tail]) * (-1) ** (n - 1) % topology.nodes
        assert set(steps.tolist()) == set(range(1, d + 1))


# circulants


@pytest.mark.parametrize(("n", "jumps"), [(16, (1, 4)), (12, (1, 3, 6)), (9, (2, 3)), (2, (1,)), (6, (3, 2))])
def test_circulant_against_networkx(n: int, jumps: tuple[int, ...]) -> None:
    topology = obliv.circulant(n, *jumps)
    wanted = nx.circulant_graph(n, list(jumps)).to_directed()
    assert links(topology) == Counter(list(wanted.edges))
    loads = obliv.routing("ecmp", topology).pair_loads()
    assert isinstance(loads, TranslatedLoads)


def test_circulants_that_have_other_names() -> None:
    for one, other in (
        ("circulant:7,1", "ring:7"),
        ("circulant:7,1x2x3", "complete:7"),
        ("circulant:4,1x2", "complete:4"),
    ):
        pair = obliv.topology(one), obliv.topology(other)
        assert links(pair[0]) == links(pair[1])
        for routing in ("shortest", "ecmp"):
            loads = [obliv.worst_case(obliv.routing(routing, each)).channel_load for each in pair]
            assert loads[0] == loads[1]


def test_factors_that_keep_the_jumps_are_symmetries() -> None:
    assert len(obliv.circulant(13, 1, 5).generators) == 3  # round, back, and times 5
    assert len(obliv.circulant(16, 1, 4).generators) == 2


# specs and mistakes


@pytest.mark.parametrize(
    ("typed", "spec"),
    [
        ("cmesh:4x4,c=2", "cmesh:4x4,c=2"),
        ("concentrated-mesh:4,4,c=2", "cmesh:4x4,c=2"),
        ("dragonfly:2,4,2", "dragonfly:p=2,a=4,h=2"),
        ("dragonfly:p=2,a=4,h=2,g=9", "dragonfly:p=2,a=4,h=2"),
        ("dragonfly:p=2,a=4,h=2,g=5,arrangement=absolute", "dragonfly:p=2,a=4,h=2,g=5"),
        ("slim-fly:q=5", "slimfly:5"),
        ("slimfly:5,0", "slimfly:5"),
        ("slimfly:5,2", "slimfly:5,p=2"),
        ("de-bruijn:2,4", "debruijn:d=2,n=4"),
        ("kautz:2,3", "kautz:d=2,n=3"),
        ("circulant:16,1,4", "circulant:16,1x4"),
        ("circulant:16,3", "circulant:16,3"),
    ],
)
def test_specs_are_canonical(typed: str, spec: str) -> None:
    assert obliv.topology(typed).spec == spec
    assert obliv.topology(spec).spec == spec


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("cmesh:4x4,c=0", "at least 1 host; .* use mesh:4x4"),
        ("cmesh:4x1,c=2", "every radix must be at least 2"),
        ("cmesh:c=2", "as in cmesh:4x4,c=4"),
        ("cmesh:4x4,4", "c is missing"),  # not a mesh of three dimensions
        ("cmesh:99999x99999,c=4", "are supported"),
        ("dragonfly:p=2,a=4,h=2,g=10", "g can be 2 to 9"),
        ("dragonfly:p=2,a=4,h=2,g=1", "g can be 2 to 9"),
        ("dragonfly:p=2,a=0,h=2", "a >= 1"),
        ("dragonfly:p=-1,a=4,h=2", "p >= 0"),
        ("dragonfly:p=2,a=4,h=2,arrangement=palmtree", "did you mean palm-tree"),
        ("dragonfly:p=99999,a=99999,h=99999", "are supported"),
        ("slimfly:6", "not a prime power; the nearest are 5 and 7"),
        ("slimfly:2", "at least 3"),
        ("slimfly:-5", "at least 3"),
        ("slimfly:5,p=-1", "must not be negative"),
        ("slimfly:100000000000000003", "are supported"),
        ("debruijn:d=1,n=4", "d >= 2"),
        ("debruijn:d=2,n=0", "n >= 1"),
        ("debruijn:d=2,n=999999999999999999", "too many"),
        ("debruijn:d=3,n=20", "are supported"),
        ("kautz:d=1,n=4", "d >= 2"),
        ("kautz:d=999999999999999999,n=99999999999", "too many"),
        ("kautz:d=65536,n=2", "are supported"),
        ("circulant:16", "at least one jump"),
        ("circulant:16,9", "jumps are 1 to n/2"),
        ("circulant:16,0", "jumps are 1 to n/2"),
        ("circulant:16,1x4x1", "appears twice"),
        ("circulant:16,2x4", "2 divides n and all jumps"),
        ("circulant:0,1", "jumps are 1 to n/2"),
        ("circulant:99999999999,1", "are supported"),
    ],
)
def test_mistakes_are_told_in_one_line(spec: str, words: str) -> None:
    with pytest.raises((obliv.TopologyError, obliv.SpecError), match=words) as caught:
        obliv.topology(spec)
    assert "\n" not in str(caught.value)


def test_the_tables_of_the_page_are_right() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/reference/topologies.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+:[^`]+)` \|(.*)$", page, re.MULTILINE)
    assert len(rows) > 10
    for spec, cells in rows:
        topology = obliv.topology(spec)
        if isinstance(topology, Leveled):  # in a table of its own, which gives formulas
            continue
        routers = topology.nodes - len(topology.terminals) or topology.nodes
        assert {topology.channels, routers, len(topology.terminals)} <= set(map(int, re.findall(r"\d+", cells))), spec
