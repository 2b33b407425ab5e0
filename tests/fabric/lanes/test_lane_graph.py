"""The dependency graph over channels and lanes, against every packet of every pair followed hop by hop."""

from __future__ import annotations

import graphlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fabric.lanes import spelled_lanes as spelled

import obliv
from obliv.fabric.checks.check import check
from obliv.fabric.generate import from_topology, tables_of
from obliv.fabric.lanes.read import read_lanes


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lanes")


def acyclic(edges: set[tuple[tuple[int, int], tuple[int, int]]]) -> bool:
    after: dict[tuple[int, int], set[tuple[int, int]]] = {}
    for one, other in edges:
        after.setdefault(one, set()).add(other)
    try:
        graphlib.TopologicalSorter(after).prepare()
    except graphlib.CycleError:
        return False
    return True


CASES: dict[str, Any] = dict(  # noqa: C408
    spec=st.sampled_from(["ring:5", "torus:3x3", "fattree:4,2", "mesh:2x3"]),
    seed=st.integers(0, 10**6),
    lmc=st.integers(0, 1),
    wild=st.sampled_from([0.0, 0.1]),
    holes=st.sampled_from([0.0, 0.2]),
    share=st.sampled_from([1.0, 0.7]),
)


@settings(max_examples=4)
@given(**CASES)
def test_agrees_with_every_packet_followed(folder: Path, **case: Any) -> None:
    require_agreement(folder, **case)


@pytest.mark.nightly
@settings(max_examples=1000)
@given(**CASES)
def test_agrees_with_every_packet_followed_often(folder: Path, **case: Any) -> None:
    require_agreement(folder, **case)


def require_agreement(folder: Path, spec: str, seed: int, lmc: int, wild: float, holes: float, share: float) -> None:
    rng = np.random.default_rng(seed)
    topology = obliv.topology(spec)
    fabric = from_topology(topology, lmc=lmc)
    tables = tables_of(obliv.routing({"fattree:4,2": "dmodk", "ring:5": "shortest"}.get(spec, "dor"), topology), fabric)
    other = rng.integers(0, int(np.diff(fabric.first_slot).max()) + 1, tables.out.shape)
    tables = replace(tables, out=np.where(rng.random(tables.out.shape) < wild, other, tables.out).astype(np.uint8))
    rows = spelled.all_rows(fabric, rng, holes=holes)
    pairs = spelled.pair_levels(fabric, rng)
    kept = {pair: sls for pair, sls in pairs.items() if rng.random() < share}
    (folder / "sl2vl").write_text(spelled.opensm(fabric, rows))
    (folder / "pairs").write_text(spelled.plain(fabric, kept))
    lanes = read_lanes(fabric, folder / "sl2vl", folder / "pairs")
    result = check(fabric, tables, lanes=lanes)
    wanted = spelled.dependencies(fabric, tables, rows, kept)
    assert result.credit is not None
    assert result.credit.dependencies == len(wanted)
    assert result.credit.acyclic == acyclic(wanted)
    for loop in result.per_lane:
        inside = {edge for edge in wanted if edge[0][1] == edge[1][1] == loop.lane}
        assert (loop.dependencies, loop.acyclic) == (len(inside), acyclic(inside))
    taken = {pair: [spelled.hops(fabric, tables, rows, *pair, sl) for sl in sls] for pair, sls in kept.items()}
    assert result.dropped_pairs == sum(any(way and way[-1][1] == 15 for way in ways) for ways in taken.values())
    assert result.levels_used == tuple(sorted(set().union(*kept.values())))
    lacking = [finding for finding in result.findings if finding.kind == "no-sl"]
    assert len(lacking) == (len(kept) < len(pairs))
    assert not lacking or f"{len(pairs) - len(kept)} pair" in lacking[0].message
    missing = any(way and way[-1][1] == -1 for ways in taken.values() for way in ways)
    assert bool(result.of("missing-lanes")) == missing
    for level in result.same_sl:
        everyone = {pair: {level.sl} for pair in pairs}
        edges = spelled.dependencies(fabric, tables, rows, everyone)
        assert level.acyclic == acyclic(edges)


@pytest.mark.parametrize("base_only", [True, False])
def test_levels_of_base_lids_only_are_told(base_only: bool, tmp_path: Path) -> None:
    """With an LMC of 1, SLs of every host's first LID, or of one more."""
    topology = obliv.topology("fattree:4,2")
    fabric = from_topology(topology, lmc=1)
    base = set(fabric.ports.lid[fabric.endpoints].tolist())
    pairs = spelled.pair_levels(fabric, np.random.default_rng(1))
    more = next(pair for pair in pairs if pair[1] not in base)
    kept = {pair: sls for pair, sls in pairs.items() if pair[1] in base or (pair == more and not base_only)}
    (tmp_path / "pairs").write_text(spelled.plain(fabric, kept))
    tables = tables_of(obliv.routing("dmodk", topology), fabric)
    (lacking,) = check(fabric, tables, lanes=read_lanes(fabric, "identity", tmp_path / "pairs")).of("no-sl")
    assert ("SLs are given for base LIDs only" in lacking.message) == base_only


def test_a_cycle_names_channels_with_their_lanes() -> None:
    """On a ring of five, one way round, SL 0 on VL 0 everywhere: five channels wait for each other."""
    topology = obliv.topology("ring:5")
    fabric = from_topology(topology)
    tables = tables_of(obliv.routing("shortest", topology), fabric)
    result = check(fabric, tables, lanes=read_lanes(fabric, "identity", 0))
    assert result.credit is not None
    assert result.credit.cycle is not None
    assert result.credit.lanes == (0,) * 5
    assert len(set(result.credit.cycle)) == 5
    assert not result.ok


def test_a_dateline_by_tables_alone_breaks_the_ring(tmp_path: Path) -> None:
    """VL 1 behind one switch: free with all packets on one SL, which is so for every SL."""
    topology = obliv.topology("ring:5")
    fabric = from_topology(topology)
    tables = tables_of(obliv.routing("shortest", topology), fabric)
    switches = fabric.switches.tolist()
    hosts = {int(fabric.ports.peer[slot]) for slot in fabric.endpoints.tolist()}
    rows = {}
    for node in switches:
        first, end = fabric.first_slot[node : node + 2].tolist()
        for entry in range(first, end):
            for exit in range(first + 1, end):
                behind = node == switches[0] and entry not in hosts and entry != first
                rows[node, entry - first, exit - first] = [int(behind)] * 16
    # packets that passed the first switch keep VL 1: on a ring of five ways have two hops, so nothing follows
    (tmp_path / "sl2vl").write_text(spelled.slvl(fabric, rows))
    result = check(fabric, tables, lanes=read_lanes(fabric, tmp_path / "sl2vl", 2))
    assert result.credit is not None
    assert result.credit.acyclic
    assert result.lanes_used == (0, 1)
    assert result.one_lane is not None
    assert not result.one_lane.acyclic
    assert all(level.acyclic for level in result.same_sl)
    assert result.ok
