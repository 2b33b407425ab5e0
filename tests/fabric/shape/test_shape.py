"""Fat trees are recognised whatever the numbering, and what breaks them is named."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import strategies
from tests.fabric import damage
from tests.fabric.by_hand import bare_fabric, with_nodes

import obliv
from obliv.fabric.generate import from_topology
from obliv.fabric.model import Fabric
from obliv.fabric.shape import Shape, recognise

TREES = ["fattree:4,2", "fattree:8,2", "fattree:6,3", "fattree:8,3", "fattree:4,4", "xgft:3;4,3,6;1,3,5", "eft2:8,6"]


def ends(fabric: Fabric, slots: list[int]) -> Counter[frozenset[str]]:
    """The names of the nodes at both ends of cables."""
    name = [fabric.nodes.ident[v] for v in fabric.node_of]
    return Counter(frozenset((name[slot], name[fabric.ports.peer[slot]])) for slot in slots)


def named(fabric: Fabric, pairs: tuple[tuple[int, int], ...]) -> Counter[frozenset[str]]:
    return Counter(frozenset((fabric.nodes.ident[a], fabric.nodes.ident[b])) for a, b in pairs)


def require_isomorphic(fabric: Fabric, shape: Shape) -> None:
    """Every cable between placed switches that is not extra joins what the tree joins, by its own numbers."""
    tree = shape.tree
    joined = set(zip(tree.tail.tolist(), tree.head.tolist(), strict=True))
    for slot in damage.cables(fabric):
        if slot in shape.extra or int(fabric.ports.peer[slot]) in shape.extra:
            continue
        a, b = int(fabric.node_of[slot]), int(fabric.node_of[fabric.ports.peer[slot]])
        one, other = (tree.first_node[shape.level[v]] + int(shape.number[v]) for v in (a, b))
        assert (one, other) in joined
    for end, leaf in zip(fabric.endpoints.tolist(), shape.leaf.tolist(), strict=True):
        assert shape.node_of(1, leaf) == fabric.node_of[fabric.ports.peer[end]]


@pytest.mark.parametrize("spec", TREES)
def test_numbers_of_a_tree_are_its_own(spec: str) -> None:
    fabric = from_topology(obliv.topology(spec))
    shape = recognise(fabric)
    assert shape is not None
    assert shape.exact
    assert shape.empty == 0
    assert shape.tree.nodes == len(fabric.nodes)
    for v in fabric.switches.tolist():
        assert shape.tree.first_node[shape.level[v]] + shape.number[v] == v
    hosts = shape.leaf * shape.children[0] + shape.place
    assert hosts.tolist() == list(range(len(fabric.endpoints)))


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("fattree:8,3", "FT(8,3)"),
        ("eft2:8,8", "FT(8,2)"),
        ("eft2:8,6", "EFT2(8,6)"),
        ("xgft:3;4,3,6;1,3,5", "XGFT(3; 4,3,6; 1,3,5)"),
        ("xgft:3;4,4,7;1,4,4", "XGFT(3; 4,4,7; 1,4,4)"),
        ("sub-eft2:8,6", "XGFT(2; 4,6; 1,1)"),
        ("xgft:1;5;1", "one switch with 5 hosts"),
    ],
)
def test_names(spec: str, name: str) -> None:
    shape = recognise(relabel(spec, 1))
    assert shape is not None
    assert shape.name == name
    assert repr(shape) == f"<Shape {name}>"


@pytest.mark.parametrize("spec", ["torus:5x5", "mesh:4x3", "hypercube:4", "dragonfly:2,4,2", "torus:7"])
def test_other_networks_are_no_trees(spec: str) -> None:
    assert recognise(relabel(spec, 2)) is None


def relabel(spec: str, seed: int) -> Fabric:
    return damage.relabelled(from_topology(obliv.topology(spec)), seed)[0]


@strategies.examples(120)
@given(
    spec=st.sampled_from(["fattree:8,2", "fattree:6,3", "fattree:8,3", "xgft:3;4,3,6;1,3,5", "eft2:12,6"]),
    seed=st.integers(0, 10**6),
    count=st.integers(0, 5),
)
def test_cables_taken_away_are_exactly_those_that_are_missing(spec: str, seed: int, count: int) -> None:
    fabric = relabel(spec, seed)
    rng = np.random.default_rng(seed)
    cut = rng.choice(damage.cables(fabric), count, replace=False).tolist()
    damaged = damage.without(fabric, cut)
    shape = recognise(damaged)
    assert shape is not None
    whole = recognise(fabric)
    assert whole is not None
    assert shape.name == whole.name
    assert named(fabric, shape.missing) == ends(fabric, cut)
    assert not shape.extra
    assert not shape.missing_switches
    assert not shape.extra_switches
    require_isomorphic(damaged, shape)


def require_no_more_missing(spec: str, seed: int, count: int) -> None:
    """No more cables are missing than were taken away; they are those, unless many are or a part was cut off."""
    fabric = relabel(spec, seed)
    cables = damage.cables(fabric)
    cut = np.random.default_rng(seed).choice(cables, count, replace=False).tolist()
    shape = recognise(damage.without(fabric, cut))
    whole = recognise(fabric)
    assert shape is not None
    assert whole is not None
    assert len(shape.missing) <= count
    if 10 * count <= len(cables) and not shape.extra_switches:
        assert not shape.missing_switches
        assert shape.name == whole.name
        assert named(fabric, shape.missing) == ends(fabric, cut)
        assert not shape.extra


@pytest.mark.parametrize(
    ("spec", "seed", "count"),
    [
        ("xgft:3;4,3,6;1,3,5", 999, 3),  # a sub-tree in which two switches share one of two parents
        ("fattree:4,3", 113, 2),  # a sub-tree of two parts without a cable between them
    ],
)
def test_a_sub_tree_that_fell_apart_is_one(spec: str, seed: int, count: int) -> None:
    require_no_more_missing(spec, seed, count)


@pytest.mark.nightly
@strategies.examples(3000)
@given(
    spec=st.sampled_from(
        [
            "fattree:4,3",
            "fattree:4,4",
            "fattree:6,3",
            "eft2:8,6",
            "xgft:3;4,3,6;1,3,5",
            "xgft:3;3,3,4;1,2,2",
            "xgft:3;4,3,4;1,3,2",
            "xgft:4;2,2,3,3;1,2,2,2",
        ]
    ),
    seed=st.integers(0, 10**6),
    count=st.integers(0, 5),
)
def test_no_more_cables_are_missing_than_were_taken_away(spec: str, seed: int, count: int) -> None:
    require_no_more_missing(spec, seed, count)


@pytest.mark.nightly
@strategies.examples(60)
@given(
    spec=st.sampled_from(["fattree:8,3", "xgft:3;4,4,6;1,4,5"]),
    seed=st.integers(0, 10**6),
    count=st.integers(1, 2),
)
def test_switches_taken_away_leave_a_hole_each(spec: str, seed: int, count: int) -> None:
    fabric = relabel(spec, seed)
    whole = recognise(fabric)
    assert whole is not None
    gone = np.random.default_rng(seed).choice(fabric.switches, count, replace=False).tolist()
    cut = damage.without(fabric, [slot for v in gone for slot in damage.ports(fabric, v)])
    kinds = tuple("unknown" if v in gone else kind for v, kind in enumerate(fabric.nodes.kind))
    damaged = with_nodes(cut, kind=kinds)
    shape = recognise(damaged)
    assert shape is not None
    assert shape.name == whole.name
    assert sorted(level for level, _ in shape.missing_switches) == sorted(whole.level[v] for v in gone)
    assert not shape.missing
    assert not shape.extra
    require_isomorphic(damaged, shape)


@strategies.examples(60)
@given(spec=st.sampled_from(["fattree:8,2", "fattree:8,3", "xgft:3;5,4,6;1,4,5"]), seed=st.integers(0, 10**6))
def test_two_cables_exchanged_are_named(spec: str, seed: int) -> None:
    fabric = relabel(spec, seed)
    whole = recognise(fabric)
    assert whole is not None
    rng = np.random.default_rng(seed)
    one, other = rng.choice(damage.cables(fabric), 2, replace=False).tolist()
    wrong = damage.recabled(fabric, one, other)
    before, after = ends(fabric, [one, other]), ends(wrong, [one, other])
    if before == after or any(len(pair) == 1 for pair in after):
        return
    there = ends(fabric, damage.cables(fabric))
    shape = recognise(wrong)
    assert shape is not None
    assert shape.name == whole.name
    if any(there[pair] for pair in after):  # it runs beside a cable that is right
        return
    assert named(wrong, shape.missing) == before
    assert ends(wrong, list(shape.extra)) == after
    require_isomorphic(wrong, shape)


@strategies.examples(40)
@given(seed=st.integers(0, 10**6), count=st.integers(1, 40), stray=st.integers(0, 1))
def test_hosts_may_lack_and_stand_at_roots(seed: int, count: int, stray: int) -> None:
    fabric = relabel("fattree:8,3", seed)
    rng = np.random.default_rng(seed)
    cut = rng.choice(damage.cables(fabric, hosts=True), count, replace=False).tolist()
    damaged = damage.without(fabric, cut)
    whole = recognise(fabric)
    assert whole is not None
    if stray:  # one of them goes to a root instead, where another cable is taken away
        root = int(rng.choice(np.flatnonzero(whole.level == 3)))
        port = damage.ports(damaged, root)[0]
        damaged = damage.without(damaged, [port])
        host = next(
            slot for slot in (cut[0], int(fabric.ports.peer[cut[0]])) if fabric.nodes.kind[fabric.node_of[slot]] == "ca"
        )
        peer = damaged.ports.peer.copy()
        peer[host], peer[port] = port, host
        damaged = damaged.with_ports(peer=peer)
    shape = recognise(damaged)
    assert shape is not None
    assert shape.name == "FT(8,3)"
    assert shape.empty == count
    assert len(shape.missing) == stray
    assert not shape.extra
    assert not shape.extra_switches
    assert (shape.leaf < 0).sum() == stray
    if not stray:
        require_isomorphic(damaged, shape)


def test_a_leaf_without_hosts_keeps_its_place() -> None:
    for spec in ("fattree:8,2", "fattree:8,3"):
        fabric = relabel(spec, 5)
        whole = recognise(fabric)
        assert whole is not None
        leaf = int(np.flatnonzero(whole.level == 1)[3])
        hosts = [
            s for s in damage.ports(fabric, leaf) if fabric.nodes.kind[fabric.node_of[fabric.ports.peer[s]]] == "ca"
        ]
        shape = recognise(damage.without(fabric, hosts))
        assert shape is not None
        assert shape.exact
        assert shape.level[leaf] == 1
        assert shape.empty == 4


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("spec", "left"), [("fattree:8,3", 1), ("fattree:8,3", 0), ("fattree:4,4", 1)])
def test_a_sub_tree_with_few_hosts_or_none_keeps_its_place(spec: str, left: int) -> None:
    topology = obliv.topology(spec)
    fabric = from_topology(topology)
    k = topology.children[0]
    size = topology.below[-2]  # of a sub-tree below the roots
    gone = [slot for at, slot in enumerate(fabric.endpoints[:size].tolist()) if at % k >= left]
    for seed in range(5):
        few, _ = damage.relabelled(damage.without(fabric, gone), seed)
        shape = recognise(few)
        assert shape is not None
        assert shape.exact
        assert shape.children == topology.children
        assert shape.empty == len(gone)


def test_a_switch_that_lost_all_cables_upwards_or_downwards_keeps_its_level() -> None:
    fabric = relabel("fattree:8,3", 6)
    whole = recognise(fabric)
    assert whole is not None
    for level in (1, 2, 3):
        v = int(np.flatnonzero(whole.level == level)[2])
        for other in (level - 1, level + 1):
            near = damage.ports(fabric, v)
            cut = [s for s in near if whole.level[fabric.node_of[fabric.ports.peer[s]]] == other]
            if not cut or other == 0:
                continue
            shape = recognise(damage.without(fabric, cut))
            assert shape is not None
            if level < 3:
                assert shape.level[v] == level
            assert shape.name == "FT(8,3)"
            assert len(shape.missing) == (len(cut) if level < 3 else len(shape.missing))


def test_a_switch_with_a_single_cable_keeps_its_level() -> None:
    fabric = relabel("fattree:4,4", 6)
    whole = recognise(fabric)
    assert whole is not None
    for level in (2, 3):
        v = int(np.flatnonzero(whole.level == level)[3])
        near = damage.ports(fabric, v)
        for kept in near:
            shape = recognise(damage.without(fabric, [slot for slot in near if slot != kept]))
            assert shape is not None
            assert shape.name == "FT(4,4)"
            assert shape.level[v] == level
            assert len(shape.missing) == 3


def test_parallel_cables() -> None:
    """Two cables from every leaf to every root, but one pair has one and another has three."""
    leaves, roots, hosts = 6, 4, 8
    size = hosts + 2 * roots + 2
    first = np.cumsum([0] + [2] * (leaves * hosts) + [size] * leaves + [2 * leaves + 2] * roots)
    peer = np.full(first[-1], -1)

    def join(a: int, b: int) -> None:
        peer[a], peer[b] = b, a

    for leaf in range(leaves):
        base = int(first[leaves * hosts + leaf])
        for host in range(hosts):
            join(int(first[leaf * hosts + host]) + 1, base + 1 + host)
        for root in range(roots):
            for twin in range(2):
                port = int(first[leaves * hosts + leaves + root]) + 1 + 2 * leaf + twin
                if (leaf, root, twin) != (2, 1, 1):
                    join(base + 1 + hosts + 2 * root + twin, port)
    third = (int(first[leaves * hosts]) + size - 1, int(first[leaves * hosts + leaves]) + 2 * leaves + 1)
    join(*third)
    fabric = bare_fabric(("ca",) * (leaves * hosts) + ("switch",) * (leaves + roots), first, peer)
    shape = recognise(fabric)
    assert shape is not None
    assert shape.name == "XGFT(2; 8,6; 1,4) with 2 cables between switches of levels 1 and 2"
    assert shape.cables == (1, 2)
    assert shape.missing == ((leaves * hosts + 2, leaves * hosts + leaves + 1),)
    assert shape.extra == (third[0],)


def test_an_empty_or_cut_off_fabric_is_no_tree() -> None:
    fabric = from_topology(obliv.topology("fattree:4,2"))
    assert recognise(damage.without(fabric, damage.cables(fabric, hosts=True))) is None
    assert recognise(damage.without(fabric, damage.cables(fabric))) is None


@pytest.mark.nightly
def test_11664_hosts_take_seconds() -> None:
    fabric = relabel("fattree:36,3", 1)
    cut = np.random.default_rng(1).choice(damage.cables(fabric), 100, replace=False).tolist()
    shape = recognise(damage.without(fabric, cut))
    assert shape is not None
    assert named(fabric, shape.missing) == ends(fabric, cut)
