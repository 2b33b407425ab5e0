"""Checks of saved claims, by code that shares nothing with what made them.  ``obliv.verify(path)`` checks one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["verify"]


def verify(
    claim: Any,
    *,
    quick: bool = False,
    budget: float = 300.0,
    topology: Any = None,
    routing: Any = None,
    progress: Callable[[str, float], None] | None = None,
) -> Any:
    """Check a saved claim from scratch.

    Parameters
    ----------
    claim : path-like or Result
        A file that ``--output`` wrote, a result that holds a certificate, or a schedule of packets.
    quick : bool
        Check one channel, the named one, instead of all.
    budget : float
        Seconds after which channels are left unchecked; the claim then counts as not proved.
    topology, routing : optional
        The objects, where they cannot be made from the specs in the claim.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Verification
        Whether the claim is proved, what was checked and how, and what was left.

    Raises
    ------
    FileError
        If the file holds no claim.

    Notes
    -----
    The pair loads are computed again from the routing's paths, next hops or phases, source by source; neither closed
    forms nor the solver nor the search for symmetries take part. A schedule is followed move by move.

    Examples
    --------
    >>> import obliv
    >>> routing = obliv.routing("dor", obliv.topology("mesh:4x4"))
    >>> obliv.verify(obliv.worst_case(routing, certificate=True)).proved
    True
    """
    from obliv.checker.claims import MalformedError, read_claim
    from obliv.checker.schedules.claims import claimed_of, read_classes, read_schedule
    from obliv.checker.schedules.moves import check_classes, check_schedule
    from obliv.checker.worst_case import check_worst_case
    from obliv.errors import FileError, InputError, SpecError
    from obliv.results import Result, Schedule, Schedules, read_json
    from obliv.routings.make import routing as routing_of
    from obliv.topologies.base import topology as topology_of

    if isinstance(claim, Schedule):
        return check_schedule(claimed_of(claim), progress or (lambda what, share: None))
    if isinstance(claim, Schedules):
        return check_classes([claimed_of(each) for each in claim.classes], claim.to_dict())
    made = claim.to_dict() if isinstance(claim, Result) else read_json(claim)
    name = None if isinstance(claim, Result) else Path(claim)
    if made.get("kind") == "bufferless":
        try:
            if "classes" in made:
                return check_classes(read_classes(made), made)
            schedule = read_schedule(made)
        except MalformedError as error:
            raise FileError(f"is no whole schedule: {error}", name) from None
        return check_schedule(schedule, progress or (lambda what, share: None))
    if made.get("kind") not in ("worst", "ratio"):
        raise FileError(f"holds no claim that can be checked (kind {made.get('kind')!r})", name)
    if isinstance(made.get("channel_load"), dict) and "stderr" in made["channel_load"]:
        raise FileError("holds an estimate, which has no certificate: leave out --samples for an exact claim", name)
    try:
        parts = read_claim(made)
    except MalformedError as error:
        raise FileError(f"is no whole claim: {error}", name) from None
    if isinstance(claim, Result) and claim.subject is not None and routing is None:
        routing = claim.subject if hasattr(claim.subject, "paths") else None
        topology = getattr(routing, "topology", topology)
    if parts.routing == "pair loads" and routing is None:
        raise InputError("the claim was made from pair loads, which cannot be made again from its text: give routing=")
    try:
        network = topology_of(parts.topology if topology is None else topology)
    except FileError as error:
        raise FileError(f"{error}; the claim names it so: go to the folder where the claim was made", name) from None
    except SpecError as error:
        raise FileError(f"its topology cannot be made again ({error}): give topology=, the object", name) from None
    way = routing_of(parts.routing if routing is None else routing, network)
    return check_worst_case(parts, network, way, quick, budget, progress or (lambda what, share: None))
