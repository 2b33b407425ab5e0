"""Credit loops of forwarding tables, against dependencies collected way by way."""

from __future__ import annotations

import graphlib
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fabric import damage
from tests.fabric.by_hand import random_fabric, random_tables
from tests.strategies import examples

import obliv
from obliv.fabric.generate import from_topology, tables_of
from obliv.fabric.model import Fabric, Tables
from obliv.fabric.routes.dependencies import CreditLoops, credit_loops
from obliv.fabric.routes.trace import Ending, trace, trace_all
from obliv.routings.descriptions import OneLane
from obliv.topologies.base import find


def dependencies(fabric: Fabric, tables: Tables) -> set[tuple[int, int]]:
    """What every host's packets take right after each other, by walking from each host to each LID."""
    switches = set(fabric.switches.tolist())
    names = set()
    for source in fabric.endpoints.tolist():
        for goal in fabric.endpoints.tolist():
            if source == goal:
                continue
            for each in range(1 << int(fabric.ports.lmc[goal])):
                way = trace(fabric, tables, source, int(fabric.ports.lid[goal]) + each)
                if way.ending in (Ending.LOOP, Ending.NO_LID):
                    continue
                inner = [
                    slot
                    for slot in way.slots
                    if int(fabric.node_of[slot]) in switches
                    and fabric.ports.peer[slot] >= 0
                    and int(fabric.node_of[fabric.ports.peer[slot]]) in switches
                ]
                names |= set(pairwise(inner))
    return names


def require_agreement(fabric: Fabric, tables: Tables) -> CreditLoops:
    wanted = dependencies(fabric, tables)
    result = credit_loops(trace_all(fabric, tables))
    assert result.dependencies == len(wanted)
    after: dict[int, set[int]] = {}
    for one, other in wanted:
        after.setdefault(one, set()).add(other)
    try:
        graphlib.TopologicalSorter(after).prepare()
        acyclic = True
    except graphlib.CycleError:
        acyclic = False
    assert result.acyclic == acyclic
    assert not result.cycle or len(set(result.cycle)) == len(result.cycle)
    for one, other in zip(result.cycle, result.cycle[1:] + result.cycle[:1], strict=True):
        assert other in after[one]
    return result


@examples(100)
@given(
    spec=st.sampled_from(["torus:4", "torus:3x3", "fattree:4,2", "mesh:2x3"]),
    seed=st.integers(0, 10**6),
    share=st.sampled_from([0.0, 0.05, 0.2, 1.0]),
    lmc=st.integers(0, 1),
)
def test_agrees_with_every_way_walked(spec: str, seed: int, share: float, lmc: int) -> None:
    topology = obliv.topology(spec)
    fabric = from_topology(topology, lmc=lmc)
    name = {"fattree:4,2": "dmodk", "torus:4": "shortest"}.get(spec, "dor")  # dor halves ties on an even ring
    tables = tables_of(obliv.routing(name, topology), fabric)
    rng = np.random.default_rng(seed)
    wild = rng.integers(0, int(np.diff(fabric.first_slot).max()) + 1, tables.out.shape)
    out = np.where(rng.random(tables.out.shape) < share, wild, tables.out).astype(np.uint8)
    broken = replace(tables, out=out)
    require_agreement(fabric, broken)


@examples(60)
@given(seed=st.integers(0, 10**6), changed=st.sampled_from([0, 0, 3]))
def test_agrees_on_random_fabrics(seed: int, changed: int) -> None:
    fabric = random_fabric(seed)
    require_agreement(fabric, random_tables(fabric, seed, changed))


@pytest.mark.parametrize(
    ("spec", "routing"), [("fattree:8,2", "dmodk"), ("fattree:8,3", "osrm3-d"), ("mesh:3x3", "dor")]
)
def test_trees_and_meshes_are_free(spec: str, routing: str) -> None:
    topology = obliv.topology(spec)
    fabric = from_topology(topology)
    assert credit_loops(trace_all(fabric, tables_of(obliv.routing(routing, topology), fabric))).acyclic


def test_a_ring_is_not_and_the_cycle_goes_round_it() -> None:
    topology = obliv.topology("torus:7")
    fabric = from_topology(topology)
    result = require_agreement(fabric, tables_of(obliv.routing("dor", topology), fabric))
    assert len(result.cycle) == 7
    assert len(set(fabric.node_of[list(result.cycle)].tolist())) == 7


def test_what_no_host_sends_makes_no_dependency() -> None:
    """On a ring without hosts but at two neighbours the tables still go round, and nobody uses them."""
    topology = obliv.topology("torus:5")
    fabric = from_topology(topology)
    tables = tables_of(obliv.routing("dor", topology), fabric)
    assert not credit_loops(trace_all(fabric, tables)).acyclic
    hosts = damage.cables(fabric, hosts=True)
    assert len(hosts) == 5
    few = damage.without(fabric, hosts[2:])
    assert require_agreement(few, tables).acyclic


def test_loops_are_left_out() -> None:
    topology = obliv.topology("fattree:4,2")
    fabric = from_topology(topology)
    tables = tables_of(obliv.routing("dmodk", topology), fabric)
    leaf = int(fabric.switches[0])
    lid = int(fabric.ports.lid[fabric.endpoints[-1]])
    out = tables.out.copy()
    root = int(fabric.node_of[fabric.ports.peer[fabric.slot(leaf, int(out[0, lid]))]])
    out[tables.row_of[root], lid] = 1  # back to the first leaf
    result = require_agreement(fabric, replace(tables, out=out))
    assert result.acyclic


@pytest.mark.nightly
def test_11664_hosts_take_seconds() -> None:
    topology = obliv.topology("fattree:36,3")
    fabric = from_topology(topology)
    tables = tables_of(obliv.routing("osrm3-d", topology), fabric)
    assert credit_loops(trace_all(fabric, tables)).acyclic


@pytest.mark.parametrize("offset", ["0", "0-1", "spread"])
@pytest.mark.parametrize("spec", ["fattree:4,2", "ring:5", "mesh:3x2"])
def test_deadlock_of_a_fabric_counts_what_its_paths_use_in_sequence(spec: str, offset: str) -> None:
    network = obliv.topology(spec)
    fabric = from_topology(network, lmc=1)
    kind = "dmodk" if spec.startswith("fattree") else "shortest" if spec == "ring:5" else "dor"
    tables = tables_of(obliv.routing(kind, network), fabric)
    routing = obliv.fabric.routing(obliv.fabric.network(fabric), tables, offset)
    terminals = routing.topology.terminals.tolist()
    paths = [path for s in terminals for d in terminals for path, _ in routing.paths(s, d)]
    result = obliv.deadlock(routing)
    assert (result.scheme, result.dependencies) == ("none", len({step for path in paths for step in pairwise(path)}))
    one = find(routing, OneLane)
    assert one is not None
    known = one.dependencies()
    assert known.used[:, 0].tolist() == sorted({channel for path in paths for channel in path})
    assert set(map(tuple, known.follows[:, [0, 2]].tolist())) == {step for path in paths for step in pairwise(path)}
