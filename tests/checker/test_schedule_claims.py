"""The checker of schedules against a plain simulator that moves all packets step by step, on mutated schedules."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.bufferless.instances import layered, line, walks

import obliv
from obliv.bufferless import schedule
from obliv.bufferless.results import Moves, Schedule


def obeys(claim: dict[str, Any]) -> bool:
    """Watch the network: all packets at once, one step after the other."""
    instance = claim["instance"]
    edges, level = instance["edges"], instance["levels"]
    packets = range(len(instance["paths"]))
    where: dict[int, int] = {}
    left = {p: list(instance["paths"][p]) for p in packets}
    back: dict[int, list[tuple[int, int]]] = {p: [] for p in packets}
    arrived: dict[int, int] = {}
    orders: dict[int, dict[int, tuple[int, int]]] = {}
    for time, packet, edge, direction, *more in claim["moves"]:
        for k in range(1 + (more[0] if more else 0)):
            steps = orders.setdefault(time + k, {})
            if packet in steps or time < 1:
                return False
            steps[packet] = (edge, direction if k % 2 == 0 else -direction)
    bufferless = claim["rules"] == "bufferless"
    for now in sorted(orders):
        links = list(orders[now].values())
        if len(set(links)) < len(links):
            return False
        if bufferless and any(p not in orders[now] for p in where if p not in arrived):
            return False
        for packet, (edge, direction) in orders[now].items():
            if packet in arrived:
                return False
            low, high = edges[edge]
            tail, head = (low, high) if direction > 0 else (high, low)
            if where.get(packet, instance["sources"][packet]) != tail or level[high] != level[low] + 1:
                return False
            if back[packet] and back[packet][-1] == (edge, -direction):
                back[packet].pop()
            elif not back[packet] and direction > 0 and left[packet][:1] == [edge]:
                left[packet].pop(0)
            elif bufferless:
                back[packet].append((edge, direction))
            else:
                return False
            if claim["algorithm"] == "centralized" and edge not in instance["paths"][packet]:
                return False
            where[packet] = head
            if not left[packet] and not back[packet]:
                arrived[packet] = now
                if head != instance["destinations"][packet]:
                    return False
        if bufferless:  # who rests now, though it goes on later or has not come to its end
            here = {p for p in where if p not in arrived}
            if here and now + 1 not in orders:
                return False
    return len(arrived) == len(packets) and max(arrived.values(), default=0) == claim["makespan"]


def by_file(claim: dict[str, Any], tmp_path: Path) -> bool:
    file = tmp_path / "schedule.json"
    file.write_text(json.dumps(claim))
    try:
        return bool(obliv.verify(file).proved)
    except obliv.InputError as error:
        assert "\n" not in str(error)
        return False


def some(seed: int, algorithm: str) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    small = line(14, 0.7, 5, rng) if seed % 2 else walks(layered(7, 3, 2, rng), 9, 2, 6, rng)
    claim = schedule(small, algorithm, rng=seed).to_dict()
    del claim["digest"]  # so that changes need no new one
    return claim | {"algorithm": "mine"} if algorithm == "direct" else claim  # the rules alone


def by_hand(
    instance: obliv.Instance, rows: Any, makespan: int, deflections: int, congestion: int = 2
) -> dict[str, Any]:
    """Return the claim of moves written by hand."""
    dilation = int(np.diff(instance.start).max())
    packets = len(instance.start) - 1
    claim = Schedule(
        topology=instance.network.spec,
        routing="by hand",
        algorithm="by hand",
        packets=packets,
        congestion=congestion,
        dilation=dilation,
        makespan=makespan,
        deflections=deflections,
        lower_bound=dilation,
        instance=instance,
        moves=Moves.from_rows(np.array(rows), packets),
    ).to_dict()
    del claim["digest"]
    return claim


def oscillating() -> dict[str, Any]:
    """Two packets on an array; the first goes to and fro, is pushed back when the second passes, and goes on."""
    network = line(6, 0.0, 1, np.random.default_rng(0)).network
    start, edge = np.array([0, 4, 7]), np.array([0, 1, 2, 3, 1, 2, 3], np.int32)
    instance = obliv.Instance(network, start, edge)
    rows = [
        *([1, 0, 0, 1], [2, 0, 1, 1, 3], [6, 0, 0, -1], [7, 0, 0, 1], [8, 0, 1, 1, 1], [10, 0, 1, 1], [11, 0, 2, 1]),
        *([12, 0, 3, 1], [6, 1, 1, 1], [7, 1, 2, 1], [8, 1, 3, 1]),
    ]
    return by_hand(instance, [row + [0] * (5 - len(row)) for row in rows], 12, 1)


def test_a_packet_may_go_to_and_fro_and_be_pushed_back(tmp_path: Path) -> None:
    claim = oscillating()
    assert obeys(claim)
    assert by_file(claim, tmp_path)
    assert not by_file(claim | {"algorithm": "centralized"}, tmp_path)  # which has a plan
    assert not by_file(claim | {"algorithm": "direct"}, tmp_path)  # which never goes back
    for row, column, value in ((1, 4, 1), (1, 4, 5), (4, 4, 3), (2, 2, 1), (2, 0, 7), (8, 0, 5), (8, 0, 7)):
        changed = copy.deepcopy(claim)
        changed["moves"][row][column] = value
        assert not obeys(changed)
        assert not by_file(changed, tmp_path)


@pytest.mark.parametrize("start", range(1, 11))
def test_each_step_of_going_to_and_fro_takes_its_link(start: int, tmp_path: Path) -> None:
    """Packet 0 is on edge 1 at steps 2 to 5, up and down in turn; packet 1 begins with a move down that edge."""
    network = line(6, 0.0, 1, np.random.default_rng(0)).network
    instance = obliv.Instance(network, np.array([0, 4, 6]), np.array([0, 1, 2, 3, 2, 3], np.int32))
    rows = [
        *([1, 0, 0, 1, 0], [2, 0, 1, 1, 3], [6, 0, 0, -1, 0]),
        *([7 + edge, 0, edge, 1, 0] for edge in range(4)),
        *([start, 1, 1, -1, 0], *([start + edge, 1, edge, 1, 0] for edge in range(1, 4))),
    ]
    claim = by_hand(instance, rows, max(10, start + 3), 2)
    assert obeys(claim) == (start in (2, 4, 6, 8, 9, 10))
    assert by_file(claim, tmp_path) == obeys(claim)


@pytest.mark.parametrize("back", [1, 2, 3, 6])
def test_a_lone_packet_may_be_pushed_back_far(back: int, tmp_path: Path) -> None:
    network = line(9, 0.0, 1, np.random.default_rng(0)).network
    down = [[1 + k, 0, 5 - k, -1] for k in range(back)]
    up = [[1 + back + k, 0, 6 - back + k, 1] for k in range(back + 1)]
    instance = obliv.Instance(network, np.array([0, 1]), np.array([6], np.int32))
    claim = by_hand(instance, down + up, 2 * back + 1, back, congestion=1)
    assert obeys(claim)
    assert by_file(claim, tmp_path)
    claim["moves"][back][2] += 1  # it leaves its way back
    file = tmp_path / "astray.json"
    file.write_text(json.dumps(claim))
    details = [check.detail for check in obliv.verify(file).checks if not check.ok]
    assert details[0] == f"packet 0: its move at step {back + 1} begins where the packet is not"


def mutated(claim: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """One small change of moves, as faulty algorithms make them; some do no harm."""
    claim = copy.deepcopy(claim)
    moves, at = claim["moves"], int(rng.integers(len(claim["moves"])))
    packet = moves[at][1]
    kind = int(rng.integers(9))
    if kind == 0:
        moves[at][0] += int(rng.choice([-1, 1]))
    elif kind == 1:
        moves[at][2] = int(rng.integers(len(claim["instance"]["edges"])))
    elif kind == 2:
        moves[at][3] *= -1
    elif kind == 3:
        del moves[at]
    elif kind == 4:
        moves.append(list(moves[at]))
    elif kind == 5:  # a whole packet later or earlier, which may be fine
        by = int(rng.choice([-2, -1, 1, 2]))
        for row in moves:
            row[0] += by * (row[1] == packet)
    elif kind == 6:
        other = int(rng.integers(claim["packets"]))
        for row in moves:
            row[1] = {packet: other, other: packet}.get(row[1], row[1])
    elif kind == 7:
        time, _, edge, direction = moves[at][:4]
        for row in moves:
            row[0] += 2 * (row[1] == packet and row[0] > time)
        moves += [[time + 1, packet, edge, -direction], [time + 2, packet, edge, direction]]
    else:
        claim["makespan"] += int(rng.choice([-1, 1]))
    if kind in (0, 5, 7):
        claim["makespan"] = max(row[0] for row in moves)
    return claim


ALGORITHMS = ("direct", "hot-potato", "fifo", "random-delay")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_checker_says_what_the_simulator_says(algorithm: str, tmp_path: Path) -> None:
    verdicts = compare(algorithm, 4, 10, tmp_path)
    assert 2 <= sum(verdicts) < len(verdicts) - 10


@pytest.mark.nightly
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_checker_always_says_what_the_simulator_says(algorithm: str, tmp_path: Path) -> None:
    verdicts = compare(algorithm, 24, 25, tmp_path)
    assert 10 < sum(verdicts) < len(verdicts) - 200


def compare(algorithm: str, schedules: int, mutants: int, tmp_path: Path) -> list[bool]:
    """Give mutants of schedules to the checker and to the simulator; return the verdicts, which must be the same."""
    rng = np.random.default_rng(7)
    verdicts = []
    for seed in range(schedules):
        claim = some(seed, algorithm)
        assert obeys(claim)
        assert by_file(claim, tmp_path)
        for _ in range(mutants):
            changed = mutated(claim, rng)
            verdicts.append(obeys(changed))
            if algorithm == "hot-potato":  # how often packets were pushed may have changed as well
                right = by_file(changed, tmp_path) or any(
                    by_file(changed | {"deflections": claim["deflections"] + more}, tmp_path) for more in (1, 2)
                )
            else:
                right = by_file(changed, tmp_path)
            assert right == verdicts[-1]
    return verdicts


@pytest.mark.parametrize(
    ("where", "value", "says"),
    [
        (("moves",), [[1, 0, 0]], "rows"),
        (("moves",), "all", "cannot be unpacked"),
        (("moves",), [[1, 99, 0, 1]], "does not exist"),
        (("moves",), [[1, 0, 0, 2]], "direction"),
        (("moves",), [[2**70, 0, 0, 1]], "cannot be unpacked"),
        (("instance", "edges"), [[0]], "rows of"),
        (("instance", "paths"), [0], "lists"),
        (("instance", "levels"), None, "cannot be unpacked"),
        (("instance",), [], "instance"),
        (("rules",), 3, "rules"),
        (("makespan",), "9", "makespan"),
    ],
)
def test_malformed_schedules_are_refused_in_one_line(
    where: tuple[str, ...], value: Any, says: str, tmp_path: Path
) -> None:
    claim = some(2, "direct")
    inner = claim
    for key in where[:-1]:
        inner = inner[key]
    inner[where[-1]] = value
    file = tmp_path / "bad.json"
    file.write_text(json.dumps(claim))
    with pytest.raises(obliv.FileError, match=says) as caught:
        obliv.verify(file)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("levels", lambda levels: [level + (i == 3) for i, level in enumerate(levels)]),
        ("edges", lambda edges: [edge[::-1] if i == 5 else edge for i, edge in enumerate(edges)]),
        ("edges", lambda edges: [[low, high + 1000] for low, high in edges]),
        ("sources", lambda nodes: nodes[1:] + nodes[:1]),
        ("sources", lambda nodes: [*nodes, nodes[-1]]),
        ("destinations", lambda nodes: [*nodes, nodes[-1]]),
        ("destinations", lambda nodes: [nodes[0]] * len(nodes)),
        ("paths", lambda paths: [path[:-1] for path in paths]),
        ("paths", lambda paths: [[-1, *path[1:]] for path in paths]),
        ("paths", lambda paths: paths[:-1]),
    ],
)
def test_instances_that_are_none_fail(key: str, change: Any, tmp_path: Path) -> None:
    claim = some(4, "direct")
    claim["instance"][key] = change(claim["instance"][key])
    assert not by_file(claim, tmp_path)
