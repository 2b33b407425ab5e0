"""The topology and the routing that a verb is about."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from obliv._util.text import plural
from obliv.cli.options import RoutingSpec, TopologySpec
from obliv.cli.output import require_outputs, say
from obliv.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from obliv.patterns.base import Traffic
    from obliv.routings.base import Routing
    from obliv.topologies.base import Topology

__all__ = ["Specs", "read_capacity", "read_topology", "read_traffic", "say_skipped"]


@dataclass(frozen=True)
class Specs:
    """The specs of a topology and a routing."""

    topology: TopologySpec
    routing: RoutingSpec

    def read(self, *outputs: Path | None, capacity: bool = False) -> Routing:
        """Return the routing, print its notes on standard error, and refuse outputs that would replace its files.

        With `capacity`, the topology has its capacity where a small linear program gives it.
        """
        import obliv

        require_outputs(*outputs)
        topology = obliv.topology(self.topology)
        for note in topology.notes:
            say(note)
        if capacity:
            topology = read_capacity(topology)
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
    topology = obliv.topology(spec)
    for note in topology.notes:
        say(note)
    require_outputs(*outputs, inputs=topology.sources)
    return topology


def read_capacity(topology: Topology) -> Topology:
    """Return a topology with its capacity where a small linear program gives it; say what that needs."""
    import obliv

    if topology.capacity_load is not None:
        return topology
    try:
        return obliv.with_capacity(topology)
    except MissingExtraError as error:
        say(f"the fraction of capacity is left out: {error}")
        return topology


def read_traffic(specs: Iterable[str], topology: Topology, *outputs: Path | None) -> list[Traffic]:
    """Return traffic, print its notes on standard error, and refuse outputs that would replace its files."""
    import obliv

    patterns = [obliv.traffic(spec, topology) for spec in specs]
    require_outputs(*outputs, inputs=[source for pattern in patterns for source in pattern.sources])
    for note in dict.fromkeys(note for pattern in patterns for note in pattern.notes):
        say(note)
    return patterns


def say_skipped(routing: Routing) -> None:
    """Print on standard error how many pairs a routing leaves out, if any."""
    if routing.partial and routing.skipped:
        are = "is" if routing.skipped == 1 else "are"
        say(f"{plural(routing.skipped, 'pair')} whose packets do not arrive {are} left out")
