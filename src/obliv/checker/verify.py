"""Checks of saved claims, by code that shares nothing with the code that made them."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from obliv._util.files import UnreadableError, files_read, paths_of, read_json, reading_from
from obliv._util.lazy import VERSIONS, earlier_definitions
from obliv._util.progress import Progress, TimeLimit, rising, silent
from obliv._util.rationals import boolean, real
from obliv._util.text import shown
from obliv.capabilities import Parts, named
from obliv.checker.report import beside, foreign_key
from obliv.errors import FileError, InputError, SpecError, TooLargeError
from obliv.results.base import Channel, Explanation, Result, provenance
from obliv.results.claims import Claim, MalformedError, read_claim
from obliv.results.study import Check, Verification
from obliv.routings.base import Routing
from obliv.specs.untrusted import CrashedError, TimeOverError, bounded
from obliv.topologies.base import NodeName, Topology

if TYPE_CHECKING:
    from obliv.patterns.base import Traffic

__all__ = ["explain", "verify"]

T = TypeVar("T")


def verify(
    claim: str | os.PathLike[str] | Result,
    *,
    quick: bool = False,
    budget: float = 300.0,
    topology: Topology | str | None = None,
    routing: Routing | str | None = None,
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    close: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Check a saved claim from scratch.

    Parameters
    ----------
    claim : path-like or Result
        A file written by ``--output``, a closed claim, a result with a certificate, or a schedule of packets.
    quick : bool
        Check the bound of the channel named in the claim only. This can refute a claim, not prove it: if the channel
        holds, ``verdict`` is ``one channel holds; not proved``.
    budget : float
        Time limit in seconds, which begins before the claim is read; what is not checked in time is not proved.
    topology, routing : optional
        The objects, where the specs in the claim do not suffice to build them.
    files : path-like or several of them, optional
        Files, and folders of files, that the specs in the claim may name. Those in the folder of the claim are allowed
        (of a result that was loaded, those in the current folder).
    close : path-like, optional
        Write the claim, if it is proved, as a closed one: with its network and its flows, for a checker that knows
        neither, ``obliv_check.py``; compressed if the name ends in ``.gz``.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Verification
        Whether the claim is proved, what was checked and how, what was believed, and what was not checked.

    Raises
    ------
    FileError
        If the file does not hold a claim, or the topology or routing that it names cannot be built.
    InputError
        If `claim` is neither a file nor a result.
    TooLargeError
        If the check needs more memory than is free.

    Notes
    -----
    What a file names is untrusted: it is built and checked in a process of its own, which cannot take more time, more
    memory or other files. A result that this process computed is checked in this process.

    The pair loads are computed again from the routing's paths, next hops or phases, source by source; neither closed
    forms nor the solver nor the search for symmetries take part. A schedule is followed move by move.

    Examples
    --------
    >>> import obliv
    >>> routing = obliv.routing("dor", obliv.topology("mesh:4x4"))
    >>> obliv.verify(obliv.worst_case(routing, certificate=True)).proved
    True
    """
    began, budget, step = time.perf_counter(), real(budget, "budget"), rising(progress)
    options = _Options(boolean(quick, "quick"), began + budget, topology, routing, close)
    try:
        return _in_limits(_verified, claim, options, budget, files, step)
    except TimeOverError:
        late = "not read and built within the time limit; raise the budget"
        return Verification(
            provenance=provenance({}, time.perf_counter() - began),
            claim=f"that of {shown(str(claim))}" if isinstance(claim, str | os.PathLike) else f"a {claim.kind} result",
            checks=(Check("time", None, late),),
        )


def _verified(claim: Any, options: _Options, progress: Progress) -> Verification:
    """Read a claim and check it."""
    from obliv.checker.closed import check_closed, close, is_closed

    if isinstance(claim, str | os.PathLike) and is_closed(claim):
        if options.quick or options.close is not None:
            raise InputError(f"{claim} is a closed claim, which is always checked as a whole, and is closed already")
        return check_closed(Path(claim))
    subject, options = _subject_of(claim), replace(options, progress=progress)
    check = _CHECKS.get(subject.kind) if isinstance(subject.kind, str) else None
    if check is None:
        raise FileError(f"contains no claim that can be checked (kind {subject.kind!r:.40})", subject.path)
    with _complete(subject):
        checked, given = _check(check, subject, options)
        objects = (getattr(subject.result, "subject", None), options.topology, options.routing)
        of_then = _version(subject) in VERSIONS and subject.kind in _KINDS_OF_THEN and not any(map(_is_built, objects))
        if checked.verdict == "not proved" and of_then:
            checked = _checked_as_before(check, subject, options) or checked
        checked = _with_rest(checked, subject)
        if options.close is None or not checked.proved:
            return checked
        if checked.definitions:
            raise InputError(f"the claim is proved by the definitions of {checked.definitions} only: make it again")
        limit = TimeLimit(options.end)
        written = close(options.close, subject.content, given["topology"], given.get("routing"), limit.check)
        return replace(checked, checks=(*checked.checks, written))


