"""What the text says of dependency graphs and of runs, measured on small instances; schedules seen step by step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

import obliv
from obliv._util.arrays import Array
from obliv.bufferless.frames import Constants, Rounds, draw_sets, group_frames, lg, simulate_rounds, waves
from obliv.bufferless.leveled.base import given
from obliv.papers.bufferless.probabilities import DRAWN
from obliv.papers.bufferless.theorems import chromatic_number, conflicts, dependency_graphs, instance, verified
from obliv.papers.paper import ComputedEntry, Step
from obliv.results import Instance, Moves

# Schedules seen step by step: conflicts, injection apart from delivery, and what packets can know of each other


def links(instance: Instance, moves: Moves) -> Array:
    """Return the directed link (2e up, 2e + 1 down) of every packet in every step, -1 outside the network.

    Row t is the step from time t to t + 1.
    """
    count = moves.more + 1 if len(moves.more) else np.ones(len(moves.time), np.int64)
    row = np.repeat(np.arange(len(count)), count)
    nth = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    packet = np.repeat(np.arange(instance.packets), np.diff(moves.start))
    step = moves.time[row] + nth - 1
    link = np.full((int(step.max(initial=-1)) + 1, instance.packets), -1, np.int64)
    down = ~moves.up[row] ^ (nth % 2 == 1)
    link[step, packet[row]] = 2 * moves.edge[row].astype(np.int64) + down
    return link


def nodes(instance: Instance, link: Array) -> Array:
    """Return the node where every packet begins every step, -1 outside the network."""
    low, high = instance.network.edge_ends
    tail = np.where(link % 2 == 1, high[link // 2], low[link // 2])
    return np.where(link < 0, -1, tail)


def injection(instance: Instance, moves: Moves) -> Array:
    """Return the time at which every packet is injected: that before its first step."""
    return np.asarray(moves.time[moves.start[:-1]] - 1, np.int64)


def off_path(instance: Instance, moves: Moves) -> int:
    """Return how many rows of moves are over edges that are not on the packet's preselected path."""
    edges = np.int64(instance.network.edges)
    path = np.repeat(np.arange(instance.packets), instance.length) * edges + instance.edge
    over = np.repeat(np.arange(instance.packets), np.diff(moves.start)) * edges + moves.edge
    return int((~np.isin(over, path)).sum())


def largest_conflict(instance: Instance, moves: Moves) -> int:
    """Return how many packets at one node want one link at the same time, at most.

    A packet wants the first link of its current path p(t), which a deflection makes longer by the link back.

    Examples
    --------
    >>> import obliv
    >>> both = obliv.bufferless.instance("array:4", [[0, 1, 2], [1, 2]])
    >>> largest_conflict(both, obliv.bufferless.schedule(both, "direct").moves)
    1
    """
    taken = links(instance, moves)
    wanted: Counter[tuple[int, int]] = Counter()
    for p, (a, b) in enumerate(pairwise(instance.start.tolist())):
        current = [2 * e for e in reversed(instance.edge[a:b].tolist())]
        for time in np.flatnonzero(taken[:, p] >= 0).tolist():
            wanted[time, current[-1]] += 1
            if taken[time, p] == current[-1]:
                current.pop()
            else:
                current.append(int(taken[time, p]) ^ 1)
    return max(wanted.values(), default=0)


def uninformed(one: Instance, first: Moves, other: Instance, second: Moves, changed: Array) -> tuple[int, float]:
    """Compare two runs that differ in the paths of some packets; count packets that move differently without a cause.

    A packet has a cause if its own path changed, or once it has been at a node, in either run, together with a packet
    that had one.
    """
    taken = [links(one, first), links(other, second)]
    steps = max(len(link) for link in taken)
    taken = [np.pad(link, ((0, steps - len(link)), (0, 0)), constant_values=-1) for link in taken]
    at = np.stack([nodes(instance, link) for instance, link in zip((one, other), taken, strict=True)], axis=1)
    cause = np.zeros(one.packets, bool)
    cause[changed] = True
    odd = np.zeros(one.packets, bool)
    free = 0
    for now in range(steps):
        while True:
            marked = np.zeros(one.network.nodes + 1, bool)  # the last one stands for packets outside the network
            for node in at[now]:
                marked[node[cause]] = True
            marked[-1] = False
            met = marked[at[now]].any(axis=0) & ~cause
            if not met.any():
                break
            cause |= met
        odd |= (taken[0][now] != taken[1][now]) & ~cause
        free += int((at[now, 0][~cause] >= 0).sum())
    return int(odd.sum()), free / max(1, int((at[:, 0] >= 0).sum()))


