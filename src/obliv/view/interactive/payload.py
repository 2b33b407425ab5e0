"""What a page needs to draw a network with its loads, to list the pairs that cross a channel, and to prove them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from obliv._util.progress import Progress
from obliv.checker.claims import Claim, MalformedError
from obliv.checker.flows.sources import source_flows
from obliv.checker.time_limit import OutOfTimeError, TimeLimit
from obliv.errors import OblivError
from obliv.patterns.make import traffic as traffic_of
from obliv.patterns.standard import uniform
from obliv.results import Estimate, Ratio, Result, WorstCase
from obliv.results.format import shown
from obliv.results.numbers import as_float
from obliv.routings.base import Routing
from obliv.specs.untrusted import bounded
from obliv.topologies.base import Topology
from obliv.view.interactive.certified import claim_of, page_proof
from obliv.view.interactive.drawing import drawn_channels, require_drawable
from obliv.view.interactive.own_worst import own_worst
from obliv.view.interactive.packing import Entries, UnevenError, flow_entries, pack_loads, weight_entries
from obliv.view.interactive.shown import Limits, Shown, Subject, shown_of
from obliv.view.network.witness import Witness

__all__ = ["VERSION", "Limits", "network_payload", "untrusted_payload"]

_MOST_PAIRS = 2_000  # listed for the worst channel where the loads of all pairs are left out
VERSION = 1  #: Of the form; scripts refuse others.


def network_payload(subject: Subject, limits: Limits | None = None) -> dict[str, Any]:
    """Return a network for ``OblivNetwork.mount``, as JSON types.

    Parameters
    ----------
    subject : Topology, Routing, PairLoads or Result
        A network; or loads, with the worst case if that is quick; or a result about them, whose routing is built from
        its spec where the result was loaded.
    limits : Limits, optional
        What it may take.

    Returns
    -------
    dict
        Exact numbers are texts such as ``"32/5"``. What does not fit is null beside a reason.

    Raises
    ------
    TooLargeError
        If the network is too large to be drawn.
    InputError
        If the result does not name its routing, or has no traffic.

    Examples
    --------
    >>> import obliv
    >>> payload = network_payload(obliv.worst_case(obliv.routing("dor", obliv.mesh(3, 3)), certificate=True))
    >>> payload["worst"]["load"], len(payload["channels"]), payload["proof"]["claim"]
    ('2', 24, '2')
    """
    limits = limits or Limits()
    this = shown_of(subject, limits)
    topology = this.topology
    require_drawable(topology, limits.channels)
    nodes, channels, radius = drawn_channels(topology)
    views = list(_views(this))
    crossing, reason = _crossing(this, limits)
    proof, why = (None, reason) if crossing is None else _proof(this)
    own = own_worst(this.loads) if crossing is not None and this.loads is not None else None
    if own is not None:
        views.insert(1, _view("own", "worst load of each channel by itself", "its own worst load", own.pop("loads")))
    if views:
        for channel, load in zip(channels, views[0]["loads"], strict=True):
            channel |= {"load": load, "value": as_float(Fraction(load))}
    return {
        "version": VERSION,
        "topology": topology.spec,
        "routing": None if this.routing is None else this.routing.spec,
        "radius": radius,
        "nodes": nodes,
        "channels": channels,
        "terminals": topology.terminals.tolist(),
        **_rates(topology),
        "views": views,
        "worst": None if this.witness is None or this.result is None else _worst(this.result, this.witness),
        "own": own,
        "crossing": crossing,
        **({} if crossing else {"crossing_reason": reason}),
        "proof": proof,
        **({} if proof else {"proof_reason": why}),
    }


def _views(this: Shown) -> Iterator[dict[str, Any]]:
    """Yield the loads by which channels can be colored, the first one first."""
    if this.loads is None or not this.topology.channels:
        return
    about = "" if this.exact else " (estimated)"
    for spec in this.traffics:
        if spec != "uniform":
            yield _view(f"traffic:{spec}", f"load under {spec}{about}", f"under {spec}", _under(this, spec))
    if this.witness is not None:
        loads = this.loads.under(this.witness.traffic)
        yield _view("worst", f"load under the worst traffic{about}", "under the worst traffic", loads)
    everywhere = this.loads.under(uniform(this.topology))
    yield _view("uniform", f"load under uniform traffic{about}", "under uniform traffic", everywhere)


def _under(this: Shown, spec: str) -> Sequence[Fraction]:
    return [] if this.loads is None else this.loads.under(traffic_of(spec, this.topology))


def _view(kind: str, label: str, short: str, loads: Sequence[Any]) -> dict[str, Any]:
    return {"kind": kind, "label": label, "short": short, "loads": list(map(str, loads))}


def _worst(result: WorstCase | Ratio, seen: Witness) -> dict[str, Any]:
    """Return the worst traffic, and the pairs that load the worst channel."""
    load = result.lower if isinstance(result, Ratio) else result.channel_load
    flows = None if result.traffic is None else [[s, d, str(amount)] for s, d, amount in result.traffic]
    return {
        "channel": seen.channel,
        "load": None if isinstance(load, Estimate) else str(load),
        "text": shown(load),
        "permutation": None if result.permutation is None else list(result.permutation),
        "traffic": flows,
        "pairs": [[s, d, round(load, 9)] for s, d, load in reversed(seen.strong[-_MOST_PAIRS:])],
    }


def untrusted_payload(
    subject: Subject, limits: Limits, seconds: float, files: Iterable[str | Path], own: str = ""
) -> dict[str, Any]:
    """Return what :func:`network_payload` does; of a loaded result, within limits of time, memory and files.

    Parameters
    ----------
    subject : Topology, Routing, PairLoads or Result
    limits : Limits
    seconds : float
        Time limit for building and drawing what a loaded result names.
    files : iterable of path-like
        Files, and folders of files, that its specs may name.
    own : str
        What errors call the result.
    """
    if not isinstance(subject, Result) or subject.subject is not None:
        return network_payload(subject, limits)
    return bounded(_payload, subject, limits, seconds=seconds, files=files, own=own or f"the result {subject.kind!r}")


def _payload(subject: Subject, limits: Limits, progress: Progress) -> dict[str, Any]:
    return network_payload(subject, limits)


def _crossing(seen: Shown, limits: Limits) -> tuple[dict[str, Any] | None, str]:
    """Return the loads of all pairs, or why they are left out."""
    loads, topology = seen.loads, seen.topology
    if loads is None:
        return None, seen.missing
    if not seen.exact:
        return None, "the loads are estimates"
    limit = TimeLimit(time.perf_counter() + limits.seconds)
    try:
        entries = weight_entries(loads) if seen.routing is None else _walked(seen.routing, loads.denominator, limit)
        return pack_loads(entries, topology.channels, loads.terminals, loads.denominator, limits.room), ""
    except OutOfTimeError:
        return None, f"computing the loads of pairs takes more than {limits.seconds:g} seconds"
    except (OblivError, NotImplementedError, UnevenError) as error:
        return None, str(error)


def _walked(routing: Routing, denominator: int, limit: TimeLimit) -> Iterator[Entries]:
    """Yield the loads of pairs as the checker finds them, from paths, next hops or phases."""
    limit.check()
    flows = source_flows(routing, denominator, limit.check)
    return flow_entries(flows, len(routing.topology.terminals), denominator)


def _proof(seen: Shown) -> tuple[dict[str, Any] | None, str]:
    """Return the proof of the worst case, or why there is none."""
    if seen.routing is None:
        return None, "the loads were given without a routing, so nothing independent computes them"
    if seen.result is None:
        return None, "no worst case was computed"
    try:
        claim: Claim = claim_of(seen.result)
        if claim.denominator != int(seen.loads.denominator if seen.loads else 0):
            return None, "the certificate has another denominator than the loads"
        return page_proof(claim, seen.routing), ""
    except (MalformedError, ValueError) as error:
        return None, str(error)


def _rates(topology: Topology) -> dict[str, Any]:
    """Return what terminals send and take, nothing where that is one packet per cycle."""
    if topology.unit_rates:
        return {}
    injection, ejection = topology.rates()
    return {"injection": list(map(str, injection)), "ejection": list(map(str, ejection))}
