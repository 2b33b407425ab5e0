"""Several routes for each pair, one for each LID: whole, free of deadlock, and with the loads of the definition."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, permutations

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from tests.fabric.damage import cables, relabelled, without
from tests.fabric.walks import walked
from tests.strategies import examples

import obliv
from obliv.errors import RoutingError
from obliv.fabric import names as lids
from obliv.fabric.generate import from_topology
from obliv.fabric.reroute.route import route
from obliv.fabric.reroute.spread_trees import Evaluation, bisection_bound, two_turn_pool, two_turn_sets
from obliv.fabric.results.route import FabricRoute


def sound(result: FabricRoute) -> list[int]:
    """The hops of all routes; every LID is reached, no packets wait in a circle, the load is that of the definition."""
    fabric, tables, lanes, levels = result.fabric, result.tables, result.lane_tables, result.levels
    many, ends = 1 << result.after.lmc, fabric.endpoints.tolist()
    follows = networkx.DiGraph()
    uses: dict[int, np.ndarray] = {}
    hops = []
    for s, start in enumerate(ends):
        for d, goal in enumerate(ends):
            for offset in range(many if s != d else 0):
                slots = walked(fabric, tables, start, int(fabric.ports.lid[goal]) + offset)
                for slot in slots:
                    uses.setdefault(slot, np.zeros((len(ends), len(ends)), int))[s, d] += 1
                mask = 1 if levels is None else int(levels.masks[s if len(levels.masks) > 1 else 0, d * many + offset])
                assert mask.bit_count() == 1
                taken = [(slots[0], 0)]
                for before, after in pairwise(slots):
                    node, entry = int(fabric.node_of[after]), fabric.port_of(int(fabric.ports.peer[before]))
                    ports = entry, fabric.port_of(after)
                    vl = 0 if lanes is None else lanes.lane(fabric, node, *ports, mask.bit_length() - 1)
                    assert 0 <= vl < result.after.lanes
                    taken.append((after, vl))
                networkx.add_path(follows, taken)
                hops.append(len(slots))
    assert networkx.is_directed_acyclic_graph(follows)
    most = max(int(use[linear_sum_assignment(use, maximize=True)].sum()) for use in uses.values())
    assert result.after.worst == Fraction(most, many)
    assert (result.after.credit_loops, result.after.missing) == (False, 0)
    return hops


SPECS = ("torus:4x4", "torus:5x3", "torus:2x4", "mesh:4x3", "mesh:3x3x2", "hyperx:4x3", "ring:6", "line:4")


@pytest.mark.parametrize("spec", ["torus:5x4", "mesh:7x6", "hyperx:5x4", "hyperx:4x4", "torus:3x3"])
def test_the_bound_is_that_of_a_cut(spec: str) -> None:
    """Half of the switches send across the middle of a dimension: so many packets over so many channels."""
    grid = obliv.topology(spec)
    loads = []
    for axis in range(2):
        low = {v for v in range(grid.nodes) if grid.coordinates(v)[axis] < grid.radices[axis] // 2}
        crossing = sum(int(a) in low and int(b) not in low for a, b in zip(grid.tail, grid.head, strict=True))
        loads.append(Fraction(len(low), crossing))
    assert bisection_bound(grid) == max(loads)


@pytest.mark.nightly
@examples(8)
@given(
    spec=st.sampled_from(SPECS),
    engine=st.sampled_from(("minimal", "two-turn")),
    lanes=st.integers(2, 6),
    lmc=st.integers(1, 3),
    seed=st.integers(0, 10**6),
)
def test_grids_in_any_order(spec: str, engine: str, lanes: int, lmc: int, seed: int) -> None:
    fabric, _ = relabelled(from_topology(obliv.topology(spec)), seed)
    result = route(fabric, engine, lanes=lanes, most_lmc=lmc, effort=0.05, rng=seed)
    hops = sound(result)
    assert result.after.lmc <= lmc
    assert result.after.lanes <= lanes
    single = route(fabric, "minimal", lanes=2, most_lmc=0)
    assert result.after.worst <= single.after.worst
    if engine == "minimal":
        assert sum(hops) == sum(sound(single)) << result.after.lmc
    assert ("assumed: sources spread" in repr(result)) == (result.after.lmc > 0)


@pytest.mark.parametrize(
    ("spec", "lanes", "load", "lmc"),
    [
        ("torus:4x4", 4, 1, 3),
        ("torus:4x4", 2, Fraction(3, 2), 1),
        ("ring:8", 2, 2, 1),
        ("mesh:4x4", 2, 2, 1),
        ("mesh:5x4", 2, 2, 2),
        *(
            pytest.param(*row, marks=pytest.mark.nightly)
            for row in (
                ("torus:8x8", 4, 2, 4),
                ("torus:4x4x4", 4, 1, 5),
                ("torus:8x4", 4, 2, 3),
                ("mesh:6x6", 2, 3, 1),
                ("mesh:4x4x4", 2, 2, 4),
                ("torus:6x6", 4, Fraction(99, 64), 7),
            )
        ),
    ],
)
def test_known_loads(spec: str, lanes: int, load: Fraction, lmc: int) -> None:
    result = route(from_topology(obliv.topology(spec)), "two-turn", lanes=lanes)
    if len(result.fabric.endpoints) * len(result.fabric.endpoints) << lmc < 20_000:
        sound(result)
    assert (result.after.worst, result.after.lmc, result.after.lanes) == (load, lmc, lanes)
    assert not result.after.credit_loops


def test_many_hosts_at_a_switch() -> None:
    result = route(from_topology(obliv.topology("cmesh:3x3,c=2")), "two-turn", lanes=2, most_lmc=2)
    sound(result)


def test_what_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    torus = from_topology(obliv.topology("torus:4x4"))
    with pytest.raises(RoutingError, match="two-turn needs 2 virtual lanes on torus:4x4: use lanes=2"):
        route(torus, "two-turn")
    with pytest.raises(RoutingError, match="two-turn needs several LIDs for each host, and only an LMC of 0 is"):
        route(torus, "two-turn", lanes=4, most_lmc=0)
    with pytest.raises(RoutingError, match="whole grids, and torus:4x4 has gaps here: use dor-dateline"):
        route(without(torus, cables(torus)[:1]), "two-turn", lanes=4)
    with pytest.raises(RoutingError, match="minimal is for tori, meshes, rings and HyperX, and this fabric is not"):
        route(from_topology(obliv.topology("random-regular:n=14,d=4,seed=2")), "minimal", lanes=2)
    monkeypatch.setattr(lids, "LAST_LID", 100)  # enough for 16 switches and 16 hosts with an LMC of 2
    assert route(torus, "two-turn", lanes=4).after.lmc <= 2


@examples(10)
@given(shape=st.sampled_from(("mesh:3x2", "ring:5", "torus:3x2", "hyperx:2x3")), data=st.data())
def test_loads_of_sets_are_those_of_all_permutations(shape: str, data: st.DataObject) -> None:
    grid = obliv.topology(shape)
    evaluation = Evaluation(grid)
    pool = two_turn_pool(grid)
    plans = data.draw(st.lists(st.sampled_from(pool), min_size=1, max_size=4))
    load = evaluation.load(plans)
    most = 0
    for permutation in permutations(range(grid.nodes)):
        count = np.zeros(len(grid.tail), int)
        for plan in plans:
            channel, source, destination = evaluation.uses[evaluation.number[plan]]
            np.add.at(count, channel[np.array(permutation)[source] == destination], 1)
        most = max(most, int(count.max()))
    assert load == Fraction(most, len(plans))
    assert load >= bisection_bound(grid)


def test_the_search_finds_better_columns() -> None:
    grid = obliv.topology("torus:5x5")
    evaluation = Evaluation(grid)
    for plan in two_turn_pool(grid):
        evaluation.add(plan)
    plans = min(([*plans] * 2 for plans in two_turn_sets(grid, 8)), key=evaluation.load)[:8]
    better = evaluation.improved(plans, 8, 4, Fraction(0), 0)
    assert len(better) == len(plans)
    assert evaluation.load(better) <= evaluation.load(plans)
