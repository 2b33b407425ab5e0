"""Locality: how far packets go, compared with the least possible."""

from __future__ import annotations

import time
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from obliv._util.progress import Progress, silent
from obliv._util.typing import Array
from obliv.analysis.subject import Subject, loads_of, name_of, sources_of, subject_of
from obliv.errors import InputError
from obliv.results import provenance
from obliv.results.locality import Locality
from obliv.routings.base import Routing
from obliv.routings.distances import Distances
from obliv.routings.program_lengths import axis_distances
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import Cartesian

__all__ = ["locality", "minimal_hops"]


def locality(x: Subject, *, progress: Progress | None = None) -> Locality:
    """Return the mean hops over all ordered pairs, the least possible, and how long the paths are.

    Parameters
    ----------
    x : Routing or PairLoads
        Pair loads give the mean only: they do not distinguish paths.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Locality
        Exact; pairs of a terminal with itself are included.

    Raises
    ------
    RoutingError
        If the routing has loops or gaps.
    InputError
        If the pair loads are estimates, or a terminal cannot be reached.

    Examples
    --------
    >>> import obliv
    >>> result = obliv.locality(obliv.routing("u2turn", obliv.mesh(3, 3)))
    >>> result.hops, result.hops_over_minimal
    (Fraction(64, 27), Fraction(4, 3))
    >>> [str(share) for share in result.lengths]
    ['1/9', '16/81', '56/243', '56/243', '4/27', '16/243', '4/243']
    """
    began = time.perf_counter()
    subject = subject_of(x, "locality")
    lengths: tuple[Fraction, ...] | None = None
    if isinstance(subject, Routing):
        total = subject.path_lengths(progress or silent)
        pairs = len(subject.topology.terminals) ** 2
        lengths = tuple(total.get(h, Fraction(0)) / pairs for h in range(max(total) + 1))
        hops = sum((h * share for h, share in enumerate(lengths)), Fraction(0))
    else:
        hops = loads_of(subject, "locality").hops()
    routing, topology = name_of(subject), subject.topology
    return Locality(
        topology=topology.spec,
        routing=routing,
        provenance=provenance(
            {"topology": topology.spec, "routing": routing},
            time.perf_counter() - began,
            sources=sources_of(subject),
        ),
        subject=x,
        hops=hops,
        minimal_hops=minimal_hops(topology),
        lengths=lengths,
    )


def minimal_hops(topology: Topology) -> Fraction:
    """Return the least mean hops of any routing: the mean distance over all ordered pairs, self-pairs included.

    Examples
    --------
    >>> import obliv
    >>> minimal_hops(obliv.torus(9, 9))
    Fraction(40, 9)
    """
    if isinstance(topology, Cartesian) and topology.all_terminals:  # distances add up over the dimensions
        return sum((Fraction(int(axis_distances(along).sum()), along.radix**2) for along in topology.axes), Fraction(0))
    total = sum(int(far.sum()) for far in _distances(topology))
    return Fraction(total, len(topology.terminals) ** 2)


def _distances(topology: Topology) -> Iterator[Array]:
    """Yield for every terminal the distances from all terminals."""
    far = Distances(topology.nodes, topology.tail, topology.head, len(topology.terminals))
    for destination in topology.terminals.tolist():
        reached = far([destination])[topology.terminals]
        if (reached < 0).any():
            lost = topology.name_of(int(topology.terminals[int(np.argmin(reached))]))
            raise InputError(f"{topology.spec}: {topology.name_of(destination)} cannot be reached from {lost}")
        yield reached
