"""The check of failures after which a routing routes what is left anew: a claim about the worst case of each."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from obliv._util.files import digest_of
from obliv._util.progress import OutOfTimeError, Progress, TimeLimit
from obliv._util.text import plural
from obliv.capabilities import Parts
from obliv.checker.report import Report, read_result
from obliv.checker.worst_case import check_worst_case
from obliv.errors import OblivError, TopologyError
from obliv.results.claims import Claim, MalformedError, certificate_of, read_claim
from obliv.results.study import REPAIRS, Verification
from obliv.routings.base import Routing
from obliv.routings.descriptions import NextHops
from obliv.topologies.base import Topology, find
from obliv.topologies.damaged import NothingLeftError, all_links, failure_name, link_texts, node_texts, without

if TYPE_CHECKING:
    from obliv.questions.failures import FailureRow, Failures


def figures_of(content: dict[str, Any]) -> Failures:
    """Return the figures of a claim."""
    figures: Failures = read_result(content)
    right = figures.to_dict()
    for key in ("before", "rows"):
        if content[key] != right[key]:
            raise MalformedError(f"{key}: a figure differs from its exact number")
    return figures


def statement_of(figures: Failures) -> str:
    """Return what a claim about failures says."""
    count = "what is given" if figures.of == "given" else f"one of {len(figures.failures)} {figures.of}"
    load = f"no failure of {count} lets admissible traffic load a channel by more than {figures.worst_load}"
    routes = "" if figures.repair == figures.routing else f", routes being {figures.repair[:80]} after it"
    return f"{load}{routes}; their ranking is right"


_KEYS = {"failed", "claims", "sources", "digest"}
Build = Callable[[str, Topology], Routing]


def check_failures(
    content: dict[str, Any], topology: Topology, routing: Routing, budget: float, progress: Progress
) -> Verification:
    """Check what failures do: to a routing that is made again, or to tables of a wing."""
    from obliv.routings.make import routing as routing_of

    if "claims" in certificate_of(content):
        return check_rerouted(content, topology, routing, routing_of, budget, progress)
    check = Parts("check").get("failures of tables")
    if check is None:
        raise MalformedError("it has no claims about networks")
    checked: Verification = check(content, topology, routing, budget, progress)
    return checked


def check_rerouted(
    content: dict[str, Any], topology: Topology, routing: Routing, build: Build, budget: float, progress: Progress
) -> Verification:
    """Check a claim about failures after which a routing is made again by its spec."""
    report = Report()
    claim, certificate = _read(content), content["certificate"]
    report.note_digest(certificate["digest"] == digest_of(content))
    report.note_sources(certificate["sources"], (*topology.sources, *routing.sources))
    if report.holds and _check_form(report, claim, topology, routing):
        _check_rows(report, claim, topology, routing, build, TimeLimit(report.began + budget), progress)
    return report.verification(
        statement_of(claim.figures), claim.figures.topology, claim.figures.routing, topology.sources
    )


class _Rerouted(NamedTuple):
    """The figures of a claim, what fails in each row, and the claims about networks, that before a failure first."""

    figures: Failures
    failed: list[tuple[str, ...]]
    claims: list[Any]


def _read(content: dict[str, Any]) -> _Rerouted:
    certificate = content["certificate"]
    if certificate.keys() - {"network", "channels"} != _KEYS or not isinstance(certificate["sources"], dict):
        raise MalformedError("a certificate of failures has the parts " + ", ".join(sorted(_KEYS)))
    failed, claims = certificate["failed"], certificate["claims"]
    figures = figures_of(content)
    rows = len(figures.failures)
    if not isinstance(failed, list) or not isinstance(claims, list) or (len(failed), len(claims)) != (rows, rows + 1):
        raise MalformedError("failed and claims need an entry for every row")
    if not all(isinstance(texts, list) and all(isinstance(text, str) for text in texts) for texts in failed):
        raise MalformedError("failed must be lists of names")
    return _Rerouted(figures, [tuple(texts) for texts in failed], claims)


def _check_form(report: Report, claim: _Rerouted, topology: Topology, routing: Routing) -> bool:
    """Check that the rows are all failures of their kind, once each, under their names and in their order."""
    figures, failed, _ = claim
    rows, problem = figures.failures, ""
    wanted: set[tuple[str, ...]]
    if figures.of == "links":
        wanted = {(text,) for text in link_texts(topology, all_links(topology))}
    elif figures.of == "nodes":
        wanted = {(text,) for text in node_texts(topology)}
    elif figures.of == "given" and len(failed) == 1:
        wanted = set(failed)
    else:
        raise MalformedError(f"of {figures.of[:40]!r} is not links, nodes or given")
    if figures.repair not in (routing.spec, *REPAIRS):
        known = ", ".join(REPAIRS)
        problem = f"routes after a failure are by {figures.repair[:40]!r}, not by {routing.spec} or {known}"
    elif set(failed) != wanted or len(failed) != len(wanted):
        missing = len(wanted - set(failed))
        problem = f"{missing} {figures.of} are missing" if missing else "a failure is listed twice"
    elif any(one.rank < two.rank for one, two in pairwise(rows)):
        problem = "the rows are not in the order of their ranks"
    elif any(row.alike != 1 for row in rows):
        problem = "a row stands for several failures"
    else:
        for row, texts in zip(rows, failed, strict=True):
            if row.failed != ", ".join(failure_name(topology, text) for text in texts):
                problem = f"{row.failed[:80]!r} is not the name of what fails"
    return report.note("form", not problem, problem or f"all {plural(len(rows), 'failure')}, once each, by rank")


def _check_rows(
    report: Report,
    claim: _Rerouted,
    topology: Topology,
    routing: Routing,
    build: Build,
    limit: TimeLimit,
    progress: Progress,
) -> None:
    """Check the figures of every row, that of the network before a failure first."""
    figures, failed, claims = claim
    before = figures.before
    first: Any = SimpleNamespace(
        failed="before",
        pairs_lost=0,
        channel_load=before.channel_load,
        channel=before.channel,
        deadlock=before.deadlock,
    )
    served = _served(routing)
    problem = "" if before.missing == _pairs(topology) - served else "before: another number of missing pairs"
    for number, row in enumerate((first, *figures.failures)):
        if problem:
            break
        progress("failures", number / (len(figures.failures) + 1))
        try:
            limit.check()
            here = topology if not number else without(topology, failed[number - 1], "largest")
            left = routing if not number else build(figures.repair, here)
            problem = _problem(row, claims[number], here, left, served, limit)
        except OutOfTimeError:
            done = f"{number} of {len(claims)} networks"
            report.note("failures", None, f"time limit reached after {done}; raise the budget")
            return
        except NothingLeftError:
            nothing = row.pairs_lost == served and row.channel_load == 0 and row.deadlock is False
            problem = "" if nothing else f"{row.failed}: no terminal is left"
        except TopologyError:
            raise
        except OblivError as error:
            problem = f"{row.failed}: {error}"
    text = f"the worst case of {plural(len(claims), 'network')} is proved, lost pairs and deadlocks are found again"
    report.note("failures", not problem, problem or text)


def _problem(row: FailureRow, content: Any, here: Topology, routing: Routing, served: int, limit: TimeLimit) -> str:
    """Return what is wrong with a row; "" for nothing. Raise OutOfTimeError if there was no time to prove its load."""
    if row.pairs_lost != max(0, served - _served(routing)):
        return f"{row.failed}: {max(0, served - _served(routing))} pairs are lost, claimed {row.pairs_lost}"
    if row.deadlock is not _deadlocks(routing):
        return f"{row.failed}: a deadlock is claimed to be {row.deadlock}"
    if content is None and not (here.channels and _served(routing)):
        return "" if row.channel_load == 0 and not row.channel else f"{row.failed}: no traffic is left"
    if not isinstance(content, dict):
        raise MalformedError("a claim is not an object")
    claim: Claim = read_claim(content)
    same = (claim.kind, claim.topology, claim.routing) == ("worst", here.spec, routing.spec)
    if not same or claim.channel_load != row.channel_load:
        return f"{row.failed}: the claim is about another network, routing or load"
    checked = check_worst_case(claim, here, routing, False, limit.remaining(), lambda what, share: None)
    wrong = next((step for step in checked.checks if step.ok is False), None)
    if wrong is not None:
        return f"{row.failed}: {wrong.check}: {wrong.detail}"
    if not checked.proved:
        raise OutOfTimeError
    same = row.channel == here.channel_name(claim.channel["id"])
    return "" if same else f"{row.failed}: another channel is the worst"


def _pairs(topology: Topology) -> int:
    return len(topology.terminals) * (len(topology.terminals) - 1)


def _served(routing: Routing) -> int:
    """Return the number of ordered pairs of terminals whose packets arrive."""
    return _pairs(routing.topology) - (int(routing.skipped) if routing.partial else 0)


def _deadlocks(routing: Routing) -> bool:
    """Return whether channels, each used right after the one before, form a cycle."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    channels = routing.topology.channels
    hops = find(routing, NextHops)
    edges = _after_paths(routing) if hops is None else _after_hops(hops)
    if not edges:
        return False
    tail, head = np.array(sorted(edges)).T
    graph = csr_array((np.ones(len(tail), np.int8), (tail, head)), shape=(channels, channels))
    count, _ = connected_components(graph, directed=True, connection="strong")
    return bool(count < channels)


