"""What the text states about DOR and ROMM: the overestimate, their ratio, and what becomes of them as k grows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import obliv
from obliv.papers.paper import Step, Value, agreeing, require
from obliv.papers.towles.printed import TABLE1
from obliv.papers.towles.table1 import PATTERNS
from obliv.papers.verdicts import Bounds, exactly, verdict

__all__ = ["EVEN", "RADICES", "adversary", "compute", "series"]

RADICES = tuple(range(3, 34, 2))
EVEN = tuple(range(4, 21, 2))

_NODES = 16
_LAST = (15, 17, 19, 21, 33)  # radices with which the paper may have ended


def compute(step: Step) -> dict[str, Value]:
    """Check every statement; those about large k use the exact values for k = 3, 5 ... 33, and 4, 6 ... 20."""
    dor, romm = series("dor", lambda share: step(0.4 * share)), series("romm", lambda share: step(0.4 + 0.3 * share))
    last = max(RADICES)
    entries = {
        "rows of Table 1, without the exact worst case, on which ROMM reaches DOR": _on_patterns(),
        "ROMM overestimated by searching": Value(
            Fraction(TABLE1["Worst of 10^4 permutations, ROMM"].text) / romm[9] - 1,
            "The printed 0.255 of the random search over the exact 25/144, less one.",
        ),
        "ROMM's worst case over DOR's, from the printed 0.173": _from_print(romm[9], dor[9]),
        "DOR as k increases, its limit": _limit_of_dor(dor),
        "ROMM as k increases, its limit": _limit_of_romm(romm),
        f"ROMM over DOR, at the largest k here, {last}": Value(romm[last] / dor[last]),
        f"k = 3 to {last}, odd: DOR above ROMM": replace(
            _above(dor, romm, min(RADICES)), readings={"from k = 5": _above(dor, romm, 5)}
        ),
    }
    step(0.8)
    entries["k = 6 to 20, even: DOR and ROMM fall, DOR above ROMM"] = _even()
    pairs = Fraction(_NODES * (_NODES - 1))
    loops = {"with a channel from every node to itself": Value(pairs + _NODES)}
    entries[f"fully connected network of {_NODES} nodes: channels"] = Value(pairs, readings=loops)
    return entries


def _above(dor: dict[int, Fraction], romm: dict[int, Fraction], first: int) -> Value:
    return agreeing(((f"k = {k}", dor[k] > romm[k]) for k in RADICES if k >= first), "radices")


def series(name: str, step: Step, radices: Sequence[int] = RADICES) -> dict[int, Fraction]:
    """Return the exact worst case of a routing on k-ary 2-cubes, as a fraction of capacity."""
    values = {}
    for at, k in enumerate(radices):
        worst = obliv.worst_case(obliv.routing(name, obliv.topology(f"torus:{k}x{k}")))
        values[k] = exactly(worst.fraction_of_capacity)
        step((at + 1) / len(radices))
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


def _on_patterns() -> Value:
    """Count the rows of Table 1 in which ROMM has at least the throughput of DOR; random permutations as printed."""
    topology = obliv.topology("torus:9x9")
    dor, romm = (
        [exactly(p.fraction_of_capacity) for p in obliv.throughput(obliv.routing(name, topology), *PATTERNS).patterns]
        for name in ("dor", "romm")
    )
    for column, name in ((dor, "DOR"), (romm, "ROMM")):
        column.append(Fraction(TABLE1[f"Worst of 10^4 permutations, {name}"].text))
    words = [
        f"{name} {'equal' if ours == theirs else 'better' if ours > theirs else 'worse'}"
        for name, ours, theirs in zip((*PATTERNS, "random permutations (as printed)"), romm, dor, strict=True)
    ]
    count = sum(ours >= theirs for ours, theirs in zip(romm, dor, strict=True))
    return Value(Fraction(count), f"ROMM against DOR: {', '.join(words)}.")


def _from_print(romm: Fraction, dor: Fraction) -> Value:
    """Return bounds on the ratio that the printed 0.173 leaves, which is cut off after its last digit."""
    low = Fraction(TABLE1["Worst-case, ROMM"].text)
    return Value(
        Bounds(low / dor, (low + Fraction(1, 1000)) / dor),
        f"62.3 % is the printed 0.173, which is cut off, over 5/18. Exactly the ratio is {romm / dor} = 62.5 %.",
    )


def _printing(values: dict[int, Fraction], text: str) -> str:
    """Return a remark on the radices at which a value prints as `text`, with all values."""
    fitting = [k for k, value in values.items() if verdict(text, value) == "match"]
    return f"Prints as {text} at k = {', '.join(map(str, fitting))}. Exact: {_listed(values)}."


def _even() -> Value:
    """Count the even radices that follow the trends of the odd ones."""
    dor, romm = (series(name, lambda share: None, EVEN) for name in ("dor", "romm"))
    cases = [
        (f"k = {k}", dor[k] < dor[k - 2] and romm[k] < romm[k - 2] and romm[k] < dor[k]) for k in EVEN if k > min(EVEN)
    ]
    return agreeing(cases, "radices", f"DOR: {_listed(dor)}. ROMM: {_listed(romm)}.")


def _limit_of_dor(values: dict[int, Fraction]) -> Value:
    """Return the limit of DOR: at most (k-1)/2 nodes reach an x channel, and the tornado attains that."""
    require(all(value == Fraction(k + 1, 4 * k) for k, value in values.items()), "DOR's worst case is (k+1)/(4k)")
    note = (
        "No channel can carry more than the (k-1)/2 of a tornado, so that the worst case is (k+1)/(4k). "
        f"{_printing(values, '0.26')}"
    )
    return Value(Fraction(1, 4), note, readings=_ending(values))


def _limit_of_romm(values: dict[int, Fraction]) -> Value:
    """Bound the limit by the adversary; the exact values are lower from k = 13 on."""
    last = max(values)
    require(all(values[k] <= _at_most(k) for k in values), "ROMM's worst case is within the bound of the adversary")
    adversaries = all(_load(k) == Fraction((k - 1) ** 2, k + 1) for k in (5, 9, last))
    require(adversaries, "the adversary loads the channel with (k-1)²/(k+1)")
    note = (
        "The pattern of Figure 8 for any odd k loads a channel with (k-1)²/(k+1), so that the worst case is at most "
        f"(k+1)²/(8k(k-1)), which tends to 1/8. {_printing(values, '0.14')}"
    )
    return Value(Bounds(Fraction(0), Fraction(1, 8)), note, readings=_ending(values))


def _ending(values: dict[int, Fraction]) -> dict[str, Value]:
    """Return what the paper would have seen if its largest k was one of some radices."""
    return {f"k up to {k}": Value(values[k]) for k in _LAST}


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
