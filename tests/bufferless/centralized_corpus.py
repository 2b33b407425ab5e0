"""Instances and constants for the centralized algorithm, drawn from a seed; moves written out one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.bufferless.instances import layered, line, walks

from obliv.bufferless.frames.centralized import PlanningError, PlanOptions, plan
from obliv.bufferless.leveled.instances import Instance
from obliv.bufferless.problems import instance
from obliv.bufferless.results import CentralizedPlan, Moves


def some_instance(rng: np.random.Generator) -> Instance:
    """A linear array, random leveled network, mesh or butterfly."""
    kind = int(rng.integers(4))
    if kind == 0:
        return line(int(rng.integers(20, 120)), float(rng.uniform(0.3, 1)), int(rng.integers(5, 60)), rng)
    if kind == 1:
        depth, width, degree = int(rng.integers(20, 100)), int(rng.integers(2, 8)), int(rng.integers(1, 3))
        distinct = bool(rng.integers(2))
        return walks(layered(depth, width, degree, rng), int(rng.integers(5, 120)), 2, 60, rng, distinct)
    if kind == 2:
        n, m = rng.integers(3, 14, 2)
        return instance(f"leveled-mesh:{n}x{m}", rng=rng)
    return instance(f"butterfly:{rng.integers(2, 7)}", rng=rng)


def some_plan(instance: Instance, **arguments: Any) -> CentralizedPlan | None:
    """A plan, None where planning fails."""
    try:
        return plan(instance, **arguments)
    except PlanningError:
        return None


def some_constants(rng: np.random.Generator, instance: Instance) -> dict[str, Any]:
    """Arguments of a plan: lambda 2..40, s 1..8, both kinds of segments, shuffled or not."""
    s = int(rng.integers(1, 9))
    sets = rng.integers(1, s + 1, instance.packets)
    lam = int(2 * rng.integers(1, 21))
    segments = ("tight", "paper")[rng.integers(2)]
    rank = rng.permutation(instance.packets) if rng.integers(2) else None
    options = PlanOptions(segments=segments, dense=bool(rng.integers(2)))
    return {"sets": sets, "s": s, "lam": lam, "options": options, "rank": rank}


def one_by_one(moves: Moves) -> np.ndarray:
    """Rows packet, time, edge, up, with every step of a run a row."""
    times = moves.more + 1 if len(moves.more) else np.ones(len(moves.time), np.int64)
    row = np.repeat(np.arange(len(times)), times)
    past = np.arange(len(row)) - np.repeat(np.cumsum(times) - times, times)
    return np.stack([moves.packet[row], moves.time[row] + past, moves.edge[row], moves.up[row] ^ (past % 2 == 1)], 1)


def audit(instance: Instance, rows: np.ndarray, delivery: np.ndarray) -> None:
    """What any schedule must be in which packets keep to their paths and never rest; from single moves alone."""
    links = {(int(t), int(e), int(up)) for _, t, e, up in rows}
    assert len(links) == len(rows)  # no link twice at a time
    low, high = instance.network.edge_ends
    for p in range(instance.packets):
        own = rows[rows[:, 0] == p]
        assert (np.diff(own[:, 1]) == 1).all()
        assert own[-1, 1] == delivery[p]
        at = int(instance.source[p])
        for _, _, e, up in own:
            assert at == (low[e] if up else high[e])
            at = int(high[e] if up else low[e])
        assert at == instance.destination[p]
        assert set(own[:, 2].tolist()) == set(instance.edge[instance.start[p] : instance.start[p + 1]].tolist())
