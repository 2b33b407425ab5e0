"""Both theorems: formulas, constants and bounds as printed; dependency graphs, instances, growth of times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import ceil, e
from typing import Any, NamedTuple

import numpy as np

import obliv
from obliv import Bounds, Estimate
from obliv._util.arrays import Array
from obliv.bufferless.frames import assign
from obliv.papers.paper import AtMost, ComputedEntry, Printed, Step, Value, print_of, require
from obliv.results import Instance

# The paper's constants from N, C and D, by its formulas.
#
# They share nothing with the constants of the algorithms, which they are compared with.


@dataclass(frozen=True)
class Size:
    """Packets N, congestion C and dilation D of an instance with seed 0."""

    packets: int
    congestion: int
    dilation: int

    @property
    def log(self) -> int:
        """log(DN), rounded up as the paper has it."""
        return max(1, (self.dilation * self.packets - 1).bit_length())


@dataclass(frozen=True)
class Formulas:
    """Constants as printed, with alpha = 3 (centralized) or 12 (distributed); sets are a whole number.

    Chi and tau of the centralized algorithm depend on the largest degree d of the dependency graphs: `degree`, by
    default 4 log(DN), the most that Lemma 2.2 allows.
    """

    size: Size
    alpha: int
    degree: int | None = None

    @property
    def frame(self) -> int:
        """Lambda."""
        return 4 * self.alpha * self.size.log

    @property
    def sets(self) -> int:
        """The number of sets, s."""
        return ceil(8 * self.alpha * e * self.size.congestion)

    @property
    def group(self) -> int:
        """Frames of a group, gamma'."""
        return 2 * ceil(self.size.dilation / self.frame)

    @property
    def phases(self) -> int:
        """Phases of a session, m."""
        return 2 * self.sets + self.group - 1

    @property
    def boats(self) -> int:
        """Chi: d + 1; 2 lambda / alpha in the distributed algorithm."""
        if self.alpha == 3:
            return (4 * self.size.log if self.degree is None else self.degree) + 1
        return 2 * self.frame // self.alpha

    @property
    def phase(self) -> int:
        """Steps of a phase, or of half a round: tau."""
        return 2 * (self.boats + self.frame - 1)

    @property
    def rounds(self) -> int:
        """Rounds of a sub-phase, xi."""
        return 2 * self.size.log

    @property
    def time(self) -> int:
        """The routing time at most: both sessions of m phases."""
        phase = self.phase if self.alpha == 3 else 3 * self.rounds * 2 * self.phase
        return 2 * self.phases * phase


#: Packets N, congestion C and dilation D of instances with seed 0.
SIZES = {
    "butterfly:2": Size(4, 1, 2),
    "butterfly:3": Size(8, 3, 3),
    "butterfly:4": Size(16, 2, 4),
    "butterfly:5": Size(32, 3, 5),
    "butterfly:6": Size(64, 3, 6),
    "butterfly:7": Size(128, 3, 7),
    "butterfly:8": Size(256, 4, 8),
    "butterfly:9": Size(512, 5, 9),
    "butterfly:10": Size(1024, 7, 10),
    "butterfly:11": Size(2048, 5, 11),
    "butterfly:12": Size(4096, 5, 12),
    "leveled-mesh:4x4": Size(13, 3, 4),
    "leveled-mesh:8x8": Size(54, 7, 11),
    "leveled-mesh:12x12": Size(139, 10, 17),
    "leveled-mesh:16x16": Size(242, 16, 27),
    "leveled-mesh:24x24": Size(559, 22, 33),
    "leveled-mesh:32x32": Size(1013, 28, 53),
    "deep:L=2000,W=16,S=8,seed=0": Size(128, 14, 2000),
}

#: The largest degree d of the dependency graphs with the partition of seed 0; chi = d + 1 (centralized).
DEGREES = dict(zip(SIZES, (0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 3, 0, 1, 0, 1, 1, 2, 1), strict=True))

BUTTERFLIES = tuple(name for name in SIZES if name.startswith("butterfly"))
MESHES = tuple(name for name in SIZES if name.startswith("leveled-mesh"))
ARRAYS = tuple(f"array:{2**k}" for k in range(9, 17))
FAMILIES = {"butterflies 2^2 to 2^12": BUTTERFLIES, "meshes 4x4 to 32x32": MESHES}
#: The depth L of the instances whose constants are compared.
_DEPTHS = {"butterfly:4": 4, "butterfly:8": 8, "leveled-mesh:16x16": 30, "deep:L=2000,W=16,S=8,seed=0": 2000}
CONSTANTS = tuple(_DEPTHS)


