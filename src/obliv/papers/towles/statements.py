"""Statements on DOR and ROMM, Table 1 (patterns and exact worst cases), and the measured time and memory to solve."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from statistics import fmean, stdev
from typing import Any

import numpy as np

import obliv
from obliv import Bounds, Estimate
from obliv.papers.paper import (
    ComputedEntry,
    Step,
    Value,
    agreeing,
    exactly,
    print_of,
    require,
    verdict,
    worst_of_batches,
)

PRINT = print_of("towles")

#: Figure 9. Entry (i, j) is the destination of node (i, j); the first coordinate is x.
PERMUTATION = [tuple((int(to[0]), int(to[2])) for to in row.split()) for row in PRINT.data["permutation"]["rows"]]


# Table 1: patterns, random permutations and the exact worst case of DOR and ROMM on the 9-ary 2-cube


BATCHES = 40
SEED = 1

PATTERNS = ("uniform", "complement", "transpose", "tornado")


def table1_rows(step: Step) -> Iterator[Value]:
    """Compute every entry of Table 1, row by row: DOR, then ROMM."""
    topology = obliv.topology("torus:9x9")
    dor = _column(obliv.routing("dor", topology), _constant, lambda share: step(0.2 * share))
    romm = _column(obliv.routing("romm", topology), _spread, lambda share: step(0.2 + 0.8 * share))
    return chain.from_iterable(zip(dor, romm, strict=True))


def _column(routing: Any, batches_of: Callable[[list[Fraction]], ComputedEntry], step: Step) -> list[Value]:
    worst = obliv.worst_case(routing)
    loads = worst_of_batches(
        routing.pair_loads(), 10_000, BATCHES, np.random.default_rng(SEED), exactly(worst.channel_load), step
    )
    batches = batches_of([1 / (exactly(worst.capacity) * load) for load in loads])
    return [*_under_patterns(routing), batches, exactly(worst.fraction_of_capacity)]


def _under_patterns(routing: Any) -> list[Fraction]:
    return [exactly(pattern.fraction_of_capacity) for pattern in obliv.throughput(routing, *PATTERNS).patterns]


def _constant(values: list[Fraction]) -> ComputedEntry:
    """Return the value on which all batches agree, or the least."""
    alike = sum(value == min(values) for value in values)
    return ComputedEntry(min(values), f"{alike} of {len(values)} batches of 10^4 permutations give this.")


def _spread(values: list[Fraction]) -> ComputedEntry:
    """Return the mean over the batches; the printed number is a single one, whose error is that of one batch."""
    sample = [float(value) for value in values]
    printed = float(PRINT.rows["table1"]["Worst of 10^4 permutations, ROMM"].text)
    below = sum(round(value, 3) <= printed for value in sample)
    # of as many batches and the printed one, in which place the printed one is
    chance = (below + 1) / (len(sample) + 1)
    error = stdev(sample)
    note = (
        f"The mean of {len(values)} batches of 10^4 (seed {SEED}), from {min(sample):.3f} to {max(sample):.3f}. The "
        f"print is one batch, {(fmean(sample) - printed) / error:.1f} standard deviations of {error:.4f} below. {below}"
        f" of {len(values)} batches come down to it: p = {chance:.2f} on this side."
    )
    return ComputedEntry(Estimate(fmean(sample), error / len(sample) ** 0.5, len(sample)), note, print_error=error)


RADICES = tuple(range(3, 34, 2))
EVEN = tuple(range(4, 21, 2))

_NODES = 16
_LAST = (15, 17, 19, 21, 33)  # radices with which the paper may have ended


def statement_rows(step: Step) -> Iterator[Value]:
    """Check every statement; those about large k use the exact values for k = 3, 5 ... 33, and 4, 6 ... 20."""
    dor, romm = series("dor", lambda share: step(0.4 * share)), series("romm", lambda share: step(0.4 + 0.3 * share))
    yield _on_patterns()
    yield ComputedEntry(
        Fraction(PRINT.rows["table1"]["Worst of 10^4 permutations, ROMM"].text) / romm[9] - 1,
        "The printed 0.255 of the random search over the exact 25/144, less one.",
    )
    yield _from_print(romm[9], dor[9])
    yield _limit_of_dor(dor)
    yield _limit_of_romm(romm)
    yield romm[max(RADICES)] / dor[max(RADICES)]
    yield replace(_above(dor, romm, min(RADICES)), readings={"from k = 5": _above(dor, romm, 5)})
    yield _even()
    pairs = Fraction(_NODES * (_NODES - 1))
    yield ComputedEntry(pairs, readings={"with a channel from every node to itself": ComputedEntry(pairs + _NODES)})


def _above(dor: dict[int, Fraction], romm: dict[int, Fraction], first: int) -> ComputedEntry:
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


def _on_patterns() -> ComputedEntry:
    """Count the rows of Table 1 in which ROMM has at least the throughput of DOR; random permutations as printed."""
    topology = obliv.topology("torus:9x9")
    dor, romm = (_under_patterns(obliv.routing(name, topology)) for name in ("dor", "romm"))
    for column, name in ((dor, "DOR"), (romm, "ROMM")):
        column.append(Fraction(PRINT.rows["table1"][f"Worst of 10^4 permutations, {name}"].text))
    words = [
        f"{name} {'equal' if ours == theirs else 'better' if ours > theirs else 'worse'}"
        for name, ours, theirs in zip((*PATTERNS, "random permutations (as printed)"), romm, dor, strict=True)
    ]
    count = sum(ours >= theirs for ours, theirs in zip(romm, dor, strict=True))
    return ComputedEntry(Fraction(count), f"ROMM against DOR: {', '.join(words)}.")


def _from_print(romm: Fraction, dor: Fraction) -> ComputedEntry:
    """Return bounds on the ratio that the printed 0.173 leaves, which is cut off after its last digit."""
    low = Fraction(PRINT.rows["table1"]["Worst-case, ROMM"].text)
    return ComputedEntry(
        Bounds(low / dor, (low + Fraction(1, 1000)) / dor),
        f"62.3 % is the printed 0.173, which is cut off, over 5/18. Exactly the ratio is {romm / dor} = 62.5 %.",
    )


def _printing(values: dict[int, Fraction], text: str) -> str:
    """Return a remark on the radices at which a value prints as `text`, with all values."""
    fitting = [k for k, value in values.items() if verdict(text, value) == "match"]
    return f"Prints as {text} at k = {', '.join(map(str, fitting))}. Exact: {_listed(values)}."


def _even() -> ComputedEntry:
    """Count the even radices that follow the trends of the odd ones."""
    dor, romm = (series(name, lambda share: None, EVEN) for name in ("dor", "romm"))
    cases = [
        (f"k = {k}", dor[k] < dor[k - 2] and romm[k] < romm[k - 2] and romm[k] < dor[k]) for k in EVEN if k > min(EVEN)
    ]
    return agreeing(cases, "radices", f"DOR: {_listed(dor)}. ROMM: {_listed(romm)}.")


def _limit_of_dor(values: dict[int, Fraction]) -> ComputedEntry:
    """Return the limit of DOR: at most (k-1)/2 nodes reach an x channel, and the tornado attains that."""
    require(all(value == Fraction(k + 1, 4 * k) for k, value in values.items()), "DOR's worst case is (k+1)/(4k)")
    note = (
        "No channel can carry more than the (k-1)/2 of a tornado, so that the worst case is (k+1)/(4k). "
        f"{_printing(values, '0.26')}"
    )
    return ComputedEntry(Fraction(1, 4), note, readings=_ending(values))


def _limit_of_romm(values: dict[int, Fraction]) -> ComputedEntry:
    """Bound the limit by the adversary; the exact values are lower from k = 13 on."""
    last = max(values)
    require(all(values[k] <= _at_most(k) for k in values), "ROMM's worst case is within the bound of the adversary")
    adversaries = all(_load(k) == Fraction((k - 1) ** 2, k + 1) for k in (5, 9, last))
    require(adversaries, "the adversary loads the channel with (k-1)²/(k+1)")
    note = (
        "The pattern of Figure 8 for any odd k loads a channel with (k-1)²/(k+1), so that the worst case is at most "
        f"(k+1)²/(8k(k-1)), which tends to 1/8. {_printing(values, '0.14')}"
    )
    return ComputedEntry(Bounds(Fraction(0), Fraction(1, 8)), note, readings=_ending(values))


def _ending(values: dict[int, Fraction]) -> dict[str, ComputedEntry]:
    """Return what the paper would have seen if its largest k was one of some radices."""
    return {f"k up to {k}": ComputedEntry(values[k]) for k in _LAST}


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


# Sections 3.3 and 4.2: how the time to solve grows with the network, and what the edge weights take, measured


# From 7x7 and 25x25 on a matching takes at least four times and ten times as long as a call that has nothing to match.
# On fully connected networks and circulants of some hundred nodes it takes no longer than the call, as each channel is
# used by few pairs there: the growth with |C| and O(N^5) are not measured.
GROWTH_RADICES = tuple(range(57, 24, -4))  # above, the numbers need more than 64 bits
TORI = tuple(f"torus:{k}x{k}" for k in (13, 11, 9, 7))
_LISTED = (3, 4, 5)
_TIMES = 3


class PathsOnly(obliv.Routing):
    """A routing known by its paths only, so that its edge weights come from listing all of them."""

    def __init__(self, routing: obliv.Routing) -> None:
        super().__init__(routing.topology)
        self.paths = routing.paths  # type: ignore[method-assign]


def growth_rows(step: Step) -> Iterator[ComputedEntry]:
    """Fit power laws to the times of one channel and of all channels, and compare edge weights with matchings."""
    seconds = {}
    for at, k in enumerate(GROWTH_RADICES):  # the largest first: it loads the compiled kernel for all
        loads = obliv.routing("romm", obliv.topology(f"torus:{k}x{k}")).pair_loads()
        seconds[k * k] = _matchings(loads, [0])
        step(0.3 * (at + 1) / len(GROWTH_RADICES))
    yield _power(
        seconds,
        "One channel under ROMM on k-ary 2-cubes. Without symmetry a torus has 4N channels, which adds one to the "
        "exponent and to the paper's bound, O(|C|N^3).",
    )
    seconds = {}
    for spec in TORI:
        topology = obliv.topology(spec)
        seconds[topology.nodes] = _matchings(obliv.routing("romm", topology).pair_loads(), range(topology.channels))
    yield _power(seconds, "All 4N channels of k-ary 2-cubes under ROMM.")
    yield _share_of_weights()


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> tuple[float, float]:
    """Return the least-squares slope of log time over log size, with its standard error."""
    x, y = np.log(sizes), np.log(seconds)
    x = x - x.mean()
    spread = float(x @ x)
    slope = float(x @ y) / spread
    rest = y - y.mean() - slope * x
    return slope, float(np.sqrt(rest @ rest / (len(x) - 2) / spread))


def _power(seconds: dict[int, float], note: str) -> ComputedEntry:
    """Return the exponent of measured times."""
    slope, error = exponent(list(seconds), list(seconds.values()))
    times = ", ".join(f"{n}: {1000 * took:.3g}" for n, took in sorted(seconds.items()))
    return ComputedEntry(
        obliv.Estimate(slope, error, len(seconds)),
        f"Measured, differs from run to run. {note} N and milliseconds: {times}.",
    )


def _matchings(loads: Any, channels: Iterable[int]) -> float:
    """Return the time to solve channels; other work on the machine only adds time, so that the least is taken."""
    weights = [loads.weights(channel) for channel in channels]
    seconds = []
    for _ in range(_TIMES + 1):
        began = time.perf_counter()
        for table in weights:
            obliv.maximum_weight(table)
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def _share_of_weights() -> ComputedEntry:
    """Time listing all paths of all pairs, and solving all channels."""
    shares, times = [], []
    for k in _LISTED:
        routing = PathsOnly(obliv.routing("romm", obliv.topology(f"torus:{k}x{k}")))
        began = time.perf_counter()
        loads = routing.pair_loads()
        weighing = time.perf_counter() - began
        solving = _matchings(loads, range(loads.topology.channels))
        shares.append(weighing / (weighing + solving))
        times.append(f"{k}: {1000 * weighing:.3g} and {1000 * solving:.3g}")
    return ComputedEntry(
        obliv.Estimate(fmean(shares), stdev(shares) / len(shares) ** 0.5, len(shares)),
        "Measured, differs from run to run. All paths of ROMM on k-ary 2-cubes are listed, N² pairs, and all channels "
        f"solved; k and milliseconds of both: {', '.join(times)}.",
    )