def _in_limits(
    work: Callable[[Any, Any, Progress], T], claim: Any, options: Any, seconds: float, files: Any, progress: Progress
) -> T:
    """Do work on a claim: in a process with limits, unless the claim is a result that this process computed."""
    known = getattr(claim, "kind", "") == "bufferless" or getattr(claim, "subject", None) is not None
    if known or not isinstance(claim, str | os.PathLike | Result):
        return work(claim, options, progress)
    own: Any = Path(claim) if isinstance(claim, str | os.PathLike) else f"the result {claim.kind!r}"
    allowed = [own.parent if isinstance(own, Path) else Path(), *paths_of(files)]
    try:
        return bounded(work, claim, options, seconds=seconds, files=allowed, own=own, progress=progress)
    except (CrashedError, TooLargeError) as error:
        raise type(error)(f"{own}: {error}") from None


def _checked_as_before(check: Callable[..., Verification], subject: _Subject, options: _Options) -> Verification | None:
    """Return the proof of a claim by the definitions of the version that saved it; None if these prove no more."""
    with earlier_definitions() as asked:
        checked, _ = _check(check, subject, options)
    if not asked or checked.verdict == "not proved":
        return None
    whose = f"obliv {_version(subject)}"
    note = Check("definitions", True, f"those of {whose}: {'; '.join(asked)}")
    statement = f"by the definitions of {whose}, {checked.claim}"
    return replace(checked, claim=statement, definitions=whose, checks=(note, *checked.checks))


def _is_built(given: Any) -> bool:
    """Return whether what is given was built already, by today's definitions."""
    return given is not None and not isinstance(given, str)


def _version(subject: _Subject) -> Any:
    """Return the version of obliv that saved a claim, as the claim says."""
    made = subject.content.get("provenance")
    return made.get("version") if isinstance(made, dict) else None


def explain(
    claim: str | os.PathLike[str] | Result,
    channel: int | str | Channel | tuple[NodeName, NodeName],
    *,
    budget: float = 300.0,
    topology: Topology | str | None = None,
    routing: Routing | str | None = None,
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    progress: Progress | None = None,
) -> Explanation:
    """Return the proof of one channel of a claim as a table of terms that add up to its bound.

    Parameters
    ----------
    claim : path-like or Result
        A file with the certificate of a worst case or of a ratio, or such a result.
    channel : int, str, Channel or tuple
        The channel as a result has it, by its number, or by its nodes: ``"(0,0) -> (1,0)"`` or a pair of them.
    budget : float
        Time limit in seconds.
    topology, routing, files : optional
        As for :func:`verify`.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Explanation
        Whether the bound of this channel is within the claim, and its terms. It says nothing about other channels; see
        :func:`verify`.

    Raises
    ------
    FileError
        If the file holds no such claim, or the topology or routing that it names cannot be built.
    InputError
        If there is no such channel, or the time limit has passed.

    Examples
    --------
    >>> import obliv
    >>> result = obliv.worst_case(obliv.routing("dor", obliv.topology("mesh:4x4")), certificate=True)
    >>> proof = obliv.explain(result, 1)
    >>> proof.holds, proof.bound, len(proof.terms)
    (True, Fraction(3, 1), 3)
    """
    budget, step = real(budget, "budget"), rising(progress)
    options = _Options(False, time.perf_counter() + budget, topology, routing), channel
    try:
        return _in_limits(_explained, claim, options, budget, files, step)
    except TimeOverError as error:
        raise InputError.naming("the proof of this channel was not found: {0}; raise {budget}", error) from None


