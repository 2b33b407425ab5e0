"""Hot potato: every decision is judged from the moves alone, by replaying them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.bufferless.instances import layered, line, walks
from tests.bufferless.test_direct import EMPTY

import obliv
from obliv.bufferless import results as moves
from obliv.bufferless import schedulers as module
from obliv.bufferless.kernels.direct import Keys
from obliv.bufferless.leveled.instances import Instance
from obliv.bufferless.problems import instance
from obliv.bufferless.results import Run
from obliv.bufferless.schedulers import HOT_POTATO_PRIORITIES, hot_potato
from obliv.errors import InputError

Link = tuple[int, bool]  # an edge, and whether upwards
Key = Callable[[int, int, int, int], Any]  # of entered, remaining, tie, now

KEYS: dict[str, Key] = {
    "age": lambda entered, remaining, tie, now: (entered, tie),
    "closest": lambda entered, remaining, tie, now: (remaining, tie),
    "farthest": lambda entered, remaining, tie, now: (-remaining, tie),
}


def crowded(seed: int) -> Instance:
    """Saturated meshes, hot spots, deep networks; and random ones with parallel edges and many packets a source."""
    if seed % 4 == 0:
        return instance(f"leveled-mesh:{5 + seed % 5}x{5 + seed % 3}", route="xy", rng=seed)
    if seed % 4 == 1:
        return instance("butterfly:4", "hotspot", share=0.5, rng=seed)
    if seed % 4 == 2:
        return instance(f"deep:L=14,W=5,S=7,seed={seed}", rng=seed)
    rng = np.random.default_rng(seed)
    depth = int(rng.integers(3, 15))
    network = layered(depth, int(rng.integers(2, 6)), int(rng.integers(2, 4)), rng)
    return walks(network, 80, 1, depth, rng, distinct=False)


def replay(one: Instance, run: Run, seed: int, key: Key | None) -> int:
    """Judge every decision; returns the deepest stack."""
    net, moves = one.network, run.moves
    tie = np.random.default_rng(seed).permutation(one.packets).tolist()
    low, high = net.low.tolist(), net.high.tolist()
    out: dict[int, set[Link]] = {v: set() for v in range(net.nodes)}
    for e in range(net.edges):
        out[low[e]].add((e, True))
        out[high[e]].add((e, False))
    path = [one.edge[a:b].tolist() for a, b in zip(one.start, one.start[1:], strict=False)]
    step: dict[int, dict[int, Link]] = {}
    for t, p, e, direction in moves.rows().tolist():
        assert p not in step.setdefault(t, {})
        step[t][p] = (e, direction > 0)
    where = {p: low[path[p][0]] for p in range(one.packets)}
    entered: dict[int, int] = {}
    stack: dict[int, list[Link]] = {p: [] for p in range(one.packets)}
    index = [0] * one.packets
    outside, inside = set(range(one.packets)), set()
    pushes = deepest = 0
    for now in range(1, int(run.delivery.max()) + 1):
        taken = step[now]
        assert len(set(taken.values())) == len(taken)  # a link carries one packet
        assert inside <= set(taken)  # nobody rests
        want = {}
        for p in inside | outside:
            e, up = stack[p][-1] if stack[p] else (path[p][index[p]], False)
            want[p] = (e, not up)
        remaining = {p: len(path[p]) - index[p] + len(stack[p]) for p in want}
        claimed: dict[Link, list[int]] = {}
        for p in inside:
            claimed.setdefault(want[p], []).append(p)
        for link, rivals in claimed.items():
            winners = [p for p in rivals if taken[p] == link]
            assert len(winners) == 1
            if key is not None:
                assert winners[0] == min(rivals, key=lambda p: key(entered[p], remaining[p], tie[p], now))
        for p in inside:
            assert taken[p] in out[where[p]]
            assert taken[p] == want[p] or taken[p] not in claimed
        used = {taken[p] for p in inside}
        for link in {want[p] for p in outside}:
            hopeful = [p for p in outside if want[p] == link]
            let_in = [p for p in hopeful if p in taken]
            assert len(let_in) == (link not in used)
            if let_in and key is not None:
                assert let_in[0] == min(hopeful, key=lambda p: key(0, remaining[p], tie[p], now))
        for p, (e, up) in taken.items():
            if p in outside:
                outside.remove(p)
                inside.add(p)
                entered[p] = now
                assert taken[p] == want[p]
            where[p] = high[e] if up else low[e]
            if taken[p] != want[p]:
                stack[p].append((e, up))
                pushes += 1
                deepest = max(deepest, len(stack[p]))
            elif stack[p]:
                stack[p].pop()
            else:
                index[p] += 1
            if not stack[p] and index[p] == len(path[p]):
                inside.remove(p)
                assert run.delivery[p] == now
    assert not inside
    assert not outside
    assert pushes == run.deflections
    return deepest


@pytest.mark.sampled(3)
@pytest.mark.parametrize("priority", HOT_POTATO_PRIORITIES)
@pytest.mark.parametrize("seed", range(16))
def test_replayed(seed: int, priority: str) -> None:
    one = crowded(seed)
    run = hot_potato(one, np.random.default_rng(seed), priority)
    deepest = replay(one, run, seed, KEYS.get(priority))
    links = "link" if deepest == 1 else "links"
    assert run.notes == ((f"at most {deepest} {links} to go back at once",) if deepest else ())
    assert run.deflections > 0
    assert run.rules == "bufferless"
    assert run.delivery.max() >= one.lower_bound
    assert (run.delivery == run.moves.time[run.moves.start[1:] - 1]).all()


@pytest.mark.parametrize("seed", range(5))
def test_replayed_with_function(seed: int) -> None:
    """By the packet's number, the last first."""
    one = crowded(seed)
    seen = []

    def last(packets: Any, remaining: Any, entered: Any, rng: np.random.Generator) -> Any:
        seen.append((packets, remaining, entered))
        return -packets / 2

    run = hot_potato(one, np.random.default_rng(seed), last)
    replay(one, run, seed, None)
    number = np.argsort(np.argsort(-np.arange(one.packets))).tolist()
    first = {}
    for p, t in zip(run.moves.packet.tolist(), run.moves.time.tolist(), strict=True):
        first.setdefault(p, t)
    groups: dict[int, list[int]] = {}
    for p in sorted(first, key=number.__getitem__):
        groups.setdefault(int(one.edge[one.start[p]]), []).append(first[p])
    assert all(times == sorted(times) for times in groups.values())
    for packets, remaining, entered in seen[1:]:
        assert (remaining >= 1).all()
        assert entered.tolist() == [first[p] for p in packets.tolist()]


