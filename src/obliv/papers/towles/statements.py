"""What the text states about DOR and ROMM: the overestimate, their ratio, and what becomes of them as k grows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import obliv
from obliv.papers.paper import Step, Value, require
from obliv.papers.towles.printed import TABLE1
from obliv.papers.verdicts import Bounds, exactly, verdict

__all__ = ["RADICES", "adversary", "compute", "series"]

RADICES = tuple(range(3, 34, 2))


def compute(step: Step) -> dict[str, Value]:
    """Check every statement; those about large k use the exact values for k = 3, 5 ... 33."""
    dor, romm = series("dor", lambda share: step(0.4 * share)), series("romm", lambda share: step(0.4 + 0.4 * share))
    searched = Fraction(TABLE1["Worst of 10^4 permutations, ROMM"].text)
    return {
        "ROMM overestimated by searching": Value(
            searched / romm[9] - 1, "The printed 0.255 of the random search over the exact 25/144, less one."
        ),
        "ROMM's worst case over DOR's": Value(romm[9] / dor[9]),
        "DOR at k = 17": Value(dor[17]),
        "ROMM at k = 17": Value(romm[17]),
        "ROMM over DOR at k = 17": Value(romm[17] / dor[17]),
        "DOR as k increases": _limit_of_dor(dor),
        "ROMM as k increases": _fall_of_romm(romm),
    }


def series(name: str, step: Step) -> dict[int, Fraction]:
    """Return the exact worst case of a routing on k-ary 2-cubes, as a fraction of capacity."""
    values = {}
    for at, k in enumerate(RADICES):
        worst = obliv.worst_case(obliv.routing(name, obliv.topology(f"torus:{k}x{k}")))
        values[k] = exactly(worst.fraction_of_capacity)
        step((at + 1) / len(RADICES))
    return values


def adversary(k: int) -> list[tuple[int, int]]:
    """Return Figure 8 for any odd k: pairs that load (0,0) -> (1,0) with (k-1)²/(k+1) under ROMM.

    With h = (k-1)/2, the h nodes (-i, 0) send a tornado to (h-i, 0), one unit each on the channel. The nodes (-i, y) of
    the 2(h-1) rows with 0 < |y| < h send to (h-i, y-h) or (h-i, y+h), the row across: row 0 is inside their minimal
    quadrant of h+1 rows, where ROMM crosses the channel with probability 1/(2(h+1)).
    """
    h = (k - 1) // 2
    pairs = []
    for y in range(1 - h, h):
        to = 0 if y == 0 else y - h if y > 0 else y + h
        pairs += [((-i) % k + k * (y % k), (h - i) % k + k * (to % k)) for i in range(h)]
    return pairs


def _limit_of_dor(values: dict[int, Fraction]) -> Value:
    """Return the limit of DOR: at most (k-1)/2 nodes reach an x channel, and the tornado attains that."""
    require(all(value == Fraction(k + 1, 4 * k) for k, value in values.items()), "DOR's worst case is (k+1)/(4k)")
    return Value(Fraction(1, 4), f"Exact: {_listed(values)}.")


def _fall_of_romm(values: dict[int, Fraction]) -> Value:
    """Bound the limit by the adversary; the exact values are lower from k = 13 on."""
    last = max(values)
    require(all(values[k] <= _at_most(k) for k in values), "ROMM's worst case is within the bound of the adversary")
    adversaries = all(_load(k) == Fraction((k - 1) ** 2, k + 1) for k in (5, 9, last))
    require(adversaries, "the adversary loads the channel with (k-1)²/(k+1)")
    printing = [k for k, value in values.items() if verdict("0.14", value) == "match"]
    return Value(
        Bounds(Fraction(0), Fraction(1, 8)),
        f"Exact: {_listed(values)}; only k = {' and '.join(map(str, printing))} print as 0.14. The pattern of Figure 8 "
        "for any odd k loads a channel with (k-1)²/(k+1), so that the worst case is at most (k+1)²/(8k(k-1)), which "
        "tends to 1/8.",
    )


def _at_most(k: int) -> Fraction:
    """Return the bound by the adversary: its load over the capacity load (k²-1)/(8k)."""
    return Fraction((k + 1) ** 2, 8 * k * (k - 1))


def _load(k: int) -> Fraction:
    """Return the load of the adversary on channel (0,0) -> (1,0), from the pair loads."""
    loads: Any = obliv.routing("romm", obliv.topology(f"torus:{k}x{k}")).pair_loads()
    source, destination = zip(*adversary(k), strict=True)
    weights = loads.on_channel(0).tocsr()[list(source), list(destination)]
    return Fraction(int(weights.sum()), loads.denominator)


def _listed(values: dict[int, Fraction]) -> str:
    return "k = " + ", ".join(f"{k}: {float(value):.4f}" for k, value in values.items())
