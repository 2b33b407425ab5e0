"""The check of channel dependency graphs: every path of every pair is walked, hop by hop.

An acyclic graph comes with an order in which every hop of every path leads onward; a cycle with the hops that some
paths make. Which virtual channel a hop takes is computed here from the path alone, so schemes that need the phases of
a routing are not checked. The scheme ``updown`` is about heights of nodes; these are by definition those of the
routing of this name, so they are taken from there.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.progress import Progress, TimeLimit
from obliv.checker.report import Report, read_result
from obliv.flows.base import paths_between
from obliv.results.claims import MalformedError, array_of, certificate_of
from obliv.results.study import Verification
from obliv.routings.base import Routing
from obliv.routings.shortest import UpDown
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import axes_of

if TYPE_CHECKING:
    from obliv.questions.deadlocks.deadlock import Deadlock


_Hop = tuple[int, tuple[int, int]]  # a channel, and the class of its virtual channel: turns so far, dateline bit
_Lanes = Callable[[tuple[int, ...]], list[tuple[int, int]]]


def check_deadlock(
    content: dict[str, Any], topology: Topology, routing: Routing, budget: float, progress: Progress
) -> Verification:
    """Check that the channel dependency graph of a routing is acyclic, or has a cycle."""
    report = Report()
    claim: Deadlock = read_result(content)
    if claim.acyclic == (claim.cycle is not None):
        raise MalformedError("it is either acyclic or has a cycle")
    certificate = certificate_of(content) if claim.acyclic else content.get("certificate")
    sources = (*topology.sources, *routing.sources)
    report.note_origin(content, claim.provenance.sources, sources)
    with report.noting("paths"):
        if not report.fails:
            lanes = _lanes_of(claim.scheme, topology)
            hops, follows = _walked(routing, lanes, TimeLimit(report.began + budget), progress)
            _check_graph(report, claim, certificate, topology, hops, follows)
    what = "is acyclic" if claim.acyclic else f"has a cycle of {len(claim.cycle or ())} channels"
    statement = f"the channel dependency graph {what} (virtual channels: {claim.scheme[:40]})"
    return report.verification(statement, claim.topology, claim.routing, sources)


def _walked(
    routing: Routing, lanes: _Lanes, limit: TimeLimit, progress: Progress
) -> tuple[set[_Hop], set[tuple[_Hop, _Hop]]]:
    """Return the virtual channels that paths use, and which they use right after each other."""
    hops: set[_Hop] = set()
    follows: set[tuple[_Hop, _Hop]] = set()
    terminals = routing.topology.terminals.tolist()
    for done, source in enumerate(terminals):
        progress("paths", done / len(terminals))
        for destination in terminals:
            limit.check()
            for path in paths_between(routing, source, destination):
                limit.check()
                walk = list(zip(path, lanes(path), strict=True))
                hops.update(walk)
                follows.update(pairwise(walk))
    return hops, follows


def _check_graph(
    report: Report,
    claim: Deadlock,
    certificate: Any,
    topology: Topology,
    hops: set[_Hop],
    follows: set[tuple[_Hop, _Hop]],
) -> None:
    """Check the order or the cycle, and the numbers of virtual channels and of dependencies."""
    classes = {kind: number for number, kind in enumerate(sorted({kind for _, kind in hops}))}
    vertices = {(c, classes[kind]) for c, kind in hops}
    edges = {((c, classes[kind]), (d, classes[other])) for (c, kind), (d, other) in follows}
    used: dict[str, set[int]] = {}
    dims = _dimensions(topology)
    for c, number in vertices if dims else ():
        used.setdefault(_letter(dims[c]), set()).add(number)
    counts = {_letter(dim): len(used.get(_letter(dim), ())) for dim in range(len(topology.radices) if dims else 0)}
    right = {"virtual_channels": len(classes), "by_dimension": counts, "dependencies": len(edges)}
    wrong = next((key for key, value in right.items() if getattr(claim, key) != value), "")
    detail = (
        f"{wrong} is {right[wrong]}"
        if wrong
        else f"{len(vertices):,} virtual channels in use, {len(edges):,} dependencies"
    )
    report.note("graph", not wrong, detail)
    if claim.cycle is not None:
        steps = [(step.channel, step.virtual_channel) for step in claim.cycle]
        ends = all(
            0 <= s.channel < topology.channels
            and (s.tail, s.head) == (topology.tail[s.channel], topology.head[s.channel])
            for s in claim.cycle
        )
        closed = ends and bool(steps) and all(pair in edges for pair in zip(steps, steps[1:] + steps[:1], strict=True))
        once = len(set(steps)) == len(steps)
        problem = "no paths lead round it" if not closed else "" if once else "it passes through a channel twice"
        report.note("cycle", not problem, problem or "paths lead from each channel to the next, and back to the first")
        return
    order = array_of(certificate.get("order"), "order", 2 * len(vertices), -1, 2).tolist()
    place = {(c, number): at for at, (c, number) in enumerate(order)}
    fits = place.keys() == vertices and all(place[one] < place[two] for one, two in edges)
    report.note(
        "order", fits, "every hop of every path leads onward in it" if fits else "a path goes back in it, or leaves it"
    )


def _letter(dim: int) -> str:
    return "xyzwvu"[dim] if dim < 6 else f"d{dim}"


def _lanes_of(scheme: str, topology: Topology) -> _Lanes:
    """Return the function that gives every hop of a path its class."""
    name, plus, last = scheme.rpartition("+")
    dateline = last == "dateline"
    name = (name if plus else "none") if dateline else scheme
    if name not in ("none", "turn", "turn+uturn", "double-y", "updown"):
        raise MalformedError(f"scheme {scheme[:40]!r} is not one that paths alone determine, which is what is checked")
    coordinates = _dimensions(topology)
    if (dateline or name in ("turn", "turn+uturn", "double-y")) and not coordinates:
        raise MalformedError(f"scheme {scheme[:40]!r} needs coordinates")
    dims, steps, wraps = (coordinates or [0] * topology.channels), *_directions(topology)
    if name == "updown":
        rank = UpDown(topology).rank.tolist()
        ends = zip(topology.tail.tolist(), topology.head.tolist(), strict=True)
        dims = [int(rank[head] < rank[tail]) for tail, head in ends]

    def turned(one: int, two: int) -> bool:
        if name in ("none", "double-y"):
            return False
        return dims[one] > dims[two] or (name == "turn+uturn" and dims[one] == dims[two] and steps[one] != steps[two])

    def lanes(path: tuple[int, ...]) -> list[tuple[int, int]]:
        classes, count = [], 0
        for at, c in enumerate(path):
            count += at > 0 and turned(path[at - 1], c)
            classes.append(count)
        if name == "double-y":
            ways = {steps[c] for c in path if dims[c] == 0}
            if len(ways) > 1:
                raise MalformedError("double-y needs packets that go one way in X")
            classes = [int(dims[c] > 0 and ways == {-1}) for c in path]
        bits = [0] * len(path)
        for at in range(1, len(path) if dateline else 0):
            one, two = path[at - 1], path[at]
            straight = (dims[one], steps[one], classes[at - 1]) == (dims[two], steps[two], classes[at])
            bits[at] = int(straight and (bits[at - 1] or wraps[one]))
        return list(zip(classes, bits, strict=True))

    return lanes


def _dimensions(topology: Topology) -> list[int]:
    """Return the dimension of every channel: where the coordinates of its ends differ; empty without coordinates."""
    if not axes_of(topology):
        return []
    stride = np.cumprod([1, *topology.radices])[:-1]
    radix = np.array(topology.radices)
    tail, head = (end[:, None] // stride % radix for end in (topology.tail, topology.head))
    dims: list[int] = np.argmax(tail != head, axis=1).tolist() if topology.channels else []
    return dims


def _directions(topology: Topology) -> tuple[list[int], list[bool]]:
    """Return for every channel whether it leads up (1) or down (-1) its dimension, and whether it wraps around."""
    dims = _dimensions(topology)
    steps, wraps = [0] * topology.channels, [False] * topology.channels
    stride = np.cumprod([1, *topology.radices])[:-1].tolist() if dims else []
    seen: set[tuple[int, int]] = set()
    for c, dim in enumerate(dims):
        tail, head = int(topology.tail[c]), int(topology.head[c])
        k = topology.radices[dim]
        a, b = tail // stride[dim] % k, head // stride[dim] % k
        up = b > a
        if axes_of(topology)[dim].kind == "ring":  # on a ring of two the first channel leads up, the second down
            up = (b - a) % k == 1 and not (k == 2 and (tail, dim) in seen)
            seen.add((tail, dim))
            wraps[c] = a == (k - 1 if up else 0)
        steps[c] = 1 if up else -1
    return steps, wraps
