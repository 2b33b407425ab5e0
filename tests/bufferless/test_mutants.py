"""The centralized algorithm with one rule got wrong: the run must notice, and must never complain of the right one."""

from __future__ import annotations

import numpy as np
import pytest
from tests.bufferless.centralized_corpus import some_instance

from obliv.bufferless.frames.plan import plan
from obliv.bufferless.frames.stepping import Variant, simulate
from obliv.bufferless.kernels import steps
from obliv.bufferless.problems import instance

# how many of 700 instances at least show it (about half of those that did), and how
MUTANTS = {
    "boats two apart": (Variant(boat=2), 30, {"it needs a link that is in use"}),
    "boats three apart": (
        Variant(boat=3),
        60,
        {"it oscillates and is off its edge", "it is not at home when it should be"},
    ),
    "targets one apart": (Variant(gap=1), 100, {"it oscillates and is off its edge"}),
    "waves one frame apart": (Variant(wave=1), 10, {"it needs a link that is in use"}),
    "last target at 2D - 1": (
        Variant(last_target=True),
        20,
        {
            "it oscillates and is off its edge",
            "its wave has left the group of frames",
            "it needs a link that is in use",
        },
    ),
    "no second term in tau": (
        Variant(second_term=False),
        10,
        {"it was not injected in its phase", "it still rides when the phase ends"},
    ),
    "tau two less": (
        Variant(tau_shift=-2),
        50,
        {"it was not injected in its phase", "it still rides when the phase ends"},
    ),
    "tau one more": (Variant(tau_shift=1), 60, {"it is not at home when it should be"}),
    "pushed over its own edge": (Variant(over_own_edge=True), 50, {"it needs a link that is in use"}),
    "colours of one frame": (Variant(reach=1), 100, {"it needs a link that is in use"}),
}


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


def complaints(corpus: list, variant: Variant) -> tuple[list[str], int]:
    made, ran = [], 0
    for each, sets, s, lam, rank in corpus:
        planned = plan(each, sets, s, lam, rank=rank, gap=variant.gap, reach=variant.reach)
        if "failed" in planned:
            continue
        ran += 1
        violation = simulate(each, planned, variant).violation
        if violation is not None:
            made.append(violation.text)
    return made, ran


def test_the_right_one_is_never_refused(corpus):
    made, ran = complaints(corpus, Variant())
    assert not made
    assert ran > 400


@pytest.mark.parametrize("name", MUTANTS)
def test_the_wrong_one_is_caught(corpus, name):
    variant, least, known = MUTANTS[name]
    made, _ = complaints(corpus, variant)
    assert len(made) >= least
    assert set(made) <= known


def test_target_in_the_frame_of_the_wave():
    """C2: five share an edge of frame 0; the last one's target would be in it, before its destination."""
    made = instance("array:12", [range(9), range(9), range(9), range(1, 5), range(1, 5)])
    planned = plan(made, np.ones(5, np.int64), 1, 6)
    assert planned["colour"].tolist() == [1, 2, 3, 1, 4, 5]
    assert np.diff(planned["phase_start"]).tolist() == [1, 1, 2, 1, 1]
    assert simulate(made, planned).violation is None
    wrong = simulate(made, planned, Variant(early_target=True)).violation
    assert wrong is not None
    assert (wrong.packet, wrong.text) == (4, "its home is not in the frame of its wave")


def test_target_in_the_last_frame():
    """C1: with D = lambda + 1 level 2D - 1 is in frame 2 of 4, and a packet stops in frame 3."""
    made = instance("array:32", [range(9), range(23, 31), range(23, 31)])
    planned = plan(made, np.ones(3, np.int64), 1, 8)
    assert planned["gamma"] == 4
    assert planned["home"].tolist() == [0, 23, 23, 28]
    assert simulate(made, planned).violation is None
    wrong = simulate(made, planned, Variant(last_target=True)).violation
    assert wrong is not None
    assert (wrong.packet, wrong.text) == (2, "its wave has left the group of frames")
