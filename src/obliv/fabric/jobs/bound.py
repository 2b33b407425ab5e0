"""Lower bounds of the loads of a job on its hosts, for all orders of its ranks.

The ranks on some hosts send, whoever they are, at least what s ranks send to others if each has its largest partners
among them; all of that crosses the cables that lead away from these hosts.  And what each rank sends to every other one
at least, over all phases together, loads the channels alike in every order.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, lcm
from typing import NamedTuple

import numpy as np

from obliv._util.arrays import INT64_SAFE
from obliv._util.typing import Array
from obliv.fabric.jobs.loads import JobLoads
from obliv.fabric.jobs.placement import Placement
from obliv.fabric.kernels.loads import carry
from obliv.kernels import run

__all__ = ["lower_bound", "phase_bounds"]


class _Group(NamedTuple):
    """Places of ranks behind a few cables: how many, how many others of their hosts are elsewhere, their bandwidth.

    With `busiest` it is the place of the rank that sends or takes most, which is somewhere.
    """

    size: int
    beside: int
    bandwidth: Fraction
    busiest: bool = False


def lower_bound(loads: JobLoads) -> Fraction:
    """Return a number that the mean load of no order of the ranks is below.

    Parameters
    ----------
    loads : JobLoads
        Of a single job.
    """
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
    """Return what ranks send over all phases, each times its weight, in parts of a number; 0 where it is too large.

    Returns
    -------
    common : int
    pair : int64 array
        Source · ranks + destination, sorted.
    amount : int64 array
    """
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
