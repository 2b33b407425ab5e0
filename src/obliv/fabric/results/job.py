"""What jobs do to the cables of a fabric, phase by phase."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from obliv._util.files import write_whole
from obliv._util.text import plural
from obliv.errors import InputError
from obliv.fabric.results.worst import Cable
from obliv.results.base import Result
from obliv.results.codec import PACKED, Declaration, Record, derived, entry
from obliv.results.numbers import shown

__all__ = ["FabricJob", "JobCable", "JobOrder", "JobPhase", "JobPlacement", "JobSummary", "RankPair"]

_LISTED = 5  # phases in the short form


@dataclass(frozen=True)
class RankPair(Record):
    """Two ranks of which the first sends to the second, and their hosts."""

    source: int
    destination: int
    tail: str = entry(key="from")
    head: str = entry(key="to")


@dataclass(frozen=True)
class JobPhase(Record):
    """A phase of a job and the cable that it loads most.

    Parameters
    ----------
    job : int
        The number of the job, from 0.
    name : str
    times : int
        How often the phase comes.
    size : Fraction
        The largest message, as a share of a rank's data.
    load : Fraction
        The largest load of a cable, in messages of that size per host's link.
    ideal : Fraction
        The largest load of a host's own cables: the load on a network without conflicts.
    together : Fraction or None
        The largest load if the other jobs are in their worst phases at the same time; None for a single job.
    together_at : str
        The cable with that load; "" for a single job.
    cable : Cable or None
        The cable with the largest load; None where no cable is used.
    crossing : int
        Number of pairs that use it.
    pairs : tuple of RankPair
        The first of them.
    """

    job: int = entry(0, column="job", omit=lambda phase: phase.together is None)
    name: str = entry("", column="phase")
    times: int = entry(1, column="times")
    size: Fraction = entry(Fraction(1), column="size")
    load: Fraction = entry(Fraction(0), key="channel_load", column="channel_load")
    ideal: Fraction = entry(Fraction(0), key="ideal_load", column="ideal_load")

    @property
    @derived(column="slowdown", reason="the phase uses no cable")
    def slowdown(self) -> Fraction | None:
        """The load over that on a network without conflicts."""
        return self.load / self.ideal if self.ideal else None

    together: Fraction | None = entry(None, column="together", omit=lambda phase: phase.together is None)
    together_at: str = entry("", column="together_at", omit=lambda phase: phase.together is None)
    crossing: int = entry(0, column="pairs")
    cable: Cable | None = entry(None, column="cable", reason="the phase uses no cable")
    pairs: tuple[RankPair, ...] = ()


@dataclass(frozen=True)
class JobCable(Cable):
    """A cable in one direction with its largest load in a phase of one job, and its mean load.

    Parameters
    ----------
    load : Fraction
        In one phase.
    together : Fraction or None
        If all jobs are in their worst phases for this cable at once; None for a single job.
    mean : Fraction
        Over the phases of a job, each counted with its data; of several jobs, the sum of these means.
    job : int or None
        The job of the phase with the largest load; None for a single job.
    phase : str
        That phase.
    """

    load: Fraction = entry(Fraction(0), key="channel_load")
    together: Fraction | None = entry(None, omit=lambda cable: cable.together is None)
    mean: Fraction = entry(Fraction(0), key="mean_load")
    job: int | None = entry(None, omit=lambda cable: cable.job is None)
    phase: str = ""


@dataclass(frozen=True)
class JobSummary(Record):
    """A job: its hosts and its pattern, the largest and the mean load of its phases.

    Parameters
    ----------
    file : str
        Where its hosts were read from.
    pattern : str
    ranks, hosts : int
        Their numbers.
    load, mean, ideal : Fraction
        The largest load of a phase; the mean over its phases, each counted with its data; that mean on a network
        without conflicts.
    lost : int
        Ordered pairs of its hosts that send in some phase, and whose packets do not arrive: they are in no load.
    """

    file: str
    pattern: str
    ranks: int
    hosts: int
    load: Fraction = entry(Fraction(0), key="channel_load")
    mean: Fraction = entry(Fraction(0), key="mean_load")
    ideal: Fraction = entry(Fraction(0), key="ideal_load")
    lost: int = entry(0, key="pairs_lost", omit=lambda job: not job.lost)

    @property
    @derived(reason="no phase uses a cable")
    def slowdown(self) -> Fraction | None:
        """The mean load over that on a network without conflicts."""
        return self.mean / self.ideal if self.ideal else None


@dataclass(frozen=True)
class JobOrder(Record):
    """A better order of a job's ranks: mean loads before and after, and a lower bound for any order on these hosts.

    Parameters
    ----------
    before, after, bound : Fraction
        Mean loads, as ``mean_load``.
    largest : Fraction
        The largest load after.
    start : str
        The order from which the search began.
    trials : int
        Exchanges of two ranks, or of two hosts, that were tried.
    file : str
        The rank file, "" if none was written.
    """

    before: Fraction
    after: Fraction
    bound: Fraction
    largest: Fraction = entry(Fraction(0), key="channel_load")
    start: str = ""
    trials: int = 0
    file: str = ""

    @property
    @derived()
    def optimal(self) -> bool:
        """Whether no order is better."""
        return self.after == self.bound


@dataclass(frozen=True)
class JobPlacement(Record):
    """The hosts on which a job of one rank a host is worst, and how bad other hosts could be at most.

    Parameters
    ----------
    hosts : tuple of str
        The host of every rank.
    load, load_bound : Fraction
        The largest load of a phase on these hosts; a load that no phase exceeds on any hosts.
    mean, mean_bound : Fraction
        The largest mean load found, on these or on other hosts; a mean load that no hosts exceed.
    tried : int
        Number of placements that were tried.
    all_tried : bool
        Whether these were all.
    """

    load: Fraction = entry(key="channel_load")
    load_bound: Fraction = entry(key="channel_load_bound")
    mean: Fraction = entry(key="mean_load")
    mean_bound: Fraction = entry(key="mean_load_bound")
    tried: int = 0
    all_tried: bool = False
    hosts: tuple[str, ...] = ()

    @property
    @derived()
    def exact(self) -> bool:
        """Whether no hosts make the largest load larger."""
        return self.load == self.load_bound


@dataclass(frozen=True, repr=False)
class FabricJob(Result):
    """What jobs do to the cables of a fabric, exact.

    Parameters
    ----------
    load, mean : Fraction
        The largest load of a phase, and the mean over all phases, each counted with its data (times · size).
    together : Fraction or None
        The largest load if all jobs are in their worst phases at the same time; None for a single job.
    jobs : tuple of JobSummary
    phases : tuple of JobPhase
        Of the first job, then of the second.
    cables : tuple of JobCable
        The hottest cables, by largest load; of several jobs, by the load together.
    order : JobOrder or None
        A better order of ranks, if one was asked for.
    placement : JobPlacement or None
        With the hosts chosen by :func:`obliv.fabric.worst_placement`: how bad any hosts could be.
    heat : tuple of int
        The load of each of `cables` in each phase, phase by phase, in units of ``1 / heat_unit``.
    heat_unit : int
    notes : tuple of str
        What else to know.
    better : Placement or None
        The ranks in the better order, which :meth:`write_order` writes; None in results that were loaded.

    Examples
    --------
    >>> import obliv
    >>> routing = obliv.fabric.from_routing(obliv.DModK(obliv.fattree(4, 2)))
    >>> obliv.fabric.job(routing, ["host(0,0)", "host(1,0)", "host(0,1)", "host(2,0)"], "ring", hottest=1)
    fabric-job: lft:dmodk on fabric:fattree:4,2
      job           ring, 4 ranks on 4 hosts
      largest load  2 (to the next)
      mean load     2
      slowdown      2, against a network without conflicts
      phase         2   to the next, 6 times, 1/4 of the data: switch((0),1) port 3 -> switch((0),0) port 1
      pairs         0 -> 1 (host(0,0) -> host(1,0)), 2 -> 3 (host(0,1) -> host(2,0))
      cable         2, mean 2   switch((0),1) port 3 -> switch((0),0) port 1   (to the next)
    """

    kind: ClassVar[str] = "fabric-job"
    table: ClassVar[str] = "phases"

    load: Fraction = entry(Fraction(0), key="channel_load")
    mean: Fraction = entry(Fraction(0), key="mean_load")
    together: Fraction | None = entry(None, omit=lambda result: result.together is None)
    jobs: tuple[JobSummary, ...] = ()
    phases: tuple[JobPhase, ...] = entry((), rank=2)
    cables: tuple[JobCable, ...] = entry((), rank=2)
    order: JobOrder | None = entry(None, reason="no better order was asked for")
    placement: JobPlacement | None = entry(None, omit=lambda result: result.placement is None)
    heat: tuple[int, ...] = entry((), rank=3, codec=PACKED)
    heat_unit: int = entry(1, rank=3)
    notes: tuple[str, ...] = entry((), rank=3)
    better: Any = field(default=None, compare=False, kw_only=True, metadata={"entry": Declaration(hidden=True)})

    def write_order(self, path: str | Path) -> FabricJob:
        """Write the better order as a rank file of Open MPI, and return the result with the file's name in it.

        Raises
        ------
        InputError
            If there is no such order.
        FileError
            If the file cannot be written.
        """
        if self.better is None or self.order is None:
            raise InputError("this result has no better order: compute it again with order=True")
        write_whole(path, self.better.rank_file().encode())
        return replace(self, order=replace(self.order, file=str(path)))

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"better": None}

    def cells(self) -> dict[str, Any]:
        """Return nothing: rows have the columns of their phases alone."""
        return {}

    def rows(self) -> Iterator[dict[str, Any]]:
        for phase in self.phases:
            cells = phase.cells()
            if phase.together is None:
                del cells["job"], cells["together"], cells["together_at"]
            yield cells

    def summary(self) -> list[tuple[str, str]]:
        lines = []
        for k, job in enumerate(self.jobs):
            number = f"job {k}" if len(self.jobs) > 1 else "job"
            lines.append((number, f"{job.pattern}, {plural(job.ranks, 'rank')} on {plural(job.hosts, 'host')}"))
        worst = max(self.phases, key=lambda phase: phase.load, default=None)
        of = f"job {worst.job}: " if worst and len(self.jobs) > 1 else ""
        lines.append(("largest load", shown(self.load) + (f" ({of}{worst.name})" if worst and worst.load else "")))
        if self.together is not None:
            first = self.cables[0] if self.cables else None  # of several with that load
            named = first.ends if first is not None and first.together == self.together else ""
            at = named or max(self.phases, key=lambda phase: phase.together or 0).together_at
            lines.append(("together", f"{shown(self.together)}, all jobs in their worst phases at once: {at}"))
        lines.append(("mean load", "; ".join(shown(job.mean) for job in self.jobs)))
        slow = [shown(job.slowdown) for job in self.jobs if job.slowdown is not None]
        if slow:
            lines.append(("slowdown", f"{'; '.join(slow)}, against a network without conflicts"))
        lines += self._phase_lines()
        lines += [("cable", _cable(cable)) for cable in self.cables]
        lines += self._order_lines()
        lines += self._placement_lines()
        return [*lines, *(("note", text) for text in self.notes)]

    def _phase_lines(self) -> list[tuple[str, str]]:
        ranked = sorted(self.phases, key=lambda phase: -phase.load)[:_LISTED]
        lines = []
        for phase in ranked:
            times = f", {phase.times} times" if phase.times > 1 else ""
            size = f", {phase.size} of the data" if phase.size != 1 else ""
            at = phase.cable.ends if phase.cable is not None else "no cable"
            number = f"job {phase.job}: " if len(self.jobs) > 1 else ""
            lines.append(("phase", f"{shown(phase.load)}   {number}{phase.name}{times}{size}: {at}"))
        if ranked and ranked[0].pairs:
            pairs = ", ".join(
                f"{pair.source} -> {pair.destination} ({pair.tail} -> {pair.head})" for pair in ranked[0].pairs[:3]
            )
            more = ranked[0].crossing - min(3, len(ranked[0].pairs))
            lines.insert(1, ("pairs", pairs + (f" and {more:,} more" if more else "")))
        if len(self.phases) > len(ranked):
            lines.append(("", f"and {plural(len(self.phases) - len(ranked), 'more phase')}, all in CSV"))
        return lines

    def _order_lines(self) -> list[tuple[str, str]]:
        order = self.order
        if order is None:
            return []
        bound = "no order is better" if order.optimal else f"no order is below {shown(order.bound)}"
        return [("better order", f"mean load {shown(order.before)} -> {shown(order.after)}; {bound}")]

    def _placement_lines(self) -> list[tuple[str, str]]:
        worst = self.placement
        if worst is None:
            return []
        how = f"all {plural(worst.tried, 'placement')} tried" if worst.all_tried else "by a bound"
        largest = "no other hosts are worse" if worst.exact else f"no hosts exceed {shown(worst.load_bound)}"
        mean = "no more" if worst.mean == worst.mean_bound else f"at most {shown(worst.mean_bound)}"
        return [
            ("worst hosts", f"largest load {shown(worst.load)}: {largest}, {how}"),
            ("", f"mean load {shown(worst.mean)} found, {mean} on any hosts"),
        ]


def _cable(cable: JobCable) -> str:
    if cable.together is None:
        return f"{shown(cable.load)}, mean {shown(cable.mean)}   {cable.ends}   ({cable.phase})"
    return f"{shown(cable.together)} together, {shown(cable.load)} in job {cable.job}: {cable.phase}   {cable.ends}"
