"""Tables for trees with parallel cables and for trees of any wiring, beside the textbook and beside OpenSM's."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fabric.damage import cables, relabelled
from tests.fabric.damage import without as damaged
from tests.fabric.opensm import needs_opensm, simulated
from tests.fabric.trees import Tree, drawn
from tests.fabric.walks import walked
from tests.strategies import examples

import obliv
from obliv.errors import InputError, SpecError
from obliv.fabric.files.folder import read
from obliv.fabric.files.lft import write_net
from obliv.fabric.kernels.fill import even_out, fill_evenly
from obliv.fabric.model import NONE, Fabric, Tables
from obliv.fabric.reroute.fill import flows, groups_of
from obliv.fabric.reroute.quality import single_path_bound, standing_of
from obliv.fabric.reroute.route import route as route_with_effort
from obliv.fabric.reroute.tiers import central_ranks, switch_network
from obliv.fabric.results.route import Standing
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.routes.routing import uniform_bound
from obliv.fabric.shape import recognise
from obliv.fabric.topology import network
from obliv.topologies.make import build

route = partial(route_with_effort, effort=0.02)

#: Complete trees that are not tapered, whose numbers of D-mod-k do not meet where a shift comes round to host 0.
WHOLE = [
    Tree(4, 4, 2, 2),
    Tree(8, 16, 4, 4),
    Tree(6, 6, 2, 3),
    Tree(5, 8, 8, 1),
    Tree(4, 4, 2, 2, 4, 4, 2, True),
    Tree(4, 4, 2, 2, 4, 2, 4),
    Tree(4, 4, 4, 1, 4, 4, 1, True),
    Tree(2, 6, 3, 2, 3, 2, 2),
]


def judged(fabric: Fabric, tables: Tables) -> Standing:
    return standing_of(fabric_routing(network(fabric), tables, "0", missing="skip"))


def by_definition(tree: Tree) -> tuple[Fraction, Fraction, Fraction]:
    """The uniform load and the worst and mean load of shifts under D-mod-k, one route after another."""
    hosts = tree.pods * tree.leaves * tree.hosts
    every = Counter(c for s in range(hosts) for d in range(hosts) for c in tree.d_mod_k(s, d))
    uniform = max(Fraction(hosts - 1), *map(Fraction, every.values())) / hosts
    shifts = []
    for by in range(1, hosts):
        under = Counter(c for s in range(hosts) for c in tree.d_mod_k(s, (s + by) % hosts))
        shifts.append(max(1, *under.values()) if under else 1)
    return uniform, Fraction(max(shifts)), Fraction(sum(shifts), hosts - 1)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("tree", [*WHOLE, Tree(3, 6, 2, 2), Tree(4, 4, 2, 2, 4, 2, 2), Tree(3, 3, 3, 1, 3, 4, 2, True)])
def test_d_mod_k_is_that_of_the_textbook(tree: Tree) -> None:
    after = route(tree.fabric(), "dmodk").after
    uniform, worst, mean = by_definition(tree)
    assert after.shifts is not None
    assert (after.missing, after.uniform) == (0, uniform)
    if tree in WHOLE:
        assert (after.shifts.worst, after.shifts.mean) == (worst, mean)
    else:  # numbers that begin anew in each sub-tree can be better
        assert after.shifts.mean <= mean


@pytest.mark.sampled(2)
@pytest.mark.parametrize("tree", WHOLE)
def test_shifts_do_not_meet_on_whole_trees(tree: Tree) -> None:
    hosts = tree.pods * tree.leaves * tree.hosts
    for by in ("uniform", "shifts"):
        after = route(tree.fabric(), by=by, most_lmc=0).after
        assert after.shifts is not None
        assert (after.uniform, after.shifts.worst, after.idle_channels) == (Fraction(hosts - 1, hosts), 1, 0)


@pytest.mark.parametrize(
    ("tree", "engine", "worst"),
    [
        (Tree(4, 4, 2, 2), "dmodk", 3),
        (Tree(4, 4, 2, 2), "osrm2", 2),
        (Tree(4, 4, 2, 2, 4, 4, 2, True), "dmodk", 4),
        (Tree(4, 4, 2, 2, 4, 2, 2), "dmodk", 6),
        (Tree(4, 4, 2, 2, 4, 2, 4), "osrm3-d", 8),  # switches in the middle stand for two of FT(8,3) each
        (Tree(4, 4, 2, 2, 4, 2, 4), "osrm3", 8),
    ],
)
def test_worst_cases_on_parallel_cables(tree: Tree, engine: str, worst: int) -> None:
    """Those of OpenSM's ftree where it has any; at most those of the theorem for a tree without parallel cables."""
    after = route(relabelled(tree.fabric(), 3)[0], engine).after
    assert after.worst <= worst if engine.startswith("osrm3") else after.worst == worst
    assert (after.missing, after.idle_channels) == (0, 0)


