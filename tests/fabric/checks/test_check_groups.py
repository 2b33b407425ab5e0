"""Checks of group tables: every kind of finding, and what any choice of the switches can do, against all paths."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from tests.fabric.adaptive.by_choices import choices_at, random_groups, ways
from tests.fabric.by_hand import random_fabric

import obliv
from obliv.fabric.checks.check import check
from obliv.fabric.generate import from_topology, tables_of
from obliv.fabric.model import Fabric
from obliv.fabric.names import FREE, GroupTables, SubGroup
from obliv.fabric.reroute.fill import groups_of
from obliv.fabric.results.check import FabricCheck, Finding

TREE = obliv.topology("fattree:4,2")
FABRIC = from_topology(TREE)
LIDS = FABRIC.ports.lid[FABRIC.endpoints].tolist()


def kinds(result: FabricCheck) -> set[str]:
    return {finding.kind for finding in result.findings if finding.severity != "note"}


def changed(fabric: Fabric, **values: Any) -> GroupTables:
    """Groups of a fabric, with another entry of its first switch for the last LID."""
    groups = groups_of(fabric)
    columns = {name: getattr(groups, name).copy() for name in ("port", "state", "group")}
    table = dict(groups.groups[0])
    if "ports" in values:
        table[9] = (SubGroup(0, 0, values.pop("ports")),)
        values["group"] = 9
    for name, value in values.items():
        columns[name][0, LIDS[-1]] = value
    return replace(groups, groups=(table, *groups.groups[1:]), **columns)


def test_sound_groups() -> None:
    result = check(FABRIC, groups=groups_of(FABRIC))
    assert result.ok
    assert not kinds(result)
    assert result.adaptive[0].credit.acyclic
    assert (result.adaptive[0].unrouted, result.adaptive[0].loops) == (0, 0)
    assert result.routing == "far:updn"
    assert obliv.FabricCheck.from_dict(result.to_dict()).adaptive == result.adaptive


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({"group": 5}, {"no-group", "choice-lost"}),
        ({"ports": ()}, {"no-group", "choice-lost"}),
        ({"ports": (3, 9)}, {"group-port", "choice-lost", "static-port"}),
        ({"ports": (3, 4, 0)}, {"group-port", "choice-lost"}),
        ({"port": 1}, {"static-port", "wrong-end"}),
        ({"ports": (1, 3, 4)}, {"choice-lost"}),
    ],
)
def test_defects(values: dict[str, Any], found: set[str]) -> None:
    result = check(FABRIC, groups=changed(FABRIC, **values))
    assert kinds(result) == found
    assert (result.adaptive[0].unrouted > 0) == ("choice-lost" in found)
    if "choice-lost" in found:  # from the two hosts of the leaf to one of the last
        assert result.adaptive[0].unrouted == 2


@pytest.mark.parametrize("routing", [None, "dmodk"])
def test_what_a_file_of_groups_says_is_found_once(routing: str | None) -> None:
    noted = replace(groups_of(FABRIC), findings=(Finding("warning", "far", "a line is damaged", "updn", 7),))
    tables = None if routing is None else tables_of(obliv.routing(routing, TREE), FABRIC)
    assert len(check(FABRIC, tables, groups=noted).of("far")) == 1


def test_circles_are_printed() -> None:
    """Two leaves that send packets for a third one back up to a spine, which may send them on to either leaf."""
    groups = groups_of(FABRIC)
    spine = len(groups.switch) - 1
    table = dict(groups.groups[spine])
    table[3] = (SubGroup(0, 0, (1, 2, 4)),)
    state, group = groups.state.copy(), groups.group.copy()
    state[spine, LIDS[-1]], group[spine, LIDS[-1]] = FREE, 3
    result = check(FABRIC, groups=replace(groups, groups=(*groups.groups[:-1], table), state=state, group=group))
    assert "choice-loop" in kinds(result)
    assert result.adaptive[0].loops > 0
    loop = result.of("choice-loop")[0].message
    assert "-> back to the first" in loop
    assert "port" in loop


def test_credit_loops_by_choices_only() -> None:
    """Minimal groups on a torus of 4 by 4: dimension order as static ports is free of circles, the choices are not."""
    mesh = obliv.topology("mesh:3x3")
    fabric = from_topology(mesh)
    groups = groups_of(fabric, "minimal")
    static = tables_of(obliv.routing("dor", mesh), fabric)
    result = check(fabric, static, groups=groups)
    assert result.credit is not None
    assert result.credit.acyclic
    assert not result.adaptive[0].credit.acyclic
    assert {finding.severity for finding in result.of("choice-credit-loop")} == {"warning"}
    assert "static-differs" in kinds(result)


@pytest.mark.parametrize("seed", range(16))
def test_what_choices_can_do(seed: int) -> None:
    """Pairs that lose packets and dependencies of channels are those of all paths."""
    fabric = random_fabric(seed, lmc=seed % 2)
    groups = random_groups(fabric, seed, damage=seed % 3 * 2)
    part = check(fabric, groups=groups).adaptive[0]
    ends = fabric.endpoints.tolist()
    lids = {
        d: range(int(fabric.ports.lid[d]), int(fabric.ports.lid[d]) + (1 << int(fabric.ports.lmc[d]))) for d in ends
    }
    lost = [
        (s, d) for s in ends for d in ends if s != d and any(ways(fabric, groups, s, d, lid) is None for lid in lids[d])
    ]
    assert part.unrouted == len(lost)
    if not lost:
        follows = set()
        for s in ends:
            for d in ends:
                for lid in lids[d] if s != d else ():
                    for path in ways(fabric, groups, s, d, lid) or {}:
                        follows |= set(pairwise(path[1:-1]))
        assert part.credit.dependencies == len(follows)
        assert part.credit.acyclic == (not _cyclic(follows))


def _cyclic(follows: set[tuple[int, int]]) -> bool:
    left = dict.fromkeys(slot for pair in follows for slot in pair)
    while left:
        ends = [slot for slot in left if not any((slot, other) in follows for other in left)]
        if not ends:
            return True
        for slot in ends:
            del left[slot]
    return False


def test_the_oracle_sees_ports() -> None:
    assert choices_at(groups_of(FABRIC), int(FABRIC.switches[0]), LIDS[-1]) == (3, 4)
