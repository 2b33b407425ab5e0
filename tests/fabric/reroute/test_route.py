"""New tables: as good as the theorems say on whole trees, and sound on whatever is left of them."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from graphlib import TopologicalSorter
from itertools import pairwise
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fabric.by_hand import with_nodes
from tests.fabric.damage import cables, ports, relabelled, without
from tests.fabric.walks import walked
from tests.strategies import examples

import obliv
from obliv.errors import FileError, RoutingError, SpecError, TopologyError
from obliv.fabric.files.folder import read_fabric
from obliv.fabric.files.lft import write_tables
from obliv.fabric.generate import from_topology, tables_of
from obliv.fabric.kernels.fill import even_out, fill_by_digits, fill_evenly
from obliv.fabric.model import NONE, Fabric, Tables
from obliv.fabric.names import with_lids
from obliv.fabric.reroute import fill
from obliv.fabric.reroute import route as module
from obliv.fabric.reroute.engines import AUTO, ENGINES, Candidate, Engine, engine_of
from obliv.fabric.reroute.fill import by_digits, dmodk, evenly
from obliv.fabric.reroute.quality import Request, standing_of
from obliv.fabric.reroute.route import route as route_with_effort
from obliv.fabric.reroute.tiers import central_ranks, level_ranks, switch_network, tiers_of
from obliv.fabric.results.route import Attempt, Standing
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.shape import recognise
from obliv.fabric.topology import network
from obliv.topologies.make import build

route = partial(route_with_effort, effort=0.1)


def proved(standing: Standing) -> tuple[Fraction, int, bool, int]:
    """What theorems say of tables."""
    return standing.worst, standing.missing, standing.credit_loops, standing.lmc


def sound(fabric: Fabric, tables: Tables) -> None:
    """Every pair, by every LID, gets there, and no packets can wait for each other in a circle."""
    follows: dict[int, set[int]] = {}
    for s in fabric.endpoints.tolist():
        for d in fabric.endpoints.tolist():
            for lid in (
                range(int(fabric.ports.lid[d]), int(fabric.ports.lid[d]) + (1 << int(fabric.ports.lmc[d])))
                if s != d
                else ()
            ):
                for before, after in pairwise(walked(fabric, tables, s, lid)):
                    follows.setdefault(after, set()).add(before)
    list(TopologicalSorter(follows).static_order())


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("spec", "engine", "load", "lmc"),
    [
        ("fattree:8,2", "osrm2", 2, 1),
        ("fattree:6,2", "osrm2-c", 2, 2),
        ("fattree:4,3", "osrm3-d", 2, 0),
        ("fattree:8,3", "osrm3-d", 4, 0),
        pytest.param("fattree:8,3", "osrm3", 4, 2, marks=pytest.mark.nightly),
        ("fattree:8,3", "dmodk", 7, 0),
        ("fattree:8,2", "dmodk", 4, 0),
        ("fattree:16,2", "osrm2", 4, 1),
        ("fattree:16,2", "osrm2-c", 3, 3),
        ("fattree:4,4", "dmodk", 4, 0),
        ("eft2:8,6", "osrm2", 2, 1),
    ],
)
def test_engines_attain_what_is_proved(spec: str, engine: str, load: int, lmc: int) -> None:
    routed = route(from_topology(obliv.topology(spec)), engine)
    assert (routed.engine, *proved(routed.after)) == (engine, load, 0, False, lmc)


@pytest.mark.nightly
@pytest.mark.parametrize(("spec", "load", "lmc"), [("fattree:8,2", 2, 1), ("fattree:4,3", 2, 0), ("fattree:6,2", 2, 2)])
def test_numbers_and_ports_do_not_matter(spec: str, load: int, lmc: int) -> None:
    fabric, _ = relabelled(from_topology(obliv.topology(spec)), 5)
    routed = route(fabric)
    assert (routed.after.worst, routed.lmc) == (load, lmc)
    sound(routed.fabric, routed.tables)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("spec", ["fattree:8,2", "fattree:4,3", "fattree:4,4", "xgft:3;2,3,4;1,2,3"])
@pytest.mark.parametrize("engine", ["dmodk", "osrm3-d"])
def test_on_whole_trees_engines_are_the_routings_of_their_names(spec: str, engine: str) -> None:
    tree = obliv.topology(spec)
    if engine == "osrm3-d" and tree.levels != 3:
        with pytest.raises(RoutingError, match="for fat trees of 3 levels"):
            route(from_topology(tree), engine)
        return
    fabric = from_topology(tree)
    wanted, result = tables_of(obliv.routing(engine, tree), fabric), route(fabric, engine).tables
    used = wanted.out != NONE
    assert (wanted.out[used] == result.out[used]).all()


def test_lids_of_switches_are_routed_too() -> None:
    fabric = from_topology(obliv.topology("fattree:4,3"))
    cells = route(fabric).tables
    own = fabric.ports.lid[fabric.first_slot[fabric.switches]]
    assert (cells.out[np.arange(len(own)), own] == 0).all()
    leaves = own[:8]  # they come first; no engine knows a way to a root but from below
    assert set(fabric.node_of[fabric.ports.peer[fabric.endpoints]].tolist()) == set(fabric.switches[:8].tolist())
    assert (cells.out[:, leaves] != NONE).all()


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    ("spec", "whole", "most", "seed"),
    [
        *((*tree, seed) for tree in (("fattree:8,2", 2, 4), ("fattree:4,3", 2, 4)) for seed in range(4)),
        *(pytest.param("fattree:8,3", 4, 11, seed, marks=pytest.mark.nightly) for seed in range(4)),
    ],
)
@pytest.mark.usefixtures("moves")
def test_damaged_trees(spec: str, whole: int, most: int, seed: int) -> None:
    fabric = from_topology(obliv.topology(spec))
    gone = np.random.default_rng(seed).choice(cables(fabric), 2, replace=False)
    routed = route(without(fabric, gone.tolist()))
    assert routed.after.missing == 0
    assert whole <= routed.after.worst <= most
    assert routed.shape.startswith("nearly FT")
    if spec != "fattree:8,3":
        sound(routed.fabric, routed.tables)


def test_whoever_is_connected_is_served() -> None:
    """Two leaves that are left with a root each, and not the same one: no way climbs once and comes down."""
    fabric = from_topology(obliv.topology("fattree:4,2"))
    uplinks = [[slot for slot in cables(fabric) if fabric.node_of[slot] == leaf] for leaf in fabric.switches[:2]]
    cut = without(fabric, [uplinks[0][0], uplinks[1][1]])
    routed = route(cut)
    assert (routed.engine, routed.after.missing) == ("layered", 0)
    sound(routed.fabric, routed.tables)
    plain = route(cut, "updown").after
    assert (plain.missing, plain.worst > routed.after.worst) == (0, True)
    with pytest.raises(RoutingError, match="dmodk leaves 8 connected pairs unserved"):
        route(cut, "dmodk")
    assert route(cut, "dmodk", force=True).after.missing == 8


@pytest.mark.nightly
@pytest.mark.sampled(3)
@pytest.mark.parametrize("spec", ["fattree:4,2", "fattree:4,3", "fattree:6,2", "xgft:2;3,4;1,2"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.usefixtures("moves")
def test_trees_of_which_much_is_missing(spec: str, seed: int) -> None:
    fabric = from_topology(obliv.topology(spec))
    rng = np.random.default_rng(seed)
    cut = without(fabric, rng.choice(cables(fabric), len(cables(fabric)) // 3, replace=False).tolist())
    found = route(cut)
    graph = nx.Graph()
    graph.add_nodes_from(cut.endpoints.tolist())
    graph.add_edges_from((s, ("node", int(cut.node_of[cut.ports.peer[s]]))) for s in cut.endpoints.tolist())
    graph.add_edges_from(
        (("node", int(cut.node_of[s])), ("node", int(cut.node_of[cut.ports.peer[s]]))) for s in cables(cut)
    )
    hosts = set(cut.endpoints.tolist())
    sizes = [len(hosts & part) for part in nx.connected_components(graph)]
    assert found.after.missing == len(hosts) ** 2 - sum(size**2 for size in sizes)
    parts = sum(size > 0 for size in sizes)
    assert [note for note in found.notes if "parts" in note] == [
        f"the fabric is in {parts} parts: {found.after.missing} pairs are not connected" for _ in range(parts > 1)
    ]


@pytest.mark.nightly
def test_a_dead_root_costs_little() -> None:
    fabric = from_topology(obliv.topology("fattree:8,3"))
    broken = without(fabric, ports(fabric, int(fabric.switches[-1])))
    routed = route(broken)
    assert (routed.after.missing, routed.after.worst) == (0, 8)
    by_hand = {attempt.engine: attempt.standing.worst for attempt in routed.tried if attempt.standing}
    assert by_hand == {"osrm3-d": 8, "dmodk": 10, "updown": 10, "layered": 8}


@pytest.mark.usefixtures("moves")
def test_never_worse_than_what_was_there() -> None:
    torus = obliv.topology("torus:5x5")
    fabric = from_topology(torus)
    dor = tables_of(obliv.routing("dor", torus), fabric)
    routed = route(fabric, tables=dor, ignore_credit_loops=True)
    assert routed.kept
    assert routed.tables is dor
    assert routed.before == routed.after
    assert proved(routed.after) == (2, 0, True, 0)
    engine, standing = routed.tried[-1].engine, routed.tried[-1].standing
    assert engine == "layered"
    assert isinstance(standing, Standing)
    assert standing.worst > 2
    assert routed.notes[-2].startswith("no new tables are better")
    forced = route(fabric, tables=dor, force=True)
    assert (forced.engine, forced.after) == ("layered", standing)
    sound(forced.fabric, forced.tables)
    safe = route(fabric, tables=dor)  # credit loops are never better, unless they are ignored
    assert (safe.engine, safe.after) == ("layered", standing)
    assert any("credit loops" in note for note in safe.notes)


@pytest.mark.parametrize(
    ("spec", "engine"),
    [
        ("fattree:8,2", "dmodk"),
        ("fattree:4,3", "osrm3-d"),
        pytest.param("fattree:8,3", "osrm3-d", marks=pytest.mark.nightly),
    ],
)
def test_nothing_is_gained_by_equal_tables(spec: str, engine: str) -> None:
    fabric = from_topology(obliv.topology(spec))
    tables = route(fabric, engine).tables
    again = route(fabric, engine, tables)
    assert again.kept
    assert again.tables is tables
    assert route(fabric, engine, tables, force=True).engine == engine


@pytest.mark.nightly
@pytest.mark.parametrize("spec", ["fattree:4,2", "fattree:8,2", "fattree:4,3", "eft2:8,6", "xgft:2;4,6;1,3"])
@pytest.mark.parametrize("missing", range(4))
@pytest.mark.usefixtures("moves")
def test_no_tables_are_better_than_the_bound(spec: str, missing: int) -> None:
    """Every engine, on trees with cables missing: the bound is that of the tables' LMC."""
    fabric = from_topology(obliv.topology(spec))
    rng = np.random.default_rng(missing)
    inner = cables(fabric)
    damaged = without(fabric, rng.choice(inner, missing, replace=False).tolist())
    for engine in ENGINES:
        try:
            found = route(damaged, engine)
        except RoutingError:
            continue
        if found.after.missing or found.lower_bound is None:
            continue
        assert found.after.worst >= found.lower_bound > 1
        optimal = found.after.worst == found.lower_bound
        assert (": none have a smaller one" in repr(found)) == optimal
        assert f"at least {found.lower_bound} for single paths" in repr(found)
        assert found.to_dict()["lower_bound"]["exact"] == str(found.lower_bound)