def _explained(claim: Any, how: tuple[_Options, Any], progress: Progress) -> Explanation:
    """Read a claim and explain the bound of a channel."""
    from obliv.checker.explain import channel_of, explain_channel

    subject, options, channel = _subject_of(claim), replace(how[0], progress=progress), how[1]
    if subject.kind != "design" and (subject.kind not in _OF_CHANNELS or _has_lengths(subject)):
        raise FileError(
            f"contains no proofs of single channels (kind {subject.kind!r}); verify checks the whole claim",
            subject.path,
        )
    with _complete(subject):
        read = _read_design(subject, options) if subject.kind == "design" else _read_load(subject, options)
        number = channel_of(read.topology, channel)
        proof = explain_channel(read.claim, read.topology, read.routing, number, progress)
    return replace(proof, topology=_name_of(read.topology)) if read.inside else proof


def _subject_of(claim: str | os.PathLike[str] | Result) -> _Subject:
    """Return what is to be checked; a file is read."""
    if isinstance(claim, Result):
        content = {} if claim.kind == "bufferless" else claim.to_dict()  # whose moves are checked as they are
        return _Subject(claim.kind, claim, content, f"the result {claim.kind!r}")
    if isinstance(claim, str) and not claim:
        raise InputError("a claim is a file or a result, not an empty text; give the path of a saved claim")
    if isinstance(claim, str | os.PathLike):
        with reading_from(None):  # the user named it
            content = read_json(Path(claim))
        return _Subject(_kind_of(content), None, content, Path(claim))
    raise InputError(f"a claim is a file or a result, not {type(claim).__name__}; give the path of a saved claim")


def _kind_of(content: dict[str, Any]) -> Any:
    """Return the kind of a claim by its name of today; None if it is no text."""
    kind = content.get("kind")
    one = named(kind) if isinstance(kind, str) else None
    return kind if one is None else one.name


@dataclass(frozen=True)
class _Subject:
    """What is to be checked, a result or the content of a file, and where errors say that it is."""

    kind: Any
    result: Result | None
    content: dict[str, Any]
    path: Path | str


@contextmanager
def _complete(subject: _Subject) -> Iterator[None]:
    """Say of what is missing or malformed in a claim where the claim is."""
    what = "schedule" if subject.kind == "bufferless" else "claim"
    try:
        yield
    except MalformedError as error:
        raise FileError(f"is not a complete {what}: {error}", subject.path) from None
    except ZeroDivisionError:
        raise FileError(
            f"is not a complete {what}: a load or a capacity is 0 where the figures divide by it", subject.path
        ) from None
    except OverflowError as error:  # of rationals, exact at any size, where they are shown or compared as floats
        if "float" not in str(error):
            raise
        raise FileError(f"is not a complete {what}: a number is larger than any float", subject.path) from None


@dataclass(frozen=True)
class _Options:
    """The keyword arguments of :func:`verify`."""

    quick: bool
    end: float  #: When the time limit passes, on the clock of ``time.perf_counter``.
    topology: Topology | str | None
    routing: Routing | str | None
    close: str | os.PathLike[str] | None = None
    progress: Progress = silent

    @property
    def budget(self) -> float:
        """The seconds that are left, fewer than 0 if the limit has passed."""
        return self.end - time.perf_counter()


def _check(
    check: Callable[..., Verification], subject: _Subject, options: _Options
) -> tuple[Verification, dict[str, Any]]:
    """Call a check with what its parameters name, and return this, too: topology, routing and traffic are built."""
    wanted = inspect.signature(check).parameters
    given: dict[str, Any] = {"content": subject.content, "result": subject.result, "progress": options.progress}
    inside = False
    if "routing" in wanted:
        given["topology"], given["routing"], inside = _analyzed(subject, options)
    elif "topology" in wanted:
        given["topology"], inside = _network_and_place(subject, options)
    if "traffic" in wanted:
        given["traffic"] = _traffic(subject, given["topology"])
    given |= {"quick": options.quick, "budget": options.budget}
    checked = check(**{name: given[name] for name in wanted})
    network = given.get("topology")
    if checked.proved and network is not None:
        checked = replace(checked, believed=_believed(network, given.get("routing"), inside))
    if network is not None and "traffic" not in wanted:
        checked = _with_network(subject, checked, network, inside)
    return checked, given


