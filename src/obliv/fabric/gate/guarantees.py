"""What tables guarantee, for limits and for a comparison with an earlier night."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

from obliv._util.progress import Progress
from obliv.analysis.worst_case.exact import worst_load
from obliv.fabric.files.read import read
from obliv.fabric.routes.routing import FabricRouting, routing
from obliv.fabric.routes.uniform import uniform_load
from obliv.fabric.topology import network

__all__ = ["Guarantees", "read_guarantees"]


class Guarantees:
    """Connected pairs and exact loads of tables, each computed once; pairs that are cut off are in no load.

    Parameters
    ----------
    routing : FabricRouting
        Made with ``missing="skip"``.
    progress : callable
    """

    def __init__(self, routing: FabricRouting, progress: Progress) -> None:
        self.routing, self._progress = routing, progress

    @property
    def pairs(self) -> int:
        """Ordered pairs of hosts whose packets arrive."""
        ends = len(self.routing.topology.terminals)
        return ends * (ends - 1) - self.routing.skipped

    @cached_property
    def worst_load(self) -> Fraction:
        """The largest load under any admissible traffic."""
        return worst_load(self.routing.fabric_loads, progress=self._progress)

    @cached_property
    def uniform_load(self) -> Fraction:
        """The largest load under uniform traffic."""
        return uniform_load(self.routing)


def read_guarantees(topology: str, tables: str, offset: str, progress: Progress) -> Guarantees:
    """Return the guarantees of the files of another night.

    Raises
    ------
    FileError, InputError
        If they cannot be read, or the offset does not fit them.
    """
    fabric, read_out = read(topology, tables, progress=progress)
    if read_out is None:
        raise TypeError("guarantees need forwarding tables")
    return Guarantees(routing(network(fabric), read_out, offset, missing="skip"), progress)
