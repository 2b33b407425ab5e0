"""The forms of pair loads: which one a routing takes, symmetries, estimates, and what is refused."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import obliv
from obliv._util.progress import silent
from obliv.loads import separable
from obliv.loads.base import PairLoads, Problem
from obliv.loads.mixed import MixedLoads, TranslatedLoads, TwoPhaseLoads, translation_group
from obliv.loads.separable import SeparableLoads
from obliv.loads.stored import StoredLoads
from obliv.loads.workers import Calls
from obliv.matching.solve import simple_bound
from obliv.routings.base import Routing
from obliv.topologies.cartesian import channel_map

NETWORKS = ["mesh:4x2", "mesh:2x3x2", "torus:3x3", "torus:4x4", "torus:2x3", "ring:5", "hypercube:3", "hyperx:2x3"]
ROUTINGS = ["dor", "o1turn", "romm", "valiant", "shortest", "ecmp", "1/3*dor+2/3*ecmp", "1/4*romm+3/4*valiant"]

Exact = dict[int, dict[tuple[int, int], Fraction]]


def table(loads: PairLoads) -> Exact:
    result: Exact = {}
    for channel in range(loads.topology.channels):
        row, col, weight = loads.weights(channel).spread()
        result[channel] = {
            (int(i), int(j)): Fraction(int(w), loads.denominator) for i, j, w in zip(row, col, weight, strict=True)
        }
        assert len(result[channel]) == len(row)
        assert all(result[channel].values())
    return result


def from_paths(routing: Any) -> Exact:
    """The loads of the routing's paths, added up by the simplest code there is."""
    topology = routing.topology
    result: Exact = {channel: {} for channel in range(topology.channels)}
    for i, s in enumerate(topology.terminals.tolist()):
        for j, d in enumerate(topology.terminals.tolist()):
            for path, chance in routing.paths(s, d):
                for channel in path:
                    result[channel][i, j] = result[channel].get((i, j), Fraction(0)) + chance
    return result


@pytest.mark.sampled(48)
@pytest.mark.parametrize("routing", ROUTINGS)
@pytest.mark.parametrize("network", NETWORKS)
def test_keeps_is_what_a_relabelling_shows(network: str, routing: str) -> None:
    topology = obliv.topology(network)
    loads = obliv.routing(routing, topology).pair_loads()
    values = table(loads)
    rng = np.random.default_rng(1)
    maps = [*topology.generators, rng.permutation(topology.nodes), topology.generators[0][topology.generators[-1]]]
    for g in maps:
        moved = channel_map(topology, g)
        wanted = moved is not None and all(
            {(int(g[i]), int(g[j])): share for (i, j), share in values[c].items()} == values[int(moved[c])]
            for c in range(topology.channels)
        )
        assert loads.keeps(g) == wanted


