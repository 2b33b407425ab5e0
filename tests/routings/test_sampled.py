"""K sampled paths: drawn from their base, without loops; adaptive rates against the true optimum."""

from __future__ import annotations

from fractions import Fraction

import pytest
from tests.routings.graphs.test_electrical import network

import obliv


@pytest.mark.parametrize("base", ["raecke:trees=5", "electrical", "valiant", "(raecke:trees=3,seed=2)"])
def test_paths_are_drawn_from_the_base(base: str) -> None:
    topology = network(4)
    routing = obliv.routing(f"sampled:3,base={base},seed=7", topology)
    assert obliv.routing(routing.spec, topology) == routing
    terminals = topology.terminals.tolist()
    for source in terminals:
        for destination in terminals:
            if source == destination:
                continue
            paths = list(routing.paths(source, destination))
            assert sum(chance for _, chance in paths) == 1
            assert all((3 * chance).denominator == 1 for _, chance in paths)
            for channels, _ in paths:
                heads = [source, *topology.head[list(channels)].tolist()]
                assert len(set(heads)) == len(heads)
    other = obliv.routing(f"sampled:3,base={base},seed=8", obliv.mesh(3, 3))
    assert other != obliv.routing(f"sampled:3,base={base},seed=7", obliv.mesh(3, 3))


@pytest.mark.parametrize(
    ("spec", "match"),
    [
        ("sampled:0", "at least one path per pair"),
        ("sampled:2,base=nothing", "unknown routing 'nothing'"),
        ("sampled:2,base=valiant,seed=-1", "0 or more"),
    ],
)
def test_bad_input(spec: str, match: str) -> None:
    with pytest.raises(obliv.OblivError, match=match):
        obliv.routing(spec, obliv.mesh(3, 3))


def test_adaptive_rates_lie_between_the_optimum_and_equal_weights() -> None:
    pytest.importorskip("highspy")
    routing = obliv.routing("sampled:3,base=valiant,seed=1", obliv.mesh(3, 3))
    fixed = obliv.traffic_ratio(routing, "transpose", "uniform")
    adaptive = obliv.traffic_ratio(routing, "transpose", "uniform", adaptive=True)
    for one, two in zip(adaptive.patterns, fixed.patterns, strict=True):
        lower = one.ratio.lower if isinstance(one.ratio, obliv.Bounds) else one.ratio
        assert isinstance(lower, Fraction)
        assert 1 <= lower <= (two.ratio.upper if isinstance(two.ratio, obliv.Bounds) else two.ratio)
        assert one.optimal_load == two.optimal_load
    assert "adaptive" in adaptive.to_dict()
    assert "adaptive" not in fixed.to_dict()


def test_adaptive_rates_over_all_shortest_paths_of_a_ring_are_optimal() -> None:
    pytest.importorskip("highspy")
    ring = obliv.ring(6)
    both = Fraction(1, 2) * obliv.routing("electrical", ring) + Fraction(1, 2) * obliv.DOR(ring)
    assert obliv.traffic_ratio(both, "shift:2", "tornado", adaptive=True).ratio == 1


def test_adaptive_rates_need_paths() -> None:
    with pytest.raises(obliv.OblivError, match="need a routing with paths"):
        obliv.traffic_ratio(obliv.DOR(obliv.ring(4)).pair_loads(), "uniform", adaptive=True)
