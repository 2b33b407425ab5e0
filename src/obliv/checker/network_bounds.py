"""The check of bounds: capacity, oblivious and adaptive worst case, bisection, each from both sides."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.arrays import INT64_SAFE, Array
from obliv._util.progress import Progress
from obliv.checker.designs import check_design, paths_of
from obliv.checker.linear import least_load, least_uniform_load, lengths_of
from obliv.checker.report import Report, proves, read_result
from obliv.checker.worst_case import check_worst_case
from obliv.results.claims import MalformedError, array_of, certificate_of, read_claim
from obliv.results.numbers import Bounds, bounded, bounds_of, shown
from obliv.results.study import OTHER_CHANNELS, Verification
from obliv.routings.listed import Listed
from obliv.routings.make import routing as routing_of
from obliv.topologies.base import Topology

if TYPE_CHECKING:
    from obliv.designs.bounds.network import NetworkBounds

__all__ = ["check_network_bounds"]

_KNOWN = ("valiant", "u2turn", "ecmp")  # routings that may stand for the best one; their specs read no files


def check_network_bounds(
    content: dict[str, Any], topology: Topology, quick: bool, budget: float, progress: Progress
) -> Verification:
    """Check bounds of a network."""
    report = Report()
    for key in ("permutation", "matching_permutation", "half"):
        if isinstance(content.get(key), dict):
            array_of(content[key], key, topology.nodes)  # not too large to be read
    claimed: NetworkBounds = read_result(content)
    certificate = certificate_of(content)
    if (claimed.capacity, claimed.oblivious, claimed.bisection, claimed.matching_bound) == (None,) * 4:
        raise MalformedError("it claims no bound")
    report.note_origin(content, claimed.provenance.sources, topology.sources)
    report.note_figures((claimed, content))
    unchecked: tuple[int, ...] = tuple(range(topology.channels))
    if report.holds:
        with report.noting("paths"):
            if claimed.capacity is not None:
                _check_capacity(report, claimed.capacity, certificate, topology)
            _check_matching(report, claimed, topology)
            if claimed.oblivious is not None:
                least = _check_adaptive(report, claimed, claimed.oblivious, certificate, topology)
                if "oblivious" in certificate:
                    how = (quick, budget, progress)
                    unchecked = _check_oblivious(report, claimed.oblivious, certificate, topology, least, how).unchecked
                else:
                    unchecked = _check_two_phases(report, claimed, claimed.oblivious, topology, least)
            elif claimed.adaptive is not None:
                raise MalformedError("adaptive is bounded by oblivious, which is missing")
            if claimed.bisection is not None:
                _check_bisection(report, claimed, claimed.bisection, topology)
    statement = "no routing loads channels less than the lower bounds, and the upper ones are attained"
    return report.verification(statement, claimed.topology, "any", topology.sources, unchecked)


def _note(report: Report, check: str, load: Fraction | Bounds, lower: Fraction, upper: Fraction) -> None:
    """Note whether proved bounds are at least as good as the claimed ones."""
    ok = proves(lower, upper, load)
    detail = f"{shown(bounded(lower, upper))}, claimed {shown(load)}"
    report.note(check, ok, f"{lower}, exactly" if ok and load == lower == upper else detail)


def _check_capacity(
    report: Report, capacity: Fraction | Bounds, certificate: dict[str, Any], topology: Topology
) -> None:
    """Check the least load of uniform traffic: lengths from below, paths from above."""
    lengths = lengths_of(certificate.get("capacity_lengths"), topology, "capacity_lengths")
    terminals = topology.terminals.tolist()
    lower = least_uniform_load(topology, lengths)
    listed = Listed(topology, "capacity", paths_of(certificate.get("capacity_paths"), topology)).listed
    translated = len(listed.pair) - 1 != len(terminals) ** 2
    if translated:
        raise MalformedError("capacity_paths must list the paths of all pairs")
    hops = np.diff(listed.start)
    most = int(np.bincount(listed.channel, minlength=1).max()) * listed.whole
    crossed = np.zeros(topology.channels, np.int64 if most < INT64_SAFE else object)
    np.add.at(crossed, listed.channel, np.repeat(listed.amount, hops).astype(crossed.dtype))
    loads = [Fraction(int(amount)) / topology.bandwidth_of(c) for c, amount in enumerate(crossed.tolist())]
    _note(report, "capacity", capacity, lower, max(loads) / (listed.whole * len(terminals)))


def _check_oblivious(
    report: Report,
    claimed: Fraction | Bounds,
    certificate: dict[str, Any],
    topology: Topology,
    least: Fraction,
    how: tuple[bool, float, Progress],
) -> Verification:
    """Check the routing whose worst case is the oblivious one; `least` is a lower bound for any routing."""
    design = certificate.get("oblivious")
    if isinstance(design, dict) and design.get("kind") == "worst":
        return _check_known(report, claimed, design, topology, least, how)
    if not isinstance(design, dict) or "ratio" in design:
        raise MalformedError("oblivious is missing in the certificate, or has another objective")
    checked = check_design(design, topology, *how)
    _note_part(report, "design", checked, design.get("constraints") == [])
    if report.holds:
        lower, upper = bounds_of(read_result(design).channel_load)
        _note(report, "oblivious", claimed, max(lower, least), upper)
    return checked


def _check_known(
    report: Report,
    claimed: Fraction | Bounds,
    content: dict[str, Any],
    topology: Topology,
    least: Fraction,
    how: tuple[bool, float, Progress],
) -> Verification:
    """Check the worst case of a routing that obliv knows by name."""
    claim = read_claim(content)
    if claim.routing not in _KNOWN:
        raise MalformedError(f"oblivious is the worst case of another routing than {', '.join(_KNOWN)}")
    if claim.topology != topology.spec or claim.skipped not in (None, 0):
        raise MalformedError(f"oblivious is a worst case on another network than {topology.spec:.80}, or skips pairs")
    checked = check_worst_case(claim, topology, routing_of(claim.routing, topology), *how)
    _note_part(report, claim.routing, checked)
    if report.holds:
        _note(report, "oblivious", claimed, least, claim.channel_load)
    return checked


def _note_part(report: Report, check: str, checked: Verification, fits: bool = True) -> None:
    """Note a claim that is part of the bounds; channels that were left out keep a line of their own."""
    others = [step for step in checked.checks if step.check == OTHER_CHANNELS]
    holds = all(step.ok is True for step in checked.checks if step not in others)
    report.note(check, holds and fits, checked.claim)
    for step in others:
        report.note(step.check, step.ok, step.detail)


def _check_two_phases(
    report: Report, claimed: NetworkBounds, oblivious: Fraction | Bounds, topology: Topology, least: Fraction
) -> tuple[int, ...]:
    """Check the worst case of an oblivious routing that spreads packets over all terminals, and sends them on."""
    if claimed.capacity is None or not topology.unit_rates:
        raise MalformedError("oblivious has neither a design nor a capacity that proves it")
    _note(report, "oblivious", oblivious, least, 2 * bounds_of(claimed.capacity)[1])
    return ()


def _check_adaptive(
    report: Report,
    claimed: NetworkBounds,
    oblivious: Fraction | Bounds,
    certificate: dict[str, Any],
    topology: Topology,
) -> Fraction:
    """Check the load of the permutation under its best routing; an oblivious routing bounds it from above."""
    if claimed.adaptive is None:
        return Fraction(0)
    lengths = lengths_of(certificate.get("adaptive_lengths"), topology, "adaptive_lengths")
    lower = _least(report, "adaptive", claimed.permutation, lengths, topology)
    if lower is None:
        return Fraction(0)
    _note(report, "adaptive", claimed.adaptive, lower, bounds_of(oblivious)[1])
    return lower


def _check_matching(report: Report, claimed: NetworkBounds, topology: Topology) -> None:
    """Check the load of a permutation whose packets take shortest paths, spread over all channels."""
    if claimed.matching_bound is None:
        return
    load = _least(report, "matching bound", claimed.matching_permutation, [1] * topology.channels, topology)
    if load is not None:
        _note(report, "matching bound", claimed.matching_bound, load, load)


def _least(report: Report, check: str, permutation: Any, lengths: list[int], topology: Topology) -> Fraction | None:
    """Return the load that lengths prove for every routing of a permutation; None if it is none."""
    image = list(permutation or ())
    if sorted(image) != list(range(len(topology.terminals))) or not topology.unit_rates:
        report.note(check, False, "the permutation is invalid, or terminals have rates")
        return None
    return least_load(topology, lengths, ((s, np.array([d]), 1) for s, d in enumerate(image)))


def _check_bisection(report: Report, claimed: NetworkBounds, bisection: Fraction | Bounds, topology: Topology) -> None:
    """Check the load across the named half, and that no bisection can have a larger one."""
    side = np.zeros(topology.nodes, bool)
    if any(not 0 <= node < topology.nodes for node in claimed.half) or len(set(claimed.half)) < len(claimed.half):
        report.note("bisection", False, "a node of the half does not exist, or is listed twice")
        return
    side[list(claimed.half)] = True
    here = int(side[topology.terminals].sum())
    terminals = len(topology.terminals)
    if abs(2 * here - terminals) > 1:
        report.note("bisection", False, f"the half holds {here} of {terminals} terminals")
        return
    most = [] if claimed.oblivious is None else [bounds_of(claimed.oblivious)[1]]
    if topology.unit_rates and claimed.capacity is not None:
        most.append(Fraction(terminals, -(-terminals // 2)) * bounds_of(claimed.capacity)[1])
    if not most:
        raise MalformedError("a bisection is bounded by capacity or oblivious, and both are missing")
    _note(report, "bisection", bisection, _crossing(topology, side), min(most))


def _crossing(topology: Topology, side: Array) -> Fraction:
    """Return the load across a cut, in the direction in which it is larger."""
    loads = [Fraction(0)]
    injection, ejection = topology.rates()
    for half in (side, ~side):
        sent, taken, speed = Fraction(0), Fraction(0), Fraction(0)
        for k, node in enumerate(topology.terminals.tolist()):
            if half[node]:
                sent += injection[k]
            else:
                taken += ejection[k]
        for channel in np.flatnonzero(half[topology.tail] & ~half[topology.head]).tolist():
            speed += topology.bandwidth_of(channel)
        if speed:
            loads.append(min(sent, taken) / speed)
    return max(loads)
