"""What the text states beside its tables: the headline percentages, comparisons, and which dimension decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from statistics import fmean

import obliv
from obliv.papers.paper import Step, Value, agreeing, require
from obliv.papers.u2turn.meshes import ASYMMETRIC, ROUTINGS, largest_loads, mean_gain, worst, worst_load
from obliv.papers.u2turn.printed import COLUMNS, EVEN, ODD
from obliv.papers.u2turn.tables34 import under_patterns
from obliv.papers.verdicts import Bounds

__all__ = ["compute"]

_SQUARES = ODD | EVEN
_DEADLOCK_MESHES = ("3x3", "4x4", "5x5", "5x3", "3x5", "7x4")


def compute(step: Step) -> dict[str, Value]:
    """Compute the headline from printed and computed averages, and compare Lx and Ly on every mesh kx > ky."""
    entries = {}
    meshes = [f"mesh:{size}" for size in _SQUARES]
    for at, over in enumerate(COLUMNS[:3]):
        entries[f"U2TURN over {over}, from the printed averages"] = _from_print(over)
        entries[f"U2TURN over {over}, from computed averages"] = Value(mean_gain(meshes, "U2TURN", over))
        step(0.7 * (at + 1) / 3)
    for routing in ("XYX", "YXY"):
        cases = []
        for kx, ky in ASYMMETRIC:
            x, y = largest_loads(f"mesh:{kx}x{ky}", routing.lower())
            require(x >= y, f"Lx >= Ly on {kx}x{ky}")
            cases.append((f"{kx}x{ky}", x > y))
        entries[f"{routing}: meshes kx > ky with Lx > Ly"] = agreeing(cases, "meshes up to 8x7")
    entries |= _paths(4)
    entries["tori, k = 3 to 6: IVAL as VAL in the worst case"] = agreeing(
        ((f"k = {k}", worst(f"torus:{k}x{k}", "ival") == worst(f"torus:{k}x{k}", "valiant")) for k in range(3, 7)),
        "radices",
        "Both have 1/2.",
    )
    entries |= _asymmetric()
    step(0.8)
    entries |= _symmetric()
    step(0.9)
    for routing in ("U2TURN", "U2TURN-A"):
        entries[f"{routing}: free of deadlock"] = _deadlock(routing)
    return entries


def _paths(k: int) -> dict[str, Value]:
    """Compare the paths of XYX and YXY with all paths of at most two turns, for every pair of a square mesh."""
    mesh = obliv.topology(f"mesh:{k}x{k}")
    xyx, yxy, o1turn = (obliv.routing(name, mesh) for name in ("xyx", "yxy", "o1turn"))
    complete, subset, direct = [], [], 0
    for source in range(mesh.nodes):
        paths = _with_two_turns(mesh, source)
        for destination in range(mesh.nodes):
            pair, along_x = f"{source} to {destination}", {path for path, _ in xyx.paths(source, destination)}
            ours = along_x | {path for path, _ in yxy.paths(source, destination)}
            complete.append((pair, ours == paths[destination]))
            subset.append((pair, {path for path, _ in o1turn.paths(source, destination)} <= ours))
            direct += len(along_x) == 1
    pairs = f"pairs of the {k}x{k} mesh"
    return {
        "XYX and YXY together: all paths of at most 2 turns": agreeing(
            complete, pairs, "Turns into the opposite direction are not allowed."
        ),
        "O1TURN: its paths are among those of XYX and YXY": agreeing(subset, pairs),
        "4x4, XYX: share of pairs with a single path": Value(Fraction(direct, mesh.nodes**2), against=Fraction(1, k)),
    }


def _with_two_turns(mesh: obliv.Topology, source: int) -> list[set[tuple[int, ...]]]:
    """Return all paths from a node, by destination, that go straight or turn by a right angle at most twice."""
    paths: list[set[tuple[int, ...]]] = [set() for _ in range(mesh.nodes)]
    open_paths: list[tuple[int, tuple[int, ...], int]] = [(source, (), 0)]
    while open_paths:
        node, path, turns = open_paths.pop()
        paths[node].add(path)
        for channel in range(int(mesh.first_channel[node]), int(mesh.first_channel[node + 1])):
            ahead = int(mesh.head[channel])
            turned = turns
            if path:
                last = int(mesh.head[path[-1]]) - int(mesh.tail[path[-1]])
                if ahead - node == -last:
                    continue
                turned += ahead - node != last
            if turned <= 2:
                open_paths.append((ahead, (*path, channel), turned))
    return paths


def _asymmetric() -> dict[str, Value]:
    """Compare the worst cases of section IV-B on every mesh kx > ky."""
    exchanged = (
        (f"{ky}x{kx}", worst_load(f"mesh:{ky}x{kx}", "xyx") == worst_load(f"mesh:{kx}x{ky}", "yxy"))
        for kx, ky in ASYMMETRIC
    )

    above, variant, even = [], [], []
    for kx, ky in ASYMMETRIC:
        size = f"{kx}x{ky}"
        *others, ours, u2turn_a = (worst(f"mesh:{size}", routing) for routing in ROUTINGS.values())
        above.append((size, min(ours, u2turn_a) > max(others)))
        variant.append((size, ours > u2turn_a))
        if kx % 2 == 0:
            even.append((size, ours == u2turn_a == Fraction(1, 2) >= max(others)))
    return {
        "kx < ky: XYX as YXY on the mesh with kx and ky exchanged": agreeing(exchanged, "meshes up to 7x8"),
        "kx > ky, worst case: U2TURN and U2TURN-A above VAL, DOR and O1TURN": _of_odd(
            above, "meshes kx > ky up to 8x7"
        ),
        "kx > ky, worst case: U2TURN above U2TURN-A": _of_odd(variant, "meshes kx > ky up to 8x7"),
        "even kmax, worst case: U2TURN and U2TURN-A at 1/2, not below VAL, DOR and O1TURN": agreeing(
            even, "meshes kx > ky up to 8x7", "VAL and O1TURN have 1/2 there, too."
        ),
    }


def _of_odd(cases: list[tuple[str, bool]], what: str) -> Value:
    """Count the meshes that agree; another reading is about those whose first side is odd."""
    odd = agreeing((case for case in cases if int(case[0][0]) % 2), f"{what}, odd radix")
    return replace(agreeing(cases, what), readings={"of odd radices": odd})


def _symmetric() -> dict[str, Value]:
    """Compare the columns of Tables III and IV as section V does."""

    def count(sizes: Iterable[str], rows: Iterable[str], fits: Callable[[Fraction, list[Fraction]], bool]) -> Value:
        cases = []
        for size in sizes:
            for row in rows:
                *others, ours = (_throughput(size, row, name) for name in COLUMNS)
                cases.append((f"{row} on {size}", fits(ours, others)))
        return agreeing(cases, "cases")

    def above(ours: Fraction, others: list[Fraction]) -> bool:
        return ours > max(others)

    def between(ours: Fraction, others: list[Fraction]) -> bool:
        return others[0] < ours < min(others[1:])

    def best(ours: Fraction, others: list[Fraction]) -> bool:
        return ours == Fraction(1, 2) >= max(others)

    means = [
        sum((_throughput(size, "Complement", name) for size in _SQUARES), Fraction(0)) / len(_SQUARES)
        for name in COLUMNS
    ]
    dor = agreeing(
        (
            (
                size,
                _throughput(size, "Random", "DOR") > _throughput(size, "Random", "U2TURN")
                and _throughput(size, "Worst-case", "DOR") < _throughput(size, "Worst-case", "U2TURN"),
            )
            for size in _SQUARES
        ),
        "sizes",
        "So do the printed averages."
        if all(Fraction(rows["Average-case"][1]) < Fraction(rows["Average-case"][3]) for rows in _SQUARES.values())
        else "",
    )
    all_sizes = []
    for size in sorted(_SQUARES):
        *others, ours = (_throughput(size, "Worst-case", name) for name in COLUMNS)
        all_sizes.append((size, above(ours, others)))
    return {
        "k = 3 to 8, worst case: U2TURN above VAL, DOR and O1TURN": _of_odd(all_sizes, "squares"),
        "odd k, worst case: U2TURN above VAL, DOR and O1TURN": count(ODD, ["Worst-case"], above),
        "even k, worst case: U2TURN at 1/2, not below VAL, DOR and O1TURN": count(EVEN, ["Worst-case"], best),
        "Transpose and DOR-WC: U2TURN above VAL, DOR and O1TURN": count(_SQUARES, ["Transpose", "DOR-WC"], above),
        "Nearest-Neighbor: U2TURN above VAL, below DOR and O1TURN": count(_SQUARES, ["Nearest-Neighbor"], between),
        "Complement, odd k: U2TURN above VAL, below DOR and O1TURN": count(ODD, ["Complement"], between),
        "Complement, even k: U2TURN above VAL, below DOR and O1TURN": replace(
            count(EVEN, ["Complement"], between),
            readings={"of the mean over all six sizes": agreeing([("", between(means[-1], means[:-1]))], "means")},
        ),
        "Random: DOR above U2TURN, below it in the worst case": dor,
    }


def _throughput(size: str, row: str, name: str) -> Fraction:
    return worst(f"mesh:{size}", ROUTINGS[name]) if row == "Worst-case" else under_patterns(size, name)[row]


def _deadlock(name: str) -> Value:
    """Count the meshes without deadlock if a packet takes the next virtual channel at each turn from Y to X."""
    cases, without = [], 0
    for size in _DEADLOCK_MESHES:
        routing = obliv.routing(name.lower(), obliv.topology(f"mesh:{size}"))
        cases.append((size, obliv.deadlock(routing, "turn").acyclic))
        without += obliv.deadlock(routing).acyclic
    return agreeing(cases, "meshes", f"With one virtual channel {without} of them.")


def _from_print(over: str) -> Value:
    """Return bounds on the mean of ratios, since every printed average is rounded."""
    column = COLUMNS.index(over)
    pairs = [(rows["Average-case"][3], rows["Average-case"][column]) for rows in _SQUARES.values()]
    low = sum(_edge(a, -1) / _edge(b, 1) for a, b in pairs) / len(pairs) - 1
    high = sum(_edge(a, 1) / _edge(b, -1) for a, b in pairs) / len(pairs) - 1
    plain = fmean(float(a) / float(b) for a, b in pairs) - 1
    return Value(Bounds(Fraction(low), Fraction(high)), f"The mean of the printed averages' ratios: {plain:.4f}.")


def _edge(text: str, side: int) -> Fraction:
    if text == "0.5":
        return Fraction(1, 2)  # VAL, exact
    return Fraction(text) + side * Fraction(1, 2 * 10 ** len(text.partition(".")[2]))
