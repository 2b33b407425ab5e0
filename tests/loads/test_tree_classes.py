"""Classes of hosts with the same path numbers, on fat trees: rules by brute force, merged channels, symmetries."""

from __future__ import annotations

import numpy as np
import pytest

import obliv
from obliv._util.arrays import Array
from obliv.loads import tree as tree_loads
from obliv.loads.tree import TreeLoads
from obliv.questions.worst_case import orbits

TREES = [
    "fattree:4,3",
    pytest.param("fattree:4,4", marks=pytest.mark.nightly),
    "eft2:8,5",
    "xgft:3;3,2,4;1,2,3",
    "xgft:2;3,4;2,3",
    "xgft:3;2,3,2;1,3,2",
]
RULES = [
    *("dmodk", "smodk", "hash", "wsr", "osrm2", "osrm2-c", "osrm2-c:lids=1", "osrm3", "osrm3-d", "osrmn", "osrm-k:2"),
    *("kpath:2", "kpath:2,base=osrmn", "kpath:2,select=disjoint", "kpath:2,select=random"),
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("tree", TREES)
def test_path_numbers_depend_on_the_turn_and_the_classes_only(tree: str, rule: str) -> None:
    loads = _loads(rule, tree)
    hosts = np.arange(loads.terminals)
    source, destination = (end.ravel() for end in np.meshgrid(hosts, hosts))
    of_source, of_destination = loads.classes
    key = loads.topology.turn(source, destination), of_source[source], of_destination[destination]
    _, first, group = np.unique(np.stack(key), axis=1, return_index=True, return_inverse=True)
    ways = loads.ways(source, destination)
    assert np.array_equal(ways, ways[first][group.ravel()])


@pytest.mark.sampled(24)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("tree", TREES)
def test_merged_channels_and_symmetries_are_those_of_single_hosts(
    tree: str, rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads = _loads(rule, tree)
    plain = TreeLoads(loads.topology, loads.ways, loads.denominator)
    single = [plain.weights(c) for c in range(loads.topology.channels)]
    rates = loads.rates
    maps = [*loads.topology.generators, *loads.symmetries(), *_broken(loads)]
    for g in maps:  # the definition, by all numbers of all channels
        assert loads.keeps(g) == plain.keeps(g) == _by_definition(loads, g)
    focus = set(orbits(loads.topology, loads.symmetries()).focus.tolist())
    monkeypatch.setattr(tree_loads, "_FEW", 0)
    for channel, wanted in enumerate(single):
        merged = loads.weights(channel)
        for one, two in zip(_sorted(merged.spread()), _sorted(wanted.spread()), strict=True):
            assert np.array_equal(one, two)
        if channel in focus:
            assert loads.solve(channel, rates).value == plain.solve(channel, rates).value
    merged_answer, answer = obliv.worst_case(loads), obliv.worst_case(plain, symmetry="off")
    assert (merged_answer.channel_load, merged_answer.channel) == (answer.channel_load, answer.channel)
    assert merged_answer.permutation is not None
    assert merged_answer.channel is not None
    worst = obliv.permutation(merged_answer.permutation)
    assert plain.load_under(worst, merged_answer.channel.id) == merged_answer.channel_load


def test_a_rule_that_replaces_another_does_not_inherit_its_classes() -> None:
    class ByBoth(obliv.DModK):
        def ways(self, source: Array, destination: Array) -> Array:
            return super().ways(source + destination, destination)

    class Same(ByBoth):
        def classes(self) -> tuple[Array, Array]:
            return np.arange(16), np.arange(16)

    tree = obliv.fattree(4, 3)
    for rule in (ByBoth, Same):
        assert rule(tree).pair_loads().classes[0].tolist() == list(range(16))


def _loads(rule: str, tree: str) -> TreeLoads:
    topology = obliv.topology(tree)
    try:
        routing = obliv.routing(rule, topology)
    except obliv.RoutingError:
        pytest.skip(f"{rule} is not for {tree}")
    loads = routing.pair_loads()
    assert isinstance(loads, TreeLoads)
    return loads


def _sorted(entries: tuple[Array, Array, Array]) -> tuple[Array, ...]:
    order = np.lexsort((entries[1], entries[0]))
    return tuple(column[order] for column in entries)


def _broken(loads: TreeLoads) -> list[Array]:
    """Return maps that few rules keep: two hosts exchanged, which is no automorphism on some trees, and two pairs."""
    maps = np.tile(np.arange(loads.topology.nodes), (2, 1))
    maps[:, [0, 1]] = 1, 0
    maps[1, [loads.terminals - 2, loads.terminals - 1]] = loads.terminals - 1, loads.terminals - 2
    return list(maps)


def _by_definition(loads: TreeLoads, g: Array) -> bool:
    topology = loads.topology
    pairs = {(int(a), int(b)): c for c, (a, b) in enumerate(zip(topology.tail, topology.head, strict=True))}
    tables = []
    for c in range(topology.channels):
        table = np.zeros((loads.terminals,) * 2, np.int64)
        row, col, weight = loads.weights(c).spread()
        table[row, col] = weight
        tables.append(table)
    place = g[: loads.terminals]
    for c, table in enumerate(tables):
        image = tables[pairs[int(g[topology.tail[c]]), int(g[topology.head[c]])]]
        if not np.array_equal(table, image[np.ix_(place, place)]):
            return False
    return True