def _parameters() -> dict[str, Printed]:
    entries = {}
    for name in CONSTANTS:
        first, second = Formulas(SIZES[name], 3), Formulas(SIZES[name], 12)
        for algorithm, entry, text, value in (
            ("centralized", "λ", "4α log(DN)", first.frame),
            ("centralized", "s", "8αeC", first.sets),
            ("centralized", "γ", "⌈(L + 1)/λ⌉", ceil((_DEPTHS[name] + 1) / first.frame)),
            ("centralized", "γ'", "2⌈D/λ⌉", first.group),
            ("distributed", "λ", "4α log(DN)", second.frame),
            ("distributed", "s", "8αeC", second.sets),
            ("distributed", "χ", "2λ/α", second.boats),
            ("distributed", "ξ", "with probability 2^(-2 log(DN)) = 1/(DN)²", second.rounds),
            ("distributed", "τ", "2(λ + χ - 1)", second.phase),
        ):
            shown = text if entry == "ξ" else f"{text} = {value}"
            entries[f"{name}, {algorithm}, {entry}"] = Printed(shown, Fraction(value))
            if entry == "γ'":
                entries[f"{name}, {algorithm}, τ over 2(λ + d)"] = Printed("χ = d + 1; τ = 2(χ + λ - 1)", _ONE)
    return entries


def _theorem(alpha: int, text: str) -> dict[str, Printed]:
    """Return the bounds on routing times: all phases of both sessions, tau with the d of the partition drawn."""
    entries = {}
    for name in (*BUTTERFLIES, *MESHES, CONSTANTS[-1]):
        d = DEGREES[name] if alpha == 3 else None
        formulas = Formulas(SIZES[name], alpha, d)
        most, which = formulas.time, "" if d is None else f", d = {d}, τ = {formulas.phase}"
        entries[name] = Printed(f"at most {text} = {most}{which}", AtMost(Fraction(most)))
    for family in FAMILIES:
        entries[f"{family}, 10 seeds each, largest share of the bound"] = Printed(f"at most {text}", AtMost(_ONE))
    return entries


def _growth() -> dict[str, Printed]:
    """Return the terms of the theorems; their constants in 2mτ and 2m·3ξ·2τ are not printed."""
    entries = {}
    for number, log, dilation, per_c, per_d in (
        ("3.1", "log(DN)", "D", (1152, 1536), 2),
        ("4.1", "log²(DN)", "D log(DN)", (258_048, 258_048), 28),
    ):
        text = f"O(C {log} + {dilation})"
        constant = "The theorem prints no constant. By the formulas of its proof it is"
        least, most = (Fraction(part * e) for part in per_c)
        band = Bounds(least * Fraction(99, 100), most * Fraction(105, 100))
        for family in FAMILIES:
            between = f"{per_c[0]}e" if per_c[0] == per_c[1] else f"{per_c[0]}e to {per_c[1]}e, as d is 0 to 4 log(DN),"
            entries[f"Theorem {number}, {family}, steps for each C {log}"] = Printed(
                text, beyond=f"{constant} {between} in one session, and somewhat more with few sets.", right=band
            )
        entries[f"Theorem {number}, one packet all along arrays of 2^9 to 2^16, steps for each {dilation}"] = Printed(
            text, beyond=f"{constant} {per_d}, in phases of full frames.", right=Fraction(per_d)
        )
    return entries


_ONE = Fraction(1)
PRINT = print_of("bufferless")
PARAMETERS = _parameters()
CENTRALIZED = _theorem(3, "2mτ")
DISTRIBUTED = _theorem(12, "2m · 3ξ · 2τ")
GROWTH = _growth()


# The dependency graphs G_(i,j) by the definition of section 2: packets that share an edge of two frames, if in one set


@dataclass(frozen=True, eq=False)
class Conflicts:
    """Pairs of packets whose paths share an edge in frames F_j and F_{j+1}, every pair once for each such j.

    ``node`` numbers a packet and its j; column i of ``node`` and ``packet`` is a pair.
    """

    packet: Array
    node: Array

    @property
    def met(self) -> Array:
        """Number of other packets that each packet with its j can meet, in any sets."""
        return np.bincount(self.node.reshape(-1))

    def degrees(self, sets: Array) -> Array:
        """Return for every partition, a row of sets from 1, the largest degree d of all graphs."""
        first, second = self.packet
        most = np.zeros(len(sets), np.int64)
        for at, row in enumerate(sets):
            same = row[first] == row[second]
            if same.any():
                most[at] = np.bincount(self.node[:, same].reshape(-1)).max()
        return most


