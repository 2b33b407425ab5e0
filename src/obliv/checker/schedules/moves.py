"""The check of a schedule of packets, from the rules and the saved moves alone.

Every rule is about one packet or about one link and step, so packets are followed one by one, and the uses of each
link are laid side by side; together that is what watching the network step by step would see.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from obliv._util.memory import require_memory
from obliv._util.typing import Array
from obliv.checker.kernels.schedules import longest_walk, shortest_ends, walk_packets
from obliv.checker.report import Report
from obliv.errors import OblivError
from obliv.kernels import run
from obliv.results import Verification, provenance
from obliv.specs.registry import TOPOLOGIES
from obliv.topologies.leveled.base import Leveled

__all__ = ["Claimed", "check_classes", "check_schedule"]


_FAULTS = {
    1: "begins where the packet is not",
    2: "comes after a rest, and no packet may rest",
    3: "comes after the packet has arrived",
    4: "comes before the one before it, or before time 1",
    5: "is its last, and it has not come to the end of its path",
    6: "leaves its path",
}


@dataclass(frozen=True, eq=False)
class Claimed:
    """A schedule as arrays: the leveled network, the paths, the moves packet after packet, and what is claimed.

    Rows of packet p are ``row_start[p] .. row_start[p + 1] - 1`` of the moves; `more` is empty where no packet goes to
    and fro.
    """

    topology: str
    algorithm: str
    rules: str
    level: Array
    low: Array
    high: Array
    path_start: Array
    path: Array
    source: Array
    destination: Array
    row_start: Array
    time: Array
    edge: Array
    up: Array
    more: Array
    figures: dict[str, int]
    paths: str = ""
    made_here: bool = False  # the network is at hand, not read
    uncounted: bool = False  # nobody counted the deflections
    plan: dict[str, Any] | None = None

    @property
    def packets(self) -> int:
        """How many packets there are."""
        return len(self.path_start) - 1


def check_schedule(claim: Claimed, progress: Callable[[str, float], None] = lambda what, share: None) -> Verification:
    """Check that the moves obey the rules and come to what is claimed.

    Returns
    -------
    Verification
        Its checks are: the form (numbers in range, edges between neighbouring levels, whole paths), the packets'
        walks, the links, and the figures.
    """
    began = time.perf_counter()
    report = Report()
    if _check_form(report, claim) and _check_network(report, claim):
        progress("packets", 0.2)
        arrival, pushes = _check_walks(report, claim)
        progress("links", 0.6)
        _check_links(report, claim)
        if report.holds:
            _check_figures(report, claim, arrival, pushes)
        if report.holds:
            _check_plan(report, claim)
    steps = len(claim.time) + int(claim.more.sum() if len(claim.more) else 0)
    return Verification(
        topology=claim.topology,
        routing=claim.paths,
        provenance=provenance({"topology": claim.topology}, time.perf_counter() - began),
        proved=report.holds,
        claim=f"{claim.packets} packets arrive within {claim.figures.get('makespan')} steps under the rules "
        f"{claim.rules} ({claim.algorithm}, {steps} moves)",
        checks=tuple(report.checks),
        unchecked=(),
    )


def _check_plan(report: Report, claim: Claimed) -> None:
    """What the paper's algorithms promise beyond the rules, by what they chose for every packet."""
    kind = None if claim.plan is None else claim.plan.get("kind")
    planned = claim.algorithm in ("centralized", "distributed")
    if planned or claim.plan is not None:
        fits = kind == claim.algorithm
        if not report.note("plan kind", fits, f"of {kind!r:.40}, the algorithm is {claim.algorithm!r:.40}"):
            return
    if kind == "centralized":
        from obliv.checker.schedules.waves import check_waves

        check_waves(report, claim)
    elif kind == "distributed":
        from obliv.checker.schedules.rounds import check_rounds

        check_rounds(report, claim)


