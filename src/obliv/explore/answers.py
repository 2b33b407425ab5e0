"""The answers to a question of a page, part by part: results, their text, drawings whose nodes keep their places."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import obliv
from obliv._util.progress import Progress
from obliv._util.text import plural
from obliv.errors import InputError, OblivError, TooLargeError
from obliv.explore.question import Question, commands
from obliv.questions.worst_case import WorstCase
from obliv.results.base import Result
from obliv.routings.base import Routing
from obliv.specs.registry import PATTERNS, ROUTINGS, TOPOLOGIES
from obliv.topologies.base import Topology
from obliv.topologies.damaged import Damaged, failure_name, link_text, node_text
from obliv.view.interactive.fragment import PageLimits, network_payload
from obliv.view.layout import layout_of

# Drawings in which nodes and channels keep their places when others fail


_GEOMETRY = ("x", "y", "short")


@lru_cache(4)
def network_in_place(spec: str) -> Topology:
    """Return a network; one with failures has the places of the nodes before them."""
    network = obliv.topology(spec)
    base = whole_of(network)
    if not isinstance(network, Damaged) or network.node_of is None or max(base.channels, base.nodes) > 20_000:
        return network
    return dataclasses.replace(network, positions=layout_of(base).points[network.node_of])


def whole_of(network: Topology) -> Topology:
    """Return a network before its failures, or itself where there are none."""
    return network.base if isinstance(network, Damaged) and network.base is not None else network


def drawn_network(network: Topology) -> dict[str, Any]:
    """Return the drawing of a network without loads, with the text of specs for every node and every link."""
    base = whole_of(network)
    try:
        payload = drawn(network, network)
    except TooLargeError as error:
        return {"payload": None, "payload_reason": str(error), "links": [], "names": []}
    nodes, channels = _numbers(network)
    return {
        "payload": payload,
        "links": [link_text(base, channel) for channel in channels],
        "names": [node_text(base, node) for node in nodes],
    }


def drawn(network: Topology, shown: Topology | WorstCase, *, pairs: bool = False) -> dict[str, Any]:
    """Return what a page needs to draw a network or a worst case on it, all in its place before failures.

    What failed stands under ``removed``: nodes with their places, and channels with their lines. With `pairs`, the
    loads of all pairs and the proof are there, which can take some time.
    """
    payload = network_payload(shown, PageLimits() if pairs else PageLimits(seconds=0.0))
    if not pairs:
        payload |= {"proof_reason": "", "crossing_reason": "they are computed after the figures"}
    base = whole_of(network)
    if base is network:
        return payload
    whole = _whole_drawing(base)
    nodes, channels = _numbers(network)
    for node, number in zip(payload["nodes"], nodes, strict=True):
        node |= {key: whole["nodes"][number][key] for key in _GEOMETRY if key in whole["nodes"][number]}
    for channel, number in zip(payload["channels"], channels, strict=True):
        channel.pop("lines", None)
        channel |= {key: value for key, value in whole["channels"][number].items() if key == "lines"}
    lost = sorted(set(range(base.nodes)) - set(nodes))
    cut = sorted(set(range(base.channels)) - set(channels))
    payload["radius"] = whole["radius"]
    payload["removed"] = {
        "nodes": [{key: whole["nodes"][node][key] for key in ("x", "y", "name")} for node in lost],
        "channels": [_line(whole, channel) for channel in cut],
    }
    return payload


def _line(whole: dict[str, Any], channel: int) -> list[list[float]]:
    """Return the lines of a channel, the straight one between its ends where it has no others."""
    drawn_as = whole["channels"][channel]
    ends = [whole["nodes"][drawn_as[end]] for end in ("tail", "head")]
    lines: list[list[float]] = drawn_as.get("lines") or [[value for node in ends for value in (node["x"], node["y"])]]
    return lines


def _numbers(network: Topology) -> tuple[list[int], list[int]]:
    """Return the numbers that nodes and channels had before the failures."""
    if isinstance(network, Damaged) and network.node_of is not None and network.channel_of is not None:
        return network.node_of.tolist(), network.channel_of.tolist()
    return list(range(network.nodes)), list(range(network.channels))


_drawings: dict[str, tuple[Topology, dict[str, Any]]] = {}  # the last network that had failures


def _whole_drawing(base: Topology) -> dict[str, Any]:
    known = _drawings.get(base.spec)
    if known is None or known[0] is not base:
        _drawings.clear()
        known = _drawings[base.spec] = base, network_payload(base)
    return known[1]


#: A line of an answer, as JSON types; `kind` says what it is.
Message = dict[str, Any]


def prepare() -> None:
    """Import what most answers need, before the first question."""
    obliv.worst_case("mesh:2x2", "ecmp")


def answer(question: Question, emit: Callable[[Message], None], imports: Sequence[str] = ()) -> None:
    """Compute the wanted parts of a question and pass each to `emit` when it is there.

    A part that fails passes its error, in one line, and the others go on.
    """
    _forget_files()
    for part in question.want:

        def step(what: str, share: float, part: str = part) -> None:
            emit({"kind": "progress", "part": part, "text": what, "share": min(float(share), 1.0)})

        step("starting", 0.0)
        missing = _missing(part, question)
        if missing is not None:
            emit(missing)  # once: all other parts need it, too
            break
        for name, call in _calls(part, question, step, imports):
            emit(_tried(part, name, call))
        emit({"kind": "done", "part": part})
    emit({"kind": "end"})


def _missing(part: str, question: Question) -> Message | None:
    """Return the error of the topology or the routing that a part needs, None where they can be made."""
    if part == "names":
        return None
    needed: list[tuple[str, Callable[[], Any]]] = [("topology", lambda: network_in_place(question.spec))]
    needed += [("routing", lambda: _case(question))] * (part != "network")
    for what, make in needed:
        found = _tried(what, "", lambda make=make: {"made": make() is not None})  # type: ignore[misc]
        if found["kind"] == "error":
            return found
    return None


#: What parameters in messages are called where the explorer is started.
_OPTIONS = {"files": "--files", "import": "--import"}


def _tried(part: str, name: str, call: Callable[[], Message]) -> Message:
    """Return the answer of a part, or its error in one line."""
    place = {"part": part, "name": name} if name else {"part": part}
    try:
        return {"kind": "part", **place, **call()}
    except OblivError as error:
        text = error.text(_OPTIONS) if isinstance(error, InputError) else str(error)
    except MemoryError:
        text = "the problem does not fit in memory; choose a smaller network"
    except OSError as error:
        text = f"{error.filename}: {error.strerror or error}"
    except Exception as error:  # a bug, or a user's own routing: the page goes on
        text = f"internal error: {type(error).__name__}: {error!s:.200}"
    return {"kind": "error", **place, "text": " ".join(text.split())}


def _calls(
    part: str, question: Question, step: Progress, imports: Sequence[str]
) -> Iterator[tuple[str, Callable[[], Message]]]:
    """Yield what to call for a part: once, or for traffic once a pattern."""
    if part == "traffic":
        for pattern in question.traffic:
            yield pattern, lambda pattern=pattern: _traffic(question, pattern, step)  # type: ignore[misc]
    elif part == "network":
        yield "", lambda: _network(question, imports)
    elif part != "average" or question.samples:
        yield "", lambda: _PARTS[part](question, step)


def _network(question: Question, imports: Sequence[str]) -> Message:
    """Return the network: its size, what failed, its drawing without loads, and the commands of all parts."""
    network = network_in_place(question.spec)
    base = whole_of(network)
    _note_files(network)
    return {
        "spec": network.spec,
        "base": base.spec,
        "failed": [
            {"text": text, "name": failure_name(base, text)}
            for text in (network.failed if isinstance(network, Damaged) else ())
        ],
        "largest": network.spec.endswith(",component=largest"),
        "notes": list(network.notes),
        "nodes": network.nodes,
        "terminals": len(network.terminals),
        "channels": network.channels,
        "files": bool(network.sources),
        "commands": commands(replace(question, topology=network.spec, failed=()), imports),
        **drawn_network(network),
    }


def _worst(question: Question, step: Progress) -> Message:
    routing, result = _case(question).routing, _solved(question, step)
    said = _said(result)
    said["result"].pop("certificate", None)
    return {**said, "notes": [*routing.notes, *_skipped(routing)], **_drawing(question, result)}


def _proof(question: Question, step: Progress) -> Message:
    """Return the drawing with the loads of all pairs, from which the page proves the worst case."""
    result = _solved(question, step)
    return {**_drawing(question, result, pairs=True), "files": bool(result.provenance.sources)}


def _drawing(question: Question, result: WorstCase, pairs: bool = False) -> Message:
    """Return the drawing of a worst case, nothing for a network that is too large or has no channels."""
    if result.channel is None:
        return {}
    with suppress(TooLargeError):
        return {"payload": drawn(_case(question).routing.topology, result, pairs=pairs)}
    return {}


def _claim(question: Question, step: Progress) -> Message:
    """Return the claim that ``obliv worst --output`` would save, as text: its digest covers every digit."""
    result = _solved(question, step)
    if result.certificate is None:
        result = obliv.worst_case(_case(question).routing, certificate=True, progress=step)
    return {"text": json.dumps(result.to_dict(), separators=(",", ":")) + "\n"}


def _traffic(question: Question, pattern: str, step: Progress) -> Message:
    routing = _case(question).routing
    flow = obliv.traffic(pattern, routing.topology)
    said = _said(obliv.throughput(routing, flow, progress=step))
    loads = routing.pair_loads().under(flow)
    return {**said, "notes": list(flow.notes), "loads": list(map(str, loads))}


def _names(question: Question, step: Progress) -> Message:
    """Return what specs can begin with, an example and a line for each, and the virtual-channel schemes."""
    from obliv.questions.deadlocks.graph import SCHEMES

    kinds = {"topologies": TOPOLOGIES, "routings": ROUTINGS, "traffic": PATTERNS}
    names = {kind: [[entry.example, entry.summary] for entry in registry] for kind, registry in kinds.items()}
    return {**names, "schemes": list(SCHEMES)}


_PARTS: dict[str, Callable[[Question, Progress], Message]] = {
    "worst": _worst,
    "hops": lambda asked, step: _said(obliv.locality(_case(asked).routing, progress=step)),
    "proof": _proof,
    "deadlock": lambda asked, step: _said(obliv.deadlock(_case(asked).routing, asked.scheme, progress=step)),
    "average": lambda asked, step: _said(
        obliv.average_case(_case(asked).routing, asked.samples, asked.seed, progress=step)
    ),
    "claim": _claim,
    "names": _names,
}


def _said(result: Result) -> Message:
    """Return a result as JSON and as the lines that the command line prints."""
    lines = [list(line) for line in result.figures()]
    return {"result": result.to_dict(), "lines": lines, "files": bool(result.provenance.sources)}


def _skipped(routing: Routing) -> list[str]:
    if not (routing.partial and routing.skipped):
        return []
    return [f"{plural(routing.skipped, 'pair')} whose packets do not arrive are left out"]


@dataclass
class _Case:
    """A routing, and its worst case once it is known."""

    routing: Routing
    worst: WorstCase | None = None


@lru_cache(2)
def _made(topology: str, routing: str) -> _Case:
    return _Case(obliv.routing(routing, network_in_place(topology)))


def _case(question: Question) -> _Case:
    case = _made(question.spec, question.routing)
    _note_files(case.routing.topology, case.routing)
    return case


def _solved(question: Question, step: Progress) -> WorstCase:
    """Return the worst case, with its certificate on small networks, where that takes hardly longer."""
    case = _case(question)
    if case.worst is None:
        network = case.routing.topology
        small = len(network.terminals) * network.channels <= PageLimits().solved
        case.worst = obliv.worst_case(case.routing, certificate=small, progress=step)
    return case.worst


_files: set[str] = set()  # that were read


def _note_files(*made: Any) -> None:
    for each in made:
        _files.update(path for path, _ in each.sources)


def _forget_files() -> None:
    """Forget what was read from files, which can have changed since the last question."""
    if _files:
        network_in_place.cache_clear()
        _made.cache_clear()
        _files.clear()