def conflicts(instance: Instance, lam: int, gamma: int) -> Conflicts:
    """Return all pairs that can conflict; packets of different groups or sessions cannot."""
    edge = instance.edge
    packet = np.repeat(np.arange(instance.packets), instance.length)
    level = np.asarray(instance.network.edge_level(edge), np.int64)
    order = np.argsort(edge, kind="stable")
    first, second = _pairs(edge[order])
    first, second = order[first], order[second]
    places = assign(instance.level, instance.length, lam, gamma)
    group = places.first * 2 + places.session
    met = group[packet[first]] == group[packet[second]]
    first, second = first[met], second[met]
    frame = level[first] // lam
    # an edge out of frame f lies in F_f and F_{f+1} only, the others also in F_{f-1} and F_f
    lower = (level[first] % lam != lam - 1) & (frame > 0)
    j = np.concatenate([frame, frame[lower] - 1])
    pair = np.stack([np.concatenate([packet[row], packet[row[lower]]]) for row in (first, second)])
    rows = np.unique(np.stack([j, *pair], axis=1), axis=0) if len(j) else np.zeros((0, 3), np.int64)
    pair = rows[:, 1:].T
    return Conflicts(pair, rows[:, 0] * instance.packets + pair)


def _pairs(ordered: Array) -> tuple[Array, Array]:
    """Return the positions of all pairs of equal numbers in a sorted list."""
    parts = []
    step = 1
    while True:
        same = np.flatnonzero(ordered[step:] == ordered[:-step])
        if not len(same):
            break
        parts.append(np.stack([same, same + step]))
        step += 1
    pairs = np.concatenate(parts, axis=1) if parts else np.zeros((2, 0), np.int64)
    return pairs[0], pairs[1]


#: A graph: the neighbors of each node.
Neighbors = Mapping[int, frozenset[int]]


