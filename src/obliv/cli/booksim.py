"""Simulations for BookSim2: what is written, at which rate it saturates, and whether packets can deadlock there."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

from obliv._util.rationals import exact
from obliv.cli.output import progress, say
from obliv.io.simulators.booksim import Router, saturation, write_without_deadlock
from obliv.io.simulators.booksim_listed import ADDITIONS
from obliv.patterns.base import Traffic
from obliv.routings.base import Routing


def write_simulation(
    routing: Routing, output: Path, traffic: Traffic, rate: float, vc: str | None, router: Router, *, listed: bool
) -> None:
    """Write a simulation, with a routing function for listed paths or without, and say what to expect of it."""
    with progress() as step:
        written = write_without_deadlock(
            routing, output, traffic, rate=rate, paths=listed, vc=vc, router=router, progress=step
        )
    files = written.files
    say(f"written to {' and '.join(map(str, files))}; run it in that folder with  booksim {quote(output.name)}")
    if headers := [file.name for file in files if file.name in ADDITIONS]:
        say(f"BookSim2 must be built with {' and '.join(headers)}: first lines there say how to add a header")
    _say_saturation(routing, traffic, rate)
    _say_deadlock(routing, written.scheme, written.acyclic)


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
