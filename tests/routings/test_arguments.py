"""Arguments that do not fit are refused, never taken for something else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import obliv

TORUS = obliv.torus(3, 3)


@pytest.mark.parametrize("make", [obliv.DOR, obliv.ROMM, obliv.ECMP, obliv.UpDown, obliv.DModK, obliv.valiant])
def test_the_spec_of_a_topology_is_not_a_topology(make: object) -> None:
    with pytest.raises(obliv.InputError, match=r"needs a Topology, not .*obliv\.topology"):
        make("torus:3x3")  # type: ignore[operator]


def test_a_routing_stays_on_its_network() -> None:
    dor = obliv.DOR(TORUS)
    assert obliv.routing(dor, obliv.torus(3, 3)) is dor
    with pytest.raises(obliv.RoutingError, match=r"is a routing on torus:3x3, not on mesh:3x3"):
        obliv.routing(dor, "mesh:3x3")


def test_a_claim_is_checked_on_the_topology_that_is_given() -> None:
    worst = obliv.worst_case(obliv.DOR(TORUS), certificate=True)
    assert obliv.verify(worst, topology="torus:3x3").proved
    with pytest.raises(obliv.RoutingError, match="not on mesh:3x3"):
        obliv.verify(worst, topology="mesh:3x3")
    assert not obliv.verify(worst, routing=obliv.ROMM(TORUS)).proved


@pytest.mark.parametrize("routing", [obliv.DOR(TORUS), obliv.ECMP(TORUS), obliv.DModK(obliv.fattree(4, 2))])
@pytest.mark.parametrize("pair", [(0, 20), (-1, 3)])
def test_paths_of_nodes_that_do_not_exist(routing: obliv.Routing, pair: tuple[int, int]) -> None:
    with pytest.raises(obliv.InputError, match=r"has no (node|host)"):
        list(routing.paths(*pair))


def test_numbers_of_nodes() -> None:
    assert TORUS.node(np.int64(3)) == 3
    for wrong in (9, -1, 1.5, None):
        with pytest.raises(obliv.TopologyError, match=r"torus:3x3"):
            TORUS.node(wrong)  # type: ignore[arg-type]


def test_counts_are_whole_numbers() -> None:
    dor, tree = obliv.DOR(TORUS), obliv.fattree(4, 2)
    for call in (
        lambda: obliv.average_case(dor, 2.5),  # type: ignore[arg-type]
        lambda: obliv.worst_case(dor, samples=2.5),  # type: ignore[arg-type]
        lambda: obliv.compare(TORUS, "dor", samples=2.5),  # type: ignore[arg-type]
        lambda: obliv.traffic_ratio(obliv.DModK(tree), "tree", instances=2.5),  # type: ignore[arg-type]
        lambda: obliv.KPath(tree, 1.5),  # type: ignore[arg-type]
        lambda: obliv.Hash(tree, "1"),  # type: ignore[arg-type]
        lambda: obliv.fattree(4.0, 2),  # type: ignore[arg-type]
        lambda: obliv.torus([3, 3]),  # type: ignore[arg-type]
    ):
        with pytest.raises(obliv.InputError, match="is not a whole number"):
            call()


def test_other_arguments(tmp_path: Path) -> None:
    with pytest.raises(obliv.RoutingError, match="at least one routing"):
        obliv.Mix([])
    with pytest.raises(obliv.InputError, match="jobs=-1"):
        obliv.average_case(obliv.DOR(TORUS), 10, jobs=-1)
    links = [(0, 1), (1, 0)]
    assert obliv.build("x", 2, links, labels=["a", "b"]) == obliv.build("x", 2, links, labels=("a", "b"))


def test_values_print_without_their_arrays() -> None:
    instance = obliv.bufferless.instance("butterfly:3", "bit-reverse")
    schedule = obliv.bufferless.schedule(instance, "centralized", constants="tuned")
    for value in (schedule.moves, schedule.plan, instance):
        assert repr(value).startswith("<")
        assert "array" not in repr(value)
