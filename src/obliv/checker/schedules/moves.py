"""The moves of a schedule: every packet's walk, and the uses of every directed link."""

from __future__ import annotations

import numpy as np

from obliv._util.arrays import INT64_SAFE
from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.checker.kernels.schedules import Rules, Walk, longest_walk, walk_packets
from obliv.checker.report import Report
from obliv.checker.schedules.claim import ScheduleClaim
from obliv.kernels import run

__all__ = ["check_links", "check_walks"]

_FAULTS = {
    1: "begins where the packet is not",
    2: "comes after a rest, and no packet may rest",
    3: "comes after the packet has arrived",
    4: "comes before the one before it, or before time 1",
    5: "is its last, and it has not come to the end of its path",
    6: "leaves its path",
}


def check_walks(report: Report, claim: ScheduleClaim) -> tuple[Array, Array]:
    """Check every packet's moves against the rules.

    Returns
    -------
    arrival, pushes : ndarray
        The time of every packet's last move; how many edges were added to go back over, and how many moves down were
        not over the edge just taken.
    """
    arrival, pushes = np.zeros(claim.packets, np.int64), np.zeros(2, np.int64)
    passed, fault = np.zeros(3, np.int64), np.zeros(2, np.int64)
    keeps = claim.algorithm == "centralized"
    stack = np.zeros(2 + 2 * run(longest_walk, float(claim.packets), claim.rows.start), np.int64)
    mark = np.full(len(claim.links.low) if keeps else 0, -1, np.int64)
    buffered, wanders = claim.rules == "buffered", claim.algorithm == "distributed"
    walk = Walk(stack, mark, arrival, pushes, passed, fault)
    work = 30.0 * len(claim.rows.time)
    rules = Rules(rests=buffered, keeps=keeps, wanders=wanders)
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
