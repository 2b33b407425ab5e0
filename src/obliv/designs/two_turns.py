"""2TURN: the best routing within two turns, designed when it is made."""

from __future__ import annotations

from obliv.designs.minimal import require_connected
from obliv.designs.optimize import design
from obliv.designs.solver import require_solver
from obliv.designs.states import feasible_states
from obliv.errors import InputError, RoutingError
from obliv.routings.listed import Listed
from obliv.specs.registry import register_routing
from obliv.topologies.base import Topology

__all__ = ["TwoTurn"]


@register_routing("2turn", example="2turn")
class TwoTurn(Listed):
    """2TURN: the least worst case within two turns, then the fewest hops (a design, which needs highspy).

    On meshes and tori of up to three dimensions. The linear program is solved when the routing is made; a torus of
    12 × 12 takes two seconds. Its worst case is within 10^-4 of the optimum within two turns, and exactly the optimum
    on small networks; ``obliv design TOPOLOGY --max-turns 2`` proves it. Another release of the solver may return other
    paths that are as good.

    Raises
    ------
    InputError
        If some nodes cannot be reached within two turns.
    MissingExtraError
        If the solver (highspy) is not installed.

    References
    ----------
    [TDB03] B. Towles, W. J. Dally, S. Boyd, "Throughput-centric routing algorithm design", SPAA 2003.

    Examples
    --------
    >>> import obliv
    >>> routing = obliv.routing("2turn", obliv.torus(5, 5))
    >>> obliv.worst_case(routing).fraction_of_capacity, obliv.locality(routing).hops
    (Fraction(1, 2), Fraction(2368, 625))
    """

    @staticmethod
    def fits(topology: Topology) -> None:
        """Raise an error where the routing cannot be made, as far as that shows before it is designed."""
        require_connected(topology)
        try:
            feasible_states(topology, 2)
        except InputError as error:
            raise RoutingError(f"2turn does not fit {topology.spec}: {error}") from None
        require_solver()

    def __init__(self, topology: Topology, spec: str = "2turn") -> None:
        super().__init__(topology, spec, design(topology, max_turns=2).subject.listed)
