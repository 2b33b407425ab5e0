"""Statements of the text that can be checked one by one, exactly."""

from __future__ import annotations

from fractions import Fraction
from math import comb, e

import numpy as np

import obliv
from obliv.bufferless.frames import assign, group_frames
from obliv.errors import InputError
from obliv.papers.bufferless.formulas import Formulas, Size
from obliv.papers.bufferless.instances import instance
from obliv.papers.bufferless.printed import BUTTERFLIES, MESHES
from obliv.papers.bufferless.said import STATEMENTS
from obliv.papers.paper import Step, Value

__all__ = ["compute"]


def compute(step: Step) -> dict[str, Value]:
    """Check every statement."""
    parts = (_chernoff, _least_levels, _most_levels, _no_group, _frame, _distributed_frame, _direct)
    values = {}
    for at, (entry, part) in enumerate(zip(STATEMENTS, parts, strict=True)):
        values[entry] = part()
        step((at + 1) / len(parts))
    return values


def _chernoff() -> Value:
    """Compute the largest tail over its bound; for t from k to k + 1 the bound 2^-t is least at the end."""
    best = (Fraction(0), "")
    for q in range(2, 41):
        for n in range(1, 41):
            tail = 0
            for k in range(n, 0, -1):
                tail += comb(n, k) * (q - 1) ** (n - k)
                if k <= 2 * e * n / q:
                    break
                best = max(best, (Fraction(tail * 2**k, q**n), f"n = {n}, p = 1/{q}, δμ just below {k}"))
    return Value(*best)


def _least_levels() -> Value:
    return Value(Fraction(min(group_frames(d, lam) * lam - 2 * d for d, lam in _pairs())))


def _most_levels() -> Value:
    return Value(Fraction(max(group_frames(d, lam) * lam - 2 * d - 2 * lam for d, lam in _pairs())))


def _pairs() -> list[tuple[int, int]]:
    return [(d, lam) for d in range(1, 301) for lam in range(2, 102, 2)]


def _no_group() -> Value:
    """Check every path on an array with the length of four groups."""
    outside = paths = 0
    for lam in range(2, 22, 2):
        for d in range(1, 61):
            gamma = group_frames(d, lam)
            level = np.repeat(np.arange(2 * gamma * lam), d)
            length = np.tile(np.arange(1, d + 1), 2 * gamma * lam)
            paths += len(level)
            try:
                assign(level, length, lam, gamma)
            except InputError:
                outside += 1
    return Value(Fraction(outside), f"{paths} paths; also that their group begins at a level of the network.")


def _frame() -> Value:
    return Value(Fraction(min(12 * log - 2 * (4 * log + 1) for log in range(1, 61))), "Least at log(DN) = 1.")


def _distributed_frame() -> Value:
    sizes = [Formulas(Size(2**log, 1, 1), 12) for log in range(1, 61)]
    return Value(Fraction(min(size.frame - 6 * size.boats for size in sizes)))


def _direct() -> Value:
    """Compare direct routing, in which packets never stop, with C + D."""
    ratio, at = min(
        (Fraction(obliv.bufferless.schedule(one, "direct").makespan, one.congestion + one.dilation), one.network.spec)
        for one in map(instance, (*BUTTERFLIES, *MESHES))
    )
    return Value(ratio, f"On {at}. Direct routing is no part of the paper.")
