"""Packets on leveled networks against an oracle that follows the paper; mistakes; forged and hostile files."""

from __future__ import annotations

import copy
import json
import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import schedules as oracle

import obliv
import obliv.kernels
from obliv.bufferless import instance, instances, schedule, schedules
from obliv.cli import main
from obliv.topologies.leveled.base import Leveled
from obliv.topologies.leveled.base import given as network_of

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
PRIORITIES = ("age", "closest", "farthest", "random")
QUEUES = ("fifo", "random-delay", "random-rank", "farthest-to-go")
ONE_EACH = [
    ("centralized", {"lam": 10, "s": 2}),
    ("distributed", {"constants": "tuned"}),
    ("direct", {}),
    ("hot-potato", {"priority": "closest"}),
    *((name, {}) for name in QUEUES),
]


def plain(made: Any) -> dict[str, Any]:
    """A schedule as a file holds it."""
    read: dict[str, Any] = json.loads(json.dumps(made.to_dict()))
    return read


def without_time(made: Any) -> dict[str, Any]:
    """A schedule as a file holds it, without the seconds that it took."""
    read = plain(made)
    for each in (read, *read.get("classes", [])):
        del each["provenance"]["wall_seconds"]
    return read


def mistake(call: Callable[[], Any]) -> str:
    """The one line of what is raised, if it is raised as the contract says."""
    with pytest.raises(obliv.OblivError) as caught:
        call()
    assert isinstance(caught.value, ValueError)
    text = str(caught.value)
    assert text.strip() == text
    assert text
    assert "\n" not in text
    assert len(text) < 500
    assert "fault" not in text
    assert "not supported between" not in text, "an inner message"
    return text


# The families.


@pytest.mark.parametrize(
    ("spec", "name", "numbers", "seed"),
    [
        *((f"butterfly:{k}", "butterfly", (k,), 0) for k in (1, 2, 5)),
        *((f"leveled-mesh:{n}x{m}", "leveled-mesh", (n, m), 0) for n, m in ((1, 2), (2, 1), (3, 5), (6, 6))),
        *((f"array:{n}", "array", (n,), 0) for n in (2, 64)),
        *((f"leveled-hypercube:{k}", "leveled-hypercube", (k,), 0) for k in (1, 6)),
        *((f"unrolled-debruijn:{k}", "unrolled-debruijn", (k,), 0) for k in (1, 2, 5)),
        *((f"unrolled-shuffle:{k}", "unrolled-shuffle", (k,), 0) for k in (1, 2, 5)),
        ("random-leveled:L=60,W=16,d=2,seed=1", "random-leveled", (60, 16, 2), 1),
        ("random-leveled:L=1,W=1,d=3,seed=9", "random-leveled", (1, 1, 3), 9),
        ("deep:L=20,W=8,S=4,seed=5", "deep", (20, 8, 2), 5),
    ],
)
def test_families_edge_by_edge(spec: str, name: str, numbers: tuple[int, ...], seed: int) -> None:
    made = obliv.topology(spec)
    level, edges = oracle.family(name, *numbers, seed=seed)
    assert isinstance(made, Leveled)
    assert made.node_level.tolist() == level
    mine = list(zip(*(side.tolist() for side in made.edge_ends)))
    if name == "leveled-hypercube":  # the notes give no numbers
        assert sorted(mine) == sorted(edges)
    else:
        assert mine == edges
    some = np.arange(0, made.edges, 3)
    assert [side.tolist() for side in made.ends_of(some)] == [[edge[i] for edge in mine[::3]] for i in range(2)]
    assert made.edge_level(some).tolist() == [level[low] for low, _ in mine[::3]]
    both = Counter([*mine, *((high, low) for low, high in mine)])
    assert Counter(zip(made.tail.tolist(), made.head.tolist())) == both
    assert str(made) == spec or made.spec == spec


@pytest.mark.parametrize(("k", "d", "seed"), [(1, 1, 0), (3, 1, 0), (4, 2, 1), (3, 3, 2)])
def test_multibutterflies_are_splitters(k: int, d: int, seed: int) -> None:
    made = obliv.topology(f"multibutterfly:{k},d={d},seed={seed}")
    rows = 2**k
    low, high = (side.tolist() for side in made.edge_ends)
    assert len(low) == k * rows * 2 * d
    for edge, (tail, head) in enumerate(zip(low, high)):
        level, row = divmod(tail, rows)
        half = edge // d % 2
        assert edge // (2 * d) == tail
        block = rows >> level
        assert head // rows == level + 1
        assert head % rows // block == row // block
        assert head % rows // (block // 2) % 2 == half
    assert set(Counter(high).values()) == {2 * d} if d > 1 else len(set(high)) == k * rows