def _believed(network: Topology, routing: Routing | None, inside: bool) -> str:
    """Return what a proof rests on besides the numbers in the claim."""
    if routing is not None:
        return f"the routing's paths as obliv's definition of {routing.spec[:80]} gives them"
    if inside:
        return "nothing: the network and the paths are in the claim"
    return f"the network's channels as obliv's definition of {network.spec[:80]} gives them"


@dataclass(frozen=True, eq=False)
class _Load:
    """A worst-case claim with the topology and the routing that it is about."""

    claim: Claim
    topology: Topology
    routing: Routing
    inside: bool  #: Whether the topology is the one inside the claim.


def _read_load(subject: _Subject, options: _Options) -> _Load:
    """Read a worst-case claim, and build what it is about."""
    return _Load(read_claim(subject.content), *_analyzed(subject, options))


def _analyzed(subject: _Subject, options: _Options) -> tuple[Topology, Routing, bool]:
    """Return the network and the routing of a claim, and whether the network is the one inside the claim."""
    from obliv.routings.base import Routing

    specs = [subject.content.get(key) for key in ("topology", "routing")]
    if not all(isinstance(spec, str) for spec in specs):
        raise FileError("is not a complete claim: topology or routing is missing", subject.path)
    topology, routing = options.topology, options.routing
    known = getattr(subject.result, "subject", None)
    if routing is None and isinstance(known, Routing):
        routing, topology = known, known.topology if topology is None else topology
    if specs[1] == "pair loads" and routing is None:
        raise InputError("the claim is about pair loads, which cannot be rebuilt from its text; pass routing=")
    inside = None if topology is not None else _network(subject)
    network = _topology(str(specs[0]), topology, subject.path) if inside is None else _inside(inside, subject)
    return network, _routing(str(specs[1]), routing, network, subject.path), inside is not None


def _traffic(subject: _Subject, network: Topology) -> Traffic:
    """Return the traffic that a claim is about."""
    from obliv.patterns.base import traffic as traffic_of

    spec = subject.content.get("traffic")
    if not isinstance(spec, str):
        raise FileError("is not a complete claim: topology or traffic is missing", subject.path)
    with _building("traffic", None, subject.path):
        return traffic_of(spec, network)


def _has_lengths(subject: _Subject) -> bool:
    """Return whether a claim is a ratio by flows and lengths."""
    certificate = subject.content.get("certificate")
    return subject.kind == "ratio" and isinstance(certificate, dict) and "lengths" in certificate


def _read_design(subject: _Subject, options: _Options) -> _Load:
    """Read the worst-case claim inside a design, and build its routing from the paths."""
    from obliv.checker.designs import worst_case_of

    network, inside = _network_and_place(subject, options)
    return _Load(*worst_case_of(subject.content, network), inside)


def _network_and_place(subject: _Subject, options: _Options) -> tuple[Topology, bool]:
    """Return the network of a design or of bounds, and whether it is the one inside the claim."""
    spec = subject.content.get("topology")
    if not isinstance(spec, str):
        raise FileError("is not a complete claim: topology is missing", subject.path)
    known = getattr(subject.result, "subject", None)
    given = options.topology if options.topology is not None else getattr(known, "topology", known)
    inside = None if given is not None else _network(subject)
    network = _topology(spec, given, subject.path) if inside is None else _inside(inside, subject)
    return network, inside is not None


def _network(subject: _Subject) -> Any:
    """Return the network inside a claim, as it was read; None where there is none."""
    return _certificate(subject).get("network")


def _certificate(subject: _Subject) -> dict[str, Any]:
    """Return the certificate that has the network: that of a claim, or of the design inside bounds, if there is one."""
    certificate = subject.content.get("certificate")
    if subject.kind == "bounds" and isinstance(certificate, dict):
        design = certificate.get("oblivious", {"certificate": certificate})
        certificate = design.get("certificate") if isinstance(design, dict) else None
    return certificate if isinstance(certificate, dict) else {}


def _inside(content: Any, subject: _Subject) -> Topology:
    """Return the network inside a claim, which must bear the name that the claim gives and have its channels."""
    from obliv.topologies.saved import network_of

    certificate = _certificate(subject)
    channels: Any = certificate.get("channels", certificate.get("lengths"))
    bare = subject.kind in ("bounds", "failures") and type(channels) is int and 0 < channels < _MOST_CHANNELS
    count = len(channels) if isinstance(channels, list) else channels if bare else 0
    try:
        with _building("topology", None, subject.path):
            return network_of(content, subject.content["topology"], count)
    except FileError:
        raise
    except ValueError as error:
        if files_read():
            raise
        raise FileError(f"is not a complete claim: {error}", subject.path) from None


