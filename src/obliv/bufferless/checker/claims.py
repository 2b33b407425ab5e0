"""Saved schedules of packets: every part is checked for its form before it is used."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from obliv._util.arrays import INT64_SAFE, Array, starts
from obliv._util.files import digest_of, unpack_array
from obliv._util.progress import Progress, require_memory, silent
from obliv._util.text import plural
from obliv.bufferless.checker._kernels import (
    EdgeEnds,
    PacketRules,
    Paths,
    Rows,
    WalkCheck,
    longest_walk,
    shortest_ends,
    walk_packets,
)
from obliv.bufferless.checker.waves import ScheduleClaim, ScheduleFigures, check_rounds, check_waves
from obliv.bufferless.leveled.base import Leveled
from obliv.bufferless.results import Moves, Schedule
from obliv.checker.report import Report
from obliv.errors import OblivError
from obliv.kernels import run
from obliv.results.claims import MalformedError
from obliv.results.study import Verification
from obliv.specs.registry import TOPOLOGIES

_FIGURES = ("packets", "congestion", "dilation", "makespan", "lower_bound", "deflections")


def claim_of(schedule: Schedule) -> ScheduleClaim:
    """Return a schedule as the checks take it."""
    instance, moves = schedule.instance, schedule.moves
    if instance is None or moves is None:
        raise MalformedError("it contains no moves; check the file that it was saved to")
    low, high = instance.network.edge_ends
    return ScheduleClaim(
        topology=schedule.topology,
        algorithm=schedule.algorithm,
        rules=schedule.rules,
        level=instance.network.node_level,
        links=EdgeEnds(*_wide(low, high)),
        paths=Paths(*_wide(instance.start, instance.edge, instance.source, instance.destination)),
        rows=_rows(moves),
        figures=_figures({name: getattr(schedule, name) for name in _FIGURES}),
        plan=None if schedule.plan is None else schedule.plan.columns(),
        trusted_network=True,
    )


def read_schedule(content: dict[str, Any]) -> ScheduleClaim:
    """Read the content of a saved schedule."""
    instance = content.get("instance")
    if not isinstance(instance, dict):
        raise MalformedError("it contains no instance; save the schedule, which has one")
    words = {key: content.get(key) for key in ("topology", "algorithm", "rules")}
    for key, word in words.items():
        if not isinstance(word, str):
            raise MalformedError(f"{key} is missing or not a string")
    if instance.get("topology", words["topology"]) != words["topology"]:
        raise MalformedError("the instance is of another topology")
    figures = _figures({name: content.get(name) for name in _FIGURES})
    edges = _array(instance, "edges", 2)
    if edges.shape[1] != 2 and len(edges):
        raise MalformedError("edges must be rows of [tail, head]")
    path_start, path = _paths(instance)
    packets = len(path_start) - 1
    rows = _array(content, "moves", 2)
    if len(rows) and rows.shape[1] not in (4, 5):
        raise MalformedError("moves must be rows of [time, packet, edge, direction] with an optional fifth number")
    if len(rows):
        if rows[:, 1].min() < 0 or rows[:, 1].max() >= packets:
            raise MalformedError("a move is of a packet that does not exist")
        if not np.isin(rows[:, 3], (-1, 1)).all():
            raise MalformedError("a direction is neither 1 nor -1")
        if np.abs(rows).max() >= INT64_SAFE:
            raise MalformedError("a number of a move is out of range")
    if any(len(part) and (part.min() < -(2**31) or part.max() >= 2**31) for part in (edges, path, rows[:, 2:3])):
        raise MalformedError("the number of an edge or of a node exceeds 32 bits")
    moves = Moves.from_rows(rows, packets)
    plan = content.get("plan")
    if plan is not None and not isinstance(plan, dict):
        raise MalformedError("plan must be an object")
    low, high = (edges[:, side] for side in (0, 1)) if len(edges) else (edges.ravel(), edges.ravel())
    return ScheduleClaim(
        topology=str(words["topology"]),
        algorithm=str(words["algorithm"]),
        rules=str(words["rules"]),
        level=_array(instance, "levels", 1),
        links=EdgeEnds(*_wide(low, high)),
        paths=Paths(*_wide(path_start, path, _array(instance, "sources", 1), _array(instance, "destinations", 1))),
        rows=_rows(moves),
        figures=figures,
        plan=plan,
        digest_holds=None if "digest" not in content else content["digest"] == digest_of(content),
    )


def read_classes(content: dict[str, Any]) -> list[ScheduleClaim]:
    """Read the content of a saved schedule of several classes; raise MalformedError as for one."""
    classes = content["classes"]
    if not isinstance(classes, list) or not classes or not all(isinstance(part, dict) for part in classes):
        raise MalformedError("classes must be a list of schedules")
    if any(part.get("kind") != "bufferless" for part in classes):
        raise MalformedError("a class is not a schedule: its kind is bufferless")
    return [read_schedule(part) for part in classes]


def _wide(*arrays: Array) -> list[Array]:
    """Return arrays of integers as the kernels take them, of 64 bits and in one piece: each is compiled once."""
    return [np.ascontiguousarray(array, np.int64) for array in arrays]


def _rows(moves: Moves) -> Rows:
    """Return moves as the kernels take them."""
    start, time, edge, more = _wide(moves.start, moves.time, moves.edge, moves.more)
    return Rows(start, time, edge, np.ascontiguousarray(moves.up), more)


def _figures(values: dict[str, Any]) -> ScheduleFigures:
    """Return the claimed figures; deflections may be missing."""
    for name, value in values.items():
        if value is None and name == "deflections":
            continue
        if not isinstance(value, int) or isinstance(value, bool):
            raise MalformedError(f"{name} is missing or not an integer")
    return ScheduleFigures(**values)


def _array(content: dict[str, Any], key: str, dimensions: int) -> Array:
    if key not in content:
        raise MalformedError(f"{key} is missing")
    try:
        array = unpack_array(content[key])
    except (ValueError, KeyError, TypeError, OverflowError, MemoryError, RecursionError) as error:
        raise MalformedError(f"{key} cannot be unpacked: {str(error) or type(error).__name__}") from None
    if array.size == 0:
        return np.zeros((0,) * dimensions if dimensions == 1 else (0, 4), np.int64)
    if array.ndim != dimensions:
        raise MalformedError(f"{key} must have {dimensions} dimension{'s' * (dimensions > 1)}")
    return np.asarray(array)


def _paths(instance: dict[str, Any]) -> tuple[Array, Array]:
    """Return where the paths start, and their edges: from lists, or from one packed list and its starts."""
    paths = instance.get("paths")
    if isinstance(paths, list) and "path_starts" not in instance:
        if not all(isinstance(path, list) for path in paths):
            raise MalformedError("paths must be lists of edges")
        start = starts([len(path) for path in paths])
        return start, _array({"paths": list(chain.from_iterable(paths))}, "paths", 1)
    start = _array(instance, "path_starts", 1)
    if not len(start):
        raise MalformedError("path_starts is empty")
    return start, _array(instance, "paths", 1)


# The figures of a schedule, counted again


def check_figures(report: Report, claim: ScheduleClaim, arrival: Array, pushes: Array) -> None:
    """Check the claimed figures."""
    users = np.bincount(claim.paths.edge, minlength=1)
    length = np.diff(claim.paths.start)
    counted = {
        "packets": claim.packets,
        "congestion": int(users.max(initial=0)),
        "dilation": int(length.max(initial=0)),
        "makespan": int(arrival.max(initial=0)),
        "lower_bound": _lower_bound(claim),
    }
    if claim.algorithm == "centralized":
        counted["deflections"] = int(pushes[1])
    elif claim.algorithm in ("hot-potato", "direct") or claim.rules == "buffered":
        counted["deflections"] = int(pushes[0])
    wrong: list[str] = []
    if claim.algorithm == "direct" and (pushes[0] or len(claim.rows.time) != len(claim.paths.edge)):
        wrong.append("a packet leaves its path, which direct routing never does")
    for name, value in counted.items():
        claimed = getattr(claim.figures, name) or 0
        if claimed != value:
            wrong.append(f"{name} is {value}, claimed {claimed}")
    right = ", ".join(f"{name} {value}" for name, value in counted.items())
    if "deflections" not in counted and claim.figures.deflections is not None:
        right += "; deflections are the algorithm's own count, which is not checked"
    report.note("figures", not wrong, "; ".join(wrong) or right)


def _lower_bound(claim: ScheduleClaim) -> int:
    """Return the larger of D and, over all edges, users + the fewest edges of any of them before and after it."""
    edges = len(claim.links.low)
    before, after = (np.full(edges, 2**31 - 1, np.int32) for _ in range(2))
    users = np.zeros(edges, np.int32)
    run(shortest_ends, 10.0 * len(claim.paths.edge), claim.paths, users, before, after)
    used = users > 0
    bound = users[used].astype(np.int64) + before[used] + after[used]
    return max(int(bound.max(initial=0)), int(np.diff(claim.paths.start).max(initial=0)))


# The form of a schedule: numbers in range, edges between neighboring levels, the network of the topology


def check_form(report: Report, claim: ScheduleClaim) -> bool:
    """Check that the parts fit each other, so that later checks can index freely."""
    problem = _problem(claim)
    return report.note("form", not problem, problem or "every part fits the network")


def check_network(report: Report, claim: ScheduleClaim) -> bool:
    """Check that the levels and edges are those of the named topology, where its spec can be built."""
    if claim.trusted_network:
        return True
    try:
        network = TOPOLOGIES.make(claim.topology)
    except OblivError:
        network = None
    if not isinstance(network, Leveled):
        report.beside.append("topology")
        detail = f"{claim.topology[:60]!r} is not looked up; the checks are about the levels and edges of the file"
        return report.note("network", True, detail)
    low, high = network.edge_ends
    pairs = ((network.node_level, claim.level), (low, claim.links.low), (high, claim.links.high))
    same = all(np.array_equal(one, other) for one, other in pairs)
    return report.note("network", same, f"levels and edges are {'' if same else 'not '}those of {claim.topology}")


def _problem(claim: ScheduleClaim) -> str:
    """Return what does not fit; empty if everything does."""
    links, paths, rows = claim.links, claim.paths, claim.rows
    nodes, edges = len(claim.level), len(links.low)
    if claim.rules not in ("bufferless", "buffered"):
        return f"the rules must be bufferless or buffered, not {claim.rules!r}"
    for what, index, size in (
        ("edge", links.low, nodes),
        ("edge", links.high, nodes),
        ("path", paths.edge, edges),
        ("packet's source", paths.source, nodes),
        ("packet's destination", paths.destination, nodes),
        ("move", rows.edge, edges),
    ):
        if len(index) and (int(index.min()) < 0 or int(index.max()) >= size):
            return f"a {what} refers to a node or an edge that does not exist"
    for first, size in ((paths.start, len(paths.edge)), (rows.start, len(rows.time))):
        if first[0] != 0 or first[-1] != size or (np.diff(first) < 0).any():
            return "the starts of paths or moves are not in order"
    empty = np.flatnonzero(np.diff(paths.start) == 0)
    if len(empty):
        return f"the path of packet {empty[0]} is empty; leave out packets that are at their destination already"
    if not len(paths.source) == len(paths.destination) == len(rows.start) - 1 == claim.packets:
        return "paths, sources, destinations and moves are for different numbers of packets"
    if len(rows.more) not in (0, len(rows.time)) or (len(rows.more) and int(rows.more.min(initial=0)) < 0):
        return "the number of oscillations is not given for every move"
    steep = claim.level[links.high] != claim.level[links.low] + 1
    if steep.any():
        return f"edge {int(np.argmax(steep))} does not lead from a level to the next"
    return ""


# The moves of a schedule: every packet's walk, and the uses of every directed link


_FAULTS = {
    1: "begins where the packet is not",
    2: "comes after a rest, and no packet may rest",
    3: "comes after the packet has arrived",
    4: "comes before the one before it, or before time 1",
    5: "is its last, and it has not come to the end of its path",
    6: "leaves its path",
}


def check_walks(report: Report, claim: ScheduleClaim) -> tuple[Array, Array]:
    """Check every packet's moves against the rules."""
    arrival, pushes = np.zeros(claim.packets, np.int64), np.zeros(2, np.int64)
    passed, fault = np.zeros(3, np.int64), np.zeros(2, np.int64)
    keeps = claim.algorithm == "centralized"
    stack = np.zeros(2 + 2 * run(longest_walk, float(claim.packets), claim.rows.start), np.int64)
    mark = np.full(len(claim.links.low) if keeps else 0, -1, np.int64)
    buffered, wanders = claim.rules == "buffered", claim.algorithm == "distributed"
    walk = WalkCheck(stack, mark, arrival, pushes, passed, fault)
    work = 30.0 * len(claim.rows.time)
    rules = PacketRules(rests=buffered, keeps=keeps, wanders=wanders)
    code = run(walk_packets, work, claim.links, claim.paths, claim.rows, rules, walk)
    rule = "no packet rests, " if claim.rules == "bufferless" else ""
    detail = f"{rule}every packet is delivered once, by way of its path{_passed(passed)}"
    if code >= 0:
        packet, row = fault.tolist()
        where = f" at step {claim.rows.time[row]}" if claim.rows.start[packet] < claim.rows.start[packet + 1] else ""
        detail = f"packet {packet}: its move{where} {_FAULTS[code]}"
    report.note("packets", code < 0, detail)
    return arrival, pushes


