"""The average case: ideal throughput over random traffic, by pair loads laid out side by side in words."""

from __future__ import annotations

import os
import re
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from fractions import Fraction
from math import factorial, gcd, inf, isqrt, lcm, sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from obliv._util.arrays import Array, starts
from obliv._util.progress import Progress, require_memory, rising, within
from obliv._util.rationals import boolean, integer
from obliv._util.rng import Rng, drawn_seed, within_word
from obliv.errors import InputError, Interrupted, TooLargeError
from obliv.kernels import run
from obliv.loads.base import PackedLoads, PairLoads
from obliv.patterns.files import permutation
from obliv.questions.kernels.permutations import PairEntries, all_permutations, largest_loads, random_permutations
from obliv.questions.subject import (
    Subject,
    by_specs,
    exactness_of,
    identity,
    loads_of,
    sampled_of,
    subject_of,
    with_known_capacity,
)
from obliv.questions.worst_case import worst_load
from obliv.results.base import NO_CAPACITY, NO_LOAD, Bar, Bars, Mark, Result, share_text
from obliv.results.codec import Codec, entry
from obliv.results.numbers import Estimate, as_float, inverse, scaled, shown
from obliv.results.study import IDLE
from obliv.routings.base import Routing

# Pair loads laid out for many permutations: the loads of several channels side by side in words of 64 bits


class PairWords(NamedTuple):
    """Pair loads as the kernels take them, over `denominator`, and the exact worst load.

    Column i of the kernels' permutations holds the destination of terminal ``sources[i]``.
    """

    denominator: int
    terminals: int
    entries: PairEntries
    worst: Fraction
    sources: Array


def pair_words(loads: PairLoads, progress: Progress | None = None) -> PairWords:
    """Lay out pair loads for the kernels."""
    speeds = loads.topology.bandwidth
    scale = lcm(*(speed.numerator for speed in speeds)) if speeds else 1
    denominator = loads.denominator * scale
    worst = worst_load(loads, progress)
    bound = int(worst * denominator)  # no permutation loads a channel more: so wide the lanes must be
    if bound >= 2**61:
        cause = "the bandwidths have too many digits" if speeds else "the probabilities have too large denominators"
        raise TooLargeError(
            f"{loads.topology.spec}: the largest channel load is a fraction over {denominator} whose numerator exceeds "
            f"61 bits, since {cause}; use simpler numbers"
        )
    lanes = PackedLoads(max(1, bound.bit_length()))
    words = loads.words(lanes, [int(scale / speed) for speed in speeds])
    base, groups = words.base, words.groups
    pair, word, value = _summed(words.pair, words.word, words.value)
    nonzero = np.flatnonzero(value)
    values, number = np.unique(value[nonzero], return_inverse=True)
    shift = 16 if max(len(values) + 1, len(base) + 1) < 2**16 else 32
    n = loads.terminals
    depth = max(len(group) for group in groups)
    idle = len(base)  # a word that stays zero
    packed = PairEntries(
        np.append(base, 0),
        *_by_pairs(n, pair[nonzero], word[nonzero], number, len(values), len(base), shift),
        shift,
        np.append(values, 0).astype(np.int64),
        depth,
        np.array([k for group in groups for k in group + [idle] * (depth - len(group))], np.int64),
        lanes.bits,
        lanes.count,
    )
    return PairWords(denominator, n, packed, worst, _sources(n))


def _sources(n: int) -> Array:
    """Return the terminals in steps that lead through all rows and columns of a mesh."""
    step = next(s for s in range(isqrt(n) + 1, 2 * n + 2) if gcd(s, n) == 1)
    return np.arange(n) * step % n


def _summed(pair: Array, word: Array, value: Array) -> tuple[Array, Array, Array]:
    """Return one entry for each word of a pair."""
    cells, index = np.unique(pair * (int(word.max(initial=0)) + 1) + word, return_inverse=True)
    total = np.zeros(len(cells), np.int64)
    np.add.at(total, index, value)
    return (*np.divmod(cells, int(word.max(initial=0)) + 1), total)