@pytest.mark.parametrize("name", ["age", "closest", "farthest"])
def test_functions_do_as_names(name: str) -> None:
    one = crowded(8)
    rules = {
        "age": lambda packets, remaining, entered, rng: entered,
        "closest": lambda packets, remaining, entered, rng: remaining,
        "farthest": lambda packets, remaining, entered, rng: -remaining,
    }
    by_name, by_function = (hot_potato(one, np.random.default_rng(1), rule) for rule in (name, rules[name]))
    assert by_name.deflections > 0
    for part in ("start", "time", "edge", "up"):
        assert (getattr(by_name.moves, part) == getattr(by_function.moves, part)).all()


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("priority", "spec"),
    [
        ("random", "leveled-mesh:10x10"),
        ("age", "leveled-mesh:10x10"),
    ],
)
def test_interpreted_as_compiled(priority: str, spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one = instance(spec, route="xy")
    runs = []
    for compiled in (False, True):
        monkeypatch.setattr(module, "run", lambda f, work, *a, c=compiled: (f.compiled() if c else f.python)(*a))
        runs.append(hot_potato(one, np.random.default_rng(0), priority))
    assert runs[0].deflections > 0
    for part in ("start", "time", "edge", "up"):
        assert (getattr(runs[0].moves, part) == getattr(runs[1].moves, part)).all()


@pytest.mark.parametrize("spec", ["leveled-mesh:12x12", "deep:L=30,W=8,S=12,seed=1", "butterfly:6"])
def test_chunks(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs, draws and pools in many small chunks: still by the rules, and as drawn at once where draws are as many."""
    one = instance(spec, rng=3)
    monkeypatch.setattr(module, "DRAWS", 5)
    whole = hot_potato(one, np.random.default_rng(0), "closest")
    monkeypatch.setattr(module, "CHUNK", 50)
    monkeypatch.setattr(module, "POOL", 1)
    parts = hot_potato(one, np.random.default_rng(0), "closest")
    assert (whole.moves.rows() == parts.moves.rows()).all()
    replay(one, parts, 0, KEYS["closest"])


def test_the_pool_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every entry is in the list of free ones or in one stack, after growing with both."""
    monkeypatch.setattr(module, "POOL", 1)
    one = instance("deep:L=30,W=8,S=12,seed=1", rng=3)
    table = module._KernelState(one, np.random.default_rng(0))
    table._queue(one.length)
    keys = Keys(1, 0, False, table.tie)
    sizes = set()
    for limit in range(1, 40):
        table._grow()
        table._advance(keys, limit)
        top, pushed, below = table.pool
        sizes.add(len(pushed))
        free: list[int] = []
        stacked: list[int] = []
        for entries, first in ((free, [int(table.tally["free"])]), (stacked, top.tolist())):
            for at in first:
                while at >= 0 and len(entries) <= len(pushed):
                    entries.append(at)
                    at = int(below[at])
        assert len(free) == table.tally["spare"]
        assert sorted(free + stacked) == list(range(len(pushed)))
    assert len(sizes) > 2


@pytest.mark.nightly
@pytest.mark.parametrize("times", [50, pytest.param(400, marks=pytest.mark.nightly)])
def test_losers_choose_evenly(times: int) -> None:
    """Two packets at the foot of a fan: one goes up, the other takes any of the other links."""
    network = layered(2, 1, 6, np.random.default_rng(0))  # six edges from node 0 to 1, six from 1 to 2
    one = Instance(network, np.array([0, 2, 4]), np.array([0, 6, 1, 6], np.int32))
    taken: Counter[Link] = Counter()
    for seed in range(11 * times):
        run = hot_potato(one, np.random.default_rng(seed), "random")
        assert (run.deflections, sorted(run.delivery.tolist())) == (1, [2, 4])
        late = int(run.delivery.argmax())
        k = run.moves.start[late] + 1
        taken[int(run.moves.edge[k]), bool(run.moves.up[k])] += 1
    assert set(taken) == {(e, False) for e in range(6)} | {(e, True) for e in range(7, 12)}
    assert sum((n - times) ** 2 / times for n in taken.values()) < 30  # chi square of 10 degrees: once in 1000


@pytest.mark.parametrize("seeds", [150, pytest.param(600, marks=pytest.mark.nightly)])
def test_random_keys_are_fair(seeds: int) -> None:
    network = layered(2, 1, 3, np.random.default_rng(0))
    one = Instance(network, np.array([0, 2, 4, 6]), np.array([0, 3, 1, 3, 2, 3], np.int32))
    wins = Counter(
        int(hot_potato(one, np.random.default_rng(seed), "random").delivery.argmin()) for seed in range(seeds)
    )
    assert sum((wins[p] - seeds / 3) ** 2 for p in range(3)) < 14 * seeds / 3  # chi square of 2 degrees: once in 1000


def test_a_packet_alone_and_none() -> None:
    one = line(40, 0.0, 9, np.random.default_rng(0))
    alone = Instance(one.network, np.array([0, 7]), np.arange(3, 10, dtype=np.int32))
    run = hot_potato(alone, np.random.default_rng(0))
    assert run.moves.time.tolist() == list(range(1, 8))
    assert run.moves.edge.tolist() == list(range(3, 10))
    for rule in (*HOT_POTATO_PRIORITIES, lambda *_: 0):
        assert len(hot_potato(EMPTY, np.random.default_rng(0), rule).moves) == 0


def test_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="did you mean age"):
        hot_potato(crowded(0), rng, "ages")
    with pytest.raises(InputError, match="one number for each"):
        hot_potato(crowded(0), rng, lambda packets, remaining, entered, rng: 0)
    one = instance("butterfly:5", "bit-reverse")
    for rule in ("closest", lambda packets, remaining, entered, rng: remaining):
        with pytest.raises(InputError, match="packets have not arrived after 5 steps; raise limit"):
            hot_potato(one, rng, rule, limit=5)
    assert hot_potato(one, rng, "closest", limit=100).deflections > 0


# steps and deflections of the specification's tables, which draw links and ties in another way
VALUES = {
    "leveled-mesh:16x16": {"age": (29, 195), "closest": (29, 184), "farthest": (27, 224)},
    "leveled-mesh:128x128": {"age": (419, 93_242), "closest": (368, 66_659), "farthest": (553, 261_462)},
    "deep:L=200,W=64,S=32,seed=0": {"age": (273, 43_564), "closest": (273, 43_564), "farthest": (273, 43_564)},
    "butterfly:10 hotspot": {"age": (106, None), "farthest": (106, None)},
}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.nightly] * (n != "leveled-mesh:16x16")) for n in VALUES]
)
def test_values(name: str) -> None:
    spec, _, paths = name.partition(" ")
    one = instance(spec, paths or "random", rng=0, **({"route": "xy"} if "128" in spec else {}))
    for priority, (makespan, deflections) in VALUES[name].items():
        run = hot_potato(one, np.random.default_rng(0), priority)
        assert run.delivery.max() == pytest.approx(makespan, rel=0.1)
        if deflections:
            assert run.deflections == pytest.approx(deflections, rel=0.12)


