"""The analysis of jobs: the loads of their phases, alone and together."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from pathlib import Path
from typing import NamedTuple

import numpy as np

from obliv._util.arrays import INT64_SAFE, Array
from obliv._util.progress import Progress, rising
from obliv._util.rng import Rng, seed_of
from obliv._util.text import plural
from obliv.errors import InputError, RoutingError
from obliv.fabric.analyses.permutations import provenance_of, require_count
from obliv.fabric.jobs.collectives import JobLoads, MessagePhase, Pattern, flows_of, job_loads, pattern_of
from obliv.fabric.jobs.order import better_order
from obliv.fabric.jobs.placement import Placement, placement, read_hosts
from obliv.fabric.model import typed
from obliv.fabric.results.job import FabricJob, JobCable, JobPhase, JobSummary, RankPair
from obliv.fabric.routes.routing import FabricRouting

__all__ = ["Hosts", "job", "prepared"]

#: The hosts of a job: a file, their names, or where the ranks are.
Hosts = str | Path | Sequence[str] | Placement

_PAIRS = 64  # pairs of a phase that are listed
_KEPT = 1 << 25  # loads that are kept in memory for the hottest cables


@typed
def job(
    routing: FabricRouting,
    hosts: Hosts | tuple[Hosts, ...],
    pattern: str | tuple[str, ...],
    *,
    per_host: int | str = 1,
    rails: str = "rank",
    hottest: int = 10,
    order: bool = False,
    effort: float = 1.0,
    rng: Rng = None,
    progress: Progress | None = None,
) -> FabricJob:
    """Return the loads of the phases of a job, or of several jobs that run at the same time.

    Parameters
    ----------
    routing : FabricRouting
    hosts : path, sequence of str, Placement or a tuple of these
        Where the ranks are, see :func:`obliv.fabric.read_hosts`; a tuple for several jobs.
    pattern : str or tuple of str
        What the ranks send, see :func:`obliv.fabric.jobs.collectives.pattern_of`; one for all jobs or one for each.
    per_host : int or str
        Ranks of hosts for which a file gives no number.
    rails : {"rank", "all", "first"}
        The adapters that ranks use.
    hottest : int
        Number of cables to name, and of columns of the heat map.
    order : bool
        Whether to look for a better order of the ranks, which `better` of the result then holds; for a single job.
    effort : float
        Try so many times as many exchanges of ranks.
    rng : numpy.random.Generator or int, optional
        Source of these exchanges, or its seed; default 0.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    FabricJob
        Exact. A load is in messages of the phase's largest size, per host's link: a phase with load 3 takes three
        times as long as one message alone.

    Raises
    ------
    InputError
        If a host is unknown, or a pattern does not fit the number of ranks.
    RoutingError
        If packets between hosts of a job do not arrive, unless the routing leaves such pairs out.

    Examples
    --------
    >>> import obliv
    >>> routing = obliv.fabric.from_routing(obliv.DModK(obliv.fattree(4, 2)))
    >>> result = job(routing, ["host(0,0)", "host(1,0)", "host(0,1)", "host(2,0)"], "recursive-doubling")
    >>> [(phase.name, str(phase.load)) for phase in result.phases]
    [('exchange 1', '2'), ('exchange 2', '1')]
    """
    began = time.perf_counter()
    require_count(hottest)
    loads = prepared(routing, hosts, pattern, per_host=per_host, rails=rails)
    report = rising(progress)
    rows = _Rows(loads, report)
    parts = [_solved(loads, k, rows) for k in range(len(loads.jobs))]
    channels = _hottest(loads, parts, hottest)
    heat = np.array([row[channels] for row in rows.again()], np.int64).reshape(rows.count, len(channels))
    phases = _together(loads, parts, rows)
    summaries = tuple(_summary(routing, *run, part) for run, part in zip(loads.jobs, parts, strict=True))
    weights = [phase.weight for _, pattern in loads.jobs for phase in pattern.phases]
    sources = dict(source for place, pattern in loads.jobs for source in place.sources + pattern.sources)
    better, found = better_order(loads, effort=effort, rng=rng, progress=report) if order else (None, None)
    every = np.max([part.top for part in parts], axis=0) if parts else np.zeros(0, np.int64)
    top = np.sum([part.top for part in parts], axis=0)
    plain = provenance_of(routing, began, seed=seed_of(rng) if order else None)
    return FabricJob(
        topology=routing.topology.spec,
        routing=routing.spec,
        provenance=replace(plain, sources=plain.sources | sources),
        load=int(every.max(initial=0)) * loads.unit,
        mean=_mean([phase.load for phase in phases], weights),
        together=int(top.max(initial=0)) * loads.unit if len(parts) > 1 else None,
        jobs=summaries,
        phases=phases,
        cables=tuple(_cable(loads, parts, c) for c in channels),
        order=found,
        heat=tuple((heat * loads.unit.numerator).ravel().tolist()),
        heat_unit=loads.unit.denominator,
        notes=_notes(loads, summaries),
        subject=routing,
        better=better,
    )


def prepared(
    routing: FabricRouting,
    hosts: Hosts | tuple[Hosts, ...],
    pattern: str | tuple[str, ...],
    *,
    per_host: int | str = 1,
    rails: str = "rank",
) -> JobLoads:
    """Return the loads of jobs from hosts and patterns as :func:`job` takes them."""
    topology = routing.topology
    placed = hosts if isinstance(hosts, tuple) else (hosts,)
    patterns = (pattern,) if isinstance(pattern, str) else tuple(pattern)
    if len(patterns) == 1:
        patterns *= len(placed)
    if len(patterns) != len(placed):
        count = plural(len(placed), "job")
        raise InputError(f"{len(patterns)} patterns for {count}: give one for all, or one for each")
    jobs = []
    for given, spec in zip(placed, patterns, strict=True):
        if isinstance(given, Placement):
            place = given
        elif isinstance(given, str | Path):
            place = read_hosts(topology, given, per_host=per_host, rails=rails)
        else:
            place = placement(topology, given, per_host=per_host, rails=rails)
        _require_arrival(routing, place)
        jobs.append((place, pattern_of(spec, place.host_of)))
    return job_loads(routing, jobs)


class _Part(NamedTuple):
    """The phases of one job, and for each channel its largest load and its load summed over phases."""

    phases: list[JobPhase]
    top: Array
    at: Array
    total: Array
    whole: int  # the weights of all phases


@dataclass
class _Rows:
    """The loads of all phases of all jobs, computed once if they fit in memory."""

    loads: JobLoads
    progress: Progress

    def __post_init__(self) -> None:
        count = sum(len(pattern.phases) for _, pattern in self.loads.jobs)
        self.count, self.done = count, 0
        self._kept: list[list[Array]] | None = [] if count * len(self.loads.factor) <= _KEPT else None

    def of(self, job: int) -> Iterator[Array]:
        """Yield the rows of a job: for the first time."""
        kept: list[Array] = []
        for row in self.loads.rows(job):
            self.done += 1
            self.progress("phases", self.done / self.count)
            if self._kept is not None:
                kept.append(row)
            yield row
        if self._kept is not None:
            self._kept.append(kept)

    def again(self, job: int | None = None) -> Iterator[Array]:
        """Yield the rows of a job, or of all jobs, another time."""
        for k in range(len(self.loads.jobs)) if job is None else (job,):
            yield from self.loads.rows(k) if self._kept is None else self._kept[k]


def _solved(loads: JobLoads, k: int, rows: _Rows) -> _Part:
    """Return the phases of job `k`."""
    place, pattern = loads.jobs[k]
    topology = loads.routing.topology
    channels = len(loads.factor)
    parts, whole = _weights(pattern)
    first = _switches_first(loads)
    top, at = np.zeros(channels, np.int64), np.zeros(channels, np.int64)
    total = np.zeros(channels, np.int64)
    phases = []
    for number, (phase, row) in enumerate(zip(pattern.phases, rows.of(k), strict=True)):
        channel = int(first[row[first].argmax()]) if channels else 0
        best = int(row[channel])
        higher = row > top
        top[higher], at[higher] = row[higher], number
        if total.dtype != object and best * whole >= INT64_SAFE:
            total = total.astype(object)
        total = total + row * parts[number]
        pairs, crossing = _pairs(loads, place, phase, channel) if best else ((), 0)
        phases.append(
            JobPhase(
                job=k,
                name=phase.name,
                times=phase.times,
                size=phase.size,
                load=best * loads.unit,
                ideal=int(row[topology.at_host].max(initial=0)) * loads.unit,
                cable=topology.cable(channel) if best else None,
                pairs=pairs,
                crossing=crossing,
            )
        )
    return _Part(phases, top, at, total, whole)


def _switches_first(loads: JobLoads) -> Array:
    """Return all channels, those between switches first: of equal cables these are named."""
    at_host = loads.routing.topology.at_host
    return np.lexsort((np.arange(len(at_host)), at_host))


def _weights(pattern: Pattern) -> tuple[list[int], int]:
    """Return the weights of phases as whole numbers, and their sum."""
    weights = [phase.weight for phase in pattern.phases]
    common = lcm(*(weight.denominator for weight in weights))
    parts = [int(weight * common) for weight in weights]
    return parts, sum(parts)


def _pairs(loads: JobLoads, place: Placement, phase: MessagePhase, channel: int) -> tuple[tuple[RankPair, ...], int]:
    """Return the first pairs of ranks whose messages use a channel, and their number."""
    source, destination, _ = phase.messages()
    uses = loads.crossing(place, phase, channel)
    ranks = zip(source[uses[:_PAIRS]].tolist(), destination[uses[:_PAIRS]].tolist(), strict=True)
    return tuple(RankPair(s, d, place.host(s), place.host(d)) for s, d in ranks), len(uses)


def _together(loads: JobLoads, parts: list[_Part], rows: _Rows) -> tuple[JobPhase, ...]:
    """Return the phases of all jobs, with what the others can add if there are several."""
    if len(parts) < 2:
        return tuple(phase for part in parts for phase in part.phases)
    top = np.sum([part.top for part in parts], axis=0)
    first = _switches_first(loads)
    phases = []
    for k, part in enumerate(parts):
        for phase, row in zip(part.phases, rows.again(k), strict=True):
            sums = np.where(row > 0, row + top - part.top, 0)[first]
            most = int(sums.max(initial=0))
            at = loads.routing.topology.cable(int(first[sums.argmax()])).ends if most else ""
            phases.append(replace(phase, together=most * loads.unit, together_at=at))
    return tuple(phases)


def _hottest(loads: JobLoads, parts: list[_Part], count: int) -> list[int]:
    """Return the channels with the largest loads, of all jobs together; of equal ones, those between switches first."""
    # Of equal loads, those with the largest sum of means are before these.
    top = np.sum([part.top for part in parts], axis=0)
    used = np.flatnonzero(top)
    if count and len(used) > count:  # sums only for those that can be among them
        used = np.flatnonzero(top >= max(1, np.partition(top, -count)[-count]))
    at_host = loads.routing.topology.at_host
    return sorted(used.tolist(), key=lambda c: (-top[c], -_total(parts, c), bool(at_host[c]), c))[:count]


def _total(parts: list[_Part], channel: int) -> Fraction:
    """Return the mean load of a channel over the phases of each job, summed over jobs."""
    return sum((Fraction(int(part.total[channel]), max(1, part.whole)) for part in parts), Fraction(0))


def _cable(loads: JobLoads, parts: list[_Part], channel: int) -> JobCable:
    job, worst = max(enumerate(parts), key=lambda part: int(part[1].top[channel]))
    return JobCable(
        **vars(loads.routing.topology.cable(channel)),
        load=int(worst.top[channel]) * loads.unit,
        together=sum(int(part.top[channel]) for part in parts) * loads.unit if len(parts) > 1 else None,
        mean=_total(parts, channel) * loads.unit,
        job=job if len(parts) > 1 else None,
        phase=worst.phases[int(worst.at[channel])].name,
    )


def _summary(routing: FabricRouting, place: Placement, pattern: Pattern, part: _Part) -> JobSummary:
    weights = [phase.weight for phase in pattern.phases]
    return JobSummary(
        file=place.name,
        pattern=pattern.spec,
        ranks=place.ranks,
        hosts=len(place.hosts),
        load=max((phase.load for phase in part.phases), default=Fraction(0)),
        mean=_mean([phase.load for phase in part.phases], weights),
        ideal=_mean([phase.ideal for phase in part.phases], weights),
        lost=_lost(routing, place, pattern),
    )


def _lost(routing: FabricRouting, place: Placement, pattern: Pattern) -> int:
    """Return the number of pairs of hosts that send in some phase, and whose packets do not all arrive."""
    hosts, cut = _cut(routing, place)
    used = np.zeros_like(cut)
    for phase in pattern.phases if cut.any() else ():
        source, destination, _, _ = flows_of(place, phase)
        used[np.searchsorted(hosts, source), np.searchsorted(hosts, destination)] = True
    return int((cut & used).sum())


def _cut(routing: FabricRouting, place: Placement) -> tuple[Array, Array]:
    """Return the terminals of a job, and for each pair of them whether some of its packets do not arrive."""
    terminals = np.unique(place.rails)
    cut = np.zeros((len(terminals), len(terminals)), bool)
    for number, d in enumerate(terminals.tolist() if routing.routes.missing else ()):
        arrive, whole = routing.served(int(routing.topology.terminals[d]))
        cut[:, number] = arrive[terminals] < whole
    return terminals, cut


def _require_arrival(routing: FabricRouting, place: Placement) -> None:
    """Refuse a job some of whose packets would not arrive, unless such pairs are left out; others may be lost."""
    if routing.skip:
        return
    terminals, cut = _cut(routing, place)
    if not cut.any():
        return
    s, d = (routing.topology.name_of(int(routing.topology.terminals[terminals[k]])) for k in np.argwhere(cut)[0])
    others = int(cut.sum()) - 1
    more = f", and {plural(others, 'other pair')} of the job {'does' if others == 1 else 'do'} not either"
    raise RoutingError.naming(
        "{0} does not arrive{1}: see fabric check, or leave such pairs out by {missing}='skip'",
        f"{routing.spec}: what {s} sends to {d}",
        more if others else "",
    )


def _mean(values: list[Fraction], weights: list[Fraction]) -> Fraction:
    """Return the mean of values, each counted with its weight."""
    total = sum(weights, Fraction(0))
    return sum((value * weight for value, weight in zip(values, weights, strict=True)), Fraction(0)) / (total or 1)


def _notes(loads: JobLoads, jobs: Sequence[JobSummary]) -> tuple[str, ...]:
    """Return what else to know: remarks on the fabric, hosts that several jobs share, jobs that cannot run."""
    notes = loads.routing.topology.notes
    seen: dict[int, int] = {}
    shared = set()
    for k, (place, _) in enumerate(loads.jobs):
        for terminal in set(place.rails.ravel().tolist()):
            if seen.setdefault(terminal, k) != k:
                shared.add(terminal)
    if shared:
        topology = loads.routing.topology
        names = sorted(topology.name_of(int(topology.terminals[terminal])) for terminal in shared)
        notes += (f"jobs share {len(names)} of their hosts' links, such as that of {names[0]}",)
    for k, found in enumerate(jobs, 1):
        which = f" of job {k}" if len(jobs) > 1 else ""
        if found.lost:
            pairs = plural(found.lost, "pair")
            notes += (f"packets of {pairs}{which} do not arrive and count nowhere: the job cannot run",)
    return notes