def test_symmetries_of_a_ring_are_checked_on_one_link_of_each_direction(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted: the tables that a check needs do not grow with the ring, beyond 64 bits and below."""
    counted: list[int] = []

    def counting(axis: Any, segments: Any, link: int) -> Any:
        counted.append(link)
        return summed(axis, segments, link)

    summed = separable._summed
    monkeypatch.setattr(separable, "_summed", counting)
    monkeypatch.setattr(separable, "_scaled", separable._scaled.__wrapped__)  # type: ignore[attr-defined]
    built = []
    for k in (9, 15, 101):
        counted.clear()
        loads = obliv.ROMM(obliv.torus(k, k)).pair_loads()
        assert all(loads.keeps(g) for g in loads.topology.generators)
        built.append(len(counted))
        assert set(counted) == {0, 1}
    assert len(set(built)) == 1


def test_maps_that_keep_neither_translations_nor_dimensions() -> None:
    """A 4-ary 2-cube is a hypercube of four dimensions by Gray code: bits of x and y may change places."""
    gray = [0, 1, 3, 2]
    swapped = [gray.index(bits) for bits in (0, 1, 2, 3)]
    image = np.empty(16, np.int64)
    for x in range(4):
        for y in range(4):
            one, two = gray[x], gray[y]
            one, two = one & 2 | two & 1, two & 2 | one & 1
            image[4 * y + x] = 4 * swapped[two] + swapped[one]
    torus = obliv.torus(4, 4)
    moved = channel_map(torus, image)
    assert moved is not None

    class Inwards(obliv.HopRouting):
        """Along y only where the packet is aligned in x: translations keep it, the swap does not."""

        def next_hops(self, node: int, destination: int) -> list[int]:
            hops = obliv.ECMP(self.topology).next_hops(node, destination)
            along = [c for c in hops if (int(torus.head[c]) - node) % 4]
            return along or hops

    for routing, remaining, form in (
        (obliv.ECMP(torus), True, TranslatedLoads),
        (Inwards(torus, "inwards"), False, TranslatedLoads),
        (obliv.DOR(torus), False, SeparableLoads),
    ):
        loads = routing.pair_loads()
        assert isinstance(loads, form)
        values = table(loads)
        shown = all(
            {(int(image[i]), int(image[j])): share for (i, j), share in values[c].items()} == values[int(moved[c])]
            for c in range(torus.channels)
        )
        assert loads.keeps(image) is shown is remaining


@pytest.mark.parametrize("slack", [0, Fraction(1, 50), Fraction(1, 5), 1])
def test_rounded_prices_are_the_coarsest_that_still_prove(slack: Fraction) -> None:
    loads = obliv.ECMP(obliv.random_regular(12, 3, seed=1)).pair_loads()
    channels = np.arange(loads.topology.channels)
    solutions = [loads.solve(c, loads.rates) for c in channels.tolist()]
    prices = np.array([solution.prices for solution in solutions], np.int64)
    limits = np.array([int(solution.value * (1 + slack)) for solution in solutions], np.int64)
    rounded = loads.rounded_prices(channels, prices.copy(), limits)
    coarser = 0
    for c in channels.tolist():
        weights = loads.on_channel(c).toarray()

        def proved(price: Any, weights: Any = weights) -> int:
            return int(price.sum() + np.maximum(weights - price, 0).max(axis=1).sum())

        assert proved(prices[c]) == solutions[c].value
        steps = [1 << shift for shift in range(loads.denominator.bit_length() - 3, 0, -2)]
        choices = [-(-prices[c] // step) * step for step in steps]
        right = next((choice for choice in choices if proved(choice) <= limits[c]), prices[c])
        assert rounded[c].tolist() == right.tolist()
        coarser += right.tolist() != prices[c].tolist()
    assert coarser or not slack


@pytest.mark.parametrize("fast", [False, True])
def test_channels_that_cannot_be_the_worst_are_left_out(fast: bool) -> None:
    speeds = tuple(Fraction(1 + c % 4) for c in range(48)) if fast else ()
    mesh = dataclasses.replace(obliv.mesh(4, 4), bandwidth=speeds, capacity_load=None)
    loads = obliv.routing("1/2*dor+1/2*ecmp", mesh).pair_loads()
    assert type(loads) is MixedLoads
    bounds = [simple_bound(loads.weights(c), loads.rates) / mesh.bandwidth_of(c) for c in range(mesh.channels)]
    best, solved = Fraction(-1), []
    for group in loads.solve_worst(np.arange(mesh.channels), silent, Calls(Problem(loads, loads.rates))):
        for channel, solution in group:
            assert bounds[channel] > best
            best = max(best, solution.value / mesh.bandwidth_of(channel))
            solved.append(channel)
    assert len(solved) < mesh.channels
    assert all(bounds[c] <= best for c in range(mesh.channels) if c not in solved)
    assert solved == sorted(solved, key=lambda c: (-bounds[c], c))


def test_each_routing_takes_the_form_that_fits() -> None:
    torus, mesh, graph = obliv.torus(4, 4), obliv.mesh(4, 4), obliv.random_regular(12, 3, seed=1)
    forms = {
        ("dor", torus): SeparableLoads,
        ("1/2*dor+1/2*dor:yx", torus): SeparableLoads,
        ("1/2*dor+1/2*ecmp", torus): MixedLoads,
        ("ecmp", torus): TranslatedLoads,
        ("ecmp", mesh): StoredLoads,
        ("ecmp", graph): StoredLoads,
        ("valiant", graph): TwoPhaseLoads,
        ("shortest", mesh): StoredLoads,
    }
    for (routing, topology), form in forms.items():
        assert type(obliv.routing(routing, topology).pair_loads()) is form, routing


def test_translations_are_used_only_where_the_next_hops_keep_them() -> None:
    torus = obliv.torus(4, 4)

    class Lopsided(obliv.HopRouting):
        """Minimal, but node 5 prefers another channel than its like elsewhere."""

        def next_hops(self, node: int, destination: int) -> list[int]:
            hops = obliv.ECMP(self.topology).next_hops(node, destination)
            return hops[-1:] if node == 5 else hops[:1]

    way = Lopsided(torus, "lopsided")
    loads = way.pair_loads()
    assert isinstance(loads, StoredLoads)
    assert table(loads) == from_paths(way)


def test_a_translation_group_must_move_node_0_everywhere_once() -> None:
    import dataclasses

    torus = obliv.torus(4, 4)
    group = translation_group(torus)
    assert group is not None
    one, two = np.arange(16), np.full(16, 6)
    assert (group.subtract(group.add(one, two), two) == one).all()
    for translations in (torus.translations[:1], (torus.translations[0],) * 2, (np.arange(16)[::-1].copy(),)):
        assert translation_group(dataclasses.replace(torus, translations=translations)) is None
    assert translation_group(obliv.mesh(3, 3)) is None
    assert translation_group(torus.with_terminals([0, 1])) is None


def test_on_channel_is_the_sparse_array_of_the_contract() -> None:
    loads = obliv.routing("romm", obliv.torus(5, 5)).pair_loads()
    array = loads.on_channel(3)
    assert array.shape == (25, 25)
    assert array.dtype == np.int64
    row, col, weight = loads.weights(3).spread()
    assert (array.toarray()[row, col] == weight).all()
    assert array.nnz == len(weight)


def test_estimates_are_marked_and_near() -> None:
    way = obliv.routing("romm", obliv.mesh(3, 3))
    exact = way.pair_loads()
    estimated = way.pair_loads(samples=100, rng=np.random.default_rng(1))
    assert estimated.samples == 100
    assert exact.samples is None
    for channel in range(4):
        difference = estimated.on_channel(channel).toarray() / estimated.denominator
        difference = difference - exact.on_channel(channel).toarray() / exact.denominator
        assert abs(difference).max() < 5 * 0.5 / 10  # five standard errors of a share of 100
    result = obliv.worst_case(way, samples=100, rng=np.random.default_rng(2))
    truth = obliv.worst_case(way).channel_load
    assert isinstance(result.channel_load, obliv.Estimate)
    # evaluated again on fresh paths the permutation found is no worse than the worst, but for noise
    assert result.channel_load.value <= float(truth) + 4 * result.channel_load.stderr
    assert result.provenance.exactness == "estimated"


@pytest.mark.parametrize("draws", [600, pytest.param(5000, marks=pytest.mark.nightly)])
def test_sampling_follows_the_probabilities(draws: int) -> None:
    rng = np.random.default_rng(3)
    for spec in ("romm", "valiant", "ecmp", "o1turn", "1/4*dor+3/4*dor:yx"):
        way = obliv.routing(spec, obliv.torus(4, 3))
        chances: dict[tuple[int, ...], Fraction] = {}
        for path, chance in way.paths(0, 6):
            chances[path] = chances.get(path, Fraction(0)) + chance
        assert sum(chances.values()) == 1
        counts = dict.fromkeys(chances, 0)
        for _ in range(draws):
            counts[way.sample(0, 6, rng)] += 1
        for path, chance in chances.items():
            spread = (draws * float(chance) * (1 - float(chance))) ** 0.5
            assert abs(counts[path] - draws * float(chance)) < 5 * spread + 1


def test_what_a_routing_must_not_do() -> None:
    square = obliv.build("square", 4, [(0, 1), (1, 2), (2, 3), (3, 0)])

    class Short(Routing):
        def paths(self, source: int, destination: int) -> Any:
            return [((source,), Fraction(1))]

    with pytest.raises(obliv.RoutingError, match="ends at"):
        Short(square, "short").pair_loads()

    class Half(Routing):
        def paths(self, source: int, destination: int) -> Any:
            far = (destination - source) % 4
            return [(tuple((source + k) % 4 for k in range(far)), Fraction(1, 2))]

    with pytest.raises(obliv.RoutingError, match="total probability 1/2"):
        Half(square, "half").pair_loads()

    class Stray(Routing):
        def paths(self, source: int, destination: int) -> Any:
            return [((99,), Fraction(1))]

    with pytest.raises(obliv.RoutingError, match="takes channel 99"):
        Stray(square, "stray").pair_loads()
