"""How many flows per pair a guarantee on the largest load needs."""

from __future__ import annotations

from fractions import Fraction

from obliv._util.progress import Progress
from obliv._util.rationals import exact
from obliv._util.text import printable
from obliv.analysis.lottery.largest import Largest, Place
from obliv.errors import InputError
from obliv.results.analysis.lottery import FlowsNeeded

__all__ = ["flows_needed", "parsed"]

_MOST = 1024  # flows that are tried
_HOPELESS = 16  # flows that are tried where even splits load a channel more


def parsed(text: str) -> tuple[Fraction, Fraction]:
    """Return load and probability of a guarantee.

    Raises
    ------
    InputError
        If it is not one.

    Examples
    --------
    >>> parsed("3/2@0.99")
    (Fraction(3, 2), Fraction(99, 100))
    """
    parts = str(text).split("@")
    numbers = [exact(part) for part in parts]
    load, chance = (*numbers, None, None)[:2]
    if len(parts) != 2 or load is None or chance is None or load <= 0 or not 0 < chance < 1:
        shown = printable(str(text)[:40])
        raise InputError(f"guarantee {shown!r}: write LOAD@PROBABILITY, a probability between 0 and 1, as in 3/2@0.99")
    return load, chance


def flows_needed(place: Place, load: Fraction, chance: Fraction, progress: Progress) -> FlowsNeeded:
    """Return a number of flows per pair with which the largest load is at most `load` with probability `chance`.

    The number is doubled until bounds prove that it is enough, and the last interval halved. The probability need not
    grow with every flow, since loads come in steps; so nothing is said about numbers that were not tried.
    """
    known: dict[int, tuple[Fraction, Fraction]] = {}
    most = _MOST if load >= place.even else _HOPELESS

    def enough(flows: int) -> bool:
        if flows not in known:
            progress(f"{flows:,} flows", 0.0)
            law = Largest(place, flows)
            known[flows] = law.within(law.steps_of(load))
        return known[flows][0] >= chance

    high = 1
    while high <= most and not enough(high):
        high *= 2
    if high > most:
        few = max((flows for flows, (_, upper) in known.items() if upper < chance), default=None)
        return FlowsNeeded(load, chance, None, few, max(known))
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    few = max((flows for flows, (_, upper) in known.items() if upper < chance and flows < high), default=None)
    return FlowsNeeded(load, chance, high, few, max(known))
