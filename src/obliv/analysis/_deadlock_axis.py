"""What a packet of a phase program may do in one dimension, sorted into cases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from obliv.analysis._deadlock_schemes import link_steps, wrap_links
from obliv.errors import TooLargeError
from obliv.loads.programs import ANYWHERE, QUADRANT
from obliv.topology.cartesian import Axis

__all__ = ["BOTH", "END", "FIRST", "MIDDLE", "SECOND", "SOURCE", "Case", "Run", "Segment", "cases", "segments"]

Array = npt.NDArray[Any]

FIRST, SECOND, BOTH = 0, 1, 2  # a run takes the segment to the intermediate, the one onwards, or both in one go
SOURCE, MIDDLE, END = 0, 1, 2  # where a packet stands in a dimension

_RADIX = 300  # coordinates of a dimension with an intermediate anywhere: what may be drawn grows as their cube


@dataclass(frozen=True, eq=False)
class Run:
    """What a run uses: its links as (link, dateline bit), and pairs of them that follow each other."""

    first: Array
    last: Array
    used: Array
    pairs: Array


@dataclass(frozen=True, eq=False)
class Case:
    """Histories of a dimension that are alike.

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


@dataclass
class _Draft:
    """A case in the making; a second segment comes with the bit that it has when both make one run."""

    at: tuple[set[int], ...] = field(default_factory=lambda: (set(), set(), set()))
    first: set[Segment] = field(default_factory=set)
    second: set[tuple[Segment, int]] = field(default_factory=set)
    joints: set[tuple[int, int, int, int]] = field(default_factory=set)


@lru_cache(maxsize=64)
def cases(along: Axis, draw: str, differ: bool | None, directed: bool, dateline: bool) -> tuple[Case, ...]:
    """The cases of a dimension.

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
    if draw == ANYWHERE and along.radix > _RADIX:
        raise TooLargeError(f"a {along.kind} of {along.radix} has too many intermediates: up to {_RADIX} coordinates")
    steps = link_steps(along)
    wraps = wrap_links(along) if dateline else frozenset()
    drafts: dict[tuple[int, int], _Draft] = {}
    for start, end in product(range(along.radix), repeat=2):
        if differ is not None and differ != (start != end):
            continue
        for first, second in segments(along, draw, start, end):
            key = _step(first, steps, directed), _step(second, steps, directed)
            draft = drafts.setdefault(key, _Draft())
            for spot, coordinates in zip((start, first.end, end), draft.at, strict=True):
                coordinates.add(spot)
            crossed = int(not wraps.isdisjoint(first.links))
            draft.first.add(first)
            draft.second.add((second, crossed))
            if first.links and second.links:
                last = first.links[-1]
                draft.joints.add((last, int(crossed and last not in wraps), second.links[0], crossed))
    return tuple(_case(key, draft, wraps) for key, draft in sorted(drafts.items()))


def segments(along: Axis, draw: str, start: int, end: int) -> Iterator[tuple[Segment, Segment]]:
    """All choices of a segment to the intermediate coordinate and one onwards.

    A dimension that is gone directly has an empty first segment.
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


def _step(segment: Segment, steps: tuple[int, ...], directed: bool) -> int:
    if not segment.links:
        return 0
    return steps[segment.links[0]] if directed else 1


def _case(steps: tuple[int, int], draft: _Draft, wraps: frozenset[int]) -> Case:
    fresh = {segment for segment, _ in draft.second}
    first = _run([(segment.links, 0) for segment in draft.first], wraps)
    second = _run([(segment.links, 0) for segment in fresh], wraps)
    onward = _run([(segment.links, bit) for segment, bit in draft.second], wraps)
    through = np.concatenate([first.pairs, _rows(draft.joints, 4), onward.pairs])
    both = Run(first.first, onward.last, np.concatenate([first.used, onward.used]), through)
    back = _rows({(last, bit, follower) for last, bit, follower, _ in draft.joints}, 3)
    at = tuple(tuple(sorted(coordinates)) for coordinates in draft.at)
    return Case(steps, at, (first, second, both), back)


def _run(segments: Iterable[tuple[tuple[int, ...], int]], wraps: frozenset[int]) -> Run:
    """The run along any of some segments, each with the bit that it begins with."""
    first: set[tuple[int, ...]] = set()
    last: set[tuple[int, ...]] = set()
    used: set[tuple[int, ...]] = set()
    pairs: set[tuple[int, ...]] = set()
    for links, bit in segments:
        hops = []
        for link in links:
            hops.append((link, bit))
            bit = 1 if link in wraps else bit
        if hops:
            first.add(hops[0])
            last.add(hops[-1])
            used.update(hops)
            pairs.update((*one, *two) for one, two in pairwise(hops))
    return Run(_rows(first, 2), _rows(last, 2), _rows(used, 2), _rows(pairs, 4))


def _rows(rows: set[Any], width: int) -> Array:
    return np.array(sorted(rows), np.int64).reshape(-1, width)
