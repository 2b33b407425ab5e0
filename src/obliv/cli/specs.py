"""The topology and the routing that a verb is about."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from obliv._util.text import plural
from obliv.cli.messages import heard
from obliv.cli.options import RoutingSpec, TopologySpec, is_seeded, refuse_idle_seed
from obliv.cli.output import require_outputs, say
from obliv.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import typer

    from obliv.patterns.base import Traffic
    from obliv.routings.base import Routing
    from obliv.topologies.base import Topology


@dataclass(frozen=True)
class Specs:
    """The specs of a topology and a routing."""

    topology: TopologySpec
    routing: RoutingSpec

    def read(self, *outputs: Path | None, capacity: bool = False) -> Routing:
        """Return the routing, print its notes on standard error, and refuse outputs that would replace its files.

        With `capacity`, it also says what a fraction of capacity needs that cannot be computed.
        """
        import obliv

        require_outputs(*outputs)
        heard(f"building {self.topology}", 0.0)
        topology = obliv.topology(self.topology)
        for note in topology.notes:
            say(note)
        if capacity:
            say_without_capacity(topology)
        heard(f"{self.routing} on {self.topology}", 0.0)
        routing = obliv.routing(self.routing, topology)
        for note in routing.notes:
            say(note)
        say_skipped(routing)
        require_outputs(*outputs, inputs=(*topology.sources, *routing.sources))
        return routing


def read_topology(spec: str, *outputs: Path | None) -> Topology:
    """Return a topology, print its notes on standard error, and refuse outputs that would replace its files."""
    import obliv

    require_outputs(*outputs)
    heard(f"building {spec}", 0.0)
    topology = obliv.topology(spec)
    for note in topology.notes:
        say(note)
    require_outputs(*outputs, inputs=topology.sources)
    return topology


def say_without_capacity(topology: Topology) -> None:
    """Print on standard error what a fraction of capacity needs, where only a solver that is missing would find it."""
    from obliv.questions.subject import capacity_is_quick

    if not capacity_is_quick(topology):
        return
    from obliv.designs.solver import require_solver

    try:
        require_solver()
    except MissingExtraError as error:
        say(f"the fraction of capacity is left out: {error}")


def read_traffic(specs: Iterable[str], topology: Topology, *outputs: Path | None) -> list[Traffic]:
    """Return traffic, print its notes on standard error, and refuse outputs that would replace its files."""
    import obliv

    patterns = [obliv.traffic(spec, topology) for spec in specs]
    require_outputs(*outputs, inputs=[source for pattern in patterns for source in pattern.sources])
    for note in dict.fromkeys(note for pattern in patterns for note in pattern.notes):
        say(note)
    return patterns


def named_traffic(words: Sequence[str] | str | None, options: Sequence[str] | str | None) -> list[str]:
    """Return the specs of traffic that a command line gives, as arguments or with ``--traffic``; never both."""
    given = [[each] if isinstance(each, str) else list(each or ()) for each in (words, options)]
    if all(given):
        raise InputError(
            f"TRAFFIC is given twice, as {given[0][0]!r:.60} and with --traffic {given[1][0]!r:.60}: choose one way"
        )
    return given[0] or given[1]


def one_traffic(words: str | None, options: Sequence[str] | None) -> str:
    """Return the one spec of traffic that a verb takes, as an argument or with ``--traffic``."""
    specs = named_traffic(words, options)
    if len(specs) != 1:
        raise InputError(f"--traffic: give one traffic here, not {len(specs)}")
    return specs[0]


def seeded(specs: Sequence[str], context: typer.Context, seed: int, needed: str = "") -> list[str]:
    """Return specs of traffic, with ``--seed`` for those that are drawn at random and name no seed.

    `needed` is an option that is not given; if no traffic takes the seed either, it is refused.
    """
    if not is_seeded(context):
        return list(specs)
    drawn = [_with_seed(spec, seed) for spec in specs]
    if needed and drawn == list(specs):
        refuse_idle_seed(context, needed)
    return drawn


def _with_seed(spec: str, seed: int) -> str:
    from obliv._util.rng import within_word
    from obliv.specs.registry import PATTERNS, split_mix

    if (mix := split_mix(spec, partial=True)) is not None:
        return "+".join(f"{weight}*{_with_seed(part, seed)}" for weight, part in mix)
    entry, positional, named = PATTERNS.parse(spec, None)
    given = entry.signature.bind_partial(*positional, **named).arguments
    if "seed" in given or "seed" not in entry.signature.parameters:
        return spec
    return f"{spec.strip()}{',' if ':' in spec else ':'}seed={within_word(seed, 59)}"


def say_skipped(routing: Routing) -> None:
    """Print on standard error how many pairs a routing leaves out, if any."""
    if routing.partial and routing.skipped:
        are = "is" if routing.skipped == 1 else "are"
        say(f"{plural(routing.skipped, 'pair')} whose packets do not arrive {are} left out")