def _with_network(subject: _Subject, checked: Verification, network: Topology, inside: bool) -> Verification:
    """Return a verification that says first that the network is the one inside the claim, if it is."""
    if subject.content.get("rated", not network.unit_rates) is network.unit_rates:
        wrong = Check("unit", False, "rated must say whether throughput is in multiples of the terminals' rates")
        checked = replace(checked, proved=False, checks=(*checked.checks, wrong))
    if not network.unit_rates and "throughput" in subject.content and "rated" not in subject.content:
        checked = replace(checked, beside=("throughput", *checked.beside))  # of an unsaid unit, as until 0.2.0
    if not inside:
        return checked
    name = _name_of(network)
    first = Check("network", True, f"the one inside the claim: {name}")
    return replace(checked, topology=name, checks=(first, *checked.checks), beside=("topology", *checked.beside))


def _name_of(network: Topology) -> str:
    """Return what a network inside a claim is: its digest and size, then the name that the claim gives it, in quotes.

    The name may look like that of another network; letters that are not ASCII are escaped.
    """
    from obliv.topologies.saved import carried

    content = carried(network) or {}
    counts = f"{network.nodes:,} nodes, {network.channels:,} channels, {len(network.terminals):,} terminals"
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode("ascii")).hexdigest()[:16]
    return f"network {digest} ({counts}) called {network.spec[:80]!a}"


def _with_rest(checked: Verification, subject: _Subject) -> Verification:
    """Return a verification with what the claim says beside its proof.

    A routing that is a mere word is checked, and that the claim has no other keys than its kind has.
    """
    word, claimed = _WORDS.get(str(subject.kind)), subject.content.get("routing")
    checks = checked.checks
    if word is not None and claimed not in (None, word):
        checks = (*checks, Check("routing", False, f"such a claim is about {word!r}, not {claimed!r:.40}"))
    foreign = foreign_key(subject.content) if checked.verdict != "not proved" and subject.content else ""
    if foreign:
        checks = (*checks, Check("keys", False, f"{foreign[:80]} is not what obliv writes in such a claim"))
    proved = checked.proved and checks is checked.checks
    return replace(checked, proved=proved, checks=checks, beside=(*beside(subject.content), *checked.beside))


def _topology(spec: str, given: Topology | str | None, path: Path | str) -> Topology:
    """Return the given topology, which must not bear the name of another one, or build the one named in a claim."""
    from obliv.topologies.make import topology as topology_of
    from obliv.topologies.saved import require_own_name

    if isinstance(given, Topology):
        require_own_name(given)
    with _building("topology", given, path):
        return topology_of(spec if given is None else given)


def _routing(spec: str, given: Routing | str | None, topology: Topology, path: Path | str) -> Routing:
    """Return the given routing, or build the one named in a claim."""
    from obliv.routings.make import routing as routing_of

    with _building("routing", given, path):
        return routing_of(spec if given is None else given, topology)


@contextmanager
def _building(what: str, given: Any, path: Path | str) -> Iterator[None]:
    """Build what a claim names, or what the user gives, and say of errors which of both they are about."""
    if given is not None:
        with reading_from(None):
            yield
        return
    try:
        yield
    except UnreadableError as error:
        raise FileError.naming(f"{{0}}; {_FOLDER}", error, path=path) from None
    except SpecError as error:
        if files_read():
            raise
        remedy = f"pass {what}= with the object, or {{import}} the file that registers it"
        raise FileError.naming(f"its {what} cannot be built: {{0}}; {remedy}", error, path=path) from None


_WORDS = {"design": "design", "bounds": "any", "collisions": "ecmp", "pareto": "design"}  # what stands for a routing
_KINDS_OF_THEN = ("worst", "worst-channels", "ratio", "traffic-ratio", "bounds", "design", "failures", "collisions")
_OF_CHANNELS = ("worst", "worst-channels", "ratio")  # kinds with a proof for every channel
_MOST_CHANNELS = 2**22  # of a network inside bounds that do not list its channels
_FOLDER = "the path is the one in the claim: run the check in the folder where the claim was made"

#: The checks of claims, by their kind.
_CHECKS = Parts("check")
