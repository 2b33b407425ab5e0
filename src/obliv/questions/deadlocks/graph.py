"""The channel dependency graph: collected bit by bit, then searched for a cycle; virtual-channel schemes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from obliv._util.arrays import Array, starts
from obliv._util.progress import require_memory
from obliv._util.text import did_you_mean
from obliv.errors import RoutingError, SpecError, TooLargeError
from obliv.kernels import run
from obliv.questions.kernels.deadlocks import drain
from obliv.routings.shortest import UpDown
from obliv.topologies.axes import Directions
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import directions_of

_BUFFER = 1 << 22  # dependencies collected before duplicates are dropped
_VERTEX = 31  # bits of a vertex number
_VISITED = 3_000_000  # dependencies that the search for a short cycle visits


@dataclass(frozen=True, eq=False)
class Graph:
    """A channel dependency graph: vertex v is virtual channel ``label[v]`` of ``channel[v]``.

    What may be used right after vertex v is ``head[ptr[v]:ptr[v + 1]]``.
    """

    channel: Array
    label: Array
    ptr: Array
    head: Array


class Dependencies:
    """A channel dependency graph under construction.

    A vertex is ``label * channels + channel``; labels of virtual channels are numbered in order of appearance.
    """

    def __init__(self, channels: int) -> None:
        self.channels = channels
        self.labels: list[Any] = []
        self._numbers: dict[Any, int] = {}
        self._vertices: list[Array] = []
        self._edges: list[Array] = []
        self._held = 0

    def label(self, name: Any) -> int:
        """Return the number of a label."""
        if name not in self._numbers:
            self._numbers[name] = len(self.labels)
            self.labels.append(name)
            if len(self.labels) * self.channels >= 1 << _VERTEX:
                raise TooLargeError(f"{len(self.labels)} virtual channels on {self.channels:,} channels are too many")
        return self._numbers[name]

    def use(self, vertices: Array) -> None:
        """Add vertices."""
        self._vertices.append(np.asarray(vertices, np.int64).ravel())
        self._grew(len(self._vertices[-1]))

    def follow(self, first: Array, second: Array) -> None:
        """Add an edge from vertex ``first[k]`` to ``second[k]``: some path uses them in sequence."""
        tail, head = np.broadcast_arrays(first, second)
        self._edges.append(((tail.astype(np.int64) << _VERTEX) | head.astype(np.int64)).ravel())
        self._grew(len(self._edges[-1]))

    def graph(self) -> Graph:
        """Return the graph, vertices sorted by channel and label."""
        self._compact()
        edges = self._edges[0]
        tail, head = edges >> _VERTEX, edges & ((1 << _VERTEX) - 1)
        vertices = distinct(np.concatenate([self._vertices[0], tail, head]))
        channel, label = vertices % self.channels, vertices // self.channels
        order = np.lexsort((label, channel))
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        tail, head = place[np.searchsorted(vertices, tail)], place[np.searchsorted(vertices, head)]
        by_tail = np.lexsort((head, tail))
        ptr = starts(np.bincount(tail, minlength=len(order)))
        return Graph(channel[order], label[order], ptr.astype(np.int64), head[by_tail])

    def _grew(self, by: int) -> None:
        self._held += by
        if self._held > _BUFFER:
            self._compact()
            self._held = (len(self._edges[0]) + len(self._vertices[0])) // 2

    def _compact(self) -> None:
        require_memory(120.0 * self._held, "the channel dependency graph")
        empty = np.zeros(0, np.int64)
        self._edges = [distinct(np.concatenate([empty, *self._edges]))]
        self._vertices = [distinct(np.concatenate([empty, *self._vertices]))]


def distinct(numbers: Array) -> Array:
    """Return the numbers that occur, in order, by sorting: hashing, as NumPy may do, takes many times as long."""
    ordered = np.sort(numbers)
    new = np.ones(len(ordered), bool)
    new[1:] = ordered[1:] != ordered[:-1]
    values: Array = ordered[new]
    return values


def order_of(ptr: Array, head: Array) -> Array:
    """Return the vertices of an acyclic graph in an order in which every edge leads onward (Kahn).

    Examples
    --------
    >>> import numpy as np
    >>> order_of(np.array([0, 0, 2, 3]), np.array([0, 2, 0])).tolist()
    [1, 2, 0]
    """
    before = np.bincount(head, minlength=len(ptr) - 1)
    layer, layers = np.flatnonzero(before == 0), []
    while len(layer):
        layers.append(layer)
        count = ptr[layer + 1] - ptr[layer]
        inside = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
        behind = head[np.repeat(ptr[layer], count) + inside]
        np.subtract.at(before, behind, 1)
        behind = distinct(behind)
        layer = behind[before[behind] == 0]
    return np.concatenate([np.zeros(0, np.int64), *layers])


def short_cycle(ptr: Array, head: Array) -> list[int] | None:
    """Return a short cycle of a directed graph; None where there is no cycle.

    Linear in the graph where it is acyclic (Kahn); elsewhere a search through the strongly connected components
    (Tarjan), breadth first from one vertex after the other, up to a number of edges.

    Examples
    --------
    >>> import numpy as np
    >>> short_cycle(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 0]))
    [0, 1]
    >>> short_cycle(np.array([0, 2, 3, 3]), np.array([1, 2, 2])) is None
    True
    """
    left = np.ones(len(ptr) - 1, np.bool_)
    run(drain, 6.0 * (len(ptr) + len(head)), ptr, head, left)
    if not left.any():
        return None
    kept = np.flatnonzero(left)
    number = np.cumsum(left) - 1  # of the vertices that are kept
    tail = np.repeat(np.arange(len(left)), np.diff(ptr))
    both = left[tail] & left[head]
    counts = np.bincount(number[tail[both]], minlength=len(kept))
    heads = number[head[both]].tolist()
    inside = [heads[a:b] for a, b in pairwise([0, *np.cumsum(counts).tolist()])]
    component = _components(inside)
    inside = [[w for w in after if component[w] == component[v]] for v, after in enumerate(inside)]
    best: list[int] = []
    budget = _VISITED
    for start, after in enumerate(inside):
        if not after:
            continue
        cycle, visited = _round_from(start, inside, len(best))
        best = cycle or best
        budget -= visited
        if len(best) in (1, 2) or (best and budget < 0):
            break
    least = best.index(min(best))
    return [int(kept[v]) for v in best[least:] + best[:least]]


def _components(after: list[list[int]]) -> list[int]:
    """Return the strongly connected component of every vertex (Tarjan, without recursion)."""
    index = [-1] * len(after)
    low = [0] * len(after)
    component = [-1] * len(after)
    held: list[int] = []
    count = components = 0
    for root in range(len(after)):
        if index[root] >= 0:
            continue
        work: list[tuple[int, Iterator[int]]] = [(root, iter(after[root]))]
        index[root] = low[root] = count
        count += 1
        held.append(root)
        while work:
            v, rest = work[-1]
            for w in rest:
                if index[w] < 0:
                    index[w] = low[w] = count
                    count += 1
                    held.append(w)
                    work.append((w, iter(after[w])))
                    break
                if component[w] < 0:
                    low[v] = min(low[v], index[w])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[v])
                if low[v] == index[v]:
                    while component[v] < 0:
                        component[held.pop()] = components
                    components += 1
    return component


def _round_from(start: int, after: list[list[int]], shorter_than: int) -> tuple[list[int], int]:
    """Return the shortest cycle through a vertex, if shorter than asked (0: any), and the number of edges visited."""
    parent = {start: start}
    layer = [start]
    visited = length = 0
    while layer:
        length += 1
        if shorter_than and length >= shorter_than:
            break
        grown = []
        for v in layer:
            visited += len(after[v])
            for w in after[v]:
                if w == start:
                    cycle = [v]
                    while cycle[-1] != start:
                        cycle.append(parent[cycle[-1]])
                    return cycle[::-1], visited
                if w not in parent:
                    parent[w] = v
                    grown.append(w)
        layer = grown
    return [], visited


# Virtual-channel schemes: which virtual channel each hop of a path takes


COORDINATES = "coordinates"
PLANE = "two dimensions"
PHASES = "phases"
PROGRAMS = "phase programs"

Label = Any  # a class of virtual channels: a number, or a tuple of numbers


class Move(NamedTuple):
    """One hop of a path, or several in a row that agree in all fields.

    `step` is the direction, +1 or -1 (in a clique the sign of the difference of coordinates); `phase` and `order` are
    those of the phase program, `first` the dimension that the order of its first phase begins with.
    """

    dim: int
    step: int
    phase: int = 0
    order: tuple[int, ...] = ()
    first: int = 0


Labels = Callable[[Sequence[Move]], list[Label]]
Turned = Callable[[Any, Any, Any, Any], Any]  # dimension and direction of a hop and of the next one; or arrays of them


@dataclass(frozen=True)
class Scheme:
    """A rule that gives every hop its virtual channel.

    Parameters
    ----------
    name : str
    summary : str
        One line for help and documentation.
    labels : callable
        The class of every move of a path.
    turned : callable, optional
        For rules that count turns between consecutive hops: whether there is one.
    needs : tuple of str
        Requirements: ``coordinates``, ``two dimensions``, ``phases``, ``phase programs``.
    directed : bool
        Whether directions matter.
    ordered : bool
        Whether the orders of a program matter, where some of its segments are empty too.
    dateline : bool
        Whether each class is split by a dateline bit.
    ranked : bool
        Whether `dim` of a hop is 0 for a channel that leads up, by the ranks of ``updown``, and 1 for one down.
    """

    name: str
    summary: str
    labels: Labels
    turned: Turned | None = None
    needs: tuple[str, ...] = ()
    directed: bool = False
    ordered: bool = False
    dateline: bool = False
    ranked: bool = False


def _never(dim: Any, step: Any, next_dim: Any, next_step: Any) -> Any:
    return dim > dim  # False, or an array of it


def _back_in_order(dim: Any, step: Any, next_dim: Any, next_step: Any) -> Any:
    """Return whether it is a turn from a later dimension to an earlier one."""
    return dim > next_dim


def _back_or_reversed(dim: Any, step: Any, next_dim: Any, next_step: Any) -> Any:
    """Return whether it is such a turn, or one by 180 degrees."""
    return (dim > next_dim) | ((dim == next_dim) & (step != next_step))


def _counted(turned: Turned) -> Labels:
    """Return a rule whose class is the number of turns so far."""

    def labels(moves: Sequence[Move]) -> list[Label]:
        classes, count = [], 0
        for at, move in enumerate(moves):
            if at:
                last = moves[at - 1]
                count += bool(turned(last.dim, last.step, move.dim, move.step))
            classes.append(count)
        return classes

    return labels


def _by_x_direction(moves: Sequence[Move]) -> list[Label]:
    """Y split by the direction that the packet takes in X, earlier or later; without X it goes with the upward ones."""
    taken = {move.step for move in moves if move.dim == 0}
    if len(taken) > 1:
        raise RoutingError(
            "double-y needs packets that go one way in X, some of this routing go both: turn and turn+uturn fit it"
        )
    return [1 if move.dim and taken == {-1} else 0 for move in moves]


PLAIN = (
    Scheme("none", "one virtual channel", _counted(_never), _never),
    Scheme(
        "phase",
        "the phase of the routing: to the intermediate, from it",
        lambda moves: [move.phase for move in moves],
        needs=(PHASES,),
    ),
    Scheme(
        "turn",
        "one more after each turn from a later dimension to an earlier one (Y to X)",
        _counted(_back_in_order),
        _back_in_order,
        (COORDINATES,),
    ),
    Scheme(
        "turn+uturn",
        "one more after each such turn and after each turn by 180 degrees",
        _counted(_back_or_reversed),
        _back_or_reversed,
        (COORDINATES,),
        directed=True,
    ),
    Scheme(
        "family",
        "the dimension that the routing's first phase begins with (XYX or YXY, XY or YX)",
        lambda moves: [move.first for move in moves],
        needs=(PROGRAMS,),
        ordered=True,
    ),
    Scheme(
        "phase-order",
        "the phase and the order of dimensions in it",
        lambda moves: [(move.phase, move.order) for move in moves],
        needs=(PROGRAMS,),
        ordered=True,
    ),
    Scheme(
        "double-y",
        "in Y the direction that the packet takes in X; in X one virtual channel",
        _by_x_direction,
        needs=(PLANE,),
        directed=True,
    ),
)

UP_DOWN = Scheme(
    "updown",
    "one more after each turn from down to up, by the ranks of the routing updown",
    _counted(_back_in_order),
    _back_in_order,
    ranked=True,
)


def _with_dateline(scheme: Scheme) -> Scheme:
    alone = scheme.name == "none"
    return replace(
        scheme,
        name="dateline" if alone else f"{scheme.name}+dateline",
        summary="one more behind the wrap-around link of a ring" if alone else f"{scheme.name}, each split by dateline",
        needs=tuple(dict.fromkeys((*scheme.needs, COORDINATES))),
        directed=True,
        dateline=True,
    )


#: Every scheme by its name.
SCHEMES = {scheme.name: scheme for scheme in (*PLAIN, *map(_with_dateline, PLAIN), UP_DOWN)}


def find(name: Any) -> Scheme:
    """Return the scheme of a name; raise SpecError with a hint where it is unknown."""
    if not isinstance(name, str):
        raise SpecError(f"a virtual-channel scheme is a name or a function, not {name!r}")
    if name not in SCHEMES:
        fewest = "; {fewest_virtual_channels} finds the one with the fewest virtual channels" if name.isdigit() else ""
        raise SpecError.naming("unknown virtual-channel scheme {0!r}: {1}" + fewest, name, did_you_mean(name, SCHEMES))
    return SCHEMES[name]


def bits_of(moves: Sequence[Move], labels: Sequence[Label], wraps: Sequence[bool]) -> list[int]:
    """Return the dateline bit of every hop: set after a wrap-around link, cleared by a turn or a change of class."""
    bits: list[int] = []
    for at, move in enumerate(moves):
        straight = at > 0 and moves[at - 1][:2] == move[:2] and labels[at - 1] == labels[at]
        bits.append(int(bits[-1] or wraps[at - 1]) if straight else 0)
    return bits


def directions(topology: Topology, scheme: Scheme | None = None) -> Directions:
    """Return the directions of all channels as a scheme sees them; without coordinates all channels are alike."""
    zeros = np.zeros(topology.channels, np.int64)
    if scheme is not None and scheme.ranked:
        rank = UpDown(topology).rank
        return Directions((rank[topology.head] < rank[topology.tail]).astype(np.int64), zeros, zeros.astype(bool))
    return directions_of(topology) or Directions(zeros, zeros, zeros.astype(bool))
