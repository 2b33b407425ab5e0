"""How routing times grow: least squares against the terms of the theorems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from obliv.papers.bufferless.instances import times
from obliv.papers.bufferless.printed import ARRAYS, FAMILIES, GROWTH
from obliv.papers.paper import Step, Value
from obliv.results import Estimate

__all__ = ["compute", "fit"]

SEEDS = 10
ARRAY_SEEDS = 40
_FEW_LEVELS = "Fitted together with a term for D, of which butterflies and meshes of this size say nothing."


def compute(step: Step) -> dict[str, Value]:
    """Fit the coefficient of C log(DN) on butterflies and meshes, and that of D on arrays, with standard errors."""
    values: list[Value] = []
    for number, algorithm in enumerate(("centralized", "distributed")):
        values += [Value(fit(specs, algorithm, SEEDS)[0], _FEW_LEVELS) for specs in FAMILIES.values()]
        values.append(Value(fit(ARRAYS, algorithm, ARRAY_SEEDS)[1]))
        step((number + 1) / 2)
    return dict(zip(GROWTH, values, strict=True))


def fit(specs: Sequence[str], algorithm: str, seeds: int) -> tuple[Estimate, Estimate]:
    """Fit routing times by least squares to C log(DN) and D; times log(DN) if distributed."""
    terms, steps = [], []
    for spec in specs:
        for seed in range(seeds):
            size, time, _ = times(spec, algorithm, seed)
            factor = 1 if algorithm == "centralized" else size.log
            terms.append((size.congestion * size.log * factor, size.dilation * factor))
            steps.append(time)
    x, y = np.array(terms, float), np.array(steps, float)
    best = np.linalg.lstsq(x, y, rcond=None)[0]
    residual = y - x @ best
    errors = np.sqrt(np.diag(residual @ residual / (len(y) - 2) * np.linalg.inv(x.T @ x)))
    first, second = (Estimate(float(b), float(s), len(y)) for b, s in zip(best, errors, strict=True))
    return first, second
