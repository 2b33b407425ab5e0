"""What the phases of jobs put on the channels of a fabric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from obliv._util.typing import Array
from obliv.fabric.analyses.many import factors
from obliv.fabric.jobs.collectives import Phase
from obliv.fabric.jobs.phases import Pattern
from obliv.fabric.jobs.placement import Placement
from obliv.fabric.kernels.loads import carry, narrowest
from obliv.fabric.routes.routing import FabricRouting
from obliv.kernels import run

__all__ = ["JobLoads", "flows_of", "job_loads"]


@dataclass(frozen=True, eq=False)
class JobLoads:
    """Loads of channels in the phases of some jobs, as whole numbers of one unit.

    Parameters
    ----------
    routing : FabricRouting
    jobs : tuple of (Placement, Pattern)
    unit : Fraction
        The load that 1 stands for.
    scale : int
        A message of the largest size of its phase counts as `scale`, in parts for the rails of its source.
    factor : int64 array, shape (channels,)
        What a message of 1 adds to the load of each channel.
    """

    routing: FabricRouting
    jobs: tuple[tuple[Placement, Pattern], ...]
    unit: Fraction
    scale: int
    factor: Array

    @property
    def work(self) -> float:
        """The number of steps that all phases of all jobs take, roughly."""
        several = self.routing.routes.denominator
        return float(sum(30 * place.rails.size * len(pattern.phases) * several for place, pattern in self.jobs))

    def rows(self, job: int) -> Iterator[Array]:
        """Yield the loads of all channels in each phase of a job, int64."""
        placement, pattern = self.jobs[job]
        for phase in pattern.phases:
            yield self.row(placement, phase)

    def row(self, placement: Placement, phase: Phase) -> Array:
        """Return the loads of all channels in a phase."""
        source, destination, amount, _ = self.flows(placement, phase)
        total = np.zeros(len(self.factor), np.int64)
        run(carry, self.work, source, destination, amount, self.routing.routes.arrays, total)
        return total * self.factor

    def flows(self, placement: Placement, phase: Phase) -> tuple[Array, Array, Array, Array]:
        """Return the flows of a phase, with amounts in parts of `scale`; see :func:`flows_of`."""
        source, destination, amount, message = flows_of(placement, phase)
        return source, destination, amount * (self.scale // (phase.unit * placement.rails.shape[1])), message

    def crossing(self, placement: Placement, phase: Phase, channel: int) -> Array:
        """Return the messages of a phase, by number, that use a channel."""
        source, destination, _, message = flows_of(placement, phase)
        load = np.zeros(len(self.factor), np.int64)
        load[channel] = 1
        uses = np.zeros(len(source), np.int64)
        run(narrowest, self.work, source, destination, load, self.routing.routes.arrays, uses)
        return np.unique(message[uses > 0])


def job_loads(routing: FabricRouting, jobs: Sequence[tuple[Placement, Pattern]]) -> JobLoads:
    """Return the loads of jobs; they are computed phase by phase when they are asked for."""
    scale = lcm(*(phase.unit * place.rails.shape[1] for place, pattern in jobs for phase in pattern.phases))
    most = max((place.rails.size for place, _ in jobs), default=1) * scale
    factor, common = factors(routing, most * len(jobs))
    return JobLoads(routing, tuple(jobs), Fraction(1, common * scale), scale, factor)


def flows_of(placement: Placement, phase: Phase) -> tuple[Array, Array, Array, Array]:
    """Return the flows of a phase between terminals; messages within a host are left out.

    Returns
    -------
    source, destination : int64 arrays, shape (flows,)
    amount : int64 array, shape (flows,)
        Over ``phase.unit`` times the number of rails.
    message : int64 array, shape (flows,)
        The number of each flow's message.
    """
    source, destination, amount = phase.messages()
    apart = np.flatnonzero(placement.host_of[source] != placement.host_of[destination])
    rails = placement.rails.shape[1]
    return (
        placement.rails[source[apart]].ravel(),
        placement.rails[destination[apart]].ravel(),
        np.repeat(amount[apart], rails),
        np.repeat(apart, rails),
    )
