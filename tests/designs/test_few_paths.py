"""Designs with few paths per pair and with weights in whole parts: limits obeyed, laws, integer programs."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import highspy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.claims import refused
from tests.designs.networks import networks
from tests.strategies import examples

import obliv
from obliv.designs import supports
from obliv.errors import Interrupted


def upper(design: obliv.Design) -> Fraction:
    """Return the worst case of the routing of a design."""
    load = design.channel_load
    return load.upper if isinstance(load, obliv.Bounds) else load


@pytest.fixture(scope="module")
def few() -> obliv.Design:
    return obliv.design("mesh:3x2", paths=2, quantize=4)


def simple_paths(network: obliv.Topology, node: int, end: int, visited: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    if node == end:
        yield ()
        return
    for c in range(network.channels):
        head = int(network.head[c])
        if network.tail[c] == node and head not in visited:
            for rest in simple_paths(network, head, end, (*visited, head)):
                yield (c, *rest)


def least_load(network: obliv.Topology, most: int) -> float:
    """Return the least worst case with at most so many paths per pair, by an integer program over all simple paths."""
    nodes, model = network.nodes, highspy.Highs()
    model.setOptionValue("output_flag", False)
    load = model.addVariable(obj=1)
    cover = [[model.addVariable() for _ in range(2 * nodes)] for _ in range(network.channels)]
    for channel in range(network.channels):
        model.addConstr(sum(cover[channel][1:], cover[channel][0]) <= load)
    for s in range(nodes):
        for d in range(nodes):
            if s == d:
                continue
            paths = list(simple_paths(network, s, d, (s,)))
            weight = [model.addVariable() for _ in paths]
            chosen = [model.addBinary() for _ in paths]
            model.addConstr(sum(weight[1:], weight[0] + 0) == 1)
            model.addConstr(sum(chosen[1:], chosen[0] + 0) <= most)
            for w, c in zip(weight, chosen, strict=True):
                model.addConstr(w <= c)
            for channel in {c for path in paths for c in path}:
                uses = [w for w, path in zip(weight, paths, strict=True) if channel in path]
                model.addConstr(sum(uses[1:], uses[0] + 0) <= cover[channel][s] + cover[channel][nodes + d])
    model.run()
    return float(model.getObjectiveValue())


def test_two_paths_suffice_on_a_mesh() -> None:
    best = obliv.design("mesh:4x4", paths=2)
    assert (best.channel_load, best.loss, best.most_paths) == (2, 0, 2)
    assert obliv.verify(best).proved
    assert "loss            none" in repr(best)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("spec", "most"), [("ring:4", 1), ("ring:5", 1), ("ring:5", 2), ("mesh:2x2", 1)])
def test_against_integer_programs(spec: str, most: int) -> None:
    network = obliv.topology(spec)
    least = least_load(network, most)
    best = obliv.design(network, paths=most)
    assert float(upper(best)) == pytest.approx(least, rel=1e-6)


@pytest.mark.nightly
@pytest.mark.parametrize(("spec", "most"), [("mesh:3x2", 1), ("mesh:3x2", 2), ("ring:6", 1)])
def test_against_larger_integer_programs(spec: str, most: int) -> None:
    test_against_integer_programs(spec, most)


@pytest.mark.parametrize("spec", [pytest.param("ring:5", marks=pytest.mark.nightly), "mesh:2x2"])
def test_one_more_path_never_makes_it_worse(spec: str) -> None:
    loads = [upper(obliv.design(spec, paths=most)) for most in range(1, 5)]
    assert loads == sorted(loads, reverse=True)
    assert loads[-1] >= upper(obliv.design(spec))


@pytest.mark.nightly
@pytest.mark.parametrize("spec", ["mesh:3x2", "mesh:3x3", "torus:3x3", "fattree:4,2", "torus:4x4"])
def test_one_more_path_on_larger_networks(spec: str) -> None:
    test_one_more_path_never_makes_it_worse(spec)


@examples(4)
@given(st.integers(0, 10**9))
def test_limits_are_obeyed_and_proved(seed: int) -> None:
    network, rng = networks(seed), np.random.default_rng(seed)
    most, parts = int(rng.integers(1, 4)), [None, 1, 7, 64][rng.integers(0, 4)]
    best, free = obliv.design(network, paths=most, quantize=parts), obliv.design(network)
    assert best.most_paths <= most
    assert parts is None or all(
        (share * parts).denominator == 1
        for s in network.terminals.tolist()
        for d in network.terminals.tolist()
        for _, share in best.subject.paths(s, d)
        if s != d
    )
    assert float(upper(best)) >= float(upper(free)) * (1 - 1e-9)
    assert obliv.verify(best).proved


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("options", "worst"),
    [({"paths": 4}, 1.37), ({"paths": 6}, 1.15), ({"quantize": 64}, 1.05), ({"paths": 3, "quantize": 16}, 1.69)],
)
def test_better_than_the_most_probable_paths(options: dict[str, int], worst: float) -> None:
    """The most probable four and six paths of the best routing of torus 4x4 have 2.11 and 1.43."""
    best = obliv.design("torus:4x4", **options)
    assert upper(best) <= worst
    assert best == obliv.design("torus:4x4", **options)


@pytest.mark.nightly
@pytest.mark.parametrize(("most", "worst"), [(2, 2.5001), (4, 2.5001), (6, 2.36), (8, 2.21)])
def test_few_paths_on_a_larger_mesh(most: int, worst: float) -> None:
    assert upper(obliv.design("mesh:5x5", paths=most)) <= worst


@pytest.mark.nightly
def test_with_other_limits() -> None:
    best = obliv.design("mesh:2x2", paths=2, minimal=True, quantize=2)
    assert best.constraints == ("minimal", "at most 2 paths per pair", "weights in multiples of 1/2")
    assert obliv.verify(best).proved
    turns = obliv.design("mesh:2x2", paths=2, max_turns=1)
    assert obliv.verify(turns).proved
    for options in ({"paths": 0}, {"quantize": 0}, {"paths": 2, "max_hops": 3}):
        with pytest.raises(obliv.InputError, match=r"at least 1|cannot be combined"):
            obliv.design("mesh:3x3", **options)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "constraints",
    [["at most 1 path per pair"], ["weights in multiples of 1/7"], ["at most 2 paths per pair"] * 2, ["few paths"]],
)
def test_forged_limits_are_refused(constraints: list[str], few: obliv.Design, tmp_path: Path) -> None:
    content = copy.deepcopy(few.to_dict())
    content["constraints"] = constraints
    assert refused(content, tmp_path / "forged.json")


def test_an_interruption_keeps_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(supports._Search, "descend", stopped)
    with pytest.raises(KeyboardInterrupt) as interrupt:
        obliv.design("torus:4x4", paths=3)
    assert interrupt.value.so_far.most_paths <= 3
    assert obliv.verify(interrupt.value.so_far).proved


def test_the_search_starts_from_known_routings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shortest paths of the Petersen graph are unique and load a channel with 2, which the search alone missed."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(supports._Search, "descend", interrupted)
    with pytest.raises(Interrupted) as stopped:
        obliv.design("graph:petersen", paths=1)
    assert upper(stopped.value.so_far) == 2
    with pytest.raises(Interrupted) as stopped:
        obliv.design("fattree:4,3", paths=1)
    assert upper(stopped.value.so_far) <= obliv.worst_case(obliv.routing("dmodk", "fattree:4,3")).channel_load
