"""The distribution of the largest channel load where flows draw their paths by a hash."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from time import perf_counter

import numpy as np

from obliv._util.progress import Progress, rising, within
from obliv._util.rationals import integer
from obliv._util.rng import Rng, drawn_seed, within_word
from obliv._util.text import printable, several
from obliv._util.typing import Array
from obliv.analysis.lottery.draws import draws as draws_of
from obliv.analysis.lottery.largest import Largest, Place
from obliv.analysis.lottery.needed import flows_needed, parsed
from obliv.analysis.lottery.sampled import samples_of
from obliv.errors import InputError
from obliv.patterns.base import Traffic
from obliv.patterns.make import traffic as traffic_of
from obliv.results.analysis.lottery import LoadChance, Lottery, LotteryQuantile
from obliv.results.base import provenance
from obliv.results.numbers import Bounds, Estimate, float_bounds, rounded_down, rounded_up
from obliv.topologies.base import Topology
from obliv.topologies.checks import require_pairs
from obliv.topologies.make import topology as topology_of

__all__ = ["lottery"]

_RARE = Fraction(1, 10**6)  # rows less probable are left out
_QUANTILES = tuple(Fraction(q) for q in ("1/2", "9/10", "99/100", "999/1000"))
_DIGITS = 200  # of exact probabilities; longer ones are rounded outwards
_MOST_FLOWS = 1 << 16  # of a pair


def lottery(
    topology: str | Topology,
    traffic: str | Traffic,
    *,
    flows: int = 1,
    hash: str = "independent",
    among: str = "all",
    samples: int = 0,
    rng: Rng = None,
    guarantee: Sequence[str] = (),
    progress: Progress | None = None,
) -> Lottery:
    """Return the distribution of the largest channel load where flows draw shortest paths by a hash.

    Each pair of terminals has some flows with equal shares of its rate. At every node a flow takes one of the channels
    that lead closer to its destination, all equally likely.

    Parameters
    ----------
    topology : Topology or str
    traffic : Traffic or str
    flows : int
        Flows of each pair.
    hash : {"independent", "polarised"}
        Whether the choices of a flow at different switches are independent, or the same: switches with the same hash
        function choose channel h mod n of n, with one number h for a flow.
    among : {"all", "up", "down", "leaf-up"}
        The channels that count, on networks that are built as a hierarchy: those that lead up, down, or up from the
        switches of the terminals.
    samples : int
        Draw so many samples as well.
    rng : numpy.random.Generator or int, optional
        Source of the samples, or its seed; default 0.
    guarantee : sequence of str
        ``LOAD@PROBABILITY``: find how many flows per pair it takes that the largest load is at most LOAD with that
        probability.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Lottery
        Exact where the network falls into independent parts that can be counted; elsewhere certified bounds. Samples
        are estimates beside them.

    Raises
    ------
    InputError
        If an argument is invalid.
    TooLargeError
        If there are too many paths.

    References
    ----------
    [JP83] K. Joag-Dev and F. Proschan, "Negative association of random variables, with applications", Annals of
    Statistics 11(1), 1983.

    [Har60] T. E. Harris, "A lower bound for the critical probability in a certain percolation process", 1960.

    Examples
    --------
    >>> import obliv
    >>> result = obliv.lottery("fattree:4,2", "shift:2", flows=2)
    >>> str(result.mean), [str(row.load) for row in result.distribution]
    ('6951/4096', ['3/2', '2'])
    """
    began = perf_counter()
    step = rising(progress)
    network = topology_of(topology)
    require_pairs(network)
    pattern = traffic_of(traffic, network)
    flows, samples = integer(flows, "flows"), integer(samples, "samples")
    if not 1 <= flows <= _MOST_FLOWS:
        raise InputError.naming("{flows}={0}: use a whole number from 1 to {1}", flows, f"{_MOST_FLOWS:,}")
    if hash not in ("independent", "polarised"):
        raise InputError.naming("{hash}={0!r}: choose independent or polarised", printable(str(hash)[:40]))
    if samples < 0:
        raise InputError.naming("{samples}={0}: use a number from 0", samples)
    wanted = [parsed(text) for text in several(guarantee)]
    seed = drawn_seed(rng)
    kept = _kept(network, among)
    place = Place(draws_of(network, pattern, hash == "polarised", kept, within(step, 0.0, 0.3)), kept)
    law = Largest(place, flows)
    window = _window(law, within(step, 0.3, 0.6))
    drawn = None
    if samples:
        part = within(step, 0.6, 0.8)
        drawn = np.sort(samples_of(place.draws, flows, place.scale, samples, within_word(seed), part))
    parts = (within(step, 0.8 + 0.2 * k / len(wanted), 1.0) for k in range(len(wanted)))
    needed = tuple(flows_needed(place, *goal, part) for goal, part in zip(wanted, parts, strict=True))
    specs = {"topology": network.spec, "traffic": pattern.spec, "flows": flows, "hash": hash, "among": among}
    how = "exact" if law.exact is not None else "certified bounds"
    return Lottery(
        topology=network.spec,
        routing="ecmp",
        provenance=provenance(
            specs,
            perf_counter() - began,
            f"{how}, with samples beside" if samples else how,
            seed if samples else None,
            (*network.sources, *pattern.sources),
        ),
        traffic=pattern.spec,
        flows=flows,
        hash=hash,
        among=among,
        method="bounds" if law.exact is None else "exact",
        even_load=place.even,
        mean=_mean(window),
        quantiles=tuple(LotteryQuantile(q, _quantile(window, q)) for q in _QUANTILES),
        distribution=_rows(window, drawn),
        needed=needed,
        sampled_mean=_sampled_mean(law, drawn),
        subject=network,
    )


def _kept(topology: Topology, among: str) -> Array | None:
    """Return which channels count; None for all."""
    if among == "all":
        return None
    if among not in ("up", "down", "leaf-up"):
        raise InputError(f"among {printable(str(among)[:40])!r}: choose all, up, down or leaf-up")
    heights = topology.heights
    if heights is None:
        raise InputError(f"{topology.spec} is not built as a hierarchy: among {among!r} needs one, such as a fat tree")
    tail, head = heights[topology.tail], heights[topology.head]
    if among == "leaf-up":
        return np.asarray((tail == heights[topology.terminals].min(initial=0) + 1) & (head > tail))
    return np.asarray(head > tail if among == "up" else head < tail)


@dataclass(frozen=True, eq=False)
class _Window:
    """The loads around which the distribution lies.

    `low` and `high` bound the probability of at most each of the `loads`, which count steps. `below` bounds that of
    less than the first of them, at most 10^-6; so is that of more than the last one, if that is not the largest of all.
    """

    law: Largest
    loads: list[int]
    low: list[Fraction]
    high: list[Fraction]
    below: Fraction


def _window(law: Largest, progress: Progress) -> _Window:
    """Return the window, with bounds that rise with the load."""
    loads = law.loads
    exact = law.exact is not None and len(loads) <= 4096
    first = 0 if exact else bisect_left(range(len(loads)), True, key=lambda k: law.within(loads[k])[1] > _RARE)
    first = min(first, len(loads) - 1)
    some: list[int] = []
    low: list[Fraction] = []
    high: list[Fraction] = []
    for k in range(first, len(loads)):
        lower, upper = law.within(loads[k])
        some.append(loads[k])
        low.append(max(lower, low[-1]) if low else lower)
        high.append(upper)
        progress("loads", float(lower))
        if lower == 1 or (not exact and 1 - lower <= _RARE):
            break
    for k in range(len(high) - 2, -1, -1):
        high[k] = min(high[k], high[k + 1])
    return _Window(law, some, low, high, law.within(loads[first - 1])[1] if first else Fraction(0))


def _mean(window: _Window) -> Fraction | Bounds:
    """Return the mean of the largest load: the sum of the probabilities that it exceeds each step."""
    law, loads = window.law, window.loads
    least = most = loads[0] * law.step
    least -= window.below * (least - law.least * law.step)
    for (one, two), low, high in zip(pairwise(loads), window.low, window.high, strict=False):
        least += (1 - high) * (two - one) * law.step
        most += (1 - low) * (two - one) * law.step
    if window.low[-1] < 1:
        most += law.beyond(loads[-1])
    return _short(least, most)


def _quantile(window: _Window, chance: Fraction) -> Fraction | Bounds:
    """Return the smallest load that the largest one does not exceed with a probability."""
    ends = (
        next((load for load, reached in zip(window.loads, bound, strict=True) if reached >= chance), window.loads[-1])
        for bound in (window.high, window.low)
    )
    return _short(*(load * window.law.step for load in ends))


def _rows(window: _Window, drawn: Array | None) -> tuple[LoadChance, ...]:
    """Return the probability of at least each load, unless it is rare or nearly certain."""
    rows = []
    for load, low, high in zip(window.loads[1:], window.low, window.high, strict=False):
        least, most = 1 - high, 1 - low
        if most < _RARE or least > 1 - _RARE:
            continue
        sampled = None
        if drawn is not None:
            many = len(drawn) - int(np.searchsorted(drawn, load))
            middle = (many + 1) / (len(drawn) + 2)  # no error of zero where none or all of the samples count
            error = (middle * (1 - middle) / len(drawn)) ** 0.5
            sampled = Estimate(many / len(drawn), error, len(drawn))
        rows.append(LoadChance(load * window.law.step, _short(least, most), sampled))
    return tuple(rows)


def _sampled_mean(law: Largest, drawn: Array | None) -> Estimate | None:
    if drawn is None:
        return None
    spread = float(drawn.std(ddof=1)) if len(drawn) > 1 else 0.0
    return Estimate(float(drawn.mean()) * float(law.step), spread * float(law.step) / len(drawn) ** 0.5, len(drawn))


def _short(lower: Fraction, upper: Fraction) -> Fraction | Bounds:
    """Return a number between bounds, exact where they meet and its digits are few, else rounded outwards."""
    if lower == upper and upper.denominator < 10**_DIGITS:
        return upper
    found = float_bounds(lower, upper)
    if isinstance(found, Bounds):
        return found
    return Bounds(rounded_down(lower), rounded_up(upper))