@pytest.mark.parametrize("spec", ["fattree:8,2", "xgft:3;2,3,4;1,2,3"])
def test_all_roots_of_a_tree_are_equally_high(spec: str) -> None:
    fabric = obliv.fabric.from_topology(obliv.topology(spec))
    after = route(fabric, "updown").after
    assert after.uniform == uniform_bound(network(fabric))
    assert after.idle_channels == 0


@pytest.mark.parametrize("tree", WHOLE)
def test_updown_is_left_out_only_where_it_cannot_be_better(tree: Tree) -> None:
    fabric = tree.fabric()
    rows = {row.engine: row for row in route(fabric).tried}
    dmodk, updown = rows["dmodk"].standing, route(fabric, "updown").after
    assert dmodk is not None
    assert rows["updown"].standing is None
    assert rows["updown"].reason.endswith("than dmodk")
    names = ("worst", "uniform", "worst-shift", "mean-shift", "idle", "lids")
    assert all(dmodk.figures[name] <= updown.figures[name] for name in names)


def test_parallel_cables_of_unlike_speeds() -> None:
    """Of two cables one is half as fast: 4 hosts send 3 to other leaves, over cables that carry 3."""
    plain = Tree(4, 4, 2, 2).topology()
    ends = list(zip(plain.tail.tolist(), plain.head.tolist(), strict=True))
    second = [min(end) >= 16 and end in ends[:c] for c, end in enumerate(ends)]
    speed = tuple(Fraction(1, 2) if slow else Fraction(1) for slow in second)
    fabric = obliv.fabric.from_topology(replace(plain, bandwidth=speed), rate="4xNDR")
    assert uniform_bound(network(fabric)) == 1
    assert route(fabric, by="uniform", most_lmc=0).after.uniform == 1


