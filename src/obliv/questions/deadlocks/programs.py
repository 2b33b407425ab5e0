"""Dependencies of phase programs, dimension by dimension, no path enumerated.

The coordinates of source, intermediate and destination are independent between dimensions.  In one dimension
there are therefore a few cases (which segments are empty, and their directions), and for every choice of cases the
dependencies are products of sets of links and of coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise, permutations, product
from math import factorial, prod
from typing import Any, NamedTuple, TypeVar

import numpy as np

from obliv._util.arrays import Array
from obliv._util.progress import Progress, require_memory
from obliv.errors import TooLargeError
from obliv.loads.separable import ANYWHERE, QUADRANT, TO_INTERMEDIATE, Phase, Program
from obliv.questions.deadlocks.graph import Dependencies, Label, Move, Scheme
from obliv.topologies.axes import Axis
from obliv.topologies.cartesian import Cartesian

# The cases of a phase program in one dimension: the segments that packets may follow there


K = TypeVar("K")

FIRST, SECOND, BOTH = 0, 1, 2  # a run takes the segment to the intermediate, the one onwards, or both in one go
SOURCE, MIDDLE, END = 0, 1, 2  # where a packet stands in a dimension


@dataclass(frozen=True, eq=False)
class LinkRun:
    """The links of a run as (link, dateline bit), and pairs of them in sequence."""

    first: Array
    last: Array
    used: Array
    pairs: Array


@dataclass(frozen=True, eq=False)
class Case:
    """Combinations of segments in a dimension that lead to the same dependencies.

    Parameters
    ----------
    steps : (int, int)
        The directions of the segment to the intermediate and of the one onwards, 0 where it is empty.
    at : tuple of tuple of int
        The coordinates where a packet may stand: source, intermediate, destination.
    runs : tuple of LinkRun
        The first segment, the second, both in one run.
    back : array, shape (n, 3)
        A last link of the first segment with its bit, and the first link of a second segment that begins a new run.
    """

    steps: tuple[int, int]
    at: tuple[tuple[int, ...], ...]
    runs: tuple[LinkRun, LinkRun, LinkRun]
    back: Array


class Segment(NamedTuple):
    """A straight part of a path along an axis."""

    start: int
    end: int
    links: tuple[int, ...]


class _Bundle:
    """Segments with the bit that they begin with; of those that begin alike, the longest and all lengths."""

    def __init__(self) -> None:
        self.longest: dict[tuple[int, int], tuple[int, ...]] = {}
        self.lengths: dict[tuple[int, int], set[int]] = {}

    def add(self, links: tuple[int, ...], bit: int) -> None:
        """Add a segment, unless it is empty."""
        if links:
            key = links[0], bit
            if len(links) > len(self.longest.get(key, ())):
                self.longest[key] = links
            self.lengths.setdefault(key, set()).add(len(links))

    def run(self, wraps: frozenset[int]) -> LinkRun:
        """Return the run along any of these segments."""
        last: set[tuple[int, ...]] = set()
        used: set[tuple[int, ...]] = set()
        pairs: set[tuple[int, ...]] = set()
        for key, links in self.longest.items():
            hops, bit = [], key[1]
            for link in links:
                hops.append((link, bit))
                bit = 1 if link in wraps else bit
            last.update(hops[length - 1] for length in self.lengths[key])
            used.update(hops)
            pairs.update((*one, *two) for one, two in pairwise(hops))
        return LinkRun(_rows(self.longest, 2), _rows(last, 2), _rows(used, 2), _rows(pairs, 4))


@dataclass
class _Draft:
    """A case under construction: its segments to the intermediate, onwards, and onwards in one run with the former."""

    at: tuple[set[int], ...] = field(default_factory=lambda: (set(), set(), set()))
    first: _Bundle = field(default_factory=_Bundle)
    second: _Bundle = field(default_factory=_Bundle)
    onward: _Bundle = field(default_factory=_Bundle)
    joints: set[tuple[int, int, int, int]] = field(default_factory=set)

    def add(self, into: Iterable[Segment], out: Iterable[Segment], crossed: bool, wraps: frozenset[int]) -> None:
        """Add all pairs of a segment to the intermediate and one onwards; `crossed` if the first ones wrap around."""
        lasts = set()
        for segment in into:
            self.at[SOURCE].add(segment.start)
            self.at[MIDDLE].add(segment.end)
            self.first.add(segment.links, 0)
            if segment.links:
                last = segment.links[-1]
                lasts.add((last, int(crossed and last not in wraps)))
        for segment in out:
            self.at[END].add(segment.end)
            self.second.add(segment.links, 0)
            self.onward.add(segment.links, int(crossed))
        followers = {segment.links[0] for segment in out if segment.links}
        self.joints.update((*last, follower, int(crossed)) for last in lasts for follower in followers)


@lru_cache(maxsize=64)
def cases(along: Axis, draw: str, differ: bool | None, directed: bool, dateline: bool) -> tuple[Case, ...]:
    """Return the cases of a dimension."""
    steps = along.steps
    wraps = along.wraps if dateline else frozenset()
    if along.kind != "clique" or draw == ANYWHERE:
        per_way = 200.0 if along.kind == "clique" else 6.0
        require_memory(per_way * along.radix**3, f"the ways along a {along.kind} of {along.radix} coordinates")
    drafts: dict[tuple[int, int], _Draft] = {}

    def kind(segment: Segment) -> tuple[int, bool]:
        step = (steps[segment.links[0]] if directed else 1) if segment.links else 0
        return step, not wraps.isdisjoint(segment.links)

    for into, out in _histories(along, draw, differ):
        for (one, crossed), first in _sorted(into, kind):
            for two, second in _sorted(out, lambda segment: kind(segment)[0]):
                drafts.setdefault((one, two), _Draft()).add(first, second, crossed, wraps)
    return tuple(_case(key, draft, wraps) for key, draft in sorted(drafts.items(), key=lambda item: item[0]))


def _histories(along: Axis, draw: str, differ: bool | None) -> Iterator[tuple[list[Segment], list[Segment]]]:
    """Yield segments to the intermediate coordinate with segments onwards, all of which can be combined."""
    coordinates = range(along.radix)
    if draw == ANYWHERE and differ is None:
        for middle in coordinates:
            into = [Segment(start, middle, way.links) for start in coordinates for way in along.ways(start, middle)]
            yield into, [Segment(middle, end, way.links) for end in coordinates for way in along.ways(middle, end)]
        return
    for start in coordinates:
        ends = [end for end in coordinates if differ is None or differ == (start != end)]
        pairs = [pair for end in ends for pair in segments(along, draw, start, end)]
        if draw in (ANYWHERE, QUADRANT):
            yield from (([first], [second]) for first, second in pairs)
        else:
            yield [Segment(start, start, ())], [second for _, second in pairs]


def segments(along: Axis, draw: str, start: int, end: int) -> Iterator[tuple[Segment, Segment]]:
    """Yield all choices of a segment to the intermediate coordinate and one onwards.

    In a dimension without an intermediate the first segment is empty.
    """
    if draw == ANYWHERE:
        for middle in range(along.radix):
            for there in along.ways(start, middle):
                for on in along.ways(middle, end):
                    yield Segment(start, middle, there.links), Segment(middle, end, on.links)
        return
    for way in along.spread_ways(start, end) if draw == "spread" else along.ways(start, end):
        for t, middle in enumerate(way.coordinates if draw == QUADRANT else (start,)):
            yield Segment(start, middle, way.links[:t]), Segment(middle, end, way.links[t:])


def _sorted(choices: list[Segment], key: Callable[[Segment], K]) -> list[tuple[K, list[Segment]]]:
    """Return segments by a key."""
    by_key: dict[K, list[Segment]] = {}
    for segment in choices:
        by_key.setdefault(key(segment), []).append(segment)
    return list(by_key.items())


def _case(steps: tuple[int, int], draft: _Draft, wraps: frozenset[int]) -> Case:
    first, second, onward = draft.first.run(wraps), draft.second.run(wraps), draft.onward.run(wraps)
    through = np.concatenate([first.pairs, _rows(draft.joints, 4), onward.pairs])
    both = LinkRun(first.first, onward.last, np.concatenate([first.used, onward.used]), through)
    back = _rows({(last, bit, follower) for last, bit, follower, _ in draft.joints}, 3)
    at = tuple(tuple(sorted(coordinates)) for coordinates in draft.at)
    return Case(steps, at, (first, second, both), back)


def _rows(rows: Iterable[Any], width: int) -> Array:
    return np.array(sorted(rows), np.int64).reshape(-1, width)


Spots = tuple[tuple[int, ...], ...]  # for every dimension the coordinates where a packet may stand

_CHOICES = 2_000_000  # limit of the choices of cases and orders
_PIECE = 1 << 20  # dependencies that are computed at a time


class Slot(NamedTuple):
    """A segment of a program, in one of its orders."""

    dim: int
    part: int
    phase: int
    order: tuple[int, ...]
    first: int


class _Run(NamedTuple):
    """A run in a dimension: which segments, in which class, and where the packet may stand meanwhile."""

    dim: int
    kind: int
    case: Case
    label: Label
    spots: Spots


def follow_programs(
    topology: Cartesian,
    programs: Sequence[Program],
    scheme: Scheme,
    dependencies: Dependencies,
    progress: Progress,
) -> None:
    """Add the dependencies of phase programs between all pairs of nodes."""
    dimensions = len(topology.axes)
    plan = []
    for program in programs:
        if program.probability:
            condition = dict(program.when)
            of_dim = [
                cases(topology.axes[dim], draw, condition.get(dim), scheme.directed, scheme.dateline)
                for dim, draw in enumerate(program.draws(dimensions))
            ]
            plan.append((program, of_dim))
    choices = [(program, chosen) for program, of_dim in plan for chosen in _chosen(topology, of_dim)]
    total = sum(_orders(program, chosen, scheme) for program, chosen in choices)
    if total > _CHOICES:
        raise _too_many(topology, total)
    tables = [_channel_table(topology, dim) for dim in range(dimensions)]
    seen: set[Any] = set()
    done = 0
    for program, chosen in choices:
        for slots in sequences(program, dimensions, None if scheme.ordered else chosen):
            runs = _runs(slots, chosen, scheme)
            for run in runs:
                if run not in seen:
                    seen.add(run)
                    _inside(topology, tables, run, dependencies)
            for pair in pairwise(runs):
                if pair not in seen:
                    seen.add(pair)
                    _between(topology, tables, *pair, dependencies)
            done += 1
            if not done % 1000:
                progress("dependencies", done / total)


def _chosen(topology: Cartesian, of_dim: list[tuple[Case, ...]]) -> Iterator[tuple[Case, ...]]:
    """Yield all choices of a case in every dimension."""
    if prod(map(len, of_dim)) > _CHOICES:
        raise _too_many(topology, prod(map(len, of_dim)))
    return product(*of_dim)


def _too_many(topology: Cartesian, total: int) -> TooLargeError:
    return TooLargeError(
        f"the {len(topology.axes)} dimensions of {topology.spec} can be taken in {total:,} ways, more than "
        f"{_CHOICES:,}: choose fewer dimensions, or a routing with fewer orders"
    )


def _orders(program: Program, chosen: Sequence[Case], scheme: Scheme) -> int:
    """Return an upper bound of the number of sequences."""
    counts = []
    for phase in program.phases:
        moving = len(chosen) if scheme.ordered else sum(case.steps[_part(phase)] != 0 for case in chosen)
        counts.append(factorial(moving) if phase.orders is None else len(phase.orders))
    return prod(counts)


def sequences(program: Program, dimensions: int, chosen: Sequence[Case] | None = None) -> Iterator[list[Slot]]:
    """Yield the segments of a program, in every order in which it may take them.

    With `chosen` cases, empty segments are left out, and orders that differ in these only are one order.
    """
    orders_of: list[Iterable[tuple[int, ...]]] = []
    for phase in program.phases:
        moving = [dim for dim in range(dimensions) if chosen is None or chosen[dim].steps[_part(phase)]]
        if phase.orders is None:
            orders_of.append(permutations(moving))
        else:
            orders_of.append(dict.fromkeys(tuple(dim for dim in order if dim in moving) for order in phase.orders))
    for orders in product(*orders_of):
        first = next((dim for order in orders for dim in order), 0)
        yield [
            Slot(dim, _part(phase), number, order, first)
            for number, (phase, order) in enumerate(zip(program.phases, orders, strict=True))
            for dim in order
        ]


def _part(phase: Phase) -> int:
    return FIRST if phase.target == TO_INTERMEDIATE else SECOND


def _runs(slots: list[Slot], chosen: Sequence[Case], scheme: Scheme) -> list[_Run]:
    """Return the runs of the paths in a choice of cases, in the order in which they are taken."""
    spots = [case.at[SOURCE] for case in chosen]
    moves: list[Move] = []
    begun: list[tuple[int, Spots]] = []
    for slot in slots:
        case = chosen[slot.dim]
        if case.steps[slot.part]:
            moves.append(Move(slot.dim, case.steps[slot.part], slot.phase, slot.order, slot.first))
            begun.append((slot.part, tuple(spots)))
        spots[slot.dim] = case.at[MIDDLE if slot.part == FIRST else END]
    runs: list[_Run] = []
    for move, label, (part, where) in zip(moves, scheme.labels(moves), begun, strict=True):
        case = chosen[move.dim]
        last = runs[-1] if runs else None
        if scheme.dateline and last and (last.dim, last.label) == (move.dim, label) and case.steps[FIRST] == move.step:
            runs[-1] = last._replace(kind=BOTH)
        else:
            runs.append(_Run(move.dim, part, case, label, (*where[: move.dim], (), *where[move.dim + 1 :])))
    return runs


def _inside(topology: Cartesian, tables: list[Array], run: _Run, dependencies: Dependencies) -> None:
    """Add the channels of a run and the dependencies within it."""
    table, own = tables[run.dim], run.case.runs[run.kind]
    rest = _rest(topology, run.dim, run.spots)
    offset = _offsets(topology, run, dependencies)

    def vertices(links: Array) -> Array:
        numbers: Array = table[links[:, :1], rest] + offset[links[:, 1:]]
        return numbers

    dependencies.use(vertices(own.used))
    dependencies.follow(vertices(own.pairs[:, :2]), vertices(own.pairs[:, 2:]))


def _between(topology: Cartesian, tables: list[Array], run: _Run, then: _Run, dependencies: Dependencies) -> None:
    """Add the dependencies from the last channels of a run to the first ones of the next run."""
    end, start = _offsets(topology, run, dependencies), _offsets(topology, then, dependencies)[0]
    if run.dim == then.dim:
        rest = _rest(topology, run.dim, run.spots)
        last, bit, follower = (column[:, None] for column in run.case.back.T)
        dependencies.follow(tables[run.dim][last, rest] + end[bit], tables[run.dim][follower, rest] + start)
        return
    spots = [(0,) if dim in (run.dim, then.dim) else where for dim, where in enumerate(run.spots)]
    one, two = _rest(topology, run.dim, spots), _rest(topology, then.dim, spots)
    follower = then.case.runs[then.kind].first[:, 0]
    here = np.array(topology.axes[then.dim].links)[follower, 0] * _stride(topology, run.dim, then.dim)
    begun = one + here[:, None]
    every = run.case.runs[run.kind].last
    size = max(1, _PIECE // max(1, begun.size))
    for piece in (every[k : k + size] for k in range(0, len(every), size)):
        last, bit = piece[:, 0], piece[:, 1]
        there = np.array(topology.axes[run.dim].links)[last, 1] * _stride(topology, then.dim, run.dim)
        dependencies.follow(
            tables[run.dim][last[:, None, None], begun] + end[bit][:, None, None],
            tables[then.dim][follower[:, None], (two + there[:, None])[:, None, :]] + start,
        )


def _offsets(topology: Cartesian, run: _Run, dependencies: Dependencies) -> Array:
    """Return what to add to a channel for its vertex, by dateline bit."""
    return np.array([dependencies.label((run.label, bit)) for bit in (0, 1)], np.int64) * topology.channels


def _channel_table(topology: Cartesian, dim: int) -> Array:
    """Return the channel along each link of an axis, by link and by the other coordinates' number (as in `_rest`)."""
    stride, radix = topology.strides[dim], topology.radices[dim]
    table = np.zeros((len(topology.axes[dim].links), topology.nodes // radix), np.int64)
    here = np.flatnonzero(topology.dim_of == dim)
    tail = topology.tail[here].astype(np.int64)
    table[topology.link_of[here], tail % stride + tail // (stride * radix) * stride] = here
    return table


def _rest(topology: Cartesian, dim: int, spots: Sequence[Sequence[int]]) -> Array:
    """Return the numbers of all choices of coordinates in the dimensions other than `dim`."""
    numbers: Array = np.zeros(1, np.int64)
    for other, where in enumerate(spots):
        if other != dim:
            numbers = (numbers[None, :] + np.array(where)[:, None] * _stride(topology, dim, other)).ravel()
    return numbers


def _stride(topology: Cartesian, dim: int, other: int) -> int:
    """Return what a step in another dimension adds to such a number."""
    return topology.strides[other] // (topology.radices[dim] if other > dim else 1)