@pytest.mark.nightly
@pytest.mark.usefixtures("moves")
def test_the_bound_of_a_leaf_with_one_cable_left() -> None:
    """Four hosts over one cable: the load is 4, whatever the tables."""
    fabric = from_topology(obliv.topology("fattree:8,2"))
    leaf = int(fabric.node_of[fabric.ports.peer[fabric.endpoints[0]]])
    up = [slot for slot in ports(fabric, leaf) if fabric.switch_row[fabric.node_of[fabric.ports.peer[slot]]] >= 0]
    routed = route(without(fabric, up[1:]), most_lmc=3)
    assert (routed.after.worst, routed.lower_bound) == (4, 4)
    two = route(without(fabric, up[2:]), "osrm2")
    assert two.lower_bound == 2
    torus = route(from_topology(obliv.torus(4, 4)))
    assert (torus.after.worst, torus.lower_bound) == (2, 2)  # one host a switch and four cables: by counting branches
    star = route(from_topology(obliv.topology("cmesh:2x2,c=4")))
    assert (star.after.worst, star.lower_bound) == (4, 4)  # four hosts a switch; four neighbors on a ring


def test_holes_count_for_more_than_load() -> None:
    torus = obliv.topology("torus:5x5")
    fabric = from_topology(torus)
    dor = tables_of(obliv.routing("dor", torus), fabric)
    out = dor.out.copy()
    out[0, fabric.ports.lid[fabric.endpoints[7]]] = NONE
    routed = route(fabric, "updown", replace(dor, out=out))
    assert routed.engine == "updown"
    assert routed.before is not None
    assert routed.before.missing > 0
    assert routed.after.missing == 0