def test_parts_of_a_fabric_are_no_fault_of_its_tables() -> None:
    """A host at a switch of its own reaches nobody, whatever the tables: these stay a limit for new ones."""
    links = [(v, 17 + v // 4) for v in range(16)] + [(16, 21)]
    links += [(17 + leaf, 22 + spine) for leaf in range(4) for spine in range(4)]
    both = links + [(b, a) for a, b in links]
    fabric = obliv.fabric.from_topology(build("lonely", 26, both, terminals=range(17)))
    kept = route(fabric, tables=route(fabric, "dmodk").tables)
    assert (kept.engine, kept.after.missing) == ("kept", 32)
    assert not any("no limits" in note for note in kept.notes)


@pytest.mark.parametrize("tree", WHOLE[:5])
@pytest.mark.parametrize("rule", ["updn", "minimal"])
def test_static_ports_of_groups_are_those_of_d_mod_k(tree: Tree, rule: str) -> None:
    fabric = tree.fabric()
    groups = groups_of(fabric, rule)
    assert judged(fabric, groups.of_plft(groups.plfts[0]).static) == route(fabric, "dmodk").after


def test_trees_that_no_formula_has() -> None:
    """Switches in the middle that reach all roots are no XGFT: levels are enough."""
    fabric = Tree(3, 4, 2, 2, 3, 3, 2, True).fabric()
    assert recognise(fabric) is None
    result = route(fabric)
    assert result.shape == "tree of 3 levels"
    assert result.engine != "layered" or result.after.worst < result.candidates[0].standing.worst
    with pytest.raises(obliv.OblivError, match="use dmodk"):
        route(fabric, "osrm3")


@needs_opensm
@pytest.mark.parametrize("case", [*range(3), *(pytest.param(k, marks=pytest.mark.nightly) for k in range(3, 60))])
def test_no_worse_than_opensm(case: int, tmp_path: Path) -> None:
    """Sixty trees, more than twenty of them with parallel cables at two levels, and OpenSM's tables in the same run."""
    tree, gone = list(drawn(case + 1))[case]
    net = tmp_path / "tree.net"
    bare = tree.fabric(gone, case)
    write_net(bare, net)
    with simulated(net, tmp_path / "sim") as simulator:
        rivals = []
        for engine in ("ftree", "minhop"):
            if simulator.opensm("-R", engine) == engine:
                scan = simulator.kept("scan.txt", "ibnetdiscover")
                fabric, tables = read(scan, lft=tmp_path / "sim" / "opensm-lfts.dump")
                assert tables is not None
                rivals.append(judged(fabric, tables))
    ours = {
        "dmodk": route(fabric, "dmodk", by="uniform").after,
        "uniform": route(fabric, by="uniform", most_lmc=0).after,
        "shifts": route(fabric, by="shifts", most_lmc=0).after,
    }
    whole = not gone and not tree.tapered
    for name, after in ours.items():
        assert after.missing == 0
        assert after.shifts is not None
        for rival in rivals:
            assert rival.shifts is not None
            if name != "shifts" or whole:
                assert after.uniform <= rival.uniform, (name, tree, gone)
            if whole and name != "dmodk":  # by its definition, more cables upwards than hosts can meet in shifts
                assert after.shifts.mean <= rival.shifts.mean, (name, tree, gone)
            assert rival.idle_channels or not after.idle_channels, (name, tree, gone)


def test_tables_in_use_are_a_limit_for_every_figure() -> None:
    """OSRM2 guarantees more and takes more LIDs; it is taken only if the latter is allowed."""
    fabric = Tree(4, 4, 2, 2).fabric()
    good = route(fabric, "dmodk").tables
    kept = route(fabric, tables=good)
    assert kept.kept
    assert [one.chosen for one in kept.candidates] == [True, False, False, False, False]
    assert any(note == "osrm2-c: worst 2 instead of 3, if you allow lids=70" for note in kept.notes)
    assert route(fabric, tables=good, allow={"lids": 70}).engine == "osrm2-c"
    assert route(fabric, tables=good, allow={"lids": 69}).kept
    loose = route(fabric, tables=good, allow={"lids": 38, "shifts": 2})
    assert (loose.engine, loose.after.worst, loose.before.worst) == ("osrm2", 2, 3)  # type: ignore[union-attr]
    assert "38*" in repr(loose)
    assert "larger than in use" in repr(loose)
    assert route(fabric, tables=good, by="worst").engine == "osrm2-c"


def test_bad_tables_are_replaced() -> None:
    """All hosts of a leaf come down one of its parallel cables: a worst case as good, everything else worse."""
    fabric = Tree(4, 4, 2, 2).fabric()
    good = route(fabric, "dmodk").tables
    out = good.out.copy()
    hosts = fabric.ports.lid[fabric.endpoints]
    for row, node in enumerate(good.switch.tolist()):
        for leaf in range(4):
            mine = hosts[fabric.homes == leaf]
            if fabric.switch_row[node] > 3:  # a spine
                out[row, mine] = np.unique(out[row, mine])[leaf % 2]
    bad = replace(good, out=out)
    before = judged(fabric, bad)
    assert (before.uniform, before.worst, before.idle_channels) == (Fraction(3, 2), 3, 8)
    (idle,) = (one for one in obliv.fabric.check(fabric, bad).findings if one.kind == "idle-cables")
    assert idle.severity == "warning"
    assert idle.message.startswith("8 cables are used by no route in one direction: ")
    assert "and 5 more; uniform traffic loads others by 3/2" in idle.message
    result = route(fabric, tables=bad)
    assert not result.kept
    assert (result.after.uniform, result.after.worst) == (Fraction(15, 16), 3)
    assert not result.after.grown(before)


def test_broken_tables_are_no_limit() -> None:
    fabric = Tree(4, 4, 2, 2).fabric()
    good = route(fabric, "dmodk").tables
    out = good.out.copy()
    out[0, fabric.ports.lid[fabric.endpoints[9]]] = NONE
    result = route(fabric, tables=replace(good, out=out))
    assert (result.engine, result.after.missing) == ("osrm2-c", 0)
    assert any("4 pairs missing: their other figures are no limits" in note for note in result.notes)


def test_mistakes_about_figures() -> None:
    fabric = Tree(4, 4, 2, 2).fabric()
    tables = route(fabric, "dmodk").tables
    with pytest.raises(SpecError, match="did you mean worst"):
        route(fabric, by="wurst")
    with pytest.raises(InputError, match="did you mean uniform"):
        route(fabric, tables=tables, allow={"unifrom": 2})
    with pytest.raises(InputError, match="is negative"):
        route(fabric, tables=tables, allow={"LIDs": -1})
    with pytest.raises(InputError, match="is not a number"):
        route(fabric, tables=tables, allow={"uniform": "two"})
    with pytest.raises(InputError, match="with tables in use"):
        route(fabric, allow={"uniform": 2})
    with pytest.raises(InputError, match="give them"):
        route(fabric, by="balanced")


@st.composite
def trees(draw: st.DrawFn) -> Fabric:
    """Any of the trees, without some cables and with nodes and ports in another order."""
    tree, gone = next(drawn(1, draw(st.integers(0, 9999))))
    fabric = relabelled(tree.fabric(), draw(st.integers(0, 99)))[0]
    inner = cables(fabric)
    return damaged(
        fabric, np.random.default_rng(gone).choice(inner, min(gone, len(inner) // 8), replace=False).tolist()
    )


@examples(25)
@given(trees())
def test_figures_are_those_of_the_routes(fabric: Fabric) -> None:
    """By walking: what uniform traffic puts on channels, and which ones nothing uses; no bound is above a figure."""
    result = route(fabric, "updown")
    ends = fabric.endpoints.tolist()
    use = Counter(
        slot for s in ends for d in ends if s != d
        for slot in walked(fabric, result.tables, s, int(fabric.ports.lid[d]))
    )  # fmt: skip
    after, (_, _, trunks) = result.after, fabric.trunks
    assert after.uniform == Fraction(max(use.values()), len(ends))
    assert after.idle_channels == sum(use[slot] == 0 for slot in trunks.tolist())
    least = uniform_bound(network(fabric))
    assert least is not None
    assert least <= after.uniform
    bound = single_path_bound(fabric, recognise(fabric), 0)
    assert bound is None or bound[0] <= after.worst
    check = obliv.fabric.check(fabric, result.tables)
    assert (check.uniform_load, check.uniform_bound, check.idle_channels) == (after.uniform, least, after.idle_channels)


@examples(25)
@given(trees())
def test_evening_out_keeps_account(fabric: Fabric) -> None:
    """The loads that the kernels keep are those of the routes; the sum of their squares falls with every change."""
    net = switch_network(network(fabric))
    switches, ranks = net.switches, central_ranks(net)
    columns = np.arange(len(switches.home))
    load, routes = np.zeros(len(switches.tail), np.int64), np.empty((len(columns), len(switches.hosts)), np.int32)
    fill_evenly(columns, switches, ranks, load, routes)
    while True:
        assert (load == flows(switches, columns, routes)).all()
        before = int((load**2).sum())
        if not even_out(columns, switches, ranks, load, routes):
            break
        assert int((load**2).sum()) < before
