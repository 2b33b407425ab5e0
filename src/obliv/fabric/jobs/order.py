"""Better orders of a job's ranks: from orders by the places of hosts, exchanges on the exact loads of all phases."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import lcm
from typing import NamedTuple

import numpy as np

from obliv._util.arrays import starts
from obliv._util.cost import forecast, free_memory, require_memory
from obliv._util.progress import Progress, rising
from obliv._util.rationals import real
from obliv._util.rng import Rng, generator
from obliv._util.typing import Array
from obliv.errors import InputError
from obliv.fabric.jobs.bound import lower_bound, phase_bounds
from obliv.fabric.jobs.loads import JobLoads
from obliv.fabric.jobs.placement import Placement
from obliv.fabric.kernels.orders import Order, Sends, all_paths, improve_order
from obliv.fabric.shape.tree import recognise
from obliv.fabric.topology import FabricTopology
from obliv.kernels import run
from obliv.results.fabric.job import JobOrder

__all__ = ["better_order"]

_WORK = 4e9  # steps of a search with effort 1
_MOST, _FEWEST = 100_000, 2_000  # exchanges with effort 1
_BLOCK = 1 << 28  # steps between two checks for an interrupt


def better_order(
    loads: JobLoads, *, effort: float = 1.0, rng: Rng = None, progress: Progress | None = None
) -> tuple[Placement, JobOrder]:
    """Return an order of a job's ranks on its hosts with a smaller mean load; the given order if none was found.

    Parameters
    ----------
    loads : JobLoads
        Of a single job.
    effort : float
        Try so many times as many exchanges.
    rng : numpy.random.Generator or int, optional
        Source of the exchanges, or its seed; default 0.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    placement : Placement
    order : JobOrder
        Mean loads before and after, exact, and a bound that no order is below.

    Raises
    ------
    InputError
        If there are several jobs.
    """
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
    progress = forecast(progress, "exchanges of ranks")
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
