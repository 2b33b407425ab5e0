"""The centralized algorithm with one wrong rule: the run must notice, and must never refuse the right algorithm."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.bufferless import wrong_rules
from tests.bufferless.centralized_corpus import some_instance, some_plan

import obliv.bufferless.frames.centralized as plan_module
from obliv.bufferless.frames.centralized import phase_length, plan, simulate
from obliv.bufferless.kernels import walks as steps
from obliv.bufferless.kernels.walks import color_frames
from obliv.bufferless.leveled.instances import Instance
from obliv.bufferless.problems import instance
from obliv.bufferless.results import CentralizedPlan
from obliv.kernels import Kernel
from obliv.papers.bufferless.errata import CENTRALIZED, altered


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
    "deflected over its own edge": Mutant(
        50, {"it needs a link that is in use"}, kernel=wrong_rules.CENTRALIZED["own edge"]
    ),
    "colors of one frame": Mutant(100, {"it needs a link that is in use"}, coloring={"FRAMES_AHEAD": 1}),
}


def longest(plan: CentralizedPlan) -> int:
    """Steps of a phase where targets are one level apart."""
    return max(2 * plan.lam + 3 * plan.chi_stop - 2, 4 * plan.chi_all - 4 + plan.lam)


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Machine code of ten kernels with wrong rules takes longer than their runs."""
    monkeypatch.setattr("obliv.kernels.COMPILE_ABOVE", math.inf)


@cache
def corpus(seeds: int = 700) -> list[tuple[Instance, dict[str, Any]]]:
    """Instances and arguments of their plans, those that can be planned; about two in three can."""
    problems = []
    for seed in range(seeds):
        rng = np.random.default_rng([6, seed])
        problem = some_instance(rng)
        lam, s = int(2 * rng.integers(2, 14)), int(rng.integers(1, 4))
        sets, rank = rng.integers(1, s + 1, problem.packets), rng.permutation(problem.packets)
        arguments = {"sets": sets, "s": s, "lam": lam, "rank": rank}
        if some_plan(problem, **arguments) is not None:
            problems.append((problem, arguments))
    return problems


def complaints(mutant: Mutant, kernel: Kernel, problems: list[tuple[Instance, dict[str, Any]]]) -> list[str]:
    """The rules that a mutant breaks on these instances."""
    texts = []
    for problem, arguments in problems:
        planned = some_plan(problem, **arguments)
        if planned is not None:  # colors of one frame are often too many
            violation = simulate(problem, mutant.change(planned), kernel=Kernel(kernel.python)).violation
            texts += [violation.text] if violation else []
    return texts


@pytest.mark.nightly
@pytest.mark.parametrize(("seeds", "count"), [(175, 20), pytest.param(700, 10**6, marks=pytest.mark.nightly)])
def test_the_right_one_is_never_refused(seeds: int, count: int) -> None:
    assert len(corpus(seeds)) > seeds // 7 * 4
    assert not complaints(Mutant(0, set()), steps.simulate_phases, corpus(seeds)[:count])


def caught(name: str, monkeypatch: pytest.MonkeyPatch, seeds: int) -> None:
    """Check that the corpus of these seeds shows a mutant, by the expected rules."""
    mutant, label = MUTANTS[name], name.replace(" ", "_").replace("-", "")
    kernel: Any = mutant.kernel
    problems = corpus(seeds)  # before any constant changes
    if mutant.constants:
        kernel = altered(kernel, label, **mutant.constants)
        for constant, value in mutant.constants.items():  # the driver computes with them, too
            monkeypatch.setattr(steps, constant, value)
    if mutant.coloring:
        monkeypatch.setattr(plan_module, "color_frames", altered(color_frames, label, **mutant.coloring))
    texts = complaints(mutant, kernel, problems)
    assert len(texts) >= seeds / 700 * mutant.least
    assert set(texts) <= mutant.faults


@pytest.mark.nightly
@pytest.mark.parametrize("name", MUTANTS)
def test_the_wrong_one_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    caught(name, monkeypatch, 175)


@pytest.mark.nightly
@pytest.mark.parametrize("name", MUTANTS)
def test_the_wrong_one_is_caught_often(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    caught(name, monkeypatch, 700)


def test_target_in_the_frame_of_the_wave():
    """C2: five share an edge of frame 0; the last one's target would be in it, before its destination."""
    line_paths = instance("array:12", [range(9), range(9), range(9), range(1, 5), range(1, 5)])
    planned = plan(line_paths, np.ones(5, np.int64), 1, 6)
    assert planned.color.tolist() == [1, 2, 3, 1, 4, 5]
    assert np.diff(planned.phase_start).tolist() == [1, 1, 2, 1, 1]
    assert simulate(line_paths, planned).violation is None
    wrong = simulate(line_paths, planned, kernel=wrong_rules.CENTRALIZED["early target"]).violation
    assert wrong is not None
    assert (wrong.packet, wrong.text) == (4, "its home is not in the frame of its wave")


def test_target_in_the_last_frame():
    """C1: with D = lambda + 1 level 2D - 1 is in frame 2 of 4, and a packet stops in frame 3."""
    line_paths = instance("array:32", [range(9), range(23, 31), range(23, 31)])
    planned = plan(line_paths, np.ones(3, np.int64), 1, 8)
    assert planned.gamma == 4
    assert planned.home.tolist() == [0, 23, 23, 28]
    assert simulate(line_paths, planned).violation is None
    wrong = simulate(line_paths, planned, kernel=CENTRALIZED["last target"]).violation
    assert wrong is not None
    assert (wrong.packet, wrong.text) == (2, "its wave has left the group of frames")
