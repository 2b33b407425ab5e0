"""Equations 1 to 13, evaluated on every mesh up to 8x7 or every radix up to 13."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import obliv
from obliv.papers.paper import Step, Value, agreeing, require
from obliv.papers.u2turn.meshes import ASYMMETRIC, capacity_load, largest_loads, worst, worst_load
from obliv.papers.u2turn.printed import bound_of_dor, bound_of_o1turn, of_u2turn, of_u2turn_a

__all__ = ["compute", "exact_load_of_dor", "hops"]

_RADICES = range(2, 14)
_MESHES = "meshes kx > ky up to 8x7"


def exact_load_of_dor(kx: int, ky: int) -> Fraction:
    """Return the worst-case load of DOR: what the row behind a channel can send to all nodes ahead, or the reverse."""
    along_x = max(min(i + 1, (kx - 1 - i) * ky) for i in range(kx - 1))
    along_y = max(min((j + 1) * kx, ky - 1 - j) for j in range(ky - 1))
    return Fraction(max(along_x, along_y))


def hops(k: int) -> Fraction:
    """Return the mean hops of U2TURN on a square mesh: the correct equation 3."""
    return Fraction(3 * k - 1, k) * Fraction(k * k - 1, 3 * k)


def compute(step: Step) -> dict[str, Value]:
    """Check every equation in the order of the paper."""
    entries = dict(_capacity())
    step(0.1)
    entries |= _latency(lambda share: step(0.1 + 0.4 * share))
    entries |= _asymmetric(lambda share: step(0.5 + 0.5 * share))
    return entries


def _uniform_load(spec: str) -> Fraction:
    """Return the largest load of uniform traffic under dimension order, which balances the halves of every line."""
    topology = obliv.topology(spec)
    loads: Any = obliv.routing("dor", topology).pair_loads()
    return Fraction(max(loads.under(obliv.traffic("uniform", topology))))


def _capacity() -> Iterator[tuple[str, Value]]:
    for word, odd in (("even", 0), ("odd", 1)):
        specs = [f"line:{k}" for k in _RADICES if k % 2 == odd]
        specs += [f"mesh:{k}x{k}" for k in _RADICES if k % 2 == odd]
        specs += [f"mesh:{k}x{k}x{k}" for k in (2, 3, 4, 5) if k % 2 == odd]
        cases = ((spec, _uniform_load(spec) == capacity_load(int(spec.split(":")[1].split("x")[0]))) for spec in specs)
        yield f"(1) {word} k: load of uniform traffic", agreeing(cases, "lines, squares and cubes")
    load = worst_load("mesh:3x3", "u2turn")
    yield (
        "(2) U2TURN, 3x3: worst case, normalized",
        Value(1 / (load / capacity_load(3)), f"The loads are {load} and {capacity_load(3)}."),
    )


def _latency(step: Step) -> dict[str, Value]:
    measured: dict[str, dict[int, Fraction]] = {name: {} for name in ("u2turn", "dor", "valiant")}
    for at, k in enumerate(_RADICES):
        for name, values in measured.items():
            values[k] = obliv.routing(name, obliv.topology(f"mesh:{k}x{k}")).pair_loads().hops()
        step((at + 1) / len(_RADICES))
    ours, dor, val = measured.values()
    require(all(ours[k] == hops(k) for k in _RADICES), "the mean hops of U2TURN are (3k-1)/k ((k²-1)/(3k))")
    penalty = {k: ours[k] / dor[k] for k in _RADICES}
    return {
        "(3) U2TURN, k = 2: mean hops": Value(ours[2]),
        "(3) U2TURN, k = 8: mean hops": Value(ours[8]),
        "(3) U2TURN, k = 2: penalty over DOR": Value(penalty[2]),
        "(3) U2TURN, k = 2 to 13: largest penalty over DOR": Value(max(penalty.values())),
        "(3) DOR: mean hops": agreeing(
            ((f"k = {k}", dor[k] == Fraction(2 * (k * k - 1), 3 * k)) for k in _RADICES), "radices 2 to 13"
        ),
        "(3) VAL: penalty over DOR": agreeing(
            ((f"k = {k}", val[k] == 2 * dor[k]) for k in _RADICES), "radices 2 to 13"
        ),
    }


def _asymmetric(step: Step) -> dict[str, Value]:
    named = [(f"{kx}x{ky}", f"mesh:{kx}x{ky}", kx, ky) for kx, ky in ASYMMETRIC]
    for at, (_, mesh, _, _) in enumerate(named):
        for routing in ("valiant", "dor", "dor:yx", "o1turn", "yxy", "u2turn", "u2turn-a"):
            worst_load(mesh, routing)
        largest_loads(mesh, "u2turn-a")
        step((at + 1) / len(named))

    def on_every_mesh(fits: Callable[[str, int, int], bool], note: str = "") -> Value:
        return agreeing(((size, fits(mesh, kx, ky)) for size, mesh, kx, ky in named), _MESHES, note)

    closed = on_every_mesh(
        lambda mesh, kx, ky: exact_load_of_dor(kx, ky) == worst_load(mesh, "dor") == worst_load(mesh, "dor:yx")
    )
    tight = ", ".join(size for size, mesh, kx, _ in named if worst(mesh, "dor") == bound_of_dor(kx))
    equal = on_every_mesh(lambda mesh, kx, ky: worst(mesh, "o1turn") == bound_of_o1turn(kx))
    return {
        "(4) load of uniform traffic": on_every_mesh(lambda mesh, kx, ky: _uniform_load(mesh) == capacity_load(kx)),
        "(5) VAL": on_every_mesh(lambda mesh, kx, ky: worst(mesh, "valiant") == Fraction(1, 2)),
        "(6) DOR, both orders: load": on_every_mesh(
            lambda mesh, kx, ky: (
                min(worst_load(mesh, "dor"), worst_load(mesh, "dor:yx")) >= capacity_load(kx) / bound_of_dor(kx)
            ),
            "The exact load is the larger of max over i < kx-1 of min(i+1, (kx-1-i) ky) and max over j < ky-1 of "
            f"min((j+1) kx, ky-1-j), in both orders: {closed.note}",
        ),
        "(6) DOR, kx - ky = 1: load": agreeing(
            ((size, worst_load(mesh, "dor") == kx - 1) for size, mesh, kx, ky in named if kx - ky == 1), "meshes"
        ),
        "(7) DOR": on_every_mesh(
            lambda mesh, kx, ky: worst(mesh, "dor") <= bound_of_dor(kx), f"A bound, not the value; tight on {tight}."
        ),
        "(8) O1TURN: load": on_every_mesh(lambda mesh, kx, ky: worst_load(mesh, "o1turn") >= Fraction(kx, 2)),
        "(9) O1TURN": on_every_mesh(
            lambda mesh, kx, ky: worst(mesh, "o1turn") <= bound_of_o1turn(kx), f"Equality holds: {equal.note}"
        ),
        "(10) YXY: load": on_every_mesh(lambda mesh, kx, ky: worst_load(mesh, "yxy") == kx // 2),
        "(11) YXY": on_every_mesh(lambda mesh, kx, ky: worst(mesh, "yxy") == of_u2turn(kx)),
        "(11) U2TURN": on_every_mesh(
            lambda mesh, kx, ky: worst(mesh, "u2turn") == of_u2turn(kx),
            "No routing does better: the cut beside the middle forces a load of kmax/2, rounded down.",
        ),
        "(12) U2TURN-A: load": on_every_mesh(
            lambda mesh, kx, ky: (
                worst_load(mesh, "u2turn-a")
                == largest_loads(mesh, "u2turn-a")[0]
                == capacity_load(kx) / of_u2turn_a(kx)
            ),
            "In X.",
        ),
        "(13) U2TURN-A": on_every_mesh(lambda mesh, kx, ky: worst(mesh, "u2turn-a") == of_u2turn_a(kx)),
    }
