"""Success probabilities over many seeds, against what the lemmas and theorems promise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from obliv import Estimate
from obliv._util.arrays import Array
from obliv.bufferless.frames import (
    Constants,
    CrowdedError,
    PlanningError,
    PlanOptions,
    delivery_times,
    plan,
    ride,
    waves,
)
from obliv.papers.bufferless.theorems import SIZES, Conflicts, Formulas, Size, conflicts, instance
from obliv.papers.paper import AtLeast, AtMost, ComputedEntry, Printed, Step, require

# What the paper prints of probabilities


#: Instances whose partitions and colors are drawn many times.
DRAWN = ("butterfly:4", "butterfly:6", "leveled-mesh:8x8")
#: Instances on which Lemma 2.2 can fail: with all packets in one set, d exceeds 4 log(DN).
CROWDED = ("leveled-mesh:16x16", "leveled-mesh:32x32")
#: An instance all of whose packets begin at level 0, so that they are in one sub-phase.
ONE_SET = "butterfly:8"


def _probabilities() -> dict[str, Printed]:
    entries = {}
    for entry, text, share in (
        ("Lemma 2.2, d ≤ 4 log(DN)", "1 - 1/DN", 1),
        ("Theorem 3.1, planned, and there in 2mτ", "1 - 1/DN", 1),
        ("Theorem 4.1, χ ≥ 2d, no packet needs more than ξ rounds", "1 - 2/DN", 2),
    ):
        for name in CROWDED:
            size = SIZES[name]
            least = 1 - Fraction(share, size.dilation * size.packets)
            entries[f"{entry}: {name}"] = Printed(f"at least {text} = {float(least):.4f}", AtLeast(least))
    for name in DRAWN:
        size, formulas = SIZES[name], Formulas(SIZES[name], 12)
        packet = Fraction(size.dilation, formulas.frame * (size.dilation * size.packets) ** 2)
        for entry, text, most in (
            ("a packet is unsuccessful", "D/λ(DN)²", packet),
            ("the algorithm is unsuccessful", "DN/λ(DN)²", packet * size.packets),
        ):
            entries[f"Section 4.3, {entry}: {name}"] = Printed(f"at most {text} = {float(most):.2g}", AtMost(most))
    for name in DRAWN[1:]:
        entries[f"Lemma 2.1, fewer sets, the busiest packet meets more than 2: {name}"] = Printed(
            "less than 2^-δμ = 1/4", AtMost(Fraction(1, 4))
        )
    entries["Section 4.3, a packet with d neighbors finds a valid one of 2d colors: leveled-mesh:8x8"] = Printed(
        "at least 1/2", AtLeast(Fraction(1, 2))
    )
    for rounds in (1, 2, 3):
        entry = f"Section 4.3, one set, χ = 2d: share of packets with an invalid color in round {rounds}: {ONE_SET}"
        entries[entry] = Printed(
            f"Then, in a round, a packet picks a valid color with probability at least 1/2: at most 2^-{rounds}",
            AtMost(Fraction(1, 2**rounds)),
        )
    for rounds in (1, 2, 3):
        entry = f"Section 4.1, one set, χ = 2d: share of packets that collide in round {rounds}: {ONE_SET}"
        entries[entry] = Printed(
            f"A''_{rounds}, a part of A'_{rounds}",
            beyond="The paper prints no number of the packets that collide. They are fewer than those with an invalid "
            "color: a packet whose only rivals have been deflected before meets none of them.",
            right=AtMost(Fraction(1, 2**rounds)),
        )
    entries["Section 4.3, one of 54 packets needs more than 8 rounds with χ = 2d: leveled-mesh:8x8"] = Printed(
        "Then, in a round, a packet picks a valid color with probability at least 1/2.",
        beyond="The paper prints no number for this. By the union bound it is at most 54 · 2^-8 = 0.211.",
        right=AtMost(Fraction(54, 256)),
    )
    return entries


PROBABILITIES = _probabilities()

PARTITIONS = 6000
PLANS = 400
RIDES = 2500
RUNS = 200
CROWDED_RUNS = 100  # runs whose packets collide: their mean needs several, however few of the others are drawn
CROWD = "leveled-mesh:8x8"


def share(hits: int, samples: int) -> Estimate:
    """Return a share of samples; its standard error counts one more hit and one more miss, so that it is never 0."""
    likely = (hits + 1) / (samples + 2)
    return Estimate(hits / samples, float((likely * (1 - likely) / samples) ** 0.5), samples)


def compute(step: Step) -> Iterator[ComputedEntry]:
    """Estimate every probability, with fixed seeds."""
    for part in (_degrees, _plans, _rides):
        for name in CROWDED:
            yield part(name, Formulas(SIZES[name], 12 if part is _rides else 3))
    for name in DRAWN:
        yield from _unsuccessful(name)
    for name in DRAWN[1:]:  # on the first a packet meets two others only
        yield _fewer_sets(name, Formulas(SIZES[name], 3))
    yield _valid()
    yield from _after_rounds()
    yield _rounds()


@lru_cache(maxsize=10)
def _graph(name: str, lam: int, gamma: int) -> Conflicts:
    return conflicts(instance(name), lam, gamma)


def _sets(size: Size, s: int, samples: int) -> Any:
    return np.random.default_rng(1).integers(1, s + 1, (samples, size.packets))


def _all_in_one_set(graph: Conflicts, most: int) -> str:
    """Say that a partition can violate the event, by the one of a single set."""
    d = int(graph.met.max())
    require(d > most, f"d can exceed {most}")
    return f"All packets in one set would have d = {d} > {most}."


def _degrees(name: str, formulas: Formulas) -> ComputedEntry:
    size = formulas.size
    graph = _graph(name, formulas.frame, formulas.group)
    d = graph.degrees(_sets(size, formulas.sets, PARTITIONS))
    note = f"The largest d is {d.max()}. {_all_in_one_set(graph, 4 * size.log)}"
    return ComputedEntry(share(int((d <= 4 * size.log).sum()), PARTITIONS), note)


def _plans(name: str, formulas: Formulas) -> ComputedEntry:
    one, worst, good = instance(name), 0, 0
    for sets in _sets(formulas.size, formulas.sets, PLANS):
        try:
            boats = plan(one, sets, formulas.sets, formulas.frame, PlanOptions(segments="paper", printed=True))
        except PlanningError:
            continue
        time = int(delivery_times(one, boats).max())
        good += time <= formulas.time
        worst = max(worst, time)
    least = _all_in_one_set(_graph(name, formulas.frame, formulas.group), 4 * formulas.size.log)
    note = f"The longest took {worst} steps, of 2mτ = {formulas.time} with d = 4 log(DN). {least}"
    return ComputedEntry(share(good, PLANS), note)


@dataclass(frozen=True)
class _Runs:
    """Runs of the distributed algorithm: rounds at most, packets without a color at the end, d; each of every run."""

    rounds: Array
    failed: Array
    degree: Array


@lru_cache(maxsize=10)
def _runs(name: str, count: int) -> _Runs:
    one, formulas = instance(name), Formulas(SIZES[name], 12)
    constants = Constants(
        formulas.frame, formulas.sets, formulas.group, formulas.boats, formulas.rounds, formulas.phase
    )
    sets = _sets(formulas.size, formulas.sets, count)
    rounds, failed = np.zeros((2, count), np.int64)
    for seed, row in enumerate(sets):
        try:
            rounds[seed] = ride(waves(one, constants, row, seed, both_fail=True, cap=formulas.rounds)).rounds.max()
        except CrowdedError as error:
            failed[seed] = error.failed
    return _Runs(rounds, failed, _graph(name, formulas.frame, formulas.group).degrees(sets))


def _rides(name: str, formulas: Formulas) -> ComputedEntry:
    runs = _runs(name, RUNS)
    good = int(((runs.failed == 0) & (formulas.boats >= 2 * runs.degree)).sum())
    least = _all_in_one_set(_graph(name, formulas.frame, formulas.group), formulas.boats // 2)
    return ComputedEntry(share(good, RUNS), f"Most rounds: {runs.rounds.max()}, of {formulas.rounds}. {least}")


def _unsuccessful(name: str) -> Iterator[ComputedEntry]:
    """Count the packets, and the runs, that fail."""
    runs, packets = _runs(name, RIDES), SIZES[name].packets
    note = "Samples can contradict the bound, but not show that it holds."
    yield ComputedEntry(share(int(runs.failed.sum()), RIDES * packets), f"{RIDES} runs of {packets} packets. {note}")
    yield ComputedEntry(share(int((runs.failed > 0).sum()), RIDES), note)


def _after_rounds() -> Iterator[ComputedEntry]:
    """Compute the packets of one sub-phase with an invalid color in each round by section 4.1; and count collisions."""
    graph, d = _crowd(ONE_SET)
    degree = np.bincount(graph.packet.reshape(-1), minlength=instance(ONE_SET).packets)
    exact = sum((1 - Fraction(2 * d - 1, 2 * d) ** int(count) for count in degree), Fraction(0)) / len(degree)
    shares = np.array([colored(instance(ONE_SET), graph, 2 * d, 3, seed) for seed in range(RIDES // 5)])
    means = [Estimate(float(x.mean()), float(x.std(ddof=1) / len(x) ** 0.5), len(x)) for x in shares.T]
    note = f"d = {d}, χ = {2 * d}; a packet that has not collided keeps its color, whether valid or not."
    yield ComputedEntry(exact, f"Exactly: 1 - (1 - 1/χ)^(its neighbors), averaged over packets; {means[0]} over draws.")
    yield from (ComputedEntry(value, f"{note} Every packet returns after a round, as printed.") for value in means[1:])
    yield from _collided(d)


def colored(one: Any, graph: Conflicts, chi: int, rounds: int, seed: int) -> list[float]:
    """Return the share of packets whose color is chosen in each round and invalid, by the letter of section 4.1.

    All packets begin in one frame, in one set, and ride again in every round; those that have reached their targets
    have priority 3, those that chose a color have 2 until they collide.
    """
    rng = np.random.default_rng(seed)
    color, settled = np.zeros(one.packets, np.int64), np.zeros(one.packets, bool)
    first, second = graph.packet
    level = one.network.edge_level(one.edge)
    owner = np.repeat(np.arange(one.packets), one.length)
    steps = [(owner[level == at], one.edge[level == at]) for at in np.unique(level)]
    shares = []
    for _ in range(rounds):
        chosen = ~settled
        color[chosen] = rng.integers(chi, size=int(chosen.sum()))
        invalid = np.zeros(one.packets, bool)
        same = color[first] == color[second]
        invalid[first[same]] = invalid[second[same]] = True
        shares.append(float((invalid & chosen).mean()))
        rides = np.ones(one.packets, bool)
        for packet, edge in steps:
            there, over = packet[rides[packet]], edge[rides[packet]]
            _, at, count = np.unique(over * chi + color[there], return_inverse=True, return_counts=True)
            rides[there[(count[at] > 1) & ~settled[there]]] = False
        settled = rides
    return shares


def _collided(d: int) -> Iterator[ComputedEntry]:
    """Count the packets of one sub-phase that collide in each round of the algorithm, where those arrived are gone."""
    one = instance(ONE_SET)
    single = np.ones(one.packets, np.int64)
    for rounds in (1, 2, 3):
        constants = Constants(12 * d, 1, 2, 2 * d, rounds, 2 * (12 * d + 2 * d - 1))
        failed = np.zeros(CROWDED_RUNS)
        for seed in range(len(failed)):
            try:
                ride(waves(one, constants, single, seed, both_fail=True, cap=rounds))
            except CrowdedError as error:
                failed[seed] = error.failed / one.packets
        value = Estimate(float(failed.mean()), float(failed.std(ddof=1) / len(failed) ** 0.5), len(failed))
        yield ComputedEntry(
            value, f"{one.packets} packets, d = {d}, λ = {12 * d}; the error is that of the mean over runs."
        )


def _fewer_sets(name: str, formulas: Formulas) -> ComputedEntry:
    """Estimate the tail of the degree of one packet, with so few sets that a third of a collision is expected."""
    graph = _graph(name, formulas.frame, formulas.group)
    busiest = int(graph.met.argmax())
    among = int(graph.met[busiest])
    drawn = np.random.default_rng(2).integers(0, 3 * among, (PARTITIONS, among))
    hits = int(((drawn == 0).sum(axis=1) > 2).sum())
    note = f"It can meet {among} packets, 1/3 on average with {3 * among} sets; δμ = 2 is more than 2eμ = 1.81."
    return ComputedEntry(share(hits, PARTITIONS), note)


def _crowd(name: str = CROWD) -> tuple[Conflicts, int]:
    """Return the conflicts of all packets in one set, within one frame, and the largest degree d."""
    one = instance(name)
    graph = conflicts(one, 2 * one.network.depth + 2, 2)
    return graph, int(graph.met.max())


def _valid() -> ComputedEntry:
    """Compute exactly: each of the d others draws one color."""
    graph, d = _crowd()
    busiest = f"packet {int(graph.met.argmax())} meets d = {d} others"
    note = f"All packets in one set: {busiest}; (1 - 1/2d)^d, if none is settled."
    return ComputedEntry(Fraction(2 * d - 1, 2 * d) ** d, note)


def _rounds() -> ComputedEntry:
    one, (_, d) = instance(CROWD), _crowd()
    lam = 12 * d
    constants = Constants(lam, 1, 2, 2 * d, 60, 2 * (lam + 2 * d - 1))
    single = np.ones(one.packets, np.int64)
    rounds = [int(ride(waves(one, constants, single, seed, both_fail=True)).rounds.max()) for seed in range(RIDES)]
    note = f"All packets in one set, χ = {2 * d}: {np.mean(rounds):.2f} rounds on average, at most {max(rounds)}."
    return ComputedEntry(share(int((np.array(rounds) > 8).sum()), RIDES), note)
