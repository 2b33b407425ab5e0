"""What is known of a fabric's capacity, against formulas and against a linear programme."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog
from tests.fabric import damage, spelled

import obliv
from obliv.fabric.generate import from_topology
from obliv.fabric.model import Fabric
from obliv.fabric.topology import capacity_load, network
from obliv.topologies.make import build


@pytest.mark.parametrize("spec", ["torus:9x9", "torus:7x7", "torus:8x8", "torus:5x5x5", "ring:8", "torus:9x3"])
def test_tori_have_the_capacity_of_their_formula(spec: str) -> None:
    """Towles' papers and Dally and Towles give it for k-ary n-cubes; hosts' own cables carry (n - 1) / n more."""
    topology = obliv.topology(spec)
    n = len(topology.terminals)
    assert topology.capacity_load is not None
    result = capacity_load(from_topology(topology))
    if len(set(spec.partition(":")[2].split("x"))) > 1:  # one dimension is longer: what is even is not the best known
        assert result is None or result == max(topology.capacity_load, Fraction(n - 1, n))
    else:
        assert result == max(topology.capacity_load, Fraction(n - 1, n))


@pytest.mark.parametrize("spec", ["fattree:4,2", "fattree:8,3", "fattree:4,4"])
def test_whole_fat_trees(spec: str) -> None:
    topology = obliv.topology(spec)
    n = len(topology.terminals)
    assert capacity_load(from_topology(topology)) == topology.capacity_load == Fraction(n - 1, n)


def least_load(fabric: Fabric) -> float:
    """The least largest load of uniform traffic: a flow from every source to all others, as a linear programme."""
    topology = network(fabric)
    n, channels, nodes = len(topology.terminals), topology.channels, topology.nodes
    rows, right = [], []
    for s in range(n):
        for v in range(nodes):
            row = np.zeros(n * channels + 1)
            row[s * channels + np.flatnonzero(topology.tail == v)] += 1
            row[s * channels + np.flatnonzero(topology.head == v)] -= 1
            rows.append(row)
            right.append(((v == s) * n - (v < n)) / n)
    above = np.hstack([np.tile(np.eye(channels), n), -np.ones((channels, 1))])
    cost = np.zeros(n * channels + 1)
    cost[-1] = 1
    result = linprog(cost, A_ub=above, b_ub=np.zeros(channels), A_eq=np.array(rows), b_eq=np.array(right))
    return float(result.fun) if result.success else np.inf


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(25))
def test_it_is_the_optimum_of_a_linear_programme(seed: int) -> None:
    rng = np.random.default_rng(seed)
    fabric = spelled.random_fabric(rng)
    fabric = fabric.with_ports(rate=np.zeros_like(fabric.ports.rate))  # cables of one speed
    try:
        topology = network(fabric)
    except obliv.OblivError:
        return
    if topology.capacity_load is not None:
        assert float(topology.capacity_load) == pytest.approx(least_load(fabric), abs=1e-9)


@pytest.mark.parametrize("spec", ["ring:5", "complete:5", "hypercube:3", "torus:3x3", "mesh:2x3"])
def test_known_networks_and_the_linear_programme(spec: str) -> None:
    fabric = from_topology(obliv.topology(spec))
    result = capacity_load(fabric)
    assert result is not None
    assert float(result) == pytest.approx(least_load(fabric), abs=1e-9)


def test_what_is_not_known() -> None:
    assert capacity_load(from_topology(obliv.topology("mesh:5x5"))) is None
    tree = from_topology(obliv.topology("fattree:8,3"))
    assert capacity_load(damage.without(tree, damage.cables(tree)[:9])) is None
    assert network(spelled.random_fabric(np.random.default_rng(3))).capacity_load is None  # unequal speeds


def test_a_tree_with_a_host_too_many_is_not_whole() -> None:
    """The leaf with nine hosts sends more over its eight cables than the convention for whole trees says."""
    links = [(h, 129 + h // 8) for h in range(128)] + [(128, 129)]
    links += [(129 + leaf, 145 + root) for leaf in range(16) for root in range(8)]
    tree = build("crowded", 153, links + [(b, a) for a, b in links], terminals=range(129))
    result = capacity_load(from_topology(tree))
    assert result is None or result >= Fraction(9 * 120, 129 * 8)


def test_whole_trees_of_other_kinds() -> None:
    assert capacity_load(from_topology(obliv.topology("eft2:8,6"))) == Fraction(23, 24)
    assert capacity_load(from_topology(obliv.topology("xgft:2;4,8;1,2"))) == Fraction(7, 4)
