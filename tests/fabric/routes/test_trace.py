"""Ways through tables: against a walk in plain Python, with every way to go wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.fabric.by_hand import climbing, fabric_of, random_fabric, random_tables, walk

import obliv
from obliv.fabric.generate import from_topology
from obliv.fabric.kernels.automaton import endings
from obliv.fabric.model import Tables
from obliv.fabric.routes.trace import UNORDERED, Ending, trace, trace_all


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", range(40))
def test_all_ways_end_as_single_ones_do(seed: int) -> None:
    fabric = random_fabric(seed, lmc=seed % 3)
    tables = random_tables(fabric, seed, damage=seed % 4 * 3)
    traces = trace_all(fabric, tables)
    assert len(traces.lid) == 5 << seed % 3
    machine, at = np.empty_like(traces.code), np.empty(traces.code.shape, np.int32)
    endings.compiled()(traces.leaf, traces.lid, traces.endpoint, traces.hops, machine, at, UNORDERED)
    assert (machine == traces.code).all()
    ends = fabric.endpoints.tolist()
    for s in ends:
        leaf = traces.leaf.tolist().index(fabric.node_of[fabric.ports.peer[s]])
        for k, lid in enumerate(traces.lid.tolist()):
            d = ends[traces.endpoint[k]]
            right = walk(fabric, tables, s, d, lid)
            assert (traces.code[leaf, k] == Ending.DELIVERED) == (right is not None)
            result = trace(fabric, tables, s, lid)
            if s != d:
                assert result.ending == traces.code[leaf, k]
                nodes = fabric.node_of[result.slots[1:]].tolist()
                if result.ending == Ending.LOOP:
                    again = int(fabric.node_of[fabric.ports.peer[result.slots[-1]]])
                    assert at[leaf, k] == min(nodes[nodes.index(again) :])
                elif result.ending in (Ending.NO_CABLE, Ending.WRONG_END) and result.slots[1:]:
                    assert at[leaf, k] in (nodes[-1], fabric.node_of[fabric.ports.peer[result.slots[-1]]])
            if right is not None:
                assert result.slots == (right if s != d else [])


def _line() -> tuple[obliv.Topology, Tables]:
    """Two hosts at two switches; LIDs 1, 2 are the hosts', 3, 4 the switches'."""
    fabric = fabric_of("hhss", [1, 1, 4, 2], [((0, 1), (2, 1)), ((1, 1), (3, 1)), ((2, 2), (3, 2))])
    out = np.full((2, 5), 255, np.uint8)
    out[0, [1, 2, 3, 4]] = [1, 2, 0, 2]
    out[1, [1, 2, 3, 4]] = [2, 1, 2, 0]
    return fabric, Tables("line", fabric.switches, out, np.zeros(2, np.int32), "opensm")  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("row", "port", "ending", "hops"),
    [
        (1, 255, Ending.NO_ENTRY, 2),
        (1, 3, Ending.NO_PORT, 2),
        (0, 9, Ending.NO_PORT, 1),
        (0, 3, Ending.NO_CABLE, 2),
        (0, 1, Ending.WRONG_END, 2),
        (1, 0, Ending.WRONG_END, 2),
        (1, 2, Ending.LOOP, 3),
    ],
)
def test_each_way_to_go_wrong(row: int, port: int, ending: Ending, hops: int) -> None:
    fabric, tables = _line()
    tables.out[row, 2] = port
    result = trace(fabric, tables, int(fabric.endpoints[0]), 2)
    assert result.ending == ending
    assert len(result.slots) == hops
    assert trace_all(fabric, tables).code[0, 1] == ending
    assert ending.words


def test_switches_are_ends_too() -> None:
    fabric, tables = _line()
    host, near = int(fabric.endpoints[0]), int(fabric.first_slot[2])
    assert trace(fabric, tables, host, 4) == ([1, near + 2], Ending.DELIVERED)
    assert trace(fabric, tables, near, 2).ending == Ending.DELIVERED
    assert trace(fabric, tables, host, 1) == ([], Ending.DELIVERED)
    assert trace(fabric, tables, host, 77).ending == Ending.NO_LID
    assert trace(fabric, tables, host, 0).ending == Ending.NO_LID


def test_tables_that_are_missing() -> None:
    fabric, tables = _line()
    one = replace(tables, switch=tables.switch[:1], out=tables.out[:1], line=tables.line[:1])
    assert trace(fabric, one, int(fabric.endpoints[0]), 2).ending == Ending.NO_TABLE
    assert trace_all(fabric, one).code.tolist() == [[0, 1], [1, 1]]
    short = replace(tables, out=tables.out[:, :2])
    assert trace_all(fabric, short).code.tolist() == [[0, 2], [0, 2]]
    none = fabric.with_ports(lid=np.zeros_like(fabric.ports.lid))
    assert (trace_all(none, tables).code == Ending.NO_LID).all()


def test_hosts_back_to_back() -> None:
    fabric = fabric_of("hhhs", [1, 1, 1, 1], [((0, 1), (1, 1)), ((2, 1), (3, 1))])
    tables = Tables("none", fabric.switches, np.full((1, 5), 1, np.uint8), np.zeros(1, np.int32), "opensm")
    assert trace(fabric, tables, int(fabric.endpoints[0]), 2) == ([1], Ending.DELIVERED)
    assert trace(fabric, tables, int(fabric.endpoints[0]), 3).ending == Ending.WRONG_END


def test_a_large_tree_is_quick_and_whole() -> None:
    tree = obliv.topology("fattree:16,3")
    fabric = from_topology(tree)
    traces = trace_all(fabric, climbing(tree, fabric, 0.5))
    assert traces.code.shape == (128, 1024)
    assert not traces.code.any()
