"""Better orders of a job's ranks: from orders by the places of hosts, exchanges on the exact loads of all phases."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil, lcm
from typing import NamedTuple

import numpy as np

from obliv._util.arrays import INT64_SAFE, Array, starts
from obliv._util.progress import Progress, free_memory, require_memory, rising
from obliv._util.rationals import real
from obliv._util.rng import Rng, generator
from obliv.errors import InputError
from obliv.fabric.jobs.collectives import JobLoads
from obliv.fabric.jobs.placement import Placement
from obliv.fabric.kernels.automaton import carry
from obliv.fabric.kernels.orders import Order, Sends, all_paths, improve_order
from obliv.fabric.results.job import JobOrder
from obliv.fabric.shape import recognise
from obliv.fabric.topology import FabricTopology
from obliv.kernels import run

# Lower bounds of the loads of a job on its hosts, for all orders of its ranks.
#
# The ranks on some hosts send, whoever they are, at least what s ranks send to others if each has its largest partners
# among them; all of that crosses the cables that lead away from these hosts. And what each rank sends to every other
# one at least, over all phases together, loads the channels alike in every order.


class _Group(NamedTuple):
    """Places of ranks behind a few cables: how many, how many others of their hosts are elsewhere, their bandwidth.

    With `busiest` it is the place of the rank that sends or takes most, which is somewhere.
    """

    size: int
    beside: int
    bandwidth: Fraction
    busiest: bool = False


def lower_bound(loads: JobLoads) -> Fraction:
    """Return a number that the mean load of no order of the ranks is below."""
    pattern = loads.jobs[0][1]
    weights = [phase.weight for phase in pattern.phases]
    whole = sum(weights, Fraction(0))
    if not whole or loads.routing.partial:
        return Fraction(0)
    by_phase = sum((weight * bound for weight, bound in zip(weights, phase_bounds(loads), strict=True)), Fraction(0))
    common, pair, amount = _sums(loads)
    if not common:
        return by_phase / whole
    return max(by_phase, _over_all(loads, pair, amount) / common, _of_every_pair(loads, pair, amount) / common) / whole


def phase_bounds(loads: JobLoads) -> list[Fraction]:
    """Return for each phase a load that no order of the ranks is below."""
    place, pattern = loads.jobs[0]
    if loads.routing.partial:
        return [Fraction(0)] * len(pattern.phases)
    groups = _groups(loads)
    bounds = []
    for phase in pattern.phases:
        source, destination, amount = phase.messages()
        equal = bool((amount == phase.unit).all()) and loads.unit * loads.scale == 1 and place.rails.shape[1] == 1
        best = Fraction(0)
        for group in groups:
            least = Fraction(_least(place.ranks, source, destination, amount, group), phase.unit) / group.bandwidth
            best = max(best, Fraction(ceil(least)) if equal else least)
        bounds.append(best)
    return bounds


def _sums(loads: JobLoads) -> tuple[int, Array, Array]:
    """Return what ranks send over all phases, each times its weight, in parts of a number; 0 where it is too large."""
    place, pattern = loads.jobs[0]
    common = lcm(*(phase.weight.denominator * phase.unit for phase in pattern.phases))
    parts = []
    total = 0
    for phase in pattern.phases:
        source, destination, amount = phase.messages()
        share = int(phase.weight * common) // phase.unit
        total += share * int(amount.sum())
        if total >= INT64_SAFE:
            return 0, np.zeros(0, np.int64), np.zeros(0, np.int64)
        parts.append((source * place.ranks + destination, amount * share))
    pair, inverse = np.unique(np.concatenate([pairs for pairs, _ in parts]), return_inverse=True)
    amount = np.zeros(len(pair), np.int64)
    np.add.at(amount, inverse, np.concatenate([amounts for _, amounts in parts]))
    return common, pair, amount


def _over_all(loads: JobLoads, pair: Array, amount: Array) -> Fraction:
    """Return a bound of the sum of all phases' loads, each times its weight, from all their messages together."""
    ranks = loads.jobs[0][0].ranks
    source, destination = np.divmod(pair, ranks)
    sums = (_least(ranks, source, destination, amount, group) / group.bandwidth for group in _groups(loads))
    return max(sums, default=Fraction(0))


