"""Every algorithm on generated instances of every family, audited by an oracle; what the model says of simple cases."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.bufferless.plain import ONE_EACH, QUEUES, opened, plain, proved, walks, ways, without_time
from tests.oracles import schedules as oracle
from tests.strategies import examples

import obliv
import obliv.kernels
from obliv.bufferless import instance, instances, schedule, schedules
from obliv.bufferless.leveled.base import Leveled
from obliv.bufferless.leveled.base import given as network_of

FAMILIES = (
    "butterfly",
    "leveled-mesh",
    "array",
    "leveled-hypercube",
    "multibutterfly",
    "unrolled-fattree",
    "unrolled-debruijn",
    "unrolled-shuffle",
    "random-leveled",
    "deep",
)


def drawn(family: str, number: int, size: int) -> Any:
    """An instance of a family, small or larger."""
    rng = np.random.default_rng([FAMILIES.index(family), number])
    k = int(rng.integers(1, 3 + size)) + (family == "leveled-hypercube")
    options: dict[str, Any] = {}
    if family == "leveled-mesh":
        n, m = rng.integers(1, 4 + 2 * size, 2).tolist()
        spec = f"{family}:{n}x{m + (n * m == 1)}"
        options = {"route": str(rng.choice(["random", "xy"]))}
    elif family == "array":
        spec = f"{family}:{rng.integers(2, 10 + 20 * size)}"
        options = {"maxlen": int(rng.integers(1, 12 + 10 * size))}
    elif family == "multibutterfly":
        spec = f"{family}:{k},d={rng.integers(1, 3)},seed={number}"
    elif family == "unrolled-fattree":
        spec = f"{family}:{rng.integers(2, 4)},{min(k, 2 + size // 2)}"
    elif family == "random-leveled":
        spec = (
            f"{family}:L={rng.integers(1, 14 + 15 * size)},W={rng.integers(1, 3 + size)},d={rng.integers(1, 4)},seed=1"
        )
    elif family == "deep":
        depth = int(rng.integers(1, 12 + 15 * size))
        senders = rng.integers(1, min(depth, 2 + size) + 1)
        spec = f"{family}:L={depth},W={rng.integers(1, 4 + size)},S={senders},seed={number}"
    else:
        spec = f"{family}:{k}"
    network = obliv.topology(spec)
    kind = str(
        rng.choice(["random", "walks", "crowd", *(["permutation", "hotspot"] if family in FAMILIES[:8] else [])])
    )
    packets = 2 + int(rng.integers(6 + 10 * size))
    try:
        if kind in ("walks", "crowd"):
            return instance(network, walks(network, rng, packets, kind == "walks"), rng=number)
        return instance(network, kind, rng=number, **options)
    except obliv.OblivError as error:
        assert "no packet to route" in str(error)
        return instance(network, walks(network, rng, packets, True), rng=number)


def put_through(family: str, numbers: range, size: int, audited: int) -> Counter[str]:
    """Instances through every algorithm, one in so many audited by the oracle; what happened on the way."""
    seen: Counter[str] = Counter()
    for number in numbers:
        case = drawn(family, number, size)
        rng = np.random.default_rng(number)
        for n, (algorithm, options) in enumerate(ways(rng, number, case.one_source)):
            told = f"{case.network.spec} {case.paths} number {number}: {algorithm} {options}"
            try:
                result = schedule(case, algorithm, rng=number, **options)
            except obliv.InputError as error:
                assert "lam" in options, told
                assert "raise" in str(error), told
                seen["no plan"] += 1
                continue
            assert result.verified, told
            assert result.makespan >= result.lower_bound, told
            assert result.makespan == (result.delivery.max() if case.packets else 0), told
            seen[algorithm] += 1
            seen["deflected"] += result.deflections > 0
            if algorithm == "centralized" and result.plan is not None:
                assert result.moves is not None
                seen["deflected by plan"] += result.deflections > 0
                seen["second session"] += 2 in result.plan.session
                seen["stops"] += len(result.plan.color) > case.packets
            if (number + n) % audited == 0 and result.moves is not None and result.moves.steps < 30_000:
                try:
                    oracle.audit_all(plain(result))
                except AssertionError as error:
                    raise AssertionError(f"{told}: {error}") from error
                seen[f"audited {algorithm}"] += 1
            if (number + n) % 11 == 0:
                assert without_time(result) == without_time(schedule(case, algorithm, rng=number, **options)), told
    return seen


@pytest.mark.sampled(5)
@pytest.mark.parametrize("family", FAMILIES)
def test_corpus(family: str) -> None:
    seen = put_through(family, range(15), 0, 3)
    assert all(seen[algorithm] >= 6 for algorithm in obliv.bufferless.ALGORITHMS if algorithm != "queues")
    assert all(seen[f"audited {each}"] >= 2 for each in ("centralized", "distributed", "direct", "hot-potato", "fifo"))
    assert seen["deflected"] >= (0 if family == "leveled-mesh" else 1)


@pytest.mark.nightly
@pytest.mark.parametrize("family", FAMILIES)
def test_whole_corpus(family: str) -> None:
    seen = put_through(family, range(100), 0, 6)
    assert all(seen[algorithm] >= 50 for algorithm in obliv.bufferless.ALGORITHMS if algorithm != "queues")
    assert all(seen[f"audited {each}"] >= 8 for each in ("centralized", "distributed", "direct", "hot-potato", "fifo"))
    assert seen["deflected"] >= 5


@pytest.mark.nightly
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("part", range(4))
def test_large_corpus(family: str, part: int) -> None:
    size = (0, 1, 1, 2)[part]
    seen = put_through(family, range(1000 + 500 * part, 1500 + 500 * part), size, 4)
    assert seen["deflected"] > 20
    if part and family in ("array", "random-leveled", "deep"):
        assert seen["deflected by plan"] > 5
        assert seen["stops"] > 50
    if part and family in ("array", "random-leveled"):
        assert seen["second session"] > 5


@pytest.mark.nightly
@pytest.mark.parametrize(("networks", "least"), [(8, 3), pytest.param(60, 20, marks=pytest.mark.nightly)])
def test_the_corpus_reaches_every_corner_of_the_centralized_algorithm(networks: int, least: int) -> None:
    seen: Counter[str] = Counter()
    for number in range(networks):
        rng = np.random.default_rng(number)
        network = obliv.topology(f"random-leveled:L={20 + number},W=3,d=2,seed={number}")
        case = instance(network, [path[:12] for path in walks(network, rng, 30, False)])
        for lam in (6, 8, 12):
            for s in (3, 8, 20):
                try:
                    result = schedule(case, "centralized", rng=number, lam=lam, s=s)
                except obliv.InputError:
                    continue
                oracle.audit_all(plain(result))
                assert result.plan is not None
                seen["deflected"] += result.deflections > 0
                seen["second session"] += 2 in result.plan.session
                seen["more than one group"] += len(set(result.plan.group)) > 1
                seen["three phases"] += bool(np.diff(result.plan.phase_start).max() >= 3)
    corners = ("deflected", "second session", "more than one group", "three phases")
    assert all(seen[each] >= least for each in corners), seen


@pytest.mark.nightly
def test_compiled_kernels_agree_with_interpreted_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [drawn(family, number, 1) for family in FAMILIES for number in range(8)]

    def all_made() -> list[Any]:
        result = []
        for case in cases:
            for number, (algorithm, options) in enumerate(ways(np.random.default_rng(1), 0, case.one_source)):
                try:
                    result.append(without_time(schedule(case, algorithm, rng=number, **options)))
                except obliv.InputError as error:
                    result.append(str(error))
        return result

    slow = all_made()
    monkeypatch.setattr(obliv.kernels, "COMPILE_ABOVE", -1)
    cases = [drawn(family, number, 1) for family in FAMILIES for number in range(8)]
    assert all_made() == slow


@pytest.mark.sampled(9)
@pytest.mark.parametrize("spec", ["mesh:4x4", "mesh:3x5", "mesh:5x2", "line:9", "hypercube:4", "mesh:6"])
@pytest.mark.parametrize("algorithm", ["centralized", "distributed", "direct", "hot-potato", "fifo", "random-delay"])
def test_classes_of_a_network(spec: str, algorithm: str) -> None:
    cases = instances(spec, "random", rng=5)
    constants = {"constants": "tuned"} if algorithm in ("centralized", "distributed") else {}
    result = schedules(cases, algorithm, topology=spec, rng=2, **constants)
    assert result.verified
    parts = [plain(each) for each in getattr(result, "classes", (result,))]
    for part in parts:
        oracle.audit_all(part)
    assert result.makespan == sum(part["makespan"] for part in parts)
    assert result.packets == sum(part["packets"] for part in parts)
    assert result.lower_bound == sum(part["lower_bound"] for part in parts)
    assert (result.congestion, result.dilation) == tuple(
        max(p[key] for p in parts) for key in ("congestion", "dilation")
    )
    if not spec.startswith(
        "hypercube"
    ):  # every node's number means the same node in every class; a path is a shortest one
        plane = obliv.topology(spec)
        links = set(zip(plane.tail.tolist(), plane.head.tolist()))
        seen = set()
        for part in parts:
            ends = oracle.unpack(part["instance"]["edges"])
            case = oracle.read(part)
            for path in case.paths:
                assert all(tuple(ends[edge]) in links for edge in path)
            seen |= set(case.source)
        assert len(seen) == sum(len(part["instance"]["paths"]) for part in parts)
    assert without_time(result) == without_time(schedules(cases, algorithm, topology=spec, rng=2, **constants))


def disjoint(rng: np.random.Generator, network: Leveled) -> list[list[int]]:
    """Walks that share no edge."""
    used: set[int] = set()
    remaining = []
    for path in walks(network, rng, 12, False):
        if not used & set(path):
            remaining.append(path)
            used |= set(path)
    return remaining


@examples(60)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 4), st.integers(1, 3))
def test_uncontested_packets_take_their_paths_length(seed: int, depth: int, width: int, degree: int) -> None:
    network = obliv.topology(f"random-leveled:L={depth},W={width},d={degree},seed={seed % 1000}")
    paths = disjoint(np.random.default_rng(seed), network)
    case = instance(network, paths)
    assert case.congestion == 1
    assert case.lower_bound == max(map(len, paths))
    for algorithm, options in (("direct", {}), ("hot-potato", {}), *((name, {}) for name in QUEUES)):
        result = schedule(case, algorithm, rng=seed, **options)
        if algorithm == "hot-potato" or not options:
            assert result.delivery.tolist() == [len(path) for path in paths], algorithm


def relabelled(case: Any, rng: np.random.Generator, lift: int) -> Any:
    """The same instance with nodes and edges numbered otherwise, `lift` empty levels below it."""
    network = case.network
    node, edge = rng.permutation(network.nodes) + lift, rng.permutation(network.edges)
    low, high = np.empty(network.edges, np.int32), np.empty(network.edges, np.int32)
    low[edge], high[edge] = node[network.low], node[network.high]
    level = np.arange(network.nodes + lift)
    level[node] = network.node_level + lift
    paths = [edge[case.edge[a:b]].tolist() for a, b in pairwise(case.start.tolist())]
    return instance(network_of("relabelled", low, high, level), paths)


@examples(40)
@given(st.integers(0, 10**6), st.integers(2, 16), st.integers(1, 4))
def test_numbers_of_nodes_and_edges_mean_nothing(seed: int, depth: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    network = obliv.topology(f"random-leveled:L={depth},W={width},d=2,seed={seed % 1000}")
    case = instance(network, walks(network, rng, 14, False))
    other = relabelled(case, rng, 0)
    assert (other.congestion, other.dilation, other.lower_bound) == (case.congestion, case.dilation, case.lower_bound)
    remaining = [("direct", {}), ("centralized", {"constants": "one-frame"}), ("centralized", {"constants": "paper"})]
    for algorithm, options in (*remaining, *((name, {}) for name in QUEUES)):
        one, two = (schedule(each, algorithm, rng=seed, **options) for each in (case, other))
        assert one.delivery.tolist() == two.delivery.tolist(), algorithm
    lifted = relabelled(case, rng, 3)
    for algorithm in ("direct", *QUEUES):
        one, two = (schedule(each, algorithm, rng=seed) for each in (case, lifted))
        assert one.delivery.tolist() == two.delivery.tolist(), algorithm


@examples(40)
@given(st.integers(0, 10**6), st.integers(2, 10), st.integers(1, 4))
def test_two_copies_side_by_side_take_as_long_as_one(seed: int, depth: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    network = obliv.topology(f"random-leveled:L={depth},W={width},d=2,seed={seed % 1000}")
    paths = walks(network, rng, 10, False)
    case = instance(network, paths)
    low, high = (np.concatenate([side, side + network.nodes]) for side in network.edge_ends)
    twin = network_of("twins", low, high, np.tile(network.node_level, 2))
    both = instance(twin, paths + [[edge + network.edges for edge in path] for path in paths])
    for algorithm, options in (("direct", {}), ("centralized", {"constants": "one-frame"}), ("farthest-to-go", {})):
        one, two = schedule(case, algorithm, **options), schedule(both, algorithm, **options)
        if algorithm != "farthest-to-go":  # ties of queues are broken at random
            assert two.delivery.tolist() == one.delivery.tolist() * 2, algorithm
        assert two.lower_bound == one.lower_bound


@examples(40)
@given(st.integers(0, 10**6), st.sampled_from(["direct", *QUEUES]), st.integers(0, 50))
def test_a_schedule_without_one_of_its_packets_and_later_is_one(
    tmp_path_factory: pytest.TempPathFactory, seed: int, algorithm: str, later: int
) -> None:
    folder = tmp_path_factory.mktemp("files")
    network = obliv.topology(f"random-leveled:L=8,W=3,d=2,seed={seed % 1000}")
    case = instance(network, walks(network, np.random.default_rng(seed), 9, False))
    result = opened(schedule(case, algorithm, rng=seed))
    assert proved(result, folder)
    gone = seed % case.packets
    inner = result["instance"]
    for name in ("paths", "sources", "destinations"):
        del inner[name][gone]
    result["moves"] = [[t + later, p - (p > gone), *rest] for t, p, *rest in result["moves"] if p != gone]
    result["packets"] -= 1
    less = oracle.Case(
        inner["levels"],
        [(low, high) for low, high in inner["edges"]],
        inner["paths"],
        inner["sources"],
        inner["destinations"],
        result["moves"],
        algorithm,
        result["rules"],
    )
    result |= {"congestion": less.congestion, "dilation": less.dilation, "lower_bound": less.lower_bound}
    result["makespan"] = max(row[0] for row in result["moves"])
    oracle.audit(result)
    assert proved(result, folder)


def test_the_same_generator_gives_the_same_and_another_another() -> None:
    case = instance("butterfly:4", "random", rng=3)
    for algorithm, options in [*ONE_EACH, ("direct", {"order": "random"}), ("hot-potato", {"priority": "random"})]:
        result = [schedule(case, algorithm, rng=np.random.default_rng(5), **options) for _ in range(2)]
        assert result[0].moves is not None
        assert (result[0].moves.rows() == result[1].moves.rows()).all()
    seeds = [schedule(case, "hot-potato", rng=seed).moves.rows().tolist() for seed in range(8)]
    assert len({str(rows) for rows in seeds}) > 1
    drawn_paths = {tuple(instance("butterfly:4", rng=seed).edge.tolist()) for seed in range(8)}
    assert len(drawn_paths) == 8


def test_seeds_leave_no_trace_in_numpys_or_pythons_generators() -> None:
    np.random.seed(7)
    random.seed(7)
    before = (np.random.get_state()[1].tolist(), random.getstate())
    case = instance("leveled-mesh:4x4", rng=1)
    for algorithm, options in ONE_EACH:
        schedule(case, algorithm, rng=1, **options)
    assert (np.random.get_state()[1].tolist(), random.getstate()) == before
