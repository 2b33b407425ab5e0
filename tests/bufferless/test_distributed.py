from __future__ import annotations

import itertools
from collections import defaultdict

import numpy as np
import pytest
from tests.bufferless.instances import layered, line, walks

import obliv
from obliv.bufferless.frames import distributed
from obliv.bufferless.frames import rounds as boats
from obliv.bufferless.frames import rounds as stepped
from obliv.bufferless.frames.constants import Constants, Waves, draw_sets, group_frames, waves
from obliv.bufferless.frames.distributed import distributed as route
from obliv.bufferless.frames.rounds import ride, simulate_rounds
from obliv.bufferless.leveled.base import Leveled, Levels
from obliv.bufferless.leveled.instances import Instance
from obliv.bufferless.results import Moves
from obliv.errors import InputError

COMPILED = 1e9  # more work than is ever run without compiler


def some_instance(rng: np.random.Generator) -> Instance:
    kind = rng.integers(4)
    if kind == 0:
        return line(int(rng.integers(3, 90)), rng.uniform(0.2, 1.0), int(rng.integers(1, 40)), rng)
    if kind == 1:
        return walks(layered(int(rng.integers(2, 80)), int(rng.integers(1, 7)), 2, rng), 40, 1, 60, rng)
    if kind == 2:  # parallel edges, many of them
        return walks(layered(int(rng.integers(2, 40)), 2, 4, rng), 40, 1, 40, rng)
    return walks(layered(4, 16, 2, rng), 16, 2, 4, rng)


def some_game(rng: np.random.Generator) -> Waves:
    """Constants that are often too tight on purpose: many are beaten, and rounds may run out."""
    instance = some_instance(rng)
    chi, s = int(rng.integers(1, 8)), int(rng.integers(1, 5))
    lam = 6 * chi + 2 * int(rng.integers(4))
    constants = Constants(
        lam, s, group_frames(instance.dilation, lam), chi, int(rng.integers(1, 6)), 2 * (lam + chi - 1)
    )
    oracle, both_fail = bool(rng.integers(2)), bool(rng.integers(2))
    sets = draw_sets(instance.packets, s, rng)
    return waves(instance, constants, sets, int(rng.integers(2**31)), oracle, both_fail, cap=25)


def audit(instance: Instance, moves: Moves, delivery: np.ndarray) -> None:
    """The rules, from the moves alone."""
    more = moves.more if len(moves.more) else np.zeros(len(moves), np.int64)
    row = np.repeat(np.arange(len(moves)), more + 1)
    nth = np.arange(len(row)) - np.repeat(np.cumsum(more + 1) - more - 1, more + 1)
    time = np.asarray(moves.time, np.int64)[row] + nth
    edge, up, packet = moves.edge[row], moves.up[row] ^ (nth % 2 == 1), moves.packet[row]
    tail = np.where(up, instance.network.low[edge], instance.network.high[edge])
    head = np.where(up, instance.network.high[edge], instance.network.low[edge])
    assert len(np.unique((time * 2 + up) * instance.network.edges + edge)) == len(time)  # a link, one packet
    same = packet[1:] == packet[:-1]
    assert (time[1:][same] == time[:-1][same] + 1).all()
    assert (tail[1:][same] == head[:-1][same]).all()
    first = np.flatnonzero(np.concatenate([[True], ~same])) if len(time) else np.zeros(0, int)
    final = np.concatenate([first[1:], [len(time)]]) - 1 if len(time) else first
    assert packet[first].tolist() == list(range(instance.packets))
    assert (time[first] >= 1).all()
    assert (tail[first] == instance.source).all()
    assert (head[final] == instance.destination).all()
    assert (time[final] == delivery).all()
    crossed = set(zip(packet[up].tolist(), edge[up].tolist()))
    assert all((p, e) in crossed for p in range(instance.packets) for e in path(instance, p))


def path(instance: Instance, packet: int) -> list[int]:
    return instance.edge[instance.start[packet] : instance.start[packet + 1]].tolist()


