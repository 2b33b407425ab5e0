"""What no routing can beat on a network and what one attains, with known routings that attain a lower bound."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from typing import Any, ClassVar, NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv._util.files import pack
from obliv._util.progress import Progress, rising, within
from obliv._util.rationals import real
from obliv.designs.bounds.congestion import (
    by_dimension_order,
    capacity_of,
    distance_under,
    least_congestion,
    require_connected,
)
from obliv.designs.bounds.lower import cut_load, farthest, first_lengths, load_of, narrow_bisection
from obliv.designs.design import Design
from obliv.designs.optimize import design
from obliv.designs.search import packed
from obliv.designs.solver import SolverTimeError, require_time
from obliv.designs.solver import time_limit as time_limit_of
from obliv.errors import InputError, TooLargeError
from obliv.questions.worst_case import WorstCase, worst_case, worst_load
from obliv.results.base import CERTIFICATE, Bar, Bars, Result, provenance
from obliv.results.codec import PACKED, derived, entry
from obliv.results.numbers import Bounds, bounds_of, float_bounds, short, shown
from obliv.routings.base import Routing
from obliv.routings.make import routing
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import axes_of
from obliv.topologies.make import topology as topology_of
from obliv.topologies.saved import carried
from obliv.topologies.trees import Tree

# Known routings that may attain a lower bound of any routing: then no linear program is needed


def best_known(topology: Topology, progress: Progress) -> tuple[Routing, Fraction] | None:
    """Return the known routing with the least worst case on a network of a family, and that worst case, exactly.

    On meshes, tori and hypercubes Valiant's, on meshes of two dimensions also U2TURN, on trees ECMP. None for other
    networks.

    Examples
    --------
    >>> import obliv
    >>> from obliv._util.progress import silent
    >>> best_known(obliv.mesh(7, 6), silent), best_known(obliv.complete(4), silent)
    ((<Routing u2turn on mesh:7x6>, Fraction(3, 1)), None)
    """
    best: tuple[Routing, Fraction] | None = None
    for spec in _specs(topology):
        progress(f"the worst case of {spec}", 0.0)
        known = routing(spec, topology)
        load = worst_load(known.pair_loads(), progress=progress)
        if best is None or load < best[1]:
            best = known, load
    return best


def _specs(topology: Topology) -> tuple[str, ...]:
    """Return the routings to try, those that are checked fastest first."""
    if not topology.unit_rates:
        return ()
    if isinstance(topology, Tree):
        return ("ecmp",)
    kinds = [axis.kind for axis in axes_of(topology)]
    if not kinds or not topology.all_terminals or not set(kinds) <= {"line", "ring"}:
        return ()
    return ("valiant", "u2turn") if kinds == ["line", "line"] else ("valiant",)


_ROUNDS = 6  # of the search for a bad permutation
_COLUMNS = 400_000  # of the largest program for one permutation
_FLOWS_A_SECOND = 20_000  # with which designs are made, about


def bounds(
    topology: Topology | str, *, gap: float = 1e-3, time_limit: float | None = None, progress: Progress | None = None
) -> NetworkBounds:
    """Return proved bounds of the least channel loads: capacity, oblivious and adaptive worst case, bisection.

    Parameters
    ----------
    topology : Topology or str
    gap : float
        Relative distance of the bounds of the oblivious worst case at which its search may end.
    time_limit : float, optional
        Seconds after which the search for the best oblivious routing is given up. Its worst case is then bounded from
        below by that of adaptive routing, and from above by two passes of uniform traffic, as in Valiant's routing.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    NetworkBounds
        Every number is exact, or a proved lower bound beside a load that is attained.

    Raises
    ------
    MissingExtraError
        If the solver (highspy) is not installed.
    TooLargeError
        If a linear program would not fit in memory, and terminals have rates. Without them the matching bound is
        returned, and what else can be computed: the worst cases between two bounds as after a time limit.

    Notes
    -----
    The capacity is a flow of uniform traffic, bounded by lengths of channels. The oblivious worst case is that of
    :func:`obliv.design`; but where two passes of uniform traffic, or U2TURN on a mesh, or ECMP on a tree attain the
    bound of adaptive routing, it is exactly that, and no linear program for it is solved. For adaptive routing the
    upper bound is the oblivious one, and the lower one the least load of a permutation: one far apart under some
    lengths, whose best flow gives new lengths, and so on. With unit lengths this is the matching bound, whose
    permutation is an exact assignment. A bisection is found by spectra and exchanges; no bisection is narrower than
    uniform traffic at capacity allows.

    References
    ----------
    [Nam21] P. Namyar et al., "A throughput-centric view of the performance of datacenter topologies", SIGCOMM 2021.

    Examples
    --------
    >>> import obliv
    >>> limits = obliv.bounds("mesh:4x4")
    >>> limits.capacity, limits.oblivious, limits.bisection
    (Fraction(1, 1), Fraction(2, 1), Fraction(2, 1))
    """
    began = time.perf_counter()
    network, step = topology_of(topology), rising(progress)
    require_connected(network)
    if not 0 < (gap := real(gap, "gap")) < 1:
        raise InputError(f"a gap of {gap:g}: choose a number between 0 and 1, such as 1e-3")
    if time_limit is not None and not (time_limit := real(time_limit, "time_limit")) > 0:
        raise InputError(f"a time limit of {time_limit:g}: choose a number of seconds above 0")
    end = inf if time_limit is None else time.monotonic() + time_limit
    matching, matched = matching_bound(network) if network.unit_rates else (None, None)
    half, certificate = narrow_bisection(network), dict[str, Any]()
    small = len(network.terminals) * network.channels <= _COLUMNS
    capacity = _capacity(network, certificate, within(step, 0.0, 0.2), end, small)
    known = _known(network, within(step, 0.2, 0.25), end)
    twice = None if capacity is None else 2 * _upper(capacity)  # two passes of uniform traffic, as in Valiant's
    upper = min((load for load in (twice, known and known[1]) if load is not None), default=None)
    lower, permutation, best = None, None, None
    if network.unit_rates and upper is not None:
        lower, permutation = _bad_permutation(network, half, certificate, within(step, 0.25, 0.5), end, upper)
    if lower is None or upper is None or lower < upper:
        best = _designed(network, gap, within(step, 0.5, 0.9), end, matching is not None)
    if best is not None and capacity is None:
        capacity = _capacity(network, certificate, within(step, 0.9, 0.95), end, True)
    if best is not None and lower is None and network.unit_rates:
        lower, permutation = _bad_permutation(network, half, certificate, within(step, 0.95, 1.0), end, None)
    routed: Design | WorstCase | None = best
    oblivious = None if best is None else best.channel_load
    if best is None and known is not None and lower is not None and (twice is None or known[1] < twice):
        routed, oblivious = worst_case(known[0], certificate=True), float_bounds(lower, known[1])
    if routed is not None:
        timeless = replace(routed, provenance=replace(routed.provenance, wall_seconds=0.0))
        certificate["oblivious"] = timeless.to_dict()
    else:
        inside = carried(network)
        certificate |= {} if inside is None else {"network": inside, "channels": network.channels}
    loads = _loads(network, half, capacity, oblivious, lower)
    exact = not any(isinstance(load, Bounds) for load in (capacity, *loads.values()))
    return NetworkBounds(
        topology=network.spec,
        routing="any",
        provenance=provenance(
            {"topology": network.spec},
            time.perf_counter() - began,
            "exact" if exact else "bounded",
            sources=network.sources,
        ),
        subject=None if routed is None else routed.subject,
        capacity=capacity,
        **loads,
        matching_bound=matching,
        permutation=permutation,
        matching_permutation=matched,
        certificate=certificate,
    )


def _loads(
    network: Topology,
    half: Array,
    capacity: Fraction | Bounds | None,
    oblivious: Fraction | Bounds | None,
    lower: Fraction | None,
) -> dict[str, Any]:
    """Return the worst cases and the load across a half, each as far as the others prove it.

    Shapes: `half` (nodes,).
    """
    upper = None if oblivious is None else _upper(oblivious)
    if oblivious is None and lower is not None and capacity is not None:
        upper = 2 * _upper(capacity)
    adaptive = None if lower is None or upper is None else float_bounds(lower, upper)
    if adaptive is not None and (oblivious is None or (lower is not None and lower > _lower(oblivious))):
        oblivious = adaptive
    limits = [] if upper is None else [upper]
    if capacity is not None and network.unit_rates:
        terminals = len(network.terminals)
        limits.append(Fraction(terminals, -(-terminals // 2)) * _upper(capacity))
    return {
        "oblivious": oblivious,
        "adaptive": adaptive,
        "bisection": float_bounds(cut_load(network, half), min(limits)) if limits else None,
        "half": tuple(np.flatnonzero(half).tolist()) if limits else (),
    }


def _lower(load: Fraction | Bounds) -> Fraction:
    return load.lower if isinstance(load, Bounds) else load


def _upper(load: Fraction | Bounds) -> Fraction:
    return load.upper if isinstance(load, Bounds) else load


def matching_bound(topology: Topology) -> tuple[Fraction, tuple[int, ...]]:
    """Return the largest Σ distance of a permutation over Σ bandwidth, which no routing beats, and the permutation.

    Packets of a permutation cross at least as many channels as its distances add up to (Namyar et al., TUB).

    Examples
    --------
    >>> import obliv
    >>> matching_bound(obliv.topology("ring:5"))[0]
    Fraction(1, 1)
    """
    hops = np.ones(topology.channels, np.int64)
    image = farthest(distance_under(topology, hops))
    return load_of(topology, image, hops), image


def _capacity(
    network: Topology, certificate: dict[str, Any], step: Progress, end: float, programme: bool
) -> Fraction | Bounds | None:
    """Return the capacity, with its proof in the certificate; None if there was no time, or it takes a `programme`."""
    step("capacity", 0.0)
    try:
        with time_limit_of(end - time.monotonic()):
            found = by_dimension_order(network)
            if found is None and programme:
                found = capacity_of(network, step)
    except SolverTimeError:
        return None
    if found is None:
        return None
    least, uniform = found
    certificate["capacity_lengths"] = pack(least.length)
    whole = uniform.paths.whole // len(network.terminals)
    certificate["capacity_paths"] = packed(uniform.paths._replace(whole=whole))
    return float_bounds(least.lower, uniform.load)


def _known(network: Topology, step: Progress, end: float) -> tuple[Routing, Fraction] | None:
    """Return the best known routing and its worst case; None if there is none, no time or no memory."""

    def progress(what: str, share: float) -> None:
        require_time()
        step(what, share)

    try:
        with time_limit_of(end - time.monotonic()):
            return best_known(network, progress)
    except (SolverTimeError, TooLargeError):
        return None


def _designed(network: Topology, gap: float, step: Progress, end: float, bounded: bool) -> Design | None:
    """Return the best oblivious routing; None if there was no time, or no memory and the worst case is `bounded`."""
    seconds = end - time.monotonic()
    sources = 1 if network.translations else len(network.terminals)
    if sources * len(network.terminals) * network.channels > _FLOWS_A_SECOND * seconds:
        return None  # making the linear program would take longer

    def progress(what: str, share: float) -> None:
        require_time()
        step(what, share)

    try:
        with time_limit_of(seconds):
            return design(network, then=None, gap=gap, progress=progress)
    except SolverTimeError:
        return None
    except TooLargeError:
        if not bounded:
            raise
        return None


def _bad_permutation(
    topology: Topology,
    half: Array,
    certificate: dict[str, Any],
    progress: Progress,
    end: float,
    enough: Fraction | None,
) -> tuple[Fraction, tuple[int, ...]]:
    """Return the best proved load of a permutation found in time, or one that is enough, and the permutation.

    Its proof is put into the certificate.
    """
    if not topology.channels:
        raise InputError("a network without channels has no bounds")
    progress("adaptive routing", 0.0)
    first = [_bad_under(topology, lengths) for lengths in first_lengths(topology, half)]
    best = max(first, key=lambda bad: bad.load)
    small = len(topology.terminals) * topology.channels <= _COLUMNS
    end -= 0.5 * max(end - time.monotonic(), 0.2) if end < inf else 0.0  # half of the time that is left
    for bad in first if small else ():
        for turn in range(_ROUNDS):
            if (turn and bad.load <= best.load) or (enough is not None and best.load >= enough):
                break
            try:
                with time_limit_of(end - time.monotonic()):
                    least = least_congestion(topology, bad.traffic, 1)
            except SolverTimeError:
                break
            best = max(best, bad, _Bad(least.lower, bad.image, least.length), key=lambda found: found.load)
            bad = _bad_under(topology, least.length)
            progress("adaptive routing", (turn + 1) / _ROUNDS)
        best = max(best, bad, key=lambda found: found.load)
    certificate["adaptive_lengths"] = pack(best.lengths)
    return best.load, best.image


class _Bad(NamedTuple):
    """A permutation, and the load that lengths prove for it under any routing."""

    load: Fraction
    image: tuple[int, ...]
    lengths: Array

    @property
    def traffic(self) -> Array:
        """The packets of every pair of terminals."""
        return np.eye(len(self.image), dtype=np.int64)[list(self.image)]


def _bad_under(topology: Topology, lengths: Array) -> _Bad:
    """Return the permutation that is farthest apart under lengths."""
    image = farthest(distance_under(topology, lengths))
    return _Bad(load_of(topology, image, lengths), image, lengths)


# The result of bounds: what no routing can beat on a network, and what one attains


NO_PERMUTATION = "adaptive routing is bounded where every terminal sends and takes one packet per cycle"
TOO_LARGE = "the linear program does not fit in memory or in the time limit"


@dataclass(frozen=True, repr=False)
class NetworkBounds(Result):
    """Largest channel loads that no routing can beat, and what one attains: each exact or between two proved bounds.

    Parameters
    ----------
    capacity : Fraction or Bounds, optional
        Under uniform traffic, with the best routing for it. None, like `oblivious` and what follows from them, where
        the linear program does not fit in memory.
    oblivious : Fraction or Bounds, optional
        In the worst case of the best oblivious routing.
    adaptive : Fraction or Bounds, optional
        Under the worst permutation, with the best routing for each: what any adaptive routing could guarantee.
    bisection : Fraction or Bounds, optional
        Of the channels across the narrowest bisection, when every packet of one half crosses it.
    matching_bound : Fraction, optional
        Of the permutation with the longest shortest paths, if these were spread over all channels evenly: no routing,
        oblivious or adaptive, has a smaller worst case (Namyar et al.).
    permutation : tuple of int, optional
        A permutation with at least the lower bound of `adaptive`.
    matching_permutation : tuple of int, optional
        The permutation of `matching_bound`.
    half : tuple of int
        The nodes on one side of a narrow bisection.

    Examples
    --------
    >>> import obliv
    >>> obliv.bounds("torus:4x4")
    bounds: least channel loads on torus:4x4
      capacity                  1/2 = 0.5
      oblivious                 1
      adaptive                  1
      bisection                 1
      matching bound            1
      price of being oblivious  1
    """

    kind: ClassVar[str] = "bounds"

    capacity: Fraction | Bounds | None = entry(
        None, label="capacity", text=lambda bounds: _load(bounds.capacity), column="capacity", reason=TOO_LARGE
    )
    oblivious: Fraction | Bounds | None = entry(
        None, label="oblivious", text=lambda bounds: _load(bounds.oblivious), column="oblivious", reason=TOO_LARGE
    )
    adaptive: Fraction | Bounds | None = entry(
        None,
        label="adaptive",
        column="adaptive",
        reason=lambda bounds: TOO_LARGE if bounds.oblivious is None else NO_PERMUTATION,
    )
    bisection: Fraction | Bounds | None = entry(None, label="bisection", column="bisection", reason=TOO_LARGE)
    matching_bound: Fraction | None = entry(
        None, label="matching bound", column="matching_bound", reason=NO_PERMUTATION
    )

    @property
    @derived(label="price of being oblivious", text=lambda bounds: _price(bounds.price))
    def price(self) -> Fraction | Bounds | None:
        """The oblivious worst case over the adaptive one."""
        if self.oblivious is None or self.adaptive is None:
            return None
        low, high = bounds_of(self.oblivious), bounds_of(self.adaptive)
        lower, upper = max(Fraction(1), low[0] / high[1]), low[1] / high[0]
        return lower if lower == upper else Bounds(lower, upper)

    permutation: tuple[int, ...] | None = entry(None, codec=PACKED, rank=1, reason=NO_PERMUTATION)
    matching_permutation: tuple[int, ...] | None = entry(None, codec=PACKED, rank=1, reason=NO_PERMUTATION)
    half: tuple[int, ...] = entry((), codec=PACKED, rank=1)
    certificate: dict[str, Any] | None = entry(None, codec=CERTIFICATE, rank=2)

    @property
    def title(self) -> str:
        return f"bounds: least channel loads on {self.topology}"

    def bars(self) -> Bars:
        """Return the least channel loads."""
        bars = [
            Bar("uniform traffic\n(capacity)", self.capacity),
            Bar("worst case,\noblivious routing", self.oblivious),
            Bar("worst case,\nadaptive routing", self.adaptive),
            Bar("across the\nbisection", self.bisection, "beside"),
            Bar("longest matching\n(a lower bound)", self.matching_bound, "beside"),
        ]
        known = any(bar.value is not None for bar in bars)
        bars = [bar if bar.value is not None else replace(bar, text="not known") for bar in bars] if known else []
        price = [] if self.price is None else [f"price of being oblivious {short(self.price)}"]
        return Bars(bars, "least channel load of any routing", ["Bounds on {topology}", *price])


def _load(load: Fraction | Bounds | None) -> str:
    return f"- ({TOO_LARGE})" if load is None else shown(load)


def _price(price: Fraction | Bounds | None) -> str | None:
    return None if price is None else shown(price)