def check_classes(claims: list[Claimed], made: dict[str, Any]) -> Verification:
    """Check schedules that run one after another, and that the figures of the whole follow from theirs."""
    began = time.perf_counter()
    report = Report()
    for claim in claims:
        found = check_schedule(claim)
        wrong = next((step.detail for step in found.checks if not step.ok), "")
        report.note(claim.topology, found.proved, wrong or found.claim)
    sums = {name: sum(claim.figures[name] for claim in claims) for name in ("packets", "makespan", "lower_bound")}
    most = {name: max(claim.figures[name] for claim in claims) for name in ("congestion", "dilation")}
    counted = (
        None if any(claim.uncounted for claim in claims) else sum(claim.figures["deflections"] for claim in claims)
    )
    same = {name: getattr(claims[0], name) for name in ("algorithm", "rules")}
    for name, value in (sums | most | same | {"deflections": counted}).items():
        fits = made.get(name) == value
        report.note(
            name,
            fits and (name not in same or all(getattr(claim, name) == value for claim in claims)),
            f"{value} in all, claimed {made.get(name)!r:.40}",
        )
    topology = str(made.get("topology", ""))[:200]
    return Verification(
        topology=topology,
        routing=claims[0].paths,
        provenance=provenance({"topology": topology}, time.perf_counter() - began),
        proved=report.holds,
        claim=f"{made.get('packets')!r} packets in {len(claims)} classes, one after another, arrive within "
        f"{made.get('makespan')!r} steps",
        checks=tuple(report.checks),
        unchecked=(),
    )


def _check_form(report: Report, claim: Claimed) -> bool:
    problem = _form_problem(claim)
    return report.note("form", not problem, problem or "every part fits the network")


def _form_problem(claim: Claimed) -> str:
    nodes, edges, rows = len(claim.level), len(claim.low), len(claim.time)
    if claim.rules not in ("bufferless", "buffered"):
        return f"the rules are bufferless or buffered, not {claim.rules!r}"
    for what, index, size in (
        ("edge", claim.low, nodes),
        ("edge", claim.high, nodes),
        ("path", claim.path, edges),
        ("packet's source", claim.source, nodes),
        ("packet's destination", claim.destination, nodes),
        ("move", claim.edge, edges),
    ):
        if len(index) and (int(index.min()) < 0 or int(index.max()) >= size):
            return f"a {what} names something that is not there"
    for starts, size in ((claim.path_start, len(claim.path)), (claim.row_start, rows)):
        if starts[0] != 0 or starts[-1] != size or (np.diff(starts) < 0).any():
            return "paths or moves do not begin and end where they should"
    if not len(claim.source) == len(claim.destination) == len(claim.row_start) - 1 == claim.packets:
        return "paths, sources, destinations and moves are not of the same packets"
    if len(claim.more) not in (0, rows) or (len(claim.more) and int(claim.more.min(initial=0)) < 0):
        return "how often packets go to and fro is not given for every move"
    steep = claim.level[claim.high] != claim.level[claim.low] + 1
    if steep.any():
        return f"edge {int(np.argmax(steep))} does not lead from a level to the next"
    return ""


def _check_network(report: Report, claim: Claimed) -> bool:
    """Whether the levels and edges are those of the topology that is named, where its name says what it is."""
    if claim.made_here:
        return True
    try:
        network = TOPOLOGIES.make(claim.topology)
    except OblivError:
        network = None
    if not isinstance(network, Leveled):
        said = f"{claim.topology[:60]!r} is not looked up; what follows is about the levels and edges of the file"
        return report.note("network", True, said)
    low, high = network.edge_ends
    pairs = ((network.node_level, claim.level), (low, claim.low), (high, claim.high))
    same = all(np.array_equal(ours, theirs) for ours, theirs in pairs)
    return report.note("network", same, f"levels and edges are {'' if same else 'not '}those of {claim.topology}")


def _check_walks(report: Report, claim: Claimed) -> tuple[Array, Array]:
    arrival, pushes = np.zeros(claim.packets, np.int64), np.zeros(2, np.int64)
    told = np.zeros(2, np.int64)
    keeps = claim.algorithm == "centralized"
    stack = np.zeros(2 + 2 * run(longest_walk, float(claim.packets), claim.row_start), np.int64)
    mark = np.full(len(claim.low) if keeps else 0, -1, np.int64)
    code = run(
        walk_packets,
        30.0 * len(claim.time),
        *(claim.path_start, claim.path, claim.low, claim.high, claim.source, claim.destination),
        *(claim.row_start, claim.time, claim.edge, claim.up, claim.more),
        *(claim.rules == "buffered", keeps, claim.algorithm == "distributed", stack, mark, arrival, pushes, told),
    )
    rule = "no packet rests, " if claim.rules == "bufferless" else ""
    detail = f"{rule}every one is delivered once, by way of its path"
    if code >= 0:
        packet, row = told.tolist()
        where = f" at step {claim.time[row]}" if claim.row_start[packet] < claim.row_start[packet + 1] else ""
        detail = f"packet {packet}: its move{where} {_FAULTS[code]}"
    report.note("packets", code < 0, detail)
    return arrival, pushes


