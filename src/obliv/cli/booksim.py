"""Simulations for BookSim2: what is written, at which rate it saturates, and whether packets can deadlock there."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from shlex import quote

from obliv._util.progress import Progress, within
from obliv._util.rationals import exact
from obliv.cli.output import progress, say
from obliv.errors import RoutingError, TooLargeError
from obliv.io.simulators.booksim import Router, saturation, write_booksim
from obliv.io.simulators.booksim_listed import ADDITIONS
from obliv.patterns.base import Traffic
from obliv.questions.deadlocks.deadlock import deadlock
from obliv.questions.deadlocks.graph import SCHEMES
from obliv.questions.deadlocks.paths import lanes_of
from obliv.routings.base import Routing
from obliv.topologies.cartesian import directions_of


def write_simulation(
    routing: Routing, output: Path, traffic: Traffic, rate: float, vc: str | None, router: Router, *, listed: bool
) -> None:
    """Write a simulation, with a routing function for listed paths or without, and say what to expect of it."""
    scheme, acyclic = "none", True
    with progress() as step:
        if listed:
            scheme, acyclic = _scheme(routing, vc, within(step, 0, 1 / 2))
        lanes = lanes_of(routing.topology, scheme) if listed else None
        onward = within(step, 1 / 2, 1)
        files = write_booksim(
            routing, output, traffic, rate=rate, paths=listed, lanes=lanes, router=router, progress=onward
        )
    say(f"written to {' and '.join(map(str, files))}; run it in that folder with  booksim {quote(output.name)}")
    if headers := [file.name for file in files if file.name in ADDITIONS]:
        say(f"BookSim2 must be built with {' and '.join(headers)}: first lines there say how to add a header")
    _say_saturation(routing, traffic, rate)
    if not listed and output.with_suffix(".anynet") in files:  # its functions for meshes and tori cannot deadlock
        with progress() as step:
            acyclic = deadlock(routing, progress=step).acyclic
    _say_deadlock(routing, scheme, acyclic)


def _scheme(routing: Routing, vc: str | None, step: Progress) -> tuple[str, bool]:
    """Return a scheme that gives paths alone their virtual channels, and whether it avoids deadlock."""
    if vc is not None:
        lanes_of(routing.topology, vc)  # refuses what needs phases before anything is solved
        return vc, deadlock(routing, vc, progress=step).acyclic
    best, fewest = "", 0
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
    if not best:
        raise RoutingError(
            f"{routing.spec} on {routing.topology.spec}: no virtual-channel scheme that paths alone show is known to "
            "avoid deadlock here: add --vc none to write a simulation that may deadlock"
        )
    return best, True


def _wraps(routing: Routing) -> bool:
    where = directions_of(routing.topology)
    return where is not None and bool(where.wraps.any())


def _say_saturation(routing: Routing, traffic: Traffic, rate: float) -> None:
    limit = saturation(routing, traffic)
    if limit is not None:
        say(f"predicted saturation: {limit}")
        if (exact(rate) or 0) > limit.rate:
            say(f"a rate of {rate:g} is above it: queues grow as long as the simulation runs; choose a lower --rate")


def _say_deadlock(routing: Routing, scheme: str, acyclic: bool) -> None:
    """Say whether packets can deadlock."""
    verb = " ".join(("obliv deadlock", quote(routing.topology.spec), quote(routing.spec)))
    if not acyclic and scheme == "none":
        say(f"packets can deadlock, whatever num_vcs is: every hop uses all of them;  {verb}  shows a cycle")
    elif not acyclic:
        say(f"packets can deadlock with the scheme {scheme};  {verb} --vc {scheme}  shows a cycle")
    elif scheme != "none":
        say(f"packets cannot deadlock: virtual channels are by the scheme {scheme}; keep num_vcs a multiple")
