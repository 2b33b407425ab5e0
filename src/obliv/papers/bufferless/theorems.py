"""The constants, and the two theorems' bounds against the routing times that are measured."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import obliv
from obliv.papers.bufferless.conflicts import conflicts
from obliv.papers.bufferless.formulas import Formulas, Size
from obliv.papers.bufferless.graphs import frames
from obliv.papers.bufferless.instances import instance, times, verified
from obliv.papers.bufferless.printed import CONSTANTS, DEGREES, FAMILIES, SIZES, share
from obliv.papers.paper import Step, Value, require

__all__ = ["centralized", "distributed", "parameters"]

SEEDS = 10


def parameters(step: Step) -> dict[str, Value]:
    """Compute the constants that the algorithms use."""
    values: dict[str, Value] = {}
    for at, name in enumerate(CONSTANTS):
        _require_size(name)
        first = verified(name, "centralized")
        used = first.constants | {"gamma": first.plan.gamma}
        d = int(conflicts(instance(name), used["lambda"], used["gamma"]).degrees(first.plan.sets[None])[0])
        used["frames"] = frames(instance(name), used["lambda"])
        for entry, key in (("λ", "lambda"), ("s", "s"), ("γ", "frames"), ("γ'", "gamma")):
            values[f"{name}, centralized, {entry}"] = Value(Fraction(used[key]))
        values[f"{name}, centralized, τ over 2(λ + d)"] = Value(
            Fraction(used["tau"], 2 * (used["lambda"] + d)),
            f"d = {d}, χ = {used['chi']}, τ = {used['tau']}.",
        )
        second = _distributed(name)
        for entry, key in (("λ", "lambda"), ("s", "s"), ("χ", "chi"), ("ξ", "xi"), ("τ", "tau")):
            note = "2 log(DN) for the printed 2 log(LN), one letter, see errata." if entry == "ξ" else ""
            values[f"{name}, distributed, {entry}"] = Value(Fraction(second[key]), note)
        step((at + 1) / len(CONSTANTS))
    return values


def centralized(step: Step) -> dict[str, Value]:
    """Compute routing times of Theorem 3.1, with every move of the single instances checked."""
    return _theorem("centralized", 3, step)


def distributed(step: Step) -> dict[str, Value]:
    """Compute routing times of Theorem 4.1; over many seeds without moves."""
    return _theorem("distributed", 12, step)


def _theorem(algorithm: str, alpha: int, step: Step) -> dict[str, Value]:
    values: dict[str, Value] = {}
    names = [name for family in FAMILIES.values() for name in family] + [CONSTANTS[-1]]
    for at, name in enumerate(names):
        _require_size(name)
        # the deep one takes ten million rows of moves
        checked = alpha == 3 or name != CONSTANTS[-1]
        time = verified(name, algorithm).makespan if checked else times(name, algorithm, 0).time
        note = "" if checked else "Boat by boat, without moves."
        if alpha == 3:
            tau = verified(name, algorithm).constants["tau"]
            require(tau == Formulas(SIZES[name], alpha, DEGREES[name]).phase, f"{name} has d = {DEGREES[name]}")
        values[name] = Value(Fraction(time), note)
        step(0.5 * (at + 1) / len(names))
    for at, (family, specs) in enumerate(FAMILIES.items()):
        runs = [(spec, seed, *times(spec, algorithm, seed)) for spec in specs for seed in range(SEEDS)]
        shares = [Fraction(time, Formulas(size, alpha, boats - 1).time) for _, _, size, time, boats in runs]
        best = max(range(len(runs)), key=shares.__getitem__)
        spec, seed, size, time, _ = runs[best]
        note = f"{spec} with seed {seed}: C = {size.congestion}, {time} steps; the least share is "
        values[share(family)] = Value(shares[best], f"{note}{float(min(shares)):.3f}.")
        step(0.5 + 0.5 * (at + 1) / len(FAMILIES))
    return values


def _distributed(name: str) -> dict[str, int]:
    run = obliv.bufferless.ALGORITHMS["distributed"].run(instance(name), np.random.default_rng(0), {"steps": "boats"})
    return run.constants


def _require_size(name: str) -> None:
    one = instance(name)
    require(Size(one.packets, one.congestion, one.dilation) == SIZES[name], f"{name} has the size {SIZES[name]}")
