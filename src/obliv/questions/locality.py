"""Locality: how far packets go compared with the least possible; channel loads estimated from random paths."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import hypot, sqrt
from operator import mul
from typing import Any, ClassVar

import numpy as np

from obliv._util.arrays import Array, product_sum
from obliv._util.progress import Progress, rising
from obliv._util.text import plural
from obliv.errors import InputError
from obliv.loads.base import PairLoads
from obliv.patterns.base import Traffic
from obliv.patterns.files import permutation
from obliv.questions.subject import Subject, by_specs, identity, loads_of, subject_of
from obliv.results.base import Curve, Lines, Mark, Result
from obliv.results.codec import Codec, codec_of, derived, entry
from obliv.results.numbers import Estimate, as_float, brief, short
from obliv.routings.base import Routing
from obliv.routings.samples import PathSampler, class_of_pair
from obliv.routings.shortest import Distances
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import axes_of

# The result of a locality analysis


_SHARE = codec_of(Fraction)
_LENGTHS = Codec(
    lambda lengths: [{"hops": hops, "share": _SHARE.encode(share)} for hops, share in enumerate(lengths)],
    lambda rows: tuple(_SHARE.decode(row["share"]) for row in rows),
)


@dataclass(frozen=True, repr=False)
class Locality(Result):
    """Path lengths: the mean over all pairs, its ratio to the minimum, and the distribution over all paths.

    ``lengths[h]`` is the share of pairs and paths that take h channels; None where only pair loads were given.
    ``skipped`` counts the pairs that a partial routing leaves out, as a whole or for a share of their packets.

    Examples
    --------
    >>> import obliv
    >>> obliv.locality(obliv.ROMM(obliv.mesh(3, 3)))
    locality: romm on mesh:3x3
      mean hops      16/9 = 1.77778
      minimal        16/9 = 1.77778
      times minimal  1
      longest path   4
    """

    kind: ClassVar[str] = "locality"

    hops: Fraction = entry(Fraction(0), label="mean hops")
    minimal_hops: Fraction = entry(Fraction(0), label="minimal")

    @property
    @derived(label="times minimal", reason="no terminal has another one to send to")
    def hops_over_minimal(self) -> Fraction | None:
        """Mean hops divided by the minimum for any routing; None if there is only one terminal."""
        return self.hops / self.minimal_hops if self.minimal_hops else None

    lengths: tuple[Fraction, ...] | None = entry(
        None,
        codec=_LENGTHS,
        label="longest path",
        text=lambda locality: None if locality.lengths is None else str(len(locality.lengths) - 1),
        reason="pair loads do not tell paths apart: give a routing",
    )

    skipped: int = entry(
        0,
        omit=lambda locality: not locality.skipped,
        label="left out",
        text=lambda locality: (
            f"{plural(locality.skipped, 'pair')} whose packets do not arrive" if locality.skipped else None
        ),
    )

    def lines(self) -> Lines:
        """Return the share of pairs and paths of each length, with the mean and that of the shortest paths."""
        if not self.lengths:
            raise InputError("pair loads do not tell paths apart: the lengths of a routing can be drawn")
        shares = [as_float(share) for share in self.lengths]
        mean, least = as_float(self.hops), as_float(self.minimal_hops)
        marks = [Mark(least, "least mean ", "right"), Mark(mean, " mean", "left")]
        return Lines(
            [Curve("columns", range(len(shares)), shares, texts=[brief(share) for share in self.lengths])],
            "hops of a path",
            "share of pairs and paths",
            (5.2, 2.8),
            (-0.6, len(shares) - 0.4),
            (0.0, 1.12 * max(shares)),
            ["{subject}", f"mean hops {short(self.hops)}"],
            [] if least in (0.0, mean) else [f"{short(self.hops_over_minimal)} times the least"],
            [Mark(mean, "mean, the least possible")] if mean == least else marks,
            whole=True,
        )

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each length of paths."""
        own = self.cells()
        for length, share in enumerate(self.lengths or ()):
            yield own | {"hops": length, "share": share}


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
    if axes_of(topology) and topology.all_terminals:
        return sum((Fraction(int(along.distances.sum()), along.radix**2) for along in axes_of(topology)), Fraction(0))
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


# Channel loads estimated from random paths, with an error that holds for the largest of many


#: Within so many standard errors on either side in 95 of 100 cases.
_SPREAD = 1.96

#: Random paths per pair from which on the intervals hold what they should in 95 of 100 cases.
_ENOUGH = 5

#: Random permutations on which samples of paths are compared, and into how many batches fresh paths are divided.
_PERMUTATIONS, _BATCHES = 50, 8

