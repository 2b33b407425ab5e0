"""The centralized algorithm with one wrong rule: the run must notice, and must never refuse the right algorithm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from tests.bufferless.centralized_corpus import some_instance, some_plan

import obliv.bufferless.frames.plan as plan_module
from obliv.bufferless.frames.plan import phase_length, plan
from obliv.bufferless.frames.stepping import simulate
from obliv.bufferless.kernels import steps
from obliv.bufferless.kernels.colors import color_frames
from obliv.bufferless.problems import instance
from obliv.kernels import Kernel
from obliv.papers.bufferless.variants import CENTRALIZED, altered
from obliv.results.plans import CentralizedPlan


def longer(plan: CentralizedPlan, steps: int) -> CentralizedPlan:
    """A plan whose phases are so many steps longer."""
    tau = plan.tau + steps
    return replace(plan, tau=tau, session_start=[0, plan.session_start[1] // plan.tau * tau])


def same(plan: CentralizedPlan) -> CentralizedPlan:
    return plan


@dataclass(frozen=True)
class Mutant:
    """A wrong rule: constants of the kernels, the kernel that runs a session, or a change of the plan.

    ``least``: how many of 700 instances at least show it (about half of those that did); ``faults``: how.
    """

    least: int
    faults: set[str]
    constants: dict[str, int] | None = None
    coloring: dict[str, int] | None = None
    kernel: Kernel = steps.simulate_phases
    change: Callable[[CentralizedPlan], CentralizedPlan] = same


MUTANTS = {
    "boats two apart": Mutant(30, {"it needs a link that is in use"}, {"BOAT_SPACING": 2}),
    "boats three apart": Mutant(
        60, {"it oscillates and is off its edge", "it is not at home when it should be"}, {"BOAT_SPACING": 3}
    ),
    "targets one apart": Mutant(
        100,
        {"it oscillates and is off its edge"},
        {"TARGET_SPACING": 1},
        {"TARGET_SPACING": 1},
        change=lambda plan: longer(plan, plan_module.even(longest(plan)) - plan.tau),
    ),
    "waves one frame apart": Mutant(10, {"it needs a link that is in use"}, {"WAVE_SPACING": 1}),
    "last target at 2D - 1": Mutant(
        20,
        {
            "it oscillates and is off its edge",
            "its wave has left the group of frames",
            "it needs a link that is in use",
        },
        kernel=CENTRALIZED["last target"],
    ),
    "no second term in tau": Mutant(
        10,
        {"it was not injected in its phase", "it still rides when the phase ends"},
        change=lambda plan: longer(plan, phase_length(plan.lam, plan.chi_stop, 0) - plan.tau),
    ),
    "tau two less": Mutant(
        50,
        {"it was not injected in its phase", "it still rides when the phase ends"},
        change=lambda plan: longer(plan, -2),
    ),
    "tau one more": Mutant(60, {"it is not at home when it should be"}, change=lambda plan: longer(plan, 1)),
    "deflected over its own edge": Mutant(50, {"it needs a link that is in use"}, kernel=CENTRALIZED["own edge"]),
    "colors of one frame": Mutant(100, {"it needs a link that is in use"}, coloring={"FRAMES_AHEAD": 1}),
}


def longest(plan: CentralizedPlan) -> int:
    """Steps of a phase where targets are one level apart."""
    return max(2 * plan.lam + 3 * plan.chi_stop - 2, 4 * plan.chi_all - 4 + plan.lam)


@pytest.fixture(autouse=True, scope="module")
def _compiled():
    steps.simulate_phases.compiled()


@pytest.fixture(scope="module")
def corpus():
    made = []
    for seed in range(700):
        rng = np.random.default_rng([6, seed])
        each = some_instance(rng)
        lam, s = int(2 * rng.integers(2, 14)), int(rng.integers(1, 4))
        made.append((each, rng.integers(1, s + 1, each.packets), s, lam, rng.permutation(each.packets)))
    return made


def complaints(corpus: list, mutant: Mutant, kernel: Kernel) -> tuple[list[str], int]:
    made, ran = [], 0
    for each, sets, s, lam, rank in corpus:
        planned = some_plan(each, sets=sets, s=s, lam=lam, rank=rank)
        if planned is None:
            continue
        ran += 1
        violation = simulate(each, mutant.change(planned), kernel=kernel).violation
        if violation is not None:
            made.append(violation.text)
    return made, ran


def test_the_right_one_is_never_refused(corpus):
    made, ran = complaints(corpus, Mutant(0, set()), steps.simulate_phases)
    assert not made
    assert ran > 400


@pytest.mark.parametrize("name", MUTANTS)
def test_the_wrong_one_is_caught(corpus: list, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant, label = MUTANTS[name], name.replace(" ", "_").replace("-", "")
    kernel: Any = mutant.kernel
    if mutant.constants:
        kernel = altered(kernel, label, **mutant.constants)
        kernel.compiled()
        for constant, value in mutant.constants.items():  # the driver computes with them, too
            monkeypatch.setattr(steps, constant, value)
    if mutant.coloring:
        coloring = altered(color_frames, label, **mutant.coloring)
        coloring.compiled()
        monkeypatch.setattr(plan_module, "color_frames", coloring)
    kernel.compiled()
    made, _ = complaints(corpus, mutant, kernel)
    assert len(made) >= mutant.least
    assert set(made) <= mutant.faults


def test_target_in_the_frame_of_the_wave():
    """C2: five share an edge of frame 0; the last one's target would be in it, before its destination."""
    made = instance("array:12", [range(9), range(9), range(9), range(1, 5), range(1, 5)])
    planned = plan(made, np.ones(5, np.int64), 1, 6)
    assert planned.color.tolist() == [1, 2, 3, 1, 4, 5]
    assert np.diff(planned.phase_start).tolist() == [1, 1, 2, 1, 1]
    assert simulate(made, planned).violation is None
    wrong = simulate(made, planned, kernel=CENTRALIZED["early target"]).violation
    assert wrong is not None
    assert (wrong.packet, wrong.text) == (4, "its home is not in the frame of its wave")


def test_target_in_the_last_frame():
    """C1: with D = lambda + 1 level 2D - 1 is in frame 2 of 4, and a packet stops in frame 3."""
    made = instance("array:32", [range(9), range(23, 31), range(23, 31)])
    planned = plan(made, np.ones(3, np.int64), 1, 8)
    assert planned.gamma == 4
    assert planned.home.tolist() == [0, 23, 23, 28]
    assert simulate(made, planned).violation is None
    wrong = simulate(made, planned, kernel=CENTRALIZED["last target"]).violation
    assert wrong is not None
    assert (wrong.packet, wrong.text) == (2, "its wave has left the group of frames")