DEEP = "deep:L=2000,W=16,S=8,seed=0"
#: An instance on which packets are deflected, with small constants.
CROWDED = "random-leveled:L=60,W=16,d=2,seed=1"


def compute(step: Step) -> Iterator[ComputedEntry]:
    """Compute every entry."""
    yield _met()
    yield from _chromatic()
    yield _star()
    yield _strayed()
    yield _after_injection()
    yield _local()


def _met() -> ComputedEntry:
    most = Fraction(0), ""
    for name in DRAWN:
        one = instance(name)
        for lam in range(2, 26, 2):
            met = int(conflicts(one, lam, group_frames(one.dilation, lam)).met.max(initial=0))
            most = max(most, (Fraction(met, 2 * lam * one.congestion), f"{name}, λ = {lam}: {met} other packets."))
    return ComputedEntry(*most)


def _chromatic() -> Iterator[ComputedEntry]:
    """Compare exact chromatic numbers with d + 1, and the phases that they allow with those that are used."""
    most, excess, count = Fraction(0), 0, 0
    for name in DRAWN:
        one = instance(name)
        for lam in (4, 8, 24):
            for s in (1, 2, 3):
                sets = np.random.default_rng(0).integers(1, s + 1, one.packets)
                for graph in dependency_graphs(one, sets, lam):
                    colors, d = chromatic_number(graph), max(map(len, graph.values()), default=-1)
                    most = max(most, Fraction(colors, d + 1) if graph else most)
                    excess, count = max(excess, d + 1 - colors), count + 1
    yield ComputedEntry(
        most, f"{count} graphs of 1 to 3 sets, λ = 4, 8, 24, exactly; d + 1 is up to {excess} too many."
    )
    shares = []
    for name in DRAWN:
        one, schedule = instance(name), verified(name, "centralized")
        lam, tau = schedule.constants["lambda"], schedule.constants["tau"]
        colors = max(map(chromatic_number, dependency_graphs(one, schedule.plan.sets, lam)))
        shares.append((Fraction(2 * (lam + colors - 1), tau), f"{name}: largest χ_(i,j) = {colors}, τ = {tau}"))
    yield ComputedEntry(max(shares)[0], "; ".join(note for _, note in shares) + ".")


def star(packets: int, shared: int = 1) -> Instance:
    """Return an instance of packets that meet at one node and share all edges from there on: C = N."""
    hub = packets
    low = np.concatenate([np.arange(packets), hub + np.arange(shared)])
    high = np.concatenate([np.full(packets, hub), hub + 1 + np.arange(shared)])
    network = given("star", low, high, np.concatenate([np.zeros(packets, np.int64), 1 + np.arange(shared + 1)]))
    return obliv.bufferless.instance(network, [[p, *range(packets, packets + shared)] for p in range(packets)])


def _conflict(one: Any) -> int:
    schedule: Any = obliv.bufferless.schedule(one, "hot-potato")
    return largest_conflict(one, schedule.moves)


def _star() -> ComputedEntry:
    one = star(5)
    size = _conflict(one)
    others = []
    for name in DRAWN:
        packets = instance(name)
        others.append(f"{name}, C = {packets.congestion}: {_conflict(packets)}")
    return ComputedEntry(Fraction(size), f"Five sources, one node, one link. With random paths: {'; '.join(others)}.")


