"""Statements that the paper contradicts elsewhere, and kernels of other readings of the algorithms, on small instances.

Rules are run move by move, with every rule of the model checked; the schedules of obliv pass the verifier as well.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

import obliv
from obliv._util.arrays import Array
from obliv.bufferless.frames import (
    Constants,
    Kernels,
    Stepped,
    Waves,
    centralized_constants,
    distributed_constants,
    draw_sets,
    group_frames,
    lg,
    plan,
    ride,
    simulate,
    simulate_rounds,
    waves,
)
from obliv.bufferless.kernels.rounds import SERVED, forward, prepare
from obliv.bufferless.kernels.walks import Walk, simulate_phases
from obliv.bufferless.leveled.base import given
from obliv.kernels import Kernel, kernel
from obliv.papers.bufferless.measured import injection
from obliv.papers.bufferless.theorems import dependency_graphs, instance
from obliv.papers.paper import ComputedEntry, Step, require

# Kernels: other readings of the algorithms, in place of those of :mod:`obliv.bufferless.kernels`


@kernel
def last_target(p: int, a: int, k: int, last: bool, walk: Walk) -> int:
    """Return the target as printed: in the group's last frame level 2D - 1 of the group."""
    if last:
        dilation = 0
        for q in range(len(walk.start) - 1):
            dilation = max(dilation, walk.start[q + 1] - walk.start[q])
        return int(walk.first[p] * walk.lam + 2 * dilation - 1)
    if walk.state["end"][p] < a + walk.lam:
        return -1
    return int(a + 2 * walk.lam - 2 * k)


@kernel
def never_late(part: int) -> bool:
    """Let all packets enter at the first move."""
    return False


@kernel
def board_early(height: int, color: int, part: int) -> int:
    """Return the move of the boat, one earlier for packets from even inner levels."""
    return height + 4 * color - 3 - (1 if part == 2 else 0)


@kernel
def at_target(p: int, index: int, state: Array) -> None:
    """Let a packet on a boat succeed when it reaches its target."""
    if index == state["stop"][p]:
        state["mode"][p] = SERVED
        state["sure"][p] = 1


# The algorithms with a rule as printed in the paper, or with another reading of it: kernels with other parts.
#
# The only modules of the papers, with their kernels, that use more of obliv than a user does: they replace its rules.


def altered(original: Kernel, label: str, **parts: Any) -> Kernel:
    """Return a kernel with other kernels or constants in place of those it uses, directly or through kernels it calls.

    Examples
    --------
    >>> from obliv.bufferless.kernels import walks
    >>> closer = altered(walks.simulate_phases, "boats_two_apart", BOAT_SPACING=2)
    >>> closer.python.__name__
    'simulate_phases_boats_two_apart'
    """
    function = original.python
    scope = dict(function.__globals__)
    for name in function.__code__.co_names:
        if name in parts:
            scope[name] = parts[name]
        elif isinstance(scope.get(name), Kernel):
            scope[name] = altered(scope[name], label, **parts)
    copy = types.FunctionType(function.__code__, scope, f"{function.__name__}_{label}", function.__defaults__)
    copy.__module__ = function.__module__
    copy.__qualname__ = copy.__name__
    return kernel(copy)


#: Kernels that run a session of the centralized algorithm with a rule as printed.
CENTRALIZED = {"last target": altered(simulate_phases, "last_target", target=last_target)}


class Early(Stepped):
    """Packets from even inner levels enter at move 1, their boats a move earlier."""

    kernels = Kernels(prepare=altered(prepare, "early", enters_late=never_late, board_at=board_early))


class AtTarget(Stepped):
    """A packet succeeds when it reaches its target, without having crossed the edge to oscillate on."""

    kernels = Kernels(forward=altered(forward, "at_target", settle=at_target))


#: Networks that run the distributed algorithm with another reading of a rule.
DISTRIBUTED: dict[str, type[Stepped]] = {"at target": AtTarget, "early": Early}


Paths = Sequence[Sequence[int]]

#: The nodes of an array and the path of its only packet, which ends above level 2D - 1 of the last frame.
LAST_TARGET: tuple[int, Paths] = (120, [range(60, 91)])


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


#: For each other reading of the distributed algorithm an instance, chi (lambda = 6 chi, s = 1), and the seed.
OTHER_READINGS: dict[str, tuple[Callable[[], Any], int, int]] = {
    "at target": (lambda: two_rows(18, 2), 2, 1),
    "early": (lambda: _array(14, [range(5, 8), range(8, 11), range(9, 10)]), 1, 0),
}


def compute(step: Step) -> Iterator[ComputedEntry]:
    """Compute every entry on its instance."""
    for part in (_late_injection, _frame_of_last_target, _last_target, _nodes_of_graphs, _phases_of_a_packet, _rounds):
        yield part()
    yield from map(_other_reading, OTHER_READINGS)


