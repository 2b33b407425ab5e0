"""Locality: how far packets go, compared with the least possible."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul

import numpy as np

from obliv._util.arrays import product_sum
from obliv._util.progress import Progress, rising
from obliv._util.typing import Array
from obliv.analysis.subject import Subject, by_specs, identity, loads_of, subject_of
from obliv.errors import InputError
from obliv.loads.base import PairLoads
from obliv.patterns.base import Traffic
from obliv.results.analysis.locality import Locality
from obliv.routings.base import Routing
from obliv.routings.graphs.distances import Distances
from obliv.topologies.base import Topology

__all__ = ["ServedPairs", "locality", "minimal_hops", "served_pairs", "traffic_hops"]


@by_specs
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
        Exact; pairs of a terminal with itself are included. Packets that a partial routing leaves out count neither in
        the mean nor in the minimum.

    Raises
    ------
    RoutingError
        If the routing has loops or gaps.
    InputError
        If the pair loads are estimates or those of a partial routing, or a terminal cannot be reached.

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
        total = subject.path_lengths(rising(progress))
        pairs = sum(total.values(), Fraction(0))
        lengths = tuple(total.get(h, Fraction(0)) / pairs for h in range(max(total) + 1))
        hops = sum((h * share for h, share in enumerate(lengths)), Fraction(0))
        least = served_pairs(subject).minimal_hops if subject.partial else minimal_hops(subject.topology)
    else:
        loads = loads_of(subject, "locality")
        if loads.partial:
            raise InputError("locality: these pair loads leave out packets without a path; give the routing instead")
        hops, least = loads.hops(), minimal_hops(subject.topology)
    return Locality(
        **identity(subject, began),
        subject=x,
        hops=hops,
        minimal_hops=least,
        lengths=lengths,
        skipped=subject.skipped if isinstance(subject, Routing) and subject.partial else 0,
    )


def minimal_hops(topology: Topology) -> Fraction:
    """Return the least mean hops of any routing: the mean distance over all ordered pairs, self-pairs included.

    Examples
    --------
    >>> import obliv
    >>> minimal_hops(obliv.torus(9, 9))
    Fraction(40, 9)
    """
    if topology.mean_distance is not None:
        return topology.mean_distance
    everyone = np.ones(len(topology.terminals), np.int64)
    total = sum(int(far.sum()) for _, far in _distances(topology, lambda destination: (everyone, 1)))
    return Fraction(total, len(topology.terminals) ** 2)


@dataclass(frozen=True)
class ServedPairs:
    """The share of packets that a partial routing serves.

    Parameters
    ----------
    pairs : Fraction
        The ordered pairs of terminals, self-pairs included, each by the share of its packets that arrive.
    minimal_hops : Fraction
        The least mean hops of these packets.
    """

    pairs: Fraction
    minimal_hops: Fraction


def served_pairs(routing: Routing) -> ServedPairs:
    """Return how many packets a routing serves, and the mean distance that they go."""
    pairs = hops = Fraction(0)
    for (arriving, over), far in _distances(routing.topology, routing.served):
        pairs += Fraction(product_sum(arriving, np.ones(len(arriving), np.int64)), over)
        hops += Fraction(product_sum(arriving, far), over)
    return ServedPairs(pairs, hops / pairs)


def traffic_hops(
    subject: Routing | PairLoads, loads: PairLoads, traffic: Traffic, under: Sequence[Fraction]
) -> Fraction | None:
    """Return the mean hops of the packets of a traffic that arrive, from the load of every channel under it.

    None stands for unknown: estimates, pair loads of a partial routing, and no packets at all.
    """
    if loads.samples is not None:
        return None
    if not loads.partial:
        packets = sum(traffic.row_sums, Fraction(0))
    elif isinstance(subject, Routing):
        packets = _arriving(subject, traffic)
    else:
        return None
    speeds = loads.topology.bandwidth
    crossed = sum(map(mul, under, speeds) if speeds else under, Fraction(0))
    return crossed / packets if packets else None


def _arriving(routing: Routing, traffic: Traffic) -> Fraction:
    """Return the packets per cycle of a traffic that a partial routing delivers."""
    total = Fraction(0)
    for d, node in enumerate(routing.topology.terminals.tolist()):
        shares, over = routing.served(node)
        to_here = np.flatnonzero(traffic.destination == d)
        total += traffic.uniform / traffic.terminals * Fraction(product_sum(np.ones_like(shares), shares), over)
        sent = product_sum(traffic.amount[to_here], shares[traffic.source[to_here]])
        total += Fraction(sent, traffic.denominator * over)
    return total


def _distances(
    topology: Topology, served: Callable[[int], tuple[Array, int]]
) -> Iterator[tuple[tuple[Array, int], Array]]:
    """Yield for every terminal the shares of packets that arrive there, and how far they go; 0 where none do."""
    far = Distances(topology.nodes, topology.tail, topology.head, len(topology.terminals))
    for destination in topology.terminals.tolist():
        shares = served(destination)
        reached = np.where(shares[0] > 0, far([destination])[topology.terminals], 0)
        if (reached < 0).any():
            lost = topology.name_of(int(topology.terminals[int(np.argmin(reached))]))
            raise InputError(f"{topology.spec}: {topology.name_of(destination)} cannot be reached from {lost}")
        yield shares, reached
