"""Dimension order with datelines: minimal routes, two lanes, and no packets that wait in a circle."""

from __future__ import annotations

from graphlib import TopologicalSorter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fabric.damage import cables, relabelled, without
from tests.fabric.reroute.layers.test_layers import level_of
from tests.fabric.walks import walked, worst_by_hand
from tests.strategies import examples

import obliv
from obliv.errors import FileError, RoutingError
from obliv.fabric.generate import from_topology
from obliv.fabric.lanes.sl2vl import DROP, read_sl2vl, write_sl2vl
from obliv.fabric.model import Fabric
from obliv.fabric.reroute import datelines as detours
from obliv.fabric.reroute.route import route
from obliv.fabric.results.route import FabricRoute


def sound(result: FabricRoute) -> list[int]:
    """The hops of all pairs; every pair arrives, the lanes have no circle, and the load is that of the definition."""
    fabric, tables, lanes = result.fabric, result.tables, result.lane_tables
    follows: dict[tuple[int, int], set[tuple[int, int]]] = {}
    hops = []
    for s, start in enumerate(fabric.endpoints.tolist()):
        for d, goal in enumerate(fabric.endpoints.tolist()):
            if s == d:
                continue
            slots = walked(fabric, tables, start, int(fabric.ports.lid[goal]))
            sl = level_of(result.levels, fabric, s, d)
            taken = [(slots[0], 0)]
            for before, after in pairwise(slots):
                node, entry = int(fabric.node_of[after]), fabric.port_of(int(fabric.ports.peer[before]))
                vl = sl if lanes is None else lanes.lane(fabric, node, entry, fabric.port_of(after), sl)
                assert 0 <= vl < result.after.lanes
                taken.append((after, vl))
            for one, two in pairwise(taken):
                follows.setdefault(two, set()).add(one)
            hops.append(len(slots))
    list(TopologicalSorter(follows).static_order())
    assert result.after.worst == worst_by_hand(fabric, tables, [0])
    assert not result.after.credit_loops
    assert not result.after.missing
    return hops


def shortest(fabric: Fabric) -> list[int]:
    """The fewest hops of all pairs."""
    beside: dict[int, set[int]] = {}
    for slot in np.flatnonzero(fabric.ports.peer >= 0).tolist():
        ends = int(fabric.node_of[slot]), int(fabric.node_of[fabric.ports.peer[slot]])
        beside.setdefault(ends[0], set()).add(ends[1])
    nodes = fabric.node_of[fabric.endpoints].tolist()
    found = []
    for source in nodes:
        at, reached, far = {source: 0}, [source], 0
        while reached:
            far += 1
            reached = [new for old in reached for new in beside[old] if at.setdefault(new, far) == far]
        found += [at[goal] for goal in nodes if goal != source]
    return found


SPECS = ("torus:4x4", "torus:5x4", "torus:6x4", "torus:5x5", "torus:3x3", "torus:4x2x4", "mesh:4x3", "hyperx:4x4")


def test_auto_selects_it_where_switches_take_its_tables_and_tells_otherwise() -> None:
    fabric = from_topology(obliv.topology("torus:6x6"))
    taken = route(fabric, lanes=2, lane_tables=True, effort=0.01, rng=0)
    assert (taken.engine, taken.after.worst) == ("dor-dateline", 3)
    sound(taken)
    left = route(fabric, lanes=2, effort=0.01, rng=0)
    assert (left.engine, left.lane_tables) == ("layered", None)
    assert left.after.worst > 3
    assert left.notes[-1].startswith("dor-dateline would have a worst load of 3, but needs SL-to-VL tables")
    on_mesh = route(from_topology(obliv.topology("mesh:3x3")), effort=0.01, rng=0)
    assert on_mesh.lane_tables is None
    assert "dor-dateline" in [attempt.engine for attempt in on_mesh.tried]


def damaged(spec: str, many: int, seed: int) -> Fabric:
    """A grid without some cables between switches."""
    fabric = from_topology(obliv.topology(spec))
    inner = cables(fabric)
    return without(fabric, np.random.default_rng(seed).choice(inner, many, replace=False).tolist())


def test_more_lanes_are_never_worse() -> None:
    """Here detours on three lanes have a larger load than those on two."""
    fabric = damaged("torus:5x5", 6, 3)
    loads = [route(fabric, "dor-dateline", lanes=lanes).after.worst for lanes in (2, 3, 4)]
    assert loads == sorted(loads, reverse=True)


def test_detours_that_do_not_fit_are_told() -> None:
    for seed in range(20):
        tried = route(damaged("mesh:4x4", 3, seed), effort=0.01).tried
        (dateline,) = [attempt for attempt in tried if attempt.engine == "dor-dateline"] or [None]
        if dateline is not None and dateline.standing is None:
            assert dateline.reason == "no detours fit"
            return
    pytest.fail("detours fit everywhere")


@pytest.mark.nightly
@examples(12)
@given(spec=st.sampled_from(SPECS), seed=st.integers(0, 10**6), gaps=st.integers(0, 1))
def test_tori_in_any_order_and_with_a_missing_cable(spec: str, seed: int, gaps: int) -> None:
    fabric, _ = relabelled(from_topology(obliv.topology(spec)), seed)
    trunks = cables(fabric)
    gaps = gaps if spec in SPECS[:4] else 0
    damaged = without(fabric, np.random.default_rng(seed).choice(trunks, gaps, replace=False).tolist())
    result = route(damaged, "dor-dateline", lanes=2)
    hops = sound(result)
    if not gaps:
        assert hops == shortest(fabric)
        assert result.after.lanes == (1 if spec in ("torus:3x3", "mesh:4x3", "hyperx:4x4") else 2)