def game_of(name: str) -> tuple[Any, Waves, dict[str, Any]]:
    """Return the instance, the algorithm as ``schedule`` runs it with the seed, and its options."""
    instance_of, chi, seed = OTHER_READINGS[name]
    one, lam = instance_of(), 6 * chi
    rng = np.random.default_rng(seed)
    sets = draw_sets(one.packets, 1, rng)
    constants = Constants(lam, 1, group_frames(one.dilation, lam), chi, 2 * lg(one), 2 * (lam + chi - 1))
    return (
        one,
        waves(one, constants, sets, int(rng.integers(2**31)), both_fail=True),
        {"lam": lam, "chi": chi, "s": 1, "rng": seed},
    )


def printed_target(one: Any) -> tuple[Any, Any]:
    """Run one packet in the first set with the paper's constants: targets of the last frame as printed, and without."""
    constants = centralized_constants(one)
    boats = plan(one, np.ones(one.packets, np.int64), constants.s, constants.lam)
    return simulate(one, boats, kernel=CENTRALIZED["last target"]).violation, simulate(one, boats).violation


def _array(nodes: int, paths: Paths) -> Any:
    return obliv.bufferless.instance(f"array:{nodes}", paths)


def late_injection(levels: int) -> tuple[Fraction, str]:
    """Return the injection time of a packet in the last frame of its group and in the last set, over 2sτ.

    The other packet has a path of `levels` edges; no edge is shared.
    """
    size = centralized_constants(obliv.bufferless.instance(f"array:{levels + 2}", [range(levels), [levels]]))
    last = size.gamma * size.lam - 2
    one = obliv.bufferless.instance(f"array:{last + 2}", [range(levels), [last]])
    boats = plan(one, np.array([1, size.s]), size.s, size.lam)
    moves = simulate(one, boats, record=True).moves
    if moves is None:
        raise ArithmeticError("internal error: a rule of the centralized algorithm is broken")
    time = int(injection(one, moves)[1])
    return Fraction(time, 2 * size.s * boats.tau), f"D = {levels}: {time} of {2 * size.s * boats.tau}"


def _late_injection() -> ComputedEntry:
    shares = [late_injection(2**k) for k in (10, 12, 14)]
    return ComputedEntry(shares[-1][0], "Injection time over 2sτ: " + "; ".join(note for _, note in shares) + ".")


def _frame_of_last_target() -> ComputedEntry:
    one = _array(48, [[0, 1], [3, 4]])
    constants = centralized_constants(one)
    require((constants.lam, constants.gamma) == (24, 2), "the instance has λ = 24 and γ' = 2")
    deeper = centralized_constants(instance("butterfly:4"))
    frame = (2 * 4 - 1) // deeper.lam + 1
    note = f"On butterfly:4, with λ = {deeper.lam} and γ' = {deeper.gamma}, level 2D - 1 = 7 is in F_{frame}, too."
    return ComputedEntry(Fraction((2 * one.dilation - 1) // constants.lam + 1), note)


def _last_target() -> ComputedEntry:
    nodes, paths = LAST_TARGET
    one = _array(nodes, paths)
    constants = centralized_constants(one)
    require((constants.lam, constants.gamma) == (60, 2), "the instance has λ = 60 and γ' = 2")
    broken, right = printed_target(one)
    require(right is None, "no rule is broken without a target in the last frame")
    checked = obliv.bufferless.schedule(one, "centralized", rng=0)
    note = f"As printed: {broken}. Without that target: verified, set drawn at random, {checked.makespan} steps."
    return ComputedEntry(Fraction(int(broken is not None)), note)


def _nodes_of_graphs() -> ComputedEntry:
    one = _array(48, [[0], [5]])
    lam = centralized_constants(one).lam
    nodes = [len(graph) for graph in dependency_graphs(one, np.ones(one.packets, np.int64), lam)]
    return ComputedEntry(Fraction(sum(nodes)), f"λ = {lam}, γ = {len(nodes)}.")


def _phases_of_a_packet() -> ComputedEntry:
    """Count the phases of one packet, the most for any color that 100 seeds draw."""
    one, shorter = _array(200, [range(95, 98)]), _array(97, [range(47, 49)])
    require(distributed_constants(one).lam == 96, "the instance has λ = 96")
    note = f"If its color is χ, otherwise 1. With D = 2, λ = 48, from level 47 to 49: {_most_phases(shorter)} phase."
    return ComputedEntry(Fraction(_most_phases(one)), note)


def _most_phases(one: Any) -> int:
    constants = distributed_constants(one)
    runs = (ride(waves(one, constants, np.ones(1, np.int64), seed, both_fail=True)) for seed in range(100))
    return max(int(np.diff(rides.phase_start).max()) for rides in runs)


def _rounds() -> ComputedEntry:
    levels = 2**20
    one = _array(levels, [range(2)])
    rounds = 2 * (one.network.depth * one.packets - 1).bit_length()
    return ComputedEntry(Fraction(rounds, lg(one)), f"ξ = {rounds} for log(DN) = {lg(one)}; it grows with L alone.")


def _other_reading(name: str) -> ComputedEntry:
    one, game, options = game_of(name)
    broken = simulate_rounds(game, network=DISTRIBUTED[name]).violation
    right = obliv.bufferless.schedule(one, "distributed", **options)
    note = f"With this reading: {broken}. Here: {right.packets} in {right.makespan} steps, verified."
    return ComputedEntry(Fraction(int(broken is not None)), note)
