"""The exact worst case of a network after each failure of a link or a node, routed anew on what is left."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from time import perf_counter, process_time
from typing import Any

from obliv._util.codec import digest_of
from obliv._util.cost import Work, announce, forecast
from obliv._util.progress import Progress, rising, within
from obliv._util.rationals import boolean
from obliv._util.text import plural, printable, several
from obliv._util.typing import Array
from obliv.analysis.alike import carried, first_alike
from obliv.analysis.deadlocks.search import deadlock
from obliv.analysis.subject import Subject, by_specs, identity, subject_of
from obliv.analysis.worst_case.exact import solved_worst_case
from obliv.errors import InputError, Interrupted, RoutingError, SpecError, TopologyError
from obliv.results.fabric.failures import FailureRow, Failures, FailureState, unfinished
from obliv.results.format import shown
from obliv.results.verification import REPAIRS
from obliv.routings.base import Routing
from obliv.routings.make import routing as routing_of
from obliv.topologies.base import Topology
from obliv.topologies.carried import carried as network_in_claim
from obliv.topologies.damaged import all_links, failure_name, link_texts, node_texts, without

__all__ = ["failures"]

_LONG = 2.0  # seconds of processor time for one network that are not mostly those of compiling


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
    started = process_time()
    report = rising(progress)
    before, claim = _before(routing, certificate, within(report, 0.0, 0.1))
    changed: tuple[str, ...] = ()
    if anew is not routing:
        started = process_time()  # each failure takes what this one takes
        changed = _without_failure(anew)
    spent = process_time() - started
    served = _served(routing)
    done: list[tuple[FailureRow, Any]] = []
    alike = first_alike(anew, of) if symmetry == "auto" and not named and not certificate else None
    what = f"{plural(len(sets), 'failure')} of {base.spec}"
    step = _announced(within(report, 0.1, 1.0), what, spent, alike or sets)
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


def _announced(progress: Progress, what: str, spent: float, failed: Sequence[Any]) -> Progress:
    """Return a progress function that announces all failures: each takes what the whole network took, if that is long.

    Parameters
    ----------
    progress : callable
    what : str
    spent : float
        Seconds of processor time that the whole network took.
    failed : sequence
        All failures, with the first one that is alike where symmetries are used.
    """
    if spent < _LONG:
        return forecast(progress, what)
    different = {each[0] for each in failed} if failed and isinstance(failed[0][0], int) else failed
    announce(progress, what, Work(spent * len(different)))
    return progress


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
    except TopologyError as error:
        if "no terminal is left" in str(error):
            return None
        raise
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
