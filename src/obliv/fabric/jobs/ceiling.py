"""Upper bounds of the loads of a job's phases, for all hosts on which its ranks could be.

At most D messages leave or reach a rank in a phase, so its messages are D permutations, each of which loads a cable no
more than the worst traffic does.  Where no cable is on a host's routes both away and back, the ranks whose messages
cross a cable either all send over it or all take: in a phase in which ranks send and take one message at most, no two
of these messages share a rank.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from obliv._util.progress import Progress, rising
from obliv._util.typing import Array
from obliv.fabric.jobs.collectives import Phase
from obliv.fabric.jobs.loads import JobLoads
from obliv.fabric.kernels.loads import carry
from obliv.fabric.routes.routing import FabricRouting
from obliv.kernels import run

__all__ = ["ceilings", "phase_matching", "ways_are_apart"]


def ceilings(loads: JobLoads, worst: Fraction | None, apart: bool) -> list[Fraction]:
    """Return for each phase a load that no choice of hosts exceeds.

    Parameters
    ----------
    loads : JobLoads
        Of a single job, with one rank a host.
    worst : Fraction or None
        The worst load of the fabric, if each host sends and takes one unit.
    apart : bool
        Whether no cable is on routes from a host and on routes to the same host.
    """
    pattern = loads.jobs[0][1]
    single = int(loads.factor.max(initial=0)) * loads.scale * loads.unit  # what one message adds to a load
    bounds = []
    for phase in pattern.phases:
        source, destination, amount = _between(phase)
        sent = np.bincount(source, amount, pattern.ranks), np.bincount(destination, amount, pattern.ranks)
        degree = Fraction(int(max(sent[0].max(initial=0), sent[1].max(initial=0))), phase.unit)
        matched = _one_each(source, destination) and apart
        count = len(phase_matching(phase)) if matched else Fraction(int(amount.sum()), phase.unit)
        bounds.append(min([count * single] + ([] if worst is None else [degree * worst])))
    return bounds


def ways_are_apart(routing: FabricRouting, progress: Progress | None = None) -> bool:
    """Return whether no channel is on a route from a host and also on a route to this host."""
    routes = routing.routes.arrays
    terminals = np.arange(len(routing.topology.terminals))
    report = rising(progress)
    one = np.ones(len(terminals), np.int64)
    work = 30.0 * len(terminals) * routing.routes.denominator
    for host in terminals.tolist():
        away, back = np.zeros((2, routing.topology.channels), np.int64)
        here = np.full(len(terminals), host)
        run(carry, work, here, terminals, one, routes, away)
        run(carry, work, terminals, here, one, routes, back)
        if (np.minimum(away, back) > 0).any():
            return False
        report("ways of hosts", (host + 1) / len(terminals))
    return True


def phase_matching(phase: Phase) -> list[tuple[int, int]]:
    """Return messages of a phase of which no two share a rank; as many as possible if ranks send and take one at most.

    Examples
    --------
    >>> from obliv.fabric.jobs.collectives import ring
    >>> phase_matching(ring(5)[0])
    [(0, 1), (2, 3)]
    """
    source, destination, _ = _between(phase)
    follows: dict[int, list[int]] = {}
    for s, d in zip(source.tolist(), destination.tolist(), strict=True):
        follows.setdefault(s, []).append(d)
    reached = set(destination.tolist())
    used: set[int] = set()
    chosen = []
    for first in sorted(follows, key=lambda rank: (rank in reached, rank)):  # ways begin where they begin, then circles
        rank: int | None = first
        while rank is not None:  # along the messages: the first, the third ...
            follower = None
            for d in follows.get(rank, []):
                if rank not in used and d not in used:
                    chosen.append((rank, d))
                    used.update((rank, d))
                    follower = next(iter(follows.get(d, [])), None)
                    break
            rank = follower
    return chosen


def _between(phase: Phase) -> tuple[Array, Array, Array]:
    """Return the messages of a phase without those of ranks to themselves."""
    source, destination, amount = phase.messages()
    kept = np.flatnonzero(source != destination)
    return source[kept], destination[kept], amount[kept]


def _one_each(source: Array, destination: Array) -> bool:
    """Return whether no rank sends or takes two messages."""
    return len(np.unique(source)) == len(source) and len(np.unique(destination)) == len(destination)