def _passed(passed: Array) -> str:
    """Say how many packets are sent on from their destinations; the rules allow it in `distributed` alone."""
    count, packet, step = passed.tolist()
    if count == 0:
        return ""
    which = "1 packet is" if count == 1 else f"{count} packets are"
    return (
        f"; {which} sent on from the destination with nothing left of the current path (packet {packet} in step "
        f"{step}), which the paper leaves open"
    )


def check_links(report: Report, claim: ScheduleClaim) -> None:
    """Check that no two uses of a directed link share a step.

    A packet that oscillates over an edge uses it one way at every other step and the other way at those between.
    So a use has a link, a parity, a first and a last step, and two uses of a link clash where their parities are the
    same and their times overlap: then there are two such that follow each other in the order of first steps.
    """
    link = 2 * claim.rows.edge.astype(np.int64) + claim.rows.up
    first = claim.rows.time.astype(np.int64)
    span = int(first.max(initial=0)) + int(claim.rows.more.max(initial=0)) + 2
    require_memory(60.0 * len(link), f"the uses of {2 * len(claim.links.low)} directed links")
    wide = 4 * len(claim.links.low) * span >= INT64_SAFE
    if len(claim.rows.more) == 0 and not wide:  # every use is one step: clashing ones have one key
        key = np.sort(link * span + first)
        at = np.flatnonzero(key[1:] == key[:-1])
        clash = divmod(int(key[at[0]]), span) if len(at) else None
    else:
        more = claim.rows.more if len(claim.rows.more) else np.zeros_like(first)
        there = more > 0
        lane = np.concatenate([link, link[there] ^ 1])
        begin = np.concatenate([first, first[there] + 1])
        end = np.concatenate([first + more - more % 2, (first + more - 1 + more % 2)[there]])
        lane = 2 * lane + begin % 2
        order = np.lexsort((begin, lane)) if wide else np.argsort(lane * span + begin)
        lane, begin, end = lane[order], begin[order], end[order]
        at = np.flatnonzero((lane[1:] == lane[:-1]) & (begin[1:] <= end[:-1]))
        clash = (int(lane[at[0]]) // 2, int(begin[at[0] + 1])) if len(at) else None
    detail = "at most one packet on each directed link in each step"
    if clash is not None:
        taken, step = clash
        direction = "up" if taken % 2 else "down"
        detail = f"two packets go {direction} edge {taken // 2} at step {step}: {_users(claim, taken, step)}"
    report.note("links", clash is None, detail)


def _users(claim: ScheduleClaim, link: int, step: int) -> str:
    """Name the packets on a directed link at a step."""
    more = claim.rows.more if len(claim.rows.more) else np.zeros(len(claim.rows.time), np.int64)
    after = step - claim.rows.time
    same = np.where(after % 2 == 0, claim.rows.up, ~claim.rows.up) == (link % 2 == 1)
    rows = np.flatnonzero((claim.rows.edge == link // 2) & (after >= 0) & (after <= more) & same)
    packets = np.searchsorted(claim.rows.start, rows, side="right") - 1
    return "packets " + " and ".join(str(packet) for packet in packets[:4].tolist())


# The check of a schedule of packets, from the rules and the saved moves alone.
#
# Every rule is about one packet or about one link and step, so packets are followed one by one, and the uses of each
# link are laid side by side; together that is what watching the network step by step would see.


#: What the paper's algorithms promise beyond the rules.
_PLANS = {"centralized": check_waves, "distributed": check_rounds}
#: By algorithm whose promises are checked, the keys that these do not depend on; of others the name is but a name.
_UNUSED = {
    "centralized": ["plan.chi_stop", "plan.chi_all", "plan.segments"],
    "distributed": ["deflections", "plan.tie"],
    "direct": [],
}
_WHAT = "schedule"  # what is verified; how its paths were drawn is a label that nothing proves
_OF_CLASSES = {"congestion": "at most", "dilation": "at most", "algorithm": "in all classes", "rules": "in all classes"}


def check_saved(content: dict[str, Any], result: Any, progress: Progress = silent) -> Verification:
    """Check a schedule, or several that run one after another: a result, or the content of a file."""
    if result is None:
        several = "classes" in content
        return (
            check_classes(read_classes(content), content)
            if several
            else check_schedule(read_schedule(content), progress)
        )
    if "classes" in result.marks:
        return check_classes([claim_of(schedule) for schedule in result.classes], result.to_dict())
    return check_schedule(claim_of(result), progress)


def check_schedule(claim: ScheduleClaim, progress: Progress = silent) -> Verification:
    """Check that the moves obey the rules and lead to the claimed figures."""
    report = Report()
    report.beside += ["routing", "constants", "instance.made", *_UNUSED.get(claim.algorithm, ["algorithm"])]
    if claim.digest_holds is not None:
        report.note_digest(claim.digest_holds)
    if check_form(report, claim) and check_network(report, claim):
        progress("packets", 0.2)
        arrival, pushes = check_walks(report, claim)
        progress("links", 0.6)
        check_links(report, claim)
        if report.holds:
            check_figures(report, claim, arrival, pushes)
        if report.holds:
            _check_plan(report, claim)
    steps = len(claim.rows.time) + int(claim.rows.more.sum() if len(claim.rows.more) else 0)
    statement = (
        f"{plural(claim.packets, 'packet')} {'arrives' if claim.packets == 1 else 'arrive'} within "
        f"{plural(claim.figures.makespan, 'step')} under the rules {claim.rules} ({claim.algorithm}, "
        f"{plural(steps, 'move')})"
    )
    return report.verification(statement, claim.topology, _WHAT)


def check_classes(claims: list[ScheduleClaim], content: dict[str, Any]) -> Verification:
    """Check schedules that run one after another, and that the figures of the whole follow from theirs."""
    report = Report()
    report.beside += ["topology", "routing"]
    if "digest" in content:
        report.note_digest(content["digest"] == digest_of(content))
    for claim in claims:
        outcome = check_schedule(claim)
        wrong = next((step.detail for step in outcome.checks if not step.ok), "")
        report.note(claim.topology, outcome.proved, wrong or outcome.claim)
        report.beside += [key for key in (f"classes[*].{key}" for key in outcome.beside) if key not in report.beside]
    for name, value in _totals(claims).items():
        alike = name not in ("algorithm", "rules") or all(getattr(claim, name) == value for claim in claims)
        fits = content.get(name) == value and alike
        report.note(name, fits, f"{value} {_OF_CLASSES.get(name, 'in total')}, claimed {content.get(name)!r:.40}")
    statement = (
        f"{content.get('packets')!r} packets in {len(claims)} classes, one after another, arrive within "
        f"{content.get('makespan')!r} steps"
    )
    return report.verification(statement, str(content.get("topology", ""))[:200], _WHAT)


def _totals(claims: list[ScheduleClaim]) -> dict[str, Any]:
    """Return the figures of schedules that run one after another."""
    figures = [claim.figures for claim in claims]
    deflections = [figure.deflections for figure in figures]
    return {
        "packets": sum(figure.packets for figure in figures),
        "makespan": sum(figure.makespan for figure in figures),
        "lower_bound": sum(figure.lower_bound for figure in figures),
        "congestion": max(figure.congestion for figure in figures),
        "dilation": max(figure.dilation for figure in figures),
        "algorithm": claims[0].algorithm,
        "rules": claims[0].rules,
        "deflections": None if None in deflections else sum(count or 0 for count in deflections),
    }


def _check_plan(report: Report, claim: ScheduleClaim) -> None:
    """Check what the paper's algorithms promise beyond the rules, from the choices in the plan."""
    kind = None if claim.plan is None else claim.plan.get("kind")
    if claim.algorithm in _PLANS or claim.plan is not None:
        detail = f"of {kind!r:.40}, the algorithm is {claim.algorithm!r:.40}"
        if not report.note("plan kind", kind == claim.algorithm, detail):
            return
    if kind in _PLANS:
        _PLANS[kind](report, claim)