def _of_every_pair(loads: JobLoads, pair: Array, amount: Array) -> Fraction:
    """Return the same from what each rank sends to every other one at least: it loads channels alike in all orders."""
    place = loads.jobs[0][0]
    ranks, rails = place.rails.shape
    source, destination = np.divmod(pair, ranks)
    others = source != destination
    if others.sum() < ranks * (ranks - 1) or ranks < 2:
        return Fraction(0)
    t, u = np.divmod(np.arange(ranks * ranks), ranks)
    apart = place.host_of[t] != place.host_of[u]
    flows = place.rails[t[apart]].ravel(), place.rails[u[apart]].ravel()
    crossing = np.zeros(len(loads.factor), np.int64)
    ones = np.ones(len(flows[0]), np.int64)
    run(carry, loads.work, *flows, ones, loads.routing.routes.arrays, crossing)
    most = int((crossing * loads.factor).max(initial=0))
    return most * int(amount[others].min()) * Fraction(loads.scale, rails) * loads.unit


def _least(ranks: int, source: Array, destination: Array, amount: Array, group: _Group) -> Fraction:
    """Return what the ranks of a group send, or take, at least to and from elsewhere, whichever ranks they are."""
    if group.size >= ranks or not len(source):
        return Fraction(0)
    near = group.size - 1 + group.beside
    least = 0
    for rank in (source, destination):
        leaving = np.zeros(ranks, np.int64)
        order = np.lexsort((-amount, rank))
        count = np.bincount(rank, minlength=ranks)
        place = np.arange(len(order)) - np.repeat(np.cumsum(count) - count, count)
        far = order[place >= near]
        np.add.at(leaving, rank[far], amount[far])
        least = max(least, int(leaving.max() if group.busiest else np.sort(leaving)[: group.size].sum()))
    return Fraction(least)


def _groups(loads: JobLoads) -> set[_Group]:
    """Return the groups of places behind a host's own cables, and behind those that leave a switch with hosts."""
    place = loads.jobs[0][0]
    topology = loads.routing.topology
    speed = topology.bandwidth or (Fraction(1),) * topology.channels
    own = topology.channel_of[topology.ends]
    ranks = np.bincount(place.host_of)
    groups = set()
    for host in range(len(place.hosts)):
        used = np.unique(place.rails[place.host_of == host])
        groups.add(_Group(int(ranks[host]), 0, sum((speed[int(own[end])] for end in used), Fraction(0))))
    widest = max(group.bandwidth for group in groups)
    groups.add(_Group(1, int(ranks.max()) - 1, widest, busiest=True))
    if place.rails.shape[1] > 1:
        return groups
    leaf = topology.head[own[place.rails[:, 0]]]
    for switch in np.unique(leaf[leaf >= topology.hosts]).tolist():
        inside = leaf == switch
        beside = max(int(ranks[host]) - count for host, count in _counted(place, inside))
        away = np.flatnonzero((topology.tail == switch) & (topology.head >= topology.hosts))
        if len(away):
            bandwidth = sum((speed[channel] for channel in away.tolist()), Fraction(0))
            groups.add(_Group(int(inside.sum()), beside, bandwidth))
    return groups


def _counted(place: Placement, inside: Array) -> list[tuple[int, int]]:
    """Return the hosts of some places, and how many of the places are on each."""
    hosts, counts = np.unique(place.host_of[inside], return_counts=True)
    return list(zip(hosts.tolist(), counts.tolist(), strict=True))


_WORK = 4e9  # steps of a search with effort 1
_MOST, _FEWEST = 100_000, 2_000  # exchanges with effort 1
_BLOCK = 1 << 28  # steps between two checks for an interrupt


