"""Equations 1 to 13, claims 1 to 3, Table I of the largest loads, and the improvements of Figure 7."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import obliv
from obliv.papers.paper import ComputedEntry, Step, Value, agreeing, require
from obliv.papers.u2turn.printed import (
    ASYMMETRIC_EQUATIONS,
    PRINT,
    bound_of_dor,
    bound_of_o1turn,
    of_u2turn,
    of_u2turn_a,
)
from obliv.papers.u2turn.statements import (
    ASYMMETRIC,
    ROUTINGS,
    average,
    capacity_load,
    largest_loads,
    mean_gain,
    worst,
    worst_load,
)

_RADICES = range(2, 14)


def _exact_load_of_dor(kx: int, ky: int) -> Fraction:
    """Return the worst-case load of DOR: what the row behind a channel can send to all nodes ahead, or the reverse."""
    along_x = max(min(i + 1, (kx - 1 - i) * ky) for i in range(kx - 1))
    along_y = max(min((j + 1) * kx, ky - 1 - j) for j in range(ky - 1))
    return Fraction(max(along_x, along_y))


def hops(k: int) -> Fraction:
    """Return the mean hops of U2TURN on a square mesh: the correct equation 3."""
    return Fraction(3 * k - 1, k) * Fraction(k * k - 1, 3 * k)


def equation_rows(step: Step) -> Iterator[Value]:
    """Check every equation in the order of the paper."""
    yield from _capacity()
    yield from _latency(lambda share: step(0.1 + 0.4 * share))
    yield from _asymmetric(False, lambda share: step(0.5 + 0.25 * share))
    yield from _asymmetric(True, lambda share: step(0.75 + 0.25 * share))


def _uniform_load(spec: str) -> Fraction:
    """Return the largest load of uniform traffic under dimension order, which balances the halves of every line."""
    topology = obliv.topology(spec)
    loads: Any = obliv.routing("dor", topology).pair_loads()
    return Fraction(max(loads.under(obliv.traffic("uniform", topology))))


def _capacity() -> Iterator[ComputedEntry]:
    for odd in (0, 1):
        specs = [f"line:{k}" for k in _RADICES if k % 2 == odd]
        specs += [f"mesh:{k}x{k}" for k in _RADICES if k % 2 == odd]
        specs += [f"mesh:{k}x{k}x{k}" for k in (2, 3, 4, 5) if k % 2 == odd]
        cases = ((spec, _uniform_load(spec) == capacity_load(int(spec.split(":")[1].split("x")[0]))) for spec in specs)
        yield agreeing(cases, "lines, squares and cubes")
    load = worst_load("mesh:3x3", "u2turn")
    yield ComputedEntry(1 / (load / capacity_load(3)), f"The loads are {load} and {capacity_load(3)}.")


def _latency(step: Step) -> Iterator[Value]:
    measured: dict[str, dict[int, Fraction]] = {name: {} for name in ("u2turn", "dor", "valiant")}
    for at, k in enumerate(_RADICES):
        for name, values in measured.items():
            values[k] = obliv.routing(name, obliv.topology(f"mesh:{k}x{k}")).pair_loads().hops()
        step((at + 1) / len(_RADICES))
    ours, dor, val = measured.values()
    require(all(ours[k] == hops(k) for k in _RADICES), "the mean hops of U2TURN are (3k-1)/k ((k²-1)/(3k))")
    penalty = {k: ours[k] / dor[k] for k in _RADICES}
    yield from (ours[2], ours[8], penalty[2], max(penalty.values()))
    yield ComputedEntry(
        penalty[8],
        "O1TURN has as many hops as DOR, the fewest.",
        readings={
            "at k = 13, the largest of Figure 2": ComputedEntry(penalty[13]),
            "as k grows": ComputedEntry(Fraction(3, 2)),
        },
    )
    cases = ((f"k = {k}", dor[k] == Fraction(2 * (k * k - 1), 3 * k)) for k in _RADICES)
    yield agreeing(cases, "radices 2 to 13")
    yield agreeing(((f"k = {k}", val[k] == 2 * dor[k]) for k in _RADICES), "radices 2 to 13")


def _asymmetric(exchange: bool, step: Step) -> Iterator[ComputedEntry]:
    """Check equations 4 to 13 on every mesh kx > ky, or on every mesh kx < ky with X and Y exchanged."""
    results: dict[str, dict[str, bool]] = {}
    closed, tight, equal = [], [], True
    for at, (long, short) in enumerate(ASYMMETRIC):
        size = f"{short}x{long}" if exchange else f"{long}x{short}"
        mesh = f"mesh:{size}"
        results[size] = _holding(mesh, long, short, exchange)
        closed.append((size, _loads_of_dor(mesh) == [_exact_load_of_dor(long, short)] * 2))
        tight += [size] if worst(mesh, "dor") == bound_of_dor(long) else []
        equal &= worst(mesh, "o1turn") == bound_of_o1turn(long)
        step((at + 1) / len(ASYMMETRIC))
    require(equal, "O1TURN attains the bound of equation 9 on every mesh")
    what = "meshes kx < ky up to 7x8" if exchange else "meshes kx > ky up to 8x7"
    notes = {
        "(6) DOR, both orders: load": "The exact load is the larger of max over i < kx-1 of min(i+1, (kx-1-i) ky) and "
        f"max over j < ky-1 of min((j+1) kx, ky-1-j), in both orders: {agreeing(closed, what).note}",
        "(7) DOR": f"A bound, not the value; tight on {', '.join(tight)}.",
        "(9) O1TURN": "Equality holds on all of them.",
        "(11) U2TURN": "No routing does better: the cut beside the middle forces a load of kmax/2, rounded down.",
        "(12) U2TURN-A: load": "In Y." if exchange else "In X.",
    }
    for entry in ASYMMETRIC_EQUATIONS:
        cases = ((size, holding[entry]) for size, holding in results.items() if entry in holding)
        yield agreeing(cases, what, notes.get(entry, ""))


def _holding(mesh: str, long: int, short: int, exchange: bool) -> dict[str, bool]:
    """Return which equations hold on one mesh with kmax = `long`."""
    dor, straight, dim = _loads_of_dor(mesh), "xyx" if exchange else "yxy", int(exchange)
    holding = {
        "(4) load of uniform traffic": _uniform_load(mesh) == capacity_load(long),
        "(5) VAL": worst(mesh, "valiant") == Fraction(1, 2),
        "(6) DOR, both orders: load": min(dor) >= capacity_load(long) / bound_of_dor(long),
        "(7) DOR": capacity_load(long) / min(dor) <= bound_of_dor(long),
        "(8) O1TURN: load": worst_load(mesh, "o1turn") >= Fraction(long, 2),
        "(9) O1TURN": worst(mesh, "o1turn") <= bound_of_o1turn(long),
        "(10) YXY: load": worst_load(mesh, straight) == long // 2,
        "(11) YXY": worst(mesh, straight) == of_u2turn(long),
        "(11) U2TURN": worst(mesh, "u2turn") == of_u2turn(long),
        "(12) U2TURN-A: load": (
            worst_load(mesh, "u2turn-a")
            == largest_loads(mesh, "u2turn-a")[dim]
            == (Fraction((long - 1) * (2 * long + 1), 4 * long) if long % 2 else Fraction(long, 2))
        ),
        "(13) U2TURN-A": worst(mesh, "u2turn-a") == of_u2turn_a(long),
    }
    return holding | ({"(6) DOR, kx - ky = 1: load": dor == [long - 1] * 2} if long - short == 1 else {})


def _loads_of_dor(mesh: str) -> list[Fraction]:
    return [worst_load(mesh, "dor"), worst_load(mesh, "dor:yx")]


# Claims 1 to 3, dimension by dimension


_NOTES = {
    "1, {} k: tornado is a worst case": "Shifts by k/2 rounded down and rounded up both attain it.",
    "3, {} k: U2TURN in X": "One permutation is a worst case of both halves: the sum of their worst cases is attained.",
}


def claim_rows(step: Step, largest: int = 13) -> dict[str, ComputedEntry]:
    """Check every claim for radices 2 to `largest` (odd ones from 3)."""
    holding = {}
    for k in range(2, largest + 1):
        holding[k] = _claims_holding(k)
        step((k - 1) / (largest - 1))
    return {
        claim.format(word): agreeing(
            ((f"k = {k}", holds[claim]) for k, holds in holding.items() if k % 2 == odd),
            "radices",
            _NOTES.get(claim, ""),
        )
        for word, odd in (("odd", 1), ("even", 0))
        for claim in holding[2]
    }


def _claims_holding(k: int) -> dict[str, bool]:
    """Return which claims hold for one radix."""
    line, mesh = f"line:{k}", f"mesh:{k}x{k}"
    once, twice, half = Fraction(k // 2), Fraction(k * k - k % 2, 2 * k), Fraction(1, 2)
    xyx, yxy, u2turn = (largest_loads(mesh, routing) for routing in ("xyx", "yxy", "u2turn"))
    of_line = worst(line, "dor")
    return {
        "1, {} k: line": worst_load(line, "dor") == once,
        "1, {} k: tornado is a worst case": _tornado(k) == {once},
        "1, {} k: line, throughput": of_line == twice / 2 / once and (of_line > half if k % 2 else of_line == half),
        "2, {} k: XYX in X": xyx[0] == twice,
        "2, {} k: XYX in Y": xyx[1] == once,
        "2, {} k: XYX, of capacity": worst(mesh, "xyx") == half,
        "3, {} k: YXY in X": yxy[0] == once,
        "3, {} k: YXY in Y": yxy[1] == twice,
        "3, {} k: U2TURN in X": u2turn[0] == (once + twice) / 2,
        "3, {} k: U2TURN in Y": u2turn[1] == (once + twice) / 2,
        "3, {} k: U2TURN, of capacity": worst(mesh, "u2turn") == of_u2turn_a(k),
    }


def _tornado(k: int) -> set[Fraction]:
    """Return the largest loads of both roundings of the shift by k/2."""
    loads: Any = obliv.routing("dor", obliv.topology(f"line:{k}")).pair_loads()
    return {max(loads.under(obliv.permutation([(x + by) % k for x in range(k)]))) for by in (k // 2, (k + 1) // 2)}


# Table I: the largest loads in X and Y of XYX and YXY, every channel of every mesh solved


_PARITY = ("even", "odd")


def formula(routing: str, dim: int, k: int) -> Fraction:
    """Return the printed load in dimension `dim` (0 is X) of a mesh with k nodes along it."""
    if k % 2 == 0:
        return Fraction(k, 2)
    twice = (routing == "XYX") == (dim == 0)  # this dimension has two segments
    return Fraction(k * k - 1, 2 * k) if twice else Fraction(k - 1, 2)


def table1_rows(step: Step, largest: int = 8) -> dict[str, ComputedEntry]:
    """Compute every entry of Table I on every mesh of its parities with 2 to `largest` nodes per side."""
    meshes = list(product(range(2, largest + 1), repeat=2))
    loads = {}
    for at, (kx, ky) in enumerate(meshes, 1):
        for routing in ("XYX", "YXY"):
            loads[routing, kx, ky] = largest_loads(f"mesh:{kx}x{ky}", routing.lower())
        step(at / len(meshes))
    results = {}
    for odd_x, odd_y, routing, dim in product((0, 1), (0, 1), ("XYX", "YXY"), (0, 1)):
        cases = (
            (f"{kx}x{ky}", loads[routing, kx, ky][dim] == formula(routing, dim, (kx, ky)[dim]))
            for kx, ky in meshes
            if (kx % 2, ky % 2) == (odd_x, odd_y)
        )
        name = f"{_PARITY[odd_x]} kx, {_PARITY[odd_y]} ky: L{'xy'[dim]} of {routing}"
        results[name] = agreeing(cases, "meshes")
    return results


# Figure 7: improvements of the average on asymmetric meshes; the text does not name their sizes


MESHES = ("3x2", "4x3", "5x4", "6x5", "7x6")


def figure7_rows(step: Step) -> Iterator[Value]:
    """Compute the mean gains on the meshes with kx - ky = 1, and the averages."""
    listed = {}
    for at, (name, routing) in enumerate(ROUTINGS.items(), 1):
        listed[name] = ", ".join(f"{float(average(f'mesh:{size}', routing)):.4f}" for size in MESHES)
        step(at / len(ROUTINGS))
    for entry in PRINT.rows["figure7"]:
        ours, theirs = entry.split(" over ")
        gain = mean_gain([f"mesh:{size}" for size in MESHES], ours, theirs)
        both = "; ".join(f"{name} {listed[name]}" for name in (ours, theirs))
        yield ComputedEntry(gain, f"On {', '.join(MESHES)}: {both}.")
