"""The routing with the least mean of the largest load over a sample of permutations, at the least worst case of all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array, hstack, vstack

from obliv._util.cost import Work, announce
from obliv._util.progress import Progress, silent
from obliv._util.typing import Array
from obliv.analysis.average.random_traffic import average_case
from obliv.designs.exact.vertices import as_rationals
from obliv.designs.paths import rounded_flows, routing_of
from obliv.designs.programme import Programme
from obliv.designs.solver import SolverError, solve
from obliv.designs.units import load_unit, relative_speeds
from obliv.errors import Interrupted
from obliv.results import AverageDesign, Design, Estimate
from obliv.routings.listed import Listed

__all__ = ["announce_average", "average_design", "average_routings", "drawn"]

_FRESH = 10_000  # permutations that estimate the average of the design
_SECONDS, _BYTES = 2e-5, 400.0  # for a non-zero
_STREAM = 1  # of the permutations of the linear program; those of the estimate come from another generator
_SLACK = 1e-7  # relative, of the least worst case


def announce_average(programme: Programme, samples: int, progress: Progress) -> None:
    """Say what the linear program will cost; raise TooLargeError if it does not fit in memory."""
    topology = programme.topology
    entries = float(samples) * topology.channels * (len(topology.terminals) + 1) + programme.matrix.nnz
    announce(
        progress,
        f"the linear program of {samples:,} permutations on {topology.spec} "
        f"({samples * topology.channels:,} more rows, up to {int(entries):,} non-zeros)",
        Work(_SECONDS * entries, _BYTES * entries),
        rough=True,
    )


def drawn(terminals: int, samples: int, seed: int) -> Array:
    """Return the random permutations that the design is for, one in each row."""
    random = np.random.default_rng([seed, _STREAM])
    return np.array([random.permutation(terminals) for _ in range(samples)])


def average_routings(
    programme: Programme, most: Fraction, samples: int, seed: int, *, vertices: bool, progress: Progress
) -> Iterator[Listed]:
    """Yield routings with the least mean of the largest load over random permutations, ever more accurate ones.

    Parameters
    ----------
    programme : Programme
        Whose arcs are channels.
    most : Fraction
        Limit of the worst case; it is loosened by 1e-7.
    samples, seed : int
    vertices : bool
        Whether to use the simplex method.
    progress : callable
    """
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