def _strayed() -> ComputedEntry:
    schedules: list[Any] = [verified(name, "centralized") for name in (*DRAWN, DEEP)]
    schedules.append(obliv.bufferless.schedule(instance(CROWDED), "centralized", lam=12, s=3))
    moves = sum(schedule.moves.steps for schedule in schedules)
    hits = sum(schedule.deflections for schedule in schedules)
    off = sum(off_path(schedule.instance, schedule.moves) for schedule in schedules)
    where = f"{', '.join((*DRAWN, DEEP))}, and with λ = 12 and s = 3 {CROWDED}"
    return ComputedEntry(Fraction(off), f"{moves} steps, {hits} of them deflections, on {where}.")


def _after_injection() -> ComputedEntry:
    """Compare the steps from injection to delivery with one phase for each frame of the path."""
    most = Fraction(0), ""
    for name in (*DRAWN, DEEP):
        schedule = verified(name, "centralized")
        one, lam, tau = schedule.instance, schedule.constants["lambda"], schedule.constants["tau"]
        steps = schedule.delivery - injection(one, schedule.moves)
        count = (one.level + one.length) // lam - one.level // lam + 1
        p = int((steps / count).argmax())
        share = Fraction(int(steps[p]), int(count[p]) * tau)
        most = max(most, (share, f"{name}: {steps[p]} steps for a path in {count[p]} frames, τ = {tau}."))
    return ComputedEntry(*most)


def _other_path(one: Instance, packet: int, rng: np.random.Generator) -> Instance:
    """Return the instance with a random other path for one packet; source, length, C and D stay the same."""
    paths = [one.edge[a:b].tolist() for a, b in pairwise(one.start.tolist())]
    low, high = one.network.edge_ends
    for _ in range(100):
        node, path = int(one.source[packet]), []
        for _ in paths[packet]:
            out = np.flatnonzero(low == node)
            if not len(out):
                break
            path.append(int(rng.choice(out)))
            node = int(high[path[-1]])
        if len(path) < len(paths[packet]) or path == paths[packet]:
            continue
        other = obliv.bufferless.instance(one.network, [*paths[:packet], path, *paths[packet + 1 :]])
        if (other.congestion, other.dilation) == (one.congestion, one.dilation):
            return other
    raise ArithmeticError(f"internal error: packet {packet} has no other path")


def _distributed(one: Instance, chi: int, s: int, seed: int, oracle: bool) -> Rounds:
    """Run the printed rules with smaller constants; they follow from C, D, N, chi and s alone."""
    lam, rng = 6 * chi, np.random.default_rng(seed)
    xi = 2 * lg(one)
    constants = Constants(lam, s, group_frames(one.dilation, lam), chi, xi, 2 * (lam + chi - 1))
    sets = draw_sets(one.packets, s, rng)
    return simulate_rounds(waves(one, constants, sets, seed, oracle, both_fail=True, cap=xi))


def perturbed(name: str, chi: int, s: int, packet: int, seed: int, oracle: bool = False) -> tuple[int, float]:
    """Return what :func:`uninformed` counts if one packet of an instance gets another path."""
    one = instance(name)
    other = _other_path(one, packet, np.random.default_rng(seed))
    first, second = (_distributed(drawn, chi, s, seed, oracle) for drawn in (one, other))
    return uninformed(one, first.moves, other, second.moves, np.array([packet]))


#: Instance, chi, s, the packet with another path, and the seed.
PERTURBED = (
    ("leveled-mesh:8x8", 2, 2, 45, 0),
    ("leveled-mesh:8x8", 2, 2, 25, 1),
    ("butterfly:5", 2, 1, 27, 0),
    ("butterfly:5", 2, 1, 26, 2),
)


def _local() -> ComputedEntry:
    runs = [perturbed(*case) for case in PERTURBED]
    shares = ", ".join(f"{share:.0%}" for _, share in runs)
    oracle = sum(perturbed(*case, oracle=True)[0] for case in PERTURBED)
    note = (
        f"One packet with another path, four pairs of runs with the same C, D, N and seed; {shares} of all steps are "
        f"without a cause. With the timetable oracle, which is not in the paper: {oracle} packets."
    )
    return ComputedEntry(Fraction(sum(count for count, _ in runs)), note)
