"""The distribution of the largest load where flows draw paths by a hash: its samples, results, and flows needed."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from obliv._util.arrays import Array
from obliv._util.progress import Progress, require_memory, rising, within
from obliv._util.rationals import exact, integer
from obliv._util.rng import Rng, drawn_seed, within_word
from obliv._util.text import printable, several
from obliv.errors import InputError
from obliv.kernels import run
from obliv.patterns.base import Traffic
from obliv.patterns.base import traffic as traffic_of
from obliv.questions.collisions.bounds import FixedPart, Largest
from obliv.questions.collisions.draws import Draws
from obliv.questions.collisions.draws import draws as draws_of
from obliv.questions.kernels.draws import Lots, largest_drawn_loads
from obliv.results.base import Curve, Lines, Result, provenance
from obliv.results.codec import Record, entry
from obliv.results.numbers import Bounds, Estimate, as_float, bounds_of, float_bounds, rounded_down, rounded_up, shown
from obliv.topologies.base import Topology, heights_of, require_pairs
from obliv.topologies.make import topology as topology_of

# The result of colliding flows


_ROWS = 8  # loads in the short form, which leaves out those that are nearly certain
_SURE = Fraction(999, 1000)


@dataclass(frozen=True)
class LoadChance(Record):
    """How probable a load is.

    Parameters
    ----------
    load : Fraction
    probability : Fraction or Bounds
        That the largest load is at least `load`.
    sampled : Estimate or None
        The same, from samples.
    """

    load: Fraction = entry(Fraction(0), column="load")
    probability: Fraction | Bounds = entry(Fraction(0), column="probability")
    sampled: Estimate | None = entry(None, column="sampled", omit=lambda row: row.sampled is None)


@dataclass(frozen=True)
class CollisionQuantile(Record):
    """The smallest load that the largest load exceeds with at most probability 1 - `probability`."""

    probability: Fraction = Fraction(0)
    load: Fraction | Bounds = Fraction(0)


@dataclass(frozen=True)
class FlowsNeeded(Record):
    """How many flows per pair a guarantee needs.

    Parameters
    ----------
    load : Fraction
    probability : Fraction
        The guarantee: the largest load is at most `load` with at least this probability.
    enough : int or None
        A number of flows per pair with which it is proved to hold; None if none was found.
    too_few : int or None
        The largest number below it with which it is proved not to hold; None if there is none.
    """

    load: Fraction = Fraction(0)
    probability: Fraction = Fraction(0)
    enough: int | None = entry(None, reason=lambda row: row.why)
    too_few: int | None = entry(None, reason="it is not proved that fewer flows are too few")
    tried: int = 0

    @property
    def why(self) -> str:
        """Why no number of flows is enough."""
        return f"not proved with any number of flows that was tried, up to {self.tried:,}"

    def __str__(self) -> str:
        what = f"at most {shown(self.load)} with probability {shown(self.probability)}"
        enough = self.why if self.enough is None else f"{self.enough:,} flows a pair are enough"
        few = "" if self.too_few is None else f", {self.too_few:,} are not"
        return f"{what}: {enough}{few}"


@dataclass(frozen=True, repr=False)
class Collisions(Result):
    """The distribution of the largest channel load where flows draw their paths by a hash.

    Parameters
    ----------
    traffic : str
        Spec of the traffic.
    flows : int
        Flows of each pair of terminals, each with an equal share of the pair's rate.
    hash : {"independent", "polarised"}
    among : str
        The channels that count.
    method : {"exact", "bounds"}
        Whether the distribution is exact, or between certified bounds. Exact numbers with many digits are rounded
        outwards.
    even_load : Fraction
        The largest load if every pair were split evenly over its paths.
    mean : Fraction or Bounds
        The mean of the largest load.
    quantiles : tuple of CollisionQuantile
    distribution : tuple of LoadChance
        The probability of at least each load, where it is neither one nor nothing.
    needed : tuple of FlowsNeeded
    sampled_mean : Estimate or None
        The mean over samples.
    notes : tuple of str

    Examples
    --------
    >>> import obliv
    >>> obliv.collisions("fattree:4,2", "shift:2", flows=2)
    collisions: 2 flows a pair of shift:2 on fattree:4,2
      hash               independent
      mean largest load  6951/4096 = 1.69702 (exact)
      with even splits   1
      quantile 0.5       3/2 = 1.5
      quantile 0.9       2
      quantile 0.99      2
      quantile 0.999     2
      probability        4015/4096 = 0.980225 of 3/2 or more
                         1695/4096 = 0.413818 of 2 or more
    """

    kind: ClassVar[str] = "collisions"
    table: ClassVar[str] = "distribution"

    traffic: str = entry("", column="traffic")
    flows: int = entry(1, column="flows")
    hash: str = entry("independent", column="hash")
    among: str = "all"
    method: str = "exact"
    even_load: Fraction = Fraction(0)
    mean: Fraction | Bounds = Fraction(0)
    quantiles: tuple[CollisionQuantile, ...] = ()
    distribution: tuple[LoadChance, ...] = entry((), rank=2)
    needed: tuple[FlowsNeeded, ...] = entry((), omit=lambda collisions: not collisions.needed)
    sampled_mean: Estimate | None = entry(None, omit=lambda collisions: collisions.sampled_mean is None)
    notes: tuple[str, ...] = entry((), rank=3, omit=lambda collisions: not collisions.notes)

    @property
    def provable(self) -> bool:
        """Whether :func:`obliv.verify` can check it once it is saved: it counts every distribution again."""
        return True

    @property
    def title(self) -> str:
        flows = "1 flow" if self.flows == 1 else f"{self.flows:,} flows"
        return f"{self.kind}: {flows} a pair of {self.traffic} on {self.topology}"

    def rows(self) -> Iterator[dict[str, Any]]:
        own, plain = self.cells(), all(row.sampled is None for row in self.distribution)
        for row in self.distribution:
            cells = own | row.cells()
            if plain:
                del cells["sampled"]
            yield cells

    def lines(self) -> Lines:
        """Return the probability that the largest load is at most a load: bounds as a band, samples as dots."""
        rows = self.distribution
        if not rows:
            raise InputError("the largest load does not depend on the draws: there is nothing to draw")
        loads = [as_float(row.load) for row in rows]
        ends = [bounds_of(row.probability) for row in rows]
        low, high = ([*(1 - as_float(end[side]) for end in ends), 1.0] for side in (1, 0))
        # at a load the distribution jumps: a row is about the loads below it, down to the load before
        gap = (loads[-1] - loads[0]) / max(1, len(loads) - 1) or 0.1 * loads[0]
        edges = [loads[0] - gap, *loads, loads[-1] + gap]
        curves = [Curve("band", edges, low, "exact" if self.method == "exact" else "certified bounds", high)]
        if self.even_load > 0 and as_float(self.even_load) >= edges[0]:
            curves.append(Curve("level", [as_float(self.even_load)], [], "even splits"))
        samples = [row.sampled for row in rows if row.sampled is not None]
        if len(samples) == len(rows):
            middles = [(a + b) / 2 for a, b in zip(edges, loads, strict=False)]
            dots = [1 - sampled.value for sampled in samples]
            curves.append(Curve("samples", middles, dots, f"{samples[0].samples:,} samples"))
        heading = ["{title}", f"{self.hash} hash"]
        return Lines(curves, "load", "P(largest load ≤ load)", (5.6, 3.2), None, (0, 1.02), heading)

    def summary(self) -> list[tuple[str, str]]:
        exact = "exact" if self.method == "exact" else "certified bounds"
        among = "" if self.among == "all" else f", among channels {self.among}"
        lines = [
            ("hash", self.hash),
            ("mean largest load", f"{_text(self.mean)} ({exact}{among})"),
            ("with even splits", shown(self.even_load)),
        ]
        if self.sampled_mean is not None:
            lines.insert(2, ("", f"{self.sampled_mean}, {self.sampled_mean.samples:,} samples"))
        for quantile in self.quantiles:
            lines.append((f"quantile {float(quantile.probability):.6g}", _text(quantile.load)))
        rows = [row for row in self.distribution if bounds_of(row.probability)[0] < _SURE]
        for number, row in enumerate(rows[:_ROWS]):
            sampled = "" if row.sampled is None else f", sampled {row.sampled.value:.4g} ± {row.sampled.stderr:.2g}"
            text = f"{_text(row.probability)}{sampled} of {row.load} or more"
            lines.append(("" if number else "probability", text))
        if len(rows) > _ROWS:
            lines.append(("", f"and {len(rows) - _ROWS:,} larger loads, all in CSV"))
        lines += [("guarantee", str(row)) for row in self.needed]
        return [*lines, *(("note", text) for text in self.notes)]


def _text(value: Fraction | Bounds) -> str:
    """Return a number as text; one that was only rounded outwards in few digits."""
    low, high = bounds_of(value)
    return shown(value) if value == high or high - low > high / 10**12 else f"≈ {float(high):.6g}"


# How many flows per pair a guarantee on the largest load needs


_MOST = 1024  # flows that are tried
_HOPELESS = 16  # flows that are tried where even splits load a channel more


def parsed(text: str) -> tuple[Fraction, Fraction]:
    """Return load and probability of a guarantee.

    Examples
    --------
    >>> parsed("3/2@0.99")
    (Fraction(3, 2), Fraction(99, 100))
    """
    parts = str(text).split("@")
    numbers = [exact(part) for part in parts]
    load, chance = (*numbers, None, None)[:2]
    if len(parts) != 2 or load is None or chance is None or load <= 0 or not 0 < chance < 1:
        shown = printable(str(text)[:40])
        raise InputError(f"guarantee {shown!r}: write LOAD@PROBABILITY, a probability between 0 and 1, as in 3/2@0.99")
    return load, chance


def flows_needed(place: FixedPart, load: Fraction, chance: Fraction, progress: Progress) -> FlowsNeeded:
    """Return a number of flows per pair with which the largest load is at most `load` with probability `chance`.

    The number is doubled until bounds prove that it is enough, and the last interval halved. The probability need not
    grow with every flow, since loads come in steps; so nothing is said about numbers that were not tried.
    """
    known: dict[int, tuple[Fraction, Fraction]] = {}
    most = _MOST if load >= place.even else _HOPELESS

    def enough(flows: int) -> bool:
        if flows not in known:
            progress(f"{flows:,} flows", 0.0)
            law = Largest(place, flows)
            known[flows] = law.within(law.steps_of(load))
        return known[flows][0] >= chance

    high = 1
    while high <= most and not enough(high):
        high *= 2
    if high > most:
        few = max((flows for flows, (_, upper) in known.items() if upper < chance), default=None)
        return FlowsNeeded(load, chance, None, few, max(known))
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    few = max((flows for flows, (_, upper) in known.items() if upper < chance and flows < high), default=None)
    return FlowsNeeded(load, chance, high, few, max(known))


# Samples of the largest load


_BLOCK = 4096


def samples_of(draws: Draws, flows: int, scale: Array, samples: int, seed: int, progress: Progress) -> Array:
    """Return samples of the largest load, in steps.

    Shapes: `scale` (channels,).
    """
    require_memory(8.0 * samples, f"{samples:,} samples of the largest load")
    counts = np.diff(draws.first)
    kind = draws.type_of_path
    least = np.minimum.reduceat(draws.ways, draws.first[:-1]) if len(counts) else counts
    most = np.maximum.reduceat(draws.ways, draws.first[:-1]) if len(counts) else counts
    passed = np.cumsum(draws.ways.astype(object)) if len(kind) else np.empty(0, object)
    before = zip(passed.tolist(), kind.tolist(), strict=True)
    bound = np.array([((p - t * draws.total) << 32) // draws.total for p, t in before], np.int64)
    path = -np.sort(-draws.path, axis=1)  # channels before the gaps
    lots = Lots(
        draws.pairs * flows,
        draws.weight,
        draws.first,
        np.where(least == most, counts, 0),
        bound,
        np.ascontiguousarray(path, np.int32),
        draws.base * flows,
        scale,
    )
    out = np.empty(samples, np.int64)
    load = np.empty(len(scale), np.int64)
    work = float(lots.flows.sum()) * samples * max(1, path.shape[1])
    for block, at in enumerate(range(0, samples, _BLOCK)):
        with np.errstate(over="ignore"):  # random numbers
            run(largest_drawn_loads, work, seed, block, lots, load, out[at : at + _BLOCK])
        progress("samples", min(samples, at + _BLOCK) / samples)
    return out


_RARE = Fraction(1, 10**6)  # rows less probable are left out
_QUANTILES = tuple(Fraction(q) for q in ("1/2", "9/10", "99/100", "999/1000"))
_DIGITS = 200  # of exact probabilities; longer ones are rounded outwards
_MOST_FLOWS = 1 << 16  # of a pair


def collisions(
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
) -> Collisions:
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
    Collisions
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
    >>> result = obliv.collisions("fattree:4,2", "shift:2", flows=2)
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
    place = FixedPart(draws_of(network, pattern, hash == "polarised", kept, within(step, 0.0, 0.3)), kept)
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
    return Collisions(
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
        quantiles=tuple(CollisionQuantile(q, _quantile(window, q)) for q in _QUANTILES),
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
    heights = heights_of(topology)
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
