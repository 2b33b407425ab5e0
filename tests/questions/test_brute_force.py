"""Worst cases of generated networks against all N! permutations, and against linear programs where there are rates."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests import strategies
from tests.oracles import paths as oracle
from tests.strategies import Case

import obliv


def brute(case: Case) -> tuple[Fraction, list[Fraction]]:
    """The worst load, and that of every channel."""
    each = [oracle.worst_of(case.weights(channel)) for channel in range(len(case.links))]
    return max(each), each


def check(case: Case, result: Any) -> None:
    worst, each = brute(case)
    assert result.channel_load == worst
    assert type(result.channel_load) is Fraction
    assert result.throughput == (1 / worst if worst else None)
    n = len(case.terminals)
    assert sorted(result.permutation) == list(range(n)), "not a whole permutation"
    if not worst:
        return
    channel = result.channel.id
    assert each[channel] == worst
    assert (result.channel.tail, result.channel.head) == case.links[channel]
    weights = case.weights(channel)
    assert sum(weights[i][j] for i, j in enumerate(result.permutation)) == worst


@given(strategies.cases(), st.sampled_from(["auto", "off"]), st.booleans())
@strategies.examples(150)
def test_all_permutations(case: Case, symmetry: str, through_loads: bool) -> None:
    event(f"{len(case.terminals)} terminals")
    subject = case.routing.pair_loads() if through_loads else case.routing
    check(case, obliv.worst_case(subject, symmetry=symmetry))


@pytest.mark.nightly
@given(strategies.cases(largest=5))
@strategies.examples(2)
def test_symmetry_search_changes_nothing(case: Case) -> None:
    check(case, obliv.worst_case(case.routing, symmetry="search"))


@pytest.mark.nightly
@given(strategies.cases(largest=6))
@strategies.examples(60)
def test_symmetry_search_changes_nothing_at_night(case: Case) -> None:
    check(case, obliv.worst_case(case.routing, symmetry="search"))


@given(strategies.cases())
@strategies.examples(100)
def test_pair_loads_and_hops(case: Case) -> None:
    """Pair loads are what the listed paths say, for every pair and channel."""
    loads = case.routing.pair_loads()
    total = Fraction()
    for channel in range(len(case.links)):
        expected = [[w * case.bandwidth[channel] for w in row] for row in case.weights(channel)]
        assert strategies.table(loads, channel) == expected
        assert sum(map(sum, expected)) == Fraction(int(loads.totals()[channel]), loads.denominator)
        total += sum(map(sum, expected))
    assert loads.hops() == total / len(case.terminals) ** 2


@pytest.mark.nightly
@given(strategies.cases(largest=7))
@strategies.examples(500)
def test_all_permutations_at_night(case: Case) -> None:
    check(case, obliv.worst_case(case.routing))
    check(case, obliv.worst_case(case.routing, symmetry="off"))


def test_the_generator_makes_what_it_should() -> None:
    """Guards the tests above: parallel channels, repeated crossings, subsets, unequal bandwidths do occur."""
    seen: Counter[str] = Counter()
    for seed in range(300):
        rng = random.Random(seed)
        kind = rng.choice(["paths", "walks", "hops"])
        case = strategies.make_case(
            rng, rng.randint(2, 6), rng.randint(0, 8), kind=kind, unequal=rng.random() < 0.5, subset=rng.random() < 0.5
        )
        seen["parallel"] += len(set(case.links)) < len(case.links)
        seen["repeated"] += any(len(set(p)) < len(p) for laws in case.paths.values() for p, _ in laws)
        seen["self"] += any(laws[0][0] for (s, d), laws in case.paths.items() if s == d)
        seen["subset"] += len(case.terminals) < case.nodes
        seen["order"] += case.terminals != sorted(case.terminals)
        seen["random"] += any(len(laws) > 1 for laws in case.paths.values())
        seen["unequal"] += len(set(case.bandwidth)) > 1
        assert all(sum(p for _, p in laws) == 1 for laws in case.paths.values())
        for (s, d), laws in case.paths.items():
            for path, _ in laws:
                node = s
                for channel in path:
                    assert case.links[channel][0] == node
                    node = case.links[channel][1]
                assert node == d
    assert min(seen.values()) >= 30, seen
    assert len(seen) == 7


# Cartesian networks with the library's own routings.


SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (1, 2))]
SEARCH = pytest.param("search", marks=pytest.mark.nightly)  # it takes most of a second to start


@pytest.mark.sampled(80)
@pytest.mark.parametrize("symmetry", ["auto", SEARCH, "off"])
@pytest.mark.parametrize(
    "spec", ["mesh:3x2", "torus:3x2", "mesh:2x2", "torus:2x2", "ring:6", "line:5", "hyperx:3x2", "complete:5"]
)
@pytest.mark.parametrize("name", ["dor", "o1turn", "romm", "valiant", "shortest", "ecmp"])
def test_small_cartesian_networks(spec: str, name: str, symmetry: str) -> None:
    routing = obliv.routing(name, obliv.topology(spec))
    topology = routing.topology
    paths = {
        (s, d): [(tuple(map(int, path)), p) for path, p in routing.paths(s, d)]
        for s in range(topology.nodes)
        for d in range(topology.nodes)
    }
    links = [(int(a), int(b)) for a, b in zip(topology.tail, topology.head, strict=True)]
    case = Case(
        topology.nodes, links, [Fraction(1)] * len(links), list(range(topology.nodes)), paths, topology, routing
    )
    check(case, obliv.worst_case(routing, symmetry=symmetry))


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", ["dor", "o1turn", "romm", "valiant", "shortest", "ecmp"])
@pytest.mark.parametrize(
    ("spec", "terminals"),
    [
        ("torus:4x4", [0, 5, 10, 15]),
        ("torus:4x4", [0, 1, 2, 3, 4]),
        ("mesh:4x3", [11, 0, 3]),
        ("torus:5x5", [0, 1, 7, 24]),
    ],
)
@pytest.mark.parametrize("symmetry", ["auto", SEARCH])
def test_some_terminals_of_cartesian_networks(spec: str, terminals: list[int], name: str, symmetry: str) -> None:
    """The topology's symmetries do not keep the terminals; they must not be used unless they do."""
    routing = obliv.routing(name, obliv.topology(spec).with_terminals(terminals))
    loads = routing.pair_loads()
    worst = Fraction()
    for channel in range(routing.topology.channels):
        worst = max(worst, oracle.worst_of(strategies.table(loads, channel)))
    result = obliv.worst_case(routing, symmetry=symmetry)
    assert result.channel_load == worst
    assert max(loads.under(obliv.permutation(result.permutation))) == worst


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["dor", "o1turn", "romm", "valiant", "ecmp"])
@pytest.mark.parametrize("spec", ["torus:3x2", "mesh:3x2", "torus:5", "hyperx:3x2"])
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("symmetry", ["auto", SEARCH])
def test_unequal_bandwidths_on_cartesian_networks(spec: str, name: str, seed: int, symmetry: str) -> None:
    """Symmetries of the loads that do not keep the bandwidths must not be used."""
    rng = random.Random(seed)
    topology = obliv.topology(spec)
    bandwidth = tuple(Fraction(rng.randint(1, 5), rng.randint(1, 3)) for _ in range(topology.channels))
    routing = obliv.routing(name, dataclasses.replace(topology, bandwidth=bandwidth))
    loads = routing.pair_loads()
    worst = max(
        oracle.worst_of([[x / b for x in row] for row in strategies.table(loads, c)]) for c, b in enumerate(bandwidth)
    )
    assert obliv.worst_case(routing, symmetry=symmetry).channel_load == worst