def better_order(
    loads: JobLoads, *, effort: float = 1.0, rng: Rng = None, progress: Progress | None = None
) -> tuple[Placement, JobOrder]:
    """Return an order of a job's ranks on its hosts with a smaller mean load; the given order if none was found."""
    if len(loads.jobs) != 1:
        raise InputError("a better order is for one job, not for several")
    if not 0 <= real(effort, "effort") < float("inf"):
        raise InputError.naming("{effort}={0}: write a number from 0", effort)
    (place, pattern), report = loads.jobs[0], rising(progress)
    phases, channels = len(pattern.phases), len(loads.factor)
    require_memory(24.0 * phases * channels, f"a better order of {place.ranks} ranks for {phases} phases")
    weights = [phase.weight for phase in pattern.phases]
    whole = sum(weights, Fraction(0)) or Fraction(1)
    best: _Start | None = None
    before, largest = None, 0
    for name, slot_of in _starts(place):
        rows = np.array([loads.row(place.ordered(slot_of), phase) for phase in pattern.phases], np.int64)
        rows = rows.reshape(phases, channels)
        tops = rows.max(axis=1, initial=0)
        mean = sum((weight * int(top) for weight, top in zip(weights, tops, strict=True)), Fraction(0))
        if before is None:
            before, largest = mean, int(tops.max(initial=0))
        if best is None or mean < best.mean:
            best = _Start(name, slot_of, rows, tops, mean)
    if best is None or before is None:
        raise InputError("the job has no ranks")
    trials = _improve(loads, best, weights, effort, rng, report)
    after = sum((weight * int(top) for weight, top in zip(weights, best.tops, strict=True)), Fraction(0))
    if after < before:
        placement, largest = place.ordered(best.slot_of), int(best.tops.max(initial=0))
    else:  # exchanges may have led to another order that is as good: nobody should move ranks for it
        placement, after = place, before
    return placement, JobOrder(
        before=before / whole * loads.unit,
        after=after / whole * loads.unit,
        bound=min(lower_bound(loads), after / whole * loads.unit),
        largest=largest * loads.unit,
        start=best.name,
        trials=trials,
    )


class _Start(NamedTuple):
    """An order to begin with, the loads of all channels in each phase, and their sum over phases."""

    name: str
    slot_of: Array
    rows: Array
    tops: Array
    mean: Fraction


def _starts(place: Placement) -> Iterator[tuple[str, Array]]:
    """Yield orders to begin with: the given one, then hosts or ranks by their places in the fabric."""
    yield "given", np.arange(place.ranks)
    counts = np.bincount(place.host_of)
    for name, key in _keys(place.topology):
        first = np.full(len(place.hosts), -1, np.int64)
        first[place.host_of[::-1]] = place.rails[::-1, 0]
        by_host = np.lexsort((place.local, key[first[place.host_of]]))
        yield f"ranks by {name}", by_host
        if len(set(counts.tolist())) == 1 and counts[0] > 1:
            hosts = np.argsort(key[first], kind="stable")  # host k of the job moves to where host hosts[k] is
            slot = np.empty((len(place.hosts), counts[0]), np.int64)
            slot[place.host_of, place.local] = np.arange(place.ranks)
            yield f"hosts by {name}", slot[hosts[place.host_of], place.local]


def _keys(topology: FabricTopology) -> Iterator[tuple[str, Array]]:
    """Yield numbers of terminals: as in the file, by LID, by leaf switch, and by their places in the fat tree."""
    fabric = topology.fabric
    terminals = np.arange(len(topology.terminals))
    yield "file", terminals
    lid = fabric.ports.lid[topology.ends].astype(np.int64)
    yield "LID", np.lexsort((terminals, lid)).argsort()
    peer = fabric.ports.peer[topology.ends]
    yield "switch", np.lexsort((peer,)).argsort()
    shape = recognise(fabric)
    if shape is not None:
        leaf, at = (column[topology.terminals].astype(np.int64) for column in (shape.leaf, shape.place))
        yield "tree", np.lexsort((terminals, at, leaf)).argsort()