@pytest.mark.nightly
def test_lids_that_suffice_are_kept() -> None:
    fabric = from_topology(obliv.topology("fattree:8,2"), lmc=2)
    routed = route(fabric, "osrm2")
    assert routed.fabric is fabric
    assert (routed.lmc, routed.after.worst) == (2, 2)
    assert not any("LIDs are new" in note for note in routed.notes)
    few = route(from_topology(obliv.topology("fattree:8,2")), "osrm2")
    assert few.lmc == 1
    assert "LMC 1 is needed" in few.notes[0]
    none = route(from_topology(obliv.topology("fattree:4,3"), lids=False))
    assert (none.fabric.ports.lid[none.fabric.endpoints] > 0).all()


@pytest.mark.nightly
@pytest.mark.usefixtures("moves")
def test_the_lmc_can_be_bounded() -> None:
    fabric = from_topology(obliv.topology("fattree:8,2"))
    routed = route(fabric, most_lmc=0)
    assert (routed.engine, routed.lmc, routed.after.worst) == ("dmodk", 0, 4)
    assert Attempt("osrm2", None, "needs an LMC of 1") in routed.tried
    with pytest.raises(RoutingError, match="needs an LMC of 1"):
        route(fabric, "osrm2", most_lmc=0)


def test_of_equals_the_one_with_fewer_lids() -> None:
    routed = route(from_topology(obliv.topology("eft2:8,2")))
    assert (routed.after.worst, routed.lmc) == (1, 0)
    tree = obliv.topology("fattree:4,2")
    routed = route(from_topology(tree))
    assert (routed.engine, routed.after.worst, routed.lmc) == ("dmodk", 2, 0)
    fabric = from_topology(tree)
    remaining = route(fabric, "osrm2", tables_of(obliv.routing("dmodk", tree), fabric))
    assert remaining.kept