@pytest.mark.usefixtures("search_in_process")
@pytest.mark.parametrize(
    ("spec", "name", "terminals", "weigh"),
    [
        ("ring:6", "dor", None, True),
        ("torus:4x4", "dor", [0, 5, 10, 15], False),
        ("torus:5x5", "valiant", [0, 1, 7, 24], True),
    ],
)
def test_symmetry_search_on_cartesian_networks(spec: str, name: str, terminals: Any, weigh: bool) -> None:
    topology = obliv.topology(spec)
    if terminals:
        topology = topology.with_terminals(terminals)
    bandwidth = [Fraction(1)] * topology.channels
    if weigh:
        bandwidth[1], bandwidth[-1] = Fraction(1, 2), Fraction(3)
        topology = dataclasses.replace(topology, bandwidth=tuple(bandwidth))
    routing = obliv.routing(name, topology)
    loads = routing.pair_loads()
    worst = max(
        oracle.worst_of([[x / b for x in row] for row in strategies.table(loads, c)]) for c, b in enumerate(bandwidth)
    )
    assert obliv.worst_case(routing, symmetry="search").channel_load == worst


# Terminals with rates: a transportation problem.


def hose(weights: list[list[Fraction]], injection: list[Fraction], ejection: list[Fraction]) -> float:
    """The largest load over traffic within the rates, by linear programming."""
    n = len(weights)
    rows = np.zeros((2 * n, n * n))
    for i in range(n):
        rows[i, i * n : (i + 1) * n] = 1
        rows[n + i, i::n] = 1
    limits = [float(x) for x in (*injection, *ejection)]
    answer = linprog([-float(w) for row in weights for w in row], A_ub=rows, b_ub=limits, method="highs")
    assert answer.status == 0
    return -float(answer.fun)