@pytest.mark.parametrize(("k", "h"), [(2, 1), (2, 3), (3, 2), (4, 2)])
def test_fat_trees_have_all_ways_up_and_one_down(k: int, h: int) -> None:
    made = obliv.topology(f"unrolled-fattree:{k},{h}")
    leaves = k**h
    ways = np.zeros((leaves, made.nodes), np.int64)
    order = np.argsort(made.node_level, kind="stable")
    assert np.bincount(made.node_level).tolist() == [leaves, *[leaves // k] * (2 * h - 1), leaves]
    ways[np.arange(leaves), np.flatnonzero(made.node_level == 0)] = 1
    low, high = made.edge_ends
    for node in order:
        for edge in np.flatnonzero(low == node):
            ways[:, high[edge]] += ways[:, node]
    assert (ways[:, made.node_level == 2 * h] == leaves // k).all()  # a way up for every switch at the top, one down


SANE = [
    ("butterfly:6", {}, 64, 3, 6),
    ("leveled-mesh:12x12", {}, None, 10, 17),
    ("leveled-mesh:16x16", {}, 242, 16, 27),
    ("unrolled-fattree:2,5", {}, None, 5, 10),
    ("unrolled-shuffle:5", {}, None, 3, 10),
    ("butterfly:4", {}, 16, 2, 4),
    ("butterfly:8", {}, 256, 4, 8),
    ("leveled-mesh:8x8", {}, 54, 7, 11),
    ("array:64", {}, 63, 28, 58),
    ("random-leveled:L=500,W=16,d=2,seed=0", {"packets": 500, "minlen": 200, "maxlen": 500}, 500, 23, 486),
]


@pytest.mark.parametrize(("spec", "options", "packets", "congestion", "dilation"), SANE)
def test_the_notes_instances(
    spec: str, options: dict[str, Any], packets: int | None, congestion: int, dilation: int
) -> None:
    made = instance(spec, rng=0, **options)
    assert packets in (None, made.packets)
    assert (made.congestion, made.dilation) == (congestion, dilation)


def test_paths_lead_where_the_pattern_says() -> None:
    def pairs(spec: str, kind: str) -> list[tuple[int, int]]:
        made = instance(spec, kind)
        depth = made.network.depth
        assert (made.network.node_level[made.source] == 0).all()
        assert (made.network.node_level[made.destination] == depth).all()
        rows = int((made.network.node_level == 0).sum())
        return sorted(zip((made.source % rows).tolist(), (made.destination - made.network.nodes + rows).tolist()))

    for k in (2, 4):
        for spec in (f"butterfly:{k}", f"multibutterfly:{k},d=2,seed=1", f"unrolled-debruijn:{k}"):
            turned = [(r, int(format(r, f"0{k}b")[::-1], 2)) for r in range(2**k)]
            swapped = [(r, (r << k // 2 | r >> k // 2) & (2**k - 1)) for r in range(2**k)]
            assert pairs(spec, "bit-reverse") == turned
            assert pairs(spec, "transpose") == swapped
        made = pairs(f"unrolled-fattree:2,{k}", "bit-reverse")
        assert made == turned
        made = pairs(f"unrolled-shuffle:{k}", "permutation")
        assert sorted(d for _, d in made) == list(range(2**k))


PAPER = [("butterfly:4", 36_072), ("butterfly:6", 83_466), ("leveled-mesh:8x8", 216_594), ("array:64", 1_041_670)]


@pytest.mark.parametrize(("spec", "makespan"), PAPER)
def test_the_papers_constants(spec: str, makespan: int) -> None:
    made = schedule(instance(spec, rng=0), "centralized", constants="paper", segments="paper", rng=0)
    assert made.makespan == makespan
    assert made.verified
    oracle.audit_all(plain(made))


# The corpus.


def walks(network: Leveled, rng: np.random.Generator, packets: int, distinct: bool) -> list[list[int]]:
    """Random walks upward."""
    out = defaultdict(list)
    for edge, low in enumerate(network.low.tolist()):
        out[low].append(edge)
    nodes = sorted(out)
    size = min(packets, len(nodes)) if distinct else packets
    paths = []
    for node in rng.choice(nodes, size, replace=not distinct).tolist():
        path: list[int] = []
        length = int(rng.integers(1, 1 + network.depth))
        while len(path) < length and node in out:
            path.append(int(rng.choice(out[node])))
            node = int(network.high[path[-1]])
        paths.append(path)
    return paths


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


def ways(rng: np.random.Generator, number: int, one_source: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every algorithm, with constants of its own."""
    yield "centralized", {"constants": "paper", "segments": ("paper", "tight")[number % 2]}
    yield "centralized", {"constants": "tuned"}
    yield "centralized", {"constants": "one-frame"}
    yield "centralized", {"lam": 2 * int(rng.integers(1, 8)), "s": int(rng.integers(1, 4))}
    if one_source:
        timetable = ("fixed", "oracle")[number // 2 % 2]
        yield "distributed", {"constants": "tuned", "timetable": timetable}
        if number % 4 == 0:
            chi = int(rng.integers(1, 4))
            more = {"lam": 6 * chi + 2 * int(rng.integers(3)), "chi": chi, "s": 1 + number % 2}
            yield "distributed", {**more, "timetable": timetable, "tie": ("survives", "both-fail")[number // 4 % 2]}
        if number % 8 == 0:
            yield "distributed", {"constants": "paper"}
    yield "direct", {"order": ("farthest", "longest", "random", "source")[number % 4]}
    yield "direct", {}
    for priority in PRIORITIES:
        yield "hot-potato", {"priority": priority}
    for name in QUEUES:
        yield name, {}


def put_through(family: str, numbers: range, size: int, audited: int) -> Counter[str]:
    """Instances through every algorithm, one in so many audited by the oracle; what happened on the way."""
    seen: Counter[str] = Counter()
    for number in numbers:
        case = drawn(family, number, size)
        rng = np.random.default_rng(number)
        for n, (algorithm, options) in enumerate(ways(rng, number, case.one_source)):
            told = f"{case.network.spec} {case.paths} number {number}: {algorithm} {options}"
            try:
                made = schedule(case, algorithm, rng=number, **options)
            except obliv.InputError as error:
                assert "lam" in options, told
                assert "raise" in str(error), told
                seen["no plan"] += 1
                continue
            assert made.verified, told
            assert made.makespan >= made.lower_bound, told
            assert made.makespan == (made.delivery.max() if case.packets else 0), told
            seen[algorithm] += 1
            seen["deflected"] += made.deflections > 0
            if algorithm == "centralized" and made.plan is not None:
                assert made.moves is not None
                seen["deflected by plan"] += made.deflections > 0
                seen["second session"] += 2 in made.plan.session
                seen["stops"] += len(made.plan.color) > case.packets
            if (number + n) % audited == 0 and made.moves is not None and made.moves.steps < 30_000:
                try:
                    oracle.audit_all(plain(made))
                except AssertionError as error:
                    raise AssertionError(f"{told}: {error}") from error
                seen[f"audited {algorithm}"] += 1
            if (number + n) % 11 == 0:
                assert without_time(made) == without_time(schedule(case, algorithm, rng=number, **options)), told
    return seen


@pytest.mark.parametrize("family", FAMILIES)
def test_corpus(family: str) -> None:
    seen = put_through(family, range(30), 0, 3)
    assert all(seen[algorithm] >= 12 for algorithm in obliv.bufferless.ALGORITHMS if algorithm != "queues")
    assert all(seen[f"audited {each}"] >= 4 for each in ("centralized", "distributed", "direct", "hot-potato", "fifo"))
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


def test_the_corpus_reaches_every_corner_of_the_centralized_algorithm() -> None:
    seen: Counter[str] = Counter()
    for number in range(25):
        rng = np.random.default_rng(number)
        network = obliv.topology(f"random-leveled:L={20 + number},W=3,d=2,seed={number}")
        case = instance(network, [path[:12] for path in walks(network, rng, 30, False)])
        for lam in (6, 8, 12):
            for s in (3, 8, 20):
                try:
                    made = schedule(case, "centralized", rng=number, lam=lam, s=s)
                except obliv.InputError:
                    continue
                oracle.audit_all(plain(made))
                assert made.plan is not None
                seen["deflected"] += made.deflections > 0
                seen["second session"] += 2 in made.plan.session
                seen["more than one group"] += len(set(made.plan.group)) > 1
                seen["three phases"] += bool(np.diff(made.plan.phase_start).max() >= 3)
    assert all(seen[each] >= 5 for each in ("deflected", "second session", "more than one group", "three phases")), seen


@pytest.mark.nightly
def test_compiled_kernels_agree_with_interpreted_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [drawn(family, number, 1) for family in FAMILIES for number in range(8)]

    def all_made() -> list[Any]:
        made = []
        for case in cases:
            for number, (algorithm, options) in enumerate(ways(np.random.default_rng(1), 0, case.one_source)):
                try:
                    made.append(without_time(schedule(case, algorithm, rng=number, **options)))
                except obliv.InputError as error:
                    made.append(str(error))
        return made

    slow = all_made()
    monkeypatch.setattr(obliv.kernels, "COMPILE_ABOVE", -1)
    cases = [drawn(family, number, 1) for family in FAMILIES for number in range(8)]
    assert all_made() == slow


@pytest.mark.parametrize("spec", ["mesh:4x4", "mesh:3x5", "mesh:5x2", "line:9", "hypercube:4", "mesh:6"])
@pytest.mark.parametrize("algorithm", ["centralized", "distributed", "direct", "hot-potato", "fifo", "random-delay"])
def test_classes_of_a_network(spec: str, algorithm: str) -> None:
    cases = instances(spec, "random", rng=5)
    constants = {"constants": "tuned"} if algorithm in ("centralized", "distributed") else {}
    made = schedules(cases, algorithm, topology=spec, rng=2, **constants)
    assert made.verified
    parts = [plain(each) for each in getattr(made, "classes", (made,))]
    for part in parts:
        oracle.audit_all(part)
    assert made.makespan == sum(part["makespan"] for part in parts)
    assert made.packets == sum(part["packets"] for part in parts)
    assert made.lower_bound == sum(part["lower_bound"] for part in parts)
    assert (made.congestion, made.dilation) == tuple(max(p[key] for p in parts) for key in ("congestion", "dilation"))
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
    assert without_time(made) == without_time(schedules(cases, algorithm, topology=spec, rng=2, **constants))


# What the model says of simple cases.


def disjoint(rng: np.random.Generator, network: Leveled) -> list[list[int]]:
    """Walks that share no edge."""
    used: set[int] = set()
    kept = []
    for path in walks(network, rng, 12, False):
        if not used & set(path):
            kept.append(path)
            used |= set(path)
    return kept


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 4), st.integers(1, 3))
def test_uncontested_packets_take_their_paths_length(seed: int, depth: int, width: int, degree: int) -> None:
    network = obliv.topology(f"random-leveled:L={depth},W={width},d={degree},seed={seed % 1000}")
    paths = disjoint(np.random.default_rng(seed), network)
    case = instance(network, paths)
    assert case.congestion == 1
    assert case.lower_bound == max(map(len, paths))
    for algorithm, options in (("direct", {}), ("hot-potato", {}), *((name, {}) for name in QUEUES)):
        made = schedule(case, algorithm, rng=seed, **options)
        if algorithm == "hot-potato" or not options:
            assert made.delivery.tolist() == [len(path) for path in paths], algorithm


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


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(2, 16), st.integers(1, 4))
def test_numbers_of_nodes_and_edges_mean_nothing(seed: int, depth: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    network = obliv.topology(f"random-leveled:L={depth},W={width},d=2,seed={seed % 1000}")
    case = instance(network, walks(network, rng, 14, False))
    other = relabelled(case, rng, 0)
    assert (other.congestion, other.dilation, other.lower_bound) == (case.congestion, case.dilation, case.lower_bound)
    kept = [("direct", {}), ("centralized", {"constants": "one-frame"}), ("centralized", {"constants": "paper"})]
    for algorithm, options in (*kept, *((name, {}) for name in QUEUES)):
        one, two = (schedule(each, algorithm, rng=seed, **options) for each in (case, other))
        assert one.delivery.tolist() == two.delivery.tolist(), algorithm
    lifted = relabelled(case, rng, 3)
    for algorithm in ("direct", *QUEUES):
        one, two = (schedule(each, algorithm, rng=seed) for each in (case, lifted))
        assert one.delivery.tolist() == two.delivery.tolist(), algorithm


@settings(max_examples=25)
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


def file_of(made: dict[str, Any], folder: Path) -> Path:
    path = folder / f"{random.randrange(10**12)}.json"
    path.write_text(json.dumps(made))
    return path


def proved(made: dict[str, Any], folder: Path) -> bool:
    path = file_of(made, folder)
    try:
        answer = obliv.verify(path)
    except obliv.InputError as error:
        assert "\n" not in str(error)
        assert "fault" not in str(error)
        return False
    finally:
        path.unlink()
    return bool(answer.proved)


def opened(made: Any) -> dict[str, Any]:
    """A schedule as JSON, all arrays as lists."""
    read = plain(made)

    def lists(value: Any) -> Any:
        if isinstance(value, dict):
            return oracle.unpack(value) if "b64zlib" in value else {key: lists(each) for key, each in value.items()}
        return [lists(each) for each in value] if isinstance(value, list) else value

    result: dict[str, Any] = lists(read)
    return result


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from(["direct", *QUEUES]), st.integers(0, 50))
def test_a_schedule_without_one_of_its_packets_and_later_is_one(
    tmp_path_factory: pytest.TempPathFactory, seed: int, algorithm: str, later: int
) -> None:
    folder = tmp_path_factory.mktemp("files")
    network = obliv.topology(f"random-leveled:L=8,W=3,d=2,seed={seed % 1000}")
    case = instance(network, walks(network, np.random.default_rng(seed), 9, False))
    made = opened(schedule(case, algorithm, rng=seed))
    assert proved(made, folder)
    gone = seed % case.packets
    inner = made["instance"]
    for name in ("paths", "sources", "destinations"):
        del inner[name][gone]
    made["moves"] = [[t + later, p - (p > gone), *rest] for t, p, *rest in made["moves"] if p != gone]
    made["packets"] -= 1
    less = oracle.Case(
        inner["levels"],
        [(low, high) for low, high in inner["edges"]],
        inner["paths"],
        inner["sources"],
        inner["destinations"],
        made["moves"],
        algorithm,
        made["rules"],
    )
    made |= {"congestion": less.congestion, "dilation": less.dilation, "lower_bound": less.lower_bound}
    made["makespan"] = max(row[0] for row in made["moves"])
    oracle.audit(made)
    assert proved(made, folder)


# Mistakes in Python.

BROKEN_PATHS = [
    [[0, 2]],
    [[1, 0]],
    [[0, 0]],
    [[2, 1, 0]],
    [[0], [0, 2]],
    [[7]],
    [[-1]],
    [[2**40]],
    [[10**30]],
    [[0.5]],
    [[0, 1.0]],
    [[True]],
    [["a"]],
    [[None]],
    [0, 1],
    5,
    None,
    [[[0]]],
    [[math.nan]],
]


@pytest.mark.parametrize("paths", BROKEN_PATHS)
def test_paths_that_are_none(paths: Any) -> None:
    mistake(lambda: instance("array:4", paths))


@pytest.mark.parametrize(
    ("spec", "kind", "word"),
    [
        ("butterfly:3", "rnadom", "random"),
        ("butterfly:3", "transpos", "transpose"),
        ("butterfly:3", "transpose", "even"),
        ("leveled-mesh:3x4", "bit-reverse", "power of two"),
        ("random-leveled:L=4,W=2", "permutation", "random"),
        ("mesh:3x3", "random", "leveled-mesh:3x3"),
        ("line:3", "random", "array:3"),
        ("hypercube:3", "random", "leveled-hypercube:3"),
        ("torus:3x3", "random", "levels"),
        ("complete:4", "random", "levels"),
        ("butterfly:0", "random", "at least"),
        ("butterfly:40", "random", "too many"),
        ("leveled-mesh:1x1", "random", "two nodes"),
        ("array:1", "random", "two nodes"),
        ("deep:L=3,W=2,S=4", "random", "3"),
        ("random-leveled:L=0,W=2", "random", "L"),
        ("multibutterfly:3,d=0", "random", "d"),
        ("unrolled-fattree:1,3", "random", "arity"),
        ("buterfly:3", "random", "butterfly"),
    ],
)
def test_kinds_and_networks_that_do_not_fit(spec: str, kind: str, word: str) -> None:
    assert word in mistake(lambda: instance(spec, kind))


@pytest.mark.parametrize(
    ("spec", "options"),
    [
        ("array:4", {"foo": 1}),
        ("array:4", {"rate": 2}),
        ("array:4", {"rate": math.nan}),
        ("array:4", {"maxlen": 0}),
        ("butterfly:3", {"rate": 0.5}),
        ("leveled-mesh:3x3", {"route": "zz"}),
        ("leveled-hypercube:3", {"probability": 2}),
        ("random-leveled:L=4,W=2", {"packets": 0}),
        ("random-leveled:L=4,W=2", {"packets": 10**20}),
        ("random-leveled:L=4,W=2", {"minlen": 5}),
        ("random-leveled:L=4,W=2", {"minlen": 3, "maxlen": 2}),
        ("array:4", {"seed": -1}),
        ("array:4", {"seed": "x"}),
        ("array:4", {"seed": 1.5}),
        ("array:4", {"maxlen": 1.5}),
        ("array:4", {"rate": "a"}),
    ],
)
def test_options_of_paths_that_do_not_fit(spec: str, options: dict[str, Any]) -> None:
    mistake(lambda: instance(spec, "random", **options))


def crowded() -> Any:
    """On 30 nodes in a row, every one sends to the last."""
    return instance("array:30", [list(range(i, 29)) for i in range(29)])


@pytest.mark.parametrize(
    ("algorithm", "options", "word"),
    [
        ("hotpotato", {}, "hot-potato"),
        ("centralised", {}, "centralized"),
        ("", {}, "direct"),
        ("hot-potato", {"priority": "oldest"}, "did you mean"),
        ("fifo", {"priority": "age"}, "priority"),
        ("direct", {"constants": "paper"}, "constants"),
        ("direct", {"order": "first"}, "farthest"),
        ("centralized", {"constants": "best"}, "tuned"),
        ("distributed", {"constants": "best"}, "tuned"),
        ("centralized", {"chi": 3}, "chi"),
        ("centralized", {"segments": "long"}, "tight"),
        ("distributed", {"timetable": "magic"}, "oracle"),
        ("distributed", {"tie": "magic"}, "survives"),
        ("centralized", {"lam": 7}, "even"),
        ("centralized", {"lam": 0}, "even"),
        ("centralized", {"lam": -4}, "even"),
        ("centralized", {"lam": 2.5}, "even"),
        ("centralized", {"lam": math.nan}, "even"),
        ("centralized", {"s": 0}, "at least 1"),
        ("centralized", {"s": -1}, "at least 1"),
        ("distributed", {"lam": 13, "chi": 1}, "even"),
        ("distributed", {"lam": 6, "chi": 2}, "12"),
        ("distributed", {"chi": 0}, "at least 1"),
        ("distributed", {"s": 0}, "at least 1"),
        ("centralized", {"lam": 4, "s": 1}, "raise lam"),
        ("distributed", {"lam": 6, "chi": 1, "s": 1}, "raise chi"),
        (None, {}, ""),
        ("centralized", {"lam": 10**12}, ""),
        ("centralized", {"lam": 10**30}, ""),
        ("centralized", {"s": 10**30}, ""),
        ("centralized", {"lam": "x"}, ""),
        ("centralized", {"s": "x"}, ""),
        ("centralized", {"s": 2.5}, ""),
        ("centralized", {"lam": 8.0}, ""),
        ("distributed", {"chi": "x"}, ""),
        ("distributed", {"chi": 10**30}, ""),
        ("distributed", {"s": 10**12}, ""),
        ("distributed", {"s": 10**30}, ""),
        ("distributed", {"lam": 10**30}, ""),
        ("direct", {"seed": -1}, ""),
        ("direct", {"seed": 1.5}, ""),
        ("direct", {"seed": "x"}, ""),
    ],
)
def test_algorithms_and_constants_that_do_not_fit(algorithm: Any, options: dict[str, Any], word: str) -> None:
    case = crowded()
    assert word in mistake(lambda: schedule(case, algorithm, **options))


def test_more_sets_than_make_sense() -> None:
    text = mistake(lambda: schedule(instance("array:4", [[0, 1], [1]]), "centralized", lam=4, s=2**33, rng=1))
    assert "at most" in text


def test_a_frame_too_large_for_memory_is_laid_to_lambda() -> None:
    text = mistake(lambda: schedule(instance("butterfly:3"), "distributed", lam=10**12))
    assert "lam" in text


def test_half_a_boat_is_laid_to_chi() -> None:
    assert "chi" in mistake(lambda: schedule(instance("butterfly:3"), "distributed", chi=1.5)).split(";")[0]


def test_what_is_no_instance() -> None:
    for wrong in (None, "array:4", 5, [instance("array:3")]):
        mistake(lambda wrong=wrong: schedule(wrong))
    mistake(lambda: schedules([]))
    for spec in ("torus:3x3", "ring:5", "mesh:3x3x3", None, 5):
        mistake(lambda spec=spec: instances(spec))


def test_one_packet_a_source_for_the_distributed_algorithm_only() -> None:
    case = instance("array:4", [[0, 1], [0], [1, 2]])
    text = mistake(lambda: schedule(case, "distributed", constants="tuned"))
    assert "packets 0 and 1" in text
    for algorithm, options in ONE_EACH:
        if algorithm != "distributed":
            made = schedule(case, algorithm, **options)
            assert made.verified
            oracle.audit_all(plain(made))


@pytest.mark.parametrize("paths", [[], [[0]], [[0]] * 7, [[0, 1]], [[0], [1], [2]], [[0, 1, 2]] * 3])
def test_hardly_anything_to_route(paths: list[list[int]], tmp_path: Path) -> None:
    case = instance("array:4", paths)
    for algorithm, options in (*ONE_EACH, ("centralized", {"constants": "paper"}), ("distributed", {})):
        if algorithm == "distributed" and not case.one_source:
            continue
        made = schedule(case, algorithm, **options)
        assert made.verified
        assert made.packets == len(paths)
        if paths and "lam" not in options:
            oracle.audit_all(plain(made))
        assert str(made)
        assert "nan" not in repr(made)
        made.to_dataframe()
        if not paths:
            continue
        assert proved(plain(made), tmp_path)
        kept = tmp_path / "kept.json.gz"
        made.save(kept)
        assert without_time(obliv.load(kept)) == without_time(made)


def test_nothing_at_all_can_be_kept(tmp_path: Path) -> None:
    made = schedule(instance("array:4", []), "direct")
    kept = tmp_path / "kept.json"
    made.save(kept)
    assert without_time(obliv.load(kept)) == without_time(made)
    assert obliv.verify(kept).proved


def test_packets_that_are_there_already_are_told() -> None:
    case = instance("array:4", [[0], [], [1, 2]])
    assert case.packets == 2
    assert any(note.startswith("1 ") for note in case.notes)


def test_two_notes_in_one_message_are_two_sentences() -> None:
    text = mistake(lambda: instance("leveled-mesh:4x4", "transpose"))
    assert "left out 12" not in text


# The command line.


def told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(list(words))
    out, err = capsys.readouterr()
    return status, out, err


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    status, out, err = told(capsys, *words)
    assert status == 2
    assert out == ""
    assert err.startswith("obliv: ")
    assert err.count("\n") == 1
    assert "fault" not in err
    assert "Traceback" not in err
    return err


HUGE = "1" + "0" * 30


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["butterfly:3", "--algorithm", "nope"],
        ["butterfly:3", "--algorithm", "fifo", "--priority", "age"],
        ["butterfly:3", "--algorithm", "hot-potato", "--priority", "oldest"],
        ["butterfly:3", "--algorithm", "centralized", "--constants", "best"],
        ["butterfly:3", "--algorithm", "direct", "--constants", "paper"],
        ["butterfly:3", "--algorithm", "centralized", "--lambda", "5"],
        ["butterfly:3", "--algorithm", "centralized", "--lambda", "0"],
        ["butterfly:3", "--algorithm", "centralized", "--lambda", "-2"],
        ["butterfly:3", "--algorithm", "centralized", "--sets", "0"],
        ["butterfly:3", "--algorithm", "distributed", "--boats", "0"],
        ["butterfly:3", "--algorithm", "distributed", "--timetable", "magic"],
        ["butterfly:3", "--paths", "nope"],
        ["butterfly:3", "--paths", "/nonexistent/file"],
        ["butterfly:3", "--paths", "."],
        ["butterfly:3", "--seed", "-1"],
        ["butterfly:3", "--seed", "x"],
        ["butterfly:3", "--format", "xml"],
        ["butterfly:3", "--output", "/nonexistent/x.json"],
        ["butterfly:3", "--output", "."],
        ["butterfly:3", "--plot", "x.nope"],
        ["butterfly:40"],
        ["butterfly:27"],
        ["torus:4x4"],
        ["mesh:3x3x3"],
        ["leveled-file:nofile"],
        ["butterfly:3", "--algorithm", "distributed", "--boats", "99999999999"],
        ["butterfly:3", "--algorithm", "centralized", "--lambda", HUGE],
        ["butterfly:3", "--algorithm", "centralized", "--lambda", "1000000000000"],
        ["butterfly:3", "--algorithm", "centralized", "--sets", HUGE],
        ["butterfly:3", "--algorithm", "distributed", "--sets", HUGE],
        ["butterfly:3", "--algorithm", "distributed", "--boats", HUGE],
    ],
)
def test_mistakes_on_the_command_line(
    words: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    keep = [] if "--output" in words or not words else ["--output", "kept.json"]
    refused(capsys, "bufferless", *words, *keep)
    assert not list(tmp_path.iterdir()), "something half-written"


def test_advice_on_the_command_line_names_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bufferless", "array:30", "--algorithm", "centralized", "--lambda", "2", "--sets", "1"]
    text = refused(capsys, *words)
    assert "--lambda" in text
    assert "--sets" in text


NETWORKS = {
    "a b\nb c\nc a\n": "cycle",
    "a b\nb c\na c\n": "levels",
    "a a\n": "nowhere",
    "": "empty",
    "\0\1\2": "binary",
    "a\n": "",
    '{"levels": [0, 2], "edges": [[0, 1]]}': "level",
    '{"levels": [0, 1], "edges": [[0, 5]]}': "",
    '{"levels": [0, 1]}': "",
    '{"levels": "x", "edges": []}': "",
    "[1,": "",
    "{}": "",
    "[" * 100_000: "",
}


@pytest.mark.parametrize(("text", "word"), NETWORKS.items(), ids=[f"network{n}" for n in range(len(NETWORKS))])
def test_hostile_networks(text: str, word: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "network"
    path.write_text(text)
    assert word in refused(capsys, "bufferless", f"leveled-file:{path}")


PATHS = {
    "0 3\n": ":1",
    "0 2\n3 1\n": ":2",
    "d->b\n": ":1",
    "a->d\n": ":1",
    "a->z\n": ":1",
    "0 x\n": ":1",
    "0 2\n99\n": ":2",
    "-1\n": ":1",
    "1e5\n": ":1",
    "": "empty",
    "# nothing\n": "",
    "\0\1": "binary",
    "{}": "",
    "[1,2": "",
    "1" + "0" * 50 + "\n": ":1",
    "0" * 10_000 + "9\n": ":1",
    "²\n": ":1",
    "->\n": ":1",
    "a->\n": ":1",
}


@pytest.mark.parametrize(("text", "word"), PATHS.items(), ids=[f"paths{n}" for n in range(len(PATHS))])
def test_hostile_paths(text: str, word: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    network, paths = tmp_path / "network", tmp_path / "paths"
    network.write_text("a b\na c\nb d\nc d\n")
    paths.write_text(text)
    assert word in refused(capsys, "bufferless", f"leveled-file:{network}", "--paths", str(paths))


def test_an_unknown_node_is_told_the_names(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    network, paths = tmp_path / "network", tmp_path / "paths"
    network.write_text("a b\na c\nb d\nc d\n")
    paths.write_text("a->z\n")
    assert "0 to 3" not in refused(capsys, "bufferless", f"leveled-file:{network}", "--paths", str(paths))


def test_files_of_paths_mean_what_they_say(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    network, paths, kept = (tmp_path / name for name in ("network", "paths", "kept.json"))
    network.write_text("a b\na c\nb d\nc d\n")
    paths.write_text("0 2  # by way of b\n\na -> c -> d\n1\n")
    words = ["bufferless", f"leveled-file:{network}", "--paths", str(paths), "--output", str(kept)]
    status, _, _ = told(capsys, *words)
    assert status == 0
    made = json.loads(kept.read_text())
    assert made["instance"]["paths"] == [[0, 2], [1, 3], [1]]
    oracle.audit_all(made)
    assert told(capsys, "verify", str(kept))[0] == 0


# JSON.

KEYS = {"kind", "topology", "routing", "provenance", "packets", "congestion", "dilation", "makespan", "lower_bound"}
KEYS |= {"deflections", "verified", "algorithm", "rules"}


@pytest.mark.parametrize(
    "words",
    [
        ["--algorithm", "centralized", "--constants", "tuned"],
        ["--algorithm", "centralized", "--constants", "paper"],
        ["--algorithm", "centralized", "--constants", "one-frame"],
        ["--algorithm", "distributed", "--constants", "tuned"],
        ["--algorithm", "distributed"],
        ["--algorithm", "direct"],
        *(["--algorithm", "hot-potato", "--priority", priority] for priority in PRIORITIES),
        *(["--algorithm", name] for name in QUEUES),
    ],
    ids=" ".join,
)
def test_answers_and_files_are_as_the_contract_says(
    words: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    kept = tmp_path / "kept.json"
    words = ["bufferless", "butterfly:3", *words, "--seed", "4", "--format", "json"]
    status, out, err = told(capsys, *words, "--output", str(kept))
    assert status == 0
    answer = json.loads(out)
    assert answer.keys() >= KEYS
    assert answer["kind"] == "bufferless"
    assert answer["topology"] == "butterfly:3"
    assert "moves" not in answer
    assert answer["provenance"].keys() >= {"version", "specs", "seed", "wall_seconds", "exactness"}
    assert answer["provenance"]["seed"] == 4
    assert answer["verified"] is True
    made = json.loads(kept.read_text())
    assert all(made[key] == answer[key] for key in KEYS)
    assert made["instance"].keys() >= {"levels", "edges", "paths", "sources", "destinations"}
    rows = oracle.unpack(made["moves"])
    assert {len(row) for row in rows} <= {4, 5}
    assert {row[3] for row in rows} <= {1, -1}
    assert min(row[0] for row in rows) >= 1
    assert all(type(number) is int for row in rows for number in row)
    oracle.audit_all(made)
    assert str(kept) in err
    status, out, _ = told(capsys, "verify", str(kept), "--format", "json")
    assert status == 0
    assert json.loads(out)["proved"] is True
    assert without_time(obliv.load(kept)) == {**made, "provenance": without_time(obliv.load(kept))["provenance"]}
    again = json.loads(told(capsys, *words)[1])
    for each in (again, answer):
        del each["provenance"]["wall_seconds"]
    assert again == answer


@pytest.mark.parametrize("spec", ["mesh:4x3", "line:7", "hypercube:3"])
def test_leveled_forms_are_told(spec: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    kept = tmp_path / "kept.json.gz"
    status, out, _ = told(capsys, "bufferless", spec, "--algorithm", "fifo", "--output", str(kept))
    assert status == 0
    assert {"mesh": "leveled-mesh:3x4", "line": "array:7", "hyp": "leveled-hypercube:3"}[
        next(key for key in ("mesh", "line", "hyp") if spec.startswith(key))
    ] in out
    assert told(capsys, "verify", str(kept))[0] == 0
    status, out, _ = told(capsys, "bufferless", spec, "--algorithm", "fifo", "--format", "json")
    answer = json.loads(out)
    assert answer.keys() >= KEYS - {"constants"}
    assert answer["makespan"] == sum(each["makespan"] for each in answer.get("classes", [answer]))


# Forged files.


def forgeable(algorithm: str, options: dict[str, Any]) -> dict[str, Any]:
    spec = "random-leveled:L=12,W=3,d=2,seed=3"
    network = obliv.topology(spec)
    case = instance(network, walks(network, np.random.default_rng(5), 30, True))
    for seed in range(40):
        try:
            made = schedule(case, algorithm, rng=seed, **options)
        except obliv.InputError:
            continue
        if made.deflections or algorithm not in ("centralized", "distributed", "hot-potato"):
            return opened(made)
    raise AssertionError("nothing to forge")


FORGEABLE = [("centralized", {"lam": 6, "s": 3}), *ONE_EACH[1:]]


def swap(made: dict[str, Any], *places: Any, value: Any) -> None:
    for place in places[:-1]:
        made = made[place]
    before = made[places[-1]]
    made[places[-1]] = value(before) if callable(value) else value
    assert made[places[-1]] != before


def second(made: dict[str, Any]) -> int:
    """A row that follows another of its packet in the step before."""
    rows = [row[:2] for row in made["moves"]]
    return next(n for n in range(1, len(rows)) if rows[n] == [rows[n - 1][0] + 1, rows[n - 1][1]])


def ridden(made: dict[str, Any]) -> int:
    """Where the plan has the last boat of the first packet that goes three edges or more."""
    packet = next(p for p, path in enumerate(made["instance"]["paths"]) if len(path) >= 3)
    at: int = made["plan"]["phase_start"][packet + 1] - 1
    return at


def rename(made: dict[str, Any], spec: str) -> None:
    made["topology"] = made["instance"]["topology"] = spec


def other_algorithm(algorithm: str) -> str:
    """One that keeps the same rules but does not do what was done."""
    return {"direct": "centralized", "fifo": "random-delay", "centralized": "distributed"}.get(
        algorithm, "fifo" if algorithm in QUEUES else "direct"
    )


FORGERIES: dict[str, Callable[[dict[str, Any]], None]] = {
    "makespan lowered": lambda made: swap(made, "makespan", value=lambda m: m - 1),
    "makespan raised": lambda made: swap(made, "makespan", value=lambda m: m + 1),
    "packets raised": lambda made: swap(made, "packets", value=lambda n: n + 1),
    "congestion raised": lambda made: swap(made, "congestion", value=lambda n: n + 1),
    "dilation lowered": lambda made: swap(made, "dilation", value=lambda n: n - 1),
    "deflections changed": lambda made: swap(made, "deflections", value=lambda n: n + 1),
    "lower bound raised": lambda made: swap(made, "lower_bound", value=lambda n: n + 1),
    "a move left out": lambda made: made["moves"].pop(),
    "the first move left out": lambda made: made["moves"].pop(0),
    "all moves left out": lambda made: made["moves"].clear(),
    "a move twice": lambda made: made["moves"].append(made["moves"][0]),
    "two moves at once": lambda made: swap(made, "moves", second(made), 0, value=lambda t: t - 1),
    "a move before time": lambda made: swap(made, "moves", 0, 0, value=-1),
    "a move by another": lambda made: swap(made, "moves", 0, 1, value=lambda p: p + 1),
    "a move over another edge": lambda made: swap(made, "moves", 0, 2, value=lambda e: (e + 1) % 72),
    "a move over no edge": lambda made: swap(made, "moves", 0, 2, value=10**9),
    "a move back": lambda made: swap(made, "moves", 0, 3, value=-1),
    "a move nowhere": lambda made: swap(made, "moves", 0, 3, value=0),
    "a move of no packet": lambda made: swap(made, "moves", 0, 1, value=-1),
    "a packet's path shortened": lambda made: made["instance"]["paths"][0].pop(),
    "a path changed": lambda made: swap(made, "instance", "paths", 0, value=lambda _: made["instance"]["paths"][1]),
    "a packet more": lambda made: made["instance"]["paths"].append([0]),
    "a source changed": lambda made: swap(made, "instance", "sources", 0, value=lambda v: (v + 1) % 36),
    "a destination changed": lambda made: swap(made, "instance", "destinations", 0, value=lambda v: (v + 1) % 36),
    "an edge changed": lambda made: swap(made, "instance", "edges", 0, value=lambda e: [e[0], 3 + (e[1] + 1) % 3]),
    "an edge against the levels": lambda made: swap(made, "instance", "edges", 0, value=lambda e: e[::-1]),
    "a level changed": lambda made: swap(made, "instance", "levels", 0, value=1),
    "another seed of the network": lambda made: rename(made, "random-leveled:L=12,W=3,d=2,seed=4"),
    "another network": lambda made: rename(made, "butterfly:3"),
    "another network above": lambda made: swap(made, "topology", value="butterfly:3"),
    "no network known": lambda made: rename(made, "nonsense:3"),
    "other rules": lambda made: swap(made, "rules", value="none"),
    "an unknown algorithm": lambda made: swap(made, "algorithm", value="magic"),
    "another algorithm": lambda made: swap(made, "algorithm", value=other_algorithm),
    "no plan": lambda made: made.pop("plan"),
    "no colours in the plan": lambda made: swap(made, "plan", "colour", value=None),
    "another colour in the plan": lambda made: swap(
        made, "plan", "colour", ridden(made), value=lambda k: 3 - min(k, 2)
    ),
    "another set in the plan": lambda made: swap(made, "plan", "set", 0, value=lambda i: i + 1),
    "another home in the plan": lambda made: swap(made, "plan", "home", 0, value=lambda h: h + 1),
    "longer phases in the plan": lambda made: swap(made, "plan", "tau", value=lambda tau: tau + 2),
    "no lower bound": lambda made: made.pop("lower_bound"),
    "a whole number of another kind": lambda made: swap(made, "makespan", value=lambda m: m + 0.5),
    "the makespan as text": lambda made: swap(made, "makespan", value="few"),
    "no makespan": lambda made: made.pop("makespan"),
    "no instance": lambda made: made.pop("instance"),
    "no moves": lambda made: made.pop("moves"),
    "moves of nothing": lambda made: swap(made, "moves", value=None),
    "moves of one number": lambda made: swap(made, "moves", 0, value=[1]),
    "a move of a list": lambda made: swap(made, "moves", 0, 3, value=[1]),
    "an endless to and fro": lambda made: swap(made, "moves", value=lambda m: [[*row[:4], 2**62] for row in m]),
    "less than no to and fro": lambda made: swap(made, "moves", value=lambda m: [[*row[:4], -1] for row in m]),
    "a time beyond 64 bits": lambda made: swap(made, "moves", 0, 0, value=10**30),
}
PLANNED = ("centralized", "distributed")
EVERY = tuple(algorithm for algorithm, _ in ONE_EACH)
UNTOLD = {  # what moves cannot tell
    "deflections changed": ("distributed",),
    "no network known": EVERY,  # the file holds the network
    "an unknown algorithm": EVERY[2:],  # the rules say all
    "another algorithm": QUEUES,  # whose rules are the same
}


@pytest.mark.parametrize(
    ("algorithm", "forgery"),
    [
        (algorithm, forgery)
        for algorithm in EVERY
        for forgery in FORGERIES
        if algorithm in PLANNED or "plan" not in forgery
    ],
)
def test_forgeries_are_found_out(
    algorithm: str, forgery: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    made = genuine(algorithm)
    FORGERIES[forgery](made)
    path = file_of(made, tmp_path)
    status, _, err = told(capsys, "verify", str(path))
    assert status in ((0,) if algorithm in UNTOLD.get(forgery, ()) else (1, 2))
    assert status < 2 or (err.count("\n") == 1 and "fault of" not in err), err


KNOWN: dict[str, dict[str, Any]] = {}


def genuine(algorithm: str) -> dict[str, Any]:
    if algorithm not in KNOWN:
        KNOWN[algorithm] = forgeable(algorithm, dict(FORGEABLE)[algorithm])
    return copy.deepcopy(KNOWN[algorithm])


def test_genuine_ones_are_proved(tmp_path: Path) -> None:
    for algorithm in EVERY:
        assert proved(genuine(algorithm), tmp_path)
        oracle.audit_all(genuine(algorithm))


@pytest.mark.parametrize(
    "forgery",
    [
        "makespan lowered",
        "congestion raised",
        "lower bound raised",
        "the first move left out",
        "a move twice",
        "two moves at once",
        "a move by another",
        "a move back",
        "a packet's path shortened",
        "an edge changed",
        "another colour in the plan",
        "another home in the plan",
    ],
)
@pytest.mark.parametrize("algorithm", EVERY)
def test_the_oracle_finds_forgeries_too(algorithm: str, forgery: str) -> None:
    made = genuine(algorithm)
    if "plan" in forgery and algorithm not in PLANNED:
        return
    FORGERIES[forgery](made)
    with pytest.raises((AssertionError, IndexError, KeyError)):
        oracle.audit_all(made)


@pytest.mark.parametrize(("algorithm", "pretended"), [("fifo", "farthest-to-go"), ("hot-potato", "direct")])
def test_the_oracle_tells_algorithms_apart(algorithm: str, pretended: str) -> None:
    made = genuine(algorithm)
    made["algorithm"] = pretended
    made["constants"]["order"] = "farthest"
    with pytest.raises(AssertionError):
        oracle.audit_all(made)


def test_a_packet_that_waits_is_no_bufferless_one(tmp_path: Path) -> None:
    made = opened(schedule(instance("array:4", [[0, 1], [1], [1]]), "fifo"))
    assert proved(made, tmp_path)
    rests = [row for row in made["moves"] if row[1] == 0]
    assert rests[1][0] > rests[0][0] + 1 or sorted(row[0] for row in made["moves"]) == [1, 1, 2, 3]
    late = [row if row[:2] != rests[1][:2] else [9, *row[1:]] for row in made["moves"]]
    made |= {"moves": late, "makespan": 9}
    assert proved(made, tmp_path)
    made |= {"rules": "bufferless"}
    assert not proved(made, tmp_path)
    made |= {"algorithm": "hot-potato"}
    assert not proved(made, tmp_path)


def leaves(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        yield (*place, key)
        yield from leaves(each, (*place, key))


JUNK: list[Any] = [None, True, -1, 0, 1, 2, 7, 2**31, 2**63, 10**40, 1.5, "x", "", [], [[]], {}, [0], [None]]
IDLE = {"notes", "provenance", "routing", "made", "verified", "constants", "labels", "kind", "topology"}
IDLE |= {"algorithm"}  # an unknown one may come with any rules


def damage(rounds: int, seed: int, folder: Path) -> None:
    """Files with one entry changed: nothing worse than a no; where the answer is yes the oracle agrees."""
    rng = random.Random(seed)
    accepted = 0
    for _ in range(rounds):
        made = genuine(rng.choice(EVERY))
        top = rng.choice([key for key in made if key not in IDLE])
        places = [(top, *place) for place in leaves(made[top])] or [(top,)]
        place = rng.choice([(top,), *places])
        inner: Any = made
        for key in place[:-1]:
            inner = inner[key]
        old = inner[place[-1]]
        near = [old - 1, old + 1] if type(old) is int else []
        new = rng.choice([*near, *JUNK])
        if rng.random() < 0.1 and isinstance(inner, list):
            del inner[place[-1]]
        else:
            inner[place[-1]] = new
        if proved(made, folder):
            accepted += 1
            try:
                oracle.audit(made)
            except Exception as error:
                if old == new or set(place) & IDLE:
                    continue
                raise AssertionError(f"{made['algorithm']} {place}: {str(old)[:80]} -> {new!r}: {error!r}") from error
    assert accepted < rounds / 2


def test_damaged_files(tmp_path: Path) -> None:
    damage(400, 1, tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(2, 8))
def test_more_damaged_files(seed: int, tmp_path: Path) -> None:
    damage(3000, seed, tmp_path)


HOSTILE = {
    "nothing": "",
    "no JSON": "{",
    "no object": "[]",
    "a number": "5",
    "no content": "{}",
    "deep": "[" * 200_000,
    "a kind alone": '{"kind": "bufferless"}',
    "empty parts": '{"kind": "bufferless", "instance": {}, "moves": []}',
    "infinite": '{"kind": "bufferless", "makespan": Infinity, "instance": {}, "moves": []}',
    "no classes": '{"kind": "bufferless", "classes": []}',
    "classes of nothing": '{"kind": "bufferless", "classes": [null, 5, {}]}',
    "classes of no list": '{"kind": "bufferless", "classes": 5}',
    "nested classes": '{"kind": "bufferless", "classes": [' * 500 + "]}" * 500,
    "packed badly": '{"kind":"bufferless","instance":{"levels":{"b64zlib":"!","dtype":"int64","shape":[3]}}}',
    "packed hugely": '{"kind":"bufferless","instance":{"levels":{"b64zlib":"","dtype":"int64","shape":[99999999999]}}}',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files(name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "claim.json"
    path.write_text(HOSTILE[name])
    status, _, err = told(capsys, "verify", str(path))
    assert status in (1, 2)
    assert "fault of" not in err
    assert "Traceback" not in err
    assert err.count("\n") <= 1


def test_a_class_of_a_mesh_forged(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    assert told(capsys, "bufferless", "mesh:4x4", "--algorithm", "direct", "--output", str(kept))[0] == 0
    whole = json.loads(kept.read_text())
    assert len(whole["classes"]) > 1

    def status(**changed: Any) -> int:
        path = file_of({**copy.deepcopy(whole), **changed}, tmp_path)
        return told(capsys, "verify", str(path))[0]

    assert status() == 0
    for key in ("makespan", "packets", "congestion", "dilation"):
        assert status(**{key: whole[key] + 1}) in (1, 2), key
    assert status(classes=whole["classes"][1:]) in (1, 2)
    assert status(classes=[*whole["classes"], whole["classes"][0]]) in (1, 2)
    forged = copy.deepcopy(whole["classes"])
    forged[0]["makespan"] -= 1
    assert status(classes=forged, makespan=whole["makespan"] - 1) in (1, 2)


@pytest.mark.parametrize("key", ["deflections", "lower_bound", "algorithm", "rules"])
def test_a_sum_over_classes_forged(key: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    told(capsys, "bufferless", "mesh:4x4", "--algorithm", "direct", "--output", str(kept))
    made = json.loads(kept.read_text())
    assert told(capsys, "verify", str(kept))[0] == 0
    made[key] = made[key] + 1 if isinstance(made[key], int) else "none"
    assert told(capsys, "verify", str(file_of(made, tmp_path)))[0] in (1, 2)


# Chance.


def test_the_same_generator_gives_the_same_and_another_another() -> None:
    case = instance("butterfly:4", "random", rng=3)
    for algorithm, options in [*ONE_EACH, ("direct", {"order": "random"}), ("hot-potato", {"priority": "random"})]:
        made = [schedule(case, algorithm, rng=np.random.default_rng(5), **options) for _ in range(2)]
        assert made[0].moves is not None
        assert (made[0].moves.rows() == made[1].moves.rows()).all()
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