@pytest.mark.nightly
@pytest.mark.parametrize(("spec", "load"), [("torus:6x6", 3), ("torus:4x4x4", 4), ("torus:5x5x5", 10)])
def test_known_loads(spec: str, load: int) -> None:
    result = route(from_topology(obliv.topology(spec)), "dor-dateline", lanes=2)
    sound(result)
    assert (result.after.worst, result.after.lanes) == (load, 2)


@pytest.mark.parametrize(
    ("spec", "load", "lanes"),
    [("ring:3", 1, 1), ("ring:5", 2, 2), ("line:5", 2, 1), ("damaged:ring:6,3-4", 3, 1), ("torus:2x5", 2, 2)],
)
def test_rings_and_lines(spec: str, load: int, lanes: int) -> None:
    fabric, _ = relabelled(from_topology(obliv.topology(spec)), 1)
    result = route(fabric, "dor-dateline", lanes=2)
    sound(result)
    assert (result.engine, result.after.worst, result.after.lanes) == ("dor-dateline", load, lanes)


@examples(8)
@given(spec=st.sampled_from(("torus:5x4", "torus:3x5", "torus:4x2x4", "torus:2x6", "hyperx:4x4")), data=st.data())
def test_detours_round_what_is_missing(spec: str, data: st.DataObject) -> None:
    torus = obliv.topology(spec)
    links = sorted({(min(pair), max(pair)) for pair in zip(torus.tail.tolist(), torus.head.tolist(), strict=True)})
    lost = [f"{v}" for v in data.draw(st.lists(st.integers(0, torus.nodes - 1), max_size=2, unique=True))]
    cut = data.draw(st.lists(st.sampled_from(links), min_size=1 - min(1, len(lost)), max_size=3, unique=True))
    lost += [f"{a}-{b}" for a, b in cut if not {str(a), str(b)} & set(lost)]
    fabric = from_topology(obliv.topology(f"damaged:{spec},{','.join(lost)},component=largest"))
    try:
        result = route(fabric, "dor-dateline", lanes=2, effort=0.01)
    except RoutingError as error:
        assert "not recognized as one: use layered" in str(error)
    else:
        sound(result)


@pytest.mark.nightly
def test_layers_where_no_detours_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detours, "_CHOICES", 0)
    result = route(from_topology(obliv.topology("damaged:torus:4x4,5")), "dor-dateline", lanes=2, effort=0.01)
    sound(result)
    assert result.engine == "layered"
    assert (result.tried[0].engine, result.tried[0].reason) == ("dor-dateline", "no detours fit")


@pytest.mark.nightly
@pytest.mark.parametrize("lost", ["21", "21,42", "0-1,2-3", "5,0-4,8-12"])
def test_detours_in_three_dimensions(lost: str) -> None:
    result = route(from_topology(obliv.topology(f"damaged:torus:4x4x4,{lost}")), "dor-dateline", lanes=2)
    sound(result)
    assert (result.engine, result.after.lanes) == ("dor-dateline", 2)


def test_what_does_not_fit() -> None:
    torus = from_topology(obliv.topology("torus:4x4"))
    with pytest.raises(RoutingError, match="needs 2 virtual lanes on torus:4x4"):
        route(torus, "dor-dateline")
    with pytest.raises(RoutingError, match="not recognized as one: use layered"):
        route(from_topology(obliv.topology("random-regular:n=14,d=4,seed=2")), "dor-dateline", lanes=2)


def test_written_lanes_are_read_again(tmp_path: Path) -> None:
    result = route(from_topology(obliv.topology("torus:5x4")), "dor-dateline", lanes=2)
    fabric, lanes = result.fabric, result.lane_tables
    write_sl2vl(lanes, fabric, tmp_path / "new.sl2vl")
    obliv.fabric.write_psl(result.levels, fabric, tmp_path / "new.psl")
    read = read_sl2vl(tmp_path / "new.sl2vl", fabric)
    assert not read.findings
    for node in fabric.switches.tolist():
        ports = range(int(fabric.first_slot[node + 1] - fabric.first_slot[node]))
        for entry in ports:
            for exit in ports[1:]:
                one, two = (int(fabric.first_slot[node]) + port for port in (entry, exit))
                given = fabric.ports.peer[two] >= 0 and (entry == 0 or fabric.ports.peer[one] >= 0)
                for sl in range(16):
                    wanted = lanes.lane(fabric, node, entry, exit, sl) if given else -1
                    assert read.lane(fabric, node, entry, exit, sl) == wanted
    assert (read.vl[read.own[fabric.endpoints]] == 0).all()
    assert DROP not in read.vl[1:]
    lanes_read = obliv.fabric.read_lanes(fabric, tmp_path / "new.sl2vl", tmp_path / "new.psl")
    check = obliv.fabric.check(fabric, result.tables, lanes=lanes_read)
    assert (check.credit.acyclic, check.one_lane.acyclic, check.lanes_used) == (True, False, (0, 1))
    bare = fabric.with_ports(guid=np.zeros_like(fabric.ports.guid))
    with pytest.raises(FileError, match="20 nodes without a GUID"):
        write_sl2vl(lanes, bare, tmp_path / "bare")
    assert not (tmp_path / "bare").exists()