def check_rates(case: Case, injection: list[Fraction], ejection: list[Fraction], result: Any) -> None:
    n = len(case.terminals)
    worst = max(hose(case.weights(c), injection, ejection) for c in range(len(case.links)))
    assert abs(float(result.channel_load) - worst) <= 1e-9 * max(1, worst)
    # The witness attains the claim exactly and obeys the rates exactly.
    assert result.permutation is None
    flows = [(int(s), int(d), amount) for s, d, amount in result.traffic]
    assert all(type(amount) is Fraction and amount > 0 for _, _, amount in flows)
    assert len({(s, d) for s, d, _ in flows}) == len(flows)
    for i in range(n):
        assert sum(amount for s, _, amount in flows if s == i) <= injection[i]
        assert sum(amount for _, d, amount in flows if d == i) <= ejection[i]
    if result.channel_load:
        weights = case.weights(result.channel.id)
        assert sum(amount * weights[s][d] for s, d, amount in flows) == result.channel_load


@given(
    strategies.cases(),
    st.integers(0, 2**32),
    st.sampled_from(["whole", "rational", "equal"]),
    st.sampled_from(["auto", "off"]),
)
@strategies.examples(80)
def test_rates(case: Case, seed: int, kind: str, symmetry: str) -> None:
    rng = random.Random(seed)
    n = len(case.terminals)

    def rate() -> Fraction:
        return Fraction(rng.randint(1, 5), 1 if kind == "whole" else rng.randint(1, 7))

    injection, ejection = [rate() for _ in range(n)], [rate() for _ in range(n)]
    if kind == "equal":
        injection, ejection = [injection[0]] * n, [ejection[0]] * n
    topology = case.topology.with_rates(injection, ejection)
    routing: Any
    if isinstance(case.routing, strategies.Hops):
        routing = strategies.Hops(topology, case.routing.listed)
    else:
        routing = strategies.Paths(topology, case.routing.listed)
    result = obliv.worst_case(routing, symmetry=symmetry)
    if set(injection) | set(ejection) == {Fraction(1)}:
        check(case, result)
    else:
        check_rates(case, injection, ejection, result)


@pytest.mark.sampled(40)
@pytest.mark.parametrize("name", ["dor", "o1turn", "romm", "valiant", "shortest", "ecmp"])
@pytest.mark.parametrize("spec", ["torus:3x2", "mesh:3x2", "ring:5", "torus:3x3"])
@pytest.mark.parametrize("seed", SEEDS)
def test_rates_on_cartesian_networks(spec: str, name: str, seed: int) -> None:
    """Here symmetries and closed forms are at work: rates break them."""
    rng = random.Random(seed)
    plain = obliv.topology(spec)
    n = plain.nodes
    choices = [Fraction(1), Fraction(1), Fraction(1, 2), Fraction(3), Fraction(2, 3)]
    injection, ejection = [rng.choice(choices) for _ in range(n)], [rng.choice(choices) for _ in range(n)]
    injection[0] = Fraction(7, 5)
    routing = obliv.routing(name, plain.with_rates(injection, ejection))
    loads = routing.pair_loads()
    links = [(int(a), int(b)) for a, b in zip(plain.tail, plain.head, strict=True)]
    paths = {(s, d): [(tuple(map(int, p)), q) for p, q in routing.paths(s, d)] for s in range(n) for d in range(n)}
    case = Case(n, links, [Fraction(1)] * len(links), list(range(n)), paths, routing.topology, routing)
    for symmetry in ("auto", "off"):
        check_rates(case, injection, ejection, obliv.worst_case(loads, symmetry=symmetry))


@given(strategies.cases(largest=5), st.integers(1, 7), st.integers(1, 7))
@strategies.examples(60)
def test_equal_rates_scale_the_load(case: Case, top: int, bottom: int) -> None:
    """All terminals faster by a factor: the worst load grows by that factor."""
    factor = Fraction(top, bottom)
    topology = case.topology.with_rates([factor] * len(case.terminals), [factor] * len(case.terminals))
    kind = type(case.routing)
    assert obliv.worst_case(kind(topology, case.routing.listed)).channel_load == factor * brute(case)[0]


@given(strategies.cases(largest=5), st.integers(0, 2**32))
@strategies.examples(60)
def test_bandwidth_divides_the_load(case: Case, seed: int) -> None:
    """Pair loads know no bandwidth; loads under traffic are divided by it."""
    loads = case.routing.pair_loads()
    n = len(case.terminals)
    order = list(range(n))
    random.Random(seed).shuffle(order)
    under = loads.under(obliv.permutation(order))
    expected = [sum(case.weights(c)[i][j] for i, j in enumerate(order)) for c in range(len(case.links))]
    assert under == expected
    assert all(type(x) is Fraction for x in under)