def frames(instance: Instance, lam: int) -> int:
    """Return the number of frames that hold a level of the network, gamma."""
    return len(np.unique(np.asarray(instance.network.node_level) // lam))


def dependency_graphs(instance: Instance, sets: Array, lam: int) -> Iterator[Neighbors]:
    """Yield every graph G_(i,j), for i from 1 to the largest set and j from 1 to gamma.

    The nodes are all packets of the set, so that |V_(i,j)| = |Pi_i|; two are neighbors if they share an edge whose two
    nodes are in F_j and F_(j+1).

    Examples
    --------
    >>> import numpy as np, obliv
    >>> array = obliv.bufferless.instance("array:12", [range(3), range(2, 5), [9]])
    >>> [len(graph) for graph in dependency_graphs(array, np.array([1, 1, 1]), 4)]
    [3, 3, 3]
    >>> dict(next(dependency_graphs(array, np.array([1, 1, 1]), 4)))
    {0: frozenset({1}), 1: frozenset({0}), 2: frozenset()}
    """
    level = instance.network.edge_level(instance.edge)
    for i in range(1, int(sets.max(initial=0)) + 1):
        members = [p for p in range(instance.packets) if sets[p] == i]
        for j in range(frames(instance, lam)):
            within = (level >= j * lam) & (level + 1 < (j + 2) * lam)
            part = {
                p: {int(e) for e in instance.edge[a:b][within[a:b]]}
                for p, (a, b) in enumerate(pairwise(instance.start.tolist()))
                if sets[p] == i
            }
            yield {p: frozenset(q for q in members if q != p and part[p] & part[q]) for p in members}


def chromatic_number(graph: Neighbors) -> int:
    """Return the fewest colors with which neighbors differ, by branch and bound; for small graphs.

    Examples
    --------
    >>> ring = {p: frozenset({(p - 1) % 5, (p + 1) % 5}) for p in range(5)}
    >>> chromatic_number(ring)
    3
    """
    best = max((len(graph[p]) for p in graph), default=-1) + 1
    least = min(len(graph), 1)
    for p in graph:  # a clique for each node, chosen greedily
        clique = {p}
        for q in sorted(graph[p], key=lambda q: -len(graph[q])):
            if clique <= graph[q]:
                clique.add(q)
        least = max(least, len(clique))
    while best > least and _colorable(graph, best - 1, {}):
        best -= 1
    return best


def _colorable(graph: Neighbors, colors: int, chosen: dict[int, int]) -> bool:
    """Return whether a partial coloring can be completed; the node with the fewest colors left is next."""
    if len(chosen) == len(graph):
        return True
    around = {p: {chosen[q] for q in graph[p] if q in chosen} for p in graph if p not in chosen}
    node = max(around, key=lambda p: (len(around[p]), len(graph[p])))
    used = max(chosen.values(), default=0)
    for color in range(1, min(used + 1, colors) + 1):
        if color not in around[node] and _colorable(graph, colors, {**chosen, node: color}):
            return True
    return False


# The instances that the paper's algorithms are run on, with the paper's constants


class Routed(NamedTuple):
    """An instance's size, its routing time, and its chi; that of the centralized algorithm is d + 1."""

    size: Size
    time: int
    boats: int


@lru_cache(maxsize=200)
def instance(spec: str, seed: int = 0) -> Any:
    """Return an instance with random paths, or with one packet along a line."""
    if spec.startswith("array:"):
        return obliv.bufferless.instance(spec, [range(int(spec[6:]) - 1)])
    return obliv.bufferless.instance(spec, "random", rng=seed)


@lru_cache(maxsize=20)
def verified(spec: str, algorithm: str) -> Any:
    """Return a schedule of the printed algorithm, with every move checked."""
    return obliv.bufferless.schedule(instance(spec), algorithm, rng=0)


@lru_cache(maxsize=2000)
def times(spec: str, algorithm: str, seed: int) -> Routed:
    """Return the routing time of an instance by the printed algorithm."""
    packets = instance(spec, seed)
    options = {} if algorithm == "centralized" else {"steps": "boats"}
    run = obliv.bufferless.ALGORITHMS[algorithm].run(packets, np.random.default_rng(seed), options)
    size = Size(packets.packets, packets.congestion, packets.dilation)
    return Routed(size, int(run.delivery.max()), int(run.constants["chi"]))


# The constants, and the two theorems' bounds against the routing times that are measured


SEEDS = 10


def parameters(step: Step) -> Iterator[Value]:
    """Compute the constants that the algorithms use."""
    for name in CONSTANTS:
        _require_size(name)
        first = verified(name, "centralized")
        used = first.constants | {"gamma": first.plan.gamma}
        d = int(conflicts(instance(name), used["lambda"], used["gamma"]).degrees(first.plan.sets[None])[0])
        used["frames"] = frames(instance(name), used["lambda"])
        yield from (used[key] for key in ("lambda", "s", "frames", "gamma"))
        tau = Fraction(used["tau"], 2 * (used["lambda"] + d))
        yield ComputedEntry(tau, f"d = {d}, χ = {used['chi']}, τ = {used['tau']}.")
        run = obliv.bufferless.ALGORITHMS["distributed"].run(
            instance(name), np.random.default_rng(0), {"steps": "boats"}
        )
        for key in ("lambda", "s", "chi", "xi", "tau"):
            note = "2 log(DN) for the printed 2 log(LN), one letter, see errata." if key == "xi" else ""
            yield ComputedEntry(Fraction(run.constants[key]), note)


def theorem(algorithm: str, alpha: int, step: Step) -> Iterator[Value]:
    """Compute the routing times of a theorem, every move of the single instances checked, over many seeds none."""
    names = [name for family in FAMILIES.values() for name in family] + [CONSTANTS[-1]]
    for at, name in enumerate(names):
        _require_size(name)
        # the deep one takes ten million rows of moves
        checked = alpha == 3 or name != CONSTANTS[-1]
        time = verified(name, algorithm).makespan if checked else times(name, algorithm, 0).time
        note = "" if checked else "Boat by boat, without moves."
        if alpha == 3:
            tau = verified(name, algorithm).constants["tau"]
            require(tau == Formulas(SIZES[name], alpha, DEGREES[name]).phase, f"{name} has d = {DEGREES[name]}")
        yield ComputedEntry(Fraction(time), note)
        step(0.5 * (at + 1) / len(names))
    for at, specs in enumerate(FAMILIES.values()):
        runs = [(spec, seed, *times(spec, algorithm, seed)) for spec in specs for seed in range(SEEDS)]
        shares = [Fraction(time, Formulas(size, alpha, boats - 1).time) for _, _, size, time, boats in runs]
        best = max(range(len(runs)), key=shares.__getitem__)
        spec, seed, size, time, _ = runs[best]
        note = f"{spec} with seed {seed}: C = {size.congestion}, {time} steps; the least share is "
        yield ComputedEntry(shares[best], f"{note}{float(min(shares)):.3f}.")
        step(0.5 + 0.5 * (at + 1) / len(FAMILIES))


def _require_size(name: str) -> None:
    one = instance(name)
    require(Size(one.packets, one.congestion, one.dilation) == SIZES[name], f"{name} has the size {SIZES[name]}")


# How routing times grow: least squares against the terms of the theorems


ARRAY_SEEDS = 40
_FEW_LEVELS = "Fitted together with a term for D, of which butterflies and meshes of this size say nothing."


def compute(step: Step) -> Iterator[Value]:
    """Fit the coefficient of C log(DN) on butterflies and meshes, and that of D on arrays, with standard errors."""
    for algorithm in ("centralized", "distributed"):
        yield from (ComputedEntry(fit(specs, algorithm, SEEDS)[0], _FEW_LEVELS) for specs in FAMILIES.values())
        yield fit(ARRAYS, algorithm, ARRAY_SEEDS)[1]


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
