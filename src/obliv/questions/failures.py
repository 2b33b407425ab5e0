"""The exact worst case after each failure of a link or node, what failures do to guarantees, and failures alike."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from obliv._util.arrays import Array
from obliv._util.files import digest_of
from obliv._util.progress import Progress, rising, within
from obliv._util.rationals import boolean
from obliv._util.text import plural, printable, several
from obliv.errors import InputError, Interrupted, RoutingError, SpecError
from obliv.questions.deadlocks.deadlock import deadlock
from obliv.questions.subject import Subject, by_specs, identity, subject_of
from obliv.questions.worst_case import solved_worst_case
from obliv.results.base import CERTIFICATE, Bar, Bars, Mark, Result
from obliv.results.codec import Record, entry
from obliv.results.numbers import as_float, short, shown
from obliv.results.study import REPAIRS
from obliv.routings.base import Routing
from obliv.routings.make import routing as routing_of
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import channel_map, terminal_map
from obliv.topologies.damaged import NothingLeftError, all_links, failure_name, link_texts, node_texts, without
from obliv.topologies.saved import carried as network_in_claim

# What failures of cables and switches do to the guarantees of a network


_LISTED = 2  # failures in the short form


@dataclass(frozen=True)
class FailureState(Record):
    """A network without failures.

    Parameters
    ----------
    channel_load : Fraction
        The worst channel load.
    channel : str
        A channel that has it.
    missing : int
        Ordered pairs whose packets do not arrive.
    deadlock : bool or None
        Whether there is a credit loop on a single lane; None where it was not checked.
    """

    channel_load: Fraction = Fraction(0)
    channel: str = ""
    missing: int = 0
    deadlock: bool | None = entry(None, reason="not checked")


@dataclass(frozen=True)
class FailureRow(Record):
    """What is left after a failure.

    Parameters
    ----------
    failed : str
    pairs_lost : int
        Ordered pairs of hosts whose packets arrived before and no longer do.
    channel_load : Fraction
        The worst channel load over all admissible traffic, exact.
    channel : str
        A channel that has it.
    deadlock : bool or None
        Whether there is a credit loop on a single lane; None where it was not checked.
    alike : int
        How many failures this row stands for: those that a verified symmetry carries onto each other.
    """

    failed: str = entry("", column="failed")
    pairs_lost: int = entry(0, column="pairs_lost")
    channel_load: Fraction = entry(Fraction(0), column="channel_load")
    channel: str = entry("", column="channel")
    deadlock: bool | None = entry(None, column="deadlock", reason="not checked")
    alike: int = entry(1, column="alike")

    @property
    def rank(self) -> tuple[bool, int, Fraction]:
        """What failures are compared by: a credit loop, then lost pairs, then the worst load."""
        return bool(self.deadlock), self.pairs_lost, self.channel_load


@dataclass(frozen=True, repr=False)
class Failures(Result):
    """The exact worst case after each failure, the most harmful first.

    Failures are ranked by whether a credit loop comes up, then by the pairs that they cut off, then by the worst load.

    Parameters
    ----------
    of : str
        What failed: ``cables``, ``lanes``, ``switches``, ``links``, ``nodes``, or ``given``.
    repair : str
        What happens to the routes: ``keep``, ``refill``, or how they are computed anew.
    before : FailureState
    failures : tuple of FailureRow
    orbits : int, optional
        How many kinds of failures there are, if those that verified symmetries carry onto each other are one kind; None
        where no symmetries were sought.
    notes : tuple of str
        What else to know.
    certificate : dict, optional
        What proves the figures.
    top : int, optional
        How many failures the text and the rows list; default: two in the text, and all in rows. JSON has all.

    Examples
    --------
    >>> import obliv
    >>> routing = obliv.fabric.from_routing(obliv.DModK(obliv.fattree(4, 2)))
    >>> obliv.fabric.failures(routing)
    failures: lft:dmodk on fabric:fattree:4,2
      failures      8 cables, routes: keep
      before        worst load 2
      largest load  2
      most lost     12 pairs
      rank 1        12 pairs lost, worst load 2   switch((0),1) port 3 - switch((0),0) port 1
      rank 2        12 pairs lost, worst load 2   switch((0),1) port 4 - switch((1),0) port 1
                    and 6 more, all in CSV
    """

    kind: ClassVar[str] = "failures"
    table: ClassVar[str] = "failures"

    of: str = "cables"
    repair: str = "keep"
    before: FailureState = entry(default_factory=FailureState)
    failures: tuple[FailureRow, ...] = entry((), key="rows", rank=2)
    orbits: int | None = entry(None, omit=lambda after: after.orbits is None, rank=3)
    notes: tuple[str, ...] = entry((), rank=3)
    certificate: dict[str, Any] | None = entry(
        None, codec=CERTIFICATE, omit=lambda after: after.certificate is None, rank=4
    )
    top: int | None = entry(None, compare=False, hidden=True)

    @property
    def count(self) -> int:
        """The number of failures, each of those that are alike counted."""
        return sum(row.alike for row in self.failures)

    @property
    def worst_load(self) -> Fraction:
        """The largest worst load after a failure."""
        return max((row.channel_load for row in self.failures), default=Fraction(0))

    @property
    def most_lost(self) -> int:
        """The largest number of pairs that a failure cuts off."""
        return max((row.pairs_lost for row in self.failures), default=0)

    @property
    def _listed(self) -> int:
        return _LISTED if self.top is None else self.top

    def _after(self) -> str:
        """Return the failure after which the load is largest, if it is not among those that are listed."""
        worst = self.worst_load  # a maximum over all rows
        at = next((place for place, row in enumerate(self.failures) if row.channel_load == worst), 0)
        return "" if at < self._listed else f"   after {self.failures[at].failed}"

    def bars(self, count: int = 12) -> Bars:
        """Return the worst load after `count` outcomes, the most harmful first, each named by one of its failures."""
        if count < 1:
            raise InputError(f"count is {count}; it must be at least 1")
        outcomes = [list(group) for _, group in groupby(self.failures, key=lambda row: row.rank)]
        bars = []
        for first, *others in outcomes[:count]:
            more = first.alike - 1 + sum(row.alike for row in others)
            name = first.failed + (f"  + {more:,} more" if more else "")
            bars.append(Bar(name, first.channel_load, "warning" if first.deadlock else "plain", row_text(first)))
        left = len(outcomes) - len(bars)
        axis = "worst load after the failure" + (f"; {left:,} more outcomes are not shown" if left else "")
        before = as_float(self.before.channel_load)
        mark = Mark(before, f"before: {short(self.before.channel_load)}")
        return Bars(bars, axis, ["{subject}", f"routes: {self.repair}"], marks=[mark], least=before, dense=True)

    def cells(self) -> dict[str, Any]:
        """Return nothing: rows have the columns of their failures alone."""
        return {}

    def rows(self) -> Iterator[dict[str, Any]]:
        yield from (row.cells() for row in self.failures[: self.top])

    def summary(self) -> list[tuple[str, str]]:
        many = "of what is given" if self.of == "given" else f"{self.count:,} {self.of}"
        loops = sum(row.alike for row in self.failures if row.deadlock)
        lines = [
            ("failures", f"{many}, routes: {self.repair}"),
            ("before", state_text(self.before)),
            ("largest load", shown(self.worst_load) + self._after()),
            ("most lost", plural(self.most_lost, "pair")),
        ]
        if self.orbits is not None:
            lines.append(("kinds", f"{self.orbits:,}, by verified symmetries"))
        if loops and not self.before.deadlock:
            lines.append(("credit loops", f"on one lane, after {plural(loops, 'failure')}"))
        for number, row in enumerate(self.failures[: self._listed], 1):
            alike = f"   (and {row.alike - 1:,} alike)" if row.alike > 1 else ""
            lines.append((f"rank {number}", f"{row_text(row)}   {row.failed}{alike}"))
        if (more := len(self.failures) - self._listed) > 0:
            lines.append(("", f"and {more:,} more" + ", all in CSV" * (self.top is None)))
        return [*lines, *(("note", text) for text in self.notes)]


def state_text(state: FailureState) -> str:
    """Return in words the worst load, missing pairs and a credit loop."""
    missing = f", {plural(state.missing, 'pair')} missing" if state.missing else ""
    return f"worst load {shown(state.channel_load)}{missing}{', a credit loop on one lane' if state.deadlock else ''}"


def row_text(row: FailureRow) -> str:
    """Return what a failure does in words."""
    loop = ", credit loop on one lane" if row.deadlock else ""
    return f"{plural(row.pairs_lost, 'pair')} lost, worst load {shown(row.channel_load)}{loop}"


def unfinished(done: int, count: int) -> tuple[str, ...]:
    """Return the notes of a result that was interrupted after some of its failures; none where all are done."""
    return (f"interrupted: {count - done:,} of {plural(count, 'failure')} are not among these",) if done < count else ()


# Failures that symmetries of a network carry onto each other, under routings that depend on nothing else


_LARGEST = 2**22  # numbers in the maps of all failures


def first_alike(routing: Routing, of: str) -> list[tuple[int, Array]] | None:
    """Return for each link or node the first one that is alike, and a map of nodes from that one; None for no symmetry.

    The generators of the topology are checked: each has to be a map of nodes that keeps channels with their bandwidths
    and terminals with their rates. What is left after failures that such a map carries onto each other is the same
    network but for its numbers, on which the routing does not depend.
    """
    base = routing.topology
    most = base.nodes if of == "nodes" else base.channels / 2
    if most * base.nodes > _LARGEST:
        return None
    moves = [np.asarray(move, np.int64) for move in base.generators] if routing.unnumbered else []
    moves = [move for move in moves if channel_map(base, move) is not None and terminal_map(base, move) is not None]
    images = _images(base, moves, of)
    count = len(images[0]) if images else 0
    if not count or count * base.nodes > _LARGEST:
        return None
    found: list[tuple[int, Array] | None] = [None] * count
    for root in range(count):
        if found[root] is not None:
            continue
        found[root] = root, np.arange(base.nodes)
        waiting = deque([root])
        while waiting:
            f = waiting.popleft()
            here = found[f]
            for move, image in zip(moves, images, strict=True):
                other = int(image[f])
                if found[other] is None and here is not None:
                    found[other] = root, move[here[1]]
                    waiting.append(other)
    return [each for each in found if each is not None]


def carried(base: Topology, row: FailureRow, name: str, node_map: Array, lost: int) -> FailureRow | None:
    """Return what a failure does that a map carries another one onto; None where that has to be solved as well.

    Where more pairs are lost than those of a failed terminal, the network falls apart, and which part counts may depend
    on numbers.
    """
    ends = [each for each in range(base.channels) if base.channel_name(each) == row.channel]
    if row.pairs_lost != lost or not ends:
        return None
    tail, head = (base.name_of(int(node_map[end[ends[0]]])) for end in (base.tail, base.head))
    return replace(row, failed=name, channel=f"{tail} -> {head}")


def _images(base: Topology, moves: list[Array], of: str) -> list[Array]:
    """Return the failure that each failure becomes, for each map."""
    if of == "nodes":
        return moves
    links = all_links(base)
    number = {c: k for k, link in enumerate(links) for c in link}
    images = []
    for move in moves:
        channels = channel_map(base, move)
        if channels is not None:
            images.append(np.array([number[int(channels[link[0]])] for link in links], np.int64))
    return images


@by_specs
def failures(
    x: Subject,
    *,
    of: str = "links",
    fail: Sequence[str] = (),
    repair: str = "",
    certificate: bool = False,
    symmetry: str = "auto",
    progress: Progress | None = None,
) -> Failures:
    """Return the exact worst case after each failure of a link or a node, the most harmful first.

    Parameters
    ----------
    x : Routing
        Before a failure. One that is defined on any network by its spec, such as ``ecmp``, ``shortest`` or ``updown``,
        routes what is left anew; for others name another one as `repair`.
    of : {"links", "nodes"}
        What fails: each link, that is a channel with its opposite, or each node.
    fail : sequence of str, optional
        What fails together instead, as in the specs of :func:`obliv.topologies.damaged.damaged`: ``0-1`` or ``3``.
    repair : {"", "ecmp", "shortest", "updown", "valiant"}
        The routing of what is left after a failure; default the routing itself.
    certificate : bool
        Whether to keep what proves the figures: a claim about the worst case of every network that is left.
    symmetry : {"auto", "off"}
        Whether failures that a symmetry of the network carries onto each other are solved once, without a certificate;
        where what is left is routed by nothing but the network (``ecmp``). Of several channels with the worst load
        another one may then be named.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Failures
        Exact. Where a failure cuts a network into parts, the part with the most terminals counts; all pairs outside it
        are lost.

    Raises
    ------
    InputError
        If there is no such link, node or repair.
    RoutingError
        If the routing does not work on what is left.

    Examples
    --------
    >>> import obliv
    >>> after = obliv.failures("mesh:3x3", "ecmp")
    >>> after.before.channel_load, after.worst_load, after.failures[0].failed
    (Fraction(7, 4), Fraction(5, 2), 'link (0,0) - (1,0)')
    """
    certificate = boolean(certificate, "certificate")
    began = perf_counter()
    routing = _routing_of(x, of, symmetry)
    base, anew = routing.topology, _anew(routing, repair)
    named = several(fail)
    sets = [named] if named else [(text,) for text in _texts(base, of)]
    if not sets:
        raise InputError(f"{base.spec} has no {of} that can fail")
    _routed_anew(base, anew.spec, sets[0])  # what cannot be routed anew is refused before anything is solved
    report = rising(progress)
    before, claim = _before(routing, certificate, within(report, 0.0, 0.1))
    changed = _without_failure(anew) if anew is not routing else ()
    served = _served(routing)
    done: list[tuple[FailureRow, Any]] = []
    alike = first_alike(anew, of) if symmetry == "auto" and not named and not certificate else None
    step = within(report, 0.1, 1.0)
    try:
        for failed in sets:
            step("failures", len(done) / len(sets))
            row = None if alike is None else _carried(base, failed, of, alike[len(done)], done)
            done.append(_after(base, anew.spec, failed, served, certificate) if row is None else (row, None))
    except KeyboardInterrupt:
        if not done:
            raise
    missing = unfinished(len(done), len(sets))
    order = sorted(range(len(done)), key=lambda f: done[f][0].rank, reverse=True)
    network = network_in_claim(base) if certificate else None
    proofs = {
        **({} if network is None else {"network": network, "channels": base.channels}),
        "failed": [list(sets[f]) for f in order],
        "claims": [claim, *(done[f][1] for f in order)],
        "sources": dict((*base.sources, *routing.sources)),
    }
    result = Failures(
        **identity(routing, began),
        of="given" if named else of,
        repair=anew.spec,
        before=before,
        failures=tuple(done[f][0] for f in order),
        orbits=None if alike is None else len({first for first, _ in alike}),
        notes=(*changed, *missing),
        certificate=proofs if certificate and not missing else None,
        subject=routing,
    )
    if missing:
        raise Interrupted(f"after {len(done):,} of {plural(len(sets), 'failure')}; name the others to go on", result)
    return result


def _routing_of(x: Subject, of: str, symmetry: str) -> Routing:
    """Return the routing; raise InputError for pair loads, and for options that there are not."""
    routing = subject_of(x, "failures")
    if not isinstance(routing, Routing):
        raise InputError("failures needs a routing, which routes what is left anew; pair loads do not say how")
    if of not in ("links", "nodes"):
        raise InputError.naming("{of}={0!r}: choose links or nodes", printable(str(of)[:40]))
    if symmetry not in ("auto", "off"):
        raise InputError.naming("{symmetry}={0!r}: choose auto or off", printable(str(symmetry)[:40]))
    return routing


def _anew(routing: Routing, repair: str) -> Routing:
    """Return the routing that routes the whole network as what is left is routed."""
    if not repair or repair == routing.spec:
        return routing
    if repair not in REPAIRS:
        raise InputError(f"repair {printable(str(repair)[:40])!r}: choose {', '.join(REPAIRS)}, which fit any network")
    return routing_of(repair, routing.topology)


def _without_failure(anew: Routing) -> tuple[str, ...]:
    """Return how much of what follows is due to another routing, not to a failure."""
    load, _, _ = _worst(anew, False)
    return (f"without a failure {anew.spec} has worst load {shown(load)}: what is beyond that is due to failures",)


def _before(routing: Routing, certificate: bool, progress: Progress) -> tuple[FailureState, dict[str, Any] | None]:
    """Return the figures of the network before a failure, and the claim that proves them."""
    load, channel, claim = _worst(routing, certificate, within(progress, 0.0, 0.8))
    looping = not deadlock(routing, "none", progress=within(progress, 0.8, 1.0)).acyclic
    return FailureState(load, channel, _missing(routing), looping), claim


def _carried(
    base: Topology, failed: tuple[str, ...], of: str, alike: tuple[int, Array], done: list[tuple[FailureRow, Any]]
) -> FailureRow | None:
    """Return what a failure does that is like one that is solved; None where it has to be solved."""
    first, node_map = alike
    if first == len(done):
        return None
    lost = 2 * (len(base.terminals) - 1) if of == "nodes" and base.number_of[len(done)] >= 0 else 0
    return carried(base, done[first][0], failure_name(base, failed[0]), node_map, lost)


def _texts(base: Topology, of: str) -> list[str]:
    """Return the links or the nodes of a network as specs name them."""
    return node_texts(base) if of == "nodes" else link_texts(base, all_links(base))


def _after(
    base: Topology, spec: str, failed: tuple[str, ...], served: int, certificate: bool
) -> tuple[FailureRow, dict[str, Any] | None]:
    """Return what is left after a failure, and the claim that proves it."""
    name = ", ".join(failure_name(base, text) for text in failed)
    routing = _routed_anew(base, spec, failed)
    if routing is None:
        return FailureRow(name, served, Fraction(0), "", False), None
    load, channel, claim = _worst(routing, certificate)
    lost = max(0, served - _served(routing))
    return FailureRow(name, lost, load, channel, not deadlock(routing, "none").acyclic), claim


def _routed_anew(base: Topology, spec: str, failed: tuple[str, ...]) -> Routing | None:
    """Return the routing of what is left; None where no pair of terminals is left."""
    try:
        left = without(base, failed, "largest")
    except NothingLeftError:
        return None
    if len(left.terminals) < 2:
        return None
    try:
        return routing_of(spec, left)
    except (RoutingError, SpecError) as error:
        name = ", ".join(failure_name(base, text) for text in failed)
        why = f"{base.spec} without {name}: {str(error).partition(': shortest, ecmp')[0]}"
        hint = "" if spec in REPAIRS else f": name what routes the rest, as {{repair}}='{REPAIRS[0]}'"
        raise RoutingError.naming("{0}" + hint, why) from None


def _missing(routing: Routing) -> int:
    return int(routing.skipped) if routing.partial else 0


def _served(routing: Routing) -> int:
    """Return the number of ordered pairs of terminals whose packets arrive."""
    ends = len(routing.topology.terminals)
    return ends * (ends - 1) - _missing(routing)


def _worst(
    routing: Routing, certificate: bool, progress: Progress | None = None
) -> tuple[Fraction, str, dict[str, Any] | None]:
    """Return the worst channel load, the name of a channel that has it, and the claim that proves it."""
    result = solved_worst_case(routing, certificate=certificate, progress=progress, inside=True)[0]
    claim = None
    if result.certificate is not None:
        claim = result.to_dict()
        del claim["provenance"]
        claim["certificate"]["digest"] = digest_of(claim)
    if result.channel is None or not isinstance(result.channel_load, Fraction):
        return Fraction(0), "", claim
    return result.channel_load, routing.topology.channel_name(result.channel.id), claim