def agree(game: Waves, work: float) -> bool:
    """Boats and steps come to the same; whether rounds sufficed."""
    try:
        rides = ride(game)
    except InputError as boat_report:
        with pytest.raises(InputError) as step_report:
            simulate_rounds(game, work=work)
        assert str(step_report.value) == str(boat_report)
        return False
    steps = simulate_rounds(game, work=work)
    assert steps.violation is None, str(steps.violation)
    assert steps.rounds.tolist() == rides.rounds.tolist()
    assert steps.delivery.tolist() == rides.delivery.tolist()
    if steps.moves.steps < 200_000:
        audit(game.instance, steps.moves, steps.delivery)
    return True


def test_boats_and_steps_agree() -> None:
    rng = np.random.default_rng(11)
    assert sum(agree(some_game(rng), work=0) for _ in range(8)) > 4


@pytest.mark.nightly
def test_boats_and_steps_agree_always() -> None:
    rng = np.random.default_rng(12)
    assert sum(agree(some_game(rng), COMPILED) for _ in range(2000)) > 1200


@pytest.mark.nightly
def test_interpreted_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    games = [some_game(rng) for _ in range(12)]

    def outcome(game: Waves) -> object:
        try:
            rides = ride(game)
        except InputError as report:
            return str(report)
        steps = simulate_rounds(game, work=COMPILED)
        return rides.delivery.tolist(), rides.color.tolist(), rides.moves, steps.moves.rows().tolist()

    compiled = [outcome(game) for game in games]
    for module in (boats, stepped):
        monkeypatch.setattr(module, "run", lambda kernel, work, *args: kernel.python(*args))
    assert [outcome(game) for game in games] == compiled


def test_rides_of_a_boat_share_no_edge() -> None:
    """From the plan alone: where a packet rides from and to, and who else is on the boat."""
    rng = np.random.default_rng(5)
    shared = 0
    for _ in range(30):
        instance = some_instance(rng)
        chi = 4 * max(1, instance.congestion)
        run = route(instance, rng, "tuned", "fixed", chi=chi, s=int(rng.integers(1, 4)), steps="boats", rounds=60)
        plan = run.plan
        assert plan is not None
        keys = zip(plan.sub_phase.tolist(), plan.sub_part.tolist())
        subs = dict(zip(keys, zip(plan.sub_begin.tolist(), plan.sub_rounds.tolist())))
        rides = defaultdict(list)
        for p in range(instance.packets):
            level = int(instance.level[p])
            end = level + int(instance.length[p])
            for nth, at in enumerate(range(plan.phase_start[p], plan.phase_start[p + 1])):
                k, home = int(plan.color[at]), int(plan.home[at])
                frame = level // plan.lam + nth
                a = frame * plan.lam
                part = 0 if nth else 1 + (level - a) % 2
                assert a <= home < a + plan.lam
                assert part or (home - a) % 2 == 0
                target = a + 2 * plan.lam - 2 * k - 2 * chi * part
                stops = end >= a + plan.lam and frame - plan.group[p] < plan.gamma - 1 and end > target
                stop = target + 1 if stops else end
                phase = int(plan.phase[p]) + nth
                begin, turn = subs[phase, part]  # who stays rides in the last round, who arrives in that of arrival
                if stop == end:
                    assert at == plan.phase_start[p + 1] - 1
                    turn, late = divmod(int(run.delivery[p]) - begin, 2 * plan.tau)
                    turn += 1
                    if instance.length[p] == 1 and part:
                        assert (turn, late) == (1, part)
                        continue
                    assert late == 4 * k - 4 + end - a
                rides[phase, part, turn, k].append(set(path(instance, p)[home - level : stop - level]))
        for boat in rides.values():
            assert all(not one & two for one, two in itertools.combinations(boat, 2))
            shared += len(boat) > 1
    assert shared > 50