@pytest.mark.nightly
def test_deep_stacks() -> None:
    run = hot_potato(instance("leveled-mesh:512x512", route="xy"), np.random.default_rng(0), "closest")
    assert int(run.notes[0].split()[2]) > 256


@pytest.mark.parametrize("spec", ["butterfly:3", "random-leveled:L=6,W=5,d=2,seed=1", "multibutterfly:3,d=2,seed=1"])
def test_links_out_of_every_node(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By sorting and by the loop: links up before links down, each in the order of edges."""
    network = obliv.topology(spec)
    low, high = (ends.tolist() for ends in network.edge_ends)
    for limit in (moves.INTERPRETED, -1):
        monkeypatch.setattr(moves, "INTERPRETED", limit)
        first, link = moves.exits(network)
        for node in range(network.nodes):
            up = [2 * e for e in range(network.edges) if low[e] == node]
            down = [2 * e + 1 for e in range(network.edges) if high[e] == node]
            assert link[first[node] : first[node + 1]].tolist() == up + down


def test_times_of_packets_that_never_stop() -> None:
    start, departure = np.array([0, 3, 4, 6]), np.array([5, 0, 2])
    assert moves.nonstop(start, departure).tolist() == [6, 7, 8, 1, 3, 4]
    assert moves.nonstop(np.array([0]), departure[:0]).tolist() == []
