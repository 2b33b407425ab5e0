"""Small instances on which the algorithms as printed break a rule, and as corrected do not.

Both are run move by move with every rule checked; the corrected schedules pass the verifier too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

import obliv
from obliv.bufferless.frames import (
    Constants,
    Waves,
    assign,
    draw_sets,
    group_frames,
    lg,
    plan,
    simulate,
    simulate_rounds,
    waves,
)
from obliv.papers.bufferless import variants
from obliv.papers.bufferless.conflicts import conflicts
from obliv.papers.bufferless.instances import instance
from obliv.papers.bufferless.said import ERRATA
from obliv.papers.paper import Step, Value
from obliv.topologies.leveled.base import given

__all__ = ["CENTRALIZED", "DISTRIBUTED", "compute", "game_of", "two_rows"]

Paths = Sequence[Sequence[int]]

#: For each wrong rule an array: its nodes, paths, and lambda.
CENTRALIZED: dict[str, tuple[int, Paths, int]] = {
    "last target": (16, [range(8, 15)], 8),
    "early target": (12, [range(9), range(9), range(9), range(1, 5), range(1, 5)], 6),
    "own edge": (9, [range(2, 8), range(1, 8), range(4, 6)], 4),
}


def two_rows(alone: int, together: int) -> Any:
    """Return an instance of two packets on separate rows of nodes that become one row."""
    ends = [(2 * level + row, 2 * min(level + 1, alone) + (row if level + 1 < alone else 0))
            for level in range(alone) for row in (0, 1)]  # fmt: skip
    ends += [(2 * alone + at, 2 * alone + at + 1) for at in range(together)]
    levels = [node // 2 for node in range(2 * alone)] + [alone + at for at in range(together + 1)]
    low, high = np.array(ends).T
    network = given("two rows that become one", low, high, np.array(levels))
    shared = range(2 * alone, 2 * alone + together)
    return obliv.bufferless.instance(network, [[*range(row, 2 * alone, 2), *shared] for row in (0, 1)])


#: For each wrong rule an instance, chi (lambda = 6 chi, s = 1), and the seed.
DISTRIBUTED: dict[str, tuple[Callable[[], Any], int, int]] = {
    "at target": (lambda: two_rows(18, 2), 2, 1),
    "last reversed": (lambda: _array(15, [range(1, 3), range(3, 9), range(10, 12)]), 1, 0),
    "early": (lambda: _array(14, [range(5, 8), range(8, 11), range(9, 10)]), 1, 0),
    "on path": (lambda: _array(18, [range(10, 15), range(12, 14), range(16, 17)]), 3, 2),
}


def compute(step: Step) -> dict[str, Value]:
    """Check every erratum on its instance."""
    parts: list[Callable[[], Value]] = [
        _phases,
        _frame_of_last_target,
        lambda: _centralized("last target"),
        lambda: _centralized("early target"),
        lambda: _centralized("own edge"),
        _graphs,
        lambda: _distributed("at target"),
        lambda: _distributed("last reversed"),
        lambda: _distributed("early"),
        lambda: _distributed("on path"),
        _phases_of_a_packet,
        _rounds,
    ]
    values = {}
    for at, (entry, part) in enumerate(zip(ERRATA, parts, strict=True)):
        values[entry] = part()
        step((at + 1) / len(parts))
    return values


def game_of(name: str) -> tuple[Any, Waves, dict[str, Any]]:
    """Return the instance, the algorithm as ``schedule`` runs it with the seed, and its options."""
    instance_of, chi, seed = DISTRIBUTED[name]
    one, lam = instance_of(), 6 * chi
    rng = np.random.default_rng(seed)
    sets = draw_sets(one.packets, 1, rng)
    constants = Constants(lam, 1, group_frames(one.dilation, lam), chi, 2 * lg(one), 2 * (lam + chi - 1))
    return one, waves(one, constants, sets, int(rng.integers(2**31))), {"lam": lam, "chi": chi, "s": 1, "rng": seed}


def _array(nodes: int, paths: Paths) -> Any:
    return obliv.bufferless.instance(f"array:{nodes}", paths)


def _centralized(name: str) -> Value:
    nodes, paths, lam = CENTRALIZED[name]
    one = _array(nodes, paths)
    boats = plan(one, np.ones(one.packets, np.int64), 1, lam)
    broken = simulate(one, boats, kernel=variants.CENTRALIZED[name]).violation
    right = obliv.bufferless.schedule(one, "centralized", lam=lam, s=1)
    return _found(broken, right)


def _distributed(name: str) -> Value:
    one, game, options = game_of(name)
    broken = simulate_rounds(game, network=variants.DISTRIBUTED[name]).violation
    right = obliv.bufferless.schedule(one, "distributed", **options)
    return _found(broken, right)


def _found(broken: Any, right: Any) -> Value:
    note = f"As printed: {broken}. As corrected: {right.packets} in {right.makespan} steps, verified."
    return Value(Fraction(int(broken is not None)), note)


def _phases() -> Value:
    """Find the last phase in which a packet of the last set, from a source in the last frame, is delivered."""
    lam = 4
    one = _array(16, [range(3, 11), range(12, 15)])
    options = {"sets": np.array([1, 2]), "lam": lam}
    run = obliv.bufferless.ALGORITHMS["centralized"].run(one, np.random.default_rng(0), options)
    last = -(-int(run.delivery.max()) // run.constants["tau"])
    note = f"A packet of set 2 from level 12 to 15 arrives at {run.delivery[1]}, τ = {run.constants['tau']}."
    return Value(Fraction(last), note)


def _frame_of_last_target() -> Value:
    lam = 8
    dilation = lam + 1
    return Value(
        Fraction((2 * dilation - 1) // lam + 1), f"λ = {lam}, D = {dilation}, γ' = {group_frames(dilation, lam)}."
    )


def _graphs() -> Value:
    """Count the graphs of two packets over one edge in the middle of the third frame."""
    lam = 4
    one = _array(13, [range(10, 11), range(10, 11)])
    graphs = conflicts(one, lam, 4)
    return Value(Fraction(graphs.node.shape[1]), f"λ = {lam}; the edge from level 10 to 11 in F_3: G(i,2) and G(i,3).")


def _phases_of_a_packet() -> Value:
    lam = 48
    one = _array(2 * lam, [range(lam - 1, lam + 1)])
    places = assign(one.level, one.length, lam, group_frames(one.dilation, lam))
    phases = int((places.destination - places.source + 1).max())
    return Value(Fraction(phases), f"λ = 48 log(DN) = {lam}, from level {lam - 1} to {lam + 1}.")


def _rounds() -> Value:
    one = instance("leveled-mesh:16x16")
    return Value(Fraction(one.dilation, one.network.depth) ** 2, f"L = {one.network.depth}, D = {one.dilation}.")
