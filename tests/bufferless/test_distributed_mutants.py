"""The checks of the step by step simulation find wrong readings of the algorithm."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest
from tests.bufferless.instances import layered, line, walks

from obliv.bufferless.frames.constants import Constants, draw_sets, group_frames
from obliv.bufferless.frames.rounds import FAULTS, Variant, simulate
from obliv.bufferless.frames.waves import Waves, waves
from obliv.errors import InputError
from obliv.topologies.leveled.instances import Instance


def game_of(instance: Instance, lam: int, chi: int, s: int, rng: np.random.Generator) -> Waves:
    constants = Constants(lam, s, group_frames(instance.dilation, lam), chi, 4, 2 * (lam + chi - 1))
    sets = draw_sets(instance.packets, s, rng)
    return waves(instance, constants, sets, int(rng.integers(2**31)), oracle=True, cap=40)


@cache
def corpus() -> tuple[Waves, ...]:
    rng = np.random.default_rng(7)
    made = []
    for trial in range(100):
        if trial % 2:
            instance = line(int(rng.integers(40, 100)), 0.5, 30, rng)
        else:
            instance = walks(layered(int(rng.integers(30, 100)), 6, 2, rng), 60, 5, 60, rng)
        made.append(game_of(instance, 24, 4, 2, rng))
    return tuple(made)


@cache
def crowded_lines() -> tuple[Waves, ...]:
    """Frames are short and boats few, so that wanderers come far."""
    rng = np.random.default_rng(3)
    return tuple(game_of(line(int(rng.integers(60, 160)), 0.5, 40, rng), 12, 2, 4, rng) for _ in range(300))


def caught(games: tuple[Waves, ...], variant: Variant) -> Counter[str]:
    """How often which rule was broken; without name, none or rounds ran out."""
    made: Counter[str] = Counter()
    for game in games:
        try:
            found = simulate(game, variant, work=1e9).violation
        except InputError:
            found = None
        made[FAULTS[found.code] if found else ""] += 1
    return made


@pytest.mark.parametrize(
    ("variant", "games", "least"),
    [
        (Variant(early=True), 20, 15),
        (Variant(back_on_path=True), 20, 15),
        (Variant(at_target=True), 100, 5),
        (Variant(pushy=True), 20, 5),
        (Variant(reverse="losers"), 20, 5),
        (Variant(last_reversed=True), 20, 15),
    ],
)
def test_wrong_readings_are_found(variant: Variant, games: int, least: int) -> None:
    found = caught(corpus()[:games], variant)
    assert games - found[""] >= least


def test_waves_need_one_clock() -> None:
    """Only wanderers meet other waves, so this is found rarely."""
    assert caught(crowded_lines(), Variant(clock="wave"))["a link is used twice in a move"] >= 2


def test_the_algorithm_breaks_nothing() -> None:
    for games in (corpus(), crowded_lines()):
        assert set(caught(games, Variant())) == {""}


def test_who_does_not_ride_need_not_undo() -> None:
    """Nobody pushes those who are served, and to and fro backwards is to and fro: no wrong reading at all."""
    for game in corpus()[:20]:
        try:
            right = simulate(game, work=1e9)
        except InputError:
            continue
        other = simulate(game, Variant(reverse="members"), work=1e9)
        assert other.violation is None
        assert other.moves.rows().tolist() == right.moves.rows().tolist()
