"""The worst traffic of every channel by itself, solved once for each class of channels and carried to the others."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from obliv._util.progress import silent
from obliv._util.typing import Array
from obliv.analysis.worst_case.symmetry import orbits, verified
from obliv.loads.base import PairLoads
from obliv.view.interactive.packing import text_of

__all__ = ["own_worst"]

_MOST_FOCUS = 400  # channels that are solved


def own_worst(loads: PairLoads) -> dict[str, Any] | None:
    """Return the worst load of every channel and the pairs that put it there, for a page.

    Returns
    -------
    dict or None
        `loads`, exact, as text; `scale`, the denominator of amounts; `pairs`, for every channel their number and then
        source, destination and amount of each. None where too many channels would have to be solved.
    """
    topology, rates = loads.topology, loads.rates
    classes = orbits(topology, verified(loads, "auto", silent))
    focus = np.unique(classes.focus).tolist()
    if len(focus) > _MOST_FOCUS:
        return None
    value: dict[int, int] = {}
    flows: dict[int, Array] = {}
    for c in focus:
        solution = loads.solve(c, rates)
        value[c] = solution.value
        flows[c] = np.array(solution.shipments(), np.int64).reshape(-1, 3)
    numbers: list[int] = []
    exact: list[str] = []
    units = loads.denominator * rates.scale
    for c, of in enumerate(classes.focus.tolist()):
        place = topology.terminals.astype(np.int64)
        for step in classes.word(c):
            place = np.asarray(classes.generators[step])[place]
        moved, pairs = topology.number_of[place], flows[of].copy()
        pairs[:, :2] = moved[pairs[:, :2]]
        numbers += [len(pairs), *pairs[np.argsort(pairs[:, 0], kind="stable")].ravel().tolist()]
        exact.append(str(Fraction(value[of], units) / topology.bandwidth_of(c)))
    return {"loads": exact, "scale": rates.scale, "pairs": text_of(numbers)}
