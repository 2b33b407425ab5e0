from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.bufferless.centralized_corpus import audit, one_by_one, some_constants, some_instance, some_plan
from tests.bufferless.instances import line

import obliv.bufferless.frames.centralized as stepping_module
from obliv.bufferless.frames.centralized import delivery_times, plan, planned_moves, simulate
from obliv.bufferless.leveled.instances import Instance
from obliv.bufferless.problems import instance


def agree(drawn: Instance, planned: dict) -> int:
    """The plan's times and moves are those of the run, move by move; the deflections."""
    outcome = simulate(drawn, planned, record=True)
    delivery = delivery_times(drawn, planned)
    assert outcome.violation is None
    assert outcome.delivery.tolist() == delivery.tolist()
    moves, deflections = planned_moves(drawn, planned, delivery)
    rows = one_by_one(moves)
    assert outcome.moves is not None
    assert rows.tolist() == one_by_one(outcome.moves).tolist()
    assert deflections == outcome.deflections.sum()
    assert outcome.packet_steps == len(rows) == moves.steps
    return deflections


def fuzz(seeds: range) -> None:
    ran = stopped = second = pushed = 0
    for seed in seeds:
        rng = np.random.default_rng([3, seed])
        drawn = some_instance(rng)
        planned = some_plan(drawn, **some_constants(rng, drawn))
        if planned is None:
            continue
        pushed += agree(drawn, planned)
        ran += 1
        stopped += len(planned.color) > drawn.packets
        second += bool((planned.session == 2).any())
    # the corpus is no idle one
    assert ran > 0.7 * len(seeds)
    assert stopped > 0.2 * len(seeds)
    assert second > 0.02 * len(seeds)
    assert pushed > 0.2 * len(seeds)


def test_the_plan_is_what_happens():
    fuzz(range(30))


@pytest.mark.nightly
def test_the_plan_is_what_happens_2000():
    fuzz(range(200, 2200))


@pytest.mark.nightly
@pytest.mark.parametrize(("length", "packets"), [(360, 205), pytest.param(400, 220, marks=pytest.mark.nightly)])
def test_more_boats_than_a_word_has_bits(length, packets):
    rng = np.random.default_rng(1)
    network = line(length, 1.0, 1, rng).network
    ends = np.sort(np.stack([rng.choice(length, 2, replace=False) for _ in range(packets)]), axis=1)
    start = np.concatenate([[0], np.cumsum(ends[:, 1] - ends[:, 0])])
    drawn = Instance(network, start, np.concatenate([np.arange(a, b, dtype=np.int32) for a, b in ends]))
    planned = plan(drawn, np.ones(packets, np.int64), 1, 250, rank=rng.permutation(packets))
    assert planned.color.max() > 62
    assert agree(drawn, planned) > 10


def test_moves_keep_the_rules_of_any_schedule():
    for seed in range(12):
        rng = np.random.default_rng([4, seed])
        drawn = some_instance(rng)
        arguments = some_constants(rng, drawn) | {"lam": 30}
        planned = plan(drawn, **arguments)
        outcome = simulate(drawn, planned, record=True)
        assert outcome.moves is not None
        audit(drawn, one_by_one(outcome.moves), outcome.delivery)


def test_phases_without_packets_cost_nothing():
    drawn = instance("array:30", [[3, 4, 5], [7, 8]])
    planned = plan(drawn, np.array([1, 10**6]), 10**6, 30)
    outcome = simulate(drawn, planned)
    assert outcome.packet_steps == 5
    assert outcome.delivery.tolist() == [6, 2 * (10**6 - 1) * planned.tau + 9]


@pytest.mark.nightly
def test_interpreted_and_compiled_alike(monkeypatch):
    monkeypatch.setattr(stepping_module, "run", lambda kernel, work, *args: kernel.python(*args))
    for seed in range(15):
        rng = np.random.default_rng([5, seed])
        drawn = line(int(rng.integers(20, 50)), 0.7, 20, rng)
        planned = plan(drawn, np.ones(drawn.packets, np.int64), 1, 26)
        agree(drawn, planned)


def test_wrong_plans_are_refused():
    drawn = instance("array:12", [range(10), [1, 2, 3]])
    planned = plan(drawn, np.ones(2, np.int64), 1, 4)
    assert planned.color.tolist() == [1, 1, 2]
    assert planned.home.tolist() == [0, 6, 1]
    assert planned.tau == 10
    assert simulate(drawn, planned).violation is None

    def told(**changed) -> str:
        return str(simulate(drawn, replace(planned, **changed)).violation)

    assert told(color=np.array([1, 1, 1], np.int32)) == "step 2, packet 1: it needs a link that is in use"
    assert told(color=np.array([1, 2], np.int32), phase_start=np.arange(3)) == (
        "step 10, packet 0: the plan has no color for it in this phase"
    )
    assert told(tau=6) == "step 6, packet 0: it still rides when the phase ends"
    assert told(tau=9) == "step 9, packet 0: it is not at home when it should be"
    assert told(tau=4) == "step 4, packet 1: it was not injected in its phase"
