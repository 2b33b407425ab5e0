"""The exact worst case of a routing, over all admissible traffic, with a certificate."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from obliv._util.typing import Array
from obliv.analysis.worst_case.certificate import certificate_of
from obliv.analysis.worst_case.channels import best_flow, rates_of, solve_channels
from obliv.analysis.worst_case.symmetry import orbits, verified
from obliv.errors import InputError
from obliv.loads.base import PairLoads
from obliv.results import Estimate, WorstCase, provenance
from obliv.routings.base import Routing

__all__ = ["worst_case"]

Progress = Callable[[str, float], None]


def worst_case(
    x: Any,
    *,
    symmetry: str = "auto",
    certificate: bool = False,
    samples: int | None = None,
    rng: np.random.Generator | int | None = None,
    progress: Progress | None = None,
) -> WorstCase:
    """The largest load that any admissible traffic puts on a channel (Towles, section 3).

    Parameters
    ----------
    x : Routing or PairLoads
        What to analyse.
    symmetry : {"auto", "search", "off"}
        ``auto`` uses the topology's own symmetries, ``search`` looks for automorphisms first (needs igraph), ``off``
        solves every channel. Each is used only after it was verified on the pair loads.
    certificate : bool
        Whether to keep what proves the claim for all channels, for :meth:`~obliv.WorstCase.save`.
    samples : int, optional
        Estimate the pair loads from so many random paths a pair, for routings with too many paths to enumerate.
        The result is then an estimate: the traffic found is evaluated again on a fresh sample, since a maximum over
        noise is biased upwards.
    rng : numpy.random.Generator or int, optional
        Source of the samples, or its seed; default 0.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    WorstCase
        Exact: integers over a common denominator throughout, no rounding anywhere.

    Raises
    ------
    RoutingError
        If the routing has loops or gaps.
    TooLargeError
        If the pair loads would not fit in memory.

    Notes
    -----
    By Birkhoff's theorem a permutation attains the worst case of a channel, which is a maximum-weight matching of its
    pair loads; where terminals have rates it is a transportation problem and the witness a traffic matrix.

    References
    ----------
    B. Towles, "Finding worst-case permutations for oblivious routing algorithms", Stanford CVA memo 121, 2001.

    Examples
    --------
    >>> import obliv
    >>> result = obliv.worst_case(obliv.routing("dor", obliv.topology("torus:5x5x5")))
    >>> result.channel_load, result.fraction_of_capacity
    (Fraction(10, 1), Fraction(3, 50))
    """
    began = time.perf_counter()
    step = progress or (lambda what, share: None)
    if samples is not None and certificate:
        raise InputError("an estimate has no certificate: leave out samples or the certificate")
    seed = None if samples is None or isinstance(rng, np.random.Generator) else rng or 0
    drawn = rng if isinstance(rng, np.random.Generator) else np.random.default_rng(seed or 0)
    loads = _loads_of(x, samples, drawn, step)
    topology = loads.topology
    found = orbits(loads, _maps(loads, symmetry, step))
    channels = np.unique(found.focus)
    optimum, prices = _optima(loads, channels, certificate, step)
    speeds = topology.bandwidth
    routing = x.spec if isinstance(x, Routing) else "pair loads"
    worst = max(optimum, key=lambda c: (optimum[c] / speeds[c] if speeds else optimum[c], -c), default=None)
    specs = {"topology": topology.spec, "routing": routing}
    sources = topology.sources + (x.sources if isinstance(x, Routing) else ())
    if worst is None:
        return WorstCase(
            topology.spec,
            routing,
            provenance(specs, time.perf_counter() - began, sources=sources),
            subject=x,
            permutation=tuple(range(loads.terminals)),
            capacity=_inverse(topology.capacity_load),
        )
    rates = rates_of(loads)
    value, flows, price = best_flow(loads, worst)
    assert value == optimum[worst]
    claim = Fraction(value, loads.denominator * rates.scale) / topology.bandwidth_of(worst)
    whole = None if not rates.unit else _completed(flows, loads.terminals)
    matrix = None if rates.unit else tuple((s, d, Fraction(amount, rates.scale)) for s, d, amount in flows)
    kept = None
    if certificate:
        prices[worst] = price
        kept = certificate_of(loads, found, prices, claim, worst, whole or (), sources)
    load: Fraction | Estimate = claim
    if loads.samples is not None and isinstance(x, Routing):
        pairs = flows if whole is None else [(i, j, 1) for i, j in enumerate(whole)]
        load = _again(x, loads, worst, pairs, rates.scale, drawn)
    return WorstCase(
        topology=topology.spec,
        routing=routing,
        provenance=provenance(
            specs,
            time.perf_counter() - began,
            "exact" if loads.samples is None else "estimated",
            seed,
            sources,
        ),
        subject=x,
        channel_load=load,
        capacity=_inverse(topology.capacity_load),
        channel={"id": worst, "tail": int(topology.tail[worst]), "head": int(topology.head[worst])},
        permutation=whole,
        traffic=matrix,
        focus_channels=len(channels),
        certificate=kept,
        names=(topology.name_of(int(topology.tail[worst])), topology.name_of(int(topology.head[worst]))),
    )


def _loads_of(x: Any, samples: int | None, rng: np.random.Generator, step: Progress) -> PairLoads:
    if not isinstance(x, PairLoads | Routing):
        raise InputError(
            f"the worst case of a Routing or of PairLoads, not of {type(x).__name__}: obliv.routing(SPEC, topology)"
        )
    if isinstance(x, Routing):
        return x.pair_loads(samples, rng, lambda share: step("pair loads", share))
    if samples is not None:
        raise InputError("samples need a routing: pair loads that exist already cannot be sampled")
    if x.samples is not None:
        raise InputError(
            "these pair loads are estimates: give the routing and samples=, so that fresh paths can be drawn"
        )
    return x


def _optima(loads: PairLoads, channels: Array, prices: bool, step: Progress) -> tuple[dict[int, int], dict[int, Any]]:
    """The optimum of every channel that was solved, and its prices where they are wanted."""
    optimum: dict[int, int] = {}
    kept: dict[int, Any] = {}
    for group in solve_channels(loads, channels, prices, lambda share: step("channels", share)):
        for channel, value, price in group:
            optimum[channel] = value
            if prices:
                kept[channel] = price
    return optimum, kept


def _maps(loads: PairLoads, symmetry: str, step: Progress) -> list[Array]:
    if symmetry not in ("auto", "search", "off"):
        raise InputError(f"symmetry {symmetry!r}: choose auto, search or off")
    if symmetry == "off" or loads.samples is not None:
        return []
    step("symmetry", 0.0)
    if symmetry == "search":
        from obliv.analysis.worst_case.automorphisms import automorphisms

        return [g for g in automorphisms(loads) if loads.keeps(g)]
    return verified(loads)


def _inverse(load: Fraction | None) -> Fraction | None:
    return None if load is None else 1 / load


def _completed(flows: list[tuple[int, int, int]], terminals: int) -> tuple[int, ...]:
    """The flows as a whole permutation; what they leave open carries nothing and is filled in order."""
    image = [-1] * terminals
    for s, d, _ in flows:
        image[s] = d
    open_ends = iter(sorted(set(range(terminals)) - {d for d in image if d >= 0}))
    return tuple(d if d >= 0 else next(open_ends) for d in image)


def _again(
    routing: Routing,
    loads: PairLoads,
    channel: int,
    flows: list[tuple[int, int, int]],
    scale: int,
    rng: np.random.Generator,
) -> Estimate:
    """The load of the traffic that was found, on a fresh sample of paths."""
    samples = loads.samples or 0
    nodes = loads.topology.terminals.tolist()
    mean = error = 0.0
    for s, d, amount in flows:
        share = amount / scale
        crossings = np.array([routing.sample(nodes[s], nodes[d], rng).count(channel) for _ in range(samples)], float)
        mean += share * crossings.mean()
        error += share**2 * crossings.var(ddof=1) / samples
    speed = float(loads.topology.bandwidth_of(channel))
    return Estimate(float(mean / speed), float(error**0.5 / speed), samples)
