"""Simulations for BookSim2: what is written, at which rate it saturates, and whether packets can deadlock there."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from shlex import quote

from obliv._util.progress import Progress, within
from obliv._util.rationals import exact
from obliv.cli.output import progress, say
from obliv.errors import RoutingError, TooLargeError
from obliv.io.simulators.booksim import saturation, write_booksim
from obliv.patterns.base import Traffic
from obliv.questions.deadlocks.deadlock import deadlock
from obliv.questions.deadlocks.graph import SCHEMES
from obliv.questions.deadlocks.paths import lanes_of
from obliv.routings.base import Routing
from obliv.topologies.cartesian import directions_of


def write_simulation(
    routing: Routing, output: Path, traffic: Traffic, rate: float, vc: str | None, *, listed: bool
) -> None:
    """Write a simulation, with a routing function for listed paths or without, and say what to expect of it."""
    scheme, acyclic = "none", True
    if listed:
        with progress() as step:
            scheme, acyclic = _scheme(routing, vc, step)
    lanes = lanes_of(routing.topology, scheme) if listed else None
    files = write_booksim(routing, output, traffic, rate=rate, paths=listed, lanes=lanes)
    say(f"written to {' and '.join(map(str, files))}; run it in that folder with  booksim {quote(output.name)}")
    if listed:
        say(f"BookSim2 needs the routing function in {files[-1].name}; its first lines say how to add it")
    _say_saturation(routing, traffic, rate)
    if not listed and len(files) > 1:  # those for meshes and tori have schemes of their own
        with progress() as step:
            acyclic = deadlock(routing, progress=step).acyclic
    _say_deadlock(routing, scheme, acyclic, tried=listed and vc is None)


def _scheme(routing: Routing, vc: str | None, step: Progress) -> tuple[str, bool]:
    """Return a scheme that gives paths alone their virtual channels, and whether it avoids deadlock."""
    if vc is not None:
        lanes_of(routing.topology, vc)  # refuses what needs phases before anything is solved
        return vc, deadlock(routing, vc, progress=step).acyclic
    best, fewest = "none", 0
    for done, name in enumerate(SCHEMES):  # none comes first
        if name.endswith("dateline") and not _wraps(routing):
            continue  # the same as without
        with suppress(RoutingError, TooLargeError):
            lanes_of(routing.topology, name)
            found = deadlock(routing, name, progress=within(step, done / len(SCHEMES), (done + 1) / len(SCHEMES)))
            if found.acyclic and (not fewest or found.virtual_channels < fewest):
                best, fewest = name, found.virtual_channels
        if 0 < fewest <= 2:  # with one the graph of none is acyclic; no scheme has fewer than two where it is not
            break
    return best, fewest > 0


def _wraps(routing: Routing) -> bool:
    where = directions_of(routing.topology)
    return where is not None and bool(where.wraps.any())


def _say_saturation(routing: Routing, traffic: Traffic, rate: float) -> None:
    limit = saturation(routing, traffic)
    if limit is not None:
        say(f"predicted saturation: {limit}")
        if (exact(rate) or 0) > limit.rate:
            say(f"a rate of {rate:g} is above it: queues grow as long as the simulation runs; choose a lower --rate")


def _say_deadlock(routing: Routing, scheme: str, acyclic: bool, tried: bool) -> None:
    """Say whether packets can deadlock; `tried` is whether all schemes that paths show were."""
    verb = " ".join(("obliv deadlock", quote(routing.topology.spec), quote(routing.spec)))
    if not acyclic and scheme == "none":
        why = "no scheme that paths alone show avoids it" if tried else "every hop uses all of them"
        say(f"packets can deadlock, whatever num_vcs is: {why};  {verb}  shows a cycle")
    elif not acyclic:
        say(f"packets can deadlock with the scheme {scheme};  {verb} --vc {scheme}  shows a cycle")
    elif scheme != "none":
        say(f"packets cannot deadlock: virtual channels are by the scheme {scheme}; keep num_vcs a multiple")