def _check_links(report: Report, claim: Claimed) -> None:
    """Whether no two uses of a directed link share a step.

    A packet that goes to and fro over an edge uses it one way at every other step and the other way at those between.
    So a use has a link, a parity, a first and a last step, and two uses of a link clash where their parities are the
    same and their times overlap: then there are two such that follow each other in the order of first steps.
    """
    link = 2 * claim.edge.astype(np.int64) + claim.up
    first = claim.time.astype(np.int64)
    span = int(first.max(initial=0)) + int(claim.more.max(initial=0)) + 2
    require_memory(60.0 * len(link), f"the uses of {2 * len(claim.low)} directed links")
    wide = 4 * len(claim.low) * span >= 2**62
    if len(claim.more) == 0 and not wide:  # every use is one step: clashing ones have one key
        key = np.sort(link * span + first)
        at = np.flatnonzero(key[1:] == key[:-1])
        clash = divmod(int(key[at[0]]), span) if len(at) else None
    else:
        more = claim.more if len(claim.more) else np.zeros_like(first)
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
        way = "up" if taken % 2 else "down"
        detail = f"two packets go {way} edge {taken // 2} at step {step}: {_users(claim, taken, step)}"
    report.note("links", clash is None, detail)


def _users(claim: Claimed, link: int, step: int) -> str:
    """The packets on a directed link at a step."""
    more = claim.more if len(claim.more) else np.zeros(len(claim.time), np.int64)
    after = step - claim.time
    same = np.where(after % 2 == 0, claim.up, ~claim.up) == (link % 2 == 1)
    rows = np.flatnonzero((claim.edge == link // 2) & (after >= 0) & (after <= more) & same)
    packets = np.searchsorted(claim.row_start, rows, side="right") - 1
    return "packets " + " and ".join(str(packet) for packet in packets[:4].tolist())


def _lower_bound(claim: Claimed) -> int:
    """D, and for every edge its users and the fewest edges that any of them has before and after it."""
    edges = len(claim.low)
    before, after = (np.full(edges, 2**31 - 1, np.int32) for _ in range(2))
    users = np.zeros(edges, np.int32)
    run(shortest_ends, 10.0 * len(claim.path), claim.path_start, claim.path, users, before, after)
    used = users > 0
    bound = users[used].astype(np.int64) + before[used] + after[used]
    return max(int(bound.max(initial=0)), int(np.diff(claim.path_start).max(initial=0)))


def _check_figures(report: Report, claim: Claimed, arrival: Array, pushes: Array) -> None:
    wrong: list[str] = []
    users = np.bincount(claim.path, minlength=1)
    length = np.diff(claim.path_start)
    found = {
        "packets": claim.packets,
        "congestion": int(users.max(initial=0)),
        "dilation": int(length.max(initial=0)),
        "makespan": int(arrival.max(initial=0)),
        "lower_bound": _lower_bound(claim),
    }
    if claim.algorithm == "centralized":
        found["deflections"] = int(pushes[1])
    elif claim.algorithm in ("hot-potato", "direct") or claim.rules == "buffered":
        found["deflections"] = int(pushes[0])
    if claim.algorithm == "direct" and (pushes[0] or len(claim.time) != len(claim.path)):
        wrong.append("a packet leaves its path, which direct routing never does")
    wrong += [
        f"{name} is {value}, claimed {claim.figures.get(name)}"
        for name, value in found.items()
        if claim.figures.get(name) != value
    ]
    report.note("figures", not wrong, "; ".join(wrong) or ", ".join(f"{name} {value}" for name, value in found.items()))