def _by_pairs(
    n: int, pair: Array, word: Array, number: Array, nothing: int, words: int, shift: int
) -> tuple[int, Array, Array, Array]:
    """Return the entries of each pair: the first 2 to 4, and the rest by fours, filled up with sums of nothing.

    Sources come in the order of :func:`_sources`, and fillings hit word after word, since a sum that waits for the sum
    before it into the same word costs time.
    """
    kind: Any = np.uint32 if shift == 16 else np.uint64
    seat = np.empty(n, np.int64)
    seat[_sources(n)] = np.arange(n)
    pair = seat[pair // n] * n + pair % n
    order = np.argsort(pair, kind="stable")
    pair, entry = pair[order], (word[order] | number[order] << shift).astype(kind)
    count = np.bincount(pair, minlength=n * n)
    place = np.arange(len(pair)) - np.repeat(np.cumsum(count) - count, count)  # among the entries of its pair

    def cost(width: int) -> float:  # in sums, as measured
        fours = -(-np.maximum(count - width, 0) // 4)
        return float(width + 1.5 * fours.any() + np.mean(4 * fours + 8 * (fours > 0)))

    width = min((2, 3, 4), key=cost)
    rest_ptr = starts(-(-np.maximum(count - width, 0) // 4))
    first, rest = (
        (np.arange(size) % words | nothing << shift).astype(kind) for size in (n * n * width, 4 * int(rest_ptr[-1]))
    )
    early = place < width
    first[pair[early] * width + place[early]] = entry[early]
    rest[4 * rest_ptr[pair[~early]] + place[~early] - width] = entry[~early]
    return width, first, rest_ptr.astype(np.int32), rest


# The result of an average-case analysis


#: Why there is no mean of throughputs, beside IDLE.
NOISY = "paths are sampled: the mean of reciprocals of noisy loads has no known error"
_INFINITE = "infinite over all permutations, since the identity loads no channel; of those drawn: "
_ESTIMATE = r"[-+.0-9e]{1,24}( ± [-+.0-9einfa]{1,24}| in \[[-+.0-9einfa, ]{1,48}\])?( \(estimated(, unreliable)?\))?"
_REASON = re.compile(rf"({IDLE}|{NOISY}|{_INFINITE}({_ESTIMATE}|infinite too))?")


def infinite_but(drawn: Fraction | Estimate | None) -> str:
    """Return why there is no mean over all permutations, with that of those that were drawn; None if it is infinite."""
    return _INFINITE + ("infinite too" if drawn is None else str(drawn))


def _reason(data: Any) -> str:
    if not isinstance(data, str) or not _REASON.fullmatch(data):
        raise ValueError(f"{data!r:.40} is not a reason that obliv writes")
    return data


@dataclass(frozen=True, repr=False)
class Average(Result):
    """Average throughput over random traffic: the reciprocal of the mean largest load, and the mean of throughputs.

    Examples
    --------
    >>> import obliv
    >>> obliv.average_case(obliv.DOR(obliv.line(4)), exact=True)
    average: dor on line:4
      mean largest load    9/8 = 1.125
      throughput           8/9 = 0.888889
      of capacity          8/9 = 0.888889
      mean of throughputs  some of this traffic loads no channel: its throughput is infinite
      largest load         2, the worst case
      traffic              24 permutations
    """

    kind: ClassVar[str] = "average"

    channel_load: Fraction | Estimate = entry(Fraction(0), label="mean largest load", column="channel_load")
    throughput: Fraction | Estimate | None = entry(None, label="throughput", column="throughput", reason=NO_LOAD)
    fraction_of_capacity: Fraction | Estimate | None = entry(
        None,
        label="of capacity",
        text=lambda average: share_text(average.fraction_of_capacity, average.capacity, average.topology),
        column="fraction_of_capacity",
        reason=lambda average: NO_CAPACITY if average.capacity is None else NO_LOAD,
    )
    mean_throughput: Fraction | Estimate | None = entry(
        None,
        label="mean of throughputs",
        text=lambda average: (
            shown(average.mean_throughput) if average.mean_throughput else average.mean_throughput_reason
        ),
        column="mean_throughput",
    )
    mean_throughput_reason: str = entry(
        "", codec=Codec(str, _reason), omit=lambda average: average.mean_throughput is not None
    )
    largest_load: Fraction | None = entry(
        None,
        label="largest load",
        text=lambda average: average.largest_text(),
        column="largest_load",
        omit=lambda average: average.largest_load is None,
    )
    largest_permutation: tuple[int, ...] | None = entry(None, omit=lambda average: average.largest_load is None)
    worst_load: Fraction | None = entry(None, column="worst_load", omit=lambda average: average.largest_load is None)
    capacity: Fraction | None = entry(None, reason=NO_CAPACITY)
    ensemble: str = "permutations"

    @property
    def provable(self) -> bool:
        """Whether it is the exact mean, which :func:`obliv.verify` counts again."""
        return not isinstance(self.channel_load, Estimate)

    samples: int = entry(
        0, label="traffic", text=lambda average: f"{average.samples} {average.ensemble}", column="samples"
    )

    def largest_text(self) -> str | None:
        """Return the largest load of random permutations, which bounds the worst case from below, beside the worst."""
        if self.largest_load is None:
            return None
        if self.largest_load == self.worst_load:
            return f"{shown(self.largest_load)}, the worst case"
        return f"{shown(self.largest_load)} of those drawn; the worst case is {shown(self.worst_load)}"

    def bars(self) -> Bars:
        """Return the mean of the largest loads, the largest drawn, and the worst case."""
        bars = [Bar(f"mean of {self.samples:,} {self.ensemble}", self.channel_load)]
        bars += [Bar("largest of them", self.largest_load, "beside")] if self.largest_load is not None else []
        bars += [Bar("worst case", self.worst_load, "warning")] if self.worst_load is not None else []
        if self.capacity is None:
            return Bars(bars, "largest channel load")
        least = as_float(1 / self.capacity)
        side = "left" if least < 0.5 * max(bar.ends[1] for bar in bars) else "center"
        mark = Mark(least, "uniform traffic, best routing", side)
        return Bars(bars, "largest channel load", marks=[mark], least=least)


_BLOCK = 1 << 16  # terminals of the permutations that are drawn together; they should stay in a core's cache
_BLOCKS = 8  # of them one after another in the same memory


class _Largest(NamedTuple):
    """The permutation with the largest load, terminal by terminal, beside the worst case over all traffic."""

    largest_load: Fraction
    largest_permutation: tuple[int, ...]
    worst_load: Fraction


@dataclass(frozen=True)
class _Figures:
    """Means of the largest loads and of their reciprocals, with the number of samples, and of those after an interrupt.

    `idle` says why there is no mean of the reciprocals.
    """

    samples: int
    load: Fraction | Estimate
    mean: Fraction | Estimate | None
    largest_load: Fraction | None = None
    largest_permutation: tuple[int, ...] | None = None
    worst_load: Fraction | None = None
    missing: int = 0
    idle: str = IDLE


@by_specs
def average_case(
    x: Subject,
    samples: int = 100_000,
    rng: Rng = None,
    *,
    exact: bool = False,
    ensemble: str = "permutations",
    path_samples: int | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Average:
    """Return the average throughput over random permutations, fixed points allowed.

    Parameters
    ----------
    x : Routing or PairLoads
    samples : int
        How many to draw.
    rng : numpy.random.Generator or int, optional
        Source of the seed, or the seed itself; default 0. The digits do not depend on the number of cores.
    exact : bool
        Take all permutations instead (up to 9 terminals).
    ensemble : str
        ``permutations``; ``birkhoff:K``, mixtures of K random permutations with weights uniform on the simplex; or
        ``sinkhorn``, random matrices scaled until rows and columns add up to one.
    path_samples : int, optional
        Estimate the loads from so many random paths per pair, for routings with too many paths to enumerate.
    jobs : int, optional
        Threads; default the number of cores.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Average
        Throughput as the reciprocal of the mean largest load (which reproduces the U2TURN paper's tables), with its
        standard error, and beside it the mean of throughputs; exact Fractions with `exact`. Of permutations under exact
        pair loads, also the largest load, a lower bound on the worst case, with its permutation and the exact worst
        case: the trial of B. Towles, "Finding worst-case permutations for oblivious routing algorithms", section 5.

    Raises
    ------
    InputError
        If samples is too small, the ensemble unknown, or `exact` asked of more than 9 terminals.
    TooLargeError
        If the loads, as whole numerators over a common denominator, exceed 61 bits, or would not fit in memory.

    Examples
    --------
    >>> import obliv
    >>> obliv.average_case(obliv.routing("dor", obliv.mesh(3, 3)), exact=True).fraction_of_capacity
    Fraction(241920, 590783)
    """
    exact = boolean(exact, "exact")
    began = time.perf_counter()
    step = rising(progress)
    subject = subject_of(x, "average_case")
    if path_samples is not None and (exact or ensemble != "permutations"):
        raise InputError.naming(
            "{path_samples} needs random permutations: leave out {exact} and {ensemble}, or {path_samples}"
        )
    seed = drawn_seed(rng)
    random = np.random.default_rng([seed, 1])  # for paths; permutations use the seed itself
    if path_samples is None:
        loads = loads_of(subject, "average_case", step)
    else:
        loads = sampled_of(subject, path_samples, random, step)
    if not loads.topology.channels:
        raise InputError(f"{loads.topology.spec} has no channels: there is no load to average")
    if not loads.topology.unit_rates:
        raise InputError(f"{loads.topology.spec}: random permutations need terminals of rate 1")
    if exact:
        figures = _over_all(loads, ensemble, step)
    else:
        figures = _over_samples(loads, ensemble, integer(samples, "samples"), seed, jobs, step)
    if isinstance(subject, Routing) and loads.samples is not None:
        figures = _of_sampled_paths(figures, subject, loads, random)
    network, through = with_known_capacity(loads.topology), inverse(figures.load)
    base = network.capacity_load
    result = Average(
        **identity(
            subject,
            began,
            exactness_of(subject, None if exact else loads.samples or 0),
            None if exact else seed,
            ensemble=ensemble,
        ),
        subject=x,
        ensemble=ensemble,
        samples=figures.samples,
        channel_load=figures.load,
        throughput=through,
        fraction_of_capacity=None if base is None or through is None else scaled(through, base),
        mean_throughput=figures.mean,
        mean_throughput_reason=figures.idle if figures.mean is None else "",
        largest_load=figures.largest_load,
        largest_permutation=figures.largest_permutation,
        worst_load=figures.worst_load,
        capacity=network.capacity,
    )
    if figures.missing:
        done = f"after {figures.samples} of {figures.samples + figures.missing} samples"
        raise Interrupted(f"{done}; draw the others with another seed to go on", result)
    return result


def _of_sampled_paths(figures: _Figures, routing: Routing, loads: PairLoads, random: np.random.Generator) -> _Figures:
    """Return figures whose errors count that the loads of paths are estimates, too."""
    from obliv.questions.locality import average_largest

    if not isinstance(figures.load, Estimate):
        return figures
    load = average_largest(routing, figures.load, loads, random)
    return replace(figures, load=load, mean=None, idle=NOISY)


def _over_all(loads: PairLoads, ensemble: str, step: Progress) -> _Figures:
    """Return the figures of all permutations."""
    n = loads.terminals
    if ensemble != "permutations":
        raise InputError.naming("{exact} takes all permutations: leave out {ensemble}={0} or {exact}", ensemble)
    if n > 9:
        raise InputError.naming(
            "{exact} takes all permutations of up to 9 terminals, {0} has {1}: use {samples}", loads.topology.spec, n
        )
    words = pair_words(loads, step)
    images, maxima = _all(words)
    load, mean = _figures_exact(maxima, words.denominator)
    return _Figures(factorial(n), load, mean, *_largest(words, maxima.max(), images[maxima.argmax()]))


def _over_samples(
    loads: PairLoads, ensemble: str, samples: int, seed: int, jobs: int | None, step: Progress
) -> _Figures:
    """Return the figures of random permutations or matrices; after an interrupt, of those before."""
    if samples < 2:
        raise InputError(f"{samples} samples: at least 2 are needed for a standard error")
    words: PairWords | None = None
    if ensemble == "permutations":
        words = pair_words(loads, within(step, 0.0, 0.0))
        maxima = _random(words, samples, within_word(seed), threads(jobs), step)
    else:
        maxima = _matrices(loads, samples, seed, ensemble, step)
    load, mean, top, place = _figures(maxima)
    figures = _Figures(load.samples, load, mean, missing=samples - load.samples)
    if words is None:
        return figures
    if loads.samples is None:
        figures = replace(figures, **_largest(words, int(top), _drawn(words, within_word(seed), place))._asdict())
    if mean is not None and not any(loads.under(permutation(range(loads.terminals)))):
        figures = replace(figures, mean=None, idle=infinite_but(mean))
    return figures


Maxima = Iterator[tuple[Array, int]]  # largest loads as whole numbers (or floats), and their denominator


def threads(jobs: int | None) -> int:
    """Return how many threads to use: a number from 1, or all processors where it is None or 0."""
    if jobs is not None and (jobs := integer(jobs, "jobs")) < 0:
        raise InputError.naming("{jobs}={0}: use a number from 1, or None for all processors", jobs)
    return jobs or os.cpu_count() or 1


def _random(parts: PairWords, samples: int, seed: int, jobs: int, step: Progress) -> Maxima:
    """Yield the largest loads of blocks of random permutations, in order, whichever thread computes them."""
    draw, weigh = random_permutations.compiled(), largest_loads.compiled()
    most = _in_a_block(parts)
    starts = range(0, samples, most * _BLOCKS)

    def one(start: int) -> Array:
        images, words = np.empty((most, parts.terminals), np.int32), np.empty_like(parts.entries.base)
        out = np.empty(min(most * _BLOCKS, samples - start), np.int64)
        for at in range(0, len(out), most):
            part = out[at : at + most]
            draw(seed, (start + at) // most, images[: len(part)])
            weigh(images[: len(part)], parts.entries, words, part)
        return out

    with ThreadPoolExecutor(jobs) as pool:
        waiting: deque[Future[Array]] = deque()
        done = 0
        for start in starts:
            waiting.append(pool.submit(one, start))
            if len(waiting) > 2 * jobs:
                block = waiting.popleft().result()
                done += len(block)
                yield block, parts.denominator
                step("permutations", done / samples)
        for last in waiting:
            yield last.result(), parts.denominator


def _in_a_block(parts: PairWords) -> int:
    return max(1, _BLOCK // parts.terminals)


def _drawn(parts: PairWords, seed: int, place: int) -> Array:
    """Draw one of the random permutations again."""
    block, at = divmod(place, _in_a_block(parts))
    images: Array = np.empty((at + 1, parts.terminals), np.int32)
    run(random_permutations, inf, seed, block, images)
    image: Array = images[at]
    return image


def _largest(parts: PairWords, load: int, image: Array) -> _Largest:
    """Return a load, the destinations of its permutation, and the worst case."""
    destinations = np.empty_like(image)
    destinations[parts.sources] = image
    return _Largest(Fraction(int(load), parts.denominator), tuple(destinations.tolist()), parts.worst)


def _all(parts: PairWords) -> tuple[Array, Array]:
    """Return all permutations, and the largest load of each."""
    count = factorial(parts.terminals)
    images, out = np.empty((count, parts.terminals), np.int32), np.empty(count, np.int64)
    run(all_permutations, inf, images)
    run(largest_loads, inf, images, parts.entries, np.empty_like(parts.entries.base), out)
    return images, out


def require_ensemble(ensemble: str) -> None:
    """Raise InputError for an unknown ensemble of random traffic."""
    name, _, parts = str(ensemble).partition(":")
    if name == "birkhoff" and not (parts.isdecimal() and len(parts) < 8 and 1 <= int(parts) <= 10**6):
        raise InputError(f"ensemble {ensemble!r}: write birkhoff:K, K permutations a matrix, for example birkhoff:3")
    if name not in ("permutations", "birkhoff", "sinkhorn") or (name != "birkhoff" and parts):
        raise InputError(f"ensemble {ensemble!r}: choose permutations, birkhoff:K or sinkhorn")


def _matrices(loads: PairLoads, samples: int, seed: int, ensemble: str, step: Progress) -> Maxima:
    """Yield the largest loads under random doubly stochastic matrices, in floating point."""
    from scipy.sparse import csr_array

    require_ensemble(ensemble)
    name, _, parts = ensemble.partition(":")
    n, channels = loads.terminals, loads.topology.channels
    require_memory(40.0 * n * n * float(loads.hops()), f"the pair loads of {loads.topology.spec}")  # or more
    pieces = []
    for channel in range(channels):
        source, destination, weight = loads.weights(channel).spread()
        speed = float(loads.topology.bandwidth_of(channel))
        share = weight.astype(float) / loads.denominator / speed
        pieces.append((np.full(len(weight), channel), source.astype(np.int64) * n + destination, share))
    row, col, share = (np.concatenate(part) for part in zip(*pieces, strict=True))
    table = csr_array((share, (row, col)), shape=(channels, n * n))
    rng = np.random.default_rng(seed)
    batch = max(1, min(256, 10**7 // (n * n)))
    for first in range(0, samples, batch):
        count = min(batch, samples - first)
        if name == "birkhoff":
            matrices = np.zeros((count, n * n))
            weights = rng.dirichlet(np.ones(int(parts)), count)
            for k in range(int(parts)):
                orders = rng.permuted(np.tile(np.arange(n), (count, 1)), axis=1) + np.arange(n) * n
                np.add.at(matrices, (np.arange(count)[:, None], orders), weights[:, k, None])
        else:
            cells = rng.exponential(size=(count, n, n))
            for _ in range(1000):
                cells /= cells.sum(axis=2, keepdims=True)
                cells /= cells.sum(axis=1, keepdims=True)
                if abs(cells.sum(axis=2) - 1).max() < 1e-12:
                    break
            matrices = cells.reshape(count, n * n)
        yield (table @ matrices.T).max(axis=0), 1
        step("matrices", (first + count) / samples)


def _figures(maxima: Maxima) -> tuple[Estimate, Estimate | None, float, int]:
    """Return the means of the largest loads and of their reciprocals, with errors, and the largest with its place.

    After an interrupt, of those before.
    """
    pivots = np.zeros(2)  # sums of differences: equal loads have no error
    sums = np.zeros(4)
    samples = 0
    top: float = -1
    place = 0
    idle = False
    try:
        for values, denominator in maxima:
            load = values / denominator
            if values.max() > top:
                top, place = values.max().item(), samples + int(values.argmax())
            idle = idle or bool((load == 0).any())
            if samples == 0:
                pivots[:] = load[0], 0.0 if idle else 1 / load[0]
            samples += len(load)
            sums[:2] += _moments(load - pivots[0])
            if not idle:
                sums[2:] += _moments(1 / load - pivots[1])
    except KeyboardInterrupt:
        if samples < 2:
            raise
    differences = sums[[0, 2]] / samples
    errors = [
        sqrt(max(0.0, squares / samples - value**2) / (samples - 1))
        for value, squares in zip(differences, sums[[1, 3]], strict=True)
    ]
    mean, through = pivots + differences
    load_ = Estimate(float(mean), float(errors[0]), samples)
    return load_, None if idle else Estimate(float(through), float(errors[1]), samples), top, place


def _moments(values: Array) -> tuple[float, float]:
    return float(values.sum()), float((values * values).sum())


def _figures_exact(maxima: Array, denominator: int) -> tuple[Fraction, Fraction | None]:
    values, times = np.unique(maxima, return_counts=True)
    pairs = list(zip(values.tolist(), times.tolist(), strict=True))
    mean = Fraction(sum(value * often for value, often in pairs), len(maxima) * denominator)
    if pairs[0][0] == 0:
        return mean, None
    return mean, sum((Fraction(often * denominator, value * len(maxima)) for value, often in pairs), Fraction(0))
