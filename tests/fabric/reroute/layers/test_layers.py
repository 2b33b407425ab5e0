"""Tables on layers: every pair arrives, no layer has a cycle, and loads are those of the definition."""

from __future__ import annotations

import re
from fractions import Fraction
from graphlib import TopologicalSorter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fabric.damage import without
from tests.fabric.walks import walked, worst_by_hand
from tests.strategies import examples

import obliv
from obliv.errors import FileError, InputError
from obliv.fabric.generate import from_topology
from obliv.fabric.lanes.pairs import PairLevels, one_level, write_policy
from obliv.fabric.model import Fabric
from obliv.fabric.reroute.layers import starting_routes
from obliv.fabric.reroute.route import route
from obliv.fabric.reroute.tiers import switch_network
from obliv.fabric.results.route import FabricRoute
from obliv.fabric.topology import network
from obliv.topologies.recognise.grids import nearest_grid

QUICK = 0.02  # effort: enough for small fabrics


def level_of(levels: PairLevels | None, fabric: Fabric, s: int, d: int) -> int:
    """The service level of a pair of places among the endpoints."""
    if levels is None:
        return 0
    many = 1 << fabric.ports.lmc[fabric.endpoints].astype(int)
    column = int(many[:d].sum()) if levels.masks.shape[1] > 1 else 0
    mask = int(levels.masks[s if len(levels.masks) > 1 else 0, column])
    assert mask.bit_count() == 1
    return mask.bit_length() - 1


def sound(result: FabricRoute, lanes: int) -> None:
    """Every pair arrives, no lane has packets that wait in a circle, and the load is that of the definition."""
    fabric, tables = result.fabric, result.tables
    follows: dict[tuple[int, int], set[tuple[int, int]]] = {}
    for s, start in enumerate(fabric.endpoints.tolist()):
        for d, goal in enumerate(fabric.endpoints.tolist()):
            if s != d:
                level = level_of(result.levels, fabric, s, d)
                assert level < lanes
                for before, after in pairwise(walked(fabric, tables, start, int(fabric.ports.lid[goal]))):
                    follows.setdefault((after, level), set()).add((before, level))
    list(TopologicalSorter(follows).static_order())
    assert result.after.worst == worst_by_hand(fabric, tables, [0])
    assert not result.after.credit_loops
    assert not result.after.missing


