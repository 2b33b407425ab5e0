"""The checks of the step by step simulation find wrong readings of the algorithm."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.bufferless import wrong_rules
from tests.bufferless.instances import layered, line, walks

from obliv.bufferless.frames.constants import Constants, Waves, draw_sets, group_frames, waves
from obliv.bufferless.frames.rounds import FAULTS, Kernels, Stepped, simulate_rounds
from obliv.bufferless.kernels.rounds import (
    BEATEN,
    SERVED,
    TWICE,
    Crowd,
    Packets,
    RoundLinks,
    backward,
    claims,
    forward,
    wander,
)
from obliv.bufferless.leveled.instances import Instance
from obliv.errors import InputError
from obliv.kernels import kernel
from obliv.papers.bufferless.errata import DISTRIBUTED, altered


def game_of(instance: Instance, lam: int, chi: int, s: int, rng: np.random.Generator) -> Waves:
    constants = Constants(lam, s, group_frames(instance.dilation, lam), chi, 4, 2 * (lam + chi - 1))
    sets = draw_sets(instance.packets, s, rng)
    return waves(instance, constants, sets, int(rng.integers(2**31)), oracle=True, cap=40)


@cache
def corpus() -> tuple[Waves, ...]:
    rng = np.random.default_rng(7)
    result = []
    for trial in range(100):
        if trial % 2:
            instance = line(int(rng.integers(40, 100)), 0.5, 30, rng)
        else:
            instance = walks(layered(int(rng.integers(30, 100)), 6, 2, rng), 60, 5, 60, rng)
        result.append(game_of(instance, 24, 4, 2, rng))
    return tuple(result)


@cache
def crowded_lines() -> tuple[Waves, ...]:
    """Frames are short and boats few, so that wanderers come far."""
    rng = np.random.default_rng(3)
    return tuple(game_of(line(int(rng.integers(60, 160)), 0.5, 40, rng), 12, 2, 4, rng) for _ in range(300))


def caught(games: tuple[Waves, ...], network: type[Stepped], work: float = 1e9) -> Counter[str]:
    """How often each rule was broken; "" where none was, or rounds ran out. Without `work`, kernels are interpreted."""
    result: Counter[str] = Counter()
    for game in games:
        try:
            violation = simulate_rounds(game, work, network).violation
        except InputError:
            violation = None
        result[FAULTS[violation.code] if violation else ""] += 1
    return result


@kernel
def claims_and_wander(x: int, salt: int, packets: Packets, crowd: Crowd, links: RoundLinks) -> int:
    """Wanderers choose their links before packets that oscillate."""
    bad = claims(x, salt, packets, crowd, links)
    if bad == 0:
        bad = wander(x, salt, crowd, links)
    return int(bad)


class Pushy(Stepped):
    """Wanderers have the same priority as oscillating packets."""

    kernels = Kernels(forward=altered(forward, "pushy", claims=claims_and_wander))


@kernel
def undo_or_stay(y: int, packets: Packets, crowd: Crowd, claim: Any, log: Any) -> int:
    """Undo the last move, except for packets marked by `undo` -1, which oscillate on."""
    route, edge, live, state = packets.route, packets.edge, crowd.live, crowd.state
    taken = 2 * crowd.tally[0]["tick"] * len(route)
    for i in range(crowd.tally[0]["live"]):
        p = live[i]
        if state[p]["undo"] < 0:
            away = state[p]["away"]
            link = 2 * int(edge[route[p]["start"] + state[p]["index"]]) + away
            state[p]["away"] = 1 - away
        elif state[p]["late"] == 1 and y == packets.rule.tau:
            link = 2 * int(edge[route[p]["start"]])
        else:
            row, at = state[p]["undo"], state[p]["undo_at"]
            link = int(log[row]["link"]) ^ (at & 1) ^ 1
            if at > 0:
                state[p]["undo_at"] = at - 1
            elif log[row]["before"] >= 0:
                state[p]["undo"] = log[row]["before"]
                state[p]["undo_at"] = log[log[row]["before"]]["more"]
        if claim[link] >= taken:
            crowd.tally[0]["fault"] = p
            return TWICE
        claim[link] = taken + p
        state[p]["link"] = link
    return 0


class Staying(Stepped):
    """Some packets do not undo a round, but oscillate on."""

    kernels = Kernels(backward=altered(backward, "staying", undo=undo_or_stay))

    def __init__(self, game: Waves, work: float) -> None:
        super().__init__(game, work)
        self.staying = np.zeros(game.instance.packets, bool)

    def choose(self, member: np.ndarray) -> np.ndarray:
        """Return the packets that do not undo this round."""
        raise NotImplementedError

    def prepare(self, member: np.ndarray, phase: int, part: int, turn: int, salt: int) -> None:
        if turn == 1:
            self.staying[self.inside] = False
        node = self.state["node"].copy()
        super().prepare(member[~self.staying[member]], phase, part, turn, salt)
        assert (self.state["node"] == node).all()

    def finish(self, member: np.ndarray, last: bool) -> None:
        if not last:
            self.staying[self.choose(member)] = True
            stay = np.flatnonzero(self.staying)
            self.state["undo"][stay] = -1
            self.state["origin"][stay] = self.state["node"][stay]  # to and fro, an even number of moves
        super().finish(member, last)


class Losers(Staying):
    """Only packets that failed undo a round."""

    def choose(self, member: np.ndarray) -> np.ndarray:
        return member[self.state["mode"][member] == SERVED]


class Members(Staying):
    """Only packets that ride in the sub-phase undo a round."""

    def choose(self, member: np.ndarray) -> np.ndarray:
        return np.setdiff1d(self.inside, member)


class WaveClocks(Staying):
    """A wave whose packets all succeed takes no part in further rounds."""

    def choose(self, member: np.ndarray) -> np.ndarray:
        game, inside = self.game, self.inside
        name = np.stack([game.sets, game.places.session, game.places.first], axis=1)
        wave = np.unique(name, axis=0, return_inverse=True)[1].reshape(-1)
        lost = wave[inside[self.state["mode"][inside] >= BEATEN]]
        return inside[~np.isin(wave[inside], lost)]


@pytest.fixture
def _interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Machine code of wrong readings takes longer than the runs that show them."""
    monkeypatch.setattr("obliv.kernels.COMPILE_ABOVE", math.inf)


