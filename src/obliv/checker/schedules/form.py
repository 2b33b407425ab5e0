"""The form of a schedule: numbers in range, edges between neighboring levels, the network of the topology."""

from __future__ import annotations

import numpy as np

from obliv.checker.report import Report
from obliv.checker.schedules.claim import ScheduleClaim
from obliv.errors import OblivError
from obliv.specs.registry import TOPOLOGIES
from obliv.topologies.leveled.base import Leveled

__all__ = ["check_form", "check_network"]


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
