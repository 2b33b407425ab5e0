"""Failures that symmetries make alike are solved once, and no answer depends on it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.fabric.damage import relabelled
from tests.fabric.outages import fabrics

import obliv
from obliv.fabric.checker.hops import next_hops_of
from obliv.fabric.generate import from_routing, from_topology
from obliv.fabric.outages import alike
from obliv.fabric.outages.alike import keeps, tree_shifts
from obliv.fabric.outages.every import failures
from obliv.fabric.routes.routing import FabricRouting
from obliv.topologies.cartesian import channel_map


def with_and_without(routing: FabricRouting, of: str, offset: str = "0") -> int | None:
    """Compare all rows, channels included, and return the number of kinds."""
    found, alone = (failures(routing, of=of, offset=offset, symmetry=symmetry) for symmetry in ("search", "off"))
    assert (found.failures, found.before) == (alone.failures, alone.before)
    assert alone.orbits is None
    return found.orbits


@pytest.mark.parametrize("seed", [0, 2, 4])
def test_symmetries_change_no_answer(seed: int) -> None:
    routing, of, _, offset = fabrics.drawn(seed)
    with_and_without(routing, of, offset)


@pytest.mark.nightly
def test_symmetries_change_no_answer_on_many_fabrics() -> None:
    sought = 0
    for seed in range(10, 310):
        routing, of, _, offset = fabrics.drawn(seed)
        sought += with_and_without(routing, of, offset) is not None
    assert sought > 100


@pytest.mark.parametrize(
    ("spec", "name", "of", "kinds"),
    [
        ("fattree:4,2", "dmodk", "cables", 1),
        ("fattree:4,2", "dmodk", "switches", 2),
        ("fattree:4,3", "dmodk", "cables", 2),  # at leaves and at cores
        ("fattree:4,3", "osrm3-d", "cables", 2),
        ("fattree:4,3", "osrm3-d", "switches", 3),
        ("xgft:2;3,4;1,3", "dmodk", "cables", 1),
        ("torus:3x3", "dor", "cables", 2),  # x and y
        ("torus:3x3", "dor", "switches", 1),
        ("hyperx:3x3", "dor", "cables", 2),
    ],
)
def test_kinds_of_failures(spec: str, name: str, of: str, kinds: int) -> None:
    assert with_and_without(from_routing(obliv.routing(name, obliv.topology(spec))), of) == kinds


def test_sums_of_digits_are_sought_on_large_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alike, "_LARGEST", 0)
    tree = from_routing(obliv.routing("osrm3-d", obliv.topology("fattree:4,3")))
    assert with_and_without(tree, "cables") == 2
    assert with_and_without(from_routing(obliv.routing("dor", obliv.topology("torus:3x3"))), "cables") is None
    out = tree.routes.tables.out.copy()
    out[0, -1] = out[0, -2]  # one entry that no map keeps
    broken = obliv.fabric.routing(tree.topology, replace(tree.routes.tables, out=out), missing="skip")
    assert with_and_without(broken, "cables") is None


@pytest.mark.parametrize("spec", ["fattree:4,3", "xgft:3;2,3,4;1,2,3", "xgft:2;4,6;1,4"])
def test_sums_of_digits_keep_the_cabling(spec: str) -> None:
    fabric, _ = relabelled(from_topology(obliv.topology(spec)), 1)
    new = obliv.fabric.route(fabric, "dmodk", force=True)
    assert new.tables is not None
    routing = obliv.fabric.routing(obliv.fabric.network(fabric), new.tables)
    maps = list(tree_shifts(fabric, next_hops_of(routing)))
    assert len(maps) >= 2
    for image in maps:
        assert channel_map(routing.topology, image) is not None
        assert not np.array_equal(image, np.arange(len(image)))


def test_automatic_search_only_with_credit_loops() -> None:
    tree, ring = (
        from_routing(obliv.routing(name, obliv.topology(spec)))
        for name, spec in (("dmodk", "fattree:4,2"), ("dor", "torus:5x3"))
    )
    assert failures(tree).orbits is None
    assert failures(ring).before.deadlock
    assert failures(ring).orbits == 2
    assert failures(ring, repair="refill", symmetry="search").orbits is None  # depends on the numbers of ports


def test_maps_that_keep_cables_but_not_tables_are_refused() -> None:
    routing = from_routing(obliv.routing("dmodk", obliv.topology("fattree:4,2")))
    hops, nodes = next_hops_of(routing), routing.topology.nodes
    opposite = np.array([routing.topology.opposite(c) for c in range(routing.topology.channels)])
    same = np.arange(nodes)
    assert keeps(hops, opposite, same) is not None
    swapped = same.copy()
    swapped[[0, 1]] = [1, 0]  # hosts of one leaf, for which tables use different ports
    assert keeps(hops, opposite, swapped) is None
    out = routing.routes.tables.out.copy()
    out[0, 1:3] = out[0, 2:0:-1]
    other = obliv.fabric.routing(routing.topology, replace(routing.routes.tables, out=out), missing="skip")
    with_and_without(other, "cables")
