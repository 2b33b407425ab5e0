"""The check of a schedule of packets, from the rules and the saved moves alone.

Every rule is about one packet or about one link and step, so packets are followed one by one, and the uses of each
link are laid side by side; together that is what watching the network step by step would see.
"""

from __future__ import annotations

from typing import Any

from obliv._util.codec import digest_of
from obliv._util.progress import Progress, silent
from obliv._util.text import plural
from obliv.checker.report import Report
from obliv.checker.schedules.claim import ScheduleClaim
from obliv.checker.schedules.claims import claim_of, read_classes, read_schedule
from obliv.checker.schedules.figures import check_figures
from obliv.checker.schedules.form import check_form, check_network
from obliv.checker.schedules.moves import check_links, check_walks
from obliv.checker.schedules.rounds import check_rounds
from obliv.checker.schedules.waves import check_waves
from obliv.results import Verification

__all__ = ["check_classes", "check_saved", "check_schedule"]

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


def check_saved(result: Any, content: dict[str, Any], progress: Progress = silent) -> Verification:
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
    """Check that the moves obey the rules and lead to the claimed figures.

    Returns
    -------
    Verification
        Its checks are: the form (numbers in range, edges between neighboring levels, whole paths), the packets'
        walks, the links, the figures, and for the paper's algorithms the plan.
    """
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
    """Check schedules that run one after another, and that the figures of the whole follow from theirs.

    Parameters
    ----------
    claims : list of ScheduleClaim
    content : dict
        The content of the file of all classes.
    """
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