def _after_hops(routing: NextHops) -> set[tuple[int, int]]:
    """Return which channels follow which, by next hops from every terminal to every other."""
    topology, edges = routing.topology, set[tuple[int, int]]()
    terminals = topology.terminals.tolist()
    for goal in terminals:
        waiting, seen = [source for source in terminals if source != goal], set(terminals)
        onward: dict[int, list[int]] = {}
        while waiting:
            node = waiting.pop()
            hops = [hop[0] if isinstance(hop, tuple) else hop for hop in routing.next_hops(node, goal)]
            onward[node] = [int(c) for c in hops]
            for head in (int(topology.head[c]) for c in onward[node]):
                if head not in seen and head != goal:
                    seen.add(head)
                    waiting.append(head)
        for channels in onward.values():
            for c in channels:
                edges.update((c, later) for later in onward.get(int(topology.head[c]), ()))
    return edges


def _after_paths(routing: Routing) -> set[tuple[int, int]]:
    """Return which channels follow which, by the paths of every pair."""
    edges: set[tuple[int, int]] = set()
    terminals = routing.topology.terminals.tolist()
    for source in terminals:
        for goal in terminals:
            for path, share in routing.paths(source, goal):
                if share != Fraction(0):
                    edges.update(pairwise(int(c) for c in path))
    return edges