# What the note on the paper says of instances that are drawn in a known way: constants, and a makespan that depends
# on chance within some percent.
PAPER = [
    ("butterfly:4", 288, 48, 522, 12, 670, 4.79e7, 10_178),
    ("butterfly:8", 528, 88, 1044, 22, 1230, 3.38e8, 275_636),
    ("leveled-mesh:16x16", 624, 104, 4176, 26, 1454, 1.89e9, 349_255),
    ("array:64", 576, 96, 7307, 24, 1342, 2.77e9, 83_294),
    pytest.param("deep:L=2000,W=16,S=8", 864, 144, 3654, 36, 2014, 3.12e9, 514_700, marks=pytest.mark.nightly),
    pytest.param("deep:L=4000,W=4,S=4", 768, 128, 2349, 32, 1790, 1.54e9, 142_800, marks=pytest.mark.nightly),
]


@pytest.mark.parametrize(("spec", "lam", "chi", "s", "xi", "tau", "fixed", "oracle"), PAPER)
def test_paper_constants(spec: str, lam: int, chi: int, s: int, xi: int, tau: int, fixed: float, oracle: float) -> None:
    instance = obliv.bufferless.instance(spec)
    run = {
        timetable: route(instance, np.random.default_rng(1), timetable=timetable, steps="boats")
        for timetable in ("fixed", "oracle")
    }
    used = run["fixed"].constants
    assert [used[name] for name in ("lambda", "chi", "s", "xi", "tau", "rounds")] == [lam, chi, s, xi, tau, 1]
    assert run["fixed"].delivery.max() == pytest.approx(fixed, rel=0.08)
    assert run["oracle"].delivery.max() == pytest.approx(oracle, rel=0.16 if spec == "butterfly:4" else 0.04)


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("spec", "oracle", "fixed"),
    [
        ("butterfly:4", 112, 1408),
        ("butterfly:8", 228, 2604),
        ("leveled-mesh:8x8", 512, 6912),
        ("leveled-mesh:16x16", 1457, 24056),
        ("array:64", 2386, 33480),
    ],
)
def test_tuned_is_as_good_as_known(spec: str, oracle: int, fixed: int) -> None:
    instance = obliv.bufferless.instance(spec)
    for timetable, known in (("oracle", oracle), ("fixed", fixed)):
        run = route(instance, np.random.default_rng(2), "tuned", timetable)
        assert run.delivery.max() <= 1.1 * known
        audit(instance, run.moves, run.delivery)


@pytest.mark.nightly
def test_a_tie_that_nobody_survives_takes_longer() -> None:
    instance = obliv.bufferless.instance("leveled-mesh:16x16")
    rounds = {
        tie: [
            route(instance, np.random.default_rng(k), "tuned", "oracle", tie, "boats", chi=16).constants["rounds"]
            for k in range(40)
        ]
        for tie in ("survives", "both-fail")
    }
    assert np.mean(rounds["survives"]) + 0.4 < np.mean(rounds["both-fail"])


@pytest.mark.parametrize("nodes", [32, pytest.param(64, marks=pytest.mark.nightly)])
def test_one_frame(nodes: int) -> None:
    instance = obliv.bufferless.instance(f"array:{nodes}")
    run = route(instance, np.random.default_rng(2), "one-frame")
    assert run.constants["lambda"] >= nodes
    assert run.plan is not None
    assert (np.diff(run.plan.phase_start) == 1).all()  # nobody stops
    audit(instance, run.moves, run.delivery)


def test_more_rounds_than_the_timetable_has() -> None:
    """Rounds are added, all that follows is later, and the run says so."""
    rng = np.random.default_rng(4)
    instance = line(40, 1.0, 20, rng)
    chi = instance.congestion
    lam = 6 * chi
    constants = Constants(lam, 3, group_frames(instance.dilation, lam), chi, 1, 2 * (lam + chi - 1))
    game = waves(instance, constants, draw_sets(instance.packets, 3, rng), 7, cap=50)
    rides = ride(game)
    assert rides.rounds.max() > 1
    usual = ((rides.phase - 1) * 3 + rides.part) * 2 * constants.tau
    added = np.cumsum(rides.rounds - 1) - rides.rounds + 1
    assert (rides.begin == usual + added * 2 * constants.tau).all()
    assert agree(game, work=0)
    [note] = distributed._late(game, rides)
    assert "rounds were added" in note