def _improve(
    loads: JobLoads, start: _Start, weights: list[Fraction], effort: float, rng: Rng, progress: Progress
) -> int:
    """Improve an order and its loads in place; return the number of exchanges tried."""
    place, sends = loads.jobs[0][0], _sends(loads)
    ranks = place.ranks
    if not len(sends.phase):
        return 0
    hops = 6.0 * loads.routing.routes.denominator * place.rails.shape[1]
    if 4.0 * hops * ranks**2 > free_memory() / 4:
        progress("exchanges", 1.0)
        return 0
    order = _packed(loads, start, weights, 30.0 * hops * ranks**2)
    if not len(order.path):
        return 0
    degree = len(sends.phase) / ranks
    touched = min(len(start.tops), 2 * degree)
    step = 8 * degree * (10 + 3 * hops) + 2.0 * len(start.tops) + touched * len(loads.factor) / 2
    count = int(effort * min(_MOST, max(_FEWEST, _WORK / step)))
    random = generator(rng)
    several = bool((np.bincount(place.host_of) > 1).any())
    block = max(1, int(_BLOCK / step))
    tried = 0
    for done in range(0, count, block):
        draws = np.zeros((min(block, count - done), 3), np.int64)
        draws[:, :2] = random.integers(place.ranks, size=(len(draws), 2))
        if several:
            draws[:, 2] = random.integers(2, size=len(draws))
        tried += int(run(improve_order, step * len(draws), draws, sends, order))
        progress("exchanges", (done + len(draws)) / count)
        if (order.top <= order.ideal).all():
            break
    return tried


def _packed(loads: JobLoads, start: _Start, weights: list[Fraction], work: float) -> Order:
    """Return an order for the kernel, with the channels of the routes of all pairs of ranks."""
    place, routes = loads.jobs[0][0], loads.routing.routes.arrays
    start_of, path = np.zeros(place.ranks**2 + 1, np.int64), np.zeros(0, np.int32)
    run(all_paths, work, place.rails, place.host_of, routes, start_of, path)
    path = np.zeros(int(start_of[-1]), np.int32)
    if len(path):
        run(all_paths, work, place.rails, place.host_of, routes, start_of, path)
    unit = lcm(*(weight.denominator for weight in weights))
    return Order(
        slot_of=start.slot_of,
        rank_at=np.argsort(start.slot_of),
        host=place.host_of,
        seat=starts(np.bincount(place.host_of)).astype(np.int64),
        slots=np.argsort(place.host_of, kind="stable"),
        start=start_of,
        path=path,
        load=start.rows,
        top=start.tops,
        ideal=np.array([int(bound / loads.unit) for bound in phase_bounds(loads)], np.int64),
        weight=np.array([float(weight * unit) for weight in weights]),
        factor=loads.factor,
    )


def _sends(loads: JobLoads) -> Sends:
    """Return the messages of all phases of the job, by rank."""
    place, pattern = loads.jobs[0]
    columns: list[tuple[Array, ...]] = [(np.zeros(0, np.int64),) * 4]
    for number, phase in enumerate(pattern.phases):
        source, destination, amount = phase.messages()
        share = loads.scale // (phase.unit * place.rails.shape[1])
        columns.append((np.full(len(source), number), source, destination, amount * share))
    phases, source, destination, amount = (np.concatenate(some).astype(np.int64) for some in zip(*columns, strict=True))
    rank = np.concatenate([source, destination])
    by_rank = np.argsort(rank, kind="stable")
    return Sends(
        first=starts(np.bincount(rank, minlength=place.ranks)).astype(np.int64),
        phase=np.tile(phases, 2)[by_rank],
        other=np.concatenate([destination, source])[by_rank],
        taken=(np.arange(len(rank)) >= len(source))[by_rank],
        amount=np.tile(amount, 2)[by_rank],
    )