#: By how much a standard error from so few batches has to be enlarged: Student's t with 7 degrees of freedom over 1.96.
_FEW = 2.365 / 1.96


def pair_rates(traffic: Traffic) -> list[tuple[int, int, Fraction]]:
    """Return a traffic as flows between terminals, every pair at most once."""
    if traffic.uniform:
        rates = traffic.to_matrix()
        return [(s, d, rate) for s, row in enumerate(rates) for d, rate in enumerate(row) if rate]
    columns = (traffic.source.tolist(), traffic.destination.tolist(), traffic.amount.tolist())
    return [(s, d, Fraction(amount, traffic.denominator)) for s, d, amount in zip(*columns, strict=True)]


def largest_load(
    routing: Routing,
    samples: int,
    channel: int,
    flows: Iterable[tuple[int, int, Fraction]],
    seen: Fraction,
    rng: np.random.Generator,
) -> Estimate:
    """Estimate a largest load: that of the traffic and channel that are worst by a sample of paths.

    The load in the sample is a maximum over noise, and therefore biased upwards. The load of the same traffic on fresh
    paths is biased downwards. The interval reaches from the second minus its noise to the first plus its noise. Pairs
    of one class under the symmetries of the routing share their paths in the sample, so their noise is added in full.

    A path that is rare may not have been drawn at all. The noise of a pair is therefore never zero: its variance is at
    least that of a share with two more packets on either side (Agresti and Coull).
    """
    topology = routing.topology
    nodes, n = topology.terminals.tolist(), len(topology.terminals)
    group = class_of_pair(routing)
    fresh = fresh_variance = 0.0
    shared: dict[int, float] = {}
    for s, d, amount in flows:
        rate, mean, square = float(amount), 0.0, 0.0
        for (c, times), packets in routing.crossings(nodes[s], nodes[d], samples, rng).items():
            if c == channel:
                mean += times * packets / samples
                square += times**2 * packets / samples
        share = (min(mean, 1.0) * samples + 2) / (samples + 4)
        variance = rate**2 * max((square - mean**2) / (samples - 1), share * (1 - share) / (samples + 4))
        fresh += rate * mean
        fresh_variance += variance
        of = int(group[s * n + d])
        shared[of] = shared.get(of, 0.0) + sqrt(variance)
    speed = float(topology.bandwidth_of(channel))
    low = fresh / speed - _SPREAD * sqrt(fresh_variance) / speed
    high = max(float(seen) + _SPREAD * sqrt(sum(noise**2 for noise in shared.values())) / speed, low)
    return _in_between(low, high, samples, samples)


def average_largest(routing: Routing, load: Estimate, drawn: PairLoads, rng: np.random.Generator) -> Estimate:
    """Widen an average of largest loads for the paths having been sampled.

    `load` averages maxima over noise: it is too large, but for the noise common to all permutations. The loads of the
    same channels on fresh paths average to too little, but for theirs. Batches of fresh paths tell how large both are.
    """
    samples = max(2, -(-(drawn.samples or 0) // _BATCHES))
    worst, seen = [], 0.0
    for _ in range(_PERMUTATIONS):
        traffic = permutation(rng.permutation(drawn.terminals).tolist())
        loads = drawn.under(traffic)
        channel = max(range(len(loads)), key=loads.__getitem__)
        worst.append((traffic, channel))
        seen += float(loads[channel]) / _PERMUTATIONS
    fresh = []
    sampler = PathSampler(routing)
    for _ in range(_BATCHES):
        batch = sampler.loads(samples, rng)
        fresh.append(float(np.mean([float(batch.load_under(traffic, channel)) for traffic, channel in worst])))
    bias = max(seen - float(np.mean(fresh)), 0.0)
    unseen = sqrt(2.0 * drawn.terminals) / (_BATCHES * samples + 4)  # as in largest_load: paths that were never drawn
    noise = max(_FEW * float(np.std(fresh, ddof=1)) / sqrt(_BATCHES), unseen)
    middle, width = load.value - bias / 2, bias / 2 + _SPREAD * hypot(load.stderr, noise)
    return _in_between(middle - width, middle + width, load.samples, drawn.samples or 0)


def _in_between(low: float, high: float, samples: int, paths: int) -> Estimate:
    """Return the estimate in the middle of an interval, from so many paths per pair."""
    interval = (max(low, 0.0), high) if paths >= _ENOUGH else None
    return Estimate((low + high) / 2, (high - low) / (2 * _SPREAD), samples, interval, interval is not None)
