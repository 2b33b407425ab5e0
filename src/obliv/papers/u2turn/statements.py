"""What the text states beside its tables, Tables III and IV themselves, and what the tables share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from math import factorial, hypot
from statistics import fmean
from typing import Any

import numpy as np
from scipy.sparse import find

import obliv
from obliv import Bounds
from obliv._util.arrays import Array
from obliv.papers.paper import ComputedEntry, Step, Value, agreeing, exactly, largest_of, require
from obliv.papers.u2turn.printed import COLUMNS, EVEN, ODD, REMARKS, SIZES, averages

# What the tables share: worst cases, loads by dimension, and averages


SAMPLES = 2_000_000  # the paper takes one million
DRAWN = 5_000  # permutations that show how far averages of a few of them spread
SPREADING = ("dor", "o1turn", "u2turn")  # routings whose loads differ between permutations

Average = Fraction | obliv.Estimate

#: The paper's names of the routings, with ours.
ROUTINGS = {"VAL": "valiant", "DOR": "dor", "O1TURN": "o1turn", "U2TURN": "u2turn", "U2TURN-A": "u2turn-a"}

#: All meshes up to 8 nodes wide with kx > ky > 1.
ASYMMETRIC = tuple((kx, ky) for kx in range(3, 9) for ky in range(2, kx))


def capacity_load(k: int) -> Fraction:
    """Evaluate equations 1 and 4: the load of uniform traffic on a mesh with longest side k."""
    return Fraction(k * k - k % 2, 4 * k)


@cache
def worst_load(mesh: str, routing: str) -> Fraction:
    """Return the exact worst-case channel load."""
    return exactly(obliv.worst_case(obliv.routing(routing, obliv.topology(mesh))).channel_load)


def worst(mesh: str, routing: str) -> Fraction:
    """Return the exact worst case as a fraction of capacity (equation 2)."""
    return Fraction(obliv.topology(mesh).capacity_load or 0) / worst_load(mesh, routing)


@cache
def largest_loads(mesh: str, routing: str) -> tuple[Fraction, ...]:
    """Return the exact worst-case load among the channels of each dimension, x first."""
    topology: Any = obliv.topology(mesh)
    best = [Fraction(0)] * len(topology.radices)
    for row in obliv.worst_channels(obliv.routing(routing, topology)).channels:
        dim = int(topology.dim_of[row.channel.id])
        best[dim] = max(best[dim], row.channel_load)
    return tuple(best)


def average(mesh: str, routing: str, samples: int | None = None) -> Average:
    """Return the reciprocal of the mean largest load of random permutations, as a fraction of capacity.

    Exact where all permutations can be taken (up to 9 nodes), and where every permutation has the same largest load;
    otherwise an estimate from `samples` permutations (default :data:`SAMPLES`).
    """
    return _average(mesh, routing, SAMPLES if samples is None else samples)


@cache
def drawn_loads(mesh: str) -> Array:
    """Return the largest loads, in units of the capacity load, of :data:`SPREADING` under permutations: a row each."""
    topology = obliv.topology(mesh)
    rng = np.random.default_rng(topology.nodes)
    drawn = rng.permuted(np.broadcast_to(np.arange(topology.nodes), (DRAWN, topology.nodes)), axis=1)
    loads = [obliv.routing(routing, topology).pair_loads() for routing in SPREADING]
    sizes = np.array([largest_of(table, drawn) / table.denominator for table in loads])
    relative: Array = sizes / float(topology.capacity_load or 0)
    return relative


def covariances(mesh: str) -> Array:
    """Return the covariances of averages over one permutation; over n they are smaller by n, to the first order."""
    loads = drawn_loads(mesh)
    slope = 1 / loads.mean(axis=1) ** 2  # of the reciprocal
    result: Array = np.cov(loads) * np.outer(slope, slope)
    return result


def mean_of_throughputs(mesh: str, routing: str) -> obliv.Estimate:
    """Return the mean throughput of permutations, without those that load no channel, as a fraction of capacity."""
    loads = drawn_loads(mesh)[SPREADING.index(routing)]
    loads = loads[loads > 0]
    # only what a throughput exceeds its tangent by is estimated from these few: the rest is a mean of many loads
    center = loads.mean()
    above = 1 / loads - (2 / center - loads / center**2)
    many = average(mesh, routing)
    error = hypot(_error(many), above.std(ddof=1) / len(loads) ** 0.5)
    return obliv.Estimate(float(many) + above.mean(), error, len(loads))


@cache
def _average(mesh: str, routing: str, samples: int) -> Average:
    topology: Any = obliv.topology(mesh)
    loads: Any = obliv.routing(routing, topology).pair_loads()
    base = Fraction(topology.capacity_load or 0)
    if factorial(topology.nodes) <= factorial(9):
        result = obliv.average_case(loads, exact=True)
    elif routing == "valiant" and _is_constant(loads):
        return base / Fraction(max(loads.under(obliv.permutation(range(topology.nodes)))))
    else:  # a seed of its own for every mesh, the same for all routings on it
        result = obliv.average_case(loads, samples, topology.nodes)
    if result.fraction_of_capacity is None:
        raise TypeError(f"the average of {routing} on {topology.spec} has no capacity to compare with")
    return result.fraction_of_capacity


def _is_constant(loads: Any) -> bool:
    """Return whether every weight is a term of its source plus a term of its destination, on every channel."""
    for c in range(loads.topology.channels):
        w = loads.on_channel(c).toarray()
        if (w - w[:1] - w[:, :1] + w[0, 0]).any():
            return False
    return True


def gain(mesh: str, routing: str, over: str, samples: int | None = None) -> Average:
    """Return the ratio of two averages, minus one."""
    ours, theirs = (average(mesh, ROUTINGS[name], samples) for name in (routing, over))
    if isinstance(ours, Fraction) and isinstance(theirs, Fraction):
        return ours / theirs - 1
    ratio = float(ours) / float(theirs)
    # both meet the same permutations: taking their errors for independent can only overstate the ratio's
    error = ratio * hypot(*(_error(value) / float(value) for value in (ours, theirs)))
    return obliv.Estimate(ratio - 1, error, SAMPLES if samples is None else samples)


def mean_gain(meshes: Iterable[str], routing: str, over: str) -> obliv.Estimate:
    """Return the mean over meshes of the ratio of two averages, minus one."""
    gains = [gain(mesh, routing, over) for mesh in meshes]
    error = hypot(*map(_error, gains))
    return obliv.Estimate(sum(map(float, gains)) / len(gains), error / len(gains), SAMPLES)


def _error(value: Average) -> float:
    return value.stderr if isinstance(value, obliv.Estimate) else 0.0


# Tables III and IV: worst case, average case and patterns on square meshes


#: The rows of patterns, in their order; DOR-WC sends (x, y) to (k-1-y, k-1-x).
PATTERNS = {
    "Transpose": "transpose",
    "Random": "uniform",
    "DOR-WC": "anti-transpose",
    "Complement": "complement",
    "Nearest-Neighbor": "nearest-neighbor",
}

#: Sizes of an ensemble that is much smaller than the million that the paper names.
FEW = (300, 500)

_PACKETS, _RUNS = 300, 200  # packets of a node to destinations that are drawn, and how often they are drawn


def compute_table(sizes: Sequence[str], step: Step) -> dict[str, Value]:
    """Compute Table III or IV, whose sizes are given."""
    entries: dict[str, Value] = {}
    for at, size in enumerate(sizes):
        columns = {}
        for column, name in enumerate(COLUMNS):
            columns[name] = _column(size, name)
            step((at + (column + 1) / len(COLUMNS)) / len(sizes))
        for row in columns["VAL"]:
            entries |= {f"{size}, {row}, {name}": columns[name][row] for name in COLUMNS}
    return entries


@cache
def under_patterns(size: str, name: str) -> dict[str, Fraction]:
    """Return the exact throughput of a routing under every pattern, as a fraction of capacity."""
    routing: Any = obliv.routing(ROUTINGS[name], obliv.topology(f"mesh:{size}"))
    patterns = obliv.throughput(routing, *PATTERNS.values()).patterns
    return {row: exactly(pattern.fraction_of_capacity) for row, pattern in zip(PATTERNS, patterns, strict=True)}


def _column(size: str, name: str) -> dict[str, ComputedEntry]:
    mesh = f"mesh:{size}"
    column = {"Worst-case": ComputedEntry(worst(mesh, ROUTINGS[name])), "Average-case": _averages(mesh, name)}
    column |= {row: ComputedEntry(value) for row, value in under_patterns(size, name).items()}
    if name == "U2TURN":
        routing = obliv.routing("u2turn:shortcut=no", obliv.topology(mesh))
        without = obliv.throughput(routing, *PATTERNS.values()).patterns
        for (row, value), other in zip(list(column.items())[2:], without, strict=True):
            reading = ComputedEntry(
                exactly(other.fraction_of_capacity), undecided=REMARKS["degenerate"] if row == "Random" else ""
            )
            if reading.value != value.value:
                column[row] = replace(value, readings={"without the short cut": reading})
        random = {f"destinations drawn, {_PACKETS} packets of each node": drawn(size, name)}
        column["Random"] = replace(column["Random"], readings=dict(column["Random"].readings) | random)
    if name == "VAL" and size == "3x3":
        column["Nearest-Neighbor"] = replace(
            column["Nearest-Neighbor"], readings={"XY or YX in both stages": ComputedEntry(_val_by_o1turn(mesh))}
        )
    return column


def _averages(mesh: str, name: str) -> ComputedEntry:
    mean = average(mesh, ROUTINGS[name])
    if name == "VAL":
        return ComputedEntry(mean)
    which = "all 9! permutations" if mesh == "mesh:3x3" else "random permutations"
    spread = float(covariances(mesh).diagonal()[SPREADING.index(ROUTINGS[name])])
    few = FEW[0]
    estimate = obliv.Estimate(float(mean), (spread / few) ** 0.5, few)
    readings = {f"a mean of {few} permutations": ComputedEntry(estimate, undecided=REMARKS["million"])}
    literal = "the mean of throughputs" + (", without the identity" if mesh == "mesh:3x3" else "")
    readings[literal] = ComputedEntry(mean_of_throughputs(mesh, ROUTINGS[name]))
    return ComputedEntry(mean, f"The reciprocal of the mean largest load of {which}.", readings=readings)


@cache
def drawn(size: str, name: str) -> ComputedEntry:
    """Return the throughput of a routing where every node sends packets to destinations that are drawn."""
    topology = obliv.topology(f"mesh:{size}")
    loads = obliv.routing(ROUTINGS[name], topology).pair_loads()
    share = np.array([loads.on_channel(c).toarray().ravel() for c in range(topology.channels)]) / loads.denominator
    rng = np.random.default_rng(topology.nodes)
    even = np.full(topology.nodes, 1 / topology.nodes)
    sent = rng.multinomial(_PACKETS, even, size=(_RUNS, topology.nodes)).reshape(_RUNS, -1) / _PACKETS
    values = float(topology.capacity_load or 0) / (share @ sent.T).max(axis=0)
    spread = float(values.std(ddof=1))
    estimate = obliv.Estimate(float(values.mean()), spread / _RUNS**0.5, _RUNS)
    return ComputedEntry(estimate, undecided=REMARKS["sampled"], print_error=spread)


def _val_by_o1turn(mesh: str) -> Fraction:
    """Return the throughput of VAL under Nearest-Neighbor traffic with XY or YX at random in both stages."""
    topology = obliv.topology(mesh)
    traffic = obliv.traffic("nearest-neighbor", topology)
    loads = obliv.routing("o1turn", topology).pair_loads()
    # a source sends to all middles alike, and all of them send to a destination alike
    ends = [[row + column for column in traffic.column_sums] for row in traffic.row_sums]
    largest = max(
        sum(int(weight) * ends[s][d] for s, d, weight in zip(*find(loads.on_channel(c)), strict=True))
        for c in range(topology.channels)
    )
    return Fraction(topology.capacity_load or 0) * loads.denominator * topology.nodes / Fraction(largest)


_DEADLOCK_MESHES = ("3x3", "4x4", "5x5", "5x3", "3x5", "7x4")


def compute(step: Step) -> Iterator[Value]:
    """Compute the headline from printed and computed averages, and compare Lx and Ly on every mesh kx > ky."""
    meshes = [f"mesh:{size}" for size in SIZES]
    for at, over in enumerate(COLUMNS[:3]):
        yield _from_print(over)
        yield mean_gain(meshes, "U2TURN", over)
        step(0.7 * (at + 1) / 3)
    for routing in ("XYX", "YXY"):
        cases = []
        for kx, ky in ASYMMETRIC:
            x, y = largest_loads(f"mesh:{kx}x{ky}", routing.lower())
            require(x >= y, f"Lx >= Ly on {kx}x{ky}")
            cases.append((f"{kx}x{ky}", x > y))
        yield agreeing(cases, "meshes up to 8x7")
    yield from _paths(4)
    yield agreeing(
        ((f"k = {k}", worst(f"torus:{k}x{k}", "ival") == worst(f"torus:{k}x{k}", "valiant")) for k in range(3, 7)),
        "radices",
        "Both have 1/2.",
    )
    yield from _asymmetric()
    yield from _symmetric()
    for routing in ("U2TURN", "U2TURN-A"):
        yield _deadlock(routing)


def _paths(k: int) -> Iterator[ComputedEntry]:
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
    yield agreeing(complete, pairs, "Turns into the opposite direction are not allowed.")
    yield agreeing(subset, pairs)
    yield ComputedEntry(Fraction(direct, mesh.nodes**2), against=Fraction(1, k))


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


def _asymmetric() -> Iterator[ComputedEntry]:
    """Compare the worst cases of section IV-B on every mesh kx > ky."""
    exchanged, above, variant, even = [], [], [], []
    for kx, ky in ASYMMETRIC:
        size = f"{kx}x{ky}"
        exchanged.append((f"{ky}x{kx}", worst_load(f"mesh:{ky}x{kx}", "xyx") == worst_load(f"mesh:{kx}x{ky}", "yxy")))
        *others, ours, u2turn_a = (worst(f"mesh:{size}", routing) for routing in ROUTINGS.values())
        above.append((size, min(ours, u2turn_a) > max(others)))
        variant.append((size, ours > u2turn_a))
        if kx % 2 == 0:
            even.append((size, ours == u2turn_a == Fraction(1, 2) >= max(others)))
    what = "meshes kx > ky up to 8x7"
    yield agreeing(exchanged, "meshes up to 7x8")
    yield _of_odd(above, what)
    yield _of_odd(variant, what)
    yield agreeing(even, what, "VAL and O1TURN have 1/2 there, too.")


def _of_odd(cases: list[tuple[str, bool]], what: str) -> ComputedEntry:
    """Count the meshes that agree; another reading is about those whose first side is odd."""
    odd = agreeing((case for case in cases if int(case[0][0]) % 2), f"{what}, odd radix")
    return replace(agreeing(cases, what), readings={"of odd radices": odd})


def _symmetric() -> Iterator[ComputedEntry]:
    """Compare the columns of Tables III and IV as section V does."""

    def cases(
        sizes: Iterable[str], rows: Iterable[str], fits: Callable[[Fraction, list[Fraction]], bool]
    ) -> list[tuple[str, bool]]:
        found = []
        for size, row in product(sizes, rows):
            *others, ours = (_throughput(size, row, name) for name in COLUMNS)
            found.append((f"{row} on {size}", fits(ours, others)))
        return found

    def above(ours: Fraction, others: list[Fraction]) -> bool:
        return ours > max(others)

    def between(ours: Fraction, others: list[Fraction]) -> bool:
        return others[0] < ours < min(others[1:])

    def best(ours: Fraction, others: list[Fraction]) -> bool:
        return ours == Fraction(1, 2) >= max(others)

    by_size = cases(sorted(SIZES), ["Worst-case"], above)
    yield _of_odd([(name.removeprefix("Worst-case on "), fits) for name, fits in by_size], "squares")
    yield agreeing(cases(ODD, ["Worst-case"], above), "cases")
    yield agreeing(cases(EVEN, ["Worst-case"], best), "cases")
    yield agreeing(cases(SIZES, ["Transpose", "DOR-WC"], above), "cases")
    yield agreeing(cases(SIZES, ["Nearest-Neighbor"], between), "cases")
    yield agreeing(cases(ODD, ["Complement"], between), "cases")
    *others, ours = (sum(_throughput(size, "Complement", name) for size in SIZES) / Fraction(6) for name in COLUMNS)
    mean = agreeing([("", between(ours, others))], "means")
    yield replace(
        agreeing(cases(EVEN, ["Complement"], between), "cases"), readings={"of the mean over all six sizes": mean}
    )
    dor = []
    for size in SIZES:
        random, worst_case = (
            [_throughput(size, row, name) for name in ("DOR", "U2TURN")] for row in ("Random", "Worst-case")
        )
        dor.append((size, random[0] > random[1] and worst_case[0] < worst_case[1]))
    prints = zip(averages("DOR"), averages("U2TURN"), strict=True)
    too = "So do the printed averages." if all(Fraction(one) < Fraction(two) for one, two in prints) else ""
    yield agreeing(dor, "sizes", too)


def _throughput(size: str, row: str, name: str) -> Fraction:
    return worst(f"mesh:{size}", ROUTINGS[name]) if row == "Worst-case" else under_patterns(size, name)[row]


def _deadlock(name: str) -> ComputedEntry:
    """Count the meshes without deadlock if a packet takes the next virtual channel at each turn from Y to X."""
    cases, without = [], 0
    for size in _DEADLOCK_MESHES:
        routing = obliv.routing(name.lower(), obliv.topology(f"mesh:{size}"))
        cases.append((size, obliv.deadlock(routing, "turn").acyclic))
        without += obliv.deadlock(routing).acyclic
    return agreeing(cases, "meshes", f"With one virtual channel {without} of them.")


def _from_print(over: str) -> ComputedEntry:
    """Return bounds on the mean of ratios, since every printed average is rounded."""
    pairs = list(zip(averages("U2TURN"), averages(over), strict=True))
    low = sum(_edge(a, -1) / _edge(b, 1) for a, b in pairs) / len(pairs) - 1
    high = sum(_edge(a, 1) / _edge(b, -1) for a, b in pairs) / len(pairs) - 1
    plain = fmean(float(a) / float(b) for a, b in pairs) - 1
    return ComputedEntry(
        Bounds(Fraction(low), Fraction(high)), f"The mean of the printed averages' ratios: {plain:.4f}."
    )


def _edge(text: str, side: int) -> Fraction:
    if text == "0.5":
        return Fraction(1, 2)  # VAL, exact
    return Fraction(text) + side * Fraction(1, 2 * 10 ** len(text.partition(".")[2]))