def test_chi_too_small_ends_with_a_report() -> None:
    network = line(16, 0.0, 1, np.random.default_rng(0)).network
    both = Instance(network, np.array([0, 15, 28]), np.r_[0:15, 2:15].astype(np.int32))  # for ever want one boat
    with pytest.raises(
        InputError, match=r"after 19 rounds of sub-phase B1 of phase 1 1 packet has .* raise chi \(now 1"
    ):
        route(both, np.random.default_rng(0), "tuned", chi=1, s=1, rounds=19)
    assert route(both, np.random.default_rng(0), "tuned", chi=2, s=1).constants["rounds"] <= 10


def test_two_packets_from_one_node() -> None:
    network = line(5, 0.0, 1, np.random.default_rng(0)).network
    both = Instance(network, np.array([0, 1, 3, 4]), np.array([3, 1, 2, 1], np.int32))
    with pytest.raises(InputError, match=r"packets 1 and 2 both begin at node 1, .* hot-potato$"):
        route(both, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"constants": "papr"}, "did you mean paper"),
        ({"timetable": "orakel"}, "oracle"),
        ({"tie": "none"}, "survives"),
        ({"steps": "some"}, "boats"),
        ({"chi": 0}, "at least 1"),
        ({"chi": 3, "lam": 16}, "at least 6 chi = 18"),
        ({"lam": 13}, "even"),
        ({"s": 0}, "at least 1"),
        ({"rounds": 0}, "at least 1"),
    ],
)
def test_what_cannot_be_used(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        route(line(9, 1.0, 5, np.random.default_rng(0)), np.random.default_rng(0), **options)  # type: ignore[arg-type]


def test_a_seed_is_a_run() -> None:
    instance = line(50, 0.7, 25, np.random.default_rng(0))
    one, two, other = (route(instance, np.random.default_rng(seed), "tuned") for seed in (8, 8, 9))
    assert one.moves.rows().tolist() == two.moves.rows().tolist()
    assert one.deflections == two.deflections > 0
    assert one.moves.rows().tolist() != other.moves.rows().tolist()


def test_too_many_moves_are_not_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = line(50, 0.7, 25, np.random.default_rng(0))
    whole = route(instance, np.random.default_rng(1), "tuned")
    assert not any("not recorded" in note for note in whole.notes)
    assert len(whole.moves.start) == instance.packets + 1
    monkeypatch.setattr(distributed, "AFFORDABLE", 100)
    short = route(instance, np.random.default_rng(1), "tuned")
    assert "moves are not recorded" in short.notes[0]
    assert "too many" in short.notes[0]
    assert len(short.moves) == 0
    assert short.delivery.tolist() == whole.delivery.tolist()
    assert len(route(instance, np.random.default_rng(1), "tuned", steps="all").moves)


@pytest.mark.parametrize("constants", ["paper", "tuned", "one-frame"])
def test_no_packets(constants: str) -> None:
    network = line(5, 0.0, 1, np.random.default_rng(0)).network
    nobody = Instance(network, np.zeros(1, np.int64), np.zeros(0, np.int32))
    run = route(nobody, np.random.default_rng(0), constants)
    assert len(run.delivery) == len(run.moves) == 0


def test_a_packet_of_one_edge() -> None:
    """It is there by going to and fro once, at move 1 or 2 of its sub-phase, whatever its boat."""
    network = Leveled("two", Levels(3, 2, 2, lambda: (np.r_[0, 1], np.r_[1, 2]), lambda: np.arange(3)))
    both = Instance(network, np.array([0, 1, 2]), np.array([0, 1], np.int32))
    run = route(both, np.random.default_rng(0), "tuned", "oracle", chi=5)
    assert run.plan is not None
    assert run.delivery.tolist() == [1, run.plan.tau + 2]
