"""The topology and the routing that a verb is about."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from obliv._util.text import plural
from obliv.cli.options import RoutingSpec, TopologySpec
from obliv.cli.output import require_outputs, say

if TYPE_CHECKING:
    from obliv.routings.base import Routing

__all__ = ["Specs", "say_skipped"]


@dataclass(frozen=True)
class Specs:
    """The specs of a topology and a routing."""

    topology: TopologySpec
    routing: RoutingSpec

    def read(self, *outputs: Path | None) -> Routing:
        """Return the routing, print its notes on standard error, and refuse outputs that would replace its files."""
        import obliv

        require_outputs(*outputs)
        topology = obliv.topology(self.topology)
        for note in topology.notes:
            say(note)
        routing = obliv.routing(self.routing, topology)
        for note in routing.notes:
            say(note)
        say_skipped(routing)
        require_outputs(*outputs, inputs=(*topology.sources, *routing.sources))
        return routing


def say_skipped(routing: Routing) -> None:
    """Print on standard error how many pairs a routing leaves out, if any."""
    if routing.partial and routing.skipped:
        are = "is" if routing.skipped == 1 else "are"
        say(f"{plural(routing.skipped, 'pair')} whose packets do not arrive {are} left out")
