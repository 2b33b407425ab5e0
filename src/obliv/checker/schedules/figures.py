"""The figures of a schedule, counted again."""

from __future__ import annotations

import numpy as np

from obliv._util.typing import Array
from obliv.checker.kernels.schedules import shortest_ends
from obliv.checker.report import Report
from obliv.checker.schedules.claim import ScheduleClaim
from obliv.kernels import run

__all__ = ["check_figures"]


def check_figures(report: Report, claim: ScheduleClaim, arrival: Array, pushes: Array) -> None:
    """Check the claimed figures.

    Parameters
    ----------
    report : Report
    claim : ScheduleClaim
    arrival : int array
        The time of every packet's last move.
    pushes : int array
        Edges to go back over, and moves down that were not over the edge just taken.
    """
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
