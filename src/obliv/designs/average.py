"""Routings with the least mean of the largest load over sampled permutations; the paths of every pair from flows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from math import gcd
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array, hstack, vstack

from obliv._util.arrays import INT64_SAFE, Array
from obliv._util.progress import Progress, require_memory, silent
from obliv.designs._kernels import widest_paths
from obliv.designs.design import Design
from obliv.designs.exact import InexactError, Rationals, as_rationals
from obliv.designs.programme import WHOLE, FlowProgramme, Programme, States, load_unit, relative_speeds
from obliv.designs.solver import SolverError, solve
from obliv.errors import Interrupted
from obliv.kernels import run
from obliv.questions.average import average_case
from obliv.results.base import NO_CAPACITY, share_text
from obliv.results.codec import derived, entry
from obliv.results.numbers import Estimate, short
from obliv.routings.listed import Listed, PathList

# From flows to an explicit routing: the distribution over paths of every pair


class _PathRoom(NamedTuple):
    """Room for the paths of one pair."""

    start: Array
    channel: Array
    amount: Array


def rounded_flows(columns: Array) -> tuple[Array, int]:
    """Return flows as integers in units of 2^-30, and the number of units in one."""
    return np.rint(np.clip(columns, 0, 1) * WHOLE).astype(np.int64), WHOLE


def exact_flows(programme: FlowProgramme, columns: Rationals) -> tuple[Array, int]:
    """Return the rational flows of a vertex as integers, and the number of units in one; InexactError if too large."""
    numerators, whole = columns.numerators[: programme.flows], columns.denominator
    divisor = gcd(whole, *numerators.tolist())
    numerators, whole = numerators // divisor, whole // divisor
    if numerators.min(initial=0) < 0:
        raise InexactError("a flow of the solver's vertex is negative")
    if max(whole, numerators.max(initial=0)) * len(programme.topology.terminals) >= INT64_SAFE:
        raise InexactError(f"the flows have a common denominator of {whole.bit_length()} bits, too large for a list")
    return numerators.astype(np.int64), whole


def routing_of(programme: Programme, spec: str, flows: tuple[Array, int], progress: Progress) -> Listed | None:
    """Return the routing whose paths carry the flows, what is missing on the widest path of each pair."""
    units, whole = flows
    column, values = programme.column, np.append(units, 0)
    return decomposed(programme.states, spec, len(column), whole, lambda s, d: values[column[s, d]], progress)


def decomposed(
    states: States,
    spec: str,
    sources: int,
    whole: int,
    capacity_of: Callable[[int, int], Array],
    progress: Progress,
) -> Listed | None:
    """Return the routing by the widest paths that capacities leave, what is missing on the widest of each pair."""
    needed = np.full((sources, len(states.topology.terminals)), whole)
    np.fill_diagonal(needed, 0)
    paths = widest(states, needed, whole, capacity_of, progress)
    return None if paths is None else Listed(states.topology, spec, paths)


def widest(
    states: States,
    needed: Array,
    whole: int,
    capacity_of: Callable[[int, int], Array],
    progress: Progress,
    *,
    overload: bool = False,
) -> PathList | None:
    """Return paths of pairs with the units that they need, by the widest paths that capacities leave.

    Shapes: `needed` (sources, terminals).
    """
    network, nodes = states.kernel, states.topology.terminals.tolist()
    room = _PathRoom(
        np.zeros(states.arcs + 2, np.int64),
        np.zeros((states.arcs + 1) * states.count, np.int64),
        np.zeros(states.arcs + 1, np.int64),
    )
    work = 20.0 * np.count_nonzero(needed) * states.arcs
    counts = np.zeros(needed.shape, np.int64)
    hops, channels, amounts = ([np.zeros(0, np.int64)] for _ in range(3))
    for source, row in enumerate(needed.tolist()):
        for destination in np.flatnonzero(needed[source]).tolist():
            units, ends = row[destination], (nodes[source], nodes[destination])
            number = int(run(widest_paths, work, network, *ends, capacity_of(source, destination), units, room))
            if number == 0 and overload:
                number = int(run(widest_paths, work, network, *ends, np.full(states.arcs, units), units, room))
            if number == 0:
                return None
            amount = room.amount[:number].copy()
            amount[0] += units - int(amount.sum())
            counts[source, destination] = number
            hops.append(np.diff(room.start[: number + 1]))
            channels.append(room.channel[: room.start[number]].copy())
            amounts.append(amount)
        progress("paths", (source + 1) / len(needed))
    lengths, channel, amount = (np.concatenate(parts) for parts in (hops, channels, amounts))
    return PathList.of(counts.ravel(), lengths, channel, amount, whole)


_FRESH = 10_000  # permutations that estimate the average of the design
_BYTES = 400.0  # for a non-zero
_STREAM = 1  # of the permutations of the linear program; those of the estimate come from another generator
_SLACK = 1e-7  # relative, of the least worst case


def require_average(programme: Programme, samples: int) -> None:
    """Refuse a linear program that does not fit in memory."""
    topology = programme.topology
    entries = float(samples) * topology.channels * (len(topology.terminals) + 1) + programme.matrix.nnz
    require_memory(
        _BYTES * entries / 2,  # a rough estimate
        f"the linear program of {samples:,} permutations on {topology.spec} "
        f"({samples * topology.channels:,} more rows, up to {int(entries):,} non-zeros)",
    )


def drawn(terminals: int, samples: int, seed: int) -> Array:
    """Return the random permutations that the design is for, one in each row."""
    random = np.random.default_rng([seed, _STREAM])
    return np.array([random.permutation(terminals) for _ in range(samples)])


def average_routings(
    programme: Programme, most: Fraction, samples: int, seed: int, *, vertices: bool, progress: Progress
) -> Iterator[Listed]:
    """Yield routings with the least mean of the largest load over random permutations, ever more accurate ones."""
    terminals = len(programme.topology.terminals)
    images = drawn(terminals, samples, seed)
    limited = programme.limited(programme.cost, float(most / load_unit(programme.topology)) * (1 + _SLACK))
    matrix = _with_samples(limited, images)
    added = matrix.shape[0] - len(limited.lower)
    lower = np.concatenate([limited.lower, np.zeros(added)])
    upper = np.concatenate([limited.upper, np.full(added, np.inf)])
    cost = np.concatenate([np.zeros(limited.matrix.shape[1]), np.full(samples, 1 / samples)])
    for tolerance in (None, 1e-5, 1e-7) if vertices else (1e-5, 1e-7):
        progress(f"linear program of {matrix.shape[0]:,} rows", 0.1)
        optimum = solve(matrix, lower, upper, cost, tolerance=tolerance)
        if not optimum.feasible:
            raise SolverError("the solver found no routing with the least worst case; report this network")
        columns = np.clip(optimum.columns[: programme.flows], 0, 1)
        for flows in (None if tolerance else as_rationals(columns), rounded_flows(columns)):
            routing = None if flows is None else routing_of(programme, "design", flows, silent)
            if routing is not None:
                yield routing


def _with_samples(programme: Programme, images: Array) -> csc_array:
    """Return the matrix with a column for the largest load of every permutation, and a row for each of its channels."""
    samples, terminals = images.shape
    topology = programme.topology
    row, column, source = [], [], np.arange(terminals)
    for channel in range(topology.channels):
        orbit = programme.on_channel(channel)[source, images]
        sample, place = np.nonzero(orbit >= 0)
        row.append(sample * topology.channels + channel)
        column.append(orbit[sample, place])
    rows, columns = np.concatenate(row), np.concatenate(column)
    shape = (samples * topology.channels, programme.matrix.shape[1])
    carried = coo_array((-np.ones(len(rows)), (rows, columns)), shape=shape)
    speed = np.tile(relative_speeds(topology), samples)
    order = np.arange(len(speed))
    largest = csr_array((speed, (order, order // topology.channels)), shape=(len(speed), samples))
    nothing = csr_array((programme.matrix.shape[0], samples))
    return csc_array(vstack([hstack([programme.matrix, nothing]), hstack([csr_array(carried), largest])]))


def average_design(design: Design, samples: int, seed: int) -> AverageDesign:
    """Return a design with an estimate of its average on permutations that the linear program does not contain."""
    try:
        average = average_case(design.subject, _FRESH, seed)
    except Interrupted as stopped:  # the design is done: fewer permutations suffice
        average = stopped.so_far
    load = average.channel_load
    if not isinstance(load, Estimate):
        raise SolverError("the average is not an estimate")
    figures = {item.name: getattr(design, item.name) for item in fields(design) if item.name != "objective"}
    figures["provenance"] = replace(design.provenance, exactness="estimated", seed=seed)
    return AverageDesign(**figures, average_load=load, samples=samples)


# The result of a design for the average case: a routing, its proved worst case, and an estimate of its average


_LABELS = ("constraints", "mean largest load", "average throughput", "average / capacity", "estimated")


@dataclass(frozen=True, repr=False)
class AverageDesign(Design):
    """A routing of the least worst case, designed for the least mean of the largest load over random permutations.

    The worst case is exact and proved as in other designs. The average is an estimate on permutations that the design
    did not use, and nothing is proved about it.

    Examples
    --------
    >>> import obliv
    >>> result = obliv.design("ring:4", objective="average", samples=10)
    >>> result.channel_load, result.average_load.samples
    (Fraction(1, 1), 10000)
    """

    marks: ClassVar[tuple[str, ...]] = ("average_load",)

    objective: str = "average"
    average_load: Estimate = entry(Estimate(1.0, 0.0, 0), label="mean largest load", column="average_load")

    def _aims(self, load: str) -> list[str]:
        return [load, f"mean largest load {short(self.average_load)} (estimated)"]

    @property
    @derived(label="average throughput", column="average_throughput")
    def average_throughput(self) -> Estimate:
        """The reciprocal of the mean largest load, an estimate."""
        load = self.average_load
        return Estimate(1 / load.value, load.stderr / load.value / load.value, load.samples)

    @property
    @derived(
        label="average / capacity",
        text=lambda design: share_text(design.average_fraction_of_capacity, design.capacity, design.topology),
        column="average_fraction_of_capacity",
        reason=NO_CAPACITY,
    )
    def average_fraction_of_capacity(self) -> Estimate | None:
        """The average throughput divided by that of uniform traffic under the best routing, an estimate."""
        if self.capacity is None:
            return None
        share, through = float(self.capacity), self.average_throughput
        return Estimate(through.value / share, through.stderr / share, through.samples)

    samples: int = entry(
        0,
        label="estimated",
        text=lambda design: (
            f"on {design.average_load.samples:,} permutations, not the {design.samples} of the design; not proved"
        ),
    )

    def summary(self) -> list[tuple[str, str]]:
        lines = super().summary()
        return sorted(lines, key=lambda line: _LABELS.index(line[0]) if line[0] in _LABELS else len(_LABELS))

    @property
    def title(self) -> str:
        return f"design: best average at the least worst case on {self.topology}"
