"""Store and forward against a simulation with a list for every edge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.bufferless.instances import layered, line, walks
from tests.bufferless.test_direct import EMPTY, small

from obliv.bufferless import schedulers as module
from obliv.bufferless.leveled.instances import Instance
from obliv.bufferless.problems import instance
from obliv.bufferless.schedulers import PRIORITIES, queues
from obliv.errors import InputError

# what a packet's key is made of: when it came, edges left
KEYS = {
    "fifo": lambda came, left: came,
    "random-delay": lambda came, left: came,
    "random-rank": lambda came, left: 0,
    "farthest-to-go": lambda came, left: -left,
}


def simulated(one: Instance, seed: int, priority: str) -> list[int]:
    """The time of every move: at each step the best of every edge's list goes on."""
    rng = np.random.default_rng(seed)
    tie = rng.permutation(one.packets).tolist()
    came = [0] * one.packets
    if priority == "random-delay":
        came = rng.integers(0, one.congestion, one.packets).tolist()
    at, end = one.start[:-1].tolist(), one.start[1:].tolist()
    time = [0] * len(one.edge)
    now = 0
    while any(a < b for a, b in zip(at, end, strict=True)):
        waiting: dict[int, list[tuple[Any, ...]]] = {}
        for p in range(one.packets):
            if at[p] < end[p] and came[p] <= now:
                key = KEYS[priority](came[p], end[p] - at[p])
                waiting.setdefault(int(one.edge[at[p]]), []).append((key, tie[p], p))
        now += 1
        for best in waiting.values():
            p = min(best)[-1]
            time[at[p]] = came[p] = now
            at[p] += 1
    return time


@pytest.mark.sampled(15)
@pytest.mark.parametrize("priority", PRIORITIES)
@pytest.mark.parametrize("seed", range(9))
def test_simulated(seed: int, priority: str) -> None:
    one = small(seed)
    run = queues(one, np.random.default_rng(seed), priority)
    assert run.moves.time.tolist() == simulated(one, seed, priority)
    assert run.moves.up.all()
    assert run.moves.edge is one.edge
    assert run.delivery.tolist() == run.moves.time[one.start[1:] - 1].tolist()
    assert run.delivery.max() >= one.lower_bound
    assert (run.rules, run.deflections) == ("buffered", 0)


@pytest.mark.parametrize("mode", ["interpreted", pytest.param("compiled", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("priority", ["random-rank", "random-delay"])
def test_long_queues(mode: str, priority: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Heaps of hundreds, lists sorted again many times, the kernel left and entered again."""
    rng = np.random.default_rng(3)
    one = walks(layered(6, 2, 1, rng), 300, 2, 6, rng, distinct=False)
    monkeypatch.setattr(module, "MOVES_AT_ONCE", 100)
    monkeypatch.setattr(module, "run", lambda f, work, *args: (f.compiled() if mode == "compiled" else f.python)(*args))
    assert queues(one, np.random.default_rng(1), priority).moves.time.tolist() == simulated(one, 1, priority)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("rule", "name"),
    [
        (lambda packets, remaining, arrived, rng: arrived, "fifo"),
        (lambda packets, remaining, arrived, rng: -remaining, "farthest-to-go"),
        (lambda packets, remaining, arrived, rng: np.zeros(len(packets)), "random-rank"),
    ],
)
@pytest.mark.parametrize("seed", range(6))
def test_functions(seed: int, rule: Any, name: str) -> None:
    one = small(seed)
    run = queues(one, np.random.default_rng(seed), rule)
    assert run.moves.time.tolist() == simulated(one, seed, name)
    assert run.constants == {"priority": "<lambda>"}


def test_a_function_gets_its_own_generator() -> None:
    def toss(packets: Any, remaining: Any, arrived: Any, rng: np.random.Generator) -> Any:
        return rng.random(len(packets))

    one = small(4)
    runs = [queues(one, np.random.default_rng(seed), toss) for seed in (1, 1, 2)]
    assert (runs[0].moves.time == runs[1].moves.time).all()
    assert (runs[0].moves.time != runs[2].moves.time).any()
    assert runs[0].constants == {"priority": "toss"}


def test_delays_are_below_the_congestion() -> None:
    one = instance("array:200", [[e] for e in range(150)] + [[0]] * 9)
    first = queues(one, np.random.default_rng(0), "random-delay").moves.time[1:150]
    assert one.congestion == 10
    assert set(first.tolist()) == set(range(1, 11))


def test_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="did you mean fifo"):
        queues(small(0), rng, "fifos")
    for wrong in (lambda packets: 0, lambda packets: packets[1:], lambda packets: packets * np.nan):
        with pytest.raises(InputError, match="one number for each"):
            queues(small(0), rng, lambda packets, remaining, arrived, rng, wrong=wrong: wrong(packets))
    with pytest.raises(InputError, match="not <U1"):
        queues(small(0), rng, lambda packets, remaining, arrived, rng: np.full(len(packets), "x"))


@pytest.mark.parametrize("priority", PRIORITIES)
def test_nothing_to_send(priority: str) -> None:
    assert len(queues(EMPTY, np.random.default_rng(0), priority).delivery) == 0
    assert len(queues(EMPTY, np.random.default_rng(0), lambda *_: 0).delivery) == 0


def test_one_packet_alone_never_waits() -> None:
    one = line(40, 0.0, 9, np.random.default_rng(0))
    alone = Instance(one.network, np.array([0, 7]), np.arange(3, 10, dtype=np.int32))
    assert queues(alone, np.random.default_rng(0)).moves.time.tolist() == list(range(1, 8))


# makespans of the specification's tables; ties are drawn, so a step or two either way
VALUES = {
    "butterfly:10": {"fifo": 16, "random-rank": 16, "random-delay": 18},
    "butterfly:10 bit-reverse": {"fifo": 25, "random-rank": 25, "random-delay": 31},
    "butterfly:10 hotspot": {"fifo": 58, "random-rank": 58, "random-delay": 63},
    "deep:L=200,W=64,S=32,seed=0": {"fifo": 240, "random-rank": 241, "random-delay": 252},
    "deep:L=2000,W=16,S=8,seed=0": {"fifo": 2071, "random-rank": 2072, "random-delay": 2075},
    "leveled-mesh:128x128": {"fifo": 316, "farthest-to-go": 284},
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.nightly] * n.startswith(("leveled-mesh:128", "deep"))) for n in VALUES]
)
def test_values(name: str) -> None:
    spec, _, paths = name.partition(" ")
    one = instance(spec, paths or "random", rng=0, **({"route": "xy"} if "mesh" in spec else {}))
    for priority, makespan in VALUES[name].items():
        makespan_found = int(queues(one, np.random.default_rng(0), priority).delivery.max())
        assert makespan_found == pytest.approx(makespan, abs=5 if priority == "random-delay" else 2)