def test_lmcs_that_are_not_allowed_or_unlike() -> None:
    tree = obliv.topology("fattree:4,2")
    routed = route(from_topology(tree, lmc=1), most_lmc=0)
    assert (routed.lmc, routed.notes[0].partition(";")[0]) == (0, "LIDs are new, since at most LMC 0 is allowed")
    fabric = from_topology(tree, lmc=1)
    lmc = fabric.ports.lmc.copy()
    lmc[fabric.endpoints[3]] = 0
    routed = route(fabric.with_ports(lmc=lmc))
    assert set(routed.fabric.ports.lmc[fabric.endpoints].tolist()) == {routed.lmc}
    assert "ports have LMCs of 0 to 1" in routed.notes[0]


def test_what_becomes_of_tables_whose_rule_nobody_follows() -> None:
    """Lists of offsets must be set at the hosts; the note says what 0 for all would give."""
    fabric = from_topology(obliv.topology("eft2:12,6"))
    routed = route(fabric)
    assert routed.offset == "0-1-2-3-4-5"
    plain = obliv.worst_case(fabric_routing(network(routed.fabric), routed.tables, "0")).channel_load
    assert plain > routed.after.worst
    assert f"with offset 0 everywhere the worst load is {plain}" in routed.notes[-1]


@pytest.mark.usefixtures("moves")
def test_parallel_cables_are_used_like_roots_of_their_own() -> None:
    links = [(v, 16 + v // 4) for v in range(16)]
    links += [(16 + leaf, 20 + root) for leaf in range(4) for root in range(2) for _ in range(2)]
    tree = build("trunks", 22, links + [(b, a) for a, b in links], terminals=range(16))
    routed = route(from_topology(tree))
    assert recognise(from_topology(tree)).cables == (1, 2)  # type: ignore[union-attr]
    assert (routed.engine, routed.after.worst) == ("osrm2-c", 2)
    sound(routed.fabric, routed.tables)


@pytest.mark.usefixtures("moves")
def test_faster_links_upwards() -> None:
    tree = obliv.topology("xgft:2;4,4;1,2")
    up = [Fraction(4) if min(a, b) >= 16 else Fraction(1) for a, b in zip(tree.tail.tolist(), tree.head.tolist())]
    plain = route(from_topology(tree, rate="4xSDR")).after.worst
    fast = route(from_topology(replace(tree, bandwidth=tuple(up)), rate="4xSDR")).after.worst
    assert (plain, fast) == (4, 1)


def test_wrong_requests() -> None:
    torus = from_topology(obliv.topology("torus:4x4"))
    with pytest.raises(SpecError, match="did you mean osrm3"):
        route(torus, "osrm33")
    with pytest.raises(RoutingError, match="use updown"):
        route(torus, "dmodk")
    with pytest.raises(RoutingError, match="no connected hosts"):
        route(without(torus, torus.endpoints.tolist()))
    with pytest.raises(TopologyError, match="49151"):
        route(from_topology(obliv.topology("fattree:24,3")), "osrm3")


def test_parts_that_are_not_joined_are_missing_pairs() -> None:
    fabric = from_topology(obliv.topology("fattree:4,2"))
    leaf = int(fabric.switches[0])
    cut = without(
        fabric,
        [
            slot
            for slot in ports(fabric, leaf)
            if fabric.nodes.kind[fabric.node_of[fabric.ports.peer[slot]]] == "switch"
        ],
    )
    routed = route(cut)
    assert routed.after.missing == 2 * 2 * 6


def test_two_ports_with_one_lid() -> None:
    fabric = from_topology(obliv.topology("fattree:4,2"))
    lid = fabric.ports.lid.copy()
    lid[fabric.endpoints[1]] = lid[fabric.endpoints[0]]
    routed = route(fabric.with_ports(lid=lid))
    assert (routed.engine, routed.lmc, routed.after.worst) == ("dmodk", 0, 2)
    assert "some ports share a LID" in routed.notes[0]
    sound(routed.fabric, routed.tables)


@pytest.mark.usefixtures("moves")
def test_routes_are_saved_and_loaded(tmp_path: Path) -> None:
    torus = obliv.topology("torus:5x5")
    fabric = from_topology(torus)
    tree = from_topology(obliv.topology("fattree:8,2"))
    dor = tables_of(obliv.routing("dor", torus), fabric)
    for result in (route(tree, most_lmc=0), route(tree), route(fabric, tables=dor)):
        result.save(tmp_path / "route.json")
        again = obliv.load(tmp_path / "route.json")
        assert again == result
        assert again.tables is None
        assert repr(again) == repr(result)
        assert list(again.rows()) == list(result.rows())
        assert pickle.loads(pickle.dumps(result)) == result


def test_lids_and_lmcs_that_cannot_be() -> None:
    fabric = from_topology(obliv.topology("fattree:4,2"))
    lmc, lid = fabric.ports.lmc.copy(), fabric.ports.lid.copy()
    lmc[fabric.endpoints[2]] = 9
    assert route(fabric.with_ports(lmc=lmc), "dmodk").lmc == 0
    lid[fabric.endpoints[2]] = 2**30
    with pytest.raises(RoutingError, match="LID 1073741824"):
        route(fabric.with_ports(lid=lid), "dmodk")


def test_adapters_with_two_ports_and_routers_and_back_to_back_cables(tmp_path: Path) -> None:
    path = tmp_path / "odd.net"
    path.write_text(
        'Switch 5 "S1"\n[1] "H1"[1]\n[2] "H1"[2]\n[3] "S2"[1]\n[4] "S2"[2]\n[5] "R1"[1]\n\n'
        'Switch 4 "S2"\n[1] "S1"[3]\n[2] "S1"[4]\n[3] "H2"[1]\n\n'
        'Ca 2 "H1"\n[1] "S1"[1]\n[2] "S1"[2]\n\nCa 2 "H2"\n[1] "S2"[3]\n\nRt 1 "R1"\n[1] "S1"[5]\n\n'
        'Ca 1 "H3"\n[1] "H4"[1]\n\nCa 1 "H4"\n[1] "H3"[1]\n'
    )
    routed = route(read_fabric(path))
    fabric, ends = routed.fabric, routed.fabric.endpoints.tolist()
    names = [f"{fabric.nodes.ident[fabric.node_of[e]]}.{fabric.port_of(e)}" for e in ends]
    assert sorted(names) == ["H1.1", "H1.2", "H2.1", "H3.1", "H4.1"]
    inside = [e for e, name in zip(ends, names, strict=True) if name[:2] in ("H1", "H2")]
    for s in inside:
        for d in inside:
            assert s == d or len(walked(fabric, routed.tables, s, int(fabric.ports.lid[d]))) in (2, 3)
    assert routed.after.missing == 2 * 2 * 3  # the two that only see each other
    router = int(fabric.first_slot[fabric.nodes.ident.index("R1")]) + 1
    assert (routed.tables.out[:, fabric.ports.lid[router]] != NONE).all()


@st.composite
def fabrics(draw: st.DrawFn) -> Fabric:
    """Any heap of switches and hosts, with parallel cables and cables to themselves; the hosts' switches are joined."""
    switches = draw(st.integers(1, 7))
    links = [(v, draw(st.integers(0, v - 1))) for v in range(1, switches)]
    links += draw(st.lists(st.tuples(st.integers(0, switches - 1), st.integers(0, switches - 1)), max_size=8))
    at = draw(st.lists(st.integers(0, switches - 1), min_size=2, max_size=8))
    links += [(switches + h, v) for h, v in enumerate(at)]
    both = [*links, *[(b, a) for a, b in links]]
    hosts = range(switches, switches + len(at))
    fabric = from_topology(build("any", switches + len(at), both, terminals=hosts), lmc=draw(st.integers(0, 2)))
    return relabelled(fabric, draw(st.integers(0, 99)))[0]


@examples(60)
@given(fabrics())
def test_any_fabric_is_routed_without_loops(fabric: Fabric) -> None:
    routed = route(fabric, effort=0.02)
    assert routed.after.missing == 0
    assert not routed.after.credit_loops
    sound(routed.fabric, routed.tables)


@pytest.mark.nightly
@examples(15)
@given(fabrics(), st.sampled_from([0, 1, -1]))
def test_the_kernel_does_the_same_compiled(fabric: Fabric, step: int) -> None:
    net = switch_network(network(fabric))
    tiers = tiers_of(net, recognise(fabric))

    def tables() -> list[np.ndarray]:
        made = [evenly(net, central_ranks(net), even=True)]
        if tiers is not None:
            plan = dmodk(tiers)
            made += [by_digits(net, level_ranks(net, tiers), plan, step, even) for even in (False, True)]
        return [one.out for one in made]

    kernels = (fill_by_digits, fill_evenly, even_out)
    plain, python = tables(), [kernel.python for kernel in kernels]
    try:
        for kernel in kernels:
            kernel.python = kernel.compiled()
        assert all((one == other).all() for one, other in zip(tables(), plain, strict=True))
    finally:
        for kernel, function in zip(kernels, python, strict=True):
            kernel.python = function


def test_engines_are_known_by_name() -> None:
    assert [engine_of(name).name for name in ENGINES] == [*ENGINES]
    assert set(AUTO) <= set(ENGINES)


def test_an_engine_is_a_record_and_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of its own: what it yields is compared like all others, and where it does not fit it says why."""
    fabric = from_topology(obliv.topology("ring:4"))

    def candidates(request: Request) -> Iterator[Candidate]:
        yield replace(next(engine_of("updown").candidates(request)), engine="mine")

    mine = Engine("mine", candidates, lambda request: "" if request.grid else "mine is for grids")
    monkeypatch.setattr(fill, "MINE", mine, raising=False)
    monkeypatch.setitem(ENGINES, "mine", "fill:MINE")
    found = route(fabric, "mine")
    assert (found.engine, found.after) == ("mine", route(fabric, "updown").after)
    with pytest.raises(RoutingError, match="mine is for grids"):
        route(from_topology(obliv.topology("graph:petersen")), "mine")
    monkeypatch.setattr(module, "AUTO", ("mine",))
    assert [one.engine for one in route(fabric).tried] == ["mine"]


def test_tables_that_cannot_be_loaded_are_not_written(tmp_path: Path) -> None:
    tree = obliv.topology("fattree:4,2")
    fabric = from_topology(tree)
    tables = tables_of(obliv.routing("dmodk", tree), fabric)
    path = tmp_path / "new.lfts"
    path.write_text("old")
    out = tables.out.copy()
    out[2, 9] = 5
    for wrong, where, message in (
        (replace(tables, out=out), fabric, "names port 5, the last port is 4"),
        (tables, with_nodes(fabric, guid=np.zeros_like(fabric.nodes.guid)), "has no GUID"),
        (replace(tables, switch=tables.switch[:0], out=out[:0]), fabric, "there is no table"),
    ):
        with pytest.raises(FileError, match=message):
            write_tables(wrong, where, path)
        assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["new.lfts"]


@pytest.mark.nightly
def test_the_standing_of_tables() -> None:
    tree = obliv.topology("fattree:8,3")
    fabric = with_lids(from_topology(tree), 1)
    tables = tables_of(obliv.routing("dmodk", tree), fabric)
    result = standing_of(fabric_routing(network(fabric), tables, "spread", missing="skip"))
    assert proved(result) == (7, 0, False, 1)
    assert result.to_dict()["worst"] == {"exact": "7", "value": 7.0}
