"""The performance ratio of a routing under single traffic patterns, and its mean over random placements."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csc_array

from obliv._util.arrays import Array
from obliv._util.files import pack
from obliv._util.progress import Progress, rising, within
from obliv._util.rationals import boolean, integer
from obliv._util.rng import Rng, drawn_seed, within_word
from obliv.designs.bounds.congestion import (
    CarryingPaths,
    Congestion,
    PathCongestion,
    carried,
    demand_of,
    invariant,
    least_congestion,
    least_congestion_over,
    listed_paths,
    require_connected,
)
from obliv.designs.programme import symmetry_of
from obliv.designs.solver import FEWER_MAGNITUDES, Optimum, SolverError, require_solver, solve
from obliv.errors import InputError
from obliv.loads.base import PairLoads
from obliv.patterns.base import Traffic
from obliv.patterns.base import traffic as traffic_of
from obliv.questions.ratio import PatternRatio, TrafficRatio, base_load, has_base_load, max_link_load, require_packets
from obliv.questions.subject import Subject, by_specs, exactness_of, loads_of, name_of, sources_of, subject_of
from obliv.results.base import provenance
from obliv.results.numbers import Bounds, Estimate, bounds_of, float_bounds
from obliv.routings.base import Routing
from obliv.routings.listed import PathList
from obliv.specs.registry import PATTERNS
from obliv.topologies.base import Instead, Topology, find
from obliv.topologies.saved import carried as topology_in_claim

_MOST_INSTANCES = 10**9


@dataclass(frozen=True)
class _Measured:
    """The largest link load of a routing, and that of the best one: each between two bounds, or exact."""

    own: tuple[Fraction, Fraction]
    least: tuple[Fraction, Fraction]
    proof: dict[str, Any] | None = None

    @property
    def load(self) -> Fraction | Bounds:
        return float_bounds(*self.own)

    @property
    def optimal(self) -> Fraction | Bounds:
        return float_bounds(*self.least)

    @property
    def ratio(self) -> Fraction | Bounds:
        (low, high), (lower, upper) = self.own, self.least
        return float_bounds(max(Fraction(1), low / upper) if low < high else low / upper, high / lower)


class _Best:
    """The least largest load of any traffic on a network: by the closed form, or by a linear program for each."""

    def __init__(self, topology: Topology) -> None:
        if (instead := find(topology, Instead)) is not None:
            raise InputError(f"{topology.spec}: {instead.ratio}")
        self.topology = topology
        self.solves = not has_base_load(topology)
        if self.solves:
            require_solver()
            require_connected(topology)
            self._symmetry = symmetry_of(topology)

    def measured(self, own: PairLoads | PathList, traffic: Traffic, progress: Progress) -> _Measured:
        """Return the loads of a traffic; over given paths with the best rates for it."""
        require_packets(traffic, base_load(traffic))
        least, proof = self._solved(traffic, progress) if self.solves else ((base_load(traffic),) * 2, None)
        if isinstance(own, PairLoads):
            return _Measured((max_link_load(own, traffic),) * 2, least, proof)
        over = least_congestion_over(self.topology, *demand_of(traffic), own, progress)
        if proof is not None:
            proof |= _rates(own, over, len(self.topology.terminals))
        return _Measured((over.lower, over.upper), least, proof)

    def average(self, own: PairLoads | PathList, spec: Any, seeds: range, progress: Progress) -> PatternRatio:
        """Return the means over random placements, one for each seed."""
        placements = []
        for done, seed in enumerate(seeds, 1):
            placements.append(self.measured(own, traffic_of(_placed(spec, seed), self.topology), progress))
            progress(str(spec), done / len(seeds))
        ratio, load, optimal = (
            _mean([getattr(row, name) for row in placements]) for name in ("ratio", "load", "optimal")
        )
        return PatternRatio(str(spec), ratio, load, optimal)

    def _solved(self, traffic: Traffic, progress: Progress) -> tuple[tuple[Fraction, Fraction], dict[str, Any]]:
        """Return bounds of the least largest load, by lengths of channels and by paths, and their proof."""
        demand, scale = demand_of(traffic)
        symmetry = invariant(self._symmetry, demand)
        least = least_congestion(self.topology, demand, scale, symmetry, progress)
        if not least.lower:
            raise SolverError(f"the multipliers of the linear program prove nothing; {FEWER_MAGNITUDES}")
        best = carried(self.topology, demand, scale, least)
        return (least.lower, best.load), self._proof(demand, scale, least, best)

    def _proof(self, demand: Array, scale: int, least: Congestion, best: CarryingPaths) -> dict[str, Any]:
        """Return the proof of both bounds of the least load, with its traffic."""
        flow = best.flow(self.topology.channels)
        return {
            "demand": pack(_rows(demand)),
            "scale": scale,
            "lengths": pack(least.length),
            "flows": pack(_rows(flow)),
            "whole": best.paths.whole,
        }


def _rows(table: Array) -> Array:
    """Return the entries of a table that are not 0 as rows of both indices and the value."""
    one, two = np.nonzero(table)
    return np.stack([one, two, table[one, two]], axis=1)


def _rates(paths: PathList, over: PathCongestion, terminals: int) -> dict[str, Any]:
    """Return the proof of both bounds of the least load over given paths: rates of the paths used, and lengths."""
    used = np.flatnonzero(over.amount)
    pair = np.searchsorted(paths.pair, used, side="right") - 1
    rows = np.stack([pair // terminals, pair % terminals, used - paths.pair[pair], over.amount[used]], axis=1)
    return {"rates": pack(rows), "path_whole": over.whole, "path_lengths": pack(over.length)}


def _mean(values: list[Fraction | Bounds]) -> Estimate:
    """Return the mean over instances with its standard error, to which half the widest pair of bounds is added."""
    bounds = [bounds_of(value) for value in values]
    floats = [float((lower + upper) / 2) for lower, upper in bounds]
    mean = sum(floats) / len(floats)
    error = sqrt(sum((value - mean) ** 2 for value in floats) / (len(floats) - 1) / len(floats))
    return Estimate(mean, error + max(float(upper - lower) / 2 for lower, upper in bounds), len(floats))


@by_specs
def traffic_ratio(
    x: Subject,
    *traffic: str | Traffic,
    instances: int = 0,
    adaptive: bool = False,
    rng: Rng = None,
    certificate: bool = False,
    progress: Progress | None = None,
) -> TrafficRatio:
    """Return the performance ratio under each traffic, or its mean over random placements.

    Parameters
    ----------
    x : Routing or PairLoads
        On any network.
    *traffic : Traffic or str
        Patterns, or their specs; one that is given twice has one row.
    instances : int
        Number of random placements to average over, for specs with a ``seed``; 0 evaluates each traffic once.
    adaptive : bool
        Use the paths of the routing with the best rates for each traffic (semi-oblivious) instead of its own.
    rng : numpy.random.Generator or int, optional
        Source of the first seed, or the seed itself; default 0.
    certificate : bool
        Whether to keep the proof of the least loads; not for networks with the closed form or with `instances`.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    TrafficRatio
        Exact for single patterns, or between two proved bounds; an estimate with its standard error over placements.

    Raises
    ------
    InputError
        If no traffic is given, if `instances` are asked for a traffic that is not random, if the routing leaves pairs
        out, or if the network is a fabric.
    TopologyError
        If some terminals cannot reach each other.
    MissingExtraError
        If the solver (highspy) is needed and not installed.
    TooLargeError
        If a linear program would not fit in memory.

    Notes
    -----
    On fat trees with a closed form of the best routing, the closed form is used. On all other networks a linear program
    minimizes the largest load of the traffic, with a flow for each source. No number of the solver is trusted: lengths
    of channels prove the lower bound of that load, explicit paths attain the upper one, both in exact arithmetic.
    Packets from a terminal to itself count for neither routing. What terminals send is not limited, since the ratio
    depends on proportions alone: matrices of a unit for each pair are taken as they are.

    Examples
    --------
    >>> import obliv
    >>> routing = obliv.routing("dmodk", obliv.topology("fattree:4,2"))
    >>> [str(row.ratio) for row in traffic_ratio(routing, "shift:1", "random-permutation").patterns]
    ['1', '2']
    >>> routing = obliv.routing("dor", obliv.topology("torus:4x4"))
    >>> obliv.traffic_ratio(routing, "transpose").ratio
    Fraction(3, 1)
    """
    adaptive, certificate = boolean(adaptive, "adaptive"), boolean(certificate, "certificate")
    began = time.perf_counter()
    step = rising(progress)
    if not traffic:
        raise InputError("no traffic is given; pass a spec such as 'torus3d', or a Traffic")
    instances = integer(instances, "instances")
    if instances > _MOST_INSTANCES:
        raise InputError(f"{instances} instances: use at most {_MOST_INSTANCES:,}")
    if instances < 0 or instances == 1:
        raise InputError(
            f"{instances} instances: at least 2 are needed for a standard error, 0 takes the traffic as it is"
        )
    subject = subject_of(x, "traffic_ratio")
    best = _Best(subject.topology)
    routed = _own(subject, adaptive, within(step, 0.0, 0.3))
    seed = drawn_seed(rng, below=2**31)
    rows: list[PatternRatio] = []
    proofs: list[dict[str, Any] | None] = []
    sources = sources_of(subject)
    flows: dict[Traffic, str | Traffic] = {}  # each once
    for given in traffic:
        flows.setdefault(traffic_of(any_rows(given) if isinstance(given, str) else given, best.topology), given)
    for number, (flow, given) in enumerate(flows.items()):
        flow_step = within(step, 0.3 + 0.7 * number / len(flows), 0.3 + 0.7 * (number + 1) / len(flows))
        sources += flow.sources
        if instances:
            rows.append(best.average(routed, given, _seeds(seed, instances), flow_step))
            continue
        one = best.measured(routed, flow, flow_step)
        proofs.append(one.proof)
        rows.append(PatternRatio(flow.spec, one.ratio, one.load, one.optimal))
        flow_step("linear programs" if best.solves else "patterns", 1.0)
    routing = name_of(subject)
    proof = None
    if certificate and best.solves and not instances:
        network = topology_in_claim(best.topology)
        proof = {} if network is None else {"network": network, "channels": list(range(best.topology.channels))}
        denominator = routed.denominator if isinstance(routed, PairLoads) else 1
        proof |= {"denominator": str(denominator), "patterns": proofs, "sources": dict(sources)}
    return TrafficRatio(
        topology=best.topology.spec,
        routing=routing,
        provenance=provenance(
            {"topology": best.topology.spec, "routing": routing, "traffic": [row.traffic for row in rows]},
            time.perf_counter() - began,
            "estimated"
            if instances
            else "bounded"
            if any(isinstance(row.ratio, Bounds) for row in rows)
            else exactness_of(subject, None),
            seed if instances else None,
            sources,
        ),
        subject=x,
        patterns=tuple(rows),
        adaptive=adaptive,
        certificate=proof,
    )


def _own(subject: Routing | PairLoads, adaptive: bool, progress: Progress) -> PairLoads | PathList:
    """Return the pair loads of a routing or, for adaptive rates, its paths."""
    if adaptive and not isinstance(subject, Routing):
        raise InputError("adaptive rates need a routing with paths, not pair loads")
    partial = InputError(f"{name_of(subject)} leaves pairs out; the ratio needs a routing that serves all pairs")
    if subject.partial:
        raise partial
    if adaptive and isinstance(subject, Routing):
        require_solver()
        return listed_paths(subject, progress)
    loads = loads_of(subject, "traffic_ratio", progress).without_self()
    if loads.partial:
        raise partial
    return loads


def _seeds(seed: int, instances: int) -> range:
    """Return the seeds of the instances; those of a large seed still fit into a spec, which takes 18 digits."""
    if (seed + 1) * instances > 10**18:
        seed = within_word(seed, 29)
    return range(seed * instances, (seed + 1) * instances)


def any_rows(spec: str) -> str:
    """Return the spec of a file of rates such that its rows may have any sum; all other specs as they are."""
    return f"{spec},rows=any" if spec.startswith(("matrix:", "flows:")) and ",rows=" not in spec else spec


def _placed(spec: Any, seed: int) -> str:
    """Return the spec with a seed of its own."""
    name = spec.partition(":")[0] if isinstance(spec, str) else ""
    if not name or name not in PATTERNS or "seed" not in PATTERNS.find(name).parameters:
        raise InputError(f"{spec} is not random: leave out the instances, or use a job such as torus3d")
    if "seed=" in spec:
        raise InputError(f"{spec}: leave out the seed; each instance has its own")
    return f"{spec}{',' if ':' in spec else ':'}seed={seed}"


# The linear program of the worst traffic for one channel, among all that some routing carries with congestion 1.
#
# ``g_s(h)`` is the flow from source s over channel h. What enters a terminal n beyond what leaves it is the traffic
# from s to n, so no column stands for the traffic itself (Applegate and Cohen)::
#
#     maximize    Σ_s Σ_h g_s(h) · (f_s,head(h)(e) − f_s,tail(h)(e))
#     subject to  in(n) − out(n) of g_s  ≥ 0  at terminals n ≠ s,  = 0 at other nodes
#                 Σ_s g_s(h)  ≤ b_h  on every channel h,    g ≥ 0,  no flow into s
#
# Only sources that use channel e take part, or only destinations, with all channels reversed, if those are fewer. That
# is much faster than one matrix for all channels e, solved again from the last basis.


@dataclass(frozen=True, eq=False)
class RatioTraffic:
    """What the solver says of one channel: believed only as far as bounds prove it.

    Parameters
    ----------
    ends : integer array, shape (k,)
        Numbers of the terminals by which flows are added up.
    by_source : bool
        Whether these are the sources of the flows, or their destinations.
    flows : float array, shape (k, channels)
    lengths : float array, shape (channels,)
        The multipliers of the channels' bandwidths.
    value : float
        The optimum.
    """

    ends: Array
    by_source: bool
    flows: Array
    lengths: Array
    value: float


def worst_traffic(topology: Topology, bandwidth: Array, value: Array) -> RatioTraffic:
    """Return the traffic of congestion at most 1 that is worth most.

    Shapes: `bandwidth` (channels,), `value` (terminals, terminals).
    """
    tail, head = topology.tail.astype(np.int64), topology.head.astype(np.int64)
    sources, destinations = np.flatnonzero(value.any(axis=1)), np.flatnonzero(value.any(axis=0))
    by_source = len(sources) <= len(destinations)
    if not by_source:
        tail, head, value = head, tail, value.T
    ends = sources if by_source else destinations
    first = topology.terminals.astype(np.int64)[ends]
    at_node = np.zeros((len(ends), topology.nodes))
    at_node[:, topology.terminals] = value[ends]
    end, channel = (part.ravel() for part in np.indices((len(ends), topology.channels)))
    away = head[channel] != first[end]
    end, channel = end[away], channel[away]
    matrix, lower, upper = _programme_rows(first, at_node > 0, (end, tail[channel], head[channel], channel), bandwidth)
    cost = at_node[end, tail[channel]] - at_node[end, head[channel]]
    optimum: Optimum = solve(matrix, lower, upper, cost, tolerance=None, from_zero=True)
    flows = np.zeros((len(ends), topology.channels))
    flows[end, channel] = np.maximum(optimum.columns, 0)
    lengths = np.maximum(-optimum.duals[-topology.channels :], 0)
    return RatioTraffic(ends, by_source, flows, lengths, -float(cost @ optimum.columns))


def _programme_rows(
    first: Array, takes: Array, columns: tuple[Array, Array, Array, Array], bandwidth: Array
) -> tuple[csc_array, Array, Array]:
    """Return the matrix and the limits of its rows: balances of flows at nodes, then bandwidths of channels.

    Traffic that is worth nothing is left out: flow ends only where `takes` says so, a table of flows and nodes.
    """
    end, tail, head, channel = columns
    balanced = np.ones(takes.shape, bool)
    balanced[np.arange(len(first)), first] = False  # nothing is required of the source itself
    row = np.where(balanced, np.cumsum(balanced).reshape(balanced.shape) - 1, -1)
    balances, channels, count = int(balanced.sum()), len(bandwidth), len(end)
    entering, leaving, number = row[end, head], row[end, tail], np.arange(count)
    inner = leaving >= 0
    matrix = coo_array(
        (
            np.repeat([1.0, -1.0, 1.0], [count, int(inner.sum()), count]),
            (
                np.concatenate([entering, leaving[inner], balances + channel]),
                np.concatenate([number, number[inner], number]),
            ),
        ),
        shape=(balances + channels, count),
    )
    lower = np.concatenate([np.zeros(balances), np.full(channels, -np.inf)])
    upper = np.concatenate([np.where(takes[balanced], np.inf, 0.0), bandwidth])
    return csc_array(matrix), lower, upper