@pytest.mark.nightly
@pytest.mark.usefixtures("_interpreted")
@pytest.mark.parametrize(
    ("network", "games", "least"),
    [
        (DISTRIBUTED["early"], range(5), 3),
        pytest.param(DISTRIBUTED["early"], range(20), 15, marks=pytest.mark.nightly),
        (wrong_rules.OnPath, range(5), 3),
        pytest.param(wrong_rules.OnPath, range(20), 15, marks=pytest.mark.nightly),
        (DISTRIBUTED["at target"], [4, 22, 24], 3),
        (Pushy, range(20), 5),
        (Losers, range(20), 5),
        (wrong_rules.LastReversed, range(5), 3),
        pytest.param(wrong_rules.LastReversed, range(20), 15, marks=pytest.mark.nightly),
    ],
)
def test_wrong_readings_are_found(network: type[Stepped], games: Sequence[int], least: int) -> None:
    violation = caught(tuple(corpus()[number] for number in games), network, work=0)
    assert len(games) - violation[""] >= least


@pytest.mark.usefixtures("_interpreted")
def test_waves_need_one_clock() -> None:
    """Only wanderers meet other waves, so this is found rarely: here are some of the lines that show it."""
    lines = tuple(crowded_lines()[number] for number in (14, 40, 45))
    assert caught(lines, WaveClocks, work=0) == {"a link is used twice in a move": 3}


@pytest.mark.nightly
def test_waves_need_one_clock_on_some_lines() -> None:
    assert 2 <= caught(crowded_lines(), WaveClocks)["a link is used twice in a move"] < 30


@pytest.mark.nightly
@pytest.mark.usefixtures("_interpreted")
def test_the_algorithm_breaks_nothing() -> None:
    for games in (corpus(), crowded_lines()):
        assert set(caught(games[::20], Stepped, work=0)) == {""}


@pytest.mark.nightly
def test_the_algorithm_breaks_nothing_in_any_game() -> None:
    for games in (corpus(), crowded_lines()):
        assert set(caught(games, Stepped)) == {""}


@pytest.mark.nightly
@pytest.mark.parametrize(("games", "work"), [(3, 0), pytest.param(60, 1e9, marks=pytest.mark.nightly)])
def test_packets_that_do_not_ride_need_not_undo(games: int, work: float) -> None:
    """Served packets are never deflected, and oscillation backwards is oscillation: this reading is right."""
    for game in corpus()[:games]:
        try:
            right = simulate_rounds(game, work)
        except InputError:
            continue
        other = simulate_rounds(game, work, Members)
        assert other.violation is None
        assert other.moves.rows().tolist() == right.moves.rows().tolist()