@examples(12)
@given(seed=st.integers(0, 10**6), lanes=st.integers(1, 3), hosts=st.integers(1, 3))
def test_any_fabric_within_any_number_of_lanes(seed: int, lanes: int, hosts: int) -> None:
    rng = np.random.default_rng(seed)
    switches = int(rng.integers(4, 8))
    links = [(v, int(rng.integers(v))) for v in range(1, switches)]
    links += [tuple(rng.choice(switches, 2, replace=False).tolist()) for _ in range(int(rng.integers(1, 7)))]
    beside = [(switches + h, int(rng.integers(switches))) for h in range(switches * hosts // 2 + 2)]
    both = [pair for a, b in links + beside for pair in ((a, b), (b, a))]
    fabric = from_topology(obliv.build("random", switches + len(beside), both, terminals=[h for h, _ in beside]))
    result = route(fabric, "layered", lanes=lanes, effort=QUICK, rng=seed)
    sound(result, lanes)
    assert result.after.worst <= route(fabric, "updown").after.worst
    again = route(fabric, "layered", lanes=lanes, effort=QUICK, rng=seed)
    assert np.array_equal(again.tables.out, result.tables.out)


@pytest.mark.parametrize(
    ("spec", "lanes", "load"),
    [
        ("hyperx:4x4", 1, 1),  # dimension order: one turn, and no two pairs of a permutation share a channel
        ("torus:5x5", 3, 2),  # as LASH of OpenSM with three lanes
        ("ring:6", 2, 2),  # minimal routes: two packets each way over the cable opposite
    ],
)
@pytest.mark.usefixtures("moves")
def test_known_loads(spec: str, lanes: int, load: int) -> None:
    result = route(from_topology(obliv.topology(spec)), "layered", lanes=lanes, effort=QUICK)
    assert result.after.worst == load
    sound(result, lanes)


@pytest.mark.nightly
@pytest.mark.usefixtures("moves")
def test_a_damaged_grid_starts_from_dimension_order() -> None:
    fabric = from_topology(obliv.topology("torus:5x5"))
    _, _, trunks = fabric.trunks
    damaged = without(fabric, trunks[:1].tolist())
    tail, head, _ = damaged.trunks
    grid = nearest_grid(len(damaged.switches), np.stack([tail, head], axis=1))
    names = [name for name, _ in starting_routes(switch_network(network(damaged)).switches, grid)]
    assert names == ["shortest", "dor"]
    sound(route(damaged, "layered", lanes=4, effort=QUICK), 4)


def test_auto_is_never_worse_than_up_down_and_stops_at_the_bound() -> None:
    ring = route(from_topology(obliv.topology("ring:6")), effort=QUICK)
    assert [attempt.engine for attempt in ring.tried] == ["updown", "dor-dateline", "layered"]
    assert ring.tried[1].reason == "needs 2 virtual lanes, and OpenSM's plug-in for them"
    tree = route(from_topology(obliv.fattree(4, 2)))
    assert "layered" not in [attempt.engine for attempt in tree.tried]


def read_policy(text: str) -> tuple[dict[str, list[tuple[int, int]]], dict[str, int], list[tuple[str, str, str]]]:
    """Groups as ranges of GUIDs, levels, and rules of a policy."""
    groups, levels, rules = {}, {}, []
    for block in re.findall(r"port-group\n(.*?)end-port-group\n", text, re.S):
        guids = re.findall(r"0x[0-9a-f]{16}(?:-0x[0-9a-f]{16})?", block)
        ends = [[int(guid, 16) for guid in one.split("-")] for one in guids]
        groups[re.search(r"name: (\w+)", block)[1]] = [(pair[0], pair[-1]) for pair in ends]  # type: ignore[index]
    for name, sl in re.findall(r"qos-level\n\s+name: (\w+)\n\s+sl: (\d+)", text):
        levels[name] = int(sl)
    for block in re.findall(r"qos-match-rule\n(.*?)end-qos-match-rule\n", text, re.S):
        parts = dict(re.findall(r"([\w-]+): (\w+)", block))
        rules.append((parts.get("source", ""), parts["destination"], parts["qos-level-name"]))
    return groups, levels, rules


@pytest.mark.nightly
@pytest.mark.parametrize(("spec", "lanes"), [("torus:5x5", 3), ("random-regular:n=14,d=4,seed=2", 2)])
@pytest.mark.usefixtures("moves")
def test_policies_give_every_pair_its_level(spec: str, lanes: int, tmp_path: Path) -> None:
    result = route(from_topology(obliv.topology(spec)), "layered", lanes=lanes, effort=QUICK)
    fabric = result.fabric
    count = write_policy(result.levels, fabric, tmp_path / "policy")
    groups, levels, rules = read_policy((tmp_path / "policy").read_text())
    assert len(rules) == count
    assert levels["DEFAULT"] == 0
    guid = fabric.ports.guid[fabric.endpoints].tolist()

    def member(value: int, group: str) -> bool:
        return not group or any(low <= value <= high for low, high in groups[group])

    for s, source in enumerate(guid):
        for d, goal in enumerate(guid):
            if s != d:
                fits = [levels[name] for a, b, name in rules if member(source, a) and member(goal, b)]
                assert (fits or [0]) == [level_of(result.levels, fabric, s, d)]


@pytest.mark.nightly
@pytest.mark.usefixtures("moves")
def test_pair_by_pair_for_the_check(tmp_path: Path) -> None:
    for lanes in (1, 3):
        result = route(from_topology(obliv.topology("torus:5x5")), "layered", lanes=lanes, effort=QUICK)
        levels = result.levels or one_level(0)
        obliv.fabric.write_psl(levels, result.fabric, tmp_path / "pairs.psl")
        lines = [line.split() for line in (tmp_path / "pairs.psl").read_text().splitlines()]
        ends = result.fabric.endpoints
        place = {int(guid): s for s, guid in enumerate(result.fabric.nodes.guid[result.fabric.node_of[ends]])}
        owner = {int(lid): d for d, lid in enumerate(result.fabric.ports.lid[ends])}
        assert len(lines) == len(ends) * (len(ends) - 1)
        for guid, lid, sl in lines:
            assert int(sl) == level_of(levels, result.fabric, place[int(guid, 16)], owner[int(lid)])
        lanes_read = obliv.fabric.read_lanes(result.fabric, "identity", tmp_path / "pairs.psl")
        check = obliv.fabric.check(result.fabric, result.tables, lanes=lanes_read)
        assert check.credit is not None
        assert check.credit.acyclic


@pytest.mark.parametrize("lmc", [0, 7])
def test_every_lid_has_a_line(lmc: int, tmp_path: Path) -> None:
    fabric = from_topology(obliv.topology("ring:3"), lmc=lmc)
    obliv.fabric.write_psl(one_level(2), fabric, tmp_path / "pairs.psl")
    lines = [line.split() for line in (tmp_path / "pairs.psl").read_text().splitlines()]
    assert len({(guid, lid) for guid, lid, _ in lines}) == len(lines) == 3 * 2 << lmc
    assert {sl for *_, sl in lines} == {"2"}


def test_policies_that_cannot_be(tmp_path: Path) -> None:
    fabric = from_topology(obliv.topology("ring:4"))
    with pytest.raises(FileError, match="every pair needs one service level"):
        write_policy(PairLevels("two", np.full((1, 4), 3, np.uint16)), fabric, tmp_path / "policy")
    bare = fabric.with_ports(guid=np.zeros_like(fabric.ports.guid))
    with pytest.raises(FileError, match="4 ports of hosts without a GUID"):
        write_policy(PairLevels("one", np.full((1, 4), 2, np.uint16)), bare, tmp_path / "policy")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("lanes", "effort"), [(0, 1.0), (16, 1.0), (1, 0.0), (1, float("nan"))])
def test_options_out_of_range(lanes: int, effort: float) -> None:
    with pytest.raises(InputError, match=r"out of range|not a number"):
        route(from_topology(obliv.ring(4)), "layered", lanes=lanes, effort=effort)


def test_loads_count_bandwidths() -> None:
    pairs = [(0, 1), (1, 2), (2, 0), (0, 3), (1, 4), (2, 5)]
    links = [link for a, b in pairs for link in ((a, b), (b, a))]
    slow = [Fraction(1, 2) if link in ((0, 1), (1, 0)) else Fraction(1) for link in links]
    fabric = from_topology(obliv.build("triangle", 6, links, terminals=[3, 4, 5], bandwidth=slow))
    unit = switch_network(network(fabric)).switches.unit
    assert sorted(unit.tolist()) == [1, 1, 1, 1, 2, 2]
