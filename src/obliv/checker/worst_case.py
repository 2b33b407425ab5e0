"""The check of a worst-case certificate, over all channels, in exact arithmetic.

The claim holds iff the digest fits, the witness puts the claimed load on the named channel, and every channel is
proved: by its simple bound, min(Σ row maxima, Σ column maxima), or by prices v carried along a word of generators,
Σ_i max(0, max_j (w_ij - v_j)) + Σ_j v_j.  Any prices prove a bound, so no symmetry needs to be believed.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy.optimize import linear_sum_assignment

from obliv._util.progress import Progress
from obliv.checker.bounds import check_bounds
from obliv.checker.claim_form import check_form
from obliv.checker.claims import Claim
from obliv.checker.flows.sources import source_flows
from obliv.checker.known_optimum import check_optimum
from obliv.checker.report import Report
from obliv.checker.time_limit import OutOfTimeError, TimeLimit
from obliv.errors import InputError, OblivError
from obliv.results import Verification
from obliv.routings.base import Routing
from obliv.topologies.base import Topology

__all__ = ["check_worst_case"]

_MOST_LOADS = 2**24  # of pairs on channels that are held at once
_STATEMENTS = {
    "worst": "no admissible traffic loads a channel by more than",
    "ratio": "no traffic loads a link more than the best routing of it does, but for a factor of",
}


def check_worst_case(
    claim: Claim, topology: Topology, routing: Routing, quick: bool, budget: float, progress: Progress
) -> Verification:
    """Check a claim against a topology and a routing.

    Parameters
    ----------
    claim : Claim
    topology : Topology
    routing : Routing
        Only its paths, next hops or phases are used.
    quick : bool
        Check the bound of the named channel only.
    budget : float
        Time limit in seconds; channels not checked in time count as unproved.
    progress : callable
        Called with what is being done and the share that is done.
    """
    if claim.kind not in _STATEMENTS:  # of a claim within another one
        raise InputError(f"a claim of kind {claim.kind[:40]!r} is not about a worst case: its kind is worst or ratio")
    report = Report()
    unchecked: list[int] = []
    report.note_digest(claim.digest_holds)
    report.note_sources(claim.sources, (*topology.sources, *routing.sources))
    if not report.holds:
        unchecked = list(range(topology.channels))
    elif check_form(report, claim, topology):
        try:
            if claim.kind == "ratio":
                check_optimum(report, topology)
            if routing.partial or claim.skipped:
                _check_skipped(report, claim, routing)
            limit = TimeLimit(report.began + budget)
            unchecked = check_bounds(report, claim, topology, routing, quick, limit, progress)
            if claim.row_loads is not None and report.holds:
                _check_rows(report, claim.row_loads, claim.denominator, topology, routing, limit)
        except (OblivError, NotImplementedError) as error:
            report.note("pair loads", False, str(error))
    scope = "on the named channel only" if quick else f"on all {topology.channels} channels"
    statement = f"{_STATEMENTS[claim.kind]} {claim.channel_load} ({scope})"
    return report.verification(statement, claim.topology, claim.routing, topology.sources, unchecked)


def _check_rows(
    report: Report,
    loads: tuple[Fraction, ...],
    denominator: int,
    topology: Topology,
    routing: Routing,
    limit: TimeLimit,
) -> None:
    """Compute the worst case of every channel again, by assignments; where that is too much, the rows are beside."""
    n = len(topology.terminals)
    if not topology.unit_rates or topology.channels * n * n > _MOST_LOADS or denominator * n >= 2**53:
        report.beside.append("channels[*].channel_load")
        return
    weights = np.zeros((topology.channels, n, n), np.int64)
    flows = source_flows(routing, denominator, limit.check)
    try:
        for i in range(n):
            flow = flows(i)
            j = np.repeat(np.arange(n), np.diff(flow.ends, prepend=0))
            for c, d, amount in zip(flow.channel.tolist(), j.tolist(), flow.amount.tolist(), strict=True):
                weights[c, i, d] += amount * denominator // int(flow.whole[d])
        for c, load in enumerate(loads):
            limit.check()
            rows, columns = linear_sum_assignment(weights[c], maximize=True)
            most = Fraction(int(weights[c][rows, columns].sum()), denominator) / topology.bandwidth_of(c)
            if most != load:
                report.note("rows", False, f"channel {c} carries up to {most}, claimed {load}")
                return
    except OutOfTimeError:
        report.note("rows", None, "time limit reached; raise the budget")
        return
    report.note("rows", True, f"the worst case of each of {len(loads)} channels, computed again by assignments")


def _check_skipped(report: Report, claim: Claim, routing: Routing) -> None:
    """Note how many pairs have no path, or too few; the bounds are about the others."""
    count = routing.skipped if routing.partial else 0
    fits = claim.skipped in (None, count)
    claimed = "" if fits else f", claimed {claim.skipped!r:.40}"
    report.note("left out", fits, f"{count} pairs that {routing.spec} does not serve send nothing{claimed}")
