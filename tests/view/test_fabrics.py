"""Pictures of InfiniBand fabrics: trees on levels, grids as grids, hosts round their switch, ports at the hot cable."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.fabric.by_hand import with_nodes
from tests.view.drawn import boxes, legend, part, texts

import obliv
from obliv import view
from obliv.fabric.files.folder import read_fabric
from obliv.fabric.generate import from_routing, from_topology
from obliv.fabric.topology import FabricTopology, network
from obliv.view.layout import RADIUS, channel_lines, layout_of
from obliv.view.network.canvas import _parted


def fabric(spec: str, pulled: int = 0, seed: int = 0, names: Any = None) -> FabricTopology:
    """The fabric of a topology without some of the cables between its switches."""
    result = from_topology(obliv.topology(spec))
    rng = np.random.default_rng(seed)
    between = np.isin(result.node_of, result.switches) & (result.ports.peer >= 0)
    between[between] = np.isin(result.node_of[result.ports.peer[between]], result.switches)
    cables = np.flatnonzero(between & (np.arange(len(result.ports.peer)) < result.ports.peer))
    peer = result.ports.peer.copy()
    for slot in rng.permutation(cables)[:pulled].tolist():
        peer[[slot, result.ports.peer[slot]]] = -1
    return network(
        with_nodes(result.with_ports(peer=peer), description=names or result.nodes.description), f"fabric:{spec}"
    )


def cabled(tmp_path: Path, hosts: dict[str, str], cables: list[tuple[str, str]]) -> FabricTopology:
    """The fabric of hosts at their switches and of cables between switches, through a file."""
    lines: dict[str, list[str]] = {}
    for one, two in [*hosts.items(), *cables]:
        p, q = (len(lines.setdefault(each, [])) + 1 for each in (one, two))
        lines[one].append(f'[{p}] "{two}"[{q}]')
        lines[two].append(f'[{q}] "{one}"[{p}]')
    blocks = []
    for node, own in lines.items():
        blocks.append(f'{"Ca" if node in hosts else "Switch"} 40 "{node}" # "{node}"\n' + "\n".join(own) + "\n")
    (tmp_path / "a.net").write_text("\n".join(blocks))
    return network(read_fabric(tmp_path / "a.net"))


def levels(points: np.ndarray) -> list[int]:
    return np.unique(np.round(points[:, 1], 6), return_counts=True)[1].tolist()


@pytest.mark.parametrize("spec", ["fattree:4,3", "fattree:8,2", "eft2:8,6", "xgft:3;2,3,4;1,2,3"])
def test_a_tree_of_a_file_stands_like_the_tree_itself(spec: str) -> None:
    tree, result = layout_of(obliv.topology(spec)).points, layout_of(fabric(spec)).points
    assert levels(result) == levels(tree)
    hosts = len(obliv.topology(spec).terminals)
    assert np.allclose(result[:hosts], tree[:hosts])
    assert np.allclose(sorted(map(tuple, result.tolist())), sorted(map(tuple, tree.tolist())))


def test_a_damaged_tree_stands_on_its_levels_too() -> None:
    assert levels(layout_of(fabric("fattree:8,2", pulled=3)).points) == [32, 8, 4]
    assert levels(layout_of(fabric("fattree:8,3", pulled=8)).points) == [128, 32, 32, 16]


def test_switches_and_hosts_on_a_level_do_not_touch() -> None:
    points = layout_of(fabric("fattree:8,3")).points
    for low in np.unique(points[:, 1]):
        assert np.diff(np.sort(points[points[:, 1] == low, 0])).min() > 2 * RADIUS


def test_what_has_no_place_in_the_tree_stands_beside_it(tmp_path: Path) -> None:
    leaves, roots = [f"leaf{k}" for k in range(8)], [f"root{k}" for k in range(4)]
    hosts = {f"h{k:02d}": leaves[k // 4] for k in range(32)} | {"sm": "root1", "far": "gate"}
    cables = [(leaf, root) for leaf in leaves for root in roots] + [("gate", "leaf3"), ("gate2", "gate")]
    topology = cabled(tmp_path, hosts, cables)
    points = layout_of(topology).points
    at = {name: points[topology.node(name)] for name in topology.labels}
    assert len({at[name][1] for name in hosts if name.startswith("h")}) == 1
    assert at["sm"][1] > at["root1"][1]
    assert np.hypot(*(at["sm"] - at["root1"])) < 1.0
    assert len(np.unique(np.round(points, 6), axis=0)) == len(points)


def test_strange_switches_and_their_hosts_stand_apart(tmp_path: Path) -> None:
    hosts = {f"h{k}": "a" for k in range(6)} | {"p": "b", "q": "b"} | {f"w{k}": "c" for k in range(7)}
    topology = cabled(tmp_path, hosts, [("a", "b")])
    points = layout_of(topology).points
    assert len(np.unique(np.round(points, 6), axis=0)) == len(points)
    assert np.isfinite(points).all()


def test_one_switch_stands_above_its_hosts(tmp_path: Path) -> None:
    assert levels(layout_of(cabled(tmp_path, {f"h{k}": "s" for k in range(9)}, [])).points) == [9, 1]


def test_a_torus_is_a_grid_whose_outer_cables_leave_it() -> None:
    topology = fabric("torus:9x9")
    points = layout_of(topology).points
    switches = points[81:]
    assert levels(switches) == levels(switches[:, ::-1]) == [9] * 9
    wraps = 0
    for c, group in enumerate(channel_lines(topology, layout_of(topology))):
        assert all(np.ptp(line, axis=0).max() < 2.0 for line in group)
        wraps += len(group) == 2
        assert np.hypot(*(group[0][0] - points[topology.tail[c]])) == pytest.approx(RADIUS, abs=0.02)
        assert np.hypot(*(group[-1][-1] - points[topology.head[c]])) == pytest.approx(RADIUS, abs=0.02)
    assert wraps == 4 * 9


@pytest.mark.parametrize("spec", ["random-regular:n=30,d=4,seed=1", "dragonfly:p=2,a=4,h=2", "torus:9x9", "complete:6"])
def test_hosts_stand_nearest_to_their_own_switch(spec: str) -> None:
    topology = fabric(spec)
    points = layout_of(topology).points
    hosts = len(topology.fabric.endpoints)
    far = np.hypot(*np.moveaxis(points[:hosts, None] - points[None, hosts:], 2, 0))
    assert (far.argmin(axis=1) + hosts == topology.head[topology.first_channel[:hosts]]).all()


def test_parts_without_a_cable_between_them_stand_apart(tmp_path: Path) -> None:
    hosts = {f"h{k}": "abcdef"[k % 6] for k in range(18)}
    points = layout_of(cabled(tmp_path, hosts, [("a", "b"), ("b", "c"), ("c", "a"), ("d", "e")])).points
    gaps = [np.hypot(*(one - two)) for one, two in combinations(points, 2)]
    assert min(gaps) > 2 * RADIUS


def test_hosts_that_are_cabled_to_hosts_are_drawn(tmp_path: Path) -> None:
    topology = cabled(tmp_path, {"one": "two", "two": "one"}, [])
    assert np.isfinite(layout_of(topology).points).all()
    assert view.plot_topology(topology)


@pytest.mark.nightly
@pytest.mark.sampled(3)
@pytest.mark.parametrize("spec", ["fattree:4,2", "fattree:8,3", "torus:9x9"])  # names beside nodes, below some, no more
def test_both_ends_of_the_hot_cable_are_named_with_their_ports(spec: str) -> None:
    topology = fabric(spec)
    result = obliv.worst_case(obliv.routing("shortest", topology))
    ax = result.plot()
    slot = int(topology.slot_of[result.channel.id])
    one, two = topology.port_name(slot), topology.port_name(int(topology.fabric.ports.peer[slot]))
    assert {one, two} <= set(texts(ax))
    assert legend(ax)[0].startswith(f"worst cable {one} → {two}: load ")
    ends = [each for each in ax.texts if each.get_text() in (one, two)]
    assert len({each.get_color() for each in ends}) == 1
    assert texts(result.plot(labels=False)) == []


@pytest.mark.nightly
def test_loads_name_the_ends_too() -> None:
    topology = fabric("fattree:4,2")
    ax = view.draw_loads(topology, [1.0] * topology.channels, worst=3)
    assert topology.port_name(int(topology.slot_of[3])) in texts(ax)


def test_an_adapter_with_two_ports_does_not_say_its_port_twice(tmp_path: Path) -> None:
    (tmp_path / "two.net").write_text(
        'Ca 2 "H" # "both"\n[1] "S"[1]\n[2] "S"[2]\n\nSwitch 4 "S" # "sw"\n[1] "H"[1]\n[2] "H"[2]\n'
    )
    topology = network(read_fabric(tmp_path / "two.net"))
    ax = view.draw_loads(topology, [1.0] * topology.channels, worst=0)
    assert legend(ax)[0] == "cable both port 1 → sw port 1: 1"


@pytest.mark.nightly
def test_the_key_shows_the_color_that_is_drawn() -> None:
    from matplotlib.colors import to_rgba

    for topology in (fabric("fattree:4,2"), obliv.mesh(3, 3)):
        result = obliv.worst_case(obliv.routing("shortest", topology))
        for kind, name in (("network", "flows on the worst channel"), ("matrix", "pairs on the worst channel")):
            ax = result.plot(kind=kind)
            ax.figure.canvas.draw()
            drawn = part(ax, name)
            strongest = drawn.get_facecolor()[int(np.argmax(drawn.get_array()))]
            handles = ax.get_legend().legend_handles
            sign = next(
                h for h, text in zip(handles, legend(ax), strict=True) if "pair" in text and "other" not in text
            )
            assert to_rgba(sign.get_color())[:3] == pytest.approx(strongest[:3], abs=0.005)


@pytest.mark.nightly
def test_names_below_a_tree_stand_upright_clear_of_each_other_and_of_the_flows() -> None:
    outcome = from_topology(obliv.topology("fattree:8,2"))
    names = tuple(f"rack-{k // 8}-node-{k:03d}-chassis-3-slot-{k} HCA-1" for k in range(len(outcome.nodes)))
    result = obliv.worst_case(obliv.routing("shortest", fabric("fattree:8,2", names=names)))
    ax = result.plot()
    match = boxes(ax)
    assert len(match) >= 40
    assert not any(one.overlaps(two) for one, two in combinations(match.values(), 2))
    upright = [each for each in ax.texts if each.get_rotation() == 90]
    assert len(upright) == 32
    lowest = min(match[each.get_text()].y0 for each in upright)
    for name in ("flows on the worst channel", "other flows"):
        for path in part(ax, name).get_paths():
            assert ax.transData.transform(path.vertices)[:, 1].max() < lowest + 3.0
    around, figure = ax.get_tightbbox(), ax.figure.bbox
    assert around.x0 >= 0
    assert around.y0 >= 0
    assert around.x1 <= figure.width
    assert around.y1 <= figure.height


@pytest.mark.nightly
def test_hosts_of_many_are_named_where_there_is_room_below() -> None:
    ax = view.draw_topology(fabric("fattree:8,3"))
    assert len(texts(ax)) == 128
    assert texts(view.draw_topology(fabric("torus:9x9"))) == []


@pytest.mark.nightly
def test_pairs_both_ways_are_drawn_apart() -> None:
    topology = fabric("fattree:8,2")
    result = obliv.worst_case(obliv.routing("shortest", topology))
    both = tuple(range(32))[::-1]
    ax = dataclasses.replace(result, permutation=both).plot()
    paths = [path for name in ("flows on the worst channel", "other flows") for path in part(ax, name).get_paths()]
    lows = sorted(round(float(path.vertices[:, 1].min()), 3) for path in paths)
    assert len(set(lows)) == len(lows)


@pytest.mark.parametrize("pulled", [0, 5])
def test_large_trees_are_drawn_by_tiers(pulled: int) -> None:
    """Every cable is a cell of its own, with its load; missing cables are crosses on free places."""
    topology = fabric("fattree:24,2", pulled)
    loads = [Fraction(1 + c % 7) for c in range(topology.channels)]
    loads[5] = Fraction(0)
    ax = view.draw_loads(topology, loads)
    cells = part(ax, "channels")
    assert len(cells.get_paths()) == topology.channels - 1
    assert len(part(ax, "idle channels").get_paths()) == 1
    assert sorted(cells.get_array().tolist()) == sorted(float(load) for load in loads if load)
    corners = [tuple(path.vertices[0].round(6)) for path in cells.get_paths()]
    middles = [path.vertices[:4].mean(axis=0) for path in cells.get_paths()]
    assert len(set(corners)) == len(corners)
    crosses = [line for line in ax.lines if line.get_gid() == "missing cables"]
    assert len(crosses) == bool(pulled)
    if pulled:
        marked = np.column_stack([crosses[0].get_xdata(), crosses[0].get_ydata()])
        assert len(marked) == 2 * pulled
        apart = np.abs(np.array(middles)[None] - marked[:, None]).max(axis=2)
        assert apart.min() > 0.01
        assert "5 missing cables" in legend(ax)
    assert {"hosts → level 1", "level 1 → hosts", "level 1 → level 2", "level 2 → level 1"} == set(texts(ax))
    assert any(f"cable {topology.name_of(int(topology.tail[6]))}" in text for text in legend(ax))


def test_the_worst_case_of_a_large_tree_has_its_pairs() -> None:
    routing = from_routing(obliv.routing("dmodk", obliv.topology("fattree:24,2")))
    result = obliv.worst_case(routing)
    ax = result.plot()
    assert len(part(ax, "flows on the worst channel").get_paths()) == 12
    assert len(part(ax, "worst channel").get_paths()) == 1
    assert part(ax, "nodes") is None
    assert any("12 pairs that load it" in text for text in legend(ax))


def test_missing_cables_of_small_trees_are_dotted() -> None:
    topology = fabric("fattree:8,2", 3)
    points = layout_of(topology).points
    for ax in (view.draw_topology(topology), view.draw_loads(topology, [1] * topology.channels)):
        lines = part(ax, "missing cables")
        assert len(lines.get_segments()) == 3
        for segment in lines.get_segments():
            lower, upper = (int(np.abs(points - end).sum(axis=1).argmin()) for end in segment)
            assert lower >= topology.hosts
            assert not ((topology.tail == lower) & (topology.head == upper)).any()
        assert "3 missing cables" in legend(ax)
    assert part(view.draw_topology(fabric("fattree:8,2")), "missing cables") is None


def test_the_color_bar_of_a_job_of_one_phase_stands_clear_of_its_name() -> None:
    routing = from_routing(obliv.DModK(obliv.fattree(4, 2)))
    result = obliv.fabric.job(routing, [f"host({k},0)" for k in range(4)], "ring", hottest=3)
    ax = view.plot_job(result)
    ax.figure.draw_without_rendering()
    (colors,) = ax.child_axes
    names = [*ax.get_xticklabels(), ax.xaxis.label]
    assert min(each.get_window_extent().y0 for each in names) > colors.get_window_extent().y1
    assert colors.get_window_extent().width < ax.get_window_extent().width


def test_the_key_of_a_fabric_names_hosts_and_switches() -> None:
    key = ["host (sends and takes packets)", "switch (passes packets on)"]
    assert legend(view.plot_topology(fabric("torus:3x3"))) == key


def test_names_at_both_ends_of_a_cable_do_not_read_as_one() -> None:
    left, right, below = (0.0, 0.0, 100.0, 10.0), (101.0, 2.0, 200.0, 12.0), (50.0, -20.0, 150.0, -10.0)
    moved = _parted({4: (0.0, (0, 1), right), 7: (0.0, (0, 1), left)}, 8.0)
    assert moved[7][2] == (-3.5, 0.0, 96.5, 10.0)
    assert moved[4][2] == (104.5, 2.0, 203.5, 12.0)
    assert not _parted({4: (0.0, (0, 1), left), 7: (0.0, (0, -1), below)}, 8.0)
    assert not _parted({4: (0.0, (0, 1), left)}, 8.0)
