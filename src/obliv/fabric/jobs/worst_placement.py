"""The worst hosts for a job: where its ranks would load a cable most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import islice, permutations
from math import perm

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order

from obliv._util.arrays import Array
from obliv._util.progress import Progress, rising, within
from obliv._util.rationals import integer
from obliv._util.text import plural
from obliv.errors import InputError
from obliv.fabric.analyses.permutations import require_complete
from obliv.fabric.analyses.worst import worst
from obliv.fabric.jobs.collectives import JobLoads, MessagePhase, Pattern
from obliv.fabric.jobs.job import job, prepared
from obliv.fabric.jobs.placement import Placement, placement
from obliv.fabric.kernels.automaton import carry
from obliv.fabric.model import typed
from obliv.fabric.results.job import FabricJob, JobPlacement
from obliv.fabric.results.worst import FabricWorst
from obliv.fabric.routes.routing import FabricRouting
from obliv.kernels import run

# Upper bounds of the loads of a job's phases, for all hosts on which its ranks could be.
#
# At most D messages leave or reach a rank in a phase, so its messages are D permutations, each of which loads a cable
# no more than the worst traffic does. Where no cable is on a host's routes both away and back, the ranks whose messages
# cross a cable either all send over it or all take: in a phase in which ranks send and take one message at most, no two
# of these messages share a rank.


def ceilings(loads: JobLoads, worst: Fraction | None, apart: bool) -> list[Fraction]:
    """Return for each phase a load that no choice of hosts exceeds."""
    pattern = loads.jobs[0][1]
    single = int(loads.factor.max(initial=0)) * loads.scale * loads.unit  # what one message adds to a load
    bounds = []
    for phase in pattern.phases:
        source, destination, amount = _between(phase)
        sent = np.bincount(source, amount, pattern.ranks), np.bincount(destination, amount, pattern.ranks)
        degree = Fraction(int(max(sent[0].max(initial=0), sent[1].max(initial=0))), phase.unit)
        once = all(len(np.unique(ranks)) == len(ranks) for ranks in (source, destination))  # no rank has two messages
        count = len(phase_matching(phase)) if once and apart else Fraction(int(amount.sum()), phase.unit)
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


def phase_matching(phase: MessagePhase) -> list[tuple[int, int]]:
    """Return messages of which no two share a rank; all where ranks send and take one at most."""
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


def _between(phase: MessagePhase) -> tuple[Array, Array, Array]:
    """Return the messages of a phase without those of ranks to themselves."""
    source, destination, amount = phase.messages()
    kept = np.flatnonzero(source != destination)
    return source[kept], destination[kept], amount[kept]


_ALL = 20_000  # placements that are all tried
_CELLS = 1 << 24  # loads of pairs that are kept to try them
_BATCH = 256  # placements at once
_PHASES = 8  # phases whose messages are put on the worst cable


@typed
def worst_placement(
    routing: FabricRouting, ranks: int, pattern: str, *, hottest: int = 10, progress: Progress | None = None
) -> FabricJob:
    """Return a job on those hosts, one rank each, where it loads a cable most.

    All placements are tried if there are at most 20,000. Otherwise ranks that exchange messages are put on hosts whose
    routes share the worst cable, and an upper bound says how much worse other hosts could be.

    Parameters
    ----------
    routing : FabricRouting
    ranks : int
        Number of ranks, and of hosts. A host is one adapter.
    pattern : str
        What the ranks send, see :func:`obliv.fabric.jobs.collectives.pattern_of`.
    hottest : int
        Number of cables to name.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    FabricJob
        The job on these hosts, exact; `placement` holds them, and bounds for all hosts of the fabric.

    Raises
    ------
    InputError
        If the fabric has fewer hosts, or the pattern does not fit the number of ranks.
    RoutingError
        If packets between hosts do not arrive, unless the routing leaves such pairs out.

    Examples
    --------
    >>> import obliv
    >>> routing = obliv.fabric.from_routing(obliv.DModK(obliv.fattree(8, 3)))
    >>> result = worst_placement(routing, 8, "recursive-doubling")
    >>> str(result.load), result.placement.exact
    ('4', True)
    """
    report = rising(progress)
    search = within(report, 0.0, 0.9)
    terminals = len(routing.topology.terminals)
    if not 2 <= integer(ranks, "ranks") <= terminals:
        raise InputError(f"{plural(ranks, 'rank')} on {plural(terminals, 'host')}, one each: choose 2 to {terminals:,}")
    require_complete(routing)
    loads = prepared(routing, _placed(routing, list(range(ranks))), pattern)
    phases = loads.jobs[0][1]
    every = _every(loads, terminals, search)
    if every is not None:
        tops, means, chosen = every
        tried, highest, mean_highest = perm(terminals, ranks), tops, means
    else:
        found = worst(routing, hottest=0, progress=search)
        chosen, tops, means, tried = _best(loads, _candidates(found, phases))
        equal = routing.fabric_loads.rates.unit  # messages have one size, whatever the speeds of the hosts' links
        most = found.channel_load if equal and isinstance(found.channel_load, Fraction) else None
        bounds = ceilings(loads, most, ways_are_apart(routing, search))
        highest = max(bounds, default=Fraction(0))
        mean_highest = _mean(phases, bounds)
    result = job(routing, _placed(routing, chosen), pattern, hottest=hottest, progress=within(report, 0.9, 1.0))
    return replace(
        result,
        placement=JobPlacement(
            hosts=tuple(_names(routing, chosen)),
            load=tops,
            load_bound=highest,
            mean=means,
            mean_bound=mean_highest,
            tried=tried,
            all_tried=every is not None,
        ),
    )


def _names(routing: FabricRouting, terminals: list[int]) -> list[str]:
    topology = routing.topology
    return [topology.name_of(int(topology.terminals[terminal])) for terminal in terminals]


def _placed(routing: FabricRouting, terminals: list[int]) -> Placement:
    """Return the ranks on these terminals, in their order."""
    return placement(routing.topology, _names(routing, terminals))


def _mean(pattern: Pattern, values: list[Fraction]) -> Fraction:
    weights = [phase.weight for phase in pattern.phases]
    whole = sum((weight * value for weight, value in zip(weights, values, strict=True)), Fraction(0))
    return whole / (sum(weights, Fraction(0)) or 1)


def _every(loads: JobLoads, terminals: int, report: Progress) -> tuple[Fraction, Fraction, list[int]] | None:
    """Return the largest load, the largest mean load and hosts with the first of all placements, if they are few."""
    (place, pattern), channels = loads.jobs[0], len(loads.factor)
    count = perm(terminals, place.ranks)
    if count > _ALL or terminals**2 * channels > _CELLS:
        return None
    pair = np.zeros((terminals, terminals, channels), np.int64)
    one = np.ones(1, np.int64)
    for s, d in permutations(range(terminals), 2):
        run(carry, 100.0, np.array([s]), np.array([d]), one, loads.routing.routes.arrays, pair[s, d])
    best: tuple[Fraction, Fraction, list[int]] | None = None
    highest = Fraction(0)
    placements = permutations(range(terminals), place.ranks)
    done = 0
    while batch := list(islice(placements, _BATCH)):
        tops = _tops(loads, pattern, pair, np.array(batch))
        for chosen, row in zip(batch, tops.tolist(), strict=True):
            loaded = [top * loads.unit for top in row]
            mean = _mean(pattern, loaded)
            highest = max(highest, mean)
            if best is None or (max(loaded, default=0), mean) > best[:2]:
                best = max(loaded, default=Fraction(0)), mean, list(chosen)
        done += len(batch)
        report("placements", done / count)
    return None if best is None else (best[0], highest, best[2])


def _tops(loads: JobLoads, pattern: Pattern, pair: Array, placements: Array) -> Array:
    """Return the largest load of every phase, in the loads' unit, for each of some placements."""
    tops = np.zeros((len(placements), len(pattern.phases)), np.int64)
    for k, phase in enumerate(pattern.phases):
        source, destination, amount = phase.messages()
        total = np.zeros((len(placements), pair.shape[2]), np.int64)
        for s, d, size in zip(source.tolist(), destination.tolist(), amount.tolist(), strict=True):
            total += pair[placements[:, s], placements[:, d]] * size
        tops[:, k] = (total * loads.factor).max(axis=1, initial=0) * (loads.scale // phase.unit)
    return tops


def _best(loads: JobLoads, candidates: Iterator[list[int]]) -> tuple[list[int], Fraction, Fraction, int]:
    """Return the worst hosts by largest load, then mean, this load, the largest mean of all, and the number tried."""
    pattern = loads.jobs[0][1]
    best: tuple[Fraction, Fraction, list[int]] | None = None
    highest, tried = Fraction(0), 0
    for chosen in candidates:
        place = _placed(loads.routing, chosen)
        tops = [int(loads.row(place, phase).max(initial=0)) * loads.unit for phase in pattern.phases]
        mean, top = _mean(pattern, tops), max(tops, default=Fraction(0))
        highest, tried = max(highest, mean), tried + 1
        if best is None or (top, mean) > best[:2]:
            best = top, mean, chosen
    if best is None:
        raise InputError("the job has no phases: choose another pattern")
    return best[2], best[0], highest, tried


def _candidates(found: FabricWorst, pattern: Pattern) -> Iterator[list[int]]:
    """Yield hosts for all ranks: those in the order of the file, then such that messages cross the worst cable."""
    yield list(range(pattern.ranks))
    number = {name: k for k, name in enumerate(found.terminal_names)}
    crossing = [(number[s], number[d]) for s, d in found.pairs() if s != d]
    heaviest = sorted(pattern.phases, key=lambda phase: -phase.weight)[:_PHASES]
    for pairs in [*map(phase_matching, heaviest), _sides(pattern)]:
        yield _across(pairs, crossing, pattern.ranks, len(number))


def _sides(pattern: Pattern) -> list[tuple[int, int]]:
    """Return ranks of two sides, near ones first, such that many messages of all phases go from one to the other."""
    ends = np.concatenate([np.stack(phase.messages()[:2]) for phase in pattern.phases], axis=1)
    graph = coo_array((np.ones(ends.shape[1], bool), tuple(ends)), shape=(pattern.ranks, pattern.ranks)).tocsr()
    side = np.full(pattern.ranks, -1)
    sides: tuple[list[int], list[int]] = ([], [])
    for start in range(pattern.ranks):
        if side[start] < 0:
            order, before = breadth_first_order(graph, start, directed=False)
            for rank in order.tolist():
                side[rank] = 0 if rank == start else 1 - side[before[rank]]
                sides[side[rank]].append(rank)
    return list(zip(*sides, strict=False))


def _across(pairs: list[tuple[int, int]], crossing: list[tuple[int, int]], ranks: int, terminals: int) -> list[int]:
    """Return the terminals of all ranks: pairs of ranks on pairs of terminals that cross a cable, others in order."""
    placed: dict[int, int] = {}
    used: set[int] = set()
    waiting = iter(pairs)
    for s, d in crossing:
        if s in used or d in used:
            continue
        pair = next(waiting, None)
        if pair is None:
            break
        placed[pair[0]], placed[pair[1]] = s, d
        used.update((s, d))
    free = (terminal for terminal in range(terminals) if terminal not in used)
    return [placed[rank] if rank in placed else next(free) for rank in range(ranks)]
