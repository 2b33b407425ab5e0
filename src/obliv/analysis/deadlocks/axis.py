"""The cases of a phase program in one dimension: the segments that packets may follow there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np

from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.loads.programs import ANYWHERE, QUADRANT
from obliv.topologies.axes import Axis

__all__ = ["BOTH", "END", "FIRST", "MIDDLE", "SECOND", "SOURCE", "Case", "Run", "Segment", "cases", "segments"]

K = TypeVar("K")

FIRST, SECOND, BOTH = 0, 1, 2  # a run takes the segment to the intermediate, the one onwards, or both in one go
SOURCE, MIDDLE, END = 0, 1, 2  # where a packet stands in a dimension


@dataclass(frozen=True, eq=False)
class Run:
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
    runs : tuple of Run
        The first segment, the second, both in one run.
    back : array, shape (n, 3)
        A last link of the first segment with its bit, and the first link of a second segment that begins a new run.
    """

    steps: tuple[int, int]
    at: tuple[tuple[int, ...], ...]
    runs: tuple[Run, Run, Run]
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

    def run(self, wraps: frozenset[int]) -> Run:
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
        return Run(_rows(self.longest, 2), _rows(last, 2), _rows(used, 2), _rows(pairs, 4))


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
    """Return the cases of a dimension.

    Parameters
    ----------
    along : Axis
    draw : str
        How its intermediate coordinate is drawn: as in a program, ``spread``, or empty for a direct way.
    differ : bool, optional
        Only where source and destination differ (True) or agree (False).
    directed : bool
        Whether segments of different directions are different cases.
    dateline : bool
        Whether there are dateline bits; without, all bits are 0.
    """
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
    both = Run(first.first, onward.last, np.concatenate([first.used, onward.used]), through)
    back = _rows({(last, bit, follower) for last, bit, follower, _ in draft.joints}, 3)
    at = tuple(tuple(sorted(coordinates)) for coordinates in draft.at)
    return Case(steps, at, (first, second, both), back)


def _rows(rows: Iterable[Any], width: int) -> Array:
    return np.array(sorted(rows), np.int64).reshape(-1, width)
